#include "ledger.h"

#include <inttypes.h>
#include <stdio.h>

void ledger_count(ledger *books, const sea *water, reef_world *world, reef_query bodies)
{
    for (int l = 0; l < LAYERS; l++) books->layer[l] = sea_layer_energy(water, (layer)l);
    int64_t sum = 0;
    for (reef_block b = reef_begin(world, bodies); reef_next(&b);) {
        const Energy *energy = reef_in(&b, Energy);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) sum += energy[i].units;
    }
    books->fish = sum;
}

static int64_t counted(const ledger *books)
{
    int64_t sum = books->fish;
    for (int l = 0; l < LAYERS; l++) sum += books->layer[l];
    return sum;
}

void ledger_open(ledger *books) { books->total = counted(books); }

bool ledger_check(const ledger *books, uint32_t tick, char *message, size_t message_size)
{
    int64_t difference = counted(books) - books->total;
    if (difference == 0) return true;
    snprintf(message, message_size,
             "energy is not conserved: in tick %" PRIu32 " there are %" PRId64 " units %s than the %" PRId64
             " at the start",
             tick, difference < 0 ? -difference : difference, difference < 0 ? "less" : "more", books->total);
    return false;
}
