/* The schedule: which systems a world has, in which phases, in which order, and what each of them touches.
 * (src/system/schedule.c; what a description asks for is read by src/system/system.c.)
 *
 * A schedule never changes while more than one world holds it: forks share it, and whoever changes it first takes a
 * copy. So systems are counted too: the last schedule that has one takes it along. Nothing here is state; what a
 * system has seen and when it ran last is kept in the state by the serial number of the system or of the phase. */
#ifndef REEF_SYSTEM_SCHEDULE_H
#define REEF_SYSTEM_SCHEDULE_H

#include "storage/family.h"
#include "storage/observed.h"
#include "reef/system.h"

/* How a system uses a component, and a type of events: these are two things, also where they have one type. */
enum {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_SEND = 4,
    ACCESS_RECEIVE = 8,
    ACCESS_SUBTYPES = 16 /* of its subtypes too */
};

/* Why a system is one job. */
typedef enum split_reason {
    SPLIT_ALLOWED,
    SPLIT_NO_QUERY,
    SPLIT_WHOLE,
    SPLIT_MAIN_THREAD,
    SPLIT_WRITES_OTHERS,
    SPLIT_WRITES_FIXED,
    SPLIT_READS_WRITTEN,
    SPLIT_CHANGED_IN_GROUP
} split_reason;

/* What a system is; immutable but for its count of holders. (No typedef: the C library has a function of this name.) */
struct system {
    uint32_t holders;   /* schedules; under the family's lock */
    uint64_t serial;    /* of the family; its query has the same */
    uint64_t name_hash; /* for random numbers */
    char name[REEF_SYSTEM_NAME_MAX + 1];
    void (*function)(reef_block *block);
    void *context;
    void (*context_free)(void *context);
    void (*combine)(void *total, const void *part);
    bool (*condition)(const reef_world *world, void *context);
    uint64_t interval_ns;
    bool main_thread, has_query;
    bool split;                  /* may be: it touches only its rows, and reads only what it doesn't write */
    bool commands;               /* it declares some */
    bool subtypes;               /* some term has a plus */
    split_reason unsplit;        /* why not */
    reef_component unsplit_type; /* for whose sake, {0}: for no component's */
    uint32_t touch_count, access_count;
    reef_touch *touches;
    /* Components and events used while it runs, each type once, sorted by id. What collides is decided by these.
     * Tags are none: whether an entity has one doesn't change in a phase. */
    struct access {
        uint32_t component, use;
    } * access;
    char *before, *after;  /* names with spaces; NULL: none */
    reef_query_desc query; /* without text */
    size_t bytes;          /* of this allocation: the arrays follow */
};

typedef struct phase {
    char name[REEF_SYSTEM_NAME_MAX + 1];
    uint64_t serial;
    uint64_t step_ns;
    uint32_t steps_max;
    uint32_t first; /* of its systems in `order`; they end where the next phase's begin */
} phase;

/* A system's place. */
typedef struct schedule_entry {
    struct system *system;
    uint32_t slot; /* of its handle */
    uint32_t phase;
    bool on;
} schedule_entry;

/* Where the handles of slot i are: entry ENTRY_NONE: of nobody. */
typedef struct schedule_slot {
    uint32_t generation, entry;
} schedule_slot;
#define ENTRY_NONE 0xFFFFFFFFu

/* An observer's place (src/observe/observer.h). */
typedef struct observer_entry {
    struct observer *observer;
    uint32_t slot; /* of its handle */
} observer_entry;

typedef struct schedule {
    /* another one with each change of observers. The first member: src/storage/observed.h reads it */
    uint64_t observer_epoch;
    uint32_t holders; /* worlds; under the family's lock */
    uint32_t phase_count, count, slot_count;
    uint32_t observer_count, observer_slot_count;
    uint64_t epoch; /* of the family: another one with each change of any schedule */
    phase phases[REEF_PHASES_MAX];
    schedule_entry *entries; /* as they were added */
    /* entries by phase, and in it as they run: each as early as it was added, unless `before` and `after` forbid */
    uint32_t *order;
    schedule_slot *slots;
    observer_entry *observers; /* in the order of their making, which is that of being called */
    schedule_slot *observer_slots;
    size_t bytes; /* of this allocation: the arrays follow */
} schedule;

/* The phases of a world that was told of no others. */
enum { PHASES_FIRST = 3 };
extern const char *const reef__phases_first[PHASES_FIRST];
/* The world's schedule, made if there was none. NULL: no memory. */
schedule *reef__schedule_ready(reef_world *w);
/* A copy of it, which is there, with room for more systems and observers, whose holders aren't counted yet; NULL: no
 * memory. It becomes the world's. (src/system/schedule.c) */
schedule *reef__schedule_copy_more(reef_world *w, uint32_t systems, uint32_t observers);
void reef__schedule_put(reef_world *w, schedule *s);
/* The entry of a handle of this world. NULL: *s says why. */
const schedule_entry *reef__schedule_find(const reef_world *w, reef_system_id which, reef_status *s);
/* Has the world's schedule a system or a phase of this serial number? */
bool reef__schedule_knows(const reef_world *w, uint64_t serial);
/* The number of a phase of this name, UINT32_MAX: there is none. */
uint32_t reef__phase_find(const schedule *s, const char *name);
/* The same of the world's schedule, which is there; what isn't known is refused: false. */
bool reef__phase_named(reef_world *w, const char *op, const char *name, uint32_t *phase);

/* The world has another schedule. */
void reef__observers_follow(reef_world *w);
void reef__observer_leave(family *f, struct observer *o); /* a holder leaves */

/* The system's or observer's name in an error: is it an observer's? */
bool reef__observer_named(const reef_world *w, const char *name);

/* Its entry in a schedule, which may be NULL; ENTRY_NONE: there is no such observer. (src/system/schedule.c, as what
 * stands above) */
uint32_t reef__observer_entry_named(const schedule *s, const char *name);

/* A world leaves its schedule. */
void reef__schedule_drop(reef_world *w);

/* One more holder of a schedule, a fork or a snapshot; one less. NULL is allowed. */
struct schedule *reef__schedule_hold(family *f, struct schedule *s);
void reef__schedule_leave(family *f, struct schedule *s);

#endif
