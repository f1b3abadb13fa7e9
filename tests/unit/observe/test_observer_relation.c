/* Observers of relations: each relation that comes, goes or gets another target is told, of all targets or of one. */
#include "support.h"

typedef struct {
    int32_t coins;
} Coins;
REEF_COMPONENT(Coins);
REEF_TAG(Folk);

/* How each of them begins. */
typedef struct any_relation {
    reef_entity target;
    uint64_t place;
} any_relation;

REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);
REEF_RELATION(Guards, REEF_CASCADE);
REEF_RELATION(Married, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION_OF(Owes, Coins);

/* ---- single calls ---- */

static struct {
    char text[400];
    uint32_t base;
} diary;

static void write_down(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        const size_t at = strlen(diary.text);
        const any_relation *now = reef_notice_value(n, i), *was = reef_notice_old(n, i);
        const char *sign = n->kind == REEF_ON_ADD ? "+" : n->kind == REEF_ON_SET ? "=" : "-";
        (void)snprintf(diary.text + at, sizeof diary.text - at, " %s%u>%u", sign,
                       (unsigned)(n->entities[i].index - diary.base), (unsigned)(n->targets[i].index - diary.base));
        if (n->kind == REEF_ON_SET)
            (void)snprintf(diary.text + strlen(diary.text), 20, "(%u)", (unsigned)(was->target.index - diary.base));
        assert_true((now != NULL) == (n->kind != REEF_ON_REMOVE) && (was != NULL) == (n->kind != REEF_ON_ADD));
        assert_entity(n->targets[i], now ? now->target : was->target);
        if (n->count == 1) assert_ptr_equal(n->values, now);
    }
}

#define assert_told(expected) \
    do { \
        assert_string_equal(diary.text, expected); \
        diary.text[0] = 0; \
    } while (0)

static void watch(reef_world *w, const char *name, reef_component c, reef_entity target, bool collected)
{
    const reef_observer_desc d = {.name = name,
                                  .function = write_down,
                                  .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                  .component = c,
                                  .target = target,
                                  .collected = collected};
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
}

static void create_some(reef_world *w, reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_tag(Folk)));
    diary.base = e[0].index;
    diary.text[0] = 0;
}

static const reef_entity null_entity = {0, 0};

static void each_relation_is_told(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6], copy[2];
    create_some(w, e, 6);
    watch(w, "likes", reef_id(Likes), null_entity, false);
    watch(w, "owes", reef_id(Owes), null_entity, false);
    (void)reef_relate(w, e[0], Likes, e[1]);
    assert_told(" +0>1");
    (void)reef_relate(w, e[0], Likes, e[1]);
    assert_told("");
    (void)reef_relate(w, e[0], Likes, e[2]);
    (void)reef_relate(w, e[0], Likes, e[3]);
    assert_told(" +0>2 +0>3");
    assert_ok(reef_unrelate(w, e[0], Likes, e[2]));
    assert_told(" -0>2");
    assert_ok(reef_retarget(w, e[0], Likes, e[1], e[4]));
    assert_told(" -0>1 +0>4");
    assert_ok(reef_set(w, e[0], Likes, .target = e[5])); /* in the place of the first one */
    assert_told(" -0>4 +0>5");
    assert_some(copy[0] = reef_clone(w, e[0]));
    assert_told(" +6>5 +6>3");
    assert_ok(reef_clone_many(w, e[0], 2, copy));
    assert_told(" +7>5 +7>3 +8>5 +8>3");
    assert_ok(reef_destroy(w, copy[0]));
    assert_told(" -7>5 -7>3");
    assert_ok(reef_destroy(w, e[3]));
    assert_told(" -0>3 -6>3 -8>3");
    assert_ok(reef_remove(w, e[0], Likes));
    assert_told(" -0>5");
    assert_some(reef_spawn(w, reef_with(Likes, .target = e[2])));
    assert_told(" +7>2");
    (void)reef_relate_data(w, e[0], Owes, e[1], 5);
    (void)reef_relate_data(w, e[0], Owes, e[2], 6);
    assert_told(" +0>1 +0>2");
    (void)reef_relate_data(w, e[0], Owes, e[1], 7); /* data that is written in place isn't told */
    assert_told("");
    (void)reef_relate(w, e[1], Likes, e[1]);
    (void)reef_relate(w, e[1], Likes, e[2]);
    assert_told(" +1>1 +1>2");
    (void)remove_everywhere(w, reef_id(Likes), NULL);
    assert_told(" -7>2 -1>1 -1>2 -6>5 -8>5");
}

