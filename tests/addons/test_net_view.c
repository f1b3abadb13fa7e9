/* Views of the add-on reef_net: random worlds over a simulated line, in which each client's world is compared with what
 * he may see; what leaves the server, byte by byte; bandwidth that doesn't suffice; allocations that fail. */
#include "reef_net_sim.h"
#include "reef_net_view.h"
#include "support.h"
#include <math.h>

typedef struct Point {
    float x, y;
} Point;
typedef struct Mark {
    uint32_t number, changed; /* changed: the tick of the last change */
    uint8_t kind;             /* and three bytes that no field has */
} Mark;
typedef struct Aim {
    reef_entity at;
    uint16_t power;
} Aim;
typedef struct Purse {
    uint64_t coins;
} Purse;
typedef struct Secret {
    uint64_t word;
} Secret;
typedef struct Lamp {
    uint8_t none;
} Lamp;
REEF_COMPONENT(Point);
REEF_FIELDS(Point, x, y);
REEF_COMPONENT(Mark);
REEF_FIELDS(Mark, number, changed, kind);
REEF_COMPONENT(Aim);
REEF_FIELDS(Aim, at, power);
REEF_COMPONENT(Purse);
REEF_FIELDS(Purse, coins);
REEF_COMPONENT(Secret);
REEF_FIELDS(Secret, word);
typedef struct Bare {
    int32_t none;
} Bare;
REEF_COMPONENT(Bare);
REEF_TAG(Lit);
REEF_TAG(Cloaked);

#define MS UINT64_C(1000000)
#define WORD UINT64_C(0xfeedc0de5ec2e715) /* what must not leave the server */
enum { CLIENTS = 4, THINGS = 300, TICKS_MAX = 2000, SERVER = 1 };

typedef struct watcher {
    reef_world *world;
    reef_net_view *view;
    int number;
    reef_entity avatar; /* in the server's world */
    uint32_t came, went, destroyed;
    heap *heap;
} watcher;

typedef struct stage {
    reef_net_sim *sim;
    reef_world *world;
    reef_net_views *views;
    watcher of[CLIENTS];
    uint32_t clients, tick, numbers;
    uint64_t seed;
    reef_entity things[THINGS];
    uint32_t changed[THINGS + CLIENTS]; /* by number: the last two changes */
    uint32_t before[THINGS + CLIENTS];
    unsigned char *sent; /* all that left the server */
    size_t sent_bytes, sent_room;
    reef_net_transport plain;
    heap *heap;
} stage;

static void keeping_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    stage *s = context;
    if (s->sent && s->sent_bytes + count <= s->sent_room) {
        memcpy(s->sent + s->sent_bytes, bytes, count);
        s->sent_bytes += count;
    }
    s->plain.send(s->plain.context, to, bytes, count);
}

static bool keeping_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    const stage *s = context;
    return s->plain.receive(s->plain.context, from, bytes, count);
}

static const reef_net_view_type *types(void)
{
    static reef_net_view_type t[5];
    t[0] = (reef_net_view_type){reef_id(Point), false};
    t[1] = (reef_net_view_type){reef_id(Mark), false};
    t[2] = (reef_net_view_type){reef_id(Aim), false};
    t[3] = (reef_net_view_type){reef_id(Purse), true};
    t[4] = (reef_net_view_type){reef_id(Lit), false};
    return t;
}

static reef_net_view_config config_of(stage *s, reef_world *world, uint64_t address, heap *h)
{
    reef_net_view_config c = {.world = world, .types = types(), .type_count = 5};
    c.transport = reef_net_sim_transport(s->sim, address);
    if (h) c.allocator = heap_allocator(h);
    return c;
}

static reef_world *world_on(heap *h)
{
    reef_world_config c = {.seed = 3, .log = reef_log_none};
    if (h) c.allocator = heap_allocator(h);
    return reef_world_new(&c);
}

static bool stage_begin(stage *s, const reef_net_line *line, uint32_t age_max, heap *h)
{
    s->sim = reef_net_sim_new(s->seed + 1, line, NULL);
    s->heap = h;
    s->world = world_on(h);
    if (s->world == NULL) return false;
    reef_net_view_config c = config_of(s, s->world, SERVER, h);
    s->plain = c.transport;
    c.transport = (reef_net_transport){keeping_send, keeping_receive, s};
    c.place = reef_id(Point);
    c.cell = 8;
    c.age_max = age_max;
    c.again = 12;
    char reason[REEF_NET_REASON_MAX] = "";
    s->views = reef_net_views_new(&c, reason);
    if (s->views == NULL && h == NULL) fail_msg("%s", reason);
    return s->views != NULL;
}

