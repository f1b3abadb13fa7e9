/* How the short form of fields and names becomes a list: the kind of a member by its C type, and one initialiser for
 * each item. An item is a word, or a list in parentheses. */
#ifndef REEF_DETAIL_FIELD_H
#define REEF_DETAIL_FIELD_H

#include "../field.h"

/* A mistake in a list of fields is told in the list, without a note for each of the macros below. */
#if defined(__GNUC__)
#pragma GCC system_header
#endif

/* ---- the kind of a member; 0: fields can't hold it ---- */

#ifdef __cplusplus
#define REEF_STATIC_ASSERT_ static_assert
#define REEF_MEMBER_KIND_(T, member) (reef_kind_of_<REEF_TYPE_OF_FIELD(T, member)>::kind)
extern "C++" {
constexpr reef_kind reef_kind_if_(bool is, reef_kind kind) { return is ? kind : static_cast<reef_kind>(0); }
constexpr reef_kind reef_whole_kind_(bool is_signed, size_t bytes)
{
    return static_cast<reef_kind>(reef_kind_if_(bytes == 1, is_signed ? REEF_I8 : REEF_U8) +
                                  reef_kind_if_(bytes == 2, is_signed ? REEF_I16 : REEF_U16) +
                                  reef_kind_if_(bytes == 4, is_signed ? REEF_I32 : REEF_U32) +
                                  reef_kind_if_(bytes == 8, is_signed ? REEF_I64 : REEF_U64));
}
template <class T, bool is_enum = __is_enum(T)> struct reef_kind_of_ {
    static constexpr reef_kind kind = static_cast<reef_kind>(0);
};
template <class T> struct reef_kind_of_<T, true> : reef_kind_of_<__underlying_type(T)> {
};
template <class T> struct reef_kind_of_<const T, false> : reef_kind_of_<T> {
};
template <class T, size_t N> struct reef_kind_of_<T[N], false> : reef_kind_of_<T> {
};
template <class T, size_t N> struct reef_kind_of_<const T[N], false> : reef_kind_of_<T> {
};
#define REEF_KIND_IS_(T, is) \
    template <> struct reef_kind_of_<T, false> { \
        static constexpr reef_kind kind = is; \
    };
#define REEF_KIND_WHOLE_(T, is_signed) REEF_KIND_IS_(T, reef_whole_kind_(is_signed, sizeof(T)))
REEF_KIND_IS_(bool, REEF_BOOL)
REEF_KIND_IS_(char, REEF_CHAR)
REEF_KIND_IS_(float, REEF_F32)
REEF_KIND_IS_(double, REEF_F64)
REEF_KIND_IS_(reef_entity, REEF_ENTITY)
REEF_KIND_WHOLE_(signed char, true)
REEF_KIND_WHOLE_(unsigned char, false)
REEF_KIND_WHOLE_(short, true)
REEF_KIND_WHOLE_(unsigned short, false)
REEF_KIND_WHOLE_(int, true)
REEF_KIND_WHOLE_(unsigned, false)
REEF_KIND_WHOLE_(long, true)
REEF_KIND_WHOLE_(unsigned long, false)
REEF_KIND_WHOLE_(long long, true)
REEF_KIND_WHOLE_(unsigned long long, false)
#undef REEF_KIND_IS_
#undef REEF_KIND_WHOLE_
/* "ANGRY" of "Mood::ANGRY" */
constexpr bool reef_is_scope_(const char *text) { return text[0] == ':' && text[1] == ':'; }
constexpr const char *reef_scope_end_(const char *text) { return reef_is_scope_(text) ? text + 2 : text + 1; }
constexpr const char *reef_unscoped_(const char *text, const char *last)
{
    return *text == 0 ? last : reef_unscoped_(reef_scope_end_(text), reef_is_scope_(text) ? text + 2 : last);
}
constexpr const char *reef_unscoped_(const char *text) { return reef_unscoped_(text, text); }
}
#else
#define REEF_STATIC_ASSERT_ _Static_assert
#define REEF_MEMBER_KIND_(T, member) REEF_VALUE_KIND_(((T *)0)->member)
#define REEF_I_LONG_ (sizeof(long) == 8 ? REEF_I64 : REEF_I32)
#define REEF_U_LONG_ (sizeof(long) == 8 ? REEF_U64 : REEF_U32)
/* clang-format off */
/* An enum counts as the type of integers that it is compatible with. */
#define REEF_VALUE_KIND_(x) \
    _Generic((x), bool: REEF_BOOL, char: REEF_CHAR, signed char: REEF_I8, unsigned char: REEF_U8, short: REEF_I16, \
             unsigned short: REEF_U16, int: REEF_I32, unsigned: REEF_U32, long: REEF_I_LONG_, \
             unsigned long: REEF_U_LONG_, long long: REEF_I64, unsigned long long: REEF_U64, float: REEF_F32, \
             double: REEF_F64, reef_entity: REEF_ENTITY, default: REEF_ARRAY_KIND_(&(x), REEF_MATRIX_KIND_(x)))
