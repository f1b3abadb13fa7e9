/* Which rows have a value outside of the rows, and where it lies, remembered from one loop of a query to the next.
 *
 *   chunk, by its unit     list: rows  . . x . . . x x . . x     what a loop would find by way of the bits, the rows' handles and the
 *                                slots     7       8 9     3     store's index, a line of memory for each row and step
 *
 * A list is proved right before it is used, without a look at the rows. Their handles and bits are as they were if the versions of these
 * are: who writes them marks them, as for the hash. The values are theirs if no value left the store since, or else if the slots have the
 * owners that they had, which lie side by side. So a row that comes or goes costs its own chunk a new list, and one whose value moves
 * to another slot too.
 *
 * Versions tell that something was written, not how often: what was written at the world's own version may be written again, and is
 * not remembered; the next loop makes a new version. States that come from elsewhere have versions of another history: then all is
 * forgotten. Jobs read lists and make none. */
#include "join.h"

static size_t list_bytes(uint32_t rows, uint32_t count) { return sizeof(join_list) + rows * sizeof(reef_entity) + count * sizeof(join_run); }

static size_t joining_bytes(void) { return sizeof(joining) + list_bytes(JOIN_ROWS, JOIN_ROWS); }

static joining *joining_of(query *q)
{
    joining *j = q->cut->join;
    if (LIKELY(j != NULL)) return j;
    j = q->cut->join = memory_zeroed(&q->world->family->memory, MEMORY_OTHER, joining_bytes());
    if (j) j->scratch = (join_list *)(void *)(j + 1);
    return j;
}

COLD void joins_drop(query *q)
{
    memory *m = &q->world->family->memory;
    joining *j = q->cut->join;
    if (j == NULL) return;
    for (uint32_t i = 0; i < j->units; i++)
        if (j->list[i]) memory_free(m, MEMORY_OTHER, j->list[i], j->list[i]->bytes);
    if (j->list) memory_free(m, MEMORY_OTHER, j->list, j->units * sizeof *j->list);
    memory_free(m, MEMORY_OTHER, j, joining_bytes());
    q->cut->join = NULL;
}

/* ---- what still holds ---- */

/* The slots have the owners that they had. */
static bool owners_hold(const join_list *l, const value_store *s)
{
    const reef_entity *e = l->entity;
    if (LIKELY(l->straight))
        return l->first + l->rows <= s->count &&
               memcmp((const char *)s->values.page[l->first >> s->bits] + (l->first & slot_mask(s)) * sizeof *e, e, l->rows * sizeof *e) == 0;
    for (const join_run *r = join_runs(l), *end = r + l->count; r < end; e += r->count, r++) {
        const uint32_t i = (r->at - s->offset) / s->size, slot = (r->page << s->bits) + i;
        if (slot + r->count > s->count || memcmp((const char *)s->values.page[r->page] + i * sizeof *e, e, r->count * sizeof *e) != 0) return false;
    }
    return true;
}

const join_list *join_find(const query *q, const reef_slot *slots, const bit_store *bits, uint32_t unit, bool shared)
{
    const joining *j = q->cut->join;
    if (UNLIKELY(j == NULL || unit >= j->units || j->epoch != q->world->state_epoch)) return NULL;
    join_list *l = j->list[unit];
    if (UNLIKELY(l == NULL || l->rows_at != slots[SLOT_ENTITIES].version || l->bits_at != bits->words.version[unit])) return NULL;
    const value_store *s = store_of(q->world, q->cut->term[0].component);
    ASSERT(l->moves != s->moves || owners_hold(l, s));
    if (LIKELY(l->moves == s->moves)) return l;
    if (!owners_hold(l, s)) return NULL;
    if (!shared) l->moves = s->moves;
    return l;
}

/* ---- making lists ---- */

static join_run run_at(const value_store *s, uint32_t row, uint32_t slot)
{
    return (join_run){(uint16_t)row, 1, slot >> s->bits, s->offset + (slot & slot_mask(s)) * s->size};
}

