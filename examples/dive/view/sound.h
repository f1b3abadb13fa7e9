/* Sounds, which are computed when the program begins. */
#ifndef DIVE_SOUND_H
#define DIVE_SOUND_H

#include "rules.h"

#include <stdint.h>

/* The sounds have the numbers of the cues, and there are a few more. */
enum { SOUND_REWIND = CUE_COUNT, SOUND_MENU, SOUND_HUM, SOUND_COUNT };
enum { SOUND_RATE = 44100, SOUNDS_MAX = 12 };

/* A sound to be played now. */
typedef struct sound_request {
    uint32_t what;
    float volume, pan; /* 0 ... 1; -1 ... 1 */
} sound_request;

/* How many samples a sound has; 0: there is none for this number. SOUND_HUM is to be repeated without end. */
uint32_t sound_length(uint32_t what);
/* Computes them: -1 ... 1, SOUND_RATE a second. */
void sound_make(uint32_t what, float *samples);

#endif
