/* Strangers at the door: who doesn't know the token can't keep out who does. From 1 to 1,000 connections say nothing,
 * or half of a request, or a byte now and then, or ask again and again without the token, under another name, from
 * another site's page, with a cookie. Meanwhile the owner of the page asks, and gets each answer.
 *
 *     test_inspector_strangers           some numbers of strangers, 20 requests each; every answer must come at all
 *     test_inspector_strangers --deep    all numbers, for five seconds each; every answer must come within 100 ms */
#include "inspector_program.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

static bool deep;

/* ---- the strangers ---- */

enum { STRANGERS_MAX = 1000 };

typedef enum habit {
    SILENT,
    HALF,
    DRIP_HEAD,
    DRIP_BODY,
    FLOOD,
    OTHER_HOST,
    OTHER_ORIGIN,
    COOKIE,
    BIG_BODY,
    NEVER_READS,
    HABITS
} habit;
static const char *const habit_names[HABITS] = {"say nothing",
                                                "say half of a head",
                                                "drip a head",
                                                "drip a body",
                                                "flood without the token",
                                                "come by another name",
                                                "come from another site",
                                                "show a cookie",
                                                "send much that nobody reads",
                                                "ask for the page and don't read it"};

/* What they say; %u is the port. */
static const char *const says[HABITS] = {
    "",
    "GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX: ",
    "GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Slow: 01234567890123456789012345678901234567890123456789",
    "POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
    "GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
    "GET /api/overview?token=" TOKEN " HTTP/1.1\r\nHost: evil.example:%u\r\n\r\n",
    "GET /api/overview?token=" TOKEN " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://evil.example\r\n\r\n",
    "GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: reef_inspector_%u=" TOKEN "\r\n\r\n",
    "POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 100000000\r\n\r\n",
    "GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n"};

typedef struct stranger {
    int socket; /* -1: none */
    size_t sent;
    bool answered;
} stranger;

typedef struct crowd {
    habit habit;
    unsigned count;
    stranger one[STRANGERS_MAX];
    pthread_t thread;
    atomic_bool ending;
    atomic_uint rounds, opened, answers, wrong; /* wrong: answers that a stranger mustn't get */
    char text[400];
} crowd;

static void stranger_open(crowd *c, stranger *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(reef_inspector_port(played.inspector))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->sent = 0;
    s->answered = false;
    s->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (s->socket < 0) return;
    if (connect(s->socket, (const struct sockaddr *)&a, sizeof a) == 0 || errno == EINPROGRESS) {
        atomic_fetch_add(&c->opened, 1);
        return;
    }
    (void)close(s->socket);
    s->socket = -1;
}

static void stranger_close(stranger *s)
{
    if (s->socket >= 0) (void)close(s->socket);
    s->socket = -1;
}

/* Sends some bytes. False: the other side has closed. */
static bool stranger_send(stranger *s, const char *bytes, size_t size)
{
    const ssize_t n = send(s->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) s->sent += (size_t)n;
    return n > 0 || errno == EAGAIN || errno == ENOTCONN;
}

static void answer_count(crowd *c, const char *text)
{
    const int status = strncmp(text, "HTTP/1.1 ", 9) == 0 ? atoi(text + 9) : 0;
    atomic_fetch_add(&c->answers, 1);
    if (status != 401 && status != 403) atomic_fetch_add(&c->wrong, 1);
}

