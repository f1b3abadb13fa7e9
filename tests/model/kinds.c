#include "kinds.h"
#include "kept.h"
#include "script.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- payloads: what owning components own ---- They come from a pool that never goes back to the system, and the
 * one that was freed first is used again first, so that a payload freed twice or used after its end is noticed
 * without a sanitizer. */

typedef struct payload {
    uint64_t value;
    uint32_t live;
    uint32_t next;
} payload;

enum { PAYLOADS = 1 << 17 };

static payload pool[PAYLOADS];
static uint32_t pool_used, pool_first, pool_last; /* list of free ones: index + 1, 0: none */
static uint64_t pool_live;

counted counted_memory;

static void fault(const char *text)
{
    if (!counted_memory.fault) counted_memory.fault = text;
}

/* Does this request fail? */
static bool memory_fails(void)
{
    counted *c = &counted_memory;
    if (c->fail_at == 0) return false;
    if (c->fail_at > 1) {
        c->fail_at--;
        return false;
    }
    c->fired = true;
    if (!c->fail_on) c->fail_at = 0;
    return true;
}

static payload *payload_take(uint64_t value)
{
    payload *p;
    if (pool_used < PAYLOADS) {
        p = &pool[pool_used++];
    } else {
        if (pool_first == 0) {
            fprintf(stderr, "model: the pool of payloads is too small\n");
            abort();
        }
        p = &pool[pool_first - 1];
        pool_first = p->next;
        if (pool_first == 0) pool_last = 0;
    }
    p->live = 1;
    p->next = 0;
    p->value = value;
    pool_live++;
    return p;
}

static void payload_give(payload *p)
{
    if (p < pool || p >= pool + PAYLOADS || !p->live) {
        fault("a value was destroyed that doesn't live");
        return;
    }
    p->live = 0;
    p->value = 0xDEAD;
    pool_live--;
    uint32_t me = (uint32_t)(p - pool) + 1;
    if (pool_last) pool[pool_last - 1].next = me;
    else pool_first = me;
    pool_last = me;
}

static bool payload_lives(const payload *p) { return p >= pool && p < pool + PAYLOADS && p->live; }

uint64_t payloads_live(void) { return pool_live; }

/* ---- hooks ---- */

typedef struct owner { /* of SORT_OWNER */
    void *self;
    payload *payload;
    uint64_t value, check;
} owner;

typedef struct mover { /* of SORT_MOVER: self is NULL while there is no payload */
    void *self;
    payload *payload;
    uint64_t value;
} mover;

typedef struct bytes_owner {
    payload *payload;
    uint64_t value;
} bytes_owner;

enum { OWNER_CHECK = 0x0E5 };

static bool all_zero(const void *p, size_t size)
{
    const unsigned char *c = (const unsigned char *)p;
    for (size_t i = 0; i < size; i++)
        if (c[i]) return false;
    return true;
}

static uint64_t made_value(reef_entity e, const void *args)
{
    uint64_t v;
    if (!args) return value_mix(reef_entity_bits(e), 77);
    memcpy(&v, args, sizeof v);
    return v;
}

static bool owner_holds(const owner *o)
{
    if (o->self == (const void *)o && o->check == OWNER_CHECK && payload_lives(o->payload)) return true;
    fault("a hook got a value that isn't where it was made or moved to");
    return false;
}

static void owner_put(owner *o, payload *p)
{
    o->self = o;
    o->payload = p;
    o->value = p->value;
    o->check = OWNER_CHECK;
}

static reef_status owner_construct(void *context, reef_world *world, reef_entity e, void *slot, const void *args)
{
    (void)context;
    (void)world;
    if (!all_zero(slot, sizeof(owner))) fault("a constructor got a slot that isn't zero");
    if (memory_fails()) return REEF_NO_MEMORY;
    owner_put((owner *)slot, payload_take(made_value(e, args)));
    return REEF_OK;
}

static reef_status owner_copy(void *context, void *to, const void *from)
{
    (void)context;
    const owner *f = (const owner *)from;
    if (!owner_holds(f)) return REEF_CORRUPT;
    if (memory_fails()) return REEF_NO_MEMORY;
    owner_put((owner *)to, payload_take(f->payload->value));
    ((owner *)to)->value = f->value; /* it may be a loaded value, which wasn't repaired yet */
    return REEF_OK;
}

