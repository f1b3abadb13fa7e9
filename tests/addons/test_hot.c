/* Modules that are compiled while worlds live: a real compiler writes libraries into a scratch folder. `test_hot
 * --deep` reloads more often. */
#include "reef_hot.h"
#include "support.h"
#include "reef/all.h"
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);
typedef struct {
    uint32_t told, kept;
} Report;
REEF_COMPONENT(Report);
REEF_FIELDS(Report, told, kept);
REEF_TAG(Marked);
REEF_TAG(Employed);

static char folder[512], path[600];
static bool deep;

/* ---- the compiler ---- */

enum { BUILDS_MAX = 64 };
static struct {
    char flags[200], file[700];
} builds[BUILDS_MAX];
static uint32_t build_count;

static void run(const char *command)
{
    if (system(command) != 0) fail_msg("failed: %s", command);
}

/* Compiles the module, once for each kind. The file has this name. */
static const char *built(const char *flags)
{
    char command[4000];
    for (uint32_t i = 0; i < build_count; i++)
        if (strcmp(builds[i].flags, flags) == 0) return builds[i].file;
    assert_true(build_count < BUILDS_MAX);
    (void)snprintf(builds[build_count].flags, sizeof builds->flags, "%s", flags);
    (void)snprintf(builds[build_count].file, sizeof builds->file, "%s/built_%u.so", folder, build_count);
    (void)snprintf(command, sizeof command, HOT_COMPILE " %s -o %s " HOT_SOURCE, flags, builds[build_count].file);
    run(command);
    return builds[build_count++].file;
}

static void copy(const char *from, const char *to, long most)
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

/* Puts a library into the place of the one that is watched, as a build does. */
static void put(const char *file)
{
    char aside[700];
    (void)snprintf(aside, sizeof aside, "%s/aside", folder);
    copy(file, aside, -1);
    assert_int_equal(rename(aside, path), 0);
}
static void build(const char *flags) { put(built(flags)); }

/* ---- a world with the module ---- */

static reef_hot_code *hot_of(reef_world *w, const char *flags, const reef_hot_desc *desc)
{
    char reason[REEF_HOT_TEXT_MAX];
    build(flags);
    reef_hot_code *h = reef_hot_open(w, path, desc, reason);
    if (h == NULL) fail_msg("%s", reason);
    return h;
}

static void assert_event_at(reef_hot_code *h, reef_hot_event wanted, int line)
{
    const reef_hot_event got = reef_hot_poll(h);
    if (got != wanted) fail_msg("line %d: event %d, not %d: %s", line, (int)got, (int)wanted, reef_hot_text(h));
}
#define assert_event(h, wanted) assert_event_at(h, wanted, __LINE__)
static void assert_text(const reef_hot_code *h, const char *part)
{
    if (strstr(reef_hot_text(h), part) == NULL) fail_msg("\"%s\" isn't in: %s", part, reef_hot_text(h));
}

static void assert_libraries_at(const reef_hot_code *h, uint32_t wanted, int line)
{
    if (reef_hot_libraries(h) != wanted)
        fail_msg("line %d: %u libraries, not %u: %s", line, reef_hot_libraries(h), wanted, reef_hot_text(h));
}
#define assert_libraries(h, wanted) assert_libraries_at(h, wanted, __LINE__)

/* The new library is refused, for this reason, and everything is as before. */
static void assert_hot_refused(reef_world *w, reef_hot_code *h, const char *part)
{
    const uint64_t hash = reef_hash(w);
    const uint32_t libraries = reef_hot_libraries(h);
    assert_event(h, REEF_HOT_REFUSED);
    assert_text(h, part);
    assert_int_equal(reef_hash(w), hash);
    assert_libraries(h, libraries);
    assert_valid(w);
}

static uint32_t mappings(void)
{
    char line[1000];
    uint32_t n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) n += strstr(line, ".rules.so") != NULL;
    (void)fclose(maps);
    return n;
}
static void tick(reef_world *w) { assert_ok(reef_tick(w, 1)); }

/* ---- reloading ---- */

