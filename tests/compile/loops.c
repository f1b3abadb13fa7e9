/* Loops over blocks and over runs of matching rows: the compilers must turn the inner ones into loops over vectors. */
#include <reef/all.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

void by_block(reef_world *w, reef_query q, float dt);
void by_run(reef_world *w, reef_query q, float dt);

void by_block(reef_world *w, reef_query q, float dt)
{
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].x += v[i].x * dt;
            p[i].y += v[i].y * dt;
        }
    }
}

void by_run(reef_world *w, reef_query q, float dt)
{
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) {
                p[i].x += v[i].x * dt;
                p[i].y += v[i].y * dt;
            }
    }
}
