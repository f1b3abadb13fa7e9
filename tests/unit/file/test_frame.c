/* Looking at a file without loading it: what reef_file_check finds in files of each kind, whole, torn and damaged. */
#include "base/checksum.h"
#include "file/section.h"
#include "byte_file.h"

static byte_file made;
static reef_file_info info;
static const char path[] = "test_frame.reef";

static void record_put(section_out *o, uint64_t number, uint32_t flags, size_t rows)
{
    static const unsigned char values[4000];
    unsigned char head[32] = {'R', 'E', 'E', 'F', 'R', 'E', 'C', '\n'};
    head[8] = (unsigned char)number;
    head[16] = (unsigned char)flags;
    o->sections = 0;
    reef__section_begin(o, SECTION_RECORD);
    reef__put_bytes(o, head, sizeof head);
    reef__put_u64(o, reef__checksum_of(head, sizeof head, 0));
    reef__section_end(o);
    reef__section_begin(o, SECTION_TIME);
    reef__put_u64(o, number);
    reef__section_end(o);
    for (size_t i = 0; i < rows; i++) {
        reef__section_begin(o, SECTION_ROWS);
        reef__put_block(o, values, sizeof values);
        reef__section_end(o);
    }
    const uint64_t sections = o->sections;
    reef__section_begin(o, SECTION_DONE);
    reef__put_u64(o, sections);
    reef__put_u64(o, 0);
    reef__section_end(o);
}

enum {
    PART = 24,
    HEAD = 40 + PART,
    TIME = 8 + PART,
    ROWS = 4000 + PART,
    DONE = 16 + PART,
    RECORD = HEAD + TIME + DONE
};

/* A file with `records` records, of which the first one has `rows` sections of rows. */
static void make(uint16_t flags, uint64_t records, size_t rows)
{
    memory m;
    section_out o;
    assert_true(reef__memory_make(&m, &reef__memory_standard));
    made = (byte_file){.size = 0};
    reef__out_begin(&o, &m, (reef_writer){byte_file_write, &made});
    reef__out_header(&o, flags);
    for (uint64_t i = 0; i < records; i++)
        record_put(&o, i, i || flags & FILE_DIFFERENCE ? RECORD_DIFFERENCE : 0, i ? 0 : rows);
    assert_int_equal(o.status, REEF_OK);
    reef__out_drop(&o);
    reef__memory_drop(&m);
}

static reef_status look(void)
{
    made.at = 0;
    memset(&info, 0xAA, sizeof info);
    return reef_file_check_from((reef_reader){byte_file_read, &made}, NULL, &info);
}

/* The same of a file of the system, which answers the same. */
static reef_status look_at_path(void)
{
    reef_file_info read = info;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(made.bytes, 1, made.size, f), made.size);
    assert_int_equal(fclose(f), 0);
    const reef_status s = reef_file_check(path, NULL, &info);
    assert_int_equal(remove(path), 0);
    assert_memory_equal(&read, &info, sizeof info);
    return s;
}

static void a_whole_file_is_told_of(void **state)
{
    (void)state;
    make(FILE_RAW, 1, 3);
    assert_status(REEF_OK, look());
    assert_status(REEF_OK, look_at_path());
    assert_int_equal(info.version, FILE_VERSION);
    assert_true(info.raw && !info.journal && !info.difference && !info.big_endian && !info.torn);
    assert_int_equal(info.bytes, made.size);
    assert_int_equal(info.sound_bytes, made.size);
    assert_int_equal(info.whole_bytes, made.size);
    assert_int_equal(info.records, 1);
    assert_int_equal(info.sections, 6);
    assert_string_equal(info.wrong, "");
    assert_int_equal(info.part_count, 4);
    const reef_file_part wanted[] = {{"RECD", 1, HEAD}, {"TIME", 1, TIME}, {"ROWS", 3, 3 * ROWS}, {"DONE", 1, DONE}};
    uint64_t bytes = FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < info.part_count; i++) {
        assert_string_equal(info.part[i].kind, wanted[i].kind);
        assert_int_equal(info.part[i].sections, wanted[i].sections);
        assert_int_equal(info.part[i].bytes, wanted[i].bytes);
        bytes += info.part[i].bytes;
    }
    assert_int_equal(bytes, info.bytes);
}

