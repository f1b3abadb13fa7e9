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
#include "answer.h"
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

static void send_json(connection *c, int status, json *j)
{
    static const char no_memory[] = "{\"error\":\"no memory\"}";
    size_t size;
    char *text = inspector_json_text_of(j, &size);
    inspector_json_free(j);
    if (text) send_bytes(c, status, "application/json", "", text, size);
    else send_bytes(c, 503, "application/json", "", no_memory, sizeof no_memory - 1);
    free(text);
}

static void send_error(connection *c, int status, const char *error)
{
    json *j = inspector_object();
    inspector_put(j, "error", inspector_text(error));
    send_json(c, status, j);
}

/* ---- who is let in ---- */

/* Is it one of our names, with our port behind it? */
static bool host_is_ours(const server *s, const char *host, size_t size)
{
    static const char *const always[] = {"127.0.0.1", "localhost", "[::1]"};
    char port[8], name[160];
    const int length = snprintf(port, sizeof port, ":%u", (unsigned)s->port);
    if (size >= (size_t)length && strncmp(host + size - (size_t)length, port, (size_t)length) == 0)
        size -= (size_t)length;
    else if (s->port != 80) return false;
    if (size == 0 || size >= sizeof name) return false;
    memcpy(name, host, size);
    name[size] = 0;
    for (size_t k = 0; k < sizeof always / sizeof always[0]; k++)
        if (inspector_same_word(name, always[k])) return true;
    for (unsigned k = 0; k < s->host_count; k++)
        if (inspector_same_word(name, s->hosts[k])) return true;
    return false;
}

/* Compares all bytes, wherever the first difference is, so that the time doesn't tell. */
static bool token_is_ours(const server *s, const char *token, size_t size)
{
    const size_t length = strlen(s->token);
    unsigned char differs = size != length;
    for (size_t k = 0; k < length; k++) differs |= (unsigned char)(s->token[k] ^ (k < size ? token[k] : 0));
    return differs == 0;
}

static bool has_token(const server *s, const request_head *h)
{
    char token[TOKEN_MAX + 2];
    const int n = inspector_head_parameter(h->query, "token", token, sizeof token);
    if (n >= 0) return token_is_ours(s, token, (size_t)n);
    const char *bearer = h->authorization;
    if (bearer == NULL || !inspector_begins_with(bearer, "Bearer ")) return false;
    return token_is_ours(s, bearer + 7, strlen(bearer + 7));
}

/* A bucket of tokens: so many requests a second, and as many at once. */
static bool rate_allows(reef_inspector *i)
{
    server *s = i->server;
    const uint64_t now = inspector_now_ns();
    pthread_mutex_lock(&i->lock);
    s->tokens += (double)(now - s->tokens_ns) * 1e-9 * REQUESTS_A_SECOND;
    s->tokens_ns = now;
    if (s->tokens > REQUESTS_A_SECOND) s->tokens = REQUESTS_A_SECOND;
    const bool allows = s->tokens >= 1;
    if (allows) s->tokens -= 1;
    pthread_mutex_unlock(&i->lock);
    return allows;
}

/* ---- the stream of events ---- */

static bool event_send(connection *c, const char *event, json *data)
{
    size_t size;
    char *text = inspector_json_text_of(data, &size);
    inspector_json_free(data);
    char head[64];
    const int n = snprintf(head, sizeof head, "event: %s\ndata: ", event);
    const bool sent =
        text && inspector_send(c, head, (size_t)n) && inspector_send(c, text, size) && inspector_send(c, "\n\n", 2);
    free(text);
    return sent;
}

