/* The server of views: its clients, and what each of them is sent after an update: the records that wait longest, as
 * many as his bandwidth allows; what gives way; what is taken for lost. */
#include "net.h"
#include "view_server.h"
#include <stdio.h>

enum { ROOM = REEF_NET_DATAGRAM_MAX, BEAT = 8, EASY = 32 };

/* ---- making ---- */

static reef_net_views *refused(char *reason, const char *text)
{
    if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s", text);
    return NULL;
}

static const char *place_find(reef_net_views *v)
{
    static const char *const axes[] = {"x", "y", "z"};
    reef_type_info info;
    if (v->config.place.id == 0) return NULL;
    if (!reef_type_get(v->config.place, &info)) return "the type of places isn't known";
    for (uint32_t a = 0; a < 3; a++)
        for (uint32_t i = 0; i < info.field_count; i++) {
            const reef_field *f = &info.fields[i];
            if (strcmp(f->name, axes[a]) != 0 || f->kind != REEF_F32 || f->bytes != 4 || v->place_axes != a) continue;
            v->place_at[v->place_axes++] = f->offset;
        }
    if (v->place_axes < 2 || info.home == REEF_SPLIT) return "a place has fields x and y of kind f32";
    return NULL;
}

reef_net_views *reef_net_views_new(const reef_net_view_config *config, char *reason)
{
    if (config == NULL || config->world == NULL) return refused(reason, "views need a world");
    if (config->transport.send == NULL || config->transport.receive == NULL)
        return refused(reason, "views need a transport");
    if (config->age_max > 1000 || config->again > 1000 || config->cell < 0)
        return refused(reason, "age_max and again are at most 1000 ticks, and cell isn't negative");
    const reef_allocator a = net__allocator(&config->allocator);
    reef_net_views *v = view__alloc(&a, sizeof *v);
    if (v == NULL) return refused(reason, "no memory");
    v->config = *config;
    v->allocator = a;
    if (v->config.age_max == 0) v->config.age_max = 30;
    if (v->config.again == 0) v->config.again = 30;
    if (v->config.cell == 0) v->config.cell = 16;
    const char *wrong = view__types_make(&v->types, config, &a);
    if (wrong == NULL) wrong = place_find(v);
    v->bucket_count = 1 << 14;
    v->buckets = view__alloc(&a, v->bucket_count * sizeof *v->buckets);
    if (wrong == NULL && v->buckets == NULL) wrong = "no memory";
    if (wrong) {
        (void)refused(reason, wrong); /* the views have the text */
        reef_net_views_free(v);
        return NULL;
    }
    for (uint32_t b = 0; b < v->bucket_count; b++) v->buckets[b].head = VIEW_NONE;
    return v;
}

static void query_drop(reef_net_views *v, int q)
{
    if (q < 0 || --v->queries[q].users) return;
    (void)reef_query_free(v->config.world, v->queries[q].query);
    view__free(&v->allocator, v->queries[q].text, v->queries[q].bytes);
    v->queries[q].text = NULL;
}

void reef_net_views_free(reef_net_views *v)
{
    if (v == NULL) return;
    const reef_allocator a = v->allocator;
    for (int c = 0; c < REEF_NET_VIEW_CLIENTS_MAX; c++)
        if (v->used >> c & 1) (void)reef_net_views_remove(v, c);
    reef_world_free(v->before);
    view__free(&a, v->things, v->thing_room * sizeof *v->things);
    view__free(&a, v->pending, v->pending_room * sizeof *v->pending);
    view__free(&a, v->buckets, v->bucket_count * sizeof *v->buckets);
    view__types_free(&v->types, &a);
    view__free(&a, v, sizeof *v);
}

/* ---- clients ---- */

