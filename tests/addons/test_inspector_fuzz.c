/* What would harm an inspector and the program that it looks into: random requests. */
#include "inspector_program.h"
#include <time.h>

static uint64_t dice(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* What random requests are made of. */
typedef struct word_list {
    const char *const *at;
    size_t count;
} word_list;
#define WORDS(...) \
    { \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *) \
    }
/* clang-format off */
static const word_list posts = WORDS("edit", "control", "record", "whatif/play");
static const word_list gets = WORDS(
    "entities?q=", "entity?id=0v1", "diff?from=1&to=", "curve?id=0v1&component=Place&field=x", "when?q=", "curve?q=",
    "events?type=", "tree?", "explain?q=", "who?tick=", "types?at=", "hash?at=");
static const word_list parts = WORDS( /* of the text of a request */
    "GET ", "POST ", "/api/", "entities", "entity", "?q=", "?id=0v1", "edit", "&at=", "diff?from=1&to=2",
    " HTTP/1.1", "\r\n", "Host: 127.0.0.1", "Content-Length: ", "9", "-1", "\r\n\r\n", "%00", "%", "%22", "Place",
    "!", "(", "$x", "Transfer-Encoding: chunked", "token=0123456789abcdefX", "0v1", "&limit=99999999999", "curve?",
    "component=Place", "&field=x", "when", "tree?relation=ChildOf", "&show=", ",", "|", "\"", "who?tick=3",
    "explain", "?Vigor", " of ");
static const word_list values = WORDS( /* of its body */
    "[", "]", "{", "}", "\"do\":", "\"set\"", "\"destroy\"", "\"spawn\"", "\"entity\":", "\"0v1\"", "\"5v1\"", ",",
    "\"component\":", "\"Place\"", "\"field\":", "\"x\"", "\"value\":", "1", "-1e400", "null", "true", "\"add\"",
    "\"remove\"", "\"name\":", "\"\\ud800\"", "\"step\":", "\"system\"", "\"pause\":", "\"restore\":", "\"ticks\":",
    "\"edits\":", "\"relate\"", "\"target\":", "\"enable\"", "\"query\":", "\"Place, !\"", "\"element\":",
    "\"number\":", "\"speed\":", "\"record\":", "\"trace\":", "4294967296", "\"all\"");
/* clang-format on */

static const char *one_of(const word_list *w, uint64_t *seed) { return w->at[dice(seed) % w->count]; }

/* A request of random parts, or whole requests with random parts in them. Returns its length. */
static size_t random_request(uint64_t *seed, char *text, size_t size)
{
    char body[600];
    size_t n = 0, b = 0;
    const bool posts_it = dice(seed) % 3 == 0, whole = dice(seed) % 4 != 0;
    while (posts_it && b < 400 && dice(seed) % 24) {
        if (dice(seed) % 20 == 0) body[b++] = (char)dice(seed);
        b += (size_t)snprintf(body + b, 40, "%s", one_of(&values, seed));
    }
    body[b] = 0;
    if (whole && posts_it) n += (size_t)snprintf(text, size, "POST /api/%s", one_of(&posts, seed));
    else if (whole) n += (size_t)snprintf(text, size, "GET /api/%s", one_of(&gets, seed));
    while (n < 500 && dice(seed) % (whole ? 4 : 12)) {
        if (dice(seed) % 8 == 0) text[n++] = (char)dice(seed);
        else n += (size_t)snprintf(text + n, size - n, "%s", one_of(&parts, seed));
        if (posts_it && whole) break;
    }
    if (whole)
        n += (size_t)snprintf(text + n, size - n,
                              " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\nContent-Type: "
                              "application/json\r\nContent-Length: %u\r\n\r\n",
                              (unsigned)reef_inspector_port(played.inspector), TOKEN, (unsigned)b);
    memcpy(text + n, body, b);
    return n + b;
}

static unsigned fuzz_seconds; /* --fuzz */

/* Whatever comes back, the program ticks on. */
static void random_bytes_harm_nothing(void **state)
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
    const unsigned ticks = atomic_load(&played.ticks);
    wait_for_ticks(ticks + 3);
    json_decref(get("/api/overview", 200));
    end();
    (void)reef_flush(w);
    assert_valid(w);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(random_bytes_harm_nothing),
    };
    /* --fuzz SECONDS: only random requests, for that long; or the name of one test, or a pattern with * */
    if (count == 3 && strcmp(words[1], "--fuzz") == 0) {
        fuzz_seconds = (unsigned)atoi(words[2]);
        cmocka_set_test_filter("random_requests*");
    } else if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
