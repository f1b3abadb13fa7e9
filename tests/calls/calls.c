/* Every call with every kind of handle. The calls are made from the listing of the public interface
 * (tests/calls/generate), so that none can be forgotten; the arguments are the fields of `setting`.
 *
 *   world of a kind  x  type (each home, base, subtype, none)  x  handle (null, dead, alive ...)  x  call
 *
 * For each call: nothing crashes; a call that is refused, or takes a const world, doesn't change the hash; a refusal is
 * recorded as the last error, and one of a wrong argument says what is wrong; null and dead handles and unknown types
 * are refused with the right status. The results of
 * different calls are compared as well:
 *
 *   the same in every kind of world     the answer and the hash behind it are those of the plain world: of a fork,
 *                                       of a strict world, of a world
 *                                       with observers and readers
 *   deferred means the same             a call in a loop that defers, and the end of the loop, come to what the call
 *                                       alone comes to
 *   locked means nothing                in a plain loop the call is done as ever, or answers LOCKED
 *   the same in every home              where docs/manual/homes.md says no other, a type in another home has the same
 *                                       answers
 *   a base means itself                 but where docs/manual/subtypes.md says so, an entity with a subtype only is as
 *                                       one without, to observers too
 *
 * A world is used for several calls, until one of them changes it; then a new one with the same hash is made. */
#include "inside.h"
#include "reef/all.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

#define PAIR(T) \
    typedef struct { \
        uint32_t a, b; \
    } T
#define MORE(T) \
    typedef struct { \
        uint32_t a, b, c, d; /* as Base, and more */ \
    } T
PAIR(InTable);
PAIR(InSparse);
PAIR(InPaged);
PAIR(InCold);
PAIR(InMulti);
PAIR(InShared);
PAIR(InSplit);
PAIR(Stamped);
PAIR(BaseTable);
PAIR(BaseSparse);
PAIR(BasePaged);
PAIR(BaseCold);
PAIR(BaseShared);
PAIR(Mass);
MORE(SubTable);
MORE(SubTableToo);
MORE(SubSparse);
MORE(SubSparseToo);
MORE(SubPaged);
MORE(SubPagedToo);
MORE(SubCold);
MORE(SubColdToo);
MORE(SubShared);
MORE(SubSharedToo);
static const reef_hooks stamped_hooks = {.track_rows = true};
REEF_COMPONENT(InTable);
REEF_COMPONENT_IN(InSparse, REEF_SPARSE);
REEF_COMPONENT_IN(InPaged, REEF_PAGED);
REEF_COMPONENT_IN(InCold, REEF_COLD);
REEF_COMPONENT_IN(InMulti, REEF_MULTI);
REEF_COMPONENT_IN(InShared, REEF_SHARED);
REEF_COMPONENT_IN(InSplit, REEF_SPLIT);
REEF_FIELDS(InSplit, a, b);
REEF_COMPONENT_HOOKS(Stamped, &stamped_hooks);
REEF_COMPONENT(BaseTable);
REEF_COMPONENT_IN(BaseSparse, REEF_SPARSE);
REEF_COMPONENT_IN(BasePaged, REEF_PAGED);
REEF_COMPONENT_IN(BaseCold, REEF_COLD);
REEF_COMPONENT_IN(BaseShared, REEF_SHARED);
REEF_SUBTYPE(SubTable, BaseTable);
REEF_SUBTYPE_IN(SubTableToo, BaseTable, REEF_SPARSE);
REEF_SUBTYPE(SubSparse, BaseSparse);
REEF_SUBTYPE_IN(SubSparseToo, BaseSparse, REEF_PAGED);
REEF_SUBTYPE_IN(SubPaged, BasePaged, REEF_COLD);
REEF_SUBTYPE(SubPagedToo, BasePaged);
REEF_SUBTYPE(SubCold, BaseCold);
REEF_SUBTYPE_IN(SubColdToo, BaseCold, REEF_SHARED);
REEF_SUBTYPE(SubShared, BaseShared);
REEF_SUBTYPE_IN(SubSharedToo, BaseShared, REEF_SHARED);
REEF_COMPONENT(Mass);
REEF_TAG(ATag);
REEF_SWITCH(ASwitch);
REEF_TAG(BaseTag);
REEF_SUBTAG(SubTag, BaseTag);
REEF_SUBTAG(SubTagToo, BaseTag);

