/* The course of the game: READY -> WAVE -> SHOP -> READY -> ... -> WON -> SHOP -> ... without end; LOST at any
 * time. */
#include "wave.h"

#include "diver.h"
#include <reef/observer.h>
#include <reef/random.h>

/* ---- which creatures come when ---- */

typedef struct group {
    uint32_t wave;
    uint32_t kind, count; /* a school of so many */
    float first, every;   /* seconds: the first one comes then, and another one every so often */
    uint32_t times;
} group;

enum { WITHOUT_END = 1000 };
static const float wave_seconds = 40.0f;

/* clang-format off */
static const group groups[] = {
    {1, CREATURE_NEEDLE, 10, 1.0f, 3.5f, 10},
    {2, CREATURE_NEEDLE, 18, 1.0f, 3.5f, 10},
    {2, CREATURE_DARTER, 2, 6.0f, 6.0f, 5},
    {3, CREATURE_NEEDLE, 24, 2.0f, 4.5f, 8},
    {3, CREATURE_JELLY, 4, 1.0f, 7.0f, 5},
    {3, CREATURE_LEECH, 3, 8.0f, 9.0f, 4},
    {4, CREATURE_MATRON, 1, 2.0f, 1.0f, 1},
    {4, CREATURE_NEEDLE, 16, 5.0f, 6.0f, WITHOUT_END},
    {5, CREATURE_PINCER, 4, 1.0f, 7.0f, 5},
    {5, CREATURE_SHADE, 7, 4.0f, 6.0f, 6},
    {5, CREATURE_NEEDLE, 45, 2.0f, 5.0f, 7},
    {6, CREATURE_URCHIN, 10, 1.0f, 5.0f, 7},
    {6, CREATURE_CLEANER, 4, 6.0f, 11.0f, 3},
    {6, CREATURE_NEEDLE, 90, 2.0f, 5.0f, 7},
    {7, CREATURE_BROODER, 2, 1.0f, 9.0f, 4},
    {7, CREATURE_SPITTER, 4, 3.0f, 7.0f, 5},
    {7, CREATURE_WOLF, 6, 6.0f, 9.0f, 4},
    {7, CREATURE_NEEDLE, 110, 2.0f, 5.0f, 7},
    {8, CREATURE_LANTERN, 1, 2.0f, 1.0f, 1},
    {8, CREATURE_SHADE, 14, 6.0f, 8.0f, WITHOUT_END},
    {8, CREATURE_JELLY, 6, 9.0f, 9.0f, WITHOUT_END},
    {9, CREATURE_PUFFER, 4, 1.0f, 6.0f, 6},
    {9, CREATURE_DARTER, 12, 3.0f, 5.0f, 7},
    {9, CREATURE_LEECH, 8, 5.0f, 8.0f, 4},
    {9, CREATURE_NEEDLE, 400, 2.0f, 4.0f, 9},
    {10, CREATURE_NEEDLE, 1000, 1.0f, 3.0f, 12},
    {10, CREATURE_CLEANER, 8, 4.0f, 9.0f, 4},
    {10, CREATURE_URCHIN, 20, 3.0f, 5.0f, 7},
    {11, CREATURE_NEEDLE, 1800, 1.0f, 3.0f, 12},
    {11, CREATURE_WOLF, 9, 3.0f, 8.0f, 4},
    {11, CREATURE_PINCER, 8, 5.0f, 7.0f, 5},
    {11, CREATURE_BROODER, 4, 2.0f, 10.0f, 4},
    {11, CREATURE_SPITTER, 8, 6.0f, 8.0f, 4},
    {11, CREATURE_SHADE, 20, 4.0f, 6.0f, 6},
    {12, CREATURE_LEVIATHAN, 1, 2.0f, 1.0f, 1},
    {12, CREATURE_NEEDLE, 900, 6.0f, 6.0f, WITHOUT_END},
    {12, CREATURE_PUFFER, 3, 9.0f, 9.0f, WITHOUT_END},
};
/* clang-format on */

enum { SEGMENTS = 14 };

static void spawn_leviathan(reef_block *b, vec at, vec in)
{
    reef_entity front = creature_spawn(b, CREATURE_LEVIATHAN, at, vec_scale(in, 4.0f));
    for (uint32_t k = 1; k <= SEGMENTS; k++) {
        reef_entity part = creature_spawn(b, CREATURE_SEGMENT, vec_add_scaled(at, in, -2.1f * (float)k), (vec){0, 0});
        reef_cmd_set(b, part, Follows, .target = front);
        front = part;
    }
}

