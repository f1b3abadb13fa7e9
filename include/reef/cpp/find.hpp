/* Finding by value and by place in C++: value indexes, pictures of places. Part of reef.hpp.
 *
 *     template <> struct reef::options<Team> {
 *         static constexpr reef_field fields[] = {REEF_FIELDS_OF(Team, id)};
 *         static constexpr const char *indexes[] = {"id"};                  only for systems, as REEF_INDEX
 *     };
 *     auto teams = world.index(&Team::id);
 *     for (reef_entity e : teams.equal(5)) ...
 *
 *     template <> struct reef::options<Position> {
 *         static constexpr reef_field fields[] = {REEF_FIELDS_OF(Position, x, y)};
 *         static constexpr auto place = reef::placing("x", "y").cell(4);    as REEF_PLACE
 *     };
 *     reef_near found[16];
 *     auto sea = world.place<Position>();
 *     for (const reef_near &n : sea.within(reef::around(3, 4).radius(5), found)) ...
 *
 * In systems: reef::indexed<&Team::id>, reef::placed<Position>. In lists of components: reef::near<Position>. */
#ifndef REEF_FIND_HPP
#define REEF_FIND_HPP

#include "../place.h"
#include "../type_info.h"
#include "../value_index.h"
#include "entity.hpp"

namespace reef {

/* ---- by value ---- */

namespace detail {

/* The kind of a field of this C++ type; 0: there is none. */
template <class F> constexpr reef_kind kind_of()
{
    if constexpr (std::is_enum_v<F>) return kind_of<std::underlying_type_t<F>>();
    else if constexpr (std::is_same_v<F, bool>) return REEF_BOOL;
    else if constexpr (std::is_same_v<F, float>) return REEF_F32;
    else if constexpr (std::is_same_v<F, double>) return REEF_F64;
    else if constexpr (std::is_same_v<F, reef_entity>) return REEF_ENTITY;
    else if constexpr (std::is_array_v<F> && std::is_same_v<std::remove_extent_t<F>, char>) return REEF_CHAR;
    else if constexpr (!std::is_integral_v<F>) return static_cast<reef_kind>(0);
    else if constexpr (sizeof(F) == 1) return std::is_signed_v<F> ? REEF_I8 : REEF_U8;
    else if constexpr (sizeof(F) == 2) return std::is_signed_v<F> ? REEF_I16 : REEF_U16;
    else if constexpr (sizeof(F) == 4) return std::is_signed_v<F> ? REEF_I32 : REEF_U32;
    else return std::is_signed_v<F> ? REEF_I64 : REEF_U64;
}

/* What a value is given as: a text by its letters. */
template <class F> struct asked_value {
    using type = F;
};
template <size_t N> struct asked_value<char[N]> {
    using type = std::string_view;
};

/* The key of a value (reef/order.h). */
template <class F> uint64_t key_of(const typename asked_value<F>::type &value)
{
    constexpr reef_kind kind = kind_of<F>();
    if constexpr (kind == REEF_CHAR) {
        uint64_t key = 0;
        for (size_t i = 0; i < value.size() && i < 8 && value[i]; i++)
            key |= static_cast<uint64_t>(static_cast<unsigned char>(value[i])) << (56 - 8 * i);
        return key;
    } else if constexpr (kind == REEF_ENTITY) return reef_key_entity(value);
    else if constexpr (kind == REEF_F32) return reef_key_f32(value);
    else if constexpr (kind == REEF_F64) return reef_key_f64(value);
    else if constexpr (kind == REEF_I64) return reef_key_i64(static_cast<int64_t>(value));
    else if constexpr (kind == REEF_I8 || kind == REEF_I16 || kind == REEF_I32)
        return reef_key_i32(static_cast<int32_t>(value));
    else return static_cast<uint64_t>(value);
}

/* The field of a type that lies where a member is; "": REEF_FIELDS don't describe it, or as something else. */
template <class T, class F> const char *field_name(F T::*member)
{
    alignas(T) static const unsigned char room[sizeof(T)] = {};
    const T *const at = reinterpret_cast<const T *>(room);
    const auto offset = reinterpret_cast<const unsigned char *>(&(at->*member)) - room;
    reef_type_info info;
    if (!reef_type_get(id<T>(), &info)) return "";
    for (uint32_t i = 0; i < info.field_count; i++) {
        const reef_field &f = info.fields[i];
        if (f.offset == static_cast<size_t>(offset) && f.kind == kind_of<F>() && f.bytes == sizeof(F)) return f.name;
    }
    return "";
}

/* Has a type a field of this name that is an F? */
template <class T, class F> bool has_field(const char *name)
{
    reef_type_info info;
    if (name == nullptr || !reef_type_get(id<T>(), &info)) return false;
    for (uint32_t i = 0; i < info.field_count; i++)
        if (std::string_view(info.fields[i].name) == name)
            return info.fields[i].kind == kind_of<F>() && info.fields[i].bytes == sizeof(F);
    return false;
}

/* The type and the member that a pointer to a member names. */
template <class M> struct member_of;
template <class T, class F> struct member_of<F T::*> {
    using type = T;
    using field = F;
};

} // namespace detail

/* The entities whose values are in a range, ordered by value and then by index. */
class values_found {
  public:
    values_found(const reef_index *index, uint64_t lowest, uint64_t highest) : x(index), low(lowest), high(highest) {}
    uint64_t count() const { return reef_index_range(x, low, high, 0, nullptr, 0); }
    reef_entity first() const { return reef_index_first(x, low, high); }
    reef_entity last() const { return reef_index_last(x, low, high); }
    /* Writes the first `room` of them, after those that are skipped. Returns how many there are. */
    uint64_t copy(reef_entity *to, uint64_t room, uint64_t skip = 0) const
    {
        return reef_index_range(x, low, high, skip, to, room);
    }

