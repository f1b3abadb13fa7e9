/* A library that is watched, and what happens when there is another one.
 *
 *   the file ──► its bytes ──► checked ──► a copy ──► the loader ──► reef_code_use ──► in use
 *                    └───────────┴──────────┴────────────┴── refused: the old library goes on
 *
 * Each library is opened from a copy, for two reasons: the compiler may write the next one to the place of this one,
 * and the loader would take a file that it knows already for the same library. An old library is closed when nothing
 * leads into it any more, which is asked again whenever something happens. */
#include "hot.h"
#include "reef/control.h"
#include "reef/type_info.h"
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>

/* A library that is open. */
typedef struct hot_library {
    struct hot_library *older;
    reef_code *code;
    void *handle;
    const reef_hot_library *entry;
    reef_code_range range;                /* where it lies; NULL: not known */
    char name[REEF_SYSTEM_NAME_MAX + 40]; /* "rules 3, library number 12" */
    char path[HOT_PATH_MAX];              /* of the copy */
} hot_library;

struct reef_hot_code {
    reef_world *world;
    hot_watch watch;
    hot_library *newest;                 /* the one in use, and older ones that couldn't be closed yet */
    char name[REEF_SYSTEM_NAME_MAX + 1]; /* of the module */
    char folder[HOT_PATH_MAX];
    bool own_folder;
    bool again;      /* the last attempt was refused, so the same bytes are tried again */
    bool waits;      /* the world couldn't change: the next poll tries again */
    bool on_trial;   /* this is the child process of a trial */
    uint32_t number; /* of the next copy */
    size_t size;     /* of the library in use */
    uint64_t hash;
    reef_hot_desc desc;
    reef_replay *replay; /* NULL: nothing is played again */
    uint64_t replay_end; /* its end at the last poll: the world has played since what is beyond it */
    uint64_t replay_ticks;
    char text[REEF_HOT_TEXT_MAX];
};

static void hot_say(reef_hot_code *h, const char *format, ...) REEF_PRINTF(2, 3);
static void hot_say(reef_hot_code *h, const char *format, ...)
{
    const size_t n = strlen(h->text);
    va_list list;
    if (n && n + 1 < sizeof h->text) (void)snprintf(h->text + n, sizeof h->text - n, "\n");
    const size_t at = strlen(h->text);
    va_start(list, format);
    (void)vsnprintf(h->text + at, sizeof h->text - at, format, list);
    va_end(list);
}

/* ---- libraries ---- */

/* Opens a copy of the file. Its constructors run, and what they declare belongs to the library's code. NULL: `why`. */
static hot_library *library_open(reef_hot_code *h, const hot_file *f, char *why, size_t size)
{
    hot_library *x = calloc(1, sizeof *x);
    const int n = x ? snprintf(x->path, sizeof x->path, "%s/%u.%s", h->folder, h->number++, h->watch.name) : 0;
    if (x == NULL || n <= 0 || (size_t)n >= sizeof x->path) {
        (void)snprintf(why, size, x ? "the path of its copy is too long" : "there is no memory");
        free(x);
        return NULL;
    }
    if (!hot_file_copy(f, x->path, why, size)) return free(x), NULL;
    x->code = reef_code_begin();
    if (x->code == NULL) (void)snprintf(why, size, "there is no memory");
    x->handle = x->code ? hot_loader_open(x->path, why, size) : NULL;
    const uint32_t count = x->handle ? hot_loader_ranges(x->handle, &x->range) : 0;
    if (x->handle) (void)reef_code_end(x->code, &x->range, count);
    if (count && h->on_trial) hot_trial_library(&x->range);
    x->entry = x->handle ? hot_loader_find(x->handle, "reef_hot_library_of_this") : NULL;
    if (x->handle && (x->entry == NULL || x->entry->module == NULL))
        (void)snprintf(why, size, "it exports no module: REEF_HOT_LIBRARY(&module)");
    else if (x->handle) {
        const reef_module *m = x->entry->module;
        (void)snprintf(x->name, sizeof x->name, "%.*s %u, library number %u", REEF_SYSTEM_NAME_MAX,
                       m->name ? m->name : "", m->version, h->number);
        return x;
    }
    if (x->handle) (void)hot_loader_close(x->handle, x->path);
    reef_code_free(x->code);
    hot_file_remove(x->path);
    free(x);
    return NULL;
}

