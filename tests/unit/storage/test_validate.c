/* The validator itself: every kind of damage, done on purpose from the inside, is found and named; undone, the world is
 * valid again. Without this, "valid" after every other test would prove little. */
#include "storage/layout.h"
#include "storage/table.h"
#include "storage/sparse_store.h"
#include "support.h"

typedef struct damage {
    reef_world *w;
    reef_entity e; /* Position, Mass, Awake, a name; not the last row */
    table *t;      /* its table */
} damage;

static uint64_t *record_of(reef_world *w, uint32_t index)
{
    return (uint64_t *)(uintptr_t)reef_record_at(&w->hot, index);
}

static void finds(const damage *d, const char *word)
{
    char message[300] = "";
    assert_int_equal(reef_validate(d->w, message, sizeof message), REEF_CORRUPT);
    if (strstr(message, word) == NULL) fail_msg("\"%s\" doesn't say \"%s\"", message, word);
    assert_int_equal(reef_validate(d->w, NULL, 0), REEF_CORRUPT);
}

static damage prepared(void **test)
{
    damage d = {.w = world_of(test)};
    for (int i = 0; i < 1500; i++) {
        reef_entity e = reef_spawn(d.w, reef_with(Position, 1, 2), reef_with(Mass, i));
        if (i == 700) d.e = e;
    }
    assert_ok(reef_add(d.w, d.e, Awake));
    assert_ok(reef_set_name(d.w, d.e, "victim.one"));
    for (uint32_t i = 0; i < 10; i++) assert_ok(reef_destroy(d.w, reef_entity_at(d.w, i)));
    for (int i = 0; i < 3; i++) reef_create(d.w);
    assert_some(reef_reserve_id(d.w));
    assert_valid(d.w);
    const reef_slot *slots = reef_slots_at(&d.w->hot, (uint32_t)*record_of(d.w, d.e.index));
    d.t = reef__table_own(d.w, slots[0].head.table);
    assert_non_null(d.t);
    return d;
}

static void with_number(const damage *d, uint64_t *number, uint64_t wrong, const char *word)
{
    uint64_t right = *number;
    *number = wrong;
    finds(d, word);
    *number = right;
    assert_valid(d->w);
}

static void with_count(const damage *d, uint32_t *number, uint32_t wrong, const char *word)
{
    uint32_t right = *number;
    *number = wrong;
    finds(d, word);
    *number = right;
    assert_valid(d->w);
}

static void damage_to_the_index_is_found(void **test)
{
    damage d = prepared(test);
    uint64_t *record = record_of(d.w, d.e.index);
    with_number(&d, record, *record & UINT32_MAX, "index");                  /* generation 0 */
    with_number(&d, record, *record + ((uint64_t)1 << 32), "index");         /* another generation than in the row */
    with_number(&d, record, *record + 1, "index");                           /* the neighbour's row */
    with_number(&d, record, (uint64_t)1 << 32 | 5, "index");                 /* a row in unit 0 */
    with_number(&d, record, (uint64_t)1 << 32 | (PLACE_EMPTY + 5), "index"); /* a row in unit 1 */
    with_number(&d, record, (uint64_t)1 << 32 | unit_place(UNIT_MAX), "index");
    with_number(&d, record, (uint64_t)1 << 32 | PLACE_EMPTY, "index"); /* no row, though there is one */
    with_number(&d, record, (uint64_t)1 << 32 | PLACE_DEAD, "index");  /* dead, but not among the free ids */
    with_count(&d, &d.w->hot.empty_count, d.w->hot.empty_count + 1, "index");
    with_count(&d, &d.w->state.reserved_count, 0, "index");
}

static void damage_to_the_free_ids_is_found(void **test)
{
    damage d = prepared(test);
    uint32_t *first = (uint32_t *)d.w->state.ring.page[0] + d.w->state.ring_head % RING_PER_PAGE;
    with_count(&d, first, d.e.index, "index");            /* one that lives */
    with_count(&d, first, d.w->hot.index_count, "index"); /* one that never was */
    with_number(&d, &d.w->state.ring_tail, d.w->state.ring_tail - 1, "index");
    with_number(&d, &d.w->state.ring_head, d.w->state.ring_head + 1, "index");
}

