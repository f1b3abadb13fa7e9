#include "session.h"
#include <reef/random.h>
#include <reef/pool.h>
#include <reef/history.h>
#include <reef/journal.h>
#include <reef/control.h>

#include <inttypes.h>
#include <string.h>

/* ---- files: the journal of the world, and the inputs beside it ---- */

static void path_of(const session *s, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", s->folder, name);
}

/* The inputs are 8 bytes each, without a header: the world knows how many of them it has played. */
static bool load_inputs(session *s)
{
    char path[500];
    unsigned char bytes[8];
    path_of(s, "inputs", path, sizeof path);
    FILE *file = fopen(path, "rb");
    s->inputs_complete = false;
    if (file == NULL) return true;
    uint64_t wanted = reef_tick_count(s->now.world);
    bool memory = true;
    while (memory && s->inputs.count < wanted && fread(bytes, 8, 1, file) == 1) {
        const Input in = {{(int8_t)bytes[0], (int8_t)bytes[1]},
                          {(int8_t)bytes[2], (int8_t)bytes[3]},
                          bytes[4],
                          bytes[5],
                          (uint16_t)(bytes[6] | bytes[7] << 8)};
        memory = replay_add(&s->inputs, in);
    }
    fclose(file);
    s->inputs_complete = s->inputs.count == wanted;
    s->inputs_saved = s->inputs.count;
    return memory;
}

/* Writes the inputs from this one on, over what is there. */
static bool save_inputs(const session *s, uint64_t from)
{
    char path[500];
    path_of(s, "inputs", path, sizeof path);
    FILE *file = fopen(path, from > 0 ? "rb+" : "wb");
    if (file == NULL || fseek(file, (long)(from * 8), SEEK_SET) != 0) return file != NULL && fclose(file) != 0;
    for (uint64_t t = from; t < s->inputs.count; t++) {
        const Input *in = &s->inputs.inputs[t];
        const unsigned char bytes[8] = {(unsigned char)in->move[0],
                                        (unsigned char)in->move[1],
                                        (unsigned char)in->aim[0],
                                        (unsigned char)in->aim[1],
                                        in->keys,
                                        in->pick,
                                        (unsigned char)in->rewound,
                                        (unsigned char)(in->rewound >> 8)};
        fwrite(bytes, 8, 1, file);
    }
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}

/* Opens the journal: it loads what is there into the world. A dive that is over, or a file that can't be read, is
 * replaced. */
static bool open_journal(session *s, bool fresh)
{
    char path[500];
    if (s->folder[0] == '\0') return true;
    path_of(s, "dive.reef", path, sizeof path);
    const reef_journal_desc desc = {.unsynced = true, .fresh = fresh, .compact_bytes = 4000000};
    s->journal = reef_journal_open(s->now.world, path, &desc);
    return s->journal != NULL;
}

bool session_save(session *s)
{
    if (s->journal == NULL) return true;
    if (reef_journal_append(s->journal) < 0 || (s->inputs_complete && !save_inputs(s, s->inputs_saved))) return false;
    s->inputs_saved = s->inputs.count;
    return true;
}

/* ---- beginning and ending ---- */

static bool begin_history(session *s)
{
    s->past = reef_history_new(
        s->now.world, &(reef_history_config){.ticks = REWIND_TICKS, .step = game_step, .input = reef_id(Input)});
    s->rewound = 0;
    s->tick = reef_tick_count(s->now.world);
    return s->past != NULL;
}

static bool begin_fresh(session *s, uint64_t seed)
{
    s->inputs.count = 0;
    s->inputs_saved = 0;
    s->inputs.seed = seed;
    s->inputs_complete = true;
    return game_new(&s->now, seed, s->pool) && open_journal(s, true) && begin_history(s);
}

static bool load(session *s)
{
    char path[500];
    path_of(s, "dive.reef", path, sizeof path);
    FILE *file = s->folder[0] != '\0' ? fopen(path, "rb") : NULL;
    if (file == NULL) return false;
    fclose(file);
    if (game_blank(&s->now, s->pool) && open_journal(s, false) && game_wake(&s->now)) {
        uint32_t stage = reef_single_get(s->now.world, Stage)->now;
        s->inputs.seed = reef_seed(s->now.world);
        if (stage != STAGE_LOST && load_inputs(s)) return true;
    }
    reef_journal_close(s->journal);
    s->journal = NULL;
    game_free(&s->now);
    return false;
}

bool session_begin(session *s, uint64_t seed, reef_pool *pool, const char *folder)
{
    *s = (session){.pool = pool};
    snprintf(s->folder, sizeof s->folder, "%s", folder != NULL ? folder : "");
    return load(s) ? begin_history(s) : begin_fresh(s, seed);
}

bool session_was_loaded(const session *s) { return s->now.world != NULL && reef_tick_count(s->now.world) > 0; }

static void drop_ghost(session *s)
{
    reef_history_free(s->ghost_past);
    s->ghost_past = NULL;
    game_free(&s->ghost);
}

static void drop_now(session *s)
{
    reef_journal_close(s->journal);
    s->journal = NULL;
    reef_history_free(s->past);
    s->past = NULL;
    if (s->leaves != NULL) s->leaves(s->watcher);
    game_free(&s->now);
}

