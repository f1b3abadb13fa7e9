/* Pictures: copying the coordinates out of the world, and whether the copy is still right.
 *
 * A picture is made anew as a whole. Whether it has to be is found out from versions, chunk by chunk: everything that
 * is written gets a newer version than what was looked at, as long as the world keeps its state. A state that comes
 * from elsewhere (a restore, a rewind, an exchange) has versions of another history, so it counts as different
 * (reef_world.state_epoch). Rows that end without a mark, at the end of a table, change the number of rows; whatever
 * could make that number the same again is marked. A fork begins without pictures, so nothing is shared between worlds
 * that threads use at the same time. */
#include "index/picture.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/library.h"
#include "storage/place.h"
#include "storage/place_calls.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "query/chunk_cursor.h"
#include "query/partition.h"
#include "query/query.h"
#include "reef/column.h"
#include "reef/term.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the pictures of a world ---- */

reef_place *reef__picture_find(const reef_world *w, uint32_t component)
{
    reef_place *p = w->pictures;
    while (p && p->type->of->id != component) p = p->next;
    return p;
}

static void picture_free(reef_place *p)
{
    memory *m = &p->world->family->memory;
    reef__cells_drop(m, &p->rows, &p->grids);
    mutex_drop(&p->lock);
    reef__memory_free(m, MEMORY_OTHER, p, sizeof *p);
}

void reef__pictures_drop(reef_world *w)
{
    for (reef_place *p = w->pictures, *next; p; p = next) {
        next = p->next;
        picture_free(p);
    }
    w->pictures = NULL;
}

COLD void reef__picture_leave(reef_place *p)
{
    reef_place **at = &p->world->pictures;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    reef__query_drop(p->query);
    picture_free(p);
}

/* The picture of a type, which is made if the world has none. NULL: refused by the query, and recorded; or no
 * memory. */
static reef_place *picture_take(reef_world *w, const place_type *t)
{
    reef_place *p = reef__picture_find(w, t->of->id);
    const uint32_t changes = reef__places_changes();
    if (p && p->type == t) {
        p->changes = changes;
        return p;
    }
    if (p) reef__picture_leave(p);
    reef_query_desc d = {.terms = {{.component = {t->of->id}, .access = REEF_IN}},
                         .entities = w->place_ghost ? REEF_EITHER : REEF_ENABLED};
    uint32_t n = 1;
    if (t->body && t->body != t->of)
        d.terms[n++] = (reef_term){.component = {t->body->id}, .access = REEF_IN, .op = REEF_OPTIONAL};
    for (uint32_t k = 0; k < t->carried_count; k++) {
        uint32_t i = 0;
        while (i < n && d.terms[i].component.id != t->carried[k]->id) i++;
        d.terms[i] = (reef_term){.component = {t->carried[k]->id}, .access = REEF_IN};
        n += i == n;
    }
    query *q = reef__query_make(w, &d);
    if (q == NULL) return NULL;
    p = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *p);
    if (p == NULL || !mutex_make(&p->lock)) {
        reef__memory_free(&w->family->memory, MEMORY_OTHER, p, sizeof *p);
        reef__query_drop(q);
        return NULL;
    }
    p->next = w->pictures;
    p->world = w;
    p->type = t;
    p->changes = changes;
    p->slack = 1e-40;
    for (uint32_t a = 0; a < t->axes; a++) {
        p->wraps |= t->length[a] > 0;
        if (t->length[a] * 1e-6 > p->slack) p->slack = t->length[a] * 1e-6;
    }
    p->query = q;
    q->derived = true;
    return w->pictures = p;
}

/* ---- copying ---- */

typedef struct picture_source {
    const reef_place *p;
    reef_block b;
    bool handles;    /* of the entities, are wanted */
    uint32_t passes; /* that were begun */
    bool strange;    /* the first one found somebody who is nowhere, or outside of the edges */
} picture_source;

static void picture_begin(void *context, bool handles)
{
    picture_source *s = context;
    s->handles = handles;
    s->passes++;
    query *q = s->p->query;
    const split_place begin = query_begin(q), end = query_end(q);
    reef__part_begin(&s->b, s->p->world, q, &begin, &end);
}

double reef__edge_wrap(const place_type *t, uint32_t axis, double x)
{
    const double low = t->low[axis], length = t->length[axis], from = x - low;
    double turns = from / length;
    if (from >= 0 && from < length) return x;
    if (turns < 0x1p52 && turns > -0x1p52) {
        const double whole = (double)(int64_t)turns;
        turns = whole > turns ? whole - 1 : whole;
    }
    /* A volatile product: a compiler that joins it with the subtraction would round once less. */
    const volatile double back = turns * length;
    const double in = low + (from - back);
    const bool narrow = t->kind == REEF_F32;
    const double at = narrow ? (double)(float)in : in;
    return at >= low && at - low < length ? at : low;
}

