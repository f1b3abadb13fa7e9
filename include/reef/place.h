/* Places: which entities are near, in a box, hit by a ray, and which pairs touch.
 *
 *     typedef struct { float x, y; } Position;
 *     REEF_COMPONENT(Position);
 *     REEF_FIELDS(Position, x, y);
 *     REEF_PLACE(Position, x, y, .cell = 4);                          in metres, about the radius of a usual question
 *
 *     const reef_place *sea = reef_place_of(w, Position);
 *     reef_near found[16];
 *     uint32_t n = reef_place_within(sea, &(reef_place_ask){.at = {3, 4}, .radius = 5}, found, 16);
 *
 * A place is a picture of the world: it has its own copy of the coordinates, as they were when reef_place_of made it.
 * It is no part of the state, of its hash or of files, and it is made anew only if something that it shows was written.
 * A system asks the picture that was made before its jobs began, so it may write the very positions that it asks about
 * and is still split over all threads:
 *
 *     reef_system(w, flock, "Position, Velocity; reads Position as placed");
 *     static void flock(reef_block *b) { const reef_place *sea = reef_placed(b, Position); ... }
 *
 * All answers are the same on every machine, on any number of threads and for any size of the cells. They are ordered
 * by the index of the entity, unless the call says otherwise. A difference of two coordinates is rounded to float (f32
 * coordinates are also subtracted as floats); the squares are added as doubles, x first. An entity with a coordinate
 * that is NaN or infinite is nowhere, and so is one that is disabled or a template (reef/prefab.h), or whose component
 * is disabled. -0.0 is 0. */
#ifndef REEF_PLACE_H
#define REEF_PLACE_H

#include "block.h"

REEF_BEGIN_C

/* ---- which types have a place ---- */

/* What a place needs to know of its type. */
typedef struct reef_place_desc {
    /* The fields with the coordinates: two or three, all f32, all f64 or all i32, and no arrays. The macros set them;
     * the type needs REEF_FIELDS. */
    const char *fields[3];
    /* Side of a cell, above 0. Any size gives the same answers; about the radius of a usual question is fastest. */
    double cell;
    /* Of each axis: the lowest coordinate, and the highest, where the axis goes on at the lowest one. Positions outside
     * are taken back in. Both 0: the axis doesn't wrap around. */
    double edges[3][2];
    /* The edges are walls: axes don't go on behind them, and who is beyond counts as in the outermost cell. */
    bool walls;
    /* The cells stay as they are declared, so that they can be walked (reef_place_cells): all axes have edges, and the
     * cells between them are at most REEF_PLACE_CELLS_MAX. Crowds in one cell then cost what they cost. */
    bool whole;
    /* The field with the radius of an entity's body, of an f32 or f64: "Body.radius". An entity without it, or with a
     * radius that isn't above 0, is a point. NULL: all are points */
    const char *radius;
    /* Types of which the picture has the values as well, with spaces between them: "Velocity Species". They are plain
     * data, of which an entity has one, and at most REEF_PLACE_CARRIES_MAX (reef_place_carried). Only entities that
     * have all of them are in the picture. NULL: none */
    const char *carries;
} reef_place_desc;

/* Declares that a type has a place, in two or in three dimensions: REEF_PLACE(T, x, y, .cell = 4), and further members
 * of reef_place_desc. Stands behind REEF_FIELDS of T. */
