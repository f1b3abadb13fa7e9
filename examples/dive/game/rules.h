/* What there is one of: the input, the diver's state, the stage of the game, the purse. And the events that systems
 * send each other. */
#ifndef DIVE_RULES_H
#define DIVE_RULES_H

#include "components.h"

enum {
    TICKS_PER_SECOND = 60,
    WAVES = 12,          /* the boss of the last one lives at the bottom; who goes on after that plays without end */
    ENEMIES_MAX = 14000, /* no more come than these */
    OFFERS = 3,          /* upgrades in the shop at a time */
    OWED_MAX = 60000,    /* ticks of rewinding that aren't paid for yet */
    REWIND_TICKS = 300   /* how far time runs backward: five seconds */
};

#define SEA_RADIUS 70.0f /* m: behind this is rock */
#define BELL_RADIUS 5.0f /* m: here the diver gets air */
#define DASH_RESTS 1.5f  /* seconds until she can dash again, without upgrades */
#define PULSE_RESTS 7.0f /* the same for a pulse */
#define REWIND_AIR 0.08f /* for each tick that time ran backward */

/* ---- input: all that the world learns from outside in a tick ---- */

enum { KEY_HOLD = 1, KEY_DASH = 2, KEY_PULSE = 4 };
enum { PICK_NONE, PICK_FIRST, PICK_GO_ON = 4, PICK_OTHERS = 5 }; /* in the shop; 1 ... 3: an offer */
typedef struct Input {
    int8_t move[2]; /* -100 ... 100 to the east and south */
    int8_t aim[2];  /* direction of the lamp; {0, 0}: where the diver swims */
    uint8_t keys, pick;
    uint16_t rewound; /* how many ticks time was turned back before this tick: they are paid for in air */
} Input;
REEF_COMPONENT(Input);
REEF_FIELDS(Input, (move, NULL, -100, 100), (aim, NULL, -100, 100), keys, pick, rewound);

/* ---- the diver: a component of one entity, and what others may know of her ---- */

/* Air is everything: it is breathed, bites let it out, rewinding costs it. Without it the dive is over. */
typedef struct Diver {
    float air;
    float safe;             /* seconds in which nothing hurts */
    float dash, dash_rests; /* seconds that a dash goes on; until the next one */
    float pulse_rests, harpoon_rests;
    uint8_t keys; /* of the tick before */
#ifndef DIVE_AS_IN_VERSION_1
    uint32_t dashes; /* how often she dashed: for the score table. Came with version 2 of the game */
#endif
} Diver;
REEF_COMPONENT(Diver);
#ifndef DIVE_AS_IN_VERSION_1
#define DIVER_FIELDS_OF_VERSION_2 , dashes
#else
#define DIVER_FIELDS_OF_VERSION_2
#endif
REEF_FIELDS(Diver, air, (safe, "s"), (dash, "s"), (dash_rests, "s"), (pulse_rests, "s"), (harpoon_rests, "s"),
            keys DIVER_FIELDS_OF_VERSION_2);

/* Where the diver is and what her lamp lights: a singleton that all others read. */
typedef struct Lamp {
    reef_entity diver;
    float x, y;   /* position of the diver */
    float dx, dy; /* direction of the light */
    float cosine; /* of half the cone's angle */
    float range;  /* m */
    float bell_x, bell_y;
} Lamp;
REEF_COMPONENT(Lamp);
REEF_FIELDS(Lamp, diver, (x, "m"), (y, "m"), dx, dy, cosine, (range, "m"), (bell_x, "m"), (bell_y, "m"));

/* ---- upgrades: how many levels of each the diver has ---- */

/* X(name, levels, price of the first level, title, what it does) */
#define UPGRADES(X) \
    X(HARPOON, 4, 12, "Harpoons", "One more harpoon in each volley") \
    X(PIERCE, 3, 15, "Barbed tips", "A harpoon goes through two more") \
    X(LOADER, 4, 10, "Quick loader", "Volleys follow each other faster") \
    X(BURSTING, 3, 24, "Bursting tips", "What a harpoon kills explodes") \
    X(WIDE, 3, 10, "Wide lamp", "The light is wider and reaches farther") \
    X(BURNING, 4, 18, "Burning light", "The light itself burns") \
    X(SHOCK, 3, 16, "Live tether", "What touches the tether gets a shock") \
    X(TETHER, 3, 8, "Long tether", "Swim eight metres farther") \
    X(TANK, 4, 10, "Larger tank", "Room for 30 more air") \
    X(FINS, 3, 8, "Fins", "Swim faster, dash more often") \
    X(SONAR, 3, 14, "Deep sonar", "The pulse is larger, and hurts") \
    X(MAGNET, 3, 6, "Magnet", "Pearls and bubbles come to you")
