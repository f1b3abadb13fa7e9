/* Enabling and disabling: marks that stay with their rows, go with their components, and are part of the state. */
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/world_data.h"
#include "storage/table.h" /* before cmocka, which has a macro of the name fail */
#include "support.h"

static const reef_component whole;

static reef_entity everything(reef_world *w)
{
    return reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3), reef_tag(Frozen), reef_tag(Awake));
}

static void a_disabled_component_stays_where_it_is(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w);
    const Position *p = reef_get(w, e, Position);
    uint64_t moved = reef_world_stats(w).moved;
    assert_true(reef_is_enabled(w, e, Position));
    assert_ok(reef_disable(w, e, Position));
    assert_false(reef_is_enabled(w, e, Position));
    assert_true(reef_is_enabled(w, e, Mass) && reef_is_enabled(w, e, Frozen) && reef_is_enabled(w, e));
    assert_true(reef_has(w, e, Position) && reef_has_id(w, e, reef_id(Position)));
    assert_ptr_equal(reef_get(w, e, Position), p);
    assert_ptr_equal(reef_mut(w, e, Position), p);
    assert_int_equal(reef_count(w, Position), 1);
    assert_status(REEF_OK, reef_set(w, e, Position, 5, 6));
    assert_status(REEF_OK, reef_change(w, e, reef_with(Position, 7, 8), reef_with(Mass, 1)));
    assert_ptr_equal(reef_ensure(w, e, Position), p);
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Position));
    assert_false(reef_is_enabled(w, e, Position)); /* another value, the same mark */
    assert_position(w, e, 7, 8);
    assert_ok(reef_disable(w, e, Position)); /* so already */
    assert_ok(reef_enable(w, e, Position));
    assert_ok(reef_enable(w, e, Position));
    assert_true(reef_is_enabled(w, e, Position));
    assert_int_equal(reef_world_stats(w).moved, moved);
    assert_int_equal(reef_world_stats(w).tables, 1);
}

static void tags_and_switches_can_be_disabled(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), other = everything(w);
    assert_ok(reef_disable(w, e, Frozen));
    assert_ok(reef_disable(w, e, Awake));
    assert_true(reef_has(w, e, Frozen) && reef_has(w, e, Awake)); /* on, and disabled */
    assert_false(reef_is_enabled(w, e, Frozen) || reef_is_enabled(w, e, Awake));
    assert_true(reef_is_enabled(w, other, Frozen) && reef_is_enabled(w, other, Awake));
    assert_int_equal(reef_count(w, Awake), 2);
    assert_status(REEF_OK, reef_set_id(w, e, reef_id(Awake), NULL, 0));
    assert_false(reef_is_enabled(w, e, Awake));
    assert_ok(reef_remove(w, e, Awake));
    assert_ok(reef_add(w, e, Awake));
    assert_true(reef_is_enabled(w, e, Awake));
    assert_false(reef_is_enabled(w, e, Seen)); /* it hasn't got that */
}

/* A switch that is turned on and off all the time, by every path, with marks that come and go between. */
static void a_switch_that_goes_off_takes_its_mark_along(void **test)
{
    enum { ROWS = 2500 };
    static reef_entity e[ROWS];
    static bool on[ROWS], off[ROWS];
    reef_world *w = world_of(test);
    uint64_t random = 1;
    assert_ok(reef_spawn_many(w, ROWS, e, reef_with(Mass, 1)));
    for (int step = 0; step < 40000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t i = step % 2000 < 1000 ? (uint32_t)(random >> 33) % 40 : (uint32_t)(random >> 33) % ROWS;
        bool b = random >> 20 & 1;
        if (step < 3000 || random % 5) {
            assert_status(on[i] == b ? (b ? REEF_EXISTS : REEF_ABSENT) : REEF_OK,
                          b ? reef_add(w, e[i], Awake) : reef_remove(w, e[i], Awake));
            on[i] = b;
            off[i] &= b;
        } else {
            assert_status(on[i] ? REEF_OK : REEF_ABSENT, reef_enable_id(w, e[i], reef_id(Awake), b));
            off[i] = on[i] && !b;
        }
        assert_int_equal(reef_is_enabled(w, e[i], Awake), on[i] && !off[i]);
        if (step % 5000 == 0) assert_valid(w);
        if (step % 7000 == 6999) reef_snapshot_free(reef_snapshot_take(w));
    }
    for (uint32_t i = 0; i < ROWS; i++) assert_int_equal(reef_is_enabled(w, e[i], Awake), on[i] && !off[i]);
}

