/* Loops that ask for values in stores: their blocks are cut.
 *
 *   rows that match   . x . x x x x . . x      words of bits, as in every loop that looks at rows
 *   their values        a   b c d q     r      b c d lie side by side in their store, the others elsewhere
 *   blocks            . 1 . 2 2 2 3 . . 4
 *
 * Invariant: in a block all rows match, and the values of each term are an array: of a column from the first row on,
 * of a store from the first entity's value on. Of a component that a row need not have, either all rows of the block
 * have it or none. The columns of a chunk are marked when the loop comes to it; the pages of a store when a block has
 * values there.
 *
 * The accessors find cells where they find slots in other loops: b->match is reef__cells_match, which names the cells
 * as if they were columns, and b->walk_match is where the loop is. Where only one store decides which rows match, the
 * rows of a chunk are remembered (src/query/match_cache.h). */
#include "query/iterate_sparse.h"
#include "storage/archetype.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "query/block.h"
#include "query/iterate.h"
#include "query/match_cache.h"
#include "query/query.h"
#include "query/value_term.h"

/* A match whose columns are the cells. */
enum { CUT_COLUMNS = offsetof(match, columns) / sizeof(uint16_t), CELL = sizeof(reef_cell) };
typedef union cut_columns {
    match aligned;
    uint16_t column[CUT_COLUMNS + REEF_CELLS];
} cut_columns;
static const cut_columns cells_match = {.column = {[CUT_COLUMNS] = 0,
                                                   [CUT_COLUMNS + 1] = CELL,
                                                   [CUT_COLUMNS + 2] = 2 * CELL,
                                                   [CUT_COLUMNS + 3] = 3 * CELL,
                                                   [CUT_COLUMNS + 4] = 4 * CELL,
                                                   [CUT_COLUMNS + 5] = 5 * CELL}};
const match *const reef__cells_match = &cells_match.aligned;

/* ---- what is asked for ---- */

static bool term_freezes(const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    return q->facts[i].stored && t->since != REEF_ALWAYS && t->access != REEF_IN &&
           !reef__type_of(t->component.id)->tracked;
}

static void cutting_add(cutting *c, const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    const type *x = reef__type_of(t->component.id);
    cut_term *to = &c->term[c->count];
    to->component = x->id;
    to->size = x->size;
    to->term = (uint16_t)i;
    to->column = CUT_ELSEWHERE;
    for (uint32_t k = 0; k < q->head.column_count; k++)
        if (q->head.key[k] >> 1 == x->id) to->column = (uint16_t)k;
    to->stored = q->facts[i].stored;
    to->packed = x->home == REEF_SPARSE || x->home == REEF_COLD;
    to->writes = t->access != REEF_IN;
    to->sure = q->facts[i].top && t->op == REEF_HAS;
    if (c->count < REEF_CELLS) c->head.key[c->cell_count++] = q->facts[i].sub ? REEF_NO_KEY : x->id << 1 | !to->writes;
    c->count++;
    c->stored_count += to->stored;
    c->shared |= to->writes && x->home == REEF_SHARED;
    if (q->facts[i].each) c->each = x->id;
    c->writes |= to->stored && to->writes;
    c->freezes |= term_freezes(q, i);
}

static size_t cutting_bytes(uint32_t count) { return sizeof(cutting) + count * sizeof(cut_term); }

bool reef__cutting_make(query *q)
{
    uint32_t count = 0, stored = 0;
    for (uint32_t i = 0; i < q->term_count; i++) {
        count += term_has_data(q, i);
        stored += q->facts[i].stored;
    }
    if (stored == 0) return true;
    cutting *c = q->cut = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, cutting_bytes(count));
    if (c == NULL) return false;
    for (uint32_t i = 0; i < REEF_TERMS_MAX; i++) c->head.key[i] = REEF_NO_KEY;
    for (uint32_t i = 0; i < q->term_count; i++)
        if (q->facts[i].stored) cutting_add(c, q, i);
    for (uint32_t i = 0; i < q->term_count; i++)
        if (term_has_data(q, i) && !q->facts[i].stored) cutting_add(c, q, i);
    c->quick = c->stored_count == 1 && c->term[0].packed && c->term[0].sure && c->count == c->cell_count;
    c->head.column_count = c->head.write_count = c->cell_count;
    c->head.match_bytes = sizeof cells_match;
    return true;
}

