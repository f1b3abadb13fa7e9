/* Queries with targets of relations (F4): "Likes(bob)" in the text and in the struct, compared with a naive reading of
 * the same relations. */
#include "support.h"

typedef struct {
    int coins;
} Money;
REEF_COMPONENT(Money);
REEF_TAG(Fighter);
REEF_SWITCH(Alert);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION_OF(Owes, Money);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_TRANSITIVE);
REEF_RELATION(Orbits);
REEF_TAG(Planet);
REEF_TAG(Hostile);

enum { PEOPLE = 300, TARGETS = 10 };

typedef struct people {
    reef_world *w;
    reef_entity e[PEOPLE];
    bool position[PEOPLE], fighter[PEOPLE], alert[PEOPLE], likes[PEOPLE][PEOPLE], owes[PEOPLE][PEOPLE];
    int docked[PEOPLE]; /* -1: to nobody */
} people;

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

static void people_make(people *p, reef_world *w, uint64_t *seed)
{
    char name[16];
    memset(p, 0, sizeof *p);
    p->w = w;
    for (int i = 0; i < PEOPLE; i++) {
        p->e[i] = reef_create(w);
        p->docked[i] = -1;
        snprintf(name, sizeof name, "n%d", i);
        assert_ok(reef_set_name(w, p->e[i], name));
        if (below(seed, 3)) assert_true((p->position[i] = reef_set(w, p->e[i], Position, (float)i, 0) >= 0));
        if (below(seed, 2)) assert_true((p->fighter[i] = reef_add(w, p->e[i], Fighter) >= 0));
        if (below(seed, 2)) assert_true((p->alert[i] = reef_add(w, p->e[i], Alert) >= 0));
    }
}

static void people_change(people *p, uint64_t *seed)
{
    const uint32_t i = below(seed, PEOPLE), t = below(seed, TARGETS), any = below(seed, PEOPLE);
    assert_true(reef_relate(p->w, p->e[i], Likes, p->e[t]) >= 0);
    p->likes[i][t] = true;
    if (below(seed, 2)) {
        assert_true(reef_relate(p->w, p->e[i], DockedTo, p->e[any % TARGETS]) >= 0);
        p->docked[i] = (int)(any % TARGETS);
    }
    if (below(seed, 20) == 0) {
        assert_true(reef_relate_data(p->w, p->e[i], Owes, p->e[any], (int)any) >= 0);
        p->owes[i][any] = true;
    }
    if (below(seed, 3) == 0) {
        const uint32_t gone = below(seed, TARGETS);
        assert_status(p->likes[i][gone] ? REEF_OK : REEF_ABSENT, reef_unrelate(p->w, p->e[i], Likes, p->e[gone]));
        p->likes[i][gone] = false;
    }
}

enum { FORMS = 9 };

static void form_text(int form, uint32_t a, uint32_t b, uint32_t any, char *text, size_t size)
{
    static const char *const forms[FORMS] = {
        "Position, Likes(n%d)",          "in Position, Fighter, !Likes(n%d), DockedTo(n%d)",
        "Likes(n%d), Likes(n%d), Alert", "(Likes(n%d) | DockedTo(n%d)), Fighter",
        "in Owes(n%d), Position",        "!(Likes(n%d), DockedTo(n%d)), Position",
        "?Likes(n%d), Fighter",          "DockedTo(*), Likes(n%d)",
        "Owes(*), !Likes(n%d)"};
    snprintf(text, size, forms[form], (int)(form == 4 ? any : a), (int)b);
}

static bool form_holds(const people *p, int form, uint32_t a, uint32_t b, uint32_t any, int i)
{
    bool owes = false;
    for (int k = 0; k < PEOPLE; k++) owes |= p->owes[i][k];
    switch (form) {
    case 0: return p->position[i] && p->likes[i][a];
    case 1: return p->position[i] && p->fighter[i] && !p->likes[i][a] && p->docked[i] == (int)b;
    case 2: return p->likes[i][a] && p->likes[i][b] && p->alert[i];
    case 3: return (p->likes[i][a] || p->docked[i] == (int)b) && p->fighter[i];
    case 4: return p->owes[i][any] && p->position[i];
    case 5: return !(p->likes[i][a] && p->docked[i] == (int)b) && p->position[i];
    case 6: return p->fighter[i];
    case 7: return p->docked[i] >= 0 && p->likes[i][a];
    default: return owes && !p->likes[i][a];
    }
}

