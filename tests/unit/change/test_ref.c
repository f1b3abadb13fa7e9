/* References: they follow whatever moves, answer NULL for what is gone, and belong to one world. */
#include "support.h"

enum { PEOPLE = 300, REFS = 400, FORKS = 3 };

/* ---- one reference ---- */

static void a_reference_follows_its_entity(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_spawn(w, reef_with(Position, 1, 2)), b = reef_spawn(w, reef_with(Position, 3, 4));
    reef_ref ref = reef_ref_make(w, b, Position);
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, b, Position));
    assert_float_equal(reef_ref_get(w, &ref, Position)->y, 4, 0);
    assert_ok(reef_destroy(w, a)); /* b's row goes into the hole */
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, b, Position));
    assert_true(reef_set(w, b, Mass, 5) == REEF_ADDED);
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, b, Position));
    /* the first chunk grows */
    for (int i = 0; i < 40; i++) assert_some(reef_spawn(w, reef_with(Position, 0, 0), reef_with(Mass, 0)));
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, b, Position));
    reef_ref_mut(w, &ref, Position)->x = 9;
    assert_position(w, b, 9, 4);
    assert_ptr_equal(reef_ref_get_id(w, &ref), reef_get(w, b, Position));
    ((Position *)reef_ref_mut_id(w, &ref))->y = 8;
    assert_position(w, b, 9, 8);
}

/* What is remembered is used: no look at the entity while nothing moves. */
static void a_quiet_world_is_not_asked_again(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3));
    reef_ref ref = reef_ref_make(w, e, Position);
    assert_int_equal(ref.moves, 0);
    const Position *p = reef_ref_get(w, &ref, Position);
    const uint64_t then = ref.moves;
    assert_true(then != 0);
    reef_mut(w, e, Position)->x = 7;
    assert_true(reef_set(w, e, Mass, 4) == REEF_OK);
    for (int i = 0; i < 3; i++) assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    assert_some(reef_create(w));
    assert_ok(reef_disable(w, e, Mass));
    assert_ptr_equal(reef_ref_get(w, &ref, Position), p);
    assert_int_equal(ref.moves, then);
    assert_int_equal(((const reef_hot *)w)->moves, then);
    assert_ok(reef_remove(w, e, Mass));
    assert_true(reef_ref_get(w, &ref, Position) != NULL && ref.moves != then);
}

static void null_once_the_component_or_the_entity_is_gone(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Tracked, .value = 5));
    reef_ref p = reef_ref_make(w, e, Position), t = reef_ref_make(w, e, Tracked);
    assert_int_equal(reef_ref_get(w, &t, Tracked)->value, 5);
    assert_non_null(reef_ref_get(w, &p, Position));
    assert_ok(reef_remove(w, e, Tracked));
    assert_null(reef_ref_get(w, &t, Tracked));
    assert_non_null(reef_ref_get(w, &p, Position));
    assert_no_pointer(w, REEF_ABSENT, reef_ref_mut(w, &t, Tracked));
    assert_true(reef_set(w, e, Tracked, .value = 6) == REEF_ADDED); /* it has one again */
    assert_int_equal(reef_ref_get(w, &t, Tracked)->value, 6);
    assert_ok(reef_remove_all(w, e));
    assert_null(reef_ref_get(w, &p, Position));
    assert_true(reef_set(w, e, Position, 3, 4) == REEF_ADDED);
    assert_float_equal(reef_ref_get(w, &p, Position)->x, 3, 0);
    assert_ok(reef_destroy(w, e));
    const reef_entity next = reef_spawn(w, reef_with(Position, 5, 6)); /* of the same index */
    assert_int_equal(next.index, e.index);
    assert_null(reef_ref_get(w, &p, Position));
    assert_null(reef_ref_get_id(w, &t));
    assert_no_pointer(w, REEF_NOT_ALIVE, reef_ref_mut(w, &p, Position));
}

