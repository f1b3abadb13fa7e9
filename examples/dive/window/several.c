#include "several.h"

#include <stdio.h>

#ifdef DIVE_TOGETHER
#include "diver.h"
#include "draw.h"
#include "input.h"
#include "past.h"
#include "together.h"
#include "wave.h"

#include <inttypes.h>

#define MS UINT64_C(1000000)
enum { HALVES = 2, ROUND_MOST = 400, LOSS_MOST = 30 };

typedef struct table {
    together of[HALVES];
    uint32_t count;
    reef_net_sim *line; /* NULL: over UDP */
    uint32_t round_ms, loss_percent;
    camera camera[HALVES];
    float time;
    char note[300]; /* of a recording: what it says; "": nothing */
    frame frame;
} table;

static bool complain(const char *why)
{
    fprintf(stderr, "dive: %s\n", why);
    return false;
}

/* ---- what the players do ---- */

static int8_t hundredths(float x) { return (int8_t)(x * 100.0f); }

static CrewInput input_of(const controls *c)
{
    CrewInput in = {.move = {hundredths(c->move_x), hundredths(c->move_y)},
                    .aim = {hundredths(c->aim_x), hundredths(c->aim_y)}};
    if ((c->held & CONTROL_HOLD) != 0) in.keys |= KEY_HOLD;
    if ((c->held & CONTROL_DASH) != 0) in.keys |= KEY_DASH;
    if ((c->held & CONTROL_PULSE) != 0) in.keys |= KEY_PULSE;
    return in;
}

/* The keys of one of two players at one keyboard: left, right, up, down, dash, pulse, hold. */
static CrewInput keyboard_half(const Uint8 *down, const SDL_Scancode *keys)
{
    controls c = {.move_x = (float)down[keys[1]] - (float)down[keys[0]],
                  .move_y = (float)down[keys[3]] - (float)down[keys[2]]};
    if (down[keys[4]]) c.held |= CONTROL_DASH;
    if (down[keys[5]]) c.held |= CONTROL_PULSE;
    if (down[keys[6]]) c.held |= CONTROL_HOLD;
    return input_of(&c);
}

static void players_read(table *t, const controls *c, bool scripted)
{
    static const SDL_Scancode keys[HALVES][7] = {{SDL_SCANCODE_A, SDL_SCANCODE_D, SDL_SCANCODE_W, SDL_SCANCODE_S,
                                                  SDL_SCANCODE_SPACE, SDL_SCANCODE_E, SDL_SCANCODE_LSHIFT},
                                                 {SDL_SCANCODE_LEFT, SDL_SCANCODE_RIGHT, SDL_SCANCODE_UP,
                                                  SDL_SCANCODE_DOWN, SDL_SCANCODE_RETURN, SDL_SCANCODE_RCTRL,
                                                  SDL_SCANCODE_RSHIFT}};
    static Uint8 before[10];
    const Uint8 *down = SDL_GetKeyboardState(NULL);
    const uint8_t pick[HALVES] = {t->of[0].wants.pick, t->of[1].wants.pick}; /* not sent yet */
    if (t->count == 1 || scripted) t->of[0].wants = input_of(c);
    for (uint32_t i = 0; t->count == HALVES && !scripted && i < HALVES; i++)
        t->of[i].wants = keyboard_half(down, keys[i]);
    for (uint32_t i = 0; i < t->count; i++) t->of[i].wants.pick = pick[i];
    for (int k = 0; k < 5; k++) { /* 1 ... 3: an offer; 4: go on; 5: other offers */
        const Uint8 is = down[SDL_SCANCODE_1 + k];
        if (is && !before[k]) t->of[0].wants.pick = (uint8_t)(PICK_FIRST + k);
        before[k] = is;
    }
    if (scripted && (c->pressed & CONTROL_CONFIRM) != 0) t->of[0].wants.pick = PICK_GO_ON;
    if (t->line == NULL) return;
    static const int32_t steps[4][2] = {{-10, 0}, {10, 0}, {0, -1}, {0, 1}}; /* F1 ... F4: the line */
    for (int k = 0; k < 4; k++) {
        const Uint8 is = down[SDL_SCANCODE_F1 + k];
        if (is && !before[5 + k]) {
            t->round_ms = (uint32_t)clamp((float)((int32_t)t->round_ms + steps[k][0]), 0.0f, ROUND_MOST);
            t->loss_percent = (uint32_t)clamp((float)((int32_t)t->loss_percent + steps[k][1]), 0.0f, LOSS_MOST);
        }
        before[5 + k] = is;
    }
    const reef_net_line line = {
        .latency_ns = t->round_ms * MS / 2, .jitter_ns = t->round_ms * MS / 10, .loss = t->loss_percent * 10};
    reef_net_sim_line(t->line, &line);
}

