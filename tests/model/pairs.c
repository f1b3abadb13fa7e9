/* The model test is only as good as the combinations that it tries. A feature is in play
 *
 *   of values       on an entity that is compared, or of which an observer is told
 *   of operations   when reef and the reference have done one and agree; it meets what the entities that it is about
 *                   have, or for what is done
 *                   to whole worlds what any entity has, and what else lately was done to this world
 *
 * So a pair counts only if both features are in one world, and features of values on one entity, in one check. */
#include "pairs.h"
#include "fork.h"

enum { LATELY = 150 /* operations */ };

pair_counts pairs_counted;

static const char *const feature_names[] = {
#define X(name, text) text,
    PAIR_FEATURES(X)
#undef X
};

void pairs_meet(uint64_t a, uint64_t b)
{
    for (uint32_t i = 0; a >> i; i++) {
        if (!(a >> i & 1)) continue;
        for (uint32_t k = 0; b >> k; k++)
            if ((b >> k & 1) && i != k) pairs_counted.met[i > k ? i : k][i > k ? k : i]++;
    }
}

/* ---- what is in play ---- */

uint64_t pairs_of_type(uint32_t type)
{
    static uint64_t known[TYPES_MAX];
    if (type >= TYPES_MAX) return 0;
    if (known[type]) return known[type];
    const model_type *t = &model_types[type];
    uint64_t set = 0;
    switch (t->home) {
    case REEF_TABLE: set = PAIR_BIT(TABLE); break;
    case REEF_BIT: set = PAIR_BIT(BIT); break;
    case REEF_SPARSE: set = PAIR_BIT(SPARSE); break;
    case REEF_PAGED: set = PAIR_BIT(PAGED); break;
    case REEF_COLD: set = PAIR_BIT(COLD); break;
    case REEF_MULTI: set = PAIR_BIT(MULTI); break;
    case REEF_SHARED: set = PAIR_BIT(SHARED); break;
    default: set = PAIR_BIT(SPLIT); break;
    }
    if (t->base < TYPES_MAX) set |= PAIR_BIT(SUBTYPE);
    if (t->sort >= SORT_OWNER) set |= PAIR_BIT(HOOKS);
    if (t->tracked) set |= PAIR_BIT(TRACKED);
    if (t->on_fork != REEF_FORK_COPY) set |= PAIR_BIT(RESET);
    if (t->required) set |= PAIR_BIT(REQUIRED);
    if (t->unique) set |= PAIR_BIT(UNIQUE);
    if (type == TYPE_PREFAB) set |= PAIR_BIT(PREFAB);
    if (type == TYPE_SCRIPT) set |= PAIR_BIT(SCRIPT);
    return known[type] = set;
}

uint64_t pairs_of_relation(uint32_t relation)
{
    const model_relation *x = &model_relations[relation];
    uint64_t set = x->options & REEF_EXCLUSIVE ? PAIR_BIT(EXCLUSIVE) : PAIR_BIT(SEVERAL);
    if (x->data < TYPES_MAX) set |= PAIR_BIT(WITH_DATA);
    if (x->options & REEF_SYMMETRIC) set |= PAIR_BIT(SYMMETRIC);
    if (x->options & REEF_TRANSITIVE) set |= PAIR_BIT(TRANSITIVE);
    if (x->options & REEF_CASCADE) set |= PAIR_BIT(CASCADE);
    if (x->options & REEF_KEEPS_TARGET) set |= PAIR_BIT(KEEPS);
    if (relation == RELATION_CHILD) set |= PAIR_BIT(CHILD);
    if (relation == RELATION_INSTANCE) set |= PAIR_BIT(INSTANCE);
    return set;
}

uint64_t pairs_of_entity(const ref_entity *e)
{
    uint64_t set = (e->disabled || e->unseen || e->off ? PAIR_BIT(DISABLED) : 0) | (e->name ? PAIR_BIT(NAME) : 0);
    if (e->name && e->out[RELATION_CHILD]) set |= PAIR_BIT(INNER_NAME);
    if (e->linked) set |= PAIR_BIT(TARGET);
    for (uint32_t i = 0; e->links && i < RELATIONS; i++)
        if (e->out[i]) set |= pairs_of_relation(i);
    if (ref_has(e, TYPE_SCRIPT) && e->mark) set |= PAIR_BIT(STARTED);
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (e->set >> t & 1) set |= pairs_of_type(t);
    return set;
}