static void owner_move(void *context, void *to, void *from)
{
    (void)context;
    owner *f = (owner *)from;
    if (!owner_holds(f)) return;
    payload *p = f->payload;
    const uint64_t value = f->value;
    memset(f, 0xEE, sizeof *f);
    owner_put((owner *)to, p);
    ((owner *)to)->value = value;
}

static void owner_destroy(void *context, void *slot)
{
    (void)context;
    owner *o = (owner *)slot;
    if (!owner_holds(o)) return;
    payload_give(o->payload);
    memset(o, 0xEE, sizeof *o);
}

static bool mover_holds(const mover *v)
{
    if (v->payload == NULL ? v->self == NULL : v->self == (const void *)v && payload_lives(v->payload)) return true;
    fault("a hook got a value that isn't where it was made or moved to");
    return false;
}

static void mover_put(mover *v, payload *p)
{
    v->self = p ? v : NULL;
    v->payload = p;
    v->value = p ? p->value : 0;
}

static void mover_move(void *context, void *to, void *from)
{
    (void)context;
    mover *f = (mover *)from, *t = (mover *)to;
    if (!mover_holds(f)) return;
    payload *p = f->payload;
    const uint64_t value = f->value;
    memset(f, 0xEE, sizeof *f);
    mover_put(t, p);
    t->value = value;
}

static void mover_destroy(void *context, void *slot)
{
    (void)context;
    mover *v = (mover *)slot;
    if (!mover_holds(v)) return;
    if (v->payload) payload_give(v->payload);
    memset(v, 0xEE, sizeof *v);
}

static void bytes_put(bytes_owner *b, payload *p)
{
    b->payload = p;
    b->value = p->value;
}

static reef_status bytes_construct(void *context, reef_world *world, reef_entity e, void *slot, const void *args)
{
    (void)context;
    (void)world;
    if (!all_zero(slot, sizeof(bytes_owner))) fault("a constructor got a slot that isn't zero");
    if (memory_fails()) return REEF_NO_MEMORY;
    bytes_put((bytes_owner *)slot, payload_take(made_value(e, args)));
    return REEF_OK;
}

static reef_status bytes_copy(void *context, void *to, const void *from)
{
    (void)context;
    const bytes_owner *f = (const bytes_owner *)from;
    if (!payload_lives(f->payload)) {
        fault("a value was copied that doesn't live");
        return REEF_CORRUPT;
    }
    if (memory_fails()) return REEF_NO_MEMORY;
    bytes_put((bytes_owner *)to, payload_take(f->payload->value));
    ((bytes_owner *)to)->value = f->value;
    return REEF_OK;
}

static void bytes_destroy(void *context, void *slot)
{
    (void)context;
    payload_give(((bytes_owner *)slot)->payload);
    memset(slot, 0xEE, sizeof(bytes_owner));
}

static reef_status maker_construct(void *context, reef_world *world, reef_entity e, void *slot, const void *args)
{
    (void)world;
    size_t size = *(const uint32_t *)context;
    if (!all_zero(slot, size)) fault("a constructor got a slot that isn't zero");
    if (memory_fails()) return REEF_NO_MEMORY;
    value_fill(slot, size, made_value(e, args));
    return REEF_OK;
}

/* ---- types ---- */

static uint32_t maker_size = 12;

static const reef_hooks hooks_owner = {owner_construct, owner_copy, owner_move,     owner_destroy, NULL,
                                       false,           true,       REEF_FORK_COPY, false,         NULL};
static const reef_hooks hooks_mover = {NULL,  NULL, mover_move,     mover_destroy, NULL,
                                       false, true, REEF_FORK_COPY, false,         NULL};
static const reef_hooks hooks_bytes = {bytes_construct, bytes_copy,     NULL,  bytes_destroy, NULL, true,
                                       false,           REEF_FORK_COPY, false, NULL};
static const reef_hooks hooks_maker = {maker_construct, NULL,  NULL,           NULL,  &maker_size,
                                       false,           false, REEF_FORK_COPY, false, NULL};

/* Fields: for types that own something the value; for others enough to distinguish two values, with gaps and in another
 * order. */