/* ---- drawing ---- */

static const colour ivory = {244, 238, 218, 255}, dim = {150, 176, 182, 255}, teal = {96, 226, 202, 255},
                    red = {255, 88, 66, 255};

static void line_of_text(frame *f, const char *text, float x, float y, float size, int align, colour paint)
{
    frame_text(f, text, x + size * 0.07f, y + size * 0.09f, size, align, (colour){0, 6, 12, 190});
    frame_text(f, text, x, y, size, align, paint);
}

static const char *const titles[] = {
#define X(name, levels, price, title, text) title,
    UPGRADES(X)
#undef X
};

/* A bar with a value from 0 to 1. */
static void bar(frame *f, float x, float y, float wide, float value, colour paint)
{
    const colour back = {4, 14, 22, 200};
    frame_add(f, (sprite){x + wide * 0.5f, y + 0.8f, wide * 0.5f, 0, 0.8f, 0, back, SHAPE_BOX, 255, 0, 30});
    value = clamp(value, 0.0f, 1.0f) * wide;
    frame_add(f, (sprite){x + value * 0.5f, y + 0.8f, value * 0.5f, 0, 0.6f, 0, paint, SHAPE_BOX, 255, 0, 30});
}

/* What stands over the sea of one player, in the middle `x`. */
static void gauges(table *t, const together *one, float x)
{
    frame *f = &t->frame;
    reef_world *w = one->now.world;
    const Stage *s = reef_single_get(w, Stage);
    const Purse *purse = reef_single_get(w, Purse);
    const Upgrades *u = reef_single_get(w, Upgrades);
    const Diver *d = reef_get(w, reef_single_get(w, Lamp)->diver, Diver);
    const reef_net_stats net = reef_net_statistics(one->net);
    const int player = reef_net_player(one->net);
    char text[160];
    if (player < 0 && one->net != NULL) {
        line_of_text(f, reef_net_state(one->net) == REEF_NET_LOADING ? "the sea arrives" : "joining", x, 46, 3.0f,
                     TEXT_MIDDLE, ivory);
        return;
    }
    snprintf(text, sizeof text, "air %d   pearls %u   score %u   wave %u", (int)(d->air + 0.5f),
             (unsigned)purse->pearls, (unsigned)purse->score, (unsigned)s->wave);
    line_of_text(f, text, x, 3.4f, 2.2f, TEXT_MIDDLE, d->air > 25.0f ? ivory : red);
    bar(f, x - 30.0f, 7.0f, 60.0f, d->air / diver_air_most(u), d->air > 25.0f ? teal : red);
    const reef_entity own = player < 0 ? (reef_entity){0} : mate_of(w, (uint32_t)player);
    const Mate *mate = reef_entity_is_null(own) ? NULL : reef_get(w, own, Mate);
    if (mate != NULL) bar(f, x - 20.0f, 9.4f, 40.0f, mate->strength / MATE_STRENGTH, (colour){255, 206, 110, 255});
    if (mate != NULL && mate->strength == 0.0f)
        line_of_text(f, "fainted: somebody must stay with you", x, 30, 2.6f, TEXT_MIDDLE, red);
    for (uint32_t k = 0; s->now == STAGE_SHOP && k < OFFERS; k++) {
        if (s->offer[k] >= UPGRADE_COUNT) continue;
        snprintf(text, sizeof text, "%u  %s  %u pearls", (unsigned)k + 1, titles[s->offer[k]],
                 (unsigned)shop_price(u, s->offer[k]));
        line_of_text(f, text, x, 36.0f + 5.0f * (float)k, 2.6f, TEXT_MIDDLE, ivory);
    }
    if (s->now == STAGE_SHOP) line_of_text(f, "4  go on     5  other offers", x, 53, 2.2f, TEXT_MIDDLE, dim);
    if (s->now == STAGE_LOST) line_of_text(f, "the dive is over", x, 40, 5.0f, TEXT_MIDDLE, red);
    if (s->now == STAGE_WON) line_of_text(f, "you have won   4  go on", x, 40, 3.4f, TEXT_MIDDLE, ivory);
    if (one->net == NULL) {
        line_of_text(f, t->note, x, 96.0f, 1.5f, TEXT_MIDDLE, red);
        return;
    }
    uint64_t round = 0;
    for (uint32_t p = 0; p < PLAYERS_MAX; p++) {
        reef_net_player_info info;
        if (reef_net_player_get(one->net, p, &info) && info.round_ns > round) round = info.round_ns;
    }
    snprintf(text, sizeof text, "round trip %u ms   delay %u   deepest rollback %u   waits %u%s%s",
             (unsigned)(round / MS), (unsigned)net.delay, (unsigned)net.deepest, (unsigned)net.stalls,
             reef_net_reason(one->net)[0] ? "   " : "", reef_net_reason(one->net));
    line_of_text(f, text, x, 96.0f, 1.5f, TEXT_MIDDLE, dim);
}

