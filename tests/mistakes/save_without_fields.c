/* A component without described fields is saved. */
#include <reef.h>

typedef struct {
    int *gold;
} Loot;
REEF_COMPONENT(Loot);

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Loot, NULL));
    reef_save(w, "save_without_fields.reef", NULL);
    reef_world_free(w);
}
