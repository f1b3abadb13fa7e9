/* Types that are split by field (C1): a column for each field, in every call that takes or gives a value, in
 * queries, systems, forks. */
#include "support.h"

typedef struct Spot {
    float x, y;
    int32_t layer;
} Spot;
typedef struct Weight {
    float kilos;
} Weight;
typedef struct Mixed { /* fields of every size, and padding */
    uint8_t a;
    uint64_t b;
    float c[3];
    reef_entity d;
} Mixed;
REEF_COMPONENT_IN(Spot, REEF_SPLIT);
REEF_FIELDS(Spot, x, y, layer);
REEF_COMPONENT(Weight);
REEF_COMPONENT_IN(Mixed, REEF_SPLIT);
REEF_FIELDS(Mixed, a, b, c, d);
REEF_TAG(Red);

static void assert_spot_at(const reef_world *w, reef_entity e, float x, float y, int32_t layer, int line)
{
    Spot s = {-99, -99, -99};
    const bool there = reef_read(w, e, Spot, &s);
    if (!there || s.x != x || s.y != y || s.layer != layer)
        fail_msg("line %d: (%g, %g, %d), %s, instead of (%g, %g, %d)", line, (double)s.x, (double)s.y, (int)s.layer,
                 there ? "there" : "absent", (double)x, (double)y, (int)layer);
}
#define assert_spot(w, e, x, y, layer) assert_spot_at(w, e, x, y, layer, __LINE__)

static void values_are_spread_and_gathered(void **state)
{
    reef_world *w = world_of(state);
    Spot s;
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set(w, e, Spot, 1, 2, 3));
    assert_spot(w, e, 1, 2, 3);
    assert_status(REEF_OK, reef_set(w, e, Spot, 4, 5, 6));
    assert_spot(w, e, 4, 5, 6);
    assert_status(REEF_EXISTS, reef_add(w, e, Spot));
    assert_ok(reef_add(w, e, Weight));
    assert_spot(w, e, 4, 5, 6);
    assert_ok(reef_remove(w, e, Spot));
    assert_false(reef_read(w, e, Spot, &s));
    assert_false(reef_has(w, e, Spot));
    assert_status(REEF_ABSENT, reef_remove(w, e, Spot));
    assert_ok(reef_add(w, e, Spot));
    assert_spot(w, e, 0, 0, 0);
    assert_ok(reef_change(w, e, reef_with(Spot, 7, 8, 9), reef_without(Weight), reef_tag(Red)));
    assert_spot(w, e, 7, 8, 9);
    assert_true(reef_has(w, e, Red) && !reef_has(w, e, Weight));
    assert_ok(reef_change(w, e, reef_without(Spot)));
    assert_false(reef_has(w, e, Spot));
    assert_int_equal(reef_count(w, Spot), 0);
}

static void there_is_no_struct_to_point_to(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Spot, 1, 2, 3));
    assert_null(reef_get(w, e, Spot));
    assert_null(reef_mut(w, e, Spot));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_null(reef_ensure(w, e, Spot));
    assert_true(reef_has(w, e, Spot));
    const float *x = reef_get_id(w, e, reef_column_of(reef_id(Spot), "x"));
    assert_true(x && *x == 1);
    *(int32_t *)reef_mut_id(w, e, reef_column_of(reef_id(Spot), "layer")) = 30;
    assert_spot(w, e, 1, 2, 30);
    assert_int_equal(reef_column_of(reef_id(Spot), "z").id, 0);
    assert_int_equal(reef_column_of(reef_id(Weight), "kilos").id, 0);
}

