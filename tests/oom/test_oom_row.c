/* The allocation sweep for components of one entity whose edges are known (src/change/row_change.c), for lists of them
 * whose tables are, and for entities of a list that is (src/change/list_change.c): each allocation of the call fails in
 * turn, where a first entity of the same table has been changed just before. Rows have hooks, bits, stamps and
 * observers; tables are about to grow, or shared with a fork. */
#include "oom_sweep.h"
#include "base/memory.h"
#include "storage/family.h"
#include "storage/world_data.h"

typedef struct Stamped {
    int32_t n;
} Stamped;
static const reef_hooks stamped_hooks = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_hooks);
typedef struct Far {
    int32_t n;
} Far;
typedef Far FarStamped;
typedef Far Several;
typedef Tracked FarTracked;
REEF_COMPONENT_IN(Far, REEF_SPARSE);
REEF_COMPONENT_IN_HOOKS(FarStamped, REEF_SPARSE, &stamped_hooks);
REEF_COMPONENT_IN(Several, REEF_MULTI);
REEF_COMPONENT_IN_HOOKS(FarTracked, REEF_PAGED, &tracked_hooks);

/* Three chunks; the one that was changed before is in the second of them, and its record on another page than that of
 * the first row, since so many ids are reserved before. */
enum { ROWS = 2100, FIRST = 1500, RESERVED = 3500 };

static uint64_t heard;
static void hear(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        heard = heard * 7 + reef_entity_bits(n->entities[i]) + (uint64_t)n->kind * 3;
        if (n->kind == REEF_ON_REMOVE && n->size) assert_non_null(reef_notice_old(n, i));
    }
}
static void observe(sweep *s, reef_component c, bool collected)
{
    char name[32];
    snprintf(name, sizeof name, "observer_%u%s", (unsigned)c.id, collected ? "_collected" : "");
    const reef_observer_desc d = {.name = name,
                                  .function = hear,
                                  .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                  .component = c,
                                  .collected = collected};
    assert_false(reef_observer_is_null(reef_observer_new(s->w, &d)));
}

