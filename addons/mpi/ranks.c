/* A world over ranks: making it, filling it, ticking it, balancing it. */
#include "ranks.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- making ---- */

static bool refuse(char *reason, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (reason && reason[0] == 0) vsnprintf(reason, REEF_DETAIL_MAX, format, list);
    va_end(list);
    return false;
}

/* Are the cells that `near` names for cell c right? near, back: each has room for a list. */
static bool near_cell_is_right(const reef_ranks_config *x, uint32_t c, uint32_t *near, uint32_t *back, char *reason)
{
    const uint32_t n = x->near(c, near, x->context);
    if (n > REEF_RANKS_NEAR_MAX)
        return refuse(reason, "%u cells are near cell %u, and at most %d can be", n, c, REEF_RANKS_NEAR_MAX);
    for (uint32_t i = 0; i < n; i++) {
        bool both = false;
        if (near[i] >= x->cells || near[i] == c) return refuse(reason, "cell %u can't be near cell %u", near[i], c);
        const uint32_t m = x->near(near[i], back, x->context);
        for (uint32_t k = 0; k < m && k < REEF_RANKS_NEAR_MAX; k++) both |= back[k] == c;
        if (!both) return refuse(reason, "cell %u is near cell %u, but not the other way round", near[i], c);
    }
    return true;
}

/* Each rank looks at some of the cells. */
static bool near_is_right(const reef_ranks *r, char *reason)
{
    const reef_ranks_config *x = &r->config;
    uint32_t *near = ranks__near_room(r), *back = ranks__near_room(r);
    bool ok = near && back;
    for (uint32_t c = (uint32_t)r->rank; ok && x->near && c < x->cells; c += (uint32_t)r->size)
        ok = near_cell_is_right(x, c, near, back, reason);
    free(near);
    free(back);
    return ok;
}

static bool config_is_right(const reef_ranks_config *x, char *reason)
{
    if (x->cells == 0 || x->cells > REEF_RANKS_CELLS_MAX) return refuse(reason, "there are %u cells", x->cells);
    if (x->placed == NULL || x->cell_of == NULL) return refuse(reason, "`placed` or `cell_of` is missing");
    if (x->ghost_count > REEF_RANKS_GHOSTS_MAX || (x->ghost_count && x->ghosts == NULL))
        return refuse(reason, "there are %u ghosts' components", x->ghost_count);
    if (x->message_count > REEF_RANKS_MESSAGES_MAX || (x->message_count && x->messages == NULL))
        return refuse(reason, "there are %u kinds of messages", x->message_count);
    if (!(x->reach >= 0)) return refuse(reason, "`reach` is negative");
    return true;
}

static bool query_make(reef_ranks *r, char *reason)
{
    char text[1024];
    if (snprintf(text, sizeof text, "%s, in ReefCell, !ReefGhost, either *", r->config.placed) >= (int)sizeof text)
        return refuse(reason, "the text of `placed` is too long");
    r->placed = reef_query_make(r->world, &(reef_query_desc){.text = text, .own = true});
    r->enabled = reef_query_make(r->world, &(reef_query_desc){.text = "with ReefCell, !ReefGhost", .own = true});
    if (!reef_query_is_null(r->placed) && !reef_query_is_null(r->enabled)) return true;
    return refuse(reason, "`placed`: %s", reef_status_text(reef_last_error(r->world).status));
}

static const char *touch_refused(const reef_ranks *r, reef_touch t)
{
    switch (t.kind) {
    case REEF_READS:
    case REEF_PLACED:
    case REEF_SUMS: return NULL;
    case REEF_WRITES: break;
    default: return "changes more than values";
    }
    for (uint32_t i = 0; i < r->config.ghost_count; i++)
        if (r->config.ghosts[i].id == t.type.id) return "writes a component of ghosts";
    return NULL;
}

typedef struct looking {
    const reef_ranks *r;
    char *reason;
} looking;