static void parts_come_and_go_with_their_type(void **state)
{
    reef_world *w = world_of(state);
    const reef_component x = reef_column_of(reef_id(Spot), "x");
    const float one = 1;
    reef_entity e = reef_spawn(w, reef_with(Spot, 1, 2, 3)), f = reef_create(w);
    assert_status(REEF_BAD_ARGUMENT, reef_remove_id(w, e, x));
    assert_status(REEF_BAD_ARGUMENT, reef_add_id(w, f, x, NULL, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_set_id(w, f, x, &one, sizeof one));
    assert_status(REEF_BAD_ARGUMENT, reef_change_values(w, e, &(reef_value){x, REEF_VALUE_REMOVE, 0, NULL}, 1));
    assert_none(reef_spawn_values(w, &(reef_value){x, REEF_VALUE_DEFAULT, 0, NULL}, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_enable_id(w, e, x, false));
    assert_status(REEF_BAD_ARGUMENT, reef_enable_where_id(w, reef_query_new(w, "Spot"), x, false, NULL));
    assert_true(reef_is_enabled_id(w, e, x));
    assert_status(REEF_BAD_ARGUMENT, remove_everywhere(w, x, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_remove_where_id(w, reef_query_new(w, "Spot"), x, NULL));
    assert_spot(w, e, 1, 2, 3);
    assert_string_equal(reef_type_name(x), "Spot.x");
    assert_ok(reef_remove_all(w, e));
    assert_false(reef_has_id(w, e, x));
}

static void many_at_once(void **state)
{
    enum { N = 3000 };
    static Spot spots[N], back[N];
    static reef_entity e[N];
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < N; i++) spots[i] = (Spot){(float)i, (float)(2 * i), 3 * i};
    assert_ok(reef_spawn_many(w, N, e, reef_array(Spot, spots), reef_with(Weight, 5)));
    assert_int_equal(reef_get_many(w, Spot, e, N, back), N);
    assert_memory_equal(spots, back, sizeof spots);
    for (int32_t i = 0; i < N; i++) back[i].y = -1;
    assert_int_equal(reef_write_many(w, Spot, e, N, back), N);
    assert_spot(w, e[2999], 2999, -1, 3 * 2999);
    reef_entity copy = reef_clone(w, e[17]);
    assert_spot(w, copy, 17, -1, 51);
    reef_bundle *b = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Weight), 0}, {reef_id(Spot), sizeof(Weight)}}, 2);
    struct {
        Weight m;
        Spot s;
    } packed = {{1}, {2, 3, 4}};
    for (int i = 0; i < 3; i++) assert_spot(w, reef_spawn_bundle(w, b, &packed), 2, 3, 4);
    reef_query q = reef_query_new(w, "with Weight");
    assert_ok(reef_set_where(w, q, Spot, 9, 8, 7));
    assert_spot(w, e[1234], 9, 8, 7);
    assert_ok(reef_remove_where(w, q, Spot));
    assert_int_equal(reef_count(w, Spot), 0);
    assert_ok(reef_add_where(w, q, Spot));
    assert_spot(w, e[1234], 0, 0, 0);
    assert_int_equal(reef_count(w, Spot), N + 4);
    assert_ok(remove_everywhere(w, reef_id(Spot), NULL));
    assert_int_equal(reef_count_id(w, reef_column_of(reef_id(Spot), "y")), 0);
}

static void structs_with_padding_and_arrays(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    const Mixed m = {.a = 1, .b = 1ull << 40, .c = {1, 2, 3}, .d = e};
    Mixed got;
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Mixed), &m, sizeof m));
    assert_true(reef_read(w, e, Mixed, &got));
    assert_true(got.a == 1 && got.b == m.b && memcmp(got.c, m.c, sizeof m.c) == 0 && reef_entity_equal(got.d, e));
    for (reef_block b = reef_begin_text(w, "in Mixed"); reef_next(&b);) {
        assert_true(reef_in_field(&b, Mixed, a)[0] == 1 && reef_in_field(&b, Mixed, c)[0][2] == 3);
        assert_entity(e, reef_in_field(&b, Mixed, d)[0]);
    }
}

/* ---- queries ---- */

