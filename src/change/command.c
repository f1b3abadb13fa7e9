/* Recording commands. command_layout.h says how they lie in a buffer, and command_flush.c does them.
 *
 * A value of a plain type is held as bytes. A value with hooks is held as a value: the copy hook makes it, or it is
 * moved out of the caller's if there is no such hook; when the command is done, it is moved on into its column. A
 * constructor with `args` runs at once, since args belong to the caller and are only valid during the call. Default
 * values are made when the command is done. */
#include "change/command.h"
#include "type/value.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "change/command_layout.h"

enum {
    COMMAND_CHUNK_BITS = 12, /* the smallest chunk */
    /* the largest chunk, except for a command that is longer; some of these fit a piece of an arena */
    COMMAND_CHUNK_MOST = 1 << 17,
    /* from this size on a chunk's memory is touched when it is made, and goes back to the arena if it was used */
    COMMAND_CHUNK_WIDE = 1 << 16
};

/* ---- memory ---- */

/* Chunks of one size wait in one list. So no more memory waits than was in use at once. */
static uint32_t chunk_class(size_t bytes)
{
    uint32_t bits = COMMAND_CHUNK_BITS;
    while (((size_t)1 << bits) < bytes) bits++;
    return bits - COMMAND_CHUNK_BITS;
}

void reef__command_chunk_retire(reef_world *w, command_chunk *k)
{
    const uint32_t class = chunk_class(k->bytes);
    /* its memory is touched already, which helps the rows of the next commands */
    if (k->bytes >= COMMAND_CHUNK_WIDE && k->bytes <= COMMAND_CHUNK_MOST && k->used > k->bytes / 4) {
        reef__memory_block_free(&w->family->memory, MEMORY_OTHER, ARENA_COMMANDS, k, k->bytes, BLOCK_ALIGN);
        return;
    }
    mutex_lock(&w->family->lock);
    k->next = w->spare_chunks[class];
    w->spare_chunks[class] = k;
    mutex_unlock(&w->family->lock);
}

void reef__commands_trim(reef_world *w)
{
    for (uint32_t class = 0; class < COMMAND_CHUNK_CLASSES; class ++) {
        while (w->spare_chunks[class]) {
            command_chunk *k = w->spare_chunks[class];
            w->spare_chunks[class] = k->next;
            reef__memory_block_free(&w->family->memory, MEMORY_OTHER, ARENA_COMMANDS, k, k->bytes, BLOCK_ALIGN);
        }
    }
}

static command_chunk *command_chunk_make(reef_world *w, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const uint32_t class = chunk_class(bytes);
    if (class >= COMMAND_CHUNK_CLASSES) return NULL;
    mutex_lock(&w->family->lock);
    command_chunk *k = w->spare_chunks[class];
    if (k) w->spare_chunks[class] = k->next;
    mutex_unlock(&w->family->lock);
    if (k) return k;
    bytes = (size_t)1 << (class + COMMAND_CHUNK_BITS);
    k = reef__memory_block(&w->family->memory, MEMORY_OTHER, ARENA_COMMANDS, bytes, BLOCK_ALIGN);
    if (k && bytes >= COMMAND_CHUNK_WIDE && bytes <= COMMAND_CHUNK_MOST) reef__memory_touch(k, bytes);
    if (k) k->bytes = bytes;
    return k;
}

static COLD bool command_chunk_add(reef_world *w, commands *c, size_t bytes)
{
    size_t room = c->last ? c->last->bytes * 4 : 0;
    if (room > COMMAND_CHUNK_MOST) room = COMMAND_CHUNK_MOST;
    if (bytes > SIZE_MAX - sizeof(command_chunk)) return false;
    if (room < bytes + sizeof(command_chunk)) room = bytes + sizeof(command_chunk);
    command_chunk *k = command_chunk_make(w, room);
    if (k == NULL) return false;
    k->next = NULL;
    k->used = k->done = sizeof *k;
    memset(k->system, 0, sizeof k->system);
    if (c->by) memcpy(k->system, c->by->calls->name(c->by), sizeof k->system);
    else if (w->notifying && !w->running) memcpy(k->system, w->notifying->name, sizeof k->system);
    if (c->last) c->last->next = k;
    else c->first = k;
    c->last = k;
    return true;
}

