/* Playing one future or two, and recording them. */
#include "look.h"
#include "report.h"
#include "save.h"
#include "stop.h"

/* ---- one future ---- */

/* Takes the samples and maps that are due. */
static bool record_tick(future *f, const options *o)
{
    ecosystem *e = &f->e;
    uint32_t tick = ecosystem_ticks(e);
    bool due = tick % SAMPLE_TICKS == 0 || tick == o->ticks / 2 || tick == o->ticks;
    if (due && !record_sample(e)) return false;
    if (tick == o->ticks / 2 && !record_map(e, HALF_WAY)) return false;
    return tick != o->ticks || record_map(e, AT_END);
}

bool future_new(future *f, const species_table *table, const options *o, reef_pool *pool)
{
    f->removed = SPECIES_MAX;
    if (!ecosystem_new(&f->e, table, o->size, o->seed, pool)) return false;
    bool good = record_tick(f, o) && record_map(&f->e, AT_START);
    return good || ecosystem_refused(&f->e, "recording");
}

void future_free(future *f)
{
    record_free(&f->taken);
    ecosystem_free(&f->e);
}

static bool play_tick(future *f, const options *o)
{
    if (stop_wanted()) {
        snprintf(f->e.error, sizeof f->e.error, "stopped at tick %u; no table and no picture were written%s%s",
                 (unsigned)ecosystem_ticks(&f->e), o->save ? ". To go on: --resume " : "", o->save ? o->save : "");
        return false;
    }
    if (ecosystem_ticks(&f->e) + 1 == o->leak_tick && !ecosystem_leak(&f->e)) return false;
    if (!ecosystem_tick(&f->e)) return false;
    look_tick(&f->e);
    return record_tick(f, o) || ecosystem_refused(&f->e, "recording");
}

bool future_play(future *f, const options *o, uint32_t until, report *screen)
{
    while (ecosystem_ticks(&f->e) < until) {
        if (!play_tick(f, o) || !save_due(f, o)) return false;
        report_tick(screen, &f->e);
    }
    return true;
}

/* ---- two ---- */

bool future_fork(future *without, future *with, uint32_t removed, report *screen)
{
    report_fork_begin(screen, &with->e);
    bool forked = ecosystem_fork(&without->e, &with->e);
    report_fork_end(screen, &with->e, removed);
    without->removed = removed;
    if (!forked || !ecosystem_remove(&without->e, removed)) return false;
    return record_sample(&without->e) || ecosystem_refused(&without->e, "recording");
}

bool future_play_both(future *with, future *without, const options *o, report *screen)
{
    bool good = true;
    while (good && (ecosystem_ticks(&with->e) < o->ticks || ecosystem_ticks(&without->e) < o->ticks)) {
        const int32_t ahead = (int32_t)(ecosystem_ticks(&with->e) - ecosystem_ticks(&without->e));
        if (ahead <= 0) good = play_tick(with, o);
        if (ahead >= 0) good = play_tick(without, o) && good;
        /* The fork first: if `with` was saved after the fork, `without` must have been saved as well. */
        good = good && (ahead < 0 || save_due(without, o)) && (ahead > 0 || save_due(with, o));
        report_tick(screen, &with->e);
    }
    return good;
}

bool future_take(future *f, const options *o)
{
    f->taken.removed = f->removed;
    return record_take(&f->taken, &f->e, f->removed == SPECIES_MAX ? 0 : o->ticks / 2) ||
           ecosystem_refused(&f->e, "gathering what was recorded");
}
