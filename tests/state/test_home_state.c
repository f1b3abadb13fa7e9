/* Values outside of the rows as state: forks, snapshots, histories, the hash, inspection, and what a call that fails
 * leaves as it was. Each test goes through all homes, the table among them, as those of tests/unit/type/test_home.c
 * do. */
#include "homes.h"

/* ---- worlds as values ---- */

static void forks_and_snapshots_have_values_of_their_own(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 400 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e[N];
        people_make(w, e, N, c);
        const uint64_t before = digest(w), hash = reef_hash(w);
        reef_snapshot *s = reef_snapshot_take(w);
        reef_world *fork = reef_fork(w);
        for (uint32_t i = 0; i < N; i += 4) number_set(w, e[i], c, -1);
        for (uint32_t i = 2; i < N; i += 4) assert_ok(reef_remove_id(w, e[i], c));
        for (uint32_t i = 1; i < N; i += 2)
            assert_ok(i % 3 ? reef_destroy(w, e[i]) : reef_add_id(w, e[i], c, NULL, NULL));
        assert_true(reef_hash(w) != hash);
        assert_true(digest(fork) == before);
        assert_true(reef_hash(fork) == hash);
        assert_valid(fork);
        assert_valid(w);
        for (uint32_t i = 0; i < N; i++) assert_ok(reef_destroy(fork, e[i])); /* the other side lets go */
        assert_valid(fork);
        reef_world_free(fork);
        assert_ok(reef_restore(w, s));
        assert_true(digest(w) == before);
        assert_true(reef_hash(w) == hash);
        assert_true(hash_anew(w) == hash);
        assert_valid(w);
        number_set(w, e[0], c, 4);
        assert_int_equal(number_of(w, e[2], c), 2);
        reef_world *second = reef_snapshot_fork(s);
        assert_true(digest(second) == before);
        reef_snapshot_free(s);
        assert_valid(second);
        assert_true(reef_hash(second) == hash);
        reef_world_free(second);
        assert_int_equal(number_of(w, e[0], c), 4);
        end_world(state, w);
    }
}

static void shared_values_are_copied_and_destroyed_once(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 100 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Tracked", sizeof(Tracked), 4, &tracked_hooks);
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) {
            e[i] = reef_create(w);
            assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
        }
        reef_world *fork = reef_fork(w);
        reef_snapshot *s = reef_snapshot_take(w);
        assert_int_equal(book.live, N); /* nobody wrote */
        number_set(fork, e[3], c, 5);
        assert_true(book.live > N);
        assert_true(book.live <= 2 * N);
        assert_valid(fork);
        assert_ok(reef_destroy(w, e[3]));
        assert_ok(reef_remove_id(w, e[4], c));
        assert_int_equal(number_of(fork, e[3], c), 5);
        end_world(state, w);
        assert_valid(fork);
        assert_ok(reef_restore(fork, s));
        assert_int_equal(book.live, N);
        reef_snapshot_free(s);
        book.fail_copy = 2; /* the world has become the only holder: nothing is copied */
        number_set(fork, e[0], c, 6);
        book.fail_copy = 0;
        s = reef_snapshot_take(fork);
        book.fail_copy = homes[h].page_rows == 1 ? 1 : 2;
        book.fail_status = REEF_NO_MEMORY;
        assert_no_pointer(fork, REEF_NO_MEMORY, reef_mut_id(fork, e[1], c));
        assert_int_equal(reef_last_error(fork).component.id, c.id);
        assert_int_equal(book.live, N);
        reef_world_free(fork);
        reef_snapshot_free(s);
        assert_null(book.mistake);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

