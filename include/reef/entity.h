/* Entities: making, changing, reading, destroying.
 *
 * Every typed macro stands over a plain function that takes component ids, for tools and other languages:
 *
 *     reef_entity fish = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 2), reef_tag(Hungry));
 *     reef_set(w, fish, Position, 3, 4);              adds or replaces
 *     const Position *p = reef_get(w, fish, Position);
 *     reef_mut(w, fish, Position)->x += 1;
 *     reef_change(w, fish, reef_with(Dead, 7), reef_without(Velocity), reef_without(Hungry));     one move
 *     reef_destroy(w, fish);
 *
 * Which word when: `add` makes a zero or constructed value and refuses if it is there (EXISTS); `set` takes a value and
 * adds or replaces (ADDED or OK); `ensure` gives the one that is there, or makes it.
 *
 * Errors of every call that changes an entity: NOT_ALIVE, UNKNOWN_TYPE, LOCKED (a loop is open), NO_MEMORY; further
 * ones stand beside the call. After an error everything is as it was. */
#ifndef REEF_ENTITY_H
#define REEF_ENTITY_H

#include "world.h"

REEF_BEGIN_C

/* ---- lists of components with values ---- */

/* Where a component's value comes from. */
typedef enum reef_value_kind {
    REEF_VALUE_ONE = 0, /* data points to one value, copied (or moved, for types that can't be copied) to each entity */
    REEF_VALUE_ARRAY,   /* data points to as many values as entities are made, `size` bytes apart */
    REEF_VALUE_DEFAULT, /* zero or constructed; data goes to the constructor as args */
    REEF_VALUE_REMOVE   /* reef_change only: take the component away */
} reef_value_kind;

/* A component with its value, one of a list. */
typedef struct reef_value {
    reef_component component;
    reef_value_kind kind;
    uint32_t size;    /* of one value; must be the component's (WRONG_SIZE) */
    const void *data; /* read during the call only; may point into the world */
} reef_value;

/* ---- making ---- */

/* Makes an entity with these components in one step. A component named twice is DUPLICATE_TERM. Further errors: LIMIT,
 * WRONG_SIZE, BAD_ARGUMENT. Returns null on failure. */
REEF_API reef_entity reef_spawn_values(reef_world *world, const reef_value *values, uint32_t count);
/* Makes `n` entities with the same set; ids go to `entities` (room for n, NULL: not wanted). All or none; where it
 * fails, `entities` is as it was or null. */
REEF_API reef_status reef_spawn_many_values(reef_world *world, uint32_t n, reef_entity *entities,
                                            const reef_value *values, uint32_t count);
/* Makes `n` copies of `source`: all components, not the name. Further errors: NOT_COPYABLE, LIMIT. All or none, as
 * above. */
REEF_API reef_status reef_clone_many(reef_world *world, reef_entity source, uint32_t n, reef_entity *entities);
/* One copy. Null on failure: the same. */
REEF_API reef_entity reef_clone(reef_world *world, reef_entity source);
/* An entity without components. (Inlined: see fast.h.) Null on failure. */
REEF_API reef_entity reef_create_entity(reef_world *world);

/* Takes an id out of circulation without making the entity: for handing out ids ahead. It is not alive until
 * reef_create_as makes it so; reef_release_id puts it back. Null on failure. */
REEF_API reef_entity reef_reserve_id(reef_world *world);
/* Puts a reserved id back; its index is given out again with the next generation. Errors: BAD_ARGUMENT (it isn't
 * reserved), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_release_id(reef_world *world, reef_entity reserved);
/* Makes the entity of a given id, without components: reserved before, or from a file or the network. Errors: EXISTS
 * (the index is alive; its owner keeps everything), BAD_ARGUMENT (null, or a generation that was used up before),
 * LIMIT. Costs O(free ids) when the id wasn't reserved, O(gap) when the index is new. */
REEF_API reef_status reef_create_as(reef_world *world, reef_entity wanted);

/* A prepared set for spawning the same kind of entity many times: the values lie one after the other in the caller's
 * struct or array, at the offsets given. Freed with its world or by reef_bundle_free. NULL on failure. */
