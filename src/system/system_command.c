/* Commands that concern systems: a system adds, replaces, removes or switches systems, also itself. The commands are
 * done when the phase has ended.
 *
 * A description is recorded as it is, with its texts behind it, and is read only when the command is done: reading it
 * may make types and phases known to the world, which a job must not do. Its context belongs to reef from the
 * recording on. */
#include "base/platform.h"
#include "storage/error.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "system/job.h"
#include "system/system.h"
#include "reef/command.h"
#include <stdio.h>

typedef enum system_change { SYSTEM_NEW = 1, SYSTEM_REPLACE, SYSTEM_REMOVE, SYSTEM_ON, SYSTEM_OFF } system_change;

/* A recorded description. Its texts follow, and its pointers point to them. */
typedef struct held_system {
    const char *target; /* the name of the system that it replaces */
    reef_system_desc desc;
    reef_query_desc query;
} held_system;

/* ---- recording ---- */

static COLD size_t text_bytes(const char *text) { return text ? strlen(text) + 1 : 0; }

static COLD const char *text_keep(char **room, const char *text)
{
    if (text == NULL) return NULL;
    char *copy = *room;
    const size_t bytes = text_bytes(text);
    memcpy(copy, text, bytes);
    *room += bytes;
    return copy;
}

static COLD reef_status system_command_run(reef_world *w, uint32_t what, const void *held);
static COLD void system_command_forget(uint32_t what, const void *held);
static const command_call system_command_call = {system_command_run, system_command_forget};

static COLD void *system_room(job *j, const char *op, system_change what, size_t bytes)
{
    j->commands.by = &j->by;
    return reef__command_bytes(j->world, &j->commands, op, &system_command_call, (uint32_t)what, bytes);
}

static COLD reef_status bad_argument(job *j, const char *op)
{
    return reef__job_failure(j, REEF_BAD_ARGUMENT, op, (reef_component){0}, (reef_entity){0, 0}, 0);
}

static COLD reef_status system_keep(job *j, const char *op, const char *target, const reef_system_desc *desc)
{
    if (desc == NULL || desc->function == NULL || !reef__system_name_allowed(desc->name)) return bad_argument(j, op);
    const char *words = desc->query ? desc->query->text : NULL;
    const size_t bytes = sizeof(held_system) + text_bytes(target) + text_bytes(desc->name) + text_bytes(desc->text) +
                         text_bytes(words) + text_bytes(desc->phase) + text_bytes(desc->before) +
                         text_bytes(desc->after);
    held_system *h = system_room(j, op, target ? SYSTEM_REPLACE : SYSTEM_NEW, bytes);
    if (h == NULL) return REEF_NO_MEMORY;
    char *room = (char *)(h + 1);
    h->target = text_keep(&room, target);
    h->desc = *desc;
    h->desc.name = text_keep(&room, desc->name);
    h->desc.text = text_keep(&room, desc->text);
    h->desc.phase = text_keep(&room, desc->phase);
    h->desc.before = text_keep(&room, desc->before);
    h->desc.after = text_keep(&room, desc->after);
    if (desc->query == NULL) return REEF_OK;
    h->query = *desc->query;
    h->query.text = text_keep(&room, words);
    h->desc.query = &h->query;
    return REEF_OK;
}

static COLD reef_status name_keep(job *j, const char *op, system_change what, const char *name)
{
    if (!reef__system_name_allowed(name)) return bad_argument(j, op);
    char *held = system_room(j, op, what, strlen(name) + 1);
    if (held == NULL) return REEF_NO_MEMORY;
    strcpy(held, name);
    return REEF_OK;
}

/* ---- doing them ---- */

/* Finds a system by name. Null: there is none, and this is recorded. */
static COLD reef_system_id system_named(reef_world *w, const char *op, const char *name)
{
    char detail[REEF_DETAIL_MAX];
    const reef_system_id found = reef_system_find(w, name);
    if (!reef_system_is_null(found)) return found;
    snprintf(detail, sizeof detail, "no system is named %s", name ? name : "(null)");
    reef__failure_detail(w, REEF_NOT_ALIVE, op, 0, detail);
    return found;
}

static COLD reef_status system_new_named(reef_world *w, const reef_system_desc *desc)
{
    return reef_system_is_null(reef_system_new(w, desc)) ? w->error.status : REEF_OK;
}

static COLD reef_status system_replace_named(reef_world *w, const char *name, const reef_system_desc *desc)
{
    const reef_system_id found = system_named(w, "reef_system_replace", name);
    return reef_system_is_null(found) ? w->error.status : reef_system_replace(w, found, desc);
}

static COLD reef_status system_remove_named(reef_world *w, const char *name)
{
    const reef_system_id found = system_named(w, "reef_system_remove", name);
    return reef_system_is_null(found) ? w->error.status : reef_system_remove(w, found);
}

static COLD reef_status system_switch_named(reef_world *w, const char *name, bool on)
{
    const reef_system_id found = system_named(w, "reef_system_switch", name);
    return reef_system_is_null(found) ? w->error.status : reef_system_switch(w, found, on);
}

static COLD reef_status system_command_run(reef_world *w, uint32_t what, const void *held)
{
    const held_system *h = held;
    switch ((system_change)what) {
    case SYSTEM_NEW: return system_new_named(w, &h->desc);
    case SYSTEM_REPLACE: return system_replace_named(w, h->target, &h->desc);
    case SYSTEM_REMOVE: return system_remove_named(w, held);
    default: return system_switch_named(w, held, what == SYSTEM_ON);
    }
}

static COLD void system_command_forget(uint32_t what, const void *held)
{
    const held_system *h = held;
    if ((what == SYSTEM_NEW || what == SYSTEM_REPLACE) && h->desc.context_free) h->desc.context_free(h->desc.context);
}

/* ---- the calls ---- */

COLD reef_status reef_cmd_system_new(reef_block *b, const reef_system_desc *desc)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    return b->job ? system_keep(b->job, "reef_cmd_system_new", NULL, desc) : system_new_named(b->world, desc);
}

COLD reef_status reef_cmd_system_replace(reef_block *b, const char *name, const reef_system_desc *desc)
{
    static const char op[] = "reef_cmd_system_replace";
    if (b == NULL) return REEF_BAD_ARGUMENT;
    if (b->job == NULL) return system_replace_named(b->world, name, desc);
    return reef__system_name_allowed(name) ? system_keep(b->job, op, name, desc) : bad_argument(b->job, op);
}

COLD reef_status reef_cmd_system_remove(reef_block *b, const char *name)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    return b->job ? name_keep(b->job, "reef_cmd_system_remove", SYSTEM_REMOVE, name)
                  : system_remove_named(b->world, name);
}

COLD reef_status reef_cmd_system_switch(reef_block *b, const char *name, bool on)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    return b->job ? name_keep(b->job, "reef_cmd_system_switch", on ? SYSTEM_ON : SYSTEM_OFF, name)
                  : system_switch_named(b->world, name, on);
}
