/* The REEF_BIT home: the bits of rows, which say who has a switch, who has a component outside of the rows, and what is
 * disabled. Bits are kept by place and move with their row. */
#ifndef REEF_STORAGE_ROW_BITS_H
#define REEF_STORAGE_ROW_BITS_H

#include "storage/place.h"
#include "reef/detail/access.h"

/* The index into state.bit_number for a key. A component's switch and its mark lie side by side; the mark of whole
 * entities is that of component 0. */
INLINE uint32_t bit_slot(uint32_t key) { return key << 1 | key >> 31; }
/* Number of the bit store of a key + 1; 0: the world never used it. */
INLINE uint32_t bit_number_of(const reef_world *w, uint32_t key)
{
    const uint32_t slot = bit_slot(key);
    return LIKELY(slot < w->state.bit_room) ? w->state.bit_number[slot] : 0;
}
/* The bit store of a key; NULL: the world never used it. */
INLINE const bit_store *bit_store_of(const reef_world *w, uint32_t key)
{
    const uint32_t number = bit_number_of(w, key);
    return number ? &w->state.bits[number - 1] : NULL;
}
/* The 16 words with the bits of a unit; NULL: all bits are zero. */
INLINE const uint64_t *bit_words(const bit_store *b, uint32_t unit)
{
    return b && unit < b->words.count ? (const uint64_t *)b->words.page[unit] : NULL;
}
/* Is the bit of a row on? */
INLINE bool bit_read(const bit_store *b, uint32_t place)
{
    const uint64_t *words = bit_words(b, place_unit(place));
    return words && (words[place_row(place) / 64] >> (place_row(place) % 64) & 1);
}
/* The rows of a unit where a component is disabled; for component 0, where the entity is disabled. NULL: there is
 * none. */
INLINE const uint64_t *disabled_words(const reef_world *w, uint32_t component, uint32_t unit)
{
    return bit_words(bit_store_of(w, component | BIT_DISABLED), unit);
}

/* 64 bytes, each 0 or 1, become the bits of a word: of eight bytes, the multiplication moves byte k to bit 56 + k. */
INLINE uint64_t bytes_pack(const uint8_t *yes)
{
    uint64_t word = 0, eight;
    for (uint32_t k = 0; k < 8; k++) {
        memcpy(&eight, yes + k * 8, 8);
        word |= (LITTLE_64(eight) * UINT64_C(0x0102040810204080) >> 56) << (k * 8);
    }
    return word;
}

/* The bits by which table.bits names a store: one bit is the store's number modulo 32, another one its number divided
 * by 32. So a table that knows a few of the first 1,024 stores names them, and maybe some other stores, which have no
 * bit in its rows. */
INLINE uint64_t bit_mask(uint32_t number) { return 1ull << number % 32 | 1ull << (32 + number / 32 % 32); }
INLINE bool bit_named(uint64_t mask, uint32_t number) { return (~mask & bit_mask(number)) == 0; }
/* May the bits of rows in this unit be turned on by bit_turn_on? Their words were written at this version, and the
 * table, which has these bits, names the store. */
INLINE bool bit_is_ready(const reef_world *w, const bit_store *b, uint64_t table_bits, uint32_t unit)
{
    return unit < b->words.count && b->words.page[unit] != NULL && b->words.version[unit] == w->hot.version &&
           bit_named(table_bits, (uint32_t)(b - w->state.bits));
}
/* Turns the bit of a row on, which is off. */
INLINE void bit_turn_on(bit_store *b, uint32_t place)
{
    ((uint64_t *)b->words.page[place_unit(place)])[place_row(place) / 64] |= 1ull << place_row(place) % 64;
    b->switched++;
}
/* A walk over the stores that a mask names, in order of first use. */
typedef struct bit_walk {
    uint64_t mask;
    /* turn: first number of this group of 1,024 stores; of: groups of 32 that are still to come; base, in: the present
     * group of 32, and its stores that are still to come */
    uint32_t turn, of, base, in;
    bit_store *store;
} bit_walk;

