/* Reading the command line. */
#include "options.h"

#include "sea.h"

#include <string.h>

#ifndef LIVING_REEF_SPECIES
#define LIVING_REEF_SPECIES "examples/living_reef/species.csv"
#endif

enum { TICKS_MAX = 10000000, FISH_MIN = 10, SAVE_EVERY = 50 };

void options_help(FILE *file)
{
    fprintf(
        file,
        "usage: living_reef [options]\n"
        "\n"
        "Plays a closed ecosystem on a wrapped sea: nutrients, plankton, algae and detritus in cells of %d m, and "
        "fish\n"
        "that school, graze, hunt, burn energy, spawn, die and decay. Energy is counted in whole units, and their "
        "sum is\n"
        "checked in every tick.\n"
        "\n"
        "Half way the world is forked, and the largest species that eats other ones is taken out of one of the two "
        "futures:\n"
        "its fish die and become detritus. Both futures are then played side by side.\n"
        "\n"
        "  --species FILE   table of species; FILE's comments explain it\n"
        "                   (default: %s)\n"
        "  --size METRES    side of the sea, an even number from %d to %d (default: %d)\n"
        "  --fish N         scale the table's numbers to N fish (default: the table's numbers, in proportion to "
        "the area)\n"
        "  --seed N         another seed, another history (default: 1)\n"
        "  --ticks N        how long to play, 1 to %d (default: 1000)\n"
        "  --out DIR        where to put populations.csv and living_reef.svg (default: the current directory)\n"
        "  --one-future     don't fork the world (a table without a species that eats other ones is played so "
        "anyway)\n"
        "  --threads N      how many threads play, 1 to %d (default: one for each processor)\n"
        "  --save DIR       save what has been played in DIR, every %d ticks (--save-every N: another number) and at "
        "the end\n"
        "  --resume DIR     go on with what --save or --resume left in DIR, or from the start where nothing is "
        "there, and save\n"
        "                   there; with the same options otherwise. However often a run is killed and resumed, the "
        "files at its\n"
        "                   end are the same, byte for byte\n"
        "  --inspect        look inside with the browser while it runs: the address is printed "
        "(docs/manual/inspector.md).\n"
        "                   --inspect-port N: another port than 7272, 0 for any\n"
        "  --quiet          print nothing but errors\n"
        "  --leak-test N    lose one unit of energy in tick N, in both futures; the run must end there with an "
        "error and\n"
        "                   status 1\n"
        "  --help           this text\n"
        "\n"
        "The same table, size, fish, seed and ticks give the same two files, byte for byte, on every machine, with "
        "any number\n"
        "of threads. In populations.csv the column \"future\" says where a line belongs: both (up to the fork), with "
        "and without\n"
        "the species that was taken out, or only (--one-future). living_reef.svg opens in any browser.\n"
        "\n"
        "Time: in one tick a fish swims for one second at its real speed, but it ages much faster. A lifespan of y "
        "years\n"
        "lasts 600 x sqrt(y) ticks, so that a goby of two months (240 ticks) and a snapper of 55 years (4,450 "
        "ticks) can\n"
        "be watched side by side. Metabolism is given in percent of a full body's energy for 100 ticks. A full "
        "body holds\n"
        "1,600 units of energy, and 12,000 for each metre of length.\n"
        "\n"
        "Status: 0 for a whole run; 1 when energy was not conserved, memory ran out or a file couldn't be written; "
        "2 for\n"
        "a wrong option or table, and then nothing is written.\n",
        CELL_METRES, LIVING_REEF_SPECIES, SEA_METRES_MIN, SEA_METRES_MAX, SEA_METRES_DEFAULT, TICKS_MAX,
        REEF_THREADS_MAX, SAVE_EVERY);
}

static bool to_number(const char *text, uint64_t lowest, uint64_t highest, uint64_t *number)
{
    uint64_t value = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *number = value;
    return value >= lowest && value <= highest;
}

/* An option with a number: its name, its range, what is expected, and where its value goes. */
typedef struct number_option {
    const char *name, *expected;
    uint64_t lowest, highest;
    uint64_t *value;
} number_option;

static bool take_number(const number_option *known, const char *value, char *message, size_t message_size)
{
    if (to_number(value, known->lowest, known->highest, known->value)) return true;
    snprintf(message, message_size, "%s: expected %s, found \"%s\"", known->name, known->expected, value);
    return false;
}

static bool take_pair(options *o, const number_option *numbers, size_t number_count, const char *name,
                      const char *value, char *message, size_t message_size)
{
    bool text = strcmp(name, "--species") == 0 || strcmp(name, "--out") == 0 || strcmp(name, "--save") == 0 ||
                strcmp(name, "--resume") == 0;
    size_t i = 0;
    while (!text && i < number_count && strcmp(name, numbers[i].name) != 0) i++;
    if (!text && i == number_count) {
        snprintf(message, message_size, "%s: unknown option (--help lists them)", name);
        return false;
    }
    if (value == NULL || (text && *value == '\0')) {
        snprintf(message, message_size, "%s: expected a value", name);
        return false;
    }
    if (!text) return take_number(&numbers[i], value, message, message_size);
    if (strcmp(name, "--out") == 0) o->out = value;
    else if (strcmp(name, "--species") == 0) o->species = value;
    else o->save = value, o->resume = strcmp(name, "--resume") == 0;
    return true;
}

bool options_parse(options *o, int count, char *const *arguments, char *message, size_t message_size)
{
    uint64_t size = SEA_METRES_DEFAULT, ticks = 1000, fish = 0, leak = 0, seed = 1, threads = 0,
             save_every = SAVE_EVERY, port = 7272;
    const number_option numbers[] = {
        {"--size", "an even number from 16 to 4096", SEA_METRES_MIN, SEA_METRES_MAX, &size},
        {"--ticks", "a number from 1 to 10000000", 1, TICKS_MAX, &ticks},
        {"--fish", "a number from 10 to 16000000", FISH_MIN, SPECIES_TOTAL_MAX, &fish},
        {"--leak-test", "a tick from 1 to 10000000", 1, TICKS_MAX, &leak},
        {"--save-every", "a number from 1 to 10000000", 1, TICKS_MAX, &save_every},
        {"--threads", "a number from 1 to 64", 1, REEF_THREADS_MAX, &threads},
        {"--inspect-port", "a number from 0 to 65535", 0, 65535, &port},
        {"--seed", "a number from 0 to 18446744073709551615", 0, UINT64_MAX, &seed}};
    *o = (options){.species = LIVING_REEF_SPECIES, .out = "."};
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) o->help = true;
        else if (strcmp(name, "--quiet") == 0) o->quiet = true;
        else if (strcmp(name, "--one-future") == 0) o->one_future = true;
        else if (strcmp(name, "--inspect") == 0) o->inspect = true;
        else if (take_pair(o, numbers, sizeof numbers / sizeof numbers[0], name, arguments[i + 1], message,
                           message_size))
            i++;
        else return false;
    }
    if (size % 2 != 0) {
        snprintf(message, message_size, "--size: expected %s, found \"%u\"", numbers[0].expected, (unsigned)size);
        return false;
    }
    o->size = (uint32_t)size;
    o->ticks = (uint32_t)ticks;
    o->fish = (uint32_t)fish;
    o->threads = (uint32_t)threads;
    o->leak_tick = (uint32_t)leak;
    o->seed = seed;
    o->save_every = (uint32_t)save_every;
    o->inspect_port = (uint32_t)port;
    return true;
}
