/* Systems in C++: the parameters of their functions declare what they touch. Part of reef.hpp.
 *
 *     world.system("move", [](Position &p, const Velocity &v, float dt) { p.x += v.x * dt; });
 *
 * A parameter is one of these:
 *
 *     T &, const T &           the row's component, for writing or reading
 *     T *, const T *           the same for one that may be missing: then NULL
 *     span<T>, span<const T>   the values of rows that lie side by side: the function is called for runs of rows
 *     sub<T>, all<T>, changed<T>, added<T>   as in views (cpp/query.hpp); all except all<T> are used like a pointer to
 *                              the row's value: m->speed
 *     const Tag &, with<T>, without<T>   filters
 *     entity, reef_entity      the row's entity; for runs of rows span<const reef_entity>
 *     reef_random              the generator of the row's random numbers, which depend on the state alone
 *     float                    the time step of the tick or of the phase, in seconds
 *     reef_block &             the block, for calls of the C interface
 *     reads<T...>              reads components of other entities, and singletons
 *     indexed<&Team::id>       reads Team, and asks the value index of the field (cpp/find.hpp)
 *     placed<T>                asks the picture of the place of T that was made when the system began
 *     writes<T...>             reads and writes them: such a system runs in one job
 *     commands<...>            changes the structure at the end of the phase. The list declares the commands:
 *                              spawns<T...>, adds<T...>, removes<T...>, enables<T...> (without a type: of all types),
 *                              destroys, names, relates<R...>, unrelates<R...>. Other commands don't compile
 *     sends<T>, receives<T>    sends or receives events
 *     sums<T>                  the job's part of a singleton: sum->total += 3. The parts are added up in order, by T's
 *                              operator +=
 *
 * Further arguments of world.system(name, function, arguments ...) are kept, and passed to the function's last
 * parameters in every call; std::ref passes a reference. The function may be a function, a lambda, a functor with one
 * operator(), or a member function with its object (world.system("step", &Game::step, &game)). The function and its
 * arguments are freed with the last world that has the system; forks call the same function with the same arguments.
 *
 * A function that may change what it keeps (a mutable lambda, a functor or member function that isn't const, std::ref
 * of an object that isn't const) is never split into jobs. A function without parameters for rows or blocks is called
 * once in each run. */
#ifndef REEF_SYSTEM_HPP
#define REEF_SYSTEM_HPP

#include "query.hpp"

#include <functional>