/* A school comes out of the dark, somewhere around the diver. */
static void spawn_school(reef_block *b, reef_random *r, const Lamp *lamp, uint32_t kind, uint32_t count)
{
    vec way = {0, 0}, at = {0, 0};
    for (int k = 0; k < 8; k++) { /* where there is no rock */
        way = vec_unit((vec){reef_random_float(r) * 2.0f - 1.0f, reef_random_float(r) * 2.0f - 1.0f});
        float far = 25.0f + 6.0f * reef_random_float(r);
        at = (vec){lamp->x + way.x * far, lamp->y + way.y * far};
        if (vec_square(at) < (SEA_RADIUS - 4.0f) * (SEA_RADIUS - 4.0f)) break;
    }
    if (kind == CREATURE_LEVIATHAN) {
        spawn_leviathan(b, at, vec_scale(way, -1.0f));
        return;
    }
    float wide = sqrtf((float)count) * 0.42f;
    for (uint32_t k = 0; k < count; k++) {
        vec off = {reef_random_float(r) * 2.0f - 1.0f, reef_random_float(r) * 2.0f - 1.0f};
        creature_spawn(b, kind, vec_add_scaled(at, off, wide), vec_scale(way, -1.5f));
    }
}

void surge(reef_block *b)
{
    const Stage *stage = reef_single_get(b->world, Stage);
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    if (stage->now != STAGE_WAVE) return;
    uint32_t wave = (stage->wave - 1) % WAVES + 1, round = (stage->wave - 1) / WAVES;
    reef_random r = reef_random_for(b, (reef_entity){0, 0});
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        const group *of = &groups[g];
        if (of->wave != wave || stage->since < of->first) continue;
        uint32_t time = (uint32_t)((stage->since - of->first) / of->every);
        bool now = stage->since - b->dt < of->first + (float)time * of->every;
        if (!now || time >= of->times || reef_single_get(b->world, Census)->enemies > ENEMIES_MAX) continue;
        uint32_t count = of->count == 1 ? 1 + round : of->count + of->count * round / 2;
        spawn_school(b, &r, lamp, of->kind, count);
    }
}

/* ---- counting ---- */

void forget(reef_block *b) { *reef_single_mut(b->world, Census) = (Census){0}; }

/* All creatures of a block are in one table: they have the same tags. */
void count_creatures(reef_block *b)
{
    Census *part = reef_part(b, Census);
    if (reef_has(b->world, b->entities[0], Enemy)) part->enemies += b->count;
    if (reef_has(b->world, b->entities[0], Bystander)) part->bystanders += b->count;
    if (reef_has(b->world, b->entities[0], Boss)) part->bosses += b->count;
}

void add_counts(void *total, const void *part)
{
    const Census *more = part;
    ((Census *)total)->enemies += more->enemies;
    ((Census *)total)->bystanders += more->bystanders;
    ((Census *)total)->bosses += more->bosses;
}

/* ---- stages ---- */

static bool is_boss_wave(uint32_t wave) { return wave % 4 == 0; }

static void begin_stage(Stage *s, uint32_t now, float seconds)
{
    s->now = now;
    s->clock = seconds;
    s->since = 0.0f;
}

static void make_offers(reef_block *b, Stage *s, const Upgrades *u)
{
    static const uint8_t most[] = {
#define X(name, levels, price, title, text) levels,
        UPGRADES(X)
#undef X
    };
    reef_random r = reef_random_for(b, (reef_entity){1, 0});
    for (uint32_t k = 0; k < OFFERS; k++) {
        s->offer[k] = UPGRADE_COUNT;
        for (int attempt = 0; attempt < 40 && s->offer[k] == UPGRADE_COUNT; attempt++) {
            uint32_t upgrade = (uint32_t)reef_random_range(&r, 0, UPGRADE_COUNT - 1);
            bool twice = false;
            for (uint32_t j = 0; j < k; j++) twice = twice || s->offer[j] == upgrade;
            if (!twice && u->level[upgrade] < most[upgrade]) s->offer[k] = upgrade;
        }
    }
}

uint32_t shop_price(const Upgrades *u, uint32_t upgrade)
{
    static const uint8_t first[] = {
#define X(name, levels, price, title, text) price,
        UPGRADES(X)
#undef X
    };
    return upgrade < UPGRADE_COUNT ? first[upgrade] * (2u + 3u * u->level[upgrade]) / 2u : 0;
}

uint32_t shop_price_others(const Stage *stage) { return 3 + 3 * stage->others; }