static void a_whole_entity_can_be_disabled(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), bare = reef_create(w);
    uint64_t before = reef_hash(w), moved = reef_world_stats(w).moved;
    assert_ok(reef_disable(w, e));
    assert_ok(reef_disable(w, bare));
    assert_false(reef_is_enabled(w, e) || reef_is_enabled(w, bare));
    assert_true(reef_is_enabled(w, e, Position)); /* one mark says nothing about the other */
    assert_true(reef_is_alive(w, bare));
    assert_int_equal(reef_world_stats(w).entities_empty, 1);
    assert_valid(w);
    assert_ok(reef_enable(w, e));
    assert_ok(reef_enable(w, bare));
    assert_int_equal(reef_world_stats(w).moved, moved);
    assert_true(reef_hash(w) == before);
    assert_ok(reef_disable(w, e));
    assert_ok(reef_disable(w, e, Position));
    assert_ok(reef_disable(w, e, Awake));
    assert_ok(reef_remove_all(w, e));
    assert_false(reef_is_enabled(w, e)); /* it stays through everything but the entity's end */
    assert_valid(w);
    assert_status(REEF_ADDED, reef_set(w, e, Position, 3, 4));
    assert_true(reef_is_enabled(w, e, Position));
    assert_false(reef_is_enabled(w, e));
    assert_ok(reef_remove(w, e, Position));
    assert_ok(reef_enable(w, e));
    assert_ok(reef_disable(w, bare));
    assert_ok(reef_destroy(w, bare));
    assert_false(reef_is_enabled(w, bare));
    reef_entity heir = reef_create(w);
    assert_int_equal(heir.index, bare.index);
    assert_true(reef_is_enabled(w, heir));
    assert_valid(w);
}

/* Ways to lose a component; then it is added again, and must be enabled. */
static void lose(reef_world *w, reef_entity *e, uint32_t way)
{
    uint64_t removed = 0;
    switch (way) {
    case 0:
        assert_ok(reef_remove(w, *e, Position));
        assert_ok(reef_remove(w, *e, Frozen));
        assert_ok(reef_remove(w, *e, Awake));
        break;
    case 1: assert_ok(reef_change(w, *e, reef_without(Position), reef_without(Frozen), reef_without(Awake))); break;
    case 2:
        assert_ok(
            reef_change(w, *e, reef_without(Position), reef_without(Frozen), reef_without(Awake), reef_without(Mass)));
        break;
    case 3:
        assert_ok(reef_change(w, *e, reef_without(Awake), reef_without(Frozen)));
        assert_ok(reef_change(w, *e, reef_without(Position), reef_with(Velocity, 1, 2), reef_tag(Seen)));
        break;
    case 4: assert_ok(reef_remove_all(w, *e)); break;
    case 5:
        assert_ok(remove_everywhere(w, reef_id(Position), &removed));
        assert_ok(remove_everywhere(w, reef_id(Frozen), NULL));
        assert_ok(remove_everywhere(w, reef_id(Awake), NULL));
        assert_int_equal(removed, 1500);
        break;
    default:
        if (way == 6) assert_ok(reef_destroy(w, *e));
        if (way == 7) assert_int_equal(reef_destroy_many(w, e, 1), 1);
        if (way == 8) assert_ok(DESTROY_EVERYWHERE(w, reef_id(Position)));
        if (way == 9) assert_ok(reef_world_clear(w));
        while (way >= 8 && reef_count_alive(w) < 1499)
            assert_some(reef_create(w)); /* the first to die comes last here */
        *e = reef_create(w);
    }
}

