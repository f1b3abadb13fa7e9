/* Commands of systems (D3, D4, D5, B8): what is answered between a request and the end of the phase, what requests
 * become that meet, what is refused at once. docs/manual/commands.md has the two tables; each of their cells is a check
 * here. */
#include "support.h"

/* The world of each test: two entities with a position, the first with a mass of 5 as well; and what its systems do
 * with it. */
typedef struct scene {
    reef_world *w;
    reef_query mass;
    reef_entity e, f, made[8];
    int step;
} scene;

static scene scene_make(void **state)
{
    scene s = {.w = world_of(state)};
    s.e = reef_spawn(s.w, reef_with(Position, 1, 2), reef_with(Mass, 5));
    s.f = reef_spawn(s.w, reef_with(Position, 3, 4));
    s.mass = reef_query_new(s.w, "in Mass");
    return s;
}

/* May do everything. */
#define FREELY \
    "; reads Position, reads Mass, reads Awake, reads Health, spawns, adds, removes, enables, destroys, names"

/* Runs a function once as a system; what its commands answered in the end. */
static reef_status once(scene *s, void (*function)(reef_block *b), const char *text)
{
    const reef_status run = reef_system_once(
        s->w, &(reef_system_desc){.name = "tested", .function = function, .text = text, .context = s}, 0);
    assert_true(run == REEF_OK);
    assert_valid(s->w);
    return reef_last_error(s->w).status;
}
static reef_status freely(scene *s, void (*function)(reef_block *b)) { return once(s, function, FREELY); }

static double mass_of(const reef_world *w, reef_entity e)
{
    const Mass *m = reef_get(w, e, Mass);
    return m ? m->kg : -1;
}

/* ---- between the request and the phase's end ---- */

static void make_and_look(reef_block *b)
{
    scene *s = b->context;
    s->made[0] = reef_cmd_spawn(b, reef_with(Position, 9, 9), reef_with(Mass, 7));
    s->made[1] = reef_cmd_create(b);
    s->made[2] = reef_cmd_clone(b, s->e);
    assert_ok(reef_cmd_spawn_many(b, 3, &s->made[3], reef_with(Mass, 1)));
    for (int i = 0; i < 6; i++) {
        assert_some(s->made[i]);
        for (int k = 0; k < i; k++) assert_false(reef_entity_equal(s->made[i], s->made[k]));
        assert_false(reef_is_alive(s->w, s->made[i]));
        assert_false(reef_has(s->w, s->made[i], Mass));
        assert_null(reef_get(s->w, s->made[i], Mass));
        assert_null(reef_name(s->w, s->made[i]));
    }
    assert_int_equal(reef_count_alive(s->w), 2);
}

static void made_entity_is_not_alive_before_the_phase_ends(void **state)
{
    scene s = scene_make(state);
    assert_status(REEF_OK, freely(&s, make_and_look));
    for (int i = 0; i < 6; i++) assert_true(reef_is_alive(s.w, s.made[i]));
    assert_position(s.w, s.made[0], 9, 9);
    assert_position(s.w, s.made[2], 1, 2);
    assert_true(mass_of(s.w, s.made[0]) == 7 && mass_of(s.w, s.made[1]) == -1 && mass_of(s.w, s.made[2]) == 5 &&
                mass_of(s.w, s.made[5]) == 1);
    assert_int_equal(reef_count_alive(s.w), 8);
    assert_int_equal(reef_query_count(s.w, s.mass), 6);
}

static void change_and_look(reef_block *b)
{
    scene *s = b->context;
    assert_ok(reef_cmd_add(b, s->f, Mass));
    assert_ok(reef_cmd_set(b, s->f, Health, 3, 4));
    assert_ok(reef_cmd_add(b, s->f, Awake));
    assert_ok(reef_cmd_remove(b, s->e, Position));
    assert_ok(reef_cmd_set(b, s->e, Mass, 6));
    assert_ok(reef_cmd_disable(b, s->f));
    assert_ok(reef_cmd_name(b, s->f, "eff"));
    assert_true(reef_is_alive(s->w, s->f) && reef_is_alive(s->w, s->e));
    assert_false(reef_has(s->w, s->f, Mass) || reef_has(s->w, s->f, Health) || reef_has(s->w, s->f, Awake));
    assert_null(reef_get(s->w, s->f, Mass));
    assert_position(s->w, s->e, 1, 2);
    assert_true(mass_of(s->w, s->e) == 5); /* a set by a command comes with the other commands */
    assert_true(reef_is_enabled(s->w, s->f));
    assert_null(reef_name(s->w, s->f));
    assert_none(reef_find(s->w, "eff"));
}

static void changes_are_not_seen_before_the_phase_ends(void **state)
{
    scene s = scene_make(state);
    assert_status(REEF_OK, freely(&s, change_and_look));
    assert_true(mass_of(s.w, s.f) == 0 && mass_of(s.w, s.e) == 6);
    assert_int_equal(reef_get(s.w, s.f, Health)->most, 4);
    assert_true(reef_has(s.w, s.f, Awake));
    assert_false(reef_has(s.w, s.e, Position));
    assert_false(reef_is_enabled(s.w, s.f));
    assert_entity(s.f, reef_find(s.w, "eff"));
}

static void go_and_look(reef_block *b)
{
    scene *s = b->context;
    assert_ok(reef_cmd_destroy(b, s->e));
    assert_ok(reef_cmd_remove_all(b, s->f));
    assert_ok(reef_cmd_change(b, s->f, reef_with(Mass, 2)));
    assert_true(reef_is_alive(s->w, s->e));
    assert_true(mass_of(s->w, s->e) == 5);
    assert_string_equal(reef_name(s->w, s->e), "ee");
    assert_entity(s->e, reef_find(s->w, "ee"));
    assert_position(s->w, s->f, 3, 4);
    assert_false(reef_has(s->w, s->f, Mass));
    assert_int_equal(reef_count_alive(s->w), 2);
}

