/* Values of a file become values of the program's types, by the steps of a plan. */
#include "file/conversion.h"
#include "type/names.h"
#include "type/portable_bytes.h"
#include "file/decoding.h"
#include <float.h>
#include <string.h>

/* ---- converting numbers from one kind to another ---- */

typedef struct any_number {
    double real;
    uint64_t magnitude;
    bool is_real, negative;
} any_number;

static bool kind_is_signed(uint8_t kind)
{
    return kind == REEF_I8 || kind == REEF_I16 || kind == REEF_I32 || kind == REEF_I64;
}

bool reef__kind_is_number(uint8_t kind) { return kind >= REEF_BOOL && kind <= REEF_F64; }

static any_number number_read(uint8_t kind, const void *p)
{
    any_number n = {.is_real = kind == REEF_F32 || kind == REEF_F64};
    float single = 0;
    if (kind == REEF_F64) memcpy(&n.real, p, sizeof n.real);
    else if (kind == REEF_F32) memcpy(&single, p, sizeof single), n.real = (double)single;
    else {
        const int64_t x = reef__whole_read((reef_kind)kind, p);
        n.negative = kind_is_signed(kind) && x < 0;
        n.magnitude = n.negative ? 0 - (uint64_t)x : (uint64_t)x;
    }
    return n;
}

/* Rounds to the nearest whole number. Not-a-number becomes 0. */
static void number_round(any_number *n)
{
    if (!n->is_real) return;
    const double x = n->real < 0 ? -n->real : n->real;
    n->negative = n->real < 0;
    n->magnitude = x >= 18446744073709551616.0 ? UINT64_MAX : x >= 0 ? (uint64_t)x : 0;
    if (n->magnitude < UINT64_C(1) << 52 && x - (double)n->magnitude >= 0.5) n->magnitude++;
    n->is_real = false;
}

static void whole_write(uint8_t kind, any_number n, char *to)
{
    const uint32_t size = reef__kind_size((reef_kind)kind), bits = 8 * size;
    const uint64_t most = kind_is_signed(kind) ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    const uint64_t least = kind_is_signed(kind) ? most + 1 : 0;
    uint64_t x = n.negative ? (n.magnitude < least ? n.magnitude : least) : n.magnitude < most ? n.magnitude : most;
    if (n.negative) x = 0 - x;
    unsigned char little[8];
    for (uint32_t i = 0; i < 8; i++) little[i] = (unsigned char)(x >> 8 * i);
    reef__portable_copy((reef_kind)kind, (unsigned char *)to, little, size);
}

static void number_write(uint8_t kind, any_number n, char *to)
{
    if (kind == REEF_F64 || kind == REEF_F32) {
        const double x = n.is_real ? n.real : n.negative ? -(double)n.magnitude : (double)n.magnitude;
        const double most = 3.4028234663852886e38;
        const float f = (float)(x > most && x <= DBL_MAX ? most : x < -most && x >= -DBL_MAX ? -most : x);
        if (kind == REEF_F64) memcpy(to, &x, sizeof x);
        else memcpy(to, &f, sizeof f);
        return;
    }
    const bool some = n.is_real ? n.real < 0 || n.real > 0 : n.magnitude != 0;
    if (kind == REEF_BOOL) {
        *to = some;
        return;
    }
    number_round(&n);
    whole_write(kind, n, to);
}

/* ---- values that have names ----
 *
 *     in the file     CALM 0, ANGRY 1, HUNTING 2        a value 1 becomes 5, since ANGRY does
 *     in the program  CALM 0, AFRAID 1, ANGRY 5         a value 2 becomes 0, and HUNTING is noted; a 9 stays 9
 *
 * The translation is a list of pairs in the file_type, made once for each field: for an enum in the order of the old
 * values, so that a value is found by halving; for a bit mask in the order of the file's list, from which the bits are
 * taken one name after the other. Where all names have the same values in both there is no translation, and values are
 * copied as bytes. */

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

/* Translates one value. *dropped: the program has no name for what it was, in a bit mask for none of its bits. */
static int64_t value_renamed(const file_type *f, const field_op *op, int64_t value, bool *dropped)
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

/* ---- steps of a plan ---- */

/* The number by the name that it has. What has none keeps its number. */
static any_number number_renamed(const file_type *f, const field_op *op, any_number n, bool *dropped)
{
    const int64_t was = (int64_t)(n.negative ? 0 - n.magnitude : n.magnitude), is = value_renamed(f, op, was, dropped);
    if (is == was) return n;
    n.negative = is < 0 && op->kind != REEF_U64;
    n.magnitude = n.negative ? 0 - (uint64_t)is : (uint64_t)is;
    return n;
}

