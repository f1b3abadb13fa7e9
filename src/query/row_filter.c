/* Which rows of a chunk match a query, where switches, disabled components, values in stores or changes decide. Rows
 * are words of bits, 64 rows each, and the tree of terms is evaluated on such words. Terms that ask a store row by row
 * come last, for the rows that are left. */
#include "query/row_filter.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "query/variables.h"
#include "query/iterate_sparse.h"
#include "query/near_term.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/value_join.h"
#include "query/value_term.h"

static void words_fill(uint64_t *words, uint32_t first, uint32_t end, uint64_t word)
{
    for (uint32_t k = first; k < end; k++) words[k] = word;
}

/* Keeps the enabled rows, the disabled ones, or both. */
static void enabled_rows(const look *l, uint32_t component, reef_enabled enabled, uint64_t *words, uint32_t first,
                         uint32_t end)
{
    if (enabled == REEF_EITHER) return;
    const uint64_t *off = disabled_words(l->q->world, component, l->unit);
    if (off == NULL && enabled == REEF_DISABLED) words_fill(words, first, end, 0);
    for (uint32_t k = first; off && k < end; k++) words[k] &= enabled == REEF_ENABLED ? ~off[k] : off[k];
}

/* When the chunk's values of a component were last written: the version of the column, or of the page of bits. */
static uint64_t written_at(const reef_world *w, uint32_t component, uint32_t unit, uint32_t table_id)
{
    if (type_known(component)->bit) {
        const bit_store *b = bit_store_of(w, component);
        return bit_words(b, unit) ? b->words.version[unit] : 0;
    }
    uint32_t k = reef__slot_seek(w, component, table_id);
    return k == 0 || k == REEF_SLOT_TAG ? 0 : unit_slots(w, unit)[k].version;
}

void reef__rows_ask(const look *l, uint32_t i, row_test holds, uint64_t *words, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++) {
        uint64_t kept = 0;
        for (uint64_t word = words[k] & l->among[k]; word; word &= word - 1)
            if (holds(l, i, l->entities[k * 64 + bits_first(word)])) kept |= word & (0 - word);
        words[k] = kept;
    }
}

static bool row_is_stored(const look *l, uint32_t i, reef_entity e)
{
    return store_has(l->q->world, l->q->terms[i].component.id, e);
}

static void changed_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end)
{
    const reef_world *w = l->q->world;
    const reef_term *t = &l->q->terms[i];
    const type *x = type_known(t->component.id);
    if (t->since == REEF_ALWAYS) return;
    /* Exactly the rows that changed. (A value that a restore left alone was written before its column.) */
    if (x->tracked) {
        if (x->size && !x->stored && !x->resets && written_at(w, x->id, l->unit, l->table_id) <= l->since)
            words_fill(words, first, end, 0);
        else
            reef__track_words(reef__track_of(w, x->id), l->entities, l->count, l->since, t->since == REEF_IF_ADDED,
                              words, first, end);
        return;
    }
    if (x->stored) {
        reef__rows_ask(l, i, reef__value_changed, words, first, end);
        return;
    }
    if (written_at(l->q->world, t->component.id, l->unit, l->table_id) <= l->since) words_fill(words, first, end, 0);
}

/* Is the entity of a fixed term as the term wants it? */
static bool fixed_holds(const query *q, uint32_t i, uint64_t since)
{
    const reef_term *t = &q->terms[i];
    const reef_world *w = q->world;
    const uint32_t place = place_of(w, t->source);
    if (place < 2 * PLACE_EMPTY || !has_itself(w, t->source, type_known(t->component.id))) return false;
    const uint32_t row = place_row(place), k = row / 64;
    uint64_t words[BIT_WORDS], among[BIT_WORDS];
    among[k] = 1ull << (row % 64);
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const look l = {q, slots[0].head.table, place_unit(place), row + 1, since, slot_entities(slots), NULL, among};
    words_fill(words, k, k + 1, ~0ull);
    enabled_rows(&l, t->component.id, t->enabled, words, k, k + 1);
    changed_rows(&l, i, words, k, k + 1);
    if (q->facts[i].values && !reef__entity_fulfils(q, i, t->source)) return false;
    return words[k] >> (row % 64) & 1;
}

bool reef__fixed_hold(const query *q, uint64_t since)
{
    for (uint32_t i = 0; q->fixed && i < q->term_count; i++) {
        const term_facts *f = &q->facts[i];
        if (!f->fixed || !f->top || q->terms[i].op == REEF_OPTIONAL) continue;
        if (fixed_holds(q, i, since) == (q->terms[i].op == REEF_NOT)) return false;
    }
    return true;
}

/* A reflexive relation leads from its target to itself without being there, and so isn't disabled there either. */
static void itself_row(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end)
{
    const reef_term *t = &l->q->terms[i];
    const term_facts *f = &l->q->facts[i];
    const uint32_t place = place_of(l->q->world, t->target), k = place_row(place) / 64;
    if (f->up || f->bound || t->component.id == 0 || t->enabled == REEF_DISABLED) return;
    if (place_unit(place) == l->unit && k >= first && k < end) words[k] |= 1ull << place_row(place) % 64;
}

