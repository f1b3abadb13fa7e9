/* Queries over tables.
 *
 * A query keeps the tables that match, in the visible order, each with the slots of its columns. Tables are never forgotten by
 * the graph, so finding the new ones is a look at those made since the last time. A loop walks the matches, skips tables
 * without rows, and hands out chunk after chunk; columns that it writes are unshared and marked before the block is seen. */
#include "change.h"

typedef reef_match match;

struct reef_query {
    reef_query_head head;
    reef_world *world;
    reef_query *next, *previous;
    uint32_t    filter_count; /* terms without data of tables; head.bit_count of switches */
    uint32_t    filters[REEF_TERMS_MAX], bits[REEF_TERMS_MAX];
    uint32_t    open;  /* loops that walk the matches: they must not move */
    uint32_t    seen;  /* tables of the graph looked at */
    uint64_t    epoch; /* of the world's tables, when the matches' pointers were taken */
    char       *matches;
    uint32_t    match_count, match_capacity;
};

static const match *match_at(const reef_query *q, uint32_t i) { return (const match *)(void *)(q->matches + (size_t)i * q->head.match_bytes); }

/* ---- finding tables ---- */

static bool table_matches(const reef_query *q, uint32_t id, uint16_t *columns)
{
    for (uint32_t i = 0; i < q->filter_count; i++)
        if (slot_seek(q->world, q->filters[i], id) == 0) return false;
    for (uint32_t i = 0; i < q->head.column_count; i++) {
        uint32_t slot = slot_seek(q->world, q->head.key[i] >> 1, id);
        if (slot == 0) return false;
        columns[i] = (uint16_t)(slot * sizeof(reef_slot));
    }
    return true;
}

static const table nothing; /* of a table that this world never used */
/* Of a chunk that isn't remembered: a loop may look ahead. Never written; not const, so that it takes no room in the file. */
static reef_slot no_slots[REEF_COLUMNS_MAX + SLOT_COLUMNS];

enum { MANY_MATCHES = 128 }; /* their tables and slots don't fit the first-level cache */

static const void *matches_end(const reef_query *q) { return match_at(q, q->match_count); }

static match *match_of(const reef_query *q, uint32_t i) { return (match *)(uintptr_t)match_at(q, i); }

static void match_forget(match *m)
{
    m->unit = UINT32_MAX;
    m->slots = no_slots;
}

/* Room for one more match, and empty ones behind the last, so that a loop may look ahead. */
static bool match_room(reef_query *q)
{
    memory *m = &q->world->family->memory;
    uint32_t need = q->match_count + 1 + REEF_MATCHES_AHEAD;
    if (need <= q->match_capacity) return true;
    uint32_t capacity = q->match_capacity * 2 > need ? q->match_capacity * 2 : need + 3;
    char *p = memory_resize(m, MEMORY_OTHER, q->matches, (size_t)q->match_capacity * q->head.match_bytes,
                            (size_t)capacity * q->head.match_bytes, PLAIN_ALIGN);
    if (p == NULL && !BUG(5)) return false;
    q->matches = p;
    for (uint32_t i = q->match_count; i < capacity; i++) {
        memset(match_of(q, i), 0, q->head.match_bytes);
        match_of(q, i)->table = &nothing;
        match_forget(match_of(q, i));
    }
    q->match_capacity = capacity;
    return true;
}

static bool match_insert(reef_query *q, uint32_t id, const uint16_t *columns)
{
    if (!match_room(q)) return false;
    const shape *s = shape_of(q->world->family, id);
    uint32_t low = BUG(12) ? q->match_count : 0, high = q->match_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (shape_compare(shape_of(q->world->family, match_at(q, mid)->id), s) < 0) low = mid + 1;
        else high = mid;
    }
    char *at = q->matches + (size_t)low * q->head.match_bytes;
    memmove(at + q->head.match_bytes, at, (size_t)(q->match_count - low) * q->head.match_bytes);
    match *x = match_of(q, low);
    x->id = id;
    x->table = &nothing;
    match_forget(x);
    x->columns[0] = x->columns[1] = columns[0];
    memcpy((char *)x + offsetof(match, columns), columns, q->head.column_count * sizeof *columns);
    q->match_count++;
    return true;
}

