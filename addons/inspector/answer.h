/* Answers by their paths. */
#ifndef REEF_INSPECTOR_ANSWER_H
#define REEF_INSPECTOR_ANSWER_H

#include "inspector.h"

typedef struct answer_path {
    const char *path;
    bool posts, writes; /* a POST; only with reef_inspector_config.writes */
    json *(*answer)(request *r);
} answer_path;

/* NULL: nothing answers this path. */
const answer_path *inspector_path_find(const char *path);
/* Answers: never NULL but without memory. Body: of a POST. The caller has checked what the path allows. */
json *inspector_answer(reef_inspector *i, const answer_path *p, const char *query, const char *body, size_t size,
                       int *status);
json *inspector_answer_news(request *r);
json *inspector_state_json(reef_inspector *i); /* what is told beside new ticks */

#endif
