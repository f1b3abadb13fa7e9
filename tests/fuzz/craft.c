/* Crafting files.
 *
 *     file ──► sections ──► places and lists ──► changes ──► sections ──► file with right sums
 *
 * A *place* is a number in a payload, with what it means. A *list* is a count and the elements that it counts. Both are
 * found anew after each change, by walking the sections as a reader does; where a section isn't as it should be any
 * more, the rest of it has no places. */
#include "craft.h"
#include "load_repair.h"
#include <stdlib.h>

enum { SECTIONS_MAX = 4096, TYPES_MAX = 512, TABLES_MAX = 512, FIELDS_MAX = 256, ELEMENTS_MAX = 1 << 16 };

/* What a place means: places of one meaning exchange their values. */
typedef enum meaning {
    A_COUNT,
    AN_INDEX, /* of a handle; its generation follows */
    A_GENERATION,
    A_TYPE,
    A_TABLE,
    A_NUMBER, /* of rows, slots, pages, chunks, indices, positions */
    A_VERSION,
    A_SMALL, /* kinds, homes, flags */
    A_SIZE,
    A_LETTER, /* of a text, or the length of it */
    A_WORD,   /* of bits */
    A_VALUE
} meaning;

typedef struct place {
    uint32_t section;
    uint32_t at;
    uint8_t width, what;
} place;

/* The elements of a list lie at element[first] ... element[first + count]. */
typedef struct list {
    uint32_t section, kind, count_at, first, count;
    bool odd; /* its elements weren't noted: it is left alone */
} list;

/* The places of an owner's handle and of one in its value, such as a source and its target. */
typedef struct link {
    uint32_t owner, target;
} link;

typedef struct section {
    uint32_t kind;
    unsigned char *payload;
    size_t length;
} section;

typedef struct file_kind {
    uint8_t home;
    uint32_t flags, bytes, fields, relation;
    uint8_t kind[FIELDS_MAX];
    uint32_t field_bytes[FIELDS_MAX];
} file_kind;

typedef struct file_shape {
    uint32_t columns, column[64];
} file_shape;

typedef struct craft {
    unsigned char header[FILE_HEADER_BYTES];
    section *sections;
    uint32_t count;
    place *places;
    uint32_t place_count, place_room;
    list *lists;
    uint32_t list_count, list_room;
    uint32_t *element;
    uint32_t element_count, element_room;
    link *links;
    uint32_t link_count, link_room;
    file_kind *types;
    uint32_t type_count;
    file_shape *tables;
    uint32_t table_count;
    /* while a section is walked */
    uint32_t now;
    size_t at;
    bool short_of; /* the payload ended too early */
} craft;

static void *must_have(void *p)
{
    if (p == NULL) abort();
    return p;
}

uint32_t craft_below(uint64_t *seed, uint32_t n)
{
    *seed += 0x9E3779B97F4A7C15u;
    uint64_t x = *seed;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return (uint32_t)((x >> 32) % n);
}

static uint64_t any(uint64_t *seed)
{
    return (uint64_t)craft_below(seed, UINT32_MAX) << 32 | craft_below(seed, UINT32_MAX);
}

uint64_t craft_number(uint64_t *seed, uint64_t was)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     255,
                                     256,
                                     1023,
                                     1024,
                                     1025,
                                     4095,
                                     4096,
                                     0x7FFF,
                                     0xFFFF,
                                     0x10000,
                                     0xFFFFF,
                                     0x7FFFFFFF,
                                     0x80000000,
                                     0xFFFFFFFE,
                                     0xFFFFFFFF,
                                     0x100000000,
                                     UINT64_C(1) << 48,
                                     INT64_MAX,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    switch (craft_below(seed, 8)) {
    case 0:
    case 1: return was + 1;
    case 2: return was - 1;
    case 3: return was + craft_below(seed, 64) - 32;
    case 4: return was ^ UINT64_C(1) << craft_below(seed, 64);
    case 5: return any(seed) >> craft_below(seed, 64);
    default: return edges[craft_below(seed, sizeof edges / sizeof *edges)];
    }
}

