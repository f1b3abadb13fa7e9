/* Component types.
 *
 * A component type is declared once beside its struct and then used by its C name:
 *
 *     typedef struct { float x, y; } Position;
 *     REEF_COMPONENT(Position);                          a component: its data is a Position
 *     REEF_FIELDS(Position, (x, "m"), (y, "m"));         what its members are, for printing and files: reef/field.h
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
#include "limits.h"
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

/* The hooks of a type whose values are no plain data: reef/hooks.h. */
typedef struct reef_hooks reef_hooks;

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
    /* of a relation type reef_bring_relations_, of a subtype reef_bring_subtypes_, of others with hooks
     * reef_bring_hooks_, and of others in another home than tables reef_bring_rows_: called before the type is
     * registered. It alone names the code of relations, of subtypes, of unique fields (which subtypes don't have), or
     * of rows that aren't plain, so that other programs are linked without that code */
    void (*brings)(void);
} reef_type_decl;

/* Links a declaration into the process's list. The macros call it before main. Allocates nothing. Any thread. */
REEF_API void reef_declare(reef_type_decl *decl);
/* Takes a declaration out of the list, if nothing has used it yet. The macros call it when the library that the
 * declaration is in is unloaded; a type that was used stays. Any thread. */
REEF_API void reef_undeclare_(reef_type_decl *decl);
/* Lets the library find its code for rows with values outside of tables. Only declarations name this. */
REEF_API void reef_bring_rows_(void);
/* The id of a declared type; {0} if the declaration contradicts another of the same name (reef_declare_error says how)
 * or memory runs out. Any thread. */
REEF_API reef_component reef_resolve(reef_type_decl *decl) REEF_PURE;

/* The struct of a tag, which is never completed. C++ is told that this is no struct whose definition is missing: it
 * finds the function in the tag's namespace (reef/cpp/type.hpp). */
#ifdef __cplusplus
#define REEF_TAG_STRUCT_(Name) \
    typedef struct Name Name; \
    extern "C++" REEF_UNUSED void reef_declared_as_tag(const Name *);
#else
#define REEF_TAG_STRUCT_(Name) typedef struct Name Name;
#endif
#define REEF_DECLARE_(T, size, align, home, hooks) REEF_DECLARE_AS_(T, size, align, home, hooks, 0, 0, 0)
#define REEF_DECLARE_AS_(T, size, align, home, hooks, page_rows, base, brings) \
    static REEF_DECLARATION_(T, size, align, home, hooks, page_rows, base, 0, 0, brings) REEF_ENLIST_(T)
#define REEF_DECLARATION_(T, size, align, home, hooks, page_rows, base, relation, data, brings) \
    reef_type_decl reef_declared_by_REEF_COMPONENT_##T = {#T,       size, align, home, hooks, 0, 0, page_rows, base, \
                                                          relation, data, 0,     0,    0,     0, 0, brings}; \
    enum { reef_home_by_REEF_COMPONENT_##T = home, reef_size_by_REEF_COMPONENT_##T = size };
#define REEF_ENLIST_(T) \
    REEF_BEFORE_MAIN(reef_before_main_##T) { reef_declare(&reef_declared_by_REEF_COMPONENT_##T); } \
    REEF_AT_UNLOAD(reef_at_unload_##T) { reef_undeclare_(&reef_declared_by_REEF_COMPONENT_##T); } \
    struct reef_needs_semicolon_##T

/* Is the value of T in a store (REEF_SPARSE, REEF_PAGED or REEF_COLD) instead of a row? This is a constant. */
#define REEF_STORED_(T) \
    (REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) >= REEF_CAST(int, REEF_SPARSE) && \
     REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) <= REEF_CAST(int, REEF_COLD))

/* A component whose data is the C type T. T is a single identifier: give other types one by a typedef. */
#define REEF_COMPONENT(T) \
    REEF_DECLARE_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), REEF_TABLE, 0)
/* A component in another home: REEF_COMPONENT_IN(Burning, REEF_SPARSE). */
#define REEF_COMPONENT_IN(T, home) \
    REEF_DECLARE_AS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), home, 0, 0, 0, \
                     reef_bring_rows_)
/* A component in pages of `page_rows` values each: a power of two, 1 ... REEF_PAGE_ROWS_MAX. */
#define REEF_COMPONENT_PAGED(T, page_rows) \
    REEF_DECLARE_AS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), REEF_PAGED, 0, \
                     page_rows, 0, reef_bring_rows_)
/* A second component with the data of an existing C type: REEF_COMPONENT_AS(Target, Position). */
#define REEF_COMPONENT_AS(Name, T) \
    typedef T Name; \
    REEF_DECLARE_(Name, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), REEF_TABLE, 0)
/* A tag: a component without data. */
#define REEF_TAG(Name) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_(Name, 0, 1, REEF_TABLE, 0)
/* A tag that is one bit a row. */
#define REEF_SWITCH(Name) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_AS_(Name, 0, 1, REEF_BIT, 0, 0, 0, reef_bring_rows_)

/* Declares the fields of a type, at most 64; reef/field.h says how. Place it after the declaration of the type, in the
 * same file. */
#define REEF_FIELDS(T, ...) \
    REEF_STRUCT(T, __VA_ARGS__); \
    REEF_BEFORE_MAIN(reef_fields_before_main_##T) \
    { \
        reef_declared_by_REEF_COMPONENT_##T.fields = reef_declared_by_REEF_STRUCT_##T.fields; \
        reef_declared_by_REEF_COMPONENT_##T.field_count = reef_declared_by_REEF_STRUCT_##T.count; \
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

REEF_END_C

#endif
