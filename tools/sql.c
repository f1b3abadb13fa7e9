/* reef sql: SQL over the world in a file: one that reef_save wrote, a journal, or a database of the add-on
 * reef_sqlite. The add-on is there where SQLite was found when the tool was built. */
#include "tool.h"
#include <string.h>

#ifdef REEF_TOOL_SQL
#include "reef_sqlite.h"

typedef struct printing {
    uint64_t names; /* a hash of the names of the columns that were printed */
} printing;

/* The names of the columns, where they aren't those of the row before. */
static void names_print(printing *p, uint32_t count, const reef_sql_value *values)
{
    uint64_t names = 14695981039346656037u + count;
    for (uint32_t i = 0; i < count; i++)
        for (const char *c = values[i].name; *c; c++) names = (names ^ (unsigned char)*c) * 1099511628211u;
    for (uint32_t i = 0; i < count && names != p->names; i++) {
        put_name(values[i].name);
        putchar(i + 1 < count ? '\t' : '\n');
    }
    p->names = names;
}

/* A line for each row, its values separated by tabs. */
static bool row_print(void *context, uint32_t count, const reef_sql_value *values)
{
    names_print(context, count, values);
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind == REEF_SQL_BLOB)
            for (size_t k = 0; k < values[i].size; k++) printf("%02x", (unsigned)(unsigned char)values[i].text[k]);
        else if (values[i].text) put_text(values[i].text, values[i].size);
        putchar(i + 1 < count ? '\t' : '\n');
    }
    return output_open();
}

static bool is_database(const char *path)
{
    char head[16] = "";
    FILE *file = fopen(path, "rb");
    const bool is =
        file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
    if (file) (void)fclose(file);
    return is;
}

static void note_skip(void *context, const reef_load_note *note) { (void)context, (void)note; }

/* Loads the world of a database. */
static bool database_open(tool_file *f, const char *path, reef_sqlite **database)
{
    char reason[REEF_SQLITE_REASON_MAX];
    const reef_sqlite_desc desc = {.read_only = true, .load = {.unknown = REEF_UNKNOWN_DECLARE, .note = note_skip}};
    f->world = reef_world_new(&(reef_world_config){.log = reef_log_none});
    const reef_status s = f->world ? reef_sqlite_open(f->world, path, &desc, database, reason) : REEF_NO_MEMORY;
    if (s == REEF_OK && reef_sqlite_number(*database)) return true;
    if (s == REEF_OK) say(path, "there is no world of reef in this database");
    else say(path, "%s", f->world ? reason : reef_status_text(s));
    reef_sqlite_close(*database);
    *database = NULL;
    file_close(f);
    return false;
}

int command_sql(int count, char **words)
{
    char reason[REEF_SQLITE_REASON_MAX];
    tool_file f = {0};
    reef_sqlite *database = NULL;
    reef_sql_session *session = NULL;
    printing p = {0};
    if (count != 2 || words[0][0] == '-') return ANSWER_USAGE;
    file_begin(&f, words[0]);
    const bool is = f.pipe == NULL && is_database(words[0]); /* SQLite reads no pipes */
    if (!(is ? database_open(&f, words[0], &database) : file_look(&f) && file_load(&f))) {
        file_close(&f);
        return ANSWER_BAD;
    }
    reef_status s = reef_sql_open(f.world, &(reef_sql_desc){.read_only = true, .past = database}, &session, reason);
    if (s == REEF_OK) s = reef_sql_run(session, words[1], row_print, &p, reason);
    if (s != REEF_OK && s != REEF_CANCELLED) say(NULL, "%s", reason);
    reef_sql_close(session);
    reef_sqlite_close(database);
    file_close(&f);
    return s == REEF_OK || s == REEF_CANCELLED ? ANSWER_GOOD : ANSWER_BAD;
}

#else

int command_sql(int count, char **words)
{
    (void)count, (void)words;
    say(NULL, "this reef was built without SQLite (Debian: libsqlite3-dev)");
    return ANSWER_TROUBLE;
}
#endif
