/* Harm. Whoever is harmed loses health, in one of several systems of the phase "update"; in the phase "end", creatures
 * without health split, burst, pay and die. */
#include "crew.h"
#include "fight.h"
#include <reef/random.h>

/* ---- harpoons ---- */

/* The first creature that a bolt touches in this tick. */
static const seen *touched(const Near *near, vec at, const Bolt *bolt)
{
    uint32_t west = near_cell(at.x - 2.4f), east = near_cell(at.x + 2.4f);
    for (uint32_t row = near_cell(at.y - 2.4f); row <= near_cell(at.y + 2.4f); row++) {
        const seen *s = &near->slots[near->first[row * NEAR_SIDE + west]];
        const seen *end = &near->slots[near->first[row * NEAR_SIDE + east + 1]];
        for (; s < end; s++) {
            if ((s->side & IS_ENEMY) == 0 || reef_entity_equal(s->who, bolt->last)) continue;
            float dx = s->x - at.x, dy = s->y - at.y, room = s->radius + 0.22f;
            if (dx * dx + dy * dy < room * room) return s;
        }
    }
    return NULL;
}

void strike(reef_block *b)
{
    const Near *near = reef_single_get(b->world, Near);
    const Position *at = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    Bolt *bolt = reef_inout(b, Bolt);
    for (uint32_t i = 0; i < b->count; i++) {
        bolt[i].left = count_down(bolt[i].left, b->dt);
        const seen *s = touched(near, (vec){at[i].x, at[i].y}, &bolt[i]);
        if (s != NULL) {
            vec way = vec_unit((vec){v[i].x, v[i].y});
            reef_send(b, Hit, s->who, bolt[i].damage, way.x, way.y, bolt[i].bursts);
            bolt[i].last = s->who;
            if (bolt[i].pierce-- == 0) bolt[i].left = 0.0f;
        }
        if (bolt[i].left == 0.0f) reef_cmd_destroy(b, b->entities[i]);
    }
}

/* Takes damage from the shell first, then from the health. */
static void take(Health *h, Shell *shell, float damage)
{
    if (shell != NULL) {
        float held = damage < shell->now ? damage : shell->now;
        shell->now -= held;
        damage -= held;
    }
    h->now -= damage;
    h->hurt = 0.15f;
}

void wound(reef_block *b)
{
    reef_events hits = reef_receive(b, Hit);
    for (const Hit *hit; (hit = reef_next_event(&hits)) != NULL;) {
        Health *h = reef_mut(b->world, hit->who, Health);
        if (h == NULL || is_dying(h)) continue; /* another harpoon was quicker */
        const Position *at = reef_get(b->world, hit->who, Position);
        const Body *body = reef_get(b->world, hit->who, Body);
        Shell *shell = reef_get(b->world, hit->who, Shell) != NULL ? reef_mut(b->world, hit->who, Shell) : NULL;
        uint32_t cue = shell != NULL && shell->now > 0.0f ? CUE_SHELL : CUE_HIT;
        take(h, shell, hit->damage);
        Velocity *v = reef_mut(b->world, hit->who, Velocity);
        float push = 1.6f / (body->radius + 0.3f);
        v->x += hit->dx * push;
        v->y += hit->dy * push;
        reef_send(b, Cue, cue, at->x, at->y, body->radius, body->kind);
        if (!is_dying(h) || hit->bursts == 0) continue;
        float radius = 1.2f + 0.5f * (float)hit->bursts;
        reef_send(b, Cue, CUE_BLAST, at->x, at->y, radius, 0);
        reef_send(b, Blast, at->x, at->y, radius, 1.0f + (float)hit->bursts, 3.0f, 0.2f, 1);
    }
}

/* ---- light, shocks, explosions: every creature looks for itself, so these run on all threads ---- */