static void who_goes_lives_until_the_phase_ends(void **state)
{
    scene s = scene_make(state);
    assert_ok(reef_set_name(s.w, s.e, "ee"));
    assert_status(REEF_OK, freely(&s, go_and_look));
    assert_false(reef_is_alive(s.w, s.e));
    assert_none(reef_find(s.w, "ee"));
    assert_true(mass_of(s.w, s.f) == 2);
    assert_false(reef_has(s.w, s.f, Position));
}

static void visit_and_destroy(reef_block *b)
{
    scene *s = b->context;
    for (uint32_t i = 0; i < b->count; i++, s->step++) {
        assert_ok(reef_cmd_destroy(b, b->entities[i]));
        assert_some(reef_cmd_spawn(b, reef_with(Position, 0, 0)));
    }
}

static void visit_and_count(reef_block *b)
{
    scene *s = b->context;
    s->step += 100 * (int)b->count;
}

/* Systems of the same phase see the rows as they are; those of the next one what became of them. */
static void rows_of_a_phase_stay(void **state)
{
    scene s = scene_make(state);
    assert_false(reef_system_is_null(
        reef_system_new(s.w, &(reef_system_desc){.name = "first",
                                                 .function = visit_and_destroy,
                                                 .context = &s,
                                                 .text = "in Position, with Mass; spawns Position, destroys"})));
    assert_false(reef_system_is_null(reef_system_new(
        s.w, &(reef_system_desc){
                 .name = "second", .function = visit_and_count, .context = &s, .text = "in Position, with Mass"})));
    assert_false(reef_system_is_null(reef_system_new(s.w, &(reef_system_desc){.name = "third",
                                                                              .function = visit_and_count,
                                                                              .context = &s,
                                                                              .text = "in Position, with Mass",
                                                                              .phase = "end"})));
    assert_ok(reef_tick(s.w, 0));
    assert_int_equal(s.step, 101);
    assert_int_equal(reef_count(s.w, Position), 2);
}

/* ---- the same, cell by cell ----
 * One request; systems of the same phase behind it look, then those of the next one. */

typedef struct Told {
    reef_entity who;
} Told;
REEF_COMPONENT(Told);

enum { SEEN_E = 1, SEEN_F = 2, SEEN_MADE = 4, LOOKED_AT = 4 };

/* What a phase sees: who is alive, who is told of, whose rows come to each of the queries, who has these values and
 * this name. */
typedef struct sight {
    uint32_t alive, told, rows[LOOKED_AT], has[LOOKED_AT], enabled;
    double mass;
    bool e_named, f_named;
} sight;

typedef struct looking {
    scene s; /* first: requests know it by b->context */
    void (*request)(reef_block *b);
    reef_entity told_of;
    sight seen[2]; /* in the phase of the request, in the next one */
} looking;

static uint32_t seen_as(const scene *s, reef_entity e)
{
    if (reef_entity_equal(e, s->e)) return SEEN_E;
    return reef_entity_equal(e, s->f) ? SEEN_F : reef_entity_equal(e, s->made[0]) ? SEEN_MADE : 8;
}

static void ask(reef_block *b)
{
    looking *l = b->context;
    l->request(b);
    assert_ok(reef_send(b, Told, l->told_of.generation ? l->told_of : l->s.made[0]));
}

static void look(reef_block *b, sight *at)
{
    const looking *l = b->context;
    const scene *s = &l->s;
    const reef_entity all[] = {s->e, s->f, s->made[0]};
    const reef_component types[LOOKED_AT] = {reef_id(Position), reef_id(Mass), reef_id(Health), reef_id(Awake)};
    reef_events told = reef_receive(b, Told);
    memset(at, 0, sizeof *at);
    for (const Told *t; (t = reef_next_event(&told)) != NULL;) at->told |= seen_as(s, t->who);
    for (int i = 0; i < 3; i++) {
        at->alive |= reef_is_alive(b->world, all[i]) ? 1u << i : 0;
        at->enabled |= reef_is_enabled(b->world, all[i]) ? 1u << i : 0;
        for (int k = 0; k < LOOKED_AT; k++) {
            at->has[k] |= reef_has_id(b->world, all[i], types[k]) ? 1u << i : 0;
            if (k < 3) assert_int_equal(reef_get_id(b->world, all[i], types[k]) != NULL, at->has[k] >> i & 1);
        }
    }
    at->mass = mass_of(b->world, s->e);
    at->e_named = reef_name(b->world, s->e) != NULL && reef_entity_equal(reef_find(b->world, "ee"), s->e);
    at->f_named = reef_name(b->world, s->f) != NULL && reef_entity_equal(reef_find(b->world, "eff"), s->f);
    assert_int_equal(reef_name(b->world, s->f) != NULL, !reef_entity_is_null(reef_find(b->world, "eff")));
}

static void look_now(reef_block *b) { look(b, &((looking *)b->context)->seen[0]); }
static void look_later(reef_block *b) { look(b, &((looking *)b->context)->seen[1]); }

static void rows_seen(reef_block *b, int phase, int query)
{
    looking *l = b->context;
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) l->seen[phase].rows[query] |= seen_as(&l->s, b->entities[i]);
}
#define ROWS_SEEN(phase, query) \
    static void rows_##phase##query(reef_block *b) { rows_seen(b, phase, query); }
ROWS_SEEN(0, 0)
ROWS_SEEN(0, 1)
ROWS_SEEN(0, 2)
ROWS_SEEN(0, 3)
ROWS_SEEN(1, 0)
ROWS_SEEN(1, 1)
ROWS_SEEN(1, 2)
ROWS_SEEN(1, 3)

#define ASK(name, ...) \
    static void name(reef_block *b) \
    { \
        scene *s = b->context; \
        __VA_ARGS__ \
    }
ASK(ask_nothing, s->step++;)
ASK(ask_make, assert_some(s->made[0] = reef_cmd_spawn(b, reef_with(Position, 9, 9), reef_with(Mass, 7)));
    assert_ok(reef_cmd_name(b, s->made[0], "made"));)
