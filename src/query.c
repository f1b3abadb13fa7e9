/* Queries over tables.
 *
 * A query keeps the tables that match, in the visible order, each with the slots of its columns. Tables are never forgotten by
 * the graph, so finding the new ones is a look at those made since the last time. A loop walks the matches, skips tables
 * without rows, and hands out chunk after chunk; columns that it writes are unshared and marked before the block is seen. */
#include "change.h"

typedef struct match {
    uint32_t table;
    uint16_t columns[]; /* of the terms with data, in their order */
} match;

struct reef_query {
    reef_query_head head;
    reef_world *world;
    reef_query *next, *previous;
    uint32_t    filter_count, bit_count; /* terms without data: of tables, of switches */
    uint32_t    filters[REEF_TERMS_MAX], bits[REEF_TERMS_MAX];
    bool        writes;
    uint32_t    seen; /* tables of the graph looked at */
    char       *matches;
    uint32_t    match_count, match_capacity, match_bytes;
};

static const match *match_at(const reef_query *q, uint32_t i) { return (const match *)(void *)(q->matches + (size_t)i * q->match_bytes); }

/* ---- finding tables ---- */

static bool table_matches(const reef_query *q, uint32_t id, uint16_t *columns)
{
    for (uint32_t i = 0; i < q->filter_count; i++)
        if (slot_find(q->world, q->filters[i], id) == 0) return false;
    for (uint32_t i = 0; i < q->head.column_count; i++) {
        uint32_t slot = slot_find(q->world, q->head.key[i] >> 1, id);
        if (slot == 0) return false;
        columns[i] = (uint16_t)slot;
    }
    return true;
}

static bool match_insert(reef_query *q, uint32_t id, const uint16_t *columns)
{
    memory *m = &q->world->family->memory;
    if (q->match_count == q->match_capacity) {
        uint32_t capacity = q->match_capacity ? q->match_capacity * 2 : 4;
        char *p = memory_resize(m, MEMORY_OTHER, q->matches, (size_t)q->match_capacity * q->match_bytes,
                                (size_t)capacity * q->match_bytes, PLAIN_ALIGN);
        if (p == NULL && !BUG(5)) return false;
        q->matches = p;
        q->match_capacity = capacity;
    }
    const shape *s = shape_of(q->world->family, id);
    uint32_t low = BUG(12) ? q->match_count : 0, high = q->match_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (shape_compare(shape_of(q->world->family, match_at(q, mid)->table), s) < 0) low = mid + 1;
        else high = mid;
    }
    char *at = q->matches + (size_t)low * q->match_bytes;
    memmove(at + q->match_bytes, at, (size_t)(q->match_count - low) * q->match_bytes);
    match *x = (match *)(void *)at;
    x->table = id;
    memcpy(x->columns, columns, q->head.column_count * sizeof *columns);
    q->match_count++;
    return true;
}

/* Looks at tables made since the last time. What was found stays found when memory runs out. */
static bool query_update(reef_query *q)
{
    reef_world *w = q->world;
    uint16_t columns[REEF_TERMS_MAX];
    mutex_lock(&w->family->lock);
    uint32_t count = w->family->graph.shape_count;
    mutex_unlock(&w->family->lock);
    if (BUG(8) && q->seen > TABLE_EMPTY + 1) return true;
    for (; q->seen < count; q->seen++) {
        if (q->seen < TABLE_EMPTY || !table_matches(q, q->seen, columns)) continue;
        if (!match_insert(q, q->seen, columns)) return false;
    }
    return true;
}

/* ---- making ---- */

typedef struct term_list {
    reef_term term[REEF_TERMS_MAX];
    uint32_t  count;
    const char *op;
} term_list;

