/* A robot arm: each part has a place relative to its parent, and a system works out where everything is in the world,
 * parents first. The gripper picks up a box by becoming its parent. Turns are quarters, so all numbers are whole. */
#include <reef.h>
#include <reef/hierarchy.h>
#include <reef/column.h>
#include <stdio.h>

typedef struct {
    int turn; /* quarter turns, against the clock, of the part's joint */
    int x, y; /* where the joint is, seen from the parent */
} Joint;
typedef struct {
    int turn, x, y;
} InWorld;
REEF_COMPONENT(Joint);
REEF_COMPONENT(InWorld);

static InWorld placed(InWorld parent, Joint joint)
{
    static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
    const int c = cosine[parent.turn], s = sine[parent.turn];
    return (InWorld){(parent.turn + joint.turn) & 3, parent.x + c * joint.x - s * joint.y,
                     parent.y + s * joint.x + c * joint.y};
}

/* All rows of a block are equally deep, and the places of their parents are an array. */
static void place_parts(reef_block *b)
{
    InWorld *world = reef_inout(b, InWorld);
    const Joint *joint = reef_in(b, Joint);
    const InWorld *up = reef_parents_in(b, InWorld), ground = {0, 0, 0};
    const uint32_t *parent = reef_block_parent_rows(b);
    for (uint32_t i = 0; i < b->count; i++) world[i] = placed(up ? up[parent[i]] : ground, joint[i]);
}

static reef_entity part(reef_world *w, reef_entity parent, const char *name, Joint joint)
{
    const reef_entity e = reef_spawn(w, reef_with(Joint, joint.turn, joint.x, joint.y), reef_with(InWorld, 0, 0, 0));
    if (!reef_entity_is_null(parent)) reef_relate(w, e, ChildOf, parent);
    reef_set_name(w, e, name);
    return e;
}

static void show(reef_world *w, const char *what, const char *path)
{
    reef_tick(w, 1);
    const InWorld *at = reef_get(w, reef_find(w, path), InWorld);
    printf("%-22s %-28s at %d, %d\n", what, path, at->x, at->y);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    const reef_entity ground = {0, 0};
    reef_entity base = part(w, ground, "base", (Joint){0, 0, 0}), arm = part(w, base, "arm", (Joint){1, 0, 2});
    reef_entity elbow = part(w, arm, "elbow", (Joint){3, 5, 0}), gripper = part(w, elbow, "gripper", (Joint){0, 4, 0});
    reef_entity box = part(w, ground, "box", (Joint){0, 4, 7});
    reef_system(w, place_parts, "InWorld, in Joint, cascade(ChildOf)");

    show(w, "the arm points up", "base.arm.elbow.gripper");
    show(w, "a box", "box");

    reef_relate(w, box, ChildOf, gripper); /* picked up */
    reef_set(w, box, Joint, 0, 0, 0);
    show(w, "the gripper has the box", "base.arm.elbow.gripper.box");

    reef_mut(w, elbow, Joint)->turn = 0;
    show(w, "the elbow is straight", "base.arm.elbow.gripper.box");
    reef_mut(w, base, Joint)->turn = 1;
    show(w, "the base turns", "base.arm.elbow.gripper.box");

    const InWorld at = *reef_get(w, box, InWorld);
    reef_unrelate(w, box, ChildOf, gripper); /* put down where it is */
    reef_set(w, box, Joint, at.turn, at.x, at.y);
    reef_mut(w, base, Joint)->turn = 0;
    show(w, "the base turns back", "base.arm.elbow.gripper");
    show(w, "the box stays", "box");

    reef_destroy(w, arm); /* with elbow and gripper */
    printf("left: %d parts\n", (int)reef_count(w, Joint));
    reef_world_free(w);
}
