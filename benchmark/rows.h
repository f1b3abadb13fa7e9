/* The benchmark's rows: the executable definition.
 *
 * A contestant implements each row as functions (row_impl). Two contestants run in one process, interleaved:
 *
 *     repeat R times (default 7), the order alternating:
 *         for both:  setup -> [ run ] -> checksum -> teardown         only [ run ] is timed
 *
 * Time is that of the thread (measure.c), so other programs on the machine only take caches, not time. Every repeat is
 * a fresh world in cold memory (mem.h). The figure is the median of the R times divided by the row's operations; the
 * checksums of all repeats of both contestants must agree, and no contestant may hold memory after teardown. The loops
 * over user data (kernels.h) are one piece of machine code, called by both.
 *
 * `raw` is the program that a careful person writes by hand without an ECS: an array a component, an array of entity
 * numbers beside it, an index entity -> row (4 bytes), doubling growth from 64, swap-remove. Handles are plain numbers,
 * never checked. A change that makes raw slower is a mistake in the benchmark, never a win for reef.
 *
 * What holds for every row
 *   - Handles: the caller keeps them in an array of its own, allocated and touched before the timer (raw: 4 bytes each,
 *     reef: reef_entity). Shuffled rows walk an array shuffled before the timer, one load an operation; nobody computes
 *     ids[perm[i]] inside it.
 *   - reef goes through its public one-at-a-time call, with generation checks and change marks, unless the row says
 *     bulk or batch. Components, queries and bundles are declared in setup; tables that a row would make on first
 *     use (the destination of an add) are not: the first add makes them, inside the timer.
 *   - One pass of an iter_ row is one loop over a query: it takes a new write version, so change marks are paid each
 *     pass.
 *   - Values: pos_of(i), vel_of(i) for the i-th entity made, except where the row says {1,1}. All arithmetic is
 *     exact, so that contraction to FMA changes no bit.
 *   - create_ rows start from a world ready to use, with no entity and no reserved memory.
 *
 * Row by row, where the table below is not enough
 *   create_0          handle stored; raw appends one index entry
 *   create_2          {1,1} both; handle stored; columns grow as they must, nothing reserved
 *   create_2_bulk     one call for 1,000,000; one value a component, repeated; handles returned in the caller's array
 *   create_8          P, V, C3..C8, all floats 1
 *   prefab_1k         one call makes 1,000 copies of a template with 5 children, all with P, V, C3 and C4 (floats 1).
 *                     Each child is related to the root of its copy, and the root to the template. Op: an entity, of
 *                     6,000. raw: raw of create_8 for 6,000 entities, without relations
 *   prefab_one        the same 1,000 copies, each by a call of its own. Op: a copy of six entities. raw as of prefab_1k
 *   destroy_2, _rand  by handle, in creation order / shuffled, until nothing is left; freeing the world is not timed
 *   add_remove_*      pair = add + remove; first all adds in creation order, then all removes; the added Velocity is
 *                     set to {1,1}. _1, _tag, _tag_bit: first pass of a fresh world. _1_warm and _8 (P, C3..C8 + V):
 *                     setup plays the first pass, the second is timed. raw of _tag_bit is raw of _tag (a table move
 *                     of P)
 *   add_remove_sparse, add_remove_paged, add_remove_8_sparse   the same with Velocity outside of the rows; raw as of
 *                                                              add_remove_1,
 *                     add_remove_8
 *   get_rand_paged, set_rand_paged   get_rand, set_rand with Position in pages indexed by the entity; raw as of those
 *   get_rand          handle -> const Position, both floats read; _small: 10,000 entities, 100 passes
 *   get_rand_many     the batch call on 500 handles at a time into the caller's buffer, then the sum over the buffer;
 *                     raw has no batch call: it is raw of get_rand
 *   ref_get           get_rand through references, one for each entity, in the shuffled order: made and asked once
 *                     before the
 *                     timer. raw is raw of get_rand
 *   set_rand          the i-th shuffled entity gets {i, 2} through the pointer for writing
 *   has_rand          odd entities have Velocity, even ones don't. raw keeps the table number in the top bit of the
 *                     index entry (4 bytes an entity, as in every other row), not in a byte of its own
 *   iter_2_half       even entities P+V, odd ones P, made in turn; only P+V are matched and counted
 *   iter_5            reads x and y of P, V, C3, C4, C5, writes P
 *   iter_frag_26      counts are data (no constant 20 or 26); factor alternates 2, 0.5
 *   iter_frag_1k      entity i has the tags of the bits of i % 1024; made in that order; 97 or 98 entities a table
 *   iter_frag_1k_bit  100,000 entities in one table, ten random bit tags (bench_tags); those with the first. Op:
 *                     matched
 *   iter_bit          1,000,000 rows, bench_tags bit 0 = enabled. Op: matched entity. Rows not matched stay as they are
 *   empty_system      one frame = one tick of 100 systems through the scheduler; 1,000 frames. raw: a table of
 *                     {function, array, count}, called in turn through the pointer
 *   deferred_ar       iterate, queue "add Velocity" (zero value) for each; flush; iterate, queue "remove"; flush. The
 *                     buffer starts empty and grows inside the timer. raw: a queue of ids, applied one by one
 *   spawn_par         a parallel system over 62,500 rows makes 16 entities with Position and Velocity for each, on
 *                     2 threads; what its commands do is inside the timer, which is the clock on the wall
 *   cmd_instantiate   one tick, on one thread: for each of 100,000 entities with Data a system records a copy of a
 *                     prefab of P, V, C3 and C4 (floats 1) with a Position and a Velocity of its own. raw's column:
 *                     reef, where the system spawns the same four components
 *   cmd_instantiate_mixed   the same with two prefabs in turn, so that no two commands in a row are alike
 *   cmd_relate        rel_add by commands of a system over the sources, in one tick. raw's column: reef, by reef_relate
 *   par_heavy_1, _2   one tick of a system that runs 200 rounds of x = x * 0.5 + y for each Position, without a pool
 *                     and on 2
 *                     threads. _2 is the speed-up: the time without a pool (in raw's column, as ns an entity)
 *                     divided by that with it; the clock on the wall
 *   frame_mixed       ten ticks of a small game (docs/rules/performance.md), on 2 threads; in raw's column without a
 *                     pool; the clock on the wall
 *   game_10k          the 99th percentile of 600 ticks of examples/dive with 10,000 creatures of all kinds, on
 *                     2 threads; the clock on the wall. The game runs in a process of its own (dive_headless
 *                     --measure), because it has types of its own. No baseline
 *   rollback_8        the median of: the game of game_10k goes back 8 ticks, and plays them again. In raw's column: 8
 *                     ticks of the same game without a history, measured in turn. The clock on the wall, 2 threads
 *   net_tick          the median update of a player among four in one process, in which a tick is due: receiving,
 *                     encoding and sending, with a step of four dots; inputs of 8 bytes, signed by Ed25519, processor
 *                     time (net/net.c). In raw's column: without signatures. Left out where the add-on isn't built
 *   view_64           the median share of one of 64 clients in an update of reef_net_views: 100,000 entities, of which
 *                     5,000 move and 1,000 change otherwise; each client sees about 150; processor time of one thread
 *                     (net/view.c). In raw's column: a loop that looks, for each client, at each entity
 *   inspect_idle, _open  the median tick of the living reef with 150,000 fish and an inspector: while nobody looks, and
 *                     while a client has its overview open; in raw's column without calling the inspector. A process of
 *                     its own, one thread, whose own time is measured (inspect/inspect.c). Left out where the add-on
 *                     isn't built
 *   event_rw          one tick: a system sends 1,000,000 events of 16 bytes, the next one reads them, on one thread.
 *                     Setup played
 *                     one tick, so that the memory for them is there. No baseline
 *   observer_add      add only; the observer is a user's function that counts, called through a pointer for each entity
 *   add_remove_1_hooks, _tracked, _snapshot   add_remove_1_warm with a component that has a copy and a destroy hook, or
 *                     track_rows; with a plain one right after a snapshot that is held, so that what is shared is
 *                     copied on the way. In raw's column: reef's add_remove_1_warm
 *   obs_set, obs_add  reef_set of a Velocity that an observer watches: of one that is there, or of one that isn't.
 *                     The observer counts. In raw's column: reef without the observer, where the caller counts
 *   obs_add_collected the same as obs_add, by a collected observer, outside of a flush
 *   obs_unrelated     100,000 entities with Position and Velocity are made, set and related to others, and half of them
 *                     are destroyed, while there is an observer of a tag that nobody uses. In raw's column: without it
 *   spawn_hooks, _tracked, _observed   entities with two components are spawned by a list and destroyed: one of the
 *                     two has a copy and a destroy hook, or is tracked, or an observer is told that it comes and goes
 *   spawn_sparse, _switch   the same where the second one is in REEF_SPARSE, or a switch
 *   change_list       an entity goes from one state to another and back, each time by one reef_change of three
 *                     components. In raw's column: reef by three calls of one component each
 *   spawn_deferred_loop   a loop that records commands makes an entity with Position and Velocity for each that it
 *                     finds; the loop's end, which makes them, is in it. No baseline
 *   rel_add           100,000 entities are related to 1,000 others by an exclusive relation, entity i to
 *                     bench_target(i).
 *                     raw: an array with the target of each entity, and for each target a list of its sources that
 *                     doubles from 4
 *   rel_retarget      then each source in turn goes to the next target behind its own, by reef_retarget. raw takes it
 *                     out of its target's list by putting the last one there (a source knows its place), and appends
 *                     it to the other list
 *   rel_remove        instead, each relation in turn is ended, by reef_unrelate and reef_remove alternately. raw: the
 *                     first half of rel_retarget
 *   rel_iter          then for each target in turn all of its sources are visited, and the sum of their numbers made;
 *                     20 times. Op: a source
 *   rel_grouped       the same relation, but grouped (REEF_GROUPED), after a tick: for each target in turn the x of all
 *                     of its sources' Positions are written, 20 times. Op: a source. raw: an array in groups, and where
 *                     each begins
 *   rel_group_named   the same as rel_grouped by the query "Position, with DockedAt". raw's column: reef without naming
 *                     the relation
 *   rel_group         after 1,000 sources got another target, a tick of a world without systems puts them into their
 *                     groups. Op: a row. raw: a counting sort to new arrays. (checksum: all relations, and how many
 *                     times two neighbours have different targets)
 *   snapshot          P+V+Data; after a write pass over P. raw: memcpy of all five arrays to memory already touched
 *   restore           from a snapshot, after a write pass over P; raw copies back in place. Freeing the old state is
 *                     not timed: a snapshot holds it. (checksum: state as at the snapshot; for snapshot: after a
 *                     further write pass, so a shallow copy fails)
 *
 * Copies of a world: the world of snapshot unless another one is named. Caches are cold: setup ends with a pass over
 * the data. Where a row has a second column, that is reef itself doing the same work without a fork or history, in a
 * world of its own, in raw's place.
 *   fork              reef_fork, after a write pass over P. Setup made a fork before and dropped it, so that the memory
 *                     of the world's struct is touched. (checksum: the fork's values, after a write pass over the
 *                     other)
 *   fork_1k_tables    the same in the world of iter_frag_1k
 *   fork_first_write  one loop p += v*dt after a fork, so that all of P is copied. Setup played it once, with a fork
 *   that
 *                     was then dropped: the blocks to copy to are there and their memory is touched, as in a program
 *                     that forks again and again
 *   fork_first_cold   the same for the first fork of a world: the memory comes from the system inside the timer
 *   fork_100_scattered   100,000 entities: reef_fork, 100 Positions at random are written in the fork through reef_mut,
 *                     and the fork is freed. raw: a copy of all four arrays, whose memory was touched, gets the writes.
 *                     Setup played it once, as that of fork_first_write (checksum: all Positions of the world and of
 *                     the last fork)
 *   small_world_tick  100 entities with Position and Velocity, of which half have Data, and four systems that write
 *                     all values: reef_restore of a snapshot and reef_tick. raw: a memcpy of the arrays back, and
 *                     four loops
 *   small_worlds_1000 a tick of 1,000 such worlds, one after the other. raw's column: reef, a tick of one world with
 *                     all entities (checksum: the number of entities)
 *   rollback_60       a tick: take a snapshot, free the oldest of 60, p += v*dt for all. 60 ticks; setup played 120, so
 *                     blocks are recycled. (checksum: all 60 states that are kept, by restoring each)
 *   rollback_60_sparse  the same; only the first 10,000 rows are written, by a loop that is left early
 *   rewind            in rollback_60's world: restore the state of 60 ticks ago. A snapshot holds the state that is
 *                     left
 *   drop_state        then free that snapshot, and with it all blocks that no other state has
 *   state_hash_same   reef_hash again; nothing was written since the last one, a snapshot was taken
 *   state_hash_1pct   p += v*dt for the first 10,000 rows since the last hash
 *   state_hash_scattered  the same for every hundredth row, through reef_mut
 *   state_hash_all    all of P, V and Data was written since the last hash; the handles stay (48 bytes of 56)
 *   state_hash_first  never hashed: all 56 bytes, and memory for the hashes that are kept
 *                     (checksums: a world restored to a state that was never hashed, with the same changes, has the
 *                     same hash, and it isn't that of the state before, unless nothing changed)
 *   diff              two states, the second after p += v*dt for the first 10,000 rows: reef_diff_new, all changes
 *                     walked and
 *                     counted, reef_diff_free
 *   diff_scattered    the same where every hundredth row was written, through reef_mut
 *                     (checksum: each change is that of one of these rows, with its old and its new value)
 *   save              reef_save of 56 bytes an entity over a file that is there, in memory (/dev/shm; where there is
 *                     none, in the
 *                     current folder), unsynced
 *   save_synced       the same in the current folder, synced: what the disk takes. No target
 *   load              reef_load of that file into an empty world
 *                     (checksums: what was written, loaded into another world, is the same state)
 *   sql_scan          reef_sql_run "select sum(x) from Position" in a session that is open. raw: the same statement on
 *                     a table of the same rows in an SQLite database in memory
 *   sql_scan_c        the same. raw: a loop in C over an array
 *   sql_join          "select sum(p.x * v.x) from Position p join Velocity v using (id)". raw: the same statement on
 *                     two tables of SQLite
 *   sql_commit        reef_sqlite_commit after the first 10,000 positions were written, into a file in memory. raw: the
 *                     same rows of a table by a prepared UPDATE, in one transaction of the same kind (write-ahead log,
 *                     synchronous)
 *   sql_commit_scattered  the same where every hundredth row was written (checksums: the table that is in the file)
 *   sql_commit_all    the same where every row was written
 *   sql_open          reef_sqlite_open of a file with the world. raw: both tables are read by SELECT, into arrays
 *   query_build       in the world of iter_frag_1k: make the query "in Position, in Velocity" from a text, visit
 *                     every block once, but not
 *                     its rows, free it; 1,000 times. No baseline
 *   query_join        100,000 entities with Position, each docked to one of 10,000 ports (join_port), of which three
 *                     in four have a Velocity. For each whose port has one p += v*dt, in reef by the query "Position,
 *                     DockedTo($port), in Velocity($port)". Op: an entity. raw: an array of port numbers beside the
 *                     positions; a port's index entry has the number of its table in the top bit
 *   value_term        1,000,000 entities with a whole number, at random; the query "Level(of < 50)" is asked how many
 *                     entities it has, which are half of them. Op: an entity. No baseline
 *   match_new         256 queries, each for Position and two of 24 tags, and a table that matches each. An entity is
 *                     made in a new table, which one of the queries matches, and then each query is asked how many
 *                     entities it has. Op: a new table. No baseline
 *   changed_rows      1,000,000 entities with a component of 8 bytes that has track_rows; the query "changed in
 *                     Tracked" ran. One of each hundred (bench_sparse) is written through reef_mut, and one loop visits
 *                     these, row by row. Op: a change. No baseline
 *   iter_sparse       1,000,000 rows with Position; one of each hundred (bench_sparse) also has a sparse Velocity,
 *                     given to them in the
 *                     order in which they were made. p += v*dt, reef row by row (reef_each), as raw. Op: matched
 *                     entity. raw: row numbers and velocities, packed
 *   iter_changed      1,000,000 rows in one table; the query "Position, changed in Velocity" ran, then one velocity
 *                     in each
 *                     hundredth block was written. One loop p += v*dt. Op: a row of those ten blocks. No baseline
 *   bulk_add_query    1,000,000 entities with Position; one call adds Velocity (zero) to all that the query
 *                     "Position" matches. Setup
 *                     played it once and took Velocity away again: the column's memory is there, as in a program
 *                     that adds and removes again and again. (checksum: positions by handle, velocities in the order
 *                     of a loop.) No baseline
 *   bulk_add_cold     the same for the first time: the memory comes from the system inside the timer, 8 MB of page
 *                     faults
 *   sort_repair       1,000,000 rows in one table, ordered by Position's x, which is all over the place; the query
 *                     was walked
 *                     once, then all x in each hundredth block (10,240 rows) were written with other values that belong
 *                     elsewhere. One loop begins (and repairs the order) and walks to its end. Op: a row. No baseline
 *                     (checksum: of x in the order)
 *   hier_build        a tree of 100,000 nodes, ten children for each, created level by level with {0,0} and vel_of(i);
 *                     each is related to its parent by ChildOf. raw: a column with the row of the parent
 *   tree_build_spawn  the same with a single call for each node: reef_spawn with ChildOf among the values. raw as of
 *                     hier_build
 *   tree_reparent     a tree of 111,111 nodes, ten children for each; then 11,111 nodes at random get another parent at
 *                     random (bench_tree_move). raw: each node has its parent, its first child and its siblings on both
 *                     sides; it looks up the ways to the root, unlinks the node, and puts it in front of the others
 *   hier_walk         position = position of the parent + velocity, parents first, 20 times. Rows lie level by level,
 *                     as they were created. raw: one loop by the column of parents. reef: a query in the order of
 *                     ChildOf; setup walked once, which made its list
 *   hier_walk_moved   the same after each tenth node got another parent at random (bench_tree_move); nothing was sorted
 *                     since. raw: a list of the rows by depth, made in setup. reef: its list, made by a walk in setup
 *   hier_sort         what brings the rows of that tree back into the order of hier_walk: reef_sort_storage by ChildOf;
 *                     raw counts the children, numbers level by level, and copies its arrays
 *   destroy_tree      the tree of hier_build is destroyed by its root. raw: one pass marks what is below it, and the
 *                     others, of which there are none, would close up
 *   world_new         make and free an empty world that is ready to declare components in
 *   mem_2             not a time: mem_live after 1,000,000 creates minus before; handles not kept. Arenas count whole
 *   mem_table         not a time: mem_live after 10,000 entities, each with Position, Velocity and a set of tags
 *                     that no other has (entity i: the bits of i + 1 over 14 tags), minus before. The rows, the
 *                     index and all that grows with the number of tables are in it. raw has no tables to speak of:
 *                     no baseline
 *   arch_10k          10,000 entities with a set of tags that no other has (entity i: the bits of i + 1
 *                     over 14 tags). Op: a new table with its entity. No baseline
 *   arch_10k_mem      not a time: mem_live after arch_10k minus before
 *   index_get         1,000,000 entities with random numbers of 32 bits: 100,000 look-ups of one number each. raw: a
 *                     hash map, and from each entity the next one with its value. Op: a look-up
 *   index_range       100 ranges of about 1,000 of them, summed up. raw: a sorted array. Op: a result
 *   index_join        100,000 entities that want a number, each with those of 100,000 that have it. raw: an array and
 *                     the map. Op: one that wants
 *   value_join        index_join by a query: "Wanted(id as $n), Number($o, id == $n)". raw: that of index_join
 *   index_refresh, _scattered   one in a hundred of them got another number, those of ten blocks or of all: the
 *                     index is brought up to date and asked once. No baseline. Op: a changed entity
 *   near_10           100,000 points at random, in 2D, about ten in a circle of radius 1. Each asks for those around it
 *                     and sums up pushes away from them. raw: a uniform grid of counted cells of side 1, whose rows are
 *                     looked at in a loop that sums as it goes. Op: a point
 *   near_ghosts       near_10 in a tick of a rank: one in ten is a ghost, which is found but doesn't ask; the others
 *                     moved, and the picture is made first. raw: the counting sort, and the same questions. Op: a point
 *   pairs             near_10 over all pairs, each once; raw looks at half of the cells around. Op: a point
 *   pairs_2           pairs on 2 threads; in raw's column on one; the clock on the wall
 *   place_refresh     1,000,000 such points have moved by a tenth of a cell: the picture is made anew and asked once.
 *                     raw: the counting sort
 *   place_bytes       not a time: what the picture of 1,000,000 points takes. No baseline
 *   mem_rel           not a time: mem_live after 1,000,000 entities were related to as many others, each to one, minus
 *                     before; the relation itself is in it. No baseline
 *
 * Adding a row: a line in ROWS, its definition above, an entry in a row list of raw (raw.c, raw_frame.c) and in one of
 * reef (reef_*.c; a new list goes into reef_rows.c), its target in targets.tsv. A row that only one of them can play
 * has no baseline: reef's entry then carries `expected`. Rows that reef has no entry for are run by --self alone. */
