/* Handles: life, death, reuse of indices, ids that are reserved or given. */
#include "support.h"

static reef_entity entity(uint32_t index, uint32_t generation) { return (reef_entity){index, generation}; }

/* ---- A1: alive and dead ---- */

static void null_is_never_alive(void **state)
{
    reef_world *w = world_of(state);
    assert_false(reef_is_alive(w, (reef_entity){0}));
    assert_some(reef_create(w)); /* takes index 0 */
    assert_false(reef_is_alive(w, (reef_entity){0}));
    assert_false(reef_has(w, (reef_entity){0}, Position));
    assert_null(reef_get(w, (reef_entity){0}, Position));
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){0}));
}

static bool list(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    reef_entity **end = context;
    assert_int_equal(c.id, 0);
    assert_null(data);
    (void)size;
    *(*end)++ = e;
    return true;
}

static void an_entity_without_components_is_alive_counted_and_listed(void **state)
{
    reef_world *w = world_of(state);
    reef_entity made[5], seen[8], *end = seen;
    for (int i = 0; i < 5; i++) {
        made[i] = reef_create(w);
        assert_true(reef_is_alive(w, made[i]));
        assert_entity(made[i], reef_entity_at(w, made[i].index));
    }
    assert_ok(reef_destroy(w, made[2]));
    assert_int_equal(reef_count_alive(w), 4);
    assert_int_equal(reef_world_stats(w).entities_empty, 4);
    assert_true(reef_visit_entities(w, list, &end));
    assert_int_equal(end - seen, 4);
    assert_entity(made[0], seen[0]);
    assert_entity(made[1], seen[1]);
    assert_entity(made[3], seen[2]);
    assert_entity(made[4], seen[3]);
    assert_none(reef_entity_at(w, made[2].index));
    assert_none(reef_entity_at(w, 1000000));
}

static void destroy_empties_every_storage(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen), reef_tag(Awake), reef_with(Tracked, .value = 5));
    assert_ok(reef_set_name(w, e, "old"));
    assert_ok(reef_destroy(w, e));
    assert_int_equal(reef_count(w, Position) + reef_count(w, Frozen) + reef_count(w, Awake) + reef_count(w, Tracked),
                     0);
    assert_none(reef_find(w, "old"));
    assert_int_equal(book.live, 0);
    reef_entity again = reef_create(w);
    assert_int_equal(again.index, e.index);
    assert_true(again.generation != e.generation);
    assert_false(reef_has(w, again, Position) || reef_has(w, again, Frozen) || reef_has(w, again, Awake));
    assert_null(reef_name(w, again));
    assert_false(reef_is_alive(w, e));
    assert_status(REEF_ADDED, reef_set(w, again, Health, 1, 2));
    assert_false(reef_has(w, again, Awake));
}

enum { PAGE = 4096, BARE = 3 * PAGE + 100 };

static void an_entity_made_after_a_spawn_that_failed_lives(void **state)
{
    reef_world *w = world_of(state);
    reef_status s = REEF_NO_MEMORY;
    for (uint32_t i = 0; i < PAGE; i++) (void)reef_create(w);
    for (uint32_t n = 1; s != REEF_OK; n++) {
        const uint64_t alive = reef_count_alive(w) + 1;
        const reef_entity e = reef_create(w);
        heap_fail_nth(heap_of(state), n, true);
        s = reef_spawn_many(w, 2 * REEF_BLOCK_ROWS, NULL, reef_with(Position, 1, 2));
        heap_fail_never(heap_of(state));
        const reef_entity next = reef_create(w);
        assert_true(reef_is_alive(w, e) && reef_is_alive(w, next));
        if (s != REEF_OK) assert_int_equal(reef_count_alive(w), alive + 1);
        assert_valid(w);
        while (reef_create(w).index % PAGE != PAGE - 1) {} /* to the next page */
    }
}

/* What is known of an index: does its entity live, has it a Position. */
enum { ROUNDS = 60, INDICES = 16 * PAGE };
typedef struct known {
    reef_entity e[INDICES];
    uint8_t lives[INDICES], has[INDICES];
    uint32_t count, living;
} known;