static void what_cant_be_copied_refuses_a_fork_by_name(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component u = type_sized(h, "Unique", sizeof(Unique), 4, &unique_hooks);
        reef_entity e = reef_create(w);
        assert_ok(reef_add_id(w, e, u, NULL, NULL));
        assert_no_pointer(w, REEF_NOT_COPYABLE, reef_fork(w));
        assert_int_equal(reef_last_error(w).component.id, u.id);
        assert_no_pointer(w, REEF_NOT_COPYABLE, reef_snapshot_take(w));
        assert_int_equal(reef_last_error(w).component.id, u.id);
        assert_ok(reef_remove_id(w, e, u));
        reef_world *fork = reef_fork(w);
        assert_non_null(fork);
        reef_world_free(fork);
        end_world(state, w);
    }
}

static void types_that_forks_reset_or_skip_do_so_in_every_home(void **state)
{
    reef_hooks sound = unique_hooks, reset = {.on_fork = REEF_FORK_RESET}, skip = {.on_fork = REEF_FORK_SKIP};
    sound.on_fork = REEF_FORK_SKIP;
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 60 };
        reef_world *w = another_world(state, NULL);
        const reef_component types[3] = {type_sized(h, "Sound", sizeof(Unique), 4, &sound),
                                         type_sized(h, "Reset", 8, 4, &reset), type_sized(h, "Skip", 8, 4, &skip)};
        const int32_t standard[3] = {100, 0, 0};
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) {
            e[i] = reef_create(w);
            for (uint32_t k = 0; k < 3; k++) {
                assert_ok(reef_add_id(w, e[i], types[k], NULL, NULL));
                number_set(w, e[i], types[k], (int32_t)i + 1000);
            }
        }
        const uint64_t before = digest(w), hash = reef_hash(w);
        reef_world *fork = reef_fork(w);
        reef_snapshot *s = reef_snapshot_take(w);
        assert_non_null(fork);
        assert_non_null(s);
        assert_true(digest(w) == before);
        assert_true(reef_hash(fork) == hash); /* their values don't count */
        assert_valid(fork);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t k = 0; k < 3; k++) assert_int_equal(number_of(fork, e[i], types[k]), standard[k]);
        number_set(fork, e[1], types[0], 5);
        number_set(w, e[2], types[1], 6);
        reef_world *second = reef_fork(fork);
        assert_int_equal(number_of(second, e[1], types[0]), 100);
        number_set(second, e[1], types[0], 8);
        assert_int_equal(number_of(fork, e[1], types[0]), 5);
        reef_world_free(second);
        assert_ok(reef_destroy(w, e[5]));
        assert_ok(reef_restore(w, s));
        assert_valid(w);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(number_of(w, e[i], types[0]), i == 5 ? 100 : (int32_t)i + 1000); /* a sound goes on */
            assert_int_equal(number_of(w, e[i], types[1]), 0);
            assert_int_equal(number_of(w, e[i], types[2]), i == 5 ? 0 : (int32_t)i + 1000);
        }
        assert_ok(reef_restore(w, s)); /* and again, from values that are partly the snapshot's */
        assert_int_equal(number_of(w, e[6], types[0]), 1006);
        number_set(w, e[5], types[0], 3);
        assert_valid(w);
        book.fail_construct = homes[h].page_rows == 1 ? 1 : 3;
        book.fail_status = REEF_NO_MEMORY;
        const uint64_t live = book.live, now = digest(w);
        assert_no_pointer(w, REEF_NO_MEMORY, reef_snapshot_take(w));
        assert_int_equal(reef_last_error(w).component.id, types[0].id);
        assert_int_equal(book.live, live);
        assert_true(digest(w) == now);
        reef_snapshot_free(s);
        reef_world_free(fork);
        end_world(state, w);
        assert_null(book.mistake);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