void reef__cutting_drop(query *q)
{
    if (q->cut) reef__joins_drop(q);
    if (q->cut) reef__memory_free(&q->world->family->memory, MEMORY_OTHER, q->cut, cutting_bytes(q->cut->count));
    q->cut = NULL;
}

/* ---- where values lie ---- */

/* The version is read so because other jobs of the same system may mark the same page. */
INLINE uint64_t page_version(const value_store *s, uint32_t page) { return REEF_DEPENDENT(&s->values.version[page]); }

/* How many of the n entities, from the first on, are like the first: their values follow its value, or they have none
 * either. */
static uint32_t values_beside(const reef_world *w, const cut_term *t, const reef_entity *e, uint32_t n)
{
    const value_store *s = store_of(w, t->component);
    const bool there = t->sure || reef_store_find(s, e[0]);
    uint32_t i = t->sure ? n : 1;
    while (i < n && (reef_store_find(s, e[i]) != NULL) == there) i++;
    return there && i > 1 ? reef__store_run(s, e, i) : i;
}

uint32_t reef__cut_rows(const query *q, const reef_entity *e, uint32_t n)
{
    if (q->cut->each) return 1;
    for (uint32_t i = 0; n > 1 && i < q->cut->stored_count; i++) n = values_beside(q->world, &q->cut->term[i], e, n);
    return n;
}

/* ---- writing ---- */

/* Makes the page of the entity's value this world's own and marks it. `own` is a version that isn't new to the loop
 * itself (0: none): the page gets it if nobody else wrote the page. NULL: no memory. */
static NOINLINE void *value_page_own(reef_world *w, uint32_t component, reef_entity e, uint64_t own)
{
    const uint64_t was = reef__store_version(store_of(w, component), e);
    void *p = reef__store_own(w, component, e);
    const value_store *s = store_of(w, component);
    if (p && own && was <= own && s->shared) reef__shared_mark(p, own);
    if (p && own && was <= own) s->values.version[slot_of(s, e) >> s->bits] = own;
    return p;
}

/* The same for a term of which an entity may have the value, if the loop writes it. A cell gets where the value lies
 * then. False: no memory, the loop has ended. */
INLINE bool value_own(reef_block *b, const cut_term *t, reef_entity e, uint64_t own, reef_cell *cell)
{
    reef_world *w = b->world;
    const value_store *s = store_of(w, t->component);
    if (!t->writes || (!t->sure && reef_store_find(s, e) == NULL)) return true;
    const uint64_t is = page_version(s, slot_of(s, e) >> s->bits);
    if (!s->shared && (is == w->hot.version || (own && is == own))) return true;
    void *p = value_page_own(w, t->component, e, own);
    if (p && cell) cell->values = p;
    return p || reef__walk_no_memory(b);
}

bool reef__stored_own_rows(reef_block *b)
{
    const query *q = b->loop.query;
    const uint64_t own = reef__own_version(b, q);
    b->world->hook_failed.id = 0;
    for (uint32_t i = 0; i < q->cut->stored_count; i++)
        for (uint32_t row = 0; row < b->count; row++) {
            if (b->loop.mask && !(b->loop.mask[row / 64] >> (row % 64) & 1)) continue;
            if (!value_own(b, &q->cut->term[i], b->entities[row], own, NULL)) return false;
        }
    return true;
}

COLD bool reef__stored_track_prepare(reef_world *w, uint32_t component)
{
    const value_store *s = store_of(w, component);
    if (s->shared) return reef__shared_own_all(w, component);
    for (store_place at = {.page = 0}; reef__type_of(component)->tracked && reef__store_next(s, &at);)
        if (!reef__track_prepare(w, component, &at.entity, 1)) return false;
    return true;
}

