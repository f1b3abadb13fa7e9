/* Worlds as values: snapshot, restore, fork.
 *
 *      world ──┬── records, chunks, tables, ring, names, switches, hashes      one reference each, whatever is in them
 *      snapshot┘
 *
 * All that is state lies in copy-on-write containers (paged.h): holding the same state a second time means taking a
 * reference to each, and raising fork_version, so that both sides know that what was written so far isn't theirs
 * alone. It costs the same for an empty world and for one of a million entities: 1 to 2 us, about 10 when the caches
 * are cold. Whoever writes first copies the page pointers, the page, the block.
 *
 * Not state: queries, bundles, open loops, the last error, what is remembered to be quick. */
#include "world/snapshot.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/family.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/sparse_store.h"
#include "storage/state.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "change/spawn.h"
#include "system/event.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/fork_policy.h"
#include "reef/detail/layout.h"
#include "reef/snapshot.h"

/* ---- all containers of a state ---- */

/* Container i of them all, with the kind of its pages (NULL: `part` is that of a store, and complete). The chunks
 * come first: their values are destroyed while everything else is still there. */
enum { STATE_PARTS = 11, BIT_PARTS = 2, TRACK_PARTS = 3, STORE_PARTS = 3 }; /* then one a type of events */

static uint32_t store_parts(const state *s) { return s->store_count ? STORE_PARTS * (s->store_count - 1) : 0; }

static const paged_type *store_part(family *f, state *s, uint32_t i, state_part *part)
{
    value_store *x = &s->stores[i / STORE_PARTS + 1]; /* the first one is empty */
    if (i % STORE_PARTS == 1) return part->pages = &x->index, &reef__pages_index;
    if (i % STORE_PARTS == 2) return part->pages = &x->hashes, &reef__pages_hashes;
    part->pages = &x->values;
    part->owner = reef__store_owner(f, x, &part->values);
    return NULL;
}

static const paged_type *part_kind(family *f, reef_hot *h, state *s, uint32_t i, state_part *part)
{
    static const struct {
        size_t offset;
        const paged_type *type;
    } parts[STATE_PARTS - 2] = {
        {offsetof(state, tables), &reef__pages_tables},         {offsetof(state, ring), &reef__pages_ring},
        {offsetof(state, name_entries), &reef__pages_names},    {offsetof(state, name_by_text), &reef__pages_buckets},
        {offsetof(state, name_by_index), &reef__pages_buckets}, {offsetof(state, chunk_hashes), &reef__pages_hashes},
        {offsetof(state, record_hashes), &reef__pages_hashes},  {offsetof(state, ring_hashes), &reef__pages_hashes},
        {offsetof(state, name_hashes), &reef__pages_hashes},
    };
    if (i == 0) return part->pages = &h->chunks, &reef__pages_chunks;
    if (i == 1) return part->pages = &h->records, &reef__pages_records;
    if (i < STATE_PARTS)
        return part->pages = (reef_paged *)(void *)((char *)s + parts[i - 2].offset), parts[i - 2].type;
    i -= STATE_PARTS;
    if (i < BIT_PARTS * s->bit_count) {
        part->pages = i % 2 ? &s->bits[i / 2].hashes : &s->bits[i / 2].words;
        return i % 2 ? &reef__pages_hashes : &reef__pages_bits;
    }
    i -= BIT_PARTS * s->bit_count;
    if (i < TRACK_PARTS * s->track_count) {
        track_store *t = &s->tracks[i / TRACK_PARTS];
        part->pages = i % TRACK_PARTS == 0 ? &t->stamps : i % TRACK_PARTS == 1 ? &t->log : &t->values;
        return &reef__pages_tracks;
    }
    i -= TRACK_PARTS * s->track_count;
    if (i < store_parts(s)) return store_part(f, s, i, part);
    part->pages = &s->events[i - store_parts(s)].pages;
    return &reef__pages_events;
}

