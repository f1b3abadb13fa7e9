/* Fuzzes what a session of reef_net reads. Once, a host and a player play over a perfect line, until both play and
 * their ticks are confirmed; what the player sends then is kept. Each run begins with the host as it was then: making a
 * session anew for each run would take a thousand times as long. The player's datagrams are what the fuzzer makes:
 *
 *     kind & 1    raw: two bytes the length, then so many; kind & 4: with the right session and sender
 *     otherwise   one of those that were kept, of which some bytes are replaced: which; how many; for each two bytes
 *                 where, and one what
 *     kind & 2    a tick's time passes, and the host updates
 *
 * The host must go on or end with a reason, stay within its bounds, and its world must be valid. */
#include "must.h"
#include "net.h"
#include "reef_net_sim.h"
#include <reef.h>
#include <reef/all.h>
#include <reef/control.h>

typedef struct Keys {
    int8_t x;
    uint8_t fire;
} Keys;
typedef struct Count {
    int32_t n;
} Count;
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, (x, "", -1, 1), (fire, "", 0, 1));
REEF_COMPONENT(Count);
REEF_FIELDS(Count, n);

#define STEP_NS UINT64_C(16666667)
enum { AHEAD = 12, HEAD = 17, KEPT = 64, QUEUED = 16 }; /* HEAD: message, session, incarnation */

typedef struct datagram {
    size_t count;
    unsigned char bytes[REEF_NET_DATAGRAM_MAX];
} datagram;

static reef_net *host, saved;
static reef_world *world;
static reef_snapshot *state; /* before tick saved.checked */
static unsigned char *saved_inputs, *saved_signatures, *saved_digests;
static uint64_t now, saved_now;
static datagram kept[KEPT], queue[QUEUED];
static uint32_t kept_count, queue_count, queue_at;

static reef_status step(void *context, reef_world *w, const reef_net_tick *t)
{
    (void)context;
    int32_t sum = 0;
    for (int p = 0; p < REEF_NET_PLAYERS_MAX; p++) {
        const Keys *k = t->input[p];
        if (k == NULL) continue;
        MUST(k->x >= -1 && k->x <= 1 && k->fire <= 1);
        sum += k->x;
        if (k->fire && t->tick % 64 == 0 && reef_entity_is_null(reef_spawn(w, reef_with(Count, sum))))
            return REEF_NO_MEMORY;
    }
    return reef_tick(w, 1.0f / 60);
}

static void sample(void *context, void *input)
{
    static uint32_t n;
    (void)context;
    n++;
    *(Keys *)input = (Keys){(int8_t)(n % 3 - 1), n % 7 == 0};
}

/* ---- the player, until the host is saved ---- */

static reef_net_transport below;

static void player_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    (void)context;
    datagram *d = &kept[kept_count++ % KEPT];
    d->count = count;
    memcpy(d->bytes, bytes, count);
    below.send(below.context, to, bytes, count);
}

static bool player_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    (void)context;
    return below.receive(below.context, from, bytes, count);
}

/* ---- the line of the saved host ---- */

static void nowhere(void *context, uint64_t to, const void *bytes, size_t count)
{
    (void)context, (void)to, (void)bytes;
    MUST(count <= REEF_NET_DATAGRAM_MAX);
}

static bool queued(void *context, uint64_t *from, void *bytes, size_t *count)
{
    (void)context;
    if (queue_at == queue_count) return false;
    const datagram *d = &queue[queue_at++];
    *from = 2;
    *count = d->count;
    memcpy(bytes, d->bytes, d->count);
    return true;
}

/* ---- saving the host, and setting it back ---- */

enum {
    INPUTS = NET_SEATS * NET_RING * sizeof(Keys),
    SIGNATURES = NET_SEATS * NET_BLOCKS * REEF_NET_SIGNATURE_BYTES,
    DIGESTS = NET_RING * NET_DIGEST
};

static unsigned char *copy_of(const void *bytes, size_t count)
{
    unsigned char *copy = malloc(count);
    MUST(copy);
    return memcpy(copy, bytes, count);
}

