/* Forks of one world on threads of their own: each lives a life of random operations, makes tables that the family
 * doesn't know yet, hashes, takes and drops snapshots, forks further and frees itself, while the original goes on.
 * Each life ends with the hash that it has when all are lived one after the other. To be run under the thread
 * sanitizer as well. */
#ifdef REEF_NO_THREADS
int main(void) { return 77; }
#else
#include "support.h"
#include "reef/multi.h"
#include "reef/place.h"
#include "reef/shared.h"
#include "reef/value_index.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, PEOPLE = 3000, STEPS = 900, HANDOVERS = 40 };

REEF_FIELDS(Position, x, y);
REEF_FIELDS(Mass, kg);
REEF_PLACE(Position, x, y, .cell = 2);

/* ---- an allocator and a type that own up on any thread ---- */

static atomic_llong bytes_held, notes_held;

static void *count_resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    void *fresh = NULL;
    size_t unit = align < 16 ? 16 : align;
    if (new_bytes) {
        fresh = aligned_alloc(unit, (new_bytes + unit - 1) / unit * unit);
        if (fresh == NULL) return NULL;
        if (block) memcpy(fresh, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    atomic_fetch_add(&bytes_held, (long long)new_bytes - (long long)old_bytes);
    free(block);
    return fresh;
}

typedef struct {
    uint32_t number;
    uint32_t *owned; /* holds the same number */
} Note;

static reef_status note_make(Note *note, uint32_t number)
{
    note->owned = malloc(sizeof *note->owned);
    if (note->owned == NULL) return REEF_NO_MEMORY;
    *note->owned = note->number = number;
    atomic_fetch_add(&notes_held, 1);
    return REEF_OK;
}
static reef_status note_construct(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    (void)context, (void)w, (void)e, (void)args;
    return note_make(slot, 1);
}
static reef_status note_copy(void *context, void *to, const void *from)
{
    const Note *note = from;
    (void)context;
    return *note->owned == note->number ? note_make(to, note->number) : REEF_CORRUPT;
}
static void note_destroy(void *context, void *slot)
{
    Note *note = slot;
    (void)context;
    free(note->owned);
    atomic_fetch_sub(&notes_held, 1);
}
static const reef_hooks note_hooks = {
    .construct = note_construct, .copy = note_copy, .destroy = note_destroy, .bytes_move = true};
REEF_COMPONENT_HOOKS(Note, &note_hooks);
REEF_FIELDS(Note, number);

/* The same outside of the rows. */
typedef Note SparseNote, PagedNote, ColdNote, ManyNotes, SharedNote;
REEF_COMPONENT_IN_HOOKS(SparseNote, REEF_SPARSE, &note_hooks);
REEF_COMPONENT_IN_HOOKS(PagedNote, REEF_PAGED, &note_hooks);
REEF_COMPONENT_IN_HOOKS(ColdNote, REEF_COLD, &note_hooks);
REEF_COMPONENT_IN_HOOKS(ManyNotes, REEF_MULTI, &note_hooks);
REEF_COMPONENT_IN_HOOKS(SharedNote, REEF_SHARED, &note_hooks);
REEF_FIELDS(SparseNote, number);
REEF_FIELDS(PagedNote, number);
REEF_FIELDS(ColdNote, number);
REEF_FIELDS(ManyNotes, number);
REEF_FIELDS(SharedNote, number);

/* What can't be copied: forks get one of their own, and a rewind leaves it alone. Never hashed. */
typedef struct {
    uint32_t *owned;
} Radio;

static reef_status radio_construct(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    Radio *radio = slot;
    (void)context, (void)w, (void)args;
    radio->owned = malloc(sizeof *radio->owned);
    if (radio->owned == NULL) return REEF_NO_MEMORY;
    *radio->owned = e.index;
    atomic_fetch_add(&notes_held, 1);
    return REEF_OK;
}
static void radio_destroy(void *context, void *slot)
{
    Radio *radio = slot;
    (void)context;
    free(radio->owned);
    atomic_fetch_sub(&notes_held, 1);
}
static const reef_hooks radio_hooks = {
    .construct = radio_construct, .destroy = radio_destroy, .bytes_move = true, .on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Radio, &radio_hooks);

/* ---- a life ---- */

typedef struct life {
    reef_world *w;
    uint64_t seed, trace; /* what was seen on the way */
    uint32_t family, number, depth, steps;
    bool failed;
} life;

static void saw(life *l, uint64_t what) { l->trace = digest_bytes(l->trace, &what, sizeof what); }
static void must(life *l, bool ok) { l->failed |= !ok; }

static reef_world *world_make(bool radios)
{
    reef_world_config config = {.allocator = {.resize = count_resize}};
    reef_world *w = reef_world_new(&config);
    char text[32];
    if (w == NULL) return NULL;
    (void)reef_spawn_many(w, PEOPLE, NULL, reef_with(Position, 1, 2), reef_with(Mass, 3));
    (void)reef_spawn_many(w, PEOPLE / 2, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Frozen),
                          reef_tag(Awake));
    (void)reef_spawn_many(w, PEOPLE / 10, NULL, reef_with(Mass, 3), reef_default(Note));
    for (uint32_t i = 0; i < PEOPLE; i += 9) {
        snprintf(text, sizeof text, "people.number%u", (unsigned)i);
        (void)reef_set_name(w, reef_entity_at(w, i), text);
        (void)reef_add(w, reef_entity_at(w, i), Seen);
    }
    for (uint32_t i = 7; radios && i < PEOPLE; i += 11) (void)reef_add(w, reef_entity_at(w, i), Radio);
    for (uint32_t i = 500; i < 600; i++) (void)reef_destroy(w, reef_entity_at(w, i));
    return w;
}

