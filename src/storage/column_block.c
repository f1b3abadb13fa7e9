/* The blocks of columns: memory for some rows of one column, and the values in it. */
#include "storage/column_block.h"
#include "type/value.h"

void *reef__block_take(family *f, const column *c, uint32_t rows)
{
    size_t bytes;
    if (!reef__size_multiply(c->size, rows, 0, &bytes)) return NULL; /* only fails with 32 bits: 4 MiB * 1,024 */
    return reef__memory_block(&f->memory, MEMORY_ROWS, c->arena, bytes, c->align);
}

void reef__block_give(family *f, const column *c, void *block, uint32_t rows)
{
    reef__memory_block_free(&f->memory, MEMORY_ROWS, c->arena, block, (size_t)c->size * rows, c->align);
}

void reef__block_destroy_values(const column *c, void *block, uint32_t rows)
{
    if (c->type == NULL || c->type->hooks.destroy == NULL) return;
    for (uint32_t i = 0; i < rows; i++) value_destroy(c->type, (char *)block + (size_t)i * c->size);
}

bool reef__block_construct(reef_world *w, const column *c, void *to, const reef_entity *e, uint32_t rows)
{
    const reef_hooks *h = &c->type->hooks;
    memset(to, 0, (size_t)rows * c->size);
    for (uint32_t i = 0; h->construct && i < rows; i++) {
        if (h->construct(h->context, w, e[i], (char *)to + (size_t)i * c->size, NULL) == REEF_OK) continue;
        w->hook_failed.id = c->type->id;
        reef__block_destroy_values(c, to, i);
        return false;
    }
    return true;
}

bool reef__block_copy(reef_world *w, const column *c, void *to, const void *from, const reef_entity *e, uint32_t rows)
{
    /* a copy for another holder gets default values */
    if (c->type && c->type->resets) return reef__block_construct(w, c, to, e, rows);
    if (c->type == NULL || c->type->hooks.copy == NULL) {
        memcpy(to, from, (size_t)rows * c->size);
        return true;
    }
    for (uint32_t i = 0; i < rows; i++) {
        size_t at = (size_t)i * c->size;
        if (reef__value_copy(c->type, (char *)to + at, (const char *)from + at) != REEF_OK) {
            w->hook_failed.id = c->type->id;
            reef__block_destroy_values(c, to, i);
            return false;
        }
    }
    return true;
}

void reef__block_move(const column *c, char *to, char *from, uint32_t rows, uint32_t raw)
{
    if (c->type == NULL || c->type->plain_move) {
        memcpy(to, from, (size_t)rows * c->size);
        return;
    }
    for (uint32_t i = 0; i < rows; i++)
        if (i != raw) reef__value_move(c->type, to + (size_t)i * c->size, from + (size_t)i * c->size);
}
