#include "reload.h"

#include <stdio.h>

#if defined(DIVE_HOT)

#include <reef_hot.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 240, SHOWN_SECONDS = 6 };

struct reload {
    reload_config config;
    reef_hot_code *hot;
    reef_world *world;
    char text[TEXT_MAX];
    bool wrong;
    int64_t shown_until_ns, looked_ns;
    int64_t newest_ns;             /* when a source was changed last, as far as it was built or is being built */
    int64_t began_ns, building_ns; /* when the last build began; how long the last one that ended took */
    pid_t build;                   /* 0: none runs */
    int said;                      /* the end of its pipe */
    char output[16384];
    size_t output_size;
};

static int64_t clock_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(reload *r, bool wrong, const char *text)
{
    snprintf(r->text, sizeof r->text, "%.*s", (int)strcspn(text, "\n"), text);
    r->wrong = wrong;
    r->shown_until_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)SHOWN_SECONDS * 1000000000;
    fprintf(stderr, "dive: %s\n", text);
}

/* ---- the sources ---- */

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && name[0] != '.' && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

/* When one of the sources was changed last. */
static int64_t newest_source(const char *folder)
{
    char path[1024];
    struct stat about;
    int64_t newest = 0;
    DIR *files = opendir(folder);
    for (struct dirent *one; files != NULL && (one = readdir(files)) != NULL;) {
        if (!is_source(one->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (stat(path, &about) != 0) continue;
        const int64_t at = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
        if (at > newest) newest = at;
    }
    if (files != NULL) closedir(files);
    return newest;
}

/* ---- building ---- */

static void build_begin(reload *r)
{
    int ends[2];
    if (pipe(ends) != 0) {
        say(r, true, strerror(errno));
        return;
    }
    r->output_size = 0;
    r->began_ns = clock_ns(CLOCK_MONOTONIC);
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, 0);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        execl("/bin/sh", "sh", "-c", r->config.build, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        say(r, true, strerror(errno));
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    r->build = child;
    r->said = ends[0];
}

/* The line of the output that says what is wrong: the first with an error, without the folders of its path. */
static void error_find(const reload *r, char *line, size_t size)
{
    const char *at = strstr(r->output, "error:"), *begin = r->output;
    for (const char *p = r->output; at != NULL && p < at; p++)
        if (*p == '\n' || *p == '/') begin = p + 1;
    snprintf(line, size, "%.*s", (int)strcspn(begin, "\n"), at != NULL ? begin : "the build failed");
}

/* Reads what the build says, and looks whether it has ended. */
static void build_look(reload *r)
{
    char line[TEXT_MAX], rest[1024];
    int status = 0;
    for (;;) {
        const size_t room = sizeof r->output - 1 - r->output_size;
        const ssize_t n = read(r->said, room > 0 ? r->output + r->output_size : rest, room > 0 ? room : sizeof rest);
        if (n <= 0) break;
        if (room > 0) r->output_size += (size_t)n;
    }
    r->output[r->output_size] = '\0';
    if (waitpid(r->build, &status, WNOHANG) != r->build) return;
    close(r->said);
    r->build = 0;
    r->building_ns = clock_ns(CLOCK_MONOTONIC) - r->began_ns;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (r->wrong) r->text[0] = '\0';
        r->wrong = false;
        return;
    }
    error_find(r, line, sizeof line);
    say(r, true, line);
}

/* ---- the calls ---- */

reload *reload_begin(const reload_config *config, char *why)
{
    reload *r = calloc(1, sizeof *r);
    if (r == NULL) return snprintf(why, 200, "no memory"), NULL;
    r->config = *config;
    r->newest_ns = newest_source(config->sources);
    if (r->newest_ns != 0) return r;
    snprintf(why, 200, "there are no sources in %.150s", config->sources);
    free(r);
    return NULL;
}

static void open_library(reload *r, session *s)
{
    char reason[REEF_HOT_TEXT_MAX];
    const reef_hot_desc desc = {
        .history = s->past, .replay = REWIND_TICKS, .replayed = r->config.replayed, .context = r->config.context};
    r->world = s->now.world;
    r->hot = reef_hot_open(r->world, r->config.library, &desc, reason);
    if (r->hot == NULL) say(r, true, reason);
}

void reload_frame(reload *r, session *s)
{
    char text[TEXT_MAX];
    if (r == NULL || s->now.world == NULL) return;
    if (r->world != s->now.world) open_library(r, s);
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (r->build != 0) build_look(r);
    if (r->build == 0 && now - r->looked_ns > 20000000) {
        const int64_t newest = newest_source(r->config.sources);
        r->looked_ns = now;
        if (newest > r->newest_ns) {
            r->newest_ns = newest;
            build_begin(r);
        }
    }
    reef_hot_history(r->hot, s->past, REWIND_TICKS);
    const reef_hot_event event = reef_hot_poll(r->hot);
    if (event == REEF_HOT_REFUSED || event == REEF_HOT_KEPT) say(r, event == REEF_HOT_REFUSED, reef_hot_text(r->hot));
    if (event == REEF_HOT_LOADED) {
        const double took = (double)(clock_ns(CLOCK_REALTIME) - r->newest_ns) / 1e9;
        const int64_t built = r->build != 0 ? now - r->began_ns : r->building_ns; /* its end may not be known yet */
        snprintf(text, sizeof text, "new rules, %.2f s after they were saved (building took %.2f s)", took,
                 (double)built / 1e9);
        say(r, false, text);
    }
    if (event == REEF_HOT_REPLAYED) fprintf(stderr, "dive: %s\n", reef_hot_text(r->hot));
    if (!r->wrong && now > r->shown_until_ns) r->text[0] = '\0';
}

void reload_leave(reload *r)
{
    if (r == NULL) return;
    reef_hot_close(r->hot);
    r->hot = NULL;
    r->world = NULL;
}

const char *reload_text(const reload *r, bool *wrong)
{
    *wrong = r != NULL && r->wrong;
    return r != NULL ? r->text : "";
}

void reload_end(reload *r)
{
    if (r == NULL) return;
    reload_leave(r);
    if (r->build != 0) {
        close(r->said);
        waitpid(r->build, NULL, 0);
    }
    free(r);
}

#else
reload *reload_begin(const reload_config *config, char *why)
{
    (void)config;
    snprintf(why, 200, "the add-on reef_hot wasn't built");
    return NULL;
}
void reload_frame(reload *r, session *s) { (void)r, (void)s; }
void reload_leave(reload *r) { (void)r; }
const char *reload_text(const reload *r, bool *wrong)
{
    (void)r;
    *wrong = false;
    return "";
}
void reload_end(reload *r) { (void)r; }
#endif
