/* Saving and loading in all its forms: settings, memory and streams, differences as bytes, checking a file. */
#ifndef REEF_FILE_H
#define REEF_FILE_H

#include "save.h"

REEF_BEGIN_C

/* Where bytes are written to. It is called with the bytes in their order. If it returns anything but REEF_OK, the call
 * that writes stops and returns that. */
typedef struct reef_writer {
    reef_status (*write)(void *context, const void *bytes, size_t count);
    void *context;
} reef_writer;

/* Where bytes are read from. It must give `count` bytes, and fewer only at the end; *got is how many it gave. */
typedef struct reef_reader {
    reef_status (*read)(void *context, void *bytes, size_t count, size_t *got);
    void *context;
} reef_reader;

/* Called about 100 times, with the number of bytes that are done and about how many there are in all (0: not known). If
 * it returns false, the call stops with CANCELLED and has no effect. */
typedef bool (*reef_progress)(void *context, uint64_t done, uint64_t all);

/* Settings for saving; {0}: the whole world, portable, synced. */
struct reef_save_desc {
    /* save only the entities that match this text (reef/query.h), with their handles; NULL: the whole world. With a
     * query, time, events and relations to other entities aren't saved, and the indices of all other entities are free
     * in the file */
    const char *query;
    /* write types without fields as bytes. Such a file can only be read by programs with the same types, on a machine
     * with the same byte order. Without `raw`, a type without fields is refused if an entity has it or events of it
     * wait */
    bool raw;
    /* store the hash of the state (for a difference, of both states). Loading compares it, unless a type or system is
     * missing or differs. Costs a reef_hash */
    bool sealed;
    /* reef_save only: don't wait for the disk. The old or the new file is then there after a crash of the program, but
     * perhaps not after a crash of the system */
    bool unsynced;
    reef_progress progress;
    void *context; /* passed to progress */
};

/* Write a world to a writer or memory, as reef_save does. Errors: as for reef_save, BAD_ARGUMENT (no writer, `bytes` is
 * NULL), and what the writer returns. */
REEF_API reef_status reef_save_to(reef_world *world, reef_writer writer, const reef_save_desc *desc);
typedef struct reef_bytes {
    void *data;
    size_t size;
} reef_bytes;
/* The caller frees the bytes by reef_bytes_free. The world may be freed before, but not its allocator. *bytes is empty
 * on failure. */
REEF_API reef_status reef_save_bytes(reef_world *world, reef_bytes *bytes, const reef_save_desc *desc);
REEF_API void reef_bytes_free(reef_bytes *bytes);

/* What loading does with a type that the program doesn't have, or that a strict world doesn't know (such a type is
 * never declared). For tables of which types are left out, and for types that have moved to another home, reef makes
 * internal types, which later loads use again: at most 20, and one for each type that has moved. */
typedef enum reef_unknown {
    REEF_UNKNOWN_DROP = 0, /* leave its values out, and report it */
    REEF_UNKNOWN_REFUSE,   /* load nothing, and fail with UNKNOWN_TYPE */
    REEF_UNKNOWN_DECLARE   /* make the type as the file describes it: for tools */
} reef_unknown;

/* How the world differs from the file after loading. */
typedef enum reef_load_note_kind {
    REEF_NOTE_TYPE_DROPPED = 1, /* `rows` entities lost the component */
    REEF_NOTE_FIELD_DROPPED,    /* the program's type has no such field */
    REEF_NOTE_FIELD_DEFAULT,    /* the file has no such field: default values */
    REEF_NOTE_FIELD_CONVERTED,  /* it has another kind or length: values that don't fit become the nearest that do */
    REEF_NOTE_FIELD_KIND,       /* it has a kind that can't be converted to the program's: default values */
    REEF_NOTE_HOME_CHANGED,
    /* the file contains a system or phase that the world doesn't have: its state is kept until systems run */
    REEF_NOTE_SYSTEM_UNKNOWN,
    REEF_NOTE_TAIL_CUT, /* a journal's last record is incomplete: its `rows` bytes are left out */
    /* `rows` scripts have a class that isn't known (reef_script_know): they do nothing */
    REEF_NOTE_SCRIPT_UNKNOWN,
    REEF_NOTE_NAMES_CHANGED, /* other values have names, or other names: values are translated by name */
    REEF_NOTE_NAME_DROPPED,  /* the program's enum has no value of the name `was`: 0, in a bit mask without it */
} reef_load_note_kind;

/* One thing that loading reports. */
typedef struct reef_load_note {
    reef_load_note_kind kind;
    const char *type, *field; /* for a system, its name in `type`; NULL: none. They live until the call returns */
    uint64_t rows;
    /* of notes about a type or a field: how many values the loaded world has of the type, or had before they were left
     * out; and how many of the file's lose something: a field that isn't there any more and wasn't zero, a number that
     * can't be what it was, a name, the value itself. (Of a journal, the values of all records count.) */
    uint64_t values, lost;
    /* what a field is in the file, and in the program: "u16", "f32[3]", "text[8]", "entity"; for REEF_NOTE_NAME_DROPPED
     * the name in `was`. NULL for other notes than that, REEF_NOTE_FIELD_CONVERTED and REEF_NOTE_FIELD_KIND */
    const char *was, *is;
} reef_load_note;

/* Settings for loading; {0}: all defaults. */
struct reef_load_desc {
    reef_unknown unknown;
    /* load nothing, and fail with NOT_PORTABLE, where a value of the file would lose something (reef_load_note.lost):
     * for programs that write the file again */
    bool lossless;
    /* called for each difference between the world and the file; NULL: they go to the world's log */
    void (*note)(void *context, const reef_load_note *note);
    reef_progress progress;
    void *context; /* passed to note and progress */
};

