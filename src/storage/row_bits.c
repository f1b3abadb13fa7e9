/* The REEF_BIT home: one bit for a row, kept by place and not by entity.
 *
 *   store of a type    words[unit] ─► 16 words: bit `row` of a unit is set: the entity at (unit, row) has the switch
 *   store of marks     the same; bit `row` is set: a component of the entity is disabled, or the entity is
 *
 * The *key* of a store says which: the id of a component, the same with BIT_DISABLED, or BIT_DISABLED alone. The mark
 * of a component can only be set where the component is, and it goes with the component.
 *
 * Setting a bit moves nothing; a row that moves takes its bits along. A table notes in `bits` which stores may have
 * bits of its rows (bit_mask), so that tables without switches pay one test for a move, and others look into those
 * stores only. Bits of rows that don't exist are zero. A page is made with the first bit that is set in its unit. */
#include "storage/row_bits.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/sparse_store.h"
#include "storage/table.h"

int reef__bit_key_compare(uint32_t a, uint32_t b)
{
    const type *t = reef__type_of(a & ~BIT_DISABLED), *other = reef__type_of(b & ~BIT_DISABLED);
    if ((a ^ b) & BIT_DISABLED) return a & BIT_DISABLED ? 1 : -1;
    return t && other ? reef__type_compare(t, other) : (t != NULL) - (other != NULL);
}

bool reef__bit_has(const reef_world *w, uint32_t key, uint32_t place) { return bit_read(bit_store_of(w, key), place); }

/* The words of a unit for writing. */
static uint64_t *words_own(reef_world *w, bit_store *b, uint32_t unit)
{
    uint64_t *words = reef__page_own(w, &b->words, &reef__pages_bits, unit);
    if (words) b->words.version[unit] = w->hot.version;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return words;
}

/* For commits: this world owns the page. */
static void bit_put(bit_store *b, uint32_t place, bool on)
{
    uint64_t *words = b->words.page[place_unit(place)], bit = 1ull << (place_row(place) % 64);
    uint64_t *word = &words[place_row(place) / 64];
    if ((*word & bit) != 0 && !on) b->switched--;
    if ((*word & bit) == 0 && on) b->switched++;
    *word = on ? *word | bit : *word & ~bit;
}

static COLD bit_store *store_make(reef_world *w, uint32_t key)
{
    state *s = &w->state;
    bit_store *found = (bit_store *)bit_store_of(w, key);
    if (found) return found;
    memory *m = &w->family->memory;
    if (!reef__array_room(m, MEMORY_BITS, &s->bit_number, &s->bit_room, bit_slot(key) + 1, sizeof *s->bit_number) ||
        !reef__array_room(m, MEMORY_BITS, &s->bits, &s->bit_capacity, s->bit_count + 1, sizeof *s->bits))
        return NULL;
    reef__invalidate(w, INVALIDATE_STORES_MOVED);
    found = &s->bits[s->bit_count++];
    memset(found, 0, sizeof *found);
    found->key = key;
    s->bit_number[bit_slot(key)] = s->bit_count;
    if ((key & BIT_DISABLED) == 0) return found;
    bit_store *of = (bit_store *)bit_store_of(w, key & ~BIT_DISABLED);
    if (of) of->disabled_bits = s->bit_count;
    found->disabled_bits = BITS_OF_DISABLED;
    reef__invalidate(w, INVALIDATE_MARKS_MADE);
    return found;
}

bool reef__bit_prepare(reef_world *w, uint32_t key, uint32_t id, uint32_t place, bool on)
{
    bit_store *b = on ? store_make(w, key) : (bit_store *)bit_store_of(w, key);
    if (b == NULL) return !on;
    const uint32_t number = (uint32_t)(b - w->state.bits);
    const table *seen = table_read(w, id);
    if (on && (seen == NULL || !bit_named(seen->bits, number))) {
        table *t = reef__table_own(w, id);
        if (t == NULL) return false;
        t->bits |= bit_mask(number); /* it may be set although no bit is, which does no harm */
        t->lease = 0;
    }
    return on || bit_read(b, place) ? words_own(w, b, place_unit(place)) != NULL : true;
}

bool reef__bit_known(const reef_world *w, const bit_store *b, uint32_t id)
{
    const table *t = table_read(w, id);
    return t && bit_named(t->bits, (uint32_t)(b - w->state.bits));
}

