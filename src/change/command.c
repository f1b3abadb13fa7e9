/* Recording and doing commands.
 *
 * A buffer is a list of chunks. A chunk begins with the name of the system whose commands it holds; the commands lie
 * one behind the other, in one of five forms:
 *
 *   {header} {ids} {values} {bytes of the values}                    one command
 *   {header} {handle} {handle} ...                                   a run: the same for each of these entities (or
 *                                                                    pairs: COMMAND_RELATE)
 *   {header} {values} {id, bytes} {id, bytes} ...                    a run of entities to make (COMMAND_ROWS)
 *   {header} {values} {lane_ids} {bytes} {bytes} ...                 the same with ids of fresh indices, which follow
 *                                                                    from one another (COMMAND_LANE_ROWS)
 *   {header} {values} {id, prefab, bytes} ...                        a run of instances of prefabs (COMMAND_COPIES)
 *
 * A value of a plain type is held as bytes. A value with hooks is held as a value: the copy hook makes it, or it is
 * moved out of the caller's if there is no such hook; when the command is done, it is moved on into its column. A
 * constructor with `args` runs at once, since args belong to the caller and are only valid during the call. Default
 * values are made when the command is done.
 *
 * Doing a run has the result of doing its elements one by one. Where a run names all rows of a table in their order,
 * and nobody could tell the difference, the table is done as a whole. */
#include "change/command.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/layout.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/relabel.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/state.h"
#include "storage/table.h"
#include "storage/report.h"
#include "storage/world_data.h"
#include "change/component.h"
#include "change/destroy.h"
#include "change/instantiate.h"
#include "change/spawn.h"
#include "change/spawn_batch.h"
#include "change/value_stage.h"
#include "reef/enable.h"
#include "reef/relation.h"
#include "reef/many.h"
#include "reef/loop_settings.h"
#include <stdio.h>

typedef struct command {
    size_t bytes; /* up to the next one */
    union {
        reef_entity entity;
        uint64_t at; /* of a run: the number of its elements that are done */
    };
    uint32_t n;         /* number of ids behind this head; of a run, of its elements */
    uint32_t count;     /* number of values behind them */
    uint32_t component; /* of a run of entities to make: the bytes of an element */
    command_kind kind;
} command;

typedef struct command_chunk {
    struct command_chunk *next;
    size_t bytes;                          /* a power of two */
    size_t used, done;                     /* offsets in the chunk; this head is counted */
    char system[REEF_SYSTEM_NAME_MAX + 1]; /* a copy, because the system may be removed before its commands are done */
} command_chunk;

_Static_assert(sizeof(command_chunk) % PLAIN_ALIGN == 0, "commands begin aligned");

enum {
    COMMAND_CHUNK_BITS = 12, /* the smallest chunk */
    /* the largest chunk, except for a command that is longer; some of these fit a piece of an arena */
    COMMAND_CHUNK_MOST = 1 << 17,
    /* from this size on a chunk's memory is touched when it is made, and goes back to the arena if it was used */
    COMMAND_CHUNK_WIDE = 1 << 16,
    COMMAND_RUN_VALUES = 16, /* most values of a run of entities to make */
    /* The most parts of such runs that are done at once. Their memory is free then for the rows of the next ones. */
    COMMAND_PACKED = 64,
    COMMAND_WHOLE_LEAST = 64, /* fewest rows of a table that is done as a whole: below, one by one is as fast */
    COMPLAINT_BYTES = REPORT_BYTES + 32
};

static reef_entity *command_ids(const command *x) { return (reef_entity *)(uintptr_t)(x + 1); }
static reef_value *held_values(const command *x) { return (reef_value *)(void *)(command_ids(x) + x->n); }

static bool command_is_run(const command *x) { return x->kind >= COMMAND_ADD; }
static bool command_is_rows(const command *x) { return x->kind >= COMMAND_COPIES; }
static uint32_t run_stride(const command *x)
{
    return command_is_rows(x) ? x->component : (uint32_t)sizeof(reef_entity) * (x->kind == COMMAND_RELATE ? 2 : 1);
}
static size_t run_head(command_kind kind, uint32_t count)
{
    return sizeof(command) + count * sizeof(reef_value) + (kind == COMMAND_LANE_ROWS ? sizeof(lane_ids) : 0);
}
static reef_value *run_values(const command *x) { return (reef_value *)(uintptr_t)(x + 1); }
static lane_ids *run_ids(const command *x) { return (lane_ids *)(void *)(run_values(x) + x->count); }
static char *run_elements(const command *x) { return (char *)(uintptr_t)x + run_head(x->kind, x->count); }