ASK(ask_clone, assert_some(s->made[0] = reef_cmd_clone(b, s->e));)
ASK(ask_destroy, assert_ok(reef_cmd_destroy(b, s->e));)
ASK(ask_add, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_add(b, s->f, Awake));)
ASK(ask_set_new, assert_ok(reef_cmd_set(b, s->f, Health, 1, 2));)
ASK(ask_set_old, assert_ok(reef_cmd_set(b, s->e, Mass, 6));)
ASK(ask_remove, assert_ok(reef_cmd_remove(b, s->e, Mass));)
ASK(ask_remove_all, assert_ok(reef_cmd_remove_all(b, s->e));)
ASK(ask_change,
    assert_ok(reef_cmd_change(b, s->e, reef_with(Mass, 6), reef_with(Health, 1, 2), reef_without(Position)));)
ASK(ask_disable, assert_ok(reef_cmd_disable(b, s->e, Mass));)
ASK(ask_disable_entity, assert_ok(reef_cmd_disable(b, s->f));)
ASK(ask_name, assert_ok(reef_cmd_name(b, s->f, "eff"));)
ASK(ask_no_name, assert_ok(reef_cmd_name(b, s->e, NULL));)

typedef struct cells {
    const char *what;
    void (*request)(reef_block *b);
    sight after; /* of the next phase; `told` is in both who `of` is */
} cells;

static void looking_make(looking *l, void **state, const cells *x)
{
    static void (*const rows[2][LOOKED_AT])(reef_block *) = {{rows_00, rows_01, rows_02, rows_03},
                                                             {rows_10, rows_11, rows_12, rows_13}};
    static const char *const queries[LOOKED_AT] = {"in Position", "in Mass", "in Health", "with Awake"};
    char name[16];
    *l = (looking){.s = {.w = another_world(state, NULL)}, .request = x->request};
    l->s.e = reef_spawn(l->s.w, reef_with(Position, 1, 2), reef_with(Mass, 5));
    l->s.f = reef_spawn(l->s.w, reef_with(Position, 3, 4));
    l->told_of = x->after.told == SEEN_E ? l->s.e : x->after.told == SEEN_F ? l->s.f : (reef_entity){0, 0};
    assert_ok(reef_set_name(l->s.w, l->s.e, "ee"));
    assert_false(reef_system_is_null(reef_system_new(
        l->s.w, &(reef_system_desc){.name = "asks", .function = ask, .text = FREELY ", sends Told", .context = l})));
    for (int phase = 0; phase < 2; phase++) {
        const char *where = phase ? "end" : NULL;
        assert_false(reef_system_is_null(
            reef_system_new(l->s.w, &(reef_system_desc){.name = phase ? "later" : "now",
                                                        .function = phase ? look_later : look_now,
                                                        .phase = where,
                                                        .context = l,
                                                        .text = "; receives Told, reads Position Mass Health Awake"})));
        for (int k = 0; k < LOOKED_AT; k++) {
            snprintf(name, sizeof name, "rows%d%d", phase, k);
            assert_false(reef_system_is_null(reef_system_new(
                l->s.w,
                &(reef_system_desc){
                    .name = name, .function = rows[phase][k], .text = queries[k], .phase = where, .context = l})));
        }
    }
}

static void assert_sight(const char *what, const char *when, const sight *got, const sight *wanted)
{
    if (memcmp(got->rows, wanted->rows, sizeof got->rows) != 0) fail_msg("%s: other rows %s", what, when);
    if (memcmp(got->has, wanted->has, sizeof got->has) != 0) fail_msg("%s: reef_has %s", what, when);
    if (got->alive != wanted->alive || got->enabled != wanted->enabled)
        fail_msg("%s: who lives, who is enabled %s", what, when);
    if (got->told != wanted->told) fail_msg("%s: events %s", what, when);
    if (got->e_named != wanted->e_named || got->f_named != wanted->f_named) fail_msg("%s: names %s", what, when);
    if (got->mass < wanted->mass || got->mass > wanted->mass) fail_msg("%s: the mass is %g %s", what, got->mass, when);
}

static void each_cell_between_the_request_and_the_phases_end(void **state)
{
    enum { E = SEEN_E, F = SEEN_F, M = SEEN_MADE };
    static const cells all[] = {
        {"nothing", ask_nothing, {E | F, E, {E | F, E, 0, 0}, {E | F, E, 0, 0}, E | F, 5, true, false}},
        {"make",
         ask_make,
         {E | F | M, M, {E | F | M, E | M, 0, 0}, {E | F | M, E | M, 0, 0}, E | F | M, 5, true, false}},
        {"clone",
         ask_clone,
         {E | F | M, M, {E | F | M, E | M, 0, 0}, {E | F | M, E | M, 0, 0}, E | F | M, 5, true, false}},
        {"destroy", ask_destroy, {F, E, {F, 0, 0, 0}, {F, 0, 0, 0}, F, -1, false, false}},
        {"add", ask_add, {E | F, F, {E | F, E | F, 0, F}, {E | F, E | F, 0, F}, E | F, 5, true, false}},
        {"set what isn't there", ask_set_new, {E | F, F, {E | F, E, F, 0}, {E | F, E, F, 0}, E | F, 5, true, false}},
        {"set what is there", ask_set_old, {E | F, E, {E | F, E, 0, 0}, {E | F, E, 0, 0}, E | F, 6, true, false}},
        {"remove", ask_remove, {E | F, E, {E | F, 0, 0, 0}, {E | F, 0, 0, 0}, E | F, -1, true, false}},
        {"remove all", ask_remove_all, {E | F, E, {F, 0, 0, 0}, {F, 0, 0, 0}, E | F, -1, true, false}},
        {"change", ask_change, {E | F, E, {F, E, E, 0}, {F, E, E, 0}, E | F, 6, true, false}},
        {"disable a component", ask_disable, {E | F, E, {E | F, 0, 0, 0}, {E | F, E, 0, 0}, E | F, 5, true, false}},
        {"disable an entity", ask_disable_entity, {E | F, F, {E, E, 0, 0}, {E | F, E, 0, 0}, E, 5, true, false}},
        {"name", ask_name, {E | F, F, {E | F, E, 0, 0}, {E | F, E, 0, 0}, E | F, 5, true, true}},
        {"no name", ask_no_name, {E | F, E, {E | F, E, 0, 0}, {E | F, E, 0, 0}, E | F, 5, false, false}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        looking l;
        sight before = all[0].after;
        before.told = all[i].after.told; /* an event is there at once, whomever it is about */
        looking_make(&l, state, &all[i]);
        assert_ok(reef_tick(l.s.w, 0));
        assert_int_equal(reef_last_error(l.s.w).status, REEF_OK);
        assert_sight(all[i].what, "in the phase", &l.seen[0], &before);
        assert_sight(all[i].what, "behind it", &l.seen[1], &all[i].after);
        end_world(state, l.s.w);
    }
}

/* ---- requests that meet ---- */

typedef struct meeting {
    const char *what;
    void (*requests)(reef_block *b);
    reef_status status; /* of the first that fails */
    const char *operation;
    void (*check)(const scene *s);
} meeting;

#define REQUESTS(name, ...) \
    static void name(reef_block *b) \
    { \
        scene *s = b->context; \
        __VA_ARGS__(void) s; \
    }
#define AFTER(name, ...) \
    static void name(const scene *s) { __VA_ARGS__ }

AFTER(f_is_dead, assert_false(reef_is_alive(s->w, s->f)); assert_true(reef_is_alive(s->w, s->e));)
REQUESTS(destroy_destroy, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_destroy(b, s->f));)
REQUESTS(destroy_add, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_add(b, s->f, Mass));)
REQUESTS(destroy_set, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_set(b, s->f, Mass, 1));)
REQUESTS(destroy_remove, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_remove(b, s->f, Position));)
REQUESTS(destroy_remove_all, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_remove_all(b, s->f));)
REQUESTS(destroy_change, assert_ok(reef_cmd_destroy(b, s->f));
         assert_ok(reef_cmd_change(b, s->f, reef_without(Position)));)
