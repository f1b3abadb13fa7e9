/* Two players over a network, without waiting. Each tick is played at once, with a guess at what the other player
 * does. The truth arrives some ticks later. If it differs from the guess, the world goes back, takes the true input,
 * and plays on to where it was. At the end the world is that of a game in which all inputs came in time. */
#include <reef.h>
#include <reef/history.h>
#include <stdio.h>

typedef struct {
    int32_t x, y;
} Position;
typedef struct {
    int32_t player;
} Ship;
typedef struct {
    int32_t dx, ticks;
} Shot;
REEF_COMPONENT(Position);
REEF_COMPONENT(Ship);
REEF_COMPONENT(Shot);

enum { TICKS = 30, LATE = 5 };

typedef struct Keys { /* the input of a tick: what both players press */
    int8_t move[2];
    int8_t fire[2];
} Keys;

typedef struct Game {
    reef_query ships, shots;
} Game;

/* ---- a tick ---- */

static reef_status fly(reef_world *w, const Game *g)
{
    reef_entity spent[16];
    uint32_t n = 0;
    for (reef_block b = reef_begin(w, g->shots); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        Shot *s = reef_inout(&b, Shot);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].x += s[i].dx;
            if (--s[i].ticks == 0 && n < 16) spent[n++] = b.entities[i];
        }
    }
    if (reef_last_error(w).status == REEF_NO_MEMORY) return REEF_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        if (reef_destroy(w, spent[i]) < 0) return reef_last_error(w).status;
    return REEF_OK;
}

static reef_status steer(reef_world *w, const Game *g, const Keys *keys)
{
    Position gun[2];
    int32_t dx[2];
    uint32_t n = 0;
    for (reef_block b = reef_begin(w, g->ships); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Ship *s = reef_in(&b, Ship);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].y += keys->move[s[i].player];
            if (!keys->fire[s[i].player]) continue;
            gun[n] = p[i];
            dx[n++] = s[i].player ? -2 : 2;
        }
    }
    if (reef_last_error(w).status == REEF_NO_MEMORY) return REEF_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        reef_entity shot = reef_spawn(w, reef_with(Position, gun[i].x, gun[i].y), reef_with(Shot, dx[i], 10));
        if (reef_entity_is_null(shot)) return reef_last_error(w).status;
    }
    return REEF_OK;
}

static reef_status play(void *context, reef_world *w, uint64_t tick, const void *input, size_t input_bytes)
{
    reef_status s = fly(w, context);
    (void)tick, (void)input_bytes;
    return s < 0 ? s : steer(w, context, input);
}

/* ---- a game ---- */

static reef_world *game_new(Game *g)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 0, 10), reef_with(Ship, 0));
    reef_spawn(w, reef_with(Position, 60, 10), reef_with(Ship, 1));
    g->ships = reef_query_new(w, "Position, in Ship");
    g->shots = reef_query_new(w, "Position, Shot");
    return w;
}

static Keys truth(uint64_t tick) /* what the players do */
{
    Keys k = {{(int8_t)(tick / 4 % 3 - 1), (int8_t)(tick / 13 % 3 - 1)}, {tick % 9 == 0, tick % 11 == 6}};
    return k;
}

static void show(const char *title, reef_world *w, Game *g)
{
    printf("%s: %u shots in flight, ships at", title, (unsigned)reef_query_count(w, g->shots));
    for (reef_block b = reef_begin(w, g->ships); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) printf(" y = %d", (int)reef_inout(&b, Position)[i].y);
    printf("\n");
}

/* The other player's input of `tick` arrives. Returns how many ticks had to be played again; -1: failure. */
static int receive(reef_history *h, uint64_t tick)
{
    const Keys keys = truth(tick);
    const Keys *guess = reef_history_input(h, tick, NULL);
    if (guess->move[1] == keys.move[1] && guess->fire[1] == keys.fire[1]) return 0;
    if (reef_history_correct(h, &(reef_late_input){tick, &keys, sizeof keys}, 1) < 0) return -1;
    return (int)(reef_history_reach(h).tick - tick);
}

int main(void)
{
    Game game, other;
    reef_world *w = game_new(&game);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 16, .step = play, .context = &game});
    int wrong = 0, again = 0;

    for (uint64_t tick = 0; tick < TICKS + LATE; tick++) {
        if (tick == TICKS) show("the last inputs are missing", w, &game);
        if (tick >= LATE) {
            int ticks = receive(h, tick - LATE);
            if (ticks < 0) return 1;
            wrong += ticks > 0;
            again += ticks;
        }
        if (tick >= TICKS) continue;
        /* Our own keys are known. The guess is that the other player still steers as in the last input that arrived. */
        Keys guess = truth(tick);
        guess.move[1] = tick >= LATE ? truth(tick - LATE).move[1] : 0;
        guess.fire[1] = 0;
        if (reef_history_step(h, &guess, sizeof guess) < 0) return 1;
    }
    show("all inputs have come", w, &game);
    printf("%d of %d guesses were wrong; %d ticks were played again\n", wrong, (int)TICKS, again);

    reef_world *in_time = game_new(&other);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        Keys keys = truth(tick);
        if (play(&other, in_time, tick, &keys, sizeof keys) < 0) return 1;
    }
    show("as if they had come in time", in_time, &other);
    printf("the same state: %s\n", reef_hash(w) == reef_hash(in_time) ? "yes" : "no");

    if (reef_history_rewind(h, 20) < 0) return 1;
    show("back at tick 20", w, &game);

    reef_history_free(h);
    reef_world_free(in_time);
    reef_world_free(w);
    return 0;
}