/* Does the block have values of the term, which the loop writes? */
static bool block_writes(const reef_block *b, const cut_term *t)
{
    return t->writes && (t->sure || store_has(b->world, t->component, b->entities[0]));
}

bool reef__stored_claim(reef_block *b, uint64_t version)
{
    const cutting *c = b->loop.query->cut;
    for (const cut_term *t = c->term; t < c->term + c->stored_count; t++)
        if (block_writes(b, t) && !reef__store_claim(b->world, t->component, b->entities[0], version)) return false;
    return true;
}

void reef__stored_mark(const reef_block *b, uint64_t version)
{
    const cutting *c = b->loop.query->cut;
    for (const cut_term *t = c->term; t < c->term + c->stored_count; t++) {
        const value_store *s = store_of(b->world, t->component);
        if (!block_writes(b, t)) continue;
        if (page_version(s, slot_of(s, b->entities[0]) >> s->bits) != version || s->shared)
            reef__store_mark_at(s, b->entities[0], version);
    }
}

/* ---- what changed ---- */

COLD frozen_versions *reef__frozen_make(const query *q, frozen_versions *old)
{
    size_t bytes = sizeof *old;
    for (uint32_t i = 0; i < q->term_count; i++)
        if (term_freezes(q, i))
            bytes += store_of(q->world, q->terms[i].component.id)->values.count * sizeof *old->version;
    if (old && old->bytes >= bytes) return old;
    frozen_versions *f =
        reef__memory_resize(&q->world->family->memory, MEMORY_OTHER, old, old ? old->bytes : 0, bytes, PLAIN_ALIGN);
    if (f) f->bytes = bytes;
    return f;
}

COLD void reef__frozen_fill(const query *q, frozen_versions *f)
{
    uint64_t *to = f->version;
    for (uint32_t i = 0; i < q->term_count; i++) {
        if (!term_freezes(q, i)) continue;
        const reef_paged *p = &store_of(q->world, q->terms[i].component.id)->values;
        if (p->count) memcpy(to, p->version, p->count * sizeof *to);
        to += p->count;
    }
}

COLD void reef__frozen_drop(reef_world *w, frozen_versions *f)
{
    if (f) reef__memory_free(&w->family->memory, MEMORY_OTHER, f, f->bytes);
}

bool reef__value_changed(const look *l, uint32_t i, reef_entity e)
{
    const query *q = l->q;
    const value_store *s = store_of(q->world, q->terms[i].component.id);
    const uint64_t *version = s->values.version;
    if (reef_store_find(s, e) == NULL) return false;
    if (s->shared) return reef__store_version(s, e) > l->since;
    if (l->frozen && term_freezes(q, i)) {
        version = l->frozen->version;
        for (uint32_t k = 0; k < i; k++)
            if (term_freezes(q, k)) version += store_of(q->world, q->terms[k].component.id)->values.count;
    }
    return version[slot_of(s, e) >> s->bits] > l->since;
}

/* ---- stepping ---- */

/* The value of an entity, and its slot. In a table's order, entities often come in the order in which they got the
 * component: then the value is in the slot behind the last one, and the index, which is another cache line for each,
 * isn't read. */
INLINE char *cell_find(const reef_cell *x, const cut_term *t, reef_entity e, uint32_t *slot)
{
    const value_store *s = x->from;
    uint32_t at = (uint32_t)x->next;
    if (!t->packed) return (char *)(uintptr_t)reef_store_find(s, e);
    if (LIKELY(at < s->count)) {
        const char *page = s->values.page[at >> s->bits];
        const uint32_t i = at & ((1u << s->bits) - 1);
        if (LIKELY(memcmp(page + i * sizeof e, &e, sizeof e) == 0))
            return *slot = at, (char *)(uintptr_t)page + s->offset + (size_t)i * s->size;
    }
    if (!t->sure && reef_store_find(s, e) == NULL) return NULL;
    *slot = slot_of(s, e);
    return slot_value(s, *slot);
}