static void damage_to_a_table_is_found(void **test)
{
    damage d = prepared(test);
    reef_slot *slots = unit_slots(d.w, d.t->first), *last = unit_slots(d.w, d.t->last);
    with_count(&d, &d.t->chunks, d.t->chunks + 1, "table");
    with_count(&d, &d.t->next, d.t->next - 1, ""); /* a row too few */
    with_count(&d, &d.t->end, d.t->next - 1, "table");
    with_count(&d, &slots[0].head.table, TABLE_EMPTY, "");
    with_count(&d, &last[0].head_more.previous, d.t->last, "link back");
    with_number(&d, &slots[SLOT_COLUMNS].version, d.w->hot.version + 1, "newer than the world");
    reef_entity *row = (reef_entity *)slots[SLOT_ENTITIES].block + 5, right = *row;
    row->index++;
    finds(&d, "");
    *row = right;
    void *block = slots[SLOT_COLUMNS].block;
    slots[SLOT_COLUMNS].block = NULL;
    finds(&d, "block");
    slots[SLOT_COLUMNS].block = block;
    assert_valid(d.w);
}

static void damage_to_switches_is_found(void **test)
{
    damage d = prepared(test);
    bit_store *b = (bit_store *)(uintptr_t)bit_store_of(d.w, reef_id(Awake).id);
    uint32_t place = (uint32_t)*record_of(d.w, d.e.index);
    uint64_t *words = b->words.page[place_unit(place)];
    with_number(&d, &b->switched, b->switched + 1, "bits");
    with_number(&d, &words[0], words[0] | 1, "bits"); /* one more than is counted */
    assert_ok(reef_remove(d.w, d.e, Awake));
    /* behind the table's last row */
    reef_entity tail = slot_entities(unit_slots(d.w, d.t->last))[0];
    assert_ok(reef_add(d.w, tail, Awake));
    words = b->words.page[d.t->last];
    words[15] |= (uint64_t)1 << 63;
    b->switched++;
    finds(&d, "bits");
    words[15] &= ~((uint64_t)1 << 63);
    b->switched--;
    assert_valid(d.w);
    table *t = reef__table_own(d.w, unit_slots(d.w, d.t->last)[0].head.table);
    with_number(&d, &t->bits, 0, "bits"); /* the table denies to have switches */
}

static void damage_to_marks_is_found(void **test)
{
    damage d = prepared(test);
    assert_ok(reef_disable(d.w, d.e, Mass));
    assert_ok(reef_disable(d.w, d.e, Awake));
    assert_ok(reef_disable(d.w, d.e));
    const uint32_t place = (uint32_t)*record_of(d.w, d.e.index), row = place_row(place);
    const uint32_t keys[] = {reef_id(Mass).id | BIT_DISABLED, reef_id(Awake).id | BIT_DISABLED, BIT_DISABLED};
    for (int i = 0; i < 3; i++) {
        bit_store *b = (bit_store *)(uintptr_t)bit_store_of(d.w, keys[i]);
        uint64_t *words = b->words.page[place_unit(place)];
        with_number(&d, &b->switched, 7, "disabled");
        /* one more than is counted */
        with_number(&d, &words[row / 64], words[row / 64] | 1ull << ((row + 1) % 64), "disabled");
        with_count(&d, &b->disabled_bits, 0, "marks");
    }
    bit_store *b = (bit_store *)(uintptr_t)bit_store_of(d.w, keys[1]);
    uint64_t *words = b->words.page[place_unit(place)], right = words[row / 64];
    words[row / 64] = 1ull << ((row + 1) % 64); /* of one that hasn't got the switch */
    finds(&d, "disabled Awake: a bit without its row or component");
    words[row / 64] = right;
    b = (bit_store *)(uintptr_t)bit_store_of(d.w, keys[0]);
    with_count(&d, &b->key, reef_id(Velocity).id | BIT_DISABLED,
               "disabled Velocity: a bit without its row or component");
    b = (bit_store *)(uintptr_t)bit_store_of(d.w, reef_id(Awake).id);
    with_count(&d, &b->disabled_bits, 0, "marks");
    for (int i = 0; i < 3; i++) with_count(&d, &d.w->state.bit_number[bit_slot(keys[i])], 0, "another store");
}

static void damage_to_names_is_found(void **test)
{
    damage d = prepared(test);
    char *text = (char *)(uintptr_t)reef_name(d.w, d.e);
    text[0] = 'w';
    finds(&d, "names"); /* not found under its text any more */
    text[0] = 'v';
    text[6] = '_';
    text[7] = '.';
    finds(&d, "names");
    memcpy(text, "victim..e", 9);
    finds(&d, "names");
    strcpy(text, "victim.one");
    assert_valid(d.w);
    with_count(&d, &d.w->state.name_count, 0, "names");
    uint64_t *record = record_of(d.w, d.e.index), right = *record;
    reef_entity *owner = (reef_entity *)d.w->state.name_entries.page[0];
    owner->generation++;
    finds(&d, "names");
    owner->generation--;
    assert_int_equal(*record, right);
    assert_valid(d.w);
}

