#include "query_naive.h"
#include <math.h>

/* One name is the beginning of another: the order is that of the names, not of a text that joins them. */
naive_type naive_types[NAIVE_TYPES] = {
    {"naive_A", 8, false, false, {0}, REEF_TABLE},  {"naive_AB", 1, false, false, {0}, REEF_TABLE},
    {"naive_B", 4, false, false, {0}, REEF_TABLE},  {"naive_C", 12, false, false, {0}, REEF_TABLE},
    {"naive_D", 40, false, false, {0}, REEF_TABLE}, {"naive_E", 0, false, false, {0}, REEF_TABLE},
    {"naive_F", 0, false, false, {0}, REEF_TABLE},  {"naive_G", 0, true, false, {0}, REEF_BIT},
    {"naive_H", 0, true, false, {0}, REEF_BIT},     {"naive_I", 16, false, true, {0}, REEF_TABLE},
    {"naive_J", 0, false, true, {0}, REEF_TABLE},
};

/* Fields of every kind. What they hold follows from the number of the value: any bits, also those of numbers that are
 * none. */
#define FIELD(name_, kind_, offset_, bytes_) \
    { \
        .name = name_, .kind = kind_, .offset = offset_, .bytes = bytes_ \
    }
static const reef_field fields_A[] = {FIELD("u", REEF_U32, 0, 4), FIELD("i", REEF_I16, 4, 2),
                                      FIELD("yes", REEF_BOOL, 6, 1)},
                        fields_AB[] = {FIELD("v", REEF_U8, 0, 1)}, fields_B[] = {FIELD("x", REEF_F32, 0, 4)},
                        fields_C[] = {FIELD("h", REEF_U16, 0, 2), FIELD("b", REEF_I8, 2, 1), FIELD("i", REEF_I32, 4, 4),
                                      FIELD("f", REEF_F32, 8, 4)},
                        fields_D[] = {FIELD("f", REEF_F64, 0, 8), FIELD("at.i", REEF_I64, 8, 8),
                                      FIELD("u", REEF_U64, 16, 8), FIELD("name", REEF_CHAR, 24, 4),
                                      FIELD("slots", REEF_I16, 28, 12)},
                        fields_I[] = {FIELD("i", REEF_I64, 0, 8), FIELD("few", REEF_U32, 8, 8)};
static const struct {
    const reef_field *fields;
    uint32_t count;
} naive_fields[NAIVE_TYPES] = {{fields_A, 3}, {fields_AB, 1}, {fields_B, 1}, {fields_C, 4}, {fields_D, 5},
                               {NULL, 0},     {NULL, 0},      {NULL, 0},     {NULL, 0},     {fields_I, 2}};

enum { HOMES = REEF_COLD + 1 };
static naive_type variants[HOMES][NAIVE_TYPES]; /* id 0: the type can't live there */

static bool home_fits(const naive_type *t, reef_home home)
{
    if (home == REEF_BIT) return t->size == 0 && !t->tracked;
    return t->size || home == REEF_TABLE || home == REEF_COLD;
}

/* The names of all homes are in the same order. */
static naive_type variant_make(const naive_type *t, reef_home home)
{
    static const reef_hooks tracks = {.track_rows = true};
    static char names[HOMES][NAIVE_TYPES][16];
    reef_status status = REEF_OK;
    naive_type made = *t;
    char *name = names[home][t - naive_types];
    made.home = home;
    made.bit = home == REEF_BIT;
    snprintf(name, sizeof names[0][0], home == REEF_TABLE ? "%s" : "%s%d", t->name, (int)home);
    made.name = name;
    reef_type_desc d = {.name = name, .size = t->size, .home = home, .page_rows = home == REEF_PAGED ? NAIVE_PAGE : 0};
    d.hooks = t->tracked ? &tracks : NULL;
    d.fields = naive_fields[t - naive_types].fields;
    d.field_count = naive_fields[t - naive_types].count;
    made.id = reef_type_new(&d, &status);
    assert_int_equal(status, REEF_OK);
    return made;
}

void naive_types_make(void)
{
    /* Ids in the opposite order: nothing may depend on them. */
    for (uint32_t i = NAIVE_TYPES; i-- > 0;)
        for (uint32_t home = HOMES; home-- > 0;)
            if (home_fits(&naive_types[i], (reef_home)home))
                variants[home][i] = variant_make(&naive_types[i], (reef_home)home);
}

void naive_types_draw(uint64_t *seed)
{
    for (uint32_t i = 0; i < NAIVE_TYPES; i++) {
        uint32_t home = naive_types[i].size || i < 7 || i > 8 ? REEF_TABLE : REEF_BIT;
        if (random_below(seed, 2)) do
                home = random_below(seed, HOMES);
            while (variants[home][i].id.id == 0);
        naive_types[i] = variants[home][i];
    }
}

uint32_t naive_type_of(reef_component c)
{
    uint32_t i = 0;
    while (i < NAIVE_TYPES && naive_types[i].id.id != c.id) i++;
    return i;
}

/* The types that make a table. */
static uint32_t table_types(uint32_t mask)
{
    for (uint32_t i = 0; i < NAIVE_TYPES; i++)
        if (naive_types[i].home != REEF_TABLE) mask &= ~(1u << i);
    return mask;
}

void naive_fill(void *to, uint32_t size, uint32_t value)
{
    uint8_t *p = to;
    for (uint32_t i = 0; i < size; i++) p[i] = (uint8_t)((value >> i % 4 * 8) + i);
}

