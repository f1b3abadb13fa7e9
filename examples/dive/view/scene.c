#include "scene.h"

#include "crew.h"
#include "diver.h"

#include <string.h>

/* clang-format off */
static const look looks[CREATURE_COUNT] = {
    /*                     shape          paint                 length width  beat glow extra */
    [CREATURE_NEEDLE]    = {SHAPE_FISH,   {255,  98,  64, 255}, 1.75f, 0.90f, 14.0f, 30, 120},
    [CREATURE_DARTER]    = {SHAPE_SHARK,  {255, 164,  48, 255}, 1.90f, 1.00f, 10.0f, 20,   0},
    [CREATURE_JELLY]     = {SHAPE_JELLY,  {214, 116, 240, 235}, 1.50f, 1.15f,  2.5f, 70,   0},
    [CREATURE_JELLET]    = {SHAPE_JELLY,  {240, 150, 235, 235}, 1.50f, 1.15f,  4.0f, 70,   0},
    [CREATURE_PINCER]    = {SHAPE_CRAB,   {226,  66,  52, 255}, 1.45f, 1.45f,  6.0f,  0,   0},
    [CREATURE_SHADE]     = {SHAPE_EEL,    {124,  98, 196, 255}, 2.30f, 1.05f,  9.0f, 10,   0},
    [CREATURE_URCHIN]    = {SHAPE_SPIKY,  { 98,  70, 150, 255}, 1.60f, 1.60f,  1.0f,  0,   0},
    [CREATURE_BROODER]   = {SHAPE_SHRIMP, {206,  92, 156, 255}, 1.80f, 1.10f,  4.0f,  0,   0},
    [CREATURE_EGG]       = {SHAPE_EGG,    {240, 196, 150, 235}, 1.00f, 1.00f,  2.0f, 40,   0},
    [CREATURE_CLEANER]   = {SHAPE_SHRIMP, {255,  96, 130, 255}, 1.90f, 1.10f,  8.0f, 30,   0},
    [CREATURE_SPITTER]   = {SHAPE_PUFFER, {150, 206,  70, 255}, 1.50f, 1.25f,  3.0f, 15,   0},
    [CREATURE_LEECH]     = {SHAPE_EEL,    {204,  44,  84, 255}, 2.00f, 1.10f, 12.0f, 10,   0},
    [CREATURE_PUFFER]    = {SHAPE_PUFFER, {240, 196,  84, 255}, 1.35f, 1.30f,  3.0f,  0,   0},
    [CREATURE_WOLF]      = {SHAPE_SHARK,  {128, 146, 176, 255}, 2.10f, 1.10f,  7.0f,  0,   0},
    [CREATURE_MATRON]    = {SHAPE_MATRON, {216,  72, 124, 255}, 1.35f, 1.35f,  2.0f, 15,   0},
    [CREATURE_LANTERN]   = {SHAPE_ANGLER, { 70, 104, 140, 255}, 1.55f, 1.20f,  3.0f,  0,   0},
    [CREATURE_LEVIATHAN] = {SHAPE_ANGLER, { 52, 132, 124, 255}, 1.50f, 1.05f,  3.0f,  0, 255},
    [CREATURE_SEGMENT]   = {SHAPE_SEGMENT,{ 46, 116, 112, 255}, 1.15f, 1.35f,  2.0f,  0,   0},
    [CREATURE_WRASSE]    = {SHAPE_FISH,   { 64, 200, 240, 255}, 1.60f, 0.95f, 10.0f, 40, 200},
    [CREATURE_TANG]      = {SHAPE_FISH,   {255, 226,  72, 255}, 1.35f, 1.20f,  7.0f, 40, 255},
};
/* clang-format on */

const look *creature_look(uint32_t kind) { return &looks[kind < CREATURE_COUNT ? kind : 0]; }

/* What is being drawn. */
typedef struct view {
    frame *f;
    reef_world *w;
    camera c;
    float time;
    const Lamp *lamp;
} view;