static void another_constant_takes_effect(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    const reef_system_id move = reef_system_find(w, "move"), fall = reef_system_find(w, "fall");
    const reef_query q = reef_query_new(w, "Place");
    assert_text(h, "rules 1 is in use");
    assert_ok(reef_system_enable(w, fall, false));
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 1 && reef_get(w, e, Place)->y == 1);
    assert_event(h, REEF_HOT_SAME);
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_event(h, REEF_HOT_SAME);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 11 && reef_get(w, e, Place)->y == 12);
    assert_true(reef_system_find(w, "move").index == move.index && reef_system_find(w, "fall").index == fall.index);
    assert_false(reef_system_is_enabled(w, fall)); /* handles and switches stay */
    assert_int_equal(reef_query_count(w, q), 1);
    assert_true(reef_single_get(w, Report)->kept >= 1); /* what close gave to open; a watched system runs twice */
    assert_libraries(h, 1);
    put(built("-DSPEED=10")); /* the same bytes */
    assert_event(h, REEF_HOT_SAME);
    reef_hot_close(h);
    assert_true(reef_system_is_null(reef_system_find(w, "move")));
    assert_int_equal(mappings(), 0);
}

static void a_comment_changes_nothing(void **state)
{
    reef_world *w = world_of(state), *twin = another_world(state, NULL);
    reef_hot_code *h = hot_of(w, "", NULL);
    for (int i = 0; i < 50; i++) reef_spawn(w, reef_with(Place, (float)i, 1));
    for (int i = 0; i < 3; i++) tick(w);
    reef_world *fork = reef_fork(w);
    const uint64_t hash = reef_hash(w);
    build("-DCOMMENT='\"another comment\"'");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "an old library stays open"); /* the fork has its systems */
    assert_libraries(h, 2);
    assert_int_equal(reef_hash(w), hash);
    for (int i = 0; i < 3; i++) tick(w), tick(fork);
    assert_true(reef_equal(w, fork, NULL));
    reef_world_free(fork);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    (void)twin;
    reef_hot_close(h);
}

static void systems_come_go_and_move(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DNO_FALL", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    char text[2000];
    tick(w);
    assert_true(reef_get(w, e, Place)->y == 1);
    build("-DFALL_FIRST");
    assert_event(h, REEF_HOT_LOADED);
    (void)reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    const char *fall = strstr(text, "fall, of module rules"), *climb = strstr(text, "climb, of module rules");
    assert_true(fall && climb && fall < climb);
    tick(w);
    assert_true(reef_get(w, e, Place)->y == 1); /* (1 - 1) * 2 + 1 */
    build("-DNO_MOVE -DNO_FALL -DPHASE");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(reef_system_is_null(reef_system_find(w, "move")));
    const float x = reef_get(w, e, Place)->x;
    tick(w);
    assert_true(reef_get(w, e, Place)->x == x && reef_get(w, e, Place)->y == 3);
    (void)reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "late"));
    reef_hot_close(h);
}

static void observers_scripts_and_orders_follow(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DORDERED", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0), reef_tag(Marked)), s = reef_create(w);
    assert_int_equal(reef_single_get(w, Report)->told, 1);
    assert_ok(reef_add(w, s, Employed) < 0);
    tick(w);
    const uint32_t *pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 101 && pilot[1] == 1);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    build("-DSPEED=10 -DORDERED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 2); /* the snapshot has systems of the old one */
    reef_add(w, s, Marked);
    assert_int_equal(reef_single_get(w, Report)->told, 11);
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 102 && pilot[1] == 10);
    assert_string_equal(reef_script_of(w, s)->name, "pilot");
    assert_ok(reef_restore(w, snapshot)); /* the state of then, with the code of now */
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 102 && pilot[1] == 10);
    reef_snapshot_free(snapshot);
    build("-DORDERED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    build("-DPILOT_GROWS");
    assert_hot_refused(w, h, "the data of the class pilot has another size: 8 bytes before, now 12");
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 103 && pilot[1] == 1);
    assert_true(reef_is_alive(w, e));
    reef_hot_close(h);
}

