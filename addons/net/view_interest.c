/* Who sees what. The entities that have the place lie in the buckets of a grid, and each bucket knows the clients whose
 * circles reach it. What changed in the world is found by the difference since the last update, and is noted for those
 * who see it. An entity that changed is looked at again for those who see it and those who watch its bucket; a client
 * whose own entities have moved by a sixteenth of his radius looks at the buckets around them again. */
#include "view_server.h"
#include <math.h>

enum { BUCKETS = 1 << 14, CELLS_MAX = 4096 };

static uint32_t bucket_of(int32_t x, int32_t y)
{
    const uint32_t h = (uint32_t)x * UINT32_C(0x9e3779b1) ^ (uint32_t)y * UINT32_C(0x85ebca6b);
    return (h ^ h >> 15) & (BUCKETS - 1);
}

static int32_t cell_of(const reef_net_views *v, float at)
{
    const float c = floorf(at / v->config.cell);
    if (!(c > -1e9f)) return -1000000000;
    return c < 1e9f ? (int32_t)c : 1000000000;
}

static bool place_get(const reef_net_views *v, reef_entity e, float at[3])
{
    at[0] = at[1] = at[2] = 0;
    if (v->place_axes == 0 || !reef_is_enabled_id(v->config.world, e, v->config.place)) return false;
    const unsigned char *value = reef_get_id(v->config.world, e, v->config.place);
    for (uint32_t i = 0; value && i < v->place_axes; i++) memcpy(&at[i], value + v->place_at[i], sizeof at[i]);
    return value != NULL;
}

float view__radius(const client *k) { return k->radius * k->scale; }

/* ---- the grid ---- */

static void unlink_thing(reef_net_views *v, uint32_t index)
{
    thing *t = &v->things[index];
    if (t->bucket == VIEW_NONE) return;
    if (t->prev == VIEW_NONE) v->buckets[t->bucket].head = t->next;
    else v->things[t->prev].next = t->next;
    if (t->next != VIEW_NONE) v->things[t->next].prev = t->prev;
    t->bucket = VIEW_NONE;
}

static void place_thing(reef_net_views *v, reef_entity e)
{
    thing *t = &v->things[e.index];
    float at[3];
    const bool there = place_get(v, e, at);
    const uint32_t bucket = there ? bucket_of(cell_of(v, at[0]), cell_of(v, at[1])) : VIEW_NONE;
    if (bucket == t->bucket) return;
    unlink_thing(v, e.index);
    if (!there) return;
    t->bucket = bucket;
    t->prev = VIEW_NONE;
    t->next = v->buckets[bucket].head;
    if (t->next != VIEW_NONE) v->things[t->next].prev = e.index;
    v->buckets[bucket].head = e.index;
}

/* ---- may he see it? ---- */

/* Does the entity match the queries of these clients? Bits of the clients for whom it does. Where there is no query,
 * all match but templates. */
static uint64_t matching(reef_net_views *v, reef_entity e, uint64_t clients)
{
    int8_t known[REEF_NET_VIEW_QUERIES_MAX] = {0};
    const bool hidden = reef_has(v->config.world, e, ReefPrefab);
    uint64_t yes = 0;
    for (uint64_t left = clients; left; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        const int q = v->clients[c].query;
        if (q >= 0 && known[q] == 0) known[q] = reef_query_matches(v->config.world, v->queries[q].query, e) ? 1 : -1;
        if (q < 0 ? !hidden : known[q] > 0) yes |= UINT64_C(1) << c;
    }
    return yes;
}

static bool within(const client *k, const float at[3])
{
    const float r = view__radius(k);
    for (uint32_t i = 0; i < k->centre_count; i++) {
        const float x = at[0] - k->centre[i][0], y = at[1] - k->centre[i][1], z = at[2] - k->centre[i][2];
        if (x * x + y * y + z * z <= r * r) return true;
    }
    return false;
}

/* The clients among these who may see the entity. */
static uint64_t seers(reef_net_views *v, reef_entity e, uint64_t clients)
{
    uint64_t yes = 0;
    float at[3];
    if (!reef_is_enabled_id(v->config.world, e, (reef_component){0})) return 0;
    const bool placed = place_get(v, e, at);
    for (uint64_t left = clients; left; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        const client *k = &v->clients[c];
        const bool all = k->radius == 0 && k->query >= 0;
        if (all || (placed && within(k, at))) yes |= UINT64_C(1) << c;
    }
    yes = matching(v, e, yes);
    for (uint64_t left = clients & ~yes; left; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        if (view__owns(&v->clients[c], e)) yes |= UINT64_C(1) << c;
    }
    return yes;
}

