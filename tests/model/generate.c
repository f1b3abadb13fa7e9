/* Making operations. They depend on the seed and on the reference alone, so a list can be made again without
 * running reef. */
#include "fork.h"
#include "hash.h"
#include "pairs.h"

static const uint16_t weights[] = {
#define X(name, weight, part) weight,
    MODEL_OPS(X)
#undef X
};

static char name_text[4][REEF_NAME_MAX + 2];
const char *const model_names[] = {"a", "b", "aa", "a.a", "a.b", "a.b.c", "a.b.d", "b.a", "b.b", "ship", "ship.turret",
                                   "ship.turret.barrel", "ship.turret.base", "ship.hull", "reef", "reef.coral",
                                   "reef.coral.1", "reef.coral.2", "reef.coral.3", "reef.coral.10", "kelp forest",
                                   "x y.z", "Zo\xc3\xab", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10",
                                   "n11", "n12", "n13", "n14", "n15", name_text[0], name_text[1],
                                   /* bad ones */
                                   "", ".", "a.", ".a", "a..b", name_text[2]};

_Static_assert(sizeof model_names / sizeof model_names[0] == NAMES_GOOD + NAMES_BAD,
               "the good names, then the bad ones");

void names_make(void)
{
    memset(name_text[0], 'q', REEF_NAME_MAX);
    memset(name_text[1], 'q', REEF_NAME_MAX - 1);
    memset(name_text[2], 'q', REEF_NAME_MAX + 1);
}

static uint32_t below(generator *g, uint32_t n) { return n == 0 ? 0 : (uint32_t)(random_next(&g->random) % n); }
static bool one_in(generator *g, uint32_t n) { return below(g, n) == 0; }

/* There are four kinds of seeds, since shared pages and switches each turn fast paths off. */
bool seed_has_forks(uint64_t seed) { return seed % 4 == 2 || seed % 4 == 3; }
bool seed_has_switches(uint64_t seed) { return seed % 2 == 0; }
bool seed_has_all(uint64_t seed) { return seed % 4 == 2; }
uint64_t seed_homes(uint64_t seed)
{
    return seed % 4 == 1 && seed / 4 % 2 == 0 ? 0 : seed_has_all(seed) ? value_mix(seed, 8) - 1 : value_mix(seed, 8);
}

/* Those with everything, and others with and without forks. */
bool seed_has_relations(uint64_t seed) { return seed_has_all(seed) || seed % 8 == 0 || seed % 8 == 3; }

void generator_start(generator *g, uint64_t seed)
{
    memset(g, 0, sizeof *g);
    g->random = value_mix(seed, 5) << 20;
    g->forks = seed_has_forks(seed);
    g->all = seed_has_all(seed);
    g->relations = seed_has_relations(seed);
    g->marks = seed_has_switches(seed); /* they close the fast paths as switches do */
}

/* ---- choosing ---- */

static uint32_t some_number(generator *g) { return below(g, g->numbers ? g->numbers : 1); }

static uint32_t living_number(generator *g, const model *m)
{
    const ref_world *r = &m->reference;
    if (r->living_count == 0) return some_number(g);
    return r->entity[r->living[below(g, r->living_count)]].number;
}

/* Usually a living entity, sometimes a dead one. */
static uint32_t subject(generator *g, const model *m, op *o)
{
    switch (below(g, 80)) {
    case 0: return SUBJECT_NULL;
    case 1: return SUBJECT_FAR;
    case 2: o->list[OP_LIST - 1] = some_number(g); return SUBJECT_AHEAD;
    case 3: o->list[OP_LIST - 1] = living_number(g, m); return SUBJECT_AHEAD;
    case 4:
    case 5: return some_number(g);
    default: return living_number(g, m);
    }
}

static uint8_t active_type(generator *g, const model *m)
{
    /* a base, and its subtypes; scripts, which need ticks to start; unique values, which are often refused */
    static const uint8_t often[] = {TYPE_BASE, TYPE_BASE, 3, 8, TYPE_SCRIPT, TYPE_SCRIPT, TYPE_UNIQUE, TYPE_UNIQUE};
    for (;;) {
        uint32_t t = g->all && one_in(g, 6) ? often[below(g, sizeof often)] : below(g, TYPES_MAX);
        if (!((g->quiet ? g->quiet : m->active) >> t & 1)) continue;
        if (g->forks && type_is_bound(&model_types[t]) && !one_in(g, 40))
            continue; /* a world that has it can't be forked */
        if (ref_knows(&m->reference, t) || one_in(g, 30) || (m->active & m->reference.known) == 0) return (uint8_t)t;
    }
}

static void phase_change(generator *g, const model *m)
{
    static const uint32_t targets[] = {5, 30, 60, 120, 200, 300, 400}, fork_targets[] = {0, 0, 1, 3, 8, 25, 75};
    g->calm = 200 + below(g, 4000);
    /* whole worlds are compared often in this phase */
    g->target = targets[below(g, g->all ? 4 : sizeof targets / sizeof targets[0])];
    g->failing = one_in(g, 3);
    g->naming = g->all || one_in(g, 3);
    g->watching = g->all ? !one_in(g, 4) : one_in(g, 4);
    g->quiet = 0;
    bool first = g->forks && g->numbers == 0;
    if (first && g->all) g->watching = true;
    g->forks_target = first ? 70 : fork_targets[below(g, sizeof fork_targets / sizeof fork_targets[0])];
    if (first) g->calm += 2000;
    if (first || one_in(g, 2)) return;
    /* Shared pages, new write versions, open loops, hooks, switches: all these turn reef's fast paths off. In this
     * phase the fast paths are on. */
    g->naming = false;
    g->watching = one_in(g, 12);
    g->failing = one_in(g, 8);
    g->clears = !one_in(g, 3);
    uint32_t few = 0;
    bool narrow = one_in(g, 3); /* no columns but those of 8 bytes */
    for (uint32_t i = 0, n = 2 + below(g, 4); i < 40 && n > 0; i++) {
        uint32_t t = active_type(g, m);
        const model_type *x = &model_types[t];
        if (type_is_hooked(x) || !type_in_table(x) || (narrow && x->size != 0 && x->size != 8)) continue;
        few |= 1u << t;
        n--;
    }
    g->quiet = few;
}

