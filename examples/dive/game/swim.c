/* How creatures swim. In each tick, crowd writes the wish and the behaviours after it add to it: a direction of length
 * 1 is as strong as the wish to swim at the usual speed. */
#include "crew.h"
#include "swim.h"
#include <reef/random.h>

enum { LOOKED_AT = 4, OTHERS_MAX = 3 * LOOKED_AT }; /* of three cells side by side; of the nine around */

/* ---- schools, and keeping a distance ---- */

typedef struct view {
    float school[4];                   /* sums: the ways to those of its school, and their velocities */
    uint32_t in_school;                /* how many of the school it looked at */
    const seen *close[OTHERS_MAX + 1]; /* those that are too near */
    uint32_t close_count;
} view;

/* Looks at some of those in three cells side by side, by chance, so that a crowd costs no more than a few. Where there
 * are fewer it looks at itself, which counts for nothing: so there are few branches that the processor can't foresee.
 * (With them, a tick with 10,000 creatures took 1.15 times as long.) */
static void look(const seen *me, const seen *from, uint32_t count, uint32_t dice, view *v)
{
    const uint32_t more = count > LOOKED_AT ? count - LOOKED_AT : 0;
    from += (uint32_t)((uint64_t)dice * (more + 1) >> 32);
    for (uint32_t k = 0; k < LOOKED_AT; k++) {
        const seen *other = k < count ? &from[k] : me;
        const float dx = other->x - me->x, dy = other->y - me->y, square = dx * dx + dy * dy;
        const float room = (me->radius + other->radius) * 1.15f;
        const uint32_t same = (uint32_t)(other->kind == me->kind) & (uint32_t)(k < count);
        const float weight = (float)(int32_t)same;
        v->close[v->close_count] = other;
        v->close_count += (uint32_t)(square < room * room) & (uint32_t)(square > 1e-8f);
        v->school[0] += dx * weight;
        v->school[1] += dy * weight;
        v->school[2] += other->vx * weight;
        v->school[3] += other->vy * weight;
        v->in_school += same;
    }
}

static vec away_from_close(const seen *me, const view *v)
{
    vec away = {0, 0};
    for (uint32_t k = 0; k < v->close_count; k++) {
        const seen *other = v->close[k];
        float dx = other->x - me->x, dy = other->y - me->y, distance = sqrtf(dx * dx + dy * dy);
        float room = (me->radius + other->radius) * 1.15f, push = (room - distance) / (room * distance);
        away.x -= dx * push;
        away.y -= dy * push;
    }
    return away;
}

void crowd(reef_block *b)
{
    const Near *near = reef_single_get(b->world, Near);
    const Place *place = reef_in(b, Place);
    const School *school = reef_in(b, School); /* NULL: these don't */
    const Swim *own = reef_in(b, Swim);
    Wish *wish = reef_out(b, Wish);
    uint32_t tick = (uint32_t)reef_tick_count(b->world) * 2654435769u;
    for (uint32_t i = 0; i < b->count; i++) {
        const seen *me = &near->slots[place[i].slot];
        uint32_t cell = place[i].cell, x = cell % NEAR_SIDE, y = cell / NEAR_SIDE;
        uint32_t west = x > 0 ? 1 : 0, east = x < NEAR_SIDE - 1 ? 1 : 0;
        uint32_t dice = (b->entities[i].index + 1) * 2246822519u ^ tick;
        view v;
        v.school[0] = v.school[1] = v.school[2] = v.school[3] = 0;
        v.in_school = v.close_count = 0;
        for (uint32_t row = y > 0 ? y - 1 : 0; row <= y + 1 && row < NEAR_SIDE; row++) {
            uint32_t first = near->first[row * NEAR_SIDE + x - west];
            dice = dice * 1664525u + 1013904223u;
            look(me, &near->slots[first], near->first[row * NEAR_SIDE + x + east + 1] - first, dice, &v);
        }
        vec away = away_from_close(me, &v);
        wish[i] = (Wish){away.x * 2.2f, away.y * 2.2f};
        if (school == NULL || v.in_school == 0) continue;
        float others = (float)v.in_school, share = school[i].together / others;
        float along = school[i].along / (others * own[i].speed);
        wish[i].x += v.school[0] * share + v.school[2] * along;
        wish[i].y += v.school[1] * share + v.school[3] * along;
    }
}

/* ---- the diver draws some, and repels others ---- */

void seek(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Seek *s = reef_in(b, Seek);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        vec to = vec_unit((vec){diver.x - at[i].x, diver.y - at[i].y});
        wish[i].x += to.x * s[i].weight;
        wish[i].y += to.y * s[i].weight;
    }
}

