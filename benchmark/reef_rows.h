/* reef as a contestant, which uses only the public interface: what its rows share. */
#ifndef REEF_ROWS_H
#define REEF_ROWS_H
#include "reef/all.h"
#include "rows.h"

REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT_AS(C3, Vec4);
REEF_COMPONENT_AS(C4, Vec4);
REEF_COMPONENT_AS(C5, Vec4);
REEF_COMPONENT_AS(C6, Vec4);
REEF_COMPONENT_AS(C7, Vec4);
REEF_COMPONENT_AS(C8, Vec4);
REEF_COMPONENT(Data);
REEF_TAG(Tag1);
REEF_SWITCH(Bit1);

/* A row's values in the order of the bundles' parts. */
typedef struct values {
    Position p;
    Velocity v;
    Vec4 c[6];
} values;

enum { SET_TAGS = 14, PART_TAGS = 24 };

typedef struct state {
    const bench_row *r;
    reef_world *w;
    reef_entity *handle; /* the caller's, in the order that the row uses them; NULL: the row keeps none */
    reef_bundle *bundle; /* of the row's entities */
    reef_query query;
    reef_query *queries;            /* match_new: r->n of them */
    reef_component part[PART_TAGS]; /* the tags of rows with many tables */
    uint64_t sum;                   /* what the run itself computed */
} state;

/* Ends the program with reef's error message, since a row whose calls fail measures nothing. */
_Noreturn void bench_fail(const reef_world *w, const char *what);

/* A world whose memory comes from mem.h. */
reef_world *world_new(void);
/* The same for several threads. */
reef_world *world_new_parallel(void);
/* Makes a row's state with an empty world. With `handles` it has room for r->n of them, in memory that was touched. */
state *state_new(const bench_row *r, bool handles);
void state_free(void *p);

/* The bundle of the first `count` of Position, Velocity, C3..C8, for `values`. */
reef_bundle *bundle_new(state *s, uint32_t count);
reef_query query_new(state *s, const char *text);
/* The tags Part0, Part1 ..., made at run time. */
reef_component tag_type(uint32_t number);
/* Makes entities of the row from number `first` on, SETUP_BATCH of them or as many as are left, with pos_of, vel_of and
 * `count` further values. Returns how many. Rows of loops set up their worlds by this, since a setup should be short:
 * the longer it takes, the more rows other programs have driven out of the caches before the timer starts. (For
 * iter_bit it took 16 ms one by one, and takes 5 ms now, where raw's arrays take 3; after a wait of 10 ms raw's first
 * loop takes as long as reef's.) */
enum { SETUP_BATCH = 1024 };
uint32_t batch_spawn(state *s, uint32_t first, reef_entity *e, const reef_value *more, uint32_t count);
/* r->n entities with pos_of and vel_of, and the query "Position, in Velocity". */
state *state_pv(const bench_row *r, bool handles);
/* r->n entities with pos_of and vel_of, entity i in table i % r->tables (the tags that are the bits of the
 * remainder), and that query. (reef_iter.c) */
state *frag_tables(const bench_row *r);
void shuffle_handles(state *s);

/* Entities with Position, with Position and C3 ... C8. (reef_change.c) */
void *ar_setup(const bench_row *r);
void *ar_8_setup(const bench_row *r);
uint64_t ar_sum(void *p);
uint64_t ar_8_sum(void *p);

/* The checksums that raw computes as well: all Positions by handle; all Positions in the order of a loop. */
uint64_t sum_by_handle(const state *s);
uint64_t sum_rows(void *p);
uint64_t sum_run(void *p);

/* The lists of rows, one in each file. */
extern const row_impl reef_create_rows[];         /* reef_create.c: create_, destroy_, world_new, mem_ */
extern const row_impl reef_change_rows[];         /* reef_change.c: add_remove_ */
extern const row_impl reef_general_rows[];        /* reef_general.c: changes that aren't plain */
extern const row_impl reef_alone_general_rows[];  /* also there: plain, instead of raw */
extern const row_impl reef_command_rows[];        /* reef_command.c: deferred_ar, spawn_par, cmd_instantiate */
extern const row_impl reef_alone_command_rows[];  /* also there: spawned, not copied, instead of raw */
extern const row_impl reef_home_rows[];           /* reef_home.c: values outside of the rows */
extern const row_impl reef_relation_rows[];       /* reef_relation.c: rel_, cmd_relate, mem_rel */
extern const row_impl reef_alone_relation_rows[]; /* also there: without commands, instead of raw */
extern const row_impl reef_tree_rows[];           /* reef_tree.c: hierarchies */
extern const row_impl reef_frame_rows[];          /* reef_frame.c: empty_system, par_heavy_, frame_mixed */
extern const row_impl reef_alone_frame_rows[];    /* also there: reef without a pool, instead of raw */
extern const row_impl reef_event_rows[];          /* reef_event.c: event_rw */
extern const row_impl reef_game_rows[];           /* reef_game.c: game_10k */
extern const row_impl reef_net_rows[];            /* reef_net.c: rollback_8, net_tick, view_64 */
extern const row_impl reef_inspect_rows[];        /* reef_inspect.c: inspect_idle, inspect_open */
extern const row_impl reef_access_rows[];         /* reef_access.c: get_, set_, has_ */
extern const row_impl reef_iter_rows[];           /* reef_iter.c: iter_ */
extern const row_impl reef_query_rows[];          /* reef_query.c: query_build, iter_changed, sort_repair */
extern const row_impl reef_copy_rows[];           /* reef_copy.c: snapshot, fork, rollback_, state_hash_ */
extern const row_impl reef_branch_rows[];         /* reef_branch.c: fork_100_scattered, small_world */
extern const row_impl reef_save_rows[];           /* reef_save.c: save, load */
extern const row_impl reef_index_rows[];          /* reef_index.c: index_ */
extern const row_impl reef_place_rows[];          /* reef_place.c: near_10, pairs, place_ */
extern const row_impl reef_sql_rows[];            /* reef_sql.c: sql_, where SQLite is */
extern const row_impl native_sql_rows[];          /* also there: SQLite alone, instead of raw */
extern const row_impl reef_alone_rows[];          /* also there: reef without a fork or history, instead of raw */

#endif
