/* Fuzzes what both sides of a view read. A server shows some entities to a client over a perfect line. Then both get
 * datagrams that the fuzzer makes: a byte says to whom, and whether the head with digest and session is the right one,
 * two bytes the length. Nothing may crash, the client's world must be valid, and the server must go on. */
#include "must.h"
#include "reef/all.h"
#include "reef_net_sim.h"
#include "reef_net_view.h"
#include <reef.h>
#include <string.h>

typedef struct Point {
    float x, y;
} Point;
typedef struct Aim {
    reef_entity at;
    uint8_t power;
} Aim;
REEF_COMPONENT(Point);
REEF_FIELDS(Point, x, y);
REEF_COMPONENT(Aim);
REEF_FIELDS(Aim, at, power);
REEF_TAG(Lit);

enum { HEAD = 13, SHOW = 32 }; /* HEAD: message, digest, session, number */

/* Sees what the server sends, to copy its head. */
typedef struct tap {
    reef_net_transport plain;
    unsigned char head[HEAD];
} tap;

static void tap_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    tap *t = context;
    if (count >= HEAD) memcpy(t->head, bytes, HEAD);
    t->plain.send(t->plain.context, to, bytes, count);
}

static bool tap_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    const tap *t = context;
    return t->plain.receive(t->plain.context, from, bytes, count);
}

/* Large blocks are kept for the next run: the system would map and clear each of them anew, which takes most of a run.
 * Small ones are the C library's, whose ends the sanitizer watches. */
static void *resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    enum { LARGE = 1 << 14, KEPT = 16 };
    static struct {
        void *block;
        size_t bytes;
    } kept[KEPT];
    (void)context, (void)align;
    MUST(block == NULL || new_bytes == 0); /* the add-on makes a new block and copies */
    for (int i = 0; i < KEPT && (new_bytes >= LARGE || old_bytes >= LARGE); i++) {
        if (block && kept[i].block == NULL) {
            kept[i].block = block;
            kept[i].bytes = old_bytes;
            return NULL;
        }
        if (block == NULL && kept[i].block && kept[i].bytes == new_bytes) {
            void *again = kept[i].block;
            kept[i].block = NULL;
            return again;
        }
    }
    if (new_bytes) return malloc(new_bytes);
    free(block);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const reef_net_view_type types[] = {{reef_id(Point), false}, {reef_id(Aim), false}, {reef_id(Lit), true}};
    reef_net_sim *sim = reef_net_sim_new(1, &(reef_net_line){0}, NULL);
    reef_world *w[2] = {reef_world_new(NULL), reef_world_new(NULL)};
    tap t = {.plain = reef_net_sim_transport(sim, 1)};
    reef_net_view_config c = {.world = w[0], .types = types, .type_count = 3, .place = reef_id(Point)};
    c.allocator = (reef_allocator){resize, NULL};
    c.transport = (reef_net_transport){tap_send, tap_receive, &t};
    reef_net_views *views = reef_net_views_new(&c, NULL);
    c.world = w[1];
    c.transport = reef_net_sim_transport(sim, 2);
    reef_net_view *view = reef_net_view_new(&c, 1, NULL);
    MUST(views && view && reef_net_views_add(views, &(reef_net_view_client){.address = 2, .radius = 50}) == 0);
    reef_entity e[4];
    for (int i = 0; i < 4; i++) {
        e[i] = reef_spawn(w[0], reef_with(Point, (float)i, 0), reef_tag(Lit));
        MUST(reef_set(w[0], e[i], Aim, e[i / 2], 3) >= 0);
    }
    MUST(reef_net_views_own(views, 0, e[0], true) == REEF_OK);
    const reef_net_transport to_client = t.plain, to_server = reef_net_sim_transport(sim, 2);
    for (uint32_t n = 1; size >= 3; n++) {
        unsigned char bytes[REEF_NET_DATAGRAM_MAX] = {0};
        const uint8_t kind = data[0];
        size_t count = (size_t)data[1] | (size_t)(data[2] & 7) << 8;
        data += 3;
        size -= 3;
        if (count > size) count = size;
        if (count > sizeof bytes) count = sizeof bytes;
        memcpy(bytes, data, count);
        data += count;
        size -= count;
        if (kind & 1 && count >= HEAD) {
            memcpy(bytes, t.head, HEAD);
            bytes[0] = (unsigned char)(SHOW + (kind >> 1 & 1));
            bytes[9] = (unsigned char)(t.head[9] + n); /* the next number */
        }
        if (kind & 2) to_server.send(to_server.context, 1, bytes, count);
        else to_client.send(to_client.context, 2, bytes, count);
        if (kind & 4) MUST(reef_mut(w[0], e[1], Point) != NULL);
        MUST(reef_net_views_update(views) == REEF_OK);
        MUST(reef_net_view_update(view) == REEF_OK);
    }
    char message[REEF_DETAIL_MAX];
    for (int i = 0; i < 2; i++) MUST(reef_validate(w[i], message, sizeof message) == REEF_OK);
    MUST(reef_count_alive(w[0]) == 4);
    reef_net_views_free(views);
    reef_net_view_free(view);
    for (int i = 0; i < 2; i++) reef_world_free(w[i]);
    reef_net_sim_free(sim);
    return 0;
}
