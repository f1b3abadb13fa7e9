/* Collecting sprites, and writing with them. */
#include "sprite.h"

#include <stddef.h>

void frame_add(frame *f, sprite s)
{
    if (f->count < SPRITES_MAX) f->sprites[f->count++] = s;
}

pass *frame_pass(frame *f, bool sea)
{
    pass *p = &f->passes[f->pass_count < PASSES_MAX ? f->pass_count++ : PASSES_MAX - 1];
    *p = (pass){.first = f->count, .sea = sea, .wide = 1.0f, .high = 1.0f};
    return p;
}

void frame_end_pass(frame *f)
{
    pass *p = &f->passes[f->pass_count - 1];
    p->count = f->count - p->first;
}

/* ---- a font of strokes ----
 *
 * A letter stands on a grid of 5 columns and 7 rows. Its strokes are pairs of digits, column and row; a space lifts the
 * pen. */
static const char *const strokes[] = {
    ['A'] = "062046 1434",
    ['B'] = "00063645443303 0030414233",
    ['C'] = "4130100105163645",
    ['D'] = "00062644422000",
    ['E'] = "40000646 0333",
    ['F'] = "400006 0333",
    ['G'] = "41301001051636454323",
    ['H'] = "0006 4046 0343",
    ['I'] = "1030 2026 1636",
    ['J'] = "4045361605",
    ['K'] = "0006 400346",
    ['L'] = "000646",
    ['M'] = "0600234046",
    ['N'] = "06004640",
    ['O'] = "103041453616050110",
    ['P'] = "06003041423303",
    ['Q'] = "103041453616050110 2446",
    ['R'] = "06003041423303 2346",
    ['S'] = "413010010213334445361605",
    ['T'] = "0040 2026",
    ['U'] = "000516364540",
    ['V'] = "002640",
    ['W'] = "0016233640",
    ['X'] = "0046 4006",
    ['Y'] = "002340 2326",
    ['Z'] = "00400646",
    ['0'] = "103041453616050110",
    ['1'] = "112026 1636",
    ['2'] = "01103041420646",
    ['3'] = "01103041423313 334445361605",
    ['4'] = "36300444",
    ['5'] = "400003334445361605",
    ['6'] = "4130100105163645443303",
    ['7'] = "004016",
    ['8'] = "103041423313020110 1304051636454433",
    ['9'] = "4313020110304145361605",
    ['.'] = "2526",
    [','] = "2516",
    [':'] = "2122 2425",
    ['!'] = "2024 2526",
    ['?'] = "01103041422324 2526",
    ['-'] = "1333",
    ['+'] = "1333 2224",
    ['/'] = "4006",
    ['\''] = "2021",
    ['('] = "30212536",
    [')'] = "10212516",
    ['%'] = "4006 1011 3536",
    ['<'] = "411345",
    ['>'] = "013305",
    ['='] = "1232 1434",
};

static const char *strokes_of(char c)
{
    unsigned char k = (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return k < sizeof strokes / sizeof strokes[0] ? strokes[k] : NULL;
}

static bool is_narrow(char c) { return c == '.' || c == ',' || c == ':' || c == '\'' || c == '!' || c == ' '; }

static float advance(char c, float size) { return size * (is_narrow(c) ? 0.6f : 0.95f); }

float text_width(const char *text, float size)
{
    float width = 0.0f;
    for (; *text != '\0'; text++) width += advance(*text, size);
    return width - size * 0.25f;
}

static void add_stroke(frame *f, float x, float y, float to_x, float to_y, float width, colour paint)
{
    frame_add(f, (sprite){.x = (x + to_x) * 0.5f,
                          .y = (y + to_y) * 0.5f,
                          .ux = (to_x - x) * 0.5f,
                          .uy = (to_y - y) * 0.5f,
                          .width = width,
                          .paint = paint,
                          .shape = SHAPE_LINE,
                          .glow = 255});
}

float frame_text(frame *f, const char *text, float x, float y, float size, int align, colour paint)
{
    const float unit = size / 6.0f, width = text_width(text, size);
    float left = align == TEXT_LEFT ? x : align == TEXT_RIGHT ? x - width : x - width * 0.5f;
    for (; *text != '\0'; left += advance(*text, size), text++) {
        const char *s = strokes_of(*text);
        float indent = is_narrow(*text) ? -unit * 1.2f : 0.0f;
        for (; s != NULL && *s != '\0'; s++) {
            if (*s == ' ') continue;
            if (s[2] == ' ' || s[2] == '\0') { /* the end of a stroke */
                s++;
                continue;
            }
            add_stroke(f, left + indent + unit * (float)(s[0] - '0'), y + unit * (float)(s[1] - '0'),
                       left + indent + unit * (float)(s[2] - '0'), y + unit * (float)(s[3] - '0'), size * 0.062f,
                       paint);
            s++;
        }
    }
    return width;
}
