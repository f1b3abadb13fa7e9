/* Recorded inputs, as a text. */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool replay_add(replay *r, Input in)
{
    if (r->count == r->capacity) {
        uint64_t capacity = r->capacity > 0 ? r->capacity * 2 : 1024;
        Input *inputs = realloc(r->inputs, (size_t)capacity * sizeof *inputs);
        if (inputs == NULL) return false;
        r->inputs = inputs;
        r->capacity = capacity;
    }
    r->inputs[r->count++] = in;
    return true;
}

void replay_free(replay *r)
{
    free(r->inputs);
    *r = (replay){0};
}

/* ---- reading ---- */

static bool take_number(char **text, long lowest, long highest, long *number)
{
    char *end;
    *number = strtol(*text, &end, 10);
    if (end == *text || *number < lowest || *number > highest) return false;
    *text = end;
    return true;
}

static bool take_word(char **text, const char *word)
{
    size_t length = strlen(word);
    *text += strspn(*text, " \t");
    if (strncmp(*text, word, length) != 0 || strchr(" \t\r\n", (*text)[length]) == NULL) return false;
    *text += length;
    return true;
}

static bool take_two(char **text, int8_t to[2])
{
    long x, y;
    if (!take_number(text, -100, 100, &x) || !take_number(text, -100, 100, &y)) return false;
    to[0] = (int8_t)x, to[1] = (int8_t)y;
    return true;
}

static bool take_input(char *text, Input *in)
{
    long n = 0;
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text == '\0') return true;
        if (take_word(&text, "move")) {
            if (!take_two(&text, in->move)) return false;
        } else if (take_word(&text, "aim")) {
            if (!take_two(&text, in->aim)) return false;
        } else if (take_word(&text, "pick")) {
            if (!take_number(&text, 0, PICK_OTHERS, &n)) return false;
            in->pick = (uint8_t)n;
        } else if (take_word(&text, "rewound")) {
            if (!take_number(&text, 0, OWED_MAX, &n)) return false;
            in->rewound = (uint16_t)n;
        } else if (take_word(&text, "hold")) {
            in->keys |= KEY_HOLD;
        } else if (take_word(&text, "dash")) {
            in->keys |= KEY_DASH;
        } else if (take_word(&text, "pulse")) {
            in->keys |= KEY_PULSE;
        } else {
            return false;
        }
    }
}

bool replay_read(replay *r, FILE *file, uint64_t *line)
{
    char buffer[256], *text;
    *r = (replay){.seed = 1};
    for (*line = 1; fgets(buffer, sizeof buffer, file) != NULL; ++*line) {
        text = buffer + strspn(buffer, " \t\r\n");
        if (*text == '#' || *text == '\0') continue;
        if (take_word(&text, "seed")) {
            r->seed = strtoull(text, NULL, 10);
            continue;
        }
        Input in = {0};
        long ticks;
        if (!take_number(&text, 1, 1000000, &ticks) || !take_input(text, &in)) return false;
        for (long t = 0; t < ticks; t++) {
            if (!replay_add(r, in)) return *line = 0, false;
            in.pick = 0, in.rewound = 0;
        }
    }
    return true;
}

/* ---- writing ---- */

static bool is_continued(const Input *a, const Input *b)
{
    return memcmp(a->move, b->move, 2) == 0 && memcmp(a->aim, b->aim, 2) == 0 && a->keys == b->keys && b->pick == 0 &&
           b->rewound == 0;
}

bool replay_write(const replay *r, FILE *file)
{
    fprintf(file, "seed %" PRIu64 "\n", r->seed);
    for (uint64_t t = 0, end; t < r->count; t = end) {
        const Input *in = &r->inputs[t];
        for (end = t + 1; end < r->count && is_continued(in, &r->inputs[end]);) end++;
        fprintf(file, "%" PRIu64, end - t);
        if (in->move[0] != 0 || in->move[1] != 0) fprintf(file, " move %d %d", in->move[0], in->move[1]);
        if (in->aim[0] != 0 || in->aim[1] != 0) fprintf(file, " aim %d %d", in->aim[0], in->aim[1]);
        if ((in->keys & KEY_HOLD) != 0) fprintf(file, " hold");
        if ((in->keys & KEY_DASH) != 0) fprintf(file, " dash");
        if ((in->keys & KEY_PULSE) != 0) fprintf(file, " pulse");
        if (in->pick != 0) fprintf(file, " pick %d", in->pick);
        if (in->rewound != 0) fprintf(file, " rewound %d", in->rewound);
        fprintf(file, "\n");
    }
    return ferror(file) == 0 && fflush(file) == 0;
}
