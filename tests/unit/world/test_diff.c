/* The difference of two worlds: what it tells, in which order, and that it is the whole difference: a copy of the
 * first world to which it is applied, change by change, is the second. */
#define _DEFAULT_SOURCE /* mprotect */
#include "support.h"
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

typedef struct {
    float x, y;
    int32_t turns;
} Pose;
typedef struct {
    int32_t n;
} Burning;
typedef struct {
    int64_t n;
} Heat;
typedef struct {
    int32_t n;
} Story;
typedef struct {
    int32_t kind, left;
} Buff;
typedef struct {
    int32_t n;
} Look;
typedef struct {
    double x, y;
    int16_t z;
} Place;
typedef struct {
    int32_t n;
} Sound;
static const reef_hooks sound_hooks = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT(Pose);
REEF_FIELDS(Pose, x, y, turns);
REEF_COMPONENT_IN(Burning, REEF_SPARSE);
REEF_COMPONENT_PAGED(Heat, 64);
REEF_COMPONENT_IN(Story, REEF_COLD);
REEF_COMPONENT_IN(Buff, REEF_MULTI);
REEF_COMPONENT_IN(Look, REEF_SHARED);
REEF_COMPONENT_IN(Place, REEF_SPLIT);
REEF_FIELDS(Place, x, y, z);
REEF_COMPONENT_HOOKS(Sound, &sound_hooks);

enum { KINDS = 14 };
static reef_component kind_of(uint32_t i)
{
    const reef_component all[KINDS] = {reef_id(Position), reef_id(Cargo),  reef_id(Pose),    reef_id(Mass),
                                       reef_id(Frozen),   reef_id(Awake),  reef_id(Burning), reef_id(Heat),
                                       reef_id(Story),    reef_id(Buff),   reef_id(Look),    reef_id(Place),
                                       reef_id(Sound),    reef_id(Tracked)};
    return all[i];
}

/* ---- all changes of a difference, with copies of their values ---- */

typedef struct listed {
    reef_change c;
    unsigned char was[48], is[48];
    char name[2][24];
} listed;
typedef struct list {
    listed *at;
    uint32_t count;
} list;

static void list_add(list *l, const reef_change *c)
{
    if ((l->count & (l->count - 1)) == 0) l->at = realloc(l->at, (l->count ? l->count * 2 : 1) * sizeof *l->at);
    listed *x = &l->at[l->count++];
    *x = (listed){.c = *c};
    reef_type_info info = {0};
    if (c->kind == REEF_CHANGE_NAME) {
        snprintf(x->name[0], sizeof x->name[0], "%s", c->was ? (const char *)c->was : "");
        snprintf(x->name[1], sizeof x->name[1], "%s", c->is ? (const char *)c->is : "");
        return;
    }
    if (c->component.id) assert_true(reef_type_get(c->component, &info));
    if (c->was) memcpy(x->was, c->was, info.size);
    if (c->is) memcpy(x->is, c->is, info.size);
}

static list difference(const reef_world *before, const reef_world *after)
{
    list l = {0};
    reef_diff *d = reef_diff_new(before, after);
    assert_non_null(d);
    for (const reef_change *c; (c = reef_diff_next(d)) != NULL;) list_add(&l, c);
    assert_null(reef_diff_next(d));
    reef_diff_free(d);
    return l;
}

static uint32_t count_of(const reef_world *before, const reef_world *after)
{
    list l = difference(before, after);
    free(l.at);
    return l.count;
}

static void says_as(const list *l, uint32_t i, const char *wanted)
{
    static const char *const kinds[] = {"", "gone", "born", "name", "removed", "added", "value", "disabled", "enabled"};
    char text[120];
    assert_true(i < l->count);
    const reef_change *c = &l->at[i].c;
    int n = snprintf(text, sizeof text, "%s %u", kinds[c->kind], (unsigned)c->entity.index);
    if (c->component.id) n += snprintf(text + n, sizeof text - (size_t)n, " %s", reef_type_name(c->component));
    if (c->number) n += snprintf(text + n, sizeof text - (size_t)n, " number %u", (unsigned)c->number);
    if (c->fields) n += snprintf(text + n, sizeof text - (size_t)n, " fields %u", (unsigned)c->fields);
    if (c->kind == REEF_CHANGE_NAME)
        snprintf(text + n, sizeof text - (size_t)n, " '%s' '%s'", l->at[i].name[0], l->at[i].name[1]);
    assert_string_equal(text, wanted);
}

