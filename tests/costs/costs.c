/* What operations cost, in instructions: a world of some size, and each operation done a thousand times, which
 * valgrind counts (tests/costs/costs.sh). Run alone it only checks that the work was done.
 *
 *     costs ENTITIES TYPES TABLES SYSTEMS OUTSIDE COLD
 *
 * ENTITIES have Position and Velocity, as many others Position and Home, with a Note (sparse) and a Depth (paged)
 * each; all have names. Beside them there are TYPES that nobody has, TABLES of one entity each, SYSTEMS that are
 * off, or have nobody to run over, and entities with OUTSIDE types that are no columns (switches, sparse, paged,
 * multi and shared ones in turn) and COLD types of REEF_COLD, one each. */
#include <reef/all.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(COSTS_COUNTED)
#include <valgrind/callgrind.h>
#else /* without valgrind's header nothing is counted */
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_TOGGLE_COLLECT ((void)0)
#define CALLGRIND_DUMP_STATS_AT(name) ((void)(name))
#endif

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    int32_t a, b;
} Mark;
typedef struct {
    int32_t text;
} Note;
typedef struct {
    float metres;
} Depth;
typedef struct {
    int32_t n;
} Nobody;
typedef struct {
    int32_t n;
} Home;
typedef struct {
    int32_t n;
} Rumour;
typedef struct {
    int32_t n;
} Coin;
typedef struct {
    int32_t n;
} Flag;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Mark);
REEF_COMPONENT_IN(Note, REEF_SPARSE);
REEF_COMPONENT_IN(Depth, REEF_PAGED);
REEF_COMPONENT(Nobody);
REEF_COMPONENT(Home);
REEF_COMPONENT_IN(Rumour, REEF_COLD);
REEF_COMPONENT_IN(Coin, REEF_MULTI);
REEF_COMPONENT_IN(Flag, REEF_SHARED);
REEF_SWITCH(Awake);
REEF_TAG(Apart);

enum { N = 1000, TABLE_TAGS = 14, NEW_TAGS = 11, NAME_BYTES = 24, BLOCK = 1024 };

typedef struct stage {
    reef_world *w, *fork; /* a fork in which nothing was asked for yet, so that it has no index of blocks */
    uint32_t entities, types;
    reef_entity *all;
    reef_entity some[N], home[N], made[N]; /* of the two halves; new ones */
    char name[N][NAME_BYTES], type[N][NAME_BYTES];
    reef_query moving, placed;
    reef_component new_tag[NEW_TAGS];
    uint64_t sum;
} stage;

static void check(bool fine, const char *what)
{
    if (fine) return;
    printf("failed: %s\n", what);
    exit(1);
}
#define CHECK(x) check(x, #x)

/* ---- what is counted; once each, in this order ---- */

#define COUNTED(name) static void count_##name(stage *s)
#define EACH(i) for (uint32_t i = 0; i < N; i++)

