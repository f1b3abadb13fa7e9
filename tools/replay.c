/* reef replay: plays a recording of the add-on reef_net again, with a game's rules from a library, and says whether
 * they lead to the recorded states. Where the recording says that two programs differed, it plays that tick once more,
 * up to the reported system and with it, and tells what the rules make of the reported value. */
#include "tool.h"
#include <errno.h>
#include <string.h>

#if defined(REEF_TOOL_REPLAY)
#include "reef_hot.h"
#include "reef_net_recording.h"

enum { SYSTEMS_MOST = 1024 };

typedef struct replay {
    const char *path, *save;
    reef_world *world;
    reef_hot_code *code;
    const reef_net_rules *rules;
    reef_net_recording *recording;
    reef_net_recorded about;
    uint64_t hashes, here, there, neither; /* recorded states; equal to those of either side, or of none */
    uint64_t first_neither;
} replay;

/* ---- opening ---- */

static reef_status file_read(void *context, void *bytes, size_t count, size_t *got)
{
    *got = fread(bytes, 1, count, context);
    return ferror(context) ? REEF_IO : REEF_OK;
}

static bool recording_open(replay *r)
{
    char reason[REEF_NET_REASON_MAX];
    FILE *file = fopen(r->path, "rb");
    if (file == NULL) {
        say(NULL, "%s can't be read: %s", r->path, strerror(errno));
        return false;
    }
    r->recording = reef_net_recording_open((reef_reader){file_read, file}, NULL, reason);
    (void)fclose(file);
    if (r->recording == NULL) say(r->path, "%s", reason);
    r->about = reef_net_recording_get(r->recording);
    return r->recording != NULL;
}

static bool rules_open(replay *r, const char *path)
{
    char reason[REEF_HOT_TEXT_MAX];
    r->world = reef_world_new(NULL);
    r->code = r->world ? reef_hot_open(r->world, path, NULL, reason) : NULL;
    if (r->code == NULL) {
        say(NULL, "%s", r->world ? reason : reef_status_text(REEF_NO_MEMORY));
        return false;
    }
    r->rules = reef_hot_find(r->code, "reef_net_rules_of_this");
    if (r->rules && r->rules->tick_bytes == sizeof(reef_net_tick)) return true;
    say(path, "%s",
        r->rules ? "it was compiled for another reef_net" : "it exports no step: REEF_NET_RULES(step, Input)");
    return false;
}

static bool state_load(replay *r)
{
    char reason[REEF_NET_REASON_MAX];
    const reef_status s = reef_net_recording_load(r->recording, r->world, r->rules->input(), NULL, reason);
    if (s < 0) say(r->path, "%s", reason[0] ? reason : reef_status_text(s));
    return s >= 0;
}

/* ---- playing ---- */

static bool tick_play(replay *r, uint64_t t)
{
    reef_net_tick tick;
    if (!reef_net_recording_tick(r->recording, t, &tick)) return false;
    reef_hold_readers(r->world, true); /* as in the session */
    const reef_status s = r->rules->step(NULL, r->world, &tick);
    reef_hold_readers(r->world, false);
    if (s < 0) say(r->path, "tick %" PRIu64 " can't be played: %s", t, reef_status_text(s));
    return s >= 0;
}

/* Compares the state before a tick with what was recorded. */
static void state_compare(replay *r, uint64_t t)
{
    const uint64_t here = reef_net_recording_hash(r->recording, t, false);
    const uint64_t there = reef_net_recording_hash(r->recording, t, true);
    if (here == 0 && there == 0) return;
    const uint64_t is = reef_hash(r->world);
    r->hashes++;
    r->here += is == here;
    r->there += is == there;
    if (is == here || is == there) return;
    if (r->neither++ == 0) r->first_neither = t;
}

/* ---- the reported tick ---- */

typedef struct systems {
    reef_system_id of[SYSTEMS_MOST];
    uint32_t count, reported; /* reported: its place; SYSTEMS_MOST: there is none of this name */
    const char *name;
} systems;

static bool system_add(void *context, const reef_system_info *i)
{
    systems *s = context;
    if (!i->on || s->count == SYSTEMS_MOST) return true;
    if (strcmp(i->name, s->name) == 0) s->reported = s->count;
    s->of[s->count++] = i->system;
    return true;
}

static void value_get(replay *r, char *text, size_t size)
{
    const reef_net_desync *d = &r->about.what;
    if (!reef_net_value_text(r->world, d->entity, d->component, d->field, text, size))
        (void)snprintf(text, size, "not there");
}

/* Plays the tick with the first `count` systems alone, from the state before it, and gets the value. */
static bool part_play(replay *r, const systems *s, uint32_t count, const reef_snapshot *before, char *text, size_t size)
{
    for (uint32_t i = 0; i < s->count; i++) (void)reef_system_enable(r->world, s->of[i], i < count);
    const bool played = reef_restore(r->world, before) >= 0 && tick_play(r, r->about.what.tick);
    value_get(r, text, size);
    for (uint32_t i = 0; i < s->count; i++) (void)reef_system_enable(r->world, s->of[i], true);
    return played;
}

