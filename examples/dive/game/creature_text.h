/* Reads the creatures: prefabs in the form of the add-on reef_prefab_text (docs/manual/prefabs-as-text.md), as far as
 * creatures.json uses it. The add-on needs a library for JSON; this reader needs nothing, so the game has its creatures
 * on every machine and in the browser. A test lets both read the file and compares the prefabs.
 *
 *     {"jelly": {"components": {"Enemy": true, "Health": {"now": 7, "most": 7}, "Split": {"into": "@jellet"}}}}
 *
 * The values are numbers, and @ with a name where a field is an entity. What isn't given is zero. */
#ifndef DIVE_CREATURE_TEXT_H
#define DIVE_CREATURE_TEXT_H

#include <reef.h>

/* Makes the prefabs of a text, each with its name. False: the text is wrong in line *line (then *why says what), or
 * there is no memory (*line is 0). What was made stays in the world. */
bool creature_text_read(reef_world *w, const char *text, uint32_t *line, const char **why);

#endif
