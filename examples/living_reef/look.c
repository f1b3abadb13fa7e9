/* Looking inside a run with the browser. */
#include "look.h"

#include <stdio.h>
#include <string.h>

#if defined(LIVING_REEF_INSPECT)
#include "reef_inspector.h"
#include "stop.h"
#include "reef/control.h"
#if defined(LIVING_REEF_SQL)
#include "reef_sqlite.h"
#endif

static reef_inspector *inspector;
static reef_world *inspected;

/* Plays a tick of a fork. The arrays of Sight are valid within a tick only, so a fork may use those of the world. */
static reef_status step(void *context, reef_world *w, float dt)
{
    (void)context;
    if (w != inspected) {
        Sight *sight = reef_single_mut(w, Sight);
        if (sight == NULL) return REEF_NO_MEMORY;
        *sight = *reef_single_get(inspected, Sight);
    }
    if (reef_single_get(w, Census)->fish > reef_single_get(inspected, Sight)->capacity) return REEF_LIMIT;
    return reef_tick_once(w, dt);
}

bool look_begin(ecosystem *e, const options *o)
{
    char reason[REEF_DETAIL_MAX];
    if (!o->inspect) return true;
    reef_inspector_config config = {
        .port = (uint16_t)o->inspect_port, .title = "The living reef", .writes = true, .waits = true, .step = step};
#if defined(LIVING_REEF_SQL) /* the page's prompt */
    config.sql = reef_sql_json;
#endif
    inspector = reef_inspect_why(e->world, &config, reason);
    if (inspector == NULL) {
        snprintf(e->error, sizeof e->error, "--inspect: %s", reason);
        return false;
    }
    inspected = e->world;
    fprintf(stderr, "The inspector is at %s\nThe run begins when the page is opened (Ctrl-C ends it).\n",
            reef_inspector_address(inspector));
    while (!reef_inspector_is_open(inspector) && !stop_wanted()) {
        reef_inspector_rest(inspector, 20);
        reef_inspector_update(inspector);
    }
    return true;
}

void look_tick(const ecosystem *e)
{
    if (inspector != NULL && e->world == inspected) reef_inspector_update(inspector);
}

void look_end(void)
{
    bool said = false;
    while (inspector != NULL && reef_inspector_is_open(inspector) && !stop_wanted()) {
        if (!said) fprintf(stderr, "The run has ended; the inspector stays until its page is closed.\n");
        said = true;
        reef_inspector_rest(inspector, 20);
        reef_inspector_update(inspector);
    }
    reef_inspector_free(inspector);
    inspector = NULL;
}
#else
bool look_begin(ecosystem *e, const options *o)
{
    if (!o->inspect) return true;
    snprintf(e->error, sizeof e->error, "--inspect: the inspector wasn't built: it needs threads");
    return false;
}
void look_tick(const ecosystem *e) { (void)e; }
void look_end(void) {}
#endif
