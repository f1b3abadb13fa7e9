/* Random worlds with places: after random operations, rewinds and forks every question is answered as by looking at
 * every entity. */
#include "place_naive.h"
#include <math.h>
#include <stdlib.h>

#ifndef PLACE_ROUNDS
#define PLACE_ROUNDS 400
#endif

static naive_place places[] = {
    {.name = "plain", .axes = 2, .kind = REEF_F32, .cell = 2, .spread = 30},
    {.name = "small_cells", .axes = 2, .kind = REEF_F32, .cell = 0.01, .spread = 30},
    {.name = "one_cell", .axes = 2, .kind = REEF_F32, .cell = 1000, .spread = 30},
    {.name = "far", .axes = 2, .kind = REEF_F32, .cell = 1, .spread = 1e30},
    {.name = "sea", .axes = 2, .kind = REEF_F32, .cell = 3, .spread = 30, .edges = {{0, 32}, {-5, 27.7}}},
    {.name = "sea_one", .axes = 2, .kind = REEF_F32, .cell = 20, .spread = 30, .edges = {{0, 32}, {0, 32}}},
    {.name = "sea_two", .axes = 2, .kind = REEF_F32, .cell = 10, .spread = 20, .edges = {{0, 20}, {0, 25}}},
    {.name = "tube", .axes = 3, .kind = REEF_F32, .cell = 4, .spread = 16, .edges = {{0, 0}, {2, 18}, {0, 0}}},
    {.name = "space", .axes = 3, .kind = REEF_F64, .cell = 4, .spread = 20},
    {.name = "wide_sea", .axes = 2, .kind = REEF_F64, .cell = 4, .spread = 50, .edges = {{0.1, 47.3}, {0, 50}}},
    {.name = "whole", .axes = 2, .kind = REEF_I32, .cell = 4, .spread = 40},
    {.name = "whole_far", .axes = 3, .kind = REEF_I32, .cell = 0.5, .spread = 2e8, .edges = {{0, 0}, {0, 1e8}}},
    {.name = "bodies", .axes = 2, .kind = REEF_F32, .cell = 1, .spread = 40, .bodies = true, .largest = 1},
    {.name = "giants", .axes = 2, .kind = REEF_F32, .cell = 0.5, .spread = 100, .bodies = true, .largest = 60},
    {.name = "balls",
     .axes = 3,
     .kind = REEF_F64,
     .cell = 2,
     .spread = 25,
     .bodies = true,
     .wide_radius = true,
     .largest = 4,
     .body_home = REEF_SPARSE},
    {.name = "sea_bodies",
     .axes = 2,
     .kind = REEF_F32,
     .cell = 2,
     .spread = 30,
     .edges = {{0, 30}, {0, 30}},
     .bodies = true,
     .largest = 9,
     .body_home = REEF_COLD},
    {.name = "sparse", .axes = 2, .kind = REEF_F32, .cell = 2, .spread = 30, .home = REEF_SPARSE},
    {.name = "paged",
     .axes = 3,
     .kind = REEF_F32,
     .cell = 2,
     .spread = 20,
     .home = REEF_PAGED,
     .bodies = true,
     .largest = 2},
    {.name = "cold", .axes = 2, .kind = REEF_F64, .cell = 2, .spread = 30, .home = REEF_COLD},
    {.name = "shared", .axes = 2, .kind = REEF_F32, .cell = 2, .spread = 30, .home = REEF_SHARED},
    {.name = "split",
     .axes = 3,
     .kind = REEF_F32,
     .cell = 2,
     .spread = 20,
     .home = REEF_SPLIT,
     .bodies = true,
     .body_home = REEF_PAGED,
     .largest = 3},
    {.name = "cells",
     .axes = 2,
     .kind = REEF_F32,
     .cell = 2,
     .spread = 30,
     .edges = {{0, 32}, {-4, 28}},
     .whole = true},
    {.name = "cells_walled",
     .axes = 3,
     .kind = REEF_F64,
     .cell = 8,
     .spread = 40,
     .walls = {{0, 32}, {-8, 24}, {8, 24}},
     .whole = true,
     .carries = true,
     .bodies = true,
     .largest = 9},
    {.name = "walled", .axes = 2, .kind = REEF_I32, .cell = 3, .spread = 40, .walls = {{0, 32}, {-7, 24}}},
    {.name = "carries", .axes = 2, .kind = REEF_F32, .cell = 2, .spread = 30, .carries = true},
    {.name = "carries_stored",
     .axes = 2,
     .kind = REEF_F32,
     .cell = 2,
     .spread = 30,
     .home = REEF_SPARSE,
     .body_home = REEF_PAGED,
     .carries = true},
    {.name = "carries_cold",
     .axes = 2,
     .kind = REEF_F32,
     .cell = 0.25,
     .spread = 16,
     .edges = {{0, 16}, {0, 16}},
     .body_home = REEF_COLD,
     .whole = true,
     .carries = true},
};
enum { PLACES = sizeof places / sizeof *places };

