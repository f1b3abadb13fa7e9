/* The add-on reef_net_udp: sealed channels without sockets, invitations, strangers, and a session over a real socket.
 * */
#include "../../addons/net_udp/seal.h"
#include "net_game.h"
#include "reef_net_udp.h"
#include "support.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* ---- channels ---- */

typedef struct pair {
    seal a_all, b_all;
    seal_channel a, b; /* each the channel to the other */
} pair;

enum { A = 1, B = 2 }; /* addresses */

static void pair_begin(pair *p)
{
    *p = (pair){0};
    assert_true(sodium_init() >= 0);
    randombytes_buf(p->a_all.session, SEAL_KEY);
    memcpy(p->b_all.session, p->a_all.session, SEAL_KEY);
    seal_time(&p->a_all, 0);
    seal_time(&p->b_all, 0);
}

/* a begins, and b answers. */
static void agree(pair *p)
{
    unsigned char init[SEAL_INIT_BYTES], out[SEAL_WIRE_MAX], more[SEAL_WIRE_MAX];
    size_t n = 0;
    seal_ask(&p->a_all, &p->a, init);
    assert_int_equal(seal_judge(&p->b_all, A, init, sizeof init, out), SEAL_ANSWERED);
    assert_int_equal(seal_read(&p->a_all, &p->a, out, SEAL_COOKIE_MESSAGE, more, &n), SEAL_DONE);
    seal_ask(&p->a_all, &p->a, init);
    assert_int_equal(seal_judge(&p->b_all, A, init, sizeof init, out), SEAL_DONE);
    assert_int_equal(seal_read(&p->b_all, &p->b, init, sizeof init, out, &n), SEAL_ANSWERED);
    assert_int_equal(n, SEAL_ANSWER_BYTES);
    assert_int_equal(seal_read(&p->a_all, &p->a, out, n, more, &n), SEAL_DONE);
}

