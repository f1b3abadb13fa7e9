/* Files whose sums are right and which were made to cost much: what a reader does is bounded by their size. And
 * versions, which must not grow by being saved and loaded. */
#include "base/checksum.h"
#include "load_repair.h"
#include "load_zoo.h"
#include "reef/diff.h"
#include "reef/hierarchy.h"
#include "file/section.h"
#include "inside.h"
#include "support.h"
#include <time.h>

typedef struct forged {
    section_out o;
    unsigned char *bytes;
    size_t size, room;
    memory memory;
} forged;

static reef_status forged_write(void *context, const void *bytes, size_t count)
{
    forged *x = context;
    while (count > x->room - x->size) {
        x->room = x->room ? x->room * 2 : 4096;
        x->bytes = realloc(x->bytes, x->room);
        assert_non_null(x->bytes);
    }
    memcpy(x->bytes + x->size, bytes, count);
    x->size += count;
    return REEF_OK;
}

static void forge_begin(forged *x)
{
    unsigned char head[32] = {'R', 'E', 'E', 'F', 'R', 'E', 'C', '\n'};
    *x = (forged){.size = 0};
    assert_true(reef__memory_make(&x->memory, &reef__memory_standard));
    reef__out_begin(&x->o, &x->memory, (reef_writer){forged_write, x});
    reef__out_header(&x->o, 0);
    reef__section_begin(&x->o, SECTION_RECORD);
    reef__put_bytes(&x->o, head, sizeof head);
    reef__put_u64(&x->o, reef__checksum_of(head, sizeof head, 0));
    reef__section_end(&x->o);
}

/* A type without fields. */
static void forge_type(forged *x, const char *name, reef_home home, uint32_t flags, uint32_t size)
{
    reef__put_text(&x->o, name);
    reef__put_u8(&x->o, (uint32_t)home), reef__put_u8(&x->o, flags);
    reef__put_u32(&x->o, size), reef__put_u32(&x->o, 1), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0),
        reef__put_u16(&x->o, 0);
}

static void forge_ids(forged *x, uint32_t indices)
{
    reef__section_begin(&x->o, SECTION_IDS);
    reef__put_u32(&x->o, indices), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, 0);
    reef__section_end(&x->o);
}

static void forge_clock(forged *x, uint64_t version)
{
    reef__section_begin(&x->o, SECTION_TIME);
    reef__put_u64(&x->o, 0), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, version);
    reef__put_handle(&x->o, (reef_entity){0, 0});
    reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0);
    reef__section_end(&x->o);
}

static void forge_time(forged *x, uint64_t version)
{
    forge_clock(x, version);
    forge_ids(x, 0);
}

static reef_status forged_load_as(forged *x, reef_world *w, const reef_load_desc *desc)
{
    const uint64_t sections = x->o.sections;
    reef__section_begin(&x->o, SECTION_DONE);
    reef__put_u64(&x->o, sections), reef__put_u64(&x->o, 0);
    reef__section_end(&x->o);
    assert_ok(x->o.status);
    const reef_status s = reef_load_bytes(w, x->bytes, x->size, desc);
    reef__out_drop(&x->o);
    reef__memory_drop(&x->memory);
    free(x->bytes);
    assert_valid(w);
    return s;
}

static reef_status forged_load(forged *x, reef_world *w) { return forged_load_as(x, w, NULL); }