/* Ghosts are under way or have arrived when these phases run, so what they show mustn't change. */
static bool system_look(void *context, const reef_system_info *s)
{
    const looking *x = context;
    if (strcmp(s->phase, "inner") != 0 && strcmp(s->phase, "border") != 0) return true;
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const char *why = touch_refused(x->r, s->touches[i]), *name = reef_type_name(s->touches[i].type);
        if (why) return refuse(x->reason, "system %s, in phase %s, %s: %s", s->name, s->phase, why, name ? name : "");
    }
    return true;
}

static bool phases_are_right(reef_ranks *r, char *reason)
{
    looking x = {r, reason};
    return !r->config.overlap || reef_visit_systems(r->world, system_look, &x);
}

/* What must be the same on all ranks. */
static bool same_everywhere(reef_ranks *r, char *reason)
{
    const reef_stats s = reef_world_stats(r->world);
    uint64_t reach;
    memcpy(&reach, &r->config.reach, sizeof reach);
    uint64_t x[] = {r->config.cells,
                    s.entities,
                    s.indices,
                    reef_seed(r->world),
                    reef_tick_count(r->world),
                    r->config.ghost_count,
                    r->config.message_count,
                    reach,
                    reef_hash(r->world)};
    enum { N = sizeof x / sizeof x[0] };
    uint64_t both[2 * N];
    for (int i = 0; i < N; i++) {
        both[i] = x[i];
        both[N + i] = ~x[i];
    }
    ranks__reduce(r, both, 2 * N, MPI_UINT64_T, MPI_MAX);
    for (int i = 0; i < N; i++)
        if (both[i] != ~both[N + i]) return refuse(reason, "the worlds or configs of two ranks differ");
    return true;
}

static bool ghosts_are_right(reef_ranks *r, char *reason)
{
    uint32_t number;
    const char *why = ranks__ghost_types(r, &number);
    if (why == NULL) return true;
    const char *name = reef_type_name(r->config.ghosts[number]);
    return refuse(reason, "ghosts can't have component %u (%s): %s", number, name ? name : "none", why);
}

static const char *why_refused(const reef_ranks *r, reef_entity e, reef_component c)
{
    const reef_ranks_place where = reef_ranks_where(r, e);
    if (where == REEF_RANKS_REMOTE) return "it isn't near";
    if (where != REEF_RANKS_GHOST || c.id == reef_id(ReefCell).id) return NULL;
    if (r->inner_only) return "ghosts are under way";
    for (uint32_t i = 0; i < r->config.ghost_count; i++)
        if (r->config.ghosts[i].id == c.id) return NULL;
    return "ghosts don't have it";
}

/* In the checked build: is asked about each value that a system reads by its handle. */
static const char *read_refused(const reef_world *w, reef_entity e, reef_component c, void *context)
{
    reef_ranks *r = context;
    const char *why = why_refused(r, e, c);
    (void)w;
    r->refused |= why != NULL;
    return why;
}

/* A question to a place that reached further than ghosts do ends the tick. */
static reef_status questions_end(reef_ranks *r)
{
    reef_component c;
    const double beyond = r->config.reach > 0 ? reef_place_beyond(r->world, &c) : 0;
    if (beyond <= 0) return REEF_OK;
    return ranks__fail(r, REEF_UNDECLARED, "a question to the place of %s reaches %g, and ghosts reach %g",
                       reef_type_name(c), beyond, r->config.reach);
}

/* Behind systems. A read that was refused ends the tick. */
static reef_status systems_ran(reef_ranks *r, reef_status s, const char *what)
{
    char text[REEF_DETAIL_MAX] = "";
    if (s < 0) return ranks__fail(r, s, "%s failed: %s", what, reef_status_text(s));
    if (!r->refused) return questions_end(r);
    r->refused = false;
    reef_error_text(r->world, text, sizeof text);
    return ranks__fail(r, REEF_UNDECLARED, "%s", text);
}

