/* Draws panels of curves over a logarithmic axis as one SVG picture, with a line where the data outgrows each cache. */
#include "bench.h"
#include <errno.h>

enum { WIDTH = 460, HEIGHT = 260, LEFT = 52, TOP = 60, INNER_WIDTH = 380, INNER_HEIGHT = 160, ACROSS = 2 };

/* The logarithm of v > 0, computed bit by bit. This is precise enough for a picture, and the program needs no libm. */
static double log_10(double v)
{
    double result = 0;
    for (; v >= 10; v /= 10) result++;
    for (; v < 1; v *= 10) result--;
    for (double bit = 0.5; bit > 1e-6; bit /= 2) {
        v *= v;
        if (v < 10) continue;
        v /= 10;
        result += bit;
    }
    return result;
}

static double power_of_10(int e)
{
    double power = 1;
    for (; e > 0; e--) power *= 10;
    for (; e < 0; e++) power /= 10;
    return power;
}

/* 10000 as 10k, 1000000 as 1M. */
static void short_number(char text[16], double v)
{
    if (v >= 1e6) snprintf(text, 16, "%.4gM", v / 1e6);
    else if (v >= 1e3) snprintf(text, 16, "%.4gk", v / 1e3);
    else snprintf(text, 16, "%.4g", v);
}

typedef struct frame {
    double x0, y0;         /* of the panel in the picture */
    double low, high, top; /* log10 of the x range, the largest y */
} frame;

static double place_x(const frame *f, double x)
{
    double share = f->high > f->low ? (log_10(x) - f->low) / (f->high - f->low) : 0;
    return f->x0 + LEFT + INNER_WIDTH * share;
}
static double place_y(const frame *f, double y) { return f->y0 + TOP + INNER_HEIGHT * (1 - y / f->top); }

static double largest(const plot_panel *p)
{
    double top = 0;
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < p->points; i++) top = p->y[c][i] > top ? p->y[c][i] : top;
    return top > 0 ? top * 1.08 : 1;
}

/* The step of an axis with about five marks: 1, 2 or 5 times a power of ten. */
static double axis_step(double top)
{
    double logarithm = log_10(top / 5);
    double power = power_of_10(logarithm < 0 ? (int)logarithm - 1 : (int)logarithm), share = top / 5 / power;
    return power * (share > 5 ? 10 : share > 2 ? 5 : share > 1 ? 2 : 1);
}

static void draw_axes(FILE *out, const plot_panel *p, const frame *f)
{
    double step = axis_step(f->top), bottom = place_y(f, 0);
    for (double y = 0; y <= f->top; y += step) {
        fprintf(out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='grid'/>\n", f->x0 + LEFT, place_y(f, y),
                f->x0 + LEFT + INNER_WIDTH, place_y(f, y));
        fprintf(out, "<text x='%.1f' y='%.1f' class='mark' text-anchor='end'>%g</text>\n", f->x0 + LEFT - 5,
                place_y(f, y) + 4, y);
    }
    for (int e = 0; e <= 9; e++) {
        char text[16];
        if (e < f->low - 1e-5 || e > f->high + 1e-5) continue;
        short_number(text, power_of_10(e));
        fprintf(out, "<text x='%.1f' y='%.1f' class='mark' text-anchor='middle'>%s</text>\n",
                place_x(f, power_of_10(e)), bottom + 16, text);
    }
    fprintf(out, "<text x='%.1f' y='%.1f' class='title'>%s</text>\n", f->x0 + LEFT, f->y0 + TOP - 12, p->title);
    fprintf(out, "<text x='%.1f' y='%.1f' class='mark'>ns</text>\n", f->x0 + LEFT - 30, f->y0 + TOP - 12);
    fprintf(out, "<text x='%.1f' y='%.1f' class='mark' text-anchor='end'>%s</text>\n", f->x0 + LEFT + INNER_WIDTH,
            bottom + 31, p->axis);
}

