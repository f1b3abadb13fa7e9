/* Reading a file: indices, free ids, entities without rows, reserved ids. src/file/encode_ids.c says how they are
 * written. */
#include "storage/entity_index.h"
#include "storage/invalidate.h"
#include "file/decoding.h"
#include "file/section.h"

static bool indices_set(decoding *d, uint32_t indices)
{
    reef_world *w = d->w;
    const uint32_t was = w->hot.index_count, limit = w->config.entities_max ? w->config.entities_max : INDEX_MAX;
    if (indices > limit)
        return reef__in_wrong(d->in, REEF_LIMIT, "%u entities are more than the config allows", (unsigned)indices);
    d->unplaced += indices > was ? indices - was : 0;
    if (d->unplaced > (d->in->size - d->in->at) / 8)
        return reef__in_wrong(d->in, REEF_CORRUPT, "the file announces more indices than it has room for");
    for (uint32_t i = indices; i < was; i++) {
        if (reef__record_own(w, i) == NULL) return reef__decode_no_memory(d);
        reef__decode_places_count(w, (uint32_t)record_read(w, i), UINT32_MAX);
        record_put_rowless(w, (reef_entity){i, 0}, 0);
    }
    if (!reef__records_reserve(w, was, indices)) return reef__decode_no_memory(d);
    w->hot.index_count = indices;
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED);
    for (uint32_t i = was; i < indices;) { /* generation 0 is what no index may have in the end */
        const uint32_t in = i & (RECORDS_PER_PAGE - 1),
                       n = indices - i < RECORDS_PER_PAGE - in ? indices - i : RECORDS_PER_PAGE - in;
        memset((uint64_t *)w->hot.records.page[i >> REEF_RECORD_BITS] + in, 0, n * sizeof(uint64_t));
        record_mark(w, i);
        i += n;
    }
    return true;
}

/* The runs follow the indices that are there, or leave a gap of indices of which later sections say what they are. */
bool reef__decode_reserved(decoding *d)
{
    reef_world *w = d->w;
    const uint32_t limit = w->config.entities_max ? w->config.entities_max : INDEX_MAX;
    const uint32_t first = reef__get_u32(d->in), n = reef__get_u32(d->in);
    if (d->in->status != REEF_OK) return false;
    if (first < w->hot.index_count || n == 0)
        return reef__in_wrong(d->in, REEF_CORRUPT, "reserved indices are in the wrong order");
    if (!indices_set(d, first)) return false;
    if (n > limit - first)
        return reef__in_wrong(d->in, REEF_LIMIT, "%llu entities are more than the config allows",
                              (unsigned long long)first + n);
    d->reserved_end = first + n;
    return reef__records_add(w, first, first + n) || reef__decode_no_memory(d);
}

bool reef__decode_ids(decoding *d)
{
    section_in *in = d->in;
    reef_world *w = d->w;
    state *s = &w->state;
    const uint32_t indices = reef__get_u32(in);
    if (in->status != REEF_OK) return false;
    if (indices < d->reserved_end)
        return reef__in_wrong(in, REEF_CORRUPT, "there are fewer indices than reserved ones");
    if (!indices_set(d, indices)) return false;
    if (!reef__ring_squeezed(w)) return reef__decode_no_memory(d);
    const uint64_t have = s->ring_tail - s->ring_head, room = (in->size - in->at) / 8;
    const uint64_t dropped = reef__get_most(in, "dropped", 8, have),
                   kept = reef__get_most(in, "kept", 8, have - dropped);
    const uint64_t added = reef__get_most(in, "added", 8, room < indices ? room : indices);
    if (in->status != REEF_OK) return false;
    d->free_left = added;
    s->ring_head += dropped;
    s->ring_tail = s->ring_head + kept;
    reef__invalidate(w, INVALIDATE_RING_MOVED | INVALIDATE_WRITTEN);
    return added == 0 || (reef__ring_room(w, added) && reef__ring_own(w, s->ring_tail, s->ring_tail + added)) ||
           reef__decode_no_memory(d);
}

bool reef__decode_free(decoding *d)
{
    const reef_entity e = reef__get_handle(d->in);
    if (d->free_left == 0) return reef__in_wrong(d->in, REEF_CORRUPT, "more free indices than were announced");
    d->free_left--;
    if (!reef__decode_place(d, e, PLACE_DEAD)) return false;
    *ring_at(d->w, d->w->state.ring_tail++) = e.index;
    return true;
}

bool reef__decode_idle(decoding *d)
{
    static const uint32_t places[] = {PLACE_EMPTY, 1, 2, PLACE_PENDING};
    const reef_entity e = reef__get_entity(d);
    const uint64_t what = reef__get_most(d->in, "what", 1, 3);
    return d->in->status == REEF_OK && reef__decode_place(d, e, places[what]);
}
