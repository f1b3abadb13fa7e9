/* Each function is compiled twice: with the typed macros, and with -DPLAIN as the calls that they stand for, with ids
 * and sizes written out. Both must compile to the same instructions (tests/compile/typed), in C and in C++. Functions
 * named list_... build an array of values: there the compilers order the stores differently, and only the number of
 * instructions is compared. */
#include <reef/all.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_TAG(Hungry);

#ifdef __cplusplus
extern "C" {
#endif
const Position *get(const reef_world *w, reef_entity e);
Position *mut(reef_world *w, reef_entity e);
Position *ensure(reef_world *w, reef_entity e);
bool has(const reef_world *w, reef_entity e);
reef_status set(reef_world *w, reef_entity e, float x, float y);
reef_status add(reef_world *w, reef_entity e);
reef_status take(reef_world *w, reef_entity e);
reef_status disable(reef_world *w, reef_entity e);
reef_status enable_entity(reef_world *w, reef_entity e);
bool is_enabled(const reef_world *w, reef_entity e);
uint64_t count(const reef_world *w);
reef_entity list_spawn(reef_world *w, float x, float y);
reef_status list_spawn_many(reef_world *w, reef_entity *e, const Position *p);
reef_status list_change(reef_world *w, reef_entity e);
uint32_t get_many(reef_world *w, const reef_entity *e, Position *p);
uint32_t write_many(reef_world *w, const reef_entity *e, const Position *p);
void walk(reef_block *b);
#ifdef __cplusplus
}
#endif

#ifndef PLAIN

const Position *get(const reef_world *w, reef_entity e) { return reef_get(w, e, Position); }
Position *mut(reef_world *w, reef_entity e) { return reef_mut(w, e, Position); }
Position *ensure(reef_world *w, reef_entity e) { return reef_ensure(w, e, Position); }
bool has(const reef_world *w, reef_entity e) { return reef_has(w, e, Position); }
reef_status set(reef_world *w, reef_entity e, float x, float y) { return reef_set(w, e, Position, x, y); }
reef_status add(reef_world *w, reef_entity e) { return reef_add(w, e, Position); }
reef_status take(reef_world *w, reef_entity e) { return reef_remove(w, e, Position); }
reef_status disable(reef_world *w, reef_entity e) { return reef_disable(w, e, Position); }
reef_status enable_entity(reef_world *w, reef_entity e) { return reef_enable(w, e); }
bool is_enabled(const reef_world *w, reef_entity e) { return reef_is_enabled(w, e, Position); }
uint64_t count(const reef_world *w) { return reef_count(w, Position); }
reef_entity list_spawn(reef_world *w, float x, float y)
{
    return reef_spawn(w, reef_with(Position, x, y), reef_with(Velocity, 1, 2), reef_tag(Hungry));
}
reef_status list_spawn_many(reef_world *w, reef_entity *e, const Position *p)
{
    return reef_spawn_many(w, 8, e, reef_array(Position, p), reef_tag(Hungry));
}
reef_status list_change(reef_world *w, reef_entity e)
{
    return reef_change(w, e, reef_without(Velocity), reef_tag(Hungry));
}
uint32_t get_many(reef_world *w, const reef_entity *e, Position *p) { return reef_get_many(w, Position, e, 8, p); }
uint32_t write_many(reef_world *w, const reef_entity *e, const Position *p)
{
    return reef_write_many(w, Position, e, 8, p);
}
void walk(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt;
}

#else

