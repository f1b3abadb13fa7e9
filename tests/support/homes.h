/* All homes of values, a type in each, and entities that have some of it: for the suites that go through the homes. */
#ifndef REEF_TESTS_HOMES_H
#define REEF_TESTS_HOMES_H

#include "support.h"

static const struct home {
    const char *name;
    reef_home home;
    uint32_t page_rows;
} homes[] = {{"table", REEF_TABLE, 0},      {"sparse", REEF_SPARSE, 0}, {"pages_of_1", REEF_PAGED, 1},
             {"pages_of_4", REEF_PAGED, 4}, {"paged", REEF_PAGED, 0},   {"one_page", REEF_PAGED, REEF_PAGE_ROWS_MAX},
             {"cold", REEF_COLD, 0}};
enum { HOMES = sizeof homes / sizeof *homes, SPARSE_HOME = 1, FOUR_HOME = 3 };

static inline reef_component type_sized(uint32_t h, const char *what, uint32_t size, uint32_t align,
                                        const reef_hooks *hooks)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", what, homes[h].name);
    reef_status status = REEF_OK;
    const reef_type_desc d = {.name = name,
                              .size = size,
                              .align = align,
                              .home = homes[h].home,
                              .hooks = hooks,
                              .page_rows = homes[h].page_rows};
    reef_component c = reef_type_new(&d, &status);
    assert_status(REEF_OK, status);
    return c;
}
static inline reef_component plain_in(uint32_t h) { return type_sized(h, "Plain", 8, 4, NULL); }

static inline int32_t number_of(const reef_world *w, reef_entity e, reef_component c)
{
    const int32_t *p = reef_get_id(w, e, c);
    assert_non_null(p);
    return *p;
}

static inline void number_set(reef_world *w, reef_entity e, reef_component c, int32_t number)
{
    int32_t *p = reef_mut_id(w, e, c);
    assert_non_null(p);
    *p = number;
}

/* n entities, every second of them with {i, 7}. */
static inline void people_make(reef_world *w, reef_entity *e, uint32_t n, reef_component c)
{
    for (uint32_t i = 0; i < n; i++) {
        const int32_t value[2] = {(int32_t)i, 7};
        e[i] = reef_spawn(w, reef_with(Mass, i));
        if (i % 2 == 0) assert_status(REEF_ADDED, reef_set_id(w, e[i], c, value, sizeof value));
    }
}

#endif