static void an_exclusive_relation_is_retargeted(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    watch(w, "docked", reef_id(DockedTo), null_entity, false);
    (void)reef_relate(w, e[0], DockedTo, e[1]);
    (void)reef_relate(w, e[0], DockedTo, e[2]);
    assert_told(" +0>1 =0>2(1)");
    assert_ok(reef_retarget(w, e[0], DockedTo, e[2], e[3]));
    assert_ok(reef_set(w, e[0], DockedTo, .target = e[4]));
    assert_told(" =0>3(2) =0>4(3)");
    assert_ok(reef_destroy(w, e[4]));
    assert_told(" -0>4");
    reef_entity many[3];
    assert_ok(reef_spawn_many(w, 3, many, reef_with(DockedTo, .target = e[1])));
    assert_told(" +4>1 +6>1 +7>1");
    assert_int_equal(reef_unrelate_sources(w, e[1], DockedTo), 3);
    assert_told(" -4>1 -6>1 -7>1");
}

static void both_halves_are_told(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    watch(w, "married", reef_id(Married), null_entity, false);
    watch(w, "knows", reef_id(Knows), null_entity, false);
    (void)reef_relate(w, e[0], Married, e[1]);
    assert_told(" +0>1 +1>0");
    (void)reef_relate(w, e[2], Married, e[1]);
    assert_told(" +2>1 =1>2(0) -0>1");
    (void)reef_relate(w, e[2], Knows, e[1]);
    (void)reef_relate(w, e[2], Knows, e[3]);
    (void)reef_relate(w, e[3], Knows, e[3]);
    assert_told(" +2>1 +1>2 +2>3 +3>2 +3>3");
    assert_ok(reef_unrelate(w, e[1], Knows, e[2]));
    assert_told(" -1>2 -2>1");
    assert_int_equal(reef_unrelate_all(w, e[3], Knows), 2);
    assert_told(" -3>3 -3>2 -2>3");
}

static void observers_of_one_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    watch(w, "docked", reef_id(DockedTo), e[1], false);
    watch(w, "likes", reef_id(Likes), e[1], false);
    (void)reef_relate(w, e[0], DockedTo, e[2]);
    assert_told("");
    (void)reef_relate(w, e[0], DockedTo, e[1]);
    assert_told(" =0>1(2)"); /* it comes */
    (void)reef_relate(w, e[0], DockedTo, e[3]);
    assert_told(" =0>3(1)"); /* it leaves */
    (void)reef_relate(w, e[0], DockedTo, e[4]);
    assert_told("");
    (void)reef_relate(w, e[2], Likes, e[0]);
    (void)reef_relate(w, e[2], Likes, e[1]);
    (void)reef_relate(w, e[2], Likes, e[3]);
    assert_told(" +2>1");
    assert_ok(reef_retarget(w, e[2], Likes, e[1], e[4]));
    assert_told(" -2>1");
    assert_ok(reef_retarget(w, e[2], Likes, e[4], e[1]));
    assert_told(" +2>1");
    assert_ok(reef_destroy(w, e[1]));
    assert_told(" -2>1");
    const reef_entity next = reef_create(w); /* it has the index of the target, and is somebody else */
    assert_int_equal(next.index, e[1].index);
    (void)reef_relate(w, e[2], Likes, next);
    assert_told("");
}

