/* The module that test_hot.c compiles again and again. What differs is said by macros. */
#include "reef_hot.h"
#include "reef/order.h"
#include "reef/ordered.h"
#include "reef/relation.h"
#include "reef/single.h"
#include <stdlib.h>

#if !defined(SPEED)
#define SPEED 1
#endif
#if !defined(VERSION)
#define VERSION 1
#endif
#if !defined(NAME)
#define NAME "rules"
#endif

typedef struct {
    float x, y;
#if defined(PLACE_MORE)
    float z;
#endif
} Place; /* the program has it, too */
REEF_COMPONENT(Place);
#if defined(PLACE_MORE)
REEF_FIELDS(Place, x, y, z);
#else
REEF_FIELDS(Place, x, y);
#endif

typedef struct {
    uint32_t told, kept;
} Report; /* a singleton in which the program reads what happened */
REEF_COMPONENT(Report);
REEF_FIELDS(Report, told, kept);

typedef struct {
    uint32_t n;
} Ping;
REEF_COMPONENT(Ping);
REEF_FIELDS(Ping, n);

REEF_TAG(Marked);
REEF_TAG(Employed);

/* The type that changes, in any home. */
#if !defined(HUNTER_HOME)
#define HUNTER_HOME REEF_TABLE
#endif
#if defined(HUNTER_BYTES)
typedef struct {
    void *hidden;
} Hunter;
REEF_COMPONENT(Hunter);
#elif defined(HUNTER_MORE)
typedef struct {
    double power;
    int16_t mood;
    float fear;
} Hunter;
REEF_COMPONENT_IN(Hunter, HUNTER_HOME);
REEF_FIELDS(Hunter, power, mood, fear);
#elif defined(HUNTER_LESS)
typedef struct {
    float power;
} Hunter;
REEF_COMPONENT_IN(Hunter, HUNTER_HOME);
REEF_FIELDS(Hunter, power);
#elif defined(HUNTER_RENAMED)
typedef struct {
    uint8_t temper;
    float strength;
} Hunter;
REEF_COMPONENT_IN(Hunter, HUNTER_HOME);
REEF_FIELDS(Hunter, REEF_FIELD_WAS(temper, rage), REEF_FIELD_WAS((strength, "N"), power));
#else
typedef struct {
    float power;
    uint8_t rage;
} Hunter;
REEF_COMPONENT_IN(Hunter, HUNTER_HOME);
REEF_FIELDS(Hunter, power, rage);
#endif

#if defined(LEASH)
#include "reef/required.h"
typedef struct {
    float length;
} Leash;
REEF_COMPONENT(Leash);
REEF_FIELDS(Leash, length);
#if LEASH == 1
REEF_REQUIRES(Leash, Hunter);
#else
REEF_REQUIRES(Leash, Hunter, Marked);
#endif
#endif

/* The input of a tick, which only the module declares. */
#if defined(THRUST_MORE)
typedef struct {
    int16_t turn;
    double y, x;
} Thrust;
REEF_COMPONENT(Thrust);
REEF_FIELDS(Thrust, turn, y, x);
#elif defined(THRUST_LESS)
typedef struct {
    float x;
} Thrust;
REEF_COMPONENT(Thrust);
REEF_FIELDS(Thrust, x);
#elif defined(THRUST_PAGED)
typedef struct {
    float x, y, z;
} Thrust;
REEF_COMPONENT_IN(Thrust, REEF_PAGED);
REEF_FIELDS(Thrust, x, y, z);
#else
typedef struct {
    float x, y;
} Thrust;
REEF_COMPONENT(Thrust);
REEF_FIELDS(Thrust, x, y);
#endif

/* ---- a type with an enum, whose values have other numbers or other names in another version ---- */

#if defined(TEMPER)
#if TEMPER == 1
typedef enum { CALM, ANGRY, ASLEEP } Mood;
REEF_ENUM(Mood, CALM, ANGRY, ASLEEP);
#elif TEMPER == 2
typedef enum { ASLEEP = 2, WILD = 7, CALM = 40, ANGRY = 300 } Mood;
REEF_ENUM(Mood, ASLEEP, WILD, CALM, ANGRY);
#else
typedef enum { CALM, ASLEEP } Mood;
REEF_ENUM(Mood, CALM, ASLEEP);
#endif
typedef struct {
#if TEMPER == 2
    float since;
#endif
    Mood mood;
} Temper;
REEF_COMPONENT(Temper);
#if TEMPER == 2
REEF_FIELDS(Temper, since, (mood, enum, Mood));
#else
REEF_FIELDS(Temper, (mood, enum, Mood));
#endif
#endif

/* ---- Hunter in everything that may name a type ---- */

