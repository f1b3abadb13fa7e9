/* Unique fields (reef_hooks.unique): the second value is refused by whatever call makes it, and nothing else is. */
#include "support.h"
#include <reef/all.h>
#include <math.h>

typedef struct {
    uint32_t id;
    int32_t points;
} Account;
static const reef_hooks account_hooks = {.unique = "id"};
REEF_COMPONENT_HOOKS(Account, &account_hooks);
REEF_FIELDS(Account, id, points);
typedef Account PagedAccount;
typedef Account SparseAccount;
typedef Account ColdAccount;
REEF_COMPONENT_IN_HOOKS(PagedAccount, REEF_PAGED, &account_hooks);
REEF_COMPONENT_IN_HOOKS(SparseAccount, REEF_SPARSE, &account_hooks);
REEF_COMPONENT_IN_HOOKS(ColdAccount, REEF_COLD, &account_hooks);
REEF_FIELDS(PagedAccount, id, points);
REEF_FIELDS(SparseAccount, id, points);
REEF_FIELDS(ColdAccount, id, points);

typedef struct {
    double at;
} Moment;
static const reef_hooks moment_hooks = {.unique = "at"};
REEF_COMPONENT_HOOKS(Moment, &moment_hooks);
REEF_FIELDS(Moment, at);
typedef struct {
    char text[8];
} Login;
static const reef_hooks login_hooks = {.unique = "text"};
REEF_COMPONENT_HOOKS(Login, &login_hooks);
REEF_FIELDS(Login, text);
typedef struct {
    uint32_t id;
} Nameless; /* it has no such field */
static const reef_hooks nameless_hooks = {.unique = "number"};
REEF_COMPONENT_HOOKS(Nameless, &nameless_hooks);
REEF_FIELDS(Nameless, id);

#define give(w, e, type, number) reef_set_id(w, e, type, &(const Account){number, 0}, sizeof(Account))

/* The call is refused since the value is taken, and says so. */
#define assert_taken(w, call) \
    do { \
        assert_refused(w, REEF_EXISTS, call); \
        assert_non_null(strstr(reef_last_error(w).detail, " is unique, and entity ")); \
    } while (0)

static void the_second_value_is_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_component homes[] = {reef_id(Account), reef_id(PagedAccount), reef_id(SparseAccount),
                                    reef_id(ColdAccount)};
    for (uint32_t k = 0; k < 4; k++) {
        const reef_component type = homes[k];
        reef_entity a = reef_create(w), b = reef_create(w);
        assert_status(REEF_ADDED, give(w, a, type, 7));
        assert_taken(w, give(w, b, type, 7));
        assert_false(reef_has_id(w, b, type));
        assert_status(REEF_ADDED, give(w, b, type, 8));
        assert_taken(w, give(w, b, type, 7));
        assert_int_equal(((const Account *)reef_get_id(w, b, type))->id, 8);
        assert_status(REEF_OK, give(w, a, type, 7)); /* its own value */
        assert_status(REEF_OK, give(w, a, type, 9));
        assert_status(REEF_OK, give(w, b, type, 7)); /* which is free now */
        assert_ok(reef_remove_id(w, b, type));
        assert_status(REEF_OK, give(w, a, type, 7));
        assert_ok(reef_destroy(w, a));
        assert_status(REEF_ADDED, give(w, b, type, 7));
        const reef_entity c = reef_create(w);
        assert_taken(w, give(w, c, type, 7));
        assert_no_entity(w, REEF_EXISTS, reef_clone(w, b));
    }
}

static void the_message_names_all(void **state)
{
    reef_world *w = world_of(state);
    char text[400];
    reef_entity a = reef_spawn(w, reef_with(Account, 5, 0)), b = reef_create(w);
    assert_ok(reef_set_name(w, a, "anna"));
    assert_taken(w, reef_set(w, b, Account, 5, 0));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Account).id);
    assert_true(reef_entity_equal(reef_last_error(w).entity, b));
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "reef_set"));
    assert_non_null(strstr(text, "Account"));
    assert_non_null(strstr(text, "anna"));
    /* a failure that has nothing to do with it doesn't name her */
    assert_refused(w, REEF_EXISTS, reef_add(w, a, Account));
    assert_null(strstr(reef_last_error(w).detail, "unique"));
}

