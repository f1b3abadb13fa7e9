/* Places, which the operation INDEX asks as well: who is within a circle, in a box, nearest, and how many pairs are
 * close. Two types have one: rows of Kelp are tracked, Echo is a subtype. Coordinates are the first bytes of a value,
 * so they lie anywhere between the ends of what 32 bits hold. The reference looks at each entity. */
#include "apply.h"
#include <reef/place.h>
#include <stdlib.h>

typedef struct question {
    uint32_t type; /* TYPES_MAX: none */
    reef_place_ask ask;
    double pairs; /* distance */
} question;

enum { NEAREST = 5 };

static void coordinates(const model_type *t, uint64_t value, double *at)
{
    int32_t whole[2];
    unsigned char bytes[64];
    value_fill(bytes, t->size < sizeof bytes ? t->size : sizeof bytes, value);
    memcpy(whole, bytes, sizeof whole);
    at[0] = (double)whole[0];
    at[1] = (double)whole[1];
}

static question question_of(const model *m, const op *o)
{
    static const char *const names[2] = {"Kelp", "Echo"};
    const ref_world *r = &m->reference;
    const uint64_t x = value_mix(o->value, 71);
    question q = {.type = 0};
    while (q.type < TYPES_MAX && strcmp(model_types[q.type].name, names[x % 2]) != 0) q.type++;
    if (!ref_knows(r, q.type)) q.type = TYPES_MAX;
    if (q.type == TYPES_MAX) return q;
    for (uint32_t side = 0; side < 2; side++) { /* where somebody is, mostly */
        double *at = side ? q.ask.end : q.ask.at;
        coordinates(&model_types[q.type], value_mix(x, side), at);
        for (uint32_t i = 0; x % 8 && i < r->living_count; i++) {
            const ref_entity *e = &r->entity[r->living[(i + (x >> (8 + 16 * side))) % r->living_count]];
            if (!ref_has(e, q.type)) continue;
            coordinates(&model_types[q.type], e->value[q.type], at);
            break;
        }
    }
    for (uint32_t a = 0; x % 4 && a < 2; a++) { /* mostly a box whose first corner is the lower one */
        const double one = q.ask.at[a], other = q.ask.end[a];
        q.ask.at[a] = one < other ? one : other;
        q.ask.end[a] = one < other ? other : one;
    }
    q.ask.radius = x % 16 == 0 ? 0 : (double)(value_mix(x, 2) >> (33 + x % 5));
    q.pairs = (double)(value_mix(x, 3) >> (36 + x % 3));
    return q;
}

static void declare_once(void)
{
    static bool declared;
    const reef_place_desc d = {.fields = {"x", "y"}, .cell = 2e8};
    for (uint32_t i = 0; !declared && i < TYPES_MAX; i++)
        if (strcmp(model_types[i].name, "Kelp") == 0 || strcmp(model_types[i].name, "Echo") == 0)
            if (reef_place_declare(model_types[i].id, &d) != REEF_OK) abort();
    declared = true;
}

static uint64_t near_digest(uint64_t digest, const reef_near *found, uint64_t n)
{
    digest = value_mix(digest, n);
    for (uint64_t i = 0; i < n; i++) digest = value_mix(digest, reef_entity_bits(found[i].entity));
    return digest;
}

static void pairs_count(const reef_pair *pairs, uint32_t n, uint32_t part, void *context)
{
    uint64_t *sums = context, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += value_mix(reef_entity_bits(pairs[i].lower), reef_entity_bits(pairs[i].higher));
    sums[part] += sum;
}

