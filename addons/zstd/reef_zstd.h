/* reef and zstd: worlds saved and loaded compressed.
 *
 *     reef_zstd_save(world, "game.reef.zst", NULL, 3, reason);
 *     reef_zstd_load(world, "game.reef.zst", NULL, reason);
 *
 * A library of its own, on libzstd (1.4 or newer) and reef's public headers. What is written is one frame of zstd
 * with a sum at its end: the file of reef as it is, which `zstd -d` brings back. What isn't exactly one whole frame
 * is refused, so that no file that was cut is ever taken for a world.
 *
 * Memory, which libzstd takes from the C library: windows are of 8 MiB at most, whatever the level, so that reading
 * takes 8 MiB and a bit, and a frame that asks for more is refused. Writing takes up to some 100 MiB at the highest
 * levels, 4 MiB at level 3. */
#ifndef REEF_ZSTD_H
#define REEF_ZSTD_H

#include "reef.h"

REEF_BEGIN_C

enum {
    REEF_ZSTD_WINDOW_LOG_MAX = 23 /* bytes of a window: 2^23 */
};

/* ---- files ----
 * `reason` may be NULL, or has room for REEF_DETAIL_MAX bytes: why the compressing, or the file, failed; "" where it
 * didn't: then reef_last_error tells. */

/* As reef_save, to a file that is replaced in one step. Levels: 1 (fast) ... 22 (small); 0 is zstd's own choice, 3;
 * negative ones are faster still. Others become the nearest. Errors: as reef_save_to; IO; NO_MEMORY. */
reef_status reef_zstd_save(reef_world *world, const char *path, const reef_save_desc *desc, int level, char *reason);
/* As reef_load. Errors, the world as before: as reef_load_from; IO; CORRUPT (this is no whole frame of zstd, or one
 * that asks for more memory, or something follows it); NO_MEMORY. */
reef_status reef_zstd_load(reef_world *world, const char *path, const reef_load_desc *desc, char *reason);

/* ---- streams ---- */

/* The same to where `to` leads, and from where `from` leads. */
reef_status reef_zstd_save_to(reef_world *world, reef_writer to, const reef_save_desc *desc, int level, char *reason);
reef_status reef_zstd_load_from(reef_world *world, reef_reader from, const reef_load_desc *desc, char *reason);

/* A writer that compresses into another one: for differences (reef_diff_save), or bytes of your own. */
typedef struct reef_zstd_out reef_zstd_out;
/* NULL: no memory. */
reef_zstd_out *reef_zstd_out_new(reef_writer to, int level);
reef_writer reef_zstd_writer(reef_zstd_out *out);
/* Writes what is left and the frame's end; nothing can be written behind it. Without this call the frame is refused
 * by who reads it. Answers what went wrong, also before: what the inner writer answered, NO_MEMORY, or BAD_ARGUMENT:
 * NULL, or it has ended. */
reef_status reef_zstd_out_end(reef_zstd_out *out);
/* NULL is allowed. */
void reef_zstd_out_free(reef_zstd_out *out);

/* A reader of what another one brings compressed. It answers CORRUPT as reef_zstd_load does, and what the inner
 * reader answered. The end comes only when the frame is whole, its sum right, and the inner reader at its end. */
typedef struct reef_zstd_in reef_zstd_in;
reef_zstd_in *reef_zstd_in_new(reef_reader from);
reef_reader reef_zstd_reader(reef_zstd_in *in);
/* What is wrong, "": nothing. Static memory. */
const char *reef_zstd_in_reason(const reef_zstd_in *in);
void reef_zstd_in_free(reef_zstd_in *in);

REEF_END_C

#endif
