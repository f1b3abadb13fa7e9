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
        assert_true(reef_relate_with(p->w, p->e[i], Owes, p->e[any], (int)any) >= 0);
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

static void F4_queries_with_targets_find_what_a_naive_search_finds(void **state)
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

static void F4_a_fork_has_the_query_and_its_own_relations(void **state)
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

static void F4_targets_that_make_no_sense_are_refused(void **state)
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
    assert_true(reef_query_is_null(
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .target = bob}}})));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    assert_ok(reef_destroy(w, bob));
    assert_true(reef_query_is_null(reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(Likes), .access = REEF_WITH, .target = bob}}})));
    assert_status(REEF_NOT_ALIVE, reef_last_error(w).status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(F4_queries_with_targets_find_what_a_naive_search_finds),
        TEST(F4_a_fork_has_the_query_and_its_own_relations),
        TEST(F4_targets_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests_name("query relation", tests, NULL, NULL);
}
