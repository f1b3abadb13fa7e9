#include "app.h"

#include "bot.h"
#include "diver.h"
#include "wave.h"

#include <string.h>

/* ---- sounds ---- */

static void play_sound(app *a, uint32_t what, float x, float y, float volume)
{
    static const float rests[SOUND_REWIND] = {
        [CUE_HIT] = 0.05f,   [CUE_DEATH] = 0.05f, [CUE_BLAST] = 0.06f, [CUE_SHELL] = 0.06f,
        [CUE_PEARL] = 0.04f, [CUE_AIM] = 0.25f,   [CUE_LAY] = 0.3f,    [CUE_HATCH] = 0.2f,
        [CUE_HEAL] = 0.5f,   [CUE_SPIT] = 0.12f,  [CUE_SHOT] = 0.05f};
    if (a->sound_count == SOUNDS_MAX || what >= sizeof a->sound_rest / sizeof a->sound_rest[0]) return;
    if (a->sound_rest[what] > 0.0f) return;
    a->sound_rest[what] = what < SOUND_REWIND ? rests[what] : 0.0f;
    float dx = x - a->camera.x, dy = y - a->camera.y, far = sqrtf(dx * dx + dy * dy);
    float near = 1.0f / (1.0f + far * 0.05f);
    a->sounds[a->sound_count++] = (sound_request){what, volume * near, clamp(dx * 0.05f, -0.8f, 0.8f)};
}

static void say(app *a, const char *text, float seconds)
{
    snprintf(a->banner, sizeof a->banner, "%s", text);
    a->banner_left = seconds;
}

/* ---- what the world says ---- */

/* Reads the cues of this world from now on. */
static void listen(app *a, reef_world *w)
{
    a->cues_of = w;
    a->cues = reef_event_reader_new(w, reef_id(Cue));
    a->particles.count = 0;
}

static void hear(app *a, bool loud)
{
    Cue cue;
    while (reef_event_next(a->cues_of, a->cues, &cue)) {
        particles_cue(&a->particles, &cue);
        if (!loud) continue;
        if (cue.what == CUE_BOSS) {
            uint32_t wave = (uint32_t)cue.size;
            say(a,
                creature_title(wave % 12 == 4   ? CREATURE_MATRON
                               : wave % 12 == 8 ? CREATURE_LANTERN
                                                : CREATURE_LEVIATHAN),
                3.0f);
        } else if (cue.what == CUE_WAVE) {
            char text[40];
            snprintf(text, sizeof text, "wave %u", (unsigned)cue.size);
            say(a, text, 2.0f);
        }
        bool near = cue.what >= CUE_WAVE || cue.what == CUE_BITE || cue.what == CUE_SHOT;
        float volume = cue.what == CUE_HIT || cue.what == CUE_DEATH || cue.what == CUE_SHOT ? 0.5f : 0.9f;
        play_sound(a, cue.what, near ? a->camera.x : cue.x, near ? a->camera.y : cue.y, volume);
    }
}

/* ---- beginning and ending ---- */

static bool begin_demo(app *a)
{
    game_free(&a->demo);
    a->demo_input = (Input){0};
    if (!game_new(&a->demo, a->seed * 31 + 7, a->pool)) return false;
    Upgrades *u = reef_single_mut(a->demo.world, Upgrades);
    u->level[UPGRADE_HARPOON] = 3, u->level[UPGRADE_LOADER] = 2, u->level[UPGRADE_PIERCE] = 1,
    u->level[UPGRADE_BURSTING] = 1;
    Stage *s = reef_single_mut(a->demo.world, Stage);
    s->wave = 5 + (uint32_t)(a->seed % 3), s->clock = 0.5f;
    listen(a, a->demo.world);
    return true;
}

/* Puts the dive into the table of scores, once. */
static void note_score(app *a)
{
    const reef_world *w = a->play.now.world;
    if (w == NULL || a->scored) return;
    const Purse *purse = reef_single_get(w, Purse);
    a->scored = true;
    scores_add(&a->scores, (score){purse->score, reef_single_get(w, Stage)->wave, purse->kills}, a->folder);
}

bool app_begin(app *a, uint64_t seed, reef_pool *pool, const char *folder)
{
    memset(a, 0, sizeof *a);
    a->seed = seed, a->pool = pool, a->folder = folder;
    a->aspect = 16.0f / 9.0f;
    a->camera = (camera){0, 0, 12.0f, a->aspect};
    a->particles.dice = 1;
    scores_load(&a->scores, folder);
    return session_begin(&a->play, seed, pool, folder) && begin_demo(a);
}

