/* The REEF_MULTI home: an entity has as many values of a type as were added, side by side in the order of adding.
 *
 *      index   entity ─► {generation, first slot of its run}
 *      page    entities   e e e . f . . . g   the owner of a slot; in the first slot of a free run: the first slot of
 *                                             the next free run + 1
 *              runs       3       1       1   in the first slot of a run: number of values, and log2 of its slots
 *              values     x x x . y . . . z
 *
 * A run has 1, 2, 4 ... slots, begins at a multiple of its length and lies on one page. A full run moves into one of
 * twice the length. A free run is halved where shorter ones are wanted, and halves are never joined again; when the
 * last value of a store goes, the store begins anew. So every vacant slot is in a free run or behind the values of an
 * entity, and for each length of runs a store has at most two slots for each value that it had at once. */
#include "storage/multi_store.h"
#include "type/value.h"
#include "storage/quarantine.h"
#include "storage/sparse_store.h"
#include "reef/multi.h"
#include "reef/ref.h"

enum { RUN_COUNT_BITS = 16 }; /* the word of a run: number of values in these bits, log2 of its slots above */

uint32_t *reef__run_word(const value_store *s, uint32_t slot)
{
    char *block = s->values.page[slot >> s->bits];
    return (uint32_t *)(void *)(block + (sizeof(reef_entity) << s->bits)) + (slot & slot_mask(s));
}
static uint32_t word_count(uint32_t word) { return word & ((1u << RUN_COUNT_BITS) - 1); }
static uint32_t word_class(uint32_t word) { return word >> RUN_COUNT_BITS; }

void reef__slot_owner_put(const value_store *s, uint32_t slot, reef_entity e)
{
    memcpy((char *)s->values.page[slot >> s->bits] + (slot & slot_mask(s)) * sizeof e, &e, sizeof e);
}

/* log2 of the length of the shortest run for this many values. */
static uint32_t span_class(uint32_t values)
{
    uint32_t class = 0;
    while (1u << class < values) class ++;
    return class;
}
static uint32_t class_most(const value_store *s) { return s->bits < REEF_RUN_CLASSES ? s->bits : REEF_RUN_CLASSES - 1; }

uint32_t reef__multi_most(const value_store *s) { return 1u << class_most(s); }
uint32_t reef__multi_values(const value_store *s, reef_entity e)
{
    return word_count(*reef__run_word(s, slot_of(s, e)));
}

/* ---- free runs ---- */

/* Makes a run free. This world owns the page. */
static void run_free(value_store *s, uint32_t slot, uint32_t class)
{
    reef__slot_owner_put(s, slot, (reef_entity){s->free_runs[class], 0});
    *reef__run_word(s, slot) = class << RUN_COUNT_BITS;
    s->free_runs[class] = slot + 1;
}

static uint32_t run_take(value_store *s, uint32_t class)
{
    const uint32_t slot = s->free_runs[class] - 1;
    s->free_runs[class] = slot_owner(s, slot).index;
    return slot;
}

/* Halves a longer free run. False: there is none, or there is no memory. */
static bool run_halve(reef_world *w, value_store *s, uint32_t class)
{
    uint32_t from = class + 1;
    while (from < REEF_RUN_CLASSES && s->free_runs[from] == 0) from++;
    if (from == REEF_RUN_CLASSES || reef__store_page_own(w, s, (s->free_runs[from] - 1) >> s->bits) == NULL)
        return false;
    const uint32_t slot = run_take(s, from);
    while (from-- > class) run_free(s, slot + (1u << from), from);
    run_free(s, slot, class);
    return true;
}

/* Makes one more free run behind all others. The slots in between become free runs too. */
static bool run_append(reef_world *w, value_store *s, uint32_t class)
{
    const uint32_t slots = 1u << class, first = (s->run_end + slots - 1) & ~(slots - 1);
    if (s->run_end > UINT32_MAX - 2 * slots) return false;
    if (first != s->run_end && reef__store_page_own(w, s, s->run_end >> s->bits) == NULL) return false;
    if (reef__store_page_own(w, s, first >> s->bits) == NULL) return false;
    while (s->run_end != first) {
        const uint32_t gap = bits_first(s->run_end);
        run_free(s, s->run_end, gap);
        s->run_end += 1u << gap;
    }
    run_free(s, first, class);
    s->run_end = first + slots;
    return true;
}

