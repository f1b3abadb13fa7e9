/* The rows of the add-on reef_sqlite, beside plain programs on SQLite, which stand in raw's place. Files are in memory
 * (/dev/shm; where there is none, in the current folder). Making a database of a million rows takes seconds, so each
 * contestant makes it once, and each repeat begins with a copy of it. */
#include "reef_rows.h"

#ifdef REEF_BENCH_SQLITE
#include "mem.h"
#include "reef_sqlite.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMMIT_ROWS = 10000 }; /* one of a hundred of the row's million */

typedef struct sql {
    const bench_row *r;
    state *s;
    reef_sql_session *session;
    reef_sqlite *file;
    sqlite3 *db;
    char path[96];
    double answer;
    Position *positions; /* of the loop in C, and of a program that reads its tables */
    Velocity *velocities;
} sql;

_Noreturn static void sql_fail(const char *why)
{
    fprintf(stderr, "\nreef-bench: SQLite: %s\n", why);
    exit(1);
}

static void db_do(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) sql_fail(sqlite3_errmsg(db));
}

static void path_make(char *path, size_t size, const char *name)
{
    struct stat folder;
    const bool memory = stat("/dev/shm", &folder) == 0;
    (void)snprintf(path, size, "%sreef-bench-%ld-%s.db", memory ? "/dev/shm/" : "", (long)getpid(), name);
}

static void file_copy(const char *from, const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out) sql_fail("a file can't be copied");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) != 0;)
        if (fwrite(bytes, 1, n, out) != n) sql_fail("a file can't be written");
    if (fclose(in) != 0 || fclose(out) != 0) sql_fail("a file can't be written");
}

/* The databases that the repeats copy: reef's, and that of SQLite alone. They go when the program ends. */
static char wholes[2][96];
static void wholes_remove(void)
{
    for (int i = 0; i < 2; i++)
        if (wholes[i][0]) (void)remove(wholes[i]);
}
static void whole_make(char *whole, const char *name)
{
    path_make(whole, sizeof wholes[0], name);
    (void)remove(whole);
    if (atexit(wholes_remove) != 0) sql_fail("atexit");
}

/* How many rows a commit has, which, and what is written there. */
static uint32_t commit_rows(const bench_row *r) { return r->id == ROW_sql_commit_all ? r->n : COMMIT_ROWS; }
static uint32_t commit_row(const bench_row *r, uint32_t k)
{
    return k * (r->id == ROW_sql_commit_scattered ? r->n / COMMIT_ROWS : 1);
}
static Position commit_value(uint32_t i) { return (Position){(float)(i & 1023) + 0.5f, 2}; }

/* ---- reef ---- */

static void fields_give(const reef_world *w)
{
    const reef_field position[] = {REEF_FIELDS_OF(Position, (x, "m"), (y, "m"))};
    const reef_field velocity[] = {REEF_FIELDS_OF(Velocity, (x, "m/s"), (y, "m/s"))};
    if (reef_type_describe(reef_id(Position), position, 2) != REEF_OK ||
        reef_type_describe(reef_id(Velocity), velocity, 2) != REEF_OK)
        bench_fail(w, "reef_type_describe");
}

static sql *reef_setup(const bench_row *r)
{
    sql *x = mem_calloc(1, sizeof *x);
    x->r = r;
    x->s = state_pv(r, true);
    fields_give(x->s->w);
    return x;
}

static const char *question(const bench_row *r)
{
    return r->id == ROW_sql_join ? "select sum(p.x * v.x) from Position p join Velocity v using (id)"
                                 : "select sum(x) from Position";
}

static void *scan_setup(const bench_row *r)
{
    sql *x = reef_setup(r);
    if (reef_sql_open(x->s->w, NULL, &x->session, NULL) != REEF_OK) sql_fail("reef_sql_open");
    return x;
}

static bool answer_take(void *context, uint32_t count, const reef_sql_value *row)
{
    ((sql *)context)->answer = row[0].real;
    return count == 1;
}

static void scan_run(void *p)
{
    sql *x = p;
    char reason[REEF_SQLITE_REASON_MAX];
    for (uint32_t k = 0; k < x->r->passes; k++)
        if (reef_sql_run(x->session, question(x->r), answer_take, x, reason) != REEF_OK) sql_fail(reason);
}

static uint64_t scan_sum(void *p) { return (uint64_t)((sql *)p)->answer; }

/* A copy of the file of the world, which is committed in the first setup. */
static sql *file_setup(const bench_row *r)
{
    char *whole = wholes[0];
    char reason[REEF_SQLITE_REASON_MAX];
    sql *x = reef_setup(r);
    path_make(x->path, sizeof x->path, "reef");
    if (whole[0] == 0) {
        whole_make(whole, "reef-whole");
        reef_sqlite *made;
        if (reef_sqlite_open(x->s->w, whole, &(reef_sqlite_desc){.unsynced = true}, &made, reason) != REEF_OK)
            sql_fail(reason);
        if (reef_sqlite_commit(made) != REEF_OK) sql_fail(reef_sqlite_reason(made));
        reef_sqlite_close(made);
    }
    file_copy(whole, x->path);
    return x;
}

