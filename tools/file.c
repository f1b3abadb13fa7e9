/* A file and the world in it. */
#include "tool.h"
#include <string.h>

static void wrong_say(const tool_file *f, reef_status s)
{
    const reef_file_info *i = &f->info;
    if (s == REEF_CORRUPT && i->version == 0) say(f->path, "%s", i->bytes ? i->wrong : "the file is empty");
    else if (s == REEF_CORRUPT) say(f->path, "damaged at byte %" PRIu64 ": %s", i->wrong_at, i->wrong);
    else if (s == REEF_IO) say(f->pipe ? f->path : NULL, "%s", i->wrong); /* else the text names the path */
    else say(f->path, "%s", i->wrong[0] ? i->wrong : reef_status_text(s));
}

void file_begin(tool_file *f, const char *path)
{
    const bool quiet = f->quiet;
    FILE *file = fopen(path, "rb");
    *f = (tool_file){.path = path, .quiet = quiet};
    if (file && fseek(file, 0, SEEK_END) != 0) f->pipe = file;
    else if (file) (void)fclose(file);
}

/* Reads from the pipe, and copies what it reads. */
static reef_status pipe_read(void *context, void *bytes, size_t count, size_t *got)
{
    const tool_file *f = context;
    *got = fread(bytes, 1, count, f->pipe);
    return ferror(f->pipe) || fwrite(bytes, 1, *got, f->copy) != *got ? REEF_IO : REEF_OK;
}

static reef_status copy_read(void *context, void *bytes, size_t count, size_t *got)
{
    const tool_file *f = context;
    *got = fread(bytes, 1, count, f->copy);
    return ferror(f->copy) ? REEF_IO : REEF_OK;
}

bool file_look(tool_file *f)
{
    if (f->pipe && (f->copy = tmpfile()) == NULL) {
        say(f->path, "it is a pipe, and there is no temporary file for a copy of it");
        return false;
    }
    const reef_status s = f->pipe ? reef_file_check_from((reef_reader){pipe_read, f}, NULL, &f->info)
                                  : reef_file_check(f->path, NULL, &f->info);
    if (s != REEF_OK) wrong_say(f, s);
    return s == REEF_OK;
}

static void noted(void *context, const reef_load_note *n)
{
    const tool_file *f = context;
    if (f->quiet) return;
    switch (n->kind) {
    case REEF_NOTE_TYPE_DROPPED: say(f->path, "%s is left out; %" PRIu64 " entities had it", n->type, n->rows); break;
    case REEF_NOTE_FIELD_DROPPED:
        say(f->path, "%s.%s is left out: %s has no such field in the first file", n->type, n->field, n->type);
        break;
    case REEF_NOTE_FIELD_DEFAULT:
        say(f->path, "%s.%s has its default value: %s has no such field in this file", n->type, n->field, n->type);
        break;
    case REEF_NOTE_FIELD_CONVERTED:
        say(f->path, "%s.%s is converted from %s to %s, which it is in the first file", n->type, n->field, n->was,
            n->is);
        break;
    case REEF_NOTE_FIELD_KIND:
        say(f->path, "%s.%s has its default value: it is %s in this file and %s in the first one", n->type, n->field,
            n->was, n->is);
        break;
    case REEF_NOTE_NAMES_CHANGED:
        say(f->path, "%s.%s has other names in the first file: values are translated by name", n->type, n->field);
        break;
    case REEF_NOTE_NAME_DROPPED:
        say(f->path, "%s.%s has no value %s in the first file: it becomes 0", n->type, n->field, n->was);
        break;
    case REEF_NOTE_HOME_CHANGED: say(f->path, "%s is kept in another home, as in the first file", n->type); break;
    case REEF_NOTE_TAIL_CUT:
        say(f->path, "the last record is torn: %" PRIu64 " byte%s left out", n->rows, n->rows == 1 ? " is" : "s are");
        break;
    case REEF_NOTE_SYSTEM_UNKNOWN:
    case REEF_NOTE_SCRIPT_UNKNOWN: break; /* the tool has neither systems nor scripts */
    }
}

void file_refused(const tool_file *f, reef_status s)
{
    const reef_error e = reef_last_error(f->world);
    if (s == REEF_CORRUPT) {
        say(f->path, "damaged at byte %" PRIu64 ": %s", e.number, e.detail);
        return;
    }
    if (s == REEF_IO) {
        say(NULL, "%s", e.detail);
        return;
    }
    const char *type = e.component.id ? reef_type_name(e.component) : NULL;
    const char *detail = e.detail[0]                             ? e.detail
                         : s == REEF_NOT_PORTABLE && f->info.raw ? "the file holds bytes of a machine unlike this one"
                                                                 : reef_status_text(s);
    say(f->path, "%s%s%s", type ? type : "", type ? ": " : "", detail);
}

bool file_load(tool_file *f)
{
    if (f->info.difference) {
        say(f->path, "a difference holds no world, only changes to one");
        return false;
    }
    (void)reef_type_find("reef"); /* gives reef's own types their ids */
    f->types_first = reef_type_count();
    f->world = reef_world_new(&(reef_world_config){.log = reef_log_none}); /* the tool says itself what is wrong */
    if (f->world == NULL) {
        say(f->path, "%s", reef_status_text(REEF_NO_MEMORY));
        return false;
    }
    const reef_load_desc desc = {.unknown = REEF_UNKNOWN_DECLARE, .note = noted, .context = f};
    if (f->copy) rewind(f->copy);
    const reef_status s =
        f->copy ? reef_load_from(f->world, (reef_reader){copy_read, f}, &desc) : reef_load(f->world, f->path, &desc);
    if (s == REEF_OK) return true;
    file_refused(f, s);
    file_close(f);
    return false;
}

bool file_open(tool_file *f, const char *path)
{
    file_begin(f, path);
    return file_look(f) && file_load(f);
}

void file_close(tool_file *f)
{
    reef_world_free(f->world);
    if (f->pipe) (void)fclose(f->pipe);
    if (f->copy) (void)fclose(f->copy);
    f->world = NULL;
    f->pipe = f->copy = NULL;
}

void file_kind(const tool_file *f, char *text, size_t size)
{
    const reef_file_info *i = &f->info;
    if (i->difference) (void)snprintf(text, size, "a difference");
    else if (i->journal)
        (void)snprintf(text, size, "a journal of %" PRIu64 " record%s", i->records, plural(i->records));
    else (void)snprintf(text, size, "a world");
}
