/* A singleton, an index and a place that nobody has made, and a type that owns something in a file. */
#include <reef.h>
#include <reef/hooks.h>
#include <reef/place.h>
#include <reef/value_index.h>
#include <stdlib.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    int id;
} Team;
typedef struct {
    char *text;
} Diary;
REEF_COMPONENT(Position);
REEF_COMPONENT(Team);
REEF_FIELDS(Team, id);

static void burn(void *context, void *slot)
{
    (void)context;
    free(((Diary *)slot)->text);
}
static const reef_hooks diary = {.destroy = burn, .bytes_move = true};
REEF_COMPONENT_HOOKS(Diary, &diary);

static void count(reef_block *b)
{
    reef_indexed(b, Team, id);
    reef_single_mut(b->world, Team);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_place_of(w, Position);
    reef_single_mut(w, Team);
    reef_system(w, count, "in Position; writes Team, reads Team");
    reef_tick(w, 0.1f);
    reef_single_set(w, Position, 1, 2);
    reef_single_mut(w, Team);
    reef_add(w, reef_create(w), Diary);
    reef_save(w, "diary.reef", NULL);
    reef_world_free(w);
}
