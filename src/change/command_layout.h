/* How commands lie in a buffer, for command.c, which records them, and command_flush.c, which does them.
 *
 * A buffer is a list of chunks. A chunk begins with the name of the system whose commands it holds; the commands lie
 * one behind the other, in one of five forms:
 *
 *   {header} {ids} {values} {bytes of the values}                    one command
 *   {header} {handle} {handle} ...                                   a run: the same for each of these entities (or
 *                                                                    pairs: COMMAND_RELATE)
 *   {header} {values} {id, bytes} {id, bytes} ...                    a run of entities to make (COMMAND_ROWS)
 *   {header} {values} {lane_ids} {bytes} {bytes} ...                 the same with ids of fresh indices, which follow
 *                                                                    from one another (COMMAND_LANE_ROWS)
 *   {header} {values} {id, prefab, bytes} ...                        a run of instances of prefabs (COMMAND_COPIES) */
#ifndef REEF_CHANGE_COMMAND_LAYOUT_H
#define REEF_CHANGE_COMMAND_LAYOUT_H

#include "storage/command_buffer.h"
#include "storage/id_lanes.h"
#include "change/command.h"

enum { COMMAND_RUN_VALUES = 16 }; /* most values of a run of entities to make */

typedef struct command {
    size_t bytes; /* up to the next one */
    union {
        reef_entity entity;
        uint64_t at; /* of a run: the number of its elements that are done */
    };
    uint32_t n;         /* number of ids behind this head; of a run, of its elements */
    uint32_t count;     /* number of values behind them */
    uint32_t component; /* of a run of entities to make: the bytes of an element */
    command_kind kind;
} command;

typedef struct command_chunk {
    struct command_chunk *next;
    size_t bytes;                          /* a power of two */
    size_t used, done;                     /* offsets in the chunk; this head is counted */
    char system[REEF_SYSTEM_NAME_MAX + 1]; /* a copy, because the system may be removed before its commands are done */
} command_chunk;

_Static_assert(sizeof(command_chunk) % PLAIN_ALIGN == 0, "commands begin aligned");

INLINE reef_entity *command_ids(const command *x) { return (reef_entity *)(uintptr_t)(x + 1); }
INLINE reef_value *held_values(const command *x) { return (reef_value *)(void *)(command_ids(x) + x->n); }

INLINE bool command_is_run(const command *x) { return x->kind >= COMMAND_ADD; }
INLINE bool command_is_rows(const command *x) { return x->kind >= COMMAND_COPIES; }
INLINE uint32_t run_stride(const command *x)
{
    return command_is_rows(x) ? x->component : (uint32_t)sizeof(reef_entity) * (x->kind == COMMAND_RELATE ? 2 : 1);
}
INLINE size_t run_head(command_kind kind, uint32_t count)
{
    return sizeof(command) + count * sizeof(reef_value) + (kind == COMMAND_LANE_ROWS ? sizeof(lane_ids) : 0);
}
INLINE reef_value *run_values(const command *x) { return (reef_value *)(uintptr_t)(x + 1); }
INLINE lane_ids *run_ids(const command *x) { return (lane_ids *)(void *)(run_values(x) + x->count); }
INLINE char *run_elements(const command *x) { return (char *)(uintptr_t)x + run_head(x->kind, x->count); }
/* The bytes of an element in front of its values: its id, and its prefab. */
INLINE size_t row_head(command_kind kind)
{
    return kind == COMMAND_COPIES ? 2 * sizeof(reef_entity) : kind == COMMAND_ROWS ? sizeof(reef_entity) : 0;
}
/* For a command of kind CALL: its calls, and the bytes that it holds, which lie behind them. */
INLINE const command_call *command_call_of(const command *x)
{
    const command_call *call;
    memcpy(&call, x + 1, sizeof call);
    return call;
}
INLINE const void *command_held(const command *x) { return (const char *)(x + 1) + PLAIN_ALIGN; }

INLINE command *command_at(const command_chunk *k, size_t at) { return (command *)(void *)((char *)(uintptr_t)k + at); }

/* A chunk whose commands are done waits in the world for the next buffer that grows. */
void reef__command_chunk_retire(reef_world *w, command_chunk *k);

#endif
