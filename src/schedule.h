/* The schedule: which systems a world has, in which phases, in which order, and what each of them touches. (src/schedule.c)
 *
 * A schedule never changes while more than one world holds it: forks share it, and whoever changes it first takes a copy. So systems
 * are counted too: the last schedule that has one takes it along. Nothing here is state; what a system has seen and when it ran last is
 * kept in the state by the serial number of the system or of the phase. */
#ifndef REEF_SCHEDULE_H
#define REEF_SCHEDULE_H

#include "query.h"
#include "reef/system.h"


/* What a system is; immutable but for its count of holders. */
struct system {
    uint32_t    holders;    /* schedules; under the family's lock */
    uint64_t    serial;     /* of the family; its query has the same */
    uint64_t    name_hash;  /* for random numbers */
    char        name[REEF_SYSTEM_NAME_MAX + 1];
    void      (*function)(reef_block *block);
    void       *context;
    void      (*context_free)(void *context);
    void      (*combine)(void *total, const void *part);
    bool      (*condition)(const reef_world *world, void *context);
    uint64_t    interval_ns;
    bool        main_thread, has_query;
    bool        split;      /* may be: it touches only its rows, and reads only what it doesn't write */
    bool        commands;   /* it declares some */
    uint32_t    touch_count, access_count;
    reef_touch *touches;
    /* Components read and written while it runs, each once, sorted by id. What collides is decided by these. */
    struct access { uint32_t component; bool write; } *access;
    char       *before, *after; /* names with spaces; NULL: none */
    reef_query_desc query;      /* without text */
    size_t      bytes;          /* of this allocation: the arrays follow */
};

typedef struct phase {
    char     name[REEF_SYSTEM_NAME_MAX + 1];
    uint64_t serial;
    uint64_t step_ns;
    uint32_t steps_max;
} phase;

/* A place in the order. */
typedef struct schedule_entry {
    struct system *system;
    uint32_t slot;   /* of its handle */
    uint32_t phase;
    bool     on;
} schedule_entry;

typedef struct schedule {
    uint32_t holders; /* worlds; under the family's lock */
    uint32_t phase_count, count, room;
    uint64_t epoch;   /* of the family: counts changes of any schedule */
    phase    phases[REEF_PHASES_MAX];
    schedule_entry *entries; /* as they were added; the order in which they run is made from it (order) */
    uint32_t *order;  /* entries by phase, and in it as they run */
    uint32_t *slot_generation; /* by slot */
    uint32_t  slot_count;
} schedule;

/* Does the system declare this? Of kinds that allow it, without a type stands for every type. */
bool system_touches(const struct system *s, reef_touch_kind kind, uint32_t component);
/* Must one of two systems wait for the other? The component for whose sake: 0: they don't collide. */
uint32_t systems_collide(const struct system *a, const struct system *b);

#endif