/* Looks at an entity again, for these clients. */
static reef_status settle(reef_net_views *v, reef_entity e, uint64_t clients)
{
    if (v->things[e.index].generation != e.generation) return REEF_OK;
    const uint64_t was = v->things[e.index].seen_by & clients, is = seers(v, e, clients);
    for (uint64_t left = was & ~is; left; left &= left - 1) view__hide(v, view__lowest(left), e, false);
    for (uint64_t left = is & ~was; left; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        const client *k = &v->clients[c];
        if (k->visible >= k->limit && !view__owns(k, e)) continue;
        if (!view__show(v, c, e)) return REEF_NO_MEMORY;
    }
    return REEF_OK;
}

/* ---- around a client ---- */

void view__unwatch(reef_net_views *v, uint32_t c)
{
    client *k = &v->clients[c];
    for (uint32_t i = 0; i < k->watched_count; i++) v->buckets[k->watched[i]].watchers &= ~(UINT64_C(1) << c);
    k->watched_count = 0;
}

static bool watch(reef_net_views *v, uint32_t c, uint32_t bucket)
{
    client *k = &v->clients[c];
    if (v->buckets[bucket].watchers >> c & 1) return true;
    if (!view__grow(&v->allocator, (void **)&k->watched, &k->watched_room, k->watched_count + 1, sizeof *k->watched))
        return false;
    k->watched[k->watched_count++] = bucket;
    v->buckets[bucket].watchers |= UINT64_C(1) << c;
    return true;
}

static bool watch_around(reef_net_views *v, uint32_t c, const float at[3])
{
    const float r = view__radius(&v->clients[c]);
    const int32_t x0 = cell_of(v, at[0] - r), x1 = cell_of(v, at[0] + r);
    const int32_t y0 = cell_of(v, at[1] - r), y1 = cell_of(v, at[1] + r);
    if ((int64_t)(x1 - x0 + 1) * (y1 - y0 + 1) > CELLS_MAX) { /* a circle much larger than the cells */
        for (uint32_t b = 0; b < BUCKETS; b++)
            if (!watch(v, c, b)) return false;
        return true;
    }
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++)
            if (!watch(v, c, bucket_of(x, y))) return false;
    return true;
}

/* All that match a query without a radius. */
static reef_status look_everywhere(reef_net_views *v, uint32_t c)
{
    reef_status s = REEF_OK;
    const uint64_t bit = UINT64_C(1) << c;
    for (reef_block b = reef_begin(v->config.world, v->queries[v->clients[c].query].query); reef_next(&b);)
        for (uint32_t i = 0; i < b.count && s == REEF_OK; i++)
            if (b.entities[i].index < v->thing_room) s = settle(v, b.entities[i], bit);
    return s;
}

reef_status view__look(reef_net_views *v, uint32_t c)
{
    client *k = &v->clients[c];
    const uint64_t bit = UINT64_C(1) << c;
    reef_status s = REEF_OK;
    k->centre_count = 0;
    view__unwatch(v, c);
    for (uint32_t i = 0; i < k->own_count; i++) {
        float at[3];
        if (k->own[i].index < v->thing_room && s == REEF_OK) s = settle(v, k->own[i], bit);
        if (!place_get(v, k->own[i], at)) continue;
        memcpy(k->centre[k->centre_count++], at, sizeof at);
        if (k->radius > 0 && !watch_around(v, c, at)) return REEF_NO_MEMORY;
    }
    for (uint32_t i = 0; i < k->slot_count && s == REEF_OK; i++) /* those that he no longer sees */
        if (k->slots[i].used && !k->slots[i].out) s = settle(v, k->slots[i].entity, bit);
    for (uint32_t i = 0; i < k->watched_count && s == REEF_OK; i++)
        for (uint32_t index = v->buckets[k->watched[i]].head; index != VIEW_NONE && s == REEF_OK;) {
            const uint32_t next = v->things[index].next;
            const reef_entity e = {.index = index, .generation = v->things[index].generation};
            if (!(v->things[index].seen_by & bit)) s = settle(v, e, bit);
            index = next;
        }
    if (k->radius == 0 && k->query >= 0 && s == REEF_OK) s = look_everywhere(v, c);
    k->recentre = s != REEF_OK;
    return s;
}

/* Have his own entities moved by so much that he looks around again? */
static bool strayed(const reef_net_views *v, const client *k)
{
    const float slack = view__radius(k) / 16;
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->own_count; i++) {
        float at[3];
        if (!place_get(v, k->own[i], at)) continue;
        if (n == k->centre_count) return true;
        const float *was = k->centre[n++];
        const float x = at[0] - was[0], y = at[1] - was[1], z = at[2] - was[2];
        if (x * x + y * y + z * z > slack * slack) return true;
    }
    return n != k->centre_count;
}

/* ---- what changed ---- */

static void note(reef_net_views *v, uint32_t index)
{
    thing *t = &v->things[index];
    if (t->pending == v->tick) return;
    t->pending = v->tick;
    v->pending[v->pending_count++] = index;
}