/* To queries, relations that are disabled or enabled go or come: whoever keeps what follows from them looks again. */
static void relation_changes_count(reef_world *w, const bit_store *b)
{
    const value_store *s = b->key & BIT_DISABLED ? store_of(w, b->key & ~BIT_DISABLED) : NULL;
    if (s && s->relation) ((value_store *)(uintptr_t)s)->relation_changes++;
}

void reef__bit_commit(reef_world *w, uint32_t key, uint32_t place, bool on)
{
    bit_store *b = (bit_store *)bit_store_of(w, key);
    if (b == NULL || bit_read(b, place) == on) return;
    bit_put(b, place, on);
    relation_changes_count(w, b);
}

/* ---- rows on the move ---- */

bool reef__bits_prepare_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to)
{
    EACH_BIT_STORE(w, mask, b)
    {
        bool was = bit_read(b, from), is = bit_read(b, to);
        if (was && !words_own(w, b, place_unit(from))) return false;
        if (was != is && !words_own(w, b, place_unit(to))) return false;
    }
    return true;
}

void reef__bits_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to)
{
    EACH_BIT_STORE(w, mask, b)
    {
        bool was = bit_read(b, from);
        if (was != bit_read(b, to)) bit_put(b, to, was);
        if (was) bit_put(b, from, false);
    }
}

COLD void reef__bits_cycle(reef_world *w, uint64_t mask, const uint32_t *places, size_t count)
{
    EACH_BIT_STORE(w, mask, b)
    {
        for (size_t i = 0; i < count; i++) {
            uint32_t hole = places[i];
            bool first = bit_read(b, hole);
            for (i++; places[i]; hole = places[i++]) bit_put(b, hole, bit_read(b, places[i]));
            bit_put(b, hole, first);
        }
    }
}

bool reef__bits_prepare_clear(reef_world *w, uint64_t mask, uint32_t place)
{
    EACH_BIT_STORE(w, mask, b)
    if (bit_read(b, place) && !words_own(w, b, place_unit(place))) return false;
    return true;
}

void reef__bits_clear(reef_world *w, uint64_t mask, uint32_t place)
{
    EACH_BIT_STORE(w, mask, b)
    if (bit_read(b, place)) bit_put(b, place, false);
}

bool reef__bits_own_unit(reef_world *w, uint64_t mask, uint32_t unit)
{
    EACH_BIT_STORE(w, mask, b)
    if (!words_own(w, b, unit)) return false;
    return true;
}

void reef__bits_move_unit(reef_world *w, uint64_t mask, uint32_t from, uint32_t to)
{
    EACH_BIT_STORE(w, mask, b)
    {
        memcpy(b->words.page[to], b->words.page[from], sizeof(uint64_t) * BIT_WORDS);
        memset(b->words.page[from], 0, sizeof(uint64_t) * BIT_WORDS);
    }
}

void reef__bits_clear_unit(reef_world *w, uint64_t mask, uint32_t unit)
{
    EACH_BIT_STORE(w, mask, b)
    {
        uint64_t *words = b->words.page[unit];
        for (uint32_t k = 0; k < BIT_WORDS; k++) b->switched -= bits_count(words[k]);
        memset(words, 0, sizeof(uint64_t) * BIT_WORDS);
    }
}

bool reef__bits_prepare_rows(reef_world *w, uint32_t key, uint32_t id, uint32_t unit, const uint64_t *rows, bool on)
{
    const uint64_t *words = bit_words(bit_store_of(w, key), unit);
    for (uint32_t k = 0; k < BIT_WORDS; k++) {
        const uint64_t change = on ? rows[k] : words ? rows[k] & words[k] : 0;
        if (change) return reef__bit_prepare(w, key, id, unit_place(unit) + k * 64 + bits_first(change), on);
    }
    return true;
}

void reef__bits_commit_rows(reef_world *w, uint32_t key, uint32_t unit, const uint64_t *rows, bool on)
{
    bit_store *b = (bit_store *)bit_store_of(w, key);
    uint64_t *words = (uint64_t *)bit_words(b, unit);
    for (uint32_t k = 0; words && k < BIT_WORDS; k++) {
        const uint64_t change = on ? rows[k] & ~words[k] : rows[k] & words[k];
        if (change == 0) continue; /* this world may not own the page */
        words[k] ^= change;
        if (on) b->switched += bits_count(change);
        else b->switched -= bits_count(change);
        relation_changes_count(w, b);
    }
}

