#include "scenes.h"

typedef struct Seed {
    uint32_t state, age;
} Seed;
typedef struct Kin {
    reef_entity one;
} Kin;
typedef struct Tally {
    uint32_t changed, added, blocks, runs;
} Tally;
typedef struct Sum {
    double real;
    int64_t whole;
} Sum;
typedef struct Trail {
    uint64_t hash, events;
} Trail;
typedef struct Rate {
    uint32_t steps, late, seldom, odd;
} Rate;
typedef struct Pulse {
    int32_t beat;
} Pulse;
typedef struct Hit {
    reef_entity who;
    uint32_t n, from;
} Hit;
typedef struct Heal {
    uint32_t n;
} Heal;
static const reef_hooks pulse_rows = {.track_rows = true};
REEF_COMPONENT(Seed);
REEF_COMPONENT(Kin);
REEF_COMPONENT(Tally);
REEF_COMPONENT(Sum);
REEF_COMPONENT(Trail);
REEF_COMPONENT(Rate);
REEF_COMPONENT_HOOKS(Pulse, &pulse_rows);
REEF_COMPONENT(Hit);
REEF_COMPONENT(Heal);

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

/* True with a chance of 1 in n for an entity in this tick; the same inside and outside of systems. */
static uint32_t chance(const reef_block *b, uint32_t row, uint64_t stream, uint32_t n)
{
    reef_random r = reef_random_of(b->world, stream, b->entities[row]);
    return reef_random_u32(&r) % n;
}

/* ---- what systems want ----
 * In a tick these are commands. For the naive twin they are recorded. */

typedef enum wish_kind { WISH_SPAWN, WISH_DESTROY, WISH_ADD, WISH_REMOVE, WISH_SET, WISH_ENABLE } wish_kind;
typedef struct wish {
    wish_kind kind;
    reef_entity entity; /* index HELD_FIRST + n: the n-th that was spawned by a wish */
    reef_component type;
    bool on;
    uint32_t seed; /* of what is spawned */
    union {
        Position position;
        Health health;
        Kin kin;
        Mass mass;
    } value;
    uint32_t size;
} wish;

enum { WISHES_MAX = 200000, HELD_FIRST = 0x70000000 };

struct naive {
    const scene *scene;
    reef_world *world;
    reef_query query[32];
    wish *wishes;
    uint32_t count, spawned;
    reef_entity *made;
    Sum part; /* of the share that runs */
    uint64_t tick;
};
static naive *noting; /* the twin that runs: systems get no word about it */

static wish *note(const reef_block *b, wish_kind kind, reef_entity e)
{
    if (b->loop.job) return NULL;
    if (noting->count == WISHES_MAX) abort();
    wish *x = &noting->wishes[noting->count++];
    memset(x, 0, sizeof *x);
    x->kind = kind;
    x->entity = e;
    return x;
}

static void want_destroy(reef_block *b, reef_entity e)
{
    if (!note(b, WISH_DESTROY, e)) reef_cmd_destroy(b, e);
}

static void want_add(reef_block *b, reef_entity e, reef_component c)
{
    wish *x = note(b, WISH_ADD, e);
    if (x) x->type = c;
    else reef_cmd_add_id(b, e, c);
}

static void want_remove(reef_block *b, reef_entity e, reef_component c)
{
    wish *x = note(b, WISH_REMOVE, e);
    if (x) x->type = c;
    else reef_cmd_remove_id(b, e, c);
}

static void want_set(reef_block *b, reef_entity e, reef_component c, const void *value, uint32_t size)
{
    wish *x = note(b, WISH_SET, e);
    if (x == NULL) {
        reef_cmd_set_id(b, e, c, value, size);
        return;
    }
    x->type = c;
    memcpy(&x->value, value, size);
    x->size = size;
}

static void want_enable(reef_block *b, reef_entity e, reef_component c, bool on)
{
    wish *x = note(b, WISH_ENABLE, e);
    if (x) x->type = c, x->on = on;
    else reef_cmd_enable_id(b, e, c, on);
}

/* A Seed and a Position. */
static reef_entity want_spawn(reef_block *b, uint32_t seed, float at)
{
    wish *x = note(b, WISH_SPAWN, (reef_entity){0, 0});
    if (x == NULL) return reef_cmd_spawn(b, reef_with(Seed, seed, 0), reef_with(Position, at, 1));
    x->seed = seed;
    x->value.position = (Position){at, 1};
    return (reef_entity){HELD_FIRST + noting->spawned++, 1};
}