REQUESTS(destroy_disable, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_disable(b, s->f, Position));)
REQUESTS(destroy_name, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_name(b, s->f, "late"));)
REQUESTS(destroy_clone, assert_ok(reef_cmd_destroy(b, s->f)); assert_some(s->made[0] = reef_cmd_clone(b, s->f));)
AFTER(no_clone, assert_false(reef_is_alive(s->w, s->f)); assert_false(reef_is_alive(s->w, s->made[0]));)
REQUESTS(add_add, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_add(b, s->f, Mass));)
AFTER(mass_0, assert_true(mass_of(s->w, s->f) == 0);)
REQUESTS(add_set, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_set(b, s->f, Mass, 4));)
REQUESTS(set_add, assert_ok(reef_cmd_set(b, s->f, Mass, 4)); assert_ok(reef_cmd_add(b, s->f, Mass));)
AFTER(mass_4, assert_true(mass_of(s->w, s->f) == 4);)
REQUESTS(set_set, assert_ok(reef_cmd_set(b, s->f, Mass, 3)); assert_ok(reef_cmd_set(b, s->f, Mass, 4));)
REQUESTS(add_remove, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_remove(b, s->f, Mass));
         assert_ok(reef_cmd_add(b, s->f, Health)); assert_ok(reef_cmd_change(b, s->f, reef_without(Health)));)
AFTER(f_without, assert_false(reef_has(s->w, s->f, Mass) || reef_has(s->w, s->f, Health));)
REQUESTS(remove_add, assert_ok(reef_cmd_remove(b, s->e, Mass)); assert_ok(reef_cmd_add(b, s->e, Mass));)
AFTER(e_mass_0, assert_true(mass_of(s->w, s->e) == 0);)
REQUESTS(remove_remove, assert_ok(reef_cmd_remove(b, s->e, Mass)); assert_ok(reef_cmd_remove(b, s->e, Mass));)
AFTER(e_no_mass, assert_false(reef_has(s->w, s->e, Mass)); assert_true(reef_is_alive(s->w, s->e));)
REQUESTS(remove_set, assert_ok(reef_cmd_remove(b, s->e, Mass)); assert_ok(reef_cmd_set(b, s->e, Mass, 9));)
AFTER(e_mass_9, assert_true(mass_of(s->w, s->e) == 9);)
REQUESTS(all_add, assert_ok(reef_cmd_remove_all(b, s->e)); assert_ok(reef_cmd_add(b, s->e, Health));)
AFTER(e_health_only, assert_true(reef_has(s->w, s->e, Health));
      assert_false(reef_has(s->w, s->e, Mass) || reef_has(s->w, s->e, Position));)
REQUESTS(make_all, s->made[0] = reef_cmd_spawn(b, reef_with(Mass, 1), reef_with(Position, 0, 0));
         assert_ok(reef_cmd_set(b, s->made[0], Mass, 2)); assert_ok(reef_cmd_add(b, s->made[0], Health));
         assert_ok(reef_cmd_remove(b, s->made[0], Position)); assert_ok(reef_cmd_add(b, s->made[0], Awake));
         assert_ok(reef_cmd_disable(b, s->made[0], Mass)); assert_ok(reef_cmd_name(b, s->made[0], "made"));
         s->made[1] = reef_cmd_clone(b, s->made[0]);
         assert_ok(reef_cmd_change(b, s->made[0], reef_with(Velocity, 1, 1), reef_without(Awake)));)
AFTER(all_of_it, const reef_entity made = s->made[0]; const reef_entity twin = s->made[1];
      assert_true(mass_of(s->w, made) == 2 && reef_has(s->w, made, Health) && reef_has(s->w, made, Velocity));
      assert_false(reef_has(s->w, made, Position) || reef_has(s->w, made, Awake) || reef_is_enabled(s->w, made, Mass));
      assert_true(mass_of(s->w, twin) == 2 && reef_has(s->w, twin, Awake) && !reef_has(s->w, twin, Velocity));
      assert_false(reef_is_enabled(s->w, twin, Mass)); assert_entity(made, reef_find(s->w, "made"));)
REQUESTS(make_destroy, s->made[0] = reef_cmd_spawn(b, reef_with(Mass, 1)); assert_ok(reef_cmd_destroy(b, s->made[0]));)
REQUESTS(make_destroy_add, s->made[0] = reef_cmd_spawn(b, reef_with(Mass, 1));
         assert_ok(reef_cmd_destroy(b, s->made[0])); assert_ok(reef_cmd_add(b, s->made[0], Health));)
