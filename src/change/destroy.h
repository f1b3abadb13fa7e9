/* Destroying entities: what operations on whole queries share with the public calls (`reef_destroy` and its kin). */
#ifndef REEF_CHANGE_DESTROY_H
#define REEF_CHANGE_DESTROY_H

#include "base/platform.h"
#include "reef/type.h"

/* reef__destroy_prepare makes ready what the destruction of these n entities needs beside their rows: names, logs of
 * removals, and room for their ids and for `more` ids of entities that have no names and aren't tracked. False: no
 * memory. reef__destroy_rows destroys all entities of a table, in the order of their rows. The caller prepared them
 * and made the whole table this world's own, so it can't fail. */
bool reef__destroy_prepare(reef_world *w, const reef_entity *e, uint64_t n, uint64_t more);
void reef__destroy_rows(reef_world *w, uint32_t id);

/* Makes room for `more` elements behind the first `count` of a list, which has room for *room. `list` points to the
 * list's pointer. False: no memory. */
bool reef__list_room(reef_world *w, void *list, uint64_t count, uint64_t *room, uint64_t more, size_t size);

#endif
