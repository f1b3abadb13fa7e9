/* Scripts: a component with a class and some bytes of data, and one system that calls the functions of the classes.
 *
 *   reef_script of entity 7  ──► log of removals, with the last value ──► end
 *   stamps by index: 3, 7, 9 ──► start, update
 *
 * Scripts use no destroy hooks, because those would be called for each copy of a value that snapshots and forks hold,
 * at any time. Instead the log of removals says which entities lost a script. The log is part of the state, as scripts
 * are; a fork gets a reader of its own, at the position of its origin's reader. The order of entity indices comes from
 * the stamps that tracked types have by index, so nothing is sorted and nothing is kept outside of the state. */
#include "system/script.h"
#include "base/byte_hash.h"
#include "type/code.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "system/job.h"
#include "reef/script.h"
#include "reef/enable.h"
#include "reef/prefab.h"
#include "reef/type_info.h"
#include "reef/control.h"
#include <stddef.h>
#include <stdio.h>

static const reef_hooks script_hooks = {.track_rows = true};
static const reef_field script_fields[] = {REEF_FIELDS_OF(reef_script, name_hash, started, data)};
static reef_type_decl script_decl = {.name = "reef_script",
                                     .size = (uint32_t)sizeof(reef_script),
                                     .align = (uint32_t) _Alignof(reef_script),
                                     .home = REEF_TABLE,
                                     .hooks = &script_hooks,
                                     .fields = script_fields,
                                     .field_count = sizeof script_fields / sizeof *script_fields};
_Static_assert(offsetof(reef_script, data) % 8 == 0, "the data of scripts is aligned to 8 bytes");

reef_component reef_script_type(void) { return reef_id_of(&script_decl); }

/* ---- classes by name ----
 * Their table has a fixed size and belongs to no world, as a program's code does; so it allocates nothing and is never
 * freed.
 *
 * Values contain pointers to their classes. Code that comes and goes (reef/code.h) takes its classes along, but values
 * stay, also in snapshots and on other threads. So such a class has a stand-in, which stays for the life of the
 * process: values point to it, and the class of this name in the next code is copied into it. */

enum { CLASS_SLOTS = 2 * REEF_SCRIPT_CLASSES_MAX };

typedef struct class_standin {
    reef_script_class now, before; /* now: without a name while no code has the class. before: during a trial */
    const reef_script_class *had;  /* during a trial: what the slot had before */
    uint64_t module;               /* whose class it is */
    bool tried;
    bool used; /* values may point to it */
    char name[];
} class_standin;

typedef struct script_classes {
    mutex lock;
    uint32_t count;
    const reef_script_class *slot[CLASS_SLOTS]; /* open addressing by the hash of the name */
    uint64_t hash[CLASS_SLOTS];
    bool taken[CLASS_SLOTS]; /* the slot belongs to the name of this hash, though its class may be gone */
    class_standin *standin[CLASS_SLOTS];
} script_classes;

static script_classes classes = {.lock = MUTEX_INIT};

/* Returns the slot in which the class of this name is, or would be. */
static uint32_t class_slot(uint64_t name_hash)
{
    uint32_t i = (uint32_t)(name_hash % CLASS_SLOTS);
    while (classes.taken[i] && classes.hash[i] != name_hash) i = (i + 1) % CLASS_SLOTS;
    return i;
}

/* ---- values ---- */

static bool class_is_good(const reef_script_class *c)
{
    return c && c->name && c->name[0] && c->size <= REEF_SCRIPT_BYTES;
}

static uint64_t class_hash(const reef_script_class *c) { return reef__hash_bytes(c->name, strlen(c->name)); }

/* Gives a slot to a name. False: there are too many names. Under the lock. */
static COLD bool class_take(uint32_t i, uint64_t hash)
{
    if (classes.taken[i]) return true;
    if (classes.count == REEF_SCRIPT_CLASSES_MAX) return false;
    classes.taken[i] = true;
    classes.hash[i] = hash;
    classes.count++;
    return true;
}

COLD reef_status reef_script_know(const reef_script_class *c)
{
    if (!class_is_good(c)) return REEF_BAD_ARGUMENT;
    if (reef_script_type().id == 0) return REEF_NO_MEMORY;
    const uint64_t hash = class_hash(c);
    mutex_lock(&classes.lock);
    const uint32_t i = class_slot(hash);
    const bool room = class_take(i, hash);
    if (room) classes.slot[i] = c;
    mutex_unlock(&classes.lock);
    return room ? REEF_OK : REEF_LIMIT;
}

