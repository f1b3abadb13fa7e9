/* Scripts in files: nothing starts or ends a second time. */
#include "script_diary.h"

static reef_world *resumed(void **test)
{
    reef_world *w = another_world(test, NULL);
    assert_false(reef_system_is_null(reef_scripts(w, NULL, NULL)));
    return w;
}

static void know(void)
{
    assert_ok(reef_script_know(&class_a));
    assert_ok(reef_script_know(&class_b));
    assert_ok(reef_script_know(&class_a)); /* again */
}

/* Entity 0 has a script that runs, 1 one that hasn't started, 2 and 3 wait for their end, 4 never started and waits
 * for none. */
static void script_scene(reef_world *w)
{
    for (int i = 0; i < 5; i++) assert_some(reef_spawn(w, reef_with(Mass, 1)));
    for (uint32_t i = 0; i < 4; i++)
        if (i != 1)
            assert_ok(
                reef_script_add(w, reef_entity_at(w, i), i % 2 ? &class_b : &class_a, &(int64_t){10 * (int64_t)i}));
    tick(w);
    written = 0;
    assert_ok(reef_script_add(w, reef_entity_at(w, 1), &class_b, NULL));
    assert_ok(reef_script_add(w, reef_entity_at(w, 4), &class_a, NULL));
    assert_ok(reef_destroy(w, reef_entity_at(w, 3)));
    assert_ok(reef_script_remove(w, reef_entity_at(w, 2)));
    assert_ok(reef_script_remove(w, reef_entity_at(w, 4)));
}

static void assert_resumed(reef_world *w, reef_world *other)
{
    assert_valid(other);
    assert_true(reef_equal(w, other, NULL));
    assert_true(reef_hash(w) == reef_hash(other));
    assert_string_equal(story(), ""); /* loading calls nobody */
    tick(other);
    assert_int_equal(diary[1].count, 21); /* what it was at its end */
    assert_string_equal(story(), "eb3 ea2 ua0 sb1 ub1");
    tick(other);
    assert_string_equal(story(), "ua0 ub1");
    assert_int_equal(count_in(other, reef_entity_at(other, 0)), 3);
}

static void loaded_scripts_go_on(void **test)
{
    reef_world *w = begin(test, NULL), *other = resumed(test);
    reef_bytes bytes, again;
    know();
    script_scene(w);
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true, .raw = true}));
    const reef_entity e = reef_create(other); /* what the world had is gone, and has no end */
    assert_ok(reef_script_add(other, e, &class_a, NULL));
    tick(other);
    assert_ok(reef_script_remove(other, e));
    written = 0;
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_ok(reef_save_bytes(other, &again, &(reef_save_desc){.sealed = true, .raw = true}));
    assert_int_equal(bytes.size, again.size);
    assert_resumed(w, other);
    assert_ok(reef_load_bytes(w, again.data, again.size, NULL)); /* into the world itself */
    assert_ok(reef_load_bytes(other, again.data, again.size, NULL));
    assert_resumed(other, w);
    reef_bytes_free(&bytes);
    reef_bytes_free(&again);
    end_world(test, w);
    assert_string_equal(story(), "ea0 eb1");
}

