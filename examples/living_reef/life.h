/* The rules of eating, ageing, dying and spawning. Each unit of energy that one place loses, another place gains:
 *
 *     layer --grazing--> fish (3/4) and detritus (1/4)
 *     prey  --hunting--> hunter (3/4, if it can hold as much) and detritus
 *     fish  --metabolism--> nutrients        fish --death--> detritus        fish --spawning--> young fish */
#ifndef LIVING_REEF_LIFE_H
#define LIVING_REEF_LIFE_H

#include "fish.h"
#include <reef/random.h>

/* ---- events ---- */

/* A hunter's attempt on a fish near it. */
typedef struct Strike {
    reef_entity hunter, prey;
} Strike;

/* What is left of a fish that died; there is one for each death. */
typedef struct Corpse {
    uint32_t cell;
    int32_t units;
} Corpse;

/* ---- a singleton ---- */

/* Counts since the start. The first fish don't count as born. */
typedef struct Tally {
    uint64_t born, died;
} Tally;

REEF_COMPONENT(Strike);
REEF_COMPONENT(Corpse);
REEF_COMPONENT(Tally);
REEF_FIELDS(Strike, hunter, prey);
REEF_FIELDS(Corpse, cell, units);
REEF_FIELDS(Tally, born, died);

enum { HUNTER_RESTS = 12 /* ticks after a catch */ };

/* A fish that is born. */
typedef struct fish_born {
    Position at;
    Velocity heading;
    Species kind;
    Energy energy;
    Age age;
} fish_born;
/* The energy that a hunter gets of its prey: three quarters, if it has room. */
int32_t catch_gain(const species *of, int32_t energy, int32_t food);
/* A young fish, with what is random in it. */
fish_born fish_young(Position at, Species kind, const species *of, reef_random *r);
/* The adults of a block spawn; `one` is called for each young fish. */
void breed(reef_block *b, void (*one)(reef_block *b, reef_entity parent, const fish_born *young));

/* ---- systems ---- */

void rest(reef_block *b);   /* for hunters that have caught something; they don't strike */
void strike(reef_block *b); /* the other hunters, if hungry, choose a prey */
void feed(reef_block *b);   /* for each cell: its fish eat from it, and burn energy */
void age(reef_block *b);    /* fish gain what they ate, starve, die of old age, come of age */
void seize(reef_block *b);  /* decides which hunter gets a prey */
void spawn(reef_block *b);  /* adults with enough energy give part of it to young ones */
void add_births(void *total, const void *part);
void bury(reef_block *b); /* corpses become detritus */

#endif
