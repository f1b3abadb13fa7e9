/* What if? A meadow of rabbits is forked, and a fox comes into one of the two futures. They run at the same time, each
 * on a thread of its own, and are compared at the end. Nothing that happens in one can be seen in the other. */
#include <reef.h>
#include <reef/many.h>
#include <reef/loop_settings.h>
#include <stdio.h>
#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

enum { DAYS = 40, BIRTHS_MAX = 1000 };

typedef struct {
    int32_t energy;
} Rabbit;
typedef struct {
    int32_t meals;
} Fox;
REEF_COMPONENT(Rabbit);
REEF_COMPONENT(Fox);

/* Rabbits graze and grow. A rabbit that is strong enough has a young one, as long as there is grass for it. */
static void graze(reef_world *w, reef_query rabbits)
{
    int64_t grass = 500 - (int64_t)reef_query_count(w, rabbits);
    uint32_t births = 0;
    for (reef_block b = reef_begin(w, rabbits); reef_next(&b);) {
        Rabbit *r = reef_inout(&b, Rabbit);
        for (uint32_t i = 0; i < b.count; i++) {
            if (++r[i].energy < 8 || births >= BIRTHS_MAX || (int64_t)births >= grass) continue;
            r[i].energy = 0;
            births++;
        }
    }
    if (births) reef_spawn_many(w, births, NULL, reef_with(Rabbit, 0)); /* this isn't allowed while the loop is open */
}

/* A fox eats the first rabbit that it meets, and a second one when it isn't full yet. */
static void hunt(reef_world *w, reef_query foxes, reef_query rabbits)
{
    reef_entity prey[2];
    uint32_t caught = 0;
    if (reef_query_count(w, foxes) == 0) return;
    for (reef_block meadow = reef_begin_loop(w, rabbits, &(reef_loop){.limit = 2}); reef_next(&meadow);)
        for (uint32_t i = 0; i < meadow.count; i++) prey[caught++] = meadow.entities[i];
    reef_destroy_many(w, prey, caught);
    for (reef_block b = reef_begin(w, foxes); reef_next(&b);) reef_inout(&b, Fox)->meals += (int32_t)caught;
}

typedef struct future {
    reef_world *world;
    unsigned rabbits[DAYS + 1]; /* the number on each day */
} future;

static void *live(void *of)
{
    future *f = of;
    reef_query rabbits = reef_query_new(f->world, "Rabbit"), foxes = reef_query_new(f->world, "Fox");
    for (int day = 0;; day++) {
        f->rabbits[day] = (unsigned)reef_query_count(f->world, rabbits);
        if (day == DAYS) break;
        graze(f->world, rabbits);
        hunt(f->world, foxes, rabbits);
    }
    reef_query_free(f->world, rabbits);
    reef_query_free(f->world, foxes);
    return NULL;
}

static void live_at_the_same_time(future *a, future *b)
{
#ifdef REEF_NO_THREADS
    live(b);
    live(a);
#else
    pthread_t thread;
    if (pthread_create(&thread, NULL, live, b) != 0) {
        live(b); /* then one after the other; the results are the same */
        live(a);
        return;
    }
    live(a);
    pthread_join(thread, NULL);
#endif
}

int main(void)
{
    reef_world *meadow = reef_world_new(NULL);
    reef_entity hazel = reef_spawn(meadow, reef_with(Rabbit, 3));
    reef_set_name(meadow, hazel, "Hazel");
    for (int i = 0; i < 19; i++) reef_spawn(meadow, reef_with(Rabbit, i % 8));
    reef_snapshot *today = reef_snapshot_take(meadow); /* the state to return to */

    future calm = {.world = meadow}, wild = {.world = reef_fork(meadow)};
    reef_entity fox = reef_spawn(wild.world, reef_with(Fox, 0));
    live_at_the_same_time(&calm, &wild);

    printf("rabbits   without a fox   with a fox\n");
    for (int day = 0; day <= DAYS; day += 8)
        printf("day %2d    %13u   %10u\n", day, calm.rabbits[day], wild.rabbits[day]);
    printf("the fox had %d meals; in the other future it %s\n", (int)reef_get(wild.world, fox, Fox)->meals,
           reef_count(calm.world, Fox) ? "is there too" : "never came");
    printf("Hazel lives without the fox: %s, with it: %s\n", reef_is_alive(calm.world, hazel) ? "yes" : "no",
           reef_is_alive(wild.world, hazel) ? "yes" : "no");
    printf("the two futures are %s\n", reef_hash(calm.world) == reef_hash(wild.world) ? "the same" : "different");

    /* The wild world goes back to today, and this time the fox stays away. */
    reef_restore(wild.world, today);
    live(&wild);
    printf("played again without the fox: %s\n",
           reef_hash(calm.world) == reef_hash(wild.world) ? "the same" : "different");

    reef_snapshot_free(today);
    reef_world_free(calm.world);
    reef_world_free(wild.world);
    return 0;
}
