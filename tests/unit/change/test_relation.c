/* Relations: relating and unrelating, the rules of their types, the order of sources. */
#include "relation_scene.h"

static const reef_entity null_entity = {0, 0};

/* ---- relating ---- */

static void relate_unrelate_and_ask(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    create_some(w, e, 4);
    assert_false(reef_related(w, e[0], Likes, e[1]));
    assert_none(reef_target(w, e[0], Likes));
    assert_null(reef_relation_get(w, e[0], Likes, e[1]));
    assert_no_sources(w, e[1], Likes);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[1]));
    assert_status(REEF_OK, reef_relate(w, e[0], Likes, e[1])); /* a duplicate */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Likes, e[2]));
    assert_true(reef_related(w, e[0], Likes, e[1]) && reef_related(w, e[0], Likes, e[2]));
    assert_false(reef_related(w, e[1], Likes, e[0]));
    assert_false(reef_related(w, e[0], Likes, e[0]));
    assert_entity(e[1], reef_target(w, e[0], Likes));
    assert_sources(w, e[1], Likes, e[0]);
    assert_sources(w, e[2], Likes, e[0], e[3]);
    uint32_t n = 0;
    const Likes *likes = reef_get_all(w, e[0], Likes, &n);
    assert_int_equal(n, 2);
    assert_entity(e[1], likes[0].target);
    assert_entity(e[2], likes[1].target);
    assert_entity(e[2], reef_relation_get(w, e[0], Likes, e[2])->target);
    assert_true(reef_has(w, e[0], Likes));
    assert_int_equal(reef_count(w, Likes), 2);
    assert_valid(w);
    assert_ok(reef_unrelate(w, e[0], Likes, e[1]));
    assert_refused(w, REEF_ABSENT, reef_unrelate(w, e[0], Likes, e[1]));
    assert_no_sources(w, e[1], Likes);
    assert_entity(e[2], reef_target(w, e[0], Likes));
    assert_ok(reef_unrelate(w, e[0], Likes, e[2]));
    assert_false(reef_has(w, e[0], Likes));
    assert_sources(w, e[2], Likes, e[3]);
    /* an entity may be related to itself, where nothing forbids it */
    assert_status(REEF_ADDED, reef_relate(w, e[1], Likes, e[1]));
    assert_true(reef_related(w, e[1], Likes, e[1]));
    assert_sources(w, e[1], Likes, e[1]);
    assert_ok(reef_destroy(w, e[1]));
    assert_int_equal(reef_count(w, Likes), 1);
}

static void an_exclusive_relation_is_replaced(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5];
    create_some(w, e, 5);
    for (int i = 0; i < 2; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[4]));
    assert_status(REEF_OK, reef_relate(w, e[0], DockedTo, e[4]));
    assert_sources(w, e[3], DockedTo, e[1]);
    assert_sources(w, e[4], DockedTo, e[0]);
    assert_entity(e[4], reef_target(w, e[0], DockedTo));
    assert_int_equal(reef_count_on(w, e[0], DockedTo), 1);
    assert_refused(w, REEF_ABSENT, reef_unrelate(w, e[0], DockedTo, e[3]));
    assert_ok(reef_unrelate(w, e[0], DockedTo, e[4]));
    assert_none(reef_target(w, e[0], DockedTo));
}