AFTER(never_lived, assert_false(reef_is_alive(s->w, s->made[0])); assert_int_equal(reef_count_alive(s->w), 2);
      const reef_entity next = reef_create(s->w); assert_int_equal(next.index, s->made[0].index);
      assert_int_equal(next.generation, s->made[0].generation + 1);)
REQUESTS(clone_destroy, s->made[0] = reef_cmd_clone(b, s->e); assert_ok(reef_cmd_destroy(b, s->e));)
AFTER(clone_only, assert_false(reef_is_alive(s->w, s->e)); assert_true(mass_of(s->w, s->made[0]) == 5);)
REQUESTS(add_disable, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_disable(b, s->f, Mass));)
AFTER(f_mass_disabled, assert_true(reef_has(s->w, s->f, Mass) && !reef_is_enabled(s->w, s->f, Mass));)
REQUESTS(disable_remove, assert_ok(reef_cmd_disable(b, s->e, Mass)); assert_ok(reef_cmd_remove(b, s->e, Mass));)
AFTER(no_mark, assert_false(reef_has(s->w, s->e, Mass)); assert_ok(reef_add(s->w, s->e, Mass));
      assert_true(reef_is_enabled(s->w, s->e, Mass));)
REQUESTS(remove_disable, assert_ok(reef_cmd_remove(b, s->e, Mass)); assert_ok(reef_cmd_disable(b, s->e, Mass));)
REQUESTS(disable_enable, assert_ok(reef_cmd_disable(b, s->e, Mass)); assert_ok(reef_cmd_enable(b, s->e, Mass));)
AFTER(e_enabled, assert_true(reef_is_enabled(s->w, s->e, Mass));)
REQUESTS(name_name, assert_ok(reef_cmd_name(b, s->e, "who")); assert_ok(reef_cmd_name(b, s->f, "who"));)
AFTER(first_has_it, assert_entity(s->e, reef_find(s->w, "who")); assert_null(reef_name(s->w, s->f));)
REQUESTS(name_destroy_name, assert_ok(reef_cmd_name(b, s->e, "who")); assert_ok(reef_cmd_destroy(b, s->e));
         assert_ok(reef_cmd_name(b, s->f, "who"));)
AFTER(second_has_it, assert_entity(s->f, reef_find(s->w, "who"));)
REQUESTS(name_none, assert_ok(reef_cmd_name(b, s->e, "who")); assert_ok(reef_cmd_name(b, s->e, NULL));)
AFTER(no_name, assert_null(reef_name(s->w, s->e)); assert_none(reef_find(s->w, "who"));)

static void requests_that_meet(void **state)
{
    static const meeting all[] = {
        {"destroy, destroy", destroy_destroy, REEF_NOT_ALIVE, "reef_destroy", f_is_dead},
        {"destroy, add", destroy_add, REEF_NOT_ALIVE, "reef_add", f_is_dead},
        {"destroy, set", destroy_set, REEF_NOT_ALIVE, "reef_set", f_is_dead},
        {"destroy, remove", destroy_remove, REEF_NOT_ALIVE, "reef_remove", f_is_dead},
        {"destroy, remove all", destroy_remove_all, REEF_NOT_ALIVE, "reef_remove_all", f_is_dead},
        {"destroy, change", destroy_change, REEF_NOT_ALIVE, "reef_change", f_is_dead},
        {"destroy, disable", destroy_disable, REEF_NOT_ALIVE, "reef_disable", f_is_dead},
        {"destroy, name", destroy_name, REEF_NOT_ALIVE, "reef_set_name", f_is_dead},
        {"destroy, clone", destroy_clone, REEF_NOT_ALIVE, "reef_clone", no_clone},
        {"add, add", add_add, REEF_EXISTS, "reef_add", mass_0},
        {"add, set", add_set, REEF_OK, "", mass_4},
        {"set, add", set_add, REEF_EXISTS, "reef_add", mass_4},
        {"set, set", set_set, REEF_OK, "", mass_4},
        {"add, remove", add_remove, REEF_OK, "", f_without},
        {"remove, add", remove_add, REEF_OK, "", e_mass_0},
        {"remove, remove", remove_remove, REEF_ABSENT, "reef_remove", e_no_mass},
        {"remove, set", remove_set, REEF_OK, "", e_mass_9},
        {"remove all, add", all_add, REEF_OK, "", e_health_only},
        {"make, everything", make_all, REEF_OK, "", all_of_it},
        {"make, destroy", make_destroy, REEF_OK, "", never_lived},
        {"make, destroy, add", make_destroy_add, REEF_NOT_ALIVE, "reef_add", never_lived},
        {"clone, destroy", clone_destroy, REEF_OK, "", clone_only},
        {"add, disable", add_disable, REEF_OK, "", f_mass_disabled},
        {"disable, remove", disable_remove, REEF_OK, "", no_mark},
        {"remove, disable", remove_disable, REEF_ABSENT, "reef_disable", e_no_mass},
        {"disable, enable", disable_enable, REEF_OK, "", e_enabled},
        {"name, the same name", name_name, REEF_NAME_TAKEN, "reef_set_name", first_has_it},
        {"name, destroy, the same name", name_destroy_name, REEF_OK, "", second_has_it},
        {"name, no name", name_none, REEF_OK, "", no_name},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        scene s = scene_make(state);
        s.w = another_world(state, NULL);
        s.e = reef_spawn(s.w, reef_with(Position, 1, 2), reef_with(Mass, 5));
        s.f = reef_spawn(s.w, reef_with(Position, 3, 4));
        print_message("%s\n", all[i].what);
        assert_status(all[i].status, freely(&s, all[i].requests));
        assert_string_equal(reef_last_error(s.w).operation, all[i].operation);
        assert_string_equal(reef_last_error(s.w).system, all[i].status == REEF_OK ? "" : "tested");
        all[i].check(&s);
        end_world(state, s.w);
    }
}

