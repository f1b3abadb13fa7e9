/* The reference's relations, here called links, since `related` and `relation` are reef's words. A world has one list
 * of them, which is searched from its beginning. */
#ifndef MODEL_LINK_H
#define MODEL_LINK_H

#include "reference.h"

enum { LINKS_MOST = 8192 };

/* The links of a type that an entity has, or that others have to it, in their order. */
typedef struct ref_links {
    const ref_link *at[LINKS_MOST];
    uint32_t count;
} ref_links;

ref_link *ref_link_find(const ref_world *r, uint32_t relation, uint32_t source, uint32_t target); /* NULL: none */
void ref_targets(const ref_world *r, uint32_t relation, uint32_t source, ref_links *list);
void ref_sources(const ref_world *r, uint32_t relation, uint32_t target, ref_links *list);
/* The only target of an exclusive type; UINT32_MAX: none. */
uint32_t ref_target(const ref_world *r, uint32_t relation, uint32_t source);
/* A digest of a relation's target and data. */
uint64_t ref_link_digest(const ref_world *r, uint32_t relation, uint32_t target, uint64_t data);

/* May the entity with its name be a child of this one? UINT32_MAX: of nobody. */
reef_status ref_name_may_move(const ref_world *r, const ref_entity *e, uint32_t parent);
/* Who has a name among the children of an entity (UINT32_MAX: among those without a parent). UINT32_MAX: nobody. */
uint32_t ref_named(const ref_world *r, uint32_t parent, uint32_t name);
uint32_t ref_find_path(const ref_world *r, const char *path);

/* Makes a relation, without any question. Place 0: behind all others of its target. */
void ref_link_add(ref_world *r, uint32_t relation, uint32_t source, uint32_t target, uint64_t place, uint64_t data);
void ref_links_remove(ref_world *r, uint32_t source, uint32_t relation);         /* all of them */
void ref_links_end(ref_world *r, uint32_t source);                               /* it dies */
void ref_links_copy(ref_world *r, uint32_t to, uint32_t from);                   /* as clones do */
void ref_link_mark(ref_world *r, uint32_t relation, uint32_t to, uint32_t from); /* a copy is disabled as its origin */

/* Relations of another world, whose entity of index i became became[i] (UINT32_MAX: it didn't come). */
void ref_links_bring(ref_world *r, const ref_world *from, const uint32_t *became);

/* What is related to what, and what that is about. */
typedef struct ref_request {
    uint32_t relation;
    reef_entity source, target, other;
    bool with_data, wrong_size;
    uint64_t data;
} ref_request;
reef_status ref_relate(ref_world *r, const ref_request *x);
reef_status ref_relate_by_value(ref_world *r, const ref_request *x);
reef_status ref_relate_before(ref_world *r, const ref_request *x);
reef_status ref_unrelate(ref_world *r, const ref_request *x);
reef_status ref_retarget(ref_world *r, const ref_request *x);
bool ref_related(const ref_world *r, uint32_t relation, reef_entity source, reef_entity target);

/* Destroys entities, and whoever is destroyed with them, and ends the other relations to them. */
reef_status ref_destroy_related(ref_world *r, const uint32_t *index, uint32_t n);
/* The same for what is found in bulk: without relations in the world they die in the order in which they were found. */
reef_status ref_destroy_all(ref_world *r, const uint32_t *index, uint32_t n);

#endif
