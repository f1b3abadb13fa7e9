/* Names of entities.
 *
 *     by_text:  bucket -> entry number + 1 ─┐
 *                                           ├─► entries: {entity, text} of 256 bytes, without holes: the last one
 *     by_index: bucket -> entry number + 1 ─┘            fills a hole
 *
 * Both indices are open addressing with linear probing, of the same size, at most three quarters full. A removal shifts
 * back what follows, so there are no deleted entries to skip. All three live in copy-on-write pages. Every change first
 * owns each page that it will write (name_own_...), which may fail and changes nothing visible; then it writes, which
 * can't fail. Entries and buckets depend on history, so nothing visible follows their order.
 *
 * The key of by_text is {parent of the entity, text}: a name belongs to its scope. So whatever changes a ChildOf takes
 * the entry out before, and puts it in again afterwards (reef__name_leaves and reef__name_arrives). Where there is no
 * memory for that, or parents change as a whole (loading, merging), by_text is dropped: the names are *unscoped*, and
 * finding one walks all entries, as does an arrival. The next name that is set, or reef__names_reindex, makes by_text
 * anew. */
#include "storage/name_index.h"
#include "base/byte_hash.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/relation_index.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "reef/hierarchy.h"
#include "reef/ref.h"
#include <inttypes.h>

_Static_assert(sizeof(name_entry) == 256, "a name fills its entry");

#define NAME_NONE 0xFFFFFFFFu /* no entry has this number */
#define NAME_BUCKETS_MAX 0x80000000u

const paged_type reef__pages_names = {
    NAMES_PER_PAGE * sizeof(name_entry), ARENA_DIRECTORY, MEMORY_NAMES, NULL, false, 0, NULL, NULL};
const paged_type reef__pages_buckets = {
    NAME_BUCKETS_PER_PAGE * sizeof(uint32_t), ARENA_DIRECTORY, MEMORY_NAMES, NULL, false, 0, NULL, NULL};

static bool name_own_page(reef_world *w, reef_paged *p, const paged_type *pages, uint32_t page)
{
    if (reef__page_own(w, p, pages, page) == NULL) return false;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    p->version[page] = w->hot.version; /* what is written now isn't what was hashed before */
    return true;
}

/* ---- entries ---- */

static name_entry *name_at(const reef_world *w, uint32_t number)
{
    return (name_entry *)w->state.name_entries.page[number / NAMES_PER_PAGE] + number % NAMES_PER_PAGE;
}

const char *reef__name_at_number(const reef_world *w, uint32_t number, reef_entity *e)
{
    *e = name_at(w, number)->entity;
    return name_at(w, number)->text;
}

static bool name_own_entry(reef_world *w, uint32_t number)
{
    return name_own_page(w, &w->state.name_entries, &reef__pages_names, number / NAMES_PER_PAGE);
}

/* ---- the two indices ---- */

typedef enum name_key { NAME_BY_TEXT, NAME_BY_INDEX } name_key;

static reef_paged *name_buckets(reef_world *w, name_key key)
{
    return key == NAME_BY_TEXT ? &w->state.name_by_text : &w->state.name_by_index;
}

/* Takes the middle bits of the product, which spread successive indices evenly. (With the folded product of 32 bits,
 * destroying an entity without a name beside two million with one took 1,920 instructions instead of 1,120: its bucket
 * was behind a long run of others.) */
static uint32_t name_hash_index(uint32_t index) { return (uint32_t)(index * 0x9E3779B97F4A7C15u >> 32); }

/* The scope of an entity's name: its parent, or null. */
static reef_entity name_scope(const reef_world *w, reef_entity e)
{
    const relation_value *v = store_find(w, reef_id(ChildOf).id, e);
    return v ? v->target : (reef_entity){0, 0};
}

/* The hash of the first `length` bytes of a text in a scope. */
static uint32_t name_hash_text(reef_entity scope, const char *text, uint32_t length)
{
    return hash_chars(text, length) + name_hash_index(scope.index) * (scope.generation != 0);
}

