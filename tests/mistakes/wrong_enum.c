/* A field has the names of an enum that wasn't declared. */
#include <reef.h>

typedef enum { CALM, ANGRY } Mood;
typedef struct {
    Mood mood;
} Crab;
REEF_COMPONENT(Crab);
REEF_FIELDS(Crab, (mood, enum, Mood));

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Crab, ANGRY));
    reef_world_free(w);
}
