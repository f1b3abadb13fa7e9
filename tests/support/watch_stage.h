/* The common fixture of the suites about the checked build's watch over systems. */
#ifndef WATCH_STAGE_H
#define WATCH_STAGE_H

#include "support.h"

typedef struct Count {
    uint32_t n;
} Count;
typedef struct Wind {
    float x, y;
} Wind;
typedef struct Bump {
    uint32_t n;
} Bump;
typedef struct Marked {
    uint32_t n;
} Marked;
REEF_COMPONENT(Count);
REEF_COMPONENT(Wind);
REEF_COMPONENT(Bump);
static const reef_hooks marked_hooks = {.track_rows = true};
REEF_COMPONENT_HOOKS(Marked, &marked_hooks);

/* What the misuse hook and the log heard. */
typedef struct heard {
    uint32_t count, logs;
    reef_status status;
    char first[512], log[256];
} heard;

static void hear(void *context, reef_status status, const char *message)
{
    heard *h = context;
    if (h->count++) return;
    h->status = status;
    snprintf(h->first, sizeof h->first, "%s", message);
}

static void hear_log(void *context, reef_log_level level, const char *message)
{
    heard *h = context;
    (void)level;
    h->logs++;
    snprintf(h->log, sizeof h->log, "%s", message);
}

static reef_world *world_heard(void **state, heard *h)
{
    memset(h, 0, sizeof *h);
    return another_world(state, &(reef_world_config){.misuse = hear, .log = hear_log, .context = h});
}

static void system_new(reef_world *w, const char *name, void (*f)(reef_block *), const char *text, void *context)
{
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = name, .function = f, .text = text, .context = context})));
}

#ifdef REEF_CHECKED

/* A tick tells of exactly this. */
static void assert_tells(reef_world *w, heard *h, reef_status status, const char *op, reef_component c, reef_entity e,
                         const char *words)
{
    h->count = 0;
    assert_ok(reef_tick(w, 1));
    const reef_error error = reef_last_error(w);
    assert_int_equal(h->count, 1);
    assert_int_equal(h->status, status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.operation, op);
    assert_string_equal(error.system, "cheat");
    assert_int_equal(error.component.id, c.id);
    assert_entity(e, error.entity);
    if (words && strstr(h->first, words) == NULL) fail_msg("\"%s\" isn't in \"%s\"", words, h->first);
    assert_valid(w);
}

enum { FISH = 5 };

/* A few entities with Position and Velocity. */
static reef_world *world_of_fish(void **state, heard *h, reef_entity *fish)
{
    reef_world *w = world_heard(state, h);
    for (uint32_t i = 0; i < FISH; i++)
        fish[i] = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Velocity, 1, 2));
    return w;
}

static reef_entity target;

#endif

#endif