static void command_add(commands *c, command *x, const void *end)
{
    size_t bytes = (size_t)((const char *)end - (char *)x);
    x->bytes = (bytes + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;
    c->last->used += x->bytes;
    c->count += command_is_run(x) ? x->n : 1;
}

void reef__commands_part(commands *c)
{
    if (c->run == 0) return;
    command *x = command_at(c->last, c->last->used);
    x->n = (uint32_t)((size_t)(c->next - run_elements(x)) / run_stride(x));
    c->run = 0;
    command_add(c, x, c->next);
}

/* Where a command of at most `bytes` goes. It counts as recorded when command_add says how long it became. NULL: no
 * memory. */
static command *command_room(reef_world *w, commands *c, size_t bytes)
{
    reef__commands_part(c);
    const char *who = w->notifying && !w->running ? w->notifying->name : "";
    const bool ours = c->last && (c->by || strcmp(c->last->system, who) == 0);
    if (!ours || c->last->bytes - c->last->used < bytes + PLAIN_ALIGN)
        if (!command_chunk_add(w, c, bytes + PLAIN_ALIGN)) return NULL;
    return command_at(c->last, c->last->used);
}

/* Opens a run. Its elements may take the rest of the chunk. */
static command *run_open(reef_world *w, commands *c, command_kind kind, uint32_t component, uint32_t count,
                         size_t stride)
{
    const size_t head = run_head(kind, count);
    command *x = command_room(w, c, head + stride);
    if (x == NULL) return NULL;
    memset(x, 0, sizeof *x);
    x->kind = kind;
    x->count = count;
    x->component = component;
    const size_t room = c->last->bytes - c->last->used - head - PLAIN_ALIGN;
    c->run = command_run_key(kind, kind >= COMMAND_COPIES ? 0 : component);
    c->next = run_elements(x);
    c->end = c->next + room / stride * stride;
    return x;
}

void reef__commands_append(commands *to, commands *from)
{
    reef__commands_part(to);
    reef__commands_part(from);
    if (from->first == NULL) return;
    if (to->first == NULL) {
        to->first = from->first;
        to->last = from->last;
    } else {
        to->last->next = from->first;
        to->last = from->last;
    }
    to->count += from->count;
    from->first = from->last = NULL;
    from->count = 0;
}

/* ---- values ---- */

/* How many elements of this value are held for n entities. */
static uint32_t value_elements(const type *t, const reef_value *v, uint32_t n)
{
    if (t->size == 0 || v->kind == REEF_VALUE_REMOVE) return 0;
    if (v->kind == REEF_VALUE_DEFAULT) return t->hooks.construct && v->data ? n : 0;
    return v->kind == REEF_VALUE_ARRAY ? n : 1;
}

/* The most bytes that a command takes. 0: the number doesn't fit. */
static size_t command_measure(const reef_value *values, uint32_t count, uint32_t ids, uint32_t n)
{
    size_t at = sizeof(command) + count * sizeof(reef_value) + PLAIN_ALIGN;
    if (!reef__size_multiply(ids, sizeof(reef_entity), at, &at)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = reef__type_of(values[i].component.id);
        if (SIZE_MAX - at < t->align) return 0;
        if (!reef__size_multiply(t->size, value_elements(t, &values[i], n), at + t->align, &at)) return 0;
    }
    return at;
}

/* Takes back the values that are held, up to element `made` of value i: those that were moved go to the caller. */
static COLD void held_back(const command *x, const reef_value *values, uint32_t i, uint32_t made, uint32_t n)
{
    for (;; made = value_elements(reef__type_of(values[i].component.id), &values[i], n)) {
        const type *t = reef__type_of(values[i].component.id);
        while (t->hooked && made-- > 0)
            reef__value_take_back(t, (char *)(uintptr_t)held_values(x)[i].data + (size_t)made * t->size, &values[i],
                                  made);
        if (i-- == 0) return;
    }
}

/* Holds all values. If one fails, those that were moved go back to the caller, and *failed names the component. *end
 * is the address behind the last one. */
static reef_status values_hold(reef_world *w, command *x, const reef_value *values, uint32_t count, char **end,
                               reef_component *failed)
{
    const uint32_t n = x->n ? x->n : 1;
    char *at = (char *)(held_values(x) + count);
    x->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const reef_value *v = &values[i];
        reef_value *held = &held_values(x)[i];
        const type *t = reef__type_of(v->component.id);
        const uint32_t elements = value_elements(t, v, n);
        *held = *v;
        held->data = NULL;
        if (elements == 0) continue;
        at = (char *)(((uintptr_t)at + t->align - 1) / t->align * t->align);
        held->data = at;
        if (!t->hooked) memcpy(at, v->data, (size_t)elements * t->size);
        for (uint32_t k = 0; t->hooked && k < elements; k++) {
            const reef_entity e = x->n ? command_ids(x)[k] : x->entity;
            const reef_status s = reef__value_make(w, e, t, at + (size_t)k * t->size, v, k);
            if (s == REEF_OK) continue;
            *failed = v->component;
            held_back(x, values, i, k, n);
            return s;
        }
        at += (size_t)elements * t->size;
        /* One that can't move is copied again, to where it stays; one of which n copies are made isn't moved either. */
        if (t->hooked && !(t->fixed && t->copyable) && elements == n)
            held->kind = n == 1 ? VALUE_MOVED : VALUE_MOVED_ARRAY;
    }
    *end = at;
    return REEF_OK;
}

