/* Swimming: a fish turns towards its leader and takes the leader's heading, keeps a body's length away from fish of its
 * species, flees from cells with fish that eat it, follows its food, and wanders a little. Then it moves on by one
 * second.
 *
 * A fish without a leader turns towards the middle of those fish of its species that it sees, and takes their heading.
 * If one of them may lead it, it follows that one from the next tick on, until the leader dies or is out of sight.
 *
 * A fish without a leader decides on its course in every second tick, and looks at the nine cells around it. One with a
 * leader decides in every fourth, and looks at the three cells of its own row. Of each row of three cells it looks at
 * no more than LOOKED_AT fish, so that a crowd costs no more than a school; where there are more, the part that it
 * looks at changes from time to time. All fish look at where the others were at the start of the tick. */
#include "ecosystem.h"

#include "dice.h"
#include <reef/command_relation.h>
#include <reef/random.h>

#include <math.h>

enum { LOOKED_AT = 5, LED_METRES = 6 /* at most between a fish and its leader */ };

/* How strongly each wish bends the course, as a fraction of the cruising speed. */
static const float weight_together = 0.30f, weight_along = 0.40f, weight_apart = 0.5f, weight_flee = 1.5f,
                   weight_food = 0.15f, weight_wander = 0.30f, fleeing_speed = 1.8f;

/* What all fish of a block look at. */
typedef struct scene {
    const reef_world *world;
    const Sea *sea;
    const Sight *sight;
    const Rules *rules;
} scene;

/* What a fish sees of its own species. */
typedef struct view {
    float x, y;             /* sum of the ways to them */
    float vx, vy;           /* sum of their velocities */
    float apart_x, apart_y; /* sum of the ways away from those that are too near */
    uint32_t count;
    reef_entity leader; /* the one with the lowest index; null: nobody was seen */
} view;

typedef struct swimmer {
    reef_entity fish;
    float x, y;
    uint32_t kind;
    uint32_t dice; /* random bits for choosing at which fish to look */
    const species *of;
    const spot *place;
} swimmer;

static void look_at_run(const scene *s, const swimmer *me, uint32_t from, uint32_t to, view *v)
{
    uint32_t count = to - from;
    if (count > LOOKED_AT) {
        from += (uint32_t)((uint64_t)me->dice * (count - LOOKED_AT + 1) >> 32);
        to = from + LOOKED_AT;
    }
    float near = me->of->length + 0.15f, near_square = near * near;
    for (uint32_t k = from; k < to; k++) {
        const seen *other = &s->sight->fish[k];
        if (other->species != me->kind) continue;
        float dx = sea_way(s->sea, me->x, other->x), dy = sea_way(s->sea, me->y, other->y);
        v->x += dx;
        v->y += dy;
        v->vx += other->vx;
        v->vy += other->vy;
        v->count++;
        if (reef_entity_is_null(v->leader) || other->fish.index < v->leader.index) v->leader = other->fish;
        if (dx * dx + dy * dy < near_square) {
            v->apart_x -= dx;
            v->apart_y -= dy;
        }
    }
}

/* Looks at rows of three cells around a fish: at 0 ... 2, or only at 1, its own. A row is a run of adjoining fish; at
 * the sea's edge it falls apart into cells. */
static void look_around(const scene *s, const swimmer *me, uint32_t from, uint32_t to, view *v)
{
    const uint32_t *first = s->sight->first;
    const spot *p = me->place;
    for (uint32_t j = from; j <= to; j++) {
        uint32_t row = p->row[j];
        if (p->west < p->here && p->here < p->east) {
            look_at_run(s, me, first[row + p->west], first[row + p->east + 1], v);
        } else {
            look_at_run(s, me, first[row + p->west], first[row + p->west + 1], v);
            look_at_run(s, me, first[row + p->here], first[row + p->here + 1], v);
            look_at_run(s, me, first[row + p->east], first[row + p->east + 1], v);
        }
    }
}

