/* Reading a file: its types, and the conversion of values to the program's types.
 *
 *      the program has this type         what becomes of its values
 *      in the home that the file says    a plan converts them, field by field; fields are paired by name
 *      in another home                   they go to a stand-in (decoding.h), and at the end to the program's type
 *      not at all                        it is declared from the file (REEF_UNKNOWN_DECLARE), else they are left out
 *
 * A plan is made once for each type. Where the file and the program have the same layout, it is one copy of bytes. */
#include "file/decode_types.h"
#include "type/fields.h"
#include "type/names.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/required.h"
#include "file/conversion.h"
#include "file/decode_carry.h"
#include "file/decoding.h"
#include "file/pack.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/bulk.h"
#include "reef/enable.h"
#include "reef/inspect.h"
#include "reef/prefab.h"
#include "reef/file.h"
#include "reef/type_info.h"
#include "reef/term.h"
#include <stdio.h>

/* ---- values by their plan ---- */

void reef__decode_values(const file_type *f, const unsigned char *from, char *to, size_t size, uint32_t rows)
{
    if (f->carry == NULL) reef__convert_rows(f, from, to, size, rows);
    for (; f->carry && rows; rows--, from += f->bytes, to += size) {
        if (f->to) memcpy(to, from, f->bytes); /* value_home follows the address */
        else reef__decode_carry(f, from, to);
    }
}

bool reef__decode_construct(decoding *d, const type *t, reef_entity e, void *to)
{
    memset(to, 0, t->size);
    if (t->hooks.construct == NULL || t->hooks.construct(t->hooks.context, d->w, e, to, NULL) == REEF_OK) return true;
    d->w->hook_failed.id = t->id;
    return reef__decode_no_memory(d);
}

/* ---- plans ---- */

static bool plan_add(type_reading *x, field_op op)
{
    file_type *f = x->f;
    field_op *last = f->op_count ? &f->ops[f->op_count - 1] : NULL;
    if (reef__op_copies(&op)) {
        op.count *= reef__kind_size((reef_kind)op.kind);
        op.was = op.kind = REEF_U8;
        if (last && reef__op_copies(last) && last->from + last->count == op.from && last->to + last->count == op.to) {
            last->count += op.count;
            return true;
        }
    }
    if (!reef__decode_room(x->d, &f->ops, &f->op_room, f->op_count + 1, sizeof *f->ops)) return false;
    f->ops[f->op_count++] = op;
    return true;
}

/* Adds a step for bytes that are left out. */
static bool plan_leave(type_reading *x, uint32_t from, uint32_t bytes)
{
    return bytes == 0 || plan_add(x, (field_op){.from = from, .count = bytes});
}

enum { KIND_TEXT = 24 };

/* "u16", "f32[3]", "text[8]". NULL: the error is recorded. */
static const char *kind_text(decoding *d, uint8_t kind, uint32_t elements)
{
    char text[KIND_TEXT];
    static const char *const names[] = {
        [REEF_BOOL] = "bool", [REEF_I8] = "i8",     [REEF_U8] = "u8",        [REEF_I16] = "i16", [REEF_U16] = "u16",
        [REEF_I32] = "i32",   [REEF_U32] = "u32",   [REEF_I64] = "i64",      [REEF_U64] = "u64", [REEF_F32] = "f32",
        [REEF_F64] = "f64",   [REEF_CHAR] = "text", [REEF_ENTITY] = "entity"};
    if (elements == 1 && kind != REEF_CHAR) (void)snprintf(text, KIND_TEXT, "%s", names[kind]);
    else (void)snprintf(text, KIND_TEXT, "%s[%u]", names[kind], (unsigned)elements);
    return reef__decode_text(d, text);
}