static void a_term_covers_all_fields_or_one(void **state)
{
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < 100; i++) reef_spawn(w, reef_with(Spot, (float)i, 1, i));
    for (reef_block b = reef_begin_text(w, "Spot"); reef_next(&b);) {
        float *x = reef_inout_field(&b, Spot, x);
        const float *y = reef_in_field(&b, Spot, y);
        assert_null(reef_in(&b, Spot));
        for (uint32_t i = 0; i < b.count; i++) x[i] += y[i];
    }
    float sum = 0;
    for (reef_block b = reef_begin_text(w, "in Spot.x"); reef_next(&b);) {
        const float *x = reef_in_field(&b, Spot, x);
        assert_null(reef_in_field(&b, Spot, y));
        assert_null(reef_inout_field(&b, Spot, x));
        for (uint32_t i = 0; i < b.count; i++) sum += x[i];
    }
    assert_true(sum == 5050);
    assert_true(reef_query_is_null(reef_query_new(w, "Spot, in Spot.x")));
    assert_int_equal(reef_last_error(w).status, REEF_DUPLICATE_TERM);
}

/* p[i] never has the wrong stride: of a struct that isn't split there is no array of a field, but of one that is the
 * whole. */
static void other_homes_have_no_array_of_a_field(void **state)
{
    reef_world *w = world_of(state);
    reef_spawn(w, reef_with(Position, 1, 2), reef_with(Weight, 3));
    for (reef_block b = reef_begin_text(w, "in Position, Weight"); reef_next(&b);) {
        assert_null(reef_in_field(&b, Position, x));
        assert_true(reef_inout_field(&b, Weight, kilos)[0] == 3);
    }
}

static uint64_t matches(reef_world *w, const char *text)
{
    uint64_t n = 0;
    reef_query q = reef_query_new(w, text);
    if (reef_query_is_null(q)) fail_msg("%s: %s", text, reef_last_error(w).detail);
    n = reef_query_count(w, q);
    assert_ok(reef_query_free(w, q));
    return n;
}

static void queries_of_every_kind(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_spawn(w, reef_with(Spot, 1, 2, 3)), b = reef_spawn(w, reef_with(Spot, 1, 2, 3), reef_tag(Red));
    reef_spawn(w, reef_with(Weight, 1));
    reef_spawn(w, reef_with(Weight, 1), reef_tag(Red));
    assert_int_equal(matches(w, "Spot"), 2);
    assert_int_equal(matches(w, "with Spot, Red"), 1);
    assert_int_equal(matches(w, "!Spot"), 2);
    assert_int_equal(matches(w, "in Spot | in Weight"), 4);
    assert_int_equal(matches(w, "?Spot, with Red"), 2);
    assert_int_equal(matches(w, "!(Spot | Red)"), 1);
    assert_int_equal(matches(w, "Spot, !(Red, Weight)"), 2);
    assert_ok(reef_disable(w, a, Spot));
    assert_int_equal(matches(w, "Spot"), 1);
    assert_int_equal(matches(w, "disabled Spot"), 1);
    assert_int_equal(matches(w, "either Spot"), 2);
    assert_spot(w, a, 1, 2, 3);
    assert_ok(reef_remove(w, a, Spot));
    assert_ok(reef_add(w, a, Spot));
    assert_int_equal(matches(w, "Spot"), 2); /* the mark went with it */
    for (reef_block k = reef_begin_text(w, "in Spot | in Weight"); reef_next(&k);)
        assert_true((reef_in_field(&k, Spot, x) != NULL) == reef_has(w, k.entities[0], Spot));
    char text[256];
    reef_query q = reef_query_new(w, "in Spot, Red");
    reef_query_text(w, q, text, sizeof text);
    assert_string_equal(text, "with Spot, in Spot.x, in Spot.y, in Spot.layer, Red");
    assert_int_equal(matches(w, text), 1);
    assert_true(reef_query_count(w, q) == 1 && reef_has(w, b, Spot));
}

