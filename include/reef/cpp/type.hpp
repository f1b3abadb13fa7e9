/* Component types in C++: their kinds, names, hooks and records. Part of reef.hpp. */
#ifndef REEF_TYPE_HPP
#define REEF_TYPE_HPP

#include "../../reef.h"
#include "../place.h"
#include "../value_index.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace reef {

using status = reef_status;

/* The options of a component type, all of which may be left out. Specialise it beside the type, before the first use:
 *
 *     template <> struct reef::options<Burning> {
 *         static constexpr const char *name = "Burning";           default: the C++ name
 *         static constexpr reef_home home = REEF_SPARSE;           default: REEF_TABLE; REEF_BIT makes a tag a switch
 *         static constexpr uint32_t page_rows = 64;                for REEF_PAGED
 *         static constexpr reef_on_fork on_fork = REEF_FORK_RESET;
 *         static constexpr bool track_rows = true;
 *         static constexpr const char *unique = "number";          no two entities have the same (reef/hooks.h)
 *         static constexpr const char *indexes[] = {"number"};     as REEF_INDEX (reef/cpp/find.hpp)
 *         static constexpr auto place = reef::placing("x", "y").cell(4);   as REEF_PLACE
 *         using base = Moving;                                     it counts as a Moving too (reef/subtype.h), and
 *                                                                  derives from it
 *         using required = reef::types<Position, Mass>;            they come along with it (reef/required.h)
 *         static constexpr reef_field fields[] = {REEF_FIELDS_OF(Burning, (left, "s"))};
 *     };
 *
 * If C has declared the type already, C's declaration holds. */
template <class T> struct options {
};

/* A list of component types. */
template <class... T> struct types {
};

/* Types of relations derive from one of these (reef/cpp/relation.hpp). `place` is reef's own. */
template <uint32_t Options = 0> struct relation {
    static constexpr uint32_t relation_options = Options;
    reef_entity target;
    uint64_t place = 0;
};
template <class Data, uint32_t Options = 0> struct relation_of {
    static constexpr uint32_t relation_options = Options;
    using relation_data = Data;
    reef_entity target;
    uint64_t place = 0;
    Data data = {};
};

#define REEF_CPP_NAME(T, text) \
    template <> struct reef::options<T> { \
        static constexpr const char *name = text; \
    }
#define REEF_CPP_IN(T, where) \
    template <> struct reef::options<T> { \
        static constexpr reef_home home = where; \
    }