static void collected_observers_get_the_net_effect(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    (void)reef_relate(w, e[0], Likes, e[1]);
    (void)reef_relate(w, e[0], DockedTo, e[1]);
    watch(w, "likes", reef_id(Likes), null_entity, true);
    watch(w, "docked", reef_id(DockedTo), null_entity, true);
    watch(w, "to2", reef_id(DockedTo), e[2], true);
    const reef_query q = reef_query_new(w, "Folk");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    (void)reef_relate(w, e[0], Likes, e[2]);
    (void)reef_relate(w, e[0], Likes, e[3]);
    (void)reef_unrelate(w, e[0], Likes, e[2]); /* came and went */
    (void)reef_unrelate(w, e[0], Likes, e[1]);
    (void)reef_relate(w, e[0], DockedTo, e[2]);
    (void)reef_relate(w, e[0], DockedTo, e[3]); /* 2 is passed by */
    (void)reef_relate(w, e[1], DockedTo, e[3]);
    (void)reef_relate(w, e[1], DockedTo, e[2]);
    reef_end(&b);
    assert_told(" -0>1 +0>3 +1>2 =0>3(1) +1>2");
    b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    (void)reef_destroy(w, e[3]);
    (void)reef_relate(w, e[4], Likes, e[1]);
    (void)reef_relate(w, e[1], DockedTo, e[5]);
    (void)reef_unrelate(w, e[1], DockedTo, e[5]);
    reef_end(&b);
    assert_told(" -0>3 +4>1 -0>3 -1>2 -1>2");
}

static void existing_down(const reef_notice *n)
{
    assert_true(n->existing);
    write_down(n);
}

static void what_is_there_already(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    (void)reef_relate(w, e[0], Likes, e[1]);
    (void)reef_relate(w, e[0], Likes, e[2]);
    (void)reef_relate(w, e[2], Likes, e[2]);
    reef_observer_desc d = {
        .name = "a", .function = existing_down, .events = REEF_ON_ADD, .component = reef_id(Likes), .existing = true};
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
    assert_told(" +0>1 +0>2 +2>2");
    d.name = "b";
    d.target = e[2];
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
    assert_told(" +0>2 +2>2");
}

static void observers_that_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    create_some(w, e, 2);
    reef_observer_desc d = {
        .name = "a", .function = write_down, .events = REEF_ON_ADD, .component = reef_id(Coins), .target = e[0]};
    assert_true(reef_observer_is_null(reef_observer_new(w, &d)));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    d.component = reef_id(Likes);
    d.events = REEF_ON_DESTROY | REEF_ON_ADD;
    assert_true(reef_observer_is_null(reef_observer_new(w, &d)));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    d.events = REEF_ON_ADD;
    assert_ok(reef_destroy(w, e[0]));
    assert_true(reef_observer_is_null(reef_observer_new(w, &d)));
    assert_status(REEF_NOT_ALIVE, reef_last_error(w).status);
    d.target = e[1];
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
}

/* ---- a mirror ----
 *
 * Observers keep lists of all relations, by what they are told alone. After each step the lists are compared with the
 * world. */

enum { TYPES = 6, CROWD = 24, PAIRS = 4000 };

typedef struct pair {
    reef_entity source, target;
} pair;
typedef struct mirror {
    pair pairs[PAIRS];
    uint32_t count;
    reef_entity only; /* null: all targets */
    bool exclusive;
} mirror;

static mirror mirrors[3 * TYPES];
static bool mirror_wrong;

static uint32_t mirror_seek(const mirror *m, reef_entity source, reef_entity target)
{
    uint32_t i = 0;
    while (i < m->count &&
           !(reef_entity_equal(m->pairs[i].source, source) && reef_entity_equal(m->pairs[i].target, target)))
        i++;
    return i;
}

