/* A program in a web page: ticks that the page plays, drawing, sliders; going back in time and forking, by the page.
 *
 *     static bool step(reef_world *w)
 *     {
 *         reef_tick(w, 1.0f / 60);
 *         reef_page_circle(x, y, 4, 0xff7a3c);
 *         return true;
 *     }
 *     int main(void)
 *     {
 *         reef_world *w = reef_world_new(NULL);
 *         reef_page_view(320, 180);
 *         reef_page_run(w, step);
 *         reef_world_free(w);
 *     }
 *
 * On a page of reef's site, reef_page_run hands the world over: the page calls the step for each tick, keeps a snapshot
 * of each of the last ticks, goes back to one, and forks the world, so that two worlds play side by side. Elsewhere it
 * is a loop, and drawing does nothing.
 *
 * The step gets the world that it has to play, which may be a fork. So it must keep everything that matters in that
 * world, and nothing in variables of the program. It is called on one thread, which also calls everything else here. */
#ifndef REEF_PAGE_H
#define REEF_PAGE_H

#include "reef.h"

REEF_BEGIN_C

/* Plays one tick and draws. False: this was the last one. */
typedef bool (*reef_page_step)(reef_world *world);

/* Plays ticks until the step returns false. In a page it doesn't return, since the page plays from now on; elsewhere it
 * returns behind the last tick. The caller owns the world, which must live meanwhile. NULL does nothing. */
void reef_page_run(reef_world *world, reef_page_step step);

/* The part of the plane that is shown: from (0, 0), which is at the top left, to (width, height). Other values than
 * positive ones are ignored. It is 320 by 180 until it is set. */
void reef_page_view(float width, float height);
/* Draws in this tick: a disc, a line of a width. The colour is 0xRRGGBB. A line has round ends; a horizontal one that
 * is as long as it is wide is a square. What was drawn first is below. The shapes of a tick beyond REEF_PAGE_SHAPES_MAX
 * are left out. */
void reef_page_circle(float x, float y, float radius, uint32_t colour);
void reef_page_line(float x0, float y0, float x1, float y1, float width, uint32_t colour);
enum { REEF_PAGE_SHAPES_MAX = 16384 };

/* The value of a slider that the page shows below this name, which is made by the first call: `start` until somebody
 * moves it, and always elsewhere. It isn't part of the world, so a tick that is played again may see another value. The
 * name must live as long as the program. At most 8 sliders; further ones are always at `start`. */
double reef_page_slider(const char *name, double low, double high, double start);

/* ---- for the page ---- */

/* A shape as the page reads it: a disc has width 0 and its radius in x1. */
typedef struct reef_page_shape {
    float x0, y0, x1, y1, width;
    uint32_t colour;
} reef_page_shape;

/* The worlds that the page shows: that of the program, and its fork. */
typedef enum reef_page_side { REEF_PAGE_WORLD = 0, REEF_PAGE_FORK } reef_page_side;

/* The ticks whose states are kept; the oldest is dropped when there are more. */
enum { REEF_PAGE_TICKS_MAX = 600 };

/* Plays a tick of one side. False: the step says it was the last one, or there is no such side. */
bool reef_page_play(reef_page_side side);
/* What the last tick of any side drew, *count shapes. Lives until the next tick. */
const reef_page_shape *reef_page_shapes(uint32_t *count);
/* The range of ticks to which reef_page_back can go: *first to *now, that of the program's world. */
void reef_page_ticks(uint32_t *first, uint32_t *now);
/* Makes the program's world what it was after `tick` ticks. The fork ends, and so do the ticks after it. False: it
 * can't go there. */
bool reef_page_back(uint32_t tick);
/* Makes a fork, in place of an earlier one. False: no memory, or the world can't be copied. */
bool reef_page_fork(void);
/* Ends the fork. */
void reef_page_join(void);
/* How many entities of the fork aren't as in the program's world, counting those that only one of them has. 0 without a
 * fork. */
uint32_t reef_page_differences(void);
/* The world of a side, which the program owns; NULL: there is none. And the step that reef_page_run got. */
reef_world *reef_page_world(reef_page_side side);
reef_page_step reef_page_step_of_run(void);
/* The program's world was set back by somebody else: the ticks after its tick end, as with reef_page_back. */
void reef_page_follow(void);
/* Number of living entities of a side. */
uint32_t reef_page_alive(reef_page_side side);
/* The hash of a side; 0 without one. */
uint64_t reef_page_hash(reef_page_side side);

REEF_END_C

#endif
