/* How queries follow relations. One that is disabled on its source isn't there for them, so it ends every way that
 * leads over it, whatever follows the way: a transitive term, up(...), a variable, an order. The calls about single
 * entities (reef_target, reef_walk_next ...) follow it: for them it holds.
 *
 * The mark is that of the source and the type, so it is asked once for all relations of the type that a source has. A
 * world in which no relation of the type was ever disabled has no marks, and asks nothing. */
#ifndef REEF_QUERY_RELATION_PATH_H
#define REEF_QUERY_RELATION_PATH_H

#include "storage/entity_index.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"

/* The relations of one type, as queries follow them. */
typedef struct relation_path {
    const reef_world *w;
    const value_store *s;
    const bit_store *off; /* on which sources they are disabled; NULL: on none */
} relation_path;

INLINE relation_path path_by(const reef_world *w, uint32_t relation)
{
    return (relation_path){w, store_of(w, relation), bit_store_of(w, relation | BIT_DISABLED)};
}
/* Does a way end at this source, since its relations are disabled? */
INLINE bool path_ends(const relation_path *p, reef_entity source)
{
    return UNLIKELY(p->off != NULL) && bit_read(p->off, place_of(p->w, source));
}
/* The (first) relation of a source that queries see. NULL: there is none. */
INLINE const relation_value *path_next(const relation_path *p, reef_entity source)
{
    const relation_value *v = reef_store_find(p->s, source);
    return v && path_ends(p, source) ? NULL : v;
}

#endif