static void changes_are_seen_by_field(void **state)
{
    reef_world *w = world_of(state);
    reef_spawn(w, reef_with(Spot, 1, 2, 3));
    reef_query any = reef_query_new(w, "changed in Spot"), x = reef_query_new(w, "changed in Spot.x"),
               not = reef_query_new(w, "!changed Spot");
    for (int round = 0; round < 2; round++) {
        uint32_t n[3] = {0};
        for (reef_block b = reef_begin(w, any); reef_next(&b);) n[0] += b.count;
        for (reef_block b = reef_begin(w, x); reef_next(&b);) n[1] += b.count;
        for (reef_block b = reef_begin(w, not ); reef_next(&b);) n[2] += b.count;
        assert_true(n[0] == 1 && n[1] == (round == 0) && n[2] == 0);
        for (reef_block b = reef_begin_text(w, "Spot.y"); reef_next(&b);) reef_inout_field(&b, Spot, y)[0] = 5;
    }
}

typedef struct told {
    uint32_t adds, sets, removes;
    float old;
} told;
static void tell(const reef_notice *n)
{
    told *t = n->context;
    if (n->kind == REEF_ON_ADD) t->adds += n->count;
    if (n->kind == REEF_ON_SET) t->sets += n->count;
    if (n->kind == REEF_ON_REMOVE) t->removes += n->count;
    const Spot *old = reef_notice_old(n, n->count - 1);
    if (old) t->old = old->y;
}

static void observers_get_structs(void **state)
{
    reef_world *w = world_of(state);
    told t = {0};
    assert_false(reef_observer_is_null(
        reef_observer_new(w, &(reef_observer_desc){.name = "tell",
                                                   .function = tell,
                                                   .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                                   .component = reef_id(Spot),
                                                   .context = &t})));
    reef_entity e = reef_spawn(w, reef_with(Spot, 1, 2, 3)), f = reef_create(w);
    reef_set(w, f, Spot, 1, 20, 3);
    assert_true(t.adds == 2 && t.sets == 0);
    reef_set(w, e, Spot, 4, 5, 6);
    assert_true(t.sets == 1 && t.old == 2);
    assert_ok(reef_set_where(w, reef_query_new(w, "with Spot"), Spot, 7, 8, 9));
    assert_true(t.sets == 3 && t.old == 20);
    assert_ok(reef_remove(w, e, Spot));
    assert_true(t.removes == 1 && t.old == 8);
    assert_spot(w, f, 7, 8, 9);
}

static void deferred_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Weight, 1)), made[2] = {{0, 0}, {0, 0}};
    for (reef_block b = reef_begin_loop(w, reef_query_new(w, "Weight"), &(reef_loop){.deferred = true});
         reef_next(&b);) {
        reef_set(w, e, Spot, 1, 2, 3);
        for (int i = 0; i < 2; i++) made[i] = reef_spawn(w, reef_with(Spot, 4, 5, (int32_t)i), reef_with(Weight, 2));
        reef_change(w, made[1], reef_with(Spot, 6, 7, 8), reef_without(Weight));
    }
    assert_spot(w, e, 1, 2, 3);
    assert_spot(w, made[0], 4, 5, 0);
    assert_spot(w, made[1], 6, 7, 8);
    assert_false(reef_has(w, made[1], Weight));
}

static uint64_t key_of_spot(const void *value) { return reef_key_f32(((const Spot *)value)->x); }

