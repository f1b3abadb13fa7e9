/* Types of relations: everything but the name follows from the options and the type of the data. */
#include "type/relation_type.h"
#include "type/fields.h"
#include "type/type.h"
#include "reef/relation.h"
#include "reef/type_info.h"
#include <stdio.h>
#include <string.h>

enum { RELATION_PAGE_ROWS = 64 /* values of a page of exclusive relations: few sources shouldn't cost much */ };

/* Are the first fields of the description these? */
static bool begins_with(const reef_type_desc *d, const reef_field *fields, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const reef_field *f = d->fields ? &d->fields[i] : NULL;
        if (i >= d->field_count || f == NULL || f->name == NULL || strcmp(f->name, fields[i].name) != 0) return false;
        if (f->kind != fields[i].kind || f->offset != fields[i].offset || f->bytes != fields[i].bytes) return false;
    }
    return true;
}

/* What is wrong with these options of a relation; NULL: nothing. */
static const char *options_conflict(uint32_t r)
{
    if (r & REEF_CASCADE && r & REEF_KEEPS_TARGET) return "REEF_CASCADE and REEF_KEEPS_TARGET exclude each other";
    if (r & REEF_SYMMETRIC && r & REEF_ACYCLIC) return "REEF_SYMMETRIC and REEF_ACYCLIC exclude each other";
    if (r & REEF_GROUPED && !(r & REEF_EXCLUSIVE)) return "REEF_GROUPED needs REEF_EXCLUSIVE";
    if (r & ~(uint32_t)REEF_RELATION_ALL || !(r & REEF_IS_RELATION))
        return "its options as a relation are unknown, or lack REEF_IS_RELATION";
    return NULL;
}

static const char *relation_refused(const reef_type_desc *d)
{
    const char *conflict = options_conflict(d->relation);
    if (conflict) return conflict;
    if (d->hooks || d->base.id) return "a relation has no hooks and no base";
    return d->data.id ? "the data of a relation is a component with a size, without hooks, aligned to 16 bytes at most"
                      : "a relation has its own size, alignment and home";
}

static reef_status relation_complete(reef_type_desc *d, made_fields *made)
{
    static const reef_field head[2] = {{.name = "target", .kind = REEF_ENTITY, .offset = 0, .bytes = 8},
                                       {.name = "place", .kind = REEF_U64, .offset = 8, .bytes = 8}};
    const type *data = reef__type_of(d->data.id);
    const bool exclusive = d->relation & REEF_EXCLUSIVE;
    if (d->data.id && data == NULL) return REEF_UNKNOWN_TYPE;
    if (options_conflict(d->relation) || d->hooks || d->base.id) return REEF_BAD_ARGUMENT;
    if (data &&
        (data->size == 0 || data->hooked || data->resets || data->tracked || data->align > 16 || data->relation))
        return REEF_BAD_ARGUMENT;
    if (data && data->field_count > REEF_FIELDS_MAX - 2) return REEF_LIMIT;
    const bool of_file = data == NULL && d->field_count > 2; /* which has data of a type that nobody declared */
    const uint32_t align = of_file                   ? d->align
                           : data && data->align > 8 ? data->align
                                                     : 8,
                   size = of_file ? d->size : (16 + (data ? data->size : 0) + align - 1) & ~(align - 1);
    const reef_home home = exclusive ? REEF_PAGED : REEF_MULTI;
    if ((d->size && d->size != size) || (d->align && d->align != align) || (d->home && d->home != home))
        return REEF_BAD_ARGUMENT;
    d->size = size;
    d->align = align;
    d->home = home;
    d->page_rows = exclusive ? RELATION_PAGE_ROWS : 0;
    if (d->field_count) /* a file tells them */
        return size >= 16 && align >= 8 && begins_with(d, head, 2) ? REEF_OK : REEF_BAD_ARGUMENT;
    memcpy(made->field, head, sizeof head);
    d->field_count = 2;
    if (data && data->field_count == 0)
        made->field[d->field_count++] =
            (reef_field){.name = "data", .kind = REEF_U8, .offset = 16, .bytes = data->size};
    for (uint32_t i = 0; data && i < data->field_count; i++) {
        reef_field *f = &made->field[d->field_count++];
        *f = data->fields[i];
        f->offset += 16;
        snprintf(made->name[i], sizeof made->name[i], "data.%s", f->name);
        f->name = made->name[i];
    }
    d->fields = made->field;
    return REEF_OK;
}

const relation_type_calls reef__relation_type = {.complete = relation_complete, .refused = relation_refused};
