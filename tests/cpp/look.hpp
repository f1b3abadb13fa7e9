/* Two files with different views of one type. LOOK 1: its home differs; 2: its size. */
#ifndef REEF_TEST_CPP_LOOK_HPP
#define REEF_TEST_CPP_LOOK_HPP

#include <reef.hpp>

void look_one(reef::world &world);

#endif
