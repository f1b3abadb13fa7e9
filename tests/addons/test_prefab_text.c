/* The add-on reef_prefab_text: what is read, what is wrong and where, and that what is written is read again. */
#include "reef_prefab_text.h"
#include "support.h"
#include <float.h>

typedef struct {
    int32_t now, most;
} Armour;
typedef struct {
    float metres;
    uint8_t bore[2];
    bool rifled;
    char maker[8];
} Gun;
typedef struct {
    reef_entity at;
    double bearing;
} Watches;
typedef struct {
    int64_t rounds;
} Ammo;
typedef struct {
    float warm;
} Temperature;
typedef struct {
    int32_t mesh;
} Looks;
typedef struct {
    int32_t metres;
} Cable;
typedef struct {
    int32_t opaque;
} Opaque;
REEF_COMPONENT(Armour);
REEF_FIELDS(Armour, (now, "mm", 0, 500), (most, "mm", 0, 500));
REEF_COMPONENT(Gun);
REEF_FIELDS(Gun, (metres, "m"), (bore, "cm"), rifled, maker);
REEF_COMPONENT(Watches);
REEF_FIELDS(Watches, at, bearing);
REEF_COMPONENT_IN(Ammo, REEF_SPLIT);
REEF_FIELDS(Ammo, rounds);
REEF_COMPONENT_IN(Temperature, REEF_MULTI);
REEF_FIELDS(Temperature, (warm, "K"));
REEF_COMPONENT_IN(Looks, REEF_SHARED);
REEF_FIELDS(Looks, mesh);
REEF_COMPONENT(Cable);
REEF_FIELDS(Cable, metres);
REEF_COMPONENT(Opaque);
REEF_TAG(Steel);
REEF_SWITCH(Loaded);
REEF_RELATION(FedBy, REEF_EXCLUSIVE);
REEF_RELATION(Wired);
REEF_RELATION_OF(Cabled, Cable);

static const char turrets[] =
    "{\n"
    "  \"turret\": {\n"
    "    \"components\": {\"Armour\": {\"now\": 50, \"most\": 60}, \"Looks\": {\"mesh\": 7}, \"Steel\": true},\n"
    "    \"relations\": {\"Wired\": [\"barrel.sight\", \"crew\", \"@workshop\"]},\n"
    "    \"children\": [\n"
    "      {\"name\": \"barrel\",\n"
    "       \"components\": {\"Gun\": {\"metres\": 3.1, \"bore\": [12, 13], \"rifled\": true, \"maker\": \"Krupp\"},\n"
    "                      \"Ammo\": {\"rounds\": 90000000000}, \"Loaded\": true},\n"
    "       \"relations\": {\"FedBy\": \"crew\", \"Cabled\": {\"target\": \".\", \"metres\": 4}},\n"
    "       \"children\": [{\"name\": \"sight\", \"components\": {\"Watches\": {\"at\": \"crew\", \"bearing\": "
    "0.1}}}]},\n"
    "      {\"name\": \"crew\", \"components\": {\"Temperature\": [{\"warm\": 310}, {\"warm\": 311.5}]}},\n"
    "      {\"components\": {\"Steel\": true, \"Watches\": {\"at\": \"@workshop\"}}}\n"
    "    ]\n"
    "  },\n"
    "  \"heavy turret\": {\n"
    "    \"base\": \"turret\",\n"
    "    \"components\": {\"Armour\": {\"now\": 200}},\n"
    "    \"without\": [\"Steel\"],\n"
    "    \"children\": [\n"
    "      {\"name\": \"barrel\", \"components\": {\"Gun\": {\"metres\": 5}}},\n"
    "      {\"name\": \"crew\", \"removed\": true},\n"
    "      {\"name\": \"spare\", \"base\": \"turret\"}\n"
    "    ]\n"
    "  }\n"
    "}\n";

static void workshop(reef_world *w)
{
    const reef_entity e = reef_create(w);
    assert_ok(reef_set_name(w, e, "workshop"));
}

static void read_ok(reef_world *w, const char *text)
{
    reef_prefab_text_error error;
    const reef_status s = reef_prefab_text_read(w, text, strlen(text), "turrets.json", &error);
    if (s != REEF_OK) fail_msg("%s", error.message);
    assert_string_equal(error.message, "");
    assert_valid(w);
}

