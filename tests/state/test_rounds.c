/* Long loops: a world is played, restored, forked, merged, saved and loaded again and again, in random order, and no
 * counter may grow without bound.
 *
 * After each round every counter of the world, of its state and of its family is checked (`counters` below). A counter
 * that only grows may have grown by no more than the work that was done; a counter of things that exist may not be
 * larger than the world can have. (A version that doubled with each load was found late: after 54 rounds the world's
 * file could no longer be read.)
 *
 * Every file is read at once, into a new world as well, which must go on as the world that wrote it: the same hash, the
 * same file again, the same rows that systems find changed, and the same events, for a few ticks.
 *
 *     test_rounds [--rounds N] [--seed S] [--trace]     --trace: each round as it begins, and at the end the most
 *                                                       that each counter has reached */
#include "storage/entity_index.h"
#include "system/event.h"
#include "load_zoo.h"
#include "reef/history.h"
#include "reef/journal.h"
#include "reef/merge.h"
#include "reef/system.h"
#include "system/schedule.h"
#include "file/section.h"
#include "storage/sparse_store.h"
#include "support.h"
#include "storage/row_stamps.h"

#ifndef ROUNDS
#define ROUNDS 1000
#endif
static uint32_t rounds = ROUNDS;
static uint64_t first_seed = 1;
static bool trace;

/* ---- systems: they tell what they see ---- */

enum { WATCHERS = 10, HEARERS = 2, TELLERS = WATCHERS + HEARERS, SYSTEMS_MOST = 24, TICKS_COMPARED = 4 };
static uint64_t seen[TELLERS]; /* since it was last cleared */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

typedef struct watcher {
    const char *name, *text;
    uint32_t period, number;
} watcher;
static watcher watchers[WATCHERS] = {
    {"watch_spot", "changed in Spot", 1, 0},   {"watch_hunger", "changed in Hunger", 2, 1},
    {"watch_scent", "changed in Scent", 3, 2}, {"watch_age", "changed in Age", 2, 3},
    {"added_age", "added Age", 5, 4},          {"watch_track", "changed in Track", 4, 5},
    {"watch_beast", "changed in Beast", 7, 6}, {"watch_tick", "changed in Tick", 11, 7},
    {"watch_den", "changed in Den", 3, 8},     {"watch_across", "changed in Track.across", 5, 9}};
static watcher hearers[HEARERS] = {{"hear", "; receives Season", 1, WATCHERS},
                                   {"hear_seldom", "; receives Season", 6, WATCHERS + 1}};

/* Which rows, in whatever order. */
static void watch(reef_block *b)
{
    uint64_t *sum = &seen[((const watcher *)b->context)->number];
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++)
            *sum += mixed((uint64_t)b->entities[i].index << 32 | b->entities[i].generation);
}

static void hear(reef_block *b)
{
    uint64_t *sum = &seen[((const watcher *)b->context)->number];
    reef_events r = reef_receive(b, Season);
    for (const Season *s; (s = reef_next_event(&r)) != NULL;) *sum = mixed(*sum + (uint64_t)s->of);
    *sum += r.missed;
}

static bool is_time(const reef_world *w, void *context)
{
    return reef_tick_count(w) % ((const watcher *)context)->period == 0;
}

static void drift(reef_block *b)
{
    Spot *s = reef_inout(b, Spot);
    for (uint32_t i = 0; i < b->count; i++) s[i].x += 1;
}

static void starve(reef_block *b)
{
    Hunger *h = reef_inout(b, Hunger);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) h[i].now++;
}

static void send(reef_block *b)
{
    for (int32_t i = 0; i < 3; i++) (void)reef_send(b, Season, i);
}

static void breed(reef_block *b) { (void)reef_cmd_spawn(b, reef_with(Age, 0)); }

static void systems_add(reef_world *w)
{
    static watcher every[] = {{"drift", "Spot, Stuck", 3, 0},
                              {"starve", "Hunger, Alert", 4, 0},
                              {"send", "; sends Season", 2, 0},
                              {"breed", "; spawns Age", 9, 0}};
    void (*const does[])(reef_block *) = {drift, starve, send, breed};
    reef_watch_systems(w, false); /* they would run twice */
    for (uint32_t i = 0; i < WATCHERS + HEARERS + 4; i++) {
        watcher *x = i < WATCHERS ? &watchers[i] : i < TELLERS ? &hearers[i - WATCHERS] : &every[i - TELLERS];
        const reef_system_desc desc = {.name = x->name,
                                       .text = x->text,
                                       .context = x,
                                       .condition = is_time,
                                       .function = i < WATCHERS  ? watch
                                                   : i < TELLERS ? hear
                                                                 : does[i - TELLERS]};
        if (reef_system_is_null(reef_system_new(w, &desc))) fail_msg("%s: %s", x->name, reef_last_error(w).detail);
    }
}

