/* SQLite files of worlds that were crafted: the bytes of reef in them (craft.h), rows of the tables that people read,
 * and any bytes of the file. Whatever is in them, opening and pulling either fail and leave the world as it was, or the
 * world is sound and the file can be committed to. */
#include "crafted.h"
#include "kept_scene.h"
#include "reef/hierarchy.h"
#include "reef_sqlite.h"
#include <sqlite3.h>

static craft_bytes file;
static reef_world *base;
static uint64_t base_hash;
static char path[512];

static void file_write(craft_bytes b)
{
    char beside[520];
    FILE *f = fopen(path, "wb");
    MUST(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(beside, sizeof beside, "%s%s", path, ends[i]);
        (void)remove(beside);
    }
}

static craft_bytes file_read(void)
{
    craft_bytes b = {malloc(1 << 24), 0};
    FILE *f = fopen(path, "rb");
    MUST(b.data && f);
    b.size = fread(b.data, 1, 1 << 24, f);
    (void)fclose(f);
    return b;
}

/* A file with some commits, one of which is still a difference. */
static void begin(void)
{
    uint64_t seed = 5;
    reef_sqlite *f = NULL;
    /* In memory where there is such a folder: the disk's waiting isn't what is tested. */
    (void)snprintf(path, sizeof path, "%s/reef_crafted_%ld.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                   (long)getpid());
    (void)remove(path);
    base = kept_world(false);
    MUST(base && kept_begin(base, &seed, 40, false));
    for (uint32_t i = 0; i < 12; i++)
        (void)reef_relate(base, zoo_somebody(base, &seed), ChildOf, zoo_somebody(base, &seed));
    reef_world *w = reef_fork(base);
    MUST(w && reef_sqlite_open(w, path, &(reef_sqlite_desc){.history = true, .unsynced = true}, &f, NULL) == REEF_OK);
    for (uint32_t i = 0; i < 3; i++) {
        MUST(reef_sqlite_commit(f) == REEF_OK);
        MUST(kept_play(w, &seed, 10));
    }
    reef_sqlite_close(f);
    reef_world_free(w);
    file = file_read();
    base_hash = reef_hash(base);
}

static void end(void)
{
    file_write((craft_bytes){file.data, 0});
    (void)remove(path);
    free(file.data);
    reef_world_free(base);
}

/* ---- changes ---- */

static void run(sqlite3 *db, const char *sql, const void *blob, size_t size)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK) {
        if (blob) (void)sqlite3_bind_blob(s, 1, blob, (int)size, SQLITE_TRANSIENT);
        (void)sqlite3_step(s);
    }
    (void)sqlite3_finalize(s);
}

/* The n-th text of a query of one column; "": there is none. */
static void pick(sqlite3 *db, const char *sql, uint64_t *seed, char *text, size_t size)
{
    sqlite3_stmt *s = NULL;
    uint32_t rows = 0;
    text[0] = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return;
    while (sqlite3_step(s) == SQLITE_ROW) rows++;
    (void)sqlite3_reset(s);
    for (uint32_t n = rows ? craft_below(seed, rows) + 1 : 0; n > 0 && sqlite3_step(s) == SQLITE_ROW; n--)
        (void)snprintf(text, size, "%s", (const char *)sqlite3_column_text(s, 0));
    (void)sqlite3_finalize(s);
}

/* The bytes of a saved world or of a difference. */
static void change_blob(sqlite3 *db, uint64_t *seed)
{
    static const char *const from[] = {"SELECT rowid, bytes FROM reef_wholes",
                                       "SELECT rowid, difference FROM reef_commits"},
                             *const to[] = {"UPDATE reef_wholes SET bytes = ?1 WHERE rowid = %lld",
                                            "UPDATE reef_commits SET difference = ?1 WHERE rowid = %lld"};
    const uint32_t which = craft_below(seed, 2);
    char sql[200];
    sqlite3_stmt *s = NULL;
    craft_bytes blobs[16] = {{NULL, 0}};
    sqlite3_int64 row[16];
    uint32_t n = 0;
    if (sqlite3_prepare_v2(db, from[which], -1, &s, NULL) == SQLITE_OK)
        while (n < 16 && sqlite3_step(s) == SQLITE_ROW)
            if (sqlite3_column_bytes(s, 1) > 0) {
                row[n] = sqlite3_column_int64(s, 0);
                blobs[n++] = craft_copy(sqlite3_column_blob(s, 1), (size_t)sqlite3_column_bytes(s, 1));
            }
    (void)sqlite3_finalize(s);
    if (n) {
        const uint32_t i = craft_below(seed, n);
        craft_bytes b =
            craft_below(seed, 8) ? craft_file(blobs[i], blobs[craft_below(seed, n)], seed) : craft_blob(blobs[i], seed);
        (void)snprintf(sql, sizeof sql, to[which], (long long)row[i]);
        run(db, sql, b.data, b.size);
        free(b.data);
    }
    while (n > 0) free(blobs[--n].data);
}

