/* Hooks: each value is made once and ends once, whatever happens to its row. The ledger in support.c knows where every
 * value lives; the fixture looks for mistakes and survivors after each test. */
#include "support.h"

typedef Tracked TrackedToo;
REEF_COMPONENT_HOOKS(TrackedToo, &tracked_hooks);

/* ---- one value through everything ---- */

static void add_replace_remove_and_destroy(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Tracked));
    assert_int_equal(book.constructed, 1);
    assert_int_equal(book.live, 1);
    assert_status(REEF_OK, reef_set(w, e, Tracked, .value = 5));
    assert_int_equal(book.live, 1);
    ledger_count_anew();
    assert_status(REEF_ADDED, reef_set(w, e, Position, 1, 2)); /* a transition moves it */
    assert_int_equal(book.moved, 1);
    assert_int_equal(book.constructed + book.copied + book.destroyed, 0);
    assert_int_equal(reef_get(w, e, Tracked)->value, 5);
    assert_ok(reef_remove(w, e, Tracked));
    assert_int_equal(book.destroyed, 1);
    assert_int_equal(book.moved, 1);
    assert_int_equal(book.live, 0);
    assert_status(REEF_ADDED, reef_set(w, e, Tracked, .value = 6));
    assert_ok(reef_destroy(w, e)); /* its hook has run when destroy returns */
    assert_int_equal(book.live, 0);
}

/* A random life of many rows of three types; the shadow holds the value that each entity must have, 0: none. */
typedef struct crowd {
    reef_world *w;
    reef_entity e[400];
    int32_t tracked[400], unique[400], loose[400];
    uint64_t seed;
} crowd;

static void crowd_kill(crowd *c, uint32_t i)
{
    if (reef_is_alive(c->w, c->e[i])) assert_ok(reef_destroy(c->w, c->e[i]));
    c->tracked[i] = c->unique[i] = c->loose[i] = 0;
}

static void crowd_set(crowd *c, uint32_t i, int32_t value)
{
    reef_world *w = c->w;
    bool there = reef_has(w, c->e[i], Tracked);
    assert_status(there ? REEF_OK : REEF_ADDED, reef_set(w, c->e[i], Tracked, .value = value));
    c->tracked[i] = value;
}

static void crowd_step(crowd *c)
{
    reef_world *w = c->w;
    uint32_t i = random_below(&c->seed, 400), what = random_below(&c->seed, 12);
    int32_t value = (int32_t)random_below(&c->seed, 1000) + 1;
    reef_entity e = c->e[i];
    if (!reef_is_alive(w, e)) {
        c->e[i] =
            reef_spawn(w, reef_with(Unique, .value = value), reef_with(Mass, 1), reef_with(Loose, .value = value));
        c->unique[i] = c->loose[i] = value;
    } else if (what < 3) {
        crowd_set(c, i, value);
    } else if (what < 5) {
        assert_true(reef_set(w, e, Loose, .value = value) >= 0);
        c->loose[i] = value;
    } else if (what < 7) {
        assert_true(reef_set(w, e, Unique, .value = value) >= 0);
        c->unique[i] = value;
    } else if (what == 7) {
        assert_true((reef_remove(w, e, Tracked) == REEF_OK) == (c->tracked[i] != 0));
        c->tracked[i] = 0;
    } else if (what == 8) {
        assert_ok(reef_change(w, e, reef_without(Loose), reef_with(Tracked, .value = value), reef_without(Unique)));
        c->tracked[i] = value, c->loose[i] = c->unique[i] = 0;
    } else if (what == 9) {
        (void)(reef_has(w, e, Frozen) ? reef_remove(w, e, Frozen) : reef_add(w, e, Frozen));
    } else if (what == 10) {
        assert_ok(reef_remove_all(w, e));
        c->tracked[i] = c->loose[i] = c->unique[i] = 0;
    } else {
        crowd_kill(c, i);
    }
}

