/* reef-bench: reads the command line. */
#include "bench.h"
#include "mem.h"
#include <stdlib.h>

static const char usage[] =
    "usage: reef-bench [OPTION...] [ROW...]\n"
    "Measures reef beside hand-written arrays (raw), in the same process, interleaved. A ROW may end in *.\n"
    "\n"
    "what to print (default: a table)\n"
    "  --tsv              row, N, value, raw, ratio, unit between tabs; '-' where there is no baseline\n"
    "  --json             all repeats, with machine, compiler, flags, commit and date\n"
    "  --targets [FILE]   three whole runs in each page policy, judged; status 0 if every row is at must\n"
    "                     (FILE has a dot or a slash in its name; without it: benchmark/targets.tsv)\n"
    "  --markdown [FILE]  the same as a table for docs/rules/performance.md\n"
    "  --scale            growing worlds, and more and more tables: a table and a picture\n"
    "  --list             the rows' names\n"
    "  --operations       the rows' names, and how many operations each run does\n"
    "\n"
    "how to measure\n"
    "  --repeats R        1 ... 101, default 7; the figure is the median\n"
    "  --huge             2 MiB pages instead of 4 KiB (the same: --pages 2M, --pages 4K)\n"
    "  --limit            in reef's place: the least structure that could do what reef must; a bound, not an ECS\n"
    "  --self             in reef's place: raw itself; shows the noise\n"
    "  --svg FILE         where --scale draws its picture, default reef-bench-scale.svg\n"
    "\n"
    "Status: 0, or 1 (a wrong checksum, a row that misses), or 2 (wrong arguments).\n"
    "On a machine with other work on it, start it as `taskset -c 1 reef-bench`.\n";

typedef enum command { TABLE, TSV, JSON, TARGETS, MARKDOWN, SCALE, LIST, OPERATIONS, HELP } command;

typedef struct arguments {
    bench_options options;
    command command;
    const char *targets, *svg;
} arguments;

static bool complain(const char *what, const char *which)
{
    fprintf(stderr, "reef-bench: %s %s\n", what, which);
    return false;
}

static bool set_number(int *number, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    *number = (int)value;
    return (*text && !*end && value >= 1 && value <= REPEATS_MAX) || complain("--repeats takes 1 ... 101, not", text);
}

static bool set_pages(page_policy *pages, const char *text)
{
    *pages = strcmp(text, "2M") == 0 ? HUGE_PAGES : SMALL_PAGES;
    return *pages == HUGE_PAGES || strcmp(text, "4K") == 0 || complain("--pages takes 4K or 2M, not", text);
}

static bool set_subject(bench_options *o, const contestant *c, const char *option)
{
    if (o->subject_option && o->subject_option != option)
        return complain("choose one of --limit and --self, not", "both");
    o->subject = c;
    o->subject_option = option;
    return true;
}

static bool set_command(arguments *a, command c)
{
    if (a->command != TABLE && a->command != c)
        return complain("choose one of", "--tsv --json --targets --markdown --scale --list --operations");
    a->command = c;
    return true;
}

/* Reads one option; *i is moved past its value. */
static bool parse_option(arguments *a, int argc, char **argv, int *i)
{
    static const struct {
        const char *name;
        command command;
    } commands[] = {{"--tsv", TSV},     {"--json", JSON}, {"--targets", TARGETS},       {"--markdown", MARKDOWN},
                    {"--scale", SCALE}, {"--list", LIST}, {"--operations", OPERATIONS}, {"--help", HELP},
                    {"-h", HELP}};
    const char *name = argv[*i], *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
        if (strcmp(name, commands[k].name) != 0) continue;
        bool takes_file = commands[k].command == TARGETS || commands[k].command == MARKDOWN;
        if (takes_file && next && next[0] != '-' && strpbrk(next, "./")) a->targets = argv[++*i];
        return set_command(a, commands[k].command);
    }
    if (strcmp(name, "--huge") == 0) return a->options.pages = HUGE_PAGES, true;
    if (strcmp(name, "--limit") == 0) return set_subject(&a->options, &contestant_limit, "--limit");
    if (strcmp(name, "--self") == 0) return set_subject(&a->options, &contestant_raw, "--self");
    bool takes_value = strcmp(name, "--repeats") == 0 || strcmp(name, "--pages") == 0 || strcmp(name, "--svg") == 0;
    if (!takes_value) return complain("no such option:", name);
    if (!next) return complain("a value is missing after", name);
    ++*i;
    if (strcmp(name, "--repeats") == 0) return set_number(&a->options.repeats, next);
    if (strcmp(name, "--pages") == 0) return set_pages(&a->options.pages, next);
    return a->svg = next, true;
}

