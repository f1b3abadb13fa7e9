/* What a plug-in of this test gives its host, by one struct: the host finds it by the name `plug_in`. */
#ifndef REEF_TESTS_EMBEDDING_PLUG_IN_H
#define REEF_TESTS_EMBEDDING_PLUG_IN_H

#include <reef/all.h>

typedef struct plug_in {
    /* Adds types, entities, a system, an observer and a script to a world, and values with hooks if `hooks`. */
    bool (*begin)(reef_world *w, bool hooks);
    /* Takes all of it away, but for the entities and their plain components. */
    bool (*end)(reef_world *w);
    uint32_t *values; /* with hooks, that live */
    /* Of a plug-in with a copy of reef of its own: uses the world of the host in many ways, which is all refused. The
     * answer is what wasn't; NULL: nothing. */
    const char *(*use_of_another)(reef_world *w, reef_entity e);
    const char *(*use_own)(void); /* makes and uses worlds of its own */
} plug_in;

#endif
