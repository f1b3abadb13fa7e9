/* dive: the game in a window. `dive --help` explains. */
#include "app.h"
#include "draw.h"
#include "input.h"
#include "look.h"
#include "mixer.h"
#include "reload.h"
#include "script.h"
#include "several.h"
#include "stopwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DONE = 0, FAILED = 1, REFUSED = 2 };

static const char help[] =
    "dive                 opens the window\n"
    "dive --two           two players at one keyboard, each with half of the window, over a simulated line\n"
    "dive --host [IPV4]   hosts a dive for others, who reach this machine by this address, and prints an invitation\n"
    "dive --join LINE     joins a dive by its invitation\n"
    "\n"
    "  --port N           of the host, which others must reach (UDP; default: 4711)\n"
    "  --round MS, --loss PERCENT      of the simulated line (default: 100, 2); F1 to F4 change them\n"
    "  --full-screen\n"
    "  --size WxH         of the window (default: 1280x720)\n"
    "  --folder DIR       for the dive that goes on, and the scores (default: ~/.local/share/dive)\n"
    "  --forget           begins anew: doesn't go on with the last dive, and keeps nothing\n"
    "  --seed N           which sea\n"
    "  --threads N        default: as many as the machine has processors\n"
    "  --replay FILE      shows a recorded dive: game/replay.h; also one of several players, and dive-desync.reef, "
    "which\n"
    "                     --host and --join write when two worlds differ\n"
    "  --mute\n"
    "  --inspect          looks inside with the browser: the address is printed (docs/manual/inspector.md).\n"
    "                     --inspect-port N: another port than 7272, 0 for any\n"
    "  --hot COMMAND      changes the rules while the game goes on: when a file of --hot-sources DIR changes, the\n"
    "                     command builds --hot-library FILE, which takes over\n"
    "  --frames DIR       plays as if each frame took 1/60 second, and writes every sixth to DIR/000.bmp, DIR/001.bmp "
    "...\n"
    "  --times            prints at the end how long frames took\n"
    "  --script FILE      keys from a file instead of a player, and pictures: examples/dive/window/script.h\n";

typedef struct options {
    int wide, high;
    bool full_screen, mute, forget, times, inspect;
    uint16_t inspect_port;
    const char *folder, *script, *replay, *frames;
    reload_config hot; /* build NULL: the rules stay as they are */
    uint64_t seed;
    uint32_t threads;
    shared shared;
} options;

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "dive: %s%s\n", what, why);
    return FAILED;
}

static bool parse(options *o, int count, char **arguments)
{
    *o = (options){.wide = 1280, .high = 720, .seed = (uint64_t)time(NULL), .inspect_port = 7272};
    o->shared = (shared){.port = 4711, .round_ms = 100, .loss_percent = 2};
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--full-screen") == 0) o->full_screen = true;
        else if (strcmp(name, "--mute") == 0) o->mute = true;
        else if (strcmp(name, "--forget") == 0) o->forget = true;
        else if (strcmp(name, "--times") == 0) o->times = true;
        else if (strcmp(name, "--inspect") == 0) o->inspect = true;
        else if (strcmp(name, "--two") == 0) o->shared.two = true;
        else if (strcmp(name, "--host") == 0) {
            const bool given = value != NULL && value[0] != '-';
            o->shared.address = given ? value : "127.0.0.1";
            i += given;
        } else if (value == NULL) return false;
        else if (strcmp(name, "--join") == 0) o->shared.invitation = value, i++;
        else if (strcmp(name, "--port") == 0) o->shared.port = (uint16_t)strtoul(value, NULL, 10), i++;
        else if (strcmp(name, "--round") == 0) o->shared.round_ms = (uint32_t)strtoul(value, NULL, 10), i++;
        else if (strcmp(name, "--loss") == 0) o->shared.loss_percent = (uint32_t)strtoul(value, NULL, 10), i++;
        else if (strcmp(name, "--size") == 0 && sscanf(value, "%dx%d", &o->wide, &o->high) == 2) i++;
        else if (strcmp(name, "--folder") == 0) o->folder = value, i++;
        else if (strcmp(name, "--hot") == 0) o->hot.build = value, i++;
        else if (strcmp(name, "--hot-sources") == 0) o->hot.sources = value, i++;
        else if (strcmp(name, "--hot-library") == 0) o->hot.library = value, i++;
        else if (strcmp(name, "--frames") == 0) o->frames = value, i++;
        else if (strcmp(name, "--script") == 0) o->script = value, i++;
        else if (strcmp(name, "--replay") == 0) o->replay = value, o->forget = true, i++;
        else if (strcmp(name, "--seed") == 0) o->seed = strtoull(value, NULL, 10), i++;
        else if (strcmp(name, "--inspect-port") == 0) o->inspect_port = (uint16_t)strtoul(value, NULL, 10), i++;
        else if (strcmp(name, "--threads") == 0) o->threads = (uint32_t)strtoul(value, NULL, 10), i++;
        else return false;
    }
    o->shared.seed = o->seed;
    if (!o->hot.build != !o->hot.sources || !o->hot.build != !o->hot.library) return false;
    if (o->shared.two + (o->shared.address != NULL) + (o->shared.invitation != NULL) > 1) return false;
    return o->wide >= 200 && o->high >= 200 && o->wide <= 8192 && o->high <= 8192;
}

