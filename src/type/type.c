/* The registry of the process: all component types.
 *
 *     reef_declare ──► pending list ──first use──► name ──► hash table ──► id ──► record
 *
 * The record of an id is reef__type_pages[(id - 1) / 64][(id - 1) % 64].
 *
 * Declaring links a static struct into a list, before main, and allocates nothing. The first call that asks for any
 * type registers everything that is pending: it copies names, fields and hooks, so that a library may be unloaded
 * afterwards. Records never move and are never freed. Storing its address in reef__types publishes a record;
 * storing the pointer to its fields, which may come later, publishes the fields. Both stores are releases, so
 * reef__type_of is one load and takes no lock. Everything else happens under the lock.
 *
 * All memory hangs from `registry` and `reef__type_pages`, so that leak checkers find it. */
#include "type/code.h"
#include "type/fields.h"
#include "type/relation_type.h"
#include "type/required_types.h"
#include "type/type_refusal.h"
#include "type/type_rules.h"
#include "type/type_walk.h"
#include "base/byte_hash.h"
#include "base/text_out.h"
#include "reef/event.h"
#include "reef/hooks.h"
#include "reef/prefab.h"
#include "reef/relation.h"
#include "reef/subtype.h"
#include "reef/type_info.h"
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPE_PAGES = REEF_TYPES_MAX / TYPES_PER_PAGE, TYPE_BUCKETS_MIN = 64 };

/* The end of the lists of pending and of hidden declarations. A declaration is in one of them exactly when its `next`
 * isn't NULL. */
static reef_type_decl pending_end;

static struct {
    mutex lock;
    reef_allocator allocator; /* resize NULL: the C library's allocator */
    bool shows;               /* ids of declared types are shown to the inlined calls: reef_type_decl.shown */
    bool taken;               /* memory was taken from the allocator, so it can't be replaced any more */
    reef_type_decl *pending;
    reef_type_decl *hidden; /* registered, but their ids aren't shown yet; empty when `shows` */
    uint32_t count;
    uint32_t described; /* types that have fields */
    uint32_t based;     /* types that have a base */
    uint32_t settled;   /* types whose requirements don't change any more: those with ids up to this one */
    uint32_t *bucket;   /* open addressing by name; holds ids, 0 is free */
    uint32_t bucket_count;
    const char *error; /* the text of the first refused declaration; NULL: there is none. Stored once */
    char text[1024];
    reef_code *holds; /* what is declared now belongs to this code; NULL: to the program */
    reef_code *tried; /* the declarations of this code are being taken; NULL: of none */
} registry = {.lock = MUTEX_INIT, .pending = &pending_end, .hidden = &pending_end};

const relation_type_calls *reef__relation_types_by;
const type *reef__types[REEF_TYPES_MAX + 1];
type *reef__type_pages[TYPE_PAGES]; /* not in `registry`, so that it takes no room in the file of the program */

/* ---- memory ---- */

void *reef__types_allocate(size_t bytes)
{
    const reef_allocator *a = &registry.allocator;
    void *p = a->resize ? a->resize(a->context, NULL, 0, bytes, alignof(max_align_t)) : malloc(bytes);
    if (p) {
        registry.taken = true;
        memset(p, 0, bytes);
    }
    return p;
}

void reef__types_free(void *p, size_t bytes)
{
    const reef_allocator *a = &registry.allocator;
    if (p == NULL) return;
    if (a->resize) a->resize(a->context, p, bytes, 0, alignof(max_align_t));
    else free(p);
}

COLD reef_status reef_set_process_allocator(const reef_allocator *allocator)
{
    reef_status status = REEF_EXISTS;
    mutex_lock(&registry.lock);
    if (!registry.taken) {
        registry.allocator = allocator ? *allocator : (reef_allocator){0};
        status = REEF_OK;
    }
    mutex_unlock(&registry.lock);
    return status;
}

uint32_t reef__kind_size(reef_kind kind)
{
    switch (kind) {
    case REEF_BOOL:
    case REEF_I8:
    case REEF_U8:
    case REEF_CHAR: return 1;
    case REEF_I16:
    case REEF_U16: return 2;
    case REEF_I32:
    case REEF_U32:
    case REEF_F32: return 4;
    case REEF_I64:
    case REEF_U64:
    case REEF_F64:
    case REEF_ENTITY: return 8;
    }
    return 0;
}