/* Closes a library if nothing leads into it. False: `why` says what does. */
static bool library_close(hot_library *x, char *why, size_t size)
{
    if (!reef_code_unused(x->code, why, size)) return false;
    const bool gone = hot_loader_close(x->handle, x->path);
    if (gone && x->range.begin) hot_gone_keep(&x->range, x->name);
    if (!gone) (void)snprintf(why, size, "the system keeps it (in C++: compile it with -fno-gnu-unique)");
    reef_code_free(x->code);
    hot_file_remove(x->path);
    free(x);
    return true;
}

/* Closes the old libraries that nothing leads into any more. While ticks are played again, the history's states have
 * systems of the old code; so nothing is said of that until they end. */
static void libraries_close(reef_hot_code *h, bool newest_too)
{
    char why[REEF_DETAIL_MAX];
    for (hot_library **at = newest_too || h->newest == NULL ? &h->newest : &h->newest->older; *at;) {
        hot_library *x = *at, *older = x->older;
        why[0] = 0;
        if (library_close(x, why, sizeof why)) {
            *at = older;
            if (why[0]) hot_say(h, "an old library stays in memory: %s", why);
        } else {
            if (h->replay == NULL) hot_say(h, "an old library stays open: %s", why);
            at = &x->older;
        }
    }
}

uint32_t reef_hot_libraries(const reef_hot_code *h)
{
    uint32_t n = 0;
    for (const hot_library *x = h ? h->newest : NULL; x; x = x->older) n++;
    return n;
}

/* ---- playing again ---- */

static void replay_drop(reef_hot_code *h)
{
    reef_replay_free(h->replay);
    h->replay = NULL;
}

/* Is there an input among these ticks of which nothing is known? New code may take its bytes for something else. */
static bool inputs_unknown(const reef_history *past, uint64_t from, uint64_t to)
{
    if (reef_history_input_type(past).id) return false;
    for (uint64_t t = from; t < to; t++)
        if (reef_history_input(past, t, NULL)) return true;
    return false;
}

/* The last ticks of the history are to be played once more, with the code that is in use now. */
static void replay_begin(reef_hot_code *h)
{
    char why[REEF_DETAIL_MAX + 200];
    reef_history *past = h->desc.history;
    const reef_history_range r = reef_history_reach(past);
    uint64_t from = r.tick > h->desc.replay ? r.tick - h->desc.replay : 0;
    if (past == NULL || h->desc.replay == 0) return;
    if (from < r.first) from = r.first;
    if (from == r.tick) return;
    if (inputs_unknown(past, from, r.tick)) {
        hot_say(h, "the last ticks can't be played again: their inputs have no type (reef_history_config.input)");
        return;
    }
    h->replay = reef_replay_new(past, from);
    h->replay_end = r.tick;
    if (h->replay) return;
    (void)reef_error_text(h->world, why, sizeof why);
    hot_say(h, "the last ticks can't be played again: %s", why);
}

static reef_hot_event replay_ends(reef_hot_code *h, reef_status s)
{
    char why[REEF_DETAIL_MAX + 200];
    if (s < 0) (void)reef_error_text(h->world, why, sizeof why);
    if (reef_replay_history(h->replay) == NULL) (void)snprintf(why, sizeof why, "their history was freed");
    if (s < 0) hot_say(h, "the last ticks can't be played again: %s", why);
    else hot_say(h, "%llu ticks were played again", (unsigned long long)h->replay_ticks);
    replay_drop(h);
    libraries_close(h, false);
    return s < 0 ? REEF_HOT_KEPT : REEF_HOT_REPLAYED;
}

/* Plays some ticks again: `most`, or for a while, but more than the world has played since the last call. So the replay
 * reaches the world, however many ticks that plays in a frame. */
