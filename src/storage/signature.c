/* Signatures: sets of types as sorted words of 64 ids. Every layout has its own set in the same form (shape_signature),
 * so that an entity is tested word by word. Types outside of tables are tested one by one, by the bits of the row or in
 * their store, and only those that the words leave open. */
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "reef/signature.h"

enum { SIGNATURE_ROOM = 4 }; /* number of words of the first array */

static reef_signature_word *words_resize(const reef_signature *s, reef_signature_word *words, uint32_t old,
                                         uint32_t room)
{
    const reef_allocator *a = s->allocator.resize ? &s->allocator : &reef__memory_standard;
    return a->resize(a->context, words, old * sizeof *words, room * sizeof *words, PLAIN_ALIGN);
}

static bool signature_reserve(reef_signature *s, uint32_t count)
{
    if (count <= s->room) return true;
    uint32_t room = s->room ? s->room * 2 : SIGNATURE_ROOM;
    if (room < count) room = count;
    reef_signature_word *words = words_resize(s, s->words, s->room, room);
    if (words == NULL) return false;
    s->words = words;
    s->room = room;
    return true;
}

/* Where the word with this number is, or belongs. */
static uint32_t word_seek(const reef_signature_word *words, uint32_t count, uint32_t number)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (words[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

static uint64_t word_at(const reef_signature_word *words, uint32_t count, uint32_t number)
{
    uint32_t at = word_seek(words, count, number);
    return at < count && words[at].number == number ? words[at].bits : 0;
}

static bool words_have(const reef_signature_word *words, uint32_t count, uint32_t id)
{
    return word_at(words, count, id / 64) >> id % 64 & 1;
}

/* A NULL signature has no types. */
static uint64_t signature_word(const reef_signature *s, uint32_t number)
{
    return s ? word_at(s->words, s->count, number) : 0;
}

/* Adds an id; there is room for one more word. */
static void signature_put(reef_signature *s, uint32_t id)
{
    uint32_t at = word_seek(s->words, s->count, id / 64);
    if (at == s->count || s->words[at].number != id / 64) {
        memmove(s->words + at + 1, s->words + at, (s->count - at) * sizeof *s->words);
        s->words[at] = (reef_signature_word){.number = id / 64};
        s->count++;
    }
    s->words[at].bits |= 1ull << id % 64;
}

/* ---- making ---- */

reef_signature reef_signature_new(const reef_world *w)
{
    reef_signature s = {0};
    if (WORLD_GIVEN(w)) s.allocator = w->family->memory.allocator;
    return s;
}

void reef_signature_free(reef_signature *s)
{
    if (s == NULL) return;
    if (s->room) (void)words_resize(s, s->words, s->room, 0);
    s->words = NULL;
    s->count = s->room = 0;
}

/* Puts the new words in the place of the old ones. */
static reef_status signature_replace(reef_signature *s, reef_signature *fresh, reef_status status)
{
    if (status < REEF_OK) {
        reef_signature_free(fresh);
        return status;
    }
    reef_signature_free(s);
    *s = *fresh;
    return status;
}

reef_status reef_signature_set(reef_signature *s, const reef_component *types, uint32_t count)
{
    if (s == NULL || (types == NULL && count)) return REEF_BAD_ARGUMENT;
    if (count > REEF_TYPES_MAX) return REEF_LIMIT;
    reef_signature fresh = {.allocator = s->allocator};
    reef_status status = REEF_OK;
    for (uint32_t i = 0; i < count && status >= REEF_OK; i++) {
        status = reef_signature_add(&fresh, types[i]);
        if (status == REEF_OK) status = REEF_DUPLICATE_TERM;
    }
    status = signature_replace(s, &fresh, status);
    return status < REEF_OK ? status : REEF_OK;
}

reef_status reef_signature_copy(reef_signature *s, const reef_signature *from)
{
    if (s == NULL || from == NULL) return REEF_BAD_ARGUMENT;
    if (s == from) return REEF_OK;
    if (!signature_reserve(s, from->count)) return REEF_NO_MEMORY;
    if (from->count) memcpy(s->words, from->words, from->count * sizeof *s->words);
    s->count = from->count;
    return REEF_OK;
}

/* The type of a store of bits, if the row has it; 0: the row hasn't got it, or the store holds marks. */
static uint32_t switch_of(const bit_store *b, uint32_t place)
{
    return (b->key & BIT_DISABLED) == 0 && bit_read(b, place) ? b->key : 0;
}

reef_status reef_signature_of(const reef_world *w, reef_entity e, reef_signature *s)
{
    if (!WORLD_GIVEN(w) || s == NULL) return REEF_BAD_ARGUMENT;
    uint32_t place = place_of(w, e), on = 0;
    if (place == PLACE_DEAD) return REEF_NOT_ALIVE;
    if (place == PLACE_EMPTY) {
        s->count = 0;
        return REEF_OK;
    }
    const shape *set = shape_of(w->family, reef_slots_at(&w->hot, place)[0].head.table);
    EACH_BIT_STORE(w, bits_of(w, place), b) on += switch_of(b, place) != 0;
    EACH_COLD_STORE(w, x) on += cold_has(x, e);
    if (!signature_reserve(s, set->word_count + on)) return REEF_NO_MEMORY;
    if (set->word_count) memcpy(s->words, shape_signature(set), set->word_count * sizeof *s->words);
    s->count = set->word_count;
    EACH_BIT_STORE(w, bits_of(w, place), b)
    if (switch_of(b, place)) signature_put(s, b->key);
    EACH_COLD_STORE(w, x)
    if (cold_has(x, e)) signature_put(s, x->component);
    return REEF_OK;
}

reef_status reef_signature_add(reef_signature *s, reef_component c)
{
    if (s == NULL) return REEF_BAD_ARGUMENT;
    if (reef__type_of(c.id) == NULL) return REEF_UNKNOWN_TYPE;
    if (words_have(s->words, s->count, c.id)) return REEF_OK;
    if (word_at(s->words, s->count, c.id / 64) == 0 && !signature_reserve(s, s->count + 1)) return REEF_NO_MEMORY;
    signature_put(s, c.id);
    return REEF_ADDED;
}

reef_status reef_signature_remove(reef_signature *s, reef_component c)
{
    if (s == NULL) return REEF_BAD_ARGUMENT;
    if (reef__type_of(c.id) == NULL) return REEF_UNKNOWN_TYPE;
    if (!words_have(s->words, s->count, c.id)) return REEF_ABSENT;
    uint32_t at = word_seek(s->words, s->count, c.id / 64);
    s->words[at].bits &= ~(1ull << c.id % 64);
    if (s->words[at].bits) return REEF_OK;
    s->count--;
    memmove(s->words + at, s->words + at + 1, (s->count - at) * sizeof *s->words);
    return REEF_OK;
}

/* ---- two of them ---- */

enum { SET_UNION, SET_INTERSECTION, SET_DIFFERENCE };

/* Writes the words of the result to `out`, unless that is NULL, and answers how many there are. */
static uint32_t words_combine(const reef_signature *a, const reef_signature *b, int operation, reef_signature_word *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        uint32_t from_a = i < a->count ? a->words[i].number : UINT32_MAX,
                 from_b = k < b->count ? b->words[k].number : UINT32_MAX;
        uint32_t number = from_a < from_b ? from_a : from_b;
        uint64_t x = from_a == number ? a->words[i++].bits : 0, y = from_b == number ? b->words[k++].bits : 0;
        uint64_t bits = operation == SET_UNION ? x | y : operation == SET_INTERSECTION ? x & y : x & ~y;
        if (bits == 0) continue;
        if (out) out[n] = (reef_signature_word){bits, number, 0};
        n++;
    }
    return n;
}

static reef_status signature_combine(reef_signature *to, const reef_signature *a, const reef_signature *b,
                                     int operation)
{
    if (to == NULL || a == NULL || b == NULL) return REEF_BAD_ARGUMENT;
    uint32_t count = words_combine(a, b, operation, NULL);
    reef_signature fresh = {.allocator = to->allocator}, *result = to == a || to == b ? &fresh : to;
    if (!signature_reserve(result, count)) return REEF_NO_MEMORY;
    (void)words_combine(a, b, operation, result->words);
    result->count = count;
    return result == to ? REEF_OK : signature_replace(to, result, REEF_OK);
}

reef_status reef_signature_union(reef_signature *to, const reef_signature *a, const reef_signature *b)
{
    return signature_combine(to, a, b, SET_UNION);
}

reef_status reef_signature_intersection(reef_signature *to, const reef_signature *a, const reef_signature *b)
{
    return signature_combine(to, a, b, SET_INTERSECTION);
}

reef_status reef_signature_difference(reef_signature *to, const reef_signature *a, const reef_signature *b)
{
    return signature_combine(to, a, b, SET_DIFFERENCE);
}

/* ---- asking ---- */

bool reef_signature_has(const reef_signature *s, reef_component c) { return s && words_have(s->words, s->count, c.id); }

uint32_t reef_signature_count(const reef_signature *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; s && i < s->count; i++) n += bits_count(s->words[i].bits);
    return n;
}