bool naive_is(const void *p, uint32_t size, uint32_t value)
{
    uint8_t wanted[64];
    naive_fill(wanted, size, value);
    return p && memcmp(p, wanted, size) == 0;
}

/* ---- worlds ---- */

static void *bigger(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (p == NULL) abort();
    return p;
}

void naive_begin(naive_world *n, reef_world *w)
{
    memset(n, 0, sizeof *n);
    n->w = w;
    n->clock = 1;
    n->table_types = table_types((1u << NAIVE_TYPES) - 1);
}

void naive_copy(naive_world *to, const naive_world *from, reef_world *w)
{
    *to = *from;
    to->w = w;
    to->entity = bigger(NULL, (from->entity_room + 1) * sizeof *to->entity);
    if (from->entities) memcpy(to->entity, from->entity, from->entities * sizeof *to->entity);
    to->of_index = bigger(NULL, (from->index_room + 1) * sizeof *to->of_index);
    if (from->index_room) memcpy(to->of_index, from->of_index, from->index_room * sizeof *to->of_index);
    to->table = bigger(NULL, (from->table_room + 1) * sizeof *to->table);
    for (uint32_t i = 0; i < from->tables; i++) {
        naive_table *t = bigger(NULL, sizeof *t);
        *t = *from->table[i];
        t->row = bigger(NULL, (t->room + 1) * sizeof *t->row);
        if (t->count) memcpy(t->row, from->table[i]->row, t->count * sizeof *t->row);
        to->table[i] = to->of_set[t->mask] = t;
    }
}

void naive_end(naive_world *n)
{
    for (uint32_t i = 0; i < n->tables; i++) {
        free(n->table[i]->row);
        free(n->table[i]);
    }
    free(n->table);
    free(n->entity);
    free(n->of_index);
    memset(n, 0, sizeof *n);
}

uint32_t naive_find(const naive_world *n, reef_entity e)
{
    uint32_t i = e.index < n->index_room ? n->of_index[e.index] : UINT32_MAX;
    return i != UINT32_MAX && n->entity[i].alive && reef_entity_equal(n->entity[i].id, e) ? i : UINT32_MAX;
}

bool naive_has_row(const naive_entity *e) { return e->alive && (e->mask || e->off); }

/* Lists of names, compared name by name; the shorter first. */
static int sets_compare(uint32_t a, uint32_t b)
{
    uint32_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < NAIVE_TYPES && !(a >> i & 1)) i++;
        while (k < NAIVE_TYPES && !(b >> k & 1)) k++;
        if (i >= NAIVE_TYPES || k >= NAIVE_TYPES) return i >= NAIVE_TYPES ? (k >= NAIVE_TYPES ? 0 : -1) : 1;
        int c = strcmp(naive_types[i].name, naive_types[k].name);
        if (c) return c;
    }
}

naive_table *naive_table_of(const naive_world *n, const naive_entity *e) { return n->of_set[e->mask & n->table_types]; }

static naive_table *table_make(naive_world *n, uint32_t mask)
{
    uint32_t at = 0;
    for (; at < n->tables && sets_compare(n->table[at]->mask, mask) < 0; at++) {}
    if (n->tables == n->table_room)
        n->table = bigger(n->table, (n->table_room = n->table_room * 2 + 8) * sizeof *n->table);
    memmove(n->table + at + 1, n->table + at, (n->tables - at) * sizeof *n->table);
    n->table[at] = bigger(NULL, sizeof **n->table);
    memset(n->table[at], 0, sizeof **n->table);
    n->table[at]->mask = mask;
    n->of_set[mask] = n->table[at];
    n->tables++;
    return n->table[at];
}

/* The row goes: the table's last one comes into its place. */
static void row_out(naive_world *n, naive_entity *e)
{
    if (!naive_has_row(e)) return;
    naive_table *t = naive_table_of(n, e);
    uint32_t last = t->row[--t->count];
    t->row[e->row] = last;
    n->entity[last].row = e->row;
}

static void row_in(naive_world *n, naive_entity *e)
{
    if (!naive_has_row(e)) return;
    naive_table *t = naive_table_of(n, e);
    if (t == NULL) t = table_make(n, (e->mask & n->table_types));
    if (t->count == t->room) t->row = bigger(t->row, (t->room = t->room * 2 + 4) * sizeof *t->row);
    assert_true(t->count < NAIVE_BLOCKS * REEF_BLOCK_ROWS);
    e->row = t->count;
    t->row[t->count++] = (uint32_t)(e - n->entity);
}

/* The entity gets another set: it moves if that is another table, or if it has no row now. */
static void reset(naive_world *n, naive_entity *e, uint32_t mask, bool off)
{
    naive_entity then = *e;
    then.mask = mask;
    then.off = off;
    bool moves = naive_has_row(e) != naive_has_row(&then) || (e->mask & n->table_types) != (mask & n->table_types);
    ++n->clock;
    if (moves) row_out(n, e);
    for (uint32_t i = 0; i < NAIVE_TYPES; i++)
        if ((mask & ~e->mask) >> i & 1) e->added[i] = e->changed[i] = n->clock;
    e->mask = mask;
    e->disabled &= mask;
    e->off = off;
    if (moves) row_in(n, e);
}

void naive_wrote(naive_world *n, uint32_t entity, uint32_t type)
{
    naive_entity *e = &n->entity[entity];
    uint64_t *version = naive_version(n, e, type);
    ++n->clock;
    if (version) *version = n->clock;
    e->changed[type] = n->clock;
}