/* ---- the second world out of the first, by plain calls ---- */

typedef struct copy {
    reef_world *w;
    reef_entity born[8192]; /* by index in the other world */
} copy;

static reef_entity in_copy(const copy *k, reef_entity e)
{
    return e.index < 8192 && !reef_entity_is_null(k->born[e.index]) ? k->born[e.index] : e;
}

static void put_value(reef_world *w, reef_entity e, const listed *x, const reef_type_info *info)
{
    if (info->home == REEF_MULTI && x->c.kind == REEF_CHANGE_VALUE) {
        uint32_t n = 0;
        char *values = reef_mut_all_id(w, e, x->c.component, &n);
        assert_true(x->c.number < n);
        memcpy(values + x->c.number * info->size, x->is, info->size);
    } else if (info->home == REEF_MULTI) assert_non_null(reef_append_id(w, e, x->c.component, x->is, info->size));
    else if (x->c.component.id == reef_id(Tracked).id) { /* which is moved in: set would take the bytes */
        int32_t value;
        memcpy(&value, x->is, sizeof value);
        ((Tracked *)reef_ensure_id(w, e, x->c.component, NULL))->value = value;
    } else if (x->c.is) assert_true(reef_set_id(w, e, x->c.component, x->is, info->size) >= 0);
    else assert_ok(reef_add_id(w, e, x->c.component, NULL, NULL));
}

static void apply_one(copy *k, const listed *x)
{
    const reef_change *c = &x->c;
    const reef_entity e = in_copy(k, c->entity);
    reef_type_info info = {0};
    if (c->component.id) assert_true(reef_type_get(c->component, &info));
    switch (c->kind) {
    case REEF_CHANGE_GONE: assert_ok(reef_destroy(k->w, c->entity)); break;
    case REEF_CHANGE_BORN:
        k->born[c->entity.index] = c->entity;
        if (reef_is_alive(k->w, reef_entity_at(k->w, c->entity.index)) || reef_create_as(k->w, c->entity) != REEF_OK)
            k->born[c->entity.index] = reef_create(k->w); /* that generation was used up */
        break;
    case REEF_CHANGE_NAME: assert_ok(reef_set_name(k->w, e, x->name[1][0] ? x->name[1] : NULL)); break;
    case REEF_CHANGE_REMOVED:
        if (!reef_is_alive(k->w, c->entity)) break;
        if (info.home == REEF_MULTI) assert_ok(reef_remove_one_id(k->w, e, c->component, c->number));
        else assert_ok(reef_remove_id(k->w, e, c->component));
        break;
    /* fallthrough */
    case REEF_CHANGE_ADDED: assert_true(info.home == REEF_MULTI || !reef_has_id(k->w, e, c->component));
    case REEF_CHANGE_VALUE: put_value(k->w, e, x, &info); break;
    case REEF_CHANGE_DISABLED: assert_ok(reef_enable_id(k->w, e, c->component, false)); break;
    case REEF_CHANGE_ENABLED: assert_ok(reef_enable_id(k->w, e, c->component, true)); break;
    }
}

static void apply(copy *k, const list *l)
{
    for (uint32_t i = 0; i < l->count; i++) { /* names that change hands are free first */
        const reef_change *c = &l->at[i].c;
        if (c->kind != REEF_CHANGE_NAME || !reef_is_alive(k->w, c->entity) || !l->at[i].name[0][0]) continue;
        assert_ok(reef_set_name(k->w, c->entity, NULL));
    }
    for (uint32_t i = 0; i < l->count; i++) {
        const reef_change *c = &l->at[i].c;
        if (c->kind == REEF_CHANGE_NAME && l->at[i].name[1][0] == 0) continue;
        apply_one(k, &l->at[i]);
    }
}

static void same_values(const reef_world *a, reef_entity e, const reef_world *b, reef_entity f, reef_component c)
{
    unsigned char p[48], q[48];
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    if (info.size == 0 || c.id == reef_id(Sound).id) return;
    if (c.id == reef_id(Tracked).id) {
        assert_int_equal(reef_get(a, e, Tracked)->value, reef_get(b, f, Tracked)->value);
    } else if (info.home == REEF_MULTI) {
        uint32_t n = 0, m = 0;
        const void *x = reef_get_all_id(a, e, c, &n), *y = reef_get_all_id(b, f, c, &m);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n * info.size);
    } else {
        assert_true(reef_read_id(a, e, c, p, info.size) && reef_read_id(b, f, c, q, info.size));
        assert_memory_equal(p, q, info.size);
    }
}

