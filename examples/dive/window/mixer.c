#include "mixer.h"

#include <SDL.h>
#include <stdlib.h>
#include <string.h>

enum { VOICES = 28 };

/* A sound that is being heard. */
typedef struct voice {
    const float *samples;
    uint32_t length, at;
    float left, right;
    bool repeats;
} voice;

static SDL_AudioDeviceID device;
static float *sounds[SOUND_COUNT];
static voice voices[VOICES];

/* The sound card asks for more, on a thread of its own. */
static void SDLCALL fill(void *context, Uint8 *bytes, int length)
{
    float *out = (float *)(void *)bytes;
    const int frames = length / (int)(2 * sizeof *out);
    (void)context;
    memset(out, 0, (size_t)length);
    for (voice *v = voices; v < voices + VOICES; v++) {
        for (int i = 0; i < frames && v->samples != NULL; i++) {
            out[i * 2] += v->samples[v->at] * v->left;
            out[i * 2 + 1] += v->samples[v->at] * v->right;
            if (++v->at < v->length) continue;
            v->at = 0;
            if (!v->repeats) v->samples = NULL;
        }
    }
    for (int i = 0; i < frames * 2; i++) { /* soft limits */
        float x = out[i] * 0.5f;
        out[i] = x / (1.0f + (x < 0.0f ? -x : x));
    }
}

static void start(uint32_t what, float volume, float pan, bool repeats)
{
    voice *oldest = &voices[1]; /* the first one hums */
    for (voice *v = voices + 1; v < voices + VOICES; v++) {
        if (v->samples == NULL) {
            oldest = v;
            break;
        }
        if (v->length - v->at < oldest->length - oldest->at) oldest = v;
    }
    if (repeats) oldest = &voices[0];
    *oldest = (voice){sounds[what], sound_length(what), 0, volume * (1.0f - pan), volume * (1.0f + pan), repeats};
}

bool mixer_open(void)
{
    const SDL_AudioSpec want = {
        .freq = SOUND_RATE, .format = AUDIO_F32SYS, .channels = 2, .samples = 1024, .callback = fill};
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) != 0) return false;
    for (uint32_t i = 0; i < SOUND_COUNT; i++) {
        uint32_t length = sound_length(i);
        if (length == 0) continue;
        sounds[i] = malloc(length * sizeof *sounds[i]);
        if (sounds[i] == NULL) return false;
        sound_make(i, sounds[i]);
    }
    device = SDL_OpenAudioDevice(NULL, 0, &want, NULL, 0);
    if (device == 0) return false;
    start(SOUND_HUM, 0.5f, 0.0f, true);
    SDL_PauseAudioDevice(device, 0);
    return true;
}

void mixer_play(const sound_request *requests, uint32_t count)
{
    if (device == 0) return;
    SDL_LockAudioDevice(device);
    for (uint32_t i = 0; i < count; i++)
        if (sound_length(requests[i].what) > 0) start(requests[i].what, requests[i].volume, requests[i].pan, false);
    SDL_UnlockAudioDevice(device);
}

void mixer_close(void)
{
    if (device != 0) SDL_CloseAudioDevice(device);
    device = 0;
    for (uint32_t i = 0; i < SOUND_COUNT; i++) free(sounds[i]);
}
