/* Recorded inputs. A dive follows from its seed and its inputs, so a recording is a whole dive.
 *
 * As a file, it is a text:
 *
 *     # whatever
 *     seed 7
 *     90                              nothing for 90 ticks
 *     30 move 100 0 hold              half a second to the east; the lamp keeps its direction
 *     12 move -71 71 aim 0 -100 dash pulse
 *     1 pick 2                        buy the second offer
 *     60 rewound 45                   the first of these ticks pays for 45 ticks of rewinding
 *
 * `pick` and `rewound` count for the first tick of their line only. */
#ifndef DIVE_REPLAY_H
#define DIVE_REPLAY_H

#include "rules.h"

#include <stdio.h>

typedef struct replay {
    uint64_t seed;
    Input *inputs;
    uint64_t count, capacity;
} replay;

/* Adds an input. False: no memory, and nothing is changed. */
bool replay_add(replay *r, Input in);
/* Reads a text. False: line *line can't be understood (0: no memory). */
bool replay_read(replay *r, FILE *file, uint64_t *line);
/* Writes a text. False: the file can't be written. */
bool replay_write(const replay *r, FILE *file);
void replay_free(replay *r);

#endif
