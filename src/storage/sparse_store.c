/* Stores of values outside of the rows: the homes sparse, paged and cold, and what multi and shared have in common with
 * them. src/storage/sparse_store.h has a drawing and the rules of what may fail.
 *
 * The packed homes keep their values without holes: the last value moves into the slot of one that goes. REEF_PAGED
 * keeps each value at the entity's index, so that it never moves; a page is freed when its last value goes. */
#include "storage/sparse_store.h"
#include "type/value.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/relation_index.h"
#include "storage/quarantine.h"
#include "storage/shared_store.h"
#include "storage/table.h"
#include "reef/ref.h"

/* A page of values takes at most STORE_PAGE_BYTES and STORE_ROWS_MAX values, or one value: so many types with few
 * values each cost little. */
enum {
    STORE_PAGE_BYTES = 16384,
    STORE_ROWS_MAX = 256,
    MULTI_PAGE_BYTES = 1 << 20,
    INDEX_ENTRIES = 1 << REEF_INDEX_BITS
};

const paged_type reef__pages_index = {
    sizeof(uint64_t) * INDEX_ENTRIES, ARENA_DIRECTORY, MEMORY_STORES, NULL, false, 0, NULL, NULL};

static reef_store store_none; /* the store of all types that have none; nobody writes it */
static const uint32_t store_number_none;

const relation_calls *reef__relations_by;

/* ---- pages ---- */

static bool values_release(void *context, const void *block, const void *kept, uint64_t base, size_t index)
{
    const store_pages *x = context;
    const value_store *s = x->store;
    const type *t = type_known(s->component);
    (void)kept, (void)base; /* a page that was copied has values of its own */
    for (uint32_t i = 0; i <= slot_mask(s); i++) {
        char *slot = (char *)(uintptr_t)block + s->offset + (size_t)i * s->size;
        if (slot_entity(s, block, (uint32_t)index, i).generation == 0) continue;
        if (s->shared) reef__shared_release(*(void **)(void *)slot);
        else value_destroy(t, slot);
    }
    return reef__quarantine_left(x->family, s, &x->type, block, (uint32_t)index);
}

/* A page that another holder shares gets default values, if the type resets. */
static reef_status value_double(const store_pages *x, const type *t, reef_entity e, void *to, const void *from)
{
    if (!t->resets) return reef__value_copy(t, to, from);
    memset(to, 0, t->size);
    return t->hooks.construct ? t->hooks.construct(t->hooks.context, x->world, e, to, NULL) : REEF_OK;
}

static bool values_copy(void *context, void *to, const void *from, size_t index)
{
    store_pages *x = context;
    const value_store *s = x->store;
    const type *t = type_known(s->component);
    memcpy(to, from, s->offset);
    for (uint32_t i = 0; i <= slot_mask(s); i++) {
        const reef_entity e = slot_entity(s, from, (uint32_t)index, i);
        if (e.generation == 0) continue;
        const size_t at = s->offset + (size_t)i * s->size;
        if (s->shared) {
            memcpy((char *)to + at, (const char *)from + at, s->size);
            reef__shared_hold(*(void *const *)(const void *)((const char *)from + at));
            continue;
        }
        if (value_double(x, t, e, (char *)to + at, (const char *)from + at) == REEF_OK) continue;
        while (i-- > 0)
            if (slot_entity(s, from, 0, i).generation) value_destroy(t, (char *)to + s->offset + (size_t)i * s->size);
        x->refused = true;
        return false;
    }
    return true;
}

paged_owner reef__store_owner(family *f, const value_store *s, store_pages *pages)
{
    const type *t = type_known(s->component);
    *pages = (store_pages){.store = s, .family = f};
    pages->type = (paged_type){.page_bytes = s->offset + ((size_t)s->size << s->bits),
                               .arena = ARENA_COLUMNS + s->component % COLUMN_ARENAS,
                               .kind = MEMORY_STORES,
                               .release = t->hooks.destroy || s->shared || quarantine_of(f) ? values_release : NULL,
                               .raw = s->direct && !t->resets, /* store_default relies on zeroes */
                               .align = s->align,
                               .copy = t->plain_copy && !s->shared ? NULL : values_copy};
    return (paged_owner){&f->memory, &f->lock, &pages->type, pages};
}