static void the_mark_goes_with_the_component(void **test)
{
    static reef_entity e[1500];
    for (uint32_t way = 0; way < 10; way++) {
        for (uint32_t at = 0; at < 1500; at += at == 1023   ? 1
                                               : at == 1024 ? 475
                                                            : 1023) { /* first, both sides of a chunk's edge, last */
            reef_world *w = another_world(test, NULL);
            assert_ok(reef_spawn_many(w, 1500, e, reef_with(Position, 1, 2), reef_with(Mass, 3), reef_tag(Frozen),
                                      reef_tag(Awake)));
            for (uint32_t i = at % 2; i < 1500; i += 2) {
                assert_ok(reef_disable(w, e[i], Position));
                assert_ok(reef_disable(w, e[i], Frozen));
                assert_ok(reef_disable(w, e[i], Awake));
            }
            reef_entity x = e[at];
            lose(w, &x, way);
            assert_valid(w);
            assert_false(reef_is_enabled(w, x, Position) || reef_is_enabled(w, x, Frozen) ||
                         reef_is_enabled(w, x, Awake));
            assert_some(
                reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3), reef_tag(Frozen), reef_tag(Awake)));
            assert_ok(reef_change(w, x, reef_with(Position, 4, 5), reef_tag(Frozen), reef_tag(Awake)));
            assert_true(reef_is_enabled(w, x, Position) && reef_is_enabled(w, x, Frozen) &&
                        reef_is_enabled(w, x, Awake));
            for (uint32_t i = 0; i < 1500 && way < 8 && way != 5; i++) {
                if (i == at) continue;
                assert_int_equal(reef_is_enabled(w, e[i], Position), i % 2 != at % 2);
                assert_int_equal(reef_is_enabled(w, e[i], Frozen), i % 2 != at % 2);
                assert_int_equal(reef_is_enabled(w, e[i], Awake), i % 2 != at % 2);
            }
            end_world(test, w);
        }
    }
}

static void the_mark_stays_when_the_row_moves(void **test)
{
    enum { ROWS = 2100 };
    static reef_entity e[ROWS];
    reef_world *w = world_of(test);
    assert_ok(reef_spawn_many(w, ROWS, e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    for (uint32_t i = 0; i < ROWS; i += 3) assert_ok(reef_disable(w, e[i], Position));
    for (uint32_t i = 0; i < ROWS; i += 5) assert_ok(reef_disable(w, e[i]));
    for (uint32_t i = 0; i < ROWS; i += 2) assert_ok(reef_add(w, e[i], Frozen));
    for (uint32_t i = 0; i < ROWS; i += 7) assert_ok(reef_remove(w, e[i], Mass));
    for (uint32_t i = 0; i < ROWS; i += 11) assert_ok(reef_change(w, e[i], reef_with(Cargo, {1}), reef_tag(Seen)));
    for (uint32_t i = 0; i < ROWS; i += 13) assert_ok(reef_destroy(w, e[i]));
    assert_ok(remove_everywhere(w, reef_id(Frozen), NULL));
    assert_ok(reef_shrink(w));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order.descending = true}));
    assert_valid(w);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(reef_is_enabled(w, e[i], Position), i % 13 != 0 && i % 3 != 0);
        assert_int_equal(reef_is_enabled(w, e[i]), i % 13 != 0 && i % 5 != 0);
        assert_int_equal(reef_is_enabled(w, e[i], Mass), i % 13 != 0 && i % 7 != 0);
    }
}

static void copies_have_the_marks(void **test)
{
    static reef_entity copy[2000];
    reef_world *w = world_of(test);
    reef_entity e = everything(w), bare = reef_create(w);
    assert_ok(reef_disable(w, e, Mass));
    assert_ok(reef_disable(w, e, Awake));
    assert_ok(reef_disable(w, e));
    assert_ok(reef_disable(w, bare));
    assert_ok(reef_clone_many(w, e, 2000, copy));
    for (int i = 0; i < 2000; i++) {
        assert_false(reef_is_enabled(w, copy[i], Mass) || reef_is_enabled(w, copy[i], Awake) ||
                     reef_is_enabled(w, copy[i]));
        assert_true(reef_is_enabled(w, copy[i], Position) && reef_is_enabled(w, copy[i], Frozen));
    }
    reef_entity twin = reef_clone(w, bare);
    assert_false(reef_is_enabled(w, twin));
    assert_ok(reef_enable(w, twin));
    assert_false(reef_is_enabled(w, bare));
}