/* By a field's name as by the field's type; a struct to make a key of lies nowhere. */
static void orders_name_fields(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 50; i++) assert_some(reef_spawn(w, reef_with(Spot, (float)(i * 37 % 50), (float)i, i * 7 % 5)));
    const reef_order by_key = {.component = reef_id(Spot), .key = key_of_spot},
                     by_x = {.component = reef_id(Spot), .field = "x"};
    const reef_order by_layer = {.component = reef_id(Spot), .field = "layer", .descending = true},
                     by_none = {.component = reef_id(Spot), .field = "z"};
    const reef_query q = reef_query_new(w, "with Spot");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.order = by_key}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &by_key));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.order = by_none}));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = by_x}));
    float last = -1;
    for (reef_block b = reef_begin_text(w, "in Spot.x"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            assert_true(reef_in_field(&b, Spot, x)[i] > last);
            last = reef_in_field(&b, Spot, x)[i];
        }
    assert_ok(reef_query_order(w, q, &by_layer));
    int32_t layer = 9;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            Spot s;
            assert_true(reef_read(w, b.entities[i], Spot, &s));
            assert_true(s.layer <= layer);
            layer = s.layer;
        }
    assert_int_equal(layer, 0);
}

static void sets_orders_and_strict_worlds(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.strict = true});
    assert_none(reef_spawn(w, reef_with(Spot, 1, 2, 3)));
    assert_true(reef_query_is_null(reef_query_new(w, "Spot.x")));
    assert_ok(reef_use(w, Spot));
    assert_ok(reef_use(w, Weight));
    assert_ok(reef_reserve_for(w, 100, (reef_component[]){reef_id(Spot), reef_id(Weight)}, 2));
    reef_entity e[4];
    for (int i = 0; i < 4; i++) e[i] = reef_spawn(w, reef_with(Spot, (float)(i * 7 % 4), 0, i), reef_with(Weight, 1));
    const reef_order by_x = {.component = reef_column_of(reef_id(Spot), "x")};
    reef_query q = reef_query_new(w, "in Spot.x, Weight");
    assert_ok(reef_query_order(w, q, &by_x));
    float last = -1;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            assert_true(reef_in_field(&b, Spot, x)[i] > last), last = reef_in_field(&b, Spot, x)[i];
    assert_true(last == 3);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = by_x,
                                                .types = (reef_component[]){reef_id(Spot), reef_id(Weight)},
                                                .type_count = 2,
                                                .exactly = true}));
    for (reef_block b = reef_begin_text(w, "in Spot.x"); reef_next(&b);)
        assert_true(reef_in_field(&b, Spot, x)[0] == 0 && reef_in_field(&b, Spot, x)[3] == 3);
    reef_signature of = {0}, both = {0};
    assert_ok(reef_signature_of(w, e[0], &of));
    assert_status(REEF_ADDED, reef_signature_add(&both, reef_id(Spot)));
    assert_status(REEF_ADDED, reef_signature_add(&both, reef_id(Weight)));
    assert_true(reef_signature_equal(&of, &both));
    reef_signature_free(&of);
    reef_signature_free(&both);
}

/* ---- worlds as values ---- */

static void forks_snapshots_and_hashes(void **state)
{
    reef_world *w = world_of(state), *twin = another_world(state, NULL);
    reef_entity e = reef_spawn(w, reef_with(Spot, 1, 2, 3));
    reef_entity f = reef_spawn(twin, reef_with(Spot, 1, 2, 3));
    assert_true(reef_hash(w) == reef_hash(twin) && reef_equal(w, twin, NULL));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    reef_set(w, e, Spot, 1, 2, 4);
    assert_spot(fork, e, 1, 2, 3);
    assert_true(reef_hash(w) != reef_hash(twin));
    reef_difference d;
    char text[200];
    assert_false(reef_equal(w, twin, &d));
    reef_difference_text(&d, text, sizeof text);
    assert_non_null(strstr(text, "Spot.layer of entity 0v1 differs"));
    assert_ok(reef_restore(w, s));
    assert_spot(w, e, 1, 2, 3);
    assert_true(reef_hash(w) == reef_hash(twin));
    (void)f;
    assert_valid(fork);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

typedef struct seen {
    uint32_t count, spots;
    Spot last;
} seen;
static bool visit(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    seen *s = context;
    (void)e;
    s->count++;
    if (c.id != reef_id(Spot).id) return true;
    s->spots++;
    assert_int_equal(size, sizeof(Spot));
    memcpy(&s->last, data, sizeof(Spot));
    return true;
}

static void a_type_is_shown_once_with_its_value(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Spot, 1, 2, 3), reef_with(Weight, 1), reef_tag(Red));
    seen s = {0};
    assert_true(reef_visit_entity(w, e, visit, &s));
    assert_true(s.count == 3 && s.spots == 1 && s.last.x == 1 && s.last.layer == 3);
    memset(&s, 0, sizeof s);
    assert_true(reef_visit_world(w, visit, &s));
    assert_true(s.count == 3 && s.spots == 1 && s.last.y == 2);
}

