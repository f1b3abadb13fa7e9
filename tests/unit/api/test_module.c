/* Modules: loading, replacing and removing them, what belongs to them, and what a refusal leaves as it was. */
#include "support.h"

typedef struct {
    uint32_t length;
    char text[400];
} Story;
typedef struct {
    uint32_t n;
} Ping;
typedef struct {
    float x;
} Changing;
REEF_COMPONENT(Ping);
REEF_COMPONENT(Changing);
REEF_TAG(Marked);
typedef struct {
    float x;
} Wind, Tide, Moon;
REEF_COMPONENT(Wind);
REEF_COMPONENT_IN(Tide, REEF_SPARSE);
REEF_COMPONENT(Moon);
REEF_MODULE_TYPES(sky_types, Wind, Tide, Moon);
REEF_MODULE_TYPES(sea_types, Tide);

static Story story;

static void tell(const char *what)
{
    const size_t n = strlen(what);
    if (story.length + n + 2 > sizeof story.text) return;
    memcpy(story.text + story.length, what, n + 1);
    story.length += (uint32_t)n;
    strcpy(story.text + story.length++, " ");
}
static void assert_told(const char *what)
{
    assert_string_equal(story.text, what);
    memset(&story, 0, sizeof story);
}

static void first(reef_block *b) { (void)b, tell("first"); }
static void second(reef_block *b) { (void)b, tell("second"); }
static void second_anew(reef_block *b) { (void)b, tell("second_anew"); }
static void third(reef_block *b) { (void)b, tell("third"); }
static void host(reef_block *b) { (void)b, tell("host"); }
static void seldom(reef_block *b) { (void)b, tell("seldom"); }
static void ping(reef_block *b) { reef_send(b, Ping, story.length); }
static void pong(reef_block *b)
{
    char number[32];
    uint32_t all = 0, n;
    reef_events x = reef_receive(b, Ping);
    while (reef_event_run(&x, &n)) all += n;
    snprintf(number, sizeof number, "pong%u", all);
    tell(number);
}
static void on_marked(const reef_notice *n) { (void)n, tell("marked"); }
static void on_marked_anew(const reef_notice *n) { (void)n, tell("marked_anew"); }

static reef_system_id add(reef_world *w, const char *name, void (*function)(reef_block *b), const char *text)
{
    return reef_system_add(w, name, function, text);
}
static void observe(reef_world *w, void (*function)(const reef_notice *n), bool existing)
{
    (void)reef_observer_new(w, &(reef_observer_desc){.name = "on_marked",
                                                     .function = function,
                                                     .events = REEF_ON_ADD,
                                                     .component = reef_id(Marked),
                                                     .existing = existing});
}
static void tick(reef_world *w) { assert_ok(reef_tick(w, 1.0f)); }

/* ---- loading ---- */

static reef_status rules_load(reef_world *w, void *context)
{
    *(uint32_t *)context += 1;
    add(w, "first", first, NULL);
    add(w, "second", second, NULL);
    observe(w, on_marked, true);
    reef_spawn(w, reef_with(Position, 1, 2));
    return REEF_OK;
}
static void rules_unload(reef_world *w, void *context)
{
    assert_true(reef_system_is_null(reef_system_find(w, "first")));
    *(uint32_t *)context += 100;
}
static uint32_t loaded;
REEF_MODULE_TYPES(rules_types, Position, Marked);
static const reef_module rules = {.name = "rules",
                                  .version = 1,
                                  .types = rules_types,
                                  .type_count = rules_types_count,
                                  .load = rules_load,
                                  .unload = rules_unload,
                                  .context = &loaded};

