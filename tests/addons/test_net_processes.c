/* The add-ons reef_net and reef_net_udp in real processes, with real sockets and clocks, joined by a relay with faults:
 * delay, jitter, loss, doubled and reordered datagrams from a seed; about 150 ms round trip and 5% loss.
 *
 *     test_net_processes --players 4 --ticks 18000 [--seed 1] [--other-rule 1]
 *
 * The relay has a port for each player. What player i sends to the port of j is passed on from the port of i, so that
 * each port is the address of its player for everybody. Each process writes the hashes of its confirmed states to a
 * pipe. They must be equal, nobody may end early, and there must have been rollbacks. */
#include "net_game.h"
#include "reef_net_udp.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
enum { PLAYERS_MAX = 8, WAITING = 8192, STEP_NS = 16666667 };

static uint64_t ticks = 240; /* that each player confirms */
static bool other_rule;
static uint32_t players_all;

static uint64_t clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* ---- the relay ---- */

typedef struct passed {
    uint64_t at;
    uint32_t from, to;
    size_t count;
    unsigned char bytes[1500];
} passed;

typedef struct relay {
    int socket[PLAYERS_MAX];
    uint16_t port[PLAYERS_MAX], player[PLAYERS_MAX]; /* its own ports, those of the players */
    uint32_t players, count;
    uint64_t seed, lost, twice, all;
    passed *waiting[WAITING];
    pid_t reader;
} relay;

static uint64_t draw(relay *r, uint64_t below)
{
    uint64_t z = r->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

static int socket_at(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0 || bind(s, (const struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(s, (struct sockaddr *)&at, &size) != 0) {
        perror("socket");
        exit(1);
    }
    *port = ntohs(at.sin_port);
    return s;
}

static void take(relay *r, uint32_t to)
{
    unsigned char bytes[1500];
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    const ssize_t n = recvfrom(r->socket[to], bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&at, &size);
    uint32_t from = 0;
    if (n <= 0) return;
    while (from < r->players && r->player[from] != ntohs(at.sin_port)) from++;
    r->all++;
    if (from == r->players) return;
    if (draw(r, 1000) < 50) {
        r->lost++;
        return;
    }
    for (uint64_t copies = draw(r, 100) < 2 ? 2 : 1; copies > 0 && r->count < WAITING; copies--) {
        passed *p = malloc(sizeof *p);
        if (p == NULL) return;
        *p = (passed){.at = clock_ns() + 60 * MS + draw(r, 30 * MS), .from = from, .to = to, .count = (size_t)n};
        memcpy(p->bytes, bytes, (size_t)n);
        r->waiting[r->count++] = p;
    }
}

static void pass(relay *r)
{
    const uint64_t now = clock_ns();
    for (uint32_t i = 0; i < r->count;) {
        passed *p = r->waiting[i];
        if (p->at > now) {
            i++;
            continue;
        }
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(r->player[p->to])};
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        (void)sendto(r->socket[p->from], p->bytes, p->count, 0, (const struct sockaddr *)&at, sizeof at);
        free(p);
        r->waiting[i] = r->waiting[--r->count];
    }
}

/* Passes on until all players have ended. */
static int relay_run(relay *r)
{
    struct pollfd polled[PLAYERS_MAX];
    for (uint32_t i = 0; i < r->players; i++) polled[i] = (struct pollfd){.fd = r->socket[i], .events = POLLIN};
    int status = 0, worst = 0;
    for (uint32_t left = r->players; left > 0;) {
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0 && ended != r->reader) left--;
        if (ended > 0 && (!WIFEXITED(status) || WEXITSTATUS(status))) worst = 1;
        (void)poll(polled, r->players, 1);
        for (uint32_t i = 0; i < r->players; i++)
            for (int k = 0; polled[i].revents && k < 64; k++) take(r, i);
        pass(r);
    }
    while (r->count) free(r->waiting[--r->count]);
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status)) worst = 1;
    return worst;
}

/* ---- a player ---- */

typedef struct report {
    uint64_t tick, hash; /* hash 0: the last one; then what follows */
    reef_net_stats stats;
    int state;
    uint64_t confirmed, longest_ns; /* longest_ns: of an update */
    uint32_t number;
    char reason[REEF_NET_REASON_MAX];
} report;
_Static_assert(sizeof(report) <= 512, "a pipe takes a report of one player as a whole");

