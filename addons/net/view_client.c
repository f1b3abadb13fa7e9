/* A client of views: reads datagrams, and makes his world's entities what they say. A datagram is read as a whole
 * before anything of it counts. Of each type of each entity the newest datagram's value counts. A field of kind entity
 * whose target hasn't come yet is null until it comes. */
#include "net.h"
#include "view.h"
#include <stdio.h>

/* An entity by its number. `at`: the datagram that it came with, or that took it away. */
typedef struct shown {
    reef_entity entity;
    bool there, own, told; /* told: that it goes, but there was no memory to destroy it */
    uint32_t at, type_at[REEF_NET_VIEW_TYPES_MAX];
} shown;

/* A field that waits for its target. */
typedef struct open_field {
    uint32_t slot, type, offset, target;
} open_field;

struct reef_net_view {
    reef_net_view_config config;
    reef_allocator allocator;
    view_types types;
    uint64_t server;
    uint32_t session, newest;
    uint64_t before; /* bit i: datagram newest - 1 - i was taken */
    bool heard;
    shown *slots;
    uint32_t slot_room;
    open_field *open;
    uint32_t open_room, open_count;
    uint32_t reading_slot, reading_type; /* whose value is read */
    bool full;                           /* there was no memory for an open field */
    reef_net_view_stats stats;
};

typedef struct record {
    uint32_t slot, flags, types, removed;
} record;

static reef_net_view *refused(char *reason, const char *text)
{
    if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s", text);
    return NULL;
}

reef_net_view *reef_net_view_new(const reef_net_view_config *config, uint64_t server, char *reason)
{
    if (config == NULL || config->world == NULL || server == 0)
        return refused(reason, "a view needs a world and a server");
    if (config->transport.send == NULL || config->transport.receive == NULL)
        return refused(reason, "a view needs a transport");
    const reef_allocator a = net__allocator(&config->allocator);
    reef_net_view *v = view__alloc(&a, sizeof *v);
    if (v == NULL) return refused(reason, "no memory");
    v->config = *config;
    v->allocator = a;
    v->server = server;
    const char *wrong = view__types_make(&v->types, config, &a);
    if (wrong == NULL) return v;
    (void)refused(reason, wrong); /* the view has the text */
    reef_net_view_free(v);
    return NULL;
}

void reef_net_view_free(reef_net_view *v)
{
    if (v == NULL) return;
    const reef_allocator a = v->allocator;
    view__free(&a, v->slots, v->slot_room * sizeof *v->slots);
    view__free(&a, v->open, v->open_room * sizeof *v->open);
    view__types_free(&v->types, &a);
    view__free(&a, v, sizeof *v);
}

/* ---- records ---- */

static void record_get(const reef_net_view *v, wire *w, record *r)
{
    const uint32_t all = v->types.count == 32 ? UINT32_MAX : (1u << v->types.count) - 1;
    *r = (record){.slot = view__varint_get(w)};
    r->flags = wire_get8(w);
    if (r->slot >= VIEW_SLOTS_MAX || r->flags > 31) w->bad = true;
    if (r->flags & VIEW_OUT) {
        if (r->flags & ~(uint32_t)(VIEW_OUT | VIEW_DESTROYED)) w->bad = true;
        return;
    }
    r->types = view__varint_get(w);
    if (r->flags & VIEW_REMOVED) r->removed = view__varint_get(w);
    if (r->flags & VIEW_DESTROYED || (r->types | r->removed) & ~all || r->types & r->removed) w->bad = true;
}

/* Reads all records without taking any: does the datagram make sense? */
static bool makes_sense(const reef_net_view *v, wire w)
{
    while (!w.bad && wire_left(&w)) {
        record r;
        record_get(v, &w, &r);
        for (uint32_t t = 0; !w.bad && t < v->types.count; t++)
            if (r.types >> t & 1) (void)wire_take(&w, v->types.of[t].wire);
    }
    return !w.bad;
}

static void open_drop(reef_net_view *v, uint32_t slot, uint32_t type, bool target)
{
    for (uint32_t i = v->open_count; i-- > 0;) {
        const open_field *o = &v->open[i];
        const bool own = o->slot == slot && (type == UINT32_MAX || o->type == type);
        if (own || (target && o->target == slot)) v->open[i] = v->open[--v->open_count];
    }
}

