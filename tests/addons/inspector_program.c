/* The program of the suites of reef_inspector, and requests to it. */
#include "inspector_program.h"
#include <locale.h>
#include <sys/time.h>
#include <time.h>

/* ---- a world ---- */

void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    const Speed *v = reef_in(b, Speed);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt;
}
void burn(reef_block *b)
{
    Vigor *h = reef_inout(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++) h[i].points--;
}
void bury(reef_block *b)
{
    const Vigor *h = reef_in(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++)
        if (h[i].points <= 0) (void)reef_cmd_destroy(b, b->entities[i]);
}
void breed(reef_block *b)
{
    if (reef_tick_count(b->world) % 10 == 0) (void)reef_cmd_spawn(b, reef_with(Place, 0, 7), reef_with(Speed, 1, 0));
}

/* ---- the program ---- */

program played;

void rest(uint32_t us)
{
    const struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)nanosleep(&t, NULL);
}

double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *play(void *unused)
{
    (void)unused;
    while (!atomic_load(&played.ending)) {
        reef_world *other = atomic_exchange(&played.turn, NULL);
        if (other) reef_inspector_turn_to(played.inspector, played.world = other);
        if (reef_tick(played.world, 0.5f) < 0) atomic_fetch_add(&played.failures, 1);
        atomic_fetch_add(&played.ticks, 1);
        reef_inspector_update(played.inspector);
        if (played.rest_us) rest(played.rest_us);
    }
    return NULL;
}

void begin_with(reef_world *w, reef_inspector_config config)
{
    char reason[REEF_DETAIL_MAX];
    config.token = TOKEN;
    config.wait_ms = 600000; /* on a busy machine the program may not come by for long */
    memset(&played, 0, sizeof played);
    played.world = w;
    played.rest_us = 200;
    played.inspector = reef_inspect_why(w, &config, reason);
    if (played.inspector == NULL) fail_msg("%s", reason);
    assert_int_equal(pthread_create(&played.thread, NULL, play, NULL), 0);
    played.runs = true;
}
void begin(reef_world *w) { begin_with(w, (reef_inspector_config){.writes = true, .waits = true}); }

/* Ends the thread and the inspector. A program that the page holds wouldn't come to its end. */
static void stop(void)
{
    for (int status = 429; status == 429; rest(1000)) {
        reply r = request("POST", "/api/control", "Content-Type: application/json\r\nContent-Length: 15\r\n",
                          "{\"pause\":false}");
        status = r.status;
        free(r.head);
    }
    atomic_store(&played.ending, true);
    (void)pthread_join(played.thread, NULL);
    reef_inspector_free(played.inspector);
    played.runs = false;
}

void end(void)
{
    stop();
    assert_int_equal(atomic_load(&played.failures), 0);
    assert_false(reef_is_paused(played.world));
}

int program_end(void **state)
{
    if (played.runs) stop();
    return fixture_end(state);
}

void turn_to(reef_world *other)
{
    atomic_store(&played.turn, other);
    while (atomic_load(&played.turn)) rest(1000);
    const unsigned ticks = atomic_load(&played.ticks);
    wait_for_ticks(ticks + 2);
}

void wait_for_ticks(unsigned ticks)
{
    while (atomic_load(&played.ticks) < ticks) rest(1000);
}

/* ---- HTTP ---- */

int dial(void)
{
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(reef_inspector_port(played.inspector))};
    const struct timeval patience = {600, 0};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0) return -1;
    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(s, (const struct sockaddr *)&a, sizeof a) == 0) return s;
    (void)close(s);
    return -1;
}

reply ask(const void *bytes, size_t size)
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

int status_of(const char *text)
{
    reply r = ask(text, strlen(text));
    free(r.head);
    return r.status;
}

reply request(const char *method, const char *path, const char *more, const char *body)
{
    const size_t room = strlen(method) + strlen(path) + strlen(more) + strlen(body) + 200;
    char *text = malloc(room);
    assert_non_null(text);
    const int n = snprintf(text, room, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n%s\r\n%s",
                           method, path, (unsigned)reef_inspector_port(played.inspector), TOKEN, more, body);
    const reply r = ask(text, (size_t)n);
    free(text);
    return r;
}

static locale_t plain_locale(void)
{
    static locale_t plain;
    if (plain == (locale_t)0) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain;
}

json_t *json_of(reply r, int status)
{
    if (status && r.status != status) fail_msg("status %d, not %d: %s", r.status, status, r.body ? r.body : "");
    const locale_t before = uselocale(plain_locale()); /* the suite may run in one that jansson doesn't know */
    json_t *j = r.body ? json_loads(r.body, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    (void)uselocale(before);
    free(r.head);
    if (status) assert_non_null(j);
    return j;
}

json_t *get(const char *path, int status)
{
    const reply r = request("GET", path, "", "");
    if (status && r.status != status)
        fail_msg("%s: status %d, not %d: %s", path, r.status, status, r.body ? r.body : "");
    return json_of(r, status);
}

json_t *post(const char *path, const char *body, int status)
{
    char more[100];
    snprintf(more, sizeof more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    return json_of(request("POST", path, more, body), status);
}

void post_or_not(const char *path, const char *body) { json_decref(post(path, body, 0)); }
void post_ok(const char *path, const char *body) { json_decref(post(path, body, 200)); }

long long number(const json_t *j, const char *name) { return (long long)json_integer_value(json_object_get(j, name)); }
const char *text_of(const json_t *j, const char *name)
{
    const char *text = json_string_value(json_object_get(j, name));
    return text ? text : "";
}

void wait_for_tick(long long tick)
{
    while (tick_now() < tick) rest(4000);
    assert_int_equal(tick_now(), tick);
}

long long tick_now(void)
{
    json_t *j = get("/api/overview", 200);
    const long long tick = number(j, "tick");
    json_decref(j);
    return tick;
}