static void put(int pipe, const report *r)
{
    if (write(pipe, r, sizeof *r) != (ssize_t)sizeof *r) _exit(3); /* a report is written as a whole */
}

static void player(uint32_t number, int pipe, reef_net_udp *udp, const char *invited_by)
{
    report r = {.number = number};
    net_game game = {.seed = number + 1, .other_rule = other_rule && number == 1};
    reef_world *w = reef_world_new(NULL);
    net_game_begin(w, &game);
    reef_net_config c = {.world = w,
                         .transport = reef_net_udp_transport(udp),
                         .signer = reef_net_udp_signer(udp),
                         .step = net_game_step,
                         .sample = net_game_sample,
                         .context = &game,
                         .input = net_game_input(),
                         .step_ns = STEP_NS,
                         .nonce = 1000 + number,
                         .silence_ns = 20000 * MS,
                         .patience_ns = 40000 * MS};
    const uint64_t host = number ? reef_net_udp_invited(udp, invited_by, 0, r.reason) : 0;
    reef_net *net = number ? reef_net_join(&c, host, r.reason) : reef_net_host(&c, r.reason);
    /* Until it has played enough with all others, and some time more for the others. The limit only ends what hangs. */
    const uint64_t limit = clock_ns() + (60 + ticks / 20) * 1000 * MS;
    uint64_t enough = 0;
    uint32_t seen = 0;
    while (net && clock_ns() < limit && reef_net_state(net) != REEF_NET_ENDED) {
        const uint64_t began = clock_ns();
        reef_net_udp_time(udp, began, 0);
        const reef_status s = reef_net_update(net, began);
        const uint64_t took = clock_ns() - began, confirmed = reef_net_confirmed(net);
        if (s < 0) snprintf(r.reason, sizeof r.reason, "%s", reef_status_name(s));
        if (took > r.longest_ns) r.longest_ns = took;
        for (; r.tick + 8 <= confirmed; r.tick += 8) {
            r.hash = reef_net_hash(net, r.tick);
            if (r.hash) put(pipe, &r);
        }
        for (uint32_t p = 0; p < PLAYERS_MAX; p++) { /* nobody leaves before the slowest one plays */
            reef_net_player_info info;
            if (reef_net_player_get(net, p, &info) && info.known > 0) seen |= 1u << p;
        }
        const bool all = (seen & ((1u << players_all) - 1)) == (1u << players_all) - 1;
        if (confirmed >= ticks && all && enough == 0) enough = clock_ns();
        if (enough && clock_ns() - enough > 2500 * MS) break;
        reef_net_desync d;
        if (reef_net_desync_get(net, &d)) { /* of two, the host goes on */
            snprintf(r.reason, sizeof r.reason, "system %.60s, component %.60s, field %.60s", d.system, d.component,
                     d.field);
            if (number == 0 && enough == 0) enough = clock_ns();
        }
        reef_net_notice n;
        while (reef_net_notice_next(net, &n)) {}
        (void)nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
    }
    r.hash = 0;
    r.state = (int)reef_net_state(net);
    r.stats = reef_net_statistics(net);
    r.confirmed = reef_net_confirmed(net);
    if (r.reason[0] == 0) snprintf(r.reason, sizeof r.reason, "%s", reef_net_reason(net));
    put(pipe, &r);
    reef_net_free(net);
    reef_net_udp_free(udp);
    reef_world_free(w);
}

/* ---- what they say ---- */

static uint64_t *hashes, compared;
static uint64_t ticks_max;
static int failures;

