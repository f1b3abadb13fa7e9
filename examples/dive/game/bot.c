/* The bot tries sixteen ways to swim, and takes the one where the least danger will be; it looks at what comes, goes
 * home to breathe, and buys what it can. */
#include "bot.h"

#include "diver.h"
#include "wave.h"

enum { SEEN_MAX = 600, EVERY_TICKS = 15 };

/* The dangers within some metres. */
typedef struct danger {
    uint32_t count, close;
    float nearest;
    vec at[SEEN_MAX], v[SEEN_MAX];
    vec threat; /* direction of the most of them */
    vec boss;   /* to a boss; {0, 0}: there is none */
} danger;

static void look_around(reef_world *w, vec me, danger *d)
{
    *d = (danger){.nearest = 1e9f};
    for (reef_block b = reef_begin_text(w, "in Position, in Velocity, Enemy | Shot"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) {
            vec to = {at[i].x - me.x, at[i].y - me.y};
            float square = vec_square(to) + 0.01f;
            if (square > 14.0f * 14.0f) continue;
            if (square < d->nearest * d->nearest) d->nearest = sqrtf(square);
            if (square < 16.0f) d->close++;
            d->threat = vec_add_scaled(d->threat, to, 1.0f / (square + 4.0f));
            if (d->count == SEEN_MAX || square > 100.0f) continue;
            d->at[d->count] = (vec){at[i].x, at[i].y};
            d->v[d->count++] = (vec){v[i].x, v[i].y};
        }
    }
}

static void look_for_boss(reef_world *w, vec me, danger *d)
{
    for (reef_block b = reef_begin_text(w, "in Position, with Boss"); reef_next(&b);)
        d->boss = (vec){reef_in(&b, Position)[0].x - me.x, reef_in(&b, Position)[0].y - me.y};
}

/* How bad it would be to be there in a third of a second, and a moment later. */
static float danger_at(const danger *d, vec place, vec way)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < d->count; i++) {
        vec soon = vec_add_scaled(d->at[i], d->v[i], 0.35f), later = vec_add_scaled(d->at[i], d->v[i], 0.7f);
        sum += 1.0f / (vec_square(vec_sub(soon, place)) + 0.25f);
        sum += 0.5f / (vec_square(vec_sub(later, vec_add_scaled(place, way, 2.1f))) + 0.5f);
    }
    return sum;
}

static vec best_way(const danger *d, vec me, vec home, float wanted, float thirst, vec side)
{
    static const vec ways[] = {{1, 0},  {0.92f, 0.38f},   {0.71f, 0.71f},   {0.38f, 0.92f},
                               {0, 1},  {-0.38f, 0.92f},  {-0.71f, 0.71f},  {-0.92f, 0.38f},
                               {-1, 0}, {-0.92f, -0.38f}, {-0.71f, -0.71f}, {-0.38f, -0.92f},
                               {0, -1}, {0.38f, -0.92f},  {0.71f, -0.71f},  {0.92f, -0.38f}};
    vec best = {0, 0};
    float least = 1e9f;
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        vec place = vec_add_scaled(me, ways[k], 2.1f);
        float far = vec_length(vec_sub(place, home)), off = far > wanted ? far - wanted : 0.0f;
        float bad = danger_at(d, place, ways[k]) + off * off * 0.02f * thirst - 0.15f * vec_dot(ways[k], side);
        if (bad >= least) continue;
        least = bad;
        best = ways[k];
    }
    return best;
}

static uint8_t shop(const reef_world *w)
{
    /* what it likes, in this order */
    static const uint8_t likes[] = {UPGRADE_HARPOON, UPGRADE_LOADER,  UPGRADE_PIERCE, UPGRADE_BURSTING,
                                    UPGRADE_TANK,    UPGRADE_BURNING, UPGRADE_FINS,   UPGRADE_SONAR,
                                    UPGRADE_WIDE,    UPGRADE_SHOCK,   UPGRADE_MAGNET, UPGRADE_TETHER};
    const Stage *s = reef_single_get(w, Stage);
    const Upgrades *u = reef_single_get(w, Upgrades);
    const Purse *purse = reef_single_get(w, Purse);
    if (s->since < 0.5f) return PICK_NONE;
    for (size_t i = 0; i < sizeof likes; i++)
        for (uint32_t k = 0; k < OFFERS; k++)
            if (s->offer[k] == likes[i] && shop_price(u, likes[i]) <= purse->pearls) return (uint8_t)(PICK_FIRST + k);
    return purse->pearls > 40 && s->others < 4 ? PICK_OTHERS : PICK_GO_ON;
}

static int8_t hundredths(float x) { return (int8_t)(x * 100.0f); }

Input bot_input(reef_world *w, const Input *before)
{
    const Stage *s = reef_single_get(w, Stage);
    const Lamp *lamp = reef_single_get(w, Lamp);
    const Diver *diver = reef_get(w, lamp->diver, Diver);
    uint64_t tick = reef_tick_count(w);
    Input in = *before;
    in.pick = 0, in.rewound = 0;
    if (tick % EVERY_TICKS != 0) return in;
    in = (Input){0};
    if (s->now == STAGE_SHOP) in.pick = shop(w);
    if (s->now == STAGE_WON) in.pick = PICK_GO_ON;
    if (s->now != STAGE_WAVE) return in;

    static danger d;
    vec me = {lamp->x, lamp->y}, home = {lamp->bell_x, lamp->bell_y};
    float share = diver->air / diver_air_most(reef_single_get(w, Upgrades));
    look_around(w, me, &d);
    look_for_boss(w, me, &d);
    vec side = vec_side(vec_unit(vec_sub(home, me))); /* around the bell */
    if ((tick / 900) % 2 != 0) side = vec_scale(side, -1.0f);
    vec to = best_way(&d, me, home, share < 0.6f ? 2.5f : 12.0f, share < 0.3f ? 4.0f : 1.0f, side),
        aim = vec_unit(d.threat);
    if ((d.boss.x != 0.0f || d.boss.y != 0.0f) && vec_square(d.boss) < 324.0f && d.nearest > 1.5f)
        aim = vec_unit(d.boss);
    in.move[0] = hundredths(to.x), in.move[1] = hundredths(to.y);
    in.aim[0] = hundredths(aim.x), in.aim[1] = hundredths(aim.y);
    if ((d.close > 5 || d.nearest < 1.2f) && diver->pulse_rests == 0.0f) in.keys |= KEY_PULSE;
    if (d.nearest < 1.4f && diver->dash_rests == 0.0f) in.keys |= KEY_DASH;
    return in;
}
