/* Pointers that are kept over a structural change (A9). Each seeded mistake is made in a process of its own, which
 * the address sanitizer stops; what reef adds to its report is compared. In other builds only the call itself is
 * tested. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#endif
#include "support.h"
#include "base/platform.h"

static void the_call_refuses_what_is_wrong(void **state)
{
    reef_world *w = world_of(state);
    assert_int_equal(reef_quarantine(NULL, 1), REEF_BAD_ARGUMENT);
    assert_ok(reef_quarantine(w, UINT64_MAX));
    assert_ok(reef_quarantine(w, 0));
#if defined(QUARANTINE)
    reef_snapshot *s = reef_snapshot_take(w);
    assert_status(REEF_LOCKED, reef_quarantine(w, 1));
    reef_snapshot_free(s);
    assert_ok(reef_quarantine(w, 1));
#endif
}

#if defined(QUARANTINE) && !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>

typedef struct Place {
    float x, y;
} Place;
typedef struct Speed {
    float x, y;
} Speed;
typedef struct Big {
    char bytes[40];
} Big;
typedef struct Order {
    uint32_t n;
} Order;
REEF_COMPONENT(Place);
REEF_COMPONENT(Speed);
REEF_COMPONENT(Big);
REEF_COMPONENT(Order);
typedef struct Fright {
    float x, y;
} Fright;
typedef struct Note {
    float x, y;
} Note;
typedef struct Nest {
    float x, y;
} Nest;
typedef struct Wound {
    float x, y;
} Wound;
typedef struct Shell {
    float x, y;
} Shell;
REEF_COMPONENT_IN(Fright, REEF_SPARSE);
REEF_COMPONENT_IN(Note, REEF_COLD);
REEF_COMPONENT_IN(Nest, REEF_PAGED);
REEF_COMPONENT_IN(Wound, REEF_MULTI);
REEF_COMPONENT_IN(Shell, REEF_SHARED);

const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "symbolize=0"; } /* half a second each */

/* What the mistake makes the process say on its way out. */
static void say_of(reef_world *w, void (*mistake)(reef_world *), char *text, size_t size)
{
    int ends[2];
    size_t at = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        mistake(w);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text + at, size - 1 - at)) > 0;) at += (size_t)n;
    text[at] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) snprintf(text, size, "nothing");
}

static void tells(void **state, void (*mistake)(reef_world *), const char *wanted)
{
    static char text[64 << 10];
    reef_world *w = world_of(state);
    assert_ok(reef_quarantine(w, UINT64_MAX));
    say_of(w, mistake, text, sizeof text);
    const char *line = strstr(text, "AddressSanitizer") ? strstr(text, "reef: ") : NULL;
    if (line == NULL) fail_msg("nothing was said instead of: %s\n%s", wanted, text);
    ((char *)(uintptr_t)line)[strcspn(line, "\n")] = 0;
    assert_string_equal(line, wanted);
}

static volatile float sink;
static void read_of(const Place *p) { sink = p->x; }

/* ---- the mistakes ---- */

static void swapped(reef_world *w)
{
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Place, (float)i, 0));
    const Place *p = reef_get(w, e[2], Place);
    reef_destroy(w, e[0]);
    read_of(p);
}

static void slot_of_another(reef_world *w)
{
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Place, (float)i, 0));
    Place *p = reef_mut(w, e[0], Place);
    reef_destroy(w, e[0]);
    p->x = 1; /* it is e[2]'s now */
}

static void grown(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    for (int i = 0; i < 8; i++) reef_spawn(w, reef_with(Place, 0, 0));
    read_of(p);
}

static void moved_on(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_add(w, e, Speed);
    read_of(p);
}

static void moved_back(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2), reef_with(Speed, 1, 2)),
                f = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, f, Place); /* where e comes to */
    reef_remove(w, e, Speed);
    read_of(p);
}

static void set_anew(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    Place *p = reef_mut(w, e, Place);
    reef_set(w, e, Big, {0});
    p->x = 1;
}