static uint32_t name_hash(const reef_world *w, name_key key, uint32_t number)
{
    const name_entry *n = name_at(w, number);
    if (key == NAME_BY_INDEX) return name_hash_index(n->entity.index);
    return name_hash_text(name_scope(w, n->entity), n->text, (uint32_t)strlen(n->text));
}

static uint32_t *name_bucket(const reef_paged *p, uint32_t i)
{
    return (uint32_t *)p->page[i / NAME_BUCKETS_PER_PAGE] + i % NAME_BUCKETS_PER_PAGE;
}

static uint32_t name_mask(const reef_world *w) { return w->state.name_buckets - 1; }

/* The bucket of an entry that exists. */
static uint32_t name_position(reef_world *w, name_key key, uint32_t number)
{
    const reef_paged *p = name_buckets(w, key);
    uint32_t i = name_hash(w, key, number) & name_mask(w);
    while (*name_bucket(p, i) != number + 1) i = (i + 1) & name_mask(w);
    return i;
}

static bool name_own_bucket(reef_world *w, name_key key, uint32_t i)
{
    return name_own_page(w, name_buckets(w, key), &reef__pages_buckets, i / NAME_BUCKETS_PER_PAGE);
}

/* Owns the buckets from i up to and including the first free one. */
static COLD bool name_own_cluster(reef_world *w, name_key key, uint32_t i)
{
    const reef_paged *p = name_buckets(w, key);
    uint32_t mask = name_mask(w);
    if (!name_own_bucket(w, key, i)) return false;
    while (*name_bucket(p, i) != 0) {
        i = (i + 1) & mask;
        if (i % NAME_BUCKETS_PER_PAGE == 0 && !name_own_bucket(w, key, i)) return false;
    }
    return true;
}

static void name_insert(const reef_paged *p, uint32_t mask, uint32_t hash, uint32_t number)
{
    uint32_t i = hash & mask;
    while (*name_bucket(p, i) != 0) i = (i + 1) & mask;
    *name_bucket(p, i) = number + 1;
}

/* Empties bucket i. The buckets that follow move back as far as their hash allows. */
static void name_erase(reef_world *w, name_key key, uint32_t i)
{
    const reef_paged *p = name_buckets(w, key);
    uint32_t mask = name_mask(w), hole = i;
    for (;;) {
        i = (i + 1) & mask;
        uint32_t n = *name_bucket(p, i);
        if (n == 0) break;
        uint32_t home = name_hash(w, key, n - 1);
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        *name_bucket(p, hole) = n;
        hole = i;
    }
    *name_bucket(p, hole) = 0;
}

/* Is entry `number` the name of these bytes in this scope? */
static bool name_is(const reef_world *w, uint32_t number, reef_entity scope, const char *text, uint32_t length)
{
    const name_entry *n = name_at(w, number);
    return memcmp(n->text, text, length) == 0 && n->text[length] == 0 &&
           reef_entity_equal(name_scope(w, n->entity), scope);
}

/* Of an entity that lost its parent the name may be there twice until reef__names_reindex; the smallest index has it.
 * Entry `but` isn't looked at. */
static COLD uint32_t name_find_unscoped(const reef_world *w, reef_entity scope, const char *text, uint32_t length,
                                        uint32_t but)
{
    uint32_t found = NAME_NONE;
    for (uint32_t n = 0; n < w->state.name_count; n++)
        if (n != but && name_is(w, n, scope, text, length) &&
            (found == NAME_NONE || name_at(w, n)->entity.index < name_at(w, found)->entity.index))
            found = n;
    return found;
}

static uint32_t name_find_text(const reef_world *w, reef_entity scope, const char *text, uint32_t length)
{
    if (w->state.name_count == 0 || length > REEF_NAME_MAX) return NAME_NONE;
    if (w->state.names_unscoped) return name_find_unscoped(w, scope, text, length, NAME_NONE);
    for (uint32_t i = name_hash_text(scope, text, length) & name_mask(w);; i = (i + 1) & name_mask(w)) {
        uint32_t n = *name_bucket(&w->state.name_by_text, i);
        if (n == 0) return NAME_NONE;
        if (name_is(w, n - 1, scope, text, length)) return n - 1;
    }
}