namespace detail {

/* ---- what a type is ---- */

template <class T, class = void> struct is_complete : std::false_type {
};
template <class T> struct is_complete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {
};

/* A struct without a definition that REEF_TAG, REEF_SWITCH or REEF_SUBTAG has declared. */
template <class T, class = void> struct is_declared_tag : std::false_type {
};
template <class T>
struct is_declared_tag<T, std::void_t<decltype(reef_declared_as_tag(static_cast<const T *>(nullptr)))>>
    : std::true_type {
};

/* A struct that is only declared where it is used may have members elsewhere: taken for a tag here, it would be another
 * type than there. */
template <class T> constexpr bool is_tag()
{
    if constexpr (is_complete<T>::value) return std::is_empty_v<T>;
    else {
        static_assert(is_declared_tag<T>::value,
                      "reef: this type is only declared here. Include its definition; for a tag, write struct Name {}; "
                      "or REEF_TAG(Name)");
        return true;
    }
}

/* True if the type's values can be treated as bytes. */
template <class T> constexpr bool is_plain()
{
    /* clang doesn't call a struct with const members, as C's types of relations have, trivially copyable. */
    constexpr bool fixed = std::is_trivially_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
                           std::is_trivially_move_constructible_v<T> && !std::is_move_assignable_v<T>;
    return (std::is_trivially_copyable_v<T> || fixed) && std::is_trivially_destructible_v<T>;
}

/* True if the type's constructors and its destructor become hooks. */
template <class T> constexpr bool owns()
{
    if constexpr (is_tag<T>()) return false;
    else return !is_plain<T>();
}

template <class T, class = void> struct name_of : std::false_type {
};
template <class T> struct name_of<T, std::void_t<decltype(options<T>::name)>> : std::true_type {
};

/* The options of a type of relations, with REEF_IS_RELATION; 0: it is none, or only C says that it is one. */
template <class T, class = void> struct relation_options_of {
    static constexpr uint32_t value = 0;
};
template <class T> struct relation_options_of<T, std::void_t<decltype(T::relation_options)>> {
    static constexpr uint32_t value = T::relation_options | REEF_IS_RELATION;
};
/* The type of a relation's data; void: it has none. */
template <class T, class = void> struct relation_data_of {
    using type = void;
};
template <class T> struct relation_data_of<T, std::void_t<typename T::relation_data>> {
    using type = typename T::relation_data;
};
template <class T, class = void> struct data_of_member {
    using type = void;
};
template <class T> struct data_of_member<T, std::void_t<decltype(T::data)>> {
    using type = std::remove_cv_t<decltype(T::data)>;
};
template <class T> using data_of = typename data_of_member<T>::type;

template <class T, class = void> struct home_of {
    static constexpr reef_home value = relation_options_of<T>::value == 0               ? REEF_TABLE
                                       : relation_options_of<T>::value & REEF_EXCLUSIVE ? REEF_PAGED
                                                                                        : REEF_MULTI;
};
template <class T> struct home_of<T, std::void_t<decltype(options<T>::home)>> {
    static constexpr reef_home value = options<T>::home;
};

template <class T, class = void> struct page_rows_of {
    static constexpr uint32_t value = 0;
};
template <class T> struct page_rows_of<T, std::void_t<decltype(options<T>::page_rows)>> {
    static constexpr uint32_t value = options<T>::page_rows;
};

template <class T, class = void> struct on_fork_of {
    static constexpr reef_on_fork value = REEF_FORK_COPY;
};
template <class T> struct on_fork_of<T, std::void_t<decltype(options<T>::on_fork)>> {
    static constexpr reef_on_fork value = options<T>::on_fork;
};

template <class T, class = void> struct tracks {
    static constexpr bool value = false;
};
template <class T> struct tracks<T, std::void_t<decltype(options<T>::track_rows)>> {
    static constexpr bool value = options<T>::track_rows;
};

/* The name of the field of which no two entities have the same value; NULL: none. */
template <class T, class = void> struct unique_of {
    static constexpr const char *value = nullptr;
};
template <class T> struct unique_of<T, std::void_t<decltype(options<T>::unique)>> {
    static constexpr const char *value = options<T>::unique;
};

template <class T, class = void> struct has_indexes : std::false_type {
};
template <class T> struct has_indexes<T, std::void_t<decltype(options<T>::indexes)>> : std::true_type {
};
template <class T, class = void> struct has_place : std::false_type {
};
template <class T> struct has_place<T, std::void_t<decltype(options<T>::place)>> : std::true_type {
};

template <class T, class = void> struct has_fields : std::false_type {
};
template <class T> struct has_fields<T, std::void_t<decltype(options<T>::fields)>> : std::true_type {
};
template <class T> constexpr bool fields_known()
{
    if constexpr (has_fields<T>::value)
        for (const reef_field &f : options<T>::fields)
            if (f.kind == 0 && f.nested == nullptr) return false;
    return true;
}

template <class T, class = void> struct base_of {
    using type = void;
};
template <class T> struct base_of<T, std::void_t<typename options<T>::base>> {
    using type = typename options<T>::base;
};

template <class T, class = void> struct required_of {
    using list = types<>;
};
template <class T> struct required_of<T, std::void_t<typename options<T>::required>> {
    using list = typename options<T>::required;
};

/* ---- a type's name, as the compiler writes it ---- */

template <class T> constexpr std::string_view signature()
{
#if defined(_MSC_VER) && !defined(__clang__)
    return __FUNCSIG__;
#else
    return __PRETTY_FUNCTION__;
#endif
}
constexpr size_t name_before = signature<double>().find("double");
constexpr size_t name_behind = signature<double>().size() - name_before - 6;

template <class T> constexpr std::string_view written()
{
    std::string_view text = signature<T>();
    text = text.substr(name_before, text.size() - name_before - name_behind);
    for (std::string_view word : {std::string_view("struct "), std::string_view("class "), std::string_view("union "),
                                  std::string_view("enum ")})
        if (text.substr(0, word.size()) == word) text.remove_prefix(word.size());
    return text;
}
constexpr bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           (c & 0x80) != 0;
}
constexpr bool are_words(std::string_view text)
{
    for (char c : text)
        if (!is_name_letter(c)) return false;
    return !text.empty() && text.size() <= REEF_TYPE_NAME_MAX;
}
template <size_t N> struct name_text {
    char text[N + 1] = {};
    constexpr explicit name_text(std::string_view from)
    {
        for (size_t i = 0; i < N; i++) text[i] = from[i];
    }
};
template <class T> struct written_name {
    static_assert(are_words(written<T>()),
                  "reef: this type has no name that is the same everywhere (it is a template, or in a function or an "
                  "unnamed namespace). Give it one: REEF_CPP_NAME(Type, \"name\")");
    static constexpr name_text<written<T>().size()> value{written<T>()};
};
template <class T> constexpr const char *type_name()
{
    if constexpr (name_of<T>::value) return options<T>::name;
    else return written_name<T>::value.text;
}

