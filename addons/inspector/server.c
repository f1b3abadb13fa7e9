/* The server: which requests are let in, what answers them, and the stream of events.
 *
 *   Host isn't one of ours            403    a page of another name that points to this machine (DNS rebinding)
 *   Origin isn't the page's own       403    a page of another site
 *   a file of the page                200    it is the same in every program, and knows nothing of the world
 *   no token, or a wrong one          401    the token is a parameter or a bearer token
 *   too many requests a second        429    only of those who know the token, so that nobody else uses them up
 *   no such path                      404
 *   another method than the path's    405
 *   a POST, but no writes allowed     403
 *   not application/json              415    so that no form of another site gets this far
 *   no length; a body of over 64 KiB  411, 413
 *
 * Only then is the body read, and anything looked at or done. */
#include "door.h"
#include "page.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- answers ---- */

static void send_bytes(connection *c, int status, const char *type, const char *more, const void *bytes, size_t size)
{
    char head[2000];
    const size_t n = inspector_answer_head(head, sizeof head, status, type, size, more);
    const bool head_only = strcmp(inspector_connection_head(c)->method, "HEAD") == 0;
    if (inspector_send(c, head, n) && !head_only) (void)inspector_send(c, bytes, size);
}

static void send_json(connection *c, int status, json_t *j)
{
    static const char no_memory[] = "{\"error\":\"no memory\"}";
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (text) send_bytes(c, status, "application/json", "", text, strlen(text));
    else send_bytes(c, 503, "application/json", "", no_memory, sizeof no_memory - 1);
    free(text);
}

