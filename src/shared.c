/* REEF_SHARED: values that several entities have in common, counted.
 *
 *      slot of entity a ─┐
 *      slot of entity b ─┼─► head {holders, world, version ...} value          a slot holds the value's address
 *      pin ──────────────┘
 *
 * Holders are slots and pins. A page of slots that is copied (paged.h) holds each of its values once more, so forks and snapshots
 * hold what they can see; the last holder that leaves ends the value, on whatever thread that is.
 *
 * A value may be written where it lies by the world that made it, until that is forked or snapshotted: `version` is newer than
 * its fork_version. Any other is copied before it is written, and all slots of the world that held it hold the copy (or no copy is
 * made: nobody else holds it). So what forks, snapshots, and the pins that were there before see never changes. */
#include "watch.h"
#include "reef/shared.h"
#include "change.h"
#include "observer.h"
#include "stored.h"
#include <stdlib.h>

typedef struct shared_head {
    uint32_t holders; /* by any thread */
    uint32_t component;
    uint32_t world;   /* number of the only one that may write it in place; 0: none */
    family  *family;
    uint64_t version; /* of the world, when it became its own */
    uint64_t written; /* by the world: the version of the last write */
    void    *copy;    /* while the world's slots are claimed, under the lock: what will take its place */
} shared_head;

static shared_head *head_of(const void *value) { return (shared_head *)(uintptr_t)((const char *)value - sizeof(shared_head)); }
static size_t head_align(const type *t) { return t->align > PLAIN_ALIGN ? t->align : PLAIN_ALIGN; }
static size_t head_bytes(const type *t) { return (sizeof(shared_head) + head_align(t) - 1) & ~(head_align(t) - 1); } /* to the value */

/* ---- one value ---- */

void *shared_make(reef_world *w, const type *t)
{
    char *p = memory_resize(&w->family->memory, MEMORY_STORES, NULL, 0, head_bytes(t) + t->size, head_align(t));
    if (p == NULL) return NULL;
    void *value = p + head_bytes(t);
    *head_of(value) = (shared_head){.holders = 1, .component = t->id, .world = w->hot.number, .family = w->family,
                                    .version = w->hot.version, .written = w->hot.version};
    return value;
}

void shared_discard(void *value)
{
    const shared_head h = *head_of(value);
    const type *t = type_of(h.component);
    memory_resize(&h.family->memory, MEMORY_STORES, (char *)value - head_bytes(t), head_bytes(t) + t->size, 0, head_align(t));
}

void shared_hold(const void *value) { (void)COUNT_UP(&head_of(value)->holders); }

void shared_release(void *value)
{
    if (COUNT_DOWN(&head_of(value)->holders) != 0) return;
    value_destroy(type_of(head_of(value)->component), value);
    shared_discard(value);
}

uint64_t shared_written(const void *value) { return head_of(value)->written; }
void shared_mark(const void *value, uint64_t version) { head_of(value)->written = version; }

static bool is_own(const reef_world *w, const shared_head *h)
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

/* The pages of all slots that hold the value ours; how many do. 0: no memory. */
static uint32_t holders_own(reef_world *w, value_store *s, const void *value)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < s->count; slot++) {
        if (*slot_at(s, slot) != value) continue;
        if (store_page_own(w, s, slot >> s->bits) == NULL) return 0;
        n++;
    }
    return n;
}

/* A copy that takes the place of a value of others. NULL: no memory, or the hook refused. */
static void *double_make(reef_world *w, const type *t, const void *value)
{
    void *fresh = shared_make(w, t);
    if (fresh == NULL) return NULL;
    if (value_copy(t, fresh, value) == REEF_OK) return fresh;
    w->hook_failed.id = t->id;
    shared_discard(fresh);
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
        shared_hold(fresh);
    }
    for (uint32_t i = 0; i < n; i++) shared_release(value);
    shared_release(fresh); /* ours, while it had no slot */
    return fresh;
}

