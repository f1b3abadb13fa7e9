/* The rules of eating, ageing, dying and spawning. Each unit of energy that one place loses, another one gains:
 *
 *     layer --grazing--> fish (3/4) and detritus (1/4)
 *     prey  --hunting--> hunter (3/4, if it can hold as much) and detritus
 *     fish  --metabolism--> nutrients        fish --death--> detritus        fish --spawning--> young fish */
#include "ecosystem.h"
#include "random.h"

#include <stdlib.h>

enum {
    BITE_NEEDS = 5,    /* a bite is at most what the body burns in so many ticks */
    FOUND_FOOD = 110,  /* energy units of food in a cell from which a fish finds what it burns */
    LEFT_FOOD = 60,    /* energy units of a food that nobody finds in a cell */
    REST_TICKS = 12,   /* a hunter's rest after a catch */
    CATCH_PERCENT = 6, /* of the strikes at a fish without a hole to hide in; a hunter strikes in every second tick */
    SPAWN_ONE_IN = 60  /* of the ticks, for an adult that could spawn */
};

/* ---- grazing ---- */

/* The food of which this cell has the most, NUTRIENTS for none. */
static layer best_food(const ecosystem *e, const species *of, uint32_t cell)
{
    layer   best = NUTRIENTS;
    int32_t most = 0;
    for (int l = PLANKTON; l < LAYERS; l++) {
        if ((of->foods >> l & 1) == 0 || e->water.layer[l][cell] <= most) continue;
        most = e->water.layer[l][cell];
        best = (layer)l;
    }
    return best;
}

/* Who isn't hungry or finds nothing wants nothing: 0 of any food. */
static Grazer appetite(const ecosystem *e, const species *of, uint32_t cell, int32_t energy)
{
    int32_t room = of->full - energy, bite = of->burn * BITE_NEEDS / 1024;
    layer   food = room > 0 ? best_food(e, of, cell) : NUTRIENTS;
    if (food == NUTRIENTS) return (Grazer){PLANKTON, 0};
    int64_t found = (int64_t)(e->water.layer[food][cell] - LEFT_FOOD) * of->burn / (FOUND_FOOD * 1024);
    if (bite > found) bite = found > 0 ? (int32_t)found : 0;
    return (Grazer){food, bite < room ? bite : room};
}

static void wish_food(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *at = reef_in(b, Position);
    const Species  *kind = reef_in(b, Species);
    const Energy   *energy = reef_in(b, Energy);
    Grazer         *grazer = reef_out(b, Grazer);
    for (uint32_t i = first; i < end; i++) {
        uint32_t cell = sea_cell(&e->water, at[i].x, at[i].y);
        grazer[i] = appetite(e, &e->table.of[kind[i].index], cell, energy[i].units);
        e->water.wanted[grazer[i].food][cell] += grazer[i].want;
    }
}

/* All get what they want, or the same part of it where the cell hasn't got enough, rounded down so that it is never too
 * much. The layers stay as they are until sea_settle. */
static void share_food(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *at = reef_in(b, Position);
    const Grazer   *grazer = reef_in(b, Grazer);
    Energy         *energy = reef_inout(b, Energy);
    for (uint32_t i = first; i < end; i++) {
        uint32_t cell = sea_cell(&e->water, at[i].x, at[i].y), food = grazer[i].food;
        int32_t  want = grazer[i].want, all = e->water.wanted[food][cell], there = e->water.layer[food][cell];
        int32_t  got = all <= there ? want : (int32_t)((int64_t)want * there / all);
        int32_t  waste = got / 4;
        e->water.taken[food][cell] += got;
        e->water.waste[cell] += waste;
        energy[i].units += got - waste;
    }
}

bool life_graze(ecosystem *e)
{
    if (!ecosystem_each(e, e->hungry, wish_food) || !ecosystem_each(e, e->grazers, share_food)) return false;
    sea_settle(&e->water);
    return true;
}

/* ---- hunting ---- */

static bool add_strike(ecosystem *e, reef_entity hunter, reef_entity prey)
{
    if (e->strike_count == e->strike_capacity) {
        uint32_t capacity = e->strike_capacity > 0 ? e->strike_capacity * 2 : 1024;
        strike  *bigger = realloc(e->strikes, capacity * sizeof *bigger);
        if (bigger == NULL) return false;
        e->strikes = bigger;
        e->strike_capacity = capacity;
    }
    e->strikes[e->strike_count++] = (strike){hunter, prey};
    return true;
}

