/* The inlined functions as exported functions, for languages that can't compile C (reef/plain.h). */
#include "base/platform.h"
#include "storage/library.h"
#include "reef/all.h"
#include "reef/plain.h"

bool reef_plain_entity_equal(reef_entity a, reef_entity b) { return reef_entity_equal(a, b); }
bool reef_plain_ref_equal(const reef_ref *a, const reef_ref *b) { return a && b ? reef_ref_equal(a, b) : a == b; }
bool reef_plain_entity_is_null(reef_entity e) { return reef_entity_is_null(e); }
bool reef_plain_query_is_null(reef_query q) { return reef_query_is_null(q); }
bool reef_plain_system_is_null(reef_system_id s) { return reef_system_is_null(s); }
bool reef_plain_observer_is_null(reef_observer_id o) { return reef_observer_is_null(o); }
bool reef_plain_removals_is_null(reef_removals r) { return reef_removals_is_null(r); }
bool reef_plain_event_reader_is_null(reef_event_reader r) { return reef_event_reader_is_null(r); }
bool reef_plain_pin_is_null(reef_pinned p) { return reef_pin_is_null(p); }
bool reef_plain_ref_is_null(const reef_ref *r) { return r == NULL || reef_ref_is_null(r); }
uint64_t reef_plain_entity_bits(reef_entity e) { return reef_entity_bits(e); }

reef_value reef_plain_value_make(reef_component c, reef_value_kind kind, uint32_t size, const void *data)
{
    return reef_value_make(c, kind, size, data);
}
reef_value reef_plain_script_value(const reef_script *s) { return reef_script_value(s); }
void *reef_plain_sub_cell(reef_strided values, uint32_t i) { return reef_sub_cell(values, i); }
bool reef_plain_change_has_field(const reef_change *change, const reef_field *fields, uint32_t i)
{
    return change && fields && reef_change_has_field(change, fields, i);
}

const uint64_t *reef_plain_block_mask(const reef_block *b) { return reef_block_mask(b); }
bool reef_plain_row_next(reef_row *row) { return row && reef_row_next(row); }
const void *reef_plain_next_event(reef_events *events) { return events ? reef_next_event(events) : NULL; }

reef_ref reef_plain_ref_make_id(const reef_world *w, reef_entity e, reef_component c)
{
    return reef_ref_make_id(w, e, c);
}
const void *reef_plain_ref_get_id(const reef_world *w, reef_ref *r)
{
    return WORLD_GIVEN(w) && r ? reef_ref_get_id(w, r) : NULL;
}

uint64_t reef_plain_key_u32(uint32_t x) { return reef_key_u32(x); }
uint64_t reef_plain_key_u64(uint64_t x) { return reef_key_u64(x); }
uint64_t reef_plain_key_i32(int32_t x) { return reef_key_i32(x); }
uint64_t reef_plain_key_i64(int64_t x) { return reef_key_i64(x); }
uint64_t reef_plain_key_f32(float x) { return reef_key_f32(x); }
uint64_t reef_plain_key_f64(double x) { return reef_key_f64(x); }
uint64_t reef_plain_key_entity(reef_entity e) { return reef_key_entity(e); }

uint32_t reef_plain_random_u32(reef_random *r) { return r ? reef_random_u32(r) : 0; }
uint64_t reef_plain_random_u64(reef_random *r) { return r ? reef_random_u64(r) : 0; }
float reef_plain_random_float(reef_random *r) { return r ? reef_random_float(r) : 0; }