static void crowd_check(const crowd *c)
{
    uint64_t live = 0;
    for (int i = 0; i < 400; i++) {
        const Tracked *t = reef_get(c->w, c->e[i], Tracked);
        const Unique *u = reef_get(c->w, c->e[i], Unique);
        const Loose *l = reef_get(c->w, c->e[i], Loose);
        assert_int_equal(t ? t->value : 0, c->tracked[i]);
        assert_int_equal(u ? u->value : 0, c->unique[i]);
        assert_int_equal(l ? l->value : 0, c->loose[i]);
        live += (t ? 1u : 0u) + (u ? 1u : 0u) + (l ? 1u : 0u);
    }
    assert_int_equal(book.live, live);
    assert_null(book.mistake);
    assert_valid(c->w);
}

static void a_random_life_of_many_rows(void **state)
{
    crowd *c = calloc(1, sizeof *c);
    c->w = world_of(state);
    c->seed = 11;
    for (int step = 0; step < 20000; step++) {
        crowd_step(c);
        if (step % 1000 == 999) crowd_check(c);
    }
    assert_ok(remove_everywhere(c->w, reef_id(Loose), NULL));
    memset(c->loose, 0, sizeof c->loose);
    crowd_check(c);
    assert_ok(reef_shrink(c->w));
    crowd_check(c);
    free(c);
}

/* ---- growth, shrinking, bulk, the end ---- */

static void growth_moves_within_the_first_chunk_only(void **state)
{
    enum { N = 3000 };
    reef_world *w = world_of(state);
    static reef_entity e[N];
    for (int i = 0; i < 1024; i++) e[i] = reef_spawn(w, reef_with(Tracked, .value = i));
    assert_int_equal(book.copied, 1024);
    assert_true(book.moved <= 2 * 1024);
    ledger_count_anew();
    for (int i = 1024; i < N; i++) e[i] = reef_spawn(w, reef_with(Tracked, .value = i));
    assert_int_equal(book.moved, 0);
    for (int i = 0; i < N; i++) assert_int_equal(reef_get(w, e[i], Tracked)->value, i);
    for (int i = 0; i < N; i += 2) assert_ok(reef_destroy(w, e[i]));
    assert_int_equal(book.destroyed, N / 2);
    assert_true(book.moved <= N / 2);
    assert_ok(reef_shrink(w));
    for (int i = 1; i < N; i += 2) assert_int_equal(reef_get(w, e[i], Tracked)->value, i);
    assert_int_equal(book.live, N / 2);
}

static void bulk_copies_once_a_slot(void **state)
{
    enum { N = 1500 };
    reef_world *w = world_of(state);
    static reef_entity e[N];
    static Tracked source[N];
    for (int i = 0; i < N; i++) tracked_make(&source[i], i);
    assert_ok(reef_spawn_many(w, N, e, reef_array(Tracked, source), reef_with(Loose, .value = 8), reef_with(Mass, 2)));
    assert_int_equal(book.copied, 2 * N);
    assert_int_equal(book.live, 3 * N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(reef_get(w, e[i], Tracked)->value, i);
        assert_int_equal(reef_get(w, e[i], Loose)->value, 8);
        tracked_drop(&source[i]);
    }
    ledger_count_anew();
    assert_ok(reef_spawn_many(w, N, NULL, reef_default(Tracked)));
    assert_int_equal(book.constructed, N);
    assert_int_equal(book.copied, 0);
    assert_int_equal(reef_destroy_many(w, e, N / 2), N / 2);
    uint64_t destroyed = 0;
    assert_ok(destroy_everywhere(w, (reef_component[]){reef_id(Tracked)}, 1, &destroyed));
    assert_int_equal(destroyed, N + N - N / 2);
    assert_int_equal(book.live, 0);
}

static void clearing_and_the_worlds_end_destroy_everything_once(void **state)
{
    for (int how = 0; how < 4; how++) {
        reef_world *w = another_world(state, NULL);
        ledger_count_anew();
        for (int i = 0; i < 1100; i++) {
            reef_entity e = reef_spawn(w, reef_with(Tracked, .value = i), reef_with(Unique, .value = i));
            if (i % 3) assert_ok(reef_add(w, e, Loose));
            if (i % 7 == 0) assert_ok(reef_add(w, e, TrackedToo));
        }
        uint64_t live = book.live;
        assert_int_equal(live, 2200 + 158);
        if (how == 1) assert_ok(reef_world_clear(w));
        if (how == 2) assert_ok(remove_everywhere(w, reef_id(Tracked), NULL));
        if (how == 3) assert_ok(DESTROY_EVERYWHERE(w, reef_id(Unique), reef_id(Loose)));
        end_world(state, w);
        assert_int_equal(book.live, 0);
        assert_int_equal(book.destroyed, book.constructed + book.copied + book.taken);
    }
}