craft_bytes craft_copy(const void *data, size_t size)
{
    craft_bytes b = {must_have(malloc(size + 1)), size};
    if (size) memcpy(b.data, data, size);
    return b;
}

/* ---- walking ---- */

static void place_add(craft *c, meaning what, unsigned width)
{
    if (c->place_count == c->place_room) {
        c->place_room = c->place_room ? 2 * c->place_room : 1024;
        c->places = must_have(realloc(c->places, c->place_room * sizeof *c->places));
    }
    c->places[c->place_count++] = (place){c->now, (uint32_t)c->at, (uint8_t)width, (uint8_t)what};
}

/* The next number of the payload, which becomes a place. */
static uint64_t walk(craft *c, meaning what, unsigned width)
{
    const section *s = &c->sections[c->now];
    if (c->short_of || width > s->length - c->at) return c->short_of = true, 0u;
    place_add(c, what, width);
    const uint64_t x = repair_get(s->payload + c->at, width);
    c->at += width;
    return x;
}

/* Both halves of a handle, or none: whoever changes one finds the other. */
static void walk_handle(craft *c)
{
    if (c->sections[c->now].length - c->at < 8) c->short_of = true;
    (void)walk(c, AN_INDEX, 4);
    (void)walk(c, A_GENERATION, 4);
}

static void walk_text(craft *c)
{
    for (uint64_t n = walk(c, A_LETTER, 2); n > 0 && !c->short_of; n--) (void)walk(c, A_LETTER, 1);
}

/* A list begins: its count was read from the bytes before. Lists of one `kind` have elements that fit into each
 * other. */
static uint32_t list_begin(craft *c, uint32_t kind, uint64_t n, unsigned width)
{
    if (c->list_count == c->list_room) {
        c->list_room = c->list_room ? 2 * c->list_room : 256;
        c->lists = must_have(realloc(c->lists, c->list_room * sizeof *c->lists));
    }
    c->lists[c->list_count] = (list){.section = c->now, .kind = kind, .count_at = (uint32_t)(c->at - width)};
    c->lists[c->list_count].odd = n > ELEMENTS_MAX;
    return c->list_count++;
}

static void element_add(craft *c)
{
    if (c->element_count == c->element_room) {
        c->element_room = c->element_room ? 2 * c->element_room : 1024;
        c->element = must_have(realloc(c->element, c->element_room * sizeof *c->element));
    }
    c->element[c->element_count++] = (uint32_t)c->at;
}

typedef void (*element_walk)(craft *c, uint32_t argument);

/* Where the elements begin is noted at the end, so that the notes of a list lie side by side though lists are
 * nested. */
static void walk_list(craft *c, uint32_t kind, unsigned width, element_walk walk_one, uint32_t argument)
{
    uint32_t starts[257], n = 0;
    const uint64_t count = walk(c, A_COUNT, width);
    const uint32_t at = list_begin(c, kind, count, width);
    for (uint64_t i = 0; i < count && !c->short_of; i++) {
        if (n < 256) starts[n++] = (uint32_t)c->at;
        walk_one(c, argument);
    }
    if (c->short_of || n < count) {
        c->lists[at].odd = true;
        return;
    }
    starts[n] = (uint32_t)c->at;
    c->lists[at].first = c->element_count;
    c->lists[at].count = n;
    for (uint32_t i = 0; i <= n; i++) {
        const size_t end = c->at;
        c->at = starts[i];
        element_add(c);
        c->at = end;
    }
}

/* Notes which handles the value of an owner has, whose places are from `from` on. */
static void links_add(craft *c, uint32_t owner, uint32_t from)
{
    for (uint32_t i = from; i < c->place_count && !c->short_of; i++) {
        if (c->places[i].what != AN_INDEX) continue;
        if (c->link_count == c->link_room) {
            c->link_room = c->link_room ? 2 * c->link_room : 256;
            c->links = must_have(realloc(c->links, c->link_room * sizeof *c->links));
        }
        c->links[c->link_count++] = (link){owner, i};
    }
}

static const unsigned kind_width[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 4};

