/* The add-on reef_inspector, over raw sockets: who is let in, what is bounded, what it answers, and that it names the
 * right systems. Each test has a program that ticks on a thread of its own, as fast as it can. */
#include "reef_inspector.h"
#ifdef TEST_SQL
#include "reef_sqlite.h"
#endif
#include "support.h"
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
/* civetweb notes the time of each request by localtime, on several threads at once. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:tzset_internal\nrace:localtime\n"; }
#endif

/* ---- a world ---- */

typedef struct {
    float x, y;
} Place;
typedef struct {
    float x, y;
} Speed;
typedef struct {
    int32_t points;
} Vigor;
typedef struct {
    uint32_t value;
} Mark;
typedef struct {
    bool yes;
    int8_t small;
    uint16_t middle;
    int64_t large;
    uint64_t huge;
    double wide;
    char text[8];
    reef_entity other;
    float list[3];
} All;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, REEF_FIELD(Place, x, REEF_F32, "m", -100, 100), REEF_FIELD(Place, y, REEF_F32, "m", 0, 0));
REEF_COMPONENT(Speed);
REEF_FIELDS(Speed, REEF_FIELD(Speed, x, REEF_F32, "m/s", 0, 0), REEF_FIELD(Speed, y, REEF_F32, "m/s", 0, 0));
REEF_COMPONENT(Vigor);
REEF_FIELDS(Vigor, REEF_FIELD(Vigor, points, REEF_I32, NULL, 0, 1000));
REEF_COMPONENT(Mark);
REEF_FIELDS(Mark, REEF_FIELD(Mark, value, REEF_U32, NULL, 0, 0));
REEF_COMPONENT(All);
REEF_FIELDS(All, REEF_FIELD(All, yes, REEF_BOOL, NULL, 0, 0), REEF_FIELD(All, small, REEF_I8, NULL, 0, 0),
            REEF_FIELD(All, middle, REEF_U16, NULL, 0, 0), REEF_FIELD(All, large, REEF_I64, NULL, 0, 0),
            REEF_FIELD(All, huge, REEF_U64, NULL, 0, 0), REEF_FIELD(All, wide, REEF_F64, NULL, 0, 0),
            REEF_FIELD(All, text, REEF_CHAR, NULL, 0, 0), REEF_FIELD(All, other, REEF_ENTITY, NULL, 0, 0),
            REEF_FIELD(All, list, REEF_F32, NULL, 0, 0));
REEF_COMPONENT_AS(Opaque, uint64_t);
REEF_TAG(Wounded);
REEF_RELATION(Likes);

static void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    const Speed *v = reef_in(b, Speed);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt;
}
static void burn(reef_block *b)
{
    Vigor *h = reef_inout(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++) h[i].points--;
}
static void bury(reef_block *b)
{
    const Vigor *h = reef_in(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++)
        if (h[i].points <= 0) (void)reef_cmd_destroy(b, b->entities[i]);
}
static void breed(reef_block *b)
{
    if (reef_tick_count(b->world) % 10 == 0) (void)reef_cmd_spawn(b, reef_with(Place, 0, 7), reef_with(Speed, 1, 0));
}

/* Which of the five systems writes this entity in this tick; it isn't among what they are told. */
static uint32_t writer_of(uint64_t tick, uint32_t index)
{
    uint64_t x = (tick * 1000003 + index) * 0x9E3779B97F4A7C15u;
    return (uint32_t)((x ^ x >> 31) % 7); /* 5 and 6: none */
}
static void mark(reef_block *b)
{
    Mark *m = reef_inout(b, Mark);
    const uint32_t own = *(const uint32_t *)b->context;
    for (uint32_t i = 0; i < b->count; i++)
        if (writer_of(reef_tick_count(b->world), b->entities[i].index) == own) m[i].value += 1 + own;
}

/* ---- the program ---- */

typedef struct program {
    reef_world *world;
    reef_inspector *inspector;
    const char *token;
    pthread_t thread;
    atomic_bool ending;
    _Atomic(reef_world *) turn; /* the world that is to be played from now on */
    atomic_uint ticks, failures;
    uint32_t rest_us;
} program;

static program p;
static const char token[] = "0123456789abcdefX";

static void rest(uint32_t us)
{
    const struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)nanosleep(&t, NULL);
}

static void *play(void *unused)
{
    (void)unused;
    while (!atomic_load(&p.ending)) {
        reef_world *other = atomic_exchange(&p.turn, NULL);
        if (other) reef_inspector_turn_to(p.inspector, p.world = other);
        if (reef_tick(p.world, 0.5f) < 0) atomic_fetch_add(&p.failures, 1);
        atomic_fetch_add(&p.ticks, 1);
        reef_inspector_update(p.inspector);
        if (p.rest_us) rest(p.rest_us);
    }
    return NULL;
}

/* Starts the program with an inspector; its thread has the world until end(). */
static void begin_with(reef_world *w, reef_inspector_config config)
{
    char reason[REEF_DETAIL_MAX];
    config.token = token;
    memset(&p, 0, sizeof p);
    p.world = w;
    p.rest_us = 200;
    p.inspector = reef_inspect_why(w, &config, reason);
    if (p.inspector == NULL) fail_msg("%s", reason);
    assert_int_equal(pthread_create(&p.thread, NULL, play, NULL), 0);
}
static void begin(reef_world *w) { begin_with(w, (reef_inspector_config){.writes = true, .waits = true}); }

static void end(void)
{
    extern json_t *post(const char *path, const char *body, int status);
    json_decref(post("/api/control", "{\"pause\":false}", 0)); /* a program that is held wouldn't come to its end */
    atomic_store(&p.ending, true);
    assert_int_equal(pthread_join(p.thread, NULL), 0);
    reef_inspector_free(p.inspector);
    assert_int_equal(atomic_load(&p.failures), 0);
    assert_false(reef_is_paused(p.world));
}

/* ---- HTTP ---- */

static int dial(void)
{
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(reef_inspector_port(p.inspector))};
    const struct timeval patience = {20, 0};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0) return -1;
    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(s, (const struct sockaddr *)&a, sizeof a) == 0) return s;
    (void)close(s);
    return -1;
}

typedef struct reply {
    int status;
    char *head, *body; /* in one allocation */
    size_t size;
} reply;

/* Sends bytes as they are, and reads until the other side closes. */
static reply ask(const void *bytes, size_t size)
{
    reply r = {.status = 0};
    const int s = dial();
    size_t room = 65536, got = 0;
    assert_true(s >= 0);
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(s, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += (size_t)n;
    }
    r.head = malloc(room + 1);
    (void)shutdown(s, SHUT_WR);
    for (ssize_t n; (n = recv(s, r.head + got, room - got, 0)) > 0;) {
        got += (size_t)n;
        if (got == room) r.head = realloc(r.head, (room *= 2) + 1);
    }
    (void)close(s);
    r.head[got] = 0;
    if (strncmp(r.head, "HTTP/1.1 ", 9) == 0) r.status = atoi(r.head + 9);
    r.body = strstr(r.head, "\r\n\r\n");
    if (r.body) *r.body = 0, r.body += 4;
    r.size = r.body ? got - (size_t)(r.body - r.head) : 0;
    return r;
}

static int status_of(const char *text)
{
    reply r = ask(text, strlen(text));
    free(r.head);
    return r.status;
}

/* A request with a right Host and token. */
static reply request(const char *method, const char *path, const char *more, const char *body)
{
    const size_t room = strlen(method) + strlen(path) + strlen(more) + strlen(body) + 200;
    char *text = malloc(room);
    assert_non_null(text);
    const int n = snprintf(text, room, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n%s\r\n%s",
                           method, path, (unsigned)reef_inspector_port(p.inspector), token, more, body);
    const reply r = ask(text, (size_t)n);
    free(text);
    return r;
}

