/* Entities that travel: as bytes, with everything they have.
 *
 *   packet:  number of types | their names | number of entities | entities
 *   entity:  handle, cell | disabled? | name | number of components | components
 *   component:  number of the type | disabled? | number of values | the values as they are in memory
 *
 * Only plain data can travel. The values of a relation are {target, place, data}; a target that isn't here becomes a
 * handle without components. */
#include "ranks.h"

#include <stdio.h>

enum { DISABLED = 1 };

/* ---- types ---- */

static bool is_own(reef_component c)
{
    return c.id == reef_id(ReefCell).id || c.id == reef_id(ReefGhost).id || c.id == reef_id(ReefInner).id;
}

/* The number of a type in a packet. UINT32_MAX: no memory. */
static uint32_t type_number(packet *p, reef_component c)
{
    for (uint32_t i = 0; i < p->type_count; i++)
        if (p->types[i].id == c.id) return i;
    if (!ranks__room(&p->types, &p->type_room, (size_t)p->type_count + 1, sizeof *p->types)) return UINT32_MAX;
    p->types[p->type_count] = c;
    return p->type_count++;
}

/* ---- packing ---- */

typedef struct packing {
    reef_ranks *r;
    packet *p;
    reef_world *from;
    reef_entity e;
    uint32_t count;
    reef_component last; /* a type with several values may be visited once for each */
    reef_status status;
} packing;

const char *ranks__stays(const reef_type_info *info)
{
    const reef_hooks *h = info->hooks;
    if (info->home == REEF_SHARED) return "its values are shared";
    return h && (h->construct || h->copy || h->move || h->destroy) ? "it has hooks" : NULL;
}

static bool values_pack(packing *x, reef_component c, const reef_type_info *info)
{
    bytes *b = &x->p->body;
    uint32_t n = 1;
    if (info->size == 0) return ranks__put_u32(b, 0), true;
    if (info->home == REEF_MULTI || info->relation) {
        const void *all = reef_get_all_id(x->from, x->e, c, &n);
        ranks__put_u32(b, n);
        ranks__put(b, all, (size_t)n * info->size);
        return true;
    }
    unsigned char *value = malloc(info->size);
    if (value == NULL || !reef_read_id(x->from, x->e, c, value, info->size)) return free(value), false;
    ranks__put_u32(b, n);
    ranks__put(b, value, info->size);
    free(value);
    return true;
}

static bool component_pack(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    packing *x = context;
    reef_type_info info;
    (void)data;
    (void)size;
    if (is_own(c) || c.id == x->last.id || !reef_type_get(c, &info)) return true;
    x->last = c;
    const char *why = ranks__stays(&info);
    if (why) {
        x->status = ranks__fail(x->r, REEF_NOT_PORTABLE, "%s can't travel between ranks: %s", info.name, why);
        return false;
    }
    ranks__put_u32(&x->p->body, type_number(x->p, c));
    ranks__put_u32(&x->p->body, reef_is_enabled_id(x->from, e, c) ? 0 : DISABLED);
    x->count++;
    if (values_pack(x, c, &info) && !x->p->body.failed) return true;
    x->status = REEF_NO_MEMORY;
    return false;
}

reef_status ranks__pack(reef_ranks *r, packet *p, reef_world *from, reef_entity e, uint32_t c)
{
    packing x = {r, p, from, e, 0, {0}, REEF_OK};
    bytes *b = &p->body;
    const char *name = reef_name(from, e);
    const uint32_t length = name ? (uint32_t)strlen(name) : 0;
    ranks__put_entity(b, e);
    ranks__put_u32(b, c);
    ranks__put_u32(b, reef_is_enabled(from, e) ? 0 : DISABLED);
    ranks__put_u32(b, length);
    ranks__put(b, name, length);
    const size_t at = b->count;
    ranks__put_u32(b, 0);
    reef_visit_entity(from, e, component_pack, &x);
    if (x.status == REEF_OK && b->failed) x.status = REEF_NO_MEMORY;
    if (x.status == REEF_OK) memcpy(b->data + at, &x.count, sizeof x.count);
    p->entities++;
    return x.status;
}

void ranks__seal(packet *p, bytes *to)
{
    ranks__put_u32(to, p->type_count);
    for (uint32_t i = 0; i < p->type_count; i++) {
        const char *name = reef_type_name(p->types[i]);
        ranks__put_u32(to, (uint32_t)strlen(name));
        ranks__put(to, name, strlen(name));
    }
    ranks__put_u32(to, p->entities);
    ranks__put(to, p->body.data, p->body.count);
    to->failed |= p->body.failed;
}

void ranks__packet_free(packet *p)
{
    ranks__bytes_free(&p->body);
    free(p->types);
}

/* ---- unpacking ---- */