static void walk_value(craft *c, const file_kind *t)
{
    if (t->fields == 0) {
        for (uint32_t i = 0; i < t->bytes && !c->short_of; i++) (void)walk(c, A_VALUE, 1);
        return;
    }
    uint32_t left = t->bytes;
    const size_t begin = c->at;
    for (uint32_t f = 0; f < t->fields && left; f++)
        for (uint32_t at = 0; at < t->field_bytes[f] && left && !c->short_of;) {
            const uint8_t kind = t->kind[f] <= 13 ? t->kind[f] : 0;
            if (kind == 13 && left >= 8) {
                walk_handle(c);
                at += 8, left -= 8;
                continue;
            }
            const unsigned width = kind_width[kind] <= left ? kind_width[kind] : left;
            (void)walk(c, A_VALUE, width > 8 ? 8 : width);
            at += width, left -= width;
        }
    if (c->at == begin) c->short_of = true; /* thousands of millions of values may be said to follow */
}

static void walk_named_value(craft *c, uint32_t unused)
{
    (void)unused;
    walk_text(c);
    (void)walk(c, A_VALUE, 8);
}

/* The names of an enum or bit mask. */
static void walk_names(craft *c, uint32_t unused)
{
    (void)unused;
    walk_text(c);
    (void)walk(c, A_SMALL, 1);
    walk_list(c, 118, 2, walk_named_value, 0);
}

static void walk_type(craft *c, uint32_t unused)
{
    (void)unused;
    file_kind k = {0}, *t = c->type_count < TYPES_MAX ? &c->types[c->type_count++] : &k;
    *t = k;
    walk_text(c);
    t->home = (uint8_t)walk(c, A_SMALL, 1);
    t->flags = (uint32_t)walk(c, A_SMALL, 1);
    (void)walk(c, A_SIZE, 4);
    (void)walk(c, A_SIZE, 4);
    t->bytes = (uint32_t)walk(c, A_SIZE, 4);
    (void)walk(c, A_TYPE, 4);
    const uint64_t fields = walk(c, A_COUNT, 2);
    for (uint64_t i = 0; i < fields && !c->short_of; i++) {
        walk_text(c);
        const uint32_t n = t->fields < FIELDS_MAX ? t->fields++ : FIELDS_MAX - 1;
        t->kind[n] = (uint8_t)walk(c, A_SMALL, 1);
        (void)walk(c, A_SIZE, 4);
        t->field_bytes[n] = (uint32_t)walk(c, A_SIZE, 4);
        walk_text(c);
        (void)walk(c, A_VALUE, 8);
        (void)walk(c, A_VALUE, 8);
    }
    if (t->flags & 8) t->relation = (uint32_t)walk(c, A_SMALL, 4);
    if (t->flags & 16) {
        walk_list(c, 117, 2, walk_names, 0);
        for (uint64_t i = 0; i < fields && !c->short_of; i++) (void)walk(c, A_SMALL, 2);
    }
}

static file_kind no_kind;
static file_kind *type_at(craft *c, uint64_t number) { return number < c->type_count ? &c->types[number] : &no_kind; }

static void walk_column_type(craft *c, uint32_t table)
{
    const uint64_t number = walk(c, A_TYPE, 4);
    if (table >= TABLES_MAX || type_at(c, number)->bytes == 0 || c->tables[table].columns == 64) return;
    c->tables[table].column[c->tables[table].columns++] = (uint32_t)number;
}

static void walk_table(craft *c, uint32_t unused)
{
    (void)unused;
    const uint32_t n = c->table_count;
    if (n < TABLES_MAX) c->tables[c->table_count++].columns = 0;
    walk_list(c, 100, 4, walk_column_type, n);
}

static void walk_clock(craft *c, uint32_t unused)
{
    (void)unused;
    (void)walk(c, A_SMALL, 1);
    walk_text(c);
    (void)walk(c, A_VALUE, 8);
}
static void walk_run(craft *c, uint32_t unused)
{
    (void)unused;
    walk_text(c);
    (void)walk(c, A_VERSION, 8);
}
static void walk_system(craft *c, uint32_t unused)
{
    (void)unused;
    walk_text(c);
    (void)walk(c, A_SMALL, 1);
    (void)walk(c, A_SMALL, 1);
    (void)walk(c, A_VERSION, 8);
}
static void walk_two(craft *c, uint32_t unused)
{
    (void)unused;
    (void)walk(c, A_NUMBER, 4);
    (void)walk(c, A_NUMBER, 4);
}
static void walk_free(craft *c, uint32_t unused)
{
    (void)unused;
    walk_handle(c);
}
static void walk_idle(craft *c, uint32_t unused)
{
    (void)unused;
    walk_handle(c);
    (void)walk(c, A_SMALL, 1);
}

