/* The output files: they are written under temporary names, each run under its own, and renamed at the end. */
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const file_names[OUTPUT_FILES] = {"populations.csv", "living_reef.svg"};

static bool refuse(output *o, const char *what, const char *name, int reason, char *message, size_t message_size)
{
    snprintf(message, message_size, "%s: %s: %s", name, what, reason != 0 ? strerror(reason) : "unknown reason");
    output_discard(o);
    return false;
}

static bool open_one(output *o, int i, const char *directory, char *message, size_t message_size)
{
    int a = snprintf(o->name[i], sizeof o->name[i], "%s/%s", directory, file_names[i]);
    int b = snprintf(o->part[i], sizeof o->part[i], "%s/.%s.%ld.part", directory, file_names[i], (long)getpid());
    if (a < 0 || b < 0 || (size_t)a >= sizeof o->name[i] || (size_t)b >= sizeof o->part[i])
        return refuse(o, "can't be written", file_names[i], ENAMETOOLONG, message, message_size);
    o->file[i] = fopen(o->part[i], "wb");
    if (o->file[i] == NULL) return refuse(o, "can't be written", o->part[i], errno, message, message_size);
    return true;
}

bool output_open(output *o, const char *directory, int files, char *message, size_t message_size)
{
    memset(o, 0, sizeof *o);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return refuse(o, "can't be made", directory, errno, message, message_size);
    for (int i = 0; i < files; i++)
        if (!open_one(o, i, directory, message, message_size)) return false;
    return true;
}

bool output_commit(output *o, char *message, size_t message_size)
{
    for (int i = 0; i < OUTPUT_FILES && o->file[i]; i++) {
        bool bad = fflush(o->file[i]) != 0 || ferror(o->file[i]) != 0;
        int reason = errno;
        bad = fclose(o->file[i]) != 0 || bad;
        o->file[i] = NULL;
        if (bad) return refuse(o, "can't be written", o->part[i], reason, message, message_size);
    }
    for (int i = 0; i < OUTPUT_FILES && o->part[i][0]; i++) {
        if (rename(o->part[i], o->name[i]) != 0)
            return refuse(o, "can't be written", o->name[i], errno, message, message_size);
        o->part[i][0] = '\0';
    }
    return true;
}

void output_discard(output *o)
{
    for (int i = 0; i < OUTPUT_FILES; i++) {
        if (o->file[i] != NULL) fclose(o->file[i]);
        o->file[i] = NULL;
        if (o->part[i][0] != '\0') remove(o->part[i]);
        o->part[i][0] = '\0';
    }
}