/* Made before the entity has the component, or is alive at all. */
static void a_reference_may_be_early(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_reserve_id(w);
    reef_ref ref = reef_ref_make(w, e, Position), tag = reef_ref_make(w, e, Frozen);
    assert_null(reef_ref_get(w, &ref, Position));
    assert_ok(reef_create_as(w, e));
    assert_null(reef_ref_get(w, &ref, Position));
    assert_ok(reef_add(w, e, Position));
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, e, Position));
    assert_ok(reef_add(w, e, Frozen));
    assert_null(reef_ref_get_id(w, &tag));
    assert_no_pointer(w, REEF_ABSENT, reef_ref_mut_id(w, &tag));
}

static void null_references_and_those_of_other_types(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    const reef_component none = {0};
    reef_ref null = {0}, ref = reef_ref_make(w, e, Position), same = ref, other = reef_ref_make(w, e, Velocity);
    assert_true(reef_ref_is_null(&null) && !reef_ref_is_null(&ref));
    assert_null(reef_ref_get(w, &null, Position));
    assert_null(reef_ref_get_id(w, &null));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ref_mut(w, &null, Position));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ref_mut_id(w, &null));
    assert_null(reef_ref_mut(NULL, &ref, Position));
    assert_non_null(reef_ref_get(w, &ref, Position));
    assert_null(reef_ref_get(w, &ref, Velocity)); /* not its type */
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ref_mut(w, &ref, Velocity));
    assert_non_null(reef_ref_get(w, &ref, Position));
    assert_true(reef_ref_equal(&ref, &same) && !reef_ref_equal(&ref, &other) && !reef_ref_equal(&ref, &null));
    same = reef_ref_make(NULL, e, Position);
    assert_true(reef_ref_is_null(&same));
    same = reef_ref_make_id(w, e, none);
    assert_true(reef_ref_is_null(&same));
    assert_null(reef_ref_get_id(w, &same));
    const reef_component beyond[] = {{REEF_TYPES_MAX + 1}, {UINT32_MAX}, {511 * 256}}; /* ids that no type can have */
    for (uint32_t i = 0; i < 3; i++) {
        reef_ref far = reef_ref_make_id(w, e, beyond[i]);
        assert_true(reef_ref_is_null(&far));
        assert_null(reef_ref_get_id(w, &far));
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_ref_mut_as(w, &far, beyond[i]));
    }
}

/* ---- worlds as values ---- */

static void a_reference_belongs_to_one_world(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_entity(e, reef_spawn(other, reef_with(Position, 3, 4))); /* the same handle lives there */
    reef_ref ref = reef_ref_make(w, e, Position);
    assert_non_null(reef_ref_get(w, &ref, Position));
    assert_null(reef_ref_get(other, &ref, Position));
    assert_no_pointer(other, REEF_OTHER_WORLD, reef_ref_mut(other, &ref, Position));
    reef_world *fork = reef_fork(w);
    assert_null(reef_ref_get(fork, &ref, Position));
    assert_no_pointer(fork, REEF_OTHER_WORLD, reef_ref_mut(fork, &ref, Position));
    reef_ref there = reef_ref_make(fork, ref.entity, Position);
    assert_ptr_equal(reef_ref_get(fork, &there, Position), reef_ref_get(w, &ref, Position)); /* one block as yet */
    reef_ref_mut(w, &ref, Position)->x = 7;
    assert_position(fork, e, 1, 2);
    assert_ptr_equal(reef_ref_get(w, &ref, Position), reef_get(w, e, Position));
    assert_float_equal(reef_ref_get(w, &ref, Position)->x, 7, 0);
    assert_float_equal(reef_ref_get(fork, &there, Position)->x, 1, 0);
    reef_ref_mut(fork, &there, Position)->x = 8;
    assert_float_equal(reef_ref_get(w, &ref, Position)->x, 7, 0);
    assert_float_equal(reef_ref_get(fork, &there, Position)->x, 8, 0);
    reef_world_free(fork);
    assert_null(reef_ref_get(w, &there, Position));
}

