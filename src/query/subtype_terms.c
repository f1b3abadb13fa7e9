/* Terms with a plus: a base or any of its subtypes.
 *
 *     asked       Position · Moving+                        !Moving+
 *     expanded    Position · ANY_OF 3 · Moving · A · B      NONE_OF 3 · Moving · A · B
 *
 * A query with such a term keeps a second list of terms, in which the term is a group of the base and, by name, the
 * subtypes that are known. So tables, rows, changes, stores and marks treat it like any other group. The list is made
 * again when a loop begins and new types have appeared. If a table has several members of the group, its blocks give
 * the first one; the others aren't written. */
#include "query/subtype_terms.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "query/block.h"
#include "query/query.h"
#include "reef/subtype.h"

static size_t expansion_bytes(uint32_t count)
{
    return sizeof(expansion) + count * (sizeof(reef_term) + sizeof(term_facts));
}

static expansion *expansion_make(reef_world *w, uint32_t count)
{
    expansion *x = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, expansion_bytes(count));
    if (x == NULL) return NULL;
    x->count = count;
    x->epoch = UINT64_MAX;
    x->facts = (term_facts *)(void *)(x->terms + count);
    return x;
}

static void expansion_give(reef_world *w, expansion *x)
{
    if (x) reef__memory_free(&w->family->memory, MEMORY_OTHER, x, expansion_bytes(x->count));
}

void reef__subs_drop(query *q)
{
    expansion_give(q->world, q->subs);
    q->subs = NULL;
}

/* Writes the group of term t at `at`: the base and `n` subtypes by name. The answer is the place behind it. */
static uint32_t group_put(expansion *x, uint32_t at, const reef_term *t, const term_facts *f, const uint32_t *ids,
                          uint32_t n)
{
    reef_term *member = &x->terms[at + 1];
    x->terms[at] = (reef_term){.op = t->op == REEF_NOT ? REEF_NONE_OF : REEF_ANY_OF, .count = n + 1};
    x->facts[at] = (term_facts){.top = f->top, .filter = true, .sub = true};
    for (uint32_t k = 0; k <= n; k++) {
        uint32_t to = k;
        const reef_component c = k ? (reef_component){ids[k - 1]} : t->component;
        for (; to > 1 && reef__type_compare(reef__type_of(c.id), reef__type_of(member[to - 1].component.id)) < 0; to--)
            member[to] = member[to - 1];
        member[to] = *t;
        member[to].component = c;
        member[to].op = t->op == REEF_OPTIONAL ? REEF_OPTIONAL : REEF_HAS;
        member[to].subtypes = 0;
    }
    for (uint32_t k = 0; k <= n; k++) {
        reef__facts_find(&member[k], &x->facts[at + 1 + k], false, f->filter);
        x->facts[at + 1 + k].sub = true;
    }
    return at + 2 + n;
}

COLD bool reef__subs_expand(query *q)
{
    /* read first: a type that appears meanwhile is found by the next look */
    const uint32_t based = reef__types_based();
    const uint32_t *ids[REEF_TERMS_MAX];
    uint32_t n[REEF_TERMS_MAX], count = 0, at = 0;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        if (t->subtypes) ids[i] = reef__subtypes_of(reef__type_of(t->component.id), &n[i]);
        count += t->subtypes ? 2 + n[i] : 1;
    }
    expansion *x = expansion_make(q->world, count);
    if (x == NULL) return false;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        if (t->subtypes) {
            at = group_put(x, at, t, &q->asked_facts[i], ids[i], n[i]);
        } else {
            x->terms[at] = *t;
            x->facts[at++] = q->asked_facts[i];
        }
    }
    expansion_give(q->world, q->subs);
    x->based = based;
    q->subs = x;
    q->terms = x->terms;
    q->facts = x->facts;
    q->term_count = count;
    return true;
}

/* The number of the group that member i belongs to. Members contain no groups, so it is the nearest one before i. */
static uint32_t group_of(const query *q, uint32_t i)
{
    while (q->terms[i].op < REEF_ANY_OF) i--;
    return i;
}

bool reef__sub_hidden(const query *q, uint32_t i, uint32_t table_id)
{
    for (uint32_t k = group_of(q, i) + 1; k < i; k++)
        if (!q->facts[k].stored && reef__slot_seek(q->world, q->terms[k].component.id, table_id)) return true;
    return false;
}

/* ---- what a block gives ---- */

reef_strided reef_block_sub(const reef_block *b, reef_component base, bool write)
{
    const reef_strided none = {NULL, 0, {0}};
    if (b == NULL || b->count == 0) return none;
    const query *q = b->loop.query;
    for (uint32_t i = 0; q && q->subs && i + 1 < q->term_count; i++) {
        const reef_term *group = &q->terms[i], *first = group + 1;
        if (!q->facts[i].sub || group->op < REEF_ANY_OF || first->component.id != base.id || q->facts[i + 1].filter)
            continue;
        if (write && first->access == REEF_IN) continue;
        for (uint32_t k = 0; k < group->count; k++) {
            const type *t = reef__type_of(first[k].component.id);
            void *values = reef__block_values(b, t);
            if (values) return (reef_strided){values, t->size, first[k].component};
        }
        return none;
    }
    if (b->world)
        reef__failure(b->world, REEF_UNDECLARED, write ? "reef_inout_sub" : "reef_in_sub", base, (reef_entity){0, 0},
                      0);
    return none;
}
