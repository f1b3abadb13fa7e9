/* The schedule: which systems and observers a world has, in which phases, in which order, and what each system
 * touches. (src/system/schedule.c; src/system/system.c reads the description of one system.)
 *
 * A schedule never changes while more than one world holds it. Forks share it, and whoever changes it first makes a
 * copy. Therefore systems are counted too: a system is freed with the last schedule that has it. A schedule isn't part
 * of the state; what a system has seen and when it ran last is kept in the state, under the serial number of the
 * system or of the phase. */
#ifndef REEF_SYSTEM_SCHEDULE_H
#define REEF_SYSTEM_SCHEDULE_H

#include "storage/observed.h"
#include "reef/module.h"
#include "reef/system.h"

/* How a system uses a component, or a type of events. A type may be both, and then the two uses are independent. */
enum {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_SEND = 4,
    ACCESS_RECEIVE = 8,
    ACCESS_SUBTYPES = 16 /* and its subtypes in the same way */
};

/* Why a system isn't split into several jobs. */
typedef enum split_reason {
    SPLIT_ALLOWED,
    SPLIT_NO_QUERY,
    SPLIT_WHOLE,
    SPLIT_MAIN_THREAD,
    SPLIT_WRITES_OTHERS,
    SPLIT_WRITES_FIXED,
    SPLIT_READS_WRITTEN,
    SPLIT_CHANGED_IN_GROUP,
    SPLIT_VARIABLES
} split_reason;

/* A system as it was described. It never changes, except for its count of holders, and `serial` before it first runs.
 * (It has no typedef because the C library has a function of this name.) */
struct system {
    uint32_t holders; /* number of schedules that have it; under the family's lock */
    uint64_t number;  /* unique in the family */
    /* under which states keep what it has seen: `number`, or that of the system of an older version of its module,
     * whose place it took (src/api/module.c). Its query has the same */
    uint64_t serial;
    uint64_t module;    /* the id of the module that it belongs to; 0: none */
    uint64_t name_hash; /* for random numbers */
    char name[REEF_SYSTEM_NAME_MAX + 1];
    void (*function)(reef_block *block);
    void *context;
    void (*context_free)(void *context);
    void (*combine)(void *total, const void *part);
    bool (*condition)(const reef_world *world, void *context);
    uint64_t interval_ns;
    bool main_thread, has_query;
    /* it may be split: it touches only its rows, and reads in others' rows only what it doesn't write */
    bool split;
    bool commands;               /* it declares commands */
    bool subtypes;               /* some term of its query has a plus */
    split_reason unsplit;        /* why it isn't split */
    reef_component unsplit_type; /* the component that is the reason; {0}: none is */
    uint32_t touch_count, access_count;
    reef_touch *touches;
    /* The components and events that it uses while it runs, each type once, sorted by id. They decide which systems
     * collide. Tags aren't among them: whether an entity has a tag doesn't change during a phase. */
    struct access {
        uint32_t component, use;
    } * access;
    char *before, *after;  /* names, separated by spaces; NULL: none */
    reef_query_desc query; /* its text is read already */
    size_t bytes;          /* size of this allocation; the arrays follow the struct */
};

typedef struct phase {
    char name[REEF_SYSTEM_NAME_MAX + 1];
    uint64_t serial;
    uint64_t module;         /* as in a system */
    uint32_t module_version; /* the version of it that made the phase last */
    uint64_t step_ns;
    uint32_t steps_max;
    uint32_t first; /* its first system in schedule.order; its systems end where the next phase's begin */
} phase;

/* A system's place in a schedule. */
typedef struct schedule_entry {
    struct system *system;
    uint32_t slot; /* the slot of its handle */
    uint32_t phase;
    bool on;
} schedule_entry;

/* To which entry the handles of a slot belong. ENTRY_NONE: to none. ENTRY_KEPT: to none now, but the slot waits for
 * the system of a module that is being replaced. */
typedef struct schedule_slot {
    uint32_t generation, world, entry; /* world: whose call made it; its forks have it, too */
} schedule_slot;
#define ENTRY_NONE 0xFFFFFFFFu
#define ENTRY_KEPT 0xFFFFFFFEu

/* An observer's place in a schedule (src/observe/observer.h). */
typedef struct observer_entry {
    struct observer *observer;
    uint32_t slot; /* the slot of its handle */
} observer_entry;

/* A module that was loaded (src/api/module.c). */
typedef struct module_entry {
    uint64_t id;              /* the hash of its name */
    const reef_module *about; /* what the program has described; it lives until the module is removed */
    uint32_t version;
    char name[REEF_SYSTEM_NAME_MAX + 1];
} module_entry;