static void differences_of_worlds_with_scripts_apply(void **test)
{
    reef_world *w = begin(test, NULL), *other = resumed(test);
    reef_bytes bytes;
    know();
    reef_world *before = reef_fork(w);
    script_scene(w);
    const reef_removals heard = reef_removals_new(other, reef_script_type(), true);
    assert_ok(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.sealed = true, .raw = true}));
    assert_ok(reef_diff_apply(other, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_resumed(w, other);
    assert_ok(reef_removals_free(other, heard));
    reef_world *middle = reef_fork(w), *third = reef_fork(w);
    tick(w); /* now nothing waits any more: in a difference that is a change as well */
    written = 0;
    assert_ok(reef_diff_bytes(middle, w, &bytes, &(reef_save_desc){.sealed = true, .raw = true}));
    assert_ok(reef_diff_apply(third, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_true(reef_hash(w) == reef_hash(third));
    assert_ok(reef_diff_bytes(w, middle, &bytes, &(reef_save_desc){.sealed = true, .raw = true})); /* and back */
    assert_ok(reef_diff_apply(third, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_resumed(middle, third);
    reef_world_free(before);
    reef_world_free(middle);
    reef_world_free(third);
}

static void a_journal_of_a_world_with_scripts_is_resumed(void **test)
{
    reef_world *w = begin(test, NULL), *other = resumed(test), *third = resumed(test);
    const reef_journal_desc desc = {.raw = true, .unsynced = true, .fresh = true},
                            more = {.raw = true, .unsynced = true};
    know();
    reef_journal *j = reef_journal_open(w, "script.journal", &desc);
    assert_non_null(j);
    script_scene(w);
    assert_ok(reef_journal_append(j));
    reef_journal_close(j);
    j = reef_journal_open(other, "script.journal", &more);
    assert_non_null(j);
    assert_int_equal(reef_journal_stats(j).records, 2);
    assert_resumed(w, other);
    assert_ok(reef_journal_append(j));
    assert_ok(reef_script_remove(other, reef_entity_at(other, 0)));
    assert_ok(reef_journal_append(j));
    tick(other);
    assert_ok(reef_journal_append(j));
    assert_string_equal(story(), "ea0 ub1");
    assert_int_equal(reef_journal_stats(j).records, 5);
    reef_journal_close(j);
    assert_ok(reef_load(third, "script.journal", NULL));
    assert_valid(third);
    assert_true(reef_hash(other) == reef_hash(third));
    tick(third);
    assert_string_equal(story(), "ub1"); /* no end comes twice */
    assert_int_equal(remove("script.journal"), 0);
}

static void unknown_note(void *context, const reef_load_note *n)
{
    assert_int_equal(n->kind, REEF_NOTE_SCRIPT_UNKNOWN);
    assert_string_equal(n->type, "reef_script");
    *(uint64_t *)context += n->rows;
}

static void late_update(reef_script_run *r) { note(r, 'u', 'l'); }

static void scripts_of_unknown_classes_keep_their_data(void **test)
{
    static const reef_script_class stranger = {"stranger", sizeof(int32_t), a_start, late_update, a_end};
    reef_world *w = begin(test, NULL), *other = resumed(test);
    reef_bytes bytes;
    uint64_t told = 0;
    const reef_load_desc desc = {.note = unknown_note, .context = &told};
    know();
    reef_world *before = reef_fork(w);
    const reef_entity e = reef_create(w), f = reef_create(w), g = reef_create(w);
    assert_ok(reef_script_add(w, e, &stranger, &(int32_t){7}));
    assert_ok(reef_script_add(w, f, &class_a, NULL));
    assert_ok(reef_script_add(w, g, &stranger, NULL));
    tick(w);
    assert_ok(reef_script_remove(w, g));
    written = 0;
    assert_ok(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.raw = true}));
    assert_refused(other, REEF_NOT_PORTABLE, reef_diff_apply(other, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_int_equal(told, 1);
    assert_true(reef_hash(w) == reef_hash(other));
    assert_valid(other);
    assert_null(reef_script_of(other, e));
    assert_int_equal(count_in(other, e), 7);
    assert_refused(other, REEF_EXISTS, reef_script_add(other, e, &class_b, NULL));
    reef_bytes again;
    assert_ok(reef_save_bytes(other, &again, &(reef_save_desc){.sealed = true}));
    tick(other);
    assert_string_equal(story(), "ua1");
    assert_ok(reef_script_know(&stranger)); /* what was kept goes on in a program that knows it */
    assert_ok(reef_load_bytes(other, again.data, again.size, &desc));
    assert_int_equal(told, 1);
    tick(other);
    assert_string_equal(story(), "ea2 ul0 ua1");
    static const reef_script_class second = {"stranger", sizeof(int32_t), NULL, b_update, NULL};
    assert_ok(reef_script_know(&second));
    assert_ok(reef_load_bytes(other, again.data, again.size, &desc));
    assert_ptr_equal(reef_script_of(other, e), &second);
    reef_bytes_free(&bytes);
    reef_bytes_free(&again);
    reef_world_free(before);
}

static void worlds_without_the_system_of_scripts_load_them(void **test)
{
    reef_world *w = begin(test, NULL), *other = another_world(test, NULL);
    reef_bytes bytes;
    know();
    script_scene(w);
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true, .raw = true}));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_valid(other);
    assert_ptr_equal(reef_script_of(other, reef_entity_at(other, 0)), &class_a);
    assert_ok(reef_tick(other, 1));
    assert_string_equal(story(), "");
    reef_bytes_free(&bytes);
}

static void classes_that_cant_be_known_are_refused(void **test)
{
    static char names[REEF_SCRIPT_CLASSES_MAX + 1][24];
    static reef_script_class many[REEF_SCRIPT_CLASSES_MAX + 1];
    static const reef_script_class nameless = {.name = ""}, large = {.name = "large", .size = REEF_SCRIPT_BYTES + 1},
                                   largest = {.name = "a", .size = REEF_SCRIPT_BYTES};
    (void)test;
    know();
    assert_status(REEF_BAD_ARGUMENT, reef_script_know(NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_script_know(&nameless));
    assert_status(REEF_BAD_ARGUMENT, reef_script_know(&large));
    assert_ok(reef_script_know(&largest)); /* instead of the other a */
    know();
    uint32_t known = 0;
    for (uint32_t i = 0; i <= REEF_SCRIPT_CLASSES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "class %u", (unsigned)i);
        many[i] = (reef_script_class){.name = names[i]};
        const reef_status s = reef_script_know(&many[i]);
        assert_true(s == REEF_OK || s == REEF_LIMIT);
        known += s == REEF_OK;
    }
    assert_int_equal(known, REEF_SCRIPT_CLASSES_MAX - 3); /* a, b and stranger */
    assert_ok(reef_script_know(&many[0]));
    know();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(loaded_scripts_go_on),
        TEST(differences_of_worlds_with_scripts_apply),
        TEST(a_journal_of_a_world_with_scripts_is_resumed),
        TEST(scripts_of_unknown_classes_keep_their_data),
        TEST(worlds_without_the_system_of_scripts_load_them),
        TEST(classes_that_cant_be_known_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
