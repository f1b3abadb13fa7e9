/* Dive over a real network: two to eight programs dive_headless, each in a network of its own, joined by this relay.
 *
 *     network PROGRAM [--players N] [--ticks N] [--creatures N] [--seed N] [--other PROGRAM] [--loopback]
 *
 * Each player gets a network namespace with one device, of which this program holds the other end (TUN): what a player
 * sends arrives here as whole packets of IP, and is passed on after 60 to 90 ms, so 150 +- 30 ms there and back. Of 100
 * packets 5 are lost and 2 arrive twice, and since each has its own delay, many overtake each other. What happens to a
 * packet is drawn from the seed. Where the system doesn't permit such networks, or with --loopback, the players have
 * sockets of this machine, and the relay is a port for each of them; the first line of the output says so.
 *
 * The first player hosts, with as many creatures as asked for, the others join by its invitation, and bots play until
 * so many ticks are confirmed. All must print the same hash, and have compared hashes on the way.
 * With --other the second player's program is another one, whose rule differs by one unit in the last place: each of
 * the two must name the system, the component and the field. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
enum { PLAYERS_MAX = 8, WAITING = 8192, PACKET = 1600, PORT = 4711, SAID = 1 << 16 };

typedef struct player {
    pid_t process;
    int device;    /* the other end of its device; or the relay's port for it */
    uint16_t port; /* over loopback: the relay's port, and the player's own */
    uint16_t own_port;
    int output; /* what it prints */
    char said[SAID];
    size_t said_count;
    uint64_t sent; /* packets */
    bool ended, good;
} player;

typedef struct packet {
    uint64_t at;
    uint32_t from, to;
    size_t count;
    unsigned char bytes[PACKET];
} packet;

static struct {
    const char *program, *other;
    uint32_t players;
    uint64_t ticks, creatures, seed;
    bool loopback;
} options = {.players = 2, .ticks = 300, .creatures = 300, .seed = 1};
static player players[PLAYERS_MAX];
static packet *waiting[WAITING];
static uint32_t waiting_count;
static uint64_t passed, lost, twice, overtook, refused, longest_late;

static void die(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vfprintf(stderr, format, values);
    va_end(values);
    (void)fprintf(stderr, "\n");
    for (uint32_t i = 0; i < options.players; i++)
        if (players[i].process > 0) (void)kill(players[i].process, SIGKILL);
    exit(1);
}

static uint64_t clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static uint64_t draw(uint64_t below)
{
    static uint64_t seed;
    if (seed == 0) seed = options.seed * 7919;
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* ---- the relay ---- */

static void take(uint32_t from, uint32_t to, const unsigned char *bytes, size_t count)
{
    passed++;
    players[from].sent++;
    if (draw(1000) < 50) {
        lost++;
        return;
    }
    const uint32_t copies = draw(100) < 2 ? 2 : 1;
    twice += copies - 1;
    for (uint32_t k = 0; k < copies && waiting_count < WAITING; k++) {
        packet *p = malloc(sizeof *p);
        if (p == NULL) die("no memory");
        *p = (packet){.at = clock_ns() + 60 * MS + draw(30 * MS), .from = from, .to = to, .count = count};
        memcpy(p->bytes, bytes, count);
        for (uint32_t i = 0; i < waiting_count && k == 0; i++)
            if (waiting[i]->from == from && waiting[i]->to == to && waiting[i]->at > p->at) {
                overtook++;
                break;
            }
        waiting[waiting_count++] = p;
    }
}

/* A packet of IP that a player sent: 10.77.0.1 is the first player. Others than UDP over IPv4 aren't passed on. */
static void device_read(uint32_t from)
{
    unsigned char bytes[PACKET];
    ssize_t n;
    while ((n = read(players[from].device, bytes, sizeof bytes)) > 0) {
        if (n < 20 || bytes[0] >> 4 != 4 || bytes[9] != 17 || bytes[16] != 10 || bytes[17] != 77) continue;
        const uint32_t to = bytes[19] - 1u;
        if (bytes[18] == 0 && to < options.players && to != from) take(from, to, bytes, (size_t)n);
    }
}

/* What arrived at the relay's port for `to`: the player who sent it is known by his own port. */
static void port_read(uint32_t to)
{
    unsigned char bytes[PACKET];
    struct sockaddr_in at;
    for (;;) {
        socklen_t size = sizeof at;
        const ssize_t n =
            recvfrom(players[to].device, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&at, &size);
        if (n <= 0) return;
        for (uint32_t from = 0; from < options.players; from++)
            if (players[from].own_port == ntohs(at.sin_port)) take(from, to, bytes, (size_t)n);
    }
}

static void pass(void)
{
    const uint64_t now = clock_ns();
    for (uint32_t i = 0; i < waiting_count;) {
        packet *p = waiting[i];
        if (p->at > now) {
            i++;
            continue;
        }
        if (now - p->at > longest_late) longest_late = now - p->at;
        if (options.loopback) {
            struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(players[p->to].own_port)};
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            (void)sendto(players[p->from].device, p->bytes, p->count, 0, (const struct sockaddr *)&at, sizeof at);
        } else refused += write(players[p->to].device, p->bytes, p->count) < 0;
        free(p);
        waiting[i] = waiting[--waiting_count];
    }
}

