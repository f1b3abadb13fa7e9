#include "together.h"

#include "near.h"
#include "step.h"
#include <reef/random.h>
#include <reef_net_recording.h>
#ifdef DIVE_UDP
#include <reef_net_udp.h>
#endif
#ifdef DIVE_ZSTD
#include <reef_zstd.h>
#endif

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- what the session calls ---- */

/* Away from the bell and back, around it, and towards whoever has fainted. */
static CrewInput bot_wants(const together *t)
{
    reef_world *w = t->now.world;
    const Lamp own = together_lamp(t);
    const Stage *stage = reef_single_get(w, Stage);
    const uint64_t tick = reef_tick_count(w);
    const int player = reef_net_player(t->net);
    CrewInput in = {.pick = PICK_NONE};
    if (stage->now == STAGE_SHOP && tick % 30 == 0)
        in.pick = tick / 30 % 4 < 3 ? (uint8_t)(1 + tick / 30 % 4) : PICK_GO_ON;
    if (stage->now == STAGE_WON) in.pick = PICK_GO_ON;
    vec out = {own.x - own.bell_x, own.y - own.bell_y}, to = vec_side(vec_unit(out));
    const float far = vec_length(out), wanted = 6.0f + 2.0f * (float)(player < 0 ? 0 : player);
    to = vec_add_scaled(to, vec_unit(out), (wanted - far) * 0.4f);
    for (reef_block b = reef_begin_text(w, "in Mate, in Position"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            const Position *at = &reef_in(&b, Position)[i];
            const Mate *m = &reef_in(&b, Mate)[i];
            if (m->strength == 0.0f && (int)m->player != player) to = (vec){at->x - own.x, at->y - own.y};
        }
    to = vec_unit(to);
    const float angle = (float)(tick % 240) * 0.0262f;
    in.move[0] = (int8_t)(to.x * 100.0f), in.move[1] = (int8_t)(to.y * 100.0f);
    in.aim[0] = (int8_t)(cosf(angle) * 100.0f), in.aim[1] = (int8_t)(sinf(angle) * 100.0f);
    if (tick % 450 < 5) in.keys |= KEY_PULSE;
    if (tick % 200 < 3) in.keys |= KEY_DASH;
    return in;
}

static void sample(void *context, void *input)
{
    together *t = context;
    if (t->bot) t->wants = bot_wants(t);
    memcpy(input, &t->wants, sizeof t->wants);
    t->wants.pick = PICK_NONE; /* counts once */
}

/* ---- recordings ---- */

static reef_status file_write(void *context, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? REEF_OK : REEF_IO;
}

/* Once, when it is known what differs. */
static void difference_save(together *t)
{
    reef_net_desync what;
    if (t->desync == NULL || !reef_net_desync_get(t->net, &what)) return;
    FILE *file = fopen(t->desync, "wb");
    bool good = file != NULL && reef_net_desync_save(t->net, (reef_writer){file_write, file}) == REEF_OK;
    if (file != NULL && fclose(file) != 0) good = false;
    if (!good) fprintf(stderr, "dive: %s can't be written\n", t->desync);
    t->desync = NULL;
}

/* ---- beginning ---- */

static reef_net_config config_of(together *t, reef_net_transport line, uint64_t nonce)
{
    reef_net_config c = {.world = t->now.world,
                         .transport = line,
                         .step = together_step,
                         .sample = sample,
                         .context = t,
                         .input = reef_id(CrewInput),
                         .step_ns = TOGETHER_STEP_NS,
                         .nonce = nonce};
    c.silence_ns = t->silence_ns;
    c.patience_ns = 2 * t->silence_ns;
    if (t->record != NULL) c.record = (reef_writer){file_write, t->record};
#ifdef DIVE_ZSTD
    c.pack = reef_zstd_save_to;
    c.unpack = reef_zstd_load_from;
#endif
    return c;
}

static bool fail(together *t, const char *why)
{
    if (why != NULL) snprintf(t->why, sizeof t->why, "%s", why);
    return false;
}

bool together_new(together *t, uint64_t seed, reef_pool *pool)
{
    *t = (together){0};
    return game_new(&t->now, seed, pool) || fail(t, "no memory");
}

bool together_on(together *t, reef_net_sim *line, uint64_t address)
{
    const reef_net_config c = config_of(t, reef_net_sim_transport(line, address), 1000 + address);
    t->net = address == 1 ? reef_net_host(&c, t->why) : reef_net_join(&c, 1, t->why);
    return t->net != NULL;
}

#ifdef DIVE_UDP
static uint64_t any_number(const together *t, uint64_t of)
{
    struct timespec now = {0};
    (void)timespec_get(&now, TIME_UTC);
    const uint64_t z = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + of) ^ (uint64_t)(uintptr_t)t;
    return (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9) | 1;
}

