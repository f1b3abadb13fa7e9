/* Commands.
 *
 *   chunk ─► chunk ─► chunk        a chunk: commands one behind the other, each
 *                                  {header} {ids} {values} {bytes of the values}
 *
 * A value of a plain type is held as bytes. One with hooks is held as a value: made by the copy hook, or moved out of the
 * caller's where there is none, and moved on into its column when the command is done. What a constructor is given `args` for is
 * constructed at once, since args are the caller's and read during the call only. Default values are made at the end. */
#include "change.h"
#include <stdio.h>

typedef struct command {
    size_t       bytes; /* to the next one */
    reef_entity  entity;
    uint32_t     n;     /* ids behind this head */
    uint32_t     count; /* values behind them */
    uint32_t     component;
    command_kind kind;
} command;

typedef struct command_chunk {
    struct command_chunk *next;
    size_t                bytes, used; /* with this head */
    size_t                unused;      /* keeps what follows aligned */
} command_chunk;

_Static_assert(sizeof(command_chunk) % PLAIN_ALIGN == 0 || sizeof(void *) < 8, "commands begin aligned");

enum {
    COMMAND_CHUNK_LEAST = 4096,
    COMMAND_CHUNK_MOST = 1 << 20, /* but for a command that is longer */
    COMPLAINT_BYTES = REPORT_BYTES + 32
};

static const size_t command_chunk_head = (sizeof(command_chunk) + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;

static reef_entity *command_ids(const command *x) { return (reef_entity *)(uintptr_t)(x + 1); }
static reef_value *held_values(const command *x) { return (reef_value *)(void *)(command_ids(x) + x->n); }

/* ---- memory ---- */

static void command_chunk_free(reef_world *w, command_chunk *k)
{
    if (k) memory_free(&w->family->memory, MEMORY_OTHER, k, k->bytes);
}

/* Of two chunks the larger is kept. */
static void command_chunk_retire(reef_world *w, commands *c, command_chunk *k)
{
    bool larger = c->spare == NULL || k->bytes > c->spare->bytes;
    command_chunk_free(w, larger ? c->spare : k);
    if (larger) c->spare = k;
}

void commands_trim(reef_world *w, commands *c)
{
    command_chunk_free(w, c->spare);
    c->spare = NULL;
}

static COLD bool command_chunk_add(reef_world *w, commands *c, size_t bytes)
{
    size_t room = c->last ? c->last->bytes * 2 : COMMAND_CHUNK_LEAST;
    command_chunk *k = c->spare;
    if (room > COMMAND_CHUNK_MOST) room = COMMAND_CHUNK_MOST;
    if (bytes > SIZE_MAX - command_chunk_head) return false;
    if (room < bytes + command_chunk_head) room = bytes + command_chunk_head;
    if (k && k->bytes - command_chunk_head >= bytes) {
        c->spare = NULL;
    } else {
        k = memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, room, PLAIN_ALIGN);
        if (k == NULL) return false;
        k->bytes = room;
    }
    k->next = NULL;
    k->used = command_chunk_head;
    if (c->last) c->last->next = k;
    else c->first = k, c->done = command_chunk_head;
    c->last = k;
    return true;
}

/* Where a command of at most `bytes` goes. It is there when command_add says how long it became. NULL: no memory. */
static command *command_room(reef_world *w, commands *c, size_t bytes)
{
    if (c->last == NULL || c->last->bytes - c->last->used < bytes)
        if (!command_chunk_add(w, c, bytes)) return NULL;
    return (command *)(void *)((char *)c->last + c->last->used);
}