/* type, two of its subtypes (itself where it has none) */
#define DATA_TYPES(X) \
    X(InTable, InTable, InTable) \
    X(InSparse, InSparse, InSparse) \
    X(InPaged, InPaged, InPaged) \
    X(InCold, InCold, InCold) \
    X(InMulti, InMulti, InMulti) \
    X(InShared, InShared, InShared) \
    X(InSplit, InSplit, InSplit) \
    X(Stamped, Stamped, Stamped) \
    X(BaseTable, SubTable, SubTableToo) \
    X(BaseSparse, SubSparse, SubSparseToo) \
    X(BasePaged, SubPaged, SubPagedToo) \
    X(BaseCold, SubCold, SubColdToo) \
    X(BaseShared, SubShared, SubSharedToo) \
    X(SubTable, SubTable, SubTable)
#define TAG_TYPES(X) \
    X(ATag, ATag, ATag) \
    X(ASwitch, ASwitch, ASwitch) \
    X(BaseTag, SubTag, SubTagToo)
/* Ids that are no type, or a type that can't be added to an entity: name, id */
#define NO_TYPES(X) \
    X(none, 0) \
    X(unknown, 60000) \
    X(beyond, REEF_TYPES_MAX + 1) \
    X(far_beyond, UINT32_MAX) \
    X(part, reef_column_of(reef_id(InSplit), "b").id)

/* ---- one call ---- */

enum { FRESH, FEW, FORK, STRICT, WATCHED, DEFERS, LOCKS, FRESH_DEFERS, FRESH_LOCKS, WORLDS };
static const char *const world_names[] = {"without entities",
                                          "with a few",
                                          "forked",
                                          "strict",
                                          "watched",
                                          "in a loop that defers",
                                          "in a loop",
                                          "without entities in a loop that defers",
                                          "without entities in a loop"};
enum {
    NULL_HANDLE,
    OTHER_GENERATION,
    NEVER,
    FOREIGN,
    DEAD,
    REUSED,
    RESERVED,
    PENDING,
    BARE,
    HAS,
    HAS_SUB,
    HAS_SUBS,
    HAS_BOTH,
    HANDLES
};
static const char *const handle_names[] = {"null",
                                           "another generation of index 0",
                                           "never made",
                                           "of another world",
                                           "dead",
                                           "dead, its index reused",
                                           "reserved",
                                           "made by the loop's end",
                                           "alive without it",
                                           "alive with it",
                                           "alive with a subtype only",
                                           "alive with two subtypes",
                                           "alive with it and a subtype"};

typedef struct setting {
    reef_world *world, *other, *origin;
    uint64_t hash;
    bool looping, awaits; /* awaits: an entity that the loop's end makes */
    reef_block loop;
    reef_entity handle[HANDLES], entity, living;
    bool there[HANDLES];
    reef_component type, types[4];
    size_t size;
    const void *value;
    reef_value with, plain, without;
    reef_bundle *bundle;
    reef_bundle_part part;
    reef_query query, other_query;
    reef_ref ref, null_ref;
    reef_signature signature;
    reef_pinned pin;
    reef_removals removals, other_removals;
    reef_event_reader reader, other_reader;
    reef_system_id system, other_system;
    reef_observer_id observer, other_observer;
    reef_snapshot *other_snapshot;
    reef_group group;
    reef_block block;
    reef_page_use use;
    reef_entity room[4];
    uint64_t number, bytes[8];
    uint32_t count;
    void *pointer;
    char text[96];
} setting;

typedef struct answer {
    bool good;
    reef_status status; /* what it answers, or what the world's error says */
    uint64_t number;
} answer;