typedef struct reef_bundle reef_bundle;
typedef struct reef_bundle_part {
    reef_component component;
    uint32_t offset; /* of the value in the struct given to reef_spawn_bundle */
} reef_bundle_part;
/* Prepares one of these parts, at most REEF_BUNDLE_MAX. The world owns it; `parts` is read during the call only.
 * NULL on failure: UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT, BAD_ARGUMENT, NO_MEMORY. */
REEF_API reef_bundle *reef_bundle_new(reef_world *world, const reef_bundle_part *parts, uint32_t count);
/* Before its world is freed, not after. NULL is allowed. */
REEF_API void reef_bundle_free(reef_bundle *bundle);
/* Makes one entity of the bundle's set with the values in `packed`. Further errors: OTHER_WORLD. Null on failure. */
REEF_API reef_entity reef_spawn_bundle(reef_world *world, const reef_bundle *bundle, const void *packed);

/* ---- destroying ---- */

/* Destroys an entity with all that it has; destroy hooks run. Its handle is dead from then on, its index may be
 * given out again with another generation. */
REEF_API reef_status reef_destroy(reef_world *world, reef_entity entity);
/* Destroys those that are alive, in the array's order; returns how many died. Null and dead ones are skipped.
 * LOCKED: 0. */
REEF_API uint32_t reef_destroy_many(reef_world *world, const reef_entity *entities, uint32_t n);
/* Destroys every entity that has all of these components (an empty list: every entity). `destroyed` may be NULL. */
REEF_API reef_status reef_destroy_with_types(reef_world *world, const reef_component *types, uint32_t count,
                                             uint64_t *destroyed);
/* Takes a component away from every entity that has it. `removed` may be NULL. */
REEF_API reef_status reef_clear_type(reef_world *world, reef_component type, uint64_t *removed);

/* ---- changing ---- */

/* Adds a zero or constructed component. `args` go to the constructor. `out`, if not NULL, gets the new component (for a
 * tag: NULL). Errors: EXISTS. */
REEF_API reef_status reef_add_id(reef_world *world, reef_entity entity, reef_component type, const void *args,
                                 void **out);
/* Adds or replaces: ADDED or OK. The value is copied; a type without copy is moved out of `value`. Errors:
 * WRONG_SIZE. */
REEF_API reef_status reef_set_id(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                 size_t size);
/* The same, quicker for types outside of tables: reef_set takes it for them. */
REEF_API reef_status reef_set_stored(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                     size_t size);
/* The component that is there, or a new one (zero or constructed with `args`). NULL on failure and for tags. */
REEF_API void *reef_ensure_id(reef_world *world, reef_entity entity, reef_component type, const void *args);
/* Errors: ABSENT. */
REEF_API reef_status reef_remove_id(reef_world *world, reef_entity entity, reef_component type);
/* Removes all components; the entity lives on, and keeps its name. */
REEF_API reef_status reef_remove_all(reef_world *world, reef_entity entity);
/* Several at once in one move: values that are there are replaced, missing ones added, REEF_VALUE_REMOVE ones taken
 * away (those that are absent are no error here). A component named twice is DUPLICATE_TERM. */
REEF_API reef_status reef_change_values(reef_world *world, reef_entity entity, const reef_value *values,
                                        uint32_t count);

/* ---- reading: these take a const world and may run on several threads ---- */

/* Is the handle that of a living entity of this world? */
REEF_API bool reef_is_alive(const reef_world *world, reef_entity entity) REEF_PURE;
/* Has the entity the component, disabled or not? Of the base of subtypes: it or one of them. False if the entity
 * isn't alive. */
REEF_API bool reef_has_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The component, or NULL if the entity isn't alive or hasn't got it. Tags have no data: NULL. */
REEF_API const void *reef_get_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The same for writing: marks the block as changed. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, ABSENT, NO_MEMORY. */
REEF_API void *reef_mut_id(reef_world *world, reef_entity entity, reef_component type);
/* Number of entities that have the component. */
REEF_API uint64_t reef_count_id(const reef_world *world, reef_component type);
/* The living entity of an index, null if there is none. */
REEF_API reef_entity reef_entity_at(const reef_world *world, uint32_t index);
/* Number of living entities. */
REEF_API uint64_t reef_count_alive(const reef_world *world);

