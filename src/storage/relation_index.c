/* The index of relations: a B+ tree for each target (src/storage/relation_index.h). See Comer, The Ubiquitous B-Tree
 * (1979).
 *
 * A node lies in 1, 2, 4 ... 64 units of 32 bytes, so that a target with one source costs 32 bytes. Only a leaf that is
 * the root is smaller than 64 units. (With 16 at most, visiting the sources of targets with 100 each, row rel_iter,
 * took 3.5 times as long.) A full node is halved, but a node that is full because
 * sources were appended stays full. A node is freed when it is empty; nodes aren't joined. */
#include "storage/relation_index.h"
#include "storage/cow_pages.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/table.h"

enum {
    NODE_UNIT_BYTES = 32,
    NODE_UNITS_PER_PAGE = 512,
    CLASS_MOST = 6, /* log2 of the units of the largest tree_node */
    UNITS_MOST = 1 << CLASS_MOST,
    BRANCHES_MOST = (NODE_UNIT_BYTES * UNITS_MOST - 8) / 24,
    LEVELS_MOST = 10
};

/* A leaf: the sources, and behind room for `most` of them their places. The first `begin` of both are free, so that
 * what leaves or comes near the front moves little. */
typedef struct tree_node {
    uint16_t count;
    uint8_t class, level; /* level 0: a leaf */
    union {
        uint32_t begin; /* of a leaf */
        uint32_t next;  /* of a free node: the number of the next free one + 1 */
    };
} tree_node;

typedef struct tree_branch { /* of an inner node: what lies below it begins at this place at the earliest */
    uint64_t place;
    reef_entity source;
    uint32_t child, spare;
} tree_branch;

const paged_type reef__pages_heads = {
    sizeof(tree_head) * HEADS_PER_PAGE, ARENA_DIRECTORY, MEMORY_STORES, NULL, false, 0, NULL, NULL};
const paged_type reef__pages_nodes = {
    NODE_UNIT_BYTES * NODE_UNITS_PER_PAGE, ARENA_DIRECTORY, MEMORY_STORES, NULL, true, 0, NULL, NULL};

static uint32_t leaf_most(uint32_t class) { return (((uint32_t)NODE_UNIT_BYTES << class) - 8) / 16; }
static reef_entity *leaf_room(const tree_node *n) { return (reef_entity *)(uintptr_t)(n + 1); }
static reef_entity *leaf_sources(const tree_node *n) { return leaf_room(n) + n->begin; }
static uint64_t *leaf_places(const tree_node *n)
{
    return (uint64_t *)(void *)(leaf_room(n) + leaf_most(n->class)) + n->begin;
}
static tree_branch *branches(const tree_node *n) { return (tree_branch *)(uintptr_t)(n + 1); }

static tree_node *tree_node_at(const value_store *s, uint32_t number)
{
    return (tree_node *)(void *)((char *)s->nodes.page[number / NODE_UNITS_PER_PAGE] +
                                 (size_t)(number % NODE_UNITS_PER_PAGE) * NODE_UNIT_BYTES);
}

/* ---- keys ---- */

typedef struct source_key {
    uint64_t place;
    reef_entity source;
} source_key;

/* Does a come before b? */
static bool key_before(uint64_t place, reef_entity source, source_key b)
{
    if (place != b.place) return place < b.place;
    if (source.index != b.source.index) return source.index < b.source.index;
    return source.generation < b.source.generation;
}

/* The number of sources in a leaf that come before a key. (A branch at each step would be anybody's guess; hardly any
 * sources have the same place.) */
INLINE uint32_t leaf_seek(const tree_node *n, source_key k)
{
    const reef_entity *source = leaf_sources(n);
    const uint64_t *place = leaf_places(n), *low = place;
    for (uint32_t left = n->count, half; left > 1; left -= half) {
        half = left / 2;
        low += low[half - 1] < k.place ? half : 0;
    }
    uint32_t at = (uint32_t)(low - place);
    while (at < n->count && key_before(place[at], source[at], k)) at++;
    return at;
}

/* The branch below which a key belongs: the last one that doesn't begin behind it. */
static uint32_t branch_seek(const tree_node *n, source_key k)
{
    const tree_branch *b = branches(n);
    uint32_t low = 0, high = n->count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        const source_key first = {b[middle].place, b[middle].source};
        if (key_before(k.place, k.source, first)) high = middle;
        else low = middle;
    }
    return low;
}

