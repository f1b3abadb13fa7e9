/* Reading values. The public calls read one value of one entity: they try the column of its table first, then its
 * store, and then the only subtype. */
#include "storage/read.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "storage/subtype.h"
#include "reef/detail/access.h"

const void *reef_get_id(const reef_world *w, reef_entity e, reef_component c)
{
    if (!WORLD_GIVEN(w)) return NULL;
    running_read(w, "reef_get", e, c);
    const void *p = reef__value_itself(w, e, c);
    if (LIKELY(p != NULL)) return p;
    const reef_component meant = component_meant(w, e, c);
    return meant.id != c.id ? reef_get_id(w, e, meant) : NULL;
}

bool reef_has_id(const reef_world *w, reef_entity e, reef_component c)
{
    uint32_t place = WORLD_GIVEN(w) ? place_of(w, e) : PLACE_DEAD;
    if (place == PLACE_DEAD) return false;
    if (slot_find(w, c.id, reef_slots_at(&w->hot, place)[0].head.table) != 0) return true;
    if (stored_any(w) && store_has(w, c.id, e)) return true;
    if ((c.id & BIT_DISABLED) == 0 && reef__bit_has(w, c.id, place)) return true;
    const type *t = reef__type_of(c.id);
    return UNLIKELY(t && has_a_subtype(w, e, t));
}

bool reef_has_slow_(const reef_world *w, reef_entity e, reef_type_decl *decl)
{
    return reef_has_id(w, e, reef_id_of(decl));
}

const void *reef_get_slow_(const reef_world *w, reef_entity e, reef_type_decl *decl)
{
    return reef_get_id(w, e, reef_id_of(decl));
}

void reef_index_ask_(const reef_world *w, reef_type_decl *decl)
{
    if (WORLD_GIVEN(w)) reef__block_index_ask(w, reef_id_of(decl).id);
}

const void *reef__value_itself(const reef_world *w, reef_entity e, reef_component c)
{
    const uint32_t place = place_of(w, e);
    if (place == PLACE_DEAD) return NULL;
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t k = slot_find(w, c.id, slots[0].head.table);
    if (k && k != REEF_SLOT_TAG) return cell(slots, k, place_row(place), reef__type_of(c.id)->size);
    const value_store *s = k == 0 && stored_any(w) ? store_of(w, c.id) : NULL;
    return s && s->size ? reef_store_find(s, e) : NULL;
}

bool reef__value_run_next(const reef_world *w, const type *t, value_run *r)
{
    if (t->stored) {
        r->entities = &r->at.entity;
        r->count = reef__store_next(store_of(w, t->id), &r->at);
        r->values = r->at.value;
        return r->count != 0;
    }
    r->unit = r->unit ? unit_slots(w, r->unit)[0].head.next : 0;
    while (r->unit == 0) {
        if (++r->table >= w->state.tables.count * TABLES_PER_PAGE) return false;
        const table *k = table_read(w, r->table);
        if (k && table_rows(k) && slot_find(w, t->id, r->table)) r->unit = k->first;
    }
    const reef_slot *slots = unit_slots(w, r->unit);
    const uint32_t slot = slot_find(w, t->id, r->table);
    r->entities = slot_entities(slots);
    r->count = chunk_rows(table_read(w, r->table), r->unit);
    r->values = slot == REEF_SLOT_TAG ? NULL : slots[slot].block;
    return true;
}
