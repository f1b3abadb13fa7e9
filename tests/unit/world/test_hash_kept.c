/* The hashes that a world keeps: always right, and only what was written is hashed again. And the walker, which
 * changes each byte of a world in turn. */
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/entity_index.h"
#include "storage/event_log.h"
#include "storage/family.h"
#include "storage/name_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/state.h"
#include "system/event.h"
#include "storage/table.h" /* before cmocka, which has a macro of the name fail */
#include "hash_state.h"
#include "inside.h"

/* ---- loops ---- */

static void in_an_open_loop_the_hash_sees_what_is_written(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    spawn_rows(w, 2500);
    spawn_rows(other, 2500);
    for (int before = 0; before < 2; before++) {
        if (before) assert_true(reef_hash(w) == reef_hash(other)); /* with and without kept hashes */
        reef_query q = reef_query_new(w, "Point, in Padded");
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {
            Point *p = reef_inout(&b, Point);
            for (uint32_t i = 0; i < b.count; i += 400) {
                flip(&p[i].x);
                flip(&reef_mut(other, b.entities[i], Point)->x);
                assert_true(reef_hash(w) == reef_hash(other));
                assert_true(reef_equal(w, other, NULL));
                flip(&p[i].y);
                assert_true(reef_hash(w) != reef_hash(other));
                assert_false(reef_equal(w, other, NULL));
                flip(&p[i].y);
                assert_true(reef_hash(w) == reef_hash(other));
            }
            p[b.count - 1].y += 1; /* not seen while it is open */
            reef_mut(other, b.entities[b.count - 1], Point)->y += 1;
        }
        reef_query_free(w, q);
        assert_equal_worlds(w, other);
        assert_true(hash_anew(w) == reef_hash(other));
    }
}

/* ---- memory ---- */

static bool part_counted(void *context, const reef_hash_part *part)
{
    *(uint32_t *)context += part->hash != 0;
    return true;
}

static void without_memory_the_hash_is_right_or_none(void **test)
{
    for (int rest = 0; rest < 2; rest++) {
        bool more = true;
        uint64_t wanted = 0;
        for (uint64_t n = 1; more; n++) {
            reef_world *w = another_world(test, NULL);
            uint32_t parts = 0;
            build(w, AS_IT_IS, AT_ONCE, 0);
            heap_fail_nth(heap_of(test), n, rest);
            uint64_t hash = n % 2 ? reef_hash(w) : reef_hash_parts(w, part_counted, &parts);
            more = heap_of(test)->refused != 0 || n < 3;
            if (hash == 0) assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
            uint64_t again = reef_hash(w);
            heap_fail_never(heap_of(test));
            if (!more) assert_true(hash != 0);
            if (wanted == 0) wanted = hash_anew(w);
            assert_true(hash == 0 || hash == wanted);
            assert_true(again == 0 || again == wanted);
            assert_true(reef_hash(w) == wanted);
            assert_true(hash_anew(w) == wanted);
            end_world(test, w);
        }
    }
}

static void without_memory_the_comparison_does_not_lie(void **test)
{
    reef_world *w = world_of(test), *same = another_world(test, NULL), *other = another_world(test, NULL);
    build(w, AS_IT_IS, AT_ONCE, 0);
    build(same, AS_IT_IS, ONE_BY_ONE, 0);
    build(other, LAST_BYTE, AT_ONCE, 0);
    for (uint64_t n = 1; n <= 3; n++) {
        reef_difference d = {.kind = REEF_HASH_TYPE};
        heap_fail_nth(heap_of(test), n, false);
        bool equal = reef_equal(w, same, &d), refused = heap_of(test)->refused != 0;
        heap_fail_never(heap_of(test));
        assert_int_equal(refused, n <= 2);
        assert_int_equal(equal, !refused);
        assert_int_equal(d.kind, 0);
        heap_fail_nth(heap_of(test), n, true);
        assert_false(reef_equal(w, other, &d));
        heap_fail_never(heap_of(test));
        assert_int_equal(d.kind, n <= 2 ? 0 : REEF_HASH_COLUMN);
    }
}

