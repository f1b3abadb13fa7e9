/* The text form of a system: its query and what else it touches. src/system/system_text.c has the grammar at its
 * head. */
#ifndef REEF_SYSTEM_SYSTEM_TEXT_H
#define REEF_SYSTEM_SYSTEM_TEXT_H

#include "query/query_text.h"
#include "reef/system.h"

typedef struct system_text {
    query_text query;
    bool has_query; /* something stands before the semicolon */
    reef_touch touch[REEF_TOUCHES_MAX];
    uint32_t column[REEF_TOUCHES_MAX]; /* column of each touch's type, or of its kind; in bytes, from 1 */
    uint32_t count;
    uint32_t at; /* the column of a failure; 0: none */
} system_text;

/* Reads a text. Its errors are those of reef__query_text_parse. It doesn't check whether the touches make sense
 * together. Allocates nothing. */
reef_status reef__system_text_parse(const reef_world *w, const char *text, system_text *out, char *detail, size_t size);
/* Returns "reads", "writes" ..., "places" for REEF_PLACED; NULL: there is no such kind. The text is static. */
const char *reef__touch_word(reef_touch_kind kind);
/* Must a kind have a type, may it have one, or must it have none? */
typedef enum touch_type { TOUCH_TYPED, TOUCH_ANY, TOUCH_PLAIN } touch_type;
touch_type reef__touch_takes(reef_touch_kind kind);

#endif
