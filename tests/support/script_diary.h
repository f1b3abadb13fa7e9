/* Scripts that record which functions were called: for the suites of scripts. */
#ifndef REEF_TESTS_SCRIPT_DIARY_H
#define REEF_TESTS_SCRIPT_DIARY_H

#include "support.h"

typedef struct entry {
    char what; /* s, u, e */
    char name;
    reef_entity entity;
    int32_t count;
    bool block;
} entry;

static entry diary[1000];
static uint32_t written;

static inline void note(const reef_script_run *r, char what, char name)
{
    assert_true(written < 1000);
    diary[written++] = (entry){what, name, r->entity, r->data ? *(int32_t *)r->data : -1, r->block != NULL};
}

static inline uint32_t count_of(char what)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < written; i++) n += diary[i].what == what;
    return n;
}

/* The calls since the last time: "s0 u0 u1" with indices. */
static inline const char *story(void)
{
    static char text[4000];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < written; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%c%c%u", i ? " " : "", diary[i].what, diary[i].name,
                               (unsigned)diary[i].entity.index);
    written = 0;
    return text;
}

static inline void a_start(reef_script_run *r) { note(r, 's', 'a'); }
static inline void a_update(reef_script_run *r)
{
    ++*(int32_t *)r->data;
    note(r, 'u', 'a');
}
static inline void a_end(reef_script_run *r) { note(r, 'e', 'a'); }
static const reef_script_class class_a = {"a", sizeof(int32_t), a_start, a_update, a_end};

static inline void b_start(reef_script_run *r) { note(r, 's', 'b'); }
static inline void b_update(reef_script_run *r) { note(r, 'u', 'b'); }
static inline void b_end(reef_script_run *r) { note(r, 'e', 'b'); }
static const reef_script_class class_b = {"b", 8, b_start, b_update, b_end};

static inline reef_world *begin(void **test, const char *touches)
{
    reef_world *w = world_of(test);
    written = 0;
    assert_false(reef_system_is_null(reef_scripts(w, NULL, touches)));
    return w;
}

static inline void tick(reef_world *w) { assert_ok(reef_tick(w, 0.5f)); }

static inline int32_t count_in(const reef_world *w, reef_entity e)
{
    const int32_t *n = reef_script_data(w, e);
    return n ? *n : -1;
}

#endif
