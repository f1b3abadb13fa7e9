/* A world with a type in every home, and random changes of it: for suites that write and read files. */
#ifndef REEF_TESTS_SAVE_ZOO_H
#define REEF_TESTS_SAVE_ZOO_H

#include "reef/all.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    float x, y;
} ZooPlace;
typedef struct {
    char sign;
    double weight;
    reef_entity friend_of;
    char word[5];
    int16_t three[3];
    bool yes;
} ZooMixed;
typedef struct {
    int32_t heat;
} ZooBurning;
typedef struct {
    uint16_t a;
    uint8_t b;
} ZooPaged;
typedef struct {
    int64_t secret;
} ZooCold;
typedef struct {
    uint8_t kind;
    uint32_t amount;
} ZooItem;
typedef struct {
    uint32_t mesh;
    reef_entity maker;
} ZooMesh;
typedef struct {
    float x;
    int8_t layer;
    double z[2];
} ZooSpot;
typedef struct {
    int32_t legs;
} ZooAnimal;
typedef struct {
    ZooAnimal base;
    int32_t tricks;
} ZooDog;
typedef struct {
    void *sound;
} ZooSound;
typedef struct {
    int32_t at;
} ZooStamped;

static const reef_hooks zoo_reset = {.on_fork = REEF_FORK_RESET};
static const reef_hooks zoo_stamps = {.track_rows = true};

REEF_COMPONENT(ZooPlace);
REEF_COMPONENT(ZooMixed);
REEF_COMPONENT_IN(ZooBurning, REEF_SPARSE);
REEF_COMPONENT_PAGED(ZooPaged, 4);
REEF_COMPONENT_IN(ZooCold, REEF_COLD);
REEF_COMPONENT_IN(ZooItem, REEF_MULTI);
REEF_COMPONENT_IN(ZooMesh, REEF_SHARED);
REEF_COMPONENT_IN(ZooSpot, REEF_SPLIT);
REEF_COMPONENT(ZooAnimal);
REEF_SUBTYPE(ZooDog, ZooAnimal);
REEF_COMPONENT_HOOKS(ZooSound, &zoo_reset);
REEF_COMPONENT_HOOKS(ZooStamped, &zoo_stamps);
REEF_TAG(ZooTag);
REEF_SWITCH(ZooAwake);
REEF_RELATION(ZooUnder, REEF_EXCLUSIVE | REEF_ACYCLIC);
REEF_RELATION_OF(ZooEats, ZooAnimal);

enum { ZOO_STONE, ZOO_SHELL, ZOO_PEARL = 7, ZOO_LOW = 1, ZOO_MIDDLE = 2, ZOO_HIGH = 64 };
REEF_ENUM(ZooGoods, ZOO_STONE, ZOO_SHELL, ZOO_PEARL);
REEF_MASK(ZooBits, (ZOO_LOW, "low"), (ZOO_MIDDLE, "middle"), (ZOO_HIGH, "high"));
REEF_FIELDS(ZooPlace, (x, "m"), (y, "m", -10, 10));
REEF_FIELDS(ZooMixed, sign, (weight, "kg"), friend_of, word, (three, enum, ZooGoods), yes);
REEF_FIELDS(ZooBurning, heat);
REEF_FIELDS(ZooPaged, (a, enum, ZooBits), b);
REEF_FIELDS(ZooCold, secret);
REEF_FIELDS(ZooItem, (kind, enum, ZooGoods), amount);
REEF_FIELDS(ZooMesh, mesh, maker);
REEF_FIELDS(ZooSpot, x, layer, z);
REEF_FIELDS(ZooAnimal, legs);
REEF_FIELDS(ZooDog, base.legs, tricks);
REEF_FIELDS(ZooStamped, at);

enum { ZOO_TYPES = 16 };
static inline reef_component zoo_type(uint32_t i)
{
    const reef_component all[ZOO_TYPES] = {
        reef_id(ZooPlace),  reef_id(ZooMixed), reef_id(ZooBurning), reef_id(ZooPaged),
        reef_id(ZooCold),   reef_id(ZooItem),  reef_id(ZooMesh),    reef_id(ZooSpot),
        reef_id(ZooAnimal), reef_id(ZooDog),   reef_id(ZooSound),   reef_id(ZooStamped),
        reef_id(ZooTag),    reef_id(ZooAwake), reef_id(ZooUnder),   reef_id(ZooEats)};
    return all[i];
}

static inline uint32_t zoo_random(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % n);
}