static void file_open(void *p)
{
    sql *x = p;
    char reason[REEF_SQLITE_REASON_MAX];
    if (reef_sqlite_open(x->s->w, x->path, NULL, &x->file, reason) != REEF_OK) sql_fail(reason);
}

static void *open_setup(const bench_row *r)
{
    sql *x = file_setup(r);
    if (reef_world_clear(x->s->w) != REEF_OK) bench_fail(x->s->w, "reef_world_clear");
    return x;
}

static uint64_t open_sum(void *p)
{
    const sql *x = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < x->r->n; i++) {
        sum += pos_sum(*reef_get(x->s->w, x->s->handle[i], Position), i);
        const Velocity *v = reef_get(x->s->w, x->s->handle[i], Velocity);
        sum += pos_sum((Position){v->x, v->y}, i);
    }
    return sum;
}

static void *commit_setup(const bench_row *r)
{
    sql *x = file_setup(r);
    file_open(x);
    for (uint32_t k = 0; k < commit_rows(r); k++) {
        const uint32_t i = commit_row(r, k);
        *reef_mut(x->s->w, x->s->handle[i], Position) = commit_value(i);
    }
    return x;
}

static void commit_run(void *p)
{
    sql *x = p;
    if (reef_sqlite_commit(x->file) != REEF_OK) sql_fail(reef_sqlite_reason(x->file));
}

/* ---- SQLite alone ---- */

static sqlite3 *db_open(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK) sql_fail(sqlite3_errmsg(db));
    return db;
}

static void db_fill(sqlite3 *db, const bench_row *r)
{
    sqlite3_stmt *position, *velocity;
    db_do(db, "create table Position(id integer primary key, x real, y real);"
              "create table Velocity(id integer primary key, x real, y real); begin");
    if (sqlite3_prepare_v2(db, "insert into Position values (?1, ?2, ?3)", -1, &position, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "insert into Velocity values (?1, ?2, ?3)", -1, &velocity, NULL) != SQLITE_OK)
        sql_fail(sqlite3_errmsg(db));
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        const Velocity v = vel_of(i);
        sqlite3_bind_int64(position, 1, i);
        sqlite3_bind_double(position, 2, (double)p.x);
        sqlite3_bind_double(position, 3, (double)p.y);
        sqlite3_bind_int64(velocity, 1, i);
        sqlite3_bind_double(velocity, 2, (double)v.x);
        sqlite3_bind_double(velocity, 3, (double)v.y);
        if (sqlite3_step(position) != SQLITE_DONE || sqlite3_step(velocity) != SQLITE_DONE)
            sql_fail(sqlite3_errmsg(db));
        sqlite3_reset(position);
        sqlite3_reset(velocity);
    }
    sqlite3_finalize(position);
    sqlite3_finalize(velocity);
    db_do(db, "commit");
}

static void *native_scan_setup(const bench_row *r)
{
    static sqlite3 *db; /* stays until the program ends */
    sql *x = mem_calloc(1, sizeof *x);
    if (db == NULL) {
        db = db_open(":memory:");
        db_fill(db, r);
    }
    x->r = r;
    x->db = db;
    return x;
}

static void native_scan_run(void *p)
{
    sql *x = p;
    for (uint32_t k = 0; k < x->r->passes; k++) {
        sqlite3_stmt *s;
        if (sqlite3_prepare_v2(x->db, question(x->r), -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
            sql_fail(sqlite3_errmsg(x->db));
        x->answer = sqlite3_column_double(s, 0);
        sqlite3_finalize(s);
    }
}

/* ---- a loop in C ---- */

static void *loop_setup(const bench_row *r)
{
    sql *x = mem_calloc(1, sizeof *x);
    x->r = r;
    x->positions = mem_calloc(r->n, sizeof *x->positions);
    for (uint32_t i = 0; i < r->n; i++) x->positions[i] = pos_of(i);
    return x;
}

static void loop_run(void *p)
{
    sql *x = p;
    for (uint32_t k = 0; k < x->r->passes; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < x->r->n; i++) sum += (double)x->positions[i].x;
        x->answer = sum;
    }
}

/* ---- files of SQLite alone ---- */

static sql *native_file_setup(const bench_row *r)
{
    char *whole = wholes[1];
    sql *x = mem_calloc(1, sizeof *x);
    x->r = r;
    path_make(x->path, sizeof x->path, "native");
    if (whole[0] == 0) {
        whole_make(whole, "native-whole");
        sqlite3 *db = db_open(whole);
        db_do(db, "pragma synchronous = off");
        db_fill(db, r);
        sqlite3_close(db);
    }
    file_copy(whole, x->path);
    return x;
}

static void *native_open_setup(const bench_row *r) { return native_file_setup(r); }

/* Reads a table of two numbers a row into an array. */
static void pairs_read(sqlite3 *db, const char *select, uint32_t n, float (*to)[2])
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, select, -1, &s, NULL) != SQLITE_OK) sql_fail(sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW) {
        const sqlite3_int64 i = sqlite3_column_int64(s, 0);
        if (i < 0 || i >= n) sql_fail("a row that isn't ours");
        to[i][0] = (float)sqlite3_column_double(s, 1);
        to[i][1] = (float)sqlite3_column_double(s, 2);
    }
    sqlite3_finalize(s);
}

