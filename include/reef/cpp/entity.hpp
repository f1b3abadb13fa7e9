/* Entities in C++. Part of reef.hpp. */
#ifndef REEF_ENTITY_HPP
#define REEF_ENTITY_HPP

#include "type.hpp"

#include <tuple>

namespace reef {

/* ---- reading and writing by world and handle, as the typed macros of C do ---- */

namespace detail {

template <class T> REEF_INLINE const T *get(const reef_world *w, reef_entity e)
{
    needs_data<T>();
    if constexpr (is_stored<T>)
        return static_cast<const T *>(
            reef_get_stored(w, e, record_of<T>::decl(), sizeof(T), home_of<T>::value == REEF_PAGED));
    else return static_cast<const T *>(reef_get_decl(w, e, record_of<T>::decl(), sizeof(T)));
}
template <class T> REEF_INLINE T *mut(reef_world *w, reef_entity e)
{
    needs_data<T>();
    needs_calls<T>();
    if constexpr (is_stored<T>)
        return static_cast<T *>(
            reef_mut_stored(w, e, record_of<T>::decl(), sizeof(T), home_of<T>::value == REEF_PAGED));
    else return static_cast<T *>(reef_mut_decl(w, e, record_of<T>::decl(), sizeof(T)));
}
template <class T> REEF_INLINE bool has(const reef_world *w, reef_entity e)
{
    return reef_has_decl(w, e, record_of<T>::decl());
}

/* A value on its way into the world. A call that succeeds moves a value that can't be copied out of its place, which is
 * raw memory afterwards. Therefore it is held in raw memory. */
template <class T, bool Moves> struct held_value {
    const T *value;
    explicit held_value(const T &v) : value(&v) {}
    const void *data() const { return value; }
    void taken(bool) {}
};
template <class T> struct held_value<T, true> {
    alignas(T) unsigned char raw[sizeof(T)];
    held_value(const held_value &) = delete;
    explicit held_value(T &&v) { ::new (static_cast<void *>(raw)) T(std::move(v)); }
    const void *data() const { return raw; }
    void taken(bool yes)
    {
        if (!yes) std::launder(reinterpret_cast<T *>(raw))->~T();
    }
};
/* A move-only value is passed over to the call; if the call fails, the value is destroyed. */
template <class T, class V> auto hold(V &&v)
{
    constexpr bool moves = !is_plain<T>() && !std::is_copy_constructible_v<T>;
    static_assert(!moves || !std::is_lvalue_reference_v<V>, "reef: this type can't be copied: pass it with std::move");
    return held_value<T, moves>(std::forward<V>(v));
}

/* One of the arguments of spawn() and change(). */
template <class V> struct given {
    using T = std::decay_t<V>;
    static auto hold_it(V &&v)
    {
        (void)v;
        if constexpr (is_tag<T>()) return std::tuple<>();
        else return hold<T>(std::forward<V>(v));
    }
    template <class H> static reef_value value(const H &h)
    {
        if constexpr (is_tag<T>()) return reef_value_make(id<T>(), REEF_VALUE_DEFAULT, 0, nullptr);
        else return reef_value_make(id<T>(), REEF_VALUE_ONE, static_cast<uint32_t>(sizeof(T)), h.data());
    }
    template <class H> static void end(H &h, bool taken)
    {
        if constexpr (!is_tag<T>()) h.taken(taken);
    }
};
template <class V, class T, reef_value_kind Kind> struct given_word {
    static std::tuple<> hold_it(const V &) { return {}; }
    static reef_value value(const std::tuple<> &) { return reef_value_make(id<T>(), Kind, 0, nullptr); }
    static void end(std::tuple<> &, bool) {}
};
template <class T> struct given<tag<T>> : given_word<tag<T>, T, REEF_VALUE_DEFAULT> {
    static_assert(is_tag<T>(), "reef: this type has a value: give one, as in spawn(Health{3})");
};
template <class T> struct given<without<T>> : given_word<without<T>, T, REEF_VALUE_REMOVE> {
};
template <class T> struct given<tag<T> &> : given<tag<T>> {
};
template <class T> struct given<without<T> &> : given<without<T>> {
};
template <class T> struct given<const tag<T> &> : given<tag<T>> {
};
template <class T> struct given<const array<T> &> {
    static const T *hold_it(const array<T> &a) { return a.values; }
    static reef_value value(const T *const &held)
    {
        return reef_value_make(id<T>(), REEF_VALUE_ARRAY, static_cast<uint32_t>(sizeof(T)), held);
    }
    static void end(const T *&, bool) {}
};

/* Calls f(values, count) with the given values; `went` tells by the result of f whether the values were taken. */
template <class... V, class F, class Went, class... H> auto with_held(F &f, Went &went, H... held)
{
    const reef_value values[sizeof...(V) + 1] = {given<V>::value(held)..., reef_value{}};
    const auto answer = f(values, static_cast<uint32_t>(sizeof...(V)));
    (given<V>::end(held, went(answer)), ...);
    return answer;
}
template <class F, class Went, class... V> auto with_values(F f, Went went, V &&...v)
{
    return with_held<V...>(f, went, given<V>::hold_it(std::forward<V>(v))...);
}

template <class T> reef_status set_value(reef_world *w, reef_entity e, const void *value)
{
    if constexpr (is_stored<T>) return reef_set_stored_(w, e, id_with<T>(w), value, sizeof(T));
    else return reef_set_id(w, e, id_with<T>(w), value, sizeof(T));
}
template <class T, class V> reef_status set(reef_world *w, reef_entity e, V &&v)
{
    auto held = hold<T>(std::forward<V>(v));
    const reef_status s = set_value<T>(w, e, held.data());
    held.taken(s >= 0);
    return s;
}

/* Adds a component; EXISTS if it is there. A value of a type with hooks is constructed in its place from the
 * arguments. */
template <class T, class... A> reef_status add(reef_world *w, reef_entity e, A &&...a)
{
    if constexpr (is_tag<T>()) {
        static_assert(sizeof...(A) == 0, "reef: a tag has no value");
        return reef_add_id(w, e, id_with<T>(w), nullptr, nullptr);
    } else if constexpr (!is_plain<T>()) {
        auto make = [&](void *slot) {
            if constexpr (std::is_aggregate_v<T> && sizeof...(A) > 0) ::new (slot) T{argument(std::forward<A>(a))...};
            else ::new (slot) T(std::forward<A>(a)...);
        };
        const maker_of<T, decltype(make)> m(&make);
        return reef_add_id(w, e, id_with<T>(w), static_cast<const maker *>(&m), nullptr);
    } else if constexpr (sizeof...(A) == 0 && std::is_trivially_default_constructible_v<T>) {
        return reef_add_id(w, e, id_with<T>(w), nullptr, nullptr); /* zeros */
    } else {
        if (reef_has_id(w, e, id_with<T>(w)))
            return reef_add_id(w, e, id_with<T>(w), nullptr, nullptr); /* returns EXISTS */
        const T value = made<T>(std::forward<A>(a)...);
        const reef_status s = set_value<T>(w, e, &value);
        return s == REEF_ADDED ? REEF_OK : s;
    }
}
template <class T> reef_status remove(reef_world *w, reef_entity e) { return reef_remove_id(w, e, id_with<T>(w)); }
template <class T> T *ensure(reef_world *w, reef_entity e)
{
    needs_data<T>();
    needs_calls<T>();
    if constexpr (is_plain<T>() && !std::is_trivially_default_constructible_v<T>) {
        if (!reef_has_id(w, e, id<T>())) {
            const T value = T();
            if (reef_set_id(w, e, id<T>(), &value, sizeof(T)) < 0) return nullptr;
        }
        return mut<T>(w, e);
    } else {
        return static_cast<T *>(reef_ensure_id(w, e, id<T>(), nullptr));
    }
}

} // namespace detail

/* ---- entities ---- */

class chain;
class source_range;
template <class R> class target_range;
template <class R> class relation_range;

/* An entity of a world: two words, which own nothing. It may be dead, like any handle. In a component store its
 * reef_entity, which it converts to. Every call refuses a null entity. */
class entity {
  public:
    entity() = default;
    entity(reef_world *world, reef_entity handle) : w(world), e(handle) {}
    operator reef_entity() const { return e; }
    reef_entity handle() const { return e; }
    reef_world *world() const { return w; }
    bool is_alive() const { return w && reef_is_alive(w, e); }
    explicit operator bool() const { return is_alive(); }
    friend bool operator==(const entity &a, const entity &b)
    {
        return reef_entity_equal(a.e, b.e) && (a.w == b.w || reef_entity_is_null(a.e));
    }
    friend bool operator!=(const entity &a, const entity &b) { return !(a == b); }

