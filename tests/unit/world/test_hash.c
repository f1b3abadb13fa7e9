/* The state hash and the comparison of worlds: what counts, what doesn't, and that each names what differs. */
#include "hash_state.h"
#include "inside.h"

/* ---- equal ---- */

static void equal_states_hash_equal_whatever_the_way_there(void **test)
{
    reef_world *w = world_of(test), *roomy = another_world(test, NULL), *backwards = another_world(test, NULL);
    build(w, AS_IT_IS, AT_ONCE, 0);
    assert_ok(reef_reserve(roomy, 20000));
    assert_ok(reef_reserve_for(roomy, 5000, (reef_component[]){reef_id(Point), reef_id(Padded)}, 2));
    build(roomy, AS_IT_IS, ONE_BY_ONE, 0);
    build(backwards, AS_IT_IS, BACKWARDS, 0);
    assert_ok(reef_shrink(backwards));
    assert_equal_worlds(w, roomy);
    assert_equal_worlds(w, backwards);
    assert_true(hash_anew(w) == reef_hash(roomy));
}

static void a_world_that_grew_shrank_and_was_restored_hashes_as_a_fresh_one(void **test)
{
    reef_world *w = world_of(test), *old = another_world(test, NULL);
    reef_entity *many = calloc(5000, sizeof *many);
    build(w, AS_IT_IS, AT_ONCE, 0);
    reef_snapshot *empty = reef_snapshot_take(old);
    assert_ok(reef_spawn_many(old, 5000, many, reef_with(Point, 1, 2), reef_tag(Hungry), reef_tag(Seen)));
    assert_true(reef_hash(old) != reef_hash(w));
    assert_int_equal(reef_destroy_many(old, many, 4000), 4000);
    assert_true(reef_hash(old) != 0);
    assert_ok(reef_restore(old, empty));
    build(old, AS_IT_IS, BACKWARDS, 0);
    assert_equal_worlds(w, old);
    reef_snapshot *then = reef_snapshot_take(old);
    assert_ok(reef_world_clear(old));
    (void)assert_different(w, old, REEF_HASH_IDS, NULL);
    assert_ok(reef_restore(old, then));
    assert_equal_worlds(w, old);
    reef_world *fork = reef_snapshot_fork(then);
    reef_snapshot_free(then);
    reef_snapshot_free(empty);
    assert_equal_worlds(w, fork);
    vary(fork, ONE_BIT);
    assert_equal_worlds(w, old);
    (void)assert_different(old, fork, REEF_HASH_COLUMN, NULL);
    vary(w, ONE_BIT);
    assert_equal_worlds(w, fork);
    reef_world_free(fork);
    free(many);
}

static void empty_worlds_are_equal_whatever_they_know(void **test)
{
    reef_world *w = world_of(test), *used = another_world(test, NULL);
    assert_equal_worlds(w, used);
    reef_snapshot *empty = reef_snapshot_take(used);
    build(used, AS_IT_IS, AT_ONCE, 0);
    assert_ok(reef_restore(used, empty));
    reef_snapshot_free(empty);
    assert_equal_worlds(w, used);
    reef_entity e = reef_spawn(used, reef_tag(Awake));
    assert_some(e);
    (void)assert_different(w, used, REEF_HASH_IDS, "Index 0 differs: entities none and 0v1");
}

static void a_switch_alone_has_a_row_that_counts(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    for (int i = 0; i < 2; i++) {
        assert_some(reef_spawn(w, reef_tag(Awake)));
        assert_some(reef_spawn(other, reef_tag(Awake)));
    }
    assert_equal_worlds(w, other);
    assert_ok(reef_add(w, reef_entity_at(w, 1), Seen));
    (void)assert_different(w, other, REEF_HASH_SWITCH, "Seen of entity 1v1 differs (table without components, row 1)");
}

/* ---- the order in which types are registered: a second process ---- */

static const char *program;

static uint64_t hash_of_types(bool backwards)
{
    reef_component c[6] = {{0}};
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t k = backwards ? 5 - i : i;
        c[k] = numbered_type("HashOrder", k, k < 4 ? 4 * (k + 1) : 0, k < 4 ? 4 : 1);
    }
    reef_world *w = reef_world_new(NULL);
    for (uint32_t n = 0; n < 200; n++) {
        reef_entity e = reef_create(w);
        for (uint32_t i = 0; i < 6; i++)
            if (n >> i & 1) assert_ok(reef_add_id(w, e, c[i], NULL, NULL));
        if (n & 1) memcpy(reef_mut_id(w, e, c[0]), &n, sizeof n);
    }
    uint64_t hash = reef_hash(w);
    reef_world_free(w);
    return hash;
}

