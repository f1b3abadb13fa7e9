/* Saving and loading worlds, differences between worlds, journals. */
#include "fork.h"
#include "script.h"
#include <stdlib.h>

char model_path[MODEL_PATH];

/* ---- the reference ---- */

/* The reference of a world after loading: `from`, with the values that aren't in files. Values of types with
 * REEF_FORK_SKIP stay with entities that have them before and after. With `stay`, as for a difference, this also holds
 * for types with REEF_FORK_RESET. */
static void reference_filled(ref_world *r, const ref_world *now, const ref_world *from, bool stay)
{
    fork_reference(r, from);
    r->known = now->known;
    memcpy(r->observer, now->observer, sizeof r->observer);
    memcpy(r->lately, now->lately, sizeof r->lately);
    r->time = now->time;
    r->mark_count = now->mark_count;
    memcpy(r->mark, now->mark, sizeof r->mark);
    for (uint32_t i = 0; i < r->living_count; i++) {
        uint32_t index = r->living[i];
        ref_entity *e = &r->entity[index];
        const ref_entity *was = ref_alive(now, ref_handle(r, index));
        e->changed_unknown = e->added_unknown = stay ? UINT32_MAX : 0;
        for (uint32_t t = 0; t < TYPES_MAX; t++) {
            const reef_on_fork on_fork = model_types[t].on_fork;
            e->changed[t] = e->added[t] = r->time; /* everything loaded is newer than what was known before */
            if (on_fork == REEF_FORK_COPY || (on_fork == REEF_FORK_RESET && !stay) || !was || !ref_has(was, t) ||
                !ref_has(e, t))
                continue;
            e->value[t] = was->value[t];
            e->changed_unknown |= 1u << t;
            e->added_unknown |= 1u << t;
        }
    }
}

static void reference_loaded(ref_world *now, const ref_world *from)
{
    ref_world r;
    reference_filled(&r, now, from, false);
    r.spawned = r.living_count;
    r.destroyed = 0;
    ref_drop(now);
    *now = r;
}

static void reference_applied(ref_world *now, const ref_world *from)
{
    ref_world r;
    reference_filled(&r, now, from, true);
    r.spawned = r.living_count + now->destroyed;
    r.destroyed = now->destroyed;
    ref_drop(now);
    *now = r;
}

/* ---- worlds that hold what was loaded ---- */

static void relation_mend(uint32_t relation, char *value)
{
    const uint32_t data = model_relations[relation].data;
    if (data < TYPES_MAX) value_mend(&model_types[data], value + 16);
}

static bool mend_one(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    uint32_t t = 0;
    (void)context;
    (void)e;
    while (t < TYPES_MAX && model_types[t].id.id != type.id) t++;
    if (relation_of(type) < RELATIONS) relation_mend(relation_of(type), (char *)(uintptr_t)data);
    if (t < TYPES_MAX && size) value_mend(&model_types[t], (void *)(uintptr_t)data);
    return true;
}

/* The program's own part of loading: it makes what its values own, which isn't in files. */
static void mend(reef_world *w) { reef_visit_world(w, mend_one, NULL); }

/* The types that a strict world knows; its files and differences contain their names. */
static void types_join(model *m, model_fork *k)
{
    const uint32_t fail_at = counted_memory.fail_at, more = m->reference.known & ~k->reference.known;
    counted_memory.fail_at = 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (more >> t & 1 && reef_world_use(k->world, model_types[t].id) != REEF_OK)
            model_fail(m, "a fork can't use a type");
    counted_memory.fail_at = fail_at;
}

/* Makes a world of another family. Until fresh_end all other memory counts as `beside`. */
static reef_world *fresh_make(model *m, bool without_systems)
{
    reef_world_config config = {.allocator = counted_allocator(),
                                .strict = m->strict,
                                .never_reuse = m->never_reuse,
                                .entities_max = m->entities_max};
    const uint32_t fail_at = counted_memory.fail_at;
    const uint64_t beside = counted_memory.bytes;
    counted_memory.fail_at = 0;
    reef_world *w = reef_world_new(&config);
    bool ok = w && reef_world_use(w, event_type) == REEF_OK && relations_use(w) &&
              (without_systems ? script_system(w) : tick_systems(w));
    for (uint32_t t = 0; ok && t < TYPES_MAX && m->strict; t++)
        ok = !(m->reference.known >> t & 1) || reef_world_use(w, model_types[t].id) == REEF_OK;
    if (!ok) abort();
    m->bytes_beside = beside;
    counted_memory.fail_at = fail_at;
    return w;
}

static void fresh_end(model *m, reef_world *w)
{
    world_end(m, w, NULL);
    m->bytes_beside = 0;
}