static void relations_have_data(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[1], 30));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Owes, e[2]));
    assert_int_equal(reef_relation_get(w, e[0], Owes, e[1])->data.coins, 30);
    assert_int_equal(reef_relation_get(w, e[0], Owes, e[2])->data.coins, 0);
    assert_status(REEF_OK, reef_relate_data(w, e[0], Owes, e[1], 31));
    assert_status(REEF_OK, reef_relate(w, e[0], Owes, e[1])); /* without data nothing is written */
    assert_int_equal(reef_relation_get(w, e[0], Owes, e[1])->data.coins, 31);
    reef_relation_mut(w, e[0], Owes, e[2])->data.coins = 5;
    assert_int_equal(reef_relation_get(w, e[0], Owes, e[2])->data.coins, 5);
    assert_ok(reef_retarget(w, e[0], Owes, e[2], e[3]));
    assert_int_equal(reef_relation_get(w, e[0], Owes, e[3])->data.coins, 5);
    assert_status(REEF_ADDED, reef_relate_data(w, e[0], Pays, e[1], 7));
    assert_ok(reef_retarget(w, e[0], Pays, e[1], e[2]));
    assert_int_equal(reef_relation_get(w, e[0], Pays, e[2])->data.coins, 7);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Pays, e[3])); /* another relation: its data is zero */
    assert_int_equal(reef_relation_get(w, e[0], Pays, e[3])->data.coins, 0);
    assert_status(REEF_ADDED, reef_relate_data(w, e[0], Trusts, e[1], 8));
    assert_int_equal(reef_relation_get(w, e[1], Trusts, e[0])->data.coins, 8);
    assert_status(REEF_OK, reef_relate_data(w, e[1], Trusts, e[0], 9)); /* both halves */
    assert_int_equal(reef_relation_get(w, e[0], Trusts, e[1])->data.coins, 9);
    assert_int_equal(reef_relation_get(w, e[1], Trusts, e[0])->data.coins, 9);
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Pushes, e[i], {i, 2.0 * i}));
    for (int i = 1; i < 4; i++) {
        const Pushes *p = reef_relation_get(w, e[0], Pushes, e[i]);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_true(p->data.x[0] == i && p->data.x[1] == 2 * i);
    }
    const Money money = {1};
    assert_refused(w, REEF_WRONG_SIZE, reef_relate_id(w, e[0], reef_id(Owes), e[1], &money, 3));
    assert_refused(w, REEF_WRONG_SIZE, reef_relate_id(w, e[0], reef_id(Likes), e[1], &money, 4));
    assert_no_pointer(w, REEF_ABSENT, reef_relation_mut(w, e[1], Owes, e[0]));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_relation_mut_id(w, e[1], reef_id(Heavy), e[0]));
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_relation_mut_id(w, e[1], (reef_component){0}, e[0]));
}