/* ---- classes of code that comes and goes ---- */

/* The stand-in of a class; NULL: no memory, or too many classes. Under the lock. */
static COLD class_standin *standin_of(const reef_script_class *c)
{
    const uint64_t hash = class_hash(c);
    const uint32_t i = class_slot(hash);
    const size_t name_bytes = strlen(c->name) + 1;
    if (classes.standin[i] || !class_take(i, hash)) return classes.standin[i];
    reef__types_lock();
    class_standin *s = reef__types_allocate(sizeof *s + name_bytes);
    reef__types_unlock();
    if (s == NULL) return NULL;
    memcpy(s->name, c->name, name_bytes);
    s->now.size = c->size;
    return classes.standin[i] = s;
}

COLD reef_status reef__scripts_try(uint64_t module, const reef_script_class *const *list, uint32_t n, char *detail,
                                   size_t size)
{
    reef_status status = REEF_OK;
    detail[0] = 0;
    if (n && reef_script_type().id == 0) return REEF_NO_MEMORY;
    mutex_lock(&classes.lock);
    for (uint32_t i = 0; i < CLASS_SLOTS; i++) {
        class_standin *s = classes.standin[i];
        if (s == NULL || s->module != module) continue;
        s->tried = true;
        s->had = classes.slot[i];
        s->before = s->now;
        s->now = (reef_script_class){.size = s->now.size};
        classes.slot[i] = NULL;
    }
    for (uint32_t k = 0; status == REEF_OK && k < n; k++) {
        const reef_script_class *c = list[k];
        class_standin *s = class_is_good(c) ? standin_of(c) : NULL;
        const uint32_t i = s ? class_slot(class_hash(c)) : 0;
        if (s == NULL) {
            status = class_is_good(c) ? REEF_NO_MEMORY : REEF_BAD_ARGUMENT;
            (void)snprintf(detail, size, "class %u of `scripts` has no name, or too much data", k + 1);
        } else if (s->now.size != c->size) {
            status = REEF_BAD_ARGUMENT;
            (void)snprintf(detail, size, "the data of the class %.80s has another size: %u bytes before, now %u",
                           c->name, s->now.size, c->size);
        } else {
            if (!s->tried) s->had = classes.slot[i], s->before = s->now;
            s->tried = true;
            s->module = module;
            s->now.name = s->name;
            s->now.start = c->start;
            s->now.update = c->update;
            s->now.end = c->end;
            classes.slot[i] = &s->now;
        }
    }
    mutex_unlock(&classes.lock);
    return status;
}

COLD void reef__scripts_settle(bool stays)
{
    mutex_lock(&classes.lock);
    for (uint32_t i = 0; i < CLASS_SLOTS; i++) {
        class_standin *s = classes.standin[i];
        if (s && s->tried && !stays) s->now = s->before, classes.slot[i] = s->had;
        if (s) s->tried = false;
    }
    mutex_unlock(&classes.lock);
}

/* Does a class lead to where `is` says? */
static COLD bool class_is_in(const reef_script_class *c, bool (*is)(const void *context, uintptr_t at),
                             const void *context)
{
    return is(context, (uintptr_t)c) || is(context, (uintptr_t)c->start) || is(context, (uintptr_t)c->update) ||
           is(context, (uintptr_t)c->end);
}

COLD const char *reef__scripts_in(bool (*is)(const void *context, uintptr_t at), const void *context)
{
    const char *name = NULL;
    mutex_lock(&classes.lock);
    for (uint32_t i = 0; name == NULL && i < CLASS_SLOTS; i++) {
        const class_standin *s = classes.standin[i];
        const reef_script_class *c = s == NULL ? classes.slot[i] : s->used ? &s->now : NULL;
        if (c && c->name && class_is_in(c, is, context)) name = c->name;
    }
    mutex_unlock(&classes.lock);
    return name;
}

