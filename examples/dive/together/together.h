/* A dive that several players share, each on his own machine or all on one: the add-on reef_net plays it, and sends its
 * datagrams over UDP (reef_net_udp, where it is built) or over a simulated line within the program. */
#ifndef DIVE_TOGETHER_H
#define DIVE_TOGETHER_H

#include "crew.h"
#include "game.h"
#include <reef_net.h>
#include <reef_net_sim.h>
#include <stdio.h>

typedef struct reef_net_udp reef_net_udp;

typedef struct together {
    game now;
    reef_net *net;
    reef_net_udp *udp;             /* NULL: a simulated line */
    CrewInput wants;               /* what the local player does until it is changed */
    bool bot;                      /* she plays by herself */
    FILE *record;                  /* the session is recorded there (past.h); NULL: nowhere. Set before it begins */
    const char *desync;            /* when worlds differ, a recording of that is written here; NULL: none is */
    uint64_t silence_ns;           /* who isn't heard for so long is dropped; 0: the default. Set before it begins */
    char why[REEF_NET_REASON_MAX]; /* of a failure */
} together;

enum { TOGETHER_STEP_NS = 16666667 };

/* Makes the sea, which may be changed until one of the functions below begins a session with it. Who joins gets the
 * host's. False, here and below: t->why says what failed; together_end is still allowed. */
bool together_new(together *t, uint64_t seed, reef_pool *pool);
/* Begins a session over UDP and writes an invitation, which holds for a day. `address` is where others reach this
 * machine, an IPv4 address; port 0: any. */
bool together_host(together *t, const char *address, uint16_t port, char *invitation, size_t size);
bool together_join(together *t, const char *invitation, uint16_t port);
/* The same over a simulated line: address 1 hosts, the others join it. */
bool together_on(together *t, reef_net_sim *line, uint64_t address);
/* Receives, plays what is due, and sends; at least once a tick. `now_ns` is a clock that doesn't go back. */
bool together_update(together *t, uint64_t now_ns);
/* Is the session over? t->why says why. */
bool together_is_over(together *t);
/* Where the local player swims, and her light; the diver's as long as there is no session. */
Lamp together_lamp(const together *t);
void together_end(together *t);

#endif
