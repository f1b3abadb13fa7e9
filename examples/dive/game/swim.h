/* How creatures swim: each behaviour is a component and a system that adds to the wish; at the end they all move. */
#ifndef DIVE_SWIM_H
#define DIVE_SWIM_H

#include "near.h"
#include "rules.h"

void crowd(reef_block *b);  /* keeps a distance, and swims with its school */
void seek(reef_block *b);   /* to the diver */
void shun(reef_block *b);   /* out of the light */
void orbit(reef_block *b);  /* around the diver */
void drift(reef_block *b);  /* anywhere */
void fear(reef_block *b);   /* away from hunters */
void choose(reef_block *b); /* hunters choose a prey */
void hunt(reef_block *b);   /* hunters follow it, and eat it */
void charge(reef_block *b); /* takes aim and rushes */
void reach(reef_block *b);  /* leeches swim to the tether */
void follow(reef_block *b); /* the parts of a long body */
void swim(reef_block *b);   /* all wishes become movement */
void fly(reef_block *b);    /* what has no wishes: harpoons, shots, pickups */

#endif
