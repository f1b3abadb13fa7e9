#define _DEFAULT_SOURCE /* for madvise and mincore */
#include "base/memory.h"
#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(QUARANTINE)
#include <sanitizer/asan_interface.h>
#endif

enum {
    FINE = 64,
    FINE_CLASSES = 256, /* up to 16 KiB in steps of 64 bytes */
    COARSE = 4096,
    COARSE_CLASSES = 253,     /* up to 1 MiB in steps of 4 KiB */
    ARENA_MAX = COARSE * 256, /* larger blocks come from the allocator */
    PIECE_FIRST = 16 << 10,
    PIECE_SMALL = 64 << 10,
    PIECE = 2 << 20,
    PIECES_SMALL = 64 << 10, /* before the first large piece, small pieces have this much together */
    PIECES_SINGLE = 8 << 20, /* with more than this, pieces are twice as large */
    FINE_MOST = 1 << 10,     /* blocks up to this size begin with runs of RUN_FINE, others with runs of RUN_FIRST */
    RUN_FINE = 512,
    RUN_FIRST = 16 << 10,
    RUN_LARGE = 64 << 10, /* the first runs of a large piece */
    RUN = 512 << 10,
    TOUCH_AHEAD = 64 << 10, /* how much of a run is touched at once; also the share of one thread */
    STAGGER = 192,
    INHERITED_LEAST = 64 << 10,
    INHERITED_MOST = 128 << 10
};

typedef struct arena arena;

/* Memory from the allocator, which arenas share: each takes runs of it. (When every arena had pieces of its own, ten
 * columns of 1 MiB took ten large pages, and their first touch made rows of eight components 1.3 times as slow.) */
typedef struct memory_piece {
    char *memory;
    size_t bytes;
    size_t taken;  /* bytes from the start that belong to runs */
    size_t carved; /* bytes of all runs that were carved into blocks */
    /* asked: after the first touch, was the system asked whether that touched all (of two large pages the first);
     * there: its answer */
    bool asked, there;
    struct memory_piece *next;
} memory_piece;

/* Free blocks of one size. The first one has room for the addresses of others, so that freeing or taking a block
 * touches no block but the first, and none is brought into a cache. */
typedef struct free_block {
    struct free_block *next; /* was freed before the others of this one */
    uint32_t count;
    void *other[];
} free_block;

struct arena {
    char *at, *end;      /* what is left of the run that is being carved; NULL: there is no run */
    char *touched;       /* up to here it is touched; a short run counts as touched to its end */
    memory_piece *piece; /* the piece with this run */
    size_t used_bytes;
    free_block *list[FINE_CLASSES + COARSE_CLASSES];
};

/* ---- the C library as an allocator ---- */

#if defined(__linux__)
static void advise_huge(void *p, size_t bytes)
{
    uintptr_t huge = (uintptr_t)2 << 20, a = ((uintptr_t)p + huge - 1) & ~(huge - 1),
              b = ((uintptr_t)p + bytes) & ~(huge - 1);
    if (b > a) (void)madvise((void *)a, b - a, MADV_HUGEPAGE);
}
#elif !defined(_WIN32)
static void advise_huge(void *p, size_t bytes) { (void)p, (void)bytes; }
#endif

/* The first touch of each page of 4 KiB costs 2.4 us; in one call for many pages it costs 1.8. An older kernel refuses
 * this call, and so does one with larger pages; pages then come one by one. */
void reef__memory_touch(void *p, size_t bytes)
{
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    const uintptr_t page = COARSE, from = (uintptr_t)p & ~(page - 1),
                    end = ((uintptr_t)p + bytes + page - 1) & ~(page - 1);
    if (bytes) (void)madvise((void *)from, end - from, MADV_POPULATE_WRITE);
#else
    (void)p, (void)bytes;
#endif
}

/* Has the system given the last page of this memory already? */
static bool touched_last(char *p, size_t bytes)
{
    bool there = false;
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    unsigned char seen = 0;
    char *last = p + bytes - COARSE;
    there = mincore(last - ((uintptr_t)last & (COARSE - 1)), COARSE, &seen) == 0 && seen & 1;
#else
    (void)p, (void)bytes;
#endif
    return there;
}