static void spawning(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    const Account ids[4] = {{1, 0}, {2, 0}, {3, 0}, {2, 0}};
    const reef_value v = reef_value_make(reef_id(Account), REEF_VALUE_ARRAY, sizeof *ids, ids);
    const reef_value same = reef_value_make(reef_id(Account), REEF_VALUE_ONE, sizeof *ids, ids);
    assert_taken(w, reef_spawn_many_values(w, 4, e, &v, 1)); /* two of one call */
    assert_int_equal(reef_count(w, Account), 0);
    assert_taken(w, reef_spawn_many_values(w, 2, e, &same, 1));
    assert_ok(reef_spawn_many_values(w, 3, e, &v, 1)); /* nothing is left of what failed */
    assert_taken(w, reef_spawn_many_values(w, 1, e + 3, &v, 1));
    assert_no_entity(w, REEF_EXISTS, reef_spawn(w, reef_with(Account, 3, 0)));
    assert_int_equal(reef_count(w, Account), 3);
}

static void only_calls_write(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_spawn(w, reef_with(Account, 1, 0), reef_with(PagedAccount, 1, 0));
    reef_ref ref = reef_ref_make(w, a, Account);
    void *out = w;
    for (uint32_t round = 0; round < 2; round++) { /* in a block that was just written, and in an old one */
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_mut(w, a, Account));
        assert_non_null(strstr(reef_last_error(w).detail, "id is unique"));
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_mut(w, a, PagedAccount));
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_mut_id(w, a, reef_id(Account)));
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ref_mut(w, &ref, Account));
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ensure(w, a, Account));
        (void)reef_hash(w);
    }
    static const char *const texts[] = {"Account",        "inout Account",     "out Account",
                                        "?inout Account", "Position, Account", "PagedAccount"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, texts[i]));
    }
    reef_query q = reef_query_new(w, "in Account, !PagedAccount");
    assert_false(reef_query_is_null(q));
    reef_entity b = reef_create(w);
    assert_ok(reef_add_id(w, b, reef_id(Account), NULL, &out));
    assert_null(out); /* there is no pointer to write through */
    assert_int_equal(reef_get(w, b, Account)->id, 0);
}

static void hears_nothing(const reef_notice *n) { (void)n; }

/* A call that succeeds leaves no error behind, also where somebody watches. */
static void observed(void **state)
{
    const reef_component homes[] = {reef_id(Account), reef_id(PagedAccount), reef_id(SparseAccount),
                                    reef_id(ColdAccount)};
    for (uint32_t k = 0; k < 8; k++) {
        reef_world *w = another_world(state, NULL);
        const reef_observer_desc d = {
            .name = "o", .function = hears_nothing, .events = REEF_ON_SET | REEF_ON_REMOVE, .component = homes[k / 2]};
        assert_int_not_equal(reef_observer_new(w, &d).generation, 0);
        const reef_entity e = reef_create(w);
        void *out = w;
        assert_ok(reef_add_id(w, e, homes[k / 2], NULL, k % 2 ? &out : NULL));
        assert_int_equal(reef_last_error(w).status, REEF_OK);
        if (k % 2) assert_null(out);
        assert_status(REEF_OK, give(w, e, homes[k / 2], 4));
        assert_int_equal(reef_last_error(w).status, REEF_OK);
        end_world(state, w);
    }
}

static void writes_nothing(reef_block *b) { (void)b; }

static void systems(void **state)
{
    reef_world *w = world_of(state);
    assert_true(reef_system_is_null(reef_system(w, writes_nothing, "Account")));
    assert_true(reef_system_is_null(reef_system(w, writes_nothing, "Position; writes Account")));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_non_null(strstr(reef_last_error(w).detail, "unique"));
    assert_false(reef_system_is_null(reef_system(w, writes_nothing, "in Account")));
}