    /* NULL if the component isn't there. Pointers live until the next call that takes the world without const. */
    template <class T> const T *get() const { return w ? detail::get<T>(w, e) : nullptr; }
    template <class T> T *mut() const { return w ? detail::mut<T>(w, e) : nullptr; }
    template <class T> bool has() const { return w && detail::has<T>(w, e); }
    /* The component that is there, or a new one with the default value. */
    template <class T> T *ensure() const { return w ? detail::ensure<T>(w, e) : nullptr; }
    /* For a type in REEF_MULTI: adds a value after the others (NULL on failure), gives all values in their order,
     * removes one. */
    template <class T, class... A> T *append(A &&...arguments) const
    {
        detail::needs_data<T>();
        if (w == nullptr) return nullptr;
        T value = detail::made<T>(std::forward<A>(arguments)...);
        auto held = detail::hold<T>(std::move(value));
        void *slot = reef_append_id(w, e, id<T>(), held.data(), sizeof(T));
        held.taken(slot != nullptr);
        return static_cast<T *>(slot);
    }
    template <class T> span<const T> get_all() const
    {
        span<const T> s;
        if (w) s.first = static_cast<const T *>(reef_get_all_id(w, e, id<T>(), &s.count));
        return s;
    }
    template <class T> span<T> mut_all() const
    {
        span<T> s;
        if (w) s.first = static_cast<T *>(reef_mut_all_id(w, e, id<T>(), &s.count));
        return s;
    }
    template <class T> reef_status remove_one(uint32_t i) const
    {
        return w ? reef_remove_one_id(w, e, id<T>(), i) : REEF_NOT_ALIVE;
    }
    /* Gives `to` this entity's value of a type in REEF_SHARED. */
    template <class T> reef_status share(const entity &to) const
    {
        return w ? reef_share_id(w, e, to.e, id<T>()) : REEF_NOT_ALIVE;
    }
    /* Relations (reef/cpp/relation.hpp). R is the type of the relation. */
    template <class R> bool related(reef_entity target) const
    {
        return detail::needs_relation<R>(), w && reef_related_id(w, e, id<R>(), target);
    }
    /* The first target, for exclusive relations the only one; null: none. */
    template <class R> entity target() const
    {
        return detail::needs_relation<R>(), w ? entity(w, reef_target_id(w, e, id<R>())) : entity();
    }
    template <class R> target_range<R> targets() const;
    template <class R> relation_range<R> relations() const;
    template <class R> source_range sources() const;
    template <class R> uint64_t source_count() const { return w ? reef_source_count_id(w, e, id<R>()) : 0; }
    /* The relation to this target, with its data; NULL: there is none. */
    template <class R> const R *relation(reef_entity target) const
    {
        return w ? static_cast<const R *>(reef_relation_get_id(w, e, id<R>(), target)) : nullptr;
    }
    template <class R> R *relation_mut(reef_entity target) const
    {
        return w ? static_cast<R *>(reef_relation_mut_id(w, e, id<R>(), target)) : nullptr;
    }
    /* End all relations of this source, or to this target. They return how many. */
    template <class R> uint64_t unrelate_all() const { return w ? reef_unrelate_all_id(w, e, id<R>()) : 0; }
    template <class R> uint64_t unrelate_sources() const { return w ? reef_unrelate_sources_id(w, e, id<R>()) : 0; }
    template <class T> bool is_enabled() const { return w && reef_is_enabled_id(w, e, id<T>()); }
    bool is_enabled() const { return w && reef_is_enabled_id(w, e, reef_null_component_()); }
    const char *name() const { return w ? reef_name(w, e) : nullptr; }

