/* The last error of a world, its text, and who is told of it. Nothing here allocates, and nothing is ever printed on
 * stdout. */
#include "storage/error.h"
#include "storage/running.h"
#include "base/byte_hash.h"
#include "base/text_out.h"
#include "storage/observed.h"
#include "reef/log.h"
#include "reef/world.h"
#include "reef/type_info.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the last error ---- */

reef_error reef_last_error(const reef_world *w)
{
    reef_error e = {.status = REEF_BAD_ARGUMENT, .operation = ""};
    if (w == NULL) return e;
    if (w->hot.library != &reef__library) {
        snprintf(e.detail, sizeof e.detail, "%s", OTHER_LIBRARY_TEXT);
        return e;
    }
    e = w->error;
    if (e.operation == NULL) e.operation = "";
    return e;
}

bool reef__status_of_file(reef_status status)
{
    return status == REEF_CORRUPT || status == REEF_VERSION || status == REEF_NOT_PORTABLE ||
           status == REEF_OTHER_STATE || status == REEF_IO;
}

static void error_put_number(text_out *o, const reef_error *e)
{
    const type *t = reef__type_of(e->component.id);
    if (e->detail[0]) {
        const bool placed = strncmp(e->detail, "term ", 5) == 0; /* of a struct: the number is in the detail */
        if (e->number && !placed && e->status != REEF_LOCKED)
            reef__text_put(o, reef__status_of_file(e->status) ? " (byte %" PRIu64 ")" : " (column %" PRIu64 ")",
                           e->number);
        reef__text_put(o, ": %s", e->detail);
        return;
    }
    switch (e->status) {
    case REEF_WRONG_SIZE:
        reef__text_put(o, " (%" PRIu64 " given", e->number);
        if (t) reef__text_put(o, ", %" PRIu32 " wanted", t->size);
        reef__text_put(o, ")");
        break;
    case REEF_BAD_TEXT: reef__text_put(o, " (column %" PRIu64 ")", e->number); break;
    case REEF_NOT_PORTABLE:
        if (t) reef__text_put(o, ": its fields aren't described (REEF_FIELDS)");
        break;
    case REEF_UNKNOWN_TYPE: /* perhaps since its declaration is refused */
        if (e->component.id == 0 && reef_declare_error()) reef__text_put(o, ": %s", reef_declare_error());
        break;
    case REEF_NOT_ALIVE: break; /* the number is the size of a value that nobody got */
    default:                    /* beside an entity the number would only repeat its index */
        if (e->number && reef_entity_is_null(e->entity)) reef__text_put(o, " (%" PRIu64 ")", e->number);
        break;
    }
}

static void error_put_entity(text_out *o, const reef_world *w, reef_entity e)
{
    const char *name = reef_name(w, e);
    reef__text_put(o, "entity %" PRIu32 "v%" PRIu32, e.index, e.generation);
    if (name) reef__text_put(o, " \"%s\"", name);
}

/* As reef_error_text. */
static COLD size_t error_text(const reef_world *w, const reef_error *e, char *text, size_t size)
{
    text_out o = {text, size, 0};
    const char *component = reef_type_name(e->component);
    bool entity = !reef_entity_is_null(e->entity);
    if (e->system[0]) {
        const bool observer = strncmp(e->operation, "reef_observe", 12) == 0 ||
                              (w && observers_by(w) && observers_by(w)->named(w, e->system));
        reef__text_put(&o, "%s %s: ", observer ? "observer" : "system", e->system);
    }
    if (e->operation[0]) reef__text_put(&o, "%s: ", e->operation);
    if (component) reef__text_put(&o, "component %s%s", component, entity ? ", " : ": ");
    if (entity) {
        error_put_entity(&o, w, e->entity);
        reef__text_put(&o, ": ");
    }
    reef__text_put(&o, "%s", reef_status_text(e->status));
    error_put_number(&o, e);
    return o.length;
}

