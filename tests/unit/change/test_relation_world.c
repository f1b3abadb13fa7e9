/* Relations in everything that carries a state: forks, snapshots, files, differences, merging. */
#include "base/checksum.h"
#include "load_repair.h"
#include "relation_scene.h"

static const reef_entity null_entity = {0, 0};

/* ---- worlds as values ---- */

enum { FOLK = 60 };

/* Any change of the relations between `e`. Returns whether somebody died. */
static void change_some(reef_world *w, reef_entity *e, uint64_t *seed)
{
    const uint32_t i = random_below(seed, FOLK), k = random_below(seed, FOLK), j = random_below(seed, FOLK);
    switch (random_below(seed, 12)) {
    case 0: (void)reef_relate(w, e[i], Under, e[k]); break;
    case 1: (void)reef_relate(w, e[i], DockedTo, e[k % 5]); break;
    case 2: (void)reef_relate_data(w, e[i], Owes, e[k], (int32_t)j); break;
    case 3: (void)reef_unrelate(w, e[i], Owes, e[k]); break;
    case 4: (void)reef_relate(w, e[i], Married, e[k]); break;
    case 5: (void)reef_relate(w, e[i], Knows, e[k]); break;
    case 6: (void)reef_relate_before(w, e[i], DockedTo, e[k % 5], e[j]); break;
    case 7: (void)reef_unrelate(w, e[i], DockedTo, e[k % 5]); break;
    case 8: (void)reef_relate(w, e[i], Needs, e[k]); break;
    case 9: (void)reef_remove(w, e[i], Needs); break;
    case 10: (void)reef_relate_before(w, e[i], Owes, e[k], reef_target(w, e[j], Owes)); break;
    default:
        if (random_below(seed, 4) == 0) (void)reef_destroy(w, e[i]);
        for (uint32_t x = 0; x < FOLK; x++)
            if (!reef_is_alive(w, e[x]))
                assert_some(e[x] = x % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, x)));
    }
}

/* The sources of all in their order, and whether they are related: the same in two worlds. */
static void assert_same_relations(const reef_world *a, const reef_world *b, const reef_entity *e, uint32_t n)
{
    const reef_component all[] = {reef_id(Under),   reef_id(DockedTo), reef_id(Owes),
                                  reef_id(Married), reef_id(Knows),    reef_id(Needs)};
    for (int c = 0; c < 6; c++)
        for (uint32_t i = 0; i < n; i++) {
            reef_entity list[FOLK + 1];
            const uint32_t count = sources_list(a, e[i], all[c], list, FOLK + 1);
            assert_sources_at(b, e[i], all[c], list, count, __LINE__);
        }
}

static void folk_make(reef_world *w, reef_entity *e, uint64_t *seed, int steps)
{
    create_some(w, e, FOLK);
    for (int i = 0; i < steps; i++) change_some(w, e, seed);
    assert_valid(w);
}

static void snapshots_and_forks(void **state)
{
    enum { FORKS = 100 };
    reef_world *w = world_of(state);
    reef_entity e[FOLK], mine[FOLK];
    uint64_t seed = 3;
    folk_make(w, e, &seed, 2000);
    const uint64_t hash = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *first = reef_snapshot_fork(s);
    reef_world *fork[FORKS];
    for (int i = 0; i < FORKS; i++) {
        assert_non_null(fork[i] = reef_fork(i ? fork[i / 2] : w));
        memcpy(mine, e, sizeof e);
        uint64_t own = (uint64_t)i + 10;
        reef_world *twin = reef_fork(fork[i]);
        for (int k = 0; k < 50; k++) change_some(fork[i], mine, &own);
        assert_valid(fork[i]);
        /* the same changes have the same effect, in another world, after another history */
        memcpy(mine, e, sizeof e);
        own = (uint64_t)i + 10;
        for (int k = 0; k < 50; k++) change_some(twin, mine, &own);
        assert_true(reef_hash(twin) == reef_hash(fork[i]) && reef_equal(twin, fork[i], NULL));
        assert_same_relations(twin, fork[i], mine, FOLK);
        reef_world_free(twin);
    }
    assert_true(reef_hash(w) == hash);
    memcpy(mine, e, sizeof e);
    for (int i = 0; i < 500; i++) change_some(w, mine, &seed);
    assert_true(reef_hash(w) != hash);
    assert_ok(reef_restore(w, s));
    assert_true(reef_hash(w) == hash && reef_equal(w, first, NULL));
    assert_same_relations(w, first, e, FOLK);
    assert_valid(w);
    assert_valid(first);
    for (int i = 0; i < FORKS; i++) {
        assert_valid(fork[i]);
        reef_world_free(fork[i]);
    }
    reef_world_free(first);
    reef_snapshot_free(s);
}