static void a_reference_goes_with_its_world_through_restore(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_snapshot *empty = NULL, *s = reef_snapshot_take(w);
    reef_ref ref = reef_ref_make(w, e, Position);
    reef_mut(w, e, Position)->x = 5;
    assert_float_equal(reef_ref_get(w, &ref, Position)->x, 5, 0);
    assert_ok(reef_destroy(w, e));
    assert_null(reef_ref_get(w, &ref, Position));
    empty = reef_snapshot_take(w);
    assert_ok(reef_restore(w, s)); /* it lives again */
    assert_float_equal(reef_ref_get(w, &ref, Position)->x, 1, 0);
    assert_ok(reef_restore(w, empty));
    assert_null(reef_ref_get(w, &ref, Position));
    assert_ok(reef_restore(w, s));
    assert_float_equal(reef_ref_get(w, &ref, Position)->x, 1, 0);
    reef_snapshot_free(s);
    reef_snapshot_free(empty);
}

/* ---- everything at random ---- */

typedef struct life {
    reef_world *w, *fork[FORKS];
    reef_snapshot *kept[FORKS];
    reef_entity e[PEOPLE];
    reef_ref ref[REFS];
    uint64_t seed;
} life;

static reef_component type_of_number(uint32_t i)
{
    switch (i % 6) {
    case 0: return reef_id(Position);
    case 1: return reef_id(Mass);
    case 2: return reef_id(Tracked);
    case 3: return reef_id(Loose);
    case 4: return reef_id(Cargo);
    default: return reef_id(Frozen);
    }
}

static void change_one(life *l, uint32_t what, reef_entity e, int32_t value)
{
    reef_world *w = l->w;
    switch (what) {
    case 0: assert_true(reef_set(w, e, Position, (float)value, 1) >= 0); break;
    case 1: assert_true(reef_set(w, e, Tracked, .value = value) >= 0); break;
    case 2: (void)(reef_has(w, e, Mass) ? reef_remove(w, e, Mass) : reef_add(w, e, Mass)); break;
    case 3: (void)(reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake)); break;
    case 4: (void)(reef_has(w, e, Frozen) ? reef_remove(w, e, Frozen) : reef_add(w, e, Frozen)); break;
    case 5: (void)(reef_has(w, e, Loose) ? reef_remove(w, e, Loose) : reef_add(w, e, Loose)); break;
    case 6:
        assert_ok(reef_change(w, e, reef_with(Mass, value), reef_without(Loose), reef_tag(Seen), reef_default(Cargo)));
        break;
    case 7:
        if (reef_has(w, e, Cargo)) reef_mut(w, e, Cargo)->byte[3] = (uint8_t)value;
        break;
    default: assert_ok(value % 3 ? reef_remove_all(w, e) : reef_destroy(w, e)); break;
    }
}

static uint64_t mass_key(const void *mass) { return reef_key_f64(((const Mass *)mass)->kg); }

static void change_many(life *l, uint32_t what)
{
    reef_world *w = l->w;
    const char *text[] = {"with Mass, !Frozen", "with Position", "with Tracked", "with Cargo, !Loose", "with Frozen"};
    reef_query q = reef_query_new(w, text[random_below(&l->seed, 5)]);
    assert_query(q);
    switch (what) {
    case 0: assert_ok(remove_everywhere(w, reef_id(Loose), NULL)); break;
    case 1: assert_ok(reef_shrink(w)); break;
    case 2: assert_ok(DESTROY_EVERYWHERE(w, reef_id(Frozen), reef_id(Mass))); break;
    case 3: assert_ok(reef_spawn_many(w, 60, l->e, reef_with(Mass, 5), reef_with(Tracked, .value = 4))); break;
    case 4: (void)reef_destroy_many(w, l->e + 50, 70); break;
    case 5: (void)reef_add_where(w, q, Position); break;
    case 6: (void)reef_remove_where(w, q, Mass); break;
    case 7: (void)reef_set_where(w, q, Tracked, .value = 3); break;
    case 8: (void)reef_add_where(w, q, Frozen); break;
    case 9: (void)reef_remove_where(w, q, Cargo); break;
    case 10: assert_ok(reef_destroy_where(w, q, NULL)); break;
    case 11: (void)reef_clone_many(w, l->e[random_below(&l->seed, PEOPLE)], 40, l->e + 100); break;
    default:
        assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Mass),
                                                              .key = mass_key,
                                                              .descending = random_below(&l->seed, 2) == 1}}));
    }
    reef_query_free(w, q);
}

