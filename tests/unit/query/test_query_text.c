/* The text form of queries: every operator and word, every error with its column and sentence, limits, and the way
 * back. */
#include "support.h"
#include "query/query_text.h"

/* src/storage/error.c: src/storage/state.h, where it is declared, has names of its own for much that tests name. */
reef_status reef__failure_detail(reef_world *w, reef_status status, const char *operation, uint64_t number,
                                 const char *detail);

typedef struct {
    int32_t n;
} in;
typedef struct {
    int32_t n;
} of;
REEF_COMPONENT(in);
REEF_COMPONENT(of);

enum { TEXT_BYTES = 8192 };

static const reef_component none;

/* ---- helpers ---- */

static query_text read_text(const reef_world *w, const char *text)
{
    query_text q;
    char detail[REEF_DETAIL_MAX];
    if (reef__query_text_parse(w, text, &q, detail, sizeof detail) != REEF_OK)
        fail_msg("\"%s\", column %u: %s", text, (unsigned)q.at, detail);
    assert_int_equal(q.at, 0);
    assert_string_equal(detail, "");
    for (uint32_t i = 0; i < q.count; i++) {
        assert_true(q.column[i] >= 1 && q.column[i] <= strlen(text));
        assert_true(i == 0 || q.column[i - 1] <= q.column[i]);
    }
    return q;
}

static bool same_term(const reef_term *a, const reef_term *b)
{
    return a->component.id == b->component.id && a->access == b->access && a->op == b->op && a->enabled == b->enabled &&
           a->since == b->since && a->count == b->count && reef_entity_equal(a->source, b->source);
}

/* Writes terms as a text; the answer is the length of the whole. */
static size_t terms_written(const reef_world *w, const reef_term *terms, uint32_t count, reef_enabled entities,
                            char *text, size_t size)
{
    text_out o = {text, size, 0};
    if (size) text[0] = 0;
    reef__query_text_write(&o, w, terms, count, entities, (reef_component){0}, NULL);
    return o.length;
}

/* The text gives these terms, and these terms give the canonical text, which gives the same terms again. */
static void reads_as(const reef_world *w, const char *text, const char *canonical, const reef_term *wanted,
                     uint32_t count)
{
    char written[TEXT_BYTES];
    query_text q = read_text(w, text);
    assert_int_equal(q.count, count);
    for (uint32_t i = 0; i < count; i++)
        if (!same_term(&q.term[i], &wanted[i])) fail_msg("\"%s\": term %u is another one", text, (unsigned)i);
    assert_int_equal(terms_written(w, q.term, q.count, q.entities, written, sizeof written), strlen(canonical));
    assert_string_equal(written, canonical);
    query_text again = read_text(w, written);
    assert_int_equal(again.count, count);
    assert_int_equal(again.entities, q.entities);
    for (uint32_t i = 0; i < count; i++) assert_true(same_term(&again.term[i], &q.term[i]));
}

#define READS(w, text, canonical, ...) \
    reads_as(w, text, canonical, (const reef_term[]){__VA_ARGS__}, \
             (uint32_t)(sizeof((const reef_term[]){__VA_ARGS__}) / sizeof(reef_term)))
#define LEAF(...) LEAF_(__VA_ARGS__, .count = 0)
#define LEAF_(T, ...) \
    { \
        .component = reef_id(T), __VA_ARGS__ \
    }
#define GROUP(name, n) \
    { \
        .op = REEF_##name, .count = (n) \
    }

static void refused(const reef_world *w, const char *text, reef_status status, uint32_t column, const char *sentence)
{
    query_text q;
    char detail[REEF_DETAIL_MAX];
    memset(detail, 'x', sizeof detail);
    reef_status got = reef__query_text_parse(w, text, &q, detail, sizeof detail);
    if (got != status || q.at != column || strcmp(detail, sentence) != 0)
        fail_msg("\"%s\": %s, column %u: %s\nwanted: %s, column %u: %s", text, reef_status_name(got), (unsigned)q.at,
                 detail, reef_status_name(status), (unsigned)column, sentence);
}

/* ---- what is read ---- */

static void terms_have_access_words(void **state)
{
    reef_world *w = world_of(state);
    READS(w, "Position", "Position", LEAF(Position, .access = REEF_INOUT));
    READS(w, "Position, in Velocity,out Mass ,\t\n\rinout Health, with Flag",
          "Position, in Velocity, out Mass, Health, with Flag", LEAF(Position, .access = REEF_INOUT),
          LEAF(Velocity, .access = REEF_IN), LEAF(Mass, .access = REEF_OUT), LEAF(Health, .access = REEF_INOUT),
          LEAF(Flag, .access = REEF_WITH));
    assert_int_equal(read_text(w, "").count, 0);
    assert_int_equal(read_text(w, " \t\r\n ").count, 0);
}

static void every_operator(void **state)
{
    reef_world *w = world_of(state);
    READS(w, "!Frozen", "!Frozen", LEAF(Frozen, .op = REEF_NOT, .access = REEF_WITH));
    READS(w, "! with Frozen", "!Frozen", LEAF(Frozen, .op = REEF_NOT, .access = REEF_WITH));
    READS(w, "?Mass, ? in Health", "?Mass, ?in Health", LEAF(Mass, .op = REEF_OPTIONAL),
          LEAF(Health, .op = REEF_OPTIONAL, .access = REEF_IN));
    READS(w, "Flag|in Mass", "Flag | in Mass", GROUP(ANY_OF, 2), LEAF(Flag), LEAF(Mass, .access = REEF_IN));
    READS(w, "Position, Flag | Mass | Health, Cargo", "Position, Flag | Mass | Health, Cargo", LEAF(Position),
          GROUP(ANY_OF, 3), LEAF(Flag), LEAF(Mass), LEAF(Health), LEAF(Cargo));
    READS(w, "(Flag, Mass)", "(Flag, Mass)", GROUP(ALL_OF, 2), LEAF(Flag), LEAF(Mass));
    READS(w, "Cargo | (Flag, Mass)", "Cargo | (Flag, Mass)", GROUP(ANY_OF, 2), LEAF(Cargo), GROUP(ALL_OF, 2),
          LEAF(Flag), LEAF(Mass));
    READS(w, "!(Flag | Mass)", "!(Flag | Mass)", GROUP(NONE_OF, 2), LEAF(Flag, .access = REEF_WITH),
          LEAF(Mass, .access = REEF_WITH));
    READS(w, "!(Flag, Mass)", "!(Flag, Mass)", GROUP(NONE_OF, 1), GROUP(ALL_OF, 2), LEAF(Flag, .access = REEF_WITH),
          LEAF(Mass, .access = REEF_WITH));
    READS(w, "!!Flag", "!!Flag", GROUP(NONE_OF, 1), LEAF(Flag, .op = REEF_NOT, .access = REEF_WITH));
    READS(w, "!?Flag", "!?Flag", GROUP(NONE_OF, 1), LEAF(Flag, .op = REEF_OPTIONAL, .access = REEF_WITH));
    READS(w, "((Flag))", "Flag", LEAF(Flag));
    READS(w, "!((Flag))", "!Flag", LEAF(Flag, .op = REEF_NOT, .access = REEF_WITH));
    READS(w, "((Flag | Mass))", "Flag | Mass", GROUP(ANY_OF, 2), LEAF(Flag), LEAF(Mass));
    READS(w, "(Flag | Mass) | Health", "(Flag | Mass) | Health", GROUP(ANY_OF, 2), GROUP(ANY_OF, 2), LEAF(Flag),
          LEAF(Mass), LEAF(Health));
    READS(w, "!(Flag | (Mass, !Health)) | Cargo", "!(Flag | (Mass, !Health)) | Cargo", GROUP(ANY_OF, 2),
          GROUP(NONE_OF, 2), LEAF(Flag, .access = REEF_WITH), GROUP(ALL_OF, 2), LEAF(Mass, .access = REEF_WITH),
          LEAF(Health, .op = REEF_NOT, .access = REEF_WITH), LEAF(Cargo));
}