static void draw_all(table *t, float aspect)
{
    const float share = t->count == HALVES ? 0.497f : 1.0f;
    t->frame.count = 0, t->frame.pass_count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const Lamp lamp = together_lamp(&t->of[i]);
        camera *c = &t->camera[i];
        c->half_high = 12.0f;
        c->aspect = aspect * share;
        pass *p = scene_draw(&t->frame, &t->of[i].now, NULL, NULL, *c, t->time);
        p->left = i == 0 ? 0.0f : 0.503f;
        p->wide = share;
        p->lamp_x = lamp.x, p->lamp_y = lamp.y, p->lamp_dx = lamp.dx, p->lamp_dy = lamp.dy;
    }
    pass *over = frame_pass(&t->frame, false);
    over->y = 50.0f, over->half_high = 50.0f, over->half_wide = 50.0f * aspect;
    for (uint32_t i = 0; i < t->count; i++)
        gauges(t, &t->of[i], t->count == 1 ? 0.0f : 50.0f * aspect * (i == 0 ? -0.5f : 0.5f));
    if (t->line != NULL) { /* the slider */
        char text[60];
        snprintf(text, sizeof text, "F1 - round trip %u ms + F2", (unsigned)t->round_ms);
        line_of_text(&t->frame, text, -26.0f, 89.5f, 1.7f, TEXT_MIDDLE, ivory);
        bar(&t->frame, -44.0f, 92.2f, 36.0f, (float)t->round_ms / ROUND_MOST, teal);
        snprintf(text, sizeof text, "F3 - loss %u%% + F4", (unsigned)t->loss_percent);
        line_of_text(&t->frame, text, 26.0f, 89.5f, 1.7f, TEXT_MIDDLE, ivory);
        bar(&t->frame, 8.0f, 92.2f, 36.0f, (float)t->loss_percent / LOSS_MOST, teal);
    }
    frame_end_pass(&t->frame);
}

/* ---- playing ---- */

static void cameras_move(table *t, float dt)
{
    const float quick = clamp(dt * 5.0f, 0.0f, 1.0f);
    for (uint32_t i = 0; i < t->count; i++) {
        const Lamp lamp = together_lamp(&t->of[i]);
        camera *c = &t->camera[i];
        c->x += (lamp.x + lamp.dx * 2.5f - c->x) * quick;
        c->y += (lamp.y + lamp.dy * 2.0f - c->y) * quick;
    }
}

static bool table_begin(table *t, const shared *o, reef_pool *pool, bool scripted)
{
    char invitation[200];
    t->round_ms = o->round_ms;
    t->loss_percent = o->loss_percent;
    if (o->two) {
        t->line = reef_net_sim_new(o->seed, NULL, NULL);
        if (t->line == NULL) return complain("no memory");
        while (t->count < HALVES) {
            together *one = &t->of[t->count++];
            if (!together_new(one, o->seed, pool) || !together_on(one, t->line, t->count)) return complain(one->why);
        }
        t->of[1].bot = scripted;
        return true;
    }
    t->count = 1;
    if (!together_new(&t->of[0], o->seed, pool)) return complain(t->of[0].why);
    t->of[0].desync = "dive-desync.reef";
    const bool good = o->invitation != NULL
                          ? together_join(&t->of[0], o->invitation, 0)
                          : together_host(&t->of[0], o->address, o->port, invitation, sizeof invitation);
    if (good && o->invitation == NULL)
        printf("the others join by this line; whoever has it can join:\n\n    ./play --join %s\n\n", invitation);
    (void)fflush(stdout);
    return good || complain(t->of[0].why);
}

static void tell(const table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const together *one = &t->of[i];
        printf("player %d: tick %" PRIu64 ", %u divers, %s\n", reef_net_player(one->net),
               reef_net_confirmed(one->net) / 8 * 8, 1 + (unsigned)reef_count(one->now.world, Mate),
               reef_net_reason(one->net));
    }
}

