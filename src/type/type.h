/* Component types: the list of all types of the process. Records of types never move and are never freed, so that
 * reading one takes no lock. */
#ifndef REEF_TYPE_TYPE_H
#define REEF_TYPE_TYPE_H

#include "base/platform.h"
#include "reef/type.h"
#include "reef/hooks.h"

/* A list of ids that only grows. `count` is stored last, so that other threads may read what is before it. A list that
 * became too small stays readable: `older` links it behind the list that replaced it. */
typedef struct type_list {
    struct type_list *older;
    uint32_t room, count;
    uint32_t id[];
} type_list;

typedef struct type {
    const char *name;
    uint64_t name_start; /* its first eight bytes as a number, the first one highest, so that it compares as they do */
    uint64_t name_hash;  /* for the hash of the state, which must not depend on ids */
    uint32_t id, size, align;
    reef_home home;
    bool bit;    /* the home is REEF_BIT: a row has a bit that says whether it has the type */
    bool stored; /* values lie in a store outside of the rows: src/storage/sparse_store.h */
    /* each field has a column of its own in tables, as a component that is its part: src/storage/split_columns.h */
    bool split;
    uint32_t page_rows; /* number of values in a page of the store */
    uint32_t owner;     /* of a part: id of the type that it is a field of; of other types: 0 */
    uint32_t offset;    /* of a part: offset of the field in the owner's struct */
    /* distance of two values in an array of the caller's; for a part it is the size of the owner */
    uint32_t stride;
    uint32_t part_count;     /* of a split type, stored last; 0: it has no fields yet and can't be used */
    uint32_t *parts;         /* ids of the parts, in the order of the fields */
    uint32_t relation;       /* of a type of relations: its options and REEF_IS_RELATION; else 0 */
    const struct type *data; /* of a type of relations: the type of its data; NULL: none */
    const struct type *base; /* the type that this one is a subtype of; NULL: none */
    /* all subtypes, to any depth, as they were registered; NULL: none. reef__subtypes_of reads it */
    struct type_list *subtypes;
    /* The types that it requires itself, and whatever comes along with them and with those that its bases require
     * (REEF_REQUIRES). Both are ordered by name. Once the type is settled, neither changes any more. */
    const reef_component *required;
    const uint32_t *needs;
    uint32_t required_count, need_count;
    bool hooked;      /* it has hooks: its rows can't be moved by memcpy alone, or need destroying */
    bool fixed;       /* a value can't be moved: it is made where it stays */
    bool plain_move;  /* moving is memcpy */
    bool plain_copy;  /* copying is memcpy */
    bool copyable;    /* plain data, or it has a copy hook */
    bool resets;      /* a copy of the world gets default values */
    bool tracked;     /* rows of this type get a stamp when they change */
    bool direct;      /* neither hooked nor tracked: replacing a value is only writing it */
    reef_hooks hooks; /* all NULL for plain data */
    const reef_field *fields;
    uint32_t field_count;
    /* No name leads to it any more: code that was refused has declared it, or its name belongs to another layout now
     * (src/type/code.h) */
    bool hidden;
    bool gone;         /* another layout has its name, and no world has values of it any more */
    bool fresh;        /* the code that is being tried has declared it, and nobody before */
    bool retired;      /* the code that is being tried declares another layout of this name */
    uint32_t declared; /* number of declarations in the program itself */
    uint64_t module;   /* the id of the module whose code declared it last; 0: none */
    bool of_module;    /* a module that was used has it in its list. Under the lock of the registry */
} type;

/* Pages of types, by id: that of `id` is reef__type_pages[(id - 1) / TYPES_PER_PAGE][(id - 1) % TYPES_PER_PAGE]. Ask
 * reef__type_of; this is for debuggers, and holds the records. */
enum { TYPE_PAGE_BITS = 6, TYPES_PER_PAGE = 1 << TYPE_PAGE_BITS };
extern type *reef__type_pages[];
/* The records by id, NULL where there is none: one load, since much of what a call does begins by asking for types. It
 * takes no room in the file of the program, and memory only where it is used. */
extern const type *reef__types[REEF_TYPES_MAX + 1];
/* The type of the id of a table's component, a store, a term that was checked, or 0. Any thread. */
INLINE const type *type_known(uint32_t id) { return REEF_DEPENDENT(&reef__types[id]); }
/* The same for any id; NULL: there is no such type. */
INLINE const type *reef__type_of(uint32_t id) { return LIKELY(id <= REEF_TYPES_MAX) ? type_known(id) : NULL; }
/* Bytes of a value in the type's column of a table; 0: it has no column. */
REEF_INLINE uint32_t type_column(const type *t) { return t->split ? 0 : t->size; }
/* The subtypes of a type, to any depth, in no order; *count is their number. Any thread. */
const uint32_t *reef__subtypes_of(const type *t, uint32_t *count);
INLINE bool has_subtypes(const type *t) { return REEF_ACQUIRE_POINTER(&t->subtypes) != NULL; }
/* Is `a` a subtype of `b`, to any depth? (A type isn't a subtype of itself.) */
bool reef__is_subtype(const type *a, const type *b);
/* The number of types that have a base. When it changes, there are new subtypes. Any thread. */
uint32_t reef__types_based(void);
/* Compares names by strcmp: the order of everything visible. Hidden types of one name are ordered by their ids. */
int reef__type_compare(const type *a, const type *b);
/* The number of types that have fields. When it changes, values that were hashed as bytes may have fields now. Any
 * thread. */
uint32_t reef__types_described(void);
/* Settles what all types require, since a world is going to use them. The answer is how many types there are; 0: there
 * is no memory. */
uint32_t reef__types_resolve(void);
/* A world is made: from now on the inlined calls read the ids of declared types by themselves. */
void reef__types_show(void);
/* Registers all declared types that aren't registered yet. False: there is no memory for some of them. */
bool reef__types_known(void);
/* Bytes of one element of this kind. */
uint32_t reef__kind_size(reef_kind kind);
INLINE bool in_table(const type *t) { return !t->bit && !t->stored; }

#endif