/* ---- what is kept ---- */

static void shift(void *byte) { *(uint8_t *)byte ^= 3; } /* of two bits of a switch one is on: their count stays */

/* Is `byte` hashed again when something else (`touch`) changed? It is spoilt behind reef's back for a while. */
static bool hashed_again(reef_world *w, void *byte, void (*touch)(reef_world *))
{
    (void)reef_hash(w);
    touch(w);
    shift(byte);
    uint64_t kept = reef_hash(w);
    shift(byte);
    bool again = kept != hash_anew(w);
    shift(byte);
    assert_true(hash_anew(w) != kept || again); /* the byte counts */
    shift(byte);
    (void)hash_anew(w);
    return again;
}

static void touch_row(reef_world *w) { flip(&reef_mut(w, reef_entity_at(w, 3), Point)->x); }
static void touch_late_row(reef_world *w) { flip(&reef_mut(w, reef_entity_at(w, 1500), Point)->x); }
static void touch_other_column(reef_world *w) { reef_mut(w, reef_entity_at(w, 1500), Padded)->number++; }
static void touch_switch(reef_world *w)
{
    assert_ok(reef_add(w, reef_entity_at(w, 5), Awake)), assert_ok(reef_remove(w, reef_entity_at(w, 5), Awake));
}
static void touch_name(reef_world *w) { assert_ok(reef_set_name(w, reef_entity_at(w, 2999), "last")); }
static void touch_ids(reef_world *w) { assert_ok(reef_destroy(w, reef_create(w))); }

static void only_what_was_written_is_hashed_again(void **test)
{
    reef_world *w = world_of(test);
    char name[32];
    spawn_rows(w, 3000);
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "number %u", i);
        assert_ok(reef_set_name(w, reef_entity_at(w, i), name));
    }
    uint32_t late = 1500, id = unit_slots(w, place_unit(place_of(w, reef_entity_at(w, late))))[0].head.table;
    void *value =
        unit_slots(w, place_unit(place_of(w, reef_entity_at(w, late))))[slot_find(w, reef_id(Point).id, id)].block;
    void *handle_byte = unit_slots(w, place_unit(place_of(w, reef_entity_at(w, late))))[SLOT_ENTITIES].block;
    void *word = (void *)(uintptr_t)bit_words(bit_store_of(w, reef_id(Awake).id),
                                              place_unit(place_of(w, reef_entity_at(w, late))));
    word = (char *)word + (1200 - 1024) / 64 * 8 + (HOST_IS_LITTLE ? 6 : 1); /* row 1200 is on, 1201 off */
    void *text = (void *)(uintptr_t)reef_name(w, reef_entity_at(w, 40));
    assert_false(hashed_again(w, value, touch_row));
    assert_false(hashed_again(w, value, touch_other_column));
    assert_false(hashed_again(w, value, touch_switch));
    assert_false(hashed_again(w, value, touch_name));
    assert_false(hashed_again(w, value, touch_ids));
    assert_true(hashed_again(w, value, touch_late_row));
    assert_false(hashed_again(w, handle_byte, touch_late_row));
    assert_false(hashed_again(w, word, touch_switch));
    assert_false(hashed_again(w, word, touch_late_row));
    assert_false(hashed_again(w, text, touch_name));
    assert_false(hashed_again(w, text, touch_ids));
}

static void a_fork_takes_the_kept_hashes_along(void **test)
{
    reef_world *w = world_of(test);
    spawn_rows(w, 3000);
    reef_snapshot *before = reef_snapshot_take(w);
    uint64_t hash = reef_hash(w);
    reef_snapshot *hashed = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w), *cold = reef_snapshot_fork(before), *warm = reef_snapshot_fork(hashed);
    uint64_t blocks = heap_of(test)->calls;
    assert_true(reef_hash(fork) == hash && reef_hash(warm) == hash && reef_hash(w) == hash);
    assert_int_equal(reef_world_stats(fork).bytes_hashes, reef_world_stats(w).bytes_hashes);
    assert_true(heap_of(test)->calls - blocks < 10); /* the lists of tables; nothing is kept anew */
    assert_true(reef_hash(cold) == hash);
    reef_world *worlds[] = {w, fork, cold, warm};
    for (int i = 0; i < 4; i++) touch_late_row(worlds[i]);
    for (int i = 1; i < 4; i++) assert_equal_worlds(w, worlds[i]);
    assert_ok(reef_restore(w, hashed));
    assert_true(reef_hash(w) == hash && hash_anew(w) == hash);
    reef_snapshot_free(before);
    reef_snapshot_free(hashed);
    for (int i = 1; i < 4; i++) reef_world_free(worlds[i]);
}

