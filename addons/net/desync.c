/* Two programs whose confirmed states differ find out where, before the session ends.
 *
 * Both go back to the last state that was equal (kept.c), or if they don't know one to the earliest that both still
 * have, and then compare lists of hashes, one stage after the other. Both know both lists, and so both take the same
 * way:
 *
 *     TICKS    that state, and the one after each tick  -> the first tick that led to different states; or the states
 *              since                                       that they begin with differ already, and nothing is played
 *     SYSTEMS  that tick again, with the first k systems only, k = 0, 1 ...   -> the system
 *     PARTS    the parts of the hash after the tick: of the ids, names, times ..., and of each type; the highest index
 *              of an entity                             -> the type, and with which stage places begin
 *     PLACES   the values of the type by ranges of the entity's index: 256 ranges, then 256 within one ...
 *                                                       -> the entity
 *     VALUE    its value                                -> the field, and both values
 *
 * The lists of SYSTEMS and PARTS need only the tick, and travel together. So among 65,536 entities the difference is
 * named after five times the way between the two.
 *
 *     DESYNC   message, session, incarnation; tick of the hash, and the hash; tick of the state to begin with, the
 *              later one of both sides counts; stage; count; numbers of 8 bytes
 *
 * Each side sends the lists that it has until the other one has got on. The session goes on meanwhile: for a list the
 * world is set to an earlier state and back, within an update. If the state to begin with is much older than the ticks
 * that are compared, those between are played some in an update. What can't be found within three seconds is left out
 * of the report.
 *
 * A joiner is compared with from the state on that it got, and doesn't become a member while it differs. So that nobody
 * keeps the host busy by coming again and again, the host searches with such guests once in `patience_ns`, and sends
 * others away.
 *
 * Then each side judges by itself. It is right if a quorum of the members has told its hash. Who is right drops the
 * other one; who isn't ends. So a program that plays other rules, or lies about its hashes, ends its own part only. If
 * the others don't drop it with this one (it has lied to this one alone), its hashes don't count here any more. */
#include "desync.h"
#include <reef/control.h>
#include <reef/hash.h>
#include <reef/inspect.h>
#include <reef/schedule.h>
#include <stdio.h>

enum { FIRST_SHIFT = 24, SHIFT = 8, SLICE = 32 }; /* SLICE: ticks that an update plays on the way to `equal` */

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* ---- playing again ---- */

/* Keeps the state to begin with and the inputs since, before the history drops them. */
static reef_status keep(reef_net *net, net_desync *d)
{
    if (d->start) return REEF_OK;
    if (net->history == NULL) return REEF_NO_MEMORY;
    const uint64_t first = net->base + reef_history_reach(net->history).first;
    uint64_t from = d->equal;
    reef_world *fork = net__kept_fork(net, d->with, &from);
    if (fork == NULL && first > d->equal && first <= d->tick) fork = net__fork_at(net, from = first);
    if (fork == NULL) return REEF_NO_MEMORY;
    if (from > d->equal) d->equal = from;
    d->inputs_bytes = (size_t)(d->tick - from) * net->packed_bytes;
    d->inputs = net__alloc(net, d->inputs_bytes + 1);
    if (d->inputs) d->start = reef_snapshot_take(fork);
    reef_world_free(fork);
    if (d->start == NULL) {
        net__release(net, d->inputs, d->inputs_bytes + 1);
        d->inputs = NULL;
        return REEF_NO_MEMORY;
    }
    d->start_tick = from;
    d->inputs_until = d->tick;
    for (uint64_t t = from; t < d->tick; t++) {
        size_t bytes;
        unsigned char *to = d->inputs + (size_t)(t - from) * net->packed_bytes;
        const void *input = t < first ? NULL : reef_history_input(net->history, t - net->base, &bytes);
        if (input) memcpy(to, input, net->packed_bytes);
        else net__pack(net, t, to);
    }
    return REEF_OK;
}

static reef_status play(reef_net *net, const net_desync *d, uint64_t t)
{
    reef_net_tick tick = {.tick = t};
    net__unpack(net, d->inputs + (size_t)(t - d->start_tick) * net->packed_bytes, &tick);
    return net__step(net, net->config.world, &tick);
}

/* Sets the world to the last state that is there, and writes its tick. */
static reef_status nearest(reef_net *net, const net_desync *d, uint64_t *tick)
{
    *tick = d->reached ? d->reached_tick : d->start_tick;
    return reef_restore(net->config.world, d->reached ? d->reached : d->start);
}