static void snapshots_and_forks_have_the_marks(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), other = everything(w);
    reef_snapshot *without = reef_snapshot_take(w);
    assert_ok(reef_disable(w, e, Position));
    assert_ok(reef_disable(w, e));
    uint64_t with_marks = reef_hash(w);
    reef_snapshot *with = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_enable(fork, e, Position));
    assert_ok(reef_disable(fork, other, Mass));
    assert_false(reef_is_enabled(w, e, Position));
    assert_true(reef_is_enabled(w, other, Mass));
    assert_true(reef_is_enabled(fork, e, Position));
    assert_false(reef_is_enabled(fork, e));
    assert_true(reef_hash(w) == with_marks && reef_hash(fork) != with_marks);
    assert_valid(fork);
    reef_world_free(fork);
    assert_ok(reef_restore(w, without));
    assert_true(reef_is_enabled(w, e, Position) && reef_is_enabled(w, e));
    assert_ok(reef_restore(w, with));
    assert_false(reef_is_enabled(w, e, Position) || reef_is_enabled(w, e));
    assert_true(reef_hash(w) == with_marks);
    reef_snapshot_free(without);
    reef_snapshot_free(with);
}

/* ---- the hash and the comparison ---- */

static void differ(reef_world *a, reef_world *b, const char *wanted)
{
    reef_difference d;
    char text[300];
    assert_false(reef_equal(a, b, &d));
    reef_difference_text(&d, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_true(reef_hash(a) != reef_hash(b));
}

static void same(reef_world *a, reef_world *b)
{
    assert_true(reef_equal(a, b, NULL) && reef_equal(b, a, NULL));
    assert_true(reef_hash(a) == reef_hash(b) && hash_anew(a) == hash_anew(b));
}

static void marks_are_part_of_the_state(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    reef_entity e = everything(w), bare = reef_create(w);
    assert_entity(e, everything(other));
    assert_entity(bare, reef_create(other));
    same(w, other);
    assert_ok(reef_disable(w, e, Position));
    differ(w, other, "The mark disabled Position of entity 0v1 differs (table Frozen, Mass, Position, row 0)");
    differ(other, w, "The mark disabled Position of entity 0v1 differs (table Frozen, Mass, Position, row 0)");
    assert_ok(reef_disable(other, e, Awake));
    differ(w, other, "The mark disabled Awake of entity 0v1 differs (table Frozen, Mass, Position, row 0)");
    assert_ok(reef_disable(w, e)); /* comes before those of components */
    differ(w, other, "The mark disabled of entity 0v1 differs (table Frozen, Mass, Position, row 0)");
    assert_ok(reef_disable(w, e, Awake));
    assert_ok(reef_disable(other, e, Position));
    assert_ok(reef_disable(other, e)); /* in another order */
    same(w, other);
    assert_ok(reef_disable(w, bare));
    differ(w, other, "Index 1 differs: entities 1v1 and 1v1, one without components");
    assert_ok(reef_enable(w, bare));
    same(w, other);
    assert_ok(reef_enable(w, e, Position));
    assert_ok(reef_disable(w, e, Mass));
    differ(w, other, "The mark disabled Mass of entity 0v1 differs (table Frozen, Mass, Position, row 0)");
    assert_true(reef_hash(w) == hash_anew(w));
}

static void a_world_whose_marks_are_gone_is_as_if_it_never_had_any(void **test)
{
    static reef_entity e[1200];
    reef_world *w = world_of(test), *never = another_world(test, NULL);
    for (int k = 0; k < 2; k++) assert_ok(reef_spawn_many(k ? never : w, 1200, e, reef_with(Mass, 1), reef_tag(Awake)));
    uint64_t hash = reef_hash(w);
    for (uint32_t i = 0; i < 1200; i += 2) {
        assert_ok(reef_disable(w, e[i], Mass));
        assert_ok(reef_disable(w, e[i], Awake));
        assert_ok(reef_disable(w, e[i]));
        if (i % 300 == 0) assert_true(reef_hash(w) != hash && reef_hash(w) == hash_anew(w));
    }
    for (uint32_t i = 0; i < 1200; i += 2) {
        assert_ok(reef_enable(w, e[i]));
        assert_ok(reef_enable(w, e[i], Awake));
        assert_ok(reef_enable(w, e[i], Mass));
    }
    assert_true(reef_hash(w) == hash);
    same(w, never);
}

typedef struct parts_seen {
    char text[600];
    uint64_t type_hash; /* of Mass */
} parts_seen;

static bool see_part(void *context, const reef_hash_part *part)
{
    parts_seen *p = context;
    size_t length = strlen(p->text);
    if (part->kind == REEF_HASH_DISABLED)
        snprintf(p->text + length, sizeof p->text - length, "%s %u, ",
                 part->component.id ? reef_type_name(part->component) : "*", (unsigned)part->rows);
    if (part->kind == REEF_HASH_TYPE && part->component.id == reef_id(Mass).id) {
        assert_int_equal(part->rows, 3);
        p->type_hash = part->hash;
    }
    return true;
}

static void the_parts_of_the_hash_name_the_marks(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e[3];
    parts_seen p = {"", 0}, q = {"", 0}, r = {"", 0};
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Mass, 1), reef_tag(Awake));
    reef_hash_parts(w, see_part, &p);
    assert_string_equal(p.text, "");
    assert_ok(reef_disable(w, e[0], Mass));
    assert_ok(reef_disable(w, e[2], Mass));
    assert_ok(reef_disable(w, e[1]));
    assert_ok(reef_disable(w, e[1], Awake));
    assert_true(reef_hash_parts(w, see_part, &q) == reef_hash(w));
    assert_string_equal(q.text, "* 1, Awake 1, Mass 2, ");
    assert_true(p.type_hash != q.type_hash);
    assert_ok(reef_enable(w, e[0], Mass));
    assert_ok(reef_enable(w, e[2], Mass));
    reef_hash_parts(w, see_part, &r);
    assert_string_equal(r.text, "* 1, Awake 1, ");
    assert_true(p.type_hash == r.type_hash);
}

