/* Reading a file: its tables. A table is made when a section needs it first. */
#include "file/decode_table.h"
#include "storage/archetype.h"
#include "storage/place.h"
#include "file/decode_types.h"
#include "file/decoding.h"
#include "file/numbering.h"
#include "file/section.h"

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
    return reef__numbering_table(&d->load->numbering, 0) || reef__decode_no_memory(d);
}

/* Lists the types of a table in d->ids: those of the program with their parts, and tags that spell the table's number where some
 * are left out. */
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
    d->load->numbering.tables[number] = ft->id = id;
    ft->rows = t ? table_rows(t) : 0;
    return true;
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
