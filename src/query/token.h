/* What the parsers of texts share: tokens, messages, and the names of types with similar names. (Queries are read by
 * src/query/query_text.c, what systems access by src/system/system_text.c.) */
#ifndef REEF_QUERY_TOKEN_H
#define REEF_QUERY_TOKEN_H

#include "base/platform.h"
#include "reef/type.h"

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_QUOTED, TOKEN_HANDLE, TOKEN_SIGN } token_kind;

typedef struct token {
    token_kind kind;
    const char *start;
    size_t length; /* with its quotes, or with the # */
} token;

typedef struct parser {
    const reef_world *world;
    const char *text;
    token token; /* the one that is looked at */
    char *detail;
    size_t size;
    reef_status status;
    uint32_t at; /* the column of the failure */
    bool word;   /* the name of an unknown type is a word of queries */
    /* for a query */
    bool parts; /* it may end with a semicolon */
    struct query_text *out;
    uint32_t parentheses, nots, alternatives; /* how many are open here */
    bool entities_given, cascade_given;
} parser;

token reef__token_scan(const char *at);
void reef__token_next(parser *p);
/* Is it this name, without quotes? */
bool reef__token_is(token t, const char *text);
INLINE bool token_is_sign(const parser *p, char c) { return p->token.kind == TOKEN_SIGN && *p->token.start == c; }
/* Reads a number of 32 bits without a sign at *at, and moves *at behind it. False: none is there, or a larger one. */
bool reef__number_read(const char **at, uint32_t *number);
/* May it stand in the name of a field or of a parameter? */
INLINE bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 128;
}
INLINE bool token_is_name(token t) { return t.kind == TOKEN_NAME || t.kind == TOKEN_QUOTED; }

enum { SHOWN_MAX = 40 }; /* most bytes of a name in a message */
typedef struct shown {
    char text[SHOWN_MAX + 4];
} shown;
/* A name for a message. A long one is cut and ends in dots; a byte that can't be printed becomes a question mark. */
shown reef__show(const char *text, size_t length);
shown reef__show_token(token t);

/* Records a failure at a place of the text. It gives back false, which the caller can return. */
bool reef__parse_refuse(parser *p, reef_status status, const char *at, const char *format, ...);
bool reef__parse_expected(parser *p, const char *what);
/* Copies a token that is a name, without its quotes, to `name`, which has room for `most` bytes and the zero. */
bool reef__parse_name(parser *p, char *name, size_t most);
/* Reads the name of a type that this world knows. */
bool reef__parse_type(parser *p, reef_component *c);

/* The search for the name that is most similar to an unknown one. */
typedef struct nearest {
    const char *wanted, *name; /* name NULL: none is similar enough */
    uint32_t length, limit, edits, exact;
} nearest;
nearest reef__nearest_begin(const char *name);
void reef__nearest_look(nearest *s, const char *name);

#endif
