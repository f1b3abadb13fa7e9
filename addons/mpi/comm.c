/* MPI: every wait has a bound, so that a rank that is gone ends the run instead of hanging it. Only nonblocking calls
 * of MPI 3 are used. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { TAG_EXCHANGE = 7272, TAG_NEAR };

/* ---- bytes ---- */

bool ranks__room(void *array, uint32_t *room, size_t count, size_t size)
{
    void **a = array;
    if (count <= *room) return true;
    size_t n = *room ? (size_t)*room * 2 : 16;
    while (n < count) n *= 2;
    void *p = n <= UINT32_MAX ? realloc(*a, n * size) : NULL;
    if (p == NULL) return false;
    *a = p;
    *room = (uint32_t)n;
    return true;
}

static bool bytes_room(bytes *b, size_t count)
{
    if (b->failed) return false;
    if (b->count + count <= b->room) return true;
    size_t n = b->room ? b->room * 2 : 256;
    while (n < b->count + count) n *= 2;
    unsigned char *p = realloc(b->data, n);
    if (p == NULL) return b->failed = true, false;
    b->data = p;
    b->room = n;
    return true;
}

void ranks__put(bytes *b, const void *from, size_t count)
{
    if (count == 0 || !bytes_room(b, count)) return;
    memcpy(b->data + b->count, from, count);
    b->count += count;
}
void ranks__put_u32(bytes *b, uint32_t x) { ranks__put(b, &x, sizeof x); }
void ranks__put_u64(bytes *b, uint64_t x) { ranks__put(b, &x, sizeof x); }
void ranks__put_entity(bytes *b, reef_entity e) { ranks__put(b, &e, sizeof e); }

const unsigned char *ranks__take(bytes *b, size_t count)
{
    if (b->failed || b->count - b->at < count) return b->failed = true, NULL;
    b->at += count;
    return b->data + b->at - count;
}
uint32_t ranks__take_u32(bytes *b)
{
    uint32_t x = 0;
    const unsigned char *p = ranks__take(b, sizeof x);
    if (p) memcpy(&x, p, sizeof x);
    return x;
}
uint64_t ranks__take_u64(bytes *b)
{
    uint64_t x = 0;
    const unsigned char *p = ranks__take(b, sizeof x);
    if (p) memcpy(&x, p, sizeof x);
    return x;
}
reef_entity ranks__take_entity(bytes *b)
{
    reef_entity e = {0, 0};
    const unsigned char *p = ranks__take(b, sizeof e);
    if (p) memcpy(&e, p, sizeof e);
    return e;
}
void ranks__bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){0};
}

/* ---- failures ---- */

reef_status ranks__fail(reef_ranks *r, reef_status s, const char *format, ...)
{
    va_list list;
    if (r->reason[0]) return s; /* the first one counts */
    va_start(list, format);
    vsnprintf(r->reason, sizeof r->reason, format, list);
    va_end(list);
    return s;
}

static void end_run(const reef_ranks *r, const char *what, const char *why)
{
    fprintf(stderr, "reef: rank %d of %d ends the run: %s: %s\n", r->rank, r->size, what, why);
    fflush(stderr);
    MPI_Abort(r->comm, 3);
    abort();
}

void ranks__must(reef_ranks *r, int code, const char *what)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, why, &n);
    end_run(r, what, why);
}

/* ---- waiting ---- */

/* The bound of a wait: looks often at first, then sleeps between two looks. */
typedef struct patience {
    double began;
    uint32_t looks;
} patience;

static void be_patient(const reef_ranks *r, patience *p, const char *what)
{
    char why[96];
    if (p->looks == 0) p->began = MPI_Wtime();
    if (++p->looks < 1000) return;
    const struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
    const uint32_t most = r->config.timeout_ms ? r->config.timeout_ms : 60000;
    if ((MPI_Wtime() - p->began) * 1000 < most) return;
    snprintf(why, sizeof why, "another rank hasn't answered for %u ms", most);
    end_run(r, what, why);
}

void ranks__wait(reef_ranks *r, int n, MPI_Request *requests, const char *what)
{
    patience p = {0, 0};
    const double began = MPI_Wtime();
    for (int done = 0; !done;) {
        ranks__must(r, MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE), what);
        if (!done) be_patient(r, &p, what);
    }
    r->stats.seconds_waiting += MPI_Wtime() - began;
}

void ranks__reduce(reef_ranks *r, void *values, int n, MPI_Datatype type, MPI_Op op)
{
    MPI_Request q;
    if (r->size == 1) return;
    ranks__must(r, MPI_Iallreduce(MPI_IN_PLACE, values, n, type, op, r->comm, &q), "adding up");
    ranks__wait(r, 1, &q, "adding up");
}

static reef_status agreed(reef_ranks *r, reef_status own, reef_status worst)
{
    if (worst < 0 && own >= 0) ranks__fail(r, worst, "%s on another rank", reef_status_text(worst));
    return worst;
}

reef_status ranks__agree_on(reef_ranks *r, reef_status s, int64_t *most)
{
    int64_t both[2] = {s < 0 ? s : 0, -*most};
    ranks__reduce(r, both, 2, MPI_INT64_T, MPI_MIN);
    *most = -both[1];
    return agreed(r, s, (reef_status)both[0]);
}

reef_status ranks__agree(reef_ranks *r, reef_status s)
{
    int64_t nothing = 0;
    return ranks__agree_on(r, s, &nothing);
}

/* ---- travelling bytes ---- */

static int as_count(reef_ranks *r, size_t n)
{
    if (n > INT32_MAX) end_run(r, "sending", "more than 2 GiB for one rank at once");
    return (int)n;
}