/* Says more of what it has to say, and is opened again when it was closed. */
static void stranger_go_on(crowd *c, stranger *s)
{
    static const char much[16384];
    char got[400];
    const size_t size = strlen(c->text);
    const bool drips = c->habit == DRIP_HEAD, more = c->habit == DRIP_BODY || c->habit == BIG_BODY;
    if (s->socket < 0) stranger_open(c, s);
    if (s->socket < 0) return;
    bool lives = true;
    if (s->sent < size) lives = stranger_send(s, c->text + s->sent, drips ? 1 : size - s->sent);
    else if (more) lives = stranger_send(s, much, c->habit == DRIP_BODY ? 1 : sizeof much);
    if (c->habit != NEVER_READS) {
        const ssize_t n = recv(s->socket, got, sizeof got - 1, MSG_DONTWAIT);
        if (n > 0 && !s->answered) {
            got[n] = 0;
            answer_count(c, got);
            s->answered = true;
        }
        if (n >= 0) lives = lives && n > 0 && more; /* who drips a body does so for as long as it can */
    }
    if (!lives) stranger_close(s);
}

static void *crowd_run(void *context)
{
    crowd *c = context;
    while (!atomic_load(&c->ending)) {
        for (unsigned k = 0; k < c->count; k++) stranger_go_on(c, &c->one[k]);
        atomic_fetch_add(&c->rounds, 1);
        rest(1000);
    }
    for (unsigned k = 0; k < c->count; k++) stranger_close(&c->one[k]);
    return NULL;
}

static void crowd_begin(crowd *c, habit h, unsigned count)
{
    const unsigned port = reef_inspector_port(played.inspector);
    memset(c, 0, sizeof *c);
    c->habit = h;
    c->count = count;
    (void)snprintf(c->text, sizeof c->text, says[h], port, port);
    for (unsigned k = 0; k < STRANGERS_MAX; k++) c->one[k].socket = -1;
    assert_int_equal(pthread_create(&c->thread, NULL, crowd_run, c), 0);
    while (atomic_load(&c->rounds) < 2) rest(1000); /* all are there */
}

static void crowd_end(crowd *c)
{
    atomic_store(&c->ending, true);
    assert_int_equal(pthread_join(c->thread, NULL), 0);
}

/* ---- the owner ---- */

static double owner_longest; /* of one request, in seconds */

