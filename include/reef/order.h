/* Orders: what rows are sorted by.
 *
 *     (reef_order){0}                                                      by entity
 *     (reef_order){.component = reef_id(Depth), .field = "z"}              by a described field (REEF_FIELDS)
 *     (reef_order){.component = reef_id(Depth), .key = depth_key, .descending = true}
 *     (reef_order){.relation = reef_id(ChildOf)}                           parents before their children
 *     (reef_order){.relation = reef_id(DockedTo)}                          by the target of a relation
 *
 * A key is a number of 64 bits whose order is that of the values. A key function makes a key of a value:
 *
 *     static uint64_t depth_key(const void *value) { return reef_key_f32(((const Depth *)value)->z); }
 *
 * The component may have any home. Rows with equal keys are ordered by entity (its index), so an order depends on the
 * world's state alone, not on its history. */
#ifndef REEF_ORDER_H
#define REEF_ORDER_H

#include "type.h"

REEF_BEGIN_C

/* A key function. The key must depend on the value alone, and the function must not call reef on the same world. */
typedef uint64_t (*reef_key)(const void *value);

/* What rows are sorted by; {0}: by entity. */
typedef struct reef_order {
    reef_component component; /* a type with data; {0}: by entity, and then `key` and `field` must be NULL */
    /* NULL: by `field`. A type in REEF_SPLIT has no struct in memory, so give the type of one of its parts instead */
    reef_key key;
    /* name of a field with one element (REEF_CHAR: up to 8 bytes). If it and `key` are NULL: the type's only field */
    const char *field;
    bool descending; /* the largest key first; equal keys still by entity */
    /* by the place of the component's values in their store, so that a loop reads rows and values in the order of
     * memory. For types in REEF_SPARSE, REEF_PAGED and REEF_COLD; `key` and `field` must be NULL */
    bool pool;
    /* a type of relations that is exclusive. All other members must be {0}.
     * If it is acyclic, as ChildOf: parents before their children. A query visits the rows by depth, and those of one
     * depth in the visible order; its key is the depth, 0 for those without a parent. Storage is sorted by depth, then
     * by the place of the parent, then in the order of siblings.
     * If not, as DockedTo: by target. A query visits the rows by the target's handle, and those of one target in the
     * visible order; its key is reef_key_entity(target). Storage is sorted by the target's index, then in the order of
     * its sources. Rows without a target come last, with the key UINT64_MAX. */
    reef_component relation;
} reef_order;

/* ---- numbers as keys: a < b exactly when the key of a is smaller ----
 * Keys of 32-bit numbers have 32 bits, so two of them can be joined: reef_key_i32(layer) << 32 | reef_key_f32(z).
 * Floating point: -0 and +0 have the same key; negative infinity comes first; NaNs, whatever their bits, have one
 * key, behind that of positive infinity. */

/* Keys of whole numbers. */
REEF_INLINE uint64_t reef_key_u32(uint32_t x) { return x; }
REEF_INLINE uint64_t reef_key_u64(uint64_t x) { return x; }
REEF_INLINE uint64_t reef_key_i64(int64_t x) { return REEF_CAST(uint64_t, x) ^ REEF_CAST(uint64_t, 1) << 63; }
REEF_INLINE uint64_t reef_key_i32(int32_t x) { return REEF_CAST(uint32_t, x) ^ REEF_CAST(uint32_t, 1) << 31; }
/* Keys of floating point numbers: of 32 bits, */
REEF_INLINE uint64_t reef_key_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) return UINT32_MAX;
    if (u == 0x80000000u) u = 0;
    return u >> 31 ? ~u : u | 0x80000000u;
}
/* and of 64 bits. */
REEF_INLINE uint64_t reef_key_f64(double x)
{
    const uint64_t sign = REEF_CAST(uint64_t, 1) << 63, infinity = REEF_CAST(uint64_t, 0x7FF) << 52;
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    if ((u & ~sign) > infinity) return UINT64_MAX;
    if (u == sign) u = 0;
    return u & sign ? ~u : u | sign;
}
/* The key of a handle: by index, then by generation. */
REEF_INLINE uint64_t reef_key_entity(reef_entity e) { return REEF_CAST(uint64_t, e.index) << 32 | e.generation; }

REEF_END_C

#endif
