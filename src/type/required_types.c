/* What types require. Requirements form a graph without circles: from a type to those that it requires itself, and from
 * a subtype to those of its bases. It is small, so it is walked with lists and without marks. */
#include "type/required_types.h"
#include "type/type_walk.h"
#include "reef/type_info.h"

uint32_t reef__needs_of(const type *t, uint32_t *needs)
{
    uint32_t n = 0, next = 0;
    for (const type *x = t;; x = reef__type_of(needs[next++])) {
        for (const type *b = x; b; b = b->base) {
            for (uint32_t i = 0; i < b->required_count; i++) {
                uint32_t k = 0;
                while (k < n && needs[k] != b->required[i].id) k++;
                if (k < n) continue;
                if (n == REEF_COMPONENTS_MAX) return n;
                needs[n++] = b->required[i].id;
            }
        }
        if (next == n) break;
    }
    reef__ids_sort(needs, n);
    return n;
}

/* Is t among `needed`, what comes along with it, and the bases of all these? */
static bool needs_lead_to(const type *needed, const type *t)
{
    uint32_t needs[REEF_COMPONENTS_MAX];
    const uint32_t n = reef__needs_of(needed, needs);
    for (const type *b = needed; b; b = b->base)
        if (b == t) return true;
    for (uint32_t i = 0; i < n; i++)
        for (const type *b = reef__type_of(needs[i]); b; b = b->base)
            if (b == t) return true;
    return false;
}

reef_status reef__required_check(const type *t, const reef_type_desc *d, const type **which)
{
    *which = NULL;
    if (d->required_count > REEF_REQUIRED_MAX) return REEF_LIMIT;
    if (d->required_count && d->required == NULL) return REEF_BAD_ARGUMENT;
    for (uint32_t i = 0; i < d->required_count; i++) {
        const type *r = *which = reef__type_of(d->required[i].id);
        if (r == NULL) return REEF_UNKNOWN_TYPE;
        if (r->relation || r->owner) return REEF_BAD_ARGUMENT;
        for (uint32_t k = 0; k < i; k++)
            if (d->required[k].id == r->id) return REEF_DUPLICATE_TERM;
        if (t && needs_lead_to(r, t)) return REEF_CYCLE;
    }
    return REEF_OK;
}
