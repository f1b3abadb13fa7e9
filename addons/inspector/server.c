/* The server: which requests are let in, what answers them, and the stream of events.
 *
 *   Host isn't one of ours            403    a page of another name that points to this machine (DNS rebinding)
 *   Origin isn't the page's own       403    a page of another site
 *   too many requests a second        429
 *   no token, or a wrong one          401    the token is a parameter, a bearer token, or the cookie that the page gets
 *   no such path                      404
 *   another method than the path's    405
 *   a POST, but no writes allowed     403
 *   not application/json              415    so that no form of another site gets this far
 *   no length; a body of over 64 KiB  411, 413
 *
 * Only then is anything looked at or done. */
#include "inspector.h"
#include "page.h"
#include <civetweb.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- answers ---- */

static const char security[] = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                               "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
                               "frame-ancestors 'none'\r\n"
                               "X-Content-Type-Options: nosniff\r\n"
                               "X-Frame-Options: DENY\r\n"
                               "Referrer-Policy: no-referrer\r\n"
                               "Cross-Origin-Resource-Policy: same-origin\r\n"
                               "Cross-Origin-Opener-Policy: same-origin\r\n"
                               "Cache-Control: no-store\r\n"
                               "Connection: close\r\n";

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {409, "Conflict"},
                 {411, "Length Required"},
                 {413, "Content Too Large"},
                 {415, "Unsupported Media Type"},
                 {429, "Too Many Requests"},
                 {503, "Service Unavailable"}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].status == status) return known[k].words;
    return "Error";
}

static int send_bytes(struct mg_connection *c, int status, const char *type, const char *more, const void *bytes,
                      size_t size)
{
    (void)mg_printf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", status,
                    status_words(status), type, size, security, more);
    if (size && strcmp(mg_get_request_info(c)->request_method, "HEAD") != 0) (void)mg_write(c, bytes, size);
    return status;
}

static int send_json(struct mg_connection *c, int status, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (text == NULL) return send_bytes(c, 503, "application/json", "", "{\"error\":\"no memory\"}", 21);
    (void)send_bytes(c, status, "application/json", "", text, strlen(text));
    free(text);
    return status;
}

static int send_error(struct mg_connection *c, int status, const char *error)
{
    json_t *j = json_object();
    json_object_set_new(j, "error", inspector_json_text(error));
    return send_json(c, status, j);
}

json_t *inspector_refuse(request *r, int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(r->error, sizeof r->error, format, list);
    va_end(list);
    r->status = status;
    return NULL;
}

/* ---- parameters ---- */

bool inspector_parameter(const request *r, const char *name, char *text, size_t size)
{
    return mg_get_var(r->query, strlen(r->query), name, text, size) >= 0;
}

uint64_t inspector_parameter_number(const request *r, const char *name, uint64_t otherwise, uint64_t most)
{
    char text[32], *end;
    if (!inspector_parameter(r, name, text, sizeof text) || text[0] < '0' || text[0] > '9') return otherwise;
    const unsigned long long n = strtoull(text, &end, 10);
    return *end ? otherwise : n > most ? most : n;
}

bool inspector_view_open(request *r, const char *name, view *v)
{
    static const char *const words[MOMENTS] = {"now", "", "step", "before-step", "without", "with"};
    char at[32] = "now";
    *v = (view){NULL, NULL};
    if (!inspector_parameter(r, name, at, sizeof at)) strcpy(at, "now");
    moment_kind kind = MOMENT_TICK;
    for (int k = 0; k < MOMENTS; k++)
        if (words[k][0] && strcmp(at, words[k]) == 0) kind = (moment_kind)k;
    v->moment = inspector_moment_hold(r->i, kind, inspector_parameter_number(r, name, 0, UINT64_MAX));
    if (v->moment == NULL && kind != MOMENT_NOW) return inspector_refuse(r, 404, "this state isn't kept"), false;
    if (v->moment == NULL) {
        pthread_mutex_lock(&r->i->lock);
        if (r->i->failed[0]) (void)inspector_refuse(r, 409, "the world can't be copied: %s", r->i->failed);
        else (void)inspector_refuse(r, 503, "the program doesn't tick");
        pthread_mutex_unlock(&r->i->lock);
        return false;
    }
    v->world = inspector_moment_fork(v->moment);
    if (v->world) return true;
    inspector_moment_release(r->i, v->moment);
    return inspector_refuse(r, 503, "no memory"), false;
}

void inspector_view_close(request *r, view *v)
{
    reef_world_free(v->world);
    inspector_moment_release(r->i, v->moment);
}

