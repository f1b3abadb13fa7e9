/* The course of the game: waves of creatures, the shop between them, winning and losing. */
#ifndef DIVE_WAVE_H
#define DIVE_WAVE_H

#include "creatures.h"
#include <reef/observer.h>

/* The price of the next level of an upgrade. */
uint32_t shop_price(const Upgrades *u, uint32_t upgrade);
/* The price of other offers. */
uint32_t shop_price_others(const Stage *stage);

void forget(reef_block *b); /* before counting */
void count_creatures(reef_block *b);
void add_counts(void *total, const void *part);
void conduct(reef_block *b);          /* the stages, one after the other */
void surge(reef_block *b);            /* the creatures of a wave come */
void ebb(reef_block *b);              /* after it, those that are left sink back into the dark */
void cut_loose(const reef_notice *n); /* an observer: what followed a part that is gone becomes a head */

#endif
