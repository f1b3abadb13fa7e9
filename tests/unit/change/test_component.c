/* Components of an entity: adding, setting, removing, several at once; rows that move. */
#include "support.h"

typedef struct {
    double a, b;
} Wide;
REEF_COMPONENT(Wide);

/* ---- A3: by id alone ---- */

static void everything_works_by_id_alone(void **state)
{
    reef_world *w = world_of(state);
    reef_component c = numbered_type("byid", 1, 12, 4);
    reef_entity e = reef_create(w), f = reef_create(w);
    uint32_t value[3] = {1, 2, 3}, *out = NULL;
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    assert_int_equal(info.size, 12);
    assert_int_equal(info.align, 4);
    assert_string_equal(info.name, "byid00001");
    assert_status(REEF_ADDED, reef_set_id(w, e, c, value, sizeof value));
    assert_memory_equal(reef_get_id(w, e, c), value, sizeof value);
    assert_ok(reef_add_id(w, f, c, NULL, (void **)&out));
    assert_ptr_equal(out, reef_get_id(w, f, c));
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
    out[1] = 9;
    assert_ptr_equal(reef_mut_id(w, f, c), reef_get_id(w, f, c));
    assert_int_equal(((const uint32_t *)reef_get_id(w, f, c))[1], 9);
    assert_true(reef_has_id(w, e, c));
    assert_int_equal(reef_count_id(w, c), 2);
    assert_ok(reef_remove_id(w, e, c));
    assert_false(reef_has_id(w, e, c));
    assert_null(reef_get_id(w, e, c));
    assert_int_equal(reef_count_id(w, c), 1);
    uint64_t removed = 0;
    assert_ok(remove_everywhere(w, c, &removed));
    assert_int_equal(removed, 1);
    assert_int_equal(reef_count_id(w, c), 0);
    assert_true(reef_is_alive(w, f));
}

static void clear_takes_a_type_from_every_table(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[60];
    for (int i = 0; i < 60; i++) {
        e[i] = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Health, i, i), reef_tag(Hungry));
        if (i % 2) assert_ok(reef_add(w, e[i], Velocity));
        if (i % 3 == 0) assert_ok(reef_remove(w, e[i], Health));
        if (i % 5 == 0) assert_ok(reef_add(w, e[i], Awake));
    }
    assert_int_equal(reef_count(w, Health), 40);
    assert_ok(remove_everywhere(w, reef_id(Health), NULL));
    assert_ok(remove_everywhere(w, reef_id(Hungry), NULL));
    assert_ok(remove_everywhere(w, reef_id(Awake), NULL));
    assert_ok(remove_everywhere(w, reef_id(Mass), NULL)); /* nobody has it */
    assert_valid(w);
    assert_int_equal(reef_count(w, Health) + reef_count(w, Hungry) + reef_count(w, Awake), 0);
    assert_int_equal(reef_count(w, Position), 60);
    assert_int_equal(reef_count(w, Velocity), 30);
    for (int i = 0; i < 60; i++) {
        assert_position(w, e[i], (float)i, 0);
        assert_false(reef_has(w, e[i], Health) || reef_has(w, e[i], Hungry) || reef_has(w, e[i], Awake));
    }
    assert_int_equal(reef_world_stats(w).tables, 2);
}

/* ---- A4: add, set, ensure ---- */

static void set_adds_or_replaces_and_says_which(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set(w, e, Position, 1, 2));
    assert_position(w, e, 1, 2);
    assert_status(REEF_OK, reef_set(w, e, Position, 3, 4));
    assert_position(w, e, 3, 4);
    assert_status(REEF_ADDED, reef_set(w, e, Health, .most = 9));
    assert_int_equal(reef_get(w, e, Health)->now, 0);
    assert_int_equal(reef_get(w, e, Health)->most, 9);
    assert_position(w, e, 3, 4);
    Position p = {0, 0};
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Position), &p, sizeof p - 1));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Velocity), &p, sizeof p + 1));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Frozen), &p, 1));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Awake), &p, 1));
    assert_position(w, e, 3, 4);
}

