/* Commands: structural changes that a program asks for while they can't be made. They are kept in their order, and are
 * done when no loop is open and no system runs. This header has what records commands and what does them. */
#ifndef REEF_CHANGE_COMMAND_H
#define REEF_CHANGE_COMMAND_H

#include "storage/command_buffer.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "reef/component.h"

struct command_chunk;

/* The job that records into a buffer of commands, as far as the buffer has to know it: the lane of its ids, the name
 * of its system (REEF_SYSTEM_NAME_MAX + 1 bytes), and where its failures go. */
typedef struct recorder {
    id_lane ids;
    const char *why; /* what is wrong about the argument that is refused next */
    const struct recorder_calls {
        const char *(*name)(const struct recorder *by);
        reef_status (*failure)(struct recorder *by, reef_status status, const char *op, reef_component c, reef_entity e,
                               uint64_t number);
        /* does the system declare this value, of a change of an entity or of one to be made? */
        bool (*declares)(struct recorder *by, const reef_value *v, bool change);
    } * calls;
} recorder;

typedef enum command_kind {
    COMMAND_SPAWN = 1,
    COMMAND_CLONE,
    COMMAND_INSTANTIATE,
    COMMAND_CLONE_TREE,
    COMMAND_DESTROY_MANY,
    COMMAND_ADD_VALUE,
    COMMAND_SET,
    COMMAND_REMOVE_ALL,
    COMMAND_CHANGE,
    COMMAND_NAME,
    COMMAND_CALL,
    /* kinds of which equal commands for many entities are kept as one run */
    COMMAND_ADD,
    COMMAND_REMOVE,
    COMMAND_DESTROY,
    COMMAND_ENABLE,
    COMMAND_DISABLE,
    COMMAND_RELATE, /* without data; an element is a source and its target */
    COMMAND_COPIES, /* instances of prefabs */
    COMMAND_ROWS,
    COMMAND_LANE_ROWS
} command_kind;

/* Recording. A command is recorded completely or not at all. The caller has checked all that can be checked now;
 * NO_MEMORY, LIMIT and what a hook answers are reported here, by reef__failure with `op`, or by the recorder's failure
 * call. Several threads record at once, each into the buffer of its job: nothing but that buffer is written. */

/* Records a command that needs no value. */
reef_status reef__command_plain(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                reef_component c);
/* Records a command with values: CHANGE, or ADD_VALUE and SET, which have one value. Values are copied, or moved if
 * their type has no copy hook. */
reef_status reef__command_values(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                 const reef_value *values, uint32_t count);
/* Records that n entities are made: SPAWN, or copies of `source`, alone (CLONE) or with all that is below it. It takes
 * n new ids, of the roots where trees are copied, which stay taken from now on, and writes them to `made` (NULL: they
 * aren't wanted). */
reef_status reef__command_make(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity source,
                               uint32_t n, reef_entity *made, const reef_value *values, uint32_t count);
/* Records that the entities of a list are destroyed, as far as they are alive then. The answer is how many are alive
 * now, or will be by a recorded command. */
uint32_t reef__command_destroy_many(reef_world *w, commands *to, const char *op, const reef_entity *es, uint32_t n);
/* Records a name, of which the text is copied. NULL: the name is taken away. */
reef_status reef__command_name(reef_world *w, commands *to, const char *op, reef_entity e, const char *text);
/* A command of a layer above: what is called when its turn comes, and what releases what it holds if that never
 * happens. */
typedef struct command_call {
    reef_status (*run)(reef_world *w, uint32_t what, const void *held);
    void (*forget)(uint32_t what, const void *held);
} command_call;
/* Records such a command, which holds `bytes` bytes. The caller writes them to the address that is given back. NULL:
 * no memory, which was reported. */
void *reef__command_bytes(reef_world *w, commands *to, const char *op, const command_call *call, uint32_t what,
                          size_t bytes);
/* Is the entity alive, or will a recorded command make it? */
bool reef__command_knows(const reef_world *w, reef_entity e);

INLINE uint64_t command_run_key(command_kind kind, uint32_t component) { return (uint64_t)kind << 32 | component; }
/* a run of entities to make, of which all values are 8 bytes wide */
#define COMMAND_RUN_WORDS ((uint64_t)COMMAND_LANE_ROWS << 32 | 1)
/* Extends the run that was recorded last by one entity: the fast path of reef__command_plain. False: the last
 * command was another one, or its chunk is full. */
INLINE bool command_again(commands *to, command_kind kind, uint32_t component, reef_entity e)
{
    if (UNLIKELY(to->run != command_run_key(kind, component) || to->next == to->end)) return false;
    memcpy(to->next, &e, sizeof e);
    to->next += sizeof e;
    return true;
}

/* Records that a source is related to a target, without data, and its fast path: the same relation once more. */
reef_status reef__command_relate(reef_world *w, commands *to, const char *op, reef_component relation,
                                 reef_entity source, reef_entity target);
INLINE bool command_relate_again(commands *to, uint32_t relation, reef_entity source, reef_entity target)
{
    if (UNLIKELY(to->run != command_run_key(COMMAND_RELATE, relation) || to->next == to->end)) return false;
    memcpy(to->next, &source, sizeof source);
    memcpy(to->next + sizeof source, &target, sizeof target);
    to->next += 2 * sizeof source;
    return true;
}

/* Records one more entity like the last one that this job or this loop made: the fast path of reef__command_make. The
 * null entity: nothing was recorded. (A job's ids come from its lane, so it needs no world.) */
reef_entity reef__command_row_again(reef_world *w, commands *to, const reef_value *values, uint32_t count);
/* The same for one more instance of a prefab. */
reef_entity reef__command_copy_again(commands *to, reef_entity prefab, const reef_value *values, uint32_t count);
/* Writes the values of one more entity into the open run, if that is a run of entities with ids of fresh indices whose
 * values are 8 bytes wide each, and has room. False: nothing was recorded. */
INLINE bool command_row_words(commands *to, const reef_value *values, uint32_t count)
{
    char *at = to->next;
    const reef_value *like = to->like;
    if (UNLIKELY(to->run != COMMAND_RUN_WORDS || at == to->end || to->like_count != count)) return false;
    for (uint32_t i = 0; i < count; i++, at += 8) {
        /* Halves are compared and copied separately: the caller just wrote them so, and if they were read as one, the
         * processor would have to wait. */
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

/* Puts all commands of `from` behind those of `to`, in O(1). `from` is empty then. */
void reef__commands_append(commands *to, commands *from);
/* Does the commands in their order. NO_MEMORY: the command that failed so, and all behind it, are kept. With any other
 * answer none is left; the answer is the status of the first that failed, which is the last error then. Each that
 * failed is written to the log. */
reef_status reef__commands_do(reef_world *w, commands *c);
/* Ends the open run: commands that are recorded from now on belong to another system or caller. */
void reef__commands_part(commands *c);
/* Forgets all commands and destroys the values that they hold. The ids that they took stay taken. */
void reef__commands_drop(reef_world *w, commands *c);
void reef__commands_trim(reef_world *w); /* frees the chunks that no buffer uses */
/* Does the world's own commands, as far as memory allows. No loop may be open. */
reef_status reef__world_flush(reef_world *w);

#endif
