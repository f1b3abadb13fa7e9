/* Names of entities: finding an entity by its name, and a name by its entity. */
#ifndef REEF_STORAGE_NAME_INDEX_H
#define REEF_STORAGE_NAME_INDEX_H

#include "base/platform.h"
#include "reef/type.h"

typedef struct name_entry {
    reef_entity entity;
    char text[REEF_NAME_MAX + 1];
} name_entry;
enum { NAME_BUCKETS_PER_PAGE = 1024 };

/* The column, from 1, of the first byte that a name can't have; 0: the name is good. *length is the length of the
 * name. */
uint32_t reef__name_bad_column(const char *text, uint32_t *length);
/* Forgets the name of an entity that dies. reef__name_prepare_forget came before. */
void reef__name_forget(reef_world *w, reef_entity e);
/* Makes what reef__name_forget will touch this world's own. False: there is no memory. */
bool reef__name_prepare_forget(reef_world *w, reef_entity e);
/* The same for any number of calls of reef__name_forget, in any order. False: there is no memory. */
bool reef__names_own_all(reef_world *w);

/* Prepares n further names, of new entities. False: there is no memory. Then reef__name_put gives them, which can't
 * fail: each to a child that has a parent now and no name yet, and that has no namesake beside it. */
bool reef__names_prepare(reef_world *w, uint64_t n);
void reef__name_put(reef_world *w, reef_entity e, const char *text);

/* The ChildOf of an entity will be changed, and was changed. If it was removed, and an entity without a parent has the
 * same name, the name is forgotten. These can't fail. */
void reef__name_leaves(reef_world *w, reef_entity e);
void reef__name_arrives(reef_world *w, reef_entity e);
/* Makes what reef__name_arrives will touch this world's own when the entity loses its ChildOf. False: no memory. */
bool reef__name_prepare_orphan(reef_world *w, reef_entity e);
/* Many parents will be changed, without these calls; in the end reef__names_reindex puts the index right, and forgets
 * the name of each entity that has it in common with one of a smaller index. False: there is no memory. */
void reef__names_unscope(reef_world *w);
bool reef__names_reindex(reef_world *w);
/* May an entity with its name become a child of this one, or lose its parent (null)? REEF_OK, NAME_TAKEN, or BAD_TEXT:
 * a child's name has no dots. */
reef_status reef__name_may_move(const reef_world *w, reef_entity e, reef_entity parent);

void reef__names_changed(reef_world *w); /* to be called when the number of names has changed */

/* Name `number` of w->state.name_count names, in no order, and its entity. Each page holds NAMES_PER_PAGE names. */
const char *reef__name_at_number(const reef_world *w, uint32_t number, reef_entity *e);
reef_status reef__names_validate(const reef_world *w, char *message, size_t size);

#endif