static bool seen_at(const view *v, float x, float y, float room)
{
    float dx = x - v->c.x, dy = y - v->c.y, high = v->c.half_high + room, wide = v->c.half_high * v->c.aspect + room;
    return dx > -wide && dx < wide && dy > -high && dy < high;
}

static void glow(const view *v, float x, float y, float radius, colour paint)
{
    frame_add(v->f, (sprite){x, y, radius, 0, radius, 0, paint, SHAPE_GLOW, 255, 0, 0});
}

/* ---- the reef: corals and weeds, always at the same places ---- */

static uint32_t scatter(uint32_t x, uint32_t y)
{
    uint32_t h = x * 374761393u + y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return h ^ (h >> 16);
}

static void draw_plant(const view *v, float x, float y, uint32_t dice)
{
    static const colour corals[] = {
        {150, 70, 74, 255}, {160, 112, 64, 255}, {122, 72, 132, 255}, {66, 104, 140, 255}, {148, 132, 92, 255}};
    float turn = (float)(dice >> 20 & 255) / 255.0f - 0.5f, size = 0.5f + (float)(dice >> 12 & 255) / 200.0f;
    vec way = vec_unit((vec){turn, (dice >> 28 & 1) != 0 ? 0.5f : -0.5f});
    if ((dice & 3) == 0) {
        for (uint32_t k = 0; k < 4; k++) {
            vec w = vec_unit((vec){way.x + ((float)k - 1.5f) * 0.55f, way.y - 0.2f});
            frame_add(v->f, (sprite){x + w.x * size * 1.2f,
                                     y + w.y * size * 1.2f,
                                     w.x * size * 1.3f,
                                     w.y * size * 1.3f,
                                     size * 0.55f,
                                     v->time * 1.1f + x + (float)k,
                                     {54, 128, 92, 255},
                                     SHAPE_WEED,
                                     0,
                                     0,
                                     0});
        }
        return;
    }
    colour paint = corals[(dice >> 4) % 5];
    frame_add(v->f, (sprite){x + 0.12f,
                             y + 0.16f,
                             way.x * size * 1.1f,
                             way.y * size * 1.1f,
                             size * 1.1f,
                             0,
                             {4, 6, 12, 120},
                             SHAPE_CORAL,
                             0,
                             0,
                             (uint8_t)(dice >> 8)});
    frame_add(v->f,
              (sprite){x, y, way.x * size, way.y * size, size, 0, paint, SHAPE_CORAL, 8, 0, (uint8_t)(dice >> 8)});
    frame_add(v->f,
              (sprite){x + way.y * 0.4f * size, y - way.x * 0.4f * size, -way.x * size * 0.5f, way.y * size * 0.5f,
                       size * 0.5f, 0, corals[(dice >> 6) % 5], SHAPE_CORAL, 8, 0, (uint8_t)(dice >> 16)});
}

static void draw_reef(const view *v)
{
    const float step = 3.0f;
    int left = (int)((v->c.x - v->c.half_high * v->c.aspect) / step) - 2,
        right = left + (int)(v->c.half_high * v->c.aspect * 2.0f / step) + 4;
    int top = (int)((v->c.y - v->c.half_high) / step) - 2, bottom = top + (int)(v->c.half_high * 2.0f / step) + 4;
    for (int j = top; j <= bottom; j++)
        for (int i = left; i <= right; i++) {
            uint32_t dice = scatter((uint32_t)(i + 1000), (uint32_t)(j + 1000));
            /* the reef grows in patches, and less around the bell */
            uint32_t patch = scatter((uint32_t)((i + 1000) / 4), (uint32_t)((j + 1000) / 4)) & 255;
            float x = ((float)i + (float)(dice & 255) / 255.0f) * step,
                  y = ((float)j + (float)(dice >> 8 & 255) / 255.0f) * step;
            float square = x * x + y * y;
            if (square < 49.0f || square > (SEA_RADIUS + 2.0f) * (SEA_RADIUS + 2.0f)) continue;
            if ((dice >> 16 & 255) < (patch > 170 ? 190u : patch > 90 ? 40u : 8u))
                draw_plant(v, x, y, scatter(dice, 7));
        }
}

/* ---- creatures ---- */

