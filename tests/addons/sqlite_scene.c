#include "sqlite_scene.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void scene_move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += b->dt;
}
static void scene_ping(reef_block *b) { reef_send(b, Ping, (int32_t)reef_tick_count(b->world)); }
static void scene_seen(reef_block *b)
{
    Kinds *k = reef_inout(b, Kinds);
    for (uint32_t i = 0; i < b->count; i++) k[i].i32++;
}
static void scene_listen(reef_block *b)
{
    reef_events r = reef_receive(b, Ping);
    while (reef_next_event(&r)) {}
}

void scene_systems(reef_world *w)
{
    reef_system(w, scene_listen, "; receives Ping");
    reef_system(w, scene_ping, "; sends Ping");
    reef_system(w, scene_move, "Place, Asleep");
    reef_system(w, scene_seen, "Kinds, changed in Place");
}

static reef_entity any(reef_world *w, uint64_t *seed)
{
    const uint32_t most = (uint32_t)reef_world_stats(w).indices;
    for (int i = 0; i < 8 && most; i++) {
        const reef_entity e = reef_entity_at(w, scene_random(seed) % most);
        if (!reef_entity_is_null(e)) return e;
    }
    return (reef_entity){0, 0};
}

static void kinds_set(reef_world *w, uint64_t *seed, reef_entity e)
{
    const uint32_t r = scene_random(seed);
    const uint64_t wide = (uint64_t)scene_random(seed) << 40 | r;
    Kinds k = {.small = (int8_t)r,
               .byte = (uint8_t)(r >> 3),
               .i16 = (int16_t)r,
               .u16 = (uint16_t)(r >> 2),
               .i32 = (int32_t)(r << 1),
               .u32 = r << 1,
               .i64 = (int64_t)wide,
               .u64 = wide << 1,
               .f64 = (double)r / 7,
               .yes = r & 1,
               .legs = {(uint16_t)r, 0, 65535},
               .friend = any(w, seed)};
    if (r % 16 == 0) k.f64 = HUGE_VAL;
    if (r % 16 == 1) k.f64 = (double)NAN;
    (void)snprintf(k.word, sizeof k.word, "%s%u", r & 2 ? "caf\xC3\xA9 '" : "", (unsigned)r % 1000);
    (void)reef_set_id(w, e, reef_id(Kinds), &k, sizeof k);
    /* some of these values have names, others none */
    if (r % 3 == 0) reef_set(w, e, Feeling, (int8_t)((int)(r % 7) - 3), r & 15, (int32_t)r);
}

static void stores_set(reef_world *w, uint64_t *seed, reef_entity e, uint32_t r)
{
    switch (scene_random(seed) % 8) {
    case 0: reef_set(w, e, Burning, (int32_t)r); break;
    case 1: reef_set(w, e, Paged, (int32_t)r); break;
    case 2: reef_set(w, e, Cold, (int32_t)r); break;
    case 3: reef_set(w, e, Shape, (int32_t)r); break;
    case 4: reef_share(w, any(w, seed), e, Shape); break;
    case 5: reef_set(w, e, Parts, (float)r, 1.5f, (int32_t)r); break;
    case 6: (void)reef_append(w, e, Wound, (int32_t)(r % 100), (int32_t)r); break;
    default: reef_remove_one(w, e, Wound, 0); break;
    }
}

static void relations_set(reef_world *w, uint64_t *seed, reef_entity e, uint32_t r)
{
    const reef_entity other = any(w, seed);
    switch (scene_random(seed) % 8) {
    case 0: reef_relate(w, e, Likes, other); break;
    case 1: reef_relate(w, e, DockedTo, other); break;
    case 2: reef_relate_data(w, e, Owes, other, (int32_t)r); break;
    case 3: reef_relate(w, e, Within, other); break;
    case 4: reef_unrelate(w, e, Likes, other); break;
    case 5: reef_remove(w, e, Owes); break;
    case 6: reef_relate_before(w, e, Likes, other, any(w, seed)); break;
    default: reef_remove(w, e, DockedTo); break;
    }
}

static void removals(reef_world *w, uint64_t *seed, reef_entity e)
{
    const reef_component types[] = {reef_id(Place), reef_id(Kinds),   reef_id(Coins), reef_id(Purse),  reef_id(Wound),
                                    reef_id(Parts), reef_id(Burning), reef_id(Paged), reef_id(Cold),   reef_id(Shape),
                                    reef_id(Lit),   reef_id(Asleep),  reef_id(Sound), reef_id(Feeling)};
    const reef_component type = types[scene_random(seed) % (sizeof types / sizeof types[0])];
    if (reef_has_id(w, e, type)) (void)reef_remove_id(w, e, type);
}

static void switches_set(reef_world *w, uint64_t *seed, reef_entity e)
{
    switch (scene_random(seed) % 8) {
    case 0: reef_add(w, e, Lit); break;
    case 1: reef_add(w, e, Asleep); break;
    case 2: reef_disable(w, e, Place); break;
    case 3: reef_enable(w, e, Place); break;
    case 4: reef_disable(w, e); break;
    case 5: reef_enable(w, e); break;
    case 6: reef_disable(w, e, Lit); break;
    default: reef_remove(w, e, Asleep); break;
    }
}

void scene_change(reef_world *w, uint64_t *seed, int n, bool plain)
{
    char name[32];
    for (int i = 0; i < n; i++) {
        const uint32_t r = scene_random(seed), what = scene_random(seed) % 24;
        const reef_entity e = any(w, seed);
        if (reef_entity_is_null(e) || what < 5) {
            (void)reef_spawn(w, reef_with(Place, (float)(r % 100), -0.5f), reef_with(Coins, (int32_t)r));
            continue;
        }
        switch (what) {
        case 5: (void)reef_destroy(w, e); break;
        case 6: (void)reef_create(w); break;
        case 7: reef_set(w, e, Place, (float)(r % 1000), 0.1f); break;
        case 8:
        case 9: kinds_set(w, seed, e); break;
        case 10:
            (void)snprintf(name, sizeof name, r & 4 ? "name%u.it's \"%u\"" : "name%u %u", (unsigned)(r % 50),
                           (unsigned)(r % 7));
            (void)reef_set_name(w, e, r & 1 ? name : NULL);
            break;
        case 11:
        case 12:
        case 13: stores_set(w, seed, e, r); break;
        case 14:
        case 15: relations_set(w, seed, e, r); break;
        case 16:
        case 17: switches_set(w, seed, e); break;
        case 18: removals(w, seed, e); break;
        case 19: reef_set(w, e, Purse, {(int32_t)r}, 7); break;
        case 20: reef_single_set(w, Gravity, 0, -(float)(r % 20)); break;
        case 21:
            if (plain) (void)reef_reserve_id(w);
            else reef_set(w, e, Plain, {(unsigned char)r, 0, 2, 3, 255});
            break;
        case 22: reef_set(w, e, Sound, (int32_t)r); break;
        default: (void)reef_post(w, Ping, (int32_t)r); break;
        }
    }
}
