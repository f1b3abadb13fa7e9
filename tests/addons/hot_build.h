/* What the suites of reef_hot share: a real compiler writes libraries of hot_rules.c into a scratch folder. */
#ifndef REEF_TESTS_HOT_BUILD_H
#define REEF_TESTS_HOT_BUILD_H

#include "reef_hot.h"
#include "support.h"
#include "reef/all.h"

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);
typedef struct {
    uint32_t told, kept;
} Report;
REEF_COMPONENT(Report);
REEF_FIELDS(Report, told, kept);
typedef struct {
    float x;
} Push; /* the input of a tick */
REEF_COMPONENT(Push);
REEF_FIELDS(Push, x);
REEF_TAG(Marked);
REEF_TAG(Employed);

/* The module's own Hunter, as it is without a macro. */
typedef struct {
    float power;
    uint8_t rage;
} first_hunter;

extern char hot_path[600]; /* of the library that is watched */
extern heap hot_types;     /* the allocator of the process: it fails as the heap of the test does */

/* The first call of a suite, and the last one. False: it can't be. */
bool hot_suite_begin(void);
bool hot_suite_end(void);

void run_command(const char *command);
/* Compiles the module, once for each kind. The file has this name. */
const char *built(const char *flags);
/* Copies at most this many bytes; -1: all. */
void copy_file(const char *from, const char *to, long most);
/* Puts a library into the place of the one that is watched, as a build does. */
void put(const char *file);
void build(const char *flags);

reef_hot_code *hot_of(reef_world *w, const char *flags, const reef_hot_desc *desc);
void assert_event_at(reef_hot_code *h, reef_hot_event wanted, int line);
#define assert_event(h, wanted) assert_event_at(h, wanted, __LINE__)
void assert_text(const reef_hot_code *h, const char *part);
void assert_libraries_at(const reef_hot_code *h, uint32_t wanted, int line);
#define assert_libraries(h, wanted) assert_libraries_at(h, wanted, __LINE__)
/* The new library is refused, for this reason, and everything is as before. */
void assert_hot_refused_at(reef_world *w, reef_hot_code *h, const char *part, int line);
#define assert_hot_refused(w, h, part) assert_hot_refused_at(w, h, part, __LINE__)
/* How many mappings of libraries this process has. */
uint32_t mappings(void);

void tick(reef_world *w);
reef_status step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes);
/* Polls until the last ticks have been played again. */
void assert_replayed_at(reef_hot_code *h, int line);
#define assert_replayed(h) assert_replayed_at(h, __LINE__)
/* The field of a value as a number; it must be there. */
double field_of(const reef_world *w, reef_entity e, const char *type, const char *name);
reef_entity hunter(reef_world *w, float power, uint8_t rage);

#endif
