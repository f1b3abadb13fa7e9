#include "change/multi.h"
#include "type/value.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/multi_store.h"
#include "storage/observed.h"
#include "storage/quarantine.h"
#include "storage/read.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "change/apply.h"
#include "reef/multi.h"

static reef_status add_behind(reef_world *w, reef_entity e, const type *t, const reef_value *v)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, t->id);
    const uint32_t n = reef__multi_values(s, e);
    reef_value value = *v;
    /* The new value may be one of the entity's own values, which move. */
    const size_t own = (uintptr_t)v->data - (uintptr_t)slot_value(s, slot_of(s, e));
    w->value = &value;
    w->value_count = 1;
    const bool room = (!t->tracked || reef__track_prepare(w, t->id, &e, 1)) && reef__run_extend(w, s, t, e);
    w->value_count = 0;
    if (!room) return REEF_NO_MEMORY;
    const uint32_t first = slot_of(s, e), slot = first + n;
    if (v->data && own < (size_t)n * t->size) value.data = slot_value(s, first) + own;
    reef_status status = t->relation ? reef__relations_by->check(w, e, t, &value, 0, false) : REEF_OK;
    if (status == REEF_OK) status = reef__value_put(w, e, t, slot_value(s, slot), &value, 0);
    if (status != REEF_OK) return status;
    if (t->relation) reef__relations_by->unplace(w, t, slot_value(s, slot), &value, NULL);
    reef__slot_owner_put(s, slot, e);
    ++*reef__run_word(s, first);
    s->count++;
    values_mark(w, s, slot >> s->bits);
    if (s->relation) reef__relations_by->index_add(w, s, e, slot_value(s, slot));
    if (t->tracked) reef__track_stamp(w, t->id, e.index, false);
    return REEF_OK;
}

void *reef_append_id(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    static const char op[] = "reef_append";
    void *made = NULL;
    const type *t = reef__type_of(c.id);
    if (!WORLD_GIVEN(w)) return NULL;
    const reef_value v = reef_value_make(c, REEF_VALUE_ONE, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, value);
    reef_status s = w->locks || w->running ? REEF_LOCKED
                    : reef_is_alive(w, e)  ? reef__type_ready(w, c.id)
                                           : REEF_NOT_ALIVE;
    if (s == REEF_OK) s = reef__value_check(w, &v, false);
    if (s == REEF_OK && t->size == 0) s = refuse_because(w, "a tag has no values");
    const bool has = s == REEF_OK && has_itself(w, e, t);
    if (has && t->home != REEF_MULTI) s = REEF_EXISTS;
    if (s != REEF_OK) return reef__failure(w, s, op, c, e, s == REEF_WRONG_SIZE ? v.size : 0), NULL;
    if (has) return reef__multi_add(w, op, e, t, &v, &made), made;
    const char *calling = w->calling;
    if (calling == NULL) w->calling = op;
    s = reef_set_id(w, e, c, value, size);
    w->calling = calling;
    return s >= 0 ? (void *)(uintptr_t)reef__value_itself(w, e, c) : NULL;
}

reef_status reef_remove_one_id(reef_world *w, reef_entity e, reef_component c, uint32_t i)
{
    static const char op[] = "reef_remove_one";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    const type *t = reef__type_of(c.id);
    if (w->locks || w->running) return reef__failure(w, REEF_LOCKED, op, c, e, i);
    if (!reef_is_alive(w, e)) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, i);
    if (!reef__world_knows(w, c.id)) return reef__failure(w, REEF_UNKNOWN_TYPE, op, c, e, i);
    const uint32_t n = reef__store_values(w, t, e);
    if (i >= n) return reef__failure(w, REEF_ABSENT, op, c, e, i);
    if (n == 1) return reef_remove_id(w, e, c);
    const bool told = watched(w, t->id);
    w->hook_failed.id = 0;
    if ((t->tracked && !reef__track_prepare(w, t->id, &e, 1)) || reef__store_own(w, t->id, e) == NULL ||
        (told && !observe_several(w, e, t, reef__store_nth(store_of(w, t->id), e, i), NULL)))
        return reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed.id ? w->hook_failed : c, e, i);
    value_store *s = (value_store *)(uintptr_t)store_of(w, t->id);
    const uint32_t first = slot_of(s, e);
    quarantine_because(w, op, t->id, e);
    (void)reef__quarantine_page(w, s, first >> s->bits);
    if (s->relation) reef__relations_by->index_remove(w, s, e, slot_value(s, first + i));
    value_leave(w, t, slot_value(s, first + i));
    for (uint32_t k = i + 1; k < n; k++) reef__value_move(t, slot_value(s, first + k - 1), slot_value(s, first + k));
    reef__slot_owner_put(s, first + n - 1, (reef_entity){0, 0});
    --*reef__run_word(s, first);
    s->count--;
    if (t->tracked) reef__track_stamp(w, t->id, e.index, false);
    if (told) observe_done(w, true);
    return REEF_OK;
}

reef_status reef__multi_add(reef_world *w, const char *op, reef_entity e, const type *t, const reef_value *v,
                            void **out)
{
    const uint32_t n = reef__store_values(w, t, e);
    const reef_component c = {t->id};
    const bool told = watched(w, t->id);
    if (n == reef__multi_most(store_of(w, t->id))) return reef__failure(w, REEF_LIMIT, op, c, e, n);
    quarantine_because(w, op, t->id, e);
    if (told && !observe_several(w, e, t, NULL, v->data)) return reef__failure(w, REEF_NO_MEMORY, op, c, e, 0);
    w->hook_failed.id = 0;
    const reef_status s = add_behind(w, e, t, v);
    if (told) observe_done(w, s == REEF_OK);
    if (s != REEF_OK) return reef__failure(w, s, op, c, e, 0);
    if (out) *out = (void *)(uintptr_t)reef__store_nth(store_of(w, t->id), e, n); /* NULL if an observer removed it */
    return REEF_OK;
}

void *reef_mut_all_id(reef_world *w, reef_entity e, reef_component c, uint32_t *count)
{
    if (WORLD_GIVEN(w) && !w->running) w->calling = "reef_mut_all";
    const void *first = reef_mut_id(w, e, c);
    if (WORLD_GIVEN(w) && !w->running) w->calling = NULL;
    return (void *)(uintptr_t)reef__span_of(w, e, c, first, count);
}