#if defined(WIDE)
#define HUNT_MEMBER uint64_t prey, calls;
#else
#define HUNT_MEMBER uint32_t prey;
#endif
typedef struct {
    HUNT_MEMBER
} Hunt; /* an event, and the data of a relation */
REEF_COMPONENT(Hunt);
typedef struct {
    HUNT_MEMBER
} Pack; /* a singleton */
REEF_COMPONENT(Pack);
typedef struct {
    HUNT_MEMBER
} Bond;
REEF_COMPONENT(Bond);
REEF_RELATION_OF(Chases, Bond);
#if defined(WIDE)
REEF_FIELDS(Hunt, prey, calls);
REEF_FIELDS(Pack, prey, calls);
REEF_FIELDS(Bond, prey, calls);
#else
REEF_FIELDS(Hunt, prey);
REEF_FIELDS(Pack, prey);
REEF_FIELDS(Bond, prey);
#endif

/* ---- values that fields don't describe as a whole ---- */

#if defined(OPAQUE)
typedef struct {
    uint32_t seen;
#if defined(OPAQUE_MORE)
    uint32_t more;
#endif
    uint64_t hidden[2];
} Opaque;
REEF_COMPONENT(Opaque);
#if defined(OPAQUE_MORE)
REEF_FIELDS(Opaque, seen, more);
#else
REEF_FIELDS(Opaque, seen);
#endif
#endif

#if defined(BARE)
typedef struct {
    int n;
} Bare;
REEF_COMPONENT(Bare);
#endif

#if defined(NEST)
#include "reef/place.h"
typedef struct {
    float x, y;
} Nest;
REEF_COMPONENT(Nest);
REEF_FIELDS(Nest, x, y);
#if defined(NEST_CARRIES)
REEF_PLACE(Nest, x, y, .cell = NEST, .carries = "Hunter");
#else
REEF_PLACE(Nest, x, y, .cell = NEST);
#endif
#endif

/* ---- a type with hooks: a value owns a number on the heap ---- */

#if defined(OWNED)
typedef struct {
#if defined(OWNED_MORE)
    double weight;
#endif
    uint64_t number; /* a pointer */
} Owned;
static reef_status owned_make(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    int *p = malloc(sizeof *p);
    (void)context, (void)w, (void)e, (void)args;
    if (p == NULL) return REEF_NO_MEMORY;
    *p = SPEED;
    ((Owned *)slot)->number = (uintptr_t)p;
    return REEF_OK;
}
static reef_status owned_copy(void *context, void *to, const void *from)
{
    int *p = malloc(sizeof *p);
    (void)context;
    if (p == NULL) return REEF_NO_MEMORY;
    *p = *(const int *)(uintptr_t)((const Owned *)from)->number;
    ((Owned *)to)->number = (uintptr_t)p;
    return REEF_OK;
}
static void owned_drop(void *context, void *slot)
{
    (void)context;
    free((void *)(uintptr_t)((Owned *)slot)->number);
}
static const reef_hooks owned = {
    .construct = owned_make, .copy = owned_copy, .destroy = owned_drop, .bytes_move = true};
REEF_COMPONENT_HOOKS(Owned, &owned);
#if defined(OWNED_MORE)
REEF_FIELDS(Owned, weight, number);
#else
REEF_FIELDS(Owned, number);
#endif
#endif

/* ---- a type with a unique field ---- */

#if defined(ACCOUNT)
static const reef_hooks account_hooks = {.unique = "id"};
typedef struct {
#if ACCOUNT == 1
    uint32_t id, gold;
#elif ACCOUNT == 2
    float debt;
    uint64_t id;
    uint32_t gold;
#else
    uint8_t id;
    uint32_t gold;
#endif
} Account;
REEF_COMPONENT_HOOKS(Account, &account_hooks);
#if ACCOUNT == 2
REEF_FIELDS(Account, debt, id, gold);
#else
REEF_FIELDS(Account, id, gold);
#endif
#endif

#if defined(KEPT) /* as Owned, but nothing copies a value */
static const reef_hooks kept_hooks = {.destroy = owned_drop, .bytes_move = true};
typedef struct {
    uint64_t number;
} Kept;
REEF_COMPONENT_HOOKS(Kept, &kept_hooks);
REEF_FIELDS(Kept, number);
#endif

#if defined(FRESH)
typedef struct {
    int32_t n;
} Fresh;
REEF_COMPONENT(Fresh);
REEF_FIELDS(Fresh, n);
#endif
#if defined(PLACE_DIFFERS)
#define PLACE_TEXT "Place, in Nowhere"
#elif defined(NOT_MARKED)
#define PLACE_TEXT "Place, !Marked"
#else
#define PLACE_TEXT "Place"
#endif

/* ---- what it does ---- */

static _Atomic uint32_t kept; /* what would be lost */

static void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += SPEED * b->dt;
    kept++;
#if defined(CRASHES)
    *(volatile int *)(uintptr_t)8 = 1;
#elif defined(HANGS)
    for (volatile int i = 0; i < 1; i = 0) {}
#elif defined(MISTAKES)
    (void)reef_tick(b->world, 1);