static void reached_drop(net_desync *d)
{
    reef_snapshot_free(d->reached);
    d->reached = NULL;
}

static reef_status approach(reef_net *net, net_desync *d)
{
    uint64_t t;
    reef_status s = nearest(net, d, &t);
    for (uint32_t i = 0; s >= 0 && i < SLICE; i++, t++) s = play(net, d, t);
    reef_snapshot *reached = s >= 0 ? reef_snapshot_take(net->config.world) : NULL;
    if (reached == NULL) return s < 0 ? s : REEF_NO_MEMORY;
    reached_drop(d);
    d->reached = reached;
    d->reached_tick = t;
    return REEF_OK;
}

static reef_status ticks_list(reef_net *net, net_desync *d)
{
    uint64_t from;
    reef_status s = nearest(net, d, &from);
    for (uint64_t t = from; s >= 0; t++) {
        if (t >= d->equal) d->mine[NET_TICKS][d->count[NET_TICKS]++] = reef_hash(net->config.world);
        if (t == d->tick) break;
        s = play(net, d, t);
    }
    return s;
}

/* ---- systems ---- */

typedef struct systems {
    reef_world *world;
    reef_system_id of[NET_LIST];
    uint32_t count;
} systems;

static bool system_find(void *context, const reef_system_info *i)
{
    systems *s = context;
    if (i->on && s->count < NET_LIST - 1) s->of[s->count++] = i->system;
    return true;
}

static reef_status systems_list(reef_net *net, net_desync *d)
{
    systems all = {.world = net->config.world};
    reef_status s = REEF_OK;
    (void)reef_visit_systems(all.world, system_find, &all);
    if (d->before == NULL) {
        uint64_t from;
        s = nearest(net, d, &from);
        for (uint64_t t = from; s >= 0 && t < d->at; t++) s = play(net, d, t);
        if (s >= 0) d->before = reef_snapshot_take(all.world);
        if (s >= 0 && d->before == NULL) s = REEF_NO_MEMORY;
    }
    if (d->unequal && s >= 0) { /* no system made the difference */
        d->mine[NET_SYSTEMS][d->count[NET_SYSTEMS]++] = reef_hash(all.world);
        if (d->after == NULL) d->after = reef_snapshot_take(all.world);
        return d->after ? REEF_OK : REEF_NO_MEMORY;
    }
    for (uint32_t k = 0; s >= 0 && k <= all.count; k++) {
        for (uint32_t i = 0; i < all.count; i++) (void)reef_system_enable(all.world, all.of[i], i < k);
        s = reef_restore(all.world, d->before);
        if (s >= 0) s = play(net, d, d->at);
        d->mine[NET_SYSTEMS][d->count[NET_SYSTEMS]++] = reef_hash(all.world);
    }
    for (uint32_t i = 0; i < all.count; i++) (void)reef_system_enable(all.world, all.of[i], true);
    if (s >= 0 && d->after == NULL) d->after = reef_snapshot_take(all.world); /* all systems ran last */
    return s >= 0 && d->after == NULL ? REEF_NO_MEMORY : s;
}

static void system_name(reef_net *net, net_desync *d, uint32_t k)
{
    if (d->unequal) {
        (void)snprintf(d->report.system, sizeof d->report.system, "none: the states before this tick differ");
        return;
    }
    systems all = {.world = net->config.world};
    (void)reef_visit_systems(all.world, system_find, &all);
    if (k > 0 && k <= all.count) {
        const char *name = reef_system_name(all.world, all.of[k - 1]);
        (void)snprintf(d->report.system, sizeof d->report.system, "%s", name ? name : "?");
    } else if (k == 0) (void)snprintf(d->report.system, sizeof d->report.system, "the step itself");
}

/* ---- parts ---- */

enum { KINDS = REEF_HASH_STORE + 1, TYPES = KINDS + 1 }; /* between them: the highest index */

static bool part_add(void *context, const reef_hash_part *part)
{
    net_desync *d = context;
    uint64_t *list = d->mine[NET_PARTS];
    if (part->kind != REEF_HASH_TYPE) {
        if ((uint32_t)part->kind < (uint32_t)KINDS) list[part->kind] = mix(list[part->kind], part->hash);
        return true;
    }
    if (d->count[NET_PARTS] == NET_LIST) return true;
    d->types[d->count[NET_PARTS]] = part->component;
    list[d->count[NET_PARTS]++] =
        mix(part->hash, net__digest(reef_type_name(part->component), strlen(reef_type_name(part->component))));
    return true;
}

