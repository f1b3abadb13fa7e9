/* A command buffer: structural changes that are kept, in their order, until they can be made (src/change/command.h). */
#ifndef REEF_STORAGE_COMMAND_BUFFER_H
#define REEF_STORAGE_COMMAND_BUFFER_H

#include "base/platform.h"
#include "reef/component.h"

enum { COMMAND_CHUNK_CLASSES = 36 }; /* the lengths of chunks are powers of two */

/* A command buffer; {0} is empty. Nothing in it moves: values with hooks keep their addresses until they are used. Its
 * memory belongs to the family of the world. Chunks that were used wait in the world for the next buffer that grows.
 *
 * The last command may be a run that is still growing. Until it is closed, `next` says how many elements it has. */
typedef struct commands {
    /* the commands of the first chunk are done next, new ones go to the last chunk */
    struct command_chunk *first, *last;
    uint64_t count;   /* number of commands, without those of the open run */
    uint64_t run;     /* command_run_key of the open run; 0: none is open */
    char *next, *end; /* where the next element of the open run goes, and where its room ends */
    /* of a run of entities whose values are single words: the like_count values that each of them has */
    const struct reef_value *like;
    uint32_t like_count;
    struct recorder *by; /* the job whose commands these are; NULL: they come from loops */
} commands;

#endif