static void walk_rows_piece(craft *c, uint32_t table)
{
    const file_shape *t = table < c->table_count ? &c->tables[table] : NULL;
    const uint64_t column = walk(c, A_NUMBER, 4);
    (void)walk(c, A_NUMBER, 4);
    const uint64_t rows = walk(c, A_NUMBER, 4);
    const file_kind *k = t && column && column <= t->columns ? type_at(c, t->column[column - 1]) : NULL;
    for (uint32_t i = 0; i < (k && k->home == 7 ? k->fields : 1); i++) (void)walk(c, A_VERSION, 8);
    for (uint64_t i = 0; i < rows && !c->short_of; i++) {
        if (column == 0) walk_handle(c);
        else if (k) walk_value(c, k);
        else c->short_of = true;
    }
}

static void walk_words(craft *c, uint32_t unused)
{
    (void)unused;
    (void)walk(c, A_NUMBER, 4);
    (void)walk(c, A_VERSION, 8);
    for (int i = 0; i < 16; i++) (void)walk(c, A_WORD, 8);
}

static void walk_page_piece(craft *c, uint32_t number)
{
    (void)walk(c, A_NUMBER, 4);
    uint64_t count = walk(c, A_COUNT, 4);
    if (walk(c, A_SMALL, 1) == 0) count = 0;
    (void)walk(c, A_VERSION, 8);
    const uint32_t owners = c->place_count;
    for (uint64_t i = 0; i < count && !c->short_of; i++) walk_handle(c);
    const file_kind *k = type_at(c, number);
    for (uint64_t i = 0; i < count && !c->short_of && k->bytes; i++) {
        const uint32_t from = c->place_count;
        walk_value(c, k);
        links_add(c, owners + 2 * (uint32_t)i, from);
    }
}

static void walk_held(craft *c, uint32_t number)
{
    const file_kind *k = type_at(c, number);
    if (k->home == 5) {
        const uint32_t owner = c->place_count;
        walk_handle(c);
        (void)walk(c, A_VERSION, 8);
        const uint64_t n = walk(c, A_COUNT, 4);
        const uint32_t from = c->place_count;
        for (uint64_t i = 0; i < n && !c->short_of && k->bytes; i++) walk_value(c, k);
        links_add(c, owner, from);
        return;
    }
    const uint64_t n = walk(c, A_COUNT, 4);
    (void)walk(c, A_VERSION, 8);
    for (uint64_t i = 0; i < n && !c->short_of; i++) walk_handle(c);
    walk_value(c, k);
}

static void walk_name(craft *c, uint32_t unused)
{
    (void)unused;
    walk_handle(c);
    walk_text(c);
}
static void walk_stamp(craft *c, uint32_t unused)
{
    (void)unused;
    (void)walk(c, A_VERSION, 8);
    (void)walk(c, A_VERSION, 8);
}
static void walk_lost(craft *c, uint32_t number)
{
    walk_handle(c);
    walk_value(c, type_at(c, number));
}

static void walk_events(craft *c)
{
    const file_kind *k = type_at(c, walk(c, A_TYPE, 4));
    for (int i = 0; i < 4; i++) (void)walk(c, A_NUMBER, 8);
    const uint64_t n = walk(c, A_COUNT, 4);
    for (uint64_t i = 0; i < n && !c->short_of && k->bytes; i++) walk_value(c, k);
    walk_list(c, 140, 4, walk_run, 0);
}

static void walk_time(craft *c)
{
    for (int i = 0; i < 3; i++) (void)walk(c, A_VALUE, 8);
    (void)walk(c, A_VERSION, 8);
    walk_handle(c);
    walk_list(c, 101, 4, walk_clock, 0);
    walk_list(c, 103, 4, walk_system, 0);
}