static const char *whose(const reef_net_desync *d, const char *value)
{
    if (strcmp(value, d->here) == 0) return "as here";
    return strcmp(value, d->there) == 0 ? "as there" : "as neither";
}

/* Says what becomes of the reported value, and leaves the world as it is before the tick. */
static bool tick_examine(replay *r)
{
    static systems s;
    char was[64], without[64] = "", with[64] = "";
    const reef_net_desync *d = &r->about.what;
    reef_snapshot *before = reef_snapshot_take(r->world);
    if (before == NULL) {
        say(r->path, "%s", reef_status_text(REEF_NO_MEMORY));
        return false;
    }
    s = (systems){.reported = SYSTEMS_MOST, .name = d->system};
    (void)reef_visit_systems(r->world, system_add, &s);
    value_get(r, was, sizeof was);
    const bool named = s.reported < s.count;
    bool good = (!named || part_play(r, &s, s.reported, before, without, sizeof without)) &&
                part_play(r, &s, named ? s.reported + 1 : s.count, before, with, sizeof with);
    if (good && named)
        printf("found: before the tick %s, before the system %s, after it %s: %s\n", was, without, with,
               whose(d, with));
    else if (good) printf("found: before the tick %s, after it %s: %s\n", was, with, whose(d, with));
    good = reef_restore(r->world, before) >= 0 && good;
    reef_snapshot_free(before);
    return good;
}

static bool world_save(const replay *r)
{
    const reef_status s = reef_save(r->world, r->save, &(reef_save_desc){.raw = true});
    if (s < 0) say(r->save, "%s", reef_last_error(r->world).detail);
    return s >= 0;
}

static void report_print(const replay *r)
{
    const reef_net_desync *d = &r->about.what;
    printf("recorded: %" PRIu64 " tick%s from the state before tick %" PRIu64 "%s\n", r->about.ticks,
           plural(r->about.ticks), r->about.first, r->about.torn ? "; the end is torn" : "");
    if (!r->about.differs) return;
    printf("reported: tick %" PRIu64 ", with ", d->tick);
    if (d->player < 0) printf("somebody who joined: system ");
    else printf("player %d: system ", d->player);
    put_name(d->system[0] ? d->system : "?");
    printf(", component ");
    put_name(d->component[0] ? d->component : "?");
    printf(", entity %" PRIu32 "v%" PRIu32 ", field ", d->entity.index, d->entity.generation);
    put_name(d->field[0] ? d->field : "?");
    printf(": here ");
    put_name(d->here[0] ? d->here : "?");
    printf(", there ");
    put_name(d->there[0] ? d->there : "?");
    putchar('\n');
}

static bool all_play(replay *r)
{
    const uint64_t end = r->about.first + r->about.ticks;
    const bool reported = r->about.differs && r->about.what.tick - r->about.first < r->about.ticks;
    const uint64_t stop = reported ? r->about.what.tick : end;
    bool saved = r->save == NULL;
    for (uint64_t t = r->about.first;; t++) {
        state_compare(r, t);
        if (t == stop && !saved && !world_save(r)) return false;
        saved |= t == stop;
        if (t == end) return true;
        if (t == stop && reported && r->about.what.component[0] && !tick_examine(r)) return false;
        if (!tick_play(r, t)) return false;
    }
}

static int replay_run(replay *r)
{
    report_print(r);
    if (!all_play(r)) return ANSWER_BAD;
    printf("played: of %" PRIu64 " recorded state%s %" PRIu64 " as here", r->hashes, plural(r->hashes), r->here);
    if (r->about.differs) printf(", %" PRIu64 " as there", r->there);
    if (r->neither) printf("; the first other one is before tick %" PRIu64, r->first_neither);
    putchar('\n');
    return r->neither ? ANSWER_BAD : ANSWER_GOOD;
}

int command_replay(int count, char **words)
{
    replay r = {0};
    const char *module = NULL;
    for (; count > 2 && strncmp(words[0], "--", 2) == 0; count -= 2, words += 2) {
        if (strcmp(words[0], "--module") == 0) module = words[1];
        else if (strcmp(words[0], "--save") == 0) r.save = words[1];
        else return ANSWER_USAGE;
    }
    if (count != 1 || module == NULL || words[0][0] == '-') return ANSWER_USAGE;
    r.path = words[0];
    const bool open = recording_open(&r) && rules_open(&r, module) && state_load(&r);
    const int answer = open ? replay_run(&r) : ANSWER_BAD;
    reef_net_recording_free(r.recording);
    reef_hot_close(r.code);
    reef_world_free(r.world);
    return answer;
}
#else
int command_replay(int count, char **words)
{
    (void)count, (void)words;
    say(NULL, "this program was built without the add-ons reef_net and reef_hot (docs/manual/playing-together.md)");
    return ANSWER_TROUBLE;
}
#endif