static bool sum_part(void *context, const reef_hash_part *part)
{
    uint64_t *sum = context;
    *sum += part->hash ^ part->rows;
    return true;
}

static void walk(life *l, const char *text, bool write)
{
    reef_query q = reef_query_new(l->w, text);
    double sum = 0;
    for (reef_block b = reef_begin(l->w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            if (write) reef_inout(&b, Mass)[i].kg += 1;
            sum += write ? reef_inout(&b, Mass)[i].kg : reef_in(&b, Mass)[i].kg;
        }
    saw(l, (uint64_t)sum);
    saw(l, reef_query_count(l->w, q));
    reef_query_free(l->w, q);
}

/* A table that the family doesn't know, perhaps of a type that the process doesn't know: lives race for the same
 * ones. */
static void new_table(life *l, reef_entity e)
{
    char name[32];
    reef_status status = REEF_OK;
    snprintf(name, sizeof name, "thread%u.%u", (unsigned)l->family, (unsigned)random_below(&l->seed, 60));
    reef_component c = reef_type_new(&(reef_type_desc){.name = name, .size = 8, .align = 8}, &status);
    must(l, c.id != 0 && status == REEF_OK);
    status = reef_has_id(l->w, e, c) ? reef_remove_id(l->w, e, c) : reef_add_id(l->w, e, c, NULL, NULL);
    must(l, status == REEF_OK);
}

static void live(life *l);

static void branch(life *l, uint32_t what)
{
    life child = {.seed = l->seed + 1, .family = l->family, .number = l->number, .depth = l->depth + 1, .steps = 40};
    reef_snapshot *snapshot = reef_snapshot_take(l->w);
    must(l, snapshot != NULL);
    uint64_t before = reef_hash(l->w);
    if (what == 0) {
        child.w = reef_fork(l->w);
    } else if (what == 1) {
        child.w = reef_snapshot_fork(snapshot);
    } else {
        life aside = *l; /* an abandoned future of our own */
        aside.steps = 60;
        aside.depth += 1;
        live(&aside);
        must(l, !aside.failed && reef_restore(l->w, snapshot) == REEF_OK && reef_hash(l->w) == before);
    }
    if (child.w) {
        live(&child);
        must(l, !child.failed && reef_hash(l->w) == before);
        saw(l, reef_hash(child.w));
        reef_world_free(child.w);
    }
    reef_snapshot_free(snapshot);
}

static void write_note(life *l, reef_entity e, reef_component c)
{
    Note *note = reef_mut_id(l->w, e, c);
    must(l, note && *note->owned == note->number);
    if (note) *note->owned = ++note->number;
}

/* A note outside of the rows comes, is written or goes; others may have the same one, or one more. */
static void change_elsewhere(life *l, reef_entity e)
{
    const reef_component homes[] = {reef_id(SparseNote), reef_id(PagedNote), reef_id(ColdNote), reef_id(ManyNotes),
                                    reef_id(SharedNote)};
    const uint32_t home = random_below(&l->seed, 5), what = random_below(&l->seed, 4);
    const reef_component c = homes[home];
    reef_world *w = l->w;
    if (!reef_has_id(w, e, c)) {
        must(l, reef_add_id(w, e, c, NULL, NULL) == REEF_OK);
        return;
    }
    write_note(l, e, c);
    if (what == 0 && !reef_has(w, e, Radio)) {
        must(l, reef_remove_id(w, e, c) == REEF_OK);
    } else if (what == 1 && home == 3 && reef_count_on(w, e, ManyNotes) < 5) {
        must(l, reef_add_id(w, e, c, NULL, NULL) == REEF_OK);
    } else if (what == 1 && home == 4) {
        const reef_entity other = reef_entity_at(w, random_below(&l->seed, PEOPLE));
        if (!reef_entity_is_null(other)) must(l, reef_share_id(w, e, other, c) >= 0);
    }
}

/* All of one home, in a loop: what others share is claimed at once. */
static void write_notes(life *l)
{
    static const char *const texts[] = {"SparseNote", "PagedNote", "ColdNote", "each ManyNotes", "SharedNote"};
    const reef_component homes[] = {reef_id(SparseNote), reef_id(PagedNote), reef_id(ColdNote), reef_id(ManyNotes),
                                    reef_id(SharedNote)};
    const uint32_t home = random_below(&l->seed, 5);
    uint64_t sum = 0;
    for (reef_block b = reef_begin_text(l->w, texts[home]); reef_next(&b);) {
        Note *note = reef_block_inout(&b, homes[home]);
        must(l, note != NULL);
        /* one value for all rows of a shared block */
        for (uint32_t i = 0; note && i < (home == 4 ? 1 : b.count); i++) {
            must(l, *note[i].owned == note[i].number);
            sum += *note[i].owned = ++note[i].number;
        }
    }
    must(l, reef_last_error(l->w).status == REEF_OK);
    saw(l, sum);
}

static void change_one(life *l, uint32_t what, reef_entity e)
{
    reef_world *w = l->w;
    char text[32];
    switch (what) {
    case 0: must(l, reef_set(w, e, Position, (float)what, 1) >= 0); break;
    case 1: must(l, reef_set(w, e, Mass, random_below(&l->seed, 100)) >= 0); break;
    case 2:
        must(l, (reef_has(w, e, Velocity) ? reef_remove(w, e, Velocity) : reef_add(w, e, Velocity)) == REEF_OK);
        break;
    case 3: must(l, (reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake)) == REEF_OK); break;
    case 4:
        if (reef_has(w, e, Radio)) must(l, reef_remove(w, e, Radio) == REEF_OK);
        must(l, (reef_has(w, e, Note) ? reef_remove(w, e, Note) : reef_add(w, e, Note)) == REEF_OK);
        break;
    case 5: must(l, reef_destroy(w, e) == REEF_OK); break;
    case 6: must(l, reef_has(w, e, Radio) || !reef_entity_is_null(reef_clone(w, e))); break;
    case 7: new_table(l, e); break;
    case 11: change_elsewhere(l, e); break;
    case 8: must(l, reef_change(w, e, reef_with(Health, 1, 2), reef_without(Mass), reef_tag(Hungry)) == REEF_OK); break;
    case 9:
        snprintf(text, sizeof text, "named%u", (unsigned)e.index);
        must(l, reef_set_name(w, e, reef_name(w, e) ? NULL : text) == REEF_OK);
        break;
    default:
        if (reef_has(w, e, Note)) {
            Note *note = reef_mut(w, e, Note);
            must(l, note && *note->owned == note->number);
            if (note) *note->owned = ++note->number;
        }
        if (reef_has(w, e, Radio)) must(l, *reef_get(w, e, Radio)->owned == e.index);
        saw(l, reef_entity_bits(e));
        break;
    }
}