static void the_hash_is_the_same_whatever_the_order_of_registration(void **test)
{
    char command[4096];
    uint64_t hash = hash_of_types(false);
    (void)test;
    assert_true(hash != 0);
    snprintf(command, sizeof command, "\"%s\" backwards %" PRIu64, program, hash);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "\"%s\" backwards %" PRIu64, program, hash + 1); /* the command can say no */
    assert_int_not_equal(system(command), 0);
}

/* ---- different ---- */

static void whatever_differs_is_hashed_and_named(void **test)
{
    reef_world *w = world_of(test);
    uint64_t hashes[VARIATIONS];
    build(w, AS_IT_IS, AT_ONCE, 0);
    hashes[0] = reef_hash(w);
    reef_snapshot *then = reef_snapshot_take(w);
    for (uint32_t v = ONE_BIT; v < VARIATIONS; v++) {
        reef_world *other = another_world(test, NULL), *fork = reef_snapshot_fork(then);
        build(other, (variation)v, AT_ONCE, 0);
        (void)assert_different(w, other, different[v].kind, different[v].text);
        vary(fork, (variation)v);
        bool in_place = reef_hash(fork) != hashes[0]; /* else it happens while the world is built */
        if (in_place) assert_equal_worlds(fork, other);
        if (in_place) (void)assert_different(w, fork, different[v].kind, different[v].text);
        else assert_equal_worlds(w, fork);
        assert_true(hash_anew(fork) == reef_hash(in_place ? other : w));
        hashes[v] = reef_hash(other);
        for (uint32_t i = 0; i < v; i++) assert_true(hashes[i] != hashes[v]);
        reef_world_free(fork);
        end_world(test, other);
    }
    reef_snapshot_free(then);
    assert_true(reef_hash(w) == hashes[0]);
}

static void padding_and_what_is_no_field_do_not_count(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    build(w, AS_IT_IS, AT_ONCE, 0x00);
    build(other, AS_IT_IS, ONE_BY_ONE, 0xFF);
    reef_entity e = reef_entity_at(w, 68);
    assert_int_equal(reef_set(w, e, Partial, 1, 2, 3), REEF_ADDED);
    assert_int_equal(reef_set(other, e, Partial, 1, 99, 3), REEF_ADDED);
    /* compilers needn't copy padding */
    ((unsigned char *)reef_mut(other, reef_entity_at(other, 2), Padded))[offsetof(Padded, number) - 1] = 0xFF;
    assert_memory_not_equal(reef_get(w, reef_entity_at(w, 2), Padded), reef_get(other, reef_entity_at(w, 2), Padded),
                            sizeof(Padded));
    assert_equal_worlds(w, other);
    reef_mut(other, e, Partial)->last = 4;
    (void)assert_different(w, other, REEF_HASH_COLUMN, "Partial of entity 68v1 differs (table Partial, row 0)");
}

static void bytes_of_types_without_fields_all_count(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    Bare a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ((uint8_t *)&b)[3] = 1;
    assert_some(reef_spawn_values(w, &(reef_value){reef_id(Bare), REEF_VALUE_ONE, sizeof a, &a}, 1));
    assert_some(reef_spawn_values(other, &(reef_value){reef_id(Bare), REEF_VALUE_ONE, sizeof b, &b}, 1));
    (void)assert_different(w, other, REEF_HASH_COLUMN, "Bare of entity 0v1 differs (table Bare, row 0)");
}

static void values_that_forks_do_not_get_count_by_their_presence(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    assert_some(reef_spawn(w, reef_with(Local, 1), reef_with(Mass, 2)));
    assert_some(reef_spawn(other, reef_with(Local, 5), reef_with(Mass, 2)));
    assert_equal_worlds(w, other);
    assert_ok(reef_remove(w, reef_entity_at(w, 0), Local));
    (void)assert_different(w, other, REEF_HASH_ROWS, "The entities differ: none and 0v1 (table Local, Mass, row 0)");
}

/* ---- sizes ---- */

