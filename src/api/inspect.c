/* Looking into a world: visiting and printing everything, and counting. The order depends on the world's state alone:
 * components by type name, tables by the names of their types, entities by index. These calls change nothing, and
 * never show an address or the id of a type. */
#include "type/names.h"
#include "type/type_walk.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/running.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/state_kind.h"
#include "reef/inspect.h"
#include "reef/ref.h"
#include "reef/enable.h"
#include "reef/print.h"
#include "reef/stats.h"
#include "reef/type_info.h"
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the components of one entity ---- */

/* A walk over the components of a row by type name. It merges two sorted sequences: the components in the table, and
 * all others. To find the next one of the others it looks at every switch and every store of the world, so that it
 * needs no list. */
typedef struct row_walk {
    const reef_world *world;
    const shape *shape; /* NULL: no component is in the table */
    const reef_slot *slots;
    uint32_t place, next; /* index in shape->component */
    char *room;           /* REEF_SPLIT_SIZE_MAX bytes, for a value whose parts have to be gathered */
    const type *other;    /* the next component that isn't in the table; NULL: none */
} row_walk;

static reef_entity entity_in(const reef_world *w, uint32_t place)
{
    return slot_entities(reef_slots_at(&w->hot, place))[place_row(place)];
}

/* Returns the component of a row that isn't in its table and follows `last` by name. NULL starts. */
static const type *other_after(const reef_world *w, uint32_t place, const type *last)
{
    const type *best = NULL;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        const type *t = reef__type_of(s->component);
        if (t->bit || s->count == 0 || reef_store_find(s, entity_in(w, place)) == NULL) continue;
        if (type_is_next(t, last, best)) best = t;
    }
    for (uint32_t i = 0; i < w->state.bit_count; i++) {
        const bit_store *b = &w->state.bits[i];
        if ((b->key & BIT_DISABLED) || !bit_read(b, place)) continue;
        const type *t = reef__type_of(b->key);
        if (type_is_next(t, last, best)) best = t;
    }
    return best;
}

static row_walk row_begin(const reef_world *w, uint32_t place, char *room)
{
    row_walk walk = {.world = w, .place = place, .room = room};
    /* the entity has no row, so no components and no switches */
    if (place_unit(place) <= place_unit(PLACE_EMPTY)) return walk;
    walk.slots = reef_slots_at(&w->hot, place);
    const table *t = table_read(w, walk.slots[0].head.table);
    walk.shape = t ? t->shape : NULL;
    walk.other = other_after(w, place, NULL);
    return walk;
}

/* Returns a component's value in the row; NULL for a tag. */
static const void *row_data(const row_walk *walk, const type *t)
{
    if (t->size == 0) return NULL;
    if (t->stored) return store_find(walk->world, t->id, entity_in(walk->world, walk->place));
    if (t->split) return reef__parts_gather(walk->world, walk->place, t, walk->room) ? walk->room : NULL;
    uint32_t k = reef__slot_seek(walk->world, t->id, walk->slots[0].head.table);
    return (const char *)walk->slots[k].block + (size_t)place_row(walk->place) * t->size;
}

/* Returns the next component; NULL: no more. *data is NULL for tags and switches. */
static const type *row_next(row_walk *walk, const void **data)
{
    const shape *s = walk->shape;
    /* parts of a split type are shown with their type */
    while (s && walk->next < s->component_count && reef__type_of(s->component[walk->next])->owner) walk->next++;
    const type *t = s && walk->next < s->component_count ? reef__type_of(s->component[walk->next]) : NULL;
    *data = NULL;
    if (walk->other && (t == NULL || reef__type_compare(walk->other, t) < 0)) {
        t = walk->other;
        walk->other = other_after(walk->world, walk->place, t);
        *data = row_data(walk, t);
        return t;
    }
    if (t == NULL) return NULL;
    walk->next++;
    *data = row_data(walk, t);
    return t;
}

/* Calls the visitor; the world stays while it runs. */
static bool visited(const reef_world *w, reef_visitor visit, void *context, reef_entity e, reef_component c,
                    const void *data, size_t size)
{
    world_hold(w);
    const bool on = visit(context, e, c, data, size);
    world_let_go(w);
    return on;
}

/* Visits the value, or all values that the entity has of the type. */
static bool visit_values(const reef_world *w, const type *t, reef_entity e, const void *data, reef_visitor visit,
                         void *context)
{
    const uint32_t n = t->home == REEF_MULTI ? reef__store_values(w, t, e) : 1;
    if (data) running_read(w, "reef_visit", e, (reef_component){t->id});
    for (uint32_t i = 0; i < n; i++)
        if (!visited(w, visit, context, e, (reef_component){t->id},
                     data ? (const char *)data + (size_t)i * t->size : NULL, t->size))
            return false;
    return true;
}

