/* A tick of a dive that several players share, for sessions of reef_net and for what plays their recordings. */
#ifndef DIVE_STEP_H
#define DIVE_STEP_H

#include "crew.h"
#include <reef_net.h>

static inline reef_status together_step(void *context, reef_world *w, const reef_net_tick *tick)
{
    const CrewInput *input[PLAYERS_MAX];
    (void)context;
    for (int p = 0; p < PLAYERS_MAX; p++) input[p] = tick->input[p];
    return crew_step(w, tick->players, input);
}

#endif