/* Walks a query and counts how often it visits each of the people. */
static uint64_t visits(const people *p, reef_query q, unsigned char *seen)
{
    uint64_t n = 0;
    memset(seen, 0, PEOPLE);
    for (reef_block b = reef_begin(p->w, q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            if (mask && (mask[i / 64] >> (i % 64) & 1) == 0) continue;
            seen[b.entities[i].index - p->e[0].index]++;
            n++;
        }
    }
    return n;
}

static void agrees(const people *p, int form, uint32_t a, uint32_t b, uint32_t any)
{
    char text[200], back[200];
    unsigned char seen[PEOPLE];
    form_text(form, a, b, any, text, sizeof text);
    reef_query q = reef_query_new(p->w, text);
    if (form == 2 && a == b) { /* the same filter twice */
        assert_true(reef_query_is_null(q));
        assert_status(REEF_DUPLICATE_TERM, reef_last_error(p->w).status);
        return;
    }
    assert_false(reef_query_is_null(q));
    reef_query_text(p->w, q, back, sizeof back);
    reef_query same = reef_query_new(p->w, back);
    assert_false(reef_query_is_null(same));
    assert_int_equal(visits(p, same, seen), reef_query_count(p->w, q));
    for (int i = 0; i < PEOPLE; i++) {
        const bool holds = form_holds(p, form, a, b, any, i);
        if (seen[i] != holds) print_error("%s visits n%d %d times\n", text, i, seen[i]);
        assert_int_equal(seen[i], holds);
        assert_int_equal(reef_query_matches(p->w, q, p->e[i]), holds);
    }
    assert_ok(reef_query_free(p->w, q));
    assert_ok(reef_query_free(p->w, same));
}

static void queries_with_targets_find_what_a_naive_search_finds(void **state)
{
    static people p;
    uint64_t seed = 7;
    people_make(&p, world_of(state), &seed);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++) people_change(&p, &seed);
        for (int i = 0; i < 40; i++)
            agrees(&p, i % FORMS, below(&seed, TARGETS), below(&seed, TARGETS), below(&seed, PEOPLE));
    }
}

static void a_fork_has_the_query_and_its_own_relations(void **state)
{
    reef_world *w = world_of(state);
    reef_entity bob = reef_create(w), alice = reef_spawn(w, reef_with(Position, 1, 2));
    assert_true(reef_relate(w, alice, Likes, bob) >= 0);
    reef_query q = reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .access = REEF_IN},
                                        {.component = reef_id(Likes), .access = REEF_WITH, .target = bob}}});
    assert_int_equal(reef_query_count(w, q), 1);
    reef_world *fork = reef_fork(w);
    reef_query other = reef_query_copy(fork, w, q);
    assert_ok(reef_unrelate(fork, alice, Likes, bob));
    assert_int_equal(reef_query_count(fork, other), 0);
    assert_int_equal(reef_query_count(w, q), 1);
    assert_ok(reef_destroy(w, bob)); /* the target is gone, and nobody is related to it */
    assert_int_equal(reef_query_count(w, q), 0);
    reef_world_free(fork);
}

static void refused(reef_world *w, const char *text, reef_status status, uint64_t column)
{
    assert_true(reef_query_is_null(reef_query_new(w, text)));
    assert_status(status, reef_last_error(w).status);
    assert_int_equal(reef_last_error(w).number, column);
}

