/* Types whose layout changes while a world lives (reef_code_use). */
#ifndef REEF_API_LAYOUT_CHANGE_H
#define REEF_API_LAYOUT_CHANGE_H

#include "type/code.h"
#include "query/query_renewal.h"
#include "api/module.h"
#include "reef/code.h"

enum { LAYOUTS_MAX = 64 }; /* types that change at once */

typedef struct layout_member layout_member;
typedef struct layout_change {
    reef_world *world;
    const char *op;
    uint64_t module;
    const reef_code_settings *settings;
    code_layout list[LAYOUTS_MAX];
    uint32_t count;
    module_trial trial;
    bool tried;
    uint64_t from; /* the state of the settings' history that is converted */
    queries_renewal queries;
    layout_member *others; /* all other worlds and snapshots that know such a type */
    uint32_t other_count, other_room;
    char why[REEF_DETAIL_MAX]; /* "": the world's last error says it */
} layout_change;

/* Keeps why it is refused; the answer is the status. */
REEF_PRINTF(3, 4) reef_status reef__layout_refuse(layout_change *x, reef_status s, const char *format, ...);
/* Converts the world. In between its module is used; then the queries follow, all other worlds and snapshots are
 * converted and use the module, too, and so are the inputs of histories. */
reef_status reef__layouts_begin(layout_change *x);
reef_status reef__layouts_follow(layout_change *x, const reef_module *m);
/* Ends it: with a negative status everything is as before. The answer is that status. */
reef_status reef__layouts_end(layout_change *x, reef_status s);

#endif
