/* Scripts: code of single entities, started once, ended once; updates of a type. */
#include "script_diary.h"

static const reef_script_class class_silent = {.name = "silent"};

/* ---- a life ---- */

static void a_script_starts_updates_and_ends(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    tick(w);
    assert_string_equal(story(), "");
    assert_ok(reef_script_add(w, e, &class_a, &(int32_t){5}));
    assert_int_equal(count_in(w, e), 5);
    assert_ptr_equal(reef_script_of(w, e), &class_a);
    assert_string_equal(story(), "");
    tick(w);
    assert_string_equal(story(), "sa0 ua0");
    tick(w);
    tick(w);
    assert_string_equal(story(), "ua0 ua0");
    assert_int_equal(count_in(w, e), 8);
    assert_ok(reef_script_remove(w, e));
    assert_null(reef_script_of(w, e));
    assert_null(reef_script_data(w, e));
    assert_string_equal(story(), "");
    tick(w);
    assert_int_equal(diary[0].count, 8); /* what it was */
    assert_true(diary[0].block);
    assert_string_equal(story(), "ea0");
    tick(w);
    assert_string_equal(story(), "");
}

static void scripts_run_in_entity_order_whatever_else_the_entities_have(void **test)
{
    reef_world *w = begin(test, NULL);
    reef_entity e[40];
    for (uint32_t i = 0; i < 40; i++)
        e[i] = i % 3 == 0   ? reef_create_entity(w)
               : i % 3 == 1 ? reef_spawn(w, reef_with(Mass, 1))
                            : reef_spawn(w, reef_with(Health, 1, 2), reef_tag(Frozen));
    for (uint32_t i = 40; i-- > 0;) assert_ok(reef_script_add(w, e[i], i % 2 ? &class_a : &class_b, NULL));
    tick(w);
    assert_int_equal(written, 80);
    for (uint32_t i = 0; i < 80; i++) {
        assert_int_equal(diary[i].entity.index, i / 2);
        assert_int_equal(diary[i].what, i % 2 ? 'u' : 's');
        assert_int_equal(diary[i].name, i / 2 % 2 ? 'a' : 'b');
    }
    written = 0;
    assert_ok(reef_destroy(w, e[3]));
    assert_ok(reef_add(w, e[20], Hungry)); /* moves */
    tick(w);
    assert_int_equal(written, 40);
    assert_int_equal(diary[0].what, 'e');
    for (uint32_t i = 1; i < 40; i++) assert_int_equal(diary[i].entity.index, i <= 3 ? i - 1 : i);
}

static void scripts_of_far_apart_indices_are_found(void **test)
{
    reef_world *w = begin(test, NULL);
    reef_entity far = {100000, 1}, near = {511, 1}, next = {512, 1};
    assert_ok(reef_create_as(w, far));
    assert_ok(reef_create_as(w, near));
    assert_ok(reef_create_as(w, next));
    assert_ok(reef_script_add(w, far, &class_b, NULL));
    assert_ok(reef_script_add(w, next, &class_b, NULL));
    assert_ok(reef_script_add(w, near, &class_b, NULL));
    tick(w);
    assert_string_equal(story(), "sb511 ub511 sb512 ub512 sb100000 ub100000");
}

/* ---- ends ---- */

static void a_script_ends_once_however_it_goes(void **test)
{
    reef_world *w = begin(test, NULL);
    reef_entity e[8];
    for (uint32_t i = 0; i < 8; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, 1));
        assert_ok(reef_script_add(w, e[i], &class_a, NULL));
    }
    tick(w);
    written = 0;
    assert_ok(reef_destroy(w, e[0]));
    assert_int_equal(reef_destroy_many(w, &e[1], 1), 1);
    assert_ok(reef_remove_all(w, e[2]));
    assert_ok(reef_change(w, e[3], reef_value_make(reef_script_type(), REEF_VALUE_REMOVE, 0, NULL)));
    tick(w);
    assert_string_equal(story(), "ea0 ea1 ea2 ea3 ua4 ua5 ua6 ua7");
    assert_ok(remove_everywhere(w, reef_script_type(), NULL));
    tick(w);
    assert_string_equal(story(), "ea7 ea6 ea5 ea4"); /* columns are cleared from their ends */
    for (uint32_t i = 2; i < 8; i++) assert_ok(reef_script_add(w, e[i], &class_b, NULL)); /* and another life */
    tick(w);
    written = 0;
    assert_ok(reef_world_clear(w));
    tick(w);
    assert_int_equal(count_of('e'), 6);
    assert_int_equal(written, 6);
}

