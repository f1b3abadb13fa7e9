/* Journals on a disk that works: what is in them after each change, and what is refused. */
#include "base/checksum.h"
#include "faults.h"
#include "load_repair.h"
#include "load_zoo.h"

typedef struct {
    int32_t units;
    reef_entity owner;
} Coin;
REEF_COMPONENT(Coin);
REEF_FIELDS(Coin, units, owner);

static const char *journal_path(void) { return faults_path("a.journal"); }
static const reef_journal_desc quick = {.unsynced = true};

static int begin(void **state)
{
    faults_put(journal_path(), NULL, 0);
    return fixture_begin(state);
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_end)

static reef_journal *opened(reef_world *w, const reef_journal_desc *desc)
{
    reef_journal *j = reef_journal_open(w, journal_path(), desc);
    if (j == NULL) fail_msg("%s: %s", reef_last_error(w).operation, reef_last_error(w).detail);
    assert_valid(w);
    return j;
}

static void append(reef_world *w, reef_journal *j)
{
    if (reef_journal_append(j) != REEF_OK) fail_msg("%s: %s", reef_last_error(w).operation, reef_last_error(w).detail);
}

static void assert_same(const reef_world *a, const reef_world *b)
{
    reef_difference d;
    char text[512] = "";
    if (reef_equal(a, b, &d)) return;
    (void)reef_difference_text(&d, text, sizeof text);
    fail_msg("%s", text);
}

/* Another world that opened the journal while nobody holds it. */
static void assert_holds(void **state, reef_world *w)
{
    reef_world *other = another_world(state, NULL);
    if (reef_load(other, journal_path(), NULL) != REEF_OK) fail_msg("%s", reef_last_error(other).detail);
    assert_same(w, other);
    assert_true(reef_hash(w) == reef_hash(other));
    end_world(state, other);
}

static uint64_t file_bytes(void)
{
    size_t n = 0;
    assert_non_null(faults_get(journal_path(), &n));
    return n;
}

static reef_entity coin(reef_world *w, int32_t units)
{
    const reef_entity e = reef_spawn(w, reef_with(Coin, units, {0, 0}));
    assert_some(e);
    return e;
}

/* ---- opening ---- */

static void a_journal_is_made_where_nothing_is_and_loaded_where_it_is(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    coin(w, 5);
    reef_journal *j = opened(w, NULL);
    reef_journal_info info = reef_journal_stats(j);
    assert_int_equal(info.records, 1);
    assert_int_equal(info.bytes, file_bytes());
    assert_int_equal(info.whole_bytes, info.bytes);
    coin(w, 6);
    append(w, j);
    append(w, j); /* nothing changed: a record all the same */
    info = reef_journal_stats(j);
    assert_int_equal(info.records, 3);
    assert_int_equal(info.bytes, file_bytes());
    reef_journal_close(j);
    zoo_steps(other, 3, 100);
    j = opened(other, NULL);
    assert_same(w, other);
    assert_int_equal(reef_journal_stats(j).records, 3);
    assert_int_equal(reef_journal_stats(j).whole_bytes, info.whole_bytes);
    assert_int_equal(reef_journal_stats(j).bytes, info.bytes);
    coin(other, 7);
    append(other, j);
    reef_journal_close(j);
    assert_holds(state, other);
    j = opened(w, &(reef_journal_desc){.fresh = true}); /* what is there isn't looked at */
    assert_int_equal(reef_count_alive(w), 2);
    assert_int_equal(reef_journal_stats(j).records, 1);
    reef_journal_close(j);
    assert_holds(state, w);
}