namespace reef {

class world;
class world_ref;

/* ---- parameters ---- */

/* Components of other entities, for reading. */
template <class... T> class reads {
  public:
    explicit reads(reef_block *b) : w(b->world) {}
    template <class C> const C *get(reef_entity e) const
    {
        static_assert((std::is_same_v<C, T> || ...), "reef: the system doesn't declare that it reads this type");
        return detail::get<C>(w, e);
    }
    template <class C> bool has(reef_entity e) const
    {
        static_assert((std::is_same_v<C, T> || ...), "reef: the system doesn't declare that it reads this type");
        return detail::has<C>(w, e);
    }
    template <class C> const C *single() const
    {
        static_assert((std::is_same_v<C, T> || ...), "reef: the system doesn't declare that it reads this type");
        return static_cast<const C *>(reef_single_get_id(w, id<C>()));
    }

  private:
    const reef_world *w;
};

/* The value index of a field, as an index<T, F> of that field. The world must have it (options<T>::indexes). */
template <auto Member>
class indexed : public index<typename detail::member_of<decltype(Member)>::type,
                             typename detail::member_of<decltype(Member)>::field> {
    using of = detail::member_of<decltype(Member)>;

  public:
    explicit indexed(reef_block *b)
        : index<typename of::type, typename of::field>(
              reef_indexed_id(b, id<typename of::type>(), detail::field_name(Member)))
    {
    }
};

/* The picture of a place, as a place<T>. */
template <class T> class placed : public place<T> {
  public:
    explicit placed(reef_block *b) : place<T>(reef_placed_id(b, id<T>())) {}
};

template <class... T> class writes {
  public:
    explicit writes(reef_block *b) : w(b->world) {}
    template <class C> const C *get(reef_entity e) const { return check<C>(), detail::get<C>(w, e); }
    template <class C> bool has(reef_entity e) const { return check<C>(), detail::has<C>(w, e); }
    template <class C> C *mut(reef_entity e) const { return check<C>(), detail::mut<C>(w, e); }
    template <class C> const C *single() const
    {
        return check<C>(), static_cast<const C *>(reef_single_get_id(w, id<C>()));
    }
    template <class C> C *single_mut() const { return check<C>(), static_cast<C *>(reef_single_mut_id(w, id<C>())); }

  private:
    template <class C> static constexpr void check()
    {
        static_assert((std::is_same_v<C, T> || ...), "reef: the system doesn't declare that it writes this type");
    }
    reef_world *w;
};

template <class... T> struct spawns {
};
template <class... T> struct adds {
};
template <class... T> struct removes {
};
template <class... T> struct enables {
};
struct destroys {};
struct names {};
template <class... R> struct relates {
};
template <class... R> struct unrelates {
};

namespace detail {

/* Does a list of commands allow this command? */
template <class Word, class T> struct allows : std::false_type {
};
template <template <class...> class Word, class... A, class T>
struct allows<Word<A...>, Word<T>> : std::bool_constant<sizeof...(A) == 0 || (std::is_same_v<A, T> || ...)> {
};
template <class A> struct is_spawns : std::false_type {
};
template <class... A> struct is_spawns<spawns<A...>> : std::true_type {
};
template <class A> struct is_enables_all : std::false_type {
};
template <> struct is_enables_all<enables<>> : std::true_type {
};

template <class W> struct touch_of;
template <reef_touch_kind Kind, class... T> struct touches {
    static void declare(reef_system_desc &d, uint32_t &n)
    {
        if constexpr (sizeof...(T) == 0) put(d, n, reef_null_component_());
        else (put(d, n, id<T>()), ...);
    }
    static void put(reef_system_desc &d, uint32_t &n, reef_component c)
    {
        for (uint32_t i = 0; i < n && i < REEF_TOUCHES_MAX; i++)
            if (d.touches[i].kind == Kind && d.touches[i].type.id == c.id) return;
        if (n < REEF_TOUCHES_MAX) {
            d.touches[n].kind = Kind;
            d.touches[n].type = c;
        }
        n++;
    }
};
template <class... T> struct touch_of<spawns<T...>> : touches<REEF_SPAWNS, T...> {
};
template <class... T> struct touch_of<adds<T...>> : touches<REEF_ADDS, T...> {
};
template <class... T> struct touch_of<removes<T...>> : touches<REEF_REMOVES, T...> {
};
template <class... T> struct touch_of<enables<T...>> : touches<REEF_ENABLES, T...> {
};
template <class... R> struct touch_of<relates<R...>> : touches<REEF_RELATES, R...> {
};
template <class... R> struct touch_of<unrelates<R...>> : touches<REEF_UNRELATES, R...> {
};
template <> struct touch_of<destroys> : touches<REEF_DESTROYS> {
};
template <> struct touch_of<names> : touches<REEF_NAMES> {
};

template <class Words, class V> struct changed_by : allows<Words, adds<std::decay_t<V>>> {
};
template <class Words, class T> struct changed_by<Words, tag<T>> : allows<Words, adds<T>> {
};
template <class Words, class T> struct changed_by<Words, without<T>> : allows<Words, removes<T>> {
};

template <class V> struct spawned {
    using type = std::decay_t<V>;
};
template <class T> struct spawned<tag<T>> {
    using type = T;
};
template <class T> struct spawned<tag<T> &> {
    using type = T;
};

} // namespace detail

/* Commands, which change the structure at the end of the phase. Handles of entities that it makes can be used at once
 * in further commands. */
template <class... W> class commands {
    template <class Word> static constexpr bool allowed = (detail::allows<W, Word>::value || ...);
    template <class Word> static constexpr bool listed = (std::is_same_v<W, Word> || ...);
    template <class R> static constexpr void check_relates()
    {
        detail::needs_relation<R>();
        static_assert(allowed<relates<R>>, "reef: the system's commands don't list relates<...> of this type");
    }
    template <class V> static constexpr bool can_change() { return (detail::changed_by<W, V>::value || ...); }

  public:
    explicit commands(reef_block *block) : b(block) {}

    template <class... V> reef_entity spawn(V &&...values) const
    {
        static_assert((allowed<spawns<typename detail::spawned<V>::type>> && ...) &&
                          (detail::is_spawns<W>::value || ...),
                      "reef: the system's commands don't list spawns<...> of this type");
        reef_block *const block = b;
        auto f = [block](const reef_value *list, uint32_t n) { return reef_cmd_spawn_values(block, list, n); };
        return detail::with_values(
            f, [](reef_entity e) { return !reef_entity_is_null(e); }, std::forward<V>(values)...);
    }
    /* Adds a tag, or a component that is zeroed or made by the type's constructor. */
    template <class T> reef_status add(reef_entity e) const
    {
        static_assert(allowed<adds<T>>, "reef: the system's commands don't list adds<...> of this type");
        if constexpr (!detail::is_tag<T>())
            static_assert(!detail::is_plain<T>() || std::is_trivially_default_constructible_v<T>,
                          "reef: this type's default value isn't all zeros: give a value by set(entity, value)");
        return reef_cmd_add_id(b, e, id<T>());
    }
    template <class V> reef_status set(reef_entity e, V &&value) const
    {
        using T = std::decay_t<V>;
        static_assert(allowed<adds<T>>, "reef: the system's commands don't list adds<...> of this type");
        detail::needs_data<T>();
        auto held = detail::hold<T>(std::forward<V>(value));
        const reef_status s = reef_cmd_set_id(b, e, id<T>(), held.data(), sizeof(T));
        held.taken(s >= 0);
        return s;
    }
    template <class T> reef_status remove(reef_entity e) const
    {
        static_assert(allowed<removes<T>>, "reef: the system's commands don't list removes<...> of this type");
        return reef_cmd_remove_id(b, e, id<T>());
    }
    /* Makes several changes in one step: change(e, Health{3}, reef::tag<Hurt>(), reef::without<Shield>()). */
    template <class... V> reef_status change(reef_entity e, V &&...values) const
    {
        static_assert((can_change<std::remove_cv_t<std::remove_reference_t<V>>>() && ...),
                      "reef: the system's commands don't list adds<...> or removes<...> of this type");
        reef_block *const block = b;
        auto f = [block, e](const reef_value *list, uint32_t n) { return reef_cmd_change_values(block, e, list, n); };
        return detail::with_values(
            f, [](reef_status s) { return s >= 0; }, std::forward<V>(values)...);
    }
    template <class T> reef_status enable(reef_entity e, bool on = true) const
    {
        static_assert(allowed<enables<T>>, "reef: the system's commands don't list enables<...> of this type");
        return reef_cmd_enable_id(b, e, id<T>(), on);
    }
    reef_status enable(reef_entity e, bool on = true) const
    {
        static_assert((detail::is_enables_all<W>::value || ...),
                      "reef: the system's commands don't list enables<>, for whole entities");
        return reef_cmd_enable_id(b, e, reef_null_component_(), on);
    }
    reef_status destroy(reef_entity e) const
    {
        static_assert(listed<destroys>, "reef: the system's commands don't list destroys");
        return reef_cmd_destroy(b, e);
    }
    template <class R> reef_status relate(reef_entity source, reef_entity target) const
    {
        check_relates<R>();
        return reef_cmd_relate_id(b, source, id<R>(), target, nullptr, 0);
    }
    template <class R, class D> reef_status relate(reef_entity source, reef_entity target, const D &data) const
    {
        check_relates<R>();
        static_assert(std::is_same_v<D, detail::data_of<R>>, "reef: this isn't the type of the relation's data");
        return reef_cmd_relate_id(b, source, id<R>(), target, &data, sizeof(D));
    }
    template <class R> reef_status relate_before(reef_entity source, reef_entity target, reef_entity next) const
    {
        check_relates<R>();
        return reef_cmd_relate_before_id(b, source, id<R>(), target, next);
    }
    template <class R> reef_status retarget(reef_entity source, reef_entity from, reef_entity to) const
    {
        check_relates<R>();
        return reef_cmd_retarget_id(b, source, id<R>(), from, to);
    }
    template <class R> reef_status unrelate(reef_entity source, reef_entity target) const
    {
        static_assert(allowed<unrelates<R>>, "reef: the system's commands don't list unrelates<...> of this type");
        return reef_cmd_unrelate_id(b, source, id<R>(), target);
    }
    reef_status rename(reef_entity e, const char *text) const
    {
        static_assert(listed<names>, "reef: the system's commands don't list names");
        return reef_cmd_name(b, e, text);
    }

  private:
    reef_block *b;
};

template <class T> class sends {
    static_assert(!detail::owns<T>(), "reef: events must be plain data, and this type isn't");

  public:
    explicit sends(reef_block *block) : b(block) {}
    template <class... A> reef_status operator()(A &&...arguments) const
    {
        if constexpr (detail::is_tag<T>()) {
            return reef_send_id(b, id<T>(), nullptr, 0);
        } else {
            const T value = detail::made<T>(std::forward<A>(arguments)...);
            T aside = value;
            *static_cast<T *>(reef_send_room_fast(b, id<T>(), sizeof(T), &aside)) = value;
            return reef_sent_fast(b);
        }
    }

  private:
    reef_block *b;
};

/* for (const Hit &hit : hits) ... */
template <class T> class receives {
    static_assert(!detail::owns<T>(), "reef: events must be plain data, and this type isn't");

  public:
    explicit receives(reef_block *block) : b(block) {}
    struct end_mark {};
    class place {
      public:
        explicit place(const reef_block *block) : r(reef_receive_id(block, id<T>())), at(reef_next_event(&r)) {}
        bool operator!=(end_mark) const { return at != nullptr; }
        const T &operator*() const { return *static_cast<const T *>(at); }
        place &operator++()
        {
            at = reef_next_event(&r);
            return *this;
        }

      private:
        reef_events r;
        const void *at;
    };
    place begin() const { return place(b); }
    end_mark end() const { return {}; }
    uint64_t count() const { return reef_receive_id(b, id<T>()).count; }

  private:
    reef_block *b;
};

/* The job's part of a singleton. A system may sum one type. */
template <class T> class sums {
  public:
    explicit sums(const reef_block *b) : part(static_cast<T *>(reef_part_id(b, id<T>()))) {}
    T &operator*() const { return *part; }
    T *operator->() const { return part; }

  private:
    static_assert(!detail::owns<T>(), "reef: the parts of a sum must be plain data, and this type isn't");
    T *part;
};

namespace detail {

/* ---- what a parameter is ---- */

/* What a parameter requires of the function: nothing; that it is called for rows; that it is called for runs of
 * rows. */
enum class form { any, row, run };

/* A parameter that doesn't depend on the row. */
struct plain_parameter {
    static constexpr form needs = form::any;
    static constexpr bool is_term = false;
    using term_type = void;
    static bool term(reef_query_desc &, uint32_t &) { return true; }
    static void touch(reef_system_desc &, uint32_t &) {}
};

/* A parameter that is made once for each block, and passed by value or by reference. */
template <class T> struct own_parameter : plain_parameter {
    T value;
    explicit own_parameter(reef_block *b) : value(b) {}
    REEF_INLINE_MEMBER T &at(uint32_t) { return value; }
    REEF_INLINE_MEMBER T &part(uint32_t, uint32_t) { return value; }
};

template <class P> constexpr bool is_world = std::is_same_v<P, world> || std::is_same_v<P, world_ref>;
template <class P> struct parameter : plain_parameter { /* by value, and none of the types above */
    static_assert(!is_world<P>, "reef: a system isn't given the world, since it declares what it touches: reads<T>, "
                                "writes<T>, commands<...>, sends<T>; reef/cpp/system.hpp lists the other parameters");
    static_assert(
        is_world<P>,
        "reef: a system takes components by reference (T &, const T &), by pointer where they may be missing, or "
        "by span; reef/cpp/system.hpp lists the other parameters");
    explicit parameter(const reef_block *);
    P &at(uint32_t) const;
    P &part(uint32_t, uint32_t) const;
};

template <> struct parameter<float> : plain_parameter {
    float value;
    REEF_INLINE_MEMBER explicit parameter(const reef_block *b) : value(b->dt) {}
    REEF_INLINE_MEMBER float at(uint32_t) const { return value; }
    REEF_INLINE_MEMBER float part(uint32_t, uint32_t) const { return value; }
};
template <> struct parameter<reef_block &> : plain_parameter {
    reef_block *value;
    REEF_INLINE_MEMBER explicit parameter(reef_block *b) : value(b) {}
    REEF_INLINE_MEMBER reef_block &at(uint32_t) const { return *value; }
    REEF_INLINE_MEMBER reef_block &part(uint32_t, uint32_t) const { return *value; }
};
template <> struct parameter<reef_entity> : plain_parameter {
    static constexpr form needs = form::row;
    const reef_entity *first;
    REEF_INLINE_MEMBER explicit parameter(const reef_block *b) : first(b->entities) {}
    REEF_INLINE_MEMBER reef_entity at(uint32_t i) const { return first[i]; }
};
/* The generator of the row's random numbers (reef/random.h). */
template <> struct parameter<reef_random> : plain_parameter {
    static constexpr form needs = form::row;
    const reef_block *of;
    explicit parameter(const reef_block *b) : of(b) {}
    reef_random at(uint32_t i) const { return reef_random_for(of, of->entities[i]); }
};
template <> struct parameter<entity> : plain_parameter {
    static constexpr form needs = form::row;
    reef_world *w;
    const reef_entity *first;
    REEF_INLINE_MEMBER explicit parameter(const reef_block *b) : w(b->world), first(b->entities) {}
    REEF_INLINE_MEMBER entity at(uint32_t i) const { return entity(w, first[i]); }
};
template <> struct parameter<span<const reef_entity>> : plain_parameter {
    static constexpr form needs = form::run;
    const reef_entity *first;
    REEF_INLINE_MEMBER explicit parameter(const reef_block *b) : first(b->entities) {}
    REEF_INLINE_MEMBER span<const reef_entity> part(uint32_t i, uint32_t n) const
    {
        return span<const reef_entity>{first + i, n};
    }
};

template <class Column, form Form> struct term_parameter : Column {
    static constexpr form needs = Form;
    static constexpr bool is_term = true;
    using term_type = typename Column::type;
    using Column::Column;
    static void touch(reef_system_desc &, uint32_t &) {}
};
template <class T> struct row_parameter : term_parameter<column<T>, form::row> {
    using term_parameter<column<T>, form::row>::term_parameter;
    REEF_INLINE_MEMBER T &at(uint32_t i) const { return this->first[i]; }
};
template <class T> struct optional_parameter : term_parameter<optional_column<T>, form::row> {
    using term_parameter<optional_column<T>, form::row>::term_parameter;
    REEF_INLINE_MEMBER T *at(uint32_t i) const { return this->first ? this->first + i : nullptr; }
};
template <class T> struct run_parameter : term_parameter<column<T>, form::run> {
    using term_parameter<column<T>, form::run>::term_parameter;
    REEF_INLINE_MEMBER span<T> part(uint32_t i, uint32_t n) const { return span<T>{this->first + i, n}; }
};
/* A parameter that stands for the row's value. */
template <class Column, class Word> struct word_parameter : term_parameter<Column, form::row> {
    using term_parameter<Column, form::row>::term_parameter;
    REEF_INLINE_MEMBER Word at(uint32_t i) const { return Word{{&Column::at(i)}}; }
};
template <class T> struct multi_parameter : term_parameter<multi_column<T>, form::row> {
    using term_parameter<multi_column<T>, form::row>::term_parameter;
};
/* A filter: the argument has no content. */
template <class Filter, class Word> struct filter_parameter : term_parameter<Filter, form::any> {
    using term_parameter<Filter, form::any>::term_parameter;
    static constexpr Word value{};
    REEF_INLINE_MEMBER const Word &at(uint32_t) const { return value; }
    REEF_INLINE_MEMBER const Word &part(uint32_t, uint32_t) const { return value; }
};

template <class... T> struct parameter<reads<T...>> : own_parameter<reads<T...>> {
    using own_parameter<reads<T...>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { touches<REEF_READS, T...>::declare(d, n); }
};
template <auto Member> struct parameter<indexed<Member>> : own_parameter<indexed<Member>> {
    using own_parameter<indexed<Member>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n)
    {
        touches<REEF_READS, typename member_of<decltype(Member)>::type>::declare(d, n);
    }
};
template <class T> struct parameter<placed<T>> : own_parameter<placed<T>> {
    using own_parameter<placed<T>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { touches<REEF_PLACED, T>::declare(d, n); }
};
template <class... T> struct parameter<writes<T...>> : own_parameter<writes<T...>> {
    using own_parameter<writes<T...>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { touches<REEF_WRITES, T...>::declare(d, n); }
};
template <class... W> struct parameter<commands<W...>> : own_parameter<commands<W...>> {
    using own_parameter<commands<W...>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { (touch_of<W>::declare(d, n), ...); }
};
template <class T> struct parameter<sends<T>> : own_parameter<sends<T>> {
    using own_parameter<sends<T>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { touches<REEF_SENDS, T>::declare(d, n); }
};
template <class T> struct parameter<receives<T>> : own_parameter<receives<T>> {
    using own_parameter<receives<T>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n) { touches<REEF_RECEIVES, T>::declare(d, n); }
};