/* ---- memory ---- */

/* Chunks of one size wait in one list. So no more memory waits than was in use at once. */
static uint32_t chunk_class(size_t bytes)
{
    uint32_t bits = COMMAND_CHUNK_BITS;
    while (((size_t)1 << bits) < bytes) bits++;
    return bits - COMMAND_CHUNK_BITS;
}

static void command_chunk_retire(reef_world *w, command_chunk *k)
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

/* For a command of kind CALL: its calls, and the bytes that it holds, which lie behind them. */
static const command_call *command_call_of(const command *x)
{
    const command_call *call;
    memcpy(&call, x + 1, sizeof call);
    return call;
}
static const void *command_held(const command *x) { return (const char *)(x + 1) + PLAIN_ALIGN; }

static command *command_at(const command_chunk *k, size_t at) { return (command *)(void *)((char *)(uintptr_t)k + at); }

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

/* Ends the first `count` values of a command. `taken`: they were moved into the world. */
static void values_end(const command *x, uint32_t count, bool taken)
{
    const uint32_t n = x->n ? x->n : 1;
    const reef_value *held = held_values(x);
    for (uint32_t i = 0; i < count; i++) {
        const type *t = reef__type_of(held[i].component.id);
        const bool one = held[i].kind == REEF_VALUE_ONE;
        const uint32_t elements = held[i].kind == VALUE_MOVED_ARRAY ? n : one || held[i].kind == VALUE_MOVED ? 1 : 0;
        if (!t->hooked || t->size == 0 || (taken && !one)) continue;
        for (uint32_t k = 0; k < elements; k++) value_destroy(t, (char *)(uintptr_t)held[i].data + (size_t)k * t->size);
    }
}

