/* Events: values that systems send and that others read in the order in which they were sent.
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
 * Any component type can be used for events if its values are plain (no hooks except on_fork and track_rows), have at
 * most REEF_EVENT_SIZE_MAX bytes, and are aligned to at most REEF_EVENT_ALIGN_MAX. Sending calls no function. Events of
 * one type are read in the order of the systems, blocks and calls that sent them, on any number of threads.
 *
 * A system that receives a type sees each event exactly once, if the event was sent after the system was added. It sees
 * the event in its first run that begins after the sender's run has ended: in the same tick, without a flush, if it
 * runs later than the sender, and in the next tick if it runs earlier. All blocks of one run see the same events. An
 * event is kept until every reader that existed when it was sent has read it, even one that runs seldom; without
 * readers it is dropped when the phase ends.
 *
 * The events that wait for systems, and how far each system has read, are part of the state: snapshots and forks
 * contain them, and reef_hash and reef_equal compare them. */
#ifndef REEF_EVENT_H
#define REEF_EVENT_H

#include "loop.h"

REEF_BEGIN_C

enum {
    REEF_EVENT_SIZE_MAX = 4096, /* bytes of one event */
    REEF_EVENT_ALIGN_MAX = 64,  /* bytes */
    REEF_EVENTS_BOUND = 1 << 22 /* events of one type that are kept at most; reef_events_bound changes it */
};

/* ---- sending ---- */

/* Sends an event from a system that declares `sends` for the type. The value is copied. With a block of a loop outside
 * of systems it does the same as reef_post_id. Errors: UNDECLARED, WRONG_SIZE, NOT_COPYABLE (a type with hooks), LIMIT
 * (larger or aligned to more than allowed), BAD_ARGUMENT (no value), NO_MEMORY. May be called on any thread, with the
 * block of the job that runs there. */
REEF_API reef_status reef_send_id(const reef_block *block, reef_component type, const void *value, size_t size);
/* Sends an event from outside of systems. Events are read in the order of the calls. Loops may be open. Errors: as
 * reef_send_id, UNKNOWN_TYPE, LOCKED (while systems run). */
REEF_API reef_status reef_post_id(reef_world *world, reef_component type, const void *value, size_t size);

/* ---- receiving ---- */

/* The events that a system is reading. Don't copy it. Valid until the system's function returns. */
typedef struct reef_events {
    /* number of events that were dropped since the system's last run, because too many waited (reef_events_bound) */
    uint64_t missed;
    uint64_t count; /* number of events that this run of the system sees */
    /* The members from here on are internal. */
    const char *at, *end; /* the next event, and the end of the array that contains it */
    size_t size;
    uint64_t left; /* events after that array */
    uint64_t position;
    const void *store, *chunk;
    uint64_t skip;
} reef_events;

/* The events of a type that the system declares with `receives`. Each call begins with the first event again. Without
 * the declaration there are no events, and the error is UNDECLARED. */
REEF_API reef_events reef_receive_id(const reef_block *block, reef_component type);
/* The next events that lie side by side in memory; their number is written to *count. NULL: there is no more. For a tag
 * the pointer only says that there are some. Valid until the system's function returns. */
REEF_API const void *reef_event_run(reef_events *events, uint32_t *count);
/* The next event; NULL: there is no more. Valid until the system's function returns. */
REEF_INLINE const void *reef_next_event(reef_events *events);

REEF_END_C

/* reef_send and reef_next_event are inlined. */
#include "detail/event.h"

/* ---- typed macros ---- */

/* reef_receive(b, Hit) returns a reef_events, by the C name of a type. */
#define reef_receive(block, T) reef_receive_id(block, reef_id(T))
/* These send an event that is a tag. */
#define reef_send_tag(block, T) reef_send_id(block, reef_id(T), NULL, 0)
#define reef_post_tag(world, T) reef_post_id(world, reef_id(T), NULL, 0)
#ifndef __cplusplus
/* The expressions for the value must not send anything themselves. */
#define reef_send(block, T, ...) \
    (*REEF_CAST(T *, reef_send_room_fast(block, reef_id(T), sizeof(T), &(T){0})) = (T){__VA_ARGS__}, \
     reef_sent_fast(block))
#define reef_post(world, T, ...) reef_post_id(world, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T))
#else
template <class T> static inline reef_status reef_post_value(reef_world *w, reef_component c, const T &value)
{
    return reef_post_id(w, c, &value, sizeof(T));
}
#define reef_send(block, T, ...) reef_send_value<T>(block, reef_id(T), T{__VA_ARGS__})
#define reef_post(world, T, ...) reef_post_value<T>(world, reef_id(T), T{__VA_ARGS__})
#endif

#endif