/* ---- enabling ----
 *
 * A disabled component stays where it is, value and all: get, mut, set and has don't notice. Only queries do, which
 * skip it unless they ask for it, and those who ask here. The mark goes with the component, and stays when the value
 * is replaced. A whole entity can be disabled as well; that mark stays when all its components go, and goes with the
 * entity. Clones have the marks of their source. Costs about as much as turning a switch; nothing moves. */

/* Enables (`on`) or disables a component, a tag or a switch of an entity, with type {0} the whole entity. What is so
 * already stays so: OK, in an open loop as well. Errors: NOT_ALIVE, UNKNOWN_TYPE, ABSENT (the entity hasn't got the
 * component), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_enable_id(reef_world *world, reef_entity entity, reef_component type, bool on);
/* Is the entity alive, has it the component, and isn't that disabled? With type {0}: is it alive and not disabled as
 * a whole? Each of the two marks is asked for alone. Takes a const world, as reading does. */
REEF_API bool reef_is_enabled_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;

/* Copies the value of a component out, whichever home it has, also one that is split by field (whose struct lies
 * nowhere, so that reef_get is NULL). False, and nothing is written: the entity hasn't got it or isn't alive, `size`
 * isn't that of the type, or the type has hooks that copy or destroy. */
REEF_API bool reef_read_id(const reef_world *world, reef_entity entity, reef_component type, void *out, size_t size);

/* ---- many at random: faster than one by one, since memory is fetched ahead ---- */

/* Copies the components of n entities to `out`, `size` bytes each. Entities that are dead or haven't got it leave their
 * place in `out` as it was. Returns how many were copied. Types with a copy hook: 0. */
REEF_API uint32_t reef_get_many_id(const reef_world *world, reef_component type, const reef_entity *entities,
                                   uint32_t n, void *out, size_t size);
/* Replaces the components of n entities, in the array's order, by the values in `in`. Entities that are dead or haven't
 * got it are skipped. Returns how many were written; fewer than possible when memory ran out (see reef_last_error). */
REEF_API uint32_t reef_write_many_id(reef_world *world, reef_component type, const reef_entity *entities, uint32_t n,
                                     const void *in, size_t size);

REEF_END_C

/* ---- the typed words ---- */

/* reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry)): an entity with these, null on failure. */
#define reef_spawn(world, ...) reef_spawn_values(world, REEF_VALUES_(__VA_ARGS__))
/* reef_spawn_many(w, n, ids, reef_array(Position, positions), reef_with(Velocity, 1, 2)) */
#define reef_spawn_many(world, n, entities, ...) reef_spawn_many_values(world, n, entities, REEF_VALUES_(__VA_ARGS__))
/* reef_change(w, e, reef_with(Position, 1, 2), reef_without(Velocity)): all of it in one move. */
#define reef_change(world, entity, ...) reef_change_values(world, entity, REEF_VALUES_(__VA_ARGS__))
/* reef_destroy_with(w, reef_id(Enemy), reef_id(Dead)) */
#define reef_destroy_with(world, ...) reef_destroy_with_types(world, REEF_TYPES_(__VA_ARGS__), NULL)

/* Arguments of spawn and change: a tag, a default value, one array element an entity, a type that is taken away; and
 * reef_with, a value written out. */
#define reef_tag(T) reef_value_make(reef_id(T), REEF_VALUE_DEFAULT, 0, NULL)
#define reef_default(T) reef_value_make(reef_id(T), REEF_VALUE_DEFAULT, 0, NULL)
#define reef_array(T, pointer) \
    reef_value_make(reef_id(T), REEF_VALUE_ARRAY, (uint32_t)sizeof(T), REEF_CHECK_POINTER_(T, pointer))
#define reef_without(T) reef_value_make(reef_id(T), REEF_VALUE_REMOVE, 0, NULL)

/* What the words above are made of. */
REEF_INLINE reef_value reef_value_make(reef_component c, reef_value_kind kind, uint32_t size, const void *data)
{
    reef_value v;
    v.component = c;
    v.kind = kind;
    v.size = size;
    v.data = data;
    return v;
}

REEF_INLINE reef_component reef_null_component_(void)
{
    reef_component none = {0};
    return none;
}

#ifndef __cplusplus

