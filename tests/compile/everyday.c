/* All typed macros in one program, which is both C11 and C++17. Its output is everyday.expected. */
#include <reef/all.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT_AS(Target, Position);
REEF_TAG(Hungry);
REEF_SWITCH(Awake);
REEF_FIELDS(Position, (x, "m"), (y, "m"));

static void show(const reef_world *w, reef_entity e)
{
    const Position *p = reef_get(w, e, Position);
    const Velocity *v = reef_get(w, e, Velocity);
    const Target *t = reef_get(w, e, Target);
    if (p) printf("position %g %g; ", (double)p->x, (double)p->y);
    if (v) printf("velocity %g %g; ", (double)v->x, (double)v->y);
    if (t) printf("target %g %g; ", (double)t->x, (double)t->y);
    printf("%s, %s\n", reef_has(w, e, Hungry) ? "hungry" : "sated", reef_has(w, e, Awake) ? "awake" : "asleep");
}

static void change(reef_world *w, reef_entity e)
{
    reef_set(w, e, Position, 3, 4);
    reef_mut(w, e, Position)->x += 1;
    reef_change(w, e, reef_with(Target, 7, 8), reef_without(Velocity), reef_without(Hungry));
    show(w, e);
    printf("%s\n", reef_status_name(reef_add(w, e, Awake)));
    printf("%s\n", reef_status_name(reef_add(w, e, Awake)));
    printf("%s\n", reef_status_name(reef_remove(w, e, Velocity)));
    reef_ensure(w, e, Velocity)->y = 9;
    show(w, e);
}

static void many(reef_world *w)
{
    reef_entity school[4];
    Position places[4] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    Position copies[4];
    reef_spawn_many(w, 4, school, reef_array(Position, places), reef_with(Velocity, 0, 1), reef_default(Target));
    reef_query q = reef_query_new(w, "Position, in Velocity, with Target");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) p[i].y += v[i].y;
    }
    printf("%u match\n", (unsigned)reef_query_count(w, q));
    reef_query_free(w, q);
    printf("%u read\n", (unsigned)reef_get_many(w, Position, school, 4, copies));
    for (int i = 0; i < 4; i++) places[i].x = copies[i].y + 10;
    printf("%u written\n", (unsigned)reef_write_many(w, Position, school, 4, places));
    show(w, school[3]);
    q = reef_query_new(w, "Velocity, Target");
    reef_destroy_where(w, q, NULL);
    reef_query_free(w, q);
    printf("%u left\n", (unsigned)reef_count_alive(w));
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 5, 6), reef_tag(Hungry));
    show(w, e);
    change(w, e);
    many(w);
    reef_entity plain = reef_create(w);
    reef_set_name(w, plain, "plain");
    printf("%d\n", reef_entity_equal(reef_find(w, "plain"), plain));
    reef_destroy(w, plain);
    printf("%s: ", reef_status_name(reef_destroy(w, plain)));
    printf("%s\n", reef_last_error(w).operation);
    reef_world_free(w);
    return 0;
}
