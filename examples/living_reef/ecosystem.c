#include "ecosystem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ecosystem_refused(ecosystem *e, const char *what)
{
    int n = snprintf(e->error, sizeof e->error, "%s: ", what);
    if (e->world == NULL || reef_last_error(e->world).status == REEF_OK)
        snprintf(e->error + n, sizeof e->error - (size_t)n, "no memory");
    else reef_error_text(e->world, e->error + n, sizeof e->error - (size_t)n);
    return false;
}

bool ecosystem_each(ecosystem *e, reef_query query, block_rule rule)
{
    for (reef_block b = reef_begin_loop(e->world, query, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n) rule(e, &b, first, first + n);
    return reef_last_error(e->world).status == REEF_OK;
}

enum {
    HIDING_PERCENT = 20,
    GRAZER_HALF_NESTS = 4, /* twice the first number */
    HUNTER_HALF_NESTS = 12 /* six times */
};

static bool make_queries(ecosystem *e)
{
    e->bodies = reef_query_new(e->world, "in Position, in Species, in Energy");
    e->swimmers = reef_query_new(e->world, "Position, out Velocity, in Place");
    e->hungry = reef_query_new(e->world, "in Position, in Species, in Energy, out Grazer");
    e->grazers = reef_query_new(e->world, "in Position, Energy, in Grazer");
    e->hunters = reef_query_new(e->world, "in Position, in Species, in Energy, with Hunter, !Resting");
    e->resting = reef_query_new(e->world, "Hunter, Resting");
    e->living = reef_query_new(e->world, "in Position, in Species, Energy, Age");
    e->spawners = reef_query_new(e->world, "in Position, in Species, Energy, with Adult");
    const reef_query made[] = {e->bodies,  e->swimmers, e->hungry, e->grazers,
                               e->hunters, e->resting,  e->living, e->spawners};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (reef_query_is_null(made[i])) return false;
    return true;
}

/* Room that the reef has for each species, in proportion to its first number. Holes, in which hunters find nobody,
 * keep them from eating the last of a kind. Nests keep one grazer from crowding out the others; hunters have so many
 * that food limits them first. */
static void give_room(ecosystem *e)
{
    for (uint32_t i = 0; i < e->table.count; i++) {
        const species *s = &e->table.of[i];
        e->hiding[i] = s->number * HIDING_PERCENT / 100;
        e->nests[i] = s->number / 2 * (s->prey != 0 ? HUNTER_HALF_NESTS : GRAZER_HALF_NESTS);
    }
}

bool ecosystem_new(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed)
{
    memset(e, 0, sizeof *e);
    e->table = *table;
    e->seed = seed;
    e->world = reef_world_new(NULL);
    give_room(e);
    if (!school_new(&e->fish, &e->table, e->world) || !make_queries(e)) return ecosystem_refused(e, "making the world");
    if (!sea_new(&e->water, metres, seed) || !neighbours_new(&e->near, &e->water, e->world))
        return ecosystem_refused(e, "making the sea");
    if (!fish_fill(&e->fish, e->water.metres, seed)) return ecosystem_refused(e, "making the first fish");
    ledger_count(&e->books, &e->water, e->world, e->bodies);
    ledger_open(&e->books);
    return true;
}

bool ecosystem_fork(ecosystem *e, const ecosystem *from, reef_world *fork)
{
    memset(e, 0, sizeof *e);
    e->table = from->table;
    e->seed = from->seed;
    e->tick = from->tick;
    e->books = from->books;
    e->world = fork;
    give_room(e);
    if (!school_copy(&e->fish, &e->table, e->world, &from->fish) || !make_queries(e))
        return ecosystem_refused(e, "making the other world");
    if (!sea_copy(&e->water, &from->water) || !neighbours_new(&e->near, &e->water, e->world))
        return ecosystem_refused(e, "making the other sea");
    return true;
}

void ecosystem_free(ecosystem *e)
{
    reef_world_free(e->world);
    school_free(&e->fish);
    neighbours_free(&e->near);
    sea_free(&e->water);
    free(e->strikes);
    memset(e, 0, sizeof *e);
}

/* Changes the world as the lists say, and counts what there is then. */
static bool apply(ecosystem *e, const char *what)
{
    if (!fish_apply(&e->fish)) return ecosystem_refused(e, what);
    ledger_count(&e->books, &e->water, e->world, e->bodies);
    return ledger_check(&e->books, e->tick, e->error, sizeof e->error);
}

bool ecosystem_tick(ecosystem *e)
{
    e->tick++;
    sea_step(&e->water, e->seed, e->tick);
    if (!neighbours_sort(&e->near, &e->water, &e->table)) return ecosystem_refused(e, "looking around");
    if (!swim(e)) return ecosystem_refused(e, "swimming");
    if (!life_graze(e)) return ecosystem_refused(e, "grazing");
    if (!life_hunt(e)) return ecosystem_refused(e, "hunting");
    if (!life_age(e)) return ecosystem_refused(e, "ageing");
    if (!life_spawn(e)) return ecosystem_refused(e, "spawning");
    return apply(e, "births and deaths");
}

bool ecosystem_remove(ecosystem *e, uint32_t kind)
{
    if (!life_end(e, kind)) return ecosystem_refused(e, "taking a species out");
    return apply(e, "taking a species out");
}
