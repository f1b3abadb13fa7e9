/* What if: a state is forked twice, one fork is edited, and both are played side by side. One tick of both is played at
 * each update, on the simulation's thread; between two of them the forks belong to the thread that counts. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

struct whatif {
    json *watches; /* texts of queries */
    json *series;  /* [[tick, [entities, count ...], [entities, count ...]], ...] */
    uint64_t tick, ticks, played;
    bool running, stop;
    char error[REEF_DETAIL_MAX];
};

void inspector_whatif_free(reef_inspector *i)
{
    whatif *x = i->whatif;
    if (x == NULL) return;
    inspector_json_free(x->watches);
    inspector_json_free(x->series);
    free(x);
    i->whatif = NULL;
}

/* ---- playing ---- */

typedef struct pair {
    const moment *from;
    reef_world *world[2]; /* without and with the edits */
    const json *edits;
    float dt;
    char why[REEF_DETAIL_MAX];
} pair;

/* The time step: that of the tick behind the state, if it is recorded, otherwise that of the last tick. */
static float whatif_dt(reef_inspector *i, const moment *from)
{
    moment *next = inspector_moment_hold(i, MOMENT_TICK, from->tick + 1);
    const uint64_t ns = next && next->time_ns >= from->time_ns ? next->time_ns - from->time_ns : i->dt_ns;
    inspector_moment_release(i, next);
    return inspector_dt(ns);
}

/* Makes both forks, and edits one. They are played on this thread, so they keep whom they report to. */
static void pair_begin(reef_inspector *i, void *data)
{
    pair *p = data;
    p->dt = whatif_dt(i, p->from);
    for (int k = 0; k < 2; k++) p->world[k] = reef_snapshot_fork(p->from->snapshot);
    if (p->world[0] == NULL || p->world[1] == NULL) (void)snprintf(p->why, sizeof p->why, "no memory");
    else if (inspector_edits_apply(p->world[1], p->edits, p->why) == inspector_json_size(p->edits)) p->why[0] = 0;
}

static void pair_play(reef_inspector *i, void *data)
{
    pair *p = data;
    for (int k = 0; k < 2 && p->why[0] == 0; k++)
        if (inspector_play(i, p->world[k], p->dt) < 0)
            (void)snprintf(p->why, sizeof p->why, "a tick failed %s the edits", k ? "with" : "without");
}

static void pair_end(reef_inspector *i, void *data)
{
    pair *p = data;
    for (int k = 0; k < 2; k++) {
        moment *m = p->world[k] ? inspector_moment_take(i, p->world[k]) : NULL;
        inspector_moment_put(i, k ? MOMENT_WHATIF_B : MOMENT_WHATIF_A, m);
    }
}

static json *counts_json(reef_world *w, const json *watches)
{
    json *list = inspector_array();
    char why[REEF_DETAIL_MAX];
    inspector_append(list, inspector_json_number(reef_count_alive(w)));
    for (size_t k = 0; k < inspector_json_size(watches); k++) {
        uint64_t n = 0;
        (void)inspector_query_count(w, inspector_text_in(inspector_element(watches, k)), &n, why, sizeof why);
        inspector_append(list, inspector_json_number(n));
    }
    return list;
}

/* False: it is to stop. */
static bool whatif_note(reef_inspector *i, pair *p)
{
    reef_world *fork[2] = {reef_fork(p->world[0]), reef_fork(p->world[1])};
    json *row = inspector_array();
    inspector_append(row, inspector_json_number(reef_tick_count(p->world[0])));
    for (int k = 0; k < 2; k++) {
        if (fork[k]) reef_set_log(fork[k], reef_log_none, NULL);
        inspector_append(row, fork[k] ? counts_json(fork[k], i->whatif->watches) : inspector_null());
        reef_world_free(fork[k]);
    }
    pthread_mutex_lock(&i->lock);
    inspector_append(i->whatif->series, row);
    const bool stop = i->whatif->stop;
    pthread_mutex_unlock(&i->lock);
    return !stop;
}