/* Adds a step for a field of the program's type, which is field k of the file. */
static bool plan_field(type_reading *x, const type *t, const reef_field *field, uint32_t k)
{
    const reef_field *from = &x->fields[k];
    const uint32_t to_size = reef__kind_size(field->kind), from_size = reef__kind_size(from->kind);
    const uint32_t have = from->bytes / from_size, want = field->bytes / to_size, at = x->at[k];
    field_op op = {.from = at,
                   .to = field->offset,
                   .count = have < want ? have : want,
                   .was = (uint8_t)from->kind,
                   .kind = (uint8_t)field->kind};
    const bool same = from->kind == field->kind,
               fits = same || (reef__kind_is_number(op.was) && reef__kind_is_number(op.kind));
    const uint32_t first = x->f->op_count, read = fits ? op.count : 0;
    const bool other = !same || have != want;
    const char *was = other ? kind_text(x->d, op.was, have) : NULL, *is = other ? kind_text(x->d, op.kind, want) : NULL;
    if (other && (was == NULL || is == NULL)) return false;
    if (other && x->d->load->difference)
        return reef__in_wrong(x->d->in, REEF_NOT_PORTABLE,
                              "field %.40s of type %.40s is %s in the difference and %s in the program", field->name,
                              t->name, was, is);
    if (!plan_leave(x, at + read * from_size, (have - read) * from_size)) return false;
    if (fits &&
        (!reef__decode_renames(x->d, x->f, &op, from->names, field->names, t->name, field->name) || !plan_add(x, op)))
        return false;
    const reef_load_note_kind kind = fits ? REEF_NOTE_FIELD_CONVERTED : REEF_NOTE_FIELD_KIND;
    return !other || reef__decode_keep(x->d, x->f, kind, first, field->name, was, is);
}

/* Notes that a field is in the file or in the program alone, and leaves out the bytes that it takes in the file. A
 * difference is refused then. */
static bool plan_note(type_reading *x, reef_load_note_kind kind, const type *t, const char *field, uint32_t at,
                      uint32_t bytes)
{
    const uint32_t first = x->f->op_count;
    if (x->d->load->difference)
        return reef__in_wrong(x->d->in, REEF_NOT_PORTABLE, "field %.40s of type %.40s is missing on one side", field,
                              t->name);
    return plan_leave(x, at, bytes) && reef__decode_keep(x->d, x->f, kind, first, field, NULL, NULL);
}

static bool plan_by_fields(type_reading *x, const type *t)
{
    const char *names[REEF_FIELDS_MAX];
    uint32_t pair[REEF_FIELDS_MAX];
    bool taken[REEF_FIELDS_MAX];
    for (uint32_t k = 0; k < x->count; k++) names[k] = x->fields[k].name;
    reef__fields_pair(t->fields, t->field_count, names, x->count, pair, taken);
    for (uint32_t i = 0; i < t->field_count; i++) {
        const uint32_t k = pair[i];
        if (!(k != FIELD_UNPAIRED ? plan_field(x, t, &t->fields[i], k)
                                  : plan_note(x, REEF_NOTE_FIELD_DEFAULT, t, t->fields[i].name, 0, 0)))
            return false;
    }
    for (uint32_t k = 0; k < x->count; k++)
        if (!taken[k] && !plan_note(x, REEF_NOTE_FIELD_DROPPED, t, x->fields[k].name, x->at[k], x->fields[k].bytes))
            return false;
    return true;
}

/* Adds steps for the bytes of a value in memory that belong to no field, if they are more than a compiler leaves
 * between fields. */
static bool plan_outside(type_reading *x)
{
    const type *was = x->f->carry->was;
    const uint32_t first = x->f->op_count;
    for (uint32_t end = 0; end < was->size;) {
        uint32_t next = was->size, behind = was->size;
        for (uint32_t i = 0; i < was->field_count; i++) {
            const reef_field *f = &was->fields[i];
            if (f->offset + f->bytes > end && f->offset < next) next = f->offset, behind = f->offset + f->bytes;
        }
        if (next > end && next - end >= was->align && !plan_leave(x, end, next - end)) return false;
        end = behind;
    }
    return first == x->f->op_count ||
           reef__decode_keep(x->d, x->f, REEF_NOTE_FIELD_DROPPED, first, "(bytes outside of its fields)", NULL, NULL);
}

/* Makes the plan for a type of the program without fields: the fields go to the offsets that they had in the writer's
 * struct. */
static bool plan_by_offsets(type_reading *x, const type *t)
{
    for (uint32_t k = 0; k < x->count; k++)
        if (!plan_field(x, t, &x->fields[k], k)) return false;
    return true;
}

