/* Worlds that were saved come back, and go on as the saved ones. */
#include "base/checksum.h"
#include "load_checks.h"
#include "load_notes.h"
#include "load_repair.h"
#include "load_zoo.h"
#include "scenes.h"

static void zoo_make(reef_world *w, uint64_t seed, uint32_t n)
{
    const Season season = {3};
    assert_status(REEF_ADDED, reef_single_set_id(w, reef_id(Season), &season, sizeof season));
    zoo_steps(w, seed, n);
    assert_some(reef_reserve_id(w));
}

/* ---- whole worlds ---- */

static void an_empty_world_comes_back(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes = saved(w, false);
    zoo_make(other, 1, 100);
    load(other, bytes);
    assert_same(w, other);
    assert_int_equal(reef_world_stats(other).entities, 0);
    reef_bytes_free(&bytes);
}

static void every_home_comes_back_and_goes_on(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    zoo_make(w, 7, 3000);
    reef_bytes bytes = saved(w, false);
    zoo_make(other, 2, 50);
    load(other, bytes);
    assert_same(w, other);
    reef_bytes again = saved(other, false);
    for (uint64_t round = 0; round < 4; round++) {
        zoo_steps(w, round, 200);
        zoo_steps(other, round, 200);
        assert_same(w, other);
    }
    load(w, bytes); /* and the world itself goes back */
    load(other, again);
    assert_same(w, other);
    reef_bytes_free(&bytes);
    reef_bytes_free(&again);
}

static void many_rows_in_many_chunks(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (uint32_t i = 0; i < 3000; i++) {
        const Spot spot = {(float)i, 1, 2};
        const Track track = {1, (int32_t)i};
        const reef_entity e = reef_spawn(w, reef_value_make(reef_id(Spot), REEF_VALUE_ONE, sizeof spot, &spot),
                                         reef_value_make(reef_id(Track), REEF_VALUE_ONE, sizeof track, &track));
        if (i % 3 == 0) assert_ok(reef_add(w, e, Alert));
    }
    for (uint32_t i = 0; i < 3000; i += 7) assert_ok(reef_destroy(w, reef_entity_at(w, i)));
    reef_bytes bytes = saved(w, false);
    load(other, bytes);
    assert_same(w, other);
    zoo_steps(w, 5, 500);
    zoo_steps(other, 5, 500);
    assert_same(w, other);
    reef_bytes_free(&bytes);
}

/* ---- reserved ids ---- */

/* Pages of them take no memory after loading either, and few bytes of a file; a difference adds to them. */
static void F10_C7_a_reserved_range_comes_back(void **state)
{
    enum { COUNT = 1000000 };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    zoo_make(w, 9, 300);
    reef_bytes without = saved(w, false);
    const reef_entity range = reef_reserve_range(w, COUNT);
    assert_ok(reef_create_as(w, (reef_entity){range.index + 70000, 5}));
    assert_ok(reef_release_id(w, (reef_entity){range.index + 200000, 1}));
    reef_bytes bytes = saved(w, false), difference = {NULL, 0};
    assert_true(bytes.size - without.size < 5 * 4096 * 9); /* pages with another id are written one by one */
    load(other, bytes);
    assert_same(w, other);
    assert_true(reef_world_stats(other).bytes_index < COUNT);
    reef_world *before = reef_fork(w);
    assert_some(reef_reserve_range(w, 100));   /* on the last page */
    assert_some(reef_reserve_range(w, 50000)); /* and on new ones */
    assert_ok(reef_create_as(w, (reef_entity){range.index + 500000, 2}));
    assert_ok(reef_diff_bytes(before, w, &difference, NULL));
    reef_world_free(before);
    assert_true(difference.size < 5 * 4096 * 9);
    assert_ok(reef_diff_apply(other, difference.data, difference.size));
    assert_same(w, other);
    assert_true(reef_world_stats(other).bytes_index < COUNT);
    reef_bytes_free(&without);
    reef_bytes_free(&bytes);
    reef_bytes_free(&difference);
}

/* ---- a part of a world, and a world more ---- */

/* What a query selects, with its handles and all that it has, and nothing else: that is the world without the
 * others. */
static void what_a_query_selects_comes_back(void **state)
{
    static const char *const queries[] = {"in Spot",
                                          "in Spot, !Beast",
                                          "Alert",
                                          "in Hunger | in Scent",
                                          "disabled Hunger",
                                          "with Stuck",
                                          "in Grudge, in Herd",
                                          "in Track, ?in Age"};
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    zoo_make(w, 5, 3000);
    zoo_steps(other, 6, 200);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        static bool selected[4096];
        reef_bytes bytes = {NULL, 0};
        reef_world *rest = reef_fork(w);
        uint32_t count = 0;
        memset(selected, 0, sizeof selected);
        const reef_query q = reef_query_new(w, queries[i]);
        assert_query(q);
        reef_each(w, q, row) selected[row.entity.index] = true, count++;
        assert_ok(reef_query_free(w, q));
        if (count == 0 || count == reef_count_alive(w)) fail_msg("%s selects %u", queries[i], (unsigned)count);
        for (uint32_t k = 0; k < reef_world_stats(w).indices; k++) {
            const reef_entity e = reef_entity_at(w, k);
            if (!reef_entity_is_null(e) && !selected[k]) assert_ok(reef_destroy(rest, e));
        }
        assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.query = queries[i]}));
        load(other, bytes);
        assert_int_equal(reef_count_alive(other), count);
        reef_diff *d = reef_diff_new(rest, other);
        const reef_change *c = reef_diff_next(d);
        if (c)
            fail_msg("%s: entity %u, %s: another one", queries[i], (unsigned)c->entity.index,
                     c->component.id ? reef_type_name(c->component) : "");
        reef_diff_free(d);
        reef_bytes_free(&bytes);
        reef_world_free(rest);
    }
}