bool reef_visit_entity(const reef_world *w, reef_entity e, reef_visitor visit, void *context)
{
    uint32_t place = WORLD_GIVEN(w) ? place_of(w, e) : PLACE_DEAD;
    if (place == PLACE_DEAD || visit == NULL) return false;
    _Alignas(BLOCK_ALIGN) char room[REEF_SPLIT_SIZE_MAX];
    row_walk walk = row_begin(w, place, room);
    const void *data;
    for (const type *t; (t = row_next(&walk, &data)) != NULL;)
        if (!visit_values(w, t, e, data, visit, context)) return false;
    return true;
}

/* ---- everything ---- */

typedef struct world_walk {
    const reef_world *world;
    const uint32_t *tables; /* in the visible order */
    uint32_t table_count;
    reef_visitor visit;
    void *context;
} world_walk;

/* Returns how many components of a layout have a name that isn't behind that of t. */
static uint32_t components_through(const shape *s, const type *t)
{
    uint32_t from = 0, to = s->component_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (reef__type_compare(reef__type_of(s->component[middle]), t) <= 0) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* Returns the type in use that follows `last` by name. NULL starts. */
static const type *world_type_after(const world_walk *walk, const type *last)
{
    const reef_world *w = walk->world;
    const type *best = NULL;
    for (uint32_t i = 0; i < walk->table_count; i++) {
        const shape *s = table_read(w, walk->tables[i])->shape;
        uint32_t k = last ? components_through(s, last) : 0;
        while (k < s->component_count && type_known(s->component[k])->owner) k++;
        if (k == s->component_count) continue;
        const type *t = type_known(s->component[k]);
        if (type_is_next(t, NULL, best)) best = t;
    }
    state_key k = state_key_behind(last);
    while (reef__state_next(STATE_BITS, w, NULL, &k) && !(k.key & BIT_DISABLED)) {
        if (reef__bit_count_rows(w, k.key) == 0) continue;
        best = type_first(best, k.type);
        break;
    }
    k = state_key_behind(last); /* a type without bits is in use if it has values */
    while (reef__state_next(STATE_STORES, w, NULL, &k))
        if (store_of(w, k.key)->count) return type_first(best, k.type);
    return best;
}

/* Visits the rows of one chunk that have the type: all of them, or those whose bit is set, or those with a value.
 * `slot` is the slot of its column; 0: it has none. */
static bool visit_chunk(const world_walk *walk, const table *t, uint32_t unit, const type *c, uint32_t slot)
{
    const reef_world *w = walk->world;
    const reef_slot *slots = unit_slots(w, unit);
    const reef_entity *entities = slot_entities(slots);
    const uint64_t *words = c->bit ? bit_words(bit_store_of(w, c->id), unit) : NULL;
    _Alignas(BLOCK_ALIGN) char room[REEF_SPLIT_SIZE_MAX];
    if (c->bit && words == NULL) return true;
    for (uint32_t row = 0, rows = chunk_rows(t, unit); row < rows; row++) {
        if (words && (words[row / 64] >> (row % 64) & 1) == 0) continue;
        const void *data = c->split ? room : slot ? (const char *)slots[slot].block + (size_t)row * c->size : NULL;
        if (c->stored && (data = store_find(w, c->id, entities[row])) == NULL) continue;
        if (c->split) reef__parts_gather(w, unit_place(unit) + row, c, room);
        if (c->size == 0) data = NULL;
        if (!visit_values(w, c, entities[row], data, walk->visit, walk->context)) return false;
    }
    return true;
}

static bool visit_type(const world_walk *walk, const type *c)
{
    for (uint32_t i = 0; i < walk->table_count; i++) {
        const table *t = table_read(walk->world, walk->tables[i]);
        const bool outside = c->bit || c->stored;
        uint32_t slot = outside ? 0 : reef__slot_seek(walk->world, c->id, walk->tables[i]), unit = t->first;
        if (!outside && slot == 0) continue;
        if (c->size == 0) slot = 0;
        for (uint32_t n = 0; n < t->chunks; n++) {
            if (!visit_chunk(walk, t, unit, c, slot)) return false;
            unit = unit_slots(walk->world, unit)[0].head.next;
        }
    }
    return true;
}

static void tables_free(const reef_world *w, uint32_t *tables, uint32_t count)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, tables, count * sizeof *tables);
}

