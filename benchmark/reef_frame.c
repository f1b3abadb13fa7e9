/* reef's rows of whole frames: systems run by ticks. */
#include "kernels.h"
#include "mem.h"
#include "reef_rows.h"

/* ---- empty_system ---- */

static void step_one(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    k_step(p, b->count);
}

/* Entity i is alone in its table; system i is the only one that matches it. */
static void *empty_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        const reef_component own = tag_type(i);
        s->handle[i] =
            reef_spawn(s->w, reef_with(Position, p.x, p.y), reef_value_make(own, REEF_VALUE_DEFAULT, 0, NULL));
        char name[16], text[48];
        snprintf(name, sizeof name, "step%u", i);
        snprintf(text, sizeof text, "Position, with %s", reef_type_name(own));
        if (reef_system_is_null(reef_system_add(s->w, name, step_one, text))) bench_fail(s->w, text);
    }
    if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick"); /* makes the plan */
    for (uint32_t i = 0; i < r->n; i++) *reef_mut(s->w, s->handle[i], Position) = pos_of(i);
    return s;
}
static void empty_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++)
        if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick");
}
static uint64_t empty_sum(void *p) { return sum_by_handle(p); }

/* ---- par_heavy ---- */

enum { ROUNDS = 200 };

typedef struct frames {
    state *s;
    reef_pool *pool;
} frames;

static void frames_pool(frames *f, uint32_t threads)
{
    if (threads < 2) return;
    f->pool = reef_pool_new(&(reef_pool_config){.threads = threads});
    if (f->pool == NULL) bench_fail(NULL, "reef_pool_new");
    reef_set_pool(f->s->w, f->pool);
}

static frames *frames_new(const bench_row *r, bool handles)
{
    frames *f = mem_calloc(1, sizeof *f);
    f->s = state_new(r, handles);
    reef_world_free(f->s->w);
    f->s->w = world_new_parallel();
    return f;
}

static void frames_free(void *p)
{
    frames *f = p;
    reef_set_pool(f->s->w, NULL);
    reef_pool_free(f->pool);
    state_free(f->s);
    mem_free_unsized(f);
}

static void heavy(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        float x = p[i].x;
        for (uint32_t k = 0; k < ROUNDS; k++) x = x * 0.5f + p[i].y;
        p[i].x = x;
    }
}

static frames *heavy_setup(const bench_row *r, uint32_t threads)
{
    frames *f = frames_new(r, true);
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        f->s->handle[i] = reef_spawn(f->s->w, reef_with(Position, p.x, p.y));
    }
    frames_pool(f, threads);
    if (reef_system_is_null(reef_system(f->s->w, heavy, "Position")) || reef_tick(f->s->w, 0) != REEF_OK)
        bench_fail(f->s->w, "reef_tick");
    return f;
}
static void *heavy_1_setup(const bench_row *r) { return heavy_setup(r, 1); }
static void *heavy_2_setup(const bench_row *r) { return heavy_setup(r, 2); }
static void frames_run(void *p) { empty_run(((frames *)p)->s); }
static uint64_t heavy_sum(void *p) { return sum_by_handle(((frames *)p)->s); }
static uint64_t heavy_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        Position p = pos_of(i);
        for (uint32_t k = 0; k < (r->passes + 1) * ROUNDS; k++) p.x = p.x * 0.5f + p.y;
        sum += pos_sum(p, i);
    }
    return sum;
}

/* ---- frame_mixed: docs/rules/performance.md lists the systems ---- */

typedef struct Health {
    float now, most;
} Health;
typedef struct Angle {
    float at, speed;
} Angle;
typedef struct Age {
    uint32_t frames;
} Age;
typedef struct Hit {
    reef_entity who;
    float force;
} Hit;
typedef struct Wind {
    float x, y;
} Wind;
typedef struct Energy {
    double all;
} Energy;
REEF_COMPONENT(Health);
REEF_COMPONENT(Angle);
REEF_COMPONENT(Age);
REEF_COMPONENT(Hit);
REEF_COMPONENT(Wind);
REEF_COMPONENT(Energy);
REEF_TAG(Frozen);
REEF_TAG(Enemy);
REEF_SWITCH(Alert);

#define EACH(b) for (uint32_t i = 0; i < (b)->count; i++)

