/* Relations as commands: in loops that record, in systems and by observers. Each row of the table in
 * docs/rules/deferred.md about relations that meet is done in all of these ways, and at once. */
#include "support.h"

typedef struct {
    int32_t coins;
} Coins;
REEF_COMPONENT(Coins);
REEF_TAG(Bell);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);
REEF_RELATION(Holds, REEF_KEEPS_TARGET);
REEF_RELATION(Married, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION_OF(Owes, Coins);
REEF_RELATION_OF(Pays, Coins, REEF_EXCLUSIVE);

/* ---- a list of calls as a text ----
 *
 * "r L 0 1" relates entity 0 to entity 1; u: unrelates; t: retargets (t D 0 1 2, from 1 to 2); b: relates before
 * (b D 0 1 2, in front of 2); r O 0 1 7: with data; d 3: destroys; n: makes entity 6; calls are divided by commas. */

enum { CREW = 6, CREW_MOST = 8 };

typedef struct crew {
    reef_entity e[CREW_MOST];
    uint32_t count;
    const char *calls;
    reef_status first; /* what the first call that was refused at once answered */
} crew;

static const char letters[] = "LDUHMKO";
static reef_component relation_of(char letter)
{
    switch (letter) {
    case 'L': return reef_id(Likes);
    case 'D': return reef_id(DockedTo);
    case 'U': return reef_id(Under);
    case 'H': return reef_id(Holds);
    case 'M': return reef_id(Married);
    case 'K': return reef_id(Knows);
    default: return reef_id(Owes);
    }
}

/* One call, on a world or by a block's command. */
static reef_status call_do(crew *c, reef_world *w, reef_block *b, const char *text)
{
    char verb = 0, letter = 0;
    unsigned x = 0, y = 0, z = 0;
    const int n = sscanf(text, "%c %c %u %u %u", &verb, &letter, &x, &y, &z);
    const reef_component r = relation_of(letter);
    const Coins coins = {(int32_t)z};
    const void *data = n == 5 ? &coins : NULL;
    const reef_entity none = {0, 0}, *e = c->e, third = n == 5 ? e[z % CREW_MOST] : none;
    switch (verb) {
    case 'r':
        return b ? reef_cmd_relate_id(b, e[x], r, e[y], data, sizeof coins)
                 : reef_relate_id(w, e[x], r, e[y], data, sizeof coins);
    case 'u': return b ? reef_cmd_unrelate_id(b, e[x], r, e[y]) : reef_unrelate_id(w, e[x], r, e[y]);
    case 't': return b ? reef_cmd_retarget_id(b, e[x], r, e[y], third) : reef_retarget_id(w, e[x], r, e[y], third);
    case 'b':
        return b ? reef_cmd_relate_before_id(b, e[x], r, e[y], third) : reef_relate_before_id(w, e[x], r, e[y], third);
    case 'd':
        assert_int_equal(sscanf(text, "d %u", &x), 1);
        return b ? reef_cmd_destroy(b, e[x]) : reef_destroy(w, e[x]);
    default: c->e[c->count++] = b ? reef_cmd_create(b) : reef_create(w); return REEF_OK;
    }
}

static void calls_do(crew *c, reef_world *w, reef_block *b)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%s", c->calls);
    for (const char *call = strtok(text, ","); call; call = strtok(NULL, ",")) {
        const reef_status s = call_do(c, w, b, call);
        if (s < 0 && c->first == REEF_OK) c->first = s;
    }
}

/* ---- the ways to do them ---- */

typedef enum manner {
    AT_ONCE,
    IN_A_LOOP,
    BY_COMMANDS_IN_A_LOOP,
    IN_A_SYSTEM,
    IN_A_SPLIT_SYSTEM,
    IN_AN_OBSERVER,
    MANNERS
} manner;
static const char *const manner_names[] = {"at once",     "in a loop",         "by commands in a loop",
                                           "in a system", "in a split system", "in an observer"};
static crew *ringing;

static void ring(const reef_notice *n) { calls_do(ringing, n->world, NULL); }
static void work(reef_block *b)
{
    crew *c = b->context;
    for (uint32_t i = 0; i < b->count; i++)
        if (reef_entity_equal(b->entities[i], c->e[0])) calls_do(c, b->world, b);
}

