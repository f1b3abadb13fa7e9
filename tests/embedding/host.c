/* A host that loads and unloads plug-ins: what it must do before dlclose (docs/manual/plug-ins.md), and what is
 * refused. `plug_in_host FOLDER`: the plug-ins are in the folder.
 *
 *   shared    types, a system and an observer in a plug-in that uses the host's reef; it is unloaded and loaded again,
 *             and the world goes on
 *   types     a plug-in that only declares types is unloaded before anything has used them
 *   own       a plug-in with a copy of reef of its own: each call with a world of the host is refused */
#include "plug_in.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int32_t first;
} HostFirst;
REEF_COMPONENT(HostFirst);
typedef struct {
    float x;
} Position;
REEF_COMPONENT(Position);

static const char *folder;

#define CHECK(x) \
    do { \
        if (!(x)) { \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            exit(1); \
        } \
    } while (0)

static void *load(const char *name, const plug_in **calls)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.so", folder, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) (void)fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    if (calls) {
        *calls = dlsym(library, "plug_in_calls");
        CHECK(*calls);
    }
    return library;
}

static void unload(void *library, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.so", folder, name);
    CHECK(dlclose(library) == 0);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL); /* its code and its data are gone */
}

/* All that could still lead into a plug-in. */
static void go_on(reef_world *w)
{
    char message[300];
    reef_bytes bytes;
    FILE *paper = tmpfile();
    CHECK(reef_validate(w, message, sizeof message) == REEF_OK);
    CHECK(reef_tick(w, 1) == REEF_OK);
    reef_world *fork = reef_fork(w);
    CHECK(fork && reef_tick(fork, 1) == REEF_OK);
    CHECK(reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = true}) == REEF_OK);
    CHECK(reef_load_bytes(fork, bytes.data, bytes.size, NULL) == REEF_OK);
    CHECK(reef_hash(w) == reef_hash(fork));
    reef_bytes_free(&bytes);
    reef_world_free(fork);
    CHECK(paper && reef_print_world(w, paper, 10));
    (void)fclose(paper);
    reef_error_text(w, message, sizeof message);
}

static void test_shared(void)
{
    const plug_in *calls;
    reef_world *w = reef_world_new(NULL);
    uintptr_t first = 0;
    uint64_t plains = 0;
    CHECK(!reef_entity_is_null(reef_spawn(w, reef_with(Position, 1))));
    for (uint32_t round = 1; round <= 3; round++) {
        void *library = load("plug_shared", &calls);
        /* a type is the same again only if its hooks are where they were */
        const bool hooks = first == 0 || first == (uintptr_t)calls;
        if (first == 0) first = (uintptr_t)calls;
        CHECK(calls->begin(w, hooks));
        plains += hooks ? 2 : 1;
        CHECK(reef_tick(w, 1) == REEF_OK);
        reef_world *fork = reef_fork(w); /* which has the system and the values too */
        CHECK(fork && (!hooks || *calls->values >= 1) && reef_tick(fork, 1) == REEF_OK);
        reef_world_free(fork);
        reef_snapshot *s = reef_snapshot_take(w);
        CHECK(s);
        reef_snapshot_free(s);
        CHECK(calls->end(w));
        unload(library, "plug_shared");
        go_on(w);
        /* the type is known, and so is what its entities have */
        const reef_component plain = reef_type_find("Plain");
        CHECK(plain.id && reef_count_id(w, plain) == plains && reef_type_find("Owning").id);
        reef_type_info info;
        CHECK(reef_type_get(plain, &info) && info.field_count == 2 &&
              strcmp(info.fields[1].unit, "unit of plug-in") == 0);
    }
    reef_world_free(w);
}

typedef struct {
    int32_t late;
} HostLate;
static reef_type_decl late = {.name = "HostLate", .size = sizeof(HostLate), .align = 4};

static void test_types(void)
{
    for (uint32_t round = 0; round < 3; round++) {
        void *library = load("plug_types", NULL);
        unload(library, "plug_types");
    }
    reef_declare(&late);
    CHECK(reef_resolve(&late).id);
    CHECK(reef_type_find("Early").id == 0);
}

static uint32_t told;
static void misuse(void *context, reef_status status, const char *message)
{
    (void)context;
    told++;
    CHECK(status == REEF_BAD_ARGUMENT && strstr(message, "another copy of reef"));
}

static void test_own(void)
{
    const plug_in *calls;
    char text[300];
    reef_world *w = reef_world_new(&(reef_world_config){.misuse = misuse});
    const reef_entity e = reef_spawn(w, reef_with(HostFirst, 1), reef_with(Position, 1));
    (void)reef_spawn(w, reef_with(Position, 2));
    for (uint32_t i = 0; i < 200; i++) CHECK(reef_get(w, e, Position)->x == 1.0f); /* it has an index by then */
    const uint64_t hash = reef_hash(w);
    void *library = load("plug_own", &calls);
    const char *done = calls->use_of_another(w, e);
    if (done) (void)fprintf(stderr, "not refused: %s\n", done);
    CHECK(done == NULL && reef_hash(w) == hash);
    reef_error_text(w, text, sizeof text);
    CHECK(reef_last_error(w).status == REEF_BAD_ARGUMENT && strstr(text, "reef_world_free"));
    CHECK(strstr(text, "another copy of reef"));
#if defined(REEF_CHECKED)
    CHECK(told > 20);
#endif
    done = calls->use_own();
    if (done) (void)fprintf(stderr, "fails: %s\n", done);
    CHECK(done == NULL && reef_hash(w) == hash && *calls->values == 0);
    (void)library; /* it stays: the list of types of a copy that is unloaded is never freed */
    go_on(w);
    reef_world_free(w);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    folder = argv[1];
    test_types();
    test_shared();
    test_own();
    (void)puts("plug-ins: all checks passed");
    return 0;
}
