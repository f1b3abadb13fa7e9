/* Sections of a record: indices, free ids, entities without rows, names.
 *
 * Free ids form a queue. A difference says how many ids at the front of the base's queue are gone, how many after those
 * stay, and which are added at the end. Of entities without a row it lists those whose record isn't the base's, and of
 * names those that the base doesn't have, sorted by text; names that are gone come first. Whole pages of reserved ids
 * are written as runs. */
#include "storage/entity_index.h"
#include "storage/invalidate.h"
#include "storage/name_index.h"
#include "world/world_pair.h"
#include "file/decoding.h"
#include "file/encoding.h"
#include "file/section.h"
#include "reef/ref.h"
#include <stdlib.h>

/* ---- records that say something which neither a row nor the queue of free ids says ---- */

/* The record of an index. 0: there is none. */
static uint64_t record_in(const reef_world *w, uint32_t index)
{
    return w && index < w->hot.index_count ? record_read(w, index) : 0;
}

/* Does this record say something that neither a row nor the queue of free ids says? */
static bool record_is_idle(uint64_t r) { return (uint32_t)r - 1 < PLACE_EMPTY; }

/* What IDLE says of such a record (docs/files/file-format.md). */
static uint32_t idle_kind(uint64_t r) { return (uint32_t)r == PLACE_EMPTY ? 0 : (uint32_t)r; }

static bool idle_differs(const encoding *x, uint32_t index)
{
    const uint64_t r = record_read(x->w, index);
    return record_is_idle(r) && record_in(x->base, index) != r;
}

/* Is this the first index of a page of reserved ids that the base doesn't have? RESV lists them as runs. */
static bool page_is_reserved(const encoding *x, uint64_t index)
{
    return index % RECORDS_PER_PAGE == 0 && (x->base == NULL || index >= x->base->hot.index_count) &&
           reef__records_reserved(x->w, (uint32_t)index);
}

/* ---- RESV ---- */

/* The next of these pages that follow each other, from *at on, up to *end. False: there is none. */
static bool run_next(const encoding *x, uint64_t *at, uint64_t *end)
{
    const uint64_t count = x->w->hot.index_count;
    while (*at < count && !page_is_reserved(x, *at)) *at = (*at | (RECORDS_PER_PAGE - 1)) + 1;
    for (*end = *at; *end < count && page_is_reserved(x, *end);) *end = records_end(x->w, (uint32_t)*end);
    return *at < *end;
}

void reef__encode_reserved(encoding *x)
{
    encode_list l = {.kind = SECTION_RESERVED};
    for (uint64_t at = 0, end; x->w->state.reserved_count && run_next(x, &at, &end); at = end) {
        reef__encode_element(x, &l);
        reef__put_u32(x->o, (uint32_t)at);
        reef__put_u32(x->o, (uint32_t)(end - at));
    }
    reef__encode_list_end(x, &l);
}

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

/* ---- IDS, FREE ---- */

static uint64_t queue_count(const reef_world *w)
{
    return w ? w->state.ring_tail - w->state.ring_head - w->state.ring_holes : 0;
}

/* Moves the base's queue to the first id of the new queue, and answers how many ids stand before it. No id is in a
 * queue twice, so it is enough to look first at the position where it most likely is. */
static uint64_t queue_seek(const reef_world *w, const reef_world *base, free_queue *old)
{
    free_queue now = free_queue_of(w);
    const reef_entity first = reef__free_next(&now);
    *old = free_queue_of(base);
    if (first.generation == 0) return queue_count(base);
    if (base->state.ring_holes == 0 && w->state.ring_head >= old->at && w->state.ring_head < old->end &&
        *ring_at(base, w->state.ring_head) == first.index)
        old->at = w->state.ring_head;
    for (uint64_t n = old->at - base->state.ring_head;; n++) {
        free_queue here = *old;
        const reef_entity e = reef__free_next(&here);
        if (e.generation == 0 || reef_entity_equal(e, first)) return n;
        *old = here;
    }
}