static bool filter_matches(const char *filter, const char *name)
{
    size_t n = strlen(filter);
    return n && filter[n - 1] == '*' ? strncmp(filter, name, n - 1) == 0 : strcmp(filter, name) == 0;
}

static void list_rows(const bench_options *o, FILE *f)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (row_playable(o, &bench_rows[i])) fprintf(f, "%s\n", bench_rows[i].name);
}

static void list_operations(const bench_options *o)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (row_playable(o, &bench_rows[i])) printf("%s %.0f\n", bench_rows[i].name, bench_operations(&bench_rows[i]));
}

static bool want_matching(bench_options *o, const char *filter, bool (*matches)(const char *, const char *))
{
    bool found = false;
    for (int i = 0; i < ROW_COUNT; i++) {
        if (!row_playable(o, &bench_rows[i]) || !matches(filter, bench_rows[i].name)) continue;
        o->wanted[i] = found = true;
    }
    return found;
}

static bool filter_is_part(const char *filter, const char *name) { return strstr(name, filter) != NULL; }

/* Marks the rows of one filter: a row's name, a beginning with *, a part of names, or a word of README.md. */
static bool want(bench_options *o, const char *filter)
{
    static const struct {
        const char *word, *rows;
    } words[] = {
        {"loop", "iter_*"},      {"read", "get_*"},      {"write", "set_*"},     {"turn", "add_remove_switch*"},
        {"relate", "rel_*"},     {"relation", "rel_*"},  {"walk", "hier_*"},     {"hierarchy", "hier_*"},
        {"instance", "prefab*"}, {"random", "get_rand"}, {"history", "rewind*"}, {"entity", "create_*"},
    };
    if (want_matching(o, filter, filter_matches) || want_matching(o, filter, filter_is_part)) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(filter, words[i].word) == 0 && want_matching(o, words[i].rows, filter_matches)) return true;
    fprintf(stderr, "reef-bench: no row matches %s; the rows are\n", filter);
    list_rows(o, stderr);
    return false;
}

/* Options may stand anywhere, and decide which rows there are, so filters are applied last. */
static bool parse(arguments *a, int argc, char **argv)
{
    const char **filters = calloc((size_t)argc + 1, sizeof *filters);
    int count = 0;
    bool good = filters != NULL;
    for (int i = 1; good && i < argc; i++) {
        if (argv[i][0] == '-') good = parse_option(a, argc, argv, &i);
        else filters[count++] = argv[i];
    }
    if (good && count == 0) good = want(&a->options, "*");
    for (int i = 0; good && i < count; i++) good = want(&a->options, filters[i]);
    free(filters);
    return good;
}

int main(int argc, char **argv)
{
    arguments a = {.options = {.baseline = &contestant_raw, .subject = &contestant_reef, .repeats = 7},
                   .svg = "reef-bench-scale.svg"};
    if (!parse(&a, argc, argv)) return 2;
    switch (a.command) {
    case HELP: return fputs(usage, stdout) < 0;
    case LIST: return list_rows(&a.options, stdout), 0;
    case OPERATIONS: return list_operations(&a.options), 0;
    case TARGETS: return judge_targets(&a.options, a.targets);
    case MARKDOWN: return judge_markdown(&a.options, a.targets);
    default: break;
    }
    mem_init(a.options.pages == HUGE_PAGES, argv);
    switch (a.command) {
    case TSV: return report_tsv(&a.options);
    case JSON: return report_json(&a.options);
    case SCALE: return scale(&a.options, a.svg);
    default: return report_table(&a.options);
    }
}
