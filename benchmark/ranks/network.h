/* A simulated network between the ranks of one machine: calls of MPI are held back, by its profiling interface, until
 * the time at which a network would have done them. Nobody waits by computing, so more ranks than processors may be
 * simulated.
 *
 *   a message       leaves when the sender's line is free, takes bytes / bandwidth on it, and the latency
 *   a collective    ends the latency times log2(ranks), rounded up, after the last rank has come to it; what it gathers
 *                   takes bytes / bandwidth
 *
 * The ranks tell each other by shared memory when they sent or came. Only the calls that reef_ranks makes are held
 * back. */
#ifndef REEF_BENCHMARK_RANKS_NETWORK_H
#define REEF_BENCHMARK_RANKS_NETWORK_H

#include <mpi.h>
#include <stdbool.h>

/* Begins, behind MPI_Init. A bandwidth of 0 has no bound. Two numbers of 0: there is no simulation. False: no memory,
 * or the ranks aren't all on this machine. */
bool network_begin(double latency_us, double megabytes_per_s);
void network_end(void);
/* Collective calls of this rank. */
unsigned long network_collectives(void);

#endif