/* Fields that aren't as they were given: those of a type of relations, or those with members that are structs. Under
 * the lock. */
static made_fields made_list;

/* ---- subtypes ---- */

const uint32_t *reef__subtypes_of(const type *t, uint32_t *count)
{
    type_list *l = REEF_ACQUIRE_POINTER(&t->subtypes);
    *count = l ? REEF_ACQUIRE_U32(&l->count) : 0;
    return l ? l->id : NULL;
}

bool reef__is_subtype(const type *a, const type *b)
{
    const type *t = a->base;
    while (t && t != b) t = t->base;
    return t != NULL;
}

uint32_t reef__types_based(void) { return REEF_ACQUIRE_U32(&registry.based); }

/* Makes room for one more subtype in the lists of all its bases. */
static bool subtypes_reserve(const type *base)
{
    for (; base; base = base->base) {
        type *t = (type *)(uintptr_t)base;
        type_list *l = t->subtypes;
        const uint32_t room = l ? l->room * 2 : 4;
        if (l && l->count < l->room) continue;
        type_list *fresh = reef__types_allocate(sizeof *fresh + room * sizeof *fresh->id);
        if (fresh == NULL) return false;
        fresh->older = l;
        fresh->room = room;
        fresh->count = l ? l->count : 0;
        if (l) memcpy(fresh->id, l->id, l->count * sizeof *l->id);
        RELEASE_STORE(&t->subtypes, fresh);
    }
    return true;
}

static void subtypes_put(const type *base, uint32_t id)
{
    for (; base; base = base->base) {
        type_list *l = base->subtypes;
        l->id[l->count] = id;
        RELEASE_STORE(&l->count, l->count + 1);
    }
}

int reef__type_compare(const type *a, const type *b)
{
    if (a->name_start != b->name_start) return a->name_start < b->name_start ? -1 : 1;
    const int order = strcmp(a->name, b->name);
    return order != 0 || LIKELY(a == b) ? order : (a->id > b->id) - (a->id < b->id);
}

uint32_t reef__types_described(void) { return REEF_ACQUIRE_U32(&registry.described); }

/* ---- records by id and by name ---- */

static type *record_at(uint32_t id)
{
    return &reef__type_pages[(id - 1) >> TYPE_PAGE_BITS][(id - 1) & (TYPES_PER_PAGE - 1)];
}

/* The bucket of a name, or the free one where it belongs. There is always a free one. */
static uint32_t *type_bucket(const char *name)
{
    uint32_t mask = registry.bucket_count - 1, i = hash_text(name) & mask;
    while (registry.bucket[i] && strcmp(record_at(registry.bucket[i])->name, name) != 0) i = (i + 1) & mask;
    return &registry.bucket[i];
}

static type *type_by_name(const char *name)
{
    if (registry.bucket_count == 0) return NULL;
    uint32_t id = *type_bucket(name);
    return id ? record_at(id) : NULL;
}

/* Makes room for one more name; the table is at most three quarters full. */
static bool type_buckets_reserve(void)
{
    uint32_t old_count = registry.bucket_count, *old = registry.bucket;
    if (registry.count + 1 <= old_count / 4 * 3) return true;
    uint32_t count = old_count ? old_count * 2 : TYPE_BUCKETS_MIN;
    uint32_t *fresh = reef__types_allocate(count * sizeof *fresh);
    if (fresh == NULL) return false;
    registry.bucket = fresh;
    registry.bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i]) *type_bucket(record_at(old[i])->name) = old[i];
    reef__types_free(old, old_count * sizeof *old);
    return true;
}

/* After types were hidden. */
static COLD void type_buckets_again(void)
{
    memset(registry.bucket, 0, registry.bucket_count * sizeof *registry.bucket);
    for (uint32_t id = 1; id <= registry.count; id++)
        if (!record_at(id)->hidden) *type_bucket(record_at(id)->name) = id;
}

static bool type_page_reserve(uint32_t id)
{
    uint32_t p = (id - 1) >> TYPE_PAGE_BITS;
    if (reef__type_pages[p]) return true;
    type *fresh = reef__types_allocate(TYPES_PER_PAGE * sizeof *fresh);
    if (fresh) RELEASE_STORE(&reef__type_pages[p], fresh);
    return fresh != NULL;
}

/* ---- copying ---- */