static Sum *part_of(const reef_block *b) { return b->loop.job ? reef_part(b, Sum) : &noting->part; }

static void add_sums(void *total, const void *part)
{
    Sum *t = total;
    const Sum *p = part;
    t->real += p->real;
    t->whole += p->whole;
}

/* ---- spawns: what splits makes more, in lanes; what is made is referred to at once ---- */

static void breed(reef_block *b)
{
    Seed *s = reef_inout(b, Seed);
    const Position *p = reef_in(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        s[i].state = mixed(s[i].state + ++s[i].age);
        if (s[i].state % 16) continue;
        const Kin kin = {want_spawn(b, s[i].state, p[i].x + 1)};
        want_set(b, b->entities[i], reef_id(Kin), &kin, sizeof kin);
        if (s[i].state % 64 == 0)
            want_set(b, kin.one, reef_id(Health), &(Health){(int32_t)s[i].age, 1}, sizeof(Health));
        if (s[i].state % 256 == 0) want_destroy(b, kin.one);
    }
}

static void bud(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        h[i].now = (int32_t)mixed((uint32_t)h[i].now + 1);
        for (uint32_t n = (uint32_t)h[i].now % 64; n < 3; n++)
            want_add(b, want_spawn(b, (uint32_t)h[i].now + n, 5), reef_id(Frozen));
    }
}

static void fade(reef_block *b)
{
    const Seed *s = reef_in(b, Seed);
    for (uint32_t i = 0; i < b->count; i++)
        if ((s[i].state >> 8) % 24 == 0) want_destroy(b, b->entities[i]);
}

static void spawns_begin(reef_world *w)
{
    for (uint32_t i = 0; i < 5000; i++) reef_spawn(w, reef_with(Seed, mixed(i), 0), reef_with(Position, (float)i, 0));
    for (uint32_t i = 0; i < 2500; i++) reef_spawn(w, reef_with(Health, (int32_t)mixed(i), 0));
    for (uint32_t i = 0; i < 300; i++) reef_destroy(w, reef_entity_at(w, i * 7)); /* ids that wait */
}

static const scene_system spawns_systems[] = {
    {"breed", "Seed, in Position; spawns Seed Position, adds Kin Health, destroys", breed, {0}},
    {"bud", "Health; spawns Seed Position, adds Frozen", bud, {0}},
    {"fade", "in Seed, !Frozen; destroys", fade, {.phase = "end"}},
    {0},
};

/* ---- destroys: several systems at once, the same entity twice ---- */

static void burn(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (chance(b, i, 1, 8) == 0) want_destroy(b, b->entities[i]);
}

static void drown(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (chance(b, i, 2, 6) == 0) want_destroy(b, b->entities[i]);
}

static void starve(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t x = chance(b, i, 3, 16);
        if (x < 2) want_remove(b, b->entities[i], reef_id(Health));
        if (x == 2) want_add(b, b->entities[i], reef_id(Mass));
        if (x == 3) want_set(b, b->entities[i], reef_id(Health), &(Health){7, (int32_t)x}, sizeof(Health));
        if (x == 4) want_destroy(b, b->entities[i]);
    }
}

static void restock(reef_world *w, uint64_t tick)
{
    const float x = (float)tick;
    reef_spawn_many(w, 600, NULL, reef_with(Position, x, 1));
    reef_spawn_many(w, 500, NULL, reef_with(Position, x, 2), reef_with(Velocity, 1, x));
    reef_spawn_many(w, 400, NULL, reef_with(Position, x, 3), reef_with(Health, 1, 2));
    reef_spawn_many(w, 300, NULL, reef_with(Position, x, 4), reef_with(Velocity, 2, x), reef_with(Health, 3, 4));
}

static void destroys_begin(reef_world *w)
{
    for (uint64_t i = 0; i < 6; i++) restock(w, i);
}

static const scene_system destroys_systems[] = {
    {"burn", "in Position; destroys", burn, {0}},
    {"drown", "in Velocity; destroys", drown, {0}},
    {"starve", "in Health; destroys, removes Health, adds Mass Health", starve, {0}},
    {0},
};

/* ---- events: from many to many, back into the next tick, in steps ---- */

static void shout(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (chance(b, i, 4, 10) == 0) reef_send(b, Hit, b->entities[i], i, 1);
}