static void came(void *context, reef_entity e, bool own)
{
    watcher *w = context;
    (void)e;
    (void)own;
    w->came++;
}

static void went(void *context, reef_entity e, bool destroyed)
{
    watcher *w = context;
    assert_true(reef_is_alive(w->world, e));
    w->went++;
    w->destroyed += destroyed;
}

static watcher *watch(stage *s, const reef_net_view_client *desc, heap *h)
{
    watcher *w = &s->of[s->clients++];
    reef_net_view_client d = *desc;
    d.address = SERVER + s->clients;
    w->heap = h;
    w->world = world_on(h);
    if (w->world == NULL) return NULL;
    reef_net_view_config c = config_of(s, w->world, d.address, h);
    c.came = came;
    c.went = went;
    c.context = w;
    w->view = reef_net_view_new(&c, SERVER, NULL);
    w->number = w->view ? reef_net_views_add(s->views, &d) : -1;
    return w->number < 0 ? NULL : w;
}

static void stage_end(stage *s)
{
    reef_net_views_free(s->views);
    reef_world_free(s->world);
    for (uint32_t i = 0; i < s->clients; i++) {
        reef_net_view_free(s->of[i].view);
        reef_world_free(s->of[i].world);
    }
    reef_net_sim_free(s->sim);
    free(s->sent);
}

/* A tick of 16 ms: the server's update, then the clients'. */
static void tick(stage *s)
{
    s->tick++;
    reef_net_sim_time(s->sim, s->tick * 16 * MS);
    const reef_status status = reef_net_views_update(s->views);
    if (status != REEF_OK && s->heap == NULL) fail_msg("%s", reef_status_name(status));
    for (uint32_t i = 0; i < s->clients; i++) {
        const reef_status got = reef_net_view_update(s->of[i].view);
        if (got != REEF_OK && s->of[i].heap == NULL) fail_msg("%s", reef_status_name(got));
    }
}

static Mark mark_of(uint32_t number, uint32_t at)
{
    Mark m;
    memset(&m, 0x5e, sizeof m); /* the bytes between the fields, too */
    m.number = number;
    m.changed = at;
    m.kind = (uint8_t)(number % 3);
    return m;
}

static void mark(stage *s, reef_entity e, uint32_t number)
{
    const Mark m = mark_of(number, s->tick + 1); /* the update after it is that of the next tick */
    s->before[number] = s->changed[number];
    s->changed[number] = s->tick + 1;
    (void)reef_set_id(s->world, e, reef_id(Mark), &m, sizeof m);
}

static float coordinate(stage *s) { return (float)random_below(&s->seed, 2000) / 10 - 100; }

static reef_entity thing_new(stage *s, uint32_t number)
{
    const reef_entity e = reef_spawn(s->world, reef_with(Point, coordinate(s), coordinate(s)), reef_with(Secret, WORD),
                                     reef_with(Purse, WORD));
    if (reef_is_alive(s->world, e)) mark(s, e, number);
    return e;
}

/* Something happens to one of the things. */
static void change(stage *s)
{
    const uint32_t i = random_below(&s->seed, THINGS), what = random_below(&s->seed, 12);
    const reef_entity e = s->things[i], other = s->things[random_below(&s->seed, THINGS)];
    if (!reef_is_alive(s->world, e)) {
        s->things[i] = thing_new(s, i);
        return;
    }
    if (what == 0) (void)reef_destroy(s->world, e);
    else if (what == 1) (void)reef_set(s->world, e, Aim, other, (uint16_t)what);
    else if (what == 2) (void)reef_remove(s->world, e, Aim);
    else if (what == 3) (void)reef_add(s->world, e, Lit);
    else if (what == 4) (void)reef_remove(s->world, e, Lit);
    else if (what == 5) (void)reef_add(s->world, e, Cloaked);
    else if (what == 6) (void)reef_remove(s->world, e, Cloaked);
    else if (what == 7) (void)reef_enable_id(s->world, e, (reef_component){0}, random_below(&s->seed, 2) != 0);
    else if (what == 8) (void)reef_set(s->world, e, Point, coordinate(s), coordinate(s));
    else if (what == 9 && reef_has(s->world, e, Aim))
        (void)reef_enable_id(s->world, e, reef_id(Aim), random_below(&s->seed, 2) != 0);
    else mark(s, e, i);
}