static void targets_that_make_no_sense_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity bob = reef_create(w);
    assert_ok(reef_set_name(w, bob, "bob"));
    refused(w, "Position(bob)", REEF_BAD_TEXT, 9);
    refused(w, "Likes(bob", REEF_BAD_TEXT, 10);
    refused(w, "Likes()", REEF_BAD_TEXT, 7);
    refused(w, "Likes(carol)", REEF_NOT_ALIVE, 7);
    refused(w, "Likes(bob) of bob", REEF_BAD_ARGUMENT, 1);
    refused(w, "in Likes(bob), in Likes(bob)", REEF_DUPLICATE_TERM, 19);
    refused(w, "Position, *(bob", REEF_BAD_TEXT, 16);
    refused(w, "in *(bob)", REEF_BAD_ARGUMENT, 4);
    refused(w, "*(*)", REEF_BAD_TEXT, 3);
    refused(w, "?*(bob)", REEF_BAD_ARGUMENT, 2);
    assert_true(reef_query_is_null(
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .target = bob}}})));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    assert_ok(reef_destroy(w, bob));
    reef_query q =
        reef_query_make(/* as with a source: it is no mistake, but nobody is related to the dead */
                        w, &(reef_query_desc){
                               .terms = {{.component = reef_id(Likes), .access = REEF_WITH, .target = bob}}});
    assert_false(reef_query_is_null(q));
    assert_false(reef_query_any(w, q));
}

static void ancestors_that_make_no_sense_are_refused(void **state)
{
    reef_world *w = world_of(state);
    refused(w, "Position up(DockedTo)", REEF_BAD_ARGUMENT, 1); /* it may go in a circle */
    refused(w, "Position up(Fighter)", REEF_BAD_ARGUMENT, 1);
    refused(w, "Position up(PartOf, 0)", REEF_BAD_TEXT, 21);
    refused(w, "Position up(PartOf, x)", REEF_BAD_TEXT, 21);
    refused(w, "Position up", REEF_BAD_TEXT, 12);
    refused(w, "Position up()", REEF_BAD_TEXT, 13);
    refused(w, "Position self", REEF_BAD_TEXT, 10);
    refused(w, "Position up(PartOf", REEF_BAD_TEXT, 19);
    refused(w, "inout Position up(PartOf)", REEF_BAD_ARGUMENT, 7);
    refused(w, "changed Position up(PartOf)", REEF_BAD_ARGUMENT, 9);
    refused(w, "Position up(PartOf), in Position self up(PartOf)", REEF_DUPLICATE_TERM, 25);
    assert_true(reef_query_is_null(
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .self = true}}})));
}

static void variables_that_make_no_sense_are_refused(void **state)
{
    reef_world *w = world_of(state);
    refused(w, "Position, Planet($p)", REEF_BAD_ARGUMENT, 11);               /* it isn't joined */
    refused(w, "Position, !Likes($p)", REEF_BAD_ARGUMENT, 12);               /* nor so */
    refused(w, "Likes($a), Orbits($b, $c)", REEF_BAD_ARGUMENT, 12);          /* nor so */
    refused(w, "Likes($p) | Position", REEF_BAD_ARGUMENT, 1);                /* in a group */
    refused(w, "Likes($p), inout Position($p)", REEF_BAD_ARGUMENT, 18);      /* only read */
    refused(w, "Likes($p), changed in Position($p)", REEF_BAD_ARGUMENT, 23); /* only as it is */
    refused(w, "Likes($p), ?Orbits($p, $q)", REEF_BAD_ARGUMENT, 13);
    refused(w, "in Likes($p), in Likes($p)", REEF_DUPLICATE_TERM, 18);
    refused(w, "Likes($)", REEF_BAD_TEXT, 8);
    refused(w, "Likes($ p)", REEF_BAD_TEXT, 9);
    refused(w, "Likes($a, $b, $c)", REEF_BAD_TEXT, 15); /* only conditions follow */
    refused(w, "Likes(bob, $b)", REEF_NOT_ALIVE, 7);
    refused(w, "Position($this)", REEF_BAD_TEXT, 9);
    refused(w,
            "Likes($a), Likes($a, $b), Likes($b, $c), Likes($c, $d), Likes($d, $e), Likes($e, $f), Likes($f, $g), "
            "Likes($g, $h), Likes($h, $i)",
            REEF_LIMIT, 127);
    const reef_query_desc numbers = {
        .terms = {{.component = reef_id(Likes), .access = REEF_WITH, .target_variable = 2}}};
    assert_true(reef_query_is_null(reef_query_make(w, &numbers)));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    reef_query q = reef_query_new(w, "Position, Likes($p)");
    assert_status(REEF_BAD_ARGUMENT, reef_query_order(w, q, &(reef_order){.component = reef_id(Position)}));
    assert_null(reef_slices_begin(w, q, NULL, 2));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
}