/* The world knows that it has relations after whatever brought them. */
static void a_state_that_comes_back_has_its_relations(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[4];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Under, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[2], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Holds, e[2]));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *before = reef_snapshot_fork(s);
    for (int way = 0; way < 4; way++) {
        reef_world *x = way == 2 ? other : way == 3 ? before : w;
        if (way < 2) assert_ok(reef_world_clear(w));
        if (way == 0) assert_ok(reef_restore(w, s));
        if (way == 1 || way == 2) assert_ok(reef_load_bytes(x, bytes.data, bytes.size, NULL));
        assert_valid(x);
        assert_refused(x, REEF_REFUSED, reef_destroy(x, e[2]));
        assert_ok(reef_destroy(x, e[0]));
        assert_false(reef_is_alive(x, e[1]) || reef_has(x, e[2], Likes));
        assert_valid(x);
        assert_ok(reef_shrink(x));
        assert_sources(x, e[2], Holds, e[3]);
    }
    reef_bytes_free(&bytes);
    reef_world_free(before);
    reef_snapshot_free(s);
}

static void hash_and_comparison(void **state)
{
    reef_world *a = world_of(state), *b = another_world(state, NULL);
    reef_entity e[6];
    create_some(a, e, 6);
    create_some(b, e, 6);
    /* relations to different targets may be made in any order */
    assert_status(REEF_ADDED, reef_relate(a, e[0], DockedTo, e[1]));
    assert_status(REEF_ADDED, reef_relate(a, e[2], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(b, e[2], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(b, e[0], DockedTo, e[1]));
    assert_true(reef_hash(a) == reef_hash(b) && reef_equal(a, b, NULL));
    /* the order of a target's sources is state */
    assert_status(REEF_ADDED, reef_relate(a, e[4], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(a, e[5], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(b, e[5], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(b, e[4], Likes, e[1]));
    assert_false(reef_hash(a) == reef_hash(b) || reef_equal(a, b, NULL));
    assert_status(REEF_OK, reef_relate_before(b, e[4], Likes, e[1], null_entity));
    assert_false(reef_equal(a, b, NULL)); /* they are still the other way round */
    /* what came and went again leaves nothing */
    const uint64_t hash = reef_hash(a);
    assert_status(REEF_ADDED, reef_relate(a, e[3], Likes, e[1]));
    assert_ok(reef_unrelate(a, e[3], Likes, e[1]));
    assert_true(reef_hash(a) == hash);
}

static reef_status play(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint64_t seed = tick + 1;
    (void)bytes, (void)input;
    reef_entity *e = context;
    for (int i = 0; i < 20; i++) {
        const uint32_t a = random_below(&seed, FOLK), b = random_below(&seed, FOLK);
        (void)reef_relate(w, e[a], DockedTo, e[b % 4]);
        (void)reef_relate_before(w, e[b], DockedTo, e[a % 4], e[a]);
        (void)reef_relate(w, e[a], Married, e[b]);
        if (i == 0) (void)reef_destroy(w, e[FOLK - 1 - tick % 20]);
    }
    return REEF_OK;
}

static void relations_in_histories(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[FOLK];
    create_some(w, e, FOLK);
    reef_history *h =
        reef_history_new(w, &(reef_history_config){.ticks = 40, .step = play, .context = e, .hashes = true});
    assert_non_null(h);
    for (int i = 0; i < 40; i++) assert_ok(reef_history_step(h, NULL, 0));
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_history_rewind(h, 7));
    assert_valid(w);
    assert_ok(reef_history_replay(h, 40));
    assert_true(reef_hash(w) == hash);
    reef_history_free(h);
}

static void saving_and_loading(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[FOLK];
    uint64_t seed = 9;
    folk_make(w, e, &seed, 3000);
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_true(reef_hash(w) == reef_hash(other) && reef_equal(w, other, NULL));
    assert_same_relations(w, other, e, FOLK);
    reef_entity twin[FOLK];
    memcpy(twin, e, sizeof e);
    uint64_t own = seed;
    for (int i = 0; i < 1000; i++) { /* it goes on in the same way, deaths of targets included */
        change_some(w, e, &seed);
        change_some(other, twin, &own);
    }
    assert_true(reef_hash(w) == reef_hash(other));
    assert_same_relations(w, other, e, FOLK);
}

/* Only those who match are saved: nobody dies with somebody who isn't saved, or is kept for somebody's sake. */
static void saving_some(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity parent = reef_create(w), child = reef_spawn(w, reef_with(Heavy, 1)), held = reef_create(w),
                      holder = reef_spawn(w, reef_with(Heavy, 2)), friend_of = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, child, Under, parent));
    assert_status(REEF_ADDED, reef_relate(w, holder, Holds, held));
    assert_status(REEF_ADDED, reef_relate(w, holder, Likes, child));
    assert_status(REEF_ADDED, reef_relate(w, holder, Likes, friend_of));
    const uint64_t hash = reef_hash(w);
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.query = "Heavy", .sealed = true}));
    assert_true(reef_hash(w) == hash);
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_int_equal(reef_count_alive(other), 2);
    assert_true(reef_is_alive(other, child));
    assert_false(reef_has(other, child, Under) || reef_has(other, holder, Holds));
    assert_sources(other, child, Likes, holder);
    assert_int_equal(reef_count_on(other, holder, Likes), 1);
}

