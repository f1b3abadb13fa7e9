/* Scripts: code of single entities.
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
 * A system per behaviour is faster and runs in parallel; a script is for the one door, boss or quest that is like no
 * other. Two entities with the same components may have different scripts, and an entity has at most one.
 *
 * In each run of the system "scripts", which reef_scripts adds, and which is never split:
 *   1. `end` is called for the scripts that were taken away, in that order, whichever way: removed, the entity
 *   destroyed, the world cleared;
 *   2. entity by entity in the order of their indices: `start`, if it wasn't called yet, then `update`.
 * A script that goes before its start has no end either. `end` follows each start once: in the next run, or when the
 * world is freed. Entities and scripts that are disabled (reef_disable) have no start and no update meanwhile.
 *
 * Scripts change the structure by commands, and touch what reef_scripts declared for all of them, as any system does.
 *
 * A script's data, whether it was started, and who waits for an end are state. So a fork goes on with its own
 * scripts as they are, without a second start, and each ends in it as well; so does a fork of a snapshot. A restore
 * goes back to the scripts of then: those that it takes away have no end, and one that has ended since lives again,
 * and ends again. The data is copied and forgotten as bytes: keep handles in it, not pointers that own.
 *
 * Files hold all of that too (reef/save.h, reef/journal.h), and of a class its name. A program says before it loads
 * which classes it has:
 *
 *     reef_script_know(&pilot);
 *
 * and the scripts of a file go on: nothing starts or ends a second time. A script whose class isn't known keeps its
 * data and does nothing. */
#ifndef REEF_SCRIPT_H
#define REEF_SCRIPT_H

#include "command.h"
#include "system.h"

REEF_BEGIN_C

/* Bytes of a script's data; classes of a process. */
enum { REEF_SCRIPT_BYTES = 40, REEF_SCRIPT_CLASSES_MAX = 1024 };

/* What a script's functions are given. It lives until they return. */
typedef struct reef_script_run {
    /* for commands, events, random numbers; NULL in the end of a world that is freed: nothing can be changed any
     * more */
    reef_block *block;
    reef_world *world;
    reef_entity entity; /* in `end` it may be dead */
    void *data;         /* the script's, aligned to 8 bytes; in `end` a copy of what it was */
    float dt;           /* seconds */
} reef_script_run;

/* What a script does. It must live as long as worlds that use it. */
typedef struct reef_script_class {
    const char *name;                    /* tells classes apart where addresses can't: part of the state's hash */
    uint32_t size;                       /* of the data: 0 ... REEF_SCRIPT_BYTES bytes */
    void (*start)(reef_script_run *run); /* each may be NULL */
    void (*update)(reef_script_run *run);
    void (*end)(reef_script_run *run);
} reef_script_class;

/* The component. Made by reef_script_make, for reef_spawn and reef_cmd_spawn; read its data by reef_script_data.
 * Don't set one over another: the other would have no end. */
typedef struct reef_script {
    union {
        const reef_script_class *script; /* NULL: none */
        uint64_t room;                   /* so that the data is aligned to 8 bytes where pointers have 4 */
    };
    uint64_t name_hash;
    reef_entity started; /* for whom; another or null: not yet (a clone starts anew) */
    uint8_t data[REEF_SCRIPT_BYTES];
} reef_script;

/* Its type, "reef_script" in texts once this was called. {0}: no memory. */
REEF_API reef_component reef_script_type(void);

/* Loading finds the class by its name from now on, in all worlds of the process; one of the same name takes its
 * place. It must live as long as the process, and its name may not change. Errors: BAD_ARGUMENT (no class, no name,
 * too large), LIMIT (1,024 names), NO_MEMORY. Any thread. */
REEF_API reef_status reef_script_know(const reef_script_class *script);

/* Runs scripts from now on: adds the system "scripts" to a phase (NULL: "update"), which touches what `touches` says
 * in the form of reef_system_desc.text behind the semicolon: "reads Position, destroys" (NULL: nothing). Null on
 * failure: as reef_system_new. */
REEF_API reef_system_id reef_scripts(reef_world *world, const char *phase, const char *touches);

/* Gives an entity a script. `data`: script->size bytes, copied; NULL: zeroes. Errors: EXISTS (it has one),
 * BAD_ARGUMENT (no class, no name, too large), and as reef_set. */
REEF_API reef_status reef_script_add(reef_world *world, reef_entity entity, const reef_script_class *script,
                                     const void *data);
/* Errors: ABSENT, and as reef_remove. */
REEF_API reef_status reef_script_remove(reef_world *world, reef_entity entity);
/* NULL: it has none, or it was loaded and its class isn't known. */
REEF_API const reef_script_class *reef_script_of(const reef_world *world, reef_entity entity);
/* Lives as a pointer from reef_get does. NULL: it has none. */
REEF_API const void *reef_script_data(const reef_world *world, reef_entity entity);

/* A script to be spawned with: reef_spawn(w, reef_with(Mass, 1), reef_script_value(&s)). Without class: what is
 * wrong, as above. */
REEF_API reef_script reef_script_make(const reef_script_class *script, const void *data);
REEF_INLINE reef_value reef_script_value(const reef_script *script)
{
    return reef_value_make(reef_script_type(), REEF_VALUE_ONE, (uint32_t)sizeof *script, script);
}
/* From a system that declares `adds reef_script, removes reef_script`: two commands, which take a script away, if
 * there is one, and give another. Errors: as reef_cmd_change and reef_cmd_set; when the second has no memory, the
 * entity is left without. */
REEF_API reef_status reef_cmd_script(reef_block *block, reef_entity entity, const reef_script_class *script,
                                     const void *data);

/* ---- updates of a type ---- */

/* A system over one type alone: `function` is called with the blocks of all entities that have it, which it may
 * write. Its name is the type's with ".update": "Fuse.update". Null on failure: as reef_system_new. */
#define reef_update(world, T, function) reef_update_id(world, reef_id(T), function)
REEF_API reef_system_id reef_update_id(reef_world *world, reef_component type, void (*function)(reef_block *block));

REEF_END_C

#endif
