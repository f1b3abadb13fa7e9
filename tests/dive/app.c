/* The game as a player has it, without a window: `dive_app FOLDER` begins, plays, turns time back, pauses, looks at two
 * futures, loses, saves itself by turning time back, loses again, begins again beside the ghost, ends, and goes on with
 * the dive in the folder. The folder must be empty. */
#include "app.h"
#include "reef/control.h"

#include <stdio.h>

static app a;
static int failures;

static void check(bool good, const char *what)
{
    if (good) return;
    printf("FAILED: %s (screen %d, tick %u)\n", what, (int)a.screen, (unsigned)reef_tick_count(a.play.now.world));
    failures++;
}

/* Plays so many frames with these controls held; the keys are pressed in the first one. */
static void frames(uint32_t count, uint32_t held, float x, float y)
{
    for (uint32_t i = 0; i < count; i++) {
        const controls c = {.move_x = x, .move_y = y, .held = held, .pressed = i == 0 ? held : 0};
        if (!app_frame(&a, &c, 1.0f / 60.0f, 16.0f / 9.0f)) check(false, "a frame fails");
        check(a.frame.count > 0 && a.frame.count < SPRITES_MAX && a.frame.pass_count >= 2, "a frame has sprites");
    }
}

/* A click or a tap in the middle of an item of the menu, or elsewhere. */
static void tap(uint32_t item)
{
    controls c = {.held = CONTROL_POINT, .pressed = CONTROL_POINT, .pointer_x = 0.01f, .pointer_y = 0.01f};
    if (item < a.place_count) {
        const place *p = &a.places[item];
        float half = hud_half_wide(&a);
        c.pointer_x = 0.5f + (p->x + p->wide * 0.5f) / half * 0.5f;
        c.pointer_y = 0.5f + (p->y + p->high * 0.5f - 50.0f) * a.aspect / half * 0.5f;
    }
    check(app_frame(&a, &c, 1.0f / 60.0f, 16.0f / 9.0f), "a frame fails");
}

static uint64_t tick(void) { return reef_tick_count(a.play.now.world); }
static uint32_t stage(void) { return reef_single_get(a.play.now.world, Stage)->now; }
static Diver *diver(void) { return reef_mut(a.play.now.world, reef_single_get(a.play.now.world, Lamp)->diver, Diver); }

static void play_and_look(void)
{
    frames(30, 0, 0, 0);
    check(a.screen == SCREEN_TITLE, "it begins with the title");
    frames(1, CONTROL_CONFIRM, 0, 0);
    check(a.screen == SCREEN_PLAY, "confirm starts a dive");
    frames(300, 0, 1, 0);
    frames(1, CONTROL_PULSE | CONTROL_DASH, 0, 1);
    frames(300, 0, -1, 0.5f);
    uint64_t before = tick();
    check(before > 550 && stage() == STAGE_WAVE, "time goes on");
    float air = diver()->air;
    frames(50, CONTROL_REWIND, 0, 0);
    check(tick() == before - 100 && a.backward, "time runs backward, two ticks a frame");
    frames(10, 0, 0, 0);
    check(diver()->air < air, "that costs air");
    const uint32_t owed = a.play.rewound;
    frames(1, 0, 0, 0);
    frames(10, CONTROL_REWIND, 0, 0);
    check(owed == 0 && a.play.rewound >= 120, "what was paid for is owed again when the payment is turned back");
    frames(10, 0, 0, 0);

    frames(1, CONTROL_PAUSE, 0, 0);
    before = tick();
    frames(20, 0, 1, 0);
    check(a.screen == SCREEN_PAUSE && tick() == before, "a pause");
    frames(1, 0, 0, 1);
    frames(3, 0, 0, 1);
    check(a.choice == 1, "a push of the stick is a step in a menu");
    tap(PLACES_MAX);
    check(a.screen == SCREEN_PAUSE && a.choice == 1, "a tap beside the menu does nothing");
    tap(0);
    check(a.screen == SCREEN_PLAY, "a tap on an item chooses it");
    uint64_t hash = reef_hash(a.play.now.world);
    frames(1, CONTROL_PHOTO, 0, 0);
    check(a.screen == SCREEN_PHOTO, "two futures");
    frames(60, 0, 0, 0);
    const Lamp *left = reef_single_get(a.photo.future[0].world, Lamp);
    const Lamp *right = reef_single_get(a.photo.future[1].world, Lamp);
    check(left->x != right->x || left->y != right->y, "the futures differ");
    check(reef_hash(a.play.now.world) == hash, "looking at futures changes nothing");
    frames(1, CONTROL_PHOTO, 0, 0);
}

