/* living_reef: a closed ecosystem on reef. `living_reef --help` explains. */
#include "future.h"
#include "look.h"
#include "options.h"
#include "output.h"
#include "picture.h"
#include "report.h"
#include "save.h"
#include "stop.h"

#include <stdio.h>

enum { RAN = 0, FAILED = 1, REFUSED = 2 };

enum { FISH_OF_CELL_MAX = 500 };

static int complain(const char *message, int status)
{
    fprintf(stderr, "living_reef: %s\n", message);
    return status;
}

/* Scales the table's numbers to this sea. False: there would be more fish than the cells can feed or 32 bits can
 * count. */
static bool scale(species_table *table, const options *o, char *message, size_t message_size)
{
    uint64_t area = (uint64_t)o->size * o->size, usual = (uint64_t)SEA_METRES_DEFAULT * SEA_METRES_DEFAULT;
    uint64_t most = area / (CELL_METRES * CELL_METRES) * FISH_OF_CELL_MAX;
    if (most > SPECIES_TOTAL_MAX) most = SPECIES_TOTAL_MAX;
    uint64_t fish = o->fish > 0 ? o->fish : species_total(table) * area / usual;
    if (fish != species_total(table)) species_scale(table, fish > most ? (uint32_t)most + 1 : (uint32_t)fish);
    if (species_total(table) <= most) return true;
    snprintf(message, message_size, "expected at most %u fish on a sea of %u m (--size, --fish)", (unsigned)most,
             (unsigned)o->size);
    return false;
}

/* What is played. `without` exists only from the fork on. */
typedef struct futures {
    future with, without;
    bool forked;
} futures;

/* Begins at the start, or goes on from the saves; after the fork, both futures were saved. */
static bool begin(futures *f, const species_table *table, const options *o, reef_pool *pool)
{
    save_found found = o->resume ? save_load(&f->with, false, table, o, pool) : SAVE_NOTHING;
    if (found == SAVE_NOTHING) return future_new(&f->with, table, o, pool);
    if (found == SAVE_FAILED || o->one_future || ecosystem_ticks(&f->with.e) <= o->ticks / 2)
        return found == SAVE_LOADED;
    found = save_load(&f->without, true, table, o, pool);
    f->forked = found == SAVE_LOADED;
    if (found == SAVE_NOTHING)
        snprintf(f->without.e.error, sizeof f->without.e.error, "%s: its file is missing", o->save);
    return f->forked;
}

static bool play(futures *f, report *screen, const species_table *table, const options *o, reef_pool *pool)
{
    uint32_t removed = o->one_future ? SPECIES_MAX : species_largest_hunter(table);
    if (!begin(f, table, o, pool) || !look_begin(&f->with.e, o)) return false;
    report_start(screen, o->ticks, ecosystem_ticks(&f->with.e), o->quiet);
    if (removed == SPECIES_MAX) return future_play(&f->with, o, o->ticks, screen) && future_take(&f->with, o);
    if (!f->forked && !future_play(&f->with, o, o->ticks / 2, screen)) return false;
    if (!f->forked && !future_fork(&f->without, &f->with, removed, screen)) return false;
    f->forked = true;
    return future_play_both(&f->with, &f->without, o, screen) && future_take(&f->with, o) &&
           future_take(&f->without, o);
}

static void complain_of(const futures *f)
{
    char message[600];
    if (f->with.e.error[0] != '\0') complain(f->with.e.error, FAILED);
    if (f->without.e.error[0] == '\0') return;
    snprintf(message, sizeof message, "the other future: %s", f->without.e.error);
    complain(message, FAILED);
}

static bool write_files(output *files, const futures *f, const options *o, char *message, size_t size)
{
    const ecosystem *e = &f->with.e;
    const record *with = &f->with.taken, *without = f->forked ? &f->without.taken : NULL;
    record_write(with, without, e->table, files->file[OUTPUT_POPULATIONS]);
    if (!picture_write(with, without, e->table, o->size, o->seed, files->file[OUTPUT_PICTURE])) {
        snprintf(message, size, "drawing the picture: no memory");
        return false;
    }
    return output_commit(files, message, size);
}

static int run(const options *o, const species_table *table)
{
    static futures f;
    static output files;
    report screen = {.quiet = true};
    char message[1400];
    reef_pool *pool = NULL;
    if (!save_begin(o, message, sizeof message)) return complain(message, FAILED);
    if (!output_open(&files, o->out, OUTPUT_FILES, message, sizeof message)) return complain(message, FAILED);
    stop_watch();
    /* NULL: only this thread plays */
    if (o->threads != 1) pool = reef_pool_new(&(reef_pool_config){.threads = o->threads});
    int status = RAN;
    bool good = play(&f, &screen, table, o, pool);
    report_end(&screen);
    look_end();
    if (!good) {
        complain_of(&f);
        status = FAILED;
    } else if (!write_files(&files, &f, o, message, sizeof message)) {
        status = complain(message, FAILED);
    } else {
        report_table(&screen, &f.with, f.forked ? &f.without : NULL);
        if (!o->quiet)
            printf("\nevery sample is in      %s\nthe picture is in       %s\n", files.name[OUTPUT_POPULATIONS],
                   files.name[OUTPUT_PICTURE]);
    }
    output_discard(&files);
    future_free(&f.without);
    future_free(&f.with);
    reef_pool_free(pool);
    return status;
}

int main(int count, char **arguments)
{
    static species_table table;
    options o;
    char message[1400];
    if (!options_parse(&o, count, arguments, message, sizeof message)) return complain(message, REFUSED);
    if (o.help) {
        options_help(stdout);
        return RAN;
    }
    if (!species_load(&table, o.species, message, sizeof message)) return complain(message, REFUSED);
    if (!scale(&table, &o, message, sizeof message)) return complain(message, REFUSED);
    return run(&o, &table);
}
