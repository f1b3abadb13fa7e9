/* What the fuzzing programs share. */
#ifndef REEF_TESTS_FUZZ_H
#define REEF_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

/* Holds in every build; libFuzzer keeps the input. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: this must hold: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

#endif