static inline reef_component position(void) { return reef_id_of(&reef_declared_by_REEF_COMPONENT_Position); }
/* add, set, remove and enable resolve a type that isn't known yet together with the world. */
static inline reef_component position_with(const reef_world *w)
{
    return reef_id_with(w, &reef_declared_by_REEF_COMPONENT_Position);
}
static inline reef_component velocity(void) { return reef_id_of(&reef_declared_by_REEF_COMPONENT_Velocity); }
static inline reef_component hungry(void) { return reef_id_of(&reef_declared_by_REEF_COMPONENT_Hungry); }
const Position *get(const reef_world *w, reef_entity e)
{
    return (const Position *)reef_get_decl(w, e, &reef_declared_by_REEF_COMPONENT_Position, sizeof(Position));
}
Position *mut(reef_world *w, reef_entity e)
{
    return (Position *)reef_mut_decl(w, e, &reef_declared_by_REEF_COMPONENT_Position, sizeof(Position));
}
Position *ensure(reef_world *w, reef_entity e) { return (Position *)reef_ensure_id(w, e, position(), NULL); }
bool has(const reef_world *w, reef_entity e) { return reef_has_decl(w, e, &reef_declared_by_REEF_COMPONENT_Position); }
reef_status set(reef_world *w, reef_entity e, float x, float y)
{
    const Position p = {x, y};
    return reef_set_id(w, e, position_with(w), &p, sizeof p);
}
reef_status add(reef_world *w, reef_entity e) { return reef_add_id(w, e, position_with(w), NULL, NULL); }
reef_status take(reef_world *w, reef_entity e) { return reef_remove_id(w, e, position_with(w)); }
/* ({0} would be the whole entity.) */
reef_status disable(reef_world *w, reef_entity e)
{
    return reef_enable_decl(w, e, &reef_declared_by_REEF_COMPONENT_Position, false);
}
reef_status enable_entity(reef_world *w, reef_entity e)
{
    reef_component none = {0};
    return reef_enable_id(w, e, none, true);
}
bool is_enabled(const reef_world *w, reef_entity e) { return reef_is_enabled_id(w, e, position()); }
uint64_t count(const reef_world *w) { return reef_count_id(w, position()); }
reef_entity list_spawn(reef_world *w, float x, float y)
{
#ifdef __cplusplus
    const Position p = {x, y};
    const Velocity v = {1, 2};
    const reef_value values[] = {{position(), REEF_VALUE_ONE, sizeof p, &p},
                                 {velocity(), REEF_VALUE_ONE, sizeof v, &v},
                                 {hungry(), REEF_VALUE_DEFAULT, 0, NULL}};
    return reef_spawn_values(w, values, 3);
#else
    return reef_spawn_values(
        w,
        (const reef_value[]){{position(), REEF_VALUE_ONE, sizeof(Position), &(const Position){x, y}},
                             {velocity(), REEF_VALUE_ONE, sizeof(Velocity), &(const Velocity){1, 2}},
                             {hungry(), REEF_VALUE_DEFAULT, 0, NULL}},
        3);
#endif
}
reef_status list_spawn_many(reef_world *w, reef_entity *e, const Position *p)
{
    const reef_value values[] = {{position(), REEF_VALUE_ARRAY, sizeof *p, p}, {hungry(), REEF_VALUE_DEFAULT, 0, NULL}};
    return reef_spawn_many_values(w, 8, e, values, 2);
}
reef_status list_change(reef_world *w, reef_entity e)
{
    const reef_value values[] = {{velocity(), REEF_VALUE_REMOVE, 0, NULL}, {hungry(), REEF_VALUE_DEFAULT, 0, NULL}};
    return reef_change_values(w, e, values, 2);
}
uint32_t get_many(reef_world *w, const reef_entity *e, Position *p)
{
    return reef_get_many_id(w, position(), e, 8, p, sizeof *p);
}
uint32_t write_many(reef_world *w, const reef_entity *e, const Position *p)
{
    return reef_write_many_id(w, position(), e, 8, p, sizeof *p);
}
void walk(reef_block *b)
{
    Position *p = (Position *)reef_block_inout_decl(b, &reef_declared_by_REEF_COMPONENT_Position);
    const Velocity *v = (const Velocity *)reef_block_in_decl(b, &reef_declared_by_REEF_COMPONENT_Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt;
}

#endif
