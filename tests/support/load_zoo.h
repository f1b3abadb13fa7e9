/* A world with something in every home, which can be saved, and random operations on it: for the suites of saving and
 * loading. */
#ifndef REEF_TESTS_LOAD_ZOO_H
#define REEF_TESTS_LOAD_ZOO_H

#include "reef/multi.h"
#include "reef/save.h"
#include "reef/shared.h"
#include "reef/single.h"
#include "reef/snapshot.h"
#include "reef/track.h"
#include "reef/all.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    float x, y, z;
} Spot;
/* padding between them */
typedef struct {
    uint8_t kind;
    bool wild;
    int64_t number;
    char text[6];
    reef_entity to;
} Beast;
typedef struct {
    int32_t now, most;
} Hunger;
typedef struct {
    double of[3];
} Scent;
typedef struct {
    uint16_t value;
} Tick;
typedef struct {
    int32_t level;
    reef_entity from;
} Grudge;
typedef struct {
    uint64_t id;
} Herd;
typedef struct {
    float across;
    int32_t down;
} Track;
typedef struct {
    int32_t age;
} Age;
typedef struct {
    int32_t seen;
} Eye; /* forks reset it */
typedef struct {
    Spot base;
    int32_t depth;
} Den;
typedef struct {
    int32_t of;
} Season;
enum { WANT_NOTHING, WANT_SOME, WANT_MUCH = 5, TICK_LOW = 1, TICK_MIDDLE = 2, TICK_HIGH = 1 << 15 };
REEF_ENUM(Want, WANT_NOTHING, WANT_SOME, WANT_MUCH);
REEF_MASK(TickBits, TICK_LOW, TICK_MIDDLE, TICK_HIGH);
static const reef_hooks eye_hooks = {.on_fork = REEF_FORK_RESET}, age_hooks = {.track_rows = true};
REEF_COMPONENT(Spot);
REEF_FIELDS(Spot, (x, "m"), (y, "m"), (z, "m"));
REEF_COMPONENT(Beast);
REEF_FIELDS(Beast, (kind, NULL, 0, 9), wild, number, text, to);
REEF_COMPONENT_IN(Hunger, REEF_SPARSE);
REEF_FIELDS(Hunger, (now, enum, Want), (most, enum, Want));
REEF_COMPONENT_PAGED(Scent, 16);
REEF_FIELDS(Scent, of);
REEF_COMPONENT_IN(Tick, REEF_COLD);
REEF_FIELDS(Tick, (value, enum, TickBits));
REEF_COMPONENT_IN(Grudge, REEF_MULTI);
REEF_FIELDS(Grudge, level, from);
REEF_COMPONENT_IN(Herd, REEF_SHARED);
REEF_FIELDS(Herd, id);
REEF_COMPONENT_IN(Track, REEF_SPLIT);
REEF_FIELDS(Track, across, down);
REEF_COMPONENT_HOOKS(Age, &age_hooks);
REEF_FIELDS(Age, age);
REEF_COMPONENT_HOOKS(Eye, &eye_hooks);
REEF_FIELDS(Eye, seen);
REEF_SUBTYPE(Den, Spot);
REEF_FIELDS(Den, (base.x, "m"), (base.y, "m"), (base.z, "m"), depth);
REEF_COMPONENT(Season);
REEF_FIELDS(Season, of);

REEF_TAG(Stuck);
REEF_SWITCH(Alert);

static inline uint32_t zoo_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}
static inline uint32_t zoo_below(uint64_t *seed, uint32_t n) { return zoo_next(seed) % n; }

static inline reef_entity zoo_any(const reef_world *w, uint64_t *seed)
{
    const uint32_t n = (uint32_t)reef_world_stats(w).indices;
    return n ? reef_entity_at(w, zoo_below(seed, n)) : (reef_entity){0, 0};
}