static void prefabs_are_read(void **state)
{
    reef_world *w = world_of(state);
    uint32_t n;
    workshop(w);
    read_ok(w, turrets);
    const reef_entity turret = reef_find(w, "turret"), heavy = reef_find(w, "heavy turret");
    reef_entity e;
    assert_true(reef_has(w, turret, ReefPrefab) && reef_has(w, reef_find(w, "turret.barrel.sight"), ReefPrefab));
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Gun")), 0);
    assert_ok(reef_instantiate(w, turret, 1, &e));
    const reef_entity barrel = reef_find_below(w, e, "barrel"), crew = reef_find_below(w, e, "crew");
    const Gun *gun = reef_get(w, barrel, Gun);
    assert_true(gun->metres == 3.1f && gun->bore[1] == 13 && gun->rifled && strcmp(gun->maker, "Krupp") == 0);
    Ammo ammo;
    assert_true(reef_read(w, barrel, Ammo, &ammo) && ammo.rounds == 90000000000 && reef_has(w, barrel, Loaded));
    assert_entity(crew, reef_target(w, barrel, FedBy));
    assert_int_equal(reef_relation_get(w, barrel, Cabled, e)->data.metres, 4);
    assert_entity(crew, reef_get(w, reef_find_below(w, e, "barrel.sight"), Watches)->at);
    assert_true(reef_get_all(w, crew, Temperature, &n)[1].warm == 311.5f && n == 2);
    assert_true(reef_related(w, e, Wired, reef_find(w, "workshop")));
    assert_int_equal(reef_source_count(w, e, ChildOf), 3);
    /* the variant has what it doesn't say from its base */
    assert_ok(reef_instantiate(w, heavy, 1, &e));
    assert_entity(turret, reef_target(w, heavy, InstanceOf));
    assert_true(reef_get(w, e, Armour)->now == 200 && reef_get(w, e, Armour)->most == 60 && !reef_has(w, e, Steel));
    gun = reef_get(w, reef_find_below(w, e, "barrel"), Gun);
    assert_true(gun->metres == 5 && gun->bore[0] == 12);
    assert_none(reef_find_below(w, e, "crew"));
    assert_some(reef_find_below(w, e, "spare.barrel.sight"));
    reef_mut(w, turret, Looks)->mesh = 8; /* a shared value follows the template */
    assert_int_equal(reef_get(w, e, Looks)->mesh, 8);
}

typedef enum Mood { CALM, ANGRY, FLEEING = -2 } Mood;
enum { WET = 1, COLD = 2 };
typedef struct {
    int16_t mood, moods[2];
    uint32_t flags;
} Feels;
REEF_ENUM(Mood, CALM, ANGRY, FLEEING);
REEF_MASK(Flags, WET, COLD);
REEF_COMPONENT(Feels);
REEF_FIELDS(Feels, (mood, enum, Mood), (moods, enum, Mood), (flags, enum, Flags));

static void values_are_read_and_written_by_name(void **state)
{
    static const char text[] = "{\"crab\": {\"components\": {\"Feels\": {\"mood\": \"FLEEING\", \"moods\": [\"ANGRY\", "
                               "7], \"flags\": \"COLD|WET|8\"}}}}";
    static const struct {
        const char *value, *why;
    } bad[] = {{"\"ANGRI\"", "there is no value of \"Mood\" \"ANGRI\"; did you mean \"ANGRY\"?"},
               {"\"32768\"", "this number doesn't fit the field \"mood\""},
               {"true", "here belongs a whole number, not true or false"}};
    reef_world *w = world_of(state);
    char *again = NULL, wrong_text[200];
    read_ok(w, text);
    const Feels *f = reef_get(w, reef_find(w, "crab"), Feels);
    assert_true(f->mood == FLEEING && f->moods[0] == ANGRY && f->moods[1] == 7 && f->flags == (WET | COLD | 8));
    reef_prefab_text_error error;
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(wrong_text, sizeof wrong_text, "{\"shrimp\": {\"components\": {\"Feels\": {\"mood\": %s}}}}",
                       bad[i].value);
        assert_true(reef_prefab_text_read(w, wrong_text, strlen(wrong_text), NULL, &error) < 0);
        assert_non_null(strstr(error.message, bad[i].why));
    }
    const reef_entity crab = reef_find(w, "crab");
    again = reef_prefab_text_write(w, &crab, 1, NULL);
    assert_non_null(again);
    assert_non_null(strstr(again, "{\"mood\": \"FLEEING\", \"moods\": [\"ANGRY\", 7], \"flags\": \"WET|COLD|8\"}"));
    reef_prefab_text_free(again);
}