uint64_t *naive_version(naive_world *n, const naive_entity *e, uint32_t type)
{
    const reef_home home = naive_types[type].home;
    if (home == REEF_PAGED) return &n->page[type][e->id.index / NAIVE_PAGE];
    return home <= REEF_BIT ? &naive_table_of(n, e)->version[e->row / REEF_BLOCK_ROWS][type] : NULL;
}

/* ---- operations ---- */

static naive_entity *entity_add(naive_world *n, reef_entity id)
{
    if (n->entities == n->entity_room)
        n->entity = bigger(n->entity, (n->entity_room = n->entity_room * 2 + 64) * sizeof *n->entity);
    naive_entity *e = &n->entity[n->entities++];
    memset(e, 0, sizeof *e);
    e->id = id;
    e->alive = true;
    assert_true(id.index < NAIVE_PAGE * NAIVE_PAGES);
    if (id.index >= n->index_room) {
        uint32_t room = id.index * 2 + 64;
        n->of_index = bigger(n->of_index, room * sizeof *n->of_index);
        memset(n->of_index + n->index_room, 0xFF, (room - n->index_room) * sizeof *n->of_index);
        n->index_room = room;
    }
    n->of_index[id.index] = n->entities - 1;
    return e;
}

uint32_t naive_spawn(naive_world *n, uint32_t mask, uint64_t *seed)
{
    static uint8_t data[NAIVE_TYPES][64];
    uint32_t value[NAIVE_TYPES] = {0}, count = 0;
    reef_value values[NAIVE_TYPES];
    for (uint32_t i = 0; i < NAIVE_TYPES; i++) {
        const naive_type *t = &naive_types[i];
        if (!(mask >> i & 1)) continue;
        naive_fill(data[i], t->size, value[i] = random_next(seed));
        values[count++] =
            reef_value_make(t->id, t->size ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT, t->size, t->size ? data[i] : NULL);
    }
    reef_entity id = reef_spawn_values(n->w, values, count);
    assert_some(id);
    naive_entity *e = entity_add(n, id);
    memcpy(e->value, value, sizeof value);
    reset(n, e, mask, false);
    return n->entities - 1;
}

static void clone(naive_world *n, uint32_t from)
{
    reef_entity id = reef_clone(n->w, n->entity[from].id);
    assert_some(id);
    naive_entity *e = entity_add(n, id), *old = &n->entity[from];
    memcpy(e->value, old->value, sizeof e->value);
    reset(n, e, old->mask, old->off);
    e->disabled = old->disabled;
}

static void set_value(naive_world *n, uint32_t number, uint32_t type, uint64_t *seed)
{
    uint8_t data[64];
    naive_entity *e = &n->entity[number];
    uint32_t value = random_next(seed), size = naive_types[type].size;
    bool there = e->mask >> type & 1;
    naive_fill(data, size, value);
    if (there && size && random_below(seed, 2)) {
        void *p = reef_mut_id(n->w, e->id, naive_types[type].id);
        assert_non_null(p);
        memcpy(p, data, size);
    } else {
        assert_status(there ? REEF_OK : REEF_ADDED, reef_set_id(n->w, e->id, naive_types[type].id, data, size));
    }
    e->value[type] = value;
    if (!there) reset(n, e, e->mask | 1u << type, e->off);
    else if (size) naive_wrote(n, number, type);
}

/* Several added and taken away in one step. */
static void change(naive_world *n, uint32_t number, uint64_t *seed)
{
    static uint8_t data[NAIVE_TYPES][64];
    naive_entity *e = &n->entity[number];
    reef_value values[NAIVE_TYPES];
    uint32_t count = 0, mask = e->mask;
    for (uint32_t i = 0; i < NAIVE_TYPES; i++) {
        const naive_type *t = &naive_types[i];
        uint32_t what = random_below(seed, 5);
        if (what > 1) continue;
        if (what == 0) {
            values[count++] = reef_value_make(t->id, REEF_VALUE_REMOVE, 0, NULL);
            mask &= ~(1u << i);
            continue;
        }
        naive_fill(data[i], t->size, e->value[i] = random_next(seed));
        values[count++] =
            reef_value_make(t->id, t->size ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT, t->size, t->size ? data[i] : NULL);
        mask |= 1u << i;
    }
    assert_ok(reef_change_values(n->w, e->id, values, count));
    reset(n, e, mask, e->off);
}

static void enable(naive_world *n, uint32_t number, uint64_t *seed)
{
    naive_entity *e = &n->entity[number];
    bool on = random_below(seed, 3) == 0;
    uint32_t type = random_below(seed, NAIVE_TYPES + 2);
    if (type >= NAIVE_TYPES) {
        assert_ok(reef_enable_id(n->w, e->id, (reef_component){0}, on));
        reset(n, e, e->mask, !on);
        return;
    }
    bool there = e->mask >> type & 1;
    assert_status(there ? REEF_OK : REEF_ABSENT, reef_enable_id(n->w, e->id, naive_types[type].id, on));
    if (there) e->disabled = on ? e->disabled & ~(1u << type) : e->disabled | 1u << type;
    ++n->clock;
}

static uint32_t some_entity(const naive_world *n, uint64_t *seed)
{
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t e = random_below(seed, n->entities);
        if (n->entity[e].alive) return e;
    }
    return UINT32_MAX;
}