static void command_add(commands *c, command *x, const void *end)
{
    size_t bytes = (size_t)((const char *)end - (char *)x);
    x->bytes = (bytes + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;
    c->last->used += x->bytes;
    c->count++;
}

/* ---- values ---- */

/* How many values of a list's item are held for n entities. */
static uint32_t value_elements(const type *t, const reef_value *v, uint32_t n)
{
    if (t->size == 0 || v->kind == REEF_VALUE_REMOVE) return 0;
    if (v->kind == REEF_VALUE_DEFAULT) return t->hooks.construct && v->data ? n : 0;
    return v->kind == REEF_VALUE_ARRAY ? n : 1;
}

/* Bytes that a command takes at most. False: too many. */
static bool command_measure(const reef_value *values, uint32_t count, uint32_t ids, uint32_t n, size_t *bytes)
{
    size_t at = sizeof(command) + count * sizeof(reef_value) + PLAIN_ALIGN;
    if (!size_multiply(ids, sizeof(reef_entity), at, &at)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = type_of(values[i].component.id);
        if (SIZE_MAX - at < t->align) return false;
        if (!size_multiply(t->size, value_elements(t, &values[i], n), at + t->align, &at)) return false;
    }
    *bytes = at;
    return true;
}

/* The first `count` values of a command come to their end. `taken`: they were moved into the world. */
static void values_end(const command *x, uint32_t count, bool taken)
{
    const uint32_t n = x->n ? x->n : 1;
    const reef_value *held = held_values(x);
    for (uint32_t i = 0; i < count; i++) {
        const type *t = type_of(held[i].component.id);
        const bool one = held[i].kind == REEF_VALUE_ONE;
        const uint32_t elements = held[i].kind == VALUE_MOVED_ARRAY ? n : one || held[i].kind == VALUE_MOVED ? 1 : 0;
        if (!t->hooked || t->size == 0 || (taken && !one)) continue;
        for (uint32_t k = 0; k < elements; k++) value_destroy(t, (char *)(uintptr_t)held[i].data + (size_t)k * t->size);
    }
}

/* Holds value i of the command for n entities, in `slot`. */
static reef_status value_hold(reef_world *w, const command *x, uint32_t i, const reef_value *v, char *slot, uint32_t n)
{
    const type *t = type_of(v->component.id);
    const uint32_t elements = value_elements(t, v, n);
    reef_value *held = &held_values(x)[i];
    *held = *v;
    held->data = elements ? slot : NULL;
    if (elements == 0) return REEF_OK;
    if (!t->hooked) {
        memcpy(slot, v->data, (size_t)elements * t->size);
        return REEF_OK;
    }
    for (uint32_t k = 0; k < elements; k++) {
        reef_status s = value_put(w, x->n ? command_ids(x)[k] : x->entity, t, slot + (size_t)k * t->size, v, k);
        if (s == REEF_OK) continue;
        while (k-- > 0) value_take_back(t, slot + (size_t)k * t->size, v, k);
        return s;
    }
    if (elements == n) held->kind = n == 1 ? VALUE_MOVED : VALUE_MOVED_ARRAY; /* else one of which copies are made */
    return REEF_OK;
}

/* All of them; what was moved goes back to the caller when one fails. *end: behind the last. */
static reef_status values_hold(reef_world *w, command *x, const reef_value *values, uint32_t count, char **end)
{
    const uint32_t n = x->n ? x->n : 1;
    char *at = (char *)(held_values(x) + count);
    x->count = count;
    w->hook_failed.id = 0;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = type_of(values[i].component.id);
        char *slot = (char *)(((uintptr_t)at + t->align - 1) / t->align * t->align);
        const uint32_t elements = value_elements(t, &values[i], n);
        if (elements == 0) slot = at;
        reef_status s = value_hold(w, x, i, &values[i], slot, n);
        at = slot + (size_t)elements * t->size;
        if (s == REEF_OK) continue;
        while (i-- > 0) {
            t = type_of(values[i].component.id);
            for (uint32_t k = value_elements(t, &values[i], n); t->hooked && k-- > 0;)
                value_take_back(t, (char *)(uintptr_t)held_values(x)[i].data + (size_t)k * t->size, &values[i], k);
        }
        return s;
    }
    *end = at;
    return REEF_OK;
}

/* ---- recording ---- */

static void command_head(command *x, command_kind kind, reef_entity e, uint32_t component, uint32_t n)
{
    x->entity = e;
    x->n = n;
    x->count = 0;
    x->component = component;
    x->kind = kind;
}

bool command_knows(const reef_world *w, reef_entity e) { return place_of(w, e) != PLACE_DEAD || id_pending(w, e); }