static const reef_field owner_fields[] = {
    {.name = "value", .kind = REEF_U64, .offset = (uint32_t)offsetof(owner, value), .bytes = 8}};
static const reef_field mover_fields[] = {
    {.name = "value", .kind = REEF_U64, .offset = (uint32_t)offsetof(mover, value), .bytes = 8}};
static const reef_field bytes_fields[] = {
    {.name = "value", .kind = REEF_U64, .offset = (uint32_t)offsetof(bytes_owner, value), .bytes = 8}};
static const reef_field oar_fields[] = {{.name = "all", .kind = REEF_U32, .bytes = 16}};
/* reef has others; here they only say that there are some */
static const reef_field script_fields[] = {{.name = "data", .kind = REEF_U8, .bytes = 1}};
static const reef_named_value moods[] = {{"CALM", 0}, {"ANGRY", 1}, {"FLEEING", 2}, {"ASLEEP", 255}};
static const reef_named_value states[] = {{"WET", 1}, {"COLD", 2}, {"LIT", 4}, {"LOADED", 0xFF00}};
static const reef_names mood_names = {"Mood", moods, 4, false}, state_names = {"State", states, 4, true};
static const reef_field point_fields[] = {{.name = "x", .kind = REEF_U16, .bytes = 2},
                                          {.name = "y", .kind = REEF_U16, .offset = 2, .bytes = 2}};
static const reef_field_list point = {point_fields, 2, 4};
/* an enum, a bit mask and an array of structs between two arrays of numbers */
static const reef_field quay_fields[] = {
    {.name = "late", .kind = REEF_U16, .offset = 40, .bytes = 6},
    {.name = "early", .kind = REEF_U32, .bytes = 12},
    {.name = "mood", .kind = REEF_U8, .offset = 12, .bytes = 1, .names = &mood_names},
    {.name = "state", .kind = REEF_U32, .offset = 16, .bytes = 4, .names = &state_names},
    {.name = "at", .offset = 20, .bytes = 8, .nested = &point}};

/* of the types with a place (place.c) */
static const reef_field spot_fields[] = {{.name = "x", .kind = REEF_I32, .bytes = 4},
                                         {.name = "y", .kind = REEF_I32, .offset = 4, .bytes = 4}};

/* of the type that may be unique (unique.c): the field is so small that values meet */
enum { SEAT_KEY = 1 };
static const reef_field seat_fields[] = {{.name = "low", .kind = REEF_U8, .bytes = 1},
                                         {.name = "key", .kind = REEF_U8, .offset = SEAT_KEY, .bytes = 1},
                                         {.name = "high", .kind = REEF_U16, .offset = 2, .bytes = 2}};

#define KIND(name, sort, size, align) \
    { \
        name, sort, size, align, {0}, REEF_FORK_COPY, NULL, 0, false, REEF_TABLE, 0, TYPES_MAX, 0, NULL \
    }
#define KIND_WITH(name, sort, size, align, on_fork, fields) \
    { \
        name, sort, size, align, {0}, on_fork, fields, (uint32_t)(sizeof fields / sizeof fields[0]), false, \
            REEF_TABLE, 0, TYPES_MAX, 0, NULL \
    }
#define KIND_TRACKED(name, sort, size, align, on_fork) \
    { \
        name, sort, size, align, {0}, on_fork, NULL, 0, true, REEF_TABLE, 0, TYPES_MAX, 0, NULL \
    }
#define KIND_OWNER(name, on_fork) KIND_WITH(name, SORT_OWNER, sizeof(owner), REEF_ALIGNOF(owner), on_fork, owner_fields)
#define KIND_MOVER(name, on_fork) KIND_WITH(name, SORT_MOVER, sizeof(mover), REEF_ALIGNOF(mover), on_fork, mover_fields)

