/* The text form of queries: reading it, and writing it back. The grammar stands at the head of
 * src/query/query_text.c. */
#ifndef REEF_QUERY_QUERY_TEXT_H
#define REEF_QUERY_QUERY_TEXT_H

#include "base/platform.h"
#include "query/token.h"
#include "reef/loop.h"

typedef struct query_text {
    reef_term term[REEF_TERMS_MAX]; /* a group before its members */
    /* of each term's name, or of a group's first character: bytes from 1, never falling */
    uint32_t column[REEF_TERMS_MAX];
    uint32_t count;
    reef_enabled entities;
    bool said;   /* the terms come from a text: columns are columns */
    uint32_t at; /* on failure: the column; else 0 */
} query_text;

/* Reads a text. Errors: BAD_TEXT, UNKNOWN_TYPE (no such type, or this strict world wasn't told of it), NOT_ALIVE (no
 * entity of that name), LIMIT (terms, nesting). Then out->at is the column, and `detail` (`size` bytes, the longest
 * text takes REEF_DETAIL_MAX) a sentence that says what was expected there. Whether the terms make sense together is
 * not looked at. Allocates nothing. */
reef_status reef__query_text_parse(const reef_world *w, const char *text, query_text *out, char *detail, size_t size);

/* Writes terms as a text, as snprintf does: at most `size` bytes with the zero, returns the whole length. Reading it
 * gives the same terms, but for what a text has no words for: a group of one is its member, NONE_OF of an ANY_OF is
 * one NONE_OF, NONE_OF of one HAS is a NOT, and what stands under NOT or NONE_OF has the access WITH. Types must be
 * known; a dead source is written, but not read back. */
size_t reef__query_text_write(const reef_world *w, const reef_term *terms, uint32_t count, reef_enabled entities,
                              char *text, size_t size);

/* A query, to its end. (src/query/query_text.c) */
bool reef__parse_query(parser *p);

#endif
