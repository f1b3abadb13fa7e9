#include "link.h"
#include "model.h"
#include "pairs.h"
#include <stdlib.h>

enum { STEP_BITS = 24, FIRST_BITS = 62 }; /* places, as src/storage/relation_index.h says: they are in the hash */

static const uint64_t step = (uint64_t)1 << STEP_BITS, first = (uint64_t)1 << FIRST_BITS;

/* ---- asking ---- */

ref_link *ref_link_find(const ref_world *r, uint32_t relation, uint32_t source, uint32_t target)
{
    for (uint32_t i = 0; i < r->link_count; i++) {
        ref_link *x = &r->link[i];
        if (x->relation == relation && x->source == source && x->target == target) return x;
    }
    return NULL;
}

void ref_targets(const ref_world *r, uint32_t relation, uint32_t source, ref_links *list)
{
    list->count = 0;
    if (r->entity[source].out[relation] == 0) return;
    for (uint32_t i = 0; i < r->link_count; i++)
        if (r->link[i].relation == relation && r->link[i].source == source) list->at[list->count++] = &r->link[i];
}

void ref_sources(const ref_world *r, uint32_t relation, uint32_t target, ref_links *list)
{
    list->count = 0;
    if (r->entity[target].linked == 0) return;
    for (uint32_t i = 0; i < r->link_count; i++) {
        const ref_link *x = &r->link[i];
        if (x->relation != relation || x->target != target) continue;
        uint32_t at = list->count++;
        for (; at > 0; at--) {
            const ref_link *before = list->at[at - 1];
            if (before->place < x->place || (before->place == x->place && before->source < x->source)) break;
            list->at[at] = before;
        }
        list->at[at] = x;
    }
}

uint32_t ref_target(const ref_world *r, uint32_t relation, uint32_t source)
{
    for (uint32_t i = 0; r->entity[source].out[relation] && i < r->link_count; i++)
        if (r->link[i].relation == relation && r->link[i].source == source) return r->link[i].target;
    return UINT32_MAX;
}

uint64_t ref_link_digest(const ref_world *r, uint32_t relation, uint32_t target, uint64_t data)
{
    return value_mix(reef_entity_bits(ref_handle(r, target)), relation_digest_of(relation, data));
}

static uint64_t digest_of(const ref_world *r, const ref_link *x)
{
    return ref_link_digest(r, x->relation, x->target, x->data);
}

/* Is there a way from one entity to another, over one relation or several? */
static bool leads(const ref_world *r, uint32_t relation, uint32_t from, uint32_t to)
{
    bool *seen = calloc(r->count, sizeof *seen), more = true, found = false;
    if (!seen) abort();
    seen[from] = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < r->link_count; i++) {
            const ref_link *x = &r->link[i];
            if (x->relation != relation || !seen[x->source]) continue;
            found |= x->target == to;
            if (seen[x->target]) continue;
            seen[x->target] = more = true;
        }
    }
    free(seen);
    return found;
}

bool ref_related(const ref_world *r, uint32_t relation, reef_entity source, reef_entity target)
{
    if (!ref_alive(r, source) || !ref_alive(r, target)) return false;
    if (relation_is(relation, REEF_REFLEXIVE) && source.index == target.index) return true;
    if (relation_is(relation, REEF_TRANSITIVE)) return leads(r, relation, source.index, target.index);
    return ref_link_find(r, relation, source.index, target.index) != NULL;
}

/* ---- names ---- */

uint32_t ref_named(const ref_world *r, uint32_t parent, uint32_t name)
{
    for (uint32_t i = 0; i < r->living_count; i++) {
        const uint32_t index = r->living[i];
        if (r->entity[index].name == name && ref_target(r, RELATION_CHILD, index) == parent) return index;
    }
    return UINT32_MAX;
}

reef_status ref_name_may_move(const ref_world *r, const ref_entity *e, uint32_t parent)
{
    if (e->name == 0) return REEF_OK;
    if (parent != UINT32_MAX && strchr(model_names[e->name - 1], '.')) return REEF_BAD_TEXT;
    const uint32_t has = ref_named(r, parent, e->name);
    return has == UINT32_MAX || &r->entity[has] == e ? REEF_OK : REEF_NAME_TAKEN;
}

/* The number of a name of this length in the model's list + 1; 0: it isn't there. */
static uint32_t name_number(const char *text, size_t length)
{
    for (uint32_t i = 0; i < NAMES_GOOD; i++)
        if (strlen(model_names[i]) == length && memcmp(model_names[i], text, length) == 0) return i + 1;
    return 0;
}

