/* Making entities: what commands, copies of worlds and loading share with the public calls (`reef_spawn` and its kin),
 * and what drops the world's bundles and its memory of sets. */
#ifndef REEF_CHANGE_SPAWN_H
#define REEF_CHANGE_SPAWN_H

#include "storage/split_columns.h"
#include "storage/world_data.h"
#include "reef/component.h"

/* n rows of one table that are made: in the order of their numbers, the last of the table. */
typedef struct spawning {
    reef_world *w;
    const reef_value *values;
    uint32_t count, id, n;
    uint32_t first_id;        /* how many new ids before the first one belong to others of the same call */
    const reef_entity *given; /* ids that are pending; NULL: new ones */
    struct reef_table *t;     /* NULL: the entities have no row */
    bool stored;              /* some values go to stores */
} spawning;
/* Begins: `t` is this world's own. False: there is no memory. */
bool reef__spawn_begin(spawning *x);
/* Makes as many rows as fit the last chunk, with their columns alone, which are plain. It answers how many; 0: there is
 * no memory. */
uint32_t reef__spawn_rows(spawning *x, uint32_t first);
/* Makes row number i. */
reef_status reef__spawn_row(spawning *x, uint32_t i);
/* Unmakes the last `made` rows. Before, reef__table_trim frees the chunk of a row that didn't come. */
void reef__spawn_undo(spawning *x, uint32_t made);
/* The records of pending ids become this world's own; later the ids are entities. */
reef_status reef__given_prepare(const spawning *x);
void reef__given_commit(const spawning *x);

/* The same as reef_spawn_values for values among which are relations, of the set of this table, which is open for one
 * more row. It is reached by src/storage/relation_calls.h. */
reef_entity reef__spawn_related(reef_world *w, const reef_value *values, uint32_t count, struct reef_table *t);

/* Makes the entities of a command, by ids that are pending. All are made or none. */
reef_status reef__spawn_pending(reef_world *w, const reef_entity *ids, uint32_t n, const reef_value *values,
                                uint32_t count);
/* Makes n entities in table `id`, with values of the table's columns (the parts of a split type, not the type), of
 * bits, of stores, and of marks by their keys. They get new ids, which are written to `entities` (NULL: nowhere), or
 * the pending ids `given`. All are made or none. */
reef_status reef__spawn_listed(reef_world *w, const char *op, uint32_t id, reef_value *values, uint32_t count,
                               uint32_t n, reef_entity *entities, const reef_entity *given);
/* Lists all that an entity has, as values for a copy; marks come behind what they mark. reef__spread_free follows.
 * `halves`: as for reef__stored_values.
 * REEF_OK, NO_MEMORY, or NOT_COPYABLE: *bound is the type that stays with the entity. `bound` NULL: what can't be
 * copied is listed as well. */
reef_status reef__values_of(reef_world *w, reef_entity e, spread *x, bool halves, reef_component *bound);
/* The same for n copies of an entity. */
reef_status reef__clone_into(reef_world *w, reef_entity source, uint32_t n, reef_entity *entities,
                             const reef_entity *given);

/* The table of the set of types in a list of reef__spread_make. 0: no memory or a limit, as *status says. */
COLD uint32_t reef__listed_table(reef_world *w, const reef_value *values, uint32_t count, reef_status *status);

void reef__bundles_drop(reef_world *w);

/* The world's memory of lists of values: a key, and the table to which the list led the last time (0: not known). */
INLINE uint32_t set_index(uint64_t key) { return (uint32_t)(key >> 32 ^ key) % SET_CACHE; }
INLINE uint32_t set_recall(const reef_world *w, uint64_t key)
{
    const uint32_t i = set_index(key);
    return LIKELY(w->set_cache[i].key == key) ? w->set_cache[i].table : 0;
}
INLINE void set_remember(reef_world *w, uint64_t key, uint32_t table_id)
{
    w->set_cache[set_index(key)].key = key;
    w->set_cache[set_index(key)].table = table_id;
}
void reef__sets_distrust(reef_world *w); /* forgets all of them */

#endif
