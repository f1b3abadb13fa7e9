/* The inspector: a page in the browser that looks into a running world, goes back in time, and says which system
 * changed what.
 *
 *     reef_inspector *i = reef_inspect(w, &(reef_inspector_config){.port = 7272});
 *     printf("%s\n", reef_inspector_address(i));                  http://127.0.0.1:7272/#token=...
 *     for (;;) {
 *         reef_tick(w, 1.0f / 60);
 *         reef_inspector_update(i);
 *     }
 *
 * This is a separate library, which uses reef's public headers. The server has threads of its own. They get a world
 * only as a snapshot, which reef_inspector_update takes when somebody asks for one, and look into forks of it. So the
 * simulation never waits for a browser, and while nobody looks, a tick costs some hundred nanoseconds more.
 * docs/manual/inspector.md describes the page and the interface behind it (HTTP and JSON).
 *
 * Types, systems and values are shown by their names and fields (REEF_FIELDS). The world must be copyable, as for
 * reef_fork; copy and destroy hooks run on the server's threads too. */
#ifndef REEF_INSPECTOR_H
#define REEF_INSPECTOR_H

#include "reef.h"
#include "reef/file.h"
#include "reef/replay.h"

REEF_BEGIN_C

/* Plays one tick of a world, which may be a fork. */
typedef reef_status (*reef_inspector_step)(void *context, reef_world *world, float dt);

/* The settings of an inspector; {0}: all defaults. Texts are copied. */
typedef struct reef_inspector_config {
    uint16_t port;    /* 0: any free port */
    const char *bind; /* the address to listen on; NULL: 127.0.0.1, so that only this machine reaches it */
    /* names or addresses by which browsers may call this machine, separated by spaces, beside 127.0.0.1, [::1] and
     * localhost. Requests under any other name are refused with 403 */
    const char *hosts;
    const char *token; /* 16 to 64 letters and digits that a request about the world must know; NULL: a random one */
    const char *title; /* what the page calls this program; NULL: "reef" */
    bool writes;       /* the page may change the world and its time: edit, pause, step, restore, play what-ifs */
    /* reef_inspector_update doesn't return while the page holds the world: for programs without a window, whose loop
     * does nothing but tick. Otherwise the world is paused by reef_pause, and the program's loop goes on */
    bool waits;
    bool record;           /* record the states from the beginning, and not only when the page asks for it */
    uint32_t record_ticks; /* the last states that are kept while recording; 0: 600 */
    /* the oldest recorded states are dropped while more bytes than this are in use by the world's family; 0: 1 GiB. The
     * page shows it before it records, and may change it */
    uint64_t record_bytes;
    /* how long a request waits for reef_inspector_update, in ms, before it is answered with 503 or from the last state
     * that is known; 0: 2,000. More is for programs whose ticks take longer */
    uint32_t wait_ms;
    /* plays a tick of a fork, to find out which system changed what, for what-ifs and for speeds above 1. NULL:
     * reef_tick_once. Called by reef_inspector_update on its thread */
    reef_inspector_step step;
    void *context; /* for step */
    /* answers the page's prompt for SQL; NULL: the page has none. With the add-on reef_sqlite: .sql = reef_sql_json. It
     * runs the statements over a world and writes an array in JSON, with an object for each: {"columns": [], "rows":
     * [[]], "more": false, "changed": 0}. `reason` has room for 512 bytes. It is called on a thread of its own with a
     * fork and `read_only`, and should end soon. If it returns REFUSED there, a statement would change the world; then,
     * with `writes`, reef_inspector_update calls it again with the world itself */
    reef_status (*sql)(reef_world *world, const char *statements, bool read_only, reef_writer to, char *reason);
} reef_inspector_config;

/* An inspector of one world at a time. */
typedef struct reef_inspector reef_inspector;

/* Starts the server. The caller owns the inspector, and frees it before the world. NULL: `reason` says why; it may be
 * NULL, or has room for REEF_DETAIL_MAX bytes. */
