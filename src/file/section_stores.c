/* Sections of a record: values in stores.
 *
 * The homes sparse, paged and cold are written page by page, each compared with the same page of the base. Their values
 * go to the same slots again: versions are kept by page, so which values lie on one page decides what counts as
 * changed. The homes multi and shared are written by entity and by value, since where their values lie follows from
 * history. When something differs in such a type, all of it is written: a reader empties the store and fills it again,
 * and values without a version get the one that they had before. */
#include "type/portable_bytes.h"
#include "type/value.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/relation_index.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/state_kind.h"
#include "storage/table.h"
#include "change/relation.h"
#include "file/decode_types.h"
#include "file/decoding.h"
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
    const uint64_t again = reef__encode_again(x, reef__type_of(component));
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

static value_store *store_ready(decoding *d, const type *t)
{
    if (!reef__store_prepare_add(d->w, t->id, NULL, 0)) return (void)reef__decode_no_memory(d), NULL;
    value_store *s = (value_store *)(uintptr_t)store_of(d->w, t->id);
    if (t->relation) { /* reef__decode_relations_done makes the indices anew */
        reef__relation_forget(d->w, s);
        reef__names_unscope(d->w);
    }
    return s;
}

/* ---- PAGE: sparse, paged, cold ---- */

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
static void slots_put(encoding *x, const page_at *at, uint32_t slot, uint32_t count)
{
    const bool full = count == 0 || page_entity(at, slot).generation;
    reef__put_u32(x->o, slot);
    reef__put_u32(x->o, count);
    reef__put_u8(x->o, full);
    reef__put_u64(x->o, encode_version(x, at->version));
    if (!full || count == 0) return;
    if (at->s->paged)
        for (uint32_t i = slot; i < slot + count; i++) reef__put_handle(x->o, page_entity(at, i));
    else reef__put_handles(x->o, (const reef_entity *)(const void *)at->block + slot, count);
    reef__encode_values(x, at->t, page_value(at, slot), count);
}

static void page_put(encoding *x, const page_at *now, const page_at *was, uint32_t rows, uint64_t again)
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
        slots_put(x, now, i, end - i);
        pieces++;
    }
    if (pieces == 0 && now->block && was->block && (was->version != now->version || now->version > again))
        slots_put(x, now, 0, 0), pieces++;
    reef__put_now(x->o, where, pieces);
    if (pieces) reef__encode_end(x);
}

static void pages_put(encoding *x, const type *t)
{
    const value_store *s = store_of(x->w, t->id), *old = store_in(x->base, t->id);
    const uint64_t again = reef__encode_again(x, t);
    const uint32_t were = old ? old->values.count : 0, pages = s->values.count > were ? s->values.count : were;
    for (uint32_t page = 0; page < pages && !encode_stopped(x); page++) {
        const page_at now = page_of(s, t, page), was = page_of(old, t, page);
        /* where the last values went, nothing was written to their page */
        if (page_shared(s, old, page) && now.slots == was.slots && !page_after(x, s, page, again)) continue;
        page_put(x, &now, &was, 1u << (s->count ? s : old)->bits, again);
    }
}

/* Empties a slot: its page becomes this world's own, and counts as written. */
static bool slot_leave_at(decoding *d, value_store *s, const type *t, uint32_t slot)
{
    char *block = reef__store_page_own(d->w, s, slot >> s->bits);
    if (block == NULL) return reef__decode_no_memory(d);
    const reef_entity e = slot_owner(s, slot);
    const uint32_t i = slot & slot_mask(s);
    static const reef_entity null;
    if (e.generation == 0) return true;
    if (!s->paged && (reef__store_index_own(d->w, s, e.index) == NULL)) return reef__decode_no_memory(d);
    value_destroy(t, slot_value(s, slot));
    if (s->paged) {
        ((uint32_t *)(void *)block)[i] = 0;
        --*page_live(s, block);
        s->count--;
    } else {
        memcpy(block + i * sizeof null, &null, sizeof null);
        uint64_t *entry = index_entry(s, e.index);
        if (*entry == ((uint64_t)e.generation << 32 | slot)) *entry = 0;
    }
    s->values.version[slot >> s->bits] = d->w->hot.version;
    reef__invalidate(d->w, INVALIDATE_WRITTEN);
    return true;
}