#define REEF_PLACE(T, x, y, ...) REEF_PLACE_AS_(T, REEF_PLACE_FIELDS_2_(x, y), __VA_ARGS__)
#define REEF_PLACE_3D(T, x, y, z, ...) REEF_PLACE_AS_(T, REEF_PLACE_FIELDS_3_(x, y, z), __VA_ARGS__)
/* clang-format off */
#define REEF_PLACE_FIELDS_2_(x, y) {#x, #y, 0}
#define REEF_PLACE_FIELDS_3_(x, y, z) {#x, #y, #z}
/* clang-format on */
#define REEF_PLACE_AS_(T, names, ...) \
    static const reef_place_desc reef_place_by_##T = {.fields = names, __VA_ARGS__}; \
    static reef_place_decl reef_place_declared_by_##T = {&reef_declared_by_REEF_COMPONENT_##T, &reef_place_by_##T, 0}; \
    REEF_BEFORE_MAIN(reef_place_before_main_##T) { reef_place_declare_(&reef_place_declared_by_##T); } \
    REEF_AT_UNLOAD(reef_place_at_unload_##T) { reef_place_undeclare_(&reef_place_declared_by_##T); } \
    struct reef_needs_semicolon_place_##T

/* A declaration in one file. The macros fill it and link it into the process's list; don't use it by hand. */
typedef struct reef_place_decl {
    reef_type_decl *type;
    const reef_place_desc *desc;
    struct reef_place_decl *next;
} reef_place_decl;
REEF_API void reef_place_declare_(reef_place_decl *decl);
REEF_API void reef_place_undeclare_(reef_place_decl *decl);

/* The same at run time. A type has one place in the whole process: declaring it again is harmless, and differently is
 * EXISTS. Other errors: UNKNOWN_TYPE, BAD_ARGUMENT (fields, a cell or edges that don't fit; a type in REEF_MULTI, or
 * one of relations), LIMIT (REEF_PLACES_MAX). Any thread. */
REEF_API reef_status reef_place_declare(reef_component type, const reef_place_desc *desc);

/* ---- the picture ---- */

/* The picture of a place in one world. All calls on it may be made from several threads at the same time. */
typedef struct reef_place reef_place;

/* The picture of the world as it is now; it is the world's. It answers as of now, until it is taken
 * again, and lives until then, or until the world's end. While a loop is open no picture is made: the one that there
 * is answers as it did before. NULL on failure: UNKNOWN_TYPE, ABSENT (the type has no place), BAD_ARGUMENT (its
 * declaration is refused: .detail says why), LOCKED (a loop is open, and there is no picture; systems run),
 * NO_MEMORY. */
REEF_API const reef_place *reef_place_of_id(reef_world *world, reef_component type);
#define reef_place_of(world, T) reef_place_of_id(world, reef_id(T))
/* The picture for a system that declares "reads T as placed". NULL and UNDECLARED for any other. */
REEF_API const reef_place *reef_placed_id(const reef_block *block, reef_component type);
#define reef_placed(block, T) reef_placed_id(block, reef_id(T))

/* What a picture is made of. */
typedef struct reef_place_stats {
    uint64_t rows;    /* entities in it */
    uint64_t bytes;   /* of memory */
    uint32_t grids;   /* bodies of very different sizes, and crowds, have grids with other cells */
    uint64_t cells;   /* in all grids */
    uint64_t used;    /* cells with an entity */
    uint64_t fullest; /* entities in the fullest cell */
} reef_place_stats;
REEF_API reef_place_stats reef_place_stats_of(const reef_place *place);
/* The same as a text, which also says when the cells are too small or too large. As snprintf, it writes at most `size`
 * bytes with the zero, and returns the whole text's length. */
REEF_API size_t reef_place_explain(const reef_place *place, char *text, size_t size);

/* ---- what it carries, and its cells ---- */

/* A picture keeps its entities in slots. */
#define REEF_NO_SLOT 0xFFFFFFFFu
/* The slot of an entity, in the picture of a place that carries values or has whole cells. REEF_NO_SLOT: the entity
 * isn't in the picture, or there is no such picture. */
REEF_API uint32_t reef_place_slot(const reef_place *place, reef_entity entity);
/* The same for n entities, such as those of a block: their slots are written to slots[]. */
REEF_API void reef_place_slots(const reef_place *place, const reef_entity *entities, uint32_t n, uint32_t *slots);
/* The entity in a slot, which must be below reef_place_stats.rows. */
REEF_API reef_entity reef_place_entity(const reef_place *place, uint32_t slot);
/* The values of a type that the place `carries`, by slot, as they were when the picture was made. NULL: it doesn't
 * carry them. */
REEF_API const void *reef_place_carried_id(const reef_place *place, reef_component type);
#define reef_place_carried(place, T) REEF_CAST(const T *, reef_place_carried_id(place, reef_id(T)))

/* The cells of a place that is `whole`. Cell x, y, z has the number x + side[0] * (y + side[1] * z), and the slots from
 * first[number] to first[number + 1] - 1; so cells side by side along x are slots side by side. Within a cell, entities
 * are in the order in which a loop visits them. */
typedef struct reef_place_cells {
    uint32_t side[3]; /* how many there are along each axis; 1: the third one of two */
    const uint32_t *first;
    const uint32_t *cell; /* by slot: the number of its cell */
    const void *at[3];    /* the coordinates by slot: floats where the fields are f32, else doubles */
} reef_place_cells;
/* They live as long as the picture. All 0: the place isn't whole. */
REEF_API reef_place_cells reef_place_cells_of(const reef_place *place);

/* ---- asking ---- */

/* A question. Each call says which members it reads; the others may be 0. */
typedef struct reef_place_ask {
    double at[3];       /* the centre, a corner, or the start */
    double end[3];      /* the opposite corner, or the end */
    double radius;      /* not negative */
    reef_entity except; /* isn't found; {0}: nobody */
    bool above;         /* only entities with a higher index than `except` are found: so each pair is found once */
    /* Only entities that match this query are found. It belongs to the place's world, asks for no changes, has
     * neither relations nor an order, and its parameters were set; while systems run it has no conditions on values
     * either, since they aren't in the picture. {0}: all. A query that doesn't fit finds nothing. */
    reef_query only;
} reef_place_ask;

/* An entity that was found. */
typedef struct reef_near {
    reef_entity entity;
    double squared;  /* square of the distance from `at` */
    float offset[3]; /* the way there from `at`, over an edge if that is shorter */
    float radius;    /* of its body; 0: a point */
} reef_near;

/* All calls that fill an array of `room` elements return how many they found, which may be more: then the array has the
 * first ones. The picture still has an entity that was destroyed since; its handle is refused everywhere. A question
 * with a NaN finds nothing. */

/* The entities in a circle or sphere around `at`: distance <= radius, or for a body radius + its radius. */
REEF_API uint32_t reef_place_within(const reef_place *place, const reef_place_ask *ask, reef_near *to, uint32_t room);
/* The entities in the box from the lowest corner `at` to the highest one `end`, borders included (nobody if `end` is
 * below); a body is if it touches the box. Over an edge that wraps around, the box goes on at the other side. */
REEF_API uint32_t reef_place_box(const reef_place *place, const reef_place_ask *ask, reef_near *to, uint32_t room);
/* The `room` entities nearest to `at`, ordered by distance and then by index; not farther than radius, unless that is
 * 0. Distances are those of the centres. Returns how many were written. */
REEF_API uint32_t reef_place_nearest(const reef_place *place, const reef_place_ask *ask, reef_near *to, uint32_t room);

/* Gives the centre and the radius of a query with `near` ("Hunter, !Resting, near Position"): ask->at and ask->radius,
 * for all loops and questions from now on, until they are given again. Such a query finds its rows by the picture,
 * which is made if it isn't right; where a loop is open, as reef_place_of. Before they were given it can't be used
 * (BAD_ARGUMENT). Errors: NOT_ALIVE, OTHER_WORLD, LOCKED (a loop over it is open), BAD_ARGUMENT (it has no such term; a
 * radius that is negative or NaN). */
REEF_API reef_status reef_query_near(reef_world *world, reef_query query, const reef_place_ask *ask);

/* What a segment hits. */
typedef struct reef_hit {
    reef_entity entity; /* null: nothing */
    double along;       /* where, from 0 (at the start) to 1 (at the end) */
} reef_hit;
/* The first entity that a segment from `at` to `end` hits, moving with a ball of this radius: where the distance is
 * radius + that of the body. Of several at the same point the one with the lowest index. Where edges wrap around, the
 * segment goes on at the other side. */
REEF_API reef_hit reef_place_hit(const reef_place *place, const reef_place_ask *ask);

/* ---- pairs ---- */

/* Two entities that are close to each other. */
typedef struct reef_pair {
    reef_entity lower, higher; /* by index */
    double squared;            /* square of the distance of their centres */
    float offset[3];           /* the way from `lower` to `higher` */
    float touch;               /* both radii together */
} reef_pair;

/* Which pairs, and what is done with them. */
typedef struct reef_place_pairs {
    double distance; /* of the centres; for bodies both radii are added to it. Not negative */
    reef_query only; /* as in reef_place_ask; both entities have to match */
    /* Called with a few pairs at a time, each pair once, ordered by the lower index and then by the higher one. The
     * pairs come in parts, and parts may be handed out at the same time on several threads of the world's pool, each of
     * them in order. What depends on the order of all pairs, such as a sum of floats, is done for each part and put
     * together in the order of the parts. The function may call what is allowed on a const world. */
    void (*found)(const reef_pair *pairs, uint32_t count, uint32_t part, void *context);
    void *context;
} reef_place_pairs;

/* Finds all pairs. While systems run it stays on the calling thread. Errors: BAD_ARGUMENT, NO_MEMORY (some pairs were
 * not handed out); they aren't recorded as the world's last error. */
REEF_API reef_status reef_place_pairs_each(const reef_place *place, const reef_place_pairs *pairs);
/* The number of parts in which pairs come. It depends on the entities alone. */
REEF_API uint32_t reef_place_parts(const reef_place *place);

/* ---- a world that is a part of a larger one ---- */

/* Says that a world has ghosts: entities of its neighbours, which are disabled as a whole and have this tag
 * (reef_ranks.h makes them, and this call, for a config with `reach`). From now on they are in the world's pictures.
 * They show only what is no further away than `reach`, so a question that reaches further finds nothing, and pairs are
 * BAD_ARGUMENT: one with a larger radius (of the nearest ones: or with none), a box of which half of the diagonal is
 * longer, a segment that is longer with its radius. A reach of 0: the world has no ghosts, and all questions are
 * answered. Pictures that were made are gone. Errors: UNKNOWN_TYPE, BAD_ARGUMENT (no tag in the table; a reach below 0
 * or NaN), LOCKED. */
REEF_API reef_status reef_place_ghosts(reef_world *world, reef_component ghost, double reach);
/* How far the furthest question reached that was refused since the last call, and the type whose place it asked (NULL
 * is allowed). 0: none was. LOCKED and 0 while systems run. */
REEF_API double reef_place_beyond(reef_world *world, reef_component *type);

REEF_END_C

#endif