static void refuses(reef_status status, forged *x, reef_world *w, const char *why)
{
    assert_status(status, forged_load(x, w));
    assert_non_null(strstr(reef_last_error(w).detail, why));
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Looking for each name among all others took minutes. (Seconds of the processor, ten times what it takes on a slow
 * machine.) */
static void many_types_take_no_longer_each(void **state)
{
    enum { TYPES = 60000 };
    forged x;
    char name[32];
    forge_begin(&x);
    reef__section_begin(&x.o, SECTION_TYPES);
    reef__put_u32(&x.o, TYPES);
    for (uint32_t i = 0; i < TYPES; i++) {
        (void)snprintf(name, sizeof name, "of nobody's %u", i);
        forge_type(&x, name, REEF_BIT, 0, 0);
    }
    reef__section_end(&x.o);
    forge_time(&x, 1);
    const double start = seconds();
    assert_ok(forged_load(&x, world_of(state)));
    assert_true(seconds() - start < 40);
}

enum { STRANGERS = 60000 };

/* Types that nobody knows, each in a table of its own; `row`: with a row in the last table; or the file is wrong at its
 * end. */
static void forge_strangers(forged *x, bool row, bool wrong)
{
    char name[32];
    forge_begin(x);
    reef__section_begin(&x->o, SECTION_TYPES);
    reef__put_u32(&x->o, STRANGERS);
    for (uint32_t i = 0; i < STRANGERS; i++) {
        (void)snprintf(name, sizeof name, "stranger %u", i);
        forge_type(x, name, REEF_TABLE, 0, 0);
    }
    reef__section_end(&x->o);
    reef__section_begin(&x->o, SECTION_TABLES);
    reef__put_u32(&x->o, STRANGERS);
    for (uint32_t i = 0; i < STRANGERS; i++) reef__put_u32(&x->o, 1), reef__put_u32(&x->o, i);
    reef__section_end(&x->o);
    forge_clock(x, 1);
    forge_ids(x, row);
    if (row) {
        reef__section_begin(&x->o, SECTION_ROWS);
        reef__put_u32(&x->o, STRANGERS - 1), reef__put_u64(&x->o, 1), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 1);
        reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 1), reef__put_u64(&x->o, 1),
            reef__put_handle(&x->o, (reef_entity){0, 1});
        reef__section_end(&x->o);
    }
    if (wrong) {
        reef__section_begin(&x->o, SECTION_NAMES);
        reef__put_u32(&x->o, 1), reef__put_handle(&x->o, (reef_entity){7, 7}), reef__put_text(&x->o, "nobody");
        reef__section_end(&x->o);
    }
}

/* The registry of types has room for 65,536 in a process, for good. */
static void types_that_nobody_knows_take_no_room(void **state)
{
    const reef_load_desc declare = {.unknown = REEF_UNKNOWN_DECLARE};
    reef_world *w = world_of(state);
    forged x;
    const uint32_t before = reef_type_count(), tables = family_tables(w);
    forge_strangers(&x, false, true);
    refuses(REEF_CORRUPT, &x, w, "NAME");
    assert_int_equal(reef_type_count(), before);
    forge_strangers(&x, true, true);
    assert_status(REEF_CORRUPT, forged_load_as(&x, w, &declare));
    assert_non_null(strstr(reef_last_error(w).detail, "NAME"));
    assert_in_range(reef_type_count(), before, before + 20);
    assert_int_equal(family_tables(w), tables);
    for (int i = 0; i < 2; i++) {
        forge_strangers(&x, true, false);
        assert_ok(forged_load(&x, w));
        assert_int_equal(reef_count_alive(w), 1);
        assert_in_range(reef_type_count(), before, before + 20);
        assert_in_range(family_tables(w), tables, tables + 20);
    }
}

static void a_name_that_is_there_twice_is_refused(void **state)
{
    static const char *const names[] = {"Scent", "of nobody", "Frozen", "Scent"};
    forged x;
    forge_begin(&x);
    reef__section_begin(&x.o, SECTION_TYPES);
    reef__put_u32(&x.o, 4);
    for (uint32_t i = 0; i < 4; i++)
        forge_type(&x, names[i], i % 3 ? REEF_TABLE : REEF_PAGED, i % 3 ? 0 : 2, i % 3 ? 0 : sizeof(Scent));
    reef__section_end(&x.o);
    forge_time(&x, 1);
    refuses(REEF_CORRUPT, &x, world_of(state), "two types have the name Scent");
}

static void forge_stored(forged *x, const char *name, reef_home home, uint32_t size)
{
    forge_begin(x);
    reef__section_begin(&x->o, SECTION_TYPES);
    reef__put_u32(&x->o, 1);
    forge_type(x, name, home, size ? 2 : 0, size);
    reef__section_end(&x->o);
    forge_time(x, 1);
}

/* A file of two runs of reserved ids, which says that there are so many indices. */
static void forge_runs(forged *x, const uint32_t run[4], uint32_t indices)
{
    forge_begin(x);
    forge_clock(x, 1);
    reef__section_begin(&x->o, SECTION_RESERVED);
    reef__put_u32(&x->o, 2);
    for (uint32_t i = 0; i < 4; i++) reef__put_u32(&x->o, run[i]);
    reef__section_end(&x->o);
    forge_ids(x, indices);
}