static bool index_note(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    (void)type, (void)data, (void)size;
    *(uint64_t *)context = e.index;
    return true;
}

static reef_status parts_list(reef_net *net, net_desync *d)
{
    memset(d->mine[NET_PARTS], 0, TYPES * sizeof d->mine[NET_PARTS][0]);
    d->count[NET_PARTS] = TYPES;
    (void)reef_visit_entities(net->config.world, index_note, &d->mine[NET_PARTS][KINDS]);
    return reef_hash_parts(net->config.world, part_add, d) ? REEF_OK : REEF_NO_MEMORY;
}

/* ---- places ---- */

typedef struct places {
    net_desync *d;
    uint64_t *list;
    uint32_t shift;
    const void *value; /* of the entity with index d->lowest, when shift is 0 */
    size_t size;
    reef_entity entity;
} places;

static uint64_t value_hash(reef_component type, const void *data, size_t size)
{
    reef_type_info i;
    if (data == NULL || !reef_type_get(type, &i)) return 1;
    if (i.field_count == 0) return net__digest(data, size);
    uint64_t h = 0;
    for (uint32_t f = 0; f < i.field_count; f++)
        h = mix(h, net__digest((const char *)data + i.fields[f].offset, i.fields[f].bytes));
    return h;
}

static bool place_add(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    places *p = context;
    if (type.id != p->d->type.id || e.index < p->d->lowest) return true;
    const uint64_t place = (uint64_t)(e.index - p->d->lowest) >> p->shift;
    if (place >= 1u << SHIFT) return true;
    const uint64_t hash = mix(mix(reef_entity_bits(e), 7), value_hash(type, data, size)) >> 32;
    if (p->list) p->list[place / 2] ^= hash << 32 * (place & 1); /* two of them in a number */
    if (e.index == p->d->lowest) {
        p->value = data;
        p->size = size;
        p->entity = e;
    }
    return true;
}

static uint32_t shift_of(uint32_t stage) { return FIRST_SHIFT - (stage - NET_PLACES) * SHIFT; }

/* The stage in which each index is in one of the ranges. */
static uint32_t places_begin(uint64_t highest)
{
    uint32_t stage = NET_VALUE - 1;
    while (stage > NET_PLACES && highest >> shift_of(stage) >> SHIFT) stage--;
    return stage;
}

static reef_status places_list(reef_net *net, net_desync *d, uint32_t stage)
{
    places p = {.d = d, .list = d->mine[stage], .shift = shift_of(stage)};
    memset(p.list, 0, sizeof d->mine[stage]);
    d->count[stage] = (1u << SHIFT) / 2;
    return reef_visit_world(net->config.world, place_add, &p) ? REEF_OK : REEF_NO_MEMORY;
}

static reef_status value_list(reef_net *net, net_desync *d)
{
    places p = {.d = d};
    uint64_t *list = d->mine[NET_VALUE];
    if (!reef_visit_world(net->config.world, place_add, &p)) return REEF_NO_MEMORY;
    const size_t room = (NET_LIST - 2) * sizeof list[0], size = p.size < room ? p.size : room;
    memset(list, 0, sizeof d->mine[NET_VALUE]);
    list[0] = p.entity.generation;
    list[1] = p.value ? size : 0;
    if (p.value) memcpy(&list[2], p.value, size);
    d->count[NET_VALUE] = 2 + (uint32_t)((size + 7) / 8);
    d->report.entity = p.entity;
    return REEF_OK;
}

/* ---- values ---- */

/* Names the first field that differs, and writes both values. */
static void value_compare(net_desync *d)
{
    reef_type_info i;
    const uint64_t *mine = d->mine[NET_VALUE], *theirs = d->theirs[NET_VALUE];
    net_report *r = &d->report;
    if (mine[1] == 0 || theirs[1] == 0 || mine[0] != theirs[0]) {
        (void)snprintf(r->here, sizeof r->here, mine[0] ? "there" : "not there");
        (void)snprintf(r->there, sizeof r->there, theirs[0] ? (mine[0] ? "another entity" : "there") : "not there");
        if (r->entity.generation == 0) r->entity = (reef_entity){.index = d->lowest, .generation = (uint32_t)theirs[0]};
        return;
    }
    if (!reef_type_get(d->type, &i)) return;
    const unsigned char *a = (const unsigned char *)&mine[2], *b = (const unsigned char *)&theirs[2];
    const size_t size = (size_t)(mine[1] < theirs[1] ? mine[1] : theirs[1]);
    for (uint32_t f = 0; f < i.field_count; f++) {
        const reef_field *field = &i.fields[f];
        const size_t one = net__element_bytes(field->kind);
        for (size_t at = field->offset; at + one <= field->offset + field->bytes && at + one <= size; at += one) {
            if (memcmp(a + at, b + at, one) == 0) continue;
            net__field_name(field, at, r->field, sizeof r->field);
            net__element_text(field, a + at, r->here, sizeof r->here);
            net__element_text(field, b + at, r->there, sizeof r->there);
            return;
        }
    }
}