static uint64_t key_of_x(const void *value) { return reef_key_f32(((const Position *)value)->x); }

/* Rows are ordered by what they have themselves. */
static void an_ancestors_component_orders_nothing(void **state)
{
    reef_world *w = world_of(state);
    const reef_order by_x = {.component = reef_id(Position), .key = key_of_x};
    const reef_entity ship = reef_spawn(w, reef_with(Position, 5, 0)), gun = reef_create(w);
    const reef_entity turret = reef_spawn(w, reef_with(Position, 3, 0));
    assert_status(REEF_ADDED, reef_relate(w, gun, ChildOf, ship));
    assert_status(REEF_ADDED, reef_relate(w, turret, ChildOf, ship));
    reef_query q = reef_query_new(w, "in Position self up(ChildOf)");
    assert_status(REEF_BAD_ARGUMENT, reef_query_order(w, q, &by_x));
    assert_int_equal(reef_query_count(w, q), 3);
    q = reef_query_new(w, "in Position, Position up(ChildOf)");
    assert_ok(reef_query_order(w, q, &by_x));
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_entity(b.entities[0], turret);
    assert_false(reef_next(&b));
}

/* Ships, planets and stars: large enough that loops have several blocks and begin with what is rare. */
enum { SHIPS = 3000, PLANETS = 40, STARS = 10 };
typedef struct space {
    reef_entity ship[SHIPS], planet[PLANETS], star[STARS];
} space;

static void space_make(space *s, reef_world *w)
{
    for (int i = 0; i < STARS; i++) s->star[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
    for (int i = 0; i < PLANETS; i++) {
        s->planet[i] = reef_spawn(w, reef_tag(Planet), reef_with(Position, (float)i, 2));
        assert_true(reef_relate(w, s->planet[i], Orbits, s->star[i % STARS]) >= 0);
        if (i % 7 == 0) assert_true(reef_add(w, s->planet[i], Hostile) >= 0);
    }
    for (int i = 0; i < SHIPS; i++) {
        s->ship[i] = i % 2 ? reef_spawn(w, reef_tag(Fighter)) : reef_spawn(w, reef_with(Mass, i));
        if (i % 5) assert_true(reef_relate(w, s->ship[i], DockedTo, s->planet[i % PLANETS]) >= 0);
    }
}

static void explained(reef_world *w, reef_query q, const char *words)
{
    static char text[8192];
    assert_true(reef_query_explain(w, q, text, sizeof text) < sizeof text);
    if (strstr(text, words) == NULL) fail_msg("\"%s\" isn't in %s", words, text);
}

static uint64_t matches(reef_world *w, reef_query q)
{
    uint64_t n = 0;
    reef_each(w, q, row) n++;
    return n;
}

static void the_plan_begins_with_what_is_rare(void **state)
{
    static space s;
    reef_world *w = world_of(state);
    space_make(&s, w);
    assert_ok(reef_set_name(w, s.star[1], "sol"));
    assert_ok(reef_set_name(w, s.planet[11], "mars"));
    const char *const joined = "Fighter, DockedTo($planet), Planet($planet), Orbits($planet, $star), !Hostile($planet)";
    reef_query q = reef_query_new(w, joined),
               hostile = reef_query_new(w, "Fighter, DockedTo($p), Hostile($p), Planet($p)");
    reef_query of_sol = reef_query_new(w, "Fighter, DockedTo($p), Orbits($p, sol)");
    reef_query mars = reef_query_new(w, "Fighter, DockedTo(mars)"), all = reef_query_new(w, "Fighter, DockedTo(*)");
    uint64_t wanted = 0, of_hostile = 0, of_star = 0;
    for (int i = 1; i < SHIPS; i += 2) {
        wanted += i % 5 && i % PLANETS % 7;
        of_hostile += i % 5 && i % PLANETS % 7 == 0;
        of_star += i % 5 && i % PLANETS % STARS == 1;
    }
    assert_int_equal(matches(w, q), wanted);
    assert_int_equal(matches(w, hostile), of_hostile);
    assert_int_equal(matches(w, of_sol), of_star);
    assert_int_equal(matches(w, mars), SHIPS / PLANETS);
    assert_int_equal(matches(w, all), SHIPS / 2 - SHIPS / 10);
    explained(w, q, "step 1, all rows of a block at once: $planet: the target of DockedTo of the row");
    explained(w, q, "step 4, row by row: $star: each target of Orbits of $planet");
    explained(w, q, "$planet has no Hostile");
    explained(w, hostile, "begins with Hostile of $p: 6 entities, from which relations lead to ");
    explained(w, of_sol, "begins with Orbits of $p: 4 entities, from which relations lead to ");
    explained(w, mars, "marks the 75 rows from which DockedTo leads to entity ");
    const reef_query elsewhere = reef_query_new(w, "Fighter, !DockedTo(mars)"),
                     hidden = reef_query_new(w, "Fighter, !Hostile self up(ChildOf)");
    explained(w, elsewhere, "which DockedTo leads to entity ");
    explained(w, elsewhere, "sources in its index; they don't match\n");
    explained(w, hidden,
              "walks up ChildOf from the row itself to the nearest entity with Hostile, which mustn't be there");
    explained(w, reef_query_new(w, "Fighter, DockedTo($p), !Orbits($p, sol)"), "$p isn't related to entity ");
    /* where most are sources, each row is looked at */
    for (int i = 1; i < SHIPS; i += 2) assert_true(reef_relate(w, s.ship[i], DockedTo, s.planet[11]) >= 0);
    assert_int_equal(matches(w, mars), SHIPS / 2);
    explained(w, mars, "looks at rows: DockedTo has to lead to entity ");
    explained(w, elsewhere, "looks at rows: DockedTo mustn't lead to entity ");
    /* without rows there is nothing to begin with */
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Fighter)));
    assert_int_equal(matches(w, hostile) + matches(w, mars) + matches(w, q), 0);
}

