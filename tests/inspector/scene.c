/* The program that tests/inspector/run looks at: what it does in each tick is known. It prints its address, and ticks
 * until its input ends. `inspector_scene N`: so many entities move. */
#include "reef_inspector.h"
#include "reef/history.h"
#include "reef/replay.h"
#ifdef SCENE_SQL
#include "reef_sqlite.h"
#include "reef/hierarchy.h"
#endif
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    float x, y;
} Place;
typedef struct {
    float x, y;
} Speed;
typedef struct {
    int32_t points;
} Vigor;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, (x, "m", -1000, 1000), (y, "m"));
REEF_COMPONENT(Speed);
REEF_FIELDS(Speed, (x, "m/s"), (y, "m/s"));
REEF_COMPONENT(Vigor);
REEF_FIELDS(Vigor, (points, NULL, 0, 1000000));
typedef struct {
    int8_t mood;
    uint32_t wants;
} Temper;
enum { CALM, ANGRY, SAD, FOOD = 1, SLEEP = 2, COMPANY = 4 };
REEF_ENUM(Mood, CALM, ANGRY, SAD);
REEF_MASK(Wants, FOOD, SLEEP, COMPANY);
REEF_COMPONENT(Temper);
REEF_FIELDS(Temper, (mood, enum, Mood), (wants, enum, Wants));
REEF_TAG(Blessed);
typedef struct {
    reef_entity who;
    int32_t left;
} Burnt;
REEF_COMPONENT(Burnt);
REEF_FIELDS(Burnt, who, left);

static void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    const Speed *v = reef_in(b, Speed);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt;
}
static void burn(reef_block *b) /* one point in each tick; it is told of in every fiftieth */
{
    Vigor *v = reef_inout(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++) {
        v[i].points--;
        if (reef_tick_count(b->world) % 50 == 0) (void)reef_send(b, Burnt, .who = b->entities[i], .left = v[i].points);
    }
}
static void heal(reef_block *b) /* five points in every tenth */
{
    Vigor *v = reef_inout(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++) v[i].points += reef_tick_count(b->world) % 10 == 0 ? 5 : 0;
}

/* What the page shows as played again: the ticks 10 ... 40, as they were and with an entity more in each. The world
 * itself goes on as it is. */
static bool more;
static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)tick, (void)input, (void)bytes;
    if (more) (void)reef_spawn(w, reef_with(Place, 0, 0));
    return reef_tick(w, 0.5f);
}
static reef_history *play(reef_world *w, reef_history *h, reef_inspector *i)
{
    if (h == NULL) return (void)step(NULL, w, 0, NULL, 0), NULL;
    (void)reef_history_step(h, NULL, 0);
    if (reef_history_reach(h).tick < 40) return h;
    reef_replay *r = reef_replay_new(h, 10);
    more = true;
    (void)reef_replay_play(r, 100);
    more = false;
    reef_inspector_replayed(i, r, "the old rules", "the new rules");
    reef_replay_free(r);
    reef_history_free(h);
    return NULL;
}

int main(int count, char **arguments)
{
    const long movers = count > 1 ? strtol(arguments[1], NULL, 10) : 500;
    reef_world *w = reef_world_new(NULL);
    char name[32], reason[REEF_DETAIL_MAX];
    for (long i = 0; i < movers; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Place, (float)i, 0), reef_with(Speed, 0.001f, 0));
        snprintf(name, sizeof name, "mover %ld", i);
        if (i < 500) (void)reef_set_name(w, e, name);
    }
    const reef_entity hero = reef_spawn(w, reef_with(Vigor, 100000), reef_with(Temper, SAD, FOOD | COMPANY)),
                      saint = reef_spawn(w, reef_with(Vigor, 200000), reef_tag(Blessed));
    (void)reef_set_name(w, hero, "hero <b>\"&'");
    (void)reef_set_name(w, saint, "saint");
    (void)reef_relate(w, hero, ChildOf, saint);
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, burn, "Vigor; sends Burnt");
    (void)reef_system(w, heal, "Vigor, with Blessed");
    reef_inspector_config config = {.title = "A scene <i>", .writes = true, .waits = true};
#ifdef SCENE_SQL
    config.sql = reef_sql_json;
#endif
    reef_inspector *i = reef_inspect_why(w, &config, reason);
    if (i == NULL) return fprintf(stderr, "%s\n", reason), 1;
    printf("%s\n", reef_inspector_address(i));
    (void)fflush(stdout);
    reef_history *past = movers > 500 ? NULL : reef_history_new(w, &(reef_history_config){.ticks = 100, .step = step});
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (poll(&input, 1, 0) == 0) {
        const struct timespec rest = {0, 4000000};
        past = play(w, past, i);
        reef_inspector_update(i);
        (void)nanosleep(&rest, NULL);
    }
    reef_inspector_free(i);
    reef_history_free(past);
    reef_world_free(w);
}
