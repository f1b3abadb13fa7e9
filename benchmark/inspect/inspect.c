/* What the inspector costs a tick: the living reef with 150,000 fish, played with and without it.
 *
 *     reef-bench-inspect idle|open [TICKS]
 *
 * idle: nobody looks. open: a client has the page's overview open: the stream of events, and the figures once a second.
 * Ticks with and without reef_inspector_update take turns (A B B A), so that both see the same sea. Prints the median
 * time of a tick without and with it, in nanoseconds of the thread that ticks. */
#include "ecosystem.h"
#include "reef_inspector.h"
#include "reef/schedule.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FISH = 150000, METRES = 512, WARM = 6, TICKS = 40, TICKS_MAX = 10000 };

static const char token[] = "benchmarkbenchmark";
static atomic_bool ending;
static uint16_t port;

/* ---- the client ---- */

static int request(const char *path)
{
    char text[200];
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n\r\n", path,
                 (unsigned)port, token);
    if (s >= 0 && connect(s, (const struct sockaddr *)&a, sizeof a) == 0 && send(s, text, (size_t)n, MSG_NOSIGNAL) == n)
        return s;
    if (s >= 0) (void)close(s);
    return -1;
}

static void *look(void *unused)
{
    char bytes[65536];
    const int stream = request("/api/stream");
    (void)unused;
    for (unsigned round = 0; !atomic_load(&ending); round++) {
        const struct timespec rest = {0, 100000000};
        if (recv(stream, bytes, sizeof bytes, MSG_DONTWAIT) == 0) break;
        if (round % 10 == 0) {
            const int s = request("/api/overview");
            while (s >= 0 && recv(s, bytes, sizeof bytes, 0) > 0) continue;
            if (s >= 0) (void)close(s);
        }
        (void)nanosleep(&rest, NULL);
    }
    (void)close(stream);
    return NULL;
}

/* ---- measuring ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, compare);
    return times[n / 2];
}

int main(int count, char **words)
{
    static species_table table;
    static uint64_t times[2][TICKS_MAX];
    int ticks = count > 2 ? atoi(words[2]) : TICKS, n[2] = {0, 0};
    const bool open = count > 1 && strcmp(words[1], "open") == 0;
    char message[1400];
    ecosystem e;
    pthread_t client;
    if (count < 2 || ticks < 1 || ticks > TICKS_MAX || (!open && strcmp(words[1], "idle") != 0)) return 2;
    if (!species_load(&table, LIVING_REEF_SPECIES, message, sizeof message)) return fprintf(stderr, "%s\n", message), 1;
    species_scale(&table, FISH);
    if (!ecosystem_new(&e, &table, METRES, 1, NULL)) return fprintf(stderr, "%s\n", e.error), 1;
    reef_inspector *i = reef_inspect(e.world, &(reef_inspector_config){.token = token, .writes = true, .waits = true});
    if (i == NULL) return fprintf(stderr, "the inspector doesn't start\n"), 1;
    port = reef_inspector_port(i);
    if (open && pthread_create(&client, NULL, look, NULL) != 0) return 1;
    for (int k = 0; k < 2 * ticks + WARM; k++) {
        const bool with = k < WARM || ((k - WARM) % 4 == 1 || (k - WARM) % 4 == 2);
        if (open) reef_measure_systems(e.world, with); /* as it is while the page is open, and while it isn't */
        const uint64_t began = now_ns();
        if (!ecosystem_tick(&e)) return fprintf(stderr, "%s\n", e.error), 1;
        if (with) reef_inspector_update(i);
        const uint64_t took = now_ns() - began;
        if (k >= WARM) times[with][n[with]++] = took;
    }
    atomic_store(&ending, true);
    if (open) (void)pthread_join(client, NULL);
    const bool was_open = reef_inspector_is_open(i);
    reef_inspector_free(i);
    ecosystem_free(&e);
    if (was_open != open) return fprintf(stderr, "the client wasn't heard\n"), 1;
    printf("without_ns %llu with_ns %llu\n", (unsigned long long)median(times[0], n[0]),
           (unsigned long long)median(times[1], n[1]));
}
