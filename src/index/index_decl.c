/* The list of the value indexes that are declared beside types, in the whole process. Worlds make them when they first
 * run a system that reads components of others. */
#include "base/threads.h"
#include "storage/place_calls.h"
#include "index/value_index.h"

static struct {
    mutex lock;
    reef_index_decl *first;
} index_list = {.lock = MUTEX_INIT};

static bool indexes_make_declared(reef_world *w)
{
    bool ok = true;
    mutex_lock(&index_list.lock);
    for (const reef_index_decl *x = index_list.first; ok && x; x = x->next) {
        const reef_component c = reef_resolve(x->type);
        if (reef__type_of(c.id) == NULL || reef__index_find(w, c, x->field)) continue;
        reef_status s;
        ok = reef__index_make(w, c, x->field, &s) || s != REEF_NO_MEMORY; /* what can't be is ABSENT for who asks */
    }
    mutex_unlock(&index_list.lock);
    return ok;
}

void reef_index_declare_(reef_index_decl *decl)
{
    if (decl == NULL) return;
    mutex_lock(&index_list.lock);
    if (reef__indexes_declared == NULL) reef__indexes_declared = indexes_make_declared;
    decl->next = index_list.first;
    index_list.first = decl;
    mutex_unlock(&index_list.lock);
}

COLD void reef_index_undeclare_(reef_index_decl *decl)
{
    mutex_lock(&index_list.lock);
    for (reef_index_decl **x = &index_list.first; *x; x = &(*x)->next) {
        if (*x != decl) continue;
        *x = decl->next;
        break;
    }
    mutex_unlock(&index_list.lock);
}