/* A value of a row, or a row, of any table; reef's own ones among them. */
static void change_row(sqlite3 *db, uint64_t *seed)
{
    char table[128], column[128], sql[1200], value[64], asks[300];
    pick(db, "SELECT name FROM sqlite_master WHERE type = 'table'", seed, table, sizeof table);
    (void)snprintf(asks, sizeof asks, "SELECT name FROM pragma_table_info('%s')", table);
    pick(db, asks, seed, column, sizeof column);
    switch (craft_below(seed, 6)) {
    case 0: (void)snprintf(value, sizeof value, "NULL"); break;
    case 1: (void)snprintf(value, sizeof value, "'n%u'", craft_below(seed, 100)); break;
    case 2: (void)snprintf(value, sizeof value, "1e%u", craft_below(seed, 320)); break;
    case 3: (void)snprintf(value, sizeof value, "\"%.40s\" + 1", column); break;
    default: (void)snprintf(value, sizeof value, "%lld", (long long)craft_number(seed, craft_below(seed, 60))); break;
    }
    const uint32_t row = craft_below(seed, 40);
    switch (craft_below(seed, 8)) {
    case 0:
        (void)snprintf(sql, sizeof sql,
                       "DELETE FROM \"%s\" WHERE \"%s\" IN (SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET %u)", table,
                       column, column, table, row);
        break;
    case 1: (void)snprintf(sql, sizeof sql, "INSERT INTO \"%s\" (\"%s\") VALUES (%s)", table, column, value); break;
    case 2:
        (void)snprintf(sql, sizeof sql, "DELETE FROM reef_%s",
                       row % 2 ? "commits WHERE number = 2" : "wholes WHERE part = 0");
        break;
    default:
        (void)snprintf(sql, sizeof sql,
                       "UPDATE \"%s\" SET \"%s\" = %s WHERE \"%s\" IN (SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET %u)",
                       table, column, value, column, column, table, row);
    }
    run(db, sql, NULL, 0);
}

static craft_bytes made(uint64_t *seed)
{
    if (craft_below(seed, 8) == 0) return craft_blob(file, seed);
    sqlite3 *db = NULL;
    file_write(file);
    MUST(sqlite3_open(path, &db) == SQLITE_OK);
    run(db, "PRAGMA synchronous = OFF", NULL, 0);
    run(db, "PRAGMA journal_mode = DELETE", NULL, 0);
    if (craft_below(seed, 3)) change_blob(db, seed);
    else
        for (uint32_t n = 1 + craft_below(seed, 4); n > 0; n--) change_row(db, seed);
    MUST(sqlite3_close(db) == SQLITE_OK);
    return file_read();
}

/* ---- what must hold ---- */

static void sound(reef_world *w)
{
    char message[512];
    if (reef_validate(w, message, sizeof message) == REEF_OK) return;
    (void)fprintf(stderr, "%s\n", message);
    abort();
}

static void note_nothing(void *context, const reef_load_note *note) { (void)context, (void)note; }
static void refuse_nothing(void *context, const char *table, int64_t id, const char *reason)
{
    (void)context, (void)table, (void)id, (void)reason;
}

static void one(uint64_t seed, const char *keep)
{
    reef_sqlite *f = NULL;
    reef_world *past = NULL;
    char reason[REEF_SQLITE_REASON_MAX];
    craft_bytes b = made(&seed);
    if (keep) {
        FILE *kept = fopen(keep, "wb");
        if (kept) (void)fwrite(b.data, 1, b.size, kept), (void)fclose(kept);
        free(b.data);
        return;
    }
    reef_world *w = reef_fork(base);
    MUST(w);
    file_write(b);
    const reef_sqlite_desc desc = {.history = true, .unsynced = true, .load = {.note = note_nothing}};
    const reef_status s = reef_sqlite_open(w, path, &desc, &f, reason);
    sound(w);
    if (s != REEF_OK) {
        crafted_counts->refused++;
        MUST(reef_hash(w) == base_hash && reason[0] != 0);
    } else {
        crafted_counts->taken++;
        reef_sqlite_edits edits;
        const uint64_t before = reef_hash(w);
        const reef_status pulled = reef_sqlite_pull(f, refuse_nothing, NULL, &edits);
        sound(w);
        if (pulled != REEF_OK) MUST(reef_hash(w) == before);
        (void)reef_sqlite_check(f);
        for (uint64_t tick = 0; tick < 6; tick++)
            if (reef_sqlite_at(f, tick, &past) == REEF_OK) sound(past), reef_world_free(past), past = NULL;
        for (int i = 0; i < 5; i++) zoo_change(w, &seed);
        (void)reef_tick(w, 1.0f / 64.0f);
        (void)reef_sqlite_commit(f);
        sound(w);
    }
    reef_sqlite_close(f);
    reef_world_free(w);
    free(b.data);
}

int main(int count, char **words)
{
    const crafted_program program = {"crafted_sqlite", begin, end, one, 300};
    return crafted_main(&program, count, words);
}