model_type model_types[TYPES_MAX] = {
    KIND("A", SORT_PLAIN, 8, 8),
    KIND("AB", SORT_TAG, 0, 1),
    KIND("Ab", SORT_PLAIN, 16, 16),
    KIND("Alga", SORT_PLAIN, 4, 4),
    KIND("Bite", SORT_SWITCH, 0, 1),
    KIND("Coral_large", SORT_PLAIN, 4096, 4096),
    KIND_OWNER("Crab", REEF_FORK_COPY),
    KIND_TRACKED("Dust", SORT_PLAIN, 1, 1, REEF_FORK_COPY),
    KIND_WITH("Echo", SORT_PLAIN, 12, 4, REEF_FORK_COPY, spot_fields),
    KIND_TRACKED("Fin", SORT_TAG, 0, 1, REEF_FORK_COPY),
    KIND("Glow", SORT_SWITCH, 0, 1),
    KIND("Hull", SORT_PLAIN, 64, 64),
    KIND_MOVER("Ink", REEF_FORK_COPY),
    KIND("Jelly", SORT_PLAIN, 3, 1),
    {"Kelp", SORT_PLAIN, 24, 8, {0}, REEF_FORK_COPY, spot_fields, 2, true, REEF_TABLE, 0, TYPES_MAX, 0, NULL},
    KIND_WITH("Lure", SORT_BYTES, sizeof(bytes_owner), REEF_ALIGNOF(bytes_owner), REEF_FORK_COPY, bytes_fields),
    KIND_TRACKED("Moss", SORT_MAKER, 12, 4, REEF_FORK_COPY),
    KIND_WITH("Oar", SORT_PLAIN, 16, 4, REEF_FORK_COPY, oar_fields),
    KIND("Pearl", SORT_PLAIN, 8, 8),
    KIND_WITH("Quay", SORT_PLAIN, 100, 4, REEF_FORK_COPY, quay_fields),
    KIND("Reed", SORT_PLAIN, 256, 128),
    KIND("ReefPrefab", SORT_TAG, 0, 1),
    KIND("Salt", SORT_SWITCH, 0, 1),
    KIND("Tide", SORT_PLAIN, 2, 2),
    KIND("Urn", SORT_PLAIN, 8, 1),
    {"Void",
     SORT_MOVER,
     sizeof(mover),
     REEF_ALIGNOF(mover),
     {0},
     REEF_FORK_SKIP,
     mover_fields,
     1,
     true,
     REEF_TABLE,
     0,
     TYPES_MAX,
     0,
     NULL},
    KIND_TRACKED("Weed", SORT_PLAIN, 8, 8, REEF_FORK_RESET),
    KIND_OWNER("Wrack", REEF_FORK_RESET),
    KIND("_z", SORT_TAG, 0, 1),
    KIND_WITH("a", SORT_PLAIN, 4, 2, REEF_FORK_COPY, seat_fields),
    KIND("ab", SORT_TAG, 0, 1),
    {"reef_script",
     SORT_SCRIPT,
     sizeof(reef_script),
     REEF_ALIGNOF(reef_script),
     {0},
     REEF_FORK_COPY,
     script_fields,
     1,
     true,
     REEF_TABLE,
     0,
     TYPES_MAX,
     0,
     NULL},
};

enum { RANK_A = 0, RANK_QUAY = 19 };

model_relation model_relations[RELATIONS] = {
    {"ChildOf", REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE, TYPES_MAX, {0}},
    {"Eats", REEF_TRANSITIVE | REEF_ACYCLIC, TYPES_MAX, {0}},
    {"Feeds", REEF_CASCADE, RANK_A, {0}},
    {"Guards", REEF_KEEPS_TARGET, TYPES_MAX, {0}},
    {"Hosts", REEF_EXCLUSIVE | REEF_GROUPED, RANK_QUAY, {0}},
    {"InstanceOf", REEF_EXCLUSIVE | REEF_ACYCLIC, TYPES_MAX, {0}},
    {"Knows", REEF_SYMMETRIC, RANK_A, {0}},
    {"Likes", 0, TYPES_MAX, {0}},
    {"Mates", REEF_EXCLUSIVE | REEF_SYMMETRIC, TYPES_MAX, {0}},
    {"Near", REEF_SYMMETRIC | REEF_TRANSITIVE | REEF_REFLEXIVE, TYPES_MAX, {0}},
    {"Rides", REEF_EXCLUSIVE | REEF_CASCADE | REEF_GROUPED, TYPES_MAX, {0}},
};

static const reef_hooks none;