static void clones_are_copies(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 4), reef_with(Loose, .value = 5), reef_tag(Frozen)),
                many[50];
    ledger_count_anew();
    reef_entity f = reef_clone(w, e);
    assert_int_equal(book.copied, 2);
    assert_ok(reef_clone_many(w, e, 50, many)); /* the source's own storage grows */
    assert_int_equal(book.copied, 102);
    assert_int_equal(book.constructed + book.destroyed, 0);
    assert_ok(reef_destroy(w, e));
    assert_int_equal(reef_get(w, f, Tracked)->value, 4);
    for (int i = 0; i < 50; i++) assert_int_equal(reef_get(w, many[i], Loose)->value, 5);
}

/* ---- move-only types ---- */

static void move_only_types_move(void **state)
{
    enum { N = 40 };
    reef_world *w = world_of(state);
    reef_entity e[N];
    Unique source[N], next;
    for (int i = 0; i < N; i++) unique_make(&source[i], i);
    assert_ok(reef_spawn_many(w, N, e, reef_array(Unique, source), reef_tag(Hungry)));
    assert_int_equal(book.live, N);
    for (int i = 0; i < N; i++) assert_int_equal(reef_get(w, e[i], Unique)->value, i);
    unique_make(&next, 77);
    assert_status(REEF_OK, reef_set_id(w, e[3], reef_id(Unique), &next, sizeof next));
    assert_int_equal(reef_get(w, e[3], Unique)->value, 77);
    assert_int_equal(book.destroyed, 1);
    unique_make(&next, 78);
    reef_value one = reef_value_make(reef_id(Unique), REEF_VALUE_ONE, sizeof next, &next);
    reef_entity f = reef_spawn_values(w, &one, 1);
    assert_int_equal(reef_get(w, f, Unique)->value, 78);
    assert_int_equal(book.live, N + 1);
    assert_int_equal(book.copied, 0);
}

static void what_must_copy_refuses_a_move_only_type_by_name(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Unique, .value = 3));
    Unique own;
    unique_make(&own, 9);
    assert_no_entity(w, REEF_NOT_COPYABLE, reef_clone(w, e));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Unique).id);
    char text[300];
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "Unique"));
    assert_refused(w, REEF_NOT_COPYABLE, reef_clone_many(w, e, 3, NULL));
    reef_value one = reef_value_make(reef_id(Unique), REEF_VALUE_ONE, sizeof own, &own);
    assert_refused(w, REEF_NOT_COPYABLE, reef_spawn_many_values(w, 2, NULL, &one, 1));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Unique).id);
    assert_int_equal(own.value, 9);
    unique_drop(&own);
}

/* ---- failing hooks ---- */

static void a_failing_constructor_leaves_the_world_as_it_was(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(TrackedToo, .value = 3), reef_tag(Awake));
    reef_entity f = reef_spawn(w, reef_with(Position, 3, 4), reef_with(TrackedToo, .value = 4));
    book.fail_status = REEF_IO;
    uint64_t live = book.live;
    book.fail_construct = 1;
    assert_refused(w, REEF_IO, reef_add(w, e, Tracked));
    book.fail_construct = 1;
    assert_no_pointer(w, REEF_IO, reef_ensure(w, f, Tracked));
    book.fail_construct = 1;
    assert_no_entity(w, REEF_IO, reef_spawn(w, reef_default(Tracked), reef_with(Position, 1, 2)));
    book.fail_construct = 2;
    assert_no_entity(w, REEF_IO, reef_spawn(w, reef_default(Tracked), reef_default(TrackedToo)));
    for (uint64_t n = 1; n <= 30; n += 7) {
        book.fail_construct = n;
        assert_refused(w, REEF_IO,
                       reef_spawn_many(w, 30, NULL, reef_default(Tracked), reef_with(TrackedToo, .value = 1)));
    }
    book.fail_construct = 1;
    assert_refused(w, REEF_IO,
                   reef_change(w, e, reef_without(TrackedToo), reef_default(Tracked), reef_with(Position, 9, 9)));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Tracked).id);
    assert_int_equal(book.live, live);
    assert_int_equal(reef_get(w, e, TrackedToo)->value, 3);
    assert_ok(reef_add(w, e, Tracked)); /* and now it works */
    assert_position(w, e, 1, 2);
}

