#include "past.h"

#include "step.h"

#include <stdio.h>
#include <string.h>

bool past_is(const char *path)
{
    char mark[8] = "";
    FILE *file = fopen(path, "rb");
    const bool is =
        file != NULL && fread(mark, 1, sizeof mark, file) == sizeof mark && memcmp(mark, "reef-rec", sizeof mark) == 0;
    if (file != NULL) fclose(file);
    return is;
}

static reef_status file_read(void *context, void *bytes, size_t count, size_t *got)
{
    *got = fread(bytes, 1, count, context);
    return ferror(context) != 0 ? REEF_IO : REEF_OK;
}

bool past_begin(past *p, const char *path, reef_pool *pool, char *why)
{
    *p = (past){.recording = NULL};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return snprintf(why, REEF_NET_REASON_MAX, "it can't be read"), false;
    p->recording = reef_net_recording_open((reef_reader){file_read, file}, NULL, why);
    fclose(file);
    if (p->recording == NULL) return false;
    p->about = reef_net_recording_get(p->recording);
    p->tick = p->about.first;
    if (!game_blank(&p->now, pool)) return snprintf(why, REEF_NET_REASON_MAX, "no memory"), false;
    return reef_net_recording_load(p->recording, p->now.world, reef_id(CrewInput), NULL, why) >= 0;
}

bool past_tick(past *p)
{
    reef_net_tick tick;
    if (!reef_net_recording_tick(p->recording, p->tick, &tick)) return false;
    if (together_step(NULL, p->now.world, &tick) < 0) return false;
    p->tick++;
    return true;
}

void past_end(past *p)
{
    reef_net_recording_free(p->recording);
    game_free(&p->now);
    *p = (past){.recording = NULL};
}
