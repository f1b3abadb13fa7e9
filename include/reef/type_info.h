/* Types made at run time, types that a strict world knows, and looking types up: for tools and other languages. */
#ifndef REEF_TYPE_INFO_H
#define REEF_TYPE_INFO_H

#include "memory.h"
#include "type.h"

REEF_BEGIN_C

/* A type to be made at run time. Members that aren't set are 0; with only a name it is a tag in REEF_TABLE. */
typedef struct reef_type_desc {
    const char *name; /* copied */
    uint32_t size;    /* 0 ... REEF_SIZE_MAX */
    uint32_t align;   /* a power of two up to REEF_ALIGN_MAX; 0: the largest that divides size, at most 16 */
    reef_home home;
    const reef_hooks *hooks;  /* copied; NULL: plain data */
    const reef_field *fields; /* copied, with their names */
    uint32_t field_count;
    /* REEF_PAGED: values in a page, a power of two up to REEF_PAGE_ROWS_MAX, together at most 1 GiB; 0: as many as fit
     * 64 KiB, up to 1,024 */
    uint32_t page_rows;
    reef_component base; /* the base of a subtype; {0}: none. Neither its size nor its alignment may be larger */
    /* A relation type (reef/relation.h): its options and REEF_IS_RELATION, and the type of its data ({0}: none). Its
     * size, alignment, home, page_rows and fields follow from these. Here they are 0, or what they will be. 0: no
     * relation */
    uint32_t relation;
    reef_component data;
    const reef_component *required; /* the types that it requires (reef/required.h), up to REEF_REQUIRED_MAX */
    uint32_t required_count;
} reef_type_desc;

/* Makes a type, or finds the one of that name if it is the same. Returns {0} on failure. Errors (in *status if that
 * isn't NULL): BAD_ARGUMENT, LIMIT (65,536 types), NO_MEMORY, EXISTS (a different type of that name), NOT_MOVABLE
 * (hooks that this home doesn't allow), UNKNOWN_TYPE (no such base, data or required type), CYCLE (it would require
 * itself). Any thread. */
REEF_API reef_component reef_type_new(const reef_type_desc *desc, reef_status *status);
/* Gives a type its fields when it has none yet. Errors: UNKNOWN_TYPE, EXISTS (it has other fields), BAD_ARGUMENT (a
 * field outside of the struct), NO_MEMORY. Any thread. */
REEF_API reef_status reef_type_describe(reef_component type, const reef_field *fields, uint32_t count);
/* The type of this name; {0} if there is none. Any thread. */
REEF_API reef_component reef_type_find(const char *name);

/* What is known of a type, as reef_type_get returns it. */
typedef struct reef_type_info {
    const char *name;
    uint32_t size, align;
    reef_home home;
    const reef_hooks *hooks;  /* NULL: plain data */
    const reef_field *fields; /* NULL: bytes */
    uint32_t field_count;
    uint32_t page_rows;             /* REEF_PAGED: values in a page; otherwise 0 */
    reef_component base;            /* of a subtype; {0}: none */
    uint32_t relation;              /* of a relation type: its options and REEF_IS_RELATION; otherwise 0 */
    reef_component data;            /* of a relation type with data: the type of the data; otherwise {0} */
    const reef_component *required; /* the types that it requires itself, ordered by name */
    uint32_t required_count;
} reef_type_info;

/* Fills *info with what is known of a type; false for an id that isn't one. The pointers live as long as the process.
 * Any thread. */
REEF_API bool reef_type_get(reef_component type, reef_type_info *info);
/* The column of one field of a type in REEF_SPLIT. It is a type of its own, named "Type.field", for
 * terms of queries, for orders, and for what systems touch. It is added and removed with the whole type, never alone.
 * {0}: there is none. Any thread. */
REEF_API reef_component reef_column_of(reef_component type, const char *field);
/* A type's name; NULL for an id that isn't one. Lives as long as the process. Any thread. */
REEF_API const char *reef_type_name(reef_component type);
/* Number of types that the process knows; their ids are 1 ... count. Any thread. */
REEF_API uint32_t reef_type_count(void);

/* The first contradiction between two declarations of one name, as a text, or NULL. Any thread. */
REEF_API const char *reef_declare_error(void);

/* Makes a type known to a strict world. In any other world it has no effect. Errors: UNKNOWN_TYPE, NO_MEMORY. */
REEF_API reef_status reef_world_use(reef_world *world, reef_component type);
#define reef_use(world, T) reef_world_use(world, reef_id(T))

/* ---- fields ---- */

/* Fields as the initialisers of an array, for reef_type_desc and reef_type_describe:
 * const reef_field fields[] = {REEF_FIELDS_OF(Position, x, (y, "m"))}. At most 64; an array may have several of
 * these, without commas between them. */
#define REEF_FIELDS_OF(T, ...) REEF_EACH_(REEF_FIELD_OF_, T, __VA_ARGS__)

/* ---- names of values: REEF_ENUM and REEF_MASK ---- */

/* Writes a value by its name, with a zero at its end, at most `size` bytes; REEF_NAMES_TEXT_MAX is always enough. A bit
 * mask is written as "WET|COLD": the names in the order of their list, each of which has a bit that no name before has.
 * What has no name is written as a number. Returns the length of the whole text. NULL is an empty list of names. Any
 * thread. */
REEF_API size_t reef_names_write(const reef_names *names, int64_t value, char *text, size_t size);
/* Reads what reef_names_write writes: a name, in a bit mask also several with | between them, or numbers in their
 * place. `text` has `length` bytes and needs no zero. False: it is none of these; then *value stays. Any thread. */
REEF_API bool reef_names_read(const reef_names *names, const char *text, size_t length, int64_t *value);

/* ---- the memory for types ---- */

/* Takes the memory for types (their names, fields and hooks: all that reef keeps outside of worlds) from this allocator
 * instead of the C library's; NULL or {0}: from the C library's again. It must be called before the first type is
 * registered, that is before the first call of reef_id, reef_type_new, reef_type_find or anything that takes a world;
 * declarations don't count. Types are never freed, so the allocator must live as long as the process; align is at most
 * that of max_align_t. Errors: EXISTS (memory for types was taken already; nothing changes). Any thread. */
REEF_API reef_status reef_set_process_allocator(const reef_allocator *allocator);

REEF_END_C

#endif
