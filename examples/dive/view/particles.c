#include "particles.h"

#include "scene.h"

#include <string.h>

float particles_random(particles *p)
{
    p->dice = p->dice * 1664525u + 1013904223u;
    return (float)(p->dice >> 8) / 16777216.0f;
}

static void add(particles *p, particle one)
{
    one.life = one.left;
    uint32_t at = p->count < PARTICLES_MAX ? p->count++ : p->next++ % PARTICLES_MAX;
    p->of[at] = one;
}

static vec any_way(particles *p)
{
    vec way;
    do {
        way = (vec){particles_random(p) * 2.0f - 1.0f, particles_random(p) * 2.0f - 1.0f};
    } while (vec_square(way) > 1.0f);
    return way;
}

static void sparks(particles *p, float x, float y, int count, float speed, float size, float life, colour paint)
{
    for (int i = 0; i < count; i++) {
        vec way = any_way(p);
        add(p, (particle){x, y, way.x * speed, way.y * speed, size * (0.5f + particles_random(p)), -size * 0.3f,
                          life * (0.5f + particles_random(p)), 0, paint, SHAPE_GLOW, 255, 0});
    }
}

static void bubbles(particles *p, float x, float y, int count, float speed, float size)
{
    for (int i = 0; i < count; i++) {
        vec way = any_way(p);
        add(p, (particle){x,
                          y,
                          way.x * speed,
                          way.y * speed,
                          size * (0.4f + particles_random(p)),
                          0.05f,
                          0.7f + particles_random(p),
                          0,
                          {190, 230, 240, 160},
                          SHAPE_BUBBLE,
                          60,
                          0});
    }
}

static void ring(particles *p, float x, float y, float from, float to, float life, colour paint, uint8_t thick)
{
    add(p, (particle){x, y, 0, 0, from, (to - from) / life, life, 0, paint, SHAPE_RING, 255, thick});
}

static void shine(particles *p, float x, float y, float radius, float power, float life, colour paint)
{
    flash *oldest = &p->flashes[0];
    for (int i = 1; i < FLASHES_MAX; i++)
        if (p->flashes[i].left < oldest->left) oldest = &p->flashes[i];
    *oldest =
        (flash){x, y, radius, life, life, power, (float)paint.r / 255, (float)paint.g / 255, (float)paint.b / 255};
}

static void shake(particles *p, float by)
{
    if (p->shake < by) p->shake = by;
}

