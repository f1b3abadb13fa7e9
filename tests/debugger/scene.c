/* What gdb shows (tests/debugger/run): a world with values in every home, names, relations and what is disabled, and
 * queries with every word. It writes to FILE what reef itself prints of them, and stops in `stopped`. */
#include <reef/all.h>
#include <stdio.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Every {
    bool yes;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    double d;
    float list[3];
    char text[16];
    reef_entity friend;
    uint8_t many[40];
} Every;
typedef struct Plain { /* without fields: gdb prints the struct */
    int a;
    double b;
} Plain;
typedef struct Depth {
    float metres;
} Depth;
typedef Depth Paged, Cold, Item, Coat;
typedef struct Apart {
    float x;
    double y;
    uint8_t z;
} Apart;
typedef struct Moving {
    float speed;
} Moving;
typedef Moving Swimming;
typedef enum Mood { CALM, ANGRY = -4, FLEEING = 1 } Mood;
enum { FOOD = 1, SLEEP = 2, COMPANY = 8, DEPTH = 3 };
typedef struct Feels {
    Mood mood;
    int8_t before[3];
    uint64_t wants, nothing;
} Feels;
REEF_COMPONENT(Position);
REEF_COMPONENT(Every);
REEF_COMPONENT(Plain);
REEF_COMPONENT_IN(Depth, REEF_SPARSE);
REEF_COMPONENT_IN(Paged, REEF_PAGED);
REEF_COMPONENT_IN(Cold, REEF_COLD);
REEF_COMPONENT_IN(Item, REEF_MULTI);
REEF_COMPONENT_IN(Coat, REEF_SHARED);
REEF_COMPONENT_IN(Apart, REEF_SPLIT);
REEF_COMPONENT(Moving);
REEF_SUBTYPE(Swimming, Moving);
REEF_TAG(Hungry);
REEF_TAG(in);
REEF_SWITCH(Awake);
REEF_RELATION(Likes);
REEF_RELATION_OF(Owes, Depth);
REEF_ENUM(Mood, CALM, ANGRY, FLEEING);
REEF_MASK(Wants, FOOD, SLEEP, COMPANY, DEPTH);
REEF_COMPONENT(Feels);
REEF_FIELDS(Feels, (mood, enum, Mood), (before, enum, Mood), (wants, enum, Wants), (nothing, enum, Wants));
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_FIELDS(Every, yes, i8, u8, i16, u16, i32, u32, i64, u64, (d, "kg"), (list, "m"), text, friend, many);
REEF_FIELDS(Depth, (metres, "m"));
REEF_FIELDS(Paged, (metres, "m"));
REEF_FIELDS(Cold, (metres, "m"));
REEF_FIELDS(Item, metres);
REEF_FIELDS(Coat, metres);
REEF_FIELDS(Apart, (x, "m"), y, z);
REEF_FIELDS(Moving, speed);
REEF_FIELDS(Swimming, speed);

static const char *const texts[] = {
    "Position, in Every, !Hungry, ?Depth",
    "out Position, with Hungry | in Depth, !(Every | Plain)",
    "Hungry | (Every, Plain)",
    "!(Hungry, Every)",
    "disabled Position, either Every",
    "in changed Position, disabled *",
    "\"in\", in Position",
    "Likes(bob), Owes(*)",
    "in Owes(\"the bob\\\"s\")",
    "Position up(ChildOf), Depth self up(ChildOf, 2)",
    "in Moving+, each Item",
    "Position of bob, *(bob)",
    "Position, Likes($friend), Hungry($friend), Likes($friend, $this)",
    "Position, cascade(ChildOf)",
    "Position(x < 0.1, y in -1..$most), in Every(u64 == 18446744073709551615, yes == true, i8 >= -1)",
    "Feels(mood == ANGRY, wants & FOOD|SLEEP), Owes(bob, metres != 3), !Every(text == \"a \\\"b\", list[1] > 2.5)",
    "",
};
enum { TEXTS = sizeof texts / sizeof texts[0], MANY = 3000 };

/* Where gdb stops. The world is a variable of the frames outside. */
static int depth;
uint64_t depth_zero;
void stopped(const reef_entity *alice, const reef_query *queries);
void stopped(const reef_entity *alice, const reef_query *queries)
{
    reef_entity here = *alice;
    depth += (int)here.index + (int)queries->index;
}