template <class T, class = void> struct adds_up : std::false_type {
};
template <class T>
struct adds_up<T, std::void_t<decltype(std::declval<T &>() += std::declval<const T &>())>> : std::true_type {
};
template <class T> struct parameter<sums<T>> : own_parameter<sums<T>> {
    using own_parameter<sums<T>>::own_parameter;
    static void touch(reef_system_desc &d, uint32_t &n)
    {
        static_assert(adds_up<T>::value,
                      "reef: the parts of sums<T> are added up by T's operator +=, which is missing");
        touches<REEF_SUMS, T>::declare(d, n);
        d.combine = [](void *total, const void *part) { *static_cast<T *>(total) += *static_cast<const T *>(part); };
    }
};

template <class T> struct is_word : std::false_type {
};
template <> struct is_word<float> : std::true_type {
};
template <> struct is_word<entity> : std::true_type {
};
template <> struct is_word<reef_entity> : std::true_type {
};
template <> struct is_word<reef_random> : std::true_type {
};
template <class T> struct is_word<span<T>> : std::true_type {
};
template <class... T> struct is_word<reads<T...>> : std::true_type {
};
template <auto Member> struct is_word<indexed<Member>> : std::true_type {
};
template <class T> struct is_word<placed<T>> : std::true_type {
};
template <class... T> struct is_word<writes<T...>> : std::true_type {
};
template <class... T> struct is_word<commands<T...>> : std::true_type {
};
template <class T> struct is_word<sends<T>> : std::true_type {
};
template <class T> struct is_word<receives<T>> : std::true_type {
};
template <class T> struct is_word<sums<T>> : std::true_type {
};
template <class T> struct is_word<sub<T>> : std::true_type {
};
template <class T> struct is_word<all<T>> : std::true_type {
};
template <class T> struct is_word<changed<T>> : std::true_type {
};
template <class T> struct is_word<added<T>> : std::true_type {
};
template <class T> struct is_word<with<T>> : std::true_type {
};
template <class T> struct is_word<without<T>> : std::true_type {
};

