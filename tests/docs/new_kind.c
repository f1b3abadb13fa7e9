/* What docs/internals/state.md says that a new kind of state has at once: counters of entities are shared by snapshots
 * and forks, hashed, compared, saved, and written as a difference. tests/docs/new_kind compiles this with a copy of
 * reef that has them. */
#include "reef.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 3000 };

#define CHECK(x) ((x) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #x), exit(1)))

static uint32_t get(const reef_world *w, uint32_t index)
{
    const uint32_t *page = counters_on(w, index / COUNTERS_PER_PAGE);
    return page ? page[index % COUNTERS_PER_PAGE] : 0;
}

static void set(reef_world *w, uint32_t index, uint32_t count)
{
    uint32_t *page = counters_own(w, index / COUNTERS_PER_PAGE);
    CHECK(page);
    page[index % COUNTERS_PER_PAGE] = count;
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

static bool part_count(void *context, const reef_hash_part *part)
{
    *(int *)context += part->kind == REEF_HASH_COUNTERS;
    return true;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; i++) e[i] = reef_create(w);
    const uint64_t without = reef_hash(w);
    const uint64_t bytes = reef_world_stats(w).bytes_index;
    set(w, e[7].index, 3);
    set(w, e[2500].index, 5);
    CHECK(reef_world_stats(w).bytes_index >= bytes + 2 * sizeof(uint32_t) * COUNTERS_PER_PAGE);
    const uint64_t with = reef_hash(w);
    CHECK(with != without);
    int parts = 0;
    CHECK(reef_hash_parts(w, part_count, &parts) == with && parts == 1);

    /* Snapshots and forks. */
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    CHECK(s && fork && reef_equal(w, fork, NULL) && reef_hash(fork) == with);
    CHECK(counters_on(w, 0) == counters_on(fork, 0));
    set(fork, e[7].index, 4);
    CHECK(get(w, e[7].index) == 3 && get(fork, e[7].index) == 4 && reef_hash(w) == with && reef_hash(fork) != with);
    CHECK(counters_on(w, 0) != counters_on(fork, 0) && counters_on(w, 2) == counters_on(fork, 2));

    /* The comparison. */
    reef_difference d;
    char text[200], expected[200];
    CHECK(!reef_equal(w, fork, &d) && d.kind == REEF_HASH_COUNTERS && d.row == e[7].index &&
          reef_entity_equal(d.entity, e[7]));
    (void)reef_difference_text(&d, text, sizeof text);
    (void)snprintf(expected, sizeof expected, "The counter of index %u differs", (unsigned)e[7].index);
    CHECK(strcmp(text, expected) == 0);

    /* Back in time. */
    set(w, e[8].index, 9);
    CHECK(reef_hash(w) != with && reef_restore(w, s) == REEF_OK && reef_hash(w) == with && get(w, e[8].index) == 0);

    /* Files, and a difference as bytes. */
    reef_bytes whole, change;
    CHECK(reef_save_bytes(w, &whole, NULL) == REEF_OK);
    reef_world *other = reef_world_new(NULL);
    CHECK(reef_load_bytes(other, whole.data, whole.size, NULL) == REEF_OK);
    CHECK(reef_equal(w, other, NULL) && reef_hash(other) == with && get(other, e[2500].index) == 5);
    CHECK(reef_diff_bytes(w, fork, &change, NULL) == REEF_OK &&
          reef_diff_apply(other, change.data, change.size) == REEF_OK);
    CHECK(reef_equal(fork, other, NULL) && reef_hash(other) == reef_hash(fork) && get(other, e[7].index) == 4);

    reef_bytes_free(&whole);
    reef_bytes_free(&change);
    reef_snapshot_free(s);
    reef_world_free(fork);
    reef_world_free(other);
    reef_world_free(w);
    return 0;
}