static uint8_t any_type(generator *g, const model *m)
{
    if (one_in(g, 100)) return one_in(g, 2) ? TYPE_ZERO : TYPE_HIGH;
    return active_type(g, m);
}

/* Draws each home equally often, and each other feature of types. */
static uint8_t type_of_features(generator *g, const model *m)
{
    static const uint8_t features[] = {PAIR_TABLE, PAIR_BIT,    PAIR_SPARSE,   PAIR_PAGED,  PAIR_COLD,
                                       PAIR_MULTI, PAIR_SHARED, PAIR_SPLIT,    PAIR_HOOKS,  PAIR_TRACKED,
                                       PAIR_RESET, PAIR_PREFAB, PAIR_REQUIRED, PAIR_SCRIPT, PAIR_UNIQUE};
    if (one_in(g, 6)) return TYPE_BASE;
    const uint32_t feature = features[below(g, sizeof features)];
    for (uint32_t i = 0; i < 200; i++) {
        const uint8_t t = active_type(g, m);
        if (t < TYPES_MAX && pairs_of_type(t) >> feature & 1) return t;
    }
    return active_type(g, m);
}

/* A type that this entity has. */
static uint8_t type_of_entity(generator *g, const model *m, uint32_t number)
{
    const ref_entity *e = ref_alive(&m->reference, model_handle(m, number));
    for (uint32_t i = 0; e && e->set && i < 200; i++) {
        uint32_t t = below(g, TYPES_MAX);
        if (ref_has(e, t)) return (uint8_t)t;
    }
    return any_type(g, m);
}

static uint8_t how_of(generator *g, uint32_t type, bool many)
{
    const model_type *t = type < TYPES_MAX ? &model_types[type] : NULL;
    uint32_t x = below(g, 20);
    if (!t || t->size == 0) return x < 15 ? HOW_DEFAULT : HOW_ONE;
    if (many && x < 10) return t->size > 300 ? HOW_ONE : HOW_ARRAY;
    return x < 14 ? HOW_ONE : x < 17 ? HOW_DEFAULT : x < 18 ? HOW_ARGS : HOW_FROM;
}

static bool names_type(const op *o, uint32_t count, uint8_t type)
{
    for (uint32_t i = 0; i < count; i++)
        if (o->type[i] == type) return true;
    return false;
}

/* Draws different types; short lists are more frequent than long ones. */
static void types(generator *g, const model *m, op *o, uint32_t most)
{
    uint32_t n = 1 + below(g, 1 + below(g, 1 + below(g, most)));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t t = any_type(g, m);
        if (!names_type(o, o->count, t)) o->type[o->count++] = t;
    }
}

static bool sized(const op *o, uint32_t i) { return o->type[i] < TYPES_MAX && model_types[o->type[i]].size > 0; }

/* Spoils a list of values in one way. */
static void spoil(generator *g, op *o, bool kind_too)
{
    uint32_t last = o->count - 1u;
    switch (below(g, 6)) {
    case 0: o->type[last] = TYPE_HIGH; break;
    case 1: o->type[last] = TYPE_ZERO; break;
    case 2:
        if (o->count > 1) o->type[last] = o->type[0];
        if (o->count > 1) o->how[last] = o->how[0];
        break;
    case 3:
        if (sized(o, last)) o->how[last] = HOW_ONE;
        if (sized(o, last)) o->flaw = FLAW_SIZE;
        break;
    case 4:
        if (sized(o, last)) o->how[last] = HOW_ONE;
        if (sized(o, last)) o->flaw = FLAW_DATA;
        break;
    default:
        if (kind_too) o->flaw = FLAW_KIND;
    }
}

static void values(generator *g, const model *m, op *o, bool many)
{
    if (!one_in(g, 30)) types(g, m, o, OP_TYPES);
    for (uint32_t i = 0; i < o->count; i++) o->how[i] = how_of(g, o->type[i], many);
    o->list[0] = living_number(g, m);
    if (o->count > 0 && one_in(g, 40)) spoil(g, o, true);
}

/* ---- forks ---- */

/* Makes more forks or fewer, depending on the phase. */
static op_kind kind_for_forks(generator *g, const model *m)
{
    uint32_t live = forks_live(m);
    if (live > g->forks_target) return OP_FORK_FREE;
    if (live == g->forks_target || !g->forks) return OP_HASH;
    return one_in(g, 4) ? OP_SNAPSHOT_FORK : OP_FORK;
}

/* A query remembers where the chunks are while the world shares none. A snapshot, followed directly by the write of a
 * value, moves what it remembers, and nothing else. */
enum { BURST = 5 };

static op_kind kind_in_burst(generator *g, const model *m)
{
    static const op_kind kinds[BURST] = {OP_QUERY_WALK, OP_WRITE, OP_SNAPSHOT, OP_QUERY_WALK, OP_WRITE};
    if (g->burst == BURST) g->query = below(g, SLOTS);
    for (uint32_t i = 0; i < SLOTS && m->query[g->query].count == 0; i++) g->query = (g->query + 1) % SLOTS;
    return kinds[--g->burst];
}

/* Operations on whole worlds are rare, so two of them seldom come together. Therefore several are sometimes made one
 * after the other. */
enum { MEDLEY = 7 };

static op_kind kind_in_medley(generator *g)
{
    static const op_kind kinds[] = {OP_SAVE,    OP_SAVE,  OP_DIFF,      OP_JOURNAL,   OP_JOURNAL,
                                    OP_HISTORY, OP_MERGE, OP_RESTORE,   OP_SNAPSHOT,  OP_FORK,
                                    OP_DEFER,   OP_TICK,  OP_ADD_WHERE, OP_SET_WHERE, OP_POST};
    g->medley--;
    return kinds[below(g, sizeof kinds / sizeof kinds[0])];
}