static void sources_tell(const reef_world *w, const crew *c, char *text, size_t size)
{
    text[0] = 0;
    for (const char *letter = letters; *letter; letter++)
        for (uint32_t i = 0; i < c->count; i++) {
            const char *between = "<";
            const reef_component r = relation_of(*letter);
            if (reef_source_count_id(w, c->e[i], r) == 0) continue;
            (void)snprintf(text + strlen(text), size - strlen(text), " %c%u", *letter, (unsigned)i);
            for (reef_sources s = reef_sources_of_id(w, c->e[i], r); reef_sources_next(&s);)
                for (uint32_t k = 0; k < s.count; k++, between = "") {
                    uint32_t source = 0;
                    while (!reef_entity_equal(c->e[source], s.sources[k])) source++;
                    (void)snprintf(text + strlen(text), size - strlen(text), "%s%u", between, (unsigned)source);
                    if (*letter == 'O')
                        (void)snprintf(text + strlen(text), size - strlen(text), "=%d",
                                       (int)reef_relation_get(w, s.sources[k], Owes, c->e[i])->data.coins);
                }
        }
    for (uint32_t i = 0; i < c->count; i++)
        if (!reef_is_alive(w, c->e[i])) (void)snprintf(text + strlen(text), size - strlen(text), " x%u", (unsigned)i);
}

/* Does the calls in a world of their own. Returns the first failure. */
static reef_status crew_work(void **state, manner how, const char *before, const char *calls, char *text, size_t size)
{
    reef_world *w = another_world(state, NULL);
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 3});
    assert_ok(reef_set_pool(w, pool));
    crew c = {.calls = before, .count = CREW};
    for (int i = 0; i < CREW; i++) assert_some(c.e[i] = reef_spawn(w, reef_tag(Bell)));
    calls_do(&c, w, NULL);
    assert_status(REEF_OK, c.first);
    c.calls = calls;
    reef_query all = reef_query_new(w, "Bell");
    ringing = &c;
    if (how == AT_ONCE) {
        calls_do(&c, w, NULL);
    } else if (how == IN_A_LOOP || how == BY_COMMANDS_IN_A_LOOP) {
        reef_block b = reef_begin_loop(w, all, &(reef_loop){.deferred = true});
        assert_true(reef_next(&b));
        calls_do(&c, w, how == IN_A_LOOP ? NULL : &b);
        reef_end(&b);
    } else if (how == IN_AN_OBSERVER) {
        const reef_observer_id o = reef_observe(w, ring, REEF_ON_ADD, Coins);
        assert_false(reef_observer_is_null(o));
        reef_add(w, c.e[5], Coins);
        assert_ok(reef_observer_remove(w, o));
    } else {
        static const char text_of_system[] =
            "with Bell; relates, unrelates Likes DockedTo Under Holds Married Knows Owes, "
            "spawns, destroys";
        const reef_system_desc d = {
            .name = "work", .function = work, .text = text_of_system, .context = &c, .whole = how == IN_A_SYSTEM};
        assert_ok(reef_system_once(w, &d, 0));
    }
    assert_valid(w);
    sources_tell(w, &c, text, size);
    const reef_status s = c.first ? c.first : how == AT_ONCE ? REEF_OK : reef_last_error(w).status;
    end_world(state, w);
    reef_pool_free(pool);
    return s;
}

/* ---- requests that meet ---- */

typedef struct meeting {
    const char *before, *calls, *after;
    reef_status failure;
} meeting;

static void meetings_check(void **state, const meeting *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (manner how = 0; how < MANNERS; how++) {
            char text[300];
            const reef_status s = crew_work(state, how, m[i].before, m[i].calls, text, sizeof text);
            if (s != m[i].failure || strcmp(text, m[i].after) != 0)
                fail_msg("after '%s', '%s' %s: got '%s', %s; wanted '%s', %s", m[i].before, m[i].calls,
                         manner_names[how], text, reef_status_name(s), m[i].after, reef_status_name(m[i].failure));
        }
}