static json_t *json_of(reply r, int status)
{
    if (status && r.status != status) fail_msg("status %d, not %d: %s", r.status, status, r.body ? r.body : "");
    json_t *j = r.body ? json_loads(r.body, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    free(r.head);
    if (status) assert_non_null(j);
    return j;
}

static json_t *get(const char *path, int status) { return json_of(request("GET", path, "", ""), status); }

json_t *post(const char *path, const char *body, int status);
json_t *post(const char *path, const char *body, int status)
{
    char more[100];
    snprintf(more, sizeof more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    return json_of(request("POST", path, more, body), status);
}

static void post_or_not(const char *path, const char *body) { json_decref(post(path, body, 0)); }
static void post_ok(const char *path, const char *body) { json_decref(post(path, body, 200)); }

static long long number(const json_t *j, const char *name)
{
    return (long long)json_integer_value(json_object_get(j, name));
}
static const char *text_of(const json_t *j, const char *name)
{
    const char *text = json_string_value(json_object_get(j, name));
    return text ? text : "";
}

static long long tick_now(void)
{
    json_t *j = get("/api/overview", 200);
    const long long tick = number(j, "tick");
    json_decref(j);
    return tick;
}

/* ---- who is let in ---- */

static void F11_only_the_right_host_origin_and_token_are_let_in(void **state)
{
    reef_world *w = world_of(state);
    char text[1000];
    begin(w);
    const unsigned port = reef_inspector_port(p.inspector);
    static const struct {
        const char *host, *more, *query;
        int status;
    } cases[] = {
        {"127.0.0.1:%u", "", "?token=0123456789abcdefX", 200},
        {"localhost:%u", "Origin: http://localhost:%u\r\n", "?token=0123456789abcdefX", 200},
        {"[::1]:%u", "Authorization: Bearer 0123456789abcdefX\r\n", "", 200},
        {"LOCALHOST:%u", "Cookie: a=b; reef_inspector_%u=0123456789abcdefX\r\n", "", 200},
        {"127.0.0.1:%u", "", "", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdefY", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdef", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdefXX", 401},
        {"127.0.0.1:%u", "", "?token=", 401},
        {"127.0.0.1:%u", "Cookie: reef_inspector_%u=0123\r\n", "", 401},
        {"127.0.0.1:%u", "Authorization: Basic 0123456789abcdefX\r\n", "", 401},
        {"evil.example:%u", "", "?token=0123456789abcdefX", 403},
        {"127.0.0.1.evil.example:%u", "", "?token=0123456789abcdefX", 403},
        {"127.0.0.1", "", "?token=0123456789abcdefX", 403},
        {"127.0.0.1:1%u", "", "?token=0123456789abcdefX", 403},
        {":%u", "", "?token=0123456789abcdefX", 403},
        {"127.0.0.1:%u", "Origin: http://evil.example\r\n", "?token=0123456789abcdefX", 403},
        {"127.0.0.1:%u", "Origin: null\r\n", "?token=0123456789abcdefX", 403},
        {"127.0.0.1:%u", "Origin: https://127.0.0.1:%u\r\n", "?token=0123456789abcdefX", 403},
        {"127.0.0.1:%u", "Origin: http://127.0.0.1:1\r\n", "?token=0123456789abcdefX", 403},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char host[100], more[200];
        snprintf(host, sizeof host, cases[i].host, port);
        snprintf(more, sizeof more, cases[i].more, port);
        for (int k = 0; k < 2; k++) { /* the page is guarded as everything behind it */
            snprintf(text, sizeof text, "GET %s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", k ? "/" : "/api/ticks",
                     cases[i].query, host, more);
            if (status_of(text) != cases[i].status) fail_msg("case %d: %d", (int)i, status_of(text));
        }
    }
    assert_int_equal(status_of("GET /api/ticks?token=0123456789abcdefX HTTP/1.1\r\n\r\n"), 403); /* no Host */
    /* what is refused changes nothing */
    snprintf(
        text, sizeof text,
        "POST /api/control?token=0123456789abcdefX HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://evil.example\r\n"
        "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"pause\":true}",
        port);
    assert_int_equal(status_of(text), 403);
    const unsigned ticks = atomic_load(&p.ticks);
    while (atomic_load(&p.ticks) < ticks + 3) rest(100);
    end();
}

/* The page says what a browser may do with it, and that its cookie is no one else's. */
static void F11_the_page_is_whole_and_closed(void **state)
{
    begin(world_of(state));
    static const char *const files[] = {"/", "/style.css", "/main.js", "/icon.svg"};
    for (size_t i = 0; i < 4; i++) {
        reply r = request("GET", files[i], "", "");
        assert_int_equal(r.status, 200);
        assert_true(r.size > 200);
        assert_non_null(strstr(r.head, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
        assert_non_null(strstr(r.head, "; HttpOnly; SameSite=Strict"));
        assert_non_null(strstr(r.head, "X-Content-Type-Options: nosniff"));
        assert_null(strstr(r.body, "<script>")); /* none inside of the page: the policy forbids it */
        free(r.head);
    }
    json_decref(get("/main.js.map", 404));
    json_decref(get("/../etc/passwd", 404));
    json_decref(get("/api/nothing", 404));
    json_decref(get("/api/control", 405));
    json_decref(post("/api/overview", "{}", 405));
    json_decref(json_of(request("PUT", "/", "Content-Length: 0\r\n", ""), 405));
    end();
}

static void F11_no_writes_unless_they_are_allowed(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Vigor, 100));
    begin_with(w, (reef_inspector_config){.waits = true});
    char body[200];
    snprintf(body, sizeof body,
             "[{\"do\":\"set\",\"entity\":\"%uv%u\",\"component\":\"Vigor\",\"field\":\"points\",\"value\":3}]",
             (unsigned)e.index, (unsigned)e.generation);
    json_decref(post("/api/edit", body, 403));
    json_decref(post("/api/control", "{\"pause\":true}", 403));
    json_decref(post("/api/whatif/play", "{\"ticks\":1}", 403));
    json_decref(post("/api/record", "{\"pause\":true}", 403));
    json_decref(post("/api/record", "{\"restore\":1}", 403));
    json_decref(get("/api/who?tick=1", 403));
    post_ok("/api/record", "{\"record\":true}"); /* this changes nothing */
    json_t *j = get("/api/overview", 200);
    assert_true(json_is_false(json_object_get(j, "writes")));
    json_decref(j);
    end();
    assert_int_equal(reef_get(w, e, Vigor)->points, 100);
}

/* ---- bounds ---- */

static void F11_bodies_paths_and_parameters_are_bounded(void **state)
{
    static char text[100000];
    begin(world_of(state));
    json_decref(json_of(request("POST", "/api/edit", "Content-Length: 2\r\n", "[]"), 415));
    json_decref(json_of(request("POST", "/api/edit", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "[]"), 415));
    json_decref(json_of(request("POST", "/api/edit", "Content-Type: application/json\r\n", ""), 411));
    json_decref(
        json_of(request("POST", "/api/edit", "Content-Type: application/json\r\nContent-Length: 65537\r\n", ""), 413));
    memset(text, ' ', 65536);
    memcpy(text, "[]", 2);
    text[65536] = 0;
    post_ok("/api/edit", text);
    memset(text, '[', 60000); /* nested too deep for the parser */
    text[60000] = 0;
    json_decref(post("/api/edit", text, 400));
    json_decref(post("/api/edit", "", 400));
    json_decref(post("/api/edit", "{}", 400));
    json_decref(post("/api/edit", "[1,null,\"x\"]", 400));
    json_decref(post("/api/control", "[]", 400));
    json_decref(post("/api/control", "{\"explode\":true}", 400));
    json_decref(post("/api/whatif/play", "{\"ticks\":1000000}", 400));
    memset(text, 'a', sizeof text);
    memcpy(text, "/api/entities?q=", 16);
    text[16 + 1200] = 0;
    json_decref(get(text, 400)); /* a query has at most 1,023 bytes */
    text[16 + 1200] = 'a';
    text[20000] = 0;
    reply r = request("GET", text, "", "");
    assert_true(r.status >= 400 && r.status < 500); /* the library refuses heads of more than 8 KiB */
    free(r.head);
    json_t *j = get("/api/entities?limit=18446744073709551615&offset=99999999999999999999", 200);
    assert_true(json_array_size(json_object_get(j, "rows")) <= 1000);
    json_decref(j);
    json_decref(get("/api/entity?id=", 404));
    json_decref(get("/api/entity?id=4294967296v1", 404));
    json_decref(get("/api/entities?at=77777", 404));
    json_decref(get("/api/curve?id=1v1&component=Nothing&field=x", 404));
    end();
}

static uint64_t dice(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* A request of random parts, or whole requests with random parts in them. Returns its length. */
static size_t random_request(uint64_t *seed, char *text, size_t size)
{
    static const char *const parts[] = {"GET ",
                                        "POST ",
                                        "/api/",
                                        "entities",
                                        "entity",
                                        "?q=",
                                        "?id=0v1",
                                        "edit",
                                        "&at=",
                                        "diff?from=1&to=2",
                                        " HTTP/1.1",
                                        "\r\n",
                                        "Host: 127.0.0.1",
                                        "Content-Length: ",
                                        "9",
                                        "-1",
                                        "\r\n\r\n",
                                        "%00",
                                        "%",
                                        "%22",
                                        "Place",
                                        "!",
                                        "(",
                                        "$x",
                                        "Transfer-Encoding: chunked",
                                        "token=0123456789abcdefX",
                                        "0v1",
                                        "&limit=99999999999",
                                        "curve?",
                                        "component=Place",
                                        "&field=x",
                                        "when",
                                        "tree?relation=ChildOf",
                                        "&show=",
                                        ",",
                                        "|",
                                        "\"",
                                        "who?tick=3",
                                        "explain",
                                        "?Vigor",
                                        " of "};
    static const char *const values[] = {"[",
                                         "]",
                                         "{",
                                         "}",
                                         "\"do\":",
                                         "\"set\"",
                                         "\"destroy\"",
                                         "\"spawn\"",
                                         "\"entity\":",
                                         "\"0v1\"",
                                         "\"5v1\"",
                                         ",",
                                         "\"component\":",
                                         "\"Place\"",
                                         "\"field\":",
                                         "\"x\"",
                                         "\"value\":",
                                         "1",
                                         "-1e400",
                                         "null",
                                         "true",
                                         "\"add\"",
                                         "\"remove\"",
                                         "\"name\":",
                                         "\"\\ud800\"",
                                         "\"step\":",
                                         "\"system\"",
                                         "\"pause\":",
                                         "\"restore\":",
                                         "\"ticks\":",
                                         "\"edits\":",
                                         "\"relate\"",
                                         "\"target\":",
                                         "\"enable\"",
                                         "\"query\":",
                                         "\"Place, !\"",
                                         "\"element\":",
                                         "\"number\":",
                                         "\"speed\":",
                                         "\"record\":",
                                         "\"trace\":",
                                         "4294967296",
                                         "\"all\""};
    static const char *const posts[] = {"edit", "control", "record", "whatif/play"};
    static const char *const gets[] = {
        "entities?q=", "entity?id=0v1", "diff?from=1&to=", "curve?id=0v1&component=Place&field=x",
        "when?q=",     "curve?q=",      "events?type=",    "tree?",
        "explain?q=",  "who?tick=",     "types?at=",       "hash?at="};
    char body[600];
    size_t n = 0, b = 0;
    const bool posts_it = dice(seed) % 3 == 0, whole = dice(seed) % 4 != 0;
    while (posts_it && b < 400 && dice(seed) % 24) {
        if (dice(seed) % 20 == 0) body[b++] = (char)dice(seed);
        b += (size_t)snprintf(body + b, 40, "%s", values[dice(seed) % (sizeof values / sizeof values[0])]);
    }
    body[b] = 0;
    if (whole && posts_it) n += (size_t)snprintf(text, size, "POST /api/%s", posts[dice(seed) % 4]);
    else if (whole) n += (size_t)snprintf(text, size, "GET /api/%s", gets[dice(seed) % (sizeof gets / sizeof gets[0])]);
    while (n < 500 && dice(seed) % (whole ? 4 : 12)) {
        if (dice(seed) % 8 == 0) text[n++] = (char)dice(seed);
        else n += (size_t)snprintf(text + n, size - n, "%s", parts[dice(seed) % (sizeof parts / sizeof parts[0])]);
        if (posts_it && whole) break;
    }
    if (whole)
        n += (size_t)snprintf(text + n, size - n,
                              " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\nContent-Type: "
                              "application/json\r\nContent-Length: %u\r\n\r\n",
                              (unsigned)reef_inspector_port(p.inspector), token, (unsigned)b);
    memcpy(text + n, body, b);
    return n + b;
}

static unsigned fuzz_seconds; /* --fuzz */

/* Whatever comes back, the program ticks on. */
static void F11_random_bytes_harm_nothing(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = fuzz_seconds ? (uint64_t)time(NULL) : 7;
    static char text[4096];
    for (int i = 0; i < 100; i++) (void)reef_spawn(w, reef_with(Place, 1, 2));
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, breed, "; spawns Place Speed");
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true, .record_ticks = 20});
    unsigned asked = 0, answered = 0;
    for (const time_t until = time(NULL) + fuzz_seconds; asked < 150 || time(NULL) < until; asked++) {
        reply r = ask(text, random_request(&seed, text, sizeof text));
        answered += r.status == 200;
        free(r.head);
        if (asked % 50 == 49) post_or_not("/api/control", "{\"pause\":false,\"speed\":1}");
        if (asked % 300 == 299) rest(1000000); /* the bound of requests a second */
    }
    rest(1200000);
    post_ok("/api/control", "{\"pause\":false,\"speed\":1}");
    if (fuzz_seconds) printf("%u requests, of which %u were answered with 200\n", asked, answered);
    assert_true(answered > 10);
    const unsigned ticks = atomic_load(&p.ticks);
    while (atomic_load(&p.ticks) < ticks + 3) rest(100);
    json_decref(get("/api/overview", 200));
    end();
    (void)reef_flush(w);
    assert_valid(w);
}

static void F11_requests_a_second_are_bounded(void **state)
{
    int many = 0;
    begin(world_of(state));
    for (int i = 0; i < 1500 && many == 0; i++) {
        reply r = request("GET", "/api/ticks?limit=1", "", "");
        many += r.status == 429;
        free(r.head);
    }
    assert_true(many > 0 || getenv("REEF_SLOW_MACHINE"));
    rest(200000);
    json_decref(get("/api/ticks", 200));
    end();
}

/* A thousand connections at once, most of which say nothing or half of something: the ticks go on, and the page works
 * again as soon as they are gone. */
static void F11_a_thousand_connections_stop_no_tick(void **state)
{
    enum { COUNT = 1000 };
    static int s[COUNT];
    int open = 0;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_cur < 2200) files.rlim_cur = files.rlim_max < 2200 ? files.rlim_max : 2200;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    begin(world_of(state));
    for (int i = 0; i < COUNT; i++) {
        static const char half[] = "GET /api/overview HTTP/1.1\r\nHost: 127";
        /* those that the kernel doesn't let in yet mustn't hold the test up */
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(reef_inspector_port(p.inspector))};
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        s[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (s[i] < 0) continue;
        if (connect(s[i], (const struct sockaddr *)&a, sizeof a) != 0 && errno != EINPROGRESS) continue;
        open++;
        if (i % 3 && send(s[i], half, sizeof half - 1, MSG_NOSIGNAL) < 0) continue;
    }
    assert_true(open >= 500);
    const unsigned ticks = atomic_load(&p.ticks);
    for (int i = 0; i < 1000 && atomic_load(&p.ticks) < ticks + 50; i++) rest(1000);
    assert_true(atomic_load(&p.ticks) >= ticks + 50);
    for (int i = 0; i < COUNT; i++)
        if (s[i] >= 0) (void)close(s[i]);
    json_decref(get("/api/overview", 200));
    end();
}