/* Loaded into a world of its own and merged: the entities get new handles, and the handles in their fields follow. */
static void a_file_is_added_to_a_world(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL), *aside = another_world(state, NULL);
    reef_merged *who = NULL;
    reef_bytes bytes = {NULL, 0};
    zoo_make(w, 8, 1000);
    zoo_make(from, 9, 1000);
    for (uint32_t i = 0; i < reef_world_stats(from).indices; i++)
        if (reef_is_alive(from, reef_entity_at(from, i))) assert_ok(reef_set_name(from, reef_entity_at(from, i), NULL));
    const uint64_t alive = reef_count_alive(w), more = reef_count_alive(from);
    assert_ok(reef_save_bytes(from, &bytes, NULL));
    load(aside, bytes);
    assert_ok(reef_merge(w, aside, NULL, &who));
    assert_valid(w);
    assert_int_equal(reef_count_alive(w), alive + more);
    uint32_t followed = 0, null = 0;
    for (uint32_t i = 0; i < reef_world_stats(from).indices; i++) {
        const reef_entity e = reef_entity_at(from, i), now = reef_merged_find(who, e);
        if (reef_entity_is_null(e)) continue;
        assert_true(reef_is_alive(w, now));
        const Beast *was = reef_get(from, e, Beast), *is = reef_get(w, now, Beast);
        assert_int_equal(is != NULL, was != NULL);
        if (was == NULL) continue;
        assert_int_equal(is->number, was->number);
        assert_entity(reef_merged_find(who, was->to), is->to);
        if (reef_is_alive(from, was->to)) followed++;
        else null++, assert_none(is->to);
    }
    assert_true(followed > 5 && null > 0);
    reef_merged_free(who);
    reef_bytes_free(&bytes);
}

/* ---- scenes: systems, events, clocks, what changed ---- */

static void scene_goes_on(void **state, const scene *s, uint32_t ticks)
{
    reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
    assert_true(scene_begin(s, w));
    assert_true(scene_begin(s, other));
    for (uint64_t t = 0; t < ticks; t++) assert_ok(scene_tick(s, w, t));
    reef_bytes bytes = saved(w, true);
    load(other, bytes);
    assert_same(w, other);
    /* what its values own isn't in the file, and decides how it goes on */
    const bool owns = strcmp(s->name, "owned") == 0;
    for (uint64_t t = ticks; t < ticks + 3 && !owns; t++) {
        assert_ok(scene_tick(s, w, t));
        assert_ok(scene_tick(s, other, t));
        if (reef_hash(w) != reef_hash(other)) print_error("scene %s, tick %u\n", s->name, (unsigned)t);
        assert_same(w, other);
    }
    reef_bytes_free(&bytes);
    end_world(state, w);
    end_world(state, other);
}

static void scenes_go_on_as_the_saved_ones(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        scene_goes_on(state, &scenes[i], 1);
        scene_goes_on(state, &scenes[i], 4);
    }
}

/* ---- differences ---- */

static void difference_applies(reef_world *before, reef_world *after, reef_world *target, bool sealed)
{
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_diff_bytes(before, after, &bytes, &(reef_save_desc){.raw = true, .sealed = sealed}));
    const reef_status s = reef_diff_apply(target, bytes.data, bytes.size);
    if (s != REEF_OK) print_error("%s\n", reef_last_error(target).detail);
    assert_status(REEF_OK, s);
    assert_valid(target);
    assert_same(after, target);
    reef_bytes_free(&bytes);
}

static void differences_lead_from_one_state_to_the_next(void **state)
{
    reef_world *w = world_of(state), *far = another_world(state, NULL);
    zoo_make(w, 3, 1500);
    reef_bytes bytes = saved(w, false);
    load(far, bytes);
    reef_bytes_free(&bytes);
    for (uint64_t round = 0; round < 6; round++) {
        reef_world *before = reef_fork(w), *near = reef_fork(w);
        zoo_steps(w, round, round % 3 == 2 ? 1000 : 60);
        difference_applies(before, w, near, round % 2);
        difference_applies(before, w, far, round % 2);
        difference_applies(w, before, near, round % 2);
        reef_world_free(before);
        reef_world_free(near);
    }
}

/* As often as anybody likes: versions don't grow by loading. */
static void a_hundred_loads_and_undos(void **state)
{
    reef_world *w = world_of(state);
    zoo_make(w, 4, 300);
    for (uint32_t i = 0; i < 100; i++) {
        reef_bytes bytes = saved(w, false), undo = {NULL, 0};
        reef_world *before = reef_fork(w);
        load(w, bytes);
        zoo_steps(w, i, 2);
        assert_ok(reef_diff_bytes(w, before, &undo, NULL));
        assert_ok(reef_diff_apply(w, undo.data, undo.size));
        assert_true(reef_hash(w) == reef_hash(before));
        reef_bytes_free(&bytes);
        reef_bytes_free(&undo);
        reef_world_free(before);
    }
    assert_true(reef_version(w) < 1 << 20);
}