uint32_t reef_signature_types(const reef_signature *s, reef_component *types, uint32_t room)
{
    uint32_t n = reef_signature_count(s), at = 0;
    if (n == 0 || n > room || types == NULL) return n;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint64_t bits = s->words[i].bits; bits; bits &= bits - 1)
            types[at++].id = s->words[i].number * 64 + bits_first(bits);
    reef__ids_sort(&types->id, n);
    return n;
}

bool reef_signature_is_subset(const reef_signature *a, const reef_signature *b)
{
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->words[i].bits & ~signature_word(b, a->words[i].number)) return false;
    return true;
}

bool reef_signature_equal(const reef_signature *a, const reef_signature *b)
{
    return reef_signature_is_subset(a, b) && reef_signature_is_subset(b, a);
}

bool reef_signature_intersects(const reef_signature *a, const reef_signature *b)
{
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->words[i].bits & signature_word(b, a->words[i].number)) return true;
    return false;
}

/* ---- entities ---- */

bool reef_has_all(const reef_world *w, reef_entity e, const reef_signature *s)
{
    uint32_t place = WORLD_GIVEN(w) ? place_of(w, e) : PLACE_DEAD;
    if (place == PLACE_DEAD) return false;
    if (s == NULL || s->count == 0) return true;
    if (place == PLACE_EMPTY) return false;
    const shape *set = shape_of(w->family, reef_slots_at(&w->hot, place)[0].head.table);
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t number = s->words[i].number;
        uint64_t open = s->words[i].bits & ~word_at(shape_signature(set), set->word_count, number);
        for (; open; open &= open - 1) {
            const uint32_t id = number * 64 + bits_first(open);
            if (!reef__bit_has(w, id, place) && !store_has(w, id, e)) return false;
        }
    }
    return true;
}

