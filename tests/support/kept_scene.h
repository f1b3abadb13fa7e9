/* A world whose files have all kinds of sections: something in every home, names, free and reserved ids, a singleton,
 * systems, events that wait, stamps. It is the same on every machine, and so are its hashes. */
#ifndef REEF_TESTS_KEPT_SCENE_H
#define REEF_TESTS_KEPT_SCENE_H

#include "save_zoo.h"

typedef struct {
    int32_t winter;
    double cold;
} ZooSeason;
REEF_COMPONENT(ZooSeason);
REEF_FIELDS(ZooSeason, winter, (cold, "K"));
typedef struct {
    reef_entity who;
    int16_t loud;
} ZooCry;
REEF_COMPONENT(ZooCry);
REEF_FIELDS(ZooCry, who, loud);

static inline void kept_walk(reef_block *b)
{
    ZooPlace *p = reef_inout(b, ZooPlace);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += p[i].y / 3.0f;
    if (b->count) (void)reef_send(b, ZooCry, .who = b->entities[0], .loud = (int16_t)b->count);
}

/* A system that reads the events much later, so that they wait. */
static inline void kept_listen(reef_block *b)
{
    reef_events r = reef_receive(b, ZooCry);
    for (const ZooCry *c; (c = reef_next_event(&r)) != NULL;)
        (void)reef_cmd_set_id(b, c->who, reef_id(ZooBurning), &(ZooBurning){c->loud}, sizeof(ZooBurning));
}

static inline void kept_script_start(reef_script_run *r) { (void)r; }
static const reef_script_class kept_script = {.name = "kept", .start = kept_script_start};

/* Makes the world. With scripts, of which one waits for its end, only raw files can contain it. NULL: a call failed. */
static inline reef_world *kept_world_on(reef_world_config config, bool scripts)
{
    config.seed = 5;
    reef_world *w = reef_world_new(&config);
    if (w == NULL) return NULL;
    const bool good =
        !reef_system_is_null(reef_system_add(w, "walk", kept_walk, "inout ZooPlace; sends ZooCry")) &&
        !reef_system_is_null(reef_system_new(w, &(reef_system_desc){.name = "listen",
                                                                    .function = kept_listen,
                                                                    .text = "; receives ZooCry, adds ZooBurning",
                                                                    .interval_ns = 70000000}));
    if (good && (!scripts || !reef_system_is_null(reef_scripts(w, NULL, NULL)))) return w;
    reef_world_free(w);
    return NULL;
}

static inline reef_world *kept_world(bool scripts) { return kept_world_on((reef_world_config){.seed = 5}, scripts); }

/* Makes random changes and a tick; the seed goes on. */
static inline bool kept_play(reef_world *w, uint64_t *seed, uint32_t changes)
{
    for (uint32_t i = 0; i < changes; i++) zoo_change(w, seed);
    return reef_single_set(w, ZooSeason, (int32_t)changes, changes / 7.0) >= REEF_OK &&
           reef_tick(w, 1.0f / 64.0f) == REEF_OK;
}

static inline bool kept_begin(reef_world *w, uint64_t *seed, uint32_t changes, bool scripts)
{
    if (reef_world_stats(w).indices || reef_entity_is_null(reef_reserve_range(w, 4096))) return false;
    if (!kept_play(w, seed, changes) || reef_entity_is_null(reef_reserve_id(w))) return false;
    const reef_entity e = zoo_somebody(w, seed), f = zoo_somebody(w, seed);
    if (scripts && (reef_script_add(w, e, &kept_script, NULL) != REEF_OK ||
                    (!reef_entity_equal(e, f) && reef_script_add(w, f, &kept_script, NULL) != REEF_OK)))
        return false;
    if (!kept_play(w, seed, changes / 10)) return false;
    return !scripts || !reef_script_of(w, e) || reef_script_remove(w, e) == REEF_OK;
}

#endif