/* ---- networks ---- */

static void address_set(int s, struct ifreq *r, unsigned long what, const char *address)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1) _exit(9);
    memcpy(&r->ifr_addr, &at, sizeof at);
    if (ioctl(s, what, r) != 0) _exit(9);
}

/* In a child: a network with nothing but one device, whose other end is returned; -1: it isn't permitted. */
static int network_make(uint32_t number)
{
    char address[32];
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return -1;
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM, 0);
    if (device < 0 || s < 0) return -1;
    memcpy(r.ifr_name, "relay", 6);
    if (ioctl(device, TUNSETIFF, &r) != 0) return -1;
    (void)snprintf(address, sizeof address, "10.77.0.%u", number + 1);
    address_set(s, &r, SIOCSIFADDR, address);
    address_set(s, &r, SIOCSIFNETMASK, "255.255.255.0");
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(s, SIOCSIFFLAGS, &r) != 0) return -1;
    (void)close(s);
    return device;
}

static void device_send(int to, int device)
{
    char room[CMSG_SPACE(sizeof device)] = "", byte = device >= 0;
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (device >= 0) {
        m.msg_control = room;
        m.msg_controllen = sizeof room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof device);
        memcpy(CMSG_DATA(c), &device, sizeof device);
    }
    if (sendmsg(to, &m, 0) != 1) _exit(9);
}

static int device_receive(int from)
{
    int device = -1;
    char room[CMSG_SPACE(sizeof device)], byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(from, &m, 0) != 1 || byte == 0) return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c) memcpy(&device, CMSG_DATA(c), sizeof device);
    return device;
}

