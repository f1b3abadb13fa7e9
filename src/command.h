/* Commands: structural changes that were asked for while they can't be made, kept in their order until they can. */
#ifndef REEF_COMMAND_H
#define REEF_COMMAND_H

#include "memory.h"
#include "reef/entity.h"

struct command_chunk;

/* A buffer of commands; {0} is empty. Nothing in it moves: values with hooks keep their addresses until they are used.
 * Its memory is that of the world's family. */
typedef struct commands {
    struct command_chunk *first, *last; /* those of the first are done next, new ones go to the last */
    struct command_chunk *spare;        /* kept for the next time */
    size_t                done;         /* bytes of the first chunk whose commands are done */
    uint64_t              count;        /* commands that aren't */
} commands;

typedef enum command_kind {
    COMMAND_SPAWN, COMMAND_CLONE, COMMAND_DESTROY, COMMAND_DESTROY_MANY, COMMAND_ADD, COMMAND_SET, COMMAND_REMOVE, COMMAND_REMOVE_ALL,
    COMMAND_CHANGE, COMMAND_ENABLE, COMMAND_DISABLE
} command_kind;

/* Recording. All or nothing: what can be checked now is checked by the caller; NO_MEMORY, LIMIT, or what a hook says, are told
 * through failure(w, ..., op, ...). */

/* One that needs no value. */
reef_status command_plain(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e, reef_component c);
/* With values, which are copied, or moved where they can't be: CHANGE, ADD and SET (of one value). */
reef_status command_values(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                           const reef_value *values, uint32_t count);
/* SPAWN; CLONE of `source`. n new ids, which are out from now on, go to `made` (NULL: not wanted). */
reef_status command_spawn(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n, reef_entity *made,
                          const reef_value *values, uint32_t count);
reef_status command_clone(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n, reef_entity *made);
/* Destroys those of a list that live then. How many live now, or will. */
uint32_t command_destroy_many(reef_world *w, commands *to, const char *op, const reef_entity *es, uint32_t n);
/* Is the entity alive, or will it be by a command that is recorded? */
bool command_knows(const reef_world *w, reef_entity e);

/* Does them, in their order. NO_MEMORY: the one that failed so and all behind it are left. Otherwise none is left, and the answer is
 * that of the first that failed, which is the last error then; each that failed goes to the log. */
reef_status commands_do(reef_world *w, commands *c);
/* Forgets them: what they hold is destroyed. Ids that they gave out stay out. */
void commands_drop(reef_world *w, commands *c);
void commands_trim(reef_world *w, commands *c); /* gives back what isn't used */
/* The world's own: done as far as memory allows. (No loop is open.) */
reef_status world_flush(reef_world *w);

#endif