/* Looks at tables made since the last time, and where this world's tables lie now. What was found stays found when memory
 * runs out. */
static COLD bool query_look(reef_query *q, uint32_t count)
{
    reef_world *w = q->world;
    uint16_t columns[REEF_TERMS_MAX] = {0};
    for (; q->seen < count; q->seen++) {
        if (BUG(8) && q->epoch != UINT64_MAX) continue;
        if (q->seen < TABLE_EMPTY || !table_matches(q, q->seen, columns)) continue;
        if (!match_insert(q, q->seen, columns)) return false;
    }
    q->head.remembers = w->hot.chunks.shared == 0;
    for (uint32_t i = 0; i < q->match_count; i++) {
        match *m = match_of(q, i);
        match_forget(m);
        uint32_t page = m->id / TABLES_PER_PAGE;
        bool there = page < w->state.tables.count && w->state.tables.page[page];
        m->table = there ? (const table *)w->state.tables.page[page] + m->id % TABLES_PER_PAGE : &nothing;
    }
    q->epoch = w->tables_epoch;
    q->head.ahead = q->match_count >= MANY_MATCHES;
    return true;
}

INLINE bool query_update(reef_query *q)
{
    uint32_t count = REEF_ACQUIRE_U32(&q->world->family->graph.shape_count);
    const reef_world *w = q->world;
    bool same = q->seen == count && q->epoch == w->tables_epoch && q->head.remembers == (w->hot.chunks.shared == 0);
    return LIKELY(same) || q->open || query_look(q, count);
}

/* ---- making ---- */

typedef struct term_list {
    reef_term term[REEF_TERMS_MAX];
    uint32_t  count;
    const char *op;
} term_list;

static reef_status refuse(reef_world *w, const term_list *l, reef_status s, reef_component c, uint64_t number)
{
    return failure(w, s, l->op, c, (reef_entity){0, 0}, number);
}

static reef_status term_add(reef_world *w, term_list *l, reef_component c, reef_access access, uint32_t number)
{
    reef_status s = type_ready(w, c.id);
    if (s != REEF_OK) return refuse(w, l, s, c, number);
    if ((uint32_t)access > REEF_WITH) return refuse(w, l, REEF_BAD_ARGUMENT, c, number);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->term[i].component.id == c.id) return refuse(w, l, REEF_DUPLICATE_TERM, c, number);
    if (l->count == REEF_TERMS_MAX) return refuse(w, l, REEF_LIMIT, c, number);
    l->term[l->count].component = c;
    l->term[l->count++].access = access;
    return REEF_OK;
}

/* What type names are made of: src/type.c. */
static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.:<>*", c)) || (unsigned char)c >= 128;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* A word up to a space, a comma or the end. */
static size_t word(const char **text, const char **start)
{
    while (is_space(**text)) ++*text;
    *start = *text;
    while (**text && **text != ',' && !is_space(**text)) ++*text;
    size_t length = (size_t)(*text - *start);
    while (is_space(**text)) ++*text;
    return length;
}

static bool access_word(const char *p, size_t length, reef_access *access)
{
    static const char *const words[] = {"inout", "in", "out", "with"}; /* in the order of reef_access */
    for (uint32_t i = 0; i < 4; i++) {
        if (strlen(words[i]) != length || memcmp(words[i], p, length) != 0) continue;
        *access = (reef_access)i;
        return true;
    }
    return false;
}

static reef_status term_parse(reef_world *w, term_list *l, const char *text, const char **at)
{
    char name[REEF_TYPE_NAME_MAX + 1];
    const char *start;
    reef_access access = REEF_INOUT;
    const reef_component none = {0};
    size_t length = word(at, &start);
    if (length && **at && **at != ',' && access_word(start, length, &access)) length = word(at, &start);
    uint64_t at_column = (uint64_t)(start - text) + 1;
    if (length == 0 || length > REEF_TYPE_NAME_MAX) return refuse(w, l, REEF_BAD_TEXT, none, at_column);
    if (**at && **at != ',') return refuse(w, l, REEF_BAD_TEXT, none, (uint64_t)(*at - text) + 1);
    for (size_t i = 0; i < length; i++)
        if (!is_name(start[i])) return refuse(w, l, REEF_BAD_TEXT, none, at_column + i);
    memcpy(name, start, length);
    name[length] = 0;
    reef_component c = reef_type_find(name);
    if (c.id == 0) return refuse(w, l, REEF_UNKNOWN_TYPE, none, at_column);
    return term_add(w, l, c, access, (uint32_t)at_column);
}