static void draw_shadow(const view *v, const sprite *s)
{
    sprite shadow = *s;
    shadow.x += 0.18f + 0.1f * s->width, shadow.y += 0.28f + 0.15f * s->width;
    shadow.paint = (colour){2, 4, 10, 110};
    shadow.shape = SHAPE_DISC;
    shadow.ux *= 0.8f, shadow.uy *= 0.8f, shadow.width *= 0.7f;
    shadow.glow = 0, shadow.flash = 0;
    frame_add(v->f, shadow);
}

/* What the block's creatures have beside the usual; NULL: they don't. */
typedef struct extras {
    const Charge *charge;
    const Shell *shell;
    const Burst *burst;
    const Hatch *hatch;
    const Spit *spit;
} extras;

static void draw_charge(const view *v, const Charge *c, const Position *at, float radius)
{
    if (c->state != CHARGE_AIMS) return;
    float length = c->speed * c->rush * 0.5f, left = c->clock / c->aim;
    colour red = {255, 60, 40, (uint8_t)(40.0f + 120.0f * (1.0f - left))};
    frame_add(v->f, (sprite){at->x + c->x * length, at->y + c->y * length, c->x * length, c->y * length, radius * 0.22f,
                             0, red, SHAPE_LINE, 255, 0, 0});
}

static void draw_creature(const view *v, const extras *x, uint32_t i, const Position *at, const Velocity *speed,
                          const Body *body, const Health *h, uint32_t index, bool big)
{
    const look *l = creature_look(body->kind);
    const float jitter = h->hurt > 0.0f ? 0.06f : 0.0f, beat = v->time * l->beat + (float)(index % 97);
    vec way = vec_unit((vec){speed->x, speed->y});
    if (x->charge != NULL && x->charge[i].state == CHARGE_AIMS) way = (vec){x->charge[i].x, x->charge[i].y};
    if (way.x == 0.0f && way.y == 0.0f) way = (vec){1, 0};
    sprite s = {at->x + (index % 2 != 0 ? jitter : -jitter),
                at->y,
                way.x * body->radius * l->length,
                way.y * body->radius * l->length,
                body->radius * l->width,
                beat,
                l->paint,
                l->shape,
                l->glow < 64 ? 64 : l->glow, /* in the dark too they can be made out */
                (uint8_t)clamp(h->hurt * 1500.0f, 0.0f, 200.0f),
                l->extra};
    if (x->burst != NULL && x->burst[i].clock < x->burst[i].fuse) {
        float left = x->burst[i].clock / x->burst[i].fuse, blink = v->time * (12.0f + 30.0f * (1.0f - left));
        s.extra = (uint32_t)blink % 2 == 0 ? 255 : 60;
    }
    if (x->hatch != NULL) s.extra = (uint8_t)clamp(255.0f - x->hatch[i].clock * 42.0f, 0.0f, 255.0f);
    if (body->kind == CREATURE_SEGMENT && x->spit != NULL)
        s.extra = (uint8_t)clamp(255.0f - x->spit[i].clock * 90.0f, 0.0f, 255.0f);
    if (body->radius > 0.3f) draw_shadow(v, &s);
    if (x->charge != NULL) draw_charge(v, &x->charge[i], at, body->radius);
    frame_add(v->f, s);
    if (x->shell != NULL && x->shell[i].now > 0.3f) {
        uint8_t strength = (uint8_t)(50.0f + 130.0f * x->shell[i].now / x->shell[i].most);
        float r = body->radius * 1.55f;
        frame_add(v->f, (sprite){at->x, at->y, r, 0, r, 0, {120, 210, 255, strength}, SHAPE_RING, 200, 0, 0});
    }
    if (body->kind == CREATURE_LANTERN) { /* its lure */
        vec tip = {at->x + way.x * 5.2f, at->y + way.y * 5.2f};
        glow(v, tip.x, tip.y, 3.2f, (colour){255, 220, 110, 190});
        glow(v, tip.x, tip.y, 0.9f, (colour){255, 255, 220, 255});
    }
    if (big) glow(v, at->x, at->y, body->radius * 3.0f, faded(l->paint, 0.22f));
}