/* How much slower than a build for users this one may be. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(REEF_CHECKED) || !defined(__OPTIMIZE__)
enum { SLOWER = 20 };
#else
enum { SLOWER = 1 };
#endif

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The shortest time of some requests, in ms: what else the machine does is left out. */
static double shortest_ms(const char *path)
{
    double shortest = 1e9;
    for (int k = 0; k < 15; k++) {
        const double begin = seconds();
        json_decref(get(path, 200));
        const double ms = (seconds() - begin) * 1000;
        if (ms < shortest) shortest = ms;
    }
    return shortest;
}

/* A slow loris: a hundred connections that say half of a request, a byte at a time, and are opened again when the
 * server closes them. Other requests are answered as if they weren't there. */
static void F11_half_open_connections_stall_no_request(void **state)
{
    enum { COUNT = 100 };
    static const char half[] =
        "GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: 0123456789012345678901234567890";
    static int s[COUNT];
    size_t sent = 0;
    double longest = 0;
    begin(world_of(state));
    for (int i = 0; i < COUNT; i++) assert_true((s[i] = dial()) >= 0);
    const double end_at = seconds() + 3;
    for (; seconds() < end_at; sent++) {
        for (int i = 0; i < COUNT; i++) {
            char gone;
            const bool closed = recv(s[i], &gone, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
            if (closed || send(s[i], half + sent % (sizeof half - 1), 1, MSG_NOSIGNAL) < 0) {
                (void)close(s[i]);
                assert_true((s[i] = dial()) >= 0);
            }
        }
        const double begin = seconds();
        json_decref(get("/api/overview", 200));
        const double took = seconds() - begin;
        if (took > longest) longest = took;
        rest(20000);
    }
    if (longest > 4) /* a request that had to wait for their end would take five */
        fail_msg("a request took %.2f s", longest);
    for (int i = 0; i < COUNT; i++) (void)close(s[i]);
    end();
}

/* ---- what it answers ---- */

/* Without a query, each entity is listed once, whatever it has, also over several pages. */
static void list_all(void)
{
    char path[100];
    bool seen[1000] = {false};
    json_t *j = get("/api/entities?limit=1", 200);
    const long long total = number(j, "total");
    json_decref(j);
    assert_true(total > 10 && total < 1000);
    for (long long at = 0; at < total; at += 7) {
        size_t k;
        json_t *row;
        snprintf(path, sizeof path, "/api/entities?limit=7&offset=%lld", at);
        j = get(path, 200);
        assert_int_equal(json_array_size(json_object_get(j, "rows")), at + 7 <= total ? 7 : total - at);
        json_array_foreach(json_object_get(j, "rows"), k, row)
        {
            const int index = atoi(text_of(row, "id"));
            assert_true(index < 1000 && !seen[index]);
            seen[index] = true;
        }
        json_decref(j);
    }
}

static void F11_entities_are_found_by_query_name_and_id(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[50];
    for (int i = 0; i < 50; i++) {
        char name[32];
        e[i] = i % 2 ? reef_spawn(w, reef_with(Place, (float)i, 2))
                     : reef_spawn(w, reef_with(Place, (float)i, 2), reef_tag(Wounded));
        snprintf(name, sizeof name, "fish %d", i);
        assert_ok(reef_set_name(w, e[i], name));
    }
    assert_ok(reef_set_name(w, e[3], "bad \xFF\xC0 <script>\"'&"));
    for (int i = 0; i < 8; i++) (void)reef_create(w); /* without anything */
    const reef_entity prefab = reef_spawn(w, reef_with(Speed, 1, 2)), off = reef_spawn(w, reef_with(Vigor, 3));
    assert_ok(reef_make_prefab(w, prefab));
    assert_ok(reef_enable_id(w, off, (reef_component){0}, false));
    begin(w);
    json_t *j = get("/api/entities?q=Place,!Wounded&limit=10&offset=20&show=Place", 200);
    assert_int_equal(number(j, "total"), 25);
    const json_t *rows = json_object_get(j, "rows");
    assert_int_equal(json_array_size(rows), 5);
    assert_string_equal(text_of(json_array_get(rows, 4), "name"), "fish 49");
    const json_t *place = json_object_get(json_object_get(json_array_get(rows, 4), "values"), "Place");
    assert_true(json_number_value(json_object_get(place, "x")) == 49);
    json_decref(j);
    j = get("/api/entities?q=%22fish%204%22", 200); /* a part of the name */
    assert_int_equal(number(j, "total"), 11);
    json_decref(j);
    j = get("/api/entities", 200);
    assert_int_equal(number(j, "total"), 60);
    json_decref(j);
    list_all();
    j = get("/api/entities?q=Plaec", 400);
    assert_non_null(strstr(text_of(j, "error"), "Place"));
    json_decref(j);
    j = get("/api/explain?q=Place,%20!Wounded", 200);
    assert_true(json_is_true(json_object_get(j, "good")));
    assert_int_equal(number(j, "count"), 25);
    json_decref(j);
    j = get("/api/explain?q=Place,%20Wuonded", 200);
    assert_true(json_is_false(json_object_get(j, "good")));
    assert_int_equal(number(j, "column"), 8);
    json_decref(j);
    char path[100];
    snprintf(path, sizeof path, "/api/entity?id=%uv%u", (unsigned)e[3].index, (unsigned)e[3].generation);
    j = get(path, 200); /* bytes that are no text are replaced, and the rest is the page's to escape */
    assert_string_equal(text_of(j, "name"), "bad \xEF\xBF\xBD\xEF\xBF\xBD <script>\"'&");
    json_decref(j);
    end();
}

/* The first page, one from the end, and the whole list without a query. */
static void F11_a_page_of_a_million_entities_is_answered_at_once(void **state)
{
    enum { MANY = 1000000 };
    static const char *const paths[] = {"/api/entities?q=Place,in%20Speed&show=Place,Speed&limit=100",
                                        "/api/entities?q=Place,in%20Speed&show=Place,Speed&limit=100&offset=900000",
                                        "/api/entities?limit=100&offset=900000",
                                        "/api/entities?q=%22mover%2099%22&limit=100", "/api/explain?q=Place,!Vigor"};
    reef_world *w = world_of(state);
    (void)reef_system(w, move, "Place, in Speed");
    assert_int_equal(reef_spawn_many(w, MANY, NULL, reef_with(Place, 0, 0), reef_with(Speed, 1, 1)), 0);
    begin(w);
    json_t *j = get(paths[1], 200);
    assert_int_equal(number(j, "total"), MANY);
    assert_int_equal(json_array_size(json_object_get(j, "rows")), 100);
    assert_string_equal(text_of(json_array_get(json_object_get(j, "rows"), 0), "id"), "900000v1");
    json_decref(j);
    j = get(paths[2], 200);
    assert_int_equal(number(j, "total"), MANY);
    assert_string_equal(text_of(json_array_get(json_object_get(j, "rows"), 99), "id"), "900099v1");
    json_decref(j);
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        const double ms = shortest_ms(paths[k]);
        print_message("           %5.1f ms  %s\n", ms, paths[k]);
        if (ms > 50 * SLOWER && !getenv("REEF_SLOW_MACHINE")) fail_msg("%s took %.1f ms", paths[k], ms);
    }
    end();
}