template <class T> struct same {
    using type = T;
};
template <class T> struct parameter_word {
    using type = parameter<T>;
};
template <class T> struct parameter_word<span<T>> {
    using type = run_parameter<T>;
};
template <> struct parameter_word<span<const reef_entity>> {
    using type = parameter<span<const reef_entity>>;
};
template <class T> struct parameter_word<sub<T>> {
    using type = word_parameter<sub_column<T>, sub<T>>;
};
template <class T> struct parameter_word<all<T>> {
    using type = multi_parameter<T>;
};
template <class T> struct parameter_word<changed<T>> {
    using type = word_parameter<since_column<T, REEF_IF_CHANGED>, changed<T>>;
};
template <class T> struct parameter_word<added<T>> {
    using type = word_parameter<since_column<T, REEF_IF_ADDED>, added<T>>;
};
template <class T> struct parameter_word<with<T>> {
    using type = filter_parameter<with_filter<T>, with<T>>;
};
template <class T> struct parameter_word<without<T>> {
    using type = filter_parameter<without_filter<T>, without<T>>;
};

template <class P> constexpr auto choose_parameter()
{
    using D = std::remove_cv_t<std::remove_reference_t<P>>;
    using R = std::remove_reference_t<P>;
    if constexpr (is_word<D>::value) return same<typename parameter_word<D>::type>();
    else if constexpr (std::is_same_v<D, reef_block>) return same<parameter<reef_block &>>();
    else if constexpr (is_world<std::remove_cv_t<std::remove_pointer_t<D>>>)
        return same<parameter<std::remove_cv_t<std::remove_pointer_t<D>>>>();
    else if constexpr (std::is_pointer_v<D>) return same<optional_parameter<std::remove_pointer_t<D>>>();
    else if constexpr (std::is_lvalue_reference_v<P> && is_tag<D>()) {
        static_assert(std::is_const_v<R>, "reef: a tag has no value to write: take it as const T &, or as with<T>");
        return same<filter_parameter<with_filter<D>, D>>();
    } else if constexpr (std::is_lvalue_reference_v<P>) return same<row_parameter<R>>();
    else return same<parameter<P>>();
}
template <class P> using parameter_of = typename decltype(choose_parameter<P>())::type;

