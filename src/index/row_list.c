/* Lists with changes: src/index/row_list.h has the drawing. */
#include "index/row_list.h"
#include <string.h>

enum {
    CHANGES_LEAST = 1024, /* that are never merged with `main` */
    CHANGES_SHARE = 4     /* more than this part of its rows are */
};

/* ---- runs ---- */

static bool run_directory_make(row_run *x, memory *m)
{
    uint32_t entries = 2; /* so that no key is shifted by all of its bits */
    const uint64_t length = x->count ? x->rows[x->count - 1].key - x->rows[0].key : 0;
    x->lowest = x->count ? x->rows[0].key : 0;
    x->shift = 0;
    while (entries < x->count && entries < UINT32_MAX / 4) entries *= 2;
    while (length >> x->shift >= entries) x->shift++;
    if (!reef__array_room(m, MEMORY_OTHER, &x->directory, &x->directory_room, entries + 1, sizeof *x->directory))
        return false;
    x->entries = entries;
    memset(x->directory, 0, (entries + 1) * sizeof *x->directory);
    /* Without branches, since how many rows an entry has can't be predicted: the last row of an entry says where the
     * next one begins, and entries without rows begin where the one before does. */
    for (size_t i = 0; i < x->count; i++)
        x->directory[((x->rows[i].key - x->lowest) >> x->shift) + 1] = (uint32_t)i + 1;
    for (uint32_t i = 1; i <= entries; i++)
        x->directory[i] = x->directory[i] > x->directory[i - 1] ? x->directory[i] : x->directory[i - 1];
    for (uint32_t i = 0; i < ROWS_BEHIND; i++) x->rows[x->count + i] = (order_row){UINT64_MAX, UINT32_MAX, GONE};
    return true;
}

static void run_drop(row_run *x, memory *m)
{
    reef__memory_free(m, MEMORY_OTHER, x->rows, x->room * sizeof *x->rows);
    reef__memory_free(m, MEMORY_OTHER, x->directory, x->directory_room * sizeof *x->directory);
    memset(x, 0, sizeof *x);
}

