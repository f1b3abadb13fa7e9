/* One operation: reef and the reference do it, and the outcomes are compared. */
#include "apply.h"
#include "hash.h"
#include "observe.h"
#include "pairs.h"
#include "script.h"
#include <stdarg.h>
#include <stdlib.h>

typedef void (*op_function)(model *m, const op *o, outcome *out);

static const struct op_entry {
    const char *name;
    op_function core, want;
    int part;
} op_entries[] = {
#define X(name, weight, part) {#name, core_##name, want_##name, part},
    MODEL_OPS(X)
#undef X
};

const char *op_name(op_kind kind) { return op_entries[kind].name; }

void model_core(model *m, const op *o, outcome *out) { op_entries[o->kind].core(m, o, out); }

void model_want(model *m, const op *o, outcome *want) { op_entries[o->kind].want(m, o, want); }

void model_fail(model *m, const char *format, ...)
{
    va_list args;
    if (m->failed) return;
    m->failed = true;
    va_start(args, format);
    vsnprintf(m->failure, sizeof m->failure, format, args);
    va_end(args);
}

static void outcome_reset(outcome *x)
{
    x->status = REEF_CORRUPT;
    x->number = x->digest = 0;
    x->made_count = 0;
}

static void room_for_made(model *m, uint32_t n)
{
    if (n <= m->made_capacity) return;
    m->core.made = realloc(m->core.made, n * sizeof(reef_entity));
    m->want.made = realloc(m->want.made, n * sizeof(reef_entity));
    if (!m->core.made || !m->want.made) abort();
    m->made_capacity = n;
}

void model_refer(model *m, const op *o)
{
    room_for_made(m, op_makes(o) + 1);
    outcome_reset(&m->want);
    m->reference.time++;
    m->relating = m->asking = 0;
    observers_begin(m);
    scripts_begin(false);
    op_entries[o->kind].want(m, o, &m->want);
    ref_told.of = NULL;
    model_made(m, o->made, m->want.made, m->want.made_count);
}

/* Lets reef do the operation. When memory was made to run out, checks that nothing has changed, and tries again. `hash`
 * is that of the world before; 0: not known. */
static void core_do(model *m, const op *o, uint64_t hash)
{
    const struct op_entry *entry = &op_entries[o->kind];
    room_for_made(m, op_makes(o) + 1);
    outcome_reset(&m->core);
    counted_memory.fired = false;
    counted_memory.fail_at = entry->part == 2 ? 0 : o->fail_at;
    counted_memory.fail_on = o->fail_on != 0;
    observers_forget();
    scripts_begin(true);
    entry->core(m, o, &m->core);
    counted_memory.fail_at = 0;
    bool fired = counted_memory.fired;
    counted_memory.fired = false;
    if (!fired || m->core.status != REEF_NO_MEMORY) return;
    m->starved++;
    if (entry->part == 0) {
        if (observers_heard()) model_fail(m, "%s without memory tells observers", entry->name);
        if (hash && reef_hash(m->world) != hash) model_fail(m, "%s without memory changes the hash", entry->name);
        if (m->starved % 4 == 0) model_compare(m, true);
        else model_compare_rows(m, true);
        if (m->failed) return;
    }
    uint64_t number = m->core.number;
    outcome_reset(&m->core);
    if (o->kind == OP_DESTROY_MANY || o->kind == OP_UNRELATE_ALL) m->core.number = number;
    if (o->kind == OP_WRITE_MANY) observers_unsure(); /* what was written already is told twice */
    entry->core(m, o, &m->core);
}

static void outcomes_compare(model *m, const op *o)
{
    const outcome *a = &m->core, *b = &m->want;
    const char *name = op_name((op_kind)o->kind);
    if (a->status != b->status) {
        model_fail(m, "%s answers %s, must answer %s", name, reef_status_name(a->status), reef_status_name(b->status));
        return;
    }
    if (a->number != b->number)
        model_fail(m, "%s gives the number %llu, must be %llu", name, (unsigned long long)a->number,
                   (unsigned long long)b->number);
    if (a->digest != b->digest) model_fail(m, "%s reads other values than were written, or in another order", name);
    for (uint32_t i = 0; i < a->made_count && i < b->made_count; i++)
        if (!reef_entity_equal(a->made[i], b->made[i]))
            model_fail(m, "%s makes {%u, %u}, must be {%u, %u}", name, a->made[i].index, a->made[i].generation,
                       b->made[i].index, b->made[i].generation);
    if (b->status < REEF_OK && reef_last_error(m->world).status != b->status)
        model_fail(m, "%s records the error %s, must be %s", name, reef_status_name(reef_last_error(m->world).status),
                   reef_status_name(b->status));
}

/* Is the world hashed before and after this operation? Mostly this is done for operations that shouldn't change
 * anything. */
static bool is_watched(const op *o)
{
    bool often = o->kind == OP_SHRINK || o->kind == OP_RESERVE || o->kind == OP_RESERVE_FOR || o->flaw || o->fail_at;
    return (value_mix(o->value, 55) >> 1) % (often ? 12 : 100) == 0;
}

void model_apply(model *m, const op *o)
{
    uint64_t hash = 0;
    if (is_watched(o)) hash_check(m, hash = reef_hash(m->world));
    m->check_all = m->check_rows = false;
    m->check_hash = 0;
    if (!m->failed) core_do(m, o, hash);
    if (m->failed) return;
    model_refer(m, o);
    outcomes_compare(m, o);
    if (!m->failed) observers_compare(m);
    if (!m->failed) scripts_compare(m);
    if (!m->failed) pairs_of_op(m, o);
    if (m->check_hash && reef_hash(m->world) != m->check_hash) model_fail(m, "after a restore the hash is another one");
    if (m->check_all && !m->failed) model_compare(m, true);
    if (m->check_rows && !m->failed) model_compare_rows(m, true);
    if (hash && !m->failed) hash_check(m, reef_hash(m->world));
    if (o->kind == OP_HASH)
        m->reference.mark[m->reference.mark_count++ % MARKS] = (ref_mark){reef_version(m->world), m->reference.time};
    if (counted_memory.fault) model_fail(m, "%s: %s", op_name((op_kind)o->kind), counted_memory.fault);
    if (o->value % 8 == 0 && reef_count_alive(m->world) != m->reference.living_count)
        model_fail(m, "the number of living entities is wrong");
    if (m->failed) return;
    model_compare_entity(m, subject_of(m, o));
    for (uint32_t i = 0; i < m->want.made_count && i < 3; i++) model_compare_entity(m, m->want.made[i]);
    for (uint32_t i = 0; i < 2 && m->reference.living_count > 0; i++) {
        uint32_t at = (uint32_t)((value_mix(o->value, 100 + i) >> 1) % m->reference.living_count);
        model_compare_entity(m, ref_handle(&m->reference, m->reference.living[at]));
    }
}
