/* The copy-on-write container against naive copies: random holders that share, write, clear, grow and leave in any
 * order.
 *
 * A page has eight slots, and a slot may hold a block of its own (as the columns of a chunk do): the release function
 * must free exactly those blocks that nobody sees any more. At the end the memory in use is zero, whatever the order
 * was. */
#include "support.h"

#include "storage/cow_pages.h"

enum { SLOTS = 8, PAGES_MOST = 40, HOLDERS = 7, BLOCK_BYTES = 64 };

typedef struct slot {
    uint64_t *block;
    uint64_t version; /* of the block's last write */
} slot;

typedef struct holder {
    bool there;
    reef_paged paged;
    uint64_t version, fork_version;
    uint32_t count;
    bool page[PAGES_MOST];
    uint64_t value[PAGES_MOST][SLOTS]; /* 0: no block */
} holder;

typedef struct play {
    heap heap;
    memory memory;
    mutex lock;
    paged_type type;
    paged_owner owner;
    holder holders[HOLDERS];
    uint64_t seed;
    uint64_t blocks; /* made and not yet freed */
    uint64_t copies;
} play;

static void block_free(play *p, uint64_t *block)
{
    assert_true(p->blocks > 0);
    assert_int_not_equal(block[0], 0xDEAD);
    block[0] = 0xDEAD;
    p->blocks--;
    reef__memory_block_free(&p->memory, MEMORY_ROWS, ARENA_COLUMNS, block, BLOCK_BYTES, BLOCK_ALIGN);
}

static bool release(void *context, const void *page, const void *kept, uint64_t base, size_t index)
{
    const slot *s = page, *k = kept;
    (void)index;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (s[i].block && s[i].version > base && !(k && k[i].block == s[i].block)) block_free(context, s[i].block);
    return false;
}

static const slot blank_page[SLOTS];

static void begin(play *p, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    reef_allocator a = heap_allocator(&p->heap);
    p->seed = seed;
    assert_true(reef__memory_make(&p->memory, &a));
    assert_true(mutex_make(&p->lock));
    p->type = (paged_type){.page_bytes = SLOTS * sizeof(slot),
                           .arena = ARENA_DIRECTORY,
                           .kind = MEMORY_TABLES,
                           .release = release,
                           .blank = blank_page};
    p->owner = (paged_owner){&p->memory, &p->lock, &p->type, p};
    p->holders[0].there = true;
    p->holders[0].version = 1;
}

/* ---- comparing ---- */

static void compare(const holder *h)
{
    assert_true(h->paged.count >= h->count);
    for (uint32_t i = 0; i < h->paged.count; i++) {
        const slot *s = h->paged.page[i];
        if (i >= h->count || !h->page[i]) {
            assert_null(s);
            continue;
        }
        assert_non_null(s);
        for (uint32_t k = 0; k < SLOTS; k++) {
            assert_int_equal(s[k].block != NULL, h->value[i][k] != 0);
            for (uint32_t word = 0; s[k].block && word < BLOCK_BYTES / 8; word++)
                assert_int_equal(s[k].block[word], h->value[i][k] + word);
        }
    }
}

static void compare_all(const play *p)
{
    for (uint32_t i = 0; i < HOLDERS; i++)
        if (p->holders[i].there) compare(&p->holders[i]);
}

/* ---- what a holder does; false: no memory, and then nothing has changed ---- */

static bool grow(play *p, holder *h)
{
    uint32_t count = h->count + 1 + random_below(&p->seed, 6);
    if (count > PAGES_MOST) return true;
    if (!reef__paged_grow(&h->paged, &p->owner, count, h->fork_version)) return false;
    h->count = count;
    return true;
}

/* A block that only this holder sees, in the place of the one that is there. */
static uint64_t *block_own(play *p, holder *h, slot *s)
{
    if (s->block && (s->version > h->fork_version || s->version > reef__paged_base(&h->paged))) return s->block;
    uint64_t *fresh = reef__memory_block(&p->memory, MEMORY_ROWS, ARENA_COLUMNS, BLOCK_BYTES, BLOCK_ALIGN);
    if (!fresh) return NULL;
    p->copies += s->block != NULL;
    p->blocks++;
    return fresh;
}