/* ---- the game ---- */

enum { SNAPSHOTS = 4, CHECKED = 8, PEOPLE_MOST = 120 };

typedef struct game {
    void **fixed;
    reef_world *w;
    uint64_t seed, work; /* work: calls, rows and runs of systems, so far */
    reef_snapshot *snapshot[SNAPSHOTS];
    reef_query changed;
    reef_removals gone;
    reef_event_reader heard;
    reef_journal *journal;
    char path[64];
    uint64_t most[64]; /* of each counter */
    size_t largest;    /* file */
    const char *doing;
} game;

static uint32_t below(game *g, uint32_t n) { return zoo_below(&g->seed, n); }

static void worked(game *g, uint64_t n) { g->work += n; }

static void ticked(game *g, reef_world *w)
{
    assert_ok(reef_tick(w, 1.0f / 64));
    worked(g, 2 * SYSTEMS_MOST);
}

/* The number of living entities is bounded, so the world stays small, however long the test runs. */
static void play_steps(game *g, reef_world *w, uint64_t seed, uint32_t n)
{
    zoo_steps(w, seed, n);
    while (reef_count_alive(w) > PEOPLE_MOST) {
        const reef_entity e = zoo_any(w, &seed);
        if (!reef_entity_is_null(e)) assert_ok(reef_destroy(w, e));
        worked(g, 1);
    }
    worked(g, 2 * n);
}

/* ---- what is written is read ---- */

static void assert_alike(game *g, reef_world *a, reef_world *b)
{
    reef_difference d;
    char text[512] = "";
    if (reef_hash(a) == reef_hash(b)) return;
    (void)reef_equal(a, b, &d);
    (void)reef_difference_text(&d, text, sizeof text);
    fail_msg("%s: %s", g->doing, text);
}

/* Plays some ticks on two worlds, which must stay equal. They are forks, or worlds that aren't needed any more. */
static void assert_goes_on(game *g, reef_world *a, reef_world *b)
{
    for (uint32_t i = 0; i < TICKS_COMPARED; i++) {
        uint64_t first[TELLERS];
        memset(seen, 0, sizeof seen);
        ticked(g, a);
        memcpy(first, seen, sizeof seen);
        memset(seen, 0, sizeof seen);
        ticked(g, b);
        for (uint32_t k = 0; k < TELLERS; k++)
            if (first[k] != seen[k])
                fail_msg("%s: tick %u: %s sees other rows", g->doing, (unsigned)i,
                         k < WATCHERS ? watchers[k].name : hearers[k - WATCHERS].name);
        assert_alike(g, a, b);
    }
}

static reef_world *fork_of(game *g, reef_world *w)
{
    reef_world *fork = reef_fork(w);
    if (fork == NULL) fail_msg("%s: %s", g->doing, reef_last_error(w).operation);
    worked(g, 16); /* as a snapshot */
    return fork;
}

/* A new world that reads the bytes, or the file at the path. */
static reef_world *loaded(game *g, const reef_bytes *bytes, const char *path)
{
    reef_world *fresh = another_world(g->fixed, NULL);
    systems_add(fresh);
    const reef_status s = bytes ? reef_load_bytes(fresh, bytes->data, bytes->size, NULL) : reef_load(fresh, path, NULL);
    if (s != REEF_OK) fail_msg("%s: a new world: %s", g->doing, reef_last_error(fresh).detail);
    assert_valid(fresh);
    worked(g, 2 * SYSTEMS_MOST);
    return fresh;
}

static reef_bytes saved(game *g, reef_world *w)
{
    reef_bytes bytes = {NULL, 0};
    const reef_save_desc desc = {.sealed = below(g, 4) == 0};
    if (reef_save_bytes(w, &bytes, &desc) != REEF_OK) fail_msg("%s: %s", g->doing, reef_last_error(w).detail);
    if (bytes.size > g->largest) g->largest = bytes.size;
    worked(g, 1);
    return bytes;
}

/* The sections of a file; false: no more. */
typedef struct sections {
    memory m;
    section_in in;
} sections;

static void sections_begin(sections *x, const reef_bytes *file)
{
    uint16_t flags;
    assert_true(reef__memory_make(&x->m, &reef__memory_standard));
    reef__in_begin_memory(&x->in, &x->m, file->data, file->size);
    assert_true(reef__in_header(&x->in, &flags));
}

