/* Loops in C++: views and queries. Part of reef.hpp.
 *
 *     for (auto [entity, p, v] : world.view<Position, const Velocity>()) p.x += v.x;
 *
 * The list of components has these items. On the right is what a row gives for each item, after its entity.
 *
 *     T                            it must be there; read and written, marked as changed    T &
 *     const T                      it must be there; only read                              const T &
 *     T *, const T *               it may be there                                          T *, const T *; or NULL
 *     a tag, with<T>, without<T>   filters                                                  nothing
 *     to<R>                        a relation R to an entity, which is an argument:         nothing
 *                                  view<Position, to<DockedTo>>(planet)
 *     near<T>                      only within a radius around a centre, by the place    nothing
 *                                  of T: view<near<Position>>(around(3, 4).radius(5))
 *     sub<T>, sub<const T>         T or a subtype of it (reef/subtype.h)                    T &, const T &
 *     all<T>, all<const T>         all values of a type in REEF_MULTI                       span<T>, span<const T>
 *     changed<T>, added<T>         only rows where it was written, or added, since this     T &
 *     changed<const T>, ...        query last ran                                           const T &
 *
 * While a loop is open, structural changes return LOCKED.
 *
 * There are three forms of loops. A range-for goes row by row. each() calls a function for every row, and compiles to
 * the same inner loop over arrays as in C, which compilers vectorise. blocks() gives the arrays. */
#ifndef REEF_QUERY_HPP
#define REEF_QUERY_HPP

#include "entity.hpp"
#include "find.hpp"

namespace reef {

/* ---- further items in lists of components, and parameters of systems ---- */

namespace detail {
/* An item of a row, as a parameter: it stands for the value. */
template <class T> struct row_value {
    T *value = nullptr;
    T &operator*() const { return *value; }
    T *operator->() const { return value; }
    operator T &() const { return *value; }
};
} // namespace detail

/* only rows with a relation R to an entity, which is an argument of the view or the query */
template <class R> struct to {
};
/* only rows within a radius around a centre, which is an argument of the view, or given by query::near */
template <class T> struct near {
};
template <class T> struct sub : detail::row_value<T> {
}; /* the component, or a subtype of it */
/* only rows where it was written since the query last ran (REEF_IF_CHANGED) */
template <class T> struct changed : detail::row_value<T> {
};
/* only rows where it was added since then; for types with track_rows */
template <class T> struct added : detail::row_value<T> {
};
/* all values that the entity has of a type in REEF_MULTI */
template <class T> struct all : span<T> {
};

/* Values at a fixed distance from each other. */
template <class T> struct strided {
    T *first = nullptr;
    size_t stride = 0; /* bytes */
    uint32_t count = 0;

    uint32_t size() const { return count; }
    T &operator[](size_t i) const
    {
        using bytes = std::conditional_t<std::is_const_v<T>, const char, char>;
        return *reinterpret_cast<T *>(reinterpret_cast<bytes *>(first) + i * stride);
    }
};

namespace detail {

/* A term of a query, and the item of a row that it gives. */
struct filter {
    static constexpr bool hands_out = false;
    filter() = default;
    explicit filter(const reef_block *) {}
};

template <class T, reef_access Access, reef_op Op> reef_term &add_term(reef_query_desc &d, uint32_t &n)
{
    reef_term &t = d.terms[n++]; /* there is always room: lists that are too long don't compile */
    t.component = id<T>();
    t.access = Access;
    t.op = Op;
    return t;
}

/* A type in REEF_SPLIT has no struct in memory, so it can't be an item of a row. */
template <class T> bool in_rows()
{
    reef_type_info info;
    return reef_type_get(id<T>(), &info) && info.home != REEF_SPLIT;
}

template <class T> struct column {
    using type = std::remove_const_t<T>;
    static constexpr bool hands_out = true;
    T *first = nullptr;
    column() = default;
    REEF_INLINE_MEMBER explicit column(const reef_block *b) : first(fetch(b)) {}
    REEF_INLINE_MEMBER T &at(uint32_t i) const { return first[i]; }
    REEF_INLINE_MEMBER span<T> part(uint32_t i, uint32_t n) const { return span<T>{first + i, n}; }
    REEF_INLINE_MEMBER static T *fetch(const reef_block *b)
    {
        const reef_component c = reef_id_of(record_of<type>::decl());
        if constexpr (std::is_const_v<T>) return static_cast<T *>(reef_block_in_fast(b, c));
        else return static_cast<T *>(reef_block_inout_fast(b, c));
    }
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        needs_calls<T>();
        add_term<type, std::is_const_v<T> ? REEF_IN : REEF_INOUT, REEF_HAS>(d, n);
        return in_rows<type>();
    }
};

template <class T> struct optional_column {
    using type = std::remove_const_t<T>;
    static constexpr bool hands_out = true;
    T *first = nullptr;
    optional_column() = default;
    REEF_INLINE_MEMBER explicit optional_column(const reef_block *b) : first(column<T>::fetch(b)) {}
    REEF_INLINE_MEMBER T *at(uint32_t i) const { return first ? first + i : nullptr; }
    /* An empty span where the component isn't there. */
    REEF_INLINE_MEMBER span<T> part(uint32_t i, uint32_t n) const { return first ? span<T>{first + i, n} : span<T>{}; }
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        needs_data<type>();
        needs_calls<T>();
        add_term<type, std::is_const_v<T> ? REEF_IN : REEF_INOUT, REEF_OPTIONAL>(d, n);
        return in_rows<type>();
    }
};

