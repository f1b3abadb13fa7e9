/* Messages: from the events that systems send, by way of the rank of the cell to which they go, to the events of the
 * next tick, or to a birth.
 *
 * On its rank the messages wait in the order of kind, cell, sender and number. A cell's messages come in this order
 * whatever the number of ranks, since a sender is on one rank and sends in the order of its system. */
#include "ranks.h"

#include <stdio.h>

static const unsigned char *value_of(const message_list *l, const message *m) { return l->values.data + m->at; }

static bool list_add(message_list *l, message m, const void *value, size_t size)
{
    if (!ranks__room(&l->of, &l->room, (size_t)l->count + 1, sizeof *l->of)) return false;
    m.at = l->values.count;
    ranks__put(&l->values, value, size);
    /* values begin at multiples of 64 */
    static const unsigned char zeroes[64];
    ranks__put(&l->values, zeroes, (64 - l->values.count % 64) % 64);
    l->of[l->count++] = m;
    return !l->values.failed;
}

static void list_clear(message_list *l)
{
    l->count = 0;
    l->values.count = 0;
}

static void list_free(message_list *l)
{
    free(l->of);
    ranks__bytes_free(&l->values);
    *l = (message_list){0};
}

/* ---- the kinds ---- */

static bool kind_begin(reef_ranks *r, uint32_t k, char *reason)
{
    const reef_ranks_message *m = &r->config.messages[k];
    reef_type_info sent, arrives;
    const uint32_t least = (m->cell ? 1u : 2u) * (uint32_t)sizeof(reef_entity);
    const char *why = NULL;
    if (!reef_type_get(m->sent, &sent)) why = "has no type";
    else if (sent.size < least) why = "doesn't begin with the handles of its sender and, without `cell`, its receiver";
    else if (m->born && m->cell == NULL) why = "makes entities and has no `cell`";
    else if (m->born == NULL && !reef_type_get(m->arrives, &arrives)) why = "has no type in which it arrives";
    else if (m->born == NULL && (arrives.size != sent.size || m->arrives.id == m->sent.id))
        why = "must arrive in another type of the same size";
    if (why) return snprintf(reason, REEF_DETAIL_MAX, "message %u %s", k, why), false;
    r->message_bytes[k] = sent.size;
    r->readers[k] = reef_event_reader_new(r->world, m->sent);
    if (!reef_event_reader_is_null(r->readers[k])) return true;
    snprintf(reason, REEF_DETAIL_MAX, "message %u (%s): %s", k, sent.name,
             reef_status_text(reef_last_error(r->world).status));
    return false;
}

bool ranks__messages_begin(reef_ranks *r, char *reason)
{
    for (uint32_t k = 0; k < r->config.message_count; k++)
        if (!kind_begin(r, k, reason)) return false;
    return true;
}

void ranks__messages_end(reef_ranks *r)
{
    for (uint32_t k = 0; k < r->config.message_count; k++) reef_event_reader_free(r->world, r->readers[k]);
    list_free(&r->waiting);
}

/* ---- collecting ---- */

static bool is_near(const reef_ranks *r, uint32_t from, uint32_t to)
{
    if (from == to || !ranks__mine(r, from)) return from == to;
    const uint32_t *first = &r->near_first[from - r->first_cell];
    for (uint32_t i = first[0]; i < first[1]; i++)
        if (r->near[i] == to) return true;
    return false;
}

/* The cell of an entity before this tick: also of one that died in it. UINT32_MAX: it isn't here. */
static uint32_t cell_before(const reef_ranks *r, reef_entity e)
{
    const ReefCell *at = reef_get(r->world, e, ReefCell);
    if (at) return at->cell;
    for (uint32_t i = 0; i < r->dead_count; i++)
        if (reef_entity_equal(r->dead[i].entity, e)) return r->dead[i].cell;
    return UINT32_MAX;
}

/* Finds the cell to which a message goes. */
static reef_status address(reef_ranks *r, const reef_ranks_message *kind, message *m, const void *value)
{
    if (kind->cell) {
        m->cell = kind->cell(value, r->config.context);
        if (m->cell < r->config.cells) return REEF_OK;
        return ranks__fail(r, REEF_BAD_ARGUMENT, "a message goes to %u, which is no cell", m->cell);
    }
    memcpy(&m->to, (const char *)value + sizeof(reef_entity), sizeof m->to);
    const uint32_t from = cell_before(r, m->from);
    m->cell = from;
    if (!reef_is_alive(r->world, m->to)) return REEF_NOT_ALIVE;
    m->cell = cell_before(r, m->to);
    if (from != UINT32_MAX && m->cell != UINT32_MAX && is_near(r, from, m->cell)) return REEF_OK;
    return ranks__fail(r, REEF_UNDECLARED, "a message of %s goes to #%uv%u, which isn't near",
                       reef_type_name(kind->sent), m->to.index, m->to.generation);
}