static COLD char *values_own_slow(reef_world *w, value_store *s, uint32_t page)
{
    store_pages pages;
    const paged_owner o = reef__store_owner(w->family, s, &pages);
    pages.world = w;
    if (page >= s->values.count && !reef__paged_grow(&s->values, &o, page + 1, w->hot.fork_version)) return NULL;
    const bool fresh = s->values.page[page] == NULL;
    reef__quarantine_open_page(w, s, page);
    char *block = reef__paged_own(&s->values, &o, page, w->hot.version - s->tracked, w->hot.fork_version);
    /* clears the marks that say whose slots they are; values are written before they are read */
    if (block && fresh && pages.type.raw) memset(block, 0, s->offset);
    if (pages.refused) w->hook_failed.id = s->component;
    return block;
}

/* A page of values for writing. */
INLINE char *values_own(reef_world *w, value_store *s, uint32_t page)
{
    char *ours = page_ours(&s->values, page, w->hot.fork_version);
    return LIKELY(ours != NULL) ? ours : values_own_slow(w, s, page);
}

char *reef__store_page_own(reef_world *w, value_store *s, uint32_t page) { return values_own(w, s, page); }

uint64_t *reef__store_index_own(reef_world *w, value_store *s, uint32_t index)
{
    return page_own(w, &s->index, &reef__pages_index, index >> REEF_INDEX_BITS);
}

/* ---- stores ---- */

void reef__stores_view(reef_world *w)
{
    w->hot.stores = w->state.stores ? w->state.stores : &store_none;
    w->hot.store_number = w->state.store_number ? w->state.store_number : &store_number_none;
    w->hot.store_room = w->state.store_room;
    w->slow &= ~(SLOW_COLD | SLOW_RELATED);
    EACH_COLD_STORE(w, s)
    if (s->count) w->slow |= SLOW_COLD;
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].relation && w->state.stores[i].count) w->slow |= SLOW_RELATED;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
}

size_t reef__store_offset(const value_store *s, uint32_t rows)
{
    const size_t owners = (size_t)rows * owner_bytes(s) + (s->paged ? sizeof(uint32_t) : 0);
    return (owners + s->align - 1) & ~(size_t)(s->align - 1u);
}

static void store_lay_out(value_store *s, const type *t)
{
    uint32_t rows = t->page_rows;
    s->component = t->id;
    s->shared = t->home == REEF_SHARED;
    s->size = s->shared ? (uint32_t)sizeof(void *) : t->size;
    s->paged = t->home == REEF_PAGED;
    s->multi = t->home == REEF_MULTI;
    s->direct = t->direct && !s->multi && !s->shared && t->need_count == 0;
    s->tracked = t->tracked;
    s->relation = t->relation;
    s->parents = t->relation && strcmp(t->name, "ChildOf") == 0;
    s->straight = s->paged && t->relation && !(t->relation & REEF_SYMMETRIC) && !t->tracked && t->need_count == 0;
    s->align = (uint16_t)(t->align > BLOCK_ALIGN && !s->shared ? t->align : BLOCK_ALIGN);
    const uint64_t most = s->multi ? MULTI_PAGE_BYTES : STORE_PAGE_BYTES;
    if (!s->paged)
        for (rows = STORE_ROWS_MAX; rows > 1 && (uint64_t)rows * s->size > most; rows /= 2) {}
    while (rows >> s->bits > 1) s->bits++;
    s->offset = (uint32_t)reef__store_offset(s, rows);
}