static void as_known(reef_world *w, const known *k)
{
    assert_int_equal(reef_count_alive(w), k->living);
    for (uint32_t i = 0; i < k->count; i++) {
        assert_int_equal(reef_is_alive(w, k->e[i]), k->lives[i]);
        assert_int_equal(reef_has(w, k->e[i], Position), k->lives[i] && k->has[i]);
    }
    assert_valid(w);
}

static void make_some(reef_world *w, known *k, uint32_t n, bool rows)
{
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = rows ? reef_spawn(w, reef_with(Position, 1, 2)) : reef_create(w);
        assert_some(e);
        if (e.index >= k->count) k->count = e.index + 1;
        k->e[e.index] = e;
        k->lives[e.index] = 1;
        k->has[e.index] = rows;
        k->living++;
    }
}

static void pages_of_entities_without_components_are_as_others(void **state)
{
    reef_world *w = another_world(state, NULL);
    reef_snapshot *shot = NULL;
    known *now = calloc(1, sizeof *now), *then = calloc(1, sizeof *then);
    uint64_t seed = 7;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t what = random_below(&seed, 6);
        if (what < 3 && now->living < INDICES - PAGE)
            make_some(w, now, 1 + random_below(&seed, what ? 3000 : 20), what == 2);
        for (uint32_t i = random_below(&seed, 3); i > 0 && now->count; i--) {
            const uint32_t at = random_below(&seed, now->count);
            if (!now->lives[at]) continue;
            assert_true(reef_set(w, now->e[at], Position, 3, 4) >= REEF_OK);
            now->has[at] = 1;
        }
        if (what == 3 && now->count) {
            const uint32_t at = random_below(&seed, now->count);
            if (now->lives[at]) assert_ok(reef_destroy(w, now->e[at])), now->lives[at] = 0, now->living--;
        }
        if (what == 4) {
            reef_snapshot_free(shot);
            assert_non_null(shot = reef_snapshot_take(w));
            memcpy(then, now, sizeof *then);
        }
        if (what == 5 && shot) {
            assert_ok(reef_restore(w, shot));
            memcpy(now, then, sizeof *now);
        }
        if (round % 7 == 0) (void)reef_hash(w);
        as_known(w, now);
    }
    reef_snapshot_free(shot);
    free(now);
    free(then);
}

static void refuses_everything(reef_world *w, reef_entity e)
{
    Position p = {1, 2};
    assert_false(reef_is_alive(w, e));
    assert_false(reef_has(w, e, Position) || reef_has(w, e, Frozen) || reef_has(w, e, Awake));
    assert_null(reef_get(w, e, Position));
    assert_null(reef_get_id(w, e, reef_id(Position)));
    assert_null(reef_name(w, e));
    assert_no_pointer(w, REEF_NOT_ALIVE, reef_mut(w, e, Position));
    assert_no_pointer(w, REEF_NOT_ALIVE, reef_ensure_id(w, e, reef_id(Position), NULL));
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, e));
    assert_refused(w, REEF_NOT_ALIVE, reef_add(w, e, Position));
    assert_refused(w, REEF_NOT_ALIVE, reef_add(w, e, Awake));
    assert_refused(w, REEF_NOT_ALIVE, reef_set_id(w, e, reef_id(Position), &p, sizeof p));
    assert_refused(w, REEF_NOT_ALIVE, reef_remove(w, e, Position));
    assert_refused(w, REEF_NOT_ALIVE, reef_remove_all(w, e));
    assert_refused(w, REEF_NOT_ALIVE, reef_change(w, e, reef_with(Position, 1, 2)));
    assert_refused(w, REEF_NOT_ALIVE, reef_set_name(w, e, "x"));
    assert_no_entity(w, REEF_NOT_ALIVE, reef_clone(w, e));
    assert_int_equal(reef_destroy_many(w, &e, 1), 0);
    assert_false(reef_is_alive(w, e));
}

