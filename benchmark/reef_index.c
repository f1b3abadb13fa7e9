/* reef's rows about value indexes, and the same by hand instead of raw: a hash map from a value to its entities, and a
 * sorted array. */
#include "mem.h"
#include "reef_rows.h"
#include <stdlib.h>

typedef struct Number {
    uint32_t id;
} Number;
REEF_COMPONENT(Number);
REEF_FIELDS(Number, id);

/* The number of entity i; its values are spread evenly, and few of them are the same. */
static uint32_t number_of(uint32_t i) { return (uint32_t)(bench_mix(i) >> 32); }
/* The entity that look-up k asks for, and where range k begins: it has about RESULTS entities. */
enum { RESULTS = 1000 };
static uint32_t asked(uint32_t k, uint32_t n) { return (uint32_t)(bench_mix(k + 77) % n); }
static uint32_t range_of(uint32_t n) { return (uint32_t)(((uint64_t)RESULTS << 32) / n); }
static uint32_t range_from(uint32_t k, uint32_t n)
{
    return (uint32_t)(bench_mix(k + 99) % (UINT32_MAX - range_of(n)));
}

/* ---- reef ---- */

typedef struct numbers {
    const bench_row *r;
    reef_world *w;
    reef_entity *handle;
    uint64_t sum;
} numbers;

static const reef_index *numbers_index(numbers *s)
{
    const reef_index *x = reef_index_of(s->w, Number, id);
    if (x == NULL) bench_fail(s->w, "reef_index_of");
    return x;
}

static void *numbers_setup(const bench_row *r)
{
    numbers *s = mem_calloc(1, sizeof *s);
    s->r = r;
    s->w = world_new();
    s->handle = mem_alloc(r->n * sizeof *s->handle);
    for (uint32_t i = 0; i < r->n; i++) s->handle[i] = reef_spawn(s->w, reef_with(Number, number_of(i)));
    (void)numbers_index(s);
    return s;
}
static void numbers_free(void *p)
{
    numbers *s = p;
    reef_world_free(s->w);
    mem_free(s->handle, s->r->n * sizeof *s->handle);
    mem_free_unsized(s);
}
static uint64_t numbers_sum(void *p) { return ((numbers *)p)->sum; }

static void get_run(void *p)
{
    numbers *s = p;
    const reef_index *x = numbers_index(s);
    reef_entity found[8];
    for (uint32_t k = 0; k < s->r->ops; k++) {
        const uint64_t n = reef_index_get(x, number_of(asked(k, s->r->n)), found, 8);
        for (uint64_t i = 0; i < n && i < 8; i++) s->sum += found[i].index - s->handle[0].index;
    }
}
static void range_run(void *p)
{
    static reef_entity found[2 * RESULTS];
    numbers *s = p;
    const reef_index *x = numbers_index(s);
    for (uint32_t k = 0; k < s->r->ops / RESULTS; k++) {
        const uint32_t from = range_from(k, s->r->n);
        const uint64_t n = reef_index_range(x, from, from + range_of(s->r->n), 0, found, 2 * RESULTS);
        for (uint64_t i = 0; i < n; i++) s->sum += found[i].index - s->handle[0].index;
    }
}

/* Entities that want a number, beside those that have it: entity k wants that of another one. */
typedef struct Wanted {
    uint32_t id;
} Wanted;
REEF_COMPONENT(Wanted);
REEF_FIELDS(Wanted, id);

static void *join_setup(const bench_row *r)
{
    numbers *s = numbers_setup(r);
    for (uint32_t k = 0; k < r->ops; k++) (void)reef_spawn(s->w, reef_with(Wanted, number_of(asked(k, r->n))));
    return s;
}
static void join_run(void *p)
{
    numbers *s = p;
    const reef_index *x = numbers_index(s);
    reef_entity found[8], first[REEF_BLOCK_ROWS];
    uint64_t keys[REEF_BLOCK_ROWS];
    uint32_t counts[REEF_BLOCK_ROWS];
    for (reef_block b = reef_begin_text(s->w, "in Wanted"); reef_next(&b);) {
        const Wanted *wanted = reef_in(&b, Wanted);
        for (uint32_t k = 0; k < b.count; k++) keys[k] = wanted[k].id;
        (void)reef_index_get_many(x, keys, b.count, first, counts);
        for (uint32_t k = 0; k < b.count; k++) {
            if (counts[k]) s->sum += first[k].index - s->handle[0].index;
            const uint64_t n = counts[k] > 1 ? reef_index_get(x, keys[k], found, 8) : 0;
            for (uint64_t i = 1; i < n && i < 8; i++) s->sum += found[i].index - s->handle[0].index;
        }
    }
}

static void value_join_run(void *p)
{
    numbers *s = p;
    for (reef_block b = reef_begin_text(s->w, "Wanted(id as $n), Number($o, id == $n)"); reef_next(&b);) {
        const reef_entity *found = reef_bound(&b, 1);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t k = first; k < first + n; k++) s->sum += found[k].index - s->handle[0].index;
    }
}

/* One in a hundred has another value: those of a tenth of a tenth of the blocks, or scattered. (It is the index's first
 * change, which touches about 335 new pages. On a nested virtual machine whose kernel takes 16 us for a page, a changed
 * row took 510 to 570 ns in the first refresh, and 23 to 60 ns once the index had its memory; where changes are
 * scattered, 560 to 810 and then 100 to 190 ns.) */