static void requests_that_meet(void **state)
{
    static const meeting rows[] = {
        /* one pair */
        {"", "r L 0 1,r L 0 1", " L1<0", REEF_OK},
        {"", "r O 0 1 7,r O 0 1 8", " O1<0=8", REEF_OK},
        {"", "r O 0 1 7,r O 0 1", " O1<0=7", REEF_OK},
        {"", "r L 0 1,u L 0 1", "", REEF_OK},
        {"r L 0 1", "u L 0 1,u L 0 1", "", REEF_ABSENT},
        {"r L 0 1,r L 2 1", "u L 0 1,r L 0 1", " L1<20", REEF_OK},
        {"", "u L 0 1,r L 0 1", " L1<0", REEF_ABSENT},
        /* an exclusive relation */
        {"", "r D 0 1,r D 0 2", " D2<0", REEF_OK},
        {"", "r D 0 1,r D 0 2,u D 0 1", " D2<0", REEF_ABSENT},
        {"r D 0 1", "t D 0 1 2,u D 0 1", " D2<0", REEF_ABSENT},
        {"r D 0 1", "t D 0 1 2,t D 0 1 3", " D2<0", REEF_ABSENT},
        {"r D 0 1", "t D 0 1 2,t D 0 2 3", " D3<0", REEF_OK},
        /* retargeting one of several */
        {"r L 0 1,r L 0 2", "t L 0 1 2", " L1<0 L2<0", REEF_EXISTS},
        {"r L 0 1,r L 0 2", "u L 0 2,t L 0 1 2", " L2<0", REEF_OK},
        {"r O 0 1 7", "t O 0 1 2,t O 0 2 3", " O3<0=7", REEF_OK},
        {"r O 0 1 7", "t O 0 1 3,r O 0 3 9", " O3<0=9", REEF_OK},
        /* order */
        {"r D 0 1", "r D 2 1,b D 3 1 0,r D 4 1", " D1<3024", REEF_OK},
        {"r D 0 1", "u D 0 1,b D 3 1 0", "", REEF_ABSENT},
        {"r D 0 1,r D 2 1", "b D 2 1 0", " D1<20", REEF_OK},
        {"r D 0 1,r D 2 1", "b D 0 1", " D1<20", REEF_OK},
        /* cycles */
        {"", "r U 0 1,r U 1 0", " U1<0", REEF_CYCLE},
        {"", "r U 0 1,r U 1 2,r U 2 0", " U1<0 U2<1", REEF_CYCLE},
        {"r U 0 1", "u U 0 1,r U 1 0", " U0<1", REEF_OK},
        {"", "r U 0 0", "", REEF_CYCLE},
        {"", "r L 0 0", " L0<0", REEF_OK},
        /* the end of a target, and of a source */
        {"", "r L 0 1,d 1", " x1", REEF_OK},
        {"", "d 1,r L 0 1", " x1", REEF_NOT_ALIVE},
        {"", "r L 0 1,d 0", " x0", REEF_OK},
        {"r L 0 1", "d 0,u L 0 1", " x0", REEF_NOT_ALIVE},
        {"", "r U 0 1,r U 1 2,d 2", " x0 x1 x2", REEF_OK},
        {"", "r H 0 1,d 1", " H1<0", REEF_REFUSED},
        {"", "r H 0 1,u H 0 1,d 1", " x1", REEF_OK},
        {"r H 0 1", "d 1,u H 0 1", "", REEF_REFUSED},
        {"r D 0 1", "d 1,t D 0 1 2", " x1", REEF_NOT_ALIVE},
        /* an entity that is made on the way */
        {"", "n,r L 0 6,r L 6 0", " L0<6 L6<0", REEF_OK},
        {"", "n,r L 0 6,d 6", " x6", REEF_OK},
        {"", "n,d 6,r L 0 6", " x6", REEF_NOT_ALIVE},
        /* symmetric relations */
        {"", "r M 0 1,r M 2 1", " M1<2 M2<1", REEF_OK},
        {"", "r K 0 1,u K 1 0", "", REEF_OK},
        {"", "r K 0 1,r K 1 0", " K0<1 K1<0", REEF_OK},
        {"", "r K 0 1,d 1", " x1", REEF_OK},
        {"", "r M 0 1,u M 1 0,u M 0 1", "", REEF_ABSENT},
        {"r M 0 1,r M 2 3", "r M 0 3", " M0<3 M3<0", REEF_OK},
    };
    meetings_check(state, rows, sizeof rows / sizeof *rows);
}