/* `p` points to an array of any length, which a pointer to an array of no length is compatible with. */
#define REEF_ARRAY_KIND_(p, other) \
    _Generic((p), bool(*)[]: REEF_BOOL, char(*)[]: REEF_CHAR, signed char(*)[]: REEF_I8, unsigned char(*)[]: REEF_U8, \
             short(*)[]: REEF_I16, unsigned short(*)[]: REEF_U16, int(*)[]: REEF_I32, unsigned(*)[]: REEF_U32, \
             long(*)[]: REEF_I_LONG_, unsigned long(*)[]: REEF_U_LONG_, long long(*)[]: REEF_I64, \
             unsigned long long(*)[]: REEF_U64, float(*)[]: REEF_F32, double(*)[]: REEF_F64, \
             reef_entity(*)[]: REEF_ENTITY, default: other)
/* clang-format on */
/* An array of arrays becomes a pointer to its first array. */
#define REEF_MATRIX_KIND_(x) REEF_ARRAY_KIND_(x, 0)
#define reef_unscoped_(text) text
#endif

/* ---- lists ---- */

/* M(T, item) for each item, with empty ones behind them; at most 64. */
#define REEF_EACH_(M, T, ...) \
    REEF_EACH_OF_(M, T, __VA_ARGS__, REEF_NO_ITEMS_, REEF_NO_ITEMS_, REEF_NO_ITEMS_, REEF_NO_ITEMS_, REEF_NO_ITEM_)
#define REEF_NO_ITEM_ (, , , , , , )
#define REEF_NO_ITEMS_ \
    REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, \
        REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, REEF_NO_ITEM_, \
        REEF_NO_ITEM_, REEF_NO_ITEM_
#define REEF_EACH_OF_(...) REEF_EACH_64_(__VA_ARGS__)
/* clang-format off */
#define REEF_EACH_64_(M, T, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, \
                      c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4, d5, d6, d7, \
                      e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2, f3, f4, f5, f6, f7, \
                      g0, g1, g2, g3, g4, g5, g6, g7, h0, h1, h2, h3, h4, h5, h6, h7, more, ...) \
    M(T, a0) M(T, a1) M(T, a2) M(T, a3) M(T, a4) M(T, a5) M(T, a6) M(T, a7) \
    M(T, b0) M(T, b1) M(T, b2) M(T, b3) M(T, b4) M(T, b5) M(T, b6) M(T, b7) \
    M(T, c0) M(T, c1) M(T, c2) M(T, c3) M(T, c4) M(T, c5) M(T, c6) M(T, c7) \
    M(T, d0) M(T, d1) M(T, d2) M(T, d3) M(T, d4) M(T, d5) M(T, d6) M(T, d7) \
    M(T, e0) M(T, e1) M(T, e2) M(T, e3) M(T, e4) M(T, e5) M(T, e6) M(T, e7) \
    M(T, f0) M(T, f1) M(T, f2) M(T, f3) M(T, f4) M(T, f5) M(T, f6) M(T, f7) \
    M(T, g0) M(T, g1) M(T, g2) M(T, g3) M(T, g4) M(T, g5) M(T, g6) M(T, g7) \
    M(T, h0) M(T, h1) M(T, h2) M(T, h3) M(T, h4) M(T, h5) M(T, h6) M(T, h7) \
    REEF_PASTE_(REEF_NO_MORE_THAN_64_, REEF_ITEM_LENGTH_(more))