void *shared_own(reef_world *w, value_store *s, uint32_t slot)
{
    void *value = *slot_at(s, slot);
    if (!is_own(w, head_of(value))) value = value_take(w, s, type_of(s->component), value);
    if (value == NULL) return NULL;
    shared_mark(value, w->hot.version);
    return value;
}

/* Copies of all values that are others' too, each known by the one that it will take the place of. */
static bool doubles_make(reef_world *w, const value_store *s, const type *t)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        shared_head *h = head_of(*slot_at(s, slot));
        if (!t->copyable) own_put(w, h); /* nobody else can have it */
        if (is_own(w, h) || h->copy) continue;
        h->copy = double_make(w, t, *slot_at(s, slot));
        if (h->copy == NULL) return false;
    }
    return true;
}

/* No copy takes a place. */
static void doubles_drop(const value_store *s)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        shared_head *h = head_of(*slot_at(s, slot));
        if (h->copy) shared_release(h->copy);
        h->copy = NULL;
    }
}

/* The copies go into the slots; each knows the value whose place it took, until all slots have let that go. */
static void doubles_take(const value_store *s)
{
    for (uint32_t slot = 0; slot < s->count; slot++) {
        void *value = *slot_at(s, slot), *copy = head_of(value)->copy;
        if (copy == NULL) continue;
        *slot_at(s, slot) = copy;
        shared_hold(copy);
        head_of(copy)->copy = value;
    }
    for (uint32_t slot = 0; slot < s->count; slot++) {
        void *copy = *slot_at(s, slot), *was = head_of(copy)->copy;
        if (was == NULL || head_of(was)->copy == NULL) continue;
        head_of(was)->copy = NULL;
        shared_release(copy); /* ours, while it had no slot */
    }
    for (uint32_t slot = 0; slot < s->count; slot++)
        if (head_of(*slot_at(s, slot))->copy) shared_release(head_of(*slot_at(s, slot))->copy);
    for (uint32_t slot = 0; slot < s->count; slot++) head_of(*slot_at(s, slot))->copy = NULL;
}

COLD bool shared_own_all(reef_world *w, uint32_t component)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, component);
    bool all = true;
    if (!store_own_all(w, component, false)) return false;
    for (uint32_t slot = 0; all && slot < s->count; slot++) all = is_own(w, head_of(*slot_at(s, slot)));
    if (all) return true;
    mutex_lock(&w->family->lock);
    const bool ok = doubles_make(w, s, type_of(component)); /* under the lock: another world may claim the same values */
    if (ok) doubles_take(s);
    else doubles_drop(s);
    mutex_unlock(&w->family->lock);
    return ok;
}

reef_entity shared_first(const value_store *s, reef_entity e)
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
    uint32_t    index, slot;
} slot_of_value;

static int slot_of_value_compare(const void *a, const void *b)
{
    const slot_of_value *x = a, *y = b;
    if (x->value != y->value) return (uintptr_t)x->value < (uintptr_t)y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

COLD uint32_t *shared_firsts(const reef_world *w, const value_store *s)
{
    memory *m = &w->family->memory;
    const size_t n = (size_t)s->count;
    uint32_t *firsts = n ? memory_resize(m, MEMORY_OTHER, NULL, 0, n * sizeof *firsts, PLAIN_ALIGN) : NULL;
    slot_of_value *all = firsts ? memory_resize(m, MEMORY_OTHER, NULL, 0, n * sizeof *all, PLAIN_ALIGN) : NULL;
    if (all == NULL) return shared_firsts_free(w, s, firsts), NULL;
    for (uint32_t slot = 0; slot < n; slot++)
        all[slot] = (slot_of_value){*slot_at(s, slot), slot_owner(s, slot).index, slot};
    qsort(all, n, sizeof *all, slot_of_value_compare); /* the order of addresses is seen by nobody */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (all[i].value != all[first].value) first = i;
        firsts[all[i].slot] = all[first].index;
    }
    memory_free(m, MEMORY_OTHER, all, n * sizeof *all);
    return firsts;
}

void shared_firsts_free(const reef_world *w, const value_store *s, uint32_t *firsts)
{
    memory_free(&w->family->memory, MEMORY_OTHER, firsts, (size_t)s->count * sizeof *firsts);
}

