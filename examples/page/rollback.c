/* Two players, and a network between them that takes its time. This world holds what is certain: the ticks of which
 * both inputs have come. What the player on the left sees is a fork of it that is played on with a guess: the other
 * player goes on as last. A new input makes a new fork, so a wrong guess is a jump. Move the slider: at 0 the solid
 * ship on the right is where its shadow is, and at 40 ticks it is often wrong. */
#include <reef.h>
#include <reef_page.h>

enum { WIDE = 160, HIGH = 90, LATEST = 40 };

typedef struct {
    float x, y;
} Position;
typedef struct {
    int32_t player;
} Ship;
typedef struct {
    float dx;
    int32_t ticks;
} Shot;
typedef struct {
    int32_t move[2], fire[2];
} Keys; /* a singleton: what both press in this tick */
typedef struct {
    int32_t ticks;
} Latency; /* a singleton: of the network */
REEF_COMPONENT(Position);
REEF_COMPONENT(Ship);
REEF_COMPONENT(Shot);
REEF_COMPONENT(Keys);
REEF_COMPONENT(Latency);
REEF_FIELDS(Position, x, y);
REEF_FIELDS(Ship, player);
REEF_FIELDS(Shot, dx, (ticks, "ticks"));
REEF_FIELDS(Keys, move, fire);
REEF_FIELDS(Latency, (ticks, "ticks"));

static void steer(reef_block *b)
{
    const Keys *keys = reef_single_get(b->world, Keys);
    Position *p = reef_inout(b, Position);
    const Ship *s = reef_in(b, Ship);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].y += (float)keys->move[s[i].player];
        if (p[i].y < 6) p[i].y = 6;
        if (p[i].y > HIGH - 6) p[i].y = HIGH - 6;
        if (keys->fire[s[i].player])
            reef_cmd_spawn(b, reef_with(Position, p[i].x, p[i].y), reef_with(Shot, s[i].player ? -2.0f : 2.0f, 70));
    }
}

static void fly(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    Shot *s = reef_inout(b, Shot);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += s[i].dx;
        if (--s[i].ticks == 0) reef_cmd_destroy(b, b->entities[i]);
    }
}

/* What a player presses in a tick. A player changes the mind now and then. */
static void press(Keys *k, int player, uint64_t tick)
{
    const uint64_t mind = (tick / (player ? 23 : 31) + (uint64_t)player) * 2654435761u % 1000;
    k->move[player] = mind < 350 ? -1 : mind < 700 ? 1 : 0;
    k->fire[player] = (tick + (uint64_t)player * 9) % 26 == 0;
}

static void draw(reef_world *w, bool certain)
{
    const reef_query ships = reef_query_new(w, "in Position, in Ship"),
                     shots = reef_query_new(w, "in Position, in Shot");
    static const uint32_t colours[2] = {0x5cc8c0, 0xff9a63}, shadows[2] = {0x1d4a52, 0x553a30};
    reef_each(w, ships, row)
    {
        const Position *p = reef_in_at(row, Position);
        const int32_t player = reef_in_at(row, Ship)->player;
        reef_page_circle(p->x, p->y, certain ? 5.5f : 4, certain ? shadows[player] : colours[player]);
    }
    reef_each(w, shots, row)
    {
        const Position *p = reef_in_at(row, Position);
        const int32_t player = reef_in_at(row, Shot)->dx < 0;
        reef_page_line(p->x, p->y, p->x + 3, p->y, certain ? 2.0f : 1.2f, certain ? shadows[player] : colours[player]);
    }
    reef_query_free(w, ships);
    reef_query_free(w, shots);
}

/* One tick becomes certain: that of which the other player's input has come now. */
static bool step(reef_world *w)
{
    const float dt = 1.0f / 60;
    reef_single_set(w, Latency, (int32_t)reef_page_slider("latency in ticks", 0, LATEST, 12));
    const uint64_t certain = reef_tick_count(w);
    Keys keys;
    press(&keys, 0, certain);
    press(&keys, 1, certain);
    reef_single_set(w, Keys, {keys.move[0], keys.move[1]}, {keys.fire[0], keys.fire[1]});
    reef_tick(w, dt);
    draw(w, true);

    reef_world *seen = reef_fork(w);
    if (seen == NULL) return true;
    for (int32_t n = 1; n <= reef_single_get(w, Latency)->ticks; n++) {
        press(&keys, 0, certain + (uint64_t)n); /* one's own input is known; of the other player the last one is */
        reef_single_set(seen, Keys, {keys.move[0], keys.move[1]}, {keys.fire[0], 0});
        reef_tick(seen, dt);
    }
    draw(seen, false);
    reef_world_free(seen);
    return true;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 8, HIGH / 2), reef_with(Ship, 0));
    reef_spawn(w, reef_with(Position, WIDE - 8, HIGH / 2), reef_with(Ship, 1));
    reef_single_set(w, Keys, {0, 0}, {0, 0});
    reef_single_set(w, Latency, 0);
    reef_system(w, steer, "Position, in Ship; reads Keys, spawns Position Shot");
    reef_system(w, fly, "Position, Shot; destroys");
    reef_page_view(WIDE, HIGH);
    reef_page_run(w, step);
    reef_world_free(w);
}