bool reef__part_at(family *f, reef_hot *h, state *s, uint32_t i, state_part *part)
{
    if (i >= STATE_PARTS + BIT_PARTS * s->bit_count + TRACK_PARTS * s->track_count + store_parts(s) + s->event_count)
        return false;
    const paged_type *kind = part_kind(f, h, s, i, part);
    if (kind) part->owner = reef__owner_of(f, kind);
    return true;
}

uint32_t reef__part_like(const state *from, uint32_t i, const state *to)
{
    if (i < STATE_PARTS) return i;
    const uint32_t bits = BIT_PARTS * from->bit_count, to_bits = BIT_PARTS * to->bit_count;
    const uint32_t tracks = TRACK_PARTS * from->track_count, to_tracks = TRACK_PARTS * to->track_count;
    i -= STATE_PARTS;
    if (i < bits) return i < to_bits ? STATE_PARTS + i : UINT32_MAX;
    i -= bits;
    if (i < tracks) return i < to_tracks ? STATE_PARTS + to_bits + i : UINT32_MAX;
    i -= tracks;
    if (i < store_parts(from)) return i < store_parts(to) ? STATE_PARTS + to_bits + to_tracks + i : UINT32_MAX;
    return i - store_parts(from) + STATE_PARTS + to_bits + to_tracks + store_parts(to);
}

/* `to` has the plain fields and the arrays of `from`; it gets a reference to everything in them. Can't fail. */
static void state_share(family *f, reef_hot *to_hot, state *to, const reef_hot *from_hot, const state *from)
{
    state_part have, get = {0};
    for (uint32_t i = 0; reef__part_at(f, (reef_hot *)(uintptr_t)from_hot, (state *)(uintptr_t)from, i, &have); i++) {
        reef__part_at(f, to_hot, to, i, &get);
        *get.pages = reef__paged_share(have.pages, &have.owner);
    }
}

void reef__state_drop(family *f, reef_hot *h, state *s)
{
    state_part part;
    for (uint32_t i = 0; reef__part_at(f, h, s, i, &part); i++) reef__paged_drop(part.pages, &part.owner);
    reef__memory_free(&f->memory, MEMORY_BITS, s->bits, s->bit_capacity * sizeof *s->bits);
    reef__memory_free(&f->memory, MEMORY_BITS, s->bit_number, s->bit_room * sizeof *s->bit_number);
    reef__memory_free(&f->memory, MEMORY_OTHER, s->used_types, s->used_words * sizeof *s->used_types);
    reef__memory_free(&f->memory, MEMORY_OTHER, s->runs, s->run_room * sizeof *s->runs);
    reef__memory_free(&f->memory, MEMORY_OTHER, s->clocks, s->clock_room * sizeof *s->clocks);
    reef__memory_free(&f->memory, MEMORY_TRACKS, s->tracks, s->track_capacity * sizeof *s->tracks);
    reef__memory_free(&f->memory, MEMORY_TRACKS, s->places, s->place_capacity * sizeof *s->places);
    reef__memory_free(&f->memory, MEMORY_STORES, s->stores, s->store_capacity * sizeof *s->stores);
    reef__memory_free(&f->memory, MEMORY_STORES, s->store_number, s->store_room * sizeof *s->store_number);
    reef__memory_free(&f->memory, MEMORY_EVENTS, s->events, s->event_capacity * sizeof *s->events);
    reef__memory_free(&f->memory, MEMORY_EVENTS, s->event_places, s->event_place_capacity * sizeof *s->event_places);
    reef__memory_free(&f->memory, MEMORY_OTHER, s->absents, s->absent_room * sizeof *s->absents);
    memset(s, 0, sizeof *s);
}