static double coordinate(const naive_place *p, uint64_t *seed)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    double x = (double)random_below(seed, 1u << 20) / (1u << 20) * p->spread;
    if (random_below(seed, 4) == 0) x = floor(x);
    if (random_below(seed, 30) == 0) x = x * 5 - 2 * p->spread;
    if (p->kind != REEF_I32 && random_below(seed, 40) == 0) x = odd[random_below(seed, 5)];
    return x;
}

static void entity_place(reef_world *w, const naive_place *p, naive_entity *x, uint64_t *seed)
{
    for (uint32_t a = 0; a < p->axes; a++) x->at[a] = coordinate(p, seed);
    naive_set(w, p, x);
    if (p->carries && random_below(seed, 8)) naive_set_carried(w, p, x, random_below(seed, 1u << 30));
}

static void entity_size(reef_world *w, const naive_place *p, naive_entity *x, uint64_t *seed)
{
    static const double odd[] = {NAN, -1, 0, -0.0};
    double r = (double)random_below(seed, 1000) / 1000;
    r = r * r * r * p->largest;
    x->radius = random_below(seed, 10) == 0 ? odd[random_below(seed, 4)] : r;
    naive_set_radius(w, p, x);
}

static naive_entity *entity_new(reef_world *w, naive_model *m, uint64_t *seed)
{
    uint32_t i = random_below(seed, NAIVE_ENTITIES);
    if (i >= m->count && m->count < NAIVE_ENTITIES) i = m->count++;
    if (i >= m->count || m->entity[i].alive) return NULL;
    m->entity[i] = (naive_entity){.e = reef_create(w), .alive = true};
    return &m->entity[i];
}

static void operate(reef_world *w, const naive_place *p, naive_model *m, uint64_t *seed)
{
    naive_entity *x = m->count ? &m->entity[random_below(seed, m->count)] : NULL;
    const uint32_t what = random_below(seed, 20);
    if (what < 5 || x == NULL) {
        x = entity_new(w, m, seed);
        if (x) entity_place(w, p, x, seed);
        if (x && p->bodies && random_below(seed, 3)) entity_size(w, p, x, seed);
        return;
    }
    if (!x->alive) return;
    if (what < 10) {
        const bool had = x->has;
        entity_place(w, p, x, seed);
        if (!had) x->type_disabled = false;
    } else if (what < 11) {
        assert_ok(reef_destroy(w, x->e));
        x->alive = false;
    } else if (what < 12 && x->has) {
        assert_ok(reef_remove_id(w, x->e, p->type));
        x->has = x->type_disabled = false;
    } else if (what < 13) {
        x->disabled = !x->disabled;
        assert_true(reef_enable_id(w, x->e, (reef_component){0}, !x->disabled) >= 0);
    } else if (what < 14 && x->has) {
        x->type_disabled = !x->type_disabled;
        assert_true(reef_enable_id(w, x->e, p->type, !x->type_disabled) >= 0);
    } else if (what < 16) {
        if (x->tagged) assert_ok(reef_remove(w, x->e, Frozen));
        else assert_ok(reef_add(w, x->e, Frozen));
        x->tagged = !x->tagged;
    } else if (p->bodies && what < 18) {
        entity_size(w, p, x, seed);
    } else if (p->carries && x->carries && what < 17) {
        assert_ok(reef_remove_id(w, x->e, p->carried));
        x->carries = false;
    } else if (p->bodies && x->body && what < 19) {
        assert_ok(reef_remove_id(w, x->e, p->body));
        x->body = false;
    }
}

/* A round: a world that is played, restored, forked, and left for the fork. */
static void round_of(void **state, naive_place *p, uint64_t seed)
{
    static naive_model m, kept;
    reef_world *w = another_world(state, NULL), *left = NULL;
    reef_snapshot *s = NULL;
    memset(&m, 0, sizeof m);
    for (uint32_t step = 0; step < 60; step++) {
        for (uint32_t i = random_below(&seed, 12); i-- > 0;) operate(w, p, &m, &seed);
        if (random_below(&seed, 8) == 0) {
            reef_snapshot_free(s);
            s = reef_snapshot_take(w);
            assert_non_null(s);
            kept = m;
        } else if (s && random_below(&seed, 8) == 0) {
            assert_ok(reef_restore(w, s));
            m = kept;
        } else if (left == NULL && random_below(&seed, 20) == 0) {
            left = w;
            w = reef_fork(w);
            assert_non_null(w);
        }
        if (random_below(&seed, 3)) naive_compare(w, p, &m, &seed);
    }
    reef_snapshot_free(s);
    if (left) reef_world_free(w);
    end_world(state, left ? left : w);
}

static void all_questions(void **state)
{
    for (uint32_t i = 0; i < PLACES; i++) naive_declare(&places[i]);
    const char *wanted = getenv("PLACE_QUERIES"); /* with place terms, among all other questions */
    const uint64_t queries = wanted ? strtoull(wanted, NULL, 10) : 0;
    for (uint32_t round = 0; round < PLACE_ROUNDS || naive_queries < queries; round++)
        round_of(state, &places[round % PLACES], round);
    assert_true(naive_queries > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(all_questions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
