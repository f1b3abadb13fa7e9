/* What the suites of reef_inspector share (test_inspector*.c): a program that ticks on a thread of its own, as fast as
 * it can, with an inspector; and requests to it over raw sockets. */
#ifndef INSPECTOR_PROGRAM_H
#define INSPECTOR_PROGRAM_H

#include "reef_inspector.h"
#include "support.h"
#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a world ---- */

typedef struct {
    float x, y;
} Place;
typedef struct {
    float x, y;
} Speed;
typedef struct {
    int32_t points;
} Vigor;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, (x, "m", -100, 100), (y, "m"));
REEF_COMPONENT(Speed);
REEF_FIELDS(Speed, (x, "m/s"), (y, "m/s"));
REEF_COMPONENT(Vigor);
REEF_FIELDS(Vigor, (points, NULL, 0, 1000));
REEF_TAG(Wounded);
REEF_RELATION(Likes);

/* Systems. */
void move(reef_block *b);  /* "Place, in Speed" */
void burn(reef_block *b);  /* "Vigor": one point in each tick */
void bury(reef_block *b);  /* "in Vigor; destroys": who has no points left */
void breed(reef_block *b); /* "; spawns Place Speed": one every ten ticks */

/* ---- the program ---- */

typedef struct program {
    reef_world *world;
    reef_inspector *inspector;
    pthread_t thread;
    bool runs; /* between begin() and end() */
    atomic_bool ending;
    _Atomic(reef_world *) turn; /* the world that is to be played from now on */
    atomic_uint ticks, failures;
    uint32_t rest_us;
} program;

extern program played;
/* A test with a world, as TEST. If it gives up, the program is ended before the world is freed. */
#define PROGRAM_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, program_end)
int program_end(void **state);
#define TOKEN "0123456789abcdefX"

void rest(uint32_t us);
double seconds(void);
/* Starts the program with an inspector; its thread has the world until end(). */
void begin_with(reef_world *w, reef_inspector_config config);
void begin(reef_world *w); /* with `writes` and `waits` */
void end(void);
/* Waits until the program plays another world, and looks at it. */
void turn_to(reef_world *other);
/* Waits until the program has done so many ticks. */
void wait_for_ticks(unsigned ticks);

/* ---- HTTP ---- */

int dial(void); /* a socket; -1: it isn't let in */

typedef struct reply {
    int status;
    char *head, *body; /* in one allocation */
    size_t size;
} reply;

/* Sends bytes as they are, and reads until the other side closes. */
reply ask(const void *bytes, size_t size);
int status_of(const char *text);
/* A request with a right Host and token. */
reply request(const char *method, const char *path, const char *more, const char *body);
/* The answer, which is the caller's to free, and must have this status; 0: any. */
json_t *json_of(reply r, int status);
json_t *get(const char *path, int status);
json_t *post(const char *path, const char *body, int status);
void post_or_not(const char *path, const char *body);
void post_ok(const char *path, const char *body);

long long number(const json_t *j, const char *name);
const char *text_of(const json_t *j, const char *name);
long long tick_now(void);
/* Waits until the world is at this tick, at which it stops. */
void wait_for_tick(long long tick);

#endif