/* Puts a value into its slot. */
static bool slot_read(decoding *d, const file_type *f, value_store *s, uint32_t slot, reef_entity e,
                      const unsigned char *from)
{
    const uint32_t i = slot & slot_mask(s);
    char *block = reef__store_page_own(d->w, s, slot >> s->bits);
    if (block == NULL || (!s->paged && reef__store_index_own(d->w, s, e.index) == NULL))
        return reef__decode_no_memory(d);
    const reef_entity was = slot_owner(s, slot);
    if (was.generation && !reef_entity_equal(was, e) && (f->t->hooked || !s->paged) && !slot_leave_at(d, s, f->t, slot))
        return false;
    const bool fresh = slot_owner(s, slot).generation == 0;
    void *value = slot_value(s, slot);
    if (fresh && f->t->size && !reef__decode_construct(d, f->t, e, value)) return false;
    if (!fresh && f->partial && !f->t->hooked) memset(value, 0, f->t->size);
    if (s->paged) {
        ((uint32_t *)(void *)block)[i] = e.generation;
        *page_live(s, block) += fresh;
        s->count += fresh;
    } else {
        memcpy(block + i * sizeof e, &e, sizeof e);
        *index_entry(s, e.index) = (uint64_t)e.generation << 32 | slot;
        if (slot == s->count) s->count++;
    }
    if (f->t->size && (f->op_count || f->carry)) reef__decode_values(f, from, value, f->t->size, 1);
    return true;
}

/* Empties slots. In the homes sparse and cold values lie side by side: all values behind the first one go as well. */
static bool slots_leave(decoding *d, value_store *s, const type *t, uint64_t from, uint32_t count)
{
    uint64_t end = s->count;
    if (s->paged) end = (uint64_t)s->values.count << s->bits;
    if (s->paged && from + count < end) end = from + count;
    for (uint64_t slot = from; slot < end; slot++)
        if (s->values.page[slot >> s->bits] && !slot_leave_at(d, s, t, (uint32_t)slot)) return false;
    if (!s->paged && from < s->count) s->count = from;
    return true;
}

static bool slots_read(decoding *d, file_type *f, value_store *s, uint64_t from, uint32_t count)
{
    section_in *in = d->in;
    const unsigned char *handles = reef__get_array(in, count, sizeof(reef_entity)),
                        *values = reef__get_array(in, count, f->bytes);
    if (values == NULL) return false;
    if (s == NULL) f->rows += f->home == REEF_COLD ? count : 0; /* of the others BITS tell */
    for (uint32_t i = 0; s && i < count; i++, values += f->bytes) {
        const reef_entity e = reef__handle_at(handles, i);
        const uint64_t slot = from + i;
        if (!reef__decode_exists(d, e)) return false;
        if (s->paged ? e.index != slot : slot > s->count)
            return reef__in_wrong(in, REEF_CORRUPT, "slot %llu has a value of entity %uv%u", (unsigned long long)slot,
                                  (unsigned)e.index, (unsigned)e.generation);
        if (!slot_read(d, f, s, (uint32_t)slot, e, values)) return false;
    }
    return true;
}

static bool page_piece(decoding *d, file_type *f, value_store *s, uint32_t page, uint32_t rows)
{
    section_in *in = d->in;
    const uint32_t first = (uint32_t)reef__get_most(in, "slot", 4, rows),
                   count = (uint32_t)reef__get_most(in, "count", 4, rows - first);
    const bool full = reef__get_most(in, "full", 1, 1);
    const uint64_t version = reef__get_version(d), from = (uint64_t)page * rows + first;
    if (in->status != REEF_OK) return false;
    if (full && !slots_read(d, f, s, from, count)) return false;
    if (s && !full && !slots_leave(d, s, f->t, from, count)) return false;
    if (s && version && rows == slot_mask(s) + 1 && page < s->values.count && s->values.page[page]) {
        if (reef__store_page_own(d->w, s, page) == NULL) return reef__decode_no_memory(d);
        s->values.version[page] = version;
        reef__invalidate(d->w, INVALIDATE_WRITTEN);
    }
    return true;
}

bool reef__decode_page(decoding *d)
{
    section_in *in = d->in;
    file_type *f = reef__get_type(d, HOMES_PAGES);
    const uint32_t page = reef__get_u32(in), rows = (uint32_t)reef__get_most(in, "rows", 4, REEF_PAGE_ROWS_MAX),
                   pieces = reef__get_u32(in);
    value_store *s = NULL;
    if (f == NULL || in->status != REEF_OK) return false;
    if (f->t && (s = store_ready(d, f->t)) == NULL) return false;
    EACH_ELEMENT(in, i, pieces)
    if (!page_piece(d, f, s, page, rows)) return false;
    return in->status == REEF_OK;
}