static reef_hot_event replay_poll(reef_hot_code *h, uint64_t most)
{
    enum { WHILE_NS = 4000000 };
    const uint64_t begin = hot_clock_ns();
    reef_replay_range r = reef_replay_reach(h->replay);
    const uint64_t least = r.end - h->replay_end + 1;
    reef_status s = REEF_OK;
    h->replay_end = r.end;
    for (uint64_t n = 0; s >= 0 && r.tick < r.end; n++) {
        const bool on = most ? n < most : hot_clock_ns() - begin < WHILE_NS;
        if (!on && n >= least) return REEF_HOT_SAME;
        s = reef_replay_play(h->replay, 1);
        r = reef_replay_reach(h->replay);
    }
    if (s >= 0) s = reef_replay_play(h->replay, 0); /* may the world change now? */
    if (s < 0) return s == REEF_LOCKED ? REEF_HOT_SAME : replay_ends(h, s);
    h->replay_ticks = r.end - r.from;
    if (h->desc.replayed && !h->on_trial) h->desc.replayed(h->desc.context, h->replay);
    s = reef_replay_take(h->replay);
    return s == REEF_LOCKED ? REEF_HOT_SAME : replay_ends(h, s);
}

/* ---- using a library ---- */

/* The new library takes over. */
static void library_take_over(reef_hot_code *h, hot_library *x, const hot_file *f, const reef_code_settings *done)
{
    const hot_library *old = h->newest;
    void *kept = old && old->entry->close ? old->entry->close(h->world) : NULL;
    x->older = h->newest;
    h->newest = x;
    h->size = f->size;
    h->hash = f->hash;
    if (x->entry->open) x->entry->open(h->world, kept);
    const reef_module *m = x->entry->module;
    (void)snprintf(h->name, sizeof h->name, "%s", m->name);
    hot_say(h, "%s %u is in use", m->name, m->version);
    if (done->undescribed.id)
        hot_say(h, "whether the layout of %s has changed can't be seen: it has no fields",
                reef_type_name(done->undescribed));
    if (done->layouts)
        hot_say(h, "%u type%s another layout now", done->layouts, done->layouts == 1 ? " has" : "s have");
    if (old) replay_begin(h);
    libraries_close(h, false);
}

static bool file_use(reef_hot_code *h, const hot_file *f)
{
    char why[REEF_HOT_TEXT_MAX / 2] = "";
    reef_status s = REEF_OK;
    reef_code_settings settings = {.lose_values = h->desc.lose_values,
                                   .refuse_undescribed = h->desc.refuse_undescribed,
                                   .history = h->desc.history,
                                   .replay = h->desc.replay};
    const bool again = h->replay != NULL;
    replay_drop(h); /* it plays with the code before */
    hot_library *x = hot_file_check(f, why, sizeof why) ? library_open(h, f, why, sizeof why) : NULL;
    if (x) {
        const char *name = x->entry->module->name;
        if (h->name[0] && (name == NULL || strcmp(name, h->name) != 0))
            (void)snprintf(why, sizeof why, "its module is named %.80s, and was %s", name ? name : "(null)", h->name);
        else if ((s = reef_code_use(h->world, x->code, x->entry->module, &settings)) < 0)
            (void)reef_error_text(h->world, why, sizeof why);
        else return library_take_over(h, x, f, &settings), true;
    }
    h->waits = s == REEF_LOCKED;
    hot_say(h, "%s is refused: %s", h->watch.path, why);
    if (s == REEF_NOT_PORTABLE)
        hot_say(h, "a renamed field says what it was by REEF_FIELD_WAS; .lose_values of reef_hot_desc allows the loss");
    if (x && !library_close(x, why, sizeof why)) { /* something that its `load` has made outside of the world */
        hot_library **end = &h->newest;
        while (*end) end = &(*end)->older;
        *end = x;
        hot_say(h, "the refused library stays open: %s", why);
    }
    if (again && !h->waits) replay_begin(h); /* anew, with the code that stays */
    return false;
}

/* Plays the first ticks with the new code in a child process. False: they can't be played, and it is said why. What is
 * refused without playing passes: the program will see the same. */
static bool trial_passes(reef_hot_code *h, const hot_file *f)
{
    char why[REEF_HOT_TEXT_MAX / 2];
    if (h->desc.trial_ticks == 0) return true;
    const hot_trial_role role = hot_trial_fork(h->desc.trial_ms ? h->desc.trial_ms : 5000, why, sizeof why);
    if (role == HOT_TRIAL_FAILED) hot_say(h, "%s is refused: %s", h->watch.path, why);
    if (role != HOT_TRIAL_CHILD) return role == HOT_TRIAL_PASSED;
    h->on_trial = true;
    hot_trial_begin(h->world);
    reef_status s = REEF_OK;
    const bool used = file_use(h, f);
    while (h->replay && replay_poll(h, UINT64_MAX) == REEF_HOT_SAME) {}
    for (uint32_t i = 0; used && s >= 0 && i < h->desc.trial_ticks; i++) s = reef_tick(h->world, h->desc.trial_dt);
    if (s < 0) (void)reef_error_text(h->world, why, sizeof why);
    hot_trial_end(s < 0 ? why : NULL);
    return false;
}