/* ---- what is refused at once ---- */

typedef struct attempts {
    reef_entity e[3];
    reef_status got[12];
} attempts;

static void try_all(reef_block *b)
{
    const attempts *r = b->context;
    reef_status *got = ((attempts *)b->context)->got;
    const reef_entity a = r->e[0], c = r->e[1], none = {0, 0};
    const Coins coins = {3};
    got[0] = reef_cmd_relate(b, none, Likes, c);
    got[1] = reef_cmd_relate(b, a, Likes, none);
    got[2] = reef_cmd_unrelate(b, none, Likes, c);
    got[3] = reef_cmd_retarget(b, a, Likes, c, none);
    got[4] = reef_cmd_relate_id(b, a, (reef_component){4000000}, c, NULL, 0);
    got[5] = reef_cmd_relate_id(b, a, reef_id(Bell), c, NULL, 0);
    got[6] = reef_cmd_relate_id(b, a, reef_id(Owes), c, &coins, 1);
    got[7] = reef_cmd_relate_id(b, a, reef_id(Likes), c, &coins, sizeof coins);
    got[8] = reef_cmd_retarget(b, a, Knows, c, a);
    got[9] = reef_cmd_relate(b, a, Under, c);
    got[10] = reef_cmd_unrelate(b, a, DockedTo, c);
    got[11] = reef_cmd_relate_before(b, a, Likes, c, none);
}

static void commands_that_are_refused_at_once(void **state)
{
    reef_world *w = world_of(state);
    attempts r = {.e = {reef_create(w), reef_create(w)}};
    static const reef_status wanted[] = {REEF_NOT_ALIVE,    REEF_NOT_ALIVE,    REEF_NOT_ALIVE,  REEF_NOT_ALIVE,
                                         REEF_UNKNOWN_TYPE, REEF_BAD_ARGUMENT, REEF_WRONG_SIZE, REEF_WRONG_SIZE,
                                         REEF_BAD_ARGUMENT, REEF_UNDECLARED,   REEF_UNDECLARED, REEF_OK};
    const reef_system_desc d = {.name = "tries",
                                .function = try_all,
                                .text = "; relates Likes Owes Knows, unrelates Likes Under",
                                .context = &r};
    (void)reef_system_once(w, &d, 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (r.got[i] != wanted[i]) fail_msg("call %u: %s", (unsigned)i, reef_status_name(r.got[i]));
    assert_true(reef_related(w, r.e[0], Likes, r.e[1]));
    assert_int_equal(reef_count(w, Likes) + reef_count(w, Owes) + reef_count(w, Knows), 1);
    /* outside of systems there is no block to ask */
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_relate(NULL, r.e[0], Likes, r.e[1]));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_relate_before(NULL, r.e[0], Likes, r.e[1], r.e[0]));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_unrelate(NULL, r.e[0], Likes, r.e[1]));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_retarget(NULL, r.e[0], Likes, r.e[1], r.e[0]));
    assert_status(REEF_OK, reef_unrelate(w, r.e[0], Likes, r.e[1]));
}

