#include "measure.h"

#include "stopwatch.h"
#include <reef/history.h>
#include <reef/pool.h>
#include <reef/random.h>

#include <inttypes.h>

static uint64_t wanted;

/* Of 100 creatures: 46 needles, some of every other kind, 16 bystanders. */
static void crowd_the_sea(reef_block *b)
{
    static const uint8_t others[] = {CREATURE_DARTER, CREATURE_JELLY,  CREATURE_JELLET,  CREATURE_PINCER,
                                     CREATURE_SHADE,  CREATURE_URCHIN, CREATURE_CLEANER, CREATURE_SPITTER,
                                     CREATURE_LEECH,  CREATURE_PUFFER, CREATURE_WOLF};
    reef_random r = reef_random_for(b, (reef_entity){0, 0});
    for (uint64_t k = 0; k < wanted; k++) {
        uint32_t dice = (uint32_t)reef_random_range(&r, 0, 99), kind = CREATURE_NEEDLE;
        if (dice < 16) kind = dice < 10 ? CREATURE_WRASSE : CREATURE_TANG;
        else if (dice < 54) kind = others[dice % (sizeof others / sizeof others[0])];
        if (k % 250 == 0) kind = CREATURE_BROODER; /* few, since the sea should stay as full as it is */
        vec at = {reef_random_float(&r) * 90.0f - 45.0f, reef_random_float(&r) * 90.0f - 45.0f};
        creature_spawn(b, kind, at, (vec){0, 0});
    }
}

bool measure_fill(game *g, uint64_t creatures)
{
    const reef_system_desc fill = {
        .name = "crowd_the_sea", .function = crowd_the_sea, .text = "; reads Creatures, spawns"};
    const uint64_t there = reef_count(g->world, Body) - CREATURE_COUNT; /* prefabs have bodies too */
    wanted = creatures > there ? creatures - there : 0;
    Stage *s = reef_single_mut(g->world, Stage);
    s->now = STAGE_WAVE, s->clock = 1e9f, s->wave = 2 * WAVES + 1; /* no further creatures come in this time */
    s->since = 1e6f;
    const bool good = reef_system_once(g->world, &fill, 0) >= 0;
    for (reef_block b = reef_begin_text(g->world, "Health"); reef_next(&b);) /* so that their number stays */
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Health)[i].now = 1e6f;
    return good;
}

/* A tick, and then some of them back and again. */
static bool back_and_again(game *g, reef_history *past, const Input *in, uint32_t back, stopwatch *watch)
{
    if (reef_history_step(past, in, sizeof *in) < 0) return false;
    const reef_history_range reach = reef_history_reach(past);
    if (reach.tick - reach.first < back) return true;
    stopwatch_begin(watch);
    const bool good = reef_history_rewind(past, reach.tick - back) >= 0 && reef_history_replay(past, reach.tick) >= 0;
    stopwatch_end(watch);
    return good && g->world != NULL;
}

bool measure(uint64_t creatures, uint64_t ticks, uint32_t back, reef_pool *pool)
{
    stopwatch watch;
    game g = {0};
    bool good = stopwatch_new(&watch, ticks) && ticks > 0 && game_new(&g, 1, pool) && measure_fill(&g, creatures);
    reef_history *past = NULL;
    if (good && back > 0) {
        past = reef_history_new(g.world, &(reef_history_config){.ticks = back + 1, .step = game_step});
        good = past != NULL;
    }
    const uint64_t before = good ? reef_count(g.world, Body) - CREATURE_COUNT : 0;
    for (uint64_t t = 0; t < 60 + ticks && good; t++) {
        Diver *d = reef_mut(g.world, reef_single_get(g.world, Lamp)->diver, Diver);
        d->air = 100.0f; /* she doesn't die of it */
        const Input in = {.move = {(int8_t)(t / 90 % 2 == 0 ? 60 : -60), 0}};
        if (past != NULL) {
            good = back_and_again(&g, past, &in, back, &watch);
            continue;
        }
        stopwatch_begin(&watch);
        good = game_tick(&g, &in) >= 0;
        if (t >= 60) stopwatch_end(&watch);
    }
    if (good) {
        stopwatch_print(&watch);
        printf("  creatures %" PRIu64 " to %" PRIu64 "  threads %u  hash %016" PRIx64 "\n", before,
               reef_count(g.world, Body) - CREATURE_COUNT, (unsigned)reef_pool_threads(pool), reef_hash(g.world));
    }
    reef_history_free(past);
    stopwatch_free(&watch);
    game_free(&g);
    return good;
}