static void the_old_value_is_destroyed_once(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set(w, e, Tracked, .value = 1));
    ledger_count_anew();
    assert_status(REEF_OK, reef_set(w, e, Tracked, .value = 2));
    assert_int_equal(reef_get(w, e, Tracked)->value, 2);
    assert_int_equal(book.copied, 1);
    assert_int_equal(book.destroyed, 1);
    assert_int_equal(book.constructed, 0);
    assert_int_equal(book.live, 1);
}

static void add_refuses_what_is_there(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen), reef_tag(Awake), reef_with(Tracked, .value = 4));
    ledger_count_anew();
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Position));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Frozen));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Awake));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Tracked));
    assert_int_equal(book.constructed + book.destroyed + book.moved + book.copied, 0);
    assert_position(w, e, 1, 2);
}

static void an_added_component_is_zero_also_in_used_memory(void **state)
{
    reef_world *w = world_of(state);
    for (int round = 0; round < 3; round++) {
        reef_entity e[20];
        for (int i = 0; i < 20; i++) {
            e[i] = reef_create(w);
            Cargo *cargo = NULL;
            assert_ok(reef_add_id(w, e[i], reef_id(Cargo), NULL, (void **)&cargo));
            for (size_t k = 0; k < sizeof *cargo; k++) assert_int_equal(cargo->byte[k], 0);
            memset(cargo, 0xCC, sizeof *cargo);
            assert_ok(reef_add(w, e[i], Mass));
            assert_true(reef_get(w, e[i], Mass)->kg == 0);
            reef_mut(w, e[i], Mass)->kg = 5;
        }
        for (int i = 0; i < 20; i++) assert_ok(round == 1 ? reef_remove_all(w, e[i]) : reef_destroy(w, e[i]));
    }
}

static void ensure_gives_the_one_there_or_makes_it(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    Position *p = reef_ensure(w, e, Position);
    assert_true(p->x == 1 && p->y == 2);
    assert_ptr_equal(p, reef_get(w, e, Position));
    Velocity *v = reef_ensure(w, e, Velocity);
    assert_true(v->x == 0 && v->y == 0);
    assert_ptr_equal(v, reef_get(w, e, Velocity));
    assert_position(w, e, 1, 2);
    int32_t args = 31;
    assert_int_equal(((Tracked *)reef_ensure_id(w, e, reef_id(Tracked), &args))->value, 31);
    args = 32;
    assert_int_equal(((Tracked *)reef_ensure_id(w, e, reef_id(Tracked), &args))->value, 31);
    assert_int_equal(book.constructed, 1);
    assert_null(reef_ensure_id(w, e, reef_id(Frozen), NULL)); /* a tag has no data, but is made */
    assert_true(reef_has(w, e, Frozen));
    assert_null(reef_ensure_id(w, e, reef_id(Awake), NULL));
    assert_true(reef_has(w, e, Awake));
}

static void tags_come_and_go(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    void *out = &e;
    assert_ok(reef_add_id(w, e, reef_id(Frozen), NULL, &out));
    assert_null(out);
    assert_true(reef_has(w, e, Frozen));
    assert_null(reef_get_id(w, e, reef_id(Frozen)));
    assert_int_equal(reef_count(w, Frozen), 1);
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Hungry), NULL, 0));
    assert_status(REEF_OK, reef_set_id(w, e, reef_id(Hungry), NULL, 0));
    assert_ok(reef_remove(w, e, Frozen));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Frozen));
    assert_true(reef_has(w, e, Hungry));
    assert_position(w, e, 1, 2);
}

static void mut_of_what_is_absent_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), bare = reef_create(w);
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, e, Velocity));
    assert_no_pointer(w, REEF_ABSENT, reef_mut_id(w, e, reef_id(Mass)));
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, bare, Position));
    reef_mut(w, e, Position)->x = 8;
    assert_position(w, e, 8, 2);
}

/* ---- A5: the last row moves into the hole ---- */