static int port_open(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0 || bind(s, (const struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(s, (struct sockaddr *)&at, &size) != 0)
        die("no socket: %s", strerror(errno));
    *port = ntohs(at.sin_port);
    return s;
}

/* ---- players ---- */

/* Where a player writes what it knows of a difference. */
static void desync_name(uint32_t number, char *path, size_t size)
{
    (void)snprintf(path, size, "dive-network-%d-%u.reef", (int)getpid(), number);
}

/* Runs the program of a player in a child, in a network of its own. False: such networks aren't permitted. */
static bool player_run(uint32_t number, const char *invitation)
{
    player *p = &players[number];
    int ends[2], pair[2];
    char ticks[32], creatures[32], seed[32], port[32], address[32], desync[64];
    desync_name(number, desync, sizeof desync);
    (void)snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)options.ticks);
    (void)snprintf(creatures, sizeof creatures, "%llu", (unsigned long long)options.creatures);
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)options.seed);
    (void)snprintf(port, sizeof port, "%u", options.loopback ? p->own_port : PORT);
    (void)snprintf(address, sizeof address, options.loopback ? "127.0.0.1" : "10.77.0.%u", number + 1);
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) die("no pipe");
    (void)fflush(stdout);
    (void)remove(desync);
    p->process = fork();
    if (p->process < 0) die("no process");
    if (p->process == 0) {
        const char *program = number == 1 && options.other ? options.other : options.program;
        const int device = options.loopback ? -1 : network_make(number);
        device_send(pair[1], device);
        if (!options.loopback && device < 0) _exit(9);
        (void)dup2(ends[1], 1);
        for (int fd = 3; fd < 64; fd++) (void)close(fd); /* the device lives on: the relay holds it */
        if (number == 0)
            execl(program, program, "--host", ticks, "--address", address, "--port", port, "--creatures", creatures,
                  "--seed", seed, "--threads", "1", "--times", "--silence", "20000", "--desync", desync, (char *)NULL);
        else
            execl(program, program, "--join", ticks, "--invitation", invitation, "--port", port, "--threads", "1",
                  "--times", "--silence", "20000", "--desync", desync, (char *)NULL);
        _exit(9);
    }
    (void)close(ends[1]);
    (void)close(pair[1]);
    p->output = ends[0];
    (void)fcntl(p->output, F_SETFL, O_NONBLOCK);
    const int device = device_receive(pair[0]);
    (void)close(pair[0]);
    if (options.loopback) return true;
    p->device = device;
    return device >= 0;
}

static void output_read(player *p)
{
    for (;;) {
        const ssize_t n = read(p->output, p->said + p->said_count, sizeof p->said - 1 - p->said_count);
        if (n <= 0) return;
        p->said_count += (size_t)n;
        p->said[p->said_count] = 0;
    }
}