static void wind_turns(reef_block *b)
{
    Wind *w = reef_single_mut(b->world, Wind);
    *w = (Wind){w->y, -w->x};
}
static void grows_older(reef_block *b)
{
    Age *a = reef_inout(b, Age);
    EACH(b) a[i].frames++;
}
static void spins(reef_block *b)
{
    Angle *a = reef_inout(b, Angle);
    EACH(b) a[i].at += a[i].speed * b->dt;
}
static void blows(reef_block *b)
{
    const Wind w = *reef_single_get(b->world, Wind);
    Velocity *v = reef_inout(b, Velocity);
    EACH(b) v[i].x += w.x * b->dt, v[i].y += w.y * b->dt;
}
static void falls(reef_block *b)
{
    Velocity *v = reef_inout(b, Velocity);
    EACH(b) v[i].y -= 0.5f * b->dt;
}
static void drags(reef_block *b)
{
    Velocity *v = reef_inout(b, Velocity);
    EACH(b) v[i].x *= 0.5f, v[i].y *= 0.5f;
}
static void moves(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    EACH(b) p[i].x += v[i].x * b->dt, p[i].y += v[i].y * b->dt;
}
static void stays_inside(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    EACH(b)
    p[i].x = p[i].x < 0 ? 0 : p[i].x > 1024 ? 1024 : p[i].x, p[i].y = p[i].y < 0 ? 0 : p[i].y > 1024 ? 1024 : p[i].y;
}
static void heals(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    EACH(b) h[i].now += (h[i].most - h[i].now) * 0.125f;
}
static void tires(reef_block *b)
{
    Angle *a = reef_inout(b, Angle);
    EACH(b) a[i].speed *= 0.75f;
}
static void winds_up(reef_block *b)
{
    Angle *a = reef_inout(b, Angle);
    EACH(b) a[i].speed += 0.25f;
}
static void looks_out(reef_block *b)
{
    Age *a = reef_inout(b, Age);
    EACH(b) a[i].frames += 2;
}
static void thaws_slowly(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    EACH(b) h[i].now -= 0.0625f;
}
static void sums_energy(reef_block *b)
{
    const Velocity *v = reef_in(b, Velocity);
    double all = 0;
    EACH(b) all += v[i].x * v[i].x + v[i].y * v[i].y;
    reef_part(b, Energy)->all += all;
}
static void add_energy(void *total, const void *part) { ((Energy *)total)->all += ((const Energy *)part)->all; }
static void hits(reef_block *b)
{
    EACH(b)
    if (b->entities[i].index % 50 == (uint32_t)(reef_tick_count(b->world) % 50))
        (void)reef_send(b, Hit, b->entities[i], 1);
}
static void is_hurt(reef_block *b)
{
    const Hit *h;
    for (reef_events r = reef_receive(b, Hit); (h = reef_next_event(&r)) != NULL;)
        if (reef_is_alive(b->world, h->who)) reef_mut(b->world, h->who, Health)->now -= h->force;
}
static void freezes(reef_block *b)
{
    EACH(b) if (b->entities[i].index % 100 == 7) reef_cmd_add(b, b->entities[i], Frozen);
}
static void thaws(reef_block *b) { EACH(b) reef_cmd_remove(b, b->entities[i], Frozen); }
static void dies(reef_block *b)
{
    const Age *a = reef_in(b, Age);
    EACH(b) if (a[i].frames % 256 == 3)
    {
        reef_cmd_destroy(b, b->entities[i]);
        reef_cmd_spawn(b, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1), reef_with(Health, 1, 2),
                       reef_with(Age, a[i].frames + 1));
    }
}
static void counts(reef_block *b)
{
    const Health *h = reef_in(b, Health);
    double low = 0;
    EACH(b) low += h[i].now;
    reef_part(b, Energy)->all += low;
}

/* The frame's observer: it counts entities that freeze and that thaw. */
static uint64_t chilled, thawed;
static void notes(const reef_notice *n)
{
    if (n->kind == REEF_ON_ADD) chilled += n->count;
    else thawed += n->count;
}

