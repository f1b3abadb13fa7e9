/* Components that are also another component. An AxisMoving is a Moving with more data. One loop slows down everything
 * that moves, in whatever way; another loop asks only for what moves along axes. */
#include <reef.h>
#include <reef/type_info.h>
#include <reef/subtype.h>
#include <stdio.h>

typedef struct {
    float speed;
} Moving;
typedef struct {
    Moving base; /* the struct begins with the base's */
    float x, y;
} AxisMoving;
typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Moving);
REEF_SUBTYPE(AxisMoving, Moving);
REEF_COMPONENT(Position);

/* Slows down whatever moves: each Moving, and each subtype of it. */
static void slow_down(reef_world *w)
{
    for (reef_block b = reef_begin_text(w, "Moving+"); reef_next(&b);) {
        const reef_strided moving = reef_inout_sub(&b, Moving);
        for (uint32_t i = 0; i < b.count; i++) reef_sub(moving, Moving, i)->speed *= 0.5f;
    }
}

/* Moves only what moves along axes: a plain name in a query means the type itself. */
static void move_along_axes(reef_world *w)
{
    for (reef_block b = reef_begin_text(w, "Position, in AxisMoving"); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const AxisMoving *a = reef_in(&b, AxisMoving);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].x += a[i].x * a[i].base.speed;
            p[i].y += a[i].y * a[i].base.speed;
        }
    }
}

static void show(const reef_world *w, reef_entity e)
{
    const Moving *m = reef_get(w, e, Moving); /* also where it is an AxisMoving */
    const Position *p = reef_get(w, e, Position);
    reef_component is = {0};
    printf("%s:", reef_name(w, e));
    if (reef_find_sub(w, e, Moving, &is) == REEF_OK) printf(" %s with speed %g", reef_type_name(is), (double)m->speed);
    else printf(" no Moving");
    if (p) printf(" at (%g, %g)", (double)p->x, (double)p->y);
    printf("\n");
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    const reef_entity clock = reef_spawn(w, reef_with(Moving, 8));
    const reef_entity lift = reef_spawn(w, reef_with(AxisMoving, {4}, 0, 1), reef_with(Position, 3, 0));
    const reef_entity rock = reef_spawn(w, reef_with(Position, 7, 7));
    const reef_entity all[] = {clock, lift, rock};
    reef_set_name(w, clock, "clock");
    reef_set_name(w, lift, "lift");
    reef_set_name(w, rock, "rock");
    for (int round = 0; round < 3; round++) {
        printf("round %d\n", round);
        for (int i = 0; i < 3; i++) show(w, all[i]);
        slow_down(w);
        move_along_axes(w);
    }
    reef_remove(w, lift, Moving); /* it does have one: its AxisMoving */
    printf("the lift stands\n");
    show(w, lift);
    reef_world_free(w);
}
