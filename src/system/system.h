/* system/system: TODO */
#ifndef REEF_SYSTEM_SYSTEM_H
#define REEF_SYSTEM_SYSTEM_H

#include "storage/family.h"
#include "system/schedule.h"
#include "reef/system.h"

/* Names of systems and phases; `what`: "a system". (src/system/system.c) */
bool reef__system_name_allowed(const char *name);
bool reef__system_refuse_name(reef_world *w, const char *op, const char *what); /* false */

/* A system that nobody ever had goes; its context stays its maker's. */
void reef__system_forget(family *f, struct system *s);

/* Does the system declare this? Of kinds that allow it, without a type stands for every type; WRITES is READS too.
 * Component 0 asks for what is declared without a type (SPAWNS: for any). */
bool reef__system_touches(const struct system *s, reef_touch_kind kind, uint32_t component);

/* Must one of two systems wait for the other? The component or event for whose sake, the first by name; 0: they
 * don't collide. */
uint32_t reef__systems_collide(const struct system *a, const struct system *b);

/* The same of what differs in type: one uses a type with its subtypes, the other one of these. *other: what b uses. */
uint32_t reef__subtypes_collide(const struct system *a, const struct system *b, uint32_t *other);

/* The same of two uses of one type: the uses of data, of events, that collide; 0: none. */
uint32_t reef__access_collides(uint32_t a, uint32_t b);

/* A system that is in no schedule, with one holder. *phase: the number of the phase that it asks for (the world has
 * a schedule then); phase NULL: for reef_system_once, where neither a phase nor a name is needed. NULL: refused, and
 * recorded. (src/system/system.c) */
struct system *reef__system_make(reef_world *w, const char *op, const reef_system_desc *desc, uint32_t *phase);

/* A holder leaves; the last one takes the context along. */
void reef__system_leave(family *f, struct system *s);

#endif
