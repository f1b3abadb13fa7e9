/* Random worlds and random queries, each asked by every entrance, and compared with the naive evaluator of
 * query_naive.c: whole loops with their blocks, masks, runs, arrays and bits; row by row; late and short loops;
 * parts; questions; as struct and as text; made before a change and after it; on forks, and after a restore. */
#include "query_naive.h"

enum { QUERIES = 24, NAIVE_FAILURES = 4000 };
#ifndef NAIVE_PAIRS
#define NAIVE_PAIRS 60000 /* of a state and a query, in this program */
#endif

/* ---- failing ---- */

static struct {
    uint64_t seed;
    const char *stage, *entrance;
    const naive_query *q;
    uint64_t pairs, wrong, rows, texts, changes, values;
} now;

static void failed_here(const char *what, int line)
{
    print_error("world of seed %llu, %s, %s: %s\n", (unsigned long long)now.seed, now.stage, now.entrance, what);
    if (now.q) naive_print(now.q);
    _fail(__FILE__, line);
}
#define check(x) \
    do { \
        if (!(x)) failed_here(#x, __LINE__); \
    } while (0)

/* ---- walking ---- */

typedef struct walk {
    naive_world *n;
    const naive_query *q;
    uint64_t *seed;
    uint32_t next, end; /* of the answer */
    uint64_t clock;     /* of what this loop writes */
    bool whole;         /* all blocks as they are; else a cut may have been made */
    bool refused;       /* an accessor was, by intent */
    bool cut;           /* it asks for values outside of the rows */
    bool parts;         /* of a split */
    bool plain;         /* no such refusal, and no other calls that need memory */
} walk;

static naive_answer wanted;

static bool asks_stored(const naive_query *q)
{
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        if (t->op >= REEF_ANY_OF || naive_filter(q, i) || !reef_entity_is_null(t->source)) continue;
        if (naive_types[naive_type_of(t->component)].home != REEF_TABLE) return true;
    }
    return false;
}

/* What a loop is to visit that asks for changes after `since`; it begins now. */
static walk walk_begin(naive_world *n, naive_query *q, uint64_t *seed, uint64_t since, const reef_loop *loop)
{
    naive_ask(&wanted, n, q, since);
    walk x = {n, q, seed, 0, wanted.count, ++n->clock, true, false, asks_stored(q), false, false};
    if (loop && loop->offset) x.next = loop->offset < wanted.count ? (uint32_t)loop->offset : wanted.count;
    if (loop && loop->limit && loop->limit < x.end - x.next) x.end = x.next + (uint32_t)loop->limit;
    if (loop) x.whole = loop->offset == 0 && loop->limit == 0;
    if (q->since) q->last = n->clock;
    return x;
}

static void walk_end(const walk *x)
{
    check(x->next == x->end);
    check(x->refused || reef_last_error(x->n->w).status == REEF_OK);
}

static naive_entity *entity_at(const walk *x, uint32_t place) { return &x->n->entity[wanted.row[place]]; }

static bool same_block(const walk *x, uint32_t a, uint32_t b)
{
    const naive_entity *e = entity_at(x, a), *f = entity_at(x, b);
    return naive_table_of(x->n, e) == naive_table_of(x->n, f) && e->row / REEF_BLOCK_ROWS == f->row / REEF_BLOCK_ROWS;
}

/* A value that the loop has: what it was, then perhaps another one. */
static void value_check(walk *x, naive_entity *e, uint32_t type, reef_access access, const void *in, void *out)
{
    const uint32_t size = naive_types[type].size;
    check(in == reef_get_id(x->n->w, e->id, naive_types[type].id));
    if (access != REEF_OUT) check(naive_is(in, size, e->value[type]));
    if (access == REEF_IN) return;
    check(in == out);
    naive_fill(out, size, e->value[type] = random_next(x->seed));
    e->changed[type] = x->clock;
}

