/* reef inspect: shows a file in the browser, by the add-on reef_inspector. Of a journal, the states after its records
 * are kept, so that the page can go from one to the other. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

#if defined(REEF_TOOL_INSPECT)
#include "reef_inspector.h"
#ifdef REEF_TOOL_SQL
#include "reef_sqlite.h"
#endif

enum { STATES_MAX = 200, HEADER_BYTES = 24, SECTION_BYTES = 24, SECTION_HEAD = 16 };

typedef struct part_reader {
    FILE *file;
    uint64_t left;
} part_reader;

static reef_status part_read(void *context, void *bytes, size_t count, size_t *got)
{
    part_reader *r = context;
    if (count > r->left) count = (size_t)r->left;
    *got = fread(bytes, 1, count, r->file);
    r->left -= *got;
    return ferror(r->file) ? REEF_IO : REEF_OK;
}

static uint64_t number_of(const unsigned char *bytes, int count)
{
    uint64_t n = 0;
    while (count-- > 0) n = n << 8 | bytes[count];
    return n;
}

/* Finds where each record ends: behind its section DONE (docs/files/file-format.md). reef_file_check has checked the
 * frame. Returns how many there are; NULL in *ends: no memory. */
static size_t ends_find(const tool_file *f, FILE *file, uint64_t **ends)
{
    unsigned char head[SECTION_HEAD];
    uint64_t at = HEADER_BYTES;
    size_t n = 0;
    *ends = malloc((f->info.records + 1) * sizeof **ends);
    while (*ends && n < f->info.records && at + SECTION_BYTES <= f->info.sound_bytes) {
        if (fseek(file, (long)at, SEEK_SET) != 0 || fread(head, 1, sizeof head, file) != sizeof head) break;
        at += SECTION_BYTES + number_of(head + 4, 8);
        if (memcmp(head, "DONE", 4) == 0) (*ends)[n++] = at;
    }
    return n;
}

/* Loads the states of a journal one after the other, at most STATES_MAX of them, and hands each over. The last one is
 * loaded already. */
static void states_record(const tool_file *f, reef_inspector *i)
{
    uint64_t *ends = NULL;
    FILE *file = f->copy ? f->copy : fopen(f->path, "rb");
    const size_t n = file ? ends_find(f, file, &ends) : 0, step = (n + STATES_MAX - 1) / STATES_MAX;
    const reef_load_desc desc = {.unknown = REEF_UNKNOWN_DECLARE};
    for (size_t k = n ? (n - 1) % step : 0; k < n; k += step) {
        part_reader r = {file, ends[k]};
        if (fseek(file, 0, SEEK_SET) != 0 || reef_load_from(f->world, (reef_reader){part_read, &r}, &desc) != REEF_OK)
            break;
        reef_inspector_update(i);
    }
    if (file && file != f->copy) (void)fclose(file);
    free(ends);
}

static int file_serve(tool_file *f, uint16_t port)
{
    char reason[REEF_DETAIL_MAX];
    reef_inspector_config config = {.port = port, .title = f->path, .record = true, .record_ticks = STATES_MAX};
#ifdef REEF_TOOL_SQL
    config.sql = reef_sql_json;
#endif
    reef_inspector *i = reef_inspect_why(f->world, &config, reason);
    if (i == NULL) {
        say(f->path, "%s", reason);
        return ANSWER_BAD;
    }
    if (f->info.journal && f->info.records > 1) states_record(f, i);
    printf("%s\n", reef_inspector_address(i));
    (void)fflush(stdout);
    while (output_open()) { /* until it is interrupted; nobody finds the page without its address */
        reef_inspector_update(i);
        reef_inspector_rest(i, 250);
    }
    reef_inspector_free(i);
    return ANSWER_TROUBLE;
}

int command_inspect(int count, char **words)
{
    tool_file f = {.quiet = true};
    unsigned long port = 7272;
    char *end = NULL;
    if (count == 3 && strcmp(words[0], "--port") == 0) {
        port = strtoul(words[1], &end, 10);
        if (*words[1] == 0 || *end || port > 65535) return ANSWER_USAGE;
        words += 2, count -= 2;
    }
    if (count != 1 || words[0][0] == '-') return ANSWER_USAGE;
    const int answer = file_open(&f, words[0]) ? file_serve(&f, (uint16_t)port) : ANSWER_BAD;
    file_close(&f);
    return answer;
}
#else
int command_inspect(int count, char **words)
{
    (void)count, (void)words;
    say(NULL, "this program was built without the add-on reef_inspector (docs/manual/inspector.md)");
    return ANSWER_TROUBLE;
}
#endif
