#include "storage/state.h"
#include "storage/world_data.h"
#include "inside.h"
#include "storage/table.h"

uint64_t hash_anew(reef_world *w)
{
    state *s = &w->state;
    paged_owner o = reef__owner_of(w->family, &reef__pages_hashes);
    reef__paged_drop(&s->chunk_hashes, &o);
    reef__paged_drop(&s->record_hashes, &o);
    reef__paged_drop(&s->ring_hashes, &o);
    reef__paged_drop(&s->name_hashes, &o);
    for (uint32_t i = 0; i < s->bit_count; i++) reef__paged_drop(&s->bits[i].hashes, &o);
    for (uint32_t i = 1; i < s->store_count; i++) reef__paged_drop(&s->stores[i].hashes, &o);
    w->hashed = 0;
    return reef_hash(w);
}

static const char *told_of;
static void library_tell(const reef_world *w, const char *function)
{
    (void)w;
    told_of = function;
}
static const reef_library other_library = {library_tell};
void library_pretend(reef_world *w, bool other) { w->hot.library = other ? &other_library : &reef__library; }

const char *library_told(void)
{
    const char *function = told_of;
    told_of = NULL;
    return function;
}

void error_forget(reef_world *w) { w->error = (reef_error){.operation = ""}; }

uint32_t family_tables(const reef_world *w) { return w->family->graph.shape_count; }
