/* Systems whose queries follow relations (F4): what they may read, whom they wait for, how they are split, and what the
 * checked build says of those that don't declare it. */
#include "scenes.h"

REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Within, REEF_EXCLUSIVE | REEF_ACYCLIC);
REEF_RELATION(Likes);
typedef struct Fuel {
    int litres;
} Fuel;
typedef struct Price {
    int coins;
} Price;
typedef struct Bill {
    int coins, ports;
} Bill;
REEF_COMPONENT(Fuel);
REEF_COMPONENT(Price);
REEF_COMPONENT(Bill);

static void pay(reef_block *b)
{
    Bill *bill = reef_inout(b, Bill);
    const Fuel *fuel = reef_in(b, Fuel);
    const Price *price[REEF_BLOCK_ROWS];
    if (reef_reach(b, Price, reef_variable(b, "port"), price) == NULL) return;
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) bill[i].coins += fuel[i].litres * price[i]->coins, bill[i].ports++;
}

static void raise_price(reef_block *b)
{
    Price *price = reef_inout(b, Price);
    for (uint32_t i = 0; i < b->count; i++) price[i].coins++;
}

static void carry(reef_block *b)
{
    Bill *bill = reef_inout(b, Bill);
    const Price *above[REEF_BLOCK_ROWS];
    if (reef_reach(b, Price, 0, above) == NULL) return;
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) bill[i].coins += above[i]->coins;
}

enum { SHIPS = 5000, PORTS = 7 };

static reef_entity ships[SHIPS], ports[PORTS];

static void harbour_make(reef_world *w)
{
    for (int i = 0; i < PORTS; i++) ports[i] = reef_spawn(w, reef_with(Price, i + 1));
    for (int i = 0; i < SHIPS; i++) {
        ships[i] = reef_spawn(w, reef_with(Fuel, i), reef_with(Bill, 0));
        if (i % 3) assert_true(reef_relate(w, ships[i], DockedTo, ports[i % PORTS]) >= 0);
        for (int k = 0; k < i % 4; k++) assert_true(reef_relate(w, ships[i], Likes, ports[(i + k) % PORTS]) >= 0);
        if (i % 2) assert_true(reef_relate(w, ships[i], Within, i % 4 == 1 ? ports[i % PORTS] : ships[i - 2]) >= 0);
    }
}

static void explained(const reef_world *w, const char *words, bool there)
{
    static char text[16384];
    assert_true(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text) < sizeof text);
    if ((strstr(text, words) != NULL) != there) fail_msg("\"%s\": %s", words, text);
}

static void a_system_with_variables_visits_each_binding(void **state)
{
    reef_world *w = world_of(state);
    harbour_make(w);
    assert_false(reef_system_is_null(reef_system(w, pay, "inout Bill, in Fuel, Likes($port), in Price($port)")));
    assert_ok(reef_tick(w, 1));
    for (int i = 0; i < SHIPS; i++) {
        int coins = 0;
        for (int k = 0; k < i % 4; k++) coins += i * ((i + k) % PORTS + 1);
        assert_int_equal(reef_get(w, ships[i], Bill)->coins, coins);
        assert_int_equal(reef_get(w, ships[i], Bill)->ports, i % 4);
    }
    explained(w, "not split: its query has variables", true);
    explained(w, "Likes($port), in Price($port)", true);
}

static void a_system_waits_for_those_that_write_what_it_reaches(void **state)
{
    reef_world *w = world_of(state);
    harbour_make(w);
    assert_false(reef_system_is_null(reef_system(w, raise_price, "inout Price")));
    assert_false(reef_system_is_null(reef_system(w, pay, "inout Bill, in Fuel, DockedTo($port), in Price($port)")));
    assert_false(reef_system_is_null(reef_system(w, carry, "inout Bill, in Price up(Within)")));
    explained(w, "raise_price", true);
    explained(w, "waits for raise_price", true);
    assert_ok(reef_tick(w, 1));
    for (int i = 0; i < SHIPS; i++) {
        int wanted = i % 3 ? i * (i % PORTS + 2) : 0;
        if (i % 2) wanted += (i % 4 == 1 ? i : i - 2) % PORTS + 2;
        assert_int_equal(reef_get(w, ships[i], Bill)->coins, wanted);
    }
}

