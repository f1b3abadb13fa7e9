/* What the files of the inspector share.
 *
 *   the simulation's thread                      the server's threads
 *
 *   reef_inspector_update                        a request
 *     takes a snapshot, if one is wanted  ◄────    wants the newest state, and waits for it
 *     ────► moment: a snapshot with its tick ───►  forks the moment, and looks into the fork: queries, values,
 *                                                  differences; builds its answer, and frees the fork
 *     runs orders  ◄───────────────────────────    gives an order, and waits: edits, pausing, playing a tick of a fork
 *
 * Everything that both sides touch is guarded by `lock`, which is held for a few instructions at a time: never while a
 * world is used, and never while somebody reads or writes a connection. */
#ifndef REEF_INSPECTOR_INSIDE_H
#define REEF_INSPECTOR_INSIDE_H

#include "json.h"
#include "reef/all.h"
#include "reef_inspector.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    TOKEN_MAX = 64,
    TITLE_MAX = 80,
    HOSTS_MAX = 16,
    TEXT_MAX = 1024,     /* bytes of a parameter, such as the text of a query */
    BODY_MAX = 64 << 10, /* bytes of a request's body */
    DEPTH_MAX = 16,      /* of its nesting */
    ROWS_MAX = 1000,     /* rows of an answer */
    TICKS_SHOWN = 4096,  /* ticks of the timeline */
    STREAMS_MAX = 8,     /* streams of events at a time */
    REQUESTS_A_SECOND = 400,
    SPANS_KEPT = 1 << 15,
    STEPS_MAX = 1000,
    WHATIF_TICKS_MAX = 2000,
    WATCHES_MAX = 8,
    FUTURES_MAX = 200 /* states of each of two futures that the program has played */
};

/* A state of the world. It is dropped with its last holder. */
typedef struct moment {
    reef_snapshot *snapshot;
    uint64_t tick, time_ns;
    uint64_t serial; /* of the update that took it; after an edit, a new one */
    unsigned holders;
} moment;

/* One tick of the timeline. */
typedef struct tick_row {
    uint64_t tick, entities;
    uint64_t tick_ns; /* of the tick itself; 0: wasn't measured */
    uint64_t gap_ns;  /* from the end of one update to the begin of the next */
} tick_row;

/* Something that is to be done on the simulation's thread, between two ticks. It lives on the stack of the thread that
 * waits for it. */
typedef struct order {
    void (*run)(reef_inspector *i, void *data);
    void *data;
    bool taken, done;
    struct order *next;
} order;

/* Which moment a request looks at. */
typedef enum moment_kind {
    MOMENT_NOW,
    MOMENT_TICK,
    MOMENT_STEP,        /* in the middle of the next tick, behind the system that was stepped last */
    MOMENT_STEP_BEFORE, /* before that system */
    MOMENT_WHATIF_A,
    MOMENT_WHATIF_B,
    MOMENT_BESIDE,   /* of the world beside: reef_inspector_beside */
    MOMENT_RECORDED, /* the ends of both futures of a replay: reef_inspector_replayed */
    MOMENT_REPLAYED,
    MOMENTS
} moment_kind;

typedef struct whatif whatif;
typedef struct futures futures;

struct reef_inspector {
    reef_world *world;
    reef_inspector_config config;
    char title[TITLE_MAX + 1];
    struct server *server; /* server.c; NULL: there is none */
    void (*server_stop)(reef_inspector *i);
    bool alone; /* reef_inspector_ask: requests come on the simulation's thread, and nothing waits for another */
    reef_world *beside; /* reef_inspector_beside */

    pthread_mutex_t lock;
    pthread_cond_t told;  /* to the server's threads: there is a new moment, or an order is done */
    pthread_cond_t asked; /* to the simulation's thread: something is wanted */
    atomic_bool busy;     /* update has more to do than to note the tick */
    atomic_bool ending;
    atomic_bool prompted; /* a statement of the prompt runs */
    atomic_uint streams;
    _Atomic uint64_t looked_ns; /* when the last request came */

    /* guarded by the lock */
    uint64_t serial;
    bool wants_moment;
    uint32_t waiting, failures;   /* requests that wait for a moment; snapshots that failed */
    char failed[REEF_DETAIL_MAX]; /* why the last snapshot failed; "": it didn't */
    moment *newest, *special[MOMENTS];
    moment **kept; /* a ring: number n lies at n % config.record_ticks */
    uint64_t kept_first, kept_end;
    order *orders;
    tick_row rows[TICKS_SHOWN];
    uint64_t row_count, row_first; /* row_first: the first one of this world */
    bool records, traces;
    /* What recording costs. base: bytes of the world's family when the oldest state was taken; used: when the newest
     * was; rate: how many one more recorded tick took; dropped: states that the bounds have cost. */
    uint64_t record_base, record_used, record_rate, record_dropped;
    uint32_t trials;     /* ticks that are still to be tried, for how many bytes one changes */
    uint64_t trial_rate; /* the most that one of them changed */
    char step_system[REEF_SYSTEM_NAME_MAX + 1];
    uint32_t step_number, step_count; /* the system that was stepped last, from 1; of how many */
    whatif *whatif;
    futures *futures;       /* NULL: the program has played nothing again */
    uint64_t futures_count; /* how often it has */

