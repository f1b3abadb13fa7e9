/* reef info: what is in a file. Types, tables and time come from the world in it, numbers of bytes from its frame. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [REEF_BOOL] = "bool", [REEF_I8] = "i8",     [REEF_U8] = "u8",        [REEF_I16] = "i16", [REEF_U16] = "u16",
    [REEF_I32] = "i32",   [REEF_U32] = "u32",   [REEF_I64] = "i64",      [REEF_U64] = "u64", [REEF_F32] = "f32",
    [REEF_F64] = "f64",   [REEF_CHAR] = "text", [REEF_ENTITY] = "entity"};
static const uint32_t kind_bytes[] = {
    [REEF_BOOL] = 1, [REEF_I8] = 1,  [REEF_U8] = 1,  [REEF_I16] = 2, [REEF_U16] = 2,  [REEF_I32] = 4,   [REEF_U32] = 4,
    [REEF_I64] = 8,  [REEF_U64] = 8, [REEF_F32] = 4, [REEF_F64] = 8, [REEF_CHAR] = 1, [REEF_ENTITY] = 8};
static const char *const homes[] = {
    [REEF_TABLE] = "table", [REEF_BIT] = "bit",     [REEF_SPARSE] = "sparse", [REEF_PAGED] = "paged",
    [REEF_COLD] = "cold",   [REEF_MULTI] = "multi", [REEF_SHARED] = "shared", [REEF_SPLIT] = "split"};
static const struct {
    const char *kind, *text;
} sections[] = {{"RECD", "heads of records"},
                {"TYPE", "types"},
                {"TABL", "tables"},
                {"TIME", "time"},
                {"RESV", "reserved ids"},
                {"IDS ", "indices"},
                {"FREE", "free indices"},
                {"IDLE", "entities without a row"},
                {"ROWS", "rows"},
                {"BITS", "switches and marks"},
                {"PAGE", "values outside of the rows"},
                {"VALS", "several and shared values"},
                {"NAME", "names"},
                {"EVNT", "events"},
                {"TRAK", "stamps of rows"},
                {"LOST", "scripts that end"},
                {"DONE", "ends of records"}};

/* ---- the frame ---- */

static void frame_print(const tool_file *f)
{
    const reef_file_info *i = &f->info;
    char kind[64];
    file_kind(f, kind, sizeof kind);
    printf("%s: %s, version %" PRIu32 ", %" PRIu64 " bytes\n", f->path, kind, i->version, i->bytes);
    if (i->raw)
        printf("raw: bytes of types without fields, of a %s-endian machine\n", i->big_endian ? "big" : "little");
    if (i->journal)
        printf("the first record takes %" PRIu64 " bytes, those behind it %" PRIu64 "\n", i->whole_bytes,
               i->sound_bytes - i->whole_bytes);
    if (i->torn)
        printf("torn at byte %" PRIu64 ": %s; %" PRIu64 " bytes are left out\n", i->wrong_at, i->wrong,
               i->bytes - i->sound_bytes);
}

static void sections_print(const tool_file *f)
{
    fputs("\nsections\n", stdout);
    for (uint32_t i = 0; i < f->info.part_count; i++) {
        const reef_file_part *p = &f->info.part[i];
        const char *text = "";
        for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
            if (strcmp(sections[k].kind, p->kind) == 0) text = sections[k].text;
        printf("  %s  %8" PRIu64 "  %12" PRIu64 " bytes  %s\n", p->kind, p->sections, p->bytes, text);
    }
}

/* ---- the world ---- */

static bool table_print(void *context, const reef_component *types, uint32_t count, uint64_t rows)
{
    bool *first = context;
    if (*first) fputs("\ntables, with their entities\n", stdout);
    *first = false;
    printf("  %8" PRIu64 "  ", rows);
    for (uint32_t i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        put_name(reef_type_name(types[i]));
    }
    putchar('\n');
    return output_open();
}

/* Returns how many entities have the component, disabled or not. */
static uint64_t holders(reef_world *w, reef_component type)
{
    const reef_query_desc desc = {.terms = {{.component = type, .access = REEF_WITH, .enabled = REEF_EITHER}},
                                  .entities = REEF_EITHER};
    const reef_query q = reef_query_make(w, &desc);
    const uint64_t n = reef_query_is_null(q) ? 0 : reef_query_count(w, q);
    (void)reef_query_free(w, q);
    return n;
}