static void walk(stage *s)
{
    for (uint32_t i = 0; i < s->clients; i++) {
        Point *p = reef_mut(s->world, s->of[i].avatar, Point);
        if (p == NULL) continue;
        p->x += ((float)((s->tick / 64 + i) % 3) - 1) * 0.4f;
        p->y += ((float)((s->tick / 96 + i) % 3) - 1) * 0.4f;
    }
}

/* ---- comparing ---- */

/* The client's entity with this number. */
static reef_entity find(const watcher *w, uint32_t number)
{
    for (reef_block b = reef_begin_text(w->world, "in Mark"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            if (reef_in(&b, Mark)[i].number == number) {
                const reef_entity e = b.entities[i];
                reef_end(&b);
                return e;
            }
    return (reef_entity){0};
}

static bool shown(const stage *s, reef_entity e, reef_component t) { return reef_is_enabled_id(s->world, e, t); }

/* The client's entity has what he may see of the server's, and nothing else. */
static void same(const stage *s, const watcher *w, reef_entity e, uint32_t number)
{
    const reef_entity there = find(w, number);
    assert_true(reef_is_alive(w->world, there));
    for (uint32_t t = 0; t < 5; t++) {
        const reef_component type = types()[t].type;
        const bool may = !types()[t].own || reef_entity_bits(e) == reef_entity_bits(w->avatar);
        assert_int_equal(reef_has_id(w->world, there, type), may && shown(s, e, type));
    }
    const Point *a = reef_get(s->world, e, Point), *b = reef_get(w->world, there, Point);
    if (a && shown(s, e, reef_id(Point))) assert_memory_equal(a, b, sizeof *a);
    assert_int_equal(reef_get(w->world, there, Mark)->changed, s->changed[number]);
    assert_false(reef_has(w->world, there, Secret));
    const Aim *aim = reef_get(w->world, there, Aim);
    if (aim == NULL) return;
    const reef_entity at = reef_get(s->world, e, Aim)->at;
    if (!reef_net_views_sees(s->views, w->number, at)) assert_true(reef_entity_is_null(aim->at));
    else assert_int_equal(reef_get(w->world, aim->at, Mark)->number, reef_get(s->world, at, Mark)->number);
}

static uint32_t compare(const stage *s, const watcher *w)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < THINGS; i++) {
        const reef_entity e = s->things[i];
        const bool sees = reef_net_views_sees(s->views, w->number, e);
        seen += sees;
        if (sees) same(s, w, e, i);
        else assert_true(reef_entity_is_null(find(w, i)));
    }
    assert_int_equal(reef_net_view_statistics(w->view).entities,
                     reef_net_views_statistics(s->views, w->number).visible);
    return seen;
}

static float distance(const stage *s, const watcher *w, reef_entity e)
{
    const Point *a = reef_get(s->world, e, Point), *b = reef_get(s->world, w->avatar, Point);
    const float x = a->x - b->x, y = a->y - b->y;
    return sqrtf(x * x + y * y);
}

/* What is seen is what the radius and the query say, but for the sixteenth by which a client may have strayed. */
static void check_radius(const stage *s, const watcher *w, float radius, bool cloaked)
{
    for (uint32_t i = 0; i < THINGS; i++) {
        const reef_entity e = s->things[i];
        if (!reef_is_alive(s->world, e)) continue;
        const bool sees = reef_net_views_sees(s->views, w->number, e);
        const bool may = shown(s, e, (reef_component){0}) && (cloaked || !reef_has(s->world, e, Cloaked));
        if (!may || distance(s, w, e) > radius * 17 / 16) assert_false(sees);
        else if (distance(s, w, e) < radius * 15 / 16) assert_true(sees);
    }
}

static void avatars(stage *s)
{
    for (uint32_t i = 0; i < s->clients; i++) {
        s->of[i].avatar = reef_spawn(s->world, reef_with(Point, (float)i * 10, 0), reef_with(Purse, 7 + i));
        if (!reef_is_alive(s->world, s->of[i].avatar)) continue;
        mark(s, s->of[i].avatar, THINGS + i);
        (void)reef_net_views_own(s->views, s->of[i].number, s->of[i].avatar, true);
    }
}