/* Under the lock: a fork on another thread may claim the same values. */
const char *shared_wrong(const reef_world *w, const value_store *s, uint64_t *number)
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

/* ---- calls ---- */

static reef_status shared_check(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = type_of(c.id);
    if (w->locks || w->running) return REEF_LOCKED;
    if (!reef_is_alive(w, e)) return REEF_NOT_ALIVE;
    if (t == NULL) return REEF_UNKNOWN_TYPE;
    return t->home == REEF_SHARED ? REEF_OK : REEF_BAD_ARGUMENT;
}

/* Gives e the value, which may be held by nobody else when its own goes. */
static reef_status value_give(reef_world *w, const char *op, reef_entity e, reef_component c, const void *value)
{
    reef_value v = reef_value_make(c, VALUE_HELD, 0, value);
    reef_status s = type_ready(w, c.id);
    if (s != REEF_OK) return failure(w, s, op, c, e, 0);
    const bool had = has_itself(w, e, type_of(c.id));
    const uint32_t place = place_of(w, e);
    shared_hold(value);
    s = change_apply(w, op, e, place, reef_slots_at(&w->hot, place)[0].head.table, &v, 1);
    shared_release((void *)(uintptr_t)value);
    return s != REEF_OK || had ? s : REEF_ADDED;
}

reef_status reef_share_id(reef_world *w, reef_entity from, reef_entity to, reef_component c)
{
    static const char op[] = "reef_share";
    if (w == NULL) return REEF_BAD_ARGUMENT;
    reef_status s = shared_check(w, from, c);
    if (s != REEF_OK) return failure(w, s, op, c, from, 0);
    if (!reef_is_alive(w, to)) return failure(w, REEF_NOT_ALIVE, op, c, to, 0);
    const void *value = BUG(174) ? reef_get_id(w, from, c) : value_itself(w, from, c);
    if (value == NULL) return failure(w, REEF_ABSENT, op, c, from, 0);
    return value == value_itself(w, to, c) ? REEF_OK : value_give(w, op, to, c, value);
}

reef_pinned reef_pin_id(const reef_world *w, reef_entity e, reef_component c)
{
    reef_pinned pin = {NULL};
    const type *t = type_of(c.id);
    if (w == NULL || t == NULL || t->home != REEF_SHARED) return pin;
    watch_get(w, "reef_pin", e, c);
    pin.value = value_itself(w, e, c);
    if (pin.value == NULL) return pin;
    family_join(w->family, false);
    shared_hold(pin.value);
    return pin;
}

reef_component reef_pin_type(reef_pinned pin)
{
    return (reef_component){pin.value ? head_of(pin.value)->component : 0};
}

void reef_unpin(reef_pinned pin)
{
    if (pin.value == NULL) return;
    family *f = head_of(pin.value)->family;
    shared_release((void *)(uintptr_t)pin.value);
    family_leave(f, false);
}

reef_status reef_attach(reef_world *w, reef_entity e, reef_pinned pin)
{
    static const char op[] = "reef_attach";
    const reef_component c = reef_pin_type(pin);
    if (w == NULL) return REEF_BAD_ARGUMENT;
    if (pin.value == NULL) return failure(w, REEF_BAD_ARGUMENT, op, c, e, 0);
    shared_head *h = head_of(pin.value);
    reef_status s = shared_check(w, e, c);
    if (s == REEF_OK && h->family != w->family) s = REEF_OTHER_WORLD;
    if (s != REEF_OK) return failure(w, s, op, c, e, 0);
    if (pin.value == value_itself(w, e, c)) return REEF_OK;
    if (!is_own(w, h)) {
        if (!type_of(c.id)->copyable && REEF_ACQUIRE_U32(&h->world) != w->hot.number) return failure(w, REEF_NOT_COPYABLE, op, c, e, 0);
        RELEASE_STORE(&h->world, 0u); /* two worlds may see it now */
    }
    return value_give(w, op, e, c, pin.value);
}
