/* Required components: components that come along with another one.
 *
 *     REEF_REQUIRES(Velocity, Position);          whoever gets a Velocity gets a Position too
 *
 *     reef_entity fish = reef_spawn(w, reef_with(Velocity, 1, 2));       has both, the Position with zeroes
 *
 * A required component comes in the same step as the one that requires it, with its default value: what its `construct`
 * makes, or zeroes. It comes only if the entity doesn't have it and the call doesn't name it; a subtype of it will do.
 * What it requires itself comes too, and a subtype requires what its base requires.
 *
 * The requirement counts when a component is added, by any call that adds one. A system that declares that it adds or
 * spawns a component may also name what it requires. Afterwards both are components like any others: each can be
 * removed without the other. Clones, loaded worlds and merged worlds get exactly what their origin has.
 *
 * A type can require types of all homes except types of relations, which have no default value. A type that would
 * require itself, by way of others, is refused: reef_declare_error names both, and the id is {0}. Requirements are a
 * part of the type. They are given before the first world uses it; two declarations that differ are refused. */
#ifndef REEF_REQUIRED_H
#define REEF_REQUIRED_H

#include "type.h"

/* REEF_REQUIRES(T, A, B ...): T requires A, B and so on, at most 8. Place it after the declarations of these types,
 * once in a file; a header is best. */
#define REEF_REQUIRES(T, ...) \
    static reef_type_decl *const reef_required_##T[] = {REEF_DECLS_(__VA_ARGS__)}; \
    REEF_BEFORE_MAIN(reef_required_before_main_##T) \
    { \
        reef_declared_by_REEF_COMPONENT_##T.required = reef_required_##T; \
        reef_declared_by_REEF_COMPONENT_##T.required_count = \
            REEF_CAST(uint32_t, sizeof reef_required_##T / sizeof reef_required_##T[0]); \
        reef_declare(&reef_declared_by_REEF_COMPONENT_##T); \
    } \
    REEF_AT_UNLOAD(reef_required_at_unload_##T) { reef_undeclare_(&reef_declared_by_REEF_COMPONENT_##T); } \
    struct reef_needs_semicolon_required_##T

/* The declarations of up to 8 types. */
#define REEF_DECLS_(...) REEF_DECLS_COUNTED_(REEF_DECLS_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0), __VA_ARGS__)
#define REEF_DECLS_COUNT_(a, b, c, d, e, f, g, h, n, ...) n
#define REEF_DECLS_COUNTED_(n, ...) REEF_DECLS_PICKED_(n, __VA_ARGS__)
#define REEF_DECLS_PICKED_(n, ...) REEF_DECLS_##n##_(__VA_ARGS__)
#define REEF_DECLS_1_(a) &reef_declared_by_REEF_COMPONENT_##a
#define REEF_DECLS_2_(a, b) REEF_DECLS_1_(a), &reef_declared_by_REEF_COMPONENT_##b
#define REEF_DECLS_3_(a, b, c) REEF_DECLS_2_(a, b), &reef_declared_by_REEF_COMPONENT_##c
#define REEF_DECLS_4_(a, b, c, d) REEF_DECLS_3_(a, b, c), &reef_declared_by_REEF_COMPONENT_##d
#define REEF_DECLS_5_(a, b, c, d, e) REEF_DECLS_4_(a, b, c, d), &reef_declared_by_REEF_COMPONENT_##e
#define REEF_DECLS_6_(a, b, c, d, e, f) REEF_DECLS_5_(a, b, c, d, e), &reef_declared_by_REEF_COMPONENT_##f
#define REEF_DECLS_7_(a, b, c, d, e, f, g) REEF_DECLS_6_(a, b, c, d, e, f), &reef_declared_by_REEF_COMPONENT_##g
#define REEF_DECLS_8_(a, b, c, d, e, f, g, h) REEF_DECLS_7_(a, b, c, d, e, f, g), &reef_declared_by_REEF_COMPONENT_##h

#endif