    /* written by the simulation's thread under the lock */
    bool paused;
    uint32_t free_ticks; /* that may pass while it is paused */
    double speed, speed_left;

    /* of the simulation's thread */
    uint64_t ended_ns, last_tick, last_time_ns, dt_ns;
    bool paused_by_us, measures;
    reef_trace *spans;
    moment *trial; /* the state before the tick that is tried */
    uint64_t trial_bytes;
    struct inspector_events *events; /* events.c; set under the lock; NULL: nobody has asked for any */
    _Atomic uint64_t events_ns;      /* when somebody asked last; 0: nobody listens */
};

/* ---- moment.c: moments and orders ---- */

enum { SECOND = 1000000000 }; /* in ns */
uint64_t inspector_now_ns(void);
/* Waits until the condition is told, or this moment has come. False: it has come. The lock is held. */
bool inspector_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns);
uint64_t inspector_patience_end(const reef_inspector *i); /* until when a request that begins now waits */
void inspector_moment_release(reef_inspector *i, moment *m);
/* Makes a moment of a world on the thread that uses the world, held by the caller. NULL: no memory, or it can't be
 * copied: i->failed. */
moment *inspector_moment_take(reef_inspector *i, reef_world *world);
void inspector_moment_put(reef_inspector *i, moment_kind kind,
                          moment *m); /* takes over the hold; NULL: none from now on */
/* Makes a fork that belongs to this thread alone, and that reports to nobody. NULL: no memory. */
reef_world *inspector_moment_fork(const moment *m);
/* Has an order done by the next update. False: no update took it in time (config.wait_ms). */
bool inspector_order_give(reef_inspector *i, void (*run)(reef_inspector *i, void *data), void *data);
/* Does what was ordered. True: there was something. */
bool inspector_orders_run(reef_inspector *i);
/* Plays a tick of a world as the config says, on the simulation's thread. dt of the tick that took `ns`. */
reef_status inspector_play(reef_inspector *i, reef_world *world, float dt);
float inspector_dt(uint64_t ns);

/* ---- recording.c ---- */

/* Adds a tick to the timeline; moments of before are old from now on. */
void inspector_note(reef_inspector *i, uint64_t now, uint64_t tick);
/* Hands a snapshot over, if somebody wants one or the state is to be recorded. On the simulation's thread. */
void inspector_hand_over(reef_inspector *i, bool new_tick);
/* Bytes of the world's family that something lies in: free blocks are used before more memory is taken. */
uint64_t inspector_bytes_held(const reef_world *w);
/* Drops the recorded states from this tick on. */
void inspector_record_cut(reef_inspector *i, uint64_t first);
void inspector_record_clear(reef_inspector *i);
/* Takes a state if somebody wants to know, to see at the next update what a tick costs when it is recorded; and behind
 * that tick: what it wrote was copied, since the state before it is held. */
void inspector_trial_begin(reef_inspector *i);
void inspector_trial_end(reef_inspector *i);
/* Returns the moment, held by the caller; NULL: there is none. For MOMENT_NOW it waits for the next update, as long as
 * config.wait_ms says; then the last known one has to do. */
moment *inspector_moment_hold(reef_inspector *i, moment_kind kind, uint64_t tick);
/* The newest recorded state in which an entity lived, held by the caller. NULL: there is none. */
moment *inspector_moment_of_living(reef_inspector *i, reef_entity e);
/* Holds all recorded moments between two ticks; released and freed by the other one. NULL: no memory. */
moment **inspector_moments_hold(reef_inspector *i, uint64_t from, uint64_t to, uint64_t *count);
void inspector_moments_release(reef_inspector *i, moment **list, uint64_t count);

/* ---- control.c ---- */

/* The state in the middle of a tick: behind the first `number` of its systems. NULL: *error says why. `system` gets the
 * name of the last of them, *count the number of all. Step_clear forgets the system that was stepped last. */
moment *inspector_prefix(reef_inspector *i, const moment *from, uint32_t number, float dt, char *system,
                         uint32_t *count, const char **error);