template <class T> struct with_filter : filter {
    using type = T;
    using filter::filter;
    static bool term(reef_query_desc &d, uint32_t &n) { return add_term<T, REEF_WITH, REEF_HAS>(d, n), true; }
};
template <class T> struct without_filter : filter {
    using type = T;
    using filter::filter;
    static bool term(reef_query_desc &d, uint32_t &n) { return add_term<T, REEF_INOUT, REEF_NOT>(d, n), true; }
};

/* The target is written into the term by make_query. */
template <class R> struct to_filter : filter {
    using type = to<R>;
    using filter::filter;
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        return needs_relation<R>(), add_term<R, REEF_WITH, REEF_HAS>(d, n), true;
    }
};

/* The centre is given by reef_query_near, which world_ref::view and query::near call. */
template <class T> struct near_filter : filter {
    using type = near<T>;
    using filter::filter;
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        add_term<T, REEF_WITH, REEF_HAS>(d, n).near = true;
        return true;
    }
};

/* Subtypes may be larger than their base, so their values are accessed with the block's stride. */
template <class T> struct sub_column {
    using type = std::remove_const_t<T>;
    static constexpr bool hands_out = true;
    strided<T> values;
    sub_column() = default;
    explicit sub_column(const reef_block *b)
    {
        const reef_strided s = reef_block_sub(b, id<type>(), !std::is_const_v<T>);
        values = strided<T>{static_cast<T *>(s.first), s.stride, b->count};
    }
    REEF_INLINE_MEMBER T &at(uint32_t i) const { return values[i]; }
    REEF_INLINE_MEMBER strided<T> part(uint32_t i, uint32_t n) const
    {
        return strided<T>{&values[i], values.stride, n};
    }
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        needs_data<type>();
        add_term<type, std::is_const_v<T> ? REEF_IN : REEF_INOUT, REEF_HAS>(d, n).subtypes = 1;
        return in_rows<type>();
    }
};

/* Several values of one entity. */
template <class T> struct multi_column {
    using type = std::remove_const_t<T>;
    static constexpr bool hands_out = true;
    const reef_block *b = nullptr;
    multi_column() = default;
    explicit multi_column(const reef_block *block) : b(block) {}
    all<T> at(uint32_t i) const
    {
        all<T> s;
        if constexpr (std::is_const_v<T>) s.first = static_cast<T *>(reef_block_get_all_id(b, id<type>(), i, &s.count));
        else s.first = static_cast<T *>(reef_block_mut_all_id(b, id<type>(), i, &s.count));
        return s;
    }
    struct rows {
        multi_column of;
        uint32_t from, count;
        uint32_t size() const { return count; }
        all<T> operator[](size_t i) const { return of.at(from + static_cast<uint32_t>(i)); }
    };
    rows part(uint32_t i, uint32_t n) const { return rows{*this, i, n}; }
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        needs_data<type>();
        add_term<type, std::is_const_v<T> ? REEF_IN : REEF_INOUT, REEF_HAS>(d, n);
        return in_rows<type>();
    }
};

template <class T, reef_since Since> struct since_column : column<T> {
    using column<T>::column;
    static bool term(reef_query_desc &d, uint32_t &n)
    {
        needs_data<std::remove_const_t<T>>();
        const uint32_t here = n;
        const bool sound = column<T>::term(d, n);
        d.terms[here].since = Since;
        return sound;
    }
};