REQUESTS(destroy_and_name, assert_ok(reef_cmd_destroy(b, s->f)); assert_ok(reef_cmd_name(b, s->e, "taken"));)
REQUESTS(add_and_name, assert_ok(reef_cmd_add(b, s->f, Mass)); assert_ok(reef_cmd_name(b, s->f, "taken"));
         assert_ok(reef_cmd_set(b, s->e, Mass, 8));)

/* The order of the systems is that of their commands. */
static void requests_of_two_systems_that_meet(void **state)
{
    for (int turn = 0; turn < 2; turn++) {
        scene s = scene_make(state);
        s.w = another_world(state, NULL);
        s.e = reef_spawn(s.w, reef_with(Position, 1, 2), reef_with(Mass, 5));
        s.f = reef_spawn(s.w, reef_with(Position, 3, 4));
        const reef_system_desc two[] = {
            {.name = "goer", .function = destroy_and_name, .text = "; destroys, names", .context = &s},
            {.name = "adder", .function = add_and_name, .text = "; adds Mass, names", .context = &s}};
        for (int i = 0; i < 2; i++) assert_false(reef_system_is_null(reef_system_new(s.w, &two[i ^ turn])));
        assert_ok(reef_tick(s.w, 0));
        const reef_error first = reef_last_error(s.w);
        assert_false(reef_is_alive(s.w, s.f));
        assert_true(mass_of(s.w, s.e) == 8);
        /* turn 1: added, named, destroyed, and the name is free again */
        assert_int_equal(first.status, turn ? REEF_OK : REEF_NOT_ALIVE);
        assert_string_equal(first.operation, turn ? "" : "reef_add");
        assert_string_equal(first.system, turn ? "" : "adder");
        assert_entity(s.e, reef_find(s.w, "taken"));
        end_world(state, s.w);
    }
}

/* ---- what is refused at once ---- */

static void refuse_all(reef_block *b)
{
    scene *s = b->context;
    const reef_entity null = {0, 0};
    const reef_component nobody = {REEF_TYPES_MAX + 5}, none = {0};
    Mass mass = {1};
    const reef_value twice[] = {reef_with(Mass, 1), reef_with(Mass, 2)},
                     wrong = {reef_id(Mass), REEF_VALUE_ONE, 3, &mass};
    const reef_value odd = {reef_id(Mass), (reef_value_kind)4, sizeof mass, &mass}, gone = reef_without(Mass);
    assert_status(REEF_NOT_ALIVE, reef_cmd_destroy(b, null));
    assert_status(REEF_NOT_ALIVE, reef_cmd_add(b, null, Mass));
    assert_status(REEF_NOT_ALIVE, reef_cmd_set(b, null, Mass, 1));
    assert_status(REEF_NOT_ALIVE, reef_cmd_remove(b, null, Mass));
    assert_status(REEF_NOT_ALIVE, reef_cmd_remove_all(b, null));
    assert_status(REEF_NOT_ALIVE, reef_cmd_change_values(b, null, twice, 1));
    assert_status(REEF_NOT_ALIVE, reef_cmd_disable(b, null, Mass));
    assert_status(REEF_NOT_ALIVE, reef_cmd_name(b, null, "x"));
    assert_none(reef_cmd_clone(b, null));
    assert_status(REEF_UNKNOWN_TYPE, reef_cmd_add_id(b, s->e, nobody));
    assert_status(REEF_UNKNOWN_TYPE, reef_cmd_add_id(b, s->e, none));
    assert_status(REEF_UNKNOWN_TYPE, reef_cmd_remove_id(b, s->e, nobody));
    assert_status(REEF_UNKNOWN_TYPE, reef_cmd_set_id(b, s->e, nobody, &mass, 8));
    assert_status(REEF_UNKNOWN_TYPE, reef_cmd_enable_id(b, s->e, nobody, false));
    assert_status(REEF_WRONG_SIZE, reef_cmd_set_id(b, s->f, reef_id(Mass), &mass, 4));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_set_id(b, s->f, reef_id(Mass), NULL, 8));
    assert_status(REEF_WRONG_SIZE, reef_cmd_change_values(b, s->f, &wrong, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_change_values(b, s->f, &odd, 1));
    assert_status(REEF_DUPLICATE_TERM, reef_cmd_change_values(b, s->f, twice, 2));
    assert_none(reef_cmd_spawn_values(b, &odd, 1));
    assert_none(reef_cmd_spawn_values(b, &wrong, 1));
    assert_none(reef_cmd_spawn_values(b, twice, 2));
    assert_none(reef_cmd_spawn_values(b, &gone, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_spawn_many_values(b, 1, NULL, NULL, 1));
    assert_status(REEF_BAD_TEXT, reef_cmd_name(b, s->e, ""));
    assert_status(REEF_BAD_TEXT, reef_cmd_name(b, s->e, "a..b"));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_destroy(NULL, s->e));
    assert_ok(reef_cmd_spawn_many(b, 0, NULL, reef_with(Mass, 1)));
    s->step++;
}

static void what_can_be_told_at_once_is_refused_at_once(void **state)
{
    scene s = scene_make(state);
    const uint64_t before = digest(s.w);
    assert_status(REEF_NOT_ALIVE, freely(&s, refuse_all)); /* the first of them */
    assert_string_equal(reef_last_error(s.w).operation, "reef_cmd_destroy");
    assert_string_equal(reef_last_error(s.w).system, "tested");
    assert_int_equal(s.step, 1);
    assert_int_equal(digest(s.w), before);
}

/* A system with no more than each declaration; what it allows, and what it doesn't. */
typedef struct allowed {
    const char *text;
    uint32_t calls; /* bits of those that are allowed */
} allowed;

enum { CALLS = 15 };