static void whatif_play(reef_inspector *i, pair *p, uint64_t ticks)
{
    bool on = inspector_order_give(i, pair_begin, p) && p->why[0] == 0 && whatif_note(i, p);
    for (uint64_t n = 0; n < ticks && on; n++) {
        on = inspector_order_give(i, pair_play, p) && p->why[0] == 0 && whatif_note(i, p);
        pthread_mutex_lock(&i->lock);
        i->whatif->played = n + 1;
        pthread_mutex_unlock(&i->lock);
    }
    if (p->why[0] == 0) (void)inspector_order_give(i, pair_end, p);
    reef_world_free(p->world[0]);
    reef_world_free(p->world[1]);
}

/* ---- answers ---- */

json *inspector_answer_whatif(request *r)
{
    json *j = inspector_object();
    pthread_mutex_lock(&r->i->lock);
    const whatif *x = r->i->whatif;
    inspector_put(j, "running", inspector_boolean(x && x->running));
    if (x) {
        inspector_put(j, "tick", inspector_json_number(x->tick));
        inspector_put(j, "ticks", inspector_json_number(x->ticks));
        inspector_put(j, "played", inspector_json_number(x->played));
        inspector_put(j, "watches", inspector_json_copy(x->watches));
        inspector_put(j, "series", inspector_json_copy(x->series));
        inspector_put(j, "error", x->error[0] ? inspector_text(x->error) : inspector_null());
    }
    pthread_mutex_unlock(&r->i->lock);
    return j;
}

/* Takes the place of what was played before. False: one is being played. */
static bool whatif_begin(reef_inspector *i, const json *watches, uint64_t tick, uint64_t ticks)
{
    whatif *x = calloc(1, sizeof *x);
    if (x == NULL) return false;
    *x = (whatif){
        .watches = inspector_array(), .series = inspector_array(), .tick = tick, .ticks = ticks, .running = true};
    for (size_t k = 0; k < inspector_json_size(watches) && k < WATCHES_MAX; k++)
        if (inspector_is_text(inspector_element(watches, k)))
            inspector_append(x->watches, inspector_json_copy(inspector_element(watches, k)));
    pthread_mutex_lock(&i->lock);
    const bool taken = i->whatif && i->whatif->running;
    if (!taken) {
        inspector_whatif_free(i);
        i->whatif = x;
    }
    pthread_mutex_unlock(&i->lock);
    if (!taken) return true;
    inspector_json_free(x->watches);
    inspector_json_free(x->series);
    free(x);
    return false;
}

/* {"at": tick or absent, "ticks": n, "edits": [...], "watches": ["Position", ...]}; {"stop": true} ends it. Answers
 * when all is played. */
json *inspector_answer_whatif_play(request *r)
{
    reef_inspector *i = r->i;
    const json *at = inspector_member(r->body, "at"), *ticks = inspector_member(r->body, "ticks"),
               *edits = inspector_member(r->body, "edits");
    if (inspector_is_true(inspector_member(r->body, "stop"))) {
        pthread_mutex_lock(&i->lock);
        if (i->whatif) i->whatif->stop = true;
        pthread_mutex_unlock(&i->lock);
        return inspector_object();
    }
    const int64_t n = inspector_integer_in(ticks);
    if (!inspector_is_integer(ticks) || n < 1 || n > WHATIF_TICKS_MAX || (edits && !inspector_is_array(edits)))
        return inspector_refuse(r, 400, "expected ticks (1 ... %d) and edits (an array)", WHATIF_TICKS_MAX);
    moment *from = inspector_is_integer(at) ? inspector_moment_hold(i, MOMENT_TICK, (uint64_t)inspector_integer_in(at))
                                            : inspector_moment_hold(i, MOMENT_NOW, 0);
    if (from == NULL) return inspector_refuse(r, 404, "this state isn't kept");
    if (!whatif_begin(i, inspector_member(r->body, "watches"), from->tick, (uint64_t)n)) {
        inspector_moment_release(i, from);
        return inspector_refuse(r, 409, "another one is being played");
    }
    pair p = {.from = from, .edits = edits, .why = "the program doesn't tick"};
    whatif_play(i, &p, (uint64_t)n);
    pthread_mutex_lock(&i->lock);
    i->whatif->running = false;
    (void)snprintf(i->whatif->error, sizeof i->whatif->error, "%s", p.why);
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, from);
    return p.why[0] ? inspector_refuse(r, 409, "%s", p.why) : inspector_answer_whatif(r);
}
