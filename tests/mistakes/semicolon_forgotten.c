/* In a system's text a comma stands where the semicolon should. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float kg;
} Mass;
REEF_COMPONENT(Position);
REEF_COMPONENT(Mass);

static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    p->x += 1;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_system(w, move, "Position, reads Mass");
    reef_query_free(w, reef_query_new(w, "inn Position"));
    reef_query_free(w, reef_query_new(w, "const Position"));
    reef_world_free(w);
}
