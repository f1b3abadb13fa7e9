/* Making and freeing a family, and counting its members: worlds and snapshots. The last member frees it. */
#include "storage/archetype.h"
#include "storage/quarantine.h"
#include <stdio.h>
#include <stdlib.h>

family *reef__family_make(const reef_allocator *allocator)
{
    const reef_allocator *a = allocator->resize ? allocator : &reef__memory_standard;
    family *f = a->resize(a->context, NULL, 0, sizeof *f, PLAIN_ALIGN);
    if (f == NULL) return NULL;
    memset(f, 0, sizeof *f);
    if (!reef__memory_make(&f->memory, a) || !mutex_make(&f->lock)) {
        a->resize(a->context, f, sizeof *f, 0, PLAIN_ALIGN);
        return NULL;
    }
    f->memory.bytes = sizeof *f;
    reef__graph_begin(f);
    reef__quarantine_begin(f);
    return f;
}

void reef__family_free(family *f)
{
    reef_allocator a = f->memory.allocator;
    reef__family_drop(f);
    reef__quarantine_end(f);
    reef__memory_drop(&f->memory);
    mutex_drop(&f->lock);
    a.resize(a.context, f, sizeof *f, 0, PLAIN_ALIGN);
}

/* ---- all worlds and snapshots ---- */

static struct {
    mutex lock;
    family_member *first;
    uint64_t worlds; /* how many of them are worlds */
} all_members = {.lock = MUTEX_INIT};

/* The checked build says at the end of the program which worlds were never freed. */
#if defined(REEF_CHECKED)
static void worlds_at_exit(void)
{
    if (all_members.worlds > 0)
        fprintf(stderr, "reef: %llu world%s made and never freed (reef_world_free)\n",
                (unsigned long long)all_members.worlds, all_members.worlds == 1 ? " was" : "s were");
}
#endif

void reef__member_join(family_member *m, const state *s, reef_world *w)
{
    *m = (family_member){.state = s, .world = w};
    mutex_lock(&all_members.lock);
    m->next = all_members.first;
    if (m->next) m->next->previous = m;
    all_members.first = m;
    all_members.worlds += w != NULL;
#if defined(REEF_CHECKED)
    static bool asked;
    if (!asked) asked = atexit(worlds_at_exit) == 0;
#endif
    mutex_unlock(&all_members.lock);
}

void reef__member_leave(family_member *m)
{
    mutex_lock(&all_members.lock);
    if (m->previous) m->previous->next = m->next;
    else all_members.first = m->next;
    if (m->next) m->next->previous = m->previous;
    all_members.worlds -= m->world != NULL;
    mutex_unlock(&all_members.lock);
}

COLD uint32_t reef__members_knowing(const reef_world *but, const uint32_t *types, uint32_t count, family_member **list,
                                    uint32_t room)
{
    uint32_t n = 0;
    mutex_lock(&all_members.lock);
    for (family_member *m = all_members.first; m; m = m->next) {
        bool knows = false;
        for (uint32_t i = 0; i < count; i++)
            knows |= types[i] / 64 < m->state->used_words && (m->state->used_types[types[i] / 64] >> types[i] % 64 & 1);
        if (!knows || m->world == but) continue;
        if (n < room) list[n] = m;
        n++;
    }
    mutex_unlock(&all_members.lock);
    return n;
}

/* ---- members of a family ---- */

void reef__family_add(family *f, bool world)
{
    mutex_lock(&f->lock);
    f->members++;
    f->worlds += world;
    mutex_unlock(&f->lock);
}

void reef__family_leave(family *f, bool world)
{
    mutex_lock(&f->lock);
    f->worlds -= world;
    bool last = --f->members == 0;
    mutex_unlock(&f->lock);
    if (last) reef__family_free(f);
}

/* A handle of something that belongs to a world carries the number of the world, so that other worlds refuse it. */
uint32_t reef__world_number(void)
{
    static mutex lock = MUTEX_INIT;
    static uint32_t last;
    mutex_lock(&lock);
    if (++last == 0) last = 1;
    uint32_t number = last;
    mutex_unlock(&lock);
    return number;
}

bool reef__list_room(reef_world *w, void *list, uint64_t count, uint64_t *room, uint64_t more, size_t size)
{
    void *p;
    if (count + more <= *room) return true;
    const uint64_t now = *room * 2 > count + more ? *room * 2 : count + more;
    if (now > SIZE_MAX / size) return false;
    memcpy(&p, list, sizeof p);
    p = reef__memory_resize(&w->family->memory, MEMORY_OTHER, p, (size_t)*room * size, (size_t)now * size, PLAIN_ALIGN);
    if (p == NULL) return false;
    memcpy(list, &p, sizeof p);
    *room = now;
    return true;
}
