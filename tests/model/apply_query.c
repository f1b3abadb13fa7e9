/* Operations on queries: o->n is the slot. */
#include "apply.h"

enum { WALK_WRITES = 1, WALK_TRIES_LOCKED = 2, WALK_LEAVES = 4, WALK_OTHER_WORLD = 8, QUERY_OF_TEXT = 1 };

static const char *const access_words[] = {"inout ", "in ", "out ", "with "};

static reef_query query_of_text(model *m, const op *o)
{
    char text[512] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        const char *name = o->type[i] < TYPES_MAX ? model_types[o->type[i]].name : "Nobody_knows_me";
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", i ? ", " : "", access_words[o->how[i]], name);
    }
    return reef_query_new(m->world, text);
}

static reef_query query_of_struct(model *m, const op *o)
{
    reef_query_desc desc = {0};
    for (uint32_t i = 0; i < o->count; i++) {
        desc.terms[i].component = component_of(o->type[i]);
        desc.terms[i].access = (reef_access)o->how[i];
    }
    return reef_query_make(m->world, &desc);
}

void core_QUERY_NEW(model *m, const op *o, outcome *out)
{
    reef_query q = o->option & QUERY_OF_TEXT ? query_of_text(m, o) : query_of_struct(m, o);
    out->status = !reef_query_is_null(q) ? REEF_OK : reef_last_error(m->world).status;
    if (reef_query_is_null(q)) return;
    reef_query_free(m->world, m->query[o->n].query);
    m->query[o->n].query = q;
}

void want_QUERY_NEW(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    for (uint32_t i = 0; i < count; i++) values[i].how = HOW_DEFAULT;
    want->status = ref_check_bundle(&m->reference, values, 0);
    for (uint32_t i = 0; want->status == REEF_OK && i < count; i++) { /* term by term */
        want->status = ref_check_bundle(&m->reference, values, i + 1);
        const bool allowed = want->status == REEF_OK || want->status == REEF_DUPLICATE_TERM;
        if (allowed && model_types[o->type[i]].unique && o->how[i] != REEF_IN && o->how[i] != REEF_WITH)
            want->status = REEF_BAD_ARGUMENT; /* it would write a unique field */
    }
    if (want->status != REEF_OK) return;
    model_query *q = &m->query[o->n];
    memcpy(q->type, o->type, sizeof q->type);
    memcpy(q->access, o->how, sizeof q->access);
    q->count = o->count;
}

void core_QUERY_FREE(model *m, const op *o, outcome *out)
{
    reef_query_free(m->world, m->query[o->n].query);
    m->query[o->n].query = (reef_query){0, 0, 0};
    out->status = REEF_OK;
}

void want_QUERY_FREE(model *m, const op *o, outcome *want)
{
    m->query[o->n].count = 0;
    want->status = REEF_OK;
}

/* ---- walking ---- */

static bool walk_leaves(const model_query *q, const op *o)
{
    bool out = false; /* who asks for a block to write it must write it */
    for (uint32_t i = 0; i < q->count; i++) out |= q->access[i] == REEF_OUT;
    return (o->option & WALK_LEAVES) && !out;
}
/* Is this term's data written, is it read? When memory runs out in a loop, a part of the data is written, and written
 * again in the second try. Therefore the second try doesn't compare the old values. */
static bool term_writes(const model_query *q, uint32_t i, const op *o)
{
    if (model_types[q->type[i]].size == 0 || walk_leaves(q, o)) return false;
    return q->access[i] == REEF_OUT || (q->access[i] == REEF_INOUT && (o->option & WALK_WRITES));
}
static bool term_reads(const model_query *q, uint32_t i, const op *o)
{
    if (model_types[q->type[i]].size == 0 || (o->fail_at && term_writes(q, i, o))) return false;
    return q->access[i] == REEF_IN || q->access[i] == REEF_INOUT;
}
static uint64_t walk_value(const op *o, uint64_t visited, uint32_t term)
{
    return value_mix(o->value, visited * OP_TYPES + term);
}

