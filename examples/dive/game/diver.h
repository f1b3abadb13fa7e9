/* The diver: how she swims, shoots, breathes and collects. */
#ifndef DIVE_DIVER_H
#define DIVE_DIVER_H

#include "near.h"
#include "rules.h"
#include "vector.h"

/* What her upgrades make of her. */
float diver_air_most(const Upgrades *u);
float diver_tether_length(const Upgrades *u);

void steer(reef_block *b);   /* keys become movement, the lamp turns */
void shoot(reef_block *b);   /* at the nearest creatures in the light */
void breathe(reef_block *b); /* what air she gains and loses */
void attract(reef_block *b); /* pickups come to her */
void collect(reef_block *b); /* pearls, bubbles, points */

#endif