static bool ranks_begin(reef_ranks *r, char *reason)
{
    uint64_t *weight = calloc(r->config.cells, sizeof *weight);
    uint32_t *starts = calloc((size_t)r->size + 1, sizeof *starts);
    bool ok = weight && starts && near_is_right(r, reason) && query_make(r, reason) && ghosts_are_right(r, reason);
    ok = ok && ranks__messages_begin(r, reason) && phases_are_right(r, reason);
    if (ok) ranks__cells_divide(r, weight, starts);
    const reef_status s = ok ? ranks__cells_take(r, starts) : REEF_OK;
    if (s == REEF_BAD_ARGUMENT) refuse(reason, "%s", r->reason);
    ok = ok && s == REEF_OK;
    free(weight);
    free(starts);
    return ok || refuse(reason, "no memory");
}

reef_ranks *reef_ranks_new(MPI_Comm comm, reef_world *w, const reef_ranks_config *config, char *reason)
{
    char why[REEF_DETAIL_MAX] = "";
    reef_ranks *r = calloc(1, sizeof *r);
    if (reason) reason[0] = 0;
    if (r == NULL || w == NULL || config == NULL) {
        free(r);
        refuse(reason, "an argument is missing, or no memory");
        return NULL;
    }
    r->world = w;
    r->config = *config;
    ranks__must(r, MPI_Comm_dup(comm, &r->comm), "beginning");
    MPI_Comm_set_errhandler(r->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(r->comm, &r->rank);
    MPI_Comm_size(r->comm, &r->size);
    bool ok = config_is_right(config, why) && ranks_begin(r, why);
    ok = ranks__agree(r, ok ? REEF_OK : REEF_BAD_ARGUMENT) == REEF_OK;
    if (!ok && why[0] == 0) refuse(why, "another rank refused its config");
    if (ok) ok = same_everywhere(r, why);
    r->reason[0] = 0;
    r->common = reef_count_alive(w);
    r->index_base = r->index_end = (uint32_t)reef_world_stats(w).indices;
    if (ok && ranks__agree(r, ranks__ids_hold(r)) != REEF_OK) ok = refuse(why, "%s", r->reason);
    if (ok && r->config.reach > 0 && reef_place_ghosts(w, reef_id(ReefGhost), r->config.reach) != REEF_OK)
        ok = refuse(why, "a loop over the world is open");
    if (ok) {
        reef_watch_reads(w, read_refused, r);
        reef_code_pin(w, "ranks share this world, and all of them would have to change their code at the same tick");
        return r;
    }
    if (reason) memcpy(reason, why, sizeof why);
    reef_ranks_free(r);
    return NULL;
}

void reef_ranks_free(reef_ranks *r)
{
    if (r == NULL) return;
    reef_watch_reads(r->world, NULL, NULL);
    if (r->config.reach > 0) (void)reef_place_ghosts(r->world, reef_id(ReefGhost), 0);
    reef_code_pin(r->world, NULL);
    ranks__messages_end(r);
    if (!reef_query_is_null(r->placed)) reef_query_free(r->world, r->placed);
    if (!reef_query_is_null(r->enabled)) reef_query_free(r->world, r->enabled);
    ranks__cells_free(r);
    free(r->dead);
    free(r->leaving);
    free(r->arrival.values);
    free(r->arrival.disabled);
    ranks__bytes_free(&r->arrival.copy);
    MPI_Comm_free(&r->comm);
    free(r);
}

/* ---- filling ---- */

static reef_status cell_fill(reef_ranks *r, uint32_t c, uint32_t n,
                             void (*make)(reef_world *world, reef_entity entity, uint32_t cell, uint32_t i,
                                          void *context))
{
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = ranks__id_take(r, c);
        reef_status s = reef_create_as(r->world, e);
        if (s == REEF_OK) s = reef_set(r->world, e, ReefCell, c);
        if (s >= 0) s = ranks__inner_mark(r, e, c);
        if (s < 0 || !ranks__member_add(r, c, e)) return ranks__fail(r, s < 0 ? s : REEF_NO_MEMORY, "making entities");
        make(r->world, e, c, i, r->config.context);
    }
    return REEF_OK;
}

static reef_status phase_run(reef_ranks *r, const char *phase, float dt)
{
    const double began = MPI_Wtime();
    const reef_status s = reef_tick_phase(r->world, phase, dt);
    r->stats.seconds_tick += MPI_Wtime() - began;
    return systems_ran(r, s, phase);
}