/* ---- who is let in ---- */

/* Is it one of our names, with our port behind it? */
static bool host_is_ours(const reef_inspector *i, const char *host, size_t size)
{
    static const char *const always[] = {"127.0.0.1", "localhost", "[::1]"};
    char port[8], name[160];
    const int length = snprintf(port, sizeof port, ":%u", (unsigned)i->port);
    if (size >= (size_t)length && strncmp(host + size - (size_t)length, port, (size_t)length) == 0)
        size -= (size_t)length;
    else if (i->port != 80) return false;
    if (size == 0 || size >= sizeof name) return false;
    memcpy(name, host, size);
    name[size] = 0;
    for (size_t k = 0; k < sizeof always / sizeof always[0]; k++)
        if (strcasecmp(name, always[k]) == 0) return true;
    for (unsigned k = 0; k < i->host_count; k++)
        if (strcasecmp(name, i->hosts[k]) == 0) return true;
    return false;
}

/* Compares all bytes, wherever the first difference is, so that the time doesn't tell. */
static bool token_is_ours(const reef_inspector *i, const char *token, size_t size)
{
    const size_t length = strlen(i->token);
    unsigned char differs = size != length;
    for (size_t k = 0; k < length; k++) differs |= (unsigned char)(i->token[k] ^ (k < size ? token[k] : 0));
    return differs == 0;
}

static bool has_token(const reef_inspector *i, const struct mg_connection *c, const struct mg_request_info *info)
{
    char token[TOKEN_MAX + 2];
    const char *query = info->query_string ? info->query_string : "", *bearer = mg_get_header(c, "Authorization");
    const int n = mg_get_var(query, strlen(query), "token", token, sizeof token);
    if (n >= 0) return token_is_ours(i, token, (size_t)n);
    if (bearer && strncmp(bearer, "Bearer ", 7) == 0) return token_is_ours(i, bearer + 7, strlen(bearer + 7));
    const char *cookie = mg_get_header(c, "Cookie");
    const size_t name = strlen(i->cookie);
    while (cookie && *cookie) {
        cookie += strspn(cookie, " ");
        const size_t size = strcspn(cookie, "; ");
        if (size > name && strncmp(cookie, i->cookie, name) == 0 && cookie[name] == '=')
            return token_is_ours(i, cookie + name + 1, size - name - 1);
        cookie += size + (cookie[size] == ';');
    }
    return false;
}

/* A bucket of tokens: so many requests a second, and as many at once. */
static bool rate_allows(reef_inspector *i)
{
    const uint64_t now = inspector_now_ns();
    pthread_mutex_lock(&i->lock);
    i->tokens += (double)(now - i->tokens_ns) * 1e-9 * REQUESTS_A_SECOND;
    i->tokens_ns = now;
    if (i->tokens > REQUESTS_A_SECOND) i->tokens = REQUESTS_A_SECOND;
    const bool allows = i->tokens >= 1;
    if (allows) i->tokens -= 1;
    pthread_mutex_unlock(&i->lock);
    return allows;
}

/* Returns 0, or the status with which the request is refused. */
static int let_in(reef_inspector *i, const struct mg_connection *c, const struct mg_request_info *info,
                  const char **why)
{
    const char *host = mg_get_header(c, "Host"), *origin = mg_get_header(c, "Origin");
    if (host == NULL || !host_is_ours(i, host, strlen(host)))
        return *why = "this isn't a name of this machine (reef_inspector_config.hosts)", 403;
    if (origin && (strncmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0))
        return *why = "the request comes from a page of another site", 403;
    if (!rate_allows(i)) return *why = "too many requests", 429;
    if (!has_token(i, c, info))
        return *why = "the token is missing or wrong: open the address that the program printed", 401;
    return 0;
}

/* ---- the page ---- */

static int send_page(reef_inspector *i, struct mg_connection *c, const page_file *f)
{
    char cookie[256];
    (void)snprintf(cookie, sizeof cookie, "Set-Cookie: %s=%s; HttpOnly; SameSite=Strict; Path=/\r\n", i->cookie,
                   i->token);
    return send_bytes(c, 200, f->type, cookie, f->bytes, f->size);
}

/* ---- the stream of events ---- */

static bool event_send(struct mg_connection *c, const char *event, json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT);
    json_decref(data);
    const bool sent = text && mg_printf(c, "event: %s\ndata: ", event) > 0 && mg_write(c, text, strlen(text)) > 0 &&
                      mg_write(c, "\n\n", 2) > 0;
    free(text);
    return sent;
}

