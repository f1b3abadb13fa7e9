/* Saving and loading worlds.
 *
 *     reef_save(world, "game.reef", NULL);
 *     reef_load(world, "game.reef", NULL);
 *
 * A file holds what a snapshot holds: entities with their generations, free ids, components in every home, switches,
 * names, singletons, events that wait, time, and when what was written and systems ran last, so that a loaded world
 * goes on as the saved one would have, to the bit. Not in it: what only readers of removals or the host's readers of
 * events haven't seen yet (reef/track.h, reef/event.h); they begin at the load. It is the same on all machines, and
 * it describes its types: a program whose types have changed meanwhile reads it by their fields' names.
 * docs/files/file-format.md says what is in it.
 *
 * Saving never leaves half a file: it is written under another name, synced, and takes the old one's place in one
 * step. Loading never leaves half a world: the new state is made ready and checked beside the old one.
 *
 * To save beside a running game, save a fork of it on another thread. */
#ifndef REEF_SAVE_H
#define REEF_SAVE_H

#include "world.h"

REEF_BEGIN_C

/* Where bytes go: called in their order until it answers anything but REEF_OK, which is then what the call that
 * writes answers. */
typedef struct reef_writer {
    reef_status (*write)(void *context, const void *bytes, size_t count);
    void *context;
} reef_writer;

/* Where bytes come from: as many as are wanted, fewer only at the end. */
typedef struct reef_reader {
    reef_status (*read)(void *context, void *bytes, size_t count, size_t *got);
    void *context;
} reef_reader;

/* Told now and then, some 100 times, how many bytes of how many (about; 0: not known) are done. False: the call
 * stops, with CANCELLED, and nothing has happened. */
typedef bool (*reef_progress)(void *context, uint64_t done, uint64_t all);

/* How to save; {0}: the whole world, portable, synced. */
typedef struct reef_save_desc {
    /* only the entities that match this text (reef/query.h), with their handles; NULL: the whole world. What belongs
     * to no entity isn't saved then: time, events; the others' indices are free */
    const char *query;
    /* types without fields are written as bytes; the file is then read only by programs with the same types on a
     * machine with the same order of bytes. Otherwise such a type, if some entity has it or events of it wait, is
     * refused */
    bool raw;
    /* with the state's hash (of a difference: both states'), which loading compares, unless what it needs is missing
     * or another (a type, a system); costs reef_hash */
    bool sealed;
    /* reef_save alone: don't wait for the disk: the old or the new file is there after a crash of the program, not
     * after one of the system */
    bool unsynced;
    reef_progress progress;
    void *context; /* handed to progress */
} reef_save_desc;

/* Writes a world, to a file, memory or a stream. NULL desc: all defaults. Any thread, as long as no other uses the
 * world. Errors: BAD_ARGUMENT (no path, no writer, no place for the bytes), LOCKED (a loop is open, commands wait,
 * systems run), NOT_PORTABLE (names the type), NOT_COPYABLE (a type that owns something and gives no fields; names
 * the type), BAD_TEXT and others as reef_query_new (the query's), NO_MEMORY, IO (the detail says which call, on
 * which path, and the system's reason; the old file is there), CANCELLED, and what the writer answered. */
REEF_API reef_status reef_save(reef_world *world, const char *path, const reef_save_desc *desc);
REEF_API reef_status reef_save_to(reef_world *world, reef_writer writer, const reef_save_desc *desc);
typedef struct reef_bytes {
    void *data;
    size_t size;
} reef_bytes;
/* Free the bytes with reef_bytes_free; the world may be gone by then, its allocator not. *bytes is empty on failure. */
REEF_API reef_status reef_save_bytes(reef_world *world, reef_bytes *bytes, const reef_save_desc *desc);
REEF_API void reef_bytes_free(reef_bytes *bytes);