/* By value and by place: worlds that share an index, and those that have none yet, ask at the same time. */
static void ask_by_value_and_place(life *l)
{
    const reef_index *kg = reef_index_of(l->w, Mass, kg);
    const reef_place *places = reef_place_of(l->w, Position);
    must(l, kg != NULL && places != NULL);
    if (kg == NULL || places == NULL) return;
    uint64_t three = 0, rows = 0, found[2];
    reef_near near[1];
    for (reef_block b = reef_begin_text(l->w, "in Mass"); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) three += reef_in(&b, Mass)[i].kg == 3;
    for (reef_block b = reef_begin_text(l->w, "in Position"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) rows += reef_in(&b, Position)[i].x == 1;
    found[0] = reef_index_get(kg, reef_key_f64(3), NULL, 0);
    found[1] = reef_place_box(places, &(reef_place_ask){.at = {1, -9}, .end = {1, 99}}, near, 1);
    must(l, found[0] == three && found[1] == rows);
    saw(l, found[0]), saw(l, found[1]);
    saw(l, reef_entity_bits(reef_index_last(kg, 0, UINT64_MAX)));
}

static void change_many(life *l, uint32_t what)
{
    reef_world *w = l->w;
    uint64_t sum = 0;
    switch (what) {
    case 0: must(l, reef_spawn_many(w, 300, NULL, reef_with(Mass, 1), reef_tag(Seen)) == REEF_OK); break;
    case 1: walk(l, "Mass, with Seen", true); break;
    case 2:
        walk(l, random_below(&l->seed, 2) ? "in Mass, with Position" : "in Mass, in SparseNote, ?in PagedNote", false);
        break;
    case 3: saw(l, reef_hash(w)); break;
    case 4: must(l, reef_hash_parts(w, sum_part, &sum) == reef_hash(w)), saw(l, sum); break;
    case 5: must(l, reef_shrink(w) == REEF_OK); break;
    case 6: must(l, remove_everywhere(w, reef_id(Hungry), NULL) >= 0); break;
    case 7: must(l, DESTROY_EVERYWHERE(w, reef_id(Frozen), reef_id(Health)) >= 0); break;
    case 8: saw(l, reef_world_stats(w).entities); break;
    case 9: write_notes(l); break;
    case 10: ask_by_value_and_place(l); break;
    default:
        if (l->depth < 2) branch(l, random_below(&l->seed, 3));
        break;
    }
}

static void live(life *l)
{
    for (uint32_t i = 0; i < l->steps && !l->failed; i++) {
        reef_entity e = reef_entity_at(l->w, random_below(&l->seed, PEOPLE * 2));
        uint32_t what = random_below(&l->seed, 100);
        if (what < 4) change_many(l, random_below(&l->seed, 12));
        else if (reef_entity_is_null(e))
            must(l, !reef_entity_is_null(reef_spawn(l->w, reef_with(Mass, 2), reef_with(Position, 1, 1))));
        else change_one(l, what % 12, e);
    }
    must(l, reef_validate(l->w, NULL, 0) == REEF_OK);
    saw(l, reef_hash(l->w));
}

static void *live_and_leave(void *life_of)
{
    life *l = life_of;
    live(l);
    reef_world_free(l->w);
    return NULL;
}

/* ---- the tests ---- */

static void lives_end_well(const life *l, const uint64_t *wanted)
{
    for (int i = 0; i <= THREADS; i++) {
        assert_false(l[i].failed);
        if (wanted) assert_true(l[i].trace == wanted[i]);
    }
    assert_int_equal(atomic_load(&bytes_held), 0);
    assert_int_equal(atomic_load(&notes_held), 0);
}

static void lives_begin(life *l, uint64_t seed)
{
    l[0] = (life){.w = world_make(seed % 200 == 0), .seed = seed, .family = (uint32_t)seed, .steps = STEPS};
    assert_non_null(l[0].w);
    for (uint32_t i = 1; i <= THREADS; i++) {
        l[i] =
            (life){.w = reef_fork(l[i / 3].w), .seed = seed + i, .family = (uint32_t)seed, .number = i, .steps = STEPS};
        assert_non_null(l[i].w);
    }
}

static void forks_live_on_threads_as_they_do_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        life l[THREADS + 1];
        uint64_t wanted[THREADS + 1];
        pthread_t thread[THREADS + 1];
        lives_begin(l, seed * 100);
        for (int i = 1; i <= THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, live_and_leave, &l[i]), 0);
        live_and_leave(&l[0]);
        for (int i = 1; i <= THREADS; i++) pthread_join(thread[i], NULL);
        lives_end_well(l, NULL);
        for (int i = 0; i <= THREADS; i++) wanted[i] = l[i].trace;
        lives_begin(l, seed * 100);
        for (int i = 0; i <= THREADS; i++) live_and_leave(&l[i]);
        lives_end_well(l, wanted);
    }
}