reef_status ranks__refresh(reef_ranks *r, reef_status s, const float *dt)
{
    const bool phases = dt && r->config.overlap;
    if (s == REEF_OK && !ranks__see(r)) s = REEF_NO_MEMORY;
    s = ranks__ghosts_send(r, s);
    r->inner_only = true;
    if (s == REEF_OK && phases) s = phase_run(r, "inner", *dt);
    r->inner_only = false;
    s = ranks__ghosts_take(r, s);
    if (s == REEF_OK && phases) s = phase_run(r, "border", *dt);
    if (s == REEF_OK && reef_count_alive(r->world) != r->common + r->owned + r->ghosts + r->remote)
        s = ranks__fail(r, REEF_UNDECLARED, "an entity was made or destroyed on one rank, outside of the cells");
    return ranks__agree(r, s);
}

/* Behind whatever has changed entities: who belongs elsewhere goes there, and ghosts follow. */
static reef_status settle(reef_ranks *r, reef_status s, const float *dt)
{
    if (s == REEF_OK) s = ranks__place(r);
    if (s == REEF_OK) ranks__messages_follow(r);
    s = ranks__move(r, s);
    s = ranks__messages_born(r, s);
    return ranks__refresh(r, s, dt);
}

reef_status reef_ranks_fill(reef_ranks *r, uint32_t (*count)(uint32_t cell, void *context),
                            void (*make)(reef_world *world, reef_entity entity, uint32_t cell, uint32_t i,
                                         void *context))
{
    if (r == NULL || count == NULL || make == NULL) return REEF_BAD_ARGUMENT;
    r->reason[0] = 0;
    uint32_t *n = calloc((size_t)(r->end_cell - r->first_cell) + 1, sizeof *n);
    reef_status s = n ? REEF_OK : REEF_NO_MEMORY;
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++)
        n[c - r->first_cell] = count(c, r->config.context);
    s = ranks__ids_provide(r, s, n);
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++)
        s = cell_fill(r, c, n[c - r->first_cell], make);
    free(n);
    return settle(r, s, NULL);
}

/* ---- ticking ---- */

reef_status reef_ranks_tick(reef_ranks *r, float dt)
{
    if (r == NULL) return REEF_BAD_ARGUMENT;
    r->reason[0] = 0;
    const double begin = MPI_Wtime(), systems = r->stats.seconds_tick;
    reef_status s = ranks__messages_deliver(r);
    if (s == REEF_OK) s = systems_ran(r, reef_tick(r->world, dt), "the tick");
    const double ticked = MPI_Wtime();
    s = ranks__bury(r, s);
    s = ranks__messages_collect(r, s);
    s = settle(r, s, &dt);
    r->stats.ticks++;
    if (s == REEF_OK && r->config.balance_ticks && r->stats.ticks % r->config.balance_ticks == 0)
        s = reef_ranks_balance(r);
    r->stats.seconds_exchange += MPI_Wtime() - ticked - (r->stats.seconds_tick - systems);
    r->stats.seconds_tick += ticked - begin;
    return s;
}

/* ---- balancing ---- */

/* Entities and ids of cells that another rank gets. All are packed before the first one leaves, since relations between
 * them travel with both. */
static reef_status cells_send(reef_ranks *r, const uint32_t *starts, packet *p, bytes *ids)
{
    reef_status s = REEF_OK;
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++) {
        const uint32_t to = ranks__owner_in(starts, r->size, c);
        const cell *x = ranks__own(r, c);
        if (to == (uint32_t)r->rank) continue;
        ranks__ids_put(&ids[to], c, &x->ids);
        for (uint32_t i = 0; s == REEF_OK && i < x->count; i++) s = ranks__pack(r, &p[to], r->world, x->members[i], c);
        r->stats.moved_out += x->count;
    }
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++) {
        const cell *x = ranks__own(r, c);
        if (c >= starts[r->rank] && c < starts[r->rank + 1]) continue;
        while (s == REEF_OK && x->count) s = ranks__leave(r, x->members[x->count - 1]);
    }
    return s;
}

