/* The simulated network: for each address a heap of the datagrams on their way, by time of arrival, then by number. */
#include "reef_net_sim.h"
#include "net.h"

enum { ENDS = REEF_NET_SIM_ENDS_MAX, QUEUE_MAX = 1 << 14 };

typedef struct datagram {
    uint64_t at, number, from;
    size_t count;
    unsigned char bytes[REEF_NET_DATAGRAM_MAX];
} datagram;

typedef struct end {
    reef_net_sim *sim;
    uint64_t address;
    datagram **heap;
    uint32_t count, room;
    bool cut[ENDS + 1]; /* the way to this address */
} end;

struct reef_net_sim {
    reef_allocator allocator;
    reef_net_line line;
    uint64_t now, seed, number;
    end ends[ENDS + 1];
};

static uint64_t draw(reef_net_sim *sim)
{
    uint64_t z = sim->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool before(const datagram *a, const datagram *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static bool room(end *e)
{
    const reef_allocator *a = &e->sim->allocator;
    const uint32_t size = e->room ? e->room * 2 : 64;
    if (e->count < e->room) return true;
    if (e->count >= QUEUE_MAX) return false;
    void *heap = a->resize(a->context, e->heap, e->room * sizeof *e->heap, size * sizeof *e->heap, 16);
    if (heap == NULL) return false;
    e->heap = heap;
    e->room = size;
    return true;
}

static void push(end *to, uint64_t from, const void *bytes, size_t count)
{
    reef_net_sim *sim = to->sim;
    const reef_allocator *a = &sim->allocator;
    datagram *d = room(to) ? a->resize(a->context, NULL, 0, sizeof *d, 16) : NULL;
    if (d == NULL) return; /* lost */
    d->at = sim->now + sim->line.latency_ns + (sim->line.jitter_ns ? draw(sim) % sim->line.jitter_ns : 0);
    d->number = sim->number++;
    d->from = from;
    d->count = count;
    memcpy(d->bytes, bytes, count);
    uint32_t k = to->count++;
    for (; k > 0 && before(d, to->heap[(k - 1) / 2]); k = (k - 1) / 2) to->heap[k] = to->heap[(k - 1) / 2];
    to->heap[k] = d;
}

static datagram *pop(end *e)
{
    datagram *first = e->heap[0], *last = e->heap[--e->count];
    uint32_t k = 0;
    for (;;) {
        uint32_t next = 2 * k + 1;
        if (next >= e->count) break;
        if (next + 1 < e->count && before(e->heap[next + 1], e->heap[next])) next++;
        if (!before(e->heap[next], last)) break;
        e->heap[k] = e->heap[next];
        k = next;
    }
    e->heap[k] = last;
    return first;
}

static void datagram_free(reef_net_sim *sim, datagram *d)
{
    (void)sim->allocator.resize(sim->allocator.context, d, sizeof *d, 0, 16);
}

static void sim_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    end *e = context;
    reef_net_sim *sim = e->sim;
    if (to == 0 || to > ENDS || count > REEF_NET_DATAGRAM_MAX || e->cut[to]) return;
    if (draw(sim) % 1000 < sim->line.loss) return;
    push(&sim->ends[to], e->address, bytes, count);
    if (draw(sim) % 1000 < sim->line.twice) push(&sim->ends[to], e->address, bytes, count);
}

static bool sim_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    end *e = context;
    if (e->count == 0 || e->heap[0]->at > e->sim->now) return false;
    datagram *d = pop(e);
    *from = d->from;
    *count = d->count;
    memcpy(bytes, d->bytes, d->count);
    datagram_free(e->sim, d);
    return true;
}

reef_net_sim *reef_net_sim_new(uint64_t seed, const reef_net_line *line, const reef_allocator *allocator)
{
    const reef_allocator none = {0}, a = net__allocator(allocator ? allocator : &none);
    reef_net_sim *sim = a.resize(a.context, NULL, 0, sizeof *sim, 16);
    if (sim == NULL) return NULL;
    memset(sim, 0, sizeof *sim);
    sim->allocator = a;
    sim->seed = seed;
    if (line) sim->line = *line;
    for (uint32_t i = 1; i <= ENDS; i++) {
        sim->ends[i].sim = sim;
        sim->ends[i].address = i;
    }
    return sim;
}

void reef_net_sim_drop(reef_net_sim *sim, uint64_t address)
{
    if (sim == NULL || address == 0 || address > ENDS) return;
    end *e = &sim->ends[address];
    while (e->count) datagram_free(sim, e->heap[--e->count]);
}

void reef_net_sim_free(reef_net_sim *sim)
{
    if (sim == NULL) return;
    const reef_allocator a = sim->allocator;
    for (uint32_t i = 1; i <= ENDS; i++) {
        reef_net_sim_drop(sim, i);
        if (sim->ends[i].heap)
            (void)a.resize(a.context, sim->ends[i].heap, sim->ends[i].room * sizeof(datagram *), 0, 16);
    }
    (void)a.resize(a.context, sim, sizeof *sim, 0, 16);
}

reef_net_transport reef_net_sim_transport(reef_net_sim *sim, uint64_t address)
{
    if (sim == NULL || address == 0 || address > ENDS) return (reef_net_transport){0};
    return (reef_net_transport){sim_send, sim_receive, &sim->ends[address]};
}

void reef_net_sim_time(reef_net_sim *sim, uint64_t now_ns)
{
    if (sim && now_ns > sim->now) sim->now = now_ns;
}

void reef_net_sim_line(reef_net_sim *sim, const reef_net_line *line)
{
    if (sim && line) sim->line = *line;
}

void reef_net_sim_cut(reef_net_sim *sim, uint64_t from, uint64_t to, bool cut)
{
    if (sim && from && from <= ENDS && to && to <= ENDS) sim->ends[from].cut[to] = cut;
}