/* Is the number that was written the same one? */
static bool number_kept(any_number n, uint8_t kind, const char *to)
{
    any_number is = number_read(kind, to);
    if (n.is_real && is.is_real) return !(n.real < is.real) && !(n.real > is.real); /* also of what is no number */
    any_number *real = n.is_real ? &n : &is;
    if (real->is_real) {
        const double x = real->real;
        number_round(real);
        const double whole = real->negative ? -(double)real->magnitude : (double)real->magnitude;
        if (x < whole || x > whole) return false;
    }
    return n.magnitude == is.magnitude && (n.negative == is.negative || n.magnitude == 0);
}

/* Converts the numbers of a field. Answers whether all are what they were. */
static bool op_convert(const file_type *f, const field_op *op, const unsigned char *from, char *to)
{
    const uint32_t in = reef__kind_size((reef_kind)op->was), out = reef__kind_size((reef_kind)op->kind);
    bool kept = true;
    for (uint32_t i = 0; i < op->count; i++) {
        unsigned char bytes[8];
        reef__portable_copy((reef_kind)op->was, bytes, from + i * in, in);
        const any_number was = number_read(op->was, bytes);
        bool dropped = false;
        const any_number n = op->rename_count ? number_renamed(f, op, was, &dropped) : was;
        number_write(op->kind, n, to + i * out);
        kept &= (!dropped || was.magnitude == 0) &&
                bits_count(n.magnitude) >= (op->mask ? bits_count(was.magnitude) : 0) &&
                number_kept(n, op->kind, to + i * out);
    }
    return kept;
}

static bool bytes_are_zero(const unsigned char *p, uint32_t count)
{
    unsigned any = 0;
    for (uint32_t i = 0; i < count; i++) any |= p[i];
    return any == 0;
}

/* Copies elements of the same kind where bytes can't be copied as they are: on a big-endian machine, and truth values,
 * which become 0 or 1 whatever the file says. */
static void op_reorder(const field_op *op, const unsigned char *from, char *to, size_t bytes)
{
    reef__portable_copy((reef_kind)op->kind, (unsigned char *)to, from, bytes);
    for (size_t at = 0; op->kind == REEF_BOOL && at < bytes; at++) to[at] = from[at] != 0;
}

bool reef__op_copies(const field_op *op)
{
    if (op->was != op->kind || op->kind == REEF_BOOL || op->kind == 0 || op->rename_count) return false;
    return HOST_IS_LITTLE || op->kind == REEF_U8 || op->kind == REEF_I8 || op->kind == REEF_CHAR;
}

void reef__convert_rows(const file_type *f, const unsigned char *from, char *to, size_t stride, uint32_t rows)
{
    if (f->whole) {
        memcpy(to, from, (size_t)rows * f->bytes);
        return;
    }
    for (uint32_t i = 0; i < f->op_count; i++) {
        field_op *op = &f->ops[i];
        const unsigned char *p = from + op->from;
        char *q = to + op->to;
        const size_t bytes = (size_t)op->count * reef__kind_size((reef_kind)op->kind);
        if (op->kind == 0)
            for (uint32_t row = 0; row < rows; row++, p += f->bytes) op->lost += !bytes_are_zero(p, op->count);
        else if (reef__op_copies(op))
            for (uint32_t row = 0; row < rows; row++, p += f->bytes, q += stride) bytes_copy(q, p, bytes);
        else if (op->was == op->kind && op->rename_count == 0)
            for (uint32_t row = 0; row < rows; row++, p += f->bytes, q += stride) op_reorder(op, p, q, bytes);
        else
            for (uint32_t row = 0; row < rows; row++, p += f->bytes, q += stride) op->lost += !op_convert(f, op, p, q);
    }
}

void reef__convert_step(const file_type *f, uint32_t i, const char *from, char *to)
{
    field_op *op = &f->ops[i];
    const unsigned char *p = (const unsigned char *)from + op->from;
    const size_t bytes = (size_t)op->count * (op->kind ? reef__kind_size((reef_kind)op->kind) : 1);
    if (op->kind == 0) op->lost += !bytes_are_zero(p, op->count);
    else if (op->was == op->kind && op->rename_count == 0) memcpy(to + op->to, p, bytes);
    else op->lost += !op_convert(f, op, p, to + op->to);
}