reef_status command_plain(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e, reef_component c)
{
    command *x = command_room(w, to, sizeof *x + PLAIN_ALIGN);
    if (x == NULL) return failure(w, REEF_NO_MEMORY, op, c, e, 0);
    command_head(x, kind, e, c.id, 0);
    command_add(to, x, x + 1);
    return REEF_OK;
}

reef_status command_values(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity e,
                           const reef_value *values, uint32_t count)
{
    size_t bytes = 0;
    char *end = NULL;
    command *x = command_measure(values, count, 0, 1, &bytes) ? command_room(w, to, bytes) : NULL;
    reef_component c = {count == 1 ? values->component.id : 0};
    if (x == NULL) return failure(w, REEF_NO_MEMORY, op, c, e, 0);
    command_head(x, kind, e, c.id, 0);
    reef_status s = values_hold(w, x, values, count, &end);
    if (s != REEF_OK) return failure(w, s, op, w->hook_failed, e, 0);
    command_add(to, x, end);
    return REEF_OK;
}

/* Ids are the last thing: before, everything can fail. */
static reef_status command_with_ids(reef_world *w, commands *to, command_kind kind, const char *op, reef_entity source,
                                    uint32_t n, reef_entity *made, const reef_value *values, uint32_t count)
{
    size_t bytes = 0;
    char *end = NULL;
    command *x = NULL;
    reef_status s = ids_prepare(w, n);
    if (s == REEF_OK && command_measure(values, count, n, n, &bytes)) x = command_room(w, to, bytes);
    if (x == NULL) return failure(w, s == REEF_OK ? REEF_NO_MEMORY : s, op, (reef_component){0}, source, n);
    command_head(x, kind, source, 0, n);
    ids_peek(w, 0, n, command_ids(x));
    s = values_hold(w, x, values, count, &end);
    if (s != REEF_OK) return failure(w, s, op, w->hook_failed, source, n);
    if (made) memcpy(made, command_ids(x), n * sizeof *made);
    ids_pend(w, command_ids(x), n);
    command_add(to, x, end);
    return REEF_OK;
}

reef_status command_spawn(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n, reef_entity *made,
                          const reef_value *values, uint32_t count)
{
    return command_with_ids(w, to, COMMAND_SPAWN, op, source, n, made, values, count);
}

reef_status command_clone(reef_world *w, commands *to, const char *op, reef_entity source, uint32_t n, reef_entity *made)
{
    return command_with_ids(w, to, COMMAND_CLONE, op, source, n, made, NULL, 0);
}

uint32_t command_destroy_many(reef_world *w, commands *to, const char *op, const reef_entity *es, uint32_t n)
{
    size_t bytes = 0;
    command *x = command_measure(NULL, 0, n, n, &bytes) ? command_room(w, to, bytes) : NULL;
    if (x == NULL) return failure(w, REEF_NO_MEMORY, op, (reef_component){0}, (reef_entity){0, 0}, n), 0;
    command_head(x, COMMAND_DESTROY_MANY, (reef_entity){0, 0}, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        if (command_knows(w, es[i])) command_ids(x)[x->n++] = es[i];
    if (x->n) command_add(to, x, command_ids(x) + x->n);
    return x->n;
}

/* ---- doing ---- */

/* The entities don't come: their ids are free again. False: no memory; those that are left are tried again. */
static COLD bool ids_give_up(reef_world *w, const command *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (id_pending(w, command_ids(x)[i]) && !id_unpend(w, command_ids(x)[i])) return false;
    return true;
}

static reef_status spawn_do(reef_world *w, const command *x)
{
    const char *op = x->kind == COMMAND_CLONE ? "reef_clone" : "reef_spawn";
    bool pending = true;
    reef_status s;
    for (uint32_t i = 0; i < x->n; i++) pending &= id_pending(w, command_ids(x)[i]);
    if (!pending) s = failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, x->entity, x->n);
    else if (x->kind == COMMAND_CLONE) s = clone_pending(w, x->entity, command_ids(x), x->n);
    else s = spawn_pending(w, command_ids(x), x->n, held_values(x), x->count);
    if (s >= 0 || s == REEF_NO_MEMORY) return s;
    const reef_error why = w->error;
    if (!ids_give_up(w, x)) return failure(w, REEF_NO_MEMORY, why.operation, why.component, why.entity, why.number);
    w->error = why;
    return s;
}