/* ---- VALS: multi, shared ---- */

/* The version of an entity's values that the record must mention. 0: it is as in the base. */
static uint64_t version_to_write(const encoding *x, const value_store *s, const value_store *old, reef_entity e)
{
    const uint64_t version = reef__store_version(s, e);
    return old && reef_store_find(old, e) && reef__store_version(old, e) == version && version <= x->again ? 0
                                                                                                           : version;
}

/* An entity with values of its own, or one that shares a value. */
typedef struct holder {
    uint32_t first; /* lowest index of the entities that share the value */
    reef_entity entity;
} holder;

static int holder_compare(const void *a, const void *b)
{
    const holder *p = a, *q = b;
    if (p->first != q->first) return p->first < q->first ? -1 : 1;
    return p->entity.index < q->entity.index ? -1 : p->entity.index > q->entity.index;
}

/* Lists the entities of a store of REEF_MULTI, by index. */
static void multi_list(const value_store *s, holder *h)
{
    for (uint32_t page = 0; page < s->index.count; page++) {
        const uint64_t *entry = s->index.page[page];
        for (uint32_t i = 0, index = page << REEF_INDEX_BITS; entry && i < 1u << REEF_INDEX_BITS; i++, index++)
            if (entry[i] >> 32) *h++ = (holder){index, {index, (uint32_t)(entry[i] >> 32)}};
    }
}

/* Lists those of a store of REEF_SHARED, by value. False: no memory. */
static bool shared_list(const encoding *x, const value_store *s, holder *h)
{
    uint32_t *firsts = reef__shared_firsts(x->w, s);
    if (firsts == NULL) return false;
    for (uint32_t slot = 0; slot < s->count; slot++) h[slot] = (holder){firsts[slot], slot_owner(s, slot)};
    qsort(h, (size_t)s->count, sizeof *h, holder_compare);
    reef__shared_firsts_free(x->w, s, firsts);
    return true;
}

/* Writes the values of an entity, or the value that n of them share. Answers how many values these are. */
static uint32_t holders_put(encoding *x, const type *t, const value_store *s, const holder *h, uint32_t n)
{
    const value_store *old = store_in(x->base, t->id);
    const uint32_t values = s->multi ? reef__multi_values(s, h->entity) : 1;
    uint64_t version = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = version_to_write(x, s, old, h[i].entity);
        if (v > version) version = v;
    }
    if (s->multi) reef__put_handle(x->o, h->entity);
    else reef__put_u32(x->o, n);
    reef__put_u64(x->o, encode_version(x, version));
    if (s->multi) reef__put_u32(x->o, values);
    for (uint32_t i = 0; !s->multi && i < n; i++) reef__put_handle(x->o, h[i].entity);
    reef__encode_values(x, t, s->multi ? reef__store_nth(s, h->entity, 0) : reef_store_find(s, h->entity), values);
    return values;
}

/* Writes the values of `count` holders, or that there are none any more. REEF_MULTI is written in parts. */
static void several_put(encoding *x, const type *t, const value_store *s, const holder *h, uint64_t count)
{
    enum { PART_BYTES = 1 << 20 };
    const uint32_t bytes = reef__pack_bytes(t, x->d->form);
    uint64_t i = 0;
    do {
        uint32_t elements = 0, n = 1;
        reef__section_begin(x->o, SECTION_VALUES);
        reef__put_u32(x->o, reef__encode_type(x, t->id));
        reef__put_u8(x->o, i == 0);
        const size_t where = reef__put_later(x->o);
        for (uint64_t length = 0; i < count && (length < PART_BYTES || !s->multi); i += n, elements++) {
            for (n = 1; i + n < count && h[i + n].first == h[i].first;) n++;
            length += 20 + (uint64_t)holders_put(x, t, s, h + i, n) * bytes;
        }
        reef__put_now(x->o, where, elements);
        reef__encode_end(x);
    } while (i < count && !encode_stopped(x));
}

