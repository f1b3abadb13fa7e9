/* Lists of components that change at once: the second one of a kind goes another way than the first
 * (src/change/list_change.c), and does the same. */
#include "support.h"
#include "storage/world_data.h"
#include "change/spawn.h"

typedef struct Stamped {
    int32_t n;
} Stamped;
static const reef_hooks stamped_hooks = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_hooks);

enum { LISTED = 40 };

static reef_world *listed_world(reef_entity *e, reef_removals *read)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < LISTED; i++) e[i] = reef_spawn(w, reef_with(Cargo, {(uint8_t)i}), reef_with(Flag, 1));
    *read = reef_removals_new(w, reef_id(Stamped), true);
    return w;
}

/* A list of a few components that come or go, the same for the same number. `mine` is what it is made of. */
static uint32_t list_of(uint32_t number, reef_value *v, Mass *mine)
{
    uint32_t count = 0, dice = number * 2654435761u;
    const reef_component plain[] = {reef_id(Frozen), reef_id(Hungry), reef_id(Seen),    reef_id(Awake),
                                    reef_id(Loose),  reef_id(Mass),   reef_id(Stamped), reef_id(Tracked)};
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t way = dice >> 3 * i & 7;
        const bool data = plain[i].id == reef_id(Mass).id && (number & 1);
        if (way == 0) v[count++] = reef_value_make(plain[i], REEF_VALUE_REMOVE, 0, NULL);
        if (way == 1 && !data) v[count++] = reef_value_make(plain[i], REEF_VALUE_DEFAULT, 0, NULL);
        if (way == 1 && data) v[count++] = reef_value_make(plain[i], REEF_VALUE_ONE, sizeof *mine, mine);
    }
    return count;
}

/* The same lists, in two worlds. One of them forgets before each where a list led to, so that all goes the general
 * way. */
static void a_remembered_list_does_what_the_first_one_did(void **unused)
{
    (void)unused;
    reef_entity e[2][LISTED];
    reef_removals read[2];
    reef_world *w[2];
    reef_difference d;
    uint64_t remembered = 0;
    bool stamped[2];
    for (int i = 0; i < 2; i++) w[i] = listed_world(e[i], &read[i]);
    for (uint32_t n = 0; n < 3000; n++) {
        const uint32_t who = n * 7 % LISTED;
        const Mass mass = {n};
        for (int i = 0; i < 2; i++) {
            reef_value v[8];
            Mass mine = mass;
            const uint32_t count = list_of(n * 31 % 61, v, &mine);
            if (n % 50 == 49 && reef_has(w[i], e[i][who], Mass)) assert_ok(reef_disable(w[i], e[i][who], Mass));
            if (n % 500 == 499) reef_snapshot_free(reef_snapshot_take(w[i]));
            if (i == 1) reef__sets_distrust(w[i]);
            const uint64_t before = w[i]->hot.moves, since = reef_version(w[i]);
            assert_ok(reef_change_values(w[i], e[i][who], v, count));
            remembered += i == 0 && w[i]->hot.moves > before;
            stamped[i] = reef_has(w[i], e[i][who], Stamped) && reef_changed_since(w[i], e[i][who], Stamped, since);
        }
        assert_int_equal(stamped[0], stamped[1]);
        if (n % 100) continue;
        if (!reef_equal(w[0], w[1], &d)) {
            char text[200];
            reef_difference_text(&d, text, sizeof text);
            fail_msg("after %u lists: %s", n, text);
        }
        for (int i = 0; i < 2; i++) assert_valid(w[i]);
    }
    assert_true(remembered > 1000);
    for (reef_entity gone[2];;) {
        Stamped was[2] = {{0}, {0}};
        bool more[2];
        for (int i = 0; i < 2; i++) more[i] = reef_removals_next(w[i], read[i], &gone[i], &was[i]);
        assert_int_equal(more[0], more[1]);
        if (!more[0]) break;
        assert_true(reef_entity_equal(gone[0], gone[1]));
        assert_int_equal(was[0].n, was[1].n);
    }
    for (int i = 0; i < 2; i++) reef_world_free(w[i]);
}

int main(void)
{
    /* each value has a ticket of its own, which isn't compared */
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remembered_list_does_what_the_first_one_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
