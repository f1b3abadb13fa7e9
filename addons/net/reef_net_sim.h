/* A network within one process, in virtual time: latency, jitter, loss, doubled and reordered datagrams, links that are
 * cut. The same seed and the same calls give the same faults. For tests, for a first program (two sessions in one
 * process), and for feeling how a game plays over a bad line. */
#ifndef REEF_NET_SIM_H
#define REEF_NET_SIM_H

#include "reef_net.h"

REEF_BEGIN_C

typedef struct reef_net_sim reef_net_sim;

/* How bad a line is. Times are one way. */
typedef struct reef_net_line {
    uint64_t latency_ns;
    uint64_t jitter_ns;   /* each datagram takes up to so much longer; what overtakes is reordered */
    uint32_t loss, twice; /* of 1,000 datagrams, how many are lost, and how many arrive twice */
} reef_net_line;

enum { REEF_NET_SIM_ENDS_MAX = 32 };

/* Makes a network whose time is 0. A NULL allocator: the C library's. NULL: no memory. */
reef_net_sim *reef_net_sim_new(uint64_t seed, const reef_net_line *line, const reef_allocator *allocator);
/* Frees it; the sessions on it must be freed before. NULL does nothing. */
void reef_net_sim_free(reef_net_sim *sim);
/* The transport of the program with this address, 1 ... REEF_NET_SIM_ENDS_MAX. Lives as long as the network. */
reef_net_transport reef_net_sim_transport(reef_net_sim *sim, uint64_t address);
/* Sets the time, which doesn't go back: datagrams that are due by then can be received. */
void reef_net_sim_time(reef_net_sim *sim, uint64_t now_ns);
/* Changes how bad all lines are, for datagrams from now on. */
void reef_net_sim_line(reef_net_sim *sim, const reef_net_line *line);
/* Cuts the way from one address to another, or heals it. */
void reef_net_sim_cut(reef_net_sim *sim, uint64_t from, uint64_t to, bool cut);
/* Loses everything that is on its way to this address, as when its program dies. */
void reef_net_sim_drop(reef_net_sim *sim, uint64_t address);

REEF_END_C

#endif