static void send_error(connection *c, int status, const char *error)
{
    json_t *j = json_object();
    json_object_set_new(j, "error", inspector_json_text(error));
    send_json(c, status, j);
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
        if (inspector_same_word(name, always[k])) return true;
    for (unsigned k = 0; k < i->host_count; k++)
        if (inspector_same_word(name, i->hosts[k])) return true;
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

static bool has_token(const reef_inspector *i, const request_head *h)
{
    char token[TOKEN_MAX + 2];
    const int n = inspector_head_parameter(h->query, "token", token, sizeof token);
    if (n >= 0) return token_is_ours(i, token, (size_t)n);
    const char *bearer = h->authorization;
    if (bearer == NULL || !inspector_begins_with(bearer, "Bearer ")) return false;
    return token_is_ours(i, bearer + 7, strlen(bearer + 7));
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

/* ---- the stream of events ---- */

static bool event_send(connection *c, const char *event, json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT);
    json_decref(data);
    char head[64];
    const int n = snprintf(head, sizeof head, "event: %s\ndata: ", event);
    const bool sent = text && inspector_send(c, head, (size_t)n) && inspector_send(c, text, strlen(text)) &&
                      inspector_send(c, "\n\n", 2);
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
    if (n || i->records) {
        json_object_set_new(j, "room", json_integer(i->config.record_ticks));
        json_object_set_new(j, "bound", inspector_json_number(i->config.record_bytes));
        json_object_set_new(j, "used", inspector_json_number(i->record_used));
        json_object_set_new(j, "rate", inspector_json_number(i->record_rate));
        json_object_set_new(j, "dropped", inspector_json_number(i->record_dropped));
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
static void stream(reef_inspector *i, connection *c)
{
    static const char begin[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    const request r = {.i = i, .query = inspector_connection_head(c)->query};
    uint64_t next = inspector_parameter_number(&r, "after", 0, UINT64_MAX);
    json_t *last = NULL;
    bool open = inspector_send(c, begin, sizeof begin - 1) &&
                inspector_send(c, inspector_security, strlen(inspector_security)) && inspector_send(c, "\r\n", 2);
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
}

static void stream_begin(reef_inspector *i, connection *c)
{
    if (atomic_fetch_add(&i->streams, 1) >= STREAMS_MAX) send_error(c, 429, "too many streams are open");
    else stream(i, c);
    atomic_fetch_sub(&i->streams, 1);
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

static void send_trace(reef_inspector *i, connection *c)
{
    static const char named[] = "Content-Disposition: attachment; filename=\"reef-trace.json\"\r\n";
    trace_text t = {NULL, 0, 0};
    if (!inspector_order_give(i, trace_run, &t)) send_error(c, 503, "the program doesn't tick");
    else if (t.size == 0) send_error(c, 409, "no spans are recorded");
    else send_bytes(c, 200, "application/json", named, t.bytes, t.size);
    free(t.bytes);
}

/* ---- what answers a path ---- */

typedef struct path {
    const char *path;
    bool posts, writes; /* a POST; only with reef_inspector_config.writes */
    json_t *(*answer)(request *r);
    void (*serve)(reef_inspector *i, connection *c); /* what isn't one answer in JSON */
} path;

static const path paths[] = {
    {"/api/overview", false, false, inspector_answer_overview, NULL},
    {"/api/ticks", false, false, inspector_answer_ticks, NULL},
    {"/api/types", false, false, inspector_answer_types, NULL},
    {"/api/tables", false, false, inspector_answer_tables, NULL},
    {"/api/systems", false, false, inspector_answer_systems, NULL},
    {"/api/spans", false, false, inspector_answer_spans, NULL},
    {"/api/events", false, false, inspector_answer_events, NULL},
    {"/api/entities", false, false, inspector_answer_entities, NULL},
    {"/api/entity", false, false, inspector_answer_entity, NULL},
    {"/api/explain", false, false, inspector_answer_explain, NULL},
    {"/api/tree", false, false, inspector_answer_tree, NULL},
    {"/api/diff", false, false, inspector_answer_diff, NULL},
    {"/api/who", false, false, inspector_answer_who, NULL},
    {"/api/curve", false, false, inspector_answer_curve, NULL},
    {"/api/when", false, false, inspector_answer_when, NULL},
    {"/api/recording", false, false, inspector_answer_recording, NULL},
    {"/api/hash", false, false, inspector_answer_hash, NULL},
    {"/api/whatif", false, false, inspector_answer_whatif, NULL},
    {"/api/stream", false, false, NULL, stream_begin},
    {"/api/trace", false, false, NULL, send_trace},
    {"/api/sql", true, false, inspector_answer_sql, NULL}, /* changes nothing without writes */
    {"/api/record", true, false, inspector_answer_control, NULL},
    {"/api/control", true, true, inspector_answer_control, NULL},
    {"/api/edit", true, true, inspector_answer_edit, NULL},
    {"/api/whatif/play", true, true, inspector_answer_whatif_play, NULL},
};

/* Is it nested deeper than any body needs? The parser calls itself for each level. */
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

/* Reads JSON from the body of a POST. False: it is refused. */
static bool body_read(request *r, const char *bytes, size_t size)
{
    json_error_t error;
    if (too_deep(bytes, size)) return inspector_refuse(r, 400, "the body is nested too deep"), false;
    r->body = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (r->body) return true;
    return inspector_refuse(r, 400, "no JSON: %s (byte %d)", error.text, error.position), false;
}

static void serve(reef_inspector *i, connection *c)
{
    const path *p = inspector_connection_answerer(c);
    request r = {.i = i, .query = inspector_connection_head(c)->query, .status = 200};
    size_t size;
    const char *body = inspector_connection_body(c, &size);
    atomic_store(&i->looked_ns, inspector_now_ns());
    atomic_store(&i->busy, true);
    if (p->serve) {
        p->serve(i, c);
        return;
    }
    json_t *j = NULL;
    if (!p->posts || body_read(&r, body, size)) j = p->answer(&r);
    json_decref(r.body);
    if (j) send_json(c, r.status, j);
    else send_error(c, r.status == 200 ? 503 : r.status, r.error[0] ? r.error : "no memory");
}

/* ---- who is let in ---- */

static verdict refusal(int status, const char *why) { return (verdict){.status = status, .why = why}; }

/* A request that changes something, or asks in a body. */
static verdict post_judge(const reef_inspector *i, const path *p, const request_head *h)
{
    if (strcmp(h->method, "POST") != 0) return refusal(405, "expected POST");
    if (p->writes && !i->config.writes) return refusal(403, "the program doesn't allow writes");
    if (h->type == NULL || !inspector_begins_with(h->type, "application/json"))
        return refusal(415, "expected Content-Type: application/json");
    if (h->length < 0 || h->coding) return refusal(411, "expected Content-Length");
    if (h->length > BODY_MAX) return refusal(413, "a body has at most 64 KiB");
    return (verdict){.answerer = p};
}

static verdict judge(reef_inspector *i, const request_head *h)
{
    const bool gets = strcmp(h->method, "GET") == 0 || strcmp(h->method, "HEAD") == 0;
    if (h->host == NULL || !host_is_ours(i, h->host, strlen(h->host)))
        return refusal(403, "this isn't a name of this machine (reef_inspector_config.hosts)");
    if (h->origin && (strncmp(h->origin, "http://", 7) != 0 || !inspector_same_word(h->origin + 7, h->host)))
        return refusal(403, "the request comes from a page of another site");
    for (const page_file *f = page_files; f->path; f++) {
        if (strcmp(h->path, f->path) != 0) continue;
        if (!gets) return refusal(405, "expected GET");
        return (verdict){.status = 200, .type = f->type, .bytes = f->bytes, .size = f->size};
    }
    if (!has_token(i, h))
        return refusal(401, "the token is missing or wrong: open the address that the program printed");
    if (!rate_allows(i)) return refusal(429, "too many requests");
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        const path *p = &paths[k];
        if (strcmp(h->path, p->path) != 0) continue;
        if (p->posts) return post_judge(i, p, h);
        return gets ? (verdict){.answerer = p} : refusal(405, "expected GET");
    }
    return refusal(404, "there is nothing here");
}

/* ---- beginning and end ---- */

bool inspector_server_start(reef_inspector *i, char *reason)
{
    i->tokens_ns = inspector_now_ns();
    i->tokens = REQUESTS_A_SECOND;
    if (!inspector_door_open(i, &(door_calls){judge, serve}, reason)) return false;
    const bool any = strcmp(i->bind, "0.0.0.0") == 0 || strcmp(i->bind, "::") == 0;
    const char *name = i->bind;
    if (any) name = i->host_count ? i->hosts[0] : "127.0.0.1";
    (void)snprintf(i->address, sizeof i->address,
                   strchr(name, ':') ? "http://[%s]:%u/#token=%s" : "http://%s:%u/#token=%s", name, (unsigned)i->port,
                   i->token);
    if (!any && i->host_count < HOSTS_MAX)
        (void)snprintf(i->hosts[i->host_count++], sizeof i->hosts[0], strchr(i->bind, ':') ? "[%s]" : "%s", i->bind);
    if (inspector_door_start(i)) return true;
    (void)snprintf(reason, REEF_DETAIL_MAX, "there are no threads for the server");
    return false;
}

void inspector_server_stop(reef_inspector *i) { inspector_door_close(i); }
