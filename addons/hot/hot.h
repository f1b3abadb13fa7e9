/* The parts of the add-on: the file of a library (file.c), the system's loader (loader.c), looking for another file
 * (watch.c), trials (trial.c), and where closed libraries were (gone.c). reef_hot.c has the public calls. */
#ifndef REEF_HOT_INSIDE_H
#define REEF_HOT_INSIDE_H

#include "reef_hot.h"

enum { HOT_PATH_MAX = 4096 };

/* ---- file.c ---- */

/* The bytes of a library. */
typedef struct hot_file {
    unsigned char *bytes;
    size_t size;
    uint64_t hash; /* of the bytes */
} hot_file;

/* Reads the file. False: `why` says what the system says. */
bool hot_file_read(hot_file *f, const char *path, char *why, size_t size);
void hot_file_drop(hot_file *f);
/* Is this a whole library that was compiled for this reef? If not, `why` says what is wrong. */
bool hot_file_check(const hot_file *f, char *why, size_t size);
/* Writes the bytes to a new file. */
bool hot_file_copy(const hot_file *f, const char *path, char *why, size_t size);

/* ---- loader.c ---- */

void *hot_loader_open(const char *path, char *why, size_t size);
/* Closes a library. False: it stays in memory all the same. */
bool hot_loader_close(void *library, const char *path);
const void *hot_loader_find(void *library, const char *name);
/* Where the library lies. Returns the number of ranges; 0: the system doesn't tell. */
uint32_t hot_loader_ranges(void *library, reef_code_range *ranges);
/* Makes a folder of its own for copies. */
bool hot_folder_make(char *path, size_t size);
void hot_folder_remove(const char *path);
void hot_file_remove(const char *path);
uint64_t hot_clock_ns(void); /* of the system, from any begin */

/* ---- gone.c ---- */

/* A library lay here, which was closed. `text` names it. */
void hot_gone_keep(const reef_code_range *range, const char *text);

/* ---- trial.c ---- */

typedef enum hot_trial_role { HOT_TRIAL_CHILD, HOT_TRIAL_PASSED, HOT_TRIAL_FAILED } hot_trial_role;

/* Begins a trial: in the child it returns HOT_TRIAL_CHILD, in the program it waits for the child's end. Failed: `why`
 * says how. */
hot_trial_role hot_trial_fork(uint32_t limit_ms, char *why, size_t size);
/* In the child: from here on whatever would end the program, a mistake, and the end of the time end the child. */
void hot_trial_begin(reef_world *w);
void hot_trial_library(const reef_code_range *range); /* where the library lies whose addresses are told */
/* Ends the child. NULL: it passed. */
void hot_trial_end(const char *failure);

/* ---- watch.c ---- */

typedef struct hot_watch {
    char folder[HOT_PATH_MAX], name[256], path[HOT_PATH_MAX];
    int queue, watch; /* of inotify; -1: none */
    uint64_t seen[3]; /* time, size and number of the file when it was last looked at */
} hot_watch;

/* Begins to watch the file at this path. False: the path is too long. */
bool hot_watch_begin(hot_watch *x, const char *path);
/* Has the file been written or replaced since the last call? */
bool hot_watch_changed(hot_watch *x);
void hot_watch_end(hot_watch *x);

#endif
