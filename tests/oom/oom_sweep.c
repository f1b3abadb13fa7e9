/* One scenario of an allocation sweep: its call with the n-th allocation failing, and what must hold then. */
#include "oom_sweep.h"

heap sweep_heap;
sweep now;
uint32_t failures;
static char damage[300]; /* what the validator says */

static const char *damaged(const reef_world *w)
{
    return reef_validate(w, damage, sizeof damage) == REEF_OK ? NULL : damage;
}

void sweep_begin(const trial *t, bool shared)
{
    memset(&sweep_heap, 0, sizeof sweep_heap);
    memset(&now, 0, sizeof now);
    ledger_reset();
    now.trial = t;
    reef_world_config config = {.allocator = heap_allocator(&sweep_heap)};
    now.w = reef_world_new(&config);
    assert_non_null(now.w);
    if (t->scene.prepare) t->scene.prepare(&now);
    if (shared) {
        now.fork = reef_fork(now.w);
        assert_non_null(now.fork);
        now.fork_digest = digest(now.fork);
        now.fork_hash = reef_hash(now.fork);
    }
    if (t->ready) t->ready(&now);
    if (t->hooks) book.heap = &sweep_heap;
}

static void outcome_look(outcome *o)
{
    o->digest = digest(now.w);
    o->hash = reef_hash(now.w);
    o->seen = now.seen;
    if (now.other) o->other_digest = digest(now.other), o->other_hash = reef_hash(now.other);
}

static const char *others_changed(const outcome *before)
{
    if (now.fork && (digest(now.fork) != now.fork_digest || reef_hash(now.fork) != now.fork_hash))
        return "the fork is another one";
    if (now.fork && damaged(now.fork)) return damage;
    if (now.other && (digest(now.other) != before->other_digest || reef_hash(now.other) != before->other_hash))
        return "the other world is another one";
    return now.other ? damaged(now.other) : NULL;
}

const char *sweep_leaks(void)
{
    heap_fail_never(&sweep_heap);
    book.heap = NULL;
    if (now.trial->end) now.trial->end(&now);
    if (now.own.ticket && now.own.ticket <= book.tickets && book.where[now.own.ticket] == &now.own)
        unique_drop(&now.own);
    reef_snapshot_free(now.snapshot);
    if (now.loop.loop.open) reef_end(&now.loop); /* a world with an open loop isn't freed */
    reef_world_free(now.w);
    reef_world_free(now.other);
    reef_world_free(now.child);
    reef_world_free(now.fork);
    reef_snapshot_free(now.further);
    if (sweep_heap.blocks || sweep_heap.bytes) return "memory leaks";
    if (book.live) return "values leak";
    return book.mistake ? book.mistake : sweep_heap.mistake;
}

static bool called(void)
{
    const bool works = now.trial->scene.call(&now);
    if (works && !sweep_heap.fail_at && now.trial->told) now.trial->told(&now);
    return works;
}

/* A world without forks; a world with a fork must come to the same state. */
wanted sweep_undisturbed(const trial *t)
{
    wanted w = {{0}, {0}};
    sweep_begin(t, false);
    outcome_look(&w.before); /* in a separate world, since hashing needs memory that the call should allocate itself */
    const char *wrong = sweep_leaks();
    sweep_begin(t, false);
    const bool works = called();
    if (!works)
        wrong = reef_last_error(now.w).detail[0] ? reef_last_error(now.w).detail : "it doesn't work even with memory";
    if (!works) fail_msg("%s%s: %s", t->scene.name, t->with ? t->with : "", wrong);
    outcome_look(&w.after);
    if (!wrong) wrong = others_changed(&w.before);
    const char *leak = sweep_leaks();
    if (!wrong) wrong = leak;
    if (wrong) fail_msg("%s%s: %s", t->scene.name, t->with ? t->with : "", wrong);
    return w;
}

static const char *not_as_wanted(const outcome *after)
{
    if (digest(now.w) != after->digest || reef_hash(now.w) != after->hash) return "the world is another one";
    if (now.child && (damaged(now.child) || digest(now.child) != after->digest || reef_hash(now.child) != after->hash))
        return "its fork is another one";
    return now.seen == after->seen ? NULL : "what it found is something else";
}

/* A call in several steps may have done some of them before it failed. */
static const char *fail_and_retry(const wanted *w)
{
    const bool steps = now.trial->steps;
    heap_fail_never(&sweep_heap);
    if (reef_last_error(now.w).status != REEF_NO_MEMORY) return reef_status_name(reef_last_error(now.w).status);
    if (reef_last_error(now.w).operation[0] == 0) return "the error record has no operation";
    if (damaged(now.w)) return damage;
    if (!steps && digest(now.w) != w->before.digest) return "the world is another one";
    if (!steps && reef_hash(now.w) != w->before.hash) return "the world's hash is another one";
    const char *wrong = others_changed(&w->before);
    if (wrong) return wrong;
    if (!called()) return "the call fails also with memory";
    return not_as_wanted(&w->after) ? "after the retry the world isn't as without the failure" : NULL;
}

bool sweep_run(const trial *t, bool shared, uint64_t n, bool rest, const wanted *w)
{
    sweep_begin(t, shared);
    const char *wrong = NULL;
    heap_fail_nth(&sweep_heap, n, rest);
    const bool works = called(), failed = sweep_heap.refused != 0;
    heap_fail_never(&sweep_heap);
    if (!works) wrong = failed ? fail_and_retry(w) : "it failed without a reason";
    else if (t->told) t->told(&now);
    if (works && not_as_wanted(&w->after)) wrong = "it says that it worked, but the outcome is another one";
    if (!wrong) wrong = damaged(now.w);
    if (!wrong) wrong = others_changed(&w->before);
    const char *leak = sweep_leaks();
    if (!wrong) wrong = leak;
    if (wrong)
        print_error("%s%s%s, allocation %u%s: %s\n", t->scene.name, t->with ? t->with : "", shared ? ", forked" : "",
                    (unsigned)n, rest ? " and later ones" : "", wrong);
    if (wrong) failures++;
    return failed && !wrong;
}