void ranks__gather(reef_ranks *r, const bytes *mine, bytes *all)
{
    MPI_Request q;
    int *count = calloc((size_t)r->size * 2, sizeof *count), sum = 0;
    const int own = as_count(r, mine->count);
    if (count == NULL) end_run(r, "gathering", "no memory"); /* the others would wait for this rank */
    int *at = count + r->size;
    ranks__must(r, MPI_Iallgather(&own, 1, MPI_INT, count, 1, MPI_INT, r->comm, &q), "gathering");
    ranks__wait(r, 1, &q, "gathering");
    for (int i = 0; i < r->size; i++) {
        at[i] = sum;
        sum = as_count(r, (size_t)sum + (size_t)count[i]);
    }
    all->count = 0;
    if (!bytes_room(all, (size_t)sum + 1)) end_run(r, "gathering", "no memory");
    ranks__must(r, MPI_Iallgatherv(mine->data, own, MPI_BYTE, all->data, count, at, MPI_BYTE, r->comm, &q),
                "gathering");
    ranks__wait(r, 1, &q, "gathering");
    all->count = (size_t)sum;
    all->at = 0;
    free(count);
}

static void send(reef_ranks *r, const bytes *out, int to, int tag, MPI_Request *q)
{
    r->stats.sends++;
    r->stats.bytes_sent += out->count;
    ranks__must(r, MPI_Isend(out->data, as_count(r, out->count), MPI_BYTE, to, tag, r->comm, q), "sending");
}

/* What a rank that failed says instead of a number of bytes: its status is in the lower bits. */
static const uint64_t says_failed = UINT64_C(1) << 63;

/* Tells every rank how much it gets. The answer is the worst status of all ranks, which costs no call of its own. */
static reef_status sizes_exchange(reef_ranks *r, reef_status s, const bytes *out, uint64_t *size)
{
    const size_t n = (size_t)r->size;
    int32_t worst = s < 0 ? s : 0;
    MPI_Request q;
    for (size_t i = 0; i < n; i++) size[i] = s < 0 ? says_failed | (uint32_t)-s : out[i].count;
    ranks__must(r, MPI_Ialltoall(size, 1, MPI_UINT64_T, size + n, 1, MPI_UINT64_T, r->comm, &q), "exchanging");
    ranks__wait(r, 1, &q, "exchanging");
    for (size_t i = n; i < 2 * n; i++)
        if (size[i] & says_failed && -(int32_t)(uint32_t)size[i] < worst) worst = -(int32_t)(uint32_t)size[i];
    return agreed(r, s, (reef_status)worst);
}

reef_status ranks__exchange(reef_ranks *r, reef_status s, const bytes *out, bytes *in)
{
    const size_t n = (size_t)r->size;
    if (n == 1) return s;
    uint64_t *size = calloc(2 * n, sizeof *size);
    MPI_Request *q = malloc(2 * n * sizeof(MPI_Request));
    int k = 0;
    if (size == NULL || q == NULL) end_run(r, "exchanging", "no memory"); /* the others would wait for this rank */
    s = sizes_exchange(r, s, out, size);
    for (int i = 0; s >= 0 && i < r->size; i++) {
        const size_t bytes_in = (size_t)size[n + (size_t)i];
        in[i].count = in[i].at = 0;
        if (bytes_in == 0) continue;
        if (!bytes_room(&in[i], bytes_in)) end_run(r, "exchanging", "no memory");
        in[i].count = bytes_in;
        r->stats.bytes_received += bytes_in;
        ranks__must(r, MPI_Irecv(in[i].data, as_count(r, bytes_in), MPI_BYTE, i, TAG_EXCHANGE, r->comm, &q[k++]),
                    "exchanging");
    }
    for (int i = 0; s >= 0 && i < r->size; i++)
        if (out[i].count) send(r, &out[i], i, TAG_EXCHANGE, &q[k++]);
    ranks__wait(r, k, q, "exchanging");
    free(size);
    free(q);
    return s;
}

void ranks__near_send(reef_ranks *r, const bytes *out, MPI_Request *q)
{
    for (uint32_t i = 0; i < r->neighbour_count; i++) send(r, &out[i], r->neighbours[i].rank, TAG_NEAR, &q[i]);
}

/* Begins to receive what a neighbour has sent, whose size only the message says. */
static void near_begin(reef_ranks *r, int from, bytes *in, MPI_Request *q)
{
    const double began = MPI_Wtime();
    patience p = {0, 0};
    MPI_Message m;
    MPI_Status status;
    int there = 0, got = 0;
    while (!there) {
        ranks__must(r, MPI_Improbe(from, TAG_NEAR, r->comm, &there, &m, &status), "waiting for ghosts");
        if (!there) be_patient(r, &p, "waiting for ghosts");
    }
    ranks__must(r, MPI_Get_count(&status, MPI_BYTE, &got), "waiting for ghosts");
    in->count = in->at = 0;
    if (!bytes_room(in, (size_t)got + 1)) end_run(r, "waiting for ghosts", "no memory");
    in->count = (size_t)got;
    r->stats.bytes_received += (uint64_t)got;
    ranks__must(r, MPI_Imrecv(in->data, got, MPI_BYTE, &m, q), "receiving ghosts");
    r->stats.seconds_waiting += MPI_Wtime() - began;
}

void ranks__near_receive(reef_ranks *r, bytes *in, MPI_Request *q)
{
    const uint32_t n = r->neighbour_count;
    for (uint32_t i = 0; i < n; i++) near_begin(r, r->neighbours[i].rank, &in[i], &q[n + i]);
    ranks__wait(r, 2 * (int)n, q, "exchanging ghosts");
}
