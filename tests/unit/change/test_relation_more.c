/* Relations with everything else: disabling, subtypes, merging under observers, cloning, memory, messages, the rules of
 * long lives. */
#include "support.h"

typedef struct {
    int32_t coins;
} Coins;
REEF_COMPONENT(Coins);
REEF_FIELDS(Coins, coins);
REEF_TAG(Folk);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);
REEF_RELATION(Dies, REEF_CASCADE);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION(Mates, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION_OF(Owes, Coins);
REEF_RELATION_OF(Shares, Coins, REEF_SYMMETRIC);
REEF_RELATION(Keeps, REEF_KEEPS_TARGET);
REEF_RELATION(Twisted, REEF_SYMMETRIC | REEF_ACYCLIC); /* refused */

static void create_some(reef_world *w, reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) assert_some(e[i] = reef_spawn(w, reef_tag(Folk)));
}

/* A relation that is disabled is there, and holds; only queries don't see it, as with any component. */
static void a_disabled_relation(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], DockedTo, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[3]));
    const reef_query docked = reef_query_new(w, "in DockedTo"), likes = reef_query_new(w, "in Likes, Folk");
    assert_int_equal(reef_query_count(w, docked), 2);
    assert_ok(reef_disable(w, e[0], DockedTo));
    assert_ok(reef_disable(w, e[0], Likes));
    assert_int_equal(reef_query_count(w, docked), 1);
    assert_int_equal(reef_query_count(w, likes), 0);
    assert_true(reef_related(w, e[0], DockedTo, e[3]));
    assert_int_equal(reef_source_count(w, e[3], DockedTo), 2);
    assert_ok(reef_enable(w, e[0], Likes));
    assert_int_equal(reef_query_count(w, likes), 1);
    assert_ok(reef_retarget(w, e[0], DockedTo, e[3], e[2]));
    assert_false(reef_is_enabled(w, e[0], DockedTo));
    assert_ok(reef_destroy(w, e[2])); /* the mark goes with the relation */
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[3]));
    assert_true(reef_is_enabled(w, e[0], DockedTo));
    assert_ok(reef_disable(w, e[3])); /* a disabled target is a target */
    assert_int_equal(reef_source_count(w, e[3], DockedTo), 2);
    assert_valid(w);
}

static void no_subtypes(void **state)
{
    reef_world *w = world_of(state);
    reef_status s = REEF_OK;
    (void)w;
    assert_int_equal(
        reef_type_new(&(reef_type_desc){.name = "LikesMore", .base = reef_id(Likes), .size = sizeof(Likes), .align = 8},
                      &s)
            .id,
        0);
    assert_status(REEF_BAD_ARGUMENT, s);
    assert_int_equal(
        reef_type_new(&(reef_type_desc){.name = "DockedMore", .base = reef_id(DockedTo), .relation = REEF_IS_RELATION},
                      &s)
            .id,
        0);
    assert_status(REEF_BAD_ARGUMENT, s);
}

/* One entity is cloned: its targets stay what they are, also if that is the entity itself. */
static void clones_keep_their_targets(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3], made[3];
    create_some(w, e, 3);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[1], 5));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[2]));
    assert_ok(reef_clone_many(w, e[0], 3, made));
    for (int i = 0; i < 3; i++) {
        assert_true(reef_related(w, made[i], Likes, e[0]) && !reef_related(w, made[i], Likes, made[i]));
        assert_int_equal(reef_relation_get(w, made[i], Owes, e[1])->data.coins, 5);
        assert_false(reef_has(w, made[i], Knows));
    }
    assert_int_equal(reef_source_count(w, e[0], Likes), 4);
    assert_int_equal(reef_source_count(w, e[2], Knows), 1);
    /* of a tree, relations within it point into the clone */
    assert_status(REEF_ADDED, reef_relate(w, e[1], ChildOf, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Likes, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Likes, e[2]));
    reef_entity root;
    assert_ok(reef_clone_tree(w, e[0], 1, &root));
    reef_sources s = reef_sources_of(w, root, ChildOf);
    assert_true(reef_sources_next(&s) && s.count == 1);
    assert_true(reef_related(w, s.sources[0], Likes, root) && !reef_related(w, s.sources[0], Likes, e[0]));
    assert_true(reef_related(w, s.sources[0], Likes, e[2]));
    assert_true(reef_related(w, root, Likes, root));
}