static void begin(void)
{
    reef_net_sim *sim = reef_net_sim_new(1, &(reef_net_line){0}, NULL);
    reef_net_config c = {
        .step = step, .sample = sample, .input = reef_id(Keys), .step_ns = STEP_NS, .ahead_max = AHEAD};
    reef_world *other = reef_world_new(NULL);
    world = c.world = reef_world_new(NULL);
    c.transport = reef_net_sim_transport(sim, 1);
    c.nonce = 1;
    host = reef_net_host(&c, NULL);
    below = reef_net_sim_transport(sim, 2);
    c.transport = (reef_net_transport){player_send, player_receive, NULL};
    c.world = other;
    c.nonce = 2;
    reef_net *player = reef_net_join(&c, 1, NULL);
    MUST(host && player);
    for (int i = 0; i < 300; i++, now += STEP_NS) {
        reef_net_sim_time(sim, now);
        MUST(reef_net_update(host, now) == REEF_OK && reef_net_update(player, now) == REEF_OK);
    }
    MUST(reef_net_state(player) == REEF_NET_PLAYING && host->checked > 200);
    reef_net_free(player);
    reef_world_free(other);
    (void)reef_own_time(world, NULL);
    reef_world *fork = net__fork_at(host, host->checked);
    state = reef_snapshot_take(fork);
    reef_world_free(fork);
    MUST(state);
    host->config.transport = (reef_net_transport){nowhere, queued, NULL};
    host->owns = false;
    host->notice_count = 0;
    net__kept_free(host);
    saved = *host;
    saved_now = now;
    saved_inputs = copy_of(host->inputs, INPUTS);
    saved_signatures = copy_of(host->signatures, SIGNATURES);
    saved_digests = copy_of(host->digests, DIGESTS);
    reef_net_sim_free(sim);
}

static void back(void)
{
    net__desync_free(host);
    net__kept_free(host);
    for (uint32_t i = 0; i < NET_LINKS; i++) net__guest_release(host, &host->links[i]);
    net__join_release(host);
    reef_net is = *host;
    (void)reef_own_time(world, NULL);
    MUST(reef_restore(world, state) >= 0);
    *host = saved;
    host->history = is.history; /* what was made anew since; net__history_begin frees the history */
    host->notices = is.notices;
    host->notice_room = is.notice_room;
    memcpy(host->inputs, saved_inputs, INPUTS);
    memcpy(host->signatures, saved_signatures, SIGNATURES);
    memcpy(host->digests, saved_digests, DIGESTS);
    MUST(net__history_begin(host, saved.checked) == REEF_OK);
    memcpy(host->hashes, saved.hashes, sizeof host->hashes);
    host->hashed = saved.hashed;
    now = saved_now;
    queue_count = queue_at = 0;
}

/* ---- runs ---- */

static uint32_t byte_get(const uint8_t **data, size_t *size)
{
    if (*size == 0) return 0;
    --*size;
    return *(*data)++;
}

static void datagram_get(datagram *d, uint32_t kind, const uint8_t **data, size_t *size)
{
    if (!(kind & 1)) {
        *d = kept[byte_get(data, size) % KEPT];
        for (uint32_t n = byte_get(data, size) % 8; n; n--) {
            uint32_t at = byte_get(data, size);
            at |= byte_get(data, size) << 8;
            if (d->count) d->bytes[at % d->count] = (unsigned char)byte_get(data, size);
        }
        return;
    }
    size_t count = byte_get(data, size);
    count |= (size_t)(byte_get(data, size) & 7) << 8;
    if (count > *size) count = *size;
    if (count > sizeof d->bytes) count = sizeof d->bytes;
    d->count = count;
    memcpy(d->bytes, *data, count);
    *data += count;
    *size -= count;
    if (!(kind & 4) || count < HEAD) return;
    memset(d->bytes + 1, 0, HEAD - 1); /* session 1 of sender 2, in little endian */
    d->bytes[1] = 1;
    d->bytes[9] = 2;
}

static void update(void)
{
    now += STEP_NS;
    MUST(reef_net_update(host, now) == REEF_OK);
    MUST(reef_net_tick_next(host) <= reef_net_confirmed(host) + NET_SLOTS / 2);
    queue_count = queue_at = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[REEF_DETAIL_MAX];
    reef_net_notice notice;
    if (host == NULL) begin();
    back();
    while (size > 0) {
        const uint32_t kind = byte_get(&data, &size);
        datagram_get(&queue[queue_count++], kind, &data, &size);
        if (kind & 2 || queue_count == QUEUED) update();
    }
    update();
    while (reef_net_notice_next(host, &notice)) {}
    MUST(reef_net_state(host) != REEF_NET_ENDED || reef_net_reason(host)[0]);
    MUST(reef_validate(world, message, sizeof message) == REEF_OK);
    return 0;
}
