/* What a loop reads only can't be written. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
    (void)e;
    reef_query q = reef_query_new(w, "inout Position, in Velocity");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
#ifdef WRONG
        Velocity *v = reef_in(&b, Velocity);
        v[0].x = 1;
#else
        Position *p = reef_inout(&b, Position);
        p[0].x = 1;
#endif
    }
    reef_query_free(w, q);
}