static void what_never_started_doesnt_end(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), f = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    assert_ok(reef_script_add(w, f, &class_a, NULL));
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_script_remove(w, f));
    tick(w);
    assert_string_equal(story(), "");
    assert_ok(reef_script_add(w, f, &class_a, NULL));
    end_world(test, w);
    assert_string_equal(story(), "");
}

static void scripts_end_with_their_world(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), f = reef_create_entity(w), g = reef_create_entity(w);
    assert_ok(reef_script_add(w, g, &class_b, NULL));
    assert_ok(reef_script_add(w, f, &class_a, &(int32_t){7}));
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    tick(w);
    written = 0;
    assert_ok(reef_destroy(w, e)); /* its end comes with the world's */
    end_world(test, w);
    assert_int_equal(written, 3);
    assert_int_equal(diary[1].count, 8);
    for (int i = 0; i < 3; i++) assert_false(diary[i].block);
    assert_string_equal(story(), "ea0 ea1 eb2");
}

static void end_tries(reef_script_run *r)
{
    reef_world *w = r->world;
    assert_null(r->block);
    assert_true(reef_is_alive(w, r->entity));
    assert_int_equal(reef_destroy(w, r->entity), REEF_LOCKED);
    assert_none(reef_spawn(w, reef_with(Mass, 1)));
    note(r, 'e', 't');
}

static void the_end_of_a_world_changes_nothing(void **test)
{
    static const reef_script_class tries = {.name = "tries", .end = end_tries};
    reef_world *w = begin(test, NULL);
    assert_ok(reef_script_add(w, reef_create_entity(w), &tries, NULL));
    tick(w);
    end_world(test, w);
    assert_string_equal(story(), "et0");
}

/* ---- what a script may do ---- */

static void spawn_update(reef_script_run *r)
{
    int32_t *left = r->data;
    const reef_script child = reef_script_make(&class_b, NULL);
    if ((*left)-- > 0) assert_some(reef_cmd_spawn(r->block, reef_with(Mass, 3), reef_script_value(&child)));
    else assert_ok(reef_cmd_destroy(r->block, r->entity));
}
static void spawn_end(reef_script_run *r)
{
    note(r, 'e', 'p');
    assert_false(reef_is_alive(r->world, r->entity));
    assert_some(reef_cmd_spawn(r->block, reef_with(Health, 1, 1)));
}

static void scripts_change_structure_by_commands(void **test)
{
    static const reef_script_class parent = {"parent", sizeof(int32_t), NULL, spawn_update, spawn_end};
    reef_world *w = begin(test, "spawns, destroys");
    assert_ok(reef_script_add(w, reef_create_entity(w), &parent, &(int32_t){2}));
    tick(w);
    assert_int_equal(reef_count(w, Mass), 1);
    assert_string_equal(story(), "");
    tick(w);
    assert_string_equal(story(), "sb1 ub1");
    tick(w);
    assert_int_equal(reef_count_alive(w), 2); /* the parent is gone at the end of the phase */
    assert_string_equal(story(), "ub1 sb2 ub2");
    tick(w);
    assert_string_equal(story(), "ep0 ub1 ub2");
    assert_int_equal(reef_count(w, Health), 1);
}

static void mass_update(reef_script_run *r)
{
    Mass *m = reef_mut(r->world, r->entity, Mass);
    const Health *h = reef_get(r->world, r->entity, Health);
    assert_non_null(m);
    m->kg += h->now + (double)r->dt;
}

static void scripts_touch_what_was_declared(void **test)
{
    static const reef_script_class grows = {.name = "grows", .update = mass_update};
    reef_world *w = begin(test, "writes Mass, reads Health");
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1), reef_with(Health, 10, 10));
    assert_ok(reef_script_add(w, e, &grows, NULL));
    tick(w);
    assert_float_equal(reef_get(w, e, Mass)->kg, 11.5, 0);
}