/* ---- making values ---- */

/* A number as the argument of an aggregate: add<Proximity>(2) works if the member is a float. A float never becomes an
 * integer implicitly. */
template <class A> struct number {
    A value;
    template <class U, class = std::enable_if_t<std::is_arithmetic_v<U> &&
                                                (std::is_floating_point_v<U> || std::is_integral_v<A>)>>
    constexpr operator U() const
    {
        return static_cast<U>(value);
    }
};
template <class A> constexpr decltype(auto) argument(A &&a)
{
    if constexpr (std::is_arithmetic_v<std::decay_t<A>>) return number<std::decay_t<A>>{a};
    else return std::forward<A>(a);
}
template <class T, class... A> T made(A &&...a)
{
    if constexpr (sizeof...(A) == 1 && (std::is_same_v<std::decay_t<A>, T> && ...)) return T(std::forward<A>(a)...);
    else if constexpr (std::is_aggregate_v<T>) return T{argument(std::forward<A>(a))...};
    else return T(std::forward<A>(a)...);
}

/* The args that reef_add_id passes to `construct`. It makes the value in its place. */
struct maker {
    void (*make)(const maker *self, void *slot);
};
template <class T, class F> struct maker_of : maker {
    F *f;
    explicit maker_of(F *from) : maker{run}, f(from) {}
    static void run(const maker *self, void *slot) { (*static_cast<const maker_of *>(self)->f)(slot); }
};

template <class T> reef_status construct(void *, reef_world *, reef_entity, void *slot, const void *args)
{
#if defined(__cpp_exceptions)
    try {
#endif
        if (args) {
            const maker *m = static_cast<const maker *>(args);
            m->make(m, slot);
        } else if constexpr (std::is_default_constructible_v<T>) {
            ::new (slot) T();
        } else {
            return REEF_BAD_ARGUMENT; /* it has no default constructor */
        }
        return REEF_OK;
#if defined(__cpp_exceptions)
    } catch (...) {
        return REEF_NO_MEMORY;
    }
#endif
}
template <class T> reef_status copy(void *, void *to, const void *from)
{
#if defined(__cpp_exceptions)
    try {
        ::new (to) T(*static_cast<const T *>(from));
    } catch (...) {
        return REEF_NO_MEMORY;
    }
#else
    ::new (to) T(*static_cast<const T *>(from));
#endif
    return REEF_OK;
}
template <class T> void move(void *, void *to, void *from) noexcept
{
    T *t = static_cast<T *>(from);
    ::new (to) T(std::move(*t));
    t->~T();
}
template <class T> void destroy(void *, void *slot) noexcept { static_cast<T *>(slot)->~T(); }

template <class T> constexpr reef_hooks hooks_of()
{
    reef_hooks h = {nullptr,
                    nullptr,
                    nullptr,
                    nullptr,
                    nullptr,
                    false,
                    false,
                    on_fork_of<T>::value,
                    tracks<T>::value,
                    unique_of<T>::value};
    if constexpr (owns<T>()) {
        h.construct = construct<T>;
        if constexpr (std::is_copy_constructible_v<T>) h.copy = copy<T>;
        h.move = move<T>;
        h.destroy = destroy<T>;
    }
    return h;
}

/* ---- records of types ---- */

/* The record of a type. It is registered if the program uses the type anywhere, and completed by the first reef::world:
 * by then the declarations of C are known, which hold if there are any. */