static void command_end(const command *x, bool taken)
{
    if (x->kind == COMMAND_CALL && !taken) command_call_of(x)->forget(x->component, command_held(x));
    values_end(x, x->count, taken);
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

/* Takes n new ids, from the job's lane or the world's next ones. They stay taken unless ids_return gives them back. */
static reef_status ids_take(reef_world *w, const commands *to, uint32_t n, reef_entity *e)
{
    reef_status s = REEF_OK;
    if (to->by == NULL) {
        s = reef__ids_prepare(w, n);
        if (s == REEF_OK && n == 1) *e = reef__id_peek(w, 0);
        else if (s == REEF_OK) reef__ids_peek(w, 0, n, e);
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
/* The bytes of an element in front of its values: its id, and its prefab. */
static size_t row_head(command_kind kind)
{
    return kind == COMMAND_COPIES ? 2 * sizeof(reef_entity) : kind == COMMAND_ROWS ? sizeof(reef_entity) : 0;
}

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
    if (to->by == NULL) reef__ids_pend(w, &e, 1);
    if (made) *made = e;
    return REEF_OK;
}

reef_entity reef__command_row_again(reef_world *w, commands *to, const reef_value *values, uint32_t count)
{
    reef_entity e = {0, 0};
    if (!row_repeats(to, false, values, count) || ids_take(w, to, 1, &e) != REEF_OK) return (reef_entity){0, 0};
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
static reef_status command_with_ids(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity source,
                                    bool instance, uint32_t n, reef_entity *made, const reef_value *values,
                                    uint32_t count)
{
    char *end = NULL;
    reef_component failed = {0};
    command *x = command_begin(w, to, kind, op, source, failed, n, command_measure(values, count, n, n));
    if (x == NULL) return REEF_NO_MEMORY;
    x->component = instance;
    reef_status s = ids_take(w, to, n, command_ids(x));
    if (s == REEF_OK) {
        s = values_hold(w, x, values, count, &end, &failed);
        if (s != REEF_OK) ids_return(to, n);
    }
    if (s != REEF_OK) return refuse(w, to, s, op, failed, source, n);
    if (made) memcpy(made, command_ids(x), n * sizeof *made);
    if (to->by == NULL) reef__ids_pend(w, command_ids(x), n);
    command_add(to, x, end);
    return REEF_OK;
}

reef_status reef__command_spawn(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n,
                                reef_entity *made, const reef_value *values, uint32_t count)
{
    size_t stride;
    if (n == 1 && rows_allow(values, count, &stride)) return rows_add(w, to, op, NULL, made, values, count, stride);
    return command_with_ids(w, to, COMMAND_SPAWN, op, source, false, n, made, values, count);
}

reef_status reef__command_clone(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n,
                                reef_entity *made)
{
    return command_with_ids(w, to, COMMAND_CLONE, op, source, false, n, made, NULL, 0);
}

reef_status reef__command_tree(reef_world *w, commands *to, const char *op, reef_entity root, bool instance, uint32_t n,
                               reef_entity *made, const reef_value *values, uint32_t count)
{
    size_t stride;
    if (instance && n == 1 && rows_allow(values, count, &stride))
        return rows_add(w, to, op, &root, made, values, count, stride);
    return command_with_ids(w, to, COMMAND_COPY_TREE, op, root, instance, n, made, values, count);
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

/* ---- doing ---- */

/* The entities won't be made: their ids are free again. False: no memory; the ids that are left are tried again later.
 */
static COLD bool ids_give_up(reef_world *w, const reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (reef__id_pending(w, e[i]) && !reef__id_unpend(w, e[i])) return false;
    return true;
}

/* Types that a job named may be new to the world. */
static reef_status values_ready(reef_world *w, const char *op, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const reef_status s = reef__type_ready(w, values[i].component.id);
        if (s != REEF_OK) return reef__failure(w, s, op, values[i].component, (reef_entity){0, 0}, 0);
    }
    return REEF_OK;
}

/* Makes n entities: from a list of values, or as copies of `source`, with all that is below it if `tree` is that
 * command. */
static reef_status pending_do(reef_world *w, const reef_entity *ids, uint32_t n, const reef_entity *source,
                              reef_value *values, uint32_t count, const command *tree)
{
    const char *op = tree     ? tree->component ? "reef_instantiate" : "reef_clone_tree"
                     : source ? "reef_clone"
                              : "reef_spawn";
    bool pending = true;
    reef_status s;
    for (uint32_t i = 0; i < n; i++) pending &= reef__id_pending(w, ids[i]);
    if (!pending) s = reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, source ? *source : ids[0], n);
    else if (tree && (s = values_ready(w, op, values, count)) == REEF_OK)
        s = reef__tree_copy(w, op, *source, tree->component != 0, n, NULL, ids, values, count);
    else if (tree) {
    } else if (source) s = reef__clone_into(w, *source, n, NULL, ids);
    else if ((s = values_ready(w, op, values, count)) == REEF_OK) s = reef__spawn_pending(w, ids, n, values, count);
    if (s >= 0 || s == REEF_NO_MEMORY) return s;
    const reef_error why = w->error;
    if (!ids_give_up(w, ids, n))
        return reef__failure(w, REEF_NO_MEMORY, why.operation, why.component, why.entity, why.number);
    w->error = why;
    return s;
}

static reef_status held_do(reef_world *w, const command *x, const char *op, bool absent)
{
    const reef_status s = values_ready(w, op, held_values(x), x->count);
    return s == REEF_OK ? reef__change_held(w, op, x->entity, held_values(x), x->count, absent) : s;
}

static reef_status command_do(reef_world *w, const command *x)
{
    const reef_component c = {x->component};
    const reef_value *v = held_values(x);
    switch (x->kind) {
    case COMMAND_SPAWN: return pending_do(w, command_ids(x), x->n, NULL, held_values(x), x->count, NULL);
    case COMMAND_CLONE: return pending_do(w, command_ids(x), x->n, &x->entity, NULL, 0, NULL);
    case COMMAND_COPY_TREE: return pending_do(w, command_ids(x), x->n, &x->entity, held_values(x), x->count, x);
    case COMMAND_DESTROY_MANY:
        w->error.status = REEF_OK;
        reef_destroy_many(w, command_ids(x), x->n);
        return w->error.status;
    case COMMAND_ADD_VALUE:
        if (v->kind == VALUE_MOVED) return held_do(w, x, "reef_add", true);
        return reef_add_id(w, x->entity, c, NULL, NULL);
    case COMMAND_SET:
        if (v->kind == VALUE_MOVED) return held_do(w, x, "reef_set", false);
        return reef_set_id(w, x->entity, c, v->data, v->size);
    case COMMAND_REMOVE_ALL: return reef_remove_all(w, x->entity);
    case COMMAND_CHANGE: return held_do(w, x, "reef_change", false);
    case COMMAND_CALL: return command_call_of(x)->run(w, x->component, command_held(x));
    case COMMAND_NAME: return reef_set_name(w, x->entity, x->component ? (const char *)(x + 1) : NULL);
    default: return REEF_OK;
    }
}

static COLD void command_complain(const reef_world *w, const char *what)
{
    char message[COMPLAINT_BYTES];
#if !defined(REEF_CHECKED)
    if (w->config.log == NULL) return; /* a command about an entity that died meanwhile is no mistake */
#endif
    size_t at = (size_t)snprintf(message, sizeof message, "%s ", what);
    reef_error_text(w, message + at, sizeof message - at);
    reef__report(w, REEF_LOG_WARNING, reef__report_key(message), message);
}

/* Reports the failure of one of the first chunk's commands. */
static COLD void command_failed(reef_world *w, const commands *c, reef_error *first, reef_status s)
{
    memcpy(w->error.system, c->first->system, sizeof w->error.system);
    command_complain(w, s == REEF_NO_MEMORY ? "deferred, and kept for later:" : "deferred");
    if (s != REEF_NO_MEMORY && first->status == REEF_OK) *first = w->error;
}

/* The next command. Chunks that are done are retired. NULL: none is left. */
static command *commands_next(reef_world *w, commands *c)
{
    while (c->first && c->first->done == c->first->used) {
        command_chunk *k = c->first;
        c->first = k->next;
        if (c->first == NULL) c->last = NULL;
        command_chunk_retire(w, k);
    }
    return c->first ? command_at(c->first, c->first->done) : NULL;
}

/* Counts the next n commands as done; each element of a run counts as one. */
static void commands_skip(reef_world *w, commands *c, uint64_t n)
{
    for (command *x; n > 0 && (x = commands_next(w, c)) != NULL;) {
        const uint64_t rest = command_is_run(x) ? x->n - x->at : 1, some = n < rest ? n : rest;
        if (command_is_run(x)) x->at += some;
        n -= some;
        c->count -= some;
        if (some == rest) c->first->done += x->bytes;
    }
}

/* ---- runs ---- */

/* A place in a sequence of runs of the same kind and component. */
typedef struct run_place {
    const command_chunk *chunk;
    const command *x;
    size_t offset;
    uint64_t at;
} run_place;

/* Goes to the next element of the sequence. False: there is none. */
static bool run_place_next(run_place *p)
{
    if (p->at < p->x->n) return true;
    const command *was = p->x;
    p->offset += was->bytes;
    while (p->offset == p->chunk->used) {
        p->chunk = p->chunk->next;
        if (p->chunk == NULL) return false;
        p->offset = sizeof(command_chunk);
    }
    p->x = command_at(p->chunk, p->offset);
    p->at = 0;
    return p->x->kind == was->kind && p->x->component == was->component;
}

/* Are these elements, and those behind them, all rows of the table in their order? */
static bool run_names_table(const reef_world *w, run_place p, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        const uint32_t rows = chunk_rows(t, unit);
        for (uint32_t row = 0; row < rows;) {
            if (!run_place_next(&p)) return false;
            uint64_t n = p.x->n - p.at;
            if (n > rows - row) n = rows - row;
            if (memcmp(e + row, command_ids(p.x) + p.at, (size_t)n * sizeof *e) != 0) return false;
            row += (uint32_t)n;
            p.at += n;
        }
    }
    return true;
}

/* All rows of a table lose or get a component at once. This is only done where the component is plain and nobody sees
 * the single rows change. False: nothing was done. */
static bool table_move(reef_world *w, uint32_t id, uint32_t component, bool remove)
{
    reef_status s = REEF_OK;
    relabel r;
    if (reef__type_ready(w, component) != REEF_OK || (reef__slot_seek(w, component, id) != 0) != remove) return false;
    if (!remove && !reef__table_meets(w, id, reef__type_of(component))) return false;
    const edge *e = reef__graph_edge(w, id, component, remove, &s);
    if (e == NULL || e->to == TABLE_EMPTY) return false;
    const shape *from = shape_of(w->family, id), *to = shape_of(w->family, e->to);
    const bit_store *marks = bit_store_of(w, component | BIT_DISABLED);
    const table *there = table_read(w, e->to);
    if (from->hooked || to->hooked || from->tracked || to->tracked || watched(w, component) ||
        (there && table_rows(there)))
        return false;
    if (remove && marks && reef__bit_known(w, marks, id)) return false;
    if (reef__relabel_prepare(w, &r, id, e, remove, NULL)) reef__relabel_commit(w, &r);
    else return reef__relabel_cancel(w, &r), false;
    return true;
}

static bool table_destroy(reef_world *w, uint32_t id, uint64_t rows)
{
    const shape *s = shape_of(w->family, id);
    if (w->state.name_count || s->hooked || s->tracked || reef__stores_tracked(w) || observed(w)) return false;
    if (!reef__table_own_all(w, id) || !reef__destroy_prepare(w, NULL, 0, rows)) return false;
    reef__destroy_rows(w, id);
    return true;
}

/* Does the run for a whole table, if the next element's entity is the table's first row. The answer is how many
 * elements that were; 0: nothing was done. */
static NOINLINE uint64_t run_whole(reef_world *w, const commands *c, const command *x, uint32_t place)
{
    const uint32_t id = reef_slots_at(&w->hot, place)[0].head.table;
    const table *t = id > TABLE_EMPTY ? table_read(w, id) : NULL;
    const uint64_t rows = t ? table_rows(t) : 0;
    if (rows < COMMAND_WHOLE_LEAST || t->first != place_unit(place) || x->kind > COMMAND_DESTROY) return 0;
    if (x->kind != COMMAND_DESTROY && (reef__type_of(x->component) == NULL || !in_table(reef__type_of(x->component))))
        return 0;
    if (!run_names_table(w, (run_place){c->first, x, c->first->done, x->at}, t)) return 0;
    if (x->kind == COMMAND_DESTROY) return table_destroy(w, id, rows) ? rows : 0;
    return table_move(w, id, x->component, x->kind == COMMAND_REMOVE) ? rows : 0;
}

static reef_status element_do(reef_world *w, const command *x)
{
    const reef_entity e = command_ids(x)[x->at], *pair = command_ids(x) + 2 * x->at;
    const reef_component c = {x->component};
    switch (x->kind) {
    case COMMAND_RELATE: return reef_relate_id(w, pair[0], c, pair[1], NULL, 0);
    case COMMAND_ADD: return reef_add_id(w, e, c, NULL, NULL);
    case COMMAND_REMOVE: return reef_remove_id(w, e, c);
    case COMMAND_DESTROY: return reef_destroy(w, e);
    default: return reef_enable_id(w, e, c, x->kind == COMMAND_ENABLE);
    }
}

/* ---- entities to make ---- */

static reef_status row_do(reef_world *w, const command *x)
{
    reef_value values[COMMAND_RUN_VALUES + 1];
    const char *at = run_elements(x) + x->at * x->component;
    reef_entity e, prefab = {0, 0};
    if (x->kind == COMMAND_LANE_ROWS) reef__lane_ids_name(run_ids(x), (uint32_t)x->at, 1, &e);
    else memcpy(&e, at, sizeof e);
    if (x->kind == COMMAND_COPIES) memcpy(&prefab, at + sizeof e, sizeof prefab);
    at += row_head(x->kind);
    for (uint32_t i = 0; i < x->count; i++) {
        values[i] = run_values(x)[i];
        if (values[i].kind != REEF_VALUE_ONE) continue;
        values[i].data = at;
        at += values[i].size;
    }
    return x->kind == COMMAND_COPIES ? pending_do(w, &e, 1, &prefab, values, x->count, x)
                                     : pending_do(w, &e, 1, NULL, values, x->count, NULL);
}

static bool rows_alike(const command *x, const command *y)
{
    if (x->count != y->count) return false;
    for (uint32_t i = 0; i < x->count; i++) {
        const reef_value *v = &run_values(x)[i], *u = &run_values(y)[i];
        if (v->component.id != u->component.id || v->kind != u->kind || v->size != u->size) return false;
    }
    return true;
}

/* Makes as many entities at once as possible, from this run's next element on and from equal runs behind it. The
 * answer is how many. */
static NOINLINE uint64_t rows_packed(reef_world *w, const commands *c, const command *x)
{
    packed_run runs[COMMAND_PACKED];
    uint32_t n = 0;
    for (run_place p = {c->first, x, c->first->done, x->at}; n < COMMAND_PACKED; p.at += runs[n++].n) {
        if (n && (!run_place_next(&p) || !rows_alike(x, p.x))) break;
        const uint64_t rest = p.x->n - p.at;
        runs[n] = (packed_run){.rows = run_elements(p.x) + p.at * p.x->component,
                               .ids = x->kind == COMMAND_LANE_ROWS ? run_ids(p.x) : NULL,
                               .at = (uint32_t)p.at,
                               .n = rest < REEF_BLOCK_ROWS ? (uint32_t)rest : REEF_BLOCK_ROWS};
    }
    return reef__spawn_packed(w, run_values(x), x->count, x->component, runs, n);
}

/* The same for instances of one prefab, from this run alone. */
static NOINLINE uint64_t copies_packed(reef_world *w, const command *x)
{
    const packed_copies run = {.values = run_values(x),
                               .count = x->count,
                               .rows = run_elements(x) + x->at * x->component,
                               .stride = x->component,
                               .n = (uint32_t)(x->n - x->at)};
    const uint32_t n = reef__copies_packed(w, &run);
    return n ? n : reef__copies_together(w, &run);
}

/* Has the next instance the prefab of the one before? */
static bool copies_go_on(const command *x)
{
    const char *next = run_elements(x) + x->at * x->component + sizeof(reef_entity);
    return x->at < x->n && memcmp(next, next - x->component, sizeof(reef_entity)) == 0;
}

/* As many of a run's next elements as can be done at once. The answer is how many; 0: none. */
INLINE uint64_t elements_do(reef_world *w, const commands *c, const command *x)
{
    if (x->kind == COMMAND_COPIES) return copies_packed(w, x);
    if (command_is_rows(x)) return x->count ? rows_packed(w, c, x) : 0;
    if (x->kind == COMMAND_RELATE) return 0;
    const uint32_t place = place_of(w, command_ids(x)[x->at]);
    return place_row(place) == 0 && place >= 2 * PLACE_EMPTY ? run_whole(w, c, x, place) : 0;
}

static reef_status run_do(reef_world *w, commands *c, command *x, reef_error *first)
{
    const bool rows = command_is_rows(x);
    for (bool begun = false; x->at < x->n; begun = rows && (x->kind != COMMAND_COPIES || copies_go_on(x))) {
        if (UNLIKELY(observers_stuck(w))) return REEF_NO_MEMORY;
        const uint64_t n = begun ? 0 : elements_do(w, c, x);
        if (n) return commands_skip(w, c, n), REEF_OK;
        const reef_status s = rows ? row_do(w, x) : element_do(w, x);
        if (s < 0) command_failed(w, c, first, s);
        if (s == REEF_NO_MEMORY) return s;
        x->at++;
        c->count--;
        if (s == REEF_NO_MEMORY) return s;
    }
    c->first->done += x->bytes;
    return REEF_OK;
}

static reef_status single_do(reef_world *w, commands *c, const command *x, reef_error *first)
{
    const reef_status s = command_do(w, x);
    if (s < 0) command_failed(w, c, first, s);
    if (s == REEF_NO_MEMORY) return s;
    command_end(x, s >= 0);
    c->first->done += x->bytes;
    c->count--;
    return REEF_OK;
}

reef_status reef__commands_do(reef_world *w, commands *c)
{
    reef_error first = {.status = REEF_OK};
    reef_status s = REEF_OK;
    reef__commands_part(c);
    w->flushing = true;
    for (command *x; s != REEF_NO_MEMORY && (x = commands_next(w, c)) != NULL;) {
        if (observers_stuck(w)) {
            s = REEF_NO_MEMORY;
            break;
        }
        s = command_is_run(x) ? run_do(w, c, x, &first) : single_do(w, c, x, &first);
    }
    w->flushing = false;
    if (s == REEF_NO_MEMORY) return s;
    if (first.status != REEF_OK) w->error = first;
    return first.status;
}

void reef__commands_drop(reef_world *w, commands *c)
{
    reef__commands_part(c);
    for (command *x; (x = commands_next(w, c)) != NULL; c->first->done += x->bytes)
        if (!command_is_run(x)) command_end(x, false);
    c->count = 0;
}

/* ---- a world's own commands ---- */

reef_status reef__world_flush(reef_world *w)
{
    if (!lanes_finish(w))
        return reef__failure(w, REEF_NO_MEMORY, "reef_flush", (reef_component){0}, (reef_entity){0, 0},
                             w->deferred.count);
    reef_status s = observed(w) ? observed_flush(w) : reef__commands_do(w, &w->deferred);
    if (w->deferred.count == 0) w->slow &= ~SLOW_DEFERRED;
    return s;
}

reef_status reef_flush(reef_world *w)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks || w->flushing)
        return reef__failure(w, REEF_LOCKED, "reef_flush", (reef_component){0}, (reef_entity){0, 0}, 0);
    return reef__world_flush(w);
}