/* What is done with a type that the program hasn't got, or that a strict world doesn't know (which is never
 * declared). For what is left out of tables or moves to another home the program gets a type of reef's own, which
 * later loads use again. */
typedef enum reef_unknown {
    REEF_UNKNOWN_DROP = 0, /* its values are left out, and reported */
    REEF_UNKNOWN_REFUSE,   /* nothing is loaded: UNKNOWN_TYPE */
    REEF_UNKNOWN_DECLARE   /* it becomes a type of the program, as the file describes it: for tools */
} reef_unknown;

/* What isn't in the world as it is in the file. */
typedef enum reef_load_note_kind {
    REEF_NOTE_TYPE_DROPPED = 1, /* `rows` entities lost it */
    REEF_NOTE_FIELD_DROPPED,    /* the program's type has no such field */
    REEF_NOTE_FIELD_DEFAULT,    /* the file's has no such field: default values */
    REEF_NOTE_FIELD_CONVERTED,  /* of another kind or length: values that don't fit become the nearest that does */
    REEF_NOTE_HOME_CHANGED,
    /* the file knows a system or phase that the world hasn't got: its place is kept until systems run */
    REEF_NOTE_SYSTEM_UNKNOWN,
    REEF_NOTE_TAIL_CUT, /* a journal's last record was torn: `rows` bytes of it are left out */
    /* `rows` scripts have a class that the program hasn't said it knows (reef_script_know): they do nothing */
    REEF_NOTE_SCRIPT_UNKNOWN,
} reef_load_note_kind;

/* One thing that loading reports. */
typedef struct reef_load_note {
    reef_load_note_kind kind;
    const char *type, *field; /* or the system's name in `type`; NULL: none. They live until the call returns */
    uint64_t rows;
} reef_load_note;

/* How to load; {0}: all defaults. */
typedef struct reef_load_desc {
    reef_unknown unknown;
    /* what isn't in the world as it is in the file; NULL: it goes to the world's log */
    void (*note)(void *context, const reef_load_note *note);
    reef_progress progress;
    void *context; /* handed to note and progress */
} reef_load_desc;

/* The world becomes what the file holds; what was in it is gone, as with reef_restore: handles mean what they meant
 * in the saved world, values of types that a rewind skips stay with those entities that live before and after, and
 * no observer is told. Systems, observers, the config stay. Add the systems before: only then are they told what
 * they have seen. Indices that are free in the file are given out again, also in a world of never_reuse. To add a
 * file's entities to those of a world, load it into a world of its own and merge that (reef/merge.h).
 *
 * Fields follow their names: what the file hasn't got gets default values, what the program hasn't got is left out,
 * numbers of another kind are converted, a type may have changed its home (of several values on one entity the first
 * moves). All this is reported.
 *
 * Errors, the world as before: BAD_ARGUMENT, LOCKED (as saving), IO, CORRUPT (the detail says what is wrong,
 * `number` of the last error at which byte), VERSION, NOT_PORTABLE (raw, and of another machine, or a type's size
 * differs), UNKNOWN_TYPE, LIMIT (more entities than the config allows, more values than the type's home takes),
 * NO_MEMORY (also when a hook refused), CANCELLED, and what the reader answered. That a file is damaged, of another
 * version or for another state is no mistake of the caller: the misuse hook isn't told. */
REEF_API reef_status reef_load(reef_world *world, const char *path, const reef_load_desc *desc);
REEF_API reef_status reef_load_from(reef_world *world, reef_reader reader, const reef_load_desc *desc);
REEF_API reef_status reef_load_bytes(reef_world *world, const void *data, size_t size, const reef_load_desc *desc);

/* ---- differences as bytes ---- */

/* Writes what must be done to `before` so that it is `after`: for undo, replication, tests. The two are of one
 * family (forks, or reef_snapshot_fork of snapshots): what they share isn't looked into. NULL desc: all defaults; a
 * query is refused, BAD_ARGUMENT. Unsealed, it can be applied to any state that it fits on, which may be another
 * one. Errors: as reef_save_to, of either world; OTHER_WORLD (not of one family). */