COLD bool reef_visit_world(const reef_world *w, reef_visitor visit, void *context)
{
    uint32_t count = 0;
    if (!WORLD_GIVEN(w) || visit == NULL) return false;
    uint32_t *tables = reef__tables_sorted(w, &count);
    if (tables == NULL) return count == 0;
    world_walk walk = {w, tables, count, visit, context};
    bool whole = true;
    for (const type *t = NULL; whole && (t = world_type_after(&walk, t)) != NULL;) whole = visit_type(&walk, t);
    tables_free(w, tables, count);
    return whole;
}

/* The columns of a split type are shown as that type. */
static bool visit_table(const table *t, reef_table_visitor visit, void *context)
{
    reef_component types[REEF_COMPONENTS_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->shape->component_count; i++)
        if (!type_known(t->shape->component[i])->owner) types[n++].id = t->shape->component[i];
    return n == 0 || visit(context, types, n, table_rows(t));
}

COLD bool reef_visit_tables(const reef_world *w, reef_table_visitor visit, void *context)
{
    uint32_t count = 0;
    if (!WORLD_GIVEN(w) || visit == NULL) return false;
    uint32_t *tables = reef__tables_sorted(w, &count);
    bool whole = tables || count == 0;
    world_hold(w);
    for (uint32_t i = 0; tables && whole && i < count; i++)
        whole = visit_table(table_read(w, tables[i]), visit, context);
    world_let_go(w);
    if (tables) tables_free(w, tables, count);
    return whole;
}

/* Returns the living entity with the lowest index from *index on, and moves *index behind it. A null handle: no
 * more. */
static reef_entity entity_next(const reef_world *w, uint32_t *index)
{
    reef_entity e = {0, 0};
    while (reef_entity_is_null(e) && *index < w->hot.index_count) e = reef_entity_at(w, (*index)++);
    return e;
}

bool reef_visit_entities(const reef_world *w, reef_visitor visit, void *context)
{
    uint32_t index = 0;
    if (!WORLD_GIVEN(w) || visit == NULL) return false;
    for (reef_entity e; !reef_entity_is_null(e = entity_next(w, &index));)
        if (!visited(w, visit, context, e, (reef_component){0}, NULL, 0)) return false;
    return true;
}

/* ---- printing ---- */

enum { PRINT_BYTES_MAX = 32, PRINT_ELEMENTS_MAX = 32 };

/* Writes a number that printf made. The program's locale may have another decimal point, even of several bytes: it
 * becomes one dot. */
static void print_number(FILE *file, const char *text)
{
    bool point = false;
    for (; *text; text++) {
        bool plain = strchr("0123456789+-einfa", *text) != NULL;
        if (plain || !point) fputc(plain ? *text : '.', file);
        point = !plain;
    }
}

/* Writes the shortest text that reads back as the same number. With the most digits it always does. */
static void print_float(FILE *file, double value, bool is_double)
{
    char text[64];
    int digits = is_double ? DBL_DIG : FLT_DIG, most = is_double ? DBL_DECIMAL_DIG : FLT_DECIMAL_DIG;
    if (value != value) {
        fputs("nan", file);
        return;
    }
    for (; digits <= most; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (is_double ? strtod(text, NULL) == value : (double)strtof(text, NULL) == value) break;
    }
    print_number(file, text);
}

static void print_text(FILE *file, const char *text, size_t size)
{
    fputc('"', file);
    for (size_t i = 0; i < size && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
        else if (c == '\n') fputs("\\n", file);
        else if (c == '\t') fputs("\\t", file);
        else if (c < 32 || c == 127) fprintf(file, "\\x%02x", c);
        else fputc(c, file);
    }
    fputc('"', file);
}

static void print_handle(FILE *file, const reef_world *w, reef_entity e)
{
    const char *name = reef_name(w, e);
    if (reef_entity_is_null(e)) fputs("null", file);
    else fprintf(file, "%" PRIu32 "v%" PRIu32, e.index, e.generation);
    if (name) {
        fputc(' ', file);
        print_text(file, name, strlen(name));
    }
}

