/* The worlds in which the scenarios of several topics begin. */
#include "oom_topics.h"

void rows(sweep *s, uint32_t n)
{
    assert_ok(reef_spawn_many(s->w, n, s->e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
}

void one_row(sweep *s) { rows(s, 1); }
void eight_rows(sweep *s) { rows(s, 8); }
void full_chunk(sweep *s) { rows(s, 1024); }
void two_chunks(sweep *s) { rows(s, 2048); }
void some_rows(sweep *s) { rows(s, 300); }

void hooked_rows(sweep *s)
{
    for (int i = 0; i < 8; i++)
        s->e[i] = reef_spawn(s->w, reef_with(Tracked, .value = i), reef_with(Loose, .value = i));
}

void full_hooked_chunk(sweep *s)
{
    assert_ok(reef_spawn_many(s->w, 1024, s->e, reef_with(Tracked, .value = 7), reef_with(Mass, 3)));
}

void empties(sweep *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) s->e[i] = reef_create(s->w);
}

void one_empty(sweep *s) { empties(s, 1); }

void with_bits(sweep *s)
{
    rows(s, 100);
    for (int i = 0; i < 100; i += 3) assert_ok(reef_add(s->w, s->e[i], Awake));
}

void with_marks(sweep *s)
{
    rows(s, 100);
    for (int i = 0; i < 100; i += 2) assert_ok(reef_disable(s->w, s->e[i], Mass));
    for (int i = 0; i < 100; i += 3) {
        assert_ok(reef_add(s->w, s->e[i], Awake));
        assert_ok(reef_disable(s->w, s->e[i], Awake));
        assert_ok(reef_disable(s->w, s->e[i]));
    }
}

void with_names(sweep *s)
{
    char name[20];
    rows(s, 200);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(reef_set_name(s->w, s->e[i], name));
    }
}

void with_free_ids(sweep *s)
{
    rows(s, 3000);
    assert_int_equal(reef_destroy_many(s->w, s->e, 2000), 2000);
}

void many_tables(sweep *s)
{
    for (uint32_t i = 0; i < 90; i++) {
        reef_component c = numbered_type("tag", i, 0, 1);
        s->e[i] = reef_spawn_values(s->w, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, NULL}}, 2);
    }
}

void with_everything(sweep *s)
{
    with_names(s);
    for (int i = 0; i < 100; i += 3) assert_ok(reef_add(s->w, s->e[i], Awake));
    for (int i = 0; i < 50; i++) (void)reef_spawn(s->w, reef_with(Tracked, .value = i), reef_with(Loose, .value = i));
    for (int i = 20; i < 60; i++) assert_ok(reef_destroy(s->w, s->e[i]));
    empties(s, 10);
    many_tables(s);
}
