/* The names of values of enums and bit masks (reef_names): what is allowed, when two lists are the same, copies. */
#ifndef REEF_TYPE_NAMES_H
#define REEF_TYPE_NAMES_H

#include "base/platform.h"
#include "reef/field.h"

/* Kinds whose values can have names. */
INLINE bool kind_is_whole(reef_kind kind) { return kind >= REEF_I8 && kind <= REEF_U64; }
/* The value at p, of a kind that can have names. */
int64_t reef__whole_read(reef_kind kind, const void *p);
/* Why a field of this kind can't have these names, or NULL. */
const char *reef__names_refused(const reef_names *n, reef_kind kind);
/* Both may be NULL. */
bool reef__names_same(const reef_names *a, const reef_names *b);
/* The value with this name, or NULL. */
const reef_named_value *reef__names_find(const reef_names *n, const char *name);
/* Bytes of a copy with its texts, a multiple of the alignment of reef_names. */
size_t reef__names_bytes(const reef_names *n);
/* Copies to `room`, which is aligned for a reef_names. */
const reef_names *reef__names_copy(const reef_names *n, void *room);

#endif