static void runs_of_reserved_ids_are_bounded_and_in_order(void **state)
{
    static const struct {
        uint32_t run[4], indices;
        const char *why; /* NULL: it loads */
    } files[] = {
        {{0, 4096, 4096, 10}, 4106, NULL},
        {{0, 10, 10, 20000}, 20010, NULL},
        {{0, 10, 10, 0x80000000}, 0x8000000A, NULL},
        {{0, 4096, 100, 10}, 4106, "wrong order"},
        {{0, 0, 0, 10}, 10, "wrong order"},
        {{0, 4096, 4096, 4096}, 8000, "fewer indices than reserved ones"},
        {{0, 10, 4096, 10}, 4106, "more indices than it has room for"},
        {{0, 10, 10, 10}, 2000, "more indices than it has room for"},
        {{0, 10, 11, 10}, 21, "generation 0"},
    };
    reef_world *w = world_of(state);
    const double start = seconds();
    forged x;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        forge_runs(&x, files[i].run, files[i].indices);
        if (files[i].why) {
            refuses(REEF_CORRUPT, &x, w, files[i].why);
            continue;
        }
        assert_ok(forged_load(&x, w));
        assert_int_equal(reef_world_stats(w).indices, files[i].indices);
        assert_int_equal(reef_count_alive(w), 0);
        assert_true(reef_world_stats(w).bytes_index < (files[i].indices >> 6) + (64 << 10));
    }
    forge_runs(&x, (const uint32_t[4]){0, 10, 10, UINT32_MAX}, UINT32_MAX);
    refuses(REEF_LIMIT, &x, w, "more than the config allows");
    assert_true(seconds() - start < 40);
}

/* Each of them would go over all values that are there. */
static void a_store_begins_once(void **state)
{
    reef_world *w = world_of(state);
    forged x;
    forge_stored(&x, "Scent", REEF_PAGED, sizeof(Scent));
    reef__section_begin(&x.o, SECTION_PAGE);
    reef__put_u32(&x.o, 0), reef__put_u32(&x.o, 0), reef__put_u32(&x.o, 1 << 20), reef__put_u32(&x.o, 0);
    reef__section_end(&x.o);
    refuses(REEF_CORRUPT, &x, w, "PAGE: rows is 1048576");
    forge_stored(&x, "Grudge", REEF_MULTI, sizeof(Grudge));
    for (uint32_t i = 0; i < 2; i++) {
        reef__section_begin(&x.o, SECTION_VALUES);
        reef__put_u32(&x.o, 0), reef__put_u8(&x.o, 1), reef__put_u32(&x.o, 0);
        reef__section_end(&x.o);
    }
    refuses(REEF_CORRUPT, &x, w, "begins twice");
    forge_stored(&x, "Herd", REEF_SHARED, sizeof(Herd));
    reef__section_begin(&x.o, SECTION_VALUES);
    reef__put_u32(&x.o, 0), reef__put_u8(&x.o, 0), reef__put_u32(&x.o, 0);
    reef__section_end(&x.o);
    refuses(REEF_CORRUPT, &x, w, "before it begins");
}

/* Four thousand million events in a file of some hundred bytes. */
static void events_without_values_are_no_more_than_memory(void **state)
{
    static const uint32_t counts[] = {1000, UINT32_MAX};
    reef_world *w = world_of(state);
    (void)reef_id(Season);
    for (uint32_t i = 0; i < 2; i++) {
        forged x;
        forge_stored(&x, "Season", REEF_TABLE, sizeof(Season));
        reef__section_begin(&x.o, SECTION_EVENTS);
        reef__put_u32(&x.o, 0), reef__put_u64(&x.o, UINT64_MAX), reef__put_u64(&x.o, 0), reef__put_u64(&x.o, counts[i]),
            reef__put_u64(&x.o, 0), reef__put_u32(&x.o, counts[i]), reef__put_u32(&x.o, 0);
        reef__section_end(&x.o);
        heap_of(state)->limit = 1 << 24;
        if (i == 0) assert_ok(forged_load(&x, w));
        else refuses(REEF_LIMIT, &x, w, "more events of type Season");
    }
}