static void hooks_follow(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED", NULL);
    const reef_component owned = reef_type_find("Owned");
    reef_entity e[3];
    assert_int_not_equal(owned.id, 0);
    for (int i = 0; i < 3; i++) {
        e[i] = reef_create(w);
        assert_true(reef_add_id(w, e[i], owned, NULL, NULL) >= 0);
    }
    reef_snapshot *snapshot = reef_snapshot_take(w);
    build("-DOWNED -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(reef_add_id(w, reef_create(w), owned, NULL, NULL) >= 0);
    const int *const *value = reef_mut_id(w, e[0], owned); /* copied by the new hook */
    assert_int_equal(**value, 1);
    assert_ok(reef_destroy(w, e[1]));
    reef_snapshot_free(snapshot); /* which is now dropped by the new hook */
    build("-DOWNED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_ok(reef_destroy(w, e[2]));
    reef_hot_close(h); /* values with its hooks are there still, so it stays */
    assert_int_not_equal(mappings(), 0);
}

/* ---- refusing ---- */

static void patch(const char *file, size_t behind_mark, uint32_t value)
{
    static const unsigned char mark[] = REEF_HOT_MARK_;
    static unsigned char bytes[1 << 22];
    char aside[700];
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    size_t at = 0;
    (void)fclose(in);
    while (at + sizeof mark < n && memcmp(bytes + at, mark, sizeof mark) != 0) at++;
    assert_true(at + sizeof mark + behind_mark + 4 < n);
    memcpy(bytes + at + sizeof mark + behind_mark, &value, sizeof value);
    (void)snprintf(aside, sizeof aside, "%s/aside", folder);
    FILE *out = fopen(aside, "wb");
    assert_true(out && fwrite(bytes, 1, n, out) == n && fclose(out) == 0);
    assert_int_equal(rename(aside, path), 0);
}

static void what_is_refused_leaves_the_old_code(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    const char *good = built("-DSPEED=10");
    struct stat whole;
    assert_int_equal(stat(good, &whole), 0);
    tick(w);
    /* half written, at many places */
    for (long i = 0; i < 16; i++) {
        copy(good, path, (long)whole.st_size * i / 16);
        assert_hot_refused(w, h, i ? "it isn't a whole library" : "");
    }
    patch(good, 0, 77);
    assert_hot_refused(w, h, "it was compiled for reef 0.0.77, and this is 0.1.0");
    patch(good, 4, !REEF_HOT_CHECKED_);
    assert_hot_refused(w, h, "build, and this is the");
    patch(good, 12, 1);
    assert_hot_refused(w, h, "with other headers of reef");
    build("-DNO_LIBRARY");
    assert_hot_refused(w, h, "it has no REEF_HOT_LIBRARY");
    build("-DMISSING");
    assert_hot_refused(w, h, "nobody_has_this");
    build("-DNAME='\"others\"'");
    assert_hot_refused(w, h, "its module is named others, and was rules");
    build("-DPLACE_DIFFERS");
    assert_hot_refused(w, h, "Nowhere");
    build("-DPLACE_MORE");
    assert_hot_refused(w, h, "type Place: two declarations differ; sizes 8 and 12");
    assert_text(h, "the program has it, too");
    build("-DREFUSES -DFRESH");
    assert_hot_refused(w, h, "its `load` refused");
    assert_int_equal(reef_type_find("Fresh").id, 0);
    assert_null(reef_declare_error());
    assert_int_equal(remove(path), 0);
    assert_event(h, REEF_HOT_SAME);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 2);
    put(good);
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 12);
    build("-DFRESH");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_not_equal(reef_type_find("Fresh").id, 0);
    assert_int_equal(reef_count_id(w, reef_type_find("Fresh")), 1);
    reef_block b = reef_begin_text(w, "Place");
    assert_true(reef_next(&b));
    put(good);
    assert_event(h, REEF_HOT_REFUSED);
    assert_text(h, "reef_code_use");
    reef_end(&b);
    put(good);
    assert_event(h, REEF_HOT_LOADED);
    reef_hot_close(h);
    char reason[REEF_HOT_TEXT_MAX];
    assert_null(reef_hot_open(w, "/nowhere/rules.so", NULL, reason));
    assert_non_null(strstr(reason, "can't be read"));
    assert_null(reef_hot_open(NULL, path, NULL, reason));
    assert_int_equal(reef_hot_poll(NULL), REEF_HOT_SAME);
    reef_hot_close(NULL);
}