static COLD value_store *value_store_make(reef_world *w, uint32_t component)
{
    state *s = &w->state;
    memory *m = &w->family->memory;
    const uint32_t number = s->store_count ? s->store_count : 1; /* number 0 is empty: its bytes are zero */
    if (!reef__array_room(m, MEMORY_STORES, &s->store_number, &s->store_room, component + 1, sizeof *s->store_number) ||
        !reef__array_room(m, MEMORY_STORES, &s->stores, &s->store_capacity, number + 1, sizeof *s->stores))
        return reef__stores_view(w), NULL;
    value_store *made = &s->stores[number];
    memset(made, 0, sizeof *made);
    store_lay_out(made, reef__type_of(component));
    made->unindexed = made->relation && w->untargeted; /* the targets aren't known yet */
    if (!reef__type_of(component)->bit) {
        value_store *before = s->stores;
        while (before->cold) before = &s->stores[before->cold];
        before->cold = number;
    }
    if (made->relation & REEF_GROUPED) {
        value_store *before = s->stores;
        while (before->grouped) before = &s->stores[before->grouped];
        before->grouped = number;
    }
    s->store_number[component] = number;
    s->store_count = number + 1;
    reef__invalidate(w, INVALIDATE_STORES_MOVED);
    reef__stores_view(w);
    return made;
}

static value_store *store_mine(reef_world *w, uint32_t component)
{
    return (value_store *)(uintptr_t)store_of(w, component);
}

/* ---- reading ---- */

uint32_t reef__store_run(const value_store *s, const reef_entity *e, uint32_t n)
{
    const uint32_t slot = slot_of(s, e[0]), room = slot_mask(s) + 1 - (slot & slot_mask(s));
    uint32_t i = 1;
    if (s->shared) return 1;
    if (n > room) n = room;
    while (i < n && slot_of(s, e[i]) == slot + i) i++;
    return i;
}

uint64_t reef__store_version(const value_store *s, reef_entity e)
{
    const void *value = reef_store_find(s, e);
    if (value == NULL) return 0;
    const uint64_t version = s->values.version[slot_of(s, e) >> s->bits];
    const uint64_t written = s->shared ? head_of(value)->written : 0;
    return written > version ? written : version;
}

bool reef__store_each(const value_store *s, uint32_t page, store_place *at)
{
    const void *block = page < s->values.count ? s->values.page[page] : NULL;
    for (; block && at->slot <= slot_mask(s); at->slot++) {
        const reef_entity e = slot_entity(s, block, page, at->slot);
        if (e.generation == 0) continue;
        at->number = s->multi && reef_entity_equal(e, at->entity) ? at->number + 1 : 0; /* a run lies on one page */
        at->entity = e;
        at->value = (char *)(uintptr_t)block + s->offset + (size_t)at->slot * s->size;
        if (s->shared) at->value = *(void **)at->value;
        at->slot++;
        return true;
    }
    return false;
}

bool reef__store_next(const value_store *s, store_place *at)
{
    for (; at->page < s->values.count; at->page++, at->slot = 0)
        if (reef__store_each(s, at->page, at)) return true;
    return false;
}

/* ---- writing ---- */

void *reef__store_own(reef_world *w, uint32_t component, reef_entity e)
{
    value_store *s = store_mine(w, component);
    void *at = reef__store_slot_own(w, component, e);
    return at && s->shared ? reef__shared_own(w, s, slot_of(s, e)) : at;
}

void *reef__store_slot_own(reef_world *w, uint32_t component, reef_entity e)
{
    value_store *s = store_mine(w, component);
    const uint32_t slot = slot_of(s, e);
    if (values_own(w, s, slot >> s->bits) == NULL) return NULL;
    values_mark(w, s, slot >> s->bits);
    return slot_value(s, slot);
}

bool reef__store_claim(reef_world *w, uint32_t component, reef_entity e, uint64_t version)
{
    value_store *s = store_mine(w, component);
    const uint32_t page = slot_of(s, e) >> s->bits;
    if (paged_owned(&s->values, page, w->hot.fork_version)) return true;
    if (values_own(w, s, page) == NULL) return false;
    s->values.version[page] = version;
    return true;
}

bool reef__store_own_all(reef_world *w, uint32_t component, bool mark)
{
    value_store *s = store_mine(w, component);
    for (uint32_t page = 0; page < s->values.count; page++) {
        if (s->values.page[page] == NULL) continue;
        if (values_own(w, s, page) == NULL) return false;
        if (mark) values_mark(w, s, page);
    }
    return true;
}

