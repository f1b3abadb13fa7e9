/* Files that are never half: one that is replaced, one that grows, one that is read.
 *
 *      replace    game.reef.new: created, held, written, synced ──► renamed to game.reef ──► the folder synced
 *      append     game.journal:  [ settled: whole records ][ written since, taken back when something fails ]
 *
 * What is synced before the rename is the whole content, so that whenever the machine stops, the name leads to the
 * whole old file or to the whole new one. A temporary file that was left behind is used again. Symbolic links are
 * followed first: what they lead to is replaced, beside it stands the temporary file. The new file has the
 * permissions of the old one, else those that the umask leaves; owner and hard links aren't kept.
 *
 * Every `reason` may be NULL or has room for REEF_DETAIL_MAX bytes; it is "" unless the answer is IO: "fsync of
 * game.reef.new: No space left on device". A handle is for one thread at a time. */
#ifndef REEF_FILE_FILE_H
#define REEF_FILE_FILE_H

#include "base/memory.h"
#include "reef/save.h"

#define FILE_TEMPORARY ".new" /* behind the name */
enum { FILE_BUFFER = 64 << 10 };

/* A reason: "call of path: what the system says", with the end of a long path. */
void reef__file_say(char *reason, const char *call, const char *path, int error);

/* ---- reading ---- */

typedef struct file_in file_in;

/* A plain file, or anything else that can be read. */
reef_status reef__file_in_open(memory *m, const char *path, file_in **in, char *reason);
/* of the whole file, as it was opened; false: not known, it isn't a plain one */
bool reef__file_in_size(const file_in *in, uint64_t *bytes);
reef_reader reef__file_in_reader(file_in *in);       /* from the front; answers IO, NO_MEMORY never */
const char *reef__file_in_reason(const file_in *in); /* of what the reader answered; lives as long as `in` */
void reef__file_in_close(file_in *in);               /* NULL is allowed */

/* ---- writing ---- */

typedef struct file_out file_out;

/* reef_file_replace with a world's memory. `keep` (may be NULL) gets the new file, open for appending behind the
 * content and held by us, as reef__file_append_open answers it; NULL when the name leads to the old file still. So
 * *keep with an error means: the new file is in its place, but it isn't known whether it will be after a crash of
 * the system (reef__file_append_unknown). Errors: what `produce` answered, NO_MEMORY, IO. */
reef_status reef__file_replace(memory *m, const char *path, bool synced,
                               reef_status (*produce)(void *context, reef_writer writer), void *context,
                               file_out **keep, char *reason);

/* Opens a file that is there, to write behind its first `length` bytes; what else it holds is cut off. `read` (may
 * be NULL): through which these bytes were looked at; when the path leads to another file since, or this one has
 * another length, nothing is cut, and the answer is IO. It is IO also when the file is shorter than `length`, or
 * another program, or another handle of ours, appends to it. */
reef_status reef__file_append_open(memory *m, const char *path, uint64_t length, const file_in *read, file_out **out,
                                   char *reason);
/* Gathers bytes; large ones go to the system. After a failure it answers IO until the bytes are settled (which then
 * fails) or taken back. */
reef_writer reef__file_append_writer(file_out *f);
/* What was written becomes part of the file. When it fails it is taken back. */
reef_status reef__file_append_settle(file_out *f, bool synced, char *reason);
/* Takes back what was written since it was settled. */
void reef__file_append_undo(file_out *f);
/* The file may hold anything behind what was synced last, now or after a crash: syncing or taking back failed. Every
 * further settle is refused; replace the file. */
bool reef__file_append_unknown(const file_out *f);
/* IO: the file's name leads to another one by now, or to none: nobody would find what is appended. */
reef_status reef__file_append_named(const file_out *f, char *reason);
uint64_t reef__file_append_length(const file_out *f); /* what is settled */
/* Takes back what isn't settled. NULL is allowed. */
void reef__file_append_close(file_out *f);

#endif
