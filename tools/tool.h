/* What the commands of the tool share. The tool uses the public headers alone; all types come from the files. */
#ifndef REEF_TOOL_H
#define REEF_TOOL_H

#include "reef/all.h"
#include <inttypes.h>
#include <stdio.h>

/* The program's exit codes. A command that answers ANSWER_USAGE was called wrongly: the program says how it is called,
 * and its exit code is ANSWER_TROUBLE. */
enum { ANSWER_GOOD = 0, ANSWER_BAD = 1, ANSWER_TROUBLE = 2, ANSWER_USAGE = 3 };

/* One function for each command. `words` are the words behind the command's name, ended by NULL. */
int command_info(int count, char **words);
int command_check(int count, char **words);
int command_diff(int count, char **words);
int command_plan(int count, char **words);
int command_print(int count, char **words);
int command_sql(int count, char **words);
int command_inspect(int count, char **words);
int command_replay(int count, char **words);

/* ---- a file (file.c) ---- */

typedef struct tool_file {
    const char *path;
    FILE *pipe; /* what can be read only once; NULL: it is a file, and is opened by its path when it is needed */
    FILE *copy; /* of what was read from the pipe */
    reef_file_info info;
    reef_world *world;    /* the world in it; NULL: it isn't loaded */
    uint32_t types_first; /* types with greater ids came with this file, or later */
    bool quiet;           /* doesn't report differences between the file and the world made from it */
} tool_file;

/* Begins with a file, of which *f has nothing yet but `quiet`. A pipe is opened here, and nowhere else. */
void file_begin(tool_file *f, const char *path);
/* Checks the file's frame. False: the reason was reported. */
bool file_look(tool_file *f);
/* Loads the world. False: the reason was reported. */
bool file_load(tool_file *f);
bool file_open(tool_file *f, const char *path); /* all three */
/* Says why loading into the file's world failed with this status. */
void file_refused(const tool_file *f, reef_status status);
void file_close(tool_file *f);
/* "a world", "a journal of 3 records" ... */
void file_kind(const tool_file *f, char *text, size_t size);

/* ---- text (text.c) ---- */

/* Writes a line to stderr: "reef: PATH: ..."; NULL: without a path. */
void say(const char *path, const char *format, ...) REEF_PRINTF(2, 3);
/* Writes a text from a file; control characters, which a terminal would obey, and zeros are escaped. */
void put_text(const char *text, size_t size);
void put_name(const char *name); /* the same up to the first zero */
void put_entity(const reef_world *world, reef_entity entity);
/* "" for 1, otherwise "s": 1 record, 2 records */
const char *plural(uint64_t count);
/* Can stdout still be written? Ask this now and then while writing much. */
bool output_open(void);
/* The last call of each command: writes what is still buffered, and returns `answer`. If that fails, it returns
 * ANSWER_TROUBLE, and reports it unless the reader has closed the pipe. */
int output_close(int answer);

#endif
