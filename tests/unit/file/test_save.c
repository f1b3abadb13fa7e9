/* Saving: the same state gives the same bytes, what is refused, what a query selects, progress, where the bytes go,
 * differences. */
#include "save_zoo.h"
#include "support.h"
#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

typedef struct {
    int32_t n;
} SaveZebra;
typedef struct {
    int32_t n;
} SaveAnt;
typedef struct {
    void *owned;
    int32_t n;
} SaveOwner;
static void owner_destroy(void *context, void *slot) { (void)context, (void)slot; }
static const reef_hooks owner_hooks = {.destroy = owner_destroy, .bytes_move = true};
REEF_COMPONENT(SaveZebra);
REEF_FIELDS(SaveZebra, n);
REEF_COMPONENT(SaveAnt);
REEF_FIELDS(SaveAnt, n);
REEF_RELATION_OF(Weighs, Mass);
REEF_COMPONENT_HOOKS(SaveOwner, &owner_hooks);
REEF_FIELDS(SaveOwner, n);

static const reef_save_desc raw = {.raw = true};

static reef_bytes saved(reef_world *w, const reef_save_desc *desc)
{
    reef_bytes b;
    assert_ok(reef_save_bytes(w, &b, desc));
    return b;
}

static reef_bytes difference(reef_world *before, reef_world *after, bool sealed)
{
    reef_bytes b;
    assert_ok(reef_diff_bytes(before, after, &b, &(reef_save_desc){.sealed = sealed}));
    return b;
}

/* Both are freed. */
static void assert_same(reef_bytes a, reef_bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    reef_bytes_free(&a);
    reef_bytes_free(&b);
}

/* Where a text stands in the bytes, SIZE_MAX: nowhere. */
static size_t place_in(const reef_bytes *b, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= b->size; i++)
        if (memcmp((const char *)b->data + i, text, n) == 0) return i;
    return SIZE_MAX;
}

static void zoo(reef_world *w, int changes)
{
    uint64_t seed = 5;
    for (int i = 0; i < changes; i++) zoo_change(w, &seed);
}

/* ---- the same bytes ---- */

static void the_same_state_gives_the_same_bytes(void **state)
{
    reef_world *w = world_of(state);
    zoo(w, 800);
    const uint64_t hash = reef_hash(w), seen = digest(w);
    assert_same(saved(w, NULL), saved(w, NULL));
    assert_same(saved(w, &raw), saved(w, &raw));
    const reef_bytes a = saved(w, NULL);
    reef_world *fork = reef_fork(w);
    assert_same(saved(w, NULL), saved(fork, NULL));
    reef_world_free(fork);
    assert_same(a, saved(w, NULL)); /* that there was a fork, and a hash, isn't seen either */
    assert_int_equal(reef_hash(w), hash);
    assert_int_equal(digest(w), seen);
}

/* Types and tables come by name, whatever was used first; room that was once needed doesn't count. */
static void history_does_not_show(void **state)
{
    reef_world *a = world_of(state), *b = another_world(state, NULL);
    for (int i = 0; i < 3; i++) {
        assert_some(reef_spawn(a, reef_with(SaveZebra, i)));
        assert_some(reef_spawn(a, reef_with(SaveZebra, i), reef_with(SaveAnt, i)));
        assert_some(reef_spawn(a, reef_with(SaveAnt, i)));
    }
    assert_ok(reef_reserve(b, 100000));
    for (int i = 0; i < 3; i++) {
        const reef_entity zebra = reef_create(b), both = reef_create(b), ant = reef_create(b);
        assert_ok(reef_add_id(b, ant, reef_id(Frozen), NULL, NULL));
        assert_status(REEF_ADDED, reef_set(b, ant, SaveAnt, i));
        assert_ok(reef_remove(b, ant, Frozen));
        assert_status(REEF_ADDED, reef_set(b, both, SaveAnt, 7));
        assert_ok(reef_add_id(b, both, reef_id(Awake), NULL, NULL));
        assert_ok(reef_set(b, both, SaveAnt, i));
        assert_status(REEF_ADDED, reef_set(b, both, SaveZebra, i));
        assert_ok(reef_remove(b, both, Awake));
        assert_status(REEF_ADDED, reef_set(b, zebra, SaveZebra, i));
    }
    reef_bytes bytes = saved(a, NULL);
    assert_true(place_in(&bytes, "SaveAnt") < place_in(&bytes, "SaveZebra"));
    assert_int_equal(place_in(&bytes, "Frozen"), SIZE_MAX);
    assert_same(bytes, saved(b, NULL));
}