static void wrong_calls_of_journals_are_refused(void **state)
{
    reef_world *w = world_of(state);
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    assert_null(reef_journal_open(NULL, journal_path(), NULL));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_journal_open(w, NULL, NULL));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_journal_open(w, "", NULL));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_journal_open(w, long_path, NULL));
    assert_no_pointer(w, REEF_IO, reef_journal_open(w, faults_path("no/such/folder"), NULL));
    assert_no_pointer(w, REEF_IO, reef_journal_open(w, "/", NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_journal_append(NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_journal_compact(NULL));
    assert_int_equal(reef_journal_stats(NULL).records, 0);
    reef_journal_close(NULL);
    faults_put(journal_path(), "no journal", 10);
    assert_no_pointer(w, REEF_CORRUPT, reef_journal_open(w, journal_path(), NULL));
    faults_put(journal_path(), "", 0);
    assert_no_pointer(w, REEF_CORRUPT, reef_journal_open(w, journal_path(), NULL));
    assert_int_equal(file_bytes(), 0);
}

static void a_locked_world_has_no_journal_and_no_append(void **state)
{
    reef_world *w = world_of(state);
    coin(w, 1);
    reef_journal *j = opened(w, &quick);
    const uint64_t bytes = file_bytes();
    reef_block block = reef_begin(w, reef_query_new(w, "Coin"));
    assert_true(reef_next(&block));
    assert_refused(w, REEF_LOCKED, reef_journal_append(j));
    assert_string_equal(reef_last_error(w).operation, "reef_journal_append");
    assert_refused(w, REEF_LOCKED, reef_journal_compact(j));
    assert_string_equal(reef_last_error(w).operation, "reef_journal_compact");
    assert_no_pointer(w, REEF_LOCKED, reef_journal_open(w, faults_path("other.journal"), NULL));
    reef_end(&block);
    assert_int_equal(file_bytes(), bytes);
    append(w, j);
    reef_journal_close(j);
}

static void a_saved_world_becomes_a_journal(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_file_info info;
    zoo_steps(w, 11, 300);
    assert_ok(reef_save(w, journal_path(), &(reef_save_desc){.unsynced = true}));
    reef_journal *j = opened(other, &quick);
    assert_same(w, other);
    assert_int_equal(reef_journal_stats(j).records, 1);
    zoo_steps(other, 12, 50);
    append(other, j);
    reef_journal_close(j);
    assert_ok(reef_file_check(journal_path(), NULL, &info));
    assert_true(info.journal && !info.torn);
    assert_int_equal(info.records, 2);
    assert_holds(state, other);
}

/* ---- appends ---- */

static void every_kind_of_change_is_replayed_and_goes_on(void **state)
{
    reef_world *w = world_of(state), *alone = another_world(state, NULL);
    reef_journal *j = opened(w, &quick);
    for (uint64_t round = 0; round < 12; round++) {
        zoo_steps(w, round, 70);
        zoo_steps(alone, round, 70);
        if (round == 5) assert_some(reef_reserve_id(w)), assert_some(reef_reserve_id(alone));
        if (round == 8) reef_world_clear(w), reef_world_clear(alone);
        append(w, j);
        assert_holds(state, w);
        if (round % 3 != 1) continue;
        reef_journal_close(j);
        end_world(state, w);
        w = another_world(state, NULL);
        j = opened(w, &quick);
        assert_int_equal(reef_journal_stats(j).records, round + 2);
        assert_same(w, alone);
    }
    reef_journal_close(j);
    assert_true(reef_hash(w) == reef_hash(alone));
}

static void a_journal_follows_the_world_back_and_elsewhere(void **state)
{
    reef_world *w = world_of(state), *elsewhere = another_world(state, NULL);
    reef_bytes bytes;
    zoo_steps(elsewhere, 99, 300);
    assert_ok(reef_save_bytes(elsewhere, &bytes, NULL));
    reef_journal *j = opened(w, &quick);
    zoo_steps(w, 1, 200);
    append(w, j);
    reef_snapshot *s = reef_snapshot_take(w);
    zoo_steps(w, 2, 200);
    append(w, j);
    assert_ok(reef_restore(w, s));
    append(w, j);
    assert_holds(state, w);
    assert_ok(reef_load_bytes(w, bytes.data, bytes.size, NULL));
    append(w, j);
    assert_holds(state, w);
    zoo_steps(w, 3, 100);
    append(w, j);
    assert_holds(state, w);
    reef_world *fork = reef_fork(w); /* a journal belongs to its world alone */
    zoo_steps(fork, 4, 100);
    append(w, j);
    assert_holds(state, w);
    reef_world_free(fork);
    assert_ok(reef_restore(w, s));
    reef_world_clear(w);
    append(w, j);
    assert_holds(state, w);
    reef_journal_close(j);
    reef_snapshot_free(s);
    reef_bytes_free(&bytes);
}

static void no_system(reef_block *b) { (void)b; }

static void time_and_systems_are_in_each_record(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_system_desc desc = {.name = "none", .function = no_system, .text = "Coin"};
    const reef_system_id id = reef_system_new(w, &desc), same = reef_system_new(other, &desc);
    reef_journal *j = opened(w, &quick);
    for (int i = 0; i < 3; i++) assert_ok(reef_tick(w, 0.25f));
    assert_ok(reef_system_enable(w, id, false));
    append(w, j);
    reef_journal_close(j);
    j = opened(other, &quick);
    assert_int_equal(reef_tick_count(other), 3);
    assert_false(reef_system_is_enabled(other, same));
    assert_same(w, other);
    reef_journal_close(j);
}

/* ---- refused ---- */

static bool a_few_times(void *context, uint64_t done, uint64_t all)
{
    (void)done, (void)all;
    uint32_t *left = context;
    return *left && (*left)--;
}

static void a_cancelled_append_leaves_file_and_numbers_alone(void **state)
{
    reef_world *w = world_of(state);
    uint32_t left = 0;
    coin(w, 1);
    reef_journal *j = opened(w, &quick);
    reef_journal_close(j);
    j = reef_journal_open(w, journal_path(),
                          &(reef_journal_desc){.unsynced = true, .load = {.progress = a_few_times, .context = &left}});
    assert_null(j); /* loading stops as well */
    assert_int_equal(reef_last_error(w).status, REEF_CANCELLED);
    assert_int_equal(reef_count_alive(w), 1);
    assert_no_pointer(
        w, REEF_CANCELLED,
        reef_journal_open(w, journal_path(),
                          &(reef_journal_desc){.fresh = true, .load = {.progress = a_few_times, .context = &left}}));
    assert_holds(state, w);
    left = UINT32_MAX;
    j = opened(w, &(reef_journal_desc){.unsynced = true, .load = {.progress = a_few_times, .context = &left}});
    zoo_steps(w, 5, 100);
    const uint64_t bytes = file_bytes();
    left = 0;
    assert_refused(w, REEF_CANCELLED, reef_journal_append(j));
    assert_int_equal(file_bytes(), bytes);
    left = 0;
    assert_refused(w, REEF_CANCELLED, reef_journal_compact(j));
    assert_int_equal(file_bytes(), bytes);
    assert_int_equal(reef_journal_stats(j).records, 1);
    left = UINT32_MAX;
    append(w, j);
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 3);
    reef_journal_close(j);
    assert_holds(state, w);
}

