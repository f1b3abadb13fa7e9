/* Shared by all suites: a counting allocator, a fixture that ends every test with a validation and a search for leaks,
 * checks that show both values, the digest of a world, and tracked values whose hooks keep a ledger. */
#ifndef REEF_TESTS_SUPPORT_H
#define REEF_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inside.h"
#include "everywhere.h"

/* ---- the allocator ----
 * It uses malloc. Every block has a header before it and a guard after it; resizing always moves; memory is filled with
 * garbage when it is allocated and freed. Old sizes and alignments are compared with those of the allocation. */

typedef struct heap {
    uint64_t calls;  /* that asked for memory: new blocks and resized ones */
    uint64_t blocks; /* held now */
    uint64_t bytes;  /* held now */
    uint64_t largest_align;
    uint64_t limit;      /* bytes that may be held; 0: any */
    uint64_t fail_at;    /* the call, as `calls` counts them, that fails; 0: none */
    bool fail_rest;      /* and all later ones */
    uint64_t refused;    /* calls that failed */
    const char *mistake; /* the first wrong use, NULL: none */
} heap;

reef_allocator heap_allocator(heap *h);
/* Makes the n-th call from now on fail (only this one, or this and all later ones). */
void heap_fail_nth(heap *h, uint64_t n, bool rest);
void heap_fail_never(heap *h);
/* For an allocation of another kind: should it fail? It counts as a call. */
bool heap_fails_now(heap *h);

/* ---- the fixture ---- */

enum { EXTRA_WORLDS = 6 };

typedef struct fixture {
    heap heap;
    reef_world *world;               /* open, everything by default */
    reef_world *extra[EXTRA_WORLDS]; /* made by another_world */
} fixture;

/* Before a test: an empty heap, an empty ledger, an open world. After it: every world is valid and frees all its
 * memory, the allocator was used rightly, every tracked value was destroyed once. */
int fixture_begin(void **state);
int fixture_end(void **state);

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

reef_world *world_of(void **state);
heap *heap_of(void **state);
/* Makes another world on the fixture's heap (unless the config has an allocator); the fixture frees it. */
reef_world *another_world(void **state, const reef_world_config *config);
/* Frees a world of the fixture before the test's end. */
void end_world(void **state, reef_world *world);

/* ---- checks ---- */

void assert_status_at(reef_status got, reef_status wanted, const char *call, const char *file, int line);
#define assert_status(wanted, call) assert_status_at((call), wanted, #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(REEF_OK, call)

void assert_entity_at(reef_entity got, reef_entity wanted, const char *call, const char *file, int line);
#define assert_entity(wanted, call) assert_entity_at((call), wanted, #call, __FILE__, __LINE__)
#define assert_some(entity) assert_false(reef_entity_is_null(entity))
#define assert_none(entity) assert_true(reef_entity_is_null(entity))

void assert_valid_at(const reef_world *w, const char *file, int line);
#define assert_valid(w) assert_valid_at(w, __FILE__, __LINE__)

/* Checks a refusal: the call fails with this status, the last error has the status and operation of this call, and the
 * world is valid and exactly as before. */
typedef struct refusal {
    reef_world *world;
    uint64_t digest;
    const char *call, *file;
    int line;
} refusal;

refusal refusal_begin(reef_world *w, const char *call, const char *file, int line);
void refusal_end(const refusal *r, bool failed, reef_status recorded);
void refusal_status(refusal r, reef_status got, reef_status wanted);
void refusal_pointer(refusal r, const void *got, reef_status wanted);
void refusal_entity(refusal r, reef_entity got, reef_status wanted);
void refusal_query(refusal r, reef_query got, reef_status wanted);
void refusal_zero(refusal r, uint64_t got, reef_status wanted);

#define REFUSAL_(kind, w, wanted, call, text) \
    do { \
        refusal refusal_ = refusal_begin(w, text, __FILE__, __LINE__); \
        kind(refusal_, (call), wanted); \
    } while (0)
