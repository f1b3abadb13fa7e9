/* Writing in others' rows: systems of a phase that write a component of rows that they weren't handed.
 *
 *   prepare   before the phase: the pages of the chunks become the world's own, stamps get room
 *   begin     the component gets the version of the system that begins
 *   reef_mut  claims the column and gives it the world's version, so that the inlined reef_mut writes without a call
 *   end       the columns with the world's version get the system's own one
 *
 * Two systems of which one writes such a component never run at the same time if the other one uses it, so the
 * component has one version at a time. */
#include "system/other_rows.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/place.h"
#include "storage/row_stamps.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "query/iterate_sparse.h"
#include "system/access_check.h"
#include "system/phase.h"
#include "system/schedule.h"
#include "system/system.h"

/* ---- what is declared ---- */

/* Is this a term that gives data of one fixed entity? */
static bool gives_fixed(const reef_term *t)
{
    return t->source.generation && (t->op == REEF_HAS || t->op == REEF_OPTIONAL) && t->access != REEF_WITH;
}

/* Does the term give data of an entity that each row has for itself? It is only read. */
static bool gives_reached(const reef_term *t)
{
    return (t->up.id || t->variable || t->target_variable) && t->op != REEF_NOT && t->access == REEF_IN;
}

bool reef__touches_others(const struct system *s, uint32_t component, bool writes)
{
    if (reef__system_touches(s, writes ? REEF_WRITES : REEF_READS, component)) return true;
    if (reef__system_touches(s, REEF_SUMS, component)) return true;
    for (uint32_t i = 0; s->has_query && i < REEF_TERMS_MAX; i++) {
        const reef_term *t = &s->query.terms[i];
        if (t->component.id != component) continue;
        if (gives_fixed(t) && !(writes && t->access == REEF_IN)) return true;
        if (gives_reached(t) && !writes) return true;
    }
    return false;
}

/* ---- preparing ---- */

/* Makes the pages of all chunks of a table the world's own. */
bool reef__table_pages_own(reef_world *w, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
        if (!reef__chunk_page_own(w, unit)) return false;
    return true;
}

static bool other_prepare(reef_world *w, uint32_t component)
{
    const bool tracked = reef__type_of(component)->tracked;
    if (reef__type_of(component)->stored) return reef__stored_track_prepare(w, component);
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t == NULL || table_rows(t) == 0 || reef__slot_seek(w, component, id) == 0) continue;
        if (w->hot.chunks.shared && !reef__table_pages_own(w, t)) return false;
        if (tracked && !reef__track_prepare_table(w, component, t)) return false;
    }
    return true;
}

static bool other_add(reef_world *w, uint32_t component)
{
    ticking *k = w->ticking;
    const type *t = reef__type_of(component);
    for (uint32_t i = 0; i < t->part_count; i++)
        if (!other_add(w, t->parts[i])) return false;
    for (uint32_t i = 0; i < k->other_count; i++)
        if (k->others[i].component == component) return true;
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &k->others, &k->other_room, k->other_count + 1,
                          sizeof *k->others))
        return false;
    k->others[k->other_count++] = (written){.component = component};
    return other_prepare(w, component);
}

bool reef__others_prepare(reef_world *w, const struct system *s)
{
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const reef_touch *t = &s->touches[i];
        if ((t->kind == REEF_WRITES || t->kind == REEF_SUMS) && !other_add(w, t->type.id)) return false;
    }
    for (uint32_t i = 0; s->has_query && i < REEF_TERMS_MAX; i++) {
        const reef_term *t = &s->query.terms[i];
        if (gives_fixed(t) && t->access != REEF_IN && !other_add(w, t->component.id)) return false;
    }
    return true;
}

/* ---- while systems run ---- */

static written *other_find(ticking *k, uint32_t component)
{
    for (uint32_t i = 0; i < k->other_count; i++)
        if (k->others[i].component == component) return &k->others[i];
    return NULL;
}

static bool running_marked(const reef_world *w, uint32_t component, uint64_t version)
{
    const written *x = other_find(w->ticking, component);
    return x && x->version == version && reef__watch_may_write(w, component);
}

static reef_status running_mut_stored(reef_world *w, const char *op, reef_entity e, const type *t, const written *x,
                                      void **at)
{
    const reef_component c = {t->id};
    if (store_find(w, c.id, e) == NULL || t->size == 0) return reef__failure(w, REEF_ABSENT, op, c, e, 0);
    if (!reef__watch_write(w, op, e, c)) return REEF_UNDECLARED;
    if (x == NULL) return reef__failure(w, REEF_UNDECLARED, op, c, e, 0);
    if (!reef__store_claim(w, c.id, e, x->version)) return reef__failure(w, REEF_NO_MEMORY, op, c, e, 0);
    *at = (void *)(uintptr_t)store_find(w, c.id, e);
    reef__store_mark_at(store_of(w, c.id), e, x->version);
    if (t->tracked) reef__track_stamp_at(w, c.id, e.index, x->version);
    return REEF_OK;
}

static reef_status running_mut(reef_world *w, const char *op, reef_entity e, reef_component c, void **at)
{
    const uint32_t place = place_of(w, e);
    reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t id = slots[0].head.table, k = reef__slot_seek(w, c.id, id);
    written *x = other_find(w->ticking, c.id);
    const type *t = reef__type_of(c.id);
    if (place == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, 0);
    if (t->stored) return running_mut_stored(w, op, e, t, x, at);
    if (k == 0 || k == REEF_SLOT_TAG) return reef__failure(w, REEF_ABSENT, op, c, e, 0);
    if (!reef__watch_write(w, op, e, c)) return REEF_UNDECLARED;
    if (x == NULL) return reef__failure(w, REEF_UNDECLARED, op, c, e, 0);
    if (!reef__column_claim(w, table_read(w, id), place_unit(place), k, x->version))
        return reef__failure(w, REEF_NO_MEMORY, op, c, e, 0);
    slots[k].version = t->tracked ? x->version : w->hot.version;
    version_note(w, c.id, place_unit(place), slots[k].version);
    x->touched = true;
    if (t->tracked) reef__track_stamp_at(w, c.id, e.index, x->version);
    *at = cell(slots, k, place_row(place), t->size);
    return REEF_OK;
}

const running_calls reef__phase_running = {
    .marked = running_marked,
    .mut = running_mut,
#if defined(REEF_CHECKED)
    .read = reef__watch_read,
    .on_thread = reef__watch_thread,
    .failed = reef__watch_failure,
#endif
};

/* Columns that the inlined reef_mut stamped get the version of the system that wrote them. */
static void other_end(reef_world *w, written *x)
{
    x->touched = false;
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        const uint32_t k = t && table_rows(t) ? reef__slot_seek(w, x->component, id) : 0;
        if (k == 0 || k == REEF_SLOT_TAG) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
            reef_slot *slots = unit_slots(w, unit);
            if (slots[k].version == w->hot.version) slots[k].version = x->version;
        }
    }
    reef__versions_forget(w, x->component);
}

void reef__others_begin(ticking *k, const planned_system *ps)
{
    for (uint32_t i = 0; i < k->other_count; i++)
        if (reef__touches_others(ps->system, k->others[i].component, true)) k->others[i].version = ps->version;
}

/* Another system, which still runs, writes what this one doesn't touch. */
void reef__others_end(reef_world *w, const struct system *s)
{
    const ticking *k = w->ticking;
    for (uint32_t i = 0; i < k->other_count; i++)
        if (reef__touches_others(s, k->others[i].component, true) && k->others[i].touched) other_end(w, &k->others[i]);
}
