/* The table of creatures. A behaviour is a component, so a creature is a list of components. Each is a prefab of the
 * world, and new ones are copies of it. */
#include "creatures.h"

const char *creature_title(uint32_t kind)
{
    static const char *const titles[] = {
#define X(name, title) title,
        CREATURES(X)
#undef X
    };
    return kind < CREATURE_COUNT ? titles[kind] : "";
}

/* ---- the table ---- */

/* A world that gets its prefabs. */
typedef struct nursery {
    reef_world *w;
    Creatures made;
    bool failed;
} nursery;

static void make(nursery *n, uint32_t kind, float radius, const reef_value *values, uint32_t count)
{
    reef_entity e = reef_spawn(n->w, reef_with(Body, radius, kind), reef_default(Wish), reef_default(Place));
    bool good = reef_change_values(n->w, e, values, count) >= 0 && reef_make_prefab(n->w, e) >= 0;
    n->made.of[kind] = e;
    n->failed = n->failed || !good;
}
#define MAKE(name, radius, ...) make(n, CREATURE_##name, radius, REEF_VALUES_(__VA_ARGS__))

static void make_small_ones(nursery *n)
{
    /* the mass: schools of little teeth */
    MAKE(NEEDLE, 0.22f, reef_tag(Enemy), reef_with(Health, .now = 1, .most = 1),
         reef_with(Swim, .speed = 3.4f, .turn = 3.0f), reef_with(School, .together = 0.35f, .along = 0.45f),
         reef_with(Seek, 0.55f), reef_with(Sting, 5), reef_with(Bounty, .points = 5, .pearls = 30));
    /* takes aim, then shoots through the water */
    MAKE(DARTER, 0.38f, reef_tag(Enemy), reef_with(Health, .now = 3, .most = 3),
         reef_with(Swim, .speed = 3.0f, .turn = 4.0f), reef_with(Seek, 0.8f),
         reef_with(Charge, .range = 9, .aim = 0.7f, .rush = 0.7f, .speed = 15, .rest = 2.5f), reef_with(Sting, 9),
         reef_with(Bounty, .points = 20, .pearls = 35));
    /* soft and slow; becomes four */
    MAKE(JELLY, 0.80f, reef_tag(Enemy), reef_with(Health, .now = 7, .most = 7),
         reef_with(Swim, .speed = 1.5f, .turn = 1.5f), reef_with(Drift, .weight = 0.6f), reef_with(Seek, 0.5f),
         reef_with(Split, .kind = CREATURE_JELLET, .count = 4), reef_with(Sting, 8),
         reef_with(Bounty, .points = 25, .pearls = 20));
    MAKE(JELLET, 0.35f, reef_tag(Enemy), reef_with(Health, .now = 1, .most = 1),
         reef_with(Swim, .speed = 2.4f, .turn = 2.0f), reef_with(Drift, .weight = 0.9f), reef_with(Seek, 0.7f),
         reef_with(Sting, 4), reef_with(Bounty, .points = 8, .pearls = 15));
    /* armoured: its shell takes the harpoons, and grows again */
    MAKE(PINCER, 0.55f, reef_tag(Enemy), reef_with(Health, .now = 5, .most = 5),
         reef_with(Shell, .now = 7, .most = 7, .grows = 1.0f), reef_with(Swim, .speed = 2.0f, .turn = 3.0f),
         reef_with(Seek, 0.9f), reef_with(Sting, 12), reef_with(Bounty, .points = 40, .pearls = 70));
    /* quick, and afraid of the light: it comes from behind */
    MAKE(SHADE, 0.42f, reef_tag(Enemy), reef_with(Health, .now = 3, .most = 3),
         reef_with(Swim, .speed = 5.6f, .turn = 3.5f), reef_with(Seek, 0.9f), reef_with(Shun, 2.2f),
         reef_with(School, .together = 0.1f, .along = 0.2f), reef_with(Sting, 9),
         reef_with(Bounty, .points = 30, .pearls = 40));
    /* a mine that drifts; sets off its neighbours */
    MAKE(URCHIN, 0.50f, reef_tag(Enemy), reef_with(Health, .now = 4, .most = 4),
         reef_with(Swim, .speed = 1.3f, .turn = 1.0f), reef_with(Drift, .weight = 0.5f), reef_with(Seek, 0.6f),
         reef_with(Burst, .radius = 3.6f, .damage = 14, .fuse = 0.8f, .clock = 0.8f),
         reef_with(Bounty, .points = 25, .pearls = 30));
}