/* While a loop is open, nothing may change the structure. */
static void try_locked(model *m, const op *o, reef_entity e)
{
    reef_component c = component_of(o->type[0]), none = {0}, found;
    reef_value v = reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL);
    reef_entity made[2];
    uint32_t bad = 0;
    reef_entity later = {e.index, e.generation + 1};
    bad |= reef_create(m->world).generation != 0 ? 1u << 0 : 0;
    bad |= reef_last_error(m->world).status != REEF_LOCKED ? 1u << 1 : 0;
    bad |= reef_create_entity(m->world).generation != 0 ? 1u << 2 : 0;
    bad |= reef_destroy(m->world, e) != REEF_LOCKED ? 1u << 3 : 0;
    bad |= reef_spawn_values(m->world, &v, 1).generation != 0 ? 1u << 4 : 0;
    bad |= reef_spawn_many_values(m->world, 2, made, &v, 1) != REEF_LOCKED ? 1u << 5 : 0;
    bad |= reef_clone_many(m->world, e, 2, made) != REEF_LOCKED ? 1u << 6 : 0;
    bad |= reef_clone(m->world, e).generation != 0 ? 1u << 7 : 0;
    bad |= reef_destroy_many(m->world, &e, 1) != 0 ? 1u << 8 : 0;
    bad |= reef_destroy_where(m->world, m->query[o->n].query, NULL) != REEF_LOCKED ? 1u << 9 : 0;
    bad |= reef_remove_where_id(m->world, m->query[o->n].query, c, NULL) != REEF_LOCKED ? 1u << 10 : 0;
    bad |= reef_remove_all(m->world, e) != REEF_LOCKED ? 1u << 11 : 0;
    bad |= reef_world_clear(m->world) != REEF_LOCKED ? 1u << 12 : 0;
    bad |= reef_shrink(m->world) != REEF_LOCKED ? 1u << 13 : 0;
    bad |= reef_create_as(m->world, later) != REEF_LOCKED ? 1u << 14 : 0;
    bad |= reef_reserve_id(m->world).generation != 0 ? 1u << 15 : 0;
    bad |= reef_fork(m->world) || reef_last_error(m->world).status != REEF_LOCKED ? 1u << 18 : 0;
    bad |= reef_snapshot_take(m->world) || reef_last_error(m->world).status != REEF_LOCKED ? 1u << 19 : 0;
    for (uint32_t i = 0; i < SNAPSHOTS; i++) {
        const reef_snapshot *s = m->snapshot[i].snapshot;
        if (s) bad |= reef_restore(m->world, s) != REEF_LOCKED ? 1u << 20 : 0;
    }
    bad |= reef_enable_id(m->world, e, none, !reef_is_enabled_id(m->world, e, none)) != REEF_LOCKED ? 1u << 21 : 0;
    const bool has = reef_has_id(m->world, e, c),
               itself = has && reef_find_sub_id(m->world, e, c, &found) == REEF_OK && found.id == c.id;
    if (itself)
        bad |= reef_enable_id(m->world, e, c, !reef_is_enabled_id(m->world, e, c)) != REEF_LOCKED ? 1u << 22 : 0;
    if (itself) bad |= reef_remove_id(m->world, e, c) != REEF_LOCKED ? 1u << 16 : 0;
    else if (!has) bad |= reef_add_id(m->world, e, c, NULL, NULL) != REEF_LOCKED ? 1u << 17 : 0;
    if (bad) model_fail(m, "a call went through while a loop was open: calls %x of the list in try_locked", bad);
}

static void row_core(model *m, const op *o, outcome *out, const reef_block *b, uint32_t row, uint64_t *visited)
{
    const model_query *q = &m->query[o->n];
    out->digest = value_mix(out->digest, reef_entity_bits(b->entities[row]));
    for (uint32_t i = 0; i < q->count; i++) {
        const model_type *t = &model_types[q->type[i]];
        size_t at = (size_t)row * t->size;
        if (term_reads(q, i, o)) {
            const char *p = reef_block_in(b, t->id);
            out->digest = value_mix(out->digest, p ? value_digest(t, p + at) : 0);
        }
        if (term_writes(q, i, o)) {
            char *p = reef_block_inout(b, t->id);
            if (!p) model_fail(m, "a loop gives no array for %s, which it writes", t->name);
            else value_write(t, p + at, walk_value(o, *visited, i));
        }
    }
    (*visited)++;
}