/* Makes the folders of a path. */
static bool make_folder(char *path)
{
    for (char *slash = path + 1;; slash++) {
        if (*slash != '/' && *slash != '\0') continue;
        char was = *slash;
        *slash = '\0';
        bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = was;
        if (!good || was == '\0') return good;
    }
}

/* Where dives are kept; NULL: nowhere. */
static const char *find_folder(const options *o)
{
    static char path[400];
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (o->forget) return NULL;
    if (o->folder != NULL) snprintf(path, sizeof path, "%s", o->folder);
    else if (data != NULL && data[0] != '\0') snprintf(path, sizeof path, "%s/dive", data);
    else if (home != NULL) snprintf(path, sizeof path, "%s/.local/share/dive", home);
    else return NULL;
    return make_folder(path) ? path : NULL;
}

/* ---- looking inside: --inspect ---- */

typedef struct watching {
    app *a;
    look *look;
    reload *reload; /* --hot */
} watching;

/* What the player did in this tick; in one that wasn't played yet, what she did last. */
static Input watched_input(void *context, reef_world *w)
{
    const session *s = &((watching *)context)->a->play;
    const uint64_t back = s->tick - reef_tick_count(w);
    if (back > 0 && back <= s->inputs.count) return s->inputs.inputs[s->inputs.count - back];
    Input in = *reef_single_get(w, Input);
    in.pick = 0, in.rewound = 0;
    return in;
}

static reef_status watched_next(void *context)
{
    session *s = &((watching *)context)->a->play;
    return session_tick(s, watched_input(context, s->now.world)) ? REEF_OK : REEF_NO_MEMORY;
}

static void watched_ticked(void *context)
{
    watching *x = context;
    look_turn_to(x->look, x->a->play.now.world);
    look_tick(x->look);
}

static void watched_leaves(void *context)
{
    const watching *x = context;
    look_turn_to(x->look, NULL);
    reload_leave(x->reload);
}

static bool watch_begin(watching *x, app *a, const options *o)
{
    char why[REEF_DETAIL_MAX] = "";
    const look_config config = {.port = o->inspect_port, .input = watched_input, .next = watched_next, .context = x};
    x->look = look_begin(a->play.now.world, &config, why);
    if (x->look == NULL) return complain("--inspect: ", why), false;
    return true;
}

/* ---- changing the rules: --hot ---- */

static void reload_replayed(void *context, reef_replay *r) { look_replayed(((watching *)context)->look, r); }

static bool reload_ready(watching *x, const options *o)
{
    char why[200] = "";
    reload_config config = o->hot;
    config.replayed = reload_replayed;
    config.context = x;
    x->reload = reload_begin(&config, why);
    if (x->reload != NULL) fprintf(stderr, "dive: the dive begins\n");
    return x->reload != NULL || complain("--hot: ", why) == DONE;
}

/* How long frames took: all of it, and the game's part without drawing. */
static stopwatch whole, core;