/* What is told beside new ticks: when it changes, and every second. */
static json_t *stream_state(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    json_t *j = json_object();
    json_object_set_new(j, "paused", json_boolean(i->paused));
    json_object_set_new(j, "speed", json_real(i->speed));
    json_object_set_new(j, "records", json_boolean(i->records));
    json_object_set_new(j, "traces", json_boolean(i->traces));
    const uint64_t n = i->kept_end - i->kept_first;
    json_object_set_new(j, "kept", inspector_json_number(n));
    if (n) {
        json_object_set_new(j, "first", inspector_json_number(i->kept[i->kept_first % i->config.record_ticks]->tick));
        json_object_set_new(j, "last",
                            inspector_json_number(i->kept[(i->kept_end - 1) % i->config.record_ticks]->tick));
    }
    if (i->step_number) {
        json_object_set_new(j, "step_system", inspector_json_text(i->step_system));
        json_object_set_new(j, "step_number", json_integer(i->step_number));
        json_object_set_new(j, "step_count", json_integer(i->step_count));
    }
    pthread_mutex_unlock(&i->lock);
    return j;
}

/* Sends until the client is gone: ten times a second at most, what happened since. */
static int stream(reef_inspector *i, struct mg_connection *c, const char *query)
{
    const request r = {.i = i, .query = query};
    uint64_t next = inspector_parameter_number(&r, "after", 0, UINT64_MAX);
    json_t *last = NULL;
    bool open = mg_printf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%s\r\n", security) > 0;
    if (next == 0) next = UINT64_MAX; /* only the newest */
    for (unsigned round = 0; open && !atomic_load(&i->ending); round++) {
        atomic_store(&i->looked_ns, inspector_now_ns());
        atomic_store(&i->busy, true);
        uint64_t before = next;
        json_t *rows = inspector_ticks_after(i, next, 500, &next);
        if (json_array_size(rows) || round == 0 || before == UINT64_MAX) open = event_send(c, "ticks", rows);
        else json_decref(rows);
        json_t *state = stream_state(i);
        if (open && (round % 20 == 0 || !json_equal(state, last))) open = event_send(c, "state", json_incref(state));
        json_decref(last);
        last = state;
        const struct timespec rest = {0, 100000000};
        (void)nanosleep(&rest, NULL);
    }
    json_decref(last);
    return 200;
}

static int stream_begin(reef_inspector *i, struct mg_connection *c, const char *query)
{
    if (atomic_fetch_add(&i->streams, 1) >= STREAMS_MAX) {
        atomic_fetch_sub(&i->streams, 1);
        return send_error(c, 429, "too many streams are open");
    }
    const int status = stream(i, c, query);
    atomic_fetch_sub(&i->streams, 1);
    return status;
}

/* ---- the trace ---- */

typedef struct trace_text {
    char *bytes;
    size_t size, room;
} trace_text;

static reef_status trace_append(void *context, const void *bytes, size_t count)
{
    trace_text *t = context;
    if (t->size + count > t->room) {
        const size_t room = (t->size + count) * 2;
        char *more = realloc(t->bytes, room);
        if (more == NULL) return REEF_NO_MEMORY;
        t->bytes = more;
        t->room = room;
    }
    memcpy(t->bytes + t->size, bytes, count);
    t->size += count;
    return REEF_OK;
}

static void trace_run(reef_inspector *i, void *data)
{
    (void)reef_trace_write(i->spans, (reef_writer){trace_append, data});
}

static int send_trace(reef_inspector *i, struct mg_connection *c)
{
    trace_text t = {NULL, 0, 0};
    int status = 0;
    if (!inspector_order_give(i, trace_run, &t)) status = send_error(c, 503, "the program doesn't tick");
    else if (t.size == 0) status = send_error(c, 409, "no spans are recorded");
    else
        status = send_bytes(c, 200, "application/json",
                            "Content-Disposition: attachment; filename=\"reef-trace.json\"\r\n", t.bytes, t.size);
    free(t.bytes);
    return status;
}

/* ---- what answers a path ---- */

typedef struct path {
    const char *path;
    bool posts, writes; /* a POST; only with reef_inspector_config.writes */
    json_t *(*answer)(request *r);
} path;

