/* The add-on reef_zstd: what was saved is loaded, and everything that isn't exactly one whole frame is refused. */
#include "reef_zstd.h"
#include "support.h"
#include <zstd.h>

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);

typedef struct bytes {
    unsigned char data[1 << 18];
    size_t size, at, limit; /* limit: of what can be written, 0: none */
} bytes;

static bytes pressed;
static const char path[] = "test_zstd.reef.zst";

static reef_status bytes_write(void *context, const void *from, size_t count)
{
    bytes *b = context;
    if (count > (b->limit ? b->limit : sizeof b->data) - b->size) return REEF_LIMIT;
    memcpy(b->data + b->size, from, count);
    b->size += count;
    return REEF_OK;
}

static reef_status bytes_read(void *context, void *to, size_t count, size_t *got)
{
    bytes *b = context;
    *got = count < b->size - b->at ? count : b->size - b->at;
    memcpy(to, b->data + b->at, *got);
    b->at += *got;
    return REEF_OK;
}

/* 3,000 entities, some with names. */
static void fill(reef_world *w)
{
    char name[16];
    for (int i = 0; i < 3000; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Place, (float)i, 2), reef_tag(Frozen));
        if (i % 100) continue;
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(reef_set_name(w, e, name));
    }
}

static reef_status load(reef_world *w, char *reason)
{
    pressed.at = 0;
    return reef_zstd_load_from(w, (reef_reader){bytes_read, &pressed}, NULL, reason);
}

static void what_was_saved_is_loaded_at_every_level(void **state)
{
    reef_world *w = world_of(state), *to = another_world(state, NULL);
    char reason[REEF_DETAIL_MAX];
    reef_bytes plain;
    fill(w);
    assert_ok(reef_save_bytes(w, &plain, NULL));
    static const int levels[] = {-5, 0, 3, 9, 1000000, -2000000000};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        pressed.size = 0;
        assert_ok(reef_zstd_save_to(w, (reef_writer){bytes_write, &pressed}, NULL, levels[i], reason));
        assert_string_equal(reason, "");
        assert_true(levels[i] < 0 || pressed.size < plain.size);
        assert_ok(reef_world_clear(to));
        assert_ok(load(to, reason));
        assert_string_equal(reason, "");
        assert_true(reef_hash(to) == reef_hash(w));
    }
    /* It is the plain file, compressed. */
    unsigned char *back = malloc(plain.size + 1);
    assert_non_null(back);
    assert_int_equal(ZSTD_decompress(back, plain.size + 1, pressed.data, pressed.size), plain.size);
    assert_memory_equal(back, plain.data, plain.size);
    free(back);
    reef_bytes_free(&plain);
}

static void files_are_replaced_in_one_step(void **state)
{
    reef_world *w = world_of(state), *to = another_world(state, NULL);
    char reason[REEF_DETAIL_MAX];
    const reef_save_desc desc = {.unsynced = true};
    fill(w);
    assert_ok(reef_zstd_save(w, path, &desc, 3, reason));
    const uint64_t hash = reef_hash(w);
    (void)reef_spawn(w, reef_with(Place, 7, 7));
    /* A save that fails leaves the old file. */
    reef_block b = reef_begin_text(w, "Place");
    assert_status(REEF_LOCKED, reef_zstd_save(w, path, &desc, 3, reason));
    reef_end(&b);
    assert_ok(reef_zstd_load(to, path, NULL, reason));
    assert_true(reef_hash(to) == hash);
    assert_ok(reef_zstd_save(w, path, NULL, 3, NULL));
    assert_ok(reef_zstd_load(to, path, NULL, NULL));
    assert_true(reef_hash(to) == reef_hash(w));
    assert_int_equal(remove(path), 0);
    assert_status(REEF_IO, reef_zstd_load(to, path, NULL, reason));
    assert_non_null(strstr(reason, path));
    assert_status(REEF_IO, reef_zstd_save(w, "no such folder/file", &desc, 3, reason));
    assert_non_null(strstr(reason, "no such folder"));
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_load(to, NULL, NULL, reason));
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_save(w, NULL, NULL, 3, reason));
    assert_true(reef_hash(to) == reef_hash(w));
}