/* ---- looking ---- */

static void printed(reef_world *w, reef_entity e, const char *wanted)
{
    char text[600] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(reef_print(w, e, file));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static void what_is_disabled_is_printed(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = reef_spawn(w, reef_with(Flag, 3), reef_tag(Frozen), reef_tag(Awake));
    printed(w, e, "entity 0v1\n  Awake\n  Flag  03\n  Frozen\n");
    assert_ok(reef_disable(w, e, Flag));
    assert_ok(reef_disable(w, e, Awake));
    printed(w, e, "entity 0v1\n  Awake (disabled)\n  Flag (disabled)  03\n  Frozen\n");
    assert_ok(reef_disable(w, e));
    assert_ok(reef_disable(w, e, Frozen));
    printed(w, e, "entity 0v1 (disabled)\n  Awake (disabled)\n  Flag (disabled)  03\n  Frozen (disabled)\n");
    assert_ok(reef_remove_all(w, e));
    printed(w, e, "entity 0v1 (disabled)\n");
    assert_ok(reef_destroy(w, e));
    printed(w, e, "entity 0v1 is not alive\n");
}

static void marks_are_counted_with_the_bits(void **test)
{
    static reef_entity e[1024];
    reef_world *w = world_of(test);
    assert_ok(reef_spawn_many(w, 1024, e, reef_with(Mass, 1)));
    assert_int_equal(reef_world_stats(w).bytes_bits, 0);
    for (int i = 0; i < 1024; i++) assert_ok(reef_disable(w, e[i], Mass));
    uint64_t bytes = reef_world_stats(w).bytes_bits;
    assert_true(bytes >= 128 && bytes < 4096); /* a bit a row, and what says where */
}

static void signatures_see_no_marks(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), bare = reef_create(w);
    reef_signature before = reef_signature_new(w), after = reef_signature_new(w);
    assert_ok(reef_signature_of(w, e, &before));
    assert_ok(reef_disable(w, e, Mass));
    assert_ok(reef_disable(w, e, Awake));
    assert_ok(reef_disable(w, e));
    assert_ok(reef_disable(w, bare));
    assert_ok(reef_signature_of(w, e, &after));
    assert_true(reef_signature_equal(&before, &after) && reef_signature_count(&after) == 4);
    assert_true(reef_has_all(w, e, &before) && reef_has_any(w, e, &before));
    assert_false(reef_has_any(w, bare, &before));
    assert_ok(reef_signature_of(w, bare, &after));
    assert_int_equal(reef_signature_count(&after), 0);
    reef_signature_free(&before);
    reef_signature_free(&after);
}

/* ---- queries ---- */