/* ---- the stages ---- */

/* The first number that differs; the shorter list's length if one is longer; NET_LIST: none. */
static uint32_t difference(const net_desync *d, uint32_t stage, uint32_t from)
{
    const uint32_t a = d->count[stage], b = d->their_count[stage], n = a < b ? a : b;
    for (uint32_t i = from; i < n; i++)
        if (d->mine[stage][i] != d->theirs[stage][i]) return i;
    return a == b ? NET_LIST : n;
}

/* What follows from both lists of the present stage. False: nothing more can be found. */
static bool conclude(reef_net *net, net_desync *d)
{
    const uint32_t from = d->stage == NET_PARTS ? TYPES : 0;
    const uint32_t i = d->stage == NET_VALUE ? 0 : difference(d, d->stage, from);
    switch (d->stage) {
    case NET_TICKS:
        if (i >= d->count[NET_TICKS]) return false;
        d->unequal = i == 0;
        d->at = d->report.tick = i ? d->equal + i - 1 : d->equal;
        return true;
    case NET_SYSTEMS: system_name(net, d, i); return true;
    case NET_PARTS:
        if (i >= d->count[NET_PARTS]) {
            const uint32_t kind = difference(d, NET_PARTS, 0);
            (void)snprintf(d->report.component, sizeof d->report.component, "part %u of the hash", kind);
            return false;
        }
        d->type = d->types[i];
        (void)snprintf(d->report.component, sizeof d->report.component, "%s", reef_type_name(d->type));
        d->lowest = 0;
        d->places = places_begin(d->mine[NET_PARTS][KINDS] | d->theirs[NET_PARTS][KINDS]);
        return true;
    case NET_VALUE: value_compare(d); return false;
    default:
        if (i >= (1u << SHIFT) / 2) return false;
        d->lowest += (2 * i + ((uint32_t)d->mine[d->stage][i] == (uint32_t)d->theirs[d->stage][i]))
                     << shift_of(d->stage);
        return true;
    }
}

static reef_status list_of(reef_net *net, net_desync *d, uint32_t stage)
{
    if (stage == NET_TICKS) return ticks_list(net, d);
    if (stage == NET_SYSTEMS) return systems_list(net, d);
    const reef_status s = reef_restore(net->config.world, d->after);
    if (s < 0) return s;
    if (stage == NET_PARTS) return parts_list(net, d);
    return stage == NET_VALUE ? value_list(net, d) : places_list(net, d, stage);
}

static reef_status back(reef_net *net, net_desync *d)
{
    const reef_status s = d->present ? reef_restore(net->config.world, d->present) : REEF_OK;
    if (s < 0) return s;
    reef_snapshot_free(d->present);
    d->present = NULL;
    return REEF_OK;
}

/* Is the state to begin with so old that a list would play too many ticks in an update? */
static bool is_far(const net_desync *d)
{
    return d->start && (d->reached ? d->reached_tick : d->start_tick) + SLICE < d->equal;
}

/* Makes the list, or gets nearer to the ticks that it is about. */
static reef_status list_make(reef_net *net, net_desync *d, uint32_t stage)
{
    reef_status s = keep(net, d);
    d->count[stage] = 0;
    if (s < 0) return s;
    d->present = reef_snapshot_take(net->config.world);
    if (d->present == NULL) return REEF_NO_MEMORY;
    if (is_far(d)) (void)approach(net, d);
    else d->made[stage] = list_of(net, d, stage) >= 0;
    return back(net, d);
}

/* The last stage whose list needs nothing that isn't found yet. */
static uint32_t stage_ahead(const net_desync *d) { return d->stage == NET_SYSTEMS ? NET_PARTS : d->stage; }