static void F11_types_tables_systems_and_relations_are_listed(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_spawn(w, reef_with(Place, 0, 0)), b = reef_spawn(w, reef_with(Place, 0, 0)),
                      c = reef_spawn(w, reef_with(Place, 0, 0));
    assert_true(reef_relate(w, b, Likes, a) >= 0 && reef_relate(w, c, Likes, a) >= 0);
    assert_true(reef_relate(w, b, ChildOf, a) >= 0 && reef_relate(w, c, ChildOf, b) >= 0);
    assert_ok(reef_set_name(w, a, "parent"));
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, bury, "in Vigor; destroys");
    begin(w);
    json_t *j = get("/api/types", 200);
    size_t i;
    json_t *one;
    bool found = false;
    json_array_foreach(json_object_get(j, "types"), i, one)
    {
        if (strcmp(text_of(one, "name"), "Place") != 0) continue;
        const json_t *x = json_array_get(json_object_get(one, "fields"), 0);
        found = true;
        assert_int_equal(number(one, "count"), 3);
        assert_string_equal(text_of(x, "unit"), "m");
        assert_true(json_number_value(json_object_get(x, "lowest")) == -100);
    }
    assert_true(found);
    json_decref(j);
    j = get("/api/tables", 200);
    one = json_array_get(json_object_get(j, "tables"), 0);
    assert_int_equal(number(one, "rows"), 3);
    assert_int_equal(number(one, "bytes"), 3 * 16);
    json_decref(j);
    j = get("/api/systems", 200);
    one = json_array_get(json_object_get(j, "systems"), 0);
    assert_string_equal(text_of(one, "name"), "move");
    assert_string_equal(json_string_value(json_array_get(json_array_get(json_object_get(one, "touches"), 1), 0)),
                        "writes");
    json_decref(j);
    j = get("/api/tree", 200);
    assert_int_equal(number(j, "total"), 1);
    assert_string_equal(text_of(json_array_get(json_object_get(j, "rows"), 0), "label"), "parent");
    json_decref(j);
    char path[100];
    snprintf(path, sizeof path, "/api/tree?relation=Likes&parent=%uv%u", (unsigned)a.index, (unsigned)a.generation);
    j = get(path, 200);
    assert_int_equal(number(j, "total"), 2);
    json_decref(j);
    j = get("/api/entity?id=parent", 200);
    one = json_array_get(json_object_get(j, "sources"), 0);
    assert_string_equal(text_of(one, "type"), "ChildOf");
    assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(j, "sources"), 1), "sources")), 2);
    json_decref(j);
    end();
}

static void F11_the_stream_tells_of_ticks(void **state)
{
    char text[300], got[4000];
    size_t n = 0;
    begin(world_of(state));
    const int s = dial();
    snprintf(text, sizeof text, "GET /api/stream HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n\r\n",
             (unsigned)reef_inspector_port(p.inspector), token);
    assert_true(send(s, text, strlen(text), MSG_NOSIGNAL) > 0);
    while (n < sizeof got - 1) {
        const ssize_t k = recv(s, got + n, sizeof got - 1 - n, 0);
        if (k <= 0) break;
        n += (size_t)k;
        got[n] = 0;
        if (strstr(got, "\"paused\":false") && strstr(got, "event: ticks\ndata: [[")) break;
    }
    (void)close(s);
    assert_non_null(strstr(got, "Content-Type: text/event-stream"));
    assert_non_null(strstr(got, "event: ticks\ndata: [["));
    assert_non_null(strstr(got, "\"paused\":false"));
    assert_true(reef_inspector_is_open(p.inspector));
    end();
}

/* ---- editing ---- */

static json_t *edit(reef_entity e, const char *component, const char *field, const char *value, int status)
{
    char body[400];
    snprintf(body, sizeof body,
             "[{\"do\":\"set\",\"entity\":\"%uv%u\",\"component\":\"%s\",\"field\":\"%s\",\"value\":%s}]",
             (unsigned)e.index, (unsigned)e.generation, component, field, value);
    return post("/api/edit", body, status);
}