void naive_mutate(naive_world *n, uint64_t *seed)
{
    uint32_t number = n->entities ? some_entity(n, seed) : UINT32_MAX, what = random_below(seed, 20);
    uint32_t type = random_below(seed, NAIVE_TYPES);
    if (number == UINT32_MAX || what < 3) {
        (void)naive_spawn(n, random_next(seed) & random_next(seed) & ((1u << NAIVE_TYPES) - 1), seed);
        return;
    }
    naive_entity *e = &n->entity[number];
    bool there = e->mask >> type & 1;
    if (what < 5) {
        assert_ok(reef_destroy(n->w, e->id));
        row_out(n, e);
        e->alive = false;
        ++n->clock;
    } else if (what < 8) {
        assert_status(there ? REEF_EXISTS : REEF_OK, reef_add_id(n->w, e->id, naive_types[type].id, NULL, NULL));
        if (there) return;
        const void *p = reef_get_id(n->w, e->id, naive_types[type].id);
        for (uint32_t i = 0; i < naive_types[type].size; i++) assert_int_equal(((const uint8_t *)p)[i], 0);
        reset(n, e, e->mask | 1u << type, e->off);
        set_value(n, number, type, seed);
    } else if (what < 11) {
        assert_status(there ? REEF_OK : REEF_ABSENT, reef_remove_id(n->w, e->id, naive_types[type].id));
        reset(n, e, e->mask & ~(1u << type), e->off);
    } else if (what < 13) {
        set_value(n, number, type, seed);
    } else if (what < 15) {
        change(n, number, seed);
    } else if (what < 16) {
        clone(n, number);
    } else {
        enable(n, number, seed);
    }
}

void naive_write_value(naive_world *n, uint64_t *seed)
{
    uint32_t number = n->entities ? some_entity(n, seed) : UINT32_MAX, type = random_below(seed, NAIVE_TYPES);
    if (number == UINT32_MAX) return;
    naive_entity *e = &n->entity[number];
    const naive_type *t = &naive_types[type];
    if (t->bit && (e->mask & n->table_types)) {
        bool on = !(e->mask >> type & 1);
        if (!on && e->disabled >> type & 1) return; /* its mark would go as well */
        assert_ok(on ? reef_add_id(n->w, e->id, t->id, NULL, NULL) : reef_remove_id(n->w, e->id, t->id));
        e->mask ^= 1u << type;
        naive_wrote(n, number, type);
    } else if (t->size && e->mask >> type & 1) {
        set_value(n, number, type, seed);
    }
}

typedef struct seen {
    const naive_world *n;
    const naive_entity *e;
    uint32_t mask;
} seen;

static bool compare_component(void *context, reef_entity id, reef_component c, const void *data, size_t size)
{
    seen *s = context;
    uint32_t i = naive_type_of(c);
    assert_true(i < NAIVE_TYPES && size == naive_types[i].size && reef_entity_equal(id, s->e->id));
    if (size && !naive_is(data, (uint32_t)size, s->e->value[i]))
        fail_msg("%s of entity %uv%u is another one", naive_types[i].name, id.index, id.generation);
    s->mask |= 1u << i;
    return true;
}

void naive_compare(const naive_world *n)
{
    for (uint32_t k = 0; k < n->entities; k++) {
        seen s = {n, &n->entity[k], 0};
        assert_int_equal(reef_is_alive(n->w, s.e->id), s.e->alive);
        if (!s.e->alive) continue;
        assert_true(reef_visit_entity(n->w, s.e->id, compare_component, &s));
        assert_int_equal(s.mask, s.e->mask);
        assert_int_equal(reef_is_enabled_id(n->w, s.e->id, (reef_component){0}), !s.e->off);
        for (uint32_t i = 0; i < NAIVE_TYPES; i++)
            assert_int_equal(reef_is_enabled_id(n->w, s.e->id, naive_types[i].id),
                             (s.e->mask & ~s.e->disabled) >> i & 1);
    }
}

/* ---- the evaluator ---- */

static bool is_changed(const naive_world *n, const naive_entity *e, uint32_t type, uint64_t since)
{
    if (since == 0) return true;
    if (naive_types[type].tracked) return e->changed[type] > since;
    const uint64_t *version = naive_version((naive_world *)(uintptr_t)n, e, type);
    assert_non_null(version);
    return *version > since;
}

/* The field of a condition, and the element's place. */
static const reef_field *field_of(uint32_t type, const char *name, uint32_t *offset, uint32_t *size)
{
    static const uint32_t sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};
    for (uint32_t i = 0; i < naive_fields[type].count; i++) {
        const reef_field *f = &naive_fields[type].fields[i];
        const size_t length = strlen(f->name);
        if (strncmp(f->name, name, length) != 0 || (name[length] && name[length] != '[')) continue;
        *size = f->kind == REEF_CHAR ? f->bytes : sizes[f->kind];
        *offset = f->offset + (name[length] ? (uint32_t)atoi(name + length + 1) * *size : 0);
        return f;
    }
    fail_msg("no field %s", name);
    return NULL;
}

/* A number as three: its sign tells the two halves of 64 bits apart, so that all kinds compare alike. */
typedef struct field_value {
    bool none; /* it isn't a number */
    double real;
    bool is_real, below;
    uint64_t whole; /* below: minus so much */
} field_value;