/* ---- other layouts ---- */

static reef_status step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)context, (void)number;
    if (bytes) reef_spawn(w, reef_with(Place, *(const float *)input, 0));
    return reef_tick(w, 1);
}

/* The field of a value as a number; it must be there. */
static double field_of(const reef_world *w, reef_entity e, const char *type, const char *name)
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

/* The module's own Hunter, as it is without a macro. */
typedef struct {
    float power;
    uint8_t rage;
} first_hunter;

static reef_entity hunter(reef_world *w, float power, uint8_t rage)
{
    const reef_entity e = reef_spawn(w, reef_with(Place, power, 0));
    const first_hunter value = {power, rage};
    assert_true(reef_set_id(w, e, reef_type_find("Hunter"), &value, sizeof value) >= 0);
    return e;
}

static void a_layout_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_entity e[2000];
    for (uint32_t i = 0; i < 2000; i++) e[i] = hunter(w, (float)i, i % 2 ? 0 : 7);
    for (uint32_t i = 0; i < 2000; i += 3) assert_ok(reef_destroy(w, e[i]));
    assert_ok(reef_disable(w, e[1], Place));
    assert_ok(reef_set_name(w, e[2], "nemo"));
    tick(w);
    const reef_query q = reef_query_new(w, "in Hunter, in Place");
    const reef_component was = reef_type_find("Hunter");
    assert_int_equal(reef_query_count(w, q), 1332);
    build("-DHUNTER_LESS");
    assert_hot_refused(w, h, "would be lost: Hunter.rage: 666 values");
    assert_int_equal(reef_type_find("Hunter").id, was.id);
    assert_true(field_of(w, e[2], "Hunter", "rage") == 7);
    assert_int_equal(reef_query_count(w, q), 1332);
    reef_world *fork = reef_fork(w);
    build("-DHUNTER_LESS -DSPEED=10");
    assert_hot_refused(w, h, "1 other worlds and 0 snapshots");
    reef_world_free(fork);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    put(built("-DHUNTER_LESS -DSPEED=10"));
    assert_hot_refused(w, h, "0 other worlds and 1 snapshots");
    reef_snapshot_free(snapshot);
    build("-DHUNTER_LESS -DREFUSES");
    assert_event(h, REEF_HOT_REFUSED);
    assert_int_equal(reef_type_find("Hunter").id, was.id);
    for (uint32_t i = 0; i < 2000; i += 2) {
        if (i % 3 == 0) continue;
        first_hunter *value = reef_mut_id(w, e[i], was);
        value->rage = 0;
    }
    tick(w);
    build("-DHUNTER_LESS -DSPEED=10"); /* now nothing is lost */
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "1 type has another layout now");
    assert_int_not_equal(reef_type_find("Hunter").id, was.id);
    assert_libraries(h, 1);
    assert_valid(w);
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(reef_is_alive(w, e[i]), i % 3 != 0);
        if (i % 3) assert_true(field_of(w, e[i], "Hunter", "power") == (double)i);
    }
    assert_entity(e[2], reef_find(w, "nemo"));
    assert_int_equal(reef_query_count(w, q), 1332); /* the handle leads to the new type */
    assert_false(reef_is_enabled_id(w, e[1], reef_id(Place)));
    const float x = reef_get(w, e[2], Place)->x;
    tick(w);
    assert_true(reef_get(w, e[2], Place)->x == x + 10);
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(field_of(w, e[4], "Hunter", "power") == 4 && field_of(w, e[4], "Hunter", "fear") == 0);
    build("-DHUNTER_LESS -DSPEED=10"); /* a layout that was there before: no type more */
    const uint32_t types = reef_type_count();
    assert_event(h, REEF_HOT_LOADED);
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_type_count(), types);
    assert_true(field_of(w, e[4], "Hunter", "power") == 4);
    assert_int_equal(reef_query_count(w, q), 1332);
    build("-DHUNTER_BYTES");
    assert_hot_refused(w, h, "Hunter");
    reef_hot_close(h);
}