static bool count_one(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)c, (void)data, (void)size;
    ++*(uint32_t *)context;
    return true;
}

/* As far as the difference tells of them. */
static void same_worlds(const copy *k, const reef_world *after)
{
    assert_int_equal(reef_count_alive(k->w), reef_count_alive(after));
    for (uint32_t i = 0; i < 8192; i++) {
        const reef_entity e = reef_entity_at(after, i), f = in_copy(k, e);
        if (!reef_is_alive(after, e)) continue;
        assert_true(reef_is_alive(k->w, f));
        const char *name = reef_name(after, e), *other = reef_name(k->w, f);
        assert_int_equal(name != NULL, other != NULL);
        if (name) assert_string_equal(name, other);
        assert_int_equal(reef_is_enabled(after, e), reef_is_enabled(k->w, f));
        uint32_t n = 0, m = 0;
        reef_visit_entity(after, e, count_one, &n);
        reef_visit_entity(k->w, f, count_one, &m);
        assert_int_equal(n, m);
        for (uint32_t c = 0; c < KINDS; c++) {
            assert_int_equal(reef_has_id(after, e, kind_of(c)), reef_has_id(k->w, f, kind_of(c)));
            assert_int_equal(reef_is_enabled_id(after, e, kind_of(c)), reef_is_enabled_id(k->w, f, kind_of(c)));
            if (reef_has_id(after, e, kind_of(c))) same_values(after, e, k->w, f, kind_of(c));
        }
    }
}

static void proves(reef_world *before, const reef_world *after)
{
    copy *k = calloc(1, sizeof *k);
    list l = difference(before, after);
    for (uint32_t i = 1; i < l.count; i++)
        assert_true(l.at[i].c.kind > REEF_CHANGE_NAME || l.at[i - 1].c.kind <= l.at[i].c.kind);
    assert_non_null(k->w = reef_fork(before));
    apply(k, &l);
    same_worlds(k, after);
    assert_valid(k->w);
    assert_int_equal(l.count == 0, count_of(after, before) == 0);
    reef_world_free(k->w);
    free(l.at);
    free(k);
}

/* ---- random worlds ---- */

static void set_random(reef_world *w, reef_entity e, reef_component c, uint64_t *seed)
{
    union {
        Pose pose;
        Place place;
        Buff buff;
        Mass mass;
        unsigned char byte[48];
    } v;
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    memset(&v, 0, sizeof v);
    const int32_t n = (int32_t)random_below(seed, 3);
    if (c.id == reef_id(Pose).id) v.pose = (Pose){(float)n, 1, (int32_t)random_below(seed, 2)};
    else if (c.id == reef_id(Place).id) v.place = (Place){n, 2, (int16_t)random_below(seed, 2)};
    else if (c.id == reef_id(Cargo).id) v.byte[39] = (unsigned char)n;
    else if (c.id == reef_id(Buff).id) v.buff = (Buff){n, (int32_t)random_below(seed, 2)};
    else v.byte[0] = (unsigned char)n;
    if (c.id == reef_id(Tracked).id) ((Tracked *)reef_ensure_id(w, e, c, NULL))->value = n;
    else if (info.home == REEF_MULTI && reef_count_on_id(w, e, c) < 6) reef_append_id(w, e, c, &v, info.size);
    else if (info.home == REEF_MULTI) assert_ok(reef_remove_one_id(w, e, c, random_below(seed, 6)));
    else if (info.size == 0) assert_ok(reef_add_id(w, e, c, NULL, NULL));
    else assert_true(reef_set_id(w, e, c, &v, info.size) >= 0);
}