static void write_all(reef_world *w)
{
    const reef_query q = reef_query_new(w, "Mass, Position");
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Mass)[i].kg += 1, reef_inout(&b, Position)[i].x -= 1;
    reef_query_free(w, q);
}

static void copies(life *l, uint32_t i, uint32_t what)
{
    switch (what) {
    case 0:
        reef_world_free(l->fork[i]);
        l->fork[i] = reef_fork(l->w);
        break;
    case 1:
        reef_world_free(l->fork[i]);
        l->fork[i] = NULL;
        break;
    case 2:
        reef_snapshot_free(l->kept[i]);
        l->kept[i] = reef_snapshot_take(l->w);
        break;
    case 3:
        if (l->kept[i]) assert_ok(reef_restore(l->w, l->kept[i]));
        break;
    case 4:
        if (l->fork[i]) write_all(l->fork[i]); /* the other side copies the blocks */
        break;
    default: write_all(l->w);
    }
}

static void live(life *l)
{
    const uint32_t i = random_below(&l->seed, PEOPLE), what = random_below(&l->seed, 100);
    const int32_t value = (int32_t)random_below(&l->seed, 1000);
    if (what < 4) copies(l, i % FORKS, random_below(&l->seed, 6));
    else if (what < 7) change_many(l, random_below(&l->seed, 13));
    else if (reef_is_alive(l->w, l->e[i])) change_one(l, what % 9, l->e[i], value);
    else if (what % 3 == 0) l->e[i] = reef_create(l->w);
    else if (what % 3 == 1) l->e[i] = reef_spawn(l->w, reef_with(Mass, value), reef_with(Tracked, .value = value));
    else
        l->e[i] =
            reef_spawn(l->w, reef_with(Position, (float)value, 2), reef_with(Cargo, .byte = {1}), reef_tag(Frozen));
}

static void compare(life *l, uint32_t i)
{
    reef_ref *ref = &l->ref[i];
    const void *wanted = ref->component.id ? reef_get_id(l->w, ref->entity, ref->component) : NULL;
    if (reef_ref_get_id(l->w, ref) != wanted)
        fail_msg("reference %u of entity %u: not where it is", i, ref->entity.index);
}

static void references_agree_with_get_whatever_happens(void **state)
{
    life *l = calloc(1, sizeof *l);
    uint32_t found = 0;
    l->w = world_of(state);
    l->seed = 7;
    for (uint32_t step = 0; step < 6000; step++) {
        live(l);
        const uint32_t k = random_below(&l->seed, REFS), i = random_below(&l->seed, PEOPLE);
        if (step % 3 == 0) l->ref[k] = reef_ref_make_id(l->w, l->e[i], type_of_number(k));
        if (step % 16 == 0)
            for (uint32_t n = 0; n < REFS; n++) compare(l, n), found += l->ref[n].moves != 0;
        else
            for (uint32_t n = 0; n < 30; n++) compare(l, (step * 30 + n) % REFS);
        if (step % 7 == 0 && l->ref[k].moves) {
            void *p = reef_ref_mut_id(l->w, &l->ref[k]);
            assert_ptr_equal(p, reef_get_id(l->w, l->ref[k].entity, l->ref[k].component));
            compare(l, k);
        }
    }
    assert_true(found > 10000);
    for (uint32_t i = 0; i < FORKS; i++) {
        reef_world_free(l->fork[i]);
        reef_snapshot_free(l->kept[i]);
    }
    free(l);
}

/* ---- values outside of the rows ---- */