/* ---- systems ---- */

static void drift(reef_block *b)
{
    float *x = reef_inout_field(b, Spot, x);
    for (uint32_t i = 0; i < b->count; i++) x[i] += 1;
}
static reef_entity aim;
static void others(reef_block *b)
{
    Spot s;
    assert_true(reef_read(b->world, aim, Spot, &s));
    s.y += 1;
    assert_status(REEF_OK, reef_set_id(b->world, aim, reef_id(Spot), &s, sizeof s));
}

static void systems_name_fields(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 2000; i++) aim = reef_spawn(w, reef_with(Spot, 0, 0, i));
    reef_spawn(w, reef_with(Weight, 1));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "drift", .function = drift, .text = "Spot.x"})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "others", .function = others, .text = "in Weight; writes Spot"})));
    for (int i = 0; i < 3; i++) assert_ok(reef_tick_once(w, 1));
    assert_ok(reef_last_error(w).status);
    assert_spot(w, aim, 3, 3, 1999);
}

/* ---- types that can't be ---- */

static void what_can_be_split(void **state)
{
    (void)state;
    reef_status s;
    const reef_field two[] = {{.name = "a", .offset = 0, .bytes = 4, .kind = REEF_I32, .lowest = -1, .highest = 1},
                              {.name = "b", .offset = 4, .bytes = 4, .kind = REEF_I32, .lowest = -1, .highest = 1}};
    const reef_field overlap[] = {{.name = "a", .offset = 0, .bytes = 4, .kind = REEF_I32, .highest = 1},
                                  {.name = "b", .offset = 2, .bytes = 4, .kind = REEF_I32, .highest = 1}};
    assert_int_not_equal(
        reef_type_new(
            &(reef_type_desc){.name = "SplitTwo", .size = 8, .home = REEF_SPLIT, .fields = two, .field_count = 2}, &s)
            .id,
        0);
    assert_int_equal(
        reef_type_new(
            &(reef_type_desc){
                .name = "SplitGap", .size = 16, .align = 4, .home = REEF_SPLIT, .fields = two, .field_count = 2},
            &s)
            .id,
        0);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    assert_int_equal(
        reef_type_new(
            &(reef_type_desc){.name = "SplitOver", .size = 8, .home = REEF_SPLIT, .fields = overlap, .field_count = 2},
            &s)
            .id,
        0);
    static const reef_hooks stamped = {.track_rows = true};
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "SplitHooks",
                                                     .size = 8,
                                                     .home = REEF_SPLIT,
                                                     .fields = two,
                                                     .field_count = 2,
                                                     .hooks = &stamped},
                                   &s)
                         .id,
                     0);
    assert_int_equal(
        reef_type_new(&(reef_type_desc){.name = "SplitLarge", .size = REEF_SPLIT_SIZE_MAX + 4, .home = REEF_SPLIT}, &s)
            .id,
        0);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
}