reef_hot_event reef_hot_poll(reef_hot_code *h)
{
    char why[REEF_DETAIL_MAX];
    hot_file f;
    if (h == NULL) return REEF_HOT_SAME;
    h->text[0] = 0;
    if (!hot_watch_changed(&h->watch) && !h->waits)
        return h->replay ? replay_poll(h, h->desc.replay_ticks) : REEF_HOT_SAME;
    h->waits = false;
    if (!hot_file_read(&f, h->watch.path, why, sizeof why)) {
        hot_say(h, "%s", why);
        return h->again = true, REEF_HOT_REFUSED;
    }
    const bool same = h->newest && f.size == h->size && f.hash == h->hash && !h->again;
    const bool used = !same && trial_passes(h, &f) && file_use(h, &f);
    hot_file_drop(&f);
    if (!same) h->again = !used;
    return same ? REEF_HOT_SAME : used ? REEF_HOT_LOADED : REEF_HOT_REFUSED;
}

reef_hot_code *reef_hot_open(reef_world *w, const char *path, const reef_hot_desc *desc, char *reason)
{
    char unwanted[REEF_HOT_TEXT_MAX];
    hot_file f;
    bool ok = false;
    if (reason == NULL) reason = unwanted;
    reason[0] = 0;
    reef_hot_code *h = w && path ? calloc(1, sizeof *h) : NULL;
    if (h == NULL || !hot_watch_begin(&h->watch, path)) {
        (void)snprintf(reason, REEF_HOT_TEXT_MAX, h ? "the path is too long" : "no world, no path or no memory");
        return free(h), NULL;
    }
    h->world = w;
    if (desc) h->desc = *desc;
    if (h->desc.folder) (void)snprintf(h->folder, sizeof h->folder, "%s", h->desc.folder);
    else h->own_folder = hot_folder_make(h->folder, sizeof h->folder);
    h->desc.folder = NULL; /* it was copied */
    if (h->folder[0] == 0) (void)snprintf(reason, REEF_HOT_TEXT_MAX, "no folder can be made in $TMPDIR or /tmp");
    else if (hot_file_read(&f, path, reason, REEF_HOT_TEXT_MAX)) {
        ok = file_use(h, &f);
        hot_file_drop(&f);
        if (!ok) (void)snprintf(reason, REEF_HOT_TEXT_MAX, "%s", h->text);
    }
    if (ok) return h;
    hot_watch_end(&h->watch);
    if (h->own_folder) hot_folder_remove(h->folder);
    free(h);
    return NULL;
}

void reef_hot_history(reef_hot_code *h, reef_history *history, uint64_t replay)
{
    if (h == NULL) return;
    if (h->desc.history != history) replay_drop(h);
    h->desc.history = history;
    h->desc.replay = replay;
}

uint64_t reef_hot_replay_left(const reef_hot_code *h)
{
    const reef_replay_range r = reef_replay_reach(h ? h->replay : NULL);
    return r.end - r.tick;
}

const void *reef_hot_find(const reef_hot_code *h, const char *name)
{
    return h && h->newest && name ? hot_loader_find(h->newest->handle, name) : NULL;
}

const char *reef_hot_text(const reef_hot_code *h) { return h ? h->text : ""; }

void reef_hot_close(reef_hot_code *h)
{
    if (h == NULL) return;
    replay_drop(h);
    if (h->newest && reef_module_remove(h->world, h->name) >= 0) {
        if (h->newest->entry->close) (void)h->newest->entry->close(h->world);
        libraries_close(h, true);
    }
    for (hot_library *x = h->newest, *older; x; x = older) { /* they stay in memory */
        older = x->older;
        hot_file_remove(x->path);
        free(x);
    }
    hot_watch_end(&h->watch);
    if (h->own_folder) hot_folder_remove(h->folder);
    free(h);
}
