/* Values: lists of components with their values, as reef_spawn and reef_change take them.
 *
 *     reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry));
 *
 * A reef_value only points to the bytes; they are read during the call and not kept. */
#ifndef REEF_VALUE_H
#define REEF_VALUE_H

#include "type.h"

REEF_BEGIN_C

/* Where a component's value comes from. */
typedef enum reef_value_kind {
    REEF_VALUE_ONE = 0, /* data points to one value, copied (or moved, if the type can't be copied) to each entity */
    REEF_VALUE_ARRAY,   /* data points to an array with one value for each entity, `size` bytes apart */
    REEF_VALUE_DEFAULT, /* zeroed or constructed; data is passed to the constructor as args */
    REEF_VALUE_REMOVE   /* reef_change only: remove the component */
} reef_value_kind;

/* A component with its value, one of a list. */
typedef struct reef_value {
    reef_component component;
    reef_value_kind kind;
    uint32_t size;    /* of one value in bytes; must be that of the type (WRONG_SIZE) */
    const void *data; /* read during the call only; may point into the world */
} reef_value;

REEF_END_C

/* ---- typed macros ---- */

/* Arguments of reef_spawn and reef_change: a tag, a default value, one array element for each entity, and a component
 * to be removed. reef_with, below, gives a value. */
#define reef_tag(T) reef_value_make(reef_id(T), REEF_VALUE_DEFAULT, 0, NULL)
#define reef_default(T) reef_value_make(reef_id(T), REEF_VALUE_DEFAULT, 0, NULL)
#define reef_array(T, pointer) \
    reef_value_make(reef_id(T), REEF_VALUE_ARRAY, REEF_CAST(uint32_t, sizeof(T)), REEF_CHECK_POINTER_(T, pointer))
#define reef_without(T) reef_value_make(reef_id(T), REEF_VALUE_REMOVE, 0, NULL)

/* The macros above call this. */
REEF_INLINE reef_value reef_value_make(reef_component c, reef_value_kind kind, uint32_t size, const void *data)
{
    reef_value v;
    v.component = c;
    v.kind = kind;
    v.size = size;
    v.data = data;
    return v;
}

#ifndef __cplusplus

/* A pointer to another type doesn't compile. */
#define REEF_CHECK_POINTER_(T, pointer) \
    _Generic((pointer), T * : (pointer), const T * : (pointer), void * : (pointer), const void * : (pointer))
#define REEF_CHECK_MUTABLE_(T, pointer) _Generic((pointer), T * : (pointer), void * : (pointer))
#define REEF_VALUES_(...) \
    (const reef_value[]){__VA_ARGS__}, \
        REEF_CAST(uint32_t, sizeof((const reef_value[]){__VA_ARGS__}) / sizeof(reef_value))
/* reef_with(Position, 1, 2): the arguments are those of an initialiser, which may be designated */
#define reef_with(T, ...) \
    reef_value_make(reef_id(T), REEF_VALUE_ONE, REEF_CAST(uint32_t, sizeof(T)), &(const T){__VA_ARGS__})
#else

/* Templates need C++ linkage. */
template <class T> struct reef_with_value {
    reef_component component;
    T value;
    operator reef_value() const
    {
        return reef_value_make(component, REEF_VALUE_ONE, REEF_CAST(uint32_t, sizeof(T)), &value);
    }
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
    static const uint32_t value = static_cast<uint32_t>(N);
};
template <class... V> reef_count_of<sizeof...(V)> reef_count_arguments(const V &...v);

#define REEF_CHECK_POINTER_(T, pointer) reef_checked_pointer<T>(pointer)
#define REEF_CHECK_MUTABLE_(T, pointer) reef_checked_mutable<T>(pointer)
#define REEF_VALUES_(...) reef_make_values(__VA_ARGS__).v, decltype(reef_count_arguments(__VA_ARGS__))::value
#define reef_with(T, ...) (reef_with_value<T>{reef_id(T), T{__VA_ARGS__}})
#endif

#endif
