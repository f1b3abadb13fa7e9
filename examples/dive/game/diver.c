/* The diver. Her lamp is her aim: harpoons fly by themselves to the nearest creatures in the light. */
#include "diver.h"
#include "crew.h"
#include <reef/random.h>

float diver_air_most(const Upgrades *u) { return 100.0f + 30.0f * (float)u->level[UPGRADE_TANK]; }
float diver_tether_length(const Upgrades *u) { return 30.0f + 8.0f * (float)u->level[UPGRADE_TETHER]; }

/* ---- swimming ---- */

/* Turns the light towards a direction, with a limited speed. */
static void turn_lamp(Lamp *lamp, vec to, float dt)
{
    vec now = {lamp->dx, lamp->dy};
    if (vec_dot(now, to) < -0.95f) to = vec_side(now); /* the other way round: first to the side */
    vec next = vec_unit(vec_add_scaled(now, vec_sub(to, now), clamp(14.0f * dt, 0.0f, 1.0f)));
    if (next.x != 0.0f || next.y != 0.0f) lamp->dx = next.x, lamp->dy = next.y;
}

static void use_keys(reef_block *b, Diver *d, const Input *in, const Upgrades *u, vec at)
{
    const uint8_t pressed = (uint8_t)(in->keys & ~d->keys);
    d->keys = in->keys;
    if ((pressed & KEY_DASH) != 0 && d->dash_rests == 0.0f) {
        d->dash = 0.18f;
        d->dash_rests = DASH_RESTS - 0.35f * (float)u->level[UPGRADE_FINS];
        if (d->safe < 0.3f) d->safe = 0.3f;
#ifndef DIVE_AS_IN_VERSION_1
        d->dashes++;
#endif
        reef_send(b, Cue, CUE_DASH, at.x, at.y, 1.0f, 0);
    }
    if ((pressed & KEY_PULSE) != 0 && d->pulse_rests == 0.0f) {
        float level = (float)u->level[UPGRADE_SONAR], radius = 6.0f + 2.0f * level;
        d->pulse_rests = PULSE_RESTS - level;
        reef_send(b, Blast, at.x, at.y, radius, level * 2.0f, 26.0f, 1.3f + 0.3f * level, 1);
        reef_send(b, Cue, CUE_PULSE, at.x, at.y, radius, 0);
    }
}

void steer(reef_block *b)
{
    const Input *in = reef_single_get(b->world, Input);
    const Upgrades *u = reef_single_get(b->world, Upgrades);
    const Stage *stage = reef_single_get(b->world, Stage);
    Lamp *lamp = reef_single_mut(b->world, Lamp);
    Position *at = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    Diver *d = reef_inout(b, Diver);
    const Tether *tether = reef_in(b, Tether);
    const Position *bell = reef_get(b->world, tether->target, Position);

    d->safe = count_down(d->safe, b->dt);
    d->dash = count_down(d->dash, b->dt);
    d->dash_rests = count_down(d->dash_rests, b->dt);
    d->pulse_rests = count_down(d->pulse_rests, b->dt);
    d->harpoon_rests = count_down(d->harpoon_rests, b->dt);

    vec move = vec_scale((vec){(float)in->move[0], (float)in->move[1]}, 0.01f);
    if (vec_square(move) > 1.0f) move = vec_unit(move);
    if (stage->now == STAGE_LOST) move = (vec){0, 0};
    else use_keys(b, d, in, u, (vec){at->x, at->y});

    float speed = 6.0f + 0.7f * (float)u->level[UPGRADE_FINS];
    vec way = vec_square(move) > 0.01f ? vec_unit(move) : (vec){lamp->dx, lamp->dy};
    vec wish = d->dash > 0.0f ? vec_scale(way, 22.0f) : vec_scale(move, speed);
    float quick = clamp((d->dash > 0.0f ? 25.0f : 7.0f) * b->dt, 0.0f, 1.0f);
    v->x += (wish.x - v->x) * quick;
    v->y += (wish.y - v->y) * quick;
    at->x += v->x * b->dt;
    at->y += v->y * b->dt;

    /* the tether holds her */
    vec out = {at->x - bell->x, at->y - bell->y};
    float length = diver_tether_length(u), distance = vec_length(out);
    if (distance > length) {
        at->x = bell->x + out.x * length / distance;
        at->y = bell->y + out.y * length / distance;
    }

    if (in->aim[0] != 0 || in->aim[1] != 0)
        turn_lamp(lamp, vec_unit((vec){(float)in->aim[0], (float)in->aim[1]}), b->dt);
    else if ((in->keys & KEY_HOLD) == 0 && vec_square(move) > 0.01f) turn_lamp(lamp, vec_unit(move), b->dt);
    static const float cosines[] = {0.82f, 0.68f, 0.5f, 0.3f};
    lamp->diver = b->entities[0];
    lamp->x = at->x, lamp->y = at->y;
    lamp->bell_x = bell->x, lamp->bell_y = bell->y;
    lamp->cosine = cosines[u->level[UPGRADE_WIDE] & 3];
    lamp->range = 15.0f + 1.5f * (float)u->level[UPGRADE_WIDE];
}