static void what_is_sealed_arrives_once(void **state)
{
    pair p;
    unsigned char in[SEAL_WIRE_MAX], out[SEAL_WIRE_MAX], text[] = "twelve bytes";
    size_t n = 0;
    (void)state;
    pair_begin(&p);
    agree(&p);
    for (int k = 0; k < 3; k++) { /* the other way opens once the first datagram has come */
        const size_t count = seal_close(&p.a, text, sizeof text, in);
        assert_int_equal(count, sizeof text + SEAL_OVERHEAD);
        for (size_t bit = 0; bit < 8 * count; bit++) { /* any changed bit is noticed */
            in[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_int_not_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
            in[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        for (size_t cut = 0; cut < count; cut++)
            assert_int_not_equal(seal_read(&p.b_all, &p.b, in, cut, out, &n), SEAL_OPENED);
        assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
        assert_int_equal(n, sizeof text);
        assert_memory_equal(out, text, n);
        assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_REPEATED);
        assert_int_equal(seal_read(&p.a_all, &p.a, in, count, out, &n), SEAL_STRANGE); /* nor does it come back */
        const size_t back = seal_close(&p.b, text, 5, in);
        assert_int_equal(seal_read(&p.a_all, &p.a, in, back, out, &n), SEAL_OPENED);
        assert_int_equal(n, 5);
    }
}

/* Over a slow line an INIT is sent again before its ANSWER comes, and lines double datagrams: each of them gets the
 * same answer, and none begins the numbers of a direction anew. */
static void an_init_that_comes_again_gets_the_same_answer(void **state)
{
    pair p;
    unsigned char init[SEAL_INIT_BYTES], out[SEAL_WIRE_MAX], first[SEAL_WIRE_MAX], in[SEAL_WIRE_MAX],
        more[SEAL_WIRE_MAX];
    size_t n = 0;
    (void)state;
    pair_begin(&p);
    seal_ask(&p.a_all, &p.a, init);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_ANSWERED);
    assert_int_equal(seal_read(&p.a_all, &p.a, out, SEAL_COOKIE_MESSAGE, more, &n), SEAL_DONE);
    seal_ask(&p.a_all, &p.a, init);
    assert_int_equal(seal_read(&p.b_all, &p.b, init, sizeof init, first, &n), SEAL_ANSWERED);
    assert_int_equal(seal_read(&p.b_all, &p.b, init, sizeof init, out, &n), SEAL_ANSWERED);
    assert_memory_equal(first, out, SEAL_ANSWER_BYTES);
    assert_int_equal(seal_read(&p.a_all, &p.a, first, SEAL_ANSWER_BYTES, more, &n), SEAL_DONE);
    for (uint64_t k = 0; k < 3; k++) {
        size_t count = seal_close(&p.a, &k, sizeof k, in);
        assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
        assert_int_equal(seal_read(&p.b_all, &p.b, init, sizeof init, out, &n), SEAL_ANSWERED);
        assert_memory_equal(first, out, SEAL_ANSWER_BYTES);
        count = seal_close(&p.b, &k, sizeof k, in);
        assert_int_equal(in[1], k); /* its number */
        assert_int_equal(seal_read(&p.a_all, &p.a, in, count, out, &n), SEAL_OPENED);
    }
}

static void numbers_may_come_in_any_order_within_the_window(void **state)
{
    enum { COUNT = 3000 };
    static unsigned char all[COUNT][1 + SEAL_OVERHEAD];
    pair p;
    unsigned char out[SEAL_WIRE_MAX], byte = 7;
    size_t n = 0;
    uint64_t seed = 3;
    (void)state;
    pair_begin(&p);
    agree(&p);
    for (uint32_t i = 0; i < COUNT; i++) (void)seal_close(&p.a, &byte, 1, all[i]);
    for (uint32_t from = 0; from < COUNT; from += 500) { /* each group backwards, with repetitions */
        for (uint32_t i = 500; i-- > 0;) {
            assert_int_equal(seal_read(&p.b_all, &p.b, all[from + i], sizeof all[0], out, &n), SEAL_OPENED);
            const uint32_t again = from + i + random_below(&seed, 500 - i);
            assert_int_equal(seal_read(&p.b_all, &p.b, all[again], sizeof all[0], out, &n), SEAL_REPEATED);
        }
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(seal_read(&p.b_all, &p.b, all[i], sizeof all[0], out, &n), SEAL_REPEATED);
}

static void a_cookie_counts_for_one_address_and_some_time(void **state)
{
    pair p;
    unsigned char init[SEAL_INIT_BYTES], out[SEAL_WIRE_MAX], more[SEAL_WIRE_MAX];
    size_t n = 0;
    (void)state;
    pair_begin(&p);
    seal_ask(&p.a_all, &p.a, init);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_ANSWERED);
    assert_true(SEAL_COOKIE_MESSAGE < SEAL_INIT_BYTES && SEAL_ANSWER_BYTES < SEAL_INIT_BYTES);
    assert_int_equal(seal_read(&p.a_all, &p.a, out, SEAL_COOKIE_MESSAGE, more, &n), SEAL_DONE);
    seal_ask(&p.a_all, &p.a, init);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_DONE);
    assert_int_equal(seal_judge(&p.b_all, 3, init, sizeof init, out), SEAL_ANSWERED);
    seal_time(&p.b_all, 61000 * MS);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_DONE);
    seal_time(&p.b_all, 122000 * MS);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_ANSWERED);
    init[100] ^= 1;
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_STRANGE);
}

static void who_lacks_the_key_gets_no_answer(void **state)
{
    pair p;
    unsigned char init[SEAL_INIT_BYTES], out[SEAL_WIRE_MAX];
    (void)state;
    pair_begin(&p);
    randombytes_buf(p.a_all.session, SEAL_KEY);
    seal_ask(&p.a_all, &p.a, init);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init, out), SEAL_STRANGE);
    assert_int_equal(seal_judge(&p.b_all, A, init, sizeof init - 1, out), SEAL_STRANGE);
}