/* ---- what a function is ---- */

template <class... P> struct list {
    static constexpr size_t size = sizeof...(P);
};

/* The parameters of a function, and whether a call may change it. */
template <class F, class = void> struct callable {
    static_assert(!std::is_same_v<F, F>,
                  "reef: a system is a function, a lambda without auto parameters, a functor with one operator(), or a "
                  "member with its object");
    using parameters = list<>;
    static constexpr bool constant = true;
};
template <class... P> struct plain_callable {
    using parameters = list<P...>;
    static constexpr bool constant = true;
};
template <class... P> struct changing_callable {
    using parameters = list<P...>;
    static constexpr bool constant = false;
};
template <class M> struct member;
template <class R, class C, class... P> struct member<R (C::*)(P...)> : changing_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) noexcept> : changing_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) const> : plain_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) const noexcept> : plain_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) &> : changing_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) &noexcept> : changing_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) const &> : plain_callable<P...> {
};
template <class R, class C, class... P> struct member<R (C::*)(P...) const &noexcept> : plain_callable<P...> {
};
template <class R, class... P> struct callable<R (*)(P...), void> : plain_callable<P...> {
};
template <class R, class... P> struct callable<R (*)(P...) noexcept, void> : plain_callable<P...> {
};
template <class F> struct callable<F, std::void_t<decltype(&F::operator())>> : member<decltype(&F::operator())> {
};