    struct end_mark {};
    class place {
      public:
        explicit place(const values_found *from) : of(from) { more(); }
        bool operator!=(end_mark) const { return at < count; }
        reef_entity operator*() const { return some[at]; }
        place &operator++()
        {
            if (++at == count && before < all) more();
            return *this;
        }

      private:
        enum { ROOM = 64 };
        void more()
        {
            all = of->copy(some, ROOM, before);
            count = all - before < ROOM ? static_cast<uint32_t>(all - before) : uint32_t{ROOM};
            before += count;
            at = 0;
        }
        const values_found *of;
        reef_entity some[ROOM] = {};
        uint64_t before = 0, all = 0;
        uint32_t at = 0, count = 0;
    };
    place begin() const { return place(this); }
    end_mark end() const { return {}; }

  private:
    const reef_index *x;
    uint64_t low, high;
};

/* The value index of a field F of T (reef/value_index.h). It owns nothing: it is the world's, and answers as of when it
 * was taken. */
template <class T, class F> class index {
    static_assert(detail::kind_of<F>() != 0, "reef: a field with an index is a number, a bool, an enum, a reef_entity "
                                             "or a text");
    static_assert(!std::is_array_v<F> || sizeof(F) <= 8, "reef: a text with an index has at most 8 bytes");

  public:
    /* What values are given as: F, and a std::string_view for a text. */
    using value = typename detail::asked_value<F>::type;

    index() = default;
    explicit index(const reef_index *of) : x(of) {}
    /* False if there is none: see world.error(). */
    explicit operator bool() const { return x != nullptr; }
    const reef_index *get() const { return x; }

    values_found equal(const value &v) const
    {
        if constexpr (std::is_array_v<F>)
            if (v.size() > sizeof(F)) return found(1, 0); /* no field can hold it */
        return found(detail::key_of<F>(v), detail::key_of<F>(v));
    }
    /* Both ends are included. */
    values_found between(const value &lowest, const value &highest) const
    {
        return found(detail::key_of<F>(lowest), detail::key_of<F>(highest));
    }
    values_found at_least(const value &lowest) const { return found(detail::key_of<F>(lowest), UINT64_MAX); }
    values_found at_most(const value &highest) const { return found(0, detail::key_of<F>(highest)); }
    values_found all() const { return found(0, UINT64_MAX); }

  private:
    values_found found(uint64_t low, uint64_t high) const { return values_found(x, low, high); }
    const reef_index *x = nullptr;
};

/* ---- by place ---- */

/* A question to a place: reef::around(3, 4).radius(5).except(me), reef::around(0, 0).to(9, 9) for a box or a segment.
 * The members mean the same as those of reef_place_ask. */
class around {
  public:
    explicit around(double x, double y, double z = 0) : q{} { q.at[0] = x, q.at[1] = y, q.at[2] = z; }
    around &to(double x, double y, double z = 0) { return q.end[0] = x, q.end[1] = y, q.end[2] = z, *this; }
    around &radius(double r) { return q.radius = r, *this; }
    around &except(reef_entity e) { return q.except = e, *this; }
    /* Only entities with a higher index than this one are found. */
    around &above(reef_entity e) { return q.except = e, q.above = true, *this; }
    around &only(reef_query query) { return q.only = query, *this; }
    operator const reef_place_ask &() const { return q; }

