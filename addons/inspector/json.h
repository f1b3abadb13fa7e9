/* Values of JSON: what the inspector answers, and what it is asked.
 *
 *     json *j = inspector_object();
 *     inspector_put(j, "tick", inspector_integer(7));
 *     char *text = inspector_json_text_of(j, &size);           {"tick":7}
 *     inspector_json_free(j);
 *
 * A value has an owner. inspector_put and inspector_append take over what they get, and inspector_json_share makes one
 * owner more. Without memory a value is NULL; NULL is put and appended as null, and read as a value of no kind, so an
 * answer may lack something but nothing breaks. Members keep the order in which they were put. */
#ifndef REEF_INSPECTOR_JSON_H
#define REEF_INSPECTOR_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json json;

json *inspector_null(void);
json *inspector_boolean(bool is);
json *inspector_integer(int64_t number);
json *inspector_real(double number); /* NULL for infinities and NaN, which JSON doesn't have */
/* Bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
json *inspector_text(const char *text);
json *inspector_text_sized(const char *text, size_t size);
json *inspector_object(void);
json *inspector_array(void);

/* The object or array takes the value over; a member of the same name is replaced. The name is copied. */
void inspector_put(json *object, const char *name, json *value);
void inspector_append(json *array, json *value);
json *inspector_json_share(json *value);
void inspector_json_free(json *value); /* the last owner frees it */
json *inspector_json_copy(const json *value);
bool inspector_json_equal(const json *a, const json *b);

/* Of a value of another kind, or NULL: NULL, 0 or false. Borrowed from the value that they are in. */
json *inspector_member(const json *object, const char *name);
json *inspector_element(const json *array, size_t at);
const char *inspector_member_name(const json *object, size_t at); /* NULL behind the last one */
size_t inspector_json_size(const json *value);                    /* of an object or array */
const char *inspector_text_in(const json *value);                 /* with a zero behind it; borrowed */
size_t inspector_text_size(const json *value);
int64_t inspector_integer_in(const json *value);
double inspector_number_in(const json *value); /* of an integer, too */
void inspector_integer_set(json *value, int64_t number);
bool inspector_is_null(const json *value);
bool inspector_is_boolean(const json *value);
bool inspector_is_true(const json *value);
bool inspector_is_integer(const json *value);
bool inspector_is_number(const json *value);
bool inspector_is_text(const json *value);
bool inspector_is_array(const json *value);
bool inspector_is_object(const json *value);

/* As bytes, with a zero behind them; the caller frees them. NULL: no memory, or no value. */
char *inspector_json_text_of(const json *value, size_t *size);

/* What is wrong with a text, and at which byte, counted from 0. */
typedef struct json_error {
    const char *text;
    size_t position;
} json_error;
/* Reads a text that is one object or array, nested `depth` deep at most. Names that come twice are refused, and so are
 * texts that are no UTF-8, and whole numbers of more than 64 bits. */
json *inspector_json_read(const char *text, size_t size, unsigned depth, json_error *error);

#endif