bool session_again(session *s, uint64_t seed)
{
    drop_ghost(s);
    drop_now(s);
    replay last = s->inputs;
    s->inputs = s->ghost_inputs; /* its memory is used again */
    s->ghost_inputs = last;
    bool haunted = s->inputs_complete && last.count > 0 && last.seed == seed;
    if (!begin_fresh(s, seed)) return false;
    if (!haunted) return true;
    s->ghost_past = NULL;
    if (!game_fork(&s->ghost, &s->now)) return false;
    s->ghost_past = reef_history_new(s->ghost.world, &(reef_history_config){.ticks = REWIND_TICKS, .step = game_step});
    return s->ghost_past != NULL;
}

void session_end(session *s)
{
    drop_ghost(s);
    drop_now(s);
    replay_free(&s->inputs);
    replay_free(&s->ghost_inputs);
}

/* ---- playing ---- */

/* Was the world set to another tick, as the inspector does? Then its past begins there, and what was played since is
 * forgotten. */
static bool past_follow(session *s)
{
    const uint64_t tick = reef_tick_count(s->now.world), back = s->tick - tick;
    if (tick == s->tick) return true;
    if (tick > s->tick || back > s->inputs.count) s->inputs_complete = false;
    s->inputs.count -= tick > s->tick ? 0 : back < s->inputs.count ? back : s->inputs.count;
    if (s->inputs_saved > s->inputs.count) s->inputs_saved = s->inputs.count;
    drop_ghost(s);
    reef_history_free(s->past);
    return begin_history(s);
}

bool session_tick(session *s, Input in)
{
    if (reef_is_paused(s->now.world)) return true;
    if (!past_follow(s)) return false;
    in.rewound = (uint16_t)(in.rewound + s->rewound);
    s->rewound = 0;
    uint64_t tick = s->inputs.count;
    if (!replay_add(&s->inputs, in) || reef_history_step(s->past, &in, sizeof in) < 0) return false;
    if (s->ghost_past != NULL && tick < s->ghost_inputs.count &&
        reef_history_step(s->ghost_past, &s->ghost_inputs.inputs[tick], sizeof in) < 0)
        return false;
    s->tick = reef_tick_count(s->now.world);
    if (s->ticked != NULL) s->ticked(s->watcher);
    return s->tick % TICKS_PER_SECOND != 0 || session_save(s);
}

uint32_t session_rewind(session *s, uint32_t ticks)
{
    if (reef_is_paused(s->now.world) || !past_follow(s)) return 0;
    reef_history_range range = reef_history_reach(s->past);
    if (ticks > range.tick - range.first) ticks = (uint32_t)(range.tick - range.first);
    /* What was paid for in these ticks is owed again: the payment is turned back too. */
    uint64_t owed = s->rewound + ticks;
    for (uint64_t t = s->inputs.count - ticks; t < s->inputs.count; t++) owed += s->inputs.inputs[t].rewound;
    if (ticks == 0 || owed > OWED_MAX || reef_history_rewind(s->past, range.tick - ticks) < 0) return 0;
    s->inputs.count -= ticks;
    s->rewound = (uint32_t)owed;
    s->tick = reef_tick_count(s->now.world);
    if (s->inputs_saved > s->inputs.count) s->inputs_saved = s->inputs.count;
    if (s->ghost_past != NULL) { /* the ghost goes back to the same moment, if it is that far */
        reef_history_range ghost = reef_history_reach(s->ghost_past);
        uint64_t tick = s->inputs.count < ghost.tick ? s->inputs.count : ghost.tick;
        if (tick >= ghost.first) reef_history_rewind(s->ghost_past, tick);
    }
    return ticks;
}

/* ---- photo mode ---- */

bool photo_take(photo *p, session *s, Input in)
{
    const Lamp *lamp = reef_single_get(s->now.world, Lamp);
    *p = (photo){0};
    for (int side = 0; side < 2; side++) {
        vec way = vec_side((vec){lamp->dx, lamp->dy});
        if (side == 0) way = vec_scale(way, -1.0f);
        p->in[side] = in;
        p->in[side].move[0] = (int8_t)(way.x * 100.0f), p->in[side].move[1] = (int8_t)(way.y * 100.0f);
        p->in[side].aim[0] = p->in[side].move[0], p->in[side].aim[1] = p->in[side].move[1];
        p->in[side].keys = 0, p->in[side].pick = 0;
        if (!game_fork(&p->future[side], &s->now)) return false;
    }
    return true;
}

bool photo_tick(photo *p, session *s)
{
    if (p->ticks == PHOTO_TICKS) {
        const Input in[2] = {p->in[0], p->in[1]};
        photo_end(p);
        for (int side = 0; side < 2; side++) {
            p->in[side] = in[side];
            if (!game_fork(&p->future[side], &s->now)) return false;
        }
        p->ticks = 0;
    }
    p->ticks++;
    return game_tick(&p->future[0], &p->in[0]) >= 0 && game_tick(&p->future[1], &p->in[1]) >= 0;
}

void photo_end(photo *p)
{
    game_free(&p->future[0]);
    game_free(&p->future[1]);
}