typedef struct {
    uint32_t self, value;
} Mark; /* construct says whose it is, which is no field */
static reef_status mark_construct(void *context, reef_world *world, reef_entity e, void *slot, const void *args)
{
    (void)context, (void)world, (void)args;
    ((Mark *)slot)->self = e.index;
    return REEF_OK;
}
static const reef_hooks mark_hooks = {.construct = mark_construct},
                        trace_hooks = {.construct = mark_construct, .on_fork = REEF_FORK_RESET};
typedef Mark Trace;
REEF_COMPONENT_HOOKS(Mark, &mark_hooks);
REEF_FIELDS(Mark, value);
REEF_COMPONENT_HOOKS(Trace, &trace_hooks);

/* Rows change hands when others leave: what isn't in the file is made for who is there now. */
static void a_row_that_gets_another_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes bytes = {NULL, 0};
    reef_entity e[5];
    for (uint32_t i = 0; i < 5; i++) {
        e[i] = reef_create(w);
        assert_ok(reef_add(w, e[i], Mark));
        assert_ok(reef_add(w, e[i], Trace));
        reef_mut(w, e[i], Mark)->value = 7;
    }
    reef_world *before = reef_fork(w);
    assert_ok(reef_destroy(w, e[1]));
    assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
    assert_ok(reef_diff_apply(before, bytes.data, bytes.size));
    assert_true(reef_equal(before, w, NULL));
    for (uint32_t i = 0; i < 5; i++) {
        const Mark *m = reef_get(before, e[i], Mark);
        const Trace *t = reef_get(before, e[i], Trace);
        assert_int_equal(m != NULL && t != NULL, i != 1);
        if (m) assert_int_equal(m->self, e[i].index);
        if (m) assert_int_equal(m->value, 7);
        if (t) assert_int_equal(t->self, e[i].index);
    }
    reef_bytes_free(&bytes);
    reef_world_free(before);
}

/* ---- damage ---- */

/* The world is refused the file, and is as it was. */
static void refused(reef_world *w, const unsigned char *data, size_t size, uint64_t hash)
{
    const reef_status s = reef_load_bytes(w, data, size, NULL);
    if (s != REEF_CORRUPT && s != REEF_VERSION) print_error("%d\n", (int)s);
    assert_true(s == REEF_CORRUPT || s == REEF_VERSION);
    assert_true(reef_hash(w) == hash);
}

static reef_world *small_zoo(void **state, reef_bytes *bytes)
{
    reef_world *w = world_of(state);
    zoo_make(w, 11, 120);
    *bytes = saved(w, false);
    return w;
}

static void every_bit_counts(void **state)
{
    reef_bytes bytes;
    reef_world *w = small_zoo(state, &bytes);
    const uint64_t hash = reef_hash(w);
    unsigned char *data = bytes.data;
    for (size_t i = 0; i < bytes.size; i++) {
        const unsigned char was = data[i];
        data[i] = (unsigned char)(was ^ 1u << i % 8);
        refused(w, data, bytes.size, hash);
        data[i] = was;
    }
    assert_valid(w);
    reef_bytes_free(&bytes);
}

static void every_truncation_is_refused(void **state)
{
    reef_bytes bytes;
    reef_world *w = small_zoo(state, &bytes);
    const uint64_t hash = reef_hash(w);
    for (size_t n = 0; n < bytes.size; n++) refused(w, bytes.data, n, hash);
    assert_valid(w);
    reef_bytes_free(&bytes);
}

/* One change behind right sums: refused, or a sound world. */
static void survives(reef_world *w, const unsigned char *data, size_t size)
{
    const reef_status s = reef_load_bytes(w, data, size, NULL);
    if (s == REEF_OK) {
        assert_valid(w);
        (void)reef_hash(w);
        zoo_steps(w, 1, 20);
        assert_valid(w);
        return;
    }
    if (s != REEF_CORRUPT) print_message("%s: %s\n", reef_status_text(s), reef_last_error(w).detail);
    assert_true(s == REEF_CORRUPT || s == REEF_VERSION || s == REEF_LIMIT || s == REEF_NOT_PORTABLE ||
                s == REEF_NO_MEMORY);
}

static void files_that_lie_are_refused_or_sound(void **state)
{
    reef_bytes bytes;
    (void)small_zoo(state, &bytes);
    reef_world *w = another_world(state, NULL);
    unsigned char *copy = malloc(bytes.size);
    uint64_t seed = 5;
    assert_non_null(copy);
    for (size_t i = FILE_HEADER_BYTES; i < bytes.size; i++) {
        static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
        memcpy(copy, bytes.data, bytes.size);
        if (i % 3 == 0) copy[i] ^= (unsigned char)(1u << random_below(&seed, 8));
        else if (i % 3 == 1) copy[i] = values[random_below(&seed, 5)];
        else copy[i]++;
        repair(copy, bytes.size);
        survives(w, copy, bytes.size);
    }
    free(copy);
    reef_bytes_free(&bytes);
}

/* ---- programs that have changed ---- */

typedef struct {
    float a;
    int32_t gone;
    uint8_t small;
    int16_t list[3];
    char text[4];
    double wide;
} OldShape;
typedef struct {
    uint8_t wide;
    float a;
    int64_t small;
    int16_t list[5];
    char text[8];
    int32_t fresh;
} NewShape;
REEF_COMPONENT(OldShape);
REEF_FIELDS(OldShape, a, gone, small, list, text, wide);
REEF_COMPONENT(NewShape);
REEF_FIELDS(NewShape, wide, a, small, list, text, fresh);