/* A way from the root to a leaf. */
typedef struct tree_way {
    uint32_t number[LEVELS_MOST];
    uint32_t at[LEVELS_MOST]; /* the branch that was taken; in the leaf: where the key is or belongs */
    uint32_t levels;
} tree_way;

/* Finds the way, and returns its leaf; *at: where the key is or belongs there. */
static tree_node *way_find(const value_store *s, uint32_t root, source_key k, tree_way *x, uint32_t *at)
{
    uint32_t number = root - 1;
    for (x->levels = 0;; x->levels++) {
        tree_node *n = tree_node_at(s, number);
        x->number[x->levels] = number;
        if (n->level == 0) return *at = x->at[x->levels++] = leaf_seek(n, k), n;
        x->at[x->levels] = branch_seek(n, k);
        number = branches(n)[x->at[x->levels]].child;
    }
}

/* ---- memory ---- */

INLINE tree_node *tree_node_own(reef_world *w, value_store *s, uint32_t number)
{
    return page_own(w, &s->nodes, &reef__pages_nodes, number / NODE_UNITS_PER_PAGE) ? tree_node_at(s, number) : NULL;
}

/* Of a node that is there. */
INLINE tree_node *tree_node_mine(reef_world *w, value_store *s, uint32_t number)
{
    const bool ours = paged_owned(&s->nodes, number / NODE_UNITS_PER_PAGE, w->hot.fork_version);
    return LIKELY(ours) ? tree_node_at(s, number) : tree_node_own(w, s, number);
}

INLINE tree_head *tree_head_own(reef_world *w, value_store *s, uint32_t index)
{
    tree_head *page = page_own(w, &s->heads, &reef__pages_heads, index / HEADS_PER_PAGE);
    return page ? page + index % HEADS_PER_PAGE : NULL;
}

static bool tree_node_free(reef_world *w, value_store *s, uint32_t number)
{
    tree_node *n = tree_node_mine(w, s, number);
    if (n == NULL) return false;
    n->next = s->free_nodes[n->class];
    n->count = 0;
    s->free_nodes[n->class] = number + 1;
    return true;
}

/* Makes an empty node. NULL: there is no memory. */
static tree_node *tree_node_make(reef_world *w, value_store *s, uint32_t class, uint32_t level, uint32_t *number)
{
    uint32_t from = class;
    while (from <= CLASS_MOST && s->free_nodes[from] == 0) from++;
    if (from > CLASS_MOST) {
        from = CLASS_MOST;
        *number = s->node_end;
        if (s->node_end > UINT32_MAX - 2 * UNITS_MOST || tree_node_own(w, s, *number) == NULL) return NULL;
        s->node_end += UNITS_MOST;
    } else {
        *number = s->free_nodes[from] - 1;
        if (tree_node_own(w, s, *number) == NULL) return NULL;
        s->free_nodes[from] = tree_node_at(s, *number)->next;
    }
    while (from-- > class) { /* the second half becomes free */
        const uint32_t half = *number + (1u << from);
        *tree_node_at(s, half) = (tree_node){.class = (uint8_t)from, .next = s->free_nodes[from]};
        s->free_nodes[from] = half + 1;
    }
    tree_node *n = tree_node_at(s, *number);
    *n = (tree_node){.class = (uint8_t) class, .level = (uint8_t)level};
    return n;
}

/* The same where one of that class is mostly free. */
INLINE tree_node *tree_node_take(reef_world *w, value_store *s, uint32_t class, uint32_t *number)
{
    if (UNLIKELY(s->free_nodes[class] == 0)) return tree_node_make(w, s, class, 0, number);
    *number = s->free_nodes[class] - 1;
    tree_node *n = tree_node_own(w, s, *number);
    if (n == NULL) return NULL;
    s->free_nodes[class] = n->next;
    *n = (tree_node){.class = (uint8_t) class};
    return n;
}

/* ---- inserting ---- */

/* Moves n sources and their places within a leaf. */
static void leaf_shift(tree_node *n, uint32_t to, uint32_t from, uint32_t count)
{
    if (count == 0) return;
    reef_entity *source = leaf_sources(n);
    uint64_t *place = leaf_places(n);
    memmove(source + to, source + from, count * sizeof *source);
    memmove(place + to, place + from, count * sizeof *place);
}

