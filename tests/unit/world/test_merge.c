/* Adding one world's entities to another. */
#include "support.h"

typedef struct {
    reef_entity to;
    int32_t n;
} Link;
typedef struct {
    reef_entity ring[3];
} Links;
typedef struct {
    reef_entity at;
} Target;
typedef struct {
    reef_entity who;
    int32_t since;
} Friend;
typedef struct {
    int32_t n;
    reef_entity chief;
} Emblem;
typedef struct {
    reef_entity at;
    float x;
} Anchor;
typedef struct {
    reef_entity at; /* that no field tells of */
} Hidden;
typedef struct {
    int32_t n;
} Heat;
typedef struct {
    int32_t n;
} Story;
typedef struct {
    int32_t n;
} Sound;
typedef Tracked Held;
typedef Tracked Several;
typedef Tracked Copied;
static const reef_hooks sound_hooks = {.on_fork = REEF_FORK_RESET};
REEF_COMPONENT(Link);
REEF_FIELDS(Link, to, n);
REEF_COMPONENT(Links);
REEF_FIELDS(Links, ring);
REEF_COMPONENT_IN(Target, REEF_SPARSE);
REEF_FIELDS(Target, at);
REEF_COMPONENT_IN(Friend, REEF_MULTI);
REEF_FIELDS(Friend, who, since);
REEF_COMPONENT_IN(Emblem, REEF_SHARED);
REEF_FIELDS(Emblem, n, chief);
REEF_COMPONENT_IN(Anchor, REEF_SPLIT);
REEF_FIELDS(Anchor, at, x);
REEF_COMPONENT(Hidden);
REEF_COMPONENT_PAGED(Heat, 64);
REEF_COMPONENT_IN(Story, REEF_COLD);
REEF_COMPONENT_HOOKS(Sound, &sound_hooks);
REEF_COMPONENT_IN_HOOKS(Held, REEF_SHARED, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(Several, REEF_MULTI, &tracked_hooks);
REEF_COMPONENT_HOOKS(Copied, &tracked_hooks);
/* The tickets of copies are no state. */
REEF_FIELDS(Held, value);
REEF_FIELDS(Several, value);
REEF_FIELDS(Copied, value);

enum { CREW = 40, MANY = 2100 };

/* Some entities with a bit of everything; number i has the components that the bits of i and some more say. */
static void crew(reef_world *w, reef_entity *e)
{
    for (int i = 0; i < CREW; i++) e[i] = i % 8 == 7 ? reef_create(w) : reef_spawn(w, reef_with(Position, (float)i, 0));
    for (int i = 0; i < CREW; i++) {
        const reef_entity next = e[(i + 1) % CREW], far = e[(i * 7) % CREW];
        if (i % 8 == 7) continue;
        if (i & 1) assert_true(reef_set(w, e[i], Link, next, i) >= 0);
        if (i & 2) assert_true(reef_set(w, e[i], Links, {far, {0, 0}, e[i]}) >= 0);
        if (i & 4) assert_true(reef_set(w, e[i], Target, far) >= 0);
        for (int k = 0; k < i % 5; k++) assert_non_null(reef_append(w, e[i], Friend, e[(i + k) % CREW], k));
        if (i % 3 == 0) assert_true(reef_set(w, e[i], Anchor, far, (float)i) >= 0);
        if (i % 3 == 1) assert_true(reef_set(w, e[i], Heat, i) >= 0);
        if (i % 5 == 1) assert_true(reef_set(w, e[i], Story, i) >= 0);
        if (i % 6 == 1) assert_true(reef_set(w, e[i], Sound, i) >= 0);
        if (i % 4 == 2) reef_ensure(w, e[i], Copied)->value = i;
        if (i % 9 == 2)
            for (int k = 0; k < 3; k++) assert_ok(reef_add(w, e[i], Several));
        if (i % 2) assert_ok(reef_add(w, e[i], Awake));
        if (i % 7 == 3) assert_ok(reef_add(w, e[i], Frozen));
        if (i % 10 == 4) assert_ok(reef_set_name(w, e[i], (char[]){(char)('a' + i), 0}));
        if (i % 10 == 5) assert_ok(reef_disable(w, e[i], Position));
        if (i % 12 == 1) assert_ok(reef_disable(w, e[i], Awake));
        if ((i & 12) == 4) assert_ok(reef_disable(w, e[i], Target));
        if (i % 13 == 6) assert_ok(reef_disable(w, e[i]));
    }
    assert_true(reef_set(w, e[0], Emblem, 1, e[5]) >= 0);
    assert_true(reef_set(w, e[9], Emblem, 2, e[0]) >= 0);
    for (int i = 10; i < 14; i++) assert_true(reef_share(w, e[i % 2 ? 0 : 9], e[i], Emblem) >= 0);
    assert_ok(reef_add(w, e[1], Held));
    assert_true(reef_share(w, e[1], e[2], Held) >= 0);
}

static reef_entity became(const reef_merged *who, reef_entity e) { return reef_merged_find(who, e); }

static void same_handles(const reef_merged *who, const reef_entity *from, const reef_entity *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) assert_true(reef_entity_equal(to[i], became(who, from[i])));
}