static reef_status refuse(reef_world *w, const term_list *l, reef_status s, reef_component c, uint64_t number)
{
    return fail(w, s, l->op, c, (reef_entity){0, 0}, number);
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

static reef_status text_parse(reef_world *w, term_list *l, const char *text)
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
        if (t->home == REEF_BIT) q->bits[q->bit_count++] = t->id;
        else if (t->size == 0 || access == REEF_WITH) q->filters[q->filter_count++] = t->id;
        else q->head.key[q->head.column_count++] = t->id << 1 | (access == REEF_IN);
        if (t->home == REEF_TABLE && t->size && access != REEF_IN && access != REEF_WITH) q->writes = true;
    }
    q->match_bytes = (uint32_t)(sizeof(match) + q->head.column_count * sizeof(uint16_t) + 3) & ~3u;
}

static reef_query *query_make(reef_world *w, const term_list *l)
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

reef_query *reef_query_make(reef_world *w, const reef_query_desc *desc)
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

reef_query *reef_query_new(reef_world *w, const char *text)
{
    term_list l = {.op = "reef_query_new"};
    if (w == NULL) return NULL;
    if (text == NULL) return refuse(w, &l, REEF_BAD_ARGUMENT, (reef_component){0}, 0), NULL;
    return text_parse(w, &l, text) == REEF_OK ? query_make(w, &l) : NULL;
}

void reef_query_free(reef_query *q)
{
    if (q == NULL) return;
    memory *m = &q->world->family->memory;
    if (q->next) q->next->previous = q->previous;
    if (q->previous) q->previous->next = q->next;
    else q->world->queries = q->next;
    memory_free(m, MEMORY_OTHER, q->matches, (size_t)q->match_capacity * q->match_bytes);
    memory_free(m, MEMORY_OTHER, q, sizeof *q);
}

void queries_drop(reef_world *w)
{
    while (w->queries) reef_query_free(w->queries);
}

/* ---- loops ---- */

static void unlock(reef_world *w)
{
    ASSERT(w->locks > 0);
    if (--w->locks == 0) w->slow &= ~SLOW_LOCKED;
    gates_set(w);
}

reef_block reef_begin(reef_world *w, reef_query *q)
{
    reef_block b;
    memset(&b, 0, offsetof(reef_block, mask_words));
    if (w == NULL) return b;
    b.world = w;
    b.query = q;
    w->error.status = REEF_OK;
    reef_status s = q == NULL ? REEF_BAD_ARGUMENT : q->world != w ? REEF_OTHER_WORLD : query_update(q) ? REEF_OK : REEF_NO_MEMORY;
    if (s != REEF_OK) {
        fail(w, s, "reef_begin", (reef_component){0}, (reef_entity){0, 0}, 0);
        return b;
    }
    w->locks++;
    if (q->writes) version_advance(w); /* what this loop writes can be told from what was written before */
    else gates_set(w);
    w->slow |= SLOW_LOCKED;
    w->hot.fresh_end = 0;
    b.match = q->matches;
    b.match_end = q->matches + (size_t)q->match_count * q->match_bytes;
    b.open = true;
    return b;
}

void reef_end(reef_block *b)
{
    if (b == NULL || !b->open) return;
    b->open = false;
    b->count = 0;
    unlock(b->world);
}

/* The rows of the block that have all switches of the query: NULL in b->mask for all. False: none. */
static bool mask_make(reef_block *b, uint32_t unit)
{
    const reef_query *q = b->query;
    bool all = true, any = false;
    for (uint32_t i = 0; i < q->bit_count; i++) {
        const uint64_t *words = bit_words(bit_store_of(b->world, q->bits[i]), unit);
        if (words == NULL) return false;
        for (uint32_t k = 0; k < BIT_WORDS; k++) b->mask_words[k] = i ? b->mask_words[k] & words[k] : words[k];
    }
    for (uint32_t k = 0; k < BIT_WORDS; k++) {
        uint32_t rows = b->count > k * 64 ? b->count - k * 64 : 0;
        any |= b->mask_words[k] != 0;
        all &= b->mask_words[k] == (rows >= 64 ? ~0ull : (1ull << rows) - 1);
    }
    b->mask = all ? NULL : b->mask_words;
    return any;
}