/* Where the values of a type begin in a block, for one field. NULL: these rows don't have the type. */
static const char *field_at(const reef_block *b, const type *t, uint32_t offset, uint32_t bytes, uint32_t *stride)
{
    const reef_component c = {t->id};
    *stride = t->split ? bytes : t->size;
    if (t->split) return reef_block_field_in(b, c, offset, bytes);
    const char *values = reef_block_in(b, c);
    return values ? values + offset : NULL;
}

/* Copies a coordinate of all rows of the block. Adding 0 makes 0 of -0. (The usual distances are constants, for which
 * compilers vectorise the loop: row place_refresh.) */
INLINE void copy_floats(float *to, const char *from, uint32_t n, size_t stride)
{
    for (uint32_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, from + i * stride, sizeof x);
        to[i] = x + 0.0f;
    }
}
static void copy_axis(const picture_source *s, uint32_t axis, gathered *g)
{
    const place_type *t = s->p->type;
    const uint32_t n = s->b.count;
    uint32_t stride;
    const char *from = field_at(&s->b, t->of, t->offset[axis], reef__kind_size(t->kind), &stride);
    if (t->kind == REEF_F32) {
        if (stride == 2 * sizeof(float)) copy_floats(g->at[axis].narrow, from, n, 2 * sizeof(float));
        else if (stride == 4 * sizeof(float)) copy_floats(g->at[axis].narrow, from, n, 4 * sizeof(float));
        else copy_floats(g->at[axis].narrow, from, n, stride);
    } else if (t->kind == REEF_F64) {
        for (uint32_t i = 0; i < n; i++) {
            double x;
            memcpy(&x, from + (size_t)i * stride, sizeof x);
            g->at[axis].wide[i] = x + 0.0;
        }
    } else {
        for (uint32_t i = 0; i < n; i++) {
            int32_t x;
            memcpy(&x, from + (size_t)i * stride, sizeof x);
            g->at[axis].wide[i] = (double)x;
        }
    }
}

static void copy_radius(const picture_source *s, gathered *g)
{
    const place_type *t = s->p->type;
    uint32_t stride;
    const char *from = field_at(&s->b, t->body, t->body_offset, reef__kind_size(t->body_kind), &stride);
    if (from == NULL) {
        memset(g->radius, 0, s->b.count * sizeof *g->radius);
        return;
    }
    for (uint32_t i = 0; i < s->b.count; i++) {
        float r;
        double wide;
        if (t->body_kind == REEF_F32) memcpy(&r, from + (size_t)i * stride, sizeof r);
        else memcpy(&wide, from + (size_t)i * stride, sizeof wide), r = (float)wide;
        g->radius[i] = r > 0 ? r : 0;
    }
}

/* Are all coordinates of an axis at least `low`, and below `high`? (Such loops are vectorised; a sum of floats wouldn't
 * be.) */
static bool all_narrow_between(const float *at, uint32_t n, float low, float high)
{
    uint32_t outside = 0;
    for (uint32_t i = 0; i < n; i++) outside |= ((at[i] >= low) & (at[i] < high)) ? 0 : 1u;
    return outside == 0;
}
static bool all_wide_between(const double *at, uint32_t n, double low, double high)
{
    uint64_t outside = 0;
    for (uint32_t i = 0; i < n; i++) outside |= ((at[i] >= low) & (at[i] < high)) ? 0 : UINT64_C(1);
    return outside == 0;
}

/* Is every coordinate a number, and between the edges? (The nearest float to the upper edge may be a little below it:
 * then keep_those_somewhere finds that one which is just there is between them as well.) */
static bool all_are_somewhere(const place_type *t, const gathered *g, uint32_t n)
{
    bool somewhere = true;
    for (uint32_t a = 0; a < t->axes; a++) {
        const bool wraps = t->length[a] > 0, narrow = t->kind == REEF_F32;
        const double least = narrow ? -(double)FLT_MAX : -DBL_MAX;
        const double low = wraps ? t->low[a] : least, high = wraps ? t->low[a] + t->length[a] : (double)INFINITY;
        somewhere &= narrow ? all_narrow_between(g->at[a].narrow, n, (float)low, (float)high)
                            : all_wide_between(g->at[a].wide, n, low, high);
    }
    return somewhere;
}

