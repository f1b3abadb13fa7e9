/* Writing a record: its sections in their order.
 *
 *      RECD  TIME  IDS ...  ROWS ...  DONE
 *                          └─ a type or table that the file hasn't described yet gets the next number, and its
 *                             description (TYPE, TABL) goes out right before the section
 *
 * Invariant: equal worlds give equal bytes. Nothing in a record follows from ids of types, addresses, capacities or
 * history. Types and tables are numbered in the order in which the sections need them, which is the visible one. */
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/serial_list.h"
#include "storage/sparse_store.h"
#include "storage/state_kind.h"
#include "system/unknown_system.h"
#include "system/event.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/snapshot.h"
#include "reef/type_info.h"

/* ---- time ---- */

/* Finds from which version on a difference must write everything, even what is as in the base.
 *
 * Whoever reads a difference takes what is in it for newer than what isn't. That is true where the state came about
 * from the base. It can be wrong where a difference leads back (undo), or where a world was restored between two
 * records of a journal: then a run in the record may be older than a write that both states have and that the system
 * hasn't seen, or a write in the record may be older than a run that both have. So the record mentions all runs from
 * runs_from on, and all writes after that. Then what is left out is older than what is written.
 *
 * Which of the writes in the record is the oldest is found by writing it without putting anything down. */
static void difference_bound(encoding *x)
{
    x->runs_from = x->again = UINT64_MAX;
    if (x->base == NULL) return;
    /* What both states share was written at the base's fork_version or before. */
    uint64_t first = UINT64_MAX, limit = x->base->hot.fork_version;
    bool needed = x->w->state.track_count != 0;
    for (named_serial n = {NULL, 0, false}; reef__named_next(x->w, false, &n);) {
        const uint64_t version = last_run_of(x->w, n.serial);
        if (version && version != last_run_of(x->base, n.serial)) first = version < first ? version : first;
        else if (version > limit) limit = version;
        needed |= version != 0;
    }
    x->limit = limit;
    x->oldest = UINT64_MAX;
    x->o->dry = true;
    if (needed) reef__encode_rows(x), reef__encode_bits(x), reef__encode_stores(x);
    /* Stamps are looked at only here: a row gets a new stamp only with a write that marks its column or its place. */
    x->back = x->oldest <= x->base->hot.fork_version;
    if (x->back) reef__encode_tracks(x);
    x->o->dry = false;
    for (named_serial n = {NULL, 0, false}; x->oldest != UINT64_MAX && reef__named_next(x->w, false, &n);) {
        const uint64_t version = last_run_of(x->w, n.serial);
        if (version >= x->oldest && version < first) first = version;
    }
    x->runs_from = x->again = first;
    x->deep = first < x->base->hot.fork_version;
}

/* Collects and sorts the runs that the record mentions. A record of a part of a world mentions none. False: no
 * memory. */
static bool runs_order(encoding *x)
{
    bool mentioned;
    x->runs.memory = x->memory;
    difference_bound(x);
    for (named_serial n = {NULL, 0, false}; !x->d->part && reef__named_next(x->w, false, &n);) {
        const uint64_t version = reef__encode_run(x, n.serial, &mentioned);
        if (version && !reef__version_order_add(&x->runs, version)) return false;
    }
    reef__version_order_sort(&x->runs);
    return true;
}

/* ---- the record ---- */

static void begin_put(encoding *x, uint64_t before)
{
    const uint32_t flags = (x->base ? RECORD_DIFFERENCE : 0u) | (x->d->unsynced ? RECORD_UNSYNCED : 0u);
    reef__section_begin(x->o, SECTION_RECORD);
    unsigned char *to = reef__put_room(x->o, RECORD_HEAD_BYTES);
    if (to) reef__record_head_write(to, &(record_head){x->n->records, before, flags});
    reef__encode_end(x);
}

static void done_put(encoding *x, uint64_t after)
{
    reef__encode_descriptions(x); /* of a table of which a chunk had nothing to write */
    const uint64_t sections = x->o->sections;
    reef__section_begin(x->o, SECTION_DONE);
    reef__put_u64(x->o, sections);
    reef__put_u64(x->o, after);
    reef__encode_end(x);
    x->n->records++;
}

/* About how many bytes the record of a whole world takes, for the progress. 0: not known. */
static uint64_t length_guess(const encoding *x)
{
    const state *s = &x->w->state;
    uint64_t n = (s->ring_tail - s->ring_head) * sizeof(reef_entity) + s->name_count * UINT64_C(32);
    if (x->base || x->d->progress == NULL) return 0;
    for (uint32_t i = 0; i < x->order_count; i++) {
        const table *t = table_read(x->w, x->order[i]);
        uint64_t row = sizeof(reef_entity);
        if (t == NULL || table_rows(t) == 0) continue;
        for (uint32_t k = 0; k < t->shape->component_count; k++) {
            const type *c = type_known(t->shape->component[k]);
            row += c->owner ? 0 : reef__pack_bytes(c, x->d->form);
        }
        n += table_rows(t) * row;
    }
    for (state_key k = {0}; reef__state_next(STATE_STORES, x->w, NULL, &k);)
        n += store_of(x->w, k.key)->count * (sizeof(reef_entity) + reef__pack_bytes(k.type, x->d->form));
    return n + 1024;
}

static bool encode_begin(encoding *x)
{
    x->order = reef__tables_order(x->w, &x->order_count);
    if (x->order == NULL && x->order_count) return false;
    x->described_types = x->n->types.count;
    x->described_tables = x->n->tables.count;
    x->start = x->o->bytes;
    x->o->sections = 0;
    return runs_order(x);
}

void reef__encode_none(encoding *x) { (void)x; }

#define SECTION_WRITER(name, a, b, c, d, rank, once, least, write, read) reef__encode_##write,
static void (*const section_writers[])(encoding *x) = {SECTION_KINDS(SECTION_WRITER)};

static void sections_put(encoding *x, uint64_t before, uint64_t after)
{
    x->all = length_guess(x);
    x->next = x->all / 100;
    begin_put(x, before);
    for (uint32_t i = 0; i < sizeof section_writers / sizeof *section_writers; i++) section_writers[i](x);
    done_put(x, after);
}

/* Gives a name to everything that removed systems left behind, since a file knows systems by name alone. */
static void gone_names_resolve(reef_world *w)
{
    reef__unknown_systems_resolve(w);
    reef__events_sift(w);
}

reef_status reef__record_write(section_out *o, numbering *n, const record_desc *d, const char *operation)
{
    encoding x = {
        .o = o, .n = n, .d = d, .w = d->world, .base = d->base, .op = operation, .memory = &d->world->family->memory};
    uint64_t before = 0, after = 0;
    gone_names_resolve(x.w);
    if (x.base) gone_names_resolve(d->base);
    bool ready = o->status == REEF_OK && reef__events_keep(x.w) == REEF_OK;
    if (ready && d->sealed)
        ready = (after = reef_hash(x.w)) != 0 && (x.base == NULL || (before = reef_hash(x.base)) != 0);
    world_hold(x.w);
    if (x.base) world_hold(x.base);
    if (ready && encode_begin(&x)) sections_put(&x, before, after);
    else reef__encode_failed(&x, REEF_NO_MEMORY);
    if (x.base) world_let_go(x.base);
    world_let_go(x.w);
    reef__version_order_drop(&x.runs);
    if (!x.reported && o->status != REEF_OK && o->status != REEF_IO) reef__refuse(x.w, o->status, operation);
    return o->status;
}