/* ---- tests ---- */

static const reef_net_line bad = {.latency_ns = 60 * MS, .jitter_ns = 50 * MS, .loss = 80, .twice = 30};

static void clients_get_what_they_may_see(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        stage s = {.seed = seed};
        assert_true(stage_begin(&s, &bad, 1000, NULL));
        assert_non_null(watch(&s, &(reef_net_view_client){.radius = 40}, NULL));
        assert_non_null(watch(&s, &(reef_net_view_client){.radius = 25, .query = "Mark, !Cloaked"}, NULL));
        assert_non_null(watch(&s, &(reef_net_view_client){.query = "Mark, Lit, !Cloaked"}, NULL));
        assert_non_null(watch(&s, &(reef_net_view_client){.address = 1}, NULL));
        for (uint32_t i = 0; i < THINGS; i++) s.things[i] = thing_new(&s, i);
        avatars(&s);
        uint32_t seen[CLIENTS] = {0};
        for (uint32_t round = 0; round < 6; round++) {
            for (uint32_t t = 0; t < 100; t++) {
                for (uint32_t n = random_below(&s.seed, 12); n > 0; n--) change(&s);
                walk(&s);
                tick(&s);
            }
            for (uint32_t t = 0; t < 100; t++) tick(&s);
            for (uint32_t i = 0; i < CLIENTS; i++) seen[i] += compare(&s, &s.of[i]);
            check_radius(&s, &s.of[0], 40, true);
            check_radius(&s, &s.of[1], 25, false);
            for (uint32_t i = 0; i < CLIENTS; i++) same(&s, &s.of[i], s.of[i].avatar, THINGS + i);
        }
        assert_true(seen[0] > 60 && seen[1] > 10 && seen[2] > 60);
        assert_int_equal(seen[3], 0);
        assert_true(s.of[0].came > 100 && s.of[0].went > s.of[0].destroyed && s.of[0].destroyed > 0);
        const reef_net_views_stats all = reef_net_views_statistics(s.views, -1);
        assert_true(all.again > 10 && all.gave_way == 0);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            char message[REEF_DETAIL_MAX];
            assert_int_equal(reef_validate(s.of[i].world, message, sizeof message), REEF_OK);
        }
        stage_end(&s);
    }
}

static bool has_bytes(const stage *s, const void *bytes, size_t count)
{
    for (size_t at = 0; at + count <= s->sent_bytes; at++)
        if (memcmp(s->sent + at, bytes, count) == 0) return true;
    return false;
}

/* All that leaves the server, byte by byte: no type that isn't listed, no private value of another one's entity, no
 * entity out of sight, no name, no byte between fields. */
static void what_is_hidden_never_leaves_the_server(void **state)
{
    const uint64_t word = WORD, mine = UINT64_C(0x1122334455667788);
    stage s = {.seed = 5, .sent_room = 1 << 22};
    (void)state;
    s.sent = malloc(s.sent_room);
    assert_true(stage_begin(&s, &bad, 1000, NULL));
    assert_non_null(watch(&s, &(reef_net_view_client){.radius = 30, .query = "Mark, !Cloaked"}, NULL));
    for (uint32_t i = 0; i < THINGS; i++) s.things[i] = thing_new(&s, i);
    avatars(&s);
    (void)reef_set(s.world, s.of[0].avatar, Purse, mine);
    const float far[2] = {12345.678f, 1}, near_by[2] = {3.1415f, 2.7182f}, cloaked[2] = {2.2222f, 3.3333f};
    (void)reef_spawn(s.world, reef_with(Point, far[0], far[1]), reef_with(Mark, 70000, 0, 0));
    (void)reef_spawn(s.world, reef_with(Point, near_by[0], near_by[1]), reef_with(Mark, 70001, 0, 0));
    (void)reef_spawn(s.world, reef_with(Point, cloaked[0], cloaked[1]), reef_with(Mark, 70002, 0, 0),
                     reef_tag(Cloaked));
    (void)reef_set_name(s.world, s.of[0].avatar, "a name that nobody knows");
    for (uint32_t t = 0; t < 600; t++) {
        for (uint32_t n = random_below(&s.seed, 12); n > 0; n--) change(&s);
        tick(&s);
    }
    assert_true(s.sent_bytes > 5000);
    assert_true(has_bytes(&s, &mine, sizeof mine) && has_bytes(&s, near_by, sizeof near_by));
    assert_false(has_bytes(&s, &word, sizeof word));
    assert_false(has_bytes(&s, (const char *)&word + 2, 4));
    assert_false(has_bytes(&s, far, sizeof far[0]));
    assert_false(has_bytes(&s, cloaked, sizeof cloaked));
    assert_false(has_bytes(&s, "name", 4));
    assert_false(has_bytes(&s, "\x5e\x5e\x5e", 3));
    stage_end(&s);
}

