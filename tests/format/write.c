/* write FOLDER: saves a world, a difference of worlds and a journal there, and beside them what read.py must find in
 * them. */
#include "../support/kept_scene.h"
#include <inttypes.h>
#include <stdlib.h>

static void fail(const char *what)
{
    fprintf(stderr, "write: %s failed\n", what);
    exit(1);
}

/* ---- what there is, by the calls of the library ---- */

/* A value by its name. */
static void named_print(FILE *out, const reef_names *names, int64_t value)
{
    char text[REEF_NAMES_TEXT_MAX];
    (void)reef_names_write(names, value, text, sizeof text);
    fprintf(out, "%s", text);
}

static void element_print(FILE *out, const reef_field *f, const unsigned char *p)
{
    const reef_kind kind = f->kind;
    union {
        bool yes;
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        reef_entity e;
    } x = {.u64 = 0};
    memcpy(&x, p,
           kind == REEF_F64 || kind == REEF_I64 || kind == REEF_U64 || kind == REEF_ENTITY ? 8
           : kind == REEF_F32 || kind == REEF_I32 || kind == REEF_U32                      ? 4
           : kind == REEF_I16 || kind == REEF_U16                                          ? 2
                                                                                           : 1);
    if (f->names) { /* the scene has names for these kinds */
        int64_t value = kind == REEF_U8 ? x.u8 : x.u16;
        if (kind == REEF_I16) value = x.i16;
        named_print(out, f->names, value);
        return;
    }
    switch (kind) {
    case REEF_BOOL: fprintf(out, "%d", x.yes); break;
    case REEF_I8: fprintf(out, "%d", x.i8); break;
    case REEF_U8: fprintf(out, "%u", x.u8); break;
    case REEF_I16: fprintf(out, "%d", x.i16); break;
    case REEF_U16: fprintf(out, "%u", x.u16); break;
    case REEF_I32: fprintf(out, "%" PRId32, x.i32); break;
    case REEF_U32: fprintf(out, "%" PRIu32, x.u32); break;
    case REEF_I64: fprintf(out, "%" PRId64, x.i64); break;
    case REEF_U64: fprintf(out, "%" PRIu64, x.u64); break;
    case REEF_F32: fprintf(out, "%.9g", (double)x.f32); break;
    case REEF_F64: fprintf(out, "%.17g", x.f64); break;
    default: fprintf(out, "%" PRIu32 "v%" PRIu32, x.e.index, x.e.generation); break;
    }
}

static uint32_t kind_bytes(reef_kind kind)
{
    static const uint32_t bytes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};
    return bytes[kind];
}

static void field_print(FILE *out, const reef_field *f, const unsigned char *value)
{
    fprintf(out, "%s=", f->name);
    if (f->kind == REEF_CHAR) {
        fprintf(out, "\"%.*s\"", (int)f->bytes, (const char *)value + f->offset);
        return;
    }
    for (uint32_t at = 0; at < f->bytes; at += kind_bytes(f->kind)) {
        if (at) fputc(',', out);
        element_print(out, f, value + f->offset + at);
    }
}

static void value_print(FILE *out, const reef_type_info *info, const void *value)
{
    fprintf(out, "%s", info->name);
    if (info->field_count == 0) return;
    fputc('{', out);
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (i) fputc(' ', out);
        field_print(out, &info->fields[i], value);
    }
    fputc('}', out);
}

static void component_print(FILE *out, const reef_world *w, reef_entity e, reef_component c)
{
    reef_type_info info;
    char whole[256];
    if (!reef_type_get(c, &info) || !reef_has_id(w, e, c)) return;
    /* a dog is one; the file says so of the type */
    if (c.id == reef_id(ZooAnimal).id && reef_has(w, e, ZooDog)) return;
    const uint32_t n = info.home == REEF_MULTI ? reef_count_on_id(w, e, c) : 1;
    for (uint32_t i = 0; i < n; i++) {
        const void *value = info.size == 0            ? whole
                            : info.home == REEF_SPLIT ? (reef_read_id(w, e, c, whole, info.size) ? whole : NULL)
                                                      : (const char *)reef_get_all_id(w, e, c, NULL) + i * info.size;
        fprintf(out, " %s", reef_is_enabled_id(w, e, c) ? "" : "-");
        value_print(out, &info, value);
    }
}

static int name_order(const void *a, const void *b)
{
    return strcmp(reef_type_name(*(const reef_component *)a), reef_type_name(*(const reef_component *)b));
}

static void world_print(const char *folder, const char *name, const reef_world *w)
{
    char path[512];
    reef_component types[ZOO_TYPES + 1];
    for (uint32_t i = 0; i < ZOO_TYPES; i++) types[i] = zoo_type(i);
    types[ZOO_TYPES] = reef_id(ZooSeason);
    qsort(types, ZOO_TYPES + 1, sizeof *types, name_order);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (out == NULL) fail(path);
    for (uint32_t i = 0; i < reef_world_stats(w).indices; i++) {
        const reef_entity e = reef_entity_at(w, i);
        if (reef_entity_is_null(e)) continue;
        fprintf(out, "%" PRIu32 "v%" PRIu32, e.index, e.generation);
        if (reef_name(w, e)) fprintf(out, " \"%s\"", reef_name(w, e));
        if (!reef_is_enabled_id(w, e, (reef_component){0})) fprintf(out, " *");
        for (uint32_t k = 0; k <= ZOO_TYPES; k++) component_print(out, w, e, types[k]);
        fputc('\n', out);
    }
    if (fclose(out) != 0) fail(path);
}

/* ---- what is written ---- */

static void bytes_write(const char *folder, const char *name, reef_bytes *bytes)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(bytes->data, 1, bytes->size, out) != bytes->size || fclose(out) != 0) fail(path);
    reef_bytes_free(bytes);
}

int main(int count, char **arguments)
{
    uint64_t seed = 7;
    char path[512];
    reef_bytes bytes;
    if (count != 2) fail("the number of arguments");
    reef_world *w = kept_world(false);
    if (w == NULL || !kept_begin(w, &seed, 2500, false)) fail("the world");
    if (reef_save_bytes(w, &bytes, NULL) != REEF_OK) fail("reef_save_bytes");
    bytes_write(arguments[1], "world.reef", &bytes);
    world_print(arguments[1], "world.txt", w);
    (void)snprintf(path, sizeof path, "%s/world.journal", arguments[1]);
    reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = true});
    if (j == NULL) fail("reef_journal_open");
    reef_world *before = reef_fork(w);
    for (uint32_t i = 0; i < 4; i++)
        if (!kept_play(w, &seed, 100) || reef_journal_append(j) != REEF_OK) fail("an append");
    reef_journal_close(j);
    if (reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.sealed = true}) != REEF_OK) fail("reef_diff_bytes");
    bytes_write(arguments[1], "changes.reef", &bytes);
    world_print(arguments[1], "changed.txt", w);
    reef_world_free(before);
    reef_world_free(w);
    return 0;
}