static void fill(reef_world *w, reef_entity *alice)
{
    reef_entity bob = reef_spawn(w, reef_with(Position, 0.1f, -2), reef_with(Plain, 7, 2.5), reef_tag(Hungry));
    reef_entity bobs = reef_spawn(w, reef_tag(in), reef_with(Coat, 3)), gone = reef_create(w), bare = reef_create(w);
    (void)reef_set_name(w, bob, "bob");
    (void)reef_set_name(w, bobs, "the bob\"s");
    *alice = reef_spawn(w, reef_with(Position, 1e10f, 1.0f / 3), reef_with(Apart, 1, 2, 3), reef_with(Depth, 5),
                        reef_with(Paged, 6), reef_with(Cold, 7), reef_with(Item, 8), reef_with(Swimming, 4));
    (void)reef_set_name(w, *alice, "alice");
    (void)reef_append(w, *alice, Item, 9);
    (void)reef_append(w, *alice, Item, 10);
    (void)reef_share(w, bobs, *alice, Coat);
    (void)reef_set(w, *alice, Every, .yes = true, .i8 = -1, .u8 = 255, .i16 = -300, .u16 = 60000, .i32 = -70000,
                   .u32 = 4000000000u, .i64 = -5000000000, .u64 = UINT64_MAX, .d = 0.1,
                   .list = {1, 3.4028235e38f, 1e-7f}, .text = "a \"b\"\n\x01", .friend = bob, .many = {1, 2, 3});
    (void)reef_set(w, *alice, Feels, ANGRY, {0, -4, 9}, UINT64_C(1) << 63 | FOOD | COMPANY, 0);
    (void)reef_set(w, bobs, Feels, FLEEING, {1, 1, 1}, SLEEP | FOOD, 4);
    (void)reef_relate(w, *alice, Likes, bob);
    (void)reef_relate(w, *alice, Likes, bobs);
    (void)reef_relate_data(w, *alice, Owes, bob, 12);
    (void)reef_relate(w, *alice, ChildOf, bobs);
    (void)reef_enable(w, bob, Awake);
    (void)reef_add(w, *alice, Awake);
    (void)reef_disable(w, *alice, Position);
    (void)reef_disable(w, bob);
    (void)reef_destroy(w, gone);
    (void)reef_set_name(w, bare, "bare");
    for (int i = 0; i < MANY; i++) {
        reef_entity e = reef_spawn(w, reef_with(Position, (float)i, 0));
        if (i % 3 == 0) (void)reef_set(w, e, Depth, (float)i);
        if (i % 7 == 0) (void)reef_destroy(w, e);
    }
}

static void print_all(reef_world *w, const reef_query *queries, FILE *file)
{
    for (uint32_t i = 0; i <= 12; i++) (void)reef_print(w, reef_entity_at(w, i), file);
    for (uint32_t i = 2000; i < 2008; i++) (void)reef_print(w, reef_entity_at(w, i), file);
    (void)reef_print_world(w, file, 0);
    for (int i = 0; i < TEXTS; i++) {
        char text[256];
        (void)reef_query_text(w, queries[i], text, sizeof text);
        fprintf(file, "\"%s\"\n", text);
    }
}

int main(int count, char **arguments)
{
    static reef_query queries[TEXTS];
    reef_entity alice;
    reef_world *other = reef_world_new(NULL); /* two worlds: a handle is looked up in that where it lives */
    reef_world *world = reef_world_new(NULL);
    FILE *file = count > 1 ? fopen(arguments[1], "w") : NULL;
    if (file == NULL || world == NULL || other == NULL) return 2;
    fill(world, &alice);
    for (int i = 0; i < TEXTS; i++) {
        queries[i] = reef_query_new(world, texts[i]);
        if (!reef_query_is_null(queries[i])) continue;
        fprintf(stderr, "%s\n", texts[i]);
        return 2;
    }
    reef_query lent = reef_query_new(world, texts[0]);
    reef_world *fork = reef_fork(world);
    if (fork == NULL || reef_query_free(world, lent) != REEF_OK) return 2; /* only the fork has it now */
    print_all(world, queries, file);
    if (fclose(file) != 0) return 2;
    stopped(&alice, queries);
    reef_world_free(fork);
    reef_world_free(world);
    reef_world_free(other);
    return depth < 0;
}