/* The arrays of the block that begins with place `first` of the answer: `rows` of them. */
static void columns_check(walk *x, const reef_block *b, uint32_t first, uint32_t rows)
{
    for (uint32_t i = 0; i < x->q->count; i++) {
        const reef_term *term = &x->q->desc.terms[i];
        if (term->op >= REEF_ANY_OF || naive_filter(x->q, i) || !reef_entity_is_null(term->source)) continue;
        const uint32_t type = naive_type_of(term->component), size = naive_types[type].size;
        const char *in = reef_block_in(b, term->component);
        char *out = term->access == REEF_IN ? NULL : reef_block_inout(b, term->component);
        for (uint32_t k = 0; k < rows; k++) check((in != NULL) == (entity_at(x, first + k)->mask >> type & 1));
        check(term->access == REEF_IN || in == out);
        if (in == NULL) continue;
        uint64_t *version = naive_version(x->n, entity_at(x, first), type);
        if (out && version) *version = x->clock;
        for (uint32_t k = 0, row = 0; k < rows; k++, row++) {
            naive_entity *e = entity_at(x, first + k);
            while (!reef_entity_equal(b->entities[row], e->id)) row++;
            value_check(x, e, type, term->access, in + row * size, out ? out + row * size : NULL);
        }
    }
}

static bool writes_rows(const naive_query *q, reef_component c)
{
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        if (t->op >= REEF_ANY_OF || t->component.id != c.id || t->access == REEF_IN || naive_filter(q, i)) continue;
        if (reef_entity_is_null(t->source)) return true;
    }
    return false;
}

/* Terms of other entities: the first that names the component is meant. */
static void fixed_check(walk *x, const reef_block *b)
{
    for (uint32_t i = 0; i < x->q->count; i++) {
        const reef_term *t = &x->q->desc.terms[i];
        bool first = t->op < REEF_ANY_OF && !naive_filter(x->q, i) && !reef_entity_is_null(t->source);
        for (uint32_t k = 0; first && k < i; k++) {
            const reef_term *o = &x->q->desc.terms[k];
            first = o->component.id != t->component.id || o->op >= REEF_ANY_OF || naive_filter(x->q, k) ||
                    reef_entity_is_null(o->source);
        }
        if (!first) continue;
        const uint32_t type = naive_type_of(t->component), number = naive_find(x->n, t->source);
        if (x->parts && writes_rows(x->q, t->component)) continue; /* perhaps in another part */
        const void *p = reef_block_fixed_in(b, t->component);
        const bool there = number != UINT32_MAX && x->n->entity[number].mask >> type & 1;
        check(p == reef_get_id(x->n->w, t->source, t->component) && (p != NULL) == there);
        if (p) check(naive_is(p, naive_types[type].size, x->n->entity[number].value[type]));
        if (!there || t->access == REEF_IN || x->q->since || x->q->values || x->plain || random_below(x->seed, 4))
            continue;
        void *out = reef_block_fixed_inout(b, t->component);
        check(out == reef_get_id(x->n->w, t->source, t->component));
        naive_fill(out, naive_types[type].size, x->n->entity[number].value[type] = random_next(x->seed));
        naive_wrote(x->n, number, type);
    }
}

static void bits_check(walk *x, const reef_block *b)
{
    uint64_t words[16], used[16] = {0};
    const uint32_t type = random_below(x->seed, NAIVE_TYPES);
    check(reef_block_bits(b, naive_types[type].id, words) == words);
    for (uint32_t i = 0; i < b->count; i++) {
        const naive_entity *e = &x->n->entity[naive_find(x->n, b->entities[i])];
        if ((e->mask & ~e->disabled) >> type & 1) used[i / 64] |= 1ull << i % 64;
    }
    check(memcmp(words, used, sizeof words) == 0);
}

