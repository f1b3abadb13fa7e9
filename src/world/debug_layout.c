/* The table of world/debug_layout.h. */
#include "world/debug_layout.h"
#include "base/platform.h"
#include "storage/layout.h"
#include "storage/name_index.h"
#include "storage/state.h"
#include "query/inherited_queries.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/sort_key.h"
#include "reef/field.h"
#include "reef/query.h"
#include "reef/relation.h"

typedef struct query_slot query_slot;
typedef struct reef_query_data reef_query_data;

#define DEBUG_MEMBER(T, member) {(uint32_t)offsetof(T, member), (uint32_t)sizeof(((const T *)0)->member)},
#define DEBUG_ARRAY(T, member) {(uint32_t)offsetof(T, member), 0},
#define DEBUG_STRUCT(T) {0, (uint32_t)sizeof(T)},
#define DEBUG_NUMBER(name) {(uint32_t)(name), 0},
#define DEBUG_MEMBER_NAME(T, member) "." #member "\0"
#define DEBUG_NAME(name) #name "\0"

static const debug_entry debug_entries[] = {DEBUG_LAYOUT(DEBUG_MEMBER, DEBUG_ARRAY, DEBUG_STRUCT, DEBUG_NUMBER)};

/* One text, since each pointer to a text of its own would take 32 bytes of every program. */
static const char debug_names[] = DEBUG_LAYOUT(DEBUG_MEMBER_NAME, DEBUG_MEMBER_NAME, DEBUG_NAME, DEBUG_NAME);

const debug_layout reef_debug_layout = {
    "reefdbg", 3, sizeof debug_entries / sizeof debug_entries[0], debug_entries, debug_names, reef__type_pages,
};