static void swap_update(reef_script_run *r)
{
    note(r, 'u', 'w');
    assert_ok(reef_cmd_script(r->block, r->entity, &class_a, &(int32_t){40}));
}
static void swap_end(reef_script_run *r) { note(r, 'e', 'w'); }

static void a_command_gives_another_script(void **test)
{
    static const reef_script_class swaps = {.name = "swaps", .update = swap_update, .end = swap_end};
    reef_world *w = begin(test, "adds, removes");
    const reef_entity e = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &swaps, NULL));
    tick(w);
    assert_int_equal(count_in(w, e), 40);
    tick(w);
    assert_string_equal(story(), "uw0 ew0 sa0 ua0");
}

static void disabled_scripts_wait(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), f = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    assert_ok(reef_script_add(w, f, &class_a, NULL));
    assert_ok(reef_enable_id(w, e, reef_script_type(), false));
    assert_ok(reef_disable(w, f));
    tick(w);
    assert_string_equal(story(), "");
    assert_ok(reef_enable_id(w, e, reef_script_type(), true));
    assert_ok(reef_enable(w, f));
    tick(w);
    assert_string_equal(story(), "sa0 ua0 sa1 ua1");
    assert_ok(reef_disable(w, e));
    tick(w);
    assert_string_equal(story(), "ua1");
    assert_ok(reef_destroy(w, e)); /* it was started: it ends */
    tick(w);
    assert_string_equal(story(), "ea0 ua1");
}

static void scripts_run_in_their_phase(void **test)
{
    reef_world *w = world_of(test);
    written = 0;
    assert_false(reef_system_is_null(reef_scripts(w, "end", "")));
    assert_ok(reef_script_add(w, reef_create_entity(w), &class_a, NULL));
    assert_ok(reef_tick_phase(w, "update", 1));
    assert_string_equal(story(), "");
    assert_ok(reef_tick_phase(w, "end", 1));
    assert_string_equal(story(), "sa0 ua0");
    assert_ok(reef_system_enable(w, reef_system_find(w, "scripts"), false));
    assert_ok(reef_destroy(w, reef_entity_at(w, 0)));
    tick(w);
    assert_string_equal(story(), "");
    assert_ok(reef_system_enable(w, reef_system_find(w, "scripts"), true));
    tick(w);
    assert_string_equal(story(), "ea0");
}

/* ---- clones, snapshots, forks ---- */

static void a_clone_has_a_life_of_its_own(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    tick(w);
    const reef_entity clone = reef_clone(w, e), brief = reef_clone(w, e);
    assert_int_equal(count_in(w, clone), 1);
    assert_ok(reef_destroy(w, brief)); /* before its start */
    written = 0;
    tick(w);
    assert_string_equal(story(), "ua0 sa1 ua1");
    assert_ok(reef_destroy(w, clone));
    tick(w);
    assert_string_equal(story(), "ea1 ua0");
}

/* How often the functions of this entity's script were called, since `written` was set to 0: starts, updates, ends. */
static void assert_calls(reef_entity e, uint32_t starts, uint32_t updates, uint32_t ends)
{
    uint32_t s = 0, u = 0, n = 0;
    for (uint32_t i = 0; i < written; i++) {
        if (!reef_entity_equal(diary[i].entity, e)) continue;
        s += diary[i].what == 's', u += diary[i].what == 'u', n += diary[i].what == 'e';
        if (diary[i].what == 'u') assert_int_equal(s, starts); /* no update before the start */
    }
    assert_int_equal(s, starts);
    assert_int_equal(u, updates);
    assert_int_equal(n, ends);
}

/* Ways to copy an entity with what is below it. Those from CLONES_TREE on copy children. */
typedef enum copy_way {
    CLONES,
    CLONES_MANY,
    CLONES_BY_COMMAND,
    CLONES_TREE,
    CLONES_TREE_IN_A_LOOP,
    INSTANTIATES,
    INSTANTIATES_IN_A_LOOP,
    INSTANTIATES_BY_COMMAND,
    COPY_WAYS
} copy_way;