static void what_has_no_fields_is_told(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DBARE", NULL);
    build("-DBARE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "whether the layout of Bare has changed can't be seen: it has no fields");
    reef_hot_close(h);
    char reason[REEF_HOT_TEXT_MAX];
    assert_null(reef_hot_open(w, path, &(reef_hot_desc){.refuse_undescribed = true}, reason));
    assert_non_null(strstr(reason, "Bare has no fields, so another layout can't be seen"));
}

static void nothing(reef_block *b) { (void)b; }
static bool looks_at_others(reef_world *w)
{
    return !reef_system_is_null(reef_system(w, nothing, "in Place; reads Hunter"));
}

/* An index is of a type. When another type takes over the name, the old index finds nothing, and a new one is made. */
static void indexes_of_a_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    for (uint32_t i = 0; i < 300; i++) hunter(w, (float)(i % 3), 0);
    const reef_component was = reef_type_find("Hunter");
    const reef_index *x = reef_index_of_id(w, was, "power");
    assert_int_equal(reef_index_range(x, 0, UINT64_MAX, 0, NULL, 0), 300);
    build("-DHUNTER_LESS");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component is = reef_type_find("Hunter");
    assert_int_not_equal(is.id, was.id);
    assert_true(looks_at_others(w)); /* then a tick prepares all indexes */
    tick(w);
    assert_int_equal(reef_index_range(reef_index_of_id(w, is, "power"), 0, UINT64_MAX, 0, NULL, 0), 300);
    x = reef_index_of_id(w, was, "power");
    assert_int_equal(reef_index_range(x, 0, UINT64_MAX, 0, NULL, 0), 0);
    tick(w);
    reef_hot_close(h);
}

/* The same for the picture of a place. */
static void pictures_of_a_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_place_desc place = {.fields = {"power", "power"}, .cell = 1};
    const reef_place_ask all = {.radius = 1000};
    for (uint32_t i = 0; i < 300; i++) hunter(w, (float)(i % 3), 0);
    const reef_component was = reef_type_find("Hunter");
    assert_ok(reef_place_declare(was, &place));
    assert_int_equal(reef_place_within(reef_place_of_id(w, was), &all, NULL, 0), 300);
    build("-DHUNTER_LESS");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component is = reef_type_find("Hunter");
    assert_int_not_equal(is.id, was.id);
    assert_true(looks_at_others(w));
    tick(w);
    assert_no_pointer(w, REEF_ABSENT, reef_place_of_id(w, is)); /* it was declared for the type that was */
    assert_ok(reef_place_declare(is, &place));
    assert_int_equal(reef_place_within(reef_place_of_id(w, is), &all, NULL, 0), 300);
    assert_int_equal(reef_place_within(reef_place_of_id(w, was), &all, NULL, 0), 0);
    tick(w);
    reef_hot_close(h);
}

static const char *cells_of(reef_world *w, reef_component nest)
{
    static char text[1024];
    text[0] = 0;
    const reef_place *p = reef_place_of_id(w, nest);
    if (p) reef_place_explain(p, text, sizeof text);
    else snprintf(text, sizeof text, "%s", reef_last_error(w).detail);
    return p ? strstr(text, "cells of ") : text;
}

/* The newest code says what the place of its type is like. */
static void places_of_code_that_comes_and_goes(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DNEST=2", NULL);
    const reef_component nest = reef_type_find("Nest");
    const float at[] = {1, 1};
    for (uint32_t i = 0; i < 9; i++) assert_int_equal(reef_set_id(w, reef_create(w), nest, at, sizeof at), REEF_ADDED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 2: 9", 13), 0);
    build("-DNEST=4");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 4: 9", 13), 0);
    assert_int_equal(reef_place_within(reef_place_of_id(w, nest), &(reef_place_ask){.at = {1, 1}}, NULL, 0), 9);
    build("-DNEST=0");
    assert_event(h, REEF_HOT_LOADED);
    assert_string_equal(cells_of(w, nest), "the cell's side isn't above 0");
    build("-DNEST=8 -DNEST_CARRIES"); /* systems that were declared before don't read what it carries */
    assert_event(h, REEF_HOT_LOADED);
    assert_string_equal(cells_of(w, nest), "code that is loaded again can't change which types its place reads");
    build("-DNEST=2 -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 2: 9", 13), 0);
    reef_hot_close(h);
}

