/* The structure of raw, for the files with its rows.
 *
 *   id (a plain number, never checked) --index.row[id]--> row --> table.col[c][row]     (one array a component)
 *                                                              --> table.id[row]        (for the fix-up of swap-remove)
 *
 * Arrays double from 64. Nothing is recycled, nothing validated. */
#ifndef RAW_H
#define RAW_H
#include "mem.h"
#include "rows.h"

#define INL static inline __attribute__((always_inline, unused))
#define unlikely(x) __builtin_expect(!!(x), 0)
#ifdef __clang__
#define UNROLL_8 _Pragma("clang loop unroll_count(8)")
#else
#define UNROLL_8 _Pragma("GCC unroll 8")
#endif

enum { COLS = 8 };
#define NO_ROW UINT32_MAX

typedef struct table {
    char *col[COLS];
    uint32_t *id;
    uint32_t n, cap;
    uint32_t ncol, size[COLS];
} table;

typedef struct idmap {
    uint32_t *row;
    uint32_t n, cap;
} idmap;

typedef struct raw {
    const bench_row *r;
    table a, b;  /* b: the table with the added component, or the other half of the entities */
    table *frag; /* the iter_frag_ rows' tables */
    uint32_t nfrag;
    idmap ix;
    uint32_t *handle; /* the caller's, in the order that the row uses them */
    uint64_t *bits;
    char *copy;   /* snapshot: the five arrays, one after the other */
    uint64_t sum; /* what the run itself computed */
} raw;

#define POS(t) ((Position *)(void *)(t)->col[0])
#define VEL(t) ((Velocity *)(void *)(t)->col[1])
#define VEC(t, c) ((Vec4 *)(void *)(t)->col[c])

/* raw.c */
void *raw_alloc_zero(size_t bytes);
void raw_layout(table *t, uint32_t ncol, const uint32_t *size);
raw *raw_world(const bench_row *r);
void raw_handles(raw *w);
void raw_free(void *state);
uint64_t raw_sum_by_handle(const table *t, const raw *w);
void *raw_ar_setup(const bench_row *r); /* the add_remove_ rows: n entities with Position; b is the empty destination */
uint64_t raw_ar_sum(void *state);

extern const row_impl raw_frame_rows[];    /* raw_frame.c */
extern const row_impl raw_relation_rows[]; /* raw_relation.c */
extern const row_impl raw_tree_rows[];     /* raw_tree.c */
/* reef_copy.c: rows without a counterpart in arrays are compared with reef itself */
extern const row_impl native_sql_rows[]; /* reef_sql.c: SQLite alone */
extern const row_impl reef_alone_rows[];
extern const row_impl reef_alone_frame_rows[];    /* reef_frame.c: the same for threads */
extern const row_impl reef_alone_net_rows[];      /* reef_net.c: ticks alone; without signatures */
extern const row_impl reef_alone_inspect_rows[];  /* reef_inspect.c: without the inspector */
extern const row_impl reef_alone_general_rows[];  /* reef_general.c: plain changes */
extern const row_impl reef_alone_command_rows[];  /* reef_command.c: spawned, not copied */
extern const row_impl raw_index_rows[];           /* reef_index.c: by hand */
extern const row_impl raw_place_rows[];           /* reef_place.c: by hand */
extern const row_impl raw_branch_rows[];          /* reef_branch.c: by hand */
extern const row_impl reef_alone_place_rows[];    /* reef_place.c: on one thread */
extern const row_impl reef_alone_relation_rows[]; /* reef_relation.c: without commands */

/* Column c starts 320*c bytes into its allocation. Page-aligned columns with the same stride would all fall into one
 * set of the first-level cache (add_remove_8: 38 ns without the offset, 28 with it). */
enum { STAGGER = 320 };

