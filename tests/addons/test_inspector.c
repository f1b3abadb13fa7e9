/* The add-on reef_inspector: how it begins and ends, who is let in, and what is bounded. */
#include "inspector_program.h"

/* ---- beginning and end ---- */

static void an_inspector_begins_and_ends(void **state)
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
    const char *at = strstr(reef_inspector_address(i), "/#token=");
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
static void a_program_that_does_not_tick_is_told_of(void **state)
{
    reef_world *w = world_of(state);
    memset(&played, 0, sizeof played);
    played.world = w;
    played.inspector = reef_inspect(w, &(reef_inspector_config){.token = TOKEN, .writes = true});
    assert_non_null(played.inspector);
    json_decref(get("/api/overview", 503));
    json_decref(get("/api/ticks", 200));
    reef_inspector_free(played.inspector);
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

static void a_world_that_cannot_be_copied_is_told_of(void **state)
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

/* ---- who is let in ---- */

static void only_the_right_host_origin_and_token_are_let_in(void **state)
{
    reef_world *w = world_of(state);
    char text[1000];
    begin(w);
    const unsigned port = reef_inspector_port(played.inspector);
    static const struct {
        const char *host, *more, *query;
        int status;
    } cases[] = {
        {"127.0.0.1:%u", "", "?token=0123456789abcdefX", 200},
        {"localhost:%u", "Origin: http://localhost:%u\r\n", "?token=0123456789abcdefX", 200},
        {"[::1]:%u", "Authorization: Bearer 0123456789abcdefX\r\n", "", 200},
        {"LOCALHOST:%u", "AUTHORIZATION: bearer 0123456789abcdefX\r\n", "", 200},
        {"127.0.0.1:%u", "", "", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdefY", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdef", 401},
        {"127.0.0.1:%u", "", "?token=0123456789abcdefXX", 401},
        {"127.0.0.1:%u", "", "?token=", 401},
        {"127.0.0.1:%u", "Cookie: reef_inspector_%u=0123456789abcdefX\r\n", "", 401},
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
        for (int k = 0; k < 2; k++) { /* the page knows nothing of the world, so it needs no token */
            const int status = k && cases[i].status == 401 ? 200 : cases[i].status;
            snprintf(text, sizeof text, "GET %s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", k ? "/" : "/api/ticks",
                     cases[i].query, host, more);
            if (status_of(text) != status) fail_msg("case %d: %d", (int)i, status_of(text));
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
    const unsigned ticks = atomic_load(&played.ticks);
    wait_for_ticks(ticks + 3);
    end();
}

/* A head that another program might read in another way, or that is none, is refused. */
static void heads_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer " TOKEN "\r\n\r\n", 200},
        {"HEAD /api/ticks HTTP/1.0\r\nHost:localhost:%u \r\nAuthorization: Bearer " TOKEN "\r\n\r\n", 200},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nHost: localhost\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\n Authorization: Bearer " TOKEN "\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost : localhost:%u\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\nHost: localhost:%u\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\rX: y\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nno field\r\n\r\n", 400},
        {"GET /api/ticks HTTP/2.0\r\nHost: localhost:%u\r\n\r\n", 400},
        {"GET http://localhost:%u/api/ticks HTTP/1.1\r\n\r\n", 400},
        {"GET /api/ticks\r\nHost: localhost:%u\r\n\r\n", 400},
        {"get /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", 400},
        {"GET  /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nContent-Length: +1\r\n\r\n", 400},
        {"GET /api/ticks HTTP/1.1\r\nHost: localhost:%u\r\nContent-Length: 9999999999999999999\r\n\r\n", 400},
        {"\r\n\r\nHost: localhost:%u\r\n\r\n", 400},
    };
    char text[1000];
    begin(world_of(state));
    const unsigned port = reef_inspector_port(played.inspector);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, cases[i].text, port);
        if (status_of(text) != cases[i].status) fail_msg("case %d: %d", (int)i, status_of(text));
    }
    static const char zero[] = "GET /api/ticks HTTP/1.1\r\nHost: local\0host\r\n\r\n";
    reply r = ask(zero, sizeof zero - 1);
    assert_int_equal(r.status, 400);
    free(r.head);
    json_decref(json_of(request("POST", "/api/edit", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
                                "2\r\n[]\r\n0\r\n\r\n"),
                        411));
    end();
}

/* A client that asks whether it may send the body is told. */
static void a_client_that_waits_to_send_its_body_is_told_to_go_on(void **state)
{
    char text[400], got[600];
    size_t n = 0;
    begin(world_of(state));
    const int s = dial();
    snprintf(text, sizeof text,
             "POST /api/edit HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer " TOKEN
             "\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n",
             (unsigned)reef_inspector_port(played.inspector));
    assert_true(send(s, text, strlen(text), MSG_NOSIGNAL) > 0);
    const ssize_t first = recv(s, got, 25, MSG_WAITALL);
    assert_int_equal(first, 25);
    assert_memory_equal(got, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    assert_int_equal(send(s, "[]", 2, MSG_NOSIGNAL), 2);
    for (ssize_t k; n < sizeof got - 1 && (k = recv(s, got + n, sizeof got - 1 - n, 0)) > 0;) n += (size_t)k;
    got[n] = 0;
    assert_int_equal(strncmp(got, "HTTP/1.1 200 OK\r\n", 17), 0);
    (void)close(s);
    end();
}

/* The page says what a browser may do with it. It sets no cookie, since cookies go to all ports of a machine. */
static void the_page_is_whole_and_closed(void **state)
{
    begin(world_of(state));
    static const char *const files[] = {"/", "/style.css", "/main.js", "/icon.svg"};
    for (size_t i = 0; i < 4; i++) {
        reply r = request("GET", files[i], "", "");
        assert_int_equal(r.status, 200);
        assert_true(r.size > 200);
        assert_non_null(strstr(r.head, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
        assert_null(strstr(r.head, "Cookie"));
        assert_null(strstr(r.body, TOKEN));
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

static void no_writes_unless_they_are_allowed(void **state)
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

static void bodies_paths_and_parameters_are_bounded(void **state)
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

/* However fast or slow the machine is: no more are answered than the bound allows for the time that they took. */
static void requests_a_second_are_bounded(void **state)
{
    enum { A_SECOND = 400, ASKED = 1500 };
    int answered = 0, refused = 0;
    begin(world_of(state));
    const double begin_at = seconds();
    for (int i = 0; i < ASKED; i++) {
        reply r = request("GET", "/api/ticks?limit=1", "", "");
        answered += r.status == 200;
        refused += r.status == 429;
        free(r.head);
    }
    const double took = seconds() - begin_at;
    assert_int_equal(answered + refused, ASKED);
    assert_true(answered <= A_SECOND * (took + 1) + 1);
    rest(200000);
    json_decref(get("/api/ticks", 200));
    end();
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(an_inspector_begins_and_ends),
        PROGRAM_TEST(a_program_that_does_not_tick_is_told_of),
        PROGRAM_TEST(a_world_that_cannot_be_copied_is_told_of),
        PROGRAM_TEST(only_the_right_host_origin_and_token_are_let_in),
        PROGRAM_TEST(heads_that_are_none_are_refused),
        PROGRAM_TEST(a_client_that_waits_to_send_its_body_is_told_to_go_on),
        PROGRAM_TEST(the_page_is_whole_and_closed),
        PROGRAM_TEST(no_writes_unless_they_are_allowed),
        PROGRAM_TEST(bodies_paths_and_parameters_are_bounded),
        PROGRAM_TEST(requests_a_second_are_bounded),
    };
    if (count > 1) cmocka_set_test_filter(words[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
