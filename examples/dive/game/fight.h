/* Harm: harpoons, light, shocks, explosions; and what dying does to each creature. */
#ifndef DIVE_FIGHT_H
#define DIVE_FIGHT_H

#include "creatures.h"
#include "near.h"

/* ---- harm ---- */

void strike(reef_block *b); /* harpoons hit */
void wound(reef_block *b);  /* what they hit loses health */
void burn(reef_block *b);   /* the lamp, if it burns */
void shock(reef_block *b);  /* the tether, if it is live */
void shake(reef_block *b);  /* explosions reach creatures */
void mend(reef_block *b);   /* shells grow again */

/* ---- what creatures do to the diver ---- */

void sting(reef_block *b); /* by touch */
void gnaw(reef_block *b);  /* by the tether */
void add_leaks(void *total, const void *part);
void spit(reef_block *b);   /* from afar */
void arrive(reef_block *b); /* what they spat reaches her, or nothing */
void fuse(reef_block *b);   /* what explodes when she is near */

/* ---- what they do for each other ---- */

void lay(reef_block *b);
void hatch(reef_block *b);
void heal(reef_block *b);    /* chooses whom */
void recover(reef_block *b); /* and they recover */

/* ---- dying: each system looks after one component of those whose health is gone ---- */

void split(reef_block *b);
void burst(reef_block *b);
void reward(reef_block *b);
void die(reef_block *b);

/* A creature whose health is gone; it lives until the end of the phase. */
static inline bool is_dying(const Health *h) { return h->now <= 0.0f; }

#endif