static void the_last_row_fills_each_hole(void **state)
{
    enum { N = 20 };
    for (int hole = 0; hole < N; hole++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[N];
        for (int i = 0; i < N; i++)
            e[i] = reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Cargo, {(uint8_t)i, 7}),
                              reef_with(Tracked, .value = i));
        assert_ok(hole % 2 ? reef_destroy(w, e[hole]) : reef_remove(w, e[hole], Cargo));
        assert_valid(w);
        for (int i = 0; i < N; i++) {
            if (i == hole) continue;
            assert_position(w, e[i], (float)i, 1);
            assert_int_equal(reef_get(w, e[i], Cargo)->byte[0], i);
            assert_int_equal(reef_get(w, e[i], Tracked)->value, i);
        }
        const Position *last = reef_get(w, e[N - 1], Position), *first = reef_get(w, e[0], Position);
        if (hole > 0 && hole < N - 1) assert_ptr_equal(last, first + hole);
        end_world(state, w);
    }
}

/* More than two chunks, in random order, by removal and by death. */
static void random_holes_in_a_large_table(void **state)
{
    enum { N = 3000 };
    reef_world *w = world_of(state);
    static reef_entity e[N];
    static int gone[N];
    uint64_t seed = 3;
    memset(gone, 0, sizeof gone);
    for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Mass, i), reef_with(Flag, (uint8_t)i), reef_tag(Hungry));
    for (int round = 0; round < N - 5; round++) {
        uint32_t i = random_below(&seed, N);
        while (gone[i]) i = (i + 1) % N;
        gone[i] = 1 + round % 2;
        assert_ok(gone[i] == 1 ? reef_destroy(w, e[i]) : reef_remove(w, e[i], Flag));
        if (round % 500 != 0 && round != N - 6) continue;
        assert_valid(w);
        for (int k = 0; k < N; k++) {
            assert_int_equal(reef_is_alive(w, e[k]), gone[k] != 1);
            if (gone[k] == 1) continue;
            assert_true(reef_get(w, e[k], Mass)->kg == k);
            if (gone[k] == 0) assert_int_equal(reef_get(w, e[k], Flag)->on, (uint8_t)k);
            else assert_false(reef_has(w, e[k], Flag));
        }
    }
    assert_int_equal(reef_count(w, Flag), 5);
}

/* ---- A6, E1, E5, E6 ---- */

static void removing_all_components_keeps_the_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen), reef_tag(Awake), reef_with(Tracked, .value = 1));
    reef_entity f = reef_spawn(w, reef_with(Position, 1, 2));
    assert_ok(reef_set_name(w, e, "stays"));
    assert_ok(reef_remove_all(w, e));
    assert_true(reef_is_alive(w, e));
    assert_string_equal(reef_name(w, e), "stays");
    assert_false(reef_has(w, e, Position) || reef_has(w, e, Frozen) || reef_has(w, e, Awake) ||
                 reef_has(w, e, Tracked));
    assert_int_equal(book.live, 0);
    assert_ok(reef_remove_all(w, e)); /* nothing left is no error */
    assert_ok(reef_remove(w, f, Position));
    assert_true(reef_is_alive(w, f));
    assert_int_equal(reef_world_stats(w).entities_empty, 2);
}

static void the_same_set_shares_a_table_whatever_the_order_of_adding(void **state)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    reef_world *w = world_of(state);
    reef_component c[3] = {reef_id(Position), reef_id(Health), reef_id(Frozen)};
    reef_entity e[7];
    for (int i = 0; i < 6; i++) {
        e[i] = reef_create(w);
        for (int k = 0; k < 3; k++) assert_ok(reef_add_id(w, e[i], c[orders[i][k]], NULL, NULL));
    }
    e[6] = reef_spawn(w, reef_tag(Frozen), reef_with(Health, 0, 0), reef_with(Position, 0, 0));
    assert_int_equal(reef_world_stats(w).tables, 1);
    for (int i = 1; i < 7; i++) assert_ptr_equal(reef_get(w, e[i], Position), reef_get(w, e[0], Position) + i);
}