/* A text of which something was replaced, and what is wrong with it; a ^ stands where it is wrong. */
static void wrong(reef_world *w, const char *was, const char *is, const char *why)
{
    char text[sizeof turrets + 256], message[600];
    reef_prefab_text_error error;
    uint32_t line = 1, column = 1;
    const char *at = strstr(turrets, was);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - turrets), turrets, is, at + strlen(was));
    char *mark = strchr(text, '^');
    assert_non_null(mark);
    memmove(mark, mark + 1, strlen(mark));
    for (const char *c = text; c < mark; c++) column = *c == '\n' ? 1 : column + 1, line += *c == '\n';
    const uint64_t before = digest(w), hash = reef_hash(w);
    assert_true(reef_prefab_text_read(w, text, strlen(text), "turrets.json", &error) < 0);
    snprintf(message, sizeof message, "turrets.json:%u:%u: %s", line, column, why);
    assert_string_equal(error.message, message);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    assert_true(digest(w) == before && reef_hash(w) == hash);
    assert_valid(w);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    reef_world *w = world_of(state);
    workshop(w);
    wrong(w, "\"Armour\": {\"now\": 50", "^\"Armor\": {\"now\": 50",
          "there is no component \"Armor\"; did you mean \"Armour\"?");
    wrong(w, "\"now\": 50", "^\"nwo\": 50", "there is no field of \"Armour\" \"nwo\"; did you mean \"now\"?");
    wrong(w, "\"now\": 50", "\"now\": ^501", "\"now\" is from 0 to 500 mm");
    wrong(w, "\"now\": 50", "\"now\": ^5.5", "here belongs a whole number, not a number");
    wrong(w, "\"now\": 50", "\"now\": ^\"x\"", "here belongs a whole number, not a text");
    wrong(w, "[12, 13]", "[12, ^256]", "this number doesn't fit the field \"bore\"");
    wrong(w, "[12, 13]", "^[12]", "\"bore\" has 2 elements");
    wrong(w, "\"Krupp\"", "^\"Krupp & Co\"", "\"maker\" has at most 8 bytes");
    wrong(w, "\"Steel\": true}", "\"Steel\": ^1}", "here belongs true, not a number");
    wrong(w, "\"FedBy\": \"crew\"", "^\"FedBye\": \"crew\"",
          "there is no relation \"FedBye\"; did you mean \"FedBy\"?");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"crow\"",
          "there is no entity in this prefab \"crow\"; did you mean \"crew\"?");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"turret\"", "\"turret\" is this prefab itself: write \".\"");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"sight\"",
          "there is no entity in this prefab \"sight\"; did you mean \"barrel.sight\"?");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"barel.sight\"",
          "there is no entity in this prefab \"barel.sight\"; did you mean \"barrel.sight\"?");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"turret.crew\"", "names begin below the prefab: write \"crew\"");
    wrong(w, "\"FedBy\": \"crew\"", "\"FedBy\": ^\"workshop\"",
          "\"workshop\" isn't in this prefab: for the entity of the world write \"@workshop\"");
    wrong(w, "\"name\": \"sight\"", "\"name\": \"sight\", \"base\": ^\"turret\"", "\"turret\" can't contain itself");
    wrong(w, "\"@workshop\"]", "^\"@worksop\"]", "there is no entity \"@worksop\"");
    wrong(w, "\"base\": \"turret\",\n    \"comp", "\"base\": ^\"turet\",\n    \"comp",
          "there is no prefab before this one \"turet\"; did you mean \"turret\"?");
    wrong(w, "\"without\"", "^\"widthout\"", "there is no key \"widthout\"; did you mean \"without\"?");
    wrong(w, "\"name\": \"spare\"", "\"name\": ^\"a.b\"", "the name of a child has no dots");
    wrong(w, "\"name\": \"spare\"", "\"name\": ^\"barrel\"", "there is a child \"barrel\" already");
    wrong(w, "{\"name\": \"crew\", \"comp", "{\"name\": ^\"barrel\", \"comp", "there is a child \"barrel\" already");
    wrong(w, "\"components\": {\"Gun\": {\"metres\": 5}}", "\"base\": ^\"turret\"",
          "the child \"barrel\" is there already; take it away first, with \"removed\"");
    wrong(w, "\"removed\": true", "\"removed\": ^false",
          "a child that is removed has a name, \"removed\": true, and nothing else");
    wrong(w, "\"heavy turret\"", "^\"workshop\"", "there is an entity \"workshop\" already");
    wrong(w, "\"Loaded\": true", "\"Opaque\": {^\"opaque\": 3}",
          "the component \"Opaque\" has no fields that are known");
    wrong(w, "\"Cabled\": {\"target\": \".\"", "\"Wired\": ^{\"target\": \".\"", "the relation \"Wired\" has no data");
    wrong(w, "\"Wired\": [", "^\"ChildOf\": [", "write \"children\" and \"base\" instead of \"ChildOf\"");
    wrong(w, "\"heavy turret\": {", "\"turret^\": {", "duplicate object key near '\"turret\"'");
    wrong(w, "\"children\": [\n      {\"name\": \"barrel\",\n", "\"children\": [\n      ^7, {\"name\": \"barrel\",\n",
          "here belongs an object, not a number");
}