void burn(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const float level = (float)reef_single_get(b->world, Upgrades)->level[UPGRADE_BURNING];
    const Position *at = reef_in(b, Position);
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        h[i].hurt = count_down(h[i].hurt, b->dt);
        float dx = at[i].x - lamp->x, dy = at[i].y - lamp->y, square = dx * dx + dy * dy;
        if (level == 0.0f || square > lamp->range * lamp->range) continue;
        if (dx * lamp->dx + dy * lamp->dy < sqrtf(square) * lamp->cosine) continue;
        h[i].now -= level * 1.1f * b->dt;
        if (h[i].hurt < 0.05f) h[i].hurt = 0.05f;
    }
}

void shock(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const float level = (float)reef_single_get(b->world, Upgrades)->level[UPGRADE_SHOCK];
    const Position *at = reef_in(b, Position);
    const Body *body = reef_in(b, Body);
    Health *h = reef_inout(b, Health);
    vec bell = {lamp->bell_x, lamp->bell_y}, line = {lamp->x - bell.x, lamp->y - bell.y};
    float square = vec_square(line) + 0.01f;
    for (uint32_t i = 0; i < b->count && level > 0.0f; i++) {
        vec from = {at[i].x - bell.x, at[i].y - bell.y};
        float along = clamp(vec_dot(from, line) / square, 0.0f, 1.0f), room = body[i].radius + 0.35f;
        if (vec_square(vec_add_scaled(from, line, -along)) > room * room) continue;
        h[i].now -= level * 3.0f * b->dt;
        h[i].hurt = 0.1f;
    }
}

void shake(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Shell *has_shell = reef_in(b, Shell); /* NULL: these have none */
    Health *h = reef_inout(b, Health);
    Velocity *v = reef_inout(b, Velocity);
    Swim *own = reef_inout(b, Swim);
    const Body *body = reef_in(b, Body);
    bool bystanders = reef_has(b->world, b->entities[0], Bystander);
    reef_events blasts = reef_receive(b, Blast);
    for (const Blast *blast; (blast = reef_next_event(&blasts)) != NULL;) {
        if (bystanders && blast->by_diver) continue;
        for (uint32_t i = 0; i < b->count; i++) {
            float dx = at[i].x - blast->x, dy = at[i].y - blast->y, square = dx * dx + dy * dy;
            float reaches = blast->radius + body[i].radius;
            if (square > reaches * reaches) continue;
            float distance = sqrtf(square) + 0.1f, push = blast->push / (distance * (0.6f + body[i].radius));
            float harm = has_shell != NULL && has_shell[i].now > 0.0f ? 0.5f : 1.0f;
            h[i].now -= blast->damage * harm;
            if (blast->damage > 0.0f) h[i].hurt = 0.15f;
            v[i].x += dx * push;
            v[i].y += dy * push;
            if (body[i].radius < 1.4f && own[i].stun < blast->stun) own[i].stun = blast->stun;
        }
    }
}

void mend(reef_block *b)
{
    Shell *s = reef_inout(b, Shell);
    for (uint32_t i = 0; i < b->count; i++) s[i].now = clamp(s[i].now + s[i].grows * b->dt, 0.0f, s[i].most);
}

/* ---- what creatures do to the diver ---- */

void sting(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Body *body = reef_in(b, Body);
    const Sting *s = reef_in(b, Sting);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        float dx = at[i].x - diver.x, dy = at[i].y - diver.y, room = body[i].radius * 0.85f + 0.4f;
        if (dx * dx + dy * dy < room * room) reef_send(b, Bite, s[i].air, at[i].x, at[i].y);
    }
}

void gnaw(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Position *at = reef_in(b, Position);
    const Gnaw *g = reef_in(b, Gnaw);
    float *leak = &reef_part(b, Leak)->air;
    vec bell = {lamp->bell_x, lamp->bell_y}, line = {lamp->x - bell.x, lamp->y - bell.y};
    float square = vec_square(line) + 0.01f;
    for (uint32_t i = 0; i < b->count; i++) {
        vec from = {at[i].x - bell.x, at[i].y - bell.y};
        float along = clamp(vec_dot(from, line) / square, 0.0f, 1.0f);
        if (vec_square(vec_add_scaled(from, line, -along)) < 0.6f * 0.6f) *leak += g[i].air;
    }
}

void add_leaks(void *total, const void *part) { ((Leak *)total)->air += ((const Leak *)part)->air; }

