/* file/numbering: TODO */
#ifndef REEF_FILE_NUMBERING_H
#define REEF_FILE_NUMBERING_H

#include "base/memory.h"
#include "file/record.h"

/* One more in a list that grows. False: no memory. */
bool reef__number_add(memory *m, uint32_t **list, uint32_t *count, uint32_t *room, uint32_t id);
bool reef__numbering_type(numbering *n, uint32_t id); /* the next number. False: no memory */
bool reef__numbering_table(numbering *n, uint32_t id);

/* A type got its fields since it got its number (reef_type_describe): the file says that its values are bytes, and
 * they would be fields. */
bool reef__numbering_outdated(const numbering *n);
void reef__numbering_drop(numbering *n);

/* One more run. False: no memory. */
bool reef__version_order_add(version_order *x, uint64_t version);
void reef__version_order_sort(version_order *x);

/* A write after n of the runs has the rank n + 1; a run has that of the last write that it saw. The greatest is
 * count + 1. */
uint64_t reef__version_rank(const version_order *x, uint64_t version);
void reef__version_order_drop(version_order *x);

#endif