/* On any number of threads, and on a fork whose blocks are shared, the same comes out. */
static void results_do_not_depend_on_threads(void **state)
{
    uint64_t hash[4];
    for (uint32_t n = 0; n < 4; n++) {
        reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = n * 2 + 1});
        reef_world *w = another_world(state, NULL);
        assert_ok(reef_set_pool(w, pool));
        harbour_make(w);
        reef_watch_systems(w, false);
        reef_system(w, raise_price, "inout Price");
        reef_system(w, pay, "inout Bill, in Fuel, Likes($port), in Price($port)");
        reef_system(w, carry, "inout Bill, in Price up(Within)");
        reef_world *fork = reef_fork(w);
        for (int i = 0; i < 3; i++) assert_ok(reef_tick(fork, 1));
        hash[n] = reef_hash(fork);
        reef_world_free(fork);
        for (int i = 0; i < 3; i++) assert_ok(reef_tick(w, 1));
        assert_int_equal(reef_hash(w), hash[n]);
        assert_int_equal(hash[n], hash[0]);
        end_world(state, w);
        reef_pool_free(pool);
    }
}

static reef_query inner;
static reef_status inner_status;
static uint64_t inner_rows;

static void look_around(reef_block *b)
{
    inner_rows = 0;
    for (reef_block o = reef_others(b, inner); reef_next(&o);)
        for (uint32_t first = 0, n; (n = reef_block_run(&o, &first)) != 0; first += n) inner_rows += n;
}

static void look_once(reef_world *w, const char *query, const char *touches, reef_status status, uint64_t rows)
{
    inner = reef_query_new(w, query);
    assert_false(reef_query_is_null(inner));
    const reef_status s =
        reef_system_once(w, &(reef_system_desc){.name = "look", .function = look_around, .text = touches}, 1);
    inner_status = s == REEF_OK ? reef_last_error(w).status : s;
    assert_status(status, inner_status);
    if (status == REEF_OK) assert_int_equal(inner_rows, rows);
    assert_ok(reef_query_free(w, inner));
}

static void a_loop_over_others_declares_what_it_reaches(void **state)
{
    reef_world *w = world_of(state);
    harbour_make(w);
    assert_ok(reef_set_name(w, ports[1], "port"));
    look_once(w, "DockedTo(port), in Fuel", "; reads Fuel", REEF_OK, reef_source_count(w, ports[1], DockedTo));
    look_once(w, "in Fuel, in Price up(Within)", "; reads Fuel Price", REEF_OK, SHIPS / 2);
    look_once(w, "in Fuel, in Price up(Within)", "; reads Fuel Price of Within", REEF_OK, SHIPS / 2);
    look_once(w, "in Fuel, in Price up(Within)", "; reads Fuel", REEF_UNDECLARED, 0);
    look_once(w, "in Fuel, DockedTo($p)", "; reads Fuel", REEF_BAD_ARGUMENT, 0);
}

#ifdef REEF_CHECKED

static uint32_t told;
static void tell(void *context, reef_status status, const char *message)
{
    (void)context, (void)message;
    told += status == REEF_UNDECLARED;
}

/* Follows the relation by hand. */
static void pay_by_hand(reef_block *b)
{
    Bill *bill = reef_inout(b, Bill);
    const DockedTo *docked = reef_in(b, DockedTo);
    for (uint32_t i = 0; i < b->count; i++) {
        const Price *p = reef_get(b->world, docked[i].target, Price);
        if (p) bill[i].coins += p->coins;
    }
}

static void the_checked_build_tells_of_a_relation_that_is_followed_undeclared(void **state)
{
    static const struct {
        const char *text;
        bool right;
    } systems[] = {{"inout Bill, in DockedTo", false},
                   {"inout Bill, in DockedTo; reads Price of DockedTo", true},
                   {"inout Bill, in DockedTo; reads Price", true},
                   {"inout Bill, in DockedTo; reads Price of Likes Fuel", true},
                   {"inout Bill, in DockedTo; reads Fuel of DockedTo", false}};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        reef_world *w = another_world(state, &(reef_world_config){.misuse = tell});
        harbour_make(w);
        told = 0;
        assert_false(reef_system_is_null(reef_system(w, pay_by_hand, systems[i].text)));
        assert_ok(reef_tick(w, 1));
        assert_int_equal(told != 0, !systems[i].right);
        end_world(state, w);
    }
}

#endif

static void a_way_is_a_relation(void **state)
{
    reef_world *w = world_of(state);
    assert_true(reef_system_is_null(reef_system(w, carry, "inout Bill; reads Price of Fuel")));
    assert_status(REEF_BAD_TEXT, reef_last_error(w).status);
    assert_int_equal(reef_last_error(w).number, 28);
    assert_true(reef_system_is_null(reef_system(w, carry, "inout Bill, Price($p)")));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_system_with_variables_visits_each_binding),
        TEST(a_system_waits_for_those_that_write_what_it_reaches),
        TEST(results_do_not_depend_on_threads),
        TEST(a_loop_over_others_declares_what_it_reaches),
#ifdef REEF_CHECKED
        TEST(the_checked_build_tells_of_a_relation_that_is_followed_undeclared),
#endif
        TEST(a_way_is_a_relation),
    };
    return cmocka_run_group_tests_name("system relation", tests, NULL, NULL);
}
