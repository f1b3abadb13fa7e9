/* A scene whose hashes are the same on every machine: it needs the library alone, and prints what
 * tests/state/hash_scene.expected holds.
 *
 * It has every kind of state: tables with and without data, fields of all kinds, links between entities, switches,
 * names, ids that are free, reserved and used again, forks, snapshots and a second future. All types have fields (bytes
 * would hash differently on a big-endian machine), and floats are computed only by + - * /, which IEEE 754 defines to
 * the last bit. */
#include "reef.h"
#ifndef REEF_ALL_H /* the reef.h of the two files has everything */
#include "reef/all.h"
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    double joules;
    int32_t meals;
} Energy; /* with padding behind */
typedef struct {
    reef_entity prey;
    float distance;
} Hunt;
typedef struct {
    char text[11];
    bool loud;
    int64_t since;
} Cry; /* with padding between, where int64_t is aligned to 8 */
typedef struct {
    int16_t low, high;
} Range;
typedef struct {
    uint8_t kind;
    Range range[3];
    uint64_t marks;
    uint32_t unseen;
} Genes; /* `unseen` is no field */
typedef struct {
    int8_t a;
    uint16_t b;
    uint32_t c;
    int16_t d;
    uint8_t e[5];
    double f[2];
} Odds;

typedef struct {
    reef_entity whom;
    float heat;
} Grudge;
typedef struct {
    uint8_t kind;
    uint64_t since;
} Itch; /* with padding between */
typedef struct {
    double depth[9];
    int16_t age;
} Scar; /* longer than what is hashed at once */

REEF_COMPONENT(Position);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_COMPONENT(Velocity);
REEF_FIELDS(Velocity, (x, "m/s"), (y, "m/s"));
REEF_COMPONENT(Energy);
REEF_FIELDS(Energy, (joules, "J"), meals);
REEF_COMPONENT(Hunt);
REEF_FIELDS(Hunt, prey, (distance, "m"));
REEF_COMPONENT(Cry);
REEF_FIELDS(Cry, text, loud, since);
REEF_COMPONENT(Genes);
REEF_FIELDS(Genes, marks, kind, (range, REEF_I16, NULL, 0, 0));
REEF_COMPONENT(Odds);
REEF_FIELDS(Odds, a, b, c, d, e, f);
REEF_COMPONENT_IN(Grudge, REEF_SPARSE);
REEF_FIELDS(Grudge, heat, whom);
REEF_COMPONENT_PAGED(Itch, 32);
REEF_FIELDS(Itch, kind, since);
REEF_COMPONENT_IN(Scar, REEF_COLD);
REEF_FIELDS(Scar, depth, age);
REEF_TAG(Plant);
REEF_TAG(Hidden);
REEF_SWITCH(Asleep);
REEF_SWITCH(Marked);

enum { PEOPLE = 3000, NAMED = 40 };

typedef struct scene {
    reef_world *world;
    reef_entity people[PEOPLE], reserved;
    uint64_t random;
    int64_t step;
} scene;

static void must(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "hash_scene: %s\n", what);
    exit(1);
}

static uint32_t below(scene *s, uint32_t n)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((s->random >> 33) % n);
}

static float coordinate(scene *s) { return (float)below(s, 4096) / 16.0f; }

/* ---- things that happen ---- */

static reef_entity born(scene *s)
{
    reef_world *w = s->world;
    const float x = coordinate(s), y = coordinate(s); /* a list of arguments has no order */
    const int16_t low = (int16_t)below(s, 999);
    switch (below(s, 6)) {
    case 0: return reef_spawn(w, reef_with(Position, x, y), reef_tag(Plant), reef_with(Energy, .joules = 5));
    case 1: return reef_spawn(w, reef_with(Position, x, y), reef_with(Velocity, 1, -1), reef_with(Energy, 9.5, 1));
    case 2:
        return reef_spawn(w, reef_with(Position, x, y), reef_with(Velocity, 0, 2), reef_with(Energy, 7, 0),
                          reef_with(Hunt, .distance = 1));
    case 3: return reef_spawn(w, reef_with(Genes, 3, {{-1, 2}, {-3, 4}, {low, -6}}, s->random, 77), reef_tag(Asleep));
    case 4:
        return reef_spawn(
            w, reef_with(Odds, -8, 65000, 4000000000u, -32000, {1, 2, 3, 4, 5}, {(double)x, (double)(x * y)}));
    default: return reef_create(w);
    }
}