typedef struct together {
    const reef_world *to, *from;
    const reef_merged *who;
    reef_entity e;
    uint32_t count;
} together;

static bool component_same(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    together *x = context;
    const reef_entity f = became(x->who, e);
    unsigned char p[64], q[64];
    x->count++;
    assert_true(reef_has_id(x->to, f, c));
    assert_int_equal(reef_is_enabled_id(x->from, e, c), reef_is_enabled_id(x->to, f, c));
    assert_int_equal(reef_count_on_id(x->from, e, c), reef_count_on_id(x->to, f, c));
    if (c.id == reef_id(Copied).id)
        assert_int_equal(reef_get(x->from, e, Copied)->value, reef_get(x->to, f, Copied)->value);
    if (c.id == reef_id(Sound).id) assert_int_equal(reef_get(x->to, f, Sound)->n, 0);
    if (c.id == reef_id(Anchor).id) {
        Anchor a, b;
        assert_true(reef_read(x->from, e, Anchor, &a) && reef_read(x->to, f, Anchor, &b));
        same_handles(x->who, &a.at, &b.at, 1);
        assert_true(a.x == b.x); /* NOLINT */
    }
    const reef_component plain[] = {reef_id(Position), reef_id(Heat), reef_id(Story), reef_id(Cargo), reef_id(Hidden)};
    for (uint32_t i = 0; i < 5; i++) {
        if (c.id != plain[i].id || data == NULL) continue;
        assert_true(reef_read_id(x->from, e, c, p, size) && reef_read_id(x->to, f, c, q, size));
        assert_memory_equal(p, q, size);
    }
    return true;
}

static bool count_component(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)c, (void)data, (void)size;
    ++*(uint32_t *)context;
    return true;
}

static void same_entity(together *x, reef_entity e)
{
    const reef_entity f = became(x->who, e);
    uint32_t n = 0, m = 0;
    assert_true(reef_is_alive(x->to, f));
    assert_int_equal(reef_is_enabled(x->from, e), reef_is_enabled(x->to, f));
    const char *name = reef_name(x->from, e), *other = reef_name(x->to, f);
    assert_int_equal(name != NULL, other != NULL);
    if (name) assert_string_equal(name, other);
    reef_visit_entity(x->from, e, count_component, &n);
    reef_visit_entity(x->to, f, count_component, &m);
    assert_int_equal(n, m);
    reef_visit_entity(x->from, e, component_same, x);
    const Link *l = reef_get(x->from, e, Link), *l2 = reef_get(x->to, f, Link);
    if (l) assert_int_equal(l->n, l2->n), same_handles(x->who, &l->to, &l2->to, 1);
    if (reef_get(x->from, e, Links))
        same_handles(x->who, reef_get(x->from, e, Links)->ring, reef_get(x->to, f, Links)->ring, 3);
    if (reef_get(x->from, e, Target))
        same_handles(x->who, &reef_get(x->from, e, Target)->at, &reef_get(x->to, f, Target)->at, 1);
    const Emblem *b = reef_get(x->from, e, Emblem), *b2 = reef_get(x->to, f, Emblem);
    if (b) assert_int_equal(b->n, b2->n), same_handles(x->who, &b->chief, &b2->chief, 1);
    const Friend *s = reef_get_all(x->from, e, Friend, &n), *s2 = reef_get_all(x->to, f, Friend, &m);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(s[i].since, s2[i].since), same_handles(x->who, &s[i].who, &s2[i].who, 1);
}