static void random_step(reef_world *w, uint64_t *seed, uint32_t entities)
{
    char name[24];
    const reef_entity e = reef_entity_at(w, random_below(seed, entities));
    const reef_component c = kind_of(random_below(seed, KINDS));
    const uint32_t what = random_below(seed, 20);
    if (!reef_is_alive(w, e)) {
        if (reef_count_alive(w) < entities) assert_some(reef_spawn(w, reef_with(Position, 1, 2)));
        return;
    }
    if (what < 9) {
        reef_type_info info;
        assert_true(reef_type_get(c, &info));
        if (info.size || !reef_has_id(w, e, c)) set_random(w, e, c, seed);
    } else if (what < 13) {
        if (reef_has_id(w, e, c)) assert_ok(reef_remove_id(w, e, c));
    } else if (what < 15) {
        if (reef_has_id(w, e, c)) assert_ok(reef_enable_id(w, e, c, random_below(seed, 2)));
    } else if (what == 15) assert_ok(reef_enable_id(w, e, (reef_component){0}, random_below(seed, 2)));
    else if (what == 16) {
        snprintf(name, sizeof name, "n%u", (unsigned)random_below(seed, 12));
        if (reef_entity_is_null(reef_find(w, name)) || random_below(seed, 2)) {
            if (!reef_entity_is_null(reef_find(w, name))) assert_ok(reef_set_name(w, reef_find(w, name), NULL));
            assert_ok(reef_set_name(w, e, name));
        }
    } else if (what == 17) assert_ok(reef_destroy(w, e));
    else assert_some(reef_clone(w, e));
    if (reef_count_alive(w) > entities) assert_ok(reef_destroy(w, e));
}

static void random_world(reef_world *w, uint64_t *seed, uint32_t steps)
{
    for (uint32_t i = 0; i < 24; i++) assert_some(reef_spawn(w, reef_with(Position, (float)i, 0)));
    for (uint32_t i = 0; i < steps; i++) random_step(w, seed, 40);
}

static void a_difference_is_all_of_the_difference(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 7;
    random_world(w, &seed, 200);
    for (int round = 0; round < 24; round++) {
        reef_world *fork = reef_fork(w);
        assert_non_null(fork);
        assert_int_equal(count_of(w, fork), 0);
        for (uint32_t i = random_below(&seed, 60); i > 0; i--) random_step(round % 2 ? w : fork, &seed, 40);
        proves(w, fork);
        proves(fork, w);
        reef_world_free(fork);
    }
}

static void worlds_neednt_be_related(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 3;
    random_world(w, &seed, 150);
    for (int round = 0; round < 4; round++) {
        reef_world *other = another_world(state, NULL);
        random_world(other, &seed, 120);
        proves(w, other);
        proves(other, w);
        end_world(state, other);
    }
    reef_world *empty = another_world(state, NULL);
    proves(w, empty);
    proves(empty, w);
    assert_int_equal(count_of(empty, empty), 0);
}

/* ---- each kind ---- */

static void each_kind_of_change_in_its_order(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    for (uint32_t i = 0; i < 6; i++) e[i] = reef_spawn(w, reef_with(Pose, (float)i, 0, 0), reef_with(Mass, i));
    assert_ok(reef_set_name(w, e[1], "one"));
    assert_ok(reef_set_name(w, e[2], "two"));
    assert_ok(reef_disable(w, e[3], Mass));
    assert_ok(reef_disable(w, e[5], Mass));
    assert_ok(reef_disable(w, e[4]));
    reef_world *before = reef_fork(w);
    assert_non_null(before);

    assert_ok(reef_destroy(w, e[1]));
    reef_entity born = reef_spawn(w, reef_with(Mass, 9), reef_tag(Frozen));
    assert_ok(reef_set_name(w, born, "new"));
    assert_ok(reef_set_name(w, e[2], NULL));
    assert_ok(reef_remove(w, e[5], Mass));
    reef_mut(w, e[0], Pose)->turns = 4;
    reef_mut(w, e[2], Pose)->x = 4;
    reef_mut(w, e[2], Pose)->turns = 4;
    reef_mut(w, e[3], Mass)->kg = 77;
    assert_ok(reef_enable(w, e[3], Mass));
    assert_ok(reef_enable(w, e[4]));
    assert_ok(reef_disable(w, e[4], Pose));
    assert_ok(reef_disable(w, e[5]));
    list l = difference(before, w);
    static const char *const said[] = {"gone 1",
                                       "born 1",
                                       "name 1 'one' ''",
                                       "name 1 '' 'new'",
                                       "name 2 'two' ''",
                                       "disabled 5",
                                       "enabled 4",
                                       "added 1 Frozen",
                                       "removed 1 Mass",
                                       "removed 5 Mass",
                                       "added 1 Mass",
                                       "value 3 Mass fields 1",
                                       "enabled 3 Mass",
                                       "removed 1 Pose",
                                       "value 0 Pose fields 4",
                                       "value 2 Pose fields 5",
                                       "disabled 4 Pose"};
    const uint32_t wanted = sizeof said / sizeof *said;
    for (uint32_t i = 0; i < wanted; i++) says_as(&l, i, said[i]);
    assert_int_equal(l.count, wanted);
    assert_entity(e[1], l.at[0].c.entity);
    assert_entity(born, l.at[1].c.entity);
    assert_true(memcmp(l.at[11].was, &(Mass){3}, sizeof(Mass)) == 0 &&
                memcmp(l.at[11].is, &(Mass){77}, sizeof(Mass)) == 0);
    assert_null(l.at[7].c.is);
    free(l.at);
    proves(before, w);
    reef_world_free(before);
}

