/* Describes the machine on which figures are measured, and starts child processes. */
#define _GNU_SOURCE
#include "bench.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- child processes ---- */

FILE *child_start(const char *program, char *const *argv, bool quiet, int *process)
{
    int ends[2];
    if (pipe(ends) != 0) return NULL;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (quiet && !freopen("/dev/null", "w", stderr)) _exit(127);
        execvp(program, argv);
        _exit(127);
    }
    close(ends[1]);
    FILE *output = pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (!output) close(ends[0]);
    *process = (int)pid;
    return output;
}

int child_end(FILE *output, int process)
{
    int status = 0;
    fclose(output);
    while (waitpid((pid_t)process, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first line that a program prints; false if there is none. */
static bool first_line(char *line, size_t size, const char *program, char *const *argv)
{
    int process;
    FILE *f = child_start(program, argv, true, &process);
    if (!f) return false;
    bool read = fgets(line, (int)size, f) != NULL;
    while (fgetc(f) != EOF) {}
    if (child_end(f, process) != 0 || !read) return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

/* ---- the program ---- */

bool bench_source_file(char *path, size_t size, const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    int folder = slash ? (int)(slash - __FILE__) : 1;
    int n = snprintf(path, size, "%.*s/%s", folder, slash ? __FILE__ : ".", name);
    return n > 0 && (size_t)n < size;
}

static void read_commit(char *text, size_t size)
{
    char folder[4096], line[TEXT_MAX - 16], changes[TEXT_MAX];
    snprintf(text, size, "unknown");
    if (!bench_source_file(folder, sizeof folder, "")) return;
    char *const head[] = {"git", "-C", folder, "rev-parse", "--short=12", "HEAD", NULL};
    char *const status[] = {"git", "-C", folder, "status", "--porcelain", "--untracked-files=no", NULL};
    if (!first_line(line, sizeof line, "git", head)) return;
    snprintf(text, size, "%s%s", line, first_line(changes, sizeof changes, "git", status) ? " + changes" : "");
}

/* The flags of the build (REEF_BENCH_FLAGS), or otherwise what the preprocessor knows. */
static const char *compile_flags(void)
{
#ifdef REEF_BENCH_FLAGS
    return REEF_BENCH_FLAGS;
#else
    return ""
#ifdef __OPTIMIZE__
           "optimised"
#else
           "not optimised"
#endif
#ifdef NDEBUG
           " NDEBUG"
#endif
#ifdef __AVX2__
           " AVX2"
#endif
#ifdef __SANITIZE_ADDRESS__
           " address sanitizer"
#endif
        ;
#endif
}

static const char *compiler_name(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

/* ---- the machine ---- */

/* The value after the colon of the first line that starts with `key`. */
static bool proc_value(const char *file, const char *key, char *value, size_t size)
{
    char line[512];
    bool found = false;
    FILE *f = fopen(file, "r");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        found = true;
    }
    fclose(f);
    return found;
}

static size_t memory_of(const char *key)
{
    char value[64];
    return proc_value("/proc/meminfo", key, value, sizeof value) ? (size_t)strtoull(value, NULL, 10) << 10 : 0;
}

/* One word of a file in /sys, empty if it isn't there. */
static void sys_word(char *word, size_t size, int cpu, int index, const char *name)
{
    char path[128];
    word[0] = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name);
    FILE *f = fopen(path, "r");
    if (!f) return;
    if (!fgets(word, (int)size, f)) word[0] = 0;
    word[strcspn(word, "\n")] = 0;
    fclose(f);
}

static void read_caches(machine_info *m)
{
    int cpu = sched_getcpu();
    for (int i = 0; m->caches < CACHES_MAX; i++) {
        char level[16], type[32], size[32], *unit;
        sys_word(level, sizeof level, cpu < 0 ? 0 : cpu, i, "level");
        sys_word(type, sizeof type, cpu < 0 ? 0 : cpu, i, "type");
        sys_word(size, sizeof size, cpu < 0 ? 0 : cpu, i, "size");
        if (!level[0]) return;
        if (strcmp(type, "Instruction") == 0) continue;
        size_t bytes = (size_t)strtoull(size, &unit, 10) << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
        if (bytes) m->cache[m->caches++] = (cache_level){atoi(level), bytes};
    }
}

void machine_read(machine_info *m)
{
    struct utsname u;
    time_t now = time(NULL);
    memset(m, 0, sizeof *m);
    if (!proc_value("/proc/cpuinfo", "model name", m->cpu, sizeof m->cpu))
        snprintf(m->cpu, sizeof m->cpu, "unknown CPU");
    if (uname(&u) == 0) snprintf(m->system, sizeof m->system, "%.32s %.64s %.32s", u.sysname, u.release, u.machine);
    snprintf(m->compiler, sizeof m->compiler, "%s", compiler_name());
    snprintf(m->flags, sizeof m->flags, "%s", compile_flags());
    read_commit(m->commit, sizeof m->commit);
    strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    m->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    m->memory = memory_of("MemTotal");
    m->memory_available = memory_of("MemAvailable");
    read_caches(m);
}