static void cheer(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t x = chance(b, i, 5, 12);
        if (x == 0) reef_send(b, Heal, i);
        if (x == 1) reef_send(b, Hit, b->entities[i], i, 2);
    }
}

static void wound(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    reef_events r = reef_receive(b, Hit);
    for (const Hit *x; (x = reef_next_event(&r)) != NULL;)
        h[x->n % b->count].now += (int32_t)(x->from + x->who.index % 5);
}

static void mend(reef_block *b)
{
    reef_events r = reef_receive(b, Heal);
    for (const Heal *x; (x = reef_next_event(&r)) != NULL;) {
        const reef_entity e = reef_entity_at(b->world, x->n * 3);
        Health *h = reef_has(b->world, e, Health) ? reef_mut(b->world, e, Health) : NULL;
        if (h) h->most++;
        if (x->n % 50 == 0) reef_cmd_spawn(b, reef_with(Health, (int32_t)x->n, 0), reef_with(Velocity, 1, 1));
    }
}

static void gossip(reef_block *b)
{
    reef_events r = reef_receive(b, Hit);
    for (const Hit *x; (x = reef_next_event(&r)) != NULL;)
        if (x->from < 5 && x->n % 3 == 0) reef_send(b, Hit, x->who, x->n / 3, x->from + 1);
}

static void follow(reef_block *b)
{
    Trail *t = reef_single_mut(b->world, Trail);
    reef_events r = reef_receive(b, Hit);
    if (t == NULL) return;
    t->events += r.count;
    for (const Hit *x; (x = reef_next_event(&r)) != NULL;)
        t->hash = (t->hash ^ x->n ^ (uint64_t)x->from << 32 ^ reef_entity_bits(x->who)) * 0x100000001B3u;
}

static void events_begin_scene(reef_world *w)
{
    reef_single_set(w, Trail, 0, 0);
    reef_spawn_many(w, 3000, NULL, reef_with(Position, 1, 1));
    reef_spawn_many(w, 2500, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    reef_spawn_many(w, 2200, NULL, reef_with(Health, 1, 1));
}

static void post_some(reef_world *w, uint64_t tick)
{
    for (uint32_t i = 0; i < 5; i++) reef_post(w, Hit, reef_entity_at(w, i), i, (uint32_t)tick);
    if (tick == 3) reef_events_bound(w, reef_id(Heal), 200);
}

static const scene_system events_systems[] = {
    {"follow", "; receives Hit, writes Trail", follow, {.phase = "begin"}},
    {"shout", "in Position; sends Hit", shout, {0}},
    {"cheer", "in Velocity; sends Heal Hit", cheer, {0}},
    {"wound", "Health; receives Hit", wound, {0}},
    {"gossip", "; receives Hit, sends Hit", gossip, {0}},
    {"mend", "; receives Heal, writes Health, spawns Health Velocity", mend, {0}},
    {"seldom", "; receives Hit, writes Trail", follow, {.interval_ns = 40000000}},
    {"last", "; receives Hit, writes Trail", follow, {.phase = "end"}},
    {0},
};

/* ---- sums of floats that depend on their order, and random numbers ---- */

static void roam(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random r = reef_random_of(b->world, 6, b->entities[i]);
        v[i].x = v[i].x * 0.9f + reef_random_float(&r) - 0.5f;
        p[i].x += v[i].x;
        p[i].y += (float)reef_random_range(&r, -3, 3);
    }
}

static void weigh(reef_block *b)
{
    const Position *p = reef_in(b, Position);
    Sum *s = part_of(b);
    for (uint32_t i = 0; i < b->count; i++) s->real += (double)p[i].x * 1.1e-3, s->whole += (int64_t)p[i].y;
}

static void pull(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Sum *s = reef_single_get(b->world, Sum);
    for (uint32_t i = 0; i < b->count; i++) p[i].x -= (float)(s->real * 1e-4), p[i].y += (float)(s->whole % 7);
}