static void F11_fields_of_every_kind_are_edited_in_their_range(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(All, false), reef_with(Place, 1, 2), reef_with(Opaque, 7));
    static const struct {
        const char *field, *value;
        int status;
    } cases[] = {
        {"yes", "true", 200},
        {"yes", "1", 400},
        {"small", "-128", 200},
        {"small", "-129", 400},
        {"small", "128", 400},
        {"middle", "65535", 200},
        {"middle", "65536", 400},
        {"middle", "-1", 400},
        {"large", "\"-9223372036854775808\"", 200},
        {"large", "\"x\"", 400},
        {"huge", "\"18446744073709551615\"", 200},
        {"huge", "\"18446744073709551616\"", 400},
        {"wide", "\"NaN\"", 200},
        {"wide", "0.1", 200},
        {"wide", "true", 400},
        {"text", "\"eight by\"", 200},
        {"text", "\"more than it\"", 400},
        {"other", "\"0v1\"", 200},
        {"other", "null", 200},
        {"other", "\"nobody\"", 400},
        {"list", "2.5", 200},
        {"nothing", "1", 400},
    };
    begin(w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        json_decref(edit(e, "All", cases[i].field, cases[i].value, cases[i].status));
    json_decref(edit(e, "Place", "x", "-100", 200));
    json_t *j = edit(e, "Place", "x", "100.5", 400);
    assert_non_null(strstr(text_of(j, "error"), "expected -100 ... 100"));
    json_decref(j);
    json_decref(edit(e, "Vigor", "points", "1", 400)); /* it has none */
    json_decref(edit(e, "Opaque", "x", "1", 400));     /* it has no fields */
    end();
    const All *all = reef_get(w, e, All);
    assert_true(all->yes && all->small == -128 && all->middle == 65535 && all->large == INT64_MIN);
    assert_true(all->huge == UINT64_MAX && all->wide == 0.1 && memcmp(all->text, "eight by", 8) == 0);
    assert_true(reef_entity_is_null(all->other) && all->list[0] == 2.5f && all->list[1] == 0);
    assert_true(reef_get(w, e, Place)->x == -100);
}

static void F11_edits_are_done_together_or_not_at_all(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Place, 1, 2)), other = reef_spawn(w, reef_with(Place, 0, 0));
    begin(w);
    assert_int_equal(e.index, 0);
    json_decref(post("/api/edit",
                     "[{\"do\":\"add\",\"entity\":\"0v1\",\"component\":\"Vigor\"},"
                     "{\"do\":\"destroy\",\"entity\":\"77v1\"}]",
                     400));
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/entities?q=Vigor", 200);
    assert_int_equal(number(j, "total"), 0);
    json_decref(j);
    post_ok("/api/edit", "[{\"do\":\"add\",\"entity\":\"0v1\",\"component\":\"Vigor\"},"
                         "{\"do\":\"name\",\"entity\":\"0v1\",\"name\":\"bob\"},"
                         "{\"do\":\"enable\",\"entity\":\"0v1\",\"component\":\"Place\",\"on\":false},"
                         "{\"do\":\"relate\",\"entity\":\"0v1\",\"component\":\"Likes\",\"target\":\"1v1\"},"
                         "{\"do\":\"spawn\"}]");
    j = get("/api/entities?q=Vigor", 200); /* also while it is paused */
    assert_int_equal(number(j, "total"), 1);
    json_decref(j);
    end();
    assert_entity(e, reef_find(w, "bob"));
    assert_false(reef_is_enabled(w, e, Place));
    assert_true(reef_related(w, e, Likes, other));
    assert_int_equal(reef_count_alive(w), 3);
}

/* ---- time ---- */

static void F8_a_program_is_paused_stepped_and_hastened(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, burn, "Vigor");
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0), reef_with(Speed, 2, 0), reef_with(Vigor, 500000));
    for (int waits = 0; waits < 2; waits++) {
        begin_with(w, (reef_inspector_config){.writes = true, .waits = waits});
        post_ok("/api/control", "{\"pause\":true}");
        rest(20000);
        const long long tick = tick_now();
        rest(20000);
        assert_int_equal(tick_now(), tick);
        post_ok("/api/control", "{\"step\":1}");
        rest(50000);
        assert_int_equal(tick_now(), tick + 1);
        post_ok("/api/control", "{\"step\":5}");
        rest(100000);
        assert_int_equal(tick_now(), tick + 6);
        /* a system: the world itself stays where it is */
        json_t *j = post("/api/control", "{\"step\":\"system\"}", 200);
        assert_string_equal(text_of(j, "system"), "move");
        assert_int_equal(number(j, "count"), 2);
        json_decref(j);
        j = get("/api/diff?from=before-step&to=step", 200);
        assert_int_equal(number(j, "total"), 1);
        assert_string_equal(text_of(json_array_get(json_object_get(j, "changes"), 0), "component"), "Place");
        json_decref(j);
        j = post("/api/control", "{\"step\":\"system\"}", 200);
        assert_string_equal(text_of(j, "system"), "burn");
        json_decref(j);
        assert_int_equal(tick_now(), tick + 6);
        j = post("/api/control", "{\"step\":\"system\"}", 200); /* behind the last one, the tick itself */
        assert_true(json_is_true(json_object_get(j, "done")));
        json_decref(j);
        rest(50000);
        assert_int_equal(tick_now(), tick + 7);
        post_ok("/api/control", "{\"speed\":0.25,\"pause\":false}");
        rest(20000);
        assert_true(tick_now() > tick + 7);
        post_ok("/api/control", "{\"speed\":10}");
        const long long before = tick_now();
        const unsigned own = atomic_load(&p.ticks);
        rest(100000);
        const long long all = tick_now() - before, of_program = atomic_load(&p.ticks) - own;
        if (all < 4 * of_program) fail_msg("%lld ticks, %lld of the program", all, of_program);
        end();
    }
    assert_true(reef_get(w, e, Vigor)->points < 500000 - 20);
}

static void G8_going_back_shows_and_restores_old_values(void **state)
{
    reef_world *w = world_of(state);
    char path[200], body[100];
    (void)reef_system(w, burn, "Vigor");
    const reef_entity e = reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true, .record_ticks = 300});
    while (atomic_load(&p.ticks) < 200) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    const long long tick = tick_now(), old = tick - 100;
    snprintf(path, sizeof path, "/api/entity?id=%uv%u&at=%lld", (unsigned)e.index, (unsigned)e.generation, old);
    json_t *j = get(path, 200);
    const json_t *value =
        json_array_get(json_object_get(json_array_get(json_object_get(j, "components"), 0), "values"), 0);
    assert_int_equal(number(value, "points"), 100000 - old);
    json_decref(j);
    snprintf(path, sizeof path, "/api/curve?id=%uv%u&component=Vigor&field=points&from=%lld&to=%lld", (unsigned)e.index,
             (unsigned)e.generation, old, old + 9);
    j = get(path, 200);
    assert_int_equal(json_array_size(json_object_get(j, "points")), 10);
    for (size_t i = 0; i < 10; i++) {
        const json_t *point = json_array_get(json_object_get(j, "points"), i);
        assert_int_equal(json_integer_value(json_array_get(point, 0)), old + (long long)i);
        assert_true(json_number_value(json_array_get(point, 1)) == (double)(100000 - old - (long long)i));
    }
    json_decref(j);
    snprintf(path, sizeof path, "/api/diff?from=%lld&to=%lld", old, tick);
    j = get(path, 200);
    value = json_array_get(json_object_get(j, "changes"), 0);
    assert_int_equal(number(json_object_get(value, "was"), "points"), 100000 - old);
    assert_int_equal(number(json_object_get(value, "is"), "points"), 100000 - tick);
    json_decref(j);
    snprintf(path, sizeof path, "/api/when?id=%uv%u&component=Vigor&field=points&before=%lld", (unsigned)e.index,
             (unsigned)e.generation, old);
    j = get(path, 200);
    assert_int_equal(number(j, "tick"), old);
    json_decref(j);
    snprintf(body, sizeof body, "{\"restore\":%lld}", old);
    post_ok("/api/control", body);
    assert_int_equal(tick_now(), old);
    snprintf(path, sizeof path, "/api/entity?id=0v1&at=%lld", tick); /* the abandoned future isn't kept */
    json_decref(get(path, 404));
    json_decref(post("/api/control", "{\"restore\":999999999}", 409));
    end();
    assert_int_equal(reef_get(w, e, Vigor)->points, 100000 - (int)reef_tick_count(w));
}