static void loops_inside_loops_have_their_own_bindings(void **state)
{
    static space s;
    reef_world *w = world_of(state);
    space_make(&s, w);
    reef_query q = reef_query_new(w, "Planet, DockedTo($ship, $this), Fighter($ship)");
    uint64_t pairs = 0, all = matches(w, q);
    reef_entity last = {0, 0}, last_ship = {0, 0};
    reef_each(w, q, outer)
    {
        const reef_entity ship = reef_bound(&outer.block, 1)[outer.i];
        if (pairs < 3 * all) reef_each(w, q, inner) pairs++;
        assert_entity(ship, reef_bound(&outer.block, 1)[outer.i]);
        assert_entity(outer.entity, reef_target(w, ship, DockedTo));
        if (reef_entity_equal(outer.entity, last)) assert_true(last_ship.index < ship.index); /* in their order */
        last = outer.entity;
        last_ship = ship;
    }
    assert_int_equal(pairs, 3 * all);
    assert_true(all > PLANETS);
    reef_block b = reef_begin(w, q); /* a loop that is left early gives back what it held */
    assert_true(reef_next(&b));
    assert_null(reef_bound(&b, 2));
    assert_int_equal(reef_variable(&b, "planet"), 0);
    assert_null(reef_reach(&b, Mass, 1, (const Mass *[REEF_BLOCK_ROWS]){NULL}));
    assert_status(REEF_UNDECLARED, reef_last_error(w).status);
    reef_end(&b);
    assert_true(reef_query_row(w, q, s.planet[1], &b)); /* a row alone, without its bindings */
    assert_null(reef_bound(&b, 1));
}

