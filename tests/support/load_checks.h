/* Saving and loading a world in memory, and comparing two worlds, for the suites of loading. */
#ifndef REEF_TESTS_LOAD_CHECKS_H
#define REEF_TESTS_LOAD_CHECKS_H

#include "reef/save.h"
#include "reef/snapshot.h"
#include "support.h"

static reef_bytes saved(reef_world *w, bool raw)
{
    const reef_save_desc desc = {.raw = raw};
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_save_bytes(w, &bytes, &desc));
    return bytes;
}

static void assert_same(reef_world *a, reef_world *b)
{
    reef_difference d;
    char text[512];
    const bool equal = reef_equal(a, b, &d);
    if (!equal) (void)reef_difference_text(&d, text, sizeof text), print_error("%s\n", text);
    assert_true(equal);
    assert_true(reef_hash(a) == reef_hash(b));
}

static void load(reef_world *w, reef_bytes bytes)
{
    const reef_status s = reef_load_bytes(w, bytes.data, bytes.size, NULL);
    if (s != REEF_OK) print_error("%s\n", reef_last_error(w).detail);
    assert_status(REEF_OK, s);
    assert_valid(w);
}

#endif