#ifndef ROWS_H
#define ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
typedef struct Vec4 { /* C3..C8 */
    float v[4];
} Vec4;
typedef struct Data {
    uint64_t a, b, c, d;
} Data;

/* query_join: the port of ship i, and does port k have a Velocity? */
enum { JOIN_PORTS = 10000 };
static inline uint32_t join_port(uint32_t i) { return (uint32_t)((uint64_t)i * 7919 % JOIN_PORTS); }
static inline bool join_open(uint32_t k) { return k % 4 != 3; }

#define N_1M 1000000u
#define N_100K 100000u
#define N_10K 10000u
#define N_1K 1000u
#define N_10M 10000000u

/* name, N, tables, passes inside one run, operations a pass (0: the matched rows, bench_matched(N)), unit */
#define ROWS(X) \
    X(create_0, N_1M, 1, 1, N_1M, NS) \
    X(create_2, N_1M, 1, 1, N_1M, NS) \
    X(create_2_bulk, N_1M, 1, 1, N_1M, NS) \
    X(create_8, N_100K, 1, 1, N_100K, NS) \
    X(prefab_1k, 6000u, 1, 1, 6000u, NS) \
    X(prefab_one, 6000u, 1, 1, 1000u, NS) \
    X(destroy_2, N_1M, 1, 1, N_1M, NS) \
    X(destroy_2_rand, N_1M, 1, 1, N_1M, NS) \
    X(add_remove_1, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_1_warm, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_8, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_tag, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_tag_bit, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_sparse, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_paged, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_8_sparse, N_100K, 2, 1, N_100K, NS) \
    X(get_rand, N_1M, 1, 1, N_1M, NS) \
    X(get_rand_paged, N_1M, 1, 1, N_1M, NS) \
    X(get_rand_small, N_10K, 1, 100, N_10K, NS) \
    X(get_rand_many, N_1M, 1, 1, N_1M, NS) \
    X(set_rand, N_1M, 1, 1, N_1M, NS) \
    X(set_rand_paged, N_1M, 1, 1, N_1M, NS) \
    X(ref_get, N_1M, 1, 1, N_1M, NS) \
    X(has_rand, N_1M, 2, 1, N_1M, NS) \
    X(iter_1, N_1M, 1, 20, N_1M, NS) \
    X(iter_2_1k, N_1K, 1, 8000, N_1K, NS) \
    X(iter_2_10k, N_10K, 1, 800, N_10K, NS) \
    X(iter_2_1m, N_1M, 1, 20, N_1M, NS) \
    X(iter_2_10m, N_10M, 1, 4, N_10M, NS) \
    X(iter_2_half, N_1M, 2, 20, N_1M / 2, NS) \
    X(iter_5, N_1M, 1, 10, N_1M, NS) \
    X(iter_frag_26, 520u, 26, 4000, 520u, NS) \
    X(iter_frag_1k, N_100K, 1024, 80, N_100K, NS) \
    X(iter_frag_1k_bit, N_100K, 1, 80, 0, NS) \
    X(iter_bit, N_1M, 1, 20, 0, NS) \
    X(iter_sparse, N_1M, 1, 20, N_1M / 100, NS) \
    X(iter_changed, N_1M, 1, 1, 10240u, NS) \
    X(sort_repair, N_1M, 1, 1, N_1M, NS) \
    X(query_build, N_100K, 1024, 1000, 1, US) \
    X(query_join, N_100K, 2, 20, N_100K, NS) \
    X(value_term, N_1M, 1, 20, N_1M, NS) \
    X(match_new, 256u, 1, 256, 1, US) \
    X(changed_rows, N_1M, 1, 1, N_10K, NS) \
    X(arch_10k, N_10K, N_10K, 1, N_10K, NS) \
    X(bulk_add_query, N_1M, 1, 1, N_1M, NS) \
    X(bulk_add_cold, N_1M, 1, 1, N_1M, NS) \
    X(empty_system, 100u, 100, 1000, 100u, NS) \
    X(deferred_ar, N_100K, 2, 1, N_100K, NS) \
    X(spawn_par, N_1M, 1, 1, N_1M, NS) \
    X(cmd_instantiate, N_100K, 1, 1, N_100K, NS) \
    X(cmd_instantiate_mixed, N_100K, 1, 1, N_100K, NS) \
    X(cmd_relate, N_100K, N_1K, 1, N_100K, NS) \
    X(par_heavy_1, N_100K, 1, 1, N_100K, NS) \
    X(par_heavy_2, N_100K, 1, 1, N_100K, SPEEDUPS) \
    X(frame_mixed, N_100K, 8, 10, 1, US) \
    X(game_10k, N_10K, 1, 1, 1, US) \
    X(rollback_8, N_10K, 1, 1, 1, US) \
    X(net_tick, 4u, 1, 1, 1, US) \
    X(view_64, 64u, 1, 1, 1, US) \
    X(inspect_idle, 150000u, 1, 1, 1, US) \
    X(inspect_open, 150000u, 1, 1, 1, US) \
    X(event_rw, N_1M, 1, 1, N_1M, NS) \
    X(observer_add, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_1_hooks, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_1_tracked, N_100K, 2, 1, N_100K, NS) \
    X(add_remove_1_snapshot, N_100K, 2, 1, N_100K, NS) \
    X(obs_set, N_100K, 1, 1, N_100K, NS) \
    X(obs_add, N_100K, 2, 1, N_100K, NS) \
    X(obs_add_collected, N_100K, 2, 1, N_100K, NS) \
    X(obs_unrelated, N_100K, 2, 1, N_100K, NS) \
    X(spawn_hooks, N_100K, 2, 1, N_100K, NS) \
    X(spawn_tracked, N_100K, 2, 1, N_100K, NS) \
    X(spawn_observed, N_100K, 2, 1, N_100K, NS) \
    X(spawn_sparse, N_100K, 2, 1, N_100K, NS) \
    X(spawn_switch, N_100K, 2, 1, N_100K, NS) \
    X(change_list, N_100K, 2, 1, N_100K, NS) \
    X(spawn_deferred_loop, N_100K, 2, 1, N_100K, NS) \
    X(rel_add, N_100K, N_1K, 1, N_100K, NS) \
    X(rel_retarget, N_100K, N_1K, 1, N_100K, NS) \
    X(rel_remove, N_100K, N_1K, 1, N_100K, NS) \
    X(rel_iter, N_100K, N_1K, 20, N_100K, NS) \
    X(rel_grouped, N_100K, N_1K, 20, N_100K, NS) \
    X(rel_group_named, N_100K, N_1K, 20, N_100K, NS) \
    X(rel_group, N_100K, N_1K, 1, N_100K, NS) \
    X(snapshot, N_1M, 1, 1, N_1M, NS) \
    X(restore, N_1M, 1, 1, N_1M, NS) \
    X(fork, N_1M, 1, 1, 1, US) \
    X(fork_1k_tables, N_100K, 1024, 1, 1, US) \
    X(fork_first_write, N_1M, 1, 1, N_1M, NS) \
    X(fork_first_cold, N_1M, 1, 1, N_1M, NS) \
    X(fork_100_scattered, N_100K, 1, 50, 1, US) \
    X(small_world_tick, 100u, 2, 1000, 1, US) \
    X(small_worlds_1000, N_100K, 2, 10, 1, US) \
    X(rollback_60, N_1M, 1, 60, 1, US) \
    X(rollback_60_sparse, N_1M, 1, 60, 1, US) \
    X(rewind, N_1M, 1, 1, 1, US) \
    X(drop_state, N_1M, 1, 1, 1, US) \
    X(state_hash_same, N_1M, 1, 1, 1, US) \
    X(state_hash_1pct, N_1M, 1, 1, 1, US) \
    X(state_hash_scattered, N_1M, 1, 1, 1, US) \
    X(state_hash_all, N_1M, 1, 1, N_1M, NS) \
    X(state_hash_first, N_1M, 1, 1, N_1M, NS) \
    X(diff, N_1M, 1, 1, 1, US) \
    X(diff_scattered, N_1M, 1, 1, 1, US) \
    X(save, N_1M, 1, 1, N_1M, NS) \
    X(save_synced, N_1M, 1, 1, N_1M, NS) \
    X(load, N_1M, 1, 1, N_1M, NS) \
    X(hier_build, N_100K, 1, 1, N_100K, NS) \
    X(tree_build_spawn, N_100K, 1, 1, N_100K, NS) \
    X(tree_reparent, 111111u, 1, 1, 11111u, NS) \
    X(hier_walk, N_100K, 1, 20, N_100K, NS) \
    X(hier_walk_moved, N_100K, 1, 20, N_100K, NS) \
    X(hier_sort, N_100K, 1, 1, N_100K, NS) \
    X(destroy_tree, N_100K, 1, 1, N_100K, NS) \
    X(index_get, N_1M, 1, 1, N_100K, NS) \
    X(index_range, N_1M, 1, 1, N_100K, NS) \
    X(index_join, N_100K, 1, 1, N_100K, NS) \
    X(value_join, N_100K, 1, 1, N_100K, NS) \
    X(index_refresh, N_1M, 1, 1, N_10K, NS) \
    X(index_refresh_scattered, N_1M, 1, 1, N_10K, NS) \
    X(near_10, N_100K, 1, 4, N_100K, NS) \
    X(near_ghosts, N_100K, 1, 1, N_100K, NS) \
    X(pairs, N_100K, 1, 4, N_100K, NS) \
    X(pairs_2, N_100K, 1, 16, N_100K, SPEEDUPS) \
    X(place_refresh, N_1M, 1, 1, N_1M, NS) \
    X(place_bytes, N_1M, 1, 1, N_1M, BYTES) \
    X(sql_scan, N_1M, 1, 1, N_1M, NS) \
    X(sql_scan_c, N_1M, 1, 1, N_1M, NS) \
    X(sql_join, N_1M, 1, 1, N_1M, NS) \
    X(sql_commit, N_1M, 1, 1, 1, US) \
    X(sql_commit_scattered, N_1M, 1, 1, 1, US) \
    X(sql_commit_all, N_1M, 1, 1, 1, US) \
    X(sql_open, N_1M, 1, 1, 1, US) \
    X(world_new, 1u, 1, 1000, 1u, NS) \
    X(mem_2, N_1M, 1, 1, N_1M, BYTES) \
    X(mem_table, N_10K, N_10K, 1, N_10K, BYTES) \
    X(arch_10k_mem, N_10K, N_10K, 1, N_10K, BYTES) \
    X(mem_rel, N_1M, N_1M, 1, N_1M, BYTES)

