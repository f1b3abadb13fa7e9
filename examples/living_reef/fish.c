/* The rules that follow from the table of species, the prefabs, and the first fish. */
#include "fish.h"

#include "dice.h"
#include "sea.h"
#include <reef/prefab.h>
#include <reef/random.h>

#include <math.h>

enum {
    HIDING_PERCENT = 20,
    GRAZER_HALF_NESTS = 4, /* times the first number */
    HUNTER_HALF_NESTS = 12 /* times the first number */
};

/* Computes how much room the reef has for each species, in proportion to its first number. Holes, in which hunters
 * find nobody, keep them from eating the last fish of a species. Nests keep one grazer from crowding out the others;
 * hunters have so many nests that food limits them first. */
bool fish_rules(reef_world *w, const species_table *table)
{
    static const Rules none;
    if (reef_single_set_id(w, reef_id(Rules), &none, sizeof none) < 0) return false;
    Rules *rules = reef_single_mut(w, Rules);
    if (rules == NULL) return false;
    rules->table = *table;
    for (uint32_t i = 0; i < table->count; i++) {
        const species *s = &table->of[i];
        rules->hiding[i] = s->number * HIDING_PERCENT / 100;
        rules->nests[i] = s->number / 2 * (s->prey != 0 ? HUNTER_HALF_NESTS : GRAZER_HALF_NESTS);
    }
    for (reef_block b = reef_begin_text(w, "in Species, with ReefPrefab"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) rules->young[reef_in(&b, Species)[i].index] = b.entities[i];
    return reef_last_error(w).status == REEF_OK;
}

/* A random point of a square that also lies in the circle, brought to length 1; so no sine is needed. */
Velocity fish_heading(const species *of, reef_random *r)
{
    for (;;) {
        float x = reef_random_float(r) * 2.0f - 1.0f, y = reef_random_float(r) * 2.0f - 1.0f, square = x * x + y * y;
        if (square <= 0.01f || square > 1.0f) continue;
        float speed = of->speed / sqrtf(square);
        return (Velocity){x * speed, y * speed};
    }
}

uint32_t fish_span(const species *of, reef_random *r)
{
    return of->span - of->span / 5 + dice_below(r, of->span / 5 * 2 + 1);
}

/* Grazers start in groups of thirty within a few metres, hunters in pairs. */
static Position first_place(reef_world *w, const Sea *s, const species *of, Species kind, reef_entity fish,
                            reef_random *own)
{
    reef_entity group = {fish.index / (of->prey != 0 ? 2 : 30), kind.index + 1};
    reef_random r = reef_random_of(w, FOR_GROUP, group);
    float x = reef_random_float(&r) * s->metres + reef_random_float(own) * 6.0f;
    float y = reef_random_float(&r) * s->metres + reef_random_float(own) * 6.0f;
    return (Position){sea_wrap(s, x), sea_wrap(s, y)};
}

fish_first fish_hatched(reef_world *w, const Sea *s, const species *of, Species kind, reef_entity e, reef_random *r)
{
    fish_first f;
    f.at = first_place(w, s, of, kind, e, r);
    f.heading = fish_heading(of, r);
    f.energy.units = of->full * 2 / 5 + (int32_t)dice_below(r, (uint32_t)of->full / 3);
    f.age.span = fish_span(of, r);
    f.age.ticks = dice_below(r, f.age.span - 1);
    f.adult = f.age.ticks >= of->mature;
    return f;
}

static void hatch(reef_block *b)
{
    const Sea *s = reef_single_get(b->world, Sea);
    const Rules *rules = reef_single_get(b->world, Rules);
    const Species *kind = reef_in(b, Species);
    Position *at = reef_out(b, Position);
    Velocity *v = reef_out(b, Velocity);
    Energy *energy = reef_out(b, Energy);
    Age *age = reef_out(b, Age);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random r = reef_random_for(b, b->entities[i]);
        const fish_first f = fish_hatched(b->world, s, &rules->table.of[kind[i].index], kind[i], b->entities[i], &r);
        at[i] = f.at;
        v[i] = f.heading;
        energy[i] = f.energy;
        age[i] = f.age;
        if (f.adult) reef_cmd_add(b, b->entities[i], Adult);
    }
}

/* Makes the prefab of a species: a fish that was just born. Only those that eat other fish get a Hunter. */
static bool make_prefab(reef_world *w, Species kind, const species *of)
{
    const reef_value values[] = {reef_with(Species, kind.index),
                                 reef_with(Energy, of->newborn),
                                 reef_default(Position),
                                 reef_default(Velocity),
                                 reef_default(Age),
                                 reef_default(Place),
                                 reef_with(Leader, ALONE),
                                 reef_default(Hunter)};
    const uint32_t count = sizeof values / sizeof values[0];
    const reef_entity young = reef_spawn_values(w, values, of->prey != 0 ? count : count - 1);
    /* The name is for those who look into a save. */
    return reef_make_prefab(w, young) == REEF_OK && reef_set_name(w, young, of->scientific) != REEF_NO_MEMORY;
}

bool fish_fill(reef_world *w, const species_table *table)
{
    const reef_system_desc first = {
        .function = hatch,
        .text = "in Species, out Position, out Velocity, out Energy, out Age; reads Sea Rules, adds Adult"};
    for (uint32_t i = 0; i < table->count; i++)
        if (!make_prefab(w, (Species){i}, &table->of[i])) return false;
    if (!fish_rules(w, table)) return false;
    const Rules *rules = reef_single_get(w, Rules);
    for (uint32_t i = 0; i < table->count; i++)
        if (reef_instantiate(w, rules->young[i], table->of[i].number, NULL) < 0) return false;
    return reef_system_once(w, &first, 0) >= 0;
}
