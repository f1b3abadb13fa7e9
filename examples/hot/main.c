/* A program whose rules are replaced while it runs: hot [LIBRARY ...]
 *
 * It watches rules.so in the current folder and lets a fish swim by it. Each library that is named takes its place in
 * turn, as a build would put it there; without any it goes on until you interrupt it, and you compile rules.c
 * yourself. docs/manual/hot-reload.md explains how. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "reef_hot.h"
#include <stdio.h>
#include <time.h>

typedef struct {
    float x;
} Position;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x);

static void swim(reef_world *w, reef_entity fish)
{
    for (int i = 0; i < 3; i++) {
        reef_tick(w, 1);
        printf("  %g\n", (double)reef_get(w, fish, Position)->x);
    }
}

/* Copies a library beside the watched one, and renames it into its place: nobody ever sees half of it. */
static bool put(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen("aside.so", "wb");
    size_t n = 0;
    bool ok = in && out;
    while (ok && (n = fread(bytes, 1, sizeof bytes, in)) > 0) ok = fwrite(bytes, 1, n, out) == n;
    if (in) (void)fclose(in);
    if (out && fclose(out) != 0) ok = false;
    return ok && rename("aside.so", to) == 0;
}

int main(int argc, char **argv)
{
    char reason[REEF_HOT_TEXT_MAX];
    if (argc > 1 && !put(argv[1], "rules.so")) return fprintf(stderr, "%s can't be copied\n", argv[1]), 1;
    reef_world *w = reef_world_new(NULL);
    reef_hot_code *hot = reef_hot_open(w, "rules.so", NULL, reason);
    if (hot == NULL) return fprintf(stderr, "%s\n", reason), 1;
    const reef_entity fish = reef_spawn(w, reef_with(Position, 0));
    printf("%s\n", reef_hot_text(hot));
    swim(w, fish);
    for (int i = 2; i < argc && put(argv[i], "rules.so"); i++) {
        (void)reef_hot_poll(hot);
        printf("%s\n", reef_hot_text(hot));
        swim(w, fish);
    }
    while (argc == 1) {
        if (reef_hot_poll(hot) != REEF_HOT_SAME) printf("%s\n", reef_hot_text(hot)), swim(w, fish);
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    reef_hot_close(hot);
    reef_world_free(w);
}