/* Makes room behind the last source of a leaf that isn't full. */
static NOINLINE void leaf_to_front(tree_node *n)
{
    reef_entity *source = leaf_sources(n);
    uint64_t *place = leaf_places(n);
    memmove(source - n->begin, source, n->count * sizeof *source);
    memmove(place - n->begin, place, n->count * sizeof *place);
    n->begin = 0;
}
INLINE void leaf_settle(tree_node *n)
{
    if (UNLIKELY(n->begin + n->count == leaf_most(n->class))) leaf_to_front(n);
}

/* The side moves that has fewer sources. */
static void leaf_put(tree_node *n, uint32_t at, source_key k)
{
    if (n->begin && at < n->count / 2u) {
        n->begin--;
        leaf_shift(n, 0, 1, at);
    } else {
        leaf_settle(n);
        leaf_shift(n, at + 1, at, n->count - at);
    }
    leaf_sources(n)[at] = k.source;
    leaf_places(n)[at] = k.place;
    n->count++;
}
static void leaf_erase(tree_node *n, uint32_t at)
{
    if (at < n->count / 2u) {
        leaf_shift(n, 1, 0, at);
        n->begin++;
    } else {
        leaf_shift(n, at, at + 1, n->count - at - 1u);
    }
    n->count--;
}

/* Moves the sources from `at` on to the end of another leaf. */
static void leaf_move(tree_node *to, tree_node *from, uint32_t at)
{
    const uint32_t n = from->count - at;
    memcpy(leaf_sources(to) + to->count, leaf_sources(from) + at, n * sizeof(reef_entity));
    memcpy(leaf_places(to) + to->count, leaf_places(from) + at, n * sizeof(uint64_t));
    to->count = (uint16_t)(to->count + n);
    from->count = (uint16_t)at;
}

/* The leaf is full and the root, and not of the largest class: it moves into one of the next class. */
static bool root_grow(reef_world *w, value_store *s, tree_head *h, tree_way *x)
{
    const uint32_t was = h->root - 1;
    uint32_t number;
    tree_node *small = tree_node_own(w, s, was);
    tree_node *n = small ? tree_node_take(w, s, small->class + 1u, &number) : NULL;
    if (n == NULL) return false;
    leaf_move(n, small, 0);
    (void)tree_node_free(w, s, was); /* this world's own already */
    h->root = number + 1;
    x->number[0] = number;
    return true;
}

static void branch_insert(tree_node *n, uint32_t at, tree_branch put)
{
    memmove(branches(n) + at + 1, branches(n) + at, (n->count - at) * sizeof(tree_branch));
    branches(n)[at] = put;
    n->count++;
}

/* Puts a branch behind branch `level` of the way, whose nodes are halved as far as they are full. */
static bool branch_put(reef_world *w, value_store *s, tree_head *h, const tree_way *x, uint32_t level, tree_branch put)
{
    for (;;) {
        uint32_t number;
        if (level == 0) { /* a root above the root */
            const uint32_t below = h->root - 1;
            tree_node *root = tree_node_make(w, s, CLASS_MOST, tree_node_at(s, below)->level + 1u, &number);
            if (root == NULL || root->level >= LEVELS_MOST) return false;
            branches(root)[0] = (tree_branch){.child = below};
            branches(root)[1] = put;
            root->count = 2;
            h->root = number + 1;
            return true;
        }
        tree_node *n = tree_node_own(w, s, x->number[--level]);
        if (n == NULL) return false;
        const uint32_t at = x->at[level] + 1;
        if (n->count == BRANCHES_MOST) {
            tree_node *right = tree_node_make(w, s, CLASS_MOST, n->level, &number);
            if (right == NULL) return false;
            n = tree_node_at(s, x->number[level]);
            const uint32_t keep = at == n->count ? n->count : n->count / 2u;
            right->count = (uint16_t)(n->count - keep);
            memcpy(branches(right), branches(n) + keep, right->count * sizeof(tree_branch));
            n->count = (uint16_t)keep;
            if (at > keep || right->count == 0) branch_insert(right, at - keep, put);
            else branch_insert(n, at, put);
            put = (tree_branch){branches(right)[0].place, branches(right)[0].source, number, 0};
            continue;
        }
        branch_insert(n, at, put);
        return true;
    }
}