static void same_crew(const reef_world *to, const reef_world *from, const reef_merged *who, const reef_entity *e)
{
    together x = {to, from, who, {0, 0}, 0};
    for (int i = 0; i < CREW; i++) same_entity(&x, e[i]);
    assert_ptr_equal(reef_get(to, became(who, e[0]), Emblem), reef_get(to, became(who, e[11]), Emblem));
    assert_ptr_equal(reef_get(to, became(who, e[9]), Emblem), reef_get(to, became(who, e[12]), Emblem));
    assert_ptr_not_equal(reef_get(to, became(who, e[9]), Emblem), reef_get(to, became(who, e[0]), Emblem));
    assert_ptr_equal(reef_get(to, became(who, e[1]), Held), reef_get(to, became(who, e[2]), Held));
    assert_ptr_not_equal(reef_get(to, became(who, e[1]), Held), reef_get(from, e[1], Held));
}

static void merging_brings_everything(void **state)
{
    reef_world *to = world_of(state), *from = another_world(state, NULL);
    reef_entity e[CREW], mine[CREW];
    reef_merged *who = NULL;
    crew(from, e);
    const uint64_t was = reef_hash(from);
    assert_ok(reef_merge(to, from, NULL, &who)); /* into nothing */
    same_crew(to, from, who, e);
    reef_merged_free(who);
    assert_valid(to);
    assert_int_equal(reef_count_alive(to), CREW);
    reef_world *third = another_world(state, NULL); /* where others are, and ids are free */
    crew(third, mine);
    for (int i = 0; i < CREW; i++) assert_ok(reef_set_name(third, mine[i], NULL));
    for (int i = 0; i < CREW; i += 3) assert_ok(reef_destroy(third, mine[i]));
    const uint64_t alive = reef_count_alive(third), hash = reef_hash(third);
    assert_ok(reef_merge(third, from, NULL, &who));
    assert_true(reef_hash(third) != hash && reef_hash(third) == hash_anew(third));
    same_crew(third, from, who, e);
    assert_valid(third);
    assert_int_equal(reef_count_alive(third), alive + CREW);
    assert_none(reef_merged_find(who, (reef_entity){4, 9}));
    assert_none(reef_merged_find(who, (reef_entity){4000000, 1}));
    assert_none(reef_merged_find(who, (reef_entity){0, 0}));
    assert_none(reef_merged_find(NULL, e[0]));
    assert_true(hash_anew(from) == was);
    end_world(state, third); /* the table outlives it */
    assert_some(reef_merged_find(who, e[3]));
    reef_merged_free(who);
    reef_merged_free(NULL);
}

