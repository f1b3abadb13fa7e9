/* The program's side of a page. All state is that of the program, of which a page has one.
 *
 * kept: a ring of snapshots, that of tick t at t % REEF_PAGE_TICKS_MAX, taken before tick t is played. They share every
 * block that wasn't written since. */
#include "reef_page.h"
#include "reef/diff.h"
#include <stdlib.h>

static struct {
    reef_world *world, *fork;
    reef_page_step step;
    reef_snapshot *kept[REEF_PAGE_TICKS_MAX];
    uint64_t world_tick[REEF_PAGE_TICKS_MAX]; /* reef_tick_count of the state that is kept there */
    uint64_t last_tick;                       /* that of the world as the page knows it */
    uint32_t first, now;
    reef_page_shape shapes[REEF_PAGE_SHAPES_MAX];
    uint32_t shape_count;
} page;

/* ---- what only a page has: functions that it gives to the program ---- */

#if defined(REEF_IN_A_PAGE)
void reef_page_take_over(void); /* doesn't return */
void reef_page_show(float width, float height);
double reef_page_slid(const char *name, double low, double high, double start);
#else
static void reef_page_take_over(void)
{
    while (reef_page_play(REEF_PAGE_WORLD)) {}
}
static void reef_page_show(float width, float height) { (void)width, (void)height; }
static double reef_page_slid(const char *name, double low, double high, double start)
{
    (void)name, (void)low, (void)high;
    return start;
}
#endif

static void keep_nothing(void)
{
    for (uint32_t i = 0; i < REEF_PAGE_TICKS_MAX; i++) {
        reef_snapshot_free(page.kept[i]);
        page.kept[i] = NULL;
    }
    page.first = page.now = 0;
}

void reef_page_run(reef_world *world, reef_page_step step)
{
    if (!world || !step) return;
    keep_nothing();
    page.world = world;
    page.step = step;
    reef_page_take_over();
    reef_page_join();
    keep_nothing();
    page.world = NULL;
}

void reef_page_view(float width, float height)
{
    if (width > 0 && height > 0) reef_page_show(width, height);
}

static void draw(reef_page_shape shape)
{
    if (page.shape_count < REEF_PAGE_SHAPES_MAX) page.shapes[page.shape_count++] = shape;
}

void reef_page_circle(float x, float y, float radius, uint32_t colour)
{
    draw((reef_page_shape){x, y, radius, 0, 0, colour});
}

void reef_page_line(float x0, float y0, float x1, float y1, float width, uint32_t colour)
{
    if (width > 0) draw((reef_page_shape){x0, y0, x1, y1, width, colour});
}

double reef_page_slider(const char *name, double low, double high, double start)
{
    return reef_page_slid(name, low, high, start);
}

/* ---- ticks ---- */

static reef_world *world_of(reef_page_side side) { return side == REEF_PAGE_WORLD ? page.world : page.fork; }

/* Where a state can't be kept, for want of memory or because the world can't be copied, there is nothing to go back to,
 * and the ticks go on. */
static void keep_state(void)
{
    reef_snapshot **place = &page.kept[page.now % REEF_PAGE_TICKS_MAX];
    reef_snapshot_free(*place);
    *place = reef_snapshot_take(page.world);
    page.world_tick[page.now % REEF_PAGE_TICKS_MAX] = reef_tick_count(page.world);
    if (!*place) page.first = page.now + 1;
    else if (page.now - page.first >= REEF_PAGE_TICKS_MAX) page.first = page.now - REEF_PAGE_TICKS_MAX + 1;
}

bool reef_page_play(reef_page_side side)
{
    reef_world *w = world_of(side);
    if (!w) return false;
    page.shape_count = 0;
    if (side == REEF_PAGE_WORLD) {
        keep_state();
        page.now++;
    }
    const bool goes_on = page.step(w);
    if (side == REEF_PAGE_WORLD) page.last_tick = reef_tick_count(w);
    return goes_on;
}

const reef_page_shape *reef_page_shapes(uint32_t *count)
{
    *count = page.shape_count;
    return page.shapes;
}

void reef_page_ticks(uint32_t *first, uint32_t *now)
{
    *first = page.first;
    *now = page.now;
}

bool reef_page_back(uint32_t tick)
{
    if (!page.world || tick < page.first || tick >= page.now) return false;
    if (reef_restore(page.world, page.kept[tick % REEF_PAGE_TICKS_MAX]) < 0) return false;
    reef_page_join();
    page.now = tick;
    page.last_tick = reef_tick_count(page.world);
    return true;
}

void reef_page_follow(void)
{
    const uint64_t tick = page.world ? reef_tick_count(page.world) : 0;
    uint32_t to = page.now;
    if (!page.world || tick >= page.last_tick) return;
    while (to > page.first && page.world_tick[(to - 1) % REEF_PAGE_TICKS_MAX] >= tick) to--;
    page.now = to;
    page.last_tick = tick;
}

bool reef_page_fork(void)
{
    reef_page_join();
    page.fork = page.world ? reef_fork(page.world) : NULL;
    return page.fork != NULL;
}

void reef_page_join(void)
{
    reef_world_free(page.fork);
    page.fork = NULL;
}

/* ---- looking inside ---- */

uint32_t reef_page_differences(void)
{
    reef_diff *diff = page.fork ? reef_diff_new(page.world, page.fork) : NULL;
    const uint32_t most = UINT32_C(1) << 20; /* indices that are told apart */
    uint8_t *seen = diff ? calloc(most / 8, 1) : NULL;
    uint32_t count = 0;
    for (const reef_change *c; seen && (c = reef_diff_next(diff)) != NULL;) {
        const uint32_t index = c->entity.index & (most - 1);
        if (seen[index / 8] >> index % 8 & 1) continue;
        seen[index / 8] = (uint8_t)(seen[index / 8] | 1u << index % 8);
        count++;
    }
    free(seen);
    reef_diff_free(diff);
    return count;
}

reef_world *reef_page_world(reef_page_side side) { return world_of(side); }
reef_page_step reef_page_step_of_run(void) { return page.world ? page.step : NULL; }

uint32_t reef_page_alive(reef_page_side side)
{
    const reef_world *w = world_of(side);
    return w ? (uint32_t)reef_count_alive(w) : 0;
}

uint64_t reef_page_hash(reef_page_side side)
{
    reef_world *w = world_of(side);
    return w ? reef_hash(w) : 0;
}