/* No term names it: NULL, and the record says why. */
static void refusal_check(walk *x, const reef_block *b)
{
    const reef_component c = naive_types[random_below(x->seed, NAIVE_TYPES)].id;
    bool read = false, write = false;
    for (uint32_t i = 0; i < x->q->count; i++) {
        const reef_term *t = &x->q->desc.terms[i];
        bool named =
            t->op < REEF_ANY_OF && t->component.id == c.id && !naive_filter(x->q, i) && reef_entity_is_null(t->source);
        read |= named;
        write |= named && t->access != REEF_IN;
    }
    if (!read) check(reef_block_in(b, c) == NULL && reef_last_error(x->n->w).status == REEF_UNDECLARED);
    if (!write) check(reef_block_inout(b, c) == NULL && reef_last_error(x->n->w).status == REEF_UNDECLARED);
    x->refused = true;
}

static void block_check(walk *x, const reef_block *b)
{
    const uint64_t *mask = reef_block_mask(b);
    const uint32_t first = x->next;
    check(b->count >= 1 && b->count <= REEF_BLOCK_ROWS && b->world == x->n->w && first < x->end);
    const naive_entity *e = entity_at(x, first);
    const naive_table *t = naive_table_of(x->n, e);
    const uint32_t begin = e->row / REEF_BLOCK_ROWS * REEF_BLOCK_ROWS;
    if (x->cut) check(mask == NULL);
    if (x->whole && !x->cut) {
        check(b->count == (t->count - begin < REEF_BLOCK_ROWS ? t->count - begin : REEF_BLOCK_ROWS));
        for (uint32_t i = 0; i < b->count; i++)
            check(reef_entity_equal(b->entities[i], x->n->entity[t->row[begin + i]].id));
    }
    uint64_t runs[16] = {0};
    for (uint32_t from = 0, n; (n = reef_block_run(b, &from)) != 0; from += n) {
        check(from + n <= b->count && (from == 0 || !(runs[(from - 1) / 64] >> (from - 1) % 64 & 1)));
        for (uint32_t i = from; i < from + n; i++) {
            check(x->next < x->end && same_block(x, first, x->next));
            check(reef_entity_equal(b->entities[i], entity_at(x, x->next++)->id));
            runs[i / 64] |= 1ull << i % 64;
        }
    }
    const uint32_t rows = x->next - first;
    now.rows += rows;
    check(rows > 0 && (mask ? rows < b->count && memcmp(mask, runs, sizeof runs) == 0 : rows == b->count));
    if (x->whole && !x->cut && x->next < x->end) check(!same_block(x, first, x->next));
    if (b->count < 100 || random_below(x->seed, 50) == 0) bits_check(x, b);
    columns_check(x, b, first, rows);
    fixed_check(x, b);
    if (!x->plain && random_below(x->seed, 64) == 0) refusal_check(x, b);
}

static void run_check(reef_block *b) { block_check(b->context, b); }

/* ---- the entrances that walk ---- */

/* A loop that was left within a block, or within a chunk whose blocks are cut: the rest of the rows counts as
 * written, too. */
static void rest_written(const walk *x)
{
    for (uint32_t k = x->next; k > 0 && k < wanted.count && same_block(x, k - 1, k); k++)
        for (uint32_t i = 0; i < x->q->count; i++) {
            const reef_term *t = &x->q->desc.terms[i];
            if (t->op >= REEF_ANY_OF || naive_filter(x->q, i) || !reef_entity_is_null(t->source) ||
                t->access == REEF_IN)
                continue;
            entity_at(x, k)->changed[naive_type_of(t->component)] = x->clock;
        }
}

static void entrance_loop(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.entrance = "reef_begin";
    walk x = walk_begin(n, q, seed, q->last, NULL);
    reef_block b = reef_begin(n->w, h);
    uint32_t leave = random_below(seed, 8) ? UINT32_MAX : random_below(seed, 4);
    for (; leave && reef_next(&b); leave--) block_check(&x, &b);
    if (leave == 0) {
        x.end = x.next;
        rest_written(&x);
    }
    reef_end(&b);
    check(!reef_next(&b));
    walk_end(&x);
}

static void entrance_run(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.entrance = "reef_run";
    walk x = walk_begin(n, q, seed, q->last, NULL);
    reef_status s = reef_run(n->w, h, run_check, &x);
    check(x.refused || s == REEF_OK);
    walk_end(&x);
}