/* The query of this text, which clients share; -1: none, -2: it can't be made. */
static int query_take(reef_net_views *v, const char *text)
{
    int free_at = -2;
    if (text == NULL) return -1;
    for (int q = 0; q < REEF_NET_VIEW_QUERIES_MAX; q++) {
        if (v->queries[q].users == 0) free_at = q;
        else if (strcmp(v->queries[q].text, text) == 0) {
            v->queries[q].users++;
            return q;
        }
    }
    const reef_query query = free_at >= 0
                                 ? reef_query_make(v->config.world, &(reef_query_desc){.text = text, .own = true})
                                 : (reef_query){0};
    if (reef_query_is_null(query)) return -2;
    const size_t bytes = strlen(text) + 1;
    char *copy = view__alloc(&v->allocator, bytes);
    if (copy == NULL) {
        (void)reef_query_free(v->config.world, query);
        return -2;
    }
    memcpy(copy, text, bytes);
    v->queries[free_at].text = copy;
    v->queries[free_at].bytes = bytes;
    v->queries[free_at].query = query;
    v->queries[free_at].users = 1;
    return free_at;
}

int reef_net_views_add(reef_net_views *v, const reef_net_view_client *desc)
{
    int c = 0;
    if (v == NULL || desc == NULL || desc->address == 0 || !(desc->radius >= 0)) return -1;
    if (desc->radius > 0 && v->place_axes == 0) return -1;
    for (uint32_t i = 0; i < REEF_NET_VIEW_CLIENTS_MAX; i++)
        if (v->used >> i & 1 && v->clients[i].address == desc->address) return -1;
    while (c < REEF_NET_VIEW_CLIENTS_MAX && v->used >> c & 1) c++;
    if (c == REEF_NET_VIEW_CLIENTS_MAX) return -1;
    sent *ring = view__alloc(&v->allocator, VIEW_SENT * sizeof *ring);
    const int q = ring ? query_take(v, desc->query) : -2;
    if (q == -2) {
        view__free(&v->allocator, ring, VIEW_SENT * sizeof *ring);
        return -1;
    }
    v->clients[c] = (client){.used = true,
                             .address = desc->address,
                             .session = ++v->sessions,
                             .bytes = desc->bytes ? desc->bytes : 2400,
                             .query = q,
                             .radius = desc->radius,
                             .scale = 1,
                             .limit = VIEW_NONE,
                             .recentre = true,
                             .free_slot = VIEW_NONE,
                             .first = VIEW_NONE,
                             .last = VIEW_NONE,
                             .heard_tick = v->tick,
                             .waiting = 1,
                             .sent = ring};
    v->used |= UINT64_C(1) << c;
    if (q >= 0 && desc->radius == 0) v->unbounded |= UINT64_C(1) << c;
    return c;
}

static client *client_of(const reef_net_views *v, int c)
{
    if (v == NULL || c < 0 || c >= REEF_NET_VIEW_CLIENTS_MAX || !(v->used >> c & 1)) return NULL;
    return (client *)(uintptr_t)&v->clients[c];
}

reef_status reef_net_views_remove(reef_net_views *v, int c)
{
    client *k = client_of(v, c);
    if (k == NULL) return REEF_BAD_ARGUMENT;
    view__unwatch(v, (uint32_t)c);
    for (uint32_t i = 0; i < k->slot_count; i++)
        if (k->slots[i].used && !k->slots[i].out) v->things[k->slots[i].entity.index].seen_by &= ~(UINT64_C(1) << c);
    query_drop(v, k->query);
    v->used &= ~(UINT64_C(1) << c);
    v->unbounded &= ~(UINT64_C(1) << c);
    view__client_release(v, k);
    return REEF_OK;
}

reef_status reef_net_views_own(reef_net_views *v, int c, reef_entity e, bool own)
{
    client *k = client_of(v, c);
    if (k == NULL) return REEF_BAD_ARGUMENT;
    if (own && !reef_is_alive(v->config.world, e)) return REEF_NOT_ALIVE;
    if (view__owns(k, e) == own) return REEF_OK;
    if (own && k->own_count == REEF_NET_VIEW_OWN_MAX) return REEF_LIMIT;
    if (own) k->own[k->own_count++] = e;
    for (uint32_t i = k->own_count; !own && i-- > 0;)
        if (k->own[i].index == e.index && k->own[i].generation == e.generation) k->own[i] = k->own[--k->own_count];
    k->recentre = true;
    const uint32_t slot = view__slot_of(k, e);
    if (slot == VIEW_NONE) return REEF_OK;
    k->slots[slot].own = own;
    view__mark(v, k, slot, UINT32_MAX, own); /* also what he loses by it */
    return REEF_OK;
}

