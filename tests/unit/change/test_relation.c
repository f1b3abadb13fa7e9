/* Relations: relating and unrelating, the rules of their types, the order of sources, what ends with a target, and
 * relations in everything that carries a state: forks, snapshots, files, differences, merging. */
#include "support.h"

#include "base/checksum.h"
#include "load_repair.h"

typedef struct {
    int32_t coins;
} Money;
typedef struct {
    _Alignas(16) double x[2];
} Wide16;
typedef struct {
    double kg;
} Heavy;
REEF_COMPONENT(Money);
typedef struct {
    reef_entity target;
} Harbour;
REEF_COMPONENT(Heavy);
REEF_COMPONENT(Harbour);
REEF_FIELDS(Harbour, target);
REEF_COMPONENT(Wide16);
REEF_FIELDS(Heavy, kg);
REEF_FIELDS(Money, coins);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(HarborX, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE);
REEF_RELATION(Needs, REEF_ACYCLIC | REEF_TRANSITIVE | REEF_REFLEXIVE);
REEF_RELATION(Guards, REEF_CASCADE);
REEF_RELATION(Holds, REEF_KEEPS_TARGET);
REEF_RELATION(Married, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION(Follows, REEF_EXCLUSIVE | REEF_TRANSITIVE);
REEF_RELATION_OF(Owes, Money);
REEF_RELATION_OF(Pays, Money, REEF_EXCLUSIVE);
REEF_RELATION_OF(Trusts, Money, REEF_SYMMETRIC);
REEF_RELATION_OF(Pushes, Wide16);

/* ---- helpers ---- */

static const reef_entity null_entity = {0, 0};

static uint32_t sources_list(const reef_world *w, reef_entity target, reef_component c, reef_entity *list,
                             uint32_t room)
{
    uint32_t n = 0;
    for (reef_sources s = reef_sources_of_id(w, target, c); reef_sources_next(&s);) {
        assert_true(s.count > 0);
        for (uint32_t i = 0; i < s.count && n < room; i++) list[n++] = s.sources[i];
    }
    return n;
}

static void assert_sources_at(const reef_world *w, reef_entity target, reef_component c, const reef_entity *wanted,
                              uint32_t count, int line)
{
    reef_entity list[600];
    const uint32_t n = sources_list(w, target, c, list, 600);
    if (n != count || reef_source_count_id(w, target, c) != count)
        fail_msg("line %d: %u sources (counted: %u) instead of %u", line, (unsigned)n,
                 (unsigned)reef_source_count_id(w, target, c), (unsigned)count);
    for (uint32_t i = 0; i < n; i++)
        if (!reef_entity_equal(list[i], wanted[i]))
            fail_msg("line %d: source %u is %u instead of %u", line, (unsigned)i, (unsigned)list[i].index,
                     (unsigned)wanted[i].index);
}
#define assert_sources(w, target, R, ...) \
    assert_sources_at(w, target, reef_id(R), (const reef_entity[]){__VA_ARGS__}, \
                      (uint32_t)(sizeof((const reef_entity[]){__VA_ARGS__}) / sizeof(reef_entity)), __LINE__)
#define assert_no_sources(w, target, R) assert_sources_at(w, target, reef_id(R), NULL, 0, __LINE__)

static void create_some(reef_world *w, reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i)));
}

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
    for (int length = 1; length < 12; length++)
        for (int tail = 0; tail < 4; tail++) {
            for (int i = 0; i < tail + length; i++)
                (void)reef_relate(w, e[i], Follows, e[i + 1 < tail + length ? i + 1 : tail]);
            assert_false(reef_related(w, e[0], Follows, e[40]));
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

/* ---- generic verbs ---- */

static void generic_verbs_make_relations(void **state)
{
    enum { N = 50 };
    reef_world *w = world_of(state);
    reef_entity e[4], many[N];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_set(w, e[0], DockedTo, .target = e[1]));
    assert_sources(w, e[1], DockedTo, e[0]);
    assert_status(REEF_OK, reef_set(w, e[0], DockedTo, .target = e[2]));
    assert_no_sources(w, e[1], DockedTo);
    assert_sources(w, e[2], DockedTo, e[0]);
    /* of many the first is written */
    assert_status(REEF_ADDED, reef_set(w, e[0], Likes, .target = e[1]));
    assert_status(REEF_OK, reef_set(w, e[0], Likes, .target = e[2]));
    assert_status(REEF_OK, reef_set(w, e[0], Likes, .target = e[2]));
    assert_no_sources(w, e[1], Likes);
    assert_non_null(reef_append(w, e[0], Likes, .target = e[1]));
    assert_no_pointer(w, REEF_EXISTS, reef_append(w, e[0], Likes, .target = e[1]));
    assert_refused(w, REEF_EXISTS, reef_set(w, e[0], Likes, .target = e[1])); /* which is its second one */
    assert_sources(w, e[1], Likes, e[0]);
    assert_ok(reef_remove_one(w, e[0], Likes, 0));
    assert_no_sources(w, e[2], Likes);
    const reef_entity made =
        reef_spawn(w, reef_with(Heavy, 1), reef_with(DockedTo, .target = e[2]), reef_with(Likes, .target = e[1]));
    assert_some(made);
    assert_sources(w, e[2], DockedTo, e[0], made);
    assert_sources(w, e[1], Likes, e[0], made);
    assert_ok(
        reef_change(w, made, reef_with(DockedTo, .target = e[3]), reef_without(Likes), reef_with(Velocity, 1, 1)));
    assert_sources(w, e[3], DockedTo, made);
    assert_sources(w, e[1], Likes, e[0]);
    DockedTo *docked = malloc(N * sizeof *docked);
    for (int i = 0; i < N; i++) memcpy(&docked[i], &(DockedTo){e[i % 2], 77}, sizeof *docked);
    assert_ok(reef_spawn_many(w, N, many, reef_with(Heavy, 1), reef_array(DockedTo, docked)));
    for (int i = 0; i < N; i++) assert_entity(e[i % 2], reef_target(w, many[i], DockedTo));
    assert_int_equal(reef_source_count(w, e[0], DockedTo), N / 2);
    memcpy(&docked[N - 1], &(DockedTo){null_entity, 0}, sizeof *docked);
    assert_refused(w, REEF_NOT_ALIVE, reef_spawn_many(w, N, many, reef_with(Heavy, 1), reef_array(DockedTo, docked)));
    free(docked);
    assert_valid(w);
    const reef_bundle_part part[] = {{.component = reef_id(DockedTo), .offset = 0}};
    reef_bundle *b = reef_bundle_new(w, part, 1);
    assert_non_null(b);
    const reef_entity packed = reef_spawn_bundle(w, b, &(DockedTo){e[3], 9});
    assert_some(packed);
    assert_no_entity(w, REEF_NOT_ALIVE, reef_spawn_bundle(w, b, &(DockedTo){null_entity, 9}));
    reef_bundle_free(b);
    assert_sources(w, e[3], DockedTo, made, packed);
    assert_ok(reef_remove(w, made, DockedTo));
    assert_ok(reef_remove_all(w, packed));
    assert_no_sources(w, e[3], DockedTo);
    assert_ok(reef_disable(w, e[0], DockedTo)); /* a disabled relation is still one */
    assert_true(reef_related(w, e[0], DockedTo, e[2]));
    assert_sources(w, e[2], DockedTo, e[0]);
    uint64_t n = 0;
    assert_ok(remove_everywhere(w, reef_id(DockedTo), &n));
    assert_int_equal(n, N + 1);
    assert_no_sources(w, e[0], DockedTo);
    assert_no_sources(w, e[2], DockedTo);
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_sources(w, e[1], DockedTo, e[0]);
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count(w, DockedTo), 0);
    create_some(w, e, 4);
    for (int i = 0; i < 4; i++) assert_no_sources(w, e[i], DockedTo);
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
}

