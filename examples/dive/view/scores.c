#include "scores.h"

#include <stdio.h>

static FILE *open_file(const char *folder, const char *mode)
{
    char path[500];
    if (folder == NULL) return NULL;
    snprintf(path, sizeof path, "%s/scores", folder);
    return fopen(path, mode);
}

void scores_load(scores *s, const char *folder)
{
    *s = (scores){.last = SCORES_MAX};
    FILE *file = open_file(folder, "r");
    if (file == NULL) return;
    unsigned points, wave, kills;
    while (s->count < SCORES_MAX && fscanf(file, "%u %u %u", &points, &wave, &kills) == 3)
        s->of[s->count++] = (score){points, wave, kills};
    fclose(file);
}

bool scores_add(scores *s, score one, const char *folder)
{
    uint32_t at = 0;
    while (at < s->count && s->of[at].points >= one.points) at++;
    s->last = at;
    if (at == SCORES_MAX) return true;
    if (s->count < SCORES_MAX) s->count++;
    for (uint32_t i = s->count - 1; i > at; i--) s->of[i] = s->of[i - 1];
    s->of[at] = one;
    if (folder == NULL) return true;
    FILE *file = open_file(folder, "w");
    if (file == NULL) return false;
    for (uint32_t i = 0; i < s->count; i++)
        fprintf(file, "%u %u %u\n", (unsigned)s->of[i].points, (unsigned)s->of[i].wave, (unsigned)s->of[i].kills);
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}
