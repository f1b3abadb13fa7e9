/* Ghosts: what neighbouring ranks see of cells near the border.
 *
 *   status | number of: gone, new, changed | gone | new | changed
 *
 *   gone      handle
 *   new       handle, cell, which components it has, which of them are disabled | their values
 *   changed   handle, which of its components have changed | their values
 *   value     the bytes in memory; where a type has several values for an entity, their number before them
 *
 * A component is a bit, its number in the config. A rank keeps the values that it sent last, and sends only those that
 * differ. (The difference of two worlds, reef_diff_bytes, looks at all that changed; here only the border counts, where
 * most entities change at every tick.) */
#include "ranks.h"

enum { HEAD_BYTES = 4 * sizeof(uint32_t) };

/* ---- types ---- */

/* NULL, or why the component can't be shown. */
static const char *ghost_type_make(reef_component c, ghost_type *to)
{
    reef_type_info info;
    if (!reef_type_get(c, &info)) return "has no type";
    const char *why = ranks__stays(&info);
    *to = (ghost_type){c, info.size, info.home == REEF_MULTI || info.relation, info.relation != 0};
    return why;
}

const char *ranks__ghost_types(reef_ranks *r, uint32_t *number)
{
    const char *why = NULL;
    for (*number = 0; *number < r->config.ghost_count; ++*number) {
        why = ghost_type_make(r->config.ghosts[*number], &r->ghost_types[*number]);
        if (why) break;
    }
    return why;
}

/* ---- what is to be seen ---- */

static bool value_show(reef_ranks *r, reef_entity e, const ghost_type *t, bytes *to)
{
    uint32_t n = 0;
    if (t->size == 0) return reef_has_id(r->world, e, t->id);
    if (t->several) {
        const void *all = reef_get_all_id(r->world, e, t->id, &n);
        if (n == 0) return false;
        ranks__put_u32(to, n);
        ranks__put(to, all, (size_t)n * t->size);
        return true;
    }
    const void *value = reef_get_id(r->world, e, t->id);
    if (value) return ranks__put(to, value, t->size), true;
    if (!reef_has_id(r->world, e, t->id)) return false;
    unsigned char parts[REEF_SPLIT_SIZE_MAX]; /* the type is split: no whole value is in memory */
    if (!reef_read_id(r->world, e, t->id, parts, t->size)) return to->failed = true, false;
    return ranks__put(to, parts, t->size), true;
}

static bool entity_show(reef_ranks *r, reef_entity e, uint32_t c, ghost_list *to)
{
    if (!ranks__room(&to->of, &to->room, (size_t)to->count + 1, sizeof *to->of)) return false;
    ghost_copy *x = &to->of[to->count++];
    *x = (ghost_copy){.entity = e, .cell = c, .at = to->values.count};
    for (uint32_t i = 0; i < r->config.ghost_count; i++) {
        if (!value_show(r, e, &r->ghost_types[i], &to->values)) continue;
        x->there |= 1u << i;
        if (!reef_is_enabled_id(r->world, e, r->ghost_types[i].id)) x->disabled |= 1u << i;
    }
    return !to->values.failed;
}

/* Everything that a neighbour sees, by cell and index. */
static bool all_show(reef_ranks *r, const neighbour *n, ghost_list *to)
{
    to->count = 0;
    to->values.count = 0;
    for (uint32_t i = 0; i < n->cell_count; i++) {
        const cell *c = ranks__own(r, n->cells[i]);
        for (uint32_t k = 0; k < c->count; k++)
            if ((r->all_enabled || reef_is_enabled(r->world, c->members[k])) &&
                !entity_show(r, c->members[k], n->cells[i], to))
                return false;
    }
    return true;
}

/* ---- what has changed ---- */

static size_t value_bytes(const ghost_type *t, const unsigned char *at)
{
    uint32_t n = 1;
    if (!t->several) return t->size;
    memcpy(&n, at, sizeof n);
    return sizeof n + (size_t)n * t->size;
}