reef_inspector *reef_inspect_why(reef_world *world, const reef_inspector_config *config, char *reason);
/* The same without a reason. */
reef_inspector *reef_inspect(reef_world *world, const reef_inspector_config *config);
/* Ends all connections and frees the inspector; the world isn't paused any more if the page had paused it. NULL is
 * allowed. */
void reef_inspector_free(reef_inspector *inspector);

/* An inspector without a server and without threads, for programs that bring the requests themselves, such as those in
 * a web page: reef_inspector_ask. Port, bind, hosts, token and waits of the settings are of no use to it. The caller
 * owns it, and frees it before the world. NULL: no memory, no world. */
reef_inspector *reef_inspector_new(reef_world *world, const reef_inspector_config *config);
/* Answers a request on this thread, which is the one that ticks, between two ticks. Address: what the page asks of
 * the server, such as "/api/entities?q=Position"; `body`: JSON for what the server takes by POST, otherwise NULL.
 * Writes the answer in JSON, {"error": "..."} if it is refused, and returns the status that the server would answer:
 * 200 is good, 503 without memory or world. Of an inspector with a server: 503. */
int reef_inspector_ask(reef_inspector *inspector, const char *address, const char *body, reef_writer to);
/* May the program play a tick? Not while a request has paused it. One tick is taken of those that it was stepped for.
 * Only an inspector without a server asks for this; others hold the world by themselves. */
bool reef_inspector_may_tick(reef_inspector *inspector);
/* A second world, such as a fork that is played beside the first: requests look at it by "at=beside", and compare with
 * it. Of inspectors without a server. Call it again with NULL before that world is freed. */
void reef_inspector_beside(reef_inspector *inspector, reef_world *world);

/* The address for the browser, with the token behind "#token=", so that no browser sends it to a server by itself.
 * Lives as long as the inspector. */
const char *reef_inspector_address(const reef_inspector *inspector);
/* The port that it listens on. */
uint16_t reef_inspector_port(const reef_inspector *inspector);

/* Hands the world over: call it after each tick, outside of loops and systems, on the thread that ticks. It takes the
 * snapshot that somebody asked for, records the state, does what the page wants done with the world, and pauses it.
 * NULL is allowed. */
void reef_inspector_update(reef_inspector *inspector);
/* Waits until somebody wants something of reef_inspector_update, `ms` milliseconds at most: for programs that have
 * nothing else to do. NULL: returns at once. */
void reef_inspector_rest(reef_inspector *inspector, uint32_t ms);
/* Looks at another world from now on, such as that of a new game; what was recorded of the old one is forgotten. The
 * page stays open. Call it on the thread that ticks, before the old world is freed. NULL: it looks at none until the
 * next call, and requests are answered with 503. Of inspector NULL is allowed. */
void reef_inspector_turn_to(reef_inspector *inspector, reef_world *world);
/* Looks at a copy of its world from now on, such as a fork that outlives it; what was recorded stays. Call it on the
 * thread that ticks, before the old world is freed. NULL for either does nothing. */
void reef_inspector_follow(reef_inspector *inspector, reef_world *world);
/* Shows two futures in the view "What if": the ticks that a replay (reef/replay.h) has played again, as they were and
 * as they became, such as with old and with new code. Of both, curves of what is counted stand side by side, and the
 * page tells what is different at the end. Call it before reef_replay_take, on the thread that ticks; the page is told.
 * `was` and `is` name the futures, in at most 40 bytes ("the old rules"); NULL: "as it was", "played again". It takes
 * 200 states of each at most, evenly spaced, which stay until the next replay or world. A replay of another world, and
 * NULL for the inspector or the replay, do nothing. reef_hot_desc.replayed is where reef_hot would call it. */
void reef_inspector_replayed(reef_inspector *inspector, reef_replay *replay, const char *was, const char *is);
/* Is the page or anything else connected, or was it within the last three seconds? Any thread. */
bool reef_inspector_is_open(const reef_inspector *inspector);

REEF_END_C

#endif
