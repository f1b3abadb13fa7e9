/* The frame of files: sums, the chain, pieces, and what a reader refuses. */
#include "base/checksum.h"
#include "byte_file.h"
#include "file/section.h"

static byte_file made;
static memory memory_used;

/* Three sections: small things, one of several pieces, an empty one. */
static void make(void)
{
    static unsigned char block[5000];
    section_out o;
    for (size_t i = 0; i < sizeof block; i++) block[i] = (unsigned char)(i * 7);
    made = (byte_file){.size = 0};
    reef__out_begin(&o, &memory_used, (reef_writer){byte_file_write, &made});
    reef__out_header(&o, FILE_JOURNAL);
    reef__section_begin(&o, SECTION_TIME);
    reef__put_u8(&o, 200), reef__put_u16(&o, 60000), reef__put_u32(&o, 4000000000u), reef__put_u64(&o, 1ull << 63 | 5),
        reef__put_f64(&o, -2.5);
    reef__put_handle(&o, (reef_entity){7, 9}), reef__put_text(&o, "Alice"), reef__put_text(&o, NULL);
    reef__section_end(&o);
    reef__section_begin(&o, SECTION_ROWS);
    reef__put_u32(&o, 1);
    reef__put_block(&o, block, sizeof block);
    const size_t later = reef__put_later(&o);
    reef__put_block(&o, block, 10);
    reef__put_block(&o, block, 2000);
    reef__put_now(&o, later, 42);
    reef__section_end(&o);
    reef__section_begin(&o, SECTION_DONE);
    reef__section_end(&o);
    assert_int_equal(o.status, REEF_OK);
    assert_int_equal(o.sections, 3);
    assert_int_equal(o.bytes, made.size);
    reef__out_drop(&o);
}

/* Reads it all: true if nothing is wrong. */
static bool read_all(section_in *in)
{
    char text[16];
    uint16_t flags = 0;
    if (!reef__in_header(in, &flags)) return false;
    uint32_t sections = 0;
    while (reef__section_next(in)) {
        sections++;
        if (in->kind == SECTION_TIME) {
            assert_int_equal(*reef__get_bytes(in, 1), 200), assert_int_equal(reef__get_u16(in), 60000),
                assert_int_equal(reef__get_u32(in), 4000000000u);
            assert_true(reef__get_u64(in) == (1ull << 63 | 5)), assert_true(reef__get_f64(in) == -2.5);
            assert_true(reef_entity_equal(reef__get_handle(in), (reef_entity){7, 9}));
            assert_true(reef__get_text(in, text, 5)), assert_string_equal(text, "Alice");
            assert_true(reef__get_text(in, text, 5)), assert_string_equal(text, "");
        } else if (in->kind == SECTION_ROWS) {
            assert_int_equal(reef__get_u32(in), 1);
            const unsigned char *p = reef__get_bytes(in, 5000);
            assert_non_null(p), assert_int_equal(p[4999], (4999 * 7) & 255);
            assert_int_equal(reef__get_u32(in), 42);
            assert_int_equal(reef__get_bytes(in, 10)[9], 63);
            assert_int_equal(reef__get_bytes(in, 2000)[1999], (1999 * 7) & 255);
        } else assert_int_equal(in->kind, SECTION_DONE);
        assert_true(reef__section_taken(in));
    }
    return in->status == REEF_OK && sections == 3 && flags == FILE_JOURNAL;
}

static reef_status read_file(const byte_file *f, bool streamed)
{
    section_in in;
    static byte_file copy;
    copy = *f;
    if (streamed) reef__in_begin(&in, &memory_used, (reef_reader){byte_file_read, &copy}, UINT64_MAX);
    else reef__in_begin_memory(&in, &memory_used, f->bytes, f->size);
    const bool ok = read_all(&in);
    const reef_status s = in.status;
    reef__in_drop(&in);
    if (!ok) return s == REEF_OK ? REEF_ABSENT : s; /* ABSENT: sound, but sections are missing */
    return s;
}

