/* Views from inside: what the server's files and the client's share.
 *
 *     SHOW    message, digest of the types, session; number of the datagram; tick; age; records
 *     record  number of the entity; flags; unless OUT: types with a value, with REMOVED types that it lost; the values
 *     SEEN    message, digest, session; number of the newest datagram, and bits of the 64 before it
 *
 * A record is FULL, with all types, until the client has acknowledged one that is; from then on it has those that
 * changed since what he acknowledged. Which record a datagram had is kept until it is acknowledged, or taken for lost:
 * then its types are noted as changed again. A number is given again only when the client has acknowledged OUT. The
 * client takes of each type of each entity the newest datagram's value. So datagrams may be lost, doubled and
 * reordered.
 *
 * view_types.c knows the types and makes values bytes and back; view_interest.c who sees what; view_server.c what is
 * sent; view_client.c what arrives. */
#ifndef REEF_NET_VIEW_INSIDE_H
#define REEF_NET_VIEW_INSIDE_H

#include "reef_net_view.h"
#include "wire.h"
#include <reef.h>
#include <reef/all.h>

enum {
    VIEW_SHOW = 32,
    VIEW_SEEN,
    VIEW_HEAD = 19,
    VIEW_VALUES_MAX = 1000, /* bytes of all listed types together: a record fits into a datagram */
    VIEW_SLOTS_MAX = 1 << 16,
    VIEW_OUT = 1,
    VIEW_DESTROYED = 2,
    VIEW_FULL = 4,
    VIEW_OWN = 8,
    VIEW_REMOVED = 16
};

typedef struct view_field {
    uint32_t offset, bytes;
    uint32_t one; /* bytes of an element */
    bool entity;
} view_field;

typedef struct view_type {
    reef_component id;
    uint32_t size, wire, first, count; /* fields first ... first + count - 1 */
} view_type;

typedef struct view_types {
    uint32_t count, field_count, digest;
    uint32_t own, entities; /* bits: private types; types with fields of kind entity */
    view_type of[REEF_NET_VIEW_TYPES_MAX];
    view_field *fields;
    char wrong[128]; /* says which type can't be shown, and why */
} view_types;

void *view__alloc(const reef_allocator *a, size_t bytes);
void view__free(const reef_allocator *a, void *block, size_t bytes);
/* Makes *block, an array of *room elements, longer, so that it has `need`; new elements are zero. False: no memory. */
bool view__grow(const reef_allocator *a, void **block, uint32_t *room, uint32_t need, size_t one);

/* Fills *types; returns what is wrong, which lives as long as they do, or NULL. */
const char *view__types_make(view_types *types, const reef_net_view_config *config, const reef_allocator *a);
void view__types_free(view_types *types, const reef_allocator *a);
void view__varint_put(wire *w, uint32_t value);
uint32_t view__varint_get(wire *w);
/* A value as bytes, field by field; `number` gives the client's number of an entity, 0 for what he doesn't see. */
void view__value_put(wire *w, const view_types *types, uint32_t type, const void *value,
                     uint32_t (*number)(void *context, reef_entity entity), void *context);
/* And back; `entity` gives an entity by number. */
void view__value_get(wire *w, const view_types *types, uint32_t type, void *value,
                     reef_entity (*entity)(void *context, uint32_t number, uint32_t offset), void *context);

#endif
