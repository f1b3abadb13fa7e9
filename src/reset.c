/* Types of which a copy of the world gets default values, and those whose values a rewind leaves alone (reef_on_fork).
 *
 *      before:  world ──► node ──► chunk ──► values
 *      after:   world ──► node'──► chunk'──► values         copy ──► node ──► chunk ──► default values
 *
 * What is shared can't differ between the two sides. So default values are made first and take the place of the world's own
 * while the state is shared; then the world takes its own back, into chunks' pages that are its own again. It costs a block for
 * each chunk that has such a column; such columns count as written by a snapshot or fork. A world without such types pays one test. */
#include "reset.h"
#include "track.h"

struct reset {
    const shape *shape;
    uint32_t     unit, slot;
    void        *own, *fresh;
    bool         back; /* the world has its own again */
};

/* ---- making ---- */

/* The blocks of columns that reset, where the world has values of its own: without a list they are counted in r->room, with one
 * each gets its default values. False: no memory for these; what was made is in the list. */
static bool resets_collect(reef_world *w, resets *r)
{
    uint32_t n = 0;
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t == NULL || !t->shape->resets || table_rows(t) == 0) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
            for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
                if (!t->shape->columns[k].type->resets || !column_is_ours(w, unit, k)) continue;
                if (r->list == NULL) {
                    n++;
                    continue;
                }
                struct reset *x = &r->list[r->count];
                *x = (struct reset){.shape = t->shape, .unit = unit, .slot = k};
                x->fresh = column_default(w, t, unit, k);
                if (x->fresh == NULL) return false;
                r->count++;
            }
        }
    }
    r->room += n;
    return true;
}

static void resets_free(reef_world *w, resets *r)
{
    memory_free(&w->family->memory, MEMORY_OTHER, r->list, r->room * sizeof *r->list);
    *r = (resets){0};
}

/* The values of the world stand again where they stood; the copy, if there was one, is gone. */
COLD void resets_undo(reef_world *w, resets *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct reset *x = &r->list[i];
        if (x->back) continue; /* what it had in common with the copy went with it */
        if (x->own) column_exchange(w, x->unit, x->slot, x->own);
        column_discard(w, x->shape, x->unit, x->slot, x->fresh);
    }
    resets_free(w, r);
}

COLD bool resets_place(reef_world *w, resets *r)
{
    *r = (resets){0};
    if (REEF_ACQUIRE_U32(&w->family->graph.reset_count) == 0) return true;
    (void)resets_collect(w, r);
    if (r->room == 0) return true;
    r->list = memory_zeroed(&w->family->memory, MEMORY_OTHER, r->room * sizeof *r->list);
    if (r->list == NULL) {
        r->room = 0;
        return false;
    }
    if (!resets_collect(w, r)) {
        resets_undo(w, r);
        return false;
    }
    for (uint32_t i = 0; i < r->count; i++) r->list[i].own = column_exchange(w, r->list[i].unit, r->list[i].slot, r->list[i].fresh);
    return true;
}

COLD bool resets_take_back(reef_world *w, resets *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct reset *x = &r->list[i];
        if (!column_take(w, x->unit, x->slot, x->own)) return false;
        x->back = true;
    }
    resets_free(w, r);
    return true;
}

/* ---- values that a rewind leaves alone ---- */

typedef struct skipping {
    reef_world *now, *then;
    void       *aside; /* room for one value; NULL while everything is being made ready */
} skipping;

/* One entity's value changes places with the one of the state that comes. False: no memory. */
static bool skip_value(const skipping *x, const type *t, reef_entity e, void *here)
{
    uint32_t place = place_of(x->then, e);
    uint32_t id = place == PLACE_DEAD ? TABLE_NONE : reef_slots_at(&x->then->hot, place)[0].head.table;
    uint32_t k = id == TABLE_NONE ? 0 : slot_seek(x->now, t->id, id);
    if (k == 0) return true;
    if (x->aside == NULL && t->tracked && !track_prepare(x->then, t->id, &e, 1)) return false;
    if (x->aside == NULL) return column_own(x->then, table_read(x->then, id), place_unit(place), k);
    if (t->tracked) track_carry(x->then, x->now, t->id, e.index);
    void *there = cell(reef_slots_at(&x->then->hot, place), k, place_row(place), t->size);
    value_move(t, x->aside, here);
    value_move(t, here, there);
    value_move(t, there, x->aside);
    return true;
}

static bool skip_table(const skipping *x, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(x->now, unit)[0].head.next) {
        for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
            const type *c = t->shape->columns[k].type;
            if (c->hooks.on_fork != REEF_FORK_SKIP || !column_is_ours(x->now, unit, k)) continue;
            const reef_slot *slots = unit_slots(x->now, unit);
            const reef_entity *e = slot_entities(slots);
            for (uint32_t row = 0; row < chunk_rows(t, unit); row++)
                if (!skip_value(x, c, e[row], cell(slots, k, row, c->size))) return false;
        }
    }
    return true;
}

static bool skip_tables(const skipping *x)
{
    for (uint32_t id = TABLE_EMPTY; id < x->now->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(x->now, id);
        if (t && t->shape->resets && table_rows(t) && !skip_table(x, t)) return false;
    }
    return true;
}

/* Room for any such value. */
static COLD bool room_take(family *f, skips_room *room)
{
    *room = (skips_room){0};
    for (uint32_t c = 1; c <= reef_type_count(); c++) {
        const type *t = type_of(c);
        if (t && t->hooks.on_fork == REEF_FORK_SKIP && t->size > room->bytes) room->bytes = t->size;
    }
    if (room->bytes == 0) return true;
    room->value = memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, room->bytes, REEF_ALIGN_MAX);
    return room->value != NULL;
}

COLD void skips_free(family *f, skips_room *room)
{
    if (room->value) memory_resize(&f->memory, MEMORY_OTHER, room->value, room->bytes, 0, REEF_ALIGN_MAX);
    *room = (skips_room){0};
}

static COLD bool skips_own(reef_world *w, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
            const type *c = t->shape->columns[k].type;
            if (c->hooks.on_fork != REEF_FORK_SKIP) continue;
            if (!column_own(w, t, unit, k)) return false;
            if (c->tracked && !track_prepare(w, c->id, slot_entities(unit_slots(w, unit)), chunk_rows(t, unit))) return false;
        }
    }
    return true;
}

COLD bool skips_prepare(reef_world *then, skips_room *room)
{
    bool ok = room_take(then->family, room);
    for (uint32_t id = TABLE_EMPTY; ok && room->value && id < then->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(then, id);
        ok = t == NULL || !t->shape->resets || table_rows(t) == 0 || skips_own(then, t);
    }
    if (!ok) skips_free(then->family, room);
    return ok;
}

COLD void skips_commit(reef_world *now, reef_world *then, const skips_room *room)
{
    skipping x = {now, then, room->value};
    if (room->value) (void)skip_tables(&x);
}

COLD bool skips_move(reef_world *now, reef_world *then)
{
    skipping x = {now, then, NULL};
    skips_room room;
    bool ok = room_take(now->family, &room) && (room.value == NULL || skip_tables(&x));
    if (ok) skips_commit(now, then, &room);
    skips_free(now->family, &room);
    return ok;
}
