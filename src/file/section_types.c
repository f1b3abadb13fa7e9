/* Sections of a record: types and tables. A section that names one of them for the first time has its description right
 * before it. decode_types.c finds the program's type for one of the file; a table is made when a section needs it
 * first. */
#include "type/names.h"
#include "storage/archetype.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "file/decode_carry.h"
#include "file/decode_types.h"
#include "file/decoding.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/record.h"
#include "file/section.h"

/* ---- TYPE ---- */

/* The first field that has the same names as field i. Within a type the same names are one list. */
static uint32_t names_first_field(const reef_field *fields, uint32_t i)
{
    uint32_t k = 0;
    while (fields[k].names != fields[i].names) k++;
    return k;
}

/* Writes the lists of names, and for each field which one it has. */
static void named_values_put(section_out *o, const reef_field *fields, uint32_t count)
{
    uint16_t number[REEF_FIELDS_MAX];
    uint32_t lists = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = names_first_field(fields, i);
        number[i] = 0;
        if (fields[i].names) number[i] = (uint16_t)(first < i ? number[first] : ++lists);
    }
    reef__put_u16(o, lists);
    for (uint32_t i = 0, n = 0; i < count; i++) {
        const reef_names *names = fields[i].names;
        if (number[i] <= n) continue;
        n++;
        reef__put_text(o, names->name);
        reef__put_u8(o, names->mask);
        reef__put_u16(o, names->count);
        for (uint32_t k = 0; k < names->count; k++) {
            reef__put_text(o, names->values[k].name);
            reef__put_u64(o, (uint64_t)names->values[k].value);
        }
    }
    for (uint32_t i = 0; i < count; i++) reef__put_u16(o, number[i]);
}

static void type_put(encoding *x, const type *t)
{
    section_out *o = x->o;
    const uint32_t bytes = reef__pack_bytes(t, x->d->form);
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    const uint32_t count = fields ? t->field_count : 0;
    const bool here = reef__pack_by_address(t, x->d->form);
    bool named = false;
    for (uint32_t i = 0; i < count; i++) named |= fields[i].names != NULL;
    reef__put_text(o, t->name);
    reef__put_u8(o, (uint32_t)t->home);
    reef__put_u8(o, (bytes && fields == NULL && !here ? TYPE_RAW : 0u) | (bytes == 0 && t->size ? TYPE_OMITTED : 0u) |
                        (t->tracked ? TYPE_TRACKED : 0u) | (t->relation ? TYPE_RELATION : 0u) |
                        (named ? TYPE_NAMES : 0u) | (here ? TYPE_HERE : 0u));
    reef__put_u32(o, t->size);
    reef__put_u32(o, t->align);
    reef__put_u32(o, bytes);
    reef__put_u32(o, t->base ? reef__number_of(&x->n->types, t->base->id) + 1 : 0); /* NUMBER_NONE + 1: 0 */
    reef__put_u16(o, count);
    for (uint32_t i = 0; i < count; i++) {
        reef__put_text(o, fields[i].name);
        reef__put_u8(o, (uint32_t)fields[i].kind);
        reef__put_u32(o, fields[i].offset);
        reef__put_u32(o, fields[i].bytes);
        reef__put_text(o, fields[i].unit);
        reef__put_f64(o, fields[i].lowest);
        reef__put_f64(o, fields[i].highest);
    }
    if (t->relation) reef__put_u32(o, t->relation);
    if (named) named_values_put(o, fields, count);
    if (here) reef__put_u32(o, t->id);
}

static bool list_read(decoding *d, reef_names *l)
{
    section_in *in = d->in;
    l->name = reef__get_name(d);
    l->mask = reef__get_most(in, "mask", 1, 1);
    l->count = (uint32_t)reef__get_most(in, "values", 2, REEF_NAMES_MAX);
    reef_named_value *values = in->status == REEF_OK ? reef__decode_memory(d, l->count * sizeof *values) : NULL;
    for (uint32_t i = 0; values && i < l->count; i++) {
        values[i].name = reef__get_name(d);
        values[i].value = (int64_t)reef__get_u64(in);
        if (in->status != REEF_OK) return false;
    }
    l->values = values;
    return values != NULL;
}