/* A copy of an array of a state; NULL where there is nothing to copy. False: no memory. */
static bool array_copy(family *f, enum memory_kind kind, void *to, const void *from, size_t bytes)
{
    void *p = bytes ? reef__memory_resize(&f->memory, kind, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
    if (p) memcpy(p, from, bytes);
    memcpy(to, &p, sizeof p);
    return p != NULL || bytes == 0;
}

/* *to becomes *from with arrays of its own. False: no memory. */
static COLD bool state_copy(family *f, state *to, const state *from)
{
    size_t bits = from->bit_count * sizeof *from->bits, used = from->used_words * sizeof *from->used_types;
    size_t bit_numbers = from->bit_room * sizeof *from->bit_number;
    size_t tracks = from->track_count * sizeof *from->tracks, places = from->place_count * sizeof *from->places;
    size_t runs = from->run_count * sizeof *from->runs, clocks = from->clock_count * sizeof *from->clocks;
    size_t stores = from->store_count * sizeof *from->stores, numbers = from->store_room * sizeof *from->store_number;
    size_t events = from->event_count * sizeof *from->events,
           event_places = from->event_place_count * sizeof *from->event_places;
    const size_t absents = from->absent_count * sizeof *from->absents;
    *to = *from;
    to->absent_room = from->absent_count;
    to->bit_capacity = from->bit_count;
    to->track_capacity = from->track_count;
    to->place_capacity = from->place_count;
    to->run_room = from->run_count;
    to->clock_room = from->clock_count;
    to->store_capacity = from->store_count;
    to->event_capacity = from->event_count;
    to->event_place_capacity = from->event_place_count;
    bool ok = array_copy(f, MEMORY_BITS, &to->bits, from->bits, bits);
    ok &= array_copy(f, MEMORY_BITS, &to->bit_number, from->bit_number, bit_numbers);
    ok &= array_copy(f, MEMORY_OTHER, &to->used_types, from->used_types, used);
    ok &= array_copy(f, MEMORY_TRACKS, &to->tracks, from->tracks, tracks);
    ok &= array_copy(f, MEMORY_TRACKS, &to->places, from->places, places);
    ok &= array_copy(f, MEMORY_OTHER, &to->runs, from->runs, runs);
    ok &= array_copy(f, MEMORY_OTHER, &to->clocks, from->clocks, clocks);
    ok &= array_copy(f, MEMORY_STORES, &to->stores, from->stores, stores);
    ok &= array_copy(f, MEMORY_STORES, &to->store_number, from->store_number, numbers);
    ok &= array_copy(f, MEMORY_EVENTS, &to->events, from->events, events);
    ok &= array_copy(f, MEMORY_EVENTS, &to->event_places, from->event_places, event_places);
    ok &= array_copy(f, MEMORY_OTHER, &to->absents, from->absents, absents);
    if (ok && BUG(29)) to->run_count = 0;
    if (ok) return true;
    reef__memory_free(&f->memory, MEMORY_BITS, to->bits, bits);
    reef__memory_free(&f->memory, MEMORY_BITS, to->bit_number, bit_numbers);
    reef__memory_free(&f->memory, MEMORY_OTHER, to->used_types, used);
    reef__memory_free(&f->memory, MEMORY_TRACKS, to->tracks, tracks);
    reef__memory_free(&f->memory, MEMORY_TRACKS, to->places, places);
    reef__memory_free(&f->memory, MEMORY_OTHER, to->runs, runs);
    reef__memory_free(&f->memory, MEMORY_OTHER, to->clocks, clocks);
    reef__memory_free(&f->memory, MEMORY_STORES, to->stores, stores);
    reef__memory_free(&f->memory, MEMORY_STORES, to->store_number, numbers);
    reef__memory_free(&f->memory, MEMORY_EVENTS, to->events, events);
    reef__memory_free(&f->memory, MEMORY_EVENTS, to->event_places, event_places);
    reef__memory_free(&f->memory, MEMORY_OTHER, to->absents, absents);
    return false;
}

/* ---- what can't be held twice ---- */

/* The first type by name that can't be copied and that some entity has; {0}: there is none. */
static COLD reef_component state_bound(const reef_world *w)
{
    const type *first = NULL;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        const type *x = reef__type_of(s->component);
        if (s->count && !x->copyable && !x->resets && (first == NULL || reef__type_compare(x, first) < 0)) first = x;
    }
    if (REEF_ACQUIRE_U32(&w->family->graph.bound_count) == 0) return (reef_component){first ? first->id : 0};
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t == NULL || !t->shape->bound || table_rows(t) == 0) continue;
        for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
            const type *x = t->shape->columns[k].type;
            if (!x->copyable && !x->resets && (first == NULL || reef__type_compare(x, first) < 0)) first = x;
        }
    }
    return (reef_component){first ? first->id : 0};
}