/* clang-format on */
#define REEF_NO_MORE_THAN_64_7 /* the item behind the 64th is an empty one; for others there is no macro */
#define REEF_PASTE_(a, b) REEF_PASTED_(a, b)
#define REEF_PASTED_(a, b) a##b
/* How many words an item has, 7 in an empty one. */
#define REEF_ITEM_LENGTH_(item) REEF_LENGTH_(REEF_ITEM_WORDS_(item))
#define REEF_LENGTH_(...) REEF_LENGTH_OF_(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0)
#define REEF_LENGTH_OF_(a, b, c, d, e, f, g, n, ...) n
#define REEF_ITEM_WORDS_(item) REEF_PASTE_(REEF_ITEM_WORDS_, REEF_IN_PARENTHESES_(item))(item)
#define REEF_ITEM_WORDS_0(item) item
#define REEF_ITEM_WORDS_1(item) REEF_WORDS_ item
#define REEF_WORDS_(...) __VA_ARGS__
#define REEF_IN_PARENTHESES_(item) REEF_SECOND_(REEF_PARENTHESES_ item, 0, 0)
#define REEF_PARENTHESES_(...) 0, 1
#define REEF_SECOND_(...) REEF_SECOND_OF_(__VA_ARGS__)
#define REEF_SECOND_OF_(a, b, ...) b
/* M with the length and the words of an item: REEF_FIELD_2_(T, mass, "kg"). */
#define REEF_BY_LENGTH_(M, T, item) REEF_CALL_(REEF_PASTE_(M, REEF_ITEM_LENGTH_(item)), (T, REEF_ITEM_WORDS_(item)))
#define REEF_CALL_(M, arguments) M arguments
/* The same once more, for an item within an item. */
#define REEF_BY_LENGTH_INSIDE_(M, T, item) \
    REEF_CALL_INSIDE_(REEF_PASTE_(M, REEF_ITEM_LENGTH_(item)), (T, REEF_ITEM_WORDS_(item)))
#define REEF_CALL_INSIDE_(M, arguments) M arguments

/* ---- fields ---- */

#define REEF_FIELD_OF_(T, item) REEF_BY_LENGTH_(REEF_FIELD_, T, item)
#define REEF_FIELD_1(T, member) \
    REEF_FIELD_BEGIN_1(T, member) NULL \
    } \
    ,
#define REEF_FIELD_2(T, member, unit) \
    REEF_FIELD_BEGIN_2(T, member, unit) NULL \
    } \
    ,
#define REEF_FIELD_3(T, member, word, Name) \
    REEF_FIELD_BEGIN_3(T, member, word, Name) NULL \
    } \
    ,
#define REEF_FIELD_4(T, member, unit, lowest, highest) \
    REEF_FIELD_BEGIN_4(T, member, unit, lowest, highest) NULL \
    } \
    ,
#define REEF_FIELD_5(T, member, kind, unit, lowest, highest) \
    REEF_FIELD_BEGIN_5(T, member, kind, unit, lowest, highest) NULL \
    } \
    ,
#define REEF_FIELD_6(T, item, was, b, c, d, e) \
    REEF_BY_LENGTH_INSIDE_(REEF_FIELD_BEGIN_, T, item) was \
    } \
    ,
#define REEF_FIELD_7(T, a, b, c, d, e, f, g)
/* All of a field but the names that it had before. */
#define REEF_FIELD_BEGIN_1(T, member) REEF_FIELD_BEGIN_4(T, member, NULL, 0, 0)
#define REEF_FIELD_BEGIN_2(T, member, unit) REEF_FIELD_BEGIN_4(T, member, unit, 0, 0)
#define REEF_FIELD_BEGIN_3(T, member, word, Name) REEF_FIELD_##word(T, member, Name)
#define REEF_FIELD_BEGIN_4(T, member, unit, lowest, highest) \
    REEF_FIELD_BEGIN_5(T, member, REEF_MEMBER_KIND_(T, member), unit, lowest, highest)
#define REEF_FIELD_BEGIN_5(T, member, kind, unit, lowest, highest) \
    REEF_FIELD_ROW_(T, member, kind, unit, lowest, highest, NULL, NULL)