static void F11_an_inspector_turns_to_another_world(void **state)
{
    reef_world *w = world_of(state), *other = reef_world_new(NULL);
    (void)reef_spawn(w, reef_with(Vigor, 1));
    for (int i = 0; i < 5; i++) (void)reef_spawn(other, reef_with(Vigor, 2));
    (void)reef_system(other, burn, "Vigor");
    begin_with(w, (reef_inspector_config){.writes = true, .record = true});
    while (atomic_load(&p.ticks) < 300) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    post_ok("/api/record", "{\"trace\":true}");
    assert_true(reef_is_paused(w));
    atomic_store(&p.turn, other);
    while (atomic_load(&p.turn)) rest(1000);
    rest(20000);
    json_t *j = get("/api/overview", 200);
    assert_int_equal(number(j, "entities"), 5);
    json_decref(j);
    assert_false(reef_is_paused(w));           /* the old one is as it was */
    json_decref(get("/api/hash?at=200", 404)); /* and so are its recorded states gone */
    j = get("/api/ticks", 200);
    for (size_t k = 0; k < json_array_size(json_object_get(j, "rows")); k++)
        assert_int_equal(json_integer_value(json_array_get(json_array_get(json_object_get(j, "rows"), k), 2)), 5);
    json_decref(j);
    post_ok("/api/control", "{\"pause\":false}");
    while (tick_now() < 3) rest(1000);
    j = get("/api/who?tick=2", 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_int_equal(number(j, "total"), 5);
    json_decref(j);
    end();
    reef_world_free(other);
}

/* A condition that becomes true, later false, and true again: the last time is found. */
static void pulse(reef_block *b)
{
    const uint64_t t = reef_tick_count(b->world);
    const reef_entity e = b->entities[0];
    if (t == 10 || t == 40) (void)reef_cmd_add(b, e, Wounded);
    if (t == 20 || t == 50) (void)reef_cmd_remove(b, e, Wounded);
}

static void breed_slowly(reef_block *b)
{
    if (reef_tick_count(b->world) % 10 == 0) (void)reef_cmd_spawn(b, reef_with(Place, 0, 0));
}

static void G8_the_tick_in_which_a_condition_became_true_is_found(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, pulse, "in Place; adds Wounded, removes Wounded");
    (void)reef_spawn(w, reef_with(Place, 0, 0));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    while (atomic_load(&p.ticks) < 70) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/when?q=Wounded", 200);
    assert_int_equal(number(j, "tick"), 40);
    json_decref(j);
    j = get("/api/when?q=Wounded&before=39", 200);
    assert_int_equal(number(j, "tick"), 10);
    json_decref(j);
    j = get("/api/when?q=Wounded&before=9", 200);
    assert_true(json_is_null(json_object_get(j, "tick")));
    json_decref(j);
    json_decref(get("/api/when?q=Nonsense", 400));
    json_decref(get("/api/when?q=Place&above=x", 400));
    end();
}

/* Conditions with a bound, of a field and of the number of matches, and the curve of that number. */
static void G8_conditions_have_bounds(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, breed_slowly, "; spawns Place");
    const reef_entity e = reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    while (atomic_load(&p.ticks) < 70) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    char path[200];
    const struct {
        const char *query;
        long long tick; /* -1: never */
    } cases[] = {{"component=Vigor&field=points&below=99970", 31},
                 {"component=Vigor&field=points&above=5", -1},
                 {"q=Place&above=3", 40},
                 {"q=Place&above=3&before=39", -1},
                 {"q=Place", 10},
                 {"q=Place&below=2", -1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        snprintf(path, sizeof path, "/api/when?id=%uv%u&%s", (unsigned)e.index, (unsigned)e.generation, cases[k].query);
        json_t *j = get(path, 200);
        const json_t *tick = json_object_get(j, "tick");
        if ((json_is_null(tick) ? -1 : json_integer_value(tick)) != cases[k].tick)
            fail_msg("%s: %lld", path, (long long)json_integer_value(tick));
        json_decref(j);
    }
    json_t *j = get("/api/curve?q=Place&from=5&to=44", 200);
    assert_int_equal(json_array_size(json_object_get(j, "points")), 40);
    for (size_t k = 0; k < 40; k++) {
        const json_t *point = json_array_get(json_object_get(j, "points"), k);
        const long long tick = json_integer_value(json_array_get(point, 0));
        assert_int_equal(json_integer_value(json_array_get(point, 1)), tick / 10);
    }
    json_decref(j);
    json_decref(get("/api/curve?q=Nonsense", 400));
    end();
}

/* ---- events ---- */

static void complain(reef_block *b)
{
    const Vigor *v = reef_in(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++)
        if (v[i].points % 10 == 0) (void)reef_send(b, Vigor, v[i].points);
}

static void F11_events_are_listed_while_somebody_listens(void **state)
{
    reef_world *w = world_of(state), *other = reef_world_new(NULL);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, complain, "in Vigor; sends Vigor");
    (void)reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true});
    json_decref(get("/api/events", 200));
    const unsigned begin = atomic_load(&p.ticks);
    while (atomic_load(&p.ticks) < begin + 60) rest(1000);
    json_t *j = get("/api/events?limit=3&type=Vigor", 200);
    const json_t *rows = json_object_get(j, "rows");
    assert_int_equal(json_array_size(rows), 3);
    for (size_t k = 0; k < 3; k++) { /* points of which one burns in each tick */
        const json_t *row = json_array_get(rows, k);
        assert_string_equal(json_string_value(json_array_get(row, 2)), "Vigor");
        const long long points = number(json_array_get(row, 3), "points");
        assert_int_equal(points % 10, 0);
        assert_int_equal(json_integer_value(json_array_get(row, 1)), 100000 - points);
    }
    const long long total = number(json_object_get(j, "totals"), "Vigor");
    assert_true(total >= 5 && total < 1000000);
    char path[100];
    snprintf(path, sizeof path, "/api/events?after=%lld", number(j, "next"));
    json_decref(j);
    rest(10000);
    j = get(path, 200); /* no more than what came since */
    assert_true(json_array_size(json_object_get(j, "rows")) < 50);
    json_decref(j);
    j = get("/api/events?limit=4", 200);
    assert_int_equal(json_array_size(json_object_get(j, "rows")), 4);
    json_decref(j);
    json_decref(get("/api/events?type=Nonsense", 404));
    atomic_store(&p.turn, other); /* the readers are given back */
    while (atomic_load(&p.turn)) rest(1000);
    rest(5000);
    j = get("/api/events", 200);
    assert_int_equal(json_object_size(json_object_get(j, "totals")), 0);
    json_decref(j);
    end();
    assert_int_equal(reef_world_stats(w).events, 0); /* none is kept for a reader that is gone */
    reef_world_free(other);
}

/* ---- who ---- */

static void G8_the_system_that_changed_something_is_named(void **state)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 4};
    static const char *const names[] = {"mark0", "mark1", "mark2", "mark3", "mark4"};
    enum { ENTITIES = 300 };
    reef_world *w = world_of(state);
    char path[100];
    unsigned right = 0;
    for (uint32_t k = 0; k < 5; k++) /* three in one phase, two in another */
        (void)reef_system_new(w, &(reef_system_desc){.name = names[k],
                                                     .function = mark,
                                                     .text = "Mark",
                                                     .phase = k < 3 ? "update" : "end",
                                                     .context = (void *)(uintptr_t)&numbers[k]});
    for (int i = 0; i < ENTITIES; i++) (void)reef_spawn(w, reef_with(Mark, 0));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    while (atomic_load(&p.ticks) < 30) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    for (uint64_t tick = 7; tick < 27; tick += 6) {
        size_t i;
        json_t *one;
        unsigned changed = 0;
        snprintf(path, sizeof path, "/api/who?tick=%d&limit=1000", (int)tick);
        json_t *j = get(path, 200);
        assert_true(json_is_true(json_object_get(j, "exact")));
        json_array_foreach(json_object_get(j, "changes"), i, one)
        {
            const uint32_t index = (uint32_t)atoi(text_of(one, "id")), by = writer_of(tick, index);
            const json_t *systems = json_object_get(one, "by");
            assert_true(by < 5);
            assert_int_equal(json_array_size(systems), 1);
            assert_string_equal(json_string_value(json_array_get(systems, 0)), names[by]);
            right++;
        }
        for (uint32_t index = 0; index < ENTITIES; index++) changed += writer_of(tick, index) < 5;
        assert_int_equal(number(j, "total"), changed);
        json_decref(j);
    }
    assert_true(right > 4 * ENTITIES / 2);
    json_decref(get("/api/who?tick=1", 404)); /* the tick before it isn't recorded */
    json_decref(get("/api/who?tick=999999", 404));
    end();
}

static const json_t *change_of(const json_t *j, const char *kind, const char *component, const char *id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(j, "changes"), i, one)
    {
        if (strcmp(text_of(one, "kind"), kind) == 0 && strcmp(text_of(one, "component"), component) == 0 &&
            (id == NULL || strcmp(text_of(one, "id"), id) == 0))
            return one;
    }
    return NULL;
}

static const char *by_of(const json_t *change, size_t k)
{
    const char *name = json_string_value(json_array_get(json_object_get(change, "by"), k));
    return name ? name : "";
}

