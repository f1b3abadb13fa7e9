/* What the description of a type may say, and when two descriptions are of the same type. */
#include "type/type_rules.h"
#include "reef/type_info.h"
#include "type/names.h"
#include <string.h>

/* ---- what is allowed ---- */

/* Type names appear in the texts of queries, so they have no commas, spaces or control characters. */
bool reef__type_name_allowed(const char *name)
{
    if (name == NULL || name[0] == 0) return false;
    size_t length = 0;
    for (; name[length]; length++) {
        unsigned char c = (unsigned char)name[length];
        bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 128;
        if (!word && strchr("_.:<>*", c) == NULL) return false;
        if (length == REEF_TYPE_NAME_MAX) return false;
    }
    return true;
}

static bool text_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 32 || *text == 127) return false;
    return true;
}

/* Names and units of fields may be as long as the name of a type and have any bytes but control characters. */
static bool field_text_allowed(const char *text) { return strlen(text) <= REEF_TYPE_NAME_MAX && text_printable(text); }

const char *reef__field_refused(const reef_field *fields, uint32_t i, uint32_t size)
{
    const reef_field *f = &fields[i];
    const uint32_t element = reef__kind_size(f->kind);
    if (f->name == NULL || f->name[0] == 0 || !field_text_allowed(f->name)) return "that isn't a name";
    if (f->was && (strlen(f->was) > REEF_FIELD_WAS_MAX || !text_printable(f->was)))
        return "the names that it had before aren't printable, or too long";
    if (f->unit && !field_text_allowed(f->unit)) return "its unit isn't a text of printable characters";
    if (f->nested)
        return "its struct has another size than its list of fields, or they are too many, too deep or too long";
    if (element == 0) return "its kind isn't one of reef_kind";
    if (f->bytes == 0 || f->bytes % element != 0) return "the kind has another size than the member";
    if (f->offset > size || f->bytes > size - f->offset) return "it lies outside of the struct";
    if (!(f->lowest <= f->highest)) return "its lowest value is above its highest"; /* or one is no number */
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(fields[k].name, f->name) == 0) return "it is described twice";
    /* fields that have the list before them in common aren't checked again */
    for (uint32_t k = 0; f->names && k < i; k++)
        if (fields[k].names == f->names && fields[k].kind == f->kind) return NULL;
    if (f->names) return reef__names_refused(f->names, f->kind);
    return NULL;
}

