/* The creatures of the sea: which components each has, with which values. */
#ifndef DIVE_CREATURES_H
#define DIVE_CREATURES_H

#include "rules.h"
#include "vector.h"

/* X(NAME, title). The order is that of the numbers in Body.kind, Split.kind, Lay.kind and Hatch.kind. */
#define CREATURES(X) \
    X(NEEDLE, "needle") \
    X(DARTER, "darter") \
    X(JELLY, "jelly") \
    X(JELLET, "jellet") \
    X(PINCER, "pincer") \
    X(SHADE, "shade") \
    X(URCHIN, "urchin") \
    X(BROODER, "brooder") \
    X(EGG, "egg") \
    X(CLEANER, "cleaner") \
    X(SPITTER, "spitter") \
    X(LEECH, "leech") \
    X(PUFFER, "puffer") \
    X(WOLF, "wolf") \
    X(MATRON, "the matron") \
    X(LANTERN, "the lantern") \
    X(LEVIATHAN, "the leviathan") \
    X(SEGMENT, "segment") \
    X(WRASSE, "wrasse") \
    X(TANG, "tang")
enum {
#define X(name, title) CREATURE_##name,
    CREATURES(X)
#undef X
        CREATURE_COUNT
};

const char *creature_title(uint32_t kind);

/* A singleton: the prefab of each creature. */
typedef struct Creatures {
    reef_entity of[CREATURE_COUNT];
} Creatures;
REEF_COMPONENT(Creatures);
REEF_FIELDS(Creatures, REEF_FIELD(Creatures, of, REEF_ENTITY, NULL, 0, 0));

/* Makes the prefabs in a new world. False: no memory. */
bool creatures_make(reef_world *w);
/* Makes a creature, in a system that reads Creatures and declares `spawns` without a type. */
reef_entity creature_spawn(reef_block *b, uint32_t kind, vec at, vec v);

#endif