static void an_append_that_was_refused_is_made_up_for(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = coin(w, 1);
    reef_journal *j = opened(w, &quick);
    coin(w, 2);
    assert_status(REEF_ADDED, reef_set(w, e, Spot, 1, 2, 3)); /* a type and a table that are new */
    assert_status(REEF_ADDED, reef_set(w, e, Mass, 9));       /* which has no fields */
    const uint64_t bytes = file_bytes();
    assert_refused(w, REEF_NOT_PORTABLE, reef_journal_append(j));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Mass).id);
    assert_refused(w, REEF_NOT_PORTABLE, reef_journal_compact(j));
    assert_int_equal(file_bytes(), bytes);
    assert_ok(reef_remove(w, e, Mass));
    append(w, j);
    coin(w, 3);
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 3);
    reef_journal_close(j);
    assert_holds(state, w);
}

/* ---- types ---- */

static reef_component pair_type(const char *name, bool swapped, bool wide)
{
    reef_field f[2] = {{.name = swapped ? "b" : "a", .kind = REEF_I32, .bytes = 4},
                       {.name = swapped ? "a" : "b", .kind = wide ? REEF_F32 : REEF_I32, .offset = 4, .bytes = 4}};
    reef_status status;
    const reef_component c =
        reef_type_new(&(reef_type_desc){.name = name, .size = 8, .align = 4, .fields = f, .field_count = 2}, &status);
    assert_ok(status);
    return c;
}

/* The journal of a program whose struct was another one: its records can't follow those of the file. */
static void other_struct(void **state, const char *name, bool swapped, bool wide)
{
    const reef_component was = pair_type("JournalPair0", false, false), is = pair_type(name, swapped, wide);
    reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
    const int32_t ab[2] = {70, -3};
    size_t size;
    const reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set_id(w, e, was, ab, sizeof ab));
    reef_journal *j = opened(w, &(reef_journal_desc){.fresh = true, .unsynced = true});
    reef_journal_close(j);
    unsigned char *p = faults_get(journal_path(), &size), *at = p;
    while (memcmp(at, "JournalPair0", 12) != 0) at++;
    memcpy(at, name, 12);
    repair(p, size);
    faults_put(journal_path(), p, size);
    j = opened(other, &quick);
    const int32_t *x = reef_get_id(other, e, is);
    assert_non_null(x);
    assert_int_equal(x[swapped], 70);
    if (!wide) assert_int_equal(x[!swapped], -3);
    const int32_t next[2] = {5, 6};
    assert_status(REEF_OK, reef_set_id(other, e, is, next, sizeof next));
    assert_status(REEF_ADDED, reef_set_id(other, reef_create(other), is, ab, sizeof ab));
    append(other, j);
    reef_journal_close(j);
    assert_holds(state, other);
    end_world(state, w);
    end_world(state, other);
}