static bool loop(app *a, SDL_Window *window, script *from, watching *x, const char *frames)
{
    controls c = {0};
    uint32_t pictured = 0;
    Uint64 last = SDL_GetPerformanceCounter();
    while (!a->quit) {
        int wide, high;
        if (!input_read(&c)) return true;
        Uint64 now = SDL_GetPerformanceCounter();
        float dt = (float)(now - last) / (float)SDL_GetPerformanceFrequency();
        last = now;
        if (from != NULL || frames != NULL) dt = 1.0f / TICKS_PER_SECOND;
        if (from != NULL && !script_frame(from, &c)) return true;
        a->blind = from != NULL && whole.most == 0 && !script_wants_picture(from);
        SDL_GL_GetDrawableSize(window, &wide, &high);
        stopwatch_begin(&whole);
        stopwatch_begin(&core);
        reload_frame(x->reload, &a->play);
        a->notice = reload_text(x->reload, &a->notice_wrong);
        if (!app_frame(a, &c, dt, (float)wide / (float)high)) return false;
        stopwatch_end(&core);
        if (from != NULL) script_tell(from, a);
        look_turn_to(x->look, a->play.now.world);
        look_tick(x->look);
        if (a->blind) continue;
        draw_frame(&a->frame, wide, high);
        if (from != NULL && !script_picture(from, wide, high)) return false;
        if (frames != NULL && pictured++ % 6 == 0) {
            char path[500];
            snprintf(path, sizeof path, "%s/%03u.bmp", frames, (unsigned)(pictured / 6));
            if (!draw_picture(path, wide, high)) return false;
        }
        SDL_GL_SwapWindow(window);
        mixer_play(a->sounds, a->sound_count);
        stopwatch_end(&whole);
    }
    return true;
}

static void print_times(void)
{
    const char *names[] = {"frames: ", "of these the game: "};
    stopwatch *watches[] = {&whole, &core};
    for (int i = 0; i < 2; i++) {
        printf("%s", names[i]);
        if (watches[i]->count > 0) stopwatch_print(watches[i]);
        printf("\n");
        stopwatch_free(watches[i]);
    }
}

static bool read_recording(const char *path, replay *r)
{
    uint64_t line = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return complain("can't read ", path) == DONE;
    bool good = replay_read(r, file, &line);
    fclose(file);
    if (!good) fprintf(stderr, "dive: %s: line %u can't be understood\n", path, (unsigned)line);
    return good;
}

static bool is_shared(const options *o)
{
    return o->shared.two || o->shared.address != NULL || o->shared.invitation != NULL;
}

static int run(const options *o)
{
    static app a;
    watching watcher = {&a, NULL, NULL};
    replay recording = {0};
    const bool shared_past = o->replay != NULL && shared_recorded(o->replay);
    if (o->replay != NULL && !shared_past && !read_recording(o->replay, &recording)) return FAILED;
    const char *why = "";
    script *from = NULL;
    if (o->script != NULL && (from = script_open(o->script)) == NULL) return complain("can't read ", o->script);
    if (SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER) != 0) return complain("SDL: ", SDL_GetError());
    SDL_Window *window = draw_open(o->wide, o->high, o->full_screen, &why);
    if (window == NULL) return complain("no window: ", why);
    SDL_GL_SetSwapInterval(from == NULL ? 1 : 0);
    if (!o->mute) mixer_open(); /* without sound the game is played in silence */
    reef_pool *pool = o->threads == 1 ? NULL : reef_pool_new(&(reef_pool_config){.threads = o->threads});
    if (is_shared(o) || shared_past) {
        const bool played =
            shared_past ? shared_replay(o->replay, window, pool, from) : shared_play(&o->shared, window, pool, from);
        reef_pool_free(pool);
        mixer_close();
        draw_close(window);
        script_close(from);
        SDL_Quit();
        return played ? DONE : FAILED;
    }
    bool good = app_begin(&a, o->seed, pool, find_folder(o));
    if (good && o->replay != NULL) good = app_watch(&a, &recording);
    if (o->times && !(stopwatch_new(&whole, 1000000) && stopwatch_new(&core, 1000000))) good = false;
    bool looks = !good || !o->inspect || watch_begin(&watcher, &a, o); /* otherwise it has said why not */
    if (good && looks && o->hot.build != NULL) looks = reload_ready(&watcher, o);
    a.play.ticked = watched_ticked, a.play.leaves = watched_leaves, a.play.watcher = &watcher;
    if (good && looks) good = loop(&a, window, from, &watcher, o->frames);
    if (good && o->times) print_times();
    if (!good) complain("out of memory, or the folder can't be written", "");
    app_end(&a);
    look_end(watcher.look);
    reload_end(watcher.reload);
    replay_free(&recording);
    reef_pool_free(pool);
    mixer_close();
    draw_close(window);
    script_close(from);
    SDL_Quit();
    return good && looks ? DONE : FAILED;
}

int main(int count, char **arguments)
{
    options o;
    if (count == 2 && strcmp(arguments[1], "--help") == 0) return fputs(help, stdout) < 0;
    if (!parse(&o, count, arguments)) return complain("wrong arguments; see --help", ""), REFUSED;
    return run(&o);
}
