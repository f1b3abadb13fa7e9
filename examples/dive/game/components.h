/* What things in the sea are made of. A creature is a set of these components: each one is a behaviour or a property,
 * and any combination works. Which creature has which components, with which values, stands in
 * creatures.json.
 *
 * Lengths are in metres, times in seconds. Each type declares its fields, so that files and hashes are the same on
 * every machine. */
#ifndef DIVE_COMPONENTS_H
#define DIVE_COMPONENTS_H

#include <reef.h>
#include <reef/relation.h>
#include <reef/required.h>

/* ---- where it is and how it moves ---- */

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
/* Where it would like to go in this tick: the sum of what its behaviours want. A length of 1 is its usual speed. */
typedef struct Wish {
    float x, y;
} Wish;
typedef struct Swim {
    float speed; /* m/s */
    float turn;  /* how quickly the velocity follows the wish, 1/s */
    float stun;  /* seconds until it can swim again */
} Swim;
typedef struct Body {
    float radius;
    uint32_t kind; /* which creature it is: for looks, schools and sounds */
} Body;
/* Where it stands in the lists of neighbours (near.h). */
typedef struct Place {
    uint32_t cell, slot;
} Place;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Wish);
REEF_COMPONENT(Swim);
REEF_COMPONENT(Body);
REEF_COMPONENT(Place);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_FIELDS(Velocity, (x, "m/s"), (y, "m/s"));
REEF_FIELDS(Wish, x, y);
REEF_FIELDS(Swim, (speed, "m/s"), (turn, "1/s"), (stun, "s"));
REEF_FIELDS(Body, (radius, "m"), kind);
REEF_FIELDS(Place, cell, slot);
REEF_REQUIRES(Body, Wish, Place); /* whatever gets a Body gets these too */

/* ---- behaviours of swimming: each adds to the wish ---- */

/* Swims with others of its kind. */
typedef struct School {
    float together, along;
} School;
/* Swims to the diver. */
typedef struct Seek {
    float weight;
} Seek;
/* Keeps out of the lamp's light. */
typedef struct Shun {
    float weight;
} Shun;
/* Circles around the diver at a distance. */
typedef struct Orbit {
    float distance, weight;
    float side; /* 1: clockwise, -1: the other way */
} Orbit;
/* Stops, takes aim, and shoots forward. */
typedef struct Charge {
    float range;     /* begins when the diver is that near */
    float aim, rush; /* seconds of each part */
    float speed;     /* m/s while rushing */
    float rest;      /* seconds until the next one */
    float clock;     /* counts down what is going on */
    float x, y;      /* direction of the rush */
    uint32_t state;  /* one of the states below */
} Charge;
enum { CHARGE_IDLE, CHARGE_AIMS, CHARGE_RUSHES, CHARGE_RESTS };
/* Drifts with no aim. */
typedef struct Drift {
    float weight;
    float x, y; /* where to, at the moment */
} Drift;
/* Swims away from hunters and loud things. */
typedef struct Timid {
    float weight;
} Timid;
/* Swims to the tether, bites into it, and lets air out. */
typedef struct Gnaw {
    float air; /* per second */
} Gnaw;
REEF_COMPONENT(School);
REEF_COMPONENT(Seek);
REEF_COMPONENT(Shun);
REEF_COMPONENT(Orbit);
REEF_COMPONENT(Charge);
REEF_COMPONENT(Drift);
REEF_COMPONENT(Timid);
REEF_COMPONENT(Gnaw);
REEF_FIELDS(School, together, along);
REEF_FIELDS(Seek, weight);
REEF_FIELDS(Shun, weight);
REEF_FIELDS(Orbit, (distance, "m"), weight, side);
REEF_ENUM(ChargeState, (CHARGE_IDLE, "idle"), (CHARGE_AIMS, "aims"), (CHARGE_RUSHES, "rushes"),
          (CHARGE_RESTS, "rests"));
REEF_FIELDS(Charge, (range, "m"), (aim, "s"), (rush, "s"), (speed, "m/s"), (rest, "s"), (clock, "s"), x, y,
            (state, enum, ChargeState));
REEF_FIELDS(Drift, weight, x, y);
REEF_FIELDS(Timid, weight);
REEF_FIELDS(Gnaw, (air, "1/s"));

/* ---- life and death ---- */