/* Gives `t` a copy of the fields. The pointer is stored last: whoever sees it also sees the count. */
static reef_status type_give_fields(type *t, const reef_field *fields, uint32_t count)
{
    void *room = reef__types_allocate(reef__fields_bytes(fields, count));
    if (room == NULL) return REEF_NO_MEMORY;
    const reef_field *copy = reef__fields_copy(fields, count, room);
    t->field_count = count;
    RELEASE_STORE(&t->fields, copy);
    RELEASE_STORE(&registry.described, registry.described + 1);
    return REEF_OK;
}

static void type_fill(type *t, const reef_type_desc *d)
{
    t->size = d->size;
    t->align = d->align;
    t->home = d->home;
    t->base = reef__type_of(d->base.id);
    t->stored = home_stored(d->home);
    t->split = d->home == REEF_SPLIT;
    t->bit = d->home == REEF_BIT || (t->stored && d->home != REEF_COLD);
    t->page_rows = reef__page_rows_of(d);
    if (d->hooks) t->hooks = *d->hooks;
    const reef_hooks *h = &t->hooks;
    t->hooked = hooks_run(h) || h->address_bound || h->unique;
    t->fixed = h->address_bound && h->move == NULL;
    t->resets = h->on_fork != REEF_FORK_COPY;
    t->hooks.track_rows |= h->unique != NULL;
    t->tracked = h->track_rows;
    t->relation = d->relation;
    t->data = reef__type_of(d->data.id);
    t->direct = !t->hooked && !t->tracked && !t->split && !t->relation;
    t->plain_move = h->move == NULL || h->bytes_move;
    t->plain_copy = h->copy == NULL && h->destroy == NULL && !h->address_bound;
    t->copyable = t->plain_copy || h->copy;
}

/* Makes the record of a checked description. `owner` is the type of which it is the field at `offset`; NULL: it is no
 * part. What memory was taken before a failure is kept for the next attempt. */
static reef_status type_make(const reef_type_desc *d, const type *owner, uint32_t offset, uint32_t *id)
{
    uint32_t next = registry.count + 1;
    size_t name_bytes = strlen(d->name) + 1;
    if (next > REEF_TYPES_MAX) return REEF_LIMIT;
    if (!type_page_reserve(next) || !type_buckets_reserve() || !subtypes_reserve(reef__type_of(d->base.id)))
        return REEF_NO_MEMORY;
    const size_t unique_bytes = d->hooks && d->hooks->unique ? strlen(d->hooks->unique) + 1 : 0;
    char *name = reef__types_allocate(name_bytes + unique_bytes);
    if (name == NULL) return REEF_NO_MEMORY;
    type *t = record_at(next);
    if (d->field_count && type_give_fields(t, d->fields, d->field_count) < 0) {
        reef__types_free(name, name_bytes + unique_bytes);
        return REEF_NO_MEMORY;
    }
    memcpy(name, d->name, name_bytes);
    t->name = name;
    for (size_t i = 0; i < 8; i++) t->name_start = t->name_start << 8 | (i < name_bytes ? (uint8_t)name[i] : 0);
    t->name_hash = reef__hash_bytes(name, name_bytes - 1);
    type_fill(t, d);
    if (unique_bytes) t->hooks.unique = memcpy(name + name_bytes, d->hooks->unique, unique_bytes);
    t->owner = owner ? owner->id : 0;
    t->offset = offset;
    t->stride = owner ? owner->size : t->size;
    t->fresh = registry.tried != NULL;
    *type_bucket(name) = next;
    t->id = next;
    RELEASE_STORE(&reef__types[next], (const type *)t);
    subtypes_put(t->base, next);
    if (t->base) RELEASE_STORE(&registry.based, registry.based + 1);
    RELEASE_STORE(&registry.count, next);
    *id = next;
    return REEF_OK;
}

/* Makes the part for field f, as a type with that field alone. */
static COLD reef_status part_make(const type *t, const reef_field *f, uint32_t *id)
{
    char name[2 * REEF_TYPE_NAME_MAX + 2];
    reef_field field = *f;
    field.offset = 0;
    snprintf(name, sizeof name, "%s.%s", t->name, f->name);
    const reef_type_desc d = {.name = name,
                              .size = f->bytes,
                              .align = reef__kind_size(f->kind),
                              .home = REEF_TABLE,
                              .fields = &field,
                              .field_count = 1};
    if (!reef__type_name_allowed(name)) return REEF_BAD_ARGUMENT;
    const type *there = type_by_name(name);
    if (there == NULL) return type_make(&d, t, f->offset, id);
    *id = there->id;
    return there->owner == t->id ? REEF_OK : REEF_EXISTS;
}