static reef_entity swapped[2];
static void swaps(reef_block *b)
{
    (void)reef_cmd_set(b, swapped[0], Account, 2, 0);
    (void)reef_cmd_set(b, swapped[1], Account, 1, 0);
}

static void steps_aside(reef_block *b)
{
    (void)reef_cmd_set(b, swapped[0], Account, 99, 0);
    (void)reef_cmd_set(b, swapped[1], Account, 1, 0);
    (void)reef_cmd_set(b, swapped[0], Account, 2, 0);
}

/* The commands of a flush are done one after the other, so a swap needs a third value. */
static void a_swap_within_a_flush(void **state)
{
    reef_world *w = world_of(state);
    swapped[0] = reef_spawn(w, reef_with(Account, 1, 0), reef_with(Position, 0, 0));
    swapped[1] = reef_spawn(w, reef_with(Account, 2, 0));
    const reef_system_id s = reef_system(w, swaps, "in Position; adds Account");
    assert_false(reef_system_is_null(s));
    (void)reef_tick(w, 1);
    assert_int_equal(reef_last_error(w).status, REEF_EXISTS);
    assert_non_null(strstr(reef_last_error(w).detail, "id is unique"));
    assert_int_equal(reef_get(w, swapped[0], Account)->id, 1);
    assert_int_equal(reef_get(w, swapped[1], Account)->id, 2);
    assert_ok(reef_system_remove(w, s));
    assert_false(reef_system_is_null(reef_system(w, steps_aside, "in Position; adds Account")));
    assert_ok(reef_tick(w, 1));
    assert_int_equal(reef_get(w, swapped[0], Account)->id, 2);
    assert_int_equal(reef_get(w, swapped[1], Account)->id, 1);
    assert_ok(reef_validate(w, NULL, 0));
}

static void bulk(void **state)
{
    reef_world *w = world_of(state);
    uint64_t changed;
    for (uint32_t i = 0; i < 3; i++) (void)reef_spawn(w, reef_with(Position, (float)i, 0));
    reef_query q = reef_query_new(w, "in Position, !Velocity");
    const Account a = {4, 0};
    assert_taken(w, reef_set_where_id(w, q, reef_id(Account), &a, sizeof a, &changed));
    (void)reef_spawn(w, reef_with(Velocity, 1, 1));
    reef_query one = reef_query_new(w, "in Velocity");
    assert_ok(reef_set_where_id(w, one, reef_id(Account), &a, sizeof a, &changed));
    assert_int_equal(reef_count(w, Account), 1);
    assert_ok(reef_validate(w, NULL, 0));
}