static void where_verbs_keep_the_rules(void **state)
{
    enum { N = 30 };
    reef_world *w = world_of(state);
    reef_entity e[N], dead;
    for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Health, i, i));
    const reef_entity target = reef_spawn(w, reef_with(Heavy, 1));
    dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    const reef_query q = reef_query_new(w, "Health"), all = reef_query_new(w, "Health|Heavy");
    assert_query(q), assert_query(all);
    assert_ok(reef_set_where(w, q, DockedTo, .target = target));
    assert_sources_at(w, target, reef_id(DockedTo), e, N, __LINE__);
    assert_refused(w, REEF_NOT_ALIVE, reef_set_where(w, q, DockedTo, .target = dead));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_where(w, q, Married, .target = target));
    assert_refused(w, REEF_CYCLE, reef_set_where(w, all, Under, .target = target)); /* the target is among them */
    assert_ok(reef_set_where(w, q, Under, .target = target));
    assert_refused(w, REEF_CYCLE, reef_set_where(w, all, Under, .target = e[3]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add_where(w, all, DockedTo));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add_where(w, all, Likes));
    for (int i = 0; i < N; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[(i + 1) % N]));
    assert_non_null(reef_append(w, e[4], Likes, .target = target));
    assert_refused(w, REEF_EXISTS, reef_set_where(w, q, Likes, .target = target)); /* the second one of e[4] */
    assert_ok(reef_unrelate(w, e[4], Likes, target));
    assert_ok(reef_set_where(w, q, Likes, .target = target));
    assert_int_equal(reef_source_count(w, target, Likes), N);
    assert_no_sources(w, e[1], Likes);
    assert_ok(reef_remove_where(w, q, DockedTo));
    assert_no_sources(w, target, DockedTo);
    assert_ok(reef_disable_where(w, q, Likes));
    assert_int_equal(reef_source_count(w, target, Likes), N);
    uint64_t n = 0;
    assert_ok(reef_destroy_where(w, all, &n));
    assert_int_equal(n, N + 1);
    assert_int_equal(reef_count_alive(w), 0);
}

static void relate_in_system(reef_block *b)
{
    const reef_entity *list = b->context;
    assert_ok(reef_cmd_set(b, list[0], DockedTo, .target = list[1]));
    const reef_entity made = reef_cmd_spawn(b, reef_with(DockedTo, .target = list[1]));
    assert_some(made);
    assert_ok(reef_cmd_set(b, list[2], DockedTo, .target = made)); /* to one that is made in the same phase */
    assert_ok(reef_cmd_remove(b, list[3], DockedTo));
    assert_status(REEF_LOCKED, reef_relate(b->world, list[0], Likes, list[1]));
    assert_status(REEF_LOCKED, reef_set(b->world, list[3], DockedTo, .target = list[0])); /* though it has one */
}

static void commands_make_relations(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[6];
    create_some(w, e, 6);
    assert_status(REEF_ADDED, reef_relate(w, e[3], DockedTo, e[1]));
    assert_ok(reef_system_once(w,
                               &(reef_system_desc){.name = "relates",
                                                   .function = relate_in_system,
                                                   .text = "; writes DockedTo, spawns, adds, removes",
                                                   .context = e},
                               0));
    const reef_entity made = reef_target(w, e[2], DockedTo);
    assert_some(made);
    assert_sources(w, e[1], DockedTo, e[0], made);
    assert_sources(w, made, DockedTo, e[2]);
    assert_false(reef_has(w, e[3], DockedTo));
    /* what is there is written at once; what isn't allowed when the command is done has no effect */
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Heavy"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) {
        assert_ok(reef_cmd_destroy(&b, e[5]));
        assert_ok(reef_cmd_set(&b, e[0], DockedTo, .target = e[5]));
        assert_ok(reef_cmd_relate(&b, e[2], Likes, e[5]));
        assert_ok(reef_cmd_set(&b, e[4], DockedTo, .target = e[1]));
    }
    assert_false(reef_is_alive(w, e[5]));
    assert_none(reef_target(w, e[0], DockedTo));
    assert_false(reef_has(w, e[2], Likes));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_sources(w, e[1], DockedTo, made, e[4], e[0]);
    /* what is there is written at once, in every loop; what isn't there can't come in one that doesn't record */
    for (b = reef_begin_text(w, "Heavy"); reef_next(&b);) {
        assert_status(REEF_OK, reef_set(w, e[0], DockedTo, .target = made));
        assert_entity(made, reef_target(w, e[0], DockedTo));
        assert_refused(w, REEF_LOCKED, reef_set(w, e[3], DockedTo, .target = e[2]));
    }
    const DockedTo docked[2] = {{e[2], 5}, {e[5], 6}};
    assert_int_equal(reef_write_many(w, DockedTo, &e[0], 1, docked), 1);
    assert_sources(w, e[2], DockedTo, e[0]);
    assert_int_equal(reef_write_many(w, DockedTo, &e[4], 1, docked + 1), 0);
    assert_status(REEF_NOT_ALIVE, reef_last_error(w).status);
    /* a cascade by a command */
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(w, e[i + 1], Under, e[i]));
    b = reef_begin_loop(w, reef_query_new(w, "Heavy"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) assert_ok(reef_cmd_destroy(&b, e[0]));
    for (int i = 0; i < 4; i++) assert_false(reef_is_alive(w, e[i]));
    assert_no_sources(w, made, DockedTo);
    assert_false(reef_has(w, e[4], DockedTo));
    assert_valid(w);
}