static slot *page_own(play *p, holder *h, uint32_t i)
{
    slot *s = reef__paged_own(&h->paged, &p->owner, i, h->version, h->fork_version);
    if (!s) return NULL;
    assert_ptr_equal(s, h->paged.page[i]);
    h->page[i] = true;
    return s;
}

static bool write_slot(play *p, holder *h)
{
    if (h->count == 0) return true;
    uint32_t i = random_below(&p->seed, h->count), k = random_below(&p->seed, SLOTS);
    uint64_t value = 1000 + random_below(&p->seed, 1u << 30);
    slot *s = page_own(p, h, i);
    uint64_t *block = s ? block_own(p, h, &s[k]) : NULL;
    if (!block) return false;
    for (uint32_t word = 0; word < BLOCK_BYTES / 8; word++) block[word] = value + word;
    s[k].block = block;
    s[k].version = h->version;
    h->value[i][k] = value;
    return true;
}

static bool drop_slot(play *p, holder *h, uint32_t i, uint32_t k)
{
    slot *s = page_own(p, h, i);
    if (!s) return false;
    if (s[k].block && s[k].version > reef__paged_base(&h->paged)) block_free(p, s[k].block);
    s[k].block = NULL;
    s[k].version = h->version;
    h->value[i][k] = 0;
    return true;
}

/* A page may go when nothing hangs on it. */
static bool clear_page(play *p, holder *h)
{
    if (h->count == 0) return true;
    uint32_t i = random_below(&p->seed, h->count);
    for (uint32_t k = 0; k < SLOTS; k++)
        if (h->page[i] && h->value[i][k] != 0 && !drop_slot(p, h, i, k)) return false;
    if (!reef__paged_clear(&h->paged, &p->owner, i, h->fork_version)) return false;
    h->page[i] = false;
    return true;
}

static bool blank(play *p, holder *h)
{
    uint32_t i = h->count ? random_below(&p->seed, h->count) : 0;
    if (h->count == 0 || (h->page[i] && h->paged.page[i] != blank_page)) return true;
    const bool ok = reef__paged_blank(&h->paged, &p->owner, i, h->version, h->fork_version);
    h->page[i] |= ok;
    return ok;
}

static void share(play *p, holder *h)
{
    holder *to = &p->holders[random_below(&p->seed, HOLDERS)];
    if (to->there) return;
    h->fork_version = h->version++;
    *to = *h;
    to->paged = reef__paged_share(&h->paged);
}

static void leave(play *p, holder *h)
{
    reef__paged_drop(&h->paged, &p->owner);
    assert_null(h->paged.node);
    h->there = false;
}

static uint32_t holders_there(const play *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < HOLDERS; i++) n += p->holders[i].there;
    return n;
}

static void step(play *p)
{
    holder *h = &p->holders[random_below(&p->seed, HOLDERS)];
    uint32_t what = random_below(&p->seed, 100);
    bool starved = random_below(&p->seed, 30) == 0, ok = true;
    if (!h->there) return;
    if (starved) heap_fail_nth(&p->heap, 1 + random_below(&p->seed, 2), random_below(&p->seed, 2) == 0);
    if (what < 4) ok = grow(p, h);
    else if (what < 70) ok = write_slot(p, h);
    else if (what < 78 && h->count) {
        uint32_t i = random_below(&p->seed, h->count), k = random_below(&p->seed, SLOTS);
        ok = !h->page[i] || drop_slot(p, h, i, k);
    } else if (what < 82) ok = random_below(&p->seed, 2) ? clear_page(p, h) : blank(p, h);
    else if (what < 86) h->version++;
    else if (what < 94) share(p, h);
    else if (holders_there(p) > 1) leave(p, h);
    heap_fail_never(&p->heap);
    assert_true(ok || starved);
    if (h->there) compare(h);
}

static void end(play *p)
{
    compare_all(p);
    while (holders_there(p) > 0) { /* in random order */
        holder *h = &p->holders[random_below(&p->seed, HOLDERS)];
        if (h->there) leave(p, h);
        compare_all(p);
    }
    assert_int_equal(p->blocks, 0);
    assert_int_equal(p->memory.used[MEMORY_TABLES], 0);
    assert_int_equal(p->memory.used[MEMORY_ROWS], 0);
    reef__memory_trim(&p->memory);
    reef__memory_drop(&p->memory);
    mutex_drop(&p->lock);
    assert_int_equal(p->heap.bytes, 0);
    assert_null(p->heap.mistake);
}