/* Two servers with the same visible things; one of them has hidden ones, too, which come, go, change, and aim at
 * visible ones. Not a byte of what is sent differs: neither numbers nor fields nor sizes nor order. */
static void what_is_hidden_changes_no_byte(void **state)
{
    stage s[2] = {{.seed = 5, .sent_room = 1 << 22}, {.seed = 5, .sent_room = 1 << 22}};
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        stage *one = &s[k];
        uint64_t seed = 11;
        reef_entity hidden[50] = {{0}}, old = {0};
        one->sent = malloc(one->sent_room);
        assert_true(stage_begin(one, &bad, 1000, NULL));
        assert_non_null(watch(one, &(reef_net_view_client){.radius = 30, .query = "Mark, !Cloaked"}, NULL));
        avatars(one);
        for (uint32_t t = 0; t < 400; t++) {
            reef_entity *h = &hidden[random_below(&seed, 50)];
            if (k && !reef_is_alive(one->world, *h))
                *h = reef_spawn(one->world, reef_with(Point, 5, 5), reef_with(Mark, t, 0, 0), reef_tag(Cloaked),
                                reef_with(Aim, one->of[0].avatar, 1));
            else if (k) (void)reef_destroy(one->world, *h);
            if (t % 8 == 0) {
                old = reef_spawn(one->world, reef_with(Point, (float)(t % 30), 3), reef_with(Aim, {0}, 3));
                mark(one, old, t % THINGS);
            }
            if (t % 8 == 2) (void)reef_set(one->world, old, Aim, k ? *h : (reef_entity){0}, 4); /* at a hidden one */
            if (t % 8 == 4) (void)reef_set(one->world, one->of[0].avatar, Aim, old, 5);
            if (t % 8 == 6 && t % 3) (void)reef_destroy(one->world, old);
            tick(one);
        }
    }
    assert_true(s[0].sent_bytes > 5000);
    assert_int_equal(s[0].sent_bytes, s[1].sent_bytes);
    assert_memory_equal(s[0].sent, s[1].sent, s[0].sent_bytes);
    stage_end(&s[0]);
    stage_end(&s[1]);
}

/* The bandwidth doesn't suffice: what is seen is never older than age_max ticks when it leaves the server, and so never
 * older than that and the way when it arrives. The radius shrinks, and grows again when less changes. */
static void what_is_seen_is_never_older_than_the_bound(void **state)
{
    enum { AGE = 10, WAY = 4 };
    const reef_net_line line = {.latency_ns = 32 * MS, .jitter_ns = 16 * MS};
    stage s = {.seed = 9};
    uint32_t least = UINT32_MAX, looked = 0;
    (void)state;
    assert_true(stage_begin(&s, &line, AGE, NULL));
    const watcher *w = watch(&s, &(reef_net_view_client){.radius = 60, .bytes = 60}, NULL);
    for (uint32_t i = 0; i < THINGS; i++) s.things[i] = thing_new(&s, i);
    avatars(&s);
    for (uint32_t t = 0; t < 500; t++) {
        for (uint32_t i = 0; t < 300 && i < THINGS; i++) /* each of them changes every third tick */
            if (i % 3 == t % 3) mark(&s, s.things[i], i);
        tick(&s);
        assert_true(reef_net_view_statistics(w->view).age < AGE);
        for (uint32_t i = 0; i < THINGS; i++) {
            if (!reef_net_views_sees(s.views, w->number, s.things[i])) continue;
            const reef_entity there = find(w, i);
            if (reef_entity_is_null(there)) continue;
            /* what it shows was right at some tick that isn't older */
            const uint32_t has = reef_get(w->world, there, Mark)->changed, now = s.changed[i];
            looked++;
            if (has != now && now + AGE + WAY < s.tick) fail_msg("number %u at %u: %u, not %u", i, s.tick, has, now);
        }
        const reef_net_views_stats st = reef_net_views_statistics(s.views, w->number);
        if (t > 100 && t < 300 && st.visible < least) least = st.visible;
    }
    const reef_net_views_stats st = reef_net_views_statistics(s.views, w->number);
    assert_true(looked > 1000 && st.gave_way > 20 && st.oldest < AGE);
    assert_true(least > 5 && least < 60);
    for (uint32_t t = 0; t < 900; t++) tick(&s);
    assert_true(reef_net_views_statistics(s.views, w->number).radius == 60);
    (void)compare(&s, w);
    check_radius(&s, w, 60, true);
    stage_end(&s);
}