static void new_put(const reef_ranks *r, const ghost_list *l, const ghost_copy *x, bytes *to)
{
    const unsigned char *from = l->values.data + x->at;
    size_t n = 0;
    for (uint32_t i = 0; i < r->config.ghost_count; i++)
        if (x->there >> i & 1) n += value_bytes(&r->ghost_types[i], from + n);
    ranks__put_entity(to, x->entity);
    ranks__put_u32(to, x->cell);
    ranks__put_u32(to, x->there);
    ranks__put_u32(to, x->disabled);
    ranks__put(to, from, n);
}

/* False: nothing has changed. */
static bool changed_put(const reef_ranks *r, const unsigned char *was, const unsigned char *is, const ghost_copy *x,
                        bytes *to)
{
    uint32_t changed = 0;
    const size_t at = to->count + sizeof(reef_entity);
    for (uint32_t i = 0; i < r->config.ghost_count; i++) {
        if ((x->there >> i & 1) == 0) continue;
        const size_t old = value_bytes(&r->ghost_types[i], was), n = value_bytes(&r->ghost_types[i], is);
        if (old != n || memcmp(was, is, n) != 0) {
            if (changed == 0) {
                ranks__put_entity(to, x->entity);
                ranks__put_u32(to, 0);
            }
            ranks__put(to, is, n);
            changed |= 1u << i;
        }
        was += old;
        is += n;
    }
    if (changed && !to->failed) memcpy(to->data + at, &changed, sizeof changed);
    return changed != 0;
}

static int place_order(const ghost_copy *a, const ghost_copy *b)
{
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    if (a->entity.index != b->entity.index) return a->entity.index < b->entity.index ? -1 : 1;
    return (a->entity.generation > b->entity.generation) - (a->entity.generation < b->entity.generation);
}

/* An entity that isn't where it was may be in another cell that the neighbour sees. */
static bool still_shown(const reef_ranks *r, const neighbour *n, reef_entity e)
{
    const ReefCell *at = reef_is_alive(r->world, e) ? reef_get(r->world, e, ReefCell) : NULL;
    if (at == NULL || !ranks__mine(r, at->cell) || !reef_is_enabled(r->world, e)) return false;
    uint32_t low = 0, high = n->cell_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (n->cells[middle] < at->cell) low = middle + 1;
        else high = middle;
    }
    return low < n->cell_count && n->cells[low] == at->cell;
}

typedef struct differences {
    bytes gone, fresh, changed;
    uint32_t gone_count, fresh_count, changed_count;
} differences;

