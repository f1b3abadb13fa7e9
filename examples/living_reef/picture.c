/* All coordinates are whole tenths of a pixel, so that no number's text depends on the locale or on rounding. */
#include "picture.h"

#include "png.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* In tenths of a pixel. */
enum {
    WIDTH = 15000,
    LEFT = 900,
    RIGHT = 10000,
    LABELS = 10320,
    NUMBERS = 14400,      /* right edge of the numbers beside the labels, and of the maps */
    NUMBERS_WITH = 13480, /* right edge of the first of two columns of numbers */
    CURVES_TOP = 1700,
    CURVES_BOTTOM = 6300,
    ENERGY_TOP = 7050,
    ENERGY_BOTTOM = 8050,
    MAPS_TOP = 8750,
    MAP_SIDE = 4300,
    MAP_SIDE_FORKED = 3200, /* side of a map if there are four instead of three */
    BELOW_MAPS = 450,
    POINTS_MAX = 800 /* most points of a curve */
};

static const colour species_colours[] = {
    {0xC3, 0xCC, 0xD9}, {0x35, 0xD9, 0xC7}, {0xFF, 0xE0, 0x4A}, {0xA9, 0x8B, 0xFF},
    {0x5B, 0xB0, 0xFF}, {0x5F, 0xD9, 0x75}, {0xF7, 0x9F, 0xD0}, {0xC9, 0x9B, 0x6A},
    {0xFF, 0xA2, 0x3E}, {0xFF, 0x5A, 0x52}, {0xE0, 0x55, 0xE6}, {0xFF, 0xFF, 0xFF},
    {0x9C, 0xC4, 0x3C}, {0x7A, 0x96, 0xB8}, {0xD9, 0x7A, 0x7A}, {0x3C, 0x8F, 0x8A}};

static const colour layer_colours[LAYERS] = {
    {0x2C, 0x4A, 0x73}, {0x2E, 0x9C, 0x8F}, {0x6C, 0xA8, 0x4B}, {0x8A, 0x6B, 0x4E}};
static const colour fish_colour = {0xE8, 0x8D, 0x67};

static colour species_colour(uint32_t index)
{
    return species_colours[index % (sizeof species_colours / sizeof species_colours[0])];
}

/* ---- text and numbers ---- */

static void put_tenths(FILE *f, int64_t tenths)
{
    if (tenths < 0) {
        fputc('-', f);
        tenths = -tenths;
    }
    fprintf(f, "%" PRId64, tenths / 10);
    if (tenths % 10 != 0) fprintf(f, ".%" PRId64, tenths % 10);
}

static void put_attribute(FILE *f, const char *name, int64_t tenths)
{
    fprintf(f, " %s=\"", name);
    put_tenths(f, tenths);
    fputc('"', f);
}

static void put_point(FILE *f, char command, int64_t x, int64_t y)
{
    fputc(command, f);
    put_tenths(f, x);
    fputc(' ', f);
    put_tenths(f, y);
}

static void put_colour(FILE *f, const char *name, colour c)
{
    fprintf(f, " %s=\"#%02X%02X%02X\"", name, c.red, c.green, c.blue);
}

/* Writes a number with a thin space between thousands. */
static void put_number(FILE *f, uint64_t n)
{
    if (n >= 1000) {
        put_number(f, n / 1000);
        fprintf(f, "&#8201;%03" PRIu64, n % 1000);
    } else {
        fprintf(f, "%" PRIu64, n);
    }
}

static void put_text(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<') fputs("&lt;", f);
        else if (*text == '>') fputs("&gt;", f);
        else if (*text == '&') fputs("&amp;", f);
        else if (*text == '\t') fputc(' ', f);
        else fputc(*text, f);
    }
}

/* Opens a text element. The caller writes its text and closes it. */
static void begin_text(FILE *f, const char *class, int64_t x, int64_t y)
{
    fprintf(f, "<text class=\"%s\"", class);
    put_attribute(f, "x", x);
    put_attribute(f, "y", y);
    fputc('>', f);
}

static void put_label(FILE *f, const char *class, int64_t x, int64_t y, const char *label)
{
    begin_text(f, class, x, y);
    put_text(f, label);
    fputs("</text>\n", f);
}