static void check_row(reef_world *w, reef_world *other, uint32_t row)
{
    const reef_entity e = reef_entity_at(w, row);
    const bool on = reef_has(w, e, Awake);
    flip(&reef_mut(w, e, Point)->y);
    assert_int_equal(assert_different(w, other, REEF_HASH_COLUMN, NULL).row, row);
    flip(&reef_mut(w, e, Point)->y);
    assert_equal_worlds(w, other);
    reef_mut(w, e, Padded)->number ^= (uint64_t)1 << 63;
    assert_int_equal(assert_different(w, other, REEF_HASH_COLUMN, NULL).component.id, reef_id(Padded).id);
    reef_mut(w, e, Padded)->number ^= (uint64_t)1 << 63;
    assert_ok(on ? reef_remove(w, e, Awake) : reef_add(w, e, Awake));
    assert_int_equal(assert_different(w, other, REEF_HASH_SWITCH, NULL).row, row);
    assert_ok(on ? reef_add(w, e, Awake) : reef_remove(w, e, Awake));
    assert_equal_worlds(w, other);
}

static void any_number_of_rows_hashes_and_compares(void **test)
{
    static const uint32_t sizes[] = {0, 1, 2, 63, 64, 1023, 1024, 1025, 2048, 5000};
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t rows = sizes[s], some[] = {0, 1, 63, 64, 1022, 1023, 1024, 2047, 2048, rows - 2, rows - 1};
        reef_world *w = another_world(test, NULL), *other = another_world(test, NULL), *fork;
        spawn_rows(w, rows);
        spawn_rows(other, rows);
        assert_equal_worlds(w, other);
        fork = reef_fork(w);
        for (uint32_t i = 0; i < sizeof some / sizeof some[0]; i++) {
            if (some[i] >= rows) continue;
            check_row(w, other, some[i]);
            check_row(fork, other, some[i]);
            assert_equal_worlds(w, fork);
        }
        if (rows) {
            assert_ok(reef_destroy(w, reef_entity_at(w, rows - 1)));
            (void)assert_different(w, other, REEF_HASH_IDS, NULL);
        }
        reef_world_free(fork);
        end_world(test, other);
        end_world(test, w);
    }
}

static void the_chunk_of_a_switch_counts(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    reef_entity e[3000];
    assert_ok(reef_spawn_many(w, 3000, e, reef_with(Mass, 1)));
    assert_ok(reef_spawn_many(other, 3000, e, reef_with(Mass, 1)));
    assert_ok(reef_add(w, e[5], Awake));
    assert_ok(reef_add(other, e[1024 + 5], Awake));
    (void)assert_different(w, other, REEF_HASH_SWITCH, "Awake of entity 5v1 differs (table Mass, row 5)");
}

static void an_id_taken_out_of_turn_leaves_no_trace(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL), *fork;
    for (uint32_t i = 0; i < 8; i++) {
        assert_some(reef_create(w));
        assert_ok(reef_create_as(other, (reef_entity){i, i == 3 ? 2 : 1}));
    }
    for (uint32_t i = 0; i < 8; i++) {
        assert_ok(reef_destroy(w, reef_entity_at(w, i)));
        if (i != 3) assert_ok(reef_destroy(other, reef_entity_at(other, i)));
    }
    assert_ok(reef_create_as(w, (reef_entity){3, 2}));
    assert_equal_worlds(w, other);
    fork = reef_fork(w);
    for (uint32_t i = 0; i < 2; i++) { /* behind the hole the order counts; the hole doesn't */
        reef_world *x = i ? fork : other;
        assert_ok(reef_create_as(x, (reef_entity){6, 2}));
        assert_ok(reef_destroy(x, (reef_entity){6, 2}));
        (void)assert_different(w, x, REEF_HASH_IDS,
                               "Index 6 differs: whether it is free, reserved or used up, or its next generation");
    }
    assert_equal_worlds(fork, other);
    assert_ok(reef_create_as(w, (reef_entity){7, 2}));
    assert_ok(reef_create_as(w, (reef_entity){6, 3}));
    assert_ok(reef_create_as(other, (reef_entity){7, 2}));
    assert_ok(reef_create_as(other, (reef_entity){6, 3}));
    assert_equal_worlds(w, other);
    assert_ok(reef_destroy(w, (reef_entity){7, 2})), assert_ok(reef_destroy(w, (reef_entity){6, 3}));
    assert_ok(reef_destroy(other, (reef_entity){6, 3})), assert_ok(reef_destroy(other, (reef_entity){7, 2}));
    (void)assert_different(w, other, REEF_HASH_IDS, "Free id 5 differs: 7v3 and 6v4");
    reef_world_free(fork);
}