/* An entity that the query finds, and a type that it reads. */
static void gen_burst_write(generator *g, const model *m, op *o)
{
    const model_query *q = &m->query[g->query];
    for (uint32_t i = 0; i < 40 && q->count > 0; i++) {
        uint32_t number = living_number(g, m);
        const ref_entity *e = ref_alive(&m->reference, model_handle(m, number));
        uint8_t t = q->type[below(g, q->count)];
        if (!e || !ref_has(e, t) || model_types[t].size == 0) continue;
        o->subject = number;
        o->type[0] = t;
        return;
    }
}

/* Usually an empty slot for operations that make something, and a full one for others. */
static uint32_t fork_slot(generator *g, const model *m, bool full)
{
    uint32_t at = below(g, FORKS), exact = one_in(g, 10);
    for (uint32_t i = 0; i < FORKS && !exact; i++, at = (at + 1) % FORKS)
        if (ref_is_there(&m->fork[at].reference) == full) return at;
    return at;
}
static uint32_t snapshot_slot(generator *g, const model *m)
{
    uint32_t at = below(g, SNAPSHOTS), exact = one_in(g, 10);
    for (uint32_t i = 0; i < SNAPSHOTS && !exact; i++, at = (at + 1) % SNAPSHOTS)
        if (ref_is_there(&m->snapshot[at].reference)) return at;
    return at;
}

static void gen_fork(generator *g, const model *m, op *o)
{
    bool makes = o->kind == OP_FORK || o->kind == OP_SNAPSHOT_FORK;
    o->n = fork_slot(g, m, !makes);
    o->list[0] = o->kind == OP_SNAPSHOT ? below(g, SNAPSHOTS) : snapshot_slot(g, m);
    o->option = one_in(g, 10) ? OPTION_HASHED : 0;
    if (o->kind == OP_RESTORE && one_in(g, 40)) o->option |= OPTION_OTHER_WORLD;
    if (!one_in(g, 2) || (o->kind != OP_FORK && o->kind != OP_SNAPSHOT) || !fork_is_refused(&m->reference)) return;
    memset(o, 0, sizeof *o); /* make it possible */
    o->kind = OP_CLEAR_TYPE;
    o->count = 1;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (type_is_bound(&model_types[t])) o->type[0] = (uint8_t)t;
}

/* What is saved, and where it is loaded. */
static void gen_keep(generator *g, const model *m, op *o)
{
    static const uint8_t ways[] = {0, KEEP_FORK, KEEP_FRESH};
    o->n = fork_slot(g, m, true);
    if (one_in(g, g->all ? 2 : 3)) o->option |= KEEP_SEALED;
    if (o->kind == OP_SAVE) {
        o->option |= ways[below(g, 3)];
        if (one_in(g, 6)) o->option |= KEEP_PORTABLE;
    } else if (o->kind == OP_DIFF) {
        o->option |= (uint8_t)(one_in(g, 2) ? KEEP_BACK : 0);
    } else {
        o->option = one_in(g, 3) ? KEEP_READ : one_in(g, 6) ? KEEP_REOPEN : 0;
        if (one_in(g, 8)) o->option |= KEEP_COMPACT;
        if (one_in(g, 10)) o->option |= KEEP_CLOSE;
    }
}

/* ---- the operations that need more than a subject and a type ---- */

static uint32_t amount(generator *g)
{
    static const uint16_t edges[] = {1022, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3000};
    uint32_t x = below(g, 100);
    if (x == 0 && !g->all) return edges[below(g, sizeof edges / sizeof edges[0])];
    return x < 8 ? 0 : x < 90 ? 1 + below(g, 12) : 1 + below(g, 70);
}

static void gen_spawn_many(generator *g, const model *m, op *o)
{
    values(g, m, o, true);
    o->n = amount(g);
    o->option = one_in(g, 5);
    for (uint32_t i = 0; i < o->count && o->n > 200; i++)
        if (o->how[i] == HOW_ARRAY && model_types[o->type[i]].size > 64) o->how[i] = HOW_ONE;
    if (one_in(g, 60) && o->count > 0) o->how[0] = HOW_REMOVE;
}

static void gen_create_as(generator *g, const model *m, op *o)
{
    const ref_world *r = &m->reference;
    uint32_t index = below(g, r->count ? r->count : 1), variant = below(g, 12);
    for (uint32_t i = 0; i < r->count && variant < 4; i++) { /* reserved ones */
        uint32_t k = (index + i) % r->count;
        if (r->entity[k].life != LIFE_RESERVED) continue;
        index = k;
        break;
    }
    if (variant == 4 || r->count == 0) index = r->count + (one_in(g, 40) ? 5000 : below(g, 5));
    if (variant == 5 && one_in(g, 4)) index = UINT32_MAX - below(g, 2);
    o->list[0] = index;
    o->list[1] = index < r->count ? r->entity[index].generation : 1 + below(g, 2);
    if (variant >= 6 && variant < 9) o->list[1] += below(g, 5);
    if (variant == 9) o->list[1]--;
    if (variant == 10 && one_in(g, 10)) o->list[1] = UINT32_MAX;
    if (variant == 11 && one_in(g, 3)) o->list[1] = 0;
}

static void gen_list(generator *g, const model *m, op *o)
{
    if (one_in(g, 3) && g->numbers > 100) { /* a range */
        o->option = (uint8_t)(1 + 2 * below(g, 2));
        o->n = 1 + below(g, 60);
        o->subject = living_number(g, m);
        return;
    }
    o->n = below(g, OP_LIST + 1);
    for (uint32_t i = 0; i < o->n; i++) o->list[i] = one_in(g, 8) ? some_number(g) : living_number(g, m);
    if (o->n > 3 && one_in(g, 4)) o->list[0] = o->list[o->n - 1];
    if (o->n > 3 && one_in(g, 8)) o->list[1] = SUBJECT_NULL;
}

