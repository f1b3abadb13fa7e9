/* reef: the command line tool, which looks into files of reef (docs/files/file-format.md). It knows nothing of the
 * programs that wrote them: the file itself says what a component consists of. */
#include "tool.h"
#include <string.h>

static const char help[] =
    "reef: looks into the files that reef writes: worlds, journals, differences.\n"
    "\n"
    "  reef info FILE           what is in it: entities, tables, types with their fields, time, and\n"
    "                           how many bytes each kind of section takes\n"
    "  reef check FILE ...      proves each file sound, or says what is wrong at which byte\n"
    "  reef diff [--all] A B    what is different in B: entities born and gone, components added,\n"
    "                           removed and changed, with their values; at most 200 lines without --all\n"
    "  reef print FILE [QUERY]  the entities with all their components: all, or those that match a query\n"
    "                           like \"Position, !Frozen\" (docs/manual/query-terms.md); by name with --name NAME\n"
    "  reef sql FILE STATEMENTS what SQL says of the world, also of one in an SQLite database of reef\n"
    "                           (docs/manual/sql.md): \"select name, x from Position join entities using (id)\"\n"
    "  reef inspect FILE        shows it in the browser, at the address that it prints, until it is interrupted;\n"
    "                           of a journal all its states; --port N instead of 7272, 0 for any\n"
    "  reef --help              this text\n"
    "  reef --version           the version of reef\n"
    "\n"
    "Of a journal the state after its last record is meant. Answers 0; 1: a file can't be read, is\n"
    "damaged, or two files differ; 2: wrong usage, and whatever else keeps reef diff from comparing.\n";

static const struct {
    const char *name;
    int (*run)(int count, char **words);
} commands[] = {{"info", command_info},   {"check", command_check}, {"diff", command_diff},
                {"print", command_print}, {"sql", command_sql},     {"inspect", command_inspect}};

int main(int count, char **words)
{
    if (count < 2) {
        fputs(help, stderr);
        return ANSWER_TROUBLE;
    }
    const char *name = words[1];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0) return output_close(commands[i].run(count - 2, words + 2));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        fputs(help, stdout);
        return output_close(ANSWER_GOOD);
    }
    if (strcmp(name, "--version") == 0) {
        printf("reef %d.%d.%d\n", REEF_VERSION_MAJOR, REEF_VERSION_MINOR, REEF_VERSION_PATCH);
        return output_close(ANSWER_GOOD);
    }
    say(NULL, "there is no command \"%s\"; reef --help lists them", name);
    return ANSWER_TROUBLE;
}
