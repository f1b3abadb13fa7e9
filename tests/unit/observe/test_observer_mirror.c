/* Observers that keep books (F3): for types of every home and for queries, immediate and collected ones write down
 * who has what with which value. Whatever is done at random, by single calls, to whole queries, in loops that
 * record, their books are the world. */
#include "support.h"

typedef struct {
    int32_t value;
} Sparse;
typedef struct {
    int32_t value;
} Paged;
typedef struct {
    int32_t value;
} Cold;
typedef struct {
    int32_t value, more;
} Fields;
typedef Tracked TrackedPaged;
typedef Tracked TrackedCold;
REEF_COMPONENT_IN(Sparse, REEF_SPARSE);
REEF_COMPONENT_IN(Paged, REEF_PAGED);
REEF_COMPONENT_IN(Cold, REEF_COLD);
REEF_COMPONENT_IN(Fields, REEF_SPLIT);
REEF_FIELDS(Fields, value, more);
REEF_COMPONENT_IN_HOOKS(TrackedPaged, REEF_PAGED, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(TrackedCold, REEF_COLD, &tracked_hooks);

enum { INDICES = 4096, TYPES = 11, QUERIES = 4, BOOKS = 2 * (TYPES + QUERIES) };

/* What one observer knows, by the entity's index. */
typedef struct page {
    uint32_t generation;
    int32_t value;
} page;
typedef struct journal {
    reef_component component;
    bool collected;
    uint64_t told;
    page of[INDICES];
} journal;

static journal books[BOOKS];
static uint64_t deaths;

static int32_t first_bytes(const void *p)
{
    int32_t x = -1;
    if (p) memcpy(&x, p, sizeof x);
    return x;
}

/* What e has now; a type that is split by field isn't found by a pointer. */
static int32_t value_now(const reef_world *w, reef_entity e, reef_component c)
{
    Fields f;
    if (c.id != reef_id(Fields).id) return first_bytes(reef_get_id(w, e, c));
    return reef_read_id(w, e, c, &f, sizeof f) ? f.value : -1;
}

static void write_down(const reef_notice *n)
{
    journal *b = n->context;
    b->told++;
    for (uint32_t i = 0; i < n->count; i++) {
        const reef_entity e = n->entities[i];
        assert_true(e.index < INDICES);
        page *x = &b->of[e.index];
        const bool split = n->component.id == reef_id(Fields).id && n->kind != REEF_ON_REMOVE;
        const int32_t now = split ? value_now(n->world, e, n->component) : first_bytes(reef_notice_value(n, i)),
                      old = first_bytes(reef_notice_old(n, i));
        if (n->kind & (REEF_ON_ADD | REEF_ON_MATCH)) {
            assert_int_equal(x->generation, 0);
            *x = (page){e.generation, now};
            continue;
        }
        assert_int_equal(x->generation, e.generation);
        assert_int_equal(x->value, old);
        *x = (page){n->kind == REEF_ON_SET ? e.generation : 0, now};
    }
}

static void count_dead(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) assert_false(reef_is_alive(n->world, n->entities[i]));
    deaths += n->count;
}

static reef_component types[TYPES];
static const char *const queries[QUERIES] = {"Health, !Frozen", "Awake | Sparse", "Tracked, ?Mass, !Cold",
                                             "Paged, Health"};

static void observe_all(reef_world *w)
{
    const reef_component all[TYPES] = {reef_id(Health),       reef_id(Frozen),      reef_id(Awake), reef_id(Tracked),
                                       reef_id(Loose),        reef_id(Sparse),      reef_id(Paged), reef_id(Cold),
                                       reef_id(TrackedPaged), reef_id(TrackedCold), reef_id(Fields)};
    char name[32];
    memcpy(types, all, sizeof types);
    memset(books, 0, sizeof books);
    deaths = 0;
    for (uint32_t i = 0; i < 2 * (TYPES + QUERIES); i++) {
        journal *b = &books[i];
        const uint32_t k = i / 2;
        snprintf(name, sizeof name, "o%u", (unsigned)i);
        reef_observer_desc d = {.name = name, .function = write_down, .context = b, .collected = i % 2};
        if (k < TYPES) d.component = b->component = types[k], d.events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE;
        else d.text = queries[k - TYPES], d.events = REEF_ON_MATCH | REEF_ON_UNMATCH;
        assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
    }
    const reef_observer_desc d = {.name = "dead", .function = count_dead, .events = REEF_ON_DESTROY};
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
}