static void a_journal_of_another_struct_is_made_anew(void **state)
{
    other_struct(state, "JournalPair1", false, false); /* the same but for its name */
    other_struct(state, "JournalPair2", true, false);
    other_struct(state, "JournalPair3", false, true);
}

static void a_raw_journal_stays_raw(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_file_info info;
    const reef_journal_desc raw = {.raw = true, .unsynced = true};
    assert_some(reef_spawn(w, reef_with(Mass, 4)));
    assert_no_pointer(w, REEF_NOT_PORTABLE, reef_journal_open(w, journal_path(), &quick));
    size_t none;
    assert_null(faults_get(journal_path(), &none));
    reef_journal *j = opened(w, &raw);
    reef_mut(w, reef_entity_at(w, 0), Mass)->kg = 5;
    append(w, j);
    reef_journal_close(j);
    assert_holds(state, w);
    /* would be written anew, and can't be */
    assert_no_pointer(other, REEF_NOT_PORTABLE, reef_journal_open(other, journal_path(), &quick));
    assert_holds(state, w);
    j = opened(other, &raw);
    assert_int_equal(reef_journal_stats(j).records, 2);
    reef_world_clear(other);
    append(other, j);
    reef_journal_close(j);
    j = opened(w, &quick);
    assert_int_equal(reef_journal_stats(j).records, 1);
    reef_journal_close(j);
    assert_ok(reef_file_check(journal_path(), NULL, &info));
    assert_false(info.raw);
}

static void a_type_that_gets_its_fields_makes_the_journal_anew(void **state)
{
    static const reef_field back_to_front[] = {{.name = "b", .kind = REEF_I32, .offset = 4, .bytes = 4},
                                               {.name = "a", .kind = REEF_I32, .bytes = 4}};
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_component c = numbered_type("JournalBare", 1, 8, 4);
    const reef_entity e = reef_create(w);
    const int32_t first[2] = {1, 2}, second[2] = {3, 4}, third[2] = {5, 6};
    assert_status(REEF_ADDED, reef_set_id(w, e, c, first, sizeof first));
    assert_status(REEF_ADDED, reef_set_id(w, reef_create(w), c, first, sizeof first));
    reef_journal *j = opened(w, &(reef_journal_desc){.raw = true, .unsynced = true});
    assert_status(REEF_OK, reef_set_id(w, e, c, second, sizeof second));
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 2);
    assert_ok(reef_type_describe(c, back_to_front, 2));
    assert_status(REEF_OK, reef_set_id(w, e, c, third, sizeof third));
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 1);
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 2);
    reef_journal_close(j);
    j = opened(other, &(reef_journal_desc){.raw = true, .unsynced = true});
    assert_int_equal(reef_journal_stats(j).records, 2);
    assert_memory_equal(reef_get_id(other, e, c), third, sizeof third);
    assert_memory_equal(reef_get_id(other, reef_entity_at(other, 1), c), first, sizeof first);
    reef_journal_close(j);
}

/* A file in which the type was bytes, read by a program that knows its fields, in another order. */
static void a_journal_of_a_type_without_fields_is_made_anew_where_it_has_some(void **state)
{
    static const reef_field back_to_front[] = {{.name = "b", .kind = REEF_I32, .offset = 4, .bytes = 4},
                                               {.name = "a", .kind = REEF_I32, .bytes = 4}};
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_component c = numbered_type("JournalBare", 2, 8, 4);
    const reef_entity e = reef_create(w);
    const int32_t first[2] = {1, 2}, second[2] = {3, 4};
    assert_status(REEF_ADDED, reef_set_id(w, e, c, first, sizeof first));
    const reef_journal_desc raw = {.raw = true, .unsynced = true};
    reef_journal_close(opened(w, &raw));
    assert_ok(reef_type_describe(c, back_to_front, 2));
    reef_journal *j = opened(other, &raw);
    assert_memory_equal(reef_get_id(other, e, c), first, sizeof first);
    assert_status(REEF_OK, reef_set_id(other, e, c, second, sizeof second));
    append(other, j);
    reef_journal_close(j);
    assert_holds(state, other);
}

/* ---- compaction ---- */