/* Goes down from an entity, a part of the path at each step. */
static uint32_t path_below(const ref_world *r, uint32_t index, const char *path)
{
    for (;;) {
        const size_t length = strcspn(path, ".");
        const uint32_t name = name_number(path, length);
        index = name ? ref_named(r, index, name) : UINT32_MAX;
        if (index == UINT32_MAX || path[length] == 0) return index;
        path += length + 1;
    }
}

/* The longest name of an entity without a parent comes first. */
uint32_t ref_find_path(const ref_world *r, const char *path)
{
    for (size_t length = strlen(path); length > 0; length--) {
        if (path[length] != 0 && path[length] != '.') continue;
        const uint32_t name = name_number(path, length), root = name ? ref_named(r, UINT32_MAX, name) : UINT32_MAX;
        if (root == UINT32_MAX) continue;
        const uint32_t found = path[length] ? path_below(r, root, path + length + 1) : root;
        if (found != UINT32_MAX) return found;
    }
    return UINT32_MAX;
}

/* ---- single steps ---- */

static uint64_t place_last(const ref_world *r, uint32_t relation, uint32_t target)
{
    static ref_links list;
    ref_sources(r, relation, target, &list); /* one that is about to get a place has 0 */
    return list.count && list.at[list.count - 1]->place ? list.at[list.count - 1]->place + step : first;
}

void ref_link_add(ref_world *r, uint32_t relation, uint32_t source, uint32_t target, uint64_t place, uint64_t data)
{
    const ref_link x = {relation, source, target, place ? place : place_last(r, relation, target), data};
    r->link = ref_grown(r->link, r->link_count + 1, &r->link_capacity, sizeof *r->link);
    r->link[r->link_count++] = x;
    r->entity[source].links++;
    r->entity[source].out[relation]++;
    r->entity[target].linked++;
    ref_note_link(r, &x, REEF_ON_ADD, digest_of(r, &x), 0);
    ref_settle(r, source, r->entity[source].set);
}

static void link_take_out(ref_world *r, ref_link *at)
{
    const ref_link x = *at;
    ref_note_link(r, &x, REEF_ON_REMOVE, 0, digest_of(r, &x));
    memmove(at, at + 1, (size_t)(r->link + r->link_count - at - 1) * sizeof *at);
    r->link_count--;
    r->entity[x.source].links--;
    if (--r->entity[x.source].out[x.relation] == 0) r->entity[x.source].unseen &= (uint16_t) ~(1u << x.relation);
    r->entity[x.target].linked--;
}

static void link_remove(ref_world *r, ref_link *at)
{
    const uint32_t source = at->source, relation = at->relation;
    ref_entity *e = &r->entity[source];
    link_take_out(r, at);
    ref_settle(r, source, e->set);
    if (relation != RELATION_CHILD || e->name == 0) return;
    const uint32_t name = e->name;
    e->name = 0; /* who is there already keeps the name */
    if (ref_named(r, UINT32_MAX, name) == UINT32_MAX) e->name = name;
}

/* Gives an exclusive relation another target or other data. */
static void link_set(ref_world *r, ref_link *x, uint32_t target, uint64_t place, uint64_t data)
{
    const uint64_t old = digest_of(r, x);
    r->entity[x->target].linked--;
    x->place = place ? place : target == x->target ? x->place : place_last(r, x->relation, target);
    x->target = target;
    x->data = data;
    r->entity[target].linked++;
    ref_note_link(r, x, REEF_ON_SET, digest_of(r, x), old);
}

void ref_links_remove(ref_world *r, uint32_t source, uint32_t relation)
{
    for (uint32_t i = 0; i < r->link_count;)
        if (r->link[i].source == source && r->link[i].relation == relation) link_remove(r, &r->link[i]);
        else i++;
}

void ref_links_end(ref_world *r, uint32_t source)
{
    for (uint32_t i = 0; i < r->link_count;)
        if (r->link[i].source == source) link_take_out(r, &r->link[i]);
        else i++;
}

void ref_links_copy(ref_world *r, uint32_t to, uint32_t from)
{
    for (uint32_t i = 0, n = r->link_count; i < n; i++) {
        const ref_link x = r->link[i];
        if (x.source != from || relation_is(x.relation, REEF_SYMMETRIC)) continue;
        ref_link_add(r, x.relation, to, x.target, 0, x.data);
        ref_link_mark(r, x.relation, to, from);
    }
}