static void walk_section(craft *c)
{
    uint64_t n;
    c->at = 0;
    c->short_of = false;
    switch (c->sections[c->now].kind) {
    case SECTION_RECORD:
        c->at = 8;
        (void)walk(c, A_NUMBER, 8);
        (void)walk(c, A_SMALL, 4);
        (void)walk(c, A_SMALL, 4);
        (void)walk(c, A_VALUE, 8);
        break;
    case SECTION_TYPES: walk_list(c, 104, 4, walk_type, 0); break;
    case SECTION_TABLES: walk_list(c, 105, 4, walk_table, 0); break;
    case SECTION_TIME: walk_time(c); break;
    case SECTION_RESERVED: walk_list(c, 106, 4, walk_two, 0); break;
    case SECTION_IDS:
        (void)walk(c, A_NUMBER, 4);
        for (int i = 0; i < 3; i++) (void)walk(c, A_NUMBER, 8);
        break;
    case SECTION_FREE: walk_list(c, 107, 4, walk_free, 0); break;
    case SECTION_IDLE: walk_list(c, 108, 4, walk_idle, 0); break;
    case SECTION_ROWS:
        n = walk(c, A_TABLE, 4);
        (void)walk(c, A_NUMBER, 8);
        (void)walk(c, A_NUMBER, 4);
        walk_list(c, 110, 4, walk_rows_piece, n < UINT32_MAX ? (uint32_t)n : 0);
        break;
    case SECTION_BITS:
        (void)walk(c, A_SMALL, 1);
        (void)walk(c, A_TYPE, 4);
        (void)walk(c, A_TABLE, 4);
        walk_list(c, 111, 4, walk_words, 0);
        break;
    case SECTION_PAGE:
        n = walk(c, A_TYPE, 4);
        (void)walk(c, A_NUMBER, 4);
        (void)walk(c, A_NUMBER, 4);
        walk_list(c, 112, 4, walk_page_piece, (uint32_t)n);
        break;
    case SECTION_VALUES:
        n = walk(c, A_TYPE, 4);
        (void)walk(c, A_SMALL, 1);
        walk_list(c, 113, 4, walk_held, (uint32_t)n);
        break;
    case SECTION_NAMES: walk_list(c, 114, 4, walk_name, 0); break;
    case SECTION_EVENTS: walk_events(c); break;
    case SECTION_TRACKS:
        (void)walk(c, A_TYPE, 4);
        (void)walk(c, A_NUMBER, 4);
        walk_list(c, 115, 4, walk_stamp, 0);
        break;
    case SECTION_LOST:
        n = walk(c, A_TYPE, 4);
        walk_list(c, 116, 4, walk_lost, (uint32_t)n);
        break;
    default: break;
    }
}

static void walk_all(craft *c)
{
    c->place_count = c->list_count = c->element_count = c->link_count = c->type_count = c->table_count = 0;
    for (c->now = 0; c->now < c->count; c->now++) walk_section(c);
}

/* ---- taking apart, putting together ---- */

static void craft_begin(craft *c, craft_bytes file)
{
    *c = (craft){.count = 0};
    c->sections = must_have(calloc(SECTIONS_MAX, sizeof *c->sections));
    c->types = must_have(calloc(TYPES_MAX, sizeof *c->types));
    c->tables = must_have(calloc(TABLES_MAX, sizeof *c->tables));
    memcpy(c->header, file.data, file.size < FILE_HEADER_BYTES ? file.size : FILE_HEADER_BYTES);
    for (size_t at = FILE_HEADER_BYTES; at + SECTION_HEAD_BYTES + SECTION_SUM_BYTES <= file.size;) {
        const uint64_t length = repair_get(file.data + at + 4, 8);
        if (c->count == SECTIONS_MAX || length > file.size - at - SECTION_HEAD_BYTES - SECTION_SUM_BYTES) break;
        section *s = &c->sections[c->count++];
        s->kind = (uint32_t)repair_get(file.data + at, 4);
        s->length = (size_t)length;
        s->payload = craft_copy(file.data + at + SECTION_HEAD_BYTES, s->length).data;
        at += SECTION_HEAD_BYTES + s->length + SECTION_SUM_BYTES;
    }
}

