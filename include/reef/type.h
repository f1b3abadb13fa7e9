/* Component types.
 *
 * A component type is declared once beside its struct and then used by its C name:
 *
 *     typedef struct { float x, y; } Position;
 *     REEF_COMPONENT(Position);                          a component: its data is a Position
 *     REEF_FIELDS(Position, REEF_FIELD(Position, x, REEF_F32, "m", 0, 0), REEF_FIELD(Position, y, REEF_F32, "m", 0,
 *     0));
 *
 *     REEF_TAG(Frozen);                                  a tag has no data; each combination has its own table
 *     REEF_SWITCH(Awake);                                a tag that is one bit a row: cheap to turn on and off
 *
 *     typedef struct { Moving base; float axis; } AxisMoving;
 *     REEF_SUBTYPE(AxisMoving, Moving);                  an AxisMoving is a Moving: reef/subtype.h
 *
 * The declaration may stand in a header that many files include, and the struct may come from another library. A
 * declaration allocates nothing. A type is known by its name: declaring it again is harmless; declaring it differently
 * is an error that the first use reports. Types belong to the process, data belongs to worlds. */
#ifndef REEF_TYPE_H
#define REEF_TYPE_H

#include "field.h"
#include "handle.h"
#include "hooks.h"
#include "limits.h"
#include "memory.h"
#include "status.h"

REEF_BEGIN_C

/* Where the values of a type live. The calls are the same for all homes; docs/manual/homes.md says which one to
 * choose. */
typedef enum reef_home {
    REEF_TABLE = 0, /* in the columns of the entity's table: fastest for loops; adding and removing moves the row */
    REEF_BIT,       /* tags only: one bit a row; adding and removing moves nothing */
    /* packed densely, found by the entity's index: adding and removing moves at most one value, of the same type */
    REEF_SPARSE,
    /* in pages indexed by the entity's index: fast to reach in random order; a value keeps its address while it lives,
     * except at the first write after a fork */
    REEF_PAGED,
    /* as REEF_SPARSE, but rows don't record who has it: it costs nothing when rows move, and queries that name it look
     * it up row by row. For tags too */
    REEF_COLD,
    REEF_MULTI,  /* an entity may have several values, side by side in the order of adding */
    REEF_SHARED, /* a reference counted value outside of the rows, which several entities may share */
    REEF_SPLIT   /* as REEF_TABLE, with a column for each field; the type needs fields */
} reef_home;

/* ---- declaring ---- */

/* One declaration in one file. The macros below fill it; don't fill it by hand. */
typedef struct reef_type_decl {
    const char *name;
    uint32_t size, align;
    reef_home home;
    const reef_hooks *hooks;
    const reef_field *fields;
    uint32_t field_count;
    uint32_t page_rows;          /* REEF_PAGED: values in a page; 0: up to 1,024 */
    struct reef_type_decl *base; /* of a subtype */
    uint32_t relation;           /* of a relation type: its options and REEF_IS_RELATION (reef/relation.h) */
    struct reef_type_decl *data; /* of a relation type with data: the type of the data */
    uint32_t id;                 /* 0 until the first use */
    struct reef_type_decl *next;
    struct reef_type_decl *const *required; /* the types that it requires: reef/required.h */
    uint32_t required_count;
    /* what the inlined calls read: the same as id, as soon as this copy of reef has made a world. Before, a world can
     * only be that of another copy of reef in the program, whose ids are others, and each call asks the library */
    uint32_t shown;
} reef_type_decl;

/* Links a declaration into the process's list. The macros call it before main. Allocates nothing. Any thread. */
REEF_API void reef_declare(reef_type_decl *decl);
/* Takes a declaration out of the list, if nothing has used it yet. The macros call it when the library that the
 * declaration is in is unloaded; a type that was used stays. Any thread. */
REEF_API void reef_undeclare_(reef_type_decl *decl);
/* The id of a declared type; {0} if the declaration contradicts another of the same name (reef_declare_error says how)
 * or memory runs out. Any thread. */
REEF_API reef_component reef_resolve(reef_type_decl *decl) REEF_PURE;
/* The first contradiction between two declarations of one name, as a text, or NULL. Any thread. */
REEF_API const char *reef_declare_error(void);

/* The struct of a tag, which is never completed. C++ is told that this is no struct whose definition is missing: it
 * finds the function in the tag's namespace (reef/cpp/type.hpp). */
#ifdef __cplusplus
#define REEF_TAG_STRUCT_(Name) \
    typedef struct Name Name; \
    extern "C++" REEF_UNUSED void reef_declared_as_tag(const Name *);
#else
#define REEF_TAG_STRUCT_(Name) typedef struct Name Name;
#endif
#define REEF_DECLARE_(T, size, align, home, hooks) REEF_DECLARE_AS_(T, size, align, home, hooks, 0, 0)
#define REEF_DECLARE_AS_(T, size, align, home, hooks, page_rows, base) \
    REEF_DECLARE_ALL_(T, size, align, home, hooks, page_rows, base, 0, 0)
