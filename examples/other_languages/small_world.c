/* A small world in C, with the typed macros. small_world.lua and small_world.py do the same from LuaJIT and Python
 * with the exported functions alone. All three print the same, including the hashes of the state. */
#include <inttypes.h>
#include <reef.h>
#include <reef/type_info.h>
#include <reef/observer.h>
#include <reef/random.h>
#include <reef/file.h>
#include <reef/inspect.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    uint32_t grams;
} Mass;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Mass);
REEF_TAG(Frozen);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_FIELDS(Velocity, (x, "m/s"), (y, "m/s"));
REEF_FIELDS(Mass, (grams, "g"));

enum { FISH = 1500 };

/* A fish that swims beyond the edge is destroyed. */
static void drift(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
        if (p[i].x > 1500) reef_cmd_destroy(b, b->entities[i]);
    }
}

static uint32_t lost;
static void count_lost(const reef_notice *n) { lost += n->count; }

static bool show(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    (void)context, (void)data;
    printf("  %" PRIu32 "v%" PRIu32 " has %s, %zu bytes\n", e.index, e.generation, reef_type_name(type), size);
    return true;
}

static void show_hash(const char *when, reef_world *w) { printf("%s: %016" PRIx64 "\n", when, reef_hash(w)); }

/* Positions count up from 0, there are four speeds, and every tenth fish is frozen. */
static void populate(reef_world *w, reef_entity *fish)
{
    static Position positions[FISH];
    static Velocity velocities[FISH];
    for (int i = 0; i < FISH; i++) {
        positions[i] = (Position){(float)i, 0};
        velocities[i] = (Velocity){1, (float)(i % 4)};
    }
    reef_spawn_many(w, FISH, fish, reef_array(Position, positions), reef_array(Velocity, velocities));
    for (int i = 0; i < FISH; i += 10) reef_add(w, fish[i], Frozen);
    reef_set(w, fish[3], Mass, 250);
    reef_set_name(w, fish[3], "anna");
    reef_remove(w, fish[5], Velocity);
}

static void push(reef_world *w)
{
    reef_query q = reef_query_new(w, "Position, in Velocity, !Frozen");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) p[i].x += 8 * v[i].x;
        printf("a block of %" PRIu32 "\n", b.count);
    }
    printf("%" PRIu64 " match\n", reef_query_count(w, q));
    reef_query_free(w, q);
}

static void save_and_load(reef_world *w)
{
    reef_bytes bytes;
    reef_world *copy = reef_world_new(NULL);
    reef_save_bytes(w, &bytes, NULL);
    printf("load: %s\n", reef_status_name(reef_load_bytes(copy, bytes.data, bytes.size, NULL)));
    reef_bytes_free(&bytes);
    show_hash("loaded from memory", copy);
    reef_world_clear(copy);
    printf("save: %s\n", reef_status_name(reef_save(w, "small_world.reef", NULL)));
    printf("load: %s\n", reef_status_name(reef_load(copy, "small_world.reef", NULL)));
    printf("equal: %d\n", reef_equal(w, copy, NULL));
    reef_world_free(copy);
}

int main(void)
{
    reef_entity fish[FISH];
    reef_world *w = reef_world_new(&(reef_world_config){.seed = 7});
    populate(w, fish);
    push(w);

    reef_observe(w, count_lost, REEF_ON_REMOVE, Position);
    reef_system(w, drift, "Position, in Velocity; destroys");
    for (int i = 0; i < 3; i++) reef_tick(w, 0.5f);
    printf("%" PRIu32 " lost, %" PRIu64 " alive\n", lost, reef_count_alive(w));

    show_hash("now", w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_tick(w, 0.5f);
    show_hash("a tick later", w);
    reef_restore(w, s);
    reef_snapshot_free(s);
    show_hash("restored", w);
    save_and_load(w);

    reef_entity anna = reef_find(w, "anna");
    reef_visit_entity(w, anna, show, NULL);
    reef_random r = reef_random_of(w, 1, anna);
    const uint32_t first = reef_random_u32(&r);
    printf("random: %" PRIu32 ", %" PRId64 "\n", first, reef_random_range(&r, -5, 5));
    reef_destroy(w, anna);
    printf("destroy again: %s\n", reef_status_name(reef_destroy(w, anna)));
    char text[200];
    reef_error_text(w, text, sizeof text);
    printf("%s\n", text);
    reef_print(w, fish[7], stdout);
    reef_world_free(w);
    return 0;
}