static void whole_query_changes_and_deferred_ones_follow_relations(void **state)
{
    static space s;
    reef_world *w = world_of(state);
    space_make(&s, w);
    reef_query q = reef_query_new(w, "Fighter, DockedTo($p), !Hostile($p)"), alert = reef_query_new(w, "Alert");
    const uint64_t ships = reef_query_count(w, q);
    assert_int_equal(ships, matches(w, q));
    assert_ok(reef_add_where(w, q, Alert));
    assert_int_equal(reef_query_count(w, alert), ships);
    reef_world *fork = reef_fork(w);
    reef_query there = reef_query_copy(fork, w, q);
    for (reef_block b = reef_begin_loop(fork, there, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) assert_true(reef_destroy(fork, b.entities[i]) >= 0);
    assert_int_equal(reef_query_count(fork, there), 0);
    assert_int_equal(reef_query_count(w, q), ships);
    reef_snapshot *before = reef_snapshot_take(w);
    assert_ok(reef_destroy_where(w, q, NULL));
    assert_int_equal(matches(w, q), 0);
    assert_ok(reef_restore(w, before));
    assert_int_equal(matches(w, q), ships);
    reef_snapshot_free(before);
    reef_world_free(fork);
}

static void transitive_and_any_relations(void **state)
{
    reef_world *w = world_of(state);
    reef_entity rover = reef_create(w), wheel = reef_create(w), bolt = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set_name(w, rover, "rover"));
    assert_true(reef_relate(w, wheel, PartOf, rover) >= 0 && reef_relate(w, bolt, PartOf, wheel) >= 0);
    reef_query parts = reef_query_new(w, "PartOf(rover)"), of = reef_query_new(w, "Mass, PartOf($whole)");
    reef_query none = reef_query_new(w, "Mass, !PartOf(rover)"), any = reef_query_new(w, "*(rover)");
    assert_int_equal(matches(w, parts), 2);
    assert_int_equal(matches(w, of), 2);
    assert_int_equal(matches(w, none), 0);
    assert_int_equal(matches(w, any), 1);
    assert_true(reef_query_matches(w, parts, bolt) && !reef_query_matches(w, parts, rover));
    assert_true(reef_relate(w, bolt, Likes, rover) >= 0);
    assert_int_equal(matches(w, any), 2);
    char text[64];
    reef_query_text(w, any, text, sizeof text);
    assert_string_equal(text, "*(rover)");
    assert_ok(reef_unrelate(w, wheel, PartOf, rover));
    assert_int_equal(matches(w, parts), 0);
    assert_ok(reef_destroy(w, rover));
    assert_int_equal(matches(w, parts) + matches(w, any), 0);
    assert_int_equal(matches(w, none), 1);
}

/* A relation of a type that is disabled on its source holds, but no query sees it, whether it names the type or not. */
static void any_relation_leaves_out_disabled_ones(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity rover = reef_create(w), wheel = reef_create(w), bolt = reef_create(w);
    assert_ok(reef_set_name(w, rover, "rover"));
    assert_true(reef_relate(w, wheel, PartOf, rover) >= 0 && reef_relate(w, bolt, Likes, rover) >= 0);
    const reef_query any = reef_query_new(w, "*(rover)"), likes = reef_query_new(w, "Likes(rover)");
    assert_int_equal(matches(w, any), 2);
    assert_ok(reef_disable(w, bolt, Likes));
    assert_int_equal(matches(w, likes), 0);
    assert_int_equal(matches(w, any), 1);
    assert_false(reef_query_matches(w, any, bolt));
    assert_true(reef_related(w, bolt, Likes, rover));
    assert_true(reef_relate(w, bolt, PartOf, rover) >= 0); /* one that is enabled */
    assert_int_equal(matches(w, any), 2);
    assert_ok(reef_unrelate(w, bolt, PartOf, rover));
    assert_ok(reef_enable(w, bolt, Likes));
    assert_int_equal(matches(w, any), 2);
}

