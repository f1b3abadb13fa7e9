/* living_reef: a closed ecosystem on reef. `living_reef --help` explains. */
#include "ecosystem.h"
#include "options.h"
#include "output.h"
#include "picture.h"
#include "record.h"
#include "report.h"

#include <stdio.h>

enum { RAN = 0, FAILED = 1, REFUSED = 2 };

enum { FISH_OF_CELL_MAX = 500 };

static int complain(const char *message, int status)
{
    fprintf(stderr, "living_reef: %s\n", message);
    return status;
}

/* Brings the table's numbers to this sea. False: there would be more fish than cells can feed and 32 bits can count. */
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

/* Takes the samples and maps that are due. */
static bool record_tick(record *r, ecosystem *e, uint32_t ticks)
{
    bool due = e->tick % SAMPLE_TICKS == 0 || e->tick == ticks;
    if (due && !record_sample(r, e)) return false;
    if (e->tick == 0 && !record_map(r, 0, e)) return false;
    if (e->tick == ticks / 2 && !record_map(r, 1, e)) return false;
    return e->tick != ticks || record_map(r, 2, e);
}

static bool play(ecosystem *e, record *r, report *screen, const options *o)
{
    report_start(screen, o->ticks, o->quiet);
    bool recorded = record_tick(r, e, o->ticks), good = true;
    while (recorded && good && e->tick < o->ticks) {
        if (e->tick + 1 == o->leak_tick) sea_leak(&e->water);
        good = ecosystem_tick(e);
        if (!good) break;
        recorded = record_tick(r, e, o->ticks);
        report_tick(screen, e);
    }
    report_end(screen);
    if (!recorded) ecosystem_refused(e, "recording");
    return recorded && good;
}

static bool write_files(output *files, const record *r, const ecosystem *e, const options *o, char *message,
                        size_t size)
{
    record_write(r, &e->table, files->file[OUTPUT_POPULATIONS]);
    if (!picture_write(r, &e->table, o->size, o->seed, files->file[OUTPUT_PICTURE])) {
        snprintf(message, size, "drawing the picture: no memory");
        return false;
    }
    return output_commit(files, message, size);
}

static int run(const options *o, const species_table *table)
{
    static ecosystem e;
    static record    taken;
    static output    files;
    report           screen;
    char             message[1400];
    if (!output_open(&files, o->out, message, sizeof message)) return complain(message, FAILED);
    int status = RAN;
    if (!ecosystem_new(&e, table, o->size, o->seed) || !play(&e, &taken, &screen, o)) {
        status = complain(e.error, FAILED);
    } else if (!write_files(&files, &taken, &e, o, message, sizeof message)) {
        status = complain(message, FAILED);
    } else {
        report_table(&screen, &taken, &e);
    }
    output_discard(&files);
    record_free(&taken);
    ecosystem_free(&e);
    return status;
}

int main(int count, char **arguments)
{
    static species_table table;
    options              o;
    char                 message[1400];
    if (!options_parse(&o, count, arguments, message, sizeof message)) return complain(message, REFUSED);
    if (o.help) {
        options_help(stdout);
        return RAN;
    }
    if (!species_load(&table, o.species, message, sizeof message)) return complain(message, REFUSED);
    if (!scale(&table, &o, message, sizeof message)) return complain(message, REFUSED);
    return run(&o, &table);
}
