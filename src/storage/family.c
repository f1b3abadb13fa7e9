#include "storage/family.h"
#include "base/memory.h"
#include "base/platform.h"
#include "storage/archetype.h"
#include "storage/layout.h"
#include "storage/quarantine.h"
#include "reef/type.h"

family *family_make(const reef_allocator *allocator)
{
    memory m;
    if (!memory_make(&m, allocator)) return NULL;
    family *f = m.allocator.resize(m.allocator.context, NULL, 0, sizeof *f, PLAIN_ALIGN);
    if (f == NULL) {
        mutex_drop(&m.lock);
        return NULL;
    }
    memset(f, 0, sizeof *f);
    mutex_drop(&m.lock);
    if (!memory_make(&f->memory, allocator) || !mutex_make(&f->lock)) {
        m.allocator.resize(m.allocator.context, f, sizeof *f, 0, PLAIN_ALIGN);
        return NULL;
    }
    f->memory.bytes = sizeof *f;
    f->graph.shape_count = TABLE_EMPTY;
    quarantine_begin(f);
    return f;
}

void family_free(family *f)
{
    reef_allocator a = f->memory.allocator;
    family_drop(f);
    quarantine_end(f);
    memory_drop(&f->memory);
    mutex_drop(&f->lock);
    a.resize(a.context, f, sizeof *f, 0, PLAIN_ALIGN);
}

void family_join(family *f, bool world)
{
    mutex_lock(&f->lock);
    f->members++;
    f->worlds += world;
    mutex_unlock(&f->lock);
}

void family_leave(family *f, bool world)
{
    mutex_lock(&f->lock);
    f->worlds -= world;
    bool last = --f->members == 0;
    mutex_unlock(&f->lock);
    if (last) family_free(f);
}

/* Handles of what belongs to a world carry its number, so that another world knows them for foreign. */
uint32_t world_number(void)
{
    static mutex lock = MUTEX_INIT;
    static uint32_t last;
    mutex_lock(&lock);
    if (++last == 0) last = 1;
    uint32_t number = last;
    mutex_unlock(&lock);
    return number;
}