COUNTED(create) { EACH(i) s->made[i] = reef_create(s->w); }
COUNTED(destroy_empty) { EACH(i) reef_destroy(s->w, s->made[i]); }
COUNTED(spawn) { EACH(i) s->made[i] = reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)); }
COUNTED(destroy) { EACH(i) reef_destroy(s->w, s->made[i]); }
COUNTED(spawn_many) { reef_spawn_many(s->w, N, s->made, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)); }
COUNTED(destroy_many) { reef_destroy_many(s->w, s->made, N); }
COUNTED(get) { EACH(i) s->sum += (uint64_t)reef_get(s->w, s->some[i], Position)->x; }
COUNTED(get_absent) { EACH(i) s->sum += reef_get(s->w, s->some[i], Mark) != NULL; }
COUNTED(mut) { EACH(i) reef_mut(s->w, s->some[i], Velocity)->y += 1; }
COUNTED(has) { EACH(i) s->sum += reef_has(s->w, s->some[i], Velocity); }
COUNTED(set) { EACH(i) reef_set(s->w, s->some[i], Position, 5, 6); }
COUNTED(add) { EACH(i) reef_set(s->w, s->some[i], Mark, 1, 2); }
COUNTED(remove) { EACH(i) reef_remove(s->w, s->some[i], Mark); }
COUNTED(switch_on) { EACH(i) reef_add(s->w, s->home[i], Awake); }
COUNTED(switch_off) { EACH(i) reef_remove(s->w, s->home[i], Awake); }
COUNTED(get_sparse) { EACH(i) s->sum += reef_get(s->w, s->home[i], Note) != NULL; }
COUNTED(remove_sparse) { EACH(i) reef_remove(s->w, s->home[i], Note); }
COUNTED(add_sparse) { EACH(i) reef_set(s->w, s->home[i], Note, 7); }
COUNTED(get_paged) { EACH(i) s->sum += reef_get(s->w, s->home[i], Depth) != NULL; }
COUNTED(remove_paged) { EACH(i) reef_remove(s->w, s->home[i], Depth); }
COUNTED(add_paged) { EACH(i) reef_set(s->w, s->home[i], Depth, 7); }
COUNTED(has_switch) { EACH(i) s->sum += reef_has(s->w, s->home[i], Awake); }
COUNTED(has_sparse) { EACH(i) s->sum += reef_has(s->w, s->home[i], Note); }
COUNTED(disable) { EACH(i) reef_disable(s->w, s->home[i], Home); }
COUNTED(enable) { EACH(i) reef_enable(s->w, s->home[i], Home); }
COUNTED(add_multi) { EACH(i) reef_set(s->w, s->home[i], Coin, 7); }
COUNTED(get_multi) { EACH(i) s->sum += reef_get(s->w, s->home[i], Coin) != NULL; }
COUNTED(remove_multi) { EACH(i) reef_remove(s->w, s->home[i], Coin); }
COUNTED(add_shared) { EACH(i) reef_set(s->w, s->home[i], Flag, 7); }
COUNTED(get_shared) { EACH(i) s->sum += reef_get(s->w, s->home[i], Flag) != NULL; }
COUNTED(remove_shared) { EACH(i) reef_remove(s->w, s->home[i], Flag); }
COUNTED(add_cold) { EACH(i) reef_set(s->w, s->home[i], Rumour, 7); }
COUNTED(get_cold) { EACH(i) s->sum += reef_get(s->w, s->home[i], Rumour) != NULL; }
COUNTED(remove_cold) { EACH(i) reef_remove(s->w, s->home[i], Rumour); }
/* others there have bits */
COUNTED(spawn_beside) { EACH(i) s->made[i] = reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Home, 3)); }
COUNTED(destroy_beside) { EACH(i) reef_destroy(s->w, s->made[i]); }
COUNTED(clone_outside) { EACH(i) s->made[i] = reef_clone(s->w, s->home[i]); }
COUNTED(remove_all) { EACH(i) if (i % 2) reef_remove_all(s->w, s->made[i]); }
COUNTED(destroy_outside) { EACH(i) reef_destroy(s->w, s->made[i]); }
COUNTED(find) { EACH(i) s->sum += reef_find(s->w, s->name[i]).index; }
COUNTED(find_type) { EACH(i) s->sum += reef_type_find(s->type[i]).id; }
COUNTED(tick) { EACH(i) reef_tick(s->w, 0.5f); }
/* These aren't done N times, but once over all rows; the script divides by their number. */
COUNTED(iterate)
{
    for (reef_block b = reef_begin(s->w, s->moving); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x * 0.5f;
    }
}
/* The first calls in a fork: they go by the chunks until they have paid for an index of blocks, and make it. */
COUNTED(get_first) { EACH(i) s->sum += (uint64_t)reef_get(s->fork, s->some[i], Position)->x; }
COUNTED(has_first) { EACH(i) s->sum += reef_has(s->fork, s->some[i], Velocity); }
COUNTED(absent_first) { EACH(i) s->sum += reef_get(s->fork, s->some[i], Mark) != NULL; }
/* Whether one entity matches, after a table was made that matches as well. Making it isn't counted. */
static void new_table(stage *s, uint32_t number);
COUNTED(matches_new)
{
    EACH(i)
    {
        CALLGRIND_TOGGLE_COLLECT;
        new_table(s, i);
        CALLGRIND_TOGGLE_COLLECT;
        s->sum += reef_query_matches(s->w, s->placed, s->some[i]);
    }
}
/* What an observer of matches asks then: an entity of the new table is switched on. */
COUNTED(observed_new)
{
    EACH(i)
    {
        CALLGRIND_TOGGLE_COLLECT;
        new_table(s, N + i);
        CALLGRIND_TOGGLE_COLLECT;
        reef_add(s->w, s->made[i], Awake);
        CALLGRIND_TOGGLE_COLLECT;
        reef_destroy(s->w, s->made[i]);
        CALLGRIND_TOGGLE_COLLECT;
    }
}