static void words_of_enabling_and_of_change(void **state)
{
    reef_world *w = world_of(state);
    READS(w, "disabled Flag, either Mass", "disabled Flag, either Mass", LEAF(Flag, .enabled = REEF_DISABLED),
          LEAF(Mass, .enabled = REEF_EITHER));
    READS(w, "changed in Flag, in added Mass", "in changed Flag, in added Mass",
          LEAF(Flag, .access = REEF_IN, .since = REEF_IF_CHANGED),
          LEAF(Mass, .access = REEF_IN, .since = REEF_IF_ADDED));
    READS(w, "?changed either out Flag", "?out either changed Flag",
          LEAF(Flag, .op = REEF_OPTIONAL, .access = REEF_OUT, .enabled = REEF_EITHER, .since = REEF_IF_CHANGED));
    READS(w, "!added disabled Flag", "!disabled added Flag",
          LEAF(Flag, .op = REEF_NOT, .access = REEF_WITH, .enabled = REEF_DISABLED, .since = REEF_IF_ADDED));
    static const char *const texts[] = {"Flag, disabled *", "disabled *, Flag", "Flag, either *", "Flag"};
    static const reef_enabled wanted[] = {REEF_DISABLED, REEF_DISABLED, REEF_EITHER, REEF_ENABLED};
    static const char *const canonical[] = {"Flag, disabled *", "Flag, disabled *", "Flag, either *", "Flag"};
    for (int i = 0; i < 4; i++) {
        READS(w, texts[i], canonical[i], LEAF(Flag));
        assert_int_equal(read_text(w, texts[i]).entities, wanted[i]);
    }
    query_text q = read_text(w, "either *");
    assert_int_equal(q.count, 0);
    assert_int_equal(q.entities, REEF_EITHER);
    char text[20];
    assert_int_equal(terms_written(w, NULL, 0, REEF_DISABLED, text, sizeof text), 10);
    assert_string_equal(text, "disabled *");
}

static void a_word_is_only_a_word_when_a_name_follows_it(void **state)
{
    reef_world *w = world_of(state);
    READS(w, "in", "\"in\"", LEAF(in));
    READS(w, "in, Position", "\"in\", Position", LEAF(in), LEAF(Position));
    READS(w, "in in", "in \"in\"", LEAF(in, .access = REEF_IN));
    READS(w, "(in | Mass)", "\"in\" | Mass", GROUP(ANY_OF, 2), LEAF(in), LEAF(Mass));
    READS(w, "in \"Position\"", "in Position", LEAF(Position, .access = REEF_IN));
    READS(w, "of, in of", "\"of\", in \"of\"", LEAF(of), LEAF(of, .access = REEF_IN));
    reef_component star;
    star = reef_type_new(&(reef_type_desc){.name = "*", .size = 4}, NULL);
    READS(w, "\"*\"", "\"*\"", {.component = star});
    reef_entity sun = reef_create(w);
    assert_ok(reef_set_name(w, sun, "of"));
    READS(w, "\"in\" of of", "\"in\" of \"of\"", LEAF(in, .source = sun));
    READS(w, "of of of", "\"of\" of \"of\"", LEAF(of, .source = sun));
}

static void a_term_may_have_a_fixed_source(void **state)
{
    static const char *const names[] = {"sun", "ship.turret", "my ship", "say \"hi\"",   "back\\slash",
                                        "in",  "*",           "#1v1",    "\xC3\xA9toile"};
    static const char *const texts[] = {
        "sun",    "ship.turret", "\"my ship\"", "\"say \\\"hi\\\"\"", "\"back\\\\slash\"",
        "\"in\"", "\"*\"",       "\"#1v1\"",    "\xC3\xA9toile"};
    char text[300], wanted[300];
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 9; i++) {
        reef_entity e = reef_create(w);
        assert_ok(reef_set_name(w, e, names[i]));
        snprintf(text, sizeof text, "in Mass of %s, Flag", texts[i]);
        READS(w, text, text, LEAF(Mass, .access = REEF_IN, .source = e), LEAF(Flag));
        snprintf(text, sizeof text, "in Mass of \t#%uv%u, Flag", (unsigned)e.index, (unsigned)e.generation);
        snprintf(wanted, sizeof wanted, "in Mass of %s, Flag", texts[i]);
        READS(w, text, wanted, LEAF(Mass, .access = REEF_IN, .source = e), LEAF(Flag));
    }
    reef_entity e = reef_create(w);
    snprintf(text, sizeof text, "Mass of #%uv%u", (unsigned)e.index, (unsigned)e.generation);
    READS(w, text, text, LEAF(Mass, .source = e));
    READS(w, "!changed Mass of sun | Mass of \"sun\"", "!changed Mass of sun | Mass of sun", GROUP(ANY_OF, 2),
          LEAF(Mass, .op = REEF_NOT, .access = REEF_WITH, .since = REEF_IF_CHANGED, .source = reef_find(w, "sun")),
          LEAF(Mass, .source = reef_find(w, "sun")));
}

static void columns_are_those_of_names_and_of_groups(void **state)
{
    query_text q = read_text(world_of(state), "Position,  ?in Velocity, Mass | !( Flag | (Cargo, with Health))");
    static const uint32_t columns[] = {1, 16, 26, 26, 33, 36, 43, 44, 56};
    assert_int_equal(q.count, 9);
    for (uint32_t i = 0; i < q.count; i++) assert_int_equal(q.column[i], columns[i]);
}

/* ---- what is refused ---- */

