/* What the page calls: it hands the app what is pressed and draws the frame that it finds in memory (dive.js). */
#include "app.h"
#include "shaders.h"

#include <emscripten.h>

static app the_app;

/* Files that the page put into /dive are found again. */
EMSCRIPTEN_KEEPALIVE int dive_begin(unsigned seed)
{
    const bool good = app_begin(&the_app, seed, NULL, "/dive");
    the_app.stays = true;
    return good;
}

/* `way` has move_x, move_y, aim_x, aim_y, pointer_x, pointer_y; the pointer counts if `pointer_aims`. `by_touch`: the
 * page shows its buttons. */
EMSCRIPTEN_KEEPALIVE int dive_frame(float dt, float aspect, unsigned held, unsigned pressed, int pointer_aims,
                                    int by_touch, const float *way)
{
    const controls c = {.move_x = way[0],
                        .move_y = way[1],
                        .aim_x = way[2],
                        .aim_y = way[3],
                        .pointer_aims = pointer_aims != 0,
                        .pointer_x = way[4],
                        .pointer_y = way[5],
                        .held = held,
                        .pressed = pressed,
                        .by_touch = by_touch != 0};
    return app_frame(&the_app, &c, dt, aspect);
}

/* The next call to dive_frame is handed this. */
EMSCRIPTEN_KEEPALIVE float *dive_way(void)
{
    static float way[6];
    return way;
}

EMSCRIPTEN_KEEPALIVE const sprite *dive_sprites(void) { return the_app.frame.sprites; }
EMSCRIPTEN_KEEPALIVE unsigned dive_sprite_count(void) { return the_app.frame.count; }
EMSCRIPTEN_KEEPALIVE const pass *dive_passes(void) { return the_app.frame.passes; }
EMSCRIPTEN_KEEPALIVE unsigned dive_pass_count(void) { return the_app.frame.pass_count; }
EMSCRIPTEN_KEEPALIVE unsigned dive_pass_words(void) { return sizeof(pass) / 4; }

EMSCRIPTEN_KEEPALIVE const sound_request *dive_sounds(void) { return the_app.sounds; }
EMSCRIPTEN_KEEPALIVE unsigned dive_sound_count(void) { return the_app.sound_count; }
EMSCRIPTEN_KEEPALIVE unsigned dive_sound_kinds(void) { return SOUND_COUNT; }
EMSCRIPTEN_KEEPALIVE unsigned dive_sound_hum(void) { return SOUND_HUM; }
EMSCRIPTEN_KEEPALIVE unsigned dive_sound_length(unsigned what) { return sound_length(what); }
EMSCRIPTEN_KEEPALIVE const float *dive_sound_make(unsigned what)
{
    static float samples[SOUND_RATE * 8];
    sound_make(what, samples);
    return samples;
}

EMSCRIPTEN_KEEPALIVE const char *dive_shader(unsigned number)
{
    static const char *const texts[] = {dive_light_glsl, dive_floor_vert, dive_floor_frag, dive_sprite_vert,
                                        dive_sprite_frag};
    return texts[number];
}
EMSCRIPTEN_KEEPALIVE unsigned dive_noise_side(void) { return NOISE_SIDE; }
EMSCRIPTEN_KEEPALIVE const unsigned char *dive_noise(void)
{
    static unsigned char pixels[NOISE_SIDE * NOISE_SIDE * 4];
    noise_make(pixels);
    return pixels;
}

/* How much of the rest is over before she can dash (0) or send a pulse (1) again, 0 ... 1, for the page's buttons. */
EMSCRIPTEN_KEEPALIVE float dive_ready(unsigned what)
{
    const reef_world *w = the_app.play.now.world;
    const Diver *d = reef_get(w, reef_single_get(w, Lamp)->diver, Diver);
    return 1.0f - clamp(what == 0 ? d->dash_rests / DASH_RESTS : d->pulse_rests / PULSE_RESTS, 0.0f, 1.0f);
}

/* For tests: what is going on. */
EMSCRIPTEN_KEEPALIVE unsigned dive_screen(void) { return the_app.screen; }
EMSCRIPTEN_KEEPALIVE unsigned dive_stage(void) { return reef_single_get(the_app.play.now.world, Stage)->now; }
EMSCRIPTEN_KEEPALIVE unsigned dive_tick(void) { return (unsigned)reef_tick_count(the_app.play.now.world); }
EMSCRIPTEN_KEEPALIVE unsigned dive_creatures(void) { return reef_single_get(the_app.play.now.world, Census)->enemies; }
EMSCRIPTEN_KEEPALIVE int dive_backward(void) { return the_app.backward; }
EMSCRIPTEN_KEEPALIVE unsigned dive_places(void) { return the_app.place_count; }
EMSCRIPTEN_KEEPALIVE int dive_has_ghost(void) { return the_app.play.ghost.world != NULL; }