static answer answer_status(reef_status s) { return (answer){s >= 0, s, 0}; }
static answer answer_bool(bool b) { return (answer){b, REEF_OK, b}; }
static answer answer_number(uint64_t n) { return (answer){n != 0, REEF_OK, n}; }
static answer answer_entity(reef_entity e) { return (answer){!reef_entity_is_null(e), REEF_OK, reef_entity_bits(e)}; }
static answer answer_pointer(const void *p)
{
    if (p) (void)*(const volatile char *)p;
    return (answer){p != NULL, REEF_OK, 0};
}
static answer answer_ref(reef_ref r) { return (answer){!reef_ref_is_null(&r), REEF_OK, 0}; }
static answer answer_query(reef_query q) { return (answer){!reef_query_is_null(q), REEF_OK, 0}; }
static answer answer_system(reef_system_id s) { return (answer){!reef_system_is_null(s), REEF_OK, 0}; }
static answer answer_observer(reef_observer_id o) { return (answer){!reef_observer_is_null(o), REEF_OK, 0}; }
static answer answer_removals(reef_removals r) { return (answer){!reef_removals_is_null(r), REEF_OK, 0}; }
static answer answer_reader(reef_event_reader r) { return (answer){!reef_event_reader_is_null(r), REEF_OK, 0}; }
static answer answer_random(reef_random r) { return (void)r, (answer){true, REEF_OK, 0}; }
static answer answer_stats(reef_system_stats s) { return (void)s, (answer){false, REEF_OK, 0}; }
static answer answer_block(reef_block b)
{
    const bool some = b.loop.query != NULL;
    reef_end(&b);
    return (answer){some, REEF_OK, 0};
}
static answer answer_row(reef_row r) { return answer_block(r.block); }
static answer answer_sources(reef_sources x)
{
    uint64_t n = 0;
    while (reef_sources_next(&x)) n += x.count;
    return answer_number(n);
}
static answer answer_walk(reef_walk x)
{
    uint64_t n = 0;
    while (reef_walk_next(&x)) n++;
    return answer_number(n);
}
static answer answer_split(reef_slices *s)
{
    const bool some = s != NULL;
    reef_slices_end(s);
    return (answer){some, REEF_OK, 0};
}
static answer answer_pin(reef_pinned p)
{
    const bool some = !reef_pin_is_null(p);
    reef_unpin(p);
    return (answer){some, REEF_OK, 0};
}
/* clang-format off */
#define ANSWER(x) \
    _Generic((x), \
        reef_status: answer_status, bool: answer_bool, uint32_t: answer_number, uint64_t: answer_number, \
        reef_entity: answer_entity, reef_ref: answer_ref, reef_query: answer_query, reef_system_id: answer_system, \
        reef_observer_id: answer_observer, reef_removals: answer_removals, reef_event_reader: answer_reader, \
        reef_random: answer_random, reef_block: answer_block, reef_row: answer_row, reef_pinned: answer_pin, \
        reef_system_stats: answer_stats, reef_slices *: answer_split, \
        reef_sources: answer_sources, reef_walk: answer_walk, default: answer_pointer)(x)
/* clang-format on */

static const reef_script_class script = {.name = "a_caller", .size = 8};
static void nothing(reef_block *b) { (void)b; }
static uint32_t told; /* by observers, since the call began */
static void no_notice(const reef_notice *n) { told += n->count; }
static bool visit(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)context, (void)e, (void)c, (void)size;
    if (data) (void)*(const volatile char *)data;
    return true;
}
static const reef_system_desc system_desc = {.name = "replaced", .function = nothing, .text = "in Mass"};
static FILE *paper;

enum {
    CONST = 1,
    ENTITY = 2,
    TYPE = 4,
    ANY_ENTITY = 8,
    ANY_TYPE = 16,
    SUBTYPES = 32,
    LOCKED_IN_LOOPS = 64,
    NO_WORLD = 128,
    BY_HOME = 256,
    QUIET = 512,
    WATCHER = 1024
};
typedef struct call {
    const char *text;
    uint32_t flags;
    answer (*run)(setting *s);
} call;

#include "calls.h"

#define DEFINE(number, text, flags, x) \
    static answer call_##number(setting *s) { return (void)s, ANSWER(x); }
CALLS(DEFINE)
#define LIST(number, text, flags, x) {text, flags, call_##number},
static const call calls[] = {CALLS(LIST)};
#define DEFINE_WORD(T, number, text, flags, x) \
    static answer word_##T##_##number(setting *s) { return (void)s, ANSWER(x); }
#define DEFINE_WORDS(T, sub, sub_too) WORDS(DEFINE_WORD, T)
DATA_TYPES(DEFINE_WORDS)
#define DEFINE_WORDS_OF_TAG(T, sub, sub_too) WORDS_OF_TAGS(DEFINE_WORD, T)
TAG_TYPES(DEFINE_WORDS_OF_TAG)
#define LIST_WORD(T, number, text, flags, x) {text, flags, word_##T##_##number},
#define LIST_WORDS(T, sub, sub_too) static const call words_##T[] = {WORDS(LIST_WORD, T)};
DATA_TYPES(LIST_WORDS)
#define LIST_WORDS_OF_TAG(T, sub, sub_too) static const call words_##T[] = {WORDS_OF_TAGS(LIST_WORD, T)};
TAG_TYPES(LIST_WORDS_OF_TAG)

