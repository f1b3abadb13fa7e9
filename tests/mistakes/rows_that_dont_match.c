/* A loop from 0 to b.count, though the query has a switch, which decides row by row. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    int grams;
} Food;
REEF_COMPONENT(Food);
REEF_SWITCH(Hungry);

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < 10; i++) {
        reef_entity e = reef_spawn(w, reef_with(Food, 1));
        if (i % 2) reef_add(w, e, Hungry);
    }
    reef_query q = reef_query_new(w, "in Food, Hungry");
    int grams = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const Food *food = reef_in(&b, Food);
        for (uint32_t i = 0; i < b.count; i++) grams += food[i].grams;
    }
    fprintf(stderr, "%d grams\n", grams);
    reef_world_free(w);
}
