/* The queries that a fork begins with (src/query/inherited_queries.h). */
#include "query/inherited_queries.h"
#include "query/query.h"
#include "storage/serial_list.h"

COLD void reef__query_list_leave(family *f, query_list *l)
{
    if (l == NULL || COUNT_DOWN(&l->holders)) return;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->slot[i].kept) reef__kept_leave(f, l->slot[i].kept);
    reef__memory_free(&f->memory, MEMORY_OTHER, l, sizeof *l + l->count * sizeof *l->slot);
}

static void handed_on_leave(reef_world *w)
{
    reef__query_list_leave(w->family, w->handed_on);
    w->handed_on = NULL;
    w->hands_none_on = false;
}

/* Does the next fork begin with the query in this slot? */
static bool slot_is_handed_on(const struct query_slot *x) { return x->kept || (x->query && x->query->handed_out); }

/* A query of the world becomes one that was not used yet. It is called for one thread at a time, since outside of
 * systems several threads may ask one picture, and in systems all of them. */
static COLD query *query_arrive(reef_world *w, uint32_t index, reef_status *s)
{
    static mutex lock = MUTEX_INIT;
    mutex_lock(&lock);
    struct query_slot *x = &w->queries[index];
    query *q = x->query;
    const bool unused = x->kept != NULL;
    if (unused && (q = reef__query_of_kept(w, index, x->kept)) != NULL) {
        q->kept = x->kept;
        (void)COUNT_UP(&q->kept->holders);
        RELEASE_STORE(&x->query, q);
        RELEASE_STORE(&x->kept, NULL);
    }
    if (unused && q == NULL) *s = REEF_NO_MEMORY;
    mutex_unlock(&lock);
    return q;
}

static COLD bool query_forget(reef_world *w, reef_query which)
{
    struct query_slot *x = query_slot_of(w, which);
    if (x == NULL || x->kept == NULL) return false;
    if (x->kept->since) reef__serial_hand_over(&w->state.runs, x->kept->serial, 0);
    x->kept = NULL;
    if (which.index < w->query_free) w->query_free = which.index;
    handed_on_leave(w);
    return true;
}

static COLD void query_change(query *q)
{
    if (!q->handed_out) return; /* no fork has it */
    handed_on_leave(q->world);
    if (q->kept) reef__kept_leave(q->world->family, q->kept);
    q->kept = NULL;
}

static COLD void inheritance_drop(reef_world *w)
{
    for (uint32_t i = 0; i < w->query_room; i++)
        if (w->queries[i].query) query_change(w->queries[i].query);
    handed_on_leave(w);
    reef__query_list_leave(w->family, w->inherited);
    w->inherited = NULL;
}

static const inheritance_calls inheritance = {query_arrive, query_forget, query_change, inheritance_drop};

static COLD query_list *query_list_make(reef_world *w, uint32_t count)
{
    family *f = w->family;
    query_list *l = reef__memory_zeroed(&f->memory, MEMORY_OTHER, sizeof *l + count * sizeof *l->slot);
    if (l == NULL) return NULL;
    *l = (query_list){1, count};
    for (uint32_t i = 0; i < count; i++) {
        const struct query_slot *x = &w->queries[i];
        if (!slot_is_handed_on(x)) continue;
        if (x->query && x->query->kept == NULL) x->query->kept = reef__query_keep(x->query);
        kept_query *k = x->query ? x->query->kept : x->kept;
        if (k == NULL) return reef__query_list_leave(f, l), NULL;
        l->slot[i] = (struct query_slot){.kept = k, .generation = x->generation, .world = x->world};
        (void)COUNT_UP(&k->holders);
    }
    return l;
}

COLD bool reef__queries_hand_on(reef_world *w, query_list **list)
{
    *list = NULL;
    if (w->handed_on == NULL && !w->hands_none_on) {
        uint32_t count = w->query_room;
        while (count && !slot_is_handed_on(&w->queries[count - 1])) count--;
        w->inheritance = &inheritance;
        w->hands_none_on = count == 0;
        if (count && (w->handed_on = query_list_make(w, count)) == NULL) return false;
    }
    *list = w->handed_on;
    if (w->handed_on) (void)COUNT_UP(&w->handed_on->holders);
    return true;
}

COLD bool reef__queries_inherit(reef_world *w, query_list *list)
{
    if (list == NULL) return true;
    const size_t bytes = list->count * sizeof *w->queries;
    w->queries = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
    if (w->queries == NULL) return false;
    memcpy(w->queries, list->slot, bytes);
    w->query_room = list->count;
    w->inherited = w->handed_on = list;
    w->inheritance = &inheritance;
    (void)COUNT_UP(&list->holders);
    (void)COUNT_UP(&list->holders);
    return true;
}

COLD bool reef__queries_follow(reef_world *fork, reef_world *origin)
{
    query_list *list;
    if (!reef__queries_hand_on(origin, &list)) return false;
    const bool ok = reef__queries_inherit(fork, list);
    reef__query_list_leave(fork->family, list);
    return ok;
}

COLD bool reef__queries_arrive(reef_world *w)
{
    reef_status s;
    for (uint32_t i = 0; i < w->query_room; i++)
        if (w->queries[i].kept && query_arrive(w, i, &s) == NULL) return false;
    return true;
}