static void field_print(const reef_field *f)
{
    const uint32_t count = f->bytes / kind_bytes[f->kind];
    fputs("            ", stdout);
    put_name(f->name);
    printf("  %s", kinds[f->kind]);
    if (count != 1 || f->kind == REEF_CHAR) printf("[%" PRIu32 "]", count);
    if (f->unit && f->unit[0]) {
        putchar(' ');
        put_name(f->unit);
    }
    if (f->lowest != 0 || f->highest != 0) printf("  %g ... %g", f->lowest, f->highest);
    if (f->names) {
        printf("  %s ", f->names->mask ? "mask" : "enum");
        put_name(f->names->name);
        fputs(":", stdout);
    }
    for (uint32_t i = 0; f->names && i < f->names->count; i++) {
        fputs(i ? ", " : " ", stdout);
        put_name(f->names->values[i].name);
        printf(" %" PRId64, f->names->values[i].value);
    }
    putchar('\n');
}

static void type_print(reef_world *w, reef_component type)
{
    reef_type_info t;
    if (!reef_type_get(type, &t)) return;
    printf("  %8" PRIu64 "  ", holders(w, type));
    put_name(t.name);
    printf("  %s", homes[t.home]);
    if (t.size == 0) fputs(", tag", stdout);
    else printf(", %" PRIu32 " byte%s%s", t.size, plural(t.size), t.field_count ? "" : ", fields aren't known");
    if (t.base.id) {
        fputs(", is a ", stdout);
        put_name(reef_type_name(t.base));
    }
    putchar('\n');
    for (uint32_t i = 0; i < t.field_count; i++) field_print(&t.fields[i]);
}

/* Is it a column of a type that is split by field? It is printed with that type. */
static bool is_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    char type[REEF_TYPE_NAME_MAX + 1];
    if (dot == NULL || (size_t)(dot - name) >= sizeof type) return false;
    memcpy(type, name, (size_t)(dot - name));
    type[dot - name] = 0;
    const reef_component owner = reef_type_find(type);
    return owner.id && reef_column_of(owner, dot + 1).id;
}

static int names_compare(const void *a, const void *b)
{
    const char *const *p = a, *const *q = b;
    return strcmp(*p, *q);
}

/* Prints the types that came with the file, and those of reef's own types that some entity has. */
static bool types_print(const tool_file *f)
{
    const uint32_t all = reef_type_count();
    uint32_t n = 0;
    const char **names = malloc((all + 1) * sizeof *names);
    if (names == NULL) return false;
    for (uint32_t id = 1; id <= all; id++) {
        const char *name = reef_type_name((reef_component){id});
        if (is_part(name) || strncmp(name, "reef:", 5) == 0) continue;
        if (id > f->types_first || holders(f->world, (reef_component){id})) names[n++] = name;
    }
    qsort(names, n, sizeof *names, names_compare);
    if (n) fputs("\ntypes, with the entities that have them\n", stdout);
    for (uint32_t i = 0; i < n && output_open(); i++) type_print(f->world, reef_type_find(names[i]));
    free(names);
    return true;
}

static bool world_print(const tool_file *f)
{
    const reef_stats s = reef_world_stats(f->world);
    bool first = true;
    printf("entities %" PRIu64 ", without components %" PRIu64 ", names %" PRIu64 ", free indices %" PRIu64 "\n",
           s.entities, s.entities_empty, s.names, s.free_ids);
    printf("ticks %" PRIu64 ", time %.9g s\n", reef_tick_count(f->world), (double)reef_time_ns(f->world) / 1e9);
    return (reef_visit_tables(f->world, table_print, &first) || !output_open()) && types_print(f);
}

int command_info(int count, char **words)
{
    tool_file f = {.quiet = true};
    int answer = ANSWER_GOOD;
    if (count != 1 || words[0][0] == '-') return ANSWER_USAGE;
    file_begin(&f, words[0]);
    if (!file_look(&f)) answer = ANSWER_BAD;
    if (answer == ANSWER_GOOD) frame_print(&f);
    if (answer == ANSWER_GOOD && !f.info.difference) {
        if (!file_load(&f)) answer = ANSWER_BAD;
        else if (!world_print(&f)) {
            say(f.path, "%s", reef_status_text(REEF_NO_MEMORY));
            answer = ANSWER_BAD;
        }
    }
    if (answer == ANSWER_GOOD) sections_print(&f);
    file_close(&f);
    return answer;
}
