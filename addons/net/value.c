/* Values of fields as text, for reports. */
#include "net.h"
#include "reef_net_recording.h"
#include <reef.h>
#include <reef/all.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t net__element_bytes(reef_kind kind)
{
    static const unsigned char bytes[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};
    return kind <= REEF_ENTITY ? bytes[kind] : 1;
}

void net__element_text(const reef_field *f, const unsigned char *at, char *text, size_t size)
{
#define WRITE(KIND, type, format, as) \
    case KIND: { \
        type v; \
        memcpy(&v, at, sizeof v); \
        (void)snprintf(text, size, format, (as)v); \
        return; \
    }
    switch (f->kind) {
        WRITE(REEF_BOOL, uint8_t, "%u", unsigned)
        WRITE(REEF_I8, int8_t, "%d", int)
        WRITE(REEF_U8, uint8_t, "%u", unsigned)
        WRITE(REEF_I16, int16_t, "%d", int)
        WRITE(REEF_U16, uint16_t, "%u", unsigned)
        WRITE(REEF_I32, int32_t, "%d", int)
        WRITE(REEF_U32, uint32_t, "%u", unsigned)
        WRITE(REEF_I64, int64_t, "%lld", long long)
        WRITE(REEF_U64, uint64_t, "%llu", unsigned long long)
        WRITE(REEF_F32, float, "%.9g", double)
        WRITE(REEF_F64, double, "%.17g", double)
        WRITE(REEF_CHAR, char, "'%c'", int)
    default: {
        reef_entity e;
        memcpy(&e, at, sizeof e);
        (void)snprintf(text, size, "#%uv%u", e.index, e.generation);
    }
    }
#undef WRITE
}

void net__field_name(const reef_field *f, size_t at, char *text, size_t size)
{
    const size_t one = net__element_bytes(f->kind);
    if (f->bytes == one) (void)snprintf(text, size, "%s", f->name);
    else (void)snprintf(text, size, "%s[%u]", f->name, (unsigned)((at - f->offset) / one));
}

/* The field of this name; *at is where its element is. NULL: there is none. */
static const reef_field *field_find(const reef_type_info *type, const char *name, size_t *at)
{
    const size_t length = strcspn(name, "[");
    for (uint32_t i = 0; i < type->field_count; i++) {
        const reef_field *f = &type->fields[i];
        if (strlen(f->name) != length || memcmp(f->name, name, length) != 0) continue;
        const size_t one = net__element_bytes(f->kind);
        const unsigned long n = name[length] ? strtoul(name + length + 1, NULL, 10) : 0;
        if (n >= f->bytes / one) return NULL;
        *at = f->offset + n * one;
        return f;
    }
    return NULL;
}

bool reef_net_value_text(reef_world *world, reef_entity entity, const char *component, const char *field, char *text,
                         size_t size)
{
    reef_type_info type;
    size_t at = 0;
    if (world == NULL || component == NULL || field == NULL || text == NULL || size == 0) return false;
    const reef_component id = reef_type_find(component);
    if (!reef_type_get(id, &type)) return false;
    const void *value = reef_is_alive(world, entity) ? reef_get_id(world, entity, id) : NULL;
    if (field[0] == 0) {
        (void)snprintf(text, size, reef_has_id(world, entity, id) ? "there" : "not there");
        return true;
    }
    const reef_field *f = field_find(&type, field, &at);
    if (f == NULL || value == NULL) return false;
    net__element_text(f, (const unsigned char *)value + at, text, size);
    return true;
}
