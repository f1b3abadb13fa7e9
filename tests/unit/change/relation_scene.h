/* Types of relations with all rules, and what the suites about relations share. */
#ifndef REEF_TESTS_RELATION_SCENE_H
#define REEF_TESTS_RELATION_SCENE_H

#include "support.h"

typedef struct {
    int32_t coins;
} Money;
typedef struct {
    _Alignas(16) double x[2];
} Wide16;
typedef struct {
    double kg;
} Heavy;
REEF_COMPONENT(Money);
typedef struct {
    reef_entity target;
} Harbour;
REEF_COMPONENT(Heavy);
REEF_COMPONENT(Harbour);
REEF_FIELDS(Harbour, target);
REEF_COMPONENT(Wide16);
REEF_FIELDS(Heavy, kg);
REEF_FIELDS(Money, coins);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(HarborX, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE);
REEF_RELATION(Needs, REEF_ACYCLIC | REEF_TRANSITIVE | REEF_REFLEXIVE);
REEF_RELATION(Guards, REEF_CASCADE);
REEF_RELATION(Holds, REEF_KEEPS_TARGET);
REEF_RELATION(Married, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION(Follows, REEF_EXCLUSIVE | REEF_TRANSITIVE);
REEF_RELATION_OF(Owes, Money);
REEF_RELATION_OF(Pays, Money, REEF_EXCLUSIVE);
REEF_RELATION_OF(Trusts, Money, REEF_SYMMETRIC);
REEF_RELATION_OF(Pushes, Wide16);

/* ---- helpers ---- */

static inline uint32_t sources_list(const reef_world *w, reef_entity target, reef_component c, reef_entity *list,
                                    uint32_t room)
{
    uint32_t n = 0;
    for (reef_sources s = reef_sources_of_id(w, target, c); reef_sources_next(&s);) {
        assert_true(s.count > 0);
        for (uint32_t i = 0; i < s.count && n < room; i++) list[n++] = s.sources[i];
    }
    return n;
}

static inline void assert_sources_at(const reef_world *w, reef_entity target, reef_component c,
                                     const reef_entity *wanted, uint32_t count, int line)
{
    reef_entity list[600];
    const uint32_t n = sources_list(w, target, c, list, 600);
    if (n != count || reef_source_count_id(w, target, c) != count)
        fail_msg("line %d: %u sources (counted: %u) instead of %u", line, (unsigned)n,
                 (unsigned)reef_source_count_id(w, target, c), (unsigned)count);
    for (uint32_t i = 0; i < n; i++)
        if (!reef_entity_equal(list[i], wanted[i]))
            fail_msg("line %d: source %u is %u instead of %u", line, (unsigned)i, (unsigned)list[i].index,
                     (unsigned)wanted[i].index);
}
#define assert_sources(w, target, R, ...) \
    assert_sources_at(w, target, reef_id(R), (const reef_entity[]){__VA_ARGS__}, \
                      (uint32_t)(sizeof((const reef_entity[]){__VA_ARGS__}) / sizeof(reef_entity)), __LINE__)
#define assert_no_sources(w, target, R) assert_sources_at(w, target, reef_id(R), NULL, 0, __LINE__)

static inline void create_some(reef_world *w, reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i)));
}

#endif