static void wrong_handles_and_types(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[3], dead, foreign = {0, 0};
    create_some(w, e, 3);
    dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    for (int i = 0; i < 50; i++) foreign = reef_create(other); /* this world has no such index */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[1]));
    const reef_entity wrong[] = {null_entity, dead, foreign};
    for (int i = 0; i < 3; i++) {
        const reef_entity x = wrong[i];
        assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, x, Likes, e[1]));
        assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, e[0], Likes, x));
        assert_refused(w, REEF_NOT_ALIVE, reef_relate_before(w, x, Likes, e[1], null_entity));
        assert_refused(w, REEF_NOT_ALIVE, reef_relate_before(w, e[0], Likes, x, null_entity));
        assert_refused(w, REEF_NOT_ALIVE, reef_unrelate(w, x, Likes, e[1]));
        assert_refused(w, REEF_NOT_ALIVE, reef_unrelate(w, e[0], Likes, x));
        assert_zero(w, REEF_NOT_ALIVE, reef_unrelate_all(w, x, Likes));
        assert_refused(w, REEF_NOT_ALIVE, reef_retarget(w, x, Likes, e[1], e[2]));
        assert_refused(w, REEF_NOT_ALIVE, reef_retarget(w, e[0], Likes, x, e[2]));
        assert_refused(w, REEF_NOT_ALIVE, reef_retarget(w, e[0], Likes, e[1], x));
        assert_zero(w, REEF_NOT_ALIVE, reef_unrelate_sources(w, x, Likes));
        assert_refused(w, REEF_NOT_ALIVE, reef_set_id(w, e[2], reef_id(DockedTo), &(DockedTo){x, 0}, sizeof(DockedTo)));
        assert_refused(w, REEF_NOT_ALIVE, reef_set(w, x, DockedTo, .target = e[0]));
        assert_no_entity(w, REEF_NOT_ALIVE, reef_spawn(w, reef_with(Heavy, 1), reef_with(DockedTo, .target = x)));
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_append(w, e[0], Likes, .target = x));
        assert_false(reef_related(w, x, Likes, e[1]) || reef_related(w, e[0], Likes, x));
        assert_none(reef_target(w, x, Likes));
        assert_int_equal(reef_source_count(w, x, Likes), 0);
        assert_null(reef_relation_get(w, x, Likes, e[1]));
        assert_null(reef_relation_get(w, e[0], Likes, x));
        reef_sources s = reef_sources_of(w, x, Likes);
        assert_false(reef_sources_next(&s));
    }
    assert_refused(w, REEF_BAD_ARGUMENT, reef_relate(w, e[0], Heavy, e[1]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_unrelate(w, e[0], Heavy, e[1]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_retarget(w, e[0], Heavy, e[1], e[2]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_relate_before(w, e[0], Heavy, e[1], null_entity));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_unrelate_sources(w, e[0], Heavy));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_unrelate_all(w, e[0], Heavy));
    const reef_component unknown = {0};
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_relate_id(w, e[0], unknown, e[1], NULL, 0));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_unrelate_id(w, e[0], unknown, e[1]));
    assert_false(reef_related(w, e[0], Heavy, e[1]));
    assert_none(reef_target(w, e[0], Heavy));
    assert_int_equal(reef_source_count(w, e[0], Heavy), 0);
    reef_sources s = reef_sources_of(w, e[0], Heavy);
    assert_false(reef_sources_next(&s) || reef_sources_next(NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_relate(NULL, e[0], Likes, e[1]));
    assert_status(REEF_BAD_ARGUMENT, reef_relate_before(NULL, e[0], Likes, e[1], e[2]));
    assert_status(REEF_BAD_ARGUMENT, reef_unrelate(NULL, e[0], Likes, e[1]));
    assert_status(REEF_BAD_ARGUMENT, reef_retarget(NULL, e[0], Likes, e[1], e[2]));
    assert_int_equal(reef_unrelate_sources(NULL, e[0], Likes), 0);
    assert_int_equal(reef_unrelate_all(NULL, e[0], Likes), 0);
    assert_null(reef_relation_mut(NULL, e[0], Likes, e[1]));
    assert_false(reef_related(NULL, e[0], Likes, e[1]));
    s = reef_sources_of(NULL, e[0], Likes);
    assert_false(reef_sources_next(&s));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add(w, e[2], DockedTo)); /* without a target there is no relation */
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add(w, e[2], Likes));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ensure(w, e[2], DockedTo));
    for (reef_block b = reef_begin_text(w, "Heavy"); reef_next(&b);) {
        assert_refused(w, REEF_LOCKED, reef_relate(w, e[0], Likes, e[2]));
        assert_refused(w, REEF_LOCKED, reef_relate_before(w, e[0], Likes, e[2], null_entity));
        assert_refused(w, REEF_LOCKED, reef_unrelate(w, e[0], Likes, e[1]));
        assert_refused(w, REEF_LOCKED, reef_retarget(w, e[0], Likes, e[1], e[2]));
        assert_zero(w, REEF_LOCKED, reef_unrelate_sources(w, e[1], Likes));
        assert_zero(w, REEF_LOCKED, reef_unrelate_all(w, e[0], Likes));
        assert_true(reef_related(w, e[0], Likes, e[1]));
    }
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Heavy"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) {
        assert_zero(w, REEF_LOCKED, reef_unrelate_sources(w, e[1], Likes));
        assert_zero(w, REEF_LOCKED, reef_unrelate_all(w, e[0], Likes));
    }
    assert_true(reef_related(w, e[0], Likes, e[1]));
}

/* A stale handle of a target, whose index lives on with another generation, means nobody. */
static void a_stale_target_is_not_the_new_one(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_create(w), b = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, a, Likes, b));
    assert_ok(reef_destroy(w, b));
    reef_entity again = null_entity;
    for (int i = 0; i < 10000 && again.index != b.index; i++) again = reef_create(w);
    if (again.index != b.index) return;
    assert_false(reef_has(w, a, Likes));
    assert_int_equal(reef_source_count(w, again, Likes), 0);
    assert_status(REEF_ADDED, reef_relate(w, a, Likes, again));
    assert_int_equal(reef_source_count(w, b, Likes), 0);
    assert_false(reef_related(w, a, Likes, b));
    reef_sources s = reef_sources_of(w, b, Likes);
    assert_false(reef_sources_next(&s));
}