/* ---- recording ---- */

static COLD reef_status refuse(reef_world *w, const commands *to, reef_status s, const char *op, reef_component c,
                               reef_entity e, uint64_t n)
{
    return to->by ? to->by->calls->failure(to->by, s, op, c, e, n) : reef__failure(w, s, op, c, e, n);
}

/* Begins a command of at most `bytes` bytes with room for n ids. NULL: no memory, which was reported. */
static command *command_begin(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                              reef_component c, uint32_t n, size_t bytes)
{
    command *x = bytes ? command_room(w, to, bytes) : NULL;
    if (x == NULL) return refuse(w, to, REEF_NO_MEMORY, op, c, e, n), NULL;
    x->entity = e;
    x->n = n;
    x->count = 0;
    x->component = c.id;
    x->kind = kind;
    return x;
}

bool reef__command_knows(const reef_world *w, reef_entity e)
{
    return place_of(w, e) != PLACE_DEAD || reef__id_pending(w, e);
}

reef_status reef__command_plain(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                reef_component c)
{
    if (kind >= COMMAND_ADD) {
        if (command_again(to, kind, c.id, e)) return REEF_OK;
        if (run_open(w, to, kind, c.id, 0, sizeof e) == NULL) return refuse(w, to, REEF_NO_MEMORY, op, c, e, 0);
        command_again(to, kind, c.id, e);
        return REEF_OK;
    }
    command *x = command_begin(w, to, kind, op, e, c, 0, sizeof *x);
    if (x == NULL) return REEF_NO_MEMORY;
    command_add(to, x, x + 1);
    return REEF_OK;
}

reef_status reef__command_relate(reef_world *w, commands *to, const char *op, reef_component relation,
                                 reef_entity source, reef_entity target)
{
    if (command_relate_again(to, relation.id, source, target)) return REEF_OK;
    if (run_open(w, to, COMMAND_RELATE, relation.id, 0, 2 * sizeof source) == NULL)
        return refuse(w, to, REEF_NO_MEMORY, op, relation, source, 0);
    command_relate_again(to, relation.id, source, target);
    return REEF_OK;
}

reef_status reef__command_values(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                                 const reef_value *values, uint32_t count)
{
    char *end = NULL;
    reef_component c = {count == 1 ? values->component.id : 0}, failed = {0};
    command *x = command_begin(w, to, kind, op, e, c, 0, command_measure(values, count, 0, 1));
    if (x == NULL) return REEF_NO_MEMORY;
    reef_status s = values_hold(w, x, values, count, &end, &failed);
    if (s != REEF_OK) return refuse(w, to, s, op, failed, e, 0);
    command_add(to, x, end);
    return REEF_OK;
}

reef_status reef__command_name(reef_world *w, commands *to, const char *op, reef_entity e, const char *text)
{
    const size_t bytes = text ? strlen(text) + 1 : 0;
    command *x = command_begin(w, to, COMMAND_NAME, op, e, (reef_component){0}, 0, sizeof *x + bytes);
    if (x == NULL) return REEF_NO_MEMORY;
    x->component = text != NULL;
    if (text) memcpy(x + 1, text, bytes);
    command_add(to, x, (char *)(x + 1) + bytes);
    return REEF_OK;
}