static void bad_texts_say_what_was_expected_where(void **state)
{
    static const struct {
        const char *text;
        uint32_t column;
        const char *sentence;
    } bad[] = {
        {"Position,, Velocity", 10, "expected a type's name, found ','"},
        {", Position", 1, "expected a type's name, found ','"},
        {"Position,", 10, "expected a type's name, found the end"},
        {"Position, \n ", 13, "expected a type's name, found the end"},
        {"Position Velocity", 10, "expected ',' or '|', found 'Velocity'"},
        {"Position \"my ship\"", 10, "expected ',' or '|', found \"my ship\""},
        {"Position \"my\nship\"", 10, "expected ',' or '|', found \"my?ship\""},
        {"Position #1v1", 10, "expected ',' or '|', found '#1v1'"},
        {"Position)", 9, "expected ',' or '|', found ')'"},
        {")", 1, "expected a type's name, found ')'"},
        {"?", 2, "expected a type's name, found the end"},
        {"!", 2, "expected a type's name, found the end"},
        {"??Mass", 2, "expected a type's name, found '?'"},
        {"?!Mass", 2, "expected a type's name, found '!'"},
        {"?(Mass)", 2, "expected a type's name, found '('"},
        {"Mass |", 7, "expected a type's name, found the end"},
        {"| Mass", 1, "expected a type's name, found '|'"},
        {"Mass || Flag", 7, "expected a type's name, found '|'"},
        {"()", 2, "expected a type's name, found ')'"},
        {"Mass, (Flag", 12, "expected ',', '|' or ')', found the end"},
        {"(Mass Flag)", 7, "expected ',', '|' or ')', found 'Flag'"},
        {"(Mass, )", 8, "expected a type's name, found ')'"},
        {"Mass; Flag", 5, "expected ',' or '|', found ';'"},
        {"Mass\x01", 5, "expected ',' or '|', found the byte 0x01"},
        {"\x7F", 1, "expected a type's name, found the byte 0x7F"},
        {"Mass(sun)", 5, "Mass is no relation, so it has no target"},
        {"(Mass(Flag))", 6, "Mass is no relation, so it has no target"},
        {"$x", 1, "expected a type's name, found '$'"},
        {"*($x)", 3, "behind '*', any relation, stands the name of an entity and no variable"},
        {"*($x, sun)", 3, "behind '*', any relation, stands the name of an entity and no variable"},
        {"Flag, *(*)", 9, "expected an entity's name, found '*'"},
        {"Mass of $x", 9, "expected an entity's name, found '$'"},
        {"Mass of", 8, "expected an entity's name, found the end"},
        {"Mass of, Flag", 8, "expected an entity's name, found ','"},
        {"#1v1", 1, "expected a type's name, found '#1v1'"},
        {"Mass of #1", 9, "expected an entity as #<index>v<generation>, found '#1'"},
        {"Mass of #v1", 9, "expected an entity as #<index>v<generation>, found '#v1'"},
        {"Mass of #1v", 9, "expected an entity as #<index>v<generation>, found '#1v'"},
        {"Mass of #1v1x", 9, "expected an entity as #<index>v<generation>, found '#1v1x'"},
        {"Mass of #4294967296v1", 9, "expected an entity as #<index>v<generation>, found '#4294967296v1'"},
        {"Mass of \"sun", 13, "expected the quote that ends the name, found the end"},
        {"Mass of \"", 10, "expected the quote that ends the name, found the end"},
        {"Mass of \"sun\\", 14, "expected \\\" or \\\\ after a backslash"},
        {"Mass of \"sun\\\"", 15, "expected the quote that ends the name, found the end"},
        {"Mass of \"a\\n\"", 12, "expected \\\" or \\\\ after a backslash"},
        {"Mass of \"a\n\"", 11, "names can't contain control characters, found the byte 0x0A"},
        {"in out Mass", 4, "expected a type's name, found 'out': another word of its kind comes before it"},
        {"changed in added Mass", 12,
         "expected a type's name, found 'added': another word of its kind comes before it"},
        {"disabled disabled Mass", 10,
         "expected a type's name, found 'disabled': another word of its kind comes before it"},
        {"!in Mass", 2, "expected a type's name, found 'in': a term after '!' has no data"},
        {"!(Flag | (Mass, changed out Health))", 25,
         "expected a type's name, found 'out': a term after '!' has no data"},
        {"in of sun", 7, "expected ',' or '|', found 'sun'"},
        {"*", 1, "'*', the whole entity, needs 'disabled' or 'either' before it, and no other word"},
        {"?disabled *", 11, "'*', the whole entity, needs 'disabled' or 'either' before it, and no other word"},
        {"in disabled *", 13, "'*', the whole entity, needs 'disabled' or 'either' before it, and no other word"},
        {"changed either *", 16, "'*', the whole entity, needs 'disabled' or 'either' before it, and no other word"},
        {"either *, disabled *", 20, "'*' may be used only once"},
        {"either * of sun", 10, "expected ',' or '|', found 'of'"},
        {"!either *", 9, "'*', the whole entity, can't be in a group or after '!'"},
        {"(either *)", 9, "'*', the whole entity, can't be in a group or after '!'"},
        {"Mass | either *", 15, "'*', the whole entity, can't be in a group or after '!'"},
        {"either * | Mass", 10, "expected ',' after the whole entity, found '|'"},
    };
    reef_world *w = world_of(state);
    assert_ok(reef_set_name(w, reef_create(w), "sun"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(w, bad[i].text, REEF_BAD_TEXT, bad[i].column, bad[i].sentence);
}

static void an_unknown_name_gets_the_nearest_known_one(void **state)
{
    reef_world *w = world_of(state);
    refused(w, "Mass, in Positon", REEF_UNKNOWN_TYPE, 10, "no type is named Positon; did you mean Position?");
    refused(w, "position", REEF_UNKNOWN_TYPE, 1, "no type is named position; did you mean Position?");
    refused(w, "VELOCITY", REEF_UNKNOWN_TYPE, 1, "no type is named VELOCITY; did you mean Velocity?");
    refused(w, "Mas", REEF_UNKNOWN_TYPE, 1, "no type is named Mas; did you mean Mass?");
    refused(w, "!Forzen", REEF_UNKNOWN_TYPE, 2, "no type is named Forzen; did you mean Frozen?");
    refused(w, "\"Vel ocity\"", REEF_UNKNOWN_TYPE, 1, "no type is named Vel ocity; did you mean Velocity?");
    refused(w, "Nobody", REEF_UNKNOWN_TYPE, 1, "no type is named Nobody");
    refused(w, "X", REEF_UNKNOWN_TYPE, 1, "no type is named X");
    assert_ok(reef_set_name(w, reef_create(w), "Bob"));
    refused(w, "Mass, Bob", REEF_UNKNOWN_TYPE, 7,
            "no type is named Bob, but an entity is: a target stands behind its relation, R(Bob)");
    refused(w, "\"\"", REEF_UNKNOWN_TYPE, 1, "no type is named ");
    refused(w, "Mass, with", REEF_UNKNOWN_TYPE, 7,
            "no type is named with, and as a word it needs a type's name after it");
    refused(w, "out, Mass", REEF_UNKNOWN_TYPE, 1,
            "no type is named out, and as a word it needs a type's name after it");
    /* Equally near: exactly the same letters first, then the order of names, whichever was made first. */
    (void)reef_type_new(&(reef_type_desc){.name = "nearest_zb", .size = 4}, NULL);
    (void)reef_type_new(&(reef_type_desc){.name = "nearest_za", .size = 4}, NULL);
    refused(w, "nearest_z", REEF_UNKNOWN_TYPE, 1, "no type is named nearest_z; did you mean nearest_za?");
    refused(w, "Nearest_zb", REEF_UNKNOWN_TYPE, 1, "no type is named Nearest_zb; did you mean nearest_zb?");
    (void)reef_type_new(&(reef_type_desc){.name = "NEAREST_ZB", .size = 4}, NULL);
    refused(w, "nearest_Zb", REEF_UNKNOWN_TYPE, 1, "no type is named nearest_Zb; did you mean nearest_zb?");
    (void)reef_type_new(&(reef_type_desc){.name = "Nearest_LETTERS", .size = 4}, NULL);
    (void)reef_type_new(&(reef_type_desc){.name = "nearest_letters", .size = 4}, NULL);
    refused(w, "nearest_letterS", REEF_UNKNOWN_TYPE, 1,
            "no type is named nearest_letterS; did you mean nearest_letters?");
    refused(w, "NEAREST_zB", REEF_UNKNOWN_TYPE, 1, "no type is named NEAREST_zB; did you mean NEAREST_ZB?");
}

/* The number of edits by its definition, on all cells. */
static uint32_t plain_edits(const char *a, const char *b)
{
    static uint32_t d[40][40];
    uint32_t m = (uint32_t)strlen(a), n = (uint32_t)strlen(b);
    for (uint32_t i = 0; i <= m; i++)
        for (uint32_t j = 0; j <= n; j++) {
            d[i][j] = i == 0 ? j : j == 0 ? i : d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i && j && d[i - 1][j] + 1 < d[i][j]) d[i][j] = d[i - 1][j] + 1;
            if (i && j && d[i][j - 1] + 1 < d[i][j]) d[i][j] = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[m][n];
}

/* Names of entities over three letters: a world has its own, so that nothing else is near. */
static void the_nearest_name_is_the_one_with_the_fewest_edits(void **state)
{
    static char names[60][20];
    char text[60], detail[REEF_DETAIL_MAX], wanted[REEF_DETAIL_MAX];
    uint64_t seed = 11;
    reef_world *w = world_of(state);
    uint32_t suggested = 0, count = 0;
    for (uint32_t k = 0; k < 60; k++) {
        uint32_t length = 1 + random_below(&seed, 14);
        for (uint32_t i = 0; i < length; i++) names[count][i] = (char)('a' + random_below(&seed, 3));
        names[count][length] = 0;
        if (reef_set_name(w, reef_create(w), names[count]) == REEF_OK) count++;
    }
    for (uint32_t k = 0; k < 3000; k++) {
        char name[20] = "";
        uint32_t length = 1 + random_below(&seed, 14), least = UINT32_MAX;
        for (uint32_t i = 0; i < length; i++) name[i] = (char)('a' + random_below(&seed, 3));
        const char *best = NULL;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t edits = plain_edits(name, names[i]);
            if (edits > least || (edits == least && strcmp(names[i], best) > 0)) continue;
            least = edits;
            best = names[i];
        }
        if (least == 0) continue;
        query_text q;
        snprintf(text, sizeof text, "Mass of %s", name);
        assert_status(REEF_NOT_ALIVE, reef__query_text_parse(w, text, &q, detail, sizeof detail));
        assert_int_equal(q.at, 9);
        uint32_t limit = length / 3 < 3 ? length / 3 : 3;
        if (least > limit) snprintf(wanted, sizeof wanted, "no entity is named %s", name);
        else snprintf(wanted, sizeof wanted, "no entity is named %s; did you mean %s?", name, best);
        suggested += least <= limit;
        assert_string_equal(detail, wanted);
    }
    assert_true(suggested > 300 && suggested < 2700);
}

static void an_unknown_source_is_not_alive(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    refused(w, "Mass of sun", REEF_NOT_ALIVE, 9, "no entity is named sun");
    assert_ok(reef_set_name(w, e, "ship.turret"));
    refused(w, "Mass of ship.turet", REEF_NOT_ALIVE, 9, "no entity is named ship.turet; did you mean ship.turret?");
    refused(w, "Mass of #4v4", REEF_NOT_ALIVE, 9, "the entity #4v4 is not alive");
    refused(w, "Mass of #0v0", REEF_NOT_ALIVE, 9, "the entity #0v0 is not alive");
    assert_ok(reef_destroy(w, e));
    refused(w, "Mass of ship.turret", REEF_NOT_ALIVE, 9, "no entity is named ship.turret");
    char text[100];
    terms_written(w, &(reef_term)LEAF(Mass, .source = e), 1, REEF_ENABLED, text, sizeof text);
    assert_string_equal(text, "Mass of #0v1");
    refused(w, text, REEF_NOT_ALIVE, 9, "the entity #0v1 is not alive");
}

static void a_strict_world_knows_what_it_was_told_of(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.strict = true});
    assert_ok(reef_use(w, Mass));
    assert_int_equal(read_text(w, "Mass").term[0].component.id, reef_id(Mass).id);
    refused(w, "Mass, Position", REEF_UNKNOWN_TYPE, 7, "this strict world doesn't know Position (reef_world_use)");
    refused(w, "Positon", REEF_UNKNOWN_TYPE, 1, "no type is named Positon");
    refused(w, "Mas", REEF_UNKNOWN_TYPE, 1, "no type is named Mas; did you mean Mass?");
}