COLD void reef__error_pass(reef_world *w)
{
    if (w->error.status == REEF_OK) return;
    w->passed_error = w->error;
    w->error = (reef_error){.operation = ""};
}

COLD size_t reef_error_text(const reef_world *w, char *text, size_t size)
{
    const bool passed = w && w->error.status == REEF_OK && w->passed_error.status != REEF_OK;
    const reef_error last = passed ? w->passed_error : reef_last_error(w);
    return error_text(w, &last, text, size);
}

/* ---- messages ---- */

/* Messages about mistakes reach the programmer without any setting: a world that has no log prints them on stderr. A
 * mistake in a loop would print thousands of lines, so each message has a key, and the process counts how often each
 * key came. A message is printed the first three times, and then at 10, 100, 1,000 ... times, with the count. */
enum { REPORTS_KEPT = 16, REPORTS_WHOLE = 3 };

/* Which keys came how often. When all places are taken, a new key takes the place that its value chooses; the key that
 * was there begins anew. */
static struct {
    mutex lock;
    uint32_t count;
    uint64_t key[REPORTS_KEPT], times[REPORTS_KEPT];
} reports_printed = {.lock = MUTEX_INIT};

static uint64_t report_count(uint64_t key)
{
    mutex_lock(&reports_printed.lock);
    uint32_t i = 0;
    while (i < reports_printed.count && reports_printed.key[i] != key) i++;
    if (i == reports_printed.count) {
        if (i == REPORTS_KEPT) i = (uint32_t)(key % REPORTS_KEPT);
        else reports_printed.count++;
        reports_printed.key[i] = key;
        reports_printed.times[i] = 0;
    }
    const uint64_t times = ++reports_printed.times[i];
    mutex_unlock(&reports_printed.lock);
    return times;
}

static bool power_of_ten(uint64_t n)
{
    while (n >= 10 && n % 10 == 0) n /= 10;
    return n == 1;
}

static void report_print(uint64_t key, const char *message)
{
    const uint64_t times = report_count(key);
    if (times < REPORTS_WHOLE) fprintf(stderr, "reef: %s\n", message);
    else if (times == REPORTS_WHOLE) fprintf(stderr, "reef: %s (from now on this is only counted)\n", message);
    else if (power_of_ten(times)) fprintf(stderr, "reef: %s (%" PRIu64 " times so far)\n", message, times);
}

uint64_t reef__report_key(const char *message) { return reef__hash_bytes(message, strlen(message)); }

void reef__report(const reef_world *w, reef_log_level level, uint64_t key, const char *message)
{
    world_hold(w);
    if (w->config.log) w->config.log(w->config.context, level, message);
    else report_print(key, message);
    world_let_go(w);
}

COLD void reef_log_none(void *context, reef_log_level level, const char *message)
{
    (void)context, (void)level, (void)message;
}

/* ---- who is told ---- */

/* Is the word in a list of words with spaces between them? (Such a list takes no relocations, as pointers would.) */
static bool word_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return length != 0;
    return false;
}

#if defined(REEF_CHECKED)
static bool caller_is_wrong(reef_status status)
{
    return status != REEF_NO_MEMORY && status != REEF_IO && status != REEF_LIMIT && status != REEF_DESYNC &&
           status != REEF_CANCELLED && status != REEF_CORRUPT && status != REEF_VERSION && status != REEF_OTHER_STATE;
}

/* What allows calls that weren't declared: a word of the query, or one of those behind the semicolon. */
static const struct {
    const char *word, *calls;
} allowed_by[] = {
    {"in", "in"},
    {"inout", "inout"},
    {"reads", "get get_all get_many indexed pin placed read ref_get single_get"},
    {"writes", "mut set single_mut single_set"},
    {"sends", "send"},
    {"receives", "receive"},
    {"sums", "part"},
    {"spawns", "cmd_create cmd_spawn cmd_spawn_many cmd_clone cmd_instantiate"},
    {"adds", "cmd_add cmd_set"},
    {"removes", "cmd_remove cmd_remove_all"},
    {"enables", "cmd_enable cmd_disable"},
    {"destroys", "cmd_destroy"},
    {"names", "cmd_name"},
    {"relates", "cmd_relate cmd_relate_before cmd_retarget"},
    {"unrelates", "cmd_unrelate"},
};