struct record {
    reef_type_decl decl, base, data;
    record *base_record, *data_record;
    record *next;
    record **required;               /* `required_count` of them */
    reef_type_decl **required_decls; /* room for their declarations */
    uint32_t required_count;
    record *made_before; /* of a record that has made its type by its own options: the list `makers` */
    void (*found_by)();  /* declares its indexes and its place; NULL: it has none */
};

inline std::atomic<record *> waiting{nullptr};
inline record *makers = nullptr; /* records that have made their types; read and changed while `resolving` is set */
inline std::atomic_flag resolving = ATOMIC_FLAG_INIT;

/* Has another record made a type of this name? Then this one doesn't follow it, but is compared with it. */
inline bool made_by_another(const record *r)
{
    for (const record *other = makers; other; other = other->made_before)
        if (std::string_view(other->decl.name) == r->decl.name) return true;
    return false;
}

inline void record_resolve(record *r)
{
    reef_type_info info;
    reef_type_decl *d = &r->decl;
    if (d->id != 0) return;
    if (r->base_record) {
        record_resolve(r->base_record);
        d->base = &r->base_record->decl;
    }
    if (r->data_record) {
        record_resolve(r->data_record);
        d->data = &r->data_record->decl;
    }
    const bool owns = d->hooks && d->hooks->destroy;
    const bool known = reef_type_get(reef_type_find(d->name), &info);
    if (known && info.size == d->size && info.align == d->align && !made_by_another(r) &&
        (!owns || (info.hooks && info.hooks->destroy && info.hooks->construct))) {
        d->home = info.home;
        d->hooks = info.hooks;
        d->page_rows = info.page_rows;
        d->base = nullptr;
        if (info.base.id != 0) {
            r->base.id = info.base.id;
            d->base = &r->base;
        }
        d->relation = info.relation;
        d->data = nullptr;
        if (info.data.id != 0) {
            r->data.id = info.data.id;
            d->data = &r->data;
        }
    }
    /* False for a contradiction, which reef_declare_error reports. To the compiler reef_resolve is pure: it would drop
     * a call whose result isn't used, and believe that `d` is as it was. */
    const bool made = reef_type_get(reef_resolve(d), &info);
    if (!known && made) {
        r->made_before = makers;
        makers = r;
    }
    if (r->found_by && made) r->found_by();
    if (r->required_count == 0 || !made) return;
    for (uint32_t i = 0; i < r->required_count; i++) {
        record_resolve(r->required[i]);
        r->required_decls[i] = &r->required[i]->decl;
    }
    d->required = r->required_decls;
    d->required_count = r->required_count;
    reef_declare(d);
}

REEF_SELDOM inline void types_resolve()
{
    while (resolving.test_and_set(std::memory_order_acquire)) {}
    for (record *r = waiting.exchange(nullptr, std::memory_order_acq_rel); r;) {
        record *next = r->next;
        record_resolve(r);
        r = next;
    }
    resolving.clear(std::memory_order_release);
}
inline void types_known()
{
    if (REEF_UNLIKELY(waiting.load(std::memory_order_acquire) != nullptr)) types_resolve();
}

struct enlisting {
    explicit enlisting(record *r)
    {
        r->next = waiting.load(std::memory_order_relaxed);
        while (!waiting.compare_exchange_weak(r->next, r, std::memory_order_acq_rel, std::memory_order_relaxed)) {}
    }
};

/* What this file of the program sees of a type. Two files may see different definitions or options, for example where
 * one lacks an include. It is a parameter of the record, so that each of them has a record of its own: the linker would
 * keep one of two records of the same name, which one depends on the order of the files. So both are registered, and
 * that is an error with a message (reef_declare_error). */
template <size_t Size, size_t Align, reef_home Home, uint32_t PageRows, reef_on_fork OnFork, bool Tracked, bool Owns,
          bool Unique, uint32_t Relation>
struct look {
};
template <class T> constexpr auto look_at()
{
    if constexpr (is_tag<T>())
        return look<0, 1, home_of<T>::value, page_rows_of<T>::value, on_fork_of<T>::value, tracks<T>::value, false,
                    unique_of<T>::value != nullptr, relation_options_of<T>::value>();
    else
        return look<sizeof(T), alignof(T), home_of<T>::value, page_rows_of<T>::value, on_fork_of<T>::value,
                    tracks<T>::value, owns<T>(), unique_of<T>::value != nullptr, relation_options_of<T>::value>();
}

