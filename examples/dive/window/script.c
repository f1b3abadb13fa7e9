#include "script.h"

#include "draw.h"

#include <stdlib.h>
#include <string.h>

struct script {
    FILE *file;
    unsigned long frame, at; /* at: the frame of `line`; beyond all frames when the file has ended */
    char line[300];
    uint32_t held, tapped;
    char picture[256]; /* to be written in this frame; "": none */
    bool tells;        /* in this frame */
};

static const struct {
    const char *name;
    uint32_t control;
} names[] = {{"up", CONTROL_UP},           {"down", CONTROL_DOWN},   {"left", CONTROL_LEFT},   {"right", CONTROL_RIGHT},
             {"confirm", CONTROL_CONFIRM}, {"dash", CONTROL_DASH},   {"pulse", CONTROL_PULSE}, {"hold", CONTROL_HOLD},
             {"rewind", CONTROL_REWIND},   {"pause", CONTROL_PAUSE}, {"photo", CONTROL_PHOTO}};

static uint32_t control_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i].name) == 0) return names[i].control;
    fprintf(stderr, "dive: a script names the key %s, which there isn't\n", name);
    return 0;
}

/* Reads the next line that says something. */
static void advance(script *s)
{
    char buffer[300];
    s->at = (unsigned long)-1;
    while (fgets(buffer, sizeof buffer, s->file) != NULL) {
        char *rest;
        if (buffer[0] == '#' || buffer[0] == '\n') continue;
        s->at = strtoul(buffer, &rest, 10);
        snprintf(s->line, sizeof s->line, "%s", rest + strspn(rest, " "));
        s->line[strcspn(s->line, "\n")] = '\0';
        return;
    }
}

script *script_open(const char *path)
{
    script *s = calloc(1, sizeof *s);
    FILE *file = s != NULL ? fopen(path, "r") : NULL;
    if (file == NULL) {
        free(s);
        return NULL;
    }
    s->file = file;
    advance(s);
    return s;
}

bool script_frame(script *s, controls *c)
{
    uint32_t before = s->held;
    s->held &= ~s->tapped;
    s->tapped = 0;
    for (; s->at <= s->frame; advance(s)) {
        char verb[32], what[200] = "";
        if (sscanf(s->line, "%31s %199s", verb, what) < 1) continue;
        if (strcmp(verb, "end") == 0) return false;
        if (strcmp(verb, "down") == 0) s->held |= control_of(what);
        else if (strcmp(verb, "up") == 0) s->held &= ~control_of(what);
        else if (strcmp(verb, "tap") == 0) s->held |= control_of(what), s->tapped |= control_of(what);
        else if (strcmp(verb, "picture") == 0) snprintf(s->picture, sizeof s->picture, "%s", what);
        else if (strcmp(verb, "tell") == 0) s->tells = true;
        else fprintf(stderr, "dive: a script says %s, which means nothing\n", verb);
    }
    s->frame++;
    *c = (controls){.held = s->held, .pressed = s->held & ~before};
    c->move_x = (float)((c->held & CONTROL_RIGHT) != 0) - (float)((c->held & CONTROL_LEFT) != 0);
    c->move_y = (float)((c->held & CONTROL_DOWN) != 0) - (float)((c->held & CONTROL_UP) != 0);
    return s->at != (unsigned long)-1;
}

bool script_wants_picture(const script *s) { return s->picture[0] != '\0'; }

bool script_tells(script *s)
{
    const bool tells = s->tells;
    s->tells = false;
    return tells;
}

void script_tell(script *s, const app *a)
{
    static const char *const screens[] = {"title", "play", "pause", "photo"};
    static const char *const stages[] = {"ready", "wave", "shop", "won", "lost"};
    reef_world *w = a->play.now.world;
    if (!script_tells(s)) return;
    printf("frame %lu: %s, %s, tick %u, score %u, %s\n", s->frame - 1, screens[a->screen],
           stages[reef_single_get(w, Stage)->now], (unsigned)reef_tick_count(w),
           (unsigned)reef_single_get(w, Purse)->score, a->play.ghost.world != NULL ? "with a ghost" : "alone");
}

bool script_picture(script *s, int wide, int high)
{
    if (s->picture[0] == '\0') return true;
    const bool good = draw_picture(s->picture, wide, high);
    s->picture[0] = '\0';
    return good;
}

void script_close(script *s)
{
    if (s == NULL) return;
    fclose(s->file);
    free(s);
}