static void fields_follow_their_names(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const OldShape old = {1.5f, 7, 200, {1, -2, 3}, "abc", 300.7};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(OldShape), REEF_VALUE_ONE, sizeof old, &old));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "OldShape", "NewShape");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    const NewShape *x = reef_get(other, e, NewShape);
    assert_non_null(x);
    assert_true(x->a >= 1.5f && x->a <= 1.5f);
    assert_int_equal(x->wide, 255); /* the nearest that fits */
    assert_int_equal(x->small, 200);
    assert_int_equal(x->list[1], -2);
    assert_int_equal(x->list[3], 0);
    assert_string_equal(x->text, "abc");
    assert_int_equal(x->fresh, 0);
    assert_string_equal(n.text,
                        "4 NewShape wide f64 to u8\n4 NewShape small u8 to i64\n4 NewShape list i16[3] to i16[5]\n"
                        "4 NewShape text text[4] to text[8]\n3 NewShape fresh\n2 NewShape gone\n");
    reef_bytes_free(&bytes);
}

static void arrays_that_got_shorter_keep_what_fits(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const NewShape old = {7, -2.5f, -9, {5, 6, 7, 8, 9}, "abcdefg", 4};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(NewShape), REEF_VALUE_ONE, sizeof old, &old));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "NewShape", "OldShape");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    const OldShape *x = reef_get(other, e, OldShape);
    assert_non_null(x);
    assert_int_equal(x->small, 0); /* the nearest to -9 */
    assert_int_equal(x->list[2], 7);
    assert_memory_equal(x->text, "abcd", 4);
    assert_true(x->wide >= 7 && x->wide <= 7);
    assert_int_equal(x->gone, 0);
    assert_int_equal(n.count[REEF_NOTE_FIELD_CONVERTED], 4);
    reef_bytes_free(&bytes);
}

/* A field that is in the file, as something that isn't a number, isn't said to be missing there. */
typedef struct {
    char label[8];
    reef_entity owner;
    int32_t count;
} KindWas;
typedef struct {
    int32_t label[2];
    uint64_t owner;
    char count[4];
} KindNow;
REEF_COMPONENT(KindWas);
REEF_FIELDS(KindWas, label, owner, count);
REEF_COMPONENT(KindNow);
REEF_FIELDS(KindNow, label, owner, count);

static void log_down(void *context, reef_log_level level, const char *message)
{
    notes *x = context;
    const size_t at = strlen(x->text);
    (void)level;
    (void)snprintf(x->text + at, sizeof x->text - at, "%s\n", message);
}

static void a_field_of_another_kind_is_told_with_both(void **state)
{
    notes n = {0}, logged = {0};
    reef_world *w = world_of(state),
               *other = another_world(state, &(reef_world_config){.log = log_down, .context = &logged});
    const KindWas old = {"abc", {1, 2}, 7};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(KindWas), REEF_VALUE_ONE, sizeof old, &old));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "KindWas", "KindNow");
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    const KindNow *x = reef_get(other, e, KindNow);
    assert_non_null(x);
    assert_true(x->label[0] == 0 && x->label[1] == 0 && x->owner == 0 && x->count[0] == 0);
    assert_int_equal(n.count[REEF_NOTE_FIELD_KIND], 3);
    assert_string_equal(n.text, "5 KindNow label text[8] to i32[2]\n5 KindNow owner entity to u64\n"
                                "5 KindNow count i32 to text[4]\n");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_non_null(strstr(logged.text, "loading: type KindNow, field label is text[8] in the file and i32[2] in the "
                                        "program: default values\n"));
    reef_bytes_free(&bytes);
}

/* A difference is refused, and says why. */
static void a_field_of_another_kind_in_a_difference_is_told_with_both(void **state)
{
    reef_world *w = world_of(state), *before = reef_fork(w);
    reef_bytes bytes = {NULL, 0};
    (void)reef_spawn(w, reef_value_make(reef_id(KindWas), REEF_VALUE_DEFAULT, 0, NULL));
    assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
    rename_type(bytes, "KindWas", "KindNow");
    assert_status(REEF_NOT_PORTABLE, reef_diff_apply(before, bytes.data, bytes.size));
    assert_string_equal(reef_last_error(before).detail,
                        "field label of type KindNow is text[8] in the difference and i32[2] in the program");
    reef_bytes_free(&bytes);
    reef_world_free(before);
}

static void sleeps(reef_block *b) { (void)b; }

static void systems_that_are_gone_are_told(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_system_desc kept = {.name = "kept", .function = sleeps, .text = "Spot"},
                           gone = {.name = "gone", .function = sleeps, .text = "Spot", .off = true};
    assert_false(reef_system_is_null(reef_system_new(w, &kept)));
    assert_false(reef_system_is_null(reef_system_new(w, &gone)));
    assert_false(reef_system_is_null(reef_system_new(other, &kept)));
    zoo_steps(w, 3, 20);
    assert_ok(reef_tick(w, 0.1f));
    reef_bytes bytes = saved(w, false);
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_string_equal(n.text, "7 gone -\n");
    assert_true(reef_hash(other) == reef_hash(w));
    reef_bytes_free(&bytes);
}

/* What such a system hadn't read, and the time that waits in such a phase, are parts of the state's hash. */
static void a_sealed_file_may_know_systems_that_are_gone(void **state)
{
    const reef_save_desc sealed = {.sealed = true};
    for (int phase = 0; phase < 2; phase++) {
        reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
        reef_bytes bytes;
        if (phase) {
            assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "late", .step_ns = 70000000}));
            assert_ok(reef_tick(w, 0.1f));
        } else {
            assert_false(reef_system_is_null(reef_system_add(w, "reads", sleeps, "; receives Season")));
            assert_ok(reef_post(w, Season, 3));
        }
        assert_some(reef_create(w));
        assert_ok(reef_save_bytes(w, &bytes, &sealed));
        load(other, bytes);
        assert_int_equal(reef_count_alive(other), 1);
        reef_bytes_free(&bytes);
    }
}