typedef struct Health {
    float now, most;
    float hurt; /* seconds for which it still shows that it was hit */
} Health;
/* Takes the damage before the health does, and grows again. */
typedef struct Shell {
    float now, most;
    float grows; /* per second */
} Shell;
/* Hurts the diver who touches it. */
typedef struct Sting {
    float air;
} Sting;
/* Becomes several others when it dies. */
typedef struct Split {
    reef_entity into; /* a prefab */
    uint32_t count;
} Split;
/* Explodes when it dies, and when the diver is near for `fuse` seconds. */
typedef struct Burst {
    float radius, damage;
    float fuse, clock;
} Burst;
/* Lays one of these every so many seconds. */
typedef struct Lay {
    reef_entity what; /* a prefab */
    float every, clock;
} Lay;
/* Becomes several others after a time. */
typedef struct Hatch {
    reef_entity into; /* a prefab */
    uint32_t count;
    float clock;
} Hatch;
/* Heals others near it. */
typedef struct Heal {
    float radius, health;
    float every, clock;
} Heal;
/* Spits at the diver: `count` shots in a fan or, from 8 on, in a ring. */
typedef struct Spit {
    float every, clock;
    float speed, air;
    uint32_t count;
} Spit;
/* What its death is worth. */
typedef struct Bounty {
    uint32_t points;
    uint32_t pearls; /* in hundredths: 25 is a pearl each fourth time */
} Bounty;
REEF_COMPONENT(Health);
REEF_COMPONENT(Shell);
REEF_COMPONENT(Sting);
REEF_COMPONENT(Split);
REEF_COMPONENT(Burst);
REEF_COMPONENT(Lay);
REEF_COMPONENT(Hatch);
REEF_COMPONENT(Heal);
REEF_COMPONENT(Spit);
REEF_COMPONENT(Bounty);
REEF_FIELDS(Health, now, most, (hurt, "s"));
REEF_FIELDS(Shell, now, most, (grows, "1/s"));
REEF_FIELDS(Sting, air);
REEF_FIELDS(Split, into, count);
REEF_FIELDS(Burst, (radius, "m"), damage, (fuse, "s"), (clock, "s"));
REEF_FIELDS(Lay, what, (every, "s"), (clock, "s"));
REEF_FIELDS(Hatch, into, count, (clock, "s"));
REEF_FIELDS(Heal, (radius, "m"), health, (every, "s"), (clock, "s"));
REEF_FIELDS(Spit, (every, "s"), (clock, "s"), (speed, "m/s"), air, count);
REEF_FIELDS(Bounty, points, pearls);

/* ---- sides ---- */

REEF_TAG(Enemy);
REEF_TAG(Bystander); /* a peaceful fish of the reef: those that live at the end of a wave are worth points */
REEF_TAG(Boss);
REEF_TAG(Hunter); /* eats bystanders */

/* ---- relations ---- */

REEF_RELATION(Tether, REEF_EXCLUSIVE);  /* the diver hangs on the bell */
REEF_RELATION(Follows, REEF_EXCLUSIVE); /* a part of a long body follows the part in front of it */
REEF_RELATION(Hunts, REEF_EXCLUSIVE);   /* a hunter has chosen its prey; when the prey dies, the relation ends */

/* ---- what isn't a creature ---- */

/* A harpoon of the diver. */
typedef struct Bolt {
    float damage;
    float left;       /* seconds to fly */
    uint32_t pierce;  /* further creatures that it goes through */
    uint32_t bursts;  /* level of the exploding tips */
    reef_entity last; /* what it hit last; it isn't hit again */
} Bolt;
/* What a creature spat. */
typedef struct Shot {
    float air, left;
} Shot;
/* Something to collect. */
typedef struct Pickup {
    uint32_t what, amount;
    float left;
} Pickup;
enum { PICKUP_PEARL, PICKUP_AIR };
REEF_COMPONENT(Bolt);
REEF_COMPONENT(Shot);
REEF_COMPONENT(Pickup);
REEF_FIELDS(Bolt, damage, (left, "s"), pierce, bursts, last);
REEF_FIELDS(Shot, air, (left, "s"));
REEF_FIELDS(Pickup, what, amount, (left, "s"));

/* The bell, from which the tether comes. */
REEF_TAG(Bell);

#endif