/* One of two pages is written between forks, again and again: the other one is still shared with the snapshot. */
static void forks_dont_forget_what_a_snapshot_holds(void **state)
{
    static const reef_hooks reset = {.on_fork = REEF_FORK_RESET};
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 40 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Reset", 8, 4, &reset);
        reef_entity e[N];
        people_make(w, e, N, c);
        reef_snapshot *s = reef_snapshot_take(w);
        assert_ok(reef_restore(w, s));
        for (uint32_t k = 0; k < N; k++) {
            number_set(w, e[0], c, (int32_t)k + 1);
            reef_world *fork = reef_fork(w);
            assert_int_equal(number_of(fork, e[0], c), 0);
            reef_world_free(fork);
        }
        for (uint32_t i = 0; i < N; i += 2) number_set(w, e[i], c, 5);
        reef_world *then = reef_snapshot_fork(s);
        for (uint32_t i = 0; i < N; i += 2) assert_int_equal(number_of(then, e[i], c), 0);
        reef_world_free(then);
        reef_snapshot_free(s);
        end_world(state, w);
    }
}

/* ---- going back ---- */

enum { PLAYERS = 50 };

typedef struct play {
    reef_component plain, tracked, skip;
    int32_t noise; /* != 0: the step isn't deterministic */
} play;

static reef_status play_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    play *p = context;
    uint64_t seed = tick + 7;
    (void)input, (void)bytes;
    for (uint32_t i = 0; i < 30; i++) {
        const reef_entity e = reef_entity_at(w, random_below(&seed, PLAYERS));
        const int32_t value[2] = {(int32_t)(tick * 100 + i), 1};
        reef_status s = REEF_OK;
        switch (random_below(&seed, 7)) {
        case 0: s = reef_destroy(w, e); break;
        case 1: s = reef_entity_is_null(reef_create(w)) ? REEF_NO_MEMORY : REEF_OK; break;
        case 2:
            s = reef_has_id(w, e, p->tracked) ? reef_remove_id(w, e, p->tracked)
                                              : reef_add_id(w, e, p->tracked, NULL, NULL);
            break;
        case 3: s = reef_has_id(w, e, p->plain) ? reef_remove_id(w, e, p->plain) : REEF_OK; break;
        case 4: s = reef_has_id(w, e, p->skip) ? REEF_OK : reef_add_id(w, e, p->skip, NULL, NULL); break;
        default: s = reef_set_id(w, e, p->plain, value, sizeof value);
        }
        if (s < REEF_OK && s != REEF_NOT_ALIVE) return s;
    }
    const reef_entity last = reef_entity_at(w, PLAYERS + 1);
    if (p->noise) number_set(w, last, p->plain, p->noise++);
    return REEF_OK;
}

static void play_begin(reef_world *w, play *p, uint32_t h)
{
    static const reef_hooks skip = {.on_fork = REEF_FORK_SKIP};
    /* the ticket is another one each time */
    static const reef_field value[] = {REEF_FIELDS_OF(Tracked, value)};
    *p = (play){plain_in(h), type_sized(h, "Owner", sizeof(Tracked), 4, &tracked_hooks),
                type_sized(h, "Skip", 8, 4, &skip), 0};
    assert_ok(reef_type_describe(p->tracked, value, 1));
    for (uint32_t i = 0; i < PLAYERS + 2; i++) {
        const reef_entity e = reef_create(w);
        assert_ok(reef_add_id(w, e, p->plain, NULL, NULL));
        if (i % 3 == 0) assert_ok(reef_add_id(w, e, p->tracked, NULL, NULL));
    }
}