static uint64_t told_adds, told_removes;
static void count_told(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        assert_true(reef_is_alive(n->world, n->targets[i]) || n->kind == REEF_ON_REMOVE);
    if (n->kind == REEF_ON_ADD) told_adds += n->count;
    if (n->kind == REEF_ON_REMOVE) told_removes += n->count;
}

/* Merging tells observers nothing, as everywhere; what happens to the merged relations later is told. */
static void merged_relations_are_observed_from_then_on(void **state)
{
    reef_world *w = world_of(state), *from = another_world(state, NULL);
    reef_entity e[20];
    create_some(from, e, 20);
    for (uint32_t i = 1; i < 20; i++) {
        (void)reef_relate(from, e[i], Likes, e[i / 2]);
        (void)reef_relate(from, e[i], Likes, e[0]);
        (void)reef_relate(from, e[i], DockedTo, e[(i * 7) % 20]);
    }
    told_adds = told_removes = 0;
    const uint32_t events = REEF_ON_ADD | REEF_ON_REMOVE | REEF_ON_SET;
    assert_false(reef_observer_is_null(reef_observer_add(w, "likes", count_told, events, reef_id(Likes))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "docked", count_told, events, reef_id(DockedTo))));
    assert_ok(reef_merge(w, from, NULL, NULL));
    assert_valid(w);
    uint64_t there = 0;
    const reef_query all = reef_query_new(w, "Folk");
    for (reef_row r = reef_rows(w, all); reef_row_next(&r);)
        there += reef_count_on(w, r.block.entities[r.i], Likes) + reef_count_on(w, r.block.entities[r.i], DockedTo);
    assert_true(there > 40);
    assert_int_equal(told_adds + told_removes, 0);
    assert_ok(reef_destroy_where(w, all, NULL));
    assert_int_equal(told_removes, there);
}

/* Relations that come and go leave no memory behind, whatever their number was. */
static void memory_comes_back(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[4000];
    const reef_entity null = {0, 0};
    create_some(w, e, 4000);
    uint64_t most = 0;
    for (int round = 0; round < 6; round++) {
        for (uint32_t i = 0; i < 4000; i++) {
            (void)reef_relate(w, e[i], DockedTo, e[(i * 7919u + (uint32_t)round) % 4000]);
            (void)reef_relate(w, e[i], Likes, e[i % 10]);
            (void)reef_relate_before(w, e[i], Under, e[i % 100 + 3900], null);
        }
        for (uint32_t i = 0; i < 4000; i++) {
            if (round % 2) (void)reef_unrelate_all(w, e[i], DockedTo);
            else (void)reef_unrelate_sources(w, e[i], DockedTo);
            (void)reef_unrelate_sources(w, e[i], Likes);
            (void)reef_remove(w, e[i], Under);
        }
        assert_int_equal(reef_count(w, DockedTo) + reef_count(w, Likes) + reef_count(w, Under), 0);
        assert_valid(w);
        const uint64_t bytes = heap_of(state)->bytes;
        if (round == 1) most = bytes;
        if (round > 1) assert_true(bytes <= most);
    }
}

