/* Eating, ageing, hunting, spawning and dying; life.h shows where the energy goes. */
#include "ecosystem.h"

#include "dice.h"
#include <reef/command_relation.h>
#include <reef/random.h>

enum {
    BITE_NEEDS = 5,   /* a bite is at most what the body burns in this many ticks */
    FOUND_FOOD = 110, /* units of energy of food in a cell in which a fish finds what it burns */
    LEFT_FOOD = 60,   /* units of energy of a food that no fish finds in a cell */
    /* percent of the strikes at a fish without a hole that succeed; a hunter strikes in every second tick */
    CATCH_PERCENT = 6,
    SPAWN_ONE_IN = 60 /* an adult that could spawn does so in one of this many ticks */
};

/* ---- grazing and metabolism ---- */

/* Units of energy that a fish would eat of a layer. NUTRIENTS stands for "nothing", and is always 0. */
typedef struct appetite {
    layer food;
    int32_t want;
} appetite;

/* A fish eats the food of which its cell has the most. */
static appetite appetite_of(const species *of, int32_t energy, const Water *water)
{
    appetite a = {NUTRIENTS, 0};
    int32_t room = of->full - energy, bite = of->burn * BITE_NEEDS / 1024, most = 0;
    for (int l = PLANKTON; room > 0 && l < LAYERS; l++)
        if ((of->foods >> l & 1) != 0 && water->of[l] > most) a.food = (layer)l, most = water->of[l];
    if (a.food == NUTRIENTS) return a;
    int64_t found = (int64_t)(most - LEFT_FOOD) * of->burn / (FOUND_FOOD * 1024);
    if (bite > found) bite = found > 0 ? (int32_t)found : 0;
    a.want = bite < room ? bite : room;
    return a;
}

/* Returns what the metabolism burns, in whole units: in 1,024 ticks they add up to `burn`. A starving body burns half,
 * and no fish burns more than it has. */
static int32_t burned(const species *of, uint64_t tick, int32_t energy)
{
    int64_t burn = energy < of->full / 4 ? of->burn / 2 : of->burn;
    int32_t cost = (int32_t)((((int64_t)(tick & 1023) + 1) * burn >> 10) - ((int64_t)(tick & 1023) * burn >> 10));
    return cost < energy ? cost : energy;
}

/* All fish get what they want. If the cell hasn't got enough, all get the same part of it, rounded down so that it is
 * never too much. */
static Water feed_cell(const Sight *sight, const Rules *rules, Crowd here, Water was, uint64_t tick, Meal *meal)
{
    int32_t wanted[LAYERS] = {0};
    Water is = was;
    for (uint32_t k = here.first; k < here.end; k++) {
        appetite a = appetite_of(&rules->table.of[sight->fish[k].species], sight->fish[k].energy, &was);
        wanted[a.food] += a.want;
        sight->gain[k] = a.want * LAYERS + (int32_t)a.food; /* until it is known what there is for each fish */
    }
    for (uint32_t k = here.first; k < here.end; k++) {
        const seen *fish = &sight->fish[k];
        int32_t food = sight->gain[k] % LAYERS, want = sight->gain[k] / LAYERS, all = wanted[food],
                there = was.of[food];
        int32_t got = all <= there ? want : (int32_t)((int64_t)want * there / all), waste = got / 4;
        int32_t cost = burned(&rules->table.of[fish->species], tick + fish->fish.index, fish->energy);
        meal->eaten += got - waste;
        is.of[food] -= got;
        is.of[DETRITUS] += waste;
        is.of[NUTRIENTS] += cost;
        sight->gain[k] = got - waste - cost;
    }
    return is;
}

void feed(reef_block *b)
{
    const Sight *sight = reef_single_get(b->world, Sight);
    const Rules *rules = reef_single_get(b->world, Rules);
    Water *water = reef_inout(b, Water);
    Meal *meal = reef_out(b, Meal);
    const Crowd *crowd = reef_in(b, Crowd);
    const uint64_t tick = reef_tick_count(b->world);
    for (uint32_t i = 0; i < b->count; i++) {
        meal[i].eaten = 0;
        if (crowd[i].first < crowd[i].end) water[i] = feed_cell(sight, rules, crowd[i], water[i], tick, &meal[i]);
    }
}

/* ---- ageing ---- */

