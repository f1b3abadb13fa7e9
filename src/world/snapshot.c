/* Worlds as values: snapshot, restore, fork.
 *
 *      world ──┬── records, chunks, tables, ring, names, switches, hashes      one reference to each container
 *      snapshot┘
 *
 * All state lies in copy-on-write containers (copy_on_write.h). To hold the same state a second time means to take a
 * reference to each container, and to raise fork_version: what was written up to that version may be shared, and only
 * what was written later is certainly held by one side alone. It costs the same for an empty world and for one of a
 * million entities: 1 to 2 us, about 10 when the caches are cold. The first write by either side copies the page
 * pointers, then the page, then the block.
 *
 * Queries, bundles, open loops, the last error and all caches aren't state. But like the systems, the queries come
 * along to a fork (src/query/inherited_queries.h). */
#include "world/snapshot.h"
#include "type/type_walk.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/sparse_store.h"
#include "storage/state_kind.h"
#include "storage/table.h"
#include "change/command.h"
#include "change/spawn.h"
#include "query/inherited_queries.h"
#include "system/event.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/debug_layout.h"
#include "world/fork_policy.h"
#include "reef/detail/layout.h"
#include "reef/snapshot.h"

/* ---- values that can't be copied ---- */

/* The first type by name that can't be copied and of which some entity has a value. {0}: there is none. */
static COLD reef_component state_bound(const reef_world *w)
{
    const type *first = NULL;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        const type *x = reef__type_of(s->component);
        if (s->count && !x->copyable && !x->resets) first = type_first(x, first);
    }
    if (REEF_ACQUIRE_U32(&w->family->graph.bound_count) == 0) return (reef_component){first ? first->id : 0};
    EACH_TABLE(w, t)
    {
        if (!t->shape->bound || table_rows(t) == 0) continue;
        for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
            const type *x = t->shape->columns[k].type;
            if (!x->copyable && !x->resets) first = type_first(x, first);
        }
    }
    return (reef_component){first ? first->id : 0};
}

/* Can the world's state be shared now? If not, the error is recorded. */
static bool share_allowed(reef_world *w, const char *op)
{
    if (!WORLD_GIVEN_TO(w, op)) return false;
    if (world_engaged(w)) return reef__refuse(w, REEF_LOCKED, op), false;
    reef_component c = state_bound(w);
    w->hook_failed.id = 0;
    if (reef__events_keep(w) != REEF_OK) return reef__refuse(w, REEF_NO_MEMORY, op), false;
    if (c.id) return reef__failure(w, REEF_NOT_COPYABLE, op, c, (reef_entity){0, 0}, 0), false;
    reef__quarantine_world(w, op);
    return true;
}

/* Records that there was no memory for a copy, or that a construct hook refused; then the error names its type. */
static reef_status refuse_copy(reef_world *w, const char *op)
{
    return reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
}

/* ---- snapshots ---- */

reef_snapshot *reef_snapshot_take(reef_world *w)
{
    static const char op[] = "reef_snapshot_take";
    if (!share_allowed(w, op)) return NULL;
    family *f = w->family;
    reef_snapshot *s = reef__memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, sizeof *s, PLAIN_ALIGN);
    resets r = {0};
    query_list *queries = NULL;
    if (s == NULL || !reef__queries_hand_on(w, &queries) || !reef__readers_note(w) || !reef__resets_place(w, &r) ||
        !reef__state_copy(f, &s->state, &w->state)) {
        reef__query_list_leave(f, queries);
        reef__resets_undo(w, &r);
        reef__memory_free(&f->memory, MEMORY_OTHER, s, sizeof *s);
        return refuse_copy(w, op), NULL;
    }
    s->family = f;
    s->config = w->config;
    s->converted = 0;
    s->moved = rows_moved(w);
    s->destroyed = w->destroyed;
    s->script_serial = reef__scripts_serial(w);
    s->hot = w->hot;
    reef__state_share(f, &s->hot, &s->state, &w->hot, &w->state);
    const paged_owner chunks = reef__owner_of(f, &reef__pages_chunks);
    reef__paged_keep(&s->hot.chunks, &chunks, true);
    s->schedule = reef__schedule_hold(f, w->schedule);
    s->queries = queries;
    reef__family_add(f, false);
    reef__member_join(&s->member, &s->state, NULL);
    reef__invalidate(w, INVALIDATE_STATE_SHARED);
    if (reef__resets_take_back(w, &r)) return s;
    reef_snapshot_free(s);
    reef__resets_undo(w, &r);
    return refuse_copy(w, op), NULL;
}

