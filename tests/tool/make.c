/* make FOLDER: writes the files for tests/tool/check. Their names say what they are. */
#include "reef/all.h"
#ifdef REEF_TOOL_SQL
#include "reef_sqlite.h"
#include <sqlite3.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, (x, "m", -100, 100), (y, "m", -100, 100));

typedef struct {
    uint16_t legs[3];
    char kind[12];
    bool tame;
    reef_entity owner;
} Animal;
REEF_COMPONENT(Animal);
REEF_FIELDS(Animal, legs, kind, tame, owner);

typedef struct {
    int64_t amount;
} Gold;
REEF_COMPONENT_IN(Gold, REEF_SPARSE);
REEF_FIELDS(Gold, (amount, "coins"));

typedef struct {
    uint8_t slot, count;
} Item;
REEF_COMPONENT_IN(Item, REEF_MULTI);
enum { BELT, SACK };
REEF_ENUM(Slot, BELT, SACK);
REEF_FIELDS(Item, (slot, enum, Slot), count);

typedef struct {
    double u, v;
} Flow;
REEF_COMPONENT_IN(Flow, REEF_SPLIT);
REEF_FIELDS(Flow, (u, "m/s"), (v, "m/s"));

typedef struct {
    unsigned char bytes[6];
} Blob;
REEF_COMPONENT(Blob);

REEF_TAG(Frozen);
REEF_SWITCH(Awake);

static const char *folder;

#define MUST(call) \
    do { \
        if ((call) < 0) { \
            fprintf(stderr, "%s\n", #call); \
            exit(1); \
        } \
    } while (0)

static char *path_of(const char *name)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void bytes_write(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(path_of(name), "wb");
    if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) exit(1);
}

/* The world of two animals and what belongs to them. */
static reef_entity ann, bob, rock;
static reef_world *scene(void)
{
    reef_world *w = reef_world_new(NULL);
    if (w == NULL) exit(1);
    ann = reef_spawn(w, reef_with(Position, 1, 2));
    bob = reef_spawn(w, reef_with(Position, 3, 4),
                     reef_with(Animal, .legs = {4, 0, 7}, .kind = "dog", .tame = true, .owner = ann), reef_tag(Frozen));
    rock = reef_spawn(w, reef_with(Position, -5, 0.5f), reef_with(Flow, 1.5, -2));
    (void)reef_create(w);
    MUST(reef_destroy(w, reef_create(w)));
    MUST(reef_set_name(w, ann, "ann"));
    MUST(reef_set_name(w, bob, "farm.bob"));
    MUST(reef_set(w, ann, Gold, .amount = -12));
    if (!reef_append(w, ann, Item, 1, 20) || !reef_append(w, ann, Item, 2, 5)) exit(1);
    MUST(reef_add(w, bob, Awake));
    for (int i = 0; i < 3; i++) MUST(reef_tick(w, 0.25f));
    return w;
}

static void change(reef_world *w)
{
    MUST(reef_set(w, ann, Position, 1, 2.5f));
    MUST(reef_set(w, bob, Animal, .legs = {4, 0, 8}, .kind = "wolf", .owner = ann));
    MUST(reef_remove(w, bob, Frozen));
    MUST(reef_disable(w, bob, Position));
    MUST(reef_set_name(w, bob, NULL));
    MUST(reef_destroy(w, rock));
    const reef_entity e = reef_spawn(w, reef_with(Position, 9, 9));
    MUST(reef_set_name(w, e, "new"));
    MUST(reef_set(w, ann, Gold, .amount = 30));
}

static void journal_write(reef_world *w)
{
    reef_journal *j = reef_journal_open(w, path_of("journal"), &(reef_journal_desc){.unsynced = true});
    if (j == NULL) exit(1);
    change(w);
    MUST(reef_journal_append(j));
    MUST(reef_set(w, ann, Position, 7, 7));
    MUST(reef_journal_append(j));
    reef_journal_close(j);
}

/* The journal cut and damaged, and a world cut and damaged. */
static void wrong_ones_write(const char *from, const char *cut, const char *damaged, size_t at)
{
    static unsigned char bytes[1 << 16];
    FILE *f = fopen(path_of(from), "rb");
    if (f == NULL) exit(1);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    bytes_write(cut, bytes, size - 7);
    bytes[at] ^= 4;
    bytes_write(damaged, bytes, size);
}