static void sums_begin(reef_world *w)
{
    reef_single_set(w, Sum, 0, 0);
    reef_spawn_many(w, 6200, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    reef_spawn_many(w, 1700, NULL, reef_with(Position, 2, 1), reef_with(Velocity, 1, 1), reef_tag(Hungry));
    reef_spawn_many(w, 1030, NULL, reef_with(Position, 3, 1), reef_with(Health, 1, 1));
    reef_spawn_many(w, 30, NULL, reef_with(Position, 4, 1), reef_with(Mass, 1));
}

static const scene_system sums_systems[] = {
    {"roam", "Position, Velocity", roam, {0}},
    {"weigh", "in Position; sums Sum", weigh, {.combine = add_sums}},
    {"pull", "Position; reads Sum", pull, {0}},
    {0},
};

/* ---- marks: what is enabled, what changed, what was added; of rows and of blocks ---- */

static void blink(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t x = chance(b, i, 7, 40);
        if (x == 0) want_enable(b, b->entities[i], (reef_component){0}, false);
        if (x == 1) want_enable(b, b->entities[i], reef_id(Velocity), false);
        if (x == 2) want_enable(b, b->entities[i], reef_id(Velocity), true);
        if (x == 3) want_add(b, b->entities[i], reef_id(Awake));
        if (x == 4) want_remove(b, b->entities[i], reef_id(Awake));
        if (x == 5 || x == 6) want_enable(b, b->entities[i], reef_id(Pulse), x == 6);
    }
}

static void shift(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) p[i].x += 1;
}

static void beat(reef_block *b)
{
    Pulse *p = reef_inout(b, Pulse);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) p[i].beat++;
}

static void poke(reef_block *b)
{
    for (uint32_t i = 0; i < 40; i++) {
        const reef_entity e = reef_entity_at(b->world, mixed(i + (uint32_t)reef_tick_count(b->world)) % 6000);
        Pulse *p = reef_has(b->world, e, Pulse) ? reef_mut(b->world, e, Pulse) : NULL;
        if (p) p->beat += 1000; /* NULL: no memory to make it the world's own */
    }
}

static void see_changed(reef_block *b)
{
    Tally *t = reef_inout(b, Tally);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) t[i].changed++;
}

static void see_added(reef_block *b)
{
    Tally *t = reef_inout(b, Tally);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) t[i].added++;
}

static void see_blocks(reef_block *b)
{
    Tally *t = reef_inout(b, Tally);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) t[i].blocks++;
}

static void swap_pulse(reef_block *b)
{
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++)
            if (chance(b, i, 8, 30) == 0) want_remove(b, b->entities[i], reef_id(Pulse));
}

static void gain_pulse(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (chance(b, i, 9, 30) == 0) want_add(b, b->entities[i], reef_id(Pulse));
}

static void marks_begin(reef_world *w)
{
    reef_spawn_many(w, 2600, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1), reef_with(Tally, 0, 0, 0, 0),
                    reef_with(Pulse, 1));
    reef_spawn_many(w, 2300, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1), reef_with(Tally, 0, 0, 0, 0));
    reef_spawn_many(w, 1100, NULL, reef_with(Position, 1, 1), reef_with(Tally, 0, 0, 0, 0), reef_with(Pulse, 2),
                    reef_tag(Awake));
}

static void wake_some(reef_world *w, uint64_t tick)
{
    for (uint32_t i = (uint32_t)tick % 3; i < 6000; i += 3) reef_enable(w, reef_entity_at(w, i));
}

static const scene_system marks_systems[] = {
    {"see_changed", "in changed Pulse, Tally", see_changed, {0}},
    {"blink", "in Position; enables, enables Velocity Pulse, adds Awake, removes Awake", blink, {0}},
    {"shift", "Position, Awake", shift, {0}},
    {"see_blocks", "in changed Position, Tally", see_blocks, {0}},
    {"beat", "Pulse, in Velocity", beat, {0}},
    {"poke", "; writes Pulse", poke, {0}},
    {"see_added", "with added Pulse, Tally", see_added, {0}},
    {"swap_pulse", "in Pulse; removes Pulse", swap_pulse, {0}},
    {"gain_pulse", "in Position, !Pulse; adds Pulse", gain_pulse, {0}},
    {0},
};

/* ---- others: rows of others, singletons, clones, names ---- */

static void chase(reef_block *b)
{
    const Kin *k = reef_in(b, Kin);
    for (uint32_t i = 0; i < b->count; i++) {
        const bool there = reef_is_alive(b->world, k[i].one) && reef_has(b->world, k[i].one, Position);
        Position *p = there ? reef_mut(b->world, k[i].one, Position) : NULL;
        if (p) p->x = p->x * 1.5f + (float)i;
    }
}

static void climate(reef_block *b)
{
    Sum *s = reef_single_mut(b->world, Sum);
    if (s) s->whole = s->whole * 3 + (int64_t)reef_tick_count(b->world);
}