static void a_query_with_other_homes_and_subtypes_has_variables_too(void **state)
{
    static space s;
    reef_world *w = world_of(state);
    space_make(&s, w);
    for (int i = 0; i < SHIPS; i++)
        for (int k = 0; k < i % 4; k++)
            assert_true(reef_relate_data(w, s.ship[i], Owes, s.planet[(i + k) % PLANETS], k) >= 0);
    reef_query each = reef_query_new(w, "each in Owes, Owes($p), Planet($p)"),
               plus = reef_query_new(w, "Owes($p), Fighter+");
    uint64_t values = 0, wanted = 0, fighters = 0, coins = 0;
    for (int i = 0; i < SHIPS; i++)
        wanted += (uint64_t)(i % 4) * (uint64_t)(i % 4), fighters += i % 2 ? (uint64_t)(i % 4) : 0;
    for (reef_block b = reef_begin(w, each); reef_next(&b);) values += b.count;
    assert_int_equal(values, wanted); /* each value with each binding */
    assert_int_equal(matches(w, plus), fighters);
    reef_query sum = reef_query_new(w, "in Owes($p)");
    for (reef_block b = reef_begin(w, sum); reef_next(&b);) {
        const Owes *owes[REEF_BLOCK_ROWS];
        assert_non_null(reef_reach(&b, Owes, 1, owes));
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) coins += (uint64_t)owes[i]->data.coins;
    }
    assert_int_equal(coins, SHIPS / 4 * (1 + 1 + 2));
}

/* The values of what variables are bound to, while some other entity's value is disabled. */
static void values_of_variables_beside_a_disabled_one(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity port = reef_spawn(w, reef_with(Position, 3, 4)), other = reef_spawn(w, reef_with(Position, 5, 6));
    const reef_entity ship = reef_spawn(w, reef_tag(Fighter)), lost = reef_spawn(w, reef_tag(Fighter));
    const reef_query q = reef_query_new(w, "Fighter, DockedTo($port), in Position($port)");
    assert_status(REEF_ADDED, reef_relate(w, ship, DockedTo, port));
    assert_status(REEF_ADDED, reef_relate(w, lost, DockedTo, other));
    assert_ok(reef_disable(w, other, Position));
    for (int moved = 0; moved < 2; moved++) {
        uint32_t rows = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {
            const Position *at[REEF_BLOCK_ROWS];
            assert_non_null(reef_reach(&b, Position, reef_variable(&b, "port"), at));
            for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
                for (uint32_t i = first; i < first + n; i++, rows++)
                    assert_ptr_equal(at[i], reef_get(w, reef_target(w, b.entities[i], DockedTo), Position));
        }
        assert_int_equal(rows, 1);
        if (moved == 0) assert_ok(reef_add(w, port, Planet)); /* its value moves */
    }
}

enum { FLEET = 2500, PORTS = 150 };

/* Visits the ships whose ports have a Position, then those whose ports have none, and asks each entity as well. */
static void fleet_check(reef_world *w, const reef_entity *ship, bool both)
{
    uint32_t with = 0, without = 0, seen = 0;
    for (uint32_t i = 0; i < FLEET; i++) {
        const reef_entity port = reef_target(w, ship[i], DockedTo);
        if (reef_entity_is_null(port)) continue;
        if (reef_has(w, port, Position)) with++;
        else without++;
    }
    for (reef_block b = reef_begin_text(w, "Fighter, DockedTo($port), in Position($port)"); reef_next(&b);) {
        const Position *at[REEF_BLOCK_ROWS];
        assert_non_null(reef_reach(&b, Position, reef_variable(&b, "port"), at));
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++, seen++)
                assert_ptr_equal(at[i], reef_get(w, reef_target(w, b.entities[i], DockedTo), Position));
    }
    assert_int_equal(seen, with);
    if (!both) return;
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Fighter, DockedTo($port), with Position($port)")), with);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Fighter, DockedTo($port), !Position($port)")), without);
}