static void entrance_begin_loop(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.entrance = "reef_begin_loop";
    reef_loop loop = {.offset = 0};
    uint32_t size = wanted.count + 2; /* about */
    if (random_below(seed, 4)) loop.offset = random_below(seed, size);
    if (random_below(seed, 4)) loop.limit = random_below(seed, size);
    walk x = walk_begin(n, q, seed, q->last, &loop);
    for (reef_block b = reef_begin_loop(n->w, h, &loop); reef_next_block(&b);) block_check(&x, &b);
    walk_end(&x);
}

/* Does a loop write values that it doesn't read? Then it must write every row of its blocks. */
static bool asks_out(const naive_query *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (q->desc.terms[i].op < REEF_ANY_OF && q->desc.terms[i].access == REEF_OUT) return true;
    return false;
}

static void entrance_each(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.entrance = "reef_each";
    walk x = walk_begin(n, q, seed, q->last, NULL);
    uint32_t rows = 1, leave = random_below(seed, 8) ? UINT32_MAX : 1 + random_below(seed, 30);
    if (asks_out(q)) leave = UINT32_MAX;
    reef_each(n->w, h, row)
    {
        check(x.next < x.end);
        naive_entity *e = entity_at(&x, x.next);
        check(reef_entity_equal(row.entity, e->id) && reef_entity_equal(row.block.entities[row.i], e->id));
        for (uint32_t i = 0; i < q->count; i++) {
            const reef_term *t = &q->desc.terms[i];
            if (t->op >= REEF_ANY_OF || naive_filter(q, i) || !reef_entity_is_null(t->source)) continue;
            const uint32_t type = naive_type_of(t->component), size = naive_types[type].size;
            const void *in = reef_row_cell_in(row.i, reef_block_in_fast(&row.block, t->component), size);
            const bool writes = t->access != REEF_IN;
            void *out = writes ? reef_row_cell(row.i, reef_block_inout_fast(&row.block, t->component), size) : NULL;
            uint64_t *version = naive_version(n, e, type);
            check((in != NULL) == (e->mask >> type & 1));
            if (in && out && version) *version = x.clock;
            if (in) value_check(&x, e, type, t->access, in, out);
        }
        x.next++;
        if (rows++ == leave) {
            x.end = x.next;
            rest_written(&x);
            reef_end(&row.block);
            break;
        }
    }
    walk_end(&x);
}

/* Everything that may be written is marked at the beginning, so all parts are walked. */
static void entrance_split(naive_world *n, naive_query *q, reef_query h, uint64_t *seed, uint32_t parts)
{
    now.entrance = "reef_slices_begin";
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        if (t->since == REEF_ALWAYS || t->op != REEF_HAS || t->access == REEF_IN || naive_filter(q, i) ||
            !naive_in_group(q, i))
            continue;
        check(reef_slices_begin(n->w, h, NULL, parts) == NULL && reef_last_error(n->w).status == REEF_BAD_ARGUMENT);
        return;
    }
    walk x = walk_begin(n, q, seed, q->last, NULL);
    reef_slices *s = reef_slices_begin(n->w, h, NULL, parts);
    x.parts = true;
    check(s != NULL);
    for (uint32_t i = 0; i < parts; i++)
        for (reef_block b = reef_slice(s, i); reef_next(&b);) block_check(&x, &b);
    reef_slices_end(s);
    walk_end(&x);
}

static void entrance_text(naive_world *n, naive_query *q, uint64_t *seed)
{
    if (!q->said || q->parameters) return;
    now.entrance = "reef_begin_text";
    uint64_t last = q->last;
    walk x = walk_begin(n, q, seed, 0, NULL);
    q->last = last; /* it is another query */
    for (reef_block b = reef_begin_text(n->w, q->text); reef_next(&b);) block_check(&x, &b);
    walk_end(&x);
    now.texts++;
}

/* ---- the entrances that ask ---- */

