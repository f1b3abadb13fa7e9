/* What the wrapped calls of faults.c report to crashes.c while a scenario is recorded. */
#ifndef REEF_TESTS_CRASHES_H
#define REEF_TESTS_CRASHES_H

#include <stddef.h>
#include <stdint.h>

void crash_opened(const char *path, int fd);
void crash_dup(int fd, int second);
void crash_closed(int fd);
void crash_wrote(int fd, uint64_t offset, const void *bytes, size_t count);
void crash_truncated(int fd, uint64_t length);
void crash_synced(int fd);
void crash_renamed(const char *from, const char *to);
void crash_removed(const char *path);

#endif
