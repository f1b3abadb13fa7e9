/* Sorting storage, for reef and for the reference: by entity, or by the first bytes of a component (by its payload, if
 * it owns one); or in groups, as types of relations ask for it. */
#include "apply.h"
#include <stdlib.h>
#include <string.h>

static struct {
    uint32_t type;
    bool coarse;
} sorted_by; /* a key function has no context */

static uint64_t key_of_value(const void *value)
{
    const model_type *t = &model_types[sorted_by.type];
    uint64_t key = 0;
    if (type_has_payload(t) || t->sort == SORT_SCRIPT) key = value_digest(t, value);
    else memcpy(&key, value, t->size < 8 ? t->size : 8);
    return sorted_by.coarse ? key % 5 : key;
}

static uint64_t key_in_reference(uint64_t value)
{
    const model_type *t = &model_types[sorted_by.type];
    unsigned char bytes[8] = {0};
    if (type_has_payload(t) || t->sort == SORT_SCRIPT) return sorted_by.coarse ? value % 5 : value;
    value_fill(bytes, t->size < 8 ? t->size : 8, value);
    return key_of_value(bytes);
}

void core_SORT(model *m, const op *o, outcome *out)
{
    reef_component types[OP_TYPES];
    reef_sort sort = {.types = types, .type_count = o->count, .exactly = (o->option & ORDER_EXACTLY) != 0};
    sort.grouped = (o->option & ORDER_GROUPED) != 0;
    for (uint32_t i = 0; i < o->count; i++) types[i] = component_of(o->type[i]);
    sort.order.descending = (o->option & ORDER_DESCENDING) != 0;
    if (o->option & ORDER_BY_VALUE) {
        sort.order.component = types[0];
        sort.order.key = key_of_value;
        sorted_by.type = o->type[0];
        sorted_by.coarse = (o->option & ORDER_COARSELY) != 0;
    }
    out->status = reef_sort_storage(m->world, &sort);
}

static reef_status check(const model *m, const op *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (!ref_knows(&m->reference, o->type[i])) return REEF_UNKNOWN_TYPE;
        if (!type_in_table(&model_types[o->type[i]])) return REEF_BAD_ARGUMENT;
    }
    const bool keyed = (o->option & ORDER_BY_VALUE) != 0;
    return keyed && (model_types[o->type[0]].size == 0 || model_types[o->type[0]].home == REEF_SPLIT)
               ? REEF_BAD_ARGUMENT
               : REEF_OK;
}

static bool comes_before(const uint64_t *a, const uint64_t *b) { return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1]; }

static void sort_table(const ref_world *r, ref_table *t, const op *o)
{
    uint64_t(*rows)[2] = malloc(t->count * sizeof *rows);
    if (!rows) abort();
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t index = t->row[i];
        uint64_t key = o->option & ORDER_BY_VALUE ? key_in_reference(r->entity[index].value[o->type[0]]) : index;
        uint64_t x[2] = {o->option & ORDER_DESCENDING ? ~key : key, index};
        uint32_t at = i;
        for (; at > 0 && comes_before(x, rows[at - 1]); at--) memcpy(rows[at], rows[at - 1], sizeof x);
        memcpy(rows[at], x, sizeof x);
    }
    for (uint32_t i = 0; i < t->count; i++) t->row[i] = (uint32_t)rows[i][1];
    free(rows);
}

/* A row, and its group: its targets by the relations that group rows, in the order of their names. */
typedef struct grouped_row {
    uint32_t group[RELATIONS], row, entity;
} grouped_row;

static int group_order(const void *a, const void *b)
{
    const grouped_row *x = a, *y = b;
    for (uint32_t i = 0; i < RELATIONS; i++)
        if (x->group[i] != y->group[i]) return x->group[i] < y->group[i] ? -1 : 1;
    return 0;
}

static int row_order(const void *a, const void *b)
{
    const grouped_row *x = a, *y = b;
    const int groups = group_order(a, b);
    return groups ? groups : x->row < y->row ? -1 : x->row > y->row;
}

/* Rows that lie among the places of their group stay. The others fill the places that are left, in their order. */
static void group_table(const ref_world *r, ref_table *t)
{
    grouped_row *x = malloc(t->count * sizeof *x);
    uint32_t *to = malloc(t->count * sizeof *to);
    if (!x || !to) abort();
    for (uint32_t i = 0; i < t->count; i++) {
        x[i].row = i;
        x[i].entity = t->row[i];
        for (uint32_t k = 0; k < RELATIONS; k++)
            x[i].group[k] = model_relations[k].options & REEF_GROUPED ? ref_target(r, k, t->row[i]) : 0;
    }
    qsort(x, t->count, sizeof *x, row_order);
    for (uint32_t first = 0, end; first < t->count; first = end) {
        for (end = first; end < t->count && group_order(&x[first], &x[end]) == 0; end++) to[end] = UINT32_MAX;
        for (uint32_t i = first; i < end; i++)
            if (x[i].row >= first && x[i].row < end) to[x[i].row] = x[i].entity;
        for (uint32_t i = first, at = first; i < end; i++) {
            if (x[i].row >= first && x[i].row < end) continue;
            while (to[at] != UINT32_MAX) at++;
            to[at] = x[i].entity;
        }
    }
    memcpy(t->row, to, t->count * sizeof *to);
    free(x);
    free(to);
}

void ref_group(ref_world *r, uint32_t set)
{
    for (uint32_t i = 0; i < r->table_count; i++)
        if ((r->table[i]->set & set) == set && r->table[i]->count > 1) group_table(r, r->table[i]);
}

void want_SORT(model *m, const op *o, outcome *want)
{
    uint32_t set = 0;
    want->status = check(m, o);
    if (want->status != REEF_OK) return;
    for (uint32_t i = 0; i < o->count; i++) set |= 1u << o->type[i];
    m->check_rows = true;
    if (o->option & ORDER_GROUPED) {
        ref_group(&m->reference, set);
        return;
    }
    sorted_by.type = o->type[0];
    sorted_by.coarse = (o->option & ORDER_COARSELY) != 0;
    for (uint32_t i = 0; i < m->reference.table_count; i++) {
        ref_table *t = m->reference.table[i];
        bool taken = o->option & ORDER_EXACTLY ? t->set == set : (t->set & set) == set;
        if (taken && t->count > 1) sort_table(&m->reference, t, o);
    }
}