static bool sections_next(sections *x)
{
    x->in.got = x->in.length;
    if (reef__section_next(&x->in)) return true;
    assert_ok(x->in.status);
    reef__in_drop(&x->in);
    reef__memory_drop(&x->m);
    return false;
}

static void assert_same_bytes(const game *g, const reef_bytes *a, const reef_bytes *b)
{
    size_t at = 0;
    sections x;
    char kind[5] = "";
    while (at < a->size && at < b->size && ((const char *)a->data)[at] == ((const char *)b->data)[at]) at++;
    if (at == a->size && at == b->size) return;
    sections_begin(&x, a);
    while (sections_next(&x))
        if (x.in.section_at <= at) memcpy(kind, (const char *)a->data + x.in.section_at, 4);
    fail_msg("%s: files of one state differ from byte %zu of %zu, %zu on, in %s", g->doing, at, a->size, b->size, kind);
}

/* The newest version in the last record of a file. */
static uint64_t newest_version(const reef_bytes *file)
{
    sections x;
    uint64_t newest = 0;
    sections_begin(&x, file);
    while (sections_next(&x)) {
        if (x.in.kind != SECTION_TIME) continue;
        (void)reef__get_u64(&x.in), (void)reef__get_u64(&x.in), (void)reef__get_u64(&x.in);
        newest = reef__get_u64(&x.in);
    }
    return newest;
}

/* Other worlds read the file: they must have the same state, write the same file, and go on as the world does. */
static void assert_holds(game *g, reef_world *w, const reef_bytes *file, bool deeply)
{
    reef_world *fresh = loaded(g, file, NULL);
    assert_alike(g, w, fresh);
    assert_true(newest_version(file) <= SYSTEMS_MOST);
    if (deeply) {
        reef_bytes first = {NULL, 0}, again = {NULL, 0};
        reef_world *fork = fork_of(g, w);
        assert_ok(reef_save_bytes(w, &first, NULL));
        assert_ok(reef_save_bytes(fresh, &again, NULL));
        assert_same_bytes(g, &first, &again);
        reef_bytes_free(&first);
        reef_bytes_free(&again);
        assert_goes_on(g, fork, fresh);
        assert_valid(fork);
        reef_world_free(fork);
    }
    end_world(g->fixed, fresh);
}

/* ---- what a round does ---- */

static void do_play(game *g) { play_steps(g, g->w, zoo_next(&g->seed), 20); }

static void do_tick(game *g) { ticked(g, g->w); }

static void do_snapshot(game *g)
{
    reef_snapshot **s = &g->snapshot[below(g, SNAPSHOTS)];
    reef_snapshot_free(*s);
    assert_non_null(*s = reef_snapshot_take(g->w));
    worked(g, 16); /* pages of values that forks reset are made anew */
}

/* The oldest state is kept for a long time, since the difference back to it is the longest. */
static void do_restore(game *g)
{
    const reef_snapshot *s = g->snapshot[below(g, 2) ? 0 : below(g, SNAPSHOTS)];
    if (s) assert_ok(reef_restore(g->w, s));
    worked(g, 16); /* as a snapshot */
}

static void do_save_and_load(game *g)
{
    reef_bytes file = saved(g, g->w);
    reef_world *before = fork_of(g, g->w);
    assert_holds(g, g->w, &file, below(g, 3) == 0);
    if (reef_load_bytes(g->w, file.data, file.size, NULL) != REEF_OK)
        fail_msg("the same world: %s", reef_last_error(g->w).detail);
    assert_alike(g, before, g->w);
    if (below(g, 3) == 0) {
        reef_world *now = fork_of(g, g->w);
        assert_goes_on(g, before, now);
        reef_world_free(now);
    }
    reef_world_free(before);
    reef_bytes_free(&file);
    worked(g, 2 * SYSTEMS_MOST);
}