INLINE bool bit_next(const reef_world *w, bit_walk *x)
{
    while (x->in == 0) {
        if (x->of == 0) x->turn += 1024, x->of = (uint32_t)(x->mask >> 32);
        if (x->of == 0) return false;
        x->base = x->turn + bits_first(x->of) * 32;
        if (x->base >= w->state.bit_count) return false;
        x->of &= x->of - 1;
        x->in = (uint32_t)x->mask;
    }
    const uint32_t number = x->base + bits_first(x->in);
    x->in &= x->in - 1;
    x->store = &w->state.bits[number];
    return number < w->state.bit_count;
}
INLINE bit_walk bit_walk_of(uint64_t mask) { return (bit_walk){.mask = mask, .of = (uint32_t)(mask >> 32)}; }
#define EACH_BIT_STORE(w, mask, b) \
    for (bit_walk b##_ = bit_walk_of(mask); bit_next(w, &b##_);) \
        for (bit_store *b = b##_.store; b; b = NULL)
/* The mask of the table of a row; 0: there is no row at `place`. */
INLINE uint64_t bits_of(const reef_world *w, uint32_t place)
{
    const table *t = place < 2 * PLACE_EMPTY ? NULL : table_read(w, reef_slots_at(&w->hot, place)[0].head.table);
    return t ? t->bits : 0;
}
/* Is this value a bit of its row, a switch or a mark? (Lists that reef makes itself name marks by their keys.) */
INLINE bool value_is_bit(const reef_value *v)
{
    return v->component.id & BIT_DISABLED || reef__type_of(v->component.id)->bit;
}

/* The visible order of keys: switches by name, the marks of entities, then marks of components by name. */
int reef__bit_key_compare(uint32_t a, uint32_t b);

/* Makes everything that reef__bits_move touches this world's own. `mask` is table.bits of the source. */
bool reef__bits_prepare_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to);
/* the bits of `to` become those of `from`, which become 0 */
void reef__bits_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to);

/* Moves the bits of rows that change places in cycles: each place gets the bits of the place that follows it in the
 * list, and the last place of a cycle those of the first. 0 ends a cycle. This world owns the words of all their
 * units. */
void reef__bits_cycle(reef_world *w, uint64_t mask, const uint32_t *places, size_t count);
bool reef__bits_prepare_clear(reef_world *w, uint64_t mask, uint32_t place);
void reef__bits_clear(reef_world *w, uint64_t mask, uint32_t place);

/* Does the row have a switch or mark that these values don't take away? */
bool reef__bits_remain(const reef_world *w, uint64_t mask, uint32_t place, const reef_value *values, uint32_t count);
bool reef__bit_has(const reef_world *w, uint32_t key, uint32_t place);

/* Makes everything ready for setting or clearing the bit of the row at `place` of table `id`; reef__bit_commit does
 * it. */
bool reef__bit_prepare(reef_world *w, uint32_t key, uint32_t id, uint32_t place, bool on);

/* May rows of table `id` have this switch? */
bool reef__bit_known(const reef_world *w, const bit_store *b, uint32_t id);
void reef__bit_commit(reef_world *w, uint32_t key, uint32_t place, bool on);

/* Makes the words of a unit this world's own, in all stores of the mask. */
bool reef__bits_own_unit(reef_world *w, uint64_t mask, uint32_t unit);

/* Moves all bits of a unit to another one, whose bits are zero. This world owns both. */
void reef__bits_move_unit(reef_world *w, uint64_t mask, uint32_t from, uint32_t to);
void reef__bits_clear_unit(reef_world *w, uint64_t mask, uint32_t unit); /* this world owns the words of the unit */

/* As reef__bit_prepare and reef__bit_commit, for one store and many rows of a unit at once. */
bool reef__bits_prepare_rows(reef_world *w, uint32_t key, uint32_t id, uint32_t unit, const uint64_t *rows, bool on);
void reef__bits_commit_rows(reef_world *w, uint32_t key, uint32_t unit, const uint64_t *rows, bool on);
reef_status reef__bits_validate(const reef_world *w, char *message, size_t size);
uint64_t reef__bit_count_rows(const reef_world *w, uint32_t key);
uint64_t reef__bit_sum(const reef_world *w, uint32_t key); /* the same, counted bit by bit */

#endif
