#include "storage/cow_pages.h"

/* A node. Behind it lie its page pointers and their versions. All fields are guarded by the lock of the family, except
 * those that only its single holder reads. */
struct reef_node {
    struct reef_node *parent, *child, *next, *previous; /* next, previous: siblings */
    uint64_t base;                                      /* pages with a newer version belong to this node */
    uint32_t holders;                                   /* worlds and snapshots that look at this very node */
    uint32_t kept; /* how many of these are snapshots, as far as reef__paged_keep was told */
    uint32_t count, capacity;
    uint32_t blanks; /* slots that show the type's blank page */
};

static size_t node_bytes(uint32_t capacity)
{
    return sizeof(reef_node) + (size_t)capacity * (sizeof(void *) + sizeof(uint64_t));
}
static uint64_t *node_versions(reef_node *n) { return (uint64_t *)(void *)(n + 1); }
static void **node_pages(reef_node *n) { return (void **)(void *)(node_versions(n) + n->capacity); }

uint64_t reef__paged_base(const reef_paged *p)
{
    const reef_node *n = p->node;
    return n->holders == 1 && n->child == NULL ? n->base : UINT64_MAX;
}

/* The node from which p's own was copied, if only snapshots see that node; otherwise NULL. */
static reef_node *node_past(const reef_paged *p)
{
    const reef_node *n = p->node;
    reef_node *past = n->parent;
    return n->holders == 1 && !n->child && !n->next && !n->previous && past && past->kept == past->holders ? past
                                                                                                           : NULL;
}

bool reef__paged_has_past(const reef_paged *p) { return node_past(p) != NULL; }

void *reef__paged_past(const reef_paged *p, uint32_t i, uint64_t version)
{
    reef_node *past = node_past(p);
    return past && i < past->count && version > past->base && version <= p->node->base ? node_pages(past)[i] : NULL;
}

static void bind(reef_paged *p, reef_node *n)
{
    p->node = n;
    p->page = n ? node_pages(n) : NULL;
    p->version = n ? node_versions(n) : NULL;
    p->count = n ? n->count : 0;
}

static void link_child(reef_node *parent, reef_node *n)
{
    n->parent = parent;
    n->previous = NULL;
    n->next = parent ? parent->child : NULL;
    if (n->next) n->next->previous = n;
    if (parent) parent->child = n;
}

static void unlink_child(reef_node *n)
{
    if (n->next) n->next->previous = n->previous;
    if (n->previous) n->previous->next = n->next;
    else if (n->parent) n->parent->child = n->next;
}

static size_t page_align(const paged_owner *o) { return o->type->align ? o->type->align : BLOCK_ALIGN; }

static void page_free(const paged_owner *o, void *page)
{
    reef__memory_block_free(o->memory, o->type->kind, o->type->arena, page, o->type->page_bytes, page_align(o));
}

static void node_free(const paged_owner *o, reef_node *n)
{
    reef__memory_free(o->memory, o->type->kind, n, node_bytes(n->capacity));
}

/* A copy of n (or an empty node) with room for `capacity` pages; it isn't linked yet. */
static reef_node *node_copy(const paged_owner *o, reef_node *n, uint32_t capacity)
{
    reef_node *c = reef__memory_resize(o->memory, o->type->kind, NULL, 0, node_bytes(capacity), PLAIN_ALIGN);
    if (c == NULL) return NULL;
    memset(c, 0, sizeof *c);
    c->capacity = capacity;
    c->holders = 1;
    c->count = n ? n->count : 0;
    c->blanks = n ? n->blanks : 0;
    if (c->count) {
        memcpy(node_versions(c), node_versions(n), c->count * sizeof(uint64_t));
        memcpy(node_pages(c), node_pages(n), c->count * sizeof(void *));
    }
    return c;
}

/* Frees what n owns and `kept`, the node that lives on, doesn't have. */
static void node_release(const paged_owner *o, reef_node *n, reef_node *kept)
{
    void **page = node_pages(n);
    for (uint32_t i = 0; i < n->count; i++) {
        if (page[i] == NULL || page[i] == o->type->blank || node_versions(n)[i] <= n->base) continue;
        void *other = kept && i < kept->count ? node_pages(kept)[i] : NULL;
        if (other == page[i]) continue;
        const bool waits = o->type->release && o->type->release(o->context, page[i], other, n->base, i);
        if (!waits) page_free(o, page[i]);
    }
}

/* Removes nodes that nobody looks at, or gives what they own to their only child. */
static void node_free_unused(const paged_owner *o, reef_node *n)
{
    while (n && n->holders == 0) {
        reef_node *parent = n->parent, *child = n->child;
        if (child && child->next) return; /* two branches still share it */
        node_release(o, n, child);
        unlink_child(n);
        if (child) {
            child->base = n->base;
            link_child(parent, child);
            parent = NULL;
        }
        node_free(o, n);
        n = parent;
    }
}

