/* What answers to requests share: refusals, parameters, a view of a state. */
#include "head.h"
#include "inspector.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json *inspector_refuse(request *r, int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(r->error, sizeof r->error, format, list);
    va_end(list);
    r->status = status;
    return NULL;
}

/* ---- parameters ---- */

bool inspector_parameter(const request *r, const char *name, char *text, size_t size)
{
    return inspector_head_parameter(r->query, name, text, size) >= 0;
}

uint64_t inspector_parameter_number(const request *r, const char *name, uint64_t otherwise, uint64_t most)
{
    char text[32], *end;
    if (!inspector_parameter(r, name, text, sizeof text) || text[0] < '0' || text[0] > '9') return otherwise;
    const unsigned long long n = strtoull(text, &end, 10);
    return *end ? otherwise : n > most ? most : n;
}

bool inspector_view_open(request *r, const char *name, view *v)
{
    static const char *const words[MOMENTS] = {"now",  "",       "step",     "before-step", "without",
                                               "with", "beside", "recorded", "replayed"};
    char at[32] = "now";
    *v = (view){NULL, NULL};
    if (!inspector_parameter(r, name, at, sizeof at)) strcpy(at, "now");
    moment_kind kind = MOMENT_TICK;
    for (int k = 0; k < MOMENTS; k++)
        if (words[k][0] && strcmp(at, words[k]) == 0) kind = (moment_kind)k;
    v->moment = inspector_moment_hold(r->i, kind, inspector_parameter_number(r, name, 0, UINT64_MAX));
    if (v->moment == NULL && kind != MOMENT_NOW) return inspector_refuse(r, 404, "this state isn't kept"), false;
    if (v->moment == NULL) {
        pthread_mutex_lock(&r->i->lock);
        if (r->i->failed[0]) (void)inspector_refuse(r, 409, "the world can't be copied: %s", r->i->failed);
        else (void)inspector_refuse(r, 503, "the program doesn't tick");
        pthread_mutex_unlock(&r->i->lock);
        return false;
    }
    v->world = inspector_moment_fork(v->moment);
    if (v->world) return true;
    inspector_moment_release(r->i, v->moment);
    return inspector_refuse(r, 503, "no memory"), false;
}

void inspector_view_close(request *r, view *v)
{
    reef_world_free(v->world);
    inspector_moment_release(r->i, v->moment);
}