static void an_empty_world_is_saved(void **state)
{
    reef_world *w = world_of(state);
    assert_same(saved(w, NULL), saved(another_world(state, NULL), NULL));
    reef_bytes b = saved(w, NULL);
    assert_in_range(b.size, 100, 400);
    assert_memory_equal(b.data, "\x89REEF\r\n\x1a", 8);
    reef_bytes_free(&b);
    assert_null(b.data);
    reef_bytes_free(&b);
    reef_bytes_free(NULL);
}

/* ---- what is refused ---- */

static void a_type_without_fields_is_refused_by_its_name(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes b;
    const reef_entity e = reef_spawn(w, reef_with(SaveAnt, 1), reef_with(Mass, 2));
    assert_refused(w, REEF_NOT_PORTABLE, reef_save_bytes(w, &b, NULL));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Mass).id);
    b = saved(w, &raw);
    assert_int_equal(((const unsigned char *)b.data)[10] & 4, 4);
    reef_bytes_free(&b);
    assert_ok(reef_remove(w, e, Mass));
    b = saved(w, NULL); /* nobody has it */
    assert_int_equal(place_in(&b, "Mass"), SIZE_MAX);
    reef_bytes_free(&b);
    assert_status(REEF_ADDED, reef_set(w, e, Cargo, {1}));
    assert_refused(w, REEF_NOT_PORTABLE, reef_save_bytes(w, &b, NULL));
    assert_null(b.data);
}

/* The data of a relation is described by the fields of its type, or not at all. */
static void data_without_fields_is_refused(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes b;
    char text[300];
    const reef_entity e = reef_create(w), target = reef_create(w);
    assert_status(REEF_ADDED, reef_relate_data(w, e, Weighs, target, 2));
    assert_refused(w, REEF_NOT_PORTABLE, reef_save_bytes(w, &b, NULL));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Weighs).id);
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "its fields aren't described"));
    b = saved(w, &raw);
    assert_ok(reef_load_bytes(other, b.data, b.size, NULL));
    assert_int_equal(reef_hash(other), reef_hash(w));
    reef_bytes_free(&b);
    assert_ok(reef_unrelate(w, e, Weighs, target));
    b = saved(w, NULL);
    reef_bytes_free(&b);
}

static void what_owns_something_needs_fields(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes b;
    const reef_entity e = reef_spawn(w, reef_with(Unique, .value = 1));
    assert_refused(w, REEF_NOT_COPYABLE, reef_save_bytes(w, &b, NULL));
    assert_refused(w, REEF_NOT_COPYABLE, reef_save_bytes(w, &b, &raw));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Unique).id);
    assert_ok(reef_destroy(w, e));
    assert_some(reef_spawn(w, reef_with(SaveOwner, NULL, 77))); /* its fields are written, though it can't be copied */
    b = saved(w, NULL);
    assert_int_not_equal(place_in(&b, "SaveOwner"), SIZE_MAX);
    reef_bytes_free(&b);
}

static void open_loops_lock(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes b;
    assert_some(reef_spawn(w, reef_with(SaveAnt, 1)));
    reef_world *fork = reef_fork(w);
    reef_block loop = reef_begin_text(w, "SaveAnt");
    assert_true(reef_next(&loop));
    assert_refused(w, REEF_LOCKED, reef_save_bytes(w, &b, NULL));
    assert_refused(w, REEF_LOCKED, reef_save(w, "never.reef", NULL));
    assert_refused(w, REEF_LOCKED, reef_diff_bytes(fork, w, &b, NULL));
    assert_status(REEF_LOCKED, reef_diff_bytes(w, fork, &b, NULL));
    reef_end(&loop);
    reef_world_free(fork);
}