static void damage_to_a_store_is_found(void **test)
{
    static const struct {
        const char *name;
        reef_home home;
    } stores[] = {{"V_sparse", REEF_SPARSE}, {"V_paged", REEF_PAGED}, {"V_cold", REEF_COLD}};
    damage d = prepared(test);
    for (int i = 0; i < 3; i++) {
        const reef_component c = reef_type_new(&(reef_type_desc){.name = stores[i].name,
                                                                 .size = 8,
                                                                 .align = 8,
                                                                 .home = stores[i].home,
                                                                 .page_rows = stores[i].home == REEF_PAGED ? 64 : 0},
                                               NULL);
        for (uint32_t k = 600; k < 1200; k++) assert_ok(reef_add_id(d.w, reef_entity_at(d.w, k), c, NULL, NULL));
        assert_valid(d.w);
        value_store *s = (value_store *)(uintptr_t)store_of(d.w, c.id);
        with_number(&d, &s->count, s->count + 1, stores[i].name);
        with_number(&d, &s->count, s->count - 1, stores[i].name);
        with_count(&d, &s->size, 4, "not laid out");
        with_count(&d, &d.w->state.store_number[c.id], 0, "store");
        with_count(&d, &s->cold, 1, "cold stores");
        if (stores[i].home == REEF_COLD) with_count(&d, &d.w->state.stores->cold, 0, "cold stores");
        if (s->paged) {
            uint32_t *page = s->values.page[12]; /* 768 ... 831 */
            with_count(&d, &page[5], 0, "count of values");
            with_count(&d, &page[5], 99, "dead entity");
            with_count(&d, &page[64], 3, "count of values");
        } else {
            reef_entity *page = s->values.page[1];
            with_count(&d, &page[5].generation, 0, stores[i].name);
            with_count(&d, &page[5].generation, 99, "dead entity");
            with_count(&d, &page[5].index, page[6].index, "isn't found");
            uint64_t *entry = (uint64_t *)s->index.page[1] + (700 - 512);
            with_number(&d, entry, 0, "isn't found");
            with_number(&d, entry, *entry + 1, "isn't found");
            with_number(&d, (uint64_t *)s->index.page[1] + 1, UINT64_C(1) << 32, "lead nowhere");
        }
        const bit_store *b = bit_store_of(d.w, c.id);
        assert_true((b == NULL) == (stores[i].home == REEF_COLD));
        if (b == NULL) continue;
        const uint32_t place = (uint32_t)*record_of(d.w, 700), row = place_row(place);
        uint64_t *words = b->words.page[place_unit(place)], right = words[row / 64];
        words[row / 64] &= ~(1ull << row % 64);
        finds(&d, "a value without its bit");
        words[row / 64] = right;
        assert_valid(d.w);
        const uint32_t other = place_row((uint32_t)*record_of(d.w, 500));
        words[other / 64] ^= 1ull << other % 64;
        finds(&d, "bits without a value");
        words[other / 64] ^= 1ull << other % 64;
        assert_valid(d.w);
        const uint64_t values = s->count;
        d.w->state.stores[d.w->hot.store_number[c.id]].count = 0;
        finds(&d, stores[i].name);
        s->count = values;
        assert_valid(d.w);
    }
}

/* Pages that nobody has to copy don't count among those that are shared: once the others are copied, the fast paths are
 * open again, although the fork lives on. */
static void a_reserved_range_doesnt_keep_fast_paths_shut(void **test)
{
    reef_world *w = world_of(test);
    const reef_entity e = reef_create(w);
    assert_some(reef_reserve_range(w, 50000));
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_true(w->hot.records.shared > 0);
    assert_status(REEF_ADDED, reef_set(w, e, Position, 1, 2));
    assert_ok(reef_create_as(w, (reef_entity){20, 1}));
    assert_int_equal(w->hot.records.shared, 0);
    assert_true(w->hot.gate_move == w->hot.version);
    assert_valid(w);
    reef_world_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reserved_range_doesnt_keep_fast_paths_shut),
        TEST(damage_to_the_index_is_found),
        TEST(damage_to_the_free_ids_is_found),
        TEST(damage_to_a_table_is_found),
        TEST(damage_to_switches_is_found),
        TEST(damage_to_marks_is_found),
        TEST(damage_to_names_is_found),
        TEST(damage_to_a_store_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