static void spit_one(reef_block *b, const Spit *s, vec at, vec way)
{
    reef_cmd_spawn(b, reef_with(Position, at.x + way.x * 0.5f, at.y + way.y * 0.5f),
                   reef_with(Velocity, way.x * s->speed, way.y * s->speed),
                   reef_with(Shot, .air = s->air, .left = 4.0f));
}

void spit(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Swim *own = reef_in(b, Swim);
    const Body *body = reef_in(b, Body);
    Spit *s = reef_inout(b, Spit);
    const vec fan = {0.9689f, 0.2474f}; /* some 14 degrees */
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        vec to = {diver.x - at[i].x, diver.y - at[i].y};
        if (own[i].stun > 0.0f || (s[i].clock = count_down(s[i].clock, b->dt)) > 0.0f) continue;
        s[i].clock = s[i].every;
        if (vec_square(to) > 20.0f * 20.0f) continue;
        vec way = vec_unit(to), turn = s[i].count < 8 ? fan : (vec){0.9397f, 0.3420f}; /* 20 degrees */
        if (s[i].count < 8)
            for (uint32_t k = 1; k < s[i].count; k += 2) way = vec_turn(way, (vec){fan.x, -fan.y});
        for (uint32_t k = 0; k < s[i].count; k++, way = vec_turn(way, turn))
            spit_one(b, &s[i], (vec){at[i].x, at[i].y}, way);
        reef_send(b, Cue, CUE_SPIT, at[i].x, at[i].y, body[i].radius, body[i].kind);
    }
}

void arrive(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    Shot *s = reef_inout(b, Shot);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        float dx = at[i].x - diver.x, dy = at[i].y - diver.y;
        bool hits = dx * dx + dy * dy < 0.6f * 0.6f;
        if (hits) reef_send(b, Bite, s[i].air, at[i].x, at[i].y);
        s[i].left = count_down(s[i].left, b->dt);
        if (hits || s[i].left == 0.0f) reef_cmd_destroy(b, b->entities[i]);
    }
}

void fuse(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    Burst *burst = reef_inout(b, Burst);
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec diver = nearest_diver(lamp, crew, at[i].x, at[i].y);
        float dx = at[i].x - diver.x, dy = at[i].y - diver.y, near = burst[i].radius * 0.7f;
        bool lit = burst[i].clock < burst[i].fuse; /* once lit, it burns down */
        if (!lit && dx * dx + dy * dy > near * near) continue;
        burst[i].clock = count_down(burst[i].clock, b->dt);
        if (burst[i].clock == 0.0f) h[i].now = 0.0f;
    }
}

/* ---- what they do for each other ---- */

void lay(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Body *body = reef_in(b, Body);
    const Swim *own = reef_in(b, Swim);
    Lay *l = reef_inout(b, Lay);
    if (reef_single_get(b->world, Census)->enemies > ENEMIES_MAX) return;
    for (uint32_t i = 0; i < b->count; i++) {
        if (own[i].stun > 0.0f || (l[i].clock = count_down(l[i].clock, b->dt)) > 0.0f) continue;
        l[i].clock = l[i].every;
        reef_random r = reef_random_for(b, b->entities[i]);
        vec v = {reef_random_float(&r) * 4.0f - 2.0f, reef_random_float(&r) * 4.0f - 2.0f};
        creature_spawn_of(b, l[i].what, (vec){at[i].x, at[i].y}, v);
        reef_send(b, Cue, CUE_LAY, at[i].x, at[i].y, body[i].radius, body[i].kind);
    }
}

/* Makes some creatures around a place. */
static void brood(reef_block *b, reef_entity parent, reef_entity prefab, uint32_t count, vec at)
{
    reef_random r = reef_random_for(b, parent);
    for (uint32_t k = 0; k < count; k++) {
        vec way = {reef_random_float(&r) * 2.0f - 1.0f, reef_random_float(&r) * 2.0f - 1.0f};
        creature_spawn_of(b, prefab, vec_add_scaled(at, way, 0.5f), vec_scale(way, 5.0f));
    }
}