typedef struct count {
    uint32_t modules, systems, observers, own_systems, own_observers;
} count;
static bool count_module(void *context, const reef_module_info *m)
{
    count *c = context;
    c->modules++;
    c->systems += m->systems;
    c->observers += m->observers;
    return true;
}
static bool count_system(void *context, const reef_system_info *s)
{
    ((count *)context)->own_systems += s->module && strcmp(s->module, "rules") == 0;
    return true;
}
static bool count_observer(void *context, const reef_observer_info *o)
{
    ((count *)context)->own_observers += o->module && strcmp(o->module, "rules") == 0;
    return true;
}
static void assert_counts(const reef_world *w, uint32_t modules, uint32_t systems, uint32_t observers)
{
    count c = {0};
    assert_true(reef_visit_modules(w, count_module, &c));
    assert_true(reef_visit_systems(w, count_system, &c));
    assert_true(reef_visit_observers(w, count_observer, &c));
    assert_int_equal(c.modules, modules);
    assert_int_equal(c.systems, systems);
    assert_int_equal(c.observers, observers);
    assert_int_equal(c.own_systems, systems);
    assert_int_equal(c.own_observers, observers);
}

static void a_module_brings_and_takes_what_it_made(void **state)
{
    reef_world *w = world_of(state);
    loaded = 0;
    assert_counts(w, 0, 0, 0);
    assert_int_equal(reef_module_version(w, "rules"), 0);
    add(w, "host", host, NULL);
    const reef_entity e = reef_spawn(w, reef_tag(Marked));
    assert_ok(reef_module_use(w, &rules));
    assert_told("marked ");
    assert_ok(reef_module_use(w, &rules)); /* nothing happens */
    assert_int_equal(loaded, 1);
    assert_int_equal(reef_module_version(w, "rules"), 1);
    assert_counts(w, 1, 2, 1);
    tick(w);
    assert_told("host first second ");
    char text[1024];
    assert_true(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "  first, of module rules\n"));
    assert_non_null(strstr(text, "  host\n"));
    reef_world *fork = reef_fork(w);
    assert_counts(fork, 1, 2, 1);
    assert_ok(reef_module_remove(fork, "rules"));
    assert_int_equal(loaded, 101);
    assert_counts(fork, 0, 0, 0);
    tick(fork);
    assert_told("host ");
    reef_add(fork, reef_create(fork), Marked);
    assert_told("");
    assert_int_equal(reef_count(fork, Position), 1); /* what it made stays */
    assert_valid(fork);
    reef_world_free(fork);
    assert_counts(w, 1, 2, 1); /* the origin has it still */
    tick(w);
    assert_told("host first second ");
    reef_remove(w, e, Marked);
    reef_add(w, e, Marked);
    assert_told("marked ");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_remove(w, "rule"));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_remove(w, NULL));
    assert_ok(reef_module_remove(w, "rules"));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_remove(w, "rules"));
    assert_ok(reef_module_use(w, &rules));
    assert_counts(w, 1, 2, 1);
    memset(&story, 0, sizeof story);
}

static void modules_are_printed(void **state)
{
    reef_world *w = world_of(state);
    char text[256] = "";
    FILE *to = tmpfile();
    assert_non_null(to);
    assert_ok(reef_module_use(w, &rules));
    const reef_module more = {.name = "more", .version = 7, .needs = "rules", .load = rules.load, .context = &loaded};
    reef_module_remove(w, "more");
    assert_status(REEF_EXISTS, reef_module_use(w, &more)); /* first, and second */
    reef_print_modules(w, to);
    rewind(to);
    assert_non_null(fgets(text, sizeof text, to));
    assert_string_equal(text, "rules 1: 2 systems (first, second), 1 observer (on_marked)\n");
    assert_null(fgets(text, sizeof text, to));
    assert_int_equal(fclose(to), 0);
    reef_print_modules(w, NULL);
    assert_false(reef_visit_modules(w, NULL, NULL));
    assert_false(reef_visit_modules(NULL, count_module, NULL));
    assert_int_equal(reef_module_version(NULL, "rules"), 0);
    memset(&story, 0, sizeof story);
}

/* ---- refusing ---- */

