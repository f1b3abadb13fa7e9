/* Journals.
 *
 *      file:     header │ record of the whole world │ record │ record │ ...    each: the difference to the state before
 *      memory:   base, a fork in the state of the last record ──► the next record is what the world differs from it
 *
 * A journal costs the memory of that fork and nothing else. When an append fails, what it wrote behind the last
 * whole record is taken back; after a crash, whoever opens the journal again cuts it off. When it is unknown what
 * the file holds (`broken`), the next append writes a new file. */
#include "base/os_file.h"
#include "storage/error.h"
#include "storage/removal_log.h"
#include "system/event.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "file/file.h"
#include "file/load.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/journal.h"
#include "reef/file.h"

struct reef_journal {
    reef_world *world, *base;
    file_out *out;
    numbering numbers;
    uint64_t chain, whole_bytes;
    bool raw, synced, broken;
    uint64_t compact_bytes;
    reef_progress progress;
    void *context;
    char path[DISK_PATH_MAX];
};

static memory *journal_memory(const reef_journal *j) { return &j->world->family->memory; }

static reef_status journal_failed(const reef_journal *j, reef_status s, const char *op, const char *detail)
{
    return reef__failure_detail(j->world, s, op, 0, detail);
}

/* A fork in the state of the world as it is now. NULL: the error is recorded. */
static reef_world *journal_state(reef_world *w, const char *op)
{
    w->calling = op;
    reef_world *now = reef__world_restorable(w);
    w->calling = NULL;
    return now;
}

static void journal_hold(reef_journal *j, reef_world *now)
{
    reef_world_free(j->base);
    j->base = now;
}

/* ---- writing ---- */

/* Records an error of the file. All other errors are recorded already. */
static reef_status journal_said(const reef_journal *j, reef_status s, const char *op, const char *reason)
{
    return s == REEF_OK || s != REEF_IO ? s : journal_failed(j, s, op, reason);
}

typedef struct journal_whole {
    reef_journal *journal;
    const char *op;
    section_out out;
    numbering numbers;
    reef_status written; /* what writing the record answered */
} journal_whole;

static reef_status journal_produce(void *context, reef_writer writer)
{
    journal_whole *x = context;
    const reef_journal *j = x->journal;
    reef__out_begin(&x->out, journal_memory(j), writer);
    reef__out_header(&x->out, j->raw ? FILE_JOURNAL | FILE_RAW_HERE : FILE_JOURNAL);
    const record_desc d = {
        .world = j->world, .form = j->raw ? PACK_RAW : PACK_PORTABLE, .progress = j->progress, .context = j->context};
    x->written = reef__record_write(&x->out, &x->numbers, &d, x->op);
    reef__out_drop(&x->out);
    return x->written;
}

/* Writes the whole world into a new file, which replaces the old one. */
static reef_status journal_rewrite(reef_journal *j, const char *op)
{
    char reason[REEF_DETAIL_MAX];
    journal_whole x = {.journal = j, .op = op, .numbers = {.memory = journal_memory(j)}};
    file_out *out = NULL;
    reef_world *now = journal_state(j->world, op);
    if (now == NULL) return j->world->error.status;
    /* It is always synced: in a crash of the system an unsynced journal may lose its last records, but never the whole
     * file. */
    const reef_status s = reef__file_replace(journal_memory(j), j->path, true, journal_produce, &x, &out, reason);
    if (out == NULL) { /* the name still leads to the old file */
        reef__numbering_drop(&x.numbers);
        reef_world_free(now);
        return s == REEF_IO || s != x.written ? journal_failed(j, s, op, reason) : s;
    }
    reef__file_append_close(j->out);
    reef__numbering_drop(&j->numbers);
    j->out = out;
    j->numbers = x.numbers;
    j->chain = x.out.chain;
    j->whole_bytes = x.out.bytes;
    j->broken = s != REEF_OK;
    journal_hold(j, now);
    return journal_said(j, s, op, reason);
}

static reef_status journal_write(reef_journal *j, const char *op)
{
    char reason[REEF_DETAIL_MAX] = "";
    section_out o;
    const numbering was = j->numbers;
    reef_world *now = journal_state(j->world, op);
    if (now == NULL) return j->world->error.status;
    reef__out_begin(&o, journal_memory(j), reef__file_append_writer(j->out));
    o.chain = j->chain;
    const record_desc d = {.world = j->world,
                           .base = j->base,
                           .form = j->raw ? PACK_RAW : PACK_PORTABLE,
                           .unsynced = !j->synced,
                           .progress = j->progress,
                           .context = j->context};
    reef_status s = reef__record_write(&o, &j->numbers, &d, op);
    if (s == REEF_OK) s = reef__file_append_named(j->out, reason);
    if (s == REEF_OK || (s == REEF_IO && reason[0] == 0)) s = reef__file_append_commit(j->out, j->synced, reason);
    if (s == REEF_OK) {
        j->chain = o.chain;
        journal_hold(j, now);
    } else {
        reef__file_append_undo(j->out);
        j->broken = reef__file_append_unknown(j->out);
        j->numbers.types.count = was.types.count;
        j->numbers.tables.count = was.tables.count;
        j->numbers.records = was.records;
        j->numbers.bare = was.bare;
        reef_world_free(now);
    }
    reef__out_drop(&o);
    return journal_said(j, s, op, reason);
}

static bool journal_allowed(const reef_journal *j, const char *op)
{
    const reef_world *w = j->world;
    if (!w->running && !world_engaged(w)) return true;
    return reef__refuse(j->world, REEF_LOCKED, op), false;
}

