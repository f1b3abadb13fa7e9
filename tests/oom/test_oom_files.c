/* The allocation sweep over files and what travels as they do: each feature of a world, and each two of them, in
 * each of the calls that write, read or exchange whole worlds. The mechanism is that of test_oom.c: with the n-th
 * allocation failing, or the n-th hook that makes a value, a call answers NO_MEMORY or works; the worlds that take
 * part are as before, valid, and nothing leaks; each value ends once; with memory the call works, and comes to what
 * it would have come to.
 *
 *     test_oom_files                of each scenario some allocations, others for each; of two features some calls
 *     test_oom_files --deep 1 4     all of them, the first of four parts */
#include "base/checksum.h"
#include "faults.h"
#include "load_repair.h"
#include "oom_sweep.h"

/* ---- features ---- */

typedef struct {
    int32_t a, b;
} Some;
typedef struct {
    uint32_t number;
} Hold;
typedef struct {
    float x, y;
    int32_t n;
} Split;
typedef Tracked Several, Common, Sparse, Paged, Cold;
typedef struct {
    uint32_t number;
} Plainly;
typedef struct {
    int32_t n;
} Sent;
static const reef_hooks rows = {.track_rows = true}, skip = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_IN(Some, REEF_MULTI);
REEF_COMPONENT_IN_HOOKS(Several, REEF_MULTI, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Common, REEF_SHARED, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Sparse, REEF_SPARSE, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Paged, REEF_PAGED, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Cold, REEF_COLD, &tracked_hooks);
REEF_COMPONENT_IN(Plainly, REEF_SPARSE);
REEF_COMPONENT(Sent);
REEF_COMPONENT_HOOKS(Hold, &rows);
REEF_TAG_HOOKS(Marked, &rows);
REEF_COMPONENT_IN(Split, REEF_SPLIT);
REEF_RELATION(Below, REEF_EXCLUSIVE | REEF_ACYCLIC);
REEF_RELATION_OF(Lends, Sent);
REEF_FIELDS(Split, x, y, n);
REEF_FIELDS(Sent, n);
REEF_FIELDS(Several, value);
REEF_FIELDS(Common, value);
REEF_FIELDS(Sparse, value);
REEF_FIELDS(Paged, value);
REEF_FIELDS(Cold, value);

/* The types in a file, with other names in their place. */
typedef struct {
    double x;
    int32_t n;
} Whole;
typedef Tracked Tabled, Stays, Onlyone;
REEF_COMPONENT(Whole);
REEF_COMPONENT_HOOKS(Tabled, &tracked_hooks);
REEF_COMPONENT_HOOKS(Onlyone, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Stays, REEF_SPARSE, &tracked_hooks);
REEF_FIELDS(Whole, x, n);
REEF_FIELDS(Tabled, value);
REEF_FIELDS(Onlyone, value);
REEF_FIELDS(Stays, value);
static const char *const renamed[][2] = {{"Split", "Whole"},  {"Sparse", "Tabled"},   {"Several", "Onlyone"},
                                         {"Paged", "Stays"},  {"Plainly", "Unknown"}, {"Common", "Nobody"},
                                         {"Health", "Wealth"}};

typedef struct {
    int32_t n;
} Skipped;
typedef Tracked Reset;
static reef_hooks reset_hooks, kept_hooks;
REEF_COMPONENT_HOOKS(Skipped, &skip);
static reef_component kept, reset; /* as Tracked; with stamps and a log; with default values in forks */

enum { ROWS = 10 };

static void nobody(const reef_notice *n) { (void)n; }
static void nothing(reef_block *b) { (void)b; }
static const reef_script_class guard = {.name = "guard", .size = 4};