static void *standard_take(size_t bytes, size_t align)
{
    if (bytes >= PIECE && align < PIECE) align = PIECE;
#if defined(_WIN32)
    return _aligned_malloc(bytes, align);
#else
    if (align <= _Alignof(max_align_t)) return malloc(bytes);
    if (bytes > SIZE_MAX - align) return NULL;
    void *p = aligned_alloc(align, (bytes + align - 1) & ~(align - 1));
    if (p && bytes >= PIECE) advise_huge(p, bytes);
    return p;
#endif
}

static void standard_give(void *p)
{
#if defined(_WIN32)
    _aligned_free(p);
#else
    free(p);
#endif
}

static void *standard_resize(void *context, void *p, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    if (new_bytes == 0) {
        standard_give(p);
        return NULL;
    }
    void *q = standard_take(new_bytes, align);
    if (q == NULL || old_bytes == 0) return q;
    memcpy(q, p, old_bytes < new_bytes ? old_bytes : new_bytes);
    standard_give(p);
    return q;
}

const reef_allocator reef__memory_standard = {standard_resize, NULL};

/* ---- counted calls ---- */

bool reef__call_memory_take(memory *m, call_memory *s, size_t bytes, size_t align)
{
    const bool fits = bytes <= sizeof s->few && align <= BLOCK_ALIGN;
    s->bytes = fits ? 0 : bytes;
    s->align = align;
    s->at = fits ? s->few : reef__memory_resize(m, MEMORY_OTHER, NULL, 0, bytes, align);
    if (s->at == NULL) s->bytes = 0;
    return s->at != NULL;
}

void reef__call_memory_free(memory *m, call_memory *s)
{
    if (s->bytes) reef__memory_resize(m, MEMORY_OTHER, s->at, s->bytes, 0, s->align);
}

bool reef__size_multiply(size_t a, size_t b, size_t c, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    if (a * b > SIZE_MAX - c) return false;
    *out = a * b + c;
    return true;
}

int reef__numbers_compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

COLD bool reef__memory_make(memory *m, const reef_allocator *allocator)
{
    memset(m, 0, sizeof *m);
    if (allocator->resize) m->allocator = *allocator;
    else m->allocator.resize = standard_resize;
    return mutex_make(&m->lock);
}

static void count(memory *m, enum memory_kind kind, size_t plus, size_t minus)
{
    mutex_lock(&m->lock);
    m->bytes += (uint64_t)plus - minus;
    m->used[kind] += (uint64_t)plus - minus;
    mutex_unlock(&m->lock);
}

void *reef__memory_resize(memory *m, enum memory_kind kind, void *p, size_t old_bytes, size_t new_bytes, size_t align)
{
    if (old_bytes == 0 && new_bytes == 0) return NULL;
    void *q = m->allocator.resize(m->allocator.context, old_bytes ? p : NULL, old_bytes, new_bytes, align);
    if (q == NULL && new_bytes != 0) return NULL;
    count(m, kind, new_bytes, old_bytes);
    return q;
}

void *reef__memory_zeroed(memory *m, enum memory_kind kind, size_t bytes)
{
    void *p = reef__memory_resize(m, kind, NULL, 0, bytes, PLAIN_ALIGN);
    return p ? memset(p, 0, bytes) : NULL;
}

void reef__memory_free(memory *m, enum memory_kind kind, void *p, size_t bytes)
{
    if (p && bytes) reef__memory_resize(m, kind, p, bytes, 0, PLAIN_ALIGN);
}

COLD bool reef__array_room(memory *m, enum memory_kind kind, void *array, uint32_t *room, uint32_t count, size_t size)
{
    const uint32_t was = *room, twice = was > UINT32_MAX / 2 ? count : was * 2, least = twice < 4 ? 4 : twice;
    const uint32_t now = count > least ? count : least;
    size_t bytes;
    void *p;
    if (count <= was) return true;
    memcpy(&p, array, sizeof p);
    p = reef__size_multiply(now, size, 0, &bytes) ? reef__memory_resize(m, kind, p, was * size, bytes, PLAIN_ALIGN)
                                                  : NULL;
    if (p == NULL) return false;
    memset((char *)p + was * size, 0, (now - was) * size);
    memcpy(array, &p, sizeof p);
    *room = now;
    return true;
}