/* Load a world from a reader or memory, as reef_load does. Errors: as for reef_load, BAD_ARGUMENT (the reader's
 * function, or `data` of a size above 0, is NULL), CORRUPT (also no bytes at all, wherever `data` points), and what the
 * reader returns. */
REEF_API reef_status reef_load_from(reef_world *world, reef_reader reader, const reef_load_desc *desc);
REEF_API reef_status reef_load_bytes(reef_world *world, const void *data, size_t size, const reef_load_desc *desc);

/* Says what loading a file into this world would do, and does nothing: desc->note is called for each difference, with
 * the numbers of values that it concerns, and *lost (may be NULL) is the number of values that would lose something;
 * one that loses several fields counts several times. The file is read and checked as for reef_load, which takes as
 * long and as much memory. Types that would be declared aren't. Errors: as for reef_load. */
REEF_API reef_status reef_load_plan(reef_world *world, const char *path, const reef_load_desc *desc, uint64_t *lost);

/* ---- differences as bytes ---- */

/* Write the changes that turn `before` into `after`, for undo, replication and tests. Both worlds must be forks of one
 * origin (also by reef_snapshot_fork): blocks that they share aren't compared. A NULL desc means all defaults; a query
 * isn't allowed (BAD_ARGUMENT). A difference that isn't sealed can be applied to any state that it fits, even if that
 * isn't `before`. Errors: as reef_save_to, for either world; OTHER_WORLD (the worlds have no common origin). */
REEF_API reef_status reef_diff_save(reef_world *before, reef_world *after, reef_writer writer,
                                    const reef_save_desc *desc);
REEF_API reef_status reef_diff_bytes(reef_world *before, reef_world *after, reef_bytes *bytes,
                                     const reef_save_desc *desc);
/* Changes a world in the state `before` to the state `after`, exactly. The world may have another origin and live in
 * another process. Otherwise it is like reef_load, but types must be as they were (NOT_PORTABLE). Readers of removals
 * and events go on where they were; removals by the difference aren't reported. Further errors: OTHER_STATE (the
 * difference is sealed, and this is another state), CORRUPT (also when it can't be applied to this state). */
REEF_API reef_status reef_diff_apply(reef_world *world, const void *data, size_t size);

/* ---- files ---- */

/* Replaces a file in one step, for add-ons that save in other ways. `produce` writes the new content to the writer that
 * it gets. When it returns REEF_OK, and with `synced` everything has reached the disk, the new file replaces the old
 * one; otherwise the old file is unchanged. There is one exception: when the failure is "fsync of the folder of ...",
 * the new file is in place, but a crash of the system may bring the old one back. The temporary file is path.new.
 * Symbolic links are followed, permissions are kept, and anything but a plain file is refused. `reason` may be NULL, or
 * has room for REEF_DETAIL_MAX bytes: it says what failed if the status is IO, and is "" otherwise. Any thread; if
 * another thread is writing the same path, the call waits for up to a second, then returns IO. Errors: BAD_ARGUMENT (no
 * path, no produce), IO, NO_MEMORY, and what `produce` returns. */
REEF_API reef_status reef_file_replace(const char *path, bool synced,
                                       reef_status (*produce)(void *context, reef_writer writer), void *context,
                                       char *reason);

/* ---- inspecting files ---- */

/* The size of all sections of one kind. */
typedef struct reef_file_part {
    char kind[5]; /* four letters: docs/files/file-format.md */
    uint64_t sections, bytes;
} reef_file_part;

/* Kinds of sections that reef_file_info has room for. */
enum { REEF_FILE_PARTS_MAX = 32 };

/* What kind of file it is, and how much of it is undamaged. */
typedef struct reef_file_info {
    /* version of the format; 0: the file has no readable header, nothing behind that is read, `bytes` counts only what
     * was read, and the members behind that are 0 */
    uint32_t version;
    bool journal, difference, raw, big_endian; /* as the header says */
    bool torn;            /* a journal that ends in the middle of a record, which loading leaves out */
    uint64_t bytes;       /* size of the file */
    uint64_t sound_bytes; /* of these, up to the end of the last complete record */
    uint64_t whole_bytes; /* up to the end of the first record */
    uint64_t records;     /* complete records */
    uint64_t sections;    /* in the complete records */
    uint32_t part_count;
    reef_file_part part[REEF_FILE_PARTS_MAX]; /* of the complete records, in the order of the format */
    uint64_t wrong_at;                        /* the byte at which something is wrong */
    char wrong[REEF_DETAIL_MAX];              /* what is wrong there; "": nothing. Also set if `torn` */
} reef_file_info;

/* Checks the structure of a file: header, records, and the checksums of all sections. Only reef_load checks what is in
 * the sections. The file is read once, from the front; memory is needed for one section at a time and 64 KiB more, from
 * `allocator` (NULL: from the C library). *info is always set. Returns OK, also for a torn journal; CORRUPT, VERSION,
 * IO (info->wrong says why), NO_MEMORY, BAD_ARGUMENT, and what the reader returns. Any thread. */
REEF_API reef_status reef_file_check(const char *path, const reef_allocator *allocator, reef_file_info *info);
REEF_API reef_status reef_file_check_from(reef_reader reader, const reef_allocator *allocator, reef_file_info *info);

REEF_END_C

#endif