static void values_outside_of_rows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = reef_spawn(w, reef_with(Burning, i), reef_with(Heat, i), reef_with(Story, i), reef_with(Look, i),
                          reef_with(Place, i, 0, 0), reef_with(Sound, i));
        for (int k = 0; k < 4; k++) assert_non_null(reef_append(w, e[i], Buff, k, i));
    }
    reef_world *before = reef_fork(w);
    reef_mut(w, e[1], Burning)->n = 50;
    reef_mut(w, e[1], Heat)->n = 50;
    reef_mut(w, e[1], Story)->n = 50;
    reef_mut(w, e[1], Look)->n = 50;
    reef_mut(w, e[1], Sound)->n = 50; /* no part of the state */
    assert_int_equal(reef_set(w, e[1], Place, 1, 5, 6), REEF_OK);
    assert_ok(reef_remove_one(w, e[0], Buff, 1));
    assert_ok(reef_remove_one(w, e[0], Buff, 1));
    assert_non_null(reef_append(w, e[1], Buff, 7, 7));
    reef_mut_all(w, e[2], Buff, &(uint32_t){0})[2].left = 9;
    list l = difference(before, w);
    static const char *const said[] = {"removed 0 Buff number 3",        "removed 0 Buff number 2",
                                       "added 1 Buff number 4",          "value 0 Buff number 1 fields 1",
                                       "value 2 Buff number 2 fields 1", "value 1 Burning fields 1",
                                       "value 1 Heat fields 1",          "value 1 Look fields 1",
                                       "value 1 Place fields 6",         "value 1 Story fields 1"};
    const uint32_t wanted = sizeof said / sizeof *said;
    for (uint32_t i = 0; i < wanted; i++) says_as(&l, i, said[i]);
    assert_int_equal(l.count, wanted);
    assert_true(memcmp(l.at[8].was, &(Place){1, 0, 0}, sizeof(double) * 2) == 0);
    assert_true(memcmp(l.at[8].is, &(Place){1, 5, 6}, sizeof(double) * 2) == 0);
    free(l.at);
    proves(before, w);
    reef_world_free(before);
}

/* Several chunks: rows that stay where they are, that move into a hole, and those behind the last full chunk. */
static void many_rows(void **state)
{
    reef_world *w = world_of(state);
    enum { N = 2500 };
    static reef_entity e[N];
    assert_ok(reef_spawn_many(w, N, e, reef_with(Position, 1, 2), reef_with(Cargo, {1}), reef_with(Pose, 1, 1, 1)));
    reef_world *before = reef_fork(w);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < N; i += 63, changed++) reef_mut(w, e[i], Position)->y = 3;
    for (uint32_t i = 5; i < N; i += 300, changed++) reef_mut(w, e[i], Cargo)->byte[i % 40] = 3;
    for (uint32_t i = N - 7; i < N; i++, changed++) reef_mut(w, e[i], Pose)->y = 3;
    reef_mut(w, e[700], Pose)->y = 1; /* written, but the same */
    list l = difference(before, w);
    assert_int_equal(l.count, changed);
    for (uint32_t i = 1; i < l.count; i++)
        assert_true(l.at[i - 1].c.component.id != l.at[i].c.component.id ||
                    l.at[i - 1].c.entity.index < l.at[i].c.entity.index);
    free(l.at);
    proves(before, w);
    for (uint32_t i = 3; i < N; i += 400) assert_ok(reef_destroy(w, e[i]));
    assert_ok(reef_remove(w, e[1100], Cargo));
    assert_some(reef_spawn(w, reef_with(Position, 4, 4), reef_with(Cargo, {2}), reef_with(Pose, 1, 1, 1)));
    proves(before, w);
    proves(w, before);
    reef_world_free(before);
}