/* Makes the node the holder's own, with room for `capacity` pages. Under the lock. */
static bool node_own(reef_paged *p, const paged_owner *o, uint32_t capacity, uint64_t fork_version)
{
    reef_node *n = p->node;
    bool alone = n && n->holders == 1 && n->child == NULL;
    if (alone && n->parent == NULL) p->shared = 0; /* the others have left */
    if (alone && capacity <= n->capacity) return true;
    if (n && capacity < n->capacity) capacity = n->capacity;
    reef_node *c = node_copy(o, n, capacity);
    if (c == NULL) return false;
    if (n == NULL) {
        c->base = 0;
    } else if (alone) {
        c->base = n->base;
        link_child(n->parent, c);
        unlink_child(n);
        node_free(o, n);
    } else {
        c->base = fork_version;
        link_child(n, c);
        n->holders--;
        node_free_unused(o, n);
    }
    bind(p, c);
    return true;
}

bool reef__paged_grow(reef_paged *p, const paged_owner *o, uint32_t count, uint64_t fork_version)
{
    if (count <= p->count) return true;
    uint32_t capacity = p->node ? p->node->capacity : 0;
    if (count > capacity) capacity = capacity * 2 > count ? capacity * 2 : count < 4 ? 4 : count;
    mutex_lock(o->lock);
    bool ok = node_own(p, o, capacity, fork_version);
    if (ok) {
        for (uint32_t i = p->count; i < count; i++) p->page[i] = NULL, p->version[i] = UINT64_MAX;
        p->node->count = p->count = count;
    }
    mutex_unlock(o->lock);
    return ok;
}

/* Makes a page of its own for slot i, with the content of the shared page. */
static void *page_copy(reef_paged *p, const paged_owner *o, uint32_t i)
{
    void *page = reef__memory_block(o->memory, o->type->kind, o->type->arena, o->type->page_bytes, page_align(o));
    if (page == NULL) return NULL;
    if (p->page[i] && o->type->copy) {
        if (o->type->copy(o->context, page, p->page[i], i)) return page;
        page_free(o, page);
        return NULL;
    }
    if (p->page[i]) memcpy(page, p->page[i], o->type->page_bytes);
    else if (!o->type->raw) memset(page, 0, o->type->page_bytes);
    return page;
}

void *reef__paged_own(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version)
{
    ASSERT(i < p->count);
    const bool blank = p->page[i] && p->page[i] == o->type->blank;
    if (p->page[i] && !blank && paged_owned(p, i, fork_version)) return p->page[i];
    mutex_lock(o->lock);
    void *page = NULL;
    if (node_own(p, o, p->count, fork_version)) {
        page = p->page[i];
        if (page == NULL || blank || p->version[i] <= p->node->base) page = page_copy(p, o, i);
    }
    if (page) {
        if (blank) p->node->blanks--;
        else if (p->shared && p->version[i] <= fork_version) p->shared--;
        p->page[i] = page;
        p->version[i] = version;
    }
    mutex_unlock(o->lock);
    return page;
}

COLD bool reef__paged_blank(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version)
{
    ASSERT(i < p->count && o->type->blank && (p->page[i] == NULL || p->page[i] == o->type->blank));
    mutex_lock(o->lock);
    const bool ok = node_own(p, o, p->count, fork_version);
    if (ok) {
        p->node->blanks += p->page[i] == NULL;
        p->page[i] = (void *)(uintptr_t)o->type->blank;
        p->version[i] = version;
    }
    mutex_unlock(o->lock);
    return ok;
}

COLD bool reef__paged_clear(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t fork_version)
{
    if (i >= p->count || p->page[i] == NULL) return true;
    mutex_lock(o->lock);
    bool ok = node_own(p, o, p->count, fork_version);
    if (ok) {
        if (p->page[i] == o->type->blank) p->node->blanks--;
        else if (p->version[i] > p->node->base) page_free(o, p->page[i]);
        p->page[i] = NULL;
    }
    mutex_unlock(o->lock);
    return ok;
}

reef_paged reef__paged_share(reef_paged *p)
{
    if (p->node == NULL) return *p;
    p->node->holders++;
    const uint32_t shared = p->count - p->node->blanks; /* nobody has to copy a blank page before a write */
    /* the page of a snapshot already is; several threads may share it */
    if (p->shared != shared) p->shared = shared;
    return *p;
}

void reef__paged_keep(const reef_paged *p, const paged_owner *o, bool kept)
{
    if (p->node == NULL) return;
    mutex_lock(o->lock);
    p->node->kept += kept ? 1u : 0u - 1u;
    mutex_unlock(o->lock);
}

void reef__paged_leave(reef_paged *p, const paged_owner *o)
{
    if (p->node) {
        p->node->holders--;
        node_free_unused(o, p->node);
    }
    memset(p, 0, sizeof *p);
}

void reef__paged_drop(reef_paged *p, const paged_owner *o)
{
    mutex_lock(o->lock);
    reef__paged_leave(p, o);
    mutex_unlock(o->lock);
}
