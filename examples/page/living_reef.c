/* The living reef in a page: plankton and algae grow, fish graze, hunt, breed and die, and energy is conserved to the
 * unit. The rules are those of examples/living_reef; this file only draws. Fork it, and take the sharks out of one of
 * the two: "Look into the fork", What if, or destroy what a query matches. */
#include "../living_reef/ecosystem.h"
#include <reef_page.h>
#include <stdio.h>
#include <string.h>

enum { METRES = 96, FISH = 1100, FISH_MOST = 60000 };

/* Of examples/living_reef/species.csv, which says where the figures come from. */
static const char table_text[] =
    "scientific_name,common_name,trophic_level,length_m,cruising_speed_m_s,lifespan_years,metabolism_percent,clutch,"
    "eats,number\n"
    "Eviota sigillata,Pygmy goby,3.1,0.02,0.05,0.16,45,2,detritus; plankton,14000\n"
    "Chromis viridis,Blue-green chromis,3.0,0.08,0.20,5,16,3,plankton,24000\n"
    "Pomacentrus moluccensis,Lemon damsel,2.4,0.09,0.18,10,15,3,plankton; algae,20000\n"
    "Ctenochaetus striatus,Striated surgeonfish,2.0,0.26,0.45,36,11,3,detritus; algae,11000\n"
    "Caesio cuning,Redbelly yellowtail fusilier,3.4,0.35,0.70,12,10,3,plankton,8500\n"
    "Cephalopholis argus,Peacock grouper,4.5,0.45,0.35,25,18,2,Chromis viridis; Pomacentrus moluccensis; Ctenochaetus "
    "striatus,2200\n"
    "Carcharhinus melanopterus,Blacktip reef shark,4.1,1.40,0.80,15,14,2,Cephalopholis argus; Caesio cuning,450\n";

static const uint32_t colours[] = {0x9fb8a8, 0x5cc8c0, 0xf2e26b, 0xb58adf, 0xff9a63, 0xd8574f, 0xe8eef0};

static Sight arrays; /* what a tick computes with, filled anew in each: all forks use the same, one after the other */

static void draw_sea(const reef_world *w, const Sea *sea)
{
    for (uint32_t cell = 0; cell < sea->side * sea->side; cell++) {
        const Water *water = sea_water(w, sea, cell);
        const uint32_t green = (uint32_t)water->of[ALGAE] / 24, blue = (uint32_t)water->of[PLANKTON] / 24;
        const uint32_t colour = 0x0a1c26 + (green < 90 ? green : 90) * 0x100 + (blue < 90 ? blue : 90);
        const float x = (float)(cell % sea->side) * CELL_METRES, y = ((float)(cell / sea->side) + 0.5f) * CELL_METRES;
        reef_page_line(x, y, x + CELL_METRES, y, CELL_METRES, colour);
    }
}

static bool step(reef_world *w)
{
    Sight *sight = reef_single_mut(w, Sight);
    if (sight == NULL || reef_single_get(w, Census)->fish > FISH_MOST) return false;
    *sight = arrays;
    if (reef_tick(w, 1) < 0) return false;
    draw_sea(w, reef_single_get(w, Sea));
    const reef_query fish = reef_query_new(w, "in Position, in Velocity, in Species");
    const Rules *rules = reef_single_get(w, Rules);
    reef_each(w, fish, row)
    {
        const Position *p = reef_in_at(row, Position);
        const Velocity *v = reef_in_at(row, Velocity);
        const uint32_t kind = reef_in_at(row, Species)->index;
        const float length = rules->table.of[kind].length;
        reef_page_line(p->x, p->y, p->x - v->x * 2, p->y - v->y * 2, 0.25f + length,
                       colours[kind % (sizeof colours / sizeof colours[0])]);
    }
    reef_query_free(w, fish);
    return true;
}

int main(void)
{
    static species_table table;
    ecosystem reef;
    char message[400];
    if (!species_parse(&table, "species", table_text, strlen(table_text), message, sizeof message)) {
        puts(message);
        return 1;
    }
    species_scale(&table, FISH);
    if (!ecosystem_new(&reef, &table, METRES, 7, NULL) || !sight_reserve(reef.world, FISH_MOST)) {
        puts(reef.error);
        return 1;
    }
    arrays = *reef_single_get(reef.world, Sight);
    reef_page_view(METRES, METRES);
    reef_page_run(reef.world, step);
    ecosystem_free(&reef);
    return 0;
}
