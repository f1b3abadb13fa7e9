/* What stands over the sea: gauges, banners, menus. A wide screen is 100 units high; a narrow one has units of such a
 * size that it is 72 of them wide. 0 is in the middle; at the top of the screen for gauges, and 50 units above the
 * middle for menus. */
#include "app.h"
#include "diver.h"
#include "wave.h"

static const colour ivory = {244, 238, 218, 255}, dim = {150, 176, 182, 255}, gold = {255, 206, 110, 255},
                    teal = {96, 226, 202, 255}, red = {255, 88, 66, 255};

static void box(frame *f, float x, float y, float wide, float high, colour paint)
{
    frame_add(f,
              (sprite){x + wide * 0.5f, y + high * 0.5f, wide * 0.5f, 0, high * 0.5f, 0, paint, SHAPE_BOX, 255, 0, 30});
}

/* An item of a menu, with its number. */
static void panel(app *a, float x, float y, float wide, float high, uint32_t number)
{
    frame *f = &a->frame;
    bool chosen = a->choice == number;
    if (number < PLACES_MAX) a->places[number] = (place){x, y, wide, high};
    if (number < PLACES_MAX && number >= a->place_count) a->place_count = number + 1;
    if (chosen) box(f, x - 0.35f, y - 0.35f, wide + 0.7f, high + 0.7f, (colour){255, 206, 110, 230});
    box(f, x, y, wide, high, chosen ? (colour){22, 46, 58, 250} : (colour){10, 24, 34, 225});
}

static void icon(frame *f, uint8_t shape, float x, float y, float size, colour paint)
{
    frame_add(f, (sprite){x, y, size, 0, size * 0.62f, 1.0f, paint, shape, 255, 0, shape == SHAPE_FISH ? 200 : 0});
}

/* A text with a shadow. */
static void write(frame *f, const char *text, float x, float y, float size, int align, colour paint)
{
    frame_text(f, text, x + size * 0.07f, y + size * 0.09f, size, align,
               (colour){0, 6, 12, (uint8_t)(paint.a * 3 / 4)});
    frame_text(f, text, x, y, size, align, paint);
}

/* Writes a text in lines of some width, with shadows. Returns where the next line would be. */
static float write_wrapped(frame *f, const char *text, float x, float y, float size, float wide, colour paint)
{
    char line[128];
    size_t n = 0;
    for (const char *word = text; *word != '\0';) {
        size_t length = 0;
        while (word[length] != '\0' && word[length] != ' ') length++;
        if (n + length + 2 > sizeof line) break;
        size_t before = n;
        if (n > 0) line[n++] = ' ';
        for (size_t i = 0; i < length; i++) line[n++] = word[i];
        line[n] = '\0';
        if (text_width(line, size) > wide && before > 0) {
            line[before] = '\0';
            write(f, line, x, y, size, TEXT_MIDDLE, paint);
            y += size * 1.7f;
            n = 0;
            continue;
        }
        word += length;
        while (*word == ' ') word++;
    }
    if (n > 0) write(f, line, x, y, size, TEXT_MIDDLE, paint);
    return y + size * 1.7f;
}

/* ---- gauges ---- */

static void draw_air(app *a, const Diver *d, float most, float wide, float y)
{
    frame *f = &a->frame;
    float x = -wide * 0.5f, share = clamp(a->shown_air / most, 0.0f, 1.0f), now = clamp(d->air / most, 0.0f, 1.0f);
    colour paint = now > 0.5f ? teal : now > 0.25f ? gold : red;
    box(f, x - 0.6f, y - 0.6f, wide + 1.2f, 4.4f, (colour){4, 14, 22, 200});
    if (share > now) box(f, x, y, wide * share, 3.2f, (colour){255, 255, 255, 120});
    if (now > 0.005f) box(f, x, y, wide * now, 3.2f, paint);
    box(f, x, y + 0.2f, wide * now, 0.7f, (colour){255, 255, 255, 60});
    for (float mark = 25.0f; mark < most; mark += 25.0f)
        box(f, x + wide * mark / most - 0.12f, y, 0.24f, 3.2f, (colour){4, 14, 22, 160});
    if (a->play.rewound > 0) { /* what the rewinding costs */
        float price = REWIND_AIR * (float)a->play.rewound / most;
        colour bill = price < now ? (colour){255, 255, 255, 150} : red; /* she can't pay for it */
        price = clamp(price, 0.0f, now);
        box(f, x + wide * (now - price), y, wide * price, 3.2f, bill);
    }
    char text[24];
    snprintf(text, sizeof text, "air %d", (int)(d->air + 0.5f));
    write(f, text, 0, y - 4.2f, 2.4f, TEXT_MIDDLE, now > 0.25f ? ivory : red);
}