/* Looks at the leader, if it is in sight, and at the fish of the own row of cells, which may be too near. Without a
 * leader in sight it looks at all fish around, of whom one may become the leader. */
static void look(const scene *s, const swimmer *me, uint32_t leader, view *v)
{
    const seen *its = leader < OUT_OF_SIGHT ? &s->sight->fish[leader] : NULL;
    const float dx = its ? sea_way(s->sea, me->x, its->x) : 0.0f, dy = its ? sea_way(s->sea, me->y, its->y) : 0.0f;
    if (its == NULL || dx * dx + dy * dy > LED_METRES * LED_METRES) {
        look_around(s, me, 0, 2, v);
        if (v->leader.index >= me->fish.index) v->leader = (reef_entity){0};
        return;
    }
    look_around(s, me, 1, 1, v);
    v->x = dx, v->y = dy, v->vx = its->vx, v->vy = its->vy;
    v->count = 1;
    v->leader = its->fish;
}

/* Returns the direction away from the neighbouring cells with enemies; {0, 0}: there are none. */
static Velocity away_from_enemies(const scene *s, const swimmer *me)
{
    const spot *p = me->place;
    const uint64_t *hunters = s->sight->hunters;
    uint64_t feared = me->of->feared;
    Velocity away = {0.0f, 0.0f};
    if (hunters[p->row[1] + p->west] & feared) away.x += 1.0f;
    if (hunters[p->row[1] + p->east] & feared) away.x -= 1.0f;
    if (hunters[p->row[0] + p->here] & feared) away.y += 1.0f;
    if (hunters[p->row[2] + p->here] & feared) away.y -= 1.0f;
    return away;
}

/* Returns the direction in which there is more food: -1, 0 or 1 along each axis. */
static Velocity towards_food(const scene *s, const swimmer *me)
{
    const spot *p = me->place;
    const Water *west = sea_water(s->world, s->sea, p->row[1] + p->west),
                *east = sea_water(s->world, s->sea, p->row[1] + p->east);
    const Water *north = sea_water(s->world, s->sea, p->row[0] + p->here),
                *south = sea_water(s->world, s->sea, p->row[2] + p->here);
    int32_t dx = 0, dy = 0;
    for (int l = PLANKTON; l < LAYERS; l++) {
        if ((me->of->foods >> l & 1) == 0) continue;
        dx += east->of[l] - west->of[l];
        dy += south->of[l] - north->of[l];
    }
    return (Velocity){(float)((dx > 0) - (dx < 0)), (float)((dy > 0) - (dy < 0))};
}

/* Returns the direction of the nearest prey among the fish around; {0, 0}: there is none. */
static Velocity towards_prey(const scene *s, const swimmer *me)
{
    const spot *p = me->place;
    uint32_t columns[3] = {p->west, p->here, p->east};
    float best = 1e9f;
    Velocity way = {0.0f, 0.0f};
    for (uint32_t j = 0; j < 9; j++) {
        uint32_t c = p->row[j / 3] + columns[j % 3], from = s->sight->first[c], to = s->sight->first[c + 1];
        if (to - from > 2 * LOOKED_AT) to = from + 2 * LOOKED_AT;
        for (uint32_t k = from; k < to; k++) {
            const seen *other = &s->sight->fish[k];
            if ((me->of->prey >> other->species & 1) == 0) continue;
            float dx = sea_way(s->sea, me->x, other->x), dy = sea_way(s->sea, me->y, other->y);
            float square = dx * dx + dy * dy;
            if (square >= best) continue;
            best = square;
            way = (Velocity){dx, dy};
        }
    }
    float length = sqrtf(way.x * way.x + way.y * way.y) + 0.01f;
    return (Velocity){way.x / length, way.y / length};
}

