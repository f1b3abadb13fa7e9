/* The declarations of places.
 *
 *   REEF_PLACE ─► pending list ──first question──► checked against the fields of the type ─► declared[]
 *   reef_place_declare ───────────────────────────────────────────────────────────────────┘
 *
 * A declaration is checked when somebody first asks for the place of a type, since only then all types are known. What
 * was checked stays for the life of the process, since pictures point to it. Two declarations of a type in one program
 * must be the same; but where code comes and goes, that of the newest code takes over. */
#include "index/place_type.h"
#include "type/code.h"
#include "type/fields.h"
#include "storage/place_calls.h"
#include "index/picture.h"
#include "reef/place.h"
#include "reef/relation.h"
#include "reef/type_info.h"
#include <string.h>

typedef struct place_declared {
    place_type place;
    const char *why;           /* not NULL: it is refused */
    const reef_place_decl *by; /* NULL: a call, or it was unloaded */
    bool over;                 /* a later declaration of the type took over */
} place_declared;

static struct {
    mutex lock;
    reef_place_decl *pending;
    uint32_t count;
    uint32_t changes; /* how many declarations came, of which one may take over */
    bool full;        /* one was declared beside its type for which there was no room */
    place_declared declared[REEF_PLACES_MAX];
} place_list = {.lock = MUTEX_INIT};

/* ---- checking ---- */

static const reef_field *place_field(const type *t, const char *name)
{
    return reef__field_named(t->fields, t->field_count, name, strlen(name));
}

static bool is_single(const reef_field *f) { return f->bytes == reef__kind_size(f->kind); }

static const char *take_coordinates(place_type *p, const reef_place_desc *d)
{
    p->axes = d->fields[2] ? 3 : 2;
    for (uint32_t i = 0; i < p->axes; i++) {
        const char *name = d->fields[i];
        const reef_field *f = name ? place_field(p->of, name) : NULL;
        if (f == NULL) return "the type has no such field: REEF_FIELDS names its fields";
        if (!is_single(f) || (f->kind != REEF_F32 && f->kind != REEF_F64 && f->kind != REEF_I32))
            return "a coordinate is an f32, an f64 or an i32";
        if (i && f->kind != p->kind) return "its coordinates are of different kinds";
        p->kind = f->kind;
        p->offset[i] = f->offset;
    }
    return NULL;
}

static const char *take_edges(place_type *p, const reef_place_desc *d)
{
    for (uint32_t i = 0; i < p->axes; i++) {
        const double low = d->edges[i][0], high = d->edges[i][1];
        const bool narrow = p->kind == REEF_F32;
        if (low == 0 && high == 0) continue;
        p->low[i] = narrow ? (double)(float)low : low;
        p->length[i] = narrow ? (double)((float)high - (float)low) : high - low;
        if (!(p->length[i] > 0 && p->length[i] <= 1e30 && low >= -1e30 && high <= 1e30))
            return "an edge isn't above the other one, or too far away";
        p->extent[i] = p->length[i];
        if (d->walls) p->length[i] = 0;
    }
    return NULL;
}

/* Cells that can be walked. */
static const char *take_cells(place_type *p, const reef_place_desc *d)
{
    double all = 1;
    p->whole = d->whole;
    for (uint32_t i = 0; i < AXES; i++) {
        double n = i < p->axes ? p->extent[i] / p->cell : 1;
        if (p->whole && n == 0) return "cells are whole only between edges: each axis needs some";
        n = n < 1 ? 1 : n;
        all *= n;
        if (all <= REEF_PLACE_CELLS_MAX) p->cells[i] = (uint32_t)n;
        else if (p->whole) return "more whole cells than REEF_PLACE_CELLS_MAX";
    }
    return NULL;
}

