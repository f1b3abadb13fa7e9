/* Two declarations of one name say different things. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Position);

int main(void)
{
    reef_type_decl other = {.name = "Position", .size = 12, .align = 4};
    reef_declare(&other);
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_world_free(w);
}