/* A member function with its object. */
template <class M, class C> struct bound_member {
    M m;
    C *object;
    template <class... A> REEF_INLINE_MEMBER void operator()(A &&...a) const { (object->*m)(std::forward<A>(a)...); }
};
template <class M, class C> struct callable<bound_member<M, C>, void> : member<M> {
};

/* The first of the parameters; the others get the arguments that were kept. */
template <class L, class Kept, class Done = list<>> struct split_parameters;
template <class... P, class Kept> struct split_parameters<list<P...>, Kept, list<>> {
    static_assert(sizeof...(P) >= std::tuple_size_v<Kept>,
                  "reef: more arguments were given than the function has parameters");
    static constexpr size_t count = sizeof...(P) - std::tuple_size_v<Kept>;
    template <size_t... I>
    static list<std::tuple_element_t<I, std::tuple<same<P>...>>...> pick(std::index_sequence<I...>);
    using type = decltype(pick(std::make_index_sequence<count>()));
};

template <class A> struct is_changing : std::false_type {
};
template <class A> struct is_changing<std::reference_wrapper<A>> : std::bool_constant<!std::is_const_v<A>> {
};
template <class A> struct is_changing<A *> : std::bool_constant<!std::is_const_v<A>> {
};

/* A kept argument, as it is passed to the function, which can't change a copy. */
template <class A> REEF_INLINE const A &handed(const A &a) { return a; }
template <class A> REEF_INLINE A &handed(const std::reference_wrapper<A> &a) { return a.get(); }