/* Half of the differences lead to a state that follows the other one, half of them back. */
static void do_difference(game *g)
{
    reef_bytes bytes = {NULL, 0};
    reef_world *later = fork_of(g, g->w), *target;
    play_steps(g, later, zoo_next(&g->seed), 10);
    if (below(g, 2)) ticked(g, later);
    const bool back = below(g, 2) != 0;
    reef_world *from = back ? later : g->w, *to = back ? g->w : later;
    if (reef_diff_bytes(from, to, &bytes, &(reef_save_desc){.sealed = below(g, 2) != 0}) != REEF_OK)
        fail_msg("%s", reef_last_error(to).detail);
    target = fork_of(g, from);
    if (reef_diff_apply(target, bytes.data, bytes.size) != REEF_OK)
        fail_msg("%s: %s", g->doing, reef_last_error(target).detail);
    assert_valid(target);
    assert_alike(g, to, target);
    assert_true(newest_version(&bytes) <= SYSTEMS_MOST);
    if (!back && below(g, 2) && reef_diff_apply(g->w, bytes.data, bytes.size) != REEF_OK)
        fail_msg("%s: the world itself: %s", g->doing, reef_last_error(g->w).detail);
    reef_world *expected = fork_of(g, to);
    assert_goes_on(g, expected, target);
    reef_world_free(expected);
    reef_world_free(target);
    reef_world_free(later);
    reef_bytes_free(&bytes);
    worked(g, 4 * SYSTEMS_MOST);
}

static void do_merge(game *g)
{
    reef_world *small = another_world(g->fixed, NULL);
    play_steps(g, small, zoo_next(&g->seed), 30);
    const reef_status s = reef_merge(g->w, small, &(reef_merge_desc){.drop_names = true}, NULL);
    if (s != REEF_OK) fail_msg("merge: %s %s", reef_status_text(s), reef_last_error(g->w).detail);
    end_world(g->fixed, small);
    play_steps(g, g->w, zoo_next(&g->seed), 1);
}

/* ---- journals ---- */

static reef_bytes file_read_whole(const char *path)
{
    reef_bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    b.size = (size_t)ftell(f);
    rewind(f);
    assert_non_null(b.data = malloc(b.size));
    assert_int_equal(fread(b.data, 1, b.size, f), b.size);
    (void)fclose(f);
    return b;
}

static void journal_checked(game *g, bool deeply)
{
    const reef_journal_info info = reef_journal_stats(g->journal);
    reef_bytes file = file_read_whole(g->path);
    assert_int_equal(info.bytes, file.size);
    assert_true(file.size < UINT64_C(1) << 19); /* compact_bytes, and one record more */
    reef_world *fresh = loaded(g, &file, NULL);
    assert_alike(g, g->w, fresh);
    assert_true(newest_version(&file) <= SYSTEMS_MOST);
    if (deeply) {
        reef_world *fork = fork_of(g, g->w);
        assert_goes_on(g, fork, fresh);
        reef_world_free(fork);
    }
    end_world(g->fixed, fresh);
    free(file.data);
}

static void journal_open(game *g, bool fresh)
{
    const reef_journal_desc desc = {.unsynced = true, .fresh = fresh, .compact_bytes = 1 << 17};
    g->journal = reef_journal_open(g->w, g->path, &desc);
    if (g->journal == NULL) fail_msg("%s: %s", g->doing, reef_last_error(g->w).detail);
    worked(g, 2 * SYSTEMS_MOST);
}

static void do_journal(game *g)
{
    const uint32_t what = below(g, 8);
    if (g->journal == NULL) {
        journal_open(g, true);
    } else if (what == 0) {
        reef_world *last = fork_of(g, g->w);
        assert_ok(reef_journal_append(g->journal));
        reef_journal_close(g->journal);
        journal_open(g, false);
        assert_alike(g, last, g->w);
        reef_world *now = fork_of(g, g->w);
        assert_goes_on(g, last, now);
        reef_world_free(now);
        reef_world_free(last);
    } else if (what == 1) {
        assert_ok(reef_journal_compact(g->journal));
    } else if (what == 2) {
        reef_journal_close(g->journal); /* what wasn't appended is gone */
        journal_open(g, false);
    } else {
        if (reef_journal_append(g->journal) != REEF_OK) fail_msg("append: %s", reef_last_error(g->w).detail);
    }
    worked(g, 2 * SYSTEMS_MOST);
    journal_checked(g, what % 4 == 3);
}

/* ---- histories, readers, queries, systems ---- */

static reef_status played(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint64_t seed;
    (void)tick;
    assert_int_equal(bytes, sizeof seed);
    memcpy(&seed, input, sizeof seed);
    play_steps(context, w, seed, 5);
    ticked(context, w);
    return REEF_OK;
}