/* ---- the stage ---- */

static uint32_t at_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static void nothing(reef_block *b) { (void)b; }

static void systems_make(stage *s, uint32_t systems)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < systems; i++) {
        (void)snprintf(name, sizeof name, "system%u", (unsigned)i);
        CHECK(!reef_system_is_null(reef_system_new(
            s->w,
            &(reef_system_desc){.name = name, .function = nothing, .text = "Nobody, in Position", .off = i % 2 == 0})));
    }
}

/* Tables of one entity each: a Position, and the tags of the table's number in binary. */
static void tables_make(stage *s, uint32_t tables)
{
    reef_component tag[TABLE_TAGS];
    reef_value values[TABLE_TAGS + 1];
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < TABLE_TAGS; i++) {
        (void)snprintf(name, sizeof name, "Tag%u", (unsigned)i);
        tag[i] = reef_type_new(&(reef_type_desc){.name = name}, NULL);
        CHECK(tag[i].id != 0);
    }
    for (uint32_t t = 1; t <= tables; t++) {
        uint32_t n = 0;
        values[n++] = reef_with(Position, 1, 2);
        for (uint32_t i = 0; i < TABLE_TAGS; i++)
            if (t >> i & 1) values[n++] = reef_value_make(tag[i], REEF_VALUE_DEFAULT, 0, NULL);
        CHECK(!reef_entity_is_null(reef_spawn_values(s->w, values, n)));
    }
}

/* Makes s->made[number % N], in a table that wasn't there: a Position and Apart, and tags by the table's number. */
static void new_table(stage *s, uint32_t number)
{
    reef_value values[NEW_TAGS + 2];
    uint32_t n = 0;
    values[n++] = reef_with(Position, 1, 2);
    values[n++] = reef_tag(Apart);
    for (uint32_t i = 0; i < NEW_TAGS; i++)
        if (number >> i & 1) values[n++] = reef_value_make(s->new_tag[i], REEF_VALUE_DEFAULT, 0, NULL);
    s->made[number % N] = reef_spawn_values(s->w, values, n);
    CHECK(!reef_entity_is_null(s->made[number % N]));
}

static uint64_t heard;
static void hear(const reef_notice *n) { heard += n->count; }

/* Everything for matches_new and observed_new, which aren't done before they are counted. */
static void new_tables_begin(stage *s)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < NEW_TAGS; i++) {
        (void)snprintf(name, sizeof name, "New%u", (unsigned)i);
        s->new_tag[i] = reef_type_new(&(reef_type_desc){.name = name}, NULL);
        CHECK(s->new_tag[i].id != 0);
    }
    CHECK(!reef_observer_is_null(reef_observer_new(
        s->w,
        &(reef_observer_desc){.name = "hear", .function = hear, .text = "Position, Awake", .events = REEF_ON_MATCH})));
    s->placed = reef_query_new(s->w, "Position");
    CHECK(reef_query_count(s->w, s->placed) > N);
}

