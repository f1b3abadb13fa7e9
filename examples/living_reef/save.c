/* Saving futures and loading them again. A Run in each file says which run it belongs to. */
#define _POSIX_C_SOURCE 200809L
#include "save.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 1200 };

static bool file_of(const options *o, bool without, char *path)
{
    int n = snprintf(path, PATH_BYTES, "%s/%s", o->save, without ? "without.reef" : "with.reef");
    return n > 0 && n < PATH_BYTES;
}

bool save_begin(const options *o, char *message, size_t message_size)
{
    char path[PATH_BYTES];
    if (o->save == NULL || ((mkdir(o->save, 0777) == 0 || errno == EEXIST) && file_of(o, true, path))) return true;
    snprintf(message, message_size, "%s: can't be made: %s", o->save, strerror(errno));
    return false;
}

/* ---- which run it is ---- */

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ p[i]) * 0x100000001B3u; /* FNV-1a */
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++) hash = (hash ^ (number >> 8 * i & 255)) * 0x100000001B3u;
    return hash;
}

/* Returns a hash of everything that the rules follow from. */
static uint64_t table_number(const species_table *t)
{
    uint64_t hash = mix_number(0xCBF29CE484222325u, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        const species *s = &t->of[i];
        const uint64_t numbers[] = {s->trophic_hundredths,
                                    (uint64_t)(double)(s->length * 1000.0f),
                                    (uint64_t)(double)(s->speed * 1000.0f),
                                    s->metabolism_thousandths,
                                    s->clutch,
                                    s->foods,
                                    s->prey,
                                    s->number,
                                    s->span,
                                    s->mature,
                                    (uint64_t)s->full,
                                    (uint64_t)s->newborn,
                                    (uint64_t)s->burn};
        hash = mix_bytes(hash, s->scientific, strlen(s->scientific) + 1);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) hash = mix_number(hash, numbers[k]);
    }
    return hash;
}

static Run run_of(const future *f, const options *o)
{
    return (Run){.seed = o->seed,
                 .table = table_number(f->e.table),
                 .size = o->size,
                 .ticks = o->ticks,
                 .one_future = o->one_future,
                 .removed = f->removed,
                 .energy = f->e.energy};
}

/* Returns which of the options differs; NULL: none. */
static const char *run_differs(const Run *was, const Run *is)
{
    return was->seed != is->seed               ? "--seed"
           : was->size != is->size             ? "--size"
           : was->ticks != is->ticks           ? "--ticks"
           : was->one_future != is->one_future ? "--one-future"
           : was->table != is->table           ? "the table of species (--species, --fish)"
                                               : NULL;
}

/* ---- saving ---- */

/* Saves a fork of the world: the fork loses what is valid for this process alone, and gets the Run. The world itself
 * isn't touched. */
static bool save_future(future *f, const options *o)
{
    char path[PATH_BYTES];
    const Run run = run_of(f, o);
    reef_world *aside = reef_fork(f->e.world);
    if (aside == NULL) return ecosystem_refused(&f->e, "saving");
    bool good = file_of(o, f->removed != SPECIES_MAX, path) && reef_single_remove(aside, Sight) == REEF_OK &&
                reef_single_remove(aside, Rules) == REEF_OK &&
                reef_single_set_id(aside, reef_id(Run), &run, sizeof run) >= 0 &&
                reef_save(aside, path, NULL) == REEF_OK;
    if (!good) {
        int n = snprintf(f->e.error, sizeof f->e.error, "saving: ");
        reef_error_text(aside, f->e.error + n, sizeof f->e.error - (size_t)n);
    }
    reef_world_free(aside);
    return good;
}

bool save_due(future *f, const options *o)
{
    const uint32_t tick = ecosystem_ticks(&f->e);
    return o->save == NULL || (tick % o->save_every != 0 && tick != o->ticks) || save_future(f, o);
}

/* ---- loading ---- */

static save_found refuse(future *f, const char *path, const char *what)
{
    snprintf(f->e.error, sizeof f->e.error, "%.80s: %.400s", path, what);
    return SAVE_FAILED;
}

save_found save_load(future *f, bool without, const species_table *table, const options *o, reef_pool *pool)
{
    char path[PATH_BYTES], text[400];
    struct stat status;
    if (!file_of(o, without, path) || stat(path, &status) != 0) return SAVE_NOTHING;
    if (!ecosystem_empty(&f->e, table, o->size, o->seed, pool)) return SAVE_FAILED;
    if (reef_load(f->e.world, path, NULL) != REEF_OK) {
        reef_error_text(f->e.world, text, sizeof text);
        return refuse(f, path, text);
    }
    const Run *found = reef_single_get(f->e.world, Run);
    if (found == NULL) return refuse(f, path, "this is a file of another program");
    const Run was = *found, is = run_of(f, o);
    const char *other = run_differs(&was, &is);
    f->removed = was.removed;
    if (other != NULL) {
        snprintf(text, sizeof text, "it was saved by a run with other options: %s must be as it was", other);
        return refuse(f, path, text);
    }
    if (reef_single_remove(f->e.world, Run) != REEF_OK) return ecosystem_refused(&f->e, "loading"), SAVE_FAILED;
    return ecosystem_wake(&f->e, was.energy) ? SAVE_LOADED : SAVE_FAILED;
}
