/* reef's row of events: one system sends, another one reads. */
#include "mem.h"
#include "reef_rows.h"

typedef struct Pinch {
    reef_entity who;
    uint32_t damage, number;
} Pinch;
REEF_COMPONENT(Pinch);

static void send_all(reef_block *b)
{
    const state *s = b->context;
    for (uint32_t i = 0; i < s->r->n; i++) reef_send(b, Pinch, .who = {i, 1}, .damage = i & 7, .number = i);
}

static void read_all(reef_block *b)
{
    state *s = b->context;
    uint64_t sum = 0;
    reef_events events = reef_receive(b, Pinch);
    for (const Pinch *h; (h = reef_next_event(&events)) != NULL;)
        sum += (uint64_t)h->who.index * (h->damage + 1) + h->number;
    s->sum = sum;
}

static void event_run(void *p)
{
    state *s = p;
    if (reef_tick(s->w, 0) != REEF_OK || reef_last_error(s->w).operation[0]) bench_fail(s->w, "reef_tick");
}

static void *event_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    const reef_system_desc from = {.name = "send", .function = send_all, .text = "; sends Pinch", .context = s};
    const reef_system_desc to = {.name = "read", .function = read_all, .text = "; receives Pinch", .context = s};
    const bool made =
        !reef_system_is_null(reef_system_new(s->w, &from)) && !reef_system_is_null(reef_system_new(s->w, &to));
    if (!made) bench_fail(s->w, "reef_system_new");
    event_run(s);
    s->sum = 0;
    return s;
}

static uint64_t event_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) sum += (uint64_t)i * ((i & 7) + 1) + i;
    return sum;
}

const row_impl reef_event_rows[] = {
    {ROW_event_rw, event_setup, event_run, sum_run, state_free, event_expected},
    {0},
};