static void relations_in_differences(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[FOLK];
    uint64_t seed = 21;
    folk_make(w, e, &seed, 1000);
    for (int round = 0; round < 20; round++) {
        reef_world *before = reef_fork(w), *after = reef_fork(w);
        for (int i = 0; i < 100; i++) change_some(after, e, &seed);
        reef_bytes forth, back;
        assert_ok(reef_diff_bytes(before, after, &forth, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_bytes(after, before, &back, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_apply(w, forth.data, forth.size));
        assert_valid(w);
        assert_true(reef_hash(w) == reef_hash(after));
        assert_same_relations(w, after, e, FOLK);
        assert_ok(reef_diff_apply(w, back.data, back.size));
        assert_true(reef_hash(w) == reef_hash(before));
        assert_valid(w);
        assert_ok(reef_diff_apply(w, forth.data, forth.size));
        reef_bytes_free(&forth);
        reef_bytes_free(&back);
        reef_world_free(before);
        reef_world_free(after);
    }
    /* applied to another state, in which somebody is related to one that the difference destroys */
    reef_world *before = reef_fork(w), *after = reef_fork(w);
    const reef_entity gone = reef_create(w), fan = reef_create(w);
    reef_world_free(before);
    reef_world_free(after);
    before = reef_fork(w), after = reef_fork(w);
    assert_ok(reef_destroy(after, gone));
    assert_status(REEF_ADDED, reef_relate(w, fan, Likes, gone));
    assert_status(REEF_ADDED, reef_relate(w, fan, Guards, gone));
    reef_bytes bytes;
    assert_ok(reef_diff_bytes(before, after, &bytes, NULL));
    assert_ok(reef_diff_apply(w, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_valid(w);
    assert_false(reef_is_alive(w, gone));
    assert_false(reef_has(w, fan, Likes) || reef_has(w, fan, Guards));
    reef_world_free(before);
    reef_world_free(after);
}

static void journals(void **state)
{
    static const char path[] = "test_relation.journal";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[FOLK];
    uint64_t seed = 33;
    folk_make(w, e, &seed, 500);
    reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = true});
    assert_non_null(j);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 60; i++) change_some(w, e, &seed);
        assert_ok(reef_journal_append(j));
    }
    reef_journal_close(j);
    assert_ok(reef_load(other, path, NULL));
    assert_valid(other);
    assert_true(reef_hash(w) == reef_hash(other));
    assert_same_relations(w, other, e, FOLK);
    remove(path);
}