static void draw_rest(app *a, float x, float y, const char *name, float rests, float whole)
{
    frame *f = &a->frame;
    bool ready = rests == 0.0f;
    box(f, x, y, 11.0f, 4.0f, (colour){6, 20, 30, 200});
    box(f, x, y + 3.3f, 11.0f * (1.0f - clamp(rests / whole, 0.0f, 1.0f)), 0.7f, ready ? teal : dim);
    frame_text(f, name, x + 5.5f, y + 0.9f, 1.7f, TEXT_MIDDLE, ready ? ivory : (colour){110, 130, 136, 255});
}

static void draw_boss(app *a, reef_world *w, float half)
{
    const float wide = half < 44.0f ? half - 4.0f : 40.0f; /* half of the bar */
    for (reef_block b = reef_begin_text(w, "in Health, in Body, with Boss"); reef_next(&b);) {
        const Health *h = reef_in(&b, Health);
        const Body *body = reef_in(&b, Body);
        box(&a->frame, -wide - 0.6f, 10.4f, wide * 2.0f + 1.2f, 2.6f, (colour){4, 14, 22, 200});
        box(&a->frame, -wide, 11, wide * 2.0f * clamp(h[0].now / h[0].most, 0.0f, 1.0f), 1.4f, red);
        write(&a->frame, creature_title(body[0].kind), 0, 14.2f, 2.0f, TEXT_MIDDLE, ivory);
        reef_end(&b);
        return;
    }
}

static void draw_gauges(app *a, float half, float high)
{
    const bool narrow = half < 60.0f;
    frame *f = &a->frame;
    reef_world *w = a->play.now.world;
    const Stage *s = reef_single_get(w, Stage);
    const Purse *purse = reef_single_get(w, Purse);
    const Upgrades *u = reef_single_get(w, Upgrades);
    const Diver *d = reef_get(w, reef_single_get(w, Lamp)->diver, Diver);
    char text[64];
    a->shown_air += (d->air - a->shown_air) * 0.08f;
    a->shown_score += ((float)purse->score - a->shown_score) * 0.15f;
    draw_air(a, d, diver_air_most(u), 62.0f, high - 7.5f);

    snprintf(text, sizeof text, "%u", (unsigned)purse->pearls);
    icon(f, SHAPE_PEARL, -half + 5.0f, 6.0f, 1.7f, (colour){255, 226, 236, 255});
    write(f, text, -half + 8.5f, 4.4f, 3.2f, TEXT_LEFT, ivory);
    snprintf(text, sizeof text, "%u", (unsigned)reef_single_get(w, Census)->bystanders);
    icon(f, SHAPE_FISH, -half + 5.0f, 12.0f, 1.9f, (colour){64, 200, 240, 255});
    write(f, text, -half + 8.5f, 10.8f, 2.4f, TEXT_LEFT, dim);

    snprintf(text, sizeof text, "%u", (unsigned)(a->shown_score + 0.5f));
    write(f, text, half - 4.0f, 4.4f, 3.2f, TEXT_RIGHT, ivory);
    if (a->scores.count > 0) {
        snprintf(text, sizeof text, "best %u", (unsigned)a->scores.of[0].points);
        write(f, text, half - 4.0f, 10.0f, 1.8f, TEXT_RIGHT, dim);
    }
    if (s->now == STAGE_WAVE || s->now == STAGE_READY) {
        snprintf(text, sizeof text, "wave %u", (unsigned)s->wave);
        write(f, text, 0, 3.4f, 2.4f, TEXT_MIDDLE, ivory);
        bool boss = s->wave % 4 == 0 && s->now == STAGE_WAVE;
        if (boss) draw_boss(a, w, half);
        else if (s->now == STAGE_WAVE) box(f, -15, 7.6f, 30.0f * clamp(s->clock / 40.0f, 0.0f, 1.0f), 0.7f, teal);
    }
    const float rests = narrow ? high - 20.0f : high - 8.0f;
    if (!a->by_touch) { /* the page's buttons show it */
        draw_rest(a, -half + 4.0f, rests, "dash", d->dash_rests, DASH_RESTS);
        draw_rest(a, -half + 16.5f, rests, "pulse", d->pulse_rests, PULSE_RESTS);
    }
    const uint32_t enemies = reef_single_get(w, Census)->enemies;
    if (enemies > 0) {
        snprintf(text, sizeof text, "%u around", (unsigned)enemies);
        if (narrow) write(f, text, -half + 4.0f, 17.0f, 1.9f, TEXT_LEFT, dim);
        else write(f, text, half - 4.0f, high - 7.0f, 1.9f, TEXT_RIGHT, dim);
    }
}

