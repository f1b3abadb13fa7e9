/* What each client is shown: a record for each entity that he sees, which his numbers lead to, and the queue of those
 * that he hasn't got as they are, by how long they wait. A record that is taken out of sight keeps its number until he
 * has acknowledged that; if he was never sent anything of it, it is free at once. */
#include "view_server.h"

static uint32_t hash(uint32_t index) { return index * UINT32_C(2654435769) ^ index >> 15; }

static uint32_t map_find(const client *k, uint32_t index)
{
    if (k->map_room == 0) return VIEW_NONE;
    for (uint32_t at = hash(index) & (k->map_room - 1); k->map[at]; at = (at + 1) & (k->map_room - 1))
        if (k->slots[k->map[at] - 1].entity.index == index) return at;
    return VIEW_NONE;
}

uint32_t view__slot_of(const client *k, reef_entity e)
{
    const uint32_t at = map_find(k, e.index);
    if (at == VIEW_NONE) return VIEW_NONE;
    const uint32_t slot = k->map[at] - 1;
    return k->slots[slot].entity.generation == e.generation ? slot : VIEW_NONE;
}

static void map_put(client *k, uint32_t slot)
{
    uint32_t at = hash(k->slots[slot].entity.index) & (k->map_room - 1);
    while (k->map[at]) at = (at + 1) & (k->map_room - 1);
    k->map[at] = slot + 1;
    k->map_count++;
}

static void map_remove(client *k, uint32_t at)
{
    const uint32_t mask = k->map_room - 1;
    k->map[at] = 0;
    k->map_count--;
    for (uint32_t next = (at + 1) & mask; k->map[next]; next = (next + 1) & mask) { /* close the gap */
        const uint32_t home = hash(k->slots[k->map[next] - 1].entity.index) & mask;
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        k->map[at] = k->map[next];
        k->map[next] = 0;
        at = next;
    }
}

static bool map_reserve(reef_net_views *v, client *k)
{
    if (2 * (k->map_count + 1) <= k->map_room) return true;
    const uint32_t room = k->map_room ? k->map_room * 2 : 64;
    uint32_t *more = view__alloc(&v->allocator, room * sizeof *more), *was = k->map;
    const uint32_t old = k->map_room;
    if (more == NULL) return false;
    k->map = more;
    k->map_room = room;
    k->map_count = 0;
    for (uint32_t i = 0; i < old; i++)
        if (was[i]) map_put(k, was[i] - 1);
    view__free(&v->allocator, was, old * sizeof *was);
    return true;
}

/* ---- the queue ---- */

void view__unqueue(client *k, uint32_t slot)
{
    seen *s = &k->slots[slot];
    if (!s->queued) return;
    if (s->prev == VIEW_NONE) k->first = s->next;
    else k->slots[s->prev].next = s->next;
    if (s->next == VIEW_NONE) k->last = s->prev;
    else k->slots[s->next].prev = s->prev;
    s->queued = false;
}

/* Notes types of a record; `first`: it is sent before all others. */
void view__mark(const reef_net_views *v, client *k, uint32_t slot, uint32_t types, bool first)
{
    seen *s = &k->slots[slot];
    s->dirty |= types;
    if (s->queued) return;
    s->queued = true;
    s->since = v->tick;
    s->prev = first ? VIEW_NONE : k->last;
    s->next = first ? k->first : VIEW_NONE;
    if (s->prev == VIEW_NONE) k->first = slot;
    else k->slots[s->prev].next = slot;
    if (s->next == VIEW_NONE) k->last = slot;
    else k->slots[s->next].prev = slot;
}

/* ---- coming and going ---- */

bool view__owns(const client *k, reef_entity e)
{
    for (uint32_t i = 0; i < k->own_count; i++)
        if (k->own[i].index == e.index && k->own[i].generation == e.generation) return true;
    return false;
}

bool view__show(reef_net_views *v, uint32_t c, reef_entity e)
{
    client *k = &v->clients[c];
    uint32_t slot = k->free_slot;
    if (!map_reserve(v, k)) return false;
    if (slot == VIEW_NONE) {
        slot = k->slot_count;
        if (slot == VIEW_SLOTS_MAX) return true; /* what doesn't fit stays out of sight */
        if (!view__grow(&v->allocator, (void **)&k->slots, &k->slot_room, slot + 1, sizeof *k->slots)) return false;
        k->slot_count++;
    } else k->free_slot = k->slots[slot].next;
    const uint32_t turn = k->slots[slot].turn + 1;
    k->slots[slot] = (seen){.entity = e, .used = true, .turn = turn, .own = view__owns(k, e)};
    map_put(k, slot);
    view__mark(v, k, slot, UINT32_MAX, k->slots[slot].own);
    v->things[e.index].seen_by |= UINT64_C(1) << c;
    k->visible++;
    k->moved = true;
    return true;
}

void view__slot_free(client *k, uint32_t slot)
{
    seen *s = &k->slots[slot];
    view__unqueue(k, slot);
    s->used = false;
    s->next = k->free_slot;
    k->free_slot = slot;
}

void view__hide(reef_net_views *v, uint32_t c, reef_entity e, bool destroyed)
{
    client *k = &v->clients[c];
    const uint32_t at = map_find(k, e.index);
    v->things[e.index].seen_by &= ~(UINT64_C(1) << c);
    if (at == VIEW_NONE) return;
    const uint32_t slot = k->map[at] - 1;
    seen *s = &k->slots[slot];
    map_remove(k, at);
    k->visible--;
    k->moved = true;
    if (!s->ever) {
        view__slot_free(k, slot);
        return;
    }
    s->out = true;
    s->destroyed = destroyed;
    view__unqueue(k, slot);
    view__mark(v, k, slot, 0, true);
}

void view__client_release(reef_net_views *v, client *k)
{
    view__free(&v->allocator, k->slots, k->slot_room * sizeof *k->slots);
    view__free(&v->allocator, k->map, k->map_room * sizeof *k->map);
    view__free(&v->allocator, k->watched, k->watched_room * sizeof *k->watched);
    view__free(&v->allocator, k->sent, VIEW_SENT * sizeof *k->sent);
    *k = (client){0};
}