bool reef__bits_remain(const reef_world *w, uint64_t mask, uint32_t place, const reef_value *values, uint32_t count)
{
    EACH_BIT_STORE(w, mask, b)
    {
        bool stays = bit_read(b, place);
        for (uint32_t i = 0; stays && i < count; i++) {
            uint32_t c = values[i].component.id;
            stays = values[i].kind != REEF_VALUE_REMOVE || (c != b->key && (c | BIT_DISABLED) != b->key);
        }
        if (stays) return true;
    }
    return false;
}

uint64_t reef__bit_count_rows(const reef_world *w, uint32_t key)
{
    const bit_store *b = bit_store_of(w, key);
    const value_store *s = store_of(w, key & BIT_DISABLED ? 0 : key);
    return s->component ? store_entities(s) : b ? b->switched : 0;
}

uint64_t reef__bit_sum(const reef_world *w, uint32_t key)
{
    const bit_store *b = bit_store_of(w, key);
    uint64_t n = 0;
    for (uint32_t u = 0; b && u < b->words.count; u++)
        for (uint32_t k = 0; b->words.page[u] && k < BIT_WORDS; k++) n += bits_count(bit_words(b, u)[k]);
    return n;
}

/* ---- validation ---- */

static COLD reef_status store_corrupt(const bit_store *b, char *message, size_t size, const char *what, uint64_t number)
{
    const type *t = reef__type_of(b->key & ~BIT_DISABLED);
    return reef__corrupt(message, size, "bits: %s%s%s %llu", b->key & BIT_DISABLED ? "disabled " : "",
                         t ? t->name : "entities", what, (unsigned long long)number);
}

/* The rows of a unit that may have a bit: all rows, and for marks of a component those that have it. */
static void unit_rows(const reef_world *w, const bit_store *b, const table *t, uint32_t unit, uint64_t *rows)
{
    const uint32_t component = b->key & ~BIT_DISABLED, count = chunk_rows(t, unit);
    const bool disabled = b->key & BIT_DISABLED && component,
               all = !disabled || reef__slot_seek(w, component, t->shape->table) != 0;
    const reef_entity *e = slot_entities(unit_slots(w, unit));
    for (uint32_t row = 0; row < count; row++)
        if (all || reef__bit_has(w, component, unit_place(unit) + row) || store_has(w, component, e[row]))
            rows[row / 64] |= 1ull << (row % 64);
}

static reef_status unit_validate(const reef_world *w, const bit_store *b, uint32_t unit, uint64_t *sum, char *message,
                                 size_t size)
{
    const uint64_t *words = bit_words(b, unit);
    uint64_t rows[BIT_WORDS] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < BIT_WORDS; i++) n += bits_count(words[i]);
    *sum += n;
    if (n == 0) return REEF_OK;
    uint32_t id = unit_used(w, unit) ? unit_slots(w, unit)[0].head.table : TABLE_NONE;
    const table *t = table_read(w, id);
    bool ok = reef__bit_known(w, b, id);
    if (ok) unit_rows(w, b, t, unit, rows);
    for (uint32_t i = 0; ok && i < BIT_WORDS; i++) ok = (words[i] & ~rows[i]) == 0;
    return ok ? REEF_OK : store_corrupt(b, message, size, ": a bit without its row or component in unit", unit);
}

COLD reef_status reef__bits_validate(const reef_world *w, char *message, size_t size)
{
    for (uint32_t i = 0; i < w->state.bit_count; i++) {
        const bit_store *b = &w->state.bits[i], *disabled = bit_store_of(w, b->key | BIT_DISABLED);
        uint64_t sum = 0;
        for (uint32_t u = 0; u < b->words.count; u++)
            if (b->words.page[u] && unit_validate(w, b, u, &sum, message, size) != REEF_OK) return REEF_CORRUPT;
        /* src/storage/store_list.c compares those with their values */
        const bool stored = (b->key & BIT_DISABLED) == 0 && reef__type_of(b->key)->stored;
        if (sum != b->switched && !stored) return store_corrupt(b, message, size, ": a wrong count of bits, not", sum);
        uint32_t number = b == disabled ? BITS_OF_DISABLED : disabled ? (uint32_t)(disabled - w->state.bits) + 1 : 0;
        if (b->disabled_bits != number)
            return store_corrupt(b, message, size, ": its marks are in another store than number", number);
        if (bit_number_of(w, b->key) != i + 1)
            return store_corrupt(b, message, size, ": its key leads to another store than number", i + 1);
    }
    return REEF_OK;
}