static reef_status bad_load(reef_world *w, void *context)
{
    add(w, "first", first, NULL);
    reef_spawn(w, reef_with(Position, 3, 4));
    observe(w, on_marked, true);
    reef_phase_new(w, &(reef_phase_desc){.name = "late"});
    if (*(const char *)context == 't') add(w, "wrong", second, "Positon, in Velocity");
    if (*(const char *)context == 'o') (void)reef_observer_new(w, &(reef_observer_desc){.name = "nothing"});
    if (*(const char *)context == 'p') reef_phase_new(w, &(reef_phase_desc){.name = "late", .after = "never"});
    if (*(const char *)context == 'e') add(w, "host", host, NULL);
    if (*(const char *)context == 'u') {
        assert_status(REEF_LOCKED, reef_module_use(w, &rules));
        assert_status(REEF_LOCKED, reef_module_remove(w, "rules"));
    }
    if (*(const char *)context == 's') return REEF_IO;
    add(w, "third", third, NULL);
    return *(const char *)context == 'u' ? REEF_CANCELLED : REEF_OK;
}

/* What reef_print_modules prints, as one text. */
static const char *printed(const reef_world *w)
{
    static char text[512];
    FILE *to = tmpfile();
    assert_non_null(to);
    reef_print_modules(w, to);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = 0;
    assert_int_equal(fclose(to), 0);
    return text;
}

static reef_status load_nothing(reef_world *w, void *context)
{
    (void)w, (void)context;
    return REEF_OK;
}

static void types_without_their_module_are_named(void **state)
{
    reef_world *w = world_of(state);
    const reef_module
        sky = {.name = "sky", .version = 1, .types = sky_types, .type_count = sky_types_count, .load = load_nothing},
        sea = {.name = "sea", .version = 1, .types = sea_types, .type_count = sea_types_count, .load = load_nothing};
    assert_ok(reef_module_use(w, &sky));
    assert_ok(reef_module_use(w, &sea));
    const reef_entity e = reef_spawn(w, reef_with(Wind, 1), reef_with(Tide, 2));
    (void)reef_single_set(w, Moon, 3);
    assert_string_equal(printed(w), "sky 1: 0 systems, 0 observers\nsea 1: 0 systems, 0 observers\n");
    reef_world *fork = reef_fork(w);
    assert_ok(reef_module_remove(w, "sky"));
    assert_string_equal(printed(w), "sea 1: 0 systems, 0 observers\nwithout their module: Moon, Wind\n");
    assert_null(strstr(printed(fork), "without")); /* it has the module still */
    assert_ok(reef_module_remove(w, "sea"));
    assert_string_equal(printed(w), "without their module: Moon, Tide, Wind\n");
    assert_ok(reef_destroy(w, e));
    assert_string_equal(printed(w), "without their module: Moon\n");
    assert_ok(reef_module_use(w, &sky));
    assert_string_equal(printed(w), "sky 1: 0 systems, 0 observers\n");
    reef_world_free(fork);
}

static void a_refusal_leaves_nothing(void **state)
{
    reef_world *w = world_of(state);
    static const struct {
        const char *how;
        reef_status status;
        const char *text;
    } cases[] = {{"text", REEF_UNKNOWN_TYPE, "Position"},
                 {"observer", REEF_BAD_ARGUMENT, "function"},
                 {"phase", REEF_EXISTS, "late"},
                 {"exists", REEF_EXISTS, "host"},
                 {"status", REEF_IO, "its `load` refused"},
                 {"use", REEF_CANCELLED, ""}};
    add(w, "host", host, NULL);
    reef_spawn(w, reef_tag(Marked));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const reef_module bad = {
            .name = "bad", .version = 2, .load = bad_load, .context = (void *)(uintptr_t)cases[i].how};
        const uint64_t hash = reef_hash(w);
        assert_status(cases[i].status, reef_module_use(w, &bad));
        assert_valid(w);
        char text[512];
        reef_error_text(w, text, sizeof text);
        assert_non_null(strstr(text, cases[i].text));
        assert_true(reef_hash(w) == hash);
        assert_int_equal(reef_module_version(w, "bad"), 0);
        memset(&story, 0, sizeof story);
        tick(w);
        assert_told("host ");
        reef_add(w, reef_create(w), Marked);
        assert_told("");
        assert_int_equal(reef_phase_new(w, &(reef_phase_desc){.name = "late", .after = "never"}), REEF_BAD_ARGUMENT);
    }
}