/* Makes sure that there are n free runs of a length, on pages that this world owns. */
static bool runs_ready(reef_world *w, value_store *s, uint32_t class, uint32_t n)
{
    uint32_t ready = 0;
    for (uint32_t at = s->free_runs[class]; at && ready < n; at = slot_owner(s, at - 1).index, ready++)
        if (reef__store_page_own(w, s, (at - 1) >> s->bits) == NULL) return false;
    for (; ready < n; ready++)
        if (!run_halve(w, s, class) && !run_append(w, s, class)) return false;
    for (uint32_t at = s->free_runs[class]; quarantine_on(w) && at && ready-- > 0; at = slot_owner(s, at - 1).index)
        reef__quarantine_open_slots(w, s, at - 1, 1u << class);
    return true;
}

/* ---- the values of one entity ---- */

bool reef__multi_prepare(reef_world *w, value_store *s, const reef_entity *e, uint32_t n, uint32_t values)
{
    for (uint32_t i = 0; e && i < n; i++)
        if (reef__store_index_own(w, s, e[i].index) == NULL) return false;
    return runs_ready(w, s, span_class(values), n);
}

void *reef__multi_raw(const value_store *s, uint32_t values)
{
    return slot_value(s, s->free_runs[span_class(values)] - 1);
}

static void run_give(reef_world *w, value_store *s, reef_entity e, uint32_t slot, uint32_t class, uint32_t values)
{
    for (uint32_t i = 0; i < 1u << class; i++) reef__slot_owner_put(s, slot + i, i < values ? e : (reef_entity){0, 0});
    *reef__run_word(s, slot) = class << RUN_COUNT_BITS | values;
    *index_entry(s, e.index) = (uint64_t)e.generation << 32 | slot;
    values_mark(w, s, slot >> s->bits);
}

void reef__multi_put(reef_world *w, value_store *s, reef_entity e, uint32_t values)
{
    const uint32_t class = span_class(values);
    run_give(w, s, e, run_take(s, class), class, values);
    s->run_count++;
    s->count += values;
    for (uint32_t i = 0; i < values && s->relation; i++)
        reef__relations_by->index_add(w, s, e, slot_value(s, slot_of(s, e) + i));
}

/* Makes a run free, whose slots then belong to no entity. */
static void run_leave(reef_world *w, value_store *s, uint32_t slot)
{
    const uint32_t class = word_class(*reef__run_word(s, slot));
    for (uint32_t i = 0; i < 1u << class; i++) reef__slot_owner_put(s, slot + i, (reef_entity){0, 0});
    run_free(s, slot, class);
    values_mark(w, s, slot >> s->bits);
}

void reef__multi_forget(reef_world *w, value_store *s, reef_entity e)
{
    s->count -= reef__multi_values(s, e);
    run_leave(w, s, slot_of(s, e));
    *index_entry(s, e.index) = 0;
    if (--s->run_count > 0) return;
    s->run_end = 0;
    memset(s->free_runs, 0, sizeof s->free_runs);
}

bool reef__run_extend(reef_world *w, value_store *s, const type *t, reef_entity e)
{
    const uint32_t slot = slot_of(s, e), n = reef__multi_values(s, e), class = word_class(*reef__run_word(s, slot));
    if (reef__store_page_own(w, s, slot >> s->bits) == NULL) return false;
    if (n < 1u << class) return true;
    if (reef__store_index_own(w, s, e.index) == NULL || !runs_ready(w, s, class + 1, 1)) return false;
    const bool left = reef__quarantine_page(w, s, slot >> s->bits);
    const uint32_t to = run_take(s, class + 1);
    for (uint32_t i = 0; i < n; i++) reef__value_move(t, slot_value(s, to + i), slot_value(s, slot + i));
    run_give(w, s, e, to, class + 1, n);
    run_leave(w, s, slot);
    if (!left) reef__quarantine_slots(w, s, slot, n, e);
    return true;
}