/* A load raises the version of its world by the file's, which therefore has a limit. */
static void versions_in_a_file_are_small(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 64; i++) {
        forged x;
        forge_begin(&x);
        forge_time(&x, UINT64_MAX >> i);
        if (i >= 64 - 16) assert_ok(forged_load(&x, w));
        else refuses(REEF_CORRUPT, &x, w, "TIME: version is ");
    }
    assert_true(reef_version(w) < (2 << 16) + 64 * 16);
}

static uint32_t watched; /* rows that the system below saw */
static void watch(reef_block *b) { watched += b->count; }

/* A file up to the rows of one table, of the type Season; and a piece of those. */
static void forge_season(forged *x, uint64_t newest, uint64_t run, uint32_t rows)
{
    forge_begin(x);
    reef__section_begin(&x->o, SECTION_TYPES);
    reef__put_u32(&x->o, 1);
    reef__put_text(&x->o, "Season");
    reef__put_u8(&x->o, REEF_TABLE), reef__put_u8(&x->o, 0);
    reef__put_u32(&x->o, sizeof(Season)), reef__put_u32(&x->o, (uint32_t) _Alignof(Season)),
        reef__put_u32(&x->o, sizeof(Season)), reef__put_u32(&x->o, 0), reef__put_u16(&x->o, 1);
    reef__put_text(&x->o, "of");
    reef__put_u8(&x->o, REEF_I32), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, sizeof(int32_t)),
        reef__put_text(&x->o, ""), reef__put_f64(&x->o, 0), reef__put_f64(&x->o, 0);
    reef__section_end(&x->o);
    reef__section_begin(&x->o, SECTION_TABLES);
    reef__put_u32(&x->o, 1), reef__put_u32(&x->o, 1), reef__put_u32(&x->o, 0);
    reef__section_end(&x->o);
    reef__section_begin(&x->o, SECTION_TIME);
    reef__put_u64(&x->o, 7), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, 0), reef__put_u64(&x->o, newest);
    reef__put_handle(&x->o, (reef_entity){0, 0});
    reef__put_u32(&x->o, 0);
    reef__put_u32(&x->o, 1), reef__put_text(&x->o, "watch"), reef__put_u8(&x->o, 1), reef__put_u8(&x->o, 1);
    reef__put_u64(&x->o, run);
    reef__section_end(&x->o);
    forge_ids(x, rows);
}

static void forge_piece(forged *x, uint32_t column, uint32_t row, uint32_t rows, uint64_t written)
{
    reef__put_u32(&x->o, column), reef__put_u32(&x->o, row), reef__put_u32(&x->o, rows), reef__put_u64(&x->o, written);
    for (uint32_t i = row; i < row + rows; i++) {
        if (column == 0) reef__put_handle(&x->o, (reef_entity){i, 1});
        else reef__put_u32(&x->o, 3);
    }
}

/* A row that was written at a version of a file, and the system's last run at another. */
static void forge_seen(forged *x, uint64_t newest, uint64_t run, uint64_t written)
{
    forge_season(x, newest, run, 1);
    reef__section_begin(&x->o, SECTION_ROWS);
    reef__put_u32(&x->o, 0), reef__put_u64(&x->o, 1), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 2);
    forge_piece(x, 0, 0, 1, written), forge_piece(x, 1, 0, 1, written);
    reef__section_end(&x->o);
}

