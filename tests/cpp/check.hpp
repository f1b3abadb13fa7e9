/* What the files of this test share. */
#ifndef TESTS_CPP_CHECK_HPP
#define TESTS_CPP_CHECK_HPP

#include <reef.hpp>

#include <cstdio>

extern int failures;

inline void check(bool fine, const char *file, int line, const char *what)
{
    if (fine) return;
    std::printf("%s:%d: %s\n", file, line, what);
    std::fflush(stdout);
    failures++;
}
#define CHECK(x) check(static_cast<bool>(x), __FILE__, __LINE__, #x)

inline void validate(const reef_world *w, const char *test)
{
    char message[256];
    if (reef_validate(w, message, sizeof message) != REEF_OK) {
        std::printf("%s: %s\n", test, message);
        failures++;
    }
}

/* test_more.cpp */
void test_more();
/* test_find.cpp */
void test_find();
/* test_relations.cpp */
void test_relations();

#endif
