/* Prints digests of what places answer: the same however reef.c was compiled (tests/compile/places). */
#include "reef.h"
#include <inttypes.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Spot;
typedef struct {
    double x, y, z;
} Star;
typedef struct {
    float r;
} Ball;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Star);
REEF_COMPONENT(Ball);
REEF_FIELDS(Spot, x, y);
REEF_FIELDS(Star, x, y, z);
REEF_FIELDS(Ball, r);
REEF_PLACE(Spot, x, y, .cell = 1.7, .edges = {{0, 40}, {-3.3, 35.1}}, .radius = "Ball.r");
REEF_PLACE_3D(Star, x, y, z, .cell = 3);

enum { ENTITIES = 4000, QUESTIONS = 3000, ROOM = 256 };
static uint64_t seed = 1;
static double drawn(double from, double to)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(seed >> 40) / (double)(1 << 24);
}

static uint64_t sum;
static void add(uint64_t x) { sum = (sum ^ x) * 0x9E3779B97F4A7C15u + (sum >> 29); }
static void add_found(const reef_near *near, uint32_t n)
{
    add(n);
    for (uint32_t i = 0; i < n && i < ROOM; i++) {
        uint64_t bits;
        memcpy(&bits, &near[i].squared, 8);
        add(near[i].entity.index);
        add(bits);
    }
}
static void add_pairs(const reef_pair *pairs, uint32_t count, uint32_t part, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &pairs[i].squared, 8);
        add(part);
        add((uint64_t)pairs[i].lower.index << 32 | pairs[i].higher.index);
        add(bits);
    }
}

static void ask(const reef_place *p, const char *name, double size)
{
    static reef_near near[ROOM];
    sum = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        reef_place_ask a = {.radius = drawn(0, size / 8)};
        for (uint32_t k = 0; k < 3; k++) a.at[k] = drawn(-1, size), a.end[k] = a.at[k] + drawn(0, size / 2);
        add_found(near, reef_place_within(p, &a, near, ROOM));
        add_found(near, reef_place_nearest(p, &a, near, 9));
        add_found(near, reef_place_box(p, &a, near, ROOM));
        add(reef_place_hit(p, &a).entity.index);
    }
    printf("%s: %016" PRIx64, name, sum);
    (void)reef_place_pairs_each(p, &(reef_place_pairs){.distance = size / 60, .found = add_pairs});
    printf(" and %016" PRIx64 "\n", sum);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const double x = drawn(0, 40), y = drawn(0, 40), z = drawn(0, 40);
        const reef_entity e = reef_spawn(w, reef_with(Spot, (float)x, (float)y));
        if (i % 3 == 0) reef_set(w, e, Ball, (float)drawn(0, 0.5));
        if (i % 2) reef_set(w, e, Star, x / 3, y / 3, z / 3);
    }
    ask(reef_place_of(w, Spot), "spots", 40);
    ask(reef_place_of(w, Star), "stars", 14);
    reef_world_free(w);
    return 0;
}
