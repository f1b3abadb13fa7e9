/* Swimming: a fish turns towards the middle of those of its kind that it sees, takes their heading, keeps a body's length
 * off, flees from cells with fish that eat it, follows its food and wanders a little; then it moves on by one second.
 *
 * A fish looks at the nine cells around it, and at no more than LOOKED_AT fish in each row of three cells, so that a crowd
 * costs no more than a school. Where there are more, the part that it looks at changes from tick to tick. */
#include "ecosystem.h"
#include "random.h"

#include <math.h>

enum { LOOKED_AT = 6 };

/* How strongly each wish bends the course, in parts of the cruising speed. */
static const float weight_together = 0.10f, weight_along = 0.35f, weight_apart = 0.5f, weight_flee = 1.5f, weight_food = 0.20f,
                   weight_wander = 0.25f, fleeing_speed = 1.8f;

/* What a fish sees of its own kind. */
typedef struct view {
    float    x, y;           /* sum of the ways to them */
    float    vx, vy;         /* sum of their velocities */
    float    apart_x, apart_y; /* sum of the ways from those that are too near */
    uint32_t count;
} view;

typedef struct swimmer {
    float          x, y;
    uint32_t       kind;
    const species *of;
    uint64_t       dice;
} swimmer;

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

/* The nine cells around a position as three rows of adjoining fish; at the sea's edge a row falls apart into cells. */
static void look_around(const ecosystem *e, const swimmer *me, uint32_t cell, view *v)
{
    uint32_t side = e->water.side, cx = cell % side, cy = cell / side;
    const uint32_t *first = e->near.first;
    for (uint32_t j = 0; j < 3; j++) {
        uint32_t row = (cy + side - 1 + j) % side * side;
        if (cx > 0 && cx + 1 < side) {
            look_at_run(e, me, first[row + cx - 1], first[row + cx + 2], v);
        } else {
            for (uint32_t i = 0; i < 3; i++) {
                uint32_t c = row + (cx + side - 1 + i) % side;
                look_at_run(e, me, first[c], first[c + 1], v);
            }
        }
    }
}

/* Away from the cells around in which enemies are: {0, 0} when there is none. */
static Velocity away_from_enemies(const ecosystem *e, const species *of, uint32_t cell)
{
    Velocity away = {0.0f, 0.0f};
    uint32_t side = e->water.side, cx = cell % side, cy = cell / side;
    uint32_t west = cx > 0 ? cell - 1 : cell + side - 1, east = cx + 1 < side ? cell + 1 : cell + 1 - side;
    uint32_t cells = e->water.cells, north = cy > 0 ? cell - side : cell + cells - side;
    uint32_t south = cy + 1 < side ? cell + side : cell + side - cells;
    const uint64_t *hunters = e->near.hunters;
    if (hunters[west] & of->feared) away.x += 1.0f;
    if (hunters[east] & of->feared) away.x -= 1.0f;
    if (hunters[north] & of->feared) away.y += 1.0f;
    if (hunters[south] & of->feared) away.y -= 1.0f;
    return away;
}

/* The direction in which there is more food: -1, 0 or 1 along each axis. */
static Velocity towards_food(const ecosystem *e, const species *of, uint32_t cell)
{
    uint32_t side = e->water.side, cx = cell % side, cy = cell / side, cells = e->water.cells;
    uint32_t west = cx > 0 ? cell - 1 : cell + side - 1, east = cx + 1 < side ? cell + 1 : cell + 1 - side;
    uint32_t north = cy > 0 ? cell - side : cell + cells - side, south = cy + 1 < side ? cell + side : cell + side - cells;
    int32_t dx = 0, dy = 0;
    for (int l = PLANKTON; l < LAYERS; l++) {
        if ((of->foods >> l & 1) == 0) continue;
        const int32_t *food = e->water.layer[l];
        dx += food[east] - food[west];
        dy += food[south] - food[north];
    }
    return (Velocity){(float)((dx > 0) - (dx < 0)), (float)((dy > 0) - (dy < 0))};
}

/* The way to the nearest prey among the fish of the nine cells; {0, 0} when there is none. */
static Velocity towards_prey(const ecosystem *e, const swimmer *me, uint32_t cell)
{
    uint32_t side = e->water.side, cx = cell % side, cy = cell / side;
    float best = 1e9f;
    Velocity way = {0.0f, 0.0f};
    for (uint32_t j = 0; j < 9; j++) {
        uint32_t c = (cy + side - 1 + j / 3) % side * side + (cx + side - 1 + j % 3) % side;
        uint32_t from = e->near.first[c], to = e->near.first[c + 1];
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
static Velocity wish(const ecosystem *e, const swimmer *me, uint32_t cell, Velocity now, bool hungry, bool *hurried)
{
    view v = {0};
    float speed = me->of->speed;
    look_around(e, me, cell, &v);
    Velocity w = {now.x / speed, now.y / speed};
    if (v.count > 0) {
        float share = 1.0f / (float)v.count;
        w.x += v.x * share * weight_together + (v.vx * share - now.x) / speed * weight_along + v.apart_x * weight_apart;
        w.y += v.y * share * weight_together + (v.vy * share - now.y) / speed * weight_along + v.apart_y * weight_apart;
    }
    if (hungry) {
        Velocity food = me->of->foods != 0 ? towards_food(e, me->of, cell) : (Velocity){0.0f, 0.0f};
        Velocity prey = me->of->prey != 0 ? towards_prey(e, me, cell) : (Velocity){0.0f, 0.0f};
        w.x += food.x * weight_food + prey.x;
        w.y += food.y * weight_food + prey.y;
    }
    Velocity away = away_from_enemies(e, me->of, cell);
    *hurried = away.x != 0.0f || away.y != 0.0f;
    w.x += away.x * weight_flee + (random_unit(me->dice, 0) - 0.5f) * weight_wander;
    w.y += away.y * weight_flee + (random_unit(me->dice, 32) - 0.5f) * weight_wander;
    return w;
}

static void swim_block(ecosystem *e, reef_block *b)
{
    Position *at = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    const Species *kind = reef_in(b, Species);
    const Energy *energy = reef_in(b, Energy);
    for (uint32_t i = 0; i < b->count; i++) {
        const species *of = &e->table.of[kind[i].index];
        swimmer me = {at[i].x, at[i].y, kind[i].index, of,
                      random_bits(e->seed, e->tick, reef_entity_bits(b->entities[i]), FOR_WANDER)};
        bool hurried = false;
        Velocity w = wish(e, &me, sea_cell(&e->water, me.x, me.y), v[i], energy[i].units < of->full / 4 * 3, &hurried);
        float length = sqrtf(w.x * w.x + w.y * w.y) + 1e-6f;
        float speed = (hurried ? of->speed * fleeing_speed : of->speed) / length;
        v[i] = (Velocity){w.x * speed, w.y * speed};
        at[i].x = sea_wrap(&e->water, at[i].x + v[i].x);
        at[i].y = sea_wrap(&e->water, at[i].y + v[i].y);
    }
}

bool swim(ecosystem *e)
{
    return ecosystem_each(e, e->swimmers, swim_block);
}