typedef struct {
    int32_t value;
} Packed;
REEF_COMPONENT_IN(Packed, REEF_SPARSE);
typedef struct {
    int32_t value;
} Paged;
REEF_COMPONENT_PAGED(Paged, 64);
typedef struct {
    int32_t value;
} Cold;
REEF_COMPONENT_IN(Cold, REEF_COLD);

static void references_reach_values_outside_of_the_rows(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[PEOPLE];
    static reef_ref ref[3][PEOPLE];
    const reef_component type[3] = {reef_id(Packed), reef_id(Paged), reef_id(Cold)};
    uint64_t seed = 5, found = 0;
    for (uint32_t step = 0; step < 1500; step++) {
        const uint32_t i = random_below(&seed, PEOPLE), t = random_below(&seed, 3);
        const int32_t value = (int32_t)step;
        if (!reef_is_alive(w, e[i])) {
            e[i] = reef_spawn(w, reef_with(Packed, value), reef_with(Paged, value), reef_with(Cold, value));
            for (uint32_t k = 0; k < 3; k++) ref[k][i] = reef_ref_make_id(w, e[i], type[k]);
        } else if (step % 5 == 0) {
            assert_ok(reef_destroy(w, e[i]));
        } else if (reef_has_id(w, e[i], type[t])) {
            *(int32_t *)reef_ref_mut_id(w, &ref[t][i]) = value;
            if (step % 2) assert_ok(reef_remove_id(w, e[i], type[t])); /* the last value goes into the hole */
        } else {
            assert_ok(reef_add_id(w, e[i], type[t], NULL, NULL));
        }
        for (uint32_t n = 0; n < 3 * PEOPLE; n++) {
            reef_ref *r = &ref[n % 3][n / 3];
            const void *p = reef_ref_get_id(w, r);
            assert_ptr_equal(p, r->component.id ? reef_get_id(w, r->entity, r->component) : NULL);
            found += p != NULL;
        }
    }
    assert_true(found > 100000);
}

/* ---- in systems ---- */

enum { FLEET = 3000 };
static reef_ref fleet[FLEET];
static reef_entity ship[FLEET];
static uint32_t wrong;

static void steer(reef_block *b)
{
    for (uint32_t i = 0; i < FLEET; i += 3) {
        Position *p = reef_ref_mut(b->world, &fleet[i], Position);
        if (p) p->x += 1;
    }
}
static void look(reef_block *b)
{
    for (uint32_t i = 0; i < FLEET; i++)
        wrong += reef_ref_get(b->world, &fleet[i], Position) != reef_get(b->world, ship[i], Position);
}
static void drift(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        reef_inout(b, Position)[i].y += 1;
        if (b->entities[i].index % 50 == 7) (void)reef_cmd_add(b, b->entities[i], Frozen);
        if (b->entities[i].index % 97 == 9) (void)reef_cmd_destroy(b, b->entities[i]);
    }
}

static void systems_use_references_while_forks_come_and_go(void **state)
{
    reef_world *w = world_of(state), *fork = NULL;
    assert_ok(reef_spawn_many(w, FLEET, ship, reef_with(Position, 1, 2)));
    for (uint32_t i = 0; i < FLEET; i++) fleet[i] = reef_ref_make(w, ship[i], Position);
    wrong = 0;
    reef_system_add(w, "look_first", look, "; reads Position");
    reef_system_add(w, "steer", steer, "; writes Position");
    reef_system_add(w, "look", look, "; reads Position");
    reef_system_add(w, "drift", drift, "Position, !Frozen; adds Frozen, destroys");
    reef_system_add(w, "look_last", look, "; reads Position");
    for (uint32_t tick = 0; tick < 12; tick++) {
        if (tick % 3 == 1) fork = reef_fork(w);
        assert_ok(reef_tick(w, 0.1f));
        reef_world_free(tick % 3 == 2 ? fork : NULL);
        for (uint32_t i = 0; i < FLEET; i++)
            assert_ptr_equal(reef_ref_get(w, &fleet[i], Position), reef_get(w, ship[i], Position));
    }
    assert_int_equal(wrong, 0);
    assert_true(reef_count_alive(w) < FLEET);
}