/* Sends the lists of this stage, and of the one before, in which the other side may be. */
static void lists_send(reef_net *net, net_desync *d)
{
    d->sent_at = net->now;
    if (!d->with->used || d->with->incarnation != d->with_incarnation) return;
    uint32_t from = d->stage ? d->stage - 1 : 0;
    if (d->places && d->stage == d->places) from = NET_SYSTEMS;
    for (uint32_t stage = from; stage <= stage_ahead(d); stage++) {
        if (!d->made[stage]) continue;
        unsigned char room[REEF_NET_DATAGRAM_MAX - 32];
        wire w = {room, 0, sizeof room, false};
        net__head(net, &w, NET_DESYNC);
        wire_u64(&w, net->incarnation);
        wire_u64(&w, d->tick);
        wire_u64(&w, reef_net_hash(net, d->tick));
        wire_u64(&w, d->equal);
        wire_u8(&w, stage);
        wire_u8(&w, d->count[stage]);
        for (uint32_t i = 0; i < d->count[stage]; i++) wire_u64(&w, d->mine[stage][i]);
        net__send(net, d->with, room, w.at);
    }
}

void net__desync_free(reef_net *net)
{
    net_desync *d = net->desync;
    if (d == NULL) return;
    reef_snapshot_free(d->start);
    reef_snapshot_free(d->before);
    reef_snapshot_free(d->after);
    reef_snapshot_free(d->present);
    reached_drop(d);
    net__release(net, d->inputs, d->inputs_bytes + 1);
    net__release(net, d, sizeof *d);
    net->desync = NULL;
}

/* Begins again with other ticks, from the same states. Two programs that are right need this twice; more often it only
 * costs time. */
static void again(net_desync *d, uint64_t tick, uint64_t equal)
{
    enum { RESTARTS = 8 };
    if (d->restarts++ >= RESTARTS) return;
    d->tick = tick;
    d->equal = tick - equal < NET_LIST ? equal : tick - (NET_LIST - 1);
    if (d->reached && d->reached_tick > d->equal) reached_drop(d);
    d->report = (net_report){.tick = d->equal, .player = d->report.player};
    d->stage = NET_TICKS;
    d->places = 0;
    d->done = d->unequal = false;
    memset(d->made, 0, sizeof d->made);
    memset(d->count, 0, sizeof d->count);
    memset(d->their_count, 0, sizeof d->their_count);
    reef_snapshot_free(d->before);
    reef_snapshot_free(d->after);
    d->before = d->after = NULL;
}

static void begin(reef_net *net, net_link *with, uint64_t tick)
{
    net_desync *d = net->desync;
    if (!with->differs) with->differs_at = net->now;
    with->differs = true;
    if (d && (!d->over || d->present)) return;
    net__desync_free(net);
    d = net->desync = net__alloc(net, sizeof *d);
    if (d == NULL) return; /* the next hash tries again */
    *d = (net_desync){.with = with, .with_incarnation = with->incarnation, .tick = tick, .began_at = net->now};
    /* to the last state that was equal, or as far back as both can go */
    d->equal = tick > NET_LIST - 1 ? tick - (NET_LIST - 1) : 0;
    if (with->equal_known && with->equal_tick > d->equal) d->equal = with->equal_tick;
    d->report.player = with->guest ? -1 : (int)(with - net->links);
    d->report.tick = d->equal;
    (void)keep(net, d);
}

void net__desync_moved(reef_net *net, const net_link *from, net_link *to)
{
    if (net->desync == NULL || net->desync->with != from) return;
    net->desync->with = to;
    net->desync->report.player = (int)(to - net->links);
}

static void guest_drop(reef_net *net, net_link *guest)
{
    net__guest_release(net, guest);
    *guest = (net_link){0};
}

/* As the host: is this a guest with whom it doesn't search? */
static bool too_soon(reef_net *net, const net_link *link)
{
    if (!link->guest) return false;
    if (net->guest_differed && net->now - net->guest_differed < net->config.patience_ns) return true;
    net->guest_differed = net->now;
    return false;
}

void net__hash_compare(reef_net *net, net_link *link, uint64_t tick, uint64_t hash)
{
    const uint64_t mine = reef_net_hash(net, tick);
    if (mine == 0 || tick <= link->hash_tick || link->differs || tick < link->equal_tick) return;
    link->hash_tick = tick;
    net->stats.hashes_compared++;
    if (mine == hash) {
        link->equal_tick = tick;
        link->equal_known = true;
    } else if (too_soon(net, link)) guest_drop(net, link); /* it will see that it differs from the host */
    else begin(net, link, tick);
}

