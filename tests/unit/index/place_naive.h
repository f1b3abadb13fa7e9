/* Places by looking at every entity: worlds of random entities with a model beside them, and all questions answered by
 * comparing one entity after the other. */
#ifndef REEF_TESTS_PLACE_NAIVE_H
#define REEF_TESTS_PLACE_NAIVE_H

#include "support.h"

enum { NAIVE_ENTITIES = 160 };

/* A type with a place, and the type with its radius ({0}: none). */
typedef struct naive_place {
    const char *name;
    reef_home home, body_home;
    uint32_t axes;
    reef_kind kind;
    double cell, edges[3][2];
    bool bodies, wide_radius;
    bool whole, carries; /* has whole cells; the picture has the values of a second type */
    double walls[3][2];  /* instead of edges that wrap around */
    double spread;       /* coordinates are in 0 ... spread, or now and then elsewhere */
    double largest;      /* radius */
    reef_component type, body, carried;
} naive_place;

typedef struct naive_entity {
    reef_entity e;
    bool alive, has, disabled, type_disabled, body, tagged, carries;
    uint32_t carried;
    double at[3], radius; /* as they were set */
} naive_entity;

typedef struct naive_model {
    naive_entity entity[NAIVE_ENTITIES];
    uint32_t count;
} naive_model;

void naive_declare(naive_place *p);
void naive_set(reef_world *w, const naive_place *p, naive_entity *x);
void naive_set_carried(reef_world *w, const naive_place *p, naive_entity *x, uint32_t value);
void naive_set_radius(reef_world *w, const naive_place *p, naive_entity *x);
/* How many queries with `near` were compared. */
extern uint64_t naive_queries;
/* Asks the picture of the world everything at random places, and compares. */
void naive_compare(reef_world *w, const naive_place *p, const naive_model *m, uint64_t *seed);

#endif