static void unknown_types_are_dropped_refused_or_declared(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const OldShape old = {1.5f, 7, 200, {1, -2, 3}, "abc", 300.7};
    const Hunger hunger = {1, 2};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(OldShape), REEF_VALUE_ONE, sizeof old, &old),
                                     reef_value_make(reef_id(Hunger), REEF_VALUE_ONE, sizeof hunger, &hunger));
    assert_some(reef_spawn(w, reef_value_make(reef_id(OldShape), REEF_VALUE_ONE, sizeof old, &old)));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "OldShape", "Unknown1");
    rename_type(bytes, "Hunger", "Hungar");
    notes n = {0};
    reef_load_desc desc = {.unknown = REEF_UNKNOWN_REFUSE, .note = note_down, .context = &n};
    assert_refused(other, REEF_UNKNOWN_TYPE, reef_load_bytes(other, bytes.data, bytes.size, &desc));
    desc.unknown = REEF_UNKNOWN_DROP;
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    assert_true(reef_is_alive(other, e));
    assert_int_equal(n.count[REEF_NOTE_TYPE_DROPPED], 2);
    assert_int_equal(n.rows, 3);
    assert_int_equal(reef_world_stats(other).entities, 2);
    assert_int_equal(reef_world_stats(other).values, 0);
    desc.unknown = REEF_UNKNOWN_DECLARE;
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    const OldShape *x = reef_get_id(other, e, reef_type_find("Unknown1"));
    const Hunger *y = reef_get_id(other, e, reef_type_find("Hungar"));
    assert_true(x && y);
    assert_int_equal(x->gone, 7);
    assert_int_equal(y->most, 2);
    reef_bytes_free(&bytes);
}

typedef struct {
    int32_t n;
} Counted;
REEF_COMPONENT(Counted);
REEF_FIELDS(Counted, n);
REEF_TAG(Losing1);
REEF_TAG(Losing2);
REEF_SWITCH(Lit);

/* Tables that lose types may have the same types afterwards. Each keeps its own rows, with their bits, until all is
 * read. */
static void tables_that_lose_types_keep_their_rows_apart(void **state)
{
    enum { COUNT = 90 };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        assert_some(e[i] = reef_spawn(w, reef_with(Counted, i)));
        if (i % 3 == 1) assert_ok(reef_add(w, e[i], Losing1));
        if (i % 3 == 2) assert_ok(reef_add(w, e[i], Losing2));
        if (i % 5 == 0) assert_ok(reef_add(w, e[i], Lit));
        if (i % 7 == 0) assert_ok(reef_disable(w, e[i], Counted));
    }
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "Losing1", "Losinga");
    rename_type(bytes, "Losing2", "Losingb");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &(reef_load_desc){.unknown = REEF_UNKNOWN_DROP}));
    assert_valid(other);
    assert_int_equal(reef_count(other, Counted), COUNT);
    for (int32_t i = 0; i < COUNT; i++) {
        assert_int_equal(reef_get(other, e[i], Counted)->n, i);
        assert_true(reef_has(other, e[i], Lit) == (i % 5 == 0));
        assert_true(reef_is_enabled(other, e[i], Counted) == (i % 7 != 0));
    }
    reef_bytes_free(&bytes);
}

typedef struct {
    char of[4096];
} Boulder;
REEF_COMPONENT_IN(Boulder, REEF_SPARSE);

/* A page has room for a few of them. Where the last value of a store goes, nothing is written to its page. */
static void the_last_pages_of_a_store_go(void **state)
{
    enum { COUNT = 40 };
    const reef_save_desc raw = {.raw = true};
    reef_world *w = world_of(state);
    reef_entity e[COUNT];
    for (int i = 0; i < COUNT; i++) e[i] = reef_spawn(w, reef_with(Boulder, {(char)i}));
    for (int left = COUNT; left > 0; left -= 13) {
        reef_world *before = reef_fork(w);
        reef_bytes there = {NULL, 0}, back = {NULL, 0};
        for (int i = left; i-- > 0 && i >= left - 13;) assert_status(REEF_OK, reef_remove(w, e[i], Boulder));
        assert_ok(reef_diff_bytes(before, w, &there, &raw));
        assert_ok(reef_diff_bytes(w, before, &back, &raw));
        for (int round = 0; round < 2; round++) {
            assert_ok(reef_diff_apply(before, there.data, there.size));
            assert_same(w, before);
            assert_valid(before);
            assert_ok(reef_diff_apply(before, back.data, back.size));
            assert_non_null(reef_get(before, e[left > 13 ? left - 13 : 0], Boulder));
            assert_valid(before);
        }
        reef_bytes_free(&there);
        reef_bytes_free(&back);
        reef_world_free(before);
    }
}

static reef_component value_in(reef_home home)
{
    char name[32];
    reef_status status;
    const reef_field field = {.name = "value", .kind = REEF_I32, .bytes = 4};
    (void)snprintf(name, sizeof name, "value_in_%d", (int)home);
    const reef_type_desc d = {.name = name, .size = 4, .align = 4, .home = home, .fields = &field, .field_count = 1};
    const reef_component c = reef_type_new(&d, &status);
    assert_ok(status);
    return c;
}