/* Makes the parts of a split type that has fields. Parts that were made before memory ran out are found again. */
static COLD reef_status parts_make(type *t)
{
    if (!t->split || t->field_count == 0 || t->part_count) return REEF_OK;
    if (t->parts == NULL) t->parts = reef__types_allocate(t->field_count * sizeof *t->parts);
    if (t->parts == NULL) return REEF_NO_MEMORY;
    for (uint32_t i = 0; i < t->field_count; i++) {
        const reef_status s = part_make(t, &t->fields[i], &t->parts[i]);
        if (s != REEF_OK) return s;
    }
    RELEASE_STORE(&t->part_count, t->field_count);
    return REEF_OK;
}

/* ---- required types ---- */

/* Gives t its required types, which were checked. */
static reef_status required_give(type *t, const reef_type_desc *d)
{
    const uint32_t n = d->required_count;
    if (n == 0 || t->required_count) return REEF_OK;
    reef_component *copy = reef__types_allocate(n * sizeof *copy);
    if (copy == NULL) return REEF_NO_MEMORY;
    memcpy(copy, d->required, n * sizeof *copy);
    reef__ids_sort(&copy->id, n);
    t->required = copy;
    RELEASE_STORE(&t->required_count, n);
    return REEF_OK;
}

COLD uint32_t reef__types_resolve(void)
{
    uint32_t needs[REEF_COMPONENTS_MAX];
    mutex_lock(&registry.lock);
    const uint32_t count = registry.count;
    for (uint32_t id = registry.settled + 1; id <= count; id++) {
        type *t = record_at(id);
        const uint32_t n = reef__needs_of(t, needs);
        uint32_t *copy = n ? reef__types_allocate(n * sizeof *copy) : NULL;
        if (n && copy == NULL) break;
        if (n) memcpy(copy, needs, n * sizeof *copy);
        t->needs = copy;
        t->need_count = n;
        registry.settled = id;
    }
    const uint32_t settled = registry.settled;
    mutex_unlock(&registry.lock);
    return settled == count ? count : 0;
}

static COLD void type_comes_back(type *t)
{
    t->hidden = t->gone = false;
    t->fresh = true;
    *type_bucket(t->name) = t->id;
}

/* A hidden type that is as described, but for its hooks, and gets its name again. NULL: there is none. What a type
 * requires is said of it later, and may be another layout now, so types that require others don't come back. */
static COLD type *type_hidden_like(const reef_type_desc *d)
{
    static const reef_hooks none;
    for (const reef_type_decl *x = registry.tried->held; x != &pending_end; x = x->next)
        if (x->required_count && strcmp(x->name, d->name) == 0) return NULL;
    for (uint32_t id = 1; id <= registry.count; id++) {
        type *t = record_at(id);
        if (!t->hidden || t->retired || t->required_count || strcmp(t->name, d->name) != 0) continue;
        const reef_hooks was = t->hooks, *is = d->hooks ? d->hooks : &none;
        if (!reef__hooks_alike(&was, is)) continue;
        t->hooks = *is;
        t->hooks.unique = was.unique; /* the registry's copy of the same text */
        t->hooks.track_rows = was.track_rows;
        if (reef__type_same(t, d, id <= registry.settled)) {
            type_comes_back(t);
            for (uint32_t i = 0; i < t->part_count; i++) type_comes_back(record_at(t->parts[i]));
            return t;
        }
        t->hooks = was;
    }
    return NULL;
}