/* A child may be taken away, and another one of its name made of another template. */
static void a_child_is_replaced(void **state)
{
    static const char text[] =
        "{\"rope\": {\"children\": [{\"name\": \"end\", \"components\": {\"Steel\": true}}]},\n"
        " \"hook\": {\"components\": {\"Loaded\": true}},\n"
        " \"crane\": {\"base\": \"rope\", \"children\": [{\"name\": \"end\", \"removed\": true},\n"
        "   {\"name\": \"end\", \"base\": \"hook\", \"components\": {\"Steel\": true}}]}}";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    read_ok(w, text);
    const reef_entity made[] = {reef_find(w, "rope"), reef_find(w, "hook"), reef_find(w, "crane")};
    assert_entity(reef_target(w, reef_find(w, "crane.end"), InstanceOf), made[1]);
    assert_true(reef_has(w, reef_find(w, "crane.end"), Steel));
    assert_true(reef_has(w, reef_find(w, "crane.end"), Loaded));
    size_t size;
    char *again = reef_prefab_text_write(w, made, 3, &size);
    assert_non_null(again);
    read_ok(other, again);
    assert_int_equal(reef_hash(other), reef_hash(w));
    reef_prefab_text_free(again);
}

static void prefabs_are_written_and_read_again(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    workshop(w);
    workshop(other);
    read_ok(w, turrets);
    const reef_entity both[] = {reef_find(w, "turret"), reef_find(w, "heavy turret")};
    size_t size;
    char *text = reef_prefab_text_write(w, both, 2, &size);
    assert_non_null(text);
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(text, "\"base\": \"turret\""));
    assert_non_null(strstr(text, "\"removed\": true"));
    assert_null(strstr(strstr(text, "heavy turret"), "\"Looks\"")); /* it isn't repeated */
    read_ok(other, text);
    const reef_entity again[] = {reef_find(other, "turret"), reef_find(other, "heavy turret")};
    char *second = reef_prefab_text_write(other, again, 2, NULL);
    assert_string_equal(text, second);
    reef_prefab_text_free(text);
    reef_prefab_text_free(second);
    const reef_entity nameless = reef_create(w);
    assert_null(reef_prefab_text_write(w, &nameless, 1, &size));
    /* a text can't say that a child without a name is gone */
    const reef_entity plan = reef_create(w), part = reef_create(w);
    assert_ok(reef_set_name(w, plan, "plan"));
    assert_status(REEF_ADDED, reef_relate(w, part, ChildOf, plan));
    assert_ok(reef_make_prefab(w, plan));
    reef_entity variant;
    assert_ok(reef_instantiate(w, plan, 1, &variant));
    assert_ok(reef_set_name(w, variant, "variant"));
    assert_ok(reef_make_prefab(w, variant));
    text = reef_prefab_text_write(w, &variant, 1, &size);
    assert_non_null(text);
    reef_prefab_text_free(text);
    reef_sources parts = reef_sources_of(w, variant, ChildOf);
    assert_true(reef_sources_next(&parts));
    assert_ok(reef_destroy(w, parts.sources[0]));
    assert_null(reef_prefab_text_write(w, &variant, 1, &size));
    assert_null(reef_prefab_text_write(w, &(reef_entity){0, 0}, 1, NULL));
}