static void a_failing_copy_leaves_the_world_as_it_was(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(TrackedToo, .value = 2));
    reef_entity f = reef_spawn(w, reef_with(Loose, .value = 3));
    Tracked values[20];
    for (int i = 0; i < 20; i++) values[i] = (Tracked){.value = i};
    book.fail_status = REEF_IO;
    uint64_t live = book.live;
    book.fail_copy = 1;
    assert_refused(w, REEF_IO, reef_set(w, e, Tracked, .value = 5));
    book.fail_copy = 1;
    assert_refused(w, REEF_IO, reef_set(w, f, Tracked, .value = 5));
    book.fail_copy = 1;
    assert_refused(w, REEF_IO, reef_set(w, f, Loose, .value = 5));
    for (uint64_t n = 1; n <= 2; n++) {
        book.fail_copy = n;
        assert_no_entity(w, REEF_IO, reef_spawn(w, reef_with(Tracked, .value = 5), reef_with(Loose, .value = 5)));
        book.fail_copy = n;
        assert_no_entity(w, REEF_IO, reef_clone(w, e));
        book.fail_copy = n;
        assert_refused(w, REEF_IO,
                       reef_change(w, e, reef_with(TrackedToo, .value = 9), reef_with(Tracked, .value = 9)));
        book.fail_copy = n;
        assert_refused(w, REEF_IO, reef_change(w, f, reef_with(Loose, .value = 9), reef_with(Tracked, .value = 9)));
    }
    for (uint64_t n = 1; n <= 20; n += 6) {
        book.fail_copy = n;
        assert_refused(w, REEF_IO, reef_spawn_many(w, 20, NULL, reef_array(Tracked, values), reef_tag(Awake)));
        book.fail_copy = n;
        assert_refused(w, REEF_IO, reef_clone_many(w, e, 20, NULL));
    }
    assert_int_equal(book.live, live);
    assert_int_equal(reef_get(w, e, Tracked)->value, 1);
}

/* From the second entity of a set on, its table is known, and rows are made by a shorter way. */
static void a_failing_copy_of_a_known_row(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 3; i++)
        assert_false(reef_entity_is_null(
            reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(Loose, .value = 2), reef_with(Mass, 3))));
    const uint64_t live = book.live, hash = reef_hash(w);
    book.fail_status = REEF_IO;
    for (uint64_t n = 1; n <= 2; n++) {
        book.fail_copy = n;
        assert_no_entity(
            w, REEF_IO,
            reef_spawn(w, reef_with(Tracked, .value = 5), reef_with(Loose, .value = 5), reef_with(Mass, 3)));
        assert_string_equal(reef_last_error(w).operation, "reef_spawn");
        assert_int_equal(book.live, live);
        assert_true(reef_hash(w) == hash);
        assert_valid(w);
    }
    const reef_entity e =
        reef_spawn(w, reef_with(Tracked, .value = 6), reef_with(Loose, .value = 7), reef_with(Mass, 3));
    assert_int_equal(reef_get(w, e, Tracked)->value * 10 + reef_get(w, e, Loose)->value, 67);
    assert_int_equal(book.live, live + 2);
}

/* The row that fails is the first one of a chunk, made for it. */
static void failing_hooks_at_the_edge_of_a_chunk(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(TrackedToo, .value = 1)), full[3] = {{0}};
    for (uint64_t n = 1023; n <= 1026; n++) {
        book.fail_copy = n;
        assert_refused(w, REEF_BAD_ARGUMENT,
                       reef_spawn_many(w, 1500, NULL, reef_with(Tracked, .value = 1), reef_tag(Awake)));
        book.fail_construct = n;
        assert_refused(w, REEF_BAD_ARGUMENT, reef_spawn_many(w, 1500, NULL, reef_default(Tracked), reef_with(Mass, 1)));
        book.fail_copy = n;
        assert_refused(w, REEF_BAD_ARGUMENT, reef_clone_many(w, e, 1500, NULL));
    }
    assert_ok(reef_spawn_many(w, 1021, NULL, reef_with(Tracked, .value = 1)));
    assert_ok(reef_spawn_many(w, 3, full, reef_with(Tracked, .value = 2)));
    reef_entity bare = reef_create(w);
    book.fail_copy = 1;
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn(w, reef_with(Tracked, .value = 1)));
    book.fail_construct = 1;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add(w, bare, Tracked));
    book.fail_copy = 1;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set(w, bare, Tracked, .value = 3));
    book.fail_copy = 1;
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_clone(w, full[2]));
    book.fail_construct = 1;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_change(w, e, reef_without(TrackedToo), reef_default(Tracked)));
    assert_ok(reef_destroy(w, full[1]));
    assert_ok(reef_add(w, bare, Tracked));
    assert_int_equal(reef_get(w, full[2], Tracked)->value, 2);
}