enum {
#define X(name, n, tables, passes, ops, unit) ROW_##name,
    ROWS(X)
#undef X
        ROW_COUNT
};
typedef enum { NS, US, BYTES, SPEEDUPS } row_unit; /* SPEEDUPS: the baseline's time divided by ours */

typedef struct bench_row {
    const char *name;
    uint32_t id;     /* ROW_... */
    uint32_t n;      /* entities */
    uint32_t tables; /* that they are spread over */
    uint32_t passes; /* inside one run */
    uint32_t ops;    /* a pass */
    row_unit unit;
} bench_row;

extern const bench_row bench_rows[ROW_COUNT];

/* A row that measures by other means than the time of its run writes its nanoseconds here; otherwise it is 0. */
extern double bench_told_ns;

/* One row of one contestant. */
typedef struct row_impl {
    uint32_t id; /* ROW_... */
    void *(*setup)(const bench_row *r);
    void (*run)(void *state);
    uint64_t (*checksum)(void *state);
    void (*teardown)(void *state);            /* frees everything: mem_live() must be where it was before setup */
    uint64_t (*expected)(const bench_row *r); /* the checksum of a row without baseline; otherwise NULL */
} row_impl;

/* A contestant has some lists of rows. Each list ends with an entry without setup, and the last list is followed by
 * NULL. */