/* The types of which the picture has the values as well. */
static const char *take_carried(place_type *p, const reef_place_desc *d)
{
    const char *at = d->carries;
    while (at && *at) {
        char name[REEF_TYPE_NAME_MAX + 1];
        const size_t length = strcspn(at, " ");
        if (length == 0 || length > REEF_TYPE_NAME_MAX)
            return "what it carries are names of types with a space between";
        if (p->carried_count == REEF_PLACE_CARRIES_MAX) return "it carries more types than REEF_PLACE_CARRIES_MAX";
        memcpy(name, at, length);
        name[length] = 0;
        const type *t = reef__type_of(reef_type_find(name).id);
        if (t == NULL) return "there is no such type to carry";
        if (t->size == 0 || t->align > PLAIN_ALIGN || t->home == REEF_MULTI || t->relation || t->split)
            return "such a type can't be carried";
        if (t->hooks.copy || t->hooks.move || t->hooks.destroy) return "what it carries can't be copied as bytes";
        p->carried[p->carried_count++] = t;
        at += length;
        at += *at == ' ';
    }
    return NULL;
}

static const char *take_body(place_type *p, const reef_place_desc *d)
{
    const char *dot = d->radius ? strchr(d->radius, '.') : NULL;
    char name[REEF_TYPE_NAME_MAX + 1];
    if (d->radius == NULL) return NULL;
    const size_t length = dot ? (size_t)(dot - d->radius) : 0;
    if (length == 0 || length > REEF_TYPE_NAME_MAX) return "the radius is a field: \"Body.radius\"";
    memcpy(name, d->radius, length);
    name[length] = 0;
    p->body = reef__type_of(reef_type_find(name).id);
    const reef_field *f = p->body ? place_field(p->body, dot + 1) : NULL;
    if (f == NULL) return "there is no such field for the radius";
    if (!is_single(f) || (f->kind != REEF_F32 && f->kind != REEF_F64)) return "a radius is an f32 or an f64";
    if (p->body->home == REEF_MULTI || p->body->relation) return "an entity may have several radii";
    p->body_offset = f->offset;
    p->body_kind = f->kind;
    return NULL;
}

/* Fills in the place of a type. Returns why it is refused; NULL: it isn't. */
static const char *place_check(place_type *p, const type *t, const reef_place_desc *d)
{
    memset(p, 0, sizeof *p);
    p->of = t;
    p->cell = d->cell;
    if (t->home == REEF_MULTI || t->relation) return "an entity may have several such values";
    if (!(d->cell > 0 && d->cell <= 1e30)) return "the cell's side isn't above 0";
    const char *why = take_coordinates(p, d);
    if (why == NULL) why = take_edges(p, d);
    if (why == NULL) why = take_cells(p, d);
    if (why == NULL) why = take_body(p, d);
    return why ? why : take_carried(p, d);
}

static bool place_same(const place_declared *a, const place_declared *b)
{
    const place_type *x = &a->place, *y = &b->place;
    bool same = x->axes == y->axes && x->kind == y->kind && x->cell == y->cell && x->body == y->body &&
                x->body_offset == y->body_offset && x->whole == y->whole && x->carried_count == y->carried_count &&
                a->why == b->why;
    for (uint32_t i = 0; i < AXES; i++)
        same &= x->offset[i] == y->offset[i] && x->low[i] == y->low[i] && x->length[i] == y->length[i] &&
                x->extent[i] == y->extent[i];
    for (uint32_t i = 0; i < REEF_PLACE_CARRIES_MAX; i++) same &= x->carried[i] == y->carried[i];
    return same;
}

/* ---- the list ---- */

static place_declared *declared_find(uint32_t component)
{
    for (uint32_t i = 0, n = REEF_ACQUIRE_U32(&place_list.count); i < n; i++)
        if (place_list.declared[i].place.of->id == component && !place_list.declared[i].over)
            return &place_list.declared[i];
    return NULL;
}

/* Do two places of a type need the same types beside it? */
static bool reads_same(const place_type *a, const place_type *b)
{
    bool same = a->body == b->body && a->carried_count == b->carried_count;
    for (uint32_t i = 0; i < REEF_PLACE_CARRIES_MAX; i++) same &= a->carried[i] == b->carried[i];
    return same;
}

static reef_status declared_add(const place_declared *d);