/* ---- calling ---- */

template <class F, class Kept, class... P> struct runner {
    using parameters = std::tuple<parameter_of<P>...>;
    using indices = std::index_sequence_for<P...>;
    using kept_indices = std::make_index_sequence<std::tuple_size_v<Kept>>;
    static constexpr bool rows = ((parameter_of<P>::needs == form::row) || ...);
    static constexpr bool by_runs = ((parameter_of<P>::needs == form::run) || ...);
    static constexpr bool queries = (parameter_of<P>::is_term || ...);
    static_assert(!(rows && by_runs),
                  "reef: a system takes either rows (T &, T *, entity) or runs of them (span<T>), not both");
    static_assert((size_t{0} + ... + (parameter_of<P>::is_term ? 1 : 0)) <= REEF_TERMS_MAX,
                  "reef: more components than a query can have");
    static_assert(queries || !(rows || by_runs), "reef: the system takes entities: name a component that they have");

    /* True if no component is named twice. */
    template <class... Q> static constexpr bool once(list<Q...>) { return distinct<Q...>::value; }
    template <class... A, class... B> static list<A..., B...> joined(list<A...>, list<B...>);
    static list<> join() { return {}; }
    template <class L> static L join(L l) { return l; }
    template <class A, class B, class... M> static auto join(A a, B b, M... more)
    {
        return join(decltype(joined(a, b))(), more...);
    }
    template <class Q> static auto term_list()
    {
        if constexpr (Q::is_term) return list<typename Q::term_type>();
        else return list<>();
    }
    static_assert(once(decltype(join(term_list<parameter_of<P>>()...))()), "reef: a component is named twice");

    template <size_t... I, size_t... K>
    REEF_INLINE_MEMBER static void call(reef_block *b, F &f, const Kept &kept, std::index_sequence<I...>,
                                        std::index_sequence<K...>)
    {
        parameters p(parameter_of<P>{b}...);
        (void)p;
        if constexpr (rows) {
            runs(b, [&](uint32_t first, uint32_t n) {
                for (uint32_t i = first; i < first + n; i++) f(std::get<I>(p).at(i)..., handed(std::get<K>(kept))...);
            });
        } else if constexpr (by_runs) {
            runs(b, [&](uint32_t first, uint32_t n) {
                f(std::get<I>(p).part(first, n)..., handed(std::get<K>(kept))...);
            });
        } else {
            f(std::get<I>(p).part(0, b->count)..., handed(std::get<K>(kept))...);
        }
    }
    REEF_INLINE_MEMBER static void call(reef_block *b, F &f, const Kept &kept)
    {
        call(b, f, kept, indices(), kept_indices());
    }

    static bool describe(reef_query_desc &q, reef_system_desc &d)
    {
        uint32_t terms = 0, n = 0;
        while (n < REEF_TOUCHES_MAX && d.touches[n].kind != 0) n++;
        const bool sound = (parameter_of<P>::term(q, terms) && ... && true);
        (parameter_of<P>::touch(d, n), ...);
        if (terms != 0) d.query = &q;
        return sound && n <= REEF_TOUCHES_MAX;
    }
};
template <class F, class Kept, class L> struct runner_for;
template <class F, class Kept, class... P> struct runner_for<F, Kept, list<same<P>...>> {
    using type = runner<F, Kept, P...>;
};