/* ---- long names ---- */

static void long_names_are_cut_between_characters(void **state)
{
    char text[300], wanted[REEF_DETAIL_MAX];
    reef_world *w = world_of(state);
    /* 40 bytes are shown. The character that would be cut goes as a whole: 1 + 13 * 3 = 40, 2 + 12 * 3 = 38, 3 + 12
     * * 3 = 39. */
    for (uint32_t ahead = 0; ahead < 4; ahead++) {
        memset(text, 'a', ahead);
        for (uint32_t i = 0; i < 50; i++) memcpy(text + ahead + i * 3, "\xE2\x82\xAC", 3);
        text[ahead + 150] = 0;
        uint32_t seen = ahead + (40 - ahead) / 3 * 3;
        snprintf(wanted, sizeof wanted, "no type is named %.*s...", (int)seen, text);
        refused(w, text, REEF_UNKNOWN_TYPE, 1, wanted);
    }
    memset(text, 0x80, 60); /* no UTF-8 at all */
    text[60] = 0;
    snprintf(wanted, sizeof wanted, "no type is named %.40s...", text);
    refused(w, text, REEF_UNKNOWN_TYPE, 1, wanted);
    memset(text, 'n', REEF_TYPE_NAME_MAX);
    text[REEF_TYPE_NAME_MAX] = 0;
    snprintf(wanted, sizeof wanted, "no type is named %.40s...", text);
    refused(w, text, REEF_UNKNOWN_TYPE, 1, wanted);
    (void)reef_type_new(&(reef_type_desc){.name = text, .size = 4}, NULL);
    READS(w, text, text, {.component = reef_type_find(text)});
    text[3] = 'N';
    snprintf(wanted, sizeof wanted, "no type is named %.40s...; did you mean nnn%.37s...?", text, text + 4);
    refused(w, text, REEF_UNKNOWN_TYPE, 1, wanted);
    strcat(text, "n");
    refused(w, text, REEF_BAD_TEXT, 1, "this name is longer than 255 bytes");
    memcpy(text, "Mass of ", 8);
    text[8 + REEF_NAME_MAX] = 0;
    snprintf(wanted, sizeof wanted, "no entity is named %.40s...", text + 8);
    refused(w, text, REEF_NOT_ALIVE, 9, wanted);
    strcat(text, "n");
    refused(w, text, REEF_BAD_TEXT, 9, "this name is longer than 247 bytes");
}