#define assert_refused(w, wanted, call) REFUSAL_(refusal_status, w, wanted, call, #call)
#define assert_no_pointer(w, wanted, call) REFUSAL_(refusal_pointer, w, wanted, call, #call)
#define assert_no_query(w, wanted, call) REFUSAL_(refusal_query, w, wanted, call, #call)
#define assert_query(q) assert_false(reef_query_is_null(q))
#define assert_no_entity(w, wanted, call) REFUSAL_(refusal_entity, w, wanted, call, #call)
#define assert_zero(w, wanted, call) REFUSAL_(refusal_zero, w, wanted, call, #call)

/* ---- the digest ----
 * It covers everything that can be observed of a world: entities, names, components with their values, the order of
 * visiting, counts. For types with hooks it covers the first four bytes, since the rest is bookkeeping. */
uint64_t digest(const reef_world *w);
uint64_t digest_bytes(uint64_t hash, const void *data, size_t size);

/* ---- tracked values ----
 * Each value has a ticket, and the ledger knows the current address of the value of each ticket. It is an error when a
 * hook is called with a wrong address, twice, or with source = destination. Ticket 0 is a value outside of the ledger,
 * as written by reef_with. */

typedef struct ledger {
    uint64_t constructed, copied, moved, destroyed;
    uint64_t taken; /* move-only values that came in from a value outside of the ledger */
    uint64_t live;
    uint64_t fail_construct, fail_copy; /* the n-th call from now on fails; 0: none */
    reef_status fail_status;            /* with this */
    heap *heap; /* construct and copy fail with NO_MEMORY as its allocations do; NULL: they don't fail */
    const char *mistake;
    reef_world *world; /* of the last construct, with its entity and args */
    reef_entity entity;
    const void *args;
    const void **where; /* by ticket; NULL: not alive */
    uint32_t tickets, capacity;
} ledger;

extern ledger book;

void ledger_reset(void);
/* Sets the counters to zero; live values stay. */
void ledger_count_anew(void);

typedef struct {
    int32_t value;
    uint32_t ticket;
} Tracked; /* construct, copy, move, destroy */
typedef struct {
    int32_t value;
    uint32_t ticket;
} Unique; /* move-only: construct, move, destroy */
typedef struct {
    int32_t value;
    uint32_t ticket;
} Loose; /* copy, destroy, moved as bytes; zero by default */

extern const reef_hooks tracked_hooks, unique_hooks, loose_hooks;

/* A value outside of worlds, in the ledger. */
void tracked_make(Tracked *slot, int32_t value);
void tracked_drop(Tracked *slot);
void unique_make(Unique *slot, int32_t value);
void unique_drop(Unique *slot);

REEF_COMPONENT_HOOKS(Tracked, &tracked_hooks);
REEF_COMPONENT_HOOKS(Unique, &unique_hooks);
REEF_COMPONENT_HOOKS(Loose, &loose_hooks);

/* ---- everyday types ---- */

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    int32_t now, most;
} Health;
typedef struct {
    double kg;
} Mass;
typedef struct {
    uint8_t byte[40];
} Cargo;
typedef struct {
    uint8_t on;
} Flag;

REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Health);
REEF_COMPONENT(Mass);
REEF_COMPONENT(Cargo);
REEF_COMPONENT(Flag);
REEF_TAG(Frozen);
REEF_TAG(Hungry);
REEF_SWITCH(Awake);
REEF_SWITCH(Seen);

void assert_position_at(const reef_world *w, reef_entity e, float x, float y, const char *file, int line);
#define assert_position(w, e, x, y) assert_position_at(w, e, x, y, __FILE__, __LINE__)

/* A type made at run time: "prefix<number>", plain data. */
reef_component numbered_type(const char *prefix, uint32_t number, uint32_t size, uint32_t align);

/* Types that test_type.c declares as well, as this file sees them. */
reef_component other_same(void);
reef_component other_bare(void);
reef_component other_size(void);
reef_component other_align(void);
reef_component other_home(void);
reef_component other_hooks(void);
reef_component other_fields(void);

/* Random numbers, the same everywhere. */
uint32_t random_next(uint64_t *seed);
uint32_t random_below(uint64_t *seed, uint32_t n);

#endif