/* What the page asks for: itself, what it shows, a small change. */
static void owner_asks(const char *path, bool posts, const char *body)
{
    char more[100];
    snprintf(more, sizeof more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    const double begin = seconds();
    reply r = posts ? request("POST", path, more, body) : request("GET", path, "", "");
    const double took = seconds() - begin;
    if (took > owner_longest) owner_longest = took;
    if (r.status != 200) fail_msg("%s: status %d after %.2f s: %s", path, r.status, took, r.body ? r.body : "");
    free(r.head);
}

static void owner_round(void)
{
    owner_asks("/", false, "");
    owner_asks("/main.js", false, "");
    owner_asks("/api/ticks?limit=1", false, "");
    owner_asks("/api/overview", false, "");
    owner_asks("/api/edit", true, "[]");
}

static int stream_open(void)
{
    char text[300];
    const int s = dial();
    assert_true(s >= 0);
    snprintf(text, sizeof text, "GET /api/stream HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n\r\n",
             (unsigned)reef_inspector_port(played.inspector), TOKEN);
    assert_true(send(s, text, strlen(text), MSG_NOSIGNAL) > 0);
    return s;
}

/* What has come of the stream since; it must be open still. */
static size_t stream_take(int s)
{
    static char bytes[65536];
    size_t n = 0;
    for (ssize_t k; (k = recv(s, bytes, sizeof bytes, n ? MSG_DONTWAIT : 0)) != 0; n += (size_t)k)
        if (k < 0) return n;
    fail_msg("the stream was closed");
    return 0;
}

/* ---- both ---- */

static void meet(habit h, unsigned count)
{
    static crowd c;
    owner_longest = 0;
    const int stream = stream_open();
    assert_true(stream_take(stream) > 0);
    crowd_begin(&c, h, count);
    const double end_at = seconds() + (deep ? 5 : 0);
    const unsigned ticks = atomic_load(&played.ticks);
    for (int k = 0; k < 4 || seconds() < end_at; k++) {
        owner_round();
        if (deep) rest(20000); /* the page asks less often than the bound of requests a second allows */
    }
    wait_for_ticks(ticks + 20);
    assert_true(stream_take(stream) > 0);
    (void)close(stream);
    crowd_end(&c);
    if (deep)
        print_message("           %4u %-34s longest %6.1f ms; %u connections, %u answers\n", count, habit_names[h],
                      owner_longest * 1000, atomic_load(&c.opened), atomic_load(&c.answers));
    const bool answered = h < DRIP_BODY || h == NEVER_READS || atomic_load(&c.answers) > 0;
    if (atomic_load(&c.wrong) || atomic_load(&c.opened) < count / 2 || !answered)
        fail_msg("%u that %s: %u connections, %u answers, %u of them wrong", count, habit_names[h],
                 atomic_load(&c.opened), atomic_load(&c.answers), atomic_load(&c.wrong));
    if (deep && owner_longest > 0.1 && !getenv("REEF_SLOW_MACHINE")) fail_msg("%.1f ms", owner_longest * 1000);
}

/* The test needs files: a thousand connections, and as many for those who are let in. */
static void files_take(void)
{
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_cur < 2200) files.rlim_cur = files.rlim_max < 2200 ? files.rlim_max : 2200;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static void strangers_keep_nobody_out(void **state)
{
    static const unsigned counts[] = {1, 1000, 128, 10, 300, 600};
    const size_t used = deep ? sizeof counts / sizeof counts[0] : 2;
    reef_world *w = world_of(state);
    files_take();
    (void)reef_spawn(w, reef_with(Vigor, 1));
    begin(w);
    for (int h = 0; h < HABITS; h++)
        for (size_t k = 0; k < used; k++) meet((habit)h, counts[k]);
    end();
}

/* What strangers ask for doesn't count for the owner, however much it is. */
static void strangers_use_up_none_of_the_requests_of_the_owner(void **state)
{
    static crowd c;
    begin(world_of(state));
    crowd_begin(&c, FLOOD, 100);
    while (atomic_load(&c.answers) < 2000) rest(1000);
    for (int k = 0; k < 200; k++) owner_asks("/api/ticks?limit=1", false, "");
    crowd_end(&c);
    assert_int_equal(atomic_load(&c.wrong), 0);
    end();
}

/* A body is read only when the request is let in: a stranger's isn't, even if it is short and whole. */
static void bodies_that_are_refused_are_not_read(void **state)
{
    char text[300];
    begin(world_of(state));
    const int s = dial();
    const int n = snprintf(text, sizeof text,
                           "POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
                           "Content-Length: 60000\r\n\r\n",
                           (unsigned)reef_inspector_port(played.inspector));
    assert_int_equal(send(s, text, (size_t)n, MSG_NOSIGNAL), n);
    assert_true(recv(s, text, 12, MSG_WAITALL) == 12); /* though none of the body was sent */
    assert_memory_equal(text, "HTTP/1.1 401", 12);
    (void)close(s);
    end();
}

/* An inspector ends at once, whoever is connected. */
static void an_inspector_ends_while_strangers_are_there(void **state)
{
    static crowd c;
    int streams[3];
    begin(world_of(state));
    crowd_begin(&c, HALF, 300);
    for (int k = 0; k < 3; k++) streams[k] = stream_open();
    for (int k = 0; k < 3; k++) (void)stream_take(streams[k]);
    crowd_end(&c);
    const int silent = dial();
    end();
    for (int k = 0; k < 3; k++) (void)close(streams[k]);
    (void)close(silent);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(strangers_keep_nobody_out),
        PROGRAM_TEST(strangers_use_up_none_of_the_requests_of_the_owner),
        PROGRAM_TEST(bodies_that_are_refused_are_not_read),
        PROGRAM_TEST(an_inspector_ends_while_strangers_are_there),
    };
    deep = count > 1 && strcmp(words[1], "--deep") == 0;
    if (count > 1 && !deep) cmocka_set_test_filter(words[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