/* What commands did at the end of the phase, two systems that write the same, and what nobody in the tick did. */
static void G8_commands_and_changes_from_outside_are_told_apart(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system_new(w, &(reef_system_desc){.name = "burn_more", .function = burn, .text = "Vigor, with Wounded"});
    (void)reef_system(w, bury, "in Vigor; destroys");
    (void)reef_system(w, breed, "; spawns Place Speed");
    (void)reef_spawn(w, reef_with(Vigor, 100000));                     /* 0v1 */
    (void)reef_spawn(w, reef_with(Vigor, 1000000), reef_tag(Wounded)); /* 1v1 */
    (void)reef_spawn(w, reef_with(Place, 0, 0), reef_with(Speed, 2, 0),
                     reef_with(Vigor, 25)); /* 2v1: dies in tick 25 */
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    while (atomic_load(&p.ticks) < 35) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/who?tick=24", 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_string_equal(by_of(change_of(j, "value", "Place", "2v1"), 0), "move");
    assert_string_equal(by_of(change_of(j, "value", "Vigor", "0v1"), 0), "burn");
    const json_t *both = change_of(j, "value", "Vigor", "1v1");
    assert_string_equal(by_of(both, 0), "burn");
    assert_string_equal(by_of(both, 1), "burn_more");
    json_decref(j);
    j = get("/api/who?tick=25", 200);
    assert_string_equal(by_of(change_of(j, "gone", "", "2v1"), 0), "bury");
    json_decref(j);
    j = get("/api/who?tick=30", 200);
    assert_string_equal(by_of(change_of(j, "born", "", NULL), 0), "breed");
    assert_string_equal(by_of(change_of(j, "added", "Speed", NULL), 0), "breed");
    json_decref(j);
    /* An edit is no system's. The state with it takes the place of the recorded one; the next tick begins with it. */
    const long long tick = tick_now();
    post_ok("/api/edit",
            "[{\"do\":\"set\",\"entity\":\"0v1\",\"component\":\"Vigor\",\"field\":\"points\",\"value\":77}]");
    char path[100];
    snprintf(path, sizeof path, "/api/who?tick=%lld&id=0v1", tick);
    j = get(path, 200);
    assert_true(json_is_false(json_object_get(j, "exact")));
    const json_t *by = json_object_get(change_of(j, "value", "Vigor", "0v1"), "by");
    assert_true(json_is_null(json_array_get(by, json_array_size(by) - 1)));
    json_decref(j);
    post_ok("/api/control", "{\"step\":1}");
    rest(50000);
    snprintf(path, sizeof path, "/api/who?tick=%lld&id=0v1", tick + 1);
    j = get(path, 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_int_equal(number(json_object_get(change_of(j, "value", "Vigor", "0v1"), "is"), "points"), 76);
    json_decref(j);
    end();
}

static void G8_what_if_plays_both_futures(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, bury, "in Vigor; destroys");
    (void)reef_spawn(w, reef_with(Vigor, 1000000)); /* 0v1 */
    (void)reef_spawn(w, reef_with(Vigor, 1000000)); /* 1v1 */
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    while (atomic_load(&p.ticks) < 20) rest(1000);
    post_ok("/api/control", "{\"pause\":true}");
    const long long tick = tick_now();
    json_t *j =
        post("/api/whatif/play",
             "{\"at\":10,\"ticks\":8,\"watches\":[\"Vigor\",\"Wounded\"],\"edits\":[{\"do\":\"set\",\"entity\":\"1v1\","
             "\"component\":\"Vigor\",\"field\":\"points\",\"value\":3}]}",
             200);
    const json_t *series = json_object_get(j, "series");
    assert_int_equal(json_array_size(series), 9);
    for (size_t i = 0; i < 9; i++) {
        const json_t *row = json_array_get(series, i);
        assert_int_equal(json_integer_value(json_array_get(row, 0)), 10 + (long long)i);
        assert_int_equal(json_integer_value(json_array_get(json_array_get(row, 1), 1)), 2);
        assert_int_equal(json_integer_value(json_array_get(json_array_get(row, 2), 1)), i < 3 ? 2 : 1);
    }
    json_decref(j);
    j = get("/api/diff?from=without&to=with", 200);
    assert_non_null(change_of(j, "gone", "", "1v1"));
    assert_null(change_of(j, "value", "Vigor", "0v1"));
    json_decref(j);
    j = get("/api/whatif", 200);
    assert_true(json_is_false(json_object_get(j, "running")));
    json_decref(j);
    assert_int_equal(tick_now(), tick); /* the world itself knows nothing of it */
    json_decref(post("/api/whatif/play", "{\"ticks\":1,\"edits\":[{\"do\":\"destroy\",\"entity\":\"9v9\"}]}", 409));
    json_decref(post("/api/whatif/play", "{\"ticks\":1,\"at\":123456}", 404));
    end();
    assert_int_equal(reef_count_alive(w), 2);
}

/* ---- beginning and end ---- */

static void F11_an_inspector_begins_and_ends(void **state)
{
    reef_world *w = world_of(state);
    char reason[REEF_DETAIL_MAX];
    assert_null(reef_inspect(NULL, NULL));
    assert_null(reef_inspect_why(w, &(reef_inspector_config){.token = "too short"}, reason));
    assert_non_null(strstr(reason, "16 to 64"));
    assert_null(reef_inspect_why(w, &(reef_inspector_config){.bind = "256.1.1.1"}, reason));
    assert_non_null(strstr(reason, "can't listen"));
    reef_inspector *i = reef_inspect(w, NULL), *other = reef_inspect(w, NULL);
    assert_non_null(i);
    assert_non_null(other); /* another port, another token */
    assert_string_not_equal(reef_inspector_address(i), reef_inspector_address(other));
    const char *at = strstr(reef_inspector_address(i), "/?token=");
    assert_non_null(at);
    assert_int_equal(strlen(at), 8 + 32);
    assert_int_equal(strncmp(reef_inspector_address(i), "http://127.0.0.1:", 17), 0);
    assert_null(reef_inspect_why(w, &(reef_inspector_config){.port = reef_inspector_port(i)}, reason));
    assert_false(reef_inspector_is_open(i));
    reef_inspector_update(i);
    reef_inspector_rest(i, 1);
    reef_inspector_free(other);
    reef_inspector_free(i);
    reef_inspector_free(NULL);
    reef_inspector_update(NULL);
    reef_inspector_rest(NULL, 1000000);
}

/* The program doesn't come by: who asks gets an answer all the same. */
static void F11_a_program_that_does_not_tick_is_told_of(void **state)
{
    reef_world *w = world_of(state);
    memset(&p, 0, sizeof p);
    p.world = w;
    p.inspector = reef_inspect(w, &(reef_inspector_config){.token = token, .writes = true});
    assert_non_null(p.inspector);
    json_decref(get("/api/overview", 503));
    json_decref(get("/api/ticks", 200));
    reef_inspector_free(p.inspector);
}

static reef_status no_copy(void *context, void *to, const void *from)
{
    (void)context, (void)to, (void)from;
    return REEF_NO_MEMORY;
}
static void no_destroy(void *context, void *slot) { (void)context, (void)slot; }
static const reef_hooks owner_hooks = {.destroy = no_destroy, .bytes_move = true};
typedef struct {
    int n;
} Owner;
REEF_COMPONENT_HOOKS(Owner, &owner_hooks);

static void F11_a_world_that_cannot_be_copied_is_told_of(void **state)
{
    reef_world *w = world_of(state);
    (void)no_copy;
    (void)reef_spawn(w, reef_with(Owner, 1));
    begin(w);
    json_t *j = get("/api/entities", 409);
    assert_non_null(strstr(text_of(j, "error"), "Owner"));
    json_decref(j);
    json_decref(get("/api/overview", 200));
    end();
}

/* ---- the prompt for SQL ---- */

static pthread_t sql_thread;
static atomic_bool long_runs, long_ends; /* a statement that is under way */

/* A language of a few words, in place of SQL. */
static reef_status words_answer(reef_world *w, const char *statements, bool read_only, reef_writer to, char *reason)
{
    char text[100];
    sql_thread = pthread_self();
    if (strcmp(statements, "count") == 0) {
        snprintf(text, sizeof text, "[{\"columns\":[\"n\"],\"rows\":[[%d]],\"more\":false,\"changed\":0}]",
                 (int)reef_count(w, Vigor));
        return to.write(to.context, text, strlen(text));
    }
    if (strcmp(statements, "spawn") == 0) {
        if (read_only) return REEF_REFUSED;
        (void)reef_spawn(w, reef_with(Vigor, 500));
        return to.write(to.context, "[]", 2);
    }
    if (strcmp(statements, "nul") == 0) return to.write(to.context, "[\"a\\u0000b\"]", 12);
    if (strcmp(statements, "no json") == 0) return to.write(to.context, "[1,", 3);
    if (strcmp(statements, "nothing") == 0) return REEF_OK;
    if (strcmp(statements, "long") == 0) {
        atomic_store(&long_runs, true);
        while (!atomic_load(&long_ends)) rest(1000);
        return to.write(to.context, "[]", 2);
    }
    if (strcmp(statements, "big") == 0) {
        static char much[9 << 20];
        return to.write(to.context, much, sizeof much);
    }
    if (strcmp(statements, "deep") == 0) {
        volatile char stack[1 << 20];
        for (size_t k = 0; k < sizeof stack; k += 4096) stack[k] = 1;
        return stack[0] ? to.write(to.context, "[]", 2) : REEF_IO;
    }
    snprintf(reason, 512, "near \"%.400s\"", statements);
    return REEF_BAD_TEXT;
}