static void feel(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    const Sum *s = reef_single_get(b->world, Sum);
    for (uint32_t i = 0; i < b->count; i++) h[i].now += (int32_t)(s->whole % 11);
}

static void divide(reef_block *b)
{
    char name[32];
    const Health *h = reef_in(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t x = chance(b, i, 10, 300);
        if (x > 4) continue;
        const reef_entity e = x < 2 ? reef_cmd_clone(b, b->entities[i]) : b->entities[i];
        snprintf(name, sizeof name, "cell%u", (unsigned)h[i].now % 100); /* taken at times: the first in order has it */
        if (x) reef_cmd_name(b, e, name);
        if (x == 4) reef_cmd_change(b, e, reef_with(Kin, b->entities[0]), reef_without(Mass));
        if (x == 3) reef_cmd_destroy(b, e);
    }
}

static void look_back(reef_block *b)
{
    Tally *t = reef_inout(b, Tally);
    for (uint32_t i = 0; i < b->count; i++) t[i].changed++;
}

static void others_begin(reef_world *w)
{
    reef_single_set(w, Sum, 0, 1);
    for (uint32_t i = 0; i < 3000; i++) {
        const reef_entity one = reef_entity_at(w, mixed(i) % (i + 1));
        reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Kin, one), reef_with(Tally, 0, 0, 0, 0));
        if (i % 2) reef_spawn(w, reef_with(Health, (int32_t)i, 1), reef_with(Mass, 1), reef_with(Kin, one));
    }
}

static const scene_system others_systems[] = {
    {"chase", "in Kin; writes Position", chase, {0}},
    {"climate", "; writes Sum", climate, {.before = "feel", .main_thread = true}},
    {"feel", "Health; reads Sum", feel, {0}},
    {"divide", "in Health; spawns, adds Kin, removes Mass, destroys, names", divide, {0}},
    {"look_back", "in changed Position, Tally", look_back, {0}},
    {"chase_again", "in Kin, in Health; writes Position", chase, {.whole = true}},
    {0},
};

/* ---- owned: values with hooks, which run on the threads of jobs ---- */

typedef struct Note {
    uint32_t *own, value;
} Note;

static reef_status note_copy(void *context, void *to, const void *from)
{
    const Note *f = from;
    Note *t = to;
    (void)context;
    uint32_t *own = f->own ? malloc(sizeof *own) : NULL;
    if (f->own && own == NULL) return REEF_NO_MEMORY;
    if (own) *own = *f->own;
    *t = (Note){own, f->value};
    return REEF_OK;
}

static void note_destroy(void *context, void *slot)
{
    (void)context;
    free(((Note *)slot)->own);
}

static const reef_hooks note_hooks = {.copy = note_copy, .destroy = note_destroy, .bytes_move = true};
REEF_COMPONENT_HOOKS(Note, &note_hooks);
REEF_FIELDS(Note, value);

static void rewrite(reef_block *b)
{
    Note *n = reef_inout(b, Note);
    for (uint32_t i = 0; i < b->count; i++) n[i].value = n[i].own ? ++*n[i].own : n[i].value + 7;
}

static void hand_out(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t own = chance(b, i, 11, 40);
        const Note mine = {&own, own};
        const reef_value value = reef_value_make(reef_id(Note), REEF_VALUE_ONE, sizeof mine, &mine);
        if (own < 3) reef_cmd_set_id(b, b->entities[i], reef_id(Note), &mine, sizeof mine);
        if (own == 3) reef_cmd_remove(b, b->entities[i], Note);
        if (own == 4) reef_cmd_clone(b, b->entities[i]);
        if (own == 5) reef_cmd_spawn_values(b, &value, 1);
        if (own == 6) reef_cmd_destroy(b, b->entities[i]);
    }
}

static void owned_begin(reef_world *w)
{
    uint32_t own = 5;
    reef_spawn_many(w, 2200, NULL, reef_with(Position, 1, 1), reef_with(Note, &own, 5));
    reef_spawn_many(w, 1500, NULL, reef_with(Position, 1, 1), reef_with(Health, 1, 1));
}

static const scene_system owned_systems[] = {
    {"rewrite", "Note", rewrite, {0}},
    {"hand_out", "in Position; spawns, adds Note, removes Note, destroys", hand_out, {0}},
    {0},
};