/* Can the world's state be shared now? Says what is in the way. */
static bool share_allowed(reef_world *w, const char *op)
{
    const reef_entity null = {0, 0};
    if (w == NULL) return false;
    if (world_engaged(w)) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, null, 0), false;
    reef_component c = state_bound(w);
    w->hook_failed.id = 0;
    if (reef__events_settle(w) != REEF_OK)
        return reef__failure(w, REEF_NO_MEMORY, op, (reef_component){0}, null, 0), false;
    if (c.id) return reef__failure(w, REEF_NOT_COPYABLE, op, c, null, 0), false;
    reef__quarantine_world(w, op);
    return true;
}

/* No memory for a copy, or a construct hook that refused: then it names the type. */
static void refuse_copy(reef_world *w, const char *op)
{
    reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
}

/* ---- snapshots ---- */

reef_snapshot *reef_snapshot_take(reef_world *w)
{
    static const char op[] = "reef_snapshot_take";
    if (!share_allowed(w, op)) return NULL;
    family *f = w->family;
    reef_snapshot *s = reef__memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, sizeof *s, PLAIN_ALIGN);
    resets r = {0};
    if (s == NULL || !reef__readers_note(w) || !reef__resets_place(w, &r)) {
        reef__memory_free(&f->memory, MEMORY_OTHER, s, sizeof *s);
        return refuse_copy(w, op), NULL;
    }
    if (!state_copy(f, &s->state, &w->state)) {
        reef__resets_undo(w, &r);
        reef__memory_free(&f->memory, MEMORY_OTHER, s, sizeof *s);
        return refuse_copy(w, op), NULL;
    }
    s->family = f;
    s->config = w->config;
    s->moved = rows_moved(w);
    s->destroyed = w->destroyed;
    s->script_serial = reef__scripts_serial(w);
    s->hot = w->hot;
    state_share(f, &s->hot, &s->state, &w->hot, &w->state);
    const paged_owner chunks = reef__owner_of(f, &reef__pages_chunks);
    reef__paged_keep(&s->hot.chunks, &chunks, true);
    s->schedule = reef__schedule_hold(f, w->schedule);
    reef__family_join(f, false);
    version_share(w);
    if (reef__resets_take_back(w, &r)) return s;
    reef_snapshot_free(s);
    reef__resets_undo(w, &r);
    return refuse_copy(w, op), NULL;
}

void reef_snapshot_free(reef_snapshot *s)
{
    if (s == NULL) return;
    family *f = s->family;
    const paged_owner chunks = reef__owner_of(f, &reef__pages_chunks);
    reef__paged_keep(&s->hot.chunks, &chunks, false);
    reef__state_drop(f, &s->hot, &s->state);
    reef__schedule_leave(f, s->schedule);
    reef__memory_free(&f->memory, MEMORY_OTHER, s, sizeof *s);
    reef__family_leave(f, false);
}

/* ---- forks ---- */

/* A world of its own that begins with this state. NULL: no memory. */
static COLD reef_world *world_begin(family *f, const reef_world_config *config, const reef_hot *hot, const state *from)
{
    reef_world *w = reef__memory_zeroed(&f->memory, MEMORY_OTHER, sizeof *w);
    if (w == NULL || !state_copy(f, &w->state, from)) {
        reef__memory_free(&f->memory, MEMORY_OTHER, w, sizeof *w);
        return NULL;
    }
    w->family = f;
    w->config = *config;
    w->hot = *hot;
    w->hot.number = reef__world_number();
    w->error.operation = "";
    state_share(f, &w->hot, &w->state, hot, from);
    reef__family_join(f, true);
    version_share(w);
    reef__stores_view(w);
    marks_renew(w);
    reef__names_changed(w);
    return w;
}