static field_value field_number(reef_kind kind, const void *p, uint32_t size)
{
    field_value x = {false, 0, false, false, 0};
    int64_t i = 0;
    uint64_t u = 0;
    int8_t a;
    int16_t b;
    int32_t c;
    uint8_t d;
    uint16_t e;
    uint32_t f;
    float single;
    if (kind == REEF_F32) memcpy(&single, p, 4), x.real = (double)single;
    if (kind == REEF_F64) memcpy(&x.real, p, 8);
    x.is_real = kind == REEF_F32 || kind == REEF_F64;
    x.none = x.is_real && isnan(x.real);
    if (kind == REEF_I8) memcpy(&a, p, 1), i = a;
    if (kind == REEF_I16) memcpy(&b, p, 2), i = b;
    if (kind == REEF_I32) memcpy(&c, p, 4), i = c;
    if (kind == REEF_I64) memcpy(&i, p, 8);
    if (kind == REEF_U8 || kind == REEF_BOOL) memcpy(&d, p, 1), u = kind == REEF_BOOL ? d != 0 : d;
    if (kind == REEF_U16) memcpy(&e, p, 2), u = e;
    if (kind == REEF_U32) memcpy(&f, p, 4), u = f;
    if (kind == REEF_U64) memcpy(&u, p, 8);
    x.below = i < 0;
    x.whole = i < 0 ? 0 - (uint64_t)i : i > 0 ? (uint64_t)i : u;
    (void)size;
    return x;
}

static field_value number_said(const reef_field *f, const reef_literal *l)
{
    field_value x = {false, 0, f->kind == REEF_F32 || f->kind == REEF_F64, false, 0};
    const double real = l->kind == REEF_F64 ? l->f64 : l->kind == REEF_I64 ? (double)l->i64 : (double)l->u64;
    if (x.is_real) x.real = f->kind == REEF_F32 ? (double)(float)real : real;
    x.none = x.is_real && isnan(x.real);
    x.below = l->kind == REEF_I64 && l->i64 < 0;
    x.whole = x.below ? 0 - l->u64 : l->u64;
    return x;
}

/* -1, 0 or 1 */
static int numbers_compare(field_value a, field_value b)
{
    if (a.is_real) return a.real < b.real ? -1 : a.real > b.real;
    if (a.below != b.below) return a.below ? -1 : 1;
    const int order = a.whole < b.whole ? -1 : a.whole > b.whole;
    return a.below ? -order : order;
}

static const reef_literal *literal_of(const naive_query *q, const reef_literal *l)
{
    for (uint32_t i = 0; l->kind == 0 && i < q->parameters; i++)
        if (strcmp(q->parameter[i].name, l->text) == 0) return &q->parameter[i].value;
    return l;
}

static bool condition_holds(const naive_query *q, const reef_condition *c, uint32_t type, uint32_t value)
{
    uint8_t bytes[64];
    uint32_t offset, size;
    const reef_field *f = field_of(type, c->field, &offset, &size);
    const reef_literal *l = literal_of(q, &c->value);
    naive_fill(bytes, naive_types[type].size, value);
    if (f->kind == REEF_CHAR)
        return (strncmp((const char *)bytes + offset, l->text, size) == 0) == (c->compare == REEF_EQUAL);
    const field_value x = field_number(f->kind, bytes + offset, size), y = number_said(f, l);
    if (x.none || y.none) return false;
    const int order = numbers_compare(x, y);
    const uint64_t a = x.below ? 0 - x.whole : x.whole, b = y.below ? 0 - y.whole : y.whole;
    switch (c->compare) {
    case REEF_EQUAL: return order == 0;
    case REEF_UNEQUAL: return order != 0;
    case REEF_LESS: return order < 0;
    case REEF_AT_MOST: return order <= 0;
    case REEF_MORE: return order > 0;
    case REEF_AT_LEAST: return order >= 0;
    case REEF_ANY_BIT: return (a & b) != 0;
    case REEF_ALL_BITS: return (a & b) == b;
    case REEF_AS: return true; /* (joins: test_value_join.c) */
    case REEF_WITHIN: {
        const field_value last = number_said(f, literal_of(q, &c->last));
        return !last.none && order >= 0 && numbers_compare(x, last) <= 0;
    }
    }
    return false;
}

static bool leaf_holds(const naive_world *n, const naive_query *q, const reef_term *t, uint32_t entity, uint64_t since)
{
    uint32_t type = naive_type_of(t->component);
    if (t->op == REEF_OPTIONAL) return true;
    if (!reef_entity_is_null(t->source)) entity = naive_find(n, t->source);
    const naive_entity *e = entity == UINT32_MAX ? NULL : &n->entity[entity];
    bool holds = e && e->mask >> type & 1;
    if (holds && t->enabled != REEF_EITHER) holds = (e->disabled >> type & 1) == (t->enabled == REEF_DISABLED);
    if (holds && t->since == REEF_IF_CHANGED) holds = is_changed(n, e, type, since);
    if (holds && t->since == REEF_IF_ADDED) holds = since == 0 || e->added[type] > since;
    for (uint32_t i = 0; holds && t->conditions && i < t->count; i++)
        holds = condition_holds(q, &t->conditions[i], type, e->value[type]);
    return holds != (t->op == REEF_NOT);
}

