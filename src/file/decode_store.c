/* Reading a file: values in stores.
 *
 * Values of the homes sparse, paged and cold come by slot, and go to the same slot: versions are kept by page, so which
 * values lie on one page decides what counts as changed. A type of the homes multi or shared comes as a whole: the
 * store is emptied and filled again, and values without a version get the one that they had before. */
#include "type/value.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/multi_store.h"
#include "storage/relation_index.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/name_index.h"
#include "storage/table.h"
#include "change/relation.h"
#include "file/decoding.h"
#include "file/decode_types.h"
#include "file/section.h"
#include "reef/ref.h"

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

/* ---- sparse, paged, cold ---- */

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

/* ---- multi, shared ---- */

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

static uint64_t version_kept(const decoding *d, reef_entity e)
{
    return e.index < d->before_count ? d->before[e.index] : 0;
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

/* Gives a page the version of the newest value on it. */
static void page_version_put(value_store *s, uint32_t page, uint64_t was, uint64_t version)
{
    if (version) s->values.version[page] = was > version ? was : version;
}
static uint64_t version_before(const value_store *s, uint32_t page)
{
    return page < s->values.count && s->values.page[page] && store_entities(s) ? s->values.version[page] : 0;
}

/* Does the index have an entry for this entity, or for another generation of it? */
static bool index_taken(const value_store *s, reef_entity e)
{
    const uint32_t page = e.index >> REEF_INDEX_BITS;
    return page < s->index.count && s->index.page[page] && *index_entry(s, e.index);
}

static bool multi_read(decoding *d, const file_type *f, value_store *s)
{
    section_in *in = d->in;
    const reef_entity e = reef__get_entity(d);
    uint64_t version = reef__get_version(d);
    const uint32_t n = (uint32_t)reef__get_most(in, "values", 4, REEF_MULTI_MAX);
    const unsigned char *from = reef__get_array(in, n, f->bytes);
    if (from == NULL || f->t == NULL) return in->status == REEF_OK;
    if (n == 0) return reef__in_wrong(in, REEF_CORRUPT, "an entity has no value of type %.80s", f->name);
    if (version == 0) version = version_kept(d, e);
    if (n > slot_mask(s) + 1)
        return reef__in_wrong(in, REEF_LIMIT, "more values of type %.80s than an entity can have", f->name);
    if (index_taken(s, e)) return reef__in_wrong(in, REEF_CORRUPT, "an entity has the values of a type twice");
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
    const uint32_t page = slot_of(s, e) >> s->bits;
    page_version_put(s, page, (slot_of(s, e) & slot_mask(s)) == 0 ? 0 : d->page_newest, version);
    d->page_newest = s->values.version[page];
    return true;
}

/* Gives a shared value to all entities that hold it. */
static bool shared_give(decoding *d, const file_type *f, value_store *s, void *value, uint64_t version,
                        const unsigned char *holders, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = reef__handle_at(holders, i);
        if (!reef__decode_exists(d, e)) return false;
        if (index_taken(s, e))
            return reef__in_wrong(d->in, REEF_CORRUPT, "an entity has two values of type %.80s", f->name);
        const uint32_t slot = (uint32_t)s->count, page = slot >> s->bits;
        const uint64_t was = (slot & slot_mask(s)) == 0 ? 0 : version_before(s, page);
        if (!reef__store_prepare_add(d->w, f->t->id, &e, 1)) return reef__decode_no_memory(d);
        s = (value_store *)(uintptr_t)store_of(d->w, f->t->id);
        memcpy(reef__store_raw(d->w, f->t->id, e), &value, sizeof value);
        reef__shared_hold(value);
        store_put(d->w, s, e);
        page_version_put(s, page, was, version);
    }
    return true;
}

static bool shared_read(decoding *d, const file_type *f, value_store *s)
{
    section_in *in = d->in;
    const uint32_t n = reef__get_count(in, "holders", sizeof(reef_entity));
    uint64_t version = reef__get_version(d);
    if (in->status == REEF_OK && n == 0) return reef__in_wrong(in, REEF_CORRUPT, "a shared value has no holder");
    const unsigned char *holders = reef__get_bytes(in, n * sizeof(reef_entity)), *from = reef__get_bytes(in, f->bytes);
    if (from == NULL || f->t == NULL) return in->status == REEF_OK;
    void *value = reef__shared_make(d->w, f->t);
    if (value == NULL) return reef__decode_no_memory(d);
    for (uint32_t i = 0, kept = version == 0; kept && i < n; i++) {
        const uint64_t was = version_kept(d, reef__handle_at(holders, i));
        if (was > version) version = was;
    }
    if (!reef__decode_construct(d, f->t, reef__handle_at(holders, 0), value)) return reef__shared_discard(value), false;
    reef__decode_values(f, from, value, f->t->size, 1);
    if (version) reef__shared_mark(value, version);
    const bool ok = shared_give(d, f, s, value, version, holders, n);
    reef__shared_release(value); /* our reference, which kept the value alive while no slot held it */
    return ok;
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
    {
        if (f->t) s = (value_store *)(uintptr_t)store_of(d->w, f->t->id);
        if (!(f->home == REEF_MULTI ? multi_read(d, f, s) : shared_read(d, f, s))) return false;
    }
    return in->status == REEF_OK;
}