static void home_changes(void **state, reef_home from, reef_home to)
{
    reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
    const reef_component was = value_in(from), is = value_in(to);
    for (int32_t i = 0; i < 40; i++) {
        const reef_entity e = reef_create(w);
        if (i % 3) assert_status(REEF_ADDED, reef_set_id(w, e, was, &i, sizeof i));
        if (i % 3 && i % 5 == 1 && from != REEF_COLD) assert_ok(reef_enable_id(w, e, was, false));
        if (i % 4 == 0) assert_ok(reef_add(w, e, Frozen));
    }
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, reef_type_name(was), reef_type_name(is));
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    const reef_status s = reef_load_bytes(other, bytes.data, bytes.size, &desc);
    if (s != REEF_OK) print_error("%d to %d: %s\n", (int)from, (int)to, reef_last_error(other).detail);
    assert_status(REEF_OK, s);
    assert_valid(other);
    for (int32_t i = 0; i < 40; i++) {
        const reef_entity e = reef_entity_at(other, (uint32_t)i);
        int32_t value, *x = reef_read_id(other, e, is, &value, sizeof value) ? &value : NULL;
        assert_int_equal(x != NULL, i % 3 != 0);
        assert_int_equal(reef_has(other, e, Frozen), i % 4 == 0);
        if (x) assert_int_equal(*x, i);
        if (x && from != REEF_COLD && to != REEF_COLD)
            assert_int_equal(reef_is_enabled_id(other, e, is), reef_is_enabled_id(w, e, was));
    }
    const bool same =
        from == to || (from == REEF_TABLE && to == REEF_SPLIT) || (from == REEF_SPLIT && to == REEF_TABLE);
    assert_int_equal(n.count[REEF_NOTE_HOME_CHANGED], same ? 0 : 1);
    reef_bytes_free(&bytes);
    end_world(state, w);
    end_world(state, other);
}

static void types_may_change_their_homes(void **state)
{
    for (int from = REEF_TABLE; from <= REEF_SPLIT; from++)
        for (int to = REEF_TABLE; to <= REEF_SPLIT; to++)
            if (from != REEF_BIT && to != REEF_BIT) home_changes(state, (reef_home)from, (reef_home)to);
}

/* A type that records for each row when it changed, and didn't when the file was written. */
static void a_type_becomes_tracked_while_another_changes_its_home(void **state)
{
    static const reef_hooks tracked = {.track_rows = true};
    const reef_field field = {.name = "n", .kind = REEF_I32, .bytes = 4};
    reef_type_desc d = {.name = "SeenWas", .size = 4, .align = 4, .fields = &field, .field_count = 1};
    const reef_component seen_was = reef_type_new(&d, NULL);
    d.name = "SeenNow", d.hooks = &tracked;
    const reef_component seen_now = reef_type_new(&d, NULL);
    const reef_component was = value_in(REEF_SPARSE), is = value_in(REEF_TABLE);
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (int32_t i = 0; i < 10; i++) {
        const reef_entity e = reef_create(w);
        assert_status(REEF_ADDED, reef_set_id(w, e, seen_was, &i, sizeof i));
        if (i % 2) assert_status(REEF_ADDED, reef_set_id(w, e, was, &i, sizeof i));
    }
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "SeenWas", "SeenNow");
    rename_type(bytes, reef_type_name(was), reef_type_name(is));
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    for (uint32_t i = 0; i < 10; i++) {
        const reef_entity e = reef_entity_at(other, i);
        assert_true(reef_added_since_id(other, e, seen_now, 0));
        assert_int_equal(*(const int32_t *)reef_get_id(other, e, seen_now), i);
        assert_int_equal(reef_has_id(other, e, is), i % 2);
    }
    assert_int_equal(n.count[REEF_NOTE_HOME_CHANGED], 1);
    reef_bytes_free(&bytes);
}

/* What a type requires comes when it is added, not when a file is loaded, in whichever home. */
static void a_value_that_moves_home_brings_nothing_along(void **state)
{
    const reef_field field = {.name = "n", .kind = REEF_I32, .bytes = 4};
    const reef_component along[] = {reef_id(Frozen), value_in(REEF_PAGED)};
    reef_type_desc d = {
        .name = "AloneWas", .size = 4, .align = 4, .home = REEF_SPARSE, .fields = &field, .field_count = 1};
    const reef_component was = reef_type_new(&d, NULL);
    d.name = "AloneNow", d.home = REEF_TABLE, d.required = along, d.required_count = 2;
    const reef_component is = reef_type_new(&d, NULL);
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (int32_t i = 0; i < 12; i++) {
        const reef_entity e = reef_create(w);
        assert_status(REEF_ADDED, reef_set_id(w, e, was, &i, sizeof i));
        if (i % 2) assert_ok(reef_add(w, e, Frozen));
        if (i % 3 == 0) assert_status(REEF_ADDED, reef_set_id(w, e, along[1], &i, sizeof i));
    }
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "AloneWas", "AloneNow");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    for (uint32_t i = 0; i < 12; i++) {
        const reef_entity e = reef_entity_at(other, i);
        assert_int_equal(*(const int32_t *)reef_get_id(other, e, is), i);
        assert_int_equal(reef_has(other, e, Frozen), i % 2);
        assert_int_equal(reef_has_id(other, e, along[1]), i % 3 == 0);
    }
    reef_bytes_free(&bytes);
}