static const reef_hooks *hooks_of(type_sort sort)
{
    switch (sort) {
    case SORT_OWNER: return &hooks_owner;
    case SORT_MOVER: return &hooks_mover;
    case SORT_BYTES: return &hooks_bytes;
    case SORT_MAKER: return &hooks_maker;
    default: return &none;
    }
}

uint32_t homes_allowed = ~0u;

/* When every feature is in play, some types get the homes that only they can have, and each such home has a type with
 * hooks, where possible. */
static reef_home home_always(const model_type *t)
{
    static const struct {
        const char *name;
        reef_home home;
    } homes[] = {{"Oar", REEF_SPLIT},
                 {"Pearl", REEF_SHARED},
                 {"Lure", REEF_SHARED},
                 {"Jelly", REEF_MULTI},
                 {"Crab", REEF_MULTI}};
    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++)
        if (strcmp(t->name, homes[i].name) == 0) return homes[i].home;
    return t->home;
}

/* Draws a home for each type except switches, and a page size that memory allows. */
static void homes_draw(uint64_t homes)
{
    static const reef_home choice[] = {REEF_TABLE, REEF_TABLE, REEF_SPARSE, REEF_PAGED, REEF_COLD};
    static const uint32_t pages[] = {1, 2, 16, 128, 1024, REEF_PAGE_ROWS_MAX};
    for (uint32_t i = 0; i < TYPES_MAX; i++) {
        model_type *t = &model_types[i];
        uint64_t x = value_mix(homes, i) >> 1;
        t->home = t->sort == SORT_SWITCH ? REEF_BIT : homes ? choice[x % 5] : REEF_TABLE;
        if (homes && homes % 2 == 0) t->home = home_always(t);
        if (i == TYPE_PREFAB || i == TYPE_SCRIPT) t->home = REEF_TABLE; /* as reef declares them */
        if (t->home != REEF_BIT && (!(homes_allowed >> t->home & 1) || (t->size == 0 && t->home != REEF_COLD)))
            t->home = REEF_TABLE;
        /* small pages when every feature is in play */
        t->page_rows = t->home == REEF_PAGED ? pages[x / 5 % (homes % 2 ? 6 : 3)] : 0;
        t->base = homes && (strcmp(t->name, "Alga") == 0 || strcmp(t->name, "Echo") == 0) ? TYPE_BASE : TYPES_MAX;
        const bool unique = homes && (homes % 2 == 0 || (value_mix(homes, 100) >> 1) % 3 == 0);
        t->unique = unique && i == TYPE_UNIQUE ? "key" : NULL;
        while (t->page_rows > 16 && (size_t)t->page_rows * t->size > 1 << 20) t->page_rows /= 16;
    }
}

reef_component event_type;

static bool event_type_make(void)
{
    static const reef_field number = {.name = "number", .kind = REEF_U64, .bytes = 8};
    const reef_type_desc desc = {.name = "Knock", .size = 8, .align = 8, .fields = &number, .field_count = 1};
    event_type = reef_type_new(&desc, NULL);
    return event_type.id != 0;
}

static uint32_t rank_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(model_types[i].name, name) != 0) i++;
    return i;
}

/* Two types that require others, one of them by way of the other: a type with a constructor and stamps, a switch, and
 * one that owns something. */
static void required_draw(void)
{
    model_types[rank_of("Hull")].required = 1u << rank_of("Moss") | 1u << rank_of("Glow");
    model_types[rank_of("Urn")].required = 1u << rank_of("Hull") | 1u << rank_of("Crab");
}

uint32_t types_along(uint32_t set)
{
    for (uint32_t was = 0; was != set;) {
        was = set;
        for (uint32_t i = 0; i < TYPES_MAX; i++)
            if (was >> i & 1) set |= model_types[i].required;
    }
    return set;
}

/* Says what types require that were made without it. */
static bool required_make(void)
{
    for (uint32_t i = 0; i < TYPES_MAX; i++) {
        reef_component required[TYPES_MAX];
        reef_type_info t;
        uint32_t n = 0;
        for (uint32_t k = 0; k < TYPES_MAX; k++)
            if (model_types[i].required >> k & 1) required[n++] = model_types[k].id;
        if (n == 0 || !reef_type_get(model_types[i].id, &t)) continue;
        const reef_type_desc desc = {.name = t.name,
                                     .size = t.size,
                                     .align = t.align,
                                     .home = t.home,
                                     .hooks = t.hooks,
                                     .page_rows = t.page_rows,
                                     .base = t.base,
                                     .required = required,
                                     .required_count = n};
        if (reef_type_new(&desc, NULL).id == 0) return false;
    }
    return true;
}

