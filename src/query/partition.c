/* A loop in parts, for the caller's own threads.
 *
 * Everything that may fail, or that two parts would write, happens when the split begins: the columns that the loop
 * writes become this world's own and are marked, chunk by chunk. Invariant: after that, a part reads the world and
 * writes only the blocks that it hands out. */
#include "query/partition.h"
#include "storage/error.h"
#include "query/variables.h"
#include "query/block.h"
#include "query/chunk_cursor.h"
#include "query/iterate.h"
#include "query/match_cache.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "reef/slices.h"

struct reef_slices {
    reef_block whole; /* the loop that is open meanwhile */
    uint32_t count;
    split_place begin[]; /* where each part begins, and the end */
};

static size_t split_bytes(uint32_t count) { return sizeof(reef_slices) + (count + 1) * sizeof(split_place); }

/* Walks everything once: what the loop writes in chunks with matching rows becomes this world's own. Each part begins
 * at the first chunk behind its share. */
static bool split_walk(reef_slices *s, const query *q)
{
    reef_block b = s->whole;
    b.loop.part = true; /* a failure ends this copy, not the loop */
    const uint64_t all = query_rows(q);
    uint64_t passed = 0;
    uint32_t number = 0;
    while (b.loop.left != 0 && reef__walk_step(&b)) {
        const match *m = match_now(&b);
        for (; number < s->count && passed >= all / s->count * number + all % s->count * number / s->count; number++)
            s->begin[number] = (split_place){m, b.loop.unit};
        passed += b.count;
        b.loop.mask = NULL;
        if (m->look) {
            const look l = block_look(&b);
            if (!reef__look_rows(&l, b.loop.mask_words, 0, BIT_WORDS)) continue;
            b.loop.mask = b.loop.mask_words;
        }
        if (!reef__block_own(&b)) return false;
    }
    for (; number <= s->count; number++) s->begin[number] = (split_place){b.loop.end, 0};
    return true;
}

/* Would marks mislead the parts? All blocks are marked before a part looks at rows; a term inside a group that asks
 * whether a column changed, which the loop writes, would take these marks for changes. */
static bool marks_mislead(const query *q)
{
    bool mislead = false;
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const term_facts *f = &q->facts[i];
        mislead |= t->op == REEF_HAS && t->since != REEF_ALWAYS && t->access != REEF_IN && !f->filter && !f->top;
    }
    return mislead;
}

COLD reef_slices *reef_slices_begin(reef_world *w, reef_query which, const reef_loop *loop, uint32_t count)
{
    static const char op[] = "reef_slices_begin";
    const reef_component none = {0};
    const reef_entity null = {0, 0};
    static const reef_loop plain;
    reef_status status = REEF_OK;
    if (!WORLD_GIVEN(w)) return NULL;
    if (loop == NULL) loop = &plain;
    query *q = query_of(w, which, &status);
    if (q == NULL) return reef__failure(w, status, op, none, null, 0), NULL;
    if (count == 0 || count > REEF_SLICES_MAX || loop->offset || loop->limit || loop->grouped || loop->deferred ||
        q->ranking || marks_mislead(q) || (q->plan && q->plan->bindings))
        return misuse_refuse(w, op,
                             "1 to REEF_SLICES_MAX slices, of a loop without order, limits, groups, .deferred and "
                             "variables"),
               NULL;
    reef_slices *s = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, split_bytes(count));
    if (s == NULL) return reef__failure(w, REEF_NO_MEMORY, op, none, null, count), NULL;
    s->count = count;
    s->whole = reef_begin_loop(w, which, loop);
    if (s->whole.loop.open && q->cut && q->open == 1) reef__joins_prepare(q, w->hot.version - VERSION_STEP);
    if (s->whole.loop.open && split_walk(s, q)) return s;
    if (s->whole.loop.open) {
        reef_end(&s->whole);
        reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, null, 0);
    }
    reef__memory_free(&w->family->memory, MEMORY_OTHER, s, split_bytes(count));
    return NULL;
}

/* Sets where a part begins and ends. */
static void part_open(reef_block *b, const split_place *from, const split_place *to)
{
    b->loop.match = from->match;
    b->loop.walk_unit = from->unit;
    b->loop.end = to->match;
    b->loop.end_unit = to->unit;
    if (from->match == to->match && from->unit == to->unit) b->loop.left = 0;
    /* the match in front of it, since the first step goes to the next one */
    else if (from->unit == 0) b->loop.match = (const char *)from->match - b->loop.query->head.match_bytes;
    /* the part ends at a chunk, perhaps of the table that it begins in */
    else if (to->unit) b->loop.end = reef_match_after(&b->loop.query->head, to->match, 1);
}

void reef__part_begin(reef_block *b, reef_world *w, query *q, const split_place *from, const split_place *to)
{
    memset(b, 0, sizeof *b);
    b->world = w;
    b->loop.part = true;
    if (q == NULL) return;
    b->loop.query = q;
    b->loop.head = &q->head;
    b->loop.open = true;
    reef__walk_open(b, q);
    if (q->plan && q->plan->bindings) {
        b->loop.bound = q->plan->bindings->own;
        b->loop.bound->unit = 0;
    }
    part_open(b, from, to);
}

reef_block reef_slice(reef_slices *s, uint32_t number)
{
    if (s == NULL || number >= s->count) return reef__block_none(s ? s->whole.world : NULL);
    reef_block b = s->whole;
    b.loop.part = true;
    part_open(&b, &s->begin[number], &s->begin[number + 1]);
    return b;
}

void reef_slices_end(reef_slices *s)
{
    if (s == NULL) return;
    reef_world *w = s->whole.world;
    reef_end(&s->whole);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, s, split_bytes(s->count));
}
