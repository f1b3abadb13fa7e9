/* The public calls for values that several entities have in common (REEF_SHARED): sharing, pinning, attaching. The
 * storage is src/storage/shared_store.c. */
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/read.h"
#include "storage/running.h"
#include "storage/shared_store.h"
#include "change/apply.h"
#include "change/component.h"
#include "reef/shared.h"

static reef_status shared_check(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = reef__type_of(c.id);
    if (w->locks || w->running) return REEF_LOCKED;
    if (!reef_is_alive(w, e)) return REEF_NOT_ALIVE;
    if (t == NULL) return REEF_UNKNOWN_TYPE;
    return t->home == REEF_SHARED ? REEF_OK : refuse_because(w, "its home isn't REEF_SHARED");
}

/* Gives e the value. The value is held meanwhile: e's old value may have been the last one that held it. */
static reef_status value_give(reef_world *w, const char *op, reef_entity e, reef_component c, const void *value)
{
    reef_value v = reef_value_make(c, VALUE_HELD, 0, value);
    reef_status s = reef__type_ready(w, c.id);
    if (s != REEF_OK) return reef__failure(w, s, op, c, e, 0);
    const bool had = has_itself(w, e, reef__type_of(c.id));
    const uint32_t place = place_of(w, e);
    reef__shared_hold(value);
    if (!had && UNLIKELY(reef__type_of(c.id)->need_count != 0)) s = reef__change_held(w, op, e, &v, 1, false);
    else s = reef__change_apply(w, op, e, place, reef_slots_at(&w->hot, place)[0].head.table, &v, 1);
    reef__shared_release((void *)(uintptr_t)value);
    return s != REEF_OK || had ? s : REEF_ADDED;
}

reef_status reef_share_id(reef_world *w, reef_entity from, reef_entity to, reef_component c)
{
    static const char op[] = "reef_share";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = shared_check(w, from, c);
    if (s != REEF_OK) return reef__failure(w, s, op, c, from, 0);
    if (!reef_is_alive(w, to)) return reef__failure(w, REEF_NOT_ALIVE, op, c, to, 0);
    const void *value = reef__value_itself(w, from, c);
    if (value == NULL) return reef__failure(w, REEF_ABSENT, op, c, from, 0);
    return value == reef__value_itself(w, to, c) ? REEF_OK : value_give(w, op, to, c, value);
}

reef_pinned reef_pin_id(const reef_world *w, reef_entity e, reef_component c)
{
    reef_pinned pin = {NULL};
    const type *t = reef__type_of(c.id);
    if (!WORLD_GIVEN(w) || t == NULL || t->home != REEF_SHARED) return pin;
    running_read(w, "reef_pin", e, c);
    pin.value = reef__value_itself(w, e, c);
    if (pin.value == NULL) return pin;
    reef__family_add(w->family, false);
    reef__shared_hold(pin.value);
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
    reef__shared_release((void *)(uintptr_t)pin.value);
    reef__family_leave(f, false);
}

reef_status reef_attach(reef_world *w, reef_entity e, reef_pinned pin)
{
    static const char op[] = "reef_attach";
    const reef_component c = reef_pin_type(pin);
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (pin.value == NULL) return reef__misuse(w, op, c, e, "the value is null: reef_pin found none");
    shared_head *h = head_of(pin.value);
    reef_status s = shared_check(w, e, c);
    if (s == REEF_OK && h->family != w->family) s = REEF_OTHER_WORLD;
    if (s != REEF_OK) return reef__failure(w, s, op, c, e, 0);
    if (pin.value == reef__value_itself(w, e, c)) return REEF_OK;
    if (!reef__is_own(w, h)) {
        if (!reef__type_of(c.id)->copyable && REEF_ACQUIRE_U32(&h->world) != w->hot.number)
            return reef__failure(w, REEF_NOT_COPYABLE, op, c, e, 0);
        RELEASE_STORE(&h->world, 0u); /* from now on two worlds may see it */
    }
    return value_give(w, op, e, c, pin.value);
}
