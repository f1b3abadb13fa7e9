/* Commands that add, replace, remove, enable and disable systems: reef/command.h. */
#ifndef REEF_COMMAND_SYSTEM_H
#define REEF_COMMAND_SYSTEM_H

#include "command.h"

REEF_BEGIN_C

/* Commands can also add, replace, remove, enable and disable systems. They are applied with the other commands at the
 * end of the phase, and the tick uses the new systems from the next phase on. A system needs no declaration for them.
 * The description is copied. When the call returns OK, reef owns its context: context_free is called for it even if the
 * command fails later or is dropped. Errors at once: BAD_ARGUMENT (no function, a bad name), NO_MEMORY. Errors when it
 * is applied: as reef_system_new, reef_system_replace ..., and NOT_ALIVE if no system has the name. */
REEF_API reef_status reef_cmd_system_new(reef_block *block, const reef_system_desc *desc);
/* Replaces the system of this name, as reef_system_replace. */
REEF_API reef_status reef_cmd_system_replace(reef_block *block, const char *name, const reef_system_desc *desc);
/* Removes the system of this name, as reef_system_remove. A system may remove itself. */
REEF_API reef_status reef_cmd_system_remove(reef_block *block, const char *name);
/* Enables or disables the system of this name, as reef_system_enable. */
REEF_API reef_status reef_cmd_system_enable(reef_block *block, const char *name, bool on);

REEF_END_C

#endif
