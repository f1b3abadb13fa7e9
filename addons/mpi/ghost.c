/* Ghosts: what neighbouring ranks see of cells near the border.
 *
 * A rank keeps the bytes that it sent last for each ghost, and sends only those that differ: a packet of new and
 * changed ghosts, and a list of those that it shows no longer. (The difference of two worlds, reef_diff_bytes, looks
 * at all that changed; here only the border counts, where most entities change at every tick.) */
#include "ranks.h"

typedef struct showing {
    ghost_copy *now;
    uint32_t count, room;
    packet all;
} showing;

static int copy_order(const void *a, const void *b)
{
    const ghost_copy *x = a, *y = b;
    return (x->entity.index > y->entity.index) - (x->entity.index < y->entity.index);
}

/* Packs all ghosts that a neighbour sees. Types are numbered in the order of the config, so that equal ghosts are equal
 * bytes. */
static reef_status show(reef_ranks *r, const neighbour *n, showing *x)
{
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < r->config.ghost_count; i++) {
        if (!ranks__room(&x->all.types, &x->all.type_room, (size_t)i + 1, sizeof *x->all.types)) return REEF_NO_MEMORY;
        x->all.types[x->all.type_count++] = r->config.ghosts[i];
    }
    for (uint32_t i = 0; s == REEF_OK && i < n->cell_count; i++) {
        const cell *c = &r->cells[n->cells[i]];
        for (uint32_t k = 0; s == REEF_OK && k < c->count; k++) {
            const reef_entity e = c->members[k];
            if (!reef_is_enabled_entity(r->world, e)) continue;
            if (!ranks__room(&x->now, &x->room, (size_t)x->count + 1, sizeof *x->now)) return REEF_NO_MEMORY;
            const size_t at = x->all.body.count;
            s = ranks__pack(r, &x->all, r->world, e, n->cells[i], r->config.ghosts, r->config.ghost_count);
            x->now[x->count++] = (ghost_copy){e, at, x->all.body.count - at};
        }
    }
    if (x->count) qsort(x->now, x->count, sizeof *x->now, copy_order);
    return s;
}

/* Compares with what was sent last: `out` gets the handles of those that are gone, and a packet of the others. */
static bool differences_put(reef_ranks *r, const neighbour *n, const showing *x, bytes *out)
{
    packet changed = {.types = x->all.types, .type_count = x->all.type_count};
    uint32_t was = 0, gone = 0;
    ranks__put_u32(out, 0);
    for (uint32_t i = 0; i < x->count || was < n->sent_count;) {
        const ghost_copy *now = i < x->count ? &x->now[i] : NULL, *old = was < n->sent_count ? &n->sent[was] : NULL;
        if (old && (now == NULL || old->entity.index < now->entity.index ||
                    (old->entity.index == now->entity.index && old->entity.generation != now->entity.generation))) {
            ranks__put_entity(out, old->entity);
            gone++;
            was++;
            continue;
        }
        const bool same = old && old->entity.index == now->entity.index && old->count == now->count &&
                          memcmp(n->sent_bytes.data + old->at, x->all.body.data + now->at, now->count) == 0;
        if (old && old->entity.index == now->entity.index) was++;
        i++;
        r->stats.ghosts_same += same;
        if (same) continue;
        ranks__put(&changed.body, x->all.body.data + now->at, now->count);
        changed.entities++;
        r->stats.ghosts_sent++;
    }
    if (!out->failed) memcpy(out->data, &gone, sizeof gone);
    ranks__seal(&changed, out);
    ranks__bytes_free(&changed.body);
    return !out->failed;
}

static reef_status neighbour_prepare(reef_ranks *r, neighbour *n, bytes *out)
{
    showing x = {0};
    reef_status s = show(r, n, &x);
    if (s == REEF_OK && !differences_put(r, n, &x, out)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) { /* what is shown now was sent */
        free(n->sent);
        ranks__bytes_free(&n->sent_bytes);
        n->sent = x.now;
        n->sent_count = x.count;
        n->sent_bytes = x.all.body;
        x.now = NULL;
        x.all.body = (bytes){0};
    }
    free(x.now);
    ranks__packet_free(&x.all);
    return s;
}

/* Those that are gone, unless they live here now. */
static reef_status gone_take(reef_ranks *r, bytes *in)
{
    reef_status s = REEF_OK;
    for (uint32_t n = ranks__take_u32(in); s == REEF_OK && n > 0 && !in->failed; n--) {
        const reef_entity e = ranks__take_entity(in);
        if (reef_is_alive(r->world, e) && reef_has(r->world, e, ReefGhost)) s = ranks__leave(r, e);
    }
    return in->failed ? REEF_CORRUPT : s;
}

reef_status ranks__ghosts_refresh(reef_ranks *r)
{
    const uint32_t n = r->neighbour_count;
    bytes *out = calloc(2 * ((size_t)n + 1), sizeof *out), *in = out ? out + n : NULL;
    reef_status s = out ? REEF_OK : REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) s = neighbour_prepare(r, &r->neighbours[i], &out[i]);
    s = ranks__agree(r, s);
    if (s == REEF_OK && !ranks__exchange_near(r, out, in)) s = REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) s = gone_take(r, &in[i]);
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) s = ranks__unpack(r, &in[i], true);
    for (uint32_t i = 0; out && i < n; i++) {
        ranks__bytes_free(&out[i]);
        ranks__bytes_free(&in[i]);
    }
    free(out);
    return ranks__agree(r, s);
}

reef_status ranks__ghosts_drop(reef_ranks *r)
{
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < r->present_count; i++) {
        const cell *c = &r->cells[r->present[i]];
        if (ranks__mine(r, r->present[i])) continue;
        while (s == REEF_OK && c->count) s = ranks__leave(r, c->members[c->count - 1]);
    }
    for (uint32_t i = 0; i < r->neighbour_count; i++) r->neighbours[i].sent_count = 0;
    return s;
}
