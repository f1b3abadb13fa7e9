/* Writing a record: values in stores.
 *
 * The homes sparse, paged and cold are written page by page, each compared with the same page of the base. The homes
 * multi and shared are written by entity and by value, since where their values lie follows from history. When
 * something differs in such a type, all of it is written. */
#include "type/portable_bytes.h"
#include "storage/multi_store.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/state_kind.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/ref.h"
#include <stdlib.h>

static const value_store *store_in(const reef_world *w, uint32_t component)
{
    return w ? store_of(w, component) : NULL;
}

static bool page_shared(const value_store *s, const value_store *old, uint32_t page)
{
    return old && page < s->values.count && page < old->values.count &&
           s->values.page[page] == old->values.page[page] && s->values.version[page] == old->values.version[page];
}

/* encoding.again for a store, as again_in is for a table. */
static uint64_t again_of(const encoding *x, const type *t)
{
    return x->again == UINT64_MAX || reef__pack_allowed(t, x->d->form) != REEF_OK ? UINT64_MAX : x->again;
}

/* Was something on the page written after `again`? */
static bool page_after(const encoding *x, const value_store *s, uint32_t page, uint64_t again)
{
    store_place at = {.slot = 0};
    if (!x->deep || again == UINT64_MAX || page >= s->values.count || s->values.page[page] == NULL) return false;
    bool more = reef__store_each(s, page, &at);
    if (more && s->values.version[page] > again) return true;
    for (; s->shared && more; more = reef__store_each(s, page, &at))
        if (reef__store_version(s, at.entity) > again) return true;
    return false;
}

static bool store_differs(const encoding *x, uint32_t component)
{
    const uint64_t again = again_of(x, reef__type_of(component));
    const value_store *s = store_of(x->w, component), *old = store_in(x->base, component);
    if (s->count != (old ? old->count : 0)) return true;
    if (s->count == 0) return false;
    const uint32_t pages = s->values.count > old->values.count ? s->values.count : old->values.count;
    for (uint32_t page = 0; page < pages; page++) {
        const bool none = page >= s->values.count || s->values.page[page] == NULL,
                   before = page >= old->values.count || old->values.page[page] == NULL;
        if (!(none && before) && (!page_shared(s, old, page) || page_after(x, s, page, again))) return true;
    }
    return false;
}

/* ---- pages of sparse, paged, cold ---- */

typedef struct page_at {
    const value_store *s;
    const type *t;
    uint32_t page, slots; /* slots: number of slots in use; of a paged store, of all slots */
    const char *block;    /* NULL: there is no such page */
    uint64_t version;
} page_at;

static page_at page_of(const value_store *s, const type *t, uint32_t page)
{
    page_at at = {.s = s, .t = t, .page = page};
    const uint64_t first = s ? (uint64_t)page << s->bits : 0;
    if (s == NULL || page >= s->values.count || s->values.page[page] == NULL || s->count == 0) return at;
    if (!s->paged && first >= s->count) return at;
    at.block = s->values.page[page];
    at.version = s->values.version[page];
    at.slots = s->paged || s->count - first > slot_mask(s) ? slot_mask(s) + 1 : (uint32_t)(s->count - first);
    return at;
}

static reef_entity page_entity(const page_at *at, uint32_t i)
{
    if (at->block == NULL || i >= at->slots) return (reef_entity){0, 0};
    const reef_entity e = slot_entity(at->s, at->block, at->page, i);
    return e.generation ? e : (reef_entity){0, 0};
}

static const char *page_value(const page_at *at, uint32_t i)
{
    return at->block + at->s->offset + (size_t)i * at->s->size;
}

static bool slot_differs(const page_at *now, const page_at *was, uint32_t i)
{
    const reef_entity e = page_entity(now, i);
    if (!reef_entity_equal(e, page_entity(was, i))) return true;
    return e.generation && !reef__pack_equal(now->t, page_value(now, i), page_value(was, i));
}

