/* A buffer of commands: structural changes that are kept in their order until they can be made
 * (src/change/command.h). */
#ifndef REEF_STORAGE_COMMAND_BUFFER_H
#define REEF_STORAGE_COMMAND_BUFFER_H

#include "base/platform.h"
#include "reef/component.h"

enum { COMMAND_CHUNK_CLASSES = 36 }; /* lengths of chunks, powers of two */

/* A buffer of commands; {0} is empty. Nothing in it moves: values with hooks keep their addresses until they are
 * used. Its memory is that of the world's family; chunks that are done with wait in the world for the next buffer
 * that grows.
 *
 * The last command may be a run that is still growing. Until it is closed its elements are counted by where `next`
 * is. */
typedef struct commands {
    struct command_chunk *first, *last; /* those of the first are done next, new ones go to the last */
    uint64_t count;                     /* commands that are left, without those of the open run */
    uint64_t run;                       /* command_run_key of the open run; 0: none is open */
    char *next, *end;                   /* where its next element goes, and where its room ends */
    const struct reef_value *like; /* of a run of entities whose values are words: what each of them has, so many */
    uint32_t like_count;
    struct recorder *by; /* the job whose commands these are; NULL: those of loops */
} commands;

#endif
