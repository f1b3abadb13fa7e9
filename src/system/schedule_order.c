/* The order of systems. It is a topological sort: of those systems that no other system has to precede any more, the
 * one that was added first always comes next.
 *
 * The names in `before` and `after` are looked up in a hash table that lives only while sorting, so n systems with h
 * names cost O(n + h). */
#include "system/schedule_order.h"
#include "base/byte_hash.h"
#include "system/schedule.h"

typedef struct sorter {
    schedule *s;
    uint32_t *bucket, bucket_mask; /* hash table by name: entry + 1 */
    uint32_t *head;                /* for each entry: its first edge + 1 */
    uint32_t *waits;               /* for each entry: number of edges to it from entries without a place */
    struct sort_edge {
        uint32_t from, to, next;
    } * edge;
    uint32_t edges;
    uint64_t free[REEF_SYSTEMS_MAX / 64]; /* bit set of the entries that wait for none and have no place yet */
} sorter;

/* Finds the next name in a list and returns its length. 0: no more. */
static COLD size_t next_name(const char **at, const char **name)
{
    while (**at == ' ') ++*at;
    *name = *at;
    while (**at && **at != ' ') ++*at;
    return (size_t)(*at - *name);
}

static COLD uint64_t names_in(const char *list)
{
    const char *name;
    uint64_t n = 0;
    while (list && next_name(&list, &name)) n++;
    return n;
}

static COLD uint32_t entry_of_name(const sorter *o, const char *name, size_t length)
{
    const uint64_t hash = reef__hash_bytes(name, length);
    for (uint32_t i = (uint32_t)hash & o->bucket_mask; o->bucket[i]; i = (i + 1) & o->bucket_mask) {
        const struct system *x = o->s->entries[o->bucket[i] - 1].system;
        if (x->name_hash == hash && strlen(x->name) == length && memcmp(x->name, name, length) == 0)
            return o->bucket[i] - 1;
    }
    return ENTRY_NONE;
}

static COLD void edge_put(sorter *o, uint32_t from, uint32_t to)
{
    o->edge[o->edges] = (struct sort_edge){from, to, o->head[from]};
    o->head[from] = ++o->edges;
    o->waits[to]++;
}

static COLD void edges_of(sorter *o, uint32_t entry, const char *list, bool before)
{
    const char *name;
    for (size_t length; list && (length = next_name(&list, &name)) != 0;) {
        const uint32_t other = entry_of_name(o, name, length);
        if (other == ENTRY_NONE || o->s->entries[other].phase != o->s->entries[entry].phase) continue;
        edge_put(o, before ? entry : other, before ? other : entry);
    }
}

static COLD void edges_find(sorter *o)
{
    for (uint32_t i = 0; i < o->s->count; i++) {
        uint32_t k = (uint32_t)o->s->entries[i].system->name_hash & o->bucket_mask;
        while (o->bucket[k]) k = (k + 1) & o->bucket_mask;
        o->bucket[k] = i + 1;
    }
    for (uint32_t i = 0; i < o->s->count; i++) {
        edges_of(o, i, o->s->entries[i].system->before, true);
        edges_of(o, i, o->s->entries[i].system->after, false);
    }
}

/* ---- placing ---- */

/* Finds where each phase's systems begin; `next` gets the same numbers. */
static COLD void phases_place(schedule *s, uint32_t *next)
{
    uint32_t count[REEF_PHASES_MAX] = {0}, at = 0;
    for (uint32_t i = 0; i < s->count; i++) count[s->entries[i].phase]++;
    for (uint32_t p = 0; p < s->phase_count; p++) {
        s->phases[p].first = next[p] = at;
        at += count[p];
    }
}

static COLD void entry_add_free(sorter *o, uint32_t entry, uint32_t *low)
{
    o->free[entry / 64] |= 1ull << entry % 64;
    if (entry / 64 < *low) *low = entry / 64;
}

/* Gives the entries their places and returns how many got one. Phases are independent, so all are sorted at once. */
static COLD uint32_t entries_place(sorter *o)
{
    uint32_t next[REEF_PHASES_MAX], placed = 0, low = 0;
    schedule *s = o->s;
    phases_place(s, next);
    memset(o->free, 0, sizeof o->free);
    for (uint32_t i = 0; i < s->count; i++)
        if (o->waits[i] == 0) entry_add_free(o, i, &low);
    while (low < REEF_SYSTEMS_MAX / 64) {
        if (o->free[low] == 0) {
            low++;
            continue;
        }
        uint32_t entry = low * 64;
        while (!(o->free[low] >> entry % 64 & 1)) entry++;
        o->free[low] &= o->free[low] - 1;
        s->order[next[s->entries[entry].phase]++] = entry;
        placed++;
        for (uint32_t e = o->head[entry]; e; e = o->edge[e - 1].next)
            if (--o->waits[o->edge[e - 1].to] == 0) entry_add_free(o, o->edge[e - 1].to, &low);
    }
    return placed;
}