static void gen_batch(generator *g, const model *m, op *o)
{
    const bool writes = o->kind == OP_WRITE_MANY;
    gen_list(g, m, o);
    do o->type[0] = active_type(g, m);
    while (model_types[o->type[0]].size == 0 && !one_in(g, 20));
    o->count = 1;
    const model_type *t = &model_types[o->type[0]];
    bool fits = ref_knows(&m->reference, o->type[0]) && t->size > 0 && !(writes && t->sort == SORT_MOVER);
    if (!fits) o->kind = OP_READ;
    if (o->kind == OP_READ) o->n = below(g, SLOTS);
    if (t->size > 300 && o->n > OP_LIST) o->n = OP_LIST;
}

static void gen_query_new(generator *g, const model *m, op *o)
{
    types(g, m, o, 4);
    if (g->all && one_in(g, 2)) { /* one that finds many */
        o->count = 1;
        o->type[0] = type_of_features(g, m);
    }
    o->n = below(g, SLOTS);
    o->option = one_in(g, 2);
    for (uint32_t i = 0; i < o->count; i++) {
        bool owns = o->type[i] < TYPES_MAX && (type_has_payload(&model_types[o->type[i]]) || o->type[i] == TYPE_SCRIPT);
        o->how[i] = (uint8_t)below(g, 4);
        if (!sized(o, i)) o->how[i] = one_in(g, 2) ? REEF_WITH : REEF_INOUT;
        /* its fields have types of their own */
        else if (model_types[o->type[i]].home == REEF_SPLIT) o->how[i] = REEF_WITH;
        else if (model_types[o->type[i]].unique && !one_in(g, 3)) o->how[i] = one_in(g, 2) ? REEF_WITH : REEF_IN;
        else if (owns && o->how[i] == REEF_OUT) o->how[i] = REEF_INOUT;
    }
    if (one_in(g, 25) && o->count > 1) o->type[o->count - 1] = o->type[0];
    for (uint32_t i = 0; i < o->count; i++) /* {0} ends a list of terms */
        if (o->type[i] == TYPE_ZERO) o->type[i] = TYPE_HIGH;
}

static void gen_walk(generator *g, const model *m, op *o)
{
    o->n = g->bursting ? g->query : below(g, SLOTS);
    o->type[0] = active_type(g, m);
    for (uint32_t i = 0; i < 50 && !ref_knows(&m->reference, o->type[0]); i++) o->type[0] = active_type(g, m);
    o->option = (uint8_t)((one_in(g, 2) ? 1 : 0) | (one_in(g, 12) && ref_knows(&m->reference, o->type[0]) ? 2 : 0) |
                          (one_in(g, 10) ? 4 : 0) | (one_in(g, 25) ? 8 : 0));
}

static void gen_change(generator *g, const model *m, op *o)
{
    types(g, m, o, OP_TYPES);
    for (uint32_t i = 0; i < o->count; i++) {
        if (one_in(g, 3)) o->type[i] = type_of_entity(g, m, o->subject);
        o->how[i] = one_in(g, 2) ? HOW_REMOVE : how_of(g, o->type[i], false);
    }
    for (uint32_t i = 1; i < o->count; i++)
        if (names_type(o, i, o->type[i]) && !one_in(g, 30)) o->type[i] = o->type[--o->count];
    for (uint32_t i = 1; i < o->count; i++)
        if (names_type(o, i, o->type[i]) && !one_in(g, 30)) o->count = (uint8_t)i;
    o->list[0] = living_number(g, m);
    if (one_in(g, 40)) spoil(g, o, true);
}

static void gen_one_type(generator *g, const model *m, op *o)
{
    bool there = o->kind == OP_REMOVE || o->kind == OP_WRITE || o->kind == OP_READ || o->kind == OP_ENABLE;
    o->count = 1;
    o->type[0] = there && !one_in(g, 12) ? type_of_entity(g, m, o->subject) : any_type(g, m);
    o->option = (uint8_t)below(g, 4);
    o->list[0] = living_number(g, m);
    if (o->kind == OP_READ) o->n = below(g, SLOTS);
    for (uint32_t i = 0; i < 4 && o->kind == OP_WRITE && !sized(o, 0); i++)
        o->type[0] = type_of_entity(g, m, o->subject);
    if (g->bursting && o->kind == OP_WRITE) gen_burst_write(g, m, o);
    if (o->kind == OP_SET) {
        o->how[0] = one_in(g, 5) ? HOW_FROM : HOW_ONE;
        if (one_in(g, 40)) spoil(g, o, false);
    }
}

/* Sorts by a value that some entity has; only tables with some of its types, or only its table. */
static void gen_sort(generator *g, const model *m, op *o)
{
    const ref_entity *e = ref_alive(&m->reference, model_handle(m, living_number(g, m)));
    uint32_t set = e ? e->set & ~ref_outside() : 0;
    o->option = (uint8_t)below(g, 2 * ORDER_EXACTLY);
    if (one_in(g, 3)) o->option &= ORDER_DESCENDING; /* all tables by entity */
    if (one_in(g, 4)) o->option = ORDER_GROUPED;
    if (one_in(g, 12) || !set) {
        types(g, m, o, 3); /* anything */
        if (o->count == 0) o->option = 0;
        return;
    }
    for (uint32_t i = 0, at = below(g, TYPES_MAX); i < TYPES_MAX && o->count < OP_TYPES;
         i++, at = (at + 1) % TYPES_MAX) {
        if (!(set >> at & 1)) continue;
        o->type[o->count++] = (uint8_t)at;
        if (model_types[at].size == 0 || model_types[at].home == REEF_SPLIT || o->count == 1) continue;
        o->type[o->count - 1] = o->type[0]; /* a value to sort by comes first */
        o->type[0] = (uint8_t)at;
    }
    if (!(o->option & ORDER_EXACTLY))
        o->count = (uint8_t)(o->option & ORDER_BY_VALUE ? 1 + below(g, 2) % o->count : below(g, 2));
}

