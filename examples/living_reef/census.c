/* The systems that count: each job counts its own rows, and reef adds up the parts. */
#include "census.h"

#include <string.h>

int64_t census_energy(const reef_world *w)
{
    const Stock *stock = reef_single_get(w, Stock);
    int64_t sum = reef_single_get(w, Census)->energy;
    for (int l = 0; l < LAYERS; l++) sum += stock->layer[l];
    return sum;
}

void forget(reef_block *b)
{
    memset(reef_single_mut(b->world, Census), 0, sizeof(Census));
    memset(reef_single_mut(b->world, Stock), 0, sizeof(Stock));
}

void count_fish(reef_block *b)
{
    const Species *kind = reef_in(b, Species);
    const Energy *energy = reef_in(b, Energy);
    Census *part = reef_part(b, Census);
    part->fish += b->count;
    for (uint32_t i = 0; i < b->count; i++) {
        part->population[kind[i].index]++;
        part->energy += energy[i].units;
    }
}

void add_fish(void *total, const void *part)
{
    Census *all = total;
    const Census *some = part;
    all->fish += some->fish;
    all->energy += some->energy;
    for (uint32_t i = 0; i < SPECIES_MAX; i++) all->population[i] += some->population[i];
}

void count_water(reef_block *b)
{
    const Water *water = reef_in(b, Water);
    Stock *part = reef_part(b, Stock);
    for (uint32_t i = 0; i < b->count; i++)
        for (int l = 0; l < LAYERS; l++) part->layer[l] += water[i].of[l];
}

void add_water(void *total, const void *part)
{
    for (int l = 0; l < LAYERS; l++) ((Stock *)total)->layer[l] += ((const Stock *)part)->layer[l];
}