void reef__store_mark_at(const value_store *s, reef_entity e, uint64_t version)
{
    RELEASE_STORE(&s->values.version[slot_of(s, e) >> s->bits], version);
    if (s->shared) reef__shared_mark(reef_store_find(s, e), version);
}

/* ---- adding ---- */

/* Room for the value of an entity that may be anywhere: its page of REEF_PAGED, or of the index. */
static bool entity_room(reef_world *w, value_store *s, reef_entity e)
{
    if (!s->paged) return reef__store_index_own(w, s, e.index) != NULL;
    if (values_own(w, s, e.index >> s->bits) == NULL) return false;
    reef__quarantine_open_slots(w, s, e.index, 1);
    return true;
}

/* Room for the next n values of a store whose values don't lie by entity. */
static bool values_room(reef_world *w, value_store *s, uint32_t n)
{
    if (s->multi) return reef__multi_prepare(w, s, NULL, n, 1);
    if (s->paged || n == 0) return true;
    if (s->count + n > UINT32_MAX) return false;
    for (uint32_t page = (uint32_t)s->count >> s->bits; page <= (uint32_t)(s->count + n - 1) >> s->bits; page++)
        if (values_own(w, s, page) == NULL) return false;
    for (uint32_t i = 0; i < n; i++) reef__quarantine_open_slots(w, s, (uint32_t)s->count + i, 1);
    return true;
}

bool reef__store_prepare_add(reef_world *w, uint32_t component, const reef_entity *e, uint32_t n)
{
    value_store *s = store_mine(w, component);
    if (s->component == 0 && (s = value_store_make(w, component)) == NULL) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!entity_room(w, s, e[i])) return false;
    return values_room(w, s, n);
}

bool reef__store_prepare_add_some(reef_world *w, uint32_t component, const reef_entity *e, uint64_t n)
{
    uint32_t missing = 0;
    if (!reef__store_prepare_add(w, component, e, 0)) return false;
    value_store *s = store_mine(w, component);
    for (uint64_t i = 0; i < n; i++) {
        if (store_has(w, component, e[i])) continue;
        if (!entity_room(w, s, e[i])) return false;
        missing++;
    }
    return values_room(w, s, missing);
}

void *reef__store_raw(const reef_world *w, uint32_t component, reef_entity e)
{
    const value_store *s = store_of(w, component);
    if (s->multi) return reef__multi_raw(s, 1);
    return slot_value(s, s->paged ? e.index : (uint32_t)s->count);
}

void reef__store_commit_add(reef_world *w, uint32_t component, reef_entity e)
{
    value_store *s = store_mine(w, component);
    if (s->multi) reef__multi_put(w, s, e, 1);
    else store_put(w, s, e);
    cold_added(w, reef__type_of(component));
}

/* ---- pages of the fast paths ---- */

bool reef__page_cached(const reef_hot *h, const reef_store *s, reef_page_near *page, uint32_t slot)
{
    const uint32_t k = slot >> s->bits;
    if (k >= s->values.count || s->values.version[k] != h->version || s->values.page[k] == NULL) return false;
    *page = (reef_page_near){s->values.page[k], slot & ~slot_mask(s), slot_mask(s) + 1};
    return true;
}

bool reef__index_cached(const reef_hot *h, reef_store *s, uint32_t index)
{
    uint64_t *entries = page_ours(&s->index, index >> REEF_INDEX_BITS, h->fork_version);
    if (entries == NULL) return false;
    s->cached_index = index >> REEF_INDEX_BITS << REEF_INDEX_BITS;
    s->cached_indices = INDEX_ENTRIES;
    s->cached_entries = entries;
    return true;
}

/* ---- removing ---- */

bool reef__store_prepare_drop(reef_world *w, uint32_t component, reef_entity e)
{
    value_store *s = store_mine(w, component);
    const uint32_t slot = slot_of(s, e);
    if (values_own(w, s, slot >> s->bits) == NULL) return false;
    if (scopes_names(w, s) && !reef__relations_by->name_prepare_orphan(w, e)) return false;
    if (s->paged) return true;
    if (s->multi) return reef__store_index_own(w, s, e.index) != NULL;
    const uint32_t last = (uint32_t)s->count - 1, page = last >> s->bits;
    if (values_own(w, s, page) == NULL || reef__store_index_own(w, s, e.index) == NULL) return false;
    return reef__store_index_own(w, s, slot_owner(s, last).index) != NULL;
}

