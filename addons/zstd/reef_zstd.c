/* Two filters around libzstd's streams, and files on both sides. Each keeps its first failure and returns it from then
 * on. */
#include "reef_zstd.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

static void reason_put(char *reason, const char *text)
{
    if (reason) (void)snprintf(reason, REEF_DETAIL_MAX, "%s", text);
}

/* ---- writing ---- */

struct reef_zstd_out {
    reef_writer to;
    ZSTD_CCtx *zstd;
    reef_status status;
    bool ended;
    size_t room;
    char bytes[];
};

reef_zstd_out *reef_zstd_out_new(reef_writer to, int level)
{
    const size_t room = ZSTD_CStreamOutSize();
    if (to.write == NULL) return NULL;
    reef_zstd_out *o = malloc(sizeof *o + room);
    if (o == NULL) return NULL;
    *o = (reef_zstd_out){.to = to, .zstd = ZSTD_createCCtx(), .room = room};
    const ZSTD_bounds levels = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel);
    if (level > levels.upperBound) level = levels.upperBound;
    if (level < levels.lowerBound) level = levels.lowerBound;
    if (o->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1)) &&
        /* Above this level windows would be larger. */
        (level < 20 || !ZSTD_isError(ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_windowLog, REEF_ZSTD_WINDOW_LOG_MAX))))
        return o;
    reef_zstd_out_free(o);
    return NULL;
}

/* Passes on what libzstd makes of the input, until all input is taken; at the end, until libzstd has nothing left. */
static reef_status out_press(reef_zstd_out *o, const void *bytes, size_t count, ZSTD_EndDirective what)
{
    ZSTD_inBuffer in = {bytes, count, 0};
    bool more = true;
    while (o->status == REEF_OK && more) {
        ZSTD_outBuffer out = {o->bytes, o->room, 0};
        const size_t left = ZSTD_compressStream2(o->zstd, &out, &in, what);
        if (ZSTD_isError(left)) o->status = REEF_NO_MEMORY; /* nothing else can fail: any input is valid */
        else if (out.pos) o->status = o->to.write(o->to.context, o->bytes, out.pos);
        more = what == ZSTD_e_end ? left != 0 : in.pos < count;
    }
    return o->status;
}

static reef_status out_write(void *context, const void *bytes, size_t count)
{
    reef_zstd_out *o = context;
    if (o->ended) return REEF_BAD_ARGUMENT;
    return count ? out_press(o, bytes, count, ZSTD_e_continue) : o->status;
}

reef_writer reef_zstd_writer(reef_zstd_out *o)
{
    reef_writer w = {out_write, o};
    return w;
}

reef_status reef_zstd_out_end(reef_zstd_out *o)
{
    if (o == NULL || o->ended) return REEF_BAD_ARGUMENT;
    const reef_status s = out_press(o, NULL, 0, ZSTD_e_end);
    o->ended = true;
    return s;
}

void reef_zstd_out_free(reef_zstd_out *o)
{
    if (o == NULL) return;
    (void)ZSTD_freeCCtx(o->zstd);
    free(o);
}

/* ---- reading ---- */

struct reef_zstd_in {
    reef_reader from;
    ZSTD_DCtx *zstd;
    reef_status status;
    const char *reason;
    bool whole, ended; /* the frame is whole; the inner reader is at its end */
    size_t at, fill, room;
    char bytes[];
};

reef_zstd_in *reef_zstd_in_new(reef_reader from)
{
    const size_t room = ZSTD_DStreamInSize();
    if (from.read == NULL) return NULL;
    reef_zstd_in *i = malloc(sizeof *i + room);
    if (i == NULL) return NULL;
    *i = (reef_zstd_in){.from = from, .zstd = ZSTD_createDCtx(), .reason = "", .room = room};
    if (i->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(i->zstd, ZSTD_d_windowLogMax, REEF_ZSTD_WINDOW_LOG_MAX)))
        return i;
    reef_zstd_in_free(i);
    return NULL;
}

static reef_status in_failed(reef_zstd_in *i, reef_status status, const char *reason)
{
    i->status = status;
    i->reason = reason;
    return status;
}

/* Reads more input, if there is some. */
static reef_status in_fill(reef_zstd_in *i)
{
    if (i->at < i->fill || i->ended) return REEF_OK;
    i->at = i->fill = 0;
    const reef_status s = i->from.read(i->from.context, i->bytes, i->room, &i->fill);
    if (s != REEF_OK) return in_failed(i, s, "reading failed");
    i->ended = i->fill < i->room;
    return REEF_OK;
}

static reef_status in_refused(reef_zstd_in *i, size_t error)
{
    switch (ZSTD_getErrorCode(error)) {
    case ZSTD_error_memory_allocation: return in_failed(i, REEF_NO_MEMORY, "no memory for zstd");
    case ZSTD_error_prefix_unknown: return in_failed(i, REEF_CORRUPT, "this is no frame of zstd");
    case ZSTD_error_frameParameter_windowTooLarge:
        return in_failed(i, REEF_CORRUPT, "the frame of zstd asks for too much memory");
    default: return in_failed(i, REEF_CORRUPT, "the frame of zstd is damaged");
    }
}

