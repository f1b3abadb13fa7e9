// Uses of the macros that hide a cast, in C++, where programs may ask for warnings about casts (tests/compile/casts).
// It is only compiled.
#include "reef.h"
#ifndef REEF_ALL_H /* the reef.h of the two files has everything */
#include "reef/all.h"
#endif

struct Spot {
    float x, y;
    reef_entity to;
    char text[8];
};
struct Hot {
    int32_t heat;
};
struct Many {
    uint16_t n;
};
struct Both {
    uint64_t n;
};
struct Apart {
    float x;
    int8_t layer;
};
struct Point {
    float x, y;
};
enum class Mood : uint8_t { calm, angry };
struct Crab {
    Point at, path[2];
    Mood mood;
    uint32_t flags;
};
struct Animal {
    int32_t legs;
};
struct Dog {
    Animal base;
    int32_t tricks;
};
struct Said {
    reef_entity who;
    float loud;
};
REEF_COMPONENT(Spot);
REEF_COMPONENT_IN(Hot, REEF_SPARSE);
REEF_COMPONENT_IN(Many, REEF_MULTI);
REEF_COMPONENT_IN(Both, REEF_SHARED);
REEF_COMPONENT_IN(Apart, REEF_SPLIT);
REEF_COMPONENT(Point);
REEF_COMPONENT(Crab);
REEF_ENUM(Mood, Mood::calm, (Mood::angry, "cross"));
REEF_MASK(Flags, (1, "wet"), (2, "cold"));
REEF_STRUCT(Point, x, (y, "m", 0, 9));
REEF_FIELDS(Crab, (at, struct, Point), (path, struct, Point), (mood, enum, Mood), (flags, enum, Flags));
REEF_COMPONENT(Animal);
REEF_SUBTYPE(Dog, Animal);
REEF_COMPONENT(Said);
REEF_TAG(Stuck);
REEF_SWITCH(Awake);
REEF_REQUIRES(Hot, Spot);
REEF_RELATION(Likes);
REEF_RELATION(In, REEF_EXCLUSIVE | REEF_ACYCLIC);
REEF_RELATION_OF(Owes, Hot);
REEF_FIELDS(Spot, (x, "m"), text, to);
REEF_FIELDS(Apart, x, layer);
REEF_FIELDS(Dog, base.legs);

void in_a_system(reef_block *b);
void in_a_system(reef_block *b)
{
    const Spot *in = reef_in(b, Spot), *parents = reef_parents_in(b, Spot), *fixed = reef_fixed_in(b, Spot);
    Spot *inout = reef_inout(b, Spot), *out = reef_out(b, Spot), *write = reef_fixed_inout(b, Spot);
    const float *xs = reef_in_field(b, Apart, x);
    float *ys = reef_inout_field(b, Apart, x);
    const Spot *to[REEF_BLOCK_ROWS];
    (void)reef_reach(b, Spot, 0, to);
    reef_send(b, Said, b->entities[0], 1.0f);
    Hot *sum = reef_part(b, Hot);
    reef_cmd_set(b, b->entities[0], Spot, in[0]);
    uint32_t n;
    const Many *many = reef_block_get_all(b, Many, 0, &n);
    inout[0].x = parents[0].x + fixed[0].x + xs[0] + static_cast<float>(many[0].n);
    out[0] = write[0];
    ys[0] = 1;
    sum->heat++;
}

void in_an_observer(const reef_notice *notice);
void in_an_observer(const reef_notice *notice)
{
    (void)reef_now(notice, Spot, 0);
    (void)reef_was(notice, Spot, 0);
}

bool outside(reef_world *w, reef_entity e, reef_query q);
bool outside(reef_world *w, reef_entity e, reef_query q)
{
    uint32_t n;
    reef_set(w, e, Point, 1.0f, 2.0f);
    reef_set(w, e, Hot, 3);
    reef_append(w, e, Many, static_cast<uint16_t>(4));
    (void)reef_spawn(w, reef_with(Point, 1.0f, 2.0f), reef_with(Hot, 5));
    (void)reef_change(w, e, reef_with(Hot, 6), reef_with(Animal, 7));
    (void)reef_add(w, e, Stuck);
    (void)reef_relate(w, e, In, e);
    (void)reef_relate_data(w, e, Owes, e, 3);
    for (reef_sources s = reef_sources_of(w, e, Likes); reef_sources_next(&s);) n = s.count;
    const Spot *spot = reef_get(w, e, Spot);
    const Hot *hot = reef_get(w, e, Hot), *single = reef_single_get(w, Hot);
    Spot *written = reef_mut(w, e, Spot), *ensured = reef_ensure(w, e, Spot);
    const Many *span = reef_get_all(w, e, Many, &n);
    Many *all = reef_mut_all(w, e, Many, &n);
    reef_ref ref = reef_ref_make(w, e, Spot);
    const Spot *kept = reef_ref_get(w, &ref, Spot);
    Spot *kept_written = reef_ref_mut(w, &ref, Spot);
    reef_each(w, q, row)
    {
        reef_inout_at(row, Spot)->x = reef_in_at(row, Spot)->y;
        reef_inout_at_sub(row, Animal)->legs = reef_in_at_sub(row, Animal)->legs;
    }
    written->x = spot->x + kept->x + static_cast<float>(hot->heat + single->heat);
    ensured->y = kept_written->y;
    all[0].n = span[0].n;
    return reef_has(w, e, Spot) && reef_has(w, e, Hot) && reef_related(w, e, Likes, e) &&
           reef_key_f32(1.0f) > reef_key_entity(e);
}
