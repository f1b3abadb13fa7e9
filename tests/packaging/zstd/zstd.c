/* Saves and loads a compressed world in the folder where it runs. */
#include <reef_zstd.h>
#include <stdio.h>

int main(void)
{
    reef_world *w = reef_world_new(NULL), *to = reef_world_new(NULL);
    const reef_entity e = reef_create(w);
    const bool good =
        reef_set_name(w, e, "alice") == REEF_OK && reef_zstd_save(w, "alice.zst", NULL, 3, NULL) == REEF_OK &&
        reef_zstd_load(to, "alice.zst", NULL, NULL) == REEF_OK && reef_entity_equal(reef_find(to, "alice"), e);
    reef_world_free(w);
    reef_world_free(to);
    (void)remove("alice.zst");
    puts(good ? "hello, 1 entity at 3 4" : "alice is lost");
    return 0;
}