reef_world *reef__world_aside(reef_world *w)
{
    static const char op[] = "reef_fork";
    if (!share_allowed(w, op)) return NULL;
    resets r = {0};
    if (!reef__readers_note(w) || !reef__resets_place(w, &r)) return refuse_copy(w, op), NULL;
    reef_world *fork = world_begin(w->family, &w->config, &w->hot, &w->state);
    if (fork && !BUG(25)) version_share(w);
    if (fork == NULL || !reef__resets_take_back(w, &r)) {
        reef_world_free(fork);
        reef__resets_undo(w, &r);
        return refuse_copy(w, op), NULL;
    }
    moves_put(fork, rows_moved(w), w->destroyed);
    fork->pool = w->pool;
    fork->schedule = reef__schedule_hold(w->family, w->schedule);
    reef__observers_follow(fork);
#if defined(REEF_CHECKED)
    fork->unwatched = w->unwatched;
#endif
    return fork;
}

reef_world *reef_fork(reef_world *w)
{
    reef_world *fork = reef__world_aside(w);
    if (fork && !reef__scripts_join(fork, reef__scripts_serial(w))) {
        reef_world_free(fork);
        return refuse_copy(w, "reef_fork"), NULL;
    }
    if (fork) reef__removals_forget(fork);
    return fork;
}

reef_world *reef__snapshot_aside(const reef_snapshot *s)
{
    reef_world *fork = world_begin(s->family, &s->config, &s->hot, &s->state);
    if (fork == NULL) return NULL;
    moves_put(fork, s->moved, s->destroyed);
    fork->schedule = reef__schedule_hold(s->family, s->schedule);
    reef__observers_follow(fork);
    return fork;
}

reef_world *reef_snapshot_fork(const reef_snapshot *s)
{
    reef_world *fork = s ? reef__snapshot_aside(s) : NULL;
    if (fork && !reef__scripts_join(fork, s->script_serial)) {
        reef_world_free(fork);
        return NULL;
    }
    if (fork) reef__removals_forget(fork);
    return fork;
}

/* Nothing in it: no entity, no free id, no time. */
COLD reef_world *reef__world_blank(reef_world *w)
{
    family *f = w->family;
    reef_world *blank = reef__memory_zeroed(&f->memory, MEMORY_OTHER, sizeof *blank);
    const size_t used = w->state.used_words * sizeof *w->state.used_types;
    if (blank == NULL || !array_copy(f, MEMORY_OTHER, &blank->state.used_types, w->state.used_types, used)) {
        reef__memory_free(&f->memory, MEMORY_OTHER, blank, sizeof *blank);
        return NULL;
    }
    blank->family = f;
    blank->config = w->config;
    blank->error.operation = "";
    blank->pool = w->pool;
    blank->state.used_words = w->state.used_words;
    blank->state.map_count = w->state.map_count;
    blank->state.next_unit = 2;
    blank->state.seed = w->config.seed;
    memcpy(blank->hot.maps, w->hot.maps, sizeof blank->hot.maps);
    blank->hot.number = reef__world_number();
    blank->hot.version = w->hot.version;
    blank->schedule = reef__schedule_hold(f, w->schedule);
    reef__family_join(f, true);
    values_shift(blank);
    version_share(blank);
    reef__stores_view(blank);
    return blank;
}

/* ---- restoring ---- */

/* What the world remembers of the state that it left. Commands that were left are of that state as well. */
static void world_distrust(reef_world *w)
{
    reef__commands_drop(w, &w->deferred);
    observing_restart(w);
    w->lane_rest = 0; /* as its commands: of the state that is left behind */
    w->slow &= ~SLOW_DEFERRED;
    reef__events_forget(w);
    memset(w->edge_cache, 0, sizeof w->edge_cache);
    lately_forget(w);
    values_shift(w);
    reef__sets_distrust(w);
    w->state_epoch++;
    marks_renew(w);
    world_touch(w);
    reef__stores_view(w);
    if (!BUG(26)) reef__names_changed(w);
}