/* ChildOf and InstanceOf are there already. */
static bool relations_make(void)
{
    for (uint32_t i = 0; i < RELATIONS; i++) {
        model_relation *x = &model_relations[i];
        const reef_type_desc desc = {.name = x->name,
                                     .relation = x->options | REEF_IS_RELATION,
                                     .data = x->data < TYPES_MAX ? model_types[x->data].id : (reef_component){0}};
        x->id = reef_type_new(&desc, NULL);
        if (x->id.id == 0) return false;
    }
    return true;
}

uint32_t relation_of(reef_component type)
{
    uint32_t i = 0;
    while (i < RELATIONS && model_relations[i].id.id != type.id) i++;
    return i;
}

uint64_t relation_digest(uint32_t relation, const void *value)
{
    const uint32_t data = model_relations[relation].data;
    return data < TYPES_MAX ? value_digest(&model_types[data], (const char *)value + 16) : 1;
}

uint64_t relation_digest_of(uint32_t relation, uint64_t data)
{
    const uint32_t type = model_relations[relation].data;
    return type < TYPES_MAX ? value_digest_of(&model_types[type], data) : 1;
}

bool types_make(uint64_t homes)
{
    static bool made;
    if (made) return true;
    made = true;
    homes_draw(homes);
    required_draw();
    typed_declare();
    for (uint32_t i = 0; i <= TYPES_MAX; i++) {
        model_type *t = &model_types[i == 0 ? TYPE_BASE : ((i - 1) * 11 + 5) % TYPES_MAX]; /* a base first */
        if (t->sort == SORT_SCRIPT) {
            t->id = reef_script_type();
            continue;
        }
        reef_status status = REEF_OK;
        reef_type_desc desc = {0};
        desc.name = t->name;
        desc.size = t->size;
        desc.align = t->align;
        desc.home = t->home;
        desc.page_rows = t->page_rows;
        if (t->base < TYPES_MAX) desc.base = model_types[t->base].id;
        reef_hooks hooks = *hooks_of(t->sort);
        hooks.on_fork = t->on_fork;
        hooks.track_rows = t->tracked;
        hooks.unique = t->unique;
        desc.hooks = type_is_hooked(t) || t->tracked ? &hooks : NULL;
        desc.fields = t->fields;
        desc.field_count = t->field_count;
        t->id = reef_type_new(&desc, &status);
        if (status != REEF_OK || t->id.id == 0) {
            fprintf(stderr, "model: type %s: %s\n", t->name, reef_status_name(status));
            return false;
        }
    }
    return required_make() && relations_make() && event_type_make() && scripts_know();
}

uint32_t types_below(uint32_t type)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < TYPES_MAX; i++)
        if (model_types[i].base == type && model_types[i].base < TYPES_MAX) set |= 1u << i;
    return set;
}

bool type_in_table(const model_type *t) { return t->home == REEF_TABLE || t->home == REEF_SPLIT; }

bool type_is_hooked(const model_type *t) { return t->sort >= SORT_OWNER || t->on_fork != REEF_FORK_COPY || t->unique; }

bool type_is_bound(const model_type *t) { return t->sort == SORT_MOVER && t->on_fork == REEF_FORK_COPY; }

bool type_has_payload(const model_type *t)
{
    return t->sort == SORT_OWNER || t->sort == SORT_MOVER || t->sort == SORT_BYTES;
}

bool type_is_made(const model_type *t)
{
    return t->sort == SORT_OWNER || t->sort == SORT_BYTES || t->sort == SORT_MAKER;
}

reef_component component_of(uint32_t type)
{
    reef_component c = {0};
    if (type < TYPES_MAX) return model_types[type].id;
    if (type >= OBSERVED_RELATIONS && type < OBSERVED_RELATIONS + RELATIONS)
        return model_relations[type - OBSERVED_RELATIONS].id;
    if (type == TYPE_HIGH) c.id = REEF_TYPES_MAX + 1234567u;
    return c;
}