void shun(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Position *at = reef_in(b, Position);
    const Shun *s = reef_in(b, Shun);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        vec from = {at[i].x - lamp->x, at[i].y - lamp->y};
        float distance = vec_length(from), along = from.x * lamp->dx + from.y * lamp->dy;
        if (distance > lamp->range * 1.15f || along < distance * (lamp->cosine - 0.12f)) continue;
        /* out of the cone by the shorter way, and a little back */
        float side = lamp->dx * from.y - lamp->dy * from.x > 0.0f ? s[i].weight : -s[i].weight;
        wish[i].x += -lamp->dy * side + from.x / (distance + 0.1f);
        wish[i].y += lamp->dx * side + from.y / (distance + 0.1f);
    }
}

void orbit(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Orbit *o = reef_in(b, Orbit);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        vec to = {diver.x - at[i].x, diver.y - at[i].y};
        float distance = vec_length(to);
        vec unit = vec_unit(to);
        float in = clamp((distance - o[i].distance) * 0.35f, -1.2f, 1.0f) * o[i].weight;
        float around = (distance < o[i].distance * 2.0f ? 0.7f : 0.0f) * o[i].side * o[i].weight;
        wish[i].x += unit.x * in - unit.y * around;
        wish[i].y += unit.y * in + unit.x * around;
    }
}

void drift(reef_block *b)
{
    Drift *d = reef_inout(b, Drift);
    Wish *wish = reef_inout(b, Wish);
    uint64_t tick = reef_tick_count(b->world);
    for (uint32_t i = 0; i < b->count; i++) {
        if (((b->entities[i].index + tick) & 63) == 0) {
            reef_random r = reef_random_for(b, b->entities[i]);
            d[i].x = reef_random_float(&r) * 2.0f - 1.0f;
            d[i].y = reef_random_float(&r) * 2.0f - 1.0f;
        }
        wish[i].x += d[i].x * d[i].weight;
        wish[i].y += d[i].y * d[i].weight;
    }
}

/* ---- hunters and the fish that they eat ---- */

/* The nearest creature of one of these sides; NULL: there is none. */
static const seen *nearest(const Near *near, vec at, uint32_t sides, float within)
{
    const seen *found = NULL;
    float best = within * within;
    uint32_t west = near_cell(at.x - within), east = near_cell(at.x + within);
    for (uint32_t row = near_cell(at.y - within); row <= near_cell(at.y + within); row++) {
        for (uint32_t cell = row * NEAR_SIDE + west; cell <= row * NEAR_SIDE + east; cell++) {
            if ((near->sides[cell] & sides) == 0) continue;
            for (uint32_t k = near->first[cell]; k < near->first[cell + 1]; k++) {
                const seen *s = &near->slots[k];
                float dx = s->x - at.x, dy = s->y - at.y, square = dx * dx + dy * dy;
                if (((uint32_t)(square < best) & (uint32_t)((s->side & sides) != 0)) == 0) continue;
                best = square;
                found = s;
            }
        }
    }
    return found;
}

void fear(reef_block *b)
{
    const Near *near = reef_single_get(b->world, Near);
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Position *at = reef_in(b, Position);
    const Timid *t = reef_in(b, Timid);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        vec here = {at[i].x, at[i].y};
        const seen *hunter = nearest(near, here, IS_HUNTER, 5.0f);
        if (hunter != NULL) {
            vec away = vec_unit(vec_sub(here, (vec){hunter->x, hunter->y}));
            wish[i].x += away.x * t[i].weight;
            wish[i].y += away.y * t[i].weight;
        }
        vec home = {lamp->bell_x - here.x, lamp->bell_y - here.y}; /* they live around the bell */
        float far = vec_length(home);
        if (far < 22.0f) continue;
        wish[i].x += home.x / far * 0.8f;
        wish[i].y += home.y / far * 0.8f;
    }
}

void choose(reef_block *b)
{
    const Near *near = reef_single_get(b->world, Near);
    const Position *at = reef_in(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        const seen *prey = nearest(near, (vec){at[i].x, at[i].y}, IS_BYSTANDER, 12.0f);
        if (prey != NULL) reef_cmd_set(b, b->entities[i], Hunts, .target = prey->who);
    }
}

void hunt(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Hunts *hunts = reef_in(b, Hunts);
    const Body *body = reef_in(b, Body);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        const Position *prey = reef_get(b->world, hunts[i].target, Position);
        if (prey == NULL) continue;
        vec to = {prey->x - at[i].x, prey->y - at[i].y};
        float distance = vec_length(to);
        if (distance < body[i].radius + 0.3f) {
            reef_send(b, Hit, hunts[i].target, 100.0f, 0.0f, 0.0f, 0); /* two may have the same prey */
            reef_send(b, Cue, CUE_EATEN, prey->x, prey->y, 1.0f, 0);
        } else if (distance > 16.0f) {
            reef_cmd_remove(b, b->entities[i], Hunts);
        }
        vec unit = vec_unit(to);
        wish[i].x += unit.x * 1.6f;
        wish[i].y += unit.y * 1.6f;
    }
}

/* ---- charging ---- */