void ref_link_mark(ref_world *r, uint32_t relation, uint32_t to, uint32_t from)
{
    r->entity[to].unseen |= (uint16_t)(r->entity[from].unseen & 1u << relation);
}

void ref_links_bring(ref_world *r, const ref_world *from, const uint32_t *became)
{
    r->link = ref_grown(r->link, r->link_count + from->link_count, &r->link_capacity, sizeof *r->link);
    for (uint32_t i = 0; i < from->link_count; i++) {
        ref_link x = from->link[i];
        x.source = became[x.source];
        x.target = became[x.target];
        r->entity[x.source].out[x.relation]++;
        r->entity[x.target].linked++;
        r->link[r->link_count++] = x;
    }
}

/* ---- relating ---- */

static reef_status target_check(const ref_world *r, const ref_request *x, reef_entity target)
{
    if (!ref_alive(r, target)) return REEF_NOT_ALIVE;
    if (x->relation == RELATION_CHILD) {
        const reef_status s = ref_name_may_move(r, &r->entity[x->source.index], target.index);
        if (s != REEF_OK) return s;
    }
    if (!relation_is(x->relation, REEF_ACYCLIC)) return REEF_OK;
    const bool round = target.index == x->source.index || leads(r, x->relation, target.index, x->source.index);
    return round ? REEF_CYCLE : REEF_OK;
}

static void relate_one(ref_world *r, uint32_t relation, uint32_t source, uint32_t target, uint64_t place, uint64_t data)
{
    ref_link *had = NULL;
    for (uint32_t i = 0; relation_is(relation, REEF_EXCLUSIVE) && i < r->link_count; i++)
        if (r->link[i].relation == relation && r->link[i].source == source) had = &r->link[i];
    if (had) link_set(r, had, target, place, data);
    else ref_link_add(r, relation, source, target, place, data);
}

/* A relation that isn't there: of a symmetric type both halves, and former partners lose theirs. Where only the other
 * half is there, its data is this one's, unless there is new data. */
static reef_status relate_new(ref_world *r, const ref_request *x, uint64_t place, const uint64_t *given)
{
    const uint32_t k = x->relation, a = x->source.index, b = x->target.index;
    const bool parts = relation_is(k, REEF_SYMMETRIC) && relation_is(k, REEF_EXCLUSIVE);
    const uint32_t of_a = parts ? ref_target(r, k, a) : UINT32_MAX, of_b = parts ? ref_target(r, k, b) : UINT32_MAX;
    ref_link *rest = relation_is(k, REEF_SYMMETRIC) && a != b ? ref_link_find(r, k, b, a) : NULL;
    const uint64_t data = given ? *given : rest ? rest->data : 0;
    if (rest) rest->data = data;
    const bool other = relation_is(k, REEF_SYMMETRIC) && a != b && !rest;
    relate_one(r, k, a, b, place, data);
    if (other) relate_one(r, k, b, a, 0, data);
    ref_link *lost = of_a != UINT32_MAX ? ref_link_find(r, k, of_a, a) : NULL;
    if (lost) link_remove(r, lost);
    lost = of_b != UINT32_MAX && other ? ref_link_find(r, k, of_b, b) : NULL;
    if (lost) link_remove(r, lost);
    return REEF_ADDED;
}

/* Is the half of the source there, and the other one not? */
static bool other_half_lost(const ref_world *r, const ref_request *x)
{
    const uint32_t a = x->source.index, b = x->target.index;
    return relation_is(x->relation, REEF_SYMMETRIC) && ref_link_find(r, x->relation, a, b) &&
           !ref_link_find(r, x->relation, b, a);
}

/* Makes the other half again. */
static reef_status relate_again(ref_world *r, const ref_request *x, const uint64_t *given)
{
    const ref_request back = {.relation = x->relation, .source = x->target, .target = x->source};
    return relate_new(r, &back, 0, given);
}

static bool has_data(const ref_request *x) { return model_relations[x->relation].data < TYPES_MAX; }

