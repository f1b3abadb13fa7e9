/* reef and zstd: worlds saved and loaded compressed.
 *
 *     reef_zstd_save(world, "game.reef.zst", NULL, 3, reason);
 *     reef_zstd_load(world, "game.reef.zst", NULL, reason);
 *
 * This is a separate library, which uses libzstd (1.4 or newer) and reef's public headers. It writes one frame of zstd
 * with a checksum at its end, which contains an ordinary file of reef; `zstd -d` extracts it. Reading refuses anything
 * that isn't exactly one complete frame, so a truncated file is never taken for a world.
 *
 * libzstd takes its memory from the C library. Windows have at most 8 MiB at every level, so reading takes slightly
 * more than 8 MiB, and a frame that needs more is refused. Writing takes up to about 100 MiB at the highest levels, and
 * 4 MiB at level 3. */
#ifndef REEF_ZSTD_H
#define REEF_ZSTD_H

#include "reef.h"
#include "reef/file.h"

REEF_BEGIN_C

enum {
    REEF_ZSTD_WINDOW_LOG_MAX = 23 /* bytes of a window: 2^23 */
};

/* ---- files ----
 * `reason` may be NULL, or has room for REEF_DETAIL_MAX bytes: why the compressing, or the file, failed; "" where it
 * didn't: then reef_last_error tells. */

/* As reef_save, to a file that is replaced in one step. Levels: 1 (fast) ... 22 (small); 0 is zstd's default, 3;
 * negative ones are faster still. Other numbers become the nearest level. Errors: as reef_save_to; IO; NO_MEMORY. */
reef_status reef_zstd_save(reef_world *world, const char *path, const reef_save_desc *desc, int level, char *reason);
/* As reef_load. Errors, which leave the world as it was: as reef_load_from; IO; CORRUPT (this isn't a complete frame of
 * zstd, or it needs more memory, or bytes follow it); NO_MEMORY. */
reef_status reef_zstd_load(reef_world *world, const char *path, const reef_load_desc *desc, char *reason);

/* ---- streams ---- */

/* The same with a writer or a reader. */
reef_status reef_zstd_save_to(reef_world *world, reef_writer to, const reef_save_desc *desc, int level, char *reason);
reef_status reef_zstd_load_from(reef_world *world, reef_reader from, const reef_load_desc *desc, char *reason);

/* A writer that compresses into another one, for differences (reef_diff_save) or any other bytes. */
typedef struct reef_zstd_out reef_zstd_out;
/* NULL: no memory. */
reef_zstd_out *reef_zstd_out_new(reef_writer to, int level);
reef_writer reef_zstd_writer(reef_zstd_out *out);
/* Writes what is left and the frame's end; nothing can be written after it. Readers refuse a frame without this call.
 * Returns the first failure, also of earlier writes: what the inner writer returned, NO_MEMORY, or BAD_ARGUMENT (NULL,
 * or the frame has ended). */
reef_status reef_zstd_out_end(reef_zstd_out *out);
/* NULL is allowed. */
void reef_zstd_out_free(reef_zstd_out *out);

/* A reader that decompresses what another reader gives. It returns CORRUPT as reef_zstd_load does, and what the inner
 * reader returns. It reports the end only when the frame is complete, its checksum is right, and the inner reader is at
 * its end. */
typedef struct reef_zstd_in reef_zstd_in;
reef_zstd_in *reef_zstd_in_new(reef_reader from);
reef_reader reef_zstd_reader(reef_zstd_in *in);
/* What is wrong; "": nothing. Static memory. */
const char *reef_zstd_in_reason(const reef_zstd_in *in);
void reef_zstd_in_free(reef_zstd_in *in);

REEF_END_C

#endif