static void null_dead_and_never_made_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 1), reef_tag(Frozen), reef_tag(Awake));
    reef_entity dead = reef_spawn(w, reef_with(Position, 3, 3));
    assert_ok(reef_destroy(w, dead));
    refuses_everything(w, (reef_entity){0});
    refuses_everything(w, dead);
    refuses_everything(w, entity(dead.index, dead.generation + 1)); /* the next life, not begun yet */
    refuses_everything(w, entity(dead.index, 0));
    refuses_everything(w, entity(e.index, e.generation + 1));
    refuses_everything(w, entity(e.index, UINT32_MAX));
    refuses_everything(w, entity(e.index, 0));
    refuses_everything(w, entity(77, 1));
    refuses_everything(w, entity(5000, 1));
    refuses_everything(w, entity(UINT32_MAX, 1));
    refuses_everything(w, entity(UINT32_MAX - 1, UINT32_MAX));
    assert_int_equal(reef_count_alive(w), 1);
    assert_position(w, e, 1, 1);
}

static void stale_handles_are_known_for_ever(void **state)
{
    reef_world *w = world_of(state);
    reef_entity old[200];
    for (int i = 0; i < 200; i++) {
        old[i] = reef_spawn(w, reef_with(Position, (float)i, 0));
        assert_int_equal(old[i].index, old[0].index);
        for (int j = 0; j < i; j++) {
            assert_false(reef_is_alive(w, old[j]));
            assert_null(reef_get(w, old[j], Position));
            assert_status(REEF_NOT_ALIVE, reef_destroy(w, old[j]));
        }
        assert_position(w, old[i], (float)i, 0);
        if (i < 199) assert_ok(reef_destroy(w, old[i]));
    }
}

static void clearing_a_world_ends_all_handles(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    for (int i = 0; i < 300; i++)
        e[i] = i % 3 ? reef_spawn(w, reef_with(Tracked, .value = i), reef_tag(Awake)) : reef_create(w);
    assert_ok(reef_set_name(w, e[7], "seven"));
    assert_ok(reef_world_clear(w));
    assert_valid(w);
    assert_int_equal(reef_count_alive(w), 0);
    assert_int_equal(book.live, 0);
    assert_none(reef_find(w, "seven"));
    for (int i = 0; i < 300; i++) assert_false(reef_is_alive(w, e[i]));
    for (int i = 0; i < 300; i++) {
        reef_entity f = reef_create(w);
        assert_false(reef_has(w, f, Awake) || reef_has(w, f, Tracked));
        for (int j = 0; j < 300; j++) assert_false(reef_entity_equal(f, e[j]));
    }
}

/* ---- A2: reuse ---- */

static void ids_are_reused_oldest_first(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[10];
    for (int i = 0; i < 10; i++) e[i] = i % 2 ? reef_spawn(w, reef_with(Position, 0, 0)) : reef_create(w);
    uint32_t order[] = {3, 7, 1, 0, 8};
    for (int i = 0; i < 5; i++) assert_ok(reef_destroy(w, e[order[i]]));
    for (int i = 0; i < 5; i++) {
        reef_entity f = i % 2 ? reef_spawn(w, reef_tag(Frozen)) : reef_create(w);
        assert_int_equal(f.index, e[order[i]].index);
        assert_true(f.generation > e[order[i]].generation);
    }
    assert_int_equal(reef_create(w).index, 10);
}

/* Several pages of the ring of free ids, and every way to make and to destroy. */
static void order_of_reuse_holds_for_thousands(void **state)
{
    enum { N = 10000 };
    reef_world *w = world_of(state);
    reef_entity *e = malloc(N * sizeof *e), *f = malloc(N * sizeof *f);
    uint64_t seed = 1;
    assert_ok(reef_spawn_many(w, N, e, reef_with(Position, 1, 2)));
    for (uint32_t i = N; i > 1; i--) {
        uint32_t j = random_below(&seed, i);
        reef_entity t = e[j];
        e[j] = e[i - 1];
        e[i - 1] = t;
    }
    for (int i = 0; i < 100; i++) assert_ok(reef_destroy(w, e[i]));
    assert_int_equal(reef_destroy_many(w, e + 100, N - 100), N - 100);
    assert_int_equal(reef_world_stats(w).free_ids, N);
    for (int i = 0; i < 50; i++) f[i] = reef_create(w);
    for (int i = 50; i < 100; i++) f[i] = reef_spawn(w, reef_with(Velocity, 1, 2));
    assert_ok(reef_spawn_many(w, 900, f + 100, reef_tag(Hungry)));
    assert_ok(reef_clone_many(w, f[60], N - 1000, f + 1000));
    for (int i = 0; i < N; i++) assert_int_equal(f[i].index, e[i].index);
    assert_int_equal(reef_world_stats(w).free_ids, 0);
    assert_int_equal(reef_create(w).index, N);
    free(e);
    free(f);
}