/* Sets the cells of stores, for the whole loop: stores don't move while it is open. */
static void cells_begin(reef_block *b, const cutting *c)
{
    for (uint32_t i = 0; i < c->cell_count; i++) {
        b->loop.cells[i].next = UINT32_MAX;
        b->loop.cells[i].from = i < c->stored_count ? store_of(b->world, c->term[i].component) : NULL;
    }
}

/* Where the values of a column lie in this chunk. */
INLINE const reef_slot *cell_from(const reef_block *b, const cut_term *t, const match *m, const reef_slot *slots)
{
    if (LIKELY(t->column != CUT_ELSEWHERE)) return reef_slot_of(slots, m, t->column);
    const uint32_t slot = reef__slot_seek(b->world, t->component, slots[0].head.table);
    return slot ? &slots[slot] : NULL;
}

/* Finds the slots again after a call that wrote something moved their page. (Blocks may move too, but they are looked
 * up for each block of the loop.) */
static COLD void cells_find_slots(reef_block *b, const cutting *c)
{
    b->loop.epoch = b->world->tables_epoch;
    for (uint32_t i = c->stored_count; i < c->cell_count; i++)
        b->loop.cells[i].from =
            cell_from(b, &c->term[i], (const match *)b->loop.walk_match, unit_slots(b->world, b->loop.unit));
}

/* Bit k of the answer says that words[k] has some bit set. */
static NOINLINE uint32_t words_set(const uint64_t *words)
{
    uint32_t set = 0;
    for (uint32_t k = 0; k < BIT_WORDS; k++) set |= (uint32_t)(words[k] != 0) << k;
    return set;
}

/* Fetches the values of a list's rows. Where they are few, each column has a cache line for each of them, and a loop
 * would wait for one after the other. */
INLINE void rows_fetch(const cutting *c, const match *m, const reef_slot *slots, const join_list *l)
{
    const join_row *first = l->row, *end = first + l->rows;
    for (uint32_t k = c->stored_count; k < c->cell_count; k++) {
        if (c->term[k].column == CUT_ELSEWHERE) continue;
        const char *base = reef_slot_of(slots, m, c->term[k].column)->block;
        const size_t size = c->term[k].size;
        for (const join_row *r = first; r < end; r++) PREFETCH(base + r->row * size);
    }
}

/* Fetches what making the list of a chunk will need, if it has none. */
static NOINLINE void chunk_find(const reef_block *b, const query *q, const bit_store *bits, uint32_t unit)
{
    joining *j = q->cut->join;
    if ((unit < j->units && j->list[unit]) || !bit_words(bits, unit) || join_is_found(j, unit)) return;
    reef__join_ahead(j, q, b->loop.walk_match, unit_slots(b->world, unit), bits, unit);
}

/* Fetches the values of the table's next chunk, or what making the lists of the next two chunks will need. */
INLINE void chunk_ahead(const reef_block *b, const query *q, const bit_store *bits)
{
    joining *j = q->cut->join;
    const uint32_t unit = b->loop.walk_unit;
    /* another thread may be making the later chunks of its part its own */
    if (unit == 0 || unit == b->loop.end_unit || j == NULL) return;
    const reef_slot *slots = unit_slots(b->world, unit);
    const uint32_t after = slots[0].head.next;
    PREFETCH(unit_slots(b->world, after));
    const bool known = unit < j->units && j->list[unit];
    if (LIKELY(known)) rows_fetch(q->cut, b->loop.walk_match, slots, j->list[unit]);
    else if (!b->loop.part && q->open == 1) chunk_find(b, q, bits, unit);
    if (LIKELY(after < j->units && j->list[after])) join_fetch(j->list[after]);
    else if (after && !b->loop.part && q->open == 1) chunk_find(b, q, bits, after);
}

/* Goes to the next chunk with rows that match, in a loop whose rows are remembered. It sets b->cut, or only b->mask
 * where nothing can be remembered. False: the end. */