static void gone(reef_net_views *v, reef_entity e)
{
    thing *t = &v->things[e.index];
    if (t->generation != e.generation) return;
    for (uint64_t left = t->seen_by; left; left &= left - 1) view__hide(v, view__lowest(left), e, true);
    unlink_thing(v, e.index);
    t->generation = 0;
    for (uint64_t left = v->used; left; left &= left - 1) {
        client *k = &v->clients[view__lowest(left)];
        for (uint32_t i = k->own_count; i-- > 0;) {
            if (k->own[i].index != e.index || k->own[i].generation != e.generation) continue;
            k->own[i] = k->own[--k->own_count];
            k->recentre = true;
        }
    }
}

static bool is_at(reef_component a, reef_component b) { return a.id == b.id; }

static void changed(reef_net_views *v, const reef_change *c)
{
    uint32_t type = VIEW_NONE;
    const uint32_t index = c->entity.index;
    v->stats.changes++;
    for (uint32_t i = 0; i < v->types.count; i++)
        if (is_at(v->types.of[i].id, c->component)) type = i;
    for (uint64_t left = type != VIEW_NONE ? v->things[index].seen_by : 0; left; left &= left - 1) {
        client *k = &v->clients[view__lowest(left)];
        const uint32_t slot = view__slot_of(k, c->entity);
        if (slot == VIEW_NONE || (v->types.own >> type & 1 && !k->slots[slot].own)) continue;
        view__mark(v, k, slot, 1u << type, k->slots[slot].own);
        v->stats.marked++;
    }
    if (is_at(c->component, v->config.place)) place_thing(v, c->entity);
    note(v, index);
}

static bool reserve(reef_net_views *v, uint32_t index)
{
    const uint32_t was = v->thing_room;
    if (!view__grow(&v->allocator, (void **)&v->things, &v->thing_room, index + 1, sizeof *v->things)) return false;
    for (uint32_t i = was; i < v->thing_room; i++) v->things[i].bucket = VIEW_NONE;
    return view__grow(&v->allocator, (void **)&v->pending, &v->pending_room, v->thing_room, sizeof *v->pending);
}

static bool born(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    reef_net_views *v = context;
    (void)type;
    (void)data;
    (void)size;
    if (!reserve(v, e.index)) return false;
    v->things[e.index].generation = e.generation;
    place_thing(v, e);
    note(v, e.index);
    return true;
}

static reef_status pending(reef_net_views *v)
{
    for (; v->pending_count; v->pending_count--) {
        const uint32_t index = v->pending[v->pending_count - 1];
        const thing *t = &v->things[index];
        const reef_entity e = {.index = index, .generation = t->generation};
        const uint64_t who = t->seen_by | v->unbounded | (t->bucket != VIEW_NONE ? v->buckets[t->bucket].watchers : 0);
        const reef_status s = t->generation && who ? settle(v, e, who) : REEF_OK;
        if (s != REEF_OK) return s;
    }
    return REEF_OK;
}

/* The difference since the last update. `before` follows only when all of it was taken; what is taken twice does no
 * harm. */
static reef_status difference(reef_net_views *v, reef_world *now)
{
    if (v->before == NULL) return reef_visit_entities(now, born, v) ? REEF_OK : REEF_NO_MEMORY;
    reef_diff *d = reef_diff_new(v->before, now);
    reef_status s = d ? REEF_OK : REEF_NO_MEMORY;
    for (const reef_change *c; s == REEF_OK && (c = reef_diff_next(d)) != NULL;) {
        if (!reserve(v, c->entity.index)) s = REEF_NO_MEMORY;
        else if (c->kind == REEF_CHANGE_GONE) gone(v, c->entity);
        else if (c->kind == REEF_CHANGE_BORN) (void)born(v, c->entity, (reef_component){0}, NULL, 0);
        else if (c->kind != REEF_CHANGE_NAME && v->things[c->entity.index].generation == c->entity.generation)
            changed(v, c);
    }
    reef_diff_free(d);
    return s;
}

reef_status view__changes(reef_net_views *v)
{
    reef_world *now = reef_fork(v->config.world);
    if (now == NULL) return REEF_NO_MEMORY;
    reef_status s = pending(v); /* of an update that failed */
    v->tick++;
    if (s == REEF_OK) s = difference(v, now);
    if (s == REEF_OK) {
        reef_world_free(v->before);
        v->before = now;
    } else reef_world_free(now);
    for (uint64_t left = v->used; left && s == REEF_OK; left &= left - 1) {
        const uint32_t c = view__lowest(left);
        client *k = &v->clients[c];
        if (k->recentre || (k->radius > 0 && strayed(v, k))) s = view__look(v, c);
    }
    return s == REEF_OK ? pending(v) : s;
}