static void check_book(reef_world *w, uint32_t number, const reef_entity *e, uint32_t n)
{
    static bool seen[INDICES];
    const journal *b = &books[number];
    const uint32_t k = number / 2;
    memset(seen, 0, sizeof seen);
    const reef_query q = k < TYPES ? (reef_query){0} : reef_query_new(w, queries[k - TYPES]);
    for (uint32_t i = 0; i < n; i++) {
        if (!reef_is_alive(w, e[i])) continue;
        seen[e[i].index] = true;
        const bool has = k < TYPES ? reef_has_id(w, e[i], b->component) : reef_query_matches(w, q, e[i]);
        if (has != (b->of[e[i].index].generation == e[i].generation))
            fail_msg("observer %u of entity %u", (unsigned)number, (unsigned)e[i].index);
        if (has && k < TYPES) assert_int_equal(b->of[e[i].index].value, value_now(w, e[i], b->component));
    }
    for (uint32_t i = 0; i < INDICES; i++)
        if (!seen[i]) assert_int_equal(b->of[i].generation, 0);
    if (k >= TYPES) assert_ok(reef_query_free(w, q));
}

/* ---- what is done ---- */

typedef struct play {
    reef_world *w;
    uint64_t seed;
    reef_entity e[INDICES];
    uint32_t count;
    int32_t value;
} play;

static reef_status set_one(play *p, reef_entity e, reef_component c)
{
    reef_type_info info;
    struct {
        int32_t value, more;
    } v = {++p->value, 0};
    assert_true(reef_type_get(c, &info));
    return reef_set_id(p->w, e, c, &v, info.size);
}

static void remember(play *p, reef_entity e)
{
    if (e.generation && p->count < INDICES) p->e[p->count++] = e;
}

static void do_single(play *p)
{
    reef_world *w = p->w;
    const reef_entity e = p->e[random_below(&p->seed, p->count)];
    const reef_component c = types[random_below(&p->seed, TYPES)];
    switch (random_below(&p->seed, 14)) {
    case 0:
        if (p->count < 900)
            remember(p, reef_spawn(w, reef_with(Health, ++p->value, 1), reef_with(Paged, 3),
                                   reef_with(TrackedCold, .value = 4)));
        break;
    case 1:
        if (p->count < 900) remember(p, reef_clone(w, e));
        break;
    case 2: (void)reef_destroy(w, e); break;
    case 3:
    case 4: (void)reef_add_id(w, e, c, NULL, NULL); break;
    case 5:
    case 6: (void)set_one(p, e, c); break;
    case 7:
    case 8: (void)reef_remove_id(w, e, c); break;
    case 9: (void)reef_enable_id(w, e, (reef_component){0}, p->value++ % 2); break;
    case 10: (void)reef_enable_id(w, e, types[random_below(&p->seed, TYPES)], p->value++ % 3 != 0); break;
    case 11:
        (void)reef_change(w, e, reef_with(Health, ++p->value, 3), reef_without(Sparse), reef_tag(Awake),
                          reef_with(Tracked, .value = 2), reef_without(TrackedPaged), reef_with(Cold, 5));
        break;
    case 12:
        if (p->value++ % 4 == 0) (void)reef_remove_all(w, e);
        break;
    default:
        if (p->count < 900) remember(p, reef_create(w));
    }
}