static void xxh64_is_the_one_that_everybody_has(void **state)
{
    (void)state;
    unsigned char bytes[101];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    assert_true(reef__checksum_of("", 0, 0) == 0xEF46DB3751D8E999u);
    assert_true(reef__checksum_of("a", 1, 0) == 0xD24EC4F1A98C6E5Bu);
    assert_true(reef__checksum_of("abc", 3, 0) == 0x44BC2CF5AD770999u);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) { /* in two pieces it is the same */
        checksum c;
        reef__checksum_begin(&c, 12345);
        reef__checksum_add(&c, bytes, cut);
        reef__checksum_add(&c, bytes + cut, sizeof bytes - cut);
        assert_true(reef__checksum_end(&c) == reef__checksum_of(bytes, sizeof bytes, 12345));
    }
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    make();
    assert_int_equal(read_file(&made, false), REEF_OK);
    assert_int_equal(read_file(&made, true), REEF_OK);
}

static void each_byte_that_is_another_is_found(void **state)
{
    (void)state;
    make();
    for (size_t i = 0; i < made.size; i += i < 200 ? 1 : 61) {
        made.bytes[i] ^= (unsigned char)(1u << i % 8);
        const reef_status s = read_file(&made, i % 2);
        assert_true(s == REEF_CORRUPT);
        made.bytes[i] ^= (unsigned char)(1u << i % 8);
    }
}

static void each_cut_is_found(void **state)
{
    (void)state;
    make();
    const byte_file whole = made;
    for (size_t size = 0; size < whole.size; size += size < 200 ? 1 : 61) {
        made.size = size;
        assert_int_equal(read_file(&made, size % 2),
                         size == FILE_HEADER_BYTES ||
                                 size == FILE_HEADER_BYTES + SECTION_HEAD_BYTES + 40 + SECTION_SUM_BYTES
                             ? REEF_ABSENT
                             : REEF_CORRUPT);
    }
}

static void sections_in_another_order_are_found(void **state)
{
    (void)state;
    make();
    enum { FIRST = SECTION_HEAD_BYTES + 40 + SECTION_SUM_BYTES };
    byte_file other = made; /* the first one twice */
    memcpy(other.bytes + FILE_HEADER_BYTES + FIRST, made.bytes + FILE_HEADER_BYTES, made.size - FILE_HEADER_BYTES);
    other.size += FIRST;
    assert_int_equal(read_file(&other, false), REEF_CORRUPT);
    other = made; /* not at all */
    memmove(other.bytes + FILE_HEADER_BYTES, made.bytes + FILE_HEADER_BYTES + FIRST,
            made.size - FILE_HEADER_BYTES - FIRST);
    other.size -= FIRST;
    assert_int_equal(read_file(&other, false), REEF_CORRUPT);
}

/* A length that lies takes no more memory than what came, in a stream whose size nobody knows. */
static void a_length_that_lies_costs_nothing(void **state)
{
    (void)state;
    make();
    unsigned char *head = made.bytes + FILE_HEADER_BYTES;
    const uint64_t chain = reef__checksum_of(made.bytes, 16, 0);
    memset(head + 4, 0xFF, 7);
    head[11] = 0x7F;
    const uint64_t h = reef__checksum_of(head, 12, chain);
    for (int i = 0; i < 4; i++) head[12 + i] = (unsigned char)(h >> 8 * i);
    const uint64_t before = memory_used.bytes;
    assert_int_equal(read_file(&made, true), REEF_CORRUPT);
    assert_int_equal(read_file(&made, false), REEF_CORRUPT);
    assert_true(memory_used.bytes == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh64_is_the_one_that_everybody_has), cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(each_byte_that_is_another_is_found),  cmocka_unit_test(each_cut_is_found),
        cmocka_unit_test(sections_in_another_order_are_found), cmocka_unit_test(a_length_that_lies_costs_nothing),
    };
    if (!reef__memory_make(&memory_used, &reef__memory_standard)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    reef__memory_drop(&memory_used);
    return failed;
}