static bool joined_chunk(reef_block *b)
{
    query *q = b->loop.query;
    const bit_store *bits = b->loop.bits;
    while (reef__walk_step(b)) {
        const uint64_t *words = bit_words(bits, b->loop.unit);
        if (words == NULL) continue;
        const join_list *l = reef__join_find(q, b->loop.slots, bits, b->loop.unit, b->loop.part);
        if (UNLIKELY(l == NULL) && !b->loop.part && q->open == 1)
            l = reef__join_make(q, match_now(b), b->loop.slots, bits, b->loop.unit,
                                b->world->hot.version - VERSION_STEP);
        b->loop.mask = words;
        if (UNLIKELY(l == NULL)) {
            if (words_set(words)) return true;
        } else if (l->rows) {
            b->loop.cut = l->row;
            b->loop.cut_end = l->row + l->rows;
            return true;
        }
    }
    return false;
}

static void cut_begin(reef_block *b, const query *q)
{
    cells_begin(b, q->cut);
    if (!query_joins(q) || b->loop.skip || b->loop.left != UINT64_MAX) return;
    b->loop.bits = bit_store_of(b->world, q->cut->term[0].component);
    if (!b->loop.part) join_forget_ahead(q);
}

/* Sets the cells of columns for the first row. */
INLINE void columns_fill(reef_block *b, const cutting *c, uint32_t row)
{
    if (UNLIKELY(b->loop.epoch != b->world->tables_epoch)) cells_find_slots(b, c);
    for (uint32_t i = c->stored_count; i < c->cell_count; i++) {
        const reef_slot *slot = b->loop.cells[i].from;
        b->loop.cells[i].values = slot ? (char *)slot->block + (size_t)row * c->term[i].size : NULL;
    }
}

/* Begins a chunk whose rows are remembered: either its blocks, or, row by row, the one block that the whole chunk is.
 */
static void cut_runs(reef_block *b, const query *q)
{
    const cutting *c = q->cut;
    b->loop.more = 0;
    if (b->loop.gathers) {
        columns_fill(b, c, 0);
        b->loop.mask = b->loop.words;
    } else {
        b->loop.run_pair = !c->writes && c->cell_count == 2 && b->loop.cells[1].from;
        if (b->loop.run_pair) b->loop.cells[1].next = c->term[1].size;
    }
    chunk_ahead(b, q, b->loop.bits);
}

/* Goes to the next chunk with rows that match. False: the loop is at its end. */
static NOINLINE bool cut_chunk(reef_block *b)
{
    const query *q = b->loop.query;
    const cutting *c = q->cut;
    if (UNLIKELY(b->loop.words == NULL)) cut_begin(b, q);
    else b->loop.match = b->loop.walk_match;
    if (!(b->loop.bits ? joined_chunk(b) : reef__walk_chunk(b))) return reef_end(b), false;
    if (!b->loop.part && !(q->optional_writes || q->tracked ? reef__walk_own(b) : reef_block_mark(b, &q->head)))
        return false;
    for (uint32_t i = c->stored_count; i < c->cell_count; i++)
        b->loop.cells[i].from = cell_from(b, &c->term[i], match_now(b), b->loop.slots);
    b->loop.walk_match = b->loop.match;
    b->loop.match = reef__cells_match;
    b->loop.head = &c->head;
    b->loop.handles = slot_entities(b->loop.slots);
    b->loop.column = (const reef_slot *)(const void *)b->loop.cells;
    b->loop.words = b->loop.mask;
    b->loop.mask = NULL;
    b->loop.chunk_marked = false;
    b->loop.epoch = b->world->tables_epoch;
    if (b->loop.cut != b->loop.cut_end) cut_runs(b, q);
    else b->loop.more = words_set(b->loop.words);
    return true;
}

/* Goes to the next chunk of the table, row by row as in the one before, if its list is right and what the loop writes
 * is this world's own. Little changes then, and this little is the cost of a loop over a few rows in each chunk. Such
 * loops are never parts of a split, so a table ends where its chunks do. NULL: reef__cut_next has to decide. */
