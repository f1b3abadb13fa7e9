/* Value indexes, which the operation INDEX asks: all entities in the order of a value, those with one value, and a
 * range. The reference looks at each entity. (Then it asks the pictures of places: place.c.) */
#include "apply.h"
#include <reef/value_index.h>
#include <stdlib.h>

/* Has the type a field of which there may be an index, and does the reference know its number? */
static bool type_may_be_indexed(const model *m, uint32_t t)
{
    return t < TYPES_MAX && type_has_payload(&model_types[t]) && model_types[t].home != REEF_MULTI &&
           model_types[t].home != REEF_SHARED && ref_knows(&m->reference, t);
}

/* What is asked: a type, TYPES_MAX: none; and two numbers, mostly ones that entities have. */
typedef struct asked {
    uint32_t type;
    uint64_t low, high;
} asked;

static uint64_t some_number(const model *m, uint32_t type, uint64_t v)
{
    const ref_world *r = &m->reference;
    for (uint32_t i = 0; v % 8 && i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[(i + (v >> 8)) % r->living_count]];
        if (ref_has(e, type)) return e->value[type];
    }
    return v;
}

static asked asked_of(const model *m, const op *o)
{
    asked a = {.type = (uint32_t)(o->value >> 3) % TYPES_MAX};
    for (uint32_t i = 0; i < TYPES_MAX && !type_may_be_indexed(m, a.type); i++) a.type = (a.type + 1) % TYPES_MAX;
    if (!type_may_be_indexed(m, a.type)) return (asked){.type = TYPES_MAX};
    a.low = some_number(m, a.type, value_mix(o->value, 61));
    a.high = some_number(m, a.type, value_mix(o->value, 62));
    return a;
}

static uint64_t digest_of(const reef_entity *e, uint64_t n)
{
    uint64_t digest = n;
    for (uint64_t i = 0; i < n; i++) digest = value_mix(digest, reef_entity_bits(e[i]));
    return digest;
}

/* The two numbers are looked up together, and twice, which is what reef_index_get finds. 0: it is. */
static uint64_t many_digest(const reef_index *x, const asked *a)
{
    const uint64_t keys[] = {a->low, a->high, a->low, a->high};
    reef_entity first[4];
    uint32_t counts[4], found = 0;
    uint64_t wrong = 0;
    const uint32_t said = reef_index_get_many(x, keys, 4, first, counts);
    for (uint32_t i = 0; i < 4; i++) {
        reef_entity one = {0, 0};
        const uint64_t n = reef_index_get(x, keys[i], &one, 1);
        wrong |= n != counts[i] || !reef_entity_equal(one, first[i]);
        found += n != 0;
    }
    return wrong | (said != found);
}

void core_INDEX(model *m, const op *o, outcome *out)
{
    const asked a = asked_of(m, o);
    out->status = REEF_OK;
    out->digest = place_digest(m, o);
    if (a.type == TYPES_MAX) return;
    const reef_index *x = reef_index_of_id(m->world, model_types[a.type].id, "value");
    const uint64_t all = reef_index_range(x, 0, UINT64_MAX, 0, NULL, 0);
    reef_entity *e = calloc((size_t)all + 1, sizeof *e);
    if (e == NULL) abort();
    out->number = x != NULL;
    (void)reef_index_range(x, 0, UINT64_MAX, 0, e, all);
    out->digest = value_mix(out->digest, digest_of(e, all));
    uint64_t n = reef_index_range(x, a.low, a.high, 0, e, all);
    out->digest = value_mix(out->digest, digest_of(e, n));
    n = reef_index_get(x, a.low, e, all);
    out->digest = value_mix(out->digest, digest_of(e, n));
    out->digest = value_mix(out->digest, many_digest(x, &a));
    out->digest = value_mix(out->digest, reef_entity_bits(reef_index_first(x, a.low, UINT64_MAX)));
    out->digest = value_mix(out->digest, reef_entity_bits(reef_index_last(x, 0, a.high)));
    free(e);
}

typedef struct holder {
    uint64_t number;
    reef_entity e;
} holder;

static int holder_compare(const void *x, const void *y)
{
    const holder *a = x, *b = y;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->e.index > b->e.index) - (a->e.index < b->e.index);
}

/* The first `n` holders with a number in the range; their digest. */
static uint64_t digest_between(const holder *h, uint64_t n, uint64_t low, uint64_t high, reef_entity *room)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        if (h[i].number >= low && h[i].number <= high) room[count++] = h[i].e;
    return digest_of(room, count);
}

void want_INDEX(model *m, const op *o, outcome *want)
{
    const asked a = asked_of(m, o);
    const ref_world *r = &m->reference;
    uint64_t n = 0;
    want->status = REEF_OK;
    want->digest = place_digest_wanted(m, o);
    if (a.type == TYPES_MAX) return;
    want->number = 1;
    holder *h = calloc(r->living_count + 1, sizeof *h);
    reef_entity *room = calloc(r->living_count + 1, sizeof *room), first = {0, 0}, last = {0, 0};
    if (h == NULL || room == NULL) abort();
    for (uint32_t i = 0; i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[i]];
        if (ref_matches(e, 1u << a.type)) h[n++] = (holder){e->value[a.type], ref_handle(r, r->living[i])};
    }
    qsort(h, (size_t)n, sizeof *h, holder_compare);
    for (uint64_t i = n; i-- > 0;)
        if (h[i].number >= a.low) first = h[i].e;
    for (uint64_t i = 0; i < n; i++)
        if (h[i].number <= a.high) last = h[i].e;
    want->digest = value_mix(want->digest, digest_between(h, n, 0, UINT64_MAX, room));
    want->digest = value_mix(want->digest, digest_between(h, n, a.low, a.high, room));
    want->digest = value_mix(want->digest, digest_between(h, n, a.low, a.low, room));
    want->digest = value_mix(want->digest, 0); /* looked up together, they are the same */
    want->digest = value_mix(want->digest, reef_entity_bits(first));
    want->digest = value_mix(want->digest, reef_entity_bits(last));
    free(room);
    free(h);
}