bool net__searches(const reef_net *net) { return net->desync && !net->desync->over; }

bool net__is_right(const reef_net *net)
{
    uint32_t same = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if ((int)s == net->seat || (net->links[s].used && !net->links[s].differs)) same |= 1u << s;
    return net->seat >= 0 && net__quorum(&net->view, same);
}

static void end(reef_net *net, const net_report *r)
{
    net__end(net,
             "desync in tick %llu with player %d: system %s, component %s, entity #%uv%u, field %s: here %s, there %s",
             (unsigned long long)r->tick, r->player, r->system[0] ? r->system : "?",
             r->component[0] ? r->component : "?", r->entity.index, r->entity.generation, r->field[0] ? r->field : "?",
             r->here[0] ? r->here : "?", r->there[0] ? r->there : "?");
}

/* The search is over. The state to begin with and the inputs stay: reef_net_desync_save. */
static void judge(reef_net *net, net_desync *d)
{
    d->over = true;
    reef_snapshot_free(d->before);
    reef_snapshot_free(d->after);
    d->before = d->after = NULL;
    reached_drop(d);
    net__record_difference(net);
    if (!net__is_right(net)) {
        end(net, &d->report);
        return;
    }
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (net->links[s].used && net->links[s].differs) net->links[s].condemned_at = net->now;
    for (uint32_t i = NET_SEATS; i < NET_LINKS; i++)
        if (net->links[i].used && net->links[i].differs) guest_drop(net, &net->links[i]);
}

reef_status net__desync(reef_net *net)
{
    net_desync *d = net->desync;
    enum { LOOK_MS = 3000, LINGER_MS = 500 };
    const reef_status s = back(net, d);
    if (s < 0) return s;
    if (d->over) return REEF_OK;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t stage = d->stage; stage <= stage_ahead(d); stage++) {
            if (d->made[stage]) continue;
            const reef_status made = list_make(net, d, stage);
            if (d->present) return made;
            if (d->made[stage]) lists_send(net, d); /* at once: both make the next list at the same time */
        }
        if (d->done || !d->made[d->stage] || d->their_count[d->stage] == 0) break;
        d->done = !conclude(net, d) || d->stage == NET_VALUE;
        if (d->done) d->done_at = net->now;
        else d->stage = d->stage == NET_PARTS ? d->places : d->stage + 1;
        d->sent_at = 0;
        moved = !d->done;
    }
    if (d->sent_at == 0 || net->now - d->sent_at >= 10 * NET_MS) lists_send(net, d);
    if (net->now - d->began_at > LOOK_MS * NET_MS || (d->done && net->now - d->done_at > LINGER_MS * NET_MS))
        judge(net, d);
    return REEF_OK;
}

void net__desync_read(reef_net *net, wire *w)
{
    net_link *l = net__link_of(net, wire_get64(w));
    const uint64_t tick = wire_get64(w), hash = wire_get64(w), equal = wire_get64(w);
    const uint32_t stage = wire_get8(w), count = wire_get8(w);
    const uint64_t mine = reef_net_hash(net, tick);
    if (w->bad || l == NULL || stage >= NET_STAGES || count > NET_LIST || mine == 0) {
        net->stats.refused++;
        return;
    }
    net_desync *d = net->desync;
    if (d == NULL) net__hash_compare(net, l, tick, hash); /* the frame that had it is lost, or came too early */
    d = net->desync;
    if (d == NULL || d->with != l) return;
    if (d->over) return;
    if (tick < d->tick && tick >= d->start_tick) again(d, tick, d->start_tick); /* the other side saw an earlier one */
    if (d->tick != tick) return;
    if (equal > d->equal && equal <= tick) again(d, tick, equal); /* it joined after that state */
    if (equal != d->equal || d->their_count[stage]) return;
    for (uint32_t i = 0; i < count; i++) d->theirs[stage][i] = wire_get64(w);
    if (!w->bad) d->their_count[stage] = count;
}

reef_net_desync net__reported(const net_report *r)
{
    return (reef_net_desync){.tick = r->tick,
                             .player = r->player,
                             .entity = r->entity,
                             .system = r->system,
                             .component = r->component,
                             .field = r->field,
                             .here = r->here,
                             .there = r->there};
}

bool reef_net_desync_get(const reef_net *net, reef_net_desync *report)
{
    if (net == NULL || report == NULL || net->desync == NULL) return false;
    if (!net->desync->done && !net->desync->over) return false;
    *report = net__reported(&net->desync->report);
    return true;
}