static void ask_one(naive_world *n, reef_query h, uint64_t *seed)
{
    now.entrance = "asking for one";
    const reef_entity first = reef_query_first(n->w, h), single = reef_query_single(n->w, h);
    if (wanted.count != 1) check(reef_last_error(n->w).status == (wanted.count ? REEF_AMBIGUOUS : REEF_ABSENT));
    check(reef_query_any(n->w, h) == (wanted.count > 0));
    if (wanted.count == 0) {
        check(reef_entity_is_null(first) && reef_entity_is_null(single) &&
              reef_entity_is_null(reef_query_pick(n->w, h, 1)));
        return;
    }
    check(reef_entity_equal(first, n->entity[wanted.row[0]].id));
    check(reef_entity_equal(single, wanted.count == 1 ? first : (reef_entity){0}));
    const uint64_t number = random_next(seed);
    const reef_entity pick = reef_query_pick(n->w, h, number);
    uint32_t place = 0;
    while (place < wanted.count && !reef_entity_equal(n->entity[wanted.row[place]].id, pick)) place++;
    check(place < wanted.count && reef_entity_equal(pick, reef_query_pick(n->w, h, number)));
}

/* One entity's fields. What they write is written at once. */
static void ask_row(naive_world *n, naive_query *q, reef_query h, uint64_t *seed, uint32_t number)
{
    now.entrance = "reef_query_row";
    reef_block b;
    naive_entity *e = &n->entity[number];
    bool matches = naive_matches(n, q, number, q->last);
    check(reef_query_row(n->w, h, e->id, &b) == matches);
    if (!matches) return;
    wanted.row[0] = number;
    walk x = {n, q, seed, 0, 1, ++n->clock, false, false, false, false, false};
    check(b.count == 1 && reef_block_mask(&b) == NULL);
    block_check(&x, &b);
    check(x.next == 1 && !reef_next(&b));
}

static void ask(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.entrance = "reef_query_count";
    naive_ask(&wanted, n, q, q->last);
    check(reef_query_count(n->w, h) == wanted.count);
    ask_one(n, h, seed);
    now.entrance = "reef_query_matches";
    const uint32_t step = n->entities > 300 ? 1 + n->entities / 200 : 1;
    for (uint32_t i = step > 1 ? random_below(seed, step) : 0; i < n->entities; i += step)
        check(reef_query_matches(n->w, h, n->entity[i].id) == naive_matches(n, q, i, q->last));
    check(!reef_query_matches(n->w, h, (reef_entity){0}));
    for (uint32_t i = 0; i < 3 && n->entities; i++)
        ask_row(n, q, h, seed,
                i < 1 && wanted.count ? wanted.row[random_below(seed, wanted.count)] : random_below(seed, n->entities));
}

/* ---- pairs ---- */

static void pair_check(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    now.q = q;
    const bool quiet = !q->writes && random_below(seed, 4) == 0;
    const uint64_t hash = quiet ? reef_hash(n->w) : 0;
    ask(n, q, h, seed);
    /* in another order: what a query that asks for changes saw, the next entrance doesn't see */
    switch (random_below(seed, 3)) {
    case 0: entrance_each(n, q, h, seed); break;
    case 1: entrance_split(n, q, h, seed, 3); break;
    default: break;
    }
    entrance_loop(n, q, h, seed);
    entrance_each(n, q, h, seed);
    entrance_begin_loop(n, q, h, seed);
    entrance_begin_loop(n, q, h, seed);
    entrance_run(n, q, h, seed);
    static const uint32_t parts[] = {1, 3, 8};
    entrance_split(n, q, h, seed, parts[now.pairs % 3]);
    entrance_text(n, q, seed);
    now.entrance = "reef_hash";
    if (quiet) check(reef_hash(n->w) == hash); /* nothing was written */
    now.pairs++;
    now.changes += q->since;
    now.values += q->values;
}

/* What reef says that the query is, read again. It can't be read where a source is dead, and where a group of one,
 * which isn't written, allowed a filter to be named twice. */
