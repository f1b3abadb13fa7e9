/* The numbers that types and tables have in a file, and the ranks that versions have in a record. The structs are in
 * record.h, since a journal and its reader keep them. */
#ifndef REEF_FILE_NUMBERING_H
#define REEF_FILE_NUMBERING_H

#include "file/record.h"

/* Appends to a list that grows. False: no memory. */
bool reef__number_add(memory *m, uint32_t **list, uint32_t *count, uint32_t *room, uint32_t id);
/* Give the next number to a type or table. False: no memory. */
bool reef__numbering_type(numbering *n, uint32_t id);
bool reef__numbering_table(numbering *n, uint32_t id);

/* Did a type get fields (reef_type_describe) after it got its number? The file says that its values are bytes, so no
 * further record can hold them. */
bool reef__numbering_outdated(const numbering *n);
void reef__numbering_drop(numbering *n);

/* Adds a run. False: no memory. */
bool reef__version_order_add(version_order *x, uint64_t version);
void reef__version_order_sort(version_order *x);

/* The rank of a version: a write after n of the runs has the rank n + 1, and a run has the rank of the last write
 * that it saw. The greatest rank is count + 1. */
uint64_t reef__version_rank(const version_order *x, uint64_t version);
void reef__version_order_drop(version_order *x);

#endif