uint64_t pairs_of_world(const ref_world *r)
{
    uint64_t set = r->event_count ? PAIR_BIT(EVENTS) : 0;
    for (uint32_t i = 0; i < r->living_count; i++) set |= pairs_of_entity(&r->entity[r->living[i]]);
    return set;
}

/* The features of this world: which others share memory with it, and what was done to it lately. */
static uint64_t lately(const model *m)
{
    const ref_world *r = &m->reference;
    uint64_t set = 0;
    for (uint32_t i = 0; i < PAIR_COUNT; i++)
        if (r->lately[i] && r->time - r->lately[i] < LATELY) set |= UINT64_C(1) << i;
    if (m->journal && m->journal_world == m->world) set |= PAIR_BIT(JOURNAL);
    return set;
}

void pairs_compared(const model *m, const ref_entity *e)
{
    const uint64_t set = pairs_of_entity(e) | (m->reference.event_count ? PAIR_BIT(EVENTS) : 0);
    pairs_meet(set, set & (set - 1) ? set : 0);
}

void pairs_happened(model *m, pair_feature feature)
{
    pairs_meet(UINT64_C(1) << feature, lately(m));
    m->reference.lately[feature] = m->reference.time;
}

/* ---- operations ---- */

/* The features of the types and the entities of an operation. */
static uint64_t about(const model *m, const op *o)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < o->count; i++) set |= ref_knows(&m->reference, o->type[i]) ? pairs_of_type(o->type[i]) : 0;
    for (uint32_t i = 0; i < OP_LIST; i++) {
        const ref_entity *e = ref_alive(&m->reference, model_handle(m, o->list[i]));
        if (e) set |= pairs_of_entity(e) & PAIRS_OF_WHOLE_ENTITIES;
    }
    return set | m->relating;
}

/* What the entities of a tree have. */
static uint64_t copied(const model *m)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < m->want.made_count; i++) {
        const ref_entity *e = ref_alive(&m->reference, m->want.made[i]);
        if (e) set |= pairs_of_entity(e);
    }
    return set;
}

static void happened(model *m, pair_feature feature, uint64_t with)
{
    pairs_meet(UINT64_C(1) << feature, with);
    pairs_happened(m, feature);
}

/* What is in play with values that a call gives to copies: their types, with `replaced` of those that the original has
 * too, and what the copies have beside types. */
static uint64_t given_to_copies(const model *m, const op *o, bool replaced)
{
    const ref_entity *from = ref_alive(&m->reference, model_handle(m, o->subject));
    uint64_t set = 0, of_types = 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++) of_types |= pairs_of_type(t);
    for (uint32_t i = 0; i < o->count && !(o->option & TREE_CLONE); i++)
        if (o->how[i] != HOW_REMOVE && (!replaced || (from && ref_has(from, o->type[i]))))
            set |= pairs_of_type(o->type[i]);
    return set ? set | (copied(m) & ~of_types) : 0;
}

static void given_happened(model *m, const op *o)
{
    const uint64_t given = given_to_copies(m, o, false), replaced = given_to_copies(m, o, true);
    if (given) happened(m, PAIR_GIVEN, given);
    if (replaced) happened(m, PAIR_REPLACED, replaced);
}

/* What the query of an operation visits now. */
static uint64_t visited(const model *m, const op *o)
{
    const model_query *q = &m->query[o->n];
    uint32_t set = 0, n = 0;
    uint64_t features = 0;
    for (uint32_t i = 0; i < q->count; i++) set |= 1u << q->type[i];
    for (uint32_t i = 0; q->count && i < m->reference.living_count; i++) {
        const ref_entity *e = &m->reference.entity[m->reference.living[i]];
        if (!ref_matches(e, set)) continue;
        features |= pairs_of_entity(e);
        n++;
    }
    return n ? features | (o->type[0] < TYPES_MAX ? pairs_of_type(o->type[0]) : 0) : 0;
}