static void a_failing_call_leaves_a_move_only_value_with_its_owner(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    Unique own[4];
    for (int i = 0; i < 4; i++) unique_make(&own[i], i + 1);
    reef_value all[] = {
        reef_value_make(reef_id(Unique), REEF_VALUE_ONE, sizeof(Unique), own),
        reef_value_make(reef_id(Tracked), REEF_VALUE_DEFAULT, 0, NULL),
        reef_value_make(reef_id(TrackedToo), REEF_VALUE_DEFAULT, 0, NULL),
    };
    for (uint64_t n = 1; n <= 2; n++) {
        book.fail_construct = n;
        assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, all, 3));
        book.fail_construct = n;
        assert_refused(w, REEF_BAD_ARGUMENT, reef_change_values(w, e, all, 3));
    }
    all[0].kind = REEF_VALUE_ARRAY;
    book.fail_construct = 3;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_spawn_many_values(w, 4, NULL, all, 3));
    assert_int_equal(book.live, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(own[i].value, i + 1);
        unique_drop(&own[i]);
    }
}

/* ---- values that lie in the world ---- */

static void setting_a_value_to_itself(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 5), reef_with(Loose, .value = 6), reef_with(Mass, 7));
    assert_ok(reef_set_id(w, e, reef_id(Tracked), reef_get(w, e, Tracked), sizeof(Tracked)));
    assert_ok(reef_set_id(w, e, reef_id(Loose), reef_get(w, e, Loose), sizeof(Loose)));
    assert_ok(reef_set_id(w, e, reef_id(Mass), reef_get(w, e, Mass), sizeof(Mass)));
    assert_int_equal(reef_get(w, e, Tracked)->value, 5);
    assert_int_equal(reef_get(w, e, Loose)->value, 6);
    assert_true(reef_get(w, e, Mass)->kg == 7);
    assert_int_equal(book.live, 2);
}

static void a_value_may_lie_in_the_storage_that_grows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity first = reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(Mass, 2), reef_with(Cargo, {3, 4}));
    for (int i = 0; i < 1500; i++) {
        reef_value v[] = {
            reef_value_make(reef_id(Tracked), REEF_VALUE_ONE, sizeof(Tracked), reef_get(w, first, Tracked)),
            reef_value_make(reef_id(Mass), REEF_VALUE_ONE, sizeof(Mass), reef_get(w, first, Mass)),
            reef_value_make(reef_id(Cargo), REEF_VALUE_ONE, sizeof(Cargo), reef_get(w, first, Cargo)),
        };
        reef_entity e = {0};
        if (i % 3 == 0) e = reef_spawn_values(w, v, 3);
        else if (i % 3 == 1) assert_ok(reef_spawn_many_values(w, 1, &e, v, 3));
        else assert_ok(reef_change_values(w, e = reef_create(w), v, 3));
        assert_int_equal(reef_get(w, e, Tracked)->value, 1);
        assert_true(reef_get(w, e, Mass)->kg == 2);
        assert_int_equal(reef_get(w, e, Cargo)->byte[1], 4);
    }
}

/* set() on an entity that moves into the growing table where the value lies, one component at a time. */
static void a_set_value_may_lie_in_the_table_that_grows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity first = reef_spawn(w, reef_tag(Hungry), reef_with(Tracked, .value = 1));
    reef_entity plain = reef_spawn(w, reef_tag(Frozen), reef_with(Cargo, {9, 8}));
    for (int i = 0; i < 100; i++) {
        reef_entity e = reef_spawn(w, reef_tag(Hungry)), f = reef_spawn(w, reef_tag(Frozen));
        assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Tracked), reef_get(w, first, Tracked), sizeof(Tracked)));
        assert_status(REEF_ADDED, reef_set_id(w, f, reef_id(Cargo), reef_get(w, plain, Cargo), sizeof(Cargo)));
        assert_int_equal(reef_get(w, e, Tracked)->value, 1);
        assert_int_equal(reef_get(w, f, Cargo)->byte[0], 9);
    }
}

