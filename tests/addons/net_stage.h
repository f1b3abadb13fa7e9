/* A stage for the tests of reef_net: programs on a simulated network and in virtual time, which play the small game of
 * net_game.h, and transports that do something else than they should. */
#ifndef REEF_TESTS_NET_STAGE_H
#define REEF_TESTS_NET_STAGE_H

#include "net_game.h"
#include "support.h"

#define MS UINT64_C(1000000)
#define STEP_NS (1000 * MS / 60)
enum { PROGRAMS_MAX = 10 };

typedef struct program {
    reef_net *net;
    reef_world *world;
    net_game game;
    reef_net_transport plain; /* below one of a test */
    uint64_t changes;         /* datagrams that the test's transport has changed, or could have */
    uint32_t mode;            /* what the test's transport does now */
} program;

typedef struct stage {
    reef_net_sim *sim;
    uint64_t now;
    program of[PROGRAMS_MAX]; /* program i has the address i + 1 */
    uint32_t count;
    heap *heap; /* for the sessions and worlds of further programs; NULL: the C library's */
} stage;

extern const reef_net_line stage_line; /* 20 to 25 ms, 1% of the datagrams are lost */

void stage_begin(stage *s);
void stage_begin_on(stage *s, uint64_t seed, const reef_net_line *line);
void stage_end(stage *s);

reef_net_config stage_config(stage *s, program *p, uint64_t address);
/* Adds a program: the first one hosts, the others join it. `change` may change what it is configured with. */
program *stage_add(stage *s);
program *stage_add_with(stage *s, void (*change)(reef_net_config *config, program *p));

void stage_play(stage *s, uint64_t ms);
void stage_play_until_all_play(stage *s);
/* The last tick whose hash both know; checks that they are equal. */
uint64_t equal_until(const program *a, const program *b);
/* Cuts the line between two addresses, or mends it. */
void stage_cut(stage *s, uint64_t a, uint64_t b, bool is);

/* The program's own transport, but for what it sends; `context` is the program. */
void stage_sends_by(reef_net_config *c, program *p, void (*send)(void *, uint64_t, const void *, size_t));

/* What a datagram is, and where the parts of a frame and of a message of the agreement are (addons/net/packet.c,
 * agree.c). */
enum {
    FRAME = 6,
    AGREE = 7,
    RELAY = 8,
    FRAME_FLAGS = 17,
    FRAME_KNOWN = 63,
    FRAME_SEATS = 64,
    RELAY_HEAD = 25 + REEF_NET_SIGNATURE_BYTES,
    AGREE_KIND = 17,
    AGREE_VIEW = 18,
    AGREE_BALLOT = 22,
    AGREE_DROP = 26
};
/* Where a frame says how many ticks are proven; behind it their digest. */
size_t stage_echo_at(const unsigned char *frame);

#endif
