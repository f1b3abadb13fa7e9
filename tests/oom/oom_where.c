/* The allocation sweep over calls that change everything that a query matches. */
#include "oom_topics.h"

typedef struct {
    int32_t at;
} Stamped;
static const reef_hooks stamped_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_rows);

bool where(sweep *s, const char *text, where_call call)
{
    reef_query q = reef_query_new(s->w, text);
    if (reef_query_is_null(q)) return false;
    const bool works = done(call(s, q));
    const reef_status freed = works ? reef_query_free(s->w, q) : REEF_OK; /* else its error record is asked for */
    return works && freed == REEF_OK;
}

static reef_status where_add(sweep *s, reef_query q) { return reef_add_where(s->w, q, Velocity); }
static reef_status where_add_tag(sweep *s, reef_query q) { return reef_add_where(s->w, q, Frozen); }
static reef_status where_add_bit(sweep *s, reef_query q) { return reef_add_where(s->w, q, Seen); }
static reef_status where_add_hooked(sweep *s, reef_query q) { return reef_add_where(s->w, q, Tracked); }
static reef_status where_set(sweep *s, reef_query q) { return reef_set_where(s->w, q, Cargo, {1}); }
static reef_status where_set_there(sweep *s, reef_query q) { return reef_set_where(s->w, q, Mass, 8); }
static reef_status where_set_hooked(sweep *s, reef_query q) { return reef_set_where(s->w, q, Tracked, .value = 5); }
static reef_status where_remove(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Mass); }
static reef_status where_remove_hooked(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Tracked); }
static reef_status where_remove_bit(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Awake); }
static reef_status where_destroy(sweep *s, reef_query q) { return reef_destroy_where(s->w, q, NULL); }
static reef_status where_enable(sweep *s, reef_query q) { return reef_enable_where(s->w, q, Awake); }
static reef_status where_disable(sweep *s, reef_query q) { return reef_disable_where(s->w, q, Awake); }
static reef_status where_disable_all(sweep *s, reef_query q) { return reef_disable_where(s->w, q); }
static bool enable_where(sweep *s) { return where(s, "either *", where_enable); }
static bool disable_where(sweep *s) { return where(s, "", where_disable); }
static bool disable_where_all(sweep *s) { return where(s, "", where_disable_all); }
static bool add_where(sweep *s) { return where(s, "with Mass", where_add); }
static bool add_where_some(sweep *s) { return where(s, "with Mass, with Awake", where_add); }
static bool add_where_tag(sweep *s) { return where(s, "with Mass", where_add_tag); }
static bool add_where_bit(sweep *s) { return where(s, "with Mass", where_add_bit); }
static bool add_where_hooked(sweep *s) { return where(s, "with Mass", where_add_hooked); }
static bool set_where(sweep *s) { return where(s, "with Mass", where_set); }
static bool set_where_there(sweep *s) { return where(s, "with Mass", where_set_there); }
static bool set_where_some(sweep *s) { return where(s, "with Mass, with Awake", where_set_there); }
static bool set_where_hooked(sweep *s) { return where(s, "", where_set_hooked); }
static bool remove_where(sweep *s) { return where(s, "", where_remove); }
static bool remove_where_some(sweep *s) { return where(s, "with Awake", where_remove); }
static bool remove_where_hooked(sweep *s) { return where(s, "", where_remove_hooked); }
static bool remove_where_bit(sweep *s) { return where(s, "", where_remove_bit); }
static bool destroy_where(sweep *s) { return where(s, "", where_destroy); }
static bool destroy_where_some(sweep *s) { return where(s, "with Awake", where_destroy); }

/* Some entities are in the table already that the others move to. */
static void two_tables(sweep *s)
{
    two_chunks(s);
    for (int i = 0; i < 600; i++) assert_true(reef_set(s->w, s->e[3 * i + 7], Velocity, 1, 2) >= 0);
    for (int i = 0; i < 40; i++) assert_ok(reef_add(s->w, s->e[11 * i], Awake));
}