/* The simple runs of a phase share one buffer, so a chunk may belong to another system: then a new chunk is begun. */
COLD void *reef__command_bytes(reef_world *w, commands *to, const char *op, const command_call *call, uint32_t what,
                               size_t bytes)
{
    const size_t all = sizeof(command) + PLAIN_ALIGN + bytes;
    reef__commands_part(to);
    const bool ours = to->by == NULL || to->last == NULL || strcmp(to->last->system, to->by->calls->name(to->by)) == 0;
    const bool room = ours || command_chunk_add(w, to, all + PLAIN_ALIGN);
    command *x = command_begin(w, to, COMMAND_CALL, op, (reef_entity){0, 0}, (reef_component){0}, 0, room ? all : 0);
    if (x == NULL) return NULL;
    x->component = what;
    memcpy(x + 1, &call, sizeof call);
    char *held = (char *)(x + 1) + PLAIN_ALIGN;
    command_add(to, x, held + bytes);
    return held;
}

/* Takes n new ids, from the job's lane or the world's next ones. They stay taken unless ids_return gives them back; the
 * world's own become pending by ids_keep. */
static reef_status ids_take(reef_world *w, const commands *to, uint32_t n, reef_entity *e)
{
    reef_status s = REEF_OK;
    if (to->by == NULL) {
        s = reef__ids_prepare(w, n);
        if (s == REEF_OK) reef__ids_peek(w, 0, n, e);
        return s;
    }
    const uint32_t made = to->by->ids.made;
    for (uint32_t i = 0; i < n && s == REEF_OK; i++) s = reef__lane_next(&to->by->ids, &e[i]);
    if (s != REEF_OK) lane_return(&to->by->ids, to->by->ids.made - made);
    return s;
}

static void ids_return(const commands *to, uint32_t n)
{
    if (to->by) lane_return(&to->by->ids, n);
}

static void ids_keep(reef_world *w, const commands *to, const reef_entity *e, uint32_t n)
{
    if (to->by == NULL) reef__ids_pend(w, e, n);
}

/* May an entity with these values be an element of a run? *stride is the size of the element. */
static bool rows_allow(const reef_value *values, uint32_t count, size_t *stride)
{
    *stride = sizeof(reef_entity);
    if (count > COMMAND_RUN_VALUES) return false;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = reef__type_of(values[i].component.id);
        if (!in_table(t) || t->hooked || t->split || values[i].kind > REEF_VALUE_ONE) return false;
        if (values[i].kind == REEF_VALUE_ONE) *stride += t->size;
        if (*stride > COMMAND_CHUNK_MOST / 4) return false;
    }
    *stride = (*stride + sizeof(reef_entity) - 1) & ~(sizeof(reef_entity) - 1);
    return true;
}

static command *rows_open_run(const commands *to) { return command_at(to->last, to->last->used); }
/* Writes the values of the open run's next element. False: the open run has other values, or is of another kind, or is
 * full. */
static bool row_repeats(const commands *to, bool copies, const reef_value *values, uint32_t count)
{
    const uint64_t rows = command_run_key(COMMAND_ROWS, 0);
    if ((copies ? to->run != command_run_key(COMMAND_COPIES, 0) : to->run < rows) || to->next == to->end) return false;
    const command *x = rows_open_run(to);
    const reef_value *held = run_values(x);
    char *at = to->next + row_head(x->kind);
    if (x->count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = held[i].size;
        if (held[i].component.id != values[i].component.id || held[i].kind != values[i].kind || size != values[i].size)
            return false;
        if (held[i].kind != REEF_VALUE_ONE || size == 0) continue;
        if (values[i].data == NULL) return false;
        bytes_copy(at, values[i].data, size);
        at += size;
    }
    return true;
}

static void rows_put(commands *to, reef_entity e, const reef_entity *prefab)
{
    const command *x = rows_open_run(to);
    if (row_head(x->kind)) memcpy(to->next, &e, sizeof e);
    if (prefab) memcpy(to->next + sizeof e, prefab, sizeof *prefab);
    to->next += x->component;
}

/* Opens a run of entities to make, of which `e` will be the first. The indices of a lane only grow: behind one of a
 * fresh index, all are fresh. */