static void the_past_gets_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .hashes = true});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 5});
    const float input = 1000;
    const reef_entity e = hunter(w, 1, 3);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DHUNTER_LESS -DSPEED=10");
    assert_hot_refused(w, h, "would be lost: Hunter.rage: 1 values");
    assert_int_equal(reef_history_reach(past).tick, 8);
    assert_int_equal(reef_history_reach(past).first, 0);
    build("-DHUNTER_MORE -DSPEED=10 -DREFUSES");
    assert_hot_refused(w, h, "");
    assert_ok(reef_history_rewind(past, 2));
    assert_ok(reef_history_rewind(past, 8));
    assert_true(reef_get(w, e, Place)->x == 9);
    build("-DHUNTER_LESS -DSPEED=10");
    assert_event(h, REEF_HOT_REFUSED);
    reef_hot_close(h);
    reef_history_free(past);
}

static void the_past_is_played_with_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .hashes = true});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.lose_values = true, .history = past, .replay = 5});
    const float input = 1000;
    const reef_entity e = hunter(w, 1, 3);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DHUNTER_LESS -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    const reef_history_range r = reef_history_reach(past);
    assert_true(r.first == 3 && r.tick == 8 && r.end == 8);
    assert_true(reef_get(w, e, Place)->x == 54); /* three ticks of 1, five of 10 */
    assert_true(field_of(w, e, "Hunter", "power") == 1);
    reef_block b = reef_begin_text(w, "in Place, !Hunter");
    assert_true(reef_next(&b));
    assert_true(reef_in(&b, Place)[0].x == 1040);
    reef_end(&b);
    assert_ok(reef_history_rewind(past, 3));
    assert_true(reef_get(w, e, Place)->x == 4);
    assert_ok(reef_history_replay(past, 8));
    assert_true(reef_get(w, e, Place)->x == 54);
    reef_history_free(past);
    reef_hot_close(h);
}

/* ---- the past ---- */

static void the_last_ticks_are_played_again(void **state)
{
    reef_world *w = world_of(state), *twin = another_world(state, NULL);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 5});
    const float input = 1000;
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "5 ticks were played again");
    assert_int_equal(reef_history_reach(past).tick, 8);
    reef_block b = reef_begin_text(w, "in Place");
    assert_true(reef_next(&b));
    assert_true(reef_in(&b, Place)[0].x == 1040); /* ticks 4 ... 7 with the new speed */
    assert_false(reef_next(&b));
    reef_history_free(past);
    reef_hot_close(h);
    (void)twin;
}

/* ---- trials ---- */

static void a_trial_refuses_what_would_end_the_program(void **state)
{
    reef_world *w = world_of(state);
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip(); /* it hands on no signal in a child of a process with threads */
#endif
#endif
#if defined(__SANITIZE_THREAD__)
    skip();
#endif
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    assert_ok(reef_set_pool(w, pool));
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = 600000, .trial_dt = 1});
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    tick(w);
    build("-DCRASHES");
    assert_hot_refused(w, h, "Segmentation fault, in the system move, at 0x");
    reef_hot_close(h);
    for (uint32_t ms = 300, there = 0; !there; ms *= 4) { /* a busy machine may not come to the system in time */
        char wanted[60];
        h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = ms, .trial_dt = 1});
        build("-DHANGS");
        (void)snprintf(wanted, sizeof wanted, "the trial takes longer than %u ms", (unsigned)ms);
        assert_hot_refused(w, h, wanted);
        there = strstr(reef_hot_text(h), ", in the system move, at 0x") != NULL;
        reef_hot_close(h);
    }
    h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = 600000, .trial_dt = 1});
#if defined(REEF_CHECKED)
    build("-DMISTAKES");
    assert_hot_refused(w, h, "the trial made a mistake");
#endif
    build("-DPLACE_DIFFERS");
    assert_hot_refused(w, h, "Nowhere");
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 11); /* the trial's ticks are nobody's */
    reef_hot_close(h);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(pool);
}

/* ---- threads, memory, many times ---- */