bool reef__store_prepare_last(reef_world *w, value_store *s, uint32_t n)
{
    if (s->paged || s->multi) return true;
    for (uint32_t i = 0; i < n && i < s->count; i++) {
        const uint32_t slot = (uint32_t)s->count - 1 - i;
        if (values_own(w, s, slot >> s->bits) == NULL || reef__store_index_own(w, s, slot_owner(s, slot).index) == NULL)
            return false;
    }
    return true;
}

bool reef__store_prepare_drop_all(reef_world *w, uint32_t component)
{
    value_store *s = store_mine(w, component);
    if (!reef__store_own_all(w, component, false)) return false;
    if (scopes_names(w, s) && !reef__names_own_all(w)) return false;
    for (uint32_t page = 0; page < s->index.count; page++)
        if (s->index.page[page] && reef__store_index_own(w, s, page << REEF_INDEX_BITS) == NULL) return false;
    return true;
}

/* Frees a page without values, except the one that became empty last, so that a single value that comes and goes
 * needn't allocate each time. */
static COLD void page_emptied(reef_world *w, value_store *s, uint32_t page)
{
    store_pages pages;
    const paged_owner o = reef__store_owner(w->family, s, &pages);
    const uint32_t spare = s->spare - 1;
    s->cached.slots = 0;
    if (s->spare && spare != page && spare < s->values.count && s->values.page[spare] &&
        *page_live(s, s->values.page[spare]) == 0)
        (void)reef__paged_clear(&s->values, &o, spare, w->hot.fork_version);
    s->spare = page + 1;
}

static void drop_paged(reef_world *w, value_store *s, const type *t, reef_entity e)
{
    const uint32_t page = e.index >> s->bits;
    char *block = s->values.page[page];
    if (UNLIKELY(s->relation)) reef__relations_by->index_remove(w, s, e, slot_value(s, e.index));
    value_leave(w, t, slot_value(s, e.index));
    ((uint32_t *)(void *)block)[e.index & slot_mask(s)] = 0;
    values_mark(w, s, page);
    reef__quarantine_slots(w, s, e.index, 1, e);
    if (--*page_live(s, block) == 0) page_emptied(w, s, page);
    if (scopes_names(w, s)) reef__relations_by->name_arrives(w, e);
}

/* Destroys a value, or releases the entity's hold on a shared one. */
static void slot_leave(reef_world *w, const value_store *s, const type *t, uint32_t slot)
{
    void *value = slot_value(s, slot);
    if (!s->shared) {
        value_leave(w, t, value);
        return;
    }
    value = *(void **)value;
    reef__quarantine_value(w, t, value, 1, slot_owner(s, slot));
    if (!watched(w, t->id) || !observe_keep(w, t, value)) reef__shared_release(value);
}

/* Drops a value and moves the last value into its slot. */
static void drop_packed(reef_world *w, value_store *s, const type *t, reef_entity e)
{
    static const reef_entity vacant;
    const uint32_t slot = slot_of(s, e), last = (uint32_t)s->count - 1;
    const bool left = reef__quarantine_page(w, s, last >> s->bits);
    if (slot >> s->bits != last >> s->bits) (void)reef__quarantine_page(w, s, slot >> s->bits);
    char *page = s->values.page[slot >> s->bits], *tail = s->values.page[last >> s->bits];
    const reef_entity moved = slot_owner(s, last);
    slot_leave(w, s, t, slot);
    *index_entry(s, e.index) = 0;
    if (slot != last) {
        if (s->shared) memcpy(slot_value(s, slot), slot_value(s, last), s->size);
        else if (s->size) reef__value_move(t, slot_value(s, slot), slot_value(s, last)); /* a tag has no value */
        memcpy(page + (slot & slot_mask(s)) * sizeof moved, &moved, sizeof moved);
        *index_entry(s, moved.index) = (uint64_t)moved.generation << 32 | slot;
    }
    memcpy(tail + (last & slot_mask(s)) * sizeof vacant, &vacant, sizeof vacant);
    if (!left) reef__quarantine_slots(w, s, last, 1, moved);
    s->moves++;
    values_mark(w, s, slot >> s->bits);
    values_mark(w, s, last >> s->bits);
}

