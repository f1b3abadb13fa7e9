/* The prompt for SQL. What a statement says comes from reef_inspector_config.sql, as JSON. Statements run over a fork,
 * on a thread of their own; if it turns out that they change something, they run again, over the world itself, by an
 * order. So reading never delays a tick. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

enum {
    ANSWER_MAX = 8 << 20,   /* bytes of an answer */
    ANSWER_DEPTH_MAX = 64,  /* of its nesting */
    PROMPT_STACK = 2 << 20, /* the server's threads have 100 KB, which is little for an SQL compiler */
    PROMPT_REASON_MAX = 512
};

typedef struct prompt {
    reef_inspector *i;
    const char *statements;
    reef_world *world;
    bool read_only;
    char *bytes; /* of the answer */
    size_t size, room;
    reef_status status;
    char reason[PROMPT_REASON_MAX];
} prompt;

static reef_status prompt_append(void *context, const void *bytes, size_t count)
{
    prompt *p = context;
    if (count > ANSWER_MAX - p->size) return REEF_LIMIT;
    if (p->size + count > p->room) {
        char *more = realloc(p->bytes, (p->size + count) * 2);
        if (more == NULL) return REEF_NO_MEMORY;
        p->bytes = more;
        p->room = (p->size + count) * 2;
    }
    memcpy(p->bytes + p->size, bytes, count);
    p->size += count;
    return REEF_OK;
}

static void prompt_ask(prompt *p)
{
    const reef_writer to = {prompt_append, p};
    p->size = 0;
    p->reason[0] = 0;
    p->status = p->i->config.sql(p->world, p->statements, p->read_only, to, p->reason);
}

static void *prompt_thread(void *data)
{
    prompt_ask(data);
    return NULL;
}

/* Reads a fork, and waits. False: there is no thread. */
static bool prompt_read(prompt *p)
{
    if (p->i->alone) {
        prompt_ask(p);
        return true;
    }
    pthread_attr_t how;
    pthread_t thread;
    if (pthread_attr_init(&how) != 0) return false;
    const bool began =
        pthread_attr_setstacksize(&how, PROMPT_STACK) == 0 && pthread_create(&thread, &how, prompt_thread, p) == 0;
    (void)pthread_attr_destroy(&how);
    if (began) (void)pthread_join(thread, NULL);
    return began;
}

static void prompt_write_run(reef_inspector *i, void *data)
{
    prompt *p = data;
    p->world = i->world;
    p->read_only = false;
    prompt_ask(p);
    inspector_step_clear(i);
    inspector_world_changed(i);
}

/* {"answers": [...]}: what the function wrote. */
static json *prompt_answer(request *r, const prompt *p, uint64_t took_ns)
{
    json_error error;
    if (p->status != REEF_OK)
        return inspector_refuse(r, p->status == REEF_NO_MEMORY ? 503 : 400, "%s",
                                p->reason[0] ? p->reason : reef_status_text(p->status));
    json *answers = inspector_json_read(p->bytes ? p->bytes : "", p->size, ANSWER_DEPTH_MAX, &error);
    if (answers == NULL) return inspector_refuse(r, 503, "the program's answer is no JSON: %.100s", error.text);
    json *j = inspector_object();
    inspector_put(j, "answers", answers);
    inspector_put(j, "ns", inspector_json_number(took_ns));
    return j;
}

static json *prompt_run(request *r, prompt *p)
{
    char at[32];
    view v;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    const bool now = !inspector_parameter(r, "at", at, sizeof at) || strcmp(at, "now") == 0;
    uint64_t began = inspector_now_ns();
    p->world = v.world;
    p->read_only = true;
    const bool done = prompt_read(p);
    inspector_view_close(r, &v);
    if (!done) return inspector_refuse(r, 503, "there is no thread for it");
    if (p->status != REEF_REFUSED) return prompt_answer(r, p, inspector_now_ns() - began);
    if (!r->i->config.writes) return inspector_refuse(r, 403, "the program doesn't allow writes");
    if (!now) return inspector_refuse(r, 409, "only the world as it is now can be changed");
    began = inspector_now_ns();
    if (!inspector_order_give(r->i, prompt_write_run, p)) return inspector_refuse(r, 503, "the program doesn't tick");
    return prompt_answer(r, p, inspector_now_ns() - began);
}

/* {"sql": "select ..."}, of the state that the parameter `at` names. */
json *inspector_answer_sql(request *r)
{
    const json *text = inspector_member(r->body, "sql");
    if (r->i->config.sql == NULL) return inspector_refuse(r, 404, "the program has no prompt for SQL");
    if (!inspector_is_text(text) || strlen(inspector_text_in(text)) < inspector_text_size(text))
        return inspector_refuse(r, 400, "expected sql (a text without zeros)");
    if (atomic_exchange(&r->i->prompted, true)) return inspector_refuse(r, 409, "another statement runs");
    prompt p = {.i = r->i, .statements = inspector_text_in(text)};
    json *j = prompt_run(r, &p);
    free(p.bytes);
    atomic_store(&r->i->prompted, false);
    return j;
}
