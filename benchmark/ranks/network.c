#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "network.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AHEAD = 64, TAGS = 2 }; /* so many messages between two ranks may be under way; tags differ by their last bit */

/* When message or collective call `number` is done, as far as one rank is concerned. */
typedef struct mark {
    _Atomic uint64_t number, ns;
} mark;

typedef enum wait_kind { WAIT_MESSAGE = 1, WAIT_COLLECTIVE } wait_kind;
typedef struct waiting {
    MPI_Request request;
    wait_kind kind;
    int from, tag;
    uint64_t number, takes_ns;
} waiting;

static struct {
    bool on;
    int rank, size;
    uint64_t latency_ns, rounds; /* rounds: log2(size) */
    double ns_per_byte;
    uint64_t line_free; /* when this rank's line is free */
    MPI_Win window;
    mark *marks; /* of each rank: of messages by receiver and tag, then of collectives */
    uint64_t *sent, *received, collectives;
    waiting *list;
    int count, room;
} net;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t marks_of_rank(void) { return ((size_t)net.size * TAGS + 1) * AHEAD; }

static mark *message_mark(int from, int to, int tag, uint64_t number)
{
    return net.marks + (size_t)from * marks_of_rank() + ((size_t)to * TAGS + (size_t)tag) * AHEAD + number % AHEAD;
}
static mark *collective_mark(int rank, uint64_t number)
{
    return net.marks + ((size_t)rank + 1) * marks_of_rank() - AHEAD + number % AHEAD;
}

static void mark_set(mark *m, uint64_t number, uint64_t ns)
{
    atomic_store(&m->ns, ns);
    atomic_store(&m->number, number);
}

bool network_begin(double latency_us, double megabytes_per_s)
{
    MPI_Comm here;
    int on_machine, unit;
    MPI_Aint bytes;
    mark *own;
    if (latency_us <= 0 && megabytes_per_s <= 0) return true;
    MPI_Comm_rank(MPI_COMM_WORLD, &net.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &net.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &on_machine);
    if (on_machine != net.size) return false;
    const size_t count = net.rank == 0 ? marks_of_rank() * (size_t)net.size : 0;
    MPI_Win_allocate_shared((MPI_Aint)(count * sizeof(mark)), sizeof(mark), MPI_INFO_NULL, here, &own, &net.window);
    MPI_Win_shared_query(net.window, 0, &bytes, &unit, &net.marks);
    if (net.rank == 0) memset((void *)net.marks, 0, count * sizeof(mark));
    MPI_Comm_free(&here);
    net.sent = calloc((size_t)net.size * TAGS * 2, sizeof *net.sent);
    if (net.sent == NULL) return false;
    net.received = net.sent + (size_t)net.size * TAGS;
    net.latency_ns = (uint64_t)(latency_us * 1e3);
    net.ns_per_byte = megabytes_per_s > 0 ? 1e3 / megabytes_per_s : 0;
    while ((1 << net.rounds) < net.size) net.rounds++;
    net.collectives = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    net.on = true;
    return true;
}

void network_end(void)
{
    free(net.sent);
    free(net.list);
    if (net.on) MPI_Win_free(&net.window);
    net.on = false;
}

unsigned long network_collectives(void) { return net.collectives; }

/* ---- what is waited for ---- */

static void wait_add(waiting w)
{
    if (net.count == net.room) {
        net.room = net.room ? 2 * net.room : 64;
        net.list = realloc(net.list, (size_t)net.room * sizeof *net.list);
        if (net.list == NULL) abort();
    }
    net.list[net.count++] = w;
}

static int wait_find(MPI_Request q)
{
    for (int i = 0; i < net.count; i++)
        if (net.list[i].request == q) return i;
    return -1;
}