static void craft_end(craft *c)
{
    for (uint32_t i = 0; i < c->count; i++) free(c->sections[i].payload);
    free(c->sections);
    free(c->types);
    free(c->tables);
    free(c->places);
    free(c->lists);
    free(c->element);
    free(c->links);
}

static craft_bytes put_together(const craft *c)
{
    size_t size = FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < c->count; i++) size += SECTION_HEAD_BYTES + c->sections[i].length + SECTION_SUM_BYTES;
    craft_bytes b = {must_have(malloc(size)), size};
    memcpy(b.data, c->header, FILE_HEADER_BYTES);
    unsigned char *p = b.data + FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < c->count; i++) {
        const section *s = &c->sections[i];
        repair_put(p, s->kind, 4);
        repair_put(p + 4, s->length, 8);
        memcpy(p + SECTION_HEAD_BYTES, s->payload, s->length);
        p += SECTION_HEAD_BYTES + s->length + SECTION_SUM_BYTES;
    }
    repair(b.data, b.size);
    return b;
}

/* ---- changes ---- */

static uint64_t place_get(const craft *c, const place *p)
{
    return repair_get(c->sections[p->section].payload + p->at, p->width);
}
static void place_put(craft *c, const place *p, uint64_t x)
{
    repair_put(c->sections[p->section].payload + p->at, x, p->width);
}

/* Replaces `old` bytes of a payload by `count` others. */
static void payload_replace(section *s, size_t at, size_t old, const unsigned char *bytes, size_t count)
{
    unsigned char *p = must_have(malloc(s->length - old + count + 1));
    memcpy(p, s->payload, at);
    if (count) memcpy(p + at, bytes, count);
    memcpy(p + at + count, s->payload + at + old, s->length - at - old);
    free(s->payload);
    s->payload = p;
    s->length += count - old;
}

static const place *place_like(const craft *c, const place *p, uint64_t *seed)
{
    for (int i = 0; i < 64; i++) {
        const place *q = &c->places[craft_below(seed, c->place_count)];
        if (q->what == p->what && q->width == p->width) return q;
    }
    return p;
}

/* Another place for the next change: often near the last one, or in the same section. */
static uint32_t place_choose(const craft *c, uint32_t last, uint64_t *seed)
{
    const uint32_t how = craft_below(seed, 4);
    if (how == 0 && last < c->place_count) {
        const uint32_t low = last < 6 ? 0 : last - 6, high = last + 6 < c->place_count ? last + 6 : c->place_count - 1;
        return low + craft_below(seed, high - low + 1);
    }
    if (how == 1 && last < c->place_count) {
        uint32_t low = last, high = last;
        while (low > 0 && c->places[low - 1].section == c->places[last].section) low--;
        while (high + 1 < c->place_count && c->places[high + 1].section == c->places[last].section) high++;
        return low + craft_below(seed, high - low + 1);
    }
    if (how == 2) { /* each section is as likely as another one, however long */
        const uint32_t s = craft_below(seed, c->count);
        uint32_t first = 0, end;
        while (first < c->place_count && c->places[first].section < s) first++;
        end = first;
        while (end < c->place_count && c->places[end].section == s) end++;
        if (end > first) return first + craft_below(seed, end - first);
    }
    return craft_below(seed, c->place_count);
}

static void change_place(craft *c, const place *p, uint64_t *seed)
{
    const uint64_t was = place_get(c, p);
    if (craft_below(seed, 2)) place_put(c, p, place_get(c, place_like(c, p, seed)));
    else place_put(c, p, craft_number(seed, was));
}

/* A handle becomes another one: of another place, dead, far away, or null. */
static void change_handle(craft *c, const place *index, uint64_t *seed)
{
    const place generation = {index->section, index->at + 4, 4, A_GENERATION};
    const place *other = place_like(c, index, seed);
    const place other_generation = {other->section, other->at + 4, 4, A_GENERATION};
    switch (craft_below(seed, 5)) {
    case 0: place_put(c, &generation, place_get(c, &generation) + 1 + craft_below(seed, 3)); break;
    case 1: place_put(c, index, craft_number(seed, place_get(c, index))); break;
    case 2:
        place_put(c, index, 0);
        place_put(c, &generation, 0);
        break;
    default: {
        const uint64_t i = place_get(c, other), g = place_get(c, &other_generation);
        place_put(c, index, i);
        place_put(c, &generation, g);
    }
    }
}