static void flushed(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = NULL;
    reef_query q = reef_query_new(w, "Place");
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) {
        p = reef_in(&b, Place);
        reef_add(w, e, Speed);
    }
    read_of(p);
}

static void reused(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_destroy(w, e);
    reef_spawn(w, reef_with(Place, 3, 4)); /* the same index in the same row */
    read_of(p);
}

static void unshared(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_fork(w);
    reef_mut(w, e, Place)->x = 3;
    read_of(p); /* the fork's */
}

static void left(reef_world *w)
{
    reef_snapshot *s = reef_snapshot_take(w);
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_restore(w, s);
    read_of(p);
}

static void added_where(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_add_where(w, reef_query_new(w, "Place"), Speed);
    read_of(p); /* the block has a table more and is where it was */
}

static void destroyed_where(reef_world *w)
{
    reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    const Place *p = reef_get(w, e, Place);
    reef_destroy_where(w, reef_query_new(w, "Place"), NULL);
    read_of(p);
}

static void sorted(reef_world *w)
{
    reef_entity e[3];
    for (uint32_t i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Order, 3 - i));
    const Order *p = reef_get(w, e[1], Order);
    reef_sort_storage(w, &(reef_sort){.order = {.descending = true}});
    sink = (float)p->n;
}

static void handles(reef_world *w)
{
    const reef_entity *e = NULL;
    for (int i = 0; i < 3; i++) reef_spawn(w, reef_with(Place, 0, 0));
    reef_query q = reef_query_new(w, "Place");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) e = b.entities;
    reef_destroy(w, e[0]);
    sink = (float)e[1].index;
}

static void last_of_chunk(reef_world *w) /* behind the last row of another chunk than the hole's */
{
    reef_entity first = {0, 0}, last = {0, 0};
    for (int i = 0; i < 1030; i++) {
        last = reef_spawn(w, reef_with(Place, 0, 0));
        if (i == 0) first = last;
    }
    const Place *p = reef_get(w, last, Place);
    reef_destroy(w, first);
    read_of(p);
}

static void not_moved(reef_world *w) /* too much to move: the row itself is what is poisoned */
{
    reef_entity e = {0, 0};
    reef_quarantine(w, 8);
    for (int i = 0; i < 100; i++) e = reef_spawn(w, reef_with(Place, 0, 0));
    const Place *p = reef_get(w, e, Place);
    reef_destroy(w, e);
    read_of(p);
}

/* ---- the same of values outside of the rows ---- */

#define THREE(T) \
    reef_entity e[3]; \
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Big, {0}), reef_with(T, (float)i, 0))

static void sparse_swapped(reef_world *w)
{
    THREE(Fright);
    const Fright *p = reef_get(w, e[2], Fright);
    reef_remove(w, e[0], Fright);
    sink = p->x;
}

static void sparse_of_another(reef_world *w)
{
    THREE(Fright);
    Fright *p = reef_mut(w, e[0], Fright);
    reef_destroy(w, e[0]);
    p->x = 1; /* it is e[2]'s now */
}

static void sparse_reused(reef_world *w)
{
    THREE(Fright);
    const Fright *p = reef_get(w, e[2], Fright);
    reef_destroy(w, e[2]);
    reef_spawn(w, reef_with(Fright, 3, 4)); /* the same index in the same slot */
    sink = p->x;
}

static void sparse_flushed(reef_world *w)
{
    THREE(Fright);
    const Fright *p = NULL;
    reef_query q = reef_query_new(w, "Fright");
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) {
        if (p == NULL) p = reef_in(&b, Fright);
        reef_remove(w, e[1], Fright);
    }
    sink = p->x;
}

static void sparse_forked(reef_world *w)
{
    THREE(Fright);
    const Fright *p = reef_get(w, e[0], Fright);
    reef_fork(w);
    reef_mut(w, e[0], Fright)->x = 3;
    sink = p->x; /* the fork's */
}

