/* What happens to several divers: who comes and goes, shared air, fainting and waking, and that going back and playing
 * again gives the same. */
#include "crew.h"
#include "game.h"
#include <reef/history.h>
#include <reef/hash.h>

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static CrewInput wants[PLAYERS_MAX];

static void play(game *g, uint32_t players, uint32_t ticks)
{
    const CrewInput *input[PLAYERS_MAX];
    for (int p = 0; p < PLAYERS_MAX; p++) input[p] = &wants[p];
    for (; ticks > 0; ticks--) MUST(crew_step(g->world, players, input) == REEF_OK);
}

static Mate *mate(game *g, uint32_t player)
{
    const reef_entity e = mate_of(g->world, player);
    return reef_entity_is_null(e) ? NULL : reef_mut(g->world, e, Mate);
}

static void put(game *g, uint32_t player, float x, float y)
{
    *reef_mut(g->world, mate_of(g->world, player), Position) = (Position){x, y};
}

static void players_come_and_go(game *g)
{
    play(g, 1, 2);
    MUST(reef_count(g->world, Mate) == 0);
    play(g, 1 | 4 | 8, 2);
    MUST(reef_count(g->world, Mate) == 2 && mate(g, 2) && mate(g, 3));
    play(g, 4 | 8, 2); /* the next one takes over the diver */
    MUST(reef_count(g->world, Mate) == 1 && !mate(g, 2) && mate(g, 3));
    play(g, 1 | 2 | 4 | 8, 2);
    MUST(reef_count(g->world, Mate) == 3);
}

static void mates_swim_by_their_keys(game *g)
{
    const Lamp lamp = *reef_single_get(g->world, Lamp);
    put(g, 1, 4, 4);
    wants[1].move[0] = 100;
    play(g, 15, 60);
    wants[1].move[0] = 0;
    const Position at = *reef_get(g->world, mate_of(g->world, 1), Position);
    MUST(at.x > 8 && at.y > 3 && at.y < 5);
    MUST(mate(g, 1)->dx > 0.9f);
    const Lamp now = *reef_single_get(g->world, Lamp);
    MUST(now.x == lamp.x && now.y == lamp.y); /* the diver has other keys */
}

static void bites_weaken_until_somebody_helps(game *g)
{
    Stage *s = reef_single_mut(g->world, Stage);
    s->now = STAGE_WAVE, s->clock = 1e6f, s->since = 0;
    put(g, 1, 20, 0);
    const float air = reef_get(g->world, reef_single_get(g->world, Lamp)->diver, Diver)->air;
    for (int i = 0; i < 5; i++) { /* shots that hit her */
        const Position at = *reef_get(g->world, mate_of(g->world, 1), Position);
        mate(g, 1)->safe = 0;
        MUST(!reef_entity_is_null(reef_spawn(g->world, reef_with(Position, at.x, at.y), reef_default(Velocity),
                                             reef_with(Shot, .air = 10, .left = 1))));
        play(g, 15, 30);
    }
    MUST(mate(g, 1)->strength == 0);
    MUST(reef_get(g->world, reef_single_get(g->world, Lamp)->diver, Diver)->air < air); /* which they share */
    wants[1].move[0] = -100;
    play(g, 15, 60);
    MUST(mate(g, 1)->strength == 0 && reef_get(g->world, mate_of(g->world, 1), Position)->x > 19);
    wants[1].move[0] = 0;
    for (int i = 0; i < 200; i++) {
        const Position at = *reef_get(g->world, mate_of(g->world, 1), Position);
        put(g, 2, at.x + 1, at.y);
        play(g, 15, 1);
    }
    MUST(mate(g, 1)->strength == MATE_STRENGTH * 0.5f);
}

static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    const CrewInput *to[PLAYERS_MAX];
    (void)context, (void)bytes;
    for (int p = 0; p < PLAYERS_MAX; p++) to[p] = (const CrewInput *)input + p;
    return crew_step(w, tick % 50 < 25 ? 7 : 3, to);
}

static void going_back_and_playing_again_is_the_same(game *g)
{
    reef_history *h = reef_history_new(g->world, &(reef_history_config){.ticks = 100, .step = step, .hashes = true});
    MUST(h);
    for (uint32_t t = 0; t < 90; t++) {
        for (uint32_t p = 0; p < 3; p++)
            wants[p] = (CrewInput){.move = {(int8_t)(t % 7 * 10), (int8_t)(p * 20)}, .keys = (uint8_t)(t / 9 % 8)};
        MUST(reef_history_step(h, wants, sizeof wants) == REEF_OK);
    }
    const uint64_t hash = reef_hash(g->world);
    MUST(hash != 0 && reef_history_rewind(h, 5) == REEF_OK && reef_hash(g->world) != hash);
    MUST(reef_history_replay(h, 90) == REEF_OK && reef_hash(g->world) == hash);
    reef_history_free(h);
}

int main(void)
{
    game g = {0};
    MUST(game_new(&g, 1, NULL));
    players_come_and_go(&g);
    mates_swim_by_their_keys(&g);
    bites_weaken_until_somebody_helps(&g);
    going_back_and_playing_again_is_the_same(&g);
    game_free(&g);
    return 0;
}