static uint32_t name_find_entity(const reef_world *w, reef_entity e)
{
    if (w->state.name_count == 0) return NAME_NONE;
    for (uint32_t i = name_hash_index(e.index) & name_mask(w);; i = (i + 1) & name_mask(w)) {
        uint32_t n = *name_bucket(&w->state.name_by_index, i);
        if (n == 0) return NAME_NONE;
        if (name_at(w, n - 1)->entity.index != e.index) continue;
        return reef_entity_equal(name_at(w, n - 1)->entity, e) ? n - 1 : NAME_NONE;
    }
}

/* ---- growth ---- */

/* Makes an index of all names. False: there is no memory. */
static COLD bool name_build(reef_world *w, name_key key, uint32_t buckets, reef_paged *out)
{
    const uint32_t pages = buckets / NAME_BUCKETS_PER_PAGE;
    bool ok = reef__pages_grow(w, out, &reef__pages_buckets, pages);
    for (uint32_t i = 0; ok && i < pages; i++) ok = name_own_page(w, out, &reef__pages_buckets, i);
    for (uint32_t n = 0; ok && n < w->state.name_count; n++) name_insert(out, buckets - 1, name_hash(w, key, n), n);
    if (!ok) reef__pages_drop(w, out, &reef__pages_buckets);
    return ok;
}

static COLD void names_unscope(reef_world *w)
{
    reef__pages_drop(w, &w->state.name_by_text, &reef__pages_buckets);
    w->state.names_unscoped = true;
}

/* Makes room for `more` further names in both indices, and by_text if it isn't there. New indices are complete before
 * the old ones are freed. */
static bool name_reserve_buckets(reef_world *w, uint64_t more)
{
    state *s = &w->state;
    reef_paged text = {0}, index = {0};
    uint32_t buckets = s->name_buckets;
    while (s->name_count + more > buckets / 4 * 3) {
        if (buckets >= NAME_BUCKETS_MAX) return false;
        buckets = buckets ? buckets * 2 : NAME_BUCKETS_PER_PAGE;
    }
    const bool larger = buckets != s->name_buckets;
    if (!larger && !s->names_unscoped) return true;
    if (!name_build(w, NAME_BY_TEXT, buckets, &text)) return false;
    if (larger && !name_build(w, NAME_BY_INDEX, buckets, &index))
        return reef__pages_drop(w, &text, &reef__pages_buckets), false;
    reef__pages_drop(w, &s->name_by_text, &reef__pages_buckets);
    s->name_by_text = text;
    s->names_unscoped = false;
    if (!larger) return true;
    reef__pages_drop(w, &s->name_by_index, &reef__pages_buckets);
    s->name_by_index = index;
    s->name_buckets = buckets;
    return true;
}

/* ---- forgetting ---- */

void reef__names_changed(reef_world *w)
{
    if (w->state.name_count) w->slow |= SLOW_NAMES;
    else w->slow &= ~SLOW_NAMES;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
}

/* Owns what removing entry `number` writes in one index: its cluster, and the bucket of the last entry, which gets
 * another number. (If the removal shifts that bucket, it is in the cluster.) */
static bool name_own_removal(reef_world *w, name_key key, uint32_t number)
{
    uint32_t last = w->state.name_count - 1;
    if (key == NAME_BY_TEXT && w->state.names_unscoped) return true;
    return name_own_cluster(w, key, name_position(w, key, number)) &&
           (last == number || name_own_bucket(w, key, name_position(w, key, last)));
}

bool reef__name_prepare_forget(reef_world *w, reef_entity e)
{
    uint32_t number = name_find_entity(w, e);
    if (number == NAME_NONE) return true;
    return name_own_entry(w, number) && name_own_removal(w, NAME_BY_TEXT, number) &&
           name_own_removal(w, NAME_BY_INDEX, number);
}

