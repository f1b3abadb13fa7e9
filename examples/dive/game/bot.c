/* The bot keeps away from what is near, goes home to breathe, looks at what comes, and buys what it can. */
#include "bot.h"

#include "diver.h"
#include "wave.h"

/* Where the enemies are, as seen from the diver. */
typedef struct danger {
    vec away;   /* from all that are near */
    vec threat; /* direction of the most of them */
    float nearest;
    uint32_t close; /* within four metres */
} danger;

static danger look_around(reef_world *w, vec me)
{
    danger d = {{0, 0}, {0, 0}, 1e9f, 0};
    for (reef_block b = reef_begin_text(w, "in Position, in Velocity, with Enemy | Shot"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) {
            vec from = {me.x - at[i].x, me.y - at[i].y};
            float distance = vec_length(from) + 0.1f;
            if (distance < d.nearest) d.nearest = distance;
            if (distance < 4.0f) d.close++;
            if (distance > 16.0f) continue;
            float weight = 1.0f / (distance * distance);
            d.away = vec_add_scaled(d.away, from, weight / distance);
            d.threat = vec_add_scaled(d.threat, from, -1.0f / (distance * distance));
        }
    }
    return d;
}

static uint8_t shop(const reef_world *w)
{
    const Stage *s = reef_single_get(w, Stage);
    const Upgrades *u = reef_single_get(w, Upgrades);
    const Purse *purse = reef_single_get(w, Purse);
    if (s->since < 0.5f) return PICK_NONE;
    for (uint32_t k = 0; k < OFFERS; k++)
        if (s->offer[k] < UPGRADE_COUNT && shop_price(u, s->offer[k]) <= purse->pearls)
            return (uint8_t)(PICK_FIRST + k);
    return PICK_GO_ON;
}

Input bot_input(reef_world *w, const Input *before)
{
    const Stage *s = reef_single_get(w, Stage);
    const Lamp *lamp = reef_single_get(w, Lamp);
    const Diver *diver = reef_get(w, lamp->diver, Diver);
    uint64_t tick = reef_tick_count(w);
    Input in = *before;
    in.pick = 0, in.rewound = 0;
    if (tick % 20 != 0) return in;
    in = (Input){0};
    if (s->now == STAGE_SHOP) in.pick = shop(w);
    if (s->now == STAGE_WON) in.pick = PICK_GO_ON;
    if (s->now != STAGE_WAVE) return in;

    vec me = {lamp->x, lamp->y}, home = {lamp->bell_x - me.x, lamp->bell_y - me.y};
    float far = vec_length(home), most = diver_air_most(reef_single_get(w, Upgrades));
    danger d = look_around(w, me);
    vec to = vec_scale(vec_unit(d.away), d.nearest < 7.0f ? 1.6f : 0.3f);
    vec side = vec_side(vec_unit(home));
    if ((tick / 600) % 2 != 0) side = vec_scale(side, -1.0f);
    to = vec_add_scaled(to, side, 0.9f); /* around the bell */
    float wanted = diver->air < most * 0.5f ? 2.5f : 9.0f;
    to = vec_add_scaled(to, vec_unit(home), clamp((far - wanted) * 0.25f, -0.8f, 1.4f));
    to = vec_unit(to);
    vec aim = vec_unit(d.threat);
    in.move[0] = (int8_t)(to.x * 100.0f), in.move[1] = (int8_t)(to.y * 100.0f);
    in.aim[0] = (int8_t)(aim.x * 100.0f), in.aim[1] = (int8_t)(aim.y * 100.0f);
    if (d.close > 3 && diver->pulse_rests == 0.0f) in.keys |= KEY_PULSE;
    if (d.nearest < 2.0f && diver->dash_rests == 0.0f) in.keys |= KEY_DASH;
    return in;
}