static void a_transition_keeps_all_other_values(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    Cargo cargo = {{1, 2, 3}};
    for (int round = 0; round < 3; round++) {
        Position *p = NULL;
        assert_ok(reef_add_id(w, e, reef_id(Position), NULL, (void **)&p));
        *p = (Position){5, 6};
        assert_status(REEF_ADDED, reef_set(w, e, Flag, 1));
        assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Cargo), &cargo, sizeof cargo));
        assert_status(REEF_ADDED, reef_set(w, e, Mass, 2.5));
        assert_status(REEF_ADDED, reef_set(w, e, Tracked, .value = 17));
        assert_ok(reef_add(w, e, Hungry));
        assert_ok(reef_remove(w, e, Flag));
        assert_position(w, e, 5, 6);
        assert_memory_equal(reef_get(w, e, Cargo), &cargo, sizeof cargo);
        assert_true(reef_get(w, e, Mass)->kg == 2.5);
        assert_int_equal(reef_get(w, e, Tracked)->value, 17);
        assert_false(reef_has(w, e, Flag));
        assert_refused(w, REEF_ABSENT, reef_remove(w, e, Flag));
        assert_refused(w, REEF_ABSENT, reef_remove(w, e, Velocity));
        assert_ok(reef_remove_all(w, e));
    }
}

/* Adding and removing the same component from the same table must not be mixed up, in whatever order they are used. */
static void cached_transitions_know_their_direction(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)),
                f = reef_spawn(w, reef_with(Position, 3, 4), reef_with(Mass, 9));
    for (int i = 0; i < 10; i++) {
        assert_ok(reef_add(w, e, Mass));
        assert_ok(reef_remove(w, f, Mass));
        assert_true(reef_has(w, e, Mass) && !reef_has(w, f, Mass));
        assert_refused(w, REEF_EXISTS, reef_add(w, e, Mass));
        assert_refused(w, REEF_ABSENT, reef_remove(w, f, Mass));
        assert_ok(reef_remove(w, e, Mass));
        assert_ok(reef_add(w, f, Mass));
        assert_position(w, e, 1, 2);
        assert_position(w, f, 3, 4);
    }
}

/* Plain rows of 8 bytes a column, of 16, of other sizes: each has a path of its own. The value that is set lies in the
 * row that leaves, in the one that fills its hole, in another one, or in the table where the row goes. */
static void plain_rows_of_every_width_keep_their_values(void **state)
{
    enum { N = 40 };
    for (int width = 0; width < 3; width++)
        for (int from = 0; from < 4; from++) {
            reef_world *w = another_world(state, NULL);
            reef_entity e[N];
            for (int i = 0; i < N; i++) {
                e[i] = reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Mass, i));
                if (width == 1) assert_status(REEF_ADDED, reef_set(w, e[i], Wide, i, -i));
                if (width == 2) assert_status(REEF_ADDED, reef_set(w, e[i], Cargo, {(uint8_t)i, 3}));
            }
            for (int i = 0; i < N; i++) {
                int last = i == 0 ? N - 1 : i < N - 1 ? N - 1 : i;
                int source = from == 0 ? i : from == 1 ? last : from == 2 ? (i + 7) % N : i / 2;
                const void *value = reef_get(w, e[source], Position);
                assert_status(REEF_ADDED, reef_set_id(w, e[i], reef_id(Velocity), value, sizeof(Velocity)));
                assert_true(reef_get(w, e[i], Velocity)->x == (float)source);
            }
            for (int i = 0; i < N; i++) {
                assert_position(w, e[i], (float)i, 1);
                assert_true(reef_get(w, e[i], Mass)->kg == i);
                if (width == 1) assert_true(reef_get(w, e[i], Wide)->b == -i);
                if (width == 2) assert_int_equal(reef_get(w, e[i], Cargo)->byte[0], i);
                assert_ok(i % 2 ? reef_remove(w, e[i], Velocity) : reef_add(w, e[i], Health));
            }
            for (int i = 0; i < N; i++) assert_position(w, e[i], (float)i, 1);
            end_world(state, w);
        }
}

/* So many columns of 8 and of 16 bytes and one of another size, and each of them comes and goes, in front of,
 * between and behind the others, and a tag: all others go along. */