static void changed(scene *s, reef_entity e)
{
    reef_world *w = s->world;
    const reef_entity other = s->people[below(s, PEOPLE)];
    const float x = coordinate(s), y = coordinate(s);
    switch (below(s, 9)) {
    case 0: must(reef_set(w, e, Position, x, y) >= 0, "set"); break;
    case 1: must(reef_set(w, e, Hunt, other, 3) >= 0, "set"); break;
    case 2: (void)(reef_has(w, e, Asleep) ? reef_remove(w, e, Asleep) : reef_add(w, e, Asleep)); break;
    case 3: (void)(reef_has(w, e, Hidden) ? reef_remove(w, e, Hidden) : reef_add(w, e, Hidden)); break;
    case 4: must(reef_set(w, e, Cry, "shark!", s->step % 2 == 0, s->step * -1000000007) >= 0, "set"); break;
    case 5:
        must(reef_change(w, e, reef_with(Velocity, 0.5f, 0.25f), reef_without(Cry), reef_tag(Marked)) == REEF_OK,
             "change");
        break;
    case 6: must(reef_set(w, e, Genes, .kind = 9, .marks = s->random, .unseen = (uint32_t)s->step) >= 0, "set"); break;
    case 7: (void)reef_remove(w, e, Hunt); break;
    default: (void)(below(s, 40) == 0 && reef_remove_all(w, e) == REEF_OK); break;
    }
}

static void named(scene *s)
{
    char name[32];
    const reef_entity e = s->people[below(s, PEOPLE)];
    snprintf(name, sizeof name, "reef.fish_%u", below(s, NAMED));
    const reef_entity old = reef_find(s->world, name);
    if (!reef_entity_is_null(old)) must(reef_set_name(s->world, old, NULL) == REEF_OK, "unname");
    if (reef_is_alive(s->world, e)) must(reef_set_name(s->world, e, name) == REEF_OK, "name");
}

static void reserved(scene *s)
{
    if (reef_entity_is_null(s->reserved)) s->reserved = reef_reserve_id(s->world);
    else if (below(s, 2))
        must(reef_release_id(s->world, s->reserved) == REEF_OK, "release"), s->reserved = (reef_entity){0, 0};
    else must(reef_create_as(s->world, s->reserved) == REEF_OK, "create_as"), s->reserved = (reef_entity){0, 0};
}

static void moved(scene *s)
{
    const float dt = 1.0f / 60.0f;
    reef_query q = reef_query_new(s->world, "Position, Velocity, inout Energy");
    must(!reef_query_is_null(q), "query");
    for (reef_block b = reef_begin(s->world, q); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        Velocity *v = reef_inout(&b, Velocity);
        Energy *e = reef_inout(&b, Energy);
        for (uint32_t i = 0; i < b.count; i++) {
            v[i].x += (128.0f - p[i].x) * dt * 0.3f;
            v[i].y += (128.0f - p[i].y) / (1.0f + p[i].x * p[i].x) - v[i].y * 0.01f;
            p[i].x += v[i].x * dt;
            p[i].y += v[i].y * dt;
            e[i].joules -= (double)(v[i].x * v[i].x + v[i].y * v[i].y) * 1e-4 / 3.0;
            if (e[i].joules < 0) e[i].joules = 10, e[i].meals++;
        }
    }
    reef_query_free(s->world, q);
}

static void stepped(scene *s)
{
    for (int i = 0; i < 30; i++) {
        reef_entity *e = &s->people[below(s, PEOPLE)];
        const uint32_t what = below(s, 10);
        if (!reef_is_alive(s->world, *e)) *e = born(s);
        else if (what == 0) must(reef_destroy(s->world, *e) == REEF_OK, "destroy");
        else changed(s, *e);
    }
    if (s->step % 3 == 0) named(s);
    if (s->step % 7 == 0) reserved(s);
    if (s->step == 170) {
        const reef_query gone = reef_query_new(s->world, "either Plant, either Hidden, either *");
        must(reef_destroy_where(s->world, gone, NULL) >= 0, "destroy_where");
        reef_query_free(s->world, gone);
    }
    moved(s);
    s->step++;
}