/* An entity of each type; all in one table of their own. */
static void outside_make(stage *s, const char *named, const reef_home *homes, uint32_t home_count, uint32_t types)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < types; i++) {
        const reef_home home = homes[i % home_count];
        (void)snprintf(name, sizeof name, "%s%u", named, (unsigned)i);
        const reef_component c =
            reef_type_new(&(reef_type_desc){.name = name, .size = home == REEF_BIT ? 0 : 4, .home = home}, NULL);
        const reef_value values[] = {reef_value_make(reef_id(Apart), REEF_VALUE_DEFAULT, 0, NULL),
                                     reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL)};
        CHECK(c.id != 0 && !reef_entity_is_null(reef_spawn_values(s->w, values, 2)));
    }
}

static void stage_make(stage *s, uint32_t entities, uint32_t types, uint32_t tables, uint32_t systems)
{
    char name[NAME_BYTES];
    uint64_t seed = 1;
    s->entities = entities;
    s->types = types;
    s->all = malloc((entities + 1) * sizeof *s->all);
    CHECK(s->all != NULL);
    for (uint32_t i = 0; i < types; i++) {
        (void)snprintf(name, sizeof name, "Type%06u", (unsigned)i);
        CHECK(reef_type_new(&(reef_type_desc){.name = name, .size = 4, .align = 4}, NULL).id != 0);
    }
    tables_make(s, tables);
    systems_make(s, systems);
    for (uint32_t i = 0; i < entities; i++) {
        s->all[i] = i % 2 ? reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Home, 3))
                          : reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
        (void)snprintf(name, sizeof name, "e%07u", (unsigned)i);
        CHECK(reef_set_name(s->w, s->all[i], name) == REEF_OK);
        if (i % 2)
            CHECK(reef_set(s->w, s->all[i], Note, 1) == REEF_ADDED &&
                  reef_set(s->w, s->all[i], Depth, 2) == REEF_ADDED);
    }
    for (uint32_t i = 0; i < N; i++) { /* from all tables, each once, in random order */
        const uint32_t apart = entities / 2 / N, pair = i * apart + at_random(&seed, apart),
                       n = (uint32_t)(i * 617ull % N);
        s->some[n] = s->all[2 * pair];
        s->home[n] = s->all[2 * pair + 1];
        (void)snprintf(s->name[n], NAME_BYTES, "e%07u", (unsigned)at_random(&seed, entities));
        (void)snprintf(s->type[n], NAME_BYTES, "Type%06u", (unsigned)at_random(&seed, types));
    }
    s->moving = reef_query_new(s->w, "Position, in Velocity");
    CHECK(!reef_query_is_null(s->moving));
}

/* Does each operation once before it is counted, so that transitions, stores and blocks exist; and those that reach an
 * entity by handle as often as the world has chunks, and once more, so that indexes of blocks exist. What they cost
 * until then is counted by get_first, has_first and absent_first. */
static void warm(stage *s, uint32_t tables)
{
    static void (*const warmed[])(stage * s) = {
        count_disable,       count_enable,     count_add_multi,      count_remove_multi, count_add_shared,
        count_remove_shared, count_add_cold,   count_remove_cold,    count_spawn_beside, count_destroy_beside,
        count_clone_outside, count_remove_all, count_destroy_outside};
    static void (*const reached[])(stage * s) = {count_get, count_get_absent, count_mut, count_has};
    EACH(i) s->made[i] = reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    EACH(i) CHECK(reef_set(s->w, s->made[i], Mark, 1, 2) == REEF_ADDED);
    EACH(i) CHECK(reef_remove(s->w, s->made[i], Mark) == REEF_OK && reef_destroy(s->w, s->made[i]) == REEF_OK);
    EACH(i) s->made[i] = reef_create(s->w);
    EACH(i) CHECK(reef_destroy(s->w, s->made[i]) == REEF_OK);
    EACH(i) CHECK(reef_add(s->w, s->home[i], Awake) == REEF_OK);
    EACH(i) CHECK(reef_remove(s->w, s->home[i], Awake) == REEF_OK);
    for (uint32_t i = 0; i < sizeof warmed / sizeof *warmed; i++) warmed[i](s);
    for (uint32_t n = 0; n < s->entities / BLOCK + tables + 2 * N; n += N)
        for (uint32_t i = 0; i < sizeof reached / sizeof *reached; i++) reached[i](s);
    CHECK(reef_tick(s->w, 0.5f) == REEF_OK);
}