static void do_history(game *g)
{
    enum { TICKS = 6 };
    reef_history *h = reef_history_new(g->w, &(reef_history_config){.ticks = TICKS, .step = played, .context = g});
    assert_non_null(h);
    uint64_t input = g->seed;
    for (uint32_t i = 0; i < TICKS; i++, input = mixed(input)) assert_ok(reef_history_step(h, &input, sizeof input));
    const uint64_t hash = reef_hash(g->w);
    assert_ok(reef_history_rewind(h, 1 + below(g, TICKS - 1)));
    assert_ok(reef_history_replay(h, TICKS));
    assert_true(reef_hash(g->w) == hash);
    assert_ok(reef_history_correct(h, &(reef_late_input){2, &input, sizeof input}, 1));
    if (below(g, 2)) assert_ok(reef_history_rewind(h, 1));
    reef_history_free(h);
    worked(g, 4 * TICKS);
}

static void do_read(game *g)
{
    reef_entity e;
    Age age;
    Season season;
    while (reef_removals_next(g->w, g->gone, &e, &age)) worked(g, 1);
    while (reef_event_next(g->w, g->heard, &season)) worked(g, 1);
    for (uint32_t i = 0; i < 2; i++) {
        reef_removals r = reef_removals_new(g->w, reef_id(Age), i);
        reef_event_reader x = reef_event_reader_new(g->w, reef_id(Season));
        assert_false(reef_removals_is_null(r) || reef_event_reader_is_null(x));
        assert_ok(reef_removals_free(g->w, r));
        assert_ok(reef_event_reader_free(g->w, x));
    }
    assert_ok(reef_post_id(g->w, reef_id(Season), &(Season){7}, sizeof(Season)));
    worked(g, 16);
}

static void do_ask(game *g)
{
    const uint64_t since = reef_version(g->w);
    reef_query q = reef_query_make(g->w, &(reef_query_desc){.text = "changed in Track", .own = true});
    assert_false(reef_query_is_null(q));
    play_steps(g, g->w, zoo_next(&g->seed), 3);
    for (reef_block b = reef_begin(g->w, q); reef_next(&b);) worked(g, 1);
    for (reef_block b = reef_begin(g->w, g->changed); reef_next(&b);) worked(g, 1);
    for (reef_block b = reef_begin_loop(g->w, g->changed, &(reef_loop){.since = since}); reef_next(&b);) worked(g, 1);
    if (below(g, 2)) do_snapshot(g); /* it knows of a query that is no more */
    assert_ok(reef_query_free(g->w, q));
    worked(g, 8);
}

static void do_systems(game *g)
{
    static watcher once = {"once", "changed in Spot", 1, 0};
    static const char *const names[] = {"watch_spot", "watch_age", "hear_seldom", "drift"};
    const reef_system_desc desc = {.name = "once",
                                   .text = "changed in Spot; receives Season",
                                   .function = watch,
                                   .context = &once,
                                   .interval_ns = 1000};
    assert_ok(reef_system_once(g->w, &desc, 0));
    const reef_system_id id = reef_system_new(g->w, &desc), other = reef_system_find(g->w, names[below(g, 4)]);
    assert_false(reef_system_is_null(id) || reef_system_is_null(other));
    ticked(g, g->w);
    if (below(g, 2)) do_snapshot(g); /* it knows of a system that is no more */
    assert_ok(reef_system_remove(g->w, id));
    assert_ok(reef_system_enable(g->w, other, below(g, 2)));
    worked(g, 4 * SYSTEMS_MOST);
}

static void readers_make(game *g)
{
    if (reef_query_is_null(g->changed)) g->changed = reef_query_new(g->w, "changed in Beast"); /* forks have it, too */
    g->gone = reef_removals_new(g->w, reef_id(Age), true);
    g->heard = reef_event_reader_new(g->w, reef_id(Season));
    assert_false(reef_query_is_null(g->changed) || reef_removals_is_null(g->gone) ||
                 reef_event_reader_is_null(g->heard));
    worked(g, 3);
}

/* The game goes on in a fork, and its origin goes. */
static void do_move(game *g)
{
    reef_world *next = below(g, 2) || g->snapshot[0] == NULL ? fork_of(g, g->w) : reef_snapshot_fork(g->snapshot[0]);
    assert_non_null(next);
    reef_journal_close(g->journal);
    g->journal = NULL;
    assert_valid(g->w);
    reef_world_free(g->w);
    g->w = next;
    const reef_system_id id = reef_system_find(next, "once"); /* of the snapshot */
    if (!reef_system_is_null(id)) assert_ok(reef_system_remove(next, id));
    readers_make(g);
}

static void do_look(game *g)
{
    assert_true(reef_hash(g->w) == hash_anew(g->w));
    if (below(g, 8) == 0) assert_ok(reef_shrink(g->w));
    worked(g, 2);
}