void pairs_of_op(model *m, const op *o)
{
    if (m->want.status < REEF_OK || m->failed) return;
    switch ((op_kind)o->kind) {
    case OP_DEFER: happened(m, PAIR_DEFERRED, about(m, o)); break;
    case OP_TICK: happened(m, PAIR_TICK, about(m, o)); /* fallthrough */
    case OP_POST:
        if (m->reference.event_count) pairs_happened(m, PAIR_EVENTS);
        break;
    case OP_HISTORY: happened(m, PAIR_HISTORY, pairs_of_world(&m->reference)); break;
    case OP_MERGE:
        if (m->want.number) happened(m, PAIR_MERGE, pairs_of_world(&m->fork[o->n].reference));
        break;
    case OP_ADD_WHERE:
    case OP_REMOVE_WHERE:
    case OP_SET_WHERE:
    case OP_ENABLE_WHERE: happened(m, PAIR_WHOLE, visited(m, o)); break;
    case OP_INSTANTIATE:
        if (m->want.made_count > 1) happened(m, PAIR_TREE, copied(m));
        if (m->want.made_count) given_happened(m, o);
        break;
    case OP_FORK: happened(m, PAIR_FORK, pairs_of_world(&m->reference)); break;
    case OP_SNAPSHOT: happened(m, PAIR_SNAPSHOT, pairs_of_world(&m->reference)); break;
    case OP_RESTORE: happened(m, PAIR_RESTORE, pairs_of_world(&m->reference)); break;
    case OP_SAVE:
        if ((o->option & KEEP_FRESH) || !(o->option & KEEP_FORK))
            happened(m, o->option & KEEP_SEALED ? PAIR_SEALED : PAIR_UNSEALED, pairs_of_world(&m->reference));
        break;
    case OP_DIFF:
        if (ref_is_there(&m->fork[o->n].reference) && m->want.number == 0)
            happened(m, PAIR_DIFFERENCE, pairs_of_world(&m->reference));
        break;
    case OP_JOURNAL:
        if (o->option & (KEEP_READ | KEEP_REOPEN)) happened(m, PAIR_JOURNAL, pairs_of_world(&m->reference));
        break;
    case OP_KIN:
        if (m->asking) happened(m, PAIR_ASKED, pairs_of_world(&m->reference));
        if (m->asking & PAIR_BIT(CUT)) happened(m, PAIR_CUT, pairs_of_world(&m->reference)); /* a way was cut */
        break;
    default: break;
    }
}

/* ---- the table ---- */

void pairs_add(pair_counts *to, const pair_counts *from)
{
    for (uint32_t i = 0; i < PAIR_COUNT; i++)
        for (uint32_t k = 0; k < i; k++) to->met[i][k] += from->met[i][k];
}

/* Four characters. */
static void print_number(uint64_t n)
{
    if (n < 1000) printf("%4llu", (unsigned long long)n);
    else if (n < 1000000) printf("%3lluk", (unsigned long long)(n / 1000));
    else printf("%3lluM", (unsigned long long)(n / 1000000));
}

void pairs_print(const pair_counts *c)
{
    printf("how often each pair of features met:\n");
    for (uint32_t i = 0; i < PAIR_COUNT; i++) {
        printf("%11s", feature_names[i]);
        for (uint32_t k = 0; k < i; k++) {
            putchar(' ');
            print_number(c->met[i][k]);
        }
        putchar('\n');
    }
}

uint32_t pairs_missing(const pair_counts *c)
{
    uint32_t missing = 0, a = 1, b = 0;
    for (uint32_t i = 0; i < PAIR_COUNT; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (c->met[i][k] < c->met[a][b]) a = i, b = k;
            if (c->met[i][k]) continue;
            printf("never met: %s and %s\n", feature_names[k], feature_names[i]);
            missing++;
        }
    }
    printf("pairs of features: %u, the rarest is %s and %s, which met %llu times\n", PAIR_COUNT * (PAIR_COUNT - 1) / 2,
           feature_names[b], feature_names[a], (unsigned long long)c->met[a][b]);
    return missing;
}