static void do_whole(play *p)
{
    reef_world *w = p->w;
    static const char *const texts[] = {"Health", "Sparse", "Frozen, Paged", "Awake", "Tracked | Cold"};
    const reef_query q = reef_query_new(w, texts[random_below(&p->seed, 5)]);
    const reef_component c = types[random_below(&p->seed, TYPES)];
    const struct {
        int32_t value, more;
    } v = {++p->value, 0};
    reef_type_info info;
    reef_entity many[5];
    assert_true(reef_type_get(c, &info));
    switch (random_below(&p->seed, 9)) {
    case 0: assert_ok(reef_add_where_id(w, q, c, NULL)); break;
    case 1: assert_ok(reef_remove_where_id(w, q, c, NULL)); break;
    case 2: assert_ok(reef_set_where_id(w, q, c, &v, info.size, NULL)); break;
    case 3: assert_ok(reef_enable_where_id(w, q, (reef_component){0}, v.value % 2, NULL)); break;
    case 4: assert_ok(reef_enable_where_id(w, q, types[random_below(&p->seed, TYPES)], v.value % 2, NULL)); break;
    case 5:
        if (v.value % 4 == 0) assert_ok(reef_destroy_where(w, q, NULL));
        break;
    case 6:
        if (v.value % 4 == 0) assert_ok(remove_everywhere(w, c, NULL));
        break;
    case 7: (void)reef_destroy_many(w, p->e + random_below(&p->seed, p->count), 1); break;
    default:
        if (p->count > 800) break;
        assert_ok(reef_spawn_many(w, 5, many, reef_with(Sparse, v.value), reef_tag(Frozen), reef_tag(Awake),
                                  reef_with(TrackedPaged, .value = 8)));
        for (int i = 0; i < 5; i++) remember(p, many[i]);
    }
    assert_ok(reef_query_free(w, q));
}

static void do_loop(play *p)
{
    const reef_query q = reef_query_new(p->w, "Health");
    for (reef_block b = reef_begin_loop(p->w, q, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t i = 0; i < b.count && i < 12; i++) do_single(p);
    assert_ok(reef_query_free(p->w, q));
}

static void forget_dead(play *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (reef_is_alive(p->w, p->e[i])) p->e[n++] = p->e[i];
    p->count = n;
    while (p->count < 10) remember(p, reef_spawn(p->w, reef_with(Health, ++p->value, 1), reef_with(Position, 1, 1)));
}

static void play_on(play *p, int steps)
{
    for (int step = 0; step < steps; step++) {
        forget_dead(p);
        const uint32_t what = random_below(&p->seed, 20);
        if (what == 0) do_whole(p);
        else if (what == 1) do_loop(p);
        else do_single(p);
        if (step % 200 != 0) continue;
        assert_valid(p->w);
        for (uint32_t i = 0; i < 2 * (TYPES + QUERIES); i++) check_book(p->w, i, p->e, p->count);
    }
}

static void books_of_observers_are_the_world(void **state)
{
    static play p;
    memset(&p, 0, sizeof p);
    p.w = world_of(state);
    p.seed = 11;
    observe_all(p.w);
    play_on(&p, 3000);
    for (uint32_t i = 0; i < 2 * (TYPES + QUERIES); i++)
        if (books[i].told < 50 && i / 2 != TYPES + 3)
            fail_msg("observer %u heard %u", (unsigned)i, (unsigned)books[i].told);
    for (uint32_t i = 0; i < 2 * (TYPES + QUERIES); i += 2) assert_true(books[i].told >= books[i + 1].told / 2);
    const uint64_t before = deaths, alive = reef_count_alive(p.w);
    assert_ok(reef_world_clear(p.w));
    assert_true(deaths == before + alive);
    for (uint32_t i = 0; i < 2 * (TYPES + QUERIES); i++) check_book(p.w, i, p.e, 0);
}

/* The same after a fork: everything that goes is shared at first. */
static void books_of_observers_in_a_fork(void **state)
{
    static play p;
    memset(&p, 0, sizeof p);
    p.w = world_of(state);
    p.seed = 5;
    observe_all(p.w);
    play_on(&p, 400);
    for (int i = 0; i < 4; i++) {
        reef_world *fork = reef_fork(p.w);
        assert_non_null(fork);
        const uint64_t hash = digest(fork);
        play_on(&p, 150);
        assert_true(digest(fork) == hash);
        reef_world_free(fork);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(books_of_observers_are_the_world),
        TEST(books_of_observers_in_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