    /* Each of these makes one change, and returns the entity with the status of the changes in this expression: see
     * reef::chain. Make several changes in one step by change(Health{3}, reef::tag<Hurt>(),
     * reef::without<Shield>()). */
    template <class T, class... A> chain add(A &&...arguments) const;
    template <class V> chain set(V &&value) const;
    template <class T, class... A> chain set(A &&...arguments) const;
    template <class T> chain remove() const;
    template <class... V> chain change(V &&...values) const;
    template <class T> chain enable(bool on = true) const;
    template <class T> chain disable() const;
    template <class R> chain relate(reef_entity target) const;
    template <class R, class D> chain relate(reef_entity target, const D &data) const;
    template <class R> chain relate_before(reef_entity target, reef_entity next) const;
    template <class R> chain unrelate(reef_entity target) const;
    template <class R> chain retarget(reef_entity from, reef_entity to) const;
    chain enable(bool on = true) const;
    chain disable() const;
    chain rename(const char *name) const;
    reef_status destroy() const { return w ? reef_destroy(w, e) : REEF_NOT_ALIVE; }
    entity clone() const { return w ? entity(w, reef_clone(w, e)) : entity(); }
    /* Makes the entity and all that is below it a template (reef/prefab.h); world::instantiate makes copies. */
    reef_status make_prefab() const { return w ? reef_make_prefab(w, e) : REEF_NOT_ALIVE; }