static void several_put_all(encoding *x, const type *t, const value_store *s)
{
    const uint64_t count = store_entities(s);
    const size_t bytes = (size_t)count * sizeof(holder);
    holder *h = reef__memory_resize(x->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
    if (h && s->multi) multi_list(s, h);
    if (count && (h == NULL || (!s->multi && !shared_list(x, s, h)))) reef__encode_failed(x, REEF_NO_MEMORY);
    else several_put(x, t, s, h, count);
    reef__memory_free(x->memory, MEMORY_OTHER, h, bytes);
}

/* Notes the versions of a store's values before it is emptied. A difference repeats all values of the type, and those
 * that are as before have no version. */
static bool versions_keep(decoding *d, const value_store *s)
{
    d->before_count = 0;
    if (d->whole || s->count == 0 || (d->w->hot.index_count == 0)) return true;
    if (!reef__decode_room(d, &d->before, &d->before_room, d->w->hot.index_count, sizeof *d->before)) return false;
    d->before_count = d->w->hot.index_count;
    ASSERT(d->before != NULL); /* memset wants an address, also for no bytes */
    memset(d->before, 0, d->before_count * sizeof *d->before);
    for (store_place at = {.page = 0}; reef__store_next(s, &at);)
        if (at.entity.index < d->before_count) d->before[at.entity.index] = reef__store_version(s, at.entity);
    return true;
}

/* Empties a store. */
static void store_forget(decoding *d, value_store *s)
{
    store_pages pages;
    const paged_owner o = reef__store_owner(d->w->family, s, &pages);
    reef__paged_drop(&s->values, &o);
    reef__pages_drop(d->w, &s->index, &reef__pages_index);
    reef__pages_drop(d->w, &s->hashes, &reef__pages_hashes);
    s->count = s->run_count = s->run_end = 0;
    memset(s->free_runs, 0, sizeof s->free_runs);
    reef__invalidate(d->w, INVALIDATE_STORES_MOVED | INVALIDATE_WRITTEN);
}

/* Gives the page of a slot, which are filled in order, the version of the newest value on it. */
static void page_version_put(decoding *d, value_store *s, uint32_t slot, uint64_t version)
{
    uint64_t *page = &s->values.version[slot >> s->bits];
    const uint64_t was = slot & slot_mask(s) ? d->page_newest : 0;
    if (version) *page = was > version ? was : version;
    d->page_newest = *page;
}

/* Does the index have an entry for this entity, or for another generation of it? */
static bool index_taken(const value_store *s, reef_entity e)
{
    const uint32_t page = e.index >> REEF_INDEX_BITS;
    return page < s->index.count && s->index.page[page] && *index_entry(s, e.index);
}

static bool multi_fill(decoding *d, const file_type *f, value_store *s, reef_entity e, uint64_t version,
                       const unsigned char *from, uint32_t n)
{
    if (n > slot_mask(s) + 1)
        return reef__in_wrong(d->in, REEF_LIMIT, "more values of type %.80s than an entity can have", f->name);
    if (index_taken(s, e)) return reef__in_wrong(d->in, REEF_CORRUPT, "an entity has the values of a type twice");
    if (!reef__multi_prepare(d->w, s, &e, 1, n)) return reef__decode_no_memory(d);
    char *to = reef__multi_raw(s, n);
    for (uint32_t i = 0; i < n; i++) {
        char *value = to + (size_t)i * f->t->size;
        if (!reef__decode_construct(d, f->t, e, value)) {
            while (i-- > 0) value_destroy(f->t, to + (size_t)i * f->t->size);
            return false;
        }
        reef__decode_values(f, from + (size_t)i * f->bytes, value, f->t->size, 1);
    }
    reef__multi_put(d->w, s, e, n);
    page_version_put(d, s, slot_of(s, e), version);
    return true;
}

/* Gives a shared value to all entities that hold it. */
static bool shared_give(decoding *d, const file_type *f, value_store *s, void *value, uint64_t version,
                        const unsigned char *holders, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = reef__handle_at(holders, i);
        const uint32_t slot = (uint32_t)s->count;
        if (index_taken(s, e))
            return reef__in_wrong(d->in, REEF_CORRUPT, "an entity has two values of type %.80s", f->name);
        if (!reef__store_prepare_add(d->w, f->t->id, &e, 1)) return reef__decode_no_memory(d);
        s = (value_store *)(uintptr_t)store_of(d->w, f->t->id);
        memcpy(reef__store_raw(d->w, f->t->id, e), &value, sizeof value);
        reef__shared_hold(value);
        store_put(d->w, s, e);
        page_version_put(d, s, slot, version);
    }
    return true;
}