/* A value that several entities share, usually of a type in REEF_SHARED. */
static void gen_share(generator *g, const model *m, op *o)
{
    gen_one_type(g, m, o);
    for (uint32_t i = 0;
         i < 20 && !one_in(g, 30) && (o->type[0] >= TYPES_MAX || model_types[o->type[0]].home != REEF_SHARED); i++)
        o->type[0] = active_type(g, m);
    for (uint32_t i = 0; i < 20; i++) {
        const ref_entity *e = ref_alive(&m->reference, model_handle(m, o->list[0]));
        if (e && ref_has(e, o->type[0])) return;
        o->list[0] = living_number(g, m);
    }
}

/* There are too many entities: destroys most of them, in one of several ways. */
static void gen_decimate(generator *g, const model *m, op *o)
{
    if (one_in(g, 6)) {
        o->kind = OP_WORLD_CLEAR;
    } else if (one_in(g, 3)) {
        o->kind = OP_DESTROY_WITH;
        o->count = 1;
        o->type[0] = active_type(g, m);
    } else {
        o->kind = OP_DESTROY_MANY;
        o->option = (uint8_t)(1 + 2 * below(g, 2));
        o->n = 200 + below(g, 3800);
        o->subject = living_number(g, m);
        if (o->subject < SUBJECT_FIRST && o->subject > o->n / 2) o->subject -= o->n / 2;
    }
}

/* ---- observers ---- */

/* An observed type, if there is one, so that observers are called. */
static void observed_instead(generator *g, const model *m, op *o)
{
    const ref_observer *x = &m->reference.observer[below(g, OBSERVERS)];
    if (!g->all || !x->events || x->type >= TYPES_MAX || !one_in(g, 4)) return;
    o->type[0] = (uint8_t)x->type;
    const ref_entity *e = ref_alive(&m->reference, model_handle(m, o->subject));
    if (o->kind == OP_ADD && e && ref_has(e, x->type) && !ref_is_multi(x->type)) o->kind = OP_REMOVE;
    else if (o->kind == OP_REMOVE && e && !ref_has(e, x->type)) o->kind = OP_ADD;
}

/* Makes an observer if there are few, removes one if there are many. */
static void gen_observe(generator *g, const model *m, op *o)
{
    static const uint32_t events[] = {REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE, REEF_ON_ADD, REEF_ON_REMOVE,
                                      REEF_ON_SET | REEF_ON_REMOVE};
    o->n = below(g, OBSERVERS);
    for (uint32_t i = 0; i < OBSERVERS && !g->watching; i++)
        if (m->reference.observer[i].events) o->n = i;
    o->count = 1;
    o->type[0] = g->all && !one_in(g, 20) ? type_of_features(g, m) : any_type(g, m);
    if (o->type[0] == TYPE_ZERO) o->type[0] = TYPE_HIGH;
    if (g->relations && one_in(g, 3)) o->type[0] = (uint8_t)(OBSERVED_RELATIONS + below(g, RELATIONS));
    o->list[0] = events[one_in(g, 2) ? 0 : below(g, 4)];
    o->option = (uint8_t)below(g, 2);
}

static bool is_observed(const ref_world *r)
{
    uint32_t events = 0;
    for (uint32_t i = 0; i < OBSERVERS; i++) events |= r->observer[i].events;
    return events != 0;
}

/* ---- one operation ---- */

static op_kind kind_by_weight(generator *g)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < OP_COUNT; i++) sum += weights[i];
    uint32_t x = below(g, sum), k = 0;
    while (x >= weights[k]) x -= weights[k++];
    return (op_kind)k;
}

static op_kind kind_for_population(generator *g, const model *m, op_kind k)
{
    uint32_t n = m->reference.living_count;
    bool makes = k == OP_CREATE || k == OP_SPAWN || k == OP_CLONE || k == OP_BUNDLE_SPAWN || k == OP_SPAWN_MANY;
    if (n > g->target && makes && !one_in(g, 3)) return OP_DESTROY;
    if (n < g->target / 2 && (k == OP_DESTROY || k == OP_DESTROY_MANY) && !one_in(g, 3))
        return one_in(g, 3) ? OP_CREATE : OP_SPAWN;
    return k;
}

static bool is_fork(op_kind k)
{
    return k == OP_FORK || k == OP_FORK_SWAP || k == OP_FORK_FREE || k == OP_SNAPSHOT || k == OP_SNAPSHOT_FREE ||
           k == OP_SNAPSHOT_FORK || k == OP_RESTORE || k == OP_DIFF || k == OP_JOURNAL || k == OP_HISTORY ||
           k == OP_MERGE;
}

static bool is_loud(op_kind k)
{
    return (is_fork(k) && k != OP_FORK_FREE) || k == OP_QUERY_WALK || k == OP_DEFER || k == OP_TICK || k == OP_SHRINK ||
           k == OP_NAME || k == OP_WORLD_CLEAR || k == OP_HASH || k == OP_SAVE;
}

static op_kind kind_for_phase(generator *g, op_kind k)
{
    static const op_kind instead[] = {OP_ADD, OP_REMOVE, OP_SET, OP_DESTROY, OP_SPAWN, OP_WRITE};
    if ((is_fork(k) && !g->forks) || (k == OP_ENABLE && (!g->marks || g->quiet)) ||
        (g->quiet && is_loud(k) && !one_in(g, 40)))
        k = instead[below(g, sizeof instead / sizeof instead[0])];
    return k == OP_NAME && !g->naming ? OP_FIND : k;
}

static void gen_spawn(generator *g, const model *m, op *o)
{
    values(g, m, o, false);
    if (one_in(g, 100) && o->count > 0) o->how[0] = HOW_REMOVE;
}

static void gen_bundle(generator *g, const model *m, op *o)
{
    types(g, m, o, OP_TYPES);
    if (one_in(g, 25) && o->count > 1) o->type[o->count - 1] = o->type[0];
    o->n = below(g, SLOTS);
}