/* What a system calls instead. */
static const struct {
    const char *call, *instead;
} instead_of[] = {
    {"begin", "reef_others"},      {"begin_text", "reef_others"}, {"ensure", "reef_cmd_set"},
    {"index_of", "reef_indexed"},  {"place_of", "reef_placed"},   {"post", "reef_send"},
    {"set_name", "reef_cmd_name"},
};

static COLD void advise_declaration(text_out *o, const reef_error *e)
{
    const char *type_name = reef_type_name(e->component);
    const type *t = reef__type_of(e->component.id);
    const bool of_query = word_listed("in inout", e->operation + 5);
    if (of_query && t && (t->split || t->size == 0)) {
        reef__text_put(o, t->split ? ": its fields lie apart: %s_field" : ": it has no values", e->operation);
        return;
    }
    for (uint32_t i = 0; i < sizeof allowed_by / sizeof allowed_by[0]; i++) {
        if (!word_listed(allowed_by[i].calls, e->operation + 5)) continue;
        reef__text_put(o, ": the %s \"%s%s%s%s\"", of_query ? "query has to say" : "system has to declare",
                       allowed_by[i].word, type_name ? " " : "", type_name ? type_name : "",
                       strcmp(e->operation, "reef_placed") == 0 ? " as placed" : "");
        return;
    }
}

static COLD void advise_locked(const reef_world *w, text_out *o, const reef_error *e)
{
    if (w->running) {
        for (uint32_t i = 0; i < sizeof instead_of / sizeof instead_of[0]; i++)
            if (strcmp(e->operation + 5, instead_of[i].call) == 0) {
                reef__text_put(o, ": in a system, use %s", instead_of[i].instead);
                return;
            }
        if (e->detail[0] == 0) reef__text_put(o, ": it is possible between ticks, not in a system");
    } else if (w->notifying) {
        if (e->detail[0] == 0) reef__text_put(o, ": it isn't possible in an observer");
    } else if (w->locks) {
        reef__text_put(o, "%s reef_end ends a loop that is left early", e->detail[0] ? ";" : ":");
    }
}

/* Writes behind the message what the caller does instead. */
static COLD void advise(const reef_world *w, const reef_error *e, text_out *o)
{
    if (strncmp(e->operation, "reef_", 5) != 0) return;
    const char *call = e->operation + 5;
    if (e->status == REEF_LOCKED) advise_locked(w, o, e);
    if (e->detail[0]) return;
    if (e->status == REEF_UNDECLARED) advise_declaration(o, e);
    if (e->status == REEF_OTHER_WORLD && (strncmp(call, "query_", 6) == 0 || word_listed("begin others run", call)))
        reef__text_put(o, ": " OTHER_WORLDS_QUERY);
    if (e->status != REEF_ABSENT) return;
    if (strcmp(call, "place_of") == 0) reef__text_put(o, ": REEF_PLACE gives a type its place");
    if (strcmp(call, "indexed") == 0)
        reef__text_put(o, ": the index is made by REEF_INDEX, or by reef_index_of before the tick");
    if (strncmp(call, "single_", 7) == 0) reef__text_put(o, ": reef_single_set gives the world this singleton");
}
#endif

/* Is it a declaration that was refused? A program without a system, a query or a type that it has declared goes on, and
 * does something else than it says. So these are told in every build. */
