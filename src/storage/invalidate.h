/* What becomes stale when something happens. A world remembers much about its own state, so that calls need not look
 * it up again. reef__invalidate(w, event) is the one place that says what an event makes stale:
 *
 *  event of INVALIDATE_ | version | gates | fresh | ring | fork | rows | tables | marks | moves | cached | state | hash
 *  ---------------------|---------|-------|-------|------|------|------|--------|-------|-------|--------|-------|-----
 *  WRITTEN              |         |       |       |      |      |      |        |       |       |        |       |  x
 *  LOOKED_AT            |    x    |   x   |   x   |  x   |      |      |        |       |       |        |       |
 *  STATE_SHARED         |    x    |   x   |   x   |  x   |  x   |  x   |   x    |       |       |        |       | kept
 *  STATE_REPLACED       |         |       |       |      |      |  x   |   x    |   x   |   x   |   x    |   x   |  x
 *  CHUNKS_RENUMBERED    |         |       |       |      |      |      |        |       |       |   x    |   x   |  x
 *  CONDITION_CHANGED    |         |   x   |       |      |      |      |        |       |       |        |       |
 *  LOOP_OPENED          |         |  shut |   x   |      |      |      |        |       |       |        |       |
 *  INDICES_CHANGED      |         |       |   x   |      |      |      |        |       |       |        |       |
 *  RING_MOVED           |         |       |       |  x   |      |      |        |       |       |        |       |
 *  ROWS_CHANGED         |         |       |       |      |      |  x   |        |       |       |        |       |
 *  BLOCKS_MOVED         |         |       |       |      |      |  x   |        |       |   x   |        |       |
 *  STORES_MOVED         |         |       |       |      |      |      |        |       |       |   x    |       |
 *  TABLES_MADE          |         |       |       |      |      |  x   |   x    |       |       |        |       |
 *  MARKS_MADE           |         |       |       |      |      |  x   |   x    |   x   |       |   x    |       |
 *
 *   version  hot.version is counted up, so that later writes can be told from earlier ones. The leases of a table
 *            (`append` and `lease`) are good for one version, so this ends all leases.
 *   gates    hot.gate_move and gate_destroy, which the fast paths compare with a lease, are set anew, and
 *            hot.cached is emptied. "shut": no lease equals a gate until the next event that sets the gates.
 *   fresh    The indices that the fast paths may give out: none, until fresh_open of src/storage/entity_index.c.
 *   ring     Where the fast path of destroy puts the next free id: not known, until the slow path comes by.
 *   fork     hot.fork_version and ours_after: this world alone holds no block that was written before.
 *   rows     rows_epoch: what queries remember of the rows, blocks and leases of tables.
 *   tables   tables_epoch: pointers into the pages of tables and chunks. The gates of all bundles are closed as well.
 *   marks    disabled_epoch: which stores of marks there are.
 *   moves    hot.moves: the addresses of values that references remember.
 *   cached   The words of bits, and the pages of stores, that were used last.
 *   state    state_epoch: the changes that no version tells.
 *   hash     The hash of the state. "kept": sharing changes nothing that the hash covers.
 *
 * STATE_REPLACED also drops the indexes of blocks (src/storage/block_index.h) and the tables of unique fields
 * (src/storage/unique_field.h), which need no column here.
 *
 * entities_ended and moves_put stand beside it, since they take numbers. The fast paths that make and end rows
 * invalidate nothing. They need a lease, and giving one is ROWS_CHANGED; queries take away the leases of the tables
 * that they look at (reef__rows_look in src/query/table_match.c). */
#ifndef REEF_STORAGE_INVALIDATE_H
#define REEF_STORAGE_INVALIDATE_H

#include "storage/block_index.h"
#include "storage/unique_field.h"

#if defined(QUARANTINE)
#define GUARDED(w) ((w)->family->memory.guarded)
#else
#define GUARDED(w) false
#endif

/* The columns of the table. STALE_SHUT is "shut" in the column of the gates. */
enum {
    STALE_VERSION = 1 << 0,
    STALE_GATES = 1 << 1,
    STALE_SHUT = 1 << 2,
    STALE_FRESH = 1 << 3,
    STALE_RING = 1 << 4,
    STALE_FORK = 1 << 5,
    STALE_ROWS = 1 << 6,
    STALE_TABLES = 1 << 7,
    STALE_MARKS = 1 << 8,
    STALE_MOVES = 1 << 9,
    STALE_LATELY = 1 << 10,
    STALE_STATE = 1 << 11,
    STALE_HASH = 1 << 12,
    STALE_BLOCKS = 1 << 13
};

