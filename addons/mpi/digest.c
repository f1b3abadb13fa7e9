/* The digest: a sum over entities of a hash of each, so that neither the order of rows nor the ranks matter.
 *
 * The mixing function is the finaliser of splitmix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
 * Generators, 2014). */
#include "ranks.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static uint64_t with(uint64_t h, uint64_t x) { return mix(h + UINT64_C(0x9E3779B97F4A7C15) + mix(x)); }

static uint64_t with_bytes(uint64_t h, const void *from, size_t count)
{
    const unsigned char *b = from;
    for (; count >= 8; b += 8, count -= 8) {
        uint64_t x;
        memcpy(&x, b, 8);
        h = with(h, x);
    }
    uint64_t rest = 0;
    if (count) memcpy(&rest, b, count);
    return with(h, rest ^ (uint64_t)count << 56);
}

/* A value by its fields; the place of a relation among those of its target isn't the same everywhere. */
static uint64_t with_value(uint64_t h, const reef_type_info *info, const void *value)
{
    if (info->fields == NULL) return with_bytes(h, value, info->size);
    for (uint32_t i = 0; i < info->field_count; i++) {
        const reef_field *f = &info->fields[i];
        if (info->relation && f->offset == sizeof(reef_entity) && strcmp(f->name, "place") == 0) continue;
        h = with_bytes(h, (const char *)value + f->offset, f->bytes);
    }
    return h;
}

typedef struct digesting {
    const reef_ranks *r;
    uint64_t h;
    reef_component last;
} digesting;

static bool component_digest(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    digesting *x = context;
    reef_type_info info;
    uint32_t n = 0;
    (void)data;
    (void)size;
    if (c.id == x->last.id || c.id == reef_id(ReefCell).id || c.id == reef_id(ReefInner).id || !reef_type_get(c, &info))
        return true;
    x->last = c;
    x->h = with_bytes(x->h, info.name, strlen(info.name));
    x->h = with(x->h, reef_is_enabled_id(x->r->world, e, c));
    if (info.size == 0) return true;
    const char *all = reef_get_all_id(x->r->world, e, c, &n);
    if (all == NULL) { /* the type is split: no whole value is in memory */
        unsigned char value[REEF_SPLIT_SIZE_MAX];
        if (reef_read_id(x->r->world, e, c, value, info.size)) x->h = with_value(x->h, &info, value);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) x->h = with_value(x->h, &info, all + (size_t)i * info.size);
    return true;
}

static uint64_t entity_digest(const reef_ranks *r, reef_entity e)
{
    const char *name = reef_name(r->world, e);
    digesting x = {r, mix(reef_entity_bits(e)), {0}};
    if (name) x.h = with_bytes(x.h, name, strlen(name));
    x.h = with(x.h, reef_is_enabled(r->world, e));
    reef_visit_entity(r->world, e, component_digest, &x);
    return x.h;
}

static uint64_t message_digest(const reef_ranks *r, const message *m, uint32_t rank_in_order)
{
    uint64_t h = with(with(mix(m->kind), m->cell), reef_entity_bits(m->from));
    h = with(with(h, reef_entity_bits(m->to)), rank_in_order);
    return with_bytes(h, r->waiting.values.data + m->at, r->message_bytes[m->kind]);
}

uint64_t ranks__digest_here(const reef_ranks *r)
{
    uint64_t sum = 0;
    for (uint32_t c = r->first_cell; c < r->end_cell; c++)
        for (uint32_t i = 0; i < ranks__own(r, c)->count; i++) sum += entity_digest(r, ranks__own(r, c)->members[i]);
    /* The order of messages of one sender counts, not their numbers. */
    for (uint32_t i = 0, order = 0; i < r->waiting.count; i++) {
        const message *m = &r->waiting.of[i], *before = i ? m - 1 : NULL;
        order = before && before->kind == m->kind && before->cell == m->cell && reef_entity_equal(before->from, m->from)
                    ? order + 1
                    : 0;
        sum += message_digest(r, m, order);
    }
    return sum;
}
