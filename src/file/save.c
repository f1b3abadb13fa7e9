/* Saving: a world, the part of it that a query selects, or the difference of two worlds is written as a file with one
 * record: to a path, to memory, or to the caller's writer. A part is saved by way of a fork in which all other entities
 * are destroyed. */
#include "storage/error.h"
#include "change/relation.h"
#include "system/event.h"
#include "system/schedule.h"
#include "world/snapshot.h"
#include "file/file.h"
#include "file/load.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/save.h"
#include "reef/file.h"
#include "reef/log.h"

/* ---- what can be saved ---- */

/* REEF_OK, or an error that is recorded; so do the other functions ..._allowed. */
static reef_status save_allowed(reef_world *w, const char *op)
{
    if (w->running || world_engaged(w)) return reef__refuse(w, REEF_LOCKED, op);
    return reef__events_keep(w) == REEF_OK ? REEF_OK : reef__refuse(w, REEF_NO_MEMORY, op);
}

static reef_status save_record(const record_desc *d, uint16_t flags, reef_writer writer, const char *op)
{
    section_out o;
    numbering n = {.memory = &d->world->family->memory};
    reef__out_begin(&o, n.memory, writer);
    reef__out_header(&o, flags);
    const reef_status s = reef__record_write(&o, &n, d, op);
    reef__out_drop(&o);
    reef__numbering_drop(&n);
    return s;
}

/* ---- a part of a world ---- */

/* Makes a fork without observers, schedule, time and events. NULL: the world's last error says why. */
static reef_world *part_fork(reef_world *w, const char *op)
{
    w->calling = op;
    reef_world *fork = reef__world_restorable(w);
    w->calling = NULL;
    if (fork == NULL) return NULL;
    state *s = &fork->state;
    reef__schedule_leave(fork->family, fork->schedule);
    fork->schedule = NULL;
    reef__observers_follow(fork);
    s->ticks = s->time_ns = s->seed = 0;
    s->absent_count = 0;
    fork->config.misuse = NULL;
    fork->config.log = reef_log_none;
    return fork;
}

/* Sets the bits of the indices whose entities match. */
static void matches_find(reef_world *fork, reef_query q, uint64_t *matching)
{
    for (uint32_t i = 0; i < fork->hot.index_count; i++)
        if (reef_query_matches(fork, q, reef_entity_at(fork, i))) matching[i / 64] |= UINT64_C(1) << i % 64;
}

static reef_status others_destroy(reef_world *fork, const uint64_t *matching)
{
    for (uint32_t i = 0; i < fork->hot.index_count; i++) {
        const reef_entity e = reef_entity_at(fork, i);
        const bool unwanted = !reef_entity_is_null(e) && !(matching[i / 64] >> i % 64 & 1);
        const reef_status s = unwanted ? reef_destroy(fork, e) : REEF_OK;
        if (s != REEF_OK) return s;
    }
    return REEF_OK;
}

/* Destroys the entities that don't match. All are asked first, since whether an entity matches may follow from
 * others. */
static reef_status part_select(reef_world *fork, const char *text)
{
    memory *m = &fork->family->memory;
    const size_t bytes = ((size_t)fork->hot.index_count / 64 + 1) * sizeof(uint64_t);
    const reef_query q = reef_query_new(fork, text);
    if (reef_query_is_null(q)) return fork->error.status;
    uint64_t *matching = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    if (matching) matches_find(fork, q, matching);
    reef_status s = matching ? reef_query_free(fork, q) : REEF_NO_MEMORY;
    fork->untargeted = true; /* nobody who matches goes with somebody who doesn't */
    if (s == REEF_OK) s = others_destroy(fork, matching);
    if (s == REEF_OK && !reef__relations_end_dead(fork)) s = REEF_NO_MEMORY;
    reef__memory_free(m, MEMORY_OTHER, matching, bytes);
    return s;
}