static void sparse_left(reef_world *w)
{
    reef_snapshot *s = reef_snapshot_take(w);
    THREE(Fright);
    const Fright *p = reef_get(w, e[0], Fright);
    reef_restore(w, s);
    sink = p->x;
}

static void sparse_not_moved(reef_world *w) /* the slot that is vacant now is what is poisoned */
{
    reef_quarantine(w, 8);
    THREE(Fright);
    const Fright *p = reef_get(w, e[2], Fright);
    reef_destroy(w, e[2]);
    sink = p->x;
}

static void cold_swapped(reef_world *w)
{
    THREE(Note);
    const Note *p = reef_get(w, e[2], Note);
    reef_destroy(w, e[0]);
    sink = p->x;
}

static void cleared(reef_world *w)
{
    THREE(Note);
    const Note *p = reef_get(w, e[1], Note);
    remove_everywhere(w, reef_id(Note), NULL);
    sink = p->x;
}

static void paged_gone(reef_world *w)
{
    THREE(Nest);
    const Nest *p = reef_get(w, e[1], Nest);
    reef_remove(w, e[1], Nest);
    sink = p->x;
}

static void paged_dead(reef_world *w)
{
    THREE(Nest);
    Nest *p = reef_mut(w, e[1], Nest);
    reef_destroy(w, e[1]);
    p->x = 1;
}

static void multi_grown(reef_world *w)
{
    THREE(Wound);
    const Wound *p = reef_get(w, e[0], Wound);
    reef_append(w, e[0], Wound, 1, 1);
    sink = p->x;
}

static void multi_closed_up(reef_world *w)
{
    THREE(Wound);
    for (int i = 0; i < 3; i++) reef_append(w, e[0], Wound, 1, 1);
    const Wound *p = reef_get_all(w, e[0], Wound, NULL) + 2;
    reef_remove_one(w, e[0], Wound, 0);
    sink = p->x; /* it is the last one's now */
}

static void multi_gone(reef_world *w)
{
    THREE(Wound);
    const Wound *p = reef_get(w, e[1], Wound);
    reef_remove(w, e[1], Wound);
    sink = p->x;
}

static void shared_gone(reef_world *w)
{
    THREE(Shell);
    const Shell *p = reef_get(w, e[1], Shell);
    reef_destroy(w, e[1]);
    sink = p->x;
}

static void shared_replaced(reef_world *w)
{
    THREE(Shell);
    const Shell *p = reef_get(w, e[1], Shell);
    reef_set(w, e[1], Shell, 4, 5);
    sink = p->x;
}

static void each_mistake_is_told(void **state)
{
    tells(state, swapped, "reef: a pointer to Place of entity 2v1 was used after reef_destroy of entity 0v1 moved it");
    tells(state, slot_of_another, "reef: a pointer to Place of entity 0v1 was used after reef_destroy moved it");
    tells(state, grown, "reef: a pointer to Place of entity 0v1 was used after reef_spawn moved it");
    tells(state, moved_on, "reef: a pointer to Place of entity 0v1 was used after reef_add of Speed moved it");
    tells(state, moved_back,
          "reef: a pointer to Place of entity 1v1 was used after reef_remove of Speed of entity 0v1 moved it");
    tells(state, set_anew, "reef: a pointer to Place of entity 0v1 was used after reef_set of Big moved it");
    tells(
        state, flushed,
        "reef: a pointer to Place of entity 0v1 was used after reef_add of Speed moved it, when commands were applied");
    tells(state, reused, "reef: a pointer to Place of entity 0v1 was used after reef_destroy moved it");
    tells(state, unshared, "reef: a pointer to Place of entity 0v1 was used after reef_fork moved it");
    tells(state, left, "reef: a pointer to Place was used after its world went to another state");
}