/* Values that are told apart, and differ by `round`. */
static void hooks_give(reef_world *w, reef_entity e, int i, int round)
{
    reef_set(w, e, Tracked, .value = i + 100 * round);
    if (i % 3) reef_set(w, e, Loose, .value = i + 50 * round);
}
static void bits_give(reef_world *w, reef_entity e, int i, int round)
{
    if (i % 4 == 1) reef_add(w, e, Awake);
    if (i == 9 - round) reef_disable(w, e);
    if (i % 5 == 0) reef_disable(w, e, Mass);
}
static void tracked_give(reef_world *w, reef_entity e, int i, int round)
{
    reef_set(w, e, Hold, (uint32_t)(i + round));
    if (i % 2) reef_add(w, e, Marked);
}
static void kept_give(reef_world *w, reef_entity e, int i, int round)
{
    (void)round;
    if (i % 3 != 1) reef_add_id(w, e, kept, NULL, NULL);
}
static void events_give(reef_world *w, reef_entity e, int i, int round)
{
    (void)e;
    if (i < 3) reef_post(w, Sent, i + round);
}
static void multi_give(reef_world *w, reef_entity e, int i, int round)
{
    for (int k = 0; k < i % 4; k++) reef_append(w, e, Some, i, k + round), reef_add(w, e, Several);
}
static void shared_give(reef_world *w, reef_entity e, int i, int round)
{
    static reef_entity first;
    if (i % 3 == 0) reef_set(w, first = e, Common, .value = i + round);
    else if (reef_is_alive(w, first) && reef_has(w, first, Common)) reef_share(w, first, e, Common);
}
static void stored_give(reef_world *w, reef_entity e, int i, int round)
{
    if (i % 4) reef_set(w, e, Sparse, .value = i + round);
    if (i % 3) reef_set(w, e, Paged, .value = i - round);
    if (i % 2) reef_set(w, e, Cold, .value = i * 2 + round);
    reef_set(w, e, Plainly, (uint32_t)(i + round));
}
static void names_give(reef_world *w, reef_entity e, int i, int round)
{
    char name[20];
    snprintf(name, sizeof name, "name%d", i + round);
    if (i % 3) (void)reef_set_name(w, e, name);
}
static void split_give(reef_world *w, reef_entity e, int i, int round)
{
    reef_set(w, e, Split, (float)i, (float)round, i);
}
static void scripts_give(reef_world *w, reef_entity e, int i, int round)
{
    const int32_t data = i + round;
    if (i % 2 && reef_script_of(w, e) == NULL) reef_script_add(w, e, &guard, &data);
}
static void single_give(reef_world *w, reef_entity e, int i, int round)
{
    (void)e;
    if (i == 0) reef_single_set(w, Health, 1, round), reef_single_set(w, Tracked, .value = 7 + round);
}
static void forks_give(reef_world *w, reef_entity e, int i, int round)
{
    reef_set(w, e, Skipped, i + round);
    if (i % 2) reef_add_id(w, e, reset, NULL, NULL);
}
static void relations_give(reef_world *w, reef_entity e, int i, int round)
{
    const reef_entity other = reef_entity_at(w, e.index / 2);
    reef_relate_data(w, e, Lends, e, i + round);
    if (reef_entity_is_null(other) || reef_entity_equal(e, other)) return;
    reef_relate_before(w, e, Below, other, reef_entity_at(w, e.index ^ 1));
    if (!reef_has(w, e, Below)) reef_relate(w, e, Below, other);
    reef_relate_data(w, e, Lends, other, i * round);
}
static void ids_give(reef_world *w, reef_entity e, int i, int round)
{
    (void)e;
    if (i == 1) (void)reef_reserve_id(w);
    if (i == 2) (void)reef_create(w), (void)reef_create_as(w, (reef_entity){(uint32_t)(5000 + round), 3});
    if (i == 3 || i == 4) reef_destroy(w, reef_create(w));
}