/* ---- tests ---- */

static void paged_random_holders(void **state)
{
    (void)state;
    uint64_t copies = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        static play p;
        begin(&p, seed * 7919);
        for (uint32_t i = 0; i < 3000; i++) {
            step(&p);
            if (i % 64 == 0) compare_all(&p);
        }
        copies += p.copies;
        end(&p);
    }
    assert_true(copies > 1000); /* sharing did happen */
}

static void paged_alone_copies_nothing(void **state)
{
    (void)state;
    static play p;
    begin(&p, 1);
    holder *h = &p.holders[0];
    assert_true(grow(&p, h));
    slot *first = page_own(&p, h, 0);
    h->version += 5;
    assert_ptr_equal(page_own(&p, h, 0), first);
    end(&p);
}

static void paged_first_write_copies_one_page(void **state)
{
    (void)state;
    static play p;
    begin(&p, 1);
    holder *a = &p.holders[0], *b = &p.holders[1];
    assert_true(reef__paged_grow(&a->paged, &p.owner, 3, 0));
    a->count = 3;
    slot *page[3];
    for (uint32_t i = 0; i < 3; i++) page[i] = page_own(&p, a, i);
    a->fork_version = a->version++;
    *b = *a;
    b->paged = reef__paged_share(&a->paged);
    slot *fresh = page_own(&p, b, 1);
    assert_ptr_not_equal(fresh, page[1]);
    assert_ptr_equal(a->paged.page[1], page[1]);
    assert_ptr_equal(b->paged.page[0], page[0]);
    assert_ptr_equal(b->paged.page[2], page[2]);
    assert_ptr_equal(page_own(&p, b, 1), fresh); /* once */
    end(&p);
}

/* Many slots show the same page, and nobody counts them as shared. */
static void paged_blank_pages_take_no_memory(void **state)
{
    (void)state;
    static play p;
    begin(&p, 1);
    holder *a = &p.holders[0], *b = &p.holders[1];
    assert_true(reef__paged_grow(&a->paged, &p.owner, 3, 0));
    a->count = 3;
    const uint64_t empty = p.memory.used[MEMORY_TABLES];
    for (uint32_t i = 0; i < 3; i++)
        assert_true(a->page[i] = reef__paged_blank(&a->paged, &p.owner, i, a->version, a->fork_version));
    assert_int_equal(p.memory.used[MEMORY_TABLES], empty);
    assert_non_null(page_own(&p, a, 2));
    a->fork_version = a->version++;
    *b = *a;
    b->paged = reef__paged_share(&a->paged);
    assert_int_equal(b->paged.shared, 1);
    assert_non_null(page_own(&p, b, 0));
    assert_int_equal(b->paged.shared, 1);
    assert_non_null(page_own(&p, b, 2));
    assert_int_equal(b->paged.shared, 0);
    assert_ptr_equal(a->paged.page[0], blank_page);
    assert_ptr_equal(b->paged.page[1], blank_page);
    end(&p);
}

/* The last holder owns everything again: nothing is copied for it. */
static void paged_last_holder_writes_in_place(void **state)
{
    (void)state;
    static play p;
    begin(&p, 1);
    holder *a = &p.holders[0], *b = &p.holders[1];
    assert_true(reef__paged_grow(&a->paged, &p.owner, 1, 0));
    a->count = 1;
    slot *page = page_own(&p, a, 0);
    a->fork_version = a->version++;
    *b = *a;
    b->paged = reef__paged_share(&a->paged);
    leave(&p, b);
    assert_ptr_equal(page_own(&p, a, 0), page);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paged_random_holders),
        cmocka_unit_test(paged_alone_copies_nothing),
        cmocka_unit_test(paged_first_write_copies_one_page),
        cmocka_unit_test(paged_last_holder_writes_in_place),
        cmocka_unit_test(paged_blank_pages_take_no_memory),
    };
    return cmocka_run_group_tests_name("paged", tests, NULL, NULL);
}
