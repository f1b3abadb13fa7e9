/* One system: making it from its description, and comparing two systems to see whether they collide. */
#ifndef REEF_SYSTEM_SYSTEM_H
#define REEF_SYSTEM_SYSTEM_H

#include "system/schedule.h"
#include "reef/system.h"

/* Names of systems and phases. Refuse records a failure for `what` ("a system"). */
bool reef__system_name_allowed(const char *name);
bool reef__system_refuse_name(reef_world *w, const char *op, const char *what); /* returns false */

/* Frees a system that was in no schedule. Its context stays the maker's. */
void reef__system_forget(family *f, struct system *s);

/* Does the system declare this? For kinds that may stand without a type, that stands for every type. WRITES includes
 * READS. Component 0 asks for a declaration without a type (for SPAWNS: with any). */
bool reef__system_touches(const struct system *s, reef_touch_kind kind, uint32_t component);

/* The system's first touch of a kind, of this type (c NULL: of any). NULL: there is none. */
const reef_touch *reef__touch_find(const struct system *s, reef_touch_kind kind, const reef_component *c);

/* Must one of two systems wait for the other? Returns the component or event that is the reason, the first one by
 * name. 0: they don't collide. */
uint32_t reef__systems_collide(const struct system *a, const struct system *b);

/* The same for two different types: one system uses a type with its subtypes, the other one uses such a subtype.
 * *other: the type that b uses. */
uint32_t reef__subtypes_collide(const struct system *a, const struct system *b, uint32_t *other);

/* The same for two uses of one type. Returns which uses collide, of data or of events; 0: none. */
uint32_t reef__access_collides(uint32_t a, uint32_t b);

/* Makes a system that is in no schedule and has one holder. *phase gets the number of the phase that it asks for; the
 * world has a schedule then. With `phase` NULL it is for reef_system_once and needs neither phase nor name. NULL:
 * refused, and recorded. */
struct system *reef__system_make(reef_world *w, const char *op, const reef_system_desc *desc, uint32_t *phase);

/* Releases one hold. The last holder frees the system and its context. */
void reef__system_leave(family *f, struct system *s);

#endif
