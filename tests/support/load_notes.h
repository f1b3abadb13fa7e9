/* What loading reports, and files whose types have other names: for the suites of loading. */
#ifndef REEF_TESTS_LOAD_NOTES_H
#define REEF_TESTS_LOAD_NOTES_H

#include "load_repair.h"
#include "reef/save.h"
#include "support.h"
#include <stdio.h>
#include <string.h>

/* The file's type of this name is one of another, as long one. */
static inline void rename_type(reef_bytes bytes, const char *from, const char *to)
{
    unsigned char *p = bytes.data, *end = p + bytes.size - strlen(from);
    assert_int_equal(strlen(from), strlen(to));
    while (p < end && memcmp(p, from, strlen(from)) != 0) p++;
    assert_true(p < end);
    memcpy(p, to, strlen(to));
    repair(bytes.data, bytes.size);
}

typedef struct notes {
    uint32_t count[16];
    uint64_t rows;
    char text[512];
} notes;

static inline void note_down(void *context, const reef_load_note *n)
{
    notes *x = context;
    x->count[n->kind]++;
    x->rows += n->rows;
    const size_t at = strlen(x->text);
    (void)snprintf(x->text + at, sizeof x->text - at, "%d %s %s", (int)n->kind, n->type ? n->type : "-",
                   n->field ? n->field : "-");
    const size_t end = strlen(x->text);
    (void)snprintf(x->text + end, sizeof x->text - end, n->was ? " %s to %s\n" : "\n", n->was, n->is);
}

#endif
