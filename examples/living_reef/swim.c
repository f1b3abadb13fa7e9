/* Swimming: a fish turns towards the middle of those of its kind that it sees, takes their heading, keeps a body's
 * length off, flees from cells with fish that eat it, follows its food and wanders a little; then it moves on by one
 * second.
 *
 * A fish decides on its course in every second tick. It looks at the nine cells around it, and at no more than
 * LOOKED_AT fish in each row of three cells, so that a crowd costs no more than a school; where there are more, the
 * part that it looks at changes from time to time. */
#include "ecosystem.h"
#include "random.h"

#include <math.h>

enum { LOOKED_AT = 5 };

/* How strongly each wish bends the course, in parts of the cruising speed. */
static const float weight_together = 0.30f, weight_along = 0.40f, weight_apart = 0.5f, weight_flee = 1.5f,
                   weight_food = 0.15f, weight_wander = 0.30f, fleeing_speed = 1.8f;

/* What a fish sees of its own kind. */
typedef struct view {
    float    x, y;             /* sum of the ways to them */
    float    vx, vy;           /* sum of their velocities */
    float    apart_x, apart_y; /* sum of the ways from those that are too near */
    uint32_t count;
} view;

/* The cells around a position: columns, and the first cells of rows. */
typedef struct spot {
    uint32_t west, here, east, row[3];
} spot;

typedef struct swimmer {
    float          x, y;
    uint32_t       kind;
    const species *of;
    uint64_t       dice;
    spot           place;
} swimmer;

static spot find_spot(const sea *s, uint32_t x, uint32_t y)
{
    uint32_t last = s->side - 1;
    return (spot){x > 0 ? x - 1 : last,
                  x,
                  x < last ? x + 1 : 0,
                  {(y > 0 ? y - 1 : last) * s->side, y * s->side, (y < last ? y + 1 : 0) * s->side}};
}

static void look_at_run(const ecosystem *e, const swimmer *me, uint32_t from, uint32_t to, view *v)
{
    uint32_t count = to - from;
    if (count > LOOKED_AT) {
        from += random_below(me->dice >> 20, count - LOOKED_AT + 1);
        to = from + LOOKED_AT;
    }
    float near = me->of->length + 0.15f, near_square = near * near;
    for (uint32_t k = from; k < to; k++) {
        const seen *other = &e->near.fish[k];
        if (other->species != me->kind) continue;
        float dx = sea_way(&e->water, me->x, other->x), dy = sea_way(&e->water, me->y, other->y);
        v->x += dx;
        v->y += dy;
        v->vx += other->vx;
        v->vy += other->vy;
        v->count++;
        if (dx * dx + dy * dy < near_square) {
            v->apart_x -= dx;
            v->apart_y -= dy;
        }
    }
}

/* The nine cells around a fish as three rows of adjoining fish; at the sea's edge a row falls apart into cells. */
static void look_around(const ecosystem *e, const swimmer *me, view *v)
{
    const uint32_t *first = e->near.first;
    const spot     *p = &me->place;
    for (uint32_t j = 0; j < 3; j++) {
        uint32_t row = p->row[j];
        if (p->west < p->here && p->here < p->east) {
            look_at_run(e, me, first[row + p->west], first[row + p->east + 1], v);
        } else {
            look_at_run(e, me, first[row + p->west], first[row + p->west + 1], v);
            look_at_run(e, me, first[row + p->here], first[row + p->here + 1], v);
            look_at_run(e, me, first[row + p->east], first[row + p->east + 1], v);
        }
    }
}

/* Away from the cells around in which enemies are: {0, 0} when there is none. */
static Velocity away_from_enemies(const ecosystem *e, const swimmer *me)
{
    const spot     *p = &me->place;
    const uint64_t *hunters = e->near.hunters;
    uint64_t        feared = me->of->feared;
    Velocity        away = {0.0f, 0.0f};
    if (hunters[p->row[1] + p->west] & feared) away.x += 1.0f;
    if (hunters[p->row[1] + p->east] & feared) away.x -= 1.0f;
    if (hunters[p->row[0] + p->here] & feared) away.y += 1.0f;
    if (hunters[p->row[2] + p->here] & feared) away.y -= 1.0f;
    return away;
}

/* The direction in which there is more food: -1, 0 or 1 along each axis. */
static Velocity towards_food(const ecosystem *e, const swimmer *me)
{
    const spot *p = &me->place;
    int32_t     dx = 0, dy = 0;
    for (int l = PLANKTON; l < LAYERS; l++) {
        if ((me->of->foods >> l & 1) == 0) continue;
        const int32_t *food = e->water.layer[l];
        dx += food[p->row[1] + p->east] - food[p->row[1] + p->west];
        dy += food[p->row[2] + p->here] - food[p->row[0] + p->here];
    }
    return (Velocity){(float)((dx > 0) - (dx < 0)), (float)((dy > 0) - (dy < 0))};
}