/* Nothing of a new row is left as memory was. */
static void pieces_are_in_order_and_have_all_values_of_new_rows(void **state)
{
    enum { ROWS = 4, PIECES = 4 };
    static const struct {
        uint32_t piece[PIECES][3]; /* column, row, rows */
        const char *why;
    } cases[] = {
        {{{0, 0, 4}, {1, 0, 4}}, NULL},
        {{{0, 0, 1}, {0, 1, 3}, {1, 0, 2}, {1, 2, 2}}, NULL},
        {{{1, 0, 4}, {0, 0, 4}}, "the rows of a chunk have no content"},
        {{{0, 0, 4}, {1, 2, 2}, {1, 0, 2}}, "pieces of a chunk come out of order"},
        {{{0, 0, 4}, {1, 0, 2}, {1, 1, 3}}, "pieces of a chunk come out of order"},
        {{{0, 0, 4}, {1, 0, 2}, {0, 0, 2}}, "pieces of a chunk come out of order"},
        {{{0, 0, 4}, {1, 0, 3}}, "the rows of a chunk have no content"},
        {{{0, 0, 4}, {1, 1, 3}}, "the rows of a chunk have no content"},
        {{{0, 0, 4}}, "the rows of a chunk have no content"},
        {{{0, 0, 3}, {1, 0, 4}}, "the rows of a chunk have no content"},
    };
    reef_world *w = world_of(state);
    (void)reef_id(Season);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forged x;
        uint32_t pieces = 0;
        while (pieces < PIECES && cases[i].piece[pieces][2]) pieces++;
        forge_season(&x, 1, 1, ROWS);
        reef__section_begin(&x.o, SECTION_ROWS);
        reef__put_u32(&x.o, 0), reef__put_u64(&x.o, ROWS), reef__put_u32(&x.o, 0), reef__put_u32(&x.o, pieces);
        for (uint32_t k = 0; k < pieces; k++)
            forge_piece(&x, cases[i].piece[k][0], cases[i].piece[k][1], cases[i].piece[k][2], 1);
        reef__section_end(&x.o);
        if (cases[i].why) refuses(REEF_CORRUPT, &x, w, cases[i].why);
        else assert_ok(forged_load(&x, w));
        assert_int_equal(reef_count_alive(w), ROWS);
    }
}

static void what_a_system_has_seen_follows_from_the_order_of_versions(void **state)
{
    static const uint64_t runs[] = {1, 5, 100, 4096, 65535};
    reef_world *w = world_of(state);
    forged x;
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "watch", .function = watch, .text = "changed in Season"})));
    for (uint32_t i = 0; i < 5; i++) {
        for (uint64_t later = 0; later < 2; later++) {
            forge_seen(&x, 65536, runs[i], runs[i] + later);
            assert_ok(forged_load(&x, w));
            watched = 0;
            assert_ok(reef_tick(w, 0));
            assert_int_equal(watched, later);
        }
        forge_seen(&x, runs[i], runs[i], runs[i] + 1);
        refuses(REEF_CORRUPT, &x, w, "a version is ");
    }
    assert_true(reef_version(w) < 20 << 16);
}

/* A loaded state is newer than all that the world knew: what it is saved as must not be. */
static void a_world_may_be_saved_and_loaded_for_ever(void **state)
{
    enum { TIMES = 200 };
    reef_world *w = world_of(state);
    uint64_t seed = 9;
    zoo_steps(w, seed, 100);
    for (uint32_t i = 0; i < TIMES; i++) {
        const uint64_t hash = reef_hash(w);
        reef_bytes bytes = {NULL, 0};
        assert_ok(reef_save_bytes(w, &bytes, NULL));
        const reef_status s = reef_load_bytes(w, bytes.data, bytes.size, NULL);
        reef_bytes_free(&bytes);
        assert_status(REEF_OK, s);
        assert_true(reef_hash(w) == hash);
    }
    assert_valid(w);
}

/* The way back to an old state, whose versions are small, is work of a moment: so what is saved then must not count
 * all the versions since. */
static void a_world_may_go_back_and_be_saved_and_loaded_for_ever(void **state)
{
    enum { TIMES = 200 };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Season, 0));
    (void)reef_spawn(w, reef_with(Spot, 1, 2, 3));
    reef_snapshot *s = reef_snapshot_take(w);
    assert_non_null(s);
    for (int32_t i = 0; i < TIMES; i++) {
        reef_bytes bytes = {NULL, 0};
        assert_ok(reef_restore(w, s));
        reef_set(w, e, Season, i);
        assert_ok(reef_save_bytes(w, &bytes, NULL));
        assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
        assert_ok(reef_load_bytes(w, bytes.data, bytes.size, NULL));
        reef_bytes_free(&bytes);
        assert_true(reef_hash(other) == reef_hash(w));
        assert_int_equal(reef_get(w, e, Season)->of, i);
    }
    assert_true(reef_version(w) < 20 * TIMES && reef_version(other) < 20 * TIMES);
    reef_snapshot_free(s);
}

typedef struct told {
    uint32_t misuses;
} told;

static void count_misuse(void *context, reef_status status, const char *message)
{
    (void)status, (void)message;
    ((told *)context)->misuses++;
}

