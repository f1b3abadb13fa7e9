/* The rules as a library, which the running game replaces (reload.h), and with which `reef replay` plays recordings of
 * dives that several share. */
#include "game.h"
#include <reef_hot.h>

REEF_HOT_LIBRARY(&dive_rules);

#ifdef DIVE_TOGETHER
#include "step.h"
#include <reef_net_recording.h>

REEF_NET_RULES(together_step, CrewInput);
#endif
