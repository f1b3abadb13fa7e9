/* reef: the command line tool, which looks into files of reef (docs/files/file-format.md). It knows nothing of the
 * programs that wrote them: the file itself says what a component consists of. */
#include "tool.h"
#include <string.h>

/* A command: how it is called, and what it does, indented by 27. */
typedef struct command {
    const char *name, *usage;
    int (*run)(int count, char **words);
    const char *text;
} command;

static const command commands[] = {
    {"info", "info FILE", command_info,
     "what is in it: entities, tables, types with their fields, time, and\n"
     "                           how many bytes each kind of section takes\n"},
    {"check", "check FILE ...", command_check, "proves each file sound, or says what is wrong at which byte\n"},
    {"diff", "diff [--all] A B", command_diff,
     "what is different in B: entities born and gone, components added,\n"
     "                           removed and changed, with their values; at most 200 lines without --all\n"},
    {"plan", "plan A B", command_plan,
     "what a program with the types of B would make of A: what is left out, converted,\n"
     "                           or gets default values, and how many values lose something\n"},
    {"print", "print FILE [QUERY | --name NAME]", command_print,
     "the entities with all their components: all, or those that match a query\n"
     "                           like \"Position, !Frozen\" (docs/manual/query-terms.md); by name with --name NAME\n"},
    {"sql", "sql FILE STATEMENTS", command_sql,
     "what SQL says of the world, also of one in an SQLite database of reef\n"
     "                           (docs/manual/sql.md): \"select name, x from Position join entities using (id)\"\n"},
    {"inspect", "inspect [--port N] FILE", command_inspect,
     "shows it in the browser, at the address that it prints, until it is interrupted;\n"
     "                           of a journal all its states; --port N instead of 7272, 0 for any\n"},
    {"replay", "replay --module GAME [--save WORLD] FILE", command_replay,
     "plays a recording of reef_net again with the rules in the library GAME: whether they\n"
     "                           lead to the recorded states, and to which of two that differed; --save keeps the\n"
     "                           world before that tick, or at the end (docs/manual/playing-together.md)\n"}};

static const char help_begin[] = "reef: looks into the files that reef writes: worlds, journals, differences.\n\n";
static const char help_end[] = "  reef COMMAND --help      this for one of them\n"
                               "  reef --help              this text\n"
                               "  reef --version           the version of reef\n";
static const char help_answers[] =
    "\n"
    "Of a journal the state after its last record is meant. Answers 0; 1: a file can't be read, is\n"
    "damaged, two files differ, or values would be lost; 2: wrong usage, and whatever else keeps\n"
    "reef diff from comparing, or reef plan from planning.\n";

static void command_help(FILE *to, const command *c)
{
    const int room = 19 - (int)strlen(c->usage);
    if (room >= 0) fprintf(to, "  reef %s%*s %s", c->usage, room, "", c->text);
    else fprintf(to, "  reef %s\n%27s%s", c->usage, "", c->text);
}

static void help(FILE *to)
{
    fputs(help_begin, to);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) command_help(to, &commands[i]);
    fputs(help_end, to);
    fputs(help_answers, to);
}

static bool asks_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static int command_run(const command *c, int count, char **words)
{
    if (count > 0 && asks_help(words[0])) {
        command_help(stdout, c);
        fputs(help_answers, stdout);
        return output_close(ANSWER_GOOD);
    }
    const int answer = c->run(count, words);
    if (answer != ANSWER_USAGE) return output_close(answer);
    fprintf(stderr, "usage: reef %s\n       reef %s --help says more\n", c->usage, c->name);
    return ANSWER_TROUBLE;
}

int main(int count, char **words)
{
    if (count < 2) {
        help(stderr);
        return ANSWER_TROUBLE;
    }
    const char *name = words[1];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0) return command_run(&commands[i], count - 2, words + 2);
    if (asks_help(name) || strcmp(name, "help") == 0) {
        help(stdout);
        return output_close(ANSWER_GOOD);
    }
    if (strcmp(name, "--version") == 0) {
        printf("reef %d.%d.%d\n", REEF_VERSION_MAJOR, REEF_VERSION_MINOR, REEF_VERSION_PATCH);
        return output_close(ANSWER_GOOD);
    }
    say(NULL, "there is no command \"%s\"; reef --help lists them", name);
    return ANSWER_TROUBLE;
}