static void mistakes_of_many_rows_are_told(void **state)
{
    tells(state, added_where, "reef: a pointer to Place of entity 0v1 was used after reef_add_where of Speed moved it");
    tells(state, destroyed_where, "reef: a pointer to Place of entity 0v1 was used after reef_destroy moved it");
    tells(state, sorted, "reef: a pointer to Order of entity 1v1 was used after reef_sort_storage moved it");
    tells(state, handles,
          "reef: a pointer to the entities of a block was used after reef_destroy of entity 0v1 moved it");
    tells(state, last_of_chunk,
          "reef: a pointer to Place of entity 1029v1 was used after reef_destroy of entity 0v1 moved it");
    tells(state, not_moved, "reef: a pointer to Place of entity 99v1 was used after reef_destroy moved it");
}

static void mistakes_outside_of_the_rows_are_told(void **state)
{
    tells(state, sparse_swapped,
          "reef: a pointer to Fright of entity 2v1 was used after reef_remove of Fright of entity 0v1 moved it");
    tells(state, sparse_of_another, "reef: a pointer to Fright of entity 0v1 was used after reef_destroy moved it");
    tells(state, sparse_reused, "reef: a pointer to Fright of entity 2v1 was used after reef_destroy moved it");
    tells(state, sparse_flushed,
          "reef: a pointer to Fright of entity 0v1 was used after reef_remove of Fright of entity 1v1 moved it, when "
          "commands were applied");
    tells(state, sparse_forked, "reef: a pointer to Fright of entity 0v1 was used after reef_fork moved it");
    tells(state, sparse_left, "reef: a pointer to Fright of entity 0v1 was used after its world went to another state");
    tells(state, sparse_not_moved, "reef: a pointer to Fright of entity 2v1 was used after reef_destroy moved it");
    tells(state, cold_swapped,
          "reef: a pointer to Note of entity 2v1 was used after reef_destroy of entity 0v1 moved it");
    tells(state, cleared,
          "reef: a pointer to Note of entity 1v1 was used after reef_remove_where of Note of entity 0v1 moved it");
}

static void mistakes_in_pages_runs_and_shared_values_are_told(void **state)
{
    tells(state, paged_gone, "reef: a pointer to Nest of entity 1v1 was used after reef_remove of Nest moved it");
    tells(state, paged_dead, "reef: a pointer to Nest of entity 1v1 was used after reef_destroy moved it");
    tells(state, multi_grown, "reef: a pointer to Wound of entity 0v1 was used after reef_append of Wound moved it");
    tells(state, multi_closed_up,
          "reef: a pointer to Wound of entity 0v1 was used after reef_remove_one of Wound moved it");
    tells(state, multi_gone, "reef: a pointer to Wound of entity 1v1 was used after reef_remove of Wound moved it");
    tells(state, shared_gone, "reef: a pointer to Shell of entity 1v1 was used after reef_destroy moved it");
    tells(state, shared_replaced, "reef: a pointer to Shell of entity 1v1 was used after reef_set of Shell moved it");
}

/* What is right stays right: values follow, whatever moves; no memory is lost, and without memory nothing changes. */
static void right_programs_are_told_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    assert_ok(reef_quarantine(w, UINT64_MAX));
    for (uint32_t i = 0; i < 300; i++) e[i] = reef_spawn(w, reef_with(Order, i), reef_with(Place, (float)i, 0));
    for (uint32_t i = 0; i < 300; i += 2) assert_ok(reef_add(w, e[i], Speed));
    for (uint32_t i = 0; i < 300; i += 3) assert_ok(reef_destroy(w, e[i]));
    reef_snapshot *s = reef_snapshot_take(w);
    for (uint32_t i = 0; i < 300; i += 5) reef_set(w, e[i], Place, -1, 0);
    assert_ok(reef_restore(w, s));
    reef_snapshot_free(s);
    for (uint32_t i = 0; i < 300; i++) {
        const Order *n = reef_get(w, e[i], Order);
        assert_true((n == NULL) == (i % 3 == 0));
        if (n) assert_int_equal(n->n, i);
        if (n) assert_true(reef_get(w, e[i], Place)->x == (float)i && reef_has(w, e[i], Speed) == (i % 2 == 0));
    }
    assert_valid(w);
    const reef_stats before = reef_world_stats(w);
    assert_ok(reef_shrink(w));
    assert_true(reef_world_stats(w).bytes_total <= before.bytes_total);
}