static void print_element(FILE *file, const reef_world *w, const reef_field *f, const unsigned char *data)
{
    float single;
    double wide;
    reef_entity entity;
    if (f->names) {
        char text[REEF_NAMES_TEXT_MAX];
        (void)reef_names_write(f->names, reef__whole_read(f->kind, data), text, sizeof text);
        fputs(text, file);
        return;
    }
    switch (f->kind) {
    case REEF_BOOL: fputs(*data ? "true" : "false", file); break;
    case REEF_F32:
        memcpy(&single, data, sizeof single);
        print_float(file, (double)single, false);
        break;
    case REEF_F64:
        memcpy(&wide, data, sizeof wide);
        print_float(file, wide, true);
        break;
    case REEF_ENTITY:
        memcpy(&entity, data, sizeof entity);
        print_handle(file, w, entity);
        break;
    case REEF_CHAR: break; /* print_field writes texts as a whole */
    case REEF_U64: fprintf(file, "%" PRIu64, (uint64_t)reef__whole_read(f->kind, data)); break;
    default: fprintf(file, "%" PRId64, reef__whole_read(f->kind, data)); break;
    }
}

static void print_array(FILE *file, const reef_world *w, const reef_field *f, const unsigned char *data)
{
    uint32_t size = reef__kind_size(f->kind), count = f->bytes / size;
    fputc('[', file);
    for (uint32_t i = 0; i < count && i < PRINT_ELEMENTS_MAX; i++) {
        if (i) fputs(", ", file);
        print_element(file, w, f, data + (size_t)i * size);
    }
    fputs(count > PRINT_ELEMENTS_MAX ? ", ...]" : "]", file);
}

static void print_field(FILE *file, const reef_world *w, const reef_field *f, const unsigned char *data)
{
    if (f->kind == REEF_CHAR) print_text(file, (const char *)data, f->bytes);
    else if (f->bytes > reef__kind_size(f->kind)) print_array(file, w, f, data);
    else print_element(file, w, f, data);
    if (f->unit) fprintf(file, " %s", f->unit);
}

static void print_bytes(FILE *file, const unsigned char *data, uint32_t size)
{
    for (uint32_t i = 0; i < size && i < PRINT_BYTES_MAX; i++) fprintf(file, "%s%02x", i ? " " : "", data[i]);
    if (size > PRINT_BYTES_MAX) fprintf(file, " ... (%" PRIu32 " bytes)", size);
}

static void print_value(FILE *file, const reef_world *w, const reef_type_info *info, const unsigned char *data)
{
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (info->relation && i == 1) continue; /* its place, a number that says nothing alone */
        fprintf(file, "%s%s ", i ? ", " : "", info->fields[i].name);
        print_field(file, w, &info->fields[i], data + info->fields[i].offset);
    }
    if (info->field_count == 0) print_bytes(file, data, info->size);
}

static void print_component(FILE *file, const reef_world *w, reef_entity e, const type *t, const void *data)
{
    reef_type_info info;
    fprintf(file, "  %s%s", t->name, reef_is_enabled_id(w, e, (reef_component){t->id}) ? "" : " (disabled)");
    if (data && reef_type_get((reef_component){t->id}, &info)) {
        fputs("  ", file);
        print_value(file, w, &info, data);
    }
    if (t->home == REEF_SHARED) {
        const reef_entity first = reef__shared_first(store_of(w, t->id), e);
        if (!reef_entity_equal(first, e)) fputs("  shared with ", file), print_handle(file, w, first);
    }
    fputc('\n', file);
}

static COLD void print_entity(FILE *file, const reef_world *w, reef_entity e)
{
    uint32_t place = place_of(w, e);
    fputs("entity ", file);
    print_handle(file, w, e);
    if (place != PLACE_DEAD && !reef_is_enabled_id(w, e, (reef_component){0})) fputs(" (disabled)", file);
    fputs(place == PLACE_DEAD && !reef_entity_is_null(e) ? " is not alive\n" : "\n", file);
    if (place == PLACE_DEAD) return;
    _Alignas(BLOCK_ALIGN) char room[REEF_SPLIT_SIZE_MAX];
    row_walk walk = row_begin(w, place, room);
    const void *data;
    for (const type *t; (t = row_next(&walk, &data)) != NULL;)
        for (uint32_t i = 0, n = t->home == REEF_MULTI ? reef__store_values(w, t, e) : 1; i < n; i++)
            print_component(file, w, e, t, data ? (const char *)data + (size_t)i * t->size : NULL);
}

/* What is still in the stream's buffer may fail to be written, too. */
static bool print_done(FILE *file) { return fflush(file) == 0 && !ferror(file); }

COLD bool reef_print(const reef_world *w, reef_entity e, FILE *file)
{
    if (!WORLD_GIVEN(w) || file == NULL) return false;
    print_entity(file, w, e);
    return print_done(file);
}