/* ---- the walker: each byte that counts, one after the other ---- */

typedef struct walk {
    reef_world *w, *control; /* equal, unrelated */
    uint64_t hash, counted, skipped;
} walk;

static void changed(walk *k, bool counts, const char *what)
{
    const bool equal = reef_equal(k->w, k->control, NULL);
    const uint64_t hash = hash_anew(k->w);
    if ((hash == k->hash) == counts) fail_msg("%s: the hash %s", what, counts ? "misses it" : "takes it in");
    if (equal == counts) fail_msg("%s: the comparison %s", what, counts ? "misses it" : "takes it in");
    counts ? k->counted++ : k->skipped++;
}

static void walk_byte(walk *k, void *byte, bool counts, const char *what)
{
    const uint8_t bit = (uint8_t)(1u << ((k->counted + k->skipped) % 8));
    *(uint8_t *)byte ^= bit;
    changed(k, counts, what);
    *(uint8_t *)byte ^= bit;
}

static bool byte_counts(const type *t, uint32_t offset)
{
    if (t->hooks.on_fork != REEF_FORK_COPY) return false;
    for (uint32_t i = 0; i < t->field_count; i++)
        if (offset - t->fields[i].offset < t->fields[i].bytes) return true;
    return t->field_count == 0;
}

static void walk_table(walk *k, uint32_t id)
{
    const table *t = table_read(k->w, id);
    for (uint32_t unit = t ? t->first : 0; unit; unit = unit_slots(k->w, unit)[0].head.next) {
        const uint32_t rows = chunk_rows(t, unit);
        const reef_slot *slots = unit_slots(k->w, unit);
        for (uint32_t i = 0; i < rows * sizeof(reef_entity); i++)
            walk_byte(k, (char *)slots[SLOT_ENTITIES].block + i, true, "a handle");
        for (uint32_t s = SLOT_COLUMNS; s < t->shape->end_slot; s++) {
            const type *c = t->shape->columns[s].type;
            for (uint32_t i = 0; i < rows * c->size; i++)
                walk_byte(k, (char *)slots[s].block + i, byte_counts(c, i % c->size), c->name);
        }
        for (uint32_t s = 0; s < k->w->state.bit_count; s++) {
            uint64_t *words = (uint64_t *)(uintptr_t)bit_words(&k->w->state.bits[s], unit);
            for (uint32_t row = 0; words && row < rows; row++) {
                words[row / 64] ^= (uint64_t)1 << row % 64;
                changed(k, true, "a switch");
                words[row / 64] ^= (uint64_t)1 << row % 64;
            }
        }
    }
}

static void walk_ids(walk *k)
{
    reef_world *w = k->w;
    for (uint32_t i = 0; i < w->hot.index_count; i++) {
        uint64_t *record = reef__record_own(w, i);
        if ((uint32_t)*record > PLACE_EMPTY) continue; /* a row: its handle stands in the table */
        for (uint32_t bit = 0; bit < 64; bit++) {
            if (bit == 2) bit = 32; /* the lowest bits: free, reserved, used up */
            *record ^= (uint64_t)1 << bit;
            changed(k, true, "a generation");
            *record ^= (uint64_t)1 << bit;
        }
    }
    uint32_t *ids = w->state.ring.page[0];
    assert_true(w->state.ring_tail < RING_PER_PAGE);
    for (uint64_t a = w->state.ring_head; a + 1 < w->state.ring_tail; a++) {
        const uint32_t id = ids[a];
        ids[a] = ids[a + 1], ids[a + 1] = id;
        changed(k, true, "the order of free ids");
        ids[a + 1] = ids[a], ids[a] = id;
    }
}

