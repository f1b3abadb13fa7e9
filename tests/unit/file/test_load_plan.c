/* What a load would lose, before it does: reef_load_plan, and loads that refuse to lose something. */
#include "load_notes.h"
#include "reef/journal.h"
#include "reef/multi.h"

typedef struct {
    uint16_t list[3];
    int32_t gone;
    double wide;
    char text[8];
    uint8_t same;
} BoxWas;
typedef struct {
    uint8_t list[2];
    float wide;
    char text[4];
    uint8_t same;
    int32_t fresh;
} BoxNow;
REEF_COMPONENT(BoxWas);
REEF_FIELDS(BoxWas, list, gone, wide, text, same);
REEF_COMPONENT(BoxNow);
REEF_FIELDS(BoxNow, list, wide, text, same, fresh);

typedef struct {
    int32_t n;
} SomeHad;
typedef struct {
    int32_t n;
} OnesNow;
typedef struct {
    int32_t n;
} Stranger;
REEF_COMPONENT_IN(SomeHad, REEF_MULTI);
REEF_FIELDS(SomeHad, n);
REEF_COMPONENT(OnesNow);
REEF_FIELDS(OnesNow, n);
REEF_COMPONENT(Stranger);
REEF_FIELDS(Stranger, n);

typedef struct {
    uint32_t id;
} SeatWas;
typedef SeatWas SeatNow;
static const reef_hooks seat_hooks = {.unique = "id"};
REEF_COMPONENT(SeatWas);
REEF_FIELDS(SeatWas, id);
REEF_COMPONENT_IN_HOOKS(SeatNow, REEF_SPARSE, &seat_hooks);
REEF_FIELDS(SeatNow, id);

typedef struct kept {
    reef_load_note note[16];
    char field[16][32];
    uint32_t count;
} kept;

static void keep(void *context, const reef_load_note *n)
{
    kept *k = context;
    assert_in_range(k->count, 0, 15);
    (void)snprintf(k->field[k->count], sizeof k->field[0], "%s", n->field ? n->field : "");
    k->note[k->count++] = *n;
}

/* The one note of this kind about this field; "": about a type. */
static const reef_load_note *told(const kept *k, reef_load_note_kind kind, const char *field)
{
    const reef_load_note *found = NULL;
    for (uint32_t i = 0; i < k->count; i++) {
        if (k->note[i].kind != kind || strcmp(k->field[i], field) != 0) continue;
        assert_null(found);
        found = &k->note[i];
    }
    assert_non_null(found);
    return found;
}

static void path_write(const char *path, reef_bytes bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
    assert_int_equal(fclose(f), 0);
}

static reef_bytes boxes(reef_world *w, const BoxWas *of, uint32_t count)
{
    reef_bytes bytes;
    for (uint32_t i = 0; i < count; i++)
        assert_some(reef_spawn(w, reef_value_make(reef_id(BoxWas), REEF_VALUE_ONE, sizeof *of, of + i)));
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    rename_type(bytes, "BoxWas", "BoxNow");
    return bytes;
}

static void a_plan_counts_what_would_be_lost(void **state)
{
    static const BoxWas of[] = {
        {{1, 2, 0}, 0, 0.5, "abc", 1},   /* loses nothing */
        {{1, 2, 3}, 0, 0.5, "abc", 2},   /* the last of the list */
        {{1, 300, 0}, 7, 0.1, "abc", 3}, /* 300, `gone`, and the digits of 0.1 */
        {{1, 2, 0}, 7, 0.5, "abcde", 4}, /* `gone`, and the end of the text */
    };
    static const char path[] = "test_load_plan.reef";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes = boxes(w, of, 4);
    path_write(path, bytes);
    (void)reef_spawn(other, reef_with(BoxNow, .same = 9));
    const uint64_t hash = reef_hash(other);
    kept k = {.count = 0};
    reef_load_desc desc = {.note = keep, .context = &k};
    uint64_t lost = 99;
    assert_ok(reef_load_plan(other, path, &desc, &lost));
    assert_true(reef_hash(other) == hash);
    assert_int_equal(lost, 6);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_CONVERTED, "list")->lost, 2);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_CONVERTED, "list")->values, 4);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_DROPPED, "gone")->lost, 2);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_CONVERTED, "wide")->lost, 1);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_CONVERTED, "text")->lost, 1);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_DEFAULT, "fresh")->lost, 0);
    assert_int_equal(told(&k, REEF_NOTE_FIELD_DEFAULT, "fresh")->values, 4);
    assert_int_equal(k.count, 5);
    desc.note = NULL;
    assert_ok(reef_load_plan(other, path, &desc, NULL));
    desc.lossless = true;
    assert_refused(other, REEF_NOT_PORTABLE, reef_load(other, path, &desc));
    assert_non_null(strstr(reef_last_error(other).detail, "6 values would lose something"));
    assert_true(reef_hash(other) == hash);
    assert_ok(reef_load_plan(other, path, &desc, &lost)); /* a plan is no load */
    assert_null(reef_journal_open(other, path, &(reef_journal_desc){.load = {.lossless = true}}));
    assert_int_equal(reef_last_error(other).status, REEF_NOT_PORTABLE);
    assert_true(reef_hash(other) == hash);
    desc.lossless = false;
    assert_ok(reef_load(other, path, &desc));
    assert_int_equal(reef_count_alive(other), 4);
    assert_int_equal(remove(path), 0);
    assert_refused(other, REEF_IO, reef_load_plan(other, path, &desc, &lost));
    assert_refused(other, REEF_BAD_ARGUMENT, reef_load_plan(other, NULL, &desc, &lost));
    reef_bytes_free(&bytes);
}