reef_status ref_relate(ref_world *r, const ref_request *x)
{
    if (!ref_alive(r, x->source)) return REEF_NOT_ALIVE;
    if (x->with_data && (x->wrong_size || !has_data(x))) return REEF_WRONG_SIZE;
    if (!ref_alive(r, x->target)) return REEF_NOT_ALIVE;
    const uint64_t data = x->with_data ? x->data : 0;
    ref_link *is = ref_link_find(r, x->relation, x->source.index, x->target.index);
    if (other_half_lost(r, x)) return relate_again(r, x, x->with_data ? &data : NULL);
    if (is && x->with_data) {
        ref_link *half = relation_is(x->relation, REEF_SYMMETRIC)
                             ? ref_link_find(r, x->relation, x->target.index, x->source.index)
                             : is;
        is->data = data;
        if (half) half->data = data;
    }
    if (is) return REEF_OK;
    const reef_status s = target_check(r, x, x->target);
    return s == REEF_OK ? relate_new(r, x, 0, x->with_data ? &data : NULL) : s;
}

/* Writes the first of several relations: the same one with other data, or in its place one to another target. */
static reef_status first_replace(ref_world *r, ref_link *x, uint32_t target, uint64_t data)
{
    if (target == x->target) {
        link_set(r, x, target, 0, data);
        return REEF_OK;
    }
    if (ref_link_find(r, x->relation, x->source, target)) return REEF_EXISTS;
    ref_note_link(r, x, REEF_ON_REMOVE, 0, digest_of(r, x));
    r->entity[x->target].linked--;
    x->target = target;
    x->place = 0;
    x->place = place_last(r, x->relation, target);
    x->data = data;
    r->entity[target].linked++;
    ref_note_link(r, x, REEF_ON_ADD, digest_of(r, x), 0);
    return REEF_OK;
}

/* By reef_set. */
reef_status ref_relate_by_value(ref_world *r, const ref_request *x)
{
    if (!ref_alive(r, x->source)) return REEF_NOT_ALIVE;
    if (x->wrong_size) return REEF_WRONG_SIZE;
    if (relation_is(x->relation, REEF_SYMMETRIC)) return REEF_BAD_ARGUMENT;
    const reef_status s = target_check(r, x, x->target);
    if (s != REEF_OK) return s;
    static ref_links list;
    const uint64_t data = x->with_data && has_data(x) ? x->data : 0;
    ref_targets(r, x->relation, x->source.index, &list);
    if (list.count && !relation_is(x->relation, REEF_EXCLUSIVE))
        return first_replace(r, ref_link_find(r, x->relation, x->source.index, list.at[0]->target), x->target.index,
                             data);
    relate_one(r, x->relation, x->source.index, x->target.index, 0, data);
    return list.count ? REEF_OK : REEF_ADDED;
}

/* The place in front of one of the sources. Where there is no room, all of them get new places. */
static uint64_t place_before(ref_world *r, uint32_t relation, uint32_t target, uint32_t next)
{
    static ref_links list;
    for (;;) {
        uint32_t at = 0;
        ref_sources(r, relation, target, &list);
        while (list.at[at]->source != next) at++;
        const uint64_t end = list.at[at]->place;
        uint64_t begin = at ? list.at[at - 1]->place : 0;
        if (begin == 0 && end > 2 * step) begin = end - 2 * step;
        if (begin + (end - begin) / 2 > begin) return begin + (end - begin) / 2;
        for (uint32_t i = 0; i < list.count; i++)
            ref_link_find(r, relation, list.at[i]->source, target)->place = first + i * step;
    }
}

reef_status ref_relate_before(ref_world *r, const ref_request *x)
{
    const uint32_t k = x->relation;
    if (!ref_alive(r, x->source)) return REEF_NOT_ALIVE;
    const bool alive = ref_alive(r, x->target) != NULL;
    ref_link *is = alive ? ref_link_find(r, k, x->source.index, x->target.index) : NULL;
    const reef_status s = is ? REEF_OK : target_check(r, x, x->target);
    if (s != REEF_OK) return s;
    const bool last = reef_entity_is_null(x->other);
    if (!last && !ref_alive(r, x->other)) return REEF_NOT_ALIVE;
    if (!last && (x->other.index == x->source.index || !ref_link_find(r, k, x->other.index, x->target.index)))
        return REEF_ABSENT;
    const uint64_t place = last ? 0 : place_before(r, k, x->target.index, x->other.index);
    if (!is) return relate_new(r, x, place, NULL);
    is->place = 0;
    is->place = place ? place : place_last(r, k, x->target.index);
    return other_half_lost(r, x) ? relate_again(r, x, NULL) : REEF_OK;
}