reef_status ranks__hear_of(reef_ranks *r, reef_entity e)
{
    if (reef_is_alive(r->world, e)) return REEF_OK;
    const reef_status s = reef_create_as(r->world, e);
    if (s == REEF_OK) r->remote++;
    else ranks__fail(r, s, "the id #%uv%u can't be used here", e.index, e.generation);
    return s;
}

reef_status ranks__leave(reef_ranks *r, reef_entity e)
{
    const ReefCell *at = reef_get(r->world, e, ReefCell);
    if (at == NULL) return REEF_OK;
    const uint32_t c = at->cell;
    reef_status s = reef_set_name(r->world, e, NULL);
    if (s == REEF_OK) s = reef_remove_all(r->world, e);
    if (s == REEF_OK) s = reef_enable(r->world, e);
    if (s != REEF_OK) return ranks__fail(r, s, "#%uv%u can't leave: %s", e.index, e.generation, reef_status_text(s));
    ranks__member_drop(r, c, e);
    r->remote++;
    return REEF_OK;
}

/* The values of one entity, gathered so that the entity moves to its table at once. Their copies are aligned; while
 * copies are added, the values hold offsets in `copy` instead of pointers. */
static bool arrival_add(reef_ranks *r, reef_component c, const void *value, size_t size)
{
    static const unsigned char zeroes[16];
    arrival *a = &r->arrival;
    if (!ranks__room(&a->values, &a->room, (size_t)a->count + 1, sizeof *a->values)) return false;
    ranks__put(&a->copy, zeroes, (16 - a->copy.count % 16) % 16);
    const size_t at = a->copy.count;
    ranks__put(&a->copy, value, size);
    a->values[a->count++] =
        reef_value_make(c, size ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT, (uint32_t)size, (const void *)(uintptr_t)at);
    return !a->copy.failed;
}

reef_status ranks__arrival_end(reef_ranks *r, reef_entity e)
{
    arrival *a = &r->arrival;
    for (uint32_t i = 0; i < a->count; i++)
        a->values[i].data = a->values[i].kind == REEF_VALUE_ONE ? a->copy.data + (uintptr_t)a->values[i].data : NULL;
    const reef_status s = a->count ? reef_change_values(r->world, e, a->values, a->count) : REEF_OK;
    a->count = 0;
    a->copy.count = 0;
    return s;
}

/* A value that the entity has already is written where it is. */
reef_status ranks__value_arrive(reef_ranks *r, reef_entity e, reef_component c, const void *value, size_t size)
{
    if (!reef_has_id(r->world, e, c)) return arrival_add(r, c, value, size) ? REEF_OK : REEF_NO_MEMORY;
    return size ? reef_set_id(r->world, e, c, value, size) : REEF_OK;
}

static reef_status relation_arrive(reef_ranks *r, reef_entity e, reef_component c, const reef_type_info *info,
                                   const unsigned char *values, uint32_t n)
{
    reef_type_info data = {.size = 0};
    if (info->data.id && !reef_type_get(info->data, &data)) return REEF_UNKNOWN_TYPE;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *v = values + (size_t)i * info->size;
        reef_entity target;
        memcpy(&target, v, sizeof target);
        reef_status s = ranks__hear_of(r, target);
        if (s == REEF_OK) {
            /* an aligned copy of the data */
            double copy[32];
            void *d = data.size <= sizeof copy ? (void *)copy : malloc(data.size);
            if (d == NULL) return REEF_NO_MEMORY;
            if (data.size) memcpy(d, v + 16, data.size);
            s = reef_relate_id(r->world, e, c, target, data.size ? d : NULL, data.size);
            if (d != copy) free(d);
        }
        if (s < 0) return ranks__fail(r, s, "a relation %s can't be made here: %s", info->name, reef_status_text(s));
    }
    return REEF_OK;
}

/* A component of an entity that arrives. */
reef_status ranks__component_arrive(reef_ranks *r, reef_entity e, reef_component c, const unsigned char *v, uint32_t n)
{
    reef_type_info info;
    if (!reef_type_get(c, &info)) return REEF_UNKNOWN_TYPE;
    if (info.relation) return relation_arrive(r, e, c, &info, v, n);
    if (info.home != REEF_MULTI) return ranks__value_arrive(r, e, c, v, info.size);
    for (uint32_t i = 0; i < n; i++)
        if (reef_append_id(r->world, e, c, v + (size_t)i * info.size, info.size) == NULL)
            return reef_last_error(r->world).status;
    return REEF_OK;
}