/* ---- declaring ---- */

static reef_status type_status(reef_type_desc d)
{
    reef_status s = REEF_OK;
    const reef_component c = reef_type_new(&d, &s);
    assert_int_equal(c.id == 0, s < 0);
    return s;
}

static void types_are_made_at_run_time(void **state)
{
    reef_world *w = world_of(state);
    reef_status s = REEF_OK;
    reef_entity e[3];
    create_some(w, e, 3);
    const reef_component eats = reef_type_new(
        &(reef_type_desc){.name = "Eats", .relation = REEF_IS_RELATION | REEF_EXCLUSIVE, .data = reef_id(Money)}, &s);
    assert_status(REEF_OK, s);
    reef_type_info info;
    assert_true(reef_type_get(eats, &info));
    assert_int_equal(info.relation, REEF_IS_RELATION | REEF_EXCLUSIVE);
    assert_int_equal(info.data.id, reef_id(Money).id);
    assert_int_equal(info.size, 24);
    assert_int_equal(info.align, 8);
    assert_int_equal(info.home, REEF_PAGED);
    assert_int_equal(info.field_count, 3);
    assert_string_equal(info.fields[0].name, "target");
    assert_string_equal(info.fields[1].name, "place");
    assert_string_equal(info.fields[2].name, "data.coins");
    assert_int_equal(info.fields[2].offset, 16);
    assert_true(reef_type_get(reef_id(Owes), &info));
    assert_int_equal(info.size, sizeof(Owes));
    assert_int_equal(info.align, _Alignof(Owes));
    assert_int_equal(info.home, REEF_MULTI);
    assert_true(reef_type_get(reef_id(Pushes), &info));
    assert_int_equal(info.size, sizeof(Pushes));
    assert_int_equal(info.align, _Alignof(Pushes));
    assert_true(reef_type_get(reef_id(Money), &info));
    assert_int_equal(info.relation, 0);
    assert_status(REEF_ADDED, reef_relate_id(w, e[0], eats, e[1], &(Money){4}, sizeof(Money)));
    assert_entity(e[1], reef_target_id(w, e[0], eats));
    assert_int_equal(((const Pays *)reef_relation_get_id(w, e[0], eats, e[1]))->data.coins, 4);
    /* the same again is the same type; with other options or data it isn't */
    assert_status(REEF_OK, type_status((reef_type_desc){
                               .name = "Eats", .relation = REEF_IS_RELATION | REEF_EXCLUSIVE, .data = reef_id(Money)}));
    assert_status(REEF_EXISTS,
                  type_status((reef_type_desc){.name = "Eats", .relation = REEF_IS_RELATION | REEF_EXCLUSIVE}));
    assert_status(REEF_EXISTS, type_status((reef_type_desc){.name = "Eats", .relation = REEF_IS_RELATION}));
    assert_status(REEF_EXISTS,
                  type_status((reef_type_desc){.name = "Likes", .relation = REEF_IS_RELATION | REEF_CASCADE}));
    const uint32_t bad[] = {REEF_EXCLUSIVE, REEF_IS_RELATION | 256, REEF_IS_RELATION | REEF_CASCADE | REEF_KEEPS_TARGET,
                            REEF_IS_RELATION | REEF_SYMMETRIC | REEF_ACYCLIC};
    for (int i = 0; i < 4; i++)
        assert_status(REEF_BAD_ARGUMENT, type_status((reef_type_desc){.name = "Bad", .relation = bad[i]}));
    assert_status(REEF_BAD_ARGUMENT, type_status((reef_type_desc){.name = "Bad", .data = reef_id(Money)}));
    const reef_component no_data[] = {reef_id(Frozen), reef_id(Tracked), reef_id(Likes)};
    for (int i = 0; i < 3; i++)
        assert_status(REEF_BAD_ARGUMENT,
                      type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .data = no_data[i]}));
    assert_status(REEF_UNKNOWN_TYPE,
                  type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .data = {4000000}}));
    assert_status(REEF_BAD_ARGUMENT,
                  type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .size = 8}));
    static reef_field field[REEF_FIELDS_MAX];
    static char name[REEF_FIELDS_MAX][8];
    for (uint32_t i = 0; i < REEF_FIELDS_MAX; i++) {
        (void)snprintf(name[i], sizeof name[i], "f%u", (unsigned)i);
        field[i] = (reef_field){.name = name[i], .kind = REEF_U8, .offset = i, .bytes = 1};
    }
    for (uint32_t n = REEF_FIELDS_MAX - 2; n <= REEF_FIELDS_MAX; n++) { /* the target and the place are fields, too */
        char wide[16];
        (void)snprintf(wide, sizeof wide, "Wide%u", (unsigned)n);
        const reef_component data = reef_type_new(
            &(reef_type_desc){.name = wide, .size = REEF_FIELDS_MAX, .align = 1, .fields = field, .field_count = n},
            &s);
        assert_status(REEF_OK, s);
        assert_status(n + 2 > REEF_FIELDS_MAX ? REEF_LIMIT : REEF_OK,
                      type_status((reef_type_desc){.name = n + 2 > REEF_FIELDS_MAX ? "Bad" : "Widest",
                                                   .relation = REEF_IS_RELATION,
                                                   .data = data}));
    }
    assert_status(REEF_BAD_ARGUMENT,
                  type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .home = REEF_SPARSE}));
    assert_status(REEF_BAD_ARGUMENT,
                  type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .base = reef_id(Heavy)}));
    assert_status(REEF_BAD_ARGUMENT,
                  type_status((reef_type_desc){.name = "Bad", .relation = REEF_IS_RELATION, .hooks = &tracked_hooks}));
}