static void a_small_buffer_gets_what_fits(void **state)
{
    static const char sentence[] = "no type is named Posit\xC3\xB6n; did you mean Position?";
    reef_world *w = world_of(state);
    query_text q;
    char detail[REEF_DETAIL_MAX];
    for (size_t size = 0; size <= sizeof sentence; size++) {
        memset(detail, 'x', sizeof detail);
        assert_status(REEF_UNKNOWN_TYPE, reef__query_text_parse(w, "Posit\xC3\xB6n", &q, size ? detail : NULL, size));
        size_t fits = size >= sizeof sentence ? sizeof sentence - 1 : size ? size - 1 : 0;
        if (fits == 23) fits = 22; /* not half of the letter */
        if (size) assert_int_equal(strlen(detail), fits);
        if (size) assert_memory_equal(detail, sentence, fits);
        assert_int_equal(detail[size], 'x');
    }
    static const reef_term terms[] = {{.op = REEF_NONE_OF, .count = 2}, {.op = REEF_HAS}, {.op = REEF_HAS}};
    reef_term t[3] = {terms[0], terms[1], terms[2]};
    t[1].component = reef_id(Mass);
    t[2].component = reef_id(Flag);
    for (size_t size = 0; size < 20; size++) {
        memset(detail, 'x', sizeof detail);
        assert_int_equal(terms_written(w, t, 3, REEF_ENABLED, size ? detail : NULL, size), 14);
        if (size) assert_int_equal(strlen(detail), size > 14 ? 14 : size - 1);
        if (size) assert_memory_equal(detail, "!(Mass | Flag)", strlen(detail));
        assert_int_equal(detail[size], 'x');
    }
}

/* ---- the error record ---- */

REEF_RELATION(Likes);
REEF_RELATION(cascade, REEF_EXCLUSIVE);

/* The text of a query is read again: it has the same text, and finds the same. */
static void text_gives_the_query_back(reef_world *w, const char *text, const char *expected)
{
    char first[2000], second[2000];
    const reef_query q = reef_query_new(w, text);
    if (reef_query_is_null(q)) fail_msg("\"%s\": %s", text, reef_last_error(w).detail);
    assert_true(reef_query_text(w, q, first, sizeof first) < sizeof first);
    assert_string_equal(first, expected);
    const reef_query same = reef_query_new(w, first);
    if (reef_query_is_null(same)) fail_msg("\"%s\" of \"%s\": %s", first, text, reef_last_error(w).detail);
    assert_true(reef_query_text(w, same, second, sizeof second) < sizeof second);
    assert_string_equal(second, first);
    assert_int_equal(reef_query_count(w, same), reef_query_count(w, q));
    assert_entity(reef_query_first(w, q), reef_query_first(w, same));
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_query_free(w, same));
}

static void targets_and_sources_are_written_by_their_path(void **state)
{
    static const char *const odd[] = {"*",  "#1v0", "$x",      "cascade",     "of",
                                      "up", "a b",  "q\"uote", "back\\slash", "käse"};
    static const char *const said[] = {"\"*\"", "\"#1v0\"", "\"$x\"",        "\"cascade\"",       "\"of\"",
                                       "up",    "\"a b\"",  "\"q\\\"uote\"", "\"back\\\\slash\"", "käse"};
    char text[600], long_name[REEF_NAME_MAX + 1];
    reef_world *w = world_of(state);
    const reef_entity ship = reef_create(w), gun = reef_create(w), other = reef_create(w), deep = reef_create(w);
    const reef_entity fan = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set_name(w, ship, "ship"));
    assert_status(REEF_ADDED, reef_relate(w, gun, ChildOf, ship));
    assert_ok(reef_set_name(w, gun, "gun"));
    assert_status(REEF_ADDED, reef_relate(w, fan, Likes, gun));
    assert_status(REEF_ADDED, reef_set(w, gun, Mass, 5));
    for (int twice = 0; twice < 2; twice++) {
        text_gives_the_query_back(w, "Likes(ship.gun)", "Likes(ship.gun)");
        text_gives_the_query_back(w, "*(ship.gun)", "*(ship.gun)");
        text_gives_the_query_back(w, "Position, in Mass of ship.gun", "Position, in Mass of ship.gun");
        text_gives_the_query_back(w, "Likes($x), Likes($x, ship.gun)", "Likes($x), Likes($x, ship.gun)");
        assert_ok(reef_set_name(w, other, "gun")); /* another one is named as the child is */
    }
    text_gives_the_query_back(w, "Likes(gun)", "Likes(gun)");
    /* whose path leads elsewhere, is too long, or has a part without a name, is written by its handle */
    const reef_query of_gun = reef_query_new(w, "Likes(ship.gun)");
    assert_ok(reef_set_name(w, other, "ship.gun"));
    reef_query_text(w, of_gun, text, sizeof text);
    assert_int_equal(text[6], '#');
    text_gives_the_query_back(w, text, text);
    assert_int_equal(reef_query_count(w, of_gun), 1);
    assert_ok(reef_set_name(w, other, NULL));
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_ok(reef_set_name(w, ship, long_name));
    reef_query_text(w, of_gun, text, sizeof text);
    assert_int_equal(text[6], '#');
    text_gives_the_query_back(w, text, text);
    assert_ok(reef_set_name(w, ship, NULL));
    reef_query_text(w, of_gun, text, sizeof text);
    assert_int_equal(text[6], '#');
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        assert_ok(reef_set_name(w, deep, odd[i]));
        const reef_query q = reef_query_make(
            w, &(reef_query_desc){.terms = {{.component = reef_id(Likes), .target = deep, .access = REEF_WITH}}});
        char expected[100];
        snprintf(expected, sizeof expected, "Likes(%s)", said[i]);
        reef_query_text(w, q, text, sizeof text);
        assert_string_equal(text, expected);
        text_gives_the_query_back(w, text, text);
    }
    assert_ok(reef_set_name(w, deep, "x"));
    text_gives_the_query_back(w, "\"cascade\"(x)", "\"cascade\"(x)"); /* a relation, and no order */
}