void reef_snapshot_free(reef_snapshot *s)
{
    if (s == NULL || s->hot.library != &reef__library) return;
    family *f = s->family;
    const paged_owner chunks = reef__owner_of(f, &reef__pages_chunks);
    reef__member_leave(&s->member);
    reef__paged_keep(&s->hot.chunks, &chunks, false);
    reef__state_drop(f, &s->hot, &s->state);
    reef__schedule_leave(f, s->schedule);
    reef__query_list_leave(f, s->queries);
    reef__memory_free(&f->memory, MEMORY_OTHER, s, sizeof *s);
    reef__family_leave(f, false);
}

COLD void reef__snapshot_become(reef_snapshot *a, reef_snapshot *b)
{
    static mutex lock = MUTEX_INIT;
    static uint64_t conversions;
    mutex_lock(&lock);
    b->converted = ++conversions;
    mutex_unlock(&lock);
    b->script_serial = a->script_serial;
    const reef_snapshot was = *a;
    const family_member in_a = a->member, in_b = b->member;
    *a = *b;
    *b = was;
    a->member = in_a;
    b->member = in_b;
}

/* ---- forks ---- */

/* Makes a world that begins with this state. NULL: no memory. */
static COLD reef_world *world_begin(family *f, const reef_world_config *config, const reef_hot *hot, const state *from)
{
    reef_world *w = reef__memory_zeroed(&f->memory, MEMORY_OTHER, sizeof *w);
    if (w == NULL || !reef__state_copy(f, &w->state, from)) {
        reef__memory_free(&f->memory, MEMORY_OTHER, w, sizeof *w);
        return NULL;
    }
    w->family = f;
    w->config = *config;
    w->hot = *hot;
    reef__block_indexes_begin(w);
    w->hot.number = reef__world_number();
    w->error.operation = "";
    w->debug = &reef_debug_layout;
    reef__state_share(f, &w->hot, &w->state, hot, from);
    reef__family_add(f, true);
    reef__member_join(&w->member, &w->state, w);
    reef__invalidate(w, INVALIDATE_STATE_SHARED);
    reef__stores_view(w);
    reef__invalidate(w, INVALIDATE_MARKS_MADE);
    reef__names_changed(w);
    return w;
}

reef_world *reef__world_restorable(reef_world *w)
{
    static const char op[] = "reef_fork";
    if (!share_allowed(w, op)) return NULL;
    resets r = {0};
    if (!reef__readers_note(w) || !reef__resets_place(w, &r)) return refuse_copy(w, op), NULL;
    reef_world *fork = world_begin(w->family, &w->config, &w->hot, &w->state);
    if (fork) reef__invalidate(w, INVALIDATE_STATE_SHARED);
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
    reef_world *fork = reef__world_restorable(w);
    if (fork && (!reef__scripts_fork(fork, reef__scripts_serial(w)) || !reef__queries_follow(fork, w))) {
        reef_world_free(fork);
        return refuse_copy(w, "reef_fork"), NULL;
    }
    if (fork) reef__removals_forget(fork);
    if (fork && w->indexes) w->indexes->share(w->indexes, fork);
    return fork;
}

reef_world *reef__snapshot_restorable(const reef_snapshot *s)
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
    if (s && s->hot.library != &reef__library) return NULL; /* another copy of reef took it */
    reef_world *fork = s ? reef__snapshot_restorable(s) : NULL;
    if (fork && (!reef__scripts_fork(fork, s->script_serial) || !reef__queries_inherit(fork, s->queries))) {
        reef_world_free(fork);
        return NULL;
    }
    if (fork) reef__removals_forget(fork);
    return fork;
}

/* The blank world has no entity, no free id and no time. */
COLD reef_world *reef__world_blank(reef_world *w)
{
    const state from = {.used_types = w->state.used_types,
                        .used_words = w->state.used_words,
                        .map_count = w->state.map_count,
                        .next_unit = 2,
                        .seed = w->config.seed};
    reef_hot hot = {.library = &reef__library, .version = w->hot.version};
    memcpy(hot.maps, w->hot.maps, sizeof hot.maps);
    reef_world *blank = world_begin(w->family, &w->config, &hot, &from);
    if (blank == NULL) return NULL;
    blank->pool = w->pool;
    blank->schedule = reef__schedule_hold(w->family, w->schedule);
    reef__invalidate(blank, INVALIDATE_BLOCKS_MOVED); /* 0 is what a ref has that remembers nothing */
    return blank;
}