COLD void reef__scripts_forget(bool (*is)(const void *context, uintptr_t at), const void *context)
{
    mutex_lock(&classes.lock);
    for (uint32_t i = 0; i < CLASS_SLOTS; i++) {
        class_standin *s = classes.standin[i];
        if (s == NULL || !class_is_in(&s->now, is, context)) continue;
        if (classes.slot[i] == &s->now) classes.slot[i] = NULL;
        s->now = (reef_script_class){.size = s->now.size};
    }
    mutex_unlock(&classes.lock);
}

/* The class that a value points to: the class itself, or its stand-in. NULL: it is one of code that comes and goes, and
 * its module doesn't list it. */
static const reef_script_class *class_kept(const reef_script_class *c, uint64_t hash)
{
    if (!reef__code_has((uintptr_t)c)) return c;
    mutex_lock(&classes.lock);
    const uint32_t i = class_slot(hash);
    class_standin *s = classes.standin[i];
    const reef_script_class *kept = s && classes.slot[i] == &s->now ? &s->now : NULL;
    if (kept) s->used = true;
    mutex_unlock(&classes.lock);
    return kept;
}

uint32_t reef__scripts_type(void) { return REEF_ACQUIRE_U32(&script_decl.id); }

uint32_t reef__scripts_bind(void *values, uint32_t n)
{
    reef_script *x = values;
    uint32_t without = 0;
    mutex_lock(&classes.lock);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t slot = class_slot(x[i].name_hash);
        x[i].script = x[i].name_hash ? classes.slot[slot] : NULL;
        if (x[i].script && classes.standin[slot]) classes.standin[slot]->used = true;
        without += x[i].name_hash && x[i].script == NULL;
    }
    mutex_unlock(&classes.lock);
    return without;
}

/* The class of a value. NULL: it has none, or no code has it now. */
static const reef_script_class *script_class_of(const reef_script *x)
{
    return x->script && x->script->name ? x->script : NULL;
}

COLD uint64_t reef__scripts_without(const reef_world *w)
{
    const reef_component script = reef_script_type();
    const track_store *s = reef__track_of(w, script.id);
    uint64_t n = 0;
    for (uint64_t i = reef__track_next(s, 0); i != UINT64_MAX; i = reef__track_next(s, i + 1)) {
        const reef_script *x = i < w->hot.index_count ? reef_get_id(w, reef_entity_at(w, (uint32_t)i), script) : NULL;
        n += x && x->name_hash && script_class_of(x) == NULL;
    }
    return n;
}

reef_script reef_script_make(const reef_script_class *c, const void *data)
{
    reef_script x;
    memset(&x, 0, sizeof x);
    if (!class_is_good(c)) return x;
    const uint64_t hash = class_hash(c);
    x.script = class_kept(c, hash);
    if (x.script == NULL) return x;
    x.name_hash = hash;
    if (data && c->size) memcpy(x.data, data, c->size);
    return x;
}

static const char class_wrong[] = "the class is NULL, or has no name, or too much data";
static const char class_not_listed[] = "a class of a library must be in the `scripts` of its module";

reef_status reef_script_add(reef_world *w, reef_entity e, const reef_script_class *c, const void *data)
{
    static const char op[] = "reef_script_add";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    const reef_component script = reef_script_type();
    if (!class_is_good(c)) return reef__misuse(w, op, script, e, class_wrong);
    if (reef_has_id(w, e, script)) return reef__failure(w, REEF_EXISTS, op, script, e, 0);
    const reef_script x = reef_script_make(c, data);
    if (x.script == NULL) return reef__misuse(w, op, script, e, class_not_listed);
    if (!w->running) w->calling = op;
    const reef_status s = reef_set_id(w, e, script, &x, sizeof x);
    if (!w->running) w->calling = NULL;
    return s == REEF_ADDED ? REEF_OK : s;
}

reef_status reef_script_remove(reef_world *w, reef_entity e)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (!w->running) w->calling = "reef_script_remove";
    const reef_status s = reef_remove_id(w, e, reef_script_type());
    if (!w->running) w->calling = NULL;
    return s;
}

static const reef_script *script_get(const reef_world *w, reef_entity e)
{
    return reef_get_id(w, e, reef_script_type());
}

const reef_script_class *reef_script_of(const reef_world *w, reef_entity e)
{
    const reef_script *x = script_get(w, e);
    return x ? script_class_of(x) : NULL;
}

