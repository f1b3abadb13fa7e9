/* Components that C and C++ have in common: types.c declares them for C, test_cpp.cpp uses them by their structs
 * alone. */
#ifndef REEF_TEST_CPP_TYPES_H
#define REEF_TEST_CPP_TYPES_H

#include <reef/all.h>

typedef struct {
    float x, y;
} Shared;
typedef struct {
    float left;
} Burning; /* C says: REEF_SPARSE */
typedef struct {
    float x;
} Narrow; /* C says that it is larger */

#ifdef __cplusplus
extern "C" {
#endif
reef_component c_shared(void);
reef_component c_burning(void);
reef_component c_only_tag(void);
float c_sum(reef_world *w);
#ifdef __cplusplus
}
#endif

#endif
