/* The program between the world and the screen: menus, the camera, what the keys mean. The window and the web page call
 * app_frame for each frame, draw app->frame, and play app->sounds. */
#ifndef DIVE_APP_H
#define DIVE_APP_H

#include "particles.h"
#include "scene.h"
#include "scores.h"
#include "session.h"
#include "sound.h"
#include <reef/event_reader.h>
#include <reef/pool.h>

/* What the player does, whatever device it comes from. */
enum {
    CONTROL_HOLD = 1,
    CONTROL_DASH = 2,
    CONTROL_PULSE = 4,
    CONTROL_REWIND = 8,
    CONTROL_UP = 16,
    CONTROL_DOWN = 32,
    CONTROL_LEFT = 64,
    CONTROL_RIGHT = 128,
    CONTROL_CONFIRM = 256,
    CONTROL_PAUSE = 512,
    CONTROL_PHOTO = 1024,
    CONTROL_POINT = 2048 /* a click or a touch at the pointer: chooses in menus */
};
typedef struct controls {
    float move_x, move_y;       /* -1 ... 1 */
    float aim_x, aim_y;         /* the same; both 0: the lamp follows the movement */
    bool pointer_aims;          /* the lamp follows a pointer instead; a finger doesn't aim */
    float pointer_x, pointer_y; /* of the screen, 0 ... 1 */
    uint32_t held, pressed;     /* now; since the last frame */
    bool by_touch;              /* fingers play, on buttons that the page draws */
} controls;

typedef enum app_screen { SCREEN_TITLE, SCREEN_PLAY, SCREEN_PAUSE, SCREEN_PHOTO } app_screen;

/* A menu's item, where it is drawn: so a pointer finds it. */
typedef struct place {
    float x, y, wide, high;
} place;
enum { PLACES_MAX = 8 };

typedef struct app {
    app_screen screen;
    session play;
    game demo; /* behind the title: the bot plays */
    Input demo_input;
    photo photo;
    reef_event_reader cues; /* of the world that is shown */
    reef_world *cues_of;
    reef_pool *pool;
    const char *folder;

    uint64_t seed;
    float aspect, time, behind; /* behind: seconds that aren't played yet */
    camera camera;
    particles particles;
    uint32_t choice;          /* in a menu */
    place places[PLACES_MAX]; /* of the menu in the last frame */
    uint32_t place_count;
    controls before;      /* of the last frame */
    bool backward;        /* time runs backward in this frame */
    float backward_shown; /* the same, faded */
    float banner_left;
    char banner[40];
    const char *notice; /* what the program around has to say (--hot); "" or NULL: nothing */
    bool notice_wrong;
    float shown_air, shown_score;
    scores scores;
    bool scored; /* this dive is in the table */
    bool quit;
    bool stays; /* nothing can be left: a page, which is closed instead */
    bool by_touch;
    bool blind;          /* the frame isn't needed: for scripts */
    const replay *watch; /* recorded inputs, which are played instead of the player's; NULL: none */

    sound_request sounds[SOUNDS_MAX];
    uint32_t sound_count;
    float sound_rest[SOUND_COUNT]; /* seconds until it may be heard again */
    frame frame;
} app;

/* `folder` is for the journal and the scores, and lives as long as the app; NULL: nothing is kept. False: no memory. */
bool app_begin(app *a, uint64_t seed, reef_pool *pool, const char *folder);
void app_end(app *a);
/* Plays a recording instead of what the player does, until it is at its end. It must live as long as the app. */
bool app_watch(app *a, const replay *recording);
/* False: something failed that can't go on (memory, the disk). */
bool app_frame(app *a, const controls *c, float dt, float aspect);

/* ---- hud.c: what stands over the sea ---- */

/* How long the goal is said at the beginning of a dive, then the keys, in seconds of the dive. */
enum { GOAL_SECONDS = 9, KEYS_SECONDS = 18 };
void hud_draw(app *a);
/* Half of the screen's width in the units of menus, in which a wide screen is 100 units high. */
float hud_half_wide(const app *a);

#endif