static void gen_hash(generator *g, const model *m, op *o)
{
    o->option = (uint8_t)below(g, HASH_WAYS);
    if (o->option == HASH_OF_FORK && !one_in(g, 8)) o->option = HASH_KEPT;
    o->type[0] = active_type(g, m);
}

/* A loop about one type of relations: the first two of the list are the sources, the next three the targets. */
static void mix_relations(generator *g, const model *m, op *o)
{
    const ref_world *r = &m->reference;
    o->option |= DEFER_MIXED;
    o->n = below(g, RELATIONS);
    for (uint32_t i = 0; i < 5; i++) o->list[i] = living_number(g, m);
    if (r->link_count == 0 || one_in(g, 6)) return;
    const ref_link *x = &r->link[below(g, r->link_count)];
    o->n = x->relation;
    o->list[0] = r->entity[x->source].number;
    o->list[2] = r->entity[x->target].number;
    if (one_in(g, 3)) o->list[1] = o->list[2]; /* and the other way round */
    if (one_in(g, 3)) o->list[3] = o->list[0];
}

static void gen_deferred(generator *g, const model *m, op *o)
{
    types(g, m, o, 6);
    for (uint32_t i = 0; g->all && i < 2; i++) {
        const uint8_t t = type_of_features(g, m);
        if (o->count < OP_TYPES && !names_type(o, o->count, t)) o->type[o->count++] = t;
    }
    for (uint32_t i = 0; i < OP_LIST; i++) o->list[i] = one_in(g, 12) ? some_number(g) : living_number(g, m);
    for (uint32_t i = 1; i < OP_LIST; i += 2) o->list[i] = o->list[i - 1]; /* requests that meet */
    o->option = (uint8_t)(below(g, 2) | (g->relations ? DEFER_RELATES : 0));
    if (o->kind == OP_DEFER && g->relations && one_in(g, 3)) mix_relations(g, m, o);
}

/* ---- relations ---- */

enum { LINKS_PLENTY = 120 };

static op_kind kind_of_relation(generator *g, const model *m)
{
    static const op_kind kinds[] = {
        OP_RELATE,         OP_RELATE,        OP_RELATE,        OP_RELATE,      OP_RELATE,       OP_RELATE,
        OP_RELATE,         OP_RELATE_BEFORE, OP_RELATE_BEFORE, OP_UNRELATE,    OP_UNRELATE_ALL, OP_RETARGET,
        OP_RELATION_WRITE, OP_KIN,           OP_MAKE_PREFAB,   OP_INSTANTIATE, OP_INSTANTIATE,  OP_INSTANTIATE};
    const op_kind k = kinds[below(g, sizeof kinds / sizeof kinds[0])];
    return k == OP_RELATE && m->reference.link_count > LINKS_PLENTY ? OP_UNRELATE : k;
}

/* Takes the source, the target and the type from a relation that is there. */
static const ref_link *some_link(generator *g, const model *m, op *o)
{
    const ref_world *r = &m->reference;
    if (r->link_count == 0 || one_in(g, 8)) return NULL;
    const ref_link *x = &r->link[below(g, r->link_count)];
    o->type[0] = (uint8_t)x->relation;
    o->subject = r->entity[x->source].number;
    o->list[0] = r->entity[x->target].number;
    return x;
}

/* The link of a child to its parent; NULL: there is none. */
static const ref_link *some_child(generator *g, const model *m)
{
    const ref_world *r = &m->reference;
    for (uint32_t i = 0, at = below(g, r->link_count); i < r->link_count; i++, at = (at + 1) % r->link_count)
        if (r->link[at].relation == RELATION_CHILD) return &r->link[at];
    return NULL;
}

/* Relates a child and its parent in both directions: only such relations are copied with a tree. */
static void gen_relate_inside(generator *g, const model *m, op *o)
{
    const ref_link *x = some_child(g, m);
    if (!x) return;
    do o->type[0] = (uint8_t)below(g, RELATIONS);
    while (!relation_is(o->type[0], REEF_SYMMETRIC));
    o->subject = m->reference.entity[x->source].number;
    o->list[0] = m->reference.entity[x->target].number;
}

static void gen_relate(generator *g, const model *m, op *o)
{
    const ref_link *x = NULL;
    o->type[0] = (uint8_t)(one_in(g, 4) ? RELATION_CHILD : below(g, RELATIONS));
    if (relation_is(o->type[0], REEF_CASCADE) && o->type[0] != RELATION_CHILD && one_in(g, 2)) o->type[0] = 1;
    o->list[0] = one_in(g, 40) ? some_number(g) : living_number(g, m);
    o->list[1] = one_in(g, 40) ? some_number(g) : living_number(g, m);
    if (one_in(g, 100)) o->list[0] = SUBJECT_NULL;
    if (one_in(g, 60)) o->list[0] = o->subject;
    const bool there =
        o->kind == OP_UNRELATE || o->kind == OP_RETARGET || o->kind == OP_RELATION_WRITE || o->kind == OP_UNRELATE_ALL;
    if (there || one_in(g, 10)) x = some_link(g, m, o);
    if (o->kind == OP_RELATE_BEFORE && (x = some_link(g, m, o)) != NULL) {
        o->list[1] = o->subject;
        if (one_in(g, 10)) o->list[1] = SUBJECT_NULL;
        const ref_link *y = &m->reference.link[below(g, m->reference.link_count)];
        const bool fellow = y->relation == x->relation && y->target == x->target;
        o->subject = fellow ? m->reference.entity[y->source].number : living_number(g, m);
    }
    if (o->kind == OP_UNRELATE_ALL) {
        o->option = (uint8_t)below(g, one_in(g, 6) ? UNRELATE_WAYS : UNRELATE_TYPE);
        if (o->option == UNRELATE_SOURCES && x) o->subject = o->list[0];
    }
    if (o->kind != OP_RELATE) return;
    if (g->all && one_in(g, 6)) gen_relate_inside(g, m, o);
    o->option =
        (uint8_t)((model_relations[o->type[0]].data < TYPES_MAX ? one_in(g, 2) : one_in(g, 50)) ? RELATE_DATA : 0);
    if (one_in(g, 6)) o->option |= one_in(g, 3) ? RELATE_BY_CHANGE : RELATE_BY_SET;
    if (one_in(g, 50)) o->option |= RELATE_WRONG_SIZE;
}