REEF_API reef_status reef_diff_save(reef_world *before, reef_world *after, reef_writer writer,
                                    const reef_save_desc *desc);
REEF_API reef_status reef_diff_bytes(reef_world *before, reef_world *after, reef_bytes *bytes,
                                     const reef_save_desc *desc);
/* A world in the state `before` becomes `after`, to the bit; it needn't be of their family or their process.
 * Otherwise as reef_load, but types must be as they were: NOT_PORTABLE. Readers of removals and events go on where
 * they were; nobody is told what the difference took away. Errors besides: OTHER_STATE (a sealed one of another
 * state), CORRUPT (also when it can't be applied to this state). */
REEF_API reef_status reef_diff_apply(reef_world *world, const void *data, size_t size);

/* ---- files ---- */

/* Replaces a file in one step: `produce` writes the new content to the writer that it gets; when it answers REEF_OK,
 * and everything has reached the disk (synced), the file of that path is the new one; otherwise it is what it was,
 * but for one failure: the new file is in its place, and it isn't known whether it will be after a crash of the
 * system ("fsync of the folder of ..."). The temporary file is path.new. Symbolic links are followed, permissions
 * kept, other things than plain files refused. *reason (may be NULL; room for REEF_DETAIL_MAX bytes) says why, ""
 * unless the answer is IO. For add-ons that save in other ways. Any thread; of two that write the same path at the
 * same time the second waits for up to a second, then answers IO. Errors: BAD_ARGUMENT (no path, no produce), IO,
 * NO_MEMORY, and what `produce` answered. */
REEF_API reef_status reef_file_replace(const char *path, bool synced,
                                       reef_status (*produce)(void *context, reef_writer writer), void *context,
                                       char *reason);

/* ---- looking at files ---- */

/* What the sections of one kind take. */
typedef struct reef_file_part {
    char kind[5]; /* four letters: docs/files/file-format.md */
    uint64_t sections, bytes;
} reef_file_part;

/* Kinds of sections that reef_file_info has room for. */
enum { REEF_FILE_PARTS_MAX = 32 };

/* What a file is, and how far it is sound. */
typedef struct reef_file_info {
    /* of the format; 0: there is no header of reef that could be read, and what follows is 0 as well */
    uint32_t version;
    bool journal, difference, raw, big_endian; /* as the header says */
    bool torn;            /* a journal that ends in the middle of a record, which opening and loading it leave out */
    uint64_t bytes;       /* of the file */
    uint64_t sound_bytes; /* of these, up to the end of the last record that is whole */
    uint64_t whole_bytes; /* up to the end of the first */
    uint64_t records;     /* whole ones */
    uint64_t sections;    /* in the whole records */
    uint32_t part_count;
    reef_file_part part[REEF_FILE_PARTS_MAX]; /* of the whole records, in the order of the format */
    uint64_t wrong_at;                        /* the byte at which something is wrong */
    char wrong[REEF_DETAIL_MAX];              /* what; "": nothing is. Also of a tail that is torn */
} reef_file_info;

/* Looks at the frame of a file: header, records, the sums of all sections. What is in the sections is for reef_load
 * to refuse. The file is read once, from the front; in memory is one section at a time, and 64 KiB. `allocator`:
 * where that comes from; NULL: the C library's.
 * *info is set whatever the answer. OK, also for a torn journal; CORRUPT, VERSION, IO (wrong says why), NO_MEMORY,
 * BAD_ARGUMENT, and what the reader answered. Any thread. */
REEF_API reef_status reef_file_check(const char *path, const reef_allocator *allocator, reef_file_info *info);
REEF_API reef_status reef_file_check_from(reef_reader reader, const reef_allocator *allocator, reef_file_info *info);

REEF_END_C

#endif
