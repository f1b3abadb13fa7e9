#include "fish.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool school_new(school *s, const species_table *table, reef_world *world)
{
    memset(s, 0, sizeof *s);
    s->table = table;
    s->world = world;
    return world != NULL;
}

bool school_copy(school *s, const species_table *table, reef_world *fork, const school *from)
{
    if (!school_new(s, table, fork)) return false;
    memcpy(s->population, from->population, sizeof s->population);
    s->born = from->born;
    s->died = from->died;
    return true;
}

static void brood_free(brood *b)
{
    free(b->position);
    free(b->velocity);
    free(b->species);
    free(b->energy);
    free(b->age);
}

void school_free(school *s)
{
    for (uint32_t i = 0; i < SPECIES_MAX; i++) {
        brood_free(&s->young[i]);
        brood_free(&s->adult[i]);
    }
    free(s->dying.of);
    free(s->maturing.of);
    memset(s, 0, sizeof *s);
}

/* ---- lists ---- */

static bool grow_array(void **array, uint32_t capacity, size_t size)
{
    void *bigger = realloc(*array, (size_t)capacity * size);
    if (bigger == NULL) return false;
    *array = bigger;
    return true;
}

static bool brood_grow(brood *b)
{
    uint32_t capacity = b->capacity > 0 ? b->capacity * 2 : 64;
    void    *p = b->position, *v = b->velocity, *s = b->species, *e = b->energy, *a = b->age;
    bool     good = grow_array(&p, capacity, sizeof *b->position) && grow_array(&v, capacity, sizeof *b->velocity) &&
                grow_array(&s, capacity, sizeof *b->species) && grow_array(&e, capacity, sizeof *b->energy) &&
                grow_array(&a, capacity, sizeof *b->age);
    b->position = p, b->velocity = v, b->species = s, b->energy = e, b->age = a;
    if (good) b->capacity = capacity;
    return good;
}

static bool list_add(entity_list *list, reef_entity e)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity > 0 ? list->capacity * 2 : 256;
        void    *of = list->of;
        if (!grow_array(&of, capacity, sizeof *list->of)) return false;
        list->of = of;
        list->capacity = capacity;
    }
    list->of[list->count++] = e;
    return true;
}

void fish_spawn(school *s, bool adult, Position at, Velocity heading, Species kind, Energy energy, Age age)
{
    brood *b = adult ? &s->adult[kind.index] : &s->young[kind.index];
    if (b->count == b->capacity && !brood_grow(b)) {
        s->no_memory = true;
        return;
    }
    uint32_t i = b->count++;
    b->position[i] = at;
    b->velocity[i] = heading;
    b->species[i] = kind;
    b->energy[i] = energy;
    b->age[i] = age;
}

void fish_die(school *s, reef_entity fish, uint32_t kind)
{
    if (!list_add(&s->dying, fish) || reef_disable_entity(s->world, fish) < 0) s->no_memory = true;
    s->population[kind]--;
}

bool fish_line_up(school *s)
{
    s->dying.count = 0;
    for (reef_block b = reef_begin_text(s->world, "with Species, disabled *"); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++)
                if (!list_add(&s->dying, b.entities[i])) s->no_memory = true;
    return reef_last_error(s->world).status == REEF_OK;
}

void fish_mature(school *s, reef_entity fish)
{
    if (!list_add(&s->maturing, fish)) s->no_memory = true;
}

/* ---- applying them ---- */

static bool spawn_brood(school *s, uint32_t index, bool adult)
{
    brood *b = adult ? &s->adult[index] : &s->young[index];
    if (b->count == 0) return true;
    reef_value values[9] = {reef_array(Position, b->position), reef_array(Velocity, b->velocity),
                            reef_array(Species, b->species),   reef_array(Energy, b->energy),
                            reef_array(Age, b->age),           reef_default(Place)};
    uint32_t   n = 6;
    if (s->table->of[index].prey != 0) values[n++] = reef_default(Hunter);
    if (s->table->of[index].foods != 0) values[n++] = reef_default(Grazer);
    if (adult) values[n++] = reef_tag(Adult);
    if (reef_spawn_many_values(s->world, b->count, NULL, values, n) < 0) return false;
    s->population[index] += b->count;
    s->born += b->count;
    b->count = 0;
    return true;
}

bool fish_apply(school *s)
{
    if (s->no_memory) return false;
    if (reef_destroy_many(s->world, s->dying.of, s->dying.count) != s->dying.count) return false;
    s->died += s->dying.count;
    s->dying.count = 0;
    for (uint32_t i = 0; i < s->maturing.count; i++)
        if (reef_add(s->world, s->maturing.of[i], Adult) < 0) return false;
    s->maturing.count = 0;
    for (uint32_t i = 0; i < s->table->count; i++)
        if (!spawn_brood(s, i, false) || !spawn_brood(s, i, true)) return false;
    return true;
}

/* ---- the first fish ---- */

/* The point of a random square that lies in the circle, brought to length 1: no sine needed. */
Velocity fish_direction(uint64_t bits)
{
    for (;;) {
        float x = random_unit(bits, 0) * 2.0f - 1.0f, y = random_unit(bits, 32) * 2.0f - 1.0f;
        float square = x * x + y * y;
        if (square > 0.01f && square <= 1.0f) {
            float length = sqrtf(square);
            return (Velocity){x / length, y / length};
        }
        bits = random_mix(bits + 1);
    }
}

uint32_t fish_span(const species *of, uint64_t bits)
{
    return of->span - of->span / 5 + random_below(bits, of->span / 5 * 2 + 1);
}

static void fill_one(school *s, uint32_t index, uint32_t number, uint64_t who, float metres, uint64_t seed)
{
    const species *kind = &s->table->of[index];
    /* Grazers start in groups of thirty, within a few metres; hunters by twos. */
    uint64_t group = random_bits(seed, index, number / (kind->prey != 0 ? 2 : 30), FOR_PLACE),
             own = random_bits(seed, 0, who, FOR_PLACE);
    uint64_t fate = random_bits(seed, 0, who, FOR_AGE), food = random_bits(seed, 0, who, FOR_ENERGY);
    float    x = random_unit(group, 0) * metres + random_unit(own, 0) * 6.0f;
    float    y = random_unit(group, 32) * metres + random_unit(own, 32) * 6.0f;
    Velocity heading = fish_direction(random_bits(seed, 0, who, FOR_HEADING));
    heading.x *= kind->speed;
    heading.y *= kind->speed;
    Age age = {0, fish_span(kind, fate)};
    age.ticks = random_below(random_mix(fate), age.span - 1);
    Energy   energy = {kind->full * 2 / 5 + (int32_t)random_below(food, (uint32_t)kind->full / 3)};
    Position at = {x >= metres ? x - metres : x, y >= metres ? y - metres : y};
    fish_spawn(s, age.ticks >= kind->mature, at, heading, (Species){index}, energy, age);
}

bool fish_fill(school *s, float metres, uint64_t seed)
{
    uint64_t who = 0;
    for (uint32_t i = 0; i < s->table->count; i++)
        for (uint32_t k = 0; k < s->table->of[i].number; k++) fill_one(s, i, k, who++, metres, seed);
    bool good = fish_apply(s);
    s->born = 0;
    return good;
}