static bool shared_fill(decoding *d, const file_type *f, value_store *s, const unsigned char *holders, uint32_t n,
                        uint64_t version, const unsigned char *from)
{
    void *value = reef__shared_make(d->w, f->t);
    if (value == NULL) return reef__decode_no_memory(d);
    if (!reef__decode_construct(d, f->t, reef__handle_at(holders, 0), value)) return reef__shared_discard(value), false;
    reef__decode_values(f, from, value, f->t->size, 1);
    if (version) reef__shared_mark(value, version);
    const bool ok = shared_give(d, f, s, value, version, holders, n);
    reef__shared_release(value); /* our reference, which kept the value alive while no slot held it */
    return ok;
}

/* Reads the values of an entity, or a value and the entities that share it. */
static bool several_read(decoding *d, const file_type *f)
{
    section_in *in = d->in;
    const bool multi = f->home == REEF_MULTI;
    const unsigned char *holders = multi ? reef__get_array(in, 1, sizeof(reef_entity)) : NULL;
    const uint32_t n = multi ? 1 : reef__get_count(in, "holders", sizeof(reef_entity));
    const uint64_t said = reef__get_version(d);
    const uint32_t values = multi ? (uint32_t)reef__get_most(in, "values", 4, REEF_MULTI_MAX) : 1;
    if (!multi) holders = reef__get_array(in, n, sizeof(reef_entity));
    const unsigned char *from = reef__get_array(in, values, f->bytes);
    uint64_t version = said;
    if (from == NULL) return false;
    if (n == 0 || values == 0)
        return reef__in_wrong(in, REEF_CORRUPT,
                              n ? "an entity has no value of type %.80s" : "no entity has a value of type %.80s",
                              f->name);
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = reef__handle_at(holders, i);
        if (!reef__decode_exists(d, e)) return false;
        if (said == 0 && e.index < d->before_count && d->before[e.index] > version) version = d->before[e.index];
    }
    if (f->t == NULL) return true;
    value_store *s = (value_store *)(uintptr_t)store_of(d->w, f->t->id);
    return multi ? multi_fill(d, f, s, reef__handle_at(holders, 0), version, from, values)
                 : shared_fill(d, f, s, holders, n, version, from);
}

bool reef__decode_several(decoding *d)
{
    section_in *in = d->in;
    file_type *f = reef__get_type(d, HOMES_SEVERAL);
    const bool first = reef__get_most(in, "first", 1, 1);
    const uint32_t count = reef__get_u32(in);
    if (f == NULL || in->status != REEF_OK) return false;
    if (f->counted == first)
        return reef__in_wrong(in, REEF_CORRUPT,
                              first ? "type %.80s begins twice" : "type %.80s goes on before it begins", f->name);
    f->counted = true;
    value_store *s = f->t ? store_ready(d, f->t) : NULL;
    if (f->t && s == NULL) return false;
    if (s && first) {
        if (!versions_keep(d, s)) return false;
        store_forget(d, s);
        d->page_newest = 0;
    }
    EACH_ELEMENT(in, i, count)
    if (!several_read(d, f)) return false;
    return in->status == REEF_OK;
}

/* ---- all stores ---- */

void reef__encode_stores(encoding *x)
{
    for (state_key k = {0}; reef__state_next(STATE_STORES, x->w, x->base, &k) && !encode_stopped(x);) {
        const type *t = k.type;
        const value_store *s = store_of(x->w, k.key);
        if (!store_differs(x, k.key) || (s->count && !reef__encode_allowed(x, t))) continue;
        if (t->home != REEF_MULTI && t->home != REEF_SHARED) pages_put(x, t);
        else several_put_all(x, t, s);
    }
}

bool reef__decode_relations_done(decoding *d)
{
    if (!reef__relations_end_dead(d->w)) return reef__decode_no_memory(d);
    for (uint32_t i = 1; i < d->w->state.store_count; i++) {
        value_store *s = &d->w->state.stores[i];
        if (s->unindexed && (!reef__relation_place(d->w, s) || !reef__relation_ready(d->w, s)))
            return reef__decode_no_memory(d);
        reef_entity in;
        const reef_status round = reef__relation_circle(d->w, s, &in);
        if (round == REEF_NO_MEMORY) return reef__decode_no_memory(d);
        if (round != REEF_OK) return reef__in_wrong(d->in, REEF_CORRUPT, "a relation leads round in a circle");
    }
    d->w->untargeted = false;
    return true;
}