static void put_line(FILE *f, const char *class, int64_t x1, int64_t y1, int64_t x2, int64_t y2)
{
    fprintf(f, "<path class=\"%s\" d=\"", class);
    put_point(f, 'M', x1, y1);
    put_point(f, 'L', x2, y2);
    fputs("\"/>\n", f);
}

static void put_rectangle(FILE *f, int64_t x, int64_t y, int64_t width, int64_t height, colour fill)
{
    fputs("<rect", f);
    put_attribute(f, "x", x);
    put_attribute(f, "y", y);
    put_attribute(f, "width", width);
    put_attribute(f, "height", height);
    put_colour(f, "fill", fill);
    fputs("/>\n", f);
}

/* ---- axes ---- */

/* The logarithm to base 2 in 1/65,536, rounded down: bit by bit, by squaring. */
static int64_t log2_parts(uint64_t n)
{
    int64_t whole = 0, part = 0;
    uint64_t m = n;
    while (m >> 1 != 0) m >>= 1, whole++;
    m = whole < 31 ? n << (31 - whole) : n >> (whole - 31);
    for (int bit = 0; bit < 16; bit++) {
        m = m * m >> 31;
        part <<= 1;
        if (m >> 32 != 0) part |= 1, m >>= 1;
    }
    return whole << 16 | part;
}

/* The populations' axis: whole decades that hold all counts of at least 1. */
typedef struct decades {
    uint64_t lowest, highest;
} decades;

/* `removed` is a species that isn't counted. SPECIES_MAX: none. */
static void widen(decades *d, const record *r, uint32_t species_count, uint32_t removed)
{
    for (uint32_t k = 0; k < r->count; k++) {
        for (uint32_t i = 0; i < species_count; i++) {
            uint64_t n = r->samples[k].population[i] > 0 ? r->samples[k].population[i] : 1;
            if (i == removed) continue;
            if (n < d->lowest) d->lowest = n;
            if (n > d->highest) d->highest = n;
        }
    }
}

static decades find_decades(const record *with, const record *without, uint32_t species_count)
{
    decades range = {UINT64_MAX, 10};
    widen(&range, with, species_count, SPECIES_MAX);
    if (without != NULL) widen(&range, without, species_count, without->removed);
    decades d = {1, 10};
    while (d.lowest * 10 <= range.lowest) d.lowest *= 10;
    while (d.highest < range.highest) d.highest *= 10;
    if (d.highest <= d.lowest) d.highest = d.lowest * 10;
    return d;
}

static int64_t count_to_y(decades d, uint64_t n)
{
    int64_t low = log2_parts(d.lowest), high = log2_parts(d.highest), here = log2_parts(n > d.lowest ? n : d.lowest);
    return CURVES_BOTTOM - (here - low) * (CURVES_BOTTOM - CURVES_TOP) / (high - low);
}

static int64_t tick_to_x(const record *r, uint32_t tick)
{
    uint32_t last = r->samples[r->count - 1].tick;
    return LEFT + (last > 0 ? (int64_t)tick * (RIGHT - LEFT) / last : 0);
}

/* Returns 1, 2 or 5 times a power of ten, of which at most eight fit into `range`. */
static uint64_t nice_step(uint64_t range)
{
    static const uint64_t mantissas[3] = {1, 2, 5};
    for (uint64_t power = 1;; power *= 10)
        for (int i = 0; i < 3; i++)
            if (range / (mantissas[i] * power) <= 8) return mantissas[i] * power;
}

static void draw_tick_axis(FILE *f, const record *r, int64_t top, int64_t bottom, bool numbers)
{
    uint32_t last = r->samples[r->count - 1].tick;
    uint64_t step = nice_step(last);
    for (uint64_t t = 0; t <= last; t += step) {
        int64_t x = tick_to_x(r, (uint32_t)t);
        put_line(f, "grid", x, top, x, bottom);
        if (!numbers) continue;
        begin_text(f, "axis middle", x, bottom + 220);
        put_number(f, t);
        fputs("</text>\n", f);
    }
}