static void any_number_of_names_hashes_and_compares(void **test)
{
    char name[32];
    for (uint32_t names = 0; names < 70; names += names < 28 ? 14 : 1) {
        reef_world *w = another_world(test, NULL), *other = another_world(test, NULL), *fork;
        for (uint32_t i = 0; i < 70; i++) (void)reef_create(w), (void)reef_create(other);
        for (uint32_t i = 0; i < 70; i++) {
            snprintf(name, sizeof name, "n%u", i);
            if (i < names) assert_ok(reef_set_name(w, reef_entity_at(w, i), name));
            snprintf(name, sizeof name, "n%u", 69 - i); /* backwards, and more than stay */
            assert_ok(reef_set_name(other, reef_entity_at(other, 69 - i), name));
        }
        (void)assert_different(w, other, REEF_HASH_NAMES, NULL);
        for (uint32_t i = names; i < 70; i++) assert_ok(reef_set_name(other, reef_entity_at(other, i), NULL));
        fork = reef_fork(other);
        assert_equal_worlds(w, other);
        assert_equal_worlds(w, fork);
        assert_ok(reef_set_name(fork, reef_entity_at(fork, names), "one more"));
        (void)assert_different(fork, other, REEF_HASH_NAMES, NULL);
        reef_world_free(fork);
        end_world(test, w);
        end_world(test, other);
    }
}

/* ---- parts ---- */

enum { PARTS_MAX = 64 };

typedef struct parts {
    reef_hash_part part[PARTS_MAX];
    char table[PARTS_MAX][128];
    uint32_t count, stop; /* after so many; 0: never */
} parts;

static bool part_seen(void *context, const reef_hash_part *part)
{
    parts *p = context;
    assert_true(p->count < PARTS_MAX);
    p->part[p->count] = *part;
    for (uint32_t i = 0; i < part->table_count; i++) {
        strcat(p->table[p->count], reef_type_name(part->table[i]));
        strcat(p->table[p->count], " ");
    }
    return ++p->count != p->stop;
}

static const char *part_text(const parts *p, uint32_t i, char *text, size_t size)
{
    static const char *const kinds[] = {"?", "ids", "names", "rows", "column", "switch", "type"};
    const reef_hash_part *h = &p->part[i];
    snprintf(text, size, "%s %s %" PRIu64 " %s", kinds[h->kind], h->component.id ? reef_type_name(h->component) : "-",
             h->rows, p->table[i]);
    return text;
}

static void the_parts_come_in_the_order_of_the_state(void **test)
{
    static const char *const wanted[] = {"ids - 71 ",
                                         "names - 8 ",
                                         "rows - 20 Bare Rich Wide ",
                                         "column Bare 20 Bare Rich Wide ",
                                         "column Rich 20 Bare Rich Wide ",
                                         "column Wide 20 Bare Rich Wide ",
                                         "rows - 20 Frozen Padded Point ",
                                         "column Frozen 20 Frozen Padded Point ",
                                         "column Padded 20 Frozen Padded Point ",
                                         "column Point 20 Frozen Padded Point ",
                                         "switch Seen 1 Frozen Padded Point ",
                                         "rows - 1 Mass ",
                                         "column Mass 1 Mass ",
                                         "rows - 20 Padded Point ",
                                         "column Padded 20 Padded Point ",
                                         "column Point 20 Padded Point ",
                                         "switch Awake 7 Padded Point ",
                                         "switch Seen 1 Padded Point ",
                                         "type Awake 7 ",
                                         "type Bare 20 ",
                                         "type Frozen 20 ",
                                         "type Mass 1 ",
                                         "type Padded 40 ",
                                         "type Point 40 ",
                                         "type Rich 20 ",
                                         "type Seen 2 ",
                                         "type Wide 20 "};
    reef_world *w = world_of(test);
    parts *p = calloc(1, sizeof *p);
    char text[512];
    build(w, AS_IT_IS, BACKWARDS, 0);
    const uint64_t hash = reef_hash_parts(w, part_seen, p);
    assert_true(hash == reef_hash(w));
    for (uint32_t i = 0; i < p->count && i < sizeof wanted / sizeof wanted[0]; i++)
        assert_string_equal(part_text(p, i, text, sizeof text), wanted[i]);
    assert_int_equal(p->count, sizeof wanted / sizeof wanted[0]);
    for (uint32_t stop = 1; stop <= sizeof wanted / sizeof wanted[0]; stop++) {
        *p = (parts){.stop = stop};
        assert_true(reef_hash_parts(w, part_seen, p) == 0);
        assert_int_equal(p->count, stop);
        assert_int_equal(reef_last_error(w).status, REEF_OK);
    }
    assert_true(reef_hash_parts(w, NULL, NULL) == hash);
    free(p);
}