/* The rows of the table. Two events that happen together may be given as one: A | B. */
enum {
    /* Something of the state is written for the first time at this version. A loop that writes has its own version. */
    INVALIDATE_WRITTEN = STALE_HASH,
    /* Somebody looked at the state, and every later write must be seen, also those of the fast paths that mark
     * nothing. */
    INVALIDATE_LOOKED_AT = STALE_VERSION | STALE_GATES | STALE_FRESH | STALE_RING,
    /* A snapshot or fork has come to share the whole state: no block belongs to this world alone any more. */
    INVALIDATE_STATE_SHARED =
        STALE_VERSION | STALE_GATES | STALE_FRESH | STALE_RING | STALE_FORK | STALE_ROWS | STALE_TABLES,
    /* The world has another state. */
    INVALIDATE_STATE_REPLACED =
        STALE_ROWS | STALE_TABLES | STALE_MARKS | STALE_MOVES | STALE_LATELY | STALE_STATE | STALE_HASH | STALE_BLOCKS,
    /* Chunks went to another table as they were. */
    INVALIDATE_CHUNKS_RENUMBERED = STALE_LATELY | STALE_STATE | STALE_HASH,
    /* Something that gates_set asks has changed: open loops, names, shared records, observers, stores of cold types. */
    INVALIDATE_CONDITION_CHANGED = STALE_GATES,
    /* A loop or a phase has begun: the world is locked. */
    INVALIDATE_LOOP_OPENED = STALE_SHUT | STALE_FRESH,
    /* The slow path gave out indices, took them back, or wrote their records. */
    INVALIDATE_INDICES_CHANGED = STALE_FRESH,
    /* The ring of free ids has other pages or another end. */
    INVALIDATE_RING_MOVED = STALE_RING,
    /* A table got other rows, or a lease. */
    INVALIDATE_ROWS_CHANGED = STALE_ROWS,
    /* Blocks of values went to another address, or values to another row, without their entities. */
    INVALIDATE_BLOCKS_MOVED = STALE_ROWS | STALE_MOVES,
    /* Bit stores or value stores, or their pages, went to another address. */
    INVALIDATE_STORES_MOVED = STALE_LATELY,
    /* Pages of tables or chunks were made or copied, or a table is used for the first time. */
    INVALIDATE_TABLES_MADE = STALE_ROWS | STALE_TABLES,
    /* A store of marks was made: queries test it from now on. */
    INVALIDATE_MARKS_MADE = STALE_ROWS | STALE_TABLES | STALE_MARKS | STALE_LATELY
};

/* A fast path is open while the lease of a table equals the gate. The gates of a world are its version, or
 * UINT64_MAX, which no lease is. */
INLINE void gates_set(reef_world *w)
{
    const bool shut = w->locks || w->hot.records.shared || GUARDED(w) || w->slow & SLOW_WATCHED;
    w->hot.gate_move = shut ? UINT64_MAX : w->hot.version;
    w->gate_destroy = w->slow & SLOW_BOUND ? UINT64_MAX : w->hot.gate_move;
    w->hot.cached.component = REEF_LATELY_NONE;
}

void reef__bundles_distrust(reef_world *w); /* closes the gates of all bundles */

/* `event` is a constant, so that only what it makes stale is compiled. */
INLINE void reef__invalidate(reef_world *w, uint32_t event)
{
    const bool hashed = (event & STALE_FORK) != 0 && w->hashed == w->hot.version;
    if (event & STALE_HASH) w->hashed = 0;
    if (event & STALE_FORK) w->hot.fork_version = w->ours_after = w->hot.version;
    if (event & STALE_MOVES) w->hot.moves++, w->shifted++;
    if (event & STALE_STATE) w->state_epoch++;
    if (event & STALE_MARKS) w->disabled_epoch++;
    if (event & STALE_TABLES) {
        w->tables_epoch++;
        if (w->bundles_ready) reef__bundles_distrust(w);
    }
    if (event & STALE_ROWS) w->rows_epoch++;
    if (event & STALE_LATELY) {
        w->hot.cached.component = REEF_LATELY_NONE;
        for (uint32_t i = 0; i < w->state.store_count; i++)
            w->state.stores[i].cached_gate = w->state.stores[i].relation_gate = 0;
    }
    if (event & STALE_BLOCKS) {
        reef__block_indexes_drop(w);
        uniques_drop(w);
    }
    /* A loop asks first: the rows of small loops mostly wait to be stored themselves, and each store comes on top. */
    if (event & STALE_FRESH && (!(event & STALE_SHUT) || UNLIKELY(w->hot.fresh_end != 0))) w->hot.fresh_end = 0;
    if (event & STALE_RING) w->ring_next = w->ring_end = NULL;
    if (event & STALE_VERSION) w->hot.version += VERSION_STEP;
    if (event & STALE_GATES) gates_set(w);
    if (event & STALE_SHUT) {
        w->hot.gate_move = w->gate_destroy = UINT64_MAX;
        w->hot.cached.component = REEF_LATELY_NONE;
    }
    if (hashed) w->hashed = w->hot.version;
}

/* An operation begins that may make values: which hook fails is found out, and what earlier operations entered into the
 * tables of unique fields counts only if it is so. */
INLINE void values_begin(reef_world *w)
{
    w->hook_failed.id = 0;
    w->operation++;
    w->taken.generation = 0;
}

/* Empties the cache of edges, which points into pages of tables. */
INLINE void edges_forget(reef_world *w)
{
    if (!w->edges_cached) return;
    memset(w->edge_cache, 0, sizeof w->edge_cache);
    w->edges_cached = false;
}

/* hot.moves counts everything after which a remembered address may be wrong: rows that moved, blocks that moved
 * (`shifted`) and entities that ended (`destroyed`). */
INLINE uint64_t rows_moved(const reef_world *w) { return w->hot.moves - w->destroyed - w->shifted; }
INLINE void entities_ended(reef_world *w, uint64_t n)
{
    w->hot.moves += n;
    w->destroyed += n;
}
/* The world takes over the statistics of another state. hot.moves never goes back. */
INLINE void moves_put(reef_world *w, uint64_t moved, uint64_t destroyed)
{
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
    w->destroyed = destroyed;
    w->shifted = w->hot.moves - destroyed - moved;
}

/* To be called when entities got values of a type: if it is in REEF_COLD, whoever destroys an entity has to look for
 * them from now on. */
INLINE void cold_added(reef_world *w, const type *t)
{
    if (UNLIKELY(!t->bit) && !(w->slow & SLOW_COLD))
        w->slow |= SLOW_COLD, reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
}

#endif