static void a_journal_is_made_anew_when_it_is_too_long(void **state)
{
    reef_world *w = world_of(state);
    zoo_steps(w, 21, 300);
    reef_journal *j = opened(w, &(reef_journal_desc){.unsynced = true, .compact_bytes = 1});
    const uint64_t whole = reef_journal_stats(j).whole_bytes;
    bool compacted = false;
    for (uint64_t round = 0; round < 300 && !compacted; round++) {
        const uint64_t records = reef_journal_stats(j).records;
        zoo_steps(w, round, 20);
        append(w, j);
        const reef_journal_info info = reef_journal_stats(j);
        assert_int_equal(info.bytes, file_bytes());
        compacted = info.records == 1;
        if (compacted) assert_int_equal(info.whole_bytes, info.bytes);
        else assert_int_equal(info.records, records + 1);
        if (!compacted) assert_true(info.bytes / 2 <= whole);
    }
    assert_true(compacted);
    coin(w, 1);
    append(w, j);
    assert_ok(reef_journal_compact(j));
    assert_int_equal(reef_journal_stats(j).records, 1);
    coin(w, 1);
    append(w, j);
    assert_int_equal(reef_journal_stats(j).records, 2);
    reef_journal_close(j);
    assert_holds(state, w);
}

static void without_a_limit_a_journal_only_grows(void **state)
{
    reef_world *w = world_of(state);
    reef_journal *j = opened(w, &quick);
    for (uint64_t n = 2; n < 40; n++) {
        coin(w, 1);
        append(w, j);
        assert_int_equal(reef_journal_stats(j).records, n);
    }
    reef_journal_close(j);
    assert_holds(state, w);
}

/* ---- who else is there ---- */

static bool second_handle(void *context)
{
    assert_null(reef_journal_open(context, journal_path(), NULL));
    return true;
}

static void two_handles_cant_append_to_one_journal(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    coin(w, 1);
    zoo_steps(other, 1, 20);
    const uint64_t before = reef_hash(other);
    reef_journal *j = opened(w, &quick);
    assert_true(faults_run(NULL, second_handle, other)); /* without the waiting */
    assert_int_equal(reef_last_error(other).status, REEF_IO);
    assert_non_null(strstr(reef_last_error(other).detail, "it is open for writing elsewhere"));
    assert_true(reef_hash(other) == before);
    coin(w, 2);
    append(w, j);
    reef_journal_close(j);
    assert_holds(state, w);
    j = opened(other, &quick);
    assert_same(w, other);
    reef_journal_close(j);
}

static void refused_with(reef_world *w, reef_journal *j, const char *why)
{
    for (int i = 0; i < 2; i++) { /* again and again */
        assert_refused(w, REEF_IO, reef_journal_append(j));
        assert_string_equal(reef_last_error(w).operation, "reef_journal_append");
        if (!strstr(reef_last_error(w).detail, why)) fail_msg("%s", reef_last_error(w).detail);
    }
}

static void a_journal_whose_name_leads_elsewhere_is_not_appended_to(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    coin(w, 1);
    coin(other, 2);
    reef_journal *j = opened(w, &quick);
    assert_ok(reef_save(other, journal_path(), &(reef_save_desc){.unsynced = true}));
    coin(w, 3);
    refused_with(w, j, "another file has its name now");
    assert_holds(state, other); /* the other's file is left alone */
    assert_ok(reef_journal_compact(j));
    assert_holds(state, w);
    coin(w, 4);
    append(w, j);
    assert_holds(state, w);
    faults_put(journal_path(), NULL, 0);
    coin(w, 5);
    refused_with(w, j, "it no longer exists");
    assert_ok(reef_journal_compact(j));
    /* its file is a new one */
    reef_journal *second =
        reef_journal_open(other, journal_path(), &(reef_journal_desc){.fresh = true, .unsynced = true});
    assert_non_null(second);
    refused_with(w, j, "another file has its name now");
    coin(other, 6);
    append(other, second);
    reef_journal_close(j);
    reef_journal_close(second);
    assert_holds(state, other);
}

/* ---- torn and damaged ---- */

enum { RECORDS = 4 };

typedef struct small_journal {
    unsigned char *data;
    size_t size, end[RECORDS]; /* end: of each record */
    uint64_t hash[RECORDS];
} small_journal;

