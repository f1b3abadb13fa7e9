#include "shoals.h"

#include <stdlib.h>
#include <string.h>

/* ---- who is near ---- */

static uint32_t *first; /* Sight.first, with room for two more */

/* A fish of this rank or of a band beside it. */
static void see(Sight *own, const reef_world *w, const Sea *sea, reef_entity e, bool place)
{
    const Species *kind = reef_get(w, e, Species);
    if (kind == NULL) return; /* water */
    const Position *at = reef_get(w, e, Position);
    const uint32_t cell = sea_cell(sea, at->x, at->y);
    if (!place) {
        first[cell + 2]++;
        if (reef_single_get(w, Rules)->table.of[kind->index].prey != 0)
            own->hunters[cell] |= (uint64_t)1 << kind->index;
        return;
    }
    const Velocity *v = reef_get(w, e, Velocity);
    const uint32_t slot = first[cell + 1]++;
    own->fish[slot] = (seen){at->x, at->y, v->x, v->y, e, reef_get(w, e, Energy)->units, kind->index};
}

/* Visits the fish of all bands that this rank sees, each band once. */
static void see_all(Sight *own, const reef_world *w, const Sea *sea, const reef_ranks *ranks, bool place)
{
    bool visited[SEA_METRES_MAX / CELL_METRES] = {false};
    for (uint32_t band = 0; band <= sea->last; band++) {
        reef_ranks_members m;
        for (uint32_t i = 0; reef_ranks_around(ranks, band, i, &m); i++) {
            const uint32_t where = i == 0   ? band
                                   : i == 1 ? (band + sea->last) % (sea->last + 1)
                                            : (band + 1) % (sea->last + 1);
            if (visited[where]) continue;
            visited[where] = true;
            for (uint32_t k = 0; k < m.count; k++) see(own, w, sea, m.entities[k], place);
        }
    }
}

/* Sorts the fish by cell, and within a cell by their handles: the same order on any number of ranks. */
static void gather(reef_block *b)
{
    reef_world *w = b->world;
    const reef_ranks *ranks = *(reef_ranks *const *)b->context;
    const Sea *sea = reef_single_get(w, Sea);
    Sight *own = reef_single_mut(w, Sight);
    if (first == NULL) first = malloc(((size_t)own->cells + 2) * sizeof *first);
    if (first == NULL) exit(1);
    own->first = first;
    memset(first, 0, ((size_t)own->cells + 2) * sizeof *first);
    memset(own->hunters, 0, own->cells * sizeof *own->hunters);
    see_all(own, w, sea, ranks, false);
    for (uint32_t c = 0; c < own->cells; c++) first[c + 2] += first[c + 1];
    see_all(own, w, sea, ranks, true);
}

/* The slot of a fish that this rank sees, among those of its cell. */
static uint32_t slot_of(const Sight *own, uint32_t cell, reef_entity fish)
{
    uint32_t low = own->first[cell], high = own->first[cell + 1];
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (own->fish[middle].fish.index <= fish.index) low = middle;
        else high = middle;
    }
    return low;
}

/* Each fish of this rank finds its slot and its leader's. A leader whose band this rank doesn't see is too far away on
 * any number of ranks. */
static void find_place(reef_block *b)
{
    const Sight *own = reef_single_get(b->world, Sight);
    const Sea *sea = reef_single_get(b->world, Sea);
    const Position *at = reef_in(b, Position);
    Place *place = reef_out(b, Place);
    Leader *leader = reef_inout(b, Leader);
    const uint64_t tick = reef_tick_count(b->world);
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity fish = b->entities[i];
        const uint32_t cell = sea_cell(sea, at[i].x, at[i].y);
        place[i] = (Place){cell, slot_of(own, cell, fish)};
        if (looks_at_leader(fish, tick)) {
            const reef_entity e = reef_target(b->world, fish, Follows);
            const Position *its = reef_entity_is_null(e) ? NULL : reef_get(b->world, e, Position);
            leader[i].slot = reef_entity_is_null(e) ? ALONE
                             : its == NULL          ? OUT_OF_SIGHT
                                                    : slot_of(own, sea_cell(sea, its->x, its->y), e);
        } else if (leader[i].slot != ALONE) leader[i].slot = FOLLOWING;
        own->leader[place[i].slot] = leader[i].slot;
    }
}

/* ---- hunting ---- */

/* The first strike at a prey gets it; it is dead from then on. */
static void yield(reef_block *b)
{
    reef_world *w = b->world;
    reef_events strikes = reef_receive(b, Struck);
    for (const Struck *s; (s = reef_next_event(&strikes)) != NULL;) {
        Energy *prey = reef_mut(w, s->prey, Energy);
        if (prey == NULL || prey->units == 0) continue;
        reef_send(b, Catch, s->prey, s->hunter, prey->units);
        reef_single_mut(w, Flight)->units += prey->units;
        reef_single_mut(w, Tally)->died++;
        prey->units = 0;
        reef_cmd_destroy(b, s->prey);
    }
}

