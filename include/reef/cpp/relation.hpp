/* Relations in C++. Part of reef.hpp.
 *
 *     struct Likes : reef::relation<> {};
 *     struct DockedTo : reef::relation<REEF_EXCLUSIVE> {};
 *     struct Owes : reef::relation_of<Money> {};
 *
 *     alice.relate<Likes>(bob).relate<Owes>(bob, Money{30});
 *     if (alice.related<Likes>(bob)) alice.unrelate<Likes>(bob);
 *     reef::entity planet = ship.target<DockedTo>();
 *     for (reef::entity ship : planet.sources<DockedTo>()) ...
 *     for (reef::entity friend_ : alice.targets<Likes>()) ...
 *     for (auto [who, money] : alice.relations<Owes>()) ...
 *     for (auto [e, p] : world.view<Position, reef::to<DockedTo>>(planet)) ...
 *
 * The options are those of C (reef/relation.h), and so are the rules. A type that C declares by REEF_RELATION can be
 * used in the same way. */
#ifndef REEF_RELATION_HPP
#define REEF_RELATION_HPP

#include "entity.hpp"

namespace reef {

/* The targets of a source, in the order of relating. The world's structure must not change while it is walked. */
template <class R> class target_range {
  public:
    target_range(reef_world *world, span<const R> relations) : w(world), s(relations) {}
    class place {
      public:
        place(reef_world *world, const R *at) : w(world), r(at) {}
        entity operator*() const { return entity(w, r->target); }
        place &operator++() { return r++, *this; }
        bool operator!=(const place &other) const { return r != other.r; }

      private:
        reef_world *w;
        const R *r;
    };
    place begin() const { return place(w, s.begin()); }
    place end() const { return place(w, s.end()); }
    uint32_t size() const { return s.count; }
    entity operator[](uint32_t i) const { return entity(w, s[i].target); }

  private:
    reef_world *w;
    span<const R> s;
};

/* The same with the data: pairs of the target and its data, for structured bindings. */
template <class R> class relation_range {
  public:
    relation_range(reef_world *world, span<const R> relations) : w(world), s(relations) {}
    using data = decltype(R::data);
    class place {
      public:
        place(reef_world *world, const R *at) : w(world), r(at) {}
        std::tuple<entity, const data &> operator*() const { return {entity(w, r->target), r->data}; }
        place &operator++() { return r++, *this; }
        bool operator!=(const place &other) const { return r != other.r; }

      private:
        reef_world *w;
        const R *r;
    };
    place begin() const { return place(w, s.begin()); }
    place end() const { return place(w, s.end()); }
    uint32_t size() const { return s.count; }

  private:
    reef_world *w;
    span<const R> s;
};

/* The sources of a target, in their order. No relation of the type may be made or ended while it is walked. */
class source_range {
  public:
    source_range(reef_world *world, reef_entity target, reef_component relation) : w(world), t(target), r(relation) {}
    struct end_mark {};
    class place {
      public:
        place(reef_world *world, reef_entity target, reef_component relation)
            : w(world), s(reef_sources_of_id(world, target, relation))
        {
            more();
        }
        entity operator*() const { return entity(w, now); }
        place &operator++()
        {
            if (++i < s.count) now = s.sources[i];
            else more();
            return *this;
        }
        bool operator!=(end_mark) const { return s.count != 0; }

      private:
        void more()
        {
            i = 0;
            if (reef_sources_next(&s)) now = s.sources[0];
        }
        reef_world *w;
        reef_sources s;
        reef_entity now = {0, 0};
        uint32_t i = 0;
    };
    place begin() const { return place(w, t, r); }
    end_mark end() const { return {}; }
    uint64_t size() const { return w ? reef_source_count_id(w, t, r) : 0; }

  private:
    reef_world *w;
    reef_entity t;
    reef_component r;
};

template <class R> chain entity::relate(reef_entity target) const
{
    detail::needs_relation<R>();
    return chain(*this, w ? reef_relate_id(w, e, id<R>(), target, nullptr, 0) : REEF_NOT_ALIVE);
}
template <class R, class D> chain entity::relate(reef_entity target, const D &data) const
{
    detail::needs_relation<R>();
    static_assert(std::is_same_v<D, detail::data_of<R>>, "reef: this isn't the type of the relation's data");
    return chain(*this, w ? reef_relate_id(w, e, id<R>(), target, &data, sizeof(D)) : REEF_NOT_ALIVE);
}
template <class R> chain entity::relate_before(reef_entity target, reef_entity next) const
{
    detail::needs_relation<R>();
    return chain(*this, w ? reef_relate_before_id(w, e, id<R>(), target, next) : REEF_NOT_ALIVE);
}
template <class R> chain entity::unrelate(reef_entity target) const
{
    detail::needs_relation<R>();
    return chain(*this, w ? reef_unrelate_id(w, e, id<R>(), target) : REEF_NOT_ALIVE);
}
template <class R> chain entity::retarget(reef_entity from, reef_entity to) const
{
    detail::needs_relation<R>();
    return chain(*this, w ? reef_retarget_id(w, e, id<R>(), from, to) : REEF_NOT_ALIVE);
}
template <class R> target_range<R> entity::targets() const { return target_range<R>(w, get_all<R>()); }
template <class R> relation_range<R> entity::relations() const { return relation_range<R>(w, get_all<R>()); }
template <class R> source_range entity::sources() const
{
    return detail::needs_relation<R>(), source_range(w, e, id<R>());
}

} // namespace reef

#endif