static void draw_count_axis(FILE *f, decades d)
{
    for (uint64_t n = d.lowest; n <= d.highest; n *= 10) {
        for (uint64_t k = 2; k < 10 && n < d.highest; k++)
            put_line(f, "fine", LEFT, count_to_y(d, n * k), RIGHT, count_to_y(d, n * k));
        put_line(f, "grid", LEFT, count_to_y(d, n), RIGHT, count_to_y(d, n));
        begin_text(f, "axis end", LEFT - 100, count_to_y(d, n) + 45);
        put_number(f, n);
        fputs("</text>\n", f);
    }
}

/* ---- curves ---- */

/* Returns the distance between the samples that are drawn, so that no curve has more than POINTS_MAX points. The last
 * sample is always drawn. */
static uint32_t sample_step(const record *r) { return r->count / POINTS_MAX + 1; }

static uint32_t next_sample(const record *r, uint32_t k)
{
    uint32_t step = sample_step(r);
    return k + 1 < r->count && k + step >= r->count ? r->count - 1 : k + step;
}

static void draw_curve(FILE *f, const char *class, const record *r, const species_table *t, uint32_t index, decades d)
{
    fprintf(f, "<path class=\"%s\"", class);
    put_colour(f, "stroke", species_colour(index));
    fputs(" d=\"", f);
    for (uint32_t k = 0; k < r->count; k = next_sample(r, k))
        put_point(f, k == 0 ? 'M' : 'L', tick_to_x(r, r->samples[k].tick),
                  count_to_y(d, r->samples[k].population[index]));
    fputs("\"><title>", f);
    put_text(f, t->of[index].common);
    fputs("</title></path>\n", f);
}

typedef struct label {
    uint32_t species;
    int64_t curve_y, y;
} label;

static int compare_labels(const void *a, const void *b)
{
    const label *x = a, *y = b;
    if (x->curve_y != y->curve_y) return x->curve_y < y->curve_y ? -1 : 1;
    return x->species < y->species ? -1 : 1;
}

/* Sorts the labels by the ends of their curves and pushes them apart; the last ones are pushed back up where they
 * would leave the chart. */
static void place_labels(label *labels, uint32_t count, int64_t gap)
{
    int64_t bottom = CURVES_BOTTOM + 100;
    qsort(labels, count, sizeof *labels, compare_labels);
    for (uint32_t i = 0; i < count; i++) {
        labels[i].y = labels[i].curve_y;
        if (i > 0 && labels[i].y < labels[i - 1].y + gap) labels[i].y = labels[i - 1].y + gap;
    }
    for (uint32_t i = count; i-- > 0;) {
        if (labels[i].y > bottom) labels[i].y = bottom;
        bottom = labels[i].y - gap;
    }
}

/* Writes how many more or fewer there are without the species that was taken out, in tenths of a percent. */
static void put_difference(FILE *f, uint32_t with, uint32_t without)
{
    int64_t difference = (int64_t)without - with, parts = difference * 1000 / (with > 0 ? with : 1);
    if (parts < 0) parts = -parts;
    fputs(without < with ? "&#8722;" : "+", f);
    fprintf(f, "%" PRId64 ".%" PRId64 "&#8201;%%", parts / 10, parts % 10);
}

static void draw_counts(FILE *f, const record *with, const record *without, uint32_t index, int64_t y, bool roomy)
{
    int64_t right = without != NULL ? NUMBERS_WITH : NUMBERS;
    uint32_t last = with->samples[with->count - 1].population[index];
    begin_text(f, "count end", right, y);
    put_number(f, last);
    fputs("</text>\n", f);
    if (roomy) {
        begin_text(f, "before end", right, y + 150);
        fputs("from ", f);
        put_number(f, with->samples[0].population[index]);
        fputs("</text>\n", f);
    }
    if (without == NULL) return;
    uint32_t other = without->samples[without->count - 1].population[index];
    begin_text(f, "count end", NUMBERS, y);
    put_number(f, other);
    fputs("</text>\n", f);
    if (!roomy) return;
    begin_text(f, "before end", NUMBERS, y + 150);
    if (index == without->removed) fputs("taken out", f);
    else put_difference(f, last, other);
    fputs("</text>\n", f);
}

