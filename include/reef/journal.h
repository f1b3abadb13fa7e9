/* Journals: a file that grows by what changed.
 *
 *     reef_journal *j = reef_journal_open(world, "game.journal", NULL);   loads what is there, or writes the world
 *                                                                         as it is
 *     ... every tick, or every few:  reef_journal_append(j);
 *     reef_journal_close(j);
 *
 * An append writes the blocks' rows that were changed since the last one. The journal holds the state of its last
 * append, as a snapshot does: what is written between two appends is copied once, block by block, and nothing else
 * costs anything until then. Killed at any moment, the program opens the journal again and is where it was at the
 * last append, or the one before if that wasn't complete. */
#ifndef REEF_JOURNAL_H
#define REEF_JOURNAL_H

#include "save.h"

REEF_BEGIN_C

/* An open journal, of one world. */
typedef struct reef_journal reef_journal;

/* How a journal is opened; {0}: all defaults. */
typedef struct reef_journal_desc {
    bool raw; /* as reef_save_desc.raw */
    /* appends don't wait for the disk: a crash of the system may take the last ones, but never the journal */
    bool unsynced;
    bool fresh; /* what the file holds isn't loaded: it is replaced by the world as it is */
    /* an append that makes the file larger than this, and than twice what the world as a whole took last time, writes
     * it anew; 0: never */
    uint64_t compact_bytes;
    reef_load_desc load;
} reef_journal_desc;

/* Opens a journal for a world. Where the file is there, it is loaded (as reef_load; a torn tail is cut off),
 * otherwise the world is written to it. The caller owns the journal; close it before the world is freed. NULL: the
 * world's last error says why (as reef_load and reef_save), the world is as before, and the file holds what it held. */
REEF_API reef_journal *reef_journal_open(reef_world *world, const char *path, const reef_journal_desc *desc);
/* Writes what changed since the last append, or since the journal was opened. Errors: as reef_save; then the file
 * holds what it held, and the next append writes these changes as well. After an IO error of which it isn't known
 * what reached the disk, the next append writes the whole world to a new file; so does one after a type got its
 * fields (reef_type_describe). Where the path leads to another file meanwhile (reef_save to it, a second journal
 * that is fresh), or to none, appends are refused with IO until the journal is compacted. Loading and restoring the
 * world in between is one change among others. */
REEF_API reef_status reef_journal_append(reef_journal *journal);
/* Writes the whole world as it is to a new file, which takes the journal's place in one step, whatever is there by
 * now. Errors: as reef_save. */
REEF_API reef_status reef_journal_compact(reef_journal *journal);
/* How large a journal's file is. */
typedef struct reef_journal_info {
    uint64_t records, bytes; /* of the file */
    uint64_t whole_bytes;    /* of its first record */
} reef_journal_info;
/* How large the file is. NULL: all zeroes. */
REEF_API reef_journal_info reef_journal_stats(const reef_journal *journal);
/* Writes nothing: append before. NULL is allowed. */
REEF_API void reef_journal_close(reef_journal *journal);

REEF_END_C

#endif