static void recorded_calls_that_are_refused_at_once(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_spawn(w, reef_tag(Bell)), b = reef_create(w), dead = reef_create(w), none = {0, 0};
    const Coins coins = {3};
    assert_ok(reef_destroy(w, dead));
    reef_query q = reef_query_new(w, "Bell");
    reef_block block = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&block));
    assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, dead, Likes, b));
    assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, a, Likes, dead));
    assert_refused(w, REEF_NOT_ALIVE, reef_relate(w, a, Likes, none));
    assert_refused(w, REEF_NOT_ALIVE, reef_relate_before(w, a, Likes, b, dead));
    assert_refused(w, REEF_NOT_ALIVE, reef_unrelate(w, a, Likes, dead));
    assert_refused(w, REEF_NOT_ALIVE, reef_retarget(w, a, Likes, b, dead));
    assert_refused(w, REEF_NOT_ALIVE, reef_retarget(w, a, Likes, b, none));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_relate(w, a, Bell, b));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_retarget(w, a, Knows, b, a));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_unrelate_id(w, a, (reef_component){4000000}, b));
    assert_refused(w, REEF_WRONG_SIZE, reef_relate_id(w, a, reef_id(Owes), b, &coins, 1));
    assert_ok(reef_relate_data(w, a, Owes, b, 5));
    assert_false(reef_related(w, a, Owes, b));
    reef_end(&block);
    assert_int_equal(reef_relation_get(w, a, Owes, b)->data.coins, 5);
    /* a loop that doesn't record */
    block = reef_begin(w, q);
    assert_true(reef_next(&block));
    assert_refused(w, REEF_LOCKED, reef_relate(w, b, Likes, a));
    assert_status(REEF_LOCKED, reef_cmd_relate(&block, b, Likes, a));
    reef_end(&block);
}

/* ---- declarations ---- */

static void systems_declare_what_they_relate(void **state)
{
    reef_world *w = world_of(state);
    char text[600];
    assert_false(reef_system_is_null(reef_system(w, work, "Bell; relates Likes DockedTo, unrelates")));
    assert_true(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "commands: relates DockedTo Likes, unrelates"));
    assert_true(reef_system_is_null(reef_system_add(w, "bad", work, "Bell; relates Coins")));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    assert_string_equal(reef_last_error(w).detail, "relates Coins: it is no type of relations");
    assert_true(reef_system_is_null(reef_system_add(w, "bad", work, "Bell; unrelate Likes")));
    assert_non_null(strstr(reef_last_error(w).detail, "did you mean unrelates?"));
    const reef_system_desc d = {
        .name = "struct", .function = work, .touches = {{REEF_RELATES, reef_id(Likes)}, {REEF_UNRELATES, {0}}}};
    assert_false(reef_system_is_null(reef_system_new(w, &d)));
}

/* ---- threads, and memory ---- */

static void marry_in_pairs(reef_block *b)
{
    const Coins *coins = reef_in(b, Coins);
    const reef_entity *all = b->context, none = {0, 0};
    for (uint32_t i = 0; i < b->count; i++) {
        const int32_t k = coins[i].coins;
        reef_cmd_relate(b, b->entities[i], Likes, all[(k * 7 + 3) % 5000]);
        reef_cmd_relate_data(b, b->entities[i], Owes, all[k / 50], k);
        if (k % 3 == 0) reef_cmd_relate(b, b->entities[i], Married, all[(k * 11 + 1) % 5000]);
        if (k % 5 == 0) reef_cmd_unrelate(b, b->entities[i], Likes, all[(k * 7 + 3) % 5000]);
        if (k % 7 == 0) reef_cmd_retarget(b, b->entities[i], Owes, all[k / 50], all[(k + 1) % 5000]);
        if (k % 2) reef_cmd_relate_before(b, b->entities[i], DockedTo, all[0], none);
        else if (k > 2) reef_cmd_relate_before(b, b->entities[i], DockedTo, all[0], all[1]);
        if (k % 1000 == 999) reef_cmd_destroy(b, all[(k * 3) % 5000]);
    }
}

static void any_number_of_threads(void **state)
{
    uint64_t hash = 0;
    for (uint32_t threads = 1; threads <= 16; threads *= 2) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = threads});
        assert_ok(reef_set_pool(w, pool));
        reef_entity all[5000];
        for (int32_t i = 0; i < 5000; i++) all[i] = reef_spawn(w, reef_with(Coins, i));
        const reef_system_desc d = {.name = "pairs",
                                    .function = marry_in_pairs,
                                    .text = "in Coins; relates, unrelates Likes, destroys",
                                    .context = all};
        assert_false(reef_system_is_null(reef_system_new(w, &d)));
        for (int tick = 0; tick < 2; tick++) assert_ok(reef_tick(w, 0));
        assert_true(reef_count(w, Likes) > 3000 && reef_count(w, Married) > 1000);
        assert_valid(w);
        if (threads == 1) hash = reef_hash(w);
        assert_true(reef_hash(w) == hash);
        end_world(state, w);
        reef_pool_free(pool);
    }
}