/* One system looks through references at masses while jobs of another make blocks of positions the world's own. */
static reef_ref load[FLEET];
static void weigh(reef_block *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < FLEET; i++) sum += reef_ref_get(b->world, &load[i], Mass)->kg;
    wrong += sum != FLEET;
}
static void move_on(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_inout(b, Position)[i].y += 1;
}

static void references_are_read_while_other_blocks_are_copied(void **state)
{
    reef_world *w = world_of(state);
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    assert_ok(reef_spawn_many(w, FLEET, ship, reef_with(Position, 1, 2), reef_with(Mass, 1)));
    for (uint32_t i = 0; i < FLEET; i++) load[i] = reef_ref_make(w, ship[i], Mass);
    wrong = 0;
    assert_ok(reef_set_pool(w, pool));
    reef_watch_systems(w, false);
    reef_system_add(w, "move_on", move_on, "Position");
    reef_system_add(w, "weigh", weigh, "; reads Mass");
    for (uint32_t tick = 0; tick < 20; tick++) {
        reef_world *fork = reef_fork(w);
        assert_ok(reef_tick(w, 0.1f));
        for (uint32_t i = 0; i < FLEET; i += 7) assert_position(fork, ship[i], 1, 2 + (float)tick);
        reef_world_free(fork);
    }
    assert_int_equal(wrong, 0);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(pool);
}

/* ---- the collision manager ---- */

enum { BODIES = 10000 };
typedef struct {
    float x, y, radius;
} Collider;
REEF_COMPONENT(Collider);

/* It keeps references to the colliders of entities that move between tables and die. */
static void a_collision_manager_keeps_10000_colliders(void **state)
{
    reef_world *w = world_of(state);
    reef_entity *body = calloc(BODIES, sizeof *body);
    reef_ref *ref = calloc(BODIES, sizeof *ref);
    uint64_t seed = 3, alive = BODIES;
    for (uint32_t i = 0; i < BODIES; i++) {
        body[i] = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Collider, (float)i, 0, 1));
        ref[i] = reef_ref_make(w, body[i], Collider);
    }
    for (uint32_t step = 0; step < 10; step++) {
        for (uint32_t n = 0; n < 1000; n++) {
            const uint32_t i = random_below(&seed, BODIES);
            if (!reef_is_alive(w, body[i])) continue;
            if (n % 4 == 0) assert_ok(reef_destroy(w, body[i])), alive--;
            else if (n % 4 == 1)
                (void)(reef_has(w, body[i], Velocity) ? reef_remove(w, body[i], Velocity)
                                                      : reef_add(w, body[i], Velocity));
            else reef_ref_mut(w, &ref[i], Collider)->radius += 1;
        }
        uint64_t there = 0;
        for (uint32_t i = 0; i < BODIES; i++) {
            const Collider *c = reef_ref_get(w, &ref[i], Collider);
            assert_int_equal(c != NULL, reef_is_alive(w, body[i]));
            if (c == NULL) continue;
            there++;
            if (c->x != (float)i) fail_msg("collider %u is that of another body", i);
        }
        assert_int_equal(there, alive);
    }
    assert_true(alive < BODIES - 2000);
    free(body);
    free(ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reference_follows_its_entity),
        TEST(a_quiet_world_is_not_asked_again),
        TEST(null_once_the_component_or_the_entity_is_gone),
        TEST(a_reference_may_be_early),
        TEST(null_references_and_those_of_other_types),
        TEST(a_reference_belongs_to_one_world),
        TEST(a_reference_goes_with_its_world_through_restore),
        TEST(references_agree_with_get_whatever_happens),
        TEST(references_reach_values_outside_of_the_rows),
        TEST(systems_use_references_while_forks_come_and_go),
        TEST(references_are_read_while_other_blocks_are_copied),
        TEST(a_collision_manager_keeps_10000_colliders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