bool reef_net_views_sees(const reef_net_views *v, int c, reef_entity e)
{
    const client *k = client_of(v, c);
    return k && view__slot_of(k, e) != VIEW_NONE;
}

/* ---- what arrives ---- */

/* What a datagram had is known now, or it was lost and is noted again. */
static void settled(const reef_net_views *v, client *k, sent *d, bool arrived)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const entry *e = &d->of[i];
        seen *s = &k->slots[e->slot];
        if (!s->used || s->turn != e->turn) continue;
        if (arrived && e->out) view__slot_free(k, e->slot);
        else if (arrived && e->full) s->known = true;
        else if (!arrived && (e->out || !s->out)) view__mark(v, k, e->slot, e->types, e->out || s->own);
    }
    if (!arrived) k->stats.again++;
    d->number = 0;
}

static void seen_read(reef_net_views *v, client *k, wire *w)
{
    const uint32_t newest = wire_get32(w);
    const uint64_t before = wire_get64(w);
    if (w->bad || newest > k->number) {
        v->stats.refused++;
        return;
    }
    k->heard_tick = v->tick;
    if (newest > k->newest) k->newest = newest;
    for (uint32_t n = k->waiting; n <= newest; n++) {
        sent *d = &k->sent[n % VIEW_SENT];
        const uint32_t back = newest - n;
        if (d->number != n) continue;
        if (back == 0 || (back <= 64 && before >> (back - 1) & 1)) settled(v, k, d, true);
    }
}

static void receive(reef_net_views *v)
{
    enum { MOST = 4096 };
    unsigned char bytes[REEF_NET_DATAGRAM_MAX];
    uint64_t from;
    size_t count;
    for (uint32_t i = 0; i < MOST; i++) {
        if (!v->config.transport.receive(v->config.transport.context, &from, bytes, &count)) return;
        wire w = {bytes, 0, count <= sizeof bytes ? count : 0, false};
        const bool right = wire_get8(&w) == VIEW_SEEN && wire_get32(&w) == v->types.digest;
        const uint32_t session = wire_get32(&w);
        client *k = NULL;
        for (uint64_t left = v->used; left && right && !w.bad; left &= left - 1) {
            client *one = &v->clients[view__lowest(left)];
            if (one->address == from && one->session == session) k = one;
        }
        if (k) seen_read(v, k, &w);
        else v->stats.refused++;
    }
}

/* ---- sending ---- */

typedef struct numbering {
    const client *k;
    uint32_t hash;
} numbering;

static uint32_t number(void *context, reef_entity e)
{
    numbering *n = context;
    const uint32_t slot = view__slot_of(n->k, e), is = slot == VIEW_NONE ? 0 : slot + 1;
    n->hash = (n->hash ^ is ^ (is ? n->k->slots[slot].turn << 16 : 0)) * UINT32_C(16777619) + 1;
    return is;
}

/* The types of the record that the client may have, and has. */
static uint32_t types_of(const reef_net_views *v, const seen *s)
{
    uint32_t set = 0;
    for (uint32_t t = 0; t < v->types.count; t++) {
        if (v->types.own >> t & 1 && !s->own) continue;
        if (reef_is_enabled_id(v->config.world, s->entity, v->types.of[t].id)) set |= 1u << t;
    }
    return set;
}