/* The ring grows while a snapshot shares it, and while nobody does; in both cases it doesn't begin at its first
 * page. */
static void free_ids_keep_their_order_while_their_ring_grows(void **state)
{
    enum { N = 20000, BEFORE = 5000, AGAIN = 1500 };
    reef_entity *e = malloc(N * sizeof *e);
    for (int shared = 0; shared < 2; shared++) {
        reef_world *w = shared ? another_world(state, NULL) : world_of(state);
        for (int i = 0; i < N; i++) e[i] = reef_create(w);
        for (int i = 0; i < BEFORE; i++) assert_ok(reef_destroy(w, e[i]));
        for (int i = 0; i < AGAIN; i++) assert_int_equal(reef_create(w).index, e[i].index);
        reef_snapshot *s = shared ? reef_snapshot_take(w) : NULL;
        for (int i = BEFORE; i < N; i++) assert_ok(reef_destroy(w, e[i]));
        assert_valid(w);
        for (int i = AGAIN; i < N - 1; i++) assert_int_equal(reef_create(w).index, e[i].index);
        if (s) {
            assert_ok(reef_restore(w, s));
            assert_valid(w);
            for (int i = AGAIN; i < BEFORE; i++) assert_int_equal(reef_create(w).index, e[i].index);
            assert_int_equal(reef_create(w).index, N);
        }
        reef_snapshot_free(s);
    }
    free(e);
}

static void a_world_can_be_told_never_to_reuse(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.never_reuse = true});
    reef_entity e = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        e = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Position, 1, 2));
        assert_int_equal(e.index, i);
        assert_ok(reef_destroy(w, e));
        assert_false(reef_is_alive(w, e));
    }
    assert_int_equal(reef_count_alive(w), 0);
    reef_entity many[10];
    assert_ok(reef_spawn_many(w, 10, many, reef_with(Position, 1, 2)));
    for (uint32_t i = 0; i < 10; i++) assert_int_equal(many[i].index, 5000 + i);
}

static void when_no_id_is_left_create_says_so(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 10});
    reef_entity e[10];
    for (int i = 0; i < 10; i++) assert_some(e[i] = reef_create(w));
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    assert_no_entity(w, REEF_LIMIT, reef_spawn(w, reef_with(Position, 1, 2)));
    assert_no_entity(w, REEF_LIMIT, reef_reserve_id(w));
    assert_ok(reef_destroy(w, e[4]));
    assert_refused(w, REEF_LIMIT, reef_spawn_many(w, 2, NULL, reef_with(Position, 1, 2)));
    reef_entity f = reef_create(w);
    assert_int_equal(f.index, e[4].index);
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
}

/* The free indices as a plain queue: what reef's ring has to equal. */
typedef struct queue {
    uint32_t index[64000];
    uint32_t first, end;
} queue;

static void queue_take(queue *q, uint32_t position)
{
    memmove(q->index + q->first + 1, q->index + q->first, (position - q->first) * sizeof *q->index);
    q->first++;
}

static uint32_t queue_next(queue *q, uint32_t *fresh) { return q->first < q->end ? q->index[q->first++] : (*fresh)++; }

