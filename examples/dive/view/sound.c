/* Each sound is a sum of a tone whose pitch slides, noise through a filter, and an echo, with a fading volume. */
#include "sound.h"

#include "rules.h"

#include <math.h>
#include <stddef.h>

typedef struct voice {
    float seconds;
    float from, to;    /* pitch of the tone, Hz */
    float tone, noise; /* how loud each is */
    float filter;      /* of the noise, Hz */
    float fade;        /* how quickly it fades: 1 is evenly, more is quicker */
    float buzz;        /* 0: a sine; 1: many overtones */
    float second;      /* ratio of a second tone, e.g. 1.5; 0: none */
    float wobble;      /* Hz */
} voice;

/* clang-format off */
static const voice voices[SOUND_COUNT] = {
    /*                sec    from    to     tone   noise  filter fade buzz  second wobble */
    [CUE_SHOT]      = {0.16f,  900,   220,   0.10f, 0.35f, 2600,  3.0f, 0.2f, 0,     0},
    [CUE_HIT]       = {0.09f,  340,   120,   0.30f, 0.30f, 1800,  3.0f, 0.3f, 0,     0},
    [CUE_SHELL]     = {0.18f, 1900,  1500,   0.22f, 0.08f, 5000,  3.5f, 0.1f, 1.51f, 0},
    [CUE_DEATH]     = {0.22f,  420,    60,   0.35f, 0.30f, 1200,  2.2f, 0.4f, 0,    30},
    [CUE_BLAST]     = {0.85f,  120,    28,   0.60f, 0.70f,  700,  2.6f, 0.3f, 0,     0},
    [CUE_PULSE]     = {1.10f,  620,   600,   0.45f, 0.03f, 2000,  2.4f, 0.0f, 2.01f, 0},
    [CUE_BITE]      = {0.45f,  170,    70,   0.45f, 0.55f, 2400,  2.0f, 0.8f, 0,    18},
    [CUE_DASH]      = {0.32f,  160,   420,   0.08f, 0.50f, 1500,  1.8f, 0.0f, 0,     0},
    [CUE_PEARL]     = {0.22f, 1320,  1330,   0.25f, 0.00f,    0,  3.0f, 0.0f, 1.5f,  0},
    [CUE_AIR]       = {0.30f,  400,   900,   0.25f, 0.10f, 1500,  2.0f, 0.0f, 0,    14},
    [CUE_AIM]       = {0.40f,  210,   330,   0.22f, 0.05f,  900,  1.0f, 0.7f, 0,    22},
    [CUE_SPIT]      = {0.20f,  520,   180,   0.25f, 0.20f, 1500,  2.2f, 0.3f, 0,    40},
    [CUE_LAY]       = {0.20f,  150,   210,   0.25f, 0.05f,  800,  2.0f, 0.1f, 0,     0},
    [CUE_HATCH]     = {0.25f,  300,   700,   0.20f, 0.20f, 2000,  2.0f, 0.2f, 0,    25},
    [CUE_HEAL]      = {0.35f,  700,  1000,   0.12f, 0.00f,    0,  2.0f, 0.0f, 1.25f, 6},
    [CUE_EATEN]     = {0.30f,  260,    90,   0.30f, 0.30f, 1300,  2.0f, 0.5f, 0,     0},
    [CUE_WAVE]      = {1.60f,  110,   165,   0.45f, 0.06f,  500,  1.2f, 0.4f, 1.5f,  5},
    [CUE_BOSS]      = {2.40f,   62,    48,   0.65f, 0.20f,  300,  1.0f, 0.8f, 1.06f, 3},
    [CUE_SHOP]      = {0.90f,  523,   523,   0.30f, 0.00f,    0,  1.8f, 0.0f, 1.25f, 0},
    [CUE_BUY]       = {0.50f,  660,   990,   0.30f, 0.00f,    0,  2.0f, 0.0f, 1.5f,  0},
    [CUE_WON]       = {2.50f,  392,   588,   0.45f, 0.00f,    0,  1.0f, 0.1f, 1.5f,  5},
    [CUE_LOST]      = {2.20f,  196,    55,   0.50f, 0.25f,  500,  1.2f, 0.5f, 0.75f, 4},
    [SOUND_REWIND]  = {0.40f,  300,   180,   0.16f, 0.14f, 1200,  0.6f, 0.3f, 0,    11},
    [SOUND_MENU]    = {0.08f,  700,   760,   0.22f, 0.00f,    0,  2.0f, 0.0f, 0,     0},
    [SOUND_HUM]     = {6.00f,   55,    55,   0.16f, 0.16f,  220,  0.0f, 0.2f, 1.5f,  0.3333333f},
};
/* clang-format on */

uint32_t sound_length(uint32_t what) { return what < SOUND_COUNT ? (uint32_t)(voices[what].seconds * SOUND_RATE) : 0; }

void sound_make(uint32_t what, float *samples)
{
    const voice *v = &voices[what];
    const float full = 6.2831853f;
    const uint32_t length = sound_length(what);
    float phase = 0.0f, second = 0.0f, low = 0.0f, lower = 0.0f;
    uint32_t dice = 12345u + what;
    for (uint32_t i = 0; i < length; i++) {
        float t = (float)i / (float)length, pitch = v->from * powf(v->to / v->from, t);
        float wobble = v->wobble > 0.0f ? 1.0f + 0.25f * sinf(full * v->wobble * (float)i / SOUND_RATE) : 1.0f;
        phase += pitch / SOUND_RATE;
        second += pitch * v->second / SOUND_RATE;
        float tone = sinf(full * phase);
        for (int k = 2; k <= 5; k++) tone += v->buzz * sinf(full * phase * (float)k) / (float)k;
        if (v->second > 0.0f) tone = 0.6f * tone + 0.5f * sinf(full * second);
        dice = dice * 1664525u + 1013904223u;
        float white = (float)(dice >> 8) / 8388608.0f - 1.0f, open = 1.0f - expf(-full * v->filter / SOUND_RATE);
        low += (white - low) * open;
        lower += (low - lower) * open;
        float begin = t * v->seconds * 200.0f < 1.0f ? t * v->seconds * 200.0f : 1.0f;
        float volume = v->fade > 0.0f ? powf(1.0f - t, v->fade) * begin : 1.0f;
        samples[i] = (v->tone * tone * wobble + v->noise * lower * 2.5f) * volume;
    }
    if (v->fade > 0.0f) { /* an echo of the deep; it is heard inside of the sound only */
        for (uint32_t i = 4000; i < length; i++)
            samples[i] += samples[i - 4000] * 0.3f * (1.0f - (float)i / (float)length);
    } else { /* the end fades into the beginning */
        const uint32_t over = SOUND_RATE / 2;
        for (uint32_t i = 0; i < over; i++) {
            float k = (float)i / (float)over;
            samples[length - over + i] = samples[length - over + i] * (1.0f - k) + samples[i] * k * 0.999f;
        }
    }
}