enum { CALL_COUNT = sizeof calls / sizeof *calls };
typedef struct kind { /* of type */
    const char *name;
    reef_component id, sub[2];
    uint32_t size;
    const call *words;
    uint32_t word_count;
} kind;
static kind kinds[32];
static uint32_t kind_count;

static void kinds_make(void)
{
#define KIND(T, one, two, bytes) \
    kinds[kind_count++] = (kind){#T,    reef_id(T), {reef_id(one), reef_id(two)}, \
                                 bytes, words_##T,  (uint32_t)(sizeof words_##T / sizeof *words_##T)};
#define DATA_KIND(T, one, two) KIND(T, one, two, (uint32_t)sizeof(T))
#define TAG_KIND(T, one, two) KIND(T, one, two, 0)
#define NO_KIND(what, number) kinds[kind_count++] = (kind){#what, {number}, {{number}, {number}}, 4, NULL, 0};
    DATA_TYPES(DATA_KIND)
    TAG_TYPES(TAG_KIND)
    NO_TYPES(NO_KIND)
}
static bool kind_known(const kind *k) { return k->words != NULL; }
static bool kind_is_part(const kind *k) { return k == &kinds[kind_count - 1]; } /* the last of NO_TYPES */
static bool kind_is_base(const kind *k) { return k->sub[0].id != k->id.id; }

/* ---- memory: large blocks wait for the next world ----
 * To take them from the system would cost more than all else here. */

enum { LARGE = 16384, WAITING = 256 };
static struct waiting {
    void *block;
    size_t bytes, align;
} waiting[WAITING];
static uint32_t waiting_count;

static void *reef__block_take(size_t bytes, size_t align)
{
    for (uint32_t i = waiting_count; bytes >= LARGE && i-- > 0;) {
        if (waiting[i].bytes != bytes || waiting[i].align != align) continue;
        void *block = waiting[i].block;
        waiting[i] = waiting[--waiting_count];
        return block;
    }
    if (align < sizeof(void *)) align = sizeof(void *);
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void reef__block_give(void *block, size_t bytes, size_t align)
{
    if (block && bytes >= LARGE && waiting_count < WAITING)
        waiting[waiting_count++] = (struct waiting){block, bytes, align};
    else free(block);
}

static void *resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    void *to = new_bytes ? reef__block_take(new_bytes, align) : NULL;
    if (new_bytes && to == NULL) return NULL;
    if (to && block) memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    reef__block_give(block, old_bytes, align);
    return to;
}

/* ---- worlds ---- */

static const uint32_t pattern[8] = {3, 5, 7, 11, 13, 17, 19, 23};
static uint32_t failures, runs, rebuilt, compared;

static void complain(uint32_t world, const kind *k, uint32_t handle, const call *c, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    static const char *said[500][2];
    static uint32_t said_count;
    const char *what = c ? c->text : "-";
    uint32_t times = 0;
    failures++;
    for (uint32_t i = 0; i < said_count; i++) times += said[i][0] == what && said[i][1] == format;
    if (times < 2 && said_count < 500) { /* of the same call by the same rule twice */
        said[said_count][0] = what, said[said_count++][1] = format;
        (void)fprintf(stderr, "%s, %s; a world %s; handle: %s: %s\n", what, k->name, world_names[world],
                      handle_names[handle], text);
    }
}

static reef_entity with(reef_world *w, reef_component a, reef_component b)
{
    const reef_value v[2] = {{a, REEF_VALUE_DEFAULT, 0, NULL}, {b, REEF_VALUE_DEFAULT, 0, NULL}};
    return reef_spawn_values(w, v, b.id ? 2 : 1);
}

static void other_make(setting *s)
{
    s->other = reef_world_new(NULL);
    for (uint32_t i = 0; i < 40; i++)
        s->handle[FOREIGN] =
            reef_spawn(s->other, reef_with(Mass, .a = 1), reef_with(InTable, .a = 2), reef_with(SubTable, .a = 1));
    s->other_query = reef_query_new(s->other, "Mass");
    s->other_removals = reef_removals_new(s->other, reef_id(Stamped), false);
    s->other_reader = reef_event_reader_new(s->other, reef_id(InTable));
    s->other_system = reef_system_add(s->other, "a_system", nothing, "in Mass");
    s->other_observer = reef_observer_add(s->other, "an_observer", no_notice, REEF_ON_ADD, reef_id(InTable));
    s->other_snapshot = reef_snapshot_take(s->other);
}

static void entities_make(setting *s, const kind *k)
{
    const reef_component none = {0};
    reef_world *w = s->world;
    reef_entity *h = s->handle;
    h[REUSED] = reef_create(w);
    (void)reef_destroy(w, h[REUSED]);
    h[BARE] = reef_spawn(w, reef_with(Mass, .a = 1));
    s->living = reef_spawn(w, reef_with(Mass, .a = 2));
    h[RESERVED] = reef_reserve_id(w);
    s->there[REUSED] = s->there[BARE] = s->there[RESERVED] = s->there[DEAD] = true;
    if (kind_known(k)) {
        h[HAS] = with(w, reef_id(Mass), k->id);
        s->there[HAS] = true;
    }
    if (kind_is_base(k)) {
        h[HAS_SUB] = with(w, reef_id(Mass), k->sub[0]);
        h[HAS_SUBS] = with(w, reef_id(Mass), k->sub[0]);
        (void)reef_add_id(w, h[HAS_SUBS], k->sub[1], NULL, NULL);
        h[HAS_BOTH] = with(w, k->id, k->sub[1]);
        s->there[HAS_SUB] = s->there[HAS_SUBS] = s->there[HAS_BOTH] = true;
    }
    (void)with(w, reef_id(InTable), none);
    (void)with(w, reef_id(InSplit), reef_id(Mass));
    h[DEAD] = reef_spawn(w, reef_with(Mass, .a = 3));
    (void)reef_destroy(w, h[DEAD]);
}

static void watchers_make(setting *s, const kind *k)
{
    s->removals = reef_removals_new(s->world, reef_id(Stamped), true);
    s->reader = reef_event_reader_new(s->world, reef_id(InTable));
    s->system = reef_system_add(s->world, "a_system", nothing, "in Mass");
    s->observer = reef_observer_add(s->world, "an_observer", no_notice, REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                    kind_known(k) ? k->id : reef_id(Mass));
}

static void setting_end(setting *s)
{
    if (s->looping) reef_end(&s->loop);
    s->looping = false;
    reef_unpin(s->pin);
    reef_signature_free(&s->signature);
    reef_world_free(s->world);
    reef_world_free(s->origin);
    s->world = s->origin = NULL;
    s->pin.value = NULL;
}

static void setting_make(setting *s, uint32_t world, const kind *k)
{
    const bool strict = world == STRICT, fresh = world == FRESH || world >= FRESH_DEFERS;
    /* (reef_create_as of a huge index would make all below it.) */
    reef_world *w = s->world =
        reef_world_new(&(reef_world_config){.allocator = {resize, NULL}, .strict = strict, .entities_max = 5000});
    rebuilt++;
    memset(s->there, 0, sizeof s->there);
    s->handle[NULL_HANDLE] = (reef_entity){0, 0};
    s->handle[OTHER_GENERATION] = (reef_entity){0, 7};
    s->handle[NEVER] = (reef_entity){4000000000u, 1};
    s->there[NULL_HANDLE] = s->there[OTHER_GENERATION] = s->there[NEVER] = s->there[FOREIGN] = true;
    if (strict) {
        const reef_component all[] = {
            reef_id(Mass), reef_id(InTable), reef_id(InShared), reef_id(InSplit), reef_id(Stamped), reef_script_type(),
            k->id,         k->sub[0],        k->sub[1]};
        for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i].id != 60000) (void)reef_world_use(w, all[i]);
    }
    s->living = (reef_entity){0, 0};
    if (!fresh) entities_make(s, k);
    if (world == FORK) {
        s->origin = w;
        w = s->world = reef_fork(w);
    }
    if (world == WATCHED) watchers_make(s, k);
    else s->removals.generation = s->reader.generation = s->system.generation = s->observer.generation = 0;
    s->type = k->id;
    s->size = k->size;
    s->value = pattern;
    s->with = (reef_value){k->id, REEF_VALUE_ONE, k->size, pattern};
    s->plain = (reef_value){k->id, REEF_VALUE_DEFAULT, 0, NULL};
    s->without = (reef_value){k->id, REEF_VALUE_REMOVE, 0, NULL};
    s->part = (reef_bundle_part){k->id, 0};
    s->bundle = kind_known(k) ? reef_bundle_new(w, &s->part, 1) : NULL;
    s->query = reef_query_new(w, "in Mass");
    s->signature = reef_signature_new(w);
    (void)reef_signature_add(&s->signature, k->id);
    if (!fresh) {
        const reef_entity e = with(w, reef_id(InShared), (reef_component){0});
        s->pin = reef_pin(w, e, InShared);
    }
    if (world >= DEFERS) {
        s->loop = reef_begin_loop(w, s->query, &(reef_loop){.deferred = world == DEFERS || world == FRESH_DEFERS});
        s->looping = true;
    }
    s->there[PENDING] = world == DEFERS || world == FRESH_DEFERS;
    if (s->awaits) { s->handle[PENDING] = with(w, kind_known(k) ? k->id : reef_id(Mass), (reef_component){0}); }
    s->hash = reef_hash(w);
}