static long long answered(const char *path)
{
    json_t *j = post(path, "{\"sql\":\"count\"}", 200);
    json_t *rows = json_object_get(json_array_get(json_object_get(j, "answers"), 0), "rows");
    const long long n = (long long)json_integer_value(json_array_get(json_array_get(rows, 0), 0));
    json_decref(j);
    return n;
}

static void *ask_long(void *status)
{
    reply r =
        request("POST", "/api/sql", "Content-Type: application/json\r\nContent-Length: 14\r\n", "{\"sql\":\"long\"}");
    *(int *)status = r.status;
    free(r.head);
    return NULL;
}

static void G7_the_prompt_reads_forks_and_changes_the_world_between_ticks(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Vigor, 100));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true, .sql = words_answer});
    json_t *j = get("/api/overview", 200);
    assert_true(json_is_true(json_object_get(j, "sql")));
    json_decref(j);
    assert_int_equal(answered("/api/sql"), 1);
    assert_false(pthread_equal(sql_thread, p.thread)); /* reading costs the simulation nothing */
    post_ok("/api/control", "{\"pause\":true}");
    const long long before = tick_now();
    post_ok("/api/sql", "{\"sql\":\"spawn\"}");
    assert_true(pthread_equal(sql_thread, p.thread));
    assert_int_equal(answered("/api/sql"), 2); /* at once, though no tick was played */
    char path[40];
    snprintf(path, sizeof path, "/api/sql?at=%lld", before - 1);
    assert_int_equal(answered(path), 1); /* the past is as it was, and stays so */
    json_decref(post(path, "{\"sql\":\"spawn\"}", 409));
    json_decref(post("/api/sql?at=99999999", "{\"sql\":\"count\"}", 404));
    post_ok("/api/control", "{\"pause\":false}");
    j = post("/api/sql", "{\"sql\":\"selekt\"}", 400);
    assert_string_equal(text_of(j, "error"), "near \"selekt\"");
    json_decref(j);
    post_ok("/api/sql", "{\"sql\":\"deep\"}"); /* a compiler has room */
    post_ok("/api/sql", "{\"sql\":\"nul\"}");
    json_decref(post("/api/sql", "{\"sql\":\"no json\"}", 503));
    json_decref(post("/api/sql", "{\"sql\":\"nothing\"}", 503));
    json_decref(post("/api/sql", "{\"sql\":\"big\"}", 400));
    json_decref(post("/api/sql", "{\"sql\":7}", 400));
    json_decref(post("/api/sql", "{}", 400));
    json_decref(post("/api/sql", "[]", 400));
    json_decref(get("/api/sql", 405));
    int status = 0;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, ask_long, &status), 0);
    while (!atomic_load(&long_runs)) rest(1000);
    const unsigned ticks = atomic_load(&p.ticks);
    json_decref(post("/api/sql", "{\"sql\":\"count\"}", 409)); /* one at a time */
    while (atomic_load(&p.ticks) - ticks < 20) rest(1000);     /* and it stops no tick */
    atomic_store(&long_ends, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(status, 200);
    end();
    assert_int_equal(reef_count(w, Vigor), 2);
}

static void G7_the_prompt_changes_nothing_unless_writes_are_allowed(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Vigor, 100));
    begin_with(w, (reef_inspector_config){.waits = true, .sql = words_answer});
    assert_int_equal(answered("/api/sql"), 1);
    json_decref(post("/api/sql", "{\"sql\":\"spawn\"}", 403));
    /* who is let in is as for every other path */
    static const char body[] = "{\"sql\":\"count\"}";
#define BEARER "Authorization: Bearer 0123456789abcdefX\r\n"
#define AS_JSON "Content-Type: application/json\r\n"
    static const struct {
        const char *host, *more;
        int status;
    } wrong[] = {{"127.0.0.1", AS_JSON, 401},
                 {"elsewhere", BEARER AS_JSON, 403},
                 {"127.0.0.1", BEARER AS_JSON "Origin: http://elsewhere\r\n", 403},
                 {"127.0.0.1", BEARER "Content-Type: text/plain\r\n", 415},
                 {"127.0.0.1", BEARER AS_JSON, 200}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[600];
        snprintf(text, sizeof text, "POST /api/sql HTTP/1.1\r\nHost: %s:%u\r\n%sContent-Length: %zu\r\n\r\n%s",
                 wrong[k].host, (unsigned)reef_inspector_port(p.inspector), wrong[k].more, strlen(body), body);
        assert_int_equal(status_of(text), wrong[k].status);
    }
    end();
    assert_int_equal(reef_count(w, Vigor), 1);
}

static void G7_without_a_prompt_there_is_no_path(void **state)
{
    reef_world *w = world_of(state);
    begin(w);
    json_decref(post("/api/sql", "{\"sql\":\"count\"}", 404));
    json_t *j = get("/api/overview", 200);
    assert_true(json_is_false(json_object_get(j, "sql")));
    json_decref(j);
    end();
}

#ifdef TEST_SQL
static void G7_the_prompt_speaks_sql(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .sql = reef_sql_json});
    json_t *j = post("/api/sql", "{\"sql\":\"update Place set x = x + 40; select id, x from Place\"}", 200);
    json_t *answers = json_object_get(j, "answers");
    assert_int_equal(number(json_array_get(answers, 0), "changed"), 1);
    char *rows = json_dumps(json_object_get(json_array_get(answers, 1), "rows"), JSON_COMPACT);
    assert_string_equal(rows, "[[0,41.0]]");
    free(rows);
    json_decref(j);
    j = post("/api/sql", "{\"sql\":\"update Place set x = 1000\"}", 400);
    assert_string_equal(text_of(j, "error"), "x has the range -100 ... 100");
    json_decref(j);
    json_decref(post("/api/sql", "{\"sql\":\"attach 'x.db' as x\"}", 400));
    /* one that never ends is ended, and the program ticks on */
    const unsigned ticks = atomic_load(&p.ticks);
    j = post("/api/sql",
             "{\"sql\":\"with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c\"}",
             400);
    assert_string_equal(text_of(j, "error"), "it takes longer than 2000 ms");
    json_decref(j);
    assert_true(atomic_load(&p.ticks) - ticks > 20);
    end();
    assert_true(reef_get(w, e, Place)->x == 41);
}
#endif

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        TEST(F11_an_inspector_begins_and_ends),
        TEST(F11_only_the_right_host_origin_and_token_are_let_in),
        TEST(F11_the_page_is_whole_and_closed),
        TEST(F11_no_writes_unless_they_are_allowed),
        TEST(F11_bodies_paths_and_parameters_are_bounded),
        TEST(F11_random_bytes_harm_nothing),
        TEST(F11_requests_a_second_are_bounded),
        TEST(F11_a_thousand_connections_stop_no_tick),
        TEST(F11_half_open_connections_stall_no_request),
        TEST(F11_entities_are_found_by_query_name_and_id),
        TEST(F11_a_page_of_a_million_entities_is_answered_at_once),
        TEST(F11_types_tables_systems_and_relations_are_listed),
        TEST(F11_the_stream_tells_of_ticks),
        TEST(F11_fields_of_every_kind_are_edited_in_their_range),
        TEST(F11_edits_are_done_together_or_not_at_all),
        TEST(F8_a_program_is_paused_stepped_and_hastened),
        TEST(G8_going_back_shows_and_restores_old_values),
        TEST(G8_the_tick_in_which_a_condition_became_true_is_found),
        TEST(G8_conditions_have_bounds),
        TEST(F11_events_are_listed_while_somebody_listens),
        TEST(G8_the_system_that_changed_something_is_named),
        TEST(G8_commands_and_changes_from_outside_are_told_apart),
        TEST(G8_what_if_plays_both_futures),
        TEST(F11_an_inspector_turns_to_another_world),
        TEST(F11_a_program_that_does_not_tick_is_told_of),
        TEST(F11_a_world_that_cannot_be_copied_is_told_of),
        TEST(G7_the_prompt_reads_forks_and_changes_the_world_between_ticks),
        TEST(G7_the_prompt_changes_nothing_unless_writes_are_allowed),
        TEST(G7_without_a_prompt_there_is_no_path),
#ifdef TEST_SQL
        TEST(G7_the_prompt_speaks_sql),
#endif
    };
    /* --fuzz SECONDS: only random requests, for that long; or the name of one test, or a pattern with * */
    if (count == 3 && strcmp(words[1], "--fuzz") == 0) {
        fuzz_seconds = (unsigned)atoi(words[2]);
        cmocka_set_test_filter("F11_random*");
    } else if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