static void rows_of_many_columns_keep_their_values(void **state)
{
    enum { N = 12, WORDS = 6, PAIRS = 19, MOST = WORDS + PAIRS + 2 };
    reef_component type[MOST];
    for (uint32_t k = 0; k < MOST; k++) /* their names mix the sizes */
        type[k] = numbered_type("col", k * 7 % MOST,
                                k < WORDS            ? 8
                                : k < WORDS + PAIRS  ? 16
                                : k == WORDS + PAIRS ? 12
                                                     : 0,
                                k < WORDS + PAIRS ? 8 : 4);
    for (uint32_t pairs = 0; pairs <= PAIRS; pairs += pairs < 3 || pairs > 6 ? 1 : 2) {
        reef_world *w = another_world(state, NULL);
        const uint32_t words = pairs % (WORDS + 1);
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) {
            e[i] = reef_create(w);
            for (uint32_t k = 0; k < MOST; k++) {
                const uint64_t value[2] = {i * 1000 + k, ~(uint64_t)k};
                const uint32_t size = k < WORDS ? 8 : k < WORDS + PAIRS ? 16 : k == WORDS + PAIRS ? 12 : 0;
                if (k >= words && (k < WORDS || k >= WORDS + pairs) && k < WORDS + PAIRS) continue;
                if (size) assert_status(REEF_ADDED, reef_set_id(w, e[i], type[k], value, size));
                else assert_ok(reef_add_id(w, e[i], type[k], NULL, NULL));
            }
        }
        for (uint32_t turn = 0; turn < MOST; turn++) {
            const bool there = reef_has_id(w, e[0], type[turn]);
            const uint32_t size = turn < WORDS ? 8 : turn < WORDS + PAIRS ? 16 : turn == WORDS + PAIRS ? 12 : 0;
            for (uint32_t pass = 0; pass < 2; pass++) /* it goes and comes again, or comes and goes again */
                for (uint32_t i = 0; i < N; i++) {
                    const uint64_t value[2] = {i * 1000 + turn, ~(uint64_t)turn};
                    if (there == (pass == 0)) assert_ok(reef_remove_id(w, e[i], type[turn]));
                    else if (size) assert_status(REEF_ADDED, reef_set_id(w, e[i], type[turn], value, size));
                    else assert_ok(reef_add_id(w, e[i], type[turn], NULL, NULL));
                }
            for (uint32_t i = 0; i < N; i++)
                for (uint32_t k = 0; k <= WORDS + PAIRS; k++) {
                    const uint64_t *p = reef_get_id(w, e[i], type[k]), value[2] = {i * 1000 + k, ~(uint64_t)k};
                    assert_true((p != NULL) == (k < words || (k >= WORDS && k < WORDS + pairs) || k == WORDS + PAIRS));
                    if (p) assert_memory_equal(p, value, k < WORDS ? 8 : k < WORDS + PAIRS ? 16 : 12);
                }
        }
        end_world(state, w);
    }
}

static bool gather(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    char *text = context;
    (void)e, (void)size;
    strcat(text, reef_type_name(c));
    strcat(text, data ? "! " : " ");
    return true;
}

static void remove_get_has_and_list(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Velocity, 1, 1), reef_tag(Seen), reef_tag(Hungry), reef_with(Flag, 1));
    char text[128] = "";
    assert_true(reef_visit_entity(w, e, gather, text));
    assert_string_equal(text, "Flag! Hungry Seen Velocity! ");
    assert_ok(reef_remove(w, e, Hungry));
    assert_ok(reef_remove(w, e, Velocity));
    text[0] = 0;
    assert_true(reef_visit_entity(w, e, gather, text));
    assert_string_equal(text, "Flag! Seen ");
}

/* ---- several at once ---- */

