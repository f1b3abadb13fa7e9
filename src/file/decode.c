/* Reading a file: its records, the entity index, and the proof that the result is sound.
 *
 *      header ──► record ──► record ──► ...   each: its sections in their order, then what it promised is held against
 *                                             what is there
 *             ──► stand-ins give their values away ──► reef_validate
 *
 * A journal is scanned first for its whole records. If its end is torn the rest is left out; if whole records follow a
 * damaged place, the file is refused. */
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/name_index.h"
#include "storage/place.h"
#include "storage/removal_log.h"
#include "storage/sparse_store.h"
#include "system/script.h"
#include "file/decode_types.h"
#include "file/decoding.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/inspect.h"
#include "reef/log.h"
#include "reef/snapshot.h"
#include "reef/file.h"
#include <stdio.h>

/* ---- records ---- */

typedef struct section_row {
    uint32_t kind, rank, least;
    bool once;
    bool (*read)(decoding *d);
} section_row;

bool reef__decode_none(decoding *d) { return (void)d, false; }

#define SECTION_ROW(name, a, b, c, d, rank, once, least, write, read) \
    {SECTION_##name, rank, least, once, reef__decode_##read},
static const section_row section_rows[] = {SECTION_KINDS(SECTION_ROW)};

/* The row of the section that was read, if it may follow one of rank *rank. NULL: CORRUPT is recorded. */
static const section_row *section_follows(decoding *d, uint32_t *rank)
{
    const uint32_t number = reef__section_kind(d->in);
    if (number == SECTION_KIND_COUNT) return NULL;
    const section_row *row = &section_rows[number];
    const uint32_t next = row->rank, was = *rank;
    if (next == 0 && row->kind != SECTION_RECORD) return row;
    const bool missing = (next > RANK_TIME && was < RANK_TIME) || (next > RANK_IDS && was < RANK_IDS);
    if (next == 0 || next < was || (row->once && next == was) || missing)
        return (void)reef__in_wrong(d->in, REEF_CORRUPT, "a section is in the wrong place"), NULL;
    *rank = next;
    return row;
}

static bool progress_tell(decoding *d)
{
    const reef_load_desc *desc = d->load->desc;
    if (desc == NULL || desc->progress == NULL || d->in->at - d->reported < d->in->size / 100) return true;
    d->reported = d->in->at;
    return desc->progress(desc->context, d->in->at, d->in->size) ||
           reef__in_wrong(d->in, REEF_CANCELLED, "the caller stopped it");
}

/* Ends a record's writes: later ones get newer versions, and all caches are dropped. */
static void versions_close(decoding *d)
{
    reef_world *w = d->w;
    reef__invalidate(w, INVALIDATE_LOOKED_AT | INVALIDATE_STATE_REPLACED);
    reef__stores_view(w);
    reef__names_changed(w);
}

/* Is the state the one with this hash? True where the file doesn't say it, or where types were converted. */
static bool state_is(decoding *d, uint64_t hash, reef_status status, const char *what)
{
    if (hash == 0 || d->load->converted) return true;
    if (!reef__decode_sound(d, reef_validate)) return false;
    const uint64_t is = reef_hash(d->w);
    if (is == 0) return reef__decode_no_memory(d);
    return is == hash || reef__in_wrong(d->in, status, "%s", what);
}

/* Is everything there that the record promised? */
static bool record_complete(decoding *d)
{
    if (d->free_left) return reef__in_wrong(d->in, REEF_CORRUPT, "fewer free indices than were announced");
    if (!reef__decode_rows_done(d)) return false;
    reef__events_trim(d->w);
    versions_close(d);
    return true;
}

static bool section_read(decoding *d, const section_row *row)
{
    if (row->least == 0) return row->read(d) && reef__section_taken(d->in);
    const uint32_t count = reef__get_count(d->in, "count", row->least);
    EACH_ELEMENT(d->in, i, count)
    if (!row->read(d)) return false;
    return reef__section_taken(d->in);
}

static bool record_read_rest(decoding *d)
{
    uint64_t sections = 1, after;
    uint32_t rank = 0;
    for (;; sections++) {
        if (!progress_tell(d) || !reef__record_next(d->in)) return false;
        const section_row *row = section_follows(d, &rank);
        if (row == NULL) return false;
        if (row->kind == SECTION_DONE) break;
        if (!section_read(d, row)) return false;
    }
    return reef__record_ends(d->in, sections, &after) && record_complete(d) &&
           state_is(d, after, REEF_CORRUPT, "the loaded state isn't the one that was written");
}

static bool record_read_one(decoding *d, uint64_t number)
{
    section_in *in = d->in;
    record_head h;
    if (!reef__section_next(in))
        return in->status == REEF_OK ? reef__in_wrong(in, REEF_CORRUPT, "the file has no record") : false;
    if (!reef__record_begins(in, &h)) return false;
    d->whole = (h.flags & RECORD_DIFFERENCE) == 0;
    const bool first = number == 0 && (d->load->flags & FILE_DIFFERENCE) == 0;
    if (h.number != number || d->whole != first || (d->whole && h.before))
        return reef__in_wrong(in, REEF_CORRUPT, "a record is in the wrong place");
    if (!state_is(d, h.before, number ? REEF_CORRUPT : REEF_OTHER_STATE, "the difference was made for another state"))
        return false;
    for (uint32_t i = 0; i < d->table_count; i++) {
        const table *t = table_read(d->w, d->tables[i].id);
        d->tables[i].rows = t ? table_rows(t) : 0; /* id 0: there is none */
        d->tables[i].unit_count = 0;
    }
    for (uint32_t i = 0; i < d->type_count; i++) d->types[i].counted = false;
    d->unplaced = d->reserved_end = 0;
    /* Kept hashes are recognised by versions, so no two records may give the same version. */
    if (d->base < d->w->hot.version) d->base = d->w->hot.version;
    d->first = number == 0;
    return record_read_rest(d);
}

/* Reads the rest of the file into memory. This is done for streams whose length isn't known, since memory is bounded by
 * the length, and for journals, which are scanned before they are used. */
static bool rest_read(section_in *in, unsigned char **all, size_t *room)
{
    size_t fill = FILE_HEADER_BYTES, got;
    for (*all = NULL, *room = 0;; fill += got) {
        if (!reef__size_room(in->memory, all, room, fill + (1 << 16), 1, 1 << 18))
            return reef__in_wrong(in, REEF_NO_MEMORY, "no memory for the file");
        const reef_status s = in->from.read(in->from.context, *all + fill, *room - fill, &got);
        if (s != REEF_OK) return reef__in_wrong(in, s, "reading failed");
        if (got == 0) break;
        ASSERT(got <= *room - fill);
    }
    memset(*all, 0, FILE_HEADER_BYTES);
    in->data = *all;
    in->size = fill;
    return true;
}

/* ---- the file ---- */

static bool decode_finish(decoding *d)
{
    /* What follows goes from values to their entities, and from relations to their targets. */
    if (!reef__decode_sound(d, reef__stores_validate_owners)) return false;
    if (!reef__decode_tracks_done(d) || !reef__decode_standins_end(d) || !reef__decode_scripts_done(d)) return false;
    if (!reef__decode_relations_done(d)) return false;
    versions_close(d);
    if (!reef__decode_sound(d, reef_validate)) return false;
    reef__decode_notes_tell(d);
    return true;
}

static bool flags_allowed(section_in *in, uint16_t flags, bool difference)
{
    if (((flags & FILE_DIFFERENCE) != 0) != difference)
        return reef__in_wrong(in, REEF_CORRUPT,
                              difference ? "this isn't a difference" : "this is a difference, not a world");
    if ((flags & FILE_BIG) && !(flags & FILE_RAW))
        return reef__in_wrong(in, REEF_CORRUPT, "the header has flags that contradict each other");
    return !(flags & FILE_RAW) || (flags & (FILE_RAW | FILE_BIG)) == FILE_RAW_HERE ||
           reef__in_wrong(in, REEF_NOT_PORTABLE, "the file is raw, and of a machine with another byte order");
}

static bool records_read(decoding *d)
{
    section_in *in = d->in;
    record_load *r = d->load;
    uint64_t records = 1;
    if ((r->flags & FILE_JOURNAL) && !reef__journal_scan(in, &records)) return false;
    for (uint64_t k = 0; k < records; k++) {
        if (!record_read_one(d, k)) return false;
        if (k == 0) r->whole_bytes = in->at;
        r->sound_bytes = in->at;
        r->sound_chain = in->chain;
        r->numbering.records = k + 1;
    }
    in->payload = NULL;
    if (in->at == in->size) return true;
    if (!(r->flags & FILE_JOURNAL)) return reef__in_wrong(in, REEF_CORRUPT, "bytes follow the end of the record");
    reef__decode_note(d, &(reef_load_note){.kind = REEF_NOTE_TAIL_CUT, .rows = in->size - in->at});
    return true;
}

/* Reads the records behind the header. */
static bool file_decode(section_in *in, record_load *r, reef_world *loaded, reef_world *target)
{
    if (r->numbering.memory == NULL) r->numbering.memory = in->memory;
    decoding *d = reef__memory_zeroed(in->memory, MEMORY_OTHER, sizeof *d);
    if (d == NULL) return reef__in_wrong(in, REEF_NO_MEMORY, "no memory");
    *d = (decoding){
        .in = in, .load = r, .w = loaded, .target = target, .memory = in->memory, .base = target->hot.version};
    loaded->untargeted = true; /* until all values are there */
    r->decoding = d;
    loaded->hook_failed.id = 0;
    d->script = reef__scripts_type();
    world_hold(target); /* readers, notes and hooks run */
    world_hold(loaded);
    /* A type whose registration failed for want of memory would be unknown, and its values left out. */
    bool ok = (reef__types_known() && reef__readers_mirror(loaded, target)) || reef__decode_no_memory(d);
    ok = ok && records_read(d) && decode_finish(d);
    reef__readers_unmirror(loaded);
    world_let_go(loaded);
    world_let_go(target);
    d->in = NULL;
    return ok;
}

/* Reads a file that declares types into a world of a family of its own, without these types: a file that is wrong must
 * not leave them behind, since there is no way to take a type back. */
static bool rehearsed(section_in *in, const record_load *r, const reef_world *target)
{
    const reef_world_config config = {.allocator = target->family->memory.allocator,
                                      .entities_max = target->config.entities_max,
                                      .log = reef_log_none};
    section_in trial = *in;
    reef_world *w = reef_world_new(&config);
    record_load load = {.quiet = true, .flags = r->flags, .numbering = {.memory = in->memory}};
    if (w == NULL) return reef__in_wrong(in, REEF_NO_MEMORY, "no memory");
    const bool ok = file_decode(&trial, &load, w, w);
    reef__record_load_drop(&load);
    reef_world_free(w);
    if (ok) return true;
    in->status = trial.status;
    in->wrong_at = trial.wrong_at;
    memcpy(in->detail, trial.detail, sizeof in->detail);
    return false;
}

bool reef__file_read(section_in *in, record_load *r, reef_world *loaded, reef_world *target)
{
    unsigned char *all = NULL;
    size_t room = 0;
    const bool declares = r->desc && r->desc->unknown == REEF_UNKNOWN_DECLARE && !r->planned && !r->difference;
    world_hold(target);
    bool ok = reef__in_header(in, &r->flags) && flags_allowed(in, r->flags, r->difference);
    if (ok && in->data == NULL && (in->size == UINT64_MAX || (r->flags & FILE_JOURNAL) || declares))
        ok = rest_read(in, &all, &room);
    world_let_go(target);
    ok = ok && (!declares || rehearsed(in, r, target)) && file_decode(in, r, loaded, target);
    if (ok && r->lost && r->desc && r->desc->lossless && !r->planned)
        ok = reef__in_wrong(in, REEF_NOT_PORTABLE, "%llu values would lose something", (unsigned long long)r->lost);
    if (all) {
        in->data = NULL;
        in->payload = NULL;
        reef__memory_free(in->memory, MEMORY_OTHER, all, room);
    }
    return ok;
}

void reef__record_load_drop(record_load *r)
{
    decoding *d = r->decoding;
    reef__numbering_drop(&r->numbering);
    if (d == NULL) return;
    reef__decode_memory_drop(d);
    reef__memory_free(d->memory, MEMORY_OTHER, d, sizeof *d);
    r->decoding = NULL;
}
