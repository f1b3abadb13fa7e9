/* Files that are never half written: one that is replaced, one that grows, and one that is read.
 *
 *      replace    game.reef.new: created, locked, written, synced ──► renamed to game.reef ──► the folder synced
 *      append     game.journal:  [ settled: whole records ][ written since, taken back when something fails ]
 *
 * The whole content is synced before the rename, so whenever the machine stops, the name leads to the whole old file
 * or to the whole new one. A temporary file that was left behind is used again. Symbolic links are followed first:
 * the file that they lead to is replaced, and the temporary file stands beside it. The new file has the permissions
 * of the old one, or those that the umask leaves; owner and hard links aren't kept.
 *
 * Every `reason` may be NULL, else it has room for REEF_DETAIL_MAX bytes. It is "" unless the answer is IO; then it
 * is a text like "fsync of game.reef.new: No space left on device". A handle is for one thread at a time. */
#ifndef REEF_FILE_FILE_H
#define REEF_FILE_FILE_H

#include "base/memory.h"
#include "reef/save.h"
#include "reef/file.h"

#define FILE_TEMPORARY ".new" /* ending of the temporary file's name */
enum { FILE_BUFFER = 64 << 10 };

/* Writes a reason: "call of path: what the system says". Of a long path only the end is shown. */
void reef__file_say(char *reason, const char *call, const char *path, int error);

/* ---- reading ---- */

typedef struct file_in file_in;

/* Opens a plain file, or anything else that can be read. */
reef_status reef__file_in_open(memory *m, const char *path, file_in **in, char *reason);
/* The size of the file when it was opened. UINT64_MAX: it isn't known, since this isn't a plain file. */
uint64_t reef__file_in_size(const file_in *in);
reef_reader reef__file_in_reader(file_in *in);       /* reads from the front; its only error is IO */
const char *reef__file_in_reason(const file_in *in); /* the reason of the reader's error; lives as long as `in` */
void reef__file_in_close(file_in *in);               /* NULL is allowed */

/* ---- writing ---- */

typedef struct file_out file_out;

/* reef_file_replace with a world's memory. `keep` (may be NULL) gets the new file, open and locked for appending behind
 * the content, as reef__file_append_open answers it. It gets NULL where the name still leads to the old file. So an
 * error with *keep not NULL means that the new file is in its place, but may not be after a crash of the system
 * (reef__file_append_unknown). Errors: what `produce` answered, NO_MEMORY, IO. */
reef_status reef__file_replace(memory *m, const char *path, bool synced,
                               reef_status (*produce)(void *context, reef_writer writer), void *context,
                               file_out **keep, char *reason);

/* Opens an existing file to write behind its first `length` bytes; what follows them is cut off. `read` (may be
 * NULL) is the handle by which these bytes were read. If the path leads to another file by now, or the file has
 * another length, nothing is cut and the answer is IO. It is IO too where the file is shorter than `length`, or
 * where another program, or another handle of this one, appends to it. */
reef_status reef__file_append_open(memory *m, const char *path, uint64_t length, const file_in *read, file_out **out,
                                   char *reason);
/* The writer gathers small writes and hands large ones to the system. After an error it answers IO until the bytes are
 * settled (which fails then) or taken back. */
reef_writer reef__file_append_writer(file_out *f);
/* Makes what was written part of the file. If that fails, it is taken back. */
reef_status reef__file_append_commit(file_out *f, bool synced, char *reason);
/* Takes back what was written since it was settled. */
void reef__file_append_undo(file_out *f);
/* Is it unknown what the file holds, now or after a crash, behind what was synced last? It is after syncing or taking
 * back has failed. Every further commit is refused; the caller must replace the file. */
bool reef__file_append_unknown(const file_out *f);
/* Does the file's name still lead to this file? IO: it leads to another one, or to none, and nobody would find what is
 * appended. */
reef_status reef__file_append_named(const file_out *f, char *reason);
uint64_t reef__file_append_length(const file_out *f); /* number of settled bytes */
/* Takes back what isn't settled, and closes the file. NULL is allowed. */
void reef__file_append_close(file_out *f);

#endif
