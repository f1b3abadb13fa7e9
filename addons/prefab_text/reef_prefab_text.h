/* Prefabs as text that people write by hand.
 *
 *     {
 *       "turret": {
 *         "components": {"Armour": {"now": 50, "most": 60}, "Steel": true},
 *         "relations": {"FedBy": "crew"},
 *         "children": [
 *           {"name": "barrel", "components": {"Length": {"metres": 3}}},
 *           {"name": "crew"}
 *         ]
 *       },
 *       "heavy turret": {"base": "turret", "components": {"Armour": {"now": 200}}}
 *     }
 *
 *     reef_prefab_text_error error;
 *     if (reef_prefab_text_load(w, "turrets.json", &error) != REEF_OK) printf("%s\n", error.message);
 *     reef_instantiate(w, reef_find(w, "turret"), 100, NULL);
 *
 * This is a separate library, which uses libjansson (2.10 or newer) and reef's public headers. The format is JSON
 * (docs/manual/prefabs-as-text.md): editors and other programs know it, and it needs no parser of our own. What is
 * wrong is told with its line and column, and with the most similar name where one is unknown. */
#ifndef REEF_PREFAB_TEXT_H
#define REEF_PREFAB_TEXT_H

#include "reef.h"

REEF_BEGIN_C

enum {
    REEF_PREFAB_TEXT_MESSAGE = 512,
    REEF_PREFAB_TEXT_DEPTH = 1000,       /* levels of children below a prefab, and below them */
    REEF_PREFAB_TEXT_ENTITIES = 1000000, /* that a text makes: each base in it makes all that the base has */
};

/* What is wrong with a text. */
typedef struct reef_prefab_text_error {
    uint32_t line, column;                  /* from 1; 0: it isn't about a place of the text */
    char message[REEF_PREFAB_TEXT_MESSAGE]; /* "turrets.json:3:32: ..."; "" where nothing is wrong */
} reef_prefab_text_error;

/* Makes the prefabs of a text, each with its name, and hidden as by reef_make_prefab. Either all are made or none: on
 * failure the world is as it was, if a snapshot of it could be taken; otherwise what was made is destroyed. `file`
 * names the text in messages. `error` may be NULL. Errors: BAD_TEXT (the text is wrong: the message says why), LIMIT
 * (it would make more than REEF_PREFAB_TEXT_ENTITIES), LOCKED, NO_MEMORY, and what a call of reef answers, with its
 * message. */
reef_status reef_prefab_text_read(reef_world *world, const char *text, size_t size, const char *file,
                                  reef_prefab_text_error *error);
/* The same for a file. Further errors: IO (it can't be read). */
reef_status reef_prefab_text_load(reef_world *world, const char *path, reef_prefab_text_error *error);

/* Writes prefabs, or other entities with names and without parents, with everything below them. What a variant has from
 * its template isn't repeated, if the template has a name. The text ends with a zero, which *size (may be NULL) doesn't
 * count; free it with reef_prefab_text_free. Values of types without fields aren't written, nor what hooks own. NULL on
 * failure: an entity isn't alive or has no name, or one that a relation or handle leads to has none; a value is no
 * number, or above 2^63; there are more than REEF_PREFAB_TEXT_DEPTH levels; a child without a name differs from that of
 * its template, or isn't there; or there is no memory. */
char *reef_prefab_text_write(const reef_world *world, const reef_entity *prefabs, uint32_t count, size_t *size);
void reef_prefab_text_free(char *text);

REEF_END_C

#endif