/* ---- reading ---- */

uint32_t reef__store_count(const value_store *s, reef_entity e)
{
    if (reef_store_find(s, e) == NULL) return 0;
    return s->multi ? reef__multi_values(s, e) : 1;
}

uint32_t reef__store_values(const reef_world *w, const type *t, reef_entity e)
{
    return t->home == REEF_MULTI ? reef__store_count(store_of(w, t->id), e)
                                 : reef_has_id(w, e, (reef_component){t->id});
}

const void *reef__store_nth(const value_store *s, reef_entity e, uint32_t i)
{
    const char *first = reef_store_find(s, e);
    if (first == NULL || i >= (s->multi ? reef__multi_values(s, e) : 1)) return NULL;
    return first + (size_t)i * s->size;
}

const void *reef__span_of(const reef_world *w, reef_entity e, reef_component c, const void *first, uint32_t *count)
{
    const uint32_t n = first ? reef__store_values(w, reef__type_of(c.id), e) : 0;
    if (count) *count = n;
    return first;
}

const void *reef_get_all_id(const reef_world *w, reef_entity e, reef_component c, uint32_t *count)
{
    return reef__span_of(w, e, c, reef_get_id(w, e, c), count);
}

uint32_t reef_count_on_id(const reef_world *w, reef_entity e, reef_component c)
{
    return WORLD_GIVEN(w) && reef__type_of(c.id) && reef_is_alive(w, e) ? reef__store_values(w, reef__type_of(c.id), e)
                                                                        : 0;
}

/* ---- validation ---- */

/* The number of free runs in a list, all links of which lead to free runs of its length. */
static uint32_t list_length(const value_store *s, uint32_t class)
{
    uint32_t n = 0;
    for (uint32_t at = s->free_runs[class]; at && n <= s->run_end; at = slot_owner(s, at - 1).index, n++)
        if (at > s->run_end || *reef__run_word(s, at - 1) != class << RUN_COUNT_BITS ||
            slot_owner(s, at - 1).generation)
            return UINT32_MAX;
    return n;
}

/* What is wrong with the run at `slot` (NULL: nothing), and how many slots it has. */
static const char *run_wrong(const value_store *s, uint32_t slot, uint32_t *slots)
{
    if (s->values.page[slot >> s->bits] == NULL) return "a page of runs that is missing: slot";
    const uint32_t word = *reef__run_word(s, slot), class = word_class(word), n = word_count(word);
    const reef_entity e = slot_owner(s, slot);
    if (class > class_most(s) || n > 1u << class || (slot & ((1u << class) - 1)))
        return "a run of a wrong length at slot";
    *slots = 1u << class;
    if ((n != 0) != (e.generation != 0)) return "a run of a wrong count at slot";
    for (uint32_t i = 1; i < *slots; i++) {
        const reef_entity other = slot_owner(s, slot + i);
        if (i < n ? !reef_entity_equal(other, e) : other.generation != 0)
            return "another entity's value in the run at slot";
    }
    return n && (uint32_t)*index_entry(s, e.index) != slot ? "a run that isn't found: slot" : NULL;
}

const char *reef__multi_wrong(const value_store *s, uint64_t *number)
{
    uint32_t free_count[REEF_RUN_CLASSES] = {0}, runs = 0, slots = 0;
    uint64_t values = 0;
    if (s->run_end && (s->run_end - 1) >> s->bits >= s->values.count) return "runs without pages";
    for (uint32_t slot = 0; slot < s->run_end; slot += slots) {
        const char *what = run_wrong(s, slot, &slots);
        *number = slot;
        if (what) return what;
        const uint32_t word = *reef__run_word(s, slot), n = word_count(word);
        if (n == 0) free_count[word_class(word)]++;
        runs += n != 0;
        values += n;
    }
    for (uint32_t class = 0; class < REEF_RUN_CLASSES; class ++) {
        *number = class;
        if (list_length(s, class) != free_count[class]) return "free runs that aren't in their list, or twice: class";
    }
    *number = s->run_end;
    return runs == s->run_count && values == s->count ? NULL : "a wrong count of runs or values in slots up to";
}
