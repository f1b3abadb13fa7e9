/* reef plan: what a program whose types are those of one file would make of another one. */
#include "tool.h"

static void planned(void *context, const reef_load_note *n)
{
    static const char *const what[] = {[REEF_NOTE_TYPE_DROPPED] = "is left out",
                                       [REEF_NOTE_FIELD_DROPPED] = "is left out",
                                       [REEF_NOTE_FIELD_DEFAULT] = "gets its default value",
                                       [REEF_NOTE_FIELD_CONVERTED] = "is converted",
                                       [REEF_NOTE_FIELD_KIND] = "gets its default value",
                                       [REEF_NOTE_HOME_CHANGED] = "goes to another home",
                                       [REEF_NOTE_NAMES_CHANGED] = "is translated by its names",
                                       [REEF_NOTE_NAME_DROPPED] = "becomes 0"};
    (void)context;
    if (n->kind == REEF_NOTE_TAIL_CUT) printf("the last record is torn: %" PRIu64 " bytes are left out\n", n->rows);
    if (n->kind == REEF_NOTE_TAIL_CUT || n->kind == REEF_NOTE_SYSTEM_UNKNOWN || n->kind == REEF_NOTE_SCRIPT_UNKNOWN)
        return; /* the tool has neither systems nor scripts */
    put_name(n->type);
    if (n->field) putchar('.'), put_name(n->field);
    if (n->kind == REEF_NOTE_NAME_DROPPED) putchar(' '), put_name(n->was);
    else if (n->was) printf(" %s", n->was);
    printf(" %s", what[n->kind]);
    if (n->is) printf(": it is %s", n->is);
    printf("; %" PRIu64 " value%s", n->values, plural(n->values));
    if (n->lost) printf(", of which %" PRIu64 " lose%s something", n->lost, n->lost == 1 ? "s" : "");
    putchar('\n');
}

/* Can a world be loaded from this file by its path? */
static bool plannable(tool_file *f)
{
    if (!file_look(f)) return false;
    if (f->info.difference) say(f->path, "a difference holds no world, only changes to one");
    else if (f->pipe) say(f->path, "a plan needs a file, and this is a pipe");
    else return true;
    return false;
}

int command_plan(int count, char **words)
{
    tool_file program = {.quiet = true}, old = {.quiet = true};
    uint64_t lost = 0;
    int answer = ANSWER_TROUBLE;
    if (count != 2 || words[0][0] == '-' || words[1][0] == '-') return ANSWER_USAGE;
    file_begin(&old, words[0]);
    if (plannable(&old) && file_open(&program, words[1])) {
        old.world = program.world;
        const reef_status s = reef_load_plan(old.world, old.path, &(reef_load_desc){.note = planned}, &lost);
        if (s != REEF_OK) file_refused(&old, s);
        else if (lost == 0) printf("no value loses anything\n");
        if (s == REEF_OK) answer = lost ? ANSWER_BAD : ANSWER_GOOD;
        old.world = NULL;
    }
    file_close(&program);
    file_close(&old);
    return answer;
}