/* ---- arenas; all under the lock ---- */

static size_t rounded(size_t bytes)
{
    size_t step = bytes <= FINE * FINE_CLASSES ? FINE : COARSE;
    return bytes ? (bytes + step - 1) & ~(step - 1) : FINE;
}

static uint32_t class_of(size_t bytes) /* bytes: a rounded size */
{
    if (bytes <= FINE * FINE_CLASSES) return (uint32_t)(bytes / FINE - 1);
    return (uint32_t)(FINE_CLASSES + bytes / COARSE - FINE * FINE_CLASSES / COARSE - 1);
}

/* Small blocks share an arena: otherwise a world of many small tables would leave a part of many pieces empty. */
static uint32_t arena_for(uint32_t which, size_t bytes)
{
    return bytes <= 256 && (which == ARENA_ENTITIES || which >= ARENA_COLUMNS) ? ARENA_SMALL : which;
}

static void *raw_take(memory *m, size_t bytes)
{
    void *p = m->allocator.resize(m->allocator.context, NULL, 0, bytes, BLOCK_ALIGN);
    if (p) m->bytes += bytes;
    return p;
}

INLINE void raw_give(memory *m, void *p, size_t bytes)
{
    m->allocator.resize(m->allocator.context, p, bytes, 0, BLOCK_ALIGN);
    m->bytes -= bytes;
}

static arena *arena_of(memory *m, uint32_t which)
{
    if (m->arenas == NULL) {
        m->arenas = raw_take(m, sizeof(arena *) * ARENA_COUNT);
        if (m->arenas == NULL) return NULL;
        memset(m->arenas, 0, sizeof(arena *) * ARENA_COUNT);
    }
    if (m->arenas[which] == NULL) {
        arena *a = raw_take(m, sizeof *a);
        if (a == NULL) return NULL;
        memset(a, 0, sizeof *a);
        m->arenas[which] = a;
    }
    return m->arenas[which];
}

/* Adds a piece. Small worlds stay small, and large pages get filled: mappings between small pieces and large ones would
 * each get a large page. (Mapping 2 MiB takes a tenth as long as the first touch: from four such pieces on, pieces are
 * twice as large, which takes half as many calls.) */
static memory_piece *piece_add(memory *m, uint32_t group, size_t need)
{
    size_t bytes = PIECE_FIRST;
    while (bytes < need || bytes < m->piece_bytes[group] / 2) bytes *= 2;
    if (bytes > PIECE_SMALL || m->piece_bytes[group] >= PIECES_SMALL)
        bytes = m->piece_bytes[group] < PIECES_SINGLE ? PIECE : 2 * PIECE;
    memory_piece *p = raw_take(m, sizeof *p);
    if (p == NULL) return NULL;
    *p = (memory_piece){raw_take(m, bytes), bytes, 0, 0, false, false, m->pieces[group]};
    if (p->memory == NULL) {
        raw_give(m, p, sizeof *p);
        return NULL;
    }
    m->pieces[group] = p;
    m->piece_bytes[group] += bytes;
    return p;
}

static void block_put(arena *a, char *p, size_t bytes)
{
    free_block **list = &a->list[class_of(bytes)], *f = *list;
    if (f && f->count < (bytes - offsetof(free_block, other)) / sizeof *f->other) {
        f->other[f->count++] = p;
        return;
    }
    *list = (free_block *)(void *)p;
    (*list)->next = f;
    (*list)->count = 0;
}

/* Takes the block that was freed last; there is one. */
static void *block_get(free_block **list)
{
    free_block *f = *list;
    if (f->count) return f->other[--f->count];
    *list = f->next;
    return f;
}

/* Frees a rest as blocks of any sizes, for whoever needs them. */
static void rest_put(arena *a, char *p, size_t bytes)
{
    for (size_t part; bytes; bytes -= part, p += part) {
        part = bytes < FINE * FINE_CLASSES ? bytes : FINE * FINE_CLASSES;
        block_put(a, p, part);
    }
}

/* The distance from `p` to where a run of the arena may begin. */
static size_t stagger(uint32_t which, const char *p) { return (STAGGER * (size_t)which - (uintptr_t)p) & (COARSE - 1); }