static void make_middle_ones(nursery *n)
{
    /* keeps away from the light and lays eggs in the dark */
    MAKE(BROODER, 0.75f, reef_tag(Enemy), reef_with(Health, .now = 16, .most = 16),
         reef_with(Swim, .speed = 2.6f, .turn = 2.0f), reef_with(Orbit, .distance = 15, .weight = 1.0f, .side = 1),
         reef_with(Shun, 1.2f), reef_with(Lay, .kind = CREATURE_EGG, .every = 3.5f, .clock = 2), reef_with(Sting, 6),
         reef_with(Bounty, .points = 80, .pearls = 200));
    MAKE(EGG, 0.40f, reef_tag(Enemy), reef_with(Health, .now = 4, .most = 4),
         reef_with(Swim, .speed = 0.3f, .turn = 1.0f),
         reef_with(Hatch, .kind = CREATURE_NEEDLE, .count = 7, .clock = 6),
         reef_with(Bounty, .points = 15, .pearls = 20));
    /* heals the others; stays behind them */
    MAKE(CLEANER, 0.36f, reef_tag(Enemy), reef_with(Health, .now = 4, .most = 4),
         reef_with(Swim, .speed = 3.6f, .turn = 3.0f), reef_with(Orbit, .distance = 11, .weight = 0.8f, .side = -1),
         reef_with(School, .together = 0.2f, .along = 0.2f),
         reef_with(Heal, .radius = 5, .health = 2, .every = 1.2f, .clock = 1),
         reef_with(Bounty, .points = 40, .pearls = 60));
    /* keeps its distance and spits */
    MAKE(SPITTER, 0.55f, reef_tag(Enemy), reef_with(Health, .now = 6, .most = 6),
         reef_with(Swim, .speed = 2.8f, .turn = 2.5f), reef_with(Orbit, .distance = 9, .weight = 1.0f, .side = 1),
         reef_with(Spit, .every = 2.6f, .clock = 2, .speed = 7, .air = 7, .count = 1), reef_with(Sting, 6),
         reef_with(Bounty, .points = 45, .pearls = 80));
    /* goes for the tether */
    MAKE(LEECH, 0.30f, reef_tag(Enemy), reef_with(Health, .now = 2, .most = 2),
         reef_with(Swim, .speed = 4.2f, .turn = 3.0f), reef_with(Gnaw, .air = 1.6f),
         reef_with(School, .together = 0.1f, .along = 0.1f), reef_with(Bounty, .points = 20, .pearls = 30));
    /* a shell, an explosion, and what was inside */
    MAKE(PUFFER, 0.85f, reef_tag(Enemy), reef_with(Health, .now = 10, .most = 10),
         reef_with(Shell, .now = 5, .most = 5, .grows = 0.5f), reef_with(Swim, .speed = 2.0f, .turn = 2.0f),
         reef_with(Seek, 0.9f), reef_with(Burst, .radius = 4.5f, .damage = 16, .fuse = 1.2f, .clock = 1.2f),
         reef_with(Split, .kind = CREATURE_DARTER, .count = 4), reef_with(Sting, 6),
         reef_with(Bounty, .points = 70, .pearls = 150));
    /* eats the peaceful fish; then it comes for the diver */
    MAKE(WOLF, 0.60f, reef_tag(Enemy), reef_tag(Hunter), reef_with(Health, .now = 9, .most = 9),
         reef_with(Swim, .speed = 4.8f, .turn = 3.0f), reef_with(School, .together = 0.2f, .along = 0.3f),
         reef_with(Seek, 0.25f), reef_with(Sting, 9), reef_with(Bounty, .points = 50, .pearls = 90));
}