static void draw_creatures(const view *v, const char *query, bool big)
{
    for (reef_block b = reef_begin_text(v->w, query); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Velocity *speed = reef_in(&b, Velocity);
        const Body *body = reef_in(&b, Body);
        const Health *h = reef_in(&b, Health);
        const extras x = {reef_in(&b, Charge), reef_in(&b, Shell), reef_in(&b, Burst), reef_in(&b, Hatch),
                          reef_in(&b, Spit)};
        for (uint32_t i = 0; i < b.count; i++)
            if (seen_at(v, at[i].x, at[i].y, 4.0f))
                draw_creature(v, &x, i, &at[i], &speed[i], &body[i], &h[i], b.entities[i].index, big);
    }
}

/* ---- everything else ---- */

static void draw_pickups(const view *v)
{
    for (reef_block b = reef_begin_text(v->w, "in Position, in Pickup"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Pickup *p = reef_in(&b, Pickup);
        for (uint32_t i = 0; i < b.count; i++) {
            if (!seen_at(v, at[i].x, at[i].y, 1.0f) || (p[i].left < 3.0f && (uint32_t)(p[i].left * 8.0f) % 2 == 0))
                continue;
            bool pearl = p[i].what == PICKUP_PEARL;
            float r = pearl ? 0.16f + 0.03f * (float)(p[i].amount > 6 ? 6 : p[i].amount) : 0.36f;
            colour paint = pearl ? (colour){255, 226, 236, 255} : (colour){150, 240, 255, 255};
            glow(v, at[i].x, at[i].y, r * 3.5f, faded(paint, 0.35f));
            frame_add(v->f,
                      (sprite){at[i].x, at[i].y, r, 0, r, 0, paint, pearl ? SHAPE_PEARL : SHAPE_BUBBLE, 170, 0, 0});
        }
    }
}

static void draw_shots(const view *v, colour tint, bool ghost)
{
    for (reef_block b = reef_begin_text(v->w, "in Position, in Velocity, in Bolt"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Velocity *speed = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) {
            vec way = vec_unit((vec){speed[i].x, speed[i].y});
            if (!ghost) glow(v, at[i].x, at[i].y, 0.8f, (colour){255, 220, 140, 110});
            frame_add(v->f, (sprite){at[i].x - way.x * 0.3f, at[i].y - way.y * 0.3f, way.x * 0.55f, way.y * 0.55f,
                                     0.07f, 0, tint, SHAPE_LINE, 255, 0, 0});
        }
    }
    if (ghost) return;
    for (reef_block b = reef_begin_text(v->w, "in Position, in Shot"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) {
            glow(v, at[i].x, at[i].y, 0.9f, (colour){170, 255, 60, 150});
            frame_add(v->f,
                      (sprite){at[i].x, at[i].y, 0.24f, 0, 0.24f, 0, {226, 255, 150, 255}, SHAPE_DISC, 255, 0, 0});
        }
    }
}

/* The tether hangs in a slack curve; it is straight when it is at its end. */
static void draw_tether(const view *v, const Lamp *lamp, float length, colour paint, float width, uint8_t shine)
{
    enum { PIECES = 28 };
    vec from = {lamp->bell_x, lamp->bell_y}, to = {lamp->x - lamp->dx * 0.2f, lamp->y - lamp->dy * 0.2f},
        line = vec_sub(to, from);
    float far = vec_length(line), slack = clamp(1.0f - far / length, 0.0f, 1.0f) * clamp(far * 0.16f, 0.0f, 2.4f);
    vec side = vec_side(vec_unit(line)), last = from;
    for (int k = 1; k <= PIECES; k++) {
        float t = (float)k / PIECES, bend = slack * 4.0f * t * (1.0f - t);
        bend *= sinf(v->time * 0.7f + t * 5.0f);
        vec next = {from.x + line.x * t + side.x * bend, from.y + line.y * t + side.y * bend};
        frame_add(v->f, (sprite){(last.x + next.x) * 0.5f, (last.y + next.y) * 0.5f, (next.x - last.x) * 0.5f,
                                 (next.y - last.y) * 0.5f, width, 0, paint, SHAPE_LINE, shine, 0, 0});
        last = next;
    }
}

/* Somebody who swims with this lamp. */
static void draw_swimmer(const view *v, const Lamp *lamp, const Velocity *speed, float safe, colour paint, bool ghost)
{
    const Upgrades *u = reef_single_get(v->w, Upgrades);
    float fast = vec_length((vec){speed->x, speed->y});
    bool live = u->level[UPGRADE_SHOCK] > 0;
    colour rope = ghost ? faded(paint, 0.4f) : live ? (colour){130, 220, 255, 255} : (colour){214, 178, 96, 255};
    draw_tether(v, lamp, diver_tether_length(u), rope, ghost ? 0.05f : 0.075f, live || ghost ? 200 : 40);
    sprite s = {lamp->x,
                lamp->y,
                lamp->dx * 0.85f,
                lamp->dy * 0.85f,
                0.62f,
                v->time * (3.0f + fast * 1.6f),
                paint,
                SHAPE_DIVER,
                ghost ? 160 : 90,
                0,
                0};
    if (!ghost && safe > 0.0f && (uint32_t)(v->time * 14.0f) % 2 == 0) s.flash = 140;
    if (!ghost) draw_shadow(v, &s);
    frame_add(v->f, s);
    if (ghost) return;
    glow(v, lamp->x + lamp->dx * 1.2f, lamp->y + lamp->dy * 1.2f, 1.5f, (colour){255, 240, 200, 130});
}

static void draw_diver(const view *v, const Lamp *lamp, colour paint, bool ghost)
{
    const Diver *d = reef_get(v->w, lamp->diver, Diver);
    draw_swimmer(v, lamp, reef_get(v->w, lamp->diver, Velocity), d->safe, paint, ghost);
}

/* Who has fainted is pale, and a ring closes around her while somebody stays with her. */
static void draw_mates(const view *v)
{
    static const colour paints[] = {{232, 84, 56, 255},   {80, 190, 240, 255},  {250, 200, 70, 255},
                                    {140, 220, 110, 255}, {220, 120, 230, 255}, {250, 150, 90, 255},
                                    {120, 230, 220, 255}, {230, 230, 230, 255}};
    for (reef_block b = reef_begin_text(v->w, "in Position, in Velocity, in Mate"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            const Mate *m = &reef_in(&b, Mate)[i];
            const Position *at = &reef_in(&b, Position)[i];
            const Lamp own = mate_lamp(v->lamp, m, at);
            const bool awake = m->strength > 0.0f;
            draw_swimmer(v, &own, &reef_in(&b, Velocity)[i], m->safe,
                         awake ? paints[m->player % 8] : (colour){150, 160, 160, 255}, false);
            if (awake) continue;
            const float r = 2.0f * (1.0f - 0.6f * m->helped / HELP_SECONDS);
            frame_add(v->f, (sprite){at->x, at->y, r, 0, r, 0, {255, 120, 100, 160}, SHAPE_RING, 255, 0, 0});
        }
}

static void draw_bell(const view *v, const Lamp *lamp)
{
    float breath = 0.5f + 0.5f * sinf(v->time * 1.5f);
    glow(v, lamp->bell_x, lamp->bell_y, BELL_RADIUS * 1.6f, (colour){70, 200, 170, (uint8_t)(44.0f + 16.0f * breath)});
    frame_add(
        v->f,
        (sprite){
            lamp->bell_x, lamp->bell_y, BELL_RADIUS, 0, BELL_RADIUS, 0, {120, 240, 210, 70}, SHAPE_RING, 255, 0, 0});
    frame_add(
        v->f,
        (sprite){lamp->bell_x + 0.4f, lamp->bell_y + 0.6f, 1.8f, 0, 1.8f, 0, {2, 4, 10, 130}, SHAPE_DISC, 0, 0, 0});
    frame_add(v->f, (sprite){lamp->bell_x, lamp->bell_y, 1.7f, 0, 1.7f, 0, {150, 118, 70, 255}, SHAPE_BELL, 30, 0, 0});
    for (uint32_t k = 0; k < 9; k++) { /* bubbles rise */
        float t = v->time * 0.35f + (float)k * 0.377f;
        t -= (float)(int)t;
        float a = (float)(k * 97 % 60) * 0.105f;
        frame_add(v->f, (sprite){lamp->bell_x + sinf(a) * (1.2f + 2.0f * t),
                                 lamp->bell_y + cosf(a) * (1.2f + 2.0f * t),
                                 0.10f + 0.14f * t,
                                 0,
                                 0.10f + 0.14f * t,
                                 0,
                                 {190, 240, 250, (uint8_t)(200.0f * (1.0f - t))},
                                 SHAPE_BUBBLE,
                                 90,
                                 0,
                                 0});
    }
}

/* Motes of dust that drift through the light. */
static void draw_motes(const view *v)
{
    for (uint32_t k = 0; k < 110; k++) {
        uint32_t dice = scatter(k, 77);
        float wide = v->c.half_high * v->c.aspect * 2.2f, high = v->c.half_high * 2.2f;
        float x = (float)(dice & 0xFFFF) / 65536.0f * wide + v->time * (0.15f + 0.2f * (float)(dice >> 28) / 16.0f);
        float y = (float)(dice >> 16) / 65536.0f * high + 0.4f * sinf(v->time * 0.5f + (float)k);
        float depth = 1.1f + 0.4f * (float)(k % 5) / 5.0f; /* nearer ones pass by faster */
        x -= v->c.x * depth, y -= v->c.y * depth;
        x -= wide * floorf(x / wide), y -= high * floorf(y / high);
        frame_add(v->f, (sprite){v->c.x - wide * 0.5f + x,
                                 v->c.y - high * 0.5f + y,
                                 0.05f * depth,
                                 0,
                                 0.05f * depth,
                                 0,
                                 {220, 235, 225, 90},
                                 SHAPE_DISC,
                                 0,
                                 0,
                                 0});
    }
}

pass *scene_draw(frame *f, const game *g, const game *ghost, const particles *p, camera c, float time)
{
    const Lamp *lamp = reef_single_get(g->world, Lamp);
    const view v = {f, g->world, c, time, lamp};
    pass *to = frame_pass(f, true);
    to->x = c.x, to->y = c.y;
    to->half_high = c.half_high, to->half_wide = c.half_high * c.aspect;
    to->lamp_x = lamp->x, to->lamp_y = lamp->y, to->lamp_dx = lamp->dx, to->lamp_dy = lamp->dy;
    to->cosine = lamp->cosine, to->range = lamp->range;
    to->bell_x = lamp->bell_x, to->bell_y = lamp->bell_y;
    to->time = time;
    if (p != NULL) particles_light(p, to, 0);

    draw_reef(&v);
    draw_bell(&v, lamp);
    draw_pickups(&v);
    draw_creatures(&v,
                   "in Position, in Velocity, in Body, in Health, with Bystander, ?in Charge, ?in Shell, ?in Burst, "
                   "?in Hatch, ?in Spit",
                   false);
    draw_creatures(&v,
                   "in Position, in Velocity, in Body, in Health, with Enemy, !Boss, ?in Charge, ?in Shell, ?in Burst, "
                   "?in Hatch, ?in Spit",
                   false);
    draw_creatures(&v,
                   "in Position, in Velocity, in Body, in Health, with Boss, ?in Charge, ?in Shell, ?in Burst, ?in "
                   "Hatch, ?in Spit",
                   true);
    if (ghost != NULL && ghost->world != NULL) {
        const view other = {f, ghost->world, c, time, reef_single_get(ghost->world, Lamp)};
        const colour pale = {150, 220, 255, 95};
        draw_shots(&other, faded(pale, 0.7f), true);
        draw_diver(&other, other.lamp, pale, true);
    }
    draw_diver(&v, lamp, (colour){232, 84, 56, 255}, false);
    draw_mates(&v);
    draw_shots(&v, (colour){255, 246, 214, 255}, false);
    if (p != NULL) particles_draw(p, f);
    draw_motes(&v);
    frame_end_pass(f);
    return to;
}