/* Makes the type, or finds an equal one and completes its fields. Under the lock. */
static COLD reef_status type_register(reef_type_desc *d, uint32_t *id)
{
    const type *which;
    reef_status status = d->relation || d->data.id ? reef__relation_types_by->complete(d, &made_list) : REEF_OK;
    if (status >= 0 && !reef__fields_flatten(&made_list, &d->fields, &d->field_count)) status = REEF_BAD_ARGUMENT;
    if (status >= 0) status = reef__type_normalise(d);
    if (status < 0) return status;
    type *t = type_by_name(d->name);
    status = reef__required_check(t, d, &which);
    if (status < 0) return status;
    if (t == NULL && registry.tried) t = registry.tried->hidden_like(d);
    if (t == NULL) {
        uint32_t made = 0;
        status = type_make(d, NULL, 0, &made);
        if (status == REEF_OK) status = required_give(record_at(made), d);
        if (status == REEF_OK) status = parts_make(record_at(made));
        if (status == REEF_OK) *id = made;
        return status;
    }
    if (!reef__type_same(t, d, t->id <= registry.settled)) return REEF_EXISTS;
    status = required_give(t, d);
    if (status < 0) return status;
    if (t->field_count == 0 && d->field_count != 0) status = type_give_fields(t, d->fields, d->field_count);
    if (status >= 0) status = parts_make(t);
    if (status >= 0) *id = t->id;
    return status;
}

/* ---- declarations ---- */

/* Where to write why a declaration is refused, for the first one only. False: this isn't the first one. */
static bool refusal_begin(text_out *o)
{
    char *text = registry.tried ? registry.tried->text : registry.text;
    *o = (text_out){text, sizeof registry.text, 0};
    return registry.tried ? text[0] == 0 : registry.error == NULL;
}

static void refusal_end(void)
{
    if (registry.tried == NULL) RELEASE_STORE(&registry.error, (const char *)registry.text);
}

static void type_refuse(const reef_type_desc *d, reef_status status)
{
    text_out o;
    if (!refusal_begin(&o)) return;
    reef__type_refusal_put(&o, d, status, type_by_name(d->name), registry.settled);
    refusal_end();
}

const char *reef_declare_error(void) { return REEF_ACQUIRE_POINTER(&registry.error); }

static void base_refuse(const reef_type_decl *decl, const char *why)
{
    text_out o;
    if (!refusal_begin(&o)) return;
    reef__text_put(&o, "type %s: it can't be a subtype of %s, %s", decl->name,
                   decl->base->name ? decl->base->name : "(no name)", why);
    refusal_end();
}

static reef_status type_take(reef_type_decl *decl);

/* Resolves the base of a declaration, the last of its bases first. */
static COLD reef_status base_take(reef_type_decl *decl, reef_component *base)
{
    reef_type_decl *x = decl->base;
    uint32_t depth = 0;
    reef_status status = REEF_OK;
    for (; x && x->base && depth <= REEF_TYPES_MAX; x = x->base) depth++;
    if (depth > REEF_TYPES_MAX) return base_refuse(decl, "whose bases form a circle"), REEF_BAD_ARGUMENT;
    for (x = decl->base; status >= 0 && x && x->id == 0; x = decl->base) {
        while (x->base && x->base->id == 0) x = x->base;
        status = type_take(x);
        if (status < 0 && status != REEF_NO_MEMORY) base_refuse(decl, "which isn't a type itself");
    }
    base->id = decl->base ? decl->base->id : 0;
    return status;
}

/* Registers the types that a declaration requires, and gives them to its type. If that is refused, so is the
 * declaration: two of them that require each other can't both be right. `first`: it wasn't resolved before. */
static COLD reef_status required_take(reef_type_decl *decl, reef_type_desc *d, bool first)
{
    reef_component ids[REEF_REQUIRED_MAX];
    const uint32_t n = decl->required_count;
    reef_status status = n > REEF_REQUIRED_MAX ? REEF_LIMIT : REEF_OK;
    for (uint32_t i = 0; status >= 0 && i < n; i++) {
        if (decl->required[i]->id == 0) status = type_take(decl->required[i]);
        if (status == REEF_NO_MEMORY) return status;
        ids[i].id = decl->required[i]->id;
    }
    uint32_t id = 0;
    d->required = ids;
    d->required_count = n;
    d->fields = decl->fields; /* again, since the list may be made anew for the types above */
    d->field_count = decl->field_count;
    if (status >= 0) status = type_register(d, &id);
    if (status >= 0 || status == REEF_NO_MEMORY) return status;
    type_refuse(d, status);
    if (first) decl->id = 0;
    return status;
}