static void other_states(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_spawn(w, reef_with(Account, 1, 0)), b = reef_create(w);
    reef_snapshot *s = reef_snapshot_take(w);
    assert_status(REEF_OK, reef_set(w, a, Account, 2, 0));
    assert_status(REEF_ADDED, reef_set(w, b, Account, 1, 0));
    reef_world *fork = reef_fork(w), *old = reef_snapshot_fork(s);
    assert_taken(fork, reef_set(fork, a, Account, 1, 0));
    assert_taken(old, reef_set(old, b, Account, 1, 0));
    assert_status(REEF_ADDED, reef_set(old, b, Account, 2, 0));
    assert_ok(reef_restore(w, s));
    assert_false(reef_has(w, b, Account));
    assert_taken(w, reef_set(w, b, Account, 1, 0));
    assert_status(REEF_ADDED, reef_set(w, b, Account, 2, 0));

    /* what is merged gets new handles, and may not have values that are there */
    assert_refused(w, REEF_EXISTS, reef_merge(w, fork, NULL, NULL));
    assert_int_equal(reef_count(w, Account), 2);
    assert_status(REEF_OK, reef_set(fork, a, Account, 11, 0));
    assert_status(REEF_OK, reef_set(fork, b, Account, 12, 0));
    assert_ok(reef_merge(w, fork, NULL, NULL));
    assert_int_equal(reef_count(w, Account), 4);
    assert_ok(reef_validate(w, NULL, 0));
    assert_no_entity(w, REEF_EXISTS, reef_spawn(w, reef_with(Account, 12, 0)));

    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    reef_world *loaded = reef_world_new(NULL);
    assert_ok(reef_load_bytes(loaded, bytes.data, bytes.size, NULL));
    assert_no_entity(loaded, REEF_EXISTS, reef_spawn(loaded, reef_with(Account, 12, 0)));
    assert_false(reef_entity_is_null(reef_spawn(loaded, reef_with(Account, 13, 0))));
    reef_bytes_free(&bytes);
    reef_world_free(loaded);
    reef_world_free(old);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

/* A state in which a value isn't unique is damaged, wherever it comes from. */
static void damaged_states(void **state)
{
    reef_world *w = world_of(state), *loaded = another_world(state, NULL);
    char message[200];
    (void)reef_spawn(w, reef_with(Account, 1, 0));
    reef_entity b = reef_spawn(w, reef_with(Account, 2, 0));
    uint32_t *id = (uint32_t *)(uintptr_t)&reef_get(w, b, Account)->id;
    *id = 1;
    assert_int_equal(reef_validate(w, message, sizeof message), REEF_CORRUPT);
    assert_non_null(strstr(message, "Account"));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    *id = 2;
    assert_refused(loaded, REEF_CORRUPT, reef_load_bytes(loaded, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
}

static void values_that_are_equal(void **state)
{
    reef_world *w = world_of(state);
    assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Moment, 0.0))));
    assert_no_entity(w, REEF_EXISTS, reef_spawn(w, reef_with(Moment, -0.0)));
    for (uint32_t i = 0; i < 3; i++) assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Moment, (double)NAN))));
    assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Moment, (double)INFINITY))));
    assert_no_entity(w, REEF_EXISTS, reef_spawn(w, reef_with(Moment, (double)INFINITY)));
    assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Login, "anna"))));
    assert_no_entity(w, REEF_EXISTS, reef_spawn(w, reef_with(Login, "anna\0xy")));
    assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Login, "annabell"))));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn(w, reef_with(Nameless, 1)));
    assert_ok(reef_validate(w, NULL, 0));
}

static void declarations(void **state)
{
    (void)state;
    static const reef_field field = {.name = "id", .kind = REEF_U32, .offset = 0, .bytes = 4};
    static const reef_hooks hooks = {.unique = "id"}, resets = {.unique = "id", .on_fork = REEF_FORK_RESET};
    reef_status s;
    reef_type_desc d = {
        .name = "UniqueMulti", .size = 4, .home = REEF_MULTI, .hooks = &hooks, .fields = &field, .field_count = 1};
    assert_int_equal((reef_type_new(&d, &s), s), REEF_BAD_ARGUMENT);
    d.home = REEF_SHARED;
    assert_int_equal((reef_type_new(&d, &s), s), REEF_BAD_ARGUMENT);
    d.home = REEF_SPLIT;
    assert_int_equal((reef_type_new(&d, &s), s), REEF_BAD_ARGUMENT);
    d.home = REEF_TABLE;
    d.hooks = &resets;
    assert_int_equal((reef_type_new(&d, &s), s), REEF_BAD_ARGUMENT);
    d.hooks = &hooks;
    d.base = reef_id(Position);
    assert_int_equal((reef_type_new(&d, &s), s), REEF_BAD_ARGUMENT);
    d.base = (reef_component){0};
    d.name = "UniqueNumber";
    assert_int_not_equal(reef_type_new(&d, &s).id, 0);
    assert_int_not_equal(reef_type_new(&d, &s).id, 0);
}

/* A random life, beside an array that says who has which value; with snapshots, restores and forks in between. */
enum { HOLDERS = 60, VALUES = 40 };
typedef struct life {
    reef_entity e[HOLDERS];
    uint32_t id[HOLDERS]; /* 0: none */
} life;

static bool life_free(const life *l, uint32_t id, uint32_t but)
{
    for (uint32_t i = 0; i < HOLDERS; i++)
        if (i != but && l->id[i] == id) return false;
    return true;
}

