/* Looking into a program's worlds from its page: the inspector's answers, without a server.
 *
 *   page                                      program
 *   reef_page_ask(side, address, body)  ───►  an inspector of that side: 0 the world, 1 its fork
 *
 * The world is the one that ticks first, or that of reef_page_run. Its states are recorded from the first tick on, since
 * the linker gives every reef_tick to __wrap_reef_tick. When a program with a loop of its own frees its world, a fork takes
 * its place, so that the page looks into what was recorded after the program has ended. */
#include "reef/all.h"
#include "reef_inspector.h"
#include "reef_page.h"
#include "reef_sqlite.h"
#include <stdlib.h>
#include <string.h>

void reef_page_ticked(uint64_t tick); /* of the page: it may end the program */
reef_status __real_reef_tick(reef_world *w, float dt);
reef_status __real_reef_tick_once(reef_world *w, float dt);
void __real_reef_world_free(reef_world *w);
reef_status __wrap_reef_tick(reef_world *w, float dt);
reef_status __wrap_reef_tick_once(reef_world *w, float dt);
void __wrap_reef_world_free(reef_world *w);
int reef_page_ask(int side, const char *address, const char *body);
const char *reef_page_answer(void);
uint32_t reef_page_answer_size(void);
bool reef_page_may_play(void);
int reef_page_is_seen(void);

static struct {
    reef_world *world[2];
    reef_inspector *inspector[2];
    char *answer;
    size_t size, room;
    bool kept;
    bool busy; /* an answer is made: ticks of its forks aren't those of the program */
} inside;

/* What-ifs play the program's own step, if it has one. */
static reef_status step(void *context, reef_world *w, float dt)
{
    (void)context;
    const reef_page_step own = reef_page_step_of_run();
    if (own) (void)own(w);
    return own ? REEF_OK : reef_tick_once(w, dt);
}

static bool look_at(int side, reef_world *w)
{
    if (inside.world[side] == w && inside.inspector[side]) return true;
    reef_inspector_free(inside.inspector[side]);
    inside.world[side] = w;
    inside.inspector[side] = reef_inspector_new(w, &(reef_inspector_config){.title = side ? "the fork" : "the program",
                                                                            .writes = true,
                                                                            .record = true,
                                                                            .record_bytes = UINT64_C(64) << 20,
                                                                            .step = step,
                                                                            .sql = reef_sql_json});
    return inside.inspector[side] != NULL;
}

static void ticked(reef_world *w)
{
    if (inside.busy) return;
    reef_world *played = reef_page_world(REEF_PAGE_WORLD);
    if (inside.world[0] == NULL || (played && inside.world[0] != played && w == played)) (void)look_at(0, w);
    for (int side = 0; side < 2; side++)
        if (w == inside.world[side]) reef_inspector_update(inside.inspector[side]);
    if (w == inside.world[0] && !played) reef_page_ticked(reef_tick_count(w));
}

reef_status __wrap_reef_tick(reef_world *w, float dt)
{
    const reef_status s = __real_reef_tick(w, dt);
    if (s >= 0) ticked(w); /* the program may ask what went wrong, which another call would overwrite */
    return s;
}

reef_status __wrap_reef_tick_once(reef_world *w, float dt)
{
    const reef_status s = __real_reef_tick_once(w, dt);
    if (s >= 0) ticked(w);
    return s;
}

void __wrap_reef_world_free(reef_world *w)
{
    for (int side = 0; side < 2; side++) {
        if (w == NULL || w != inside.world[side]) continue;
        reef_world *after = side == 0 && !inside.busy ? reef_fork(w) : NULL;
        if (side == 1) reef_inspector_beside(inside.inspector[0], NULL);
        reef_inspector_free(after ? NULL : inside.inspector[side]);
        if (after) reef_inspector_follow(inside.inspector[side], after);
        else inside.inspector[side] = NULL;
        inside.world[side] = after;
        inside.kept |= after != NULL;
    }
    __real_reef_world_free(w);
}

/* ---- the page's questions ---- */

static reef_status keep(void *context, const void *bytes, size_t size)
{
    (void)context;
    if (inside.size + size + 1 > inside.room) {
        const size_t room = (inside.size + size + 1) * 2;
        char *more = realloc(inside.answer, room);
        if (more == NULL) return REEF_NO_MEMORY;
        inside.answer = more;
        inside.room = room;
    }
    memcpy(inside.answer + inside.size, bytes, size);
    inside.size += size;
    return REEF_OK;
}

int reef_page_ask(int side, const char *address, const char *body)
{
    reef_world *w = reef_page_world(side ? REEF_PAGE_FORK : REEF_PAGE_WORLD);
    inside.size = 0;
    if (w == NULL && side == 0) w = inside.world[0];
    if (w == NULL || !look_at(side ? 1 : 0, w)) return 503;
    reef_inspector *i = inside.inspector[side ? 1 : 0];
    inside.busy = true;
    reef_inspector_update(i); /* the page may have gone back */
    if (side == 0) reef_inspector_beside(i, reef_page_world(REEF_PAGE_FORK));
    const int status = reef_inspector_ask(i, address, *body ? body : NULL, (reef_writer){keep, NULL});
    if (side == 0) reef_page_follow();
    inside.busy = false;
    return status;
}

const char *reef_page_answer(void) { return inside.answer; }
uint32_t reef_page_answer_size(void) { return (uint32_t)inside.size; }
bool reef_page_may_play(void) { return reef_inspector_may_tick(inside.inspector[0]); }
/* 2: the world that is seen is a fork, which was made when the program freed its own. */
int reef_page_is_seen(void)
{
    if (inside.world[0] == NULL) return 0;
    return inside.kept ? 2 : 1;
}