static const path paths[] = {
    {"/api/overview", false, false, inspector_answer_overview},
    {"/api/ticks", false, false, inspector_answer_ticks},
    {"/api/types", false, false, inspector_answer_types},
    {"/api/tables", false, false, inspector_answer_tables},
    {"/api/systems", false, false, inspector_answer_systems},
    {"/api/spans", false, false, inspector_answer_spans},
    {"/api/events", false, false, inspector_answer_events},
    {"/api/entities", false, false, inspector_answer_entities},
    {"/api/entity", false, false, inspector_answer_entity},
    {"/api/explain", false, false, inspector_answer_explain},
    {"/api/tree", false, false, inspector_answer_tree},
    {"/api/diff", false, false, inspector_answer_diff},
    {"/api/who", false, false, inspector_answer_who},
    {"/api/curve", false, false, inspector_answer_curve},
    {"/api/when", false, false, inspector_answer_when},
    {"/api/hash", false, false, inspector_answer_hash},
    {"/api/whatif", false, false, inspector_answer_whatif},
    {"/api/sql", true, false, inspector_answer_sql}, /* changes nothing without writes */
    {"/api/record", true, false, inspector_answer_control},
    {"/api/control", true, true, inspector_answer_control},
    {"/api/edit", true, true, inspector_answer_edit},
    {"/api/whatif/play", true, true, inspector_answer_whatif_play},
};

/* Is it nested deeper than any body needs? The parser calls itself for each level, on a stack of 100 KB. */
static bool too_deep(const char *text, size_t size)
{
    int depth = 0;
    bool quoted = false;
    for (size_t k = 0; k < size; k++) {
        if (quoted && text[k] == '\\') k++;
        else if (text[k] == '"') quoted = !quoted;
        else if (!quoted && (text[k] == '[' || text[k] == '{') && ++depth > DEPTH_MAX) return true;
        else if (!quoted && (text[k] == ']' || text[k] == '}')) depth--;
    }
    return false;
}

/* Reads the body of a POST. 0, or the status with which it is refused. */
static int body_read(struct mg_connection *c, const struct mg_request_info *info, request *r)
{
    const char *type = mg_get_header(c, "Content-Type");
    json_error_t error;
    if (type == NULL || strncasecmp(type, "application/json", 16) != 0)
        return (void)inspector_refuse(r, 415, "expected Content-Type: application/json"), 415;
    if (info->content_length < 0) return (void)inspector_refuse(r, 411, "expected Content-Length"), 411;
    if (info->content_length > BODY_MAX)
        return (void)inspector_refuse(r, 413, "a body has at most %d bytes", BODY_MAX), 413;
    const size_t size = (size_t)info->content_length;
    char *bytes = malloc(size + 1);
    if (bytes == NULL) return (void)inspector_refuse(r, 503, "no memory"), 503;
    size_t got = 0;
    for (int n; got < size && (n = mg_read(c, bytes + got, size - got)) > 0;) got += (size_t)n;
    const bool deep = got == size && too_deep(bytes, size);
    r->body = got == size && !deep ? json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    free(bytes);
    if (got < size) return (void)inspector_refuse(r, 400, "the body ends too early"), 400;
    if (deep) return (void)inspector_refuse(r, 400, "the body is nested too deep"), 400;
    if (r->body == NULL)
        return (void)inspector_refuse(r, 400, "no JSON: %s (byte %d)", error.text, error.position), 400;
    return 0;
}

static int path_answer(reef_inspector *i, struct mg_connection *c, const struct mg_request_info *info, const path *p)
{
    request r = {.i = i, .query = info->query_string ? info->query_string : "", .status = 200};
    const bool posts = strcmp(info->request_method, "POST") == 0;
    if (posts != p->posts) return send_error(c, 405, p->posts ? "expected POST" : "expected GET");
    if (p->writes && !i->config.writes) return send_error(c, 403, "the program doesn't allow writes");
    const int refused = posts ? body_read(c, info, &r) : 0;
    json_t *j = refused ? NULL : p->answer(&r);
    json_decref(r.body);
    if (j == NULL) return send_error(c, r.status == 200 ? 503 : r.status, r.error[0] ? r.error : "no memory");
    return send_json(c, r.status, j);
}

static int begin_request(struct mg_connection *c)
{
    const struct mg_request_info *info = mg_get_request_info(c);
    reef_inspector *i = info->user_data;
    const char *uri = info->local_uri ? info->local_uri : "", *method = info->request_method, *why = "";
    const int refused = atomic_load(&i->ready) ? let_in(i, c, info, &why) : 503;
    if (refused) return send_error(c, refused, why);
    atomic_store(&i->looked_ns, inspector_now_ns());
    atomic_store(&i->busy, true);
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        if (strcmp(uri, paths[k].path) == 0) return path_answer(i, c, info, &paths[k]);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) return send_error(c, 405, "expected GET");
    if (strcmp(uri, "/api/stream") == 0) return stream_begin(i, c, info->query_string ? info->query_string : "");
    if (strcmp(uri, "/api/trace") == 0) return send_trace(i, c);
    for (const page_file *f = page_files; f->path; f++)
        if (strcmp(uri, f->path) == 0) return send_page(i, c, f);
    return send_error(c, 404, "there is nothing here");
}