/* ---- shooting ---- */

/* The nearest enemy in the light that isn't one of those already chosen; NULL: there is none. */
static const seen *in_light(const Near *near, const Lamp *lamp, const seen *const *chosen, uint32_t count)
{
    const seen *found = NULL;
    float best = lamp->range * lamp->range;
    uint32_t west = near_cell(lamp->x - lamp->range), east = near_cell(lamp->x + lamp->range);
    for (uint32_t row = near_cell(lamp->y - lamp->range); row <= near_cell(lamp->y + lamp->range); row++) {
        const seen *s = &near->slots[near->first[row * NEAR_SIDE + west]];
        const seen *end = &near->slots[near->first[row * NEAR_SIDE + east + 1]];
        for (; s < end; s++) {
            if ((s->side & IS_ENEMY) == 0) continue;
            float dx = s->x - lamp->x, dy = s->y - lamp->y, square = dx * dx + dy * dy;
            if (square >= best * ((s->side & IS_BOSS) != 0 ? 3.0f : 1.0f)) continue; /* a boss counts as nearer */
            if (square > 4.0f && dx * lamp->dx + dy * lamp->dy < sqrtf(square) * lamp->cosine) continue;
            bool taken = false;
            for (uint32_t k = 0; k < count; k++) taken = taken || chosen[k] == s;
            if (taken) continue;
            best = (s->side & IS_BOSS) != 0 ? square / 3.0f : square;
            found = s;
        }
    }
    return found;
}

/* A volley at the nearest in this light, if `rests` allows it. */
static void volley(reef_block *b, const Lamp *lamp, float *rests)
{
    enum { HARPOONS_MAX = 5 };
    const Near *near = reef_single_get(b->world, Near);
    const Upgrades *u = reef_single_get(b->world, Upgrades);
    if (*rests > 0.0f || reef_single_get(b->world, Stage)->now == STAGE_LOST) return;
    const seen *target[HARPOONS_MAX];
    uint32_t wanted = 1u + u->level[UPGRADE_HARPOON], count = 0;
    while (count < wanted && (target[count] = in_light(near, lamp, target, count)) != NULL) count++;
    if (count == 0) return;
    *rests = 0.36f - 0.06f * (float)u->level[UPGRADE_LOADER];
    const vec from = {lamp->x + lamp->dx * 0.6f, lamp->y + lamp->dy * 0.6f}, spread = {0.9950f, 0.0998f};
    for (uint32_t k = 0; k < wanted; k++) {
        const seen *s = target[k % count]; /* fewer targets than harpoons: the others fly beside them */
        const float speed = 26.0f;
        float time = vec_length(vec_sub((vec){s->x, s->y}, from)) / speed;
        vec way = vec_unit(vec_sub((vec){s->x + s->vx * time, s->y + s->vy * time}, from));
        for (uint32_t turns = k / count; turns > 0; turns--)
            way = vec_turn(way, k % 2 == 0 ? spread : (vec){spread.x, -spread.y});
        reef_cmd_spawn(b, reef_with(Position, from.x, from.y), reef_with(Velocity, way.x * speed, way.y * speed),
                       reef_with(Bolt, .damage = 2, .left = 0.8f, .pierce = 2u * u->level[UPGRADE_PIERCE],
                                 .bursts = u->level[UPGRADE_BURSTING]));
    }
    reef_send(b, Cue, CUE_SHOT, from.x, from.y, (float)count, 0);
}

void shoot(reef_block *b) { volley(b, reef_single_get(b->world, Lamp), &reef_inout(b, Diver)->harpoon_rests); }

void mates_shoot(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    Mate *m = reef_inout(b, Mate);
    for (uint32_t i = 0; i < b->count; i++) {
        const Lamp own = mate_lamp(reef_single_get(b->world, Lamp), &m[i], &at[i]);
        if (m[i].strength > 0.0f) volley(b, &own, &m[i].harpoon_rests);
    }
}

/* ---- air ---- */

/* The worst of what hurts the diver in this tick. After it, nothing hurts for a moment: so a swarm isn't death at
 * once. */
static float worst_bite(reef_block *b, const Lamp *lamp)
{
    float worst = 0.0f;
    reef_events bites = reef_receive(b, Bite);
    for (const Bite *bite; (bite = reef_next_event(&bites)) != NULL;)
        if (bite->air > worst) worst = bite->air;
    reef_events blasts = reef_receive(b, Blast);
    for (const Blast *blast; (blast = reef_next_event(&blasts)) != NULL;) {
        float dx = blast->x - lamp->x, dy = blast->y - lamp->y;
        if (blast->by_diver || dx * dx + dy * dy > blast->radius * blast->radius) continue;
        if (blast->damage > worst) worst = blast->damage;
    }
    return worst;
}