static COLD reef_status type_take_as_known(reef_type_decl *decl)
{
    uint32_t id = 0;
    const bool first = decl->id == 0;
    reef_type_desc d = {.name = decl->name,
                        .size = decl->size,
                        .align = decl->align,
                        .home = decl->home,
                        .hooks = decl->hooks,
                        .fields = decl->fields,
                        .field_count = decl->field_count,
                        .page_rows = decl->page_rows,
                        .relation = decl->relation};
    if (decl->brings) decl->brings();
    reef_status status = base_take(decl, &d.base);
    if (status >= 0 && decl->data && decl->data->id == 0) status = type_take(decl->data);
    if (status < 0) return status;
    if (decl->data) d.data.id = decl->data->id;
    status = type_register(&d, &id);
    if (status >= 0) {
        if (first && registry.tried == NULL) record_at(id)->declared++;
        decl->id = id;
    } else if (status != REEF_NO_MEMORY) type_refuse(&d, status);
    return status >= 0 && decl->required ? required_take(decl, &d, first) : status;
}

/* The code that is being tried declares another layout of a type: the type gives its name to the new one. False: it
 * can't, and the text says why. */
static COLD bool type_retire(const reef_type_decl *decl)
{
    reef_code *c = registry.tried;
    type *t = type_by_name(decl->name);
    const char *why = NULL;
    if (t == NULL) return false;
    if (t->fresh) why = "this library has two";
    else if (t->declared) why = "the program has it, too";
    else if (t->module != c->trying) why = "it isn't this module's";
    for (const reef_code *x = reef__code_first; x && why == NULL; x = x->next)
        for (const reef_type_decl *d = x->held; d && d->next && x->module && x->module != c->trying; d = d->next)
            if (d->id == t->id) why = "another module has it, too";
    if (why) {
        const size_t n = strlen(c->text);
        (void)snprintf(c->text + n, sizeof c->text - n, "; %s", why);
        return false;
    }
    for (uint32_t i = 0; i < c->change_count; i++) { /* its values keep the hooks that know their layout */
        if (c->changes[i].t != t) continue;
        t->hooks = c->changes[i].hooks;
        c->changes[i--] = c->changes[--c->change_count];
    }
    t->hidden = t->retired = true;
    for (uint32_t i = 0; i < t->part_count; i++)
        record_at(t->parts[i])->hidden = record_at(t->parts[i])->retired = true;
    type_buckets_again();
    c->text[0] = 0;
    return true;
}

static COLD reef_status type_take(reef_type_decl *decl)
{
    reef_status s = type_take_as_known(decl);
    if (s == REEF_EXISTS && registry.tried && registry.tried->retire(decl)) {
        decl->id = 0;
        s = type_take_as_known(decl);
    }
    return s;
}

/* Registers what is pending. A refused declaration leaves the list; one for which there is no memory stays in it.
 * False: there is no memory. */
static bool types_take_pending(void)
{
    while (registry.pending != &pending_end) {
        reef_type_decl *decl = registry.pending;
        if (type_take(decl) == REEF_NO_MEMORY) return false;
        registry.pending = decl->next;
        decl->next = NULL;
        if (decl->id != 0 && !registry.shows) {
            decl->next = registry.hidden;
            registry.hidden = decl;
        } else {
            RELEASE_STORE(&decl->shown, decl->id);
        }
    }
    return true;
}

/* The same for calls that know types by their names, and so need those of reef itself, too. */
static COLD bool types_take_all(void)
{
    reef_type_decl *const own[] = {&reef_declared_by_REEF_COMPONENT_ChildOf,
                                   &reef_declared_by_REEF_COMPONENT_InstanceOf};
    bool all = types_take_pending();
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i]->id == 0) all &= type_take(own[i]) != REEF_NO_MEMORY;
    return all;
}

void reef_declare(reef_type_decl *decl)
{
    if (decl == NULL) return;
    mutex_lock(&registry.lock);
    bool linked = decl->next != NULL;
    /* Fields may come after the first use, when constructors use types; they are then added at once. */
    bool late = decl->id != 0 && type_take(decl) != REEF_NO_MEMORY;
    if (!linked && !late) {
        reef_type_decl **list = registry.holds ? &registry.holds->held : &registry.pending;
        decl->next = *list;
        *list = decl;
    }
    mutex_unlock(&registry.lock);
}

/* Was it in the list? */
static bool list_leave(reef_type_decl **list, reef_type_decl *decl)
{
    while (*list != &pending_end && *list != decl) list = &(*list)->next;
    if (*list != decl) return false;
    *list = decl->next;
    decl->next = NULL;
    return true;
}