/* The rows of a table left it, and its chunk waits as the spare. */
static void spare_chunks(sweep *s)
{
    two_chunks(s);
    for (int i = 0; i < 2040; i++) assert_true(reef_set(s->w, s->e[i], Velocity, 1, 2) >= 0);
    for (int i = 0; i < 2040; i++) assert_ok(reef_remove(s->w, s->e[i], Velocity));
    assert_ok(reef_add(s->w, s->e[3], Velocity));
}

static void bare_bits(sweep *s)
{
    with_bits(s);
    for (int i = 0; i < 20; i++) assert_some(reef_spawn(s->w, reef_tag(Awake)));
    for (int i = 0; i < 5; i++) assert_some(reef_spawn(s->w, reef_tag(Awake), reef_tag(Seen)));
}

static void bare_marks(sweep *s)
{
    bare_bits(s);
    for (int i = 0; i < 60; i += 3) assert_ok(reef_disable(s->w, s->e[i], Awake));
    for (int i = 0; i < 60; i += 2) assert_ok(reef_disable(s->w, s->e[i]));
}

/* Rows are tracked, and there is a reader of removals. */
static void tracked_rows(sweep *s)
{
    rows(s, 1500);
    for (int i = 0; i < 700; i++) assert_true(reef_set(s->w, s->e[2 * i], Stamped, i) >= 0);
    assert_false(reef_removals_is_null(reef_removals_new(s->w, reef_id(Stamped), true)));
}
static reef_status where_add_tracked(sweep *s, reef_query q) { return reef_add_where(s->w, q, Stamped); }
static reef_status where_set_tracked(sweep *s, reef_query q) { return reef_set_where(s->w, q, Stamped, 7); }
static reef_status where_remove_tracked(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Stamped); }
static bool add_where_tracked(sweep *s) { return where(s, "", where_add_tracked); }
static bool set_where_tracked(sweep *s) { return where(s, "", where_set_tracked); }
static bool remove_where_tracked(sweep *s) { return where(s, "", where_remove_tracked); }

const scenario where_scenarios[] = {
    {"add_where, whole table, wider", two_chunks, add_where},
    {"add_where, whole table, tag", two_chunks, add_where_tag},
    {"add_where, whole tables", many_tables, add_where},
    {"add_where, bits come along", with_bits, add_where},
    {"add_where, to rows", two_tables, add_where},
    {"add_where, to rows, from spare chunks", spare_chunks, add_where},
    {"add_where, some rows", two_tables, add_where_some},
    {"add_where, bit", two_tables, add_where_bit},
    {"add_where, hooks", two_tables, add_where_hooked},
    {"add_where, hooks stay", full_hooked_chunk, add_where},
    {"set_where, new", two_chunks, set_where},
    {"set_where, there", two_tables, set_where_there},
    {"set_where, there, some rows", two_tables, set_where_some},
    {"set_where, hooks", full_hooked_chunk, set_where_hooked},
    {"set_where, everybody", with_everything, set_where_hooked},
    {"remove_where, whole tables", two_tables, remove_where},
    {"remove_where, some rows", two_tables, remove_where_some},
    {"remove_where, to nothing", many_tables, remove_where},
    {"remove_where, hooks", full_hooked_chunk, remove_where_hooked},
    {"remove_where, bit", bare_bits, remove_where_bit},
    {"remove_where, bit with marks", bare_marks, remove_where_bit},
    {"remove_where, some rows with marks", bare_marks, remove_where_some},
    {"disable_where, first", bare_bits, disable_where},
    {"disable_where, entities", bare_bits, disable_where_all},
    {"enable_where", bare_marks, enable_where},
    {"add_where, tracked", tracked_rows, add_where_tracked},
    {"set_where, tracked", tracked_rows, set_where_tracked},
    {"remove_where, tracked", tracked_rows, remove_where_tracked},
    {"add_where, beside tracked", tracked_rows, add_where},
    {"destroy_where, tracked", tracked_rows, destroy_where},
    {"destroy_where", with_everything, destroy_where},
    {"destroy_where, hooks", full_hooked_chunk, destroy_where},
    {"destroy_where, bits", bare_bits, destroy_where_some},
    {"destroy_where, some rows", two_tables, destroy_where_some},
    {0},
};