static size_t piece_left(const memory_piece *p) { return p->bytes - p->taken; }
static size_t arena_left(const arena *a) { return a->at ? (size_t)(a->end - a->at) : 0; }

/* Keeps the piece with more room first, of the first two. */
static void pieces_turn(memory_piece **pieces)
{
    memory_piece *p = *pieces, *q = p->next;
    if (q == NULL || piece_left(q) <= piece_left(p)) return;
    p->next = q->next;
    q->next = p;
    *pieces = q;
}

/* 0: pieces for rows. 1: pieces for what stays when rows go, which must not keep the pieces of rows from being
 * freed. */
static uint32_t piece_group(uint32_t which)
{
    return which == ARENA_RECORDS || which == ARENA_DIRECTORY || which == ARENA_BITS;
}

/* The arena now carves from `at` to `end` in a piece. */
static void arena_begin(arena *a, memory_piece *p, char *at, char *end, bool ahead)
{
    if (at != a->at) a->touched = at;
    a->at = at;
    a->end = end;
    if (!ahead || end - at < TOUCH_AHEAD || p->there) a->touched = end;
    a->piece = p;
}

/* Takes half of another arena's run, before there is another piece: the other arena may never need it. Not from
 * columns, which are better walked in long runs. (1,000,000 records filled four large pieces but for an eighth. The
 * directory then had the fifth one to itself, whose first touch took a thirtieth of the time for making the entities by
 * one call.) False: no run is long enough. */
static bool arena_share(memory *m, arena *a, uint32_t which, size_t bytes)
{
    const uint32_t group = piece_group(which);
    for (uint32_t i = 0; group && i < ARENA_COUNT; i++) {
        arena *b = piece_group(i) == group ? m->arenas[i] : NULL;
        const size_t share = b && b != a ? arena_left(b) / 2 & ~(size_t)(COARSE - 1) : 0;
        if (share < bytes + COARSE) continue;
        b->end -= share;
        if (b->touched > b->end) b->touched = b->end;
        char *at = b->end + stagger(which, b->end);
        arena_begin(a, b->piece, at, at + (size_t)(b->end + share - at) / bytes * bytes, false);
        return true;
    }
    return false;
}

/* Gives the arena a run for blocks of this size, though at least one block. A run is at most as long as what the arena
 * has already, in a large piece at least RUN_LARGE, and from then on up to four times what the arena has (not before,
 * since small worlds of many types share one piece). It continues the arena's last run if no other run began behind
 * that. The first runs for small blocks are hardly longer than a block and follow each other without a gap, so that the
 * columns of a small world lie side by side. False: there is no memory.
 *
 * (With first runs of 16 KiB, or of 4 KiB at staggered places, each column of a small world had pages of its own. The
 * columns of 100 entities took more than 64 KiB, so that the next piece had 2 MiB.)
 *
 * (The processor's own prefetching ends with a run. On the machine that was measured, with data in the second-level
 * cache, it gives up altogether when a loop comes to a third end: p += v * dt for 20,000 entities, in runs of 64 KiB,
 * took 1.6 times as long as over plain arrays, and now takes 1.1. Runs up to 256 KiB made iter_bit 3 to 5% slower.) */
static bool arena_run(memory *m, arena *a, uint32_t which, size_t bytes)
{
    size_t length = bytes <= FINE_MOST ? RUN_FINE : RUN_FIRST;
    while (length < RUN && length < a->used_bytes / 2) length *= 2;
    const bool ahead = length >= TOUCH_AHEAD; /* only for an arena that has much already */
    const size_t had = arena_left(a);         /* less than a block */
    const uint32_t group = piece_group(which);
    memory_piece *p = a->piece;
    char *at = a->at;
    if (p == NULL || a->end != p->memory + p->taken || piece_left(p) + had < bytes) {
        if (had) rest_put(a, a->at, had), a->piece->carved += had;
        a->at = a->end = NULL;
        p = m->pieces[group];
        if (p == NULL || piece_left(p) < bytes + COARSE) {
            if (arena_share(m, a, which, bytes)) return true;
            p = piece_add(m, group, bytes + COARSE);
        }
        if (p == NULL) return false;
        at = p->memory + p->taken;
    }
    if (p->bytes >= PIECE && length < RUN_LARGE) length = RUN_LARGE;
    if (p->bytes >= PIECE && a->used_bytes >= RUN_LARGE)
        while (length < RUN && length < a->used_bytes * 4) length *= 2;
    if (at != a->at && length >= COARSE) at += stagger(which, at);
    const size_t most = (size_t)(p->memory + p->bytes - at) / bytes, count = length > bytes ? length / bytes : 1;
    arena_begin(a, p, at, at + bytes * (count < most ? count : most), ahead);
    p->taken = (size_t)(a->end - p->memory);
    pieces_turn(&m->pieces[group]);
    return true;
}