/* A fork of the world itself, many rows, and those that aren't described by fields. */
static void merging_a_fork_and_many_rows(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[MANY];
    assert_ok(reef_spawn_many(w, MANY, e, reef_with(Position, 1, 2), reef_with(Cargo, {3}), reef_with(Hidden, {5, 5}),
                              reef_with(Link, {0, 0}, 4), reef_with(Anchor, {0, 0}, 1)));
    for (int i = 0; i < MANY; i++) {
        reef_mut(w, e[i], Link)->to = e[MANY - 1 - i];
        reef_mut(w, e[i], Position)->x = (float)i;
        assert_true(reef_set(w, e[i], Anchor, e[i], (float)i) >= 0);
    }
    reef_world *fork = reef_fork(w);
    reef_merged *who = NULL;
    assert_ok(reef_merge(w, fork, NULL, &who));
    assert_int_equal(reef_count_alive(w), 2 * MANY);
    for (int i = 0; i < MANY; i++) {
        const reef_entity f = became(who, e[i]);
        Anchor a;
        assert_position(w, f, (float)i, 2);
        assert_entity(became(who, e[MANY - 1 - i]), reef_get(w, f, Link)->to);
        assert_entity(e[MANY - 1 - i], reef_get(w, e[i], Link)->to);
        assert_true(reef_read(w, f, Anchor, &a) && reef_entity_equal(a.at, f) && a.x == (float)i);
        assert_entity(((reef_entity){5, 5}), reef_get(w, f, Hidden)->at);
    }
    reef_merged_free(who);
    reef_world_free(fork);
}

/* ---- scripts: an entity that was merged is a new one, so its script starts and ends there ---- */

static struct {
    const reef_world *world;
    reef_entity entity;
    char what;
} called[100];
static uint32_t calls;
static void call_note(const reef_script_run *r, char what)
{
    assert_true(calls < 100);
    called[calls].world = r->world, called[calls].entity = r->entity, called[calls++].what = what;
}
static void called_start(reef_script_run *r) { call_note(r, 's'); }
static void called_end(reef_script_run *r) { call_note(r, 'e'); }
static const reef_script_class caller = {.name = "caller", .start = called_start, .end = called_end};

static uint32_t calls_of(const reef_world *w, reef_entity e, char what)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < calls; i++)
        n += called[i].world == w && reef_entity_equal(called[i].entity, e) && called[i].what == what;
    return n;
}

static void scripts_that_were_merged_start_anew(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_merged *who = NULL;
    calls = 0;
    assert_false(reef_system_is_null(reef_scripts(w, NULL, NULL)));
    assert_false(reef_system_is_null(reef_scripts(from, NULL, NULL)));
    /* the first gets the same handle, the second another one, with bits (so it comes row by row), the third waits */
    const reef_entity a = reef_spawn(from, reef_with(Mass, 1)), b = reef_spawn(from, reef_with(Mass, 2)),
                      late = reef_spawn(from, reef_with(Mass, 3));
    assert_ok(reef_script_add(from, a, &caller, NULL));
    assert_ok(reef_script_add(from, b, &caller, NULL));
    assert_ok(reef_tick(from, 0));
    assert_ok(reef_script_add(from, late, &caller, NULL));
    assert_int_equal(calls, 2);
    for (uint32_t pass = 0; pass < 2; pass++) {
        calls = 0;
        if (pass) assert_ok(reef_add(from, b, Awake));
        assert_ok(reef_merge(w, from, NULL, &who));
        const reef_entity e[3] = {became(who, a), became(who, b), became(who, late)};
        assert_int_equal(reef_entity_equal(e[0], a), pass == 0);
        assert_ptr_equal(reef_script_of(w, e[0]), &caller);
        assert_int_equal(calls, 0);
        assert_ok(reef_tick(w, 0));
        assert_ok(reef_tick(w, 0));
        assert_int_equal(calls, 3);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(calls_of(w, e[i], 's'), 1);
            assert_ok(reef_destroy(w, e[i]));
        }
        if (pass == 0) assert_some(reef_create(w)); /* from now on handles differ */
        assert_ok(reef_tick(w, 0));
        assert_int_equal(calls, 6);
        for (int i = 0; i < 3; i++) assert_int_equal(calls_of(w, e[i], 'e'), 1);
        reef_merged_free(who);
    }
    calls = 0;
    end_world(state, from); /* what was merged is there as well, and ends */
    assert_int_equal(calls, 2);
}