static void only_the_parts_that_changed_differ(void **test)
{
    for (uint32_t v = ONE_BIT; v < VARIATIONS; v++) {
        if (v == ROW_ORDER) continue; /* many columns follow their rows */
        reef_world *w = another_world(test, NULL), *other = another_world(test, NULL);
        parts *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
        reef_difference d;
        uint32_t i = 0;
        build(w, AS_IT_IS, AT_ONCE, 0);
        build(other, (variation)v, AT_ONCE, 0);
        assert_true(reef_hash_parts(w, part_seen, a) != reef_hash_parts(other, part_seen, b));
        assert_false(reef_equal(w, other, &d));
        while (a->part[i].hash == b->part[i].hash && a->part[i].rows == b->part[i].rows &&
               strcmp(a->table[i], b->table[i]) == 0 && a->part[i].component.id == b->part[i].component.id)
            i++;
        if (d.kind != REEF_HASH_ROWS) assert_int_equal(a->part[i].kind, d.kind);
        if (d.kind == REEF_HASH_COLUMN) {
            assert_int_equal(a->part[i].component.id, d.component.id);
            assert_int_equal(a->part[i].table_count, d.table_count);
            for (uint32_t k = i + 1; k < a->count; k++) { /* nothing else but the type's sum */
                bool sum = a->part[k].kind == REEF_HASH_TYPE && a->part[k].component.id == d.component.id;
                assert_int_equal(a->part[k].hash != b->part[k].hash, sum);
            }
        }
        free(a), free(b);
        end_world(test, w);
        end_world(test, other);
    }
}

static void nothing_is_equal_to_no_world(void **test)
{
    reef_world *w = world_of(test);
    reef_difference d = {.kind = REEF_HASH_TYPE};
    char text[8] = "1234567";
    assert_false(reef_equal(w, NULL, &d));
    assert_int_equal(d.kind, 0);
    assert_false(reef_equal(NULL, w, NULL));
    assert_true(reef_equal(w, w, &d));
    assert_true(reef_hash(NULL) == 0);
    assert_int_equal(reef_difference_text(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    d = (reef_difference){.kind = REEF_HASH_NAMES, .entity = {3, 1}};
    assert_int_equal(reef_difference_text(&d, text, sizeof text), strlen("The name of entity 3v1 differs"));
    assert_string_equal(text, "The nam");
    assert_int_equal(reef_difference_text(&d, NULL, 0), strlen("The name of entity 3v1 differs"));
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "backwards") == 0)
        return hash_of_types(true) == strtoull(argv[2], NULL, 10) ? 0 : 1;
    const struct CMUnitTest tests[] = {
        TEST(equal_states_hash_equal_whatever_the_way_there),
        TEST(a_world_that_grew_shrank_and_was_restored_hashes_as_a_fresh_one),
        TEST(empty_worlds_are_equal_whatever_they_know),
        TEST(a_switch_alone_has_a_row_that_counts),
        TEST(the_hash_is_the_same_whatever_the_order_of_registration),
        TEST(whatever_differs_is_hashed_and_named),
        TEST(padding_and_what_is_no_field_do_not_count),
        TEST(bytes_of_types_without_fields_all_count),
        TEST(values_that_forks_do_not_get_count_by_their_presence),
        TEST(any_number_of_rows_hashes_and_compares),
        TEST(the_chunk_of_a_switch_counts),
        TEST(an_id_taken_out_of_turn_leaves_no_trace),
        TEST(any_number_of_names_hashes_and_compares),
        TEST(the_parts_come_in_the_order_of_the_state),
        TEST(only_the_parts_that_changed_differ),
        TEST(nothing_is_equal_to_no_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