static void a_recorded_beginning_doesnt_end_a_channel(void **state)
{
    pair p;
    unsigned char init[SEAL_INIT_BYTES], in[SEAL_WIRE_MAX], out[SEAL_WIRE_MAX];
    size_t n = 0;
    (void)state;
    pair_begin(&p);
    agree(&p);
    size_t count = seal_close(&p.a, "x", 1, in);
    assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
    seal_channel other = {0};
    seal_ask(&p.a_all, &other, init);
    assert_int_equal(seal_read(&p.b_all, &p.b, init, sizeof init, out, &n), SEAL_ANSWERED);
    for (int i = 0; i < 3; i++) {
        count = seal_close(&p.a, "x", 1, in);
        assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
        count = seal_close(&p.b, "x", 1, in);
        assert_int_equal(seal_read(&p.a_all, &p.a, in, count, out, &n), SEAL_OPENED);
    }
    p.a = (seal_channel){0}; /* whoever lost his keys agrees on new ones */
    agree(&p);
    count = seal_close(&p.a, "y", 1, in);
    assert_int_equal(seal_read(&p.b_all, &p.b, in, count, out, &n), SEAL_OPENED);
    count = seal_close(&p.b, "y", 1, in);
    assert_int_equal(seal_read(&p.a_all, &p.a, in, count, out, &n), SEAL_OPENED);
}

static void both_may_begin_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pair p;
        unsigned char a[SEAL_INIT_BYTES], b[SEAL_INIT_BYTES], in[SEAL_WIRE_MAX], out[SEAL_WIRE_MAX];
        size_t n = 0;
        pair_begin(&p);
        seal_ask(&p.a_all, &p.a, a);
        seal_ask(&p.b_all, &p.b, b);
        const bool a_answers = seal_read(&p.a_all, &p.a, b, sizeof b, out, &n) == SEAL_ANSWERED;
        if (a_answers) assert_int_equal(seal_read(&p.b_all, &p.b, out, n, in, &n), SEAL_DONE);
        const seal_result by_b = seal_read(&p.b_all, &p.b, a, sizeof a, out, &n);
        if (!a_answers) {
            assert_int_equal(by_b, SEAL_ANSWERED);
            assert_int_equal(seal_read(&p.a_all, &p.a, out, n, in, &n), SEAL_DONE);
        }
        seal_channel *first = a_answers ? &p.b : &p.a, *second = a_answers ? &p.a : &p.b;
        size_t count = seal_close(first, "x", 1, in);
        assert_int_equal(seal_read(&p.a_all, second, in, count, out, &n), SEAL_OPENED);
        count = seal_close(second, "x", 1, in);
        assert_int_equal(seal_read(&p.a_all, first, in, count, out, &n), SEAL_OPENED);
    }
}

/* ---- sockets ---- */

static void invitations_are_checked(void **state)
{
    char reason[REEF_NET_REASON_MAX], text[REEF_NET_INVITATION_MAX], wrong[REEF_NET_INVITATION_MAX];
    char taken[64];
    (void)state;
    reef_net_udp *u = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, reason);
    assert_non_null(u);
    assert_int_equal(reef_net_udp_invite(u, "127.0.0.1", 1000, text, sizeof text), REEF_OK);
    assert_int_equal(reef_net_udp_invite(u, "localhost", 1000, text, sizeof text), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_net_udp_invite(u, "127.0.0.1", 1000, wrong, 20), REEF_LIMIT);
    assert_int_equal(reef_net_udp_invited(u, text, 1000, reason), UINT64_C(0x7f0000010000) | reef_net_udp_port(u));
    assert_int_equal(reef_net_udp_invited(u, text, 1001, reason), 0);
    assert_string_equal(reason, "the invitation has expired");
    for (size_t cut = 0; cut < strlen(text); cut++) {
        snprintf(wrong, sizeof wrong, "%.*s", (int)cut, text);
        assert_int_equal(reef_net_udp_invited(u, wrong, 0, reason), 0);
    }
    assert_string_equal(reason, "this is no invitation, or a damaged one");
    assert_null(reef_net_udp_new(&(reef_net_udp_config){.bind = "here"}, reason));
    assert_string_equal(reason, "no IPv4 address to listen at");
    assert_null(reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1", .port = reef_net_udp_port(u)}, reason));
    (void)snprintf(taken, sizeof taken, "port %u can't be opened: ", (unsigned)reef_net_udp_port(u));
    assert_non_null(strstr(reason, taken));
    reef_net_udp_free(u);
    reef_net_udp_free(NULL);
}

typedef struct side {
    reef_net_udp *udp;
    reef_net *net;
    reef_world *world;
    net_game game;
} side;