/* Touches more of the run. If the first touch brought the whole piece, as with large pages, nothing of the piece is
 * touched ahead any more: asking for what is there cost 2 us. */
static void arena_touch(memory *m, arena *a)
{
    char *from = a->touched;
    a->touched = a->end - from > TOUCH_AHEAD ? from + TOUCH_AHEAD : a->end;
    if (a->touched < a->at) a->touched = a->at;
    memory_fresh *f = m->fresh;
    if (f) {
        if (f->count < MEMORY_PARTS) f->part[f->count++] = (memory_part){from, (size_t)(a->touched - from)};
        return;
    }
    reef__memory_touch(from, (size_t)(a->touched - from));
    if (a->piece->asked) return;
    a->piece->asked = true;
    a->piece->there = touched_last(a->piece->memory, a->piece->bytes < PIECE ? a->piece->bytes : PIECE);
    if (a->piece->there) a->touched = a->end;
}

/* Makes a free block of finished commands into blocks of this arena. That memory was touched before, and the first
 * touch of new memory costs 2.3 us for 4 KiB. False: there is no such block, or too much of it would be left over. */
static bool arena_inherit(memory *m, arena *a, uint32_t which, size_t bytes)
{
    arena *from = m->arenas[ARENA_COMMANDS];
    if (from == NULL || from == a || bytes < COARSE || piece_group(which) != piece_group(ARENA_COMMANDS)) return false;
    for (size_t whole = INHERITED_MOST; whole >= INHERITED_LEAST && whole >= bytes * 4; whole /= 2) {
        free_block **list = &from->list[class_of(whole)];
        if (*list == NULL) continue;
        char *p = block_get(list);
        const size_t start = stagger(which, p), n = (whole - start) / bytes, rest = start + n * bytes;
        rest_put(a, p + rest, whole - rest);
        if (start) block_put(a, p, start);
        for (size_t i = n; i-- > 0;) block_put(a, p + start + i * bytes, bytes);
        return true;
    }
    return false;
}

static void *arena_take(memory *m, uint32_t which, size_t bytes)
{
    arena *a = arena_of(m, which);
    if (a == NULL) return NULL;
    free_block **list = &a->list[class_of(bytes)];
    const bool room = arena_left(a) >= bytes;
    void *p;
    if (*list || (!room && arena_inherit(m, a, which, bytes))) {
        p = block_get(list);
    } else {
        if (!room && !arena_run(m, a, which, bytes)) return NULL;
        p = a->at;
        a->at += bytes;
        a->piece->carved += bytes;
        if (a->at > a->touched) arena_touch(m, a);
    }
    a->used_bytes += bytes;
    return p;
}

/* Takes a block that was freed before, which costs no new memory. NULL: there is none. */
static void *arena_take_freed(memory *m, uint32_t which, size_t bytes)
{
    arena *a = m->arenas[which];
    free_block **list = &a->list[class_of(bytes)];
    if (*list == NULL) return NULL;
    a->used_bytes += bytes;
    return block_get(list);
}

static void arena_give(memory *m, enum memory_kind kind, uint32_t which, void *p, size_t bytes)
{
    arena *a = m->arenas[arena_for(which, bytes)];
    block_put(a, p, bytes);
    a->used_bytes -= bytes;
    m->used[kind] -= bytes;
}

void reef__memory_fresh_begin(memory *m, memory_fresh *f)
{
    f->count = 0;
    mutex_lock(&m->lock);
    if (m->fresh == NULL) m->fresh = f;
    mutex_unlock(&m->lock);
}