INL char *column_resize(char *p, uint32_t c, size_t old_bytes, size_t bytes)
{
    size_t shift = (size_t)STAGGER * c;
    char *base = p ? p - shift : NULL;
    if (bytes == 0) {
        mem_free(base, old_bytes + shift);
        return NULL;
    }
    return (char *)mem_realloc(base, old_bytes + shift, bytes + shift) + shift;
}

/* cap 0 frees. */
INL void table_reserve(table *t, uint32_t cap)
{
    for (uint32_t c = 0; c < t->ncol; c++)
        t->col[c] = column_resize(t->col[c], c, (size_t)t->size[c] * t->cap, (size_t)t->size[c] * cap);
    t->id = (uint32_t *)(void *)column_resize((char *)t->id, COLS, sizeof *t->id * t->cap, sizeof *t->id * cap);
    t->cap = cap;
}

INL void index_reserve(idmap *x, uint32_t cap)
{
    x->row = mem_realloc(x->row, sizeof *x->row * x->cap, sizeof *x->row * cap);
    x->cap = cap;
}

INL uint32_t doubled(uint32_t cap) { return cap ? cap * 2 : 64; }

INL uint32_t id_new(idmap *x, uint32_t row)
{
    if (unlikely(x->n == x->cap)) index_reserve(x, doubled(x->cap));
    x->row[x->n] = row;
    return x->n++;
}

/* Makes an entity in t. Returns its row; its id is in t->id. */
INL uint32_t create(table *t, idmap *x)
{
    if (unlikely(t->n == t->cap)) table_reserve(t, doubled(t->cap));
    uint32_t r = t->n++;
    t->id[r] = id_new(x, r);
    return r;
}

/* (not POS(t)[create(t, x)]: create may move the column) */
INL uint32_t create_1(table *t, idmap *x, Position p)
{
    uint32_t r = create(t, x);
    POS(t)[r] = p;
    return t->id[r];
}

INL uint32_t create_2(table *t, idmap *x, Position p, Velocity v)
{
    uint32_t r = create(t, x);
    POS(t)[r] = p;
    VEL(t)[r] = v;
    return t->id[r];
}

INL void destroy_2(table *t, idmap *x, uint32_t id)
{
    uint32_t r = x->row[id], last = --t->n, moved = t->id[last];
    POS(t)[r] = POS(t)[last];
    VEL(t)[r] = VEL(t)[last];
    t->id[r] = moved;
    x->row[moved] = r;
    x->row[id] = NO_ROW;
}

/* Column c is 8 bytes for c == 0, else 16: constants, so that each move compiles to plain loads and stores. */
INL void cell_copy(char **to, uint32_t to_row, char **from, uint32_t from_row, uint32_t c)
{
    size_t z = c ? 16 : 8;
    memcpy(to[c] + to_row * z, from[c] + from_row * z, z);
}

/* Move id from s to d (the first `shared` columns); the last row of s fills the hole. Returns the row in d. */
INL uint32_t move(table *s, table *d, idmap *x, uint32_t id, uint32_t shared)
{
    if (unlikely(d->n == d->cap)) table_reserve(d, doubled(d->cap));
    uint32_t r = x->row[id], to = d->n++, last = --s->n, moved = s->id[last];
    UNROLL_8
    for (uint32_t c = 0; c < shared; c++) {
        cell_copy(d->col, to, s->col, r, c);
        cell_copy(s->col, r, s->col, last, c);
    }
    d->id[to] = id;
    s->id[r] = moved;
    x->row[moved] = r;
    x->row[id] = to;
    return to;
}

INL void add_velocity(table *s, table *d, idmap *x, uint32_t id, uint32_t shared, Velocity v)
{
    uint32_t to = move(s, d, x, id, shared);
    ((Velocity *)(void *)d->col[shared])[to] = v;
}

INL void remove_velocity(table *s, table *d, idmap *x, uint32_t id, uint32_t shared)
{
    Velocity *v = (Velocity *)(void *)s->col[shared];
    v[x->row[id]] = v[s->n - 1];
    move(s, d, x, id, shared);
}

#endif
