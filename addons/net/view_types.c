/* The types of a view: which are allowed, their digest, and values as bytes. Only fields are sent, little endian, so
 * neither the bytes between them nor the machine matter. */
#include "net.h"
#include "view.h"
#include <stdio.h>

void *view__alloc(const reef_allocator *a, size_t bytes)
{
    void *block = a->resize(a->context, NULL, 0, bytes, 16);
    if (block) memset(block, 0, bytes);
    return block;
}

void view__free(const reef_allocator *a, void *block, size_t bytes)
{
    if (block) (void)a->resize(a->context, block, bytes, 0, 16);
}

bool view__grow(const reef_allocator *a, void **block, uint32_t *room, uint32_t need, size_t one)
{
    uint32_t size = *room ? *room : 64;
    if (need <= *room) return true;
    while (size < need) size *= 2;
    unsigned char *more = view__alloc(a, size * one);
    if (more == NULL) return false;
    if (*room) memcpy(more, *block, *room * one);
    view__free(a, *block, *room * one);
    *block = more;
    *room = size;
    return true;
}

static uint32_t mix(uint32_t h, const void *bytes, size_t count)
{
    const uint64_t d = net__digest(bytes, count) ^ (uint64_t)h * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(d ^ d >> 32);
}

static const char *wrong_type(view_types *types, const reef_type_info *info, const char *why)
{
    (void)snprintf(types->wrong, sizeof types->wrong, "%.60s %s", info->name, why);
    return types->wrong;
}

static const char *type_make(view_types *types, reef_component id, const reef_type_info *info)
{
    view_type *t = &types->of[types->count];
    *t = (view_type){.id = id, .size = info->size, .first = types->field_count};
    types->digest = mix(types->digest, info->name, strlen(info->name));
    if (info->hooks || info->relation || info->home == REEF_SPLIT || info->home == REEF_MULTI)
        return wrong_type(types, info, "has hooks, is a relation, or is in REEF_SPLIT or REEF_MULTI");
    if (info->size && info->field_count == 0)
        return wrong_type(types, info, "has no fields, and a type that is shown has some");
    if (info->size > REEF_NET_VIEW_VALUE_MAX)
        return wrong_type(types, info, "has more than the 512 bytes of a type that is shown");
    for (uint32_t i = 0; i < info->field_count; i++) {
        const reef_field *f = &info->fields[i];
        const bool entity = f->kind == REEF_ENTITY;
        const uint32_t one = net__element_bytes(f->kind), shape[3] = {(uint32_t)f->kind, f->bytes, f->offset};
        types->fields[types->field_count++] = (view_field){f->offset, f->bytes / one * one, one, entity};
        t->wire += entity ? f->bytes / 2 : f->bytes;
        if (entity) types->entities |= 1u << types->count;
        types->digest = mix(mix(types->digest, f->name, strlen(f->name)), shape, sizeof shape);
    }
    t->count = types->field_count - t->first;
    types->count++;
    return NULL;
}

const char *view__types_make(view_types *types, const reef_net_view_config *config, const reef_allocator *a)
{
    uint32_t fields = 0, bytes = 0;
    reef_type_info info;
    *types = (view_types){0};
    if (config->types == NULL || config->type_count == 0 || config->type_count > REEF_NET_VIEW_TYPES_MAX)
        return "a view has 1 ... 32 types";
    for (uint32_t i = 0; i < config->type_count; i++) {
        if (!reef_type_get(config->types[i].type, &info)) return "a type of the list isn't known";
        for (uint32_t k = 0; k < i; k++)
            if (config->types[k].type.id == config->types[i].type.id)
                return wrong_type(types, &info, "is listed twice");
        fields += info.field_count;
    }
    types->fields = view__alloc(a, (fields + 1) * sizeof *types->fields);
    if (types->fields == NULL) return "no memory";
    for (uint32_t i = 0; i < config->type_count; i++) {
        (void)reef_type_get(config->types[i].type, &info);
        const char *wrong = type_make(types, config->types[i].type, &info);
        if (wrong) return wrong;
        if (config->types[i].own) types->own |= 1u << i;
        bytes += types->of[i].wire;
    }
    return bytes > VIEW_VALUES_MAX ? "the types that are shown have more than 1000 bytes together" : NULL;
}

void view__types_free(view_types *types, const reef_allocator *a)
{
    uint32_t fields = 0;
    reef_type_info info;
    for (uint32_t i = 0; i < types->count; i++)
        if (reef_type_get(types->of[i].id, &info)) fields += info.field_count;
    view__free(a, types->fields, (fields + 1) * sizeof *types->fields);
    *types = (view_types){0};
}

void view__varint_put(wire *w, uint32_t value)
{
    for (; value >= 128; value >>= 7) wire_u8(w, (value & 127) | 128);
    wire_u8(w, value);
}

uint32_t view__varint_get(wire *w)
{
    uint32_t value = 0;
    for (uint32_t shift = 0; shift < 32; shift += 7) {
        const uint32_t b = wire_get8(w);
        value |= (b & 127) << shift;
        if (b < 128) return value;
    }
    w->bad = true;
    return 0;
}

static bool big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

static void turn(unsigned char *bytes, uint32_t count, uint32_t one)
{
    for (uint32_t at = 0; at < count; at += one)
        for (uint32_t i = 0; i < one / 2; i++) {
            const unsigned char b = bytes[at + i];
            bytes[at + i] = bytes[at + one - 1 - i];
            bytes[at + one - 1 - i] = b;
        }
}

void view__value_put(wire *w, const view_types *types, uint32_t type, const void *value,
                     uint32_t (*number)(void *context, reef_entity entity), void *context)
{
    const view_type *t = &types->of[type];
    for (uint32_t i = t->first; i < t->first + t->count; i++) {
        const view_field *f = &types->fields[i];
        const unsigned char *at = (const unsigned char *)value + f->offset;
        const size_t was = w->at;
        if (!f->entity) {
            wire_put(w, at, f->bytes);
            if (!w->bad && f->one > 1 && big_endian()) turn(w->bytes + was, f->bytes, f->one);
            continue;
        }
        for (uint32_t k = 0; k < f->bytes; k += f->one) {
            reef_entity e;
            memcpy(&e, at + k, sizeof e);
            wire_u32(w, reef_entity_is_null(e) ? 0 : number(context, e));
        }
    }
}

void view__value_get(wire *w, const view_types *types, uint32_t type, void *value,
                     reef_entity (*entity)(void *context, uint32_t number, uint32_t offset), void *context)
{
    const view_type *t = &types->of[type];
    memset(value, 0, t->size);
    for (uint32_t i = t->first; i < t->first + t->count; i++) {
        const view_field *f = &types->fields[i];
        unsigned char *at = (unsigned char *)value + f->offset;
        if (!f->entity) {
            wire_bytes(w, at, f->bytes);
            if (f->one > 1 && big_endian()) turn(at, f->bytes, f->one);
            continue;
        }
        for (uint32_t k = 0; k < f->bytes; k += f->one) {
            const uint32_t number = wire_get32(w);
            const reef_entity e = number ? entity(context, number, f->offset + k) : (reef_entity){0};
            memcpy(at + k, &e, sizeof e);
        }
    }
}
