#include "hot_build.h"
#include <unistd.h>

char hot_path[600];
heap hot_types;
static char folder[512];

/* ---- the compiler ---- */

enum { BUILDS_MAX = 100 };
static struct {
    char flags[200], file[700];
} builds[BUILDS_MAX];
static uint32_t build_count;

void run_command(const char *command)
{
    if (system(command) != 0) fail_msg("failed: %s", command);
}

const char *built(const char *flags)
{
    char command[4000];
    for (uint32_t i = 0; i < build_count; i++)
        if (strcmp(builds[i].flags, flags) == 0) return builds[i].file;
    assert_true(build_count < BUILDS_MAX);
    (void)snprintf(builds[build_count].flags, sizeof builds->flags, "%s", flags);
    (void)snprintf(builds[build_count].file, sizeof builds->file, "%s/built_%u.so", folder, build_count);
    (void)snprintf(command, sizeof command, HOT_COMPILE " %s -o %s " HOT_SOURCE, flags, builds[build_count].file);
    run_command(command);
    return builds[build_count++].file;
}

void copy_file(const char *from, const char *to, long most)
{
    static char bytes[1 << 22];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    assert_true(n < sizeof bytes);
    if (most >= 0 && (size_t)most < n) n = (size_t)most;
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    (void)fclose(in);
}

void put(const char *file)
{
    char aside[700];
    (void)snprintf(aside, sizeof aside, "%s/aside", folder);
    copy_file(file, aside, -1);
    assert_int_equal(rename(aside, hot_path), 0);
}
void build(const char *flags) { put(built(flags)); }

/* ---- a world with the module ---- */

reef_hot_code *hot_of(reef_world *w, const char *flags, const reef_hot_desc *desc)
{
    char reason[REEF_HOT_TEXT_MAX];
    build(flags);
    reef_hot_code *h = reef_hot_open(w, hot_path, desc, reason);
    if (h == NULL) fail_msg("%s", reason);
    return h;
}

void assert_event_at(reef_hot_code *h, reef_hot_event wanted, int line)
{
    const reef_hot_event got = reef_hot_poll(h);
    if (got != wanted) fail_msg("line %d: event %d, not %d: %s", line, (int)got, (int)wanted, reef_hot_text(h));
}
void assert_text(const reef_hot_code *h, const char *part)
{
    if (strstr(reef_hot_text(h), part) == NULL) fail_msg("\"%s\" isn't in: %s", part, reef_hot_text(h));
}

void assert_libraries_at(const reef_hot_code *h, uint32_t wanted, int line)
{
    if (reef_hot_libraries(h) != wanted)
        fail_msg("line %d: %u libraries, not %u: %s", line, reef_hot_libraries(h), wanted, reef_hot_text(h));
}

void assert_hot_refused_at(reef_world *w, reef_hot_code *h, const char *part, int line)
{
    const uint64_t hash = reef_hash(w);
    const uint32_t libraries = reef_hot_libraries(h);
    assert_event_at(h, REEF_HOT_REFUSED, line);
    if (strstr(reef_hot_text(h), part) == NULL) fail_msg("line %d: \"%s\" isn't in: %s", line, part, reef_hot_text(h));
    assert_int_equal(reef_hash(w), hash);
    assert_libraries_at(h, libraries, line);
    assert_valid(w);
}

uint32_t mappings(void)
{
    char line[1000];
    uint32_t n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) n += strstr(line, ".rules.so") != NULL;
    (void)fclose(maps);
    return n;
}
void tick(reef_world *w) { assert_ok(reef_tick(w, 1)); }

reef_status step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)context, (void)number;
    if (bytes) reef_spawn(w, reef_with(Place, ((const Push *)input)->x, 0));
    return reef_tick(w, 1);
}

void assert_replayed_at(reef_hot_code *h, int line)
{
    reef_hot_event got = REEF_HOT_SAME;
    for (uint32_t i = 0; got == REEF_HOT_SAME && i < 1000; i++) got = reef_hot_poll(h);
    if (got != REEF_HOT_REPLAYED) fail_msg("line %d: event %d: %s", line, (int)got, reef_hot_text(h));
    assert_int_equal(reef_hot_replay_left(h), 0);
}

double field_of(const reef_world *w, reef_entity e, const char *type, const char *name)
{
    const reef_component c = reef_type_find(type);
    const char *value = reef_get_id(w, e, c);
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    assert_non_null(value);
    for (uint32_t i = 0; i < info.field_count; i++) {
        const reef_field *f = &info.fields[i];
        if (strcmp(f->name, name) != 0) continue;
        if (f->kind == REEF_F32) return (double)*(const float *)(const void *)(value + f->offset);
        if (f->kind == REEF_F64) return *(const double *)(const void *)(value + f->offset);
        if (f->kind == REEF_I16) return *(const int16_t *)(const void *)(value + f->offset);
        if (f->kind == REEF_U8) return *(const uint8_t *)(value + f->offset);
    }
    fail_msg("no field %s", name);
    return 0;
}

reef_entity hunter(reef_world *w, float power, uint8_t rage)
{
    const reef_entity e = reef_spawn(w, reef_with(Place, power, 0));
    const first_hunter value = {power, rage};
    assert_true(reef_set_id(w, e, reef_type_find("Hunter"), &value, sizeof value) >= 0);
    return e;
}

/* ---- the suite ---- */

bool hot_suite_begin(void)
{
    const reef_allocator types = heap_allocator(&hot_types);
    if (reef_set_process_allocator(&types) != REEF_OK) return false;
    const char *where = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/test_hot_XXXXXX", where ? where : "/tmp");
    if (mkdtemp(folder) == NULL) return false;
    (void)snprintf(hot_path, sizeof hot_path, "%s/rules.so", folder);
    return true;
}

bool hot_suite_end(void)
{
    char command[600];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0;
}
