/* Events of ticks: noted while a tick is played, told to the program after all corrections of an update.
 *
 * A slot contains the events of a tick as it was last played, and those that the program was told of. Where they
 * differ, the program hears of what began and what is undone. When a tick is confirmed, its events are told as final.
 * All room is made before anything is told, so nothing is told twice when memory runs out. */
#include "net.h"

static net_slot *slot_of(reef_net *net, uint64_t tick) { return &net->slots[tick % NET_SLOTS]; }

void net__events_begin(reef_net *net, uint64_t tick)
{
    net_slot *s = slot_of(net, tick);
    if (s->tick != tick) {
        s->tick = tick;
        s->told_count = 0;
    }
    s->count = 0;
    s->dirty = true;
}

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

reef_status reef_net_happen(const reef_net_tick *tick, uint32_t kind, uint64_t key, const void *data, size_t bytes)
{
    if (tick == NULL || (bytes && data == NULL)) return REEF_BAD_ARGUMENT;
    if (bytes > REEF_NET_EVENT_BYTES_MAX) return REEF_LIMIT;
    if (tick->net == NULL) return REEF_OK;
    net_slot *s = slot_of(tick->net, tick->tick);
    uint64_t same = 0;
    if (s->count == REEF_NET_EVENTS_MAX) return REEF_LIMIT;
    for (uint32_t i = 0; i < s->count; i++) same += s->of[i].kind == kind && s->of[i].key == key;
    net_event *e = &s->of[s->count++];
    *e = (net_event){.kind = kind, .bytes = (uint32_t)bytes, .key = key};
    e->id = mix(mix(mix(mix(0, tick->tick + 1), kind), key), same);
    if (bytes) memcpy(e->data, data, bytes);
    return REEF_OK;
}

static bool same_event(const net_event *a, const net_event *b)
{
    return a->id == b->id && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static bool contains(const net_event *list, uint32_t count, const net_event *e)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_event(&list[i], e)) return true;
    return false;
}

/* Makes room for `more` notices. */
static bool room(reef_net *net, uint32_t more)
{
    const uint32_t need = net->notice_count + more;
    uint32_t size = net->notice_room ? net->notice_room : 64;
    if (need <= net->notice_room) return true;
    while (size < need) size *= 2;
    reef_net_notice *n = net__alloc(net, size * sizeof *n);
    if (n == NULL) return false;
    for (uint32_t i = 0; i < net->notice_count; i++) n[i] = net->notices[(net->notice_first + i) % net->notice_room];
    net__release(net, net->notices, net->notice_room * sizeof *n);
    net->notices = n;
    net->notice_room = size;
    net->notice_first = 0;
    return true;
}

static void tell(reef_net *net, reef_net_notice_kind notice, uint64_t tick, const net_event *e)
{
    reef_net_notice *n = &net->notices[(net->notice_first + net->notice_count++) % net->notice_room];
    *n = (reef_net_notice){
        .notice = notice, .kind = e->kind, .key = e->key, .tick = tick, .id = e->id, .bytes = e->bytes};
    memcpy(n->data, e->data, sizeof n->data);
}

/* Tells what of this tick began and what is undone. */
static bool slot_tell(reef_net *net, net_slot *s)
{
    if (!s->dirty) return true;
    if (!room(net, s->count + s->told_count)) return false;
    for (uint32_t i = 0; i < s->told_count; i++)
        if (!contains(s->of, s->count, &s->told[i])) tell(net, REEF_NET_UNDONE, s->tick, &s->told[i]);
    for (uint32_t i = 0; i < s->count; i++)
        if (!contains(s->told, s->told_count, &s->of[i])) tell(net, REEF_NET_BEGUN, s->tick, &s->of[i]);
    memcpy(s->told, s->of, s->count * sizeof *s->of);
    s->told_count = s->count;
    s->dirty = false;
    return true;
}

reef_status net__events_tell(reef_net *net)
{
    for (uint64_t t = net->final; t < net->tick; t++)
        if (!slot_tell(net, slot_of(net, t))) return REEF_NO_MEMORY;
    for (; net->final < net->checked; net->final++) {
        const net_slot *s = slot_of(net, net->final);
        if (!room(net, s->count)) return REEF_NO_MEMORY;
        for (uint32_t i = 0; i < s->count; i++) tell(net, REEF_NET_FINAL, s->tick, &s->of[i]);
    }
    return REEF_OK;
}

bool reef_net_notice_next(reef_net *net, reef_net_notice *notice)
{
    if (net == NULL || notice == NULL || net->notice_count == 0) return false;
    *notice = net->notices[net->notice_first];
    net->notice_first = (net->notice_first + 1) % net->notice_room;
    net->notice_count--;
    return true;
}