static void differences_find(reef_ranks *r, const neighbour *n, differences *d)
{
    const ghost_list *was = &n->sent, *is = &n->now;
    for (uint32_t i = 0, k = 0; i < is->count || k < was->count;) {
        const ghost_copy *now = &is->of[i], *old = &was->of[k];
        const int order = i == is->count ? 1 : k == was->count ? -1 : place_order(now, old);
        if (order > 0) {
            if (!still_shown(r, n, old->entity)) ranks__put_entity(&d->gone, old->entity), d->gone_count++;
        } else if (order < 0 || now->there != old->there || now->disabled != old->disabled) {
            new_put(r, is, now, &d->fresh);
            d->fresh_count++;
        } else if (changed_put(r, was->values.data + old->at, is->values.data + now->at, now, &d->changed)) {
            d->changed_count++;
        } else {
            r->stats.ghosts_same++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    r->stats.ghosts_sent += d->fresh_count + d->changed_count;
}

static bool differences_put(const differences *d, bytes *out)
{
    ranks__put_u32(out, 0);
    ranks__put_u32(out, d->gone_count);
    ranks__put_u32(out, d->fresh_count);
    ranks__put_u32(out, d->changed_count);
    ranks__put(out, d->gone.data, d->gone.count);
    ranks__put(out, d->fresh.data, d->fresh.count);
    ranks__put(out, d->changed.data, d->changed.count);
    return !(d->gone.failed || d->fresh.failed || d->changed.failed || out->failed);
}

static bool neighbour_prepare(reef_ranks *r, neighbour *n, bytes *out)
{
    differences d = {0};
    bool ok = all_show(r, n, &n->now);
    if (ok) differences_find(r, n, &d);
    ok = ok && differences_put(&d, out);
    ranks__bytes_free(&d.gone);
    ranks__bytes_free(&d.fresh);
    ranks__bytes_free(&d.changed);
    if (!ok) return false;
    const ghost_list old = n->sent;
    n->sent = n->now;
    n->now = old;
    return true;
}

reef_status ranks__ghosts_send(reef_ranks *r, reef_status s)
{
    static const unsigned char failed[] = {1, 0, 0, 0};
    for (uint32_t i = 0; s == REEF_OK && i < r->neighbour_count; i++) {
        r->near_out[i].count = 0;
        if (!neighbour_prepare(r, &r->neighbours[i], &r->near_out[i])) s = REEF_NO_MEMORY;
    }
    for (uint32_t i = 0; s != REEF_OK && i < r->neighbour_count; i++) {
        ranks__bytes_free(&r->near_out[i]);
        r->near_out[i] = (bytes){.data = (unsigned char *)(uintptr_t)failed, .count = sizeof failed, .failed = true};
    }
    ranks__near_send(r, r->near_out, r->near_requests);
    return s;
}

/* ---- what arrives ---- */

/* Those that are gone, unless they live here now. */
static reef_status gone_take(reef_ranks *r, bytes *in, uint32_t n)
{
    reef_status s = REEF_OK;
    for (; s == REEF_OK && n > 0; n--) {
        const reef_entity e = ranks__take_entity(in);
        if (reef_is_alive(r->world, e) && reef_has(r->world, e, ReefGhost)) s = ranks__leave(r, e);
    }
    return in->failed ? REEF_CORRUPT : s;
}

/* A ghost that wasn't here, or has other components than before. One that is here keeps what it has and gets. */
static reef_status ghost_arrive(reef_ranks *r, reef_entity e, uint32_t c, uint32_t there)
{
    const ReefCell *at = reef_is_alive(r->world, e) ? reef_get(r->world, e, ReefCell) : NULL;
    if (at == NULL || !reef_has(r->world, e, ReefGhost)) return ranks__arrive(r, e, c);
    const uint32_t was = at->cell;
    reef_status s = REEF_OK;
    for (uint32_t i = 0; s == REEF_OK && i < r->config.ghost_count; i++)
        if (((there >> i & 1) == 0 || r->ghost_types[i].several) && reef_has_id(r->world, e, r->ghost_types[i].id))
            s = reef_remove_id(r->world, e, r->ghost_types[i].id);
    if (s != REEF_OK || was == c) return s;
    ranks__member_drop(r, was, e);
    return ranks__member_add(r, c, e) ? REEF_OK : REEF_NO_MEMORY;
}

/* A value or several ones. NULL: the packet is too short. */
static const unsigned char *values_take(bytes *in, const ghost_type *t, uint32_t *n)
{
    *n = t->several ? ranks__take_u32(in) : 1;
    return ranks__take(in, (size_t)*n * t->size);
}

static reef_status new_take(reef_ranks *r, bytes *in)
{
    const reef_entity e = ranks__take_entity(in);
    const ReefCell at = {ranks__take_u32(in)};
    const uint32_t there = ranks__take_u32(in), disabled = ranks__take_u32(in);
    if (in->failed || ranks__mine(r, at.cell) || ranks__cell(r, at.cell) == NULL) return REEF_CORRUPT;
    reef_status s = ghost_arrive(r, e, at.cell, there);
    for (uint32_t i = 0, n; s >= 0 && i < r->config.ghost_count; i++) {
        if ((there >> i & 1) == 0) continue;
        const unsigned char *v = values_take(in, &r->ghost_types[i], &n);
        s = v ? ranks__component_arrive(r, e, r->ghost_types[i].id, v, n) : REEF_CORRUPT;
    }
    if (s >= 0) s = ranks__value_arrive(r, e, reef_id(ReefCell), &at, sizeof at);
    if (s >= 0) s = ranks__value_arrive(r, e, reef_id(ReefGhost), NULL, 0);
    if (s >= 0) s = ranks__arrival_end(r, e);
    for (uint32_t i = 0; s >= 0 && i < r->config.ghost_count; i++)
        if (there >> i & 1 && (disabled >> i & 1) == reef_is_enabled_id(r->world, e, r->ghost_types[i].id))
            s = reef_enable_id(r->world, e, r->ghost_types[i].id, (disabled >> i & 1) == 0);
    return s >= 0 ? reef_disable(r->world, e) : s;
}

static reef_status changed_take(reef_ranks *r, bytes *in)
{
    const reef_entity e = ranks__take_entity(in);
    const uint32_t changed = ranks__take_u32(in);
    const ReefCell *at = reef_is_alive(r->world, e) ? reef_get(r->world, e, ReefCell) : NULL;
    reef_status s = at == NULL || ranks__mine(r, at->cell) ? REEF_CORRUPT : REEF_OK;
    for (uint32_t i = 0, n; s >= 0 && i < r->config.ghost_count; i++) {
        const ghost_type *t = &r->ghost_types[i];
        if ((changed >> i & 1) == 0) continue;
        const unsigned char *v = values_take(in, t, &n);
        if (v == NULL) s = REEF_CORRUPT;
        else if (!t->several) s = reef_set_id(r->world, e, t->id, v, t->size);
        else if ((s = reef_remove_id(r->world, e, t->id)) >= 0) s = ranks__component_arrive(r, e, t->id, v, n);
    }
    return s;
}

static reef_status neighbour_take(reef_ranks *r, bytes *in, uint32_t fresh, uint32_t changed)
{
    const size_t first = in->at;
    reef_status s = REEF_OK;
    for (; s >= 0 && fresh > 0; fresh--) s = new_take(r, in);
    for (; s >= 0 && changed > 0; changed--) s = changed_take(r, in);
    if (s >= 0) return in->failed ? REEF_CORRUPT : REEF_OK;
    return ranks__fail(r, s, "a ghost can't arrive (byte %zu of %zu): %s", in->at - first, in->count,
                       reef_status_text(s));
}

reef_status ranks__ghosts_take(reef_ranks *r, reef_status s)
{
    const uint32_t n = r->neighbour_count;
    bytes *in = r->near_out + n;
    uint32_t head[4];
    ranks__near_receive(r, in, r->near_requests);
    for (uint32_t i = 0; i < n; i++)
        if (r->near_out[i].failed) r->near_out[i] = (bytes){0}; /* it wasn't in memory of its own */
    /* First all that are gone: what is gone here may be new there. */
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) {
        for (int k = 0; k < 4; k++) head[k] = ranks__take_u32(&in[i]);
        if (head[0]) return REEF_OK; /* that rank has failed, and says so in the next agreement */
        s = gone_take(r, &in[i], head[1]);
    }
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) {
        memcpy(head, in[i].data, HEAD_BYTES);
        s = neighbour_take(r, &in[i], head[2], head[3]);
    }
    return s;
}

reef_status ranks__ghosts_drop(reef_ranks *r)
{
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < r->ghost_cell_count; i++) {
        const cell *c = &r->ghost_cells[i];
        while (s == REEF_OK && c->count) s = ranks__leave(r, c->members[c->count - 1]);
    }
    for (uint32_t i = 0; i < r->neighbour_count; i++) r->neighbours[i].sent.count = 0;
    return s;
}
