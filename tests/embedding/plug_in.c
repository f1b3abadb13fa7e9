/* A plug-in: types, one of them with hooks, a system, an observer. It is built twice: using the reef of the host, and
 * (OWN_COPY) with a copy of reef of its own. And once more with types alone (ONLY_TYPES). */
#include "plug_in.h"

/* Before Plain and Moves, so that the ids of two copies of reef differ. */
typedef struct {
    uint64_t unused[3];
} Early;
REEF_COMPONENT(Early);
typedef struct {
    int32_t a, b;
} Plain;
REEF_COMPONENT(Plain);
REEF_FIELDS(Plain, (a, "kg", 0, 9), (b, "unit of plug-in", 0, 9));
typedef struct {
    float x;
} Position; /* the host has it too */
REEF_COMPONENT(Position);

#if !defined(ONLY_TYPES)

static uint32_t values;
typedef struct {
    uint32_t *counts; /* the value that it counts in, as a thing that it owns */
} Owning;
static reef_status owning_make(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    (void)context, (void)w, (void)e, (void)args;
    ((Owning *)slot)->counts = &values;
    values++;
    return REEF_OK;
}
static reef_status owning_copy(void *context, void *to, const void *from)
{
    (void)context;
    *(Owning *)to = *(const Owning *)from;
    ++*((Owning *)to)->counts;
    return REEF_OK;
}
static void owning_drop(void *context, void *slot)
{
    (void)context;
    --*((Owning *)slot)->counts;
}
static const reef_hooks owning = {
    .construct = owning_make, .copy = owning_copy, .destroy = owning_drop, .bytes_move = true};
REEF_COMPONENT_HOOKS(Owning, &owning);

static uint32_t ran, told;
static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += 1;
    ran++;
}
static void tell(const reef_notice *n) { told += n->count; }
static void context_drop(void *context) { *(bool *)context = true; }
static bool dropped, owns;

static bool begin(reef_world *w, bool hooks)
{
    ran = told = 0;
    dropped = false;
    owns = hooks;
    const reef_system_desc desc = {.name = "plug_in_move",
                                   .function = move,
                                   .text = "Position",
                                   .context = &dropped,
                                   .context_free = context_drop};
    if (reef_system_is_null(reef_system_new(w, &desc))) return false;
    if (reef_observer_is_null(reef_observer_add(w, "plug_in_tell", tell, REEF_ON_ADD, reef_id(Plain)))) return false;
    if (reef_entity_is_null(reef_spawn(w, reef_with(Plain, 1, 2), reef_with(Position, 5)))) return false;
    return !hooks || !reef_entity_is_null(reef_spawn(w, reef_with(Plain, 3, 4), reef_default(Owning)));
}

static bool end(reef_world *w)
{
    uint64_t removed;
    if (ran == 0 || told == 0) return false;
    if (reef_system_remove(w, reef_system_find(w, "plug_in_move")) != REEF_OK) return false;
    if (reef_observer_remove(w, reef_observer_find(w, "plug_in_tell")) != REEF_OK) return false;
    const reef_query owners = reef_query_new(w, "either Owning, either *, ?ReefPrefab");
    if (owns && reef_remove_where_id(w, owners, reef_id(Owning), &removed) != REEF_OK) return false;
    if (reef_query_free(w, owners) != REEF_OK) return false;
    return values == 0 && dropped;
}

/* ---- with a copy of reef of its own ---- */

#define REFUSED(call) \
    if (call) return #call

static const char *use_of_another(reef_world *w, reef_entity e)
{
    reef_entity many[3];
    const Plain plain = {1, 2};
    reef_bytes bytes;
    char message[300];
    REFUSED(reef_has(w, e, Position));
    REFUSED(reef_get(w, e, Position));
    REFUSED(reef_mut(w, e, Position));
    REFUSED(!reef_entity_is_null(reef_spawn(w, reef_with(Plain, 1, 2), reef_with(Position, 5))));
    REFUSED(reef_has(w, e, Plain)); /* its id is known by now */
    REFUSED(reef_get(w, e, Position));
    REFUSED(reef_mut(w, e, Position));
    REFUSED(reef_set(w, e, Position, 5) >= 0);
    REFUSED(reef_set_id(w, e, reef_id(Plain), &plain, sizeof plain) >= 0);
    REFUSED(reef_add(w, e, Plain) >= 0);
    REFUSED(reef_remove(w, e, Position) >= 0);
    REFUSED(reef_disable(w, e, Position) >= 0);
#if defined(REEF_CHECKED) /* the shortest path of the release build doesn't ask: docs/manual/plug-ins.md */
    REFUSED(reef_set_id(w, e, reef_id(Position), &(Position){5}, sizeof(Position)) >= 0);
    REFUSED(reef_destroy(w, e) >= 0);
#endif
    REFUSED(reef_spawn_many(w, 3, many, reef_with(Position, 1)) >= 0);
    REFUSED(!reef_entity_is_null(reef_create(w)));
    REFUSED(reef_relate(w, e, ChildOf, e) >= 0);
    REFUSED(reef_set_name(w, e, "plugged") >= 0);
    REFUSED(!reef_query_is_null(reef_query_new(w, "Position")));
    REFUSED(!reef_system_is_null(reef_system(w, move, "Position")));
    REFUSED(!reef_observer_is_null(reef_observer_add(w, "tell", tell, REEF_ON_ADD, reef_id(Plain))));
    REFUSED(reef_tick(w, 1) >= 0);
    REFUSED(reef_save_bytes(w, &bytes, NULL) >= 0);
    REFUSED(reef_fork(w) != NULL);
    REFUSED(reef_snapshot_take(w) != NULL);
    REFUSED(reef_hash(w) != 0);
    REFUSED(reef_validate(w, message, sizeof message) >= 0);
    REFUSED(reef_last_error(w).status != REEF_BAD_ARGUMENT);
    reef_error_text(w, message, sizeof message);
    REFUSED(strstr(message, "another copy of reef") == NULL);
    reef_world_free(w);
    return NULL;
}

static const char *use_own(void)
{
    reef_world *w = reef_world_new(NULL);
    if (!begin(w, true) || reef_tick(w, 1) != REEF_OK || !end(w)) return "a world of its own";
    const reef_entity e = reef_spawn(w, reef_with(Plain, 1, 2), reef_with(Position, 5));
    if (!reef_has(w, e, Plain) || reef_get(w, e, Position)->x != 5.0f) return "reading in a world of its own";
    reef_world_free(w);
    return NULL;
}

extern const plug_in plug_in_calls;
const plug_in plug_in_calls = {begin, end, &values, use_of_another, use_own};

#endif