/* An owner and a handle in its value become other ones: dead, far away, each other. */
static void change_link(craft *c, uint64_t *seed)
{
    const link *l = &c->links[craft_below(seed, c->link_count)];
    change_handle(c, &c->places[l->owner], seed);
    change_handle(c, &c->places[l->target], seed);
    if (craft_below(seed, 4) == 0) place_put(c, &c->places[l->target], place_get(c, &c->places[l->owner]));
}

/* A handle becomes another one everywhere, or in about half of the places. */
static void change_everywhere(craft *c, const place *index, uint64_t *seed)
{
    const uint64_t i = place_get(c, index), g = repair_get(c->sections[index->section].payload + index->at + 4, 4);
    const place *other = place_like(c, index, seed);
    const bool far = craft_below(seed, 3) == 0, half = craft_below(seed, 2);
    const uint64_t to_i = far ? craft_number(seed, i) : place_get(c, other);
    const uint64_t to_g = far ? g : repair_get(c->sections[other->section].payload + other->at + 4, 4);
    for (uint32_t k = 0; k < c->place_count; k++) {
        const place *p = &c->places[k];
        if (p->what != AN_INDEX || place_get(c, p) != i) continue;
        unsigned char *generation = c->sections[p->section].payload + p->at + 4;
        if (repair_get(generation, 4) != g || (half && craft_below(seed, 2))) continue;
        place_put(c, p, to_i);
        repair_put(generation, to_g, 4);
    }
}

static void change_sections(craft *c, uint64_t *seed)
{
    const uint32_t i = craft_below(seed, c->count), k = craft_below(seed, c->count);
    const section a = c->sections[i];
    switch (craft_below(seed, 3)) {
    case 0: /* one is missing */
        free(a.payload);
        memmove(c->sections + i, c->sections + i + 1, (c->count - i - 1) * sizeof a);
        c->count--;
        break;
    case 1: /* one comes twice, behind itself or elsewhere */
        if (c->count == SECTIONS_MAX) break;
        {
            const uint32_t to = craft_below(seed, 2) ? i + 1 : k;
            memmove(c->sections + to + 1, c->sections + to, (c->count - to) * sizeof a);
            c->sections[to] = (section){a.kind, craft_copy(a.payload, a.length).data, a.length};
            c->count++;
        }
        break;
    default:
        c->sections[i] = c->sections[k];
        c->sections[k] = a;
        break;
    }
}

/* A section comes from another file. */
static void change_section_from(craft *c, const craft *other, uint64_t *seed)
{
    section *s = &c->sections[craft_below(seed, c->count)];
    const uint32_t first = craft_below(seed, other->count);
    for (uint32_t i = 0; i < other->count; i++) {
        const section *from = &other->sections[(first + i) % other->count];
        if (from->kind != s->kind) continue;
        free(s->payload);
        *s = (section){s->kind, craft_copy(from->payload, from->length).data, from->length};
        return;
    }
}

static const list *list_choose(const craft *c, uint32_t kind, bool some, uint64_t *seed)
{
    for (int i = 0; i < 64 && c->list_count; i++) {
        const list *l = &c->lists[craft_below(seed, c->list_count)];
        if (!l->odd && (kind == 0 || l->kind == kind) && (!some || l->count)) return l;
    }
    return NULL;
}

