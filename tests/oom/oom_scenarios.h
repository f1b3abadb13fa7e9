/* The scenarios of the allocation sweep (test_oom.c): worlds to start from, and calls that need memory. */
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

extern const scenario scenarios[];
extern const size_t scenario_count;

/* The scenarios that the sweep calls by name. */
void some_rows(sweep *s);
void with_marks(sweep *s);
void with_snapshot(sweep *s);
bool name_more(sweep *s);

/* With observers (oom_observer.c). */
void with_observers(sweep *s);
bool observer_made(sweep *s);
bool observer_matches(sweep *s);
bool observer_existing(sweep *s);
bool observer_removed(sweep *s);
bool observed_spawn(sweep *s);
bool observed_set(sweep *s);
bool observed_change(sweep *s);
bool observed_add(sweep *s);
bool observed_destroy(sweep *s);
bool observed_set_where(sweep *s);
bool observed_add_where(sweep *s);
bool observed_remove_where(sweep *s);
bool observed_disable_where(sweep *s);
bool observed_destroy_where(sweep *s);
bool observed_clear(sweep *s);
bool observed_clear_type(sweep *s);

/* Systems, events, files and differences (oom_systems.c). */
void with_systems(sweep *s);
bool system_first(sweep *s);
bool system_ordered(sweep *s);
bool system_replaced(sweep *s);
void with_module(sweep *s);
bool module_used(sweep *s);
bool module_replaced(sweep *s);
bool module_removed(sweep *s);
bool system_removed(sweep *s);
bool system_switched(sweep *s);
bool phase_made(sweep *s);
void one_receives(sweep *s);
void with_events(sweep *s);
void with_events_kept(sweep *s);
bool event_posted(sweep *s);
bool events_read(sweep *s);
bool events_bound(sweep *s);
bool saved(sweep *s);
bool saved_some(sweep *s);
void with_changes(sweep *s);
bool saved_difference(sweep *s);

/* Several values of a kind, and values in common (oom_values.c). */
void with_several(sweep *s);
void with_common(sweep *s);
bool several_more(sweep *s);
bool several_first(sweep *s);
bool several_added(sweep *s);
bool several_one_less(sweep *s);
bool several_removed(sweep *s);
bool several_cloned(sweep *s);
bool several_written(sweep *s);
bool common_set_where(sweep *s);
bool common_added_where(sweep *s);
bool several_added_where(sweep *s);
bool common_added(sweep *s);
bool common_set(sweep *s);
bool common_shared(sweep *s);
bool common_replaced(sweep *s);
bool common_written(sweep *s);
bool common_removed(sweep *s);
bool common_cloned(sweep *s);
bool common_spawned(sweep *s);
bool common_attached(sweep *s);
bool merged_twice(sweep *s);

/* Components that come along with others (oom_required.c). */
bool required_added(sweep *s);
bool required_set(sweep *s);
bool required_spawned(sweep *s);
bool required_many(sweep *s);
bool required_reserved(sweep *s);
bool required_where(sweep *s);

/* Templates and their copies (oom_prefab.c). */
void with_tree(sweep *s);
void with_prefab(sweep *s);
void with_prefab_observed(sweep *s);
bool prefab_made(sweep *s);
bool prefab_copied(sweep *s);
bool prefab_copied_often(sweep *s);
bool tree_cloned(sweep *s);

#endif