/* Numbers of the entities that a query finds, in order; each way of asking must agree. */
static void finds(reef_world *w, reef_query_desc desc, const char *wanted)
{
    char text[100] = "";
    uint64_t n = 0;
    reef_query q = reef_query_make(w, &desc);
    assert_false(reef_query_is_null(q));
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            if (mask && !(mask[i / 64] >> (i % 64) & 1)) continue;
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", n++ ? " " : "",
                     (unsigned)b.entities[i].index);
            assert_true(reef_query_matches(w, q, b.entities[i]));
        }
    }
    assert_string_equal(text, wanted);
    assert_int_equal(reef_query_count(w, q), n);
    for (uint32_t i = 0; i < 6; i++) n -= reef_query_matches(w, q, reef_entity_at(w, i));
    assert_int_equal(n, 0);
    reef_query_free(w, q);
}

static reef_query_desc one(reef_component c, reef_enabled enabled)
{
    return (reef_query_desc){.terms = {{.component = c, .access = REEF_WITH, .enabled = enabled}}};
}

static reef_query_desc two(reef_op op, reef_component c, reef_enabled enabled)
{
    reef_query_desc d = one(reef_id(Mass), REEF_ENABLED);
    d.terms[1] = (reef_term){.component = c, .access = REEF_WITH, .op = op, .enabled = enabled};
    return d;
}

static void queries_skip_what_is_disabled(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e[6];
    for (int i = 0; i < 4; i++) e[i] = reef_spawn(w, reef_with(Mass, i), reef_tag(Awake));
    e[4] = reef_spawn(w, reef_with(Mass, 4), reef_tag(Frozen));
    e[5] = reef_create(w);
    reef_query kept = reef_query_new(w, "in Mass"); /* it is told what comes later */
    assert_int_equal(reef_query_count(w, kept), 5);
    finds(w, one(reef_id(Mass), REEF_DISABLED), "");
    assert_ok(reef_disable(w, e[1], Mass));
    assert_ok(reef_disable(w, e[2], Awake));
    assert_ok(reef_disable(w, e[3]));
    assert_ok(reef_disable(w, e[4], Frozen));
    assert_ok(reef_disable(w, e[5]));
    finds(w, one(reef_id(Mass), REEF_ENABLED), "4 0 2");
    assert_int_equal(reef_query_count(w, kept), 3);
    finds(w, one(reef_id(Mass), REEF_DISABLED), "1");
    finds(w, one(reef_id(Mass), REEF_EITHER), "4 0 1 2");
    finds(w, two(REEF_HAS, reef_id(Awake), REEF_ENABLED), "0");
    finds(w, two(REEF_HAS, reef_id(Awake), REEF_EITHER), "0 2");
    finds(w, two(REEF_NOT, reef_id(Awake), REEF_ENABLED), "4 2");
    finds(w, two(REEF_NOT, reef_id(Awake), REEF_EITHER), "4");
    finds(w, two(REEF_NOT, reef_id(Frozen), REEF_ENABLED), "4 0 2");
    reef_snapshot *marked = reef_snapshot_take(w);
    assert_ok(reef_enable(w, e[1], Mass));
    assert_ok(reef_enable(w, e[3]));
    assert_int_equal(reef_query_count(w, kept), 5);
    assert_ok(reef_restore(w, marked));
    assert_int_equal(reef_query_count(w, kept), 3);
    reef_snapshot_free(marked);
    reef_query_free(w, kept);
}

static void queries_ask_for_whole_entities(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e[4];
    reef_query_desc d = one(reef_id(Mass), REEF_ENABLED);
    static const uint64_t counts[] = {[REEF_ENABLED] = 1, [REEF_DISABLED] = 2, [REEF_EITHER] = 3};
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Mass, i));
    e[3] = reef_create(w);
    for (int i = 1; i < 4; i++) assert_ok(reef_disable(w, e[i]));
    for (int k = REEF_ENABLED; k <= REEF_EITHER; k++) {
        d.entities = (reef_enabled)k;
        reef_query q = reef_query_make(w, &d);
        assert_int_equal(reef_query_count(w, q), counts[k]);
        assert_int_equal(reef_query_matches(w, q, e[0]), k != REEF_DISABLED);
        assert_int_equal(reef_query_matches(w, q, e[1]), k != REEF_ENABLED);
        assert_false(reef_query_matches(w, q, e[3]));
        reef_query_free(w, q);
    }
    d.entities = REEF_DISABLED;
    finds(w, d, "1 2");
    d.entities = REEF_EITHER;
    finds(w, d, "0 1 2");
}