static void tracked_watch(sweep *s)
{
    s->removals[0] = reef_removals_new(s->w, reef_id(Hold), true);
    s->removals[1] = reef_removals_new(s->w, reef_id(Marked), false);
}
static void kept_watch(sweep *s) { s->removals[2] = reef_removals_new(s->w, kept, false); }
static void events_watch(sweep *s)
{
    s->reader = reef_event_reader_new(s->w, reef_id(Sent));
    assert_false(reef_system_is_null(reef_system_add(s->w, "eats", nothing, "; receives Sent")));
}
static void scripts_watch(sweep *s)
{
    assert_false(reef_system_is_null(reef_scripts(s->w, NULL, NULL)));
    s->removals[3] = reef_removals_new(s->w, reef_script_type(), true);
}
static void observe(reef_world *w, const char *name, uint32_t events, reef_component c, const char *text,
                    bool collected)
{
    const reef_observer_desc d = {
        .name = name, .function = nobody, .events = events, .component = c, .text = text, .collected = collected};
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
}
static void observers_watch(sweep *s)
{
    const uint32_t all = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY;
    observe(s->w, "p", all, reef_id(Position), NULL, false);
    observe(s->w, "t", all, reef_id(Tracked), NULL, true);
    observe(s->w, "s", all, reef_id(Sparse), NULL, false);
    observe(s->w, "m", REEF_ON_MATCH | REEF_ON_UNMATCH, (reef_component){0}, "Position, !Frozen", true);
    observe(s->w, "u", REEF_ON_MATCH | REEF_ON_UNMATCH, (reef_component){0}, "Mass, Awake", false);
}
static void systems_watch(sweep *s)
{
    reef_system_add(s->w, "moves", nothing, "Position, changed Mass");
    reef_phase_new(s->w, &(reef_phase_desc){.name = "late", .after = "update", .step_ns = 5});
    assert_ok(reef_tick(s->w, 0.1f));
    s->query = reef_query_new(s->w, "changed Position");
    assert_true(reef_query_count(s->w, s->query) == 0);
}

static const struct feature {
    const char *name;
    void (*watch)(sweep *s);                                      /* before there is anything; NULL: nothing */
    void (*give)(reef_world *w, reef_entity e, int i, int round); /* to the i-th entity; NULL: nothing */
} features[] = {
    {"hooks", NULL, hooks_give},
    {"bits", NULL, bits_give},
    {"tracked rows", tracked_watch, tracked_give},
    {"tracked values", kept_watch, kept_give},
    {"events", events_watch, events_give},
    {"several", NULL, multi_give},
    {"common", NULL, shared_give},
    {"stored", NULL, stored_give},
    {"names", NULL, names_give},
    {"observers", observers_watch, NULL},
    {"split", NULL, split_give},
    {"scripts", scripts_watch, scripts_give},
    {"single", NULL, single_give},
    {"forks", NULL, forks_give},
    {"ids", NULL, ids_give},
    {"relations", NULL, relations_give},
    {"systems", systems_watch, NULL},
};
enum { FEATURES = sizeof features / sizeof *features };

static void give(const sweep *s, reef_world *w, reef_entity e, int i, int round)
{
    for (uint32_t k = 0; k < FEATURES; k++)
        if (s->trial->number >> k & 1 && features[k].give) features[k].give(w, e, i, round);
}

/* ---- worlds to start from ---- */

static void filled(sweep *s)
{
    for (uint32_t k = 0; k < FEATURES; k++)
        if (s->trial->number >> k & 1 && features[k].watch) features[k].watch(s);
    for (int i = 0; i < ROWS; i++) {
        s->e[i] = reef_spawn(s->w, reef_with(Position, (float)i, 2), reef_with(Mass, 3));
        give(s, s->w, s->e[i], i, 0);
    }
    (void)reef_create(s->w);
    (void)reef_release_id(s->w, (reef_entity){0}); /* an error that isn't NO_MEMORY */
}

/* Rows go, values are others, rows come. */
static void changed(const sweep *s, reef_world *w)
{
    for (int i = 2; i < 8; i++) assert_ok(reef_destroy(w, s->e[i]));
    for (int i = 8; i < ROWS; i++) give(s, w, s->e[i], i, 1);
    reef_mut(w, s->e[0], Position)->x = 77;
    assert_ok(reef_remove(w, s->e[1], Mass));
    for (int i = 0; i < 3; i++) give(s, w, reef_spawn(w, reef_with(Position, 1, 1), reef_tag(Frozen)), i, 20);
}

static void write_bytes(reef_world *before, reef_world *w, reef_bytes *b, bool sealed)
{
    const reef_save_desc d = {.sealed = sealed, .raw = true};
    const reef_status s = before ? reef_diff_bytes(before, w, b, &d) : reef_save_bytes(w, b, &d);
    if (s != REEF_OK) fail_msg("%s: %s", reef_status_name(s), reef_last_error(w).detail);
}

static const char *path(void) { return faults_path("swept.journal"); }