/* Writes a record; false: it doesn't fit. */
static bool record_put(const reef_net_views *v, client *k, uint32_t slot, wire *w, entry *e)
{
    seen *s = &k->slots[slot];
    const uint32_t all = v->types.count == 32 ? UINT32_MAX : (1u << v->types.count) - 1;
    wire one = *w;
    *e = (entry){.slot = slot, .turn = s->turn, .out = s->out};
    view__varint_put(&one, slot);
    if (s->out) wire_u8(&one, VIEW_OUT | (s->destroyed ? VIEW_DESTROYED : 0u));
    else {
        const uint32_t has = types_of(v, s), news = s->known ? s->dirty & all : all;
        const uint32_t dirty = news & v->types.entities ? news | (has & v->types.entities) : news;
        const uint32_t removed = s->known ? dirty & ~has : 0;
        numbering n = {k, 0};
        e->types = dirty; /* with all that has fields of kind entity, or nothing of it */
        e->full = !s->known;
        wire_u8(&one, (e->full ? VIEW_FULL : 0u) | (s->own ? VIEW_OWN : 0u) | (removed ? VIEW_REMOVED : 0u));
        view__varint_put(&one, has & dirty);
        if (removed) view__varint_put(&one, removed);
        for (uint32_t t = 0; t < v->types.count; t++) {
            if (!((has & dirty) >> t & 1) || v->types.of[t].size == 0) continue;
            const void *value = reef_get_id(v->config.world, s->entity, v->types.of[t].id);
            if (value) view__value_put(&one, &v->types, t, value, number, &n);
        }
        if (!one.bad && (dirty & v->types.entities)) s->targets = n.hash;
    }
    if (one.bad) return false;
    *w = one;
    s->ever = true;
    s->dirty = 0;
    view__unqueue(k, slot);
    return true;
}

static void datagram_send(reef_net_views *v, client *k, sent *d, const wire *w)
{
    v->config.transport.send(v->config.transport.context, k->address, w->bytes, w->at);
    k->stats.sent++;
    k->stats.bytes += w->at;
    d->tick = v->tick;
    d->number = k->number;
    k->empty_at = v->tick;
}

static uint32_t oldest(const reef_net_views *v, const client *k)
{
    uint32_t most = 0;
    for (uint32_t s = k->first; s != VIEW_NONE; s = k->slots[s].next) {
        const uint32_t age = v->tick - k->slots[s].since;
        if (age > most) most = age;
        if (!k->slots[s].own && !k->slots[s].out) break; /* those behind it are younger */
    }
    return most;
}

/* Sends datagrams until the bandwidth of this update is used, or nothing waits. */
static void client_send(reef_net_views *v, client *k)
{
    unsigned char room[ROOM];
    const int64_t most = 2 * (int64_t)k->bytes > ROOM ? 2 * (int64_t)k->bytes : ROOM;
    k->credit = k->credit + k->bytes < most ? k->credit + k->bytes : most;
    while (k->credit > 0 && (k->first != VIEW_NONE || v->tick - k->empty_at >= BEAT)) {
        sent *d = &k->sent[(k->number + 1) % VIEW_SENT];
        if (d->number) settled(v, k, d, false); /* the client acknowledges nothing */
        wire w = {room, 0, ROOM, false};
        wire_u8(&w, VIEW_SHOW);
        wire_u32(&w, v->types.digest);
        wire_u32(&w, k->session);
        wire_u32(&w, ++k->number);
        wire_u32(&w, v->tick);
        const size_t age_at = w.at;
        wire_u16(&w, 0);
        d->count = 0;
        while (k->first != VIEW_NONE && d->count < VIEW_ENTRIES) {
            const uint32_t age = v->tick - k->slots[k->first].since;
            if (age > k->stats.oldest) k->stats.oldest = age;
            if (!record_put(v, k, k->first, &w, &d->of[d->count])) break;
            d->count++;
        }
        const uint32_t waits = oldest(v, k);
        room[age_at] = (unsigned char)waits;
        room[age_at + 1] = (unsigned char)(waits >> 8);
        k->credit -= (int64_t)w.at; /* may be more than there was; then it waits for longer */
        datagram_send(v, k, d, &w);
    }
}