void app_end(app *a)
{
    if (a->play.now.world != NULL) {
        if (reef_single_get(a->play.now.world, Stage)->now == STAGE_WON) note_score(a);
        session_save(&a->play);
    }
    photo_end(&a->photo);
    session_end(&a->play);
    game_free(&a->demo);
}

/* ---- playing ---- */

static bool start_playing(app *a)
{
    a->screen = SCREEN_PLAY;
    a->scored = false;
    a->shown_score = (float)reef_single_get(a->play.now.world, Purse)->score;
    a->choice = 0;
    a->behind = 0.0f;
    listen(a, a->play.now.world);
    return true;
}

static bool dive_again(app *a, uint64_t seed)
{
    uint32_t stage = reef_single_get(a->play.now.world, Stage)->now;
    if (stage == STAGE_WON || stage == STAGE_LOST) note_score(a);
    return session_again(&a->play, seed) && start_playing(a);
}

bool app_watch(app *a, const replay *recording)
{
    a->watch = recording;
    return dive_again(a, recording->seed);
}

static int8_t hundredths(float x) { return (int8_t)clamp(x * 100.0f, -100.0f, 100.0f); }

static Input input_of(const app *a, const controls *c)
{
    const Lamp *lamp = reef_single_get(a->play.now.world, Lamp);
    Input in = {.move = {hundredths(c->move_x), hundredths(c->move_y)},
                .aim = {hundredths(c->aim_x), hundredths(c->aim_y)}};
    if (c->pointer_aims) {
        vec to = {a->camera.x + (c->pointer_x * 2.0f - 1.0f) * a->camera.half_high * a->aspect - lamp->x,
                  a->camera.y + (c->pointer_y * 2.0f - 1.0f) * a->camera.half_high - lamp->y};
        vec way = vec_unit(to);
        in.aim[0] = hundredths(way.x), in.aim[1] = hundredths(way.y);
    }
    if ((c->held & CONTROL_HOLD) != 0) in.keys |= KEY_HOLD;
    if ((c->held & CONTROL_DASH) != 0) in.keys |= KEY_DASH;
    if ((c->held & CONTROL_PULSE) != 0) in.keys |= KEY_PULSE;
    return in;
}

/* Menus of the stages between waves: which pick the keys ask for. */
static uint8_t pick_of(app *a, const controls *c, uint32_t stage)
{
    if (stage == STAGE_WON) return (c->pressed & CONTROL_CONFIRM) != 0 ? PICK_GO_ON : PICK_NONE;
    if (stage != STAGE_SHOP) return PICK_NONE;
    enum { PLACES = OFFERS + 2 };
    if ((c->pressed & (CONTROL_LEFT | CONTROL_UP)) != 0) a->choice = (a->choice + PLACES - 1) % PLACES;
    if ((c->pressed & (CONTROL_RIGHT | CONTROL_DOWN)) != 0) a->choice = (a->choice + 1) % PLACES;
    if ((c->pressed & (CONTROL_LEFT | CONTROL_UP | CONTROL_RIGHT | CONTROL_DOWN)) != 0)
        play_sound(a, SOUND_MENU, a->camera.x, a->camera.y, 0.6f);
    if ((c->pressed & CONTROL_CONFIRM) == 0) return PICK_NONE;
    return a->choice < OFFERS ? (uint8_t)(PICK_FIRST + a->choice) : a->choice == OFFERS ? PICK_OTHERS : PICK_GO_ON;
}

static bool run_backward(app *a)
{
    bool moved = session_rewind(&a->play, 2) > 0;
    a->backward = moved;
    hear(a, false); /* what was still to be heard isn't any more */
    a->particles.count = 0;
    if (moved && a->play.rewound % 20 < 2) play_sound(a, SOUND_REWIND, a->camera.x, a->camera.y, 0.5f);
    return true;
}

static bool play(app *a, const controls *c, float dt)
{
    const Stage *stage = reef_single_get(a->play.now.world, Stage);
    Input in = input_of(a, c);
    in.pick = pick_of(a, c, stage->now);
    if ((c->pressed & CONTROL_PAUSE) != 0) {
        a->screen = SCREEN_PAUSE;
        a->choice = 0;
        return session_save(&a->play);
    }
    if ((c->pressed & CONTROL_PHOTO) != 0 && stage->now <= STAGE_WAVE) {
        a->screen = SCREEN_PHOTO;
        return photo_take(&a->photo, &a->play, in);
    }
    if (stage->now == STAGE_LOST && stage->since > 1.0f && (c->pressed & CONTROL_CONFIRM) != 0)
        return dive_again(a, a->play.inputs.seed);
    if ((c->held & CONTROL_REWIND) != 0 && stage->now != STAGE_SHOP) return run_backward(a);

    a->behind += dt < 0.1f ? dt : 0.1f;
    for (; a->behind >= 1.0f / TICKS_PER_SECOND; a->behind -= 1.0f / TICKS_PER_SECOND) {
        uint64_t tick = a->play.inputs.count;
        if (a->watch != NULL && tick < a->watch->count) in = a->watch->inputs[tick];
        if (!session_tick(&a->play, in)) return false;
        in.pick = PICK_NONE;
        hear(a, true);
    }
    stage = reef_single_get(a->play.now.world, Stage);
    if (stage->now != STAGE_SHOP && stage->now != STAGE_LOST) a->choice = stage->now == STAGE_WAVE ? 0 : a->choice;
    if (stage->now == STAGE_LOST && stage->since > 5.5f && !a->scored) { /* no rewinding saves her any more */
        note_score(a);
    }
    return true;
}