/* Has the network done it? */
static bool is_done(const waiting *w)
{
    uint64_t last = 0;
    for (int i = 0; i < (w->kind == WAIT_COLLECTIVE ? net.size : 1); i++) {
        mark *m = w->kind == WAIT_COLLECTIVE ? collective_mark(i, w->number)
                                             : message_mark(w->from, net.rank, w->tag, w->number);
        if (atomic_load(&m->number) != w->number) return false;
        const uint64_t ns = atomic_load(&m->ns);
        if (ns > last) last = ns;
    }
    return now_ns() >= last + w->takes_ns;
}

/* While this rank is held back, MPI must go on: others may wait for what it does in the background. */
static void mpi_progress(void)
{
    int there;
    PMPI_Iprobe(0, 0, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
}

int MPI_Testall(int n, MPI_Request *requests, int *done, MPI_Status *statuses)
{
    *done = 0;
    for (int i = 0; net.on && i < n; i++) {
        int completed;
        const int code = PMPI_Request_get_status(requests[i], &completed, MPI_STATUS_IGNORE),
                  at = wait_find(requests[i]);
        if (code != MPI_SUCCESS || !completed) return code;
        if (at >= 0 && !is_done(&net.list[at])) return mpi_progress(), MPI_SUCCESS;
    }
    for (int i = 0; i < n; i++) {
        const int at = net.on ? wait_find(requests[i]) : -1;
        if (at >= 0) net.list[at] = net.list[--net.count];
    }
    return PMPI_Testall(n, requests, done, statuses);
}

/* ---- messages ---- */

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (net.on) {
        const uint64_t now = now_ns(), from = net.line_free > now ? net.line_free : now;
        const uint64_t number = ++net.sent[to * TAGS + (tag & 1)];
        net.line_free = from + (uint64_t)(count * net.ns_per_byte);
        mark_set(message_mark(net.rank, to, tag & 1, number), number, net.line_free + net.latency_ns);
    }
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    const int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (net.on) wait_add((waiting){*request, WAIT_MESSAGE, from, tag & 1, ++net.received[from * TAGS + (tag & 1)], 0});
    return code;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *there, MPI_Message *message, MPI_Status *status)
{
    if (net.on) {
        const waiting w = {
            .kind = WAIT_MESSAGE, .from = from, .tag = tag & 1, .number = net.received[from * TAGS + (tag & 1)] + 1};
        if (!is_done(&w)) return *there = 0, mpi_progress(), MPI_SUCCESS;
    }
    const int code = PMPI_Improbe(from, tag, comm, there, message, status);
    if (net.on && *there) net.received[from * TAGS + (tag & 1)]++;
    return code;
}

/* ---- collective calls ---- */

static int collective(int code, MPI_Request request, double bytes)
{
    const uint64_t number = ++net.collectives;
    if (!net.on) return code;
    mark_set(collective_mark(net.rank, number), number, now_ns());
    wait_add((waiting){.request = request,
                       .kind = WAIT_COLLECTIVE,
                       .number = number,
                       .takes_ns = net.rounds * net.latency_ns + (uint64_t)(bytes * net.ns_per_byte)});
    return code;
}

int MPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const int code = PMPI_Iallreduce(in, out, n, type, op, comm, request);
    return collective(code, *request, 8.0 * n * (double)net.rounds);
}

int MPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type, MPI_Comm comm,
                   MPI_Request *request)
{
    const int code = PMPI_Iallgather(in, n, type, out, m, out_type, comm, request);
    return collective(code, *request, 4.0 * m * net.size);
}

int MPI_Iallgatherv(const void *in, int n, MPI_Datatype type, void *out, const int *counts, const int *at,
                    MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    const int code = PMPI_Iallgatherv(in, n, type, out, counts, at, out_type, comm, request);
    return collective(code, *request, net.on ? at[net.size - 1] + counts[net.size - 1] : 0);
}

int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type, MPI_Comm comm,
                  MPI_Request *request)
{
    const int code = PMPI_Ialltoall(in, n, type, out, m, out_type, comm, request);
    return collective(code, *request, 4.0 * net.size * (double)net.rounds);
}
