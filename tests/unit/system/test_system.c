/* What a system declares: its text, what follows from it for who may run beside whom, and for who may be split.
 * (Rows D1, D2, D3, D6.) */
#include "system/system.h"
#include "type/value.h"
#include "support.h"
#include "system/schedule.h"
#include "system/system_text.h"
#include "storage/state.h"

static void nothing_done(reef_block *b) { (void)b; }
static void add_up(void *total, const void *part) { ((Mass *)total)->kg += ((const Mass *)part)->kg; }

typedef struct {
    int32_t damage;
} Hit;
typedef struct {
    int32_t seen;
} Watched;
static const reef_hooks watched_rows = {.track_rows = true};
REEF_COMPONENT(Hit);
REEF_COMPONENT_HOOKS(Watched, &watched_rows);
REEF_TAG(Ping);
REEF_TAG(sends);

static const struct system *inside(const reef_world *w, reef_system_id id)
{
    reef_status s;
    const schedule_entry *e = reef__schedule_find(w, id, &s);
    assert_non_null(e);
    return e->system;
}

static reef_system_id try_text(reef_world *w, const char *text)
{
    static unsigned number;
    char name[16];
    snprintf(name, sizeof name, "s%u", number++);
    return reef_system_new(
        w, &(reef_system_desc){.name = name, .function = nothing_done, .text = text, .combine = add_up});
}

static const struct system *from_text(reef_world *w, const char *text)
{
    const reef_system_id id = try_text(w, text);
    if (reef_system_is_null(id)) fail_msg("\"%s\": %s", text, reef_last_error(w).detail);
    return inside(w, id);
}

/* What a system uses, by the names of types: "Mass r, Position rw, Hit s"; data, then events. */
static const char *uses(const struct system *s)
{
    static char text[1024];
    size_t used = 0;
    text[0] = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        const char *last = "";
        for (;;) {
            uint32_t best = 0;
            const char *name = NULL;
            for (uint32_t i = 0; i < s->access_count; i++) {
                const uint32_t part = s->access[i].use & (pass ? 12u : 3u);
                const char *n = reef_type_name((reef_component){s->access[i].component});
                if (part && strcmp(n, last) > 0 && (name == NULL || strcmp(n, name) < 0)) best = part, name = n;
            }
            if (name == NULL) break;
            last = name;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s ", used ? ", " : "", name);
            for (uint32_t bit = 0; bit < 4; bit++)
                if (best >> bit & 1) used += (size_t)snprintf(text + used, sizeof text - used, "%c", "rwse"[bit]);
        }
    }
    return text;
}

/* ---- the text ---- */

