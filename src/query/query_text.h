/* The text form of queries: reading it, and writing it back. The grammar stands at the head of
 * src/query/query_text.c. */
#ifndef REEF_QUERY_QUERY_TEXT_H
#define REEF_QUERY_QUERY_TEXT_H

#include "base/text_out.h"
#include "query/token.h"
#include "reef/loop.h"
#include "reef/term.h"

typedef char variable_names[REEF_VARIABLES_MAX][REEF_VARIABLE_NAME_MAX + 1];

typedef struct query_text {
    reef_term term[REEF_TERMS_MAX]; /* a group comes before its members */
    /* the column of each term's name, or of a group's first character: bytes counted from 1, never falling */
    uint32_t column[REEF_TERMS_MAX];
    uint32_t count;
    reef_enabled entities;
    reef_component cascade;   /* parents first by this relation; {0}: the visible order */
    uint32_t cascade_column;  /* of its relation, in a text */
    variable_names variables; /* zeroes behind each name */
    uint32_t variable_count;  /* of those that a text names */
    /* what a text says of values; the terms point to it */
    reef_condition conditions[REEF_CONDITIONS_MAX];
    uint32_t condition_count, parameter_count, text_bytes;
    char parameters[REEF_PARAMETERS_MAX][REEF_VARIABLE_NAME_MAX + 1];
    char texts[REEF_CONDITION_TEXTS_MAX];
    bool said;   /* the terms come from a text, so `column` means columns */
    uint32_t at; /* the column of the failure; 0 if there is none */
} query_text;

/* Reads a text, and allocates nothing. Errors: BAD_TEXT, UNKNOWN_TYPE (no such type, or this strict world wasn't told
 * of it), NOT_ALIVE (no entity has that name), LIMIT (terms, nesting). On an error out->at is the column, and `detail`
 * (`size` bytes; the longest text takes REEF_DETAIL_MAX) is a sentence that says what was expected there. It isn't
 * checked whether the terms make sense together. */
reef_status reef__query_text_parse(const reef_world *w, const char *text, query_text *out, char *detail, size_t size);

/* Writes terms as a text. Reading the text gives the same terms, except where the text has no words: a group of one
 * becomes its member, NONE_OF of an ANY_OF becomes one NONE_OF, NONE_OF of one HAS becomes a NOT, and terms under NOT
 * or NONE_OF get the access WITH. Types have to be known; a dead source is written, but can't be read back. `variables`
 * NULL: none has a name. */
void reef__query_text_write(text_out *o, const reef_world *w, const reef_term *terms, uint32_t count,
                            reef_enabled entities, reef_component cascade, const variable_names *variables);
/* The number of the first of these names (an array as in variable_names) that is `name`; `count`: none is. */
uint32_t reef__name_seek(const void *names, uint32_t count, const char *name);
/* Is there another term, in a list that a description may end early? */
INLINE bool term_is_there(const reef_term *t)
{
    return t->component.id != 0 || t->target.generation != 0 || t->up.id != 0 ||
           (t->op >= REEF_ANY_OF && (uint32_t)t->op <= REEF_NONE_OF);
}
/* Writes a text in quotes, or what stands in them: a backslash comes before each quote and each backslash. */
void reef__text_put_escaped(text_out *o, const char *text);
void reef__text_put_quoted(text_out *o, const char *text);

/* Reads a query up to its end. */
bool reef__parse_query(parser *p);
/* Reads an entity in a condition, by its name or handle; "#0v0" is null. */
bool reef__parse_entity(parser *p, reef_entity *e);
/* Writes an entity as such a text. */
void reef__entity_write(text_out *o, const reef_world *w, reef_entity e);

#endif
