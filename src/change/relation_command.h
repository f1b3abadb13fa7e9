/* Requests to relate entities, which are recorded while they can't be done: in loops that record, by observers, and in
 * systems. */
#ifndef REEF_CHANGE_RELATION_COMMAND_H
#define REEF_CHANGE_RELATION_COMMAND_H

#include "storage/command_buffer.h"
#include "reef/component.h"

typedef enum relation_verb { RELATION_RELATE, RELATION_BEFORE, RELATION_UNRELATE, RELATION_RETARGET } relation_verb;

/* The arguments of reef_relate, reef_relate_before, reef_unrelate or reef_retarget. */
typedef struct relation_request {
    relation_verb verb;
    reef_component relation;
    reef_entity source, target;
    reef_entity other; /* the next source, or the new target */
    const void *data;
    size_t size;
} relation_request;

/* What is wrong with a request whatever the state is: UNKNOWN_TYPE, BAD_ARGUMENT, WRONG_SIZE, and NOT_ALIVE for a null
 * handle. REEF_OK: nothing. *why: what is wrong, if it is a BAD_ARGUMENT. */
reef_status reef__relation_sound(const relation_request *x, const char **why);
/* Records a sound request; its data is copied. NO_MEMORY is reported as for other commands. */
reef_status reef__relation_record(reef_world *w, commands *to, const char *op, const relation_request *x);
/* Does a request now. */
reef_status reef__relation_do(reef_world *w, const relation_request *x);

#endif