const join_list *reef__gather_next(reef_block *b)
{
    const query *q = b->loop.query;
    const cutting *c = q->cut;
    const reef_world *w = b->world;
    const match *m = b->loop.walk_match;
    const bit_store *bits = b->loop.bits;
    const uint32_t unit = b->loop.walk_unit;
    ASSERT(b->loop.end_unit == 0 && !b->loop.part);
    if (UNLIKELY(unit == 0)) return NULL;
    const reef_slot *slots = unit_slots(w, unit);
    const value_store *s = b->loop.cells[0].from;
    const join_list *l = join_of_rows(c->join, w, slots, bits, unit);
    if (l && UNLIKELY(l->moves != s->moves)) l = reef__join_find(q, slots, bits, unit, false);
    if (UNLIKELY(l == NULL) || UNLIKELY(l->rows == 0)) return NULL;
    for (uint32_t i = 0; i < q->head.write_count; i++) {
        uint64_t *version = (uint64_t *)(uintptr_t)&reef_slot_of(slots, m, i)->version;
        if (UNLIKELY(*version <= w->hot.fork_version)) return NULL;
        *version = w->hot.version;
    }
    reef_cell *x = &b->loop.cells[1];
    for (const cut_term *t = &c->term[1], *end = &c->term[c->cell_count]; t < end; t++, x++) {
        const reef_slot *slot = cell_from(b, t, m, slots);
        x->values = slot ? slot->block : NULL;
    }
    b->loop.unit = unit;
    b->loop.walk_unit = slots[0].head.next;
    b->count = chunk_rows(m->table, unit);
    b->entities = slot_entities(slots);
    b->loop.mask = bits->words.page[unit];
    chunk_ahead(b, q, bits);
    return l;
}

/* Takes the next word with rows that match. */
INLINE void cut_word(reef_block *b)
{
    b->loop.word = bits_first(b->loop.more);
    b->loop.more &= b->loop.more - 1;
    b->loop.rest = b->loop.words[b->loop.word];
}

/* Sets the cells of stores for the first row. The answer is how many rows the block has. */
INLINE uint32_t cells_fill(reef_block *b, const cutting *c, const reef_entity *e, uint32_t n)
{
    uint32_t slot[REEF_CELLS];
    const uint32_t count = c->stored_count < REEF_CELLS ? c->stored_count : REEF_CELLS;
    for (uint32_t i = 0; i < count; i++)
        b->loop.cells[i].values = cell_find(&b->loop.cells[i], &c->term[i], e[0], &slot[i]);
    if (UNLIKELY(n > 1)) n = reef__cut_rows(b->loop.query, e, n);
    for (uint32_t i = 0; i < count; i++)
        if (c->term[i].packed && b->loop.cells[i].values) b->loop.cells[i].next = slot[i] + n;
    return n;
}

/* Makes the pages that the block writes this world's own, and marks them. */
static bool cells_own(reef_block *b, const cutting *c)
{
    const uint64_t own = reef__own_version(b, b->loop.query);
    b->world->hook_failed.id = 0;
    for (uint32_t i = 0; i < c->stored_count; i++)
        if (!value_own(b, &c->term[i], b->entities[0], own, i < REEF_CELLS ? &b->loop.cells[i] : NULL)) return false;
    return true;
}

static NOINLINE bool cut_block(reef_block *b, const cutting *c, uint32_t row, bool alone)
{
    const uint32_t n = cells_fill(b, c, b->loop.handles + row,
                                  alone ? 1 : reef__row_seek(b->loop.words, row, REEF_BLOCK_ROWS, false) - row),
                   end = row + n;
    columns_fill(b, c, row);
    if (n == 1) {
        b->loop.rest &= b->loop.rest - 1;
    } else {
        b->loop.word = end / 64;
        b->loop.rest = end < REEF_BLOCK_ROWS ? b->loop.words[b->loop.word] & ~0ull << (end % 64) : 0;
        b->loop.more &= b->loop.word < BIT_WORDS ? ~((2u << b->loop.word) - 1) : 0;
    }
    b->loop.first = row;
    b->count = n;
    b->entities = b->loop.handles + row;
    return !c->writes || b->loop.part || cells_own(b, c);
}