static void threads_give_the_same(void **state)
{
    uint64_t hash[3];
    for (uint32_t k = 0; k < 3; k++) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 1u << k});
        assert_ok(reef_set_pool(w, pool));
        reef_hot_code *h = hot_of(w, "", NULL);
        for (int i = 0; i < 5000; i++) reef_spawn(w, reef_with(Place, (float)i, 1));
        for (int i = 0; i < 6; i++) {
            tick(w);
            build(i % 2 ? "" : "-DSPEED=10");
            assert_event(h, REEF_HOT_LOADED);
        }
        reef_single_mut(w, Report)->kept = 0;
        hash[k] = reef_hash(w);
        reef_hot_close(h);
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(pool);
    }
    assert_int_equal(hash[0], hash[1]);
    assert_int_equal(hash[0], hash[2]);
}

/* The allocator of the process: it fails as the heap of the test does. */
static heap types_heap;

static void no_memory_is_no_reload(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED", NULL);
    const reef_entity s = reef_create(w);
    reef_spawn(w, reef_with(Place, 0, 0), reef_tag(Marked));
    reef_add(w, s, Employed);
    for (int i = 0; i < 40; i++) assert_true(reef_add_id(w, reef_create(w), reef_type_find("Owned"), NULL, NULL) >= 0);
    tick(w);
    heap *heaps[] = {heap_of(state), &types_heap};
    for (uint32_t k = 0; k < 2; k++) {
        bool loaded = false;
        for (uint64_t n = 1; !loaded; n++) {
            build(n % 2 ? "-DOWNED -DSPEED=10 -DFRESH" : "-DOWNED -DSPEED=3 -DFRESH");
            const uint64_t hash = reef_hash(w);
            heap_fail_nth(heaps[k], n, n % 3 == 0);
            loaded = reef_hot_poll(h) == REEF_HOT_LOADED;
            heap_fail_never(heaps[k]);
            if (!loaded) assert_int_equal(reef_hash(w), hash);
            assert_libraries(h, 1);
            assert_valid(w);
            assert_true(n < 1000);
        }
        build(k ? "-DOWNED" : "-DOWNED -DCOMMENT='\"another comment\"'");
        assert_event(h, REEF_HOT_LOADED);
    }
    tick(w);
    reef_hot_close(h);
}

static void no_memory_is_no_change_of_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 2});
    const reef_query q = reef_query_new(w, "in Hunter, in Place");
    const reef_entity e = hunter(w, 1, 0);
    bool more = false;
    for (int i = 0; i < 4; i++) assert_ok(reef_history_step(past, NULL, 0));
    heap *heaps[] = {heap_of(state), &types_heap};
    for (uint32_t k = 0; k < 2; k++) {
        bool loaded = false;
        for (uint64_t n = 1; !loaded; n++) {
            const uint64_t hash = reef_hash(w);
            const float x = reef_get(w, e, Place)->x;
            build(more ? "-DHUNTER_LESS" : "-DHUNTER_MORE");
            heap_fail_nth(heaps[k], n, n % 3 == 0);
            loaded = reef_hot_poll(h) == REEF_HOT_LOADED;
            heap_fail_never(heaps[k]);
            if (!loaded) assert_int_equal(reef_hash(w), hash);
            assert_true(reef_get(w, e, Place)->x == x);
            assert_int_equal(reef_history_reach(past).tick, 4);
            assert_int_equal(reef_query_count(w, q), 1);
            assert_libraries(h, 1);
            assert_valid(w);
            assert_true(n < 2000);
        }
        more = !more;
        assert_true(field_of(w, e, "Hunter", "power") == 1);
    }
    assert_ok(reef_history_step(past, NULL, 0));
    reef_history_free(past);
    reef_hot_close(h);
}