static void clones_have_the_same_targets(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5], copy[3];
    create_some(w, e, 5);
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[i], i));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[4], Owes, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[2]));
    assert_ok(reef_clone_many(w, e[0], 3, copy));
    assert_sources(w, e[2], Owes, e[0], e[4], copy[0], copy[1], copy[2]); /* behind the others */
    assert_sources(w, e[1], Under, e[0], copy[0], copy[1], copy[2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reef_relation_get(w, copy[i], Owes, e[3])->data.coins, 3);
        assert_false(reef_has(w, copy[i], Married) || reef_has(w, copy[i], Knows)); /* half of one can't be copied */
    }
    assert_sources(w, e[1], Married, e[0]);
    assert_sources(w, e[2], Knows, e[0]);
}

/* ---- the end of a target ---- */

static void relations_end_with_their_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    for (int i = 1; i < 5; i++) {
        assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[0]));
        assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[5]));
        assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[0]));
    }
    assert_ok(reef_destroy(w, e[0]));
    for (int i = 1; i < 5; i++) {
        assert_true(reef_is_alive(w, e[i]));
        assert_false(reef_has(w, e[i], DockedTo));
        assert_int_equal(reef_count_on(w, e[i], Likes), 1);
        assert_entity(e[5], reef_target(w, e[i], Likes));
    }
    assert_ok(reef_destroy(w, e[2])); /* a source */
    assert_sources(w, e[5], Likes, e[1], e[3], e[4]);
    assert_ok(reef_destroy(w, e[5]));
    assert_int_equal(reef_count(w, Likes), 0);
    assert_int_equal(reef_count_alive(w), 3);
}

static void sources_die_with_their_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[40];
    create_some(w, e, 40);
    for (int i = 1; i < 40; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Under, e[(i - 1) / 3]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Guards, e[39])); /* which is below e[12], below e[3], below e[0] */
    assert_status(REEF_ADDED, reef_relate(w, e[30], Likes, e[39]));
    assert_ok(reef_destroy(w, e[39]));
    for (int i = 0; i < 40; i++) {
        bool dies = i == 39;
        for (int k = i; k > 0; k = (k - 1) / 3) dies |= k == 1;
        assert_int_equal(reef_is_alive(w, e[i]), !dies);
    }
    assert_false(reef_has(w, e[30], Likes));
    assert_ok(reef_destroy(w, e[0]));
    assert_int_equal(reef_count_alive(w), 0);
    /* a circle of guards dies as a whole */
    create_some(w, e, 5);
    for (int i = 0; i < 5; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Guards, e[(i + 1) % 5]));
    assert_ok(reef_destroy(w, e[2]));
    assert_int_equal(reef_count_alive(w), 0);
}

static void a_chain_of_any_depth_dies(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG) || defined(__SANITIZE_THREAD__)
    enum { DEPTH = 50000 };
#else
    enum { DEPTH = 1000000 };
#endif
    reef_world *w = world_of(state);
    const reef_entity root = reef_create(w);
    reef_entity last = root;
    for (int i = 1; i < DEPTH; i++) {
        const reef_entity e = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i));
        assert_status(REEF_ADDED, reef_relate(w, e, Under, last));
        last = e;
    }
    assert_true(reef_related(w, last, Under, root));
    assert_refused(w, REEF_CYCLE, reef_relate(w, root, Under, last));
    reef_world *f = reef_fork(w);
    assert_ok(reef_destroy(w, root));
    assert_int_equal(reef_count_alive(w), 0);
    assert_int_equal(reef_count_alive(f), DEPTH);
    assert_valid(f);
    reef_world_free(f);
}

static void a_target_is_kept(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[8];
    create_some(w, e, 8);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Holds, e[0]));
    assert_refused(w, REEF_REFUSED, reef_destroy(w, e[0]));
    const reef_error error = reef_last_error(w);
    assert_entity(e[1], error.entity); /* the source */
    assert_int_equal(error.component.id, reef_id(Holds).id);
    /* what would die with others is kept as well */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[2]));
    assert_refused(w, REEF_REFUSED, reef_destroy(w, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Under, e[2]));
    assert_int_equal(reef_destroy_many(w, e + 2, 1), 0);
    for (int i = 0; i < 4; i++) assert_true(reef_is_alive(w, e[i]));
    uint64_t n = 77;
    const reef_query q = reef_query_new(w, "Heavy");
    assert_refused(w, REEF_REFUSED, reef_destroy_where(w, q, &n)); /* e[0], e[2], but not e[1] */
    assert_entity(e[1], reef_last_error(w).entity);
    assert_status(REEF_REFUSED, destroy_everywhere(w, (reef_component[]){reef_id(Heavy)}, 1, &n));
    assert_int_equal(n, 77);
    /* together with its source it may die */
    assert_int_equal(reef_count_alive(w), 8);
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count_alive(w), 0);
    create_some(w, e, 8);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Holds, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Under, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Holds, e[0]));
    assert_ok(reef_destroy(w, e[0]));
    assert_false(reef_is_alive(w, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Holds, e[2]));
    assert_int_equal(reef_destroy_many(w, (reef_entity[]){e[3], e[2]}, 2), 2); /* one after the other */
    assert_status(REEF_ADDED, reef_relate(w, e[5], Holds, e[4]));
    assert_ok(reef_unrelate(w, e[5], Holds, e[4]));
    assert_ok(reef_destroy(w, e[4]));
    assert_status(REEF_ADDED, reef_relate(w, e[5], Holds, e[6]));
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count_alive(w), 0);
}

