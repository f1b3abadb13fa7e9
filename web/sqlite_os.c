/* What SQLite asks of a system, in a page: there are no files, only databases in memory. */
#include <sqlite3.h>
#include <string.h>
#include <time.h>

static int open_none(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    (void)v, (void)name, (void)flags, (void)out;
    f->pMethods = NULL;
    return SQLITE_CANTOPEN;
}
static int delete_none(sqlite3_vfs *v, const char *name, int sync)
{
    (void)v, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE;
}
static int access_none(sqlite3_vfs *v, const char *name, int flags, int *is)
{
    (void)v, (void)name, (void)flags;
    *is = 0;
    return SQLITE_OK;
}
static int name_whole(sqlite3_vfs *v, const char *name, int size, char *to)
{
    (void)v;
    if (strlen(name) >= (size_t)size) return SQLITE_CANTOPEN;
    memcpy(to, name, strlen(name) + 1);
    return SQLITE_OK;
}
static int random_same(sqlite3_vfs *v, int size, char *to) /* the same in each run */
{
    (void)v;
    memset(to, 4, (size_t)size);
    return size;
}
static int sleep_not(sqlite3_vfs *v, int us)
{
    (void)v;
    return us;
}
static int time_64(sqlite3_vfs *v, sqlite3_int64 *ms) /* since noon in Greenwich on November 24, 4714 B.C. */
{
    struct timespec t;
    (void)v;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    *ms = 210866760000000 + (sqlite3_int64)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    return SQLITE_OK;
}
static int time_days(sqlite3_vfs *v, double *days)
{
    sqlite3_int64 ms = 0;
    (void)time_64(v, &ms);
    *days = (double)ms / 86400000.0;
    return SQLITE_OK;
}
static int no_error(sqlite3_vfs *v, int size, char *to)
{
    (void)v, (void)size, (void)to;
    return 0;
}

int sqlite3_os_init(void);
int sqlite3_os_end(void);
int sqlite3_os_init(void)
{
    static sqlite3_vfs none = {.iVersion = 2,
                               .szOsFile = sizeof(sqlite3_file),
                               .mxPathname = 200,
                               .zName = "none",
                               .xOpen = open_none,
                               .xDelete = delete_none,
                               .xAccess = access_none,
                               .xFullPathname = name_whole,
                               .xRandomness = random_same,
                               .xSleep = sleep_not,
                               .xCurrentTime = time_days,
                               .xGetLastError = no_error,
                               .xCurrentTimeInt64 = time_64};
    return sqlite3_vfs_register(&none, 1);
}
int sqlite3_os_end(void) { return SQLITE_OK; }
