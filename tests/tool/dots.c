/* The rules of a game for the test of `reef replay`, as a library: dots that two players push. With OTHER_RULE one
 * system gives one unit in the last place more. */
#include "reef_hot.h"
#include "reef_net_recording.h"
#include <math.h>
#include <reef.h>
#include <reef/all.h>

typedef struct Dot {
    float at[2], speed;
    int8_t player;
} Dot;
typedef struct Keys {
    int8_t push;
} Keys;
REEF_COMPONENT(Dot);
REEF_FIELDS(Dot, (at, "m"), speed, player);
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, (push, "", -1, 1));

/* A system with a context has the other rule. */
static void slide(reef_block *b)
{
    Dot *d = reef_inout(b, Dot);
    for (uint32_t i = 0; i < b->count; i++) {
        d[i].at[1] += d[i].speed * b->dt;
        if (b->context && d[i].speed > 2) d[i].at[1] = nextafterf(d[i].at[1], 1e9f);
    }
}

static void slow_down(reef_block *b)
{
    Dot *d = reef_inout(b, Dot);
    for (uint32_t i = 0; i < b->count; i++) d[i].speed *= 0.9f;
}

static reef_status load_rules(reef_world *w, bool other)
{
    static int flag;
    const reef_system_desc slides = {
        .name = "slide", .function = slide, .text = "Dot", .context = other ? (void *)&flag : NULL};
    return reef_system_is_null(reef_system_new(w, &slides)) || reef_system_is_null(reef_system(w, slow_down, "Dot"))
               ? REEF_BAD_ARGUMENT
               : REEF_OK;
}

static reef_status step(void *context, reef_world *w, const reef_net_tick *t)
{
    uint32_t there = 0;
    (void)context;
    for (reef_block b = reef_begin_text(w, "Dot"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            Dot *d = &reef_inout(&b, Dot)[i];
            const Keys *k = t->input[d->player];
            d->speed += k ? k->push : 0;
            there |= 1u << d->player;
        }
    for (int8_t p = 0; p < 2; p++)
        if (t->players >> p & 1 && !(there >> p & 1)) (void)reef_spawn(w, reef_with(Dot, {0, p}, 0, p));
    return reef_tick(w, 1.0f / 60);
}

#if defined(DOTS_LIBRARY)
static reef_status load(reef_world *w, void *context)
{
    (void)context;
#if defined(OTHER_RULE)
    return load_rules(w, true);
#else
    return load_rules(w, false);
#endif
}

static const reef_module dots = {.name = "dots", .version = 1, .load = load};
REEF_HOT_LIBRARY(&dots);
REEF_NET_RULES(step, Keys);
#endif