enum { COPIES = 3 };
static struct {
    copy_way way;
    reef_entity source, copy[COPIES];
} copied;

static void copy_by_command(reef_block *b)
{
    for (uint32_t i = 0; i < COPIES && !reef_entity_is_null(copied.source); i++)
        copied.copy[i] =
            copied.way == CLONES_BY_COMMAND ? reef_cmd_clone(b, copied.source) : reef_cmd_instantiate(b, copied.source);
    copied.source = (reef_entity){0, 0};
}

static void copy_in_a_loop(reef_world *w, reef_entity source)
{
    const reef_query q = reef_query_new(w, "reef_script");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    if (copied.way == CLONES_TREE_IN_A_LOOP) assert_ok(reef_clone_tree(w, source, COPIES, copied.copy));
    else assert_ok(reef_instantiate(w, source, COPIES, copied.copy));
    reef_end(&b);
    reef_query_free(w, q);
}

static void copies_make(reef_world *w, copy_way way, reef_entity source)
{
    copied.way = way;
    switch (way) {
    case CLONES:
        for (uint32_t i = 0; i < COPIES; i++) copied.copy[i] = reef_clone(w, source);
        return;
    case CLONES_MANY: assert_ok(reef_clone_many(w, source, COPIES, copied.copy)); return;
    case CLONES_TREE: assert_ok(reef_clone_tree(w, source, COPIES, copied.copy)); return;
    case INSTANTIATES: assert_ok(reef_instantiate(w, source, COPIES, copied.copy)); return;
    case CLONES_BY_COMMAND:
    case INSTANTIATES_BY_COMMAND:
        copied.source = source; /* until the system has run */
        tick(w);
        return;
    default: copy_in_a_loop(w, source); return;
    }
}

static reef_entity only_child(const reef_world *w, reef_entity e)
{
    reef_sources sources = reef_sources_of(w, e, ChildOf);
    assert_true(reef_sources_next(&sources));
    assert_int_equal(sources.count, 1);
    return sources.sources[0];
}

static void a_copy_starts_anew_however_it_is_made(void **test)
{
    for (uint32_t i = 0; i < 2 * COPY_WAYS; i++) {
        reef_world *w = another_world(test, NULL);
        const copy_way way = (copy_way)(i / 2);
        const bool runs = i % 2; /* the script of the source has started */
        const reef_system_desc copies = {
            .name = "copies", .function = copy_by_command, .text = "; spawns", .phase = "end"};
        copied.source = (reef_entity){0, 0};
        assert_false(reef_system_is_null(reef_scripts(w, NULL, NULL)));
        assert_false(reef_system_is_null(reef_system_new(w, &copies)));
        const reef_entity source = reef_create_entity(w), child = reef_create_entity(w);
        assert_status(REEF_ADDED, reef_relate(w, child, ChildOf, source));
        if (!runs) assert_ok(reef_disable(w, source)), assert_ok(reef_disable(w, child));
        assert_ok(reef_script_add(w, source, &class_a, &(int32_t){40}));
        assert_ok(reef_script_add(w, child, &class_b, NULL));
        tick(w);
        copies_make(w, way, source);
        assert_valid(w);
        reef_entity all[2 * COPIES];
        uint32_t n = 0;
        for (uint32_t k = 0; k < COPIES; k++) {
            all[n++] = copied.copy[k];
            if (way >= CLONES_TREE) all[n++] = only_child(w, copied.copy[k]);
        }
        for (uint32_t k = 0; k < n && !runs; k++) assert_ok(reef_enable(w, all[k]));
        assert_int_equal(reef_count_id(w, reef_script_type()), 2 + n);
        written = 0;
        tick(w);
        tick(w);
        for (uint32_t k = 0; k < n; k++) assert_calls(all[k], 1, 2, 0);
        assert_calls(source, 0, runs ? 2 : 0, 0);
        for (uint32_t k = 0; k < COPIES; k++) assert_ok(reef_destroy(w, copied.copy[k]));
        tick(w);
        for (uint32_t k = 0; k < n; k++) assert_calls(all[k], 1, 2, 1);
        end_world(test, w);
        for (uint32_t k = 0; k < n; k++) assert_calls(all[k], 1, 2, 1);
        assert_calls(source, 0, runs ? 3 : 0, runs);
    }
}

