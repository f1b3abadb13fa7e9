/* The ecosystem: the list of systems below is everything that happens in a tick. */
#include "ecosystem.h"
#include <reef/prefab.h>
#include <reef/bulk.h>
#include <reef/pool.h>
#include <reef/term.h>
#include <reef/control.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYSTEM(f) .name = #f, .function = f
#define SECOND 1000000000u /* in ns */

/* clang-format off */
/* What happens in a tick. The text of a system says which rows it is for and what it does with them, and behind the
 * semicolon what else it touches. From these texts reef finds out which systems may run at the same time. At the end
 * of a phase the births, deaths and comings of age are done that its systems asked for. */
static const reef_system_desc tick[] = {
    {SYSTEM(grow), .phase = "begin", .text = "Water, in Ground"},
    {SYSTEM(turn), .phase = "begin", .text = "; writes Current", .interval_ns = 256ull * SECOND},
    {SYSTEM(mix), .phase = "begin", .text = "in Water, out Mixed; reads Water Sea Current"},
    {SYSTEM(pour), .phase = "begin", .text = "Water, in Mixed"},

    {SYSTEM(open_eyes), .phase = "begin", .text = "; reads Position as placed, writes Sight"},
    {SYSTEM(show), .phase = "begin", .text = "in Position, in Velocity, in Species, in Energy, out Place, Leader; "
                                               "reads Position as placed, reads Follows Sight Sea"},
    {SYSTEM(watch), .phase = "begin", .text = "out Crowd; reads Sight Leader Sea Rules"},

    {SYSTEM(rest), .text = "Hunter, Resting; removes Resting"},
    {SYSTEM(decide), .text = "Crowd; reads Sight Leader Water Sea Rules, relates Follows, removes Follows"},
    {SYSTEM(strike), .text = "in Species, in Place, with Hunter, !Resting; "
                             "reads Sight Leader Sea Rules Census, sends Strike"},
    {SYSTEM(feed), .text = "Water, in Crowd, out Meal; reads Sight Leader Rules"},
    {SYSTEM(swim), .text = "Position, out Velocity, in Place; reads Sight Crowd Sea"},
    {SYSTEM(age), .text = "in Species, in Place, Energy, Age; "
                            "reads Sight Meal Rules, sends Corpse, adds Adult, destroys"},
    {SYSTEM(seize), .text = "; receives Strike, reads Species Place Rules, writes Energy Hunter, sends Corpse, "
                            "adds Resting, destroys"},
    {SYSTEM(spawn), .text = "in Position, in Species, Energy, with Adult; reads Census Rules, sums Tally, spawns",
     .combine = add_births},

    {SYSTEM(bury), .phase = "end", .text = "; receives Corpse, reads Sea, writes Water Tally"},
    {SYSTEM(forget), .phase = "end", .text = "; writes Census Stock"},
    {SYSTEM(count_fish), .phase = "end", .text = "in Species, in Energy; sums Census", .combine = add_fish},
    {SYSTEM(count_water), .phase = "end", .text = "in Water; sums Stock", .combine = add_water},
};
/* clang-format on */

static bool add_systems(reef_world *w)
{
    for (size_t i = 0; i < sizeof tick / sizeof tick[0]; i++)
        if (reef_system_is_null(reef_system_new(w, &tick[i]))) return false;
    return true;
}

bool ecosystem_refused(ecosystem *e, const char *what)
{
    int n = snprintf(e->error, sizeof e->error, "%s: ", what);
    if (e->world == NULL || reef_last_error(e->world).status == REEF_OK)
        snprintf(e->error + n, sizeof e->error - (size_t)n, "no memory");
    else reef_error_text(e->world, e->error + n, sizeof e->error - (size_t)n);
    return false;
}

/* ---- making ---- */

/* Prints what reef reports. If it reports anything, this program has a bug. The checked build finds more. */
static void say(void *context, reef_log_level level, const char *message)
{
    (void)context;
    if (level >= REEF_LOG_WARNING) fprintf(stderr, "reef: %s\n", message);
}