static void random_lives_follow_a_plain_queue(void **state)
{
    reef_world *w = world_of(state);
    queue *q = calloc(1, sizeof *q);
    reef_entity *alive = malloc(64000 * sizeof *alive);
    uint32_t *next = calloc(64000, sizeof *next); /* generation that an index may have next */
    uint32_t count = 0, fresh = 0;
    uint64_t seed = 7;
    for (int i = 0; i < 30000; i++) {
        uint32_t what = random_below(&seed, 100), tide = i / 5000 % 2 ? 30 : 60;
        if (what < tide) {
            uint32_t index = queue_next(q, &fresh);
            reef_entity e = what % 2 ? reef_create(w) : reef_spawn(w, reef_with(Mass, 1));
            assert_int_equal(e.index, index);
            alive[count++] = e;
        } else if (what < 95 && count > 0) {
            uint32_t j = random_below(&seed, count);
            assert_ok(reef_destroy(w, alive[j]));
            next[alive[j].index] = alive[j].generation + 1;
            q->index[q->end++] = alive[j].index;
            alive[j] = alive[--count];
        } else if (q->first < q->end) {
            uint32_t position = q->first + random_below(&seed, q->end - q->first);
            reef_entity e = entity(q->index[position], next[q->index[position]] + what % 3);
            if (e.generation == 0) e.generation = 1;
            assert_ok(reef_create_as(w, e));
            queue_take(q, position);
            alive[count++] = e;
        }
        assert_int_equal(reef_count_alive(w), count);
        if (i % 5000 == 0) assert_valid(w);
    }
    for (uint32_t i = 0; i < count; i++) assert_true(reef_is_alive(w, alive[i]));
    assert_int_equal(reef_world_stats(w).free_ids, q->end - q->first);
    free(q);
    free(alive);
    free(next);
}

/* ---- C7: reserved and given ids ---- */

static void a_reserved_id_is_not_alive_and_nobody_else_gets_it(void **state)
{
    reef_world *w = world_of(state);
    reef_entity gone = reef_create(w);
    assert_ok(reef_destroy(w, gone));
    reef_entity reused = reef_reserve_id(w), fresh = reef_reserve_id(w);
    assert_int_equal(reused.index, gone.index);
    assert_true(reused.generation > gone.generation);
    refuses_everything(w, reused);
    refuses_everything(w, fresh);
    assert_int_equal(reef_count_alive(w), 0);
    for (int i = 0; i < 100; i++) {
        reef_entity e = reef_create(w);
        assert_true(e.index != reused.index && e.index != fresh.index);
    }
    assert_ok(reef_create_as(w, fresh));
    assert_ok(reef_create_as(w, reused));
    assert_true(reef_is_alive(w, fresh) && reef_is_alive(w, reused));
    assert_int_equal(reef_count_alive(w), 102);
    assert_false(reef_is_alive(w, gone));
    assert_status(REEF_ADDED, reef_set(w, reused, Position, 1, 2));
    assert_ok(reef_destroy(w, reused));
    assert_ok(reef_destroy(w, fresh));
    assert_int_equal(reef_create(w).index, reused.index);
    assert_int_equal(reef_create(w).index, fresh.index);
}

static void a_reserved_range_follows_all_ids_and_takes_memory_by_pages_in_use(void **state)
{
    enum { COUNT = 1000000, PAGE_IDS = 4096 };
    reef_world *w = world_of(state);
    const reef_entity e = reef_create(w);
    assert_ok(reef_destroy(w, e)); /* a free id, which isn't taken */
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_reserve_range(w, 0));
    assert_no_entity(w, REEF_LIMIT, reef_reserve_range(w, UINT32_MAX));
    assert_int_equal(reef_reserve_range(w, PAGE_IDS - 1).index, 1);
    const uint64_t before = reef_world_stats(w).bytes_index;
    const reef_entity first = reef_reserve_range(w, COUNT);
    assert_entity(entity(PAGE_IDS, 1), first);
    assert_valid(w);
    assert_int_equal(reef_world_stats(w).indices, PAGE_IDS + COUNT);
    assert_true(reef_world_stats(w).bytes_index - before < COUNT / 64); /* not 8 bytes for each */
    refuses_everything(w, entity(first.index + 77, 1));
    assert_null(reef_get(w, entity(first.index + COUNT - 1, 1), Position));
    assert_entity(entity(0, 2), reef_create(w));
    assert_int_equal(reef_create(w).index, PAGE_IDS + COUNT); /* on the last page of the range */
    assert_ok(reef_create_as(w, entity(first.index + 5000, 9)));
    assert_ok(reef_release_id(w, entity(first.index + 20000, 1)));
    assert_entity(entity(first.index + 20000, 2), reef_create(w));
    assert_status(REEF_EXISTS, reef_create_as(w, entity(first.index + 5000, 9)));
    assert_ok(reef_create_as(w, entity(first.index + 5001, 1)));
    assert_true(reef_world_stats(w).bytes_index - before < COUNT / 64 + 3 * 8 * PAGE_IDS + (64 << 10));
    assert_int_equal(reef_count_alive(w), 5);
    assert_valid(w);
}

