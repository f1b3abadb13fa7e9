/* Commands: structural changes that were asked for while they can't be made, kept in their order until they can. */
#ifndef REEF_CHANGE_COMMAND_H
#define REEF_CHANGE_COMMAND_H

#include "base/platform.h"
#include "storage/command_buffer.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "reef/component.h"

struct command_chunk;
struct recorder;

/* A job, as the buffer that it records into knows it: the lane of its ids, the name of its system
 * (REEF_SYSTEM_NAME_MAX + 1 bytes), and where its failures go. */
typedef struct recorder {
    id_lane ids;
    const struct recorder_calls {
        const char *(*name)(const struct recorder *by);
        reef_status (*failure)(struct recorder *by, reef_status status, const char *op, reef_component c, reef_entity e,
                               uint64_t number);
    } * calls;
} recorder;

typedef enum command_kind {
    COMMAND_SPAWN = 1,
    COMMAND_CLONE,
    COMMAND_DESTROY_MANY,
    COMMAND_ADD_VALUE,
    COMMAND_SET,
    COMMAND_REMOVE_ALL,
    COMMAND_CHANGE,
    COMMAND_NAME,
    COMMAND_CALL,
    /* runs */
    COMMAND_ADD,
    COMMAND_REMOVE,
    COMMAND_DESTROY,
    COMMAND_ENABLE,
    COMMAND_DISABLE,
    COMMAND_ROWS,
    COMMAND_LANE_ROWS
} command_kind;

/* Recording. All or nothing: what can be checked now is checked by the caller; NO_MEMORY, LIMIT, or what a hook
 * says, are told through failure(w, ..., op, ...), or reef__job_failure. Buffers of jobs are recorded by several
 * threads at once: nothing else is written. */

/* One that needs no value. */
reef_status reef__command_plain(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                reef_component c);
/* With values, which are copied, or moved where they can't be: CHANGE, and ADD_VALUE and SET (of one value). */
reef_status reef__command_values(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                 const reef_value *values, uint32_t count);
/* SPAWN; CLONE of `source`. n new ids, which are out from now on, go to `made` (NULL: not wanted). */
reef_status reef__command_spawn(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n,
                                reef_entity *made, const reef_value *values, uint32_t count);
reef_status reef__command_clone(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n,
                                reef_entity *made);
/* Destroys those of a list that live then. How many live now, or will. */
uint32_t reef__command_destroy_many(reef_world *w, commands *to, const char *op, const reef_entity *es, uint32_t n);
/* NULL: takes the name away. The text is copied. */
reef_status reef__command_name(reef_world *w, commands *to, const char *op, reef_entity e, const char *text);
/* A command of a layer above: what to call when its turn comes, and what gives back what it holds if that never
 * happens. */
typedef struct command_call {
    reef_status (*run)(reef_world *w, uint32_t what, const void *held);
    void (*forget)(uint32_t what, const void *held);
} command_call;
/* Records one that holds so many bytes, which the caller fills in at the address returned. NULL: no memory, and that
 * was told. */
void *reef__command_bytes(reef_world *w, commands *to, const char *op, const command_call *call, uint32_t what,
                          size_t bytes);
/* Is the entity alive, or will it be by a command that is recorded? */
bool reef__command_knows(const reef_world *w, reef_entity e);

INLINE uint64_t command_run_key(command_kind kind, uint32_t component) { return (uint64_t)kind << 32 | component; }
#define COMMAND_RUN_WORDS ((uint64_t)COMMAND_LANE_ROWS << 32 | 1) /* what each element takes is words */
/* One more of what was recorded last: the straight path of reef__command_plain. False: it is another, or there is no
 * room. */
INLINE bool command_again(commands *to, command_kind kind, uint32_t component, reef_entity e)
{
    if (UNLIKELY(to->run != command_run_key(kind, component) || to->next == to->end)) return false;
    memcpy(to->next, &e, sizeof e);
    to->next += sizeof e;
    return true;
}

/* An entity like the last one that a job made, of reef__command_spawn. Null: nothing was done. */
reef_entity reef__command_row_again(commands *to, const reef_value *values, uint32_t count);
/* Its straight path: a run of entities with ids of fresh indices, whose values are of 8 bytes each, and room for one
 * more. False: another one. */
INLINE bool command_row_words(commands *to, const reef_value *values, uint32_t count)
{
    char *at = to->next;
    const reef_value *like = to->like;
    if (UNLIKELY(to->run != COMMAND_RUN_WORDS || at == to->end || to->like_count != count)) return false;
    for (uint32_t i = 0; i < count; i++, at += 8) {
        /* (Compared or copied as one, two halves that the caller just wrote would be read back whole, and the
         * processor waits.) */
        const uint32_t kind = (uint32_t)values[i].kind ^ REEF_VALUE_ONE, size = values[i].size ^ 8;
        const uint32_t other = (like[i].component.id ^ values[i].component.id) | kind | size;
        const char *from = values[i].data;
        if (UNLIKELY(other != 0) || UNLIKELY(from == NULL)) return false;
        memcpy(at, from, 4);
        memcpy(at + 4, from + 4, 4);
    }
    to->next = at;
    return true;
}

/* All commands of `from` come behind those of `to`; `from` is empty then. O(1). */
void reef__commands_append(commands *to, commands *from);
/* Does them, in their order. NO_MEMORY: the one that failed so and all behind it are left. Otherwise none is left,
 * and the answer is that of the first that failed, which is the last error then; each that failed goes to the log. */
reef_status reef__commands_do(reef_world *w, commands *c);
/* What is recorded from now on is somebody else's. */
void reef__commands_part(commands *c);
/* Forgets them: what they hold is destroyed. Ids that they gave out stay out. */
void reef__commands_drop(reef_world *w, commands *c);
void reef__commands_trim(reef_world *w); /* gives the chunks back that no buffer uses */
/* The world's own: done as far as memory allows. (No loop is open.) */
reef_status reef__world_flush(reef_world *w);

#endif