/* Does one random operation. What is drawn depends only on the seed; its effect also depends on the world. */
static inline void zoo_step(reef_world *w, uint64_t *seed)
{
    const uint32_t what = zoo_below(seed, 24), r = zoo_next(seed);
    const reef_entity e = zoo_any(w, seed), other = zoo_any(w, seed);
    char name[32];
    if (reef_entity_is_null(e) || what < 4) {
        const Spot spot = {(float)(r % 100), (float)(r % 7), 0};
        if (what % 2) (void)reef_create(w);
        else (void)reef_spawn(w, reef_value_make(reef_id(Spot), REEF_VALUE_ONE, sizeof spot, &spot));
        return;
    }
    const Beast beast = {(uint8_t)r, r % 2, (int64_t)r << 20, "beast", other};
    const Hunger hunger = {(int32_t)r, 9};
    const Scent scent = {{r, -1.5, 0.25}};
    const Tick tick = {(uint16_t)r};
    const Grudge grudge = {(int32_t)r, other};
    const Herd herd = {r};
    const Track track = {(float)(r % 1000), (int32_t)r};
    const Age age = {(int32_t)r};
    const Den den = {{(float)(r % 10), 2, 3}, (int32_t)r};
    const bool on = r & 64;
    switch (what) {
    case 4: (void)reef_destroy(w, e); break;
    case 5:
        if (on) reef_set_id(w, e, reef_id(Beast), &beast, sizeof beast);
        else if (reef_has(w, e, Beast)) reef_remove(w, e, Beast);
        break;
    case 6:
        if (on) reef_set_id(w, e, reef_id(Hunger), &hunger, sizeof hunger);
        else if (reef_has(w, e, Hunger)) reef_remove(w, e, Hunger);
        break;
    case 7:
        if (on) reef_set_id(w, e, reef_id(Scent), &scent, sizeof scent);
        else if (reef_has(w, e, Scent)) reef_remove(w, e, Scent);
        break;
    case 8:
        if (on) reef_set_id(w, e, reef_id(Tick), &tick, sizeof tick);
        else if (reef_has(w, e, Tick)) reef_remove(w, e, Tick);
        break;
    case 9:
    case 10:
        if (reef_count_on_id(w, e, reef_id(Grudge)) < 5) reef_append_id(w, e, reef_id(Grudge), &grudge, sizeof grudge);
        else reef_remove(w, e, Grudge);
        break;
    case 11:
        if (on) reef_set_id(w, e, reef_id(Herd), &herd, sizeof herd);
        else if (reef_has(w, e, Herd)) reef_remove(w, e, Herd);
        break;
    case 12:
        if (reef_has(w, e, Herd)) reef_share_id(w, e, other, reef_id(Herd));
        break;
    case 13:
        if (on) reef_set_id(w, e, reef_id(Track), &track, sizeof track);
        else if (reef_has(w, e, Track)) reef_remove(w, e, Track);
        break;
    case 14:
        if (on) reef_set_id(w, e, reef_id(Age), &age, sizeof age);
        else if (reef_has(w, e, Age)) reef_remove(w, e, Age);
        break;
    case 15:
        if (on) {
            if (!reef_has(w, e, Stuck)) reef_add(w, e, Stuck);
        } else if (reef_has(w, e, Stuck)) reef_remove(w, e, Stuck);
        break;
    case 16:
        if (on) {
            if (!reef_has(w, e, Alert)) reef_add(w, e, Alert);
        } else if (reef_has(w, e, Alert)) reef_remove(w, e, Alert);
        break;
    case 17: reef_enable_id(w, e, (reef_component){0}, on); break;
    case 18:
        if (reef_has(w, e, Beast)) reef_enable(w, e, Beast);
        if (reef_has(w, e, Hunger)) reef_enable_id(w, e, reef_id(Hunger), on);
        break;
    case 19:
        (void)snprintf(name, sizeof name, "n%u", (unsigned)(r % 50));
        if (reef_entity_is_null(reef_find(w, name))) reef_set_name(w, e, name);
        break;
    case 20:
        if (reef_has(w, e, Spot)) reef_mut(w, e, Spot)->x += 1;
        break;
    case 21:
        if (on) {
            if (!reef_has(w, e, Eye)) reef_add(w, e, Eye);
        } else if (reef_has(w, e, Eye)) reef_remove(w, e, Eye);
        break;
    case 22:
        if (on && !reef_has(w, e, Spot)) reef_set_id(w, e, reef_id(Den), &den, sizeof den);
        break;
    default:
        if (reef_has(w, e, Age)) reef_mut(w, e, Age)->age++;
        break;
    }
}

static inline void zoo_steps(reef_world *w, uint64_t seed, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) zoo_step(w, &seed);
}

#endif