/* Nothing hangs on what others send: neither side believes datagrams that are damaged or of somebody else. */
static void damaged_datagrams_are_refused(void **state)
{
    stage s = {.seed = 3};
    (void)state;
    assert_true(stage_begin(&s, &(reef_net_line){.latency_ns = 20 * MS}, 1000, NULL));
    const watcher *w = watch(&s, &(reef_net_view_client){.radius = 60}, NULL);
    for (uint32_t i = 0; i < THINGS; i++) s.things[i] = thing_new(&s, i);
    avatars(&s);
    const reef_net_transport other = reef_net_sim_transport(s.sim, 7);
    for (uint32_t t = 0; t < 400; t++) {
        unsigned char bytes[64];
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)random_below(&s.seed, 256);
        bytes[0] = (unsigned char)(32 + t % 2);
        other.send(other.context, SERVER, bytes, t % 65);
        other.send(other.context, 2, bytes, t % 65);
        s.plain.send(s.plain.context, 2, bytes, t % 65);
        change(&s);
        tick(&s);
    }
    for (uint32_t t = 0; t < 60; t++) tick(&s);
    assert_true(compare(&s, w) > 10);
    assert_true(reef_net_view_statistics(w->view).refused > 600);
    assert_true(reef_net_views_statistics(s.views, -1).refused > 300);
    stage_end(&s);
}

static void arguments_out_of_range_are_refused(void **state)
{
    char reason[REEF_NET_REASON_MAX];
    stage s = {.seed = 3};
    (void)state;
    assert_true(stage_begin(&s, &(reef_net_line){0}, 0, NULL));
    const reef_net_view_config good = config_of(&s, s.world, 5, NULL);
    reef_net_view_config c = good;
    c.type_count = 0;
    assert_null(reef_net_views_new(&c, reason));
    assert_string_equal(reason, "a view has 1 ... 32 types");
    const reef_net_view_type twice[] = {{reef_id(Point), false}, {reef_id(Point), true}};
    c.types = twice;
    c.type_count = 2;
    assert_null(reef_net_view_new(&c, 1, reason));
    assert_string_equal(reason, "Point is listed twice");
    const reef_net_view_type undescribed[] = {{reef_id(Point), false}, {reef_id(Bare), false}};
    c.types = undescribed;
    assert_null(reef_net_view_new(&c, 1, reason));
    assert_string_equal(reason, "Bare has no fields, and a type that is shown has some");
    c = good;
    c.place = reef_id(Purse);
    assert_null(reef_net_views_new(&c, reason));
    assert_string_equal(reason, "a place has fields x and y of kind f32");
    assert_null(reef_net_view_new(&good, 0, reason));
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = 2, .query = "Nonsense("}), -1);
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.radius = 2}), -1);
    assert_int_equal(reef_net_views_remove(s.views, 0), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_net_views_own(s.views, 0, (reef_entity){0}, true), REEF_BAD_ARGUMENT);
    for (int i = 0; i < REEF_NET_VIEW_CLIENTS_MAX; i++)
        assert_int_equal(
            reef_net_views_add(s.views, &(reef_net_view_client){.address = 2 + (uint64_t)i, .query = "Mark"}), i);
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = 99, .query = "Mark"}), -1);
    assert_int_equal(reef_net_views_own(s.views, 0, (reef_entity){0}, true), REEF_NOT_ALIVE);
    assert_int_equal(reef_net_views_remove(s.views, 63), REEF_OK);
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = 2, .query = "Mark"}), -1);
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = 65, .query = "Mark"}), 63);
    assert_int_equal(reef_net_views_update(NULL), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_net_view_update(NULL), REEF_BAD_ARGUMENT);
    reef_net_views_free(NULL);
    reef_net_view_free(NULL);
    stage_end(&s);
}

