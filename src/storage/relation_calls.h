/* What the core asks of relations. A program without a relation type is linked without their code, since nothing leads
 * there but this table: such a type brings it along when it is declared or made at run time (reef_bring_relations_).
 * (With direct calls a minimal program had 167 KiB instead of 147.) */
#ifndef REEF_STORAGE_RELATION_CALLS_H
#define REEF_STORAGE_RELATION_CALLS_H

#include "storage/layout.h"
#include "reef/value.h"

struct relation_value;

/* The functions are described where they are declared. */
typedef struct relation_calls {
    /* src/storage/relation_index.h */
    void (*index_add)(reef_world *w, reef_store *s, reef_entity source, void *value);
    void (*index_remove)(reef_world *w, reef_store *s, reef_entity source, const void *value);
    /* src/storage/name_index.h: of the names of children */
    bool (*name_prepare_orphan)(reef_world *w, reef_entity e);
    void (*name_arrives)(reef_world *w, reef_entity e);
    /* src/change/relation.h */
    reef_status (*check)(reef_world *w, reef_entity e, const type *t, const reef_value *v, uint32_t n, bool replaces);
    reef_status (*differs)(reef_world *w, const type *t, const reef_value *v, uint32_t n, const reef_value *others);
    void (*unplace)(const reef_world *w, const type *t, void *made, const reef_value *v,
                    const struct relation_value *was);
    reef_status (*set)(reef_world *w, reef_component c, reef_entity source, const void *value, size_t size);
    bool (*remove)(reef_world *w, reef_component c, reef_entity source);
    bool (*related_to)(const reef_world *w, reef_entity e);
    reef_status (*destroy)(reef_world *w, const char *op, const reef_entity *e, uint64_t n);
    /* src/change/spawn.h */
    reef_entity (*spawn)(reef_world *w, const reef_value *values, uint32_t count, struct reef_table *t);
} relation_calls;

/* NULL as long as there is no relation type. It is set once, before the first one is registered, so that whoever holds
 * the id of one may read it. */
extern const relation_calls *reef__relations_by;

#endif
