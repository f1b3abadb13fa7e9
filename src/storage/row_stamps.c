/* Stamps of rows, for types with track_rows.
 *
 *   store of a type:  stamps[index / 512] ─► changed[512], added[512]      versions of the world, by entity index
 *                                            newest[64]                   of eight at a time, which readers skip by it
 *
 * Stamps are kept by entity index and not by row. So rows that move take nothing along, and nothing has to be cleared
 * when a component or its entity goes: the stamp of an entity that hasn't got the component is never read. Stamps are
 * state, which a restore brings back, but they are neither hashed nor compared.
 *
 * The inlined mut writes without a call where a column carries the world's version. No tracked column does (column_mark
 * in src/storage/place.h), so that each mut stamps its row. */
#include "storage/row_stamps.h"
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/table.h"
#include "reef/track.h"
#include "reef/type_info.h"

const paged_type reef__pages_stamps = {sizeof(stamp_page), ARENA_DIRECTORY, MEMORY_TRACKS, NULL, false, 0, NULL, NULL};

track_store *reef__track_of(const reef_world *w, uint32_t component)
{
    for (uint32_t i = 0; i < w->state.track_count; i++)
        if (w->state.tracks[i].component == component) return &w->state.tracks[i];
    return NULL;
}

static COLD track_store *track_make(reef_world *w, uint32_t component)
{
    state *s = &w->state;
    if (!reef__array_room(&w->family->memory, MEMORY_TRACKS, &s->tracks, &s->track_capacity, s->track_count + 1,
                          sizeof *s->tracks))
        return NULL;
    track_store *made = &s->tracks[s->track_count++];
    memset(made, 0, sizeof *made);
    made->component = component;
    reef__readers_count(w, made);
    return made;
}

/* ---- reading ---- */

/* The stamps of a page; NULL: there are none. */
static stamp_page *page_read(const track_store *s, uint32_t index)
{
    const uint32_t page = index / STAMPS_PER_PAGE;
    return page < s->stamps.count ? s->stamps.page[page] : NULL;
}

static uint64_t stamp_at(const track_store *s, uint32_t index, bool added)
{
    const stamp_page *p = page_read(s, index);
    return p == NULL ? 0 : (added ? p->added : p->changed)[index % STAMPS_PER_PAGE];
}

/* Are the indices of these entities neighbours, in order? So are mostly those that were made in turn. `rows` is a
 * constant where it is 64. (Whole handles are compared, and their generations left out at the end: index by index it
 * took twice as many instructions.) */
INLINE bool in_turn(const reef_entity *e, uint32_t rows)
{
    const reef_entity one = {1, 0};
    handle first, step, apart = 0;
    memcpy(&first, e, sizeof first);
    memcpy(&step, &one, sizeof step);
    for (uint32_t i = 0; i < rows; i++) {
        handle h;
        memcpy(&h, &e[i], sizeof h);
        apart |= h ^ (first + i * step);
    }
    return HANDLE_INDEX(apart) == 0;
}

/* Bit i says whether stamp i is newer. `rows` is a constant where it is 8. (Shifting what the comparison gives took a
 * third more instructions.) */
INLINE uint64_t stamps_newer(const uint64_t *stamp, uint32_t rows, uint64_t since)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < rows; i++)
        if (stamp[i] > since) word |= 1ull << i;
    return word;
}

/* The same for the entities from `first` on, whose stamps are on one page. An entity was added no later than it was
 * changed, so `newest` speaks for both. `rows` is a constant where it is 64. */
INLINE uint64_t run_newer(const track_store *s, uint32_t first, uint32_t rows, uint64_t since, bool added)
{
    const stamp_page *p = page_read(s, first);
    const uint32_t at = first % STAMPS_PER_PAGE, eight = at / STAMPS_TOGETHER, before = at % STAMPS_TOGETHER;
    if (p == NULL) return 0;
    const uint64_t *stamp = (added ? p->added : p->changed) + at - before, *newest = p->newest + eight;
    uint64_t word = 0, some;
    if (rows == 64) some = stamps_newer(newest, 8, since) | (before ? (uint64_t)(newest[8] > since) << 8 : 0);
    else some = stamps_newer(newest, (before + rows - 1) / STAMPS_TOGETHER + 1, since);
    for (; UNLIKELY(some != 0); some &= some - 1) {
        const uint32_t i = bits_first(some) * STAMPS_TOGETHER;
        const uint64_t those = stamps_newer(stamp + i, STAMPS_TOGETHER, since);
        word |= i >= before ? those << (i - before) : those >> (before - i);
    }
    return rows == 64 ? word : word & ((1ull << rows) - 1);
}