/* What observers were told, in order. */
static struct {
    char text[400];
    reef_entity base;
} diary;

static void write_down(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        const size_t at = strlen(diary.text);
        const char *name = n->component.id == reef_id(DockedTo).id  ? "docked"
                           : n->component.id == reef_id(Married).id ? "married"
                           : n->component.id == reef_id(Under).id   ? "under"
                                                                    : "";
        (void)snprintf(diary.text + at, sizeof diary.text - at, " %s%s%u",
                       n->kind == REEF_ON_ADD      ? "+"
                       : n->kind == REEF_ON_SET    ? "="
                       : n->kind == REEF_ON_REMOVE ? "-"
                                                   : "x",
                       name, (unsigned)(n->entities[i].index - diary.base.index));
    }
}

#define assert_told(expected) \
    do { \
        assert_string_equal(diary.text, expected); \
        diary.text[0] = 0; \
    } while (0)

static void observers_are_told(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    diary.base = e[0];
    diary.text[0] = 0;
    const uint32_t events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE;
    assert_false(reef_observer_is_null(reef_observer_add(w, "docked", write_down, events, reef_id(DockedTo))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "married", write_down, events, reef_id(Married))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "under", write_down, events, reef_id(Under))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "died", write_down, REEF_ON_DESTROY, (reef_component){0})));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_told(" +docked0");
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[2]));
    assert_told(" =docked0");
    assert_ok(reef_retarget(w, e[0], DockedTo, e[2], e[1]));
    assert_told(" =docked0");
    assert_ok(reef_destroy(w, e[1]));
    assert_told(" -docked0 x1");
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[2]));
    assert_told(" +married0 +married2");
    assert_status(REEF_ADDED, reef_relate(w, e[3], Married, e[2]));
    assert_told(" +married3 =married2 -married0");
    assert_ok(reef_unrelate(w, e[2], Married, e[3]));
    assert_told(" -married2 -married3");
    assert_status(REEF_ADDED, reef_relate(w, e[4], Under, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[5], Under, e[4]));
    diary.text[0] = 0;
    assert_ok(reef_destroy(w, e[3]));
    assert_told(" -under5 -under4 x5 x4 x3");
}

/* ---- worlds as values ---- */

enum { FOLK = 60 };

/* Any change of the relations between `e`. Returns whether somebody died. */
static void change_some(reef_world *w, reef_entity *e, uint64_t *seed)
{
    const uint32_t i = random_below(seed, FOLK), k = random_below(seed, FOLK), j = random_below(seed, FOLK);
    switch (random_below(seed, 12)) {
    case 0: (void)reef_relate(w, e[i], Under, e[k]); break;
    case 1: (void)reef_relate(w, e[i], DockedTo, e[k % 5]); break;
    case 2: (void)reef_relate_data(w, e[i], Owes, e[k], (int32_t)j); break;
    case 3: (void)reef_unrelate(w, e[i], Owes, e[k]); break;
    case 4: (void)reef_relate(w, e[i], Married, e[k]); break;
    case 5: (void)reef_relate(w, e[i], Knows, e[k]); break;
    case 6: (void)reef_relate_before(w, e[i], DockedTo, e[k % 5], e[j]); break;
    case 7: (void)reef_unrelate(w, e[i], DockedTo, e[k % 5]); break;
    case 8: (void)reef_relate(w, e[i], Needs, e[k]); break;
    case 9: (void)reef_remove(w, e[i], Needs); break;
    case 10: (void)reef_relate_before(w, e[i], Owes, e[k], reef_target(w, e[j], Owes)); break;
    default:
        if (random_below(seed, 4) == 0) (void)reef_destroy(w, e[i]);
        for (uint32_t x = 0; x < FOLK; x++)
            if (!reef_is_alive(w, e[x]))
                assert_some(e[x] = x % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, x)));
    }
}

/* The sources of all in their order, and whether they are related: the same in two worlds. */
static void assert_same_relations(const reef_world *a, const reef_world *b, const reef_entity *e, uint32_t n)
{
    const reef_component all[] = {reef_id(Under),   reef_id(DockedTo), reef_id(Owes),
                                  reef_id(Married), reef_id(Knows),    reef_id(Needs)};
    for (int c = 0; c < 6; c++)
        for (uint32_t i = 0; i < n; i++) {
            reef_entity list[FOLK + 1];
            const uint32_t count = sources_list(a, e[i], all[c], list, FOLK + 1);
            assert_sources_at(b, e[i], all[c], list, count, __LINE__);
        }
}

static void folk_make(reef_world *w, reef_entity *e, uint64_t *seed, int steps)
{
    create_some(w, e, FOLK);
    for (int i = 0; i < steps; i++) change_some(w, e, seed);
    assert_valid(w);
}

static void snapshots_and_forks(void **state)
{
    enum { FORKS = 100 };
    reef_world *w = world_of(state);
    reef_entity e[FOLK], mine[FOLK];
    uint64_t seed = 3;
    folk_make(w, e, &seed, 2000);
    const uint64_t hash = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *first = reef_snapshot_fork(s);
    reef_world *fork[FORKS];
    for (int i = 0; i < FORKS; i++) {
        assert_non_null(fork[i] = reef_fork(i ? fork[i / 2] : w));
        memcpy(mine, e, sizeof e);
        uint64_t own = (uint64_t)i + 10;
        reef_world *twin = reef_fork(fork[i]);
        for (int k = 0; k < 50; k++) change_some(fork[i], mine, &own);
        assert_valid(fork[i]);
        /* the same changes have the same effect, in another world, after another history */
        memcpy(mine, e, sizeof e);
        own = (uint64_t)i + 10;
        for (int k = 0; k < 50; k++) change_some(twin, mine, &own);
        assert_true(reef_hash(twin) == reef_hash(fork[i]) && reef_equal(twin, fork[i], NULL));
        assert_same_relations(twin, fork[i], mine, FOLK);
        reef_world_free(twin);
    }
    assert_true(reef_hash(w) == hash);
    memcpy(mine, e, sizeof e);
    for (int i = 0; i < 500; i++) change_some(w, mine, &seed);
    assert_true(reef_hash(w) != hash);
    assert_ok(reef_restore(w, s));
    assert_true(reef_hash(w) == hash && reef_equal(w, first, NULL));
    assert_same_relations(w, first, e, FOLK);
    assert_valid(w);
    assert_valid(first);
    for (int i = 0; i < FORKS; i++) {
        assert_valid(fork[i]);
        reef_world_free(fork[i]);
    }
    reef_world_free(first);
    reef_snapshot_free(s);
}