/* ---- rules of types ---- */

static void cycles_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], Under, e[0]));
    for (int i = 0; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[i + 1], Under, e[i]));
    for (int i = 1; i < 5; i++) assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], Under, e[i]));
    assert_refused(w, REEF_CYCLE, reef_set(w, e[0], Under, .target = e[3]));
    assert_refused(w, REEF_CYCLE, reef_set(w, e[2], Under, .target = e[2]));
    assert_refused(w, REEF_CYCLE, reef_change(w, e[0], reef_with(Under, .target = e[3]), reef_with(Heavy, 4)));
    assert_refused(w, REEF_CYCLE, reef_retarget(w, e[1], Under, e[0], e[4]));
    assert_refused(w, REEF_CYCLE, reef_relate_before(w, e[1], Under, e[3], null_entity));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Under, e[5])); /* the chain is cut */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[4]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[5], Under, e[2]));
    /* several targets: a diamond is no cycle */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Needs, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Needs, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Needs, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[2], Needs, e[3]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[3], Needs, e[0]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[3], Needs, e[3]));
    assert_no_pointer(w, REEF_CYCLE, reef_append(w, e[3], Needs, .target = e[0]));
    assert_refused(w, REEF_CYCLE, reef_retarget(w, e[1], Needs, e[3], e[0]));
    assert_ok(reef_unrelate(w, e[1], Needs, e[3]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[3], Needs, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Needs, e[1]));
}

static void transitive_and_reflexive(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[200];
    create_some(w, e, 200);
    for (int i = 0; i < 99; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Under, e[i + 1]));
    assert_true(reef_related(w, e[0], Under, e[99]));
    assert_false(reef_related(w, e[99], Under, e[0]));
    assert_false(reef_related(w, e[5], Under, e[5]));
    assert_false(reef_related(w, e[0], Under, e[150]));
    for (int i = 0; i < 99; i++) {
        assert_status(REEF_ADDED, reef_relate(w, e[i], Needs, e[i + 1]));
        assert_status(REEF_ADDED, reef_relate(w, e[i], Needs, e[i + 100]));
    }
    assert_true(reef_related(w, e[0], Needs, e[99]) && reef_related(w, e[0], Needs, e[198]));
    assert_false(reef_related(w, e[0], Needs, e[199]) || reef_related(w, e[50], Needs, e[110]));
    assert_true(reef_related(w, e[5], Needs, e[5])); /* reflexive */
    assert_null(reef_relation_get(w, e[5], Needs, e[5]));
    assert_null(reef_relation_get(w, e[0], Under, e[99])); /* only what is there itself */
    /* circles end, of any length, and with a tail before them */
    for (int length = 1; length < 140; length += length == 12 ? 48 : length == 70 ? 60 : 1)
        for (int tail = 0; tail < 4; tail++) {
            for (int i = 0; i < tail + length; i++)
                (void)reef_relate(w, e[i], Follows, e[i + 1 < tail + length ? i + 1 : tail]);
            assert_false(reef_related(w, e[0], Follows, e[199]));
            for (int i = 1; i < tail + length; i++) assert_true(reef_related(w, e[0], Follows, e[i]));
            assert_int_equal(reef_related(w, e[0], Follows, e[0]), tail == 0);
        }
}