static bool refused_declaration(const reef_error *e)
{
    static const char calls[] = "reef_system reef_system_new reef_system_replace reef_query_new reef_query_make "
                                "reef_phase_new reef_observe reef_observer_new reef_make_prefab reef_scripts "
                                "reef_update reef_bundle_new reef_begin_text";
    if (e->status == REEF_NO_MEMORY) return false;
    if (e->status == REEF_UNKNOWN_TYPE && e->component.id == 0 && reef_declare_error()) return true;
    return word_listed(calls, e->operation);
}

/* Messages about the same mistake have the same key, whatever entity it is about. */
static uint64_t failure_key(const reef_error *e)
{
    char text[REEF_SYSTEM_NAME_MAX + REEF_DETAIL_MAX + 64];
    const int n = snprintf(text, sizeof text, "%s %s %s %d %u", e->system, e->operation, e->detail, (int)e->status,
                           (unsigned)e->component.id);
    return n > 0 ? reef__report_key(text) : 0;
}

void reef__failure_report(const reef_world *w, const reef_error *e)
{
    char message[REPORT_BYTES];
    bool reported = refused_declaration(e);
#if defined(REEF_CHECKED)
    reported |= caller_is_wrong(e->status);
#endif
    if (!reported) return;
    text_out o = {message, sizeof message, error_text(w, e, message, sizeof message)};
#if defined(REEF_CHECKED)
    advise(w, e, &o);
#else
    (void)o;
#endif
    world_hold(w);
    if (w->config.misuse) w->config.misuse(w->config.context, e->status, message);
    else reef__report(w, REEF_LOG_WARNING, failure_key(e), message);
    world_let_go(w);
}