static bool index_insert(reef_world *w, value_store *s, reef_entity target, source_key k)
{
    tree_way x;
    uint32_t number, at;
    tree_head *h = tree_head_own(w, s, target.index);
    if (h == NULL) return false;
    if (h->root == 0) {
        if (tree_node_take(w, s, 0, &number) == NULL) return false;
        h->root = number + 1;
    }
    (void)way_find(s, h->root, k, &x, &at);
    tree_node *n = tree_node_own(w, s, x.number[x.levels - 1]);
    if (n == NULL) return false;
    h->count++;
    if (n->count == leaf_most(n->class) && x.levels == 1 && n->class < CLASS_MOST) {
        if (!root_grow(w, s, h, &x)) return false;
        n = tree_node_at(s, x.number[0]);
    }
    if (n->count < leaf_most(n->class)) return leaf_put(n, at, k), true;
    tree_node *right = tree_node_make(w, s, CLASS_MOST, 0, &number);
    if (right == NULL) return false;
    const uint32_t keep = at == n->count ? at : n->count / 2u;
    leaf_move(right, n, keep);
    if (at > keep || right->count == 0) leaf_put(right, at - keep, k);
    else leaf_put(n, at, k);
    const tree_branch put = {leaf_places(right)[0], leaf_sources(right)[0], number, 0};
    return branch_put(w, s, h, &x, x.levels - 1, put);
}

/* Inserts a source behind all others of its target, where the last leaf has room, or is the root and can grow: *place
 * is its place. False: nothing was done. (Row rel_add: finding the last source and then the place to insert took 2.5
 * times as many instructions.) */
static bool index_append(reef_world *w, value_store *s, reef_entity target, reef_entity source, uint64_t *place)
{
    tree_way x;
    tree_head *h = tree_head_own(w, s, target.index);
    if (h == NULL) return false;
    uint32_t number = h->root - 1;
    uint64_t next = (uint64_t)1 << RELATION_FIRST_BITS;
    if (h->root == 0) {
        if (tree_node_take(w, s, 0, &number) == NULL) return false;
        h->root = number + 1;
    } else {
        const tree_node *n = tree_node_at(s, number);
        for (; n->level; n = tree_node_at(s, number)) number = branches(n)[n->count - 1].child;
        if (LIKELY(n->count)) next = leaf_places(n)[n->count - 1] + ((uint64_t)1 << RELATION_STEP_BITS);
        if (next < (uint64_t)1 << RELATION_STEP_BITS) return false; /* there is no place behind */
        if (n->count == leaf_most(n->class)) {
            if (number != h->root - 1 || n->class == CLASS_MOST || !root_grow(w, s, h, &x)) return false;
            number = x.number[0];
        }
    }
    tree_node *own = tree_node_mine(w, s, number);
    if (own == NULL) return false;
    leaf_settle(own);
    leaf_sources(own)[own->count] = source;
    leaf_places(own)[own->count++] = *place = next;
    h->count++;
    return true;
}

/* ---- erasing ---- */

/* The last node of the way is empty: it goes, and so does each one above it that becomes empty. */
static bool tree_nodes_free(reef_world *w, value_store *s, tree_head *h, const tree_way *x)
{
    uint32_t level = x->levels - 1;
    for (;; level--) {
        if (!tree_node_free(w, s, x->number[level])) return false;
        if (level == 0) return h->root = 0, true;
        tree_node *n = tree_node_own(w, s, x->number[level - 1]);
        const uint32_t at = x->at[level - 1];
        if (n == NULL) return false;
        memmove(branches(n) + at, branches(n) + at + 1, (n->count - at - 1u) * sizeof(tree_branch));
        if (--n->count > 0) break;
    }
    for (tree_node *root = tree_node_at(s, h->root - 1); root->level && root->count == 1;
         root = tree_node_at(s, h->root - 1)) {
        const uint32_t child = branches(root)[0].child;
        if (!tree_node_free(w, s, h->root - 1)) return false;
        h->root = child + 1;
    }
    return true;
}