reef_status ranks__arrive(reef_ranks *r, reef_entity e, uint32_t c)
{
    const bool here = reef_is_alive(r->world, e) && reef_has(r->world, e, ReefCell);
    const reef_status s = here ? ranks__leave(r, e) : ranks__hear_of(r, e);
    if (s != REEF_OK) return s;
    r->remote--;
    return ranks__member_add(r, c, e) ? REEF_OK : REEF_NO_MEMORY;
}

typedef struct unpacking {
    bytes *b;
    const reef_component *types;
    uint32_t type_count;
} unpacking;

static reef_status components_unpack(reef_ranks *r, const unpacking *x, reef_entity e)
{
    bytes *b = x->b;
    reef_status s = REEF_OK;
    const uint32_t count = ranks__take_u32(b);
    for (uint32_t i = 0; s >= 0 && i < count; i++) {
        const uint32_t t = ranks__take_u32(b), flags = ranks__take_u32(b), n = ranks__take_u32(b);
        reef_type_info info;
        if (b->failed || t >= x->type_count || !reef_type_get(x->types[t], &info)) return REEF_CORRUPT;
        const unsigned char *v = ranks__take(b, (size_t)n * info.size);
        if (v == NULL) return REEF_CORRUPT;
        s = ranks__component_arrive(r, e, x->types[t], v, n);
        if (s >= 0 && flags & DISABLED &&
            !ranks__room(&r->arrival.disabled, &r->arrival.disabled_room, (size_t)r->arrival.disabled_count + 1,
                         sizeof(reef_component)))
            s = REEF_NO_MEMORY;
        else if (flags & DISABLED) r->arrival.disabled[r->arrival.disabled_count++] = x->types[t];
    }
    return s;
}

static reef_status name_arrive(reef_ranks *r, reef_entity e, const unsigned char *name, uint32_t length)
{
    char text[REEF_NAME_MAX + 1];
    if (length == 0) return REEF_OK;
    memcpy(text, name, length);
    text[length] = 0;
    return reef_set_name(r->world, e, text);
}

static reef_status entity_unpack(reef_ranks *r, const unpacking *x)
{
    bytes *b = x->b;
    const reef_entity e = ranks__take_entity(b);
    const ReefCell at = {ranks__take_u32(b)};
    const uint32_t flags = ranks__take_u32(b), length = ranks__take_u32(b);
    const unsigned char *name = ranks__take(b, length);
    if (b->failed || length > REEF_NAME_MAX || !ranks__mine(r, at.cell)) return REEF_CORRUPT;
    r->arrival.disabled_count = 0;
    reef_status s = ranks__arrive(r, e, at.cell);
    if (s == REEF_OK) s = components_unpack(r, x, e);
    if (s >= 0) s = ranks__value_arrive(r, e, reef_id(ReefCell), &at, sizeof at);
    if (s >= 0 && ranks__inner(r, at.cell)) s = ranks__value_arrive(r, e, reef_id(ReefInner), NULL, 0);
    if (s >= 0) s = ranks__arrival_end(r, e);
    for (uint32_t i = 0; s >= 0 && i < r->arrival.disabled_count; i++)
        s = reef_enable_id(r->world, e, r->arrival.disabled[i], false);
    if (s >= 0 && flags & DISABLED) s = reef_disable(r->world, e);
    if (s >= 0) s = name_arrive(r, e, name, length);
    if (s < 0) ranks__fail(r, s, "#%uv%u can't arrive: %s", e.index, e.generation, reef_status_text(s));
    return s < 0 ? s : REEF_OK;
}

reef_status ranks__unpack(reef_ranks *r, bytes *b)
{
    const uint32_t n = ranks__take_u32(b);
    char name[REEF_TYPE_NAME_MAX + 1];
    if (b->failed || n > REEF_TYPES_MAX) return REEF_CORRUPT;
    reef_component *types = calloc((size_t)n + 1, sizeof *types);
    reef_status s = types ? REEF_OK : REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) {
        const uint32_t length = ranks__take_u32(b);
        const unsigned char *text = length <= REEF_TYPE_NAME_MAX ? ranks__take(b, length) : NULL;
        if (text == NULL) s = REEF_CORRUPT;
        else {
            memcpy(name, text, length);
            name[length] = 0;
            types[i] = reef_type_find(name);
            if (types[i].id == 0) s = ranks__fail(r, REEF_UNKNOWN_TYPE, "this rank has no type %s", name);
        }
    }
    const uint32_t entities = ranks__take_u32(b);
    if (s == REEF_OK && b->failed) s = REEF_CORRUPT;
    const unpacking x = {b, types, n};
    for (uint32_t i = 0; s == REEF_OK && i < entities; i++) s = entity_unpack(r, &x);
    free(types);
    return s;
}

/* ---- moving ---- */