void particles_cue(particles *p, const Cue *c)
{
    const colour warm = {255, 220, 150, 220}, red = {255, 70, 50, 230}, blue = {120, 220, 255, 220};
    const colour fire = {255, 190, 90, 240}, smoke = {255, 100, 40, 160};
    const colour body = creature_look(c->kind)->paint;
    switch (c->what) {
    case CUE_SHOT:
        sparks(p, c->x, c->y, 3, 3.0f, 0.25f, 0.15f, warm);
        bubbles(p, c->x, c->y, 2, 1.5f, 0.10f);
        break;
    case CUE_HIT: sparks(p, c->x, c->y, 4, 5.0f, 0.22f, 0.25f, warm); break;
    case CUE_SHELL:
        sparks(p, c->x, c->y, 5, 6.0f, 0.18f, 0.2f, blue);
        ring(p, c->x, c->y, c->size, c->size * 1.5f, 0.2f, faded(blue, 0.5f), 0);
        break;
    case CUE_DEATH:
        sparks(p, c->x, c->y, c->size > 1.2f ? 60 : 5, 3.0f + 4.0f * c->size, 0.3f + 0.35f * c->size, 0.5f, body);
        bubbles(p, c->x, c->y, c->size > 1.2f ? 30 : 2, 2.0f + c->size, 0.12f + 0.1f * c->size);
        if (c->size > 1.2f) {
            ring(p, c->x, c->y, c->size, c->size * 5.0f, 0.6f, warm, 6);
            shine(p, c->x, c->y, 16.0f, 2.5f, 0.8f, warm);
            shake(p, 0.9f);
        } else if (c->size > 0.5f) {
            ring(p, c->x, c->y, c->size * 0.6f, c->size * 2.2f, 0.3f, faded(body, 0.6f), 4);
            shake(p, 0.08f);
        }
        break;
    case CUE_BLAST:
        sparks(p, c->x, c->y, 14, c->size * 3.5f, 0.5f + c->size * 0.12f, 0.4f, fire);
        sparks(p, c->x, c->y, 8, c->size * 1.5f, 0.9f + c->size * 0.15f, 0.6f, smoke);
        bubbles(p, c->x, c->y, 6, c->size * 1.5f, 0.2f);
        ring(p, c->x, c->y, 0.4f, c->size, 0.28f, fire, 10);
        shine(p, c->x, c->y, c->size * 2.5f, 2.0f, 0.4f, fire);
        shake(p, 0.1f + 0.05f * c->size);
        break;
    case CUE_PULSE:
        ring(p, c->x, c->y, 0.5f, c->size, 0.45f, (colour){140, 255, 235, 230}, 8);
        ring(p, c->x, c->y, 0.2f, c->size * 0.8f, 0.55f, (colour){140, 255, 235, 130}, 2);
        shine(p, c->x, c->y, c->size * 1.6f, 1.3f, 0.5f, (colour){120, 255, 230, 255});
        shake(p, 0.25f);
        break;
    case CUE_BITE:
        sparks(p, c->x, c->y, 16, 7.0f, 0.35f, 0.4f, red);
        bubbles(p, c->x, c->y, 26, 5.0f, 0.16f);
        shake(p, 0.25f + 0.03f * c->size);
        p->hurt = 1.0f;
        break;
    case CUE_DASH: bubbles(p, c->x, c->y, 18, 3.0f, 0.14f); break;
    case CUE_PEARL: sparks(p, c->x, c->y, 4, 2.0f, 0.2f, 0.3f, (colour){255, 230, 240, 220}); break;
    case CUE_AIR: bubbles(p, c->x, c->y, 8, 2.5f, 0.12f); break;
    case CUE_AIM: ring(p, c->x, c->y, c->size * 2.6f, c->size, 0.5f, faded(red, 0.7f), 3); break;
    case CUE_SPIT: sparks(p, c->x, c->y, 5, 3.0f, 0.25f, 0.25f, (colour){190, 255, 90, 200}); break;
    case CUE_HATCH: sparks(p, c->x, c->y, 8, 4.0f, 0.25f, 0.4f, (colour){255, 200, 150, 200}); break;
    case CUE_HEAL: ring(p, c->x, c->y, 0.4f, c->size * 0.6f, 0.6f, (colour){120, 255, 140, 90}, 1); break;
    case CUE_EATEN: sparks(p, c->x, c->y, 10, 4.0f, 0.25f, 0.5f, red); break;
    case CUE_BOSS: shake(p, 0.5f); break;
    default: break;
    }
}

void particles_step(particles *p, float dt)
{
    for (uint32_t i = 0; i < p->count;) {
        particle *one = &p->of[i];
        one->left -= dt;
        if (one->left <= 0.0f || one->size <= 0.01f) {
            *one = p->of[--p->count];
            continue;
        }
        one->x += one->vx * dt;
        one->y += one->vy * dt;
        one->vx -= one->vx * 2.5f * dt;
        one->vy -= one->vy * 2.5f * dt;
        one->size += one->grows * dt;
        i++;
    }
    for (int i = 0; i < FLASHES_MAX; i++) p->flashes[i].left = count_down(p->flashes[i].left, dt);
    p->shake -= p->shake * 6.0f * dt;
    p->hurt = count_down(p->hurt, dt * 1.6f);
}

void particles_draw(const particles *p, frame *f)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const particle *one = &p->of[i];
        float left = one->left / one->life;
        frame_add(f, (sprite){one->x, one->y, one->size, 0, one->size, 0, faded(one->paint, left), one->shape,
                              one->glow, 0, one->extra});
    }
}

void particles_light(const particles *p, pass *to, uint32_t first)
{
    for (uint32_t i = 0; i < FLASHES_MAX && first + i < LIGHTS_MAX; i++) {
        const flash *f = &p->flashes[i];
        float power = f->left > 0.0f ? f->power * f->left / f->life : 0.0f;
        to->lights[first + i] = (light){f->x, f->y, f->radius, power, f->r, f->g, f->b, 0};
    }
}
