/* Reading a file: the names of values.
 *
 *     in the file     CALM 0, ANGRY 1, HUNTING 2        a value 1 becomes 5, since ANGRY does
 *     in the program  CALM 0, AFRAID 1, ANGRY 5         a value 2 becomes 0, and HUNTING is noted; a 9 stays 9
 *
 * The translation is a list of pairs in the file_type, made once for each field: for an enum in the order of the old
 * values, so that a value is found by halving; for a bit mask in the order of the file's list, from which the bits are
 * taken one name after the other. Where all names have the same values in both there is no translation, and values are
 * copied as bytes. */
#include "file/decode_names.h"
#include "type/names.h"
#include "file/decoding.h"
#include "file/record.h"
#include "file/section.h"

/* ---- lists of names ---- */

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

bool reef__decode_field_names(decoding *d, reef_field *fields, uint32_t count)
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

/* ---- translating values ---- */

/* Adds a pair; those of an enum are ordered by the value in the file. */
static bool rename_add(decoding *d, file_type *f, field_op *op, int64_t was, const reef_named_value *v)
{
    if (!reef__decode_room(d, &f->renames, &f->rename_room, f->rename_count + 1, sizeof *f->renames)) return false;
    value_rename *first = &f->renames[op->rename];
    uint32_t at = op->rename_count++;
    for (; !op->mask && at && first[at - 1].was > was; at--) first[at] = first[at - 1];
    first[at] = (value_rename){was, v ? v->value : 0, v == NULL};
    f->rename_count++;
    return true;
}

bool reef__decode_renames(decoding *d, file_type *f, field_op *op, const reef_names *from, const reef_names *to,
                          const char *type_name, const char *field)
{
    bool same = true, told = false;
    if (!reef__names_same(from, to) && !d->load->difference &&
        !reef__decode_keep(d, f, REEF_NOTE_NAMES_CHANGED, f->op_count, field, NULL, NULL))
        return false;
    for (uint32_t i = 0; from && to && i < from->count; i++) {
        const char *name = from->values[i].name;
        const reef_named_value *v = reef__names_find(to, name);
        if (v && v->value == from->values[i].value) continue;
        same = false;
        if (d->load->difference)
            return reef__in_wrong(d->in, REEF_NOT_PORTABLE, "the value %.40s of field %.40s of type %.40s is another",
                                  name, field, type_name);
        if (v) continue;
        if (!reef__decode_keep(d, f, REEF_NOTE_NAME_DROPPED, f->op_count, field, name, NULL)) return false;
        if (!told) d->notes[d->note_count - 1].op_end = f->op_count + 1; /* the step that follows, of which one tells */
        told = true;
    }
    if (same) return true;
    op->rename = f->rename_count;
    op->mask = from->mask;
    for (uint32_t i = 0; i < from->count; i++) {
        const reef_named_value *v = reef__names_find(to, from->values[i].name);
        if (!rename_add(d, f, op, from->values[i].value, v)) return false;
    }
    return true;
}

int64_t reef__decode_renamed(const file_type *f, const field_op *op, int64_t value, bool *dropped)
{
    const value_rename *r = &f->renames[op->rename];
    uint64_t all = (uint64_t)value, left = all, result = 0;
    uint32_t low = 0, high = op->rename_count;
    if (op->mask) {
        for (uint32_t i = 0; i < op->rename_count; i++) {
            const uint64_t was = (uint64_t)r[i].was;
            if ((all & was) != was) continue;
            if (was != 0 || all == 0) result |= (uint64_t)r[i].is;
            left &= ~was;
        }
        *dropped = (result | left) == 0;
        return (int64_t)(result | left);
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (r[middle].was < value) low = middle + 1;
        else high = middle;
    }
    const bool found = low < op->rename_count && r[low].was == value;
    *dropped = found && r[low].dropped;
    return found ? r[low].is : value;
}