/* Memory for rows, and the few behind them. NULL: there is none. */
static order_row *run_rows_make(memory *m, size_t count, size_t *room)
{
    size_t bytes;
    *room = count + count / 16 + 2 * ROWS_BEHIND;
    if (!reef__size_multiply(*room, sizeof(order_row), 0, &bytes)) return NULL;
    return reef__memory_resize(m, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
}

INLINE const order_row *run_behind(const row_run *x, uint64_t key)
{
    return key == UINT64_MAX ? x->rows + x->count : run_from(x, key + 1);
}

/* ---- asking ---- */

row_range reef__list_range(const row_list *l, uint64_t lowest, uint64_t highest)
{
    row_range r = {0};
    if (lowest > highest || l->main.rows == NULL) return r; /* NULL: it was never filled */
    r.main = run_from(&l->main, lowest);
    r.main_end = l->main.rows + l->main.count;
    if (lowest == highest) { /* few rows: the end is near */
        const order_row *end = r.main;
        while (end < r.main_end && end->key == lowest) end++;
        r.main_end = end;
    } else {
        r.main_end = run_behind(&l->main, highest);
    }
    if (l->changes.count == 0) return r;
    r.change = run_from(&l->changes, lowest);
    r.change_end = run_behind(&l->changes, highest);
    return r;
}

uint64_t reef__range_count(const row_range *r)
{
    uint64_t n = (uint64_t)(r->main_end - r->main);
    for (const order_row *c = r->change; c < r->change_end; c++) n += c->row == GONE ? UINT64_MAX : 1;
    return n;
}

const order_row *reef__range_last(row_range *r)
{
    for (; r->change < r->change_end; r->change_end--) {
        const order_row *last = r->change_end - 1, *main = r->main_end - 1;
        if (last->row != GONE && (r->main == r->main_end || !row_is_before(last, main))) return --r->change_end;
        if (last->row == GONE && row_is_same(main, last)) r->main_end--;
        else break;
    }
    return r->main < r->main_end ? --r->main_end : NULL;
}

/* ---- changes ---- */

/* Merges changes with those from before, which are of the same list without them. Returns how many there are then. */
static size_t changes_merge(order_row *to, const order_row *old, const order_row *old_end, const order_row *new,
                            const order_row *new_end)
{
    order_row *begin = to;
    while (new < new_end) {
        while (old < old_end && row_is_before(old, new)) *to++ = *old++;
        const order_row row = *new;
        bool gone = false, goes = false;   /* it left `main` before; a row like it leaves the list now */
        uint32_t was = GONE, comes = GONE; /* the one that came since `main` was made, and the one that comes now */
        for (; old < old_end && row_is_same(old, &row); old++) {
            if (old->row == GONE) gone = true;
            else was = old->row;
        }
        for (; new < new_end &&row_is_same(new, &row); new ++) {
            if (new->row == GONE) goes = true;
            else comes = new->row;
        }
        if (goes && was == GONE) gone = true;
        if (comes == GONE && !goes) comes = was;
        if (gone) *to++ = (order_row){row.key, row.index, GONE};
        if (comes != GONE) *to++ = (order_row){row.key, row.index, comes};
    }
    if (old < old_end) memcpy(to, old, (size_t)(old_end - old) * sizeof *old);
    return (size_t)(to - begin) + (size_t)(old_end - old);
}

/* Makes a new `main`, with the changes. */
static bool changes_fold(row_list *l, memory *m)
{
    size_t room, count = 0;
    row_range all = reef__list_range(l, 0, UINT64_MAX);
    order_row *rows = run_rows_make(m, (size_t)reef__range_count(&all), &room); /* all of them are in memory */
    if (rows == NULL) return false;
    for (const order_row *r = range_next(&all); r; r = range_next(&all)) rows[count++] = *r;
    reef__memory_free(m, MEMORY_OTHER, l->main.rows, l->main.room * sizeof *l->main.rows);
    l->main.rows = rows;
    l->main.count = count;
    l->main.room = room;
    l->changes.count = 0;
    return run_directory_make(&l->main, m);
}

bool reef__list_change(row_list *l, memory *m, const order_row *changes, size_t count)
{
    row_run *c = &l->changes;
    const size_t most = c->count + count;
    if (count == 0) return true;
    if (most + ROWS_BEHIND > l->spare_room) {
        reef__memory_free(m, MEMORY_OTHER, l->spare, l->spare_room * sizeof *l->spare);
        l->spare = run_rows_make(m, most + most / 2, &l->spare_room);
        if (l->spare == NULL) return l->spare_room = 0, false;
    }
    order_row *was = c->rows;
    const size_t merged = changes_merge(l->spare, was, was ? was + c->count : was, changes, changes + count);
    const size_t room = c->room;
    c->rows = l->spare;
    c->room = l->spare_room;
    c->count = merged;
    l->spare = was;
    l->spare_room = room;
    if (merged > l->main.count / CHANGES_SHARE + CHANGES_LEAST && !changes_fold(l, m)) return false;
    return run_directory_make(c, m);
}

/* ---- all of it ---- */

void reef__list_drop(row_list *l, memory *m)
{
    run_drop(&l->main, m);
    run_drop(&l->changes, m);
    reef__memory_free(m, MEMORY_OTHER, l->spare, l->spare_room * sizeof *l->spare);
    memset(l, 0, sizeof *l);
}

bool reef__list_fill(row_list *l, memory *m, order_row *rows, size_t count, size_t room)
{
    reef__list_drop(l, m);
    l->main.rows = rows;
    l->main.count = count;
    l->main.room = room;
    const bool ok = run_directory_make(&l->main, m);
    if (!ok) reef__list_drop(l, m);
    return ok;
}

static bool run_copy(row_run *to, memory *m, const row_run *from)
{
    if (from->rows == NULL) return true;
    to->rows = run_rows_make(m, from->count, &to->room);
    if (to->rows == NULL) return false;
    memcpy(to->rows, from->rows, from->count * sizeof *to->rows);
    to->count = from->count;
    return run_directory_make(to, m);
}

bool reef__list_copy(row_list *to, memory *m, const row_list *from)
{
    memset(to, 0, sizeof *to);
    const bool ok = run_copy(&to->main, m, &from->main) && run_copy(&to->changes, m, &from->changes);
    if (!ok) reef__list_drop(to, m);
    return ok;
}