static bool index_erase(reef_world *w, value_store *s, reef_entity target, source_key k)
{
    tree_way x;
    uint32_t at;
    tree_head *h = tree_head_own(w, s, target.index);
    if (h == NULL) return false;
    ASSERT(h->root != 0);
    x.number[0] = h->root - 1;
    x.levels = 1;
    tree_node *n = tree_node_at(s, x.number[0]);
    if (UNLIKELY(n->level != 0)) n = way_find(s, h->root, k, &x, &at);
    else at = leaf_seek(n, k);
    n = tree_node_mine(w, s, x.number[x.levels - 1]);
    if (n == NULL) return false;
    ASSERT(at < n->count && reef_entity_equal(leaf_sources(n)[at], k.source));
    leaf_erase(n, at);
    h->count--;
    return LIKELY(n->count > 0) || tree_nodes_free(w, s, h, &x);
}

/* ---- keeping the index true ---- */

void reef__relation_expect(reef_world *w, value_store *s, reef_entity target, uint32_t n)
{
    uint32_t number, class = 0;
    tree_head *h = tree_head_own(w, s, target.index);
    while (class < CLASS_MOST && leaf_most(class) < n) class ++;
    if (h && h->root == 0 && tree_node_take(w, s, class, &number)) h->root = number + 1;
}

void reef__relation_forget(reef_world *w, value_store *s)
{
    reef__pages_drop(w, &s->heads, &reef__pages_heads);
    reef__pages_drop(w, &s->nodes, &reef__pages_nodes);
    memset(s->free_nodes, 0, sizeof s->free_nodes);
    s->node_end = 0;
    s->unindexed = true;
    s->relation_changes++; /* whoever does this to all values changes them, too */
}

/* Frees all nodes of a tree. */
static bool tree_free(reef_world *w, value_store *s, uint32_t root)
{
    uint32_t number[LEVELS_MOST] = {root}, at[LEVELS_MOST] = {0}, level = 0;
    for (;;) {
        const tree_node *n = tree_node_at(s, number[level]);
        if (n->level && at[level] < n->count) {
            number[level + 1] = branches(n)[at[level]++].child;
            at[++level] = 0;
            continue;
        }
        if (!tree_node_free(w, s, number[level])) return false;
        if (level-- == 0) return true;
    }
}

void reef__relation_end(reef_world *w, value_store *s, const reef_entity *targets, uint32_t n)
{
    if (s->unindexed) return;
    if (s->count == 0) {
        reef__relation_forget(w, s);
        s->unindexed = false;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t root = tree_head_of(s, targets[i].index).root;
        if (root == 0) continue;
        tree_head *h = tree_head_own(w, s, targets[i].index);
        if (h == NULL || !tree_free(w, s, root - 1)) {
            reef__relation_forget(w, s);
            return;
        }
        *h = (tree_head){0, 0};
    }
}

/* Gives places to the values that have none, since a file didn't tell them. */
COLD bool reef__relation_place(reef_world *w, value_store *s)
{
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) {
        if (((const relation_value *)at.value)->place) continue;
        char *first = reef__store_own(w, s->component, at.entity);
        if (first == NULL) return false;
        reef__relation_index_add(w, s, at.entity, first + (size_t)at.number * s->size);
    }
    return true;
}

COLD bool reef__relation_ready(reef_world *w, value_store *s)
{
    if (!s->unindexed) return true;
    s->unindexed = false;
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) {
        const relation_value *v = at.value;
        if (index_insert(w, s, v->target, (source_key){v->place, at.entity})) continue;
        reef__relation_forget(w, s);
        return false;
    }
    return true;
}

bool reef__relations_ready(reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (!reef__relation_ready(w, &w->state.stores[i])) return false;
    return true;
}

/* The last source of a target. False: it has none. */
static bool relation_last(const value_store *s, reef_entity target, source_one *last)
{
    static const reef_entity behind_all = {UINT32_MAX, UINT32_MAX};
    return reef__relation_before(s, target, UINT64_MAX, behind_all, last);
}

