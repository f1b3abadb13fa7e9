/* The inlined half of sending and receiving events. This isn't part of the interface, and may change with every
 * version. */
#ifndef REEF_DETAIL_EVENT_H
#define REEF_DETAIL_EVENT_H

#include "../event.h"

REEF_BEGIN_C

/* Sends an event whose value is still to be written. Returns room for the value, which the caller fills before it sends
 * anything else; if the event is refused, it returns `aside`. reef_sent_ returns the status. */
REEF_API void *reef_send_room_(const reef_block *block, reef_component type, size_t size, void *aside);
/* The status of the last reef_send_room_ with this block or another block of the same job. */
REEF_API reef_status reef_sent_(const reef_block *block);

/* Room for more events of the type that the job sent last. */
typedef struct reef_event_room {
    char *next, *end;
    uint32_t component, size;
} reef_event_room;
/* The beginning of a job. */
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
        events->at = REEF_CAST(const char *, run);
        events->end = events->at + n * events->size;
    }
    const void *event = events->at;
    events->at += events->size;
    return event;
}

/* The value is written directly to its place. (When it was copied from a literal in memory, an event took 7 ns: a wide
 * load of what narrow stores have just written must wait for them.) */
REEF_INLINE void *reef_send_room_fast(const reef_block *block, reef_component of, size_t size, void *aside)
{
    reef_job_head *job = REEF_CAST(reef_job_head *, REEF_CAST(void *, block->loop.job));
    reef_event_room *room = REEF_LIKELY(job != NULL) ? job->room : NULL;
    if (REEF_LIKELY(room != NULL && room->component == of.id && room->size == size &&
                    REEF_CAST(size_t, room->end - room->next) >= size)) {
        void *slot = room->next;
        room->next += size;
        job->sent = REEF_OK;
        return slot;
    }
    return reef_send_room_(block, of, size, aside);
}

REEF_INLINE reef_status reef_sent_fast(const reef_block *block)
{
    const reef_job_head *job = REEF_CAST(const reef_job_head *, REEF_CAST(const void *, block->loop.job));
    return REEF_LIKELY(job != NULL) ? job->sent : reef_sent_(block);
}

REEF_END_C

#ifdef __cplusplus
template <class T> static inline reef_status reef_send_value(const reef_block *b, reef_component c, const T &value)
{
    T aside;
    *static_cast<T *>(reef_send_room_fast(b, c, sizeof(T), &aside)) = value;
    return reef_sent_fast(b);
}
#endif

#endif