/* Reads the lists of names of a type, and which field has which: lists are numbered in the order in which fields need
 * them. */
static bool names_read(decoding *d, reef_field *fields, uint32_t count)
{
    section_in *in = d->in;
    const uint32_t lists = (uint32_t)reef__get_most(in, "lists", 2, count);
    reef_names *list = reef__decode_memory(d, lists * sizeof *list);
    uint32_t used = 0;
    for (uint32_t i = 0; i < lists; i++)
        if (list == NULL || !list_read(d, &list[i])) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = (uint32_t)reef__get_most(in, "list", 2, used < lists ? used + 1 : used);
        if (in->status != REEF_OK) return false;
        if (number == 0) continue;
        if (number > used) used = number;
        fields[i].names = &list[number - 1];
        const char *why = reef__names_refused(fields[i].names, fields[i].kind);
        if (why) return reef__in_wrong(in, REEF_CORRUPT, "field %.80s: %s", fields[i].name, why);
    }
    return (used == lists && used) || reef__in_wrong(in, REEF_CORRUPT, "a list of names belongs to no field");
}

static bool field_read(type_reading *x, uint32_t i, uint32_t *at)
{
    section_in *in = x->d->in;
    reef_field *p = &x->fields[i];
    const uint32_t size = x->f->size;
    p->name = reef__get_name(x->d);
    p->kind = (reef_kind)reef__get_most(in, "kind", 1, REEF_ENTITY);
    p->offset = (uint32_t)reef__get_most(in, "offset", 4, size);
    p->bytes = (uint32_t)reef__get_most(in, "bytes", 4, size - p->offset);
    p->unit = reef__get_name(x->d);
    if (p->unit && p->unit[0] == 0) p->unit = NULL;
    p->lowest = reef__get_f64(in);
    p->highest = reef__get_f64(in);
    x->at[i] = x->f->flags & TYPE_HERE ? p->offset : *at;
    if (in->status != REEF_OK) return false;
    if (p->kind == 0 || p->bytes == 0 || p->bytes % reef__kind_size(p->kind))
        return reef__in_wrong(in, REEF_CORRUPT, "field %.80s has an impossible kind or size", p->name);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(x->fields[k].name, p->name) == 0)
            return reef__in_wrong(in, REEF_CORRUPT, "a type has two fields of the same name");
    *at += p->bytes;
    return *at <= 2 * (uint32_t)REEF_SIZE_MAX ||
           reef__in_wrong(in, REEF_CORRUPT, "the fields are larger than their type can be");
}

static bool type_sizes_sound(const file_type *f, uint32_t count, uint32_t sum)
{
    if ((f->home == REEF_BIT) && f->size) return false;
    if ((f->flags & TYPE_RAW) && (f->flags & TYPE_OMITTED)) return false;
    if (f->flags & TYPE_HERE) return f->bytes == sizeof(void *) && !(f->flags & (TYPE_RAW | TYPE_OMITTED));
    if (f->flags & TYPE_RAW) return f->bytes == f->size && count == 0;
    return f->flags & TYPE_OMITTED ? f->bytes == 0 : f->bytes == sum;
}