static void draw_label(FILE *f, const record *with, const record *without, const species_table *t, const label *l,
                       bool roomy)
{
    const species *s = &t->of[l->species];
    fputs("<path class=\"leader\"", f);
    put_colour(f, "stroke", species_colour(l->species));
    fputs(" d=\"", f);
    put_point(f, 'M', RIGHT + 20, l->curve_y);
    put_point(f, 'L', LABELS - 80, l->y);
    fputs("\"/>\n", f);
    put_rectangle(f, LABELS, l->y - (roomy ? 115 : 65), 120, 120, species_colour(l->species));
    put_label(f, "name", LABELS + 200, l->y + (roomy ? -10 : 40), s->common);
    draw_counts(f, with, without, l->species, l->y + (roomy ? -10 : 40), roomy);
    if (!roomy) return;
    begin_text(f, "latin", LABELS + 200, l->y + 140);
    put_text(f, s->scientific);
    fprintf(f, " <tspan class=\"level\">level %" PRIu32 ".%" PRIu32 "</tspan></text>\n", s->trophic_hundredths / 100,
            s->trophic_hundredths / 10 % 10);
}

/* Draws the moment of the fork, and where the curve of the species ends that was taken out. */
static void draw_fork(FILE *f, const record *with, const record *without, decades d)
{
    uint32_t tick = without->samples[0].tick, k = 0;
    int64_t x = tick_to_x(with, tick), arm = 55;
    while (with->samples[k].tick < tick) k++;
    int64_t y = count_to_y(d, with->samples[k].population[without->removed]);
    put_line(f, "fork", x, CURVES_TOP, x, CURVES_BOTTOM);
    put_line(f, "fork", x, ENERGY_TOP, x, ENERGY_BOTTOM);
    begin_text(f, "hint", x + 80, CURVES_BOTTOM - 80);
    fputs("fork at tick ", f);
    put_number(f, tick);
    fputs("</text>\n", f);
    put_line(f, "cross", x - arm, y - arm, x + arm, y + arm);
    put_line(f, "cross", x - arm, y + arm, x + arm, y - arm);
}

/* Explains the two kinds of curves, and the two columns of numbers. */
static void draw_legend(FILE *f, const species_table *t, uint32_t removed)
{
    int64_t y = CURVES_TOP - 250;
    put_line(f, "curve sample", LEFT + 3400, y - 45, LEFT + 3800, y - 45);
    put_label(f, "hint", LEFT + 3900, y, "with");
    put_line(f, "curve without sample", LEFT + 4500, y - 45, LEFT + 4900, y - 45);
    begin_text(f, "hint", LEFT + 5000, y);
    fputs("without ", f);
    put_text(f, t->of[removed].common);
    fputs("</text>\n", f);
    put_label(f, "hint end", NUMBERS_WITH, y, "with");
    put_label(f, "hint end", NUMBERS, y, "without");
}

static void draw_populations(FILE *f, const record *with, const record *without, const species_table *t)
{
    decades d = find_decades(with, without, t->count);
    put_label(f, "heading", LEFT, CURVES_TOP - 250, "Fish of each species");
    put_label(f, "hint", LEFT + 2150, CURVES_TOP - 250,
              without != NULL ? "logarithmic" : "logarithmic; the labels give the number at the end");
    draw_tick_axis(f, with, CURVES_TOP, CURVES_BOTTOM, true);
    draw_count_axis(f, d);
    label labels[SPECIES_MAX];
    for (uint32_t i = 0; i < t->count; i++) {
        draw_curve(f, "curve", with, t, i, d);
        if (without != NULL && i != without->removed) draw_curve(f, "curve without", without, t, i, d);
        labels[i] = (label){i, count_to_y(d, with->samples[with->count - 1].population[i]), 0};
    }
    if (without != NULL) draw_fork(f, with, without, d), draw_legend(f, t, without->removed);
    int64_t room = (CURVES_BOTTOM - CURVES_TOP + 400) / t->count, gap = room < 380 ? room : 380;
    place_labels(labels, t->count, gap);
    for (uint32_t i = 0; i < t->count; i++) draw_label(f, with, without, t, &labels[i], gap >= 300);
}