static void a_range_that_is_reserved_piece_by_piece_takes_no_more(void **state)
{
    reef_world *w = world_of(state), *whole = reef_world_new(NULL), *single = reef_world_new(NULL);
    for (uint32_t i = 0; i < 20000; i += 32) assert_int_equal(reef_reserve_range(w, 32).index, i);
    assert_some(reef_reserve_range(whole, 20000));
    for (uint32_t i = 0; i < 20000; i++) assert_some(reef_reserve_id(single));
    assert_true(reef_world_stats(w).bytes_index < 1024 && reef_world_stats(whole).bytes_index < 1024);
    assert_true(reef_world_stats(w).bytes_index + 4 * 8 * 4096 < reef_world_stats(single).bytes_index);
    assert_true(reef_hash(w) == reef_hash(whole) && reef_hash(w) == reef_hash(single)); /* the same state */
    assert_some(reef_reserve_range(w, 1));                                              /* in a page that was hashed */
    assert_some(reef_reserve_id(single));
    assert_true(reef_hash(w) != reef_hash(whole) && reef_hash(w) == reef_hash(single));
    reef_world_free(whole);
    reef_world_free(single);
}

static void forks_and_snapshots_share_a_reserved_range(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity range = reef_reserve_range(w, 50000), one = entity(range.index + 30000, 3);
    assert_ok(reef_create_as(w, entity(range.index + 3, 1)));
    reef_world *fork = reef_fork(w);
    reef_snapshot *then = reef_snapshot_take(w);
    assert_non_null(fork);
    assert_non_null(then);
    assert_ok(reef_create_as(w, one));
    assert_status(REEF_ADDED, reef_set(w, one, Position, 1, 2));
    assert_false(reef_is_alive(fork, one));
    assert_ok(reef_create_as(fork, entity(one.index, 4)));
    assert_some(reef_reserve_range(fork, 9000));
    assert_valid(w);
    assert_valid(fork);
    assert_ok(reef_restore(w, then));
    assert_false(reef_is_alive(w, one));
    assert_ok(reef_create_as(w, entity(one.index + 9000, 2)));
    assert_valid(w);
    reef_snapshot_free(then);
    reef_world_free(fork);
    assert_valid(w);
}

static void a_reserved_id_can_be_put_back(void **state)
{
    reef_world *w = world_of(state);
    reef_entity r = reef_reserve_id(w), e = reef_create(w);
    assert_ok(reef_release_id(w, r));
    assert_false(reef_is_alive(w, r));
    assert_true(reef_release_id(w, r) < 0);
    assert_true(reef_release_id(w, e) < 0);
    assert_true(reef_release_id(w, (reef_entity){0}) < 0);
    assert_true(reef_release_id(w, entity(500, 1)) < 0);
    assert_true(reef_is_alive(w, e));
    assert_valid(w);
    reef_entity f = reef_create(w);
    assert_int_equal(f.index, r.index);
    assert_int_equal(reef_create(w).index, 2);
}

static void many_reserved_ids_come_alive_in_any_order(void **state)
{
    reef_world *w = world_of(state);
    reef_entity r[600];
    for (int i = 0; i < 300; i++) reef_create(w);
    for (uint32_t i = 0; i < 300; i++) assert_ok(reef_destroy(w, reef_entity_at(w, i)));
    for (int i = 0; i < 600; i++) assert_some(r[i] = reef_reserve_id(w));
    assert_valid(w);
    for (int i = 599; i >= 0; i -= 2) assert_ok(reef_create_as(w, r[i]));
    for (int i = 0; i < 600; i += 2) assert_ok(reef_release_id(w, r[i]));
    assert_valid(w);
    assert_int_equal(reef_count_alive(w), 300);
    for (int i = 0; i < 600; i++) assert_int_equal(reef_is_alive(w, r[i]), i % 2);
    for (int i = 0; i < 300; i++) assert_true(reef_create(w).index < 600);
    assert_int_equal(reef_create(w).index, 600);
}