/* A template with a unique value can be copied only once at a time, and with another one. */
static void unique_replaced(generator *g, const model *m, op *o)
{
    const ref_entity *e = ref_alive(&m->reference, model_handle(m, o->subject));
    for (uint8_t t = 0; e && t < TYPES_MAX; t++) {
        if (!model_types[t].unique || !ref_has(e, t) || one_in(g, 4)) continue;
        o->how[o->count] = HOW_ONE;
        o->type[o->count++] = t;
        o->n = 1;
    }
}

/* Values for the root, often in place of those that it has. */
static void gen_copy_values(generator *g, const model *m, op *o)
{
    op given = *o;
    gen_change(g, m, &given);
    o->list[0] = given.list[0];
    unique_replaced(g, m, o);
    for (uint32_t i = 0; i < given.count && o->count < OP_TYPES; i++) {
        uint8_t t = given.type[i];
        if (!one_in(g, 3)) t = one_in(g, 3) ? type_of_features(g, m) : type_of_entity(g, m, o->subject);
        if (names_type(o, o->count, t)) continue;
        o->how[o->count] = t == given.type[i] ? given.how[i] : how_of(g, t, true);
        o->type[o->count++] = t;
        if (i + 1u == given.count && t == given.type[i]) o->flaw = given.flaw; /* that of the last one */
    }
}

static void gen_tree(generator *g, const model *m, op *o)
{
    const ref_world *r = &m->reference;
    for (uint32_t i = 0; i < 6 && r->link_count; i++) { /* mostly one with children, often a template */
        const ref_link *x = &r->link[below(g, r->link_count)];
        if (x->relation == RELATION_CHILD) o->subject = r->entity[x->target].number;
        if (x->relation == RELATION_CHILD && ref_has(&r->entity[x->target], TYPE_PREFAB)) break;
    }
    o->n = below(g, 4);
    o->option = (uint8_t)((one_in(g, 3) ? TREE_CLONE : 0) | (one_in(g, 6) ? TREE_UNASKED : 0));
    if (o->option & TREE_CLONE || one_in(g, 3)) return;
    if (g->all) {
        gen_copy_values(g, m, o);
        return;
    }
    gen_change(g, m, o);
    if (one_in(g, 4)) o->how[0] = sized(o, 0) ? HOW_ARRAY : o->how[0];
}

/* ---- what is soon said ---- */

static void gen_nothing(generator *g, const model *m, op *o) { (void)g, (void)m, (void)o; }
static void gen_option(generator *g, const model *m, op *o) { (void)m, o->option = (uint8_t)below(g, 2); }
static void gen_slot(generator *g, const model *m, op *o) { (void)m, o->n = below(g, SLOTS); }
static void gen_found(generator *g, const model *m, op *o) { (void)m, o->n = below(g, NAMES_GOOD + NAMES_BAD); }
static void gen_reserve(generator *g, const model *m, op *o) { (void)m, o->n = below(g, 3000); }
static void gen_clone_many(generator *g, const model *m, op *o)
{
    (void)m;
    o->n = amount(g);
    if (g->relations && o->n > 6) o->n = 6; /* each has the relations of its origin */
    o->option = one_in(g, 5);
}
static void gen_bundle_spawn(generator *g, const model *m, op *o)
{
    gen_slot(g, m, o);
    o->option = one_in(g, 50);
}
static void gen_destroy_with(generator *g, const model *m, op *o)
{
    types(g, m, o, 4);
    o->option = (uint8_t)below(g, 2);
}
static void gen_name(generator *g, const model *m, op *o)
{
    const ref_link *x = g->all && one_in(g, 2) ? some_child(g, m) : NULL;
    if (x) o->subject = m->reference.entity[x->source].number;
    o->n = one_in(g, 5) ? NAME_NONE : below(g, one_in(g, 10) ? NAMES_GOOD + NAMES_BAD : NAMES_GOOD);
}
static void gen_reserve_range(generator *g, const model *m, op *o)
{
    (void)m;
    o->n = one_in(g, 8) ? 4000 + below(g, 6000) : below(g, 60);
}
static void gen_reserve_for(generator *g, const model *m, op *o)
{
    types(g, m, o, 5);
    o->n = one_in(g, 4) ? below(g, 1500) : below(g, 100);
}
static void gen_merge(generator *g, const model *m, op *o)
{
    o->n = fork_slot(g, m, true);
    o->option = (uint8_t)below(g, 2);
    if (!ref_unique_in_both(&m->reference, &m->fork[o->n].reference) || !one_in(g, 2)) return;
    o->kind = OP_CLEAR_TYPE; /* make it possible */
    o->count = 1;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (model_types[t].unique) o->type[0] = (uint8_t)t;
}
static void gen_where(generator *g, const model *m, op *o)
{
    gen_one_type(g, m, o);
    o->n = below(g, SLOTS);
}
static void gen_add_or_remove(generator *g, const model *m, op *o)
{
    gen_one_type(g, m, o);
    observed_instead(g, m, o);
}
/* Mostly somebody who is reserved. */
static void gen_release_id(generator *g, const model *m, op *o)
{
    const ref_world *r = &m->reference;
    gen_one_type(g, m, o);
    if (one_in(g, 8)) return;
    for (uint32_t i = 0, at = below(g, r->count); i < r->count; i++, at = (at + 1) % r->count)
        if (r->entity[at].life == LIFE_RESERVED) o->subject = r->entity[at].number;
}

