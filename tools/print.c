/* reef print: prints entities as reef_print does. */
#include "tool.h"
#include <string.h>

static bool print_one(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    (void)type, (void)data, (void)size;
    return reef_print(context, e, stdout) && output_open();
}

/* Prints the text, and a caret below the column. The column counts bytes; a letter may have several. */
static void column_show(const char *text, uint64_t column)
{
    fputs("  ", stderr);
    for (const char *p = text; *p; p++) fputc((unsigned char)*p < 32 ? ' ' : *p, stderr);
    fputs("\n  ", stderr);
    for (uint64_t i = 1; i < column && text[i - 1]; i++)
        if (((unsigned char)text[i - 1] & 0xC0) != 0x80) fputc(' ', stderr);
    fputs("^\n", stderr);
}

static int query_refused(const reef_world *w, const char *text)
{
    const reef_error e = reef_last_error(w);
    say(NULL, "the query: %s%s%s", reef_status_text(e.status), e.detail[0] ? ": " : "", e.detail);
    if ((e.status == REEF_BAD_TEXT || e.detail[0]) && e.number) column_show(text, e.number);
    return ANSWER_BAD;
}

/* An entity with several values is met once for each of them, but printed once. */
static int print_matching(reef_world *w, const char *text)
{
    reef_entity last = {0, 0};
    const reef_query q = reef_query_new(w, text);
    if (reef_query_is_null(q)) return query_refused(w, text);
    reef_each(w, q, row)
    {
        if (reef_entity_equal(row.entity, last)) continue;
        last = row.entity;
        if (print_one(w, last, (reef_component){0}, NULL, 0)) continue;
        reef_end(&row.block);
        break;
    }
    return ANSWER_GOOD;
}

static int print_named(reef_world *w, const char *path, const char *name)
{
    const reef_entity e = reef_find(w, name);
    if (reef_entity_is_null(e)) {
        say(path, "nobody has the name \"%s\"", name);
        return ANSWER_BAD;
    }
    (void)reef_print(w, e, stdout);
    return ANSWER_GOOD;
}

int command_print(int count, char **words)
{
    tool_file f = {0};
    int answer = ANSWER_GOOD;
    const bool named = count == 3 && strcmp(words[1], "--name") == 0;
    if (count < 1 || (count > 2 && !named) || words[0][0] == '-' || (count == 2 && words[1][0] == '-'))
        return ANSWER_USAGE;
    if (!file_open(&f, words[0])) answer = ANSWER_BAD;
    else if (named) answer = print_named(f.world, f.path, words[2]);
    else if (count == 2) answer = print_matching(f.world, words[1]);
    else (void)reef_visit_entities(f.world, print_one, f.world);
    file_close(&f);
    return answer;
}