/* A client whose list of types is another one takes nothing, and knows why. */
static void a_list_of_other_types_is_told(void **state)
{
    stage s = {.seed = 3};
    (void)state;
    assert_true(stage_begin(&s, &(reef_net_line){0}, 0, NULL));
    reef_world *world = world_on(NULL);
    reef_net_view_config c = config_of(&s, world, 5, NULL);
    c.type_count = 4;
    reef_net_view *view = reef_net_view_new(&c, SERVER, NULL);
    assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = 5, .query = "Mark"}), 0);
    (void)thing_new(&s, 0);
    for (uint32_t t = 0; t < 20; t++) {
        reef_net_sim_time(s.sim, t * 16 * MS);
        assert_ok(reef_net_views_update(s.views));
        assert_ok(reef_net_view_update(view));
    }
    const reef_net_view_stats stats = reef_net_view_statistics(view);
    assert_true(stats.other_types > 0 && stats.refused == stats.other_types);
    assert_int_equal(stats.entities, 0);
    reef_net_view_free(view);
    reef_world_free(world);
    stage_end(&s);
}

/* Each allocation of a server, or of a client, fails in turn; the updates after it do what is left. */
static void allocations_fail(bool of_server, uint64_t *refused)
{
    bool more = true;
    for (uint64_t n = 1; more; n += n < 40 ? 1 : n / 6) {
        heap h = {0};
        stage s = {.seed = 4};
        heap_fail_nth(&h, n, false);
        const bool begun = stage_begin(&s, &(reef_net_line){.latency_ns = 20 * MS}, 1000, of_server ? &h : NULL);
        const watcher *w =
            begun ? watch(&s, &(reef_net_view_client){.radius = 70, .query = "Mark"}, of_server ? NULL : &h) : NULL;
        if (w) {
            for (uint32_t i = 0; i < 60; i++) s.things[i] = thing_new(&s, i);
            avatars(&s);
            for (uint32_t t = 0; t < 60; t++) {
                for (uint32_t k = 0; k < 4; k++) change(&s);
                tick(&s);
            }
        }
        heap_fail_never(&h);
        for (uint32_t t = 0; w && t < 80; t++) tick(&s);
        if (w) (void)compare(&s, w);
        more = h.refused > 0;
        *refused += h.refused;
        stage_end(&s);
        assert_null(h.mistake);
        assert_int_equal(h.blocks, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    uint64_t refused = 0;
    (void)state;
    allocations_fail(false, &refused);
    allocations_fail(true, &refused);
    assert_true(refused > 60);
}

/* ---- a base and its subtype, templates, places that are disabled ---- */

typedef struct Moving {
    int32_t speed;
} Moving;
REEF_COMPONENT(Moving);
REEF_FIELDS(Moving, speed);
typedef struct Diving {
    Moving base;
    int32_t depth;
} Diving;
REEF_SUBTYPE(Diving, Moving);
REEF_FIELDS(Diving, base.speed, depth);
REEF_TAG(Fish);
REEF_SUBTAG(Shark, Fish);

/* "12" has a Diving with this depth, and a Moving with this speed, each itself. */
static void assert_moves(const reef_world *w, reef_entity e, int32_t speed, int32_t depth)
{
    reef_component found[2];
    const uint32_t n = reef_find_subs(w, e, Moving, found, 2);
    assert_int_equal(n, (uint32_t)(speed != 0) + (uint32_t)(depth != 0));
    if (depth) assert_int_equal(reef_get(w, e, Diving)->depth, depth);
    if (speed) assert_int_equal(reef_get(w, e, Moving)->speed, speed);
}

static void a_subtype_is_not_its_base(void **state)
{
    (void)state;
    for (uint32_t turned = 0; turned < 2; turned++) { /* the order in which they are listed makes no difference */
        stage s = {.seed = 9};
        const reef_net_view_type listed[] = {{reef_id(Mark), false},
                                             {turned ? reef_id(Moving) : reef_id(Diving), false},
                                             {turned ? reef_id(Diving) : reef_id(Moving), false},
                                             {turned ? reef_id(Fish) : reef_id(Shark), false},
                                             {turned ? reef_id(Shark) : reef_id(Fish), false}};
        reef_world *there = world_on(NULL);
        s.sim = reef_net_sim_new(1, &(reef_net_line){.latency_ns = MS}, NULL);
        s.world = world_on(NULL);
        reef_net_view_config c = {.world = s.world, .types = listed, .type_count = 5};
        c.transport = reef_net_sim_transport(s.sim, SERVER);
        s.views = reef_net_views_new(&c, NULL);
        c.world = there;
        c.transport = reef_net_sim_transport(s.sim, SERVER + 1);
        reef_net_view *view = reef_net_view_new(&c, SERVER, NULL);
        assert_int_equal(reef_net_views_add(s.views, &(reef_net_view_client){.address = SERVER + 1, .query = "Mark"}),
                         0);
        const reef_entity diver =
                              reef_spawn(s.world, reef_with(Mark, 1, 0, 0), reef_with(Diving, {3}, 4), reef_tag(Shark)),
                          both = reef_spawn(s.world, reef_with(Mark, 2, 0, 0), reef_with(Diving, {5}, 6),
                                            reef_with(Moving, 7), reef_tag(Shark), reef_tag(Fish));
        for (uint32_t t = 0; t < 30; t++) {
            tick(&s);
            assert_int_equal(reef_net_view_update(view), REEF_OK);
            const watcher w = {.world = there};
            const reef_entity one = find(&w, 1), two = find(&w, 2);
            if (t == 9 || t == 29) {
                assert_moves(there, one, 0, 4);
                assert_moves(there, two, t == 9 ? 7 : 0, 6);
                assert_true(reef_has(there, one, Shark) && reef_has(there, two, Shark));
                assert_int_equal(reef_count(there, Fish), t == 9 ? 1 : 0);
            }
            if (t == 10)
                assert_int_equal(reef_change(s.world, both, reef_without(Moving), reef_without(Fish)), REEF_OK);
        }
        assert_true(reef_is_alive(s.world, diver));
        reef_net_views_free(s.views);
        reef_net_view_free(view);
        reef_world_free(s.world);
        reef_world_free(there);
        reef_net_sim_free(s.sim);
    }
}

static void templates_and_disabled_places_are_out_of_sight(void **state)
{
    (void)state;
    stage s = {.seed = 4};
    assert_true(stage_begin(&s, &bad, 1000, NULL));
    const watcher *near_by = watch(&s, &(reef_net_view_client){.radius = 40}, NULL),
                  *asks = watch(&s, &(reef_net_view_client){.radius = 40, .query = "?ReefPrefab"}, NULL);
    assert_true(near_by && asks);
    avatars(&s);
    for (uint32_t i = 0; i < 3; i++) {
        s.things[i] = reef_spawn(s.world, reef_with(Point, 1, (float)i));
        mark(&s, s.things[i], i);
    }
    assert_int_equal(reef_make_prefab(s.world, s.things[1]), REEF_OK);
    assert_int_equal(reef_disable(s.world, s.things[2], Point), REEF_OK);
    for (uint32_t t = 0; t < 60; t++) {
        if (t == 30) assert_int_equal(reef_disable(s.world, s.things[0], Point), REEF_OK);
        if (t == 30) assert_int_equal(reef_enable(s.world, s.things[2], Point), REEF_OK);
        if (t == 30) assert_int_equal(reef_remove(s.world, s.things[1], ReefPrefab), REEF_OK);
        tick(&s);
        assert_int_equal(reef_net_views_sees(s.views, near_by->number, s.things[0]), t < 30);
        assert_int_equal(reef_net_views_sees(s.views, near_by->number, s.things[1]), t >= 30);
        assert_int_equal(reef_net_views_sees(s.views, near_by->number, s.things[2]), t >= 30);
        assert_true(reef_net_views_sees(s.views, asks->number, s.things[1]));
    }
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subtype_is_not_its_base),
        cmocka_unit_test(templates_and_disabled_places_are_out_of_sight),
        cmocka_unit_test(clients_get_what_they_may_see),
        cmocka_unit_test(what_is_hidden_never_leaves_the_server),
        cmocka_unit_test(what_is_hidden_changes_no_byte),
        cmocka_unit_test(what_is_seen_is_never_older_than_the_bound),
        cmocka_unit_test(damaged_datagrams_are_refused),
        cmocka_unit_test(arguments_out_of_range_are_refused),
        cmocka_unit_test(a_list_of_other_types_is_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