static void symmetric_relations_have_two_halves(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[1]));
    assert_status(REEF_OK, reef_relate(w, e[1], Married, e[0]));
    assert_entity(e[0], reef_target(w, e[1], Married));
    assert_status(REEF_ADDED, reef_relate(w, e[2], Married, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Married, e[2])); /* both partners lose theirs */
    assert_none(reef_target(w, e[0], Married));
    assert_none(reef_target(w, e[3], Married));
    assert_entity(e[1], reef_target(w, e[2], Married));
    assert_valid(w);
    assert_status(REEF_ADDED, reef_relate(w, e[2], Married, e[2])); /* to oneself: the partner loses it as well */
    assert_none(reef_target(w, e[1], Married));
    assert_sources(w, e[2], Married, e[2]);
    assert_ok(reef_unrelate(w, e[2], Married, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[1]));
    assert_ok(reef_unrelate(w, e[1], Married, e[0]));
    assert_int_equal(reef_count(w, Married), 0);
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[i]));
    assert_sources(w, e[0], Knows, e[1], e[2], e[3]);
    for (int i = 1; i < 4; i++) assert_sources(w, e[i], Knows, e[0]);
    assert_ok(reef_unrelate(w, e[2], Knows, e[0]));
    assert_sources(w, e[0], Knows, e[1], e[3]);
    assert_false(reef_has(w, e[2], Knows));
    assert_ok(reef_destroy(w, e[0]));
    assert_int_equal(reef_count(w, Knows), 0);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set(w, e[1], Married, .target = e[2]));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn(w, reef_with(Married, .target = e[2])));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_append(w, e[1], Knows, .target = e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Knows, e[2]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_retarget(w, e[1], Knows, e[2], e[3]));
    assert_ok(reef_unrelate(w, e[1], Knows, e[2]));
}

static void all_relations_of_a_source_end(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    for (int i = 1; i < 6; i++) {
        assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[i]));
        assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[i]));
    }
    assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Knows, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[2]));
    assert_int_equal(reef_unrelate_all(w, e[0], Likes), 5);
    assert_false(reef_has(w, e[0], Likes));
    assert_int_equal(reef_unrelate_all(w, e[0], Likes), 0);
    assert_int_equal(reef_unrelate_all(w, e[0], Knows), 6); /* with the other halves */
    assert_int_equal(reef_count(w, Knows), 2);
    assert_true(reef_related(w, e[2], Knows, e[1]));
    assert_int_equal(reef_unrelate_all(w, e[0], DockedTo), 1);
    assert_no_sources(w, e[2], DockedTo);
}

static void a_source_has_so_many_targets(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[REEF_MULTI_MAX + 2];
    create_some(w, e, REEF_MULTI_MAX + 2);
    for (int i = 0; i < REEF_MULTI_MAX; i++) assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[i + 1]));
    assert_refused(w, REEF_LIMIT, reef_relate(w, e[0], Likes, e[REEF_MULTI_MAX + 1]));
    assert_status(REEF_OK, reef_relate(w, e[0], Likes, e[REEF_MULTI_MAX]));
    assert_ok(reef_retarget(w, e[0], Likes, e[1], e[REEF_MULTI_MAX + 1]));
    assert_no_sources(w, e[1], Likes);
    assert_sources(w, e[REEF_MULTI_MAX + 1], Likes, e[0]);
    /* the other half has no room */
    for (int i = 0; i < REEF_MULTI_MAX; i++) assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[i + 1]));
    assert_refused(w, REEF_LIMIT, reef_relate(w, e[REEF_MULTI_MAX + 1], Knows, e[0]));
    assert_refused(w, REEF_LIMIT, reef_relate(w, e[0], Knows, e[REEF_MULTI_MAX + 1]));
    /* as many sources as there are */
    for (int i = 1; i < REEF_MULTI_MAX + 2; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[0]));
    assert_sources_at(w, e[0], reef_id(Likes), e + 1, REEF_MULTI_MAX + 1, __LINE__);
}