  private:
    reef_place_ask q;
};

/* What a place needs to know of its type, for reef::options: reef::placing("x", "y").cell(4). */
class placing {
  public:
    constexpr placing(const char *x, const char *y, const char *z = nullptr)
        : d{{x, y, z}, 1, {{0, 0}, {0, 0}, {0, 0}}, false, false, nullptr, nullptr}
    {
    }
    constexpr placing cell(double side) const
    {
        placing p = *this;
        p.d.cell = side;
        return p;
    }
    /* The axis (0: x) goes on at `lowest` where it ends at `highest`. */
    constexpr placing edge(uint32_t axis, double lowest, double highest) const
    {
        placing p = *this;
        p.d.edges[axis][0] = lowest;
        p.d.edges[axis][1] = highest;
        return p;
    }
    constexpr placing walls() const
    {
        placing p = *this;
        p.d.walls = true;
        return p;
    }
    constexpr placing whole() const
    {
        placing p = *this;
        p.d.whole = true;
        return p;
    }
    constexpr placing radius(const char *field) const
    {
        placing p = *this;
        p.d.radius = field;
        return p;
    }
    constexpr placing carries(const char *types) const
    {
        placing p = *this;
        p.d.carries = types;
        return p;
    }
    constexpr const reef_place_desc &desc() const { return d; }

  private:
    reef_place_desc d;
};

/* The picture of a place (reef/place.h). It owns nothing: it is the world's, and answers as of when it was taken. */
template <class T> class place {
  public:
    place() = default;
    explicit place(const reef_place *of) : p(of) {}
    /* False if there is none: see world.error(). */
    explicit operator bool() const { return p != nullptr; }
    const reef_place *get() const { return p; }

    /* Each writes what it finds to an array, and returns the part of it that it has filled. */
    template <size_t N> span<const reef_near> within(const reef_place_ask &ask, reef_near (&to)[N]) const
    {
        return filled(reef_place_within(p, &ask, to, N), to);
    }
    template <size_t N> span<const reef_near> box(const reef_place_ask &ask, reef_near (&to)[N]) const
    {
        return filled(reef_place_box(p, &ask, to, N), to);
    }
    template <size_t N> span<const reef_near> nearest(const reef_place_ask &ask, reef_near (&to)[N]) const
    {
        return filled(reef_place_nearest(p, &ask, to, N), to);
    }
    /* These return how many there are, which may be more than there is room for. */
    uint32_t within(const reef_place_ask &ask, reef_near *to, uint32_t room) const
    {
        return reef_place_within(p, &ask, to, room);
    }
    uint32_t box(const reef_place_ask &ask, reef_near *to, uint32_t room) const
    {
        return reef_place_box(p, &ask, to, room);
    }
    reef_hit hit(const reef_place_ask &ask) const { return reef_place_hit(p, &ask); }

    /* Calls f(pairs, part) with a span of pairs at a time, on several threads at once; `part` is below parts(). Each
     * part is in order (reef_place_pairs_each). */
    template <class F> reef_status pairs(double distance, F &&f, reef_query only = {0, 0, 0}) const
    {
        using G = std::remove_reference_t<F>;
        reef_place_pairs asked = {};
        asked.distance = distance;
        asked.only = only;
        asked.found = [](const reef_pair *list, uint32_t n, uint32_t part, void *context) noexcept {
            (*static_cast<G *>(context))(span<const reef_pair>{list, n}, part);
        };
        asked.context = const_cast<void *>(static_cast<const void *>(std::addressof(f)));
        return reef_place_pairs_each(p, &asked);
    }
    uint32_t parts() const { return reef_place_parts(p); }

    reef_place_stats stats() const { return reef_place_stats_of(p); }
    reef_place_cells cells() const { return reef_place_cells_of(p); }
    uint32_t slot(reef_entity e) const { return reef_place_slot(p, e); }
    reef_entity entity(uint32_t slot) const { return reef_place_entity(p, slot); }
    /* The values of a type that the place carries, by slot; NULL: it doesn't. */
    template <class V> const V *carried() const { return static_cast<const V *>(reef_place_carried_id(p, id<V>())); }

  private:
    template <size_t N> static span<const reef_near> filled(uint32_t n, const reef_near (&to)[N])
    {
        return span<const reef_near>{to, n < N ? n : static_cast<uint32_t>(N)};
    }
    const reef_place *p = nullptr;
};

} // namespace reef

#endif
