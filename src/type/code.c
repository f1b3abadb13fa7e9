/* Code that comes and goes: the list of it, and the count of what leads into it. The list is empty in most programs and
 * short in the others, since what isn't needed any more is taken out. */
#include "type/code.h"
#include "type/type.h"
#include <stdio.h>

reef_code *reef__code_first;

COLD reef_code *reef__code_at(uintptr_t at)
{
    for (reef_code *c = reef__code_first; c && at; c = c->next)
        for (uint32_t i = 0; i < c->range_count; i++)
            if (at >= (uintptr_t)c->ranges[i].begin && at < (uintptr_t)c->ranges[i].end) return c;
    return NULL;
}

void reef__code_hold(const uintptr_t *at, uint32_t count, bool hold)
{
    if (REEF_ACQUIRE_POINTER(&reef__code_first) == NULL) return;
    reef__types_lock();
    for (uint32_t i = 0; i < count; i++) {
        reef_code *c = reef__code_at(at[i]);
        if (c && hold) c->holds++;
        else if (c && c->holds) c->holds--;
    }
    reef__types_unlock();
}

bool reef__code_has(uintptr_t at)
{
    if (REEF_ACQUIRE_POINTER(&reef__code_first) == NULL) return false;
    reef__types_lock();
    const bool has = reef__code_at(at) != NULL;
    reef__types_unlock();
    return has;
}

COLD reef_code *reef__code_add(void)
{
    reef__types_lock();
    bool busy = false;
    for (const reef_code *c = reef__code_first; c; c = c->next) busy |= c->loading;
    reef_code *c = busy ? NULL : reef__types_allocate(sizeof *c);
    if (c) {
        c->loading = true;
        c->next = reef__code_first;
        reef__declarations_hold(c);
        RELEASE_STORE(&reef__code_first, c);
    }
    reef__types_unlock();
    return c;
}

COLD void reef__code_loaded(reef_code *c, const reef_code_range *ranges, uint32_t count)
{
    reef__types_lock();
    reef__declarations_hold(NULL);
    c->loading = false;
    if (count) memcpy(c->ranges, ranges, count * sizeof *ranges);
    c->range_count = count;
    reef__types_unlock();
}

COLD void reef__code_drop(reef_code *c)
{
    reef__types_lock();
    if (c->loading) reef__declarations_hold(NULL);
    reef_code **at = &reef__code_first;
    while (*at != c) at = &(*at)->next;
    RELEASE_STORE(at, c->next);
    reef__types_free(c->changes, c->change_room * sizeof *c->changes);
    reef__types_free(c, sizeof *c);
    reef__types_unlock();
}

/* ---- what leads into it ---- */

/* The first code that hooks lead into; NULL: none. Under the lock. */
static COLD const reef_code *hooks_lead(const reef_hooks *h)
{
    const uintptr_t at[] = {(uintptr_t)h->construct, (uintptr_t)h->copy, (uintptr_t)h->move, (uintptr_t)h->destroy,
                            (uintptr_t)h->context};
    const reef_code *c = NULL;
    for (uint32_t i = 0; c == NULL && i < sizeof at / sizeof *at; i++) c = reef__code_at(at[i]);
    return c;
}

COLD bool reef__hooks_of(const reef_hooks *h, uint64_t module)
{
    const reef_code *c = hooks_lead(h);
    return c && c->module == module;
}

static COLD reef_status retired_construct(void *c, reef_world *w, reef_entity e, void *slot, const void *args)
{
    (void)c, (void)w, (void)e, (void)slot, (void)args;
    return REEF_UNKNOWN_TYPE;
}
static COLD reef_status retired_copy(void *c, void *to, const void *from)
{
    (void)c, (void)to, (void)from;
    return REEF_UNKNOWN_TYPE;
}
static COLD void retired_move(void *c, void *to, void *from) { (void)c, (void)to, (void)from; }
static COLD void retired_destroy(void *c, void *slot) { (void)c, (void)slot; }

COLD void reef__hooks_retire(reef_hooks *h)
{
    if (h->construct) h->construct = retired_construct;
    if (h->copy) h->copy = retired_copy;
    if (h->move) h->move = retired_move;
    if (h->destroy) h->destroy = retired_destroy;
    h->context = NULL;
}

/* Does a pointer fit into bytes of a value that no field describes? */
static COLD bool pointer_hidden(const type *t)
{
    const uint32_t step = (uint32_t)sizeof(void *);
    for (uint32_t at = 0; at + step <= t->size; at += step) {
        bool described = false;
        for (uint32_t i = 0; i < t->field_count; i++) {
            const reef_field *f = &t->fields[i];
            described |= f->offset < at + step && at < f->offset + f->bytes;
        }
        if (!described) return true;
    }
    return false;
}

COLD bool reef__code_needed(const reef_code *c, char *why, size_t size)
{
    const type *t = NULL;
    why[0] = 0;
    reef__types_lock();
    if (c->range_count == 0) (void)snprintf(why, size, "it isn't known where it lies in memory");
    if (c->holds)
        (void)snprintf(why, size,
                       "%llu pointers lead into it, of systems, observers, modules, orders or "
                       "histories",
                       (unsigned long long)c->holds);
    for (uint32_t id = 1; why[0] == 0 && (t = reef__type_of(id)) != NULL; id++)
        if (hooks_lead(&t->hooks) == c) (void)snprintf(why, size, "it has hooks of the type %s", t->name);
    for (const reef_type_decl *d = c->held; why[0] == 0 && d && d->next; d = d->next) {
        t = reef__type_of(d->id);
        if (t && !t->hidden && pointer_hidden(t))
            (void)snprintf(why, size, "values of %s have bytes that no field describes", t->name);
    }
    reef__types_unlock();
    return why[0] != 0;
}

/* ---- what modules bring ---- */

COLD void reef__types_of_module(reef_type_decl *const *types, uint32_t count)
{
    reef__types_lock();
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = types[i]->id - 1;
        if (types[i]->id) reef__type_pages[at / TYPES_PER_PAGE][at % TYPES_PER_PAGE].of_module = true;
    }
    reef__types_unlock();
}

COLD bool reef__type_of_module(const type *t, uint64_t *id)
{
    reef__types_lock();
    *id = t->declared ? 0 : t->module;
    const bool brought = !t->hidden && (t->of_module || *id);
    reef__types_unlock();
    return brought;
}
