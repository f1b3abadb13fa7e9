#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(DIVE_INSPECT)
#include "reef_inspector.h"

struct look {
    look_config config;
    reef_inspector *inspector;
    reef_world *world;
    bool busy; /* in an update, which may play ticks */
    int64_t due_ns;
};

static reef_status step(void *context, reef_world *w, float dt)
{
    look *l = context;
    (void)dt;
    if (w == l->world) return l->config.next(l->config.context);
    const Input in = l->config.input(l->config.context, w);
    return game_step(NULL, w, 0, &in, sizeof in);
}

static void update(look *l)
{
    if (l->busy) return;
    l->busy = true;
    reef_inspector_update(l->inspector);
    l->busy = false;
}

look *look_begin(reef_world *w, const look_config *config, char *why)
{
    look *l = calloc(1, sizeof *l);
    if (l == NULL) return snprintf(why, 200, "no memory"), NULL;
    l->config = *config;
    l->world = w;
    l->inspector = reef_inspect_why(w,
                                    &(reef_inspector_config){.port = config->port,
                                                             .title = "Dive",
                                                             .writes = true,
                                                             .waits = config->waits,
                                                             .record = true,
                                                             .step = step,
                                                             .context = l},
                                    why);
    if (l->inspector == NULL) return free(l), NULL;
    fprintf(stderr, "The inspector is at %s\n", reef_inspector_address(l->inspector));
    if (config->waits) fprintf(stderr, "The dive begins when the page is opened.\n");
    while (config->waits && !reef_inspector_is_open(l->inspector)) {
        reef_inspector_rest(l->inspector, 20);
        update(l);
    }
    return l;
}

static int64_t now_ns(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps until the next tick is due. */
static void keep_time(look *l)
{
    const int64_t tick = 1000000000 / TICKS_PER_SECOND, now = now_ns();
    if (l->due_ns < now - tick || l->due_ns > now + tick) l->due_ns = now;
    if (l->due_ns > now) {
        const struct timespec rest = {0, (long)(l->due_ns - now)};
        nanosleep(&rest, NULL);
    }
    l->due_ns += tick;
}

void look_tick(look *l)
{
    if (l == NULL || l->busy) return;
    if (l->config.waits) keep_time(l);
    const int64_t begin = now_ns();
    update(l);
    l->due_ns += now_ns() - begin; /* it may have been held */
}

void look_turn_to(look *l, reef_world *w)
{
    if (l == NULL) return;
    l->world = w;
    reef_inspector_turn_to(l->inspector, w);
}

void look_replayed(look *l, reef_replay *r)
{
    if (l != NULL) reef_inspector_replayed(l->inspector, r, "the old rules", "the new rules");
}

bool look_stays(look *l)
{
    if (l == NULL || !reef_inspector_is_open(l->inspector)) return false;
    reef_inspector_rest(l->inspector, 20);
    update(l);
    return true;
}

void look_end(look *l)
{
    if (l == NULL) return;
    reef_inspector_free(l->inspector);
    free(l);
}
#else
look *look_begin(reef_world *w, const look_config *config, char *why)
{
    (void)w, (void)config;
    snprintf(why, 200, "the inspector wasn't built: it needs threads");
    return NULL;
}
void look_tick(look *l) { (void)l; }
void look_turn_to(look *l, reef_world *w) { (void)l, (void)w; }
void look_replayed(look *l, reef_replay *r) { (void)l, (void)r; }
bool look_stays(look *l) { return l != NULL; }
void look_end(look *l) { (void)l; }
#endif
