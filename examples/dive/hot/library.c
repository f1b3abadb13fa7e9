/* The rules as a library, which the running game replaces (reload.h). */
#include "game.h"
#include <reef_hot.h>

REEF_HOT_LIBRARY(&dive_rules);