/* The text of the largest float is a little above that float, and the next number of as many digits is too large. */
static void the_largest_numbers_are_written_and_read_again(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_prefab_text_error error;
    const reef_entity e = reef_spawn(w, reef_with(Gun, .metres = FLT_MAX));
    assert_ok(reef_set_name(w, e, "long"));
    char *text = reef_prefab_text_write(w, &e, 1, NULL);
    static const char longer[] = "{\"longer\": {\"components\": {\"Gun\": {\"metres\": -3.4028236e38}}}}";
    assert_non_null(text);
    assert_non_null(strstr(text, "3.4028235e+38"));
    read_ok(other, text);
    assert_true(reef_get(other, reef_find(other, "long"), Gun)->metres == FLT_MAX);
    reef_prefab_text_free(text);
    assert_status(REEF_BAD_TEXT, reef_prefab_text_read(other, longer, strlen(longer), "long.json", &error));
    assert_non_null(strstr(error.message, "this number doesn't fit the field \"metres\""));
}

/* The lines of a deep tree aren't indented without end: its text isn't as long as the square of its depth. */
static void deep_trees_are_written_and_read_again(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity root = reef_create(w), e = root;
    assert_ok(reef_set_name(w, root, "chain"));
    for (int i = 1; i < REEF_PREFAB_TEXT_DEPTH; i++) {
        const reef_entity link = reef_spawn(w, reef_with(Armour, i % 500, 500));
        assert_true(reef_relate(w, link, ChildOf, e) >= 0);
        assert_ok(reef_set_name(w, link, i % 2 ? "a rather long name of a link" : "b"));
        e = link;
    }
    assert_true(reef_relate(w, root, Wired, e) >= 0); /* a path of more than 10,000 letters */
    assert_ok(reef_make_prefab(w, root));
    size_t size;
    char *text = reef_prefab_text_write(w, &root, 1, &size);
    assert_non_null(text);
    assert_in_range(size, 1, REEF_PREFAB_TEXT_DEPTH * 600);
    read_ok(other, text);
    const reef_entity again = reef_find(other, "chain");
    assert_int_equal(reef_count_alive(other), REEF_PREFAB_TEXT_DEPTH);
    char *second = reef_prefab_text_write(other, &again, 1, NULL);
    assert_string_equal(text, second);
    reef_prefab_text_free(text);
    reef_prefab_text_free(second);
    /* what couldn't be read again isn't written */
    const reef_entity more[] = {reef_create(w), reef_create(w)};
    for (int i = 0; i < 2; i++) {
        assert_true(reef_relate(w, more[i], ChildOf, e) >= 0);
        e = more[i];
    }
    assert_null(reef_prefab_text_write(w, &root, 1, &size));
    assert_int_equal(size, 0);
}

/* Of a variant with thousands of children, with names and without, only the last one differs. */
static void broad_trees_are_compared_with_their_base(void **state)
{
    enum { CHILDREN = 4000 };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity root = reef_create(w);
    char name[32];
    assert_ok(reef_set_name(w, root, "shoal"));
    for (int i = 0; i < CHILDREN; i++) {
        const reef_entity child = reef_spawn(w, reef_with(Armour, i % 500, 500));
        assert_true(reef_relate(w, child, ChildOf, root) >= 0);
        snprintf(name, sizeof name, "fish%d", i);
        if (i % 2) assert_ok(reef_set_name(w, child, name));
    }
    assert_ok(reef_make_prefab(w, root));
    reef_entity both[2] = {root, {0, 0}};
    assert_ok(reef_instantiate(w, root, 1, &both[1]));
    assert_ok(reef_set_name(w, both[1], "odd shoal"));
    assert_ok(reef_set(w, reef_find_below(w, both[1], name), Armour, 7, 8));
    assert_ok(reef_make_prefab(w, both[1]));
    char *text = reef_prefab_text_write(w, both, 2, NULL);
    assert_non_null(text);
    const char *variant = strstr(text, "\"odd shoal\"");
    assert_non_null(variant);
    assert_in_range(strlen(variant), 1, 300);
    read_ok(other, text);
    const reef_entity again[] = {reef_find(other, "shoal"), reef_find(other, "odd shoal")};
    assert_int_equal(reef_get(other, reef_find_below(other, again[1], name), Armour)->now, 7);
    char *second = reef_prefab_text_write(other, again, 2, NULL);
    assert_string_equal(text, second);
    reef_prefab_text_free(text);
    reef_prefab_text_free(second);
}