/* An element of a list goes, comes twice, changes places with another one, or comes from elsewhere. */
static void change_list(craft *c, const craft *other, uint64_t *seed)
{
    const list *l = list_choose(c, 0, true, seed);
    if (l == NULL) return;
    section *s = &c->sections[l->section];
    const uint32_t *e = &c->element[l->first], i = craft_below(seed, l->count);
    const size_t at = e[i], length = e[i + 1] - e[i];
    uint32_t count = l->count;
    craft_bytes copy = craft_copy(s->payload + at, length);
    switch (craft_below(seed, 4)) {
    case 0:
        payload_replace(s, at, length, NULL, 0);
        count--;
        break;
    case 1: {
        const size_t to = e[craft_below(seed, l->count + 1)];
        payload_replace(s, to, 0, copy.data, copy.size);
        count++;
        break;
    }
    case 2: {
        const uint32_t k = craft_below(seed, l->count);
        payload_replace(s, e[k], e[k + 1] - e[k], copy.data, copy.size);
        break;
    }
    default: {
        const list *from = list_choose(other, l->kind, true, seed);
        if (from == NULL) break;
        const uint32_t k = craft_below(seed, from->count);
        const uint32_t *f = &other->element[from->first + k];
        craft_bytes one = craft_copy(other->sections[from->section].payload + f[0], f[1] - f[0]);
        payload_replace(s, at, 0, one.data, one.size);
        free(one.data);
        count++;
    }
    }
    if (craft_below(seed, 16)) repair_put(s->payload + l->count_at, count, 4);
    free(copy.data);
}

/* Bytes go or come somewhere. */
static void change_bytes(craft *c, uint64_t *seed)
{
    unsigned char some[8] = {0};
    section *s = &c->sections[craft_below(seed, c->count)];
    if (s->length == 0) return;
    const size_t at = craft_below(seed, (uint32_t)s->length), n = 1 + craft_below(seed, 8);
    if (craft_below(seed, 2)) payload_replace(s, at, n < s->length - at ? n : s->length - at, NULL, 0);
    else payload_replace(s, at, 0, some, n);
}

static void change_header(craft *c, uint64_t *seed) { c->header[10] ^= (unsigned char)(1u << craft_below(seed, 4)); }

craft_bytes craft_file(craft_bytes file, craft_bytes other, uint64_t *seed)
{
    craft c, o;
    uint32_t last = UINT32_MAX;
    craft_begin(&c, file);
    craft_begin(&o, other);
    walk_all(&o);
    for (uint32_t n = 1 + craft_below(seed, 5); n > 0 && c.count && o.count; n--) {
        walk_all(&c);
        const uint32_t what = craft_below(seed, 100);
        if (c.place_count == 0) break;
        last = place_choose(&c, last, seed);
        const place *p = &c.places[last];
        if (p->what == A_GENERATION && last > 0) p--;
        if (c.link_count && craft_below(seed, 8) == 0) change_link(&c, seed);
        else if (p->what == AN_INDEX && what < 40) change_handle(&c, p, seed);
        else if (p->what == AN_INDEX && what < 50) change_everywhere(&c, p, seed);
        else if (what < 70) change_place(&c, &c.places[last], seed);
        else if (what < 86) change_list(&c, &o, seed);
        else if (what < 91) change_sections(&c, seed);
        else if (what < 96) change_section_from(&c, &o, seed);
        else if (what < 99) change_bytes(&c, seed);
        else change_header(&c, seed);
    }
    craft_bytes made = put_together(&c);
    craft_end(&c);
    craft_end(&o);
    return made;
}

craft_bytes craft_blob(craft_bytes blob, uint64_t *seed)
{
    static const unsigned widths[] = {1, 2, 4, 4, 8};
    section s = {0, craft_copy(blob.data, blob.size).data, blob.size};
    for (uint32_t n = 1 + craft_below(seed, 4); n > 0 && s.length; n--) {
        const size_t at = craft_below(seed, (uint32_t)s.length);
        unsigned width = widths[craft_below(seed, 5)];
        if (width > s.length - at) width = 1;
        const uint32_t what = craft_below(seed, 20);
        if (what < 17) repair_put(s.payload + at, craft_number(seed, repair_get(s.payload + at, width)), width);
        else if (what == 17) payload_replace(&s, at, width, NULL, 0);
        else if (what == 18) s.length = at;
        else {
            craft_bytes again = craft_copy(s.payload + at, s.length - at < 64 ? s.length - at : 64);
            payload_replace(&s, at, 0, again.data, again.size);
            free(again.data);
        }
    }
    return (craft_bytes){s.payload, s.length};
}
