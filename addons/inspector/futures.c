/* Two futures that the program itself has played: recorded ticks as they were, and as a replay has played them again.
 * The states of both are held, so that the page may count in them whatever it is asked for. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

enum { FUTURE_NAME_MAX = 40 };

/* Both states of one tick; NULL: not kept. */
typedef struct future_pair {
    uint64_t tick;
    moment *moment[2];
} future_pair;

struct futures {
    char name[2][FUTURE_NAME_MAX + 1];
    uint32_t count;
    future_pair pair[FUTURES_MAX + 1];
};

static void futures_free(reef_inspector *i, futures *x)
{
    for (uint32_t n = 0; x && n < x->count; n++)
        for (int k = 0; k < 2; k++) inspector_moment_release(i, x->pair[n].moment[k]);
    free(x);
}

/* These are the ones from now on; NULL: there are none. */
static void futures_put(reef_inspector *i, futures *x)
{
    pthread_mutex_lock(&i->lock);
    futures *was = i->futures;
    i->futures = x;
    i->futures_count += x != NULL;
    pthread_mutex_unlock(&i->lock);
    futures_free(i, was);
}

void inspector_futures_drop(reef_inspector *i) { futures_put(i, NULL); }

static moment *moment_of(reef_inspector *i, const reef_snapshot *s)
{
    reef_world *w = s ? reef_snapshot_fork(s) : NULL;
    if (w == NULL) return NULL;
    reef_set_log(w, reef_log_none, NULL);
    moment *m = inspector_moment_take(i, w);
    reef_world_free(w);
    return m;
}

static void pair_add(futures *x, moment *recorded, moment *replayed)
{
    const moment *m = recorded ? recorded : replayed;
    if (m) x->pair[x->count++] = (future_pair){m->tick, {recorded, replayed}};
}

/* The end of a future can be looked at by its name. */
static void end_put(reef_inspector *i, moment_kind kind, moment *m)
{
    pthread_mutex_lock(&i->lock);
    if (m) m->holders++;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_put(i, kind, m);
}

void reef_inspector_replayed(reef_inspector *i, reef_replay *r, const char *was, const char *is)
{
    const reef_history *past = reef_replay_history(r);
    const reef_replay_range range = reef_replay_reach(r);
    futures *x = i && i->world && past && reef_history_world(past) == i->world ? calloc(1, sizeof *x) : NULL;
    if (x == NULL) return;
    (void)snprintf(x->name[0], sizeof x->name[0], "%s", was ? was : "as it was");
    (void)snprintf(x->name[1], sizeof x->name[1], "%s", is ? is : "played again");
    const uint64_t all = range.tick - range.from, step = all / FUTURES_MAX + (all % FUTURES_MAX != 0);
    for (uint64_t t = range.from; t < range.tick; t += step)
        pair_add(x, moment_of(i, reef_history_at(past, t)), moment_of(i, reef_replay_at(r, t)));
    moment *recorded = inspector_moment_take(i, i->world), *replayed = inspector_moment_take(i, reef_replay_world(r));
    pair_add(x, recorded, replayed);
    end_put(i, MOMENT_RECORDED, recorded);
    end_put(i, MOMENT_REPLAYED, replayed);
    futures_put(i, x);
}

/* ---- the answer ---- */

/* The queries of the parameter q, separated by semicolons; an empty one is left out. */
static json *watches_read(const request *r)
{
    char text[TEXT_MAX];
    json *list = inspector_array();
    if (!inspector_parameter(r, "q", text, sizeof text)) return list;
    for (char *at = text; *at && inspector_json_size(list) < WATCHES_MAX;) {
        const size_t size = strcspn(at, ";");
        const bool more = at[size] != 0;
        at[size] = 0;
        at += strspn(at, " ");
        if (*at) inspector_append(list, inspector_text(at));
        at += strlen(at) + more;
    }
    return list;
}

/* [entities, count ...]; null: the state isn't known. A query that can't be asked leaves null, and `why` says why. */
static json *counts_json(const moment *m, const json *watches, char *why, size_t size)
{
    reef_world *w = m ? inspector_moment_fork(m) : NULL;
    if (w == NULL) return inspector_null();
    json *list = inspector_array();
    inspector_append(list, inspector_json_number(reef_count_alive(w)));
    for (size_t k = 0; k < inspector_json_size(watches); k++) {
        uint64_t n = 0;
        const bool good = inspector_query_count(w, inspector_text_in(inspector_element(watches, k)), &n, why, size);
        inspector_append(list, good ? inspector_json_number(n) : inspector_null());
    }
    reef_world_free(w);
    return list;
}

/* Holds what is there, so that a replay may take its place meanwhile. NULL: there is nothing. */
static futures *futures_hold(reef_inspector *i)
{
    futures *x = calloc(1, sizeof *x);
    pthread_mutex_lock(&i->lock);
    const bool there = x && i->futures;
    if (there) *x = *i->futures;
    for (uint32_t n = 0; there && n < x->count; n++)
        for (int k = 0; k < 2; k++)
            if (x->pair[n].moment[k]) x->pair[n].moment[k]->holders++;
    pthread_mutex_unlock(&i->lock);
    if (there) return x;
    free(x);
    return NULL;
}

/* {"names": ["as it was", "played again"], "watches": [...], "series": [[tick, [entities, count ...], [...]], ...]} */
json *inspector_answer_futures(request *r)
{
    char why[REEF_DETAIL_MAX] = "";
    futures *x = futures_hold(r->i);
    if (x == NULL) return inspector_refuse(r, 404, "the program has played nothing again");
    json *watches = watches_read(r), *series = inspector_array(), *names = inspector_array();
    for (int k = 0; k < 2; k++) inspector_append(names, inspector_text(x->name[k]));
    for (uint32_t n = 0; n < x->count; n++) {
        json *row = inspector_array();
        inspector_append(row, inspector_json_number(x->pair[n].tick));
        for (int k = 0; k < 2; k++) inspector_append(row, counts_json(x->pair[n].moment[k], watches, why, sizeof why));
        inspector_append(series, row);
    }
    json *j = inspector_object();
    inspector_put(j, "names", names);
    inspector_put(j, "from", inspector_json_number(x->count ? x->pair[0].tick : 0));
    inspector_put(j, "tick", inspector_json_number(x->count ? x->pair[x->count - 1].tick : 0));
    inspector_put(j, "watches", watches);
    inspector_put(j, "series", series);
    inspector_put(j, "error", why[0] ? inspector_text(why) : inspector_null());
    futures_free(r->i, x);
    return j;
}
