/* Merging: the entities of a fork are added to this world, with new handles. o->n is the fork's slot. */
#include "apply.h"
#include "fork.h"
#include "reef/merge.h"
#include <stdlib.h>

enum { MERGE_DROPS_NAMES = 1, MERGED_MOST = 500 };

/* The entities that are added, in their order: by table and row, then those that have no row, by index. */
typedef struct comers {
    reef_entity entity[MERGE_MADE];
    uint32_t count;
} comers;

typedef struct coming {
    const ref_world *from;
    comers *all;
} coming;

static void comes(void *context, ref_entity *e, uint32_t index)
{
    const coming *x = context;
    (void)e;
    x->all->entity[x->all->count++] = ref_handle(x->from, index);
}

static void comers_find(const ref_world *from, comers *all)
{
    coming x = {from, all};
    all->count = 0;
    ref_walk(from, 0, comes, &x);
    for (uint32_t i = 0; i < from->count; i++)
        if (from->entity[i].life == LIFE_ALIVE && !from->entity[i].table) comes(&x, NULL, i);
}

/* Has an entity without a parent the name of this one of `from`, which has none either? (Parents come along.) */
static bool name_is_taken(const ref_world *r, const ref_entity *e)
{
    return e->name && e->out[RELATION_CHILD] == 0 && ref_named(r, UINT32_MAX, e->name) != UINT32_MAX;
}

/* Other suites test what merging refuses; here it may just happen. */
static bool can_merge(const model *m, const op *o)
{
    const ref_world *to = &m->reference, *from = &m->fork[o->n].reference;
    if (!ref_is_there(from) || from->living_count > MERGE_MADE || to->living_count + from->living_count > MERGED_MOST)
        return false;
    if (fork_is_refused(to) || fork_is_refused(from)) return false;
    if (from->living_count > (uint64_t)(to->free_end - to->free_first) + (to->entities_max - to->count)) return false;
    for (uint32_t i = 0; i < from->living_count; i++)
        if (from->entity[from->living[i]].set & ~to->known) return false;
    return true;
}

void core_MERGE(model *m, const op *o, outcome *out)
{
    const reef_merge_desc desc = {.drop_names = o->option & MERGE_DROPS_NAMES};
    reef_merged *who = NULL;
    comers all;
    out->status = REEF_OK;
    if (!can_merge(m, o)) return;
    out->status = reef_merge(m->world, m->fork[o->n].world, &desc, &who);
    if (out->status != REEF_OK) return;
    comers_find(&m->fork[o->n].reference, &all);
    for (uint32_t i = 0; i < all.count; i++) out->made[i] = reef_merged_find(who, all.entity[i]);
    out->number = out->made_count = all.count;
    reef_merged_free(who);
    m->check_rows = true;
}

void want_MERGE(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    const ref_world *from = &m->fork[o->n].reference;
    comers all;
    want->status = REEF_OK;
    if (!can_merge(m, o)) return;
    comers_find(from, &all);
    for (uint32_t i = 0; i < all.count && !(o->option & MERGE_DROPS_NAMES); i++)
        if (name_is_taken(r, ref_alive(from, all.entity[i]))) want->status = REEF_NAME_TAKEN;
    if (ref_unique_in_both(r, from)) want->status = REEF_EXISTS; /* is found first */
    if (want->status != REEF_OK) return;
    ref_told.of = NULL; /* no observer is told */
    const uint32_t commons = r->commons;
    r->commons += from->commons;
    uint32_t *became = malloc((from->count + 1u) * sizeof *became);
    bool taken[MERGE_MADE];
    if (!became) abort();
    for (uint32_t i = 0; i < all.count; i++) {
        const ref_entity *e = ref_alive(from, all.entity[i]);
        taken[i] = name_is_taken(r, e);
        want->made[i] = ref_bring(r, e, commons);
        became[all.entity[i].index] = want->made[i].index;
    }
    ref_links_bring(r, from, became);
    for (uint32_t i = 0; i < all.count; i++)
        if (!taken[i]) ref_alive(r, want->made[i])->name = ref_alive(from, all.entity[i])->name;
    free(became);
    want->number = want->made_count = all.count;
}