static void walk_names(walk *k)
{
    for (uint32_t n = 0; n < k->w->state.name_count; n++) {
        reef_entity e;
        char *text = (char *)(uintptr_t)reef__name_at_number(k->w, n, &e), *owner = text - sizeof e;
        assert_memory_equal(owner, &e, sizeof e);
        for (uint32_t i = 0; i < sizeof e; i++) walk_byte(k, owner + i, true, "a name's entity");
        for (size_t i = 0, length = strlen(text); i < length; i++) walk_byte(k, text + i, true, "a name");
        walk_byte(k, text + strlen(text) + 1, false, "what is behind a name");
    }
}

static void each_byte_that_counts_changes_the_hash_and_no_other(void **test)
{
    walk k = {.w = world_of(test), .control = another_world(test, NULL)};
    for (int side = 0; side < 2; side++) {
        reef_world *w = side ? k.control : k.w;
        build(w, AS_IT_IS, side ? ONE_BY_ONE : AT_ONCE, 0);
        for (uint32_t i = 3; i < PEOPLE; i += 3)
            assert_ok(reef_remove(w, reef_entity_at(w, i), Wide)); /* one is enough */
        assert_int_equal(reef_set(w, reef_entity_at(w, 66), Partial, 1, 2, 3), REEF_ADDED);
        assert_int_equal(reef_set(w, reef_entity_at(w, 66), Local, 7), REEF_ADDED);
    }
    assert_equal_worlds(k.w, k.control);
    k.hash = reef_hash(k.w);
    for (uint32_t id = TABLE_EMPTY; id < k.w->state.tables.count * TABLES_PER_PAGE; id++) walk_table(&k, id);
    walk_ids(&k);
    walk_names(&k);
    assert_true(hash_anew(k.w) == k.hash);
    assert_equal_worlds(k.w, k.control);
    assert_in_range(k.counted, 7000, 20000);
    assert_in_range(k.skipped, 40 * 7 + 4 + 4, 2000); /* paddings, Partial.hidden, Local */
}

/* The same of what lies outside of the rows and beside them: values in each other home, marks, singletons, events,
 * time, the seed. */
#define ELSEWHERE(X) \
    X(Sparse, REEF_SPARSE) \
    X(Paged, REEF_PAGED) \
    X(Cold, REEF_COLD) \
    X(Multi, REEF_MULTI) \
    X(Shared, REEF_SHARED)