static bool rows_open(reef_world *w, commands *to, reef_entity e, bool copies, const reef_value *values, uint32_t count,
                      size_t stride)
{
    const bool fresh = !copies && to->by && e.index >= w->hot.index_count && stride > sizeof e;
    const command_kind kind = copies ? COMMAND_COPIES : fresh ? COMMAND_LANE_ROWS : COMMAND_ROWS;
    stride += row_head(kind) - sizeof e;
    command *x = run_open(w, to, kind, (uint32_t)stride, count, stride);
    if (x == NULL) return false;
    if (fresh) *run_ids(x) = reef__lane_ids_of(&to->by->ids);
    bool words = fresh;
    for (uint32_t i = 0; i < count; i++) {
        run_values(x)[i] = values[i];
        run_values(x)[i].data = NULL;
        words &= values[i].kind == REEF_VALUE_ONE && values[i].size == 8;
    }
    if (words) to->run = COMMAND_RUN_WORDS;
    to->like = run_values(x);
    to->like_count = count;
    return row_repeats(to, copies, values, count);
}

/* One more entity of a run. `prefab`: whose instance it is; NULL: nobody's. */
static reef_status rows_add(reef_world *w, commands *to, const char *op, const reef_entity *prefab, reef_entity *made,
                            const reef_value *values, uint32_t count, size_t stride)
{
    reef_entity e;
    reef_status s = ids_take(w, to, 1, &e);
    if (s == REEF_OK && !row_repeats(to, prefab != NULL, values, count) &&
        !rows_open(w, to, e, prefab != NULL, values, count, stride)) {
        ids_return(to, 1);
        s = REEF_NO_MEMORY;
    }
    if (s != REEF_OK) return refuse(w, to, s, op, (reef_component){0}, prefab ? *prefab : (reef_entity){0, 0}, 1);
    rows_put(to, e, prefab);
    ids_keep(w, to, &e, 1);
    if (made) *made = e;
    return REEF_OK;
}

reef_entity reef__command_row_again(reef_world *w, commands *to, const reef_value *values, uint32_t count)
{
    reef_entity e = {0, 0};
    if (!row_repeats(to, false, values, count)) return e;
    if ((to->by ? reef__lane_next(&to->by->ids, &e) : reef__ids_prepare(w, 1)) != REEF_OK) return (reef_entity){0, 0};
    if (to->by == NULL) e = reef__id_peek(w, 0);
    rows_put(to, e, NULL);
    if (to->by == NULL) reef__ids_pend(w, &e, 1);
    return e;
}

reef_entity reef__command_copy_again(commands *to, reef_entity prefab, const reef_value *values, uint32_t count)
{
    reef_entity e = {0, 0};
    if (row_repeats(to, true, values, count) && reef__lane_next(&to->by->ids, &e) == REEF_OK) rows_put(to, e, &prefab);
    return e;
}

/* Ids are taken last, since all that may fail comes before. */
reef_status reef__command_make(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity source,
                               uint32_t n, reef_entity *made, const reef_value *values, uint32_t count)
{
    char *end = NULL;
    size_t stride;
    reef_component failed = {0};
    if (n == 1 && (kind == COMMAND_SPAWN || kind == COMMAND_INSTANTIATE) && rows_allow(values, count, &stride))
        return rows_add(w, to, op, kind == COMMAND_SPAWN ? NULL : &source, made, values, count, stride);
    command *x = command_begin(w, to, kind, op, source, failed, n, command_measure(values, count, n, n));
    if (x == NULL) return REEF_NO_MEMORY;
    reef_status s = ids_take(w, to, n, command_ids(x));
    if (s == REEF_OK) {
        s = values_hold(w, x, values, count, &end, &failed);
        if (s != REEF_OK) ids_return(to, n);
    }
    if (s != REEF_OK) return refuse(w, to, s, op, failed, source, n);
    if (made) memcpy(made, command_ids(x), n * sizeof *made);
    ids_keep(w, to, command_ids(x), n);
    command_add(to, x, end);
    return REEF_OK;
}

uint32_t reef__command_destroy_many(reef_world *w, commands *to, const char *op, const reef_entity *es, uint32_t n)
{
    command *x = command_begin(w, to, COMMAND_DESTROY_MANY, op, (reef_entity){0, 0}, (reef_component){0}, n,
                               command_measure(NULL, 0, n, n));
    if (x == NULL) return 0;
    x->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (reef__command_knows(w, es[i])) command_ids(x)[x->n++] = es[i];
    if (x->n) command_add(to, x, command_ids(x) + x->n);
    return x->n;
}