/* A pointer to another type doesn't compile. */
#define REEF_CHECK_POINTER_(T, pointer) \
    _Generic((pointer), T * : (pointer), const T * : (pointer), void * : (pointer), const void * : (pointer))
#define REEF_CHECK_MUTABLE_(T, pointer) _Generic((pointer), T * : (pointer), void * : (pointer))
#define REEF_VALUES_(...) \
    (const reef_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const reef_value[]){__VA_ARGS__}) / sizeof(reef_value))
#define REEF_TYPES_(...) \
    (const reef_component[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const reef_component[]){__VA_ARGS__}) / sizeof(reef_component))
/* reef_with(Position, 1, 2): the arguments are those of an initialiser, designated ones too */
#define reef_with(T, ...) reef_value_make(reef_id(T), REEF_VALUE_ONE, (uint32_t)sizeof(T), &(const T){__VA_ARGS__})
#else

/* Linkage C++: templates. */
template <class T> struct reef_with_value {
    reef_component component;
    T value;
    operator reef_value() const { return reef_value_make(component, REEF_VALUE_ONE, (uint32_t)sizeof(T), &value); }
};
template <class T> static inline const T *reef_checked_pointer(const T *p) { return p; }
template <class T> static inline T *reef_checked_mutable(T *p) { return p; }
template <size_t N> struct reef_value_list {
    reef_value v[N];
};
template <class... V> static inline reef_value_list<sizeof...(V)> reef_make_values(const V &...v)
{
    return reef_value_list<sizeof...(V)>{{static_cast<reef_value>(v)...}};
}
template <size_t N> struct reef_type_list {
    reef_component v[N];
};
template <class... V> static inline reef_type_list<sizeof...(V)> reef_make_types(V... v)
{
    return reef_type_list<sizeof...(V)>{{v...}};
}
template <size_t N> struct reef_count_of {
    static const uint32_t value = (uint32_t)N;
};
template <class... V> reef_count_of<sizeof...(V)> reef_count_arguments(const V &...v);

#define REEF_CHECK_POINTER_(T, pointer) reef_checked_pointer<T>(pointer)
#define REEF_CHECK_MUTABLE_(T, pointer) reef_checked_mutable<T>(pointer)
#define REEF_VALUES_(...) reef_make_values(__VA_ARGS__).v, decltype(reef_count_arguments(__VA_ARGS__))::value
#define REEF_TYPES_(...) reef_make_types(__VA_ARGS__).v, decltype(reef_count_arguments(__VA_ARGS__))::value
#define reef_with(T, ...) (reef_with_value<T>{reef_id(T), T{__VA_ARGS__}})
#endif

/* By the C name of a type, with the status of the function: reef_add_with hands args to the constructor; reef_ensure
 * gives a T *; reef_read and the two of many entities take pointers to T. */
#define reef_add_with(world, entity, T, args) reef_add_id(world, entity, reef_id(T), args, NULL)
#define reef_ensure(world, entity, T) ((T *)reef_ensure_id(world, entity, reef_id(T), NULL))
#define reef_enable(world, entity, T) reef_enable_id(world, entity, reef_id(T), true)
#define reef_disable(world, entity, T) reef_enable_id(world, entity, reef_id(T), false)
#define reef_is_enabled(world, entity, T) reef_is_enabled_id(world, entity, reef_id(T))
#define reef_enable_entity(world, entity) reef_enable_id(world, entity, reef_null_component_(), true)
#define reef_disable_entity(world, entity) reef_enable_id(world, entity, reef_null_component_(), false)
#define reef_is_enabled_entity(world, entity) reef_is_enabled_id(world, entity, reef_null_component_())
#define reef_count(world, T) reef_count_id(world, reef_id(T))
#define reef_clear_all(world, T) reef_clear_type(world, reef_id(T), NULL)
#define reef_read(world, entity, T, out) reef_read_id(world, entity, reef_id(T), REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_get_many(world, T, entities, n, out) \
    reef_get_many_id(world, reef_id(T), entities, n, REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_write_many(world, T, entities, n, in) \
    reef_write_many_id(world, reef_id(T), entities, n, REEF_CHECK_POINTER_(T, in), sizeof(T))

#endif