/* Reads what is pressed and how long the frame took; of a script, its next frame. False: it is over. */
static bool frame_begin(controls *c, Uint64 *last, script *from, float *dt)
{
    if (!input_read(c)) return false;
    const Uint64 is = SDL_GetPerformanceCounter();
    *dt = (float)(is - *last) / (float)SDL_GetPerformanceFrequency();
    *last = is;
    if (from == NULL) return true;
    *dt = 1.0f / TICKS_PER_SECOND;
    return script_frame(from, c);
}

/* False: the picture that the script asked for can't be written. */
static bool frame_show(table *t, SDL_Window *window, script *from)
{
    int wide, high;
    if (from != NULL && !script_wants_picture(from)) return true;
    SDL_GL_GetDrawableSize(window, &wide, &high);
    draw_all(t, (float)wide / (float)high);
    draw_frame(&t->frame, wide, high);
    if (from != NULL && !script_picture(from, wide, high)) return false;
    SDL_GL_SwapWindow(window);
    return true;
}

static bool loop(table *t, SDL_Window *window, script *from)
{
    controls c = {0};
    uint64_t now = 0;
    Uint64 last = SDL_GetPerformanceCounter();
    for (;;) {
        float dt;
        if (!frame_begin(&c, &last, from, &dt)) return true;
        now += (uint64_t)((double)dt * 1e9);
        t->time += dt;
        players_read(t, &c, from != NULL);
        if (t->line != NULL) reef_net_sim_time(t->line, now);
        for (uint32_t i = 0; i < t->count; i++) {
            if (!together_update(&t->of[i], now)) return complain(t->of[i].why);
            if (together_is_over(&t->of[i])) return complain(t->of[i].why);
        }
        cameras_move(t, dt);
        if (from != NULL && script_tells(from)) tell(t);
        if (!frame_show(t, window, from)) return false;
    }
}

/* ---- recordings ---- */

bool shared_recorded(const char *path) { return past_is(path); }

/* Is the tick that differs the next one? Then it says what does. */
static bool past_waits(table *t, const past *p)
{
    const reef_net_desync *d = &p->about.what;
    if (!p->about.differs || p->tick != d->tick) return false;
    snprintf(t->note, sizeof t->note, "tick %" PRIu64 " differs: %s, %s.%s of %u: here %s, there %s   Enter goes on",
             d->tick, d->system, d->component, d->field, (unsigned)d->entity.index, d->here, d->there);
    return true;
}

/* Plays the recording to the tick that differs, and stays there until Enter; without one, to its end. */
static bool past_loop(table *t, past *p, SDL_Window *window, script *from)
{
    controls c = {0};
    float owed = 0.0f;
    bool waits = past_waits(t, p);
    Uint64 last = SDL_GetPerformanceCounter();
    for (;;) {
        float dt;
        if (!frame_begin(&c, &last, from, &dt)) return true;
        bool goes_on = waits && (c.pressed & CONTROL_CONFIRM) != 0;
        if (goes_on) t->note[0] = '\0', owed = 1.0f;
        if (!waits) owed += dt * (float)TICKS_PER_SECOND;
        for (; owed >= 1.0f && (!waits || goes_on); owed -= 1.0f, goes_on = false) {
            if (!past_tick(p)) break;
            waits = past_waits(t, p);
        }
        if (owed > 1.0f) owed = 1.0f;
        t->time += dt;
        cameras_move(t, dt);
        if (from != NULL && script_tells(from)) printf("tick %" PRIu64 " %s\n", p->tick, t->note);
        if (!frame_show(t, window, from)) return false;
    }
}

bool shared_replay(const char *path, SDL_Window *window, reef_pool *pool, script *from)
{
    static table t;
    static past p;
    char why[REEF_NET_REASON_MAX] = "";
    bool good = past_begin(&p, path, pool, why) || complain(why);
    t.count = 1;
    t.of[0].now = p.now; /* it is shown, and belongs to the past */
    good = good && past_loop(&t, &p, window, from);
    past_end(&p);
    return good;
}

bool shared_play(const shared *o, SDL_Window *window, reef_pool *pool, script *from)
{
    static table t;
    const bool good = table_begin(&t, o, pool, from != NULL) && loop(&t, window, from);
    for (uint32_t i = 0; i < t.count; i++) together_end(&t.of[i]);
    reef_net_sim_free(t.line);
    return good;
}
#else
bool shared_play(const shared *o, SDL_Window *window, reef_pool *pool, script *from)
{
    (void)o, (void)window, (void)pool, (void)from;
    fprintf(stderr, "dive: this program was built without the add-on reef_net\n");
    return false;
}

bool shared_recorded(const char *path)
{
    (void)path;
    return false;
}
bool shared_replay(const char *path, SDL_Window *window, reef_pool *pool, script *from)
{
    (void)path;
    return shared_play(NULL, window, pool, from);
}
#endif