static bool type_plan_make(type_reading *x, const type *t)
{
    file_type *f = x->f;
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    uint32_t covered = 0;
    if (f->carry) {
        f->partial = true;
        return f->carry->was->id == t->id || (plan_by_fields(x, t) && plan_outside(x));
    }
    if (f->flags & TYPE_OMITTED) {
        f->partial = true;
        return true;
    }
    /* Values without fields can be bytes under the same conditions as in reef__pack_allowed. */
    const bool fits = f->size == t->size && !t->hooks.destroy && t->plain_copy && t->plain_move && !t->split;
    if ((f->flags & TYPE_RAW) || (fields == NULL && x->count && t->size)) {
        if (!fits)
            return reef__in_wrong(x->d->in, REEF_NOT_PORTABLE, "type %.80s has no fields, and its size or hooks differ",
                                  t->name);
        if (!(f->flags & TYPE_RAW) ? !plan_by_offsets(x, t)
                                   : !plan_add(x, (field_op){.count = f->size, .was = REEF_U8, .kind = REEF_U8}))
            return false;
    } else if (fields || x->count) {
        if (!plan_by_fields(x, t)) return false;
    }
    for (uint32_t i = 0; i < f->op_count; i++)
        if (f->ops[i].kind) covered += f->ops[i].count * reef__kind_size((reef_kind)f->ops[i].kind);
    f->partial = covered < t->size;
    f->whole = f->op_count == 1 && reef__op_copies(&f->ops[0]) && covered == f->bytes && f->bytes == t->size &&
               f->ops[0].from == 0;
    return true;
}

/* Would this program describe the type as the file does? If so, further records can be appended to the file. */
static bool type_as_written(const type_reading *x, const type *t)
{
    const file_type *f = x->f;
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    const uint32_t count = fields ? t->field_count : 0;
    if (f->home != t->home || f->size != t->size || f->relation != t->relation ||
        f->bytes != reef__pack_bytes(t, x->d->load->flags & FILE_RAW ? PACK_RAW : PACK_PORTABLE))
        return false;
    if (count != x->count || ((f->flags & TYPE_RAW) && fields)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const reef_field *p = &x->fields[i];
        if (p->kind != fields[i].kind || p->bytes != fields[i].bytes || strcmp(p->name, fields[i].name) != 0 ||
            !reef__names_same(p->names, fields[i].names))
            return false;
    }
    return true;
}

/* ---- the program's type for a type of the file ---- */

/* Makes a stand-in: a type of this home and size that nothing else uses. Its name follows from these and from the
 * number of stand-ins that the file needed before, so loading the same file again makes no new types. */
static const type *standin_make(decoding *d, reef_home home, uint32_t size, uint32_t align)
{
    char name[96];
    if (home == REEF_SPLIT) home = REEF_TABLE;
    if (size == 0 && home != REEF_TABLE && home != REEF_BIT && home != REEF_COLD) size = align = 1;
    snprintf(name, sizeof name, "reef:standin:%u:%u:%u:%u", (unsigned)home, (unsigned)size, (unsigned)align,
             (unsigned)d->standins++);
    const reef_type_desc desc = {.name = name, .size = size, .align = size ? align : 1, .home = home};
    reef_status status = REEF_OK;
    const type *t = reef__type_of(reef_type_new(&desc, &status).id);
    if (t == NULL && status == REEF_LIMIT)
        (void)reef__in_wrong(d->in, REEF_LIMIT, "with the types of the file there are too many types");
    else if (t == NULL) (void)reef__decode_no_memory(d);
    return t;
}

/* Declares a type as the file describes it. NULL: that isn't possible. */
static const type *type_declare(type_reading *x)
{
    const file_type *f = x->f;
    reef_status status = REEF_OK;
    if (f->size > 2 * (uint64_t)f->bytes + 256) return NULL; /* few bytes in the file would take much memory */
    const reef_hooks hooks = {.track_rows = (f->flags & TYPE_TRACKED) != 0};
    reef_type_desc desc = {.name = f->name,
                           .size = f->size,
                           .align = x->align,
                           .home = f->home,
                           .hooks = &hooks,
                           .fields = x->fields,
                           .field_count = x->count,
                           .relation = f->relation};
    if (f->relation) desc.hooks = NULL;
    if (x->base && x->d->types[x->base - 1].t && !x->d->types[x->base - 1].to && !x->d->types[x->base - 1].dropped)
        desc.base.id = x->d->types[x->base - 1].t->id;
    const type *t = reef__type_of(reef_type_new(&desc, &status).id);
    if (status == REEF_NO_MEMORY) (void)reef__decode_no_memory(x->d);
    return t;
}

static bool type_unknown(type_reading *x)
{
    decoding *d = x->d;
    file_type *f = x->f;
    const reef_load_desc *desc = d->load->desc;
    const reef_unknown how = d->load->difference ? REEF_UNKNOWN_REFUSE : desc ? desc->unknown : REEF_UNKNOWN_DROP;
    if (how == REEF_UNKNOWN_REFUSE) return reef__in_wrong(d->in, REEF_UNKNOWN_TYPE, "type %.80s isn't known", f->name);
    const bool declare = how == REEF_UNKNOWN_DECLARE && reef_type_find(f->name).id == 0;
    if (declare && !d->load->planned) f->t = type_declare(x);
    if (d->in->status != REEF_OK) return false;
    d->load->converted = true;
    if (f->t) return type_plan_make(x, f->t);
    f->dropped = true;
    f->declarable = declare && d->load->planned;
    return f->declarable || reef__decode_keep(d, f, REEF_NOTE_TYPE_DROPPED, 0, NULL, NULL, NULL);
}

