/* All stores of a world together: room for new values in several of them, how well their pages are filled,
 * and validation. */
#include "storage/sparse_store.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/multi_store.h"
#include "storage/relation_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/shared_store.h"
#include "reef/inspect.h"

/* ---- room ---- */

COLD bool reef__stores_reserve(reef_world *w, const reef_component *types, uint32_t type_count, uint32_t count)
{
    size_t bytes;
    bool some = false, ok = true;
    for (uint32_t i = 0; i < type_count; i++) some |= reef__type_of(types[i].id)->stored;
    if (!some || count == 0) return true;
    if (!reef__size_multiply(count, sizeof(reef_entity), 0, &bytes)) return false;
    reef_entity *e = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
    if (e == NULL) return false;
    reef__ids_peek(w, 0, count, e); /* the ids that come next: stores find values by index */
    for (uint32_t i = 0; ok && i < type_count; i++)
        ok = !reef__type_of(types[i].id)->stored || reef__store_prepare_add(w, types[i].id, e, count);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, e, bytes);
    return ok;
}

/* ---- pages of another size ---- */

enum { PAGE_SIZES = 17 }; /* 1 ... REEF_PAGE_ROWS_MAX */

/* Bytes of this many pages of a size, and of the list of pages for `slots` slots. */
static uint64_t pages_bytes(const value_store *s, uint32_t bits, uint64_t pages, uint64_t slots)
{
    const uint64_t rows = UINT64_C(1) << bits;
    return pages * (reef__store_offset(s, (uint32_t)rows) + rows * s->size) +
           slots * (sizeof(void *) + sizeof(uint64_t));
}

COLD reef_status reef_pages_used(const reef_world *w, reef_component c, reef_page_use *use)
{
    const type *t = reef__type_of(c.id);
    if (use) *use = (reef_page_use){0};
    if (!WORLD_GIVEN(w) || use == NULL) return REEF_BAD_ARGUMENT;
    if (t == NULL) return REEF_UNKNOWN_TYPE;
    if (t->home != REEF_PAGED) return REEF_BAD_ARGUMENT;
    const value_store *s = store_of(w, c.id);
    uint64_t pages[PAGE_SIZES] = {0}, next[PAGE_SIZES] = {0};     /* next: the page behind the last one with a value */
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) /* in the order of entity indices */
        for (uint32_t k = 0; k < PAGE_SIZES; k++)
            if (at.entity.index >> k >= next[k]) pages[k]++, next[k] = (uint64_t)(at.entity.index >> k) + 1;
    use->values = s->count;
    use->page_rows = use->best_rows = t->page_rows;
    for (uint32_t k = 0; k < PAGE_SIZES && s->count; k++) {
        const uint64_t bytes = pages_bytes(s, k, pages[k], next[k]);
        if (1u << k == t->page_rows) use->pages = pages[k], use->bytes = bytes;
        if (use->best_bytes && bytes > use->best_bytes) continue;
        use->best_rows = 1u << k;
        use->best_bytes = bytes;
    }
    return REEF_OK;
}

/* ---- validation ---- */

typedef struct proving {
    const reef_world *w;
    const value_store *s;
    uint64_t values; /* values seen so far */
    char *message;
    size_t size;
} proving;

static COLD reef_status corrupt(const proving *x, const char *what, uint64_t number)
{
    const type *t = reef__type_of(x->s->component);
    return reef__corrupt(x->message, x->size, "store %s: %s %llu", t ? t->name : "of no type", what,
                         (unsigned long long)number);
}

/* A value belongs to an entity that is alive and has a row. */
static reef_status owner_validate(const proving *x, reef_entity e)
{
    const reef_world *w = x->w;
    if (e.index >= w->hot.index_count || record_read(w, e.index) >> 32 != e.generation)
        return corrupt(x, "a value of the dead entity", e.index);
    if (place_unit((uint32_t)record_read(w, e.index)) <= place_unit(PLACE_EMPTY))
        return corrupt(x, "a value of an entity without a row:", e.index);
    return REEF_OK;
}

COLD reef_status reef__stores_validate_owners(const reef_world *w, char *message, size_t size)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const proving x = {w, &w->state.stores[i], 0, message, size};
        for (store_place at = {.page = 0}; reef__store_next(x.s, &at);)
            if (owner_validate(&x, at.entity) != REEF_OK) return REEF_CORRUPT;
    }
    return REEF_OK;
}

/* The owner's row says that it has the value, and the store finds the value for it. */
static reef_status value_validate(const proving *x, const store_place *at)
{
    const reef_entity e = at->entity;
    const reef_world *w = x->w;
    const type *t = reef__type_of(x->s->component);
    if (owner_validate(x, e) != REEF_OK) return REEF_CORRUPT;
    const uint32_t place = (uint32_t)record_read(w, e.index);
    if (t->bit && !reef__bit_has(w, t->id, place)) return corrupt(x, "a value without its bit: entity", e.index);
    if (reef__store_nth(x->s, e, at->number) != at->value)
        return corrupt(x, "a value that isn't found: entity", e.index);
    if ((uintptr_t)at->value & (t->align - 1u)) return corrupt(x, "a value that isn't aligned: entity", e.index);
    return REEF_OK;
}

