/* A world with everything that a file must keep, changed at random but the same for the same seed. */
#ifndef REEF_TESTS_SQLITE_SCENE_H
#define REEF_TESTS_SQLITE_SCENE_H

#include "reef/all.h"

typedef struct {
    float x, y;
} Place;
typedef struct {
    int8_t small;
    uint8_t byte;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    double f64;
    bool yes;
    char word[12];
    uint16_t legs[3];
    reef_entity friend;
} Kinds;
typedef struct {
    int32_t coins;
} Coins;
typedef struct {
    int32_t per_second, left;
} Wound;
typedef struct {
    int32_t heat;
} Burning;
typedef struct {
    int32_t slot;
} Paged;
typedef struct {
    int32_t degrees;
} Cold;
typedef struct {
    int32_t corners;
} Shape;
typedef struct {
    float x, y;
    int32_t n;
} Parts;
typedef struct {
    unsigned char bytes[5];
} Plain;
typedef struct {
    Coins base;
    int32_t more;
} Purse;
typedef struct {
    float x, y;
} Gravity;
typedef struct {
    int32_t n;
} Ping;
typedef struct {
    int32_t voice;
} Sound;

REEF_COMPONENT(Place);
REEF_COMPONENT(Kinds);
REEF_COMPONENT(Coins);
REEF_COMPONENT(Plain);
REEF_COMPONENT(Gravity);
REEF_COMPONENT(Ping);
REEF_SUBTYPE(Purse, Coins);
REEF_COMPONENT_IN(Wound, REEF_MULTI);
REEF_COMPONENT_IN(Burning, REEF_SPARSE);
REEF_COMPONENT_IN(Paged, REEF_PAGED);
REEF_COMPONENT_IN(Cold, REEF_COLD);
REEF_COMPONENT_IN(Shape, REEF_SHARED);
REEF_COMPONENT_IN(Parts, REEF_SPLIT);
REEF_TAG(Asleep);
REEF_SWITCH(Lit);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION_OF(Owes, Coins);
REEF_RELATION(Within, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);
static const reef_hooks scene_skip = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Sound, &scene_skip);

REEF_FIELDS(Place, REEF_FIELD(Place, x, REEF_F32, "m", -1000, 1000), REEF_FIELD(Place, y, REEF_F32, "m", -1000, 1000));
REEF_FIELDS(Kinds, REEF_FIELD(Kinds, small, REEF_I8, NULL, 0, 0), REEF_FIELD(Kinds, byte, REEF_U8, NULL, 0, 0),
            REEF_FIELD(Kinds, i16, REEF_I16, NULL, 0, 0), REEF_FIELD(Kinds, u16, REEF_U16, NULL, 0, 0),
            REEF_FIELD(Kinds, i32, REEF_I32, NULL, 0, 0), REEF_FIELD(Kinds, u32, REEF_U32, NULL, 0, 0),
            REEF_FIELD(Kinds, i64, REEF_I64, NULL, 0, 0), REEF_FIELD(Kinds, u64, REEF_U64, NULL, 0, 0),
            REEF_FIELD(Kinds, f64, REEF_F64, NULL, 0, 0), REEF_FIELD(Kinds, yes, REEF_BOOL, NULL, 0, 0),
            REEF_FIELD(Kinds, word, REEF_CHAR, NULL, 0, 0), REEF_FIELD(Kinds, legs, REEF_U16, NULL, 0, 0),
            REEF_FIELD(Kinds, friend, REEF_ENTITY, NULL, 0, 0));
REEF_FIELDS(Coins, REEF_FIELD(Coins, coins, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Purse, REEF_FIELD(Purse, base.coins, REEF_I32, NULL, 0, 0), REEF_FIELD(Purse, more, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Wound, REEF_FIELD(Wound, per_second, REEF_I32, "/s", 0, 100),
            REEF_FIELD(Wound, left, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Burning, REEF_FIELD(Burning, heat, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Paged, REEF_FIELD(Paged, slot, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Cold, REEF_FIELD(Cold, degrees, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Shape, REEF_FIELD(Shape, corners, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Parts, REEF_FIELD(Parts, x, REEF_F32, NULL, 0, 0), REEF_FIELD(Parts, y, REEF_F32, NULL, 0, 0),
            REEF_FIELD(Parts, n, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Gravity, REEF_FIELD(Gravity, x, REEF_F32, NULL, 0, 0), REEF_FIELD(Gravity, y, REEF_F32, NULL, 0, 0));
REEF_FIELDS(Ping, REEF_FIELD(Ping, n, REEF_I32, NULL, 0, 0));
REEF_FIELDS(Sound, REEF_FIELD(Sound, voice, REEF_I32, NULL, 0, 0));

/* A generator that gives the same numbers everywhere. */
static inline uint32_t scene_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

/* Adds the systems: they move, and events wait between them. */
void scene_systems(reef_world *w);
/* Makes `n` changes at random. With `plain`, no component without fields is used. */
void scene_change(reef_world *w, uint64_t *seed, int n, bool plain);

#endif