/* The direction of the nearest prey among the fish around; {0, 0} when there is none. */
static Velocity towards_prey(const ecosystem *e, const swimmer *me)
{
    const spot *p = &me->place;
    uint32_t    columns[3] = {p->west, p->here, p->east};
    float       best = 1e9f;
    Velocity    way = {0.0f, 0.0f};
    for (uint32_t j = 0; j < 9; j++) {
        uint32_t c = p->row[j / 3] + columns[j % 3], from = e->near.first[c], to = e->near.first[c + 1];
        if (to - from > 2 * LOOKED_AT) to = from + 2 * LOOKED_AT;
        for (uint32_t k = from; k < to; k++) {
            const seen *other = &e->near.fish[k];
            if ((me->of->prey >> other->species & 1) == 0) continue;
            float dx = sea_way(&e->water, me->x, other->x), dy = sea_way(&e->water, me->y, other->y);
            float square = dx * dx + dy * dy;
            if (square >= best) continue;
            best = square;
            way = (Velocity){dx, dy};
        }
    }
    float length = sqrtf(way.x * way.x + way.y * way.y) + 0.01f;
    return (Velocity){way.x / length, way.y / length};
}

/* The wishes of one fish, added up: in parts of its cruising speed. */
static Velocity wish(const ecosystem *e, const swimmer *me, Velocity now, bool hungry, bool *hurried)
{
    view  v = {0};
    float slowness = 1.0f / me->of->speed;
    look_around(e, me, &v);
    Velocity w = {now.x * slowness, now.y * slowness};
    if (v.count > 0) {
        float share = 1.0f / (float)v.count, along = weight_along * slowness;
        w.x += v.x * share * weight_together + (v.vx * share - now.x) * along + v.apart_x * weight_apart;
        w.y += v.y * share * weight_together + (v.vy * share - now.y) * along + v.apart_y * weight_apart;
    }
    if (hungry) {
        Velocity food = me->of->foods != 0 ? towards_food(e, me) : (Velocity){0.0f, 0.0f};
        Velocity prey = me->of->prey != 0 ? towards_prey(e, me) : (Velocity){0.0f, 0.0f};
        w.x += food.x * weight_food + prey.x;
        w.y += food.y * weight_food + prey.y;
    }
    Velocity away = away_from_enemies(e, me);
    *hurried = away.x != 0.0f || away.y != 0.0f;
    w.x += away.x * weight_flee + (random_unit(me->dice, 0) - 0.5f) * weight_wander;
    w.y += away.y * weight_flee + (random_unit(me->dice, 32) - 0.5f) * weight_wander;
    return w;
}

static Velocity steer(const ecosystem *e, const seen *fish, reef_entity entity, const spot *place)
{
    const species *of = &e->table.of[fish->species];
    swimmer        me = {fish->x, fish->y, fish->species, of, 0, *place};
    Velocity       now = {fish->vx, fish->vy};
    me.dice = random_bits(e->seed, e->tick, reef_entity_bits(entity), FOR_WANDER);
    bool     hurried = false;
    Velocity w = wish(e, &me, now, fish->hungry != 0, &hurried);
    float    speed = (hurried ? of->speed * fleeing_speed : of->speed) / (sqrtf(w.x * w.x + w.y * w.y) + 1e-6f);
    return (Velocity){w.x * speed, w.y * speed};
}

static void decide_cell(ecosystem *e, uint32_t x, uint32_t y)
{
    spot     place = find_spot(&e->water, x, y);
    uint32_t cell = y * e->water.side + x;
    for (uint32_t k = e->near.first[cell]; k < e->near.first[cell + 1]; k++) {
        const seen *fish = &e->near.fish[k];
        reef_entity entity = e->near.entity[k];
        bool        decides = ((entity.index + e->tick) & 1) == 0;
        e->near.course[k] = decides ? steer(e, fish, entity, &place) : (Velocity){fish->vx, fish->vy};
    }
}

static void swim_block(ecosystem *e, reef_block *b, uint32_t first, uint32_t end)
{
    Position    *at = reef_inout(b, Position);
    Velocity    *v = reef_out(b, Velocity);
    const Place *place = reef_in(b, Place);
    for (uint32_t i = first; i < end; i++) {
        v[i] = e->near.course[place[i].index];
        at[i].x = sea_wrap(&e->water, at[i].x + v[i].x);
        at[i].y = sea_wrap(&e->water, at[i].y + v[i].y);
    }
}

/* Courses are decided cell by cell, not in the order of rows: those who look at each other then lie in the cache. */
bool swim(ecosystem *e)
{
    for (uint32_t y = 0; y < e->water.side; y++)
        for (uint32_t x = 0; x < e->water.side; x++) decide_cell(e, x, y);
    return ecosystem_each(e, e->swimmers, swim_block);
}