typedef struct contestant {
    const char *name;
    const row_impl *lists[24];
} contestant;

extern const contestant contestant_raw;   /* raw.c */
extern const contestant contestant_reef;  /* reef_rows.c */
extern const contestant contestant_limit; /* limit.c */

/* NULL: it doesn't have this row. */
const row_impl *contestant_row(const contestant *c, uint32_t id);

/* ---- shared definitions of values, order and randomness ---- */

static inline uint64_t bench_mix(uint64_t z) /* splitmix64 */
{
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
static inline Position pos_of(uint32_t i) { return (Position){(float)(i & 1023), 1}; }
static inline Velocity vel_of(uint32_t i) { return (Velocity){(float)(i & 7), 1}; }
static inline uint64_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
/* A position's share of a checksum, by the entity's number in creation order. */
static inline uint64_t pos_sum(Position p, uint64_t i) { return (bits_of(p.x) + 3 * bits_of(p.y)) * (i + 1); }
/* Ten random tags of entity i; bit 0 is the tag asked for (iter_frag_1k_bit), or "enabled" (iter_bit). */
static inline uint32_t bench_tags(uint32_t i) { return (uint32_t)(bench_mix(i) & 1023); }
uint32_t bench_matched(uint32_t n);
/* One of each hundred entities, anywhere in it. */
/* The target of entity i among `targets`, which 7919 doesn't divide: each has the same number of sources. */
static inline uint32_t bench_target(uint32_t i, uint32_t targets) { return (uint32_t)((uint64_t)i * 7919 % targets); }
/* The one that it goes to in rel_retarget. */
static inline uint32_t bench_next_target(uint32_t i, uint32_t targets)
{
    return (bench_target(i, targets) + 1) % targets;
}
/* Of the sources that get another target, the k-th and where it goes. */
static inline uint32_t bench_moved_source(uint32_t k, uint32_t sources)
{
    return (uint32_t)((uint64_t)k * 104729 % sources);
}
static inline uint32_t bench_moved_target(uint32_t k, uint32_t targets) { return (uint32_t)(bench_mix(k) % targets); }
static inline bool bench_sparse(uint32_t i) { return bench_mix(i / 100) % 100 == i % 100; }
/* Shuffle handles (4 or 8 bytes each) with a fixed seed: the same order for every contestant. */
void bench_shuffle(void *handles, uint32_t n, size_t handle_size);
/* The tree of the hier_ rows: ten children for each node, numbered level by level. */
static inline uint32_t bench_tree_parent(uint32_t i) { return (i - 1) / 10; }
/* The k-th node that gets another parent, both at random. False: it is below itself, or has that parent already. */
bool bench_tree_move(const uint32_t *parent, uint32_t n, uint32_t k, uint32_t *node, uint32_t *to);
/* Keeps the compiler from moving work across passes. */
#define BENCH_BARRIER() __asm__ __volatile__("" : : : "memory")

#endif