void reef__memory_fresh_end(memory *m, memory_fresh *f)
{
    mutex_lock(&m->lock);
    if (m->fresh == f) m->fresh = NULL;
    mutex_unlock(&m->lock);
}

bool reef__memory_arena_ready(memory *m, uint32_t which)
{
    mutex_lock(&m->lock);
    const bool ready = arena_of(m, which) != NULL;
    mutex_unlock(&m->lock);
    return ready;
}

void *reef__memory_block(memory *m, enum memory_kind kind, uint32_t which, size_t bytes, size_t align)
{
    if (bytes > ARENA_MAX || align > BLOCK_ALIGN) {
        size_t a = align > BLOCK_ALIGN ? align : BLOCK_ALIGN;
        return reef__memory_resize(m, kind, NULL, 0, bytes, a);
    }
    bytes = rounded(bytes);
    which = arena_for(which, bytes);
    mutex_lock(&m->lock);
    void *p = arena_take(m, which, bytes);
    if (p) m->used[kind] += bytes;
    mutex_unlock(&m->lock);
    return p;
}

uint32_t reef__memory_blocks(memory *m, enum memory_kind kind, uint32_t which, size_t bytes, size_t align, void **block,
                             uint32_t most)
{
    uint32_t n = 0;
    if (bytes > ARENA_MAX || align > BLOCK_ALIGN) {
        block[0] = reef__memory_block(m, kind, which, bytes, align);
        return block[0] != NULL;
    }
    bytes = rounded(bytes);
    which = arena_for(which, bytes);
    mutex_lock(&m->lock);
    block[0] = arena_take(m, which, bytes);
    while (block[n] && ++n < most) block[n] = arena_take_freed(m, which, bytes);
    m->used[kind] += bytes * n;
    mutex_unlock(&m->lock);
    return n;
}

void reef__memory_blocks_free(memory *m, enum memory_kind kind, const memory_gone *gone, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (gone[i].bytes > ARENA_MAX || gone[i].align > BLOCK_ALIGN)
            reef__memory_block_free(m, kind, gone[i].arena, gone[i].block, gone[i].bytes, gone[i].align);
    mutex_lock(&m->lock);
    for (uint32_t i = count; i-- > 0;) { /* so that the first one is taken again first */
        if (gone[i].bytes > ARENA_MAX || gone[i].align > BLOCK_ALIGN) continue;
#if defined(QUARANTINE)
        if (m->guarded) ASAN_UNPOISON_MEMORY_REGION(gone[i].block, gone[i].bytes);
#endif
        arena_give(m, kind, gone[i].arena, gone[i].block, rounded(gone[i].bytes));
    }
    mutex_unlock(&m->lock);
}

void reef__memory_block_free(memory *m, enum memory_kind kind, uint32_t which, void *p, size_t bytes, size_t align)
{
    if (p == NULL) return;
#if defined(QUARANTINE)
    if (m->guarded) ASAN_UNPOISON_MEMORY_REGION(p, bytes);
#endif
    if (bytes > ARENA_MAX || align > BLOCK_ALIGN) {
        size_t a = align > BLOCK_ALIGN ? align : BLOCK_ALIGN;
        reef__memory_resize(m, kind, p, bytes, 0, a);
        return;
    }
    mutex_lock(&m->lock);
    arena_give(m, kind, which, p, rounded(bytes));
    mutex_unlock(&m->lock);
}

#if defined(QUARANTINE)
COLD bool reef__memory_block_hold(memory *m, enum memory_kind kind, uint32_t which, size_t bytes, size_t align)
{
    if (bytes > ARENA_MAX || align > BLOCK_ALIGN) return false;
    bytes = rounded(bytes);
    mutex_lock(&m->lock);
    m->arenas[arena_for(which, bytes)]->used_bytes -= bytes;
    m->used[kind] -= bytes;
    mutex_unlock(&m->lock);
    return true;
}

COLD void reef__memory_block_release(memory *m, uint32_t which, void *p, size_t bytes)
{
    bytes = rounded(bytes);
    mutex_lock(&m->lock);
    block_put(m->arenas[arena_for(which, bytes)], p, bytes);
    mutex_unlock(&m->lock);
}
#endif

