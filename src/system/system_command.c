/* Commands that concern systems: a system adds, replaces, removes or switches systems, also itself. The commands are
 * done when the phase has ended.
 *
 * A description is recorded as it is, with its texts behind it, and is read only when the command is done: reading it
 * may make types and phases known to the world, which a job must not do. Its context belongs to reef from the
 * recording on. */
#include "base/kept_text.h"
#include "storage/error.h"
#include "change/command.h"
#include "system/job.h"
#include "system/system.h"
#include "reef/command_system.h"
#include "reef/control.h"
#include <stdio.h>

typedef enum system_change { SYSTEM_NEW = 1, SYSTEM_REPLACE, SYSTEM_REMOVE, SYSTEM_ON, SYSTEM_OFF } system_change;

/* A recorded description. Its texts follow, and its pointers point to them. */
typedef struct held_system {
    const char *target; /* the name of the system that it replaces */
    reef_system_desc desc;
    reef_query_desc query;
} held_system;

/* ---- doing them ---- */

/* Does a command for the system of this name, or for a new one. */
static COLD reef_status system_do(reef_world *w, system_change what, const char *name, const reef_system_desc *desc)
{
    static const char *const ops[] = {[SYSTEM_REPLACE] = "reef_system_replace",
                                      [SYSTEM_REMOVE] = "reef_system_remove",
                                      [SYSTEM_ON] = "reef_system_enable",
                                      [SYSTEM_OFF] = "reef_system_enable"};
    char detail[REEF_DETAIL_MAX];
    if (what == SYSTEM_NEW) return reef_system_is_null(reef_system_new(w, desc)) ? w->error.status : REEF_OK;
    const reef_system_id found = reef_system_find(w, name);
    if (reef_system_is_null(found)) {
        snprintf(detail, sizeof detail, "no system is named %s", name ? name : "(null)");
        return reef__failure_detail(w, REEF_NOT_ALIVE, ops[what], 0, detail);
    }
    if (what == SYSTEM_REPLACE) return reef_system_replace(w, found, desc);
    return what == SYSTEM_REMOVE ? reef_system_remove(w, found) : reef_system_enable(w, found, what == SYSTEM_ON);
}

/* What is recorded is a held_system where the command has a description, and otherwise the name of a system. */
static bool is_described(uint32_t what) { return what == SYSTEM_NEW || what == SYSTEM_REPLACE; }

static COLD reef_status system_command_run(reef_world *w, uint32_t what, const void *held)
{
    const held_system *h = held;
    return is_described(what) ? system_do(w, (system_change)what, h->target, &h->desc)
                              : system_do(w, (system_change)what, held, NULL);
}

static COLD void system_command_forget(uint32_t what, const void *held)
{
    const held_system *h = held;
    if (is_described(what) && h->desc.context_free) h->desc.context_free(h->desc.context);
}

static const command_call system_command_call = {system_command_run, system_command_forget};

/* ---- recording ---- */

static COLD void *system_room(job *j, const char *op, system_change what, size_t bytes)
{
    j->commands.by = &j->by;
    return reef__command_bytes(j->world, &j->commands, op, &system_command_call, (uint32_t)what, bytes);
}

static const char name_wrong[] = "a system's name has no spaces, commas, semicolons or quotes, and at least one byte";

static COLD reef_status bad_argument(job *j, const char *op, const char *why)
{
    return reef__job_misuse(j, op, (reef_component){0}, (reef_entity){0, 0}, why);
}

static COLD reef_status system_keep(job *j, const char *op, system_change what, const char *target,
                                    const reef_system_desc *desc)
{
    if (desc == NULL) return bad_argument(j, op, "the description is NULL");
    if (desc->function == NULL) return bad_argument(j, op, "a system needs a function");
    if (!reef__system_name_allowed(desc->name)) return bad_argument(j, op, name_wrong);
    held_system x = {.target = what == SYSTEM_NEW ? NULL : target, .desc = *desc};
    if (desc->query) x.query = *desc->query;
    const char **const texts[] = {&x.target,      &x.desc.name,  &x.desc.text, &x.desc.phase,
                                  &x.desc.before, &x.desc.after, &x.query.text};
    const size_t count = sizeof texts / sizeof *texts;
    size_t bytes = sizeof x;
    for (size_t i = 0; i < count; i++) bytes += kept_bytes(*texts[i]);
    held_system *h = system_room(j, op, what, bytes);
    if (h == NULL) return REEF_NO_MEMORY;
    char *room = (char *)(h + 1);
    for (size_t i = 0; i < count; i++) *texts[i] = text_copy(&room, *texts[i]);
    *h = x;
    if (desc->query) h->desc.query = &h->query;
    return REEF_OK;
}

static COLD reef_status name_keep(job *j, const char *op, system_change what, const char *name)
{
    char *held = system_room(j, op, what, kept_bytes(name));
    return held == NULL ? REEF_NO_MEMORY : (strcpy(held, name), REEF_OK);
}

/* Records the command of a system. Outside of systems it is done at once. */
static COLD reef_status system_ask(reef_block *b, const char *op, system_change what, const char *name,
                                   const reef_system_desc *desc)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    if (b->loop.job == NULL) return system_do(b->world, what, name, desc);
    if (what != SYSTEM_NEW && !reef__system_name_allowed(name)) return bad_argument(b->loop.job, op, name_wrong);
    return is_described(what) ? system_keep(b->loop.job, op, what, name, desc) : name_keep(b->loop.job, op, what, name);
}

/* ---- the calls ---- */

COLD reef_status reef_cmd_system_new(reef_block *b, const reef_system_desc *desc)
{
    return system_ask(b, "reef_cmd_system_new", SYSTEM_NEW, NULL, desc);
}

COLD reef_status reef_cmd_system_replace(reef_block *b, const char *name, const reef_system_desc *desc)
{
    return system_ask(b, "reef_cmd_system_replace", SYSTEM_REPLACE, name, desc);
}

COLD reef_status reef_cmd_system_remove(reef_block *b, const char *name)
{
    return system_ask(b, "reef_cmd_system_remove", SYSTEM_REMOVE, name, NULL);
}

COLD reef_status reef_cmd_system_enable(reef_block *b, const char *name, bool on)
{
    return system_ask(b, "reef_cmd_system_enable", on ? SYSTEM_ON : SYSTEM_OFF, name, NULL);
}