static void make_bosses(nursery *n)
{
    MAKE(MATRON, 2.0f, reef_tag(Enemy), reef_tag(Boss), reef_with(Health, .now = 170, .most = 170),
         reef_with(Shell, .now = 24, .most = 24, .grows = 1.5f), reef_with(Swim, .speed = 3.0f, .turn = 1.6f),
         reef_with(Orbit, .distance = 10, .weight = 0.9f, .side = 1),
         reef_with(Lay, .kind = CREATURE_EGG, .every = 1.7f, .clock = 1),
         reef_with(Charge, .range = 16, .aim = 1.1f, .rush = 1.2f, .speed = 13, .rest = 4), reef_with(Sting, 16),
         reef_with(Bounty, .points = 2000, .pearls = 3000));
    MAKE(LANTERN, 2.3f, reef_tag(Enemy), reef_tag(Boss), reef_with(Health, .now = 380, .most = 380),
         reef_with(Swim, .speed = 4.2f, .turn = 2.0f), reef_with(Orbit, .distance = 11, .weight = 0.8f, .side = -1),
         reef_with(Shun, 0.7f), reef_with(Spit, .every = 1.5f, .clock = 2, .speed = 6, .air = 7, .count = 18),
         reef_with(Heal, .radius = 8, .health = 3, .every = 1.5f, .clock = 1),
         reef_with(Charge, .range = 14, .aim = 0.8f, .rush = 0.9f, .speed = 17, .rest = 5), reef_with(Sting, 16),
         reef_with(Bounty, .points = 4000, .pearls = 4000));
    MAKE(LEVIATHAN, 2.2f, reef_tag(Enemy), reef_tag(Boss), reef_with(Health, .now = 520, .most = 520),
         reef_with(Swim, .speed = 6.0f, .turn = 1.3f), reef_with(Seek, 1.0f),
         reef_with(Charge, .range = 18, .aim = 0.9f, .rush = 1.6f, .speed = 16, .rest = 3.5f), reef_with(Sting, 18),
         reef_with(Bounty, .points = 8000, .pearls = 5000));
    /* the leviathan's body */
    MAKE(SEGMENT, 1.5f, reef_tag(Enemy), reef_with(Health, .now = 60, .most = 60),
         reef_with(Shell, .now = 10, .most = 10, .grows = 2), reef_with(Swim, .speed = 18.0f, .turn = 12.0f),
         reef_with(Spit, .every = 3.4f, .clock = 3, .speed = 6, .air = 6, .count = 3),
         reef_with(Burst, .radius = 4.0f, .damage = 14, .fuse = 1e9f, .clock = 1e9f), reef_with(Sting, 12),
         reef_with(Bounty, .points = 300, .pearls = 300));
}

static void make_bystanders(nursery *n)
{
    MAKE(WRASSE, 0.25f, reef_tag(Bystander), reef_with(Health, .now = 2, .most = 2),
         reef_with(Swim, .speed = 2.2f, .turn = 3.0f), reef_with(School, .together = 0.35f, .along = 0.5f),
         reef_with(Drift, .weight = 0.6f), reef_with(Timid, 2.0f));
    MAKE(TANG, 0.32f, reef_tag(Bystander), reef_with(Health, .now = 3, .most = 3),
         reef_with(Swim, .speed = 1.8f, .turn = 2.5f), reef_with(School, .together = 0.5f, .along = 0.3f),
         reef_with(Drift, .weight = 0.5f), reef_with(Timid, 1.6f));
}

bool creatures_make(reef_world *w)
{
    nursery n = {.w = w};
    make_small_ones(&n);
    make_middle_ones(&n);
    make_bosses(&n);
    make_bystanders(&n);
    return !n.failed && reef_single_set_id(w, reef_id(Creatures), &n.made, sizeof n.made) >= 0;
}

reef_entity creature_spawn(reef_block *b, uint32_t kind, vec at, vec v)
{
    const Creatures *all = reef_single_get(b->world, Creatures);
    return reef_cmd_instantiate_with(b, all->of[kind], reef_with(Position, at.x, at.y), reef_with(Velocity, v.x, v.y));
}
