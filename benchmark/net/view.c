/* reef-bench-view: what 64 clients of a server with 100,000 entities take in a tick, of which 5,000 move and 1,000 lose
 * health. Each sees what is within 90 units of his avatar, about 160 entities, and acknowledges at once. Prints the
 * median of a client's share of a tick, in processor time of one thread; beside it a server without reef that looks,
 * for each client, at each entity, and at each value of those that he sees; and the bytes that a client gets in a tick:
 *
 *     view_ns N all_ns N bytes N plain_bytes N seen N */
#include "timing.h"
#include <reef.h>
#include <reef/all.h>
#include <reef_net_view.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 100000, CLIENTS = 64, MOVE = 5000, HURT = 1000, TICKS = 300, WARM = 60, SIDE = 4000, RADIUS = 90 };

typedef struct Place {
    float x, y;
} Place;
typedef struct Health {
    int32_t points;
} Health;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);
REEF_COMPONENT(Health);
REEF_FIELDS(Health, points);

static uint64_t seed = 1;
static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 32) * below >> 32);
}
static float coordinate(void) { return (float)draw(SIDE * 16) / 16; }

/* ---- a line on which each client acknowledges what he was sent ---- */

static struct {
    unsigned char answer[CLIENTS][21];
    bool there[CLIENTS];
    uint32_t next;
    uint64_t bytes;
} line;

static void line_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    unsigned char *a = line.answer[to - 1];
    (void)context;
    memcpy(a, bytes, 13); /* message, digest, session, number */
    a[0] = 33;
    memset(a + 13, 0xff, 8);
    line.there[to - 1] = true;
    line.bytes += count;
}

static bool line_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    (void)context;
    for (; line.next < CLIENTS; line.next++) {
        if (!line.there[line.next]) continue;
        memcpy(bytes, line.answer[line.next], sizeof line.answer[0]);
        line.there[line.next] = false;
        *count = sizeof line.answer[0];
        *from = ++line.next;
        return true;
    }
    line.next = 0;
    return false;
}

/* ---- with reef ---- */

static reef_entity entities[ENTITIES];

static void world_change(reef_world *w)
{
    for (uint32_t i = 0; i < MOVE; i++) {
        Place *p = reef_mut(w, entities[draw(ENTITIES)], Place);
        p->x += (float)draw(32) / 16 - 1;
        p->y += (float)draw(32) / 16 - 1;
    }
    for (uint32_t i = 0; i < HURT; i++) reef_mut(w, entities[draw(ENTITIES)], Health)->points--;
    for (uint32_t c = 0; c < CLIENTS; c++) reef_mut(w, entities[c], Place)->x += 0.5f;
}

static uint64_t with_reef(double *bytes, double *seen)
{
    static uint64_t took[TICKS];
    const reef_net_view_type types[] = {{reef_id(Place), false}, {reef_id(Health), false}};
    reef_world *w = reef_world_new(NULL);
    for (uint32_t i = 0; i < ENTITIES; i++)
        entities[i] = reef_spawn(w, reef_with(Place, coordinate(), coordinate()), reef_with(Health, 100));
    const reef_net_view_config c = {.world = w,
                                    .transport = {line_send, line_receive, NULL},
                                    .types = types,
                                    .type_count = 2,
                                    .place = reef_id(Place),
                                    .cell = RADIUS / 4.0f};
    reef_net_views *v = reef_net_views_new(&c, NULL);
    if (v == NULL) exit(1);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const int n = reef_net_views_add(v, &(reef_net_view_client){.address = i + 1, .radius = RADIUS});
        if (reef_net_views_own(v, n, entities[i], true) != REEF_OK) exit(1);
    }
    for (uint32_t t = 0; t < WARM + TICKS; t++) {
        if (t == WARM) line.bytes = 0;
        world_change(w);
        const uint64_t began = processor_ns();
        if (reef_net_views_update(v) != REEF_OK) exit(1);
        if (t >= WARM) took[t - WARM] = processor_ns() - began;
    }
    *bytes = (double)line.bytes / TICKS / CLIENTS;
    *seen = (double)reef_net_views_statistics(v, -1).visible / CLIENTS;
    if (reef_net_views_statistics(v, -1).gave_way) exit(1);
    reef_net_views_free(v);
    reef_world_free(w);
    return median_of(took, TICKS) / CLIENTS;
}

/* ---- without ---- */

static Place place[ENTITIES], place_sent[CLIENTS][ENTITIES];
static int32_t health[ENTITIES], health_sent[CLIENTS][ENTITIES];
static bool shown[CLIENTS][ENTITIES];

/* What one client gets: records of number, types and values; returns its bytes. */
static size_t client_write(uint32_t c, unsigned char *to)
{
    const unsigned char *const first = to;
    const Place at = place[c];
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const float x = place[i].x - at.x, y = place[i].y - at.y;
        const bool sees = x * x + y * y <= (float)RADIUS * RADIUS;
        if (!sees && !shown[c][i]) continue;
        const bool moved = sees && (!shown[c][i] || memcmp(&place_sent[c][i], &place[i], sizeof place[i]) != 0);
        const bool hurt = sees && (!shown[c][i] || health_sent[c][i] != health[i]);
        if (!moved && !hurt && sees) continue;
        memcpy(to, &i, 3);
        to[3] = (unsigned char)(moved | hurt << 1 | !sees << 2);
        to += 4;
        if (moved) memcpy(to, &place[i], 8);
        to += moved ? 8 : 0;
        if (hurt) memcpy(to, &health[i], 4);
        to += hurt ? 4 : 0;
        place_sent[c][i] = place[i];
        health_sent[c][i] = health[i];
        shown[c][i] = sees;
    }
    return (size_t)(to - first);
}

static uint64_t without(double *bytes)
{
    static uint64_t took[TICKS];
    static unsigned char out[ENTITIES * 16];
    size_t sum = 0;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        place[i] = (Place){coordinate(), coordinate()};
        health[i] = 100;
    }
    for (uint32_t t = 0; t < 20 + TICKS / 10; t++) {
        for (uint32_t i = 0; i < MOVE; i++) {
            Place *p = &place[draw(ENTITIES)];
            p->x += (float)draw(32) / 16 - 1;
            p->y += (float)draw(32) / 16 - 1;
        }
        for (uint32_t i = 0; i < HURT; i++) health[draw(ENTITIES)]--;
        for (uint32_t c = 0; c < CLIENTS; c++) place[c].x += 0.5f;
        const uint64_t began = processor_ns();
        for (uint32_t c = 0; c < CLIENTS; c++) sum += t >= 20 ? client_write(c, out) : 0 * client_write(c, out);
        if (t >= 20) took[t - 20] = processor_ns() - began;
    }
    *bytes = (double)sum / (TICKS / 10.0) / CLIENTS;
    return median_of(took, TICKS / 10) / CLIENTS;
}

int main(void)
{
    double bytes, seen, plain_bytes;
    const uint64_t view = with_reef(&bytes, &seen), all = without(&plain_bytes);
    printf("view_ns %llu all_ns %llu bytes %.1f plain_bytes %.1f seen %.1f\n", (unsigned long long)view,
           (unsigned long long)all, bytes, plain_bytes, seen);
    return 0;
}
