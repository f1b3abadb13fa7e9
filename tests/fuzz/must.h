/* Shared by the fuzzing programs. */
#ifndef REEF_TESTS_FUZZ_H
#define REEF_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

/* An assertion in every build; libFuzzer saves the input that fails. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: this must hold: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

#endif