/* One snapshot, which all threads fork and restore at the same time, over and over. */
typedef struct sharing {
    const reef_snapshot *snapshot;
    reef_snapshot *own;
    uint64_t hash; /* of the snapshot */
    life l;
} sharing;

static void *fork_and_live(void *of)
{
    sharing *s = of;
    for (uint32_t i = 0; i < HANDOVERS && !s->l.failed; i++) {
        life l = {.w = reef_snapshot_fork(s->snapshot), .seed = i, .number = s->l.number, .depth = 1, .steps = 30};
        must(&s->l, l.w != NULL);
        if (l.w == NULL) break;
        live(&l);
        must(&s->l, !l.failed);
        saw(&s->l, l.trace);
        if (i == HANDOVERS - 1) s->own = reef_snapshot_take(l.w);
        must(&s->l, reef_restore(l.w, s->snapshot) == REEF_OK && reef_hash(l.w) == s->hash);
        reef_world_free(l.w);
    }
    return NULL;
}

static void threads_fork_one_snapshot(void **state)
{
    (void)state;
    reef_world *w = world_make(true);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    uint64_t hash = reef_hash(w);
    sharing s[THREADS] = {{.own = NULL}};
    pthread_t thread[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        s[i] = (sharing){.snapshot = snapshot, .hash = hash, .l = {.number = i}};
        assert_int_equal(pthread_create(&thread[i], NULL, fork_and_live, &s[i]), 0);
    }
    life l = {.w = w, .seed = 5, .steps = STEPS}; /* the world of the snapshot changes meanwhile */
    live(&l);
    assert_false(l.failed);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_false(s[i].l.failed);
        assert_true(s[i].l.trace == s[0].l.trace); /* they all did the same */
        assert_ok(reef_restore(w, s[i].own));      /* what another thread's fork left */
        assert_ok(reef_validate(w, NULL, 0));
        reef_snapshot_free(s[i].own);
    }
    assert_ok(reef_restore(w, snapshot));
    assert_true(reef_hash(w) == hash);
    reef_world_free(w);
    reef_snapshot_free(snapshot);
    assert_int_equal(atomic_load(&bytes_held), 0);
    assert_int_equal(atomic_load(&notes_held), 0);
}