reef_status ref_unrelate(ref_world *r, const ref_request *x)
{
    const uint32_t k = x->relation, a = x->source.index, b = x->target.index;
    if (!ref_alive(r, x->source) || !ref_alive(r, x->target)) return REEF_NOT_ALIVE;
    if (!ref_link_find(r, k, a, b)) return REEF_ABSENT;
    const reef_status s = k == RELATION_CHILD ? ref_name_may_move(r, &r->entity[a], UINT32_MAX) : REEF_OK;
    if (s != REEF_OK) return s;
    link_remove(r, ref_link_find(r, k, a, b));
    ref_link *half = relation_is(k, REEF_SYMMETRIC) ? ref_link_find(r, k, b, a) : NULL;
    if (half) link_remove(r, half);
    return REEF_OK;
}

reef_status ref_retarget(ref_world *r, const ref_request *x)
{
    const uint32_t k = x->relation, a = x->source.index;
    if (!ref_alive(r, x->source) || !ref_alive(r, x->target)) return REEF_NOT_ALIVE;
    ref_link *is = ref_link_find(r, k, a, x->target.index);
    if (!is) return REEF_ABSENT;
    if (relation_is(k, REEF_SYMMETRIC)) return REEF_BAD_ARGUMENT;
    if (ref_alive(r, x->other) && ref_link_find(r, k, a, x->other.index)) return REEF_EXISTS;
    const reef_status s = target_check(r, x, x->other);
    if (s != REEF_OK) return s;
    if (relation_is(k, REEF_EXCLUSIVE)) {
        link_set(r, is, x->other.index, 0, is->data);
        return REEF_OK;
    }
    ref_note_link(r, is, REEF_ON_REMOVE, 0, digest_of(r, is));
    const uint64_t place = place_last(r, k, x->other.index);
    r->entity[is->target].linked--;
    is->target = x->other.index;
    is->place = place;
    r->entity[is->target].linked++;
    ref_note_link(r, is, REEF_ON_ADD, digest_of(r, is), 0);
    return REEF_OK;
}

/* ---- destroying ---- */

typedef struct doomed {
    uint32_t *index;
    uint32_t count, capacity;
    ref_link *end; /* relations that end: their sources live on */
    uint32_t end_count, end_capacity;
} doomed;

static bool is_doomed(const doomed *d, uint32_t index)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->index[i] == index) return true;
    return false;
}

static void doom(doomed *d, uint32_t index)
{
    if (is_doomed(d, index)) return;
    d->index = ref_grown(d->index, d->count + 1, &d->capacity, sizeof *d->index);
    d->index[d->count++] = index;
}

/* What is destroyed with what is in the list, and what ends. */
static reef_status doomed_find(const ref_world *r, doomed *d)
{
    static ref_links list;
    for (uint32_t i = 0; i < d->count; i++)
        for (uint32_t k = 0; k < RELATIONS; k++) {
            if (!relation_is(k, REEF_CASCADE)) continue;
            ref_sources(r, k, d->index[i], &list);
            for (uint32_t n = 0; n < list.count; n++) doom(d, list.at[n]->source);
        }
    for (uint32_t i = 0; i < d->count; i++)
        for (uint32_t k = 0; k < RELATIONS; k++) {
            if (relation_is(k, REEF_CASCADE)) continue;
            ref_sources(r, k, d->index[i], &list);
            for (uint32_t n = 0; n < list.count; n++) {
                if (is_doomed(d, list.at[n]->source)) continue;
                if (relation_is(k, REEF_KEEPS_TARGET)) return REEF_REFUSED;
                d->end = ref_grown(d->end, d->end_count + 1, &d->end_capacity, sizeof *d->end);
                d->end[d->end_count++] = *list.at[n];
            }
        }
    return REEF_OK;
}

reef_status ref_destroy_related(ref_world *r, const uint32_t *index, uint32_t n)
{
    doomed d = {0};
    for (uint32_t i = 0; i < n; i++) doom(&d, index[i]);
    const reef_status s = doomed_find(r, &d);
    for (uint32_t i = 0; s == REEF_OK && i < d.end_count; i++)
        link_remove(r, ref_link_find(r, d.end[i].relation, d.end[i].source, d.end[i].target));
    for (uint32_t i = 0; s == REEF_OK && i < d.count; i++) ref_links_end(r, d.index[i]); /* while all targets live */
    for (uint32_t i = d.count; s == REEF_OK && i-- > 0;) ref_die(r, d.index[i]);
    free(d.index);
    free(d.end);
    return s;
}

reef_status ref_destroy_all(ref_world *r, const uint32_t *index, uint32_t n)
{
    if (r->link_count) return ref_destroy_related(r, index, n);
    for (uint32_t i = 0; i < n; i++) ref_die(r, index[i]);
    return REEF_OK;
}