static void a_history_brings_values_of_every_home_back(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { TICKS = 30 };
        uint64_t hashes[TICKS + 1];
        play p;
        reef_world *w = another_world(state, NULL);
        play_begin(w, &p, h);
        reef_history *history = reef_history_new(
            w, &(reef_history_config){.ticks = TICKS, .bytes = 8 << 20, .step = play_step, .context = &p});
        for (uint32_t t = 0; t < TICKS; t++) {
            hashes[t] = reef_hash(w);
            assert_ok(reef_history_step(history, NULL, 0));
        }
        hashes[TICKS] = reef_hash(w);
        for (uint32_t t = TICKS; t-- > 0;) {
            const uint32_t to = t * 7 % TICKS;
            assert_ok(reef_history_rewind(history, to));
            assert_true(reef_hash(w) == hashes[to]);
            assert_true(hash_anew(w) == hashes[to]);
            assert_valid(w);
        }
        assert_ok(reef_history_replay(history, TICKS));
        assert_true(reef_hash(w) == hashes[TICKS]);
        assert_true(reef_history_reach(history).bytes > 1000);
        reef_history_free(history);
        assert_valid(w);
        end_world(state, w);
        assert_null(book.mistake);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

static void a_synctest_names_component_and_entity_in_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        play p;
        reef_desync report;
        reef_world *w = another_world(state, NULL);
        play_begin(w, &p, h);
        assert_ok(reef_synctest(
            w, &(reef_synctest_config){.ticks = 12, .distance = 3, .step = play_step, .context = &p}, &report));
        p.noise = 1000;
        const reef_entity last = reef_entity_at(w, PLAYERS + 1);
        assert_status(
            REEF_DESYNC,
            reef_synctest(w, &(reef_synctest_config){.ticks = 12, .distance = 3, .step = play_step, .context = &p},
                          &report));
        assert_int_equal(report.difference.component.id, p.plain.id);
        assert_entity(report.difference.entity, last);
        char text[300];
        (void)reef_difference_text(&report.difference, text, sizeof text);
        assert_non_null(strstr(text, reef_type_name(p.plain)));
        end_world(state, w);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

/* ---- the hash ---- */

static void the_hash_knows_values_but_not_where_they_lie(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 300 };
        reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) {
            e[i] = reef_spawn(w, reef_with(Mass, i));
            assert_entity(reef_spawn(other, reef_with(Mass, i)), e[i]);
        }
        for (uint32_t i = 0; i < N; i++) { /* in another order; then in the same rows */
            const int32_t value[2] = {(int32_t)i, 1}, mirror[2] = {N - 1 - (int32_t)i, 1};
            assert_status(REEF_ADDED, reef_set_id(w, e[i], c, value, sizeof value));
            assert_status(REEF_ADDED, reef_set_id(other, e[N - 1 - i], c, mirror, sizeof mirror));
        }
        for (uint32_t i = 0; i < N; i += 7) {
            assert_ok(reef_remove_id(w, e[i], c));
            assert_ok(reef_remove_id(other, e[i], c));
        }
        assert_ok(reef_sort_storage(w, &(reef_sort){.types = NULL}));
        assert_ok(reef_sort_storage(other, &(reef_sort){.types = NULL}));
        reef_difference d;
        assert_true(reef_equal(w, other, &d));
        const uint64_t hash = reef_hash(w);
        assert_true(hash == reef_hash(other));
        assert_true(hash == hash_anew(w));
        number_set(other, e[100], c, -5);
        number_set(other, e[200], c, -5);
        assert_true(reef_hash(other) != hash);
        assert_true(reef_hash(other) == hash_anew(other));
        assert_false(reef_equal(w, other, &d));
        assert_int_equal(d.kind, homes[h].home == REEF_TABLE ? REEF_HASH_COLUMN : REEF_HASH_STORE);
        assert_int_equal(d.component.id, c.id);
        assert_entity(d.entity, e[100]);
        assert_entity(d.other, e[100]);
        number_set(other, e[100], c, 100);
        number_set(other, e[200], c, 200);
        assert_true(reef_hash(other) == hash);
        assert_ok(reef_remove_id(other, e[299], c)); /* the same values, but for who has one */
        assert_true(reef_hash(other) != hash);
        assert_false(reef_equal(w, other, &d));
        assert_false(reef_equal(other, w, &d));
        if (homes[h].home != REEF_TABLE) assert_int_equal(d.component.id, c.id);
        if (homes[h].home != REEF_TABLE) assert_entity(d.entity, e[299]);
        end_world(state, other);
        end_world(state, w);
    }
}

typedef struct parts {
    reef_component component;
    uint64_t hash, rows; /* of REEF_HASH_TYPE */
    uint32_t stores;
} parts;