static reef_status call_number(reef_block *b, const scene *s, int n)
{
    const reef_value mass[] = {reef_with(Mass, 1)}, both[] = {reef_with(Mass, 1), reef_with(Position, 1, 1)},
                     without[] = {reef_without(Mass)};
    switch (n) {
    case 0: return reef_entity_is_null(reef_cmd_create(b)) ? REEF_UNDECLARED : REEF_OK;
    case 1: return reef_entity_is_null(reef_cmd_spawn_values(b, mass, 1)) ? REEF_UNDECLARED : REEF_OK;
    case 2: return reef_entity_is_null(reef_cmd_spawn_values(b, both, 2)) ? REEF_UNDECLARED : REEF_OK;
    case 3: return reef_entity_is_null(reef_cmd_clone(b, s->e)) ? REEF_UNDECLARED : REEF_OK;
    case 4: return reef_cmd_add(b, s->f, Mass);
    case 5: return reef_cmd_set(b, s->f, Mass, 1);
    case 6: return reef_cmd_change_values(b, s->f, mass, 1);
    case 7: return reef_cmd_remove(b, s->e, Mass);
    case 8: return reef_cmd_change_values(b, s->e, without, 1);
    case 9: return reef_cmd_remove_all(b, s->f);
    case 10: return reef_cmd_disable(b, s->e, Mass);
    case 11: return reef_cmd_disable(b, s->e);
    case 12: return reef_cmd_destroy(b, s->e);
    case 13: return reef_cmd_name(b, s->e, "name");
    default: return reef_cmd_add(b, s->f, Health);
    }
}

static void try_each(reef_block *b)
{
    scene *s = b->context;
    for (int n = 0; n < CALLS; n++) {
        const bool may = s->step >> n & 1;
        for (int again = 0; again < 2; again++) assert_status(may ? REEF_OK : REEF_UNDECLARED, call_number(b, s, n));
    }
}

static void commands_are_held_against_the_declaration(void **state)
{
    static const allowed all[] = {
        {NULL, 0},
        {"; spawns Mass", 0x3},
        {"; spawns Mass Position", 0x7},
        {"; spawns", 0xF},
        {"; adds Mass", 0x70},
        {"; adds", 0x4070},
        {"; removes Mass", 0x180},
        {"; removes", 0x380},
        {"; enables Mass", 0x400},
        {"; enables", 0xC00},
        {"; destroys", 0x1000},
        {"; names", 0x2000},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        scene s = scene_make(state);
        s.step = (int)all[i].calls;
        const reef_status last = once(&s, try_each, all[i].text);
        assert_true(last != REEF_OK);
    }
}

/* ---- a block of one's own loop ---- */

static void without_a_system_commands_are_calls_on_the_world(void **state)
{
    scene s = scene_make(state);
    reef_query q = reef_query_new(s.w, "in Position");
    reef_block b = reef_begin(s.w, q);
    assert_true(reef_next(&b));
    assert_status(REEF_LOCKED, reef_cmd_destroy(&b, s.e));
    assert_none(reef_cmd_create(&b));
    assert_int_equal(reef_last_error(s.w).status, REEF_LOCKED);
    assert_ok(reef_cmd_name(&b, s.e, "now"));
    assert_entity(s.e, reef_find(s.w, "now"));
    reef_end(&b);
    b = reef_begin_loop(s.w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&b));
    reef_entity made = reef_cmd_spawn(&b, reef_with(Mass, 3)), twin = reef_cmd_clone(&b, s.e), many[2];
    assert_ok(reef_cmd_spawn_many(&b, 2, many, reef_with(Mass, 4)));
    assert_ok(reef_cmd_add(&b, s.f, Mass));
    assert_ok(reef_cmd_change(&b, s.f, reef_with(Health, 1, 2)));
    assert_ok(reef_cmd_remove(&b, s.e, Mass));
    assert_ok(reef_cmd_disable(&b, s.f, Position));
    assert_status(REEF_OK, reef_cmd_set(&b, s.f, Velocity, 1, 1));
    assert_false(reef_is_alive(s.w, made));
    reef_end(&b);
    assert_true(mass_of(s.w, made) == 3 && mass_of(s.w, twin) == 5 && mass_of(s.w, many[1]) == 4 &&
                mass_of(s.w, s.f) == 0);
    assert_true(reef_has(s.w, s.f, Health) && reef_has(s.w, s.f, Velocity) && !reef_has(s.w, s.e, Mass) &&
                !reef_is_enabled(s.w, s.f, Position));
}

/* ---- values with hooks ---- */

static void send_tracked(reef_block *b)
{
    scene *s = b->context;
    Tracked value;
    Unique own;
    tracked_make(&value, 3);
    unique_make(&own, 4);
    const reef_value v[] = {{reef_id(Tracked), REEF_VALUE_ONE, sizeof value, &value}};
    s->made[0] = reef_cmd_spawn_values(b, v, 1);
    assert_ok(reef_cmd_set_id(b, s->e, reef_id(Tracked), &value, sizeof value));
    assert_ok(reef_cmd_set_id(b, s->f, reef_id(Unique), &own, sizeof own));
    assert_ok(reef_cmd_destroy(b, s->made[1]));
    assert_ok(reef_cmd_set_id(b, s->made[1], reef_id(Tracked), &value, sizeof value)); /* its entity will be gone */
    assert_ok(reef_cmd_add(b, s->f, Loose));
    tracked_drop(&value);
    book.fail_copy = 1;
    book.fail_status = REEF_LIMIT;
    const Tracked outside = {9, 0};
    assert_status(REEF_LIMIT, reef_cmd_set_id(b, s->e, reef_id(Tracked), &outside, sizeof outside));
}

static void values_of_commands_live_and_end_once(void **state)
{
    scene s = scene_make(state);
    s.made[1] = reef_create(s.w);
    assert_status(REEF_LIMIT, freely(&s, send_tracked));
    assert_int_equal(reef_last_error(s.w).component.id, reef_id(Tracked).id);
    assert_int_equal(reef_get(s.w, s.made[0], Tracked)->value, 3);
    assert_int_equal(reef_get(s.w, s.e, Tracked)->value, 3);
    assert_int_equal(reef_get(s.w, s.f, Unique)->value, 4);
    assert_false(reef_is_alive(s.w, s.made[1]));
}

/* ---- many jobs ---- */