/* Orders two failures in a way that doesn't depend on when they happened. */
static int error_compare(const reef_error *a, const reef_error *b)
{
    int order = strcmp(a->operation, b->operation);
    if (order == 0) order = (a->status > b->status) - (a->status < b->status);
    if (order == 0) order = (a->entity.index > b->entity.index) - (a->entity.index < b->entity.index);
    if (order == 0)
        order = (a->entity.generation > b->entity.generation) - (a->entity.generation < b->entity.generation);
    if (order == 0 && a->component.id != b->component.id) {
        const char *x = reef_type_name(a->component), *y = reef_type_name(b->component);
        order = strcmp(x ? x : "", y ? y : "");
    }
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Records the failure of a call that a system made on the world; which of its jobs made it isn't known. Of several
 * failures the same one is kept, whatever the number of threads. */
static COLD void running_failure(reef_world *w, const reef_error *e)
{
    mutex_lock(&w->family->lock);
    if (w->world_failure.status == REEF_OK || error_compare(e, &w->world_failure) < 0) w->world_failure = *e;
    mutex_unlock(&w->family->lock);
}

COLD reef_status reef__failure_record(reef_world *w, const reef_error *e)
{
#if defined(REEF_CHECKED)
    reef_error named = *e;
    if (w->watch) w->running->failed(w, &named), e = &named;
#endif
    reef_error of_observer;
    if (UNLIKELY(w->notifying != NULL && !w->running)) {
        of_observer = *e;
        observers_by(w)->failure(w, &of_observer);
        e = &of_observer;
    }
    reef_error of_declared;
    if (UNLIKELY(w->declaring != NULL && !e->system[0])) {
        of_declared = *e;
        snprintf(of_declared.system, sizeof of_declared.system, "%s", w->declaring);
        e = &of_declared;
    }
    if (w->running) {
        running_failure(w, e);
    } else {
        w->error = *e;
        w->why = NULL; /* it belongs to this failure alone */
    }
    if (!w->flushing || w->notifying) reef__failure_report(w, e);
    return e->status;
}

/* Adds to a failure why a relation is refused. A target that isn't alive is what the failure is about. */
static void error_add_refusal(reef_world *w, reef_error *e)
{
    const relation_refusal x = w->refused;
    text_out o = {e->detail, sizeof e->detail, 0};
    w->refused.status = REEF_OK;
    if (x.status != e->status) return;
    e->component = x.relation;
    e->number = 0;
    if (x.status == REEF_NOT_ALIVE) {
        e->entity = x.target;
        reef__text_put(&o, "as the target of a relation");
    } else if (x.why) {
        reef__text_put(&o, "%s", x.why);
    } else {
        reef__text_put(&o, "the target is ");
        error_put_entity(&o, w, x.target);
    }
}

/* Adds to a failure who has the unique value that was refused (src/storage/unique_field.h). */
static COLD void error_add_taken(reef_world *w, reef_error *e)
{
    const type *t = reef__type_of(e->component.id);
    text_out o = {e->detail, sizeof e->detail, 0};
    if (t == NULL || t->hooks.unique == NULL) return;
    reef__text_put(&o, "%s is unique, and ", t->hooks.unique);
    error_put_entity(&o, w, w->taken);
    reef__text_put(&o, " has this value");
    w->taken.generation = 0; /* it belongs to this failure alone */
}

/* Says of a structural change that isn't possible now how it is. */
static COLD void error_add_way_out(const reef_world *w, reef_error *e)
{
    static const char recorded[] =
        "add change clone create destroy disable enable instantiate relate relate_before remove "
        "remove_all retarget set spawn spawn_many system_enable system_new system_remove system_replace "
        "unrelate";
    if (strncmp(e->operation, "reef_", 5) != 0 || !word_listed(recorded, e->operation + 5)) return;
    if (w->running) snprintf(e->detail, sizeof e->detail, "in a system, use reef_cmd_%s", e->operation + 5);
    else if (w->locks && !w->notifying)
        snprintf(e->detail, sizeof e->detail, "change it after the loop, or open the loop with .deferred = true");
}

COLD reef_status reef__failure(reef_world *w, reef_status status, const char *operation, reef_component c,
                               reef_entity e, uint64_t number)
{
    if (!w->running && w->calling) operation = w->calling;
    reef_error error = {status, operation, c, e, number, "", ""};
    if (status == REEF_LOCKED) error_add_way_out(w, &error);
    if (status == REEF_LOCKED && error.detail[0] == 0 && w->time_owner && !w->running && w->locks == 0)
        (void)snprintf(error.detail, sizeof error.detail, "the time of this world belongs to %s", w->time_owner);
    if (!w->running && w->refused.status != REEF_OK) error_add_refusal(w, &error);
    if (status == REEF_EXISTS && w->taken.generation) error_add_taken(w, &error);
    if (status == REEF_BAD_ARGUMENT && !w->running && w->why && error.detail[0] == 0) {
        strcpy(error.detail, w->why);
        error.number = 0; /* beside a detail it would be a place in a text */
    }
    return reef__failure_record(w, &error);
}

COLD reef_status reef__misuse(reef_world *w, const char *operation, reef_component c, reef_entity e, const char *why)
{
    if (!w->running && w->calling) operation = w->calling;
    reef_error error = {REEF_BAD_ARGUMENT, operation, c, e, 0, "", ""};
    ASSERT(strlen(why) < sizeof error.detail);
    strcpy(error.detail, why);
    return reef__failure_record(w, &error);
}

COLD reef_status reef__refuse(reef_world *w, reef_status status, const char *operation)
{
    return reef__failure(w, status, operation, (reef_component){0}, (reef_entity){0, 0}, 0);
}

COLD reef_status reef__failure_detail(reef_world *w, reef_status status, const char *operation, uint64_t number,
                                      const char *detail)
{
    if (!w->running && w->calling) operation = w->calling;
    reef_error e = {.status = status, .operation = operation, .number = number};
    snprintf(e.detail, sizeof e.detail, "%s", detail);
    return reef__failure_record(w, &e);
}

COLD reef_status reef__corrupt(char *message, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return REEF_CORRUPT;
}