static void scripts_of_templates_wait(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity fresh = reef_create_entity(w), old = reef_create_entity(w);
    assert_ok(reef_script_add(w, fresh, &class_a, NULL));
    assert_ok(reef_make_prefab(w, fresh)); /* before its script has started */
    assert_ok(reef_script_add(w, old, &class_b, NULL));
    tick(w);
    assert_string_equal(story(), "sb1 ub1");
    assert_ok(reef_make_prefab(w, old));         /* its script has started */
    assert_ok(reef_disable(w, old, ReefPrefab)); /* hidden all the same, as from queries */
    tick(w);
    assert_string_equal(story(), "");
    const reef_entity copy = reef_clone(w, fresh); /* the clone of a template is one */
    assert_true(reef_has(w, copy, ReefPrefab));
    tick(w);
    assert_string_equal(story(), "");
    assert_ok(reef_remove(w, fresh, ReefPrefab));
    assert_ok(reef_remove(w, old, ReefPrefab)); /* goes on */
    tick(w);
    assert_string_equal(story(), "sa0 ua0 ub1");
    assert_ok(reef_make_prefab(w, old));
    assert_ok(reef_destroy(w, copy)); /* never started */
    assert_ok(reef_destroy(w, old));  /* for its start there is an end */
    tick(w);
    assert_string_equal(story(), "eb1 ua0");
}

static void a_fork_goes_on_with_its_own_scripts(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), gone = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    assert_ok(reef_script_add(w, gone, &class_a, NULL));
    tick(w);
    assert_ok(reef_destroy(w, gone)); /* its end waits on both sides */
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_valid(fork);
    written = 0;
    tick(fork);
    assert_string_equal(story(), "ea1 ua0");
    tick(w);
    assert_string_equal(story(), "ea1 ua0");
    assert_int_equal(reef_hash(w), reef_hash(fork));
    tick(fork);
    assert_int_equal(count_in(w, e), 2);
    assert_int_equal(count_in(fork, e), 3);
    written = 0;
    reef_world_free(fork);
    assert_string_equal(story(), "ea0");
    tick(w);
    assert_string_equal(story(), "ua0");
    assert_ok(reef_destroy(w, e));
    tick(w);
    assert_string_equal(story(), "ea0");
}

static void snapshots_call_nothing_and_a_restore_goes_back(void **test)
{
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), gone = reef_create_entity(w);
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    assert_ok(reef_script_add(w, gone, &class_a, NULL));
    tick(w);
    assert_ok(reef_destroy(w, gone));
    reef_snapshot *s = reef_snapshot_take(w);
    tick(w);
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_script_add(w, reef_create_entity(w), &class_b, NULL));
    tick(w);
    written = 0;
    assert_ok(reef_restore(w, s));
    assert_string_equal(story(), ""); /* what it takes away has no end */
    tick(w);
    assert_string_equal(story(), "ea1 ua0"); /* as the first time */
    assert_int_equal(reef_hash(w), hash);
    reef_world *late = reef_snapshot_fork(s);
    reef_snapshot_free(s);
    assert_string_equal(story(), "");
    tick(late);
    assert_string_equal(story(), "ea1 ua0"); /* it was started, and the other one waited */
    reef_world_free(late);
    assert_string_equal(story(), "ea0");
}

static reef_status play(void *context, reef_world *w, uint64_t tick_number, const void *input, size_t bytes)
{
    (void)context, (void)input, (void)bytes;
    if (tick_number % 4 == 1) {
        const reef_entity e = reef_create_entity(w);
        if (reef_script_add(w, e, tick_number % 8 == 1 ? &class_a : &class_b, NULL) != REEF_OK)
            return reef_last_error(w).status;
    }
    if (tick_number % 5 == 4) (void)reef_destroy(w, reef_entity_at(w, (uint32_t)tick_number % 7));
    written = 0;
    return reef_tick(w, 0.1f);
}