/* Checks that a new world has the whole state of this one after loading. */
static void fresh_compare(model *m, reef_world *w, uint64_t hash)
{
    ref_world r, none;
    mend(w);
    ref_make(&none);
    none.known = m->reference.known;
    none.time = m->reference.time;
    reference_double(&r, &none);
    r.entities_max = m->reference.entities_max;
    r.never_reuse = m->reference.never_reuse;
    reference_loaded(&r, &m->reference);
    relative_compare(m, w, &r, hash, NULL);
    ref_drop(&r);
    ref_drop(&none);
}

/* ---- files of whole worlds ---- */

static reef_status load_into(model *m, reef_world *w, const reef_bytes *bytes)
{
    const reef_status s = reef_load_bytes(w, bytes->data, bytes->size, NULL);
    if (s == REEF_OK) mend(w);
    else if (s != REEF_NO_MEMORY) model_fail(m, "what was saved can't be loaded: %s", reef_last_error(w).detail);
    return s;
}

/* When the world is saved again, the file has the same length; only the versions of writes differ. */
static void saved_again(model *m, reef_world *w, const reef_bytes *bytes, const reef_save_desc *desc)
{
    reef_bytes again;
    counted_memory.fail_at = 0;
    if (reef_save_bytes(w, &again, desc) != REEF_OK || again.size != bytes->size)
        model_fail(m, "what was loaded is saved as another file");
    reef_bytes_free(&again);
}

static reef_status save_fresh(model *m, const reef_bytes *bytes, const reef_save_desc *desc, uint64_t hash,
                              bool without_systems)
{
    reef_world *w = fresh_make(m, without_systems); /* a program that only looks into a file has none */
    const reef_status s = load_into(m, w, bytes);
    const uint32_t fail_at = counted_memory.fail_at;
    if (s == REEF_OK) {
        saved_again(m, w, bytes, desc);
        fresh_compare(m, w, hash);
    }
    counted_memory.fail_at = fail_at;
    fresh_end(m, w);
    return s;
}

void core_SAVE(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    const reef_save_desc desc = {.raw = !(o->option & KEEP_PORTABLE), .sealed = o->option & KEEP_SEALED};
    const uint32_t fail_at = counted_memory.fail_at;
    reef_bytes bytes;
    counted_memory.fail_at = 0;
    const uint64_t hash = reef_hash(m->world);
    counted_memory.fail_at = fail_at;
    out->status = reef_save_bytes(m->world, &bytes, &desc);
    if (out->status != REEF_OK) return;
    if (o->option & KEEP_FRESH) {
        out->status = save_fresh(m, &bytes, &desc, hash, o->value % 2);
    } else if ((o->option & KEEP_FORK) && k->world) {
        types_join(m, k);
        out->status = load_into(m, k->world, &bytes);
        if (out->status == REEF_OK) k->hash = hash;
    } else {
        out->status = load_into(m, m->world, &bytes);
        m->check_all = o->value % 4 == 0;
        m->check_rows = true;
        m->check_hash = hash;
    }
    reef_bytes_free(&bytes);
}

/* Is there a value that only a raw file can hold? */
static bool needs_raw(const ref_world *r)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < r->living_count; i++) set |= r->entity[r->living[i]].set;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (set >> t & 1 && model_types[t].size && !model_types[t].fields && model_types[t].on_fork == REEF_FORK_COPY)
            return true;
    for (uint32_t i = 0; i < r->link_count; i++) {
        const uint32_t data = model_relations[r->link[i].relation].data;
        if (data < TYPES_MAX && !model_types[data].fields) return true;
    }
    return false;
}

void want_SAVE(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    want->status = (o->option & KEEP_PORTABLE) && needs_raw(&m->reference) ? REEF_NOT_PORTABLE : REEF_OK;
    if (want->status != REEF_OK || (o->option & KEEP_FRESH)) return;
    if ((o->option & KEEP_FORK) && ref_is_there(&k->reference)) {
        k->reference.known |= m->reference.known;
        k->reference.time++;
        reference_loaded(&k->reference, &m->reference);
    } else {
        reference_loaded(&m->reference, &m->reference);
    }
}

/* ---- differences: between a fork and this world ---- */

static reef_status difference_apply(model *m, model_fork *k, const reef_bytes *bytes, ref_world *r, const ref_world *to,
                                    uint64_t hash)
{
    const reef_status s = reef_diff_apply(k->world, bytes->data, bytes->size);
    if (s != REEF_OK) return s;
    counted_memory.fail_at = 0;
    mend(k->world);
    r->time++;
    reference_applied(r, to);
    relative_compare(m, k->world, r, hash, &k->queries);
    return s;
}

static reef_status differences_try(model *m, const op *o, const reef_bytes *there, const reef_bytes *back)
{
    model_fork *k = &m->fork[o->n];
    const uint32_t fail_at = counted_memory.fail_at;
    ref_world r;
    counted_memory.fail_at = 0;
    const uint64_t hash = reef_hash(m->world), was = reef_hash(k->world);
    counted_memory.fail_at = fail_at;
    reference_double(&r, &k->reference);
    r.known |= m->reference.known;
    reef_status s = difference_apply(m, k, there, &r, &m->reference, hash);
    if (s == REEF_OK) k->hash = hash;
    if (s == REEF_OK && (o->option & KEEP_BACK)) {
        s = difference_apply(m, k, back, &r, &k->reference, was);
        if (s == REEF_OK) k->hash = was;
    }
    ref_drop(&r);
    return s;
}