COLD bool reef_print_value(const reef_world *w, reef_component c, const reef_field *field, const void *data, FILE *file)
{
    reef_type_info info;
    if (!WORLD_GIVEN(w) || file == NULL || !reef_type_get(c, &info)) return false;
    if (data && field) print_field(file, w, field, (const unsigned char *)data + field->offset);
    else if (data) print_value(file, w, &info, data);
    return !ferror(file);
}

/* The table of entities without components isn't listed: which of them have a row there depends on history, not on the
 * state. */
static void print_table(FILE *file, const table *t)
{
    const shape *s = t->shape;
    if (s->component_count == 0) return;
    fprintf(file, "  %" PRIu64 "  ", table_rows(t));
    for (uint32_t i = 0; i < s->component_count; i++)
        fprintf(file, "%s%s", i ? ", " : "", type_known(s->component[i])->name);
    fputc('\n', file);
}

/* Prints the numbers of events that wait for a system. */
static void print_events(FILE *file, const reef_world *w)
{
    for (state_key k = {0}; reef__state_next(STATE_EVENTS, w, NULL, &k);) {
        const uint64_t count = reef__events_waiting(w, reef__events_of(w, k.key)).count;
        if (count) fprintf(file, "  events %s: %" PRIu64 "\n", k.type->name, count);
    }
}

static void print_entities(FILE *file, const reef_world *w, uint64_t most)
{
    uint64_t alive = reef_count_alive(w), printed = 0;
    uint32_t index = 0;
    for (; printed < alive && printed < most; printed++) print_entity(file, w, entity_next(w, &index));
    if (printed < alive) fprintf(file, "... and %" PRIu64 " more\n", alive - printed);
}

COLD bool reef_print_world(const reef_world *w, FILE *file, uint64_t entities_max)
{
    uint32_t count = 0;
    if (!WORLD_GIVEN(w) || file == NULL) return false;
    uint32_t *tables = reef__tables_sorted(w, &count);
    if (tables == NULL && count != 0) return false;
    reef_stats s = reef_world_stats(w);
    fprintf(file,
            "world: entities %" PRIu64 ", without components %" PRIu64 ", tables %" PRIu64 ", names %" PRIu64 "\n",
            s.entities, s.entities_empty, s.tables, s.names);
    for (uint32_t i = 0; i < count; i++) print_table(file, table_read(w, tables[i]));
    if (tables) tables_free(w, tables, count);
    print_events(file, w);
    print_entities(file, w, entities_max);
    return print_done(file);
}

/* ---- counting ---- */

static void stats_count_tables(const reef_world *w, reef_stats *s)
{
    EACH_TABLE(w, t)
    {
        s->blocks += t->chunks;
        if (t->shape->table == TABLE_EMPTY) {
            s->entities_empty += table_rows(t);
            continue;
        }
        s->tables_known++;
        s->tables += table_rows(t) != 0;
    }
}

static void stats_count_bytes(memory *m, reef_stats *s)
{
    s->bytes_spare = reef__memory_spare(m);
    mutex_lock(&m->lock);
    s->bytes_total = m->bytes;
    s->bytes_rows = m->used[MEMORY_ROWS];
    s->bytes_index = m->used[MEMORY_INDEX];
    s->bytes_tables = m->used[MEMORY_TABLES];
    s->bytes_names = m->used[MEMORY_NAMES];
    s->bytes_bits = m->used[MEMORY_BITS];
    s->bytes_hashes = m->used[MEMORY_HASHES];
    s->bytes_tracks = m->used[MEMORY_TRACKS];
    s->bytes_events = m->used[MEMORY_EVENTS];
    s->bytes_stores = m->used[MEMORY_STORES];
    mutex_unlock(&m->lock);
}

COLD reef_stats reef_world_stats(const reef_world *w)
{
    reef_stats s = {0};
    if (!WORLD_GIVEN(w)) return s;
    s.entities = reef_count_alive(w);
    s.entities_empty = w->hot.empty_count;
    s.indices = w->hot.index_count;
    s.free_ids = w->state.ring_tail - w->state.ring_head - w->state.ring_holes;
    s.names = w->state.name_count;
    for (uint32_t i = 1; i < w->state.store_count; i++) s.values += w->state.stores[i].count;
    for (uint32_t i = 0; i < w->state.event_count; i++) s.events += w->state.events[i].tail - w->state.events[i].head;
    for (uint32_t i = 0; i < w->state.used_words; i++) s.types += bits_count(w->state.used_types[i]);
    stats_count_tables(w, &s);
    stats_count_bytes(&w->family->memory, &s);
    s.destroyed = w->destroyed;
    s.spawned = s.entities + s.destroyed; /* the inlined reef_create counts nothing */
    s.moved = rows_moved(w);
    return s;
}