static void synctest_passes_with_scripts(void **test)
{
    reef_world *w = begin(test, NULL);
    reef_desync report;
    const reef_synctest_config config = {40, 5, play, NULL, NULL};
    assert_ok(reef_synctest(w, &config, &report));
    written = 0;
    const uint64_t alive = reef_count_id(w, reef_script_type());
    assert_true(alive > 0);
    end_world(test, w);
    assert_int_equal(count_of('e'), alive);
}

static void drift(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += b->dt;
}

static void scripts_beside_parallel_systems(void **test)
{
    uint64_t hash[6] = {0};
    char stories[6][4000];
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        reef_world *w = another_world(test, NULL);
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads});
        assert_ok(reef_set_pool(w, p));
        reef_watch_systems(w, false); /* threads are tested */
        assert_ok(reef_spawn_many(w, 5000, NULL, reef_with(Position, 0, 0)));
        assert_false(reef_system_is_null(reef_system(w, drift, "Position")));
        assert_false(reef_system_is_null(reef_scripts(w, NULL, "destroys")));
        for (uint32_t i = 0; i < 20; i++)
            assert_ok(reef_script_add(w, reef_entity_at(w, 4000 - i * 97), i % 3 ? &class_a : &class_b, NULL));
        for (uint32_t tick_number = 0; tick_number < 6; tick_number++) {
            written = 0;
            if (tick_number == 3) assert_ok(reef_destroy(w, reef_entity_at(w, 4000)));
            reef_world *fork = tick_number == 4 ? reef_fork(w) : NULL; /* what is shared is copied in the tick */
            tick(w);
            const char *text = story();
            if (threads == 1)
                hash[tick_number] = reef_hash(w), snprintf(stories[tick_number], sizeof stories[0], "%s", text);
            assert_true(reef_hash(w) == hash[tick_number]);
            assert_string_equal(text, stories[tick_number]);
            reef_world_free(fork);
        }
        end_world(test, w);
        reef_pool_free(p);
    }
}

/* ---- the hash ---- */

static void the_hash_covers_class_and_data_but_no_address(void **test)
{
    static const reef_script_class also_a = {"a", sizeof(int32_t), NULL, NULL, NULL};
    reef_world *w = begin(test, NULL), *other = another_world(test, NULL), *third = another_world(test, NULL);
    assert_ok(reef_script_add(w, reef_create_entity(w), &class_a, &(int32_t){1}));
    assert_ok(reef_script_add(other, reef_create_entity(other), &also_a, &(int32_t){1}));
    assert_ok(reef_script_add(third, reef_create_entity(third), &class_a, &(int32_t){2}));
    assert_int_equal(reef_hash(w), reef_hash(other));
    assert_int_not_equal(reef_hash(w), reef_hash(third));
    reef_world *b = another_world(test, NULL);
    assert_ok(reef_script_add(b, reef_create_entity(b), &class_b, &(int64_t){1}));
    assert_int_not_equal(reef_hash(w), reef_hash(b));
}

static void the_hash_covers_who_waits_for_an_end(void **test)
{
    reef_world *w = begin(test, NULL), *other = another_world(test, NULL);
    assert_false(reef_system_is_null(reef_scripts(other, NULL, NULL)));
    const reef_entity e = reef_create_entity(w);
    assert_entity(e, reef_create_entity(other));
    assert_ok(reef_script_add(w, e, &class_a, NULL));
    tick(w);
    tick(other);
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_destroy(other, e));
    assert_int_not_equal(reef_hash(w), reef_hash(other));
    assert_int_equal(reef_hash(w), hash_anew(w));
    reef_difference d;
    char text[100];
    assert_false(reef_equal(w, other, &d));
    (void)reef_difference_text(&d, text, sizeof text);
    assert_string_equal(text, "The scripts that wait for their end differ");
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_hash(w), reef_hash(fork));
    assert_true(reef_equal(w, fork, NULL));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *late = reef_snapshot_fork(s);
    assert_int_equal(reef_hash(w), reef_hash(late));
    reef_snapshot_free(s);
    reef_world_free(fork);
    reef_world_free(late);
    tick(w);
    tick(other);
    assert_int_equal(reef_hash(w), reef_hash(other));
    assert_true(reef_equal(w, other, NULL));
    /* What never started has no end to wait for. */
    const reef_entity f = reef_create_entity(w);
    assert_entity(f, reef_create_entity(other));
    assert_ok(reef_script_add(w, f, &class_a, NULL));
    assert_ok(reef_destroy(w, f));
    assert_ok(reef_destroy(other, f));
    assert_int_equal(reef_hash(w), reef_hash(other));
}