/* ---- cycles ---- */

/* Returns an entry that this one waits for. There must be one. */
static COLD uint32_t waits_for(const sorter *o, uint32_t entry)
{
    uint32_t found = ENTRY_NONE;
    for (uint32_t e = 0; e < o->edges; e++)
        if (o->edge[e].to == entry && o->waits[o->edge[e].from] && o->edge[e].from < found) found = o->edge[e].from;
    ASSERT(found != ENTRY_NONE);
    return found;
}

/* Appends a name with an arrow; or dots, if the name doesn't fit together with `keep` further bytes. */
static COLD bool circle_put(char *detail, const char *arrow, const char *name, size_t keep)
{
    const size_t used = strlen(detail), more = strlen(arrow) + strlen(name);
    if (used + more + keep >= REEF_DETAIL_MAX) return strcpy(detail + used, " ..."), false;
    strcpy(detail + used, arrow);
    strcat(detail, name);
    return true;
}

/* Describes a cycle: goes from a system that waits to one that it waits for, until it meets a system again. The heads
 * of the edges aren't needed any more, so `path` uses their memory. */
static COLD void circle_tell(sorter *o, char *detail)
{
    uint32_t *path = o->head, length = 0, at = 0, first;
    while (o->waits[at] == 0) at++;
    memset(o->bucket, 0, o->s->count * sizeof *o->bucket); /* for each entry: its place in the path + 1 */
    for (; o->bucket[at] == 0; at = waits_for(o, at)) {
        path[length++] = at;
        o->bucket[at] = length;
    }
    const uint32_t begin = o->bucket[at] - 1;
    first = begin;
    for (uint32_t i = begin; i < length; i++)
        if (path[i] < path[first]) first = i;
    detail[0] = 0;
    const uint32_t n = length - begin;
    for (uint32_t i = 0; i <= n; i++) { /* backwards, so that each stands before the one that waits for it */
        const uint32_t entry = path[begin + (first - begin + n - i % n) % n];
        if (!circle_put(detail, i ? " -> " : "", o->s->entries[entry].system->name, i < n ? 4 : 0)) break;
    }
}

/* ---- sorting ---- */

static COLD reef_status sort_with(sorter *o, uint32_t buckets, char *detail)
{
    o->bucket_mask = buckets - 1;
    edges_find(o);
    if (entries_place(o) == o->s->count) return REEF_OK;
    circle_tell(o, detail);
    return REEF_BAD_ARGUMENT;
}

static COLD void sort_plainly(schedule *s)
{
    uint32_t next[REEF_PHASES_MAX];
    phases_place(s, next);
    for (uint32_t i = 0; i < s->count; i++) s->order[next[s->entries[i].phase]++] = i;
}

COLD reef_status reef__schedule_sort(family *f, schedule *s, char *detail)
{
    sorter o = {.s = s};
    uint64_t names = 0;
    uint32_t buckets = 16;
    size_t bytes;
    for (uint32_t i = 0; i < s->count; i++)
        names += names_in(s->entries[i].system->before) + names_in(s->entries[i].system->after);
    if (names == 0) return sort_plainly(s), REEF_OK;
    while (buckets < s->count * 2) buckets *= 2;
    const size_t lists = (buckets + 2 * s->count) * sizeof(uint32_t);
    if (names > UINT32_MAX - 1 || !reef__size_multiply((size_t)names, sizeof *o.edge, lists, &bytes))
        return REEF_NO_MEMORY;
    uint32_t *room = reef__memory_zeroed(&f->memory, MEMORY_OTHER, bytes);
    if (room == NULL) return REEF_NO_MEMORY;
    o.bucket = room;
    o.head = room + buckets;
    o.waits = o.head + s->count;
    o.edge = (struct sort_edge *)(void *)(o.waits + s->count);
    const reef_status status = sort_with(&o, buckets, detail);
    reef__memory_free(&f->memory, MEMORY_OTHER, room, bytes);
    return status;
}
