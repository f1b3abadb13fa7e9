/* Values that a file couldn't carry whole, between two worlds of one process: their addresses are in the bytes
 * (PACK_HERE), and the world that they lie in is as it was.
 *
 * A type that is the same on both sides is copied, by its hook or as bytes. One that has another layout is converted by
 * the fields of both layouts, so that each thing that a value owns has one owner at any time:
 *
 *     the value ──copy hook of the old type──► a copy          what the construct hook of the new type has made
 *                                                │ fields that both have                     │
 *                                                ▼                                           ▼
 *                        the copy with zeroes there           the new value             the same fields of it
 *                                  │                                                         │
 *                       destroy hook of the old type                           destroy hook of the new type
 *
 * Therefore a field that is zero must own nothing, where a type with hooks changes. */
#ifndef REEF_FILE_DECODE_CARRY_H
#define REEF_FILE_DECODE_CARRY_H

#include "file/decoding.h"

typedef struct value_carry {
    const type *was;
    bool failed;                       /* a hook refused: the reader must end in an error */
    size_t size;                       /* of one of the two values */
    _Alignas(PLAIN_ALIGN) char room[]; /* two values: the copy, and what was constructed */
} value_carry;

/* Makes f->carry for values of the type with this id. False: the error is recorded. */
bool reef__decode_carry_make(decoding *d, file_type *f, uint32_t was);
/* May these values become values of `t`? False: the error is recorded. */
bool reef__decode_carry_allowed(decoding *d, const file_type *f, const type *t);
/* Gives a value that was constructed what the value has whose address is at `from`. */
void reef__decode_carry(const file_type *f, const unsigned char *from, char *to);

#endif