/* ---- values ---- */

uint64_t value_mix(uint64_t seed, uint64_t number)
{
    /* The finaliser of splitmix64. */
    uint64_t x = seed + (number + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (x ^ x >> 31) | 1;
}

uint64_t value_default(const model_type *t, reef_entity e) { return type_is_made(t) ? made_value(e, NULL) : 0; }

void value_fill(void *to, size_t size, uint64_t value)
{
    unsigned char *p = (unsigned char *)to;
    for (uint64_t i = 0; size > 0; i++) {
        uint64_t word = value * (2 * i + 1);
        size_t part = size < 8 ? size : 8;
        memcpy(p, &word, part);
        p += part;
        size -= part;
    }
}

void value_make(const model_type *t, void *slot, uint64_t value)
{
    payload *p = type_has_payload(t) ? payload_take(value) : NULL;
    switch (t->sort) {
    case SORT_OWNER: owner_put((owner *)slot, p); break;
    case SORT_MOVER: mover_put((mover *)slot, p); break;
    case SORT_BYTES: bytes_put((bytes_owner *)slot, p); break;
    case SORT_SCRIPT: script_make(slot, value); break;
    default: value_fill(slot, t->size, value);
    }
}

void value_unmake(const model_type *t, void *slot)
{
    switch (t->sort) {
    case SORT_OWNER: owner_destroy(NULL, slot); break;
    case SORT_MOVER: mover_destroy(NULL, slot); break;
    case SORT_BYTES: bytes_destroy(NULL, slot); break;
    default: break;
    }
}

/* The payload of a value, NULL if it has none or is damaged. */
static payload *value_payload(const model_type *t, const void *slot)
{
    if (t->sort == SORT_OWNER) return owner_holds((const owner *)slot) ? ((const owner *)slot)->payload : NULL;
    if (t->sort == SORT_MOVER) return mover_holds((const mover *)slot) ? ((const mover *)slot)->payload : NULL;
    payload *p = ((const bytes_owner *)slot)->payload;
    return payload_lives(p) ? p : NULL;
}

/* The field that is hashed. */
static uint64_t value_shown(const model_type *t, const void *slot)
{
    if (t->sort == SORT_OWNER) return ((const owner *)slot)->value;
    return t->sort == SORT_MOVER ? ((const mover *)slot)->value : ((const bytes_owner *)slot)->value;
}

bool value_matches(const model_type *t, const void *slot, uint64_t value)
{
    if (t->size == 0) return true;
    if (((uintptr_t)slot & (t->align - 1)) != 0) return false;
    if (type_has_payload(t)) {
        const payload *p = value_payload(t, slot);
        if (value_shown(t, slot) != value) return false;
        return p ? p->value == value : value == 0 && t->sort == SORT_MOVER;
    }
    if (t->sort == SORT_SCRIPT) return script_matches(slot, value);
    const unsigned char *c = (const unsigned char *)slot;
    for (uint32_t at = 0, i = 0; at < t->size; at += 8, i++) {
        uint64_t word = value * (2 * (uint64_t)i + 1);
        if (memcmp(c + at, &word, t->size - at < 8 ? t->size - at : 8) != 0) return false;
    }
    return true;
}

void value_write(const model_type *t, void *slot, uint64_t value)
{
    if (!type_has_payload(t)) {
        if (t->sort == SORT_SCRIPT) script_write(slot, value);
        else value_fill(slot, t->size, value);
        return;
    }
    payload *p = value_payload(t, slot);
    if (!p) return;
    p->value = value;
    switch (t->sort) {
    case SORT_OWNER: owner_put((owner *)slot, p); break;
    case SORT_MOVER: mover_put((mover *)slot, p); break;
    default: bytes_put((bytes_owner *)slot, p);
    }
}

void value_mend(const model_type *t, void *slot)
{
    uint64_t value = 0;
    if (!t->fields || t->sort == SORT_SCRIPT) return;
    if (type_has_payload(t)) {
        value = value_shown(t, slot);
        if (t->sort == SORT_MOVER && value && !((mover *)slot)->payload) mover_put((mover *)slot, payload_take(value));
        payload *p = value_payload(t, slot);
        if (p) p->value = value;
        return;
    }
    memcpy(&value, slot, t->size < sizeof value ? t->size : sizeof value); /* fields are there */
    value_fill(slot, t->size, value);
}

static uint64_t digest_word(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
    return digest ^ digest >> 29;
}

uint64_t value_digest(const model_type *t, const void *slot)
{
    if (t->size == 0) return 1;
    if (type_has_payload(t)) {
        const payload *p = value_payload(t, slot);
        return p ? p->value : 0;
    }
    if (t->sort == SORT_SCRIPT) return script_number(slot);
    uint64_t digest = t->size;
    for (uint32_t at = 0; at < t->size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const unsigned char *)slot + at, t->size - at < 8 ? t->size - at : 8);
        digest = digest_word(digest, word);
    }
    return digest;
}