static void judge(const report *r)
{
    const uint32_t number = r->number;
    if (r->hash) {
        if (r->tick / 8 >= ticks_max) return;
        uint64_t *is = &hashes[r->tick / 8];
        compared += *is != 0;
        if (*is && *is != r->hash && !other_rule) {
            fprintf(stderr, "player %u has another state before tick %llu\n", number, (unsigned long long)r->tick);
            failures++;
        }
        *is = r->hash;
        return;
    }
    printf("player %u: state %d, %llu confirmed, %llu rollbacks (deepest %u), %llu inputs changed, %llu stalls (%.1f "
           "ms), delay %u, "
           "longest update %.2f ms, %.1f kB/s sent %s\n",
           number, r->state, (unsigned long long)r->confirmed, (unsigned long long)r->stats.rollbacks, r->stats.deepest,
           (unsigned long long)r->stats.inputs_changed, (unsigned long long)r->stats.stalls,
           (double)r->stats.stalled_ns / 1e6, r->stats.delay, (double)r->longest_ns / 1e6,
           (double)r->stats.sent_bytes / (double)(r->confirmed + 1) * 60 / 1000, r->reason);
    if (other_rule) {
        if (r->state == (number ? REEF_NET_ENDED : REEF_NET_PLAYING) &&
            strstr(r->reason, "system game_move, component Position, field x"))
            return;
        fprintf(stderr, "player %u: the difference isn't named: %s\n", number, r->reason);
        failures++;
        return;
    }
    if (r->state != REEF_NET_PLAYING || r->stats.rollbacks < 5 || r->confirmed < ticks) {
        fprintf(stderr, "player %u didn't play, or was never corrected: %s\n", number, r->reason);
        failures++;
    }
}

static char invitation[REEF_NET_INVITATION_MAX];

/* Opens the player's socket in the parent, so that the relay knows its port, and goes on in a child. */
static void begin(relay *r, uint32_t number, const int *ends)
{
    char reason[REEF_NET_REASON_MAX];
    reef_net_udp *udp = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, reason);
    if (udp == NULL) {
        fprintf(stderr, "%s\n", reason);
        exit(1);
    }
    r->player[number] = reef_net_udp_port(udp);
    if (number == 0) { /* the invitation leads to the relay */
        char own[REEF_NET_INVITATION_MAX];
        (void)reef_net_udp_invite(udp, "127.0.0.1", UINT64_MAX / 2, own, sizeof own);
        const char *rest = strchr(strchr(own, ':') + 1, ':') + 1;
        snprintf(invitation, sizeof invitation, "reef-net:127.0.0.1:%u%.120s", r->port[0], strchr(rest, ':'));
    }
    fflush(stdout);
    if (fork() == 0) {
        (void)close(ends[0]);
        player(number, ends[1], udp, invitation);
        _exit(0);
    }
    reef_net_udp_free(udp);
}

/* Reads what all players write, until all have ended. */
static void reports_read(int pipe, uint32_t players)
{
    report r;
    uint32_t ended = 0;
    for (size_t have = 0;;) {
        const ssize_t n = read(pipe, (char *)&r + have, sizeof r - have);
        if (n <= 0) break;
        have += (size_t)n;
        if (have < sizeof r) continue;
        have = 0;
        ended += r.hash == 0;
        judge(&r);
    }
    if (ended == players) return;
    fprintf(stderr, "%u of %u players died\n", players - ended, players);
    failures++;
}

int main(int argc, char **argv)
{
    static relay r = {.players = 2, .seed = 1};
    int ends[2];
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--players") == 0) r.players = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ticks") == 0) ticks = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0) r.seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--other-rule") == 0) other_rule = strtoul(argv[i + 1], NULL, 10) != 0;
        else return fprintf(stderr, "usage: %s [--players N] [--ticks N] [--seed N] [--other-rule 1]\n", argv[0]), 2;
    }
    if (r.players < 2 || r.players > PLAYERS_MAX) return 2;
    players_all = r.players;
    ticks_max = (ticks + 600) / 8;
    hashes = calloc(ticks_max, sizeof *hashes);
    for (uint32_t i = 0; i < r.players; i++) r.socket[i] = socket_at(&r.port[i]);
    if (hashes == NULL || pipe(ends) != 0) return 1;
    for (uint32_t i = 0; i < r.players; i++) begin(&r, i, ends);
    r.reader = fork(); /* reports are read by a process of their own, so that neither the relay nor the players wait */
    if (r.reader == 0) {
        (void)close(ends[1]);
        reports_read(ends[0], r.players);
        printf("%llu hashes compared\n", (unsigned long long)compared);
        fflush(stdout);
        if (compared < 10 && !other_rule) failures++;
        _exit(failures ? 1 : 0);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
    const int worst = relay_run(&r);
    printf("relay: %llu datagrams, %llu lost\n", (unsigned long long)r.all, (unsigned long long)r.lost);
    free(hashes);
    return worst;
}