static void text_check(naive_world *n, naive_query *q, reef_query h, uint64_t *seed)
{
    static char text[8192], again[8192];
    now.entrance = "reef_query_text";
    bool dead = false, one = false;
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *t = &q->desc.terms[i];
        one |= t->op >= REEF_ANY_OF && t->count == 1;
        dead |= t->op < REEF_ANY_OF && !reef_entity_is_null(t->source) && naive_find(n, t->source) == UINT32_MAX;
    }
    const size_t length = reef_query_text(n->w, h, text, sizeof text);
    check(length < sizeof text && strlen(text) == length && reef_query_text(n->w, h, NULL, 0) == length);
    check(reef_query_explain(n->w, h, NULL, 0) > 0);
    reef_query same = reef_query_new(n->w, text);
    if (reef_query_is_null(same)) {
        reef_status s = reef_last_error(n->w).status;
        check((dead && s == REEF_NOT_ALIVE) || (one && s == REEF_DUPLICATE_TERM));
        return;
    }
    check(!dead);
    naive_set(q, n->w, same);
    check(reef_query_text(n->w, same, again, sizeof again) < sizeof again && (one || strcmp(text, again) == 0));
    q->last = 0;
    entrance_loop(n, q, same, seed);
    check(reef_query_free(n->w, same) == REEF_OK);
}

/* A query that is made now says the same as one that was there. */
static void fresh_check(naive_world *n, naive_query *q, uint64_t *seed)
{
    now.q = q;
    now.entrance = "a fresh query";
    const uint64_t last = q->last;
    q->last = 0;
    reef_query h = reef_query_make(n->w, &q->desc),
               same = q->said ? reef_query_new(n->w, q->text) : reef_query_copy(n->w, n->w, h);
    check(!reef_query_is_null(h) && !reef_query_is_null(same));
    naive_set(q, n->w, h);
    naive_set(q, n->w, same);
    naive_ask(&wanted, n, q, 0);
    check(reef_query_count(n->w, h) == wanted.count && reef_query_count(n->w, same) == wanted.count);
    entrance_loop(n, q, h, seed);
    q->last = 0;
    entrance_each(n, q, same, seed);
    text_check(n, q, h, seed);
    check(reef_query_free(n->w, h) == REEF_OK && reef_query_free(n->w, same) == REEF_OK);
    q->last = last;
}

/* ---- worlds ---- */

typedef struct trial {
    naive_world n;
    naive_query q[QUERIES];
    reef_query h[QUERIES];
    uint64_t seed;
} trial;

static void world_random(naive_world *n, reef_world *w, uint64_t *seed)
{
    static const char *const names[NAIVE_SOURCES] = {"sun", "ship.turret", "an odd one", "fourth"};
    const uint32_t all = (1u << NAIVE_TYPES) - 1, kinds = 1 + random_below(seed, 12);
    uint32_t kind[12], count = random_below(seed, 60);
    naive_begin(n, w);
    for (uint32_t i = 0; i < NAIVE_SOURCES; i++) {
        const uint32_t number = naive_spawn(n, random_next(seed) & all, seed);
        n->source[i] = n->entity[number].id;
        assert_ok(reef_set_name(w, n->source[i], names[i]));
    }
    for (uint32_t i = 0; i < kinds; i++)
        kind[i] = random_next(seed) & (random_below(seed, 3) ? random_next(seed) : all) & all;
    if (random_below(seed, 200) == 0) count = 1000 + random_below(seed, 2500);
    for (uint32_t i = 0; i < count; i++) { /* big worlds have big tables */
        uint32_t which = count > 1000 && random_below(seed, 4) ? 0 : random_below(seed, kinds), mask = kind[which];
        for (uint32_t k = 0; k < NAIVE_TYPES; k++)
            if (naive_types[k].bit && random_below(seed, 2)) mask ^= 1u << k;
        (void)naive_spawn(n, mask, seed);
    }
    for (uint32_t i = random_below(seed, 40) + count / 8; i-- > 0;) naive_mutate(n, seed);
}