#define REEF_FIELD_enum(T, member, Name) \
    REEF_FIELD_ROW_(T, member, REEF_MEMBER_KIND_(T, member), NULL, 0, 0, &reef_declared_by_REEF_ENUM_##Name, NULL)
#define REEF_FIELD_struct(T, member, Name) \
    REEF_FIELD_ROW_(T, member, REEF_CAST(reef_kind, 0), NULL, 0, 0, NULL, &reef_declared_by_REEF_STRUCT_##Name)
#define REEF_FIELD_ROW_(T, member, kind, unit, lowest, highest, names, nested) \
    { \
#member, kind, REEF_CAST(uint32_t, offsetof(T, member)), \
            REEF_CAST(uint32_t, sizeof(REEF_CAST(T *, 0)->member)), unit, lowest, highest, names, nested,
#define REEF_FIELD_WAS_TEXT_(...) #__VA_ARGS__

/* What can be said about the members while compiling. */
#define REEF_FIELDS_CHECK_(T, ...) REEF_EACH_(REEF_CHECK_OF_, T, __VA_ARGS__)
#define REEF_CHECK_OF_(T, item) REEF_BY_LENGTH_(REEF_CHECK_, T, item)
#define REEF_CHECK_1(T, member) \
    REEF_STATIC_ASSERT_(REEF_MEMBER_KIND_(T, member) != 0, \
                        "reef: " #T "." #member " is no number, bool, enum, text, reef_entity or array of these; for " \
                        "a struct write (" #member ", struct, Name), with REEF_STRUCT(Name, ...) before");
#define REEF_CHECK_2(T, member, unit) REEF_CHECK_1(T, member)
#define REEF_CHECK_3(T, member, word, Name) REEF_CHECK_##word(T, member, Name)
#define REEF_CHECK_4(T, member, unit, lowest, highest) REEF_CHECK_1(T, member)
#define REEF_CHECK_5(T, member, kind, unit, lowest, highest)
#define REEF_CHECK_6(T, item, was, b, c, d, e) REEF_BY_LENGTH_INSIDE_(REEF_CHECK_, T, item)
#define REEF_CHECK_7(T, a, b, c, d, e, f, g)
#define REEF_CHECK_enum(T, member, Name) \
    REEF_STATIC_ASSERT_(REEF_MEMBER_KIND_(T, member) >= REEF_I8 && REEF_MEMBER_KIND_(T, member) <= REEF_U64, \
                        "reef: " #T "." #member " has names, but it is no integer or enum");
#define REEF_CHECK_struct(T, member, Name) \
    REEF_STATIC_ASSERT_(sizeof(REEF_CAST(T *, 0)->member) % sizeof(Name) == 0, \
                        "reef: " #T "." #member " has another size than a " #Name);

/* ---- names ---- */

#define REEF_NAMES_DECLARE_(Name, mask, ...) \
    static const reef_named_value reef_named_values_##Name[] = {REEF_EACH_(REEF_NAME_OF_, Name, __VA_ARGS__)}; \
    REEF_UNUSED static const reef_names reef_declared_by_REEF_ENUM_##Name = { \
        #Name, reef_named_values_##Name, \
        REEF_CAST(uint32_t, sizeof reef_named_values_##Name / sizeof reef_named_values_##Name[0]), mask}
#define REEF_NAME_OF_(Name, item) REEF_BY_LENGTH_(REEF_NAME_, Name, item)
#define REEF_NAME_1(Name, value) REEF_NAME_2(Name, value, reef_unscoped_(#value))
#define REEF_NAME_2(Name, value, text) {text, REEF_CAST(int64_t, value)},
#define REEF_NAME_7(Name, a, b, c, d, e, f, g)

/* The declaration of a type in a list of them (REEF_MODULE_TYPES); nothing for what is behind the last one. */
#define REEF_MODULE_TYPE_(list, item) REEF_PASTE_(REEF_MODULE_TYPE_, REEF_IN_PARENTHESES_(item))(item)
#define REEF_MODULE_TYPE_0(T) &reef_declared_by_REEF_COMPONENT_##T,
#define REEF_MODULE_TYPE_1(T)

#endif