/* Sends until the client is gone: ten times a second at most, what happened since. */
static void stream(reef_inspector *i, connection *c)
{
    static const char begin[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    const request r = {.i = i, .query = inspector_connection_head(c)->query};
    uint64_t next = inspector_parameter_number(&r, "after", 0, UINT64_MAX);
    json *last = NULL;
    bool open = inspector_send(c, begin, sizeof begin - 1) &&
                inspector_send(c, inspector_security, strlen(inspector_security)) && inspector_send(c, "\r\n", 2);
    if (next == 0) next = UINT64_MAX; /* only the newest */
    for (unsigned round = 0; open && !atomic_load(&i->ending); round++) {
        atomic_store(&i->looked_ns, inspector_now_ns());
        atomic_store(&i->busy, true);
        uint64_t before = next;
        json *rows = inspector_ticks_after(i, next, 500, &next);
        if (inspector_json_size(rows) || round == 0 || before == UINT64_MAX) open = event_send(c, "ticks", rows);
        else inspector_json_free(rows);
        json *state = inspector_state_json(i);
        if (open && (round % 20 == 0 || !inspector_json_equal(state, last)))
            open = event_send(c, "state", inspector_json_share(state));
        inspector_json_free(last);
        last = state;
        const struct timespec rest = {0, 100000000};
        (void)nanosleep(&rest, NULL);
    }
    inspector_json_free(last);
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

typedef struct served_path {
    const char *path;
    void (*serve)(reef_inspector *i, connection *c); /* what isn't one answer in JSON */
} served_path;

static const served_path served[] = {{"/api/stream", stream_begin}, {"/api/trace", send_trace}};

static void serve(reef_inspector *i, connection *c)
{
    const void *answerer = inspector_connection_answerer(c);
    size_t size;
    int status;
    const char *body = inspector_connection_body(c, &size);
    for (size_t k = 0; k < sizeof served / sizeof served[0]; k++) {
        if (answerer != &served[k]) continue;
        atomic_store(&i->looked_ns, inspector_now_ns());
        atomic_store(&i->busy, true);
        served[k].serve(i, c);
        return;
    }
    json *j = inspector_answer(i, answerer, inspector_connection_head(c)->query, body, size, &status);
    send_json(c, status, j);
}

/* ---- who is let in ---- */

static verdict refusal(int status, const char *why) { return (verdict){.status = status, .why = why}; }

/* A request that changes something, or asks in a body. */
static verdict post_judge(const reef_inspector *i, const answer_path *p, const request_head *h)
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
    if (h->host == NULL || !host_is_ours(i->server, h->host, strlen(h->host)))
        return refusal(403, "this isn't a name of this machine (reef_inspector_config.hosts)");
    if (h->origin && (strncmp(h->origin, "http://", 7) != 0 || !inspector_same_word(h->origin + 7, h->host)))
        return refusal(403, "the request comes from a page of another site");
    for (const page_file *f = page_files; f->path; f++) {
        if (strcmp(h->path, f->path) != 0) continue;
        if (!gets) return refusal(405, "expected GET");
        return (verdict){.status = 200, .type = f->type, .bytes = f->bytes, .size = f->size};
    }
    if (!has_token(i->server, h))
        return refusal(401, "the token is missing or wrong: open the address that the program printed");
    if (!rate_allows(i)) return refusal(429, "too many requests");
    for (size_t k = 0; k < sizeof served / sizeof served[0]; k++)
        if (strcmp(h->path, served[k].path) == 0)
            return gets ? (verdict){.answerer = &served[k]} : refusal(405, "expected GET");
    const answer_path *p = inspector_path_find(h->path);
    if (p && p->posts) return post_judge(i, p, h);
    if (p) return gets ? (verdict){.answerer = p} : refusal(405, "expected GET");
    return refusal(404, "there is nothing here");
}

/* ---- beginning and end ---- */

/* A token of 128 random bits. False: the system gives none. */
static bool token_make(char *token)
{
    unsigned char bytes[16];
    FILE *f = fopen("/dev/urandom", "rb");
    const bool read = f && fread(bytes, 1, sizeof bytes, f) == sizeof bytes;
    if (f) (void)fclose(f);
    for (size_t k = 0; read && k < sizeof bytes; k++) (void)sprintf(token + 2 * k, "%02x", bytes[k]);
    return read;
}

static bool token_take(char *token, const char *given)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t size = strlen(given);
    if (size < 16 || size > TOKEN_MAX || strspn(given, allowed) != size) return false;
    memcpy(token, given, size + 1);
    return true;
}