/* Gives a relation its place, if it has none, and puts it into the index. */
static NOINLINE void relation_place(reef_world *w, value_store *s, reef_entity source, relation_value *v)
{
    source_one last;
    if (v->place == 0) { /* where there is no index, the last source may be this one, which has no place yet */
        const bool others = relation_last(s, v->target, &last) && last.place != 0;
        v->place = others ? last.place + ((uint64_t)1 << RELATION_STEP_BITS) : (uint64_t)1 << RELATION_FIRST_BITS;
        if (others && v->place < last.place) v->place = UINT64_MAX;
    }
    if (!s->unindexed && !index_insert(w, s, v->target, (source_key){v->place, source})) reef__relation_forget(w, s);
}

void reef__relation_index_add(reef_world *w, value_store *s, reef_entity source, void *value)
{
    relation_value *v = value;
    s->relation_changes++;
    if (UNLIKELY(!(w->slow & SLOW_RELATED))) w->slow |= SLOW_RELATED, reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    if (v->place != 0 || s->unindexed || !index_append(w, s, v->target, source, &v->place))
        relation_place(w, s, source, v);
    if (scopes_names(w, s)) reef__name_arrives(w, source);
}

void reef__relation_index_remove(reef_world *w, value_store *s, reef_entity source, const void *value)
{
    const relation_value *v = value;
    s->relation_changes++;
    if (scopes_names(w, s)) reef__name_leaves(w, source);
    if (relation_is_doomed(w, v)) return;
    if (!s->unindexed && !index_erase(w, s, v->target, (source_key){v->place, source})) reef__relation_forget(w, s);
}

/* ---- reading ---- */

/* Walks all values of a store without an index, and keeps of the sources of the target that lie behind `after` (or
 * before it, with `last`) the one that is nearest. Returns how many there are. */
static COLD uint64_t values_walk(const value_store *s, reef_entity target, const source_key *after,
                                 const source_key *before, bool last, source_one *found)
{
    uint64_t n = 0;
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) {
        const relation_value *v = at.value;
        const source_key k = {v->place, at.entity};
        if (!reef_entity_equal(v->target, target)) continue;
        if (after && !key_before(after->place, after->source, k)) continue;
        if (before && !key_before(k.place, k.source, *before)) continue;
        if (found && (n == 0 || key_before(found->place, found->source, k) == last))
            *found = (source_one){k.source, k.place};
        n++;
    }
    return n;
}

const relation_value *reef__relations_of(const value_store *s, reef_entity source, uint32_t *n)
{
    const void *first = reef_store_find(s, source);
    *n = first == NULL ? 0 : s->multi ? reef__multi_values(s, source) : 1;
    return first;
}

const relation_value *reef__relation_find(const value_store *s, reef_entity source, reef_entity target,
                                          uint32_t *number)
{
    uint32_t n;
    const relation_value *first = reef__relations_of(s, source, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!reef_entity_equal(relation_nth(s, first, i)->target, target)) continue;
        if (number) *number = i;
        return relation_nth(s, first, i);
    }
    return NULL;
}

uint64_t reef__relation_sources(const value_store *s, reef_entity target)
{
    return s->unindexed ? values_walk(s, target, NULL, NULL, false, NULL) : tree_head_of(s, target.index).count;
}

bool reef__relation_after(const value_store *s, reef_entity target, uint64_t place, reef_entity after, source_one *one,
                          source_run *run)
{
    const source_key k = {place, after};
    if (s->unindexed) {
        *run = (source_run){&one->source, &one->place, 1};
        return values_walk(s, target, &k, NULL, false, one) != 0;
    }
    const tree_head h = tree_head_of(s, target.index);
    tree_way x;
    uint32_t at;
    if (h.root == 0) return false;
    const tree_node *n = tree_node_at(s, h.root - 1);
    if (place == 0 && n->level == 0) { /* all of a small tree */
        *run = (source_run){leaf_sources(n), leaf_places(n), n->count};
        return n->count != 0;
    }
    n = way_find(s, h.root, k, &x, &at);
    if (at < n->count && leaf_places(n)[at] == place && reef_entity_equal(leaf_sources(n)[at], after)) at++;
    if (at == n->count) { /* the next leaf: up to where a branch follows, and down its first branches */
        uint32_t level = x.levels - 1;
        while (level > 0 && x.at[level - 1] + 1 == tree_node_at(s, x.number[level - 1])->count) level--;
        if (level == 0) return false;
        uint32_t number = branches(tree_node_at(s, x.number[level - 1]))[x.at[level - 1] + 1].child;
        while (tree_node_at(s, number)->level) number = branches(tree_node_at(s, number))[0].child;
        n = tree_node_at(s, number);
        at = 0;
    }
    *run = (source_run){leaf_sources(n) + at, leaf_places(n) + at, n->count - at};
    return true;
}