/* Returns the sum of a fish's wishes, as a fraction of its cruising speed. */
static Velocity wish(const scene *s, const swimmer *me, const view *v, Velocity now, bool hungry, bool *hurried)
{
    float slowness = 1.0f / me->of->speed;
    Velocity w = {now.x * slowness, now.y * slowness};
    if (v->count > 0) {
        float share = 1.0f / (float)v->count, along = weight_along * slowness;
        w.x += v->x * share * weight_together + (v->vx * share - now.x) * along + v->apart_x * weight_apart;
        w.y += v->y * share * weight_together + (v->vy * share - now.y) * along + v->apart_y * weight_apart;
    }
    if (hungry) {
        Velocity food = me->of->foods != 0 ? towards_food(s, me) : (Velocity){0.0f, 0.0f};
        Velocity prey = me->of->prey != 0 ? towards_prey(s, me) : (Velocity){0.0f, 0.0f};
        w.x += food.x * weight_food + prey.x;
        w.y += food.y * weight_food + prey.y;
    }
    Velocity away = away_from_enemies(s, me);
    *hurried = away.x != 0.0f || away.y != 0.0f;
    w.x += away.x * weight_flee;
    w.y += away.y * weight_flee;
    return w;
}

static Velocity steer(reef_block *b, const scene *s, uint32_t slot, const spot *place)
{
    const seen *fish = &s->sight->fish[slot];
    reef_random r = reef_random_for(b, fish->fish);
    const species *of = &s->rules->table.of[fish->species];
    const swimmer me = {fish->fish, fish->x, fish->y, fish->species, reef_random_u32(&r), of, place};
    const uint32_t leader = s->sight->leader[slot];
    view v = {0};
    bool hurried = false;
    look(s, &me, leader, &v);
    Velocity w = wish(s, &me, &v, (Velocity){fish->vx, fish->vy}, !fish_is_full(of, fish->energy), &hurried);
    w.x += (reef_random_float(&r) - 0.5f) * weight_wander;
    w.y += (reef_random_float(&r) - 0.5f) * weight_wander;
    if (!reef_entity_is_null(v.leader)) {
        if (leader >= OUT_OF_SIGHT || !reef_entity_equal(v.leader, s->sight->fish[leader].fish))
            reef_cmd_relate(b, me.fish, Follows, v.leader);
    } else if (leader != ALONE) reef_cmd_remove(b, me.fish, Follows);
    float speed = (hurried ? of->speed * fleeing_speed : of->speed) / (sqrtf(w.x * w.x + w.y * w.y) + 1e-6f);
    return (Velocity){w.x * speed, w.y * speed};
}

/* Courses are decided cell by cell, not fish by fish: so the fish that look at each other lie in the cache. */
void decide(reef_block *b)
{
    const reef_world *w = b->world;
    const scene s = {w, reef_single_get(w, Sea), reef_single_get(w, Sight), reef_single_get(w, Rules)};
    const uint64_t tick = reef_tick_count(w);
    const Crowd *crowd = reef_inout(b, Crowd); /* the courses belong to it */
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t cell = sea_number(s.sea, b->entities[i]);
        spot place = sea_spot(s.sea, cell % s.sea->side, cell / s.sea->side);
        for (uint32_t k = crowd[i].first; k < crowd[i].end; k++) {
            const seen *fish = &s.sight->fish[k];
            const bool now = s.sight->leader[k] != FOLLOWING && ((fish->fish.index + tick) & 1) == 0;
            s.sight->course[k] = now ? steer(b, &s, k, &place) : (Velocity){fish->vx, fish->vy};
        }
    }
}

void swim(reef_block *b)
{
    const Sea *sea = reef_single_get(b->world, Sea);
    const Sight *sight = reef_single_get(b->world, Sight);
    Position *at = reef_inout(b, Position);
    Velocity *v = reef_out(b, Velocity);
    const Place *place = reef_in(b, Place);
    for (uint32_t i = 0; i < b->count; i++) {
        v[i] = sight->course[place[i].slot];
        at[i].x = sea_wrap(sea, at[i].x + v[i].x * b->dt);
        at[i].y = sea_wrap(sea, at[i].y + v[i].y * b->dt);
    }
}