static void swallow(reef_block *b)
{
    reef_world *w = b->world;
    const Rules *rules = reef_single_get(w, Rules);
    reef_events catches = reef_receive(b, Caught);
    for (const Caught *c; (c = reef_next_event(&catches)) != NULL;) {
        Energy *hunter = reef_mut(w, c->hunter, Energy);
        int32_t gain = 0;
        reef_single_mut(w, Flight)->units -= c->units;
        if (hunter->units != 0) { /* else it dies in this very tick */
            gain = catch_gain(&rules->table.of[reef_get(w, c->hunter, Species)->index], hunter->units, c->units);
            hunter->units += gain;
            reef_set(w, c->hunter, Hunter, HUNTER_RESTS);
            reef_cmd_add(b, c->hunter, Resting);
        }
        reef_mut(w, sea_entity(reef_single_get(w, Sea), reef_get(w, c->hunter, Place)->cell), Water)->of[DETRITUS] +=
            c->units - gain;
    }
}

/* A catch whose hunter has died sinks to the ground of that band. */
static void sink(reef_world *w, uint32_t band, const void *value, void *context)
{
    const Sea *sea = reef_single_get(w, Sea);
    const Catch *c = value;
    (void)context;
    reef_mut(w, sea_entity(sea, band * sea->band), Water)->of[DETRITUS] += c->units;
    reef_single_mut(w, Flight)->units -= c->units;
}

/* ---- being born ---- */

static void lay_one(reef_block *b, reef_entity parent, const fish_born *young) { reef_send(b, Young, parent, *young); }
static void lay(reef_block *b) { breed(b, lay_one); }

static uint32_t band_of_young(const void *value, void *context)
{
    const Young *y = value;
    const Sea *sea = reef_single_get((reef_world *)context, Sea);
    return band_of(sea, sea_column(y->fish.at.y));
}

static void born(reef_world *w, reef_entity e, const void *value, void *context)
{
    const fish_born *f = &((const Young *)value)->fish;
    (void)context;
    reef_change(w, e, reef_with(Position, f->at.x, f->at.y), reef_with(Velocity, f->heading.x, f->heading.y),
                reef_with(Species, f->kind.index), reef_with(Energy, f->energy.units),
                reef_with(Age, f->age.ticks, f->age.span), reef_default(Place), reef_with(Leader, ALONE));
    if (reef_single_get(w, Rules)->table.of[f->kind.index].prey != 0) reef_set(w, e, Hunter, 0);
}

/* ---- all of it ---- */

#define SYSTEM(f) .name = #f, .function = f

bool shoals_systems(reef_world *w, reef_ranks **ranks)
{
    /* clang-format off */
    const reef_system_desc tick[] = {
        {SYSTEM(turn), .phase = "begin", .text = "; writes Current", .interval_ns = 256ull * 1000000000u},
        {SYSTEM(gather), .phase = "begin", .context = ranks,
         .text = "; writes Sight, reads Position Velocity Species Energy Sea Rules"},
        {SYSTEM(find_place), .phase = "begin", .text = "in Position, out Place, Leader; "
                                                        "reads Position Follows Sight Sea"},
        {SYSTEM(watch), .phase = "begin", .text = "out Crowd; reads Sight Leader Sea Rules"},
        /* These look at water of other bands, which is that of the beginning of the tick; so they come before all that
         * changes water. */
        {SYSTEM(decide), .phase = "begin", .text = "Crowd; reads Sight Leader Water Sea Rules, "
                                                    "relates Follows, removes Follows"},
        {SYSTEM(mix), .phase = "begin", .text = "in Water, out Mixed; reads Water Sea Current"},
        {SYSTEM(pour), .phase = "begin", .text = "Water, in Mixed"},
        {SYSTEM(grow), .phase = "begin", .text = "Water, in Ground"},

        {SYSTEM(rest), .text = "Hunter, Resting; removes Resting"},
        {SYSTEM(strike), .text = "in Species, in Place, with Hunter, !Resting; "
                                 "reads Sight Leader Sea Rules Census, sends Strike"},
        {SYSTEM(feed), .text = "Water, in Crowd, out Meal; reads Sight Leader Rules"},
        {SYSTEM(swim), .text = "Position, out Velocity, in Place; reads Sight Crowd Sea"},
        {SYSTEM(age), .text = "in Species, in Place, Energy, Age; "
                              "reads Sight Meal Rules, sends Corpse, adds Adult, destroys"},
        {SYSTEM(swallow), .text = "; receives Caught, reads Species Place Rules Sea, "
                                  "writes Energy Hunter Water Flight, adds Resting"},
        {SYSTEM(yield), .text = "; receives Struck, writes Energy Flight Tally, sends Catch, destroys"},
        {SYSTEM(lay), .text = "in Position, in Species, Energy, with Adult; "
                              "reads Census Rules, sums Tally, sends Young",
         .combine = add_births},

        {SYSTEM(bury), .phase = "end", .text = "; receives Corpse, reads Sea, writes Water Tally"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof tick / sizeof tick[0]; i++)
        if (reef_system_is_null(reef_system_new(w, &tick[i]))) return false;
    return true;
}

const reef_ranks_message *shoals_messages(uint32_t *count)
{
    static reef_ranks_message m[3];
    m[0] = (reef_ranks_message){.sent = reef_id(Strike), .arrives = reef_id(Struck)};
    m[1] = (reef_ranks_message){.sent = reef_id(Catch), .arrives = reef_id(Caught), .lost = sink};
    m[2] = (reef_ranks_message){.sent = reef_id(Young), .cell = band_of_young, .born = born};
    *count = 3;
    return m;
}