COLD bool reef__names_own_all(reef_world *w)
{
    state *s = &w->state;
    for (uint32_t i = 0; i < s->name_entries.count; i++)
        if (!name_own_page(w, &s->name_entries, &reef__pages_names, i)) return false;
    for (uint32_t i = 0; i < s->name_buckets / NAME_BUCKETS_PER_PAGE; i++)
        if ((!s->names_unscoped && !name_own_page(w, &s->name_by_text, &reef__pages_buckets, i)) ||
            !name_own_page(w, &s->name_by_index, &reef__pages_buckets, i))
            return false;
    return true;
}

/* Takes an entry out of an index, where the last entry gets its number. */
static void name_remove(reef_world *w, name_key key, uint32_t number, uint32_t last)
{
    if (key == NAME_BY_TEXT && w->state.names_unscoped) return;
    name_erase(w, key, name_position(w, key, number));
    if (number != last) *name_bucket(name_buckets(w, key), name_position(w, key, last)) = number + 1;
}

COLD void reef__name_forget(reef_world *w, reef_entity e)
{
    const uint32_t number = name_find_entity(w, e), last = w->state.name_count - 1;
    if (number == NAME_NONE) return;
    ASSERT(paged_owned(&w->state.name_entries, number / NAMES_PER_PAGE, w->hot.fork_version));
    name_remove(w, NAME_BY_TEXT, number, last);
    name_remove(w, NAME_BY_INDEX, number, last);
    if (number != last) *name_at(w, number) = *name_at(w, last);
    w->state.name_count = last;
    reef__names_changed(w);
}

/* ---- scopes ---- */

void reef__name_leaves(reef_world *w, reef_entity e)
{
    const uint32_t number = w->state.names_unscoped ? NAME_NONE : name_find_entity(w, e);
    if (number == NAME_NONE) return;
    const uint32_t i = name_position(w, NAME_BY_TEXT, number);
    if (w->untargeted || !name_own_cluster(w, NAME_BY_TEXT, i)) names_unscope(w);
    else name_erase(w, NAME_BY_TEXT, i);
}

/* Takes an entry out that is in no scope, or still in that of entities without a parent, since reef__name_leaves wasn't
 * called for an entity that had none. False: there is no memory. */
static bool name_leave_root(reef_world *w, uint32_t number)
{
    const char *text = name_at(w, number)->text;
    uint32_t i = hash_text(text) & name_mask(w), n;
    while ((n = *name_bucket(&w->state.name_by_text, i)) != 0 && n != number + 1) i = (i + 1) & name_mask(w);
    if (n == 0) return true;
    if (!name_own_cluster(w, NAME_BY_TEXT, i)) return false;
    name_erase(w, NAME_BY_TEXT, i);
    return true;
}

void reef__name_arrives(reef_world *w, reef_entity e)
{
    const uint32_t number = w->state.names_unscoped && w->untargeted ? NAME_NONE : name_find_entity(w, e);
    if (number == NAME_NONE) return;
    const char *text = name_at(w, number)->text;
    const reef_entity scope = name_scope(w, e);
    const uint32_t length = (uint32_t)strlen(text);
    bool taken;
    if (UNLIKELY(w->state.names_unscoped)) { /* because there was no memory for by_text */
        taken = name_find_unscoped(w, scope, text, length, number) != NAME_NONE;
    } else {
        const uint32_t hash = name_hash_text(scope, text, length);
        if (w->untargeted || !name_leave_root(w, number) || !name_own_cluster(w, NAME_BY_TEXT, hash & name_mask(w))) {
            names_unscope(w);
            return;
        }
        taken = name_find_text(w, scope, text, length) != NAME_NONE;
        name_insert(&w->state.name_by_text, name_mask(w), hash, number);
    }
    if (!taken) return;
    if (reef__name_prepare_forget(w, e)) reef__name_forget(w, e);
    else names_unscope(w);
}

COLD bool reef__name_prepare_orphan(reef_world *w, reef_entity e)
{
    const uint32_t number = name_find_entity(w, e);
    return number == NAME_NONE ||
           (reef__name_prepare_forget(w, e) &&
            (w->state.names_unscoped ||
             name_own_cluster(w, NAME_BY_TEXT, hash_text(name_at(w, number)->text) & name_mask(w))));
}