template <class T> struct item_of {
    using type = std::conditional_t<is_tag<std::remove_const_t<T>>(), with_filter<std::remove_const_t<T>>, column<T>>;
};
template <class T> struct item_of<T &> : item_of<T> {
};
template <class T> struct item_of<T *> {
    using type = optional_column<T>;
};
template <class T> struct item_of<sub<T>> {
    using type = sub_column<T>;
};
template <class T> struct item_of<all<T>> {
    using type = multi_column<T>;
};
template <class T> struct item_of<changed<T>> {
    using type = since_column<T, REEF_IF_CHANGED>;
};
template <class T> struct item_of<added<T>> {
    using type = since_column<T, REEF_IF_ADDED>;
};
template <class T> struct item_of<with<T>> {
    using type = with_filter<T>;
};
template <class R> struct item_of<to<R>> {
    using type = to_filter<R>;
};
template <class T> struct item_of<near<T>> {
    using type = near_filter<T>;
};
template <class T> struct is_to : std::false_type {
};
template <class R> struct is_to<to<R>> : std::true_type {
};
template <class T> struct item_of<without<T>> {
    using type = without_filter<T>;
};
template <class T> using item = typename item_of<T>::type;

template <class... T> constexpr void check_terms()
{
    static_assert(sizeof...(T) > 0, "reef: name at least one component");
    static_assert(sizeof...(T) <= REEF_TERMS_MAX, "reef: more components than a query can have");
    static_assert(distinct<typename item<T>::type...>::value, "reef: a component is named twice");
}

/* A query for a list of items. The targets are those of its items to<R>, in order. Forks have it if it isn't `own`. */
template <class... T, class... E> reef_query make_query(reef_world *w, bool own, const E &...targets)
{
    check_terms<T...>();
    static_assert((size_t{0} + ... + (is_to<T>::value ? 1 : 0)) == sizeof...(E),
                  "reef: one argument, the target, for each to<R> in the list");
    reef_query_desc d = {};
    uint32_t n = 0;
    if (!(item<T>::term(d, n) && ...)) return reef_query{0, 0, 0};
    if constexpr (sizeof...(E) > 0) {
        constexpr bool aimed[] = {is_to<T>::value...};
        const reef_entity list[] = {targets...};
        uint32_t k = 0;
        for (uint32_t i = 0; i < sizeof...(T); i++)
            if (aimed[i]) d.terms[i].target = list[k++];
        for (reef_entity e : list)
            if (reef_entity_is_null(e)) return reef_query{0, 0, 0}; /* nobody is related to the null entity */
    }
    d.own = own;
    return reef_query_make(w, &d);
}

/* Calls f(columns, first, n) for each run of matching rows of a block. */
template <class F> REEF_INLINE void runs(const reef_block *b, F &&f)
{
    if (REEF_LIKELY(b->loop.mask == nullptr)) {
        f(0u, b->count);
        return;
    }
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n) f(first, n);
}

/* The indices of those items that give something in a row. */
template <class... Item> struct handed_out {
    static constexpr size_t count = (size_t{0} + ... + (Item::hands_out ? 1 : 0));
    struct places {
        size_t at[sizeof...(Item) + 1] = {};
    };
    static constexpr places find()
    {
        places p;
        size_t n = 0, i = 0;
        ((Item::hands_out ? (p.at[n++] = i, ++i) : ++i), ...);
        return p;
    }
    static constexpr places all = find();
    template <size_t... K> static std::index_sequence<all.at[K]...> sequence(std::index_sequence<K...>);
    using indices = decltype(sequence(std::make_index_sequence<count>()));
};

} // namespace detail

/* One loop over everything that matches. It is opened by begin(), each() or blocks(), and ends after the last row, or
 * when the view goes out of scope. */