static void texts_of_touches(void **stage)
{
    reef_world *w = world_of(stage);
    static const struct {
        const char *text;
        bool query;
        const char *kinds;
    } good[] = {
        {"", false, ""},
        {" ; ", false, ""},
        {"Position, in Velocity", true, ""},
        {"Position;", true, ""},
        {"disabled *", true, ""},
        {";reads Mass", false, "reads Mass"},
        {"Position, in Velocity; reads Mass, sends Hit, spawns Health Position, destroys", true,
         "reads Mass|sends Hit|spawns Health|spawns Position|destroys"},
        {"; writes Mass,receives Hit Ping,sums Health,adds,removes Frozen Awake,enables,names,spawns", false,
         "writes Mass|receives Hit|receives Ping|sums Health|adds|removes Frozen|removes Awake|enables|names|spawns"},
        {"; sends sends \"Hit\"", false, "sends sends|sends Hit"},
        {"Position of \"a;b\"; adds Frozen, adds", true, "adds Frozen|adds"},
    };
    assert_ok(reef_set_name(w, reef_spawn(w, reef_with(Position, 1, 2)), "a;b"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[512] = "", detail[REEF_DETAIL_MAX];
        system_text t;
        if (reef__system_text_parse(w, good[i].text, &t, detail, sizeof detail) != REEF_OK)
            fail_msg("\"%s\": %s", good[i].text, detail);
        for (uint32_t k = 0; k < t.count; k++) {
            const char *name = reef_type_name(t.touch[k].type);
            strcat(strcat(text, k ? "|" : ""), reef__touch_word(t.touch[k].kind));
            if (name) strcat(strcat(text, " "), name);
        }
        assert_string_equal(text, good[i].kinds);
        assert_int_equal(t.has_query, good[i].query);
        assert_int_equal(t.at, 0);
        const struct system *s = from_text(w, good[i].text);
        assert_int_equal(s->has_query, good[i].query);
        assert_int_equal(s->touch_count, t.count);
        assert_int_equal(s->commands, strstr(good[i].kinds, "spawns") || strstr(good[i].kinds, "adds"));
    }
}

static void texts_that_are_refused(void **stage)
{
    reef_world *w = world_of(stage);
    static const char kinds[] =
        "expected reads, writes, sends, receives, sums, spawns, adds, removes, enables, destroys, names, relates or "
        "unrelates";
    static const struct {
        const char *text;
        reef_status status;
        uint32_t column;
        const char *detail;
    } bad[] = {
        {"Positon", REEF_UNKNOWN_TYPE, 1, "no type is named Positon; did you mean Position?"},
        {"Position Velocity", REEF_BAD_TEXT, 10, "expected ',', '|' or ';', found 'Velocity'"},
        {"(Position; reads Mass", REEF_BAD_TEXT, 10, "expected ',', '|' or ')', found ';'"},
        {"Position; reads Mas", REEF_UNKNOWN_TYPE, 17, "no type is named Mas; did you mean Mass?"},
        {"Position; reads in", REEF_UNKNOWN_TYPE, 17, "no type is named in"},
        {"Position; raeds Mass", REEF_BAD_TEXT, 11, "expected what is touched, found 'raeds'; did you mean reads?"},
        {"; reads Mass, Health", REEF_BAD_TEXT, 15,
         "expected reads, writes ..., found the type Health: no comma between types"},
        {"; qqqqqqqq", REEF_BAD_TEXT, 3, kinds},
        {"; reads Mass,", REEF_BAD_TEXT, 14, kinds},
        {"; \"reads\" Mass", REEF_BAD_TEXT, 3, kinds},
        {"; , destroys", REEF_BAD_TEXT, 3, kinds},
        {"; reads", REEF_BAD_TEXT, 8, "expected a type's name, found the end"},
        {"; sums, destroys", REEF_BAD_TEXT, 7, "expected a type's name, found ','"},
        {"; destroys Mass", REEF_BAD_TEXT, 12, "expected ',', found 'Mass'"},
        {"; names; reads Mass", REEF_BAD_TEXT, 8, "expected ',', found ';'"},
        {"; spawns Mass !Health", REEF_BAD_TEXT, 15, "expected ',' or a type's name, found '!'"},
        {"; reads \"Mass", REEF_BAD_TEXT, 14, "expected the quote that ends the name, found the end"},
        {"; sends Tracked", REEF_BAD_ARGUMENT, 9, "sends Tracked: its values can't be copied as bytes"},
        {"; receives Unique", REEF_BAD_ARGUMENT, 12, "receives Unique: its values can't be copied as bytes"},
        {"; sums Loose", REEF_BAD_ARGUMENT, 8, "sums Loose: its values can't be copied as bytes"},
        {"; sums Frozen", REEF_BAD_ARGUMENT, 8, "sums Frozen: it has no data"},
        {"; sums Mass Health", REEF_BAD_ARGUMENT, 13, "a system sums one type: a second one needs another system"},
        {"; reads Mass, reads Mass", REEF_DUPLICATE_TERM, 21, ""},
        {"; adds, destroys, adds", REEF_DUPLICATE_TERM, 19, ""},
        {"Position, in Position; reads Mass", REEF_DUPLICATE_TERM, 14,
         "it is named before: only filters may be named twice, and one of them in a group"},
        {"added Position", REEF_BAD_ARGUMENT, 7, "'added' needs a type with track_rows"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint64_t before = digest(w);
        assert_true(reef_system_is_null(try_text(w, bad[i].text)));
        const reef_error e = reef_last_error(w);
        if (e.status != bad[i].status || e.number != bad[i].column || strcmp(e.detail, bad[i].detail) != 0)
            fail_msg("\"%s\": %s, column %u: %s", bad[i].text, reef_status_name(e.status), (unsigned)e.number,
                     e.detail);
        assert_string_equal(e.operation, "reef_system_new");
        assert_true(digest(w) == before);
    }
    assert_null(reef__touch_word((reef_touch_kind)0));
    assert_null(reef__touch_word((reef_touch_kind)(REEF_PLACED + 1)));
}

/* Every text that is cut off, and every byte put anywhere, is read or refused at a column of it. */
static void texts_cut_and_changed(void **stage)
{
    reef_world *w = world_of(stage);
    static const char whole[] = "Position, in Velocity | !Mass; reads Mass, sends Hit \"Ping\", destroys";
    char text[sizeof whole], detail[REEF_DETAIL_MAX];
    for (size_t i = 0; i < sizeof whole; i++) {
        for (int c = 0; c < 256; c++) {
            system_text t;
            memcpy(text, whole, sizeof whole);
            text[i] = (char)c;
            text[sizeof whole - 1] = 0;
            const reef_status s = reef__system_text_parse(w, text, &t, detail, sizeof detail);
            assert_true(s == REEF_OK ? t.at == 0 && detail[0] == 0
                                     : t.at >= 1 && t.at <= strlen(text) + 1 && detail[0] != 0);
        }
    }
}

static void the_same_as_a_struct(void **stage)
{
    reef_world *w = world_of(stage);
    const struct system *a = from_text(w, "Position, in Velocity, !Frozen; reads Mass, sends Hit, spawns, destroys");
    reef_system_desc d = {
        .name = "struct",
        .function = nothing_done,
        .query = &(reef_query_desc){.terms = {{.component = reef_id(Position)},
                                              {.component = reef_id(Velocity), .access = REEF_IN},
                                              {.component = reef_id(Frozen), .op = REEF_NOT, .access = REEF_INOUT}}},
        .touches = {{REEF_READS, reef_id(Mass)}, {REEF_SENDS, reef_id(Hit)}, {REEF_SPAWNS, {0}}, {REEF_DESTROYS, {0}}}};
    const struct system *b = inside(w, reef_system_new(w, &d));
    a = inside(w, (reef_system_id){0, 1, w->hot.number});
    assert_int_equal(a->touch_count, b->touch_count);
    assert_memory_equal(a->touches, b->touches, a->touch_count * sizeof *a->touches);
    assert_int_equal(a->access_count, b->access_count);
    assert_memory_equal(a->access, b->access, a->access_count * sizeof *a->access);
    assert_memory_equal(a->query.terms, b->query.terms, 2 * sizeof *a->query.terms);
    assert_null(a->query.text);
    assert_true(a->split && b->split && a->commands && b->commands);
    /* With a text of its own, or one half of each. */
    d.name = "halves";
    d.query = &(reef_query_desc){.text = "Position, in Velocity, !Frozen"};
    d.touches[1].kind = 0;
    d.text = "; sends Hit";
    b = inside(w, reef_system_new(w, &d));
    assert_string_equal(uses(b), "Mass r, Position rw, Velocity r, Hit s");
    d.query = &(reef_query_desc){.text = "Position, in Velocty"};
    assert_true(reef_system_is_null(reef_system_new(w, &d)));
    assert_int_equal(reef_last_error(w).number, 14);
}

static void structs_that_are_refused(void **stage)
{
    reef_world *w = world_of(stage), *strict = another_world(stage, &(reef_world_config){.strict = true});
    const struct {
        reef_touch touch;
        reef_status status;
    } bad[] = {
        {{(reef_touch_kind)14, reef_id(Mass)}, REEF_BAD_ARGUMENT},
        {{(reef_touch_kind)-1, reef_id(Mass)}, REEF_BAD_ARGUMENT},
        {{REEF_READS, {0}}, REEF_BAD_ARGUMENT},
        {{REEF_SUMS, {0}}, REEF_BAD_ARGUMENT},
        {{REEF_DESTROYS, reef_id(Mass)}, REEF_BAD_ARGUMENT},
        {{REEF_NAMES, reef_id(Mass)}, REEF_BAD_ARGUMENT},
        {{REEF_READS, {60000}}, REEF_UNKNOWN_TYPE},
        {{REEF_ADDS, {60000}}, REEF_UNKNOWN_TYPE},
        {{REEF_SUMS, reef_id(Mass)}, REEF_BAD_ARGUMENT},
        {{REEF_READS, reef_id(Health)}, REEF_DUPLICATE_TERM},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        reef_system_desc d = {
            .name = "a", .function = nothing_done, .touches = {{REEF_READS, reef_id(Health)}, bad[i].touch}};
        assert_true(reef_system_is_null(reef_system_new(w, &d)));
        assert_status(bad[i].status, reef_last_error(w).status);
        assert_int_equal(reef_last_error(w).number, 2);
    }
    reef_system_desc d = {
        .name = "a", .function = nothing_done, .query = &(reef_query_desc){.terms = {{.component = {60000}}}}};
    assert_true(reef_system_is_null(reef_system_new(w, &d)));
    assert_status(REEF_UNKNOWN_TYPE, reef_last_error(w).status);
    d = (reef_system_desc){.name = "a", .function = nothing_done, .touches = {{REEF_READS, reef_id(Mass)}}};
    assert_true(reef_system_is_null(reef_system_new(strict, &d)));
    assert_status(REEF_UNKNOWN_TYPE, reef_last_error(strict).status);
    assert_ok(reef_use(strict, Mass));
    assert_false(reef_system_is_null(reef_system_new(strict, &d)));
}

/* ---- what follows from it ---- */

static void access_and_splitting(void **stage)
{
    reef_world *w = world_of(stage);
    assert_ok(reef_set_name(w, reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3)), "sun"));
    static const struct {
        const char *text, *uses;
        split_reason reason;
        const char *type;
    } cases[] = {
        {"", "", SPLIT_NO_QUERY, NULL},
        {"; reads Mass", "Mass r", SPLIT_NO_QUERY, NULL},
        {"Position, in Velocity, out Mass", "Mass w, Position rw, Velocity r", SPLIT_ALLOWED, NULL},
        {"with Position, !Velocity, Frozen, !Hungry, Awake, ?Seen", "", SPLIT_ALLOWED, NULL},
        {"?Position, in Velocity | Mass, !(Health, Cargo)", "Mass rw, Position rw, Velocity r", SPLIT_ALLOWED, NULL},
        {"changed with Position, !changed Mass", "Mass r, Position r", SPLIT_ALLOWED, NULL},
        {"added with Watched, changed in Velocity", "Velocity r, Watched r", SPLIT_ALLOWED, NULL},
        {"Position, changed in Velocity | changed Mass", "Mass rw, Position rw, Velocity r", SPLIT_CHANGED_IN_GROUP,
         "Mass"},
        {"changed Position, in Velocity", "Position rw, Velocity r", SPLIT_ALLOWED, NULL},
        {"Position, in Mass of sun", "Mass r, Position rw", SPLIT_ALLOWED, NULL},
        {"Velocity, with Mass of sun", "Velocity rw", SPLIT_ALLOWED, NULL},
        {"Velocity, Mass of sun", "Mass rw, Velocity rw", SPLIT_WRITES_FIXED, "Mass"},
        {"Velocity, out Mass of sun", "Mass w, Velocity rw", SPLIT_WRITES_FIXED, "Mass"},
        {"Position, in Position of sun", "Position rw", SPLIT_READS_WRITTEN, "Position"},
        {"in Position, in Mass of sun; reads Position", "Mass r, Position r", SPLIT_ALLOWED, NULL},
        {"Position; reads Position", "Position rw", SPLIT_READS_WRITTEN, "Position"},
        {"out Position; reads Mass Position", "Mass r, Position rw", SPLIT_READS_WRITTEN, "Position"},
        {"Position; reads Mass", "Mass r, Position rw", SPLIT_ALLOWED, NULL},
        {"in Position; writes Mass", "Mass rw, Position r", SPLIT_WRITES_OTHERS, "Mass"},
        {"in Position; reads Mass, writes Mass", "Mass rw, Position r", SPLIT_WRITES_OTHERS, "Mass"},
        {"in Position; sums Mass", "Mass rw, Position r", SPLIT_ALLOWED, NULL},
        {"in Position; sends Hit Ping, receives Mass", "Position r, Hit s, Mass e, Ping s", SPLIT_ALLOWED, NULL},
        {"in Hit; sends Hit", "Hit r, Hit s", SPLIT_ALLOWED, NULL},
        {"Position; reads Frozen Awake, writes Hungry", "Position rw", SPLIT_WRITES_OTHERS, "Hungry"},
        {"Position; spawns Position, adds Mass, removes, enables, destroys, names", "Position rw", SPLIT_ALLOWED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct system *s = from_text(w, cases[i].text);
        const char *type_name = reef_type_name(s->unsplit_type), *wanted = cases[i].type;
        if (strcmp(uses(s), cases[i].uses) != 0 || s->unsplit != cases[i].reason ||
            s->split != (cases[i].reason == SPLIT_ALLOWED))
            fail_msg("\"%s\": %s, %d", cases[i].text, uses(s), (int)s->unsplit);
        if (wanted) assert_string_equal(type_name, wanted);
        else assert_null(type_name);
        for (uint32_t k = 1; k < s->access_count; k++) assert_true(s->access[k - 1].component < s->access[k].component);
    }
    reef_system_desc d = {.name = "whole", .function = nothing_done, .text = "Position", .whole = true};
    assert_int_equal(inside(w, reef_system_new(w, &d))->unsplit, SPLIT_WHOLE);
    d = (reef_system_desc){.name = "main", .function = nothing_done, .text = "Position", .main_thread = true};
    assert_int_equal(inside(w, reef_system_new(w, &d))->unsplit, SPLIT_MAIN_THREAD);
}

/* All pairs of ways to use Mass. */
static void collisions_of_all_pairs(void **stage)
{
    reef_world *w = world_of(stage);
    assert_ok(reef_set_name(w, reef_spawn(w, reef_with(Mass, 3)), "sun"));
    enum { NOT, READ, WRITE, SEND, RECEIVE };
    static const struct {
        const char *text;
        int use;
    } ways[] = {
        {"", NOT},
        {"with Mass", NOT},
        {"!Mass", NOT},
        {"in Position; spawns Mass, adds Mass, removes Mass, enables Mass, destroys, names", NOT},
        {"with Mass of sun, in Velocity", NOT},
        {"in Mass", READ},
        {"changed with Mass", READ},
        {"?in Mass", READ},
        {"in Mass | in Health", READ},
        {"in Mass of sun", READ},
        {"; reads Mass", READ},
        {"Mass", WRITE},
        {"out Mass", WRITE},
        {"?Mass", WRITE},
        {"Mass | in Cargo", WRITE},
        {"Mass of sun", WRITE},
        {"; writes Mass", WRITE},
        {"; sums Mass", WRITE},
        {"; sends Mass", SEND},
        {"; receives Mass", RECEIVE},
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    reef_system_id id[WAYS];
    for (uint32_t i = 0; i < WAYS; i++) id[i] = try_text(w, ways[i].text);
    for (uint32_t i = 0; i < WAYS; i++) {
        for (uint32_t j = 0; j < WAYS; j++) {
            const int a = ways[i].use, b = ways[j].use;
            const bool wanted = (a == WRITE && (b == READ || b == WRITE)) || (a == READ && b == WRITE) ||
                                (a == SEND && b == RECEIVE) || (a == RECEIVE && b == SEND);
            const uint32_t got = reef__systems_collide(inside(w, id[i]), inside(w, id[j]));
            if (got != (wanted ? reef_id(Mass).id : 0))
                fail_msg("\"%s\" and \"%s\": %u", ways[i].text, ways[j].text, (unsigned)got);
        }
    }
    /* Sending and receiving at once is both; the first by name is told, whatever its id. */
    const reef_system_id both = try_text(w, "; sends Hit, receives Hit"), sends_hit = try_text(w, "; sends Hit");
    assert_int_equal(reef__systems_collide(inside(w, both), inside(w, both)), reef_id(Hit).id);
    assert_int_equal(reef__systems_collide(inside(w, both), inside(w, sends_hit)), reef_id(Hit).id);
    assert_int_equal(reef__systems_collide(inside(w, sends_hit), inside(w, sends_hit)), 0);
    const reef_component z = reef_type_new(&(reef_type_desc){.name = "Zz1", .size = 4}, NULL),
                         y = reef_type_new(&(reef_type_desc){.name = "Aa1", .size = 4}, NULL);
    assert_true(z.id < y.id);
    const reef_system_id two = try_text(w, "Zz1, Aa1"), other = try_text(w, "in Aa1, in Zz1");
    assert_int_equal(reef__systems_collide(inside(w, two), inside(w, other)), y.id);
}

static void what_is_declared(void **stage)
{
    reef_world *w = world_of(stage);
    const uint32_t mass = reef_id(Mass).id, hit = reef_id(Hit).id;
    reef_system_id id = try_text(
        w, "Position; reads Mass, writes Velocity, sends Hit, spawns Mass, adds, removes Frozen, enables Mass");
    const struct system *s = inside(w, id);
    assert_true(reef__system_touches(s, REEF_READS, mass));
    assert_true(reef__system_touches(s, REEF_READS, reef_id(Velocity).id));
    assert_true(reef__system_touches(s, REEF_WRITES, reef_id(Velocity).id));
    assert_false(reef__system_touches(s, REEF_WRITES, mass));
    assert_false(reef__system_touches(s, REEF_READS, reef_id(Position).id));
    assert_true(reef__system_touches(s, REEF_SENDS, hit));
    assert_false(reef__system_touches(s, REEF_RECEIVES, hit));
    assert_true(reef__system_touches(s, REEF_SPAWNS, mass));
    assert_true(reef__system_touches(s, REEF_SPAWNS, 0));
    assert_false(reef__system_touches(s, REEF_SPAWNS, hit));
    assert_true(reef__system_touches(s, REEF_ADDS, hit));
    assert_true(reef__system_touches(s, REEF_ADDS, 0));
    assert_true(reef__system_touches(s, REEF_REMOVES, reef_id(Frozen).id));
    assert_false(reef__system_touches(s, REEF_REMOVES, 0));
    assert_true(reef__system_touches(s, REEF_ENABLES, mass));
    assert_false(reef__system_touches(s, REEF_ENABLES, 0));
    assert_false(reef__system_touches(s, REEF_DESTROYS, 0));
    assert_false(reef__system_touches(s, REEF_NAMES, 0));
    s = inside(w, try_text(w, "; destroys, names, enables"));
    assert_true(reef__system_touches(s, REEF_DESTROYS, 0));
    assert_true(reef__system_touches(s, REEF_NAMES, 0));
    assert_true(reef__system_touches(s, REEF_ENABLES, 0));
    assert_true(reef__system_touches(s, REEF_ENABLES, hit));
    assert_false(reef__system_touches(s, REEF_SPAWNS, 0));
}

/* One that is run once needs neither a name nor a phase. */
static void a_system_in_no_schedule(void **stage)
{
    reef_world *w = world_of(stage);
    struct system *s =
        reef__system_make(w, "reef_system_once",
                          &(reef_system_desc){.function = nothing_done, .text = "Position", .phase = "nowhere"}, NULL);
    assert_non_null(s);
    assert_null(w->schedule);
    assert_string_equal(s->name, "reef_system_once");
    assert_int_equal(s->holders, 1);
    reef__system_leave(w->family, s);
    assert_null(reef__system_make(w, "reef_system_once", &(reef_system_desc){.text = "Position"}, NULL));
    assert_string_equal(reef_last_error(w).operation, "reef_system_once");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_of_touches),        TEST(texts_that_are_refused),   TEST(texts_cut_and_changed),
        TEST(the_same_as_a_struct),    TEST(structs_that_are_refused), TEST(access_and_splitting),
        TEST(collisions_of_all_pairs), TEST(what_is_declared),         TEST(a_system_in_no_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