/* The world knows that it has relations after whatever brought them. */
static void a_state_that_comes_back_has_its_relations(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[4];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Under, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[2], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Holds, e[2]));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *before = reef_snapshot_fork(s);
    for (int way = 0; way < 4; way++) {
        reef_world *x = way == 2 ? other : way == 3 ? before : w;
        if (way < 2) assert_ok(reef_world_clear(w));
        if (way == 0) assert_ok(reef_restore(w, s));
        if (way == 1 || way == 2) assert_ok(reef_load_bytes(x, bytes.data, bytes.size, NULL));
        assert_valid(x);
        assert_refused(x, REEF_REFUSED, reef_destroy(x, e[2]));
        assert_ok(reef_destroy(x, e[0]));
        assert_false(reef_is_alive(x, e[1]) || reef_has(x, e[2], Likes));
        assert_valid(x);
        assert_ok(reef_shrink(x));
        assert_sources(x, e[2], Holds, e[3]);
    }
    reef_bytes_free(&bytes);
    reef_world_free(before);
    reef_snapshot_free(s);
}

static void hash_and_comparison(void **state)
{
    reef_world *a = world_of(state), *b = another_world(state, NULL);
    reef_entity e[6];
    create_some(a, e, 6);
    create_some(b, e, 6);
    /* relations to different targets may be made in any order */
    assert_status(REEF_ADDED, reef_relate(a, e[0], DockedTo, e[1]));
    assert_status(REEF_ADDED, reef_relate(a, e[2], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(b, e[2], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(b, e[0], DockedTo, e[1]));
    assert_true(reef_hash(a) == reef_hash(b) && reef_equal(a, b, NULL));
    /* the order of a target's sources is state */
    assert_status(REEF_ADDED, reef_relate(a, e[4], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(a, e[5], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(b, e[5], Likes, e[1]));
    assert_status(REEF_ADDED, reef_relate(b, e[4], Likes, e[1]));
    assert_false(reef_hash(a) == reef_hash(b) || reef_equal(a, b, NULL));
    assert_status(REEF_OK, reef_relate_before(b, e[4], Likes, e[1], null_entity));
    assert_false(reef_equal(a, b, NULL)); /* they are still the other way round */
    /* what came and went again leaves nothing */
    const uint64_t hash = reef_hash(a);
    assert_status(REEF_ADDED, reef_relate(a, e[3], Likes, e[1]));
    assert_ok(reef_unrelate(a, e[3], Likes, e[1]));
    assert_true(reef_hash(a) == hash);
}

static reef_status play(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint64_t seed = tick + 1;
    (void)bytes, (void)input;
    reef_entity *e = context;
    for (int i = 0; i < 20; i++) {
        const uint32_t a = random_below(&seed, FOLK), b = random_below(&seed, FOLK);
        (void)reef_relate(w, e[a], DockedTo, e[b % 4]);
        (void)reef_relate_before(w, e[b], DockedTo, e[a % 4], e[a]);
        (void)reef_relate(w, e[a], Married, e[b]);
        if (i == 0) (void)reef_destroy(w, e[FOLK - 1 - tick % 20]);
    }
    return REEF_OK;
}

static void relations_in_histories(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[FOLK];
    create_some(w, e, FOLK);
    reef_history *h =
        reef_history_new(w, &(reef_history_config){.ticks = 40, .step = play, .context = e, .hashes = true});
    assert_non_null(h);
    for (int i = 0; i < 40; i++) assert_ok(reef_history_step(h, NULL, 0));
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_history_rewind(h, 7));
    assert_valid(w);
    assert_ok(reef_history_replay(h, 40));
    assert_true(reef_hash(w) == hash);
    reef_history_free(h);
}

static void saving_and_loading(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[FOLK];
    uint64_t seed = 9;
    folk_make(w, e, &seed, 3000);
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_true(reef_hash(w) == reef_hash(other) && reef_equal(w, other, NULL));
    assert_same_relations(w, other, e, FOLK);
    reef_entity twin[FOLK];
    memcpy(twin, e, sizeof e);
    uint64_t own = seed;
    for (int i = 0; i < 1000; i++) { /* it goes on in the same way, deaths of targets included */
        change_some(w, e, &seed);
        change_some(other, twin, &own);
    }
    assert_true(reef_hash(w) == reef_hash(other));
    assert_same_relations(w, other, e, FOLK);
}

/* Only those who match are saved: nobody dies with somebody who isn't saved, or is kept for somebody's sake. */
static void saving_some(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity parent = reef_create(w), child = reef_spawn(w, reef_with(Heavy, 1)), held = reef_create(w),
                      holder = reef_spawn(w, reef_with(Heavy, 2)), friend_of = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, child, Under, parent));
    assert_status(REEF_ADDED, reef_relate(w, holder, Holds, held));
    assert_status(REEF_ADDED, reef_relate(w, holder, Likes, child));
    assert_status(REEF_ADDED, reef_relate(w, holder, Likes, friend_of));
    const uint64_t hash = reef_hash(w);
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.query = "Heavy", .sealed = true}));
    assert_true(reef_hash(w) == hash);
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_int_equal(reef_count_alive(other), 2);
    assert_true(reef_is_alive(other, child));
    assert_false(reef_has(other, child, Under) || reef_has(other, holder, Holds));
    assert_sources(other, child, Likes, holder);
    assert_int_equal(reef_count_on(other, holder, Likes), 1);
}