static void relations_are_merged(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[4], x[5];
    create_some(w, e, 4);
    create_some(from, x, 5);
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[3]));
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(from, x[2 - i], DockedTo, x[4]));
    assert_status(REEF_ADDED, reef_relate_data(from, x[0], Owes, x[1], 4));
    assert_status(REEF_ADDED, reef_relate_data(from, x[0], Owes, x[2], 5));
    assert_status(REEF_ADDED, reef_relate(from, x[0], Married, x[2]));
    assert_status(REEF_ADDED, reef_relate(from, x[3], Under, x[1]));
    const uint64_t hash = reef_hash(from);
    reef_merged *who = NULL;
    reef_entity n[5];
    assert_ok(reef_merge(w, from, NULL, &who));
    for (int i = 0; i < 5; i++) assert_some(n[i] = reef_merged_find(who, x[i]));
    reef_merged_free(who);
    assert_valid(w);
    assert_true(reef_hash(from) == hash);
    assert_sources(w, n[4], DockedTo, n[2], n[1], n[0]);
    assert_sources(w, e[3], DockedTo, e[0], e[1], e[2]);
    assert_sources(w, n[1], Owes, n[0]);
    assert_int_equal(reef_relation_get(w, n[0], Owes, n[2])->data.coins, 5);
    assert_entity(n[0], reef_target(w, n[2], Married));
    assert_sources(w, n[1], Under, n[3]);
    /* of some: relations to those who don't come end; nobody dies for that */
    reef_world *some = another_world(state, NULL);
    assert_ok(reef_merge(some, from, &(reef_merge_desc){.query = "Heavy"}, &who));
    for (int i = 0; i < 5; i++) n[i] = reef_merged_find(who, x[i]);
    reef_merged_free(who);
    assert_int_equal(reef_count_alive(some), 3); /* 0, 2, 4 */
    assert_sources(some, n[4], DockedTo, n[2], n[0]);
    assert_int_equal(reef_count_on(some, n[0], Owes), 1);
    assert_entity(n[2], reef_target(some, n[0], Owes));
    assert_entity(n[0], reef_target(some, n[2], Married));
    /* and the other way round: a source without its target */
    assert_ok(reef_merge(some, from, &(reef_merge_desc){.query = "!Heavy"}, NULL));
    assert_valid(some);
    assert_int_equal(reef_count(some, Under), 1);
}

static bool relation_seen(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)size;
    if (c.id == reef_id(Owes).id) *(int32_t *)context += ((const Owes *)data)->data.coins;
    return true;
}

static void printing_and_visiting(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    create_some(w, e, 3);
    for (int i = 1; i < 3; i++) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[i], 10 * i));
    assert_ok(reef_set_name(w, e[2], "bank"));
    FILE *file = tmpfile();
    char text[1024] = "";
    assert_true(reef_print(w, e[0], file));
    rewind(file);
    (void)fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_non_null(strstr(text, "Owes"));
    assert_non_null(strstr(text, "bank"));
    assert_non_null(strstr(text, "data.coins"));
    assert_null(strstr(text, "place")); /* which only says who comes first */
    int32_t sum = 0;
    assert_true(reef_visit_entity(w, e[0], relation_seen, &sum));
    assert_int_equal(sum, 30);
    uint32_t rows = 0, each = 0;
    for (reef_block b = reef_begin_text(w, "in Owes"); reef_next(&b);) rows += b.count;
    for (reef_block b = reef_begin_text(w, "each in Owes"); reef_next(&b);) each++;
    assert_int_equal(rows, 1);
    assert_int_equal(each, 2);
}

/* ---- a program that lacks the type ---- */

/* Renames a type in a file; both names have the same length. */
static void type_rename(reef_bytes bytes, const char *from, const char *to)
{
    char *at = bytes.data;
    const size_t n = strlen(from);
    uint32_t found = 0;
    for (size_t i = 0; i + n <= bytes.size; i++)
        if (memcmp(at + i, from, n) == 0) memcpy(at + i, to, n), found++;
    assert_true(found > 0);
    repair(bytes.data, bytes.size);
}