/* ---- what is wrong ---- */

static void what_is_wrong_is_refused(void **test)
{
    static const reef_script_class nameless = {.name = ""}, unnamed = {.size = 1},
                                   large = {.name = "x", .size = REEF_SCRIPT_BYTES + 1};
    static const reef_script_class full = {.name = "x", .size = REEF_SCRIPT_BYTES};
    reef_world *w = begin(test, NULL);
    const reef_entity e = reef_create_entity(w), dead = reef_create_entity(w);
    unsigned char data[REEF_SCRIPT_BYTES];
    memset(data, 7, sizeof data);
    assert_ok(reef_destroy(w, dead));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_script_add(w, e, NULL, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_script_add(w, e, &nameless, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_script_add(w, e, &unnamed, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_script_add(w, e, &large, data));
    assert_refused(w, REEF_NOT_ALIVE, reef_script_add(w, dead, &class_a, NULL));
    assert_refused(w, REEF_ABSENT, reef_script_remove(w, e));
    assert_refused(w, REEF_NOT_ALIVE, reef_script_remove(w, dead));
    assert_ok(reef_script_add(w, e, &full, data));
    assert_memory_equal(reef_script_data(w, e), data, sizeof data);
    assert_int_equal((uintptr_t)reef_script_data(w, e) % 8, 0);
    assert_refused(w, REEF_EXISTS, reef_script_add(w, e, &class_a, NULL));
    assert_int_equal(reef_script_add(NULL, e, &class_a, NULL), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_script_remove(NULL, e), REEF_BAD_ARGUMENT);
    assert_null(reef_script_of(NULL, e));
    assert_null(reef_script_data(NULL, e));
    assert_int_equal(reef_cmd_script(NULL, e, &class_a, NULL), REEF_BAD_ARGUMENT);
    assert_true(reef_system_is_null(reef_scripts(NULL, NULL, NULL)));
    assert_true(reef_system_is_null(reef_scripts(w, NULL, NULL))); /* twice */
    assert_int_equal(reef_last_error(w).status, REEF_EXISTS);
    assert_string_equal(reef_last_error(w).operation, "reef_scripts");
    reef_world *fresh = another_world(test, NULL);
    assert_true(reef_system_is_null(reef_scripts(fresh, "nowhere", NULL)));
    assert_int_equal(reef_last_error(fresh).status, REEF_BAD_ARGUMENT);
    assert_true(reef_system_is_null(reef_scripts(fresh, NULL, "reads Mass, breaks")));
    assert_int_equal(reef_last_error(fresh).status, REEF_BAD_TEXT);
    assert_int_equal(reef_last_error(fresh).number, 13);
    const reef_script none = reef_script_make(&large, data);
    assert_null(none.script);
    assert_some(reef_spawn(w, reef_script_value(&none))); /* an empty script does nothing */
    assert_some(reef_spawn(w, reef_value_make(reef_script_type(), REEF_VALUE_DEFAULT, 0, NULL)));
    assert_ok(reef_script_add(w, reef_create_entity(w), &class_silent, NULL));
    tick(w);
    tick(w);
    assert_string_equal(story(), "");
}

static void turning_scripts_on_without_memory(void **test)
{
    heap *h = heap_of(test);
    uint64_t n = 1;
    (void)reef_script_type();
    for (bool works = false; !works; n++) {
        reef_world *w = another_world(test, NULL);
        assert_ok(reef_script_add(w, reef_create_entity(w), &class_a, NULL));
        heap_fail_nth(h, n, false);
        works = !reef_system_is_null(reef_scripts(w, NULL, "reads Mass"));
        const bool refused = h->refused != 0;
        heap_fail_never(h);
        assert_int_equal(works, !refused);
        if (!works) {
            assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
            assert_true(reef_system_is_null(reef_system_find(w, "scripts")));
            assert_false(reef_system_is_null(reef_scripts(w, NULL, "reads Mass")));
        }
        written = 0;
        tick(w);
        assert_string_equal(story(), "sa0 ua0");
        end_world(test, w);
        assert_string_equal(story(), "ea0");
    }
    assert_true(n > 3);
}

static void forking_scripts_without_memory(void **test)
{
    heap *h = heap_of(test);
    reef_world *w = begin(test, NULL), *fork = NULL;
    assert_ok(reef_script_add(w, reef_create_entity(w), &class_a, NULL));
    tick(w);
    written = 0;
    for (uint64_t n = 1; fork == NULL; n++) {
        heap_fail_nth(h, n, false);
        fork = reef_fork(w);
        heap_fail_never(h);
        assert_valid(w);
        assert_string_equal(story(), "");
    }
    reef_world_free(fork);
    assert_string_equal(story(), "ea0");
}

/* ---- updates of a type ---- */

static void health_update(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) h[i].now += (int32_t)(2 * b->dt);
}

static void a_type_has_an_update_for_every_instance(void **test)
{
    reef_world *w = world_of(test);
    const reef_entity e = reef_spawn(w, reef_with(Health, 1, 9)),
                      f = reef_spawn(w, reef_with(Health, 5, 9), reef_with(Mass, 1));
    assert_false(reef_system_is_null(reef_update(w, Health, health_update)));
    assert_false(reef_system_is_null(reef_system_find(w, "Health.update")));
    tick(w);
    tick(w);
    assert_int_equal(reef_get(w, e, Health)->now, 3);
    assert_int_equal(reef_get(w, f, Health)->now, 7);
    assert_true(reef_system_is_null(reef_update(w, Health, health_update)));
    assert_int_equal(reef_last_error(w).status, REEF_EXISTS);
    assert_string_equal(reef_last_error(w).operation, "reef_update");
    assert_true(reef_system_is_null(reef_update_id(w, (reef_component){0}, health_update)));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_true(reef_system_is_null(reef_update(w, Mass, NULL)));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_true(reef_system_is_null(reef_update(NULL, Mass, health_update)));
    /* With the ending, the longest type's name that makes a system's name. */
    char name[REEF_SYSTEM_NAME_MAX + 1];
    memset(name, 'L', sizeof name);
    name[REEF_SYSTEM_NAME_MAX - 7 + 1] = 0;
    assert_true(reef_system_is_null(
        reef_update_id(w, reef_type_new(&(reef_type_desc){.name = name, .size = 4}, NULL), health_update)));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    name[REEF_SYSTEM_NAME_MAX - 7] = 0;
    assert_false(reef_system_is_null(
        reef_update_id(w, reef_type_new(&(reef_type_desc){.name = name, .size = 4}, NULL), health_update)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_script_starts_updates_and_ends),
        TEST(scripts_run_in_entity_order_whatever_else_the_entities_have),
        TEST(scripts_of_far_apart_indices_are_found),
        TEST(a_script_ends_once_however_it_goes),
        TEST(what_never_started_doesnt_end),
        TEST(scripts_end_with_their_world),
        TEST(the_end_of_a_world_changes_nothing),
        TEST(scripts_change_structure_by_commands),
        TEST(scripts_touch_what_was_declared),
        TEST(a_command_gives_another_script),
        TEST(disabled_scripts_wait),
        TEST(scripts_run_in_their_phase),
        TEST(a_clone_has_a_life_of_its_own),
        TEST(a_copy_starts_anew_however_it_is_made),
        TEST(scripts_of_templates_wait),
        TEST(a_fork_goes_on_with_its_own_scripts),
        TEST(snapshots_call_nothing_and_a_restore_goes_back),
        TEST(synctest_passes_with_scripts),
        TEST(scripts_beside_parallel_systems),
        TEST(the_hash_covers_class_and_data_but_no_address),
        TEST(the_hash_covers_who_waits_for_an_end),
        TEST(what_is_wrong_is_refused),
        TEST(turning_scripts_on_without_memory),
        TEST(forking_scripts_without_memory),
        TEST(a_type_has_an_update_for_every_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