/* A file that somebody has damaged is no mistake of the program; and where no byte is wrong, none is named. */
static void damaged_files_are_no_misuse(void **state)
{
    told t = {0};
    char text[512];
    reef_world *w = world_of(state),
               *few =
                   another_world(state, &(reef_world_config){.entities_max = 3, .misuse = count_misuse, .context = &t});
    for (uint32_t i = 0; i < 5; i++) assert_some(reef_create_entity(w));
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    assert_status(REEF_LIMIT, reef_load_bytes(few, bytes.data, bytes.size, NULL));
    (void)reef_error_text(few, text, sizeof text);
    assert_null(strstr(text, "column"));
    assert_non_null(strstr(text, "5 entities"));
    ((unsigned char *)bytes.data)[FILE_HEADER_BYTES + 20] ^= 1;
    assert_status(REEF_CORRUPT, reef_load_bytes(few, bytes.data, bytes.size, NULL));
    (void)reef_error_text(few, text, sizeof text);
    assert_non_null(strstr(text, "(byte "));
    ((unsigned char *)bytes.data)[8] ^= 2;
    assert_true(reef_load_bytes(few, bytes.data, bytes.size, NULL) != REEF_OK);
    assert_int_equal(t.misuses, 0);
    reef_bytes_free(&bytes);
}

/* The first page of values in a file: behind its head stand the handle of the first owner, and where there is one
 * value, that value. */
static unsigned char *first_owner(reef_bytes bytes)
{
    unsigned char *p = bytes.data;
    for (size_t at = FILE_HEADER_BYTES; at < bytes.size;
         at += SECTION_HEAD_BYTES + (size_t)repair_get(p + at + 4, 8) + SECTION_SUM_BYTES)
        if (repair_get(p + at, 4) == SECTION_PAGE) return p + at + SECTION_HEAD_BYTES + 33;
    fail_msg("no page");
    return NULL;
}

/* A relation of a dead entity to one that is far out of range: whoever followed it read outside of memory. */
static void relations_are_followed_when_their_sources_are_known_to_live(void **state)
{
    static const uint32_t far[] = {200, 0x7FFFFFFF, 0xFFFF0005, UINT32_MAX};
    reef_world *w = world_of(state), *before = reef_fork(w), *other = another_world(state, NULL);
    const reef_entity child = reef_create(w), parent = reef_create(w);
    assert_some(child);
    assert_status(REEF_ADDED, reef_relate(w, child, ChildOf, parent));
    for (uint32_t i = 0; i < 2 * sizeof far / sizeof *far; i++) {
        reef_bytes bytes = {NULL, 0};
        const bool difference = i % 2;
        assert_ok(difference ? reef_diff_bytes(before, w, &bytes, NULL) : reef_save_bytes(w, &bytes, NULL));
        unsigned char *owner = first_owner(bytes);
        assert_int_equal(repair_get(owner, 8), (uint64_t)child.generation << 32 | child.index);
        repair_put(owner + 4, child.generation + 76, 4);
        repair_put(owner + 8, far[i / 2], 4);
        repair(bytes.data, bytes.size);
        reef_world *to = difference ? before : other;
        const uint64_t hash = reef_hash(to);
        assert_status(REEF_CORRUPT, difference ? reef_diff_apply(to, bytes.data, bytes.size)
                                               : reef_load_bytes(to, bytes.data, bytes.size, NULL));
        assert_non_null(strstr(reef_last_error(to).detail, "a value of the dead entity 0"));
        assert_true(reef_hash(to) == hash);
        reef_bytes_free(&bytes);
    }
    reef_world_free(before);
}

/* Tables are the family's, and are kept for reuse when they are empty. So are those of a file that is refused after its
 * rows were read aside: they are at most as many as it has rows, nothing tells of them, and the next file with the same
 * tables makes none. */