void charge(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Swim *own = reef_in(b, Swim);
    const Body *body = reef_in(b, Body);
    Charge *c = reef_inout(b, Charge);
    Wish *wish = reef_inout(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        vec to = {diver.x - at[i].x, diver.y - at[i].y};
        if (own[i].stun > 0.0f) c[i].state = CHARGE_RESTS, c[i].clock = c[i].rest;
        c[i].clock = count_down(c[i].clock, b->dt);
        if (c[i].state == CHARGE_IDLE && vec_square(to) < c[i].range * c[i].range) {
            c[i].state = CHARGE_AIMS, c[i].clock = c[i].aim;
            reef_send(b, Cue, CUE_AIM, at[i].x, at[i].y, body[i].radius, body[i].kind);
        }
        if (c[i].state == CHARGE_AIMS) {
            vec unit = vec_unit(to);
            c[i].x = unit.x, c[i].y = unit.y;
            wish[i].x *= 0.1f, wish[i].y *= 0.1f;
            if (c[i].clock == 0.0f) c[i].state = CHARGE_RUSHES, c[i].clock = c[i].rush;
        } else if (c[i].state == CHARGE_RUSHES) {
            wish[i].x = c[i].x * c[i].speed / own[i].speed;
            wish[i].y = c[i].y * c[i].speed / own[i].speed;
            if (c[i].clock == 0.0f) c[i].state = CHARGE_RESTS, c[i].clock = c[i].rest;
        } else if (c[i].state == CHARGE_RESTS && c[i].clock == 0.0f) {
            c[i].state = CHARGE_IDLE;
        }
    }
}

/* ---- the tether, and long bodies ---- */

void reach(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Position *at = reef_in(b, Position);
    Wish *wish = reef_inout(b, Wish);
    vec bell = {lamp->bell_x, lamp->bell_y}, line = {lamp->x - bell.x, lamp->y - bell.y};
    float square = vec_square(line) + 0.01f;
    for (uint32_t i = 0; i < b->count; i++) {
        vec from = {at[i].x - bell.x, at[i].y - bell.y};
        float along = clamp(vec_dot(from, line) / square, 0.15f, 0.9f);
        vec to = {bell.x + line.x * along - at[i].x, bell.y + line.y * along - at[i].y};
        float distance = vec_length(to), weight = distance > 1.0f ? 1.3f / distance : 1.3f;
        wish[i].x += to.x * weight;
        wish[i].y += to.y * weight;
    }
}

/* Each part swims to the place behind the part in front of it. Where that one is gone, the part turns to the diver. */
void follow(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Follows *follows = reef_in(b, Follows);
    const Swim *own = reef_in(b, Swim);
    Wish *wish = reef_out(b, Wish);
    for (uint32_t i = 0; i < b->count; i++) {
        const Position *front = reef_get(b->world, follows[i].target, Position);
        if (front == NULL) continue;
        vec to = {front->x - at[i].x, front->y - at[i].y};
        float distance = vec_length(to), speed = clamp((distance - 2.1f) * 9.0f, -4.0f, own[i].speed) / own[i].speed;
        vec unit = vec_unit(to);
        wish[i] = (Wish){unit.x * speed, unit.y * speed};
    }
}

/* ---- moving ---- */

static void keep_in(Position *at, Velocity *v)
{
    float square = at->x * at->x + at->y * at->y;
    if (square < SEA_RADIUS * SEA_RADIUS) return;
    float out = sqrtf(square), x = at->x / out, y = at->y / out, speed = v->x * x + v->y * y;
    at->x = x * SEA_RADIUS;
    at->y = y * SEA_RADIUS;
    if (speed > 0.0f) v->x -= x * speed * 1.5f, v->y -= y * speed * 1.5f;
}

void swim(reef_block *b)
{
    Position *at = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    Swim *own = reef_inout(b, Swim);
    const Wish *wish = reef_in(b, Wish);
    const Charge *c = reef_in(b, Charge); /* NULL: these don't */
    for (uint32_t i = 0; i < b->count; i++) {
        float turn = own[i].turn * b->dt, most = c != NULL && c[i].state == CHARGE_RUSHES ? 8.0f : 1.5f;
        vec to = {wish[i].x, wish[i].y};
        float length = vec_length(to);
        if (length > most) to = vec_scale(to, most / length);
        if (own[i].stun > 0.0f) {
            own[i].stun = count_down(own[i].stun, b->dt);
            to = (vec){0, 0};
        } else if (most > 2.0f) {
            turn = 12.0f * b->dt;
        }
        v[i].x += (to.x * own[i].speed - v[i].x) * turn;
        v[i].y += (to.y * own[i].speed - v[i].y) * turn;
        at[i].x += v[i].x * b->dt;
        at[i].y += v[i].y * b->dt;
        keep_in(&at[i], &v[i]);
    }
}

void fly(reef_block *b)
{
    Position *at = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        at[i].x += v[i].x * b->dt;
        at[i].y += v[i].y * b->dt;
    }
}
