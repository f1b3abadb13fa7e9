/* Events: values that systems send and others read, in the order of their sending.
 *
 *     typedef struct { reef_entity who; int damage; } Hit;
 *     REEF_COMPONENT(Hit);
 *
 *     static void fight(reef_block *b) { ... reef_send(b, Hit, .who = e, .damage = 3); ... }
 *     static void mourn(reef_block *b)
 *     {
 *         reef_events r = reef_receive(b, Hit);
 *         for (const Hit *h; (h = reef_next_event(&r)) != NULL;) ...
 *     }
 *     ...
 *     reef_system(w, fight, "Sword; sends Hit");
 *     reef_system(w, mourn, "; receives Hit");
 *
 * A component type is an event type too, if its values are plain (no hooks but on_fork and track_rows), of at most
 * REEF_EVENT_SIZE_MAX bytes, aligned to at most REEF_EVENT_ALIGN_MAX. Sending calls nobody. Events of one type are
 * read in the order (system, block, call) in which they were sent, on any number of threads.
 *
 * Each system that receives a type sees each event that is sent after the system was added exactly once: in its
 * first run that begins after the sender's has ended. That is in the same tick, without a flush, for systems that
 * run later, and in the next tick for those that run earlier. All blocks of one run see the same events. An event is
 * kept until every reader that was there when it was sent has read it, also one that runs seldom; without readers it
 * is dropped when the phase ends.
 *
 * Events that wait for a system, and how far each system is behind, are part of the state: snapshots and forks have
 * them, reef_hash and reef_equal look at them. */
#ifndef REEF_EVENT_H
#define REEF_EVENT_H

#include "loop.h"

REEF_BEGIN_C

enum {
    REEF_EVENT_SIZE_MAX = 4096, /* bytes of one event */
    REEF_EVENT_ALIGN_MAX = 64,  /* bytes */
    REEF_EVENTS_BOUND = 1 << 22 /* events of one type that are kept, unless reef_events_bound says otherwise */
};

/* ---- sending ---- */

/* Sends an event from a system that declares `sends` for the type. The value is copied. With a block of a loop
 * outside of systems it is reef_post. Errors: UNDECLARED, WRONG_SIZE, NOT_COPYABLE (a type with hooks), LIMIT
 * (larger or aligned to more than allowed), BAD_ARGUMENT (no value), NO_MEMORY. Any thread, with its own block. */
REEF_API reef_status reef_send_id(const reef_block *block, reef_component type, const void *value, size_t size);
/* The same where the value is still to be written: room for it, which the caller fills before it sends anything
 * else; `aside` when it is refused. The answer is reef_sent's. */
REEF_API void *reef_send_room(const reef_block *block, reef_component type, size_t size, void *aside);
/* What the last reef_send_room with this block, or with another one of its job, answered. */
REEF_API reef_status reef_sent(const reef_block *block);
/* Sends an event from outside of systems, in the order of the calls; loops may be open. Errors: as above,
 * UNKNOWN_TYPE, LOCKED (while systems run). */
REEF_API reef_status reef_post_id(reef_world *world, reef_component type, const void *value, size_t size);

/* ---- receiving ---- */

/* Events that are being read. Don't copy it. Valid until the system's function returns. */
typedef struct reef_events {
    /* events that were dropped since the system's last run, because more waited than are kept (reef_events_bound) */
    uint64_t missed;
    uint64_t count; /* all events of this run of the system */
    /* reef's own */
    const char *at, *end; /* the next event, and the end of the array in which it lies */
    size_t size;
    uint64_t left; /* behind that array */
    uint64_t position;
    const void *store, *chunk;
    uint64_t skip;
} reef_events;

/* What the system sees of a type that it declares `receives`. Each call begins anew. Nothing, and UNDECLARED,
 * otherwise. */
REEF_API reef_events reef_receive_id(const reef_block *block, reef_component type);
/* The next events that lie side by side, *count of them; NULL: no more. Of a tag the pointer only says that there
 * are some. Valid until the system's function returns. */
REEF_API const void *reef_event_run(reef_events *events, uint32_t *count);
/* The next one, NULL: no more. */
REEF_INLINE const void *reef_next_event(reef_events *events);

/* ---- reading from outside ---- */

/* A reader of the host's. {0} is null. Dies with its world; forks don't have it. A freed one, another world's and
 * null are refused: NOT_ALIVE, OTHER_WORLD. */
typedef struct reef_event_reader {
    uint32_t index, generation, world;
} reef_event_reader;
REEF_INLINE bool reef_event_reader_is_null(reef_event_reader reader) { return reader.generation == 0; }

/* From now on each event of the type is kept for this reader until it has read it, whoever sends it. How far it has
 * read goes back with a restore; one made after the snapshot begins where the events of then end. Null on failure:
 * UNKNOWN_TYPE, NOT_COPYABLE, LIMIT, LOCKED (while systems run), NO_MEMORY. */
REEF_API reef_event_reader reef_event_reader_new(reef_world *world, reef_component type);
/* Null is allowed and does nothing. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED. */
REEF_API reef_status reef_event_reader_free(reef_world *world, reef_event_reader reader);
/* The oldest event that this reader doesn't know, into `value`, which has room for one; NULL: it is skipped. False:
 * there is none, or the call was refused: NOT_ALIVE, OTHER_WORLD, LOCKED. */