static bool part_seen(void *context, const reef_hash_part *part)
{
    parts *p = context;
    if (part->component.id != p->component.id) return true;
    p->stores += part->kind == REEF_HASH_STORE;
    if (part->kind == REEF_HASH_TYPE) p->hash = part->hash, p->rows = part->rows;
    return true;
}

static void a_types_part_of_the_hash_tells_its_values(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e[50];
        people_make(w, e, 50, c);
        parts p = {.component = c}, same = {.component = c}, changed = {.component = c};
        assert_true(reef_hash_parts(w, part_seen, &p) == reef_hash(w));
        assert_int_equal(p.rows, 25);
        assert_int_equal(p.stores, homes[h].home != REEF_TABLE);
        *reef_mut(w, e[0], Mass) = (Mass){99};
        assert_true(reef_hash_parts(w, part_seen, &same) != 0);
        assert_true(same.hash == p.hash);
        number_set(w, e[4], c, 99);
        assert_true(reef_hash_parts(w, part_seen, &changed) != 0);
        assert_true(changed.hash != p.hash);
        end_world(state, w);
    }
}

/* Each byte of each value is compared, and counts as changed after it was written. */
static void every_byte_of_a_value_counts(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        static const uint32_t sizes[] = {1, 3, 8, 20, 64, 65, 200};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char name[16];
            (void)snprintf(name, sizeof name, "Bytes%u", sizes[k]);
            reef_world *w = another_world(state, NULL);
            const reef_component c = type_sized(h, name, sizes[k], 1, NULL);
            reef_entity e[3];
            for (uint32_t i = 0; i < 3; i++) {
                e[i] = reef_create(w);
                assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
            }
            const uint64_t hash = reef_hash(w);
            for (uint32_t at = 0; at < sizes[k]; at++) {
                unsigned char *p = reef_mut_id(w, e[1], c);
                p[at] ^= (unsigned char)(1u << at % 8);
                assert_true(reef_hash(w) != hash);
                p = reef_mut_id(w, e[1], c);
                p[at] ^= (unsigned char)(1u << at % 8);
                assert_true(reef_hash(w) == hash);
            }
            end_world(state, w);
        }
    }
}

static void fields_alone_count(void **state)
{
    typedef struct mixed {
        uint8_t kind;
        uint32_t number, hidden;
    } mixed;
    static const reef_field fields[] = {REEF_FIELDS_OF(mixed, number, kind)};
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Mixed", sizeof(mixed), 4, NULL);
        reef_entity e = reef_create(w);
        mixed *p = NULL;
        assert_ok(reef_add_id(w, e, c, NULL, (void **)&p));
        const uint64_t bytes = reef_hash(w);
        assert_ok(reef_type_describe(c, fields, 2));
        const uint64_t hash = reef_hash(w);
        assert_true(bytes != hash);
        p = reef_mut_id(w, e, c);
        p->hidden = 5;
        memset((char *)p + 1, 0x55, 3);
        assert_true(reef_hash(w) == hash);
        reef_world *fork = reef_fork(w);
        p = reef_mut_id(fork, e, c);
        p->hidden = 6;
        assert_true(reef_equal(w, fork, NULL));
        p->number = 6;
        assert_false(reef_equal(w, fork, NULL));
        reef_world_free(fork);
        end_world(state, w);
    }
}

/* ---- inspection ---- */

typedef struct visited {
    char text[4000];
    size_t length;
} visited;

static bool visit_name(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    visited *v = context;
    char name[64];
    (void)snprintf(name, sizeof name, "%s", reef_type_name(type));
    char *end = strchr(name, '_');
    if (end) *end = 0;
    v->length += (size_t)snprintf(v->text + v->length, sizeof v->text - v->length, "%u %s %zu %d, ", e.index, name,
                                  size, data ? *(const char *)data : -1);
    return true;
}