static bool term_holds(const naive_world *n, const naive_query *q, uint32_t *at, uint32_t entity, uint64_t since)
{
    const reef_term *t = &q->desc.terms[(*at)++];
    if (t->op < REEF_ANY_OF) return leaf_holds(n, q, t, entity, since);
    uint32_t holding = 0;
    for (uint32_t i = 0; i < t->count; i++) holding += term_holds(n, q, at, entity, since);
    return t->op == REEF_ANY_OF ? holding > 0 : t->op == REEF_ALL_OF ? holding == t->count : holding == 0;
}

bool naive_matches(const naive_world *n, const naive_query *q, uint32_t entity, uint64_t since)
{
    const naive_entity *e = &n->entity[entity];
    if (!naive_has_row(e)) return false;
    if (q->desc.entities != REEF_EITHER && e->off != (q->desc.entities == REEF_DISABLED)) return false;
    for (uint32_t at = 0; at < q->count;)
        if (!term_holds(n, q, &at, entity, since)) return false;
    return true;
}

void naive_ask(naive_answer *a, const naive_world *n, const naive_query *q, uint64_t since)
{
    a->count = 0;
    for (uint32_t i = 0; i < n->tables; i++) {
        for (uint32_t r = 0; r < n->table[i]->count; r++) {
            if (!naive_matches(n, q, n->table[i]->row[r], since)) continue;
            if (a->count == a->room) a->row = bigger(a->row, (a->room = a->room * 2 + 256) * sizeof *a->row);
            a->row[a->count++] = n->table[i]->row[r];
        }
    }
}

/* ---- random queries ---- */

static uint32_t term_end(const naive_query *q, uint32_t at)
{
    const reef_term *t = &q->desc.terms[at++];
    for (uint32_t i = 0; t->op >= REEF_ANY_OF && i < t->count; i++) at = term_end(q, at);
    return at;
}

/* The groups around a term: is there any, and is one of them NONE_OF? */
static bool in_group(const naive_query *q, uint32_t term, bool none_of)
{
    for (uint32_t g = 0; g < term; g++) {
        const reef_term *t = &q->desc.terms[g];
        if (t->op >= REEF_ANY_OF && term < term_end(q, g) && (!none_of || t->op == REEF_NONE_OF)) return true;
    }
    return false;
}

bool naive_filter(const naive_query *q, uint32_t term)
{
    const reef_term *t = &q->desc.terms[term];
    return t->op == REEF_NOT || t->access == REEF_WITH || naive_types[naive_type_of(t->component)].size == 0 ||
           in_group(q, term, true);
}

bool naive_in_group(const naive_query *q, uint32_t term) { return in_group(q, term, false); }

reef_status naive_status(const naive_query *q, uint64_t *number)
{
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        *number = i + 1;
        if (t->op >= REEF_ANY_OF) continue;
        const naive_type *x = &naive_types[naive_type_of(t->component)];
        if (t->since == REEF_IF_ADDED && !x->tracked) return REEF_BAD_ARGUMENT;
        if (t->since == REEF_IF_CHANGED && !x->tracked && !x->bit && x->size == 0) return REEF_BAD_ARGUMENT;
        for (uint32_t k = 0; k < i; k++) {
            const reef_term *o = &q->desc.terms[k];
            if (o->op >= REEF_ANY_OF || o->component.id != t->component.id || !reef_entity_equal(o->source, t->source))
                continue;
            bool filters = naive_filter(q, i) && naive_filter(q, k);
            if (naive_filter(q, i) && t->conditions && (filters || t->since == REEF_ALWAYS)) continue;
            if (naive_filter(q, k) && o->conditions && (filters || o->since == REEF_ALWAYS)) continue;
            if (!filters || (!in_group(q, i, false) && !in_group(q, k, false))) return REEF_DUPLICATE_TERM;
        }
        if (t->conditions && t->op == REEF_OPTIONAL) return REEF_BAD_ARGUMENT;
    }
    *number = 0;
    return REEF_OK;
}

static bool is_used(const naive_query *q, reef_component c, reef_entity source)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (q->desc.terms[i].component.id == c.id && reef_entity_equal(q->desc.terms[i].source, source)) return true;
    return false;
}

/* Conditions and their texts live as long as the worlds of one seed: the oldest give way to new ones. */
enum { POOL = 4096, POOL_TEXT = 40 };
static struct {
    reef_condition condition[POOL];
    char text[POOL][POOL_TEXT];
    uint32_t next, next_text;
} pool;

static char *pool_text(void) { return pool.text[pool.next_text++ % POOL]; }

/* Mostly what some entity has, so that comparisons are close. */
static reef_literal literal_random(const naive_world *n, const reef_field *f, uint32_t type, uint32_t offset,
                                   uint32_t size, uint64_t *seed)
{
    static const double reals[] = {0.0, -0.0, 0.1, 1e30, INFINITY, -INFINITY, NAN, -7, 0x1p-149};
    uint8_t bytes[64];
    uint32_t value = random_next(seed);
    if (n->entities && random_below(seed, 4)) value = n->entity[random_below(seed, n->entities)].value[type];
    naive_fill(bytes, naive_types[type].size, value);
    if (f->kind == REEF_CHAR) {
        char *text = pool_text();
        memcpy(text, bytes + offset, size);
        text[size] = 0;
        if (random_below(seed, 4) == 0) text[random_below(seed, size)] = 0;
        return reef_literal_text(text);
    }
    const field_value x = field_number(f->kind, bytes + offset, size);
    if (x.is_real && random_below(seed, 4) == 0) return reef_literal_f64(reals[random_below(seed, 9)]);
    if (x.is_real) return reef_literal_f64(x.real);
    if (x.below) return reef_literal_i64((int64_t)(0 - x.whole));
    return x.whole > INT64_MAX || random_below(seed, 2) ? reef_literal_u64(x.whole)
                                                        : reef_literal_i64((int64_t)x.whole);
}