static void variables_that_no_text_can_name_are_written_by_number(void **state)
{
    static const struct {
        const char *first, *second, *text;
    } names[] = {
        {"a", "b", "Likes($a), Likes($b)"},          {"", "b", "Likes($1), Likes($b)"},
        {"this", "b", "Likes($1), Likes($b)"},       {"a b", "*", "Likes($1), Likes($2)"},
        {"same", "same", "Likes($same), Likes($2)"}, {"2", "", "Likes($2), Likes($2_)"},
        {"\"q\"", "#1v0", "Likes($1), Likes($2)"},
    };
    reef_world *w = world_of(state);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[200];
        reef_query_desc d = {.terms = {{.component = reef_id(Likes), .access = REEF_WITH, .target_variable = 1},
                                       {.component = reef_id(Likes), .access = REEF_WITH, .target_variable = 2}}};
        snprintf(d.variables[0], sizeof d.variables[0], "%s", names[i].first);
        snprintf(d.variables[1], sizeof d.variables[1], "%s", names[i].second);
        const reef_query q = reef_query_make(w, &d);
        assert_false(reef_query_is_null(q));
        reef_query_text(w, q, text, sizeof text);
        assert_string_equal(text, names[i].text);
        text_gives_the_query_back(w, text, text);
    }
}

static void a_name_that_is_proposed_can_be_found(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity ship = reef_create(w), tug = reef_create(w), gun = reef_create(w), more = reef_create(w);
    assert_ok(reef_set_name(w, ship, "ship"));
    assert_ok(reef_set_name(w, tug, "tug"));
    assert_status(REEF_ADDED, reef_relate(w, gun, ChildOf, tug));
    assert_ok(reef_set_name(w, gun, "cannon"));
    refused(w, "Mass of cannon", REEF_NOT_ALIVE, 9, "no entity is named cannon; did you mean tug.cannon?");
    refused(w, "Mass of tugg.cannon", REEF_NOT_ALIVE, 9, "no entity is named tugg.cannon; did you mean tug.cannon?");
    refused(w, "Mass of cannnon", REEF_NOT_ALIVE, 9, "no entity is named cannnon");
    assert_status(REEF_ADDED, reef_relate(w, more, ChildOf, ship)); /* of two, the first by its path */
    assert_ok(reef_set_name(w, more, "cannon"));
    refused(w, "Mass of cannon", REEF_NOT_ALIVE, 9, "no entity is named cannon; did you mean ship.cannon?");
    assert_ok(reef_set_name(w, ship, NULL)); /* nobody can name what is in it */
    refused(w, "Mass of cannon", REEF_NOT_ALIVE, 9, "no entity is named cannon; did you mean tug.cannon?");
    assert_ok(reef_set_name(w, tug, NULL));
    refused(w, "Mass of cannon", REEF_NOT_ALIVE, 9, "no entity is named cannon");
}

static void a_type_with_its_subtypes_stands_alone(void **state)
{
    reef_world *w = world_of(state);
    refused(w, "Mass+ up(ChildOf)", REEF_BAD_TEXT, 7, "a type with '+' can't have 'up'");
    refused(w, "Mass+ self up(ChildOf)", REEF_BAD_TEXT, 7, "a type with '+' can't have 'self'");
    refused(w, "Mass+ of x", REEF_BAD_TEXT, 7, "a type with '+' can't have 'of'");
    refused(w, "Likes+(x)", REEF_BAD_TEXT, 7, "'+' stands behind what is in parentheses");
    refused(w, "Mass+($x)", REEF_BAD_TEXT, 6, "'+' stands behind what is in parentheses");
}

static void the_error_record_holds_column_and_detail(void **state)
{
    char text[300], detail[REEF_DETAIL_MAX];
    query_text q;
    reef_world *w = world_of(state);
    reef_status s = reef__query_text_parse(w, "Mass, Positon", &q, detail, sizeof detail);
    assert_status(REEF_UNKNOWN_TYPE, reef__failure_detail(w, s, "reef_query_new", q.at, detail));
    reef_error e = reef_last_error(w);
    assert_int_equal(e.status, REEF_UNKNOWN_TYPE);
    assert_int_equal(e.number, 7);
    assert_string_equal(e.operation, "reef_query_new");
    assert_string_equal(e.detail, "no type is named Positon; did you mean Position?");
    assert_int_equal(e.component.id, none.id);
    size_t length = reef_error_text(w, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, "reef_query_new: the component type is not known here (column 7): no type is named "
                              "Positon; did you mean Position?");
    /* The public calls record the same. */
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){3, 3}));
    assert_true(reef_query_is_null(reef_query_new(w, "Mass, Positon")));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_int_equal(reef_last_error(w).number, 7);
    assert_string_equal(reef_last_error(w).detail, e.detail);
    assert_true(reef_query_is_null(reef_query_make(w, &(reef_query_desc){.text = "Mass, (Position"})));
    assert_string_equal(reef_last_error(w).operation, "reef_query_make");
    assert_string_equal(reef_last_error(w).detail, "expected ',', '|' or ')', found the end");
    /* What makes no sense is found later: a column, and why. */
    static const struct {
        const char *text;
        reef_status status;
        uint64_t column;
        const char *detail;
    } senseless[] = {
        {"Mass, in Mass", REEF_DUPLICATE_TERM, 10,
         "it is named before: only filters may be named twice, and one of them in a group"},
        {"Awake, with Awake", REEF_DUPLICATE_TERM, 13,
         "it is named before: only filters may be named twice, and one of them in a group"},
        {"Mass, added Position", REEF_BAD_ARGUMENT, 13, "'added' needs a type with track_rows"},
        {"changed Frozen", REEF_BAD_ARGUMENT, 9, "'changed' needs a type with data, a switch, or one with track_rows"},
        {"added Mass+", REEF_BAD_ARGUMENT, 7, "'added' can't be used with '+'"},
        {"each with Mass", REEF_BAD_ARGUMENT, 11,
         "'each' may be used once, before a term with data that is in no group"},
        {"Frozen | each Mass", REEF_BAD_ARGUMENT, 15,
         "'each' may be used once, before a term with data that is in no group"},
    };
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        assert_true(reef_query_is_null(reef_query_new(w, senseless[i].text)));
        e = reef_last_error(w);
        if (e.status != senseless[i].status || e.number != senseless[i].column ||
            strcmp(e.detail, senseless[i].detail) != 0)
            fail_msg("\"%s\": %s, column %u: %s", senseless[i].text, reef_status_name(e.status), (unsigned)e.number,
                     e.detail);
        assert_true(reef_type_name(e.component) != NULL);
    }
    /* Of a struct it is the number of the term. */
    assert_true(reef_query_is_null(reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(Mass), .each = true, .access = REEF_WITH}}})));
    assert_int_equal(reef_last_error(w).number, 1);
    assert_string_equal(reef_last_error(w).detail,
                        "term 1: 'each' may be used once, before a term with data that is in no group");
    reef_error_text(w, text, sizeof text);
    assert_null(strstr(text, "column"));
    /* The next failure has none. */
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){3, 3}));
    assert_string_equal(reef_last_error(w).detail, "");
    reef_error_text(w, text, sizeof text);
    assert_null(strstr(text, "column"));
}