#define REEF_DECLARE_ALL_(T, size, align, home, hooks, page_rows, base, relation, data) \
    static reef_type_decl reef_declared_by_REEF_COMPONENT_##T = {#T,   size,     align, home, hooks, 0, 0, page_rows, \
                                                                 base, relation, data,  0,    0,     0, 0, 0}; \
    enum { reef_home_by_REEF_COMPONENT_##T = home, reef_size_by_REEF_COMPONENT_##T = size }; \
    REEF_BEFORE_MAIN(reef_before_main_##T) { reef_declare(&reef_declared_by_REEF_COMPONENT_##T); } \
    REEF_AT_UNLOAD(reef_at_unload_##T) { reef_undeclare_(&reef_declared_by_REEF_COMPONENT_##T); } \
    struct reef_needs_semicolon_##T

/* Is the value of T in a store (REEF_SPARSE, REEF_PAGED or REEF_COLD) instead of a row? This is a constant. */
#define REEF_STORED_(T) \
    (REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) >= REEF_CAST(int, REEF_SPARSE) && \
     REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) <= REEF_CAST(int, REEF_COLD))

/* A component whose data is the C type T. T is a single identifier: give other types one by a typedef. */
#define REEF_COMPONENT(T) REEF_COMPONENT_IN_HOOKS(T, REEF_TABLE, 0)
/* A component with hooks: a pointer to a reef_hooks that lives as long as the program. */
#define REEF_COMPONENT_HOOKS(T, hooks) REEF_COMPONENT_IN_HOOKS(T, REEF_TABLE, hooks)
/* A component in another home: REEF_COMPONENT_IN(Burning, REEF_SPARSE). */
#define REEF_COMPONENT_IN(T, home) REEF_COMPONENT_IN_HOOKS(T, home, 0)
#define REEF_COMPONENT_IN_HOOKS(T, home, hooks) \
    REEF_DECLARE_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), home, hooks)
/* A component in pages of `page_rows` values each: a power of two, 1 ... REEF_PAGE_ROWS_MAX. */
#define REEF_COMPONENT_PAGED(T, page_rows) \
    REEF_DECLARE_AS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), REEF_PAGED, 0, \
                     page_rows, 0)
/* A component that also counts as a Base. Its struct begins with a Base: the first member is one, or the first members
 * are the same. The base is declared first. Both may have any home except REEF_SPLIT and REEF_MULTI. reef/subtype.h
 * says what that means for reading and for queries. */
#define REEF_SUBTYPE(T, Base) REEF_SUBTYPE_IN_HOOKS(T, Base, REEF_TABLE, 0)
#define REEF_SUBTYPE_IN(T, Base, home) REEF_SUBTYPE_IN_HOOKS(T, Base, home, 0)
#define REEF_SUBTYPE_IN_HOOKS(T, Base, home, hooks) \
    typedef char reef_subtype_is_as_large_##T[sizeof(T) >= sizeof(Base) ? 1 : -1]; \
    REEF_DECLARE_AS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), home, hooks, 0, \
                     &reef_declared_by_REEF_COMPONENT_##Base)
/* A tag that also counts as a Base, which is a tag too. */
#define REEF_SUBTAG(Name, Base) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_AS_(Name, 0, 1, REEF_TABLE, 0, 0, &reef_declared_by_REEF_COMPONENT_##Base)
/* A second component with the data of an existing C type: REEF_COMPONENT_AS(Target, Position). */
#define REEF_COMPONENT_AS(Name, T) \
    typedef T Name; \
    REEF_DECLARE_(Name, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), REEF_TABLE, 0)
/* A tag: a component without data. */
#define REEF_TAG(Name) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_(Name, 0, 1, REEF_TABLE, 0)
/* A tag with hooks. Only track_rows makes sense for a tag. */
#define REEF_TAG_HOOKS(Name, hooks) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_(Name, 0, 1, REEF_TABLE, hooks)
/* A tag that is one bit a row. */
#define REEF_SWITCH(Name) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_(Name, 0, 1, REEF_BIT, 0)

/* Declares the fields of a type. Place it after the declaration of the type, in the same file. */
#define REEF_FIELDS(T, ...) \
    static const reef_field reef_fields_##T[] = {__VA_ARGS__}; \
    REEF_BEFORE_MAIN(reef_fields_before_main_##T) \
    { \
        reef_declared_by_REEF_COMPONENT_##T.fields = reef_fields_##T; \
        reef_declared_by_REEF_COMPONENT_##T.field_count = \
            REEF_CAST(uint32_t, sizeof reef_fields_##T / sizeof reef_fields_##T[0]); \
        reef_declare(&reef_declared_by_REEF_COMPONENT_##T); \
    } \
    struct reef_needs_semicolon_fields_##T

/* The id of a declared type. Costs a load and a compare. */
#define reef_id(T) reef_id_of(&reef_declared_by_REEF_COMPONENT_##T)
REEF_INLINE reef_component reef_id_of(reef_type_decl *decl)
{
    reef_component c;
    c.id = REEF_DEPENDENT(&decl->shown);
    return REEF_LIKELY(c.id != 0) ? c : reef_resolve(decl);
}

/* ---- types made at run time, and looking types up ---- */

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

REEF_END_C

#endif
