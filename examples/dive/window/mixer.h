/* Plays sounds. */
#ifndef DIVE_MIXER_H
#define DIVE_MIXER_H

#include "sound.h"

#include <stdbool.h>

/* Computes all sounds and opens the sound card. False: there is none; the other calls then do nothing. */
bool mixer_open(void);
void mixer_play(const sound_request *sounds, uint32_t count);
void mixer_close(void);

#endif