static void a_lossless_load_converts_what_it_can(void **state)
{
    static const BoxWas of[] = {{{1, 255, 0}, 0, -2.5, "abcd", 1}, {{0}, 0, 1e30 * 0, "", 0}};
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes = boxes(w, of, 2);
    const reef_load_desc desc = {.lossless = true};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    const BoxNow *x = reef_get(other, reef_entity_at(other, 0), BoxNow);
    assert_int_equal(x->list[1], 255);
    assert_true(x->wide <= -2.5f && x->wide >= -2.5f);
    assert_memory_equal(x->text, "abcd", 4);
    reef_bytes_free(&bytes);
}

/* Of several values only the first has room in another home; a type that isn't there loses all. */
static void homes_and_strangers_count(void **state)
{
    static const char path[] = "test_load_plan.reef";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (int32_t i = 0; i < 5; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Stranger, i));
        for (int32_t k = 0; k < i; k++) assert_non_null(reef_append(w, e, SomeHad, k));
    }
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    rename_type(bytes, "SomeHad", "OnesNow");
    rename_type(bytes, "Stranger", "Nobodys_");
    path_write(path, bytes);
    kept k = {.count = 0};
    reef_load_desc desc = {.note = keep, .context = &k};
    uint64_t lost = 0;
    const uint32_t types = reef_type_count();
    assert_ok(reef_load_plan(other, path, &desc, &lost));
    assert_int_equal(told(&k, REEF_NOTE_HOME_CHANGED, "")->lost, 6); /* 1 + 2 + 3 values behind the first ones */
    assert_int_equal(told(&k, REEF_NOTE_HOME_CHANGED, "")->values, 10);
    assert_int_equal(told(&k, REEF_NOTE_TYPE_DROPPED, "")->lost, 5);
    assert_int_equal(told(&k, REEF_NOTE_TYPE_DROPPED, "")->rows, 5);
    assert_int_equal(lost, 11);
    assert_int_equal(k.count, 2);
    k.count = 0;
    desc.unknown = REEF_UNKNOWN_DECLARE;
    assert_ok(reef_load_plan(other, path, &desc, &lost));
    assert_int_equal(lost, 6);
    assert_int_equal(k.count, 1);
    assert_in_range(reef_type_count(), types, types + 20);
    assert_int_equal(reef_type_find("Nobodys_").id, 0);
    assert_int_equal(remove(path), 0);
    reef_bytes_free(&bytes);
}

/* Values that get another home are compared as a whole, if a field is unique there. */
static void unique_values_get_another_home(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (uint32_t i = 0; i < 3; i++) assert_false(reef_entity_is_null(reef_spawn(w, reef_with(SeatWas, i))));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    rename_type(bytes, "SeatWas", "SeatNow");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(reef_get(other, reef_entity_at(other, i), SeatNow)->id, i);
    assert_no_entity(other, REEF_EXISTS, reef_spawn(other, reef_with(SeatNow, 2)));
    reef_bytes_free(&bytes);
    assert_false(reef_entity_is_null(reef_spawn(w, reef_with(SeatWas, 1))));
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    rename_type(bytes, "SeatWas", "SeatNow");
    assert_refused(other, REEF_CORRUPT, reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_int_equal(reef_count(other, SeatNow), 3);
    reef_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_plan_counts_what_would_be_lost), TEST(unique_values_get_another_home),
                                       TEST(a_lossless_load_converts_what_it_can), TEST(homes_and_strangers_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