bool ecosystem_empty(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed, reef_pool *pool)
{
    reef_world *w = reef_world_new(&(reef_world_config){.seed = seed, .log = say});
    *e = (ecosystem){.table = table, .world = w};
    if (w == NULL || !sight_declare(metres) || !add_systems(w)) return ecosystem_refused(e, "making the world");
    reef_set_pool(w, pool);
    return true;
}

bool ecosystem_wake(ecosystem *e, int64_t energy)
{
    e->energy = energy;
    return (fish_rules(e->world, e->table) && sight_new(e->world)) || ecosystem_refused(e, "waking what was saved");
}

bool ecosystem_new(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed, reef_pool *pool)
{
    if (!ecosystem_empty(e, table, metres, seed, pool)) return false;
    reef_world *w = e->world;
    if (!sea_fill(w, metres) || !sight_new(w)) return ecosystem_refused(e, "making the sea");
    if (!fish_fill(w, table)) return ecosystem_refused(e, "making the first fish");
    if (reef_single_set(w, Tally, 0, 0) < 0 || reef_single_set(w, Census, 0) < 0 ||
        reef_single_set(w, Stock, {0}) < 0 || reef_tick_phase(w, "end", 0) < 0)
        return ecosystem_refused(e, "counting");
    e->energy = census_energy(w);
    return true;
}

bool ecosystem_fork(ecosystem *e, ecosystem *from)
{
    *e = (ecosystem){.table = from->table, .energy = from->energy, .world = reef_fork(from->world)};
    if (e->world == NULL) return ecosystem_refused(from, "forking the world");
    if (sight_new(e->world)) return true;
    reef_world_free(e->world); /* otherwise it would free the arrays of its origin */
    e->world = NULL;
    return ecosystem_refused(e, "making the other sea");
}

void ecosystem_free(ecosystem *e)
{
    sight_free(e->world);
    reef_world_free(e->world);
    memset(e, 0, sizeof *e);
}

/* ---- playing ---- */

uint32_t ecosystem_ticks(const ecosystem *e) { return (uint32_t)reef_tick_count(e->world); }

/* Compares the last count with the first one. */
static bool check_energy(ecosystem *e)
{
    int64_t difference = census_energy(e->world) - e->energy;
    if (difference == 0) return true;
    snprintf(
        e->error, sizeof e->error,
        "energy is not conserved: in tick %" PRIu32 " there are %" PRId64 " units %s than the %" PRId64 " at the start",
        ecosystem_ticks(e), difference < 0 ? -difference : difference, difference < 0 ? "less" : "more", e->energy);
    return false;
}

bool ecosystem_tick(ecosystem *e)
{
    if (!sight_reserve(e->world, reef_single_get(e->world, Census)->fish) || reef_tick(e->world, 1.0f) < 0)
        return ecosystem_refused(e, "playing a tick");
    return check_energy(e);
}

/* All fish of the species are copies of its prefab. */
bool ecosystem_remove(ecosystem *e, uint32_t kind)
{
    reef_world *w = e->world;
    const Sea sea = *reef_single_get(w, Sea);
    const reef_query_desc of_kind = {
        .terms = {
            {.component = reef_id(Position), .access = REEF_IN},
            {.component = reef_id(Energy), .access = REEF_IN},
            {.component = reef_id(InstanceOf), .access = REEF_WITH, .target = reef_single_get(w, Rules)->young[kind]}}};
    const reef_query fish = reef_query_make(w, &of_kind);
    bool good = !reef_query_is_null(fish);
    for (reef_block b = reef_begin(w, fish); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Energy *energy = reef_in(&b, Energy);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; good && i < first + n; i++)
                good = reef_post(w, Corpse, sea_cell(&sea, at[i].x, at[i].y), energy[i].units) == REEF_OK;
    }
    if (!good || reef_destroy_where(w, fish, NULL) != REEF_OK || reef_query_free(w, fish) != REEF_OK ||
        reef_tick_phase(w, "end", 0) < 0)
        return ecosystem_refused(e, "taking a species out");
    return check_energy(e);
}

bool ecosystem_leak(ecosystem *e)
{
    const reef_system_desc once = {.function = leak, .text = "; reads Sea, writes Water"};
    return reef_system_once(e->world, &once, 0) >= 0 || ecosystem_refused(e, "leaking");
}