static void fields_may_come_late(void **state)
{
    reef_world *w = world_of(state);
    reef_status s;
    const reef_field f = {.name = "a", .offset = 0, .bytes = 4, .kind = REEF_I32, .lowest = -1, .highest = 1};
    const reef_component c = reef_type_new(&(reef_type_desc){.name = "SplitLate", .size = 4, .home = REEF_SPLIT}, &s);
    assert_int_equal(s, REEF_OK);
    reef_entity e = reef_create(w);
    const int32_t value = 7;
    int32_t got = 0;
    assert_status(REEF_BAD_ARGUMENT, reef_set_id(w, e, c, &value, sizeof value));
    assert_ok(reef_type_describe(c, &f, 1));
    assert_status(REEF_ADDED, reef_set_id(w, e, c, &value, sizeof value));
    assert_true(reef_read_id(w, e, c, &got, sizeof got) && got == 7);
}

static void as_many_fields_as_there_may_be(void **state)
{
    reef_world *w = world_of(state);
    reef_field fields[REEF_SPLIT_FIELDS_MAX + 1];
    char names[REEF_SPLIT_FIELDS_MAX + 1][8];
    uint8_t value[REEF_SPLIT_FIELDS_MAX], got[REEF_SPLIT_FIELDS_MAX];
    reef_status s;
    for (uint32_t i = 0; i <= REEF_SPLIT_FIELDS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
        fields[i] = (reef_field){.name = names[i], .offset = i, .bytes = 1, .kind = REEF_U8, .highest = 255};
        if (i < REEF_SPLIT_FIELDS_MAX) value[i] = (uint8_t)(i + 1);
    }
    assert_int_equal(
        reef_type_new(
            &(reef_type_desc){
                .name = "Split33", .size = 33, .align = 1, .home = REEF_SPLIT, .fields = fields, .field_count = 33},
            &s)
            .id,
        0);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    const reef_component c = reef_type_new(
        &(reef_type_desc){
            .name = "Split32", .size = 32, .align = 1, .home = REEF_SPLIT, .fields = fields, .field_count = 32},
        &s);
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set_id(w, e, c, value, sizeof value));
    assert_true(reef_read_id(w, e, c, got, sizeof got));
    assert_memory_equal(value, got, sizeof got);
    assert_int_equal(matches(w, "Split32"), 1);
    assert_true(reef_query_is_null(reef_query_new(w, "Split32, Split32 of #0v1")));
    assert_int_equal(reef_last_error(w).status, REEF_LIMIT);
}

static void without_memory_nothing_changes(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    reef_entity e = reef_spawn(w, reef_with(Weight, 1));
    for (uint64_t n = 1; n < 60; n++) {
        heap_fail_nth(h, n, true);
        const reef_status s =
            reef_change(w, e, reef_with(Spot, 1, 2, 3), reef_with(Mixed, .a = 1), reef_without(Weight));
        heap_fail_never(h);
        assert_valid(w);
        if (s == REEF_OK) break;
        assert_int_equal(s, REEF_NO_MEMORY);
        assert_true(reef_has(w, e, Weight) && !reef_has(w, e, Spot) && !reef_has(w, e, Mixed));
    }
    assert_spot(w, e, 1, 2, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_spread_and_gathered),
        TEST(there_is_no_struct_to_point_to),
        TEST(parts_come_and_go_with_their_type),
        TEST(many_at_once),
        TEST(structs_with_padding_and_arrays),
        TEST(a_term_covers_all_fields_or_one),
        TEST(other_homes_have_no_array_of_a_field),
        TEST(queries_of_every_kind),
        TEST(changes_are_seen_by_field),
        TEST(deferred_changes),
        TEST(orders_name_fields),
        TEST(sets_orders_and_strict_worlds),
        TEST(observers_get_structs),
        TEST(forks_snapshots_and_hashes),
        TEST(a_type_is_shown_once_with_its_value),
        TEST(systems_name_fields),
        TEST(what_can_be_split),
        TEST(fields_may_come_late),
        TEST(as_many_fields_as_there_may_be),
        TEST(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