static small_journal small_make(reef_world *w)
{
    small_journal x;
    reef_journal *j = opened(w, NULL);
    for (int32_t i = 0; i < RECORDS; i++) {
        if (i == 1) coin(w, 1);
        if (i == 2) reef_mut(w, coin(w, 2), Coin)->units = 9;
        if (i == 3) assert_ok(reef_destroy(w, reef_entity_at(w, 0)));
        if (i) append(w, j);
        x.end[i] = (size_t)reef_journal_stats(j).bytes;
        x.hash[i] = reef_hash(w);
    }
    reef_journal_close(j);
    const unsigned char *p = faults_get(journal_path(), &x.size);
    x.data = malloc(x.size);
    assert_non_null(x.data);
    memcpy(x.data, p, x.size);
    return x;
}

typedef struct cut {
    uint32_t count;
    uint64_t bytes;
} cut;

static void cut_note(void *context, const reef_load_note *n)
{
    cut *x = context;
    assert_int_equal(n->kind, REEF_NOTE_TAIL_CUT);
    x->count++;
    x->bytes = n->rows;
}

static void each_truncation_leaves_the_state_of_the_last_whole_record(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const small_journal x = small_make(w);
    for (size_t size = 0; size < x.size; size++) {
        uint32_t whole = 0;
        cut seen = {0, 0};
        const reef_load_desc desc = {.note = cut_note, .context = &seen};
        while (whole < RECORDS && x.end[whole] <= size) whole++;
        const reef_status s = reef_load_bytes(other, x.data, size, &desc);
        if (whole == 0) {
            assert_status(REEF_CORRUPT, s);
            continue;
        }
        assert_status(REEF_OK, s);
        assert_true(reef_hash(other) == x.hash[whole - 1]);
        const size_t torn = size - x.end[whole - 1];
        assert_int_equal(seen.count, torn ? 1 : 0);
        assert_int_equal(seen.bytes, torn);
    }
    for (size_t size = x.end[0]; size < x.size; size += 61) { /* as files, which go on */
        uint32_t whole = 0;
        cut seen = {0, 0};
        while (whole < RECORDS && x.end[whole] <= size) whole++;
        faults_put(journal_path(), x.data, size);
        reef_journal *j =
            opened(other, &(reef_journal_desc){.unsynced = true, .load = {.note = cut_note, .context = &seen}});
        assert_true(reef_hash(other) == x.hash[whole - 1]);
        assert_int_equal(seen.count, size > x.end[whole - 1]);
        assert_int_equal(file_bytes(), x.end[whole - 1]);
        assert_int_equal(reef_journal_stats(j).records, whole);
        coin(other, 77);
        append(other, j);
        reef_journal_close(j);
        assert_holds(state, other);
    }
    free(x.data);
}

static void damage_with_whole_records_behind_it_is_refused(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const small_journal x = small_make(w);
    zoo_steps(other, 1, 30);
    for (size_t at = 8; at < x.end[RECORDS - 2]; at += 37) {
        size_t size;
        x.data[at] ^= (unsigned char)(1 << at % 8);
        faults_put(journal_path(), x.data, x.size);
        assert_null(reef_journal_open(other, journal_path(), NULL));
        const reef_status s = reef_last_error(other).status;
        if (at > 23 || (at != 8 && at != 9)) assert_true(s == REEF_CORRUPT || (at < 24 && s == REEF_VERSION));
        const void *p = faults_get(journal_path(), &size);
        assert_int_equal(size, x.size);
        assert_memory_equal(p, x.data, size);
        x.data[at] ^= (unsigned char)(1 << at % 8);
    }
    x.data[x.end[1] - 1] ^= 1;
    faults_put(journal_path(), x.data, x.size);
    assert_no_pointer(other, REEF_CORRUPT, reef_journal_open(other, journal_path(), NULL));
    assert_non_null(strstr(reef_last_error(other).detail, "record 1 is damaged, but complete records follow it"));
    x.data[x.end[1] - 1] ^= 1;
    x.data[x.end[RECORDS - 1] - 1] ^= 1; /* nothing follows: it is a torn tail */
    faults_put(journal_path(), x.data, x.size);
    reef_journal_close(opened(other, &quick));
    assert_true(reef_hash(other) == x.hash[RECORDS - 2]);
    free(x.data);
}