static void values_come_and_go(reef_world *w, reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const float x = (float)i;
        e[i] = reef_spawn(w, reef_with(Fright, x, 1), reef_with(Note, x, 1), reef_with(Nest, x, 1),
                          reef_with(Wound, x, 1), reef_with(Shell, x, 1));
        for (uint32_t k = 0; k < i % 5; k++)
            assert_non_null(reef_append_id(w, e[i], reef_id(Wound), reef_get(w, e[i / 2], Wound), sizeof(Wound)));
    }
    for (uint32_t i = 0; i < n; i += 3) {
        assert_ok(reef_remove(w, e[i], Fright));
        assert_ok(reef_remove(w, e[i], Note));
        assert_ok(reef_remove(w, e[i], Nest));
        assert_ok(reef_remove_one(w, e[i], Wound, 0));
    }
    reef_snapshot *s = reef_snapshot_take(w);
    for (uint32_t i = 0; i < n; i += 2) assert_ok(reef_destroy(w, e[i]));
    assert_ok(reef_restore(w, s));
    reef_snapshot_free(s);
    for (uint32_t i = 0; i < n; i += 3) {
        const float x = (float)i;
        assert_status(REEF_ADDED, reef_set(w, e[i], Fright, x, 1));
        assert_status(REEF_ADDED, reef_set(w, e[i], Note, x, 1));
        assert_ok(reef_add(w, e[i], Nest));
        reef_mut(w, e[i], Nest)->x = x;
    }
}

static void right_programs_outside_of_the_rows_are_told_nothing(void **state)
{
    const uint64_t bytes[] = {UINT64_MAX, 8, 100000, 0};
    reef_world *w = world_of(state);
    static reef_entity e[4][300];
    for (uint32_t k = 0; k < 4; k++) {
        assert_ok(reef_quarantine(w, bytes[k])); /* also where slots are vacant */
        values_come_and_go(w, e[k], 300);
        for (uint32_t i = 0; i < 300; i++) {
            const float x = (float)i;
            assert_true(reef_get(w, e[k][i], Fright)->x == x && reef_get(w, e[k][i], Note)->x == x);
            assert_true(reef_get(w, e[k][i], Nest)->x == x && reef_get(w, e[k][i], Shell)->x == x);
            assert_int_equal(reef_count_on(w, e[k][i], Wound), i % 5 + (i % 3 != 0));
        }
        for (uint32_t i = 0; i < 300; i += 4) assert_ok(reef_destroy(w, e[k][i]));
        assert_valid(w);
    }
}

static void without_memory_nothing_moves(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    assert_ok(reef_quarantine(w, UINT64_MAX));
    for (uint64_t n = 1; n < 40; n++) {
        reef_entity e = reef_spawn(w, reef_with(Place, 1, 2)), f = reef_spawn(w, reef_with(Place, 3, 4));
        heap_fail_nth(h, n, true);
        const reef_status s = reef_add(w, e, Big);
        heap_fail_never(h);
        assert_true(s == REEF_OK || s == REEF_NO_MEMORY);
        assert_true(reef_get(w, f, Place)->x == 3 && reef_get(w, e, Place)->x == 1 &&
                    reef_has(w, e, Big) == (s == REEF_OK));
    }
    assert_valid(w);
}

#define MISTAKES \
    TEST(each_mistake_is_told), TEST(mistakes_of_many_rows_are_told), TEST(mistakes_outside_of_the_rows_are_told), \
        TEST(mistakes_in_pages_runs_and_shared_values_are_told), TEST(right_programs_are_told_nothing), \
        TEST(right_programs_outside_of_the_rows_are_told_nothing), TEST(without_memory_nothing_moves),
#else
#define MISTAKES
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {MISTAKES TEST(the_call_refuses_what_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