COLD void reef__names_unscope(reef_world *w)
{
    if (w->state.name_count && !w->state.names_unscoped) names_unscope(w);
}

/* Has an entity with a smaller index the same name in the same scope? */
static bool name_is_second(const reef_world *w, uint32_t number)
{
    const name_entry *x = name_at(w, number);
    const reef_entity scope = name_scope(w, x->entity);
    const uint32_t length = (uint32_t)strlen(x->text);
    for (uint32_t i = name_hash_text(scope, x->text, length) & name_mask(w);; i = (i + 1) & name_mask(w)) {
        const uint32_t n = *name_bucket(&w->state.name_by_text, i);
        if (n == 0) return false;
        if (name_at(w, n - 1)->entity.index < x->entity.index && name_is(w, n - 1, scope, x->text, length)) return true;
    }
}

COLD bool reef__names_reindex(reef_world *w)
{
    if (!w->state.names_unscoped) return true;
    if (!name_reserve_buckets(w, 0)) return false;
    for (uint32_t n = w->state.name_count; n-- > 0;) {
        const reef_entity e = name_at(w, n)->entity;
        if (!name_is_second(w, n)) continue;
        if (!reef__name_prepare_forget(w, e)) return names_unscope(w), false;
        reef__name_forget(w, e);
    }
    return true;
}

/* The column, from 1, of the first dot in a name; 0: there is none. */
static uint32_t name_dot(const char *text)
{
    const char *dot = strchr(text, '.');
    return dot ? (uint32_t)(dot - text) + 1 : 0;
}

reef_status reef__name_may_move(const reef_world *w, reef_entity e, reef_entity parent)
{
    const uint32_t number = w->state.name_count ? name_find_entity(w, e) : NAME_NONE;
    if (number == NAME_NONE) return REEF_OK;
    const char *text = name_at(w, number)->text;
    if (!reef_entity_is_null(parent) && name_dot(text)) return REEF_BAD_TEXT;
    const uint32_t found = name_find_text(w, parent, text, (uint32_t)strlen(text));
    return found == NAME_NONE || found == number ? REEF_OK : REEF_NAME_TAKEN;
}

/* ---- setting ---- */

uint32_t reef__name_bad_column(const char *text, uint32_t *length)
{
    uint32_t i = 0;
    bool part = false; /* the part that is being read isn't empty */
    for (; text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        bool at_end = i == 0 || text[i + 1] == 0;
        if (i == REEF_NAME_MAX || c < 32 || c == 127 || (c == ' ' && at_end) || (c == '.' && !part)) return i + 1;
        part = c != '.';
    }
    *length = i;
    return part ? 0 : i + 1;
}

static bool name_add(reef_world *w, reef_entity e, const char *text, uint32_t length)
{
    const uint32_t number = w->state.name_count, hash = name_hash_text(name_scope(w, e), text, length);
    if (!name_reserve_buckets(w, 1) || !name_own_entry(w, number)) return false;
    if (!name_own_cluster(w, NAME_BY_TEXT, hash & name_mask(w))) return false;
    if (!name_own_cluster(w, NAME_BY_INDEX, name_hash_index(e.index) & name_mask(w))) return false;
    reef__name_put(w, e, text);
    return true;
}

COLD bool reef__names_prepare(reef_world *w, uint64_t n)
{
    const uint64_t end = w->state.name_count + n;
    if (n == 0) return true;
    if (end > UINT32_MAX || !name_reserve_buckets(w, n)) return false;
    for (uint64_t k = w->state.name_count; k < end; k += NAMES_PER_PAGE)
        if (!name_own_entry(w, (uint32_t)k)) return false;
    return name_own_entry(w, (uint32_t)end - 1) && reef__names_own_all(w);
}

void reef__name_put(reef_world *w, reef_entity e, const char *text)
{
    const uint32_t number = w->state.name_count, length = (uint32_t)strlen(text);
    name_entry *n = name_at(w, number);
    n->entity = e;
    memcpy(n->text, text, length + 1);
    if (!w->state.names_unscoped)
        name_insert(&w->state.name_by_text, name_mask(w), name_hash_text(name_scope(w, e), text, length), number);
    name_insert(&w->state.name_by_index, name_mask(w), name_hash_index(e.index), number);
    w->state.name_count = number + 1;
    reef__names_changed(w);
}

