/* What the readers of all kinds of state share: memory, notes, and what sections name. */
#include "file/decoding.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/error.h"
#include "file/section.h"
#include <stdio.h>

COLD bool reef__decode_no_memory(decoding *d)
{
    const type *t = reef__type_of(d->w->hook_failed.id);
    if (t) return reef__in_wrong(d->in, REEF_NO_MEMORY, "a value of %.80s couldn't be made", t->name);
    return reef__in_wrong(d->in, REEF_NO_MEMORY, "no memory for what the file holds");
}

bool reef__decode_sound(decoding *d, reef_status (*validate)(const reef_world *w, char *message, size_t size))
{
    char message[SECTION_DETAIL];
    d->in->payload = NULL; /* no section is to blame */
    return validate(d->w, message, sizeof message) == REEF_OK || reef__in_wrong(d->in, REEF_CORRUPT, "%s", message);
}

/* ---- memory ---- */

enum { BLOCK_LEAST = 4096 - sizeof(decode_block) };

void *reef__decode_memory(decoding *d, size_t bytes)
{
    decode_block *b = d->blocks;
    bytes = (bytes + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;
    if (b == NULL || bytes > b->bytes - b->fill) {
        const size_t room = bytes > BLOCK_LEAST ? bytes : BLOCK_LEAST;
        b = reef__memory_zeroed(d->memory, MEMORY_OTHER, sizeof *b + room);
        if (b == NULL) return (void)reef__decode_no_memory(d), NULL;
        b->bytes = room;
        b->next = d->blocks;
        d->blocks = b;
    }
    b->fill += bytes;
    return b->room + b->fill - bytes;
}

const char *reef__decode_text(decoding *d, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *p = reef__decode_memory(d, bytes);
    return p ? memcpy(p, text, bytes) : NULL;
}

const char *reef__get_name(decoding *d)
{
    char text[REEF_TYPE_NAME_MAX + 1];
    return reef__get_text(d->in, text, REEF_TYPE_NAME_MAX) ? reef__decode_text(d, text) : NULL;
}

bool reef__decode_room(decoding *d, void *array, uint32_t *room, uint32_t count, size_t size)
{
    const uint32_t was = *room, twice = was > UINT32_MAX / 2 ? count : was * 2, now = count > twice ? count : twice;
    size_t bytes;
    if (count <= was) return true;
    void *old, *p = reef__size_multiply(now, size, PLAIN_ALIGN, &bytes) ? reef__decode_memory(d, bytes) : NULL;
    if (p == NULL) return reef__decode_no_memory(d);
    memcpy(&old, array, sizeof old);
    if (was) memcpy(p, old, was * size);
    memcpy(array, &p, sizeof p);
    *room = now;
    return true;
}

void reef__decode_memory_drop(decoding *d)
{
    for (decode_block *b = d->blocks, *next; b; b = next) {
        next = b->next;
        reef__memory_free(d->memory, MEMORY_OTHER, b, sizeof *b + b->bytes);
    }
    reef__memory_resize(d->memory, MEMORY_OTHER, d->value, d->value_room, 0, REEF_ALIGN_MAX);
}

void *reef__decode_value_room(decoding *d, size_t bytes)
{
    if (bytes <= d->value_room) return d->value;
    unsigned char *p = reef__memory_resize(d->memory, MEMORY_OTHER, NULL, 0, bytes, REEF_ALIGN_MAX);
    if (p == NULL) return (void)reef__decode_no_memory(d), NULL;
    reef__memory_resize(d->memory, MEMORY_OTHER, d->value, d->value_room, 0, REEF_ALIGN_MAX);
    d->value = p;
    d->value_room = bytes;
    return p;
}

uint64_t reef__get_version(decoding *d)
{
    const uint64_t v = reef__get_most(d->in, "a version", 8, d->newest);
    return v == 0 ? v : d->base + v;
}

/* Writes what a note says behind the names. */
static void note_text(const reef_load_note *note, char *text, size_t size)
{
    static const char *const texts[] = {[REEF_NOTE_TYPE_DROPPED] = "isn't known: left out; entities that lost it:",
                                        [REEF_NOTE_FIELD_DROPPED] = "doesn't exist any more: left out",
                                        [REEF_NOTE_FIELD_DEFAULT] = "isn't in the file: default values",
                                        [REEF_NOTE_NAMES_CHANGED] = "has other names: values are translated by name",
                                        [REEF_NOTE_HOME_CHANGED] = "has another home now",
                                        [REEF_NOTE_SYSTEM_UNKNOWN] = "is in the file, but not in the world",
                                        [REEF_NOTE_TAIL_CUT] = "ends in the middle of a record; bytes left out:",
                                        [REEF_NOTE_SCRIPT_UNKNOWN] =
                                            "has scripts of classes that aren't known, which do nothing:"};
    const bool counts = note->kind == REEF_NOTE_TYPE_DROPPED || note->kind == REEF_NOTE_TAIL_CUT ||
                        note->kind == REEF_NOTE_SCRIPT_UNKNOWN;
    if (note->kind == REEF_NOTE_NAME_DROPPED) (void)snprintf(text, size, "has no value %.80s any more: 0", note->was);
    else if (note->was)
        (void)snprintf(text, size, "is %s in the file and %s in the program: %s", note->was, note->is,
                       note->kind == REEF_NOTE_FIELD_CONVERTED ? "converted" : "default values");
    else if (counts) (void)snprintf(text, size, "%s %llu", texts[note->kind], (unsigned long long)note->rows);
    else (void)snprintf(text, size, "%s", texts[note->kind]);
}

void reef__decode_note(decoding *d, const reef_load_note *note)
{
    const reef_load_desc *desc = d->load->desc;
    const char *what = "type ";
    char text[128], message[2 * REEF_TYPE_NAME_MAX + 256];
    if (d->load->quiet) return;
    if (desc && desc->note) {
        desc->note(desc->context, note);
        return;
    }
    if (note->kind == REEF_NOTE_SYSTEM_UNKNOWN) what = "system ";
    if (note->kind == REEF_NOTE_TAIL_CUT) what = "the journal";
    note_text(note, text, sizeof text);
    (void)snprintf(message, sizeof message, "loading: %s%s%s%s %s", what, note->type ? note->type : "",
                   note->field ? ", field " : "", note->field ? note->field : "", text);
    reef__report(d->target, REEF_LOG_WARNING, reef__report_key(message), message);
}

bool reef__decode_keep(decoding *d, const file_type *f, reef_load_note_kind kind, uint32_t op, const char *field,
                       const char *was, const char *is)
{
    const reef_load_note note = {.kind = kind, .field = field, .was = was, .is = is};
    d->load->converted = true;
    if (!reef__decode_room(d, &d->notes, &d->note_room, d->note_count + 1, sizeof *d->notes)) return false;
    d->notes[d->note_count++] = (kept_note){note, f->number, op, f->op_count};
    return true;
}

void reef__decode_notes_tell(decoding *d)
{
    for (uint32_t i = 0; i < d->type_count; i++) {
        d->load->lost += d->types[i].lost;
        for (uint32_t k = 0; k < d->types[i].op_count; k++) d->load->lost += d->types[i].ops[k].lost;
    }
    for (uint32_t i = 0; i < d->note_count; i++) {
        const kept_note *n = &d->notes[i];
        const file_type *f = &d->types[n->type];
        reef_load_note note = n->note;
        note.type = f->name;
        note.values = f->rows;
        if (note.kind == REEF_NOTE_TYPE_DROPPED) note.rows = f->rows;
        if (note.kind == REEF_NOTE_TYPE_DROPPED || note.kind == REEF_NOTE_HOME_CHANGED) note.lost = f->lost;
        for (uint32_t k = n->op; k < n->op_end; k++) note.lost += f->ops[k].lost;
        reef__decode_note(d, &note);
    }
}

file_type *reef__get_type(decoding *d, int homes)
{
    const uint32_t number = reef__get_u32(d->in);
    file_type *f = d->in->status == REEF_OK && number < d->type_count ? &d->types[number] : NULL;
    if (f && home_in(f->home, homes)) return f;
    (void)(f ? reef__in_wrong(d->in, REEF_CORRUPT, "type %.80s has another home", f->name)
             : reef__in_wrong(d->in, REEF_CORRUPT, "type %u isn't described", (unsigned)number));
    return NULL;
}

bool reef__decode_exists(decoding *d, reef_entity e)
{
    return (e.generation && e.index < d->w->hot.index_count) ||
           reef__in_wrong(d->in, REEF_CORRUPT, "entity %uv%u doesn't exist", (unsigned)e.index, (unsigned)e.generation);
}

reef_entity reef__get_entity(decoding *d)
{
    const reef_entity e = reef__get_handle(d->in);
    return reef__decode_exists(d, e) ? e : (reef_entity){0, 0};
}

/* ---- the entity index ---- */

void reef__decode_places_count(reef_world *w, uint32_t place, uint32_t add)
{
    if (place == PLACE_EMPTY) w->hot.empty_count += add;
    else if (place == 2) w->state.retired_count += add;
    else if (place == 1 || place == PLACE_PENDING) w->state.reserved_count += add;
}

bool reef__decode_place(decoding *d, reef_entity e, uint32_t place)
{
    reef_world *w = d->w;
    if (!reef__decode_exists(d, e)) return false;
    const bool writable = record_owned(w, e.index) && !records_are_blank(w, e.index >> REEF_RECORD_BITS);
    if (!writable && reef__record_own(w, e.index) == NULL) return reef__decode_no_memory(d);
    const uint32_t was = (uint32_t)record_read(w, e.index);
    if (was - 1 < PLACE_EMPTY) {
        reef__decode_places_count(w, was, UINT32_MAX);
        record_mark(w, e.index);
    }
    if (place > PLACE_EMPTY) {
        record_put(w, e, place);
        return true;
    }
    reef__decode_places_count(w, place, 1);
    record_put_rowless(w, e, place);
    return true;
}