/* ---- energy ---- */

static int64_t part_energy(const Sample *s, int part) { return part < LAYERS ? s->layer[part] : s->fish; }

/* Returns the height of the energy of the parts 0 ... part. The total is the same in every sample. */
static int64_t energy_to_y(const Sample *s, int part)
{
    int64_t sum = 0, total = 0;
    for (int p = 0; p <= LAYERS; p++) {
        total += part_energy(s, p);
        if (p <= part) sum += part_energy(s, p);
    }
    /* First divided into 4096 parts: a product with the whole total could overflow in the largest sea. */
    return ENERGY_BOTTOM - sum / (total / 4096 + 1) * (ENERGY_BOTTOM - ENERGY_TOP) / 4096;
}

/* Draws the upper border of a part, over the areas of the other future. */
static void draw_border(FILE *f, const record *with, const record *without, int part)
{
    fputs("<path class=\"border\" d=\"", f);
    for (uint32_t k = 0; k < without->count; k = next_sample(without, k))
        put_point(f, k == 0 ? 'M' : 'L', tick_to_x(with, without->samples[k].tick),
                  energy_to_y(&without->samples[k], part));
    fputs("\"/>\n", f);
}

static void draw_area(FILE *f, const record *r, int part, colour fill)
{
    fputs("<path", f);
    put_colour(f, "fill", fill);
    fputs(" d=\"", f);
    for (uint32_t k = 0; k < r->count; k = next_sample(r, k))
        put_point(f, k == 0 ? 'M' : 'L', tick_to_x(r, r->samples[k].tick),
                  part == LAYERS ? ENERGY_TOP : energy_to_y(&r->samples[k], part));
    put_point(f, 'L', RIGHT, ENERGY_BOTTOM);
    put_point(f, 'L', LEFT, ENERGY_BOTTOM);
    fputs("Z\"/>\n", f);
}

static void draw_share(FILE *f, const Sample *s, int part, int64_t total, int64_t x, int64_t y)
{
    begin_text(f, "part end", x, y);
    put_tenths(f, total > 0 ? part_energy(s, part) / (total / 1000 + 1) : 0);
    fputs("&#8201;%</text>\n", f);
}

static void draw_energy(FILE *f, const record *with, const record *without)
{
    const Sample *last = &with->samples[with->count - 1];
    int64_t total = last->fish;
    for (int l = 0; l < LAYERS; l++) total += last->layer[l];
    put_label(f, "heading", LEFT, ENERGY_TOP - 200, "Where the energy is");
    begin_text(f, "hint", LEFT + 2150, ENERGY_TOP - 200);
    put_number(f, (uint64_t)total);
    fprintf(f, " units in every tick%s: none is made, none is lost</text>\n",
            without != NULL ? " of both futures" : "");
    for (int part = LAYERS; part >= 0; part--)
        draw_area(f, with, part, part < LAYERS ? layer_colours[part] : fish_colour);
    for (int part = 0; part < LAYERS && without != NULL; part++) draw_border(f, with, without, part);
    for (int part = LAYERS; part >= 0; part--) {
        int64_t y = ENERGY_TOP + 60 + (LAYERS - part) * 220;
        put_rectangle(f, LABELS, y - 20, 120, 120, part < LAYERS ? layer_colours[part] : fish_colour);
        put_label(f, "part", LABELS + 200, y + 85, part < LAYERS ? layer_name((layer)part) : "fish");
        draw_share(f, last, part, total, without != NULL ? NUMBERS_WITH : NUMBERS, y + 85);
        if (without != NULL) draw_share(f, &without->samples[without->count - 1], part, total, NUMBERS, y + 85);
    }
}

/* ---- maps ---- */

static colour mixed(colour a, colour b, uint32_t percent)
{
    return (colour){(uint8_t)((a.red * (100 - percent) + b.red * percent) / 100),
                    (uint8_t)((a.green * (100 - percent) + b.green * percent) / 100),
                    (uint8_t)((a.blue * (100 - percent) + b.blue * percent) / 100)};
}