/* Leaves out rows that don't match and those that are nowhere, and takes the others back between the edges. */
static void keep_those_somewhere(const place_type *t, gathered *g, uint32_t n, const uint64_t *mask, bool handles)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool somewhere = mask == NULL || (mask[i / 64] >> i % 64 & 1);
        for (uint32_t a = 0; a < t->axes; a++) {
            double x = t->kind == REEF_F32 ? (double)g->at[a].narrow[i] : g->at[a].wide[i];
            somewhere &= x - x == 0;
            if (somewhere && t->length[a] > 0) x = reef__edge_wrap(t, a, x);
            if (t->kind == REEF_F32) g->at[a].narrow[to] = (float)x;
            else g->at[a].wide[to] = x;
        }
        if (handles) g->kept[to] = g->entities[i];
        if (t->body) g->radius[to] = g->radius[i];
        g->from[to] = (uint16_t)i;
        to += somewhere;
    }
    g->entities = g->kept;
    g->left_out = true;
    g->count = to;
}

/* In a world with ghosts: leaves out who is disabled as a whole, unless the block's rows are ghosts. */
static const uint64_t *rows_shown(const picture_source *s, const uint64_t *mask, uint64_t *of_them)
{
    const reef_world *w = s->p->world;
    const uint64_t *disabled = disabled_words(w, 0, s->b.loop.unit);
    if (disabled == NULL || reef__slot_seek(w, w->place_ghost, s->b.loop.slots[0].head.table) != 0) return mask;
    for (uint32_t k = 0; k < BIT_WORDS; k++) of_them[k] = (mask ? mask[k] : ~UINT64_C(0)) & ~disabled[k];
    return of_them;
}

static bool picture_next(void *context, gathered *g)
{
    picture_source *s = context;
    const place_type *t = s->p->type;
    uint64_t of_them[BIT_WORDS];
    if (!reef_next(&s->b)) return false;
    const uint32_t n = g->count = s->b.count;
    const uint64_t *mask = reef_block_mask(&s->b);
    if (UNLIKELY(s->p->world->place_ghost != 0)) mask = rows_shown(s, mask, of_them);
    for (uint32_t a = 0; a < t->axes; a++) copy_axis(s, a, g);
    if (t->body) copy_radius(s, g);
    for (uint32_t k = 0; s->handles && k < t->carried_count; k++)
        g->carried[k] = reef_block_in(&s->b, (reef_component){t->carried[k]->id});
    g->left_out = false;
    g->entities = s->b.entities;
    const bool unsure = s->passes == 1 || s->strange;
    if (mask || (unsure && !all_are_somewhere(t, g, n))) {
        s->strange |= mask == NULL;
        keep_those_somewhere(t, g, n, mask, s->handles);
    }
    return true;
}

/* ---- is it still right? ---- */

static bool pages_are_old(const reef_paged *p, uint64_t version)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->page[i] && p->version[i] > version) return false;
    return true;
}

/* Are the values of a type in the chunk those that were seen? */
static bool column_is_old(const reef_world *w, const type *t, uint32_t table_id, const reef_slot *slots,
                          uint64_t version)
{
    if (t == NULL || !in_table(t)) return true;
    for (uint32_t i = 0; i < t->part_count; i++) {
        const uint32_t slot = reef__slot_seek(w, t->parts[i], table_id);
        if (slot >= SLOT_COLUMNS && slot != REEF_SLOT_TAG && slots[slot].version > version) return false;
    }
    const uint32_t slot = t->split ? 0 : reef__slot_seek(w, t->id, table_id);
    return slot < SLOT_COLUMNS || slot == REEF_SLOT_TAG || slots[slot].version <= version;
}

/* Are the values of a type outside of the rows those that were seen? */
static bool store_is_old(const reef_world *w, const type *t, uint64_t version, picture_seen *now)
{
    if (t == NULL || !t->stored) return true;
    const value_store *s = store_of(w, t->id);
    now->values += s->count;
    now->moves += s->moves;
    return pages_are_old(&s->values, version) && pages_are_old(&s->index, version);
}

/* Are the bits that say who has these types, or has them disabled, those that were seen? */
static bool bits_are_old(const reef_place *p, uint64_t version)
{
    const state *s = &p->world->state;
    const place_type *t = p->type;
    const uint32_t of = t->of->id, body = t->body ? t->body->id : of;
    for (uint32_t i = 0; i < s->bit_count; i++) {
        const uint32_t id = s->bits[i].key & ~BIT_DISABLED;
        bool copied = id == of || id == body || id == 0;
        for (uint32_t k = 0; k < t->carried_count; k++) copied |= id == t->carried[k]->id;
        if (copied && !pages_are_old(&s->bits[i].words, version)) return false;
    }
    return true;
}

/* Is the picture right? *now: what would be noted of the world if it were made now, but for its version. The query
 * knows all tables. */