static void block_core(model *m, const op *o, outcome *out, const reef_block *b, uint64_t *visited)
{
    const model_query *q = &m->query[o->n];
    const uint64_t *mask = reef_block_mask(b);
    uint32_t switches = ref_switches() & m->reference.known;
    if (b->count == 0 || b->count > REEF_BLOCK_ROWS) {
        model_fail(m, "a block has %u rows", b->count);
        return;
    }
    for (uint32_t i = 0; i < q->count; i++)
        if (q->access[i] == REEF_IN && walk_leaves(q, o) && reef_block_inout(b, component_of(q->type[i])))
            model_fail(m, "a loop gives an array for writing where it only reads");
    for (uint32_t row = 0; row < b->count; row++) {
        if (mask && !(mask[row / 64] >> row % 64 & 1)) continue;
        row_core(m, o, out, b, row, visited);
        for (uint32_t t = 0; t < TYPES_MAX; t++) {
            if (!(switches >> t & 1)) continue;
            uint64_t words[REEF_BLOCK_ROWS / 64];
            const uint64_t *bits = reef_block_bits(b, model_types[t].id, words);
            out->digest = value_mix(out->digest, bits ? bits[row / 64] >> row % 64 & 1 : 2);
        }
    }
}

void core_QUERY_WALK(model *m, const op *o, outcome *out)
{
    model_query *q = &m->query[o->n];
    uint64_t visited = 0;
    bool left = false;
    out->status = REEF_OK;
    if (reef_query_is_null(q->query)) return;
    if (o->option & WALK_OTHER_WORLD) {
        reef_block foreign = reef_begin(m->other, q->query);
        if (reef_next(&foreign) || reef_last_error(m->other).status != REEF_OTHER_WORLD)
            model_fail(m, "another world's loop takes this world's query");
    }
    reef_block b = reef_begin(m->world, q->query);
    while (reef_next(&b) && !m->failed) {
        if ((o->option & WALK_TRIES_LOCKED) && visited == 0) try_locked(m, o, b.entities[0]);
        block_core(m, o, out, &b, &visited);
        if (walk_leaves(q, o)) {
            reef_end(&b);
            left = true;
            out->digest = 0;
            break;
        }
    }
    reef_status s = reef_last_error(m->world).status; /* LOCKED if that was tried inside */
    if (!left && s != REEF_OK && !(o->option & WALK_TRIES_LOCKED)) out->status = s;
    if (!left && s == REEF_NO_MEMORY) out->status = s;
    out->number = reef_query_count(m->world, q->query);
}

typedef struct walk {
    model *m;
    const op *o;
    outcome *want;
    uint64_t visited;
} walk;

static void row_want(void *context, ref_entity *e, uint32_t index)
{
    walk *k = context;
    const model_query *q = &k->m->query[k->o->n];
    uint32_t switches = ref_switches() & k->m->reference.known;
    uint64_t digest = value_mix(k->want->digest, reef_entity_bits(ref_handle(&k->m->reference, index)));
    for (uint32_t i = 0; i < q->count; i++) {
        uint32_t t = q->type[i];
        if (q->access[i] == REEF_INOUT || q->access[i] == REEF_OUT) { /* handed out for writing */
            if (k->o->option & WALK_LEAVES) e->changed_unknown |= 1u << t;
            else ref_changed(&k->m->reference, e, t);
        }
        if (term_reads(q, i, k->o)) digest = value_mix(digest, value_digest_of(&model_types[t], e->value[t]));
        if (term_writes(q, i, k->o) && (model_types[t].sort != SORT_MOVER || e->value[t] != 0))
            ref_write(&k->m->reference, e, t, walk_value(k->o, k->visited, i));
    }
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (switches >> t & 1) digest = value_mix(digest, (e->set & ~e->disabled) >> t & 1);
    k->want->digest = digest;
    k->visited++;
}

void want_QUERY_WALK(model *m, const op *o, outcome *want)
{
    const model_query *q = &m->query[o->n];
    walk k = {m, o, want, 0};
    uint32_t set = 0;
    want->status = REEF_OK;
    if (q->count == 0) return;
    for (uint32_t i = 0; i < q->count; i++) set |= 1u << q->type[i];
    ref_walk_enabled(&m->reference, set, row_want, &k);
    want->number = k.visited;
    if (walk_leaves(q, o)) want->digest = 0;
}