/* The sea goes from deep water to rock, and is greener where there is more plankton; each species goes from dim to
 * bright. */
static uint32_t make_colours(colour *colours, uint32_t species_count)
{
    const colour deep = {0x07, 0x1B, 0x33}, rock = {0x2B, 0x3A, 0x3F}, green = {0x10, 0x5A, 0x55};
    uint32_t n = 0;
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t p = 0; p < 4; p++) colours[n++] = mixed(mixed(deep, rock, r * 30), green, p * 18);
    for (uint32_t i = 0; i < species_count; i++)
        for (uint32_t k = 0; k < FISH_SHADES; k++) colours[n++] = mixed(deep, species_colour(i), 70 + 15 * k);
    return n;
}

/* A map's place in the picture, and its title. */
typedef struct place_of_map {
    const map *of;
    const char *when;
    int64_t left, side;
} place_of_map;

/* The largest species as dots; drawn twice, the first time wider and dark, for a rim. */
static void draw_giants(FILE *f, const place_of_map *p, uint32_t metres, bool rim)
{
    const map *m = p->of;
    fprintf(f, "<path class=\"%s\"", rim ? "rim" : "giant");
    if (!rim) put_colour(f, "stroke", species_colour(m->drawn->giant));
    fputs(" d=\"", f);
    for (uint32_t i = 0; i < m->giant_count; i++) {
        int64_t x = (int32_t)(m->giants[i].x / (float)metres * (float)p->side);
        int64_t y = (int32_t)(m->giants[i].y / (float)metres * (float)p->side);
        put_point(f, 'M', p->left + x, MAPS_TOP + y);
        fputs("h0", f);
    }
    fputs("\"/>\n", f);
}

static bool draw_map(FILE *f, const place_of_map *p, uint32_t metres, const colour *colours, uint32_t colour_count)
{
    fputs("<image", f);
    put_attribute(f, "x", p->left);
    put_attribute(f, "y", MAPS_TOP);
    put_attribute(f, "width", p->side);
    put_attribute(f, "height", p->side);
    fputs(" href=\"data:image/png;base64,", f);
    bool good = png_write_base64(f, p->of->drawn->pixel, MAP_PIXELS, MAP_PIXELS, colours, colour_count);
    fputs("\"/>\n", f);
    draw_giants(f, p, metres, true);
    draw_giants(f, p, metres, false);
    put_label(f, "heading", p->left, MAPS_TOP - 150, p->when);
    begin_text(f, "hint end", p->left + p->side, MAPS_TOP - 150);
    put_number(f, p->of->drawn->total);
    fputs(" fish</text>\n", f);
    return good;
}

/* Places three maps for one future, four for two. */
static uint32_t place_maps(const record *with, const record *without, place_of_map *places)
{
    uint32_t count = without != NULL ? 4 : 3;
    int64_t side = without != NULL ? MAP_SIDE_FORKED : MAP_SIDE, step = (NUMBERS - LEFT - side) / (count - 1);
    for (uint32_t m = 0; m < count; m++) places[m] = (place_of_map){NULL, NULL, LEFT + m * step, side};
    places[0].of = &with->maps[AT_START], places[0].when = "At the start";
    places[1].of = &with->maps[HALF_WAY], places[1].when = without != NULL ? "At the fork" : "Half way";
    places[2].of = &with->maps[AT_END], places[2].when = without != NULL ? "At the end, with" : "At the end";
    if (without != NULL) places[3].of = &without->maps[AT_END], places[3].when = "At the end, without";
    return count;
}

static bool draw_maps(FILE *f, const record *with, const record *without, const species_table *t, uint32_t metres)
{
    place_of_map places[4];
    colour colours[MAP_SHADES + SPECIES_MAX * FISH_SHADES];
    uint32_t count = make_colours(colours, t->count), maps = place_maps(with, without, places);
    bool good = true;
    for (uint32_t m = 0; m < maps && good; m++) good = draw_map(f, &places[m], metres, colours, count);
    begin_text(f, "note", LEFT, MAPS_TOP + places[0].side + 220);
    fputs("Each point is a fish in the colour of its species, brighter where several are; the round dots: ", f);
    put_text(f, t->of[with->maps[AT_START].drawn->giant].common);
    fputs(". Grey: rock, where algae grow. Green: plankton. Opposite edges are joined.</text>\n", f);
    return good;
}

