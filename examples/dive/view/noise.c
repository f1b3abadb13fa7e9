#include "shaders.h"

#include <stdint.h>

static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

static float value_at(uint32_t x, uint32_t y, uint32_t cells, uint32_t seed)
{
    return (float)(mix((x % cells) + (y % cells) * 977u + seed * 131071u) & 0xFFFF) / 65535.0f;
}

static float smooth_at(float x, float y, uint32_t cells, uint32_t seed)
{
    uint32_t ix = (uint32_t)x, iy = (uint32_t)y;
    float fx = x - (float)ix, fy = y - (float)iy;
    fx = fx * fx * (3.0f - 2.0f * fx);
    fy = fy * fy * (3.0f - 2.0f * fy);
    float top = value_at(ix, iy, cells, seed) * (1.0f - fx) + value_at(ix + 1, iy, cells, seed) * fx;
    float bottom = value_at(ix, iy + 1, cells, seed) * (1.0f - fx) + value_at(ix + 1, iy + 1, cells, seed) * fx;
    return top * (1.0f - fy) + bottom * fy;
}

void noise_make(unsigned char *pixels)
{
    for (uint32_t y = 0; y < NOISE_SIDE; y++)
        for (uint32_t x = 0; x < NOISE_SIDE; x++)
            for (uint32_t channel = 0; channel < 4; channel++) {
                float sum = 0.0f, weight = 0.5f;
                for (uint32_t cells = 8; cells <= 64; cells *= 2, weight *= 0.5f) {
                    float scale = (float)cells / (float)NOISE_SIDE;
                    sum += weight * smooth_at((float)x * scale, (float)y * scale, cells, channel * 7 + cells);
                }
                float wide = (sum / 0.9375f - 0.5f) * 1.5f + 0.5f;
                wide = wide < 0.0f ? 0.0f : wide > 1.0f ? 1.0f : wide;
                pixels[(y * NOISE_SIDE + x) * 4 + channel] = (unsigned char)(wide * 255.0f);
            }
}