static void relations_in_differences(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[FOLK];
    uint64_t seed = 21;
    folk_make(w, e, &seed, 1000);
    for (int round = 0; round < 20; round++) {
        reef_world *before = reef_fork(w), *after = reef_fork(w);
        for (int i = 0; i < 100; i++) change_some(after, e, &seed);
        reef_bytes forth, back;
        assert_ok(reef_diff_bytes(before, after, &forth, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_bytes(after, before, &back, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_apply(w, forth.data, forth.size));
        assert_valid(w);
        assert_true(reef_hash(w) == reef_hash(after));
        assert_same_relations(w, after, e, FOLK);
        assert_ok(reef_diff_apply(w, back.data, back.size));
        assert_true(reef_hash(w) == reef_hash(before));
        assert_valid(w);
        assert_ok(reef_diff_apply(w, forth.data, forth.size));
        reef_bytes_free(&forth);
        reef_bytes_free(&back);
        reef_world_free(before);
        reef_world_free(after);
    }
    /* applied to another state, in which somebody is related to one that the difference destroys */
    reef_world *before = reef_fork(w), *after = reef_fork(w);
    const reef_entity gone = reef_create(w), fan = reef_create(w);
    reef_world_free(before);
    reef_world_free(after);
    before = reef_fork(w), after = reef_fork(w);
    assert_ok(reef_destroy(after, gone));
    assert_status(REEF_ADDED, reef_relate(w, fan, Likes, gone));
    assert_status(REEF_ADDED, reef_relate(w, fan, Guards, gone));
    reef_bytes bytes;
    assert_ok(reef_diff_bytes(before, after, &bytes, NULL));
    assert_ok(reef_diff_apply(w, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_valid(w);
    assert_false(reef_is_alive(w, gone));
    assert_false(reef_has(w, fan, Likes) || reef_has(w, fan, Guards));
    reef_world_free(before);
    reef_world_free(after);
}

static void journals(void **state)
{
    static const char path[] = "test_relation.journal";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[FOLK];
    uint64_t seed = 33;
    folk_make(w, e, &seed, 500);
    reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = true});
    assert_non_null(j);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 60; i++) change_some(w, e, &seed);
        assert_ok(reef_journal_append(j));
    }
    reef_journal_close(j);
    assert_ok(reef_load(other, path, NULL));
    assert_valid(other);
    assert_true(reef_hash(w) == reef_hash(other));
    assert_same_relations(w, other, e, FOLK);
    remove(path);
}

static void relations_are_merged(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[4], x[5];
    create_some(w, e, 4);
    create_some(from, x, 5);
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[3]));
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(from, x[2 - i], DockedTo, x[4]));
    assert_status(REEF_ADDED, reef_relate_data(from, x[0], Owes, x[1], 4));
    assert_status(REEF_ADDED, reef_relate_data(from, x[0], Owes, x[2], 5));
    assert_status(REEF_ADDED, reef_relate(from, x[0], Married, x[2]));
    assert_status(REEF_ADDED, reef_relate(from, x[3], Under, x[1]));
    const uint64_t hash = reef_hash(from);
    reef_merged *who = NULL;
    reef_entity n[5];
    assert_ok(reef_merge(w, from, NULL, &who));
    for (int i = 0; i < 5; i++) assert_some(n[i] = reef_merged_find(who, x[i]));
    reef_merged_free(who);
    assert_valid(w);
    assert_true(reef_hash(from) == hash);
    assert_sources(w, n[4], DockedTo, n[2], n[1], n[0]);
    assert_sources(w, e[3], DockedTo, e[0], e[1], e[2]);
    assert_sources(w, n[1], Owes, n[0]);
    assert_int_equal(reef_relation_get(w, n[0], Owes, n[2])->data.coins, 5);
    assert_entity(n[0], reef_target(w, n[2], Married));
    assert_sources(w, n[1], Under, n[3]);
    /* of some: relations to those who don't come end; nobody dies for that */
    reef_world *some = another_world(state, NULL);
    assert_ok(reef_merge(some, from, &(reef_merge_desc){.query = "Heavy"}, &who));
    for (int i = 0; i < 5; i++) n[i] = reef_merged_find(who, x[i]);
    reef_merged_free(who);
    assert_int_equal(reef_count_alive(some), 3); /* 0, 2, 4 */
    assert_sources(some, n[4], DockedTo, n[2], n[0]);
    assert_int_equal(reef_count_on(some, n[0], Owes), 1);
    assert_entity(n[2], reef_target(some, n[0], Owes));
    assert_entity(n[0], reef_target(some, n[2], Married));
    /* and the other way round: a source without its target */
    assert_ok(reef_merge(some, from, &(reef_merge_desc){.query = "!Heavy"}, NULL));
    assert_valid(some);
    assert_int_equal(reef_count(some, Under), 1);
}

static bool relation_seen(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)size;
    if (c.id == reef_id(Owes).id) *(int32_t *)context += ((const Owes *)data)->data.coins;
    return true;
}

static void printing_and_visiting(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    create_some(w, e, 3);
    for (int i = 1; i < 3; i++) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[i], 10 * i));
    assert_ok(reef_set_name(w, e[2], "bank"));
    FILE *file = tmpfile();
    char text[1024] = "";
    assert_true(reef_print(w, e[0], file));
    rewind(file);
    (void)fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_non_null(strstr(text, "Owes"));
    assert_non_null(strstr(text, "bank"));
    assert_non_null(strstr(text, "data.coins"));
    assert_null(strstr(text, "place")); /* which only says who comes first */
    int32_t sum = 0;
    assert_true(reef_visit_entity(w, e[0], relation_seen, &sum));
    assert_int_equal(sum, 30);
    uint32_t rows = 0, each = 0;
    for (reef_block b = reef_begin_text(w, "in Owes"); reef_next(&b);) rows += b.count;
    for (reef_block b = reef_begin_text(w, "each in Owes"); reef_next(&b);) each++;
    assert_int_equal(rows, 1);
    assert_int_equal(each, 2);
}

/* ---- a naive model ----
 * Relations in matrices, with the order of sources as a list for each target. */

enum { N = 40 };
typedef struct naive {
    bool alive[N];
    int16_t target[2][N]; /* Under, DockedTo: -1: none */
    bool likes[N][N], holds[N][N];
    int16_t order[N][N]; /* of DockedTo: the sources of each target */
    int16_t count[N];
} naive;

static void naive_leave(naive *m, int i)
{
    const int t = m->target[1][i];
    if (t < 0) return;
    int at = 0;
    while (m->order[t][at] != i) at++;
    memmove(&m->order[t][at], &m->order[t][at + 1], (size_t)(--m->count[t] - at) * sizeof(int16_t));
    m->target[1][i] = -1;
}

