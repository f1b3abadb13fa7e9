/* reef diff: prints what reef_diff finds, a line for each change. */
#include "tool.h"
#include <string.h>

enum { LINES_MOST = 200 };

static const char *const words_of[] = {
    [REEF_CHANGE_GONE] = "gone",         [REEF_CHANGE_BORN] = "born",      [REEF_CHANGE_NAME] = "name",
    [REEF_CHANGE_REMOVED] = "removed",   [REEF_CHANGE_ADDED] = "added",    [REEF_CHANGE_VALUE] = "changed",
    [REEF_CHANGE_DISABLED] = "disabled", [REEF_CHANGE_ENABLED] = "enabled"};
enum { KINDS = sizeof words_of / sizeof words_of[0] };

static void put_quoted(const char *text)
{
    if (text == NULL) {
        fputs("none", stdout);
        return;
    }
    putchar('"');
    put_name(text);
    putchar('"');
}

/* Writes the fields that differ: "x 1 m -> 2 m, y 3 m -> 4 m". */
static void put_fields(const reef_world *const world[2], const reef_change *c)
{
    reef_type_info t;
    bool first = true;
    if (!reef_type_get(c->component, &t)) return;
    if (t.field_count == 0) {
        (void)reef_print_value(world[0], c->component, NULL, c->was, stdout);
        fputs(" -> ", stdout);
        (void)reef_print_value(world[1], c->component, NULL, c->is, stdout);
    }
    for (uint32_t i = 0; i < t.field_count; i++) {
        if (!reef_change_has_field(c, t.fields, i)) continue;
        if (!first) fputs(", ", stdout);
        first = false;
        put_name(t.fields[i].name);
        putchar(' ');
        (void)reef_print_value(world[0], c->component, &t.fields[i], c->was, stdout);
        fputs(" -> ", stdout);
        (void)reef_print_value(world[1], c->component, &t.fields[i], c->is, stdout);
    }
}

static void put_change(const reef_world *const world[2], const reef_change *c)
{
    const bool before = c->kind == REEF_CHANGE_GONE || c->kind == REEF_CHANGE_REMOVED;
    printf("%-8s  ", words_of[c->kind]);
    if (c->kind == REEF_CHANGE_NAME) {
        printf("%" PRIu32 "v%" PRIu32 "  ", c->entity.index, c->entity.generation);
        put_quoted(c->was);
        fputs(" -> ", stdout);
        put_quoted(c->is);
    } else {
        put_entity(world[!before], c->entity);
    }
    if (c->component.id) {
        fputs("  ", stdout);
        put_name(reef_type_name(c->component));
        if (c->number) printf(" %" PRIu32, c->number);
    }
    if (c->kind == REEF_CHANGE_VALUE) {
        fputs("  ", stdout);
        put_fields(world, c);
    } else if (c->kind != REEF_CHANGE_NAME && (c->was || c->is)) {
        fputs("  ", stdout);
        (void)reef_print_value(world[!before], c->component, NULL, before ? c->was : c->is, stdout);
    }
    putchar('\n');
}

/* Prints what reef_diff doesn't list. False: nothing differs. */
static bool rest_differs(const reef_world *a, const reef_world *b)
{
    reef_difference difference;
    char text[512];
    if (reef_equal(a, b, &difference)) return false;
    (void)reef_difference_text(&difference, text, sizeof text);
    printf("entities and their components are equal, but not the worlds:\n%s\n", text);
    return true;
}

static int diff_worlds(const reef_world *a, const reef_world *b, bool all)
{
    const reef_world *const world[2] = {a, b};
    uint64_t count[KINDS] = {0}, lines = 0, left = 0;
    reef_diff *d = reef_diff_new(a, b);
    if (d == NULL) {
        say(NULL, "%s", reef_status_text(REEF_NO_MEMORY));
        return ANSWER_TROUBLE;
    }
    for (const reef_change *c; output_open() && (c = reef_diff_next(d)) != NULL;) {
        count[c->kind]++;
        if (all || lines < LINES_MOST) put_change(world, c), lines++;
        else left++;
    }
    reef_diff_free(d);
    if (lines == 0) return rest_differs(a, b) ? ANSWER_BAD : ANSWER_GOOD;
    if (left) printf("... and %" PRIu64 " more; --all lists them\n", left);
    printf("entities: %" PRIu64 " gone, %" PRIu64 " born, %" PRIu64 " named; components: %" PRIu64 " removed, %" PRIu64
           " added, %" PRIu64 " changed, %" PRIu64 " disabled, %" PRIu64 " enabled\n",
           count[REEF_CHANGE_GONE], count[REEF_CHANGE_BORN], count[REEF_CHANGE_NAME], count[REEF_CHANGE_REMOVED],
           count[REEF_CHANGE_ADDED], count[REEF_CHANGE_VALUE], count[REEF_CHANGE_DISABLED], count[REEF_CHANGE_ENABLED]);
    return ANSWER_BAD;
}

int command_diff(int count, char **words)
{
    tool_file a = {0}, b = {0};
    bool all = false;
    int n = 0, answer = ANSWER_TROUBLE;
    const char *path[2] = {NULL, NULL};
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "--all") == 0) all = true;
        else if (words[i][0] == '-' || n == 2) return ANSWER_USAGE;
        else path[n++] = words[i];
    }
    if (n < 2) return ANSWER_USAGE;
    if (file_open(&a, path[0]) && file_open(&b, path[1])) answer = diff_worlds(a.world, b.world, all);
    file_close(&a);
    file_close(&b);
    return answer;
}