static void differences_have_texts(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    char text[300];
    reef_difference d;
    create_some(w, e, 3);
    assert_ok(reef_set_name(w, e[0], "alice"));
    (void)reef_relate_data(w, e[0], Owes, e[1], 5);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_true(reef_equal(w, fork, &d));
    reef_relation_mut(fork, e[0], Owes, e[1])->data.coins = 6;
    assert_false(reef_equal(w, fork, &d));
    assert_int_equal(d.component.id, reef_id(Owes).id);
    (void)reef_difference_text(&d, text, sizeof text);
    assert_non_null(strstr(text, "Owes"));
    reef_world_free(fork);
}

/* What a world does next is the same after saving and loading, even if relations have come and gone before. */
static reef_world *loaded(void **state, reef_world *w)
{
    reef_world *other = another_world(state, NULL);
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_true(reef_hash(w) == reef_hash(other));
    return other;
}

static void bulk_destruction_forgets_former_relations(void **state)
{
    for (int where = 0; where < 2; where++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[5];
        create_some(w, e, 5);
        assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[1]));
        assert_ok(reef_unrelate(w, e[0], Likes, e[1]));
        reef_world *both[2] = {w, loaded(state, w)};
        for (int i = 0; i < 2; i++) {
            const reef_query q = reef_query_new(both[i], "Folk");
            if (where) assert_ok(reef_destroy_where(both[i], q, NULL));
            else assert_ok(destroy_everywhere(both[i], &(reef_component){reef_id(Folk).id}, 1, NULL));
        }
        assert_true(reef_hash(both[0]) == reef_hash(both[1]));
        assert_true(reef_entity_equal(reef_create(both[0]), reef_create(both[1])));
    }
}

/* Likes comes to the first world before DockedTo, and Owes before Under; loading makes them by name. */
static void destruction_knows_no_order_of_types(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 2);
    for (uint32_t i = 2; i < 6; i++) assert_some(e[i] = reef_create(w));
    assert_status(REEF_ADDED, reef_relate(w, e[2], Under, e[0])); /* dies with it */
    assert_status(REEF_ADDED, reef_relate(w, e[3], Dies, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[4], Likes, e[0])); /* has nothing else */
    assert_status(REEF_ADDED, reef_relate(w, e[5], DockedTo, e[0]));
    for (uint32_t i = 1; i < 2; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[i]));
    reef_entity more[4];
    for (uint32_t i = 0; i < 4; i++) {
        assert_some(more[i] = reef_create(w));
        assert_status(REEF_ADDED, reef_relate(w, more[i], Likes, e[1]));
    }
    reef_world *other = loaded(state, w);
    assert_ok(reef_destroy(w, e[0]));
    assert_ok(reef_destroy(other, e[0]));
    assert_true(reef_hash(w) == reef_hash(other) && reef_equal(w, other, NULL));
    assert_valid(w);
}

static void destroying_nobody_is_no_error(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    uint64_t n = 9;
    create_some(w, e, 2);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Likes, e[1]));
    assert_ok(destroy_everywhere(w, (reef_component[]){reef_id(Coins)}, 1, &n));
    assert_int_equal(n, 0);
    n = 9;
    assert_ok(reef_destroy_where(w, reef_query_new(w, "Coins"), &n));
    assert_int_equal(n, 0);
    assert_int_equal(reef_count_alive(w), 2);
}

/* A clone has no symmetric relation, so the mark that it is disabled doesn't come either. */
static void clones_have_no_mark_without_its_relation(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    create_some(w, e, 2);
    assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[1]));
    assert_ok(reef_disable(w, e[0], Knows));
    const reef_entity clone = reef_clone(w, e[0]);
    reef_entity tree;
    assert_ok(reef_clone_tree(w, e[0], 1, &tree));
    assert_valid(w);
    assert_status(REEF_ADDED, reef_relate(w, clone, Knows, e[1]));
    assert_true(reef_is_enabled(w, clone, Knows));
    assert_status(REEF_ADDED, reef_relate(w, tree, Knows, e[1]));
    assert_true(reef_is_enabled(w, tree, Knows));
    assert_false(reef_is_enabled(w, e[0], Knows));
}