static void leaf_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = l->q;
    const reef_term *t = &q->terms[i];
    const term_facts *f = &q->facts[i];
    bool all = t->op == REEF_OPTIONAL || (f->fixed && (f->top || fixed_holds(q, i, l->since)));
    if (all || f->fixed) {
        words_fill(words, first, end, all ? ~0ull : 0);
        if (t->op == REEF_NOT && !f->top) words_fill(words, first, end, all ? 0 : ~0ull);
        return;
    }
    if (f->bit) {
        const uint64_t *on = bit_words(bit_store_of(q->world, t->component.id), l->unit);
        words_fill(words, first, end, 0);
        if (on) memcpy(words + first, on + first, (end - first) * sizeof *words);
        if (f->target) reef__target_rows(l, i, words, first, end);
    } else if (f->cold) {
        words_fill(words, first, end, ~0ull);
        if (f->target) reef__target_rows(l, i, words, first, end);
        else reef__rows_ask(l, i, row_is_stored, words, first, end);
    } else {
        words_fill(words, first, end, reef__slot_seek(q->world, t->component.id, l->table_id) ? ~0ull : 0);
    }
    if ((f->some_disabled || t->enabled == REEF_DISABLED) && !f->up)
        enabled_rows(l, t->component.id, t->enabled, words, first, end);
    if (f->target && f->cold) itself_row(l, i, words, first, end); /* by relations, cold ones are the reflexive ones */
    changed_rows(l, i, words, first, end);
    if (f->near) reef__near_rows(l, words, first, end);
    if (f->values && !f->up) reef__value_rows(l, i, words, first, end); /* of an ancestor, that was looked at */
    for (uint32_t k = first; t->op == REEF_NOT && k < end; k++) words[k] = ~words[k];
}

/* Computes for which rows term *at, with all that is inside it, holds. Bits behind the last row may have any value. */
static void term_rows(const look *l, uint32_t *at, uint64_t *words, uint32_t first, uint32_t end)
{
    const uint32_t i = (*at)++;
    const reef_term *t = &l->q->terms[i];
    uint64_t inner[BIT_WORDS];
    if (t->op < REEF_ANY_OF) {
        leaf_rows(l, i, words, first, end);
        return;
    }
    words_fill(words, first, end, t->op == REEF_ALL_OF ? ~0ull : 0);
    for (uint32_t c = 0; c < t->count; c++) {
        term_rows(l, at, inner, first, end);
        for (uint32_t k = first; k < end; k++)
            words[k] = t->op == REEF_ALL_OF ? words[k] & inner[k] : words[k] | inner[k];
    }
    for (uint32_t k = first; t->op == REEF_NONE_OF && k < end; k++) words[k] = ~words[k];
}

/* Did looking at the table decide this term, which is outside of groups? */
static bool term_is_settled(const query *q, uint32_t i)
{
    const term_facts *f = &q->facts[i];
    const reef_term *t = &q->terms[i];
    return t->op < REEF_ANY_OF && !f->bit && !f->cold && !f->fixed && !f->some_disabled && !f->values && !f->near &&
           t->since == REEF_ALWAYS && t->enabled != REEF_DISABLED;
}

/* Does the term ask a store row by row? Then it comes last, for the rows that are left. */
static bool term_is_slow(const query *q, uint32_t i)
{
    const term_facts *f = &q->facts[i];
    return q->terms[i].op < REEF_ANY_OF && !f->fixed &&
           (f->cold || f->target ||
            ((q->terms[i].since != REEF_ALWAYS || f->values) && type_known(q->terms[i].component.id)->stored));
}

bool reef__look_rows(const look *given, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = given->q;
    look l = *given;
    uint64_t inner[BIT_WORDS], any = 0;
    bool slow = false;
    rows_all(words, l.count);
    if (l.among) rows_keep(words, l.among, first, end);
    l.among = words;
    if (q->disabled_entities || q->entities == REEF_DISABLED) enabled_rows(&l, 0, q->entities, words, first, end);
    for (uint32_t at = 0; at < q->term_count;) {
        const bool later = term_is_slow(q, at);
        slow |= later;
        if (later || term_is_settled(q, at)) {
            at++;
            continue;
        }
        term_rows(&l, &at, inner, first, end);
        rows_keep(words, inner, first, end);
    }
    for (uint32_t i = 0; slow && i < q->term_count; i++) {
        if (!q->facts[i].top || !term_is_slow(q, i) || q->facts[i].bound) continue;
        leaf_rows(&l, i, inner, first, end);
        rows_keep(words, inner, first, end);
    }
    if (q->values && q->values->join_count) reef__joined_rows(&l, words, first, end);
    if (slow && q->plan && q->plan->bindings) reef__bound_rows(&l, words, first, end);
    for (uint32_t k = first; k < end; k++) any |= words[k];
    return any != 0;
}

bool reef__look_row(const query *q, uint32_t place, uint64_t since)
{
    const reef_world *w = q->world;
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t id = slots[0].head.table, row = place_row(place), k = row / 64, unit = place_unit(place);
    uint64_t words[BIT_WORDS], among[BIT_WORDS];
    among[k] = 1ull << (row % 64);
    const look l = {q, id, unit, chunk_rows(table_read(w, id), unit), since, slot_entities(slots), NULL, among};
    return reef__look_rows(&l, words, k, k + 1);
}