static reef_status page_validate(proving *x, uint32_t page)
{
    const value_store *s = x->s;
    store_place at = {.slot = 0};
    uint32_t n = 0;
    while (reef__store_each(s, page, &at)) {
        if (value_validate(x, &at) != REEF_OK) return REEF_CORRUPT;
        if (!s->paged && !s->multi && at.slot - 1 != n) return corrupt(x, "a hole before the last value in page", page);
        n++;
    }
    const uint64_t first = (uint64_t)page << s->bits, room = s->count > first ? s->count - first : 0;
    if (!s->paged && !s->multi && n != (room < 1u << s->bits ? room : 1u << s->bits))
        return corrupt(x, "a wrong number of values in page", page);
    if (s->paged && n != *page_live(s, s->values.page[page]))
        return corrupt(x, "a wrong count of values in page", page);
    x->values += n;
    return REEF_OK;
}

/* The index has as many entries as there are values; since each value was found by its entry, there are no others. */
static reef_status index_of_store_validate(const proving *x)
{
    const value_store *s = x->s;
    uint64_t n = 0;
    for (uint32_t page = 0; page < s->index.count; page++) {
        const uint64_t *entry = s->index.page[page];
        for (uint32_t i = 0; entry && i < 1u << REEF_INDEX_BITS; i++) n += entry[i] >> 32 != 0;
    }
    if (s->paged && s->index.count) return corrupt(x, "an index, though it has pages: entries", n);
    return s->paged || n == store_entities(s) ? REEF_OK : corrupt(x, "entries in the index that lead nowhere, of", n);
}

static reef_status store_validate(proving *x)
{
    const value_store *s = x->s;
    const type *t = reef__type_of(s->component);
    if (t == NULL || !t->stored || s->size != (s->shared ? sizeof(void *) : t->size))
        return corrupt(x, "not laid out as its type", s->size);
    if (s->paged != (t->home == REEF_PAGED) || s->multi != (t->home == REEF_MULTI) ||
        s->shared != (t->home == REEF_SHARED))
        return corrupt(x, "not laid out as its home", (uint64_t)t->home);
    uint64_t number = 0;
    const char *runs = s->multi    ? reef__multi_wrong(s, &number)
                       : s->shared ? reef__shared_wrong(x->w, s, &number)
                                   : NULL;
    if (runs) return corrupt(x, runs, number);
    for (uint32_t page = 0; page < s->values.count; page++)
        if (s->values.page[page] && page_validate(x, page) != REEF_OK) return REEF_CORRUPT;
    if (x->values != s->count) return corrupt(x, "a wrong count of values, not", x->values);
    /* It follows relations, so it comes when all sources are known to be alive. */
    const char *relation = s->relation ? reef__relation_wrong(x->w, s, &number) : NULL;
    if (relation) return corrupt(x, relation, number);
    if (index_of_store_validate(x) != REEF_OK) return REEF_CORRUPT;
    if (t->bit && reef__bit_sum(x->w, t->id) != store_entities(s))
        return corrupt(x, "bits without a value: they are", reef__bit_sum(x->w, t->id));
    return REEF_OK;
}

COLD reef_status reef__stores_validate(const reef_world *w, char *message, size_t size)
{
    uint32_t cold = w->hot.stores->cold; /* the next store in the list of those of REEF_COLD */
    uint32_t groups_next = w->hot.stores->grouped;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        proving x = {w, &w->state.stores[i], 0, message, size};
        const uint32_t component = x.s->component;
        if (component >= w->state.store_room || w->state.store_number[component] != i)
            return corrupt(&x, "its type leads to another store than number", i);
        if (store_validate(&x) != REEF_OK) return REEF_CORRUPT;
        const bool listed = cold == i;
        if (listed) cold = x.s->cold;
        if (listed == reef__type_of(component)->bit || (!listed && x.s->cold) ||
            (cold && i + 1 == w->state.store_count))
            return corrupt(&x, "the list of cold stores goes on with number", cold);
        const bool groups = groups_next == i;
        if (groups) groups_next = x.s->grouped;
        if (groups == !(x.s->relation & REEF_GROUPED) || (!groups && x.s->grouped) ||
            (groups_next && i + 1 == w->state.store_count))
            return corrupt(&x, "the list of grouped relations goes on with number", groups_next);
    }
    for (uint32_t i = 0; i < w->state.bit_count; i++) {
        const uint32_t key = w->state.bits[i].key;
        proving x = {w, store_of(w, key), 0, message, size};
        if ((key & BIT_DISABLED) == 0 && reef__type_of(key)->stored && store_entities(x.s) != reef__bit_sum(w, key))
            return corrupt(&x, "bits without values, in all", reef__bit_sum(w, key));
    }
    return REEF_OK;
}