static void conditions_random(naive_query *q, const naive_world *n, reef_term *t, uint32_t type, uint64_t *seed)
{
    const uint32_t count = 1 + (random_below(seed, 3) == 0);
    if (pool.next + count > POOL) pool.next = 0;
    reef_condition *list = &pool.condition[pool.next];
    pool.next += count;
    for (uint32_t i = 0; i < count; i++) {
        const reef_field *f = &naive_fields[type].fields[random_below(seed, naive_fields[type].count)];
        const bool real = f->kind == REEF_F32 || f->kind == REEF_F64,
                   equal = f->kind == REEF_BOOL || f->kind == REEF_CHAR;
        uint32_t offset, size;
        char *name = pool_text();
        const bool array = strcmp(f->name, "slots") == 0 || strcmp(f->name, "few") == 0;
        snprintf(name, POOL_TEXT, array ? "%s[%d]" : "%s", f->name, (int)random_below(seed, 2));
        (void)field_of(type, name, &offset, &size);
        reef_condition *c = &list[i];
        memset(c, 0, sizeof *c);
        c->field = name;
        c->compare = (reef_compare)(REEF_EQUAL + random_below(seed, equal ? 2 : real ? REEF_WITHIN : REEF_ALL_BITS));
        for (uint32_t side = 0; side < (c->compare == REEF_WITHIN ? 2u : 1u); side++) {
            reef_literal l = literal_random(n, f, type, offset, size, seed);
            if (random_below(seed, 4) == 0 && q->parameters < REEF_PARAMETERS_MAX) {
                naive_parameter *p = &q->parameter[q->parameters];
                snprintf(p->name, sizeof p->name, "p%d", (int)q->parameters++);
                p->value = l;
                char *kept = pool_text();
                (void)strcpy(kept, p->name);
                l = reef_literal_parameter(kept);
            }
            if (side) c->last = l;
            else c->value = l;
        }
    }
    t->conditions = list;
    t->count = count;
    q->values = true;
}

void naive_set(const naive_query *q, reef_world *w, reef_query h)
{
    for (uint32_t i = 0; i < q->parameters; i++)
        assert_ok(reef_query_set_parameter(w, h, q->parameter[i].name, q->parameter[i].value));
}

static void leaf_random(naive_query *q, const naive_world *n, uint64_t *seed, bool since, bool top)
{
    reef_term *t = &q->desc.terms[q->count];
    uint32_t op = random_below(seed, 10), enabled = random_below(seed, 12);
    memset(t, 0, sizeof *t);
    if (random_below(seed, 8) == 0) t->source = n->source[random_below(seed, NAIVE_SOURCES)];
    for (uint32_t i = 0; i < 4; i++) { /* a second term of one component is rare, and mostly wrong */
        t->component = naive_types[random_below(seed, NAIVE_TYPES)].id;
        if (!is_used(q, t->component, t->source)) break;
    }
    t->access = (reef_access)random_below(seed, 4);
    t->op = op < 6 ? REEF_HAS : op < 8 ? REEF_NOT : REEF_OPTIONAL;
    t->enabled = enabled == 0 ? REEF_DISABLED : enabled < 3 ? REEF_EITHER : REEF_ENABLED;
    const naive_type *x = &naive_types[naive_type_of(t->component)];
    /* In a group another entity is looked at block by block, and may be written by the loop itself meanwhile. */
    since &= top || reef_entity_is_null(t->source);
    const bool known = x->tracked || x->bit || (x->size && (x->home == REEF_TABLE || x->home == REEF_PAGED));
    if (since && random_below(seed, 2) && (known || (x->size == 0 && random_below(seed, 20) == 0)))
        t->since = x->tracked && random_below(seed, 2) ? REEF_IF_ADDED : REEF_IF_CHANGED;
    const uint32_t type = naive_type_of(t->component);
    if (naive_fields[type].count && (top || reef_entity_is_null(t->source)) && random_below(seed, 3) == 0)
        conditions_random(q, n, t, type, seed);
    q->count++;
}

static void term_random(naive_query *q, const naive_world *n, uint64_t *seed, uint32_t depth, bool since)
{
    if (depth == 4 || q->count + 5 > NAIVE_TERMS || random_below(seed, 10) > 3) {
        leaf_random(q, n, seed, since, depth == 0);
        return;
    }
    reef_term *group = &q->desc.terms[q->count++];
    memset(group, 0, sizeof *group);
    group->op = (reef_op)(REEF_ANY_OF + random_below(seed, 3));
    uint32_t wanted = random_below(seed, 8) == 0 ? 1 : 2 + random_below(seed, 2);
    while (group->count < wanted && q->count < NAIVE_TERMS) {
        group->count++;
        term_random(q, n, seed, depth + 1, since);
    }
    if (group->count == 0) q->count--;
}

void naive_query_random(naive_query *q, const naive_world *n, uint64_t *seed, bool since)
{
    memset(q, 0, sizeof *q);
    for (uint32_t tops = random_below(seed, 5); tops-- > 0 && q->count < NAIVE_TERMS;)
        term_random(q, n, seed, 0, since);
    if (random_below(seed, 6) == 0) q->desc.entities = random_below(seed, 2) ? REEF_EITHER : REEF_DISABLED;
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        if (t->op >= REEF_ANY_OF) continue;
        q->since |= t->since != REEF_ALWAYS;
        q->writes |= !naive_filter(q, i) && t->access != REEF_IN;
    }
}

