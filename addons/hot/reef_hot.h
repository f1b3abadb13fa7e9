/* reef and code that is compiled while the program runs: a module in a shared library, which replaces itself by the
 * version that the compiler has just written, between two ticks.
 *
 * The library, of which the rules of a game are an example, exports its module (reef/module.h):
 *
 *     static const reef_module rules = {.name = "rules", .version = 1, .load = load};
 *     REEF_HOT_LIBRARY(&rules);
 *
 * The program:
 *
 *     reef_hot_code *hot = reef_hot_open(world, "build/rules.so", NULL, reason);
 *     for (;;) {
 *         if (reef_hot_poll(hot) != REEF_HOT_SAME) puts(reef_hot_text(hot));
 *         reef_tick(world, dt);
 *     }
 *     reef_hot_close(hot);
 *
 * The world, its entities and all handles stay what they are, and what the module has made is replaced by name, as
 * reef_code_use (reef/code.h) says. If anything is refused, the old code goes on. docs/manual/hot-reload.md explains
 * how such a library is compiled, and what it must not do.
 *
 * This is a separate library, which uses only reef's public headers. No other thread may use reef during these
 * calls. */
#ifndef REEF_HOT_H
#define REEF_HOT_H

#include "reef.h"
#include "reef/code.h"
#include "reef/history.h"
#include "reef/hooks.h"
#include "reef/observer.h"
#include "reef/replay.h"
#include "reef/term.h"

REEF_BEGIN_C

/* ---- in the library ---- */

enum { REEF_HOT_SIZES = 12 };

/* What a library says about itself. REEF_HOT_LIBRARY fills it. It is read from the file before the library is opened,
 * so that one which was compiled for another reef never runs. */
typedef struct reef_hot_library {
    unsigned char mark[16];
    uint32_t version;               /* of reef: (major * 256 + minor) * 256 + patch */
    uint32_t checked;               /* 1: compiled for the checked build */
    uint32_t sizes[REEF_HOT_SIZES]; /* of what both sides read */
    const reef_module *module;
    /* Both may be NULL. When new code takes over, the static variables of the old code are lost. `close` of the old
     * code, which is called first, returns what they hold, and `open` of the new code gets it; after reef_hot_open and
     * before reef_hot_close it is NULL, and the answer of the last `close` is dropped. Neither can refuse. */
    void *(*close)(reef_world *world);
    void (*open)(reef_world *world, void *kept);
} reef_hot_library;

#define REEF_HOT_MARK_ \
    { \
        0xEF, 'r', 'e', 'e', 'f', ' ', 'h', 'o', 't', ' ', 'c', 'o', 'd', 'e', 1, 0xFE \
    }
#define REEF_HOT_VERSION_ ((REEF_VERSION_MAJOR * 256u + REEF_VERSION_MINOR) * 256u + REEF_VERSION_PATCH)
#if defined(REEF_CHECKED)
#define REEF_HOT_CHECKED_ 1u
#else
#define REEF_HOT_CHECKED_ 0u
#endif
#define REEF_HOT_SIZE_(T) REEF_CAST(uint32_t, sizeof(T))
#define REEF_HOT_SIZES_ \
    { \
        REEF_HOT_SIZE_(void *), REEF_HOT_SIZE_(reef_type_decl), REEF_HOT_SIZE_(reef_module), \
            REEF_HOT_SIZE_(reef_system_desc), REEF_HOT_SIZE_(reef_observer_desc), REEF_HOT_SIZE_(reef_script_class), \
            REEF_HOT_SIZE_(reef_hooks), REEF_HOT_SIZE_(reef_field), REEF_HOT_SIZE_(reef_block), \
            REEF_HOT_SIZE_(reef_notice), REEF_HOT_SIZE_(reef_query_desc), REEF_HOT_SIZE_(reef_value) \
    }

#if defined(_WIN32)
#define REEF_HOT_EXPORT_ __declspec(dllexport)
#else
#define REEF_HOT_EXPORT_ __attribute__((visibility("default")))
#endif
#if defined(__cplusplus)
#define REEF_HOT_C_ extern "C"
#define REEF_HOT_DECLARE_C_ extern "C"
#else
#define REEF_HOT_DECLARE_C_ extern
#define REEF_HOT_C_
#endif

/* Exports a module from a library; once in each. Behind the module there may be other members of reef_hot_library:
 *     REEF_HOT_LIBRARY(&rules, .close = keep, .open = go_on);
 * Some C++ compilers warn unless all three are there. */
#define REEF_HOT_LIBRARY(...) \
    REEF_HOT_DECLARE_C_ REEF_HOT_EXPORT_ const reef_hot_library reef_hot_library_of_this; \
    REEF_HOT_C_ REEF_HOT_EXPORT_ const reef_hot_library reef_hot_library_of_this = {.mark = REEF_HOT_MARK_, \
                                                                                    .version = REEF_HOT_VERSION_, \
                                                                                    .checked = REEF_HOT_CHECKED_, \
                                                                                    .sizes = REEF_HOT_SIZES_, \
                                                                                    .module = __VA_ARGS__}