void breathe(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Stage *stage = reef_single_get(b->world, Stage);
    const Input *in = reef_single_get(b->world, Input);
    const float most = diver_air_most(reef_single_get(b->world, Upgrades));
    Leak *leak = reef_single_mut(b->world, Leak);
    Diver *d = reef_inout(b, Diver);
    float bite = worst_bite(b, lamp), bell = vec_length((vec){lamp->x - lamp->bell_x, lamp->y - lamp->bell_y});
    float leaks = clamp(leak->air, 0.0f, 12.0f);
    leak->air = 0.0f;
    if (stage->now == STAGE_LOST) return;
    d->air -= REWIND_AIR * (float)in->rewound;
    if (stage->now == STAGE_WAVE) {
        d->air -= leaks * b->dt;
        if (bite > 0.0f && d->safe == 0.0f) {
            d->air -= bite * (1.0f + 0.06f * (float)(stage->wave - 1)); /* the deeper, the harder they bite */
            d->safe = 0.9f;
            reef_send(b, Cue, CUE_BITE, lamp->x, lamp->y, bite, 0);
        }
        if (bell > BELL_RADIUS) d->air -= 1.0f * b->dt;
    }
    if (bell <= BELL_RADIUS) d->air += (stage->now == STAGE_WAVE ? 7.0f : 40.0f) * b->dt;
    d->air = clamp(d->air, 0.0f, most);
}

/* ---- collecting ---- */

void attract(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Upgrades *u = reef_single_get(b->world, Upgrades);
    const Stage *stage = reef_single_get(b->world, Stage);
    const Position *at = reef_in(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    Pickup *p = reef_inout(b, Pickup);
    float reach = stage->now == STAGE_WAVE ? 2.6f + 2.2f * (float)u->level[UPGRADE_MAGNET] : 200.0f;
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        vec to = {diver.x - at[i].x, diver.y - at[i].y};
        float distance = vec_length(to), slow = 1.0f - 2.0f * b->dt;
        v[i].x *= slow, v[i].y *= slow;
        if (distance < reach) {
            v[i].x += to.x / (distance + 0.1f) * 60.0f * b->dt;
            v[i].y += to.y / (distance + 0.1f) * 60.0f * b->dt;
        }
        p[i].left = count_down(p[i].left, b->dt);
        if (distance < 0.8f || distance < vec_length((vec){v[i].x, v[i].y}) * b->dt) {
            reef_send(b, Find, p[i].what, p[i].amount, at[i].x, at[i].y);
            p[i].left = 0.0f;
        }
        if (p[i].left == 0.0f) reef_cmd_destroy(b, b->entities[i]);
    }
}

/* A dead creature leaves pearls, and sometimes a bubble of air. */
static void leave(reef_block *b, const Loss *loss, uint32_t number)
{
    reef_random r = reef_random_for(b, (reef_entity){number, 1});
    uint32_t heaps = loss->pearls > 6 ? 6 : loss->pearls;
    for (uint32_t k = 0; k < heaps; k++) {
        vec v = {reef_random_float(&r) * 6.0f - 3.0f, reef_random_float(&r) * 6.0f - 3.0f};
        uint32_t amount = loss->pearls / heaps + (k < loss->pearls % heaps ? 1 : 0);
        reef_cmd_spawn(b, reef_with(Position, loss->x, loss->y), reef_with(Velocity, v.x, v.y),
                       reef_with(Pickup, PICKUP_PEARL, amount, 14.0f));
    }
    if (reef_random_float(&r) > 0.02f + 0.0006f * (float)loss->points) return;
    reef_cmd_spawn(b, reef_with(Position, loss->x, loss->y), reef_with(Velocity, 0, -0.5f),
                   reef_with(Pickup, PICKUP_AIR, 5, 12.0f));
}

void collect(reef_block *b)
{
    Purse *purse = reef_single_mut(b->world, Purse);
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    Diver *d = reef_mut(b->world, lamp->diver, Diver);
    reef_events finds = reef_receive(b, Find);
    for (const Find *find; (find = reef_next_event(&finds)) != NULL;) {
        if (find->what == PICKUP_PEARL) purse->pearls += find->amount;
        else if (d->air > 0.0f) d->air += (float)find->amount; /* breathe keeps it within the tank */
        reef_send(b, Cue, find->what == PICKUP_PEARL ? CUE_PEARL : CUE_AIR, find->x, find->y, 0.3f, 0);
    }
    uint32_t number = 0;
    reef_events losses = reef_receive(b, Loss);
    for (const Loss *loss; (loss = reef_next_event(&losses)) != NULL;) {
        purse->score += loss->points;
        purse->kills++;
        leave(b, loss, number++);
    }
}
