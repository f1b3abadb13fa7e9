/* The process's list of component types. Records never move and never die, so reading one takes no lock. */
#ifndef REEF_TYPE_TYPE_H
#define REEF_TYPE_TYPE_H

#include "base/platform.h"
#include "reef/type.h"

/* Ids, which only ever become more: published by the count. A list that was too small for one more stays readable,
 * behind the next one. */
typedef struct type_list {
    struct type_list *older;
    uint32_t room, count;
    uint32_t id[];
} type_list;

typedef struct type {
    const char *name;
    uint64_t name_hash; /* for the state's hash, which knows no ids */
    uint32_t id, size, align;
    reef_home home;
    bool bit;    /* who has it, rows know by a bit */
    bool stored; /* values lie in a store outside of the rows: src/storage/sparse_store.h */
    /* in tables each of its fields has a column of its own, as a component that is its part:
     * src/storage/split_columns.h */
    bool split;
    uint32_t page_rows;         /* of such a store */
    uint32_t owner;             /* of a part: the type that it is a field of; else 0 */
    uint32_t offset;            /* of a part: in the owner's struct */
    uint32_t stride;            /* between two values of an array that a caller hands in: of a part, the owner's size */
    uint32_t part_count;        /* of a split type; published last. 0: it has no fields yet, and can't be used */
    uint32_t *parts;            /* ids, in the order of the fields */
    const struct type *base;    /* NULL: none */
    struct type_list *subtypes; /* to any depth, as they came; NULL: none. By reef__subtypes_of */
    bool hooked;      /* any of the hooks below: its rows can't be moved by memcpy alone, or need destroying */
    bool fixed;       /* nobody can move a value: it is made where it stays */
    bool plain_move;  /* moving is memcpy */
    bool plain_copy;  /* copying is memcpy */
    bool copyable;    /* plain, or by its hook */
    bool resets;      /* a copy of the world gets default values */
    bool tracked;     /* rows that change are stamped */
    bool direct;      /* neither hooked nor tracked: a value is replaced where it lies, and that is all */
    reef_hooks hooks; /* all NULL for plain data */
    const reef_field *fields;
    uint32_t field_count;
} type;

/* NULL for an id that isn't one. Any thread. */
const type *reef__type_of(uint32_t id);
/* Bytes of its column in a table; 0: it has none. */
REEF_INLINE uint32_t type_column(const type *t) { return t->split ? 0 : t->size; }
/* The subtypes of a type, to any depth, in no order; *count of them. Any thread. */
const uint32_t *reef__subtypes_of(const type *t, uint32_t *count);
INLINE bool has_subtypes(const type *t) { return REEF_ACQUIRE_POINTER(&t->subtypes) != NULL; }
/* Is `a` a subtype of `b`, to any depth? (A type isn't one of itself.) */
bool reef__is_subtype(const type *a, const type *b);
/* How many types have a base: another number, and there are new subtypes. Any thread. */
uint32_t reef__types_based(void);
/* By name, as strcmp: the order of everything visible. */
int reef__type_compare(const type *a, const type *b);
/* How many types have fields: another number, and what was hashed as bytes may have fields now. Any thread. */
uint32_t reef__types_described(void);
/* All types that are declared are registered. False: there is no memory for some. */
bool reef__types_known(void);
/* Bytes of one element of a kind. */
uint32_t reef__kind_size(reef_kind kind);
INLINE bool in_table(const type *t) { return !t->bit && !t->stored; }

#endif