static void queries_random(trial *t)
{
    for (uint32_t i = 0; i < QUERIES; i++) {
        naive_query *q = &t->q[i];
        uint64_t number = 0;
        now.q = q;
        for (;;) {
            naive_query_random(q, &t->n, &t->seed, i % 4 == 0);
            reef_status s = naive_status(q, &number);
            if (s == REEF_OK) break;
            check(reef_query_is_null(reef_query_make(t->n.w, &q->desc)));
            check(reef_last_error(t->n.w).status == s && reef_last_error(t->n.w).number == number);
            now.wrong++;
        }
        naive_text(q, &t->n);
        t->h[i] = reef_query_make(t->n.w, &q->desc);
        check(!reef_query_is_null(t->h[i]));
        naive_set(q, t->n.w, t->h[i]);
    }
}

/* From here on changes are known exactly: queries that ask for them run, without looking at a block. */
static void prime(trial *t)
{
    now.stage = "beginning";
    for (uint32_t i = 0; i < QUERIES; i++) {
        if (!t->q[i].since) continue;
        reef_block b = reef_begin(t->n.w, t->h[i]);
        reef_end(&b);
        t->q[i].last = ++t->n.clock;
    }
}

/* A source that has died, or whose name went, can't be said any more. */
static void texts_anew(trial *t)
{
    for (uint32_t i = 0; i < QUERIES; i++) naive_text(&t->q[i], &t->n);
}

static void trial_check(trial *t, const char *stage)
{
    now.stage = stage;
    texts_anew(t);
    for (uint32_t i = 0; i < QUERIES; i++) {
        for (uint32_t k = t->q[i].since ? 4 : 0; k-- > 0;) naive_write_value(&t->n, &t->seed);
        pair_check(&t->n, &t->q[i], t->h[i], &t->seed);
        if (random_below(&t->seed, 3) == 0) fresh_check(&t->n, &t->q[i], &t->seed);
    }
    now.entrance = "all values";
    now.q = NULL;
    naive_compare(&t->n);
}

static void mutate(trial *t, uint32_t count)
{
    now.stage = "changing the world";
    while (count-- > 0) naive_mutate(&t->n, &t->seed);
    prime(t);
}

static void fork_check(trial *t)
{
    static trial f;
    f = *t;
    reef_world *w = reef_fork(t->n.w);
    check(w != NULL);
    naive_copy(&f.n, &t->n, w);
    for (uint32_t i = 0; i < QUERIES; i++) {
        f.q[i].last = 0;
        f.h[i] = reef_query_copy(w, t->n.w, t->h[i]);
        check(!reef_query_is_null(f.h[i]));
    }
    if (random_below(&t->seed, 2)) mutate(&f, random_below(&t->seed, 10));
    if (random_below(&t->seed, 2)) mutate(t, random_below(&t->seed, 10));
    trial_check(&f, "a fork");
    trial_check(t, "the world that was forked");
    now.entrance = "all values of the fork";
    naive_compare(&f.n);
    assert_valid(w);
    reef_world_free(w);
    naive_end(&f.n);
}

static void trial_run(void **state, uint64_t seed)
{
    static trial t;
    static trial kept;
    now.seed = t.seed = seed;
    naive_types_draw(&t.seed);
    now.stage = "making a world";
    now.entrance = "";
    reef_world *w = another_world(state, NULL);
    world_random(&t.n, w, &t.seed);
    queries_random(&t);
    trial_check(&t, "a new world");
    mutate(&t, 20);
    trial_check(&t, "a changed world");
    reef_snapshot *s = reef_snapshot_take(w);
    check(s != NULL);
    kept = t;
    naive_copy(&kept.n, &t.n, w);
    mutate(&t, 10);
    fork_check(&t);
    check(reef_restore(w, s) == REEF_OK);
    reef_snapshot_free(s);
    naive_end(&t.n);
    kept.seed = t.seed;
    t = kept;
    trial_check(&t, "a restored world");
    naive_end(&t.n);
    end_world(state, w);
}