/* The values of ports, while these move, lose them, get them and die, in a world and its fork. */
static void values_of_variables_in_many_blocks(void **state)
{
    reef_world *w = world_of(state);
    reef_entity ship[FLEET], port[PORTS];
    uint64_t seed = 3;
    for (int i = 0; i < PORTS; i++) port[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
    for (int i = 0; i < FLEET; i++) {
        ship[i] = reef_spawn(w, reef_tag(Fighter));
        if (i % 17) assert_status(REEF_ADDED, reef_relate(w, ship[i], DockedTo, port[below(&seed, PORTS)]));
    }
    for (int round = 0; round < 40; round++) {
        const reef_entity p = port[below(&seed, PORTS)], s = ship[below(&seed, FLEET)];
        fleet_check(w, ship, round % 3 == 0);
        if (!reef_is_alive(w, p)) continue;
        if (round % 5 == 0) assert_true(reef_remove(w, p, Position) >= 0 || round);
        if (round % 5 == 1) assert_true(reef_set(w, p, Position, 5, (float)round) >= 0);
        if (round % 5 == 2) assert_ok(reef_destroy(w, p));
        if (round % 5 == 3 && !reef_has(w, p, Planet)) assert_ok(reef_add(w, p, Planet));
        if (round % 5 == 4) assert_true(reef_relate(w, s, DockedTo, p) >= 0);
        if (round % 10 == 9) assert_ok(reef_spawn_many(w, 3000, NULL, reef_with(Position, 1, 2), reef_tag(Hostile)));
        if (round % 13 == 12) {
            reef_world *fork = reef_fork(w);
            assert_non_null(fork);
            fleet_check(fork, ship, true);
            for (int i = 0; i < PORTS; i += 2)
                if (reef_has(fork, port[i], Position)) reef_mut(fork, port[i], Position)->x++;
            fleet_check(fork, ship, true);
            fleet_check(w, ship, true);
            assert_valid(fork);
            reef_world_free(fork);
        }
    }
    assert_valid(w);
}

/* A query that was freed comes again with the tables that it knew. One that was used meanwhile isn't among them. */
static void a_query_that_comes_again_looks_at_new_tables(void **state)
{
    reef_world *w = world_of(state);
    static const char *const texts[] = {"!Likes(bob), with Position", "!Likes(bob)", "Position, Likes($x), !Alert($x)",
                                        "!PartOf(bob), Position"};
    const reef_entity bob = reef_create(w), e[3] = {reef_create(w), reef_create(w), reef_create(w)};
    assert_ok(reef_set_name(w, bob, "bob"));
    for (int i = 0; i < 3; i++) {
        assert_true(reef_set(w, e[i], Position, 1, 2) >= 0);
        assert_true(reef_relate(w, e[i], Likes, e[(i + 1) % 3]) >= 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        for (int round = 0; round < 2; round++) {
            const reef_query q = reef_query_new(w, texts[i]);
            assert_false(reef_query_is_null(q));
            uint64_t n = 0;
            for (reef_block b = reef_begin(w, q); reef_next(&b);)
                for (uint32_t first = 0, rows; (rows = reef_block_run(&b, &first)) != 0; first += rows) n += rows;
            assert_int_equal(n, 3);
            assert_ok(reef_query_free(w, q));
            if (round) continue;
            if (i == 0) assert_true(reef_add(w, e[0], Fighter) >= 0);
            if (i == 1) assert_true(reef_add(w, e[1], Planet) >= 0);
            if (i == 2) assert_true(reef_add(w, e[1], Hostile) >= 0);
            if (i == 3) assert_true(reef_add(w, e[0], Planet) >= 0);
        }
    }
    assert_valid(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(queries_with_targets_find_what_a_naive_search_finds),
        TEST(a_fork_has_the_query_and_its_own_relations),
        TEST(targets_that_make_no_sense_are_refused),
        TEST(ancestors_that_make_no_sense_are_refused),
        TEST(variables_that_make_no_sense_are_refused),
        TEST(an_ancestors_component_orders_nothing),
        TEST(the_plan_begins_with_what_is_rare),
        TEST(loops_inside_loops_have_their_own_bindings),
        TEST(whole_query_changes_and_deferred_ones_follow_relations),
        TEST(transitive_and_any_relations),
        TEST(any_relation_leaves_out_disabled_ones),
        TEST(values_of_variables_beside_a_disabled_one),
        TEST(values_of_variables_in_many_blocks),
        TEST(a_query_with_other_homes_and_subtypes_has_variables_too),
        TEST(a_query_that_comes_again_looks_at_new_tables),
    };
    return cmocka_run_group_tests_name("query relation", tests, NULL, NULL);
}