static void setting_renew(setting *s, uint32_t world, const kind *k)
{
    char message[200];
    if (s->looping) reef_end(&s->loop);
    s->looping = false;
    if (reef_validate(s->world, message, sizeof message) != REEF_OK)
        complain(world, k, 0, NULL, "not valid: %s", message);
    setting_end(s);
    setting_make(s, world, k);
}

/* ---- what each call came to, in the plain world ---- */

typedef struct outcome {
    bool done;
    answer answer;
    uint32_t told; /* of how much observers were told */
    uint64_t before, after;
} outcome;
enum { OUTCOMES = CALL_COUNT + 64 };
static outcome plain[2][32][HANDLES][OUTCOMES], now[HANDLES][OUTCOMES]; /* with a few entities, and without any */

static const call *call_of(const kind *k, uint32_t i)
{
    if (i < CALL_COUNT) return &calls[i];
    return i - CALL_COUNT < k->word_count ? &k->words[i - CALL_COUNT] : NULL;
}

static bool answers_equal(const answer *a, const answer *b) { return a->good == b->good && a->status == b->status; }

static const char *answer_text(const answer *a)
{
    static char text[4][80];
    static uint32_t turn;
    char *to = text[turn++ % 4];
    (void)snprintf(to, sizeof text[0], "%s %s", a->good ? "done" : "refused", reef_status_name(a->status));
    return to;
}