/* ---- in the program ---- */

/* A library that is watched. */
typedef struct reef_hot_code reef_hot_code;

/* Settings; {0}: all defaults. */
typedef struct reef_hot_desc {
    bool lose_values, refuse_undescribed; /* as in reef_code_settings (reef/code.h) */
    /* where copies of the library are put, since the compiler writes the next one where this one was; NULL: a folder of
     * its own in $TMPDIR or /tmp, which reef_hot_close removes */
    const char *folder;
    /* The last ticks are played again when new code takes over: from the state of `replay` ticks ago, or the oldest one
     * that the history has, with the recorded inputs. This is done on a fork (reef/replay.h), a few ticks in each
     * reef_hot_poll, while the world goes on with the new code. What it plays meanwhile is played again, too; then the
     * world becomes what it would have been with the new code. If that isn't possible, the new code is used all the
     * same, and the text says why: a tick fails, or it isn't known what the inputs are, since they have bytes and the
     * history has no reef_history_config.input. 0: nothing is played again */
    reef_history *history;
    uint64_t replay;
    /* At most so many of these ticks in one reef_hot_poll, but always more than the world has played since the last
     * one; 0: as many as are played in 4 ms */
    uint32_t replay_ticks;
    /* Called when all of them have been played, before the world becomes what they led to: the replay has these states,
     * and its history those of before. Not in a trial. With the inspector: reef_inspector_replayed. May be NULL */
    void (*replayed)(void *context, reef_replay *replay);
    void *context; /* for replayed */
    /* A trial before new code is used, on Linux; 0: none. A child process (fork) uses it and plays this many ticks with
     * `trial_dt` seconds each, on one thread, in at most `trial_ms` milliseconds (0: 5,000). If it crashes, fails an
     * assertion, makes a mistake that the checked build reports, or doesn't end, the library is refused, and the text
     * names the system and the address in the library (for addr2line). What the code does outside of the world (files,
     * sockets) happens in the trial, too */
    uint32_t trial_ticks, trial_ms;
    float trial_dt;
} reef_hot_desc;

/* What reef_hot_poll has found. */
typedef enum reef_hot_event {
    REEF_HOT_SAME = 0, /* nothing has changed */
    REEF_HOT_LOADED,   /* the new code is in use */
    REEF_HOT_REFUSED,  /* the old code goes on, and the text says why */
    REEF_HOT_REPLAYED, /* the last ticks were played again, and the world is what they led to */
    REEF_HOT_KEPT      /* they can't be played again: the world stays as it is, and the text says why */
} reef_hot_event;

/* Opens the library at this path, which must be there, uses its module in the world, and watches it from now on. The
 * caller owns the result, and closes it before the world is freed. NULL on failure, and `reason` (may be NULL; room for
 * REEF_HOT_TEXT_MAX bytes) says why. */
reef_hot_code *reef_hot_open(reef_world *world, const char *path, const reef_hot_desc *desc, char *reason);

/* Looks whether there is another library at the path, and if so, uses it; otherwise it goes on with playing the last
 * ticks again, if they are. To be called between two ticks. A library
 * that can't be used changes nothing: one that isn't whole, was compiled for another reef or for the other one of
 * checked and unchecked build, exports no module or one of another name, has names that aren't found, or is refused by
 * reef_code_use. Nothing is done while a loop is open or a tick runs. Costs one call of the system if there is nothing
 * new. */
reef_hot_event reef_hot_poll(reef_hot_code *hot);

/* From now on these are the settings of reef_hot_desc: another history, because the program has made another one, or
 * NULL; and how many ticks are played again. With another history nothing of the one before is played any more. */
void reef_hot_history(reef_hot_code *hot, reef_history *history, uint64_t replay);

enum { REEF_HOT_TEXT_MAX = 1024 };
/* What the last call did, in one or several lines. The text lives until the next call. NULL: "". */
const char *reef_hot_text(const reef_hot_code *hot);

/* How many of the last ticks are still to be played again. */
uint64_t reef_hot_replay_left(const reef_hot_code *hot);

/* The address of something else that the library in use exports, by its name; NULL: it exports nothing of that name. It
 * lives until new code is in use. */
const void *reef_hot_find(const reef_hot_code *hot, const char *name);

/* How many libraries are open: the one in use, and older ones that something still leads into. */
uint32_t reef_hot_libraries(const reef_hot_code *hot);

/* Ends watching, removes the module from the world, and closes the library. What something still leads into (values
 * with its hooks, snapshots with its systems) stays in memory until the program ends. If the module can't be removed,
 * because another one needs it or a loop is open, it stays, and so does the library. NULL is allowed. */
void reef_hot_close(reef_hot_code *hot);

REEF_END_C

#endif