static reef_status command_do(reef_world *w, const command *x)
{
    const reef_component c = {x->component};
    reef_value *v = held_values(x);
    switch (x->kind) {
    case COMMAND_SPAWN:
    case COMMAND_CLONE: return spawn_do(w, x);
    case COMMAND_DESTROY: return reef_destroy(w, x->entity);
    case COMMAND_DESTROY_MANY:
        w->error.status = REEF_OK;
        reef_destroy_many(w, command_ids(x), x->n);
        return w->error.status;
    case COMMAND_ADD:
        if (x->count && v->kind == VALUE_MOVED) return change_held(w, "reef_add", x->entity, v, 1, true);
        return reef_add_id(w, x->entity, c, NULL, NULL);
    case COMMAND_SET:
        if (v->kind == VALUE_MOVED) return change_held(w, "reef_set", x->entity, v, 1, false);
        return reef_set_id(w, x->entity, c, v->data, v->size);
    case COMMAND_REMOVE: return reef_remove_id(w, x->entity, c);
    case COMMAND_REMOVE_ALL: return reef_remove_all(w, x->entity);
    case COMMAND_CHANGE: return change_held(w, "reef_change", x->entity, v, x->count, false);
    case COMMAND_ENABLE:
    case COMMAND_DISABLE: return reef_enable_id(w, x->entity, c, x->kind == COMMAND_ENABLE);
    }
    return REEF_OK;
}

static COLD void command_complain(const reef_world *w, const char *what)
{
    char message[COMPLAINT_BYTES];
    if (w->config.log == NULL) return;
    size_t at = (size_t)snprintf(message, sizeof message, "%s ", what);
    reef_error_text(w, message + at, sizeof message - at);
    w->config.log(w->config.context, REEF_LOG_WARNING, message);
}

reef_status commands_do(reef_world *w, commands *c)
{
    reef_error first = {.status = REEF_OK};
    reef_status s = REEF_OK;
    w->flushing = true;
    while (c->first && s != REEF_NO_MEMORY) {
        command_chunk *k = c->first;
        while (c->done < k->used) {
            const command *x = (const command *)(const void *)((char *)k + c->done);
            s = command_do(w, x);
            if (s == REEF_NO_MEMORY) break;
            if (s < 0) command_complain(w, "deferred");
            if (s < 0 && first.status == REEF_OK) first = w->error;
            values_end(x, x->count, s >= 0 || BUG(52));
            c->done += x->bytes;
            x = (const command *)(const void *)((char *)k + c->done);
            if (BUG(51) && s < 0 && c->done < k->used) c->done += x->bytes, c->count--;
            c->count--;
        }
        if (s == REEF_NO_MEMORY) break;
        c->first = k->next;
        c->done = command_chunk_head;
        if (c->first == NULL) c->last = NULL;
        command_chunk_retire(w, c, k);
    }
    w->flushing = false;
    if (s == REEF_NO_MEMORY) {
        command_complain(w, "deferred, and kept for later:");
        return s;
    }
    if (first.status != REEF_OK) w->error = first;
    return first.status;
}

void commands_drop(reef_world *w, commands *c)
{
    while (c->first) {
        command_chunk *k = c->first;
        for (; c->done < k->used;) {
            const command *x = (const command *)(const void *)((char *)k + c->done);
            values_end(x, x->count, false);
            c->done += x->bytes;
        }
        c->first = k->next;
        c->done = command_chunk_head;
        command_chunk_free(w, k);
    }
    c->last = NULL;
    c->count = 0;
    commands_trim(w, c);
}

/* ---- those of a world ---- */

reef_status world_flush(reef_world *w)
{
    reef_status s = commands_do(w, &w->deferred);
    if (w->deferred.count == 0) w->slow &= ~SLOW_DEFERRED;
    return s;
}

reef_status reef_flush(reef_world *w)
{
    if (w == NULL) return REEF_BAD_ARGUMENT;
    if (w->locks || w->flushing) return failure(w, REEF_LOCKED, "reef_flush", (reef_component){0}, (reef_entity){0, 0}, 0);
    return world_flush(w);
}