/* ---- refusals ---- */

static void refuses(reef_world *w, reef_status wanted, reef_entity e, reef_component c, bool on)
{
    refusal r = refusal_begin(w, on ? "reef_enable(" : "reef_disable(", __FILE__, __LINE__);
    refusal_status(r, reef_enable_id(w, e, c, on), wanted);
    assert_entity(e, reef_last_error(w).entity);
    assert_int_equal(reef_last_error(w).component.id, c.id);
}

static void refusals_of_enabling(void **test)
{
    reef_world *w = world_of(test), *strict = another_world(test, &(reef_world_config){.strict = true});
    reef_entity e = everything(w), gone = everything(w), bare = reef_create(w);
    assert_ok(reef_destroy(w, gone));
    assert_ok(reef_disable(w, e, Mass));
    for (int on = 0; on < 2; on++) {
        assert_status(REEF_BAD_ARGUMENT, reef_enable_id(NULL, e, whole, on));
        refuses(w, REEF_NOT_ALIVE, gone, reef_id(Mass), on);
        refuses(w, REEF_NOT_ALIVE, gone, whole, on);
        refuses(w, REEF_NOT_ALIVE, (reef_entity){0}, whole, on);
        refuses(w, REEF_NOT_ALIVE, (reef_entity){77, 1}, reef_id(Mass), on);
        refuses(w, REEF_ABSENT, e, reef_id(Velocity), on);
        refuses(w, REEF_ABSENT, e, reef_id(Seen), on);
        refuses(w, REEF_ABSENT, bare, reef_id(Mass), on);
    }
    assert_false(reef_is_enabled(NULL, e) || reef_is_enabled(w, gone) || reef_is_enabled(w, (reef_entity){0}));
    assert_false(reef_is_enabled(w, gone, Mass) || reef_is_enabled(w, bare, Mass));
    reef_entity known = reef_create(strict);
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_disable(strict, known, Mass));
    assert_ok(reef_disable(strict, known));
}

/* Marks lie under keys that are no types' ids; who takes such a key for a type's id must not get at them. */
static void keys_of_marks_are_no_types(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w);
    assert_ok(reef_disable(w, e, Mass));
    assert_ok(reef_disable(w, e, Awake));
    assert_ok(reef_disable(w, e));
    reef_component keys[] = {{BIT_DISABLED}, {reef_id(Mass).id | BIT_DISABLED}, {reef_id(Awake).id | BIT_DISABLED}};
    for (int i = 0; i < 3; i++) {
        assert_false(reef_has_id(w, e, keys[i]) || reef_is_enabled_id(w, e, keys[i]));
        assert_null(reef_get_id(w, e, keys[i]));
        assert_int_equal(reef_count_id(w, keys[i]), 0);
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_add_id(w, e, keys[i], NULL, NULL));
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_set_id(w, e, keys[i], NULL, 0));
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_remove_id(w, e, keys[i]));
        assert_status(REEF_UNKNOWN_TYPE, remove_everywhere(w, keys[i], NULL));
        assert_refused(w, REEF_UNKNOWN_TYPE,
                       reef_change_values(w, e, &(reef_value){keys[i], REEF_VALUE_REMOVE, 0, NULL}, 1));
        assert_no_entity(w, REEF_UNKNOWN_TYPE,
                         reef_spawn_values(w, &(reef_value){keys[i], REEF_VALUE_DEFAULT, 0, NULL}, 1));
        refuses(w, REEF_UNKNOWN_TYPE, e, keys[i], true);
        refuses(w, REEF_UNKNOWN_TYPE, e, keys[i], false);
    }
}

