/* All limits. A call that would exceed one returns LIMIT or BAD_ARGUMENT and changes nothing. */
#ifndef REEF_LIMITS_H
#define REEF_LIMITS_H

#include "compiler.h"

REEF_BEGIN_C

/* The limits. The comment says what each of them counts. */
enum {
    REEF_TYPES_MAX = 65536,     /* types in a process */
    REEF_SIZE_MAX = 16 << 20,   /* bytes of one component */
    REEF_ALIGN_MAX = 4096,      /* bytes */
    REEF_COLUMNS_MAX = 1000,    /* components with data in REEF_TABLE on one entity; tags don't count */
    REEF_COMPONENTS_MAX = 4096, /* components of REEF_TABLE on one entity, tags included */
    REEF_TYPE_NAME_MAX = 255,   /* bytes of a type's name */
    REEF_NAME_MAX = 247,        /* bytes of an entity's name with its path */
    REEF_FIELDS_MAX = 1024,     /* fields of a type */
    REEF_FIELD_WAS_MAX = 255,   /* bytes of all names that a field had before, with ", " between them */
    REEF_NAMES_MAX = 1024,      /* names of an enum or bit mask */
    /* bytes of a value as a text of names, with the zero at its end: 64 names of a bit mask, and a number */
    REEF_NAMES_TEXT_MAX = 64 * 256 + 32,
    REEF_TERMS_MAX = 64,        /* terms of a query */
    REEF_SLICES_MAX = 1024,     /* slices of a loop */
    REEF_SYSTEMS_MAX = 4096,    /* systems of a world */
    REEF_PHASES_MAX = 64,       /* phases of a world */
    REEF_OBSERVERS_MAX = 1024,  /* observers of a world */
    REEF_MODULES_MAX = 64,      /* modules of a world */
    REEF_CASCADE_ROUNDS = 1024, /* rounds of changes by observers after one operation */
    REEF_SYSTEM_NAME_MAX = 63,  /* bytes of a system's or phase's name */
    REEF_PLACES_MAX = 256,      /* types with a place, in one process */
    REEF_PLACE_CARRIES_MAX = 4, /* types of which a place carries the values */
    /* cells of a place that is whole */
    REEF_PLACE_CELLS_MAX = 16777216,
    REEF_TOUCHES_MAX = 64,      /* declarations of a system beside its query */
    REEF_THREADS_MAX = 64,      /* threads of a pool */
    REEF_JOBS_MAX = 64,         /* jobs that a system is split into */
    REEF_DETAIL_MAX = 128,      /* bytes of an error's detail, with the zero at its end */
    REEF_BUNDLE_MAX = 64,       /* parts of a bundle */
    REEF_PAGE_ROWS_MAX = 65536, /* values of a page of REEF_PAGED */
    REEF_REQUIRED_MAX = 64,     /* types that a type requires itself */
    REEF_SPLIT_FIELDS_MAX = 32, /* fields of a type of REEF_SPLIT */
    REEF_SPLIT_SIZE_MAX = 4096, /* bytes of one such value */
    /* values of one type in REEF_MULTI on one entity. For values of more than 4 KiB it is the largest power of two of
     * them that fits 1 MiB, at least one */
    REEF_MULTI_MAX = 256,
    /* variables of a query, and bytes of the name of one */
    REEF_VARIABLES_MAX = 8,
    REEF_VARIABLE_NAME_MAX = 31,
    REEF_CONDITIONS_MAX = 64,        /* conditions of a query */
    REEF_PARAMETERS_MAX = 16,        /* parameters of a query; their names are as long as those of variables */
    REEF_CONDITION_TEXTS_MAX = 4096, /* bytes of the names of fields and of texts in the conditions of a query's text */
    REEF_BLOCK_ROWS = 1024           /* rows of a block */
};
/* Further limits: a world has at most 2^32 - 2 entities (fewer with reef_world_config.entities_max), 2^32 - 1
 * generations of an index, 2^20 tables, and 4,194,000 chunks of 1,024 rows (a chunk with more than two columns counts
 * once more for every four of them). */

REEF_END_C

#endif