/* The value lies in the row that leaves, or in the row that fills its hole. */
static void a_value_may_lie_in_a_row_that_moves(void **state)
{
    for (int which = 0; which < 3; which++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[5];
        for (int i = 0; i < 5; i++)
            e[i] = reef_spawn(w, reef_with(Tracked, .value = 10 + i), reef_with(Position, (float)i, 0));
        int from = which == 0 ? 1 : which == 1 ? 4 : 2; /* itself, the last, another */
        const void *value = reef_get(w, e[from], Tracked), *position = reef_get(w, e[from], Position);
        assert_status(REEF_ADDED, reef_set_id(w, e[1], reef_id(TrackedToo), value, sizeof(Tracked)));
        assert_int_equal(reef_get(w, e[1], TrackedToo)->value, 10 + from);
        position = reef_get(w, e[from], Position);
        assert_status(REEF_ADDED, reef_set_id(w, e[1], reef_id(Velocity), position, sizeof(Velocity)));
        assert_true(reef_get(w, e[1], Velocity)->x == (float)from);
        position = reef_get(w, e[from == 4 ? 3 : from], Position);
        reef_value v[] = {
            reef_value_make(reef_id(Health), REEF_VALUE_ONE, sizeof(Position), position),
            reef_value_make(reef_id(Position), REEF_VALUE_REMOVE, 0, NULL),
        };
        assert_ok(reef_change_values(w, e[from == 4 ? 3 : from], v, 2));
        assert_memory_equal(reef_get(w, e[from == 4 ? 3 : from], Health), (&(Position){from == 4 ? 3 : (float)from, 0}),
                            sizeof(Position));
        for (int i = 0; i < 5; i++) assert_int_equal(reef_get(w, e[i], Tracked)->value, 10 + i);
        end_world(state, w);
    }
}

static void plain_neighbours_of_hooked_types_keep_their_bytes(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[30];
    for (int i = 0; i < 30; i++)
        e[i] = reef_spawn(w, reef_with(Tracked, .value = i), reef_with(Mass, i), reef_with(Cargo, {(uint8_t)i}),
                          reef_with(Flag, (uint8_t)(i + 1)));
    for (int i = 0; i < 30; i += 2) assert_ok(reef_remove(w, e[i], Mass));
    for (int i = 0; i < 30; i += 5) assert_ok(reef_add(w, e[i], Frozen));
    for (int i = 0; i < 30; i++) {
        assert_int_equal(reef_get(w, e[i], Tracked)->value, i);
        assert_int_equal(reef_get(w, e[i], Cargo)->byte[0], i);
        assert_int_equal(reef_get(w, e[i], Flag)->on, i + 1);
        assert_int_equal(reef_has(w, e[i], Mass), i % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(add_replace_remove_and_destroy),
        TEST(a_random_life_of_many_rows),
        TEST(growth_moves_within_the_first_chunk_only),
        TEST(bulk_copies_once_a_slot),
        TEST(clearing_and_the_worlds_end_destroy_everything_once),
        TEST(clones_are_copies),
        TEST(move_only_types_move),
        TEST(what_must_copy_refuses_a_move_only_type_by_name),
        TEST(a_failing_constructor_leaves_the_world_as_it_was),
        TEST(a_failing_copy_leaves_the_world_as_it_was),
        TEST(a_failing_copy_of_a_known_row),
        TEST(failing_hooks_at_the_edge_of_a_chunk),
        TEST(a_failing_call_leaves_a_move_only_value_with_its_owner),
        TEST(setting_a_value_to_itself),
        TEST(a_value_may_lie_in_the_storage_that_grows),
        TEST(a_set_value_may_lie_in_the_table_that_grows),
        TEST(a_value_may_lie_in_a_row_that_moves),
        TEST(plain_neighbours_of_hooked_types_keep_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
