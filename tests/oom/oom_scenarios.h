/* A scenario of an allocation sweep: a world to start from, and a call that needs memory. */
#ifndef OOM_SCENARIOS_H
#define OOM_SCENARIOS_H

#include "support.h"

enum { NAMES = 4000 };

struct trial;

typedef struct sweep {
    const struct trial *trial;
    reef_world *w;
    reef_world *other; /* takes part in the call, and isn't changed by it; NULL: none */
    reef_entity e[NAMES];
    reef_query query;
    reef_bundle *bundle;
    reef_query made;
    void *found; /* an object that the call made, NULL: none */
    Unique own;
    reef_world *fork, *child; /* of w: made before the call, made by it */
    reef_snapshot *snapshot, *further;
    uint64_t fork_digest, fork_hash, seen; /* seen: a number that the call found */
    reef_bytes bytes, made_bytes;          /* what the call reads; what it makes */
    reef_journal *journal;
    reef_merged *merged;
    reef_removals removals[4];
    reef_event_reader reader;
    reef_block loop;
} sweep;

typedef struct scenario {
    const char *name;
    void (*prepare)(sweep *s); /* NULL: an empty world */
    bool (*call)(sweep *s);    /* true: done. false: the error record says why */
} scenario;

/* A scenario, with members that only some of them need. */
typedef struct trial {
    scenario scene;
    bool steps;              /* a call that failed may have done a part of it */
    bool hooks;              /* hooks that make values are failed as allocations are */
    uint32_t number;         /* for prepare and call, whatever they want */
    const char *with;        /* behind the name in messages; NULL: nothing */
    void (*ready)(sweep *s); /* after a fork was made of the world, right before the call; NULL: nothing */
    void (*told)(sweep *s);  /* after it worked: adds to `seen` what others were told; NULL: nothing */
    void (*end)(sweep *s);   /* frees what it made besides worlds; NULL: nothing */
} trial;

static inline bool done(reef_status status) { return status >= 0; }

#endif
