/* The inlined calls. They need C types, so some of the model's types are also declared here in the usual way. A
 * declaration that agrees with a type made at run time finds the same type. */
#include "model.h"

typedef struct {
    _Alignas(8) uint64_t v; /* 8 everywhere: on i386 a uint64_t in a struct is aligned to 4 */
} A;
typedef struct {
    _Alignas(16) uint8_t byte[16];
} Ab;
typedef struct {
    uint16_t v;
} Tide;
typedef struct {
    uint32_t v;
} Alga;
typedef struct {
    uint8_t v;
} Dust;
typedef struct {
    uint32_t v[3];
} Echo;
typedef struct {
    _Alignas(64) uint8_t byte[64];
} Hull;
typedef struct {
    _Alignas(8) uint64_t v[3];
} Kelp;
typedef struct {
    _Alignas(8) uint64_t v;
} Pearl;

REEF_COMPONENT(A);
REEF_COMPONENT(Ab);
REEF_COMPONENT(Tide);
REEF_SUBTYPE(Alga, Tide);
static const reef_hooks tracked_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Dust, &tracked_rows);
REEF_SUBTYPE(Echo, Tide);
REEF_COMPONENT(Hull);
REEF_COMPONENT_HOOKS(Kelp, &tracked_rows);
REEF_COMPONENT(Pearl);
REEF_TAG(AB);
REEF_TAG_HOOKS(Fin, &tracked_rows);
REEF_SWITCH(Bite);
REEF_SWITCH(Glow);

#define TYPED(X) \
    X(A) \
    X(Ab) \
    X(Alga) \
    X(Dust) \
    X(Echo) \
    X(Hull) \
    X(Kelp) \
    X(Pearl) \
    X(Tide)
#define TYPED_WITHOUT_DATA(X) \
    X(AB) \
    X(Fin) \
    X(Bite) \
    X(Glow)

void typed_declare(void)
{
    for (uint32_t i = 0; i < TYPES_MAX; i++) {
        const model_type *t = &model_types[i];
#define X(T) \
    if (strcmp(t->name, #T) == 0) \
        reef_declared_by_REEF_COMPONENT_##T.home = t->home, \
        reef_declared_by_REEF_COMPONENT_##T.page_rows = t->page_rows;
        TYPED(X)
        TYPED_WITHOUT_DATA(X)
#undef X
    }
    if (types_below(TYPE_BASE)) return;
    reef_declared_by_REEF_COMPONENT_Alga.base = reef_declared_by_REEF_COMPONENT_Echo.base =
        NULL; /* in this run they are ordinary types */
}

bool typed_get(const reef_world *w, reef_entity e, uint32_t type, const void **p)
{
    uint32_t id = component_of(type).id;
    *p = NULL;
#define X(T) \
    if (id == reef_id(T).id) { \
        *p = reef_get(w, e, T); \
        return true; \
    }
    TYPED(X)
#undef X
    return false;
}

bool typed_mut(reef_world *w, reef_entity e, uint32_t type, void **p)
{
    uint32_t id = component_of(type).id;
    *p = NULL;
#define X(T) \
    if (id == reef_id(T).id) { \
        *p = reef_mut(w, e, T); \
        return true; \
    }
    TYPED(X)
#undef X
    return false;
}

bool typed_has(const reef_world *w, reef_entity e, uint32_t type, bool *has)
{
    uint32_t id = component_of(type).id;
    *has = false;
#define X(T) \
    if (id == reef_id(T).id) { \
        *has = reef_has(w, e, T); \
        return true; \
    }
    TYPED(X)
    TYPED_WITHOUT_DATA(X)
#undef X
    return false;
}
