/* Samples and maps, which are entities of the world, and populations.csv, which is made of them. */
#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool enough_memory(const ecosystem *e) { return reef_last_error(e->world).status != REEF_NO_MEMORY; }

/* Returns the sample of this tick; NULL: there is none. */
static Sample *sample_now(ecosystem *e)
{
    const uint32_t tick = ecosystem_ticks(e);
    Sample *found = NULL;
    for (reef_block b = reef_begin_text(e->world, "in Sample"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            if (reef_in(&b, Sample)[i].tick == tick) found = reef_mut(e->world, b.entities[i], Sample);
    return found;
}

bool record_sample(ecosystem *e)
{
    const Tally *tally = reef_single_get(e->world, Tally);
    const Census *census = reef_single_get(e->world, Census);
    Sample s = {.tick = ecosystem_ticks(e), .fish = census->energy, .born = tally->born, .died = tally->died};
    memcpy(s.population, census->population, sizeof s.population);
    memcpy(s.layer, reef_single_get(e->world, Stock)->layer, sizeof s.layer);
    Sample *taken = sample_now(e);
    if (taken != NULL) *taken = s;
    return enough_memory(e) &&
           (taken != NULL || !reef_entity_is_null(reef_spawn(
                                 e->world, reef_value_make(reef_id(Sample), REEF_VALUE_ONE, (uint32_t)sizeof s, &s))));
}

/* ---- maps ---- */

static uint8_t sea_shade(const reef_world *w, reef_entity cell)
{
    int32_t plankton = reef_get(w, cell, Water)->of[PLANKTON] / 250, rock = reef_get(w, cell, Ground)->carries / 1000;
    return (uint8_t)((rock > 3 ? 3 : rock) * 4 + (plankton > 3 ? 3 : plankton));
}

static void draw_sea(Map *m, const reef_world *w, const Sea *s)
{
    for (uint32_t y = 0; y < MAP_PIXELS; y++)
        for (uint32_t x = 0; x < MAP_PIXELS; x++)
            m->pixel[y * MAP_PIXELS + x] =
                sea_shade(w, sea_entity(s, y * s->side / MAP_PIXELS * s->side + x * s->side / MAP_PIXELS));
}

static uint32_t pixel_of(const Sea *s, Position p)
{
    uint32_t x = (uint32_t)(int32_t)(p.x / s->metres * MAP_PIXELS);
    uint32_t y = (uint32_t)(int32_t)(p.y / s->metres * MAP_PIXELS);
    if (x >= MAP_PIXELS) x = MAP_PIXELS - 1;
    if (y >= MAP_PIXELS) y = MAP_PIXELS - 1;
    return y * MAP_PIXELS + x;
}

/* A pixel shows the largest species in it; more fish of that species make it brighter. */
static void draw_fish(Map *m, const ecosystem *e, Position at, uint32_t kind)
{
    uint8_t *pixel = &m->pixel[pixel_of(reef_single_get(e->world, Sea), at)];
    uint8_t first = (uint8_t)(MAP_SHADES + kind * FISH_SHADES);
    if (*pixel >= MAP_SHADES) {
        uint32_t other = (*pixel - (uint32_t)MAP_SHADES) / FISH_SHADES;
        if (other == kind) {
            if (*pixel + 1 < first + FISH_SHADES) ++*pixel;
            return;
        }
        if (e->table->of[other].length > e->table->of[kind].length) return;
    }
    *pixel = first;
}

static uint32_t largest_species(const species_table *t)
{
    uint32_t largest = 0;
    for (uint32_t i = 1; i < t->count; i++)
        if (t->of[i].length > t->of[largest].length) largest = i;
    return largest;
}

/* Records where the largest fish are; the picture draws them one by one. */
static bool add_giants(ecosystem *e, moment when, uint32_t kind, uint32_t most)
{
    Giant *giants = malloc((most + 1) * sizeof *giants);
    uint32_t count = 0;
    if (giants == NULL) return false;
    for (reef_block b = reef_begin_text(e->world, "in Position, in Species"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Species *kinds = reef_in(&b, Species);
        for (uint32_t i = 0; i < b.count; i++)
            if (kinds[i].index == kind) giants[count++] = (Giant){(uint32_t)when, at[i]};
    }
    const reef_value all = reef_array(Giant, giants);
    bool good = enough_memory(e) && reef_spawn_many_values(e->world, count, NULL, &all, 1) >= 0;
    free(giants);
    return good;
}

bool record_map(ecosystem *e, moment when)
{
    const Census *census = reef_single_get(e->world, Census);
    Map *m = malloc(sizeof *m);
    if (m == NULL) return false;
    m->moment = (uint32_t)when;
    m->tick = ecosystem_ticks(e);
    m->total = census->fish;
    m->giant = largest_species(e->table);
    draw_sea(m, e->world, reef_single_get(e->world, Sea));
    for (reef_block b = reef_begin_text(e->world, "in Position, in Species"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Species *kind = reef_in(&b, Species);
        for (uint32_t i = 0; i < b.count; i++)
            if (kind[i].index != m->giant) draw_fish(m, e, at[i], kind[i].index);
    }
    const uint32_t giants = census->population[m->giant];
    const bool good = enough_memory(e) &&
                      !reef_entity_is_null(
                          reef_spawn(e->world, reef_value_make(reef_id(Map), REEF_VALUE_ONE, (uint32_t)sizeof *m, m)));
    const uint32_t kind = m->giant;
    free(m);
    return good && add_giants(e, when, kind, giants);
}

/* ---- collecting everything ---- */

static bool take_giants(record *r, ecosystem *e)
{
    const uint32_t all = (uint32_t)reef_count(e->world, Giant);
    for (int i = 0; i < MAPS; i++)
        if (r->maps[i].drawn != NULL && (r->maps[i].giants = malloc((all + 1) * sizeof(Position))) == NULL)
            return false;
    for (reef_block b = reef_begin_text(e->world, "in Giant"); reef_next(&b);) {
        const Giant *giant = reef_in(&b, Giant);
        for (uint32_t i = 0; i < b.count; i++) {
            map *m = giant[i].moment < MAPS ? &r->maps[giant[i].moment] : NULL;
            if (m != NULL && m->giants != NULL) m->giants[m->giant_count++] = giant[i].at;
        }
    }
    return true;
}

/* Samples come in the order in which they were made, since none is ever destroyed. */
bool record_take(record *r, ecosystem *e, uint32_t from)
{
    r->samples = malloc((reef_count(e->world, Sample) + 1) * sizeof *r->samples);
    if (r->samples == NULL) return false;
    for (reef_block b = reef_begin_text(e->world, "in Sample"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            if (reef_in(&b, Sample)[i].tick >= from) r->samples[r->count++] = reef_in(&b, Sample)[i];
    for (reef_block b = reef_begin_text(e->world, "in Map"); reef_next(&b);) {
        const Map *m = reef_in(&b, Map);
        for (uint32_t i = 0; i < b.count; i++)
            if (m[i].moment < MAPS && (from == 0 || m[i].tick > from)) r->maps[m[i].moment].drawn = &m[i];
    }
    return take_giants(r, e) && enough_memory(e);
}

void record_free(record *r)
{
    free(r->samples);
    for (int m = 0; m < MAPS; m++) free(r->maps[m].giants);
    memset(r, 0, sizeof *r);
}

/* ---- populations.csv ---- */

static void write_name(FILE *file, const char *name)
{
    bool quoted = strpbrk(name, ",\"") != NULL;
    if (quoted) fputc('"', file);
    for (; *name != '\0'; name++) {
        if (*name == '"') fputc('"', file);
        fputc(*name, file);
    }
    if (quoted) fputc('"', file);
}

static void write_header(const species_table *table, FILE *file)
{
    fputs("tick,future,fish,born,died", file);
    for (int l = 0; l < LAYERS; l++) fprintf(file, ",%s_energy", layer_name((layer)l));
    fputs(",fish_energy", file);
    for (uint32_t i = 0; i < table->count; i++) {
        fputc(',', file);
        write_name(file, table->of[i].scientific);
    }
    fputc('\n', file);
}

static void write_sample(const Sample *s, const char *future, const species_table *table, FILE *file)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < table->count; i++) total += s->population[i];
    fprintf(file, "%" PRIu32 ",%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64, s->tick, future, total, s->born, s->died);
    for (int l = 0; l < LAYERS; l++) fprintf(file, ",%" PRId64, s->layer[l]);
    fprintf(file, ",%" PRId64, s->fish);
    for (uint32_t i = 0; i < table->count; i++) fprintf(file, ",%" PRIu32, s->population[i]);
    fputc('\n', file);
}

void record_write(const record *with, const record *without, const species_table *table, FILE *file)
{
    write_header(table, file);
    for (uint32_t k = 0; k < with->count; k++) {
        const Sample *s = &with->samples[k];
        const char *future = without == NULL ? "only" : s->tick <= without->samples[0].tick ? "both" : "with";
        write_sample(s, future, table, file);
    }
    for (uint32_t k = 0; without != NULL && k < without->count; k++)
        write_sample(&without->samples[k], "without", table, file);
}
