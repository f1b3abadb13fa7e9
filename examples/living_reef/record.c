#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void record_free(record *r)
{
    free(r->samples);
    for (int m = 0; m < MAPS; m++) {
        free(r->maps[m].pixel);
        free(r->maps[m].giants);
    }
    memset(r, 0, sizeof *r);
}

bool record_sample(record *r, const ecosystem *e)
{
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity > 0 ? r->capacity * 2 : 256;
        sample  *bigger = realloc(r->samples, capacity * sizeof *bigger);
        if (bigger == NULL) return false;
        r->samples = bigger;
        r->capacity = capacity;
    }
    sample *s = &r->samples[r->count++];
    s->tick = e->tick;
    s->born = e->fish.born;
    s->died = e->fish.died;
    s->fish = e->books.fish;
    memcpy(s->population, e->fish.population, sizeof s->population);
    memcpy(s->layer, e->books.layer, sizeof s->layer);
    return true;
}

/* ---- maps ---- */

static uint8_t sea_shade(const sea *water, uint32_t cell)
{
    int32_t plankton = water->layer[PLANKTON][cell] / 250, rock = water->ground[cell] / 1000;
    return (uint8_t)((rock > 3 ? 3 : rock) * 4 + (plankton > 3 ? 3 : plankton));
}

static void draw_sea(map *m, const sea *water)
{
    for (uint32_t y = 0; y < MAP_PIXELS; y++)
        for (uint32_t x = 0; x < MAP_PIXELS; x++)
            m->pixel[y * MAP_PIXELS + x] =
                sea_shade(water, y * water->side / MAP_PIXELS * water->side + x * water->side / MAP_PIXELS);
}

static uint32_t pixel_of(const sea *water, Position p)
{
    uint32_t x = (uint32_t)(int32_t)(p.x / water->metres * MAP_PIXELS);
    uint32_t y = (uint32_t)(int32_t)(p.y / water->metres * MAP_PIXELS);
    if (x >= MAP_PIXELS) x = MAP_PIXELS - 1;
    if (y >= MAP_PIXELS) y = MAP_PIXELS - 1;
    return y * MAP_PIXELS + x;
}

/* A pixel shows the largest species in it; more fish of that species make it brighter. */
static void draw_fish(map *m, const ecosystem *e, Position at, uint32_t kind)
{
    uint8_t *pixel = &m->pixel[pixel_of(&e->water, at)];
    uint8_t  first = (uint8_t)(MAP_SHADES + kind * FISH_SHADES);
    if (*pixel >= MAP_SHADES) {
        uint32_t other = (*pixel - (uint32_t)MAP_SHADES) / FISH_SHADES;
        if (other == kind) {
            if (*pixel + 1 < first + FISH_SHADES) ++*pixel;
            return;
        }
        if (e->table.of[other].length > e->table.of[kind].length) return;
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

bool record_map(record *r, moment when, ecosystem *e)
{
    map *m = &r->maps[when];
    m->tick = e->tick;
    m->giant = largest_species(&e->table);
    m->pixel = malloc(MAP_PIXELS * MAP_PIXELS);
    m->giants = malloc((e->fish.population[m->giant] + 1) * sizeof *m->giants);
    if (m->pixel == NULL || m->giants == NULL) return false;
    draw_sea(m, &e->water);
    m->total = (uint32_t)reef_query_count(e->world, e->bodies);
    for (reef_block b = reef_begin(e->world, e->bodies); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Species  *kind = reef_in(&b, Species);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) {
                if (kind[i].index == m->giant) m->giants[m->giant_count++] = at[i];
                else draw_fish(m, e, at[i], kind[i].index);
            }
    }
    return true;
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

static void write_sample(const sample *s, const char *future, const species_table *table, FILE *file)
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
        const sample *s = &with->samples[k];
        const char   *future = without == NULL ? "only" : s->tick <= without->samples[0].tick ? "both" : "with";
        write_sample(s, future, table, file);
    }
    for (uint32_t k = 0; without != NULL && k < without->count; k++)
        write_sample(&without->samples[k], "without", table, file);
}
