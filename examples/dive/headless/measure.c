#include "measure.h"

#include "stopwatch.h"
#include <reef/hash.h>
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

static Input swimming(uint64_t tick) { return (Input){.move = {(int8_t)(tick / 90 % 2 == 0 ? 60 : -60), 0}}; }

static bool filled(game *g, uint64_t creatures, reef_pool *pool)
{
    if (!game_new(g, 1, pool) || !measure_fill(g, creatures)) return false;
    return true;
}

/* She doesn't die of what is measured. */
static void breathe_in(game *g) { reef_mut(g->world, reef_single_get(g->world, Lamp)->diver, Diver)->air = 100.0f; }

bool measure(uint64_t creatures, uint64_t ticks, reef_pool *pool)
{
    stopwatch watch;
    game g = {0};
    bool good = stopwatch_new(&watch, ticks) && ticks > 0 && filled(&g, creatures, pool);
    const uint64_t before = good ? reef_count(g.world, Body) - CREATURE_COUNT : 0;
    for (uint64_t t = 0; t < 60 + ticks && good; t++) {
        const Input in = swimming(t);
        breathe_in(&g);
        stopwatch_begin(&watch);
        good = game_tick(&g, &in) >= 0;
        if (t >= 60) stopwatch_end(&watch);
    }
    if (good) {
        stopwatch_print(&watch);
        printf("  creatures %" PRIu64 " to %" PRIu64 "  threads %u  hash %016" PRIx64 "\n", before,
               reef_count(g.world, Body) - CREATURE_COUNT, (unsigned)reef_pool_threads(pool), reef_hash(g.world));
    }
    stopwatch_free(&watch);
    game_free(&g);
    return good;
}

/* ---- ticks back and again ---- */

/* Plays `back` ticks of both games: of the one alone, measured, and of the one with a history, which then goes back and
 * plays them again, measured. */
static bool round_of(game *alone, game *g, reef_history *past, uint64_t tick, uint32_t back, stopwatch *watches)
{
    bool good = true;
    breathe_in(alone);
    breathe_in(g);
    stopwatch_begin(&watches[0]);
    for (uint32_t k = 0; k < back && good; k++) {
        const Input in = swimming(tick + k);
        good = game_tick(alone, &in) >= 0;
    }
    stopwatch_end(&watches[0]);
    for (uint32_t k = 0; k < back && good; k++) {
        const Input in = swimming(tick + k);
        good = reef_history_step(past, &in, sizeof in) >= 0;
    }
    const uint64_t now = reef_history_reach(past).tick;
    stopwatch_begin(&watches[1]);
    good = good && reef_history_rewind(past, now - back) >= 0 && reef_history_replay(past, now) >= 0;
    stopwatch_end(&watches[1]);
    return good && reef_hash(alone->world) == reef_hash(g->world);
}

bool measure_back(uint64_t creatures, uint64_t rounds, uint32_t back, reef_pool *pool)
{
    stopwatch watches[2];
    game alone = {0}, g = {0};
    const bool first = stopwatch_new(&watches[0], rounds), second = stopwatch_new(&watches[1], rounds);
    bool good = first && second && rounds > 0 && filled(&alone, creatures, pool) && filled(&g, creatures, pool);
    reef_history *past =
        good ? reef_history_new(g.world, &(reef_history_config){.ticks = back + 1, .step = game_step}) : NULL;
    good = past != NULL;
    for (uint64_t r = 0; r < rounds && good; r++) good = round_of(&alone, &g, past, r * back, back, watches);
    if (good) {
        printf("again_us %.1f alone_us %.1f again_p99_us %.1f  threads %u\n", stopwatch_at(&watches[1], 50),
               stopwatch_at(&watches[0], 50), stopwatch_at(&watches[1], 99), (unsigned)reef_pool_threads(pool));
    }
    reef_history_free(past);
    for (int i = 0; i < 2; i++) stopwatch_free(&watches[i]);
    game_free(&g);
    game_free(&alone);
    return good;
}
