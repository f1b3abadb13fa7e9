/* Keeps a world in a database in the folder where it runs. */
#include <reef_sqlite.h>
#include <stdio.h>

int main(void)
{
    reef_world *w = reef_world_new(NULL), *to = reef_world_new(NULL);
    reef_sqlite *file = NULL;
    const reef_entity e = reef_create(w);
    bool good = reef_set_name(w, e, "alice") == REEF_OK &&
                reef_sqlite_open(w, "alice.db", NULL, &file, NULL) == REEF_OK && reef_sqlite_commit(file) == REEF_OK;
    reef_sqlite_close(file);
    good = good && reef_sqlite_open(to, "alice.db", NULL, &file, NULL) == REEF_OK &&
           reef_entity_equal(reef_find(to, "alice"), e) &&
           reef_sql(to, "select name from entities", NULL, NULL, NULL) == REEF_OK;
    if (good) reef_sqlite_close(file);
    reef_world_free(w);
    reef_world_free(to);
    (void)remove("alice.db");
    puts(good ? "hello, 1 entity at 3 4" : "alice is lost");
    return 0;
}
