/* Exported functions for what is a macro or inlined in C, for other languages (docs/manual/other-languages.md). C
 * programs don't need this header.
 *
 * Each inlined function reef_x of the other headers is here as reef_plain_x, with the same parameters and the same
 * result, or has another exported function. The typed macros call exported functions that take ids. This table lists
 * the macros and functions whose definition doesn't name their exported function:
 *
 *     reef_next               reef_next_block
 *     reef_each               reef_plain_row_next
 *     reef_create             reef_create_entity
 *     reef_id_of              reef_type_find
 *     reef_resolve            reef_type_find
 *     reef_declare            reef_type_new
 *     reef_undeclare_         reef_type_new
 *     reef_bring_relations_   reef_type_new
 *     reef_bring_hooks_       reef_type_new
 *     reef_bring_rows_        reef_type_new
 *     reef_bring_subtypes_    reef_type_new
 *     reef_get                reef_get_id
 *     reef_mut                reef_mut_id
 *     reef_has                reef_has_id
 *     reef_set                reef_set_id
 *     reef_add                reef_add_id
 *     reef_add_args           reef_add_id
 *     reef_remove             reef_remove_id
 *     reef_enable             reef_enable_id
 *     reef_disable            reef_enable_id
 *     reef_in                 reef_block_in
 *     reef_inout              reef_block_inout
 *     reef_out                reef_block_inout
 *     reef_inout_at           reef_block_inout
 *     reef_in_at              reef_block_in
 *     reef_send               reef_send_id
 *     reef_ref_get            reef_plain_ref_get_id
 *     reef_ref_mut_id         reef_ref_mut_as
 *
 * (scripts/listing reads this table.) Errors, lifetimes and threads are those of the inlined functions. With a pointer
 * that is NULL, a function returns false, 0 or NULL. */
#ifndef REEF_PLAIN_H
#define REEF_PLAIN_H

#include "diff.h"
#include "event_reader.h"
#include "observer.h"
#include "order.h"
#include "loop.h"
#include "random.h"
#include "ref.h"
#include "script.h"
#include "shared.h"
#include "subtype.h"
#include "system.h"
#include "track.h"

REEF_BEGIN_C

/* ---- handles ---- */

/* Are the two the same handle? For references: do they name the same entity, component and world? */
REEF_API bool reef_plain_entity_equal(reef_entity a, reef_entity b);
REEF_API bool reef_plain_ref_equal(const reef_ref *a, const reef_ref *b);
/* Is it {0}? A NULL reference is null as well. */
REEF_API bool reef_plain_entity_is_null(reef_entity entity);
REEF_API bool reef_plain_query_is_null(reef_query query);
REEF_API bool reef_plain_system_is_null(reef_system_id system);
REEF_API bool reef_plain_observer_is_null(reef_observer_id observer);
REEF_API bool reef_plain_removals_is_null(reef_removals removals);
REEF_API bool reef_plain_event_reader_is_null(reef_event_reader reader);
REEF_API bool reef_plain_pin_is_null(reef_pinned pin);
REEF_API bool reef_plain_ref_is_null(const reef_ref *ref);
/* The handle as a number for hash tables and logs: the generation in the upper half, the index in the lower half. */
REEF_API uint64_t reef_plain_entity_bits(reef_entity entity);

/* ---- values ---- */

/* A component with its value, for reef_spawn_values and reef_change_values; `data` is read when those are called. */
REEF_API reef_value reef_plain_value_make(reef_component type, reef_value_kind kind, uint32_t size, const void *data);
/* A script as a value for reef_spawn_values; *script is read when the value is used. */
REEF_API reef_value reef_plain_script_value(const reef_script *script);
/* Value `i` of a strided array (reef_block_sub), for i less than the block's count. NULL if there is none. */
REEF_API void *reef_plain_sub_cell(reef_strided values, uint32_t i);
/* Does field `i` differ in a REEF_CHANGE_VALUE? `fields` is reef_type_info.fields of its component. */
REEF_API bool reef_plain_change_has_field(const reef_change *change, const reef_field *fields, uint32_t i);

/* ---- loops and events ---- */

/* The rows of the block that match: bit i % 64 of word i / 64 is row i; NULL: all rows match. Valid until the next
 * reef_next_block. */
REEF_API const uint64_t *reef_plain_block_mask(const reef_block *block);
/* reef_next. */
REEF_API bool reef_next_block(reef_block *block);
/* Goes to the next row of reef_rows: row->entity, at row->i of row->block. False: there is no more. */
REEF_API bool reef_plain_row_next(reef_row *row);
/* The next event of reef_receive_id; NULL: there is no more. Valid until the system's function returns. */
REEF_API const void *reef_plain_next_event(reef_events *events);

/* ---- references ---- */

/* Makes a reference to a component of an entity, which need not have it: reef/ref.h. */
REEF_API reef_ref reef_plain_ref_make_id(const reef_world *world, reef_entity entity, reef_component component);
/* The value, or NULL. The pointer lives until the next call that takes the world without const. One thread at a time
 * may use a reference. */
REEF_API const void *reef_plain_ref_get_id(const reef_world *world, reef_ref *ref);

/* ---- numbers as keys of orders: a < b exactly when the key of a is smaller ---- */

/* reef/order.h says how floating point is ordered. Any thread. */
REEF_API uint64_t reef_plain_key_u32(uint32_t x);
REEF_API uint64_t reef_plain_key_u64(uint64_t x);
REEF_API uint64_t reef_plain_key_i32(int32_t x);
REEF_API uint64_t reef_plain_key_i64(int64_t x);
REEF_API uint64_t reef_plain_key_f32(float x);
REEF_API uint64_t reef_plain_key_f64(double x);
REEF_API uint64_t reef_plain_key_entity(reef_entity entity);

/* ---- random numbers ---- */

/* The next number of a generator from reef_random_for or reef_random_of: 0 ... 2^32-1; 0 ... 2^64-1; 0 <= x < 1, a
 * multiple of 2^-24. Each value has equal chance. */
REEF_API uint32_t reef_plain_random_u32(reef_random *random);
REEF_API uint64_t reef_plain_random_u64(reef_random *random);
REEF_API float reef_plain_random_float(reef_random *random);

REEF_END_C

#endif