/* Writes one piece of a page: slots that all have a value, or that are all empty. */
static void slots_put(encoding *x, const page_at *at, bool flat, uint32_t slot, uint32_t count)
{
    const bool full = count == 0 || page_entity(at, slot).generation;
    reef__put_u32(x->o, slot);
    reef__put_u32(x->o, count);
    reef__put_u8(x->o, full);
    reef__put_u64(x->o, encode_version(x, at->version));
    if (!full || count == 0) return;
    if (at->s->paged)
        for (uint32_t i = slot; i < slot + count; i++) reef__put_handle(x->o, page_entity(at, i));
    else reef__encode_handles(x, (const reef_entity *)(const void *)at->block + slot, count);
    reef__encode_values(x, at->t, flat, page_value(at, slot), count);
}

static void page_put(encoding *x, const page_at *now, const page_at *was, uint32_t rows, bool flat, uint64_t again)
{
    enum { PIECE_HEAD = 17 };
    const uint32_t gap = PIECE_HEAD / ((uint32_t)sizeof(reef_entity) + reef__pack_bytes(now->t, x->d->form)),
                   slots = now->slots > was->slots ? now->slots : was->slots;
    uint32_t pieces = 0;
    reef__section_begin(x->o, SECTION_PAGE);
    reef__put_u32(x->o, reef__encode_type(x, now->t->id));
    reef__put_u32(x->o, now->page);
    reef__put_u32(x->o, rows);
    const size_t where = reef__put_later(x->o);
    for (uint32_t i = 0, end; i < slots; i = end) {
        const bool full = page_entity(now, i).generation;
        end = i + 1;
        if (!slot_differs(now, was, i)) continue;
        for (uint32_t k = end; k < slots && k - end <= gap && (page_entity(now, k).generation != 0) == full; k++)
            if (slot_differs(now, was, k)) end = k + 1;
        slots_put(x, now, flat, i, end - i);
        pieces++;
    }
    if (pieces == 0 && now->block && was->block && (was->version != now->version || now->version > again))
        slots_put(x, now, flat, 0, 0), pieces++;
    reef__put_now(x->o, where, pieces);
    if (pieces) reef__encode_end(x);
}

static void pages_put(encoding *x, const type *t)
{
    const value_store *s = store_of(x->w, t->id), *old = store_in(x->base, t->id);
    const bool flat = reef__type_is_flat(t);
    const uint64_t again = again_of(x, t);
    const uint32_t were = old ? old->values.count : 0, pages = s->values.count > were ? s->values.count : were;
    for (uint32_t page = 0; page < pages && !encode_stopped(x); page++) {
        const page_at now = page_of(s, t, page), was = page_of(old, t, page);
        /* where the last values went, nothing was written to their page */
        if (page_shared(s, old, page) && now.slots == was.slots && !page_after(x, s, page, again)) continue;
        page_put(x, &now, &was, 1u << (s->count ? s : old)->bits, flat, again);
    }
}

/* The version of an entity's values that the record must mention. 0: it is as in the base. */
static uint64_t version_to_write(const encoding *x, const value_store *s, const value_store *old, reef_entity e)
{
    const uint64_t version = reef__store_version(s, e);
    return old && reef_store_find(old, e) && reef__store_version(old, e) == version && version <= x->again ? 0
                                                                                                           : version;
}

/* ---- several values an entity ---- */

