/* Relations beside a naive model. */
#include "relation_scene.h"

static const reef_entity null_entity = {0, 0};

/* ---- a naive model ----
 * Relations in matrices, with the order of sources as a list for each target. */

enum { N = 40 };
typedef struct naive {
    bool alive[N];
    int16_t target[2][N]; /* Under, DockedTo: -1: none */
    bool likes[N][N], holds[N][N];
    int16_t order[N][N]; /* of DockedTo: the sources of each target */
    int16_t count[N];
} naive;

static void naive_leave(naive *m, int i)
{
    const int t = m->target[1][i];
    if (t < 0) return;
    int at = 0;
    while (m->order[t][at] != i) at++;
    memmove(&m->order[t][at], &m->order[t][at + 1], (size_t)(--m->count[t] - at) * sizeof(int16_t));
    m->target[1][i] = -1;
}

static void naive_dock(naive *m, int i, int t, int before)
{
    if (before < 0 && m->target[1][i] == t) return;
    naive_leave(m, i);
    int at = 0;
    while (at < m->count[t] && m->order[t][at] != before) at++;
    memmove(&m->order[t][at + 1], &m->order[t][at], (size_t)(m->count[t]++ - at) * sizeof(int16_t));
    m->order[t][at] = (int16_t)i;
    m->target[1][i] = (int16_t)t;
}

/* False: it is refused. */
static bool naive_destroy(naive *m, int i)
{
    bool doomed[N] = {false};
    doomed[i] = true;
    for (bool more = true; more;) {
        more = false;
        for (int k = 0; k < N; k++)
            if (m->alive[k] && !doomed[k] && m->target[0][k] >= 0 && doomed[m->target[0][k]]) doomed[k] = more = true;
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            if (m->alive[a] && !doomed[a] && doomed[b] && m->holds[a][b]) return false;
    for (int k = 0; k < N; k++)
        if (doomed[k]) naive_leave(m, k);
    for (int k = 0; k < N; k++) {
        if (m->target[1][k] >= 0 && doomed[m->target[1][k]]) naive_leave(m, k);
        if (doomed[k] || (m->target[0][k] >= 0 && doomed[m->target[0][k]])) m->target[0][k] = -1;
        for (int b = 0; b < N; b++)
            if (doomed[k] || doomed[b]) m->likes[k][b] = m->holds[k][b] = false;
    }
    for (int k = 0; k < N; k++)
        if (doomed[k]) m->alive[k] = false;
    return true;
}

static void naive_compare(const naive *m, const reef_world *w, const reef_entity *e)
{
    assert_valid(w);
    for (int i = 0; i < N; i++) {
        assert_int_equal(reef_is_alive(w, e[i]), m->alive[i]);
        if (!m->alive[i]) continue;
        reef_entity list[N];
        for (int k = 0; k < m->count[i]; k++) list[k] = e[m->order[i][k]];
        assert_sources_at(w, e[i], reef_id(DockedTo), list, (uint32_t)m->count[i], __LINE__);
        for (int k = 0; k < N; k++) {
            if (!m->alive[k]) continue;
            assert_int_equal(reef_related(w, e[i], Likes, e[k]), m->likes[i][k]);
            assert_int_equal(reef_related(w, e[i], Holds, e[k]), m->holds[i][k]);
            bool under = false;
            for (int p = m->target[0][i]; p >= 0; p = m->target[0][p]) under |= p == k;
            assert_int_equal(reef_related(w, e[i], Under, e[k]), under);
        }
    }
}

/* One step, in the world and in the model. */
static void naive_step(naive *m, reef_world *w, reef_entity *e, uint64_t *seed)
{
    const int i = (int)random_below(seed, N), t = (int)random_below(seed, N), k = (int)random_below(seed, N);
    if (!m->alive[i]) {
        assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i)));
        m->alive[i] = true;
    }
    if (!m->alive[t]) return;
    switch (random_below(seed, 14)) {
    case 0:
    case 1: {
        bool cycle = false;
        for (int p = t; p >= 0; p = m->target[0][p]) cycle |= p == i;
        const reef_status same = m->target[0][i] == t ? REEF_OK : REEF_ADDED;
        assert_status(cycle ? REEF_CYCLE : same, reef_relate(w, e[i], Under, e[t]));
        if (!cycle) m->target[0][i] = (int16_t)t;
        break;
    }
    case 2:
    case 3:
    case 4:
        assert_status(m->target[1][i] == t ? REEF_OK : REEF_ADDED, reef_relate(w, e[i], DockedTo, e[t]));
        naive_dock(m, i, t, -1);
        break;
    case 5: {
        if (reef_entity_is_null(e[k])) break; /* that means behind all */
        const reef_status there = m->target[1][i] == t ? REEF_OK : REEF_ADDED;
        const bool may = m->alive[k] && k != i && m->target[1][k] == t;
        const reef_status not = m->alive[k] ? REEF_ABSENT : REEF_NOT_ALIVE;
        assert_status(may ? there : not, reef_relate_before(w, e[i], DockedTo, e[t], e[k]));
        if (may) naive_dock(m, i, t, k);
        break;
    }
    case 6: /* behind all */
        (void)reef_relate_before(w, e[i], DockedTo, e[t], null_entity);
        naive_leave(m, i);
        naive_dock(m, i, t, -1);
        break;
    case 7:
        assert_status(m->target[1][i] == t ? REEF_OK : REEF_ABSENT, reef_unrelate(w, e[i], DockedTo, e[t]));
        if (m->target[1][i] == t) naive_leave(m, i);
        break;
    case 8:
    case 9:
        assert_status(m->likes[i][t] ? REEF_OK : REEF_ADDED, reef_relate(w, e[i], Likes, e[t]));
        m->likes[i][t] = true;
        break;
    case 10:
        assert_status(m->likes[i][t] ? REEF_OK : REEF_ABSENT, reef_unrelate(w, e[i], Likes, e[t]));
        m->likes[i][t] = false;
        break;
    case 11:
        if (!m->alive[k] || random_below(seed, 4)) break;
        assert_status(m->likes[i][t] ? m->likes[i][k] || k == t ? REEF_EXISTS : REEF_OK : REEF_ABSENT,
                      reef_retarget(w, e[i], Likes, e[t], e[k]));
        if (m->likes[i][t] && !m->likes[i][k]) m->likes[i][t] = false, m->likes[i][k] = true;
        break;
    case 12:
        if (random_below(seed, 12)) break;
        assert_true(reef_relate(w, e[i], Holds, e[t]) >= 0);
        m->holds[i][t] = true;
        break;
    default: {
        if (random_below(seed, 3)) break;
        const uint64_t hash = reef_hash(w);
        const bool dies = naive_destroy(m, t);
        assert_status(dies ? REEF_OK : REEF_REFUSED, reef_destroy(w, e[t]));
        if (!dies) assert_true(reef_hash(w) == hash);
    }
    }
}