static void side_begin(side *s, uint64_t number, const char *invitation, char *invites)
{
    char reason[REEF_NET_REASON_MAX];
    *s = (side){.game = {.seed = number}, .world = reef_world_new(NULL)};
    net_game_begin(s->world, &s->game);
    s->udp = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, reason);
    if (s->udp == NULL) fail_msg("%s", reason);
    reef_net_config c = {.world = s->world,
                         .transport = reef_net_udp_transport(s->udp),
                         .signer = reef_net_udp_signer(s->udp),
                         .step = net_game_step,
                         .sample = net_game_sample,
                         .context = &s->game,
                         .input = net_game_input(),
                         .step_ns = 16 * MS,
                         .nonce = 50 + number};
    if (invites) assert_ok(reef_net_udp_invite(s->udp, "127.0.0.1", 100, invites, REEF_NET_INVITATION_MAX));
    const uint64_t host = invitation ? reef_net_udp_invited(s->udp, invitation, 0, reason) : 0;
    s->net = invitation ? reef_net_join(&c, host, reason) : reef_net_host(&c, reason);
    if (s->net == NULL) fail_msg("%s", reason);
}

static void side_end(side *s)
{
    reef_net_free(s->net);
    reef_net_udp_free(s->udp);
    reef_world_free(s->world);
}

static void a_session_plays_over_sockets_and_strangers_hear_nothing(void **state)
{
    side s[3];
    char invitation[REEF_NET_INVITATION_MAX];
    unsigned char noise[1500];
    uint64_t now = 0;
    (void)state;
    side_begin(&s[0], 0, NULL, invitation);
    side_begin(&s[1], 1, invitation, NULL);
    side_begin(&s[2], 2, invitation, NULL);
    const int stranger = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(reef_net_udp_port(s[0].udp))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(stranger, (const struct sockaddr *)&at, sizeof at), 0);
    for (uint32_t i = 0; i < 4000; i++) {
        now += 4 * MS;
        for (uint32_t k = 0; k < 3; k++) {
            reef_net_udp_time(s[k].udp, now, 1);
            assert_ok(reef_net_update(s[k].net, now));
        }
        randombytes_buf(noise, sizeof noise);
        noise[0] = (unsigned char)(i % 5);
        (void)send(stranger, noise, i % 3 ? randombytes_uniform(sizeof noise) : SEAL_INIT_BYTES, 0);
        const uint64_t played = reef_net_confirmed(s[2].net);
        if (reef_net_state(s[2].net) == REEF_NET_PLAYING && reef_net_player(s[1].net) >= 0 && played > 300) break;
    }
    const uint64_t t = reef_net_confirmed(s[2].net) / 8 * 8 - 32;
    assert_true(t > 200);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(reef_net_state(s[k].net), REEF_NET_PLAYING);
        assert_int_equal(reef_net_hash(s[k].net, t), reef_net_hash(s[0].net, t));
        assert_true(reef_net_udp_statistics(s[k].udp).opened > 100);
    }
    assert_true(reef_net_udp_statistics(s[0].udp).strangers > 100);
    assert_true(recv(stranger, noise, sizeof noise, MSG_DONTWAIT) < 0);
    (void)close(stranger);
    for (uint32_t k = 0; k < 3; k++) side_end(&s[k]);
}

/* Who floods a socket keeps no session from going on: it looks at some hundreds of such datagrams in an update, and
 * answers sixteen beginnings at most, also of somebody who has the key. */