static void split_and_stamp(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity e = b->entities[i];
        if (e.index % 3 == 0) assert_ok(reef_cmd_destroy(b, e));
        if (e.index % 3 == 1) assert_ok(reef_cmd_add(b, e, Mass));
        if (e.index % 5 == 0) assert_some(reef_cmd_spawn(b, reef_with(Health, (int32_t)e.index, 0)));
    }
}

static uint64_t hash_with(uint32_t threads)
{
    reef_world *w = reef_world_new(NULL); /* the fixture's heap is for one thread */
    assert_non_null(w);
    reef_pool *pool = threads ? reef_pool_new(&(reef_pool_config){.threads = threads}) : NULL;
    reef_set_pool(w, pool);
    reef_watch_systems(w, pool == NULL);
    for (int i = 0; i < 20000; i++) reef_spawn(w, reef_with(Position, (float)i, 0));
    assert_false(
        reef_system_is_null(reef_system(w, split_and_stamp, "in Position; spawns Health, adds Mass, destroys")));
    for (int i = 0; i < 3; i++) {
        assert_ok(reef_tick(w, 0));
        assert_valid(w);
    }
    const uint64_t hash = reef_hash(w);
    reef_world_free(w);
    reef_pool_free(pool);
    return hash;
}

static void ids_and_order_of_commands_are_those_of_one_thread(void **state)
{
    (void)state;
    const uint64_t hash = hash_with(0);
    for (uint32_t threads = 1; threads <= 4; threads++) assert_int_equal(hash_with(threads), hash);
}

static void the_same_tick_again_takes_no_memory(void **state)
{
    reef_world *w = world_of(state);
    scene s = {.w = w};
    reef_watch_systems(w, false); /* which copies what it watches */
    for (int i = 0; i < 5000; i++) reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Mass, 1));
    assert_false(
        reef_system_is_null(reef_system_new(w, &(reef_system_desc){.name = "turn",
                                                                   .function = visit_and_destroy,
                                                                   .context = &s,
                                                                   .text = "in Position; spawns Position, destroys"})));
    for (int i = 0; i < 4; i++) assert_ok(reef_tick(w, 0));
    const uint64_t calls = heap_of(state)->calls;
    for (int i = 0; i < 8; i++) assert_ok(reef_tick(w, 0));
    assert_int_equal(heap_of(state)->calls, calls);
    assert_int_equal(reef_count(w, Position), 5000);
    const uint64_t bytes = heap_of(state)->bytes;
    assert_ok(reef_shrink(w));
    assert_true(heap_of(state)->bytes < bytes);
}

/* ---- without memory ---- */

static void ask_for_everything(reef_block *b)
{
    scene *s = b->context;
    reef_entity made[40];
    for (uint32_t i = 0; i < b->count; i++) {
        (void)reef_cmd_add(b, b->entities[i], Velocity);
        const reef_entity e = reef_cmd_spawn(b, reef_with(Position, (float)i, 1), reef_with(Health, 1, 2));
        if (!reef_entity_is_null(e)) (void)reef_cmd_set(b, e, Cargo, {1});
        if (i % 100 == 0) (void)reef_cmd_name(b, b->entities[i], i ? "other" : "first");
        if (i % 50 == 0) (void)reef_cmd_spawn_many(b, 40, made, reef_with(Tracked, .value = 1));
        if (i % 70 == 0) (void)reef_cmd_clone(b, b->entities[i]);
        if (i % 3 == 0) (void)reef_cmd_destroy(b, b->entities[i]);
    }
    s->step++;
}

/* One allocation of a tick fails, alone or with all that follow: the world stays valid, and what was recorded and
 * couldn't be done is done later. Where the tick itself is content, the end is that of one with memory. */
static void a_tick_without_memory_goes_on_later(void **state)
{
    uint64_t whole = 0, same = 0;
    for (int rest = 0; rest < 2; rest++) {
        for (uint64_t n = 0, refused = 1; refused; n += 1 + n / 16) {
            scene s = {.w = another_world(state, NULL)};
            for (int i = 0; i < 1500; i++) reef_spawn(s.w, reef_with(Position, (float)i, 0));
            for (int i = 0; i < 200; i++) assert_ok(reef_destroy(s.w, reef_create(s.w)));
            assert_false(reef_system_is_null(reef_system_new(s.w, &(reef_system_desc){.name = "asks",
                                                                                      .function = ask_for_everything,
                                                                                      .context = &s,
                                                                                      .text = "in Position" FREELY})));
            const uint64_t before = reef_count_alive(s.w);
            if (n) heap_fail_nth(heap_of(state), n, rest != 0);
            const reef_status status = reef_tick(s.w, 0);
            refused = n == 0 || heap_of(state)->refused != 0;
            heap_fail_never(heap_of(state));
            assert_true(status == REEF_OK || (refused && status == REEF_NO_MEMORY));
            assert_valid(s.w);
            assert_ok(reef_flush(s.w) == REEF_NO_MEMORY ? REEF_NO_MEMORY : REEF_OK);
            assert_valid(s.w);
            const uint64_t end = digest(s.w);
            if (n == 0) {
                whole = end;
                assert_true(reef_count_alive(s.w) > before);
            }
            same += end == whole;
            if (status == REEF_OK) assert_true(end == whole);
            reef_world *fork = reef_fork(s.w); /* nothing is left */
            assert_non_null(fork);
            reef_world_free(fork);
            end_world(state, s.w);
        }
    }
    assert_true(same > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(made_entity_is_not_alive_before_the_phase_ends),
        TEST(changes_are_not_seen_before_the_phase_ends),
        TEST(who_goes_lives_until_the_phase_ends),
        TEST(rows_of_a_phase_stay),
        TEST(each_cell_between_the_request_and_the_phases_end),
        TEST(requests_that_meet),
        TEST(requests_of_two_systems_that_meet),
        TEST(what_can_be_told_at_once_is_refused_at_once),
        TEST(commands_are_held_against_the_declaration),
        TEST(without_a_system_commands_are_calls_on_the_world),
        TEST(values_of_commands_live_and_end_once),
        TEST(ids_and_order_of_commands_are_those_of_one_thread),
        TEST(the_same_tick_again_takes_no_memory),
        TEST(a_tick_without_memory_goes_on_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