static reef_status part_write(reef_world *w, const record_desc *d, const char *text, uint16_t flags, reef_writer writer,
                              const char *op)
{
    w->calling = op;
    const reef_query q = reef_query_new(w, text); /* made in the world itself for its error message */
    w->calling = NULL;
    if (reef_query_is_null(q)) return w->error.status;
    (void)reef_query_free(w, q);
    record_desc part = *d;
    part.world = part_fork(w, op);
    if (part.world == NULL) return w->error.status;
    part.part = true;
    reef_status s = part_select(part.world, text);
    if (s != REEF_OK) {
        reef__refuse(w, s, op);
    } else {
        s = save_record(&part, flags, writer, op);
        if (s != REEF_OK && s != REEF_IO) reef__failure_record(w, &part.world->error);
    }
    reef_world_free(part.world);
    return s;
}

/* What is written: a world, or its difference from `base`. */
typedef struct saving {
    reef_world *world, *base;
    const reef_save_desc *desc;
    const char *op;
    bool difference, here;
    reef_status written; /* what writing the record answered */
} saving;

static reef_status difference_allowed(const saving *x, const reef_save_desc *desc)
{
    reef_world *w = x->world, *base = x->base;
    if (base == NULL) return misuse_refuse(w, x->op, "there is no world from which the other one differs");
    if (desc->query) return misuse_refuse(w, x->op, "a difference is one of whole worlds: it has no `query`");
    if (base->family != w->family) return reef__refuse(w, REEF_OTHER_WORLD, x->op);
    const reef_status s = save_allowed(w, x->op);
    if (s != REEF_OK || base == w || save_allowed(base, x->op) == REEF_OK) return s;
    return base->running ? REEF_LOCKED : reef__failure_record(w, &base->error);
}

/* All errors but IO are recorded. */
static reef_status saving_write(void *context, reef_writer writer)
{
    static const reef_save_desc defaults;
    saving *x = context;
    reef_world *w = x->world;
    const reef_save_desc *desc = x->desc ? x->desc : &defaults;
    const record_desc d = {.world = w,
                           .base = x->base,
                           .form = x->here     ? PACK_HERE
                                   : desc->raw ? PACK_RAW
                                               : PACK_PORTABLE,
                           .sealed = desc->sealed,
                           .progress = desc->progress,
                           .context = desc->context};
    const uint16_t raw = desc->raw || x->here ? FILE_RAW_HERE : 0;
    const uint16_t flags = (uint16_t)(raw | (x->difference ? FILE_DIFFERENCE : 0));
    x->written = x->difference ? difference_allowed(x, desc) : save_allowed(w, x->op);
    if (x->written != REEF_OK) return x->written;
    world_hold(w);
    x->written =
        desc->query ? part_write(w, &d, desc->query, flags, writer, x->op) : save_record(&d, flags, writer, x->op);
    world_let_go(w);
    return x->written;
}

static reef_status save_to(saving *x, reef_writer writer)
{
    if (!WORLD_GIVEN_TO(x->world, x->op)) return REEF_BAD_ARGUMENT;
    if (writer.write == NULL) return misuse_refuse(x->world, x->op, "the writer has no function `write`");
    const reef_status s = saving_write(x, writer);
    return s == REEF_IO ? reef__refuse(x->world, s, x->op) : s;
}

COLD reef_status reef_save_to(reef_world *w, reef_writer writer, const reef_save_desc *desc)
{
    return save_to(&(saving){.world = w, .desc = desc, .op = "reef_save_to"}, writer);
}

COLD reef_status reef_diff_save(reef_world *before, reef_world *after, reef_writer writer, const reef_save_desc *desc)
{
    return save_to(&(saving){after, before, desc, "reef_diff_save", true, false, REEF_OK}, writer);
}

/* ---- files ---- */