static void what_the_config_forbids_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_world *small = another_world(state, &(reef_world_config){.entities_max = 10}),
               *strict = another_world(state, &(reef_world_config){.strict = true});
    for (int i = 0; i < 11; i++) assert_some(reef_create(w));
    reef_bytes bytes = saved(w, false);
    assert_refused(small, REEF_LIMIT, reef_load_bytes(small, bytes.data, bytes.size, NULL));
    assert_ok(reef_load_bytes(strict, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    const reef_save_desc raw = {.raw = true};
    assert_ok(reef_save_bytes(w, &bytes, &raw));
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(strict, bytes.data, bytes.size, &desc));
    assert_int_equal(n.count[REEF_NOTE_TYPE_DROPPED], 1);
    reef_bytes_free(&bytes);
}

/* ---- what changed ---- */

/* Systems that look at what changed, now and then, in a world and in its replica, which gets each change as a
 * difference. */
enum { WATCHED = 9, SEEN_MOST = 40000 };
static uint32_t seen[2][SEEN_MOST], seen_count[2], seen_by;

static void watcher(reef_block *b)
{
    const uint64_t *mask = reef_block_mask(b);
    for (uint32_t i = 0; i < b->count; i++) {
        if (mask && !(mask[i / 64] >> i % 64 & 1)) continue;
        assert_true(seen_count[seen_by] < SEEN_MOST);
        seen[seen_by][seen_count[seen_by]++] = b->entities[i].index * WATCHED + (uint32_t)(uintptr_t)b->context;
    }
}

static void watchers_add(reef_world *w, reef_system_id *id)
{
    static const char *const text[WATCHED] = {"in changed Spot",  "in changed Beast",  "in changed Hunger",
                                              "in changed Scent", "in changed Grudge", "in changed Herd",
                                              "in changed Track", "in changed Age",    "in added Age"};
    char name[16];
    for (uint32_t i = 0; i < WATCHED; i++) {
        (void)snprintf(name, sizeof name, "watcher%u", (unsigned)i);
        id[i] = reef_system_new(
            w,
            &(reef_system_desc){.name = name, .function = watcher, .text = text[i], .context = (void *)(uintptr_t)i});
        if (reef_system_is_null(id[i])) fail_msg("%s: %s", text[i], reef_last_error(w).detail);
    }
}

/* Each watcher runs when its turn comes, in both. */
static void watchers_run(reef_world *w, reef_world *replica, const reef_system_id *id, const reef_system_id *other,
                         uint32_t round)
{
    for (uint32_t i = 0; i < WATCHED; i++) {
        const bool on = round % (2 + i % 3) == 0;
        if (reef_system_is_enabled(w, id[i]) != on) assert_ok(reef_system_enable(w, id[i], on));
        if (reef_system_is_enabled(replica, other[i]) != on) assert_ok(reef_system_enable(replica, other[i], on));
    }
    for (seen_by = 0; seen_by < 2; seen_by++) {
        seen_count[seen_by] = 0;
        assert_ok(reef_tick(seen_by ? replica : w, 0.25f));
    }
    for (uint32_t i = 0; i < seen_count[0] || i < seen_count[1]; i++) {
        const uint32_t a = i < seen_count[0] ? seen[0][i] : UINT32_MAX, b = i < seen_count[1] ? seen[1][i] : UINT32_MAX;
        if (a != b)
            fail_msg("round %u: watcher %u saw entity %u, that of the replica %u saw %u", (unsigned)round,
                     (unsigned)(a % WATCHED), (unsigned)(a / WATCHED), (unsigned)(b % WATCHED),
                     (unsigned)(b / WATCHED));
    }
}

static void a_replica_sees_the_same_changes(void **state)
{
    reef_world *w = world_of(state), *replica = another_world(state, NULL);
    reef_system_id id[WATCHED], other[WATCHED];
    watchers_add(w, id);
    watchers_add(replica, other);
    for (uint32_t round = 0; round < 40; round++) {
        reef_bytes bytes = {NULL, 0};
        reef_world *before = reef_fork(w);
        zoo_steps(w, round, round == 0 ? 3000 : round % 4 ? 3 : 0);
        assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
        assert_ok(reef_diff_apply(replica, bytes.data, bytes.size));
        reef_bytes_free(&bytes);
        reef_world_free(before);
        watchers_run(w, replica, id, other, round);
    }
}

enum { MANY = 2500 };

static uint32_t seen_of(uint32_t watcher_number, reef_entity e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < seen_count[0]; i++) {
        if (seen[0][i] % WATCHED != watcher_number) continue;
        n += e.generation == 0 || seen[0][i] / WATCHED == e.index;
    }
    return n;
}

/* Types whose values come as a whole when one of them changes. Which of them lie on one page, and so count as
 * changed together, isn't as in the original; but a page it is, and not all. */