static void plain(sweep *s)
{
    assert_some(reef_reserve_range(s->w, RESERVED));
    assert_ok(reef_spawn_many(s->w, ROWS, s->e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
}
static void hooked(sweep *s)
{
    assert_some(reef_reserve_range(s->w, RESERVED));
    assert_ok(reef_spawn_many(s->w, ROWS, s->e, reef_with(Position, 1, 2), reef_with(Tracked, .value = 7)));
}
static void stamped(sweep *s)
{
    assert_some(reef_reserve_range(s->w, RESERVED));
    assert_ok(reef_spawn_many(s->w, ROWS, s->e, reef_with(Position, 1, 2), reef_with(Stamped, 7)));
    s->removals[0] = reef_removals_new(s->w, reef_id(Stamped), true);
}
static void with_row_bits(sweep *s)
{
    plain(s);
    for (int i = 0; i < ROWS; i += 3) assert_ok(reef_add(s->w, s->e[i], Awake));
    for (int i = 0; i < ROWS; i += 5) assert_ok(reef_disable(s->w, s->e[i], Mass));
}
static void with_immediate(sweep *s)
{
    plain(s);
    observe(s, reef_id(Mass), false);
    observe(s, reef_id(Velocity), false);
}
static void with_collected(sweep *s)
{
    plain(s);
    observe(s, reef_id(Mass), true);
    observe(s, reef_id(Velocity), false);
    observe(s, reef_id(Velocity), true);
}
static void with_immediate_hooked(sweep *s)
{
    hooked(s);
    observe(s, reef_id(Tracked), false);
}

/* Takes all that the arenas have left, so that the next block of each asks the allocator. */
typedef struct drained {
    struct drained *next;
    uint32_t arena;
    size_t bytes;
} drained;
static drained *taken;

static void arenas_drain(sweep *s)
{
    taken = NULL;
    heap_fail_nth(&sweep_heap, 1, true);
    for (uint32_t arena = 0; arena < ARENA_COUNT; arena++)
        for (size_t bytes = 1 << 20; bytes >= 64; bytes /= 2)
            for (drained *x; (x = reef__memory_block(&s->w->family->memory, MEMORY_OTHER, arena, bytes, 64)) != NULL;) {
                *x = (drained){taken, arena, bytes};
                taken = x;
            }
    heap_fail_never(&sweep_heap);
}
static void arenas_refill(sweep *s)
{
    for (drained *x = taken, *next; x; x = next) {
        next = x->next;
        reef__memory_block_free(&s->w->family->memory, MEMORY_OTHER, x->arena, x, x->bytes, 64);
    }
    taken = NULL;
}

static bool tell(sweep *s, bool works)
{
    s->seen = works ? heard : 0;
    return works;
}
#define CALL(name, ...) \
    static bool name##_of(sweep *s, uint32_t i) \
    { \
        const reef_status status = (__VA_ARGS__); \
        return tell(s, done(status)); \
    } \
    static bool name(sweep *s) { return heard = 0, name##_of(s, 0); } \
    static void name##_first(sweep *s) \
    { \
        assert_true(name##_of(s, FIRST)); \
        heard = 0; \
        arenas_drain(s); \
    }
CALL(add, reef_add(s->w, s->e[i], Velocity))
CALL(set_new, reef_set(s->w, s->e[i], Velocity, 3, 4))
CALL(set_there, reef_set(s->w, s->e[i], Mass, 9))
CALL(remove_mass, reef_remove(s->w, s->e[i], Mass))
CALL(add_tag, reef_add(s->w, s->e[i], Frozen))
CALL(set_hooked, reef_set(s->w, s->e[i], Tracked, .value = 9))
CALL(set_hooked_new, reef_set(s->w, s->e[i], Tracked, .value = 9))
CALL(remove_hooked, reef_remove(s->w, s->e[i], Tracked))
CALL(set_stamped, reef_set(s->w, s->e[i], Stamped, 9))
CALL(set_stamped_new, reef_set(s->w, s->e[i], Stamped, 9))
CALL(remove_stamped, reef_remove(s->w, s->e[i], Stamped))
CALL(change_two, reef_change(s->w, s->e[i], reef_with(Velocity, 3, 4), reef_without(Mass)))
CALL(change_there, reef_change(s->w, s->e[i], reef_with(Mass, 9), reef_with(Velocity, 3, 4)))
CALL(change_hooked,
     reef_change(s->w, s->e[i], reef_with(Tracked, .value = 9), reef_with(Loose, .value = 3), reef_tag(Frozen)))
CALL(change_hooked_away, reef_change(s->w, s->e[i], reef_without(Tracked), reef_with(Loose, .value = 3)))
CALL(change_stamped, reef_change(s->w, s->e[i], reef_with(Stamped, 9), reef_tag(Frozen)))
CALL(change_stamped_away, reef_change(s->w, s->e[i], reef_without(Stamped), reef_tag(Frozen)))
CALL(change_switch, reef_change(s->w, s->e[i], reef_without(Mass), reef_tag(Seen), reef_without(Awake)))
#define MAKE(name, ...) \
    CALL(name, (void)i, \
         !reef_entity_is_null(reef_spawn(s->w, reef_with(Position, 1, 2), __VA_ARGS__)) ? REEF_OK \
                                                                                        : s->w->error.status)
MAKE(make_switch, reef_tag(Seen), reef_tag(Frozen))
MAKE(make_far, reef_with(Far, 3), reef_with(Several, 4))
MAKE(make_far_stamped, reef_with(FarStamped, 3))
MAKE(make_far_hooked, reef_with(Tracked, .value = 5), reef_with(FarTracked, .value = 6), reef_with(Loose, .value = 7))

/* The new table has this many rows when the call comes: it is full. */
static void nearly_full(sweep *s)
{
    plain(s);
    for (uint32_t i = 0; i < 1023; i++) assert_ok(reef_add(s->w, s->e[1 + i], Velocity));
}
static void eighth(sweep *s)
{
    plain(s);
    for (uint32_t i = 0; i < 7; i++) assert_ok(reef_add(s->w, s->e[1 + i], Velocity));
}

#define TRIAL(prepare, call) \
    { \
        .scene = {#call ", " #prepare, prepare, call}, .ready = call##_first, .end = arenas_refill \
    }
static const trial trials[] = {
    TRIAL(plain, add),
    TRIAL(plain, set_new),
    TRIAL(plain, set_there),
    TRIAL(plain, remove_mass),
    TRIAL(plain, add_tag),
    TRIAL(plain, set_hooked_new),
    TRIAL(plain, set_stamped_new),
    TRIAL(nearly_full, add),
    TRIAL(eighth, set_new),
    TRIAL(hooked, add),
    TRIAL(hooked, set_hooked),
    TRIAL(hooked, remove_hooked),
    TRIAL(stamped, add),
    TRIAL(stamped, set_stamped),
    TRIAL(stamped, remove_stamped),
    TRIAL(with_row_bits, add),
    TRIAL(with_row_bits, set_there),
    TRIAL(with_row_bits, remove_mass),
    TRIAL(with_row_bits, set_hooked_new),
    TRIAL(with_immediate, add),
    TRIAL(with_immediate, set_new),
    TRIAL(with_immediate, set_there),
    TRIAL(with_immediate, remove_mass),
    TRIAL(with_collected, add),
    TRIAL(with_collected, set_there),
    TRIAL(with_collected, remove_mass),
    TRIAL(with_immediate_hooked, set_hooked),
    TRIAL(with_immediate_hooked, remove_hooked),
    TRIAL(plain, make_switch),
    TRIAL(plain, make_far),
    TRIAL(plain, make_far_stamped),
    TRIAL(plain, make_far_hooked),
    TRIAL(with_row_bits, make_switch),
    TRIAL(with_immediate, make_far),
    TRIAL(plain, change_two),
    TRIAL(plain, change_there),
    TRIAL(plain, change_hooked),
    TRIAL(plain, change_stamped),
    TRIAL(nearly_full, change_there),
    TRIAL(hooked, change_hooked),
    TRIAL(hooked, change_hooked_away),
    TRIAL(stamped, change_stamped),
    TRIAL(stamped, change_stamped_away),
    TRIAL(with_row_bits, change_two),
    TRIAL(with_row_bits, change_switch),
    TRIAL(with_immediate, change_two),
    TRIAL(with_collected, change_there),
    TRIAL(with_immediate_hooked, change_hooked),
    TRIAL(with_immediate_hooked, change_hooked_away),
};

static uint64_t sweep_all(bool shared, bool hooks)
{
    uint64_t failed = 0;
    failures = 0;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        t.hooks = hooks;
        const wanted w = sweep_undisturbed(&t);
        for (int rest = 0; rest < 2; rest++)
            for (uint64_t n = 1; sweep_run(&t, shared, n, rest == 1, &w); n += sweep_step(n, false)) failed++;
    }
    assert_int_equal(failures, 0);
    return failed;
}

static void each_allocation_fails_in_turn(void **unused)
{
    (void)unused;
    assert_true(sweep_all(false, false) > 10);
}
static void each_allocation_after_a_fork_fails_in_turn(void **unused)
{
    (void)unused;
    assert_true(sweep_all(true, false) > 60); /* or the call had nothing left to copy */
}
static void hooks_refuse_in_turn(void **unused)
{
    (void)unused;
    assert_true(sweep_all(false, true) > 5);
}

int main(void)
{
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    const reef_component ticketed[] = {reef_id(Tracked), reef_id(FarTracked), reef_id(Loose)};
    for (int i = 0; i < 3; i++)
        if (reef_type_describe(ticketed[i], &value, 1) < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_in_turn),
        cmocka_unit_test(each_allocation_after_a_fork_fails_in_turn),
        cmocka_unit_test(hooks_refuse_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
