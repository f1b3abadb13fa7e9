/* reef check: checks the file's frame, then loads the file and validates the world in it. */
#include "tool.h"

static int check_file(tool_file *f)
{
    char kind[64], message[256];
    const char *path = f->path;
    if (!file_look(f)) return ANSWER_BAD;
    const reef_file_info *i = &f->info;
    file_kind(f, kind, sizeof kind);
    if (i->difference) {
        printf("%s: sound as far as can be told without the state that it belongs to: %s, %" PRIu64 " bytes\n", path,
               kind, i->bytes);
        return ANSWER_GOOD;
    }
    if (!file_load(f)) return ANSWER_BAD;
    const reef_status s = reef_validate(f->world, message, sizeof message);
    if (s != REEF_OK) {
        say(path, "the world in it isn't sound: %s", message);
    } else {
        const uint64_t entities = reef_count_alive(f->world), cut = i->bytes - i->sound_bytes;
        printf("%s: sound: %s, %" PRIu64 " %s, %" PRIu64 " bytes\n", path, kind, entities,
               entities == 1 ? "entity" : "entities", i->sound_bytes);
        if (i->torn)
            printf("%s: torn at byte %" PRIu64 ": %s; opening the journal cuts %" PRIu64 " byte%s off\n", path,
                   i->wrong_at, i->wrong, cut, plural(cut));
    }
    return s == REEF_OK ? ANSWER_GOOD : ANSWER_BAD;
}

static int check_one(const char *path)
{
    tool_file f = {.quiet = true};
    file_begin(&f, path);
    const int answer = check_file(&f);
    file_close(&f);
    return answer;
}

int command_check(int count, char **words)
{
    int answer = ANSWER_GOOD;
    if (count < 1 || words[0][0] == '-') return ANSWER_USAGE;
    for (int i = 0; i < count; i++)
        if (check_one(words[i]) != ANSWER_GOOD) answer = ANSWER_BAD;
    return answer;
}