const type *reef__decode_code(decoding *d, uint32_t bit)
{
    const type *t = d->codes[bit];
    if (t == NULL && (t = standin_make(d, REEF_TABLE, 0, 1)) == NULL) return NULL;
    if (reef_world_use(d->w, (reef_component){t->id}) != REEF_OK) return (void)reef__decode_no_memory(d), NULL;
    return d->codes[bit] = t;
}

/* Notes that the file describes a type of the program. False: it has done so before, or no memory. */
static bool type_note(decoding *d, const type *t)
{
    if (!reef__decode_room(d, &d->known, &d->known_room, t->id + 1, 1)) return false;
    if (d->known[t->id]) return reef__in_wrong(d->in, REEF_CORRUPT, "two types have the name %.80s", t->name);
    d->known[t->id] = 1;
    return true;
}

bool reef__decode_type_resolve(type_reading *x)
{
    decoding *d = x->d;
    file_type *f = x->f;
    const uint32_t id = reef_type_find(f->name).id;
    const type *t = reef__type_of(id);
    bool ok = t && t->owner == 0 && reef__world_knows(d->w, id) && !(t->split && REEF_ACQUIRE_U32(&t->part_count) == 0);
    if (ok && f->carry && !reef__decode_carry_allowed(d, f, t)) return false;
    if (!ok) ok = type_unknown(x);
    else if (id == d->script && (f->home != t->home || (f->flags & TYPE_RAW)))
        return reef__in_wrong(d->in, REEF_CORRUPT, "the type of scripts is raw, or has another home");
    else if (t->home == f->home || (home_in(t->home, HOMES_TABLE) && home_in(f->home, HOMES_TABLE)))
        f->t = t, ok = type_plan_make(x, t);
    else {
        if (d->load->difference)
            return reef__in_wrong(d->in, REEF_NOT_PORTABLE, "type %.80s has another home", f->name);
        if (!reef__decode_keep(d, f, REEF_NOTE_HOME_CHANGED, 0, NULL, NULL, NULL)) return false;
        f->to = t;
        ok = type_plan_make(x, t); /* the stand-in of a split type holds the whole struct */
        f->t = !ok        ? NULL
               : f->carry ? standin_make(d, f->home, sizeof(void *), sizeof(void *))
                          : standin_make(d, f->home, t->size, t->align);
        f->whole = false;
        ok = f->t != NULL;
    }
    if (ok && f->t && reef_world_use(d->w, (reef_component){f->t->id}) != REEF_OK) ok = reef__decode_no_memory(d);
    if (ok && f->t && t && !type_as_written(x, t)) d->load->converted = true;
    if (ok && f->t) ok = type_note(d, f->to ? f->to : f->t);
    return ok && (reef__numbering_type(&d->load->numbering, f->t ? f->t->id : 0) || reef__decode_no_memory(d));
}

/* ---- the end of stand-ins ---- */

/* Copies the fields that came from the file into a value that a hook made. */
static void fields_copy(const type *t, char *to, const char *from)
{
    for (uint32_t i = 0; i < t->field_count; i++)
        memcpy(to + t->fields[i].offset, from + t->fields[i].offset, t->fields[i].bytes);
}

/* Gives the entity the value, and nothing that usually comes along with it: what a change names doesn't come. */
static reef_status value_alone(decoding *d, const type *t, reef_entity e, const void *value)
{
    reef_value *list = d->alone;
    uint32_t count = 1;
    list[0] = value ? reef_value_make((reef_component){t->id}, REEF_VALUE_ONE, t->size, value)
                    : reef_value_make((reef_component){t->id}, REEF_VALUE_DEFAULT, 0, NULL);
    for (uint32_t i = 0; i < t->need_count; i++)
        if (!reef__entity_meets(d->w, e, reef__type_of(t->needs[i])))
            list[count++] = reef_value_make((reef_component){t->needs[i]}, REEF_VALUE_REMOVE, 0, NULL);
    return reef_change_values(d->w, e, list, count);
}