COLD void reef_undeclare_(reef_type_decl *decl)
{
    if (decl == NULL) return;
    mutex_lock(&registry.lock);
    (void)list_leave(&registry.pending, decl);
    (void)list_leave(&registry.hidden, decl);
    bool held = false;
    for (reef_code *c = reef__code_first; c; c = c->next) held |= list_leave(&c->held, decl);
    if (decl->id && !held && record_at(decl->id)->declared) record_at(decl->id)->declared--;
    mutex_unlock(&registry.lock);
}

COLD reef_component reef_resolve(reef_type_decl *decl)
{
    if (decl == NULL) return (reef_component){0};
    mutex_lock(&registry.lock);
    if (types_take_pending() && decl->id == 0) (void)type_take(decl);
    reef_component c = {decl->id};
    if (registry.shows) RELEASE_STORE(&decl->shown, c.id);
    mutex_unlock(&registry.lock);
    return c;
}

/* ---- code that comes and goes ---- */

void reef__types_lock(void) { mutex_lock(&registry.lock); }
void reef__types_unlock(void) { mutex_unlock(&registry.lock); }

COLD void reef__declarations_hold(reef_code *c)
{
    registry.holds = c;
    if (c) c->held = &pending_end;
}

/* The hooks of the type become those that it is declared with now, if the earlier ones are those of earlier code of the
 * same module. There is room for the change. */
static COLD void hooks_follow(reef_code *c, const reef_type_decl *decl, uint64_t module)
{
    type *t = type_by_name(decl->name);
    if (t == NULL || decl->hooks == NULL || reef__hooks_same(t, decl->hooks)) return;
    if (!reef__hooks_alike(&t->hooks, decl->hooks) || !reef__hooks_of(&t->hooks, module)) return;
    c->changes[c->change_count++] = (code_change){t, t->hooks};
    const char *unique = t->hooks.unique; /* the registry's copy of the same text */
    t->hooks = *decl->hooks;
    t->hooks.unique = unique;
    t->hooks.track_rows |= unique != NULL;
}

COLD reef_status reef__declarations_try(reef_code *c, uint64_t module)
{
    uint32_t count = 0;
    reef_status s = REEF_OK;
    mutex_lock(&registry.lock);
    for (const reef_type_decl *d = c->held; d != &pending_end; d = d->next) count++;
    c->changes = reef__types_allocate((count + 1) * sizeof *c->changes);
    c->change_room = c->changes ? count + 1 : 0;
    if (c->changes == NULL || !types_take_pending()) s = REEF_NO_MEMORY;
    c->trying = module;
    c->hidden_like = type_hidden_like;
    c->retire = type_retire;
    registry.tried = c;
    for (const reef_type_decl *d = c->held; s >= 0 && d != &pending_end; d = d->next) hooks_follow(c, d, module);
    for (reef_type_decl *d = c->held; s >= 0 && d != &pending_end; d = d->next) {
        s = type_take(d);
        if (s >= 0) RELEASE_STORE(&d->shown, d->id);
    }
    registry.tried = NULL;
    mutex_unlock(&registry.lock);
    return s < 0 ? s : REEF_OK;
}

COLD uint32_t reef__declarations_undescribed(const reef_code *c)
{
    uint32_t found = 0;
    mutex_lock(&registry.lock);
    for (const reef_type_decl *d = c->held; d != &pending_end; d = d->next) {
        const type *t = record_at(d->id);
        if (t->size && t->field_count == 0 && !t->fresh && (found == 0 || reef__type_compare(t, record_at(found)) < 0))
            found = t->id;
    }
    mutex_unlock(&registry.lock);
    return found;
}

COLD uint32_t reef__declarations_retired(code_layout *to, uint32_t room)
{
    uint32_t n = 0;
    mutex_lock(&registry.lock);
    for (uint32_t id = 1; id <= registry.count; id++) {
        const type *t = record_at(id);
        if (!t->retired || t->owner) continue;
        if (n < room) to[n] = (code_layout){t, type_by_name(t->name)};
        n++;
    }
    mutex_unlock(&registry.lock);
    return n;
}