/* Appends that nobody waited for may be on the disk in parts: what follows a hole proves nothing. */
static void a_hole_before_appends_that_nobody_waited_for_is_a_torn_tail(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_file_info info;
    size_t size;
    reef_journal *j = opened(w, &quick);
    const size_t first = (size_t)reef_journal_stats(j).bytes;
    for (int32_t i = 0; i < 3; i++) {
        coin(w, i);
        append(w, j);
    }
    reef_journal_close(j);
    assert_ok(reef_file_check(journal_path(), NULL, &info));
    assert_false(info.torn);
    assert_int_equal(info.records, 4);
    unsigned char *p = faults_get(journal_path(), &size);
    p[first + 100] ^= 1;
    faults_put(journal_path(), p, size);
    assert_ok(reef_file_check(journal_path(), NULL, &info));
    assert_true(info.torn);
    assert_int_equal(info.sound_bytes, first);
    j = opened(other, &quick);
    assert_int_equal(reef_count_alive(other), 0);
    assert_int_equal(reef_journal_stats(j).bytes, first);
    reef_journal_close(j);
}

/* ---- memory ---- */

typedef bool sweep_call(reef_world *w, reef_journal **j);

static bool sweep_make(reef_world *w, reef_journal **j)
{
    return (*j = reef_journal_open(w, journal_path(), &quick)) != NULL;
}
static bool sweep_append(reef_world *w, reef_journal **j) { return (void)w, reef_journal_append(*j) == REEF_OK; }
static bool sweep_compact(reef_world *w, reef_journal **j) { return (void)w, reef_journal_compact(*j) == REEF_OK; }

/* The call with its n-th allocation failing (`rest`: and all later ones), for all n. */
static void sweep(void **state, sweep_call *call, bool file, bool held, bool rest)
{
    for (uint64_t n = 1;; n++) {
        reef_world *w = another_world(state, NULL);
        reef_journal *j = NULL;
        faults_put(journal_path(), NULL, 0);
        zoo_steps(w, 31, 60);
        if (file || held) j = opened(w, &quick);
        zoo_steps(w, 32, 30);
        if (file && !held) {
            append(w, j);
            reef_journal_close(j);
            j = NULL;
            zoo_steps(w, 33, 10);
        }
        const uint64_t before = reef_hash(w);
        size_t size = 0;
        (void)faults_get(journal_path(), &size);
        heap_fail_nth(heap_of(state), n, rest);
        const bool works = call(w, &j), failed = heap_of(state)->refused != 0;
        heap_fail_never(heap_of(state));
        heap_of(state)->refused = 0;
        assert_valid(w);
        if (!works) {
            size_t now = 0;
            assert_true(failed);
            assert_status(REEF_NO_MEMORY, reef_last_error(w).status);
            assert_true(reef_hash(w) == before);
            (void)faults_get(journal_path(), &now);
            assert_int_equal(now, size);
            assert_true(call(w, &j));
        }
        coin(w, 1);
        append(w, j);
        reef_journal_close(j);
        assert_holds(state, w);
        end_world(state, w);
        if (!failed) break;
    }
}

static void each_allocation_of_a_journal_fails_in_turn(void **state)
{
    for (int rest = 0; rest < 2; rest++) {
        sweep(state, sweep_make, false, false, rest);
        sweep(state, sweep_make, true, false, rest);
        sweep(state, sweep_append, false, true, rest);
        sweep(state, sweep_compact, false, true, rest);
    }
}

typedef struct {
    int32_t n;
} Sound;
static const reef_hooks stays = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Sound, &stays);

/* The file is a save, so it is loaded and written anew as a journal. Where that fails the world has all back: also
 * values that would have gone over to the state of the file, and which systems are on. */
static void a_file_that_cant_become_a_journal_leaves_all_as_it_was(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes b;
    const reef_entity e = reef_spawn(w, reef_with(Sound, 5), reef_with(Coin, .units = 1));
    const reef_system_id id = reef_system_add(w, "naps", no_system, "Coin");
    assert_ok(reef_system_enable(w, id, false));
    assert_ok(reef_save_bytes(w, &b, NULL));
    assert_ok(reef_system_enable(w, id, true));
    assert_true(reef_set(w, e, Sound, 9) >= 0);
    reef_mut(w, e, Coin)->units = 2;
    for (uint64_t n = 1, failed = 1; failed; n++) {
        faults_put(journal_path(), b.data, b.size);
        heap_fail_nth(heap_of(state), n, n % 2);
        reef_journal *j = reef_journal_open(w, journal_path(), &quick);
        failed = heap_of(state)->refused != 0;
        heap_fail_never(heap_of(state));
        if (failed && j) { /* what failed was nothing that is needed: once more */
            reef_journal_close(j);
            assert_int_equal(reef_get(w, e, Coin)->units, 1);
            assert_ok(reef_system_enable(w, id, true));
            reef_mut(w, e, Coin)->units = 2;
            continue;
        }
        if (failed) assert_status(REEF_NO_MEMORY, reef_last_error(w).status);
        assert_int_equal(reef_get(w, e, Sound)->n, 9);
        assert_int_equal(reef_get(w, e, Coin)->units, failed ? 2 : 1);
        assert_int_equal(reef_system_is_enabled(w, id), failed);
        assert_valid(w);
        reef_journal_close(j);
    }
    reef_bytes_free(&b);
}