enum { FOLK = 300, MEETINGS = 3000 };

/* Relations of many kinds, with data and without, in runs and in turn. Some make circles and are refused. */
static void folk_meet(reef_world *w, const reef_entity *e)
{
    uint64_t r = 5;
    for (uint32_t i = 0; i < MEETINGS; i++) {
        const uint32_t kind = i < MEETINGS / 2 ? i / 50 % 5 : random_below(&r, 5);
        const reef_entity a = e[random_below(&r, FOLK)], b = e[random_below(&r, FOLK)];
        switch (kind) {
        case 0: reef_relate(w, a, DockedTo, b); break;
        case 1: reef_relate(w, a, Under, b); break;
        case 2: reef_relate(w, a, Likes, b); break;
        case 3: reef_relate_data(w, a, Pays, b, (int32_t)i); break;
        default: reef_relate(w, a, Pays, b); break;
        }
    }
}

static void recorded_relations_are_those_of_calls(void **state)
{
    reef_world *w = another_world(state, NULL);
    reef_entity e[FOLK];
    for (int32_t i = 0; i < FOLK; i++) e[i] = reef_spawn(w, reef_with(Coins, i));
    folk_meet(w, e); /* so most get another target */
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    folk_meet(fork, e);
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Bell"), &(reef_loop){.deferred = true});
    folk_meet(w, e);
    reef_end(&b);
    assert_int_equal(reef_last_error(w).status, REEF_CYCLE);
    assert_valid(w);
    assert_valid(fork);
    assert_true(reef_hash(w) == reef_hash(fork));
    assert_true(reef_count(w, DockedTo) > 200 && reef_count(w, Under) > 100 && reef_count(w, Pays) > 200);
    reef_world_free(fork);
    end_world(state, w);
}

/* The data of the relation itself may be that of its new target. */
static void a_new_target_keeps_data_that_is_named(void **state)
{
    reef_world *w = another_world(state, NULL);
    const reef_entity a = reef_create(w), b = reef_create(w), c = reef_create(w);
    assert_status(REEF_ADDED, reef_relate_data(w, a, Pays, b, 7));
    const Coins *there = &reef_relation_get(w, a, Pays, b)->data;
    assert_status(REEF_ADDED, reef_relate_id(w, a, reef_id(Pays), c, there, sizeof *there));
    assert_int_equal(reef_relation_get(w, a, Pays, c)->data.coins, 7);
    assert_null(reef_relation_get(w, a, Pays, b));
    assert_status(REEF_ADDED, reef_relate(w, a, Pays, b));
    assert_int_equal(reef_relation_get(w, a, Pays, b)->data.coins, 0);
    assert_refused(w, REEF_WRONG_SIZE, reef_relate_id(w, a, reef_id(Pays), c, there, 3));
    assert_true(reef_related(w, a, Pays, b));
    end_world(state, w);
}

static void commands_without_memory(void **state)
{
    for (uint64_t n = 1;; n++) {
        reef_world *w = another_world(state, NULL);
        const reef_entity a = reef_spawn(w, reef_tag(Bell)), b = reef_create(w), c = reef_create(w);
        reef_query q = reef_query_new(w, "Bell");
        reef_block block = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
        assert_true(reef_next(&block));
        heap_fail_nth(heap_of(state), n, true);
        const bool all = reef_relate_data(w, a, Owes, b, 5) == REEF_OK && reef_relate(w, b, Married, c) == REEF_OK &&
                         reef_relate(w, a, Likes, b) == REEF_OK && reef_relate(w, a, Likes, c) == REEF_OK &&
                         reef_relate(w, a, DockedTo, b) == REEF_OK && reef_relate(w, a, DockedTo, c) == REEF_OK;
        reef_end(&block);
        const uint64_t refused = heap_of(state)->refused;
        heap_fail_never(heap_of(state));
        if (all && reef_last_error(w).status == REEF_NO_MEMORY) assert_ok(reef_flush(w));
        assert_valid(w);
        if (all) {
            assert_int_equal(reef_relation_get(w, a, Owes, b)->data.coins, 5);
            assert_true(reef_related(w, c, Married, b) && reef_related(w, a, Likes, b));
            assert_true(reef_related(w, a, Likes, c) && reef_related(w, a, DockedTo, c));
        }
        end_world(state, w);
        if (all && refused == 0) break;
        heap_of(state)->refused = 0;
        assert_true(n < 1000);
    }
}