static void *changed_setup(const bench_row *r, uint32_t step)
{
    numbers *s = numbers_setup(r);
    for (uint32_t k = 0; k < r->ops; k++) reef_set(s->w, s->handle[k * step], Number, number_of(k + r->n));
    return s;
}
static void *together_setup(const bench_row *r) { return changed_setup(r, 1); }
static void *scattered_setup(const bench_row *r) { return changed_setup(r, 100); }
static void refresh_run(void *p)
{
    numbers *s = p;
    reef_entity found[8];
    s->sum = reef_index_get(numbers_index(s), number_of(s->r->n), found, 8);
}
static uint64_t refresh_expected(const bench_row *r)
{
    (void)r;
    return 1;
}

const row_impl reef_index_rows[] = {
    {ROW_index_get, numbers_setup, get_run, numbers_sum, numbers_free, NULL},
    {ROW_index_range, numbers_setup, range_run, numbers_sum, numbers_free, NULL},
    {ROW_index_join, join_setup, join_run, numbers_sum, numbers_free, NULL},
    {ROW_value_join, join_setup, value_join_run, numbers_sum, numbers_free, NULL},
    {ROW_index_refresh, together_setup, refresh_run, numbers_sum, numbers_free, refresh_expected},
    {ROW_index_refresh_scattered, scattered_setup, refresh_run, numbers_sum, numbers_free, refresh_expected},
    {0},
};

/* ---- by hand ---- */

typedef struct pair {
    uint32_t key, id;
} pair;
#define EMPTY UINT32_MAX

/* A map by open addressing to the first entity with a value, from which `next` leads to the others; or a sorted
 * array. */
typedef struct hand_index {
    const bench_row *r;
    pair *slot;
    uint32_t *next, mask;
    pair *sorted;
    uint32_t *wanted;
    uint64_t sum;
} hand_index;

static uint32_t slot_of_key(uint32_t key, uint32_t mask) { return (key * 0x9E3779B1u >> 7) & mask; }

static void *map_setup(const bench_row *r)
{
    hand_index *h = mem_calloc(1, sizeof *h);
    h->r = r;
    for (h->mask = 1; h->mask < r->n * 2; h->mask *= 2) {}
    h->slot = mem_alloc(h->mask * sizeof *h->slot);
    h->next = mem_alloc(r->n * sizeof *h->next);
    h->mask--;
    for (uint32_t i = 0; i <= h->mask; i++) h->slot[i].id = EMPTY;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t key = number_of(i);
        uint32_t at = slot_of_key(key, h->mask);
        while (h->slot[at].id != EMPTY && h->slot[at].key != key) at = (at + 1) & h->mask;
        h->next[i] = h->slot[at].id;
        h->slot[at] = (pair){key, i};
    }
    return h;
}
static void map_run(void *p)
{
    hand_index *h = p;
    for (uint32_t k = 0; k < h->r->ops; k++) {
        const uint32_t key = number_of(asked(k, h->r->n));
        uint32_t at = slot_of_key(key, h->mask);
        while (h->slot[at].id != EMPTY && h->slot[at].key != key) at = (at + 1) & h->mask;
        for (uint32_t id = h->slot[at].id; id != EMPTY; id = h->next[id]) h->sum += id;
    }
}

static void *map_join_setup(const bench_row *r)
{
    hand_index *h = map_setup(r);
    h->wanted = mem_alloc(r->ops * sizeof *h->wanted);
    for (uint32_t k = 0; k < r->ops; k++) h->wanted[k] = number_of(asked(k, r->n));
    return h;
}
static void map_join_run(void *p)
{
    hand_index *h = p;
    for (uint32_t k = 0; k < h->r->ops; k++) {
        uint32_t at = slot_of_key(h->wanted[k], h->mask);
        while (h->slot[at].id != EMPTY && h->slot[at].key != h->wanted[k]) at = (at + 1) & h->mask;
        for (uint32_t id = h->slot[at].id; id != EMPTY; id = h->next[id]) h->sum += id;
    }
}

static int by_key(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}
static void *sorted_setup(const bench_row *r)
{
    hand_index *h = mem_calloc(1, sizeof *h);
    h->r = r;
    h->sorted = mem_alloc(r->n * sizeof *h->sorted);
    for (uint32_t i = 0; i < r->n; i++) h->sorted[i] = (pair){number_of(i), i};
    qsort(h->sorted, r->n, sizeof *h->sorted, by_key);
    return h;
}
static void sorted_run(void *p)
{
    hand_index *h = p;
    for (uint32_t k = 0; k < h->r->ops / RESULTS; k++) {
        const uint32_t from = range_from(k, h->r->n), to = from + range_of(h->r->n);
        uint32_t low = 0, high = h->r->n;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (h->sorted[middle].key < from) low = middle + 1;
            else high = middle;
        }
        for (; low < h->r->n && h->sorted[low].key <= to; low++) h->sum += h->sorted[low].id;
    }
}
static uint64_t hand_index_sum(void *p) { return ((hand_index *)p)->sum; }
static void hand_index_free(void *p)
{
    hand_index *h = p;
    if (h->slot) mem_free(h->slot, ((size_t)h->mask + 1) * sizeof *h->slot);
    if (h->next) mem_free(h->next, h->r->n * sizeof *h->next);
    if (h->wanted) mem_free(h->wanted, h->r->ops * sizeof *h->wanted);
    if (h->sorted) mem_free(h->sorted, h->r->n * sizeof *h->sorted);
    mem_free_unsized(h);
}

const row_impl raw_index_rows[] = {
    {ROW_index_get, map_setup, map_run, hand_index_sum, hand_index_free, NULL},
    {ROW_index_join, map_join_setup, map_join_run, hand_index_sum, hand_index_free, NULL},
    {ROW_value_join, map_join_setup, map_join_run, hand_index_sum, hand_index_free, NULL},
    {ROW_index_range, sorted_setup, sorted_run, hand_index_sum, hand_index_free, NULL},
    {0},
};