static bool value_home(decoding *d, const file_type *f, reef_entity e)
{
    reef_world *w = d->w;
    const reef_component from = {f->t->id}, to = {f->to->id};
    const void *value = f->to->size ? reef__value_itself(w, e, from) : NULL;
    const void *source = NULL;
    void *copied = f->to->size ? reef__decode_value_room(d, f->to->size) : NULL;
    if (f->to->size && copied == NULL) return false;
    if (value && f->carry) memcpy(&source, value, sizeof source);
    else if (value) memcpy(copied, value, f->to->size);
    const bool off = !reef_is_enabled_id(w, e, from);
    if (value_alone(d, f->to, e, f->to->hooked || f->carry ? NULL : copied) < 0) return reef__decode_no_memory(d);
    if (f->carry || (f->to->hooked && f->to->field_count)) {
        char *made = (char *)(uintptr_t)reef__value_itself(w, e, to); /* made just now: it is this world's own */
        if (made == NULL) return reef__decode_no_memory(d);
        if (f->carry) reef__decode_carry(f, (const unsigned char *)&source, made);
        else fields_copy(f->to, made, copied);
    }
    return !off || reef_enable_id(w, e, to, false) == REEF_OK || reef__decode_no_memory(d);
}

/* Takes a type from every entity that has it, disabled or not, and from templates. */
static bool type_leave(decoding *d, const type *t)
{
    const reef_component c = {t->id}, prefab = reef_id(ReefPrefab);
    reef_query_desc all = {.terms = {{.component = c, .access = REEF_WITH, .enabled = REEF_EITHER}},
                           .entities = REEF_EITHER};
    if (prefab.id != c.id && reef__world_knows(d->w, prefab.id)) /* otherwise templates don't match */
        all.terms[1] = (reef_term){.component = prefab, .op = REEF_OPTIONAL};
    const reef_query q = reef_query_make(d->w, &all);
    if (reef_query_is_null(q)) return reef__decode_no_memory(d);
    const reef_status s = reef_remove_where_id(d->w, q, c, NULL);
    reef_query_free(d->w, q);
    return s == REEF_OK || reef__decode_no_memory(d);
}

/* Moves the values of a stand-in to the program's type. */
static bool values_home(decoding *d, file_type *f)
{
    uint64_t moved = 0;
    if (reef__type_ready(d->w, f->to->id) != REEF_OK ||
        !reef__decode_room(d, &d->alone, &d->alone_room, 1 + f->to->need_count, sizeof *d->alone))
        return reef__decode_no_memory(d);
    for (uint32_t k = 0; k < d->w->hot.index_count; k++) {
        const reef_entity e = reef_entity_at(d->w, k);
        if (e.generation == 0 || !has_itself(d->w, e, f->t)) continue;
        if (!value_home(d, f, e)) return false;
        moved++;
    }
    f->lost = f->rows - moved; /* of several values of an entity */
    return type_leave(d, f->t);
}

/* Counts the values of each type. Of a type that is left out, BITS, or PAGE of a cold one, have told already. */
static void values_count(decoding *d)
{
    for (uint32_t i = 0; i < d->table_count; i++) {
        const table *t = table_read(d->w, d->tables[i].id);
        for (uint32_t k = 0; t && k < d->tables[i].type_count; k++)
            d->types[d->tables[i].types[k]].rows += table_rows(t);
    }
    for (uint32_t i = 0; i < d->type_count; i++) {
        file_type *f = &d->types[i];
        if (f->t && f->t->stored) f->rows = store_of(d->w, f->t->id)->count;
        else if (f->t && f->t->bit) f->rows = reef__bit_count_rows(d->w, f->t->id);
        if (f->dropped && !f->declarable) f->lost = f->rows;
    }
}

bool reef__decode_standins_end(decoding *d)
{
    bool home = true;
    values_count(d);
    /* The calls that follow trust the world, so it is validated first. */
    if (d->standins && !reef__decode_sound(d, reef_validate)) return false;
    d->w->unique_later = true;
    for (uint32_t i = 0; home && i < d->type_count; i++) home = d->types[i].to == NULL || values_home(d, &d->types[i]);
    d->w->unique_later = false;
    if (!home) return false;
    for (uint32_t bit = 0; bit < TABLE_CODES; bit++)
        if (d->codes[bit] && !type_leave(d, d->codes[bit])) return false;
    for (uint32_t i = 0; i < d->type_count; i++) /* has a hook refused to copy a value? */
        if (d->types[i].carry && d->types[i].carry->failed) return reef__decode_no_memory(d);
    return true;
}