/* A former partner may have lost its own half, and everything else, before. */
static void partners_without_their_half_are_replaced(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_create(w), b = reef_create(w), x = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, a, Mates, x));
    assert_ok(reef_remove(w, x, Mates));
    assert_status(REEF_ADDED, reef_relate(w, a, Mates, b));
    assert_true(reef_entity_is_null(reef_target(w, x, Mates)));
    assert_ok(reef_remove(w, b, Mates));
    assert_status(REEF_ADDED, reef_relate(w, x, Mates, b)); /* a and x are related to b, which is related to x */
    assert_status(REEF_ADDED, reef_relate(w, a, Mates, x));
    assert_true(reef_entity_is_null(reef_target(w, b, Mates)));
    assert_true(reef_entity_equal(reef_target(w, a, Mates), x) && reef_entity_equal(reef_target(w, x, Mates), a));
    assert_valid(w);
}

/* reef_remove takes one half of a symmetric relation away; the data of the other half can still be written. */
static void half_a_symmetric_relation_is_written(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    create_some(w, e, 2);
    assert_status(REEF_ADDED, reef_relate_data(w, e[0], Shares, e[1], 3));
    assert_ok(reef_remove(w, e[1], Shares));
    Shares *half = reef_relation_mut(w, e[0], Shares, e[1]);
    assert_non_null(half);
    half->data.coins = 4;
    assert_int_equal(reef_relation_get(w, e[0], Shares, e[1])->data.coins, 4);
    assert_false(reef_has(w, e[1], Shares));
    assert_ok(reef_unrelate(w, e[0], Shares, e[1]));
    assert_valid(w);
}

/* Where one half is left, relating makes the other one, and both have the same data. */
static void a_missing_half_is_made(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    uint32_t n;
    create_some(w, e, 2);
    for (int data = 0; data < 2; data++) {
        assert_status(REEF_ADDED, reef_relate_data(w, e[0], Shares, e[1], 3));
        assert_ok(reef_remove(w, e[0], Shares));
        if (data) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Shares, e[1], 4));
        else assert_status(REEF_ADDED, reef_relate(w, e[0], Shares, e[1]));
        for (int i = 0; i < 2; i++) {
            const Shares *s = reef_get_all(w, e[i], Shares, &n);
            assert_int_equal(n, 1);
            assert_true(reef_entity_equal(s->target, e[1 - i]));
            assert_int_equal(s->data.coins, data ? 4 : 3);
        }
        assert_ok(reef_unrelate(w, e[1], Shares, e[0]));
        assert_int_equal(reef_count(w, Shares), 0);
        assert_status(REEF_ADDED, reef_relate(w, e[0], Mates, e[1]));
        assert_ok(reef_remove(w, e[0], Mates));
        assert_status(REEF_ADDED, reef_relate(w, e[0], Mates, e[1]));
        assert_ok(reef_unrelate(w, e[1], Mates, e[0]));
        assert_int_equal(reef_count(w, Mates), 0);
    }
    assert_valid(w);
}

static void assert_message(const reef_world *w, const char *part)
{
    char text[500];
    reef_error_text(w, text, sizeof text);
    if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in: %s", part, text);
}