template <class... T> class view {
    using columns = std::tuple<detail::item<T>...>;
    using indices = typename detail::handed_out<detail::item<T>...>::indices;
    template <size_t... I>
    static auto row_type(std::index_sequence<I...>)
        -> std::tuple<entity, decltype(std::declval<const std::tuple_element_t<I, columns> &>().at(0))...>;
    template <size_t... I>
    static auto run_type(std::index_sequence<I...>)
        -> std::tuple<span<const reef_entity>,
                      decltype(std::declval<const std::tuple_element_t<I, columns> &>().part(0, 0))...>;

  public:
    /* The type of a row in a range-for. */
    using row = decltype(row_type(indices()));
    using run = decltype(run_type(indices()));

    view(reef_world *world, reef_query query, bool owned, bool deferred = false)
        : w(world), q(query), own(owned), later(deferred)
    {
        block.loop.open = false;
    }
    view(const view &) = delete;
    view &operator=(const view &) = delete;
    ~view()
    {
        close();
        if (own) reef_query_free(w, q);
    }

    struct end_mark {};

    /* The iterator: a run of rows that match, and one row of it. It is a few words, which stay in registers; the block
     * is in the view. */
    class place {
      public:
        REEF_INLINE_MEMBER bool operator!=(end_mark) const { return i < last; }

      protected:
        REEF_INLINE_MEMBER explicit place(reef_block *of) : b(of) { more(); }
        REEF_INLINE_MEMBER void more()
        {
            uint32_t from = last, n;
            i = last = 0;
            for (;;) {
                if (inside && b->loop.mask && (n = reef_block_run(b, &from)) != 0) {
                    i = from;
                    last = from + n;
                    return;
                }
                if (!reef_next(b)) return;
                inside = true;
                from = 0;
                entities = b->entities;
                c = columns{detail::item<T>(b)...};
                if (b->loop.mask) continue;
                last = b->count;
                return;
            }
        }
        reef_block *b;
        const reef_entity *entities = nullptr;
        uint32_t i = 0, last = 0;
        bool inside = false;
        columns c;
    };

    class row_place : public place {
      public:
        REEF_INLINE_MEMBER explicit row_place(view *v) : place(&v->block), w(v->w) {}
        REEF_INLINE_MEMBER row operator*() const { return all(indices()); }
        REEF_INLINE_MEMBER row_place &operator++()
        {
            if (REEF_UNLIKELY(++this->i >= this->last)) this->more();
            return *this;
        }

      private:
        template <size_t... I> REEF_INLINE_MEMBER row all(std::index_sequence<I...>) const
        {
            return row(entity(w, this->entities[this->i]), std::get<I>(this->c).at(this->i)...);
        }
        reef_world *w;
    };

    class run_place : public place {
      public:
        REEF_INLINE_MEMBER explicit run_place(view *v) : place(&v->block) {}
        REEF_INLINE_MEMBER run operator*() const { return all(indices()); }
        REEF_INLINE_MEMBER run_place &operator++()
        {
            this->more();
            return *this;
        }

      private:
        template <size_t... I> REEF_INLINE_MEMBER run all(std::index_sequence<I...>) const
        {
            const uint32_t n = this->last - this->i;
            return run(span<const reef_entity>{this->entities + this->i, n}, std::get<I>(this->c).part(this->i, n)...);
        }
    };

    row_place begin() { return open(), row_place(this); }
    end_mark end() const { return {}; }

    class run_range {
      public:
        explicit run_range(view *of) : v(of) {}
        run_place begin() { return v->open(), run_place(v); }
        end_mark end() const { return {}; }

      private:
        view *v;
    };
    /* auto view = world.view<Position, const Velocity>();
     * for (auto [entities, p, v] : view.runs()) ...
     * gives spans of rows that lie side by side and match; they live until the next iteration. (A temporary view would
     * be destroyed too early: use blocks() with it.) */
    run_range runs() & { return run_range(this); }

    /* Calls f(p, v) or f(entity, p, v) for every row. */
    template <class F> void each(F &&f)
    {
        open();
        while (reef_next(&block)) {
            const columns c{detail::item<T>(&block)...};
            each_row(f, c, indices());
        }
        close();
    }
    /* Calls f(entities, p, v), with spans, for each run of matching rows. */
    template <class F> void blocks(F &&f)
    {
        open();
        for (run_place at(this); at != end_mark(); ++at) std::apply(f, *at);
        close();
    }
    /* Questions without a loop: how many there are, whether there are any, the first of them (or null), the only one
     * (or null), and whether an entity is one of them. */
    uint64_t count() const { return reef_query_count(w, q); }
    bool any() const { return reef_query_any(w, q); }
    entity first() const { return entity(w, reef_query_first(w, q)); }
    entity single() const { return entity(w, reef_query_single(w, q)); }
    bool matches(reef_entity e) const { return reef_query_matches(w, q, e); }

  private:
    template <class F, size_t... I> REEF_INLINE_MEMBER void each_row(F &f, const columns &c, std::index_sequence<I...>)
    {
        constexpr bool with_entity = std::is_invocable_v<F &, entity, decltype(std::get<I>(c).at(0))...>;
        static_assert(with_entity || std::is_invocable_v<F &, decltype(std::get<I>(c).at(0))...>,
                      "reef: the function of each() takes the components in the order of the list, after the entity if "
                      "it takes one; a component that is const in the list must be const there");
        const reef_entity *const entities = block.entities;
        reef_world *const world = w;
        (void)entities, (void)world;
        detail::runs(&block, [&](uint32_t first, uint32_t n) {
            for (uint32_t i = first; i < first + n; i++) {
                if constexpr (with_entity) f(entity(world, entities[i]), std::get<I>(c).at(i)...);
                else f(std::get<I>(c).at(i)...);
            }
        });
    }
    void open()
    {
        close();
        reef_loop settings = {};
        settings.deferred = true;
        block = later ? reef_begin_loop(w, q, &settings) : reef_begin(w, q);
    }
    void close()
    {
        if (block.loop.open) reef_end(&block);
    }

    reef_world *w;
    reef_query q;
    bool own, later; /* it frees the query; structural changes wait until the loop ends */
    reef_block block;
};

