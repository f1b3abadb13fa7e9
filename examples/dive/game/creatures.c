#include "creatures.h"

#include "creature_text.h"
#include <reef/command_relation.h>

#include <stdio.h>

extern const char dive_creatures_json[]; /* the file, as an array that the build makes */

static const char *const names[] = {
#define X(name, title) title,
    CREATURES(X)
#undef X
};

const char *creature_title(uint32_t kind) { return kind < CREATURE_COUNT ? names[kind] : ""; }

bool creatures_read(reef_world *w, const char *text)
{
    uint32_t line;
    const char *why;
    Creatures all = {0};
    if (!creature_text_read(w, text != NULL ? text : dive_creatures_json, &line, &why)) {
        fprintf(stderr, "the creatures, line %u: %s\n", (unsigned)line, why);
        return false;
    }
    for (uint32_t kind = 0; kind < CREATURE_COUNT; kind++) {
        all.of[kind] = reef_find(w, names[kind]);
        Body *body = reef_mut(w, all.of[kind], Body);
        if (body == NULL) {
            fprintf(stderr, "the creatures: there is no %s, or it has no Body\n", names[kind]);
            return false;
        }
        body->kind = kind;
    }
    return reef_single_set_id(w, reef_id(Creatures), &all, sizeof all) >= 0;
}

reef_entity creature_spawn_of(reef_block *b, reef_entity prefab, vec at, vec v)
{
    return reef_cmd_instantiate_with(b, prefab, reef_with(Position, at.x, at.y), reef_with(Velocity, v.x, v.y));
}

reef_entity creature_spawn(reef_block *b, uint32_t kind, vec at, vec v)
{
    return creature_spawn_of(b, reef_single_get(b->world, Creatures)->of[kind], at, v);
}