static reef_status went(reef_net_view *v, uint32_t slot, bool destroyed)
{
    shown *s = &v->slots[slot];
    if (!s->there) return REEF_OK;
    if (reef_is_alive(v->config.world, s->entity)) {
        if (v->config.went && !s->told) v->config.went(v->config.context, s->entity, destroyed);
        s->told = true;
        const reef_status status = reef_destroy(v->config.world, s->entity);
        if (status < 0) return status;
    }
    open_drop(v, slot, UINT32_MAX, true);
    s->there = s->told = false;
    v->stats.entities--;
    return REEF_OK;
}

/* The fields that waited for this entity. */
static void open_fill(reef_net_view *v, uint32_t slot)
{
    for (uint32_t i = v->open_count; i-- > 0;) {
        const open_field o = v->open[i];
        if (o.target != slot) continue;
        v->open[i] = v->open[--v->open_count];
        unsigned char *value = v->slots[o.slot].there
                                   ? reef_mut_id(v->config.world, v->slots[o.slot].entity, v->types.of[o.type].id)
                                   : NULL;
        if (value) memcpy(value + o.offset, &v->slots[slot].entity, sizeof v->slots[slot].entity);
    }
}

static reef_entity entity_of(void *context, uint32_t number, uint32_t offset)
{
    reef_net_view *v = context;
    const uint32_t slot = number - 1;
    if (slot >= VIEW_SLOTS_MAX) return (reef_entity){0};
    if (slot < v->slot_room && v->slots[slot].there) return v->slots[slot].entity;
    if (!view__grow(&v->allocator, (void **)&v->open, &v->open_room, v->open_count + 1, sizeof *v->open))
        v->full = true;
    else v->open[v->open_count++] = (open_field){v->reading_slot, v->reading_type, offset, slot};
    return (reef_entity){0};
}

/* Has it this type, not only a subtype of it? */
static bool has_itself(const reef_world *w, reef_entity e, reef_component type)
{
    reef_component found;
    return reef_find_sub_id(w, e, type, &found) == REEF_OK && found.id == type.id;
}

static reef_status values_take(reef_net_view *v, wire *w, const record *r, uint32_t at)
{
    _Alignas(16) unsigned char value[REEF_NET_VIEW_VALUE_MAX];
    shown *s = &v->slots[r->slot];
    reef_world *world = v->config.world;
    reef_status status = REEF_OK;
    for (uint32_t t = 0; t < v->types.count; t++) {
        const view_type *type = &v->types.of[t];
        wire one = *w;
        if (r->types >> t & 1) (void)wire_take(w, type->wire);
        if (!((r->types | r->removed) >> t & 1) || at < s->type_at[t] || status < 0) continue;
        open_drop(v, r->slot, t, false);
        v->reading_slot = r->slot;
        v->reading_type = t;
        if (r->removed >> t & 1)
            status = has_itself(world, s->entity, type->id) ? reef_remove_id(world, s->entity, type->id) : REEF_OK;
        else if (type->size == 0)
            status =
                has_itself(world, s->entity, type->id) ? REEF_OK : reef_add_id(world, s->entity, type->id, NULL, 0);
        else {
            view__value_get(&one, &v->types, t, value, entity_of, v);
            status = reef_set_id(world, s->entity, type->id, value, type->size);
        }
        if (status >= 0) s->type_at[t] = at;
    }
    return v->full && status >= 0 ? REEF_NO_MEMORY : status;
}

/* Takes a record; `w` stands behind its head, and behind its values afterwards. */
static reef_status record_take(reef_net_view *v, wire *w, const record *r, uint32_t at)
{
    if (!view__grow(&v->allocator, (void **)&v->slots, &v->slot_room, r->slot + 1, sizeof *v->slots))
        return REEF_NO_MEMORY;
    shown *s = &v->slots[r->slot];
    if (r->flags & VIEW_OUT) {
        if (at <= s->at) return REEF_OK;
        const reef_status status = went(v, r->slot, (r->flags & VIEW_DESTROYED) != 0);
        if (status >= 0) s->at = at;
        return status;
    }
    record all = *r;
    if (r->flags & VIEW_FULL) /* what isn't in it isn't there */
        all.removed = (v->types.count == 32 ? UINT32_MAX : (1u << v->types.count) - 1) & ~r->types;
    const bool comes = !s->there && r->flags & VIEW_FULL && at > s->at;
    if (comes) {
        s->entity = reef_create_entity(v->config.world);
        if (reef_entity_is_null(s->entity)) return REEF_NO_MEMORY;
        for (uint32_t t = 0; t < v->types.count; t++) s->type_at[t] = at;
        s->there = true;
        v->stats.entities++;
    }
    if (!s->there || !reef_is_alive(v->config.world, s->entity)) { /* of before, or the program has destroyed it */
        for (uint32_t t = 0; t < v->types.count; t++)
            if (r->types >> t & 1) (void)wire_take(w, v->types.of[t].wire);
        return REEF_OK;
    }
    const reef_status status = values_take(v, w, &all, at);
    if (status < 0) {
        if (comes) { /* it comes again as a whole */
            s->told = true;
            (void)went(v, r->slot, false);
        }
        return status;
    }
    const bool own = (r->flags & VIEW_OWN) != 0, other = comes || own != s->own;
    s->own = own;
    if (comes) {
        s->at = at;
        open_fill(v, r->slot);
    }
    if (other && v->config.came) v->config.came(v->config.context, s->entity, s->own);
    return REEF_OK;
}

