/* The command line. */
#ifndef LIVING_REEF_OPTIONS_H
#define LIVING_REEF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct options {
    const char *species; /* the file with the table of species */
    const char *out;     /* the directory for the output files */
    uint32_t size;       /* side of the sea in m */
    uint32_t ticks;
    uint32_t fish;      /* 0: as in the table, in proportion to the sea's area */
    uint32_t leak_tick; /* 0: never */
    uint64_t seed;
    uint32_t threads;    /* 0: one for each processor */
    const char *save;    /* the directory for saves; NULL: nothing is saved */
    uint32_t save_every; /* ticks */
    bool resume;         /* go on with what is saved in that directory */
    bool one_future;     /* the world isn't forked */
    bool inspect;        /* open the inspector */
    uint32_t inspect_port;
    bool quiet, help;
} options;

/* False: the message says which argument is wrong, and what was expected. */
bool options_parse(options *o, int count, char *const *arguments, char *message, size_t message_size);

void options_help(FILE *file);

#endif