/* Writes all values of a type, in the order of the entities' indices. */
static void multi_put_all(encoding *x, const type *t, const value_store *s)
{
    enum { PART_BYTES = 1 << 20 };
    const value_store *old = store_in(x->base, t->id);
    const bool flat = reef__type_is_flat(t);
    const uint32_t bytes = reef__pack_bytes(t, x->d->form);
    uint32_t count = 0;
    size_t where = 0;
    uint64_t length = 0;
    bool first = true;
    for (uint32_t page = 0; page < s->index.count && !encode_stopped(x); page++) {
        const uint64_t *entry = s->index.page[page];
        for (uint32_t i = 0; entry && i < 1u << REEF_INDEX_BITS; i++) {
            if (entry[i] >> 32 == 0) continue;
            const reef_entity e = {(page << REEF_INDEX_BITS) + i, (uint32_t)(entry[i] >> 32)};
            const uint32_t values = reef__multi_values(s, e);
            if (count == 0) {
                reef__section_begin(x->o, SECTION_VALUES);
                reef__put_u32(x->o, reef__encode_type(x, t->id));
                reef__put_u8(x->o, first);
                where = reef__put_later(x->o);
                first = false;
            }
            reef__put_handle(x->o, e);
            reef__put_u64(x->o, encode_version(x, version_to_write(x, s, old, e)));
            reef__put_u32(x->o, values);
            reef__encode_values(x, t, flat, reef__store_nth(s, e, 0), values);
            reef__put_now(x->o, where, ++count);
            length += 20 + (uint64_t)values * bytes;
            if (length >= PART_BYTES) length = count = 0, reef__encode_end(x);
        }
    }
    if (count) reef__encode_end(x);
}

/* ---- shared values ---- */

typedef struct holder {
    uint32_t first, slot; /* first: lowest index of the entities that share the value */
    reef_entity entity;
} holder;

static int holder_compare(const void *a, const void *b)
{
    const holder *p = a, *q = b;
    if (p->first != q->first) return p->first < q->first ? -1 : 1;
    return p->entity.index < q->entity.index ? -1 : p->entity.index > q->entity.index;
}

static void holders_put(encoding *x, const type *t, const value_store *s, const holder *h, uint32_t n)
{
    const value_store *old = store_in(x->base, t->id);
    uint64_t version = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = version_to_write(x, s, old, h[i].entity);
        if (v > version) version = v;
    }
    reef__put_u32(x->o, n);
    reef__put_u64(x->o, encode_version(x, version));
    for (uint32_t i = 0; i < n; i++) reef__put_handle(x->o, h[i].entity);
    reef__encode_values(x, t, reef__type_is_flat(t), reef_store_find(s, h[0].entity), 1);
}

static void groups_put(encoding *x, const type *t, const value_store *s, const holder *h)
{
    uint32_t count = 0;
    reef__section_begin(x->o, SECTION_VALUES);
    reef__put_u32(x->o, reef__encode_type(x, t->id));
    reef__put_u8(x->o, 1);
    const size_t where = reef__put_later(x->o);
    for (uint32_t i = 0, n; i < s->count; i += n) {
        for (n = 1; i + n < s->count && h[i + n].first == h[i].first; n++) {}
        holders_put(x, t, s, h + i, n);
        count++;
    }
    reef__put_now(x->o, where, count);
    reef__encode_end(x);
}

static void shared_put_all(encoding *x, const type *t, const value_store *s)
{
    const size_t bytes = (size_t)s->count * sizeof(holder);
    uint32_t *firsts = reef__shared_firsts(x->w, s);
    holder *h = firsts ? reef__memory_resize(x->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
    for (uint32_t slot = 0; h && slot < s->count; slot++) h[slot] = (holder){firsts[slot], slot, slot_owner(s, slot)};
    if (h) {
        qsort(h, (size_t)s->count, sizeof *h, holder_compare);
        groups_put(x, t, s, h);
    } else reef__encode_failed(x, REEF_NO_MEMORY);
    reef__memory_free(x->memory, MEMORY_OTHER, h, bytes);
    reef__shared_firsts_free(x->w, s, firsts);
}

void reef__encode_stores(encoding *x)
{
    for (state_key k = {0}; reef__state_next(STATE_STORES, x->w, x->base, &k) && !encode_stopped(x);) {
        const type *t = k.type;
        const value_store *s = store_of(x->w, k.key);
        if (!store_differs(x, k.key) || (s->count && !reef__encode_allowed(x, t))) continue;
        if (t->home != REEF_MULTI && t->home != REEF_SHARED) pages_put(x, t);
        else if (s->count == 0) groups_put(x, t, s, NULL); /* all are gone */
        else if (t->home == REEF_MULTI) multi_put_all(x, t, s);
        else shared_put_all(x, t, s);
    }
}