/* ---- rates: phases and systems with clocks of their own ---- */

static void step_rate(reef_block *b)
{
    Rate *r = reef_inout(b, Rate);
    reef_random x = reef_random_for(b, (reef_entity){0, 0});
    const uint32_t n = reef_random_u32(&x) % 5;
    for (uint32_t i = 0; i < b->count; i++) r[i].steps += n + (b->dt > 0.009f);
    reef_send(b, Hit, b->entities[0], r[0].steps, 1);
}

static void late_rate(reef_block *b)
{
    Rate *r = reef_inout(b, Rate);
    reef_events e = reef_receive(b, Hit);
    for (uint32_t i = 0; i < b->count; i++) r[i].late += (uint32_t)e.count;
    if (b->entities[0].index % 2) reef_cmd_spawn(b, reef_with(Rate, 0, 0, 0, 0), reef_with(Mass, 1));
}

static void seldom_rate(reef_block *b)
{
    Rate *r = reef_inout(b, Rate);
    for (uint32_t i = 0; i < b->count; i++) r[i].seldom++;
}

static bool is_odd(const reef_world *w, void *context)
{
    (void)context;
    return reef_tick_count(w) & 1;
}

static void odd_rate(reef_block *b)
{
    Rate *r = reef_inout(b, Rate);
    for (uint32_t i = 0; i < b->count; i++) r[i].odd += b->entities[i].index;
}

static void rates_begin(reef_world *w)
{
    reef_single_set(w, Trail, 0, 0);
    reef_spawn_many(w, 2100, NULL, reef_with(Rate, 0, 0, 0, 0), reef_with(Tally, 0, 0, 0, 0));
    reef_spawn_many(w, 1500, NULL, reef_with(Rate, 0, 0, 0, 0), reef_with(Position, 1, 1),
                    reef_with(Tally, 0, 0, 0, 0));
}

static const reef_phase_desc rates_phases[] = {
    {.name = "physics", .before = "update", .step_ns = 10000000, .steps_max = 3},
    {.name = "slow", .step_ns = 35000000},
    {0},
};

static const scene_system rates_systems[] = {
    {"step", "Rate; sends Hit", step_rate, {.phase = "physics"}},
    {"seen_in_steps", "in changed Rate, Tally", see_changed, {.phase = "physics"}},
    {"late", "Rate; receives Hit, spawns Rate Mass", late_rate, {.phase = "slow"}},
    {"seldom", "Rate", seldom_rate, {.interval_ns = 25000000}},
    {"odd", "Rate", odd_rate, {.condition = is_odd}},
    {"seen", "in changed Rate, Tally", see_blocks, {0}},
    {"follow", "; receives Hit, writes Trail", follow, {.phase = "end"}},
    {0},
};

const scene scenes[] = {
    {"spawns", 10, TWIN_BUT_IDS, NULL, spawns_systems, spawns_begin, NULL},
    {"destroys", 10, TWIN_EQUAL, NULL, destroys_systems, destroys_begin, restock},
    {"events", 10, TWIN_NONE, NULL, events_systems, events_begin_scene, post_some},
    {"sums", 10, TWIN_EQUAL, NULL, sums_systems, sums_begin, NULL},
    {"marks", 10, TWIN_EQUAL, NULL, marks_systems, marks_begin, wake_some},
    {"others", 10, TWIN_NONE, NULL, others_systems, others_begin, NULL},
    {"owned", 8, TWIN_NONE, NULL, owned_systems, owned_begin, NULL},
    {"rates", 12, TWIN_NONE, rates_phases, rates_systems, rates_begin, NULL},
};
const uint32_t scene_count = sizeof scenes / sizeof *scenes;

/* ---- ticking ---- */

bool scene_begin(const scene *s, reef_world *w)
{
    for (const reef_phase_desc *p = s->phases; p && p->name; p++)
        if (reef_phase_new(w, p) != REEF_OK) return false;
    for (const scene_system *x = s->systems; x->name; x++) {
        reef_system_desc d = x->more;
        d.name = x->name;
        d.text = x->text;
        d.function = x->function;
        if (reef_system_is_null(reef_system_new(w, &d))) {
            print_error("%s: %s %s\n", x->name, reef_status_name(reef_last_error(w).status), reef_last_error(w).detail);
            return false;
        }
    }
    s->begin(w);
    return true;
}