/* One table has it, then two, then hundreds: who asks for it gets the same answers. */
static void any_number_of_tables_has_a_component(void **state)
{
    reef_world *w = world_of(state);
    reef_world *fork = NULL;
    reef_entity e[300], bare = reef_create(w), other = reef_spawn(w, reef_with(Velocity, 3, 4));
    Position read[300];
    reef_component tags[9] = {reef_id(Velocity)};
    for (int k = 1; k < 9; k++) {
        char name[8];
        snprintf(name, sizeof name, "tag_%d", k);
        tags[k] = reef_type_new(&(reef_type_desc){.name = name}, NULL);
    }
    for (int i = 0; i < 300; i++) {
        e[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
        for (int k = 0; k < 9; k++)
            if (i >> k & 1) assert_ok(reef_add_id(w, e[i], tags[k], NULL, NULL));
        if (i == 2) fork = reef_fork(w);
        for (int k = 0; k <= i; k++) {
            assert_true(reef_has(w, e[k], Position));
            assert_true(reef_get(w, e[k], Position)->x == (float)k);
            reef_mut(w, e[k], Position)->y += 1;
            assert_true(reef_has(w, e[k], Velocity) == (k & 1));
        }
        assert_false(reef_has(w, bare, Position));
        assert_false(reef_has(w, other, Position));
        assert_null(reef_get(w, other, Position));
        assert_int_equal(reef_get_many(w, Position, e, (uint32_t)i + 1, read), i + 1);
        assert_true(read[i].x == (float)i);
    }
    for (int i = 0; i < 300; i++) assert_true(reef_get(w, e[i], Position)->y == (float)(301 - i));
    for (int i = 0; i < 3; i++) assert_true(reef_get(fork, e[i], Position)->y == (float)(3 - i));
    assert_false(reef_has(fork, e[3], Position));
    assert_ok(reef_destroy(w, e[0]));
    assert_false(reef_has(w, e[0], Position));
    assert_null(reef_get(w, e[0], Position));
    reef_world_free(fork);
}

static void a_change_is_one_move(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Hungry), reef_tag(Awake));
    uint64_t moved = reef_world_stats(w).moved;
    assert_ok(reef_change(w, e, reef_with(Health, 5, 6), reef_with(Position, 7, 8), reef_without(Velocity),
                          reef_without(Hungry), reef_tag(Frozen), reef_without(Awake), reef_tag(Seen),
                          reef_without(Mass)));
    assert_int_equal(reef_world_stats(w).moved, moved + 1);
    assert_position(w, e, 7, 8);
    assert_int_equal(reef_get(w, e, Health)->most, 6);
    assert_true(reef_has(w, e, Frozen) && reef_has(w, e, Seen));
    assert_false(reef_has(w, e, Velocity) || reef_has(w, e, Hungry) || reef_has(w, e, Awake));
    assert_ok(reef_change(w, e, reef_with(Position, 9, 9))); /* no move at all */
    assert_int_equal(reef_world_stats(w).moved, moved + 1);
    assert_position(w, e, 9, 9);
    assert_ok(reef_change_values(w, e, NULL, 0));
}

static void a_default_in_a_change_starts_anew(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Mass, 5), reef_with(Tracked, .value = 6), reef_with(Loose, .value = 7));
    assert_ok(reef_change(w, e, reef_default(Mass), reef_default(Tracked), reef_default(Loose), reef_default(Flag)));
    assert_true(reef_get(w, e, Mass)->kg == 0);
    assert_int_equal(reef_get(w, e, Tracked)->value, 100);
    assert_int_equal(reef_get(w, e, Loose)->value, 0);
    assert_int_equal(reef_get(w, e, Flag)->on, 0);
    assert_int_equal(book.live, 1);
    assert_ok(reef_change(w, e, reef_default(Mass), reef_default(Tracked))); /* now without a move */
    assert_int_equal(book.live, 1);
    assert_int_equal(book.constructed, 2);
}

static void a_component_named_twice_in_a_change_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_refused(w, REEF_DUPLICATE_TERM, reef_change(w, e, reef_with(Mass, 1), reef_with(Mass, 2)));
    assert_refused(w, REEF_DUPLICATE_TERM, reef_change(w, e, reef_with(Position, 1, 1), reef_without(Position)));
    assert_refused(w, REEF_DUPLICATE_TERM, reef_change(w, e, reef_tag(Awake), reef_without(Awake)));
    assert_refused(w, REEF_WRONG_SIZE,
                   reef_change(w, e, reef_tag(Frozen), reef_value_make(reef_id(Mass), REEF_VALUE_ONE, 4, &e)));
    assert_position(w, e, 1, 2);
}

