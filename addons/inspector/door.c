/* The door: the sockets of the inspector, and who gets past them.
 *
 *   connect ──► stranger: one of 256 ──► head is whole ──► judged ──► refused, or a file of the page ──► answered
 *                                                            │
 *                                                   shows the token: a guest, one of 64
 *                                                            │
 *                                                  body is whole ──► queue ──► a worker answers
 *
 * One thread, the door's, has the strangers and reads. It never waits for one of them. When all their places are taken,
 * the stranger that has been there longest has to leave: so whoever says at once what he wants is heard, however many
 * others say nothing, or a byte now and then. What strangers send behind a head that is refused isn't read. Guests have
 * places and workers that strangers can't take. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "door.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

enum {
    HEAD_MAX = 8 << 10,
    STRANGERS_MAX = 256,
    GUESTS_MAX = 64,
    PLACES = STRANGERS_MAX + GUESTS_MAX,
    WORKERS = STREAMS_MAX + 16, /* however many streams are open, requests are answered */
    PATIENCE_S = 5,             /* for a whole head, a whole body, and for what is sent to be taken */
    COME_IN_AT_ONCE = 64        /* connections that are taken in between two looks at the others */
};
static const uint64_t second_ns = 1000000000;

#if !defined(MSG_NOSIGNAL) /* there the socket has an option */
#define MSG_NOSIGNAL 0
#endif

typedef enum stage {
    READS_HEAD,   /* a stranger */
    SENDS_ANSWER, /* a stranger that gets a refusal, or a file of the page */
    LINGERS, /* a stranger that has its answer: it closes, so that nothing that it still sends breaks the answer off */
    READS_BODY /* a guest */
} stage;

struct connection {
    connection *next; /* in the queue */
    int socket;
    stage stage;
    uint64_t until_ns, number; /* number: in the order in which they came */
    request_head head;         /* its texts are in `text` */
    const void *answerer;
    char *body;
    size_t body_size, body_got;
    const char *file; /* what is sent behind the text */
    size_t file_size;
    size_t size, sent;       /* of the text: read so far; of text and file: sent so far */
    char text[HEAD_MAX + 1]; /* the head, then the head of the answer */
};

struct door {
    reef_inspector *inspector;
    door_calls calls;
    int listener, wake[2];
    locale_t plain; /* numbers and letters of the server's threads don't depend on the program's locale */
    pthread_t thread, workers[WORKERS];
    unsigned worker_count;

    /* of the door's thread */
    connection *place[PLACES]; /* without gaps, in no order */
    unsigned count, strangers;
    uint64_t numbered;
    bool full; /* the process has no more files, so nobody is taken in until somebody leaves */

    pthread_mutex_t lock;
    pthread_cond_t filled;
    /* guarded by the lock */
    connection *queue, **queue_end, *served[WORKERS];
    unsigned guests;
    bool ending;
};

const request_head *inspector_connection_head(const connection *c) { return &c->head; }
const void *inspector_connection_answerer(const connection *c) { return c->answerer; }
const char *inspector_connection_body(const connection *c, size_t *size)
{
    *size = c->body_size;
    return c->body;
}

static void connection_free(connection *c)
{
    (void)close(c->socket);
    free(c->body);
    free(c);
}

static void guest_leaves(door *d)
{
    pthread_mutex_lock(&d->lock);
    d->guests--;
    pthread_mutex_unlock(&d->lock);
}

/* ---- guests: workers ---- */