void reef__store_drop(reef_world *w, uint32_t component, reef_entity e)
{
    value_store *s = store_mine(w, component);
    const type *t = reef__type_of(component);
    if (s->multi) {
        const uint32_t n = reef__multi_values(s, e);
        const bool left = reef__quarantine_page(w, s, slot_of(s, e) >> s->bits);
        const uint32_t slot = slot_of(s, e);
        for (uint32_t i = 0; i < n && s->relation; i++)
            reef__relations_by->index_remove(w, s, e, slot_value(s, slot + i));
        for (uint32_t i = 0; i < n; i++) value_leave(w, t, (void *)(uintptr_t)reef__store_nth(s, e, i));
        reef__multi_forget(w, s, e);
        if (!left) reef__quarantine_slots(w, s, slot, n, e);
        return;
    }
    if (s->paged) drop_paged(w, s, t, e);
    else drop_packed(w, s, t, e);
    s->count--;
}

void reef__store_drop_many(reef_world *w, value_store *s, const reef_entity *e, uint32_t n)
{
    const uint32_t bits = s->bits, mask = slot_mask(s), offset = s->offset, size = s->size, pages = s->values.count;
    uint32_t marked = UINT32_MAX;
    ASSERT(s->paged && !observed(w));
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t page = e[i].index >> bits, slot = e[i].index & mask;
        char *block = page < pages ? s->values.page[page] : NULL;
        uint32_t *generations = (uint32_t *)(void *)block;
        if (block == NULL || generations[slot] != e[i].generation) continue;
        void *value = block + offset + (size_t)slot * size;
        if (s->relation && !relation_is_doomed(w, value)) reef__relations_by->index_remove(w, s, e[i], value);
        generations[slot] = 0;
        if (page != marked) values_mark(w, s, marked = page);
        reef__quarantine_slots(w, s, e[i].index, 1, e[i]);
        s->count--;
        if (--generations[(size_t)mask + 1] == 0) page_emptied(w, s, page); /* how many are there */
    }
}

void reef__store_undo_add(reef_world *w, uint32_t component, reef_entity e)
{
    static const reef_entity vacant;
    value_store *s = store_mine(w, component);
    const uint32_t n = s->multi ? reef__multi_values(s, e) : 1;
    for (uint32_t k = 0; s->relation && k < n; k++)
        reef__relations_by->index_remove(w, s, e, slot_value(s, slot_of(s, e) + k));
    if (s->multi) {
        reef__multi_forget(w, s, e);
        return;
    }
    const uint32_t slot = slot_of(s, e), i = slot & slot_mask(s);
    char *block = s->values.page[slot >> s->bits];
    s->count--;
    if (s->paged) {
        ((uint32_t *)(void *)block)[i] = 0;
        --*page_live(s, block);
        if (scopes_names(w, s)) reef__relations_by->name_arrives(w, e);
        return;
    }
    memcpy(block + i * sizeof vacant, &vacant, sizeof vacant);
    *index_entry(s, e.index) = 0;
}

/* ---- giving back ---- */

COLD bool reef__stores_shrink(reef_world *w)
{
    reef__invalidate(w, INVALIDATE_STORES_MOVED);
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        value_store *s = &w->state.stores[i];
        store_pages pages;
        const paged_owner o = reef__store_owner(w->family, s, &pages);
        for (uint32_t page = 0; page < s->values.count; page++) {
            if (s->values.page[page] == NULL) continue;
            const uint64_t first = (uint64_t)page << s->bits;
            const bool empty =
                s->paged ? *page_live(s, s->values.page[page]) == 0 : first >= (s->multi ? s->run_end : s->count);
            if (empty && !reef__paged_clear(&s->values, &o, page, w->hot.fork_version)) return false;
        }
        s->spare = 0;
    }
    return true;
}
