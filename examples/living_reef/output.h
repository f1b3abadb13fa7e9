/* The files that the program writes. They are written under temporary names and get their own names only when all of
 * them are complete. So a failure leaves nothing behind, and no old file is replaced by an incomplete one. */
#ifndef LIVING_REEF_OUTPUT_H
#define LIVING_REEF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum output_file { OUTPUT_POPULATIONS = 0, OUTPUT_PICTURE, OUTPUT_FILES } output_file;

typedef struct output {
    FILE *file[OUTPUT_FILES];
    char part[OUTPUT_FILES][1200]; /* names while they are written */
    char name[OUTPUT_FILES][1200];
} output;

/* Makes the directory if it doesn't exist, and opens the temporary files of the first `files` in it. False: see the
 * message; nothing is left behind. */
bool output_open(output *o, const char *directory, int files, char *message, size_t message_size);
/* Closes the files and gives them their names. False: see the message; no temporary file is left. */
bool output_commit(output *o, char *message, size_t message_size);
/* Closes and removes the temporary files. Harmless after commit, and on {0}. */
void output_discard(output *o);

#endif
