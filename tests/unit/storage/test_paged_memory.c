/* The copy-on-write container when memory fails, and what it takes when it does not. (Random lives: test_paged.c.) */
#include "support.h"
#include "storage/cow_pages.h"

enum { HOLDERS = 6, PAGES = 40, PAGE_BYTES = 192 };

typedef struct holder {
    bool used;
    reef_paged pages;
    uint64_t version, fork_version;
    uint32_t count;
    uint32_t value[PAGES]; /* what page i must hold; 0: a page that was never touched, or is gone */
} holder;

typedef struct family_of_holders {
    heap heap;
    memory memory;
    mutex lock;
    paged_type type;
    holder h[HOLDERS];
} family_of_holders;

static paged_owner reef__owner_of(family_of_holders *f) { return (paged_owner){&f->memory, &f->lock, &f->type, NULL}; }

static void family_begin(family_of_holders *f)
{
    memset(f, 0, sizeof *f);
    reef_allocator a = heap_allocator(&f->heap);
    assert_true(reef__memory_make(&f->memory, &a));
    assert_true(mutex_make(&f->lock));
    f->type = (paged_type){.page_bytes = PAGE_BYTES, .arena = ARENA_DIRECTORY, .kind = MEMORY_TABLES};
    f->h[0].used = true;
    f->h[0].version = 1;
}

static void family_end(family_of_holders *f)
{
    paged_owner o = reef__owner_of(f);
    for (int i = 0; i < HOLDERS; i++)
        if (f->h[i].used) reef__paged_drop(&f->h[i].pages, &o);
    assert_int_equal(f->memory.used[MEMORY_TABLES], 0); /* every page and node came back once */
    reef__memory_drop(&f->memory);
    mutex_drop(&f->lock);
    assert_int_equal(f->heap.blocks, 0);
    assert_null(f->heap.mistake);
}

static void check(const holder *h)
{
    assert_true(h->pages.count >= h->count);
    for (uint32_t i = 0; i < h->pages.count; i++) {
        const uint32_t *page = h->pages.page[i];
        uint32_t wanted = i < PAGES ? h->value[i] : 0;
        if (page == NULL) assert_int_equal(wanted, 0);
        for (uint32_t k = 0; page && k < PAGE_BYTES / 4; k++) assert_int_equal(page[k], wanted);
    }
}

static void grow(family_of_holders *f, holder *h, uint32_t count)
{
    paged_owner o = reef__owner_of(f);
    if (reef__paged_grow(&h->pages, &o, count, h->fork_version) && count > h->count) h->count = count;
}

static void put(family_of_holders *f, holder *h, uint32_t i, uint32_t value)
{
    paged_owner o = reef__owner_of(f);
    if (i >= h->count) return;
    uint32_t *page = reef__paged_own(&h->pages, &o, i, h->version, h->fork_version);
    if (page == NULL) return; /* no memory: nothing changed */
    for (uint32_t k = 0; k < PAGE_BYTES / 4; k++) {
        assert_int_equal(page[k], h->value[i]); /* a copy of what was there, or zero */
        page[k] = value;
    }
    h->value[i] = value;
    assert_true(paged_owned(&h->pages, i, h->fork_version));
}

static void take_away(family_of_holders *f, holder *h, uint32_t i)
{
    paged_owner o = reef__owner_of(f);
    if (i < h->count && reef__paged_clear(&h->pages, &o, i, h->fork_version)) h->value[i] = 0;
}

static void share(holder *from, holder *to)
{
    from->fork_version = from->version++;
    *to = *from;
    to->pages = reef__paged_share(&from->pages);
}

static void leave(family_of_holders *f, holder *h)
{
    paged_owner o = reef__owner_of(f);
    reef__paged_drop(&h->pages, &o);
    *h = (holder){0};
}

static void step(family_of_holders *f, uint64_t *seed, bool memory_fails)
{
    uint32_t what = random_below(seed, 100), i = random_below(seed, PAGES), used = 0;
    holder *h = &f->h[random_below(seed, HOLDERS)], *other = &f->h[random_below(seed, HOLDERS)];
    for (int k = 0; k < HOLDERS; k++) used += f->h[k].used ? 1u : 0u;
    if (!h->used) return;
    if (memory_fails) heap_fail_nth(&f->heap, 1 + what % 3, what % 2);
    if (what < 60) put(f, h, i, random_next(seed) | 1);
    else if (what < 70) grow(f, h, i);
    else if (what < 76) take_away(f, h, i);
    else if (what < 78) h->version++;
    else if (what < 89 && !other->used) share(h, other);
    else if (what >= 92 && used > 1) leave(f, h);
    heap_fail_never(&f->heap);
}

static void random_family(uint64_t seed)
{
    family_of_holders *f = malloc(sizeof *f);
    family_begin(f);
    for (int i = 0; i < 3000; i++) {
        step(f, &seed, i % 3 == 0);
        for (int k = 0; k < HOLDERS; k++)
            if (f->h[k].used) check(&f->h[k]);
    }
    family_end(f);
    free(f);
}

static void holders_survive_failing_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed <= 112; seed++) random_family(seed);
}

/* Sharing costs no page, the first write one node and one page, the next ones a page each; an owner alone copies
 * nothing. */
static void sharing_costs_what_is_written(void **state)
{
    family_of_holders *f = malloc(sizeof *f);
    (void)state;
    family_begin(f);
    holder *a = &f->h[0], *b = &f->h[1];
    grow(f, a, PAGES);
    for (uint32_t i = 0; i < PAGES; i++) put(f, a, i, i + 1);
    uint64_t alone = f->memory.used[MEMORY_TABLES];
    share(a, b);
    assert_int_equal(f->memory.used[MEMORY_TABLES], alone);
    put(f, a, 3, 99);
    uint64_t first = f->memory.used[MEMORY_TABLES];
    put(f, a, 4, 99);
    uint64_t second = f->memory.used[MEMORY_TABLES];
    assert_int_equal(second - first, PAGE_BYTES);
    put(f, a, 4, 100);
    assert_int_equal(f->memory.used[MEMORY_TABLES], second);
    check(a);
    check(b);
    leave(f, b);
    assert_int_equal(f->memory.used[MEMORY_TABLES], alone);
    check(a);
    family_end(f);
    free(f);
}

/* A line of descendants, the middle ones leaving first, last and in between. */
static void ancestors_may_leave_in_any_order(void **state)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int order = 0; order < 6; order++) {
        family_of_holders *f = malloc(sizeof *f);
        family_begin(f);
        grow(f, &f->h[0], 8);
        for (uint32_t i = 0; i < 8; i++) put(f, &f->h[0], i, 10 + i);
        for (int k = 0; k < 3; k++) {
            share(&f->h[k], &f->h[k + 1]);
            put(f, &f->h[k], 1, 100 + (uint32_t)k);
            put(f, &f->h[k + 1], 2, 200 + (uint32_t)k);
            put(f, &f->h[k + 1], 5 + (uint32_t)k, 300);
        }
        for (int k = 0; k < 3; k++) {
            leave(f, &f->h[orders[order][k]]);
            for (int i = 0; i < 4; i++)
                if (f->h[i].used) check(&f->h[i]);
        }
        put(f, &f->h[3], 0, 1);
        check(&f->h[3]);
        family_end(f);
        free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(holders_survive_failing_memory),
        TEST(sharing_costs_what_is_written),
        TEST(ancestors_may_leave_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