static void mirror_put(mirror *m, reef_entity source, reef_entity target, bool there)
{
    if (!reef_entity_is_null(m->only) && !reef_entity_equal(m->only, target)) return;
    const uint32_t i = mirror_seek(m, source, target);
    if ((i < m->count) == there || m->count == PAIRS) mirror_wrong = true;
    else if (there) m->pairs[m->count++] = (pair){source, target};
    else m->pairs[i] = m->pairs[--m->count];
}

static void reflect(const reef_notice *n)
{
    mirror *m = n->context;
    for (uint32_t i = 0; i < n->count; i++) {
        const any_relation *was = reef_notice_old(n, i);
        const reef_entity e = n->entities[i];
        if (n->kind == REEF_ON_ADD) mirror_put(m, e, n->targets[i], true);
        if (n->kind == REEF_ON_REMOVE) mirror_put(m, e, n->targets[i], false);
        if (n->kind == REEF_ON_SET && !reef_entity_equal(was->target, n->targets[i])) {
            mirror_put(m, e, was->target, false);
            mirror_put(m, e, n->targets[i], true);
        }
    }
}

static reef_component type_number(uint32_t i)
{
    const reef_component all[TYPES] = {reef_id(Likes),  reef_id(DockedTo), reef_id(Under),
                                       reef_id(Guards), reef_id(Knows),    reef_id(Owes)};
    return all[i];
}

static void mirrors_compare(const reef_world *w, int step)
{
    const reef_query all = reef_query_new((reef_world *)(uintptr_t)w, "either *");
    for (uint32_t i = 0; i < 3 * TYPES; i++) {
        const mirror *m = &mirrors[i];
        uint32_t there = 0;
        for (reef_row r = reef_rows((reef_world *)(uintptr_t)w, all); reef_row_next(&r);) {
            const reef_entity e = r.block.entities[r.i];
            uint32_t n = 0;
            const char *first = reef_get_all_id(w, e, type_number(i % TYPES), &n);
            const size_t size = i % TYPES == 5 ? sizeof(Owes) : sizeof(Likes);
            for (uint32_t k = 0; first && k < n; k++) {
                const reef_entity target = ((const any_relation *)(const void *)(first + k * size))->target;
                if (!reef_entity_is_null(m->only) && !reef_entity_equal(m->only, target)) continue;
                there++;
                if (mirror_seek(m, e, target) == m->count)
                    fail_msg("step %d, mirror %u: %u > %u wasn't told", step, (unsigned)i, (unsigned)e.index,
                             (unsigned)target.index);
            }
        }
        if (there != m->count)
            fail_msg("step %d, mirror %u: %u pairs instead of %u", step, (unsigned)i, (unsigned)m->count,
                     (unsigned)there);
    }
    assert_ok(reef_query_free((reef_world *)(uintptr_t)w, all));
    if (mirror_wrong) fail_msg("step %d: told of what was known, or not of what wasn't", step);
}