static reef_status nothing_load(reef_world *w, void *context)
{
    (void)w, (void)context;
    return REEF_OK;
}

static void wrong_descriptions_are_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_module good = {.name = "good", .version = 1, .load = nothing_load};
    reef_module bad = good;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, NULL));
    bad.name = "a name";
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    bad = good, bad.version = 0;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    bad = good, bad.load = NULL;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    bad = good, bad.type_count = 1;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    bad = good, bad.script_count = 1;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    static const char *const needs[] = {"physics 0", "physics 4294967296", "physics 2 3", ", physics", "physics x"};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        bad = good, bad.needs = needs[i];
        assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &bad));
    }
    bad = good, bad.needs = "";
    assert_ok(reef_module_use(w, &bad));
    assert_int_equal(reef_module_use(NULL, &good), REEF_BAD_ARGUMENT);
    const reef_query q = reef_query_new(w, "Position");
    reef_spawn(w, reef_with(Position, 1, 2));
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        assert_int_equal(reef_module_use(w, &rules), REEF_LOCKED);
        assert_int_equal(reef_module_remove(w, "good"), REEF_LOCKED);
    }
}

static void what_a_module_needs_is_there(void **state)
{
    reef_world *w = world_of(state);
    const reef_module physics = {.name = "physics", .version = 2, .load = nothing_load};
    const reef_module input = {.name = "input", .version = 1, .load = nothing_load};
    const reef_module game = {.name = "game", .version = 1, .needs = "physics 2, input", .load = nothing_load};
    const reef_module later = {.name = "later", .version = 1, .needs = "input, physics 3", .load = nothing_load};
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &game));
    assert_string_equal(reef_last_error(w).detail, "game needs physics 2, which isn't loaded");
    assert_ok(reef_module_use(w, &physics));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &game));
    assert_ok(reef_module_use(w, &input));
    assert_ok(reef_module_use(w, &game));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &later));
    assert_string_equal(reef_last_error(w).detail, "later needs physics 3; 2 is loaded");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_remove(w, "physics"));
    assert_string_equal(reef_last_error(w).detail, "game needs it");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_remove(w, "input"));
    const reef_module older = {.name = "physics", .version = 1, .load = nothing_load},
                      newer = {.name = "physics", .version = 3, .load = nothing_load};
    assert_refused(w, REEF_BAD_ARGUMENT, reef_module_use(w, &older));
    assert_string_equal(reef_last_error(w).detail, "game needs a newer version of physics than 1");
    assert_ok(reef_module_use(w, &newer));
    assert_ok(reef_module_remove(w, "game"));
    assert_ok(reef_module_use(w, &older));
    assert_ok(reef_module_remove(w, "physics"));
}

static void a_type_of_another_layout_is_refused_by_field(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_id(Changing);
    static reef_type_decl other = {"Changing", 8,    4, REEF_TABLE, NULL, 0, 0, 0,   NULL,
                                   0,          NULL, 0, NULL,       NULL, 0, 0, NULL};
    static reef_type_decl *const types[] = {&other};
    const reef_module m = {.name = "m", .version = 1, .types = types, .type_count = 1, .load = nothing_load};
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_module_use(w, &m));
    char text[512];
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "Changing"));
    assert_int_equal(reef_module_version(w, "m"), 0);
}

static void there_is_a_limit(void **state)
{
    reef_world *w = world_of(state);
    char name[REEF_MODULES_MAX + 1][8];
    reef_module m[REEF_MODULES_MAX + 1];
    for (uint32_t i = 0; i <= REEF_MODULES_MAX; i++) {
        snprintf(name[i], sizeof name[i], "m%u", i);
        m[i] = (reef_module){.name = name[i], .version = 1, .load = nothing_load};
        if (i < REEF_MODULES_MAX) assert_ok(reef_module_use(w, &m[i]));
    }
    assert_refused(w, REEF_LIMIT, reef_module_use(w, &m[REEF_MODULES_MAX]));
    m[3].version = 2; /* replaces one */
    assert_ok(reef_module_use(w, &m[3]));
    assert_ok(reef_module_remove(w, "m5"));
    assert_ok(reef_module_use(w, &m[REEF_MODULES_MAX]));
}