/* ---- the other screens ---- */

static uint32_t choose(app *a, const controls *c, uint32_t places)
{
    if ((c->pressed & CONTROL_UP) != 0) a->choice = (a->choice + places - 1) % places;
    if ((c->pressed & CONTROL_DOWN) != 0) a->choice = (a->choice + 1) % places;
    if ((c->pressed & (CONTROL_UP | CONTROL_DOWN)) != 0) play_sound(a, SOUND_MENU, a->camera.x, a->camera.y, 0.6f);
    return (c->pressed & CONTROL_CONFIRM) != 0 ? a->choice : places;
}

static bool title(app *a, const controls *c, float dt)
{
    a->behind += dt < 0.05f ? dt : 0.05f;
    for (; a->behind >= 1.0f / TICKS_PER_SECOND; a->behind -= 1.0f / TICKS_PER_SECOND) {
        a->demo_input = bot_input(a->demo.world, &a->demo_input);
        if (game_tick(&a->demo, &a->demo_input) < 0) return false;
        hear(a, false);
    }
    if (reef_single_get(a->demo.world, Stage)->now == STAGE_LOST && !begin_demo(a)) return false;
    bool going_on = session_was_loaded(&a->play);
    uint32_t leave = a->stays ? UINT32_MAX : going_on ? 2 : 1; /* the menu's last item, where there is one */
    uint32_t chosen = choose(a, c, (going_on ? 2u : 1u) + (a->stays ? 0u : 1u));
    if (going_on && chosen == 0) return start_playing(a);
    if (chosen == (going_on ? 1u : 0u)) return going_on ? dive_again(a, a->seed) : start_playing(a);
    a->quit = chosen == leave;
    return true;
}

static bool pause(app *a, const controls *c)
{
    uint32_t chosen = choose(a, c, 3);
    if ((c->pressed & CONTROL_PAUSE) != 0) chosen = 0;
    if (chosen == 0) a->screen = SCREEN_PLAY;
    if (chosen == 1) return dive_again(a, a->play.inputs.seed);
    if (chosen == 2) {
        a->screen = SCREEN_TITLE;
        a->choice = 0;
        a->seed = a->seed * 6364136223846793005u + 1442695040888963407u; /* the next new dive is in another sea */
        return begin_demo(a);
    }
    return true;
}

static bool look_at_photo(app *a, const controls *c, float dt)
{
    a->behind += dt < 0.05f ? dt * 0.6f : 0.03f;
    for (; a->behind >= 1.0f / TICKS_PER_SECOND; a->behind -= 1.0f / TICKS_PER_SECOND)
        if (!photo_tick(&a->photo, &a->play)) return false;
    if ((c->pressed & (CONTROL_PHOTO | CONTROL_PAUSE | CONTROL_CONFIRM)) == 0) return true;
    photo_end(&a->photo);
    a->screen = SCREEN_PLAY;
    a->behind = 0.0f;
    return true;
}

/* ---- frames ---- */

static void move_camera(app *a, const game *g, float dt)
{
    const Lamp *lamp = reef_single_get(g->world, Lamp);
    float quick = clamp(dt * 5.0f, 0.0f, 1.0f);
    float x = lamp->x + lamp->dx * 2.5f, y = lamp->y + lamp->dy * 2.0f;
    a->camera.x += (x - a->camera.x) * quick;
    a->camera.y += (y - a->camera.y) * quick;
    if (g == &a->demo) a->camera.y = y - 3.0f; /* she swims below the title */
    a->camera.aspect = a->aspect;
    a->camera.half_high = a->aspect < 1.0f ? 17.0f : 12.0f;
}

static void draw_photo(app *a)
{
    for (int side = 0; side < 2; side++) {
        const Lamp *lamp = reef_single_get(a->photo.future[side].world, Lamp);
        camera c = {lamp->x, lamp->y, a->camera.half_high, a->aspect * 0.497f};
        pass *p = scene_draw(&a->frame, &a->photo.future[side], NULL, NULL, c, a->time);
        p->left = side == 0 ? 0.0f : 0.503f;
        p->wide = 0.497f;
    }
}