static void with_fork(sweep *s)
{
    filled(s);
    assert_non_null(s->other = reef_fork(s->w));
}
static void after_changes(sweep *s)
{
    with_fork(s);
    changed(s, s->w);
}
static void with_other(sweep *s)
{
    with_fork(s);
    changed(s, s->other);
}
static void before_changes(sweep *s)
{
    filled(s);
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
    changed(s, s->w);
}
static void with_difference(sweep *s, bool sealed, bool empty)
{
    reef_world *later = empty ? reef_fork(s->w) : NULL; /* without an index */
    filled(s);
    if (!empty) changed(s, later = reef_fork(s->w));
    write_bytes(s->w, later, &s->bytes, sealed);
    reef_world_free(later);
}
static void with_plain_difference(sweep *s) { with_difference(s, false, false); }
static void with_sealed_difference(sweep *s) { with_difference(s, true, false); }
static void with_difference_to_nothing(sweep *s) { with_difference(s, true, true); }

/* The file of another state. */
static void with_save(sweep *s, bool sealed)
{
    filled(s);
    reef_world *later = reef_fork(s->w);
    assert_non_null(later);
    changed(s, later);
    write_bytes(NULL, later, &s->bytes, sealed);
    reef_world_free(later);
}
static void with_file(sweep *s)
{
    with_save(s, true);
    faults_put(path(), s->bytes.data, s->bytes.size);
}
static void with_plain_save(sweep *s) { with_save(s, false); }
static void with_sealed_save(sweep *s) { with_save(s, true); }

static void with_others_save(sweep *s)
{
    with_save(s, false);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        const size_t length = strlen(renamed[i][0]);
        unsigned char *p = s->bytes.data, *end = p + s->bytes.size - length;
        assert_int_equal(strlen(renamed[i][1]), length);
        while (p < end && memcmp(p, renamed[i][0], length) != 0) p++;
        if (p < end) memcpy(p, renamed[i][1], length);
    }
    repair(s->bytes.data, s->bytes.size);
}
/* Of another family. */
static void with_stranger(sweep *s)
{
    with_save(s, false);
    s->other = reef_world_new(&(reef_world_config){.allocator = heap_allocator(&sweep_heap)});
    assert_ok(reef_load_bytes(s->other, s->bytes.data, s->bytes.size, NULL));
}

static reef_journal *journal(reef_world *w)
{
    return reef_journal_open(w, path(), &(reef_journal_desc){.unsynced = true, .raw = true});
}
static void with_no_file(sweep *s)
{
    filled(s);
    faults_put(path(), NULL, 0);
}
static void with_journal(sweep *s)
{
    with_no_file(s);
    assert_non_null(s->journal = journal(s->w));
    changed(s, s->w);
}
static void with_closed_journal(sweep *s)
{
    with_journal(s);
    assert_ok(reef_journal_append(s->journal));
    reef_journal_close(s->journal);
    s->journal = NULL;
    assert_ok(reef_destroy(s->w, s->e[0]));
}
/* Of a file that isn't a journal as it would be written: it is written anew. */
static void with_saved_file(sweep *s)
{
    filled(s);
    reef_bytes b;
    write_bytes(NULL, s->w, &b, true);
    faults_put(path(), b.data, b.size);
    reef_bytes_free(&b);
    changed(s, s->w);
}

/* ---- calls ---- */

/* What the test does itself doesn't fail. */
typedef struct interval {
    uint64_t fail_at;
    heap *hooks;
} interval;
static interval interval_begin(void)
{
    const interval p = {sweep_heap.fail_at, book.heap};
    sweep_heap.fail_at = 0;
    book.heap = NULL;
    return p;
}
static void interval_end(interval p)
{
    sweep_heap.fail_at = p.fail_at;
    book.heap = p.hooks;
}