/* These bytes don't count as the world's memory, since its memory is compared while they exist. */
static void bytes_move(reef_bytes *bytes)
{
    void *p = malloc(bytes->size + 1);
    if (!p) abort();
    memcpy(p, bytes->data, bytes->size);
    const size_t size = bytes->size;
    reef_bytes_free(bytes);
    *bytes = (reef_bytes){p, size};
}

void core_DIFF(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    const reef_save_desc desc = {.raw = true, .sealed = o->option & KEEP_SEALED};
    reef_bytes there, back = {NULL, 0};
    out->status = REEF_OK; /* a failure that is recorded in the fork is returned as a number */
    if (!k->world) return;
    types_join(m, k);
    journal_end(m, k->world); /* for journals, all versions between two appends are those of one world */
    out->status = reef_diff_bytes(k->world, m->world, &there, &desc);
    if (out->status != REEF_OK) return;
    bytes_move(&there);
    if (o->option & KEEP_BACK) out->status = reef_diff_bytes(m->world, k->world, &back, &desc);
    if (out->status == REEF_OK) {
        if (o->option & KEEP_BACK) bytes_move(&back);
        const reef_status s = differences_try(m, o, &there, &back);
        if (s == REEF_NO_MEMORY) out->status = s;
        else out->number = (uint64_t)(0 - (int)s);
    }
    free(there.data);
    free(back.data);
}

void want_DIFF(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    ref_world was;
    want->status = REEF_OK;
    if (!ref_is_there(&k->reference)) return;
    k->reference.known |= m->reference.known;
    if (fork_is_refused(&k->reference)) {
        want->number = (uint64_t)(0 - (int)REEF_NOT_COPYABLE);
        return;
    }
    reference_double(&was, &k->reference);
    k->reference.time++;
    reference_applied(&k->reference, &m->reference);
    if ((o->option & KEEP_BACK) && fork_is_refused(&m->reference)) {
        want->number = (uint64_t)(0 - (int)REEF_NOT_COPYABLE);
    } else if (o->option & KEEP_BACK) {
        k->reference.time++;
        reference_applied(&k->reference, &was);
    }
    ref_drop(&was);
}

/* ---- journals ---- */

void journal_end(model *m, const reef_world *w)
{
    if (!m->journal || (w && m->journal_world != w)) return;
    reef_journal_close(m->journal);
    m->journal = NULL;
}

static reef_status journal_begin(model *m, bool fresh)
{
    const reef_journal_desc desc = {.raw = true, .unsynced = true, .fresh = fresh};
    m->journal = reef_journal_open(m->world, model_path, &desc);
    m->journal_world = m->world;
    return m->journal ? REEF_OK : reef_last_error(m->world).status;
}

static reef_status journal_read(model *m, uint64_t hash)
{
    reef_world *w = fresh_make(m, hash % 2);
    const reef_status s = reef_load(w, model_path, NULL);
    const uint32_t fail_at = counted_memory.fail_at;
    counted_memory.fail_at = 0;
    if (s == REEF_OK) fresh_compare(m, w, hash);
    counted_memory.fail_at = fail_at;
    fresh_end(m, w);
    return s;
}

void core_JOURNAL(model *m, const op *o, outcome *out)
{
    const uint32_t fail_at = counted_memory.fail_at;
    if (m->journal_world != m->world) journal_end(m, NULL);
    counted_memory.fail_at = 0;
    const uint64_t hash = reef_hash(m->world);
    counted_memory.fail_at = fail_at;
    if (!m->journal) out->status = journal_begin(m, true);
    else out->status = o->option & KEEP_COMPACT ? reef_journal_compact(m->journal) : reef_journal_append(m->journal);
    if (out->status == REEF_OK && (o->option & KEEP_READ)) out->status = journal_read(m, hash);
    if (out->status == REEF_OK && (o->option & KEEP_REOPEN)) {
        journal_end(m, NULL);
        out->status = journal_begin(m, false);
        if (out->status != REEF_OK) return;
        mend(m->world);
        m->check_rows = true;
        m->check_hash = hash;
    }
    if (out->status == REEF_OK && (o->option & KEEP_CLOSE)) journal_end(m, NULL);
}

void want_JOURNAL(model *m, const op *o, outcome *want)
{
    want->status = fork_is_refused(&m->reference) ? REEF_NOT_COPYABLE : REEF_OK;
    if (want->status == REEF_OK && (o->option & KEEP_REOPEN)) reference_loaded(&m->reference, &m->reference);
}