void inspector_step_clear(reef_inspector *i);
/* events.c: reads the events of a tick, if somebody listens; gives the readers back to their world; frees all. */
void inspector_events_read(reef_inspector *i, uint64_t now);
void inspector_events_leave(reef_inspector *i);
void inspector_events_free(reef_inspector *i);
/* Orders: the data is a json with what is asked, and gets an answer. */
typedef struct control {
    const json *asked;
    json *answer;
    const char *error; /* NULL: none */
} control;
/* Behind a change of the world on the simulation's thread: moments of before are old from now on. */
void inspector_world_changed(reef_inspector *i);
void inspector_control_run(reef_inspector *i, void *data);
void inspector_edit_run(reef_inspector *i, void *data);

/* ---- inspector.c ---- */

/* An inspector that nobody can reach yet. NULL: `reason`, of REEF_DETAIL_MAX bytes, says why. */
reef_inspector *inspector_make(reef_world *world, const reef_inspector_config *config, char *reason);
void inspector_drop(reef_inspector *i); /* frees one that nobody has reached */

/* ---- request.c ---- */

/* A request that has passed all checks. */
typedef struct request {
    reef_inspector *i;
    const char *query; /* the text behind the question mark, or "" */
    json *body;        /* of a POST; otherwise NULL */
    int status;        /* of the answer: 200 unless it is set */
    char error[512];
} request;

/* Answers NULL with an error. */
REEF_PRINTF(3, 4) json *inspector_refuse(request *r, int status, const char *format, ...);
/* Parameters of the address. Text: false, if it isn't there or too long. Number: `otherwise` if it isn't there or no
 * number, and at most `most`. */
bool inspector_parameter(const request *r, const char *name, char *text, size_t size);
uint64_t inspector_parameter_number(const request *r, const char *name, uint64_t otherwise, uint64_t most);

/* A fork of the moment that the request names by "at" (or by another parameter). */
typedef struct view {
    moment *moment;
    reef_world *world;
} view;
bool inspector_view_open(request *r, const char *name, view *v); /* false: the request is refused */
void inspector_view_close(request *r, view *v);

/* ---- value.c: values as JSON and back ---- */

json *inspector_json_number(uint64_t number); /* as a text if a double can't hold it */
json *inspector_json_entity(reef_entity e);   /* "7v1"; null */
bool inspector_entity_of_text(const char *text, reef_entity *e);
json *inspector_json_value(const reef_type_info *t, const void *data); /* an object of its fields, or bytes as a text */
json *inspector_json_field(const reef_field *f, const void *data);
/* Changes one field of a value. False: why has REEF_DETAIL_MAX bytes. */
bool inspector_field_set(const reef_field *f, uint32_t element, const json *to, void *data, char *why);
uint32_t inspector_kind_size(reef_kind kind);
const char *inspector_kind_name(reef_kind kind);
const char *inspector_home_name(reef_home home);
/* All types in the order of their names; the caller frees them. NULL: no memory, and *count is 0. */
reef_component *inspector_types_by_name(uint32_t *count);
const reef_field *inspector_field_named(const reef_type_info *t, const char *name);
uint32_t inspector_field_count(const reef_field *f); /* of its elements; a text is one */
bool inspector_field_number(const reef_field *f, uint32_t element, const void *data, double *number);

/* ---- answers, by path ---- */

json *inspector_answer_overview(request *r);
json *inspector_answer_ticks(request *r);
json *inspector_ticks_after(reef_inspector *i, uint64_t first, uint64_t most, uint64_t *next);
json *inspector_answer_types(request *r);
json *inspector_answer_tables(request *r);
json *inspector_answer_systems(request *r);
json *inspector_answer_spans(request *r);
json *inspector_answer_events(request *r);
json *inspector_answer_entities(request *r);
json *inspector_answer_entity(request *r);
json *inspector_answer_explain(request *r);
json *inspector_answer_tree(request *r);
json *inspector_answer_diff(request *r);
json *inspector_answer_who(request *r);
json *inspector_answer_curve(request *r);
json *inspector_answer_when(request *r);
json *inspector_answer_hash(request *r);
json *inspector_answer_recording(request *r);
json *inspector_answer_control(request *r);
json *inspector_answer_edit(request *r);
json *inspector_answer_whatif(request *r);
json *inspector_answer_whatif_play(request *r);
json *inspector_answer_futures(request *r);
json *inspector_answer_sql(request *r);
void inspector_whatif_free(reef_inspector *i);
void inspector_futures_drop(reef_inspector *i); /* futures.c: what a replay has played */

/* Writes edits into a world of this thread: [{"do": "set", ...}]. Returns the number that was done, and why the next
 * one wasn't. */
size_t inspector_edits_apply(reef_world *w, const json *edits, char *why);
/* Number of entities that match a text. False: `why` says what is wrong. */
bool inspector_query_count(reef_world *w, const char *text, uint64_t *count, char *why, size_t size);
const char *inspector_entity_label(const reef_world *w, reef_entity e, char *text, size_t size); /* its name, or 7v1 */

#endif