static void run_one(setting *s, uint32_t world, const kind *k, uint32_t handle, uint32_t i)
{
    const call *c = call_of(k, i);
    outcome *o = &now[handle][i];
    o->before = s->hash;
    s->entity = s->handle[handle];
    s->ref = reef_ref_make_id(s->world, s->entity, s->type);
    error_forget(s->world);
    runs++;
    told = 0;
    o->answer = c->run(s);
    o->done = true;
    if (!(c->flags & NO_WORLD) && o->answer.status == REEF_OK && !o->answer.good)
        o->answer.status = reef_last_error(s->world).status;
    o->told = told;
    o->after = reef_hash(s->world);
    const bool loop = s->looping && o->answer.good && !(c->flags & (CONST | NO_WORLD));
    if ((c->flags & (CONST | NO_WORLD) || o->answer.status < 0) && o->after != o->before)
        complain(world, k, handle, c, "%s, and the hash is another one", answer_text(&o->answer));
    if (!(c->flags & (CONST | NO_WORLD)) && !o->answer.good && o->answer.status < 0 &&
        reef_last_error(s->world).status != o->answer.status)
        complain(world, k, handle, c, "%s, and the error says %s", answer_text(&o->answer),
                 reef_status_name(reef_last_error(s->world).status));
    if (!(c->flags & (CONST | NO_WORLD)) && o->answer.status == REEF_BAD_ARGUMENT &&
        reef_last_error(s->world).detail[0] == 0)
        complain(world, k, handle, c, "BAD_ARGUMENT, and the error doesn't say what is wrong");
    if (c->flags & NO_WORLD && o->answer.good && !(c->flags & ANY_ENTITY))
        complain(world, k, handle, c, "done without a world");
    if (loop) {
        reef_end(&s->loop);
        s->looping = false;
        const reef_error e = reef_last_error(s->world);
        if (e.status < 0) o->answer = (answer){false, e.status, 0};
        o->after = reef_hash(s->world);
    }
    if (o->after != o->before || loop || !(c->flags & CONST)) {
        if (o->after != o->before || loop || o->answer.good) setting_renew(s, world, k);
        if (s->hash != o->before) complain(world, k, handle, c, "the world made anew has another hash");
    }
}

/* ---- the rules ---- */