static const reef_system_desc mixed[] = {
    {.name = "wind_turns", .function = wind_turns, .text = "; writes Wind", .phase = "begin"},
    {.name = "grows_older", .function = grows_older, .text = "Age", .phase = "begin"},
    {.name = "spins", .function = spins, .text = "Angle, !Frozen", .phase = "begin"},
    {.name = "blows", .function = blows, .text = "Velocity, !Frozen; reads Wind"},
    {.name = "falls", .function = falls, .text = "Velocity, !Frozen"},
    {.name = "drags", .function = drags, .text = "Velocity"},
    {.name = "moves", .function = moves, .text = "Position, in Velocity, !Frozen"},
    {.name = "stays_inside", .function = stays_inside, .text = "Position"},
    {.name = "heals", .function = heals, .text = "Health"},
    {.name = "tires", .function = tires, .text = "Angle, with Enemy"},
    {.name = "winds_up", .function = winds_up, .text = "Angle, !Enemy"},
    {.name = "looks_out", .function = looks_out, .text = "Age, Alert"},
    {.name = "thaws_slowly", .function = thaws_slowly, .text = "Health, with Frozen"},
    {.name = "sums_energy", .function = sums_energy, .text = "in Velocity; sums Energy", .combine = add_energy},
    {.name = "hits", .function = hits, .text = "with Enemy; sends Hit"},
    {.name = "is_hurt", .function = is_hurt, .text = "; receives Hit, writes Health", .phase = "end"},
    {.name = "freezes", .function = freezes, .text = "with Health, !Frozen; adds Frozen", .phase = "end"},
    {.name = "thaws", .function = thaws, .text = "with Frozen; removes Frozen", .phase = "end"},
    {.name = "dies",
     .function = dies,
     .text = "in Age, with Position; destroys, spawns Position Velocity Health Age",
     .phase = "end"},
    {.name = "counts", .function = counts, .text = "in Health; sums Energy", .combine = add_energy, .phase = "end"},
};

static frames *mixed_setup(const bench_row *r, uint32_t threads)
{
    frames *f = frames_new(r, false);
    reef_world *w = f->s->w;
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        const Velocity v = vel_of(i);
        const reef_entity e = reef_spawn(w, reef_with(Position, p.x, p.y), reef_with(Velocity, v.x, v.y),
                                         reef_with(Health, 1, 2), reef_with(Age, i));
        if (i % 2) reef_change(w, e, reef_with(Angle, 0, 1));
        if (i % 4 == 3) reef_add(w, e, Enemy);
        if (i % 3 == 0) reef_add(w, e, Alert);
    }
    reef_single_set(w, Wind, 1, 0);
    reef_single_set(w, Energy, 0);
    for (uint32_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++)
        if (reef_system_is_null(reef_system_new(w, &mixed[i]))) bench_fail(w, mixed[i].name);
    chilled = thawed = 0;
    if (reef_observer_is_null(reef_observe(w, notes, REEF_ON_ADD | REEF_ON_REMOVE, Frozen)))
        bench_fail(w, "reef_observe");
    frames_pool(f, threads);
    for (int i = 0; i < 3; i++)
        if (reef_tick(w, 0.0625f) != REEF_OK) bench_fail(w, "reef_tick");
    return f;
}
static void *mixed_1_setup(const bench_row *r) { return mixed_setup(r, 1); }
static void *mixed_2_setup(const bench_row *r) { return mixed_setup(r, 2); }
static void mixed_run(void *p)
{
    frames *f = p;
    for (uint32_t k = 0; k < f->s->r->passes; k++)
        if (reef_tick(f->s->w, 0.0625f) != REEF_OK) bench_fail(f->s->w, "reef_tick");
}
static uint64_t mixed_sum(void *p)
{
    reef_world *w = ((frames *)p)->s->w;
    if (chilled - thawed != reef_count(w, Frozen)) bench_fail(w, "the observer");
    return reef_hash(w) + chilled;
}

const row_impl reef_frame_rows[] = {
    {ROW_empty_system, empty_setup, empty_run, empty_sum, state_free, NULL},
    {ROW_par_heavy_1, heavy_1_setup, frames_run, heavy_sum, frames_free, heavy_expected},
    {ROW_par_heavy_2, heavy_2_setup, frames_run, heavy_sum, frames_free, NULL},
    {ROW_frame_mixed, mixed_2_setup, mixed_run, mixed_sum, frames_free, NULL},
    {0},
};

/* The same frames without a pool, instead of raw. */
const row_impl reef_alone_frame_rows[] = {
    {ROW_par_heavy_2, heavy_1_setup, frames_run, heavy_sum, frames_free, NULL},
    {ROW_frame_mixed, mixed_1_setup, mixed_run, mixed_sum, frames_free, NULL},
    {0},
};