/* Field 63 stands for itself and all that follow; a type of many fields. */
/* A sparse value of the first entity, and a paged one far behind it: the two stores have indices of other sizes. */
static void stores_of_other_sizes(void **state)
{
    enum { MANY = 600000 };
    reef_world *w = world_of(state);
    reef_entity *e = malloc(MANY * sizeof *e);
    assert_non_null(e);
    assert_ok(reef_spawn_many(w, MANY, e, reef_with(Pose, 1, 2, 3)));
    assert_true(reef_set(w, e[0], Burning, 1) > 0 && reef_set(w, e[MANY - 1], Heat, 1) > 0);
    reef_world *fork = reef_fork(w);
    assert_true(reef_set(fork, e[0], Burning, 2) >= 0 && reef_set(fork, e[MANY - 1], Heat, 2) >= 0);
    reef_diff *d = reef_diff_new(w, fork);
    const reef_change *c = reef_diff_next(d);
    assert_true(c && c->kind == REEF_CHANGE_VALUE && c->component.id == reef_id(Burning).id);
    c = reef_diff_next(d);
    assert_true(c && c->kind == REEF_CHANGE_VALUE && c->component.id == reef_id(Heat).id);
    assert_entity(e[MANY - 1], c->entity);
    assert_null(reef_diff_next(d));
    reef_diff_free(d);
    reef_world_free(fork);
    free(e);
}

static void more_fields_than_bits(void **state)
{
    reef_world *w = world_of(state);
    static reef_field fields[70];
    static char names[70][8];
    for (uint32_t i = 0; i < 70; i++) {
        snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
        fields[i] = (reef_field){.name = names[i], .kind = REEF_U8, .offset = i, .bytes = 1};
    }
    reef_type_desc desc = {.name = "DiffWide", .size = 72, .align = 1, .fields = fields, .field_count = 70};
    reef_component wide = reef_type_new(&desc, NULL);
    reef_entity e = reef_create(w);
    assert_ok(reef_add_id(w, e, wide, NULL, NULL));
    static const struct {
        uint32_t byte;
        uint64_t fields;
    } tries[] = {{0, 1}, {62, 1ull << 62}, {63, 1ull << 63}, {69, 1ull << 63}, {71, 0}};
    for (uint32_t i = 0; i < 5; i++) {
        reef_world *before = reef_fork(w);
        ((unsigned char *)reef_mut_id(w, e, wide))[tries[i].byte] ^= 1;
        reef_diff *d = reef_diff_new(before, w);
        const reef_change *c = reef_diff_next(d);
        assert_int_equal(c != NULL, tries[i].fields != 0); /* behind the last field nothing is compared */
        if (c) assert_true(c->fields == tries[i].fields);
        for (uint32_t f = 0; c && f < 70; f++)
            assert_int_equal(reef_change_has_field(c, fields, f), f == tries[i].byte);
        reef_diff_free(d);
        reef_world_free(before);
    }
}

static void a_difference_needs_two_worlds_and_memory(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 11;
    random_world(w, &seed, 150);
    reef_world *fork = reef_fork(w);
    random_world(fork, &seed, 100);
    assert_null(reef_diff_new(NULL, w));
    assert_null(reef_diff_new(w, NULL));
    assert_null(reef_diff_next(NULL));
    reef_diff_free(NULL);
    const uint64_t blocks = heap_of(state)->blocks;
    reef_diff *d = NULL;
    uint64_t n = 0;
    while (d == NULL) {
        heap_fail_nth(heap_of(state), ++n, false);
        d = reef_diff_new(w, fork);
        heap_fail_never(heap_of(state));
        if (d == NULL) assert_int_equal(heap_of(state)->blocks, blocks);
    }
    assert_true(n > 6);
    const uint64_t calls = heap_of(state)->calls;
    uint32_t changes = 0;
    while (reef_diff_next(d)) changes++;
    assert_int_equal(heap_of(state)->calls, calls); /* none on the way */
    assert_int_equal(changes, count_of(w, fork));
    reef_diff_free(d);
    reef_world_free(fork);
}

/* ---- what is shared ---- */

#if defined(__linux__)