static const struct {
    const char *name;
    void (*count)(stage *s);
} operations[] = {
#define OPERATION(name) \
    { \
#name, count_##name \
    }
    OPERATION(create),        OPERATION(destroy_empty), OPERATION(spawn),
    OPERATION(destroy),       OPERATION(spawn_many),    OPERATION(destroy_many),
    OPERATION(get),           OPERATION(get_absent),    OPERATION(mut),
    OPERATION(has),           OPERATION(set),           OPERATION(add),
    OPERATION(remove),        OPERATION(switch_on),     OPERATION(switch_off),
    OPERATION(get_sparse),    OPERATION(remove_sparse), OPERATION(add_sparse),
    OPERATION(get_paged),     OPERATION(remove_paged),  OPERATION(add_paged),
    OPERATION(has_switch),    OPERATION(has_sparse),    OPERATION(disable),
    OPERATION(enable),        OPERATION(add_multi),     OPERATION(get_multi),
    OPERATION(remove_multi),  OPERATION(add_shared),    OPERATION(get_shared),
    OPERATION(remove_shared), OPERATION(add_cold),      OPERATION(get_cold),
    OPERATION(remove_cold),   OPERATION(spawn_beside),  OPERATION(destroy_beside),
    OPERATION(clone_outside), OPERATION(remove_all),    OPERATION(destroy_outside),
    OPERATION(find),          OPERATION(find_type),     OPERATION(tick),
    OPERATION(iterate),       OPERATION(get_first),     OPERATION(has_first),
    OPERATION(absent_first),  OPERATION(matches_new),   OPERATION(observed_new),
};

static uint32_t number(const char *text, uint32_t least)
{
    const unsigned long n = strtoul(text, NULL, 10);
    return n < least ? least : (uint32_t)n;
}

int main(int argc, char **argv)
{
    static stage s;
    static const reef_home outside[] = {REEF_BIT, REEF_SPARSE, REEF_PAGED, REEF_MULTI, REEF_SHARED},
                           cold[] = {REEF_COLD};
    if (argc != 7) {
        fprintf(stderr, "costs ENTITIES TYPES TABLES SYSTEMS OUTSIDE COLD\n");
        return 2;
    }
    s.w = reef_world_new(NULL);
    CHECK(s.w != NULL);
    outside_make(&s, "Outside", outside, 5, number(argv[5], 0));
    outside_make(&s, "Cold", cold, 1, number(argv[6], 0));
    stage_make(&s, 2 * number(argv[1], N), number(argv[2], 1), number(argv[3], 0), number(argv[4], 0));
    warm(&s, number(argv[3], 0));
    const uint64_t alive = reef_count_alive(s.w), notes = reef_count(s.w, Note), marks = reef_count(s.w, Mark);
    printf("%u\n", (unsigned)reef_query_count(s.w, s.moving)); /* what the count for `iterate` is divided by */
    CALLGRIND_START_INSTRUMENTATION;
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (operations[i].count == count_get_first) { /* the last ones: a world that was forked copies what it writes */
            s.fork = reef_fork(s.w);
            CHECK(s.fork != NULL);
        }
        if (operations[i].count == count_matches_new) new_tables_begin(&s);
        CALLGRIND_TOGGLE_COLLECT;
        operations[i].count(&s);
        CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(operations[i].name);
    }
    CHECK(heard == N);
    CHECK(reef_count_alive(s.w) == alive + N && reef_count(s.w, Note) == notes && reef_count(s.w, Mark) == marks &&
          marks == 0);
    CHECK(reef_get(s.w, s.some[0], Position)->x > 5 && reef_tick_count(s.w) == N + 1);
    CHECK(reef_validate(s.w, NULL, 0) == REEF_OK);
    CHECK(reef_validate(s.fork, NULL, 0) == REEF_OK);
    reef_world_free(s.fork);
    reef_world_free(s.w);
    free(s.all);
    return 0;
}