/* ---- values that own something ---- */

/* Its hook makes the field from what it owns whenever it moves, as std::string would its length. */
typedef struct {
    int32_t weight;
    int32_t *owned;
} Sack;

static reef_status sack_make(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    (void)context, (void)w, (void)e, (void)args;
    int32_t *owned = calloc(1, sizeof *owned);
    *(Sack *)slot = (Sack){0, owned};
    return owned ? REEF_OK : REEF_NO_MEMORY;
}
static reef_status sack_copy(void *context, void *to, const void *from)
{
    const Sack *f = from;
    const reef_status s = sack_make(context, NULL, (reef_entity){0, 0}, to, NULL);
    if (s != REEF_OK) return s;
    *((Sack *)to)->owned = *f->owned;
    ((Sack *)to)->weight = f->weight;
    return REEF_OK;
}
static void sack_move(void *context, void *to, void *from)
{
    (void)context;
    *(Sack *)to = *(Sack *)from;
    ((Sack *)to)->weight = *((Sack *)to)->owned;
}
static void sack_end(void *context, void *slot)
{
    (void)context;
    free(((Sack *)slot)->owned);
}
static const reef_hooks sack_hooks = {
    .construct = sack_make, .copy = sack_copy, .move = sack_move, .destroy = sack_end};
REEF_COMPONENT_HOOKS(Sack, &sack_hooks);
REEF_FIELDS(Sack, weight);

static reef_entity sack(reef_world *w, int32_t weight)
{
    const reef_entity e = reef_spawn(w, reef_default(Sack));
    Sack *s = reef_mut(w, e, Sack);
    *s->owned = s->weight = weight;
    return e;
}

static void fields_of_a_row_that_another_takes_come_after_its_hooks(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity first = sack(w, 7);
    sack(w, 7);
    reef_journal *j = opened(w, &quick);
    assert_ok(reef_destroy(w, first)); /* the other one goes to its row, where the same weight lies */
    append(w, j);
    assert_holds(state, w);
    reef_journal_close(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNAL_TEST(fields_of_a_row_that_another_takes_come_after_its_hooks),
        JOURNAL_TEST(a_journal_is_made_where_nothing_is_and_loaded_where_it_is),
        JOURNAL_TEST(wrong_calls_of_journals_are_refused),
        JOURNAL_TEST(a_locked_world_has_no_journal_and_no_append),
        JOURNAL_TEST(a_saved_world_becomes_a_journal),
        JOURNAL_TEST(every_kind_of_change_is_replayed_and_goes_on),
        JOURNAL_TEST(a_journal_follows_the_world_back_and_elsewhere),
        JOURNAL_TEST(time_and_systems_are_in_each_record),
        JOURNAL_TEST(a_cancelled_append_leaves_file_and_numbers_alone),
        JOURNAL_TEST(an_append_that_was_refused_is_made_up_for),
        JOURNAL_TEST(a_journal_of_another_struct_is_made_anew),
        JOURNAL_TEST(a_raw_journal_stays_raw),
        JOURNAL_TEST(a_type_that_gets_its_fields_makes_the_journal_anew),
        JOURNAL_TEST(a_journal_of_a_type_without_fields_is_made_anew_where_it_has_some),
        JOURNAL_TEST(a_journal_is_made_anew_when_it_is_too_long),
        JOURNAL_TEST(without_a_limit_a_journal_only_grows),
        JOURNAL_TEST(two_handles_cant_append_to_one_journal),
        JOURNAL_TEST(a_journal_whose_name_leads_elsewhere_is_not_appended_to),
        JOURNAL_TEST(each_truncation_leaves_the_state_of_the_last_whole_record),
        JOURNAL_TEST(damage_with_whole_records_behind_it_is_refused),
        JOURNAL_TEST(a_hole_before_appends_that_nobody_waited_for_is_a_torn_tail),
        JOURNAL_TEST(each_allocation_of_a_journal_fails_in_turn),
        JOURNAL_TEST(a_file_that_cant_become_a_journal_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