/* Passes on until the next thing happens, or a millisecond is over. */
static void relay_turn(void)
{
    struct pollfd polled[2 * PLAYERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < options.players; i++) {
        if (players[i].process <= 0) continue;
        polled[count++] = (struct pollfd){.fd = players[i].device, .events = POLLIN};
    }
    (void)poll(polled, count, 1);
    for (uint32_t i = 0; i < options.players; i++) {
        player *p = &players[i];
        int status;
        if (options.loopback) port_read(i);
        else if (p->process > 0) device_read(i);
        if (p->process <= 0 || p->ended) continue;
        output_read(p);
        if (waitpid(p->process, &status, WNOHANG) != p->process) continue;
        output_read(p);
        p->ended = true;
        p->good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    pass();
}

/* The invitation as the players can use it: over loopback it leads to the relay's port. */
static void invitation_get(char *text, size_t size)
{
    const player *host = &players[0];
    const char *end;
    while ((end = strchr(host->said, '\n')) == NULL) {
        relay_turn();
        if (host->ended) die("the host ended: %s", host->said);
    }
    if (!options.loopback) {
        (void)snprintf(text, size, "%.*s", (int)(end - host->said), host->said);
        return;
    }
    const char *rest = strchr(strchr(strchr(host->said, ':') + 1, ':') + 1, ':'); /* behind address and port */
    (void)snprintf(text, size, "reef-net:127.0.0.1:%u%.*s", host->port, (int)(end - rest), rest);
}

/* ---- judging ---- */

static const char *line_with(const player *p, const char *begin)
{
    const char *at = strstr(p->said, begin);
    return at && (at == p->said || at[-1] == '\n') ? at : NULL;
}

/* What a player has written of the difference leads to it again. */
static bool plays_again(uint32_t number)
{
    char path[64], command[2000], line[300] = "";
    bool differs = false;
    desync_name(number, path, sizeof path);
    (void)snprintf(command, sizeof command, "'%s' --replay %s --threads 1", options.program, path);
    FILE *said = popen(command, "r");
    while (said && fgets(line, sizeof line, said))
        differs |= strstr(line, "which differs: system swim, component Position, field x") != NULL;
    const bool good = said && pclose(said) == 0 && differs;
    (void)remove(path);
    return good;
}

static bool judge_difference(void)
{
    bool good = true;
    for (uint32_t i = 0; i < 2; i++) {
        const char *line = line_with(&players[i], "differs: ");
        const bool again = plays_again(i);
        if (line && again && strstr(line, "system swim, component Position, field x")) continue;
        fprintf(stderr, "player %u didn't name the difference%s\n", i, again ? "" : ", or what it wrote isn't right");
        good = false;
    }
    return good;
}

static bool judge(void)
{
    bool good = true;
    const char *first = line_with(&players[0], "hash before tick ");
    for (uint32_t i = 0; i < options.players; i++) {
        const player *p = &players[i];
        const char *hash = line_with(p, "hash before tick "), *frames = line_with(p, "frames ");
        unsigned long long compared = 0;
        const char *at = frames ? strstr(frames, "compared ") : NULL;
        if (at) compared = strtoull(at + 9, NULL, 10);
        const bool same = first && hash && strncmp(first, hash, strcspn(first, "\n")) == 0;
        if (p->good && same && compared > 5) continue;
        fprintf(stderr, "player %u: %s, %s, %llu hashes compared\n", i, p->good ? "ended well" : "failed",
                same ? "the same hash" : "another hash", compared);
        good = false;
    }
    return good;
}

static bool parse(int count, char **words)
{
    if (count < 2) return false;
    options.program = words[1];
    for (int i = 2; i < count; i++) {
        const char *name = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(name, "--loopback") == 0) {
            options.loopback = true;
            continue;
        }
        if (value == NULL) return false;
        i++;
        if (strcmp(name, "--players") == 0) options.players = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--ticks") == 0) options.ticks = strtoull(value, NULL, 10);
        else if (strcmp(name, "--creatures") == 0) options.creatures = strtoull(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0) options.seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--other") == 0) options.other = value;
        else return false;
    }
    return options.players >= 2 && options.players <= PLAYERS_MAX;
}

static void host_run(void)
{
    if (!options.loopback && player_run(0, NULL)) {
        printf("network: a namespace for each player, joined by TUN devices\n");
        return;
    }
    if (!options.loopback) (void)waitpid(players[0].process, NULL, 0);
    options.loopback = true;
    for (uint32_t i = 0; i < options.players; i++) {
        players[i].device = port_open(&players[i].port);
        (void)close(port_open(&players[i].own_port)); /* the player opens it again */
    }
    (void)player_run(0, NULL);
    printf("network: sockets of this machine, since it permits no namespaces or none were wanted\n");
}

int main(int count, char **words)
{
    char invitation[400];
    if (!parse(count, words)) return fprintf(stderr, "wrong arguments; see the head of network.c\n"), 2;
    host_run();
    invitation_get(invitation, sizeof invitation);
    for (uint32_t i = 1; i < options.players; i++)
        if (!player_run(i, invitation)) die("no network for player %u", i);
    for (uint32_t left = options.players; left > 0;) {
        relay_turn();
        left = 0;
        for (uint32_t i = 0; i < options.players; i++) left += !players[i].ended;
    }
    for (uint32_t i = 0; i < options.players; i++) {
        const char *rest = i ? players[i].said : strchr(players[i].said, '\n') + 1;
        printf("player %u, %llu packets\n%s", i, (unsigned long long)players[i].sent, rest);
    }
    printf("relay: %llu packets, %llu of them refused, %llu lost, %llu twice, %llu overtook others; at most %.1f ms "
           "late\n",
           (unsigned long long)passed, (unsigned long long)refused, (unsigned long long)lost, (unsigned long long)twice,
           (unsigned long long)overtook, (double)longest_late / 1e6);
    while (waiting_count) free(waiting[--waiting_count]);
    return options.other ? !judge_difference() : !judge();
}
