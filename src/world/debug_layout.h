/* How the structures of a world lie in memory, for debuggers: the one description from which packaging/debugger works.
 *
 * The program itself carries this table of names, offsets and sizes, so that gdb can read a world in a process or in a
 * core file without debug information of reef, whatever its version, options and machine, and without calling
 * anything. What natvis shows in Visual Studio may only use the members that are named here (tests/debugger checks it).
 *
 * A member that is renamed or gone doesn't compile here. One that means something else must get another name, or the
 * tests of the printers fail, which compare them with reef_print, reef_print_world and reef_query_text. */
#ifndef REEF_WORLD_DEBUG_LAYOUT_H
#define REEF_WORLD_DEBUG_LAYOUT_H

#include "base/platform.h"
#include "reef/term.h"

/* S(struct): its size; its members follow. M(struct, member): its offset and size. A(struct, member): the offset of the
 * array at its end. N(name): a number */
#define DEBUG_LAYOUT(M, A, S, N) \
    S(reef_world) \
    M(reef_world, hot.records) \
    M(reef_world, hot.chunks) \
    M(reef_world, hot.index_count) \
    M(reef_world, hot.number) \
    M(reef_world, hot.version) \
    M(reef_world, hot.stores) \
    M(reef_world, hot.empty_count) \
    M(reef_world, debug) \
    M(reef_world, locks) \
    M(reef_world, paused) \
    M(reef_world, queries) \
    M(reef_world, query_room) \
    M(reef_world, state.tables) \
    M(reef_world, state.bits) \
    M(reef_world, state.bit_count) \
    M(reef_world, state.store_count) \
    M(reef_world, state.name_entries) \
    M(reef_world, state.name_by_index) \
    M(reef_world, state.name_buckets) \
    M(reef_world, state.name_count) \
    M(reef_world, state.ticks) \
    M(reef_world, state.time_ns) \
    S(reef_paged) \
    M(reef_paged, page) \
    M(reef_paged, count) \
    S(reef_table) \
    M(reef_table, shape) \
    M(reef_table, last) \
    M(reef_table, chunks) \
    M(reef_table, next) \
    S(shape) \
    M(shape, table) \
    M(shape, component_count) \
    M(shape, column_count) \
    M(shape, component) \
    M(shape, columns) \
    S(column) \
    M(column, type) \
    S(reef_slot) \
    M(reef_slot, block) \
    M(reef_slot, head.table) \
    S(bit_store) \
    M(bit_store, key) \
    M(bit_store, words) \
    S(reef_store) \
    M(reef_store, values) \
    M(reef_store, index) \
    M(reef_store, component) \
    M(reef_store, size) \
    M(reef_store, offset) \
    M(reef_store, bits) \
    M(reef_store, paged) \
    M(reef_store, multi) \
    M(reef_store, shared) \
    M(reef_store, count) \
    S(name_entry) \
    M(name_entry, entity) \
    M(name_entry, text) \
    S(type) \
    M(type, name) \
    M(type, id) \
    M(type, size) \
    M(type, bit) \
    M(type, stored) \
    M(type, split) \
    M(type, owner) \
    M(type, offset) \
    M(type, part_count) \
    M(type, parts) \
    M(type, relation) \
    M(type, fields) \
    M(type, field_count) \
    S(reef_field) \
    M(reef_field, name) \
    M(reef_field, kind) \
    M(reef_field, offset) \
    M(reef_field, bytes) \
    M(reef_field, unit) \
    M(reef_field, names) \
    S(reef_names) \
    M(reef_names, values) \
    M(reef_names, count) \
    M(reef_names, mask) \
    S(reef_named_value) \
    M(reef_named_value, name) \
    M(reef_named_value, value) \
    S(query_slot) \
    M(query_slot, query) \
    M(query_slot, kept) \
    M(query_slot, generation) \
    M(query_slot, world) \
    S(reef_query_data) \
    M(reef_query_data, ranking) \
    M(reef_query_data, plan) \
    M(reef_query_data, entities) \
    M(reef_query_data, asked_count) \
    A(reef_query_data, asked) \
    S(kept_query) \
    M(kept_query, by) \
    M(kept_query, names) \
    M(kept_query, entities) \
    M(kept_query, count) \
    A(kept_query, terms) \
    S(ordering) \
    M(ordering, relation) \
    S(target_plan) \
    M(target_plan, names) \
    S(reef_term) \
    M(reef_term, component) \
    M(reef_term, access) \
    M(reef_term, op) \
    M(reef_term, enabled) \
    M(reef_term, since) \
    M(reef_term, count) \
    M(reef_term, subtypes) \
    M(reef_term, source) \
    M(reef_term, each) \
    M(reef_term, self) \
    M(reef_term, variable) \
    M(reef_term, target_variable) \
    M(reef_term, target) \
    M(reef_term, up) \
    M(reef_term, up_most) \
    M(reef_term, conditions) \
    S(reef_condition) \
    M(reef_condition, field) \
    M(reef_condition, compare) \
    M(reef_condition, value) \
    M(reef_condition, last) \
    S(reef_literal) \
    M(reef_literal, kind) \
    M(reef_literal, u64) \
    M(reef_literal, text) \
    N(REEF_ROW_BITS) \
    N(REEF_RECORD_BITS) \
    N(REEF_UNIT_BITS) \
    N(REEF_UNIT_SLOTS) \
    N(REEF_INDEX_BITS) \
    N(REEF_VARIABLE_NAME_MAX) \
    N(REEF_EXCLUSIVE) \
    N(REEF_ACYCLIC) \
    N(TABLES_PER_PAGE) \
    N(TABLE_EMPTY) \
    N(SLOT_COLUMNS) \
    N(NAMES_PER_PAGE) \
    N(NAME_BUCKETS_PER_PAGE) \
    N(TYPE_PAGE_BITS)

typedef struct debug_entry {
    uint32_t offset, size; /* of a struct 0 and its size; of a number its value and 0 */
} debug_entry;
/* What a debugger finds by the symbol reef_debug_layout. This form itself changes with `form`. */
typedef struct debug_layout {
    char magic[8]; /* "reefdbg" */
    uint32_t form, count;
    const debug_entry *entries;
    /* of the entries, each with a zero behind it: "struct", ".member" of the struct before it, or a number's name */
    const char *names;
    const void *type_pages; /* reef__type_pages */
} debug_layout;
REEF_API extern const debug_layout reef_debug_layout;

#endif