static void check_refusals(const setting *s, uint32_t world, const kind *k)
{
    for (uint32_t i = 0; call_of(k, i); i++) {
        const call *c = call_of(k, i);
        uint64_t alive = 0; /* the statuses of refusals for those who are alive */
        if (c->flags & NO_WORLD || !(c->flags & ENTITY)) continue;
        for (uint32_t h = BARE; h < HANDLES; h++)
            if (s->there[h] && !now[h][i].answer.good) alive |= 1ull << -now[h][i].answer.status;
        for (uint32_t h = 0; h < PENDING; h++) {
            const answer *a = &now[h][i].answer;
            if (!s->there[h] || c->flags & ANY_ENTITY) continue;
            if (a->good) complain(world, k, h, c, "done for nobody");
            else if (!(c->flags & (CONST | QUIET)) && a->status != REEF_NOT_ALIVE && !(alive >> -a->status & 1) &&
                     s->there[BARE])
                complain(world, k, h, c, "%s, and not NOT_ALIVE", answer_text(a));
        }
    }
}

static void check_unknown(uint32_t world, const kind *k)
{
    for (uint32_t i = 0; call_of(k, i); i++) {
        const call *c = call_of(k, i);
        for (uint32_t h = 0; h < HANDLES; h++)
            if (now[h][i].done && now[h][i].answer.good && c->flags & TYPE && !(c->flags & (ANY_TYPE | NO_WORLD)))
                complain(world, k, h, c, "done for what is no type");
    }
}

static void check_like_plain(uint32_t world, const kind *k, const outcome (*alone)[OUTCOMES])
{
    const bool loops = world >= DEFERS;
    for (uint32_t i = 0; call_of(k, i); i++) {
        const call *c = call_of(k, i);
        for (uint32_t h = 0; h < HANDLES; h++) {
            const outcome *o = &now[h][i], *p = &alone[h][i];
            if (!o->done || !p->done || h == PENDING || c->flags & NO_WORLD || (world == WATCHED && c->flags & WATCHER))
                continue;
            if (loops && !o->answer.good && o->answer.status == REEF_LOCKED) {
                if ((world == DEFERS || world == FRESH_DEFERS) && !(c->flags & LOCKED_IN_LOOPS))
                    complain(world, k, h, c, "LOCKED, though the loop defers; alone: %s", answer_text(&p->answer));
                continue;
            }
            /* OK stands for ADDED */
            const bool same = loops && p->answer.good ? o->answer.good : answers_equal(&o->answer, &p->answer);
            if (!same) complain(world, k, h, c, "%s; alone: %s", answer_text(&o->answer), answer_text(&p->answer));
            if (!same || o->before != p->before) continue;
            compared++;
            if (o->after != p->after) complain(world, k, h, c, "another hash than alone");
        }
    }
}

static void check_home(const kind *k, uint32_t kind_number, uint32_t like)
{
    for (uint32_t i = 0; call_of(k, i); i++) {
        const call *c = call_of(k, i);
        for (uint32_t h = 0; h < HANDLES; h++) {
            const outcome *o = &plain[0][kind_number][h][i], *p = &plain[0][like][h][i];
            if (o->done && p->done && !(c->flags & BY_HOME) && !answers_equal(&o->answer, &p->answer))
                complain(FEW, k, h, c, "%s; of %s: %s", answer_text(&o->answer), kinds[like].name,
                         answer_text(&p->answer));
        }
    }
}

static void check_base(uint32_t world, const kind *k)
{
    for (uint32_t i = 0; call_of(k, i); i++) {
        const call *c = call_of(k, i);
        for (uint32_t h = HAS_SUB; h <= HAS_SUBS && !(c->flags & SUBTYPES); h++)
            if (now[h][i].done && !answers_equal(&now[h][i].answer, &now[BARE][i].answer))
                complain(world, k, h, c, "%s; without the subtype: %s", answer_text(&now[h][i].answer),
                         answer_text(&now[BARE][i].answer));
            else if (now[h][i].done && now[h][i].told != now[BARE][i].told)
                complain(world, k, h, c, "observers are told of %u; without the subtype: %u", (unsigned)now[h][i].told,
                         (unsigned)now[BARE][i].told);
    }
}

/* ---- all of it ---- */