/* ---- replacing ---- */

static reef_status one_load(reef_world *w, void *context)
{
    (void)context;
    reef_phase_new(w, &(reef_phase_desc){.name = "late", .step_ns = 500000000});
    add(w, "first", first, NULL);
    add(w, "second", second, NULL);
    add(w, "pong", pong, "; receives Ping");
    (void)reef_system_new(w, &(reef_system_desc){.name = "seldom", .function = seldom, .interval_ns = 3000000000u});
    observe(w, on_marked, false);
    return REEF_OK;
}
static reef_status two_load(reef_world *w, void *context)
{
    reef_phase_new(w, &(reef_phase_desc){.name = "late", .step_ns = 1000000000});
    add(w, "third", third, NULL);
    add(w, "second", second_anew, NULL);
    (void)reef_system_new(w, &(reef_system_desc){.name = "fourth", .function = host, .phase = "late"});
    add(w, "pong", pong, "; receives Ping");
    (void)reef_system_new(w, &(reef_system_desc){.name = "seldom", .function = seldom, .interval_ns = 3000000000u});
    observe(w, on_marked_anew, true);
    if (context) add(w, "wrong", first, "Nothing");
    return REEF_OK;
}

static void another_version_takes_the_place(void **state)
{
    reef_world *w = world_of(state);
    const reef_module one = {.name = "game", .version = 1, .load = one_load},
                      wrong = {.name = "game", .version = 2, .load = two_load, .context = &loaded},
                      two = {.name = "game", .version = 2, .load = two_load};
    memset(&story, 0, sizeof story);
    const reef_entity e = reef_spawn(w, reef_tag(Marked));
    assert_ok(reef_module_use(w, &one));
    const reef_system_id sender = add(w, "ping", ping, "; sends Ping");
    const reef_system_id a = reef_system_find(w, "first"), b = reef_system_find(w, "second"),
                         s = reef_system_find(w, "seldom");
    const reef_observer_id o = reef_observer_find(w, "on_marked");
    tick(w);
    assert_told("first second pong0 ");
    assert_ok(reef_system_enable(w, b, false));
    assert_status(REEF_UNKNOWN_TYPE, reef_module_use(w, &wrong));
    assert_int_equal(reef_module_version(w, "game"), 1);
    assert_told("");
    reef_world *fork = reef_fork(w);
    tick(w);
    assert_told("first pong1 ");
    assert_ok(reef_module_use(w, &two));
    assert_told(""); /* the observer was told of what is there when it was made first */
    assert_int_equal(reef_module_version(w, "game"), 2);
    assert_null(reef_system_name(w, a));
    assert_string_equal(reef_system_name(w, b), "second");
    assert_string_equal(reef_system_name(w, s), "seldom");
    assert_string_equal(reef_observer_name(w, o), "on_marked");
    assert_false(reef_system_is_enabled(w, b));
    assert_ok(reef_system_enable(w, b, true));
    assert_ok(reef_system_enable(w, sender, false));
    tick(w); /* pong hears what was sent before, and seldom's interval goes on */
    assert_told("third second_anew pong1 seldom host ");
    tick(w);
    assert_told("third second_anew pong0 host ");
    reef_remove(w, e, Marked);
    reef_add(w, e, Marked);
    assert_told("marked_anew ");
    assert_valid(w);
    tick(fork); /* which has the first version */
    assert_told("first pong1 ");
    reef_world_free(fork);
    assert_ok(reef_module_remove(w, "game"));
    tick(w);
    assert_told("");
    const reef_system_id anew = add(w, "second", second, NULL);
    assert_null(reef_system_name(w, b));
    assert_string_equal(reef_system_name(w, anew), "second");
}

/* ---- scripts ---- */

static void guard_update(reef_script_run *r) { (void)r, tell("guard"); }
static void guard_end(reef_script_run *r) { (void)r, tell("ended"); }
static const reef_script_class guard = {.name = "guard", .update = guard_update, .end = guard_end},
                               other_class = {.name = "other", .update = guard_update};