/* What most loops don't need: cells of more than one column, pages that are written, slots that moved. */
static NOINLINE bool run_rest(reef_block *b, const join_row *r)
{
    const cutting *c = b->loop.query->cut;
    if (UNLIKELY(b->loop.epoch != b->world->tables_epoch)) cells_find_slots(b, c);
    columns_fill(b, c, r->row);
    return !c->writes || b->loop.part || cells_own(b, c);
}

/* A call inside the loop may move columns that the loop doesn't write and that are shared with a fork; then columns
 * have to be looked up for each row, and blocks can't be whole chunks. */
bool reef__cut_gathers(const query *q)
{
    const cutting *c = q->cut;
    const bool steady = q->head.write_count == c->cell_count - c->stored_count || !q->world->hot.chunks.shared;
    return query_joins(q) && steady && !c->writes && c->each == 0 && !q->ranking && c->term[0].size <= BLOCK_ALIGN;
}

bool reef__run_next(reef_block *b)
{
    const join_row *r = b->loop.cut, *next = join_run_end(r, b->loop.cut_end);
    const value_store *s = b->loop.cells[0].from;
    const reef_slot *beside = b->loop.cells[1].from;
    const uint32_t row = r->row;
    b->loop.cut = next;
    b->loop.cells[0].values = (char *)s->values.page[r->page] + (r->at + (int32_t)(row * s->size));
    b->loop.first = row;
    b->count = (uint32_t)(next - r);
    b->entities = b->loop.handles + row;
    if (UNLIKELY(!b->loop.run_pair) || UNLIKELY(b->loop.epoch != b->world->tables_epoch)) return run_rest(b, r);
    b->loop.cells[1].values = (char *)beside->block + row * b->loop.cells[1].next;
    return true;
}

bool reef__cut_next(reef_block *b)
{
    const cutting *c = b->loop.query->cut;
    if (b->loop.rest == 0) {
        if (b->loop.more == 0 && !cut_chunk(b)) return false;
        if (b->loop.cut != b->loop.cut_end) return b->loop.gathers || reef__run_next(b);
        cut_word(b);
    }
    const uint64_t rest = b->loop.rest, next = (rest & (0 - rest)) << 1;
    return cut_block(b, c, b->loop.word * 64 + bits_first(rest), next && !(rest & next));
}

/* ---- one visit for each value ---- */

/* Goes to the next value, which may be that of another entity. */
static bool each_step(reef_block *b, bool (*next)(reef_block *))
{
    const cutting *c = b->loop.query->cut;
    if (b->loop.numbers_left == 0) {
        b->loop.number = 0;
        if (!next(b)) return false;
        b->loop.numbers_left = reef__multi_values(store_of(b->world, c->each), b->entities[0]) - 1;
        return true;
    }
    b->loop.numbers_left--;
    b->loop.number++;
    for (uint32_t i = 0; b->loop.head == &c->head && i < c->stored_count && i < REEF_CELLS; i++)
        if (c->term[i].component == c->each)
            b->loop.cells[i].values =
                (void *)(uintptr_t)reef__store_nth(store_of(b->world, c->each), b->entities[0], b->loop.number);
    return true;
}

/* Of a term with conditions, only the values that fulfil them are visited. */
bool reef__each_next(reef_block *b, bool (*next)(reef_block *))
{
    const query *q = b->loop.query;
    uint32_t i = 0;
    while (!q->facts[i].each) i++;
    do {
        if (!each_step(b, next)) return false;
    } while (
        q->facts[i].values &&
        !reef__value_fulfils(q, i, reef__store_nth(store_of(b->world, q->cut->each), b->entities[0], b->loop.number)));
    return true;
}