/* Declarations in the lists of the process, for as long as the library that has them is loaded. */
template <size_t N> struct indexes_declared {
    reef_index_decl list[N];
    indexes_declared(reef_type_decl *type, const char *const (&fields)[N])
    {
        for (size_t i = 0; i < N; i++) {
            list[i] = reef_index_decl{type, fields[i], nullptr};
            reef_index_declare_(&list[i]);
        }
    }
    indexes_declared(const indexes_declared &) = delete;
    ~indexes_declared()
    {
        for (size_t i = 0; i < N; i++) reef_index_undeclare_(&list[i]);
    }
};
struct place_declared {
    reef_place_decl one;
    place_declared(reef_type_decl *type, const reef_place_desc *desc) : one{type, desc, nullptr}
    {
        reef_place_declare_(&one);
    }
    place_declared(const place_declared &) = delete;
    ~place_declared() { reef_place_undeclare_(&one); }
};

template <class T, class Look = decltype(look_at<T>())> struct record_of {
    static_assert(std::is_same_v<T, std::remove_cv_t<T>> && !std::is_reference_v<T> && !std::is_pointer_v<T>,
                  "reef: a component can't be a pointer, a reference or const");
    static constexpr reef_hooks hooks = hooks_of<T>();
    static constexpr bool hooked =
        owns<T>() || on_fork_of<T>::value != REEF_FORK_COPY || tracks<T>::value || unique_of<T>::value != nullptr;
    static record value;
    static const enlisting enlisted;

    static constexpr uint32_t size()
    {
        if constexpr (is_tag<T>()) return 0;
        else return static_cast<uint32_t>(sizeof(T));
    }
    static constexpr uint32_t align()
    {
        if constexpr (is_tag<T>()) return 1;
        else return static_cast<uint32_t>(alignof(T));
    }
    static constexpr const reef_field *fields()
    {
        if constexpr (has_fields<T>::value) return options<T>::fields;
        else return nullptr;
    }
    static constexpr uint32_t field_count()
    {
        if constexpr (has_fields<T>::value)
            return static_cast<uint32_t>(sizeof options<T>::fields / sizeof(reef_field));
        else return 0;
    }
    /* The code of the library that the type needs: reef_type_decl.brings. */
    static constexpr void (*brings())()
    {
        if (relation_options_of<T>::value != 0) return reef_bring_relations_;
        if (!std::is_void_v<typename base_of<T>::type>) return reef_bring_subtypes_;
        if (hooked) return reef_bring_hooks_;
        return home_of<T>::value != REEF_TABLE ? reef_bring_rows_ : nullptr;
    }
    static record *base();
    static record *data();
    template <class... R> static record *require(types<R...>);
    static void found_by()
    {
        if constexpr (has_indexes<T>::value) {
            static indexes_declared indexes(&value.decl, options<T>::indexes);
            (void)indexes;
        }
        if constexpr (has_place<T>::value) {
            static const reef_place_desc desc = options<T>::place.desc();
            static place_declared place(&value.decl, &desc);
            (void)place;
        }
    }

    static reef_type_decl *decl()
    {
        if constexpr (is_complete<T>::value && is_tag<T>()) {
            static_assert(std::is_trivially_destructible_v<T>,
                          "reef: an empty struct is a tag, which has no values: its destructor would never be called");
        } else if constexpr (!is_tag<T>()) {
            static_assert(std::is_move_constructible_v<T> && std::is_destructible_v<T>,
                          "reef: this type can't be moved, and rows move. Give it a move constructor, or keep it "
                          "behind a std::unique_ptr");
            static_assert(
                sizeof(T) <= REEF_SIZE_MAX,
                "reef: a component has at most REEF_SIZE_MAX bytes. Keep what is larger behind a std::unique_ptr");
            static_assert(fields_known<T>(),
                          "reef: a field is a number, bool, enum, text in an array of char, reef_entity or array of "
                          "these; leave out what a member owns, such as std::string");
            static_assert(alignof(T) <= REEF_ALIGN_MAX, "reef: a component is aligned to at most REEF_ALIGN_MAX bytes");
        }
        (void)&enlisted; /* so that it is instantiated */
        return &value.decl;
    }
};
template <class T, class Look> record *record_of<T, Look>::base()
{
    using B = typename base_of<T>::type;
    if constexpr (std::is_void_v<B>) return nullptr;
    else {
        static_assert(std::is_base_of_v<B, T>, "reef: a subtype derives from its base");
        return (void)record_of<B>::decl(), &record_of<B>::value;
    }
}
template <class T, class Look> record *record_of<T, Look>::data()
{
    using D = typename relation_data_of<T>::type;
    if constexpr (std::is_void_v<D>) return nullptr;
    else {
        static_assert(is_plain<D>(), "reef: the data of a relation must be plain");
        return (void)record_of<D>::decl(), &record_of<D>::value;
    }
}
template <class T, class Look> template <class... R> record *record_of<T, Look>::require(types<R...>)
{
    if constexpr (sizeof...(R) != 0) {
        static record *required[] = {((void)record_of<R>::decl(), &record_of<R>::value)...};
        static reef_type_decl *decls[sizeof...(R)];
        value.required = required;
        value.required_decls = decls;
        value.required_count = static_cast<uint32_t>(sizeof...(R));
    }
    return &value;
}
template <class T, class Look>
record record_of<T, Look>::value = {{type_name<T>(), size(), align(), home_of<T>::value, hooked ? &hooks : nullptr,
                                     fields(), field_count(), page_rows_of<T>::value, nullptr,
                                     relation_options_of<T>::value, nullptr, 0, nullptr, nullptr, 0, 0, brings()},
                                    {},
                                    {},
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    0,
                                    nullptr,
                                    has_indexes<T>::value || has_place<T>::value ? found_by : nullptr};