static void a_random_life(void **state)
{
    reef_world *w = world_of(state);
    static const uint32_t rounds = 3000;
    uint64_t seed = 540;
    life l = {0}, past = {0};
    reef_snapshot *s = NULL;
    for (uint32_t i = 0; i < HOLDERS; i++) l.e[i] = reef_create(w);
    for (uint32_t n = 0; n < rounds; n++) {
        const uint32_t i = random_below(&seed, HOLDERS), id = 1 + random_below(&seed, VALUES);
        switch (random_below(&seed, 11)) {
        case 4: { /* a copy of somebody has the same value */
            const reef_entity copy = reef_clone(w, l.e[i]);
            assert_true(reef_entity_is_null(copy) == (l.id[i] != 0));
            if (l.id[i]) assert_status(REEF_EXISTS, reef_last_error(w).status);
            else assert_ok(reef_destroy(w, copy));
            break;
        }
        case 5: { /* three at once, or none */
            reef_entity three[3];
            const Account ids[3] = {
                {id, 0}, {1 + random_below(&seed, VALUES), 0}, {1 + random_below(&seed, VALUES), 0}};
            const reef_value v = reef_value_make(reef_id(Account), REEF_VALUE_ARRAY, sizeof *ids, ids);
            const bool differ = ids[0].id != ids[1].id && ids[0].id != ids[2].id && ids[1].id != ids[2].id;
            bool may = differ;
            for (uint32_t k = 0; k < 3; k++) may = may && life_free(&l, ids[k].id, HOLDERS);
            if (!may) assert_taken(w, reef_spawn_many_values(w, 3, three, &v, 1));
            else assert_ok(reef_spawn_many_values(w, 3, three, &v, 1));
            for (uint32_t k = 0; may && k < 3; k++) assert_ok(reef_destroy(w, three[k]));
            break;
        }
        case 0:
            if (l.id[i]) assert_ok(reef_remove(w, l.e[i], Account));
            l.id[i] = 0;
            break;
        case 1:
            assert_ok(reef_destroy(w, l.e[i]));
            l.e[i] = reef_create(w);
            l.id[i] = 0;
            break;
        case 2:
            if (random_below(&seed, 10) || s) break;
            s = reef_snapshot_take(w);
            past = l;
            break;
        case 3:
            if (random_below(&seed, 10) || !s) break;
            assert_ok(reef_restore(w, s));
            reef_snapshot_free(s);
            s = NULL;
            l = past;
            break;
        default: {
            const bool may = life_free(&l, id, i), had = l.id[i] != 0;
            if (!may) assert_taken(w, reef_set(w, l.e[i], Account, id, (int32_t)n));
            else assert_status(had ? REEF_OK : REEF_ADDED, reef_set(w, l.e[i], Account, id, (int32_t)n));
            if (may) l.id[i] = id;
        }
        }
        for (uint32_t k = 0; n % 64 == 0 && k < HOLDERS; k++)
            assert_int_equal(reef_has(w, l.e[k], Account) ? reef_get(w, l.e[k], Account)->id : 0, l.id[k]);
    }
    reef_snapshot_free(s);
}

static void no_memory(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    for (uint32_t i = 0; i < 200; i++) assert_false(reef_entity_is_null(reef_spawn(w, reef_with(Account, i, 0))));
    for (uint32_t i = 0; i < 200; i++) {
        reef_entity e = reef_create(w);
        for (uint64_t n = 1;; n++) {
            heap_fail_nth(h, n, n % 2);
            const reef_status s = reef_set(w, e, Account, 1000 + i, 0);
            heap_fail_never(h);
            if (s == REEF_ADDED) break;
            assert_int_equal(s, REEF_NO_MEMORY);
            assert_false(reef_has(w, e, Account));
        }
        assert_taken(w, reef_set(w, e, Account, i, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_second_value_is_refused),
        TEST(the_message_names_all),
        TEST(spawning),
        TEST(only_calls_write),
        TEST(observed),
        TEST(systems),
        TEST(a_swap_within_a_flush),
        TEST(bulk),
        TEST(other_states),
        TEST(damaged_states),
        TEST(values_that_are_equal),
        TEST(declarations),
        TEST(a_random_life),
        TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