/* What was written is what another world reads. */
static bool written(sweep *s, reef_status status, bool difference)
{
    if (status != REEF_OK) return false;
    heap quiet = {0};
    interval p = interval_begin();
    reef_world *w =
        difference ? reef_fork(s->other) : reef_world_new(&(reef_world_config){.allocator = heap_allocator(&quiet)});
    const reef_status read = difference ? reef_diff_apply(w, s->made_bytes.data, s->made_bytes.size)
                                        : reef_load_bytes(w, s->made_bytes.data, s->made_bytes.size, NULL);
    if (read != REEF_OK)
        fail_msg("%s%s: what was written is refused: %s", s->trial->scene.name, s->trial->with,
                 reef_last_error(w).detail);
    s->seen = reef_hash(w);
    reef_world_free(w);
    interval_end(p);
    return true;
}
/* The file is read by another world. */
static bool written_file(sweep *s, bool works)
{
    heap quiet = {0};
    if (!works) return false;
    const interval p = interval_begin();
    reef_world *w = reef_world_new(&(reef_world_config){.allocator = heap_allocator(&quiet)});
    if (reef_load(w, path(), NULL) != REEF_OK)
        fail_msg("%s%s: the file is refused: %s", s->trial->scene.name, s->trial->with, reef_last_error(w).detail);
    s->seen = reef_hash(w);
    reef_world_free(w);
    interval_end(p);
    return true;
}
static bool save_it(sweep *s, bool sealed)
{
    reef_bytes_free(&s->made_bytes);
    return written(s, reef_save_bytes(s->w, &s->made_bytes, &(reef_save_desc){.sealed = sealed, .raw = true}), false);
}
static bool save(sweep *s) { return save_it(s, false); }
static bool save_sealed(sweep *s) { return save_it(s, true); }
static bool diff_it(sweep *s, bool sealed)
{
    reef_bytes_free(&s->made_bytes);
    return written(s, reef_diff_bytes(s->other, s->w, &s->made_bytes, &(reef_save_desc){.sealed = sealed, .raw = true}),
                   true);
}
static bool diff(sweep *s) { return diff_it(s, false); }
static bool diff_sealed(sweep *s) { return diff_it(s, true); }
static bool load(sweep *s) { return done(reef_load_bytes(s->w, s->bytes.data, s->bytes.size, NULL)); }
static bool apply(sweep *s) { return done(reef_diff_apply(s->w, s->bytes.data, s->bytes.size)); }
static bool merge(sweep *s)
{
    return done(reef_merge(s->w, s->other, &(reef_merge_desc){.drop_names = true}, &s->merged));
}
static bool merge_some(sweep *s)
{
    return done(reef_merge(s->w, s->other, &(reef_merge_desc){.drop_names = true, .query = "Position"}, &s->merged));
}
static bool journal_open(sweep *s) { return written_file(s, (s->journal = journal(s->w)) != NULL); }
static bool journal_append(sweep *s) { return written_file(s, done(reef_journal_append(s->journal))); }
static bool journal_compact(sweep *s) { return written_file(s, done(reef_journal_compact(s->journal))); }
static bool save_file(sweep *s)
{
    return written_file(s, done(reef_save(s->w, path(), &(reef_save_desc){.sealed = true, .raw = true})));
}
static bool load_file(sweep *s) { return done(reef_load(s->w, path(), NULL)); }
static bool load_declared(sweep *s)
{
    const reef_load_desc desc = {.unknown = REEF_UNKNOWN_DECLARE, .lossless = true};
    return done(reef_load_bytes(s->w, s->bytes.data, s->bytes.size, &desc));
}
static bool plan_file(sweep *s) { return done(reef_load_plan(s->w, path(), NULL, NULL)); }
static bool restore(sweep *s) { return done(reef_restore(s->w, s->snapshot)); }
static bool snapshot(sweep *s) { return (s->snapshot = reef_snapshot_take(s->w)) != NULL; }
/* Default values where forks have such: so it isn't what the world is. */
static bool fork_it(sweep *s)
{
    reef_world *fork = reef_fork(s->w);
    if (fork == NULL) return false;
    const interval p = interval_begin();
    s->seen = digest(fork);
    assert_valid(fork);
    reef_world_free(fork);
    interval_end(p);
    return true;
}
static bool clear(sweep *s) { return done(reef_world_clear(s->w)); }
static bool clone(sweep *s) { return done(reef_clone_many(s->w, s->e[3], 20, NULL)); }
static bool destroy_some(sweep *s) { return done(DESTROY_EVERYWHERE(s->w, reef_id(Mass))); }

