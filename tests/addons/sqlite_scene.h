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

typedef struct {
    int8_t mood;
    uint64_t wants;
    int32_t since;
} Feeling;
enum { CALM, ANGRY, SAD = -3, FOOD = 1, SLEEP = 2 };
REEF_ENUM(Mood, CALM, ANGRY, SAD);
REEF_MASK(Wants, FOOD, SLEEP, (UINT64_C(1) << 63, "COMPANY"));

REEF_COMPONENT(Place);
REEF_COMPONENT(Kinds);
REEF_COMPONENT(Feeling);
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

REEF_FIELDS(Place, (x, "m", -1000, 1000), (y, "m", -1000, 1000));
REEF_FIELDS(Kinds, small, byte, i16, u16, i32, u32, i64, u64, f64, yes, word, legs, friend);
REEF_FIELDS(Feeling, (mood, enum, Mood), (wants, enum, Wants), since);
REEF_FIELDS(Coins, coins);
REEF_FIELDS(Purse, base.coins, more);
REEF_FIELDS(Wound, (per_second, "/s", 0, 100), left);
REEF_FIELDS(Burning, heat);
REEF_FIELDS(Paged, slot);
REEF_FIELDS(Cold, degrees);
REEF_FIELDS(Shape, corners);
REEF_FIELDS(Parts, x, y, n);
REEF_FIELDS(Gravity, x, y);
REEF_FIELDS(Ping, n);
REEF_FIELDS(Sound, voice);

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
