#include "net_game.h"
#include <math.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
typedef struct Avatar {
    uint32_t player;
} Avatar;
typedef struct Shot {
    uint32_t owner, life;
} Shot;
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, (x, "", -1, 1), (y, "", -1, 1), (fire, "", 0, 1));
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x, y);
REEF_COMPONENT(Velocity);
REEF_FIELDS(Velocity, x, y);
REEF_COMPONENT(Avatar);
REEF_FIELDS(Avatar, player);
REEF_COMPONENT(Shot);
REEF_FIELDS(Shot, owner, life);

reef_component net_game_input(void) { return reef_id(Keys); }

static void game_move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const net_game *g = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
        if (g && g->other_rule && v[i].x > 0) p[i].x = nextafterf(p[i].x, 1e9f);
    }
}

static void game_age(reef_block *b)
{
    Shot *s = reef_inout(b, Shot);
    for (uint32_t i = 0; i < b->count; i++)
        if (--s[i].life == 0) reef_cmd_destroy(b, b->entities[i]);
}

void net_game_begin(reef_world *w, const net_game *game)
{
    (void)reef_system_new(w, &(reef_system_desc){.name = "game_move",
                                                 .function = game_move,
                                                 .text = "Position, in Velocity",
                                                 .context = (void *)(uintptr_t)game});
    reef_system(w, game_age, "Shot; destroys");
}

typedef struct found {
    reef_entity avatar[REEF_NET_PLAYERS_MAX];
    uint32_t shots;
} found;

static bool look(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    found *f = context;
    (void)size;
    if (type.id == reef_id(Avatar).id) f->avatar[((const Avatar *)data)->player % REEF_NET_PLAYERS_MAX] = e;
    if (type.id == reef_id(Shot).id) f->shots++;
    return true;
}

reef_status net_game_step(void *context, reef_world *w, const reef_net_tick *t)
{
    net_game *g = context;
    found before = {0}, after = {0};
    if (g->fails) {
        g->fails = false;
        return REEF_NO_MEMORY;
    }
    g->steps++;
    g->late += t->net && t->tick < g->confirmed;
    if (g->record) g->record(g->record_context, t);
    if (!reef_visit_world(w, look, &before)) return REEF_NO_MEMORY;
    uint32_t fired = 0;
    for (uint32_t p = 0; p < REEF_NET_PLAYERS_MAX; p++) {
        const Keys *k = t->input[p];
        const reef_entity e = before.avatar[p];
        if (k == NULL) {
            if (!reef_entity_is_null(e)) (void)reef_destroy(w, e);
            continue;
        }
        if (reef_entity_is_null(e)) {
            const reef_entity born =
                reef_spawn(w, reef_with(Avatar, p), reef_with(Position, (float)p * 10, 0), reef_with(Velocity, 0, 0));
            if (reef_entity_is_null(born)) return REEF_NO_MEMORY;
            continue;
        }
        Velocity *v = reef_mut(w, e, Velocity);
        if (v == NULL) return REEF_NO_MEMORY;
        v->x = v->x * 0.9f + (float)k->x;
        v->y = v->y * 0.9f + (float)k->y * 1.5f;
        const Position at = *reef_get(w, e, Position);
        const Velocity speed = {v->x * 3, v->y * 3};
        if (k->fire) {
            const reef_entity shot = reef_spawn(w, reef_with(Shot, p, 5 + p), reef_with(Position, at.x, at.y),
                                                reef_with(Velocity, speed.x, speed.y));
            if (reef_entity_is_null(shot)) return REEF_NO_MEMORY;
            fired++;
            const reef_status s = reef_net_happen(t, NET_GAME_SHOT, p, &at, sizeof at);
            if (s < 0) return s;
        }
    }
    const reef_status s = reef_tick(w, 1.0f / 60.0f);
    if (s < 0) return s;
    if (!reef_visit_world(w, look, &after)) return REEF_NO_MEMORY;
    const uint32_t ended = before.shots + fired - after.shots;
    if (t->tick < g->played_until) {
        g->births += fired;
        g->deaths += ended;
    } else g->played_until = t->tick + 1;
    return ended ? reef_net_happen(t, NET_GAME_END, ended, NULL, 0) : REEF_OK;
}

void net_game_sample(void *context, void *input)
{
    net_game *g = context;
    uint64_t z = g->seed + ++g->samples / 4 * UINT64_C(0x9e3779b97f4a7c15); /* held for four ticks */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    Keys *k = input;
    k->x = (int8_t)((int)(z % 3) - 1);
    k->y = (int8_t)((int)(z / 3 % 3) - 1);
    k->fire = z / 9 % 5 == 0 && g->samples % 2;
}

static uint64_t signature_of(const unsigned char *key, const void *bytes, size_t count, uint64_t h)
{
    for (size_t i = 0; i < REEF_NET_KEY_BYTES + count; i++) {
        h ^= i < REEF_NET_KEY_BYTES ? key[i] : ((const unsigned char *)bytes)[i - REEF_NET_KEY_BYTES];
        h *= UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static void sign(void *context, const void *bytes, size_t count, unsigned char *signature)
{
    const uint64_t seed = (uint64_t)(uintptr_t)context;
    const reef_net_signer s = net_game_signer(seed);
    memset(signature, 0, REEF_NET_SIGNATURE_BYTES);
    const uint64_t h = signature_of(s.key, bytes, count, 3);
    memcpy(signature + 8, &h, sizeof h);
}

static bool verify(void *context, const unsigned char *key, const void *bytes, size_t count,
                   const unsigned char *signature)
{
    const uint64_t h = signature_of(key, bytes, count, 3);
    (void)context;
    return memcmp(signature + 8, &h, sizeof h) == 0;
}

static void digest(void *context, const void *bytes, size_t count, unsigned char *to)
{
    const unsigned char none[REEF_NET_KEY_BYTES] = {0};
    const uint64_t h[2] = {signature_of(none, bytes, count, 5), signature_of(none, bytes, count, 7)};
    (void)context;
    memcpy(to, h, sizeof h);
}

reef_net_signer net_game_signer(uint64_t seed)
{
    reef_net_signer s = {.sign = sign, .verify = verify, .digest = digest, .context = (void *)(uintptr_t)seed};
    for (size_t i = 0; i < sizeof s.key; i++) s.key[i] = (unsigned char)((seed + 1) * (i + 7) >> i % 8);
    return s;
}
