#include "crew.h"

#include "diver.h"
#include "near.h"
#include <reef/relation.h>

Lamp mate_lamp(const Lamp *lamp, const Mate *mate, const Position *at)
{
    Lamp own = *lamp;
    own.x = at->x, own.y = at->y, own.dx = mate->dx, own.dy = mate->dy;
    return own;
}

reef_entity mate_of(reef_world *w, uint32_t player)
{
    for (reef_block b = reef_begin_text(w, "in Mate"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            if (reef_in(&b, Mate)[i].player == player) {
                const reef_entity e = b.entities[i];
                reef_end(&b);
                return e;
            }
    return (reef_entity){0};
}

/* ---- swimming ---- */

static void mate_keys(reef_block *b, Mate *m, const Upgrades *u, const Position *at)
{
    const uint8_t pressed = (uint8_t)(m->keys & ~m->before);
    if ((pressed & KEY_DASH) != 0 && m->dash_rests == 0.0f) {
        m->dash = 0.18f;
        m->dash_rests = DASH_RESTS - 0.35f * (float)u->level[UPGRADE_FINS];
        if (m->safe < 0.3f) m->safe = 0.3f;
        reef_send(b, Cue, CUE_DASH, at->x, at->y, 1.0f, 0);
    }
    if ((pressed & KEY_PULSE) != 0 && m->pulse_rests == 0.0f) {
        const float level = (float)u->level[UPGRADE_SONAR], radius = 6.0f + 2.0f * level;
        m->pulse_rests = PULSE_RESTS - level;
        reef_send(b, Blast, at->x, at->y, radius, level * 2.0f, 26.0f, 1.3f + 0.3f * level, 1);
        reef_send(b, Cue, CUE_PULSE, at->x, at->y, radius, 0);
    }
}

static void mate_swims(Mate *m, Position *at, Velocity *v, const Upgrades *u, const Lamp *lamp, float dt)
{
    const bool awake = m->strength > 0.0f;
    vec move = awake ? vec_scale((vec){(float)m->move[0], (float)m->move[1]}, 0.01f) : (vec){0, -0.1f};
    if (vec_square(move) > 1.0f) move = vec_unit(move);
    const float speed = 6.0f + 0.7f * (float)u->level[UPGRADE_FINS];
    const vec way = vec_square(move) > 0.01f ? vec_unit(move) : (vec){m->dx, m->dy};
    const vec wish = m->dash > 0.0f ? vec_scale(way, 22.0f) : vec_scale(move, speed);
    const float quick = clamp((m->dash > 0.0f ? 25.0f : 7.0f) * dt, 0.0f, 1.0f);
    v->x += (wish.x - v->x) * quick;
    v->y += (wish.y - v->y) * quick;
    at->x += v->x * dt;
    at->y += v->y * dt;
    const vec out = {at->x - lamp->bell_x, at->y - lamp->bell_y};
    const float length = diver_tether_length(u), distance = vec_length(out);
    if (distance > length) {
        at->x = lamp->bell_x + out.x * length / distance;
        at->y = lamp->bell_y + out.y * length / distance;
    }
    vec to = {m->dx, m->dy};
    if (m->aim[0] != 0 || m->aim[1] != 0) to = vec_unit((vec){(float)m->aim[0], (float)m->aim[1]});
    else if ((m->keys & KEY_HOLD) == 0 && vec_square(move) > 0.01f) to = vec_unit(move);
    const vec now = {m->dx, m->dy};
    if (vec_dot(now, to) < -0.95f) to = vec_side(now);
    const vec next = vec_unit(vec_add_scaled(now, vec_sub(to, now), clamp(14.0f * dt, 0.0f, 1.0f)));
    if (awake && (next.x != 0.0f || next.y != 0.0f)) m->dx = next.x, m->dy = next.y;
}

void accompany(reef_block *b)
{
    const Upgrades *u = reef_single_get(b->world, Upgrades);
    const Stage *stage = reef_single_get(b->world, Stage);
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    Position *at = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    Mate *m = reef_inout(b, Mate);
    for (uint32_t i = 0; i < b->count; i++) {
        m[i].safe = count_down(m[i].safe, b->dt);
        m[i].dash = count_down(m[i].dash, b->dt);
        m[i].dash_rests = count_down(m[i].dash_rests, b->dt);
        m[i].pulse_rests = count_down(m[i].pulse_rests, b->dt);
        m[i].harpoon_rests = count_down(m[i].harpoon_rests, b->dt);
        if (stage->now != STAGE_LOST && m[i].strength > 0.0f) mate_keys(b, &m[i], u, &at[i]);
        m[i].before = m[i].keys;
        if (stage->now == STAGE_LOST) m[i].move[0] = m[i].move[1] = 0;
        mate_swims(&m[i], &at[i], &v[i], u, lamp, b->dt);
    }
}

void assemble(reef_block *b)
{
    Crew *crew = reef_single_mut(b->world, Crew);
    const Position *at = reef_in(b, Position);
    const Mate *m = reef_in(b, Mate);
    for (uint32_t i = 0; crew != NULL && i < b->count && crew->count < PLAYERS_MAX; i++) {
        if (m[i].strength == 0.0f) continue;
        crew->x[crew->count] = at[i].x;
        crew->y[crew->count++] = at[i].y;
    }
}

/* ---- strength ---- */

void suffer(reef_block *b)
{
    const Stage *stage = reef_single_get(b->world, Stage);
    const Position *at = reef_in(b, Position);
    Mate *m = reef_inout(b, Mate);
    reef_events bites = reef_receive(b, Bite);
    for (const Bite *bite; (bite = reef_next_event(&bites)) != NULL;)
        for (uint32_t i = 0; i < b->count; i++) {
            const vec off = {bite->x - at[i].x, bite->y - at[i].y};
            if (vec_square(off) > 2.25f || m[i].safe > 0.0f || stage->now != STAGE_WAVE) continue;
            m[i].strength = count_down(m[i].strength, bite->air);
            m[i].safe = 0.9f;
            m[i].helped = 0.0f;
        }
}

void help(reef_block *b)
{
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Crew *crew = reef_single_get(b->world, Crew);
    const Position *at = reef_in(b, Position);
    Mate *m = reef_inout(b, Mate);
    for (uint32_t i = 0; i < b->count; i++) {
        const vec by = nearest_diver(lamp, crew, at[i].x, at[i].y), to = {by.x - at[i].x, by.y - at[i].y};
        if (m[i].strength > 0.0f) continue; /* the crew has only those who are awake */
        m[i].helped = vec_square(to) < 4.0f ? m[i].helped + b->dt : 0.0f;
        if (m[i].helped < HELP_SECONDS) continue;
        m[i].strength = MATE_STRENGTH * 0.5f;
        m[i].safe = 1.5f;
    }
}

/* ---- a tick ---- */

/* Mates of players who are gone go; those of new players come to the diver. */
static bool muster(reef_world *w, uint32_t wanted)
{
    reef_entity gone[PLAYERS_MAX];
    uint32_t there = 0, count = 0;
    for (reef_block b = reef_begin_text(w, "in Mate"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            const uint32_t bit = 1u << (reef_in(&b, Mate)[i].player & (PLAYERS_MAX - 1));
            if ((wanted & bit) == 0 && count < PLAYERS_MAX) gone[count++] = b.entities[i];
            there |= bit;
        }
    for (uint32_t i = 0; i < count; i++)
        if (reef_destroy(w, gone[i]) < 0) return false;
    const Lamp *lamp = reef_single_get(w, Lamp);
    const float x = lamp->x, y = lamp->y;
    for (uint32_t p = 0; p < PLAYERS_MAX; p++) {
        if ((wanted & ~there & 1u << p) == 0) continue;
        const reef_entity e =
            reef_spawn(w, reef_with(Mate, .player = p, .strength = MATE_STRENGTH, .dy = 1), reef_default(Velocity),
                       reef_with(Position, x + 0.7f * (float)(p % 4) - 1.0f, y + 1.0f));
        if (reef_entity_is_null(e)) return false;
    }
    return true;
}

reef_status crew_step(reef_world *w, uint32_t players, const CrewInput *const *input)
{
    uint32_t first = 0;
    Input in = {0};
    while (first < PLAYERS_MAX && (players & 1u << first) == 0) first++;
    for (uint32_t p = PLAYERS_MAX; p-- > 0;) {
        if ((players & 1u << p) == 0) continue;
        if (input[p]->pick != PICK_NONE) in.pick = input[p]->pick; /* of several, the first player's counts */
        if (p != first) continue;
        for (int k = 0; k < 2; k++) in.move[k] = input[p]->move[k], in.aim[k] = input[p]->aim[k];
        in.keys = input[p]->keys;
    }
    const uint32_t mates = first < PLAYERS_MAX ? players & ~(1u << first) : 0;
    const Near *near = reef_single_get(w, Near);
    if ((near == NULL || near->sides == NULL) && !near_new(w)) return REEF_NO_MEMORY; /* a state that was loaded */
    if (!near_reserve(w) || !muster(w, mates) || reef_single_set(w, Crew, .count = 0) < 0) return REEF_NO_MEMORY;
    for (reef_block b = reef_begin_text(w, "Mate"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            Mate *m = &reef_inout(&b, Mate)[i];
            const CrewInput *own = input[m->player & (PLAYERS_MAX - 1)];
            for (int k = 0; k < 2; k++) m->move[k] = own->move[k], m->aim[k] = own->aim[k];
            m->keys = own->keys;
        }
    const reef_status s = reef_single_set_id(w, reef_id(Input), &in, sizeof in);
    return s < 0 ? s : reef_tick(w, 1.0f / (float)TICKS_PER_SECOND);
}