static void naive_dock(naive *m, int i, int t, int before)
{
    if (before < 0 && m->target[1][i] == t) return;
    naive_leave(m, i);
    int at = 0;
    while (at < m->count[t] && m->order[t][at] != before) at++;
    memmove(&m->order[t][at + 1], &m->order[t][at], (size_t)(m->count[t]++ - at) * sizeof(int16_t));
    m->order[t][at] = (int16_t)i;
    m->target[1][i] = (int16_t)t;
}

/* False: it is refused. */
static bool naive_destroy(naive *m, int i)
{
    bool doomed[N] = {false};
    doomed[i] = true;
    for (bool more = true; more;) {
        more = false;
        for (int k = 0; k < N; k++)
            if (m->alive[k] && !doomed[k] && m->target[0][k] >= 0 && doomed[m->target[0][k]]) doomed[k] = more = true;
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            if (m->alive[a] && !doomed[a] && doomed[b] && m->holds[a][b]) return false;
    for (int k = 0; k < N; k++)
        if (doomed[k]) naive_leave(m, k);
    for (int k = 0; k < N; k++) {
        if (m->target[1][k] >= 0 && doomed[m->target[1][k]]) naive_leave(m, k);
        if (doomed[k] || (m->target[0][k] >= 0 && doomed[m->target[0][k]])) m->target[0][k] = -1;
        for (int b = 0; b < N; b++)
            if (doomed[k] || doomed[b]) m->likes[k][b] = m->holds[k][b] = false;
    }
    for (int k = 0; k < N; k++)
        if (doomed[k]) m->alive[k] = false;
    return true;
}

static void naive_compare(const naive *m, const reef_world *w, const reef_entity *e)
{
    assert_valid(w);
    for (int i = 0; i < N; i++) {
        assert_int_equal(reef_is_alive(w, e[i]), m->alive[i]);
        if (!m->alive[i]) continue;
        reef_entity list[N];
        for (int k = 0; k < m->count[i]; k++) list[k] = e[m->order[i][k]];
        assert_sources_at(w, e[i], reef_id(DockedTo), list, (uint32_t)m->count[i], __LINE__);
        for (int k = 0; k < N; k++) {
            if (!m->alive[k]) continue;
            assert_int_equal(reef_related(w, e[i], Likes, e[k]), m->likes[i][k]);
            assert_int_equal(reef_related(w, e[i], Holds, e[k]), m->holds[i][k]);
            bool under = false;
            for (int p = m->target[0][i]; p >= 0; p = m->target[0][p]) under |= p == k;
            assert_int_equal(reef_related(w, e[i], Under, e[k]), under);
        }
    }
}

/* One step, in the world and in the model. */
static void naive_step(naive *m, reef_world *w, reef_entity *e, uint64_t *seed)
{
    const int i = (int)random_below(seed, N), t = (int)random_below(seed, N), k = (int)random_below(seed, N);
    if (!m->alive[i]) {
        assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i)));
        m->alive[i] = true;
    }
    if (!m->alive[t]) return;
    switch (random_below(seed, 14)) {
    case 0:
    case 1: {
        bool cycle = false;
        for (int p = t; p >= 0; p = m->target[0][p]) cycle |= p == i;
        const reef_status same = m->target[0][i] == t ? REEF_OK : REEF_ADDED;
        assert_status(cycle ? REEF_CYCLE : same, reef_relate(w, e[i], Under, e[t]));
        if (!cycle) m->target[0][i] = (int16_t)t;
        break;
    }
    case 2:
    case 3:
    case 4:
        assert_status(m->target[1][i] == t ? REEF_OK : REEF_ADDED, reef_relate(w, e[i], DockedTo, e[t]));
        naive_dock(m, i, t, -1);
        break;
    case 5: {
        if (reef_entity_is_null(e[k])) break; /* that means behind all */
        const reef_status there = m->target[1][i] == t ? REEF_OK : REEF_ADDED;
        const bool may = m->alive[k] && k != i && m->target[1][k] == t;
        const reef_status not = m->alive[k] ? REEF_ABSENT : REEF_NOT_ALIVE;
        assert_status(may ? there : not, reef_relate_before(w, e[i], DockedTo, e[t], e[k]));
        if (may) naive_dock(m, i, t, k);
        break;
    }
    case 6: /* behind all */
        (void)reef_relate_before(w, e[i], DockedTo, e[t], null_entity);
        naive_leave(m, i);
        naive_dock(m, i, t, -1);
        break;
    case 7:
        assert_status(m->target[1][i] == t ? REEF_OK : REEF_ABSENT, reef_unrelate(w, e[i], DockedTo, e[t]));
        if (m->target[1][i] == t) naive_leave(m, i);
        break;
    case 8:
    case 9:
        assert_status(m->likes[i][t] ? REEF_OK : REEF_ADDED, reef_relate(w, e[i], Likes, e[t]));
        m->likes[i][t] = true;
        break;
    case 10:
        assert_status(m->likes[i][t] ? REEF_OK : REEF_ABSENT, reef_unrelate(w, e[i], Likes, e[t]));
        m->likes[i][t] = false;
        break;
    case 11:
        if (!m->alive[k] || random_below(seed, 4)) break;
        assert_status(m->likes[i][t] ? m->likes[i][k] || k == t ? REEF_EXISTS : REEF_OK : REEF_ABSENT,
                      reef_retarget(w, e[i], Likes, e[t], e[k]));
        if (m->likes[i][t] && !m->likes[i][k]) m->likes[i][t] = false, m->likes[i][k] = true;
        break;
    case 12:
        if (random_below(seed, 12)) break;
        assert_true(reef_relate(w, e[i], Holds, e[t]) >= 0);
        m->holds[i][t] = true;
        break;
    default: {
        if (random_below(seed, 3)) break;
        const uint64_t hash = reef_hash(w);
        const bool dies = naive_destroy(m, t);
        assert_status(dies ? REEF_OK : REEF_REFUSED, reef_destroy(w, e[t]));
        if (!dies) assert_true(reef_hash(w) == hash);
    }
    }
}