void age(reef_block *b)
{
    const Sight *sight = reef_single_get(b->world, Sight);
    const Rules *rules = reef_single_get(b->world, Rules);
    const Species *kind = reef_in(b, Species);
    const Place *place = reef_in(b, Place);
    Energy *energy = reef_inout(b, Energy);
    Age *lived = reef_inout(b, Age);
    for (uint32_t i = 0; i < b->count; i++) {
        energy[i].units += sight->gain[place[i].slot];
        lived[i].ticks++;
        if (energy[i].units == 0 || lived[i].ticks >= lived[i].span) {
            reef_send(b, Corpse, place[i].cell, energy[i].units);
            reef_cmd_destroy(b, b->entities[i]);
            energy[i].units = 0;
        } else if (lived[i].ticks == rules->table.of[kind[i].index].mature) {
            reef_cmd_add(b, b->entities[i], Adult);
        }
    }
}

/* ---- hunting ---- */

/* Hunters digest their last catch. A hunter that is done strikes again from the next tick on. */
void rest(reef_block *b)
{
    Hunter *hunter = reef_inout(b, Hunter);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++)
            if (--hunter[i].rest == 0) reef_cmd_remove(b, b->entities[i], Resting);
}

/* Returns how many of a hundred million strikes at this species would succeed: none while all its fish can hide. */
static uint32_t exposure(const reef_world *w, uint32_t kind)
{
    uint64_t population = reef_single_get(w, Census)->population[kind],
             hidden = reef_single_get(w, Rules)->hiding[kind];
    return population <= hidden ? 0 : (uint32_t)((population - hidden) * CATCH_PERCENT * 1000000 / population);
}

/* What a hunter has found so far. */
typedef struct hunt {
    float x, y;
    float best;       /* square of the distance */
    const seen *prey; /* NULL: nobody */
} hunt;

static void search_cell(const Sea *sea, const Sight *sight, const species *of, uint32_t cell, hunt *h)
{
    for (uint32_t k = sight->first[cell]; k < sight->first[cell + 1]; k++) {
        const seen *other = &sight->fish[k];
        if ((of->prey >> other->species & 1) == 0) continue;
        float dx = sea_way(sea, h->x, other->x), dy = sea_way(sea, h->y, other->y);
        if (dx * dx + dy * dy >= h->best) continue;
        h->best = dx * dx + dy * dy;
        h->prey = other;
    }
}

/* Returns the nearest prey that a hunter reaches within a second, by the places where all fish were at the start of
 * the tick. */
static const seen *nearest_prey(const Sea *sea, const Sight *sight, const species *of, const seen *hunter)
{
    float reach = 0.5f + of->speed;
    if (reach > CELL_METRES) reach = CELL_METRES;
    hunt h = {hunter->x, hunter->y, reach * reach, NULL};
    uint32_t here = sea_column(h.x), west = sea_column(sea_wrap(sea, h.x - reach)),
             east = sea_column(sea_wrap(sea, h.x + reach));
    uint32_t rows[3] = {sea_column(sea_wrap(sea, h.y - reach)), sea_column(h.y),
                        sea_column(sea_wrap(sea, h.y + reach))};
    for (uint32_t j = 0; j < 3; j++) {
        if (j != 1 && rows[j] == rows[1]) continue;
        search_cell(sea, sight, of, rows[j] * sea->side + here, &h);
        if (west != here) search_cell(sea, sight, of, rows[j] * sea->side + west, &h);
        if (east != here) search_cell(sea, sight, of, rows[j] * sea->side + east, &h);
    }
    return h.prey;
}

void strike(reef_block *b)
{
    const Sea *sea = reef_single_get(b->world, Sea);
    const Sight *sight = reef_single_get(b->world, Sight);
    const Rules *rules = reef_single_get(b->world, Rules);
    const Species *kind = reef_in(b, Species);
    const Place *place = reef_in(b, Place);
    const uint64_t tick = reef_tick_count(b->world);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) {
            const species *of = &rules->table.of[kind[i].index];
            const seen *me = &sight->fish[place[i].slot];
            if (fish_is_full(of, me->energy) || ((b->entities[i].index + tick) & 1) != 0) continue;
            const seen *prey = nearest_prey(sea, sight, of, me);
            if (prey == NULL) continue;
            reef_random r = reef_random_for(b, b->entities[i]);
            if (dice_below(&r, 100000000) < exposure(b->world, prey->species))
                reef_send(b, Strike, b->entities[i], prey->fish);
        }
}