static COLD reef_status text_parse(reef_world *w, term_list *l, const char *text)
{
    const char *at = text;
    while (is_space(*at)) at++;
    if (*at == 0) return REEF_OK;
    for (;;) {
        reef_status s = term_parse(w, l, text, &at);
        if (s != REEF_OK || *at == 0) return s;
        at++; /* the comma: a term must follow */
    }
}

static void terms_sort(reef_query *q, const term_list *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const type *t = type_of(l->term[i].component.id);
        reef_access access = l->term[i].access;
        if (t->home == REEF_BIT) q->bits[q->head.bit_count++] = t->id;
        else if (t->size == 0 || access == REEF_WITH) q->filters[q->filter_count++] = t->id;
        else if (access != REEF_IN) q->head.key[q->head.column_count++] = t->id << 1;
    }
    q->head.write_count = q->head.column_count;
    for (uint32_t i = 0; i < l->count; i++) {
        const type *t = type_of(l->term[i].component.id);
        if (t->home != REEF_BIT && t->size && l->term[i].access == REEF_IN) q->head.key[q->head.column_count++] = t->id << 1 | 1;
    }
    for (uint32_t i = q->head.column_count; i < REEF_TERMS_MAX; i++) q->head.key[i] = REEF_NO_KEY;
    q->epoch = UINT64_MAX;
    uint32_t more = q->head.column_count > 2 ? q->head.column_count - 2 : 0;
    q->head.match_bytes = (uint32_t)(sizeof(match) + more * sizeof(uint16_t) + 7) & ~7u;
}

static COLD reef_query *query_make(reef_world *w, const term_list *l)
{
    reef_query *q = memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *q);
    if (q == NULL) return refuse(w, l, REEF_NO_MEMORY, (reef_component){0}, 0), NULL;
    q->world = w;
    q->next = w->queries;
    if (q->next) q->next->previous = q;
    w->queries = q;
    terms_sort(q, l);
    if (query_update(q)) return q;
    reef_query_free(q);
    return refuse(w, l, REEF_NO_MEMORY, (reef_component){0}, 0), NULL;
}

COLD reef_query *reef_query_make(reef_world *w, const reef_query_desc *desc)
{
    term_list l = {.op = "reef_query_make"};
    if (w == NULL) return NULL;
    if (desc == NULL) return refuse(w, &l, REEF_BAD_ARGUMENT, (reef_component){0}, 0), NULL;
    if (desc->text) {
        if (text_parse(w, &l, desc->text) != REEF_OK) return NULL;
    } else {
        for (uint32_t i = 0; i < REEF_TERMS_MAX && desc->terms[i].component.id; i++)
            if (term_add(w, &l, desc->terms[i].component, desc->terms[i].access, i + 1) != REEF_OK) return NULL;
    }
    return query_make(w, &l);
}

COLD reef_query *reef_query_new(reef_world *w, const char *text)
{
    term_list l = {.op = "reef_query_new"};
    if (w == NULL) return NULL;
    if (text == NULL) return refuse(w, &l, REEF_BAD_ARGUMENT, (reef_component){0}, 0), NULL;
    return text_parse(w, &l, text) == REEF_OK ? query_make(w, &l) : NULL;
}

COLD void reef_query_free(reef_query *q)
{
    if (q == NULL) return;
    memory *m = &q->world->family->memory;
    if (q->next) q->next->previous = q->previous;
    if (q->previous) q->previous->next = q->next;
    else q->world->queries = q->next;
    memory_free(m, MEMORY_OTHER, q->matches, (size_t)q->match_capacity * q->head.match_bytes);
    memory_free(m, MEMORY_OTHER, q, sizeof *q);
}

