/* Copies of reef in one process: a program and its plug-in may each be linked with a library of its own. Each copy has
 * its own list of types, so what is type 5 to one may be another type to the other. Therefore a world is used only by
 * the copy that made it:
 *
 *     world.hot.library ──► the copy that made it         at the very beginning of a world, in every version of reef
 *     &reef__library    ──► the copy that this code is
 *
 * Every public function that takes a world asks WORLD_GIVEN first, and treats a world of another copy like NULL. The
 * other copy is told, since it alone knows the layout of its worlds, and records the error. */
#ifndef REEF_STORAGE_LIBRARY_H
#define REEF_STORAGE_LIBRARY_H

#include "base/platform.h"
#include "reef/detail/layout.h"

/* A copy of reef. Copies of different versions read this struct of each other, so members are only ever added. */
typedef struct reef_library {
    /* Records that another copy called this public function with a world of this one. The name is copied. */
    void (*refuse)(const reef_world *w, const char *function);
} reef_library;
extern const reef_library reef__library;

/* Is there a world, and did this copy of reef make it? A refusal names the function in which this stands. */
#define WORLD_GIVEN(w) (LIKELY((w) != NULL) && world_is_ours(w, __func__))

/* The same, for a part of a public function of another name. */
#define WORLD_GIVEN_TO(w, function) (LIKELY((w) != NULL) && world_is_ours(w, function))

/* The same for calls so short that asking would cost them 4 to 14% more instructions. In the release build only their
 * slow half asks. A copy that has made no world gets there nevertheless: its typed calls have no id to go on with
 * (reef_type_decl.shown). */
#if defined(REEF_CHECKED)
#define WORLD_GIVEN_SHORT(w) WORLD_GIVEN(w)
#else
#define WORLD_GIVEN_SHORT(w) ((w) != NULL)
#endif

/* Of a world of another copy: tells that copy. Always false. */
COLD bool reef__world_refused(const reef_world *w, const char *function);

INLINE bool world_is_ours(const reef_world *w, const char *function)
{
    if (LIKELY(((const reef_hot *)(const void *)w)->library == &reef__library)) return true;
    return reef__world_refused(w, function);
}

/* What the last error of a world of another copy says. */
#define OTHER_LIBRARY_TEXT "the world belongs to another copy of reef in this program"

#endif