/* Values outside of the rows. */
static void hurt(scene *s, int steps)
{
    reef_world *w = s->world;
    for (int i = 0; i < steps; i++) {
        const reef_entity e = s->people[below(s, PEOPLE)], other = s->people[below(s, PEOPLE)];
        const float x = coordinate(s);
        const uint32_t what = below(s, 12);
        if (!reef_is_alive(w, e)) continue;
        switch (what) {
        case 0:
        case 1:
        case 2: must(reef_set(w, e, Grudge, other, x * 0.25f) >= 0, "set"); break;
        case 3:
        case 4: must(reef_set(w, e, Itch, 7, s->random) >= 0, "set"); break;
        case 5:
        case 6: must(reef_set(w, e, Scar, {(double)x, 0.1, -3e300}, -5) >= 0, "set"); break;
        case 7: (void)reef_remove(w, e, Grudge); break;
        case 8: (void)reef_remove(w, e, Itch); break;
        case 9: (void)reef_remove(w, e, Scar); break;
        case 10: (void)reef_disable(w, e, Itch); break;
        default: must(reef_destroy(w, e) == REEF_OK, "destroy");
        }
    }
}

/* ---- what is printed ---- */

static void told(const char *title, scene *s)
{
    char message[256] = "";
    must(reef_validate(s->world, message, sizeof message) == REEF_OK, message);
    must(reef_world_stats(s->world).bytes_total < 64 << 20, "the count of bytes is wrong");
    printf("%-16s step %3d alive %4u hash %016" PRIx64 "\n", title, (int)s->step, (unsigned)reef_count_alive(s->world),
           reef_hash(s->world));
}

static void ran(const char *title, scene *s, int steps)
{
    for (int i = 0; i < steps; i++) {
        stepped(s);
        if (s->step % 50 == 0) told(title, s);
    }
}

static bool part_told(void *context, const reef_hash_part *part)
{
    static const char *const kinds[] = {"", "ids", "names"};
    (void)context;
    if (part->kind != REEF_HASH_TYPE && part->kind > REEF_HASH_NAMES) return true;
    printf("  %-8s rows %5u hash %016" PRIx64 "\n",
           part->component.id ? reef_type_name(part->component) : kinds[part->kind], (unsigned)part->rows, part->hash);
    return true;
}

static scene *copied(const scene *s, reef_world *world)
{
    scene *copy = malloc(sizeof *copy);
    must(copy && world, "no memory");
    *copy = *s;
    copy->world = world;
    return copy;
}

int main(void)
{
    static scene s = {.random = 2024};
    s.world = reef_world_new(NULL);
    must(s.world != NULL, "no world");
    told("empty", &s);
    for (int i = 0; i < PEOPLE - 500; i++) s.people[i] = born(&s);
    told("born", &s);
    ran("first future", &s, 200);

    reef_snapshot *then = reef_snapshot_take(s.world);
    scene *saved = copied(&s, s.world), *fork = copied(&s, reef_fork(s.world));
    must(then != NULL, "no snapshot");
    fork->random = 7;
    ran("first future", &s, 100);
    ran("fork", fork, 100);
    s = *saved;
    must(reef_restore(s.world, then) == REEF_OK, "restore");
    told("restored", &s);
    s.random = 7;
    ran("second future", &s, 100);
    must(reef_equal(s.world, fork->world, NULL), "a fork and a second future that played the same differ");

    (void)reef_hash_parts(s.world, part_told, NULL);
    must(reef_world_clear(s.world) == REEF_OK, "destroy");
    told("all dead", &s);
    for (int i = 0; i < PEOPLE - 500; i++) s.people[i] = born(&s);
    hurt(&s, 4000);
    told("stores", &s);
    scene *later = copied(&s, reef_fork(s.world));
    hurt(later, 1000);
    told("stores of a fork", later);
    hurt(&s, 1000);
    told("stores", &s);
    must(reef_equal(s.world, later->world, NULL), "a fork that played the same differs");
    (void)reef_hash_parts(s.world, part_told, NULL);
    reef_snapshot_free(then);
    reef_world_free(fork->world);
    reef_world_free(s.world);
    reef_world_free(later->world);
    free(later);
    free(saved);
    free(fork);
    return 0;
}