bool reef__fields_allowed(const reef_field *fields, uint32_t count, uint32_t size)
{
    if (count > REEF_FIELDS_MAX || (count != 0 && fields == NULL)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (reef__field_refused(fields, i, size)) return false;
    return true;
}

/* true: the hooks need data */
static bool hooks_value(const reef_hooks *h) { return hooks_run(h) || h->on_fork != REEF_FORK_COPY || h->unique; }
static bool hooks_any(const reef_hooks *h) { return hooks_value(h) || h->track_rows; }

/* The usual size of a page of values, and the largest. */
enum { PAGE_BYTES_USUAL = 1 << 16, PAGE_BYTES_MAX = 1 << 30 };

bool reef__fields_cover(const reef_field *fields, uint32_t count, uint32_t size, uint32_t align)
{
    uint32_t end = 0;
    if (count > REEF_SPLIT_FIELDS_MAX) return false;
    for (uint32_t done = 0; done < count; done++) {
        const reef_field *next = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (fields[i].offset >= end && (next == NULL || fields[i].offset < next->offset)) next = &fields[i];
        if (next == NULL || next->offset - end >= align) return false; /* fields overlap, or bytes belong to no field */
        end = next->offset + next->bytes;
    }
    return count == 0 || size - end < align;
}

uint32_t reef__page_rows_of(const reef_type_desc *d)
{
    uint32_t rows = REEF_BLOCK_ROWS;
    if (!home_stored(d->home) || d->page_rows) return d->page_rows;
    while (rows > 1 && (uint64_t)rows * d->size > PAGE_BYTES_USUAL) rows /= 2;
    return rows;
}

static reef_status home_check(const reef_type_desc *d)
{
    if ((uint32_t)d->home > REEF_SPLIT) return REEF_BAD_ARGUMENT;
    if (d->home == REEF_BIT && d->size != 0) return REEF_BAD_ARGUMENT;
    if (d->home == REEF_SPLIT && d->size > REEF_SPLIT_SIZE_MAX) return REEF_BAD_ARGUMENT;
    if (d->home >= REEF_SPARSE && d->home != REEF_COLD && d->size == 0) return REEF_BAD_ARGUMENT;
    if (d->page_rows &&
        (d->home != REEF_PAGED || (d->page_rows & (d->page_rows - 1)) || d->page_rows > REEF_PAGE_ROWS_MAX))
        return REEF_BAD_ARGUMENT;
    return (uint64_t)d->page_rows * d->size > PAGE_BYTES_MAX ? REEF_BAD_ARGUMENT : REEF_OK;
}

static reef_status hooks_check(const reef_hooks *h, uint32_t size, reef_home home)
{
    if (h == NULL) return REEF_OK;
    /* A tag has no slot that a hook could get. */
    if (size == 0 && (hooks_value(h) || h->address_bound)) return REEF_BAD_ARGUMENT;
    if (home == REEF_BIT && h->track_rows) return REEF_BAD_ARGUMENT;
    /* a shared value doesn't belong to one entity */
    if (home == REEF_SHARED && (h->track_rows || h->on_fork != REEF_FORK_COPY)) return REEF_BAD_ARGUMENT;
    if ((uint32_t)h->on_fork > REEF_FORK_SKIP) return REEF_BAD_ARGUMENT;
    if (h->unique && (home == REEF_MULTI || home == REEF_SHARED || h->on_fork != REEF_FORK_COPY || h->unique[0] == 0))
        return REEF_BAD_ARGUMENT;
    if (home != REEF_PAGED && h->address_bound && h->move == NULL) return REEF_NOT_MOVABLE;
    if (h->destroy && h->move == NULL && !h->bytes_move) return REEF_NOT_MOVABLE;
    return REEF_OK;
}

reef_status reef__base_check(const reef_type_desc *d)
{
    const type *base = reef__type_of(d->base.id);
    if (d->base.id == 0) return REEF_OK;
    if (base == NULL) return REEF_UNKNOWN_TYPE;
    if (base->size > d->size || base->align > d->align || strcmp(base->name, d->name) == 0) return REEF_BAD_ARGUMENT;
    if (base->hooks.unique || (d->hooks && d->hooks->unique)) return REEF_BAD_ARGUMENT;
    const bool one =
        d->home != REEF_SPLIT && d->home != REEF_MULTI && base->home != REEF_SPLIT && base->home != REEF_MULTI;
    return one ? REEF_OK : REEF_BAD_ARGUMENT; /* otherwise an entity doesn't have one struct */
}

static bool align_allowed(uint32_t size, uint32_t align)
{
    return align != 0 && align <= REEF_ALIGN_MAX && (align & (align - 1)) == 0 && size % align == 0;
}

/* Brings the description into the form in which it is kept and compared: with an alignment, and without hooks that do
 * nothing. */
reef_status reef__type_normalise(reef_type_desc *d)
{
    if (!reef__type_name_allowed(d->name)) return REEF_BAD_ARGUMENT;
    if (d->size > REEF_SIZE_MAX || home_check(d) != REEF_OK) return REEF_BAD_ARGUMENT;
    if (d->align == 0)
        for (d->align = 16; d->size % d->align != 0; d->align /= 2) {}
    if (!align_allowed(d->size, d->align)) return REEF_BAD_ARGUMENT;
    if (d->size == 0) d->align = 1;
    if (!reef__fields_allowed(d->fields, d->field_count, d->size)) return REEF_BAD_ARGUMENT;
    if (d->home == REEF_SPLIT &&
        ((d->hooks && hooks_any(d->hooks)) || !reef__fields_cover(d->fields, d->field_count, d->size, d->align)))
        return REEF_BAD_ARGUMENT;
    reef_status status = hooks_check(d->hooks, d->size, d->home);
    if (status >= 0) status = reef__base_check(d);
    if (d->hooks && !hooks_any(d->hooks)) d->hooks = NULL;
    return status;
}

/* ---- comparing ---- */

bool reef__field_same(const reef_field *a, const reef_field *b)
{
    return a->kind == b->kind && a->offset == b->offset && a->bytes == b->bytes && a->lowest == b->lowest &&
           a->highest == b->highest && strcmp(a->name, b->name) == 0 &&
           strcmp(unit_text(a->unit), unit_text(b->unit)) == 0 && reef__names_same(a->names, b->names);
}

bool reef__fields_same(const type *t, const reef_field *fields, uint32_t count)
{
    if (t->field_count == 0 || count == 0) return true;
    if (t->field_count != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!reef__field_same(&t->fields[i], &fields[i])) return false;
    return true;
}

static bool unique_same(const reef_hooks *a, const reef_hooks *b)
{
    return a->unique && b->unique ? strcmp(a->unique, b->unique) == 0 : a->unique == b->unique;
}

/* A unique field implies stamps of rows. */
static bool hooks_track(const reef_hooks *h) { return h->track_rows || h->unique; }

static bool hooks_equal(const reef_hooks *a, const reef_hooks *b)
{
    return a->construct == b->construct && a->copy == b->copy && a->move == b->move && a->destroy == b->destroy &&
           a->context == b->context && a->bytes_move == b->bytes_move && a->on_fork == b->on_fork &&
           a->address_bound == b->address_bound && hooks_track(a) == hooks_track(b) && unique_same(a, b);
}

bool reef__hooks_same(const type *t, const reef_hooks *hooks)
{
    static const reef_hooks none;
    return hooks_equal(&t->hooks, hooks ? hooks : &none);
}

bool reef__hooks_alike(const reef_hooks *a, const reef_hooks *b)
{
    return !a->construct == !b->construct && !a->copy == !b->copy && !a->move == !b->move &&
           !a->destroy == !b->destroy && a->bytes_move == b->bytes_move && a->on_fork == b->on_fork &&
           a->address_bound == b->address_bound && hooks_track(a) == hooks_track(b) && unique_same(a, b);
}

/* Requirements that only one side gives are no difference either, until a world uses the type. */
bool reef__required_same(const type *t, const reef_type_desc *d, bool settled)
{
    if (t->required_count == 0 || d->required_count == 0) return d->required_count == 0 || !settled;
    if (t->required_count != d->required_count) return false;
    for (uint32_t i = 0; i < d->required_count; i++) {
        uint32_t k = 0;
        while (k < t->required_count && t->required[k].id != d->required[i].id) k++;
        if (k == t->required_count) return false;
    }
    return true;
}

bool reef__type_same(const type *t, const reef_type_desc *d, bool settled)
{
    return t->size == d->size && t->align == d->align && t->home == d->home && t->page_rows == reef__page_rows_of(d) &&
           base_same(t, d) && t->relation == d->relation && (t->data ? t->data->id : 0) == d->data.id &&
           reef__hooks_same(t, d->hooks) && reef__fields_same(t, d->fields, d->field_count) &&
           reef__required_same(t, d, settled);
}