#define X(name, home) \
    typedef struct { \
        uint8_t kind; \
        uint32_t number, hidden; \
    } name##Value; \
    REEF_COMPONENT_IN(name##Value, home); \
    REEF_FIELDS(name##Value, kind, number);
ELSEWHERE(X)
#undef X

static void hear(reef_block *b) { (void)reef_receive(b, Padded); }

static void build_elsewhere(reef_world *w)
{
    enum { SOME = 20 };
    assert_false(reef_system_is_null(reef_system(w, hear, "; receives Padded")));
    for (int i = 0; i < SOME; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Point, 1, 2));
#define X(name, home) \
    if (i % 2) assert_int_equal(reef_set(w, e, name##Value, 1, 2, 3), REEF_ADDED);
        ELSEWHERE(X)
#undef X
        if (i % 4 == 1) assert_true(reef_disable(w, e, Point) >= 0);
        if (i % 4 == 3) assert_true(reef_disable(w, e, ColdValue) >= 0);
        if (i % 5 == 1) assert_true(reef_disable(w, e) >= 0);
    }
    reef_append(w, reef_entity_at(w, 1), MultiValue, 4, 5, 6);
    assert_int_equal(reef_share(w, reef_entity_at(w, 3), reef_entity_at(w, 0), SharedValue), REEF_ADDED);
    assert_int_equal(reef_single_set(w, Point, 7, 8), REEF_ADDED);
    assert_ok(reef_tick(w, 0.25f));
    for (int i = 0; i < 3; i++) assert_ok(reef_post(w, Padded, 1, 2));
}

typedef struct found {
    const void *data[400];
    size_t size[400];
    reef_component of[400];
    uint32_t count;
} found;

static bool find_value(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    found *f = context;
    (void)e;
    if (data == NULL) return true;
    assert_true(f->count < 400);
    f->data[f->count] = data;
    f->size[f->count] = size;
    f->of[f->count++] = c;
    return true;
}

static void walk_number(walk *k, uint64_t *number, const char *what)
{
    for (uint32_t i = 0; i < sizeof *number; i++) walk_byte(k, (char *)number + i, true, what);
}

static void each_byte_outside_of_the_rows_counts(void **test)
{
    static found f;
    walk k = {.w = world_of(test), .control = another_world(test, NULL)};
    build_elsewhere(k.w);
    build_elsewhere(k.control);
    assert_equal_worlds(k.w, k.control);
    k.hash = reef_hash(k.w);
    f.count = 0;
    reef_visit_world(k.w, find_value, &f);
    for (uint32_t i = 0; i < f.count; i++) {
        const type *t = reef__type_of(f.of[i].id);
        if (t->home != REEF_TABLE)
            for (uint32_t b = 0; b < f.size[i]; b++)
                walk_byte(&k, (char *)(uintptr_t)f.data[i] + b, byte_counts(t, b % t->size), t->name);
    }
    assert_in_range(k.counted, 5 * 10 * 5, 500);
    const event_store *events = k.w->state.events;
    reef_events waiting = reef__events_waiting(k.w, events);
    uint32_t n;
    for (const char *run; (run = reef_event_run(&waiting, &n)) != NULL;)
        for (uint32_t b = 0; b < n * sizeof(Padded); b++)
            walk_byte(&k, (char *)(uintptr_t)run + b, byte_counts(reef__type_of(events->component), b % sizeof(Padded)),
                      "an event");
    walk_number(&k, &k.w->state.ticks, "the ticks");
    walk_number(&k, &k.w->state.time_ns, "the time");
    walk_number(&k, &k.w->state.seed, "the seed");
    k.w->state.single.generation ^= 1;
    changed(&k, true, "the entity of the singletons");
    k.w->state.single.generation ^= 1;
    const uint64_t marks = k.counted;
    for (uint32_t id = TABLE_EMPTY; id < k.w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(k.w, id);
        for (uint32_t unit = t ? t->first : 0; unit; unit = unit_slots(k.w, unit)[0].head.next)
            for (uint32_t s = 0; s < k.w->state.bit_count; s++)
                for (uint32_t row = 0; row < chunk_rows(t, unit); row++) {
                    uint64_t *words = (uint64_t *)(uintptr_t)bit_words(&k.w->state.bits[s], unit);
                    if (!words || !(words[row / 64] >> row % 64 & 1)) continue;
                    words[row / 64] ^= (uint64_t)1 << row % 64;
                    changed(&k, true, "a mark, or who has something");
                    words[row / 64] ^= (uint64_t)1 << row % 64;
                }
    }
    assert_int_equal(k.counted - marks, 5 + 5 + 4 + 3 * 10 + 11); /* and who has what, but for what is cold */
    assert_true(hash_anew(k.w) == k.hash);
    assert_equal_worlds(k.w, k.control);
}

/* ---- a life ---- */

enum { FORKS = 6, CROWD = 300 };

static void live(reef_world *w, uint64_t *seed)
{
    reef_entity e = reef_entity_at(w, random_below(seed, CROWD));
    char name[32];
    uint32_t what = random_below(seed, 12);
    if (reef_entity_is_null(e))
        e = what & 1 ? reef_create(w) : reef_spawn(w, reef_with(Point, (float)what, 0), reef_tag(Seen));
    else if (what == 0) assert_ok(reef_destroy(w, e));
    else if (what == 1) assert_true(reef_set(w, e, Point, (float)random_below(seed, 9), 1) >= 0);
    else if (what == 2) assert_true(reef_set(w, e, Padded, 1, random_below(seed, 9)) >= 0);
    else if (what == 3) assert_true(reef_set(w, e, Mass, 1) >= 0);
    else if (what == 4) (void)(reef_has(w, e, Mass) ? reef_remove(w, e, Mass) : reef_add(w, e, Frozen));
    else if (what == 5) (void)(reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake));
    else if (what == 6) (void)reef_remove_all(w, e);
    else if (what == 7)
        snprintf(name, sizeof name, "n%u", e.index), assert_ok(reef_set_name(w, e, reef_name(w, e) ? NULL : name));
    else if (what == 8) (void)reef_release_id(w, reef_reserve_id(w));
    else if (what == 9 && random_below(seed, 9) == 0) assert_some(reef_reserve_id(w));
    else if (what == 10 && random_below(seed, 99) == 0) assert_ok(remove_everywhere(w, reef_id(Mass), NULL));
    else if (what == 11 && reef_has(w, e, Point)) reef_mut(w, e, Point)->y += 1;
}

static void kept_hashes_stay_right_over_a_life_with_forks(void **test)
{
    reef_world *w = reef_fork(world_of(test)), *fork[FORKS];
    uint64_t seed = 5, equal = 0, unequal = 0;
    for (int i = 0; i < FORKS; i++) fork[i] = reef_fork(w);
    for (int step = 0; step < 1000; step++) {
        for (uint32_t n = random_below(&seed, 12); n > 0; n--) live(w, &seed);
        if (random_below(&seed, 3) == 0) (void)reef_hash(w);
        const uint32_t i = random_below(&seed, FORKS);
        const bool same = reef_hash(w) == reef_hash(fork[i]);
        reef_world *fresh = reef_fork(w);
        assert_int_equal(reef_equal(w, fork[i], NULL), same);
        same ? equal++ : unequal++;
        if (random_below(&seed, 4) == 0) { /* back to an old one */
            reef_world_free(w);
            w = fork[i];
        } else {
            reef_world_free(fork[i]);
        }
        fork[i] = fresh;
        if (step % 10 == 0) {
            const uint64_t kept = reef_hash(w);
            assert_true(kept != 0 && hash_anew(w) == kept);
        }
    }
    assert_true(equal > 10 && unequal > 100);
    assert_valid(w);
    for (int i = 0; i < FORKS; i++) reef_world_free(fork[i]);
    reef_world_free(w);
}

/* A kept hash of bytes is worth nothing once the type's fields are known. */
static void fields_that_come_later_make_the_kept_hash_void(void **test)
{
    reef_world *w = world_of(test);
    reef_component late = reef_type_new(&(reef_type_desc){.name = "FieldsComeLater", .size = 8, .align = 4}, NULL);
    const uint32_t bytes[2] = {1, 0xFFFFFFFF};
    reef_entity e = reef_create(w);
    assert_int_equal(reef_set_id(w, e, late, bytes, sizeof bytes), REEF_ADDED);
    uint64_t before = reef_hash(w);
    reef_snapshot *then = reef_snapshot_take(w);
    assert_ok(reef_type_describe(late, &(reef_field){.name = "first", .kind = REEF_U32, .bytes = 4}, 1));
    assert_true(reef_hash(w) != before);
    assert_ok(reef_restore(w, then)); /* with what it kept */
    uint64_t after = reef_hash(w);
    assert_true(after != before);
    assert_true(after == hash_anew(w));
    reef_snapshot_free(then);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_an_open_loop_the_hash_sees_what_is_written),
        TEST(without_memory_the_hash_is_right_or_none),
        TEST(without_memory_the_comparison_does_not_lie),
        TEST(only_what_was_written_is_hashed_again),
        TEST(a_fork_takes_the_kept_hashes_along),
        TEST(fields_that_come_later_make_the_kept_hash_void),
        TEST(each_byte_that_counts_changes_the_hash_and_no_other),
        TEST(each_byte_outside_of_the_rows_counts),
        TEST(kept_hashes_stay_right_over_a_life_with_forks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