static bool picture_is_right(const reef_place *p, picture_seen *now)
{
    const reef_world *w = p->world;
    const place_type *t = p->type;
    const uint64_t version = p->seen.version;
    *now = (picture_seen){.epoch = w->state_epoch};
    bool right = p->made && p->seen.epoch == w->state_epoch && bits_are_old(p, version);
    right &= store_is_old(w, t->of, version, now);
    right &= store_is_old(w, t->body, version, now);
    for (uint32_t k = 0; k < t->carried_count; k++) right &= store_is_old(w, t->carried[k], version, now);
    for (chunk_cursor c = {.q = p->query}; chunk_next(&c);) {
        now->rows += c.rows;
        right = right && c.slots[SLOT_ENTITIES].version <= version &&
                column_is_old(w, t->of, c.match->id, c.slots, version) &&
                column_is_old(w, t->body, c.match->id, c.slots, version);
        for (uint32_t k = 0; right && k < t->carried_count; k++)
            right = column_is_old(w, t->carried[k], c.match->id, c.slots, version);
    }
    return right && now->rows == p->seen.rows && now->values == p->seen.values && now->moves == p->seen.moves;
}

/* Makes the picture if it isn't right. `seen`: what was written up to this version is a part of it; what is written
 * from now on has a newer one. *fresh: it was made. False: no memory. */
static bool picture_refresh(reef_place *p, uint64_t seen, bool *fresh)
{
    picture_source s = {.p = p};
    cell_source source = {picture_begin, picture_next, &s, 0, 0};
    picture_seen now;
    *fresh = false;
    if (picture_is_right(p, &now)) return true;
    now.version = seen;
    source.most = now.rows;
    if (p->type->carried_count || p->type->whole) source.indices = p->world->hot.index_count;
    p->made = reef__cells_sort(&p->world->family->memory, p->type, &source, &p->rows, &p->grids);
    p->seen = now;
    int32_t highest = INT32_MIN; /* with a sign, as any processor compares several at once */
    const uint32_t flip = 0x80000000u, rows = p->rows.count, *index = p->rows.index;
    for (uint32_t i = 0; i < rows; i++)
        highest = (int32_t)(index[i] ^ flip) > highest ? (int32_t)(index[i] ^ flip) : highest;
    p->parts = rows ? (((uint32_t)highest ^ flip) >> PART_BITS) + 1 : 0;
    *fresh = p->made;
    return p->made;
}

/* ---- outside of systems ---- */

static const reef_place *picture_refuse(reef_world *w, reef_status s, reef_component c, const char *why)
{
    if (why) reef__failure_detail(w, s, "reef_place_of", 0, why);
    else reef__failure(w, s, "reef_place_of", c, (reef_entity){0, 0}, 0);
    return NULL;
}

const reef_place *reef_place_of_id(reef_world *w, reef_component c)
{
    const char *why = NULL;
    bool fresh;
    if (!WORLD_GIVEN_TO(w, "reef_place_of")) return NULL;
    reef_place *p = reef__picture_find(w, c.id);
    const bool known = p && (p->changes == reef__places_changes() || w->locks || w->running);
    const place_type *t = known ? p->type : reef__place_type_of(c.id, &why);
    if (reef__type_of(c.id) == NULL) return picture_refuse(w, REEF_UNKNOWN_TYPE, c, NULL);
    if (t == NULL) return picture_refuse(w, why ? REEF_BAD_ARGUMENT : REEF_ABSENT, c, why);
    if (w->running) return picture_refuse(w, REEF_LOCKED, c, NULL);
    if (w->locks) return p && p->made ? p : picture_refuse(w, REEF_LOCKED, c, NULL);
    p = picture_take(w, t);
    if (p == NULL || !reef__queries_ready(w) || !picture_refresh(p, w->hot.version, &fresh))
        return picture_refuse(w, REEF_NO_MEMORY, c, NULL);
    if (fresh) reef__invalidate(w, INVALIDATE_LOOKED_AT);
    return p;
}

/* ---- for systems ---- */

const char *reef__picture_reads(uint32_t component, place_reads *reads)
{
    const char *why;
    const place_type *t = reef__place_type_of(component, &why);
    reads->count = 0;
    if (t && t->body) reads->type[reads->count++] = (reef_component){t->body->id};
    for (uint32_t k = 0; t && k < t->carried_count; k++)
        reads->type[reads->count++] = (reef_component){t->carried[k]->id};
    return t ? NULL : why ? why : "it has no place: REEF_PLACE(Position, x, y, .cell = 1)";
}

reef_status reef__picture_prepare(reef_world *w, uint32_t component)
{
    const char *why;
    const place_type *t = reef__place_type_of(component, &why);
    reef_place *p = t ? picture_take(w, t) : reef__picture_find(w, component); /* refused since: it stays */
    return p && query_update(p->query) ? REEF_OK : REEF_NO_MEMORY;
}

bool reef__picture_refresh(reef_world *w, uint32_t component, uint64_t seen)
{
    reef_place *p = reef__picture_find(w, component);
    bool fresh;
    mutex_lock(&p->lock);
    const bool ok = picture_refresh(p, seen, &fresh);
    mutex_unlock(&p->lock);
    return ok;
}