static void many_times_nothing_grows(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const int times = deep ? 1000 : 60;
    uint64_t blocks = 0, bytes = 0, type_bytes = 0;
    uint32_t maps = 0, types = 0;
    reef_spawn(w, reef_with(Place, 0, 0));
    for (int i = 0; i < times; i++) {
        build(i % 2 ? "" : "-DSPEED=10");
        assert_event(h, REEF_HOT_LOADED);
        tick(w);
        if (i == 9) {
            blocks = heap_of(state)->blocks;
            bytes = heap_of(state)->bytes;
            type_bytes = types_heap.bytes;
            maps = mappings();
            types = reef_type_count();
        }
    }
    assert_int_equal(heap_of(state)->blocks, blocks);
    assert_int_equal(heap_of(state)->bytes, bytes);
    assert_int_equal(types_heap.bytes, type_bytes);
    assert_int_equal(mappings(), maps);
    assert_int_equal(reef_type_count(), types);
    assert_libraries(h, 1);
    reef_hot_close(h);
    assert_int_equal(mappings(), 0);
}

/* ---- figures, in the deep form ---- */

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double fastest_reload(reef_hot_code *h, const char *one, const char *other)
{
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        build(i % 2 ? one : other);
        const double begin = now_ms();
        assert_event(h, REEF_HOT_LOADED);
        const double took = now_ms() - begin;
        if (took < best) best = took;
    }
    return best;
}

static void what_a_million_entities_cost(void **state)
{
    (void)state; /* a world on the C library's allocator */
    reef_world *w = reef_world_new(NULL);
    reef_hot_code *h = hot_of(w, "-DPLAIN", NULL);
    const double empty = fastest_reload(h, "-DPLAIN", "-DPLAIN -DSPEED=10");
    const reef_component c = reef_type_find("Hunter");
    for (uint32_t i = 0; i < 1000000; i++) {
        const first_hunter value = {(float)i, 0};
        (void)reef_spawn(w, reef_with(Place, 1, 2), reef_value_make(c, REEF_VALUE_ONE, sizeof value, &value));
    }
    tick(w);
    const double begin = now_ms();
    for (int i = 0; i < 100000; i++) assert_event(h, REEF_HOT_SAME);
    const double poll = (now_ms() - begin) / 100000 * 1e3;
    const double full = fastest_reload(h, "-DPLAIN", "-DPLAIN -DSPEED=10");
    const double layout = fastest_reload(h, "-DPLAIN -DHUNTER_LESS", "-DPLAIN -DHUNTER_MORE");
    assert_int_equal(reef_count_id(w, reef_type_find("Hunter")), 1000000);
    printf("a poll without a change: %.2f us\na reload: %.2f ms in an empty world, %.2f ms with 1,000,000 entities\n"
           "with another layout of 1,000,000 values: %.0f ms\n",
           poll, empty, full, layout);
    reef_hot_close(h);
    reef_world_free(w);
}

int main(int argc, char **argv)
{
    deep = argc > 1 && strcmp(argv[1], "--deep") == 0;
    const reef_allocator types = heap_allocator(&types_heap);
    if (reef_set_process_allocator(&types) != REEF_OK) return 1;
    const char *where = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/test_hot_XXXXXX", where ? where : "/tmp");
    if (mkdtemp(folder) == NULL) return 1;
    (void)snprintf(path, sizeof path, "%s/rules.so", folder);
    const struct CMUnitTest tests[] = {
        TEST(another_constant_takes_effect),
        TEST(many_times_nothing_grows), /* before there are scripts, whose classes keep a library */
        TEST(a_comment_changes_nothing),
        TEST(systems_come_go_and_move),
        TEST(observers_scripts_and_orders_follow),
        TEST(what_is_refused_leaves_the_old_code),
        TEST(the_last_ticks_are_played_again),
        TEST(a_layout_changes),
        TEST(what_has_no_fields_is_told),
        TEST(indexes_of_a_layout),
        TEST(pictures_of_a_layout),
        TEST(places_of_code_that_comes_and_goes),
        TEST(the_past_gets_the_new_layout),
        TEST(the_past_is_played_with_the_new_layout),
        TEST(a_trial_refuses_what_would_end_the_program),
        TEST(threads_give_the_same),
        TEST(no_memory_is_no_reload),
        TEST(no_memory_is_no_change_of_layout),
        TEST(hooks_follow), /* its library stays */
    };
    const struct CMUnitTest figures[] = {TEST(what_a_million_entities_cost)};
    int failed = deep ? cmocka_run_group_tests(figures, NULL, NULL) : 0;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    char command[600];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 1;
    return failed;
}