static char heard[400];
static void hear(void *context, reef_status status, const char *message)
{
    (void)context;
    assert_int_equal(status, REEF_BAD_TEXT);
    snprintf(heard, sizeof heard, "%s", message);
}

static void the_whole_message_is_told_in_every_build(void **state)
{
    char detail[REEF_DETAIL_MAX];
    query_text q;
    reef_world *w = another_world(state, &(reef_world_config){.misuse = hear});
    heard[0] = 0;
    reef_status s = reef__query_text_parse(w, "Mass,", &q, detail, sizeof detail);
    assert_string_equal(heard, "");
    assert_status(REEF_BAD_TEXT, reef__failure_detail(w, s, "reef_query_new", q.at, detail));
    assert_string_equal(heard,
                        "reef_query_new: the text can't be read (column 6): expected a type's name, found the end");
}

/* ---- limits ---- */

static void repeat(char *text, const char *part, uint32_t n)
{
    for (text += strlen(text); n; n--, text += strlen(part)) strcpy(text, part);
}

static void the_number_of_terms_has_a_limit(void **state)
{
    static char text[TEXT_BYTES], written[TEXT_BYTES];
    reef_world *w = world_of(state);
    static const char full[] = "a query has at most 64 terms, its groups among them";
    strcpy(text, "Mass");
    repeat(text, ",Mass", 63);
    query_text q = read_text(w, text);
    assert_int_equal(q.count, 64);
    assert_int_equal(q.column[63], 63 * 5 + 1);
    terms_written(w, q.term, q.count, q.entities, written, sizeof written);
    assert_int_equal(read_text(w, written).count, 64);
    strcat(text, ", either *"); /* no term */
    assert_int_equal(read_text(w, text).count, 64);
    strcat(text, ",!Mass");
    refused(w, text, REEF_LIMIT, 64 * 5 + 12, full);
    /* Groups count. */
    strcpy(text, "Mass");
    repeat(text, "|Mass", 62);
    assert_int_equal(read_text(w, text).count, 64);
    strcat(text, "|Mass");
    refused(w, text, REEF_LIMIT, 1, full);
    strcpy(text, "Mass");
    repeat(text, ",Mass", 61);
    strcat(text, ",!!Mass");
    assert_int_equal(read_text(w, text).count, 64);
    strcat(text, ",Mass");
    refused(w, text, REEF_LIMIT, 62 * 5 + 8, full);
    strcpy(text, "Mass");
    repeat(text, ",Mass", 61);
    strcat(text, ",!!!Mass");
    refused(w, text, REEF_LIMIT, 62 * 5 + 1, full);
}

static void nesting_has_a_limit(void **state)
{
    static char text[TEXT_BYTES], written[TEXT_BYTES];
    reef_world *w = world_of(state);
    repeat(text, "(", 64);
    strcat(text, "Mass");
    repeat(text, ")", 64);
    assert_int_equal(read_text(w, text).count, 1);
    memmove(text + 1, text, strlen(text) + 1);
    refused(w, text, REEF_LIMIT, 65, "at most 64 parentheses may be nested");
    memset(text, '(', TEXT_BYTES - 1);
    refused(w, text, REEF_LIMIT, 65, "at most 64 parentheses may be nested");
    memset(text, 0, sizeof text);
    repeat(text, "!", 64); /* 63 groups and a term */
    strcat(text, "Mass");
    query_text q = read_text(w, text);
    assert_int_equal(q.count, 64);
    terms_written(w, q.term, q.count, q.entities, written, sizeof written);
    assert_string_equal(written, text);
    memset(text, '!', TEXT_BYTES - 1);
    refused(w, text, REEF_LIMIT, 65, "at most 64 '!' may be nested");
    /* As deep as 64 terms can be in groups of two: "(Mass, (Mass, ...". */
    memset(text, 0, sizeof text);
    repeat(text, "(Mass,", 31);
    strcat(text, "Mass");
    repeat(text, ")", 31);
    q = read_text(w, text);
    assert_int_equal(q.count, 63);
    /* 64 deep, with "!" and parentheses at each level: "!(!(!(... Mass". */
    memset(text, 0, sizeof text);
    repeat(text, "!(", 64);
    strcat(text, "Mass");
    repeat(text, ")", 64);
    q = read_text(w, text);
    assert_int_equal(q.count, 64);
    terms_written(w, q.term, q.count, q.entities, written, sizeof written);
    memset(text, '!', 64);
    strcpy(text + 64, "Mass");
    assert_string_equal(written, text);
}

/* ---- there and back, on random trees ---- */

typedef struct grower {
    uint64_t seed;
    reef_term term[REEF_TERMS_MAX];
    uint32_t count;
    reef_component types[6];
    reef_entity sources[4];
} grower;

static void grow_leaf(grower *g, bool filter)
{
    static const reef_op ops[] = {REEF_HAS, REEF_HAS, REEF_HAS, REEF_NOT, REEF_OPTIONAL};
    reef_term *t = &g->term[g->count++];
    *t = (reef_term){.component = g->types[random_below(&g->seed, 6)], .op = ops[random_below(&g->seed, 5)]};
    t->access = filter || t->op == REEF_NOT ? REEF_WITH : (reef_access)random_below(&g->seed, 4);
    if (random_below(&g->seed, 3) == 0) t->enabled = (reef_enabled)random_below(&g->seed, 3);
    if (random_below(&g->seed, 3) == 0) t->since = (reef_since)random_below(&g->seed, 3);
    if (random_below(&g->seed, 4) == 0) t->source = g->sources[random_below(&g->seed, 4)];
}