/* What an operation needs besides its subject; NULL: a type. */
typedef void (*gen_function)(generator *g, const model *m, op *o);
static const gen_function generators[OP_COUNT] = {
    [OP_CREATE] = gen_option,
    [OP_REMOVE_ALL] = gen_option,
    [OP_SPAWN] = gen_spawn,
    [OP_SPAWN_MANY] = gen_spawn_many,
    [OP_CLONE_MANY] = gen_clone_many,
    [OP_RELATE] = gen_relate,
    [OP_RELATE_BEFORE] = gen_relate,
    [OP_UNRELATE] = gen_relate,
    [OP_RETARGET] = gen_relate,
    [OP_UNRELATE_ALL] = gen_relate,
    [OP_RELATION_WRITE] = gen_relate,
    [OP_KIN] = gen_relate,
    [OP_INSTANTIATE] = gen_tree,
    [OP_MAKE_PREFAB] = gen_nothing,
    [OP_CREATE_AS] = gen_create_as,
    [OP_BUNDLE_NEW] = gen_bundle,
    [OP_BUNDLE_FREE] = gen_slot,
    [OP_QUERY_FREE] = gen_slot,
    [OP_FORK] = gen_fork,
    [OP_FORK_SWAP] = gen_fork,
    [OP_FORK_FREE] = gen_fork,
    [OP_SNAPSHOT] = gen_fork,
    [OP_SNAPSHOT_FREE] = gen_fork,
    [OP_SNAPSHOT_FORK] = gen_fork,
    [OP_RESTORE] = gen_fork,
    [OP_SAVE] = gen_keep,
    [OP_DIFF] = gen_keep,
    [OP_JOURNAL] = gen_keep,
    [OP_HASH] = gen_hash,
    [OP_BUNDLE_SPAWN] = gen_bundle_spawn,
    [OP_DESTROY_MANY] = gen_list,
    [OP_DESTROY_WITH] = gen_destroy_with,
    [OP_SORT] = gen_sort,
    [OP_GET_MANY] = gen_batch,
    [OP_WRITE_MANY] = gen_batch,
    [OP_CHANGE] = gen_change,
    [OP_NAME] = gen_name,
    [OP_FIND] = gen_found,
    [OP_INDEX] = gen_nothing,
    [OP_RESERVE_RANGE] = gen_reserve_range,
    [OP_RESERVE] = gen_reserve,
    [OP_RESERVE_FOR] = gen_reserve_for,
    [OP_DEFER] = gen_deferred,
    [OP_HISTORY] = gen_deferred,
    [OP_TICK] = gen_deferred,
    [OP_OBSERVE] = gen_observe,
    [OP_MERGE] = gen_merge,
    [OP_POST] = gen_nothing,
    [OP_SHARE] = gen_share,
    [OP_QUERY_NEW] = gen_query_new,
    [OP_QUERY_WALK] = gen_walk,
    [OP_ADD_WHERE] = gen_where,
    [OP_REMOVE_WHERE] = gen_where,
    [OP_SET_WHERE] = gen_where,
    [OP_ENABLE_WHERE] = gen_where,
    [OP_DESTROY_WHERE] = gen_where,
    [OP_ADD] = gen_add_or_remove,
    [OP_REMOVE] = gen_add_or_remove,
    [OP_RELEASE_ID] = gen_release_id,
};

static void fill_in(generator *g, const model *m, op *o)
{
    const gen_function f = generators[o->kind] ? generators[o->kind] : gen_one_type;
    o->subject = subject(g, m, o);
    f(g, m, o);
}

void generate(generator *g, const model *m, op *o)
{
    if (g->calm == 0) phase_change(g, m);
    g->calm--;
    memset(o, 0, sizeof *o);
    o->value = random_next(&g->random);
    o->made = g->numbers;
    o->kind = (uint8_t)kind_for_population(g, m, kind_for_phase(g, kind_by_weight(g)));
    if (g->forks && !g->quiet && one_in(g, 24)) o->kind = (uint8_t)kind_for_forks(g, m);
    g->bursting = g->burst != 0;
    if (g->bursting) o->kind = (uint8_t)kind_in_burst(g, m);
    else if (g->forks && one_in(g, 150)) g->burst = BURST;
    if (!g->bursting && (g->watching ? one_in(g, g->all ? 12 : 40) : is_observed(&m->reference) && one_in(g, 3)))
        o->kind = OP_OBSERVE;
    if (g->all && !g->bursting && one_in(g, 40)) o->kind = g->naming && one_in(g, 2) ? OP_NAME : OP_SHARE;
    if (g->relations && !g->quiet && !g->bursting && one_in(g, 4)) o->kind = (uint8_t)kind_of_relation(g, m);
    if (g->medley && !g->bursting && one_in(g, 3)) o->kind = (uint8_t)kind_in_medley(g);
    else if (g->all && !g->quiet && one_in(g, 90)) g->medley = MEDLEY;
    uint32_t living = m->reference.living_count;
    if (g->clears && g->quiet) {
        o->kind = OP_WORLD_CLEAR;
        g->clears = false;
    } else if (living > 900 ? one_in(g, 120) : living > g->target * 2 + 50 && one_in(g, 60)) {
        gen_decimate(g, m, o);
    } else {
        fill_in(g, m, o);
    }
    if (one_in(g, g->failing ? 3 : 60)) {
        o->fail_at = (uint16_t)(1 + below(g, 1 + below(g, 8)));
        o->fail_on = one_in(g, 2);
    }
    /* there is no pointer to its value */
    if (o->kind == OP_ENSURE && o->type[0] < TYPES_MAX && model_types[o->type[0]].home == REEF_SPLIT) o->kind = OP_ADD;
    if (o->kind == OP_RELATION_WRITE && (o->value >> 5) % 3 == 0) { /* its type is enabled or disabled */
        o->kind = OP_ENABLE;
        o->type[0] += OBSERVED_RELATIONS;
        o->option = o->value >> 7 & 1 ? OPTION_ON : 0;
    }
    g->numbers += op_makes(o);
}