static void each_flag_is_told(void **state)
{
    (void)state;
    make(FILE_DIFFERENCE, 1, 0);
    assert_status(REEF_OK, look());
    assert_true(info.difference && !info.journal && !info.raw && !info.big_endian);
    make(FILE_RAW | FILE_BIG, 1, 0);
    assert_status(REEF_OK, look());
    assert_true(info.big_endian && info.raw && !info.journal && !info.difference);
    make(FILE_JOURNAL, 4, 1);
    assert_status(REEF_OK, look());
    assert_true(info.journal && !info.torn && !info.big_endian);
    assert_int_equal(info.records, 4);
    assert_int_equal(info.sections, 3 * 4 + 1);
    assert_int_equal(info.sound_bytes, made.size);
    assert_int_equal(info.whole_bytes, FILE_HEADER_BYTES + RECORD + ROWS);
}

/* Cut anywhere a file is refused; only a journal with a whole record is torn. */
static void each_cut_is_told(void **state)
{
    (void)state;
    for (int journal = 0; journal < 2; journal++) {
        make(journal ? FILE_JOURNAL : 0, journal ? 3 : 1, 0);
        const size_t whole = made.size;
        for (made.size = 0; made.size < whole; made.size++) {
            const size_t records = made.size < FILE_HEADER_BYTES ? 0 : (made.size - FILE_HEADER_BYTES) / RECORD;
            const size_t sound = records ? FILE_HEADER_BYTES + records * RECORD : 0;
            const bool at_end = records && sound == made.size;
            assert_status(records ? REEF_OK : REEF_CORRUPT, look());
            assert_int_equal(info.torn, records && !at_end);
            assert_int_equal(info.records, records);
            assert_int_equal(info.sound_bytes, sound);
            assert_int_equal(info.bytes, made.size);
            assert_true((info.wrong[0] == 0) == at_end);
            assert_true(info.wrong_at <= made.size);
            assert_int_equal(info.version, made.size >= FILE_HEADER_BYTES ? FILE_VERSION : 0);
        }
    }
}

/* Each byte that is another is found. In a journal's last record it may be a tail that is torn, before that never. */
static void each_byte_that_is_another_is_told(void **state)
{
    (void)state;
    make(FILE_JOURNAL, 3, 0);
    for (size_t i = 0; i < made.size; i++) {
        const bool tail = i >= FILE_HEADER_BYTES + 2 * RECORD;
        made.bytes[i] ^= 0x10;
        const reef_status s = look();
        assert_int_equal(s, tail ? REEF_OK : REEF_CORRUPT);
        assert_int_equal(info.torn, tail);
        assert_string_not_equal(info.wrong, "");
        assert_int_equal(info.bytes, i < FILE_HEADER_BYTES ? FILE_HEADER_BYTES : made.size);
        made.bytes[i] ^= 0x10;
    }
    assert_status(REEF_OK, look());
    /* Where it is: behind the head of a record comes the section of the time. */
    made.bytes[FILE_HEADER_BYTES + HEAD + 20] ^= 1;
    assert_status(REEF_CORRUPT, look());
    assert_string_equal(info.wrong, "a section is damaged: its checksum differs");
    assert_true(info.wrong_at > FILE_HEADER_BYTES + HEAD && info.wrong_at <= FILE_HEADER_BYTES + HEAD + TIME);
    assert_int_equal(info.records, 0);
}