static void a_refused_file_leaves_tables_for_reuse_and_nothing_else(void **state)
{
    enum { BITS = 7, TABLES = 1 << BITS };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_component tags[BITS];
    for (uint32_t i = 0; i < BITS; i++) {
        char name[] = "RefusedTag0";
        name[sizeof name - 2] = (char)('0' + i);
        tags[i] = reef_type_new(&(reef_type_desc){.name = name}, NULL);
    }
    for (uint32_t i = 1; i < TABLES; i++) {
        const reef_entity e = reef_create(w);
        for (uint32_t k = 0; k < BITS; k++)
            if (i >> k & 1) assert_ok(reef_add_id(w, e, tags[k], NULL, NULL));
    }
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    const uint64_t empty = reef_hash(other);
    assert_status(REEF_CORRUPT, reef_load_bytes(other, bytes.data, bytes.size - 1, NULL));
    const reef_stats once = reef_world_stats(other);
    for (int i = 0; i < 20; i++) assert_status(REEF_CORRUPT, reef_load_bytes(other, bytes.data, bytes.size - 1, NULL));
    const reef_stats often = reef_world_stats(other);
    assert_true(reef_hash(other) == empty);
    assert_int_equal(often.tables, 0);
    assert_int_equal(often.tables_known, once.tables_known);
    assert_int_equal(often.bytes_total, once.bytes_total);
    assert_int_equal(often.bytes_tables, once.bytes_tables);
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_true(reef_equal(w, other, NULL));
    assert_int_equal(reef_world_stats(other).tables, TABLES - 1);
    reef_bytes_free(&bytes);
}

static void forge_sparse(forged *x, uint32_t section)
{
    forge_begin(x);
    reef__section_begin(&x->o, SECTION_TYPES);
    reef__put_u32(&x->o, 1);
    forge_type(x, "of nobody's", REEF_SPARSE, 0, 0);
    reef__section_end(&x->o);
    if (section == SECTION_TABLES) {
        reef__section_begin(&x->o, SECTION_TABLES);
        reef__put_u32(&x->o, 1), reef__put_u32(&x->o, 1), reef__put_u32(&x->o, 0);
        reef__section_end(&x->o);
        return;
    }
    forge_time(x, 1);
    reef__section_begin(&x->o, section);
    reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0), reef__put_u32(&x->o, 0);
    reef__section_end(&x->o);
}

/* Each section is for the types of some homes, whether or not the program has the type. */
static void a_section_refuses_types_of_other_homes(void **state)
{
    static const uint32_t sections[] = {SECTION_TABLES, SECTION_VALUES};
    for (uint32_t i = 0; i < 2; i++) {
        forged x;
        forge_sparse(&x, sections[i]);
        refuses(REEF_CORRUPT, &x, world_of(state), "type of nobody's has another home");
    }
}

/* The message names the section and the element, in every kind of list. */
static void an_entity_that_does_not_exist_is_named(void **state)
{
    forged x;
    forge_begin(&x);
    forge_clock(&x, 1);
    reef__section_begin(&x.o, SECTION_IDS);
    reef__put_u32(&x.o, 2), reef__put_u64(&x.o, 0), reef__put_u64(&x.o, 0), reef__put_u64(&x.o, 2);
    reef__section_end(&x.o);
    reef__section_begin(&x.o, SECTION_FREE);
    reef__put_u32(&x.o, 2), reef__put_handle(&x.o, (reef_entity){0, 1}), reef__put_handle(&x.o, (reef_entity){7, 3});
    reef__section_end(&x.o);
    refuses(REEF_CORRUPT, &x, world_of(state), "FREE, element 2: entity 7v3 doesn't exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_section_refuses_types_of_other_homes),
                                       TEST(an_entity_that_does_not_exist_is_named),
                                       TEST(many_types_take_no_longer_each),
                                       TEST(types_that_nobody_knows_take_no_room),
                                       TEST(a_name_that_is_there_twice_is_refused),
                                       TEST(a_store_begins_once),
                                       TEST(runs_of_reserved_ids_are_bounded_and_in_order),
                                       TEST(events_without_values_are_no_more_than_memory),
                                       TEST(versions_in_a_file_are_small),
                                       TEST(what_a_system_has_seen_follows_from_the_order_of_versions),
                                       TEST(pieces_are_in_order_and_have_all_values_of_new_rows),
                                       TEST(damaged_files_are_no_misuse),
                                       TEST(a_refused_file_leaves_tables_for_reuse_and_nothing_else),
                                       TEST(relations_are_followed_when_their_sources_are_known_to_live),
                                       TEST(a_world_may_be_saved_and_loaded_for_ever),
                                       TEST(a_world_may_go_back_and_be_saved_and_loaded_for_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
