/* file/decode_types: TODO */
#ifndef REEF_FILE_DECODE_TYPES_H
#define REEF_FILE_DECODE_TYPES_H

#include "type/type.h"
#include "file/decode.h"
#include "reef/type.h"

/* src/file/decode_types.c */
bool reef__decode_types(decoding *d);
bool reef__decode_tables(decoding *d);
void reef__decode_types_drop(decoding *d);

void reef__decode_values(const file_type *f, const unsigned char *from, const value_target *to, uint32_t rows);

/* One value as the program's struct, of a split type too. */
void reef__decode_value_flat(const file_type *f, const type *t, const unsigned char *from, char *to);

/* A value that is raw memory: zero, or what the hook makes. False: recorded. */
bool reef__decode_construct(decoding *d, const type *t, reef_entity e, void *to);

/* Stand-ins give their values to whom they stand for, and go. */
bool reef__decode_standins_end(decoding *d);

#endif