COLD reef_status reef_save(reef_world *w, const char *path, const reef_save_desc *desc)
{
    static const char op[] = "reef_save";
    char reason[REEF_DETAIL_MAX];
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (path == NULL || path[0] == 0) return misuse_refuse(w, op, "the path is empty");
    saving x = {.world = w, .desc = desc, .op = op};
    reef_status s = save_allowed(w, op);
    if (s != REEF_OK) return s;
    s = reef__file_replace(&w->family->memory, path, desc == NULL || !desc->unsynced, saving_write, &x, NULL, reason);
    if (s == REEF_IO) return reef__failure_detail(w, s, op, 0, reason);
    if (s != x.written) reef__refuse(w, s, op);
    return s;
}

/* ---- memory ---- */

/* What stands before the bytes that the caller gets: the allocator that must free them. */
typedef struct saved_head {
    reef_allocator allocator;
    size_t room; /* bytes of the whole block */
} saved_head;

enum { SAVED_HEAD = (int)((sizeof(saved_head) + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN), SAVED_FIRST = 4096 };

typedef struct saved_bytes {
    reef_allocator allocator;
    char *memory; /* the head, then the bytes */
    size_t room, used;
} saved_bytes;

static reef_status saved_bytes_write(void *context, const void *bytes, size_t count)
{
    saved_bytes *x = context;
    if (count > x->room - x->used) {
        size_t room = x->room ? x->room : SAVED_FIRST;
        if (count > SIZE_MAX / 2 - x->used) return REEF_NO_MEMORY;
        while (room < x->used + count) room *= 2;
        char *p = x->allocator.resize(x->allocator.context, x->memory, x->room, room, PLAIN_ALIGN);
        if (p == NULL) return REEF_NO_MEMORY;
        x->memory = p;
        x->room = room;
    }
    memcpy(x->memory + x->used, bytes, count);
    x->used += count;
    return REEF_OK;
}

static reef_status save_bytes(saving *x, reef_bytes *bytes)
{
    static const unsigned char no_head[SAVED_HEAD];
    if (bytes) *bytes = (reef_bytes){NULL, 0};
    if (!WORLD_GIVEN_TO(x->world, x->op)) return REEF_BAD_ARGUMENT;
    if (bytes == NULL) return misuse_refuse(x->world, x->op, "`bytes`, where the bytes go, is NULL");
    saved_bytes to = {.allocator = x->world->family->memory.allocator};
    reef_status s = saved_bytes_write(&to, no_head, sizeof no_head);
    if (s == REEF_OK) s = saving_write(x, (reef_writer){saved_bytes_write, &to});
    else reef__refuse(x->world, s, x->op);
    if (s == REEF_OK) {
        const saved_head head = {to.allocator, to.room};
        memcpy(to.memory, &head, sizeof head);
        *bytes = (reef_bytes){to.memory + SAVED_HEAD, to.used - SAVED_HEAD};
    } else if (to.room) {
        to.allocator.resize(to.allocator.context, to.memory, to.room, 0, PLAIN_ALIGN);
    }
    return s;
}

COLD reef_status reef_save_bytes(reef_world *w, reef_bytes *bytes, const reef_save_desc *desc)
{
    return save_bytes(&(saving){.world = w, .desc = desc, .op = "reef_save_bytes"}, bytes);
}

COLD reef_status reef__save_here(reef_world *w, reef_bytes *bytes, const char *operation)
{
    return save_bytes(&(saving){.world = w, .op = operation, .here = true}, bytes);
}

COLD reef_status reef_diff_bytes(reef_world *before, reef_world *after, reef_bytes *bytes, const reef_save_desc *desc)
{
    return save_bytes(&(saving){after, before, desc, "reef_diff_bytes", true, false, REEF_OK}, bytes);
}

COLD void reef_bytes_free(reef_bytes *bytes)
{
    if (bytes == NULL || bytes->data == NULL) return;
    saved_head head;
    char *p = (char *)bytes->data - SAVED_HEAD;
    memcpy(&head, p, sizeof head);
    head.allocator.resize(head.allocator.context, p, head.room, 0, PLAIN_ALIGN);
    *bytes = (reef_bytes){NULL, 0};
}
