/* Loading: a world is read aside from a file and proved sound; then it exchanges its state with the world that
 * loads. So a file that is refused leaves that world as it was. */
#include "file/load.h"
#include "storage/error.h"
#include "system/schedule.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "file/decoding.h"
#include "file/file.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/save.h"
#include "reef/system.h"
#include "reef/file.h"
#include "reef/control.h"

/* Switches the systems on or off as in the file. The world's schedule is shared with `loaded`, so that becomes another
 * one, and `loaded` still has what was. */
static reef_status switches_put(reef_world *w, const decoding *d)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; s && i < s->count; i++) {
        for (uint32_t k = 0; k < d->switch_count; k++) {
            if (s->entries[i].system->serial != d->switches[k].serial) continue;
            const reef_system_id id = reef__slot_handle(s->slots, s->entries[i].slot);
            const reef_status status = reef_system_enable(w, id, d->switches[k].on);
            if (status != REEF_OK) return status;
            s = w->schedule;
        }
    }
    return REEF_OK;
}

static void schedule_return(reef_world *w, reef_world *loaded)
{
    schedule *s = w->schedule;
    w->schedule = loaded->schedule;
    loaded->schedule = s;
    reef__observers_follow(w);
}

reef_status reef__load_commit(reef_world *w, reef_world *loaded, const record_load *r, const char *op)
{
    w->calling = op;
    w->hook_failed.id = 0;
    reef_status s = switches_put(w, r->decoding);
    if (s == REEF_OK && !reef__world_adopt(w, loaded, r->difference))
        s = reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
    if (s != REEF_OK) schedule_return(w, loaded);
    w->calling = NULL;
    return s;
}

void reef__load_return(reef_world *w, reef_world *loaded, const skips_room *room)
{
    reef__skips_commit(w, loaded, room);
    reef__state_exchange(w, loaded);
    schedule_return(w, loaded);
}

/* Reads a file from `in`, which it drops, and commits it. */
static reef_status load_read(const load_call *x, section_in *in)
{
    reef_world *w = x->world;
    record_load r = {.desc = x->desc,
                     .numbering = {.memory = in->memory},
                     .difference = x->difference,
                     .planned = x->lost != NULL,
                     .here = x->here};
    reef_status status = REEF_NO_MEMORY;
    w->hook_failed.id = 0;
    w->calling = x->op;
    reef_world *loaded = x->difference ? reef__world_restorable(w) : reef__world_blank(w);
    w->calling = NULL;
    if (loaded == NULL) {
        if (!x->difference) reef__refuse(w, REEF_NO_MEMORY, x->op);
        status = w->error.status;
    } else if (reef__file_read(in, &r, loaded, w)) {
        if (x->lost) status = REEF_OK;
        else status = x->take ? x->take(x, &r, loaded) : reef__load_commit(w, loaded, &r, x->op);
    } else {
        const char *why = in->status == REEF_IO && x->file ? reef__file_in_reason(x->file) : "";
        status = reef__failure_detail(w, in->status, x->op, in->wrong_at, why[0] ? why : in->detail);
    }
    if (x->lost) *x->lost = r.lost;
    reef__record_load_drop(&r);
    reef_world_free(loaded);
    reef__in_drop(in);
    return status;
}

static reef_status load_allowed(reef_world *w, const char *op, bool given)
{
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (!given) return misuse_refuse(w, op, "what is to be read, a path, a reader or bytes, is missing");
    return w->running || world_engaged(w) || w->time_owner ? reef__refuse(w, REEF_LOCKED, op) : REEF_OK;
}

static reef_status bytes_read(const load_call *x, const void *data, size_t size)
{
    section_in in;
    const reef_status s = load_allowed(x->world, x->op, data != NULL || size == 0);
    if (s != REEF_OK) return s;
    reef__in_begin_memory(&in, &x->world->family->memory, data, size);
    return load_read(x, &in);
}

COLD reef_status reef_load_bytes(reef_world *w, const void *data, size_t size, const reef_load_desc *desc)
{
    return bytes_read(&(load_call){.world = w, .op = "reef_load_bytes", .desc = desc}, data, size);
}

COLD reef_status reef__load_here(reef_world *w, const reef_bytes *bytes, const char *operation,
                                 const reef_load_desc *desc)
{
    const load_call x = {.world = w, .op = operation, .desc = desc, .here = true};
    return bytes_read(&x, bytes->data, bytes->size);
}

COLD reef_status reef_diff_apply(reef_world *w, const void *data, size_t size)
{
    return bytes_read(&(load_call){.world = w, .op = "reef_diff_apply", .difference = true}, data, size);
}

COLD reef_status reef_load_from(reef_world *w, reef_reader reader, const reef_load_desc *desc)
{
    const load_call x = {.world = w, .op = "reef_load_from", .desc = desc};
    section_in in;
    const reef_status s = load_allowed(w, x.op, reader.read != NULL);
    if (s != REEF_OK) return s;
    reef__in_begin(&in, &w->family->memory, reader, UINT64_MAX);
    return load_read(&x, &in);
}

COLD reef_status reef__load_path(load_call *x, const char *path)
{
    char reason[REEF_DETAIL_MAX];
    section_in in;
    memory *m = &x->world->family->memory;
    reef_status s = reef__file_in_open(m, path, &x->file, reason);
    if (s != REEF_OK) return reef__failure_detail(x->world, s, x->op, 0, reason);
    reef__in_begin(&in, m, reef__file_in_reader(x->file), reef__file_in_size(x->file));
    s = load_read(x, &in);
    reef__file_in_close(x->file);
    return s;
}

static reef_status path_read(load_call *x, const char *path)
{
    const reef_status s = load_allowed(x->world, x->op, path != NULL);
    return s == REEF_OK ? reef__load_path(x, path) : s;
}

COLD reef_status reef_load(reef_world *w, const char *path, const reef_load_desc *desc)
{
    return path_read(&(load_call){.world = w, .op = "reef_load", .desc = desc}, path);
}

COLD reef_status reef_load_plan(reef_world *w, const char *path, const reef_load_desc *desc, uint64_t *lost)
{
    uint64_t unwanted;
    return path_read(&(load_call){.world = w, .op = "reef_load_plan", .desc = desc, .lost = lost ? lost : &unwanted},
                     path);
}