static void lose_and_begin_again(void)
{
    frames(200, 0, 1, 0);
    diver()->air = 0.01f;
    frames(30, 0, 1, 0);
    check(stage() == STAGE_LOST, "without air the dive is lost");
    frames(40, CONTROL_REWIND, 0, 0);
    check(stage() == STAGE_WAVE, "turning time back saves her");
    frames(30, 0, 0, 0);
    diver()->air = 0.01f;
    frames(400, 0, 0, 0);
    check(stage() == STAGE_LOST && a.scores.count == 1, "lost, and in the table of scores");
    uint64_t played = a.play.inputs.count;
    frames(1, CONTROL_CONFIRM, 0, 0);
    check(stage() == STAGE_READY && tick() < 3, "a new dive at once");
    check(a.play.ghost.world != NULL && a.play.ghost_inputs.count >= played, "the last dive is its ghost");
    frames(300, 0, -1, 0);
    check(reef_tick_count(a.play.ghost.world) == tick(), "the ghost keeps up");
    frames(20, CONTROL_REWIND, 0, 0);
    check(reef_tick_count(a.play.ghost.world) == tick(), "and goes back too");
}

static void count_call(void *number) { ++*(uint32_t *)number; }

/* The inspector pauses the world and sets it back, and is told of ticks and of the end. */
static void is_watched(void)
{
    static uint32_t ticks;
    a.play.ticked = count_call, a.play.watcher = &ticks;
    frames(60, 0, 1, 0);
    check(ticks >= 59 && ticks <= 61, "each tick is told of");
    reef_snapshot *then = reef_snapshot_take(a.play.now.world);
    const uint64_t before = tick();
    frames(60, 0, -1, 0);
    const uint64_t paused = tick();
    reef_pause(a.play.now.world, true);
    frames(10, 0, 0, 0);
    frames(10, CONTROL_REWIND, 0, 0);
    check(tick() == paused && a.play.inputs.count == paused, "a paused world stands still");
    reef_pause(a.play.now.world, false);
    check(reef_restore(a.play.now.world, then) == REEF_OK, "it is set back");
    reef_snapshot_free(then);
    frames(20, 0, 1, 0);
    check(tick() > before + 15 && tick() < before + 25, "it goes on from there");
    check(a.play.inputs.count == tick(), "and so do its inputs");
    frames(30, CONTROL_REWIND, 0, 0);
    check(tick() == before, "its past begins there");
    frames(30, 0, 0, 0);
    a.play.leaves = a.play.ticked, a.play.ticked = NULL, ticks = 0;
    check(session_again(&a.play, 5) && ticks == 1, "the end of the world is told of");
}

int main(int count, char **arguments)
{
    if (count != 2) return printf("usage: dive_app FOLDER\n"), 2;
    if (!app_begin(&a, 3, NULL, arguments[1])) return printf("it doesn't begin\n"), 1;
    play_and_look();
    lose_and_begin_again();
    uint64_t last = tick();
    app_end(&a);
    if (!app_begin(&a, 4, NULL, arguments[1])) return printf("it doesn't begin again\n"), 1;
    check(session_was_loaded(&a.play) && tick() == last && a.play.inputs.seed == 3, "the dive is still there");
    check(a.scores.count == 1, "the scores too");
    frames(2, 0, 0, 0);
    frames(1, CONTROL_CONFIRM, 0, 0);
    frames(60, 0, 0, 0);
    check(tick() > last, "and it goes on");
    is_watched();
    app_end(&a);
    printf("%d failures\n", failures);
    return failures > 0;
}