/* ---- the stages ---- */

static const char *const upgrade_titles[] = {
#define X(name, levels, price, title, text) title,
    UPGRADES(X)
#undef X
};
static const uint8_t upgrade_levels[] = {
#define X(name, levels, price, title, text) levels,
    UPGRADES(X)
#undef X
};
static const char *const upgrade_texts[] = {
#define X(name, levels, price, title, text) text,
    UPGRADES(X)
#undef X
};

static void draw_offer(app *a, uint32_t k, float x, float y, float wide, float high)
{
    frame *f = &a->frame;
    const Stage *s = reef_single_get(a->play.now.world, Stage);
    const Upgrades *u = reef_single_get(a->play.now.world, Upgrades);
    const Purse *purse = reef_single_get(a->play.now.world, Purse);
    uint32_t upgrade = s->offer[k];
    char text[32];
    panel(a, x, y, wide, high, k);
    if (upgrade >= UPGRADE_COUNT) {
        frame_text(f, "sold", x + wide * 0.5f, y + high * 0.45f, 2.6f, TEXT_MIDDLE, (colour){90, 110, 116, 255});
        return;
    }
    uint32_t price = shop_price(u, upgrade);
    frame_text(f, upgrade_titles[upgrade], x + wide * 0.5f, y + 4.0f, wide < 25.0f ? 2.0f : 2.2f, TEXT_MIDDLE, gold);
    const uint32_t levels = upgrade_levels[upgrade];
    for (uint32_t i = 0; i < levels; i++)
        frame_add(f,
                  (sprite){x + wide * 0.5f + ((float)i - 0.5f * (float)(levels - 1)) * 2.2f, y + 10.0f, 0.6f, 0, 0.6f,
                           0, i < u->level[upgrade] ? teal : (colour){50, 74, 84, 255}, SHAPE_DISC, 255, 0, 0});
    write_wrapped(f, upgrade_texts[upgrade], x + wide * 0.5f, y + 14.0f, 1.8f, wide - 4.0f, ivory);
    snprintf(text, sizeof text, "%u", (unsigned)price);
    icon(f, SHAPE_PEARL, x + wide * 0.5f - 3.0f, y + high - 4.0f, 1.3f, (colour){255, 226, 236, 255});
    frame_text(f, text, x + wide * 0.5f - 0.4f, y + high - 5.3f, 2.6f, TEXT_LEFT, purse->pearls >= price ? ivory : red);
}

static void draw_shop(app *a, float half)
{
    frame *f = &a->frame;
    const Stage *s = reef_single_get(a->play.now.world, Stage);
    char text[64];
    snprintf(text, sizeof text, "wave %u survived", (unsigned)s->wave);
    write(f, text, 0, 18, 4.4f, TEXT_MIDDLE, ivory);
    snprintf(text, sizeof text, "%u fish of the reef are alive", (unsigned)s->saved);
    write(f, text, 0, 26, 2.0f, TEXT_MIDDLE, teal);
    float gap = half < 60.0f ? 2.0f : 3.0f, wide = half < 60.0f ? (half * 2.0f - 4.0f - gap * 2.0f) / 3.0f : 30.0f;
    float left = -(wide * 3.0f + gap * 2.0f) * 0.5f, high = half < 60.0f ? 38.0f : 30.0f, low = 33.0f + high + 4.0f;
    for (uint32_t k = 0; k < OFFERS; k++) draw_offer(a, k, left + (wide + gap) * (float)k, 33, wide, high);
    panel(a, left, low, wide * 1.5f, 7, OFFERS);
    snprintf(text, sizeof text, "other offers: %u", (unsigned)shop_price_others(s));
    frame_text(f, text, left + wide * 0.75f, low + 2.5f, 2.0f, TEXT_MIDDLE, ivory);
    panel(a, left + wide * 1.5f + gap, low, wide * 1.5f + gap, 7, OFFERS + 1);
    frame_text(f, "dive on", left + wide * 2.25f + gap * 1.5f, low + 2.5f, 2.0f, TEXT_MIDDLE, gold);
}