static reef_status balance_exchange(reef_ranks *r, packet *p, bytes *ids, bytes *out, bytes *in)
{
    const size_t n = (size_t)r->size;
    uint32_t *messages = calloc(n, sizeof *messages);
    reef_status s = messages ? REEF_OK : REEF_NO_MEMORY;
    if (messages) ranks__messages_count(r, messages);
    for (size_t i = 0; s == REEF_OK && i < n; i++) {
        if ((int)i == r->rank) continue;
        ranks__put_u64(&out[i], ids[i].count);
        ranks__put(&out[i], ids[i].data, ids[i].count);
        ranks__seal(&p[i], &out[i]);
        ranks__put_u32(&out[i], messages[i]);
        if (out[i].failed || ids[i].failed) s = REEF_NO_MEMORY;
    }
    if (s == REEF_OK && !ranks__messages_leave(r, out)) s = REEF_NO_MEMORY;
    free(messages);
    s = ranks__exchange(r, s, out, in);
    for (size_t i = 0; s == REEF_OK && i < n; i++) {
        if (in[i].count == 0) continue;
        const size_t length = (size_t)ranks__take_u64(&in[i]);
        bytes part = {.data = in[i].data + in[i].at, .count = length};
        s = ranks__take(&in[i], length) ? ranks__ids_unpack(r, &part) : REEF_CORRUPT;
        if (s == REEF_OK) s = ranks__unpack(r, &in[i]);
        if (s == REEF_OK) s = ranks__messages_unpack(r, &in[i]);
    }
    return s;
}

/* So small that the sum over all cells, times the number of ranks, has 64 bits. */
static uint64_t load_of(const reef_ranks *r, uint32_t c)
{
    const uint64_t most = 1 << 24,
                   load = r->config.load ? r->config.load(r, c, r->config.context) : ranks__own(r, c)->count;
    return load < most ? load : most;
}

reef_status reef_ranks_balance(reef_ranks *r)
{
    if (r == NULL) return REEF_BAD_ARGUMENT;
    const size_t n = (size_t)r->size;
    uint64_t *weight = calloc(r->config.cells, sizeof *weight);
    uint32_t *starts = calloc(n + 1, sizeof *starts);
    packet *p = calloc(n, sizeof *p);
    bytes *b = calloc(3 * n, sizeof *b);
    r->reason[0] = 0;
    reef_status s = ranks__agree(r, weight && starts && p && b ? ranks__ghosts_drop(r) : REEF_NO_MEMORY);
    if (s == REEF_OK) {
        for (uint32_t c = r->first_cell; c < r->end_cell; c++) weight[c] = load_of(r, c);
        ranks__reduce(r, weight, (int)r->config.cells, MPI_UINT64_T, MPI_SUM);
        ranks__cells_divide(r, weight, starts);
        s = cells_send(r, starts, p, b);
        if (s == REEF_OK) s = ranks__cells_take(r, starts);
        s = ranks__agree(r, s);
    }
    if (s == REEF_OK) s = balance_exchange(r, p, b, b + n, b + 2 * n);
    for (size_t i = 0; p && b && i < n; i++) {
        ranks__packet_free(&p[i]);
        ranks__bytes_free(&b[i]);
        ranks__bytes_free(&b[n + i]);
        ranks__bytes_free(&b[2 * n + i]);
    }
    free(weight);
    free(starts);
    free(p);
    free(b);
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++)
        for (uint32_t i = 0; s == REEF_OK && r->config.overlap && i < ranks__own(r, c)->count; i++)
            s = ranks__inner_mark(r, ranks__own(r, c)->members[i], c);
    return ranks__refresh(r, s, NULL);
}

reef_status reef_ranks_phases(reef_world *w)
{
    if (w == NULL) return REEF_BAD_ARGUMENT;
    /* Their step is longer than any run, so reef_tick leaves them out. */
    reef_status s = reef_phase_new(w, &(reef_phase_desc){.name = "inner", .step_ns = UINT64_MAX});
    if (s == REEF_OK) s = reef_phase_new(w, &(reef_phase_desc){.name = "border", .step_ns = UINT64_MAX});
    return s;
}