static void crowd_step(reef_world *w, reef_entity *e, uint64_t *seed, bool loop)
{
    const uint32_t i = random_below(seed, CROWD), k = random_below(seed, CROWD), j = random_below(seed, CROWD);
    const reef_component c = type_number(random_below(seed, TYPES));
    const uint32_t what = random_below(seed, loop ? 13 : 24);
    const any_relation to = {e[k], 0};
    if (!reef_is_alive(w, e[i]))
        e[i] = loop ? reef_create(w) : reef_spawn(w, reef_tag(Folk), reef_with(Owes, .target = e[k]));
    if (reef_entity_is_null(e[i])) e[i] = reef_create(w);
    switch (what) {
    case 0: (void)reef_unrelate_id(w, e[i], c, e[k]); break;
    case 1: (void)reef_retarget_id(w, e[i], c, e[k], e[j]); break;
    case 2: (void)reef_relate_before_id(w, e[i], c, e[k], e[j]); break;
    case 3: (void)reef_destroy(w, e[j]); break;
    case 4: (void)reef_remove_id(w, e[i], random_below(seed, 2) ? reef_id(Likes) : reef_id(DockedTo)); break;
    case 5: (void)reef_set(w, e[i], Likes, .target = e[k]); break;
    case 6: (void)reef_set(w, e[i], Under, .target = e[k]); break;
    case 7:
        (void)reef_change(w, e[i], reef_with(DockedTo, .target = e[j]), reef_without(Owes),
                          reef_with(Likes, .target = e[k]));
        break;
    case 8:
        (void)reef_destroy(w, e[j]);
        e[j] = reef_clone(w, e[i]);
        break;
    case 13: (void)reef_unrelate_sources_id(w, e[k], c); break;
    case 14: (void)reef_unrelate_all_id(w, e[i], c); break;
    case 15: (void)reef_append_id(w, e[i], reef_id(Likes), &to, sizeof to); break;
    case 16: {
        const reef_query q = reef_query_new(w, random_below(seed, 2) ? "with DockedTo, Folk" : "with Owes, with Likes");
        if (what % 2 == 0 && random_below(seed, 3) == 0) (void)reef_remove_where(w, q, Likes);
        else (void)reef_set_where(w, q, DockedTo, .target = e[k]);
        if (random_below(seed, 8) == 0) (void)reef_destroy_where(w, q, NULL);
        assert_ok(reef_query_free(w, q));
        break;
    }
    case 17: {
        reef_entity some[3] = {{0, 0}, {0, 0}, {0, 0}};
        if (random_below(seed, 2))
            (void)reef_spawn_many(w, 3, some, reef_with(Likes, .target = e[k]), reef_with(DockedTo, .target = e[j]));
        else if (reef_clone_many(w, e[i], 3, some) < 0) break;
        (void)reef_destroy_many(w, some + 1, 2);
        break;
    }
    case 18:
        if (random_below(seed, 20) == 0) (void)remove_everywhere(w, reef_id(Owes), NULL);
        break;
    case 19:
        if (random_below(seed, 20) == 0) (void)remove_everywhere(w, reef_id(Under), NULL);
        if (random_below(seed, 40) == 0) (void)DESTROY_EVERYWHERE(w, reef_id(Guards));
        if (random_below(seed, 200) == 0) (void)reef_world_clear(w);
        break;
    case 20: (void)reef_remove_one_id(w, e[i], reef_id(Likes), random_below(seed, 3)); break;
    default: (void)reef_relate_id(w, e[i], c, e[k], NULL, 0);
    }
}

static void mirrors_agree(void **state)
{
    uint64_t seed = 12;
    reef_world *w = world_of(state);
    reef_entity e[CROWD];
    for (int i = 0; i < CROWD; i++) e[i] = reef_spawn(w, reef_tag(Folk));
    memset(mirrors, 0, sizeof mirrors);
    mirror_wrong = false;
    for (uint32_t i = 0; i < 3 * TYPES; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "mirror%u", (unsigned)i);
        if (i / TYPES == 2) mirrors[i].only = e[3];
        const reef_observer_desc d = {.name = name,
                                      .function = reflect,
                                      .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                      .component = type_number(i % TYPES),
                                      .target = mirrors[i].only,
                                      .collected = i / TYPES == 1,
                                      .context = &mirrors[i]};
        assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
    }
    const reef_query folk = reef_query_new(w, "Folk");
    for (int step = 0; step < 4000; step++) {
        if (step % 10 == 9) {
            reef_block b = reef_begin_loop(w, folk, &(reef_loop){.deferred = true});
            for (uint32_t n = random_below(&seed, 12); n-- > 0;) crowd_step(w, e, &seed, true);
            reef_end(&b);
        } else {
            crowd_step(w, e, &seed, false);
        }
        mirrors_compare(w, step);
        if (step % 64 == 0) assert_valid(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_relation_is_told),
        TEST(an_exclusive_relation_is_retargeted),
        TEST(both_halves_are_told),
        TEST(observers_of_one_target),
        TEST(collected_observers_get_the_net_effect),
        TEST(what_is_there_already),
        TEST(observers_that_are_refused),
        TEST(mirrors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