/* ---- datagrams ---- */

static reef_status begin_again(reef_net_view *v, uint32_t session)
{
    for (uint32_t i = 0; i < v->slot_room; i++) {
        const reef_status s = went(v, i, false);
        if (s < 0) return s;
    }
    if (v->slot_room) memset(v->slots, 0, v->slot_room * sizeof *v->slots);
    v->open_count = 0;
    v->session = session;
    v->newest = 0;
    v->before = 0;
    return REEF_OK;
}

/* Was it taken before, or is it too old to tell? */
static bool taken(const reef_net_view *v, uint32_t at)
{
    if (at > v->newest) return false;
    const uint32_t back = v->newest - at;
    return back == 0 || back > 64 || v->before >> (back - 1) & 1;
}

static void taken_note(reef_net_view *v, uint32_t at)
{
    if (at < v->newest) {
        v->before |= UINT64_C(1) << (v->newest - at - 1);
        return;
    }
    const uint32_t on = at - v->newest;
    v->before = on > 64 ? 0 : (on == 64 ? 0 : v->before << on) | UINT64_C(1) << (on - 1);
    v->newest = at;
}

static reef_status datagram(reef_net_view *v, wire *w)
{
    const bool shows = wire_get8(w) == VIEW_SHOW, same = wire_get32(w) == v->types.digest;
    const uint32_t session = wire_get32(w), at = wire_get32(w), tick = wire_get32(w), age = wire_get16(w);
    if (w->bad || !shows || !same || at == 0 || session == 0 || !makes_sense(v, *w)) {
        v->stats.refused++;
        v->stats.other_types += !w->bad && shows && !same;
        return REEF_OK;
    }
    if (session < v->session) return REEF_OK; /* of an earlier time */
    const reef_status begun = session > v->session ? begin_again(v, session) : REEF_OK;
    if (begun < 0) return begun;
    v->heard = true;
    if (taken(v, at)) return REEF_OK;
    v->full = false;
    while (wire_left(w)) {
        record r;
        record_get(v, w, &r);
        const reef_status s = record_take(v, w, &r, at);
        if (s < 0) return s;
    }
    if (at > v->newest) {
        v->stats.tick = tick;
        v->stats.age = age;
    }
    taken_note(v, at);
    return REEF_OK;
}

reef_status reef_net_view_update(reef_net_view *v)
{
    enum { MOST = 512 };
    unsigned char bytes[REEF_NET_DATAGRAM_MAX], answer[32];
    uint64_t from;
    size_t count;
    reef_status s = REEF_OK;
    if (v == NULL) return REEF_BAD_ARGUMENT;
    for (uint32_t i = 0; i < MOST && s >= 0; i++) {
        if (!v->config.transport.receive(v->config.transport.context, &from, bytes, &count)) break;
        v->stats.received++;
        v->stats.bytes += count;
        wire w = {bytes, 0, count, false};
        if (from != v->server || count > sizeof bytes) v->stats.refused++;
        else s = datagram(v, &w);
    }
    if (!v->heard || v->newest == 0) return s;
    v->heard = false;
    wire w = {answer, 0, sizeof answer, false};
    wire_u8(&w, VIEW_SEEN);
    wire_u32(&w, v->types.digest);
    wire_u32(&w, v->session);
    wire_u32(&w, v->newest);
    wire_u64(&w, v->before);
    v->config.transport.send(v->config.transport.context, v->server, answer, w.at);
    return s;
}

reef_net_view_stats reef_net_view_statistics(const reef_net_view *v) { return v ? v->stats : (reef_net_view_stats){0}; }
