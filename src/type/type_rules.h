/* What the description of a type may say, and when two descriptions are of the same type. */
#ifndef REEF_TYPE_TYPE_RULES_H
#define REEF_TYPE_TYPE_RULES_H

#include "type/type.h"
#include "reef/type_info.h"

bool reef__type_name_allowed(const char *name);
/* Why field i can't be described so, or NULL. */
const char *reef__field_refused(const reef_field *fields, uint32_t i, uint32_t size);
bool reef__fields_allowed(const reef_field *fields, uint32_t count, uint32_t size);
/* Do the fields of a type that is split cover its struct? Each byte but padding belongs to one field. */
bool reef__fields_cover(const reef_field *fields, uint32_t count, uint32_t size, uint32_t align);
/* The number of values on a page of a store. */
uint32_t reef__page_rows_of(const reef_type_desc *d);
/* Can a pointer to the base point to a value of the subtype? */
reef_status reef__base_check(const reef_type_desc *d);
/* Checks a description, and brings it into the form in which it is kept and compared: with an alignment, and without
 * hooks that do nothing. */
reef_status reef__type_normalise(reef_type_desc *d);
INLINE bool home_stored(reef_home home) { return home >= REEF_SPARSE && home <= REEF_SHARED; }
INLINE bool hooks_run(const reef_hooks *h) { return h->construct || h->copy || h->move || h->destroy; }

INLINE const char *unit_text(const char *unit) { return unit ? unit : ""; }
bool reef__field_same(const reef_field *a, const reef_field *b);
/* Fields that only one side gives are no difference: they complete the other side. */
bool reef__fields_same(const type *t, const reef_field *fields, uint32_t count);
bool reef__hooks_same(const type *t, const reef_hooks *hooks);
/* Are these hooks the same but for where the functions are, and the context? */
bool reef__hooks_alike(const reef_hooks *a, const reef_hooks *b);
INLINE bool base_same(const type *t, const reef_type_desc *d) { return (t->base ? t->base->id : 0) == d->base.id; }
/* Requirements that only one side gives are no difference either, until a world uses the type (`settled`). */
bool reef__required_same(const type *t, const reef_type_desc *d, bool settled);
bool reef__type_same(const type *t, const reef_type_desc *d, bool settled);

#endif