static void visiting_shows_every_home_by_name(void **state)
{
    static visited first[2], v[2];
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component a = type_sized(h, "Alpha", 8, 4, NULL), z = type_sized(h, "Zulu", 4, 4, NULL);
        reef_entity e[6];
        memset(v, 0, sizeof v);
        for (uint32_t i = 0; i < 6; i++) e[i] = reef_spawn(w, reef_with(Mass, i));
        for (uint32_t i = 6; i-- > 0;) { /* all end in one table or none */
            assert_ok(reef_add_id(w, e[i], z, NULL, NULL));
            assert_ok(reef_add_id(w, e[i], a, NULL, NULL));
            number_set(w, e[i], a, (int32_t)i);
            if (i % 2) assert_ok(reef_add(w, e[i], Awake));
        }
        assert_ok(reef_sort_storage(w, &(reef_sort){.types = NULL}));
        for (uint32_t i = 0; i < 6; i++) assert_true(reef_visit_entity(w, e[i], visit_name, &v[0]));
        assert_true(reef_visit_world(w, visit_name, &v[1]));
        if (h == 0) memcpy(first, v, sizeof v);
        assert_string_equal(v[0].text, first[0].text);
        assert_string_equal(v[1].text, first[1].text);
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_true(reef_print(w, e[1], file));
        assert_true(reef_print_world(w, file, 100));
        fclose(file);
        assert_int_equal(reef_world_stats(w).values, homes[h].home == REEF_TABLE ? 0 : 12);
        end_world(state, w);
    }
}

/* ---- refusals, limits ---- */

static void refusals_are_the_same_in_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        const reef_entity null = {0, 0}, never = {99, 1};
        reef_entity dead = reef_create(w), e = reef_create(w);
        const int32_t value[2] = {1, 2};
        assert_ok(reef_add_id(w, dead, c, NULL, NULL));
        assert_ok(reef_destroy(w, dead));
        const reef_entity nobody[] = {null, never, dead};
        for (uint32_t i = 0; i < 3; i++) {
            assert_refused(w, REEF_NOT_ALIVE, reef_add_id(w, nobody[i], c, NULL, NULL));
            assert_refused(w, REEF_NOT_ALIVE, reef_set_id(w, nobody[i], c, value, sizeof value));
            assert_refused(w, REEF_NOT_ALIVE, reef_remove_id(w, nobody[i], c));
            assert_no_pointer(w, REEF_NOT_ALIVE, reef_mut_id(w, nobody[i], c));
            assert_no_pointer(w, REEF_NOT_ALIVE, reef_ensure_id(w, nobody[i], c, NULL));
            assert_null(reef_get_id(w, nobody[i], c));
            assert_false(reef_has_id(w, nobody[i], c));
        }
        assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, c, value, 4));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_set_id(w, e, c, NULL, sizeof value));
        assert_refused(w, REEF_ABSENT, reef_remove_id(w, e, c));
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        assert_refused(w, REEF_EXISTS, reef_add_id(w, e, c, NULL, NULL));
        reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
        reef_entity stranger = reef_create(strict);
        assert_refused(strict, REEF_UNKNOWN_TYPE, reef_add_id(strict, stranger, c, NULL, NULL));
        assert_ok(reef_world_use(strict, c));
        assert_ok(reef_add_id(strict, stranger, c, NULL, NULL));
        end_world(state, strict);
        end_world(state, w);
    }
}