static void draw_scores(app *a, float y)
{
    char text[64];
    write(&a->frame, "the best dives", 0, y, 2.0f, TEXT_MIDDLE, dim);
    for (uint32_t i = 0; i < a->scores.count; i++) {
        const score *one = &a->scores.of[i];
        snprintf(text, sizeof text, "%u.  %6u  wave %u  %u kills", (unsigned)i + 1, (unsigned)one->points,
                 (unsigned)one->wave, (unsigned)one->kills);
        write(&a->frame, text, 0, y + 4.0f + 3.2f * (float)i, 1.8f, TEXT_MIDDLE, i == a->scores.last ? gold : ivory);
    }
}

static void draw_end(app *a, bool won)
{
    frame *f = &a->frame;
    const Purse *purse = reef_single_get(a->play.now.world, Purse);
    const Stage *s = reef_single_get(a->play.now.world, Stage);
    char text[64];
    write(f, won ? "the deep is silent" : "out of air", 0, 22, 7.0f, TEXT_MIDDLE, won ? teal : red);
    snprintf(text, sizeof text, "score %u   wave %u   %u kills", (unsigned)purse->score, (unsigned)s->wave,
             (unsigned)purse->kills);
    write(f, text, 0, 34, 2.6f, TEXT_MIDDLE, ivory);
    if (!won && s->since < 5.0f) write(f, "hold rewind: it isn't too late", 0, 40, 2.2f, TEXT_MIDDLE, teal);
    if (won) write(f, "enter or tap: dive on, without end", 0, 42, 2.2f, TEXT_MIDDLE, gold);
    else if (s->since > 1.0f) write(f, "enter or tap: again, beside your ghost", 0, 45, 1.9f, TEXT_MIDDLE, gold);
    if (a->scores.count > 0) draw_scores(a, 54);
}

/* ---- the other screens ---- */

static void draw_menu(app *a, const char *const *items, uint32_t count, float y)
{
    for (uint32_t i = 0; i < count; i++) {
        float top = y + 8.5f * (float)i;
        panel(a, -19, top, 38, 6.6f, i);
        frame_text(&a->frame, items[i], 0, top + 2.1f, 2.4f, TEXT_MIDDLE, i == a->choice ? gold : ivory);
    }
}

static void draw_title(app *a, float half)
{
    frame *f = &a->frame;
    float sway = sinf(a->time * 0.8f) * 0.6f;
    for (int k = 3; k >= 0; k--)
        frame_text(f, "dive", 0, 14.0f + sway + 0.45f * (float)k, 19.0f, TEXT_MIDDLE,
                   k > 0 ? (colour){8, 40, 52, 200} : ivory);
    write(f, "air is everything", 0, 39, 2.6f, TEXT_MIDDLE, teal);
    static const char *const begin[] = {"dive", "leave"}, *const go_on[] = {"go on", "a new dive", "leave"};
    bool loaded = session_was_loaded(&a->play);
    draw_menu(a, loaded ? go_on : begin, (loaded ? 2u : 1u) + (a->stays ? 0u : 1u), 46);
    if (a->scores.count > 0) draw_scores(a, 73);
    if (a->by_touch || half < 50.0f) {
        (void)write_wrapped(f, a->by_touch ? "drag to swim" : "wasd or arrows swim", 0, 96, 2.2f, half * 1.8f, ivory);
    } else {
        const float size = clamp(half * 0.024f, 1.6f, 2.2f);
        box(f, -half, 88.2f, half * 2.0f, 8.6f, (colour){2, 10, 16, 190});
        write(f, "wasd or arrows swim   space dashes   e pulses   shift holds the lamp", 0, 89.2f, size, TEXT_MIDDLE,
              ivory);
        write(f, "r turns time back   p shows two futures   esc pauses", 0, 93.2f, size, TEXT_MIDDLE, ivory);
    }
}

/* In the first seconds of a dive: what it is about, and then how it is done. */
static void draw_goal(app *a, float half)
{
    const Stage *s = reef_single_get(a->play.now.world, Stage);
    const float now = (float)reef_tick_count(a->play.now.world) / TICKS_PER_SECOND;
    const bool narrow = half < 60.0f, goal = now < GOAL_SECONDS;
    if (now >= KEYS_SECONDS || s->now > STAGE_WAVE || a->watch != NULL) return;
    const float left = (goal ? GOAL_SECONDS : KEYS_SECONDS) - now, in = clamp(left * 2.0f, 0.0f, 1.0f);
    const float size = narrow ? 2.4f : 2.6f, wide = narrow ? half * 2.0f - 8.0f : 100.0f, y = narrow ? 57.0f : 61.0f;
    const char *keys = "space dashes, e pushes all away, hold r to turn time back: that costs air";
    if (a->by_touch) keys = "drag to swim. dash flees, pulse pushes all away, rewind costs air";
    float high = goal ? 20.0f : 13.0f;
    if (narrow) high = goal ? 25.0f : 17.0f;
    box(&a->frame, -wide * 0.5f - 3.0f, y - 3.0f, wide + 6.0f, high, (colour){2, 10, 16, (uint8_t)(200.0f * in)});
    if (!goal) {
        (void)write_wrapped(&a->frame, keys, 0, y, size, wide, faded(ivory, in));
        return;
    }
    const float next =
        write_wrapped(&a->frame, "survive twelve waves", 0, y, size * 1.4f, wide, faded(gold, in)) + 0.6f;
    (void)write_wrapped(&a->frame,
                        "turn the lamp to the creatures: the harpoon shoots what it lights. the bell has air", 0, next,
                        size, wide, faded(ivory, in));
}