uint64_t reef__track_word(const track_store *s, const reef_entity *e, uint32_t rows, uint64_t since, bool added)
{
    if (s == NULL || rows == 0) return 0;
    if (in_turn(e, rows)) {
        const uint32_t first = e[0].index, left = STAMPS_PER_PAGE - first % STAMPS_PER_PAGE;
        if (rows <= left) return run_newer(s, first, rows, since, added);
        return run_newer(s, first, left, since, added) | run_newer(s, first + left, rows - left, since, added) << left;
    }
    uint64_t stamp[64];
    for (uint32_t i = 0; i < rows; i++) stamp[i] = stamp_at(s, e[i].index, added);
    return stamps_newer(stamp, rows, since);
}

void reef__track_words(const track_store *s, const reef_entity *e, uint32_t rows, uint64_t since, bool added,
                       uint64_t *words, uint32_t first, uint32_t end)
{
    for (uint32_t k = first, row = first * 64; k < end; k++, row += 64) {
        const uint32_t some = rows <= row ? 0 : rows - row < 64 ? rows - row : 64;
        const reef_entity *those = e + row;
        if (words[k] == 0) continue;
        if (LIKELY(some == 64 && s) && those->index % STAMPS_PER_PAGE <= STAMPS_PER_PAGE - 64 && in_turn(those, 64))
            words[k] &= run_newer(s, those->index, 64, since, added);
        else words[k] &= reef__track_word(s, those, some, since, added);
    }
}

uint64_t reef__track_next(const track_store *s, uint64_t index)
{
    for (uint64_t page = index / STAMPS_PER_PAGE; s && page < s->stamps.count; page++, index = page * STAMPS_PER_PAGE) {
        const stamp_page *p = s->stamps.page[page];
        for (uint64_t i = index % STAMPS_PER_PAGE; p && i < STAMPS_PER_PAGE; i++)
            if (p->changed[i]) return page * STAMPS_PER_PAGE + i;
    }
    return UINT64_MAX;
}

static bool since_id(const reef_world *w, reef_entity e, reef_component c, uint64_t since, bool added)
{
    const type *t = WORLD_GIVEN_TO(w, added ? "reef_added_since" : "reef_changed_since") ? reef__type_of(c.id) : NULL;
    return t && has_itself(w, e, t) && reef__track_word(reef__track_of(w, c.id), &e, 1, since, added) != 0;
}

bool reef_changed_since_id(const reef_world *w, reef_entity e, reef_component c, uint64_t since)
{
    return since_id(w, e, c, since, false);
}
bool reef_added_since_id(const reef_world *w, reef_entity e, reef_component c, uint64_t since)
{
    return since_id(w, e, c, since, true);
}

uint64_t reef_version(reef_world *w)
{
    if (!WORLD_GIVEN(w)) return 0;
    if (w->running) return reef__refuse(w, REEF_LOCKED, "reef_version"), 0;
    const uint64_t now = w->hot.version;
    const bool hashed = w->hashed == now; /* the state is the same */
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
    if (hashed) w->hashed = w->hot.version;
    w->observed = now;
    return now;
}

/* ---- writing ---- */

stamp_page *reef__track_page(reef_world *w, uint32_t component, uint32_t index)
{
    track_store *s = reef__track_of(w, component);
    if (s == NULL && (s = track_make(w, component)) == NULL) return NULL;
    return page_own(w, &s->stamps, &reef__pages_stamps, index / STAMPS_PER_PAGE);
}

bool reef__track_prepare(reef_world *w, uint32_t component, const reef_entity *e, uint32_t rows)
{
    for (uint32_t i = 0, last = UINT32_MAX; i < rows; i++) {
        const uint32_t page = e[i].index / STAMPS_PER_PAGE;
        if (page == last) continue;
        if (reef__track_page(w, component, e[i].index) == NULL) return false;
        last = page;
    }
    return rows != 0 || reef__track_of(w, component) || track_make(w, component);
}

