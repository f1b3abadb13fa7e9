/* Names of entities: finding an entity by its name, and a name by its entity. */
#ifndef REEF_STORAGE_NAME_INDEX_H
#define REEF_STORAGE_NAME_INDEX_H

#include "base/platform.h"
#include "reef/type.h"

/* The column, from 1, of the first byte that a name can't have; 0: the name is good. *length is the length of the
 * name. */
uint32_t reef__name_bad_column(const char *text, uint32_t *length);
/* Forgets the name of an entity that dies. reef__name_prepare_forget came before. */
void reef__name_forget(reef_world *w, reef_entity e);
/* Makes what reef__name_forget will touch this world's own. False: there is no memory. */
bool reef__name_prepare_forget(reef_world *w, reef_entity e);
/* The same for any number of calls of reef__name_forget, in any order. False: there is no memory. */
bool reef__names_own_all(reef_world *w);
void reef__names_changed(reef_world *w); /* to be called when the number of names has changed */

/* Name `number` of w->state.name_count names, in no order, and its entity. Each page holds NAMES_PER_PAGE names. */
const char *reef__name_at_number(const reef_world *w, uint32_t number, reef_entity *e);
reef_status reef__names_validate(const reef_world *w, char *message, size_t size);

#endif