/* ---- counters ----
 * `work` counts calls, rows that loops visit, and runs of systems: each counter's factor says how much of it one
 * such unit may take. */

typedef struct inspection {
    game *g;
    uint64_t work; /* of this round */
    uint32_t at;
    bool tell; /* the most that each counter has reached */
} inspection;

/* A counter that only grows. A restored state has its old counters, so it is compared with the largest value of any
 * round. */
static void grows(inspection *x, const char *name, uint64_t value, uint64_t factor)
{
    uint64_t *most = &x->g->most[x->at++];
    assert_true(x->at < sizeof x->g->most / sizeof *x->g->most);
    if (value > *most && *most && value - *most > factor * x->work)
        fail_msg("%s: %s grew by %llu with work of %llu", x->g->doing, name, (unsigned long long)(value - *most),
                 (unsigned long long)x->work);
    if (value > *most) *most = value;
    if (x->tell) printf("%-24s %llu\n", name, (unsigned long long)*most);
}

/* A counter of things that exist. */
static void stays(inspection *x, const char *name, uint64_t value, uint64_t limit)
{
    uint64_t *most = &x->g->most[x->at++];
    assert_true(x->at < sizeof x->g->most / sizeof *x->g->most);
    if (value > limit) fail_msg("%s: %s is %llu", x->g->doing, name, (unsigned long long)value);
    if (value > *most) *most = value;
    if (x->tell) printf("%-24s %llu\n", name, (unsigned long long)*most);
}

static uint64_t generation_most(const reef_world *w)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < w->hot.index_count; i++)
        if (record_read(w, i) >> 32 > most) most = record_read(w, i) >> 32;
    return most;
}

static void look_at_world(inspection *x, const reef_world *w)
{
    uint64_t readers = 0, queries = 0, query_count = 0, slots = 0;
    for (uint32_t i = 0; i < w->reader_count; i++)
        readers = w->readers[i].generation > readers ? w->readers[i].generation : readers;
    for (uint32_t i = 0; i < w->query_room; i++) {
        queries = w->queries[i].generation > queries ? w->queries[i].generation : queries;
        query_count += w->queries[i].query != NULL;
    }
    for (uint32_t i = 0; i < w->schedule->slot_count; i++)
        slots = w->schedule->slots[i].generation > slots ? w->schedule->slots[i].generation : slots;
    /* A call makes a new version before it and one behind it at most; a load one for each system and two for itself. */
    grows(x, "version", w->hot.version, 2);
    assert_true(w->hot.fork_version <= w->hot.version);
    assert_true(w->ours_after <= w->hot.version || w->ours_after == UINT64_MAX); /* nothing is ours */
    assert_true(w->observed <= w->hot.version);
    assert_true(w->hashed <= w->hot.version);
    /* A call drops what the world remembers a few times: when its tables, its rows or the whole state change. */
    grows(x, "moves", w->hot.moves, 4);
    grows(x, "tables_epoch", w->tables_epoch, 4);
    grows(x, "rows_epoch", w->rows_epoch, 8);
    grows(x, "disabled_epoch", w->disabled_epoch, 4);
    grows(x, "state_epoch", w->state_epoch, 4);
    grows(x, "world number", reef__world_number(), 1); /* a call makes one world */
    /* A call frees one handle. */
    grows(x, "reader generation", readers, 1);
    grows(x, "query generation", queries, 1);
    grows(x, "system generation", slots, 1);
    stays(x, "readers", w->reader_count, 4); /* three at a time, and that of scripts */
    /* one a system, two of the game, and those of single loops */
    stays(x, "queries", query_count, SYSTEMS_MOST + 4);
    stays(x, "rooms for queries", w->query_room, 64);
    stays(x, "systems", w->schedule->count, SYSTEMS_MOST);
    stays(x, "rooms for systems", w->schedule->slot_count, SYSTEMS_MOST);
    stays(x, "ids of lanes", w->lane_rest, 0); /* memory was never short */
    stays(x, "unpended", w->unpended, 0);
}

static void look_at_family(inspection *x, const family *f)
{
    uint64_t left = 0;
    for (const retired *r = f->graph.retired; r; r = r->next) left++;
    /* A call makes one reader, one query or one system; a change of systems makes one schedule, and a phase's
     * failure none. */
    grows(x, "reader serial", f->reader_serial, 1);
    grows(x, "query serial", f->query_serial, 1);
    grows(x, "schedule epoch", f->schedule_epoch, 2);
    /* the world, its snapshots, the journal's state and the fixture's first world */
    stays(x, "members", f->members, 3 + SNAPSHOTS);
    stays(x, "worlds", f->worlds, 3);
    stays(x, "layouts", f->graph.shape_count, 1024); /* ten types live in tables */
    stays(x, "edges", f->graph.edge_count, 1 << 14); /* for each of these, to and fro */
    stays(x, "maps", f->graph.map_count, 256);       /* types of the program */
    stays(x, "rare maps", f->graph.rare_count, 1 << 14);
    stays(x, "retired arrays", left, 64); /* each is twice as long as the one before */
}