static void a_change_may_read_what_it_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    reef_value swap[] = {
        reef_value_make(reef_id(Mass), REEF_VALUE_ONE, sizeof(Position), reef_get(w, e, Position)),
        reef_value_make(reef_id(Position), REEF_VALUE_REMOVE, 0, NULL),
        reef_value_make(reef_id(Velocity), REEF_VALUE_ONE, sizeof(Position), reef_get(w, e, Position)),
    };
    assert_ok(reef_change_values(w, e, swap, 3));
    assert_true(reef_get(w, e, Velocity)->x == 1 && reef_get(w, e, Velocity)->y == 2);
    assert_memory_equal(reef_get(w, e, Mass), (&(Position){1, 2}), sizeof(Position));
    assert_false(reef_has(w, e, Position));
}

/* ---- B5: construction in place ---- */

static void the_constructor_gets_arguments_world_and_owner(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    int32_t args = 55;
    Tracked *t = NULL;
    assert_ok(reef_add_id(w, e, reef_id(Tracked), &args, (void **)&t));
    assert_int_equal(t->value, 55);
    assert_ptr_equal(book.world, w);
    assert_ptr_equal(book.args, &args);
    assert_entity(e, book.entity);
    assert_int_equal(book.constructed, 1);
    assert_int_equal(book.copied + book.moved + book.destroyed, 0);
    reef_entity f = reef_create(w);
    assert_ok(reef_add(w, f, Tracked));
    assert_int_equal(reef_get(w, f, Tracked)->value, 100);
    assert_null(book.args);
    assert_entity(f, book.entity);
    reef_entity g = reef_spawn(w, reef_tag(Frozen), reef_default(Tracked));
    assert_entity(g, book.entity);
    args = 56;
    reef_entity h = reef_spawn(w, reef_value_make(reef_id(Tracked), REEF_VALUE_DEFAULT, 0, &args));
    assert_int_equal(reef_get(w, h, Tracked)->value, 56);
    assert_entity(h, book.entity);
    assert_int_equal(book.constructed, 4);
    assert_int_equal(book.copied, 0);
}

static void a_value_made_outside_is_moved_in(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    Unique own;
    unique_make(&own, 12);
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Unique), &own, sizeof own));
    assert_int_equal(reef_get(w, e, Unique)->value, 12);
    assert_int_equal(book.live, 1);
    assert_true(book.moved >= 1);
    assert_int_equal(book.copied + book.destroyed + book.constructed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(everything_works_by_id_alone),
        TEST(clear_takes_a_type_from_every_table),
        TEST(set_adds_or_replaces_and_says_which),
        TEST(the_old_value_is_destroyed_once),
        TEST(add_refuses_what_is_there),
        TEST(an_added_component_is_zero_also_in_used_memory),
        TEST(ensure_gives_the_one_there_or_makes_it),
        TEST(tags_come_and_go),
        TEST(mut_of_what_is_absent_is_refused),
        TEST(the_last_row_fills_each_hole),
        TEST(random_holes_in_a_large_table),
        TEST(removing_all_components_keeps_the_entity),
        TEST(the_same_set_shares_a_table_whatever_the_order_of_adding),
        TEST(a_transition_keeps_all_other_values),
        TEST(cached_transitions_know_their_direction),
        TEST(plain_rows_of_every_width_keep_their_values),
        TEST(rows_of_many_columns_keep_their_values),
        TEST(remove_get_has_and_list),
        TEST(any_number_of_tables_has_a_component),
        TEST(a_change_is_one_move),
        TEST(a_default_in_a_change_starts_anew),
        TEST(a_component_named_twice_in_a_change_is_refused),
        TEST(a_change_may_read_what_it_changes),
        TEST(the_constructor_gets_arguments_world_and_owner),
        TEST(a_value_made_outside_is_moved_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