const void *reef_script_data(const reef_world *w, reef_entity e)
{
    const reef_script *x = script_get(w, e);
    return x && x->name_hash ? x->data : NULL;
}

reef_status reef_cmd_script(reef_block *b, reef_entity e, const reef_script_class *c, const void *data)
{
    static const char op[] = "reef_cmd_script";
    if (b == NULL || b->world == NULL) return REEF_BAD_ARGUMENT;
    const reef_component script = reef_script_type();
    if (!class_is_good(c)) return reef__block_misuse(b, op, script, e, class_wrong);
    const reef_script x = reef_script_make(c, data);
    if (x.script == NULL) return reef__block_misuse(b, op, script, e, class_not_listed);
    const reef_value gone = reef_value_make(script, REEF_VALUE_REMOVE, 0, NULL);
    const reef_status s = reef_cmd_change_values(b, e, &gone, 1);
    return s < 0 ? s : reef_cmd_set_id(b, e, script, &x, sizeof x);
}

/* ---- the system ---- */

/* The value says for whom it was started, and no copy of it changes that number: so a copy that an entity gets in any
 * way hasn't started. Only entities of another world may have the same handles: reef__scripts_forget_start. */
static bool script_started(const reef_script *x, reef_entity e) { return x->started == reef_entity_bits(e); }

/* Has the script started? True also for a loaded script whose class isn't known. */
static bool script_lives(const reef_script *x, reef_entity e) { return x->name_hash && script_started(x, e); }

void reef__scripts_forget_start(void *value) { ((reef_script *)value)->started = 0; }

/* Do the scripts of this entity run now? They don't while something is disabled, and those of templates never do. */
static bool script_awake(const reef_world *w, reef_entity e, reef_component script)
{
    const uint32_t id = reef_slots_at(&w->hot, place_of(w, e))[0].head.table;
    return reef_is_enabled_id(w, e, script) && reef_is_enabled_id(w, e, (reef_component){0}) &&
           (reef__slot_seek(w, reef_id(ReefPrefab).id, id) == 0);
}

/* Calls `end` for the scripts that were removed. The reader's position moves on, on the thread that runs the system:
 * nobody else reads or writes it meanwhile. */
static void scripts_end_lost(reef_world *w, reef_script_run *r)
{
    reef_script x;
    uint64_t n = 0;
    while (w->script_reader && reef__removals_peek(w, w->script_reader - 1, n, &r->entity, &x)) {
        n++;
        r->data = x.data;
        if (script_lives(&x, r->entity) && x.script && x.script->end) x.script->end(r);
    }
    r->data = NULL;
    if (n) w->readers[w->script_reader - 1].position += n;
}

static void scripts_run(reef_block *b)
{
    reef_world *w = b->world;
    const reef_component script = reef_script_type();
    reef_script_run r = {b, w, {0, 0}, NULL, b->dt};
    scripts_end_lost(w, &r);
    const track_store *s = reef__track_of(w, script.id);
    for (uint64_t i = reef__track_next(s, 0); i != UINT64_MAX; i = reef__track_next(s, i + 1)) {
        const reef_entity e = reef_entity_at(w, (uint32_t)i);
        if (!script_awake(w, e, script)) continue;
        const reef_script *had = reef_get_id(w, e, script);
        if (had == NULL || script_class_of(had) == NULL) continue;
        reef_script *x = reef_mut_id(w, e, script);
        if (x == NULL) continue;
        r.entity = e;
        r.data = x->data;
        if (!script_started(x, e)) {
            x->started = reef_entity_bits(e);
            if (x->script->start) x->script->start(&r);
        }
        if (x->script->update) x->script->update(&r);
    }
}

/* The condition of the system. It is asked before the system runs, while no system is running: here the removals that
 * were read the last time are dropped. */
static bool scripts_ready(const reef_world *w, void *context)
{
    (void)context;
    if (w->script_reader) reef__removals_trim((reef_world *)(uintptr_t)w, w->script_reader - 1);
    return true;
}

/* ---- worlds ---- */

static COLD bool script_reader_make(reef_world *w, uint64_t serial)
{
    const reef_component script = reef_script_type();
    log_reader *r = script.id ? reef__reader_make(w, script.id, false) : NULL;
    if (r == NULL) return false;
    track_store *s = reef__track_of(w, script.id);
    if (serial) r->serial = serial;
    r->values = true;
    r->position = s ? s->tail : 0;
    if (s) reef__readers_count(w, s);
    w->script_reader = (uint32_t)(r - w->readers) + 1;
    return true;
}