static bool hosts_take(server *s, const char *hosts)
{
    for (const char *at = hosts ? hosts : ""; *at;) {
        const size_t size = strcspn(at, " ");
        if (size >= sizeof s->hosts[0] || s->host_count == HOSTS_MAX) return false;
        if (size) memcpy(s->hosts[s->host_count++], at, size);
        at += size + (at[size] == ' ');
    }
    return true;
}

static const char *names_take(server *s, const reef_inspector_config *c)
{
    if (c->token ? !token_take(s->token, c->token) : !token_make(s->token))
        return c->token ? "a token has 16 to 64 letters and digits" : "the system gives no random numbers";
    if (!hosts_take(s, c->hosts)) return "too many hosts, or too long ones";
    const char *bind = c->bind ? c->bind : "127.0.0.1";
    if (strlen(bind) >= sizeof s->bind || strpbrk(bind, ", ")) return "one address to listen on";
    strcpy(s->bind, bind);
    return NULL;
}

static void server_stop(reef_inspector *i)
{
    inspector_door_close(i->server);
    free(i->server);
    i->server = NULL;
}

static bool server_start(reef_inspector *i, const reef_inspector_config *config, char *reason)
{
    server *s = i->server;
    const char *mistake = names_take(s, config);
    if (mistake) {
        (void)snprintf(reason, REEF_DETAIL_MAX, "%s", mistake);
        return false;
    }
    s->tokens_ns = inspector_now_ns();
    s->tokens = REQUESTS_A_SECOND;
    if (!inspector_door_open(i, &(door_calls){judge, serve}, reason)) return false;
    const bool any = strcmp(s->bind, "0.0.0.0") == 0 || strcmp(s->bind, "::") == 0;
    const char *name = s->bind;
    if (any) name = s->host_count ? s->hosts[0] : "127.0.0.1";
    (void)snprintf(s->address, sizeof s->address,
                   strchr(name, ':') ? "http://[%s]:%u/#token=%s" : "http://%s:%u/#token=%s", name, (unsigned)s->port,
                   s->token);
    if (!any && s->host_count < HOSTS_MAX)
        (void)snprintf(s->hosts[s->host_count++], sizeof s->hosts[0], strchr(s->bind, ':') ? "[%s]" : "%s", s->bind);
    if (inspector_door_start(s)) return true;
    (void)snprintf(reason, REEF_DETAIL_MAX, "there are no threads for the server");
    return false;
}

reef_inspector *reef_inspect_why(reef_world *w, const reef_inspector_config *config, char *reason)
{
    static const reef_inspector_config none;
    char nowhere[REEF_DETAIL_MAX];
    if (reason == NULL) reason = nowhere;
    reef_inspector *i = inspector_make(w, config, reason);
    if (i == NULL) return NULL;
    i->server_stop = server_stop;
    i->server = calloc(1, sizeof *i->server);
    if (i->server == NULL) (void)snprintf(reason, REEF_DETAIL_MAX, "no memory");
    if (i->server && server_start(i, config ? config : &none, reason)) return i;
    free(i->server);
    inspector_drop(i);
    return NULL;
}

reef_inspector *reef_inspect(reef_world *w, const reef_inspector_config *config)
{
    return reef_inspect_why(w, config, NULL);
}

const char *reef_inspector_address(const reef_inspector *i) { return i && i->server ? i->server->address : ""; }
uint16_t reef_inspector_port(const reef_inspector *i) { return i && i->server ? i->server->port : 0; }