void queries_drop(reef_world *w)
{
    while (w->queries) reef_query_free(w->queries);
}

/* ---- loops ---- */

static COLD void begin_refuse(reef_world *w, const reef_query *q)
{
    reef_status s = q == NULL ? REEF_BAD_ARGUMENT : q->world != w ? REEF_OTHER_WORLD : REEF_NO_MEMORY;
    if (w) failure(w, s, "reef_begin", (reef_component){0}, (reef_entity){0, 0}, 0);
}

reef_block reef_begin(reef_world *w, reef_query *q)
{
    reef_block b; /* what isn't set here is set with the first block, or the first mask */
    b.count = 0;
    b.dt = 0;
    b.entities = NULL;
    b.world = w;
    b.query = q;
    b.next_unit = b.bit_next_unit = 0;
    b.open = false;
    b.mask = NULL;
    if (UNLIKELY(q == NULL || q->world != w || !query_update(q))) {
        b.match = b.match_end = NULL;
        begin_refuse(w, q);
        return b;
    }
    w->error.status = REEF_OK;
    w->hot.version += q->head.write_count != 0; /* what this loop writes can be told from what was written before */
    w->locks++;
    w->slow |= SLOW_LOCKED;
    w->hot.fresh_end = 0;
    w->gate_move = w->gate_destroy = UINT64_MAX;
    b.match = q->matches;
    b.match_end = q->head.bit_count ? b.match : matches_end(q);
    b.open = true;
    q->open++;
    return b;
}

void reef_end(reef_block *b)
{
    if (UNLIKELY(b == NULL || !b->open)) return;
    reef_world *w = b->world;
    b->open = false;
    b->count = b->next_unit = b->bit_next_unit = 0;
    b->match_end = b->match;
    b->query->open--;
    ASSERT(w->locks > 0);
    if (--w->locks != 0) return;
    w->slow &= ~SLOW_LOCKED;
    gates_set(w);
}

/* Are bits 0 ... rows-1 all set? (Those behind are zero.) */
static bool mask_full(const uint64_t *words, uint32_t rows)
{
    uint32_t n = 0;
    if (words[0] != ~0ull && rows >= 64) return false; /* mostly decided here */
    for (uint32_t k = 0; k < BIT_WORDS; k++) n += bits_count(words[k]);
    return n == rows;
}

/* The rows of the block that have all switches of the query: NULL in b->mask for all. False: none. One switch's own words
 * serve as they are: nothing can change them while a loop is open. */
static bool mask_make(reef_block *b, uint32_t unit)
{
    const reef_query *q = b->query;
    const uint64_t *mask = bit_words(bit_store_of(b->world, q->bits[0]), unit);
    if (mask == NULL) return false;
    for (uint32_t i = 1; i < q->head.bit_count; i++) {
        const uint64_t *words = bit_words(bit_store_of(b->world, q->bits[i]), unit);
        if (words == NULL) return false;
        for (uint32_t k = 0; k < BIT_WORDS; k++) b->mask_words[k] = mask[k] & words[k];
        mask = b->mask_words;
    }
    uint32_t k = 0;
    while (k < BIT_WORDS && mask[k] == 0) k++;
    b->mask = mask_full(mask, b->count) ? NULL : mask;
    return k < BIT_WORDS;
}

static uint32_t block_unit(const reef_block *b)
{
    if (b->query->head.bit_count) return b->bit_unit;
    if (b->next_unit) return unit_slots(b->world, b->next_unit)[0].head_more.previous;
    return reef_block_match(b, &b->query->head)->table->last;
}

/* The next block of a loop over switches. Outside of this function it looks as if it were at its end. */
static NOINLINE bool bits_next(reef_block *b)
{
    const reef_query *q = b->query;
    const void *end = matches_end(q);
    uint32_t unit;
    do {
        unit = b->bit_next_unit;
        if (!reef_block_step(b, &q->head, true, &b->bit_next_unit, end)) {
            reef_end(b);
            return false;
        }
        if (unit == 0) unit = reef_block_match(b, &q->head)->table->first;
    } while (!mask_make(b, unit));
    b->bit_unit = unit;
    b->match_end = b->match;
    return reef_block_mark(b, &q->head);
}