/* ---- the whole ---- */

static void draw_frame(FILE *f, bool forked)
{
    int height = MAPS_TOP + (forked ? MAP_SIDE_FORKED : MAP_SIDE) + BELOW_MAPS;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"", f);
    fprintf(f, " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", WIDTH / 10, height / 10, WIDTH / 10,
            height / 10);
    fputs("<title>A living reef</title>\n<style>\n"
          "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:13px;fill:#9FB4C7}\n"
          ".end{text-anchor:end}.middle{text-anchor:middle}\n"
          ".title{font-size:34px;font-weight:bold;fill:#F2F7FB}.subtitle{font-size:16px;fill:#A9BFD3}.italic{font-"
          "style:italic}\n"
          ".heading{font-size:17px;font-weight:bold;fill:#E3EDF5}.hint{font-size:13px;fill:#7F97AC}\n"
          ".name,.count{font-size:14px;font-weight:bold;fill:#E3EDF5}\n"
          ".latin{font-size:12px;font-style:italic}.level{font-style:normal;fill:#6F879C}.before{font-size:12px;fill:#"
          "6F879C}\n"
          ".part{font-size:13px;fill:#C5D5E3}.note{font-size:13px;fill:#7F97AC}\n"
          ".grid{stroke:#27405A;stroke-width:1;fill:none}.fine{stroke:#152A40;stroke-width:1;fill:none}\n"
          ".curve{stroke-width:2.2;fill:none;stroke-linejoin:round;stroke-linecap:round}\n"
          ".without{stroke-width:2;stroke-dasharray:6 4;stroke-linecap:butt}.sample{stroke:#C5D5E3}\n"
          ".fork{stroke:#A9BFD3;stroke-width:1.4;fill:none}.cross{stroke:#FFF;stroke-width:2.4;fill:none}\n"
          ".border{stroke:#F2F7FB;stroke-width:1.4;stroke-dasharray:6 4;fill:none}\n"
          ".leader{stroke-width:1;fill:none;opacity:.55}\n"
          ".giant{stroke-width:2.4;stroke-linecap:round;fill:none}.rim{stroke:#04101F;stroke-width:4;stroke-linecap:"
          "round;fill:none}\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#0A1726\"/>\n",
          f);
}

static void draw_title(FILE *f, const record *with, const record *without, const species_table *t, uint32_t metres,
                       uint64_t seed)
{
    const Sample *last = &with->samples[with->count - 1];
    int64_t up = without != NULL ? 110 : 0; /* makes room for a second line */
    put_label(f, "title", LEFT, 700 - up, "A living reef");
    begin_text(f, "subtitle", LEFT, 1000 - up);
    fprintf(f, "%" PRIu32 " species on a sea of %" PRIu32 " m by %" PRIu32 " m, seed %" PRIu64 ": ", t->count, metres,
            metres, seed);
    put_number(f, last->tick);
    fputs(" ticks, ", f);
    put_number(f, last->born);
    fputs(" births, ", f);
    put_number(f, last->died);
    fputs(" deaths</text>\n", f);
    if (without == NULL) return;
    begin_text(f, "subtitle", LEFT, 1125);
    fputs("At tick ", f);
    put_number(f, without->samples[0].tick);
    fputs(" the world was forked; one future went on as it was, the other one without <tspan class=\"italic\">", f);
    put_text(f, t->of[without->removed].scientific);
    fputs("</tspan></text>\n", f);
}

bool picture_write(const record *with, const record *without, const species_table *table, uint32_t metres,
                   uint64_t seed, FILE *f)
{
    draw_frame(f, without != NULL);
    draw_title(f, with, without, table, metres, seed);
    draw_populations(f, with, without, table);
    draw_energy(f, with, without);
    bool good = draw_maps(f, with, without, table, metres);
    fputs("</svg>\n", f);
    return good;
}