/* The message of a refused relation says which of its two entities is meant, and what the other one is. */
static void messages_name_source_and_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    const reef_entity dead = reef_create(w), nobody = {0, 0};
    create_some(w, e, 3);
    assert_ok(reef_destroy(w, dead));
    assert_ok(reef_set_name(w, e[0], "alice"));
    assert_ok(reef_set_name(w, e[1], "bob"));
    assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, e[0], Likes, dead));
    assert_entity(reef_last_error(w).entity, dead);
    assert_message(w, "as the target of a relation");
    assert_refused(w, REEF_NOT_ALIVE, reef_set(w, e[0], DockedTo, .target = dead));
    assert_entity(reef_last_error(w).entity, dead);
    assert_message(w, "as the target of a relation");
    assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, dead, Likes, e[0])); /* the source is told without it */
    assert_string_equal(reef_last_error(w).detail, "");
    assert_no_entity(w, REEF_NOT_ALIVE, reef_spawn(w, reef_with(DockedTo, .target = nobody)));
    assert_message(w, "component DockedTo: the handle is null, dead or was never made: as the target of a relation");
    assert_ok(reef_make_prefab(w, e[2]));
    assert_refused(w, REEF_NOT_ALIVE, reef_instantiate_with(w, e[2], 1, NULL, reef_with(ChildOf, .target = dead)));
    assert_entity(reef_last_error(w).entity, dead);
    assert_int_equal(reef_last_error(w).component.id, reef_id(ChildOf).id);
    assert_refused(w, REEF_NOT_ALIVE, reef_instantiate(w, nobody, 7, NULL));
    assert_int_equal(reef_last_error(w).number, 0);

    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[1]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[1], Under, e[0]));
    assert_message(w, "\"bob\": the relation would lead back to its source: the target is entity");
    assert_message(w, "\"alice\"");
    assert_refused(w, REEF_ABSENT, reef_unrelate(w, e[0], Likes, e[1]));
    assert_message(w, "\"alice\": the entity does not have the component: the target is entity");
    assert_status(REEF_ADDED, reef_relate(w, e[0], Keeps, e[2]));
    assert_refused(w, REEF_REFUSED, reef_destroy(w, e[2]));
    assert_message(w, "\"alice\": a relation keeps its target from being destroyed: the target is entity");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add(w, e[0], DockedTo));
    assert_message(w, "it needs a target");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set(w, e[0], Knows, .target = e[1]));
    assert_message(w, "made by reef_relate");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_relate_id(w, e[0], reef_id(Coins), e[1], NULL, 0));
    assert_message(w, "no type of relations");
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, dead)); /* the next failure knows nothing of them */
    assert_string_equal(reef_last_error(w).detail, "");
}

/* A type that can't be: the message of its first use says why. */
static void options_that_exclude_each_other(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2];
    create_some(w, e, 2);
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_relate(w, e[0], Twisted, e[1]));
    assert_message(w, "type Twisted: REEF_SYMMETRIC and REEF_ACYCLIC exclude each other");
    assert_non_null(reef_declare_error());
}

static reef_world *ends_at_once;
static void end_what_comes(const reef_notice *n)
{
    if (n->world == ends_at_once) (void)reef_unrelate_id(n->world, n->targets[0], n->component, n->entities[0]);
}

