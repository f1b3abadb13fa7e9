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

static bool text_read(decoding *d, file_names *l)
{
    char text[REEF_TYPE_NAME_MAX + 1];
    if (!reef__get_text(d->in, text, REEF_TYPE_NAME_MAX)) return false;
    const uint32_t bytes = (uint32_t)strlen(text) + 1;
    if (!reef__decode_room(d, &l->texts, &l->text_room, l->text_count + bytes, 1)) return false;
    memcpy(l->texts + l->text_count, text, bytes);
    l->text_count += bytes;
    return true;
}

static bool list_read(decoding *d, file_names *l)
{
    section_in *in = d->in;
    if (!text_read(d, l)) return false;
    const bool mask = reef__get_most(in, "mask", 1, 1);
    const uint32_t count = (uint32_t)reef__get_most(in, "values", 2, REEF_NAMES_MAX);
    if (in->status != REEF_OK || !reef__decode_room(d, &l->values, &l->value_room, count, sizeof *l->values))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!text_read(d, l)) return false;
        l->values[i].value = (int64_t)reef__get_u64(in);
    }
    if (in->status != REEF_OK) return false;
    const char *text = l->texts; /* which stays where it is from now on */
    l->names = (reef_names){.name = text, .values = l->values, .count = count, .mask = mask};
    for (uint32_t i = 0; i < count; i++) {
        text += strlen(text) + 1;
        l->values[i].name = text;
    }
    return true;
}

bool reef__decode_name_lists(decoding *d, file_name_lists *lists)
{
    const uint32_t count = reef__get_u16(d->in);
    for (uint32_t i = 0; i < count && d->in->status == REEF_OK; i++) {
        if (!reef__decode_room(d, &lists->list, &lists->room, i + 1, sizeof *lists->list)) return false;
        lists->count = i + 1;
        if (!list_read(d, &lists->list[i])) return false;
    }
    return d->in->status == REEF_OK;
}

void reef__decode_name_lists_drop(decoding *d, file_name_lists *lists)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        file_names *l = &lists->list[i];
        reef__memory_free(d->memory, MEMORY_OTHER, l->values, l->value_room * sizeof *l->values);
        reef__memory_free(d->memory, MEMORY_OTHER, l->texts, l->text_room);
    }
    reef__memory_free(d->memory, MEMORY_OTHER, lists->list, lists->room * sizeof *lists->list);
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