static bool type_read(type_reading *x)
{
    decoding *d = x->d;
    section_in *in = d->in;
    file_type *f = x->f;
    uint32_t sum = 0;
    f->name = reef__get_name(d);
    f->home = (reef_home)reef__get_most(in, "home", 1, REEF_SPLIT);
    f->flags = (uint32_t)reef__get_most(in, "flags", 1, TYPE_FLAGS);
    f->size = (uint32_t)reef__get_most(in, "size", 4, REEF_SIZE_MAX);
    x->align = reef__get_u32(in);
    f->bytes = reef__get_u32(in);
    x->base = (uint32_t)reef__get_most(in, "base", 4, d->type_count);
    x->count = (uint32_t)reef__get_most(in, "fields", 2, REEF_FIELDS_MAX);
    if (in->status != REEF_OK) return false;
    if ((f->flags & TYPE_RAW) && !(d->load->flags & FILE_RAW))
        return reef__in_wrong(in, REEF_CORRUPT, "a type is raw, but the header doesn't say so");
    if ((f->flags & TYPE_HERE) && !d->load->here)
        return reef__in_wrong(in, REEF_CORRUPT, "type %.80s has flags that a file doesn't have", f->name);
    f->number = d->type_count++;
    f->field_count = x->count;
    x->fields = reef__decode_memory(d, x->count * sizeof *x->fields);
    x->at = reef__decode_memory(d, x->count * sizeof *x->at);
    if (x->fields == NULL || x->at == NULL) return false;
    for (uint32_t i = 0; i < x->count; i++)
        if (!field_read(x, i, &sum)) return false;
    if (f->flags & TYPE_RELATION) f->relation = reef__get_u32(in);
    if (f->flags & TYPE_NAMES && !names_read(d, x->fields, x->count)) return false;
    if (f->flags & TYPE_HERE && !reef__decode_carry_make(d, f, reef__get_u32(in))) return false;
    if (in->status == REEF_OK && !type_sizes_sound(f, x->count, sum))
        return reef__in_wrong(in, REEF_CORRUPT, "type %.80s has an impossible size or home", f->name);
    return in->status == REEF_OK && reef__decode_type_resolve(x);
}

bool reef__decode_types(decoding *d)
{
    if (!reef__decode_room(d, &d->types, &d->type_room, d->type_count + 1, sizeof *d->types)) return false;
    type_reading x = {.d = d, .f = &d->types[d->type_count]};
    return type_read(&x);
}

/* ---- TABL ---- */

static void types_put(encoding *x)
{
    const numbering *n = x->n;
    if (x->described_types == n->types.count) return;
    reef__section_begin(x->o, SECTION_TYPES);
    reef__put_u32(x->o, n->types.count - x->described_types);
    for (; x->described_types < n->types.count; x->described_types++)
        type_put(x, reef__type_of(n->types.ids[x->described_types]));
    reef__section_end(x->o);
}

static void tables_put(encoding *x)
{
    const numbering *n = x->n;
    if (x->described_tables == n->tables.count) return;
    reef__section_begin(x->o, SECTION_TABLES);
    reef__put_u32(x->o, n->tables.count - x->described_tables);
    for (; x->described_tables < n->tables.count; x->described_tables++) {
        const shape *s = shape_of(x->w->family, n->tables.ids[x->described_tables]);
        const size_t where = reef__put_later(x->o);
        uint32_t count = 0;
        for (uint32_t k = 0; k < s->component_count; k++) {
            if (type_known(s->component[k])->owner) continue;
            reef__put_u32(x->o, reef__number_of(&n->types, s->component[k]));
            count++;
        }
        reef__put_now(x->o, where, count);
    }
    reef__section_end(x->o);
}

void reef__encode_descriptions(encoding *x)
{
    if (x->described_types == x->n->types.count && x->described_tables == x->n->tables.count) return;
    reef__section_swap(x->o);
    types_put(x);
    tables_put(x);
    reef__section_swap(x->o);
}

bool reef__decode_tables(decoding *d)
{
    section_in *in = d->in;
    const uint32_t count = (uint32_t)reef__get_most(in, "components", 4, REEF_COMPONENTS_MAX);
    if (!reef__decode_room(d, &d->tables, &d->table_room, d->table_count + 1, sizeof *d->tables)) return false;
    file_table *ft = &d->tables[d->table_count];
    *ft = (file_table){0};
    if (in->status != REEF_OK) return false;
    ft->types = reef__decode_memory(d, count * sizeof *ft->types);
    if (ft->types == NULL) return false;
    ft->type_count = count;
    d->table_count++;
    for (uint32_t i = 0; i < count; i++) {
        const file_type *f = reef__get_type(d, HOMES_TABLE);
        if (f == NULL) return false;
        ft->types[i] = f->number;
        if (f->bytes == 0) continue;
        ft->types[i] = ft->types[ft->column_count];
        ft->types[ft->column_count++] = f->number;
    }
    return reef__number_give(d->memory, &d->load->numbering.tables, d->table_count - 1, 0) || reef__decode_no_memory(d);
}