/* Gives an entry another text. The removal can only bring the first free bucket of the new text nearer, so the owned
 * buckets suffice. */
static bool name_change(reef_world *w, uint32_t number, const char *text, uint32_t length)
{
    if (!name_reserve_buckets(w, 1)) return false;
    const uint32_t hash = name_hash_text(name_scope(w, name_at(w, number)->entity), text, length);
    const uint32_t old = name_position(w, NAME_BY_TEXT, number);
    if (!name_own_entry(w, number) || !name_own_cluster(w, NAME_BY_TEXT, old)) return false;
    if (!name_own_cluster(w, NAME_BY_TEXT, hash & name_mask(w))) return false;
    name_erase(w, NAME_BY_TEXT, old);
    memcpy(name_at(w, number)->text, text, length + 1);
    name_insert(&w->state.name_by_text, name_mask(w), hash, number);
    return true;
}

COLD reef_status reef_set_name(reef_world *w, reef_entity e, const char *name)
{
    static const char operation[] = "reef_set_name";
    const reef_component none = {0};
    char text[REEF_NAME_MAX + 1]; /* a copy: `name` may point into a page that is about to be copied */
    uint32_t length = 0;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->running) return reef__failure(w, REEF_LOCKED, operation, none, e, 0);
    if (!reef_is_alive(w, e)) return reef__failure(w, REEF_NOT_ALIVE, operation, none, e, 0);
    if (name == NULL) {
        if (!reef__name_prepare_forget(w, e)) return reef__failure(w, REEF_NO_MEMORY, operation, none, e, 0);
        reef__name_forget(w, e);
        return REEF_OK;
    }
    const reef_entity scope = name_scope(w, e);
    uint32_t bad = reef__name_bad_column(name, &length);
    if (bad == 0 && !reef_entity_is_null(scope)) bad = name_dot(name);
    if (bad) return reef__failure(w, REEF_BAD_TEXT, operation, none, e, bad);
    memcpy(text, name, length + 1);
    uint32_t taken = name_find_text(w, scope, text, length), old = name_find_entity(w, e);
    if (taken != NAME_NONE && taken == old) return REEF_OK;
    if (taken != NAME_NONE) return reef__failure(w, REEF_NAME_TAKEN, operation, none, name_at(w, taken)->entity, 0);
    bool done = old == NAME_NONE ? name_add(w, e, text, length) : name_change(w, old, text, length);
    return done ? REEF_OK : reef__failure(w, REEF_NO_MEMORY, operation, none, e, 0);
}

/* ---- reading ---- */

const char *reef_name(const reef_world *w, reef_entity e)
{
    if (!WORLD_GIVEN(w)) return NULL;
    uint32_t found = name_find_entity(w, e); /* a dead entity has no entry */
    return found == NAME_NONE ? NULL : name_at(w, found)->text;
}

/* The entity of this name in a scope; null if there is none. */
static reef_entity name_owner(const reef_world *w, reef_entity scope, const char *text, size_t length)
{
    const uint32_t found = length > REEF_NAME_MAX ? NAME_NONE : name_find_text(w, scope, text, (uint32_t)length);
    return found == NAME_NONE ? (reef_entity){0, 0} : name_at(w, found)->entity;
}

/* Goes down from an entity, a part of the path at each step. */
static reef_entity path_follow(const reef_world *w, reef_entity e, const char *path)
{
    while (!reef_entity_is_null(e) && *path) {
        const size_t length = strcspn(path, ".");
        e = name_owner(w, e, path, length);
        path += length + (path[length] == '.' && path[length + 1]);
        if (*path == '.') return (reef_entity){0, 0}; /* an empty part, or none behind the last dot */
    }
    return e;
}

