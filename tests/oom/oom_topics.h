/* What the topics of the sweep in test_oom.c share. */
#ifndef REEF_TEST_OOM_TOPICS_H
#define REEF_TEST_OOM_TOPICS_H

#include "oom_scenarios.h"

static inline bool some(reef_entity e) { return !reef_entity_is_null(e); }

/* The scenarios, by topic: each list is in a file of its own, and ends with {0}. */
extern const scenario entity_scenarios[], component_scenarios[], query_scenarios[], where_scenarios[],
    index_scenarios[], world_scenarios[], system_scenarios[], observer_scenarios[], value_scenarios[],
    required_scenarios[], prefab_scenarios[];

/* Worlds in which scenarios of several topics begin. */
void rows(sweep *s, uint32_t n);
void one_row(sweep *s);
void eight_rows(sweep *s);
void some_rows(sweep *s);
void full_chunk(sweep *s);
void two_chunks(sweep *s);
void hooked_rows(sweep *s);
void full_hooked_chunk(sweep *s);
void empties(sweep *s, uint32_t n);
void one_empty(sweep *s);
void with_bits(sweep *s);
void with_marks(sweep *s);
void with_names(sweep *s);
void with_free_ids(sweep *s);
void many_tables(sweep *s);
void with_everything(sweep *s);
void with_snapshot(sweep *s);  /* oom_worlds.c */
void with_unique(sweep *s);    /* oom_components.c */
void with_common(sweep *s);    /* oom_values.c */
void with_observers(sweep *s); /* oom_observer.c */

/* Calls of several topics. */
typedef reef_status (*where_call)(sweep *s, reef_query q);
bool where(sweep *s, const char *text, where_call call); /* oom_where.c: the query is made and freed */
bool query_copy(sweep *s);                               /* oom_queries.c */
bool name_more(sweep *s);                                /* oom_components.c; may have done a part when it fails */
bool take_snapshot(sweep *s);                            /* oom_worlds.c, as the next three */
bool make_fork(sweep *s);
bool restore(sweep *s);
bool hash(sweep *s);

#endif
