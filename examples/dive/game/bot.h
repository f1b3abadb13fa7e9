/* A diver who plays by herself: for recordings, measurements and tests. She decides by the world alone. */
#ifndef DIVE_BOT_H
#define DIVE_BOT_H

#include "game.h"

/* What she presses. She decides anew four times a second, so that recordings stay short. */
Input bot_input(reef_world *w, const Input *before);

#endif