/* reef_block_step found nothing. */
bool reef_block_more(reef_block *b)
{
    if (UNLIKELY(!b->open)) return false;
    if (b->query->head.bit_count) return bits_next(b);
    reef_end(b);
    return false;
}

/* Some column that the loop writes is shared with a fork, or on a page that is. */
bool reef_block_own(reef_block *b)
{
    const reef_query *q = b->query;
    reef_world *w = b->world;
    for (uint32_t i = 0; i < q->head.write_count; i++) {
        if (!column_own(w, table_read(w, b->slots[0].head.table), block_unit(b), (uint32_t)(reef_block_slot(b, &q->head, i) - b->slots))) {
            reef_end(b);
            failure(w, REEF_NO_MEMORY, "reef_next", (reef_component){0}, (reef_entity){0, 0}, 0);
            return false;
        }
        b->slots = unit_slots(w, block_unit(b));
    }
    return true;
}

const reef_slot *reef_match_slots(const reef_block *b, const reef_match *m, uint32_t unit)
{
    const reef_slot *slots = unit_slots(b->world, unit);
    if (!b->query->head.remembers) return slots;
    ((match *)(uintptr_t)m)->slots = slots;
    ((match *)(uintptr_t)m)->unit = unit;
    return slots;
}

bool reef_next_block(reef_block *b)
{
    if (UNLIKELY(b == NULL || !b->open)) return false;
    return reef_next(b);
}

const void *reef_block_in(const reef_block *b, reef_component c)
{
    if (b == NULL || b->count == 0) return NULL;
    return c.id > REEF_TYPES_MAX ? reef_block_refuse(b, c, false) : reef_block_in_fast(b, c); /* REEF_NO_KEY is no component's */
}
void *reef_block_inout(const reef_block *b, reef_component c) { return b && b->count ? reef_block_inout_fast(b, c) : NULL; }

const void *reef_block_refuse(const reef_block *b, reef_component c, bool write)
{
    failure(b->world, REEF_UNDECLARED, write ? "reef_inout" : "reef_in", c, (reef_entity){0, 0}, 0);
    return NULL;
}

const uint64_t *reef_block_bits(const reef_block *b, reef_component c)
{
    static const uint64_t none[BIT_WORDS];
    if (b == NULL || b->count == 0) return NULL;
    const uint64_t *words = bit_words(bit_store_of(b->world, c.id), block_unit(b));
    return words ? words : none;
}

const uint64_t *reef_block_mask(const reef_block *b) { return b && b->count ? b->mask : NULL; }

/* ---- asking ---- */

uint64_t reef_query_count(reef_query *q)
{
    if (q == NULL || !query_update(q)) return 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->match_count; i++) {
        const table *t = table_read(q->world, match_at(q, i)->id);
        if (t == NULL) continue;
        if (q->head.bit_count == 0) {
            n += table_rows(t);
            continue;
        }
        reef_block b = {.world = q->world, .query = q};
        for (uint32_t unit = t->first; unit; unit = unit_slots(q->world, unit)[0].head.next) {
            b.count = chunk_rows(t, unit);
            if (!mask_make(&b, unit)) continue;
            if (b.mask == NULL) n += b.count;
            for (uint32_t k = 0; b.mask && k < BIT_WORDS; k++) n += bits_count(b.mask[k]);
        }
    }
    return n;
}

bool reef_query_matches(const reef_query *q, reef_entity e)
{
    uint16_t columns[REEF_TERMS_MAX];
    uint32_t place = q ? place_of(q->world, e) : PLACE_DEAD;
    if (place < 2 * PLACE_EMPTY) return false; /* dead, or without a row: no query visits it */
    if (!table_matches(q, reef_slots_at(&q->world->hot, place)[0].head.table, columns)) return false;
    for (uint32_t i = 0; i < q->head.bit_count; i++)
        if (!bit_has(q->world, q->bits[i], place)) return false;
    return true;
}