static void a_naive_model_agrees(void **state)
{
    enum { STEPS = 20000 };
    static naive now, then;
    static reef_entity e[N], kept[N];
    reef_world *w = world_of(state), *old = NULL;
    for (uint64_t round = 1; round <= 3; round++) {
        uint64_t seed = round;
        assert_ok(reef_world_clear(w));
        memset(&now, 0, sizeof now);
        for (int i = 0; i < N; i++) now.target[0][i] = now.target[1][i] = -1;
        for (int step = 0; step < STEPS; step++) {
            naive_step(&now, w, e, &seed);
            if (step % 500 == 0) naive_compare(&now, w, e);
            if (step % 1000 == 100) { /* this world and a fork go separate ways */
                reef_world_free(old);
                assert_non_null(old = reef_fork(w));
                then = now;
                memcpy(kept, e, sizeof e);
            }
            if (step % 1000 == 600) {
                for (int i = 0; i < 100; i++) naive_step(&then, old, kept, &seed);
                naive_compare(&then, old, kept);
            }
            if (step % 2000 == 1500) { /* and it goes on as what was saved */
                reef_bytes bytes;
                assert_ok(reef_save_bytes(w, &bytes, NULL));
                assert_ok(reef_load_bytes(w, bytes.data, bytes.size, NULL));
                reef_bytes_free(&bytes);
                naive_compare(&now, w, e);
            }
        }
        naive_compare(&now, w, e);
        reef_world_free(old);
        old = NULL;
    }
}

/* ---- a program that lacks the type ---- */

/* Renames a type in a file; both names have the same length. */
static void type_rename(reef_bytes bytes, const char *from, const char *to)
{
    char *at = bytes.data;
    const size_t n = strlen(from);
    uint32_t found = 0;
    for (size_t i = 0; i + n <= bytes.size; i++)
        if (memcmp(at + i, from, n) == 0) memcpy(at + i, to, n), found++;
    assert_true(found > 0);
    repair(bytes.data, bytes.size);
}

static void a_program_without_the_type(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[5];
    create_some(w, e, 5);
    for (int i = 4; i > 0; i--) {
        assert_status(REEF_ADDED, reef_relate_data(w, e[i], Owes, e[0], i));
        assert_status(REEF_ADDED, reef_relate(w, e[i], Under, e[0]));
    }
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    type_rename(bytes, "Owes", "Owed");
    type_rename(bytes, "Under", "Unter");
    reef_load_desc desc = {.unknown = REEF_UNKNOWN_DROP};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    assert_int_equal(reef_count_alive(other), 5);
    assert_int_equal(reef_world_stats(other).values, 0);
    desc.unknown = REEF_UNKNOWN_REFUSE;
    assert_refused(other, REEF_UNKNOWN_TYPE, reef_load_bytes(other, bytes.data, bytes.size, &desc));
    desc.unknown = REEF_UNKNOWN_DECLARE;
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    const reef_component owed = reef_type_find("Owed"), unter = reef_type_find("Unter");
    assert_true(owed.id && unter.id);
    reef_type_info info;
    assert_true(reef_type_get(unter, &info));
    assert_int_equal(info.relation, REEF_IS_RELATION | REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE);
    assert_sources_at(other, e[0], owed, (reef_entity[]){e[4], e[3], e[2], e[1]}, 4, __LINE__);
    assert_int_equal(((const Owes *)reef_relation_get_id(other, e[3], owed, e[0]))->data.coins, 3);
    assert_status(REEF_CYCLE, reef_relate_id(other, e[0], unter, e[2], NULL, 0));
    /* and it saves it as it was */
    reef_bytes again;
    assert_ok(reef_save_bytes(other, &again, NULL));
    assert_ok(reef_world_clear(other));
    assert_ok(reef_load_bytes(other, again.data, again.size, &desc));
    assert_sources_at(other, e[0], owed, (reef_entity[]){e[4], e[3], e[2], e[1]}, 4, __LINE__);
    reef_bytes_free(&again);
    assert_ok(reef_destroy(other, e[0])); /* it cascades */
    assert_int_equal(reef_count_alive(other), 0);
    reef_bytes_free(&bytes);
}

/* A type of relations that a file describes as something else isn't declared: its values are left out. */
static void lies_about_a_type_of_relations(void **state)
{
    static const char *const lies[][2] = {{"target", "tarjet"}, {"place", "plaze"}};
    for (int i = 0; i < 2; i++) {
        reef_world *w = another_world(state, NULL), *other = world_of(state);
        reef_entity e[3];
        create_some(w, e, 3);
        for (int k = 1; k < 3; k++) assert_status(REEF_ADDED, reef_relate_data(w, e[k], Owes, e[0], k));
        reef_bytes bytes;
        assert_ok(reef_save_bytes(w, &bytes, NULL));
        type_rename(bytes, "Owes", "Owez");
        type_rename(bytes, lies[i][0], lies[i][1]);
        const reef_load_desc desc = {.unknown = REEF_UNKNOWN_DECLARE};
        assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
        assert_int_equal(reef_type_find("Owez").id, 0);
        assert_int_equal(reef_world_stats(other).values, 0);
        assert_valid(other);
        reef_bytes_free(&bytes);
    }
}

/* A component that became a type of relations: relations to those who are dead end, and all get places. */
static void a_component_becomes_a_relation(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e[5];
    create_some(w, e, 5);
    for (int i = 1; i < 5; i++) assert_status(REEF_ADDED, reef_set(w, e[i], Harbour, .target = i == 2 ? e[4] : e[0]));
    reef_bytes bytes;
    assert_ok(reef_destroy(w, e[4]));
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    type_rename(bytes, "Harbour", "HarborX");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_valid(other);
    assert_sources(other, e[0], HarborX, e[1], e[3]);
    assert_false(reef_has(other, e[2], HarborX));
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
        TEST(generic_verbs_make_relations),
        TEST(where_verbs_keep_the_rules),
        TEST(commands_make_relations),
        TEST(clones_have_the_same_targets),
        TEST(relations_end_with_their_target),
        TEST(sources_die_with_their_target),
        TEST(a_chain_of_any_depth_dies),
        TEST(a_target_is_kept),
        TEST(observers_are_told),
        TEST(snapshots_and_forks),
        TEST(a_state_that_comes_back_has_its_relations),
        TEST(hash_and_comparison),
        TEST(relations_in_histories),
        TEST(saving_and_loading),
        TEST(saving_some),
        TEST(relations_in_differences),
        TEST(journals),
        TEST(relations_are_merged),
        TEST(printing_and_visiting),
        TEST(a_naive_model_agrees),
        TEST(a_program_without_the_type),
        TEST(lies_about_a_type_of_relations),
        TEST(a_component_becomes_a_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