/* A term of at most `room` terms. `plain`: groups that texts have no words for are left out. */
static void grow(grower *g, uint32_t room, uint32_t depth, bool filter, bool plain)
{
    uint32_t members = 1 + random_below(&g->seed, 4), first = g->count;
    if (depth == 0 || room < 3 || random_below(&g->seed, 3) == 0) {
        grow_leaf(g, filter);
        return;
    }
    reef_op op = (reef_op)(REEF_ANY_OF + random_below(&g->seed, 3));
    if (plain && members == 1 && op != REEF_NONE_OF) members = 2;
    if (members > room - 1) members = room - 1;
    g->term[g->count++] = (reef_term){.op = op, .count = members};
    for (uint32_t i = 0; i < members; i++) {
        uint32_t left = room - (g->count - first) - (members - i - 1);
        grow(g, left, depth - 1, filter || op == REEF_NONE_OF, plain);
    }
    if (!plain || op != REEF_NONE_OF || members > 1) return;
    reef_term *inner = &g->term[first + 1];
    if (inner->op == REEF_HAS) inner->op = REEF_NOT;
    if (inner->op == REEF_ANY_OF) inner->op = REEF_ALL_OF;
}

static void grow_query(grower *g, bool plain)
{
    uint32_t top = random_below(&g->seed, 5);
    g->count = 0;
    for (uint32_t i = 0; i < top && g->count < REEF_TERMS_MAX; i++) {
        uint32_t room = 1 + random_below(&g->seed, REEF_TERMS_MAX - g->count);
        grow(g, room, random_below(&g->seed, 7), false, plain);
    }
}

/* Does it hold where each leaf's truth is a bit drawn from all that the leaf says? */
static bool holds(const reef_term *terms, uint32_t *at, uint64_t world)
{
    const reef_term *t = &terms[(*at)++];
    if (t->op < REEF_ANY_OF) {
        uint64_t h = (world ^ (uint64_t)t->component.id * 7 ^ (uint64_t)t->enabled << 20 ^ (uint64_t)t->since << 24 ^
                      (uint64_t)t->source.index << 32) *
                     0x9E3779B97F4A7C15u;
        return t->op == REEF_OPTIONAL || (h >> 63 != 0) == (t->op == REEF_HAS);
    }
    uint32_t true_ones = 0;
    for (uint32_t i = 0; i < t->count; i++) true_ones += holds(terms, at, world);
    return t->op == REEF_ANY_OF ? true_ones != 0 : t->op == REEF_ALL_OF ? true_ones == t->count : true_ones == 0;
}

static bool query_holds(const reef_term *terms, uint32_t count, uint64_t world)
{
    bool all = true;
    for (uint32_t at = 0; at < count;) all &= holds(terms, &at, world);
    return all;
}

static grower grower_begin(reef_world *w)
{
    static const char *const names[] = {"sun", "ship.turret", "\"quoted\" in"};
    grower g = {
        .seed = 5,
        .types = {reef_id(Position), reef_id(Velocity), reef_id(Mass), reef_id(Frozen), reef_id(in), reef_id(of)}};
    for (int i = 0; i < 4; i++) {
        g.sources[i] = reef_create(w);
        if (i < 3) assert_ok(reef_set_name(w, g.sources[i], names[i]));
    }
    return g;
}

static void random_terms_are_read_as_they_were_written(void **state)
{
    static char text[TEXT_BYTES], again[TEXT_BYTES];
    reef_world *w = world_of(state);
    grower g = grower_begin(w);
    uint32_t largest = 0;
    for (int round = 0; round < 20000; round++) {
        grow_query(&g, true);
        reef_enabled entities = (reef_enabled)random_below(&g.seed, 3);
        if (g.count > largest) largest = g.count;
        assert_true(terms_written(w, g.term, g.count, entities, text, sizeof text) < sizeof text);
        query_text q = read_text(w, text);
        assert_int_equal(q.entities, entities);
        assert_int_equal(q.count, g.count);
        for (uint32_t i = 0; i < q.count; i++)
            if (!same_term(&q.term[i], &g.term[i])) fail_msg("round %d, term %u of \"%s\"", round, (unsigned)i, text);
        terms_written(w, q.term, q.count, q.entities, again, sizeof again);
        assert_string_equal(again, text);
    }
    assert_true(largest > 60);
}

static void any_terms_keep_their_meaning(void **state)
{
    static char text[TEXT_BYTES], again[TEXT_BYTES];
    reef_world *w = world_of(state);
    grower g = grower_begin(w);
    uint32_t shorter = 0, yes = 0, no = 0;
    for (int round = 0; round < 10000; round++) {
        grow_query(&g, false);
        terms_written(w, g.term, g.count, REEF_ENABLED, text, sizeof text);
        query_text q = read_text(w, text);
        assert_true(q.count <= g.count);
        shorter += q.count < g.count;
        for (int k = 0; k < 20; k++) {
            uint64_t world = (uint64_t)random_next(&g.seed) << 32 | random_next(&g.seed);
            bool wanted = query_holds(g.term, g.count, world);
            if (query_holds(q.term, q.count, world) != wanted) fail_msg("round %d: \"%s\"", round, text);
            if (wanted) yes++;
            else no++;
        }
        terms_written(w, q.term, q.count, q.entities, again, sizeof again);
        assert_string_equal(again, text);
    }
    assert_true(shorter > 1000 && yes > 10000 && no > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(terms_have_access_words),
        TEST(every_operator),
        TEST(words_of_enabling_and_of_change),
        TEST(a_word_is_only_a_word_when_a_name_follows_it),
        TEST(a_term_may_have_a_fixed_source),
        TEST(columns_are_those_of_names_and_of_groups),
        TEST(bad_texts_say_what_was_expected_where),
        TEST(an_unknown_name_gets_the_nearest_known_one),
        TEST(the_nearest_name_is_the_one_with_the_fewest_edits),
        TEST(an_unknown_source_is_not_alive),
        TEST(a_strict_world_knows_what_it_was_told_of),
        TEST(long_names_are_cut_between_characters),
        TEST(a_small_buffer_gets_what_fits),
        TEST(targets_and_sources_are_written_by_their_path),
        TEST(variables_that_no_text_can_name_are_written_by_number),
        TEST(a_name_that_is_proposed_can_be_found),
        TEST(a_type_with_its_subtypes_stands_alone),
        TEST(the_error_record_holds_column_and_detail),
        TEST(the_whole_message_is_told_in_every_build),
        TEST(the_number_of_terms_has_a_limit),
        TEST(nesting_has_a_limit),
        TEST(random_terms_are_read_as_they_were_written),
        TEST(any_terms_keep_their_meaning),
    };
    return cmocka_run_group_tests_name("query text", tests, NULL, NULL);
}