/* Lists the entities that have changed their cell. */
static reef_status moved_list(reef_ranks *r, cell_entity **list, uint32_t *count)
{
    uint32_t cells[REEF_BLOCK_ROWS], room = 0;
    uint64_t placed = 0;
    reef_status s = REEF_OK;
    for (reef_block b = reef_begin(r->world, r->placed); reef_next(&b);) {
        const ReefCell *was = reef_in(&b, ReefCell);
        placed += b.count;
        r->config.cell_of(&b, cells, r->config.context);
        for (uint32_t i = 0; s == REEF_OK && i < b.count; i++) {
            if (cells[i] >= r->config.cells)
                s = ranks__fail(r, REEF_BAD_ARGUMENT, "cell_of gave %u, which is no cell", cells[i]);
            else if (cells[i] != was[i].cell) {
                if (!ranks__room(list, &room, (size_t)*count + 1, sizeof **list)) s = REEF_NO_MEMORY;
                else (*list)[(*count)++] = (cell_entity){cells[i], b.entities[i]};
            }
        }
    }
    if (s == REEF_OK && placed != r->owned)
        s = ranks__fail(r, REEF_UNDECLARED, "an entity of this rank has lost its place");
    return s;
}

reef_status ranks__place(reef_ranks *r)
{
    cell_entity *list = NULL;
    uint32_t n = 0;
    reef_status s = moved_list(r, &list, &n);
    r->leaving_count = 0;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) {
        const reef_entity e = list[i].entity;
        const uint32_t from = reef_get(r->world, e, ReefCell)->cell, to = list[i].cell;
        if (!ranks__mine(r, to)) {
            if (!ranks__room(&r->leaving, &r->leaving_room, (size_t)r->leaving_count + 1, sizeof *r->leaving))
                s = REEF_NO_MEMORY;
            else r->leaving[r->leaving_count++] = list[i];
            continue;
        }
        ranks__member_drop(r, from, e);
        if (!ranks__member_add(r, to, e) || reef_set(r->world, e, ReefCell, to) < 0) s = REEF_NO_MEMORY;
        else s = ranks__inner_mark(r, e, to);
    }
    free(list);
    return s;
}

static reef_status leaving_pack(reef_ranks *r, packet *p)
{
    reef_status s = REEF_OK;
    for (uint32_t i = 0; s == REEF_OK && i < r->leaving_count; i++) {
        const cell_entity *x = &r->leaving[i];
        s = ranks__pack(r, &p[ranks__owner(r, x->cell)], r->world, x->entity, x->cell);
    }
    for (uint32_t i = 0; s == REEF_OK && i < r->leaving_count; i++) s = ranks__leave(r, r->leaving[i].entity);
    r->stats.moved_out += r->leaving_count;
    return s;
}

/* What goes to a rank: the packet's length, the packet, the number of messages, and these, which come later. */
static bool parcel_make(packet *p, uint32_t messages, bytes *out)
{
    ranks__put_u64(out, 0);
    const size_t at = out->count;
    ranks__seal(p, out);
    const uint64_t length = out->count - at;
    ranks__put_u32(out, messages);
    if (!out->failed) memcpy(out->data + at - sizeof length, &length, sizeof length);
    return !out->failed;
}

static reef_status parcel_open(reef_ranks *r, bytes *in)
{
    if (in->count == 0) return REEF_OK;
    const uint64_t before = r->owned;
    (void)ranks__take_u64(in);
    const reef_status s = ranks__unpack(r, in);
    r->stats.moved_in += r->owned - before;
    if (s != REEF_OK) return s;
    return ranks__messages_unpack(r, in);
}

reef_status ranks__move(reef_ranks *r, reef_status s)
{
    const size_t n = (size_t)r->size;
    packet *p = calloc(n, sizeof *p);
    bytes *out = calloc(2 * n, sizeof *out), *in = out ? out + n : NULL;
    uint32_t *messages = calloc(n, sizeof *messages);
    if (s == REEF_OK) s = p && out && messages ? leaving_pack(r, p) : REEF_NO_MEMORY;
    if (s == REEF_OK) ranks__messages_count(r, messages);
    for (int i = 0; s == REEF_OK && i < r->size; i++)
        if (i != r->rank && (p[i].entities || messages[i]) && !parcel_make(&p[i], messages[i], &out[i]))
            s = REEF_NO_MEMORY;
    if (s == REEF_OK && !ranks__messages_leave(r, out)) s = REEF_NO_MEMORY;
    free(messages);
    s = ranks__exchange(r, s, out, in);
    for (size_t i = 0; s == REEF_OK && i < n; i++) s = parcel_open(r, &in[i]);
    for (size_t i = 0; p && out && i < n; i++) {
        ranks__packet_free(&p[i]);
        ranks__bytes_free(&out[i]);
        ranks__bytes_free(&in[i]);
    }
    free(p);
    free(out);
    return s;
}