bool reef__track_prepare_table(reef_world *w, uint32_t component, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
        if (!reef__track_prepare(w, component, slot_entities(unit_slots(w, unit)), chunk_rows(t, unit))) return false;
    return true;
}

void reef__track_stamp(reef_world *w, uint32_t component, uint32_t index, bool added)
{
    stamps_write(page_read(reef__track_of(w, component), index), index, w->hot.version, added ? w->hot.version : 0);
}

bool reef__track_stamp_own(reef_world *w, uint32_t component, uint32_t index)
{
    const track_store *s = reef__track_of(w, component);
    stamp_page *p = s ? page_ours(&s->stamps, index / STAMPS_PER_PAGE, w->hot.fork_version) : NULL;
    if (p == NULL) return false;
    stamps_write(p, index, w->hot.version, 0);
    return true;
}

void reef__track_stamp_at(reef_world *w, uint32_t component, uint32_t index, uint64_t version)
{
    stamp_page *p = page_read(reef__track_of(w, component), index);
    if (p->changed[index % STAMPS_PER_PAGE] < version) stamps_write(p, index, version, 0);
}

bool reef__track_set(reef_world *w, uint32_t component, uint32_t index, uint64_t changed, uint64_t added)
{
    const reef_entity e = {index, 1};
    if (!reef__track_prepare(w, component, &e, 1)) return false;
    stamps_write(page_read(reef__track_of(w, component), index), index, changed, added);
    return true;
}

bool reef__track_prepare_row(reef_world *w, const shape *s, reef_entity e)
{
    for (uint32_t i = 0; i < s->component_count; i++)
        if (type_known(s->component[i])->tracked && !reef__track_prepare(w, s->component[i], &e, 1)) return false;
    return true;
}

void reef__track_stamp_row(reef_world *w, const shape *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->component_count; i++)
        if (type_known(s->component[i])->tracked) reef__track_stamp(w, s->component[i], index, true);
}

void reef__track_carry(reef_world *to, const reef_world *from, uint32_t component, uint32_t index)
{
    const track_store *s = reef__track_of(from, component);
    stamp_page *p = page_read(reef__track_of(to, component), index);
    stamps_write(p, index, stamp_at(s, index, false), stamp_at(s, index, true));
}

/* ---- validation ---- */

static const char *rows_validate(const reef_world *w, const table *t, uint32_t component)
{
    const track_store *s = reef__track_of(w, component);
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_slot *slots = unit_slots(w, unit);
        const uint32_t k = reef__slot_seek(w, component, t->shape->table);
        if (k != REEF_SLOT_TAG && slots[k].version == w->hot.version && !w->locks)
            return "a column that may be written unseen";
        for (uint32_t row = 0; row < chunk_rows(t, unit); row++) {
            const uint32_t index = slot_entities(slots)[row].index;
            const uint64_t changed = s ? stamp_at(s, index, false) : 0, added = s ? stamp_at(s, index, true) : 0;
            if (added == 0) return "a row without a stamp";
            if (changed < added || changed > w->hot.version) return "a wrong stamp";
            if (page_read(s, index)->newest[index % STAMPS_PER_PAGE / STAMPS_TOGETHER] < changed)
                return "a stamp that is newer than the newest";
        }
    }
    return NULL;
}

COLD reef_status reef__tracks_validate(const reef_world *w, char *message, size_t size)
{
    const char *what = NULL;
    uint32_t component = 0;
    for (uint32_t id = TABLE_EMPTY; !what && id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        for (uint32_t i = 0; t && t->shape->tracked && i < t->shape->component_count && !what; i++)
            if (reef__type_of(component = t->shape->component[i])->tracked) what = rows_validate(w, t, component);
    }
    for (uint32_t i = 0; i < w->state.track_count && !what; i++) {
        component = w->state.tracks[i].component;
        if (!reef__removals_sound(w, &w->state.tracks[i])) what = "a wrong log of removals";
    }
    if (what == NULL) return REEF_OK;
    return reef__corrupt(message, size, "tracked type %s: %s", reef_type_name((reef_component){component}), what);
}