bool together_host(together *t, const char *address, uint16_t port, char *invitation, size_t size)
{
    t->udp = reef_net_udp_new(&(reef_net_udp_config){.port = port}, t->why);
    if (t->udp == NULL) return false;
    const uint64_t until = (uint64_t)time(NULL) + 24 * 3600;
    if (reef_net_udp_invite(t->udp, address, until, invitation, size) < 0)
        return fail(t, "the address isn't an IPv4 address");
    reef_net_config c = config_of(t, reef_net_udp_transport(t->udp), any_number(t, 0));
    c.signer = reef_net_udp_signer(t->udp);
    t->net = reef_net_host(&c, t->why);
    return t->net != NULL;
}

bool together_join(together *t, const char *invitation, uint16_t port)
{
    t->udp = reef_net_udp_new(&(reef_net_udp_config){.port = port}, t->why);
    if (t->udp == NULL) return false;
    const uint64_t host = reef_net_udp_invited(t->udp, invitation, (uint64_t)time(NULL), t->why);
    if (host == 0) return false;
    reef_net_config c = config_of(t, reef_net_udp_transport(t->udp), any_number(t, reef_net_udp_port(t->udp)));
    c.signer = reef_net_udp_signer(t->udp);
    t->net = reef_net_join(&c, host, t->why);
    return t->net != NULL;
}
#else
bool together_host(together *t, const char *address, uint16_t port, char *invitation, size_t size)
{
    (void)address, (void)port, (void)invitation, (void)size;
    return fail(t, "this program was built without libsodium (Debian: libsodium-dev)");
}

bool together_join(together *t, const char *invitation, uint16_t port)
{
    (void)invitation, (void)port;
    return fail(t, "this program was built without libsodium (Debian: libsodium-dev)");
}
#endif

void together_end(together *t)
{
    reef_net_free(t->net);
#ifdef DIVE_UDP
    reef_net_udp_free(t->udp);
#endif
    game_free(&t->now);
    *t = (together){0};
}

/* ---- playing ---- */

bool together_update(together *t, uint64_t now_ns)
{
    reef_net_notice notice;
#ifdef DIVE_UDP
    if (t->udp != NULL) reef_net_udp_time(t->udp, now_ns, (uint64_t)time(NULL));
#endif
    if (reef_net_update(t->net, now_ns) < 0) return fail(t, "no memory");
    difference_save(t);
    while (reef_net_notice_next(t->net, &notice)) {}
    return true;
}

bool together_is_over(together *t)
{
    if (reef_net_state(t->net) != REEF_NET_ENDED) return false;
    return !fail(t, reef_net_reason(t->net));
}

Lamp together_lamp(const together *t)
{
    reef_world *w = t->now.world;
    const Lamp *lamp = reef_single_get(w, Lamp);
    const int player = reef_net_player(t->net);
    const reef_entity own = player < 0 ? (reef_entity){0} : mate_of(w, (uint32_t)player);
    if (reef_entity_is_null(own)) return *lamp;
    return mate_lamp(lamp, reef_get(w, own, Mate), reef_get(w, own, Position));
}