static void a_replica_sees_few_changes_of_values_that_come_as_a_whole(void **state)
{
    reef_world *w = world_of(state), *replica = another_world(state, NULL);
    reef_system_id id[WATCHED];
    const reef_entity any = {0, 0};
    watchers_add(replica, id);
    seen_by = 0;
    for (uint32_t round = 0; round < 8; round++) {
        reef_bytes bytes = {NULL, 0};
        reef_world *before = reef_fork(w);
        for (uint32_t i = 0; i < (round ? 0 : MANY); i++) {
            const reef_entity e = reef_create(w);
            for (int32_t k = 0; k < 3; k++)
                assert_non_null(reef_append_id(w, e, reef_id(Grudge), &(Grudge){k, e}, sizeof(Grudge)));
            assert_status(REEF_ADDED, reef_set(w, e, Herd, i / 2));
        }
        const reef_entity some = reef_entity_at(w, round * 97 + 5), last = reef_entity_at(w, MANY - 1 - round);
        uint32_t n;
        if (round % 3 == 1) ((Grudge *)reef_mut_all_id(w, some, reef_id(Grudge), &n))[1].level = 9;
        if (round % 3 == 2) assert_ok(reef_set(w, some, Herd, 1000000));
        if (round == 3) assert_ok(reef_remove(w, last, Grudge));
        if (round == 6) assert_ok(reef_remove(w, last, Herd));
        assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
        assert_ok(reef_diff_apply(replica, bytes.data, bytes.size));
        assert_same(w, replica);
        reef_bytes_free(&bytes);
        reef_world_free(before);
        seen_count[0] = 0;
        assert_ok(reef_tick(replica, 0.25f));
        if (round == 0) {
            assert_int_equal(seen_of(4, any), MANY);
            assert_int_equal(seen_of(5, any), MANY);
            continue;
        }
        if (round % 3 == 1) assert_int_equal(seen_of(4, some), 1);
        if (round % 3 == 2) assert_int_equal(seen_of(5, some), 1);
        assert_in_range(seen_of(4, any), round % 3 == 1, round % 3 == 2 ? 0 : MANY / 2);
        assert_in_range(seen_of(5, any), round % 3 == 2, round % 3 == 1 ? 0 : MANY / 2);
    }
}

/* ---- calls ---- */

static bool stop(void *context, uint64_t done, uint64_t all)
{
    assert_true(done <= all);
    return ++*(uint32_t *)context < 3;
}

static reef_status read_some(void *context, void *to, size_t count, size_t *got)
{
    reef_bytes *b = context;
    *got = count < b->size ? count : b->size;
    memcpy(to, b->data, *got);
    b->data = (char *)b->data + *got;
    b->size -= *got;
    return REEF_OK;
}

static reef_status read_never(void *context, void *to, size_t count, size_t *got)
{
    (void)context, (void)to, (void)count;
    *got = 0;
    return REEF_IO;
}

static void streams_progress_and_locks(void **state)
{
    reef_bytes bytes;
    reef_world *w = small_zoo(state, &bytes), *other = another_world(state, NULL);
    reef_bytes rest = bytes;
    assert_ok(reef_load_from(other, (reef_reader){read_some, &rest}, NULL));
    assert_same(w, other);
    assert_refused(other, REEF_IO, reef_load_from(other, (reef_reader){read_never, NULL}, NULL));
    uint32_t calls = 0;
    const reef_load_desc desc = {.progress = stop, .context = &calls};
    assert_refused(other, REEF_CANCELLED, reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_int_equal(calls, 3);
    assert_refused(other, REEF_BAD_ARGUMENT, reef_load_from(other, (reef_reader){NULL, NULL}, NULL));
    assert_refused(other, REEF_BAD_ARGUMENT, reef_load(other, NULL, NULL));
    assert_refused(other, REEF_CORRUPT, reef_load_bytes(other, NULL, 0, NULL));
    assert_refused(other, REEF_CORRUPT, reef_diff_apply(other, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
}

static void a_sealed_difference_knows_its_state(void **state)
{
    reef_world *w = world_of(state);
    zoo_make(w, 4, 300);
    reef_world *before = reef_fork(w), *third = reef_fork(w);
    zoo_steps(w, 9, 50);
    zoo_steps(third, 10, 50);
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_refused(third, REEF_OTHER_STATE, reef_diff_apply(third, bytes.data, bytes.size));
    assert_ok(reef_diff_apply(before, bytes.data, bytes.size));
    assert_same(before, w);
    reef_bytes_free(&bytes);
    reef_world_free(before);
    reef_world_free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_world_comes_back),
        TEST(every_home_comes_back_and_goes_on),
        TEST(many_rows_in_many_chunks),
        TEST(F10_C7_a_reserved_range_comes_back),
        TEST(what_a_query_selects_comes_back),
        TEST(a_file_is_added_to_a_world),
        TEST(differences_lead_from_one_state_to_the_next),
        TEST(a_hundred_loads_and_undos),
        TEST(a_row_that_gets_another_entity),
        TEST(scenes_go_on_as_the_saved_ones),
        TEST(arrays_that_got_shorter_keep_what_fits),
        TEST(a_field_of_another_kind_is_told_with_both),
        TEST(a_field_of_another_kind_in_a_difference_is_told_with_both),
        TEST(systems_that_are_gone_are_told),
        TEST(a_sealed_file_may_know_systems_that_are_gone),
        TEST(fields_follow_their_names),
        TEST(unknown_types_are_dropped_refused_or_declared),
        TEST(tables_that_lose_types_keep_their_rows_apart),
        TEST(types_may_change_their_homes),
        TEST(a_type_becomes_tracked_while_another_changes_its_home),
        TEST(a_value_that_moves_home_brings_nothing_along),
        TEST(the_last_pages_of_a_store_go),
        TEST(what_the_config_forbids_is_refused),
        TEST(streams_progress_and_locks),
        TEST(a_sealed_difference_knows_its_state),
        TEST(every_bit_counts),
        TEST(every_truncation_is_refused),
        TEST(files_that_lie_are_refused_or_sound),
        TEST(a_replica_sees_the_same_changes),
        TEST(a_replica_sees_few_changes_of_values_that_come_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
