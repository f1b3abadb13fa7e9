/* Journals: files to which a program appends what has changed in a world.
 *
 *     reef_journal *j = reef_journal_open(world, "game.journal", NULL);   loads what is there, or writes the world
 *                                                                         as it is
 *     ... every tick, or every few:  reef_journal_append(j);
 *     reef_journal_close(j);
 *
 * An append writes the rows that have changed since the last append. The journal holds the state of its last append as
 * a snapshot does: a block that is written between two appends is copied once, and nothing else costs anything until
 * the next append. If the program is killed at any moment, it opens the journal again and has the state of the last
 * append, or of the one before if the last one wasn't complete. */
#ifndef REEF_JOURNAL_H
#define REEF_JOURNAL_H

#include "file.h"

REEF_BEGIN_C

/* An open journal of one world. */
typedef struct reef_journal reef_journal;

/* How a journal is opened; {0}: all defaults. */
typedef struct reef_journal_desc {
    bool raw; /* as reef_save_desc.raw */
    /* appends don't wait for the disk: a crash of the system may lose the last ones, but never the whole journal */
    bool unsynced;
    bool fresh; /* don't load the file, but replace it by the world as it is */
    /* an append compacts the journal when the file becomes larger than this, and larger than twice the bytes that the
     * whole world took last time; 0: never */
    uint64_t compact_bytes;
    reef_load_desc load;
} reef_journal_desc;

/* Opens a journal for a world. If the file exists, it is loaded (as by reef_load; an incomplete last record is cut
 * off), otherwise the world is written to it. The caller owns the journal, and closes it before the world is freed.
 * NULL on failure: the world's last error says why (as reef_load and reef_save), and the world and the file are
 * unchanged. */
REEF_API reef_journal *reef_journal_open(reef_world *world, const char *path, const reef_journal_desc *desc);
/* Writes what has changed since the last append, or since the journal was opened. Errors: as reef_save; then the file
 * is unchanged, and the next append writes these changes as well. The next append writes the whole world to a new file
 * after an IO error that leaves it unknown what reached the disk, and after a type got its fields (reef_type_describe).
 * If the path now leads to another file (because of reef_save, or a second journal with `fresh`) or to none, appends
 * fail with IO until the journal is compacted. The world may be loaded and restored between appends; that is a change
 * like any other. */
REEF_API reef_status reef_journal_append(reef_journal *journal);
/* Writes the whole world as it is to a new file, which replaces the file at the journal's path in one step, whatever
 * that is by now. Errors: as reef_save. */
REEF_API reef_status reef_journal_compact(reef_journal *journal);
/* How large a journal's file is. */
typedef struct reef_journal_info {
    uint64_t records, bytes; /* of the file */
    uint64_t whole_bytes;    /* of its first record, the whole world */
} reef_journal_info;
/* Returns the size of the journal's file. NULL: all zeros. */
REEF_API reef_journal_info reef_journal_stats(const reef_journal *journal);
/* Closes a journal. It writes nothing, so append before. NULL is allowed. */
REEF_API void reef_journal_close(reef_journal *journal);

REEF_END_C

#endif