/* Lists the types of a table in d->ids: those of the program with their parts, and tags that spell the table's number
 * where some are left out. */
static bool table_types(decoding *d, uint32_t number, uint32_t *count)
{
    const file_table *ft = &d->tables[number];
    uint32_t n = 0, code = 0;
    for (uint32_t i = 0; i < ft->type_count; i++) {
        const file_type *f = &d->types[ft->types[i]];
        if (f->dropped) code = number + 1;
        if (f->dropped) continue;
        if (!reef__decode_room(d, &d->ids, &d->id_room, n + 1 + f->t->part_count, sizeof *d->ids)) return false;
        d->ids[n++] = f->t->id;
        for (uint32_t k = 0; k < f->t->part_count; k++) d->ids[n++] = f->t->parts[k];
    }
    for (uint32_t bit = 0; code >> bit; bit++) {
        if (!(code >> bit & 1)) continue;
        const type *t = bit < TABLE_CODES ? reef__decode_code(d, bit) : NULL;
        if (t == NULL) return reef__in_wrong(d->in, REEF_LIMIT, "more tables than a world can have");
        if (!reef__decode_room(d, &d->ids, &d->id_room, n + 1, sizeof *d->ids)) return false;
        d->ids[n++] = t->id;
    }
    *count = n;
    return true;
}

/* Makes the table of a number. False: the error is recorded. */
static bool file_table_make(decoding *d, uint32_t number)
{
    section_in *in = d->in;
    file_table *ft = &d->tables[number];
    uint32_t n = 0;
    reef_status status = REEF_OK;
    if (!table_types(d, number, &n)) return false;
    reef__ids_sort(d->ids, n);
    for (uint32_t i = 1; i < n; i++)
        if (d->ids[i] == d->ids[i - 1])
            return reef__in_wrong(in, REEF_CORRUPT, "table %u has a type twice", (unsigned)number);
    const uint32_t id = reef__graph_table(d->w, d->ids, n, &status);
    if (id == 0)
        return status == REEF_LIMIT ? reef__in_wrong(in, REEF_LIMIT, "a table has more types than a table can have")
                                    : reef__decode_no_memory(d);
    if (!reef__decode_room(d, &d->seen, &d->seen_room, id + 1, 1)) return false;
    if (d->seen[id]) return reef__in_wrong(in, REEF_CORRUPT, "table %u is described twice", (unsigned)number);
    const table *t = table_read(d->w, id);
    d->seen[id] = 1;
    ft->id = id;
    ft->rows = t ? table_rows(t) : 0;
    return reef__number_give(d->memory, &d->load->numbering.tables, number, id) || reef__decode_no_memory(d);
}

file_table *reef__get_table(decoding *d)
{
    const uint32_t number = reef__get_u32(d->in);
    if (d->in->status == REEF_OK && number < d->table_count)
        return d->tables[number].id || file_table_make(d, number) ? &d->tables[number] : NULL;
    return (void)reef__in_wrong(d->in, REEF_CORRUPT, "table %u isn't described", (unsigned)number), NULL;
}

uint32_t reef__decode_unit(decoding *d, file_table *ft, uint32_t chunk)
{
    const table *t = table_read(d->w, ft->id);
    if (t == NULL || chunk >= t->chunks)
        return (void)reef__in_wrong(d->in, REEF_CORRUPT, "chunk %u doesn't exist", (unsigned)chunk), 0u;
    if (chunk == t->chunks - 1) return t->last;
    if (!reef__decode_room(d, &ft->units, &ft->unit_room, chunk + 1, sizeof *ft->units)) return 0;
    for (; ft->unit_count <= chunk; ft->unit_count++) {
        const uint32_t n = ft->unit_count;
        ft->units[n] = n == 0 ? t->first : unit_slots(d->w, ft->units[n - 1])[0].head.next;
    }
    return ft->units[chunk];
}