/* A module is being loaded: what is made belongs to it. */
typedef struct module_loading {
    uint64_t id;
    uint32_t version;
    const struct schedule *before; /* with what the module made the last time; NULL: it is new */
    reef_error failed;             /* the first declaration that was refused */
} module_loading;

typedef struct schedule {
    /* Changes with each change of the observers. It must be the first member, because src/storage/observed.h reads
     * it. */
    uint64_t observer_epoch;
    uint32_t holders; /* number of worlds that have it; under the family's lock */
    uint32_t phase_count, count, slot_count;
    uint32_t observer_count, observer_slot_count, module_count;
    uint64_t epoch; /* unique in the family; changes with each change of a schedule */
    phase phases[REEF_PHASES_MAX];
    schedule_entry *entries; /* in the order in which they were added */
    /* Numbers of entries, sorted by phase. Within a phase they stand in the order in which they run, which is the
     * order in which they were added as far as `before` and `after` allow. */
    uint32_t *order;
    schedule_slot *slots;
    observer_entry *observers; /* in the order in which they were made, which is the order in which they are called */
    schedule_slot *observer_slots;
    module_entry *modules; /* in the order in which they were loaded; there is room for one more */
    size_t bytes;          /* size of this allocation; the arrays follow the struct */
} schedule;

/* The phases of a world in which no phase was made. */
enum { PHASES_FIRST = 3 };
extern const char *const reef__phases_first[PHASES_FIRST];
/* The id of the module that is being loaded; 0: none is. */
uint64_t reef__module_of_new(const reef_world *w);
/* Notes that the world's last error refused a declaration of the module that is being loaded, if one is. */
void reef__module_refused(const reef_world *w);
/* Returns the world's schedule; makes one if there is none. NULL: no memory. */
schedule *reef__schedule_ready(reef_world *w);
/* Copy_more copies the world's schedule, which must exist, with room for more systems and observers. Their holders
 * aren't counted yet. NULL: no memory. Put makes a schedule the world's and counts the holders. */
schedule *reef__schedule_copy_more(reef_world *w, uint32_t systems, uint32_t observers);
void reef__schedule_put(reef_world *w, schedule *s);
/* Returns the entry of a handle of this world. NULL: *s says why not. */
const schedule_entry *reef__schedule_find(const reef_world *w, reef_system_id which, reef_status *s);
/* The slots of systems, or of observers. Entry: the entry that a handle belongs to; ENTRY_NONE: *s says why there is
 * none. Take: gives an entry a slot that has none; a slot that has used all its generations is never taken again. */
uint32_t reef__slot_entry(const reef_world *w, const schedule_slot *slots, uint32_t count, reef_system_id which,
                          reef_status *s);
uint32_t reef__slot_take(const reef_world *w, schedule_slot *slots, uint32_t *count, uint32_t entry);
reef_system_id reef__slot_handle(const schedule_slot *slots, uint32_t slot);
/* Releases one hold on a schedule, a system or an observer. True: it was the last one. */
bool reef__hold_release(family *f, uint32_t *holders);
/* Does the world's schedule have a system or a phase with this serial number? */
bool reef__schedule_knows(const reef_world *w, uint64_t serial);
/* Returns the number of the phase with this name. UINT32_MAX: there is none. */
uint32_t reef__phase_find(const schedule *s, const char *name);
/* The same for the world's schedule, which must exist. An unknown name is recorded as a failure: false. */
bool reef__phase_named(reef_world *w, const char *op, const char *name, uint32_t *phase);

/* To be called when the world has got another schedule: tells the observers' fast paths. */
void reef__observers_follow(reef_world *w);
void reef__observer_leave(family *f, struct observer *o); /* releases one hold */

/* The entry of the module with this id, and its name. NULL: there is none. */
const module_entry *reef__module_find(const schedule *s, uint64_t id);
const char *reef__module_name(const schedule *s, uint64_t id);

/* Does the name in an error belong to an observer, not to a system? */
bool reef__observer_named(const reef_world *w, const char *name);

/* Returns the observer's entry in a schedule, which may be NULL. ENTRY_NONE: there is no observer of this name. */
uint32_t reef__observer_entry_named(const schedule *s, const char *name);

/* Is the query in this slot one of the plan, which the next tick makes anew? (src/system/phase.c) */
bool reef__query_planned(const reef_world *w, uint32_t index);

/* A world gives up its schedule. */
void reef__schedule_drop(reef_world *w);

/* Adds or releases one holder of a schedule, which is a world or a snapshot. The schedule may be NULL. */
struct schedule *reef__schedule_hold(family *f, struct schedule *s);
void reef__schedule_leave(family *f, struct schedule *s);

#endif
