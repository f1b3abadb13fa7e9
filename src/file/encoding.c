/* What the writers of all kinds of state share: the end of a section, values and handles, and the numbers and
 * descriptions of types and tables. */
#include "file/encoding.h"
#include "file/record.h"
#include "type/portable_bytes.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "file/pack.h"
#include "file/section.h"

COLD void reef__encode_failed(encoding *x, reef_status status)
{
    if (x->o->status == REEF_OK) x->o->status = status;
}

void reef__encode_end(encoding *x)
{
    reef__encode_descriptions(x);
    reef__section_end(x->o);
    if (x->o->status != REEF_OK || x->o->dry || x->d->progress == NULL) return;
    const uint64_t done = x->o->bytes - x->start;
    if (done < x->next) return;
    x->next = done + (x->all ? x->all / 100 : 1 << 20);
    if (!x->d->progress(x->d->context, done < x->all || x->all == 0 ? done : x->all, x->all))
        reef__encode_failed(x, REEF_CANCELLED);
}

void reef__encode_element(encoding *x, encode_list *l)
{
    if (l->count == ENCODE_PART) reef__encode_list_end(x, l);
    if (l->count == 0) {
        reef__section_begin(x->o, l->kind);
        l->where = reef__put_later(x->o);
    }
    reef__put_now(x->o, l->where, ++l->count);
}

void reef__encode_list_end(encoding *x, encode_list *l)
{
    if (l->count) reef__encode_end(x);
    l->count = 0;
}

uint64_t reef__encode_again(const encoding *x, const type *t)
{
    return x->again == UINT64_MAX || reef__pack_allowed(t, x->d->form) != REEF_OK ? UINT64_MAX : x->again;
}

bool reef__encode_allowed(encoding *x, const type *t)
{
    const reef_status s = reef__pack_allowed(t, x->d->form);
    if (s == REEF_OK || x->o->dry) return true;
    reef_error e = {.status = s, .operation = x->w->calling ? x->w->calling : x->op, .component = {t->id}};
    if (s == REEF_NOT_COPYABLE && !reef__pack_by_address(t, x->d->form))
        strcpy(e.detail, "it owns something, and its fields aren't described (REEF_FIELDS)");
    if (!x->reported) reef__failure_record(x->w, &e);
    x->reported = true;
    reef__encode_failed(x, s);
    return false;
}

void reef__encode_values(encoding *x, const type *t, const void *values, size_t n)
{
    const size_t bytes = reef__pack_bytes(t, x->d->form);
    if (bytes == 0 || n == 0) return;
    if (reef__type_is_flat(t) &&
        !reef__pack_by_address(t, x->d->form)) { /* the bytes in memory are those in the file */
        reef__put_block(x->o, values, n * t->size);
        return;
    }
    unsigned char *to = reef__put_room(x->o, n * bytes);
    if (to) reef__pack_values(t, x->d->form, to, values, n);
}

uint32_t reef__encode_columns(const encoding *x, const shape *s, file_column *columns)
{
    uint32_t n = 0;
    columns[n++] = (file_column){NULL, SLOT_ENTITIES, sizeof(reef_entity)};
    for (uint32_t i = 0; i < s->component_count; i++) {
        const type *t = type_known(s->component[i]);
        const uint32_t bytes = t->owner ? 0 : reef__pack_bytes(t, x->d->form);
        if (bytes) columns[n++] = (file_column){t, t->split ? 0 : reef__slot_seek(x->w, t->id, s->table), bytes};
    }
    return n;
}

/* ---- types and tables ---- */

uint32_t reef__encode_type(encoding *x, uint32_t id)
{
    const type *t = reef__type_of(id);
    if (encode_stopped(x) || x->o->dry) return 0;
    const uint32_t number = reef__number_of(&x->n->types, id);
    if (number != NUMBER_NONE) return number;
    /* a strict world may know a subtype and not its base */
    if (t->base && reef__world_knows(x->w, t->base->id)) (void)reef__encode_type(x, t->base->id);
    if (!reef__numbering_type(x->n, id)) reef__encode_failed(x, REEF_NO_MEMORY);
    return x->n->types.count - 1;
}

uint32_t reef__encode_table(encoding *x, uint32_t id)
{
    const table *t = table_read(x->w, id);
    const shape *s = shape_of(x->w->family, id);
    const uint32_t number = reef__number_of(&x->n->tables, id);
    if (x->o->dry) return 0;
    for (uint32_t k = 0; k < s->component_count && !encode_stopped(x); k++) {
        const type *c = type_known(s->component[k]);
        if (c->owner || (t && table_rows(t) && !reef__encode_allowed(x, c))) continue;
        if (number == NUMBER_NONE) (void)reef__encode_type(x, c->id);
    }
    if (encode_stopped(x)) return 0;
    if (number != NUMBER_NONE) return number;
    if (!reef__number_give(x->memory, &x->n->tables, x->n->tables.count, id)) reef__encode_failed(x, REEF_NO_MEMORY);
    return x->n->tables.count - 1;
}

/* ---- runs ---- */

uint64_t reef__encode_run(const encoding *x, uint64_t serial, bool *mentioned)
{
    const uint64_t version = last_run_of(x->w, serial);
    *mentioned = version != 0;
    return x->base && last_run_of(x->base, serial) == version && version < x->runs_from ? 0 : version;
}