static void draw_caches(FILE *out, const plot_panel *p, const frame *f, const machine_info *m)
{
    for (int i = 0; p->bytes > 0 && i < m->caches; i++) {
        double n = (double)m->cache[i].bytes / p->bytes;
        size_t kib = m->cache[i].bytes >> 10;
        bool late = log_10(n) > f->low + 0.8 * (f->high - f->low);
        if (log_10(n) < f->low || log_10(n) > f->high) continue;
        fprintf(out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='cache'/>\n", place_x(f, n), place_y(f, 0),
                place_x(f, n), f->y0 + TOP);
        fprintf(out, "<text x='%.1f' y='%.1f' class='mark' text-anchor='%s'>L%d %zu %s</text>\n",
                place_x(f, n) + (late ? -3 : 3), f->y0 + TOP + 10, late ? "end" : "start", m->cache[i].level,
                kib >= 1024 ? kib >> 10 : kib, kib >= 1024 ? "MiB" : "KiB");
    }
}

static void draw_curve(FILE *out, const plot_panel *p, const frame *f, int c)
{
    fprintf(out, "<polyline class='curve%d' points='", c);
    for (int i = 0; i < p->points; i++) fprintf(out, "%.1f,%.1f ", place_x(f, p->x[i]), place_y(f, p->y[c][i]));
    fputs("'/>\n", out);
    for (int i = 0; i < p->points; i++)
        fprintf(out, "<circle class='dot%d' cx='%.1f' cy='%.1f' r='2.4'/>\n", c, place_x(f, p->x[i]),
                place_y(f, p->y[c][i]));
}

static void draw_head(FILE *out, const char *title, const char *subject, int rows)
{
    fprintf(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif'>\n",
            ACROSS * WIDTH, rows * HEIGHT + 50);
    fputs("<style>.title{font-size:14px;font-weight:bold}.mark{font-size:11px;fill:#555}.grid{stroke:#e4e4e4}"
          ".cache{stroke:#b35900;stroke-dasharray:4 3}.curve0{fill:none;stroke:#0b62a4;stroke-width:2}"
          ".curve1{fill:none;stroke:#888;stroke-width:1.5;stroke-dasharray:6 3}.dot0{fill:#0b62a4}.dot1{fill:#888}"
          "</style>\n<rect width='100%' height='100%' fill='white'/>\n",
          out);
    fprintf(out, "<text x='%d' y='24' class='title'>%s</text>\n", LEFT, title);
    fprintf(out, "<line x1='%d' y1='40' x2='%d' y2='40' class='curve0'/><text x='%d' y='44' class='mark'>%s</text>\n",
            LEFT, LEFT + 30, LEFT + 36, subject);
    fprintf(out, "<line x1='%d' y1='40' x2='%d' y2='40' class='curve1'/><text x='%d' y='44' class='mark'>raw</text>\n",
            LEFT + 100, LEFT + 130, LEFT + 136);
    fprintf(out,
            "<line x1='%d' y1='40' x2='%d' y2='40' class='cache'/><text x='%d' y='44' class='mark'>one pass no longer "
            "fits this cache</text>\n",
            LEFT + 200, LEFT + 230, LEFT + 236);
}

bool plot_svg(const char *file, const char *title, const char *subject, const plot_panel *panels, int count)
{
    machine_info m;
    int drawn = 0, with_points = 0;
    FILE *out = fopen(file, "w");
    if (!out) {
        fprintf(stderr, "reef-bench: can't write %s: %s\n", file, strerror(errno));
        return false;
    }
    machine_read(&m);
    for (int i = 0; i < count; i++) with_points += panels[i].points > 0;
    draw_head(out, title, subject, (with_points + ACROSS - 1) / ACROSS);
    for (int i = 0; i < count; i++) {
        const plot_panel *p = &panels[i];
        if (p->points == 0) continue;
        frame f = {drawn % ACROSS * (double)WIDTH, (double)(drawn / ACROSS) * HEIGHT + 30, log_10(p->x[0]),
                   log_10(p->x[p->points - 1]), largest(p)};
        draw_axes(out, p, &f);
        draw_caches(out, p, &f, &m);
        for (int c = 1; c >= 0; c--) draw_curve(out, p, &f, c);
        drawn++;
    }
    fputs("</svg>\n", out);
    bool written = !ferror(out);
    return fclose(out) == 0 && written;
}