COLD void reef__declarations_settle(reef_code *c, bool stays)
{
    mutex_lock(&registry.lock);
    for (uint32_t i = c->change_count; i-- > 0 && !stays;) c->changes[i].t->hooks = c->changes[i].hooks;
    for (uint32_t id = 1; id <= registry.count; id++) {
        type *t = record_at(id);
        if (!stays && t->retired) t->hidden = false;
        if (stays ? t->retired : t->fresh) {
            t->hidden = t->gone = true;
            reef__hooks_retire(&t->hooks);
        }
        t->fresh = t->retired = false;
    }
    for (const reef_type_decl *d = c->held; stays && d != &pending_end; d = d->next)
        record_at(d->id)->module = c->trying;
    for (reef_type_decl *d = c->held; !stays && d != &pending_end; d = d->next) d->id = d->shown = 0;
    if (!stays && registry.bucket_count) type_buckets_again();
    c->change_count = 0;
    mutex_unlock(&registry.lock);
}

/* ---- types made at run time, and looking types up ---- */

COLD reef_component reef_type_new(const reef_type_desc *desc, reef_status *status)
{
    reef_component c = {0};
    reef_status s = REEF_BAD_ARGUMENT;
    if (desc) {
        reef_type_desc d = *desc;
        mutex_lock(&registry.lock);
        if (d.hooks) reef_bring_hooks_();
        else if (d.home != REEF_TABLE) reef_bring_rows_();
        if (d.base.id) reef_bring_subtypes_();
        if (d.relation || d.data.id) reef_bring_relations_();
        s = types_take_all() ? type_register(&d, &c.id) : REEF_NO_MEMORY;
        mutex_unlock(&registry.lock);
    }
    if (status) *status = s;
    return c;
}

COLD reef_status reef_type_describe(reef_component component, const reef_field *fields, uint32_t count)
{
    if (reef__type_of(component.id) == NULL) return REEF_UNKNOWN_TYPE;
    mutex_lock(&registry.lock);
    type *t = record_at(component.id);
    reef_status status = REEF_OK;
    if (!reef__fields_flatten(&made_list, &fields, &count) || !reef__fields_allowed(fields, count, t->size))
        status = REEF_BAD_ARGUMENT;
    else if (!reef__fields_same(t, fields, count)) status = REEF_EXISTS;
    else if (t->split && !reef__fields_cover(fields, count, t->size, t->align)) status = REEF_BAD_ARGUMENT;
    else if (t->field_count == 0 && count != 0) status = type_give_fields(t, fields, count);
    if (status == REEF_OK) status = parts_make(t);
    mutex_unlock(&registry.lock);
    return status;
}

COLD void reef__types_show(void)
{
    mutex_lock(&registry.lock);
    registry.shows = true;
    while (registry.hidden != &pending_end) {
        reef_type_decl *decl = registry.hidden;
        RELEASE_STORE(&decl->shown, decl->id);
        registry.hidden = decl->next;
        decl->next = NULL;
    }
    mutex_unlock(&registry.lock);
}

COLD bool reef__types_known(void)
{
    mutex_lock(&registry.lock);
    const bool all = types_take_all();
    mutex_unlock(&registry.lock);
    return all;
}

COLD reef_component reef_type_find(const char *name)
{
    reef_component c = {0};
    if (name == NULL) return c;
    mutex_lock(&registry.lock);
    (void)types_take_all(); /* without memory, registered types are still found */
    const type *t = type_by_name(name);
    if (t) c.id = t->id;
    mutex_unlock(&registry.lock);
    return c;
}

bool reef_type_get(reef_component component, reef_type_info *info)
{
    const type *t = reef__type_of(component.id);
    if (t == NULL || info == NULL) return false;
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    info->name = t->name;
    info->size = t->size;
    info->align = t->align;
    info->home = t->home;
    info->page_rows = t->home == REEF_PAGED ? t->page_rows : 0;
    info->base.id = t->base ? t->base->id : 0;
    info->relation = t->relation;
    info->data.id = t->data ? t->data->id : 0;
    info->required_count = REEF_ACQUIRE_U32(&t->required_count);
    info->required = info->required_count ? t->required : NULL;
    info->hooks = t->hooked || t->tracked || t->resets ? &t->hooks : NULL;
    info->fields = fields;
    info->field_count = fields ? t->field_count : 0;
    return true;
}

const char *reef_type_name(reef_component component)
{
    const type *t = reef__type_of(component.id);
    return t ? t->name : NULL;
}

uint32_t reef_type_count(void) { return REEF_ACQUIRE_U32(&registry.count); }