static void an_open_loop_refuses_and_what_is_so_already_is_none(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), bare = reef_create(w);
    assert_ok(reef_disable(w, e, Mass));
    reef_query q = reef_query_new(w, "in Position");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        assert_refused(w, REEF_LOCKED, reef_enable(w, e, Mass));
        assert_refused(w, REEF_LOCKED, reef_disable(w, e, Position));
        assert_refused(w, REEF_LOCKED, reef_disable(w, e, Awake));
        assert_refused(w, REEF_LOCKED, reef_disable(w, e));
        assert_refused(w, REEF_LOCKED, reef_disable(w, bare));
        assert_ok(reef_disable(w, e, Mass));
        assert_ok(reef_enable(w, e, Position));
        assert_ok(reef_enable(w, bare));
    }
    reef_query_free(w, q);
    assert_ok(reef_enable(w, e, Mass));
}

/* More stores than the bits of the word that sums them up. */
static void a_hundred_types_can_be_disabled(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_create(w);
    for (uint32_t t = 0; t < 100; t++)
        for (int i = 0; i < 3; i++) {
            assert_ok(reef_add_id(w, e[i], numbered_type("many", t, t % 3, 1), NULL, NULL));
            if (i != 1) assert_ok(reef_enable_id(w, e[i], numbered_type("many", t, t % 3, 1), t % 4 == 0));
        }
    assert_valid(w);
    assert_ok(reef_destroy(w, e[0]));
    for (uint32_t t = 0; t < 100; t++) {
        assert_true(reef_is_enabled_id(w, e[1], numbered_type("many", t, t % 3, 1)));
        assert_int_equal(reef_is_enabled_id(w, e[2], numbered_type("many", t, t % 3, 1)), t % 4 == 0);
    }
    assert_ok(reef_remove_all(w, e[2]));
    for (uint32_t t = 0; t < 100; t++) assert_ok(reef_add_id(w, e[2], numbered_type("many", t, t % 3, 1), NULL, NULL));
    for (uint32_t t = 0; t < 100; t++) assert_true(reef_is_enabled_id(w, e[2], numbered_type("many", t, t % 3, 1)));
}

/* ---- inside ---- */

static void the_epoch_tells_when_there_may_be_other_stores(void **test)
{
    reef_world *w = world_of(test);
    reef_entity e = everything(w), other = everything(w);
    uint64_t epoch = w->disabled_epoch;
    reef_snapshot *s = reef_snapshot_take(w);
    assert_true(w->disabled_epoch == epoch);
    assert_ok(reef_disable(w, e, Mass));
    assert_true(w->disabled_epoch != epoch);
    epoch = w->disabled_epoch;
    assert_ok(reef_disable(w, other, Mass));
    assert_ok(reef_enable(w, e, Mass));
    assert_true(w->disabled_epoch == epoch);
    assert_ok(reef_disable(w, e));
    assert_true(w->disabled_epoch != epoch);
    epoch = w->disabled_epoch;
    uint32_t place = place_of(w, other);
    const uint64_t *words = disabled_words(w, reef_id(Mass).id, place_unit(place));
    assert_non_null(words);
    assert_true(words[0] == 1ull << place_row(place));
    assert_true(disabled_words(w, 0, place_unit(place))[0] == 1ull << place_row(place_of(w, e)));
    assert_null(disabled_words(w, reef_id(Position).id, place_unit(place)));
    assert_ok(reef_restore(w, s));
    assert_true(w->disabled_epoch != epoch);
    reef_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_disabled_component_stays_where_it_is),
        TEST(tags_and_switches_can_be_disabled),
        TEST(a_switch_that_goes_off_takes_its_mark_along),
        TEST(a_whole_entity_can_be_disabled),
        TEST(the_mark_goes_with_the_component),
        TEST(the_mark_stays_when_the_row_moves),
        TEST(copies_have_the_marks),
        TEST(snapshots_and_forks_have_the_marks),
        TEST(marks_are_part_of_the_state),
        TEST(a_world_whose_marks_are_gone_is_as_if_it_never_had_any),
        TEST(the_parts_of_the_hash_name_the_marks),
        TEST(what_is_disabled_is_printed),
        TEST(marks_are_counted_with_the_bits),
        TEST(signatures_see_no_marks),
        TEST(queries_skip_what_is_disabled),
        TEST(queries_ask_for_whole_entities),
        TEST(refusals_of_enabling),
        TEST(keys_of_marks_are_no_types),
        TEST(an_open_loop_refuses_and_what_is_so_already_is_none),
        TEST(a_hundred_types_can_be_disabled),
        TEST(the_epoch_tells_when_there_may_be_other_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