static void records_in_wrong_places_are_refused(void **state)
{
    memory m;
    section_out o;
    (void)state;
    /* number 1 first; a whole record where a difference must be; the other way round; a second record in a file that
     * isn't a journal */
    static const struct {
        uint16_t file;
        uint64_t number;
        uint32_t first, second;
        const char *wrong;
    } cases[] = {
        {FILE_JOURNAL, 1, 0, 1, "a record is in the wrong place"},
        {FILE_JOURNAL, 0, 1, 1, "a record is in the wrong place"},
        {FILE_DIFFERENCE, 0, 0, 1, "a record is in the wrong place"},
        {0, 0, 0, 1, "bytes follow the only record"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(reef__memory_make(&m, &reef__memory_standard));
        made = (byte_file){.size = 0};
        reef__out_begin(&o, &m, (reef_writer){byte_file_write, &made});
        reef__out_header(&o, cases[i].file);
        record_put(&o, cases[i].number, cases[i].first, 0);
        record_put(&o, 1, cases[i].second, 0);
        reef__out_drop(&o);
        reef__memory_drop(&m);
        assert_status(REEF_CORRUPT, look());
        assert_non_null(strstr(info.wrong, cases[i].wrong));
        assert_false(info.torn);
    }
}

/* Where a record was appended without waiting for those before it, a hole before it is a torn end: it says so
 * itself. */
static void a_hole_before_records_that_did_not_wait_is_a_torn_end(void **state)
{
    memory m;
    section_out o;
    (void)state;
    for (uint32_t third = 0; third < 2; third++) {
        assert_true(reef__memory_make(&m, &reef__memory_standard));
        made = (byte_file){.size = 0};
        reef__out_begin(&o, &m, (reef_writer){byte_file_write, &made});
        reef__out_header(&o, FILE_JOURNAL);
        record_put(&o, 0, 0, 0);
        record_put(&o, 1, RECORD_DIFFERENCE | RECORD_UNSYNCED, 0);
        record_put(&o, 2, RECORD_DIFFERENCE | RECORD_UNSYNCED, 0);
        record_put(&o, 3, RECORD_DIFFERENCE | (third ? 0 : RECORD_UNSYNCED), 0);
        reef__out_drop(&o);
        reef__memory_drop(&m);
        assert_status(REEF_OK, look());
        assert_int_equal(info.records, 4);
        memset(made.bytes + FILE_HEADER_BYTES + RECORD + HEAD, 0, 20);
        assert_status(third ? REEF_CORRUPT : REEF_OK, look());
        assert_int_equal(info.torn, third == 0);
        assert_int_equal(info.records, 1);
    }
}

static void other_files_and_versions_are_refused(void **state)
{
    (void)state;
    made = (byte_file){.size = 1000};
    assert_status(REEF_CORRUPT, look());
    assert_string_equal(info.wrong, "this isn't a file of reef");
    assert_int_equal(info.version, 0);
    assert_int_equal(info.bytes, FILE_HEADER_BYTES);
    make(0, 1, 0);
    made.bytes[8] = 1;
    const uint64_t sum = reef__checksum_of(made.bytes, 16, 0);
    for (int i = 0; i < 8; i++) made.bytes[16 + i] = (unsigned char)(sum >> 8 * i);
    assert_status(REEF_VERSION, look());
    assert_string_equal(info.wrong, "the file has version 1, and only version 2 is known");
    assert_status(REEF_VERSION, look_at_path());
    make(0, 0, 0);
    assert_status(REEF_CORRUPT, look());
    assert_string_equal(info.wrong, "the file has no record");
}

/* Zeroes, as many as are asked for. */
static reef_status zeroes_read(void *context, void *bytes, size_t count, size_t *got)
{
    memset(bytes, 0, count);
    *got = count;
    *(uint64_t *)context += count;
    assert_true(*(uint64_t *)context < 1000);
    return REEF_OK;
}

/* /dev/zero has no end, and files with holes may be larger than anybody wants to read. */
static void what_has_no_header_is_left_unread(void **state)
{
    uint64_t zeroes = 0;
    (void)state;
    assert_status(REEF_CORRUPT, reef_file_check_from((reef_reader){zeroes_read, &zeroes}, NULL, &info));
    assert_string_equal(info.wrong, "this isn't a file of reef");
    assert_int_equal(info.bytes, zeroes);
}

/* What follows a damage is read only in a journal; how large the file is follows from the system. */
static void of_a_damaged_world_the_whole_size_is_told(void **state)
{
    (void)state;
    make(0, 1, 3);
    made.bytes[FILE_HEADER_BYTES + HEAD + 20] ^= 1;
    assert_status(REEF_CORRUPT, look());
    assert_int_equal(info.bytes, made.size);
    assert_status(REEF_CORRUPT, look_at_path());
    make(FILE_JOURNAL, 1, 3);
    made.bytes[FILE_HEADER_BYTES + HEAD + 20] ^= 1;
    assert_status(REEF_CORRUPT, look());
    assert_int_equal(info.bytes, made.size);
    assert_status(REEF_CORRUPT, look_at_path());
}

static void what_the_reader_answers_is_answered(void **state)
{
    (void)state;
    make(FILE_JOURNAL, 2, 0);
    made.fails = true;
    made.size -= 10;
    assert_status(REEF_CANCELLED, look());
    assert_int_equal(info.records, 1);
    memset(&info, 0xFF, sizeof info); /* it is always set */
    assert_status(REEF_BAD_ARGUMENT, reef_file_check_from((reef_reader){NULL, NULL}, NULL, &info));
    assert_true(info.version == 0 && info.bytes == 0 && info.part_count == 0 && info.wrong[0] == 0);
    assert_status(REEF_BAD_ARGUMENT, reef_file_check_from((reef_reader){byte_file_read, &made}, NULL, NULL));
    memset(&info, 0xFF, sizeof info);
    assert_status(REEF_BAD_ARGUMENT, reef_file_check(NULL, NULL, &info));
    assert_true(info.version == 0 && info.bytes == 0 && info.part_count == 0 && info.wrong[0] == 0);
    assert_status(REEF_BAD_ARGUMENT, reef_file_check(path, NULL, NULL));
    assert_status(REEF_IO, reef_file_check("no such folder/no file", NULL, &info));
    assert_non_null(strstr(info.wrong, "no such folder/no file"));
    assert_int_equal(info.bytes, 0);
}

/* Each allocation fails in its turn: NO_MEMORY, and everything is given back. A section as long as it likes takes no
 * more than the file. */
static void no_memory_is_answered(void **state)
{
    heap h = {0};
    (void)state;
    const reef_allocator allocator = heap_allocator(&h);
    make(0, 1, 7);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(made.bytes, 1, made.size, f), made.size);
    assert_int_equal(fclose(f), 0);
    uint64_t failed = 0;
    for (;; failed++) {
        heap_fail_nth(&h, failed + 1, false);
        const reef_status s = reef_file_check(path, &allocator, &info);
        assert_int_equal(h.blocks, 0);
        if (s == REEF_OK) break;
        assert_status(REEF_NO_MEMORY, s);
        assert_string_not_equal(info.wrong, "");
    }
    heap_fail_never(&h);
    assert_int_equal(failed, 2); /* the file's buffer, and that of sections */
    assert_null(h.mistake);
    assert_int_equal(remove(path), 0);
}