/* Snapshots are freed by any thread, while the world they are of goes on and takes new ones. */
typedef struct passing {
    pthread_mutex_t lock;
    reef_snapshot *waiting[8];
    bool over;
} passing;

static void *free_what_comes(void *of)
{
    passing *p = of;
    for (bool over = false; !over;) {
        reef_snapshot *taken[8];
        pthread_mutex_lock(&p->lock);
        memcpy(taken, p->waiting, sizeof taken);
        memset(p->waiting, 0, sizeof p->waiting);
        over = p->over;
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; i < 8; i++) reef_snapshot_free(taken[i]);
    }
    return NULL;
}

static void snapshots_are_freed_on_another_thread(void **state)
{
    (void)state;
    passing p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    life l = {.w = world_make(false), .seed = 77, .depth = 2, .steps = 10},
         alone = {.w = world_make(false), .seed = 77, .depth = 2, .steps = 10};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_what_comes, &p), 0);
    for (int i = 0; i < 300; i++) {
        reef_snapshot *snapshot = reef_snapshot_take(l.w);
        pthread_mutex_lock(&p.lock);
        reef_snapshot **place = &p.waiting[i % 8], *before = *place;
        *place = snapshot;
        pthread_mutex_unlock(&p.lock);
        reef_snapshot_free(before);
        live(&l);
        live(&alone);
        assert_false(l.failed || alone.failed);
        assert_true(l.trace == alone.trace);
    }
    pthread_mutex_lock(&p.lock);
    p.over = true;
    pthread_mutex_unlock(&p.lock);
    reef_world_free(l.w);
    reef_world_free(alone.w);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&bytes_held), 0);
    assert_int_equal(atomic_load(&notes_held), 0);
}

/* A snapshot is forked on other threads while a loop of its world writes, block after block, what both still share.
 * The first that leaves frees what is its own alone. */
typedef struct looking {
    reef_snapshot *snapshot;
    float kg;
    bool frees, failed;
} looking;

