/* Fireworks: rockets rise and burst into sparks, which fall and go out. There are five systems, each with a text that
 * says what it touches. From these texts reef finds out which systems may run at the same time, and it splits systems
 * into jobs for several threads. The sky is the same for every number of threads. */
#include <reef.h>
#include <reef/random.h>
#include <reef/pool.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    int32_t ticks;
} Fuse;
typedef struct {
    float y;
} Gravity; /* a singleton */
typedef struct {
    uint32_t bangs, most; /* in all ticks, and the most in one tick */
} Heard;                  /* a singleton */
typedef struct {
    float height;
} Bang; /* an event */
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Fuse);
REEF_COMPONENT(Gravity);
REEF_COMPONENT(Heard);
REEF_COMPONENT(Bang);
REEF_TAG(Rocket);

enum { ROCKETS = 3000, SPARKS = 20, TICKS = 120 };

static void fall(reef_block *b)
{
    const Gravity *g = reef_single_get(b->world, Gravity);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) v[i].y += g->y * b->dt;
}

static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
    }
}

static void burn(reef_block *b)
{
    Fuse *fuse = reef_inout(b, Fuse);
    for (uint32_t i = 0; i < b->count; i++)
        if (--fuse[i].ticks == 0) reef_cmd_destroy(b, b->entities[i]);
}

static void burst(reef_block *b)
{
    const Position *p = reef_in(b, Position);
    const Fuse *fuse = reef_in(b, Fuse);
    for (uint32_t i = 0; i < b->count; i++) {
        if (fuse[i].ticks > 0) continue;
        reef_random r = reef_random_for(b, b->entities[i]);
        for (int k = 0; k < SPARKS; k++) {
            float dx = reef_random_float(&r) - 0.5f, dy = reef_random_float(&r) - 0.5f;
            reef_cmd_spawn(b, reef_with(Position, p[i].x, p[i].y), reef_with(Velocity, dx * 30, dy * 30),
                           reef_with(Fuse, 30 + k));
        }
        reef_send(b, Bang, p[i].y);
    }
}

static void hear(reef_block *b)
{
    Heard *heard = reef_single_mut(b->world, Heard);
    reef_events bangs = reef_receive(b, Bang);
    heard->bangs += (uint32_t)bangs.count;
    if (bangs.count > heard->most) heard->most = (uint32_t)bangs.count;
}

/* Returns the hash of the world after all ticks. */
static uint64_t play(uint32_t threads, bool tell)
{
    reef_world *w = reef_world_new(&(reef_world_config){.seed = 31});
    reef_pool *pool = threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = threads}) : NULL;
    reef_set_pool(w, pool);
    reef_single_set(w, Gravity, -9.81f);
    reef_single_set(w, Heard, 0, 0);
    reef_system(w, fall, "Velocity; reads Gravity");
    reef_system(w, move, "Position, in Velocity");
    reef_system(w, burn, "Fuse; destroys");
    reef_system(w, burst, "in Position, in Fuse, with Rocket; spawns Position Velocity Fuse, sends Bang");
    reef_system(w, hear, "; receives Bang, writes Heard");
    for (int i = 0; i < ROCKETS; i++)
        reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Velocity, 0, 60), reef_with(Fuse, 30 + i % 60),
                   reef_tag(Rocket));
    for (int t = 1; t <= TICKS; t++) {
        reef_tick(w, 1.0f / 30.0f);
        if (tell && t % 30 == 0)
            printf("tick %d: %u in the sky, %u bangs so far\n", t, (unsigned)reef_count_id(w, reef_id(Fuse)),
                   (unsigned)reef_single_get(w, Heard)->bangs);
    }
    if (tell) printf("at most %u bangs in a tick\n", (unsigned)reef_single_get(w, Heard)->most);
    const uint64_t hash = reef_hash(w);
    reef_world_free(w);
    reef_pool_free(pool);
    return hash;
}

int main(void)
{
    const uint64_t alone = play(1, true);
    for (uint32_t threads = 2; threads <= 4; threads++)
        printf("on %u threads: %s\n", (unsigned)threads,
               play(threads, false) == alone ? "the same sky" : "another sky");
    return 0;
}