static void a_program_without_the_type(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[5];
    create_some(w, e, 5);
    for (int i = 4; i > 0; i--) {
        assert_status(REEF_ADDED, reef_relate_data(w, e[i], Owes, e[0], i));
        assert_status(REEF_ADDED, reef_relate(w, e[i], Under, e[0]));
    }
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    type_rename(bytes, "Owes", "Owed");
    type_rename(bytes, "Under", "Unter");
    reef_load_desc desc = {.unknown = REEF_UNKNOWN_DROP};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    assert_int_equal(reef_count_alive(other), 5);
    assert_int_equal(reef_world_stats(other).values, 0);
    desc.unknown = REEF_UNKNOWN_REFUSE;
    assert_refused(other, REEF_UNKNOWN_TYPE, reef_load_bytes(other, bytes.data, bytes.size, &desc));
    desc.unknown = REEF_UNKNOWN_DECLARE;
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    const reef_component owed = reef_type_find("Owed"), unter = reef_type_find("Unter");
    assert_true(owed.id && unter.id);
    reef_type_info info;
    assert_true(reef_type_get(unter, &info));
    assert_int_equal(info.relation, REEF_IS_RELATION | REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE);
    assert_sources_at(other, e[0], owed, (reef_entity[]){e[4], e[3], e[2], e[1]}, 4, __LINE__);
    assert_int_equal(((const Owes *)reef_relation_get_id(other, e[3], owed, e[0]))->data.coins, 3);
    assert_status(REEF_CYCLE, reef_relate_id(other, e[0], unter, e[2], NULL, 0));
    /* and it saves it as it was */
    reef_bytes again;
    assert_ok(reef_save_bytes(other, &again, NULL));
    assert_ok(reef_world_clear(other));
    assert_ok(reef_load_bytes(other, again.data, again.size, &desc));
    assert_sources_at(other, e[0], owed, (reef_entity[]){e[4], e[3], e[2], e[1]}, 4, __LINE__);
    reef_bytes_free(&again);
    assert_ok(reef_destroy(other, e[0])); /* it cascades */
    assert_int_equal(reef_count_alive(other), 0);
    reef_bytes_free(&bytes);
}

/* A type of relations that a file describes as something else isn't declared: its values are left out. */
static void lies_about_a_type_of_relations(void **state)
{
    static const char *const lies[][2] = {{"target", "tarjet"}, {"place", "plaze"}};
    for (int i = 0; i < 2; i++) {
        reef_world *w = another_world(state, NULL), *other = world_of(state);
        reef_entity e[3];
        create_some(w, e, 3);
        for (int k = 1; k < 3; k++) assert_status(REEF_ADDED, reef_relate_data(w, e[k], Owes, e[0], k));
        reef_bytes bytes;
        assert_ok(reef_save_bytes(w, &bytes, NULL));
        type_rename(bytes, "Owes", "Owez");
        type_rename(bytes, lies[i][0], lies[i][1]);
        const reef_load_desc desc = {.unknown = REEF_UNKNOWN_DECLARE};
        assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
        assert_int_equal(reef_type_find("Owez").id, 0);
        assert_int_equal(reef_world_stats(other).values, 0);
        assert_valid(other);
        reef_bytes_free(&bytes);
    }
}

/* A component that became a type of relations: relations to those who are dead end, and all get places. */
static void a_component_becomes_a_relation(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[5];
    create_some(w, e, 5);
    for (int i = 1; i < 5; i++) assert_status(REEF_ADDED, reef_set(w, e[i], Harbour, .target = i == 2 ? e[4] : e[0]));
    reef_bytes bytes;
    assert_ok(reef_destroy(w, e[4]));
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    type_rename(bytes, "Harbour", "HarborX");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_sources(other, e[0], HarborX, e[1], e[3]);
    assert_false(reef_has(other, e[2], HarborX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(snapshots_and_forks),
        TEST(a_state_that_comes_back_has_its_relations),
        TEST(hash_and_comparison),
        TEST(relations_in_histories),
        TEST(saving_and_loading),
        TEST(saving_some),
        TEST(relations_in_differences),
        TEST(journals),
        TEST(relations_are_merged),
        TEST(printing_and_visiting),
        TEST(a_program_without_the_type),
        TEST(lies_about_a_type_of_relations),
        TEST(a_component_becomes_a_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
