/* References to components, which the program keeps outside of the world: what happens when a reference has to look up
 * its value again.
 *
 * hot.moves (world.h) is one counter for the whole world. As long as it is what the reference remembers, no row moved,
 * so the remembered address is good and nothing else is read. The alternative was to remember the entity's record as
 * well, and to trust the address while the record stays the same: that costs a second cache miss for each read, even
 * in a world where nothing moves. Values in stores aren't remembered, so that stores don't have to count. */
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/place.h"
#include "reef/ref.h"

/* The value is where the maps don't lead: in a store, in a rarely used map, or nowhere. It is looked up each time,
 * because stores don't count what they move, and a component that is absent may be added without a row being moved. */
static NOINLINE const void *ref_seek_elsewhere(const reef_world *w, reef_ref *ref, reef_component c)
{
    ref->moves = 0;
    if (ref->world != w->hot.number || ref->component.id != c.id || c.id == 0) return NULL;
    return reef_get_id(w, ref->entity, c);
}

const void *reef_ref_seek_(const reef_world *w, reef_ref *ref, reef_component c, size_t size)
{
    const reef_hot *h = &w->hot;
    const uint64_t moves = REEF_DEPENDENT(&h->moves);
    const reef_long_way way = reef_long_way_to(h, map_of_id(w, c.id));
    const reef_slot *slots = NULL;
    uint32_t place = 0;
    if (!world_is_ours(w, "reef_ref_get")) return NULL;
    if (UNLIKELY(ref->world != h->number || ref->component.id != c.id) || REEF_HELD_(w))
        return ref_seek_elsewhere(w, ref, c);
    const uint32_t k = reef_slot_at(&way, ref->entity, &place, &slots);
    if (UNLIKELY(k == 0 || k == REEF_SLOT_TAG)) return ref_seek_elsewhere(w, ref, c);
    ref->moves = moves;
    return ref->value = cell(slots, k, place_row(place), size ? size : reef__type_of(c.id)->size);
}

void *reef_ref_mut_as(reef_world *w, const reef_ref *ref, reef_component c)
{
    static const char op[] = "reef_ref_mut";
    const reef_entity none = {0, 0};
    if (!WORLD_GIVEN(w)) return NULL;
    if (ref == NULL || ref->world == 0 || ref->component.id != c.id)
        return reef__misuse(w, op, c, none, "the reference is null, or of another component"), NULL;
    if (ref->world != w->hot.number) return reef__failure(w, REEF_OTHER_WORLD, op, c, ref->entity, 0), NULL;
    const reef_long_way way = reef_long_way_to(&w->hot, map_of_id(w, c.id));
    const reef_slot *slots = NULL;
    uint32_t place = 0, k = reef_slot_at(&way, ref->entity, &place, &slots);
    if (UNLIKELY(k == 0 || k == REEF_SLOT_TAG || slots[k].version != w->hot.version)) {
        if (w->running) return reef_mut_id(w, ref->entity, c);
        w->calling = op;
        void *p = reef_mut_id(w, ref->entity, c);
        w->calling = NULL;
        return p;
    }
    return cell(slots, k, place_row(place), reef__type_of(c.id)->size);
}