/* What would wait for longer than age_max goes out of sight, and the rest fits better. */
static void give_way(reef_net_views *v, uint32_t c)
{
    client *k = &v->clients[c];
    bool gave = false;
    for (uint32_t s = k->first; s != VIEW_NONE;) {
        const seen *r = &k->slots[s];
        const uint32_t next = r->next;
        if (!r->own && !r->out) {
            if (v->tick - r->since + 1 < v->config.age_max) break;
            view__hide(v, c, r->entity, false);
            k->stats.gave_way++;
            gave = true;
        }
        s = next;
    }
    if (gave) {
        k->easy_since = v->tick;
        k->limit = k->visible;
        if (k->scale > 0.0625f) k->scale -= 0.0625f;
        k->recentre |= k->radius > 0;
    } else if (k->first != VIEW_NONE) k->easy_since = v->tick;
    else if ((k->scale < 1 || k->limit != VIEW_NONE) && v->tick - k->easy_since >= EASY) {
        k->easy_since = v->tick;
        if (k->scale < 1) k->scale += 0.0625f;
        k->limit = k->scale < 1 || k->radius == 0 ? k->visible + k->visible / 16 + 4 : VIEW_NONE;
        k->recentre = true;
    }
}

/* ---- an update ---- */

/* Fields whose targets have come into sight or gone are sent again. */
static void targets_check(const reef_net_views *v, client *k)
{
    unsigned char room[VIEW_VALUES_MAX];
    for (uint32_t slot = 0; v->types.entities && k->moved && slot < k->slot_count; slot++) {
        const seen *s = &k->slots[slot];
        if (!s->used || s->out || !s->ever) continue;
        const uint32_t has = types_of(v, s);
        numbering n = {k, 0};
        for (uint32_t t = 0; t < v->types.count; t++) {
            wire w = {room, 0, sizeof room, false};
            if (!(has >> t & 1) || v->types.of[t].size == 0) continue;
            const void *value = reef_get_id(v->config.world, s->entity, v->types.of[t].id);
            if (value && v->types.entities >> t & 1) view__value_put(&w, &v->types, t, value, number, &n);
        }
        if (n.hash != s->targets) view__mark(v, k, slot, v->types.entities, s->own);
    }
    k->moved = false;
}

static void lost(const reef_net_views *v, client *k)
{
    enum { LATER = 8 }; /* so many later ones have arrived */
    while (k->waiting <= k->number && k->sent[k->waiting % VIEW_SENT].number != k->waiting) k->waiting++;
    for (uint32_t n = k->waiting; n <= k->number; n++) {
        sent *d = &k->sent[n % VIEW_SENT];
        if (d->number != n) continue;
        if (v->tick - d->tick >= v->config.again || (n + LATER <= k->newest && v->tick - d->tick >= 2))
            settled(v, k, d, false);
    }
}

reef_status reef_net_views_update(reef_net_views *v)
{
    if (v == NULL) return REEF_BAD_ARGUMENT;
    receive(v);
    const reef_status s = view__changes(v);
    if (s != REEF_OK) return s;
    v->stats.ticks++;
    for (uint64_t left = v->used; left; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        client *k = &v->clients[c];
        lost(v, k);
        targets_check(v, k);
        client_send(v, k);
        give_way(v, c);
    }
    return REEF_OK;
}

reef_net_views_stats reef_net_views_statistics(const reef_net_views *v, int c)
{
    reef_net_views_stats s = {0};
    const client *k = client_of(v, c);
    if (v == NULL || (c >= 0 && k == NULL)) return s;
    s = v->stats;
    for (int i = 0; i < REEF_NET_VIEW_CLIENTS_MAX; i++) {
        const client *one = client_of(v, i);
        if (one == NULL || (k && one != k)) continue;
        s.sent += one->stats.sent;
        s.bytes += one->stats.bytes;
        s.again += one->stats.again;
        s.gave_way += one->stats.gave_way;
        s.visible += one->visible;
        if (one->stats.oldest > s.oldest) s.oldest = one->stats.oldest;
    }
    if (k) {
        s.silent = v->tick - k->heard_tick;
        s.radius = view__radius(k);
    }
    return s;
}