/* What stands over the play: an end, the shop, a banner. */
static void draw_stage(app *a, float half)
{
    const Stage *s = reef_single_get(a->play.now.world, Stage);
    if (s->now == STAGE_SHOP) draw_shop(a, half);
    if (s->now == STAGE_LOST) draw_end(a, false);
    if (s->now == STAGE_WON) draw_end(a, true);
    if (a->screen == SCREEN_PLAY && a->backward_shown <= 0.05f) draw_goal(a, half);
    if (a->backward_shown > 0.05f)
        write(&a->frame, "<< rewind", 0, 22, 4.0f, TEXT_MIDDLE, faded(teal, a->backward_shown));
    if (a->banner_left > 0.0f && s->now == STAGE_WAVE) {
        float in = clamp(a->banner_left * 2.0f, 0.0f, 1.0f);
        write(&a->frame, a->banner, 0, 26, half < 60.0f ? 5.0f : 7.0f, TEXT_MIDDLE,
              faded(s->wave % 4 == 0 ? red : ivory, in));
    }
}

static void draw_photo_titles(app *a, float half)
{
    const float size = half < 60.0f ? 1.8f : 2.4f;
    write(&a->frame, "if you turn left", -half * 0.5f, 5, size, TEXT_MIDDLE, ivory);
    write(&a->frame, "if you turn right", half * 0.5f, 5, size, TEXT_MIDDLE, ivory);
    box(&a->frame, -0.6f, -100, 1.2f, 300, (colour){0, 0, 0, 255});
    box(&a->frame, -20, 95, 40.0f * (float)a->photo.ticks / PHOTO_TICKS, 1.0f, teal);
}

/* Below, over everything else. */
static void draw_notice(app *a, float half)
{
    const float wide = half * 2.0f - 8.0f, size = half < 60.0f ? 1.6f : 2.0f;
    if (a->notice == NULL || a->notice[0] == '\0') return;
    const float lines = (float)(int)(text_width(a->notice, size) / wide) + 1.0f, high = lines * size * 1.7f + 1.6f;
    box(&a->frame, -wide * 0.5f - 2.0f, 84.0f - high, wide + 4.0f, high,
        a->notice_wrong ? (colour){60, 6, 4, 235} : (colour){2, 10, 16, 215});
    (void)write_wrapped(&a->frame, a->notice, 0, 84.8f - high, size, wide, a->notice_wrong ? red : teal);
}

float hud_half_wide(const app *a) { return a->aspect > 0.72f ? 50.0f * a->aspect : 36.0f; }

static void begin_pass(app *a, float half, float middle)
{
    pass *p = frame_pass(&a->frame, false);
    p->x = 0, p->y = middle, p->half_wide = half, p->half_high = half / a->aspect;
    p->time = a->time;
}

void hud_draw(app *a)
{
    static const char *const pause[] = {"go on", "from the start", "to the title"};
    const float half = hud_half_wide(a), high = 2.0f * half / a->aspect;
    a->place_count = 0;
    if (a->screen == SCREEN_PLAY || a->screen == SCREEN_PAUSE) {
        begin_pass(a, half, high * 0.5f);
        draw_gauges(a, half, high);
        frame_end_pass(&a->frame);
    }
    begin_pass(a, half, 50.0f);
    if (a->screen == SCREEN_TITLE) draw_title(a, half);
    if (a->screen == SCREEN_PHOTO) draw_photo_titles(a, half);
    if (a->screen == SCREEN_PLAY) draw_stage(a, half);
    if (a->screen == SCREEN_PAUSE) {
        write(&a->frame, "pause", 0, 24, 6.0f, TEXT_MIDDLE, ivory);
        draw_menu(a, pause, 3, 40);
    }
    draw_notice(a, half);
    frame_end_pass(&a->frame);
}