reef_status scene_tick(const scene *s, reef_world *w, uint64_t tick)
{
    if (s->before) s->before(w, tick);
    return reef_tick(w, 0.0166f);
}

/* ---- the naive twin ---- */

static const char *phase_of(const scene_system *x) { return x->more.phase ? x->more.phase : "update"; }

naive *naive_begin(const scene *s, reef_world *w)
{
    naive *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->scene = s;
    n->world = w;
    n->wishes = malloc(WISHES_MAX * sizeof *n->wishes);
    n->made = malloc(WISHES_MAX * sizeof *n->made);
    assert_true(n->wishes && n->made);
    for (uint32_t i = 0; s->systems[i].name; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s", s->systems[i].text);
        char *end = strchr(text, ';');
        if (end) *end = 0;
        if (text[0] == 0) continue;
        n->query[i] = reef_query_new(w, text);
        assert_query(n->query[i]);
    }
    s->begin(w);
    return n;
}

static reef_entity made_of(const naive *n, reef_entity e)
{
    return e.index >= HELD_FIRST ? n->made[e.index - HELD_FIRST] : e;
}

/* Applies them one after the other; those that fail have no effect. */
static void wishes_do(naive *n)
{
    reef_world *w = n->world;
    uint32_t spawned = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        wish *x = &n->wishes[i];
        const reef_entity e = made_of(n, x->entity);
        switch (x->kind) {
        case WISH_SPAWN:
            n->made[spawned++] = reef_spawn(w, reef_with(Seed, x->seed, 0),
                                            reef_with(Position, x->value.position.x, x->value.position.y));
            break;
        case WISH_DESTROY: reef_destroy(w, e); break;
        case WISH_ADD: reef_add_id(w, e, x->type, NULL, NULL); break;
        case WISH_REMOVE: reef_remove_id(w, e, x->type); break;
        case WISH_ENABLE: reef_enable_id(w, e, x->type, x->on); break;
        case WISH_SET:
            if (x->type.id == reef_id(Kin).id) x->value.kin.one = made_of(n, x->value.kin.one);
            reef_set_id(w, e, x->type, &x->value, x->size);
            break;
        }
    }
    n->count = n->spawned = 0;
}

/* A part of a sum ends at the first block after 1,024 rows, as jobs do. */
static void naive_run(naive *n, uint32_t number)
{
    const scene_system *x = &n->scene->systems[number];
    uint32_t rows = 0;
    Sum *total = x->more.combine ? reef_single_mut(n->world, Sum) : NULL;
    memset(&n->part, 0, sizeof n->part);
    if (reef_query_is_null(n->query[number])) {
        reef_block b;
        memset(&b, 0, sizeof b);
        b.world = n->world;
        x->function(&b);
        return;
    }
    for (reef_block b = reef_begin(n->world, n->query[number]); reef_next(&b);) {
        if (rows >= REEF_BLOCK_ROWS && total) {
            x->more.combine(total, &n->part);
            memset(&n->part, 0, sizeof n->part);
            rows = 0;
        }
        rows += b.count;
        x->function(&b);
    }
    if (rows && total) x->more.combine(total, &n->part);
}

void naive_tick(naive *n, uint64_t tick)
{
    const scene *s = n->scene;
    noting = n;
    if (s->before) s->before(n->world, tick);
    assert_ok(reef_tick(n->world, 0.0166f)); /* it has no systems: only the time goes on */
    for (uint32_t i = 0; s->systems[i].name; i++) {
        naive_run(n, i);
        if (s->systems[i + 1].name == NULL || strcmp(phase_of(&s->systems[i]), phase_of(&s->systems[i + 1])) != 0)
            wishes_do(n);
    }
    noting = NULL;
}

void naive_end(naive *n)
{
    free(n->wishes);
    free(n->made);
    free(n);
}

/* ---- what can be seen but for handles ---- */

uint64_t scene_digest(reef_world *w)
{
    /* Kin holds handles */
    static const char *const texts[] = {"in Seed", "in Position", "in Health", "Frozen", "with Kin"};
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        for (reef_block b = reef_begin_text(w, texts[k]); reef_next(&b);) {
            h = digest_bytes(h, &b.count, sizeof b.count);
            if (k < 3) h = digest_bytes(h, reef_block_in(&b, reef_type_find(texts[k] + 3)), (size_t)b.count * 8);
        }
    }
    const uint64_t alive = reef_count_alive(w);
    return digest_bytes(h, &alive, sizeof alive);
}