typedef struct order {
    reef_entity e[CREW * 12];
    reef_component c[CREW * 12];
    uint32_t count;
} order;
static bool note_order(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    order *o = context;
    (void)data, (void)size;
    o->e[o->count] = e;
    o->c[o->count++] = c;
    return true;
}

static void merging_keeps_the_order(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[CREW];
    reef_merged *who = NULL;
    order *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    crew(from, e);
    reef_world *twin = another_world(state, NULL);
    assert_ok(reef_merge(w, from, NULL, &who));
    reef_visit_world(from, note_order, a);
    reef_visit_world(w, note_order, b);
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        assert_true(a->c[i].id == b->c[i].id && reef_entity_equal(became(who, a->e[i]), b->e[i]));
    assert_ok(reef_merge(twin, from, NULL, NULL));
    assert_true(reef_hash(w) == reef_hash(twin) && reef_equal(w, twin, NULL));
    reef_merged_free(who);
    free(a);
    free(b);
}

static void merging_some(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[CREW];
    reef_merged *who = NULL;
    crew(from, e);
    const uint64_t before = reef_hash(from);
    assert_ok(reef_merge(w, from, &(reef_merge_desc){.query = "Position, Link"}, &who));
    assert_true(reef_hash(from) == before);
    uint32_t n = 0;
    for (int i = 0; i < CREW; i++) {
        const bool comes = reef_has(from, e[i], Position) && reef_has(from, e[i], Link) &&
                           reef_is_enabled(from, e[i], Position) && reef_is_enabled(from, e[i]);
        assert_int_equal(comes, !reef_entity_is_null(became(who, e[i])));
        if (!comes) continue;
        n++;
        /* null, where it stays behind */
        same_handles(who, &reef_get(from, e[i], Link)->to, &reef_get(w, became(who, e[i]), Link)->to, 1);
    }
    assert_true(n > 5);
    assert_int_equal(reef_count_alive(w), n);
    reef_merged_free(who);
    who = (reef_merged *)(void *)&n;
    assert_refused(w, REEF_BAD_TEXT, reef_merge(w, from, &(reef_merge_desc){.query = "Position,,"}, &who));
    assert_null(who);
    assert_true(reef_last_error(w).detail[0]);
    assert_int_equal(reef_last_error(from).status, REEF_OK);
    assert_ok(reef_merge(w, from, &(reef_merge_desc){.query = "Position, Seen"}, NULL));
    assert_int_equal(reef_count_alive(w), n);
}

static void merging_with_names(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity mine = reef_create(w), theirs = reef_spawn(from, reef_with(Mass, 1)), other = reef_create(from);
    reef_merged *who = NULL;
    assert_ok(reef_set_name(w, mine, "door"));
    assert_ok(reef_set_name(from, theirs, "door"));
    assert_ok(reef_set_name(from, other, "wall"));
    assert_refused(w, REEF_NAME_TAKEN, reef_merge(w, from, NULL, &who));
    assert_entity(mine, reef_last_error(w).entity);
    assert_null(who);
    assert_ok(reef_merge(w, from, &(reef_merge_desc){.drop_names = true}, &who));
    assert_entity(mine, reef_find(w, "door"));
    assert_null(reef_name(w, became(who, theirs)));
    assert_entity(became(who, other), reef_find(w, "wall"));
    reef_merged_free(who);
}

static int notices;
static void count_call(const reef_notice *n) { notices += n->count != 0; }

static void merging_tells_nobody_and_leaves_what_is_there(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[CREW];
    notices = 0;
    reef_entity loud = reef_spawn(w, reef_with(Sound, 7), reef_with(Position, 1, 1));
    (void)reef_observe(w, count_call, REEF_ON_ADD, Position);
    crew(from, e);
    assert_ok(reef_merge(w, from, &(reef_merge_desc){.drop_names = true}, NULL));
    assert_int_equal(notices, 0);
    assert_int_equal(reef_get(w, loud, Sound)->n, 7); /* which forks don't get */
    assert_some(reef_spawn(w, reef_with(Position, 1, 1)));
    assert_int_equal(notices, 1);
}

