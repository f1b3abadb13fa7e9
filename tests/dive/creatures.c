/* The add-on for prefabs as text and the game's own small reader make the same prefabs of creatures.json. The add-on
 * makes them in another order, so they are compared one by one. */
#include "creature_text.h"
#include "creatures.h"
#include "reef/type_info.h"
#include "reef/inspect.h"

#include <reef_prefab_text.h>

#include <stdio.h>
#include <string.h>

extern const char dive_creatures_json[];

static int failures;

/* Compares a value; handles in it name the same prefab in both worlds, but have other numbers. */
static bool same_value(const reef_world *a, reef_entity x, const reef_world *b, reef_entity y, reef_component type)
{
    reef_type_info info;
    if (!reef_type_get(type, &info)) return false;
    if (info.size == 0) return reef_has_id(a, x, type) && reef_has_id(b, y, type);
    const char *p = reef_get_id(a, x, type), *q = reef_get_id(b, y, type);
    if (p == NULL || q == NULL || info.field_count == 0) return false;
    for (uint32_t i = 0; i < info.field_count; i++) {
        const reef_field *f = &info.fields[i];
        if (f->kind != REEF_ENTITY) {
            if (memcmp(p + f->offset, q + f->offset, f->bytes) != 0) return false;
            continue;
        }
        reef_entity e, g;
        memcpy(&e, p + f->offset, sizeof e);
        memcpy(&g, q + f->offset, sizeof g);
        const char *name = reef_name(a, e), *other = reef_name(b, g);
        if (name == NULL || other == NULL || strcmp(name, other) != 0) return false;
    }
    return true;
}

typedef struct pair {
    const reef_world *a, *b;
    reef_entity x, y;
    uint32_t components;
} pair;

static bool compare(void *context, reef_entity entity, reef_component type, const void *value, size_t size)
{
    pair *p = context;
    (void)entity, (void)value, (void)size;
    p->components++;
    if (same_value(p->a, p->x, p->b, p->y, type)) return true;
    printf("%s: %s differs\n", reef_name(p->a, p->x), reef_type_name(type));
    failures++;
    return true;
}

int main(void)
{
    reef_world *a = reef_world_new(NULL), *b = reef_world_new(NULL);
    reef_prefab_text_error error;
    uint32_t line, components = 0;
    const char *why;
    if (reef_prefab_text_read(a, dive_creatures_json, strlen(dive_creatures_json), "creatures.json", &error) != REEF_OK)
        return printf("the add-on: %s\n", error.message), 1;
    if (!creature_text_read(b, dive_creatures_json, &line, &why))
        return printf("line %u: %s\n", (unsigned)line, why), 1;
    for (uint32_t kind = 0; kind < CREATURE_COUNT; kind++) {
        pair there = {a, b, reef_find(a, creature_title(kind)), reef_find(b, creature_title(kind)), 0};
        pair back = {b, a, there.y, there.x, 0};
        reef_visit_entity(a, there.x, compare, &there);
        reef_visit_entity(b, back.x, compare, &back);
        if (there.components < 4 || there.components != back.components)
            printf("%s: %u components, and %u\n", creature_title(kind), (unsigned)there.components,
                   (unsigned)back.components),
                failures++;
        components += there.components;
    }
    /* the game's reader says where a text is wrong */
    if (creature_text_read(b, "{\n  \"eel\": {\"components\": {\n    \"Helth\": {\"now\": 1}}}}", &line, &why) ||
        line != 3)
        printf("a wrong component in line 3 isn't found\n"), failures++;
    printf("%u creatures with %u components are the same\n", (unsigned)CREATURE_COUNT, (unsigned)components);
    reef_world_free(a);
    reef_world_free(b);
    return failures > 0;
}