uint64_t value_digest_of(const model_type *t, uint64_t value)
{
    unsigned char bytes[4096];
    if (t->size == 0) return 1;
    if (type_has_payload(t) || t->sort == SORT_SCRIPT) return value;
    value_fill(bytes, t->size, value);
    return value_digest(t, bytes);
}

uint64_t value_unique(const model_type *t, uint64_t value)
{
    unsigned char bytes[8];
    value_fill(bytes, t->size, value);
    return bytes[SEAT_KEY];
}

/* ---- memory that counts ---- */

void *aligned_take(size_t align, size_t bytes)
{
#if defined(_WIN32)
    return _aligned_malloc(bytes, align);
#else
    return aligned_alloc(align, bytes);
#endif
}

void aligned_give(void *p)
{
#if defined(_WIN32)
    _aligned_free(p);
#else
    free(p);
#endif
}

typedef struct head {
    size_t bytes, align;
} head;

static size_t head_room(size_t align) { return align > sizeof(head) ? align : sizeof(head); }

static size_t whole_of(size_t at, size_t bytes) { return (head_room(at) + bytes + at - 1) / at * at; }

static void *counted_new(size_t bytes, size_t align)
{
    if (memory_fails()) return NULL;
    size_t at = align < sizeof(void *) ? sizeof(void *) : align;
    size_t room = head_room(at), whole = whole_of(at, bytes);
    if (bytes > SIZE_MAX / 2) return NULL;
    unsigned char *p = kept_take(at, whole);
    if (!p) p = aligned_take(at, whole);
    if (!p) return NULL;
    head *h = (head *)(void *)(p + room - sizeof(head));
    h->bytes = bytes;
    h->align = align;
    memset(p + room, 0xA5, bytes);
    counted_memory.bytes += bytes;
    counted_memory.blocks++;
    return p + room;
}

static void counted_free(void *block, size_t bytes, size_t align)
{
    size_t at = align < sizeof(void *) ? sizeof(void *) : align;
    head *h = (head *)(void *)((unsigned char *)block - sizeof(head));
    if (h->bytes != bytes) fault("a block was freed or resized with a size that isn't its own");
    if (h->align != align) fault("a block was freed or resized with an alignment that isn't its own");
    memset(block, 0xDB, h->bytes);
    counted_memory.bytes -= h->bytes;
    counted_memory.blocks--;
    void *raw = (unsigned char *)block - head_room(at);
    if (!kept_give(raw, at, whole_of(at, bytes))) aligned_give(raw);
}

static void *counted_resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    if (align == 0 || (align & (align - 1)) != 0 || align > 4096) fault("an alignment that isn't one was asked for");
    if (old_bytes == 0) {
        if (block) fault("a block without bytes was given to the allocator");
        return new_bytes ? counted_new(new_bytes, align) : NULL;
    }
    if (new_bytes == 0) {
        counted_free(block, old_bytes, align);
        return NULL;
    }
    void *p = counted_new(new_bytes, align);
    if (!p) return NULL;
    memcpy(p, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    counted_free(block, old_bytes, align);
    return p;
}

reef_allocator counted_allocator(void)
{
    reef_allocator a = {counted_resize, NULL};
    return a;
}

void counted_reset(void)
{
    memset(&counted_memory, 0, sizeof counted_memory);
    pool_used = pool_first = pool_last = 0;
    pool_live = 0;
}