static void draw(app *a)
{
    a->frame.count = 0, a->frame.pass_count = 0;
    if (a->screen == SCREEN_PHOTO) {
        draw_photo(a);
    } else {
        camera c = a->camera;
        c.x += (particles_random(&a->particles) - 0.5f) * a->particles.shake;
        c.y += (particles_random(&a->particles) - 0.5f) * a->particles.shake;
        bool playing = a->screen != SCREEN_TITLE;
        pass *p = scene_draw(&a->frame, playing ? &a->play.now : &a->demo, playing ? &a->play.ghost : NULL,
                             &a->particles, c, a->time);
        p->backward = a->backward_shown;
        p->hurt = a->particles.hurt;
        p->dark = a->screen == SCREEN_PLAY ? 0.0f : a->screen == SCREEN_TITLE ? 0.35f : 0.7f;
        if (playing) {
            const Stage *s = reef_single_get(a->play.now.world, Stage);
            const Diver *d = reef_get(a->play.now.world, reef_single_get(a->play.now.world, Lamp)->diver, Diver);
            if (s->now == STAGE_SHOP) p->dark = 0.55f;
            if (s->now == STAGE_LOST) p->dark = 0.5f, p->hurt = 0.6f;
            if (d->air < 25.0f && s->now == STAGE_WAVE) p->hurt += 0.35f + 0.25f * sinf(a->time * 7.0f);
        }
    }
    hud_draw(a);
}

/* ---- menus by stick and pointer ---- */

/* Which item of the menu is at the pointer; place_count: none. */
static uint32_t pointed_at(const app *a, const controls *c)
{
    float half = hud_half_wide(a), x = (c->pointer_x * 2.0f - 1.0f) * half,
          y = 50.0f + (c->pointer_y * 2.0f - 1.0f) * half / a->aspect;
    for (uint32_t i = 0; i < a->place_count; i++) {
        const place *p = &a->places[i];
        if (x >= p->x && x <= p->x + p->wide && y >= p->y && y <= p->y + p->high) return i;
    }
    return a->place_count;
}

static bool pushed(float now, float before) { return now > 0.6f && before <= 0.6f; }

/* Menus know only up, down, left, right and confirm: makes these of a stick and a pointer. */
static controls with_menu_keys(app *a, const controls *c)
{
    controls k = *c;
    if (pushed(c->move_y, a->before.move_y)) k.pressed |= CONTROL_DOWN;
    if (pushed(-c->move_y, -a->before.move_y)) k.pressed |= CONTROL_UP;
    if (pushed(c->move_x, a->before.move_x)) k.pressed |= CONTROL_RIGHT;
    if (pushed(-c->move_x, -a->before.move_x)) k.pressed |= CONTROL_LEFT;
    bool points = (c->pressed & CONTROL_POINT) != 0;
    bool moved = c->pointer_x != a->before.pointer_x || c->pointer_y != a->before.pointer_y;
    a->before = *c;
    if (!points && !(c->pointer_aims && moved)) return k;
    uint32_t item = pointed_at(a, c);
    if (item < a->place_count) a->choice = item;
    if (points && (item < a->place_count || a->place_count == 0)) k.pressed |= CONTROL_CONFIRM;
    return k;
}

bool app_frame(app *a, const controls *from, float dt, float aspect)
{
    bool good = true;
    a->aspect = aspect;
    a->by_touch = from->by_touch;
    const controls keys = with_menu_keys(a, from), *c = &keys;
    a->time += a->backward ? -dt : dt;
    a->backward = false;
    a->sound_count = 0;
    for (size_t i = 0; i < sizeof a->sound_rest / sizeof a->sound_rest[0]; i++)
        a->sound_rest[i] = count_down(a->sound_rest[i], dt);
    switch (a->screen) {
    case SCREEN_TITLE: good = title(a, c, dt); break;
    case SCREEN_PLAY: good = play(a, c, dt); break;
    case SCREEN_PAUSE: good = pause(a, c); break;
    case SCREEN_PHOTO: good = look_at_photo(a, c, dt); break;
    }
    if (!good) return false;
    if (a->screen == SCREEN_PLAY || a->screen == SCREEN_TITLE) {
        move_camera(a, a->screen == SCREEN_TITLE ? &a->demo : &a->play.now, dt);
        if (!a->backward) particles_step(&a->particles, dt);
    }
    a->backward_shown += ((a->backward ? 1.0f : 0.0f) - a->backward_shown) * clamp(dt * 12.0f, 0.0f, 1.0f);
    a->banner_left = count_down(a->banner_left, dt);
    if (!a->blind) draw(a);
    return true;
}
