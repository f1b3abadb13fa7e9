/* The REEF_SHARED home: values that several entities have in common, with a count of their holders.
 *
 *      slot of entity a ─┐
 *      slot of entity b ─┼─► head {holders, world, version ...} value          a slot holds the address of the value
 *      pin ──────────────┘
 *
 * Holders are slots and pins. Copying a page of slots (src/storage/cow_pages.h) makes the copy hold each of its values
 * once more, so forks and snapshots hold what they can see. The last holder that leaves destroys the value, on whatever
 * thread that is.
 *
 * The world that made a value may write it in place until that world is forked or a snapshot is taken: the `version` of
 * the head is newer than the world's fork_version. Any other value is copied before it is written, and all slots of the
 * world that held it hold the copy; if nobody else holds the value, no copy is made. So a value that forks, snapshots
 * or existing pins see never changes. */
#include "storage/shared_store.h"
#include "type/value.h"
#include "storage/sparse_store.h"
#include "reef/detail/access.h"
#include <stdlib.h>

static size_t head_align(const type *t) { return t->align > PLAIN_ALIGN ? t->align : PLAIN_ALIGN; }
/* bytes from the head to the value */
static size_t head_bytes(const type *t) { return (sizeof(shared_head) + head_align(t) - 1) & ~(head_align(t) - 1); }

/* ---- one value ---- */

void *reef__shared_make(reef_world *w, const type *t)
{
    char *p = reef__memory_resize(&w->family->memory, MEMORY_STORES, NULL, 0, head_bytes(t) + t->size, head_align(t));
    if (p == NULL) return NULL;
    void *value = p + head_bytes(t);
    *head_of(value) = (shared_head){.holders = 1,
                                    .component = t->id,
                                    .world = w->hot.number,
                                    .family = w->family,
                                    .version = w->hot.version,
                                    .written = w->hot.version};
    return value;
}

void reef__shared_discard(void *value)
{
    const shared_head h = *head_of(value);
    const type *t = reef__type_of(h.component);
    reef__memory_resize(&h.family->memory, MEMORY_STORES, (char *)value - head_bytes(t), head_bytes(t) + t->size, 0,
                        head_align(t));
}

void reef__shared_hold(const void *value) { (void)COUNT_UP(&head_of(value)->holders); }

void reef__shared_release(void *value)
{
    if (COUNT_DOWN(&head_of(value)->holders) != 0) return;
    value_destroy(reef__type_of(head_of(value)->component), value);
    reef__shared_discard(value);
}

void reef__shared_mark(const void *value, uint64_t version) { head_of(value)->written = version; }

bool reef__is_own(const reef_world *w, const shared_head *h)
{
    return REEF_ACQUIRE_U32(&h->world) == w->hot.number && h->version > w->hot.fork_version;
}

static void own_put(const reef_world *w, shared_head *h)
{
    h->world = w->hot.number;
    h->version = w->hot.version;
}

/* ---- the values of a world ---- */

static void **slot_at(const value_store *s, uint32_t slot) { return (void **)(void *)slot_value(s, slot); }

/* Makes the pages of all slots that hold the value this world's own. Answers how many slots there are; 0: there is no
 * memory. */
static uint32_t holders_own(reef_world *w, value_store *s, const void *value)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < s->count; slot++) {
        if (*slot_at(s, slot) != value) continue;
        if (reef__store_page_own(w, s, slot >> s->bits) == NULL) return 0;
        n++;
    }
    return n;
}

/* Makes a copy that takes the place of a value which others hold as well. NULL: there is no memory, or the hook
 * refused. */
static void *double_make(reef_world *w, const type *t, const void *value)
{
    void *fresh = reef__shared_make(w, t);
    if (fresh == NULL) return NULL;
    if (reef__value_copy(t, fresh, value) == REEF_OK) return fresh;
    w->hook_failed.id = t->id;
    reef__shared_discard(fresh);
    return NULL;
}

static NOINLINE void *value_take(reef_world *w, value_store *s, const type *t, void *value)
{
    const uint32_t n = holders_own(w, s, value);
    if (n == 0) return NULL;
    if (REEF_ACQUIRE_U32(&head_of(value)->holders) == n || !t->copyable) return own_put(w, head_of(value)), value;
    void *fresh = double_make(w, t, value);
    if (fresh == NULL) return NULL;
    for (uint32_t slot = 0; slot < s->count; slot++) {
        if (*slot_at(s, slot) != value) continue;
        *slot_at(s, slot) = fresh;
        reef__shared_hold(fresh);
    }
    for (uint32_t i = 0; i < n; i++) reef__shared_release(value);
    reef__shared_release(fresh); /* the hold that this function had while no slot held the value */
    return fresh;
}

void *reef__shared_own(reef_world *w, value_store *s, uint32_t slot)
{
    void *value = *slot_at(s, slot);
    if (!reef__is_own(w, head_of(value))) value = value_take(w, s, type_known(s->component), value);
    if (value == NULL) return NULL;
    reef__shared_mark(value, w->hot.version);
    return value;
}