/* A query, which is made once and used for many loops. It must end before its world, or with it. */
template <class... T> class query {
  public:
    query() = default;
    template <class... E> explicit query(reef_world *world, const E &...targets) : w(world)
    {
        detail::types_known();
        q = detail::make_query<T...>(w, false, targets...);
    }
    query(query &&other) noexcept : w(std::exchange(other.w, nullptr)), q(std::exchange(other.q, reef_query{0, 0, 0}))
    {
    }
    query &operator=(query &&other) noexcept
    {
        std::swap(w, other.w);
        std::swap(q, other.q);
        return *this;
    }
    ~query()
    {
        if (w && !reef_query_is_null(q)) reef_query_free(w, q);
    }
    /* False if it couldn't be made: see world.error(). */
    explicit operator bool() const { return !reef_query_is_null(q); }
    /* For calls of the C interface, and for `only` of a place: good as long as this object. */
    reef_query handle() const { return q; }
    operator reef_query() const & { return q; }
    operator reef_query() const && = delete;

    /* One loop over everything that matches. */
    view<T...> rows() { return view<T...>(w, q, false); }
    /* The same in a fork of the query's world, which has the query if it was made before the fork. */
    view<T...> rows(reef_world *fork) { return view<T...>(fork, q, false); }
    /* One loop in which the structure may be changed: such changes are done when it ends (world_ref::deferred). */
    view<T...> deferred() { return view<T...>(w, q, false, true); }
    template <class F> void each(F &&f) { rows().each(std::forward<F>(f)); }
    template <class F> void blocks(F &&f) { rows().blocks(std::forward<F>(f)); }
    /* Gives the centre and the radius of its item near<T>, for all loops and questions from now on. */
    reef_status near(const reef_place_ask &ask) { return reef_query_near(w, q, &ask); }
    /* The same questions as to a view. */
    uint64_t count() const { return reef_query_count(w, q); }
    bool any() const { return reef_query_any(w, q); }
    entity first() const { return entity(w, reef_query_first(w, q)); }
    entity single() const { return entity(w, reef_query_single(w, q)); }
    bool matches(reef_entity e) const { return reef_query_matches(w, q, e); }

    /* These change everything that matches in one call, all or none (reef/bulk.h). The number of changed entities is
     * written to *n, which may be NULL. For a type whose default value isn't all zeros, use set instead of add. */
    template <class C> reef_status add(uint64_t *n = nullptr)
    {
        if constexpr (!detail::is_tag<C>())
            static_assert(!detail::is_plain<C>() || std::is_trivially_default_constructible_v<C>,
                          "reef: this type's default value isn't all zeros: give a value by set(value)");
        return reef_add_where_id(w, q, id<C>(), n);
    }
    template <class C> reef_status remove(uint64_t *n = nullptr) { return reef_remove_where_id(w, q, id<C>(), n); }
    template <class V> reef_status set(const V &value, uint64_t *n = nullptr)
    {
        static_assert(std::is_copy_constructible_v<V>, "reef: every entity gets a copy, but this type can't be copied");
        detail::needs_data<V>();
        return reef_set_where_id(w, q, id<V>(), &value, sizeof(V), n);
    }
    template <class C> reef_status enable(bool on = true, uint64_t *n = nullptr)
    {
        return reef_enable_where_id(w, q, id<C>(), on, n);
    }
    reef_status enable(bool on = true, uint64_t *n = nullptr)
    {
        return reef_enable_where_id(w, q, reef_null_component_(), on, n);
    }
    reef_status destroy(uint64_t *n = nullptr) { return reef_destroy_where(w, q, n); }

  private:
    reef_world *w = nullptr;
    reef_query q = {0, 0, 0};
};

} // namespace reef

#endif
