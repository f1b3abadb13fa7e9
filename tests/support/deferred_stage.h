/* The common fixture of the suites about deferred changes: a world with two entities, and a loop that records, at its
 * first block. */
#ifndef DEFERRED_STAGE_H
#define DEFERRED_STAGE_H

#include "support.h"

static const reef_loop deferred = {.deferred = true};

/* A loop over everything that has a position, which is at its first block. */
static reef_block begin_at(reef_world *w, reef_query q)
{
    reef_block b = reef_begin_loop(w, q, &deferred);
    assert_true(b.loop.open);
    return b;
}

typedef struct stage {
    reef_world *w;
    reef_query all, mass; /* Position; Mass */
    reef_block loop;
    reef_entity e, f; /* both with a position; e has a mass of 5 as well */
} stage;

static stage stage_make(void **state)
{
    stage s = {.w = world_of(state)};
    s.e = reef_spawn(s.w, reef_with(Position, 1, 2), reef_with(Mass, 5));
    s.f = reef_spawn(s.w, reef_with(Position, 3, 4));
    s.all = reef_query_new(s.w, "in Position");
    s.mass = reef_query_new(s.w, "in Mass");
    s.loop = begin_at(s.w, s.all);
    return s;
}

static void stage_end(stage *s)
{
    reef_end(&s->loop);
    assert_valid(s->w);
}

static double mass_of(const reef_world *w, reef_entity e)
{
    const Mass *m = reef_get(w, e, Mass);
    return m ? m->kg : -1;
}

static reef_status after_loop(stage *s)
{
    stage_end(s);
    return reef_last_error(s->w).status;
}

#endif