/* Of a hundred million strikes at this species, how many would succeed: none while all can hide. */
static uint32_t exposure(const ecosystem *e, uint32_t kind)
{
    uint64_t population = e->fish.population[kind], hidden = e->hiding[kind];
    return population <= hidden ? 0 : (uint32_t)((population - hidden) * CATCH_PERCENT * 1000000 / population);
}

/* What a hunter has found so far. */
typedef struct hunt {
    Position at;
    float    best; /* square of the distance */
    uint32_t seen; /* index into the neighbours, UINT32_MAX: nobody */
} hunt;

static void search_cell(const ecosystem *e, const species *of, uint32_t cell, hunt *h)
{
    for (uint32_t k = e->near.first[cell]; k < e->near.first[cell + 1]; k++) {
        const seen *other = &e->near.fish[k];
        if ((of->prey >> other->species & 1) == 0) continue;
        float dx = sea_way(&e->water, h->at.x, other->x), dy = sea_way(&e->water, h->at.y, other->y);
        if (dx * dx + dy * dy >= h->best) continue;
        h->best = dx * dx + dy * dy;
        h->seen = k;
    }
}

/* The nearest prey that a hunter reaches within a second, by the places where the fish were at the start of the
 * tick. */
static uint32_t nearest_prey(const ecosystem *e, const species *of, Position at)
{
    float reach = 0.5f + of->speed;
    if (reach > CELL_METRES) reach = CELL_METRES;
    hunt     h = {at, reach * reach, UINT32_MAX};
    uint32_t here = sea_column(at.x), west = sea_column(sea_wrap(&e->water, at.x - reach));
    uint32_t east = sea_column(sea_wrap(&e->water, at.x + reach)), side = e->water.side;
    uint32_t rows[3] = {sea_column(sea_wrap(&e->water, at.y - reach)), sea_column(at.y),
                        sea_column(sea_wrap(&e->water, at.y + reach))};
    for (uint32_t j = 0; j < 3; j++) {
        if (j != 1 && rows[j] == rows[1]) continue;
        search_cell(e, of, rows[j] * side + here, &h);
        if (west != here) search_cell(e, of, rows[j] * side + west, &h);
        if (east != here) search_cell(e, of, rows[j] * side + east, &h);
    }
    return h.seen;
}

static void strike_block(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *at = reef_in(b, Position);
    const Species  *kind = reef_in(b, Species);
    const Energy   *energy = reef_in(b, Energy);
    for (uint32_t i = first; i < end; i++) {
        const species *of = &e->table.of[kind[i].index];
        if (energy[i].units >= of->full / 4 * 3 || ((b->entities[i].index + e->tick) & 1) != 0) continue;
        uint32_t prey = nearest_prey(e, of, at[i]);
        if (prey == UINT32_MAX) continue;
        uint64_t dice = random_bits(e->seed, e->tick, reef_entity_bits(b->entities[i]), FOR_CATCH);
        if (random_below(dice, 100000000) >= exposure(e, e->near.fish[prey].species)) continue;
        if (!add_strike(e, b->entities[i], e->near.entity[prey])) e->fish.no_memory = true;
    }
}

/* The hunters of the last catches. Who wakes strikes from the next tick on. */
static void rest_block(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    Hunter *hunter = reef_inout(b, Hunter);
    for (uint32_t i = first; i < end; i++)
        if (--hunter[i].rest == 0 && reef_remove(e->world, b->entities[i], Resting) < 0) e->fish.no_memory = true;
}

/* The first hunter in visiting order gets a prey that several strike at; an eaten hunter gets nothing. */
static bool settle_strike(ecosystem *e, strike s)
{
    if (!reef_is_enabled_entity(e->world, s.prey) || !reef_is_enabled_entity(e->world, s.hunter)) return true;
    int32_t food = reef_get(e->world, s.prey, Energy)->units, held = reef_get(e->world, s.hunter, Energy)->units;
    Position at = *reef_get(e->world, s.hunter, Position);
    uint32_t hunter = reef_get(e->world, s.hunter, Species)->index, prey = reef_get(e->world, s.prey, Species)->index;
    int32_t  room = e->table.of[hunter].full - held, gain = food - food / 4;
    if (gain > room) gain = room;
    e->water.layer[DETRITUS][sea_cell(&e->water, at.x, at.y)] += food - gain;
    fish_die(&e->fish, s.prey, prey);
    return reef_set(e->world, s.hunter, Energy, held + gain) >= 0 &&
           reef_set(e->world, s.hunter, Hunter, REST_TICKS) >= 0 && reef_add(e->world, s.hunter, Resting) >= 0;
}