  protected:
    reef_world *w = nullptr;
    reef_entity e = {0, 0};
};

/* A weak reference to one component of an entity (reef/ref.h). It finds the component after it has moved, and notices
 * when it is gone. It owns nothing, and one thread at a time may use it. It doesn't work on a fork: make another one
 * for the fork. */
template <class T> class ref {
  public:
    ref() = default;
    explicit ref(const entity &of) : w(of.world()), r(reef_ref_make_id(of.world(), of, id<T>())) {}
    /* NULL if the entity is dead or no longer has the component. */
    const T *get() { return w ? static_cast<const T *>(reef_ref_get_id(w, &r)) : nullptr; }
    T *mut() { return w ? static_cast<T *>(reef_ref_mut_id(w, &r)) : nullptr; }
    explicit operator bool() { return get() != nullptr; }
    entity owner() const { return w ? entity(w, r.entity) : entity(); }

  private:
    static_assert(!detail::is_tag<T>(), "reef: a tag has no value to refer to");
    reef_world *w = nullptr;
    reef_ref r = {};
};

/* An entity with the status of the changes in one expression: the first failure, or the result of the last change. */
class chain : public entity {
  public:
    chain(const entity &of, reef_status first) : entity(of), s(first) {}
    reef_status status() const { return s; }
    /* Did all changes succeed? */
    explicit operator bool() const { return s >= 0; }

    template <class T, class... A> chain add(A &&...a) const { return then(entity::add<T>(std::forward<A>(a)...)); }
    template <class V> chain set(V &&v) const { return then(entity::set(std::forward<V>(v))); }
    template <class T, class... A> chain set(A &&...a) const { return then(entity::set<T>(std::forward<A>(a)...)); }
    template <class T> chain remove() const { return then(entity::remove<T>()); }
    template <class... V> chain change(V &&...v) const { return then(entity::change(std::forward<V>(v)...)); }
    template <class T> chain enable(bool on = true) const { return then(entity::enable<T>(on)); }
    template <class T> chain disable() const { return then(entity::disable<T>()); }
    template <class R> chain relate(reef_entity t) const { return then(entity::relate<R>(t)); }
    template <class R, class D> chain relate(reef_entity t, const D &data) const
    {
        return then(entity::relate<R>(t, data));
    }
    template <class R> chain relate_before(reef_entity t, reef_entity next) const
    {
        return then(entity::relate_before<R>(t, next));
    }
    template <class R> chain unrelate(reef_entity t) const { return then(entity::unrelate<R>(t)); }
    template <class R> chain retarget(reef_entity from, reef_entity to) const
    {
        return then(entity::retarget<R>(from, to));
    }
    chain enable(bool on = true) const { return then(entity::enable(on)); }
    chain disable() const { return then(entity::disable()); }
    chain rename(const char *text) const { return then(entity::rename(text)); }

  private:
    chain then(const chain &next) const { return chain(next, s < 0 ? s : next.s); }
    reef_status s;
};

template <class T, class... A> chain entity::add(A &&...a) const
{
    return chain(*this, w ? detail::add<T>(w, e, std::forward<A>(a)...) : REEF_NOT_ALIVE);
}
template <class V> chain entity::set(V &&v) const
{
    using T = std::decay_t<V>;
    detail::needs_data<T>();
    return chain(*this, w ? detail::set<T>(w, e, std::forward<V>(v)) : REEF_NOT_ALIVE);
}
template <class T, class... A> chain entity::set(A &&...a) const
{
    detail::needs_data<T>();
    return chain(*this, w ? detail::set<T>(w, e, detail::made<T>(std::forward<A>(a)...)) : REEF_NOT_ALIVE);
}
template <class T> chain entity::remove() const { return chain(*this, w ? detail::remove<T>(w, e) : REEF_NOT_ALIVE); }
template <class... V> chain entity::change(V &&...v) const
{
    if (w == nullptr) return chain(*this, REEF_NOT_ALIVE);
    reef_world *const world = w;
    const reef_entity handle = e;
    auto f = [world, handle](const reef_value *values, uint32_t n) {
        return reef_change_values(world, handle, values, n);
    };
    return chain(*this, detail::with_values(
                            f, [](reef_status s) { return s >= 0; }, std::forward<V>(v)...));
}
template <class T> chain entity::enable(bool on) const
{
    reef_type_decl *const decl = detail::record_of<T>::decl();
    detail::types_known();
    return chain(*this, w ? reef_enable_decl(w, e, decl, on) : REEF_NOT_ALIVE);
}
template <class T> chain entity::disable() const { return enable<T>(false); }
inline chain entity::enable(bool on) const
{
    return chain(*this, w ? reef_enable_id(w, e, reef_null_component_(), on) : REEF_NOT_ALIVE);
}
inline chain entity::disable() const { return enable(false); }
inline chain entity::rename(const char *text) const
{
    return chain(*this, w ? reef_set_name(w, e, text) : REEF_NOT_ALIVE);
}

} // namespace reef

#endif