/* False: these are too many rows. */
static bool scratch_fill(joining *j, const value_store *s, const reef_slot *slots, const uint64_t *words)
{
    join_list *l = j->scratch;
    uint32_t rows = 0, next = UINT32_MAX;
    for (uint32_t k = 0; k < BIT_WORDS; k++)
        for (uint64_t word = words[k]; word && rows <= JOIN_ROWS; word &= word - 1, rows++)
            PREFETCH(slot_entities(slots) + k * 64 + bits_first(word)); /* a line of memory for each, all at once */
    l->rows = l->count = 0;
    l->straight = true;
    if (rows > JOIN_ROWS) return false;
    join_run *runs = (join_run *)(void *)(l->entity + rows), *last = runs;
    for (uint32_t k = 0; k < BIT_WORDS; k++)
        for (uint64_t word = words[k]; word; word &= word - 1) {
            const uint32_t row = k * 64 + bits_first(word);
            const reef_entity e = slot_entities(slots)[row];
            const uint32_t slot = slot_follows(s, next, &e) ? next : slot_of(s, e);
            const bool beside = l->rows && slot == next && (slot & slot_mask(s));
            if (beside && row == last->row + last->count) last->count++;
            else *(last = &runs[l->count++]) = run_at(s, row, slot);
            l->straight &= beside || l->rows == 0;
            l->entity[l->rows++] = e;
            if (l->rows == 1) l->first = slot;
            next = slot + 1;
        }
    return true;
}

/* Room for the list of a unit, and for its bytes. NULL: no memory. */
static join_list *joined_room(const query *q, joining *j, uint32_t unit, size_t bytes)
{
    memory *m = &q->world->family->memory;
    if (unit >= j->units) {
        const uint32_t units = unit < q->world->state.next_unit ? q->world->state.next_unit : unit + 1;
        join_list **list = memory_resize(m, MEMORY_OTHER, j->list, j->units * sizeof *list, units * sizeof *list, PLAIN_ALIGN);
        if (list == NULL) return NULL;
        memset(list + j->units, 0, (units - j->units) * sizeof *list);
        j->list = list;
        j->units = units;
    }
    join_list *l = j->list[unit];
    if (l && l->bytes >= bytes) return l;
    l = memory_resize(m, MEMORY_OTHER, l, l ? l->bytes : 0, bytes, PLAIN_ALIGN);
    if (l == NULL) return NULL;
    l->bytes = bytes;
    return j->list[unit] = l;
}

/* The lists are of a state that was. */
static COLD void lists_forget(joining *j, uint64_t epoch)
{
    for (uint32_t i = 0; i < j->units; i++)
        if (j->list[i]) j->list[i]->rows_at = JOIN_NEVER;
    j->epoch = epoch;
}

NOINLINE const join_list *join_make(query *q, const reef_slot *slots, const bit_store *bits, uint32_t unit, uint64_t settled)
{
    const reef_world *w = q->world;
    joining *j = joining_of(q);
    if (j == NULL) return NULL;
    if (j->epoch != w->state_epoch) lists_forget(j, w->state_epoch);
    if (!scratch_fill(j, store_of(w, q->cut->term[0].component), slots, bits->words.page[unit])) return NULL;
    const uint64_t rows_at = slots[SLOT_ENTITIES].version, bits_at = bits->words.version[unit];
    const bool kept = !q->once && rows_at <= settled && bits_at <= settled;
    j->young |= !kept;
    join_list *l = kept ? joined_room(q, j, unit, list_bytes(j->scratch->rows, j->scratch->count)) : NULL;
    if (l == NULL) return j->scratch;
    const size_t bytes = l->bytes;
    memcpy(l, j->scratch, list_bytes(j->scratch->rows, j->scratch->count));
    l->bytes = bytes;
    l->rows_at = rows_at;
    l->bits_at = bits_at;
    l->moves = store_of(w, q->cut->term[0].component)->moves;
    return l;
}

void joins_prepare(query *q, uint64_t settled)
{
    const reef_world *w = q->world;
    if (!query_joins(q)) return;
    const bit_store *bits = bit_store_of(w, q->cut->term[0].component);
    for (const match *m = match_at(q, 0), *end = match_end(q); m < end; m = reef_match_after(&q->head, m, 1))
        for (uint32_t unit = table_rows(m->table) ? m->table->first : 0; unit;) {
            const reef_slot *slots = unit_slots(w, unit);
            if (bit_words(bits, unit) && join_find(q, slots, bits, unit, false) == NULL) join_make(q, slots, bits, unit, settled);
            unit = slots[0].head.next;
        }
}
