#include <reef_page.h>
#include <stdio.h>

static bool step(reef_world *w)
{
    (void)reef_tick(w, 0.5f);
    reef_page_circle(1, 1, 1, 0xffffff);
    return reef_tick_count(w) < 3;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_page_run(w, step);
    puts(reef_tick_count(w) == 3 ? "hello, 1 entity at 3 4" : "the loop didn't tick");
    reef_world_free(w);
    return 0;
}