void reef__encode_ids(encoding *x)
{
    free_queue now = free_queue_of(x->w), old = free_queue_of(x->base);
    uint64_t dropped = 0, kept = 0;
    if (x->base) dropped = queue_seek(x->w, x->base, &old), kept = reef__free_same(&now, &old);
    const uint64_t added = queue_count(x->w) - kept;
    reef__section_begin(x->o, SECTION_IDS);
    reef__put_u32(x->o, x->w->hot.index_count);
    reef__put_u64(x->o, dropped);
    reef__put_u64(x->o, kept);
    reef__put_u64(x->o, added);
    reef__encode_end(x);
    encode_list l = {.kind = SECTION_FREE};
    for (uint64_t i = 0; i < added && !encode_stopped(x); i++) {
        reef__encode_element(x, &l);
        reef__put_handle(x->o, reef__free_next(&now));
    }
    reef__encode_list_end(x, &l);
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

/* ---- IDLE ---- */

static bool idle_page_differs(const encoding *x, uint64_t index)
{
    const uint32_t page = (uint32_t)(index >> REEF_RECORD_BITS);
    return x->base == NULL || index + RECORDS_PER_PAGE > x->base->hot.index_count || !records_same(x->w, x->base, page);
}

/* Writes the indices that are idle and have another record in the base. */
void reef__encode_idle(encoding *x)
{
    const state *s = &x->w->state;
    const uint32_t end = x->w->hot.index_count;
    if (x->w->hot.empty_count == 0 && s->reserved_count == 0 && s->retired_count == 0) return;
    encode_list l = {.kind = SECTION_IDLE};
    for (uint64_t i = 0; i < end; i++) {
        if (i % RECORDS_PER_PAGE == 0 && (!idle_page_differs(x, i) || page_is_reserved(x, i))) {
            i += RECORDS_PER_PAGE - 1;
            continue;
        }
        if (!idle_differs(x, (uint32_t)i)) continue;
        const uint64_t r = record_read(x->w, (uint32_t)i);
        reef__encode_element(x, &l);
        reef__put_handle(x->o, (reef_entity){(uint32_t)i, (uint32_t)(r >> 32)});
        reef__put_u8(x->o, idle_kind(r));
    }
    reef__encode_list_end(x, &l);
}

bool reef__decode_idle(decoding *d)
{
    static const uint32_t places[] = {PLACE_EMPTY, 1, 2, PLACE_PENDING};
    const reef_entity e = reef__get_entity(d);
    const uint64_t what = reef__get_most(d->in, "what", 1, 3);
    return d->in->status == REEF_OK && reef__decode_place(d, e, places[what]);
}

/* ---- NAME ---- */

typedef struct name_of {
    const char *text;
    reef_entity entity;
} name_of;

static int name_of_compare(const void *a, const void *b)
{
    return strcmp(((const name_of *)a)->text, ((const name_of *)b)->text);
}

/* The names of `w` that `other` doesn't have, by name. Answers how many. */
static uint32_t names_new(const reef_world *w, const reef_world *other, name_of *list)
{
    uint32_t n = 0;
    for (name_walk walk = {0}; reef__name_walk_next(w, other, &walk);) list[n++] = (name_of){walk.text, walk.entity};
    if (n > 1) qsort(list, n, sizeof *list, name_of_compare);
    return n;
}

/* Writes names, or that there are none any more. */
static void names_put(encoding *x, const name_of *list, uint32_t count, bool gone)
{
    encode_list l = {.kind = SECTION_NAMES};
    for (uint32_t i = 0; i < count && !encode_stopped(x); i++) {
        reef__encode_element(x, &l);
        reef__put_handle(x->o, list[i].entity);
        reef__put_text(x->o, gone ? "" : list[i].text);
    }
    reef__encode_list_end(x, &l);
}

void reef__encode_names(encoding *x)
{
    const uint32_t most = x->w->state.name_count, were = x->base ? x->base->state.name_count : 0;
    if ((most == 0 && were == 0) || encode_stopped(x)) return;
    size_t bytes;
    name_of *list = reef__size_multiply((size_t)most + were, sizeof *list, 0, &bytes)
                        ? reef__memory_resize(x->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN)
                        : NULL;
    if (list == NULL) {
        reef__encode_failed(x, REEF_NO_MEMORY);
        return;
    }
    const uint32_t count = names_new(x->w, x->base, list);
    const uint32_t gone = x->base ? names_new(x->base, x->w, list + count) : 0;
    names_put(x, list + count, gone, true);
    names_put(x, list, count, false);
    reef__memory_free(x->memory, MEMORY_OTHER, list, bytes);
}

bool reef__decode_names(decoding *d)
{
    char text[REEF_NAME_MAX + 1];
    const reef_entity e = reef__get_handle(d->in);
    if (!reef__get_text(d->in, text, REEF_NAME_MAX)) return false;
    if (text[0] == 0) {
        if (!reef__name_prepare_forget(d->w, e)) return reef__decode_no_memory(d);
        reef__name_forget(d->w, e);
        reef__invalidate(d->w, INVALIDATE_WRITTEN);
        return true;
    }
    const reef_status s = reef_name(d->w, e) ? REEF_NAME_TAKEN : reef_set_name(d->w, e, text);
    if (s == REEF_NO_MEMORY) return reef__decode_no_memory(d);
    return s == REEF_OK ||
           reef__in_wrong(d->in, REEF_CORRUPT, "a name is invalid or used twice, or its entity isn't alive");
}
