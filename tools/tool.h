/* What the commands of the tool share. On the public headers alone; types come from the files. */
#ifndef REEF_TOOL_H
#define REEF_TOOL_H

#include "reef.h"
#include <inttypes.h>
#include <stdio.h>

/* What the program answers. */
enum { ANSWER_GOOD = 0, ANSWER_BAD = 1, ANSWER_TROUBLE = 2 };

/* One of them each: the words behind the command's name, ended by NULL. */
int command_info(int count, char **words);
int command_check(int count, char **words);
int command_diff(int count, char **words);
int command_print(int count, char **words);

/* ---- a file (file.c) ---- */

typedef struct tool_file {
    const char *path;
    reef_file_info info;
    reef_world *world;    /* what it holds; NULL: nothing is loaded */
    uint32_t types_first; /* types with greater ids came with this file, or later */
    bool quiet;           /* about what isn't in the world as it is in the file */
} tool_file;

/* Looks at the frame. False: why is said. */
bool file_look(tool_file *f, const char *path);
/* Loads it. False: why is said. */
bool file_load(tool_file *f);
bool file_open(tool_file *f, const char *path); /* both */
void file_close(tool_file *f);
/* "a world", "a journal of 3 records" ... */
void file_kind(const tool_file *f, char *text, size_t size);

/* ---- text (text.c) ---- */

/* A line on stderr: "reef: PATH: ..."; NULL: no path. */
void say(const char *path, const char *format, ...) REEF_PRINTF(2, 3);
/* How a command is called, on stderr. Answers ANSWER_TROUBLE. */
int usage(const char *text);
/* A name that stands in a file, without what a terminal would obey. */
void put_name(const char *name);
void put_entity(const reef_world *world, reef_entity entity);
/* "1 record", "2 records" */
const char *plural(uint64_t count);
/* Can stdout still be written? What printed much asks now and then. */
bool output_open(void);
/* The last word of each command: what is still to be written is, and `answer` is the program's; where that fails,
 * and not since nobody reads any more, it is said, and it is trouble. */
int output_close(int answer);

#endif