/* Points for what lives, and the fish breed. */
static void end_wave(reef_block *b, Stage *s, Purse *purse, const Lamp *lamp)
{
    s->saved = reef_single_get(b->world, Census)->bystanders;
    s->ebb = 1;
    purse->score += s->saved * 5 + s->wave * 100;
    reef_random r = reef_random_for(b, (reef_entity){2, 0});
    for (uint32_t k = 0; k < 12 && s->saved + k < 160; k++) {
        vec off = {reef_random_float(&r) * 16.0f - 8.0f, reef_random_float(&r) * 16.0f - 8.0f};
        creature_spawn(b, k % 3 == 0 ? CREATURE_TANG : CREATURE_WRASSE,
                       (vec){lamp->bell_x + off.x, lamp->bell_y + off.y}, (vec){0, 0});
    }
}

static void keep_shop(reef_block *b, Stage *s, Purse *purse, Upgrades *u, uint32_t pick)
{
    if (pick >= PICK_FIRST && pick < PICK_FIRST + OFFERS) {
        uint32_t *offer = &s->offer[pick - PICK_FIRST], price = shop_price(u, *offer);
        if (*offer == UPGRADE_COUNT || purse->pearls < price) return;
        purse->pearls -= price;
        u->level[*offer]++;
        *offer = UPGRADE_COUNT;
        reef_send(b, Cue, CUE_BUY, 0, 0, 0, 0);
    } else if (pick == PICK_OTHERS && purse->pearls >= shop_price_others(s)) {
        purse->pearls -= shop_price_others(s);
        s->others++;
        make_offers(b, s, u);
        reef_send(b, Cue, CUE_BUY, 0, 0, 0, 1);
    } else if (pick == PICK_GO_ON) {
        s->wave++;
        begin_stage(s, STAGE_READY, 3.0f);
    }
}

static void open_shop(reef_block *b, Stage *s, const Upgrades *u)
{
    begin_stage(s, STAGE_SHOP, 0.0f);
    s->others = 0;
    make_offers(b, s, u);
    reef_send(b, Cue, CUE_SHOP, 0, 0, 0, 0);
}

void conduct(reef_block *b)
{
    Stage *s = reef_single_mut(b->world, Stage);
    Purse *purse = reef_single_mut(b->world, Purse);
    Upgrades *u = reef_single_mut(b->world, Upgrades);
    const Lamp *lamp = reef_single_get(b->world, Lamp);
    const Diver *d = reef_get(b->world, lamp->diver, Diver);
    const Input *in = reef_single_get(b->world, Input);
    s->since += b->dt;
    s->ebb = 0;
    if (s->now != STAGE_LOST && d->air <= 0.0f) {
        begin_stage(s, STAGE_LOST, 0.0f);
        reef_send(b, Cue, CUE_LOST, lamp->x, lamp->y, 1.0f, 0);
    }
    if (s->now == STAGE_READY) {
        s->clock = count_down(s->clock, b->dt);
        if (s->clock > 0.0f) return;
        begin_stage(s, STAGE_WAVE, wave_seconds);
        reef_send(b, Cue, is_boss_wave(s->wave) ? CUE_BOSS : CUE_WAVE, lamp->x, lamp->y, (float)s->wave, 0);
    } else if (s->now == STAGE_WAVE) {
        bool boss = is_boss_wave(s->wave);
        s->clock = count_down(s->clock, b->dt);
        if (boss ? s->since < 4.0f || reef_single_get(b->world, Census)->bosses > 0 : s->clock > 0.0f) return;
        end_wave(b, s, purse, lamp);
        if (s->wave != WAVES) {
            open_shop(b, s, u);
            return;
        }
        purse->score += 10000 + 50 * (uint32_t)d->air;
        begin_stage(s, STAGE_WON, 0.0f);
        reef_send(b, Cue, CUE_WON, lamp->x, lamp->y, 1.0f, 0);
    } else if (s->now == STAGE_SHOP) {
        keep_shop(b, s, purse, u, in->pick);
    } else if (s->now == STAGE_WON && in->pick == PICK_GO_ON) {
        open_shop(b, s, u);
    }
}

void ebb(reef_block *b)
{
    if (reef_single_get(b->world, Stage)->ebb == 0) return;
    const Position *at = reef_in(b, Position);
    const Body *body = reef_in(b, Body);
    const Health *h = reef_in(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        if (h[i].now <= 0.0f) continue; /* it dies anyway */
        if ((b->entities[i].index & 7) == 0)
            reef_send(b, Cue, CUE_DEATH, at[i].x, at[i].y, body[i].radius, body[i].kind);
        reef_cmd_destroy(b, b->entities[i]);
    }
}

void cut_loose(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (!reef_is_alive(n->world, n->entities[i])) continue;
        reef_set(n->world, n->entities[i], Seek, 0.35f);
        reef_set(n->world, n->entities[i], Charge, .range = 10, .aim = 1.0f, .rush = 0.6f, .speed = 14, .rest = 3);
    }
}