static uint32_t told_of_sets;
static void tell_of_set(const reef_notice *n) { told_of_sets += n->count; }

/* Setting and changing a relation that is there only writes a value. So both happen at once, in their order, in loops
 * that record and in those that don't; relating is recorded, or refused. */
static void a_relation_that_is_there_is_written_at_once(void **state)
{
    for (uint32_t k = 0; k < 2; k++) {
        reef_world *w = another_world(state, NULL);
        const reef_entity e = reef_spawn(w, reef_tag(Bell)), a = reef_create(w), b = reef_create(w), c = reef_create(w);
        assert_status(REEF_ADDED, reef_relate(w, e, DockedTo, a));
        assert_status(REEF_ADDED, reef_relate_data(w, e, Pays, a, 5));
        assert_status(REEF_ADDED, reef_relate(w, e, Likes, a));
        assert_status(REEF_ADDED, reef_relate(w, a, Under, e));
        assert_status(REEF_ADDED, reef_relate(w, e, Married, c));
        assert_status(REEF_ADDED, reef_relate(w, e, Under, b));
        told_of_sets = 0;
        assert_false(reef_observer_is_null(reef_observe(w, tell_of_set, REEF_ON_SET, DockedTo)));
        reef_block x = reef_begin_loop(w, reef_query_new(w, "Bell"), &(reef_loop){.deferred = k == 0});
        assert_true(reef_next(&x));
        assert_ok(reef_set(w, e, DockedTo, .target = b));
        assert_entity(b, reef_target(w, e, DockedTo));
        assert_int_equal(reef_source_count(w, a, DockedTo), 0);
        assert_int_equal(reef_source_count(w, b, DockedTo), 1);
        assert_ok(reef_change(w, e, reef_with(DockedTo, .target = c)));
        assert_entity(c, reef_target(w, e, DockedTo));
        assert_int_equal(told_of_sets, 2);
        assert_ok(reef_set(w, e, Pays, .target = a, .data = {6})); /* the same target, other data */
        assert_ok(reef_set(w, e, Pays, .target = c, .data = {7}));
        assert_int_equal(reef_relation_get(w, e, Pays, c)->data.coins, 7);
        assert_ok(reef_set(w, e, Likes, .target = c)); /* the first of several */
        assert_entity(c, reef_target(w, e, Likes));
        /* what is refused is refused at once */
        assert_refused(w, REEF_CYCLE, reef_set(w, e, Under, .target = a));
        assert_refused(w, REEF_NOT_ALIVE, reef_set(w, e, DockedTo, .target = {99, 1}));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_set(w, e, Married, .target = a));
        if (k == 0) assert_ok(reef_relate(w, e, DockedTo, a));
        else assert_refused(w, REEF_LOCKED, reef_relate(w, e, DockedTo, a));
        assert_ok(reef_set(w, e, DockedTo, .target = b));
        assert_entity(b, reef_target(w, e, DockedTo));
        reef_end(&x);
        assert_entity(k == 0 ? a : b, reef_target(w, e, DockedTo));
        end_world(state, w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_that_meet),
        TEST(commands_that_are_refused_at_once),
        TEST(recorded_calls_that_are_refused_at_once),
        TEST(systems_declare_what_they_relate),
        TEST(any_number_of_threads),
        TEST(recorded_relations_are_those_of_calls),
        TEST(a_new_target_keeps_data_that_is_named),
        TEST(a_relation_that_is_there_is_written_at_once),
        TEST(commands_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
