/* The search for a difference; desync.c. */
#ifndef REEF_NET_DESYNC_H
#define REEF_NET_DESYNC_H

#include "net.h"

enum { NET_TICKS, NET_SYSTEMS, NET_PARTS, NET_PLACES, NET_VALUE = NET_PLACES + 4, NET_STAGES, NET_LIST = 128 };

typedef struct net_report {
    uint64_t tick;
    int player;
    reef_entity entity;
    char system[REEF_SYSTEM_NAME_MAX + 1], component[REEF_NAME_MAX + 1], field[REEF_NAME_MAX + 1], here[32], there[32];
} net_report;
/* As programs get it; the texts are those of the report. */
reef_net_desync net__reported(const net_report *r);

struct net_desync {
    net_link *with;
    uint64_t with_incarnation;
    uint64_t tick, equal, at; /* the hash that differs, the last equal state, the tick in question */
    uint64_t began_at, sent_at, done_at;
    uint32_t stage, places; /* places: the stage with which places begin; 0: not known */
    bool made[NET_STAGES];  /* the lists of this side */
    bool unequal;           /* the states that both begin with differ already: nothing is played */
    bool done;              /* everything is found, or nothing more can be */
    bool over;              /* judged; only the report, and what is kept for a recording, is of use */
    /* The state before tick `start_tick`, and the inputs from there up to `tick`; states before and after tick `at`. */
    uint64_t start_tick, inputs_until;
    reef_snapshot *start, *before, *after;
    reef_snapshot *reached; /* on the way from `start` to `equal`: the state before tick `reached_tick`; NULL: none */
    uint64_t reached_tick;
    uint32_t restarts;
    unsigned char *inputs;
    size_t inputs_bytes;
    reef_snapshot *present; /* the world's own state, while the world has another one; NULL: it has its own */
    uint32_t count[NET_STAGES], their_count[NET_STAGES];
    uint64_t mine[NET_STAGES][NET_LIST], theirs[NET_STAGES][NET_LIST];
    reef_component types[NET_LIST], type;
    uint32_t lowest; /* index of the first entity that may differ */
    net_report report;
};

#endif
