/* Writing recordings: those of a session while it is played, and that of a difference. recorder.h says what is in them.
 *
 * A session goes on when its recording can't be written. Nothing more is written then, and it counts the ticks that are
 * missing. */
#include "recorder.h"

static reef_status piece(reef_writer to, uint32_t kind, const void *bytes, size_t count)
{
    unsigned char head[RECORD_HEAD];
    wire w = {head, 0, sizeof head, false};
    wire_u8(&w, kind);
    wire_u32(&w, (uint32_t)count);
    const reef_status s = to.write(to.context, head, sizeof head);
    return s == REEF_OK ? to.write(to.context, bytes, count) : s;
}

static reef_status state_write(void *context, const void *bytes, size_t count)
{
    enum { MOST = 1 << 20 };
    const reef_writer *to = context;
    reef_status s = REEF_OK;
    for (size_t at = 0; at < count && s == REEF_OK; at += MOST)
        s = piece(*to, RECORD_STATE, (const unsigned char *)bytes + at, count - at < MOST ? count - at : MOST);
    return s;
}

/* Writes the state of `world`, which is the one before `tick`. */
static reef_status begin(const reef_net *net, reef_writer to, uint64_t tick, reef_world *world)
{
    unsigned char room[14 + RECORD_INPUT_TEXT + 1]; /* and the zero of the text */
    const reef_save_desc desc = {.raw = true, .sealed = true, .unsynced = true};
    wire w = {room, 0, sizeof room, false};
    wire_u32(&w, RECORD_VERSION);
    wire_u64(&w, tick);
    wire_u16(&w, net->input_bytes);
    w.at += net__type_text(net->config.input, (char *)room + w.at, RECORD_INPUT_TEXT);
    const reef_status s = piece(to, RECORD_BEGIN, room, w.at);
    return s == REEF_OK ? reef_save_to(world, (reef_writer){state_write, &to}, &desc) : s;
}

static reef_status tick_put(const reef_net *net, reef_writer to, const reef_net_tick *t)
{
    unsigned char room[9 + NET_SEATS * REEF_NET_INPUT_MAX];
    wire w = {room, 0, sizeof room, false};
    wire_u64(&w, t->tick);
    wire_u8(&w, t->players);
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (t->input[s]) wire_put(&w, t->input[s], net->input_bytes);
    return piece(to, RECORD_TICK, room, w.at);
}

static reef_status hash_put(reef_writer to, uint32_t kind, uint64_t tick, uint64_t hash)
{
    unsigned char room[16];
    wire w = {room, 0, sizeof room, false};
    wire_u64(&w, tick);
    wire_u64(&w, hash);
    return piece(to, kind, room, w.at);
}

static void text_put(wire *w, const char *text)
{
    const size_t count = strlen(text);
    wire_u16(w, (uint32_t)count);
    wire_put(w, text, count);
}

static reef_status difference_put(reef_writer to, const net_desync *d)
{
    unsigned char room[17 + sizeof d->report];
    wire w = {room, 0, sizeof room, false};
    const net_report *r = &d->report;
    const uint32_t first = d->unequal ? 0 : 1; /* the state to begin with is told only if it differs */
    reef_status s = REEF_OK;
    for (uint32_t i = first; i < d->count[NET_TICKS] && s == REEF_OK; i++)
        s = hash_put(to, RECORD_HASH, d->equal + i, d->mine[NET_TICKS][i]);
    for (uint32_t i = first; i < d->their_count[NET_TICKS] && s == REEF_OK; i++)
        s = hash_put(to, RECORD_OTHER, d->equal + i, d->theirs[NET_TICKS][i]);
    wire_u64(&w, r->tick);
    wire_u8(&w, (uint32_t)r->player);
    wire_u32(&w, r->entity.index);
    wire_u32(&w, r->entity.generation);
    text_put(&w, r->system);
    text_put(&w, r->component);
    text_put(&w, r->field);
    text_put(&w, r->here);
    text_put(&w, r->there);
    return s == REEF_OK ? piece(to, RECORD_DIFFERS, room, w.at) : s;
}

/* ---- a session ---- */

void net__record_begin(reef_net *net, uint64_t tick)
{
    const reef_writer to = net->config.record;
    if (to.write == NULL || net->recording != REEF_OK) return;
    if (!net->recorded) net->recording = to.write(to.context, RECORD_MARK, RECORD_MARK_BYTES);
    net->recorded = true;
    if (net->recording != REEF_OK) return;
    reef_world *state = reef_fork(net->config.world); /* as for joiners: without what forks don't have */
    net->recording = state ? begin(net, to, tick, state) : REEF_NO_MEMORY;
    reef_world_free(state);
}

void net__record_tick(reef_net *net, const reef_net_tick *tick)
{
    if (net->config.record.write == NULL) return;
    if (net->recording == REEF_OK) net->recording = tick_put(net, net->config.record, tick);
    net->stats.unrecorded += net->recording != REEF_OK;
}

void net__record_hash(reef_net *net, uint64_t tick, uint64_t hash)
{
    if (net->config.record.write && net->recording == REEF_OK)
        net->recording = hash_put(net->config.record, RECORD_HASH, tick, hash);
}

void net__record_difference(reef_net *net)
{
    if (net->config.record.write && net->recording == REEF_OK)
        net->recording = difference_put(net->config.record, net->desync);
}

/* ---- a difference ---- */

reef_status reef_net_desync_save(const reef_net *net, reef_writer to)
{
    const net_desync *d = net ? net->desync : NULL;
    if (d == NULL || (!d->done && !d->over) || to.write == NULL) return REEF_BAD_ARGUMENT;
    reef_world *state = d->start ? reef_snapshot_fork(d->start) : NULL;
    if (state == NULL) return REEF_NO_MEMORY;
    reef_status s = to.write(to.context, RECORD_MARK, RECORD_MARK_BYTES);
    if (s == REEF_OK) s = begin(net, to, d->start_tick, state);
    reef_world_free(state);
    for (uint64_t t = d->start_tick; t < d->inputs_until && s == REEF_OK; t++) {
        reef_net_tick tick = {.tick = t};
        net__unpack(net, d->inputs + (size_t)(t - d->start_tick) * net->packed_bytes, &tick);
        s = tick_put(net, to, &tick);
    }
    return s == REEF_OK ? difference_put(to, d) : s;
}