COLD uint64_t reef__memory_spare(memory *m)
{
    mutex_lock(&m->lock);
    uint64_t spare = m->piece_bytes[0] + m->piece_bytes[1];
    for (uint32_t i = 0; m->arenas && i < ARENA_COUNT; i++)
        if (m->arenas[i]) spare -= m->arenas[i]->used_bytes;
    mutex_unlock(&m->lock);
    return spare;
}

static bool piece_holds(const memory_piece *p, const void *block)
{
    return (const char *)block >= p->memory && (const char *)block < p->memory + p->bytes;
}

/* The number of blocks of a list that are inside p; with `unlink` they leave the list. */
static size_t list_count(free_block **list, const memory_piece *p, size_t bytes, bool unlink, arena *a)
{
    size_t n = 0;
    free_block *f = *list;
    if (unlink) *list = NULL;
    for (free_block *next; f; f = next) {
        next = f->next;
        for (uint32_t i = 0, count = f->count; i < count; i++) {
            if (piece_holds(p, f->other[i])) n++;
            else if (unlink) block_put(a, f->other[i], bytes);
        }
        if (piece_holds(p, f)) n++;
        else if (unlink) block_put(a, (char *)f, bytes);
    }
    return n;
}

static size_t arena_free_bytes(arena *a, const memory_piece *p, bool unlink)
{
    size_t sum = 0;
    for (uint32_t c = 0; c < FINE_CLASSES + COARSE_CLASSES; c++) {
        size_t bytes = c < FINE_CLASSES ? (size_t)(c + 1) * FINE
                                        : (size_t)(c - FINE_CLASSES + 1 + FINE * FINE_CLASSES / COARSE) * COARSE;
        if (a->list[c]) sum += bytes * list_count(&a->list[c], p, bytes, unlink, a);
    }
    return sum;
}

/* Bytes of free blocks inside p; with `unlink` they leave their lists. */
static size_t piece_free_bytes(memory *m, const memory_piece *p, bool unlink)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < ARENA_COUNT; i++)
        if (m->arenas[i]) sum += arena_free_bytes(m->arenas[i], p, unlink);
    return sum;
}

/* Ends all runs in the piece. */
static void piece_leave(memory *m, const memory_piece *p)
{
    for (uint32_t i = 0; i < ARENA_COUNT; i++)
        if (m->arenas[i] && m->arenas[i]->piece == p)
            m->arenas[i]->piece = NULL, m->arenas[i]->at = m->arenas[i]->end = NULL;
}

/* Frees pieces without used blocks. It costs O(pieces * free blocks), so it is a call for quiet moments. A block may
 * wait in the lists of another arena than the one that it was carved from (src/storage/relabel.c). */
static void pieces_trim(memory *m, uint32_t group)
{
    for (memory_piece **link = &m->pieces[group]; *link;) {
        memory_piece *p = *link;
        if (piece_free_bytes(m, p, false) != p->carved) {
            link = &p->next;
            continue;
        }
        piece_free_bytes(m, p, true);
        piece_leave(m, p);
        *link = p->next;
        m->piece_bytes[group] -= p->bytes;
        raw_give(m, p->memory, p->bytes);
        raw_give(m, p, sizeof *p);
    }
}

COLD void reef__memory_trim(memory *m)
{
    mutex_lock(&m->lock);
    for (uint32_t group = 0; group < 2; group++) pieces_trim(m, group);
    mutex_unlock(&m->lock);
}

COLD void reef__memory_drop(memory *m)
{
    for (uint32_t i = 0; m->arenas && i < ARENA_COUNT; i++)
        if (m->arenas[i]) raw_give(m, m->arenas[i], sizeof(arena));
    for (uint32_t group = 0; group < 2; group++)
        for (memory_piece *p = m->pieces[group], *next; p; p = next) {
            next = p->next;
            raw_give(m, p->memory, p->bytes);
            raw_give(m, p, sizeof *p);
        }
    if (m->arenas) raw_give(m, m->arenas, sizeof(arena *) * ARENA_COUNT);
    mutex_drop(&m->lock);
}
