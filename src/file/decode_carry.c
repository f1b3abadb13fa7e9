/* Carrying values over by their addresses. */
#include "file/decode_carry.h"
#include "type/value.h"
#include "file/conversion.h"
#include "file/section.h"
#include "reef/type_info.h"

enum { CARRY_ROOMS = 2 };

COLD bool reef__decode_carry_make(decoding *d, file_type *f, uint32_t was)
{
    const type *t = reef__type_of(was);
    if (t == NULL) return reef__in_wrong(d->in, REEF_CORRUPT, "type %.80s isn't known", f->name);
    const type *is = reef__type_of(reef_type_find(f->name).id);
    const size_t size = is && is->size > t->size ? is->size : t->size;
    const size_t room = (size + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;
    value_carry *c = reef__decode_memory(d, sizeof *c + CARRY_ROOMS * room);
    if (c == NULL) return false;
    c->was = t;
    c->size = room;
    f->carry = c;
    return true;
}

COLD bool reef__decode_carry_allowed(decoding *d, const file_type *f, const type *t)
{
    const type *was = f->carry->was;
    if (was->id == t->id) return true;
    if (t->split)
        return reef__in_wrong(d->in, REEF_NOT_PORTABLE,
                              "values of %.80s have hooks or bytes outside of fields, and can't be split by field",
                              t->name);
    if (was->field_count && t->field_count) return true;
    return reef__in_wrong(d->in, REEF_NOT_PORTABLE, "%.80s has hooks, and no fields that could be converted", t->name);
}

/* The same layout. A value that can't be moved is copied to where it stays; if that fails, it is zero. */
static void carry_whole(value_carry *c, const type *t, const void *source, char *to)
{
    char *copy = c->room;
    if (t->fixed) {
        value_destroy(t, to);
        if (reef__value_copy(t, to, source) == REEF_OK) return;
        memset(to, 0, t->size);
        c->failed = true;
        return;
    }
    if (reef__value_copy(t, copy, source) != REEF_OK) {
        c->failed = true;
        return;
    }
    value_destroy(t, to);
    reef__value_move(t, to, copy);
}

/* Bytes that a step of the plan reads, or writes. */
static size_t op_bytes(const field_op *op, uint8_t kind)
{
    return (size_t)op->count * (kind ? reef__kind_size((reef_kind)kind) : 1);
}

static void carry_fields(const file_type *f, const type *t, const void *source, char *to)
{
    value_carry *c = f->carry;
    char *copy = c->room, *made = copy + c->size;
    if (reef__value_copy(c->was, copy, source) != REEF_OK) {
        c->failed = true;
        return;
    }
    memset(made, 0, t->size);
    for (uint32_t i = 0; i < f->op_count; i++) {
        const field_op *op = &f->ops[i];
        if (op->kind) memcpy(made + op->to, to + op->to, op_bytes(op, op->kind));
        reef__convert_step(f, i, copy, to);
        if (op->kind) memset(copy + op->from, 0, op_bytes(op, op->was));
    }
    value_destroy(t, made);
    value_destroy(c->was, copy);
}

void reef__decode_carry(const file_type *f, const unsigned char *from, char *to)
{
    const type *t = f->to ? f->to : f->t;
    const void *source;
    memcpy(&source, from, sizeof source);
    if (f->carry->was == t) carry_whole(f->carry, t, source, to);
    else carry_fields(f, t, source, to);
}
