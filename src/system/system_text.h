/* The text form of what a system asks for and touches. The grammar stands at the head of src/system/system_text.c. */
#ifndef REEF_SYSTEM_SYSTEM_TEXT_H
#define REEF_SYSTEM_SYSTEM_TEXT_H

#include "query/query_text.h"
#include "reef/system.h"

typedef struct system_text {
    query_text query;
    bool has_query; /* something stands before the semicolon */
    reef_touch touch[REEF_TOUCHES_MAX];
    uint32_t column[REEF_TOUCHES_MAX]; /* of each one's type, or of its kind: bytes from 1 */
    uint32_t count;
    uint32_t at; /* on failure: the column; else 0 */
} system_text;

/* Reads a text. Errors: as reef__query_text_parse. Whether the touches make sense together isn't looked at.
 * Allocates nothing. */
reef_status reef__system_text_parse(const reef_world *w, const char *text, system_text *out, char *detail, size_t size);
/* "reads", "writes" ...; NULL: it is none. Static memory. */
const char *reef__touch_word(reef_touch_kind kind);
/* May, must a kind have a type? */
typedef enum touch_type { TOUCH_TYPED, TOUCH_ANY, TOUCH_PLAIN } touch_type;
touch_type reef__touch_takes(reef_touch_kind kind);

#endif