/* ---- the order of sources ---- */

static void sources_have_an_order(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[8];
    create_some(w, e, 8);
    for (int i = 4; i > 0; i--) assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[0]));
    assert_sources(w, e[0], DockedTo, e[4], e[3], e[2], e[1]);
    assert_status(REEF_ADDED, reef_relate_before(w, e[5], DockedTo, e[0], e[3]));
    assert_sources(w, e[0], DockedTo, e[4], e[5], e[3], e[2], e[1]);
    assert_status(REEF_OK, reef_relate_before(w, e[1], DockedTo, e[0], e[4]));
    assert_sources(w, e[0], DockedTo, e[1], e[4], e[5], e[3], e[2]);
    assert_status(REEF_OK, reef_relate_before(w, e[4], DockedTo, e[0], (reef_entity){0, 0}));
    assert_sources(w, e[0], DockedTo, e[1], e[5], e[3], e[2], e[4]);
    assert_status(REEF_ADDED, reef_relate_before(w, e[6], DockedTo, e[0], null_entity));
    assert_refused(w, REEF_ABSENT, reef_relate_before(w, e[1], DockedTo, e[0], e[7]));
    assert_refused(w, REEF_ABSENT, reef_relate_before(w, e[1], DockedTo, e[0], e[1]));
    assert_refused(w, REEF_ABSENT, reef_relate_before(w, e[7], DockedTo, e[3], e[1]));
    assert_status(REEF_OK, reef_relate(w, e[1], DockedTo, e[0])); /* stays where it is */
    assert_status(REEF_OK,
                  reef_set(w, e[5], DockedTo, .target = e[0])); /* so does one that is set to the target it has */
    assert_sources(w, e[0], DockedTo, e[1], e[5], e[3], e[2], e[4], e[6]);
    assert_status(REEF_ADDED, reef_relate(w, e[3], DockedTo, e[7]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], DockedTo, e[0])); /* back again, it comes last */
    assert_sources(w, e[0], DockedTo, e[1], e[5], e[2], e[4], e[6], e[3]);
    assert_ok(reef_retarget(w, e[1], DockedTo, e[0], e[7]));
    assert_ok(reef_retarget(w, e[1], DockedTo, e[7], e[0]));
    assert_sources(w, e[0], DockedTo, e[5], e[2], e[4], e[6], e[3], e[1]);
    assert_refused(w, REEF_EXISTS, reef_retarget(w, e[1], DockedTo, e[0], e[0]));
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Likes, e[7]));
    assert_refused(w, REEF_EXISTS, reef_retarget(w, e[1], Likes, e[7], e[0]));
    assert_ok(reef_unrelate(w, e[2], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate_before(w, e[2], Likes, e[0], e[1]));
    assert_sources(w, e[0], Likes, e[2], e[1], e[3]);
    assert_int_equal(reef_unrelate_sources(w, e[0], DockedTo), 6);
    assert_int_equal(reef_unrelate_sources(w, e[0], DockedTo), 0);
    assert_int_equal(reef_count(w, DockedTo), 0);
}