/* ---- restoring ---- */

/* Drops all that the world remembers of the state that it leaves: caches, and commands that weren't applied. */
static void world_distrust(reef_world *w)
{
    reef__commands_drop(w, &w->deferred);
    observing_restart(w);
    w->lane_rest = 0; /* the ids set aside for commands belong to the state that is left */
    w->slow &= ~SLOW_DEFERRED;
    reef__events_forget(w);
    edges_forget(w);
    reef__invalidate(w, INVALIDATE_STATE_REPLACED);
    reef__sets_distrust(w);
    reef__stores_view(w);
    reef__names_changed(w);
}

/* Each world has its own view of the family's maps. A state from another fork may have tables of types whose maps this
 * world never saw; then the world, which has seen `seen` of them, takes over the wider view. Answers how many maps it
 * sees now. */
static uint32_t maps_view(reef_world *w, uint32_t seen, const reef_hot *hot, uint32_t map_count)
{
    if (map_count <= seen) return seen;
    memcpy(w->hot.maps, hot->maps, sizeof w->hot.maps);
    return map_count;
}

static void state_put(reef_world *w, const state *s, const reef_hot *hot, uint64_t version)
{
    const uint32_t map_count = maps_view(w, w->state.map_count, hot, s->map_count);
    w->state = *s;
    w->state.map_count = map_count;
    w->hot.records = hot->records;
    w->hot.chunks = hot->chunks;
    w->hot.index_count = hot->index_count;
    w->hot.empty_count = hot->empty_count;
    w->hot.version = version;
    w->hot.fork_version = w->ours_after = hot->fork_version; /* what is ours alone in this state stays so */
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
    world_distrust(w);
}

COLD void reef__state_exchange(reef_world *w, reef_world *other)
{
    const reef_hot hot = w->hot, other_hot = other->hot;
    const state was = w->state, other_was = other->state;
    const uint64_t moved = rows_moved(w), destroyed = w->destroyed, other_moved = rows_moved(other);
    /* no older than any write to either world */
    const uint64_t version = hot.version > other_hot.version ? hot.version : other_hot.version;
    state_put(w, &other_was, &other_hot, version);
    state_put(other, &was, &hot, version);
    moves_put(w, other_moved, other->destroyed);
    reef__readers_arrive(w);
    moves_put(other, moved, destroyed);
}

COLD bool reef__world_adopt(reef_world *w, reef_world *other, bool resets_too)
{
    if (!reef__skips_move(w, other, resets_too)) return false;
    reef__state_exchange(w, other);
    return true;
}

/* Restores a world with values that a rewind leaves alone: the new state is prepared beside the old one, since taking
 * the values over can fail. */
static COLD bool restore_skipping(reef_world *w, const reef_snapshot *s)
{
    reef_world *fresh = world_begin(w->family, &w->config, &s->hot, &s->state);
    bool ok = fresh && reef__world_adopt(w, fresh, false);
    reef_world_free(fresh);
    return ok;
}

static COLD bool restore_plainly(reef_world *w, const reef_snapshot *s)
{
    const uint32_t seen = w->state.map_count;
    if (!reef__state_become(w->family, &w->hot, &w->state, &s->state)) return false;
    w->state.map_count = maps_view(w, seen, &s->hot, s->state.map_count);
    reef__state_share(w->family, &w->hot, &w->state, &s->hot, &s->state);
    w->hot.index_count = s->hot.index_count;
    w->hot.empty_count = s->hot.empty_count;
    if (w->hot.version < s->hot.version) w->hot.version = s->hot.version;
    reef__invalidate(w, INVALIDATE_STATE_SHARED);
    world_distrust(w);
    reef__readers_arrive(w);
    return true;
}

reef_status reef_restore(reef_world *w, const reef_snapshot *s)
{
    static const char op[] = "reef_restore";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (s == NULL) return misuse_refuse(w, op, "the snapshot is NULL");
    if (s->family != w->family) return reef__refuse(w, REEF_OTHER_WORLD, op);
    if (w->locks || w->time_owner) return reef__refuse(w, REEF_LOCKED, op);
    w->hook_failed.id = 0;
    bool ok = REEF_ACQUIRE_U32(&w->family->graph.reset_count) || reef__stores_reset(w) ? restore_skipping(w, s)
                                                                                       : restore_plainly(w, s);
    if (!ok) return refuse_copy(w, op);
    moves_put(w, s->moved, s->destroyed);
    return REEF_OK;
}
