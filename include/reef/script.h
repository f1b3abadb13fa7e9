/* Scripts: code that belongs to single entities.
 *
 *     typedef struct { float fuel; } Pilot;
 *     static void pilot_update(reef_script_run *r)
 *     {
 *         Pilot *p = r->data;
 *         p->fuel -= r->dt;
 *         if (p->fuel < 0) reef_cmd_destroy(r->block, r->entity);
 *     }
 *     static const reef_script_class pilot = {.name = "pilot", .size = sizeof(Pilot), .update = pilot_update};
 *     ...
 *     reef_scripts(w, "update", "destroys");
 *     reef_script_add(w, ship, &pilot, &(Pilot){20});
 *
 * Systems are faster and run in parallel; a script is for the one door, boss or quest that is like no other. Two
 * entities with the same components may have different scripts. An entity has at most one script.
 *
 * reef_scripts adds a system "scripts", which is never split. Each of its runs does this:
 *   1. it calls `end` for the scripts that were removed, in that order: by reef_script_remove, or because the entity
 *      was destroyed or the world cleared;
 *   2. for each entity, in the order of their indices, it calls `start`, if it wasn't called yet, and then `update`.
 * For each `start` there is one `end`: in the first run after the script was removed, or when the world is freed. A
 * script that is removed before its start has no `end`. While an entity or its script is disabled (reef_disable), or
 * the entity is a template (reef/prefab.h), `start` and `update` aren't called.
 *
 * A copy is another entity, so its script starts anew, with the data that the original has at that moment, and has an
 * `end` of its own. This holds for clones, for instances, for copies of trees, and for what reef_merge adds.
 *
 * Scripts change the structure by commands, and touch what reef_scripts declared for all of them, as any system does.
 *
 * A script's data, whether it was started, and which scripts wait for their end are part of the state. A fork, also
 * one of a snapshot, has the same entities: it goes on with the scripts as they are, without a second start, and each
 * of them ends in the fork as well. A restore brings back the scripts of the snapshot: scripts that it removes have no
 * end, and one that has ended since lives again, and ends again. The data is copied and dropped as bytes: it may
 * contain handles, which copies of a tree and reef_merge leave as they are, but no pointers to memory that it owns.
 *
 * Files contain all of that too (reef/save.h, reef/journal.h), and classes by name. Before it loads a file, a program
 * registers its classes:
 *
 *     reef_script_know(&pilot);
 *
 * The scripts of a file then go on: nothing starts or ends a second time. A script whose class isn't known keeps its
 * data and does nothing. */
#ifndef REEF_SCRIPT_H
#define REEF_SCRIPT_H

#include "command.h"
#include "system.h"

REEF_BEGIN_C

/* Limits: bytes of a script's data, and classes in a process. */
enum { REEF_SCRIPT_BYTES = 40, REEF_SCRIPT_CLASSES_MAX = 1024 };

/* The argument of a script's functions. It lives until they return. */
typedef struct reef_script_run {
    /* for commands, events, random numbers. NULL in an `end` while the world is freed, when nothing can be changed any
     * more */
    reef_block *block;
    reef_world *world;
    reef_entity entity; /* in `end` it may be dead */
    void *data;         /* the script's data, aligned to 8 bytes; in `end` a copy of the last data */
    float dt;           /* time step in seconds */
} reef_script_run;

/* A class of scripts: what they do. It must live as long as the worlds that use it. */
typedef struct reef_script_class {
    const char *name;                    /* identifies the class in files and in the hash of the state */
    uint32_t size;                       /* size of the data, 0 ... REEF_SCRIPT_BYTES bytes */
    void (*start)(reef_script_run *run); /* each may be NULL */
    void (*update)(reef_script_run *run);
    void (*end)(reef_script_run *run);
} reef_script_class;

/* The component. reef_script_make makes one for reef_spawn and reef_cmd_spawn, and reef_script_data gives its data.
 * Don't replace a script by reef_set: the old one would have no end. */
typedef struct reef_script {
    union {
        const reef_script_class *script; /* NULL: none */
        uint64_t room;                   /* aligns the data to 8 bytes on machines with pointers of 4 bytes */
    };
    uint64_t name_hash;
    /* kept by reef: the handle of the entity that it was started for, as a number (reef_entity_bits); otherwise it
     * wasn't started. Since this isn't a handle, a copy doesn't get its own, and starts */
    uint64_t started;
    uint8_t data[REEF_SCRIPT_BYTES];
} reef_script;

/* The type of reef_script. After this call, texts can name it as "reef_script". {0}: no memory. */
REEF_API reef_component reef_script_type(void);

/* Registers a class, so that loading finds it by its name, in all worlds of the process. It replaces a class of the
 * same name. It must live as long as the process, and its name must not change. Errors: BAD_ARGUMENT (no class, no
 * name, too large), LIMIT (1,024 names), NO_MEMORY. Any thread. */
REEF_API reef_status reef_script_know(const reef_script_class *script);

/* Adds the system "scripts" to a phase (NULL: "update"), so that scripts run from now on. `touches` declares what the
 * scripts touch, as reef_system_desc.text does after the semicolon: "reads Position, destroys" (NULL: nothing). Null on
 * failure: as reef_system_new. */
REEF_API reef_system_id reef_scripts(reef_world *world, const char *phase, const char *touches);

/* Gives an entity a script. `data` points to script->size bytes, which are copied; NULL: zeros. Errors: EXISTS (it has
 * one), BAD_ARGUMENT (no class, no name, too large), and as reef_set. */
REEF_API reef_status reef_script_add(reef_world *world, reef_entity entity, const reef_script_class *script,
                                     const void *data);
/* Removes an entity's script. Errors: ABSENT, and as reef_remove. */
REEF_API reef_status reef_script_remove(reef_world *world, reef_entity entity);
/* The class of an entity's script. NULL: the entity has no script, or the script was loaded and its class isn't
 * known. */
REEF_API const reef_script_class *reef_script_of(const reef_world *world, reef_entity entity);
/* The data of an entity's script. The pointer lives as long as one from reef_get. NULL: the entity has no script. */
REEF_API const void *reef_script_data(const reef_world *world, reef_entity entity);

/* Makes a script for reef_spawn(w, reef_with(Mass, 1), reef_script_value(&s)). If the class is wrong, as for
 * reef_script_add, the result has no class. */
REEF_API reef_script reef_script_make(const reef_script_class *script, const void *data);
REEF_INLINE reef_value reef_script_value(const reef_script *script)
{
    return reef_value_make(reef_script_type(), REEF_VALUE_ONE, REEF_CAST(uint32_t, sizeof *script), script);
}
/* Replaces an entity's script from a system, which must declare `adds reef_script, removes reef_script`. It records two
 * commands: one removes the script, if there is one, and the other adds the new one. Errors: as reef_cmd_change and
 * reef_cmd_set; if there is no memory for the second command, the entity will have no script. */
REEF_API reef_status reef_cmd_script(reef_block *block, reef_entity entity, const reef_script_class *script,
                                     const void *data);

/* ---- updates of a type ---- */

/* Makes a system for one type: `function` is called with the blocks of all entities that have the type, and may write
 * it. The system's name is that of the type with ".update", such as "Fuse.update". Null on failure: as
 * reef_system_new. */
#define reef_update(world, T, function) reef_update_id(world, reef_id(T), function)
REEF_API reef_system_id reef_update_id(reef_world *world, reef_component type, void (*function)(reef_block *block));

REEF_END_C

#endif