static reef_status system_answer;
static void saving_system(reef_block *block)
{
    reef_bytes b;
    system_answer = reef_save_bytes(block->world, &b, NULL);
}
static void systems_cannot_save_their_world(void **state)
{
    reef_world *w = world_of(state);
    system_answer = REEF_OK;
    assert_int_not_equal(reef_system_new(w, &(reef_system_desc){.name = "saves", .function = saving_system}).generation,
                         0);
    (void)reef_tick(w, 1.0);
    assert_int_equal(system_answer, REEF_LOCKED);
}

static void arguments_are_checked(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes b;
    assert_status(REEF_BAD_ARGUMENT, reef_save(NULL, "x", NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_save_bytes(NULL, &b, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_save_to(NULL, (reef_writer){0}, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_diff_bytes(w, NULL, &b, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_save(w, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_save(w, "", NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_save_bytes(w, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_save_to(w, (reef_writer){0}, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_diff_bytes(w, w, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_diff_bytes(NULL, w, &b, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_diff_save(w, w, (reef_writer){0}, NULL));
    assert_refused(w, REEF_OTHER_WORLD, reef_diff_bytes(another_world(state, NULL), w, &b, NULL));
}

/* ---- where the bytes go ---- */

typedef struct sink {
    char bytes[1 << 16];
    size_t used, calls, fail_at;
    reef_status answer;
} sink;

static reef_status sink_write(void *context, const void *bytes, size_t count)
{
    sink *s = context;
    if (++s->calls == s->fail_at) return s->answer;
    assert_in_range(count, 1, sizeof s->bytes - s->used);
    memcpy(s->bytes + s->used, bytes, count);
    s->used += count;
    return REEF_OK;
}

static void a_stream_gets_the_same_bytes(void **state)
{
    static sink s;
    reef_world *w = world_of(state);
    zoo(w, 300);
    s = (sink){.used = 0};
    assert_ok(reef_save_to(w, (reef_writer){sink_write, &s}, NULL));
    reef_bytes b = saved(w, NULL);
    assert_int_equal(b.size, s.used);
    assert_memory_equal(b.data, s.bytes, s.used);
    reef_bytes_free(&b);
}

static void what_the_writer_says_is_answered(void **state)
{
    static const reef_status answers[] = {REEF_IO, REEF_LIMIT, REEF_NO_MEMORY, REEF_ABSENT};
    static sink s;
    reef_world *w = world_of(state);
    zoo(w, 100);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (size_t at = 1; at < 60; at += 13) {
            s = (sink){.fail_at = at, .answer = answers[i]};
            assert_refused(w, answers[i], reef_save_to(w, (reef_writer){sink_write, &s}, NULL));
            assert_int_equal(s.calls, at); /* nothing more comes */
        }
    s = (sink){.fail_at = 3, .answer = REEF_IO};
    assert_refused(w, REEF_IO, reef_diff_save(w, w, (reef_writer){sink_write, &s}, NULL));
}

static void a_file_is_replaced(void **state)
{
    reef_world *w = world_of(state);
    const char *path = "test_save.reef";
    zoo(w, 200);
    for (int round = 0; round < 2; round++) {
        zoo(w, 20);
        assert_ok(reef_save(w, path, &(reef_save_desc){.unsynced = round == 0}));
        reef_bytes b = saved(w, NULL);
        char *found = malloc(b.size + 1);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fread(found, 1, b.size + 1, f), b.size);
        assert_memory_equal(found, b.data, b.size);
        fclose(f);
        free(found);
        reef_bytes_free(&b);
    }
    (void)remove(path);
    assert_refused(w, REEF_IO, reef_save(w, "no such folder/test_save.reef", NULL));
    assert_non_null(strstr(reef_last_error(w).detail, "no such folder"));
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    assert_refused(w, REEF_NOT_PORTABLE, reef_save(w, path, NULL));
    assert_null(fopen(path, "rb"));
}

/* ---- progress ---- */

typedef struct watcher {
    uint64_t calls, last, all, stop_at;
} watcher;
static bool watch_progress(void *context, uint64_t done, uint64_t all)
{
    watcher *p = context;
    assert_in_range(done, p->last, all);
    p->last = done;
    p->all = all;
    return ++p->calls != p->stop_at;
}

static void progress_is_told_and_cancels(void **state)
{
    reef_world *w = world_of(state);
    watcher p = {0};
    reef_bytes b;
    for (int i = 0; i < 40000; i++) assert_some(reef_spawn(w, reef_with(SaveAnt, i), reef_with(SaveZebra, i)));
    b = saved(w, &(reef_save_desc){.progress = watch_progress, .context = &p});
    assert_in_range(p.calls, 30, 110);
    assert_in_range(p.all, b.size * 9 / 10, b.size * 11 / 10);
    assert_in_range(p.last, p.all * 9 / 10, p.all);
    reef_bytes_free(&b);
    p = (watcher){.stop_at = 7};
    assert_refused(w, REEF_CANCELLED,
                   reef_save_bytes(w, &b, &(reef_save_desc){.progress = watch_progress, .context = &p}));
    assert_int_equal(p.calls, 7);
}

/* ---- what a query selects ---- */

static void a_query_selects(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity ant = reef_spawn(w, reef_with(SaveAnt, 1)), zebra = reef_spawn(w, reef_with(SaveZebra, 2));
    const reef_save_desc ants = {.query = "SaveAnt"}, worse = {.query = "SaveAnt,,"},
                         unknown = {.query = "SaveAnt, SaveDodo"};
    reef_bytes b;
    assert_ok(reef_set_name(w, ant, "Amy"));
    assert_ok(reef_set_name(w, zebra, "Zoe"));
    const uint64_t hash = reef_hash(w);
    b = saved(w, &ants);
    assert_int_not_equal(place_in(&b, "SaveAnt"), SIZE_MAX);
    assert_int_not_equal(place_in(&b, "Amy"), SIZE_MAX);
    assert_int_equal(place_in(&b, "SaveZebra"), SIZE_MAX);
    assert_int_equal(place_in(&b, "Zoe"), SIZE_MAX);
    assert_same(b, saved(w, &ants));
    assert_int_equal(reef_hash(w), hash);
    assert_true(reef_is_alive(w, zebra));
    assert_refused(w, REEF_BAD_TEXT, reef_save_bytes(w, &b, &worse));
    assert_int_not_equal(reef_last_error(w).number, 0);
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_save_bytes(w, &b, &unknown));
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    b = saved(w, &ants); /* who has no fields isn't in it */
    reef_bytes_free(&b);
    assert_some(reef_spawn(w, reef_with(Mass, 1), reef_with(SaveAnt, 1)));
    assert_refused(w, REEF_NOT_PORTABLE, reef_save_bytes(w, &b, &ants));
}

static void notice_nothing(const reef_notice *notice)
{
    (void)notice;
    fail_msg("an observer was told of a fork");
}
static void no_observer_is_told_of_what_is_left_out(void **state)
{
    reef_world *w = world_of(state);
    assert_some(reef_spawn(w, reef_with(SaveAnt, 1)));
    assert_some(reef_spawn(w, reef_with(SaveZebra, 1)));
    const reef_observer_id o = reef_observer_add(w, "watches", notice_nothing, REEF_ON_REMOVE, reef_id(SaveZebra));
    assert_int_not_equal(o.generation, 0);
    reef_bytes b = saved(w, &(reef_save_desc){.query = "SaveAnt"});
    reef_bytes_free(&b);
    assert_ok(reef_observer_remove(w, o));
}

/* ---- differences ---- */

static void a_difference_is_as_long_as_what_changed(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3000];
    assert_ok(reef_spawn_many(w, 3000, e, reef_with(SaveAnt, 1), reef_with(SaveZebra, 1)));
    reef_world *before = reef_fork(w);
    assert_same(difference(before, w, false), difference(before, w, false));
    reef_bytes b = difference(before, w, false), whole = saved(w, NULL);
    const size_t nothing = b.size;
    assert_in_range(nothing, 100, 300);
    reef_bytes_free(&b);
    assert_non_null(reef_mut(w, e[2000], SaveAnt));
    reef_mut(w, e[2000], SaveAnt)->n = 5;
    b = difference(before, w, false); /* one row of one column: types, tables, a piece */
    assert_in_range(b.size, nothing + 4, nothing + 400);
    reef_bytes_free(&b);
    for (uint32_t i = 0; i < 3000; i++) reef_mut(w, e[i], SaveAnt)->n = 6;
    b = difference(before, w, false);
    assert_in_range(b.size, nothing + 3000 * 4, whole.size / 2);
    reef_bytes_free(&b);
    reef_bytes_free(&whole);
    reef_world_free(before);
}

static void a_sealed_difference_names_both_states(void **state)
{
    reef_world *w = world_of(state);
    zoo(w, 100);
    reef_world *before = reef_fork(w);
    zoo(w, 30);
    const uint64_t hashes[2] = {reef_hash(before), reef_hash(w)};
    reef_bytes b = difference(before, w, true);
    const unsigned char *p = (const unsigned char *)b.data + 24 + 16 + 24,
                        *q = (const unsigned char *)b.data + b.size - 16;
    uint64_t said[2] = {0, 0};
    for (unsigned i = 0; i < 8; i++) said[0] |= (uint64_t)p[i] << 8 * i, said[1] |= (uint64_t)q[i] << 8 * i;
    assert_int_equal(said[0], hashes[0]);
    assert_int_equal(said[1], hashes[1]);
    reef_bytes_free(&b);
    reef_world_free(before);
}

/* ---- threads ---- */

#ifndef REEF_NO_THREADS
typedef struct saver {
    reef_world *w;
    reef_bytes bytes, part;
    reef_status status;
} saver;

static void *saver_run(void *data)
{
    saver *x = data;
    x->status = reef_save_bytes(x->w, &x->bytes, NULL);
    if (x->status == REEF_OK) x->status = reef_save_bytes(x->w, &x->part, &(reef_save_desc){.query = "ZooPlace"});
    return NULL;
}

/* The world goes on meanwhile. */
static void forks_are_saved_on_threads_of_their_own(void **state)
{
    enum { SAVERS = 3 };
    (void)state;
    uint64_t seed = 99;
    saver savers[SAVERS];
    pthread_t threads[SAVERS];
    reef_world *w = reef_world_new(NULL); /* the fixture's heap is for one thread */
    zoo(w, 500);
    reef_bytes whole = saved(w, NULL), part = saved(w, &(reef_save_desc){.query = "ZooPlace"});
    for (int i = 0; i < SAVERS; i++) {
        savers[i] = (saver){.w = reef_fork(w)};
        assert_non_null(savers[i].w);
    }
    for (int i = 0; i < SAVERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, saver_run, &savers[i]), 0);
    for (int i = 0; i < 300; i++) zoo_change(w, &seed);
    for (int i = 0; i < SAVERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_status(REEF_OK, savers[i].status);
        assert_int_equal(savers[i].bytes.size, whole.size);
        assert_memory_equal(savers[i].bytes.data, whole.data, whole.size);
        assert_int_equal(savers[i].part.size, part.size);
        assert_memory_equal(savers[i].part.data, part.data, part.size);
        reef_bytes_free(&savers[i].bytes);
        reef_bytes_free(&savers[i].part);
        reef_world_free(savers[i].w);
    }
    reef_bytes_free(&whole);
    reef_bytes_free(&part);
    assert_valid(w);
    reef_world_free(w);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_state_gives_the_same_bytes),
        TEST(history_does_not_show),
        TEST(an_empty_world_is_saved),
        TEST(a_type_without_fields_is_refused_by_its_name),
        TEST(data_without_fields_is_refused),
        TEST(what_owns_something_needs_fields),
        TEST(open_loops_lock),
        TEST(systems_cannot_save_their_world),
        TEST(arguments_are_checked),
        TEST(a_stream_gets_the_same_bytes),
        TEST(what_the_writer_says_is_answered),
        TEST(a_file_is_replaced),
        TEST(progress_is_told_and_cancels),
        TEST(a_query_selects),
        TEST(no_observer_is_told_of_what_is_left_out),
        TEST(a_difference_is_as_long_as_what_changed),
        TEST(a_sealed_difference_names_both_states),
#ifndef REEF_NO_THREADS
        TEST(forks_are_saved_on_threads_of_their_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