static void merging_that_is_refused(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e = reef_spawn(from, reef_with(Mass, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_merge(NULL, from, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_merge(w, NULL, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_merge(w, w, NULL, NULL));
    assert_some(reef_spawn(w, reef_with(Position, 1, 1)));
    reef_block b = reef_begin_text(w, "in Position");
    assert_true(reef_next(&b));
    assert_status(REEF_LOCKED, reef_merge(w, from, NULL, NULL));
    reef_end(&b);
    b = reef_begin_text(from, "in Mass"); /* a loop over the other one is no obstacle */
    assert_true(reef_next(&b));
    assert_ok(reef_merge(w, from, NULL, NULL));
    reef_end(&b);
    Unique own;
    unique_make(&own, 3);
    assert_true(reef_set_id(from, e, reef_id(Unique), &own, sizeof own) >= 0);
    assert_refused(w, REEF_NOT_COPYABLE, reef_merge(w, from, NULL, NULL));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Unique).id);
    assert_string_equal(reef_last_error(w).operation, "reef_merge");
    assert_refused(from, REEF_NOT_COPYABLE, reef_merge(from, w, NULL, NULL)); /* nor may it be where others come to */
    assert_string_equal(reef_last_error(from).operation, "reef_merge");
    reef_world *small = another_world(state, &(reef_world_config){.entities_max = 3});
    assert_ok(reef_spawn_many(small, 2, NULL, reef_with(Position, 1, 2)));
    assert_ok(reef_merge(small, w, &(reef_merge_desc){.query = "Mass"}, NULL)); /* the third one */
    assert_refused(small, REEF_LIMIT, reef_merge(small, w, &(reef_merge_desc){.query = "Mass"}, NULL));
    reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
    assert_ok(reef_remove(from, e, Unique));
    assert_ok(reef_world_use(strict, reef_id(Position)));
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_merge(strict, from, NULL, NULL));
    assert_int_equal(reef_last_error(strict).component.id, reef_id(Mass).id);
    /* nobody of whom it doesn't know a type */
    assert_ok(reef_merge(strict, from, &(reef_merge_desc){.query = "Position"}, NULL));
}

static void merging_is_all_or_nothing(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[CREW], mine[CREW];
    crew(from, e);
    crew(w, mine);
    for (int i = 0; i < CREW; i++) assert_ok(reef_set_name(w, mine[i], NULL));
    const uint64_t before = digest(w), theirs = digest(from);
    uint64_t failed = 0;
    for (uint64_t n = 1;; n += n < 40 ? 1 : 7, failed++) {
        heap_fail_nth(heap_of(state), n, n % 2);
        const reef_status s = reef_merge(w, from, NULL, NULL);
        heap_fail_never(heap_of(state));
        if (s == REEF_OK) break;
        assert_status(REEF_NO_MEMORY, s);
        assert_true(digest(w) == before);
        assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
    }
    assert_true(failed > 40);
    assert_int_equal(reef_count_alive(w), 2 * CREW);
    assert_true(digest(from) == theirs);
    for (int i = 0; i < CREW; i++)
        if (reef_name(from, e[i])) assert_ok(reef_set_name(from, e[i], NULL));
    const uint64_t now = digest(w);
    for (uint64_t n = 1; n < 4; n++) { /* hooks that refuse */
        book.fail_copy = n * 4;
        book.fail_status = REEF_IO;
        const reef_status s = reef_merge(w, from, NULL, NULL);
        book.fail_copy = 0;
        assert_true(s < 0);
        assert_true(digest(w) == now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(merging_brings_everything),
        TEST(merging_a_fork_and_many_rows),
        TEST(merging_keeps_the_order),
        TEST(scripts_that_were_merged_start_anew),
        TEST(merging_some),
        TEST(merging_with_names),
        TEST(merging_tells_nobody_and_leaves_what_is_there),
        TEST(merging_that_is_refused),
        TEST(merging_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