/* A living entity; null: there is none. */
static inline reef_entity zoo_somebody(const reef_world *w, uint64_t *seed)
{
    const uint32_t n = (uint32_t)reef_world_stats(w).indices + 1;
    for (int i = 0; i < 64; i++) {
        const reef_entity e = reef_entity_at(w, zoo_random(seed, n));
        if (!reef_entity_is_null(e)) return e;
    }
    return (reef_entity){0, 0};
}

/* Gives a component a random value; for a type in REEF_MULTI adds a value. */
static inline void zoo_give(reef_world *w, reef_entity e, uint32_t i, uint64_t *seed)
{
    const uint32_t r = zoo_random(seed, 1000);
    const reef_entity other = zoo_somebody(w, seed);
    switch (i) {
    case 0: (void)reef_set(w, e, ZooPlace, (float)r, (float)r / 3); break;
    case 1: {
        ZooMixed m;
        memset(&m, (int)r, sizeof m); /* what lies between the fields is anything */
        m.sign = (char)(r % 100), m.weight = r / 7.0, m.friend_of = other, m.yes = r & 1;
        memset(m.word, 0, sizeof m.word);
        (void)snprintf(m.word, sizeof m.word, "%u", r);
        for (int k = 0; k < 3; k++) m.three[k] = (int16_t)(r * (uint32_t)k);
        (void)reef_set_id(w, e, reef_id(ZooMixed), &m, sizeof m);
        break;
    }
    case 2: (void)reef_set(w, e, ZooBurning, (int32_t)r); break;
    case 3: (void)reef_set(w, e, ZooPaged, (uint16_t)r, (uint8_t)r); break;
    case 4: (void)reef_set(w, e, ZooCold, (int64_t)r << 40); break;
    case 5: (void)reef_append(w, e, ZooItem, (uint8_t)r, r); break;
    case 6:
        if (r % 2 == 0 || !reef_has(w, other, ZooMesh)) (void)reef_set(w, e, ZooMesh, r, other);
        else (void)reef_share(w, other, e, ZooMesh);
        break;
    case 7: (void)reef_set(w, e, ZooSpot, (float)r, (int8_t)r, {r * 2.0, r / 2.0}); break;
    case 8:
        if (!reef_has(w, e, ZooAnimal)) (void)reef_set(w, e, ZooAnimal, (int32_t)r); /* nobody is one twice */
        break;
    case 9:
        if (reef_has(w, e, ZooDog) || !reef_has(w, e, ZooAnimal)) (void)reef_set(w, e, ZooDog, {(int32_t)r}, 5);
        break;
    case 10: (void)reef_set(w, e, ZooSound, NULL); break;
    case 11: (void)reef_set(w, e, ZooStamped, (int32_t)r); break;
    case 14:
        if (r % 3 == 0) (void)reef_relate_before(w, e, ZooUnder, other, zoo_somebody(w, seed));
        else (void)reef_relate(w, e, ZooUnder, other);
        break;
    case 15: (void)reef_relate_data(w, e, ZooEats, other, (int32_t)r); break;
    default: (void)(reef_has_id(w, e, zoo_type(i)) ? REEF_OK : reef_add_id(w, e, zoo_type(i), NULL, NULL)); break;
    }
}

static inline void zoo_change(reef_world *w, uint64_t *seed)
{
    const uint32_t what = zoo_random(seed, 100), i = zoo_random(seed, ZOO_TYPES);
    const reef_entity e = zoo_somebody(w, seed);
    char name[16];
    if (what < 15 || reef_entity_is_null(e)) {
        const reef_entity made = reef_create(w);
        for (uint32_t k = zoo_random(seed, 5); k > 0; k--) zoo_give(w, made, zoo_random(seed, ZOO_TYPES), seed);
    } else if (what < 25) {
        (void)reef_destroy(w, e);
    } else if (what < 40) {
        if (reef_has_id(w, e, zoo_type(i))) (void)reef_remove_id(w, e, zoo_type(i));
    } else if (what < 45) {
        if (reef_has_id(w, e, zoo_type(i))) (void)reef_enable_id(w, e, zoo_type(i), what & 1);
    } else if (what < 48) {
        (void)reef_enable_id(w, e, (reef_component){0}, what & 1);
    } else if (what < 55) {
        (void)snprintf(name, sizeof name, "n%u", zoo_random(seed, 1000));
        if (what == 48) (void)reef_set_name(w, e, NULL);
        else if (reef_entity_is_null(reef_find(w, name))) (void)reef_set_name(w, e, name);
    } else {
        zoo_give(w, e, i, seed);
    }
}

#endif