/* Halving the room between two sources again and again uses it up: then those that follow get new places. */
static void places_are_renewed(void **state)
{
    enum { N = 400 };
    reef_world *w = world_of(state);
    static reef_entity e[N + 2], order[N + 2];
    create_some(w, e, N + 2);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[N + 1]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Likes, e[N + 1]));
    order[0] = e[0], order[1] = e[1];
    for (uint32_t i = 2; i < N; i++) { /* always before the last one */
        assert_status(REEF_ADDED, reef_relate_before(w, e[i], Likes, e[N + 1], e[1]));
        order[i] = order[i - 1];
        order[i - 1] = e[i];
        if (i % 40 == 0) assert_sources_at(w, e[N + 1], reef_id(Likes), order, i + 1, __LINE__);
    }
    assert_sources_at(w, e[N + 1], reef_id(Likes), order, N, __LINE__);
    assert_valid(w);
    /* and always before the first one */
    reef_entity first = order[0];
    assert_int_equal(reef_unrelate_sources(w, e[N + 1], Likes), N);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[N + 1]));
    first = e[0];
    for (uint32_t i = 1; i < N; i++) {
        assert_status(REEF_ADDED, reef_relate_before(w, e[i], Likes, e[N + 1], first));
        first = e[i];
    }
    for (uint32_t i = 0; i < N; i++) order[i] = e[N - 1 - i];
    assert_sources_at(w, e[N + 1], reef_id(Likes), order, N, __LINE__);
}

/* Insertions at one point renew few places, however many sources there are. */
static void few_places_are_renewed(void **state)
{
    enum { N = 4000, INSERTED = 1000 };
    reef_world *w = world_of(state);
    static reef_entity e[N], order[N + INSERTED];
    static uint64_t place[N];
    const reef_entity target = reef_create(w);
    uint64_t renewed = 0;
    create_some(w, e, N);
    for (int i = 0; i < N; i++) {
        assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, target));
        place[i] = reef_get(w, e[i], DockedTo)->place;
    }
    for (uint32_t k = 0; k < INSERTED; k++) {
        order[N / 2 + k] = reef_create(w);
        assert_status(REEF_ADDED, reef_relate_before(w, order[N / 2 + k], DockedTo, target, e[N / 2]));
        for (int i = 0; i < N; i++) {
            const uint64_t now = reef_get(w, e[i], DockedTo)->place;
            renewed += now != place[i];
            place[i] = now;
        }
    }
    memcpy(order, e, N / 2 * sizeof *e);
    memcpy(order + N / 2 + INSERTED, e + N / 2, N / 2 * sizeof *e);
    uint32_t n = 0;
    for (reef_sources s = reef_sources_of(w, target, DockedTo); reef_sources_next(&s); n += s.count)
        assert_memory_equal(s.sources, order + n, s.count * sizeof *order);
    assert_int_equal(n, N + INSERTED);
    assert_in_range(renewed, 1, INSERTED);
}

/* The world may change between two steps over the sources. */
static void sources_are_changed_on_the_way(void **state)
{
    enum { N = 3000 };
    reef_world *w = world_of(state);
    static reef_entity e[N];
    const reef_entity target = reef_create(w);
    create_some(w, e, N);
    for (int i = 0; i < N; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, target));
    uint32_t seen = 0, steps = 0;
    for (reef_sources s = reef_sources_of(w, target, DockedTo); reef_sources_next(&s); steps++) {
        reef_entity list[256];
        assert_true(s.count <= 256);
        memcpy(list, s.sources, s.count * sizeof *list);
        const uint32_t n = s.count;
        for (uint32_t i = 0; i < n; i++) {
            assert_entity(e[seen], list[i]);
            seen++;
            assert_ok(reef_unrelate(w, list[i], DockedTo, target));
        }
    }
    assert_int_equal(seen, N);
    assert_true(steps > 1);
    assert_no_sources(w, target, DockedTo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(relate_unrelate_and_ask),
        TEST(an_exclusive_relation_is_replaced),
        TEST(relations_have_data),
        TEST(wrong_handles_and_types),
        TEST(a_stale_target_is_not_the_new_one),
        TEST(types_are_made_at_run_time),
        TEST(cycles_are_refused),
        TEST(transitive_and_reflexive),
        TEST(symmetric_relations_have_two_halves),
        TEST(all_relations_of_a_source_end),
        TEST(a_source_has_so_many_targets),
        TEST(sources_have_an_order),
        TEST(places_are_renewed),
        TEST(few_places_are_renewed),
        TEST(sources_are_changed_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