static int order_of(const message *x, const message *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    if (x->from.index != y->from.index) return x->from.index < y->from.index ? -1 : 1;
    if (x->from.generation != y->from.generation) return x->from.generation < y->from.generation ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}
static int message_order(const void *a, const void *b) { return order_of(a, b); }

void ranks__messages_sort(reef_ranks *r)
{
    if (r->waiting.count) qsort(r->waiting.of, r->waiting.count, sizeof *r->waiting.of, message_order);
}

static void lose(reef_ranks *r, const message *m, const void *value)
{
    const reef_ranks_message *kind = &r->config.messages[m->kind];
    if (kind->lost && m->cell != UINT32_MAX) kind->lost(r->world, m->cell, value, r->config.context);
}

/* Reads what the systems sent in this tick. A message's number is its place among all of this tick: only the order of
 * those of one sender counts. */
static reef_status sent_read(reef_ranks *r)
{
    reef_status s = REEF_OK;
    unsigned char *value = aligned_alloc(64, REEF_EVENT_SIZE_MAX);
    uint32_t number = 0;
    if (value == NULL) return REEF_NO_MEMORY;
    for (uint32_t k = 0; k < r->config.message_count; k++)
        while (s == REEF_OK && reef_event_next(r->world, r->readers[k], value)) {
            message m = {.kind = k, .number = number++};
            memcpy(&m.from, value, sizeof m.from);
            s = address(r, &r->config.messages[k], &m, value);
            if (s == REEF_OK && !list_add(&r->waiting, m, value, r->message_bytes[k])) s = REEF_NO_MEMORY;
            if (s != REEF_NOT_ALIVE) continue;
            lose(r, &m, value);
            s = REEF_OK;
        }
    free(value);
    return s;
}

/* ---- on their way ---- */

static void message_pack(const reef_ranks *r, bytes *to, const message *m)
{
    ranks__put_u32(to, m->kind);
    ranks__put_u32(to, m->cell);
    ranks__put_entity(to, m->from);
    ranks__put_entity(to, m->to);
    ranks__put_u32(to, m->number);
    ranks__put(to, value_of(&r->waiting, m), r->message_bytes[m->kind]);
}

void ranks__messages_count(const reef_ranks *r, uint32_t *count)
{
    for (uint32_t i = 0; i < r->waiting.count; i++) count[ranks__owner(r, r->waiting.of[i].cell)]++;
}

bool ranks__messages_leave(reef_ranks *r, bytes *to)
{
    message_list *l = &r->waiting;
    uint32_t kept = 0;
    bool ok = true;
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t owner = ranks__owner(r, l->of[i].cell);
        if (owner == (uint32_t)r->rank) {
            l->of[kept++] = l->of[i];
            continue;
        }
        message_pack(r, &to[owner], &l->of[i]);
        ok &= !to[owner].failed;
    }
    r->stats.messages_out += l->count - kept;
    l->count = kept;
    return ok;
}

reef_status ranks__messages_unpack(reef_ranks *r, bytes *from)
{
    const uint32_t n = ranks__take_u32(from);
    for (uint32_t i = 0; i < n; i++) {
        message m = {.kind = ranks__take_u32(from), .cell = ranks__take_u32(from)};
        m.from = ranks__take_entity(from);
        m.to = ranks__take_entity(from);
        m.number = ranks__take_u32(from);
        if (from->failed || m.kind >= r->config.message_count || m.cell >= r->config.cells) return REEF_CORRUPT;
        const unsigned char *value = ranks__take(from, r->message_bytes[m.kind]);
        if (value == NULL) return REEF_CORRUPT;
        if (!list_add(&r->waiting, m, value, r->message_bytes[m.kind])) return REEF_NO_MEMORY;
    }
    return from->failed ? REEF_CORRUPT : REEF_OK;
}

void ranks__messages_put(const reef_ranks *r, bytes *to)
{
    ranks__put_u32(to, r->waiting.count);
    for (uint32_t i = 0; i < r->waiting.count; i++) message_pack(r, to, &r->waiting.of[i]);
}