/* The columns that the loop writes are ours and marked. */
INLINE bool block_mark(reef_block *b, uint32_t unit)
{
    reef_world *w = b->world;
    const reef_query *q = b->query;
    reef_slot *slots = (reef_slot *)b->slots;
    for (uint32_t i = 0; i < q->head.column_count; i++) {
        if (q->head.key[i] & 1) continue;
        uint64_t *version = &slots[b->columns[i] + REEF_PAGE_SLOTS].version;
        if (LIKELY(*version > w->hot.fork_version)) {
            *version = w->hot.version;
            continue;
        }
        if (!column_own(w, table_read(w, slots[0].head.table), unit, b->columns[i])) return false;
        b->slots = slots = unit_slots(w, unit);
    }
    return true;
}

bool reef_next(reef_block *b)
{
    if (UNLIKELY(!b->open)) return false;
    const reef_query *q = b->query;
    const reef_world *w = b->world;
    for (;;) {
        if (b->unit == b->last_unit) {
            const table *t;
            do {
                if (b->match == b->match_end) {
                    reef_end(b);
                    return false;
                }
                const match *m = b->match;
                b->match = (const char *)b->match + q->match_bytes;
                b->columns = m->columns;
                t = table_read(w, m->table);
            } while (t == NULL || t->chunks == 0);
            b->unit = t->first;
            b->last_unit = t->last;
            b->next_place = t->next;
        } else {
            b->unit = b->slots[0].head.next;
        }
        b->slots = unit_slots(w, b->unit);
        b->count = b->unit == b->last_unit ? b->next_place - unit_place(b->unit) : REEF_BLOCK_ROWS - BUG(11);
        if (UNLIKELY(b->count == 0)) continue;
        b->mask = NULL;
        if (UNLIKELY(q->bit_count != 0) && !mask_make(b, b->unit)) continue;
        if (q->writes && UNLIKELY(!block_mark(b, b->unit))) {
            reef_end(b);
            fail(b->world, REEF_NO_MEMORY, "reef_next", (reef_component){0}, (reef_entity){0, 0}, 0);
            return false;
        }
        b->entities = slot_entities(b->slots);
        return true;
    }
}

const void *reef_block_in(const reef_block *b, reef_component c) { return b && b->count ? reef_block_in_fast(b, c) : NULL; }
void *reef_block_inout(const reef_block *b, reef_component c) { return b && b->count ? reef_block_inout_fast(b, c) : NULL; }

const void *reef_block_refuse(const reef_block *b, reef_component c, bool write)
{
    fail(b->world, REEF_UNDECLARED, write ? "reef_inout" : "reef_in", c, (reef_entity){0, 0}, 0);
    return NULL;
}

const uint64_t *reef_block_bits(const reef_block *b, reef_component c)
{
    static const uint64_t none[BIT_WORDS];
    if (b == NULL || b->count == 0) return NULL;
    const uint64_t *words = bit_words(bit_store_of(b->world, c.id), b->unit);
    return words ? words : none;
}

const uint64_t *reef_block_mask(const reef_block *b) { return b && b->count ? b->mask : NULL; }

/* ---- asking ---- */

uint64_t reef_query_count(reef_query *q)
{
    if (q == NULL || !query_update(q)) return 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->match_count; i++) {
        const table *t = table_read(q->world, match_at(q, i)->table);
        if (t == NULL) continue;
        if (q->bit_count == 0) {
            n += table_rows(t);
            continue;
        }
        reef_block b = {.world = q->world, .query = q};
        for (uint32_t unit = t->first; unit; unit = unit_slots(q->world, unit)[0].head.next) {
            b.count = chunk_rows(t, unit);
            if (!mask_make(&b, unit)) continue;
            for (uint32_t k = 0; k < BIT_WORDS; k++) n += bits_count(b.mask_words[k]);
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
    for (uint32_t i = 0; i < q->bit_count; i++)
        if (!bit_has(q->world, q->bits[i], place)) return false;
    return true;
}