/* Each prefab holds two copies of the one before it. */
static void a_text_makes_so_many_entities_at_most(void **state)
{
    reef_world *w = world_of(state);
    reef_prefab_text_error error;
    char text[4096];
    size_t n = 0;
    for (int i = 0; i < 40; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"p%d\": {", i ? ",\n" : "{", i);
        if (i)
            n += (size_t)snprintf(text + n, sizeof text - n, "\"children\": [{\"base\": \"p%d\"}, {\"base\": \"p%d\"}]",
                                  i - 1, i - 1);
        n += (size_t)snprintf(text + n, sizeof text - n, "}");
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "}");
    assert_true(n < sizeof text);
    assert_int_equal(reef_prefab_text_read(w, text, n, "doubles.json", &error), REEF_LIMIT);
    assert_string_equal(error.message, "doubles.json:19:48: with this the text makes more than 1000000 entities");
    assert_int_equal(reef_count_alive(w), 0);
}

static void files_and_wrong_calls(void **state)
{
    reef_world *w = world_of(state);
    reef_prefab_text_error error;
    workshop(w);
    FILE *file = fopen("test_prefab_text.json", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(turrets, 1, sizeof turrets - 1, file), sizeof turrets - 1);
    fclose(file);
    assert_ok(reef_prefab_text_load(w, "test_prefab_text.json", &error));
    assert_some(reef_find(w, "turret.barrel"));
    remove("test_prefab_text.json");
    assert_int_equal(reef_prefab_text_load(w, "no_such.json", &error), REEF_IO);
    assert_string_equal(error.message, "no_such.json: the file can't be opened");
    assert_int_equal(reef_prefab_text_read(NULL, "{}", 2, NULL, NULL), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_prefab_text_read(w, "[]", 2, NULL, &error), REEF_BAD_TEXT);
    assert_string_equal(error.message, "text:1:1: here belongs an object with prefabs, not an array");
    assert_int_equal(reef_prefab_text_read(w, "{\n \"a\": }", 9, NULL, &error), REEF_BAD_TEXT);
    assert_int_equal(error.line, 2);
    assert_ok(reef_prefab_text_read(w, "{}", 2, NULL, NULL));
    reef_block b = reef_begin(w, reef_query_new(w, ""));
    assert_int_equal(reef_prefab_text_read(w, "{}", 2, NULL, NULL), REEF_LOCKED);
    while (reef_next_block(&b)) {}
    /* where a value can't be copied there is no snapshot: what was made is destroyed */
    const reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Unique));
    const uint64_t alive = reef_count_alive(w);
    static const char half[] =
        "{\"a\": {\"children\": [{\"name\": \"b\"}]}, \"c\": {\"components\": {\"Stel\": true}}}";
    assert_int_equal(reef_prefab_text_read(w, half, sizeof half - 1, NULL, &error), REEF_BAD_TEXT);
    assert_int_equal(reef_count_alive(w), alive);
    assert_none(reef_find(w, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(prefabs_are_read),
        TEST(values_are_read_and_written_by_name),
        TEST(what_is_wrong_is_told_with_its_place),
        TEST(a_child_is_replaced),
        TEST(prefabs_are_written_and_read_again),
        TEST(the_largest_numbers_are_written_and_read_again),
        TEST(deep_trees_are_written_and_read_again),
        TEST(broad_trees_are_compared_with_their_base),
        TEST(a_text_makes_so_many_entities_at_most),
        TEST(files_and_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