/* Writes the file anew, unless somebody else has put another file in its place. */
static reef_status journal_renew(reef_journal *j, const char *op)
{
    char reason[REEF_DETAIL_MAX];
    const reef_status s = reef__file_append_named(j->out, reason);
    return s == REEF_OK ? journal_rewrite(j, op) : journal_failed(j, s, op, reason);
}

reef_status reef_journal_append(reef_journal *j)
{
    static const char op[] = "reef_journal_append";
    if (j == NULL) return REEF_BAD_ARGUMENT;
    if (!journal_allowed(j, op)) return REEF_LOCKED;
    if (j->broken || reef__numbering_outdated(&j->numbers)) return journal_renew(j, op);
    const reef_status s = journal_write(j, op);
    const uint64_t bytes = reef__file_append_length(j->out);
    if (s != REEF_OK || j->compact_bytes == 0 || bytes <= j->compact_bytes || bytes / 2 <= j->whole_bytes) return s;
    return journal_rewrite(j, op);
}

reef_status reef_journal_compact(reef_journal *j)
{
    static const char op[] = "reef_journal_compact";
    if (j == NULL) return REEF_BAD_ARGUMENT;
    return journal_allowed(j, op) ? journal_rewrite(j, op) : REEF_LOCKED;
}

/* ---- opening ---- */

/* Takes over a file that can be continued. All that can fail comes before the file's state becomes the world's. */
static reef_status journal_go_on(reef_journal *j, const file_in *file, record_load *r, reef_world *loaded,
                                 const char *op)
{
    char reason[REEF_DETAIL_MAX] = "";
    j->base = journal_state(loaded, op);
    if (j->base == NULL) return reef__failure_record(j->world, &loaded->error);
    const reef_status s = reef__file_append_open(journal_memory(j), j->path, r->sound_bytes, file, &j->out, reason);
    if (s != REEF_OK) return journal_failed(j, s, op, reason);
    j->numbers = r->numbering;
    r->numbering = (numbering){.memory = journal_memory(j)};
    j->chain = r->sound_chain;
    j->whole_bytes = r->whole_bytes;
    return reef__load_commit(j->world, loaded, r, op);
}

/* Takes over a file that can't be continued: it isn't a journal, or its types are others now. The file is written anew;
 * where that fails the world gets its old state back. */
static reef_status journal_take_over(reef_journal *j, const record_load *r, reef_world *loaded, const char *op)
{
    reef_world *w = j->world;
    skips_room room = {0};
    w->hook_failed.id = 0;
    const bool ready = reef__events_keep(w) == REEF_OK && reef__readers_note(w) && reef__skips_prepare(w, &room);
    reef_status s = ready ? reef__load_commit(w, loaded, r, op)
                          : reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
    if (s == REEF_OK && (s = journal_rewrite(j, op)) != REEF_OK) {
        const reef_error said = w->error;
        journal_hold(j, NULL); /* the base may share memory of the state that goes back */
        reef__load_return(w, loaded, &room);
        w->error = said;
    }
    reef__skips_free(w->family, &room);
    return s;
}

static reef_status journal_continue(const load_call *x, record_load *r, reef_world *loaded)
{
    reef_journal *j = x->context;
    const bool anew = r->converted || !(r->flags & FILE_JOURNAL) || ((r->flags & FILE_RAW) != 0) != j->raw;
    return anew ? journal_take_over(j, r, loaded, x->op) : journal_go_on(j, x->file, r, loaded, x->op);
}

static reef_status journal_begin(reef_journal *j, const reef_journal_desc *desc, const char *op)
{
    char reason[REEF_DETAIL_MAX];
    disk_look seen;
    const int error = reef__disk_look_at(j->path, &seen);
    if (error) {
        reef__file_say(reason, "stat", j->path, error);
        return journal_failed(j, REEF_IO, op, reason);
    }
    if (!seen.exists || desc->fresh) return journal_rewrite(j, op);
    load_call x = {.world = j->world, .op = op, .desc = &desc->load, .take = journal_continue, .context = j};
    return reef__load_path(&x, j->path);
}

static void journal_drop(reef_journal *j)
{
    reef__file_append_close(j->out);
    reef_world_free(j->base);
    reef__numbering_drop(&j->numbers);
    reef__memory_free(journal_memory(j), MEMORY_OTHER, j, sizeof *j);
}

COLD reef_journal *reef_journal_open(reef_world *w, const char *path, const reef_journal_desc *desc)
{
    static const char op[] = "reef_journal_open";
    static const reef_journal_desc defaults;
    if (!WORLD_GIVEN(w)) return NULL;
    if (path == NULL || path[0] == 0 || strlen(path) >= DISK_PATH_MAX)
        return (void)reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, "the path is empty or too long"), NULL;
    if (w->running || world_engaged(w)) return (void)reef__refuse(w, REEF_LOCKED, op), NULL;
    reef_journal *j = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *j);
    if (j == NULL) return (void)reef__refuse(w, REEF_NO_MEMORY, op), NULL;
    if (desc == NULL) desc = &defaults;
    j->world = w;
    j->numbers.memory = &w->family->memory;
    j->raw = desc->raw;
    j->synced = !desc->unsynced;
    j->compact_bytes = desc->compact_bytes;
    j->progress = desc->load.progress;
    j->context = desc->load.context;
    strcpy(j->path, path);
    if (journal_begin(j, desc, op) == REEF_OK) return j;
    journal_drop(j);
    return NULL;
}

reef_journal_info reef_journal_stats(const reef_journal *j)
{
    if (j == NULL) return (reef_journal_info){0};
    return (reef_journal_info){
        .records = j->numbers.records, .bytes = reef__file_append_length(j->out), .whole_bytes = j->whole_bytes};
}

COLD void reef_journal_close(reef_journal *j)
{
    if (j) journal_drop(j);
}
