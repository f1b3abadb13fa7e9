/* The living reef in a database: its world is committed after each tick, and opens as it was.
 *
 *     test_sqlite_reef SPECIES [TICKS]    (default: 20 ticks) */
#define _POSIX_C_SOURCE 200809L
#include "ecosystem.h"
#include "reef_sqlite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { METRES = 64 };

static char path[64];

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "test_sqlite_reef: %s: %s\n", what, why);
    (void)remove(path);
    return 1;
}

/* Opens the file for another world, which must come out the same. */
static bool same_state(reef_world *w, char *reason)
{
    reef_world *to = reef_world_new(NULL);
    reef_sqlite *file = NULL;
    const bool opened =
        to && reef_sqlite_open(to, path, &(reef_sqlite_desc){.load = {.note = NULL}}, &file, reason) == REEF_OK;
    /* the other world has no systems, so what they remember is kept for them, and not compared: the tables are */
    const bool good = opened && reef_sqlite_check(file) == REEF_OK && reef_count_alive(to) == reef_count_alive(w) &&
                      reef_hash(to) == reef_hash(w);
    if (opened && !good) (void)snprintf(reason, REEF_SQLITE_REASON_MAX, "another state: %s", reef_sqlite_reason(file));
    reef_sqlite_close(file);
    reef_world_free(to);
    return good;
}

/* The shell of SQLite as another program that reads the file; true where there is none. */
static bool shell_reads(const reef_world *w, char *reason)
{
    char command[160], line[64], wanted[64];
    (void)snprintf(command, sizeof command,
                   "sqlite3 '%s' 'pragma integrity_check' 'select count(*) from entities' 2>&1", path);
    FILE *said = popen(command, "r");
    if (said == NULL) return false;
    line[fread(line, 1, sizeof line - 1, said)] = 0;
    const int status = pclose(said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        (void)puts("there is no sqlite3: its shell isn't tested");
        return true;
    }
    (void)snprintf(wanted, sizeof wanted, "ok\n%u\n", (unsigned)reef_count_alive(w));
    (void)snprintf(reason, REEF_SQLITE_REASON_MAX, "%s", line);
    return strcmp(line, wanted) == 0;
}

int main(int count, char **words)
{
    static species_table table;
    static ecosystem e;
    char reason[REEF_SQLITE_REASON_MAX] = "";
    reef_sqlite *file = NULL;
    if (count < 2) return 2;
    const int ticks = count > 2 ? atoi(words[2]) : 20;
    (void)snprintf(path, sizeof path, "%stest_sqlite_reef-%ld.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "",
                   (long)getpid());
    if (!species_load(&table, words[1], reason, sizeof reason)) return fail("species", reason);
    species_scale(&table, 3000);
    if (!ecosystem_new(&e, &table, METRES, 1, NULL)) return fail("the reef", e.error);
    if (reef_sqlite_open(e.world, path, &(reef_sqlite_desc){.unsynced = true}, &file, reason) != REEF_OK)
        return fail("open", reason);
    for (int i = 0; i < ticks; i++) {
        if (!ecosystem_tick(&e)) return fail("tick", e.error);
        if (reef_sqlite_commit(file) != REEF_OK) return fail("commit", reef_sqlite_reason(file));
        if (i % 100 == 19 && reef_sqlite_check(file) != REEF_OK) return fail("check", reef_sqlite_reason(file));
    }
    if (reef_sqlite_number(file) != (uint64_t)ticks) return fail("commits", "another number of them");
    reef_sqlite_close(file);
    if (!same_state(e.world, reason)) return fail("opened again", reason);
    if (!shell_reads(e.world, reason)) return fail("the shell of SQLite", reason);
    printf("%d ticks, %u entities: the same state\n", ticks, (unsigned)reef_count_alive(e.world));
    ecosystem_free(&e);
    (void)remove(path);
    return 0;
}
