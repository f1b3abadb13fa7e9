/* The copy-on-write paged container: all state of a world but the columns' blocks lies in such containers, and those
 * hang from one of them. A snapshot or fork shares a container by taking one reference, whatever its size.
 *
 *      world A ──► node D' (page table, versions) ──parent──► node D ◄── snapshot, or world B
 *                    │  │  │                                 │  │  │
 *                    p0 p1'p2                                p0 p1 p2          p1' was written by A after the fork
 *
 * A *node* is a table of pages with the version of each page's last write. It owns exactly the pages whose version is
 * newer than its `base`; older ones belong to an ancestor. The first write after a fork copies the node (page
 * pointers and versions: two memcpy, no counting of pages), the first write to a page copies that page. Nodes form a
 * tree; a node without holders and with a single child is merged into the child: pages that the child replaced are
 * freed, the rest change their owner by lowering the child's base. So there is no count a page, and pages have no
 * header. (Counting each block made the first write after a fork of 1,000,000 entities cost 26 us.)
 *
 * `reef_paged` (reef/detail/layout.h) is the holder's view of its node; page and version point into it. */
#ifndef REEF_STORAGE_COW_PAGES_H
#define REEF_STORAGE_COW_PAGES_H

#include "base/memory.h"
#include "base/platform.h"
#include "reef/detail/layout.h"

struct paged_type;

/* Called when a node dies or is merged: release what `page` refers to, but not what `kept` (the same page in the
 * node that lives on, or NULL) refers to as well. Only contents newer than `base` belong to the dying node. True:
 * the page itself isn't free yet (src/storage/quarantine.h). */
typedef bool (*paged_release)(void *context, const void *page, const void *kept, uint64_t base, size_t index);

/* The content of page `index` for another page, under the lock. False: it can't be copied; `to` is raw memory. */
typedef bool (*paged_copy)(void *context, void *to, const void *from, size_t index);

typedef struct paged_type {
    size_t page_bytes;
    uint32_t arena;
    enum memory_kind kind;
    paged_release release; /* NULL: contents refer to nothing */
    bool raw;              /* new pages needn't be cleared */
    uint16_t align;        /* of pages; 0: BLOCK_ALIGN */
    paged_copy copy;       /* NULL: memcpy */
    /* a constant page that stands in for all that hold the same: nobody owns it. NULL: there is none */
    const void *common;
} paged_type;

typedef struct reef_node reef_node;

/* In all calls: version is the world's, which is newer than fork_version; fork_version is not older than anything
 * written before the last share. What all calls of one container share; `lock` is the family's. */
typedef struct paged_owner {
    memory *memory;
    mutex *lock;
    const paged_type *type;
    void *context; /* for release */
} paged_owner;

/* {0} is an empty container. count may grow; page i may be NULL (never touched). */
/* at least count slots, new ones NULL */
bool reef__paged_grow(reef_paged *p, const paged_owner *o, uint32_t count, uint64_t fork_version);
/* Page i for writing: made (cleared) when it is NULL, copied when it is shared. NULL: no memory, nothing changed. */
void *reef__paged_own(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version);
/* Page i, which is NULL, becomes the common one: readers find it, and reef__paged_own copies it. False: no memory,
 * nothing changed. */
bool reef__paged_lend(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t version, uint64_t fork_version);
/* Frees page i (owned or not) and leaves NULL there. False: no memory to own the node. */
bool reef__paged_clear(reef_paged *p, const paged_owner *o, uint32_t i, uint64_t fork_version);
/* A second holder of the same pages. Both must raise fork_version above every version written so far. Can't fail. */
reef_paged reef__paged_share(reef_paged *p, const paged_owner *o);
void reef__paged_drop(reef_paged *p, const paged_owner *o); /* a holder leaves; *p becomes {0} */
/* The holder is a snapshot, or is none any more (before it leaves): it looks into its pages only under the lock. */
void reef__paged_keep(const reef_paged *p, const paged_owner *o, bool kept);
/* The *past* of a node: the one that it was copied from, while nobody else comes from that, and all its holders are
 * snapshots. What they see may then be put elsewhere. Is there one? Page i there, if what was written to it at
 * `version` is the past's own, and not the holder's; else NULL. Both under the lock. */
bool reef__paged_has_past(const reef_paged *p);
void *reef__paged_past(const reef_paged *p, uint32_t i, uint64_t version);
/* Contents newer than this are the holder's own: none are while others hold its node or a child of it. Under the
 * lock. */
uint64_t reef__paged_base(const reef_paged *p);

/* Is page i ours alone, if it isn't the common one? (fast path of reef__paged_own) */
INLINE bool paged_owned(const reef_paged *p, uint32_t i, uint64_t fork_version)
{
    return p->shared == 0 || p->version[i] > fork_version;
}

#endif