static void look_at_state(inspection *x, const reef_world *w)
{
    const state *s = &w->state;
    uint64_t removals = 0, waiting = 0, posted = 0, kept = 0, moves = 0, slots = 0, nodes = 0, unindexed = 0;
    for (uint32_t i = 0; i < s->track_count; i++) {
        removals = s->tracks[i].tail > removals ? s->tracks[i].tail : removals;
        waiting = s->tracks[i].tail - s->tracks[i].value_head > waiting ? s->tracks[i].tail - s->tracks[i].value_head
                                                                        : waiting;
    }
    for (uint32_t i = 0; i < s->event_count; i++) {
        posted = s->events[i].tail > posted ? s->events[i].tail : posted;
        kept = s->events[i].tail - s->events[i].head > kept ? s->events[i].tail - s->events[i].head : kept;
    }
    for (uint32_t i = 1; i < s->store_count; i++) {
        moves = s->stores[i].moves > moves ? s->stores[i].moves : moves;
        slots = s->stores[i].run_end > slots ? s->stores[i].run_end : slots;
        nodes = s->stores[i].node_end > nodes ? s->stores[i].node_end : nodes;
        unindexed += s->stores[i].relation && s->stores[i].unindexed;
        assert_true(s->stores[i].count <= 8 * PEOPLE_MOST);
    }
    for (uint32_t i = 0; i < s->runs.count; i++) assert_true(s->runs.of[i].number <= w->hot.version);
    /* A call gives back or takes one index; one that destroys many has each counted. */
    grows(x, "ring head", s->ring_head, 2);
    grows(x, "ring tail", s->ring_tail, 2);
    grows(x, "generation", generation_most(w), 1);
    /* of each type one a call; a load puts those that scripts wait for there again */
    grows(x, "removals", removals, 2);
    grows(x, "events", posted, 4); /* three a run of the system that sends */
    grows(x, "moves in stores", moves, 2);
    grows(x, "ticks", s->ticks, 1);
    grows(x, "time", s->time_ns, 1000000000 / 64);
    stays(x, "indices", w->hot.index_count, 1 << 12); /* of those who lived at once, and a step of one's game more */
    stays(x, "retired indices", s->retired_count, 0);
    stays(x, "reserved indices", s->reserved_count, 0);
    stays(x, "holes of the ring", s->ring_holes, 1 << 12);
    stays(x, "pages of the ring", s->ring.count, 8);
    stays(x, "units", s->next_unit, 1 << 13);     /* layouts, of a few units each */
    stays(x, "stores of bits", s->bit_count, 64); /* types, and the marks of each */
    stays(x, "tracked types", s->track_count, 2);
    stays(x, "removals that wait", waiting, 1 << 16);
    stays(x, "stores", s->store_count, 8);
    stays(x, "slots of a store", slots, 1 << 14);
    stays(x, "units of an index of relations", nodes, 1 << 14);
    stays(x, "relations without an index", unindexed, s->store_count); /* after a load, until the first use */
    stays(x, "types of events", s->event_count, 1);
    stays(x, "events that wait", kept, 1 << 12);
    stays(x, "places of events", s->event_place_count, 4);
    stays(x, "places of readers", s->places.count, 8);
    stays(x, "runs", s->runs.count, 2 * SYSTEMS_MOST); /* of systems and queries that ask for changes */
    stays(x, "clocks", s->clocks.count, SYSTEMS_MOST);
    stays(x, "names", s->name_count, 50);
    stays(x, "buckets of names", s->name_buckets, 1024);
    stays(x, "bytes of memory", heap_of(x->g->fixed)->bytes, UINT64_C(64) << 20);
    stays(x, "blocks of memory", heap_of(x->g->fixed)->blocks, 4096);
}

static void look_at_all(game *g, uint64_t work_before, bool tell)
{
    inspection x = {g, g->work - work_before, 0, tell};
    assert_valid(g->w);
    look_at_world(&x, g->w);
    look_at_family(&x, g->w->family);
    look_at_state(&x, g->w);
    assert_true(g->largest < 1 << 16); /* 120 entities, with 200 bytes in all homes, 50 names, some thousand events */
}