bool reef__relation_before(const value_store *s, reef_entity target, uint64_t place, reef_entity source,
                           source_one *before)
{
    const source_key k = {place, source};
    if (s->unindexed) return values_walk(s, target, NULL, &k, true, before) != 0;
    const tree_head h = tree_head_of(s, target.index);
    tree_way x;
    uint32_t at;
    if (h.root == 0) return false;
    const tree_node *n = way_find(s, h.root, k, &x, &at);
    if (at == 0) { /* the leaf before */
        uint32_t level = x.levels - 1;
        while (level > 0 && x.at[level - 1] == 0) level--;
        if (level == 0) return false;
        uint32_t number = branches(tree_node_at(s, x.number[level - 1]))[x.at[level - 1] - 1].child;
        for (n = tree_node_at(s, number); n->level; n = tree_node_at(s, number))
            number = branches(n)[n->count - 1].child;
        at = n->count;
    }
    *before = (source_one){leaf_sources(n)[at - 1], leaf_places(n)[at - 1]};
    return true;
}

/* ---- validation ---- */

/* Does the index lead from the value's target to its source? */
static bool index_has(const value_store *s, const relation_value *v, reef_entity source)
{
    const tree_head h = tree_head_of(s, v->target.index);
    tree_way x;
    uint32_t k;
    if (h.root == 0) return false;
    const tree_node *n = way_find(s, h.root, (source_key){v->place, source}, &x, &k);
    return k < n->count && leaf_places(n)[k] == v->place && reef_entity_equal(leaf_sources(n)[k], source);
}

/* Follows each way up to an entity that was on another one before. Of a type with several targets ways aren't
 * followed. */
COLD reef_status reef__relation_circle(const reef_world *w, const value_store *s, reef_entity *in)
{
    enum { TREE = REEF_EXCLUSIVE | REEF_ACYCLIC, ON_THIS_WAY = 1, DONE };
    memory *m = &w->family->memory;
    const size_t bytes = w->hot.index_count;
    if (s->count == 0 || (type_known(s->component)->relation & TREE) != TREE) return REEF_OK;
    uint8_t *visited = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    reef_status status = visited ? REEF_OK : REEF_NO_MEMORY;
    for (store_place at = {.page = 0}; status == REEF_OK && reef__store_next(s, &at);) {
        const relation_value *v;
        for (reef_entity e = at.entity; visited[e.index] == 0 && (v = reef_store_find(s, e)) != NULL; e = v->target) {
            visited[e.index] = ON_THIS_WAY;
            *in = e;
            if (visited[v->target.index] == ON_THIS_WAY) status = REEF_CYCLE;
        }
        for (reef_entity e = at.entity; visited[e.index] == ON_THIS_WAY && (v = reef_store_find(s, e)) != NULL;
             e = v->target)
            visited[e.index] = DONE;
    }
    reef__memory_free(m, MEMORY_OTHER, visited, visited ? bytes : 0);
    return status;
}

const char *reef__relation_wrong(const reef_world *w, const value_store *s, uint64_t *number)
{
    reef_entity in;
    uint64_t indexed = 0, values = 0;
    for (uint32_t page = 0; page < s->heads.count; page++)
        for (uint32_t i = 0; s->heads.page[page] && i < HEADS_PER_PAGE; i++)
            indexed += ((const tree_head *)s->heads.page[page])[i].count;
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) {
        const relation_value *v = at.value;
        *number = at.entity.index;
        values++;
        if (!reef_is_alive(w, v->target)) return "a relation to an entity that isn't alive, of entity";
        if (v->place == 0) return "a relation without a place, of entity";
        if (!s->unindexed && !index_has(s, v, at.entity)) return "a relation that isn't found by its target, of entity";
    }
    if (reef__relation_circle(w, s, &in) == REEF_CYCLE) {
        *number = in.index;
        return "a relation that leads round in a circle, of entity";
    }
    *number = indexed;
    return s->unindexed || indexed == values ? NULL : "a wrong number of sources in the index,";
}