void hatch(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Health *health = reef_in(b, Health);
    Hatch *h = reef_inout(b, Hatch);
    for (uint32_t i = 0; i < b->count; i++) {
        h[i].clock = count_down(h[i].clock, b->dt);
        if (h[i].clock > 0.0f || is_dying(&health[i])) continue;
        brood(b, b->entities[i], h[i].into, h[i].count, (vec){at[i].x, at[i].y});
        reef_cmd_destroy(b, b->entities[i]);
        reef_send(b, Cue, CUE_HATCH, at[i].x, at[i].y, 0.5f, 0);
    }
}

void heal(reef_block *b)
{
    const Near *near = reef_single_get(b->world, Near);
    const Position *at = reef_in(b, Position);
    Heal *heal = reef_inout(b, Heal);
    for (uint32_t i = 0; i < b->count; i++) {
        if ((heal[i].clock = count_down(heal[i].clock, b->dt)) > 0.0f) continue;
        heal[i].clock = heal[i].every;
        uint32_t west = near_cell(at[i].x - heal[i].radius), east = near_cell(at[i].x + heal[i].radius), healed = 0;
        for (uint32_t row = near_cell(at[i].y - heal[i].radius); row <= near_cell(at[i].y + heal[i].radius); row++) {
            const seen *s = &near->slots[near->first[row * NEAR_SIDE + west]];
            const seen *end = &near->slots[near->first[row * NEAR_SIDE + east + 1]];
            for (; s < end && healed < 12; s++) {
                const Health *h = (s->side & IS_ENEMY) != 0 ? reef_get(b->world, s->who, Health) : NULL;
                if (h == NULL || h->now <= 0.0f || h->now >= h->most) continue;
                reef_send(b, Cure, s->who, heal[i].health);
                healed++;
            }
        }
        if (healed > 0) reef_send(b, Cue, CUE_HEAL, at[i].x, at[i].y, heal[i].radius, healed);
    }
}

void recover(reef_block *b)
{
    reef_events cures = reef_receive(b, Cure);
    for (const Cure *cure; (cure = reef_next_event(&cures)) != NULL;) {
        Health *h = reef_mut(b->world, cure->who, Health);
        if (h != NULL && h->now > 0.0f) h->now = clamp(h->now + cure->health, 0.0f, h->most);
    }
}

/* ---- dying ---- */

void split(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Health *h = reef_in(b, Health);
    const Split *s = reef_in(b, Split);
    for (uint32_t i = 0; i < b->count; i++)
        if (is_dying(&h[i])) brood(b, b->entities[i], s[i].into, s[i].count, (vec){at[i].x, at[i].y});
}

void burst(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Health *h = reef_in(b, Health);
    const Burst *burst = reef_in(b, Burst);
    for (uint32_t i = 0; i < b->count; i++) {
        if (!is_dying(&h[i])) continue;
        reef_send(b, Blast, at[i].x, at[i].y, burst[i].radius, burst[i].damage, 8.0f, 0.3f, 0);
        reef_send(b, Cue, CUE_BLAST, at[i].x, at[i].y, burst[i].radius, 0);
    }
}

void reward(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Health *h = reef_in(b, Health);
    const Bounty *bounty = reef_in(b, Bounty);
    uint32_t boss = reef_has(b->world, b->entities[0], Boss);
    for (uint32_t i = 0; i < b->count; i++) {
        if (!is_dying(&h[i])) continue;
        reef_random r = reef_random_for(b, b->entities[i]);
        uint32_t pearls = (bounty[i].pearls + (uint32_t)(reef_random_float(&r) * 100.0f)) / 100;
        reef_send(b, Loss, at[i].x, at[i].y, bounty[i].points, pearls, boss);
    }
}

void die(reef_block *b)
{
    const Position *at = reef_in(b, Position);
    const Health *h = reef_in(b, Health);
    const Body *body = reef_in(b, Body);
    for (uint32_t i = 0; i < b->count; i++) {
        if (!is_dying(&h[i])) continue;
        reef_send(b, Cue, CUE_DEATH, at[i].x, at[i].y, body[i].radius, body[i].kind);
        reef_cmd_destroy(b, b->entities[i]);
    }
}