template <class T, class Look>
const enlisting record_of<T, Look>::enlisted{
    (value.base_record = base(), value.data_record = data(), require(typename required_of<T>::list()))};

template <class T> constexpr bool is_stored = home_of<T>::value >= REEF_SPARSE &&home_of<T>::value <= REEF_COLD;

template <class T> constexpr void needs_data()
{
    static_assert(!is_tag<T>(), "reef: a tag has no value. Ask with has<T>(), give it with add<T>()");
}

template <class R, class = void> struct is_relation : std::false_type {
};
template <class R>
struct is_relation<R, std::void_t<decltype(R::target)>>
    : std::is_same<std::remove_cv_t<decltype(R::target)>, reef_entity> {
};
template <class R> constexpr void needs_relation()
{
    static_assert(is_relation<R>::value, "reef: this is no type of relations: derive it from reef::relation<...>, or "
                                         "declare it by REEF_RELATION");
}

template <class T> constexpr void needs_calls()
{
    static_assert(std::is_const_v<T> || unique_of<std::remove_const_t<T>>::value == nullptr,
                  "reef: a type with a unique field is written by calls only, such as set(): take it as const T");
}

template <class... T> struct distinct : std::true_type {
};
template <class A, class... B>
struct distinct<A, B...> : std::bool_constant<(!std::is_same_v<A, B> && ...) && distinct<B...>::value> {
};

} // namespace detail

/* The id of a component type; {0} if it contradicts another type of the same name (reef_declare_error). */
template <class T> inline reef_component id()
{
    reef_type_decl *decl = detail::record_of<T>::decl();
    detail::types_known();
    return reef_id_of(decl);
}
namespace detail {
/* The same for a call with this world (reef_id_with). */
template <class T> inline reef_component id_with(const reef_world *w)
{
    reef_type_decl *decl = record_of<T>::decl();
    types_known();
    return reef_id_with(w, decl);
}
} // namespace detail
/* The type's name in texts, files and messages. */
template <class T> inline const char *type_name() { return detail::record_of<T>::decl()->name; }

/* Values side by side. */
template <class T> struct span {
    T *first = nullptr;
    uint32_t count = 0;

    T *begin() const { return first; }
    T *end() const { return first + count; }
    T *data() const { return first; }
    uint32_t size() const { return count; }
    T &operator[](size_t i) const { return first[i]; }
};

/* ---- items in lists of components ---- */

template <class T> struct with {
}; /* it must be there, but its value isn't an item of the row */
template <class T> struct without {
}; /* it must not be there. In change(): removes it */
template <class T> struct tag {
}; /* a tag in spawn() and change() */
/* In spawn_many(): an array with one value for each entity. spawn_many(3, ids, reef::array(positions)) */
template <class T> struct array {
    const T *values;
    explicit array(const T *first) : values(first) {}
};

} // namespace reef

#endif