/* A database of another program. */
static void foreign_database_write(void)
{
#ifdef REEF_TOOL_SQL
    sqlite3 *db = NULL;
    if (sqlite3_open(path_of("foreign"), &db) != SQLITE_OK ||
        sqlite3_exec(db, "create table letters(text)", NULL, NULL, NULL) != SQLITE_OK || sqlite3_close(db) != SQLITE_OK)
        exit(1);
#endif
}

/* The world in a database: its state of tick 3, and what it is after the change and another tick. */
static void database_write(reef_world *w)
{
#ifdef REEF_TOOL_SQL
    reef_sqlite *file;
    MUST(reef_sqlite_open(w, path_of("database"), &(reef_sqlite_desc){.history = true, .unsynced = true}, &file, NULL));
    MUST(reef_sqlite_commit(file));
    change(w);
    MUST(reef_tick(w, 0.25f));
    MUST(reef_sqlite_commit(file));
    reef_sqlite_close(file);
#else
    (void)w;
#endif
}

/* A thousand entities, and all of them moved. */
static void many_write(void)
{
    const reef_save_desc desc = {.unsynced = true};
    reef_world *w = reef_world_new(NULL);
    if (w == NULL) exit(1);
    for (int i = 0; i < 1000; i++)
        if (reef_entity_is_null(reef_spawn(w, reef_with(Position, (float)i, 0)))) exit(1);
    MUST(reef_save(w, path_of("many_a"), &desc));
    const reef_query q = reef_query_new(w, "Position");
    reef_each(w, q, row) reef_inout_at(row, Position)->y = 1;
    MUST(reef_save(w, path_of("many_b"), &desc));
    reef_world_free(w);
}

/* An entity whose value has 80 fields, and the same one with other numbers in two of them. */
static void wide_write(void)
{
    enum { FIELDS = 80 };
    static char names[FIELDS][8];
    static reef_field fields[FIELDS];
    int32_t numbers[FIELDS] = {0};
    const reef_save_desc desc = {.unsynced = true};
    for (uint32_t i = 0; i < FIELDS; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%u", (unsigned)i);
        fields[i] = (reef_field){.name = names[i], .kind = REEF_I32, .offset = 4 * i, .bytes = 4};
    }
    const reef_component wide = reef_type_new(
        &(reef_type_desc){.name = "Wide", .size = sizeof numbers, .fields = fields, .field_count = FIELDS}, NULL);
    reef_world *w = reef_world_new(NULL);
    if (w == NULL) exit(1);
    const reef_entity e = reef_create(w);
    MUST(reef_set_id(w, e, wide, numbers, sizeof numbers));
    MUST(reef_save(w, path_of("wide_a"), &desc));
    numbers[3] = numbers[70] = 7;
    MUST(reef_set_id(w, e, wide, numbers, sizeof numbers));
    MUST(reef_save(w, path_of("wide_b"), &desc));
    reef_world_free(w);
}

int main(int count, char **words)
{
    reef_bytes difference;
    if (count != 2) return 2;
    folder = words[1];
    reef_world *w = scene();
    const reef_save_desc desc = {.unsynced = true};
    MUST(reef_save(w, path_of("world"), &desc));
    reef_world *other = reef_fork(w);
    if (other == NULL) return 1;
    MUST(reef_tick(other, 0.25f));
    MUST(reef_save(other, path_of("later"), &desc));
    change(other);
    MUST(reef_save(other, path_of("other"), &desc));
    MUST(reef_diff_bytes(w, other, &difference, false));
    bytes_write("difference", difference.data, difference.size);
    reef_bytes_free(&difference);
    reef_world_free(other);
    (void)reef_spawn(w, reef_with(Blob, {1, 2, 0xAB, 0, 0, 6}));
    MUST(reef_save(w, path_of("raw"), &(reef_save_desc){.raw = true, .unsynced = true}));
    reef_world_free(w);
    w = scene();
    journal_write(w);
    reef_world_free(w);
    w = scene();
    database_write(w);
    reef_world_free(w);
    foreign_database_write();
    wrong_ones_write("journal", "journal_torn", "journal_damaged", 340);
    wrong_ones_write("world", "world_cut", "world_damaged", 340);
    many_write();
    wide_write();
    bytes_write("empty", "", 0);
    bytes_write("letter", "Dear reader, this is a letter and no file of reef.\n", 51);
    return 0;
}
