/* Joins: conditions that compare two fields. One term gives the value of a field a name, other terms compare with it.
 *
 *   Health(most as $m, left < $m)                 two fields of the row
 *   Ship(speed as $s), Port($p, wind > $s)        a field of the row, and one of the entity that is bound to $p
 *   Crew(boss as $b), Badge($m, number == $b)     the same; and if nothing else binds $m, it is bound to each entity
 *                                                 whose Badge has the number
 *
 * A comparison is asked when both terms hold, so it is a condition of the query as a whole, and the two tests are
 * always fulfilled by themselves (VALUE_ALWAYS). It is asked of the rows of a block if it is about the row alone
 * (src/query/row_filter.c), and otherwise as a step of the search for bindings (src/query/variables.h).
 *
 *   key of the row's boss ──► rows of Badge.number, ordered by key and then by entity ──► $m, $m, ...
 *
 * These rows are those of a value index, if the world has one of the field. Otherwise a list is sorted when the
 * loop begins. Both have the entities that a query for the component would visit, with their values as of when the loop
 * began: mostly what is found isn't looked at again (row value_join). So that nothing depends on how a variable is
 * bound, "==" holds for no other entities that are bound to one. */
#ifndef REEF_QUERY_VALUE_JOIN_H
#define REEF_QUERY_VALUE_JOIN_H

#include "base/text_out.h"
#include "query/query.h"
#include "query/query_text.h"
#include "query/sort_key.h"
#include "query/value_term.h"

/* The terms and the tests are told apart by their numbers in q->values->tests. */
struct value_join {
    uint32_t test; /* the condition that compares */
    /* what it compares with, by side: the condition that gives the value a name, + 1; 0: a literal */
    uint32_t named[2];
};

/* Where the rows of a field are found by key. */
typedef struct value_list {
    ordering by;      /* of fields that lie side by side */
    uint32_t bytes;   /* of a field */
    const void *held; /* the rows of an index; NULL: the own ones */
    void (*leave)(memory *m, const void *held);
    /* of keys of values, the ranges of rows with them */
    void (*ranges)(const void *held, const uint64_t *keys, uint32_t n, row_range *to);
    order_row *rows, *scratch; /* own ones */
    uint32_t count, room, scratch_room;
} value_list;

/* What makes no sense about named values: the number of the first such term, and why. REEF_TERMS_MAX: all is right. */
uint32_t reef__joins_check(const query_text *l, const term_facts *facts, char *detail, size_t size);
/* The variables that are bound if these are, since they have a value that is equal to one that is known. (Bit 0 is the
 * visited entity.) */
uint32_t reef__joins_bind(const query_text *l, const term_facts *facts, uint32_t bound);

/* The entities that a join is about: bit 0 is the visited one, the others are variables. */
uint32_t reef__join_slots(const query *q, const struct value_join *j);
/* Does it hold? `bound` has the visited entity and those of the variables. */
bool reef__join_holds(const query *q, const struct value_join *j, const reef_entity *bound);
/* Keeps the rows for which the joins hold that are about the row alone. */
void reef__joined_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);

/* Can the join find the entities of a variable, if these are bound? Then *field is the number of the test of their
 * field, and *other that of the known one. */
bool reef__join_finds(const query *q, const struct value_join *j, uint32_t variable, uint32_t bound, uint32_t *field,
                      uint32_t *other);
/* Brings the list of a test's field up to date. False: no memory. */
bool reef__value_list_ready(query *q, uint32_t field, value_list *l);
/* Lets go of an index's rows, until the list is brought up to date again. */
void reef__value_list_leave(const query *q, value_list *l);
void reef__value_list_drop(const query *q, value_list *l);
/* The rows of the list whose value is that of another test's field, of the entity that this one is about. */
row_range reef__value_list_ask(const query *q, const value_list *l, uint32_t other, const reef_entity *bound);
/* The same for rows of a chunk, so that memory is waited for once: for each row in words[first] to words[end - 1], of
 * which from[row] is the entity (NULL: the row's own). Rows without any are taken out. */
void reef__value_list_look(const look *l, const value_list *list, uint32_t other, const reef_entity *from,
                           uint64_t *words, uint32_t first, uint32_t end, row_range *ranges);
/* Does the list say all about a term with such a field: are those in it the ones for which the term holds? */
bool reef__value_list_settles(const query *q, uint32_t field);
/* Does the list say all about a join: are values with the same key the same, and is nothing else asked of the known
 * entity? */
bool reef__value_list_exact(const query *q, uint32_t field, uint32_t other);

/* The term that has a test. */
uint32_t reef__test_term(const query *q, uint32_t test);
void reef__join_write(text_out *o, const query *q, const struct value_join *j);

#endif