/* ---- rounds ---- */

typedef struct doing {
    const char *name;
    void (*act)(game *);
    uint32_t weight;
} doing;
static const doing doings[] = {{"play", do_play, 8},
                               {"tick", do_tick, 6},
                               {"snapshot", do_snapshot, 1},
                               {"restore", do_restore, 2},
                               {"save and load", do_save_and_load, 6},
                               {"difference", do_difference, 3},
                               {"merge", do_merge, 1},
                               {"journal", do_journal, 5},
                               {"history", do_history, 1},
                               {"read", do_read, 3},
                               {"ask", do_ask, 3},
                               {"systems", do_systems, 1},
                               {"move", do_move, 1},
                               {"look", do_look, 2}};

static const doing *drawn(game *g)
{
    uint32_t sum = 0, i = 0;
    for (uint32_t k = 0; k < sizeof doings / sizeof *doings; k++) sum += doings[k].weight;
    for (uint32_t left = below(g, sum); left >= doings[i].weight; i++) left -= doings[i].weight;
    return &doings[i];
}

static void nothing_wears_out(void **fixed)
{
    enum { ACTS = 4 };
    game g = {.fixed = fixed, .seed = first_seed, .doing = "begin"};
    (void)snprintf(g.path, sizeof g.path, "test_rounds_%llu.journal", (unsigned long long)first_seed);
    g.w = reef_fork(world_of(fixed)); /* the fixture's has its own allocator, and frees nothing that isn't its own */
    assert_non_null(g.w);
    systems_add(g.w);
    readers_make(&g);
    do_play(&g);
    do_snapshot(&g);
    for (uint32_t round = 0; round < rounds; round++) {
        const uint64_t before = g.work;
        char text[128];
        for (uint32_t i = 0; i < ACTS; i++) {
            const doing *d = drawn(&g);
            (void)snprintf(text, sizeof text, "seed %llu, round %u, %s", (unsigned long long)first_seed,
                           (unsigned)round, d->name);
            g.doing = text;
            if (trace) printf("%s\n", text);
            d->act(&g);
        }
        look_at_all(&g, before, false);
    }
    if (trace) look_at_all(&g, 0, true);
    for (uint32_t i = 0; i < SNAPSHOTS; i++) reef_snapshot_free(g.snapshot[i]);
    reef_journal_close(g.journal);
    assert_valid(g.w);
    reef_world_free(g.w);
    (void)remove(g.path);
}

/* A game that goes on in a fork each time, or is restored each time, and makes queries and systems anew: what those
 * that are gone had seen goes, too. */
static void what_is_gone_leaves_nothing(void **fixed)
{
    enum { TIMES = 300, MOST = 32 };
    reef_world *w = reef_fork(world_of(fixed));
    assert_non_null(w);
    systems_add(w);
    for (uint32_t i = 0; i < 2 * TIMES; i++) {
        static watcher every = {"once", "changed in Spot", 1, 0};
        const reef_system_desc desc = {
            .name = "once", .text = every.text, .function = watch, .context = &every, .interval_ns = 1000};
        reef_query q = reef_query_new(w, "changed in Beast");
        assert_false(reef_query_is_null(q));
        reef_system_id once = reef_system_new(w, &desc);
        assert_false(reef_system_is_null(once));
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {}
        assert_ok(reef_tick(w, 1.0f / 64));
        if (i < TIMES) {
            reef_world *next = reef_fork(w);
            assert_non_null(next);
            reef_world_free(w);
            w = next;
            once = reef_system_find(w, "once");
            assert_ok(reef_query_free(w, q)); /* it has it, too */
        } else {
            reef_snapshot *s = reef_snapshot_take(w);
            assert_non_null(s);
            assert_ok(reef_query_free(w, q));
            assert_ok(reef_restore(w, s));
            reef_snapshot_free(s);
        }
        assert_ok(reef_system_remove(w, once));
        assert_true(w->state.runs.count <= MOST && w->state.runs.room <= MOST);
        assert_true(w->state.clocks.count <= MOST && w->state.clocks.room <= MOST);
        assert_true(w->state.event_place_count <= MOST);
    }
    assert_valid(w);
    reef_world_free(w);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) first_seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--trace") == 0) trace = true;
        else return fprintf(stderr, "test_rounds [--rounds N] [--seed S] [--trace]\n"), 2;
    }
    const struct CMUnitTest tests[] = {TEST(nothing_wears_out), TEST(what_is_gone_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