/* ---- the text of a query ---- */

static void put(naive_query *q, const char *text) { strncat(q->text, text, sizeof q->text - strlen(q->text) - 1); }

static void literal_text(naive_query *q, const reef_field *f, const reef_literal *l)
{
    char text[64] = "";
    if (l->kind == 0) snprintf(text, sizeof text, "$%s", l->text);
    else if (f->kind == REEF_BOOL) snprintf(text, sizeof text, "%s", l->u64 ? "true" : "false");
    else if (l->kind == REEF_F64 && isnan(l->f64)) snprintf(text, sizeof text, "nan");
    else if (l->kind == REEF_F64) snprintf(text, sizeof text, "%.17g", l->f64);
    else if (l->kind == REEF_I64) snprintf(text, sizeof text, "%lld", (long long)l->i64);
    else if (l->kind == REEF_U64)
        snprintf(text, sizeof text, l->u64 % 2 ? "0x%llx" : "%llu", (unsigned long long)l->u64);
    put(q, text);
    if (l->kind != REEF_CHAR) return;
    put(q, "\"");
    for (const char *c = l->text; *c; c++) {
        const char one[2] = {*c, 0};
        if (*c == '"' || *c == '\\') put(q, "\\");
        put(q, one);
    }
    put(q, "\"");
}

static void conditions_text(naive_query *q, const reef_term *t)
{
    static const char *const sign[] = {"", " == ", "!=", " < ", "<=", " >", " >= ", " in ", " & ", " has "};
    for (uint32_t i = 0; i < t->count; i++) {
        const reef_condition *c = &t->conditions[i];
        uint32_t offset, size;
        const reef_field *f = field_of(naive_type_of(t->component), c->field, &offset, &size);
        put(q, i ? ", " : "(");
        put(q, c->field);
        put(q, sign[c->compare]);
        literal_text(q, f, &c->value);
        if (c->compare == REEF_WITHIN) put(q, ".."), literal_text(q, f, &c->last);
    }
    put(q, ")");
}

/* False: the text can't say it. */
static bool leaf_text(naive_query *q, const naive_world *n, uint32_t i, bool under_not)
{
    static const char *const access[] = {"", "in ", "out ", "with "}, *const enabled[] = {"", "disabled ", "either "};
    static const char *const since[] = {"", "changed ", "added "};
    const reef_term *t = &q->desc.terms[i];
    if (t->op == REEF_NOT) put(q, "!");
    if (t->op == REEF_OPTIONAL) put(q, "?");
    /* Words in any order. */
    if (i % 2) put(q, enabled[t->enabled]);
    /* with conditions a term is a filter, unless it says otherwise */
    if (!under_not && t->op != REEF_NOT)
        put(q, t->conditions && t->access == REEF_INOUT ? "inout " : access[t->access]);
    put(q, since[t->since]);
    if (i % 2 == 0) put(q, enabled[t->enabled]);
    put(q, naive_types[naive_type_of(t->component)].name);
    if (t->conditions) conditions_text(q, t);
    if (reef_entity_is_null(t->source)) return true;
    const char *name = reef_name(n->w, t->source);
    if (name == NULL) return false;
    put(q, " of ");
    if (strchr(name, ' ')) put(q, "\"");
    put(q, name);
    if (strchr(name, ' ')) put(q, "\"");
    return true;
}

static bool term_text(naive_query *q, const naive_world *n, uint32_t *at, bool under_not)
{
    const reef_term *t = &q->desc.terms[*at];
    if (t->op < REEF_ANY_OF) return leaf_text(q, n, (*at)++, under_not);
    if (t->count == 1) return false; /* the text says it without a group, and may then name a filter twice */
    ++*at;
    under_not |= t->op == REEF_NONE_OF;
    put(q, t->op == REEF_NONE_OF ? "!(" : "(");
    for (uint32_t i = 0; i < t->count; i++) {
        if (i) put(q, t->op == REEF_ALL_OF ? ", " : i % 2 ? " | " : "|");
        if (!term_text(q, n, at, under_not)) return false;
    }
    put(q, ")");
    return true;
}

void naive_text(naive_query *q, const naive_world *n)
{
    q->text[0] = 0;
    bool said = true;
    if (q->desc.entities != REEF_ENABLED) put(q, q->desc.entities == REEF_DISABLED ? "disabled *" : "either *");
    for (uint32_t at = 0; said && at < q->count;) {
        if (q->text[0]) put(q, ", ");
        said = term_text(q, n, &at, false);
    }
    q->said = said && strlen(q->text) + 1 < sizeof q->text;
}

void naive_print(const naive_query *q)
{
    static const char *const op[] = {"HAS", "NOT", "OPTIONAL", "ANY_OF", "ALL_OF", "NONE_OF"};
    print_error("query \"%s\", entities %d, last run %llu\n", q->text, (int)q->desc.entities,
                (unsigned long long)q->last);
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        const char *name = t->op >= REEF_ANY_OF ? "" : naive_types[naive_type_of(t->component)].name;
        print_error("  %s %s access %d enabled %d since %d count %u source %uv%u\n", op[t->op], name, (int)t->access,
                    (int)t->enabled, (int)t->since, t->count, t->source.index, t->source.generation);
    }
}