/* One step of libzstd. */
static reef_status in_press(reef_zstd_in *i, ZSTD_outBuffer *out)
{
    ZSTD_inBuffer in = {i->bytes, i->fill, i->at};
    const size_t before = out->pos, left = ZSTD_decompressStream(i->zstd, out, &in);
    const bool moved = in.pos > i->at || out->pos > before;
    if (ZSTD_isError(left)) return in_refused(i, left);
    i->at = in.pos;
    i->whole = left == 0;
    if (!moved && !i->whole) return in_failed(i, REEF_CORRUPT, "the frame of zstd ends too early");
    return REEF_OK;
}

static reef_status in_read(void *context, void *bytes, size_t count, size_t *got)
{
    reef_zstd_in *i = context;
    ZSTD_outBuffer out = {bytes, count, 0};
    *got = 0;
    while (i->status == REEF_OK && out.pos < count && !i->whole)
        if (in_fill(i) == REEF_OK) (void)in_press(i, &out);
    if (i->status == REEF_OK && i->whole && in_fill(i) == REEF_OK && i->at < i->fill)
        (void)in_failed(i, REEF_CORRUPT, "something follows behind the frame of zstd");
    if (i->status == REEF_OK) *got = out.pos;
    return i->status;
}

reef_reader reef_zstd_reader(reef_zstd_in *i)
{
    reef_reader r = {in_read, i};
    return r;
}

const char *reef_zstd_in_reason(const reef_zstd_in *i) { return i->reason; }

void reef_zstd_in_free(reef_zstd_in *i)
{
    if (i == NULL) return;
    (void)ZSTD_freeDCtx(i->zstd);
    free(i);
}

/* ---- worlds ---- */

reef_status reef_zstd_save_to(reef_world *world, reef_writer to, const reef_save_desc *desc, int level, char *reason)
{
    reason_put(reason, "");
    reef_zstd_out *o = reef_zstd_out_new(to, level);
    if (o == NULL) {
        reason_put(reason, "no memory for zstd");
        return to.write ? REEF_NO_MEMORY : REEF_BAD_ARGUMENT;
    }
    reef_status s = reef_save_to(world, reef_zstd_writer(o), desc);
    if (s == REEF_OK) s = reef_zstd_out_end(o);
    if (o->status == REEF_NO_MEMORY) reason_put(reason, "no memory for zstd");
    reef_zstd_out_free(o);
    return s;
}

reef_status reef_zstd_load_from(reef_world *world, reef_reader from, const reef_load_desc *desc, char *reason)
{
    reason_put(reason, "");
    reef_zstd_in *i = reef_zstd_in_new(from);
    if (i == NULL) {
        reason_put(reason, "no memory for zstd");
        return from.read ? REEF_NO_MEMORY : REEF_BAD_ARGUMENT;
    }
    const reef_status s = reef_load_from(world, reef_zstd_reader(i), desc);
    if (s != REEF_OK) reason_put(reason, reef_zstd_in_reason(i));
    reef_zstd_in_free(i);
    return s;
}

/* ---- files ---- */

typedef struct saving {
    reef_world *world;
    const reef_save_desc *desc;
    int level;
    char reason[REEF_DETAIL_MAX];
} saving;

static reef_status produce(void *context, reef_writer writer)
{
    saving *x = context;
    return reef_zstd_save_to(x->world, writer, x->desc, x->level, x->reason);
}

reef_status reef_zstd_save(reef_world *world, const char *path, const reef_save_desc *desc, int level, char *reason)
{
    saving x = {.world = world, .desc = desc, .level = level};
    char why[REEF_DETAIL_MAX] = "";
    const reef_status s = reef_file_replace(path, desc == NULL || !desc->unsynced, produce, &x, why);
    reason_put(reason, why[0] ? why : x.reason);
    return s;
}

static reef_status file_read(void *context, void *bytes, size_t count, size_t *got)
{
    *got = fread(bytes, 1, count, context);
    return ferror((FILE *)context) ? REEF_IO : REEF_OK;
}

reef_status reef_zstd_load(reef_world *world, const char *path, const reef_load_desc *desc, char *reason)
{
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (f == NULL) {
        if (reason)
            (void)snprintf(reason, REEF_DETAIL_MAX, "%s: %.64s", path ? strerror(errno) : "no path", path ? path : "");
        return path ? REEF_IO : REEF_BAD_ARGUMENT;
    }
    const reef_status s = reef_zstd_load_from(world, (reef_reader){file_read, f}, desc, reason);
    if (s == REEF_IO && reason) (void)snprintf(reason, REEF_DETAIL_MAX, "read of %.64s: %s", path, strerror(errno));
    (void)fclose(f);
    return s;
}