REEF_API bool reef_event_next(reef_world *world, reef_event_reader reader, void *value);
/* How many events were dropped between the one that it read last and the next one that it will read. */
REEF_API uint64_t reef_events_missed(const reef_world *world, reef_event_reader reader);

/* At most so many events of the type are kept at the end of a phase or of a post: of more the oldest are dropped,
 * whoever hasn't read them. Part of the state, not of its hash. Errors: UNKNOWN_TYPE, NOT_COPYABLE, LIMIT,
 * BAD_ARGUMENT (0), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_events_bound(reef_world *world, reef_component type, uint64_t most);

/* ---- events as entities ----
 *
 *     reef_cmd_spawn(b, reef_default(ReefBrief), reef_with(Explosion, .where = p, .power = 7));
 *     reef_system(w, shake, "in Explosion; ...");
 *
 * An entity with this component lives for one tick: from the end of the phase in which it was made until that phase
 * has had its turn in the next tick. So each system that runs once a tick sees it exactly once: those of later
 * phases in the same tick, the others in the next one (a system of a phase with steps of its own: in each of its
 * steps in between). One that is made between two ticks is seen by the next tick alone. In all else it is an entity
 * like any other, which queries find and join.
 *
 * The values are reef's: make it as reef_default(ReefBrief). Whoever loses the component before lives on; a clone
 * ends with its source. Needs reef_tick: reef_tick_phase, and systems that run once, end nobody. */
/* What such an entity has. */
typedef struct ReefBrief {
    uint64_t phase; /* in which it was made: a hash of the name; 0: the phase hasn't ended yet */
    uint64_t tick;
} ReefBrief;
REEF_COMPONENT(ReefBrief);
REEF_FIELDS(ReefBrief, REEF_FIELD(ReefBrief, phase, REEF_U64, NULL, 0, 0),
            REEF_FIELD(ReefBrief, tick, REEF_U64, NULL, 0, 0));

/* ---- the inlined half ---- */

/* Where the job's last event went: room for more of the same type. */
typedef struct reef_event_room {
    char *next, *end;
    uint32_t component, size;
} reef_event_room;
/* A job begins with this. */
typedef struct reef_job_head {
    reef_event_room *room; /* NULL: it sent nothing */
    reef_status sent;
} reef_job_head;

REEF_INLINE const void *reef_next_event(reef_events *events)
{
    uint32_t n;
    if (REEF_UNLIKELY(events->at == events->end)) {
        const void *run = reef_event_run(events, &n);
        if (run == NULL) return NULL;
        if (events->size == 0) { /* a tag: one after the other */
            events->left += n - 1;
            return run;
        }
        events->at = (const char *)run;
        events->end = events->at + n * events->size;
    }
    const void *event = events->at;
    events->at += events->size;
    return event;
}

/* The value is written where it stays. (Copied from a literal in memory an event took 7 ns: wide loads of what
 * narrow stores have just written wait for them.) */
REEF_INLINE void *reef_send_room_fast(const reef_block *block, reef_component of, size_t size, void *aside)
{
    reef_job_head *job = (reef_job_head *)(void *)block->job;
    reef_event_room *room = REEF_LIKELY(job != NULL) ? job->room : NULL;
    if (REEF_LIKELY(room != NULL && room->component == of.id && room->size == size &&
                    (size_t)(room->end - room->next) >= size)) {
        void *slot = room->next;
        room->next += size;
        job->sent = REEF_OK;
        return slot;
    }
    return reef_send_room(block, of, size, aside);
}

REEF_INLINE reef_status reef_sent_fast(const reef_block *block)
{
    const reef_job_head *job = (const reef_job_head *)(const void *)block->job;
    return REEF_LIKELY(job != NULL) ? job->sent : reef_sent(block);
}

REEF_END_C

/* ---- the typed words ---- */

/* reef_receive(b, Hit): a reef_events, by the C name of a type. */
#define reef_receive(block, T) reef_receive_id(block, reef_id(T))
/* An event that is a tag. */
#define reef_send_tag(block, T) reef_send_id(block, reef_id(T), NULL, 0)
#define reef_post_tag(world, T) reef_post_id(world, reef_id(T), NULL, 0)
#ifndef __cplusplus
/* What stands for the value must not send anything itself. */
#define reef_send(block, T, ...) \
    (*(T *)reef_send_room_fast(block, reef_id(T), sizeof(T), &(T){0}) = (T){__VA_ARGS__}, reef_sent_fast(block))
#define reef_post(world, T, ...) reef_post_id(world, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T))
#else
template <class T> static inline reef_status reef_send_value(const reef_block *b, reef_component c, const T &value)
{
    T aside;
    *static_cast<T *>(reef_send_room_fast(b, c, sizeof(T), &aside)) = value;
    return reef_sent_fast(b);
}
template <class T> static inline reef_status reef_post_value(reef_world *w, reef_component c, const T &value)
{
    return reef_post_id(w, c, &value, sizeof(T));
}
#define reef_send(block, T, ...) reef_send_value<T>(block, reef_id(T), T{__VA_ARGS__})
#define reef_post(world, T, ...) reef_post_value<T>(world, reef_id(T), T{__VA_ARGS__})
#endif

#endif