/* The function and the kept arguments, outside of the world. */
template <class F, class... A> struct kept_system {
    using kept = std::tuple<A...>;
    using run =
        typename runner_for<F, kept, typename split_parameters<typename callable<F>::parameters, kept>::type>::type;
    static constexpr bool changing = !callable<F>::constant || (is_changing<A>::value || ...);
    /* A function object without members is known by its type alone: then the system has no context, and the checked
     * build can run it twice. */
    static constexpr bool nothing = std::is_empty_v<F> && is_plain<F>() && sizeof...(A) == 0;

    F f;
    kept arguments;

    static void function(reef_block *b) noexcept
    {
        kept_system *self = static_cast<kept_system *>(b->context);
        run::call(b, self->f, self->arguments);
    }
    static void function_alone(reef_block *b) noexcept
    {
        const kept none;
        run::call(b, *std::launder(reinterpret_cast<F *>(place)), none);
    }
    static void free(void *context) noexcept { delete static_cast<kept_system *>(context); }
    alignas(F) static inline unsigned char place[sizeof(F)];
};

} // namespace detail

/* ---- describing a system ---- */

namespace detail {

/* A condition is known by its type alone, as it has no members: so it is called without a context. */
template <class F, class W> struct kept_condition {
    static_assert(std::is_empty_v<F> && is_plain<F>(),
                  "reef: a condition is a lambda without captures, since forks and replays ask it, too: it depends on "
                  "the state of the world alone");
    static_assert(std::is_invocable_r_v<bool, F &, const W &>,
                  "reef: a condition takes const reef::world_ref & and returns a bool");
    static bool function(const reef_world *w, void *) noexcept
    {
        return (*std::launder(reinterpret_cast<F *>(place)))(W(const_cast<reef_world *>(w)));
    }
    alignas(F) static inline unsigned char place[sizeof(F)];
};

} // namespace detail

/* The settings of a system. Only the name is needed; the members mean the same as those of reef_system_desc. */
struct about {
    const char *name;
    const char *phase = nullptr, *before = nullptr, *after = nullptr;
    uint64_t interval_ns = 0;
    bool main_thread = false, whole = false, off = false;
    bool (*condition)(const reef_world *, void *) = nullptr;

    about(const char *called) : name(called) {}
    about &in(const char *text) { return phase = text, *this; }
    about &runs_before(const char *text) { return before = text, *this; }
    about &runs_after(const char *text) { return after = text, *this; }
    about &every_ns(uint64_t ns) { return interval_ns = ns, *this; }
    about &on_main_thread() { return main_thread = true, *this; }
    about &in_one_job() { return whole = true, *this; }
    about &switched_off() { return off = true, *this; }
    /* Asked before each run: run_if([](const reef::world_ref &w) { return w.single<State>()->playing; }). */
    template <class F, class W = world_ref> about &run_if(F f)
    {
        ::new (static_cast<void *>(detail::kept_condition<F, W>::place)) F(f);
        return condition = detail::kept_condition<F, W>::function, *this;
    }
};

/* A system of a world: a plain handle. */
class system_ref {
  public:
    system_ref() = default;
    system_ref(reef_world *world, reef_system_id system) : w(world), s(system) {}
    /* False if it couldn't be made: see world.error(). */
    explicit operator bool() const { return !reef_system_is_null(s); }
    operator reef_system_id() const { return s; }
    const char *name() const { return w ? reef_system_name(w, s) : nullptr; }
    bool is_enabled() const { return w && reef_system_is_enabled(w, s); }
    reef_status enable(bool on) const { return w ? reef_system_enable(w, s, on) : REEF_NOT_ALIVE; }
    reef_status remove() const { return w ? reef_system_remove(w, s) : REEF_NOT_ALIVE; }

  private:
    reef_world *w = nullptr;
    reef_system_id s = {0, 0, 0};
};

namespace detail {

/* Fills a description from a function and calls `done(desc)`, which returns whether the world has taken it. */
template <class F, class... A, class Done> bool describe_system(const about &a, F f, Done done, A... arguments)
{
    using kept = kept_system<F, A...>;
    reef_query_desc q = {};
    reef_system_desc d = {};
    d.name = a.name;
    d.phase = a.phase;
    d.before = a.before;
    d.after = a.after;
    d.interval_ns = a.interval_ns;
    d.main_thread = a.main_thread;
    d.whole = a.whole || kept::changing;
    d.off = a.off;
    d.condition = a.condition;
    types_known();
    if (kept::run::describe(q, d)) {
        if constexpr (kept::nothing) {
            ::new (static_cast<void *>(kept::place)) F(f);
            d.function = kept::function_alone;
        } else {
            d.function = kept::function;
            d.context = new (std::nothrow) kept{std::move(f), std::tuple<A...>(std::move(arguments)...)};
            d.context_free = kept::free;
            if (d.context == nullptr) return false;
        }
    }
    if (done(d)) return true;
    if constexpr (!kept::nothing) kept::free(d.context);
    return false;
}

} // namespace detail

} // namespace reef

#endif