/* A declaration of code that was loaded takes over from an earlier one. */
static COLD void declared_take_over(place_declared *was, place_declared *d)
{
    place_declared *like = NULL;
    for (uint32_t i = 0; i < place_list.count; i++) { /* systems were declared for what it read first */
        const place_declared *x = &place_list.declared[i];
        if (x->place.of == d->place.of && x->why == NULL && d->why == NULL && !reads_same(&x->place, &d->place))
            d->why = "code that is loaded again can't change which types its place reads";
    }
    for (uint32_t i = 0; i < place_list.count; i++) {
        place_declared *x = &place_list.declared[i];
        if (x->over && x->place.of == d->place.of && place_same(x, d)) like = x;
    }
    was->over = true;
    if (like) like->over = false, like->by = d->by;
    else if (declared_add(d) == REEF_LIMIT) place_list.full = true;
}

/* Under the lock. `d` has been filled in. */
static reef_status declared_add(const place_declared *d)
{
    place_declared *was = declared_find(d->place.of->id);
    if (was) return place_same(was, d) ? REEF_OK : REEF_EXISTS;
    if (place_list.count == REEF_PLACES_MAX) return REEF_LIMIT;
    place_list.declared[place_list.count] = *d;
    RELEASE_STORE(&place_list.count, place_list.count + 1);
    return REEF_OK;
}

/* Checks what was declared beside types. It calls what takes the lock of the list of types, so that lock comes second
 * everywhere. Under the lock of the places. */
static void pending_take(void)
{
    while (place_list.pending) {
        reef_place_decl *x = place_list.pending;
        const reef_component c = reef_resolve(x->type);
        const type *t = reef__type_of(c.id);
        place_list.pending = x->next;
        x->next = NULL;
        if (t == NULL) continue; /* the type itself is refused */
        place_declared d = {.by = x};
        d.why = place_check(&d.place, t, x->desc);
        place_declared *was = declared_find(c.id);
        if (was && place_same(was, &d)) was->by = x;
        else if (was && reef__code_has((uintptr_t)x)) declared_take_over(was, &d);
        else if (was) was->why = "two declarations of its place differ";
        else if (declared_add(&d) == REEF_LIMIT) place_list.full = true;
    }
}

uint32_t reef__places_changes(void) { return REEF_ACQUIRE_U32(&place_list.changes); }

const place_type *reef__place_type_of(uint32_t component, const char **why)
{
    mutex_lock(&place_list.lock);
    pending_take();
    const place_declared *d = declared_find(component);
    *why = d ? d->why : place_list.full ? "more types have a place than REEF_PLACES_MAX" : NULL;
    mutex_unlock(&place_list.lock);
    return d && d->why == NULL ? &d->place : NULL;
}

/* ---- declaring ---- */

static void places_bring(void)
{
    static const place_calls calls = {.drop = reef__pictures_drop,
                                      .reads = reef__picture_reads,
                                      .prepare = reef__picture_prepare,
                                      .refresh = reef__picture_refresh,
                                      .around = reef__picture_around,
                                      .explain = reef__picture_explain};
    if (reef__places_by == NULL) reef__places_by = &calls; /* under the lock */
}

void reef_place_declare_(reef_place_decl *decl)
{
    if (decl == NULL) return;
    mutex_lock(&place_list.lock);
    places_bring();
    decl->next = place_list.pending;
    place_list.pending = decl;
    RELEASE_STORE(&place_list.changes, place_list.changes + 1);
    mutex_unlock(&place_list.lock);
}

COLD void reef_place_undeclare_(reef_place_decl *decl)
{
    mutex_lock(&place_list.lock);
    for (reef_place_decl **x = &place_list.pending; *x; x = &(*x)->next) {
        if (*x != decl) continue;
        *x = decl->next;
        break;
    }
    for (uint32_t i = 0; i < place_list.count; i++)
        if (place_list.declared[i].by == decl) place_list.declared[i].by = NULL;
    mutex_unlock(&place_list.lock);
}

COLD reef_status reef_place_declare(reef_component component, const reef_place_desc *desc)
{
    const type *t = reef__type_of(component.id);
    place_declared d = {.by = NULL};
    if (t == NULL) return REEF_UNKNOWN_TYPE;
    if (desc == NULL) return REEF_BAD_ARGUMENT;
    d.why = place_check(&d.place, t, desc);
    if (d.why) return REEF_BAD_ARGUMENT;
    mutex_lock(&place_list.lock);
    places_bring();
    pending_take();
    const reef_status s = declared_add(&d);
    mutex_unlock(&place_list.lock);
    return s;
}
