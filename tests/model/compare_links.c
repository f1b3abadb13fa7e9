/* Comparing the relations of an entity: its targets and sources in their order, with data, and its path. */
#include "link.h"
#include "model.h"

static void compare_targets(model *m, reef_entity e, uint32_t relation)
{
    static ref_links list;
    const model_relation *x = &model_relations[relation];
    reef_type_info t;
    uint32_t n = 0;
    list.count = 0;
    if (ref_alive(&m->reference, e)) ref_targets(&m->reference, relation, e.index, &list);
    const char *value = NULL;
    if (relation_is(relation, REEF_EXCLUSIVE)) n = (value = reef_get_id(m->world, e, x->id)) != NULL;
    else value = reef_get_all_id(m->world, e, x->id, &n);
    if (n != list.count) {
        model_fail(m, "entity {%u, %u} has %u relations of type %s, must have %u", e.index, e.generation, n, x->name,
                   list.count);
        return;
    }
    if (n == 0 || !reef_type_get(x->id, &t)) return;
    for (uint32_t i = 0; i < n; i++, value += t.size) {
        reef_entity target;
        memcpy(&target, value, sizeof target);
        const reef_entity must = ref_handle(&m->reference, list.at[i]->target);
        if (!reef_entity_equal(target, must))
            model_fail(m, "entity {%u, %u}: target %u of %s is {%u, %u}, must be {%u, %u}", e.index, e.generation, i,
                       x->name, target.index, target.generation, must.index, must.generation);
        else if (relation_digest(relation, value) != relation_digest_of(relation, list.at[i]->data))
            model_fail(m, "entity {%u, %u}: target %u of %s has wrong data", e.index, e.generation, i, x->name);
        else if (reef_relation_get_id(m->world, e, x->id, target) != value)
            model_fail(m, "entity {%u, %u}: target %u of %s isn't found", e.index, e.generation, i, x->name);
    }
}

static void compare_sources(model *m, reef_entity e, uint32_t relation)
{
    static ref_links list;
    const model_relation *x = &model_relations[relation];
    uint32_t n = 0;
    list.count = 0;
    if (ref_alive(&m->reference, e)) ref_sources(&m->reference, relation, e.index, &list);
    if (reef_source_count_id(m->world, e, x->id) != list.count) {
        model_fail(m, "entity {%u, %u} has %llu sources of type %s, must have %u", e.index, e.generation,
                   (unsigned long long)reef_source_count_id(m->world, e, x->id), x->name, list.count);
        return;
    }
    for (reef_sources s = reef_sources_of_id(m->world, e, x->id); list.count && reef_sources_next(&s);) {
        for (uint32_t i = 0; i < s.count && !m->failed; i++, n++) {
            const reef_entity is = s.sources[i],
                              must = n < list.count ? ref_handle(&m->reference, list.at[n]->source) : e;
            if (n >= list.count || !reef_entity_equal(is, must))
                model_fail(m, "entity {%u, %u}: source %u of %s is {%u, %u}, must be {%u, %u}", e.index, e.generation,
                           n, x->name, is.index, is.generation, must.index, must.generation);
        }
        if (m->failed) return;
    }
    if (n != list.count) model_fail(m, "the sources of entity {%u, %u} end too early", e.index, e.generation);
}

/* Appends the path of an entity. False: it has none. */
static bool path_of(const ref_world *r, uint32_t index, char *text, size_t size)
{
    const ref_entity *e = &r->entity[index];
    const uint32_t parent = ref_target(r, RELATION_CHILD, index);
    if (e->name == 0 || (parent != UINT32_MAX && !path_of(r, parent, text, size))) return false;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? "." : "", model_names[e->name - 1]);
    return true;
}

static void compare_path(model *m, reef_entity e)
{
    char is[2048] = "", must[2048] = "";
    const bool there = path_of(&m->reference, e.index, must, sizeof must);
    const size_t length = reef_path(m->world, e, is, sizeof is);
    if (length != (there ? strlen(must) : 0) || strcmp(is, there ? must : "") != 0) {
        model_fail(m, "the path of entity {%u, %u} is %s, must be %s", e.index, e.generation, is, must);
        return;
    }
    const uint32_t index = there ? ref_find_path(&m->reference, must) : UINT32_MAX;
    if (there && reef_find(m->world, must).index != index)
        model_fail(m, "%s finds index %u, must find %u", must, reef_find(m->world, must).index, index);
}

void model_compare_links(model *m, reef_entity e)
{
    const ref_entity *x = ref_alive(&m->reference, e);
    if (!m->relations) return;
    for (uint32_t i = 0; i < RELATIONS; i++)
        if (reef_is_enabled_id(m->world, e, model_relations[i].id) != (x && x->out[i] && !(x->unseen >> i & 1)))
            model_fail(m, "%s of entity {%u, %u} is enabled and must not be, or the other way round",
                       model_relations[i].name, e.index, e.generation);
    for (uint32_t i = 0; i < RELATIONS && !m->failed; i++) compare_targets(m, e, i);
    for (uint32_t i = 0; i < RELATIONS && !m->failed; i++) compare_sources(m, e, i);
    if (x && x->name && !m->failed) compare_path(m, e);
}