static void a_flood_is_dropped(void **state)
{
    side s[2];
    char invitation[REEF_NET_INVITATION_MAX];
    unsigned char noise[64], begin[SEAL_INIT_BYTES];
    uint64_t now = 0, flooded_at = 0;
    (void)state;
    side_begin(&s[0], 0, NULL, invitation);
    side_begin(&s[1], 1, invitation, NULL);
    const int stranger = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(reef_net_udp_port(s[0].udp))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(stranger, (const struct sockaddr *)&at, sizeof at), 0);
    seal insider = {0};
    const char *key = strrchr(invitation, ':') + 1;
    assert_int_equal(sodium_base642bin(insider.session, SEAL_KEY, key, strlen(key), NULL, NULL, NULL,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    for (uint32_t i = 0; i < 4000; i++) {
        now += 4 * MS;
        for (uint32_t k = 0; k < 2; k++) {
            const uint64_t answered = reef_net_udp_statistics(s[k].udp).agreed;
            reef_net_udp_time(s[k].udp, now, 1);
            assert_ok(reef_net_update(s[k].net, now));
            assert_true(reef_net_udp_statistics(s[k].udp).agreed <= answered + 16);
        }
        const bool plays = reef_net_state(s[1].net) == REEF_NET_PLAYING;
        if (plays && flooded_at == 0) flooded_at = reef_net_confirmed(s[1].net);
        if (plays && reef_net_confirmed(s[1].net) > flooded_at + 200) break;
        for (uint32_t k = 0; plays && k < 100; k++) {
            seal_channel channel = {0};
            seal_ask(&insider, &channel, begin);
            randombytes_buf(noise, sizeof noise);
            (void)send(stranger, noise, sizeof noise, 0);
            (void)send(stranger, begin, sizeof begin, 0);
        }
    }
    assert_true(reef_net_confirmed(s[1].net) > flooded_at + 200);
    assert_true(reef_net_udp_statistics(s[0].udp).strangers > 5000);
    assert_true(recv(stranger, begin, sizeof begin, MSG_DONTWAIT) == SEAL_COOKIE_MESSAGE);
    (void)close(stranger);
    for (uint32_t k = 0; k < 2; k++) side_end(&s[k]);
}

static void nobody_begins_to_join_after_the_expiry(void **state)
{
    side s[2];
    char invitation[REEF_NET_INVITATION_MAX];
    (void)state;
    side_begin(&s[0], 0, NULL, invitation);
    side_begin(&s[1], 1, invitation, NULL);
    for (uint64_t now = 0; now < 12000 * MS; now += 8 * MS)
        for (uint32_t k = 0; k < 2; k++) {
            reef_net_udp_time(s[k].udp, now, 101);
            assert_ok(reef_net_update(s[k].net, now));
        }
    assert_int_equal(reef_net_state(s[1].net), REEF_NET_ENDED);
    assert_string_equal(reef_net_reason(s[1].net), "nobody answers at this address");
    for (uint32_t k = 0; k < 2; k++) side_end(&s[k]);
}

static void signatures_belong_to_a_key_and_a_text(void **state)
{
    static const char text[] = "left, right, left";
    unsigned char signature[REEF_NET_SIGNATURE_BYTES], digests[2][16];
    reef_net_udp *u[2];
    (void)state;
    for (int i = 0; i < 2; i++) u[i] = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, NULL);
    const reef_net_signer a = reef_net_udp_signer(u[0]), b = reef_net_udp_signer(u[1]);
    a.sign(a.context, text, sizeof text, signature);
    assert_true(b.verify(b.context, a.key, text, sizeof text, signature));
    assert_false(b.verify(b.context, b.key, text, sizeof text, signature));
    assert_false(b.verify(b.context, a.key, text, sizeof text - 1, signature));
    signature[20] ^= 1;
    assert_false(b.verify(b.context, a.key, text, sizeof text, signature));
    a.digest(a.context, text, sizeof text, digests[0]);
    b.digest(b.context, text, sizeof text, digests[1]);
    assert_memory_equal(digests[0], digests[1], 16);
    b.digest(b.context, text, sizeof text - 1, digests[1]);
    assert_memory_not_equal(digests[0], digests[1], 16);
    assert_null(reef_net_udp_signer(NULL).sign);
    for (int i = 0; i < 2; i++) reef_net_udp_free(u[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_arrives_once),
        cmocka_unit_test(an_init_that_comes_again_gets_the_same_answer),
        cmocka_unit_test(numbers_may_come_in_any_order_within_the_window),
        cmocka_unit_test(a_cookie_counts_for_one_address_and_some_time),
        cmocka_unit_test(who_lacks_the_key_gets_no_answer),
        cmocka_unit_test(a_recorded_beginning_doesnt_end_a_channel),
        cmocka_unit_test(both_may_begin_at_once),
        cmocka_unit_test(invitations_are_checked),
        cmocka_unit_test(signatures_belong_to_a_key_and_a_text),
        cmocka_unit_test(a_session_plays_over_sockets_and_strangers_hear_nothing),
        cmocka_unit_test(a_flood_is_dropped),
        cmocka_unit_test(nobody_begins_to_join_after_the_expiry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