/* ---- a journal as reef writes it ---- */

typedef struct {
    int32_t n;
} Count;
REEF_COMPONENT(Count);
REEF_FIELDS(Count, n);

static void journal_make(reef_world *w)
{
    reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.fresh = true});
    assert_non_null(j);
    for (int i = 0; i < 2; i++) {
        (void)reef_spawn(w, reef_with(Count, i));
        assert_ok(reef_journal_append(j));
    }
    reef_journal_close(j);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    made = (byte_file){.size = 0};
    made.size = fread(made.bytes, 1, sizeof made.bytes, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(remove(path), 0);
}

static void tail_noted(void *context, const reef_load_note *note)
{
    if (note->kind == REEF_NOTE_TAIL_CUT) *(uint64_t *)context = note->rows;
}

/* The look at the frame and the loader say the same of a file: sound, torn at the same place, or damaged. */
static void same_as_loading(reef_world *w)
{
    uint64_t cut = 0;
    const reef_load_desc desc = {.note = tail_noted, .context = &cut};
    const reef_status seen = look(), loaded = reef_load_bytes(w, made.bytes, made.size, &desc);
    assert_int_equal(seen, loaded);
    assert_int_equal(info.torn, cut != 0);
    if (seen == REEF_OK) assert_int_equal(info.bytes - info.sound_bytes, cut);
}

static void the_look_and_the_loader_agree(void **state)
{
    reef_world *w = world_of(state), *to = another_world(state, NULL);
    journal_make(w);
    const size_t whole = made.size, step = 5;
    same_as_loading(to);
    assert_int_equal(info.records, 3);
    assert_true(reef_hash(w) == reef_hash(to));
    for (made.size = 0; made.size < whole; made.size += step) same_as_loading(to);
    made.size = whole;
    for (size_t i = 0; i < whole; i += step) {
        made.bytes[i] ^= 0x40;
        same_as_loading(to);
        made.bytes[i] ^= 0x40;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_told_of),
        cmocka_unit_test(each_flag_is_told),
        cmocka_unit_test(each_cut_is_told),
        cmocka_unit_test(each_byte_that_is_another_is_told),
        cmocka_unit_test(records_in_wrong_places_are_refused),
        cmocka_unit_test(a_hole_before_records_that_did_not_wait_is_a_torn_end),
        cmocka_unit_test(other_files_and_versions_are_refused),
        cmocka_unit_test(what_has_no_header_is_left_unread),
        cmocka_unit_test(of_a_damaged_world_the_whole_size_is_told),
        cmocka_unit_test(what_the_reader_answers_is_answered),
        TEST(the_look_and_the_loader_agree),
        cmocka_unit_test(no_memory_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