static void a_naive_model_agrees(void **state)
{
    enum { STEPS = 20000 };
    static naive now, then;
    static reef_entity e[N], kept[N];
    reef_world *w = world_of(state), *old = NULL;
    for (uint64_t round = 1; round <= 3; round++) {
        uint64_t seed = round;
        assert_ok(reef_world_clear(w));
        memset(&now, 0, sizeof now);
        for (int i = 0; i < N; i++) now.target[0][i] = now.target[1][i] = -1;
        for (int step = 0; step < STEPS; step++) {
            naive_step(&now, w, e, &seed);
            if (step % 500 == 0) naive_compare(&now, w, e);
            if (step % 1000 == 100) { /* this world and a fork go separate ways */
                reef_world_free(old);
                assert_non_null(old = reef_fork(w));
                then = now;
                memcpy(kept, e, sizeof e);
            }
            if (step % 1000 == 600) {
                for (int i = 0; i < 100; i++) naive_step(&then, old, kept, &seed);
                naive_compare(&then, old, kept);
            }
            if (step % 2000 == 1500) { /* and it goes on as what was saved */
                reef_bytes bytes;
                assert_ok(reef_save_bytes(w, &bytes, NULL));
                assert_ok(reef_load_bytes(w, bytes.data, bytes.size, NULL));
                reef_bytes_free(&bytes);
                naive_compare(&now, w, e);
            }
        }
        naive_compare(&now, w, e);
        reef_world_free(old);
        old = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_naive_model_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