static void *fork_and_look(void *of)
{
    looking *l = of;
    reef_world *fork = reef_snapshot_fork(l->snapshot);
    if (l->frees) reef_snapshot_free(l->snapshot);
    l->failed = fork == NULL;
    for (int i = 0; i < 3 && fork; i++)
        for (reef_block b = reef_begin_text(fork, "in Mass"); reef_next(&b);)
            for (uint32_t row = 0; row < b.count; row++) l->failed |= reef_in(&b, Mass)[row].kg != l->kg;
    reef_world_free(fork);
    return NULL;
}

static void a_snapshot_is_forked_while_its_world_is_written(void **state)
{
    enum { ROUNDS = 100, BLOCKS = 24 };
    (void)state;
    reef_world_config config = {.allocator = {.resize = count_resize}};
    reef_world *w = reef_world_new(&config);
    assert_non_null(w);
    assert_ok(reef_spawn_many(w, BLOCKS * 1024, NULL, reef_with(Mass, 0)));
    for (int round = 0; round < ROUNDS; round++) {
        looking l[2];
        pthread_t thread[2];
        for (int i = 0; i < 2; i++) {
            l[i] = (looking){.snapshot = reef_snapshot_take(w), .kg = (float)round, .frees = i == round % 2};
            assert_non_null(l[i].snapshot);
        }
        for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, fork_and_look, &l[i]), 0);
        for (reef_block b = reef_begin_text(w, "Mass"); reef_next(&b);)
            for (uint32_t row = 0; row < b.count; row++) reef_inout(&b, Mass)[row].kg += 1;
        for (int i = 0; i < 2; i++) {
            pthread_join(thread[i], NULL);
            assert_false(l[i].failed);
            if (!l[i].frees) reef_snapshot_free(l[i].snapshot);
        }
    }
    for (reef_block b = reef_begin_text(w, "in Mass"); reef_next(&b);)
        for (uint32_t row = 0; row < b.count; row++) assert_true(reef_in(&b, Mass)[row].kg == ROUNDS);
    assert_ok(reef_validate(w, NULL, 0));
    reef_world_free(w);
    assert_int_equal(atomic_load(&bytes_held), 0);
}

/* ---- the first use of a query in a fork, on several threads ---- */

typedef struct asking {
    const reef_world *fork;
    const reef_place *place;
    reef_query heavy, copied;
    bool writes_texts, failed;
} asking;

static void *ask_first(void *at)
{
    asking *a = at;
    char text[64];
    reef_world *own = reef_world_new(NULL);
    const reef_place_ask ask = {.at = {0, 0}, .radius = 1000, .only = a->heavy};
    if (a->writes_texts) {
        a->failed |= reef_query_text(a->fork, a->heavy, text, sizeof text) == 0;
        a->failed |= reef_query_is_null(reef_query_copy(own, a->fork, a->copied));
        a->failed |= reef_query_is_null(reef_query_copy(own, a->fork, a->heavy));
    }
    a->failed |= reef_place_within(a->place, &ask, NULL, 0) != 50;
    a->failed |= reef_query_text(a->fork, a->heavy, text, sizeof text) == 0;
    reef_world_free(own);
    return NULL;
}

static void a_query_is_first_used_on_several_threads(void **state)
{
    enum { ROUNDS = 100 };
    (void)state;
    reef_world *w = reef_world_new(NULL);
    for (uint32_t i = 0; i < 100; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Position, (float)i, 0));
        if (i % 2) (void)reef_set(w, e, Mass, 1);
    }
    const reef_query heavy = reef_query_new(w, "with Mass"), copied = reef_query_new(w, "in Position, !Mass");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        reef_world *fork = reef_fork(w);
        pthread_t thread[THREADS];
        asking a[THREADS];
        const reef_place *place = reef_place_of(fork, Position);
        for (uint32_t i = 0; i < THREADS; i++) {
            a[i] = (asking){fork, place, heavy, copied, i % 2 != 0, false};
            assert_int_equal(pthread_create(&thread[i], NULL, ask_first, &a[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_false(a[i].failed);
        }
        assert_ok(reef_validate(fork, NULL, 0));
        reef_world_free(fork);
    }
    reef_world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_first_used_on_several_threads),
        cmocka_unit_test(forks_live_on_threads_as_they_do_alone),
        cmocka_unit_test(threads_fork_one_snapshot),
        cmocka_unit_test(snapshots_are_freed_on_another_thread),
        cmocka_unit_test(a_snapshot_is_forked_while_its_world_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