bool reef_has_any(const reef_world *w, reef_entity e, const reef_signature *s)
{
    uint32_t place = WORLD_GIVEN(w) ? place_of(w, e) : PLACE_DEAD;
    if (place == PLACE_DEAD || place == PLACE_EMPTY || s == NULL || s->count == 0) return false;
    const shape *set = shape_of(w->family, reef_slots_at(&w->hot, place)[0].head.table);
    for (uint32_t i = 0; i < s->count; i++)
        if (s->words[i].bits & word_at(shape_signature(set), set->word_count, s->words[i].number)) return true;
    EACH_BIT_STORE(w, bits_of(w, place), b)
    if (switch_of(b, place) && words_have(s->words, s->count, b->key)) return true;
    EACH_COLD_STORE(w, x)
    if (cold_has(x, e) && words_have(s->words, s->count, x->component)) return true;
    return false;
}

/* ---- validation ---- */

COLD bool reef__shape_signed(const shape *s)
{
    const reef_signature_word *words = shape_signature(s);
    uint32_t n = 0, parts = 0; /* parts are known by their type */
    for (uint32_t i = 0; i < s->word_count; i++) {
        n += bits_count(words[i].bits);
        if (i && words[i - 1].number >= words[i].number) return false;
    }
    for (uint32_t i = 0; i < s->component_count; i++) {
        const bool part = type_known(s->component[i])->owner != 0;
        if (!part && !words_have(words, s->word_count, s->component[i])) return false;
        parts += part;
    }
    return n + parts == s->component_count;
}