static void memory_that_runs_out_changes_nothing_in_any_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Tracked", sizeof(Tracked), 4, &tracked_hooks);
        heap *memory = heap_of(state);
        reef_entity e[40];
        for (uint32_t i = 0; i < 40; i++) e[i] = reef_create(w);
        for (uint32_t i = 0; i < 40; i++) {
            const uint64_t before = digest(w);
            reef_status s = REEF_NO_MEMORY;
            for (uint64_t n = 1; s == REEF_NO_MEMORY; n++) {
                heap_fail_nth(memory, n, n % 2);
                s = reef_add_id(w, e[i], c, NULL, NULL);
                heap_fail_never(memory);
                if (s == REEF_NO_MEMORY) assert_true(digest(w) == before);
            }
            assert_ok(s);
        }
        reef_snapshot *snapshot = NULL;
        for (uint64_t n = 1; snapshot == NULL; n++) {
            heap_fail_nth(memory, n, n % 2);
            snapshot = reef_snapshot_take(w);
            heap_fail_never(memory);
        }
        const uint64_t before = digest(w);
        for (uint32_t i = 0; i < 40; i += 13) {
            reef_status s = REEF_NO_MEMORY;
            const uint64_t now = digest(w);
            for (uint64_t n = 1; s == REEF_NO_MEMORY; n++) {
                heap_fail_nth(memory, n, n % 2);
                s = i % 2 ? reef_destroy(w, e[i]) : reef_remove_id(w, e[i], c);
                heap_fail_never(memory);
                if (s == REEF_NO_MEMORY) assert_true(digest(w) == now);
            }
            assert_ok(s);
            assert_valid(w);
        }
        for (uint64_t n = 1;; n++) {
            const uint64_t now = digest(w);
            heap_fail_nth(memory, n, n % 2);
            reef_status s = reef_restore(w, snapshot);
            heap_fail_never(memory);
            if (s == REEF_OK) break;
            assert_true(digest(w) == now);
        }
        assert_true(digest(w) == before);
        reef_snapshot_free(snapshot);
        end_world(state, w);
        assert_null(book.mistake);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

/* ---- more types than the mask of a table tells apart (src/storage/table.h) ---- */

enum { WIDE_TYPES = 1100, WIDE_ROWS = 60, WIDE_EACH = 6 };

typedef struct wide {
    reef_world *w;
    reef_component c[WIDE_TYPES];
    reef_entity e[WIDE_ROWS];
    bool has[WIDE_ROWS][WIDE_TYPES], disabled[WIDE_ROWS][WIDE_TYPES];
} wide;

static void wide_check(const wide *x)
{
    for (uint32_t r = 0; r < WIDE_ROWS; r++)
        for (uint32_t i = 0; i < WIDE_TYPES; i++) {
            assert_int_equal(reef_has_id(x->w, x->e[r], x->c[i]), x->has[r][i]);
            assert_int_equal(x->has[r][i] && !reef_is_enabled_id(x->w, x->e[r], x->c[i]), x->disabled[r][i]);
        }
    for (uint32_t i = 0; i < WIDE_TYPES; i++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < WIDE_ROWS; r++) n += x->has[r][i];
        assert_int_equal(reef_count_id(x->w, x->c[i]), n);
    }
    assert_valid(x->w);
}

static void wide_gone(wide *x, uint32_t r)
{
    memset(x->has[r], 0, sizeof x->has[r]);
    memset(x->disabled[r], 0, sizeof x->disabled[r]);
}

static void wide_step(wide *x, uint64_t *seed)
{
    /* rows of a table have few types */
    const uint32_t r = random_below(seed, WIDE_ROWS), what = random_below(seed, 20), family = r % 5;
    const uint32_t i = (family * 211 + random_below(seed, WIDE_EACH) * 167) % WIDE_TYPES, other = (r + 5) % WIDE_ROWS;
    reef_world *w = x->w;
    if (what < 8) {
        if (!x->has[r][i]) assert_ok(reef_add_id(w, x->e[r], x->c[i], NULL, NULL));
        x->has[r][i] = true;
    } else if (what < 11) {
        assert_status(x->has[r][i] ? REEF_OK : REEF_ABSENT, reef_remove_id(w, x->e[r], x->c[i]));
        x->has[r][i] = x->disabled[r][i] = false;
    } else if (what < 13) {
        if (x->has[r][i]) assert_ok(reef_enable_id(w, x->e[r], x->c[i], x->disabled[r][i]));
        x->disabled[r][i] = x->has[r][i] && !x->disabled[r][i];
    } else if (what < 16) {
        (void)(reef_has(w, x->e[r], Frozen) ? reef_remove(w, x->e[r], Frozen) : reef_add(w, x->e[r], Frozen));
    } else if (what < 17) {
        assert_ok(reef_remove_all(w, x->e[r]));
        wide_gone(x, r);
    } else if (what < 19) {
        assert_ok(reef_destroy(w, x->e[other]));
        x->e[other] = reef_clone(w, x->e[r]);
        memcpy(x->has[other], x->has[r], sizeof x->has[r]);
        for (uint32_t k = 0; k < WIDE_TYPES; k++) /* a copy is enabled */
            x->disabled[other][k] = x->has[other][k] && !reef_is_enabled_id(w, x->e[other], x->c[k]);
    } else {
        assert_ok(reef_destroy(w, x->e[r]));
        wide_gone(x, r);
        x->e[r] = family % 2 ? reef_spawn(w, reef_with(Mass, 1)) : reef_create(w);
    }
}

