/* Observers in C++: functions that are called when components are added, changed and removed. Part of reef.hpp.
 *
 *     world.on_add<Burning>("smoke", [](reef::entity e, const Burning &now) { e.add<Smoking>(); });
 *     world.on_set<Health>("bar", [](reef::entity e, const Health &now, const Health &was) { ... });
 *     world.on_remove<Burning>("ash", [](reef::entity e, const Burning &was) { ... });
 *     world.on_destroy(reef::watching("graves").collected(), [](reef::entity e) { ... });
 *     world.on_match<Position, reef::without<Frozen>>("moving", [](reef::entity e) { ... });
 *
 * The function is called for each entity, with the entity, and with the values if it has parameters for them (not for
 * tags and types in REEF_SPLIT). A function that takes const reef_notice & is called for each notice instead.
 * reef/observer.h says what it may do. The world keeps the function, as it does that of a system, with its forks and
 * snapshots, and the last of them frees it. */
#ifndef REEF_OBSERVER_HPP
#define REEF_OBSERVER_HPP

#include "query.hpp"

namespace reef {

/* The settings of an observer. Only the name is needed. */
struct watching {
    const char *name;
    bool later = false, there = false;
    reef_entity to = {0, 0};

    watching(const char *called) : name(called) {}
    watching &collected() { return later = true, *this; } /* called at the next flush, for the net effect */
    watching &existing() { return there = true, *this; }  /* also called at once for what is there already */
    /* only relations to this entity, or from it to another one */
    watching &target(reef_entity e) { return to = e, *this; }
};

/* An observer of a world: a plain handle. */
class observer_ref {
  public:
    observer_ref() = default;
    observer_ref(reef_world *world, reef_observer_id observer) : w(world), o(observer) {}
    /* False if it couldn't be made: see world.error(). */
    explicit operator bool() const { return !reef_observer_is_null(o); }
    operator reef_observer_id() const { return o; }
    const char *name() const { return w ? reef_observer_name(w, o) : nullptr; }
    reef_status remove() const { return w ? reef_observer_remove(w, o) : REEF_NOT_ALIVE; }

  private:
    reef_world *w = nullptr;
    reef_observer_id o = {0, 0, 0};
};

namespace detail {

/* T is void if there is no component. */
template <class T, reef_observed Kind, class F> struct kept_observer {
    static constexpr bool whole = std::is_invocable_v<F &, const reef_notice &>;
    static constexpr bool plain = std::is_invocable_v<F &, entity>;
    F f;

    static void one(F &f, const reef_notice *n, uint32_t i)
    {
        const entity e(n->world, n->entities[i]);
        if constexpr (plain) {
            f(e);
        } else {
            static_assert(!std::is_void_v<T>,
                          "reef: the function takes the entity alone, or const reef_notice &: there is no value");
            static_assert(!is_tag<T>(),
                          "reef: a tag has no value: the function takes the entity alone, or const reef_notice &");
            static_assert(home_of<T>::value != REEF_SPLIT,
                          "reef: a type that is split by field has no value in one place: take the entity alone");
            const T *now = static_cast<const T *>(reef_notice_value(n, i)),
                    *was = static_cast<const T *>(reef_notice_old(n, i));
            if constexpr (Kind == REEF_ON_ADD) {
                static_assert(std::is_invocable_v<F &, entity, const T &>,
                              "reef: the function takes (entity), (entity, const T &now), or (const reef_notice &)");
                f(e, *now);
            } else if constexpr (Kind == REEF_ON_SET) {
                static_assert(std::is_invocable_v<F &, entity, const T &, const T &>,
                              "reef: the function takes (entity), (entity, const T &now, const T &was), or (const "
                              "reef_notice &)");
                static_assert(home_of<T>::value != REEF_MULTI,
                              "reef: a type with several values has no single old value: take the entity alone");
                f(e, *now, *was);
            } else {
                static_assert(std::is_invocable_v<F &, entity, const T &>,
                              "reef: the function takes (entity), (entity, const T &was), or (const reef_notice &)");
                f(e, *was);
            }
        }
    }
    static void function(const reef_notice *n) noexcept
    {
        F &f = static_cast<kept_observer *>(n->context)->f;
        if constexpr (whole) f(*n);
        else
            for (uint32_t i = 0; i < n->count; i++) one(f, n, i);
    }
    static void free(void *context) noexcept { delete static_cast<kept_observer *>(context); }
};

template <class T, reef_observed Kind, class F>
observer_ref observe(reef_world *w, const watching &a, F f, const reef_query_desc *query)
{
    using kept = kept_observer<T, Kind, F>;
    reef_observer_desc d = {};
    types_known();
    d.name = a.name;
    d.function = kept::function;
    d.events = Kind;
    if constexpr (!std::is_void_v<T>) d.component = id<T>();
    d.query = query;
    d.collected = a.later;
    d.existing = a.there;
    d.target = a.to;
    d.context_free = kept::free;
    d.context = new (std::nothrow) kept{std::move(f)};
    if (d.context == nullptr) return observer_ref();
    const reef_observer_id o = reef_observer_new(w, &d);
    if (reef_observer_is_null(o)) kept::free(d.context);
    return observer_ref(w, o);
}

} // namespace detail

} // namespace reef

#endif