/* Makes copies of all values that others hold as well. The head of each value points to the copy that will take its
 * place. */
static bool doubles_make(reef_world *w, const value_store *s, const type *t)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        shared_head *h = head_of(*slot_at(s, slot));
        if (!t->copyable) own_put(w, h); /* nobody else can have a value that can't be copied */
        if (reef__is_own(w, h) || h->copy) continue;
        h->copy = double_make(w, t, *slot_at(s, slot));
        if (h->copy == NULL) return false;
    }
    return true;
}

/* Frees the copies; none takes a place. */
static void doubles_drop(const value_store *s)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        shared_head *h = head_of(*slot_at(s, slot));
        if (h->copy) reef__shared_release(h->copy);
        h->copy = NULL;
    }
}

/* Puts the copies into the slots. Each copy points to the value whose place it took until all slots have released that
 * value. The first slot takes the hold over that doubles_make has. */
static void doubles_take(const value_store *s)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        void *value = *slot_at(s, slot), *copy = head_of(value)->copy;
        if (copy == NULL) continue;
        *slot_at(s, slot) = copy;
        if (head_of(copy)->copy) reef__shared_hold(copy);
        head_of(copy)->copy = value;
    }
    for (uint32_t slot = 0; slot < s->count; slot++) {
        void *was = head_of(*slot_at(s, slot))->copy;
        if (was == NULL) continue;
        head_of(was)->copy = NULL;
        reef__shared_release(was);
    }
    for (uint32_t slot = 0; slot < s->count; slot++) head_of(*slot_at(s, slot))->copy = NULL;
}

COLD bool reef__shared_own_all(reef_world *w, uint32_t component)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, component);
    bool all = true;
    if (!reef__store_own_all(w, component, false)) return false;
    for (uint32_t slot = 0; all && slot < s->count; slot++) all = reef__is_own(w, head_of(*slot_at(s, slot)));
    if (all) return true;
    mutex_lock(&w->family->lock);
    /* under the lock, because another world may claim the same values */
    const bool ok = doubles_make(w, s, reef__type_of(component));
    if (ok) doubles_take(s);
    else doubles_drop(s);
    mutex_unlock(&w->family->lock);
    return ok;
}

reef_entity reef__shared_first(const value_store *s, reef_entity e)
{
    const void *value = reef_store_find(s, e);
    if (REEF_ACQUIRE_U32(&head_of(value)->holders) == 1) return e;
    for (uint32_t slot = 0; slot < s->count; slot++) {
        const reef_entity other = slot_owner(s, slot);
        if (other.index < e.index && *slot_at(s, slot) == value) e = other;
    }
    return e;
}

typedef struct slot_of_value {
    const void *value;
    uint32_t index, slot;
} slot_of_value;

static int slot_of_value_compare(const void *a, const void *b)
{
    const slot_of_value *x = a, *y = b;
    if (x->value != y->value) return (uintptr_t)x->value < (uintptr_t)y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

COLD uint32_t *reef__shared_firsts(const reef_world *w, const value_store *s)
{
    memory *m = &w->family->memory;
    const size_t n = (size_t)s->count;
    uint32_t *firsts = n ? reef__memory_resize(m, MEMORY_OTHER, NULL, 0, n * sizeof *firsts, PLAIN_ALIGN) : NULL;
    slot_of_value *all = firsts ? reef__memory_resize(m, MEMORY_OTHER, NULL, 0, n * sizeof *all, PLAIN_ALIGN) : NULL;
    if (all == NULL) return reef__shared_firsts_free(w, s, firsts), NULL;
    for (uint32_t slot = 0; slot < n; slot++)
        all[slot] = (slot_of_value){*slot_at(s, slot), slot_owner(s, slot).index, slot};
    qsort(all, n, sizeof *all, slot_of_value_compare); /* nobody sees the order of addresses */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (all[i].value != all[first].value) first = i;
        firsts[all[i].slot] = all[first].index;
    }
    reef__memory_free(m, MEMORY_OTHER, all, n * sizeof *all);
    return firsts;
}

void reef__shared_firsts_free(const reef_world *w, const value_store *s, uint32_t *firsts)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, firsts, (size_t)s->count * sizeof *firsts);
}

/* Under the lock, because a fork on another thread may claim the same values. */
const char *reef__shared_wrong(const reef_world *w, const value_store *s, uint64_t *number)
{
    bool wrong = false;
    mutex_lock(&w->family->lock);
    for (uint32_t slot = 0; !wrong && slot < s->count; slot++) {
        const shared_head *h = head_of(*slot_at(s, slot));
        *number = slot;
        wrong = h->component != s->component || REEF_ACQUIRE_U32(&h->holders) == 0 || h->copy;
    }
    mutex_unlock(&w->family->lock);
    return wrong ? "a value without holders, or of another type: slot" : NULL;
}