static const reef_script_class *const guards[] = {&guard};

static void scripts_of_a_module_end_with_it(void **state)
{
    reef_world *w = world_of(state);
    const reef_module m = {.name = "m", .version = 1, .scripts = guards, .script_count = 1, .load = nothing_load};
    memset(&story, 0, sizeof story);
    assert_ok(reef_module_use(w, &m));
    assert_false(reef_system_is_null(reef_scripts(w, NULL, NULL)));
    const reef_entity a = reef_create(w), b = reef_create(w);
    assert_ok(reef_script_add(w, a, &guard, NULL));
    assert_ok(reef_script_add(w, b, &other_class, NULL));
    tick(w);
    assert_told("guard guard ");
    assert_ok(reef_module_remove(w, "m"));
    assert_null(reef_script_of(w, a));
    assert_non_null(reef_script_of(w, b));
    tick(w);
    assert_told("ended guard ");
}

/* ---- going back behind another version ---- */

typedef struct {
    uint32_t received, changed, timed;
} Diary;
REEF_COMPONENT(Diary);
static void receive(reef_block *b)
{
    uint32_t n;
    reef_events x = reef_receive(b, Ping);
    while (reef_event_run(&x, &n)) reef_inout(b, Diary)->received += n;
}
static void look(reef_block *b) { reef_inout(b, Diary)->changed++; }
static void wait_long(reef_block *b) { reef_inout(b, Diary)->timed++; }
static reef_status watcher_load(reef_world *w, void *context)
{
    (void)context;
    add(w, "receive", receive, "Diary; receives Ping");
    add(w, "look", look, "Diary, changed in Wind");
    (void)reef_system_new(
        w, &(reef_system_desc){
               .name = "wait_long", .function = wait_long, .text = "Diary", .interval_ns = UINT64_C(3000000000)});
    return REEF_OK;
}

/* What a system has seen belongs to the state that a world goes back to, also where another version of its module has
 * taken over since. */
static void what_was_seen_goes_back_behind_another_version(void **state)
{
    static const reef_module versions[] = {{.name = "watcher", .version = 1, .load = watcher_load},
                                           {.name = "watcher", .version = 2, .load = watcher_load},
                                           {.name = "watcher", .version = 3, .load = watcher_load}};
    reef_world *w = world_of(state);
    assert_ok(reef_module_use(w, &versions[0]));
    const reef_entity e = reef_spawn(w, reef_default(Diary), reef_with(Wind, 1));
    for (int i = 0; i < 2; i++) tick(w);
    assert_ok(reef_post(w, Ping, 5));
    reef_snapshot *before = reef_snapshot_take(w);
    uint64_t hash[4];
    for (uint32_t round = 0; round < 4; round++) {
        if (round == 1) assert_ok(reef_module_use(w, &versions[1]));
        assert_ok(reef_restore(w, before));
        if (round == 2) assert_ok(reef_module_use(w, &versions[2]));
        for (int i = 0; i < 3; i++) tick(w);
        const Diary *seen = reef_get(w, e, Diary);
        assert_true(seen->received == 1 && seen->changed == 1 && seen->timed == 1);
        assert_ok(reef_post(w, Ping, 6));
        tick(w);
        assert_int_equal(reef_get(w, e, Diary)->received, 2);
        hash[round] = reef_hash(w);
        assert_int_equal(hash[round], hash[0]);
        assert_valid(w);
    }
    reef_snapshot_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_seen_goes_back_behind_another_version),
        TEST(a_module_brings_and_takes_what_it_made),
        TEST(modules_are_printed),
        TEST(types_without_their_module_are_named),
        TEST(a_refusal_leaves_nothing),
        TEST(wrong_descriptions_are_refused),
        TEST(what_a_module_needs_is_there),
        TEST(a_type_of_another_layout_is_refused_by_field),
        TEST(there_is_a_limit),
        TEST(another_version_takes_the_place),
        TEST(scripts_of_a_module_end_with_it),
    };
    return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