bool life_hunt(ecosystem *e)
{
    e->strike_count = 0;
    if (!ecosystem_each(e, e->hunters, strike_block) || !ecosystem_each(e, e->resting, rest_block)) return false;
    for (uint32_t i = 0; i < e->strike_count; i++)
        if (!settle_strike(e, e->strikes[i])) return false;
    return true;
}

/* ---- ageing ---- */

/* Metabolism in whole units: over 1,024 ticks of life they add up to `burn`. A starving body burns half. */
static int32_t burned(const species *of, uint32_t age, int32_t energy)
{
    int64_t burn = energy < of->full / 4 ? of->burn / 2 : of->burn;
    return (int32_t)((((int64_t)age + 1) * burn >> 10) - ((int64_t)age * burn >> 10));
}

static void age_block(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *at = reef_in(b, Position);
    const Species  *kind = reef_in(b, Species);
    Energy         *energy = reef_inout(b, Energy);
    Age            *age = reef_inout(b, Age);
    for (uint32_t i = first; i < end; i++) {
        const species *of = &e->table.of[kind[i].index];
        uint32_t       cell = sea_cell(&e->water, at[i].x, at[i].y);
        int32_t        cost = burned(of, age[i].ticks, energy[i].units);
        age[i].ticks++;
        if (energy[i].units <= cost || age[i].ticks >= age[i].span) {
            e->water.layer[DETRITUS][cell] += energy[i].units;
            fish_die(&e->fish, b->entities[i], kind[i].index);
            continue;
        }
        energy[i].units -= cost;
        e->water.layer[NUTRIENTS][cell] += cost;
        if (age[i].ticks == of->mature) fish_mature(&e->fish, b->entities[i]);
    }
}

bool life_age(ecosystem *e) { return ecosystem_each(e, e->living, age_block); }

/* ---- the end of a species ---- */

static uint64_t kind_key(const void *its) { return ((const Species *)its)->index; }

/* A query grouped by species goes to this one alone. It only reads: of the blocks that a fork shares, the deaths alone copy some. */
bool life_end(ecosystem *e, uint32_t kind)
{
    const reef_order by_kind = {.component = reef_id(Species), .key = kind_key};
    const reef_loop  group = {.grouped = true, .group = kind, .deferred = true};
    reef_query       bodies = reef_query_new(e->world, "in Position, in Species, in Energy");
    if (reef_query_order(e->world, bodies, &by_kind) < 0) return false;
    for (reef_block b = reef_begin_loop(e->world, bodies, &group); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Energy   *energy = reef_in(&b, Energy);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) {
                e->water.layer[DETRITUS][sea_cell(&e->water, at[i].x, at[i].y)] += energy[i].units;
                fish_die(&e->fish, b.entities[i], kind);
            }
    }
    bool good = reef_last_error(e->world).status == REEF_OK;
    reef_query_free(e->world, bodies);
    return good && fish_line_up(&e->fish);
}

/* ---- spawning ---- */

/* Adults that are well fed spawn now and then, the less often the more of the species' nests are taken. */
static bool spawns(const ecosystem *e, uint32_t kind, int32_t energy, uint64_t dice)
{
    if (energy < e->table.of[kind].full / 4 * 3) return false;
    uint32_t population = e->fish.population[kind], nests = e->nests[kind];
    return population < nests && random_below(dice >> 32, SPAWN_ONE_IN) == 0 &&
           random_below(dice, nests) < nests - population;
}

static void spawn_block(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *at = reef_in(b, Position);
    const Species  *kind = reef_in(b, Species);
    Energy         *energy = reef_inout(b, Energy);
    for (uint32_t i = first; i < end; i++) {
        uint64_t       dice = random_bits(e->seed, e->tick, reef_entity_bits(b->entities[i]), FOR_SPAWN);
        const species *of = &e->table.of[kind[i].index];
        if (!spawns(e, kind[i].index, energy[i].units, dice)) continue;
        for (uint32_t k = 0; k < of->clutch; k++) {
            dice = random_mix(dice + k + 1);
            Velocity heading = fish_direction(dice);
            heading.x *= of->speed;
            heading.y *= of->speed;
            fish_spawn(&e->fish, false, at[i], heading, kind[i], (Energy){of->newborn}, (Age){0, fish_span(of, dice)});
            energy[i].units -= of->newborn;
        }
    }
}

bool life_spawn(ecosystem *e) { return ecosystem_each(e, e->spawners, spawn_block); }