static void an_entity_is_made_with_a_given_id(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = entity(20, 7);
    assert_ok(reef_create_as(w, e));
    assert_true(reef_is_alive(w, e));
    assert_entity(e, reef_entity_at(w, 20));
    assert_int_equal(reef_count_alive(w), 1);
    assert_status(REEF_ADDED, reef_set(w, e, Position, 1, 2));
    bool seen[32] = {0};
    for (int i = 0; i < 31; i++) { /* the gap below is free, each once */
        reef_entity f = reef_create(w);
        assert_true(f.index < 32 && f.index != 20);
        assert_false(seen[f.index]);
        seen[f.index] = true;
    }
    assert_ok(reef_destroy(w, e));
    reef_entity again = reef_create(w);
    assert_int_equal(again.index, 20);
    assert_true(again.generation > 7);
}

static void a_given_id_that_is_taken_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_refused(w, REEF_EXISTS, reef_create_as(w, e));
    assert_refused(w, REEF_EXISTS, reef_create_as(w, entity(e.index, e.generation + 5)));
    assert_position(w, e, 1, 2);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, (reef_entity){0}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, entity(9, 0)));
    assert_ok(reef_destroy(w, e));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, e));
    assert_ok(reef_create_as(w, entity(e.index, e.generation + 9)));
    assert_true(reef_is_alive(w, entity(e.index, e.generation + 9)));
    assert_false(reef_is_alive(w, e));
    assert_refused(w, REEF_LIMIT, reef_create_as(w, entity(UINT32_MAX, 1)));
    reef_world *small = another_world(state, &(reef_world_config){.entities_max = 10});
    assert_refused(small, REEF_LIMIT, reef_create_as(small, entity(10, 1)));
    assert_ok(reef_create_as(small, entity(9, 1)));
    for (int i = 0; i < 9; i++) assert_some(reef_create(small));
    assert_no_entity(small, REEF_LIMIT, reef_create(small));
}

static void an_id_far_ahead_leaves_a_gap_of_free_ids(void **state)
{
    reef_world *w = world_of(state);
    reef_entity last = entity(20000, 3);
    assert_ok(reef_create_as(w, last));
    assert_valid(w);
    assert_int_equal(reef_world_stats(w).free_ids, 20000);
    uint8_t *seen = calloc(20001, 1);
    for (int i = 0; i < 20000; i++) {
        reef_entity e = reef_create(w);
        assert_true(e.index < 20000);
        assert_int_equal(seen[e.index], 0);
        seen[e.index] = 1;
    }
    assert_int_equal(reef_create(w).index, 20001);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(null_is_never_alive),
        TEST(an_entity_without_components_is_alive_counted_and_listed),
        TEST(destroy_empties_every_storage),
        TEST(an_entity_made_after_a_spawn_that_failed_lives),
        TEST(pages_of_entities_without_components_are_as_others),
        TEST(null_dead_and_never_made_are_refused),
        TEST(stale_handles_are_known_for_ever),
        TEST(clearing_a_world_ends_all_handles),
        TEST(ids_are_reused_oldest_first),
        TEST(order_of_reuse_holds_for_thousands),
        TEST(free_ids_keep_their_order_while_their_ring_grows),
        TEST(a_world_can_be_told_never_to_reuse),
        TEST(when_no_id_is_left_create_says_so),
        TEST(random_lives_follow_a_plain_queue),
        TEST(a_reserved_id_is_not_alive_and_nobody_else_gets_it),
        TEST(a_reserved_id_can_be_put_back),
        TEST(a_reserved_range_follows_all_ids_and_takes_memory_by_pages_in_use),
        TEST(a_range_that_is_reserved_piece_by_piece_takes_no_more),
        TEST(forks_and_snapshots_share_a_reserved_range),
        TEST(many_reserved_ids_come_alive_in_any_order),
        TEST(an_entity_is_made_with_a_given_id),
        TEST(a_given_id_that_is_taken_is_refused),
        TEST(an_id_far_ahead_leaves_a_gap_of_free_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