static void run_kind(setting *s, uint32_t world, uint32_t kind_number)
{
    const kind *k = &kinds[kind_number];
    memset(now, 0, sizeof now);
    setting_make(s, world, k);
    for (uint32_t h = 0; h < HANDLES; h++) {
        if (!s->there[h]) continue;
        if (s->awaits != (h == PENDING)) {
            s->awaits = h == PENDING;
            setting_renew(s, world, k);
        }
        for (uint32_t i = 0; call_of(k, i); i++) {
            const call *c = call_of(k, i);
            if ((h != 0 && !(c->flags & ENTITY)) || (kind_number != 0 && !(c->flags & (ENTITY | TYPE)))) continue;
            if (c->flags & NO_WORLD && (kind_number || world)) continue;
            run_one(s, world, k, h, i);
        }
    }
    s->awaits = false;
    check_refusals(s, world, k);
    if (!kind_known(k) && !kind_is_part(k)) check_unknown(world, k);
    const bool fresh = world == FRESH || world >= FRESH_DEFERS;
    if (world == FEW || world == FRESH) memcpy(plain[fresh][kind_number], now, sizeof now);
    else check_like_plain(world, k, (const outcome(*)[OUTCOMES])plain[fresh][kind_number]);
    if ((world == FEW || world == WATCHED) && kind_is_base(k)) check_base(world, k);
    char message[200];
    if (reef_validate(s->world, message, sizeof message) != REEF_OK)
        complain(world, k, 0, NULL, "not valid: %s", message);
    setting_end(s);
}

/* ---- worlds of another copy of reef ---- */

/* In a build that isn't checked these two do nothing, and a compiler may leave out a pure call whose answer nobody
 * uses. */
static bool may_be_left_out(const char *name)
{
#if defined(REEF_CHECKED)
    return name == NULL;
#else
    static const char *const names[] = {"reef_watch_systems", "reef_watch_reads", "reef_is_alive",
                                        "reef_has_id",        "reef_get_id",      "reef_is_enabled_id"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
#endif
}

/* Each public function is called with a world that another copy has made: that copy is told, and nothing happens. Then
 * each call with its usual arguments: nothing happens either, but that inlined calls read by themselves. */
static void run_other_copy(setting *s)
{
    const kind *k = &kinds[0];
    uint32_t n = 0;
    setting_make(s, FEW, k);
    const uint64_t before = s->hash;
#define CALL_OTHER_COPY(name, call) \
    library_pretend(s->world, true); \
    (void)call; \
    library_pretend(s->world, false); \
    if (library_told() == NULL && !may_be_left_out(name)) \
        complain(FEW, k, 0, NULL, name ": the other copy isn't told"); \
    n++;
    OTHER_COPY(CALL_OTHER_COPY)
    if (reef_hash(s->world) != before) complain(FEW, k, 0, NULL, "calls of another copy change the world");
    for (uint32_t i = 0; i < CALL_COUNT; i++) {
        const call *c = &calls[i];
        if (c->flags & NO_WORLD) continue;
        s->entity = s->handle[HAS];
        s->ref = reef_ref_make_id(s->world, s->entity, s->type);
        library_pretend(s->world, true);
        (void)c->run(s);
        library_pretend(s->world, false);
        if (reef_hash(s->world) != before) complain(FEW, k, HAS, c, "done by another copy");
        n++;
    }
    (void)library_told();
    setting_end(s);
    (void)printf("%u calls by another copy of reef\n", (unsigned)n);
}

int main(void)
{
    static setting s;
    static const uint32_t order[] = {FEW, FRESH, FORK, STRICT, WATCHED, DEFERS, LOCKS, FRESH_DEFERS, FRESH_LOCKS};
    paper = tmpfile();
    kinds_make();
    other_make(&s);
    for (uint32_t i = 0; i < WORLDS; i++)
        for (uint32_t k = 0; k < kind_count; k++) run_kind(&s, order[i], k);
    for (uint32_t k = 1; k <= 3; k++) check_home(&kinds[k], k, 0);  /* InSparse ... InCold, as InTable */
    for (uint32_t k = 9; k <= 11; k++) check_home(&kinds[k], k, 8); /* BaseSparse ... BaseCold, as BaseTable */
    run_other_copy(&s);
    reef_snapshot_free(s.other_snapshot);
    reef_world_free(s.other);
    if (paper) (void)fclose(paper);
    while (waiting_count) free(waiting[--waiting_count].block);
    (void)printf("%u calls with %u kinds of types, %u runs, %u compared, %u worlds, %u failures\n",
                 (unsigned)CALL_COUNT, (unsigned)kind_count, (unsigned)runs, (unsigned)compared, (unsigned)rebuilt,
                 (unsigned)failures);
    return failures != 0;
}
