/* The copy-on-write paged container. All state of a world, except the blocks of columns, lies in such containers, and
 * the blocks hang from one of them. A snapshot or fork shares a container by taking one reference, whatever its size.
 *
 *      world A ──► node D' (page table, versions) ──parent──► node D ◄── snapshot, or world B
 *                    │  │  │                                 │  │  │
 *                    p0 p1'p2                                p0 p1 p2          A wrote p1' after the fork
 *
 * A *node* is a table of pages with the version of each page's last write. It owns exactly the pages whose version is
 * newer than its `base`; older pages belong to an ancestor. The first write after a fork copies the node (page pointers
 * and versions: two memcpy, no counting of pages), and the first write to a page copies that page. Nodes form a tree. A
 * node without holders and with a single child is merged into the child: pages that the child replaced are freed, and
 * the child becomes the owner of the others when its base is lowered. So pages need no count of holders and no header.
 * (Counting each block made the first write after a fork of 1,000,000 entities cost 26 us.)
 *
 * `reef_paged` (reef/detail/layout.h) is what a holder sees of its node; page and version point into the node. */
#ifndef REEF_STORAGE_COW_PAGES_H
#define REEF_STORAGE_COW_PAGES_H

#include "base/memory.h"
#include "reef/detail/layout.h"

struct paged_type;

/* Called when a node dies or is merged: it releases what `page` refers to, but not what `kept` refers to as well (the
 * same page in the node that lives on, or NULL). Only contents newer than `base` belong to the dying node. True: the
 * page itself must not be freed yet (src/storage/quarantine.h). */
typedef bool (*paged_release)(void *context, const void *page, const void *kept, uint64_t base, size_t index);

/* Copies the content of page `index` to another page, under the lock. False: it can't be copied, and `to` is raw
 * memory. */
typedef bool (*paged_copy)(void *context, void *to, const void *from, size_t index);

typedef struct paged_type {
    size_t page_bytes;
    uint32_t arena;
    enum memory_kind kind;
    paged_release release; /* NULL: the contents refer to nothing */
    bool raw;              /* new pages needn't be cleared */
    uint16_t align;        /* alignment of pages; 0: BLOCK_ALIGN */
    paged_copy copy;       /* NULL: memcpy */
    /* A page of constants that any number of slots may show (reef__paged_blank) until somebody writes them. NULL: this
     * type has none. */
    const void *blank;
} paged_type;

typedef struct reef_node reef_node;

/* What all calls on one container share; `lock` is the lock of the family. In all calls `version` is the world's, which
 * is newer than fork_version, and fork_version isn't older than anything that was written before the last share. */
typedef struct paged_owner {
    memory *memory;
    mutex *lock;
    const paged_type *type;
    void *context; /* for `release` and `copy` */
} paged_owner;

/* {0} is an empty container. `count` may grow. Page i is NULL until somebody writes it. */
/* Makes at least `count` slots; new ones are NULL. False: there is no memory. */
bool reef__paged_grow(reef_paged *p, const paged_owner *o, uint32_t count, uint64_t fork_version);
/* Page i for writing. It is made and cleared if it is NULL, and copied if it is shared. NULL: there is no memory, and
 * nothing changed. */
void *reef__paged_own(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version);
/* Slot i, which is NULL or blank already, shows the type's blank page: it takes no memory, nobody frees it, and
 * reef__paged_own makes a copy of it. False: there is no memory to own the node, and nothing changed. */
bool reef__paged_blank(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version);
/* Frees page i, owned or not, and leaves NULL there. False: there is no memory to own the node. */
bool reef__paged_clear(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t fork_version);
/* Makes a second holder of the same pages, under the lock. It can't fail. Both holders must raise fork_version above
 * every version written so far. */
reef_paged reef__paged_share(reef_paged *p);
/* A holder leaves; *p becomes {0}. reef__paged_leave is called under the lock. */
void reef__paged_drop(reef_paged *p, const paged_owner *o);
void reef__paged_leave(reef_paged *p, const paged_owner *o);
/* Says that the holder is a snapshot, or that it no longer is one (before it leaves). A snapshot looks into its pages
 * only under the lock. */
void reef__paged_keep(const reef_paged *p, const paged_owner *o, bool kept);
/* The *past* of a node is the node that it was copied from, while nothing else comes from that one and all its holders
 * are snapshots. What snapshots see may be moved to other memory. reef__paged_has_past: is there a past?
 * reef__paged_past: page i of the past, if what was written to it at `version` belongs to the past and not to the
 * holder; otherwise NULL. Both under the lock. */
bool reef__paged_has_past(const reef_paged *p);
void *reef__paged_past(const reef_paged *p, uint32_t i, uint64_t version);
/* Contents newer than this version belong to the holder alone. While others hold its node, or a child of it, no
 * contents do. Under the lock. */
uint64_t reef__paged_base(const reef_paged *p);

/* Does this world alone hold page i? (The fast path of reef__paged_own.) Don't ask for a page that may be blank. */
INLINE bool paged_owned(const reef_paged *p, uint32_t i, uint64_t fork_version)
{
    return p->shared == 0 || p->version[i] > fork_version;
}
/* Page i, if it is there and may be written: this world alone holds it. NULL: reef__paged_own makes it so. */
INLINE void *page_ours(const reef_paged *p, uint32_t i, uint64_t fork_version)
{
    return i < p->count && p->page[i] && paged_owned(p, i, fork_version) ? p->page[i] : NULL;
}

#endif