#endif
}
static void climb(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) p[i].y = p[i].y * 2 + SPEED;
}
static void fall(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) p[i].y -= 1;
}
static void rest(reef_block *b) { reef_send(b, Ping, 1); }
static void call(reef_block *b) { reef_send(b, Hunt, .prey = (uint32_t)reef_tick_count(b->world) + 1); }
static void listen(reef_block *b)
{
    Pack *p = reef_single_mut(b->world, Pack);
    reef_events r = reef_receive(b, Hunt);
    for (const Hunt *x; (x = reef_next_event(&r)) != NULL;) p->prey += x->prey;
}
static void told(const reef_notice *n)
{
    Report *r = reef_single_mut(n->world, Report);
    if (r) r->told += SPEED;
}

/* ---- scripts ---- */

typedef struct {
    uint32_t runs, speed;
} Pilot;
static void pilot_start(reef_script_run *r) { ((Pilot *)r->data)->runs = 100; }
static void pilot_update(reef_script_run *r)
{
    Pilot *p = r->data;
    p->runs++;
    p->speed = SPEED;
}
static const reef_script_class pilot = {
#if defined(PILOT_GROWS)
    .name = "pilot", .size = sizeof(Pilot) + 4, .start = pilot_start, .update = pilot_update};
#else
    .name = "pilot", .size = sizeof(Pilot), .start = pilot_start, .update = pilot_update};
#endif
static const reef_script_class *const classes[] = {&pilot};

/* Gives a script to whatever was marked, so that the program needs no pointer to the class. */
static void employ(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) (void)reef_script_add(n->world, n->entities[i], &pilot, NULL);
}

static uint64_t by_x(const void *value) { return (uint64_t)((const Place *)value)->x; }
static reef_query ordered;

static reef_status load(reef_world *w, void *context)
{
    (void)context;
#if defined(PHASE)
    (void)reef_phase_new(w, &(reef_phase_desc){.name = "late", .after = "update"});
#endif
#if defined(FRESH)
    (void)reef_spawn(w, reef_with(Fresh, 7));
#endif
#if !defined(NO_MOVE)
    reef_system_add(w, "move", move, PLACE_TEXT);
#endif
#if defined(FALL_FIRST)
    reef_system_add(w, "fall", fall, "Place");
#endif
    reef_system_add(w, "climb", climb, "Place");
#if !defined(FALL_FIRST) && !defined(NO_FALL)
    reef_system_add(w, "fall", fall, "Place");
#endif
#if defined(PHASE)
    (void)reef_system_new(
        w, &(reef_system_desc){.name = "rest", .function = rest, .text = "in Place; sends Ping", .phase = "late"});
#else
    reef_system_add(w, "rest", rest, "in Place; sends Ping");
#endif
#if !defined(PLAIN)
    reef_system_add(w, "listen", listen, "; receives Hunt, writes Pack");
    reef_system_add(w, "call", call, "; sends Hunt");
    if (!reef_single_has(w, Pack)) (void)reef_single_set(w, Pack, .prey = 0);
#endif
    (void)listen, (void)call;
    if (!reef_single_has(w, Report)) (void)reef_single_set(w, Report, 0, 0);
#if !defined(NO_TOLD)
    (void)reef_observer_new(
        w,
        &(reef_observer_desc){.name = "told", .function = told, .events = REEF_ON_ADD, .component = reef_id(Marked)});
#endif
    (void)told;
    (void)reef_observer_add(w, "employ", employ, REEF_ON_ADD, reef_id(Employed));
    (void)reef_scripts(w, NULL, NULL);
#if defined(ORDERED)
    ordered = reef_query_new(w, "in Place");
    (void)reef_query_order(w, ordered, &(reef_order){.component = reef_id(Place), .key = by_x});
#endif
    (void)by_x, (void)ordered;
#if defined(REFUSES)
    return REEF_LIMIT;
#else
    return REEF_OK;
#endif
}

REEF_MODULE_TYPES(types, Place, Hunter, Report, Hunt, Pack, Bond, Chases);
static const reef_module rules = {.name = NAME,
                                  .version = VERSION,
                                  .types = types,
                                  .type_count = types_count,
                                  .scripts = classes,
                                  .script_count = 1,
                                  .load = load};

static void *give(reef_world *w)
{
#if defined(ORDERED)
    (void)reef_query_free(w, ordered);
#else
    (void)w;
#endif
    return (void *)(uintptr_t)kept;
}
static void take(reef_world *w, void *was)
{
    Report *r = reef_single_mut(w, Report);
    kept = (uint32_t)(uintptr_t)was;
    if (r && SPEED != 1) r->kept = kept;
}

#if defined(MISSING)
extern void nobody_has_this(void);
void calls_it(void);
void calls_it(void) { nobody_has_this(); }
#endif
#if !defined(NO_LIBRARY)
REEF_HOT_LIBRARY(&rules, .close = give, .open = take);
#endif
#if defined(COMMENT)
const char comment[] = COMMENT;
#endif
