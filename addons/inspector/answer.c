/* Which path is answered by what, whoever brings the request: the server, or the program itself by reef_inspector_ask.
 * An answer is a function of the inspector's world and its moments; what isn't one answer in JSON (the stream, the
 * trace) is the server's. */
#include "answer.h"
#include "head.h"
#include <stdlib.h>
#include <string.h>

static const answer_path paths[] = {
    {"/api/overview", false, false, inspector_answer_overview},
    {"/api/news", false, false, inspector_answer_news},
    {"/api/ticks", false, false, inspector_answer_ticks},
    {"/api/types", false, false, inspector_answer_types},
    {"/api/tables", false, false, inspector_answer_tables},
    {"/api/systems", false, false, inspector_answer_systems},
    {"/api/spans", false, false, inspector_answer_spans},
    {"/api/events", false, false, inspector_answer_events},
    {"/api/entities", false, false, inspector_answer_entities},
    {"/api/entity", false, false, inspector_answer_entity},
    {"/api/explain", false, false, inspector_answer_explain},
    {"/api/tree", false, false, inspector_answer_tree},
    {"/api/diff", false, false, inspector_answer_diff},
    {"/api/who", false, false, inspector_answer_who},
    {"/api/curve", false, false, inspector_answer_curve},
    {"/api/when", false, false, inspector_answer_when},
    {"/api/recording", false, false, inspector_answer_recording},
    {"/api/hash", false, false, inspector_answer_hash},
    {"/api/whatif", false, false, inspector_answer_whatif},
    {"/api/futures", false, false, inspector_answer_futures},
    {"/api/sql", true, false, inspector_answer_sql}, /* changes nothing without writes */
    {"/api/record", true, false, inspector_answer_control},
    {"/api/control", true, true, inspector_answer_control},
    {"/api/edit", true, true, inspector_answer_edit},
    {"/api/whatif/play", true, true, inspector_answer_whatif_play},
};

const answer_path *inspector_path_find(const char *path)
{
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        if (strcmp(path, paths[k].path) == 0) return &paths[k];
    return NULL;
}

static json *error_json(const char *error)
{
    json *j = inspector_object();
    inspector_put(j, "error", inspector_text(error));
    return j;
}

/* Reads JSON from the body of a POST. False: it is refused. */
static bool body_read(request *r, const char *bytes, size_t size)
{
    json_error error;
    r->body = inspector_json_read(bytes, size, DEPTH_MAX, &error);
    if (r->body) return true;
    (void)inspector_refuse(r, 400, "no JSON: %s (byte %zu)", error.text, error.position);
    return false;
}

json *inspector_answer(reef_inspector *i, const answer_path *p, const char *query, const char *body, size_t size,
                       int *status)
{
    request r = {.i = i, .query = query, .status = 200};
    json *j = NULL;
    atomic_store(&i->looked_ns, inspector_now_ns());
    atomic_store(&i->busy, true);
    if (!p->posts || body_read(&r, body, size)) j = p->answer(&r);
    inspector_json_free(r.body);
    *status = r.status;
    if (j) return j;
    if (r.status == 200) *status = 503;
    return error_json(r.error[0] ? r.error : "no memory");
}

/* ---- what happened since ---- */

/* What is told beside new ticks. */
json *inspector_state_json(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    json *j = inspector_object();
    inspector_put(j, "paused", inspector_boolean(i->paused));
    inspector_put(j, "speed", inspector_real(i->speed));
    inspector_put(j, "records", inspector_boolean(i->records));
    inspector_put(j, "traces", inspector_boolean(i->traces));
    const uint64_t n = i->kept_end - i->kept_first;
    inspector_put(j, "kept", inspector_json_number(n));
    if (n) {
        inspector_put(j, "first", inspector_json_number(i->kept[i->kept_first % i->config.record_ticks]->tick));
        inspector_put(j, "last", inspector_json_number(i->kept[(i->kept_end - 1) % i->config.record_ticks]->tick));
    }
    if (n || i->records) {
        inspector_put(j, "room", inspector_integer(i->config.record_ticks));
        inspector_put(j, "bound", inspector_json_number(i->config.record_bytes));
        inspector_put(j, "used", inspector_json_number(i->record_used));
        inspector_put(j, "rate", inspector_json_number(i->record_rate));
        inspector_put(j, "dropped", inspector_json_number(i->record_dropped));
    }
    if (i->futures) inspector_put(j, "futures", inspector_json_number(i->futures_count));
    if (i->step_number) {
        inspector_put(j, "step_system", inspector_text(i->step_system));
        inspector_put(j, "step_number", inspector_integer(i->step_number));
        inspector_put(j, "step_count", inspector_integer(i->step_count));
    }
    pthread_mutex_unlock(&i->lock);
    return j;
}

/* {"ticks": rows, "state": {...}, "next": n}: what the stream would tell, once. */
json *inspector_answer_news(request *r)
{
    uint64_t next = 0;
    const uint64_t after = inspector_parameter_number(r, "after", UINT64_MAX, UINT64_MAX);
    json *j = inspector_object();
    inspector_put(j, "ticks", inspector_ticks_after(r->i, after, 500, &next));
    inspector_put(j, "state", inspector_state_json(r->i));
    inspector_put(j, "next", inspector_json_number(next));
    return j;
}

/* ---- an inspector without a server ---- */

reef_inspector *reef_inspector_new(reef_world *w, const reef_inspector_config *config)
{
    char reason[REEF_DETAIL_MAX];
    reef_inspector *i = inspector_make(w, config, reason);
    if (i) i->alone = true;
    return i;
}

static json *ask(reef_inspector *i, const char *address, const char *body, int *status)
{
    char path[64];
    const size_t size = strcspn(address, "?");
    *status = 404;
    if (size >= sizeof path) return error_json("there is nothing here");
    memcpy(path, address, size);
    path[size] = 0;
    const answer_path *p = inspector_path_find(path);
    if (p == NULL) return error_json("there is nothing here");
    *status = 405;
    if (p->posts != (body != NULL)) return error_json(p->posts ? "expected POST" : "expected GET");
    *status = 403;
    if (p->writes && !i->config.writes) return error_json("the program doesn't allow writes");
    *status = 413;
    if (body && strlen(body) > BODY_MAX) return error_json("a body has at most 64 KiB");
    return inspector_answer(i, p, address[size] ? address + size + 1 : "", body, body ? strlen(body) : 0, status);
}

int reef_inspector_ask(reef_inspector *i, const char *address, const char *body, reef_writer to)
{
    int status = 503;
    size_t size = 0;
    if (i == NULL || !i->alone || address == NULL || to.write == NULL) return 503;
    if (i->beside) inspector_moment_put(i, MOMENT_BESIDE, inspector_moment_take(i, i->beside));
    json *j = ask(i, address, body, &status);
    char *text = inspector_json_text_of(j, &size);
    inspector_json_free(j);
    if (text == NULL || to.write(to.context, text, size) < 0) status = 503;
    free(text);
    return status;
}

void reef_inspector_beside(reef_inspector *i, reef_world *w)
{
    if (i == NULL || !i->alone) return;
    i->beside = w;
    if (w == NULL) inspector_moment_put(i, MOMENT_BESIDE, NULL);
}

bool reef_inspector_may_tick(reef_inspector *i)
{
    if (i == NULL || !i->alone || !i->paused) return true;
    if (i->free_ticks == 0) return false;
    i->free_ticks--;
    return true;
}