reef_status ranks__messages_get(reef_ranks *r, bytes *from)
{
    uint32_t kept = 0;
    while (from->at < from->count) {
        const reef_status s = ranks__messages_unpack(r, from);
        if (s != REEF_OK) return s;
    }
    for (uint32_t i = 0; i < r->waiting.count; i++)
        if (ranks__mine(r, r->waiting.of[i].cell)) r->waiting.of[kept++] = r->waiting.of[i];
    r->waiting.count = kept;
    return REEF_OK;
}

reef_status ranks__messages_collect(reef_ranks *r, reef_status s)
{
    const size_t n = (size_t)r->size;
    bytes *out = calloc(2 * n, sizeof *out), *in = out ? out + n : NULL;
    uint32_t *count = calloc(n, sizeof *count);
    if (s == REEF_OK) s = out && count ? sent_read(r) : REEF_NO_MEMORY;
    if (s == REEF_OK) {
        ranks__messages_count(r, count);
        for (int i = 0; i < r->size; i++)
            if (count[i] && i != r->rank) ranks__put_u32(&out[i], count[i]);
        if (!ranks__messages_leave(r, out)) s = REEF_NO_MEMORY;
    }
    free(count);
    s = ranks__exchange(r, s, out, in);
    for (size_t i = 0; s == REEF_OK && i < n; i++)
        if (in[i].count) s = ranks__messages_unpack(r, &in[i]);
    for (size_t i = 0; out && i < n; i++) {
        ranks__bytes_free(&out[i]);
        ranks__bytes_free(&in[i]);
    }
    free(out);
    return s;
}

void ranks__messages_follow(reef_ranks *r)
{
    for (uint32_t i = 0; i < r->waiting.count; i++) {
        message *m = &r->waiting.of[i];
        if (r->config.messages[m->kind].cell) continue;
        const ReefCell *at = reef_get(r->world, m->to, ReefCell);
        if (at) m->cell = at->cell;
        for (uint32_t k = 0; at && k < r->leaving_count; k++)
            if (reef_entity_equal(r->leaving[k].entity, m->to)) m->cell = r->leaving[k].cell;
    }
}

/* ---- arriving ---- */

reef_status ranks__messages_deliver(reef_ranks *r)
{
    message_list *l = &r->waiting;
    reef_status s = REEF_OK;
    ranks__messages_sort(r);
    for (uint32_t i = 0; s == REEF_OK && i < l->count; i++) {
        const reef_ranks_message *kind = &r->config.messages[l->of[i].kind];
        if (kind->cell == NULL && !reef_is_alive(r->world, l->of[i].to)) lose(r, &l->of[i], value_of(l, &l->of[i]));
        else s = reef_post_id(r->world, kind->arrives, value_of(l, &l->of[i]), r->message_bytes[l->of[i].kind]);
    }
    if (s != REEF_OK) return ranks__fail(r, s, "a message can't be delivered: %s", reef_status_text(s));
    list_clear(l);
    return REEF_OK;
}

/* An entity is made, gets its components, and stays in the cell in which it was born until the next tick. */
static reef_status born(reef_ranks *r, const message *m)
{
    const reef_entity e = ranks__id_take(r, m->cell);
    reef_status s = reef_create_as(r->world, e);
    if (s == REEF_OK && !ranks__member_add(r, m->cell, e)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) r->config.messages[m->kind].born(r->world, e, value_of(&r->waiting, m), r->config.context);
    if (s == REEF_OK) s = reef_set(r->world, e, ReefCell, m->cell);
    if (s >= 0) s = ranks__inner_mark(r, e, m->cell);
    if (s < 0) ranks__fail(r, s, "#%uv%u can't be born: %s", e.index, e.generation, reef_status_text(s));
    return s < 0 ? s : REEF_OK;
}

reef_status ranks__messages_born(reef_ranks *r, reef_status s)
{
    message_list *l = &r->waiting;
    uint32_t *need = calloc((size_t)(r->end_cell - r->first_cell) + 1, sizeof *need), kept = 0;
    if (s == REEF_OK && need == NULL) s = REEF_NO_MEMORY;
    if (s == REEF_OK) ranks__messages_sort(r);
    for (uint32_t i = 0; s == REEF_OK && i < l->count; i++)
        if (r->config.messages[l->of[i].kind].born) need[l->of[i].cell - r->first_cell]++;
    s = ranks__ids_provide(r, s, need);
    for (uint32_t i = 0; s == REEF_OK && i < l->count; i++) {
        if (r->config.messages[l->of[i].kind].born) s = born(r, &l->of[i]);
        else l->of[kept++] = l->of[i];
    }
    if (s == REEF_OK) l->count = kept;
    free(need);
    return s;
}