bool inspector_send(connection *c, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        const ssize_t n = send(c->socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Closes in a way that the answer arrives: a system that throws unread bytes away may break it off. */
static void guest_free(connection *c)
{
    char rest[4096];
    (void)shutdown(c->socket, SHUT_WR);
    for (int k = 0; k < 16 && recv(c->socket, rest, sizeof rest, MSG_DONTWAIT) > 0; k++) continue;
    connection_free(c);
}

/* Waits for a guest, and serves it in place k. NULL: the end. */
static connection *guest_take(door *d, unsigned k)
{
    pthread_mutex_lock(&d->lock);
    while (d->queue == NULL && !d->ending) (void)pthread_cond_wait(&d->filled, &d->lock);
    connection *c = d->ending ? NULL : d->queue;
    d->served[k] = c;
    if (c) d->queue = c->next;
    if (d->queue == NULL) d->queue_end = &d->queue;
    pthread_mutex_unlock(&d->lock);
    return c;
}

static void *work(void *context)
{
    door *d = context;
    (void)uselocale(d->plain);
    pthread_mutex_lock(&d->lock);
    const unsigned k = d->worker_count++;
    pthread_mutex_unlock(&d->lock);
    for (connection *c; (c = guest_take(d, k)) != NULL;) {
        const struct timeval patience = {PATIENCE_S, 0};
        (void)fcntl(c->socket, F_SETFL, fcntl(c->socket, F_GETFL) & ~O_NONBLOCK);
        (void)setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        d->calls.serve(d->inspector, c);
        pthread_mutex_lock(&d->lock);
        d->served[k] = NULL;
        d->guests--;
        pthread_mutex_unlock(&d->lock);
        guest_free(c);
    }
    return NULL;
}

static void guest_hand_over(door *d, connection *c)
{
    c->next = NULL;
    pthread_mutex_lock(&d->lock);
    *d->queue_end = c;
    d->queue_end = &c->next;
    pthread_cond_signal(&d->filled);
    pthread_mutex_unlock(&d->lock);
}

/* ---- strangers ---- */

/* Takes a connection out of its place, without closing it. */
static connection *place_leave(door *d, unsigned p)
{
    connection *c = d->place[p];
    if (c->stage != READS_BODY) d->strangers--;
    d->place[p] = d->place[--d->count];
    d->full = false;
    return c;
}

static void place_end(door *d, unsigned p)
{
    connection *c = place_leave(d, p);
    if (c->stage == READS_BODY) guest_leaves(d);
    connection_free(c);
}

/* The longest here of those that have their answer, or else of all strangers. */
static unsigned stranger_longest_here(const door *d)
{
    unsigned longest = PLACES;
    for (unsigned p = 0; p < d->count; p++) {
        const connection *c = d->place[p], *was = longest < PLACES ? d->place[longest] : NULL;
        if (c->stage == READS_BODY) continue;
        const bool done = c->stage == LINGERS, was_done = was && was->stage == LINGERS;
        if (was == NULL || (done && !was_done) || (done == was_done && c->number < was->number)) longest = p;
    }
    return longest;
}

/* Sends what the socket takes. False: the connection is at its end. */
static bool answer_go_on(connection *c)
{
    while (c->sent < c->size + c->file_size) {
        const char *from = c->sent < c->size ? c->text + c->sent : c->file + (c->sent - c->size);
        const size_t left = c->sent < c->size ? c->size - c->sent : c->size + c->file_size - c->sent;
        const ssize_t n = send(c->socket, from, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (n <= 0) return false;
        c->sent += (size_t)n;
    }
    c->stage = LINGERS;
    c->until_ns = inspector_now_ns() + second_ns;
    return shutdown(c->socket, SHUT_WR) == 0;
}

static bool answer_begin(connection *c, const verdict *v)
{
    char error[400];
    const bool head_only = c->head.method && strcmp(c->head.method, "HEAD") == 0;
    if (v->bytes == NULL) (void)snprintf(error, sizeof error, "{\"error\":\"%s\"}", v->why);
    const size_t size = v->bytes ? v->size : strlen(error);
    c->size =
        inspector_answer_head(c->text, sizeof c->text, v->status, v->bytes ? v->type : "application/json", size, "");
    if (v->bytes == NULL && !head_only) {
        memcpy(c->text + c->size, error, size);
        c->size += size;
    }
    c->file = v->bytes;
    c->file_size = v->bytes && !head_only ? v->size : 0;
    c->sent = 0;
    c->stage = SENDS_ANSWER;
    return answer_go_on(c);
}

static bool refuse(connection *c, int status, const char *why)
{
    return answer_begin(c, &(verdict){.status = status, .why = why});
}

/* ---- from stranger to guest ---- */

static bool guest_enters(door *d)
{
    pthread_mutex_lock(&d->lock);
    const bool room = d->guests < GUESTS_MAX;
    if (room) d->guests++;
    pthread_mutex_unlock(&d->lock);
    return room;
}

/* Begins to read the body, of which the bytes behind the head are there. */
static bool body_begin(connection *c, size_t head_size)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const size_t size = c->head.length > 0 && strcmp(c->head.method, "POST") == 0 ? (size_t)c->head.length : 0;
    const size_t here = c->size - head_size < size ? c->size - head_size : size;
    c->body = malloc(size + 1);
    if (c->body == NULL) return false;
    memcpy(c->body, c->text + head_size, here);
    c->body_size = size;
    c->body_got = here;
    if (here < size && c->head.expect && inspector_same_word(c->head.expect, "100-continue"))
        (void)send(c->socket, go_on, sizeof go_on - 1, MSG_NOSIGNAL);
    return true;
}

/* The head is whole: judges it. False: the connection is at its end. */
static bool head_done(door *d, connection *c, size_t head_size)
{
    if (!inspector_head_read(c->text, head_size, &c->head)) {
        c->head.method = NULL;
        return refuse(c, 400, "this is no request");
    }
    const verdict v = d->calls.judge(d->inspector, &c->head);
    if (v.status) return answer_begin(c, &v);
    if (!guest_enters(d)) return refuse(c, 429, "too many requests at a time");
    if (!body_begin(c, head_size)) {
        guest_leaves(d);
        return refuse(c, 503, "no memory");
    }
    c->answerer = v.answerer;
    c->stage = READS_BODY;
    c->until_ns = inspector_now_ns() + PATIENCE_S * second_ns;
    d->strangers--;
    return true;
}

/* Reads of the head what is there. False: the connection is at its end. */
static bool head_go_on(door *d, connection *c)
{
    for (;;) {
        const ssize_t n = recv(c->socket, c->text + c->size, HEAD_MAX - c->size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (n <= 0) return false;
        const size_t before = c->size;
        c->size += (size_t)n;
        const size_t end = inspector_head_end(c->text, before, c->size);
        if (end) return head_done(d, c, end);
        if (c->size == HEAD_MAX) return refuse(c, 431, "the head of the request is too long");
    }
}

static bool body_go_on(connection *c)
{
    while (c->body_got < c->body_size) {
        const ssize_t n = recv(c->socket, c->body + c->body_got, c->body_size - c->body_got, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (n <= 0) return false;
        c->body_got += (size_t)n;
    }
    return true;
}

/* Goes on with the connection of a place. It has left the place afterwards if this returns false. */
static bool place_go_on(door *d, unsigned p)
{
    connection *c = d->place[p];
    bool lives = true;
    if (c->stage == READS_HEAD) lives = head_go_on(d, c);
    else if (c->stage == SENDS_ANSWER) lives = answer_go_on(c);
    else if (c->stage == LINGERS) lives = false; /* the other side is gone */
    if (lives && c->stage == READS_BODY) lives = body_go_on(c);
    if (!lives) {
        place_end(d, p);
        return false;
    }
    if (c->stage != READS_BODY || c->body_got < c->body_size) return true;
    guest_hand_over(d, place_leave(d, p));
    return false;
}

/* ---- coming in ---- */

/* A socket that doesn't wait, and that no other program inherits. */
static bool socket_prepare(int s)
{
    const int yes = 1;
    (void)setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
#if defined(SO_NOSIGPIPE)
    (void)setsockopt(s, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
    return fcntl(s, F_SETFD, FD_CLOEXEC) == 0 && fcntl(s, F_SETFL, O_NONBLOCK) == 0;
}

/* Takes in one that waits before the door. False: there is none. */
static bool come_in(door *d)
{
    const int s = accept(d->listener, NULL, NULL);
    if (s < 0) {
        const bool no_file = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        const unsigned longest = no_file ? stranger_longest_here(d) : PLACES;
        if (longest < PLACES) {
            place_end(d, longest);
            return true;
        }
        d->full = no_file;
        return errno == EINTR || errno == ECONNABORTED;
    }
    connection *c = socket_prepare(s) ? calloc(1, sizeof *c) : NULL;
    if (c == NULL) return close(s) == 0;
    if (d->strangers == STRANGERS_MAX) place_end(d, stranger_longest_here(d));
    c->socket = s;
    c->number = d->numbered++;
    c->until_ns = inspector_now_ns() + PATIENCE_S * second_ns;
    d->strangers++;
    d->place[d->count++] = c;
    (void)place_go_on(d, d->count - 1); /* most have said already what they want */
    return true;
}

/* Ends those whose time is over. Returns for how long the door may rest, in ms; -1: until something happens. */
static int overdue_end(door *d)
{
    const uint64_t now = inspector_now_ns();
    uint64_t next = d->full ? now + second_ns / 10 : UINT64_MAX;
    for (unsigned p = d->count; p-- > 0;) {
        if (d->place[p]->until_ns <= now) place_end(d, p);
        else if (d->place[p]->until_ns < next) next = d->place[p]->until_ns;
    }
    return next == UINT64_MAX ? -1 : (int)((next - now) / 1000000) + 1;
}

static bool is_ending(door *d)
{
    pthread_mutex_lock(&d->lock);
    const bool ending = d->ending;
    pthread_mutex_unlock(&d->lock);
    return ending;
}

static void *watch(void *context)
{
    static const short wanted[] = {
        [READS_HEAD] = POLLIN, [SENDS_ANSWER] = POLLOUT, [LINGERS] = 0, [READS_BODY] = POLLIN};
    door *d = context;
    struct pollfd list[PLACES + 2];
    (void)uselocale(d->plain);
    while (!is_ending(d)) {
        const int rest_ms = overdue_end(d);
        const unsigned count = d->count;
        for (unsigned p = 0; p < count; p++)
            list[p] = (struct pollfd){.fd = d->place[p]->socket, .events = wanted[d->place[p]->stage]};
        list[count] = (struct pollfd){.fd = d->wake[0], .events = POLLIN};
        list[count + 1] = (struct pollfd){.fd = d->full ? -1 : d->listener, .events = POLLIN};
        if (poll(list, count + 2, rest_ms) < 0) continue;
        d->full = false;
        for (unsigned p = count; p-- > 0;) /* backwards, since the last one takes the place of one that leaves */
            if (list[p].revents) (void)place_go_on(d, p);
        if (list[count + 1].revents)
            for (int k = 0; k < COME_IN_AT_ONCE && come_in(d); k++) continue;
    }
    while (d->count) place_end(d, d->count - 1);
    return NULL;
}

/* ---- beginning and end ---- */

/* A socket that listens at one of the addresses of the name; -1. */
static int listen_at(const char *bind_to, uint16_t port)
{
    const bool number = strspn(bind_to, "0123456789.") == strlen(bind_to) || strchr(bind_to, ':');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV | (number ? AI_NUMERICHOST : 0)};
    struct addrinfo *to = NULL;
    char service[8];
    const int yes = 1;
    int s = -1;
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(bind_to, service, &hints, &to) != 0) return -1;
    for (const struct addrinfo *a = to; a && s < 0; a = a->ai_next) {
        s = socket(a->ai_family, SOCK_STREAM, 0);
        if (s < 0) continue;
        (void)setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (socket_prepare(s) && bind(s, a->ai_addr, a->ai_addrlen) == 0 && listen(s, SOMAXCONN) == 0) break;
        (void)close(s);
        s = -1;
    }
    freeaddrinfo(to);
    return s;
}

static uint16_t port_of(int s)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    char port[8];
    memset(&a, 0, sizeof a);
    if (getsockname(s, (struct sockaddr *)&a, &size) != 0) return 0;
    if (getnameinfo((struct sockaddr *)&a, size, NULL, 0, port, sizeof port, NI_NUMERICSERV) != 0) return 0;
    return (uint16_t)strtoul(port, NULL, 10);
}

static void door_free(door *d)
{
    for (int k = 0; k < 2; k++)
        if (d->wake[k] >= 0) (void)close(d->wake[k]);
    if (d->listener >= 0) (void)close(d->listener);
    if (d->plain) freelocale(d->plain);
    (void)pthread_cond_destroy(&d->filled);
    (void)pthread_mutex_destroy(&d->lock);
    free(d);
}

bool inspector_door_open(reef_inspector *i, const door_calls *calls, char *reason)
{
    server *s = i->server;
    door *d = calloc(1, sizeof *d);
    if (d == NULL || pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        (void)snprintf(reason, REEF_DETAIL_MAX, "no memory");
        return false;
    }
    d->inspector = i;
    d->calls = *calls;
    d->queue_end = &d->queue;
    d->wake[0] = d->wake[1] = -1;
    d->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    d->listener = listen_at(s->bind, i->config.port);
    s->port = d->listener >= 0 ? port_of(d->listener) : 0;
    const bool made = pthread_cond_init(&d->filled, NULL) == 0 && d->plain && pipe(d->wake) == 0;
    if (made && s->port) {
        (void)fcntl(d->wake[0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(d->wake[1], F_SETFD, FD_CLOEXEC);
        s->door = d;
        return true;
    }
    if (made)
        (void)snprintf(reason, REEF_DETAIL_MAX, "can't listen on %.64s, port %u", s->bind, (unsigned)i->config.port);
    else (void)snprintf(reason, REEF_DETAIL_MAX, "no memory, or no files");
    door_free(d);
    return false;
}

/* Ends the threads that there are; `watched`: also the door's. */
static void threads_end(door *d, unsigned workers, bool watched)
{
    pthread_mutex_lock(&d->lock);
    d->ending = true;
    for (unsigned k = 0; k < WORKERS; k++)
        if (d->served[k]) (void)shutdown(d->served[k]->socket, SHUT_RDWR);
    pthread_cond_broadcast(&d->filled);
    pthread_mutex_unlock(&d->lock);
    const bool woken = write(d->wake[1], "", 1) == 1; /* always: nobody else writes to it */
    (void)woken;
    if (watched) (void)pthread_join(d->thread, NULL);
    for (unsigned k = 0; k < workers; k++) (void)pthread_join(d->workers[k], NULL);
    for (connection *c = d->queue; c; c = d->queue) {
        d->queue = c->next;
        connection_free(c);
    }
}

bool inspector_door_start(server *s)
{
    door *d = s->door;
    sigset_t all, before;
    unsigned k = 0;
    (void)sigfillset(&all); /* signals are for the program's threads */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (k < WORKERS && pthread_create(&d->workers[k], NULL, work, d) == 0) k++;
    const bool watched = k == WORKERS && pthread_create(&d->thread, NULL, watch, d) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (watched) return true;
    threads_end(d, k, false);
    door_free(d);
    s->door = NULL;
    return false;
}

void inspector_door_close(server *s)
{
    threads_end(s->door, WORKERS, true);
    door_free(s->door);
    s->door = NULL;
}