uint64_t place_digest(model *m, const op *o)
{
    const question q = question_of(m, o);
    if (q.type == TYPES_MAX) return 0;
    declare_once();
    const reef_place *p = reef_place_of_id(m->world, model_types[q.type].id);
    if (p == NULL) return 1;
    const uint64_t rows = reef_place_stats_of(p).rows;
    reef_near *found = calloc((size_t)rows + NEAREST, sizeof *found);
    uint64_t *sums = calloc(reef_place_parts(p) + 1, sizeof *sums), sum = 0;
    if (found == NULL || sums == NULL) abort();
    uint64_t digest = near_digest(rows, found, reef_place_within(p, &q.ask, found, (uint32_t)rows));
    digest = near_digest(digest, found, reef_place_box(p, &q.ask, found, (uint32_t)rows));
    reef_place_ask far = q.ask;
    far.radius = 0;
    digest = near_digest(digest, found, reef_place_nearest(p, &far, found, NEAREST));
    const reef_place_pairs pairs = {.distance = q.pairs, .found = pairs_count, .context = sums};
    if (reef_place_pairs_each(p, &pairs) != REEF_OK) abort();
    for (uint32_t i = 0; i < reef_place_parts(p); i++) sum += sums[i];
    free(found);
    free(sums);
    return value_mix(digest, sum);
}

/* ---- the reference ---- */

typedef struct holder {
    reef_entity e;
    double at[2], squared;
} holder;

static double squared_way(const double *from, const double *to)
{
    double squared = 0;
    for (uint32_t a = 0; a < 2; a++) {
        const double way = (double)(float)(to[a] - from[a]);
        squared += way * way;
    }
    return squared;
}

static int by_index(const void *a, const void *b)
{
    const holder *x = a, *y = b;
    return (x->e.index > y->e.index) - (x->e.index < y->e.index);
}
static int by_distance(const void *a, const void *b)
{
    const holder *x = a, *y = b;
    if (x->squared < y->squared || x->squared > y->squared) return x->squared < y->squared ? -1 : 1;
    return by_index(a, b);
}

static uint64_t holders_digest(uint64_t digest, const holder *h, uint64_t n, const bool *in)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) count += in[i];
    digest = value_mix(digest, count);
    for (uint64_t i = 0; i < n; i++)
        if (in[i]) digest = value_mix(digest, reef_entity_bits(h[i].e));
    return digest;
}

static bool is_between(double x, double a, double b) { return x >= a && x <= b; }

uint64_t place_digest_wanted(const model *m, const op *o)
{
    const question q = question_of(m, o);
    const ref_world *r = &m->reference;
    uint64_t n = 0, sum = 0;
    if (q.type == TYPES_MAX) return 0;
    holder *h = calloc(r->living_count + 1, sizeof *h);
    bool *in = calloc(r->living_count + NEAREST, sizeof *in);
    if (h == NULL || in == NULL) abort();
    for (uint32_t i = 0; i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[i]];
        if (!ref_matches(e, 1u << q.type)) continue;
        h[n].e = ref_handle(r, r->living[i]);
        coordinates(&model_types[q.type], e->value[q.type], h[n].at);
        h[n].squared = squared_way(q.ask.at, h[n].at);
        n++;
    }
    qsort(h, (size_t)n, sizeof *h, by_index);
    for (uint64_t i = 0; i < n; i++) in[i] = h[i].squared <= q.ask.radius * q.ask.radius;
    uint64_t digest = holders_digest(n, h, n, in);
    for (uint64_t i = 0; i < n; i++)
        in[i] = is_between(h[i].at[0], q.ask.at[0], q.ask.end[0]) && is_between(h[i].at[1], q.ask.at[1], q.ask.end[1]);
    digest = holders_digest(digest, h, n, in);
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = i + 1; k < n; k++)
            if (squared_way(h[i].at, h[k].at) <= q.pairs * q.pairs)
                sum += value_mix(reef_entity_bits(h[i].e), reef_entity_bits(h[k].e));
    qsort(h, (size_t)n, sizeof *h, by_distance);
    for (uint64_t i = 0; i < n; i++) in[i] = i < NEAREST;
    digest = holders_digest(digest, h, n, in);
    free(h);
    free(in);
    return value_mix(digest, sum);
}