int32_t catch_gain(const species *of, int32_t energy, int32_t food)
{
    const int32_t gain = food - food / 4, room = of->full - energy;
    return gain <= room ? gain : room > 0 ? room : 0;
}

/* If several hunters strike at one prey, the first one in visiting order gets it. A hunter that was eaten gets
 * nothing. */
void seize(reef_block *b)
{
    reef_world *w = b->world;
    const Rules *rules = reef_single_get(w, Rules);
    reef_events strikes = reef_receive(b, Strike);
    for (const Strike *s; (s = reef_next_event(&strikes)) != NULL;) {
        Energy *hunter = reef_mut(w, s->hunter, Energy), *prey = reef_mut(w, s->prey, Energy);
        if (hunter == NULL || prey == NULL || hunter->units == 0 || prey->units == 0) continue;
        const int32_t food = prey->units;
        const int32_t gain = catch_gain(&rules->table.of[reef_get(w, s->hunter, Species)->index], hunter->units, food);
        hunter->units += gain;
        prey->units = 0;
        reef_send(b, Corpse, reef_get(w, s->hunter, Place)->cell, food - gain);
        reef_cmd_destroy(b, s->prey);
        reef_set(w, s->hunter, Hunter, HUNTER_RESTS);
        reef_cmd_add(b, s->hunter, Resting);
    }
}

/* ---- spawning ---- */

/* Does an adult spawn now? Only if it is well fed, and less often the more of the species' nests are taken. */
static bool spawns(const species *of, uint32_t population, uint32_t nests, int32_t energy, reef_random *r)
{
    return fish_is_full(of, energy) && population < nests && dice_below(r, SPAWN_ONE_IN) == 0 &&
           dice_below(r, nests) < nests - population;
}

fish_born fish_young(Position at, Species kind, const species *of, reef_random *r)
{
    const Velocity heading = fish_heading(of, r);
    return (fish_born){at, heading, kind, {of->newborn}, {0, fish_span(of, r)}};
}

static void spawn_one(reef_block *b, reef_entity parent, const fish_born *young)
{
    const Rules *rules = reef_single_get(b->world, Rules);
    (void)parent;
    reef_cmd_instantiate_with(b, rules->young[young->kind.index], reef_with(Position, young->at.x, young->at.y),
                              reef_with(Velocity, young->heading.x, young->heading.y),
                              reef_with(Age, young->age.ticks, young->age.span));
}

void breed(reef_block *b, void (*one)(reef_block *b, reef_entity parent, const fish_born *young))
{
    const Census *census = reef_single_get(b->world, Census);
    const Rules *rules = reef_single_get(b->world, Rules);
    const Position *at = reef_in(b, Position);
    const Species *kind = reef_in(b, Species);
    Energy *energy = reef_inout(b, Energy);
    Tally *births = reef_part(b, Tally);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t k = kind[i].index;
        const species *of = &rules->table.of[k];
        if (!fish_is_full(of, energy[i].units)) continue;
        reef_random r = reef_random_for(b, b->entities[i]);
        if (!spawns(of, census->population[k], rules->nests[k], energy[i].units, &r)) continue;
        for (uint32_t c = 0; c < of->clutch; c++) {
            const fish_born young = fish_young(at[i], kind[i], of, &r);
            one(b, b->entities[i], &young);
        }
        energy[i].units -= of->newborn * (int32_t)of->clutch;
        births->born += of->clutch;
    }
}

void spawn(reef_block *b) { breed(b, spawn_one); }

void add_births(void *total, const void *part) { ((Tally *)total)->born += ((const Tally *)part)->born; }

/* ---- the dead ---- */

void bury(reef_block *b)
{
    const Sea *sea = reef_single_get(b->world, Sea);
    reef_events corpses = reef_receive(b, Corpse);
    reef_single_mut(b->world, Tally)->died += corpses.count;
    for (const Corpse *c; (c = reef_next_event(&corpses)) != NULL;)
        reef_mut(b->world, sea_entity(sea, c->cell), Water)->of[DETRITUS] += c->units;
}