/* A file that was cut, one with a byte that is another, one with more behind it: the world is as before. */
static void what_is_no_whole_frame_is_refused(void **state)
{
    reef_world *w = world_of(state), *to = another_world(state, NULL);
    char reason[REEF_DETAIL_MAX];
    fill(w);
    (void)reef_spawn(to, reef_with(Place, 7, 7));
    const uint64_t hash = reef_hash(to);
    pressed.size = 0;
    assert_ok(reef_zstd_save_to(w, (reef_writer){bytes_write, &pressed}, NULL, 3, reason));
    const size_t whole = pressed.size, step = whole / 40;
    reef_bytes before;
    int same = 0;
    assert_ok(reef_save_bytes(to, &before, NULL));
    for (size_t left = 1; left <= whole; left += left < 16 ? 1 : step) {
        pressed.size = whole - left;
        assert_status(REEF_CORRUPT, load(to, reason));
        assert_string_not_equal(reason, "");
        pressed.size = whole;
        pressed.data[whole - left] ^= 0x20;
        const reef_status s = load(to, reason);
        pressed.data[whole - left] ^= 0x20;
        /* where zstd repeats bytes, another bit may repeat the same bytes from elsewhere; nothing is wrong then */
        if (s != REEF_OK) assert_int_equal(s, REEF_CORRUPT);
        assert_true(reef_hash(to) == (s == REEF_OK ? reef_hash(w) : hash));
        same += s == REEF_OK;
        if (s == REEF_OK) assert_ok(reef_load_bytes(to, before.data, before.size, NULL));
    }
    assert_in_range(same, 0, 4);
    reef_bytes_free(&before);
    pressed.data[pressed.size++] = 0;
    assert_status(REEF_CORRUPT, load(to, reason));
    assert_string_equal(reason, "something follows behind the frame of zstd");
    memcpy(pressed.data, "no frame", 8);
    assert_status(REEF_CORRUPT, load(to, reason));
    assert_string_equal(reason, "this is no frame of zstd");
    assert_true(reef_hash(to) == hash);
}

/* A frame that asks for a window of 16 MiB is refused before anything is taken for it. */
static void a_frame_that_asks_for_much_memory_is_refused(void **state)
{
    static const unsigned char head[] = {0x28, 0xB5, 0x2F, 0xFD, 0x04, 14 << 3, 0x01, 0x00, 0x00, 0, 0, 0, 0};
    char reason[REEF_DETAIL_MAX];
    memcpy(pressed.data, head, sizeof head);
    pressed.size = sizeof head;
    assert_status(REEF_CORRUPT, load(world_of(state), reason));
    assert_string_equal(reason, "the frame of zstd asks for too much memory");
    pressed.data[5] = 13 << 3; /* 8 MiB: only its sum is wrong */
    assert_status(REEF_CORRUPT, load(world_of(state), reason));
    assert_string_equal(reason, "the frame of zstd is damaged");
}

static void what_the_inner_stream_answers_is_answered(void **state)
{
    reef_world *w = world_of(state);
    char reason[REEF_DETAIL_MAX];
    fill(w);
    pressed = (bytes){.limit = 100};
    assert_status(REEF_LIMIT, reef_zstd_save_to(w, (reef_writer){bytes_write, &pressed}, NULL, 3, reason));
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_save_to(w, (reef_writer){NULL, NULL}, NULL, 3, reason));
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_load_from(w, (reef_reader){NULL, NULL}, NULL, reason));
    assert_null(reef_zstd_out_new((reef_writer){NULL, NULL}, 3));
    assert_null(reef_zstd_in_new((reef_reader){NULL, NULL}));
    reef_zstd_out_free(NULL);
    reef_zstd_in_free(NULL);
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_out_end(NULL));
}

/* The streams alone: bytes in pieces of all sizes, and nothing behind the end. */
static void streams_take_bytes_of_any_kind(void **state)
{
    static unsigned char text[200000], back[sizeof text + 1];
    size_t got, all = 0;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)(i * i >> 5);
    pressed = (bytes){.size = 0};
    reef_zstd_out *o = reef_zstd_out_new((reef_writer){bytes_write, &pressed}, 5);
    assert_non_null(o);
    const reef_writer writer = reef_zstd_writer(o);
    for (size_t at = 0, n = 0; at < sizeof text; at += n, n++) {
        n = n < sizeof text - at ? n : sizeof text - at;
        assert_ok(writer.write(writer.context, text + at, n));
    }
    assert_ok(reef_zstd_out_end(o));
    assert_status(REEF_BAD_ARGUMENT, reef_zstd_out_end(o));
    assert_status(REEF_BAD_ARGUMENT, writer.write(writer.context, text, 1));
    reef_zstd_out_free(o);
    reef_zstd_in *i = reef_zstd_in_new((reef_reader){bytes_read, &pressed});
    assert_non_null(i);
    const reef_reader reader = reef_zstd_reader(i);
    for (size_t n = 1; all < sizeof text; n++, all += got) {
        assert_ok(reader.read(reader.context, back + all, n, &got));
        assert_int_equal(got, n < sizeof text - all ? n : sizeof text - all);
    }
    assert_ok(reader.read(reader.context, back + all, 1, &got));
    assert_int_equal(got, 0);
    assert_memory_equal(text, back, sizeof text);
    assert_string_equal(reef_zstd_in_reason(i), "");
    reef_zstd_in_free(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_saved_is_loaded_at_every_level),   TEST(files_are_replaced_in_one_step),
        TEST(what_is_no_whole_frame_is_refused),         TEST(a_frame_that_asks_for_much_memory_is_refused),
        TEST(what_the_inner_stream_answers_is_answered), TEST(streams_take_bytes_of_any_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