static int say_nothing(const struct mg_connection *c, const char *message)
{
    (void)c, (void)message;
    return 1;
}

/* What the library itself refuses, such as a request that can't be read. */
static int http_error(struct mg_connection *c, int status, const char *message)
{
    (void)message;
    (void)mg_printf(c, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\n%s\r\n", status, status_words(status), security);
    return 0;
}

/* ---- beginning and end ---- */

bool inspector_server_start(reef_inspector *i, char *reason)
{
    char listen[96], threads[8];
    const char *options[] = {"listening_ports",
                             listen,
                             "num_threads",
                             threads,
                             "request_timeout_ms",
                             "5000",
                             "max_request_size",
                             "8192",
                             "enable_keep_alive",
                             "no",
                             "tcp_nodelay",
                             "1",
                             "connection_queue",
                             "64",
                             "listen_backlog",
                             "512",
                             "linger_timeout_ms",
                             "100",
                             "enable_directory_listing",
                             "no",
                             "decode_query_string",
                             "no",
                             NULL};
    const struct mg_callbacks calls = {.begin_request = begin_request,
                                       .log_message = say_nothing,
                                       .log_access = say_nothing,
                                       .http_error = http_error};
    struct mg_server_port ports[4];
    (void)snprintf(listen, sizeof listen, strchr(i->bind, ':') ? "[%s]:%u" : "%s:%u", i->bind,
                   (unsigned)i->config.port);
    (void)snprintf(threads, sizeof threads, "%d", THREADS);
    i->tokens_ns = inspector_now_ns();
    i->tokens = REQUESTS_A_SECOND;
    (void)mg_init_library(0);
    /* Requests may come as soon as it listens; they are refused until the port is known (`ready`). */
    i->server = mg_start(&calls, i, options);
    const int n = i->server ? mg_get_server_ports(i->server, 4, ports) : 0;
    if (n < 1) {
        if (i->server) mg_stop(i->server);
        (void)mg_exit_library();
        (void)snprintf(reason, REEF_DETAIL_MAX, "can't listen on %.64s, port %u", i->bind, (unsigned)i->config.port);
        return false;
    }
    i->port = (uint16_t)ports[0].port;
    (void)snprintf(i->cookie, sizeof i->cookie, "reef_inspector_%u", (unsigned)i->port);
    const bool any = strcmp(i->bind, "0.0.0.0") == 0 || strcmp(i->bind, "::") == 0;
    const char *name = any ? i->host_count ? i->hosts[0] : "127.0.0.1" : i->bind;
    (void)snprintf(i->address, sizeof i->address,
                   strchr(name, ':') ? "http://[%s]:%u/?token=%s" : "http://%s:%u/?token=%s", name, (unsigned)i->port,
                   i->token);
    if (!any && i->host_count < HOSTS_MAX)
        (void)snprintf(i->hosts[i->host_count++], sizeof i->hosts[0], strchr(i->bind, ':') ? "[%s]" : "%s", i->bind);
    atomic_store(&i->ready, true);
    return true;
}

/* The library looks every two seconds whether it is to end, unless somebody connects. So somebody does. */
static void *knock(void *context)
{
    reef_inspector *i = context;
    const struct timespec rest = {0, 5000000};
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *to = NULL;
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)i->port);
    const char *name = strcmp(i->bind, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(i->bind, "::") == 0 ? "::1" : i->bind;
    if (getaddrinfo(name, port, &hints, &to) != 0) return NULL;
    while (!atomic_load(&i->ended)) {
        const int s = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (s >= 0) {
            (void)connect(s, to->ai_addr, to->ai_addrlen);
            (void)close(s);
        }
        (void)nanosleep(&rest, NULL);
    }
    freeaddrinfo(to);
    return NULL;
}

void inspector_server_stop(reef_inspector *i)
{
    pthread_t thread;
    const bool knocks = pthread_create(&thread, NULL, knock, i) == 0;
    mg_stop(i->server);
    atomic_store(&i->ended, true);
    if (knocks) (void)pthread_join(thread, NULL);
    (void)mg_exit_library();
}