/* Relating two of whom only one has its half makes the other half, from whichever side. */
static void a_missing_half_is_made_from_either_side(void **state)
{
    for (uint32_t side = 0; side < 2; side++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[6];
        create_some(w, e, 6);
        const reef_entity from = e[side], to = e[!side]; /* e[0] loses its half */
        assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[1]));
        assert_ok(reef_remove(w, e[0], Knows));
        assert_status(REEF_ADDED, reef_relate(w, from, Knows, to));
        assert_true(reef_related(w, e[0], Knows, e[1]) && reef_related(w, e[1], Knows, e[0]));
        assert_ok(reef_relate(w, from, Knows, to));
        /* behind another source of the target */
        assert_ok(reef_remove(w, e[0], Knows));
        assert_status(REEF_ADDED, reef_relate(w, e[2], Knows, to));
        assert_status(REEF_ADDED, reef_relate_before(w, from, Knows, to, (reef_entity){0, 0}));
        assert_true(reef_related(w, e[0], Knows, e[1]) && reef_related(w, e[1], Knows, e[0]));
        reef_sources s = reef_sources_of(w, to, Knows);
        assert_true(reef_sources_next(&s));
        assert_entity(from, s.sources[s.count - 1]);
        /* with data: that of the half that is there, or new data for both */
        assert_status(REEF_ADDED, reef_relate_data(w, e[0], Shares, e[1], 4));
        assert_ok(reef_remove(w, e[0], Shares));
        assert_status(REEF_ADDED, reef_relate(w, from, Shares, to));
        assert_int_equal(reef_relation_get(w, e[0], Shares, e[1])->data.coins, 4);
        assert_ok(reef_remove(w, e[0], Shares));
        assert_status(REEF_ADDED, reef_relate_data(w, from, Shares, to, 9));
        assert_int_equal(reef_relation_get(w, e[0], Shares, e[1])->data.coins, 9);
        assert_int_equal(reef_relation_get(w, e[1], Shares, e[0])->data.coins, 9);
        /* who has another partner since loses it */
        assert_status(REEF_ADDED, reef_relate(w, e[0], Mates, e[1]));
        assert_ok(reef_remove(w, e[0], Mates));
        if (side == 1) {
            assert_status(REEF_ADDED, reef_relate(w, e[0], Mates, e[3]));
            assert_status(REEF_ADDED, reef_relate(w, e[1], Mates, e[0]));
            assert_none(reef_target(w, e[3], Mates));
        } else {
            assert_status(REEF_ADDED, reef_relate(w, e[0], Mates, e[1]));
        }
        assert_entity(e[1], reef_target(w, e[0], Mates));
        assert_entity(e[0], reef_target(w, e[1], Mates));
        /* an observer ends the half that was there as soon as the other one comes */
        assert_ok(reef_remove(w, e[0], Shares));
        ends_at_once = w;
        assert_false(reef_observer_is_null(reef_observe(w, end_what_comes, REEF_ON_ADD, Shares)));
        assert_status(REEF_ADDED, reef_relate_data(w, from, Shares, to, 11));
        assert_false(reef_related(w, e[1], Shares, e[0]));
        end_world(state, w);
    }
    /* with every allocation failing once */
    for (uint64_t n = 1, refused = 1; refused; n++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[3];
        create_some(w, e, 3);
        assert_status(REEF_ADDED, reef_relate_data(w, e[0], Shares, e[1], 4));
        assert_ok(reef_remove(w, e[0], Shares));
        assert_status(REEF_ADDED, reef_relate(w, e[0], Shares, e[2])); /* the half will be a further one */
        reef_snapshot *past = reef_snapshot_take(w);                   /* so that pages have to be copied */
        assert_non_null(past);
        const uint64_t hash = reef_hash(w);
        assert_false(reef_observer_is_null(reef_observe(w, end_what_comes, REEF_ON_ADD, Likes))); /* another type */
        heap_fail_nth(heap_of(state), n, true);
        const reef_status s = reef_relate_data(w, e[1], Shares, e[0], 9);
        refused = heap_of(state)->refused;
        heap_fail_never(heap_of(state));
        heap_of(state)->refused = 0;
        assert_true(s == REEF_ADDED || s == REEF_NO_MEMORY);
        if (s == REEF_NO_MEMORY) assert_true(reef_hash(w) == hash);
        else assert_int_equal(reef_relation_get(w, e[0], Shares, e[1])->data.coins, 9);
        assert_valid(w);
        reef_snapshot_free(past);
        end_world(state, w);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_disabled_relation),
        TEST(no_subtypes),
        TEST(clones_keep_their_targets),
        TEST(merged_relations_are_observed_from_then_on),
        TEST(memory_comes_back),
        TEST(differences_have_texts),
        TEST(bulk_destruction_forgets_former_relations),
        TEST(destruction_knows_no_order_of_types),
        TEST(destroying_nobody_is_no_error),
        TEST(half_a_symmetric_relation_is_written),
        TEST(clones_have_no_mark_without_its_relation),
        TEST(partners_without_their_half_are_replaced),
        TEST(a_missing_half_is_made),
        TEST(a_missing_half_is_made_from_either_side),
        TEST(messages_name_source_and_target),
        TEST(options_that_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