/* A loop that records all kinds of changes, and ends; what is left is flushed. */
static void loop_recorded(sweep *s)
{
    const reef_query q = reef_query_new(s->w, "in Position");
    const reef_entity shot = reef_spawn(s->w, reef_with(Mass, 1));
    const reef_entity armed = reef_spawn(s->w, reef_with(Mass, 1), reef_with(Sparse, .value = 4), reef_tag(Awake));
    assert_ok(reef_make_prefab(s->w, shot));
    assert_ok(reef_make_prefab(s->w, armed));
    s->loop = reef_begin_loop(s->w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&s->loop));
    for (int i = 0; i < 7; i++)
        assert_ok(reef_instantiate_with(s->w, i < 2 ? shot : i < 5 ? armed : s->e[9], 1, NULL, reef_with(Mass, 2)));
    for (int i = 2; i < 6; i++) assert_ok(reef_destroy(s->w, s->e[i]));
    const reef_entity made = reef_spawn(s->w, reef_with(Tracked, .value = 4), reef_with(Hold, 5), reef_tag(Awake));
    assert_some(made);
    assert_ok(reef_remove(s->w, s->e[0], Mass));
    assert_true(reef_set(s->w, s->e[1], Tracked, .value = 99) >= 0);
    assert_true(reef_set(s->w, s->e[7], Sparse, .value = 98) >= 0);
    assert_ok(reef_add(s->w, s->e[8], Frozen));
    assert_ok(reef_disable(s->w, s->e[6]));
    if (reef_has(s->w, s->e[1], Hold)) assert_ok(reef_remove(s->w, s->e[1], Hold));
    assert_some(reef_clone(s->w, s->e[9]));
}
static bool flush(sweep *s)
{
    if (!s->loop.loop.open) return reef_flush(s->w) == REEF_OK;
    reef_end(&s->loop);
    return reef_last_error(s->w).status != REEF_NO_MEMORY;
}

/* ---- the product ---- */

/* Which entities lost which component, and which events wait. */
static void told(sweep *s)
{
    uint64_t hash = s->seen;
    for (int i = 0; i < 4; i++) {
        unsigned char value[sizeof(reef_script)] = {0};
        reef_entity e;
        if (reef_removals_is_null(s->removals[i])) continue;
        while (reef_removals_next(s->w, s->removals[i], &e, i == 0 ? value : NULL)) {
            hash = digest_bytes(hash, &e, sizeof e);
            hash = digest_bytes(hash, value, sizeof(Hold));
        }
    }
    Sent sent;
    while (!reef_event_reader_is_null(s->reader) && reef_event_next(s->w, s->reader, &sent))
        hash = digest_bytes(hash, &sent, sizeof sent);
    s->seen = hash;
}

static void end(sweep *s)
{
    reef_journal_close(s->journal);
    reef_merged_free(s->merged);
    reef_bytes_free(&s->bytes);
    reef_bytes_free(&s->made_bytes);
}