enum {
#define X(name, levels, price, title, text) UPGRADE_##name,
    UPGRADES(X)
#undef X
        UPGRADE_COUNT
};
typedef struct Upgrades {
    uint8_t level[16];
} Upgrades;
REEF_COMPONENT(Upgrades);
REEF_FIELDS(Upgrades, level);

/* ---- the course of the game ---- */

enum { STAGE_READY, STAGE_WAVE, STAGE_SHOP, STAGE_WON, STAGE_LOST };
typedef struct Stage {
    uint32_t now;           /* one of the above */
    uint32_t wave;          /* 1 is the first one */
    float clock;            /* seconds: until the wave begins, or ends */
    float since;            /* seconds since the stage began */
    uint32_t offer[OFFERS]; /* of the shop: numbers of upgrades; UPGRADE_COUNT: sold */
    uint32_t others;        /* how often the player asked for other offers in this shop */
    uint32_t saved;         /* bystanders that lived at the end of the last wave */
    uint32_t ebb;           /* 1: the wave is over, and its creatures sink back into the dark */
} Stage;
REEF_COMPONENT(Stage);
REEF_FIELDS(Stage, now, wave, (clock, "s"), (since, "s"), offer, others, saved, ebb);

typedef struct Purse {
    uint32_t pearls, score, kills;
} Purse;
REEF_COMPONENT(Purse);
REEF_FIELDS(Purse, pearls, score, kills);

/* How many there are, counted at the end of each tick. */
typedef struct Census {
    uint32_t enemies, bystanders, bosses;
} Census;
REEF_COMPONENT(Census);
REEF_FIELDS(Census, enemies, bystanders, bosses);

/* Air that the tether loses in a second, by all that gnaw at it. */
typedef struct Leak {
    float air;
} Leak;
REEF_COMPONENT(Leak);
REEF_FIELDS(Leak, (air, "1/s"));

/* ---- events ---- */

/* A harpoon hit a creature. */
typedef struct Hit {
    reef_entity who;
    float damage;
    float dx, dy; /* from where to where */
    uint32_t bursts;
} Hit;
/* Something bit, stung or shot the diver. */
typedef struct Bite {
    float air;
    float x, y;
} Bite;
/* An explosion, or a pulse of the sonar. */
typedef struct Blast {
    float x, y, radius;
    float damage, push, stun;
    uint32_t by_diver; /* 1: doesn't hurt the diver and the bystanders */
} Blast;
/* A creature gets health back. */
typedef struct Cure {
    reef_entity who;
    float health;
} Cure;
/* Something died that is worth something. */
typedef struct Loss {
    float x, y;
    uint32_t points, pearls, boss;
} Loss;
/* The diver picked something up. */
typedef struct Find {
    uint32_t what, amount;
    float x, y;
} Find;
/* What the player should see and hear; the world itself doesn't care. */
typedef struct Cue {
    uint32_t what;
    float x, y, size;
    uint32_t kind; /* of the creature */
} Cue;
enum {
    CUE_SHOT = 1, /* the diver shoots */
    CUE_HIT,
    CUE_SHELL, /* a hit that a shell took */
    CUE_DEATH,
    CUE_BLAST,
    CUE_PULSE,
    CUE_BITE,
    CUE_DASH,
    CUE_PEARL,
    CUE_AIR,
    CUE_AIM, /* a creature is about to charge */
    CUE_SPIT,
    CUE_LAY,
    CUE_HATCH,
    CUE_HEAL,
    CUE_EATEN, /* a bystander */
    CUE_WAVE,
    CUE_BOSS,
    CUE_SHOP,
    CUE_BUY,
    CUE_WON,
    CUE_LOST,
    CUE_COUNT
};
REEF_COMPONENT(Hit);
REEF_COMPONENT(Bite);
REEF_COMPONENT(Blast);
REEF_COMPONENT(Cure);
REEF_COMPONENT(Loss);
REEF_COMPONENT(Find);
REEF_COMPONENT(Cue);
REEF_FIELDS(Hit, who, damage, dx, dy, bursts);
REEF_FIELDS(Bite, air, (x, "m"), (y, "m"));
REEF_FIELDS(Blast, (x, "m"), (y, "m"), (radius, "m"), damage, (push, "m/s"), (stun, "s"), by_diver);
REEF_FIELDS(Cure, who, health);
REEF_FIELDS(Loss, (x, "m"), (y, "m"), points, pearls, boss);
REEF_FIELDS(Find, what, amount, (x, "m"), (y, "m"));
REEF_FIELDS(Cue, what, (x, "m"), (y, "m"), (size, "m"), kind);

#endif
