/* Words of a statement, where SQLite's own parser doesn't tell where its parts stand. */
#ifndef REEF_SQL_TOKEN_H
#define REEF_SQL_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

/* A word, a name or text in quotes, or another character. */
typedef struct sql_token {
    const char *at; /* in the statement */
    size_t size;    /* 0: the end */
    bool word;
} sql_token;

/* The next token; *text goes behind it. Spaces and comments are none. */
sql_token reef__sql_token_next(const char **text);
/* Is it this word, without quotes? */
bool reef__sql_token_is(sql_token t, const char *word);
/* Does it name this table or column, with or without quotes? */
bool reef__sql_token_names(sql_token t, const char *name);
/* How many copies SQLite makes of the parts of a WITH, at most: it puts a copy at each place that names one, so parts
 * that name others twice double with each level. Of one statement. */
double reef__sql_copies(const char *sql);

#endif