typedef struct {
    uint32_t n, rest[511];
} Sheet; /* whose blocks are too large for arenas */
REEF_COMPONENT(Sheet);
enum { SHEET_BLOCK = REEF_BLOCK_ROWS * (int)sizeof(Sheet) };

/* Large blocks are pages of their own. */
static void *sheet_resize(void *context, void *block, size_t old, size_t bytes, size_t align)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), unit = bytes >= SHEET_BLOCK && align < page ? page : align;
    (void)context;
    void *fresh = bytes ? aligned_alloc(unit, (bytes + unit - 1) / unit * unit) : NULL;
    if (bytes && fresh == NULL) return NULL;
    if (fresh && block) memcpy(fresh, block, old < bytes ? old : bytes);
    free(block);
    return fresh;
}

static void block_lock(const reef_world *w, reef_entity first, int how)
{
    char *at = (char *)(uintptr_t)reef_get(w, first, Sheet);
    assert_int_equal((uintptr_t)at % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    assert_int_equal(mprotect(at, SHEET_BLOCK, how), 0);
}

/* Blocks that both worlds share aren't read: whoever touched them would be stopped by the processor. */
static void what_is_shared_is_skipped_unseen(void **state)
{
    enum { N = 3 * REEF_BLOCK_ROWS };
    static reef_entity e[N];
    reef_world *w = another_world(state, &(reef_world_config){.allocator = {sheet_resize, NULL}});
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_spawn_many(w, N, e, reef_with(Sheet, 1, {0})));
    const uint64_t hash = reef_hash(w);
    reef_world *before = reef_fork(w);
    reef_mut(w, e[REEF_BLOCK_ROWS + 77], Sheet)->n = 2;
    block_lock(w, e[0], PROT_NONE);
    block_lock(w, e[2 * REEF_BLOCK_ROWS], PROT_NONE);
    reef_diff *d = reef_diff_new(before, w);
    const reef_change *c = reef_diff_next(d);
    assert_true(c && c->kind == REEF_CHANGE_VALUE && reef_entity_equal(c->entity, e[REEF_BLOCK_ROWS + 77]));
    assert_true(((const Sheet *)c->was)->n == 1 && ((const Sheet *)c->is)->n == 2);
    assert_null(reef_diff_next(d));
    reef_diff_free(d);
    assert_ok(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.raw = true, .sealed = true}));
    assert_in_range(bytes.size, sizeof(Sheet), sizeof(Sheet) + 1000);
    assert_true(reef_hash(before) == hash && reef_hash(w) != hash); /* and of what is known the hash isn't made again */
    block_lock(w, e[0], PROT_READ | PROT_WRITE);
    block_lock(w, e[2 * REEF_BLOCK_ROWS], PROT_READ | PROT_WRITE);
    assert_ok(reef_diff_apply(before, bytes.data, bytes.size));
    assert_true(reef_hash(before) == reef_hash(w));
    reef_bytes_free(&bytes);
    reef_world_free(before);
}

#endif

/* Neither world needed memory for them. */
static void entities_without_components(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes bytes;
    for (uint32_t i = 0; i < 4096; i++) (void)reef_create(w);
    reef_world *fork = reef_fork(w);
    for (uint32_t i = 0; i < 10; i++) (void)reef_create(w);
    for (uint32_t i = 0; i < 3000; i++) (void)reef_create(fork);
    assert_int_equal(count_of(w, fork), 2990);
    assert_int_equal(count_of(fork, w), 2990);
    assert_int_equal(count_of(w, w), 0);
    proves(w, fork);
    proves(fork, w);
    assert_ok(reef_diff_bytes(w, fork, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_diff_apply(w, bytes.data, bytes.size));
    assert_true(reef_hash(w) == reef_hash(fork));
    assert_int_equal(reef_count_alive(w), 7096);
    assert_valid(w);
    reef_bytes_free(&bytes);
    reef_world_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_of_change_in_its_order),
        TEST(values_outside_of_rows),
        TEST(many_rows),
        TEST(stores_of_other_sizes),
#if defined(__linux__)
        TEST(what_is_shared_is_skipped_unseen),
#endif
        TEST(entities_without_components),
        TEST(more_fields_than_bits),
        TEST(a_difference_is_all_of_the_difference),
        TEST(worlds_neednt_be_related),
        TEST(a_difference_needs_two_worlds_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