static const struct operation {
    scenario scene;
    void (*ready)(sweep *s);
    bool steps;
} operations[] = {
    {{"save", filled, save}, NULL, false},
    {{"save, sealed", filled, save_sealed}, NULL, false},
    {{"load", with_plain_save, load}, NULL, false},
    {{"load, sealed", with_sealed_save, load}, NULL, false},
    {{"save, a file", with_no_file, save_file}, NULL, false},
    {{"load, a file", with_file, load_file}, NULL, false},
    {{"load, declared", with_plain_save, load_declared}, NULL, false},
    {{"plan", with_file, plan_file}, NULL, false},
    {{"load, other types", with_others_save, load}, NULL, false},
    {{"diff", after_changes, diff}, NULL, false},
    {{"diff, sealed", after_changes, diff_sealed}, NULL, false},
    {{"apply", with_plain_difference, apply}, NULL, false},
    {{"apply, sealed", with_sealed_difference, apply}, NULL, false},
    {{"apply, to nothing", with_difference_to_nothing, apply}, NULL, false},
    {{"merge", with_other, merge}, NULL, false},
    {{"merge, another's", with_stranger, merge}, NULL, false},
    {{"merge, some", with_other, merge_some}, NULL, false},
    {{"journal, new", with_no_file, journal_open}, NULL, false},
    {{"journal, append", with_journal, journal_append}, NULL, false},
    {{"journal, compact", with_journal, journal_compact}, NULL, false},
    {{"journal, again", with_closed_journal, journal_open}, NULL, false},
    {{"journal, of a save", with_saved_file, journal_open}, NULL, false},
    {{"flush", filled, flush}, loop_recorded, true},
    {{"restore", before_changes, restore}, NULL, false},
    {{"snapshot", filled, snapshot}, NULL, false},
    {{"fork", filled, fork_it}, NULL, false},
    {{"clear", filled, clear}, NULL, false},
    {{"clone", filled, clone}, NULL, false},
    {{"destroy_with", filled, destroy_some}, NULL, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* How much of it: builds in which everything takes longer (tests/suites.cmake) try less. */
#if defined(SWEEP_SHORT)
enum { STEP_ALL = 53, STEP_EACH = 61, STEP_TWO = 53, TWO_OF = 11 };
#elif defined(SWEEP_HALF)
enum { STEP_ALL = 23, STEP_EACH = 31, STEP_TWO = 53, TWO_OF = 11 };
#else
enum { STEP_ALL = 3, STEP_EACH = 7, STEP_TWO = 23, TWO_OF = 3 };
#endif

static uint64_t part, parts; /* of the deep sweep; 0: it is a sample */

/* Every step-th allocation, the first of them and the way in which they fail being others from scenario to scenario. */
static uint64_t sweep_one(const struct operation *o, uint32_t mask, uint64_t step, uint64_t offset)
{
    char with[200] = "";
    uint64_t runs = 0;
    for (uint32_t k = 0; k < FEATURES; k++)
        if (mask >> k & 1) snprintf(with + strlen(with), sizeof with - strlen(with), " + %s", features[k].name);
    const trial t = {.scene = o->scene,
                     .steps = o->steps,
                     .hooks = true,
                     .number = mask,
                     .with = with,
                     .ready = o->ready,
                     .told = told,
                     .end = end};
    const wanted w = sweep_undisturbed(&t);
    for (uint64_t way = 0; way < 4; way++) {
        if (parts == 0 && (way + offset) % 4 != 0) continue;
        for (uint64_t n = 1 + offset / 4 % step; sweep_run(&t, way >= 2, n, way % 2 == 1, &w); n += step) runs++;
    }
    return runs;
}

/* Each set of features of so many; 0: none, and all at once. Of the scenarios one in `of`. */
static void sweep_sets(uint32_t many, uint64_t step, uint64_t of)
{
    uint64_t runs = 0, number = 0, rounds = 0;
    failures = 0;
    if (parts) step = 1;
    for (uint32_t mask = 0; mask < 1u << FEATURES; mask++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < FEATURES; k++) count += mask >> k & 1;
        if (many ? count != many : mask != 0 && mask != (1u << FEATURES) - 1) continue;
        for (uint32_t i = 0; i < OPERATIONS; i++)
            if (parts ? number++ % parts == part : number++ % of == 0)
                runs += sweep_one(&operations[i], mask, step, rounds++);
    }
    assert_int_equal(failures, 0);
    assert_true(runs > 100); /* or the sweep sweeps nothing */
}

static void none_and_all_features(void **state)
{
    (void)state;
    sweep_sets(0, STEP_ALL, 1);
}
static void each_feature(void **state)
{
    (void)state;
    sweep_sets(1, STEP_EACH, 1);
}
static void each_two_features(void **state)
{
    (void)state;
    sweep_sets(2, STEP_TWO, TWO_OF);
}

/* Of tracked values the files and the hash have the value, not the ticket. */
static bool types_begin(void)
{
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    kept_hooks = reset_hooks = tracked_hooks;
    kept_hooks.track_rows = true;
    reset_hooks.on_fork = REEF_FORK_RESET;
    const reef_type_desc d = {
        .size = sizeof(Tracked), .align = REEF_ALIGNOF(Tracked), .fields = &value, .field_count = 1};
    reef_type_desc k = d, r = d;
    k.name = "Kept", k.hooks = &kept_hooks;
    r.name = "Reset", r.hooks = &reset_hooks;
    kept = reef_type_new(&k, NULL);
    reset = reef_type_new(&r, NULL);
    return kept.id && reset.id && reef_type_describe(reef_id(Tracked), &value, 1) >= 0 &&
           reef_type_describe(reef_id(Loose), &value, 1) >= 0 && reef_script_know(&guard) >= 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--deep") == 0)
        part = strtoul(argv[2], NULL, 10) - 1, parts = strtoul(argv[3], NULL, 10);
    if (!types_begin()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_and_all_features),
        cmocka_unit_test(each_feature),
        cmocka_unit_test(each_two_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
