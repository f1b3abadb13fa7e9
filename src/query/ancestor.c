/* Terms about ancestors, such as Team up(ChildOf): the nearest entity above a row that has the component.
 *
 * Mostly the way up is short, and each row walks it. Along a chain that would take time in the square of its length. So
 * each loop and question first walks up from a few of its rows. If it would take too long from all of them, the answer
 * for each entity on the ways is found once, and kept until the loop ends:
 *
 *   a ◄── b ◄── c ◄── d     only a has the component
 *         a     a     a     above[]: c takes the answer of b, d that of c
 *
 * (Without it, counting "!Hidden self up(ChildOf)" over a chain of 40,000 entities took 4 seconds.) Threads only read
 * the answers. Where there is no memory for them, the ways are walked. */
#include "storage/relation_index.h"
#include "query/chunk_cursor.h"
#include "query/query.h"
#include "query/relation_path.h"
#include "query/relation_plan.h"

enum {
    TRIED_ROWS = 64,   /* one row in as many is tried, and at most as many */
    TRIED_STEPS = 1024 /* a way isn't followed further */
};

/* Nothing above has the component. (No entity has the generation 0.) */
static const reef_entity ANCESTOR_NONE = {1, 0};

static bool answer_is_known(reef_entity answer) { return (answer.index | answer.generation) != 0; }

/* Without a limit of steps the answer is the same for all whose way leads over an entity. Values may be written while
 * a loop is open, so answers that depend on them aren't kept. */
static bool may_be_kept(const query *q, uint32_t i)
{
    return q->terms[i].op < REEF_ANY_OF && q->facts[i].up && q->terms[i].up_most == 0 && (!q->facts[i].values);
}

bool reef__ancestors_make(query *q)
{
    target_plan *p = q->plan;
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->term_count; i++) n += may_be_kept(q, i);
    if (n == 0) return true;
    p->ancestors = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, n * sizeof *p->ancestors);
    if (p->ancestors == NULL) return false;
    for (uint32_t i = 0; i < q->term_count; i++)
        if (may_be_kept(q, i)) p->ancestors[p->ancestor_count++].term = i;
    return true;
}

void reef__ancestors_drop(query *q)
{
    target_plan *p = q->plan;
    memory *m = &q->world->family->memory;
    for (uint32_t n = 0; n < p->ancestor_count; n++)
        reef__memory_free(m, MEMORY_OTHER, p->ancestors[n].above, p->ancestors[n].room * sizeof(reef_entity));
    reef__memory_free(m, MEMORY_OTHER, p->ancestors, p->ancestor_count * sizeof *p->ancestors);
    p->ancestors = NULL;
    p->ancestor_count = 0;
}

/* ---- are the ways long? ---- */

/* How many steps it takes from an entity to the nearest one with the component, or to the end. */
static uint32_t way_steps(const query *q, uint32_t i, const relation_path *p, reef_entity e)
{
    for (uint32_t steps = 0;; steps++) {
        const relation_value *v = path_next(p, e);
        if (v == NULL || steps == TRIED_STEPS || reef__component_holds(q, i, v->target)) return steps;
        e = v->target;
    }
}

/* Would walking the ways of all rows take longer than keeping the answers? (An answer takes about 8 steps, and a step
 * as long as clearing 8 answers.) */
static bool ways_are_long(const query *q, uint32_t i)
{
    const relation_path p = path_by(q->world, q->terms[i].up.id);
    const uint64_t rows = query_rows(q), most = rows / TRIED_ROWS;
    const uint64_t apart = most > TRIED_ROWS ? most : TRIED_ROWS;
    uint64_t steps = 0, tried = 0, before = 0;
    if (most == 0 || p.s->count == 0) return false;
    for (chunk_cursor c = {.q = q}; chunk_next(&c); before += c.rows)
        for (uint64_t next = (tried + 1) * apart - 1; next < before + c.rows; next += apart, tried++)
            steps += way_steps(q, i, &p, slot_entities(c.slots)[next - before]);
    return steps * apart > 8 * rows + q->world->hot.index_count / 8;
}

/* ---- the answers ---- */

/* Finds the answer of an entity, and keeps it for all on its way. */
static void answer_find(const query *q, uint32_t i, const relation_path *p, reef_entity e, reef_entity *above)
{
    reef_entity answer = ANCESTOR_NONE, at = e;
    uint32_t steps = 0;
    for (;; steps++) {
        if (answer_is_known(above[at.index])) {
            answer = above[at.index];
            break;
        }
        const relation_value *v = path_next(p, at);
        if (v == NULL) break;
        if (reef__component_holds(q, i, v->target)) {
            answer = v->target;
            steps++;
            break;
        }
        at = v->target;
    }
    for (at = e; steps > 0; steps--, at = ((const relation_value *)reef_store_find(p->s, at))->target)
        above[at.index] = answer;
}

void reef__ancestors_look(query *q)
{
    target_plan *p = q->plan;
    reef_world *w = q->world;
    for (uint32_t n = 0; n < p->ancestor_count; n++) {
        ancestor_map *x = &p->ancestors[n];
        x->used = !p->one && ways_are_long(q, x->term) &&
                  reef__array_room(&w->family->memory, MEMORY_OTHER, &x->above, &x->room, w->hot.index_count,
                                   sizeof *x->above);
        if (!x->used) continue;
        const relation_path by = path_by(w, q->terms[x->term].up.id);
        memset(x->above, 0, w->hot.index_count * sizeof *x->above);
        for (chunk_cursor c = {.q = q}; chunk_next(&c);)
            for (uint32_t row = 0; row < c.rows; row++)
                answer_find(q, x->term, &by, slot_entities(c.slots)[row], x->above);
    }
}

static const ancestor_map *answers_of(const query *q, uint32_t i)
{
    const target_plan *p = q->plan;
    for (uint32_t n = 0; n < p->ancestor_count; n++)
        if (p->ancestors[n].term == i) return p->ancestors[n].used ? &p->ancestors[n] : NULL;
    return NULL;
}

bool reef__ancestors_kept(const query *q, uint32_t i) { return answers_of(q, i) != NULL; }

bool reef__ancestor_find(const query *q, uint32_t i, reef_entity e, reef_entity *found)
{
    const reef_term *t = &q->terms[i];
    const relation_path p = path_by(q->world, t->up.id);
    const ancestor_map *x = answers_of(q, i);
    *found = e;
    if (t->self && reef__component_holds(q, i, e)) return true;
    if (x && e.index < x->room && answer_is_known(x->above[e.index])) {
        *found = x->above[e.index];
        return found->generation != 0;
    }
    for (uint32_t steps = 0; t->up_most == 0 || steps < t->up_most; steps++) {
        const relation_value *v = path_next(&p, *found);
        if (v == NULL) return false;
        *found = v->target;
        if (reef__component_holds(q, i, *found)) return true;
    }
    return false;
}