static void F1_F2_F7_C3_E9_a_naive_evaluator_agrees(void **state)
{
    const char *first = getenv("NAIVE_SEED"), *pairs = getenv("NAIVE_PAIRS");
    uint64_t most = pairs ? strtoull(pairs, NULL, 10) : NAIVE_PAIRS;
    for (uint64_t seed = first ? strtoull(first, NULL, 10) : 1; now.pairs < most; seed++) trial_run(state, seed);
    print_message(
        "%llu pairs (%llu ask for changes, %llu for values), %llu rows, %llu loops by text, %llu wrong queries\n",
        (unsigned long long)now.pairs, (unsigned long long)now.changes, (unsigned long long)now.values,
        (unsigned long long)now.rows, (unsigned long long)now.texts, (unsigned long long)now.wrong);
    assert_true(now.rows > now.pairs && now.texts > now.pairs / 4 && now.wrong > 0);
    free(wanted.row);
    memset(&wanted, 0, sizeof wanted);
}

/* ---- without memory ---- */

/* A loop over a world that shares all with a fork, whose n-th allocation fails, alone or with all that follow. True:
 * it had that many. */
static bool fails_at(void **state, trial *t, uint32_t i, uint64_t number, bool rest, uint32_t parts)
{
    naive_world f;
    reef_world *w = reef_fork(t->n.w);
    check(w != NULL);
    naive_copy(&f, &t->n, w);
    walk x = walk_begin(&t->n, &t->q[i], &t->seed, t->q[i].last, NULL);
    x.plain = true;
    x.parts = parts != 0;
    heap_fail_nth(heap_of(state), number, rest);
    if (parts == 0) {
        for (reef_block b = reef_begin(t->n.w, t->h[i]); reef_next(&b);) block_check(&x, &b);
    } else {
        reef_slices *s = reef_slices_begin(t->n.w, t->h[i], NULL, parts);
        heap_fail_never(heap_of(state)); /* from here on nothing may fail */
        for (uint32_t k = 0; s && k < parts; k++)
            for (reef_block b = reef_slice(s, k); reef_next(&b);) block_check(&x, &b);
        reef_slices_end(s);
        check((s == NULL) == (reef_last_error(t->n.w).status == REEF_NO_MEMORY));
    }
    /* What a query remembers of chunks it may do without. */
    const bool refused = heap_of(state)->refused != 0, failed = reef_last_error(t->n.w).status == REEF_NO_MEMORY;
    heap_fail_never(heap_of(state));
    check(failed ? refused : reef_last_error(t->n.w).status == REEF_OK);
    check(failed || x.next == x.end);
    naive_compare(&t->n);
    naive_compare(&f);
    assert_valid(t->n.w);
    assert_valid(w);
    naive_end(&f);
    reef_world_free(w);
    return refused;
}

static void G5_F1_a_failed_allocation_in_a_loop_leaves_every_value(void **state)
{
    static trial t;
    uint64_t failures = 0;
    now.stage = "a loop without memory";
    for (uint64_t seed = 1; failures < NAIVE_FAILURES; seed++) {
        now.seed = t.seed = 1000000 + seed;
        naive_types_draw(&t.seed);
        reef_world *w = another_world(state, NULL);
        now.entrance = "";
        world_random(&t.n, w, &t.seed);
        queries_random(&t);
        for (uint32_t i = 0; i < QUERIES; i++) {
            now.q = &t.q[i];
            if (!t.q[i].writes || t.q[i].since) continue;
            const bool rest = random_below(&t.seed, 2);
            const uint32_t parts = random_below(&t.seed, 3) ? 0 : 1 + random_below(&t.seed, 4);
            now.entrance = parts ? "reef_slices_begin" : "reef_begin";
            for (uint64_t number = 1; fails_at(state, &t, i, number, rest, parts); number++) failures++;
        }
        now.q = NULL;
        naive_end(&t.n);
        end_world(state, w);
    }
    free(wanted.row);
    memset(&wanted, 0, sizeof wanted);
}

int main(void)
{
    naive_types_make();
    const struct CMUnitTest tests[] = {
        TEST(F1_F2_F7_C3_E9_a_naive_evaluator_agrees),
        TEST(G5_F1_a_failed_allocation_in_a_loop_leaves_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
