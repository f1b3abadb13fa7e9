#include "type/type_refusal.h"
#include "base/text_out.h"
#include "type/relation_type.h"
#include "type/required_types.h"
#include "type/type_rules.h"
#include "reef/type_info.h"

static void text_put_fields(text_out *o, const type *t, const reef_type_desc *d)
{
    uint32_t i = 0;
    while (i < t->field_count && i < d->field_count && reef__field_same(&t->fields[i], &d->fields[i])) i++;
    const char *name = i < d->field_count ? d->fields[i].name : t->fields[i].name;
    reef__text_put(o, "; their fields differ from field %u (%s) on", i + 1, name);
}

/* false: no field is refused */
static bool text_put_refused_field(text_out *o, const reef_type_desc *d)
{
    const char *why = NULL;
    uint32_t i = 0;
    while (i < d->field_count && (why = reef__field_refused(d->fields, i, d->size)) == NULL) i++;
    if (why == NULL) return false;
    reef__text_put(o, "field %s: %s", d->fields[i].name ? d->fields[i].name : "(no name)", why);
    return true;
}

static const char *home_text(reef_home home)
{
    static const char *const names[] = {"tables",     "bits",  "a sparse set",  "pages",
                                        "a cold set", "spans", "shared values", "split columns"};
    return names[home];
}

static const char *base_text(const type *base) { return base ? base->name : "none"; }

COLD void reef__type_refusal_put(text_out *o, const reef_type_desc *d, reef_status status, const type *named,
                                 uint32_t settled)
{
    reef__text_put(o, "type %s: ", d->name ? d->name : "(no name)");
    const type *t = status == REEF_EXISTS ? named : NULL, *which;
    if (t == NULL && reef__required_check(named, d, &which) == status) {
        reef__text_put(o, "it can't require %s%s", which ? which->name : "so many types",
                       status == REEF_CYCLE            ? ", which brings it along itself"
                       : status == REEF_BAD_ARGUMENT   ? ", which has no default value"
                       : status == REEF_DUPLICATE_TERM ? " twice"
                                                       : "");
    } else if (t == NULL && d->base.id && reef__base_check(d) < 0) {
        const type *base = reef__type_of(d->base.id);
        reef__text_put(o, "it can't be a subtype of %s: %s (sizes %u and %u, alignments %u and %u)", base->name,
                       reef_status_text(status), base->size, d->size, base->align, d->align);
    } else if (t == NULL && d->relation && status == REEF_BAD_ARGUMENT) {
        reef__text_put(o, "%s", reef__relation_types_by->refused(d));
    } else if (t == NULL && d->field_count <= REEF_FIELDS_MAX && d->fields && text_put_refused_field(o, d)) {
        /* it is said */
    } else if (t == NULL) {
        reef__text_put(o, "%s", reef_status_text(status));
        /* Hooks that do nothing with values are no longer in the description; then its fixed address was wrong. */
        if (status == REEF_NOT_MOVABLE && d->home != REEF_PAGED && (d->hooks == NULL || d->hooks->address_bound))
            reef__text_put(
                o, ": in %s values move; give it a move hook, or the home REEF_PAGED, where each stays at its address",
                home_text(d->home));
        else if (status == REEF_NOT_MOVABLE)
            reef__text_put(o, ": a type with a destroy hook needs a move hook or bytes_move");
        if (d->home == REEF_SPLIT && status == REEF_BAD_ARGUMENT)
            reef__text_put(o, "; a type that is split by field needs fields that cover it, at most %u, and no hooks",
                           (unsigned)REEF_SPLIT_FIELDS_MAX);
    } else {
        reef__text_put(o, "two declarations differ");
        if (t->size != d->size) reef__text_put(o, "; sizes %u and %u", t->size, d->size);
        if (t->align != d->align) reef__text_put(o, "; alignments %u and %u", t->align, d->align);
        if (t->home != d->home)
            reef__text_put(o, "; one lives in %s, the other in %s", home_text(t->home), home_text(d->home));
        else if (t->page_rows != reef__page_rows_of(d))
            reef__text_put(o, "; pages of %u and %u values", t->page_rows, reef__page_rows_of(d));
        if (t->relation != d->relation || (t->data ? t->data->id : 0) != d->data.id)
            reef__text_put(o, "; their options or data as relations differ");
        if (!base_same(t, d))
            reef__text_put(o, "; one is a subtype of %s, the other of %s", base_text(t->base),
                           base_text(reef__type_of(d->base.id)));
        if (!reef__hooks_same(t, d->hooks)) reef__text_put(o, "; their hooks differ");
        if (!reef__fields_same(t, d->fields, d->field_count)) text_put_fields(o, t, d);
        if (!reef__required_same(t, d, t->id <= settled))
            reef__text_put(o, t->id <= settled && t->required_count == 0
                                  ? "; a world used it before it was said what it requires"
                                  : "; they require different types");
    }
}