static void a_thousand_types_outside_of_tables_do_not_mix(void **state)
{
    static const reef_home homes_of[] = {REEF_BIT, REEF_SPARSE, REEF_PAGED, REEF_COLD, REEF_MULTI, REEF_SHARED};
    wide *x = calloc(1, sizeof *x), *then = malloc(sizeof *then);
    uint64_t seed = 11;
    x->w = world_of(state);
    const reef_entity first = reef_spawn(x->w, reef_with(Position, 1, 2));
    for (uint32_t i = 0; i < WIDE_TYPES; i++) {
        char name[32];
        const reef_home home = homes_of[i % 6];
        (void)snprintf(name, sizeof name, "wide%u", (unsigned)i);
        x->c[i] = reef_type_new(&(reef_type_desc){.name = name, .size = home == REEF_BIT ? 0 : 4, .home = home}, NULL);
        assert_true(x->c[i].id != 0);
        assert_ok(reef_add_id(x->w, first, x->c[i], NULL, NULL)); /* in this order */
    }
    assert_ok(reef_destroy(x->w, first));
    for (uint32_t r = 0; r < WIDE_ROWS; r++) x->e[r] = r % 2 ? reef_spawn(x->w, reef_with(Mass, 1)) : reef_create(x->w);
    reef_snapshot *s = NULL;
    for (uint32_t step = 0; step < 6000; step++) {
        wide_step(x, &seed);
        if (step == 2000) {
            s = reef_snapshot_take(x->w);
            *then = *x;
        }
        if (step % 1000 == 999) wide_check(x);
        if (step % 2000 == 1999) assert_ok(reef_shrink(x->w));
    }
    const reef_component frozen = reef_id(Frozen);
    assert_ok(destroy_everywhere(x->w, &frozen, 1, NULL));
    for (uint32_t r = 0; r < WIDE_ROWS; r++)
        if (!reef_is_alive(x->w, x->e[r])) wide_gone(x, r);
    wide_check(x);
    assert_ok(reef_restore(x->w, s));
    reef_snapshot_free(s);
    wide_check(then);
    free(then);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(forks_and_snapshots_have_values_of_their_own),
        TEST(shared_values_are_copied_and_destroyed_once),
        TEST(what_cant_be_copied_refuses_a_fork_by_name),
        TEST(types_that_forks_reset_or_skip_do_so_in_every_home),
        TEST(forks_dont_forget_what_a_snapshot_holds),
        TEST(a_history_brings_values_of_every_home_back),
        TEST(a_synctest_names_component_and_entity_in_every_home),
        TEST(the_hash_knows_values_but_not_where_they_lie),
        TEST(a_types_part_of_the_hash_tells_its_values),
        TEST(every_byte_of_a_value_counts),
        TEST(fields_alone_count),
        TEST(visiting_shows_every_home_by_name),
        TEST(refusals_are_the_same_in_every_home),
        TEST(memory_that_runs_out_changes_nothing_in_any_home),
        TEST(a_thousand_types_outside_of_tables_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
