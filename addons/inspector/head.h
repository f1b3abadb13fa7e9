/* Heads of HTTP/1.1: of a request the first line and the fields that the inspector looks at; and of an answer. */
#ifndef REEF_INSPECTOR_HEAD_H
#define REEF_INSPECTOR_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All texts lie in the head's own bytes. NULL: the head has no such field. */
typedef struct request_head {
    const char *method, *path, *query; /* query: what is behind the question mark, or "" */
    const char *host, *origin, *authorization, *type, *length_text, *coding, *expect;
    int64_t length; /* Content-Length; -1: there is none */
} request_head;

/* Where the head ends, counted from its first byte: behind the empty line. 0: it hasn't ended yet. Bytes before `from`
 * were looked at before. */
size_t inspector_head_end(const char *text, size_t from, size_t size);
/* Reads a whole head and cuts its bytes into texts. False: it is no head, or says one thing twice. */
bool inspector_head_read(char *text, size_t size, request_head *h);
/* The value of a parameter of the address, decoded, with a zero behind it. Returns its length; -1: there is none, or it
 * has no room. */
int inspector_head_parameter(const char *query, const char *name, char *text, size_t size);
/* Are two texts the same but for capital letters? Only of ASCII, in every locale. */
bool inspector_same_word(const char *a, const char *b);
bool inspector_begins_with(const char *text, const char *word);

extern const char inspector_security[]; /* lines of every answer's head: what a browser may do with it */
/* The head of an answer. Returns its length; `room` is enough for 2,000 bytes. */
size_t inspector_answer_head(char *to, size_t room, int status, const char *type, size_t size, const char *more);

#endif