COLD bool reef__scripts_fork(reef_world *fork, uint64_t serial)
{
    return serial == 0 || script_reader_make(fork, serial);
}

uint64_t reef__scripts_hash(const reef_world *w, uint64_t *waits)
{
    reef_entity e;
    reef_script x;
    uint64_t h = 0;
    *waits = 0;
    for (uint64_t n = 0; w->script_reader && reef__removals_peek(w, w->script_reader - 1, n, &e, &x); n++) {
        if (!script_lives(&x, e)) continue;
        h = reef__number_hash(reef__number_hash(h + reef_entity_bits(e)) + x.name_hash) +
            reef__hash_bytes(x.data, sizeof x.data);
        ++*waits;
    }
    return h;
}

COLD void reef__scripts_end(reef_world *w)
{
    if (w->script_reader == 0) return;
    const reef_component script = reef_script_type();
    reef_script_run r = {NULL, w, {0, 0}, NULL, 0};
    w->locks++;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    scripts_end_lost(w, &r);
    const track_store *s = reef__track_of(w, script.id);
    for (uint64_t i = reef__track_next(s, 0); i != UINT64_MAX; i = reef__track_next(s, i + 1)) {
        r.entity = reef_entity_at(w, (uint32_t)i);
        const reef_script *had = reef_get_id(w, r.entity, script);
        if (had == NULL || !script_lives(had, r.entity) || had->script == NULL || had->script->end == NULL) continue;
        reef_script x = *had;
        r.data = x.data;
        x.script->end(&r);
    }
    w->locks--;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
}

COLD reef_system_id reef_scripts(reef_world *w, const char *where, const char *touches)
{
    static const char op[] = "reef_scripts";
    const reef_system_id none = {0, 0, 0};
    if (!WORLD_GIVEN(w)) return none;
    const reef_component script = reef_script_type();
    const size_t bytes = (touches ? strlen(touches) : 0) + 2;
    char *text = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, bytes);
    if (text) snprintf(text, bytes, ";%s", touches ? touches : "");
    const bool fresh = w->script_reader == 0;
    if (!w->running) w->calling = op;
    reef_system_id made = none;
    if (text == NULL || script.id == 0) {
        reef__failure(w, REEF_NO_MEMORY, op, script, (reef_entity){0, 0}, 0);
    } else if (reef_world_use(w, script) == REEF_OK) {
        const reef_system_desc desc = {.name = "scripts",
                                       .function = scripts_run,
                                       .text = text,
                                       .touches = {{REEF_WRITES, script}},
                                       .phase = where,
                                       .condition = scripts_ready};
        made = reef_system_new(w, &desc);
        /* the error's column counts from the semicolon; make it a column of `touches` */
        if (made.generation == 0 && w->error.detail[0] && w->error.number) w->error.number--;
        if (made.generation && fresh && !script_reader_make(w, 0)) {
            (void)reef_system_remove(w, made);
            made = none;
            reef__failure(w, REEF_NO_MEMORY, op, script, (reef_entity){0, 0}, 0);
        }
    }
    if (!w->running) w->calling = NULL;
    reef__memory_free(&w->family->memory, MEMORY_OTHER, text, bytes);
    return made;
}

/* ---- the update system of a type ---- */

COLD reef_system_id reef_update_id(reef_world *w, reef_component c, void (*function)(reef_block *block))
{
    char name[REEF_TYPE_NAME_MAX + sizeof ".update"];
    const reef_system_id none = {0, 0, 0};
    if (!WORLD_GIVEN(w)) return none;
    const char *type_name = reef_type_name(c);
    if (type_name == NULL) return reef__failure(w, REEF_UNKNOWN_TYPE, "reef_update", c, (reef_entity){0, 0}, 0), none;
    snprintf(name, sizeof name, "%s.update", type_name);
    const reef_query_desc terms = {.terms = {{.component = c}}};
    if (!w->running) w->calling = "reef_update";
    const reef_system_id made =
        reef_system_new(w, &(reef_system_desc){.name = name, .function = function, .query = &terms});
    if (!w->running) w->calling = NULL;
    return made;
}
