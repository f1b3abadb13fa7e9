/* The creatures of the sea. They are prefabs: creatures.json says which components each has, with which values. */
#ifndef DIVE_CREATURES_H
#define DIVE_CREATURES_H

#include "rules.h"
#include "vector.h"

/* X(NAME, name in creatures.json). The order is that of the numbers in Body.kind. */
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
REEF_FIELDS(Creatures, of);

/* Reads the prefabs into a new world. NULL: from creatures.json as it was when the program was built. False: the text
 * is wrong, which is said on stderr, or there is no memory. */
bool creatures_read(reef_world *w, const char *text);
/* Make a creature at a place, in a system that declares `spawns` without a type: by its number, if the system also
 * reads Creatures; by its prefab. */
reef_entity creature_spawn(reef_block *b, uint32_t kind, vec at, vec v);
reef_entity creature_spawn_of(reef_block *b, reef_entity prefab, vec at, vec v);

#endif
