/* storage/name_index: TODO */
#ifndef REEF_STORAGE_NAME_INDEX_H
#define REEF_STORAGE_NAME_INDEX_H

#include "base/platform.h"
#include "reef/type.h"

/* The column, from 1, of the first byte that a name can't have; 0: the name is good. Its length goes to *length. */
uint32_t reef__name_bad_column(const char *text, uint32_t *length);
/* the entity dies; the pages it touches were owned before */
void reef__name_forget(reef_world *w, reef_entity e);
/* own what reef__name_forget will touch; false: no memory */
bool reef__name_prepare_forget(reef_world *w, reef_entity e);
/* what any number of reef__name_forget will touch, in whatever order; false: no memory */
bool reef__names_own_all(reef_world *w);
void reef__names_changed(reef_world *w); /* the number of names is another one */

/* Name `number` of w->state.name_count, in no order; its entity. NAMES_PER_PAGE of them are on a page. */
const char *reef__name_at_number(const reef_world *w, uint32_t number, reef_entity *e);
reef_status reef__names_validate(const reef_world *w, char *message, size_t size);

#endif