/* The view of the family's maps is each world's own. A state that comes from another fork may have tables of types
 * whose maps this world never saw: then it takes over the wider view. How many maps it sees now. */
static uint32_t maps_view(reef_world *w, const reef_hot *hot, uint32_t map_count)
{
    if (map_count <= w->state.map_count) return w->state.map_count;
    memcpy(w->hot.maps, hot->maps, sizeof w->hot.maps);
    return map_count;
}

static void state_put(reef_world *w, const state *s, const reef_hot *hot, uint64_t version)
{
    const uint32_t map_count = maps_view(w, hot, s->map_count);
    w->state = *s;
    w->state.map_count = map_count;
    w->hot.records = hot->records;
    w->hot.chunks = hot->chunks;
    w->hot.index_count = hot->index_count;
    w->hot.empty_count = hot->empty_count;
    w->hot.version = version;
    w->hot.fork_version = w->ours_after = hot->fork_version; /* what is ours alone in this state stays so */
    version_look(w);
    world_distrust(w);
}

COLD void reef__state_exchange(reef_world *w, reef_world *other)
{
    const reef_hot hot = w->hot, other_hot = other->hot;
    const state was = w->state, other_was = other->state;
    const uint64_t moved = rows_moved(w), destroyed = w->destroyed, other_moved = rows_moved(other);
    /* of all writes to either */
    const uint64_t version = hot.version > other_hot.version ? hot.version : other_hot.version;
    state_put(w, &other_was, &other_hot, version);
    state_put(other, &was, &hot, version);
    moves_put(w, other_moved, other->destroyed);
    reef__readers_arrive(w);
    moves_put(other, moved, destroyed);
}

COLD bool reef__world_adopt(reef_world *w, reef_world *aside, bool resets_too)
{
    if (!BUG(106) && !reef__skips_move(w, aside, resets_too)) return false;
    reef__state_exchange(w, aside);
    return true;
}

/* The long way, for worlds with values that stay: the new state is made ready beside the old one. */
static COLD bool restore_skipping(reef_world *w, const reef_snapshot *s)
{
    reef_world *fresh = world_begin(w->family, &w->config, &s->hot, &s->state);
    bool ok = fresh && reef__world_adopt(w, fresh, false);
    reef_world_free(fresh);
    return ok;
}

static COLD bool restore_plainly(reef_world *w, const reef_snapshot *s)
{
    state fresh;
    if (!state_copy(w->family, &fresh, &s->state)) return false;
    fresh.map_count = maps_view(w, &s->hot, s->state.map_count);
    reef__state_drop(w->family, &w->hot, &w->state);
    w->state = fresh;
    state_share(w->family, &w->hot, &w->state, &s->hot, &s->state);
    w->hot.index_count = s->hot.index_count;
    w->hot.empty_count = s->hot.empty_count;
    if (w->hot.version < s->hot.version) w->hot.version = s->hot.version;
    version_share(w);
    world_distrust(w);
    reef__readers_arrive(w);
    return true;
}

reef_status reef_restore(reef_world *w, const reef_snapshot *s)
{
    static const char op[] = "reef_restore";
    const reef_component none = {0};
    const reef_entity null = {0, 0};
    if (w == NULL) return REEF_BAD_ARGUMENT;
    if (s == NULL) return reef__failure(w, REEF_BAD_ARGUMENT, op, none, null, 0);
    if (s->family != w->family) return reef__failure(w, REEF_OTHER_WORLD, op, none, null, 0);
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, null, 0);
    w->hook_failed.id = 0;
    bool ok = REEF_ACQUIRE_U32(&w->family->graph.reset_count) || reef__stores_reset(w) ? restore_skipping(w, s)
                                                                                       : restore_plainly(w, s);
    if (!ok) return reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, null, 0);
    if (BUG(23)) w->state.ring_head = w->state.ring_tail, w->state.ring_holes = 0;
    moves_put(w, s->moved, s->destroyed);
    return REEF_OK;
}