static void native_open_run(void *p)
{
    sql *x = p;
    x->db = db_open(x->path);
    x->positions = mem_calloc(x->r->n, sizeof *x->positions);
    x->velocities = mem_calloc(x->r->n, sizeof *x->velocities);
    pairs_read(x->db, "select id, x, y from Position", x->r->n, (float(*)[2])(void *)x->positions);
    pairs_read(x->db, "select id, x, y from Velocity", x->r->n, (float(*)[2])(void *)x->velocities);
}

static uint64_t native_open_sum(void *p)
{
    const sql *x = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < x->r->n; i++)
        sum += pos_sum(x->positions[i], i) + pos_sum((Position){x->velocities[i].x, x->velocities[i].y}, i);
    return sum;
}

static void *native_commit_setup(const bench_row *r)
{
    sql *x = native_file_setup(r);
    x->db = db_open(x->path);
    db_do(x->db, "pragma journal_mode = wal; pragma synchronous = full");
    return x;
}

static void native_commit_run(void *p)
{
    sql *x = p;
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(x->db, "update Position set x = ?2, y = ?3 where id = ?1", -1, &s, NULL) != SQLITE_OK)
        sql_fail(sqlite3_errmsg(x->db));
    db_do(x->db, "begin immediate");
    for (uint32_t k = 0; k < commit_rows(x->r); k++) {
        const uint32_t i = commit_row(x->r, k);
        const Position v = commit_value(i);
        sqlite3_bind_int64(s, 1, i);
        sqlite3_bind_double(s, 2, (double)v.x);
        sqlite3_bind_double(s, 3, (double)v.y);
        if (sqlite3_step(s) != SQLITE_DONE) sql_fail(sqlite3_errmsg(x->db));
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    db_do(x->db, "commit");
}

/* Both files have the same table. */
static uint64_t commit_sum(void *p)
{
    sql *x = p;
    sqlite3_stmt *s;
    uint64_t sum = 0;
    sqlite3 *db = db_open(x->path);
    if (sqlite3_prepare_v2(db, "select id, x, y from Position", -1, &s, NULL) != SQLITE_OK)
        sql_fail(sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW)
        sum += pos_sum((Position){(float)sqlite3_column_double(s, 1), (float)sqlite3_column_double(s, 2)},
                       (uint64_t)sqlite3_column_int64(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return sum;
}

static void sql_free(void *p)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    sql *x = p;
    char with[112];
    reef_sql_close(x->session);
    reef_sqlite_close(x->file);
    if (x->path[0]) sqlite3_close(x->db);
    for (size_t i = 0; x->path[0] && i < sizeof ends / sizeof ends[0]; i++) {
        (void)snprintf(with, sizeof with, "%s%s", x->path, ends[i]);
        (void)remove(with);
    }
    if (x->s) state_free(x->s);
    mem_free_unsized(x->positions);
    mem_free_unsized(x->velocities);
    mem_free_unsized(x);
}

const row_impl reef_sql_rows[] = {
    {ROW_sql_scan, scan_setup, scan_run, scan_sum, sql_free, NULL},
    {ROW_sql_scan_c, scan_setup, scan_run, scan_sum, sql_free, NULL},
    {ROW_sql_join, scan_setup, scan_run, scan_sum, sql_free, NULL},
    {ROW_sql_commit, commit_setup, commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_commit_scattered, commit_setup, commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_commit_all, commit_setup, commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_open, open_setup, file_open, open_sum, sql_free, NULL},
    {0},
};
const row_impl native_sql_rows[] = {
    {ROW_sql_scan, native_scan_setup, native_scan_run, scan_sum, sql_free, NULL},
    {ROW_sql_scan_c, loop_setup, loop_run, scan_sum, sql_free, NULL},
    {ROW_sql_join, native_scan_setup, native_scan_run, scan_sum, sql_free, NULL},
    {ROW_sql_commit, native_commit_setup, native_commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_commit_scattered, native_commit_setup, native_commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_commit_all, native_commit_setup, native_commit_run, commit_sum, sql_free, NULL},
    {ROW_sql_open, native_open_setup, native_open_run, native_open_sum, sql_free, NULL},
    {0},
};
#else
const row_impl reef_sql_rows[] = {{0}};
const row_impl native_sql_rows[] = {{0}};
#endif