reef_entity reef_find_below(const reef_world *w, reef_entity ancestor, const char *path)
{
    const reef_entity none = {0, 0};
    if (!WORLD_GIVEN(w) || path == NULL || *path == 0 || w->state.name_count == 0) return none;
    if (!reef_entity_is_null(ancestor)) return path_follow(w, ancestor, path);
    /* The name of an entity without a parent may have dots: the longest one is tried first. */
    size_t length = strlen(path);
    reef_entity found = name_owner(w, none, path, length);
    while (reef_entity_is_null(found) && store_of(w, reef_id(ChildOf).id)->count && length > 0) {
        for (length--; length > 0 && path[length] != '.'; length--) {}
        if (length == 0 || path[length + 1] == 0) continue;
        found = path_follow(w, name_owner(w, none, path, length), path + length + 1);
    }
    return found;
}

reef_entity reef_find(const reef_world *w, const char *name) { return reef_find_below(w, (reef_entity){0, 0}, name); }

/* The length of an entity's path, or of its part behind the ancestor. 0: there is none. */
static size_t path_length(const reef_world *w, reef_entity e)
{
    size_t length = 0;
    for (; !reef_entity_is_null(e); e = name_scope(w, e)) {
        const uint32_t found = name_find_entity(w, e);
        if (found == NAME_NONE) return 0;
        length += strlen(name_at(w, found)->text) + (length > 0);
    }
    return length;
}

size_t reef_path(const reef_world *w, reef_entity e, char *text, size_t size)
{
    const size_t length = WORLD_GIVEN(w) ? path_length(w, e) : 0;
    if (text && size) text[length < size ? length : size - 1] = 0;
    size_t end = length; /* from the last part to the first */
    for (; text && size && end > 0; e = name_scope(w, e)) {
        const char *part = name_at(w, name_find_entity(w, e))->text;
        size_t n = strlen(part);
        end -= n;
        if (end < size - 1) memcpy(text + end, part, n < size - 1 - end ? n : size - 1 - end);
        if (end > 0 && --end < size - 1) text[end] = '.';
    }
    return length;
}

/* ---- checking ---- */

/* Does an index hold as many numbers as there are names? Since reef__names_validate finds each of them, there are no
 * others. */
static bool name_index_counts(const reef_world *w, const reef_paged *p)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < w->state.name_buckets; i++) {
        uint32_t n = *name_bucket(p, i);
        if (n > w->state.name_count) return false;
        used += n != 0;
    }
    return used == w->state.name_count;
}

COLD reef_status reef__names_validate(const reef_world *w, char *message, size_t size)
{
    const state *s = &w->state;
    bool slow = (w->slow & SLOW_NAMES) != 0;
    if (slow != (s->name_count != 0)) return reef__corrupt(message, size, "names: the flag of the slow path is wrong");
    if (s->name_count > s->name_buckets / 4 * 3) return reef__corrupt(message, size, "names: the indices are too full");
    if (!s->names_unscoped && !name_index_counts(w, &s->name_by_text))
        return reef__corrupt(message, size, "names: the index by text is wrong");
    if (!name_index_counts(w, &s->name_by_index))
        return reef__corrupt(message, size, "names: the index by entity is wrong");
    for (uint32_t n = 0; n < s->name_count; n++) {
        const name_entry *e = name_at(w, n);
        uint32_t length = 0;
        const reef_entity scope = name_scope(w, e->entity);
        if (memchr(e->text, 0, sizeof e->text) == NULL || reef__name_bad_column(e->text, &length) ||
            (!reef_entity_is_null(scope) && name_dot(e->text)))
            return reef__corrupt(message, size, "names: name %" PRIu32 " isn't a path", n);
        if (!reef_is_alive(w, e->entity))
            return reef__corrupt(message, size, "names: \"%s\" belongs to the dead entity %" PRIu32 "v%" PRIu32,
                                 e->text, e->entity.index, e->entity.generation);
        if (name_find_text(w, scope, e->text, length) != n || name_find_entity(w, e->entity) != n)
            return reef__corrupt(message, size, "names: \"%s\" of entity %" PRIu32 "v%" PRIu32 " isn't found", e->text,
                                 e->entity.index, e->entity.generation);
    }
    return REEF_OK;
}
