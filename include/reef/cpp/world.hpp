/* Worlds in C++: owning them, referring to them, snapshots, files. Part of reef.hpp. */
#ifndef REEF_WORLD_HPP
#define REEF_WORLD_HPP

#include "handles.hpp"
#include "observer.hpp"
#include "system.hpp"

namespace reef {

class world;

/* The bytes that a save has made. It owns them. */
class bytes {
  public:
    bytes() = default;
    explicit bytes(reef_bytes of) : b(of) {}
    bytes(bytes &&other) noexcept : b(std::exchange(other.b, reef_bytes{nullptr, 0})) {}
    bytes &operator=(bytes &&other) noexcept
    {
        std::swap(b, other.b);
        return *this;
    }
    ~bytes() { reef_bytes_free(&b); }
    const void *data() const { return b.data; }
    size_t size() const { return b.size; }
    explicit operator bool() const { return b.data != nullptr; }

  private:
    reef_bytes b = {nullptr, 0};
};

/* A snapshot: the state of a world at one moment. It owns the state, and may outlive the world. */
class snapshot {
  public:
    snapshot() = default;
    explicit snapshot(reef_snapshot *of) : s(of) {}
    snapshot(snapshot &&other) noexcept : s(std::exchange(other.s, nullptr)) {}
    snapshot &operator=(snapshot &&other) noexcept
    {
        std::swap(s, other.s);
        return *this;
    }
    ~snapshot() { reef_snapshot_free(s); }
    explicit operator bool() const { return s != nullptr; }
    const reef_snapshot *get() const { return s; }
    /* A new world that begins with this state. */
    world fork() const;

  private:
    reef_snapshot *s = nullptr;
};

/* A reference to a world, which owns nothing. Calls that only read are const. Calls take handles as reef_entity, which
 * a reef::entity converts to. Every call refuses a null world, which is what a failed fork or a world that was moved
 * from is. */
class world_ref {
  public:
    world_ref(reef_world *world) : w(world) { detail::types_known(); }
    /* For calls of the C interface. */
    reef_world *get() const { return w; }
    explicit operator bool() const { return w != nullptr; }

    /* ---- entities ---- */

    /* Makes an entity without components. */
    reef::entity entity() { return at(create()); }
    /* The entity of this name, or a new one with this name. Null when it can't be made. */
    reef::entity entity(const char *name)
    {
        reef_entity e = reef_find(w, name);
        if (!reef_entity_is_null(e)) return at(e);
        e = create();
        if (!reef_entity_is_null(e) && reef_set_name(w, e, name) < 0) {
            (void)reef_destroy(w, e);
            e = reef_entity{0, 0};
        }
        return at(e);
    }
    /* Makes an entity with all of these components in one step: spawn(Position{1, 2}, reef::tag<Hungry>()). Null on
     * failure. */
    template <class... V> reef::entity spawn(V &&...values)
    {
        reef_world *const world = w;
        auto f = [world](const reef_value *list, uint32_t n) { return reef_spawn_values(world, list, n); };
        return at(detail::with_values(
            f, [](reef_entity e) { return !reef_entity_is_null(e); }, std::forward<V>(values)...));
    }
    /* Makes `n` entities, each with a copy of the values, or with its own value of an array: spawn_many(n, ids,
     * reef::array(positions), Health{3}). The handles are written to `entities`, which may be NULL. */
    template <class... V> reef_status spawn_many(uint32_t n, reef_entity *entities, const V &...values)
    {
        reef_world *const world = w;
        auto f = [world, n, entities](const reef_value *list, uint32_t count) {
            return reef_spawn_many_values(world, n, entities, list, count);
        };
        return detail::with_values(
            f, [](reef_status s) { return s >= 0; }, values...);
    }
    /* Makes `n` copies of an entity, without its name. */
    reef_status clone_many(reef_entity source, uint32_t n, reef_entity *entities)
    {
        return reef_clone_many(w, source, n, entities);
    }
    /* Makes a copy of a prefab with all that is below it; the values replace those of its root, or come in addition
     * (reef/prefab.h). False if it fails. */
    template <class... V> reef::entity instantiate(reef_entity prefab, V &&...values)
    {
        reef_world *const world = w;
        auto f = [world, prefab](const reef_value *list, uint32_t count) {
            reef_entity e = {0, 0};
            return reef_instantiate_values(world, prefab, 1, &e, list, count) == REEF_OK ? e : reef_entity{0, 0};
        };
        return at(detail::with_values(
            f, [](reef_entity e) { return !reef_entity_is_null(e); }, std::forward<V>(values)...));
    }
    /* Makes `n` of them. The handles of their roots are written to `roots`, which may be NULL. */
    template <class... V>
    reef_status instantiate_many(reef_entity prefab, uint32_t n, reef_entity *roots, const V &...values)
    {
        reef_world *const world = w;
        auto f = [world, prefab, n, roots](const reef_value *list, uint32_t count) {
            return reef_instantiate_values(world, prefab, n, roots, list, count);
        };
        return detail::with_values(
            f, [](reef_status s) { return s >= 0; }, values...);
    }
    /* Makes `n` clones of an entity with all that is below it. */
    reef_status clone_tree(reef_entity root, uint32_t n, reef_entity *roots)
    {
        return reef_clone_tree(w, root, n, roots);
    }
    reef::entity find(const char *name) const { return at(reef_find(w, name)); }
    reef::entity at(reef_entity e) const { return reef::entity(w, e); }
    reef_status destroy(reef_entity e) { return reef_destroy(w, e); }
    reef_status clear() { return reef_world_clear(w); }
    bool is_alive(reef_entity e) const { return reef_is_alive(w, e); }
    uint64_t count() const { return reef_count_alive(w); }
    template <class T> uint64_t count() const { return reef_count_id(w, id<T>()); }

    /* ---- components by handle, as the members of reef::entity ---- */

    template <class T> const T *get(reef_entity e) const { return w ? detail::get<T>(w, e) : nullptr; }
    template <class T> T *mut(reef_entity e) { return w ? detail::mut<T>(w, e) : nullptr; }
    template <class T> bool has(reef_entity e) const { return w && detail::has<T>(w, e); }
    template <class T> T *ensure(reef_entity e) { return detail::ensure<T>(w, e); }
    template <class T, class... A> reef_status add(reef_entity e, A &&...a)
    {
        return detail::add<T>(w, e, std::forward<A>(a)...);
    }
    template <class V> reef_status set(reef_entity e, V &&value)
    {
        using T = std::decay_t<V>;
        detail::needs_data<T>();
        return detail::set<T>(w, e, std::forward<V>(value));
    }
    template <class T> reef_status remove(reef_entity e) { return reef_remove_id(w, e, id<T>()); }

    /* ---- singletons ---- */

    template <class T> const T *single() const { return static_cast<const T *>(reef_single_get_id(w, id<T>())); }
    template <class T> T *single_mut() { return static_cast<T *>(reef_single_mut_id(w, id<T>())); }
    template <class T> bool has_single() const { return reef_single_has_id(w, id<T>()); }
    template <class T> reef_status remove_single() { return reef_single_remove_id(w, id<T>()); }
    template <class V> reef_status set_single(V &&value)
    {
        using T = std::decay_t<V>;
        detail::needs_data<T>();
        auto held = detail::hold<T>(std::forward<V>(value));
        const reef_status s = reef_single_set_id(w, id<T>(), held.data(), sizeof(T));
        held.taken(s >= 0);
        return s;
    }

    /* ---- loops ---- */

    /* One loop. It makes a query and frees it; reef::world keeps its queries instead. */
    template <class... T> reef::view<T...> view()
    {
        return reef::view<T...>(w, detail::make_query<T...>(w, true), true);
    }
    template <class... T> reef::query<T...> query() { return reef::query<T...>(w); }
    /* One loop in which the structure may be changed: entities made and destroyed, components added and removed. The
     * calls are recorded, and done when the loop ends (docs/rules/deferred.md):
     *     for (auto [e, health] : world.deferred<const Health>()) if (health.left <= 0) e.destroy(); */
    template <class... T> reef::view<T...> deferred()
    {
        return reef::view<T...>(w, detail::make_query<T...>(w, true), true, true);
    }
    /* The same for lists with reef::to<R>: view<Position, reef::to<DockedTo>>(planet). */
    template <class... T, class... E> reef::view<T...> view(reef_entity target, const E &...more)
    {
        return reef::view<T...>(w, detail::make_query<T...>(w, true, target, more...), true);
    }
    template <class... T, class... E> reef::query<T...> query(reef_entity target, const E &...more)
    {
        return reef::query<T...>(w, target, more...);
    }
    /* The same for lists with reef::near<T>: view<reef::with<Hunter>, reef::near<Position>>(reef::around(3, 4)
     * .radius(5)). A reef::query is given further centres by near(). */
    template <class... T, class... E> reef::view<T...> view(const around &centre, const E &...targets)
    {
        const reef_query q = detail::make_query<T...>(w, true, targets...);
        const reef_place_ask &ask = centre;
        if (!reef_query_is_null(q)) (void)reef_query_near(w, q, &ask);
        return reef::view<T...>(w, q, true);
    }

    /* ---- finding: reef/cpp/find.hpp ---- */

    /* The value index of a field, as of now: index(&Team::id). */
    template <class T, class F> reef::index<T, F> index(F T::*member)
    {
        return reef::index<T, F>(reef_index_of_id(w, id<T>(), detail::field_name(member)));
    }
    /* The same for a field inside of another one, by its name and with its type: index<Crab, float>("at.x"). False if
     * the field is of another type. */
    template <class T, class F> reef::index<T, F> index(const char *field)
    {
        return reef::index<T, F>(detail::has_field<T, F>(field) ? reef_index_of_id(w, id<T>(), field) : nullptr);
    }
    /* The picture of the place of T, as of now. */
    template <class T> reef::place<T> place() { return reef::place<T>(reef_place_of_id(w, id<T>())); }

    /* Calls a function for everything that matches its parameters, as for a system; further arguments are passed to its
     * last parameters. The structure can't change during the call. */
    template <class F, class... A> reef_status each(F f, A... arguments)
    {
        using run = typename detail::kept_system<F, A...>::run;
        static_assert(run::queries, "reef: name at least one component");
        reef_query_desc q = {};
        reef_system_desc d = {};
        if (!run::describe(q, d)) return REEF_BAD_ARGUMENT;
        q.own = true;
        const reef_query query = reef_query_make(w, &q);
        if (reef_query_is_null(query)) return reef_last_error(w).status;
        struct loop { /* ends also when the function throws */
            reef_world *world;
            reef_query query;
            reef_block block;
            ~loop()
            {
                if (block.loop.open) reef_end(&block);
                reef_query_free(world, query);
            }
        };
        const std::tuple<A...> kept(std::move(arguments)...);
        loop l = {w, query, reef_begin(w, query)};
        while (reef_next(&l.block)) run::call(&l.block, f, kept);
        const reef_status s = reef_last_error(w).status;
        return s == REEF_NO_MEMORY ? s : REEF_OK;
    }

    /* ---- systems ---- */

    /* Adds a system: see reef/cpp/system.hpp. `a` is its name, or reef::about("name").in("end").runs_after("move"). */
    template <class F, class... A> system_ref system(const about &a, F f, A... arguments)
    {
        if constexpr (std::is_member_function_pointer_v<F>) {
            return member(a, f, std::move(arguments)...);
        } else {
            reef_system_id s = {0, 0, 0};
            auto done = [this, &s](const reef_system_desc &d) {
                return !reef_system_is_null(s = reef_system_new(w, &d));
            };
            (void)detail::describe_system(a, std::move(f), done, std::move(arguments)...);
            return system_ref(w, s);
        }
    }
    /* Runs a function once, as a system that isn't added: world.once(1.0f / 60, physics). */
    template <class F, class... A> reef_status once(float dt, F f, A... arguments)
    {
        reef_status s = REEF_NO_MEMORY;
        auto done = [this, &s, dt](const reef_system_desc &d) {
            reef_system_desc mine = d;
            mine.context_free = nullptr;
            s = reef_system_once(w, &mine, dt);
            return false; /* so that the kept arguments are freed */
        };
        (void)detail::describe_system(about(nullptr), std::move(f), done, std::move(arguments)...);
        return s;
    }
    system_ref find_system(const char *name) { return system_ref(w, reef_system_find(w, name)); }
    reef_status tick(float dt) { return reef_tick(w, dt); }
    uint64_t ticks() const { return reef_tick_count(w); }
    /* Uses this pool of threads for ticks from now on. */
    reef_status use(const reef::pool &threads) { return reef_set_pool(w, threads.get()); }
    reef_status use(reef::pool &&) = delete; /* it must outlive its use */
    template <class T, class... A> reef_status post(A &&...arguments)
    {
        static_assert(!detail::owns<T>(), "reef: events must be plain data, and this type isn't");
        const T value = detail::made<T>(std::forward<A>(arguments)...);
        return reef_post_id(w, id<T>(), detail::is_tag<T>() ? nullptr : &value, detail::is_tag<T>() ? 0 : sizeof(T));
    }

    template <class T> reef::event_reader<T> reader() { return reef::event_reader<T>(w); }

    /* ---- observers: reef/cpp/observer.hpp ---- */

    template <class T, class F> observer_ref on_add(const watching &a, F f)
    {
        return detail::observe<T, REEF_ON_ADD>(w, a, std::move(f), nullptr);
    }
    template <class T, class F> observer_ref on_set(const watching &a, F f)
    {
        return detail::observe<T, REEF_ON_SET>(w, a, std::move(f), nullptr);
    }
    template <class T, class F> observer_ref on_remove(const watching &a, F f)
    {
        return detail::observe<T, REEF_ON_REMOVE>(w, a, std::move(f), nullptr);
    }
    /* Called for entities that had T; without T, for all entities. */
    template <class T, class F> observer_ref on_destroy(const watching &a, F f)
    {
        return detail::observe<T, REEF_ON_DESTROY>(w, a, std::move(f), nullptr);
    }
    template <class F> observer_ref on_destroy(const watching &a, F f)
    {
        return detail::observe<void, REEF_ON_DESTROY>(w, a, std::move(f), nullptr);
    }
    /* Takes a list of components, as a view does. */
    template <class... T, class F> observer_ref on_match(const watching &a, F f)
    {
        return on_query<REEF_ON_MATCH, T...>(a, std::move(f));
    }
    template <class... T, class F> observer_ref on_unmatch(const watching &a, F f)
    {
        return on_query<REEF_ON_UNMATCH, T...>(a, std::move(f));
    }
    observer_ref find_observer(const char *name) { return observer_ref(w, reef_observer_find(w, name)); }

    /* ---- worlds as values, files ---- */

    reef::snapshot snapshot() { return reef::snapshot(reef_snapshot_take(w)); }
    reef_status restore(const reef::snapshot &s) { return reef_restore(w, s.get()); }
    world fork();
    uint64_t hash() { return reef_hash(w); }
    /* Do the two have the same state? If not, the first difference is written to *difference, which may be NULL. */
    bool equals(const world_ref &other, reef_difference *difference = nullptr) const
    {
        return reef_equal(w, other.w, difference);
    }
    [[nodiscard]] reef_status save(const char *path, const reef_save_desc *desc = nullptr)
    {
        return reef_save(w, path, desc);
    }
    [[nodiscard]] reef_status load(const char *path, const reef_load_desc *desc = nullptr)
    {
        return reef_load(w, path, desc);
    }
    reef::bytes save_bytes(const reef_save_desc *desc = nullptr)
    {
        reef_bytes b = {nullptr, 0};
        return reef_save_bytes(w, &b, desc) >= 0 ? reef::bytes(b) : reef::bytes();
    }
    [[nodiscard]] reef_status load_bytes(const void *data, size_t size, const reef_load_desc *desc = nullptr)
    {
        return reef_load_bytes(w, data, size, desc);
    }

    reef::journal journal(const char *path, const reef_journal_desc *desc = nullptr)
    {
        return reef::journal(w, path, desc);
    }

    /* The last error. */
    reef_error error() const { return reef_last_error(w); }

  protected:
    reef_world *w;

  private:
    reef_entity create() { return w ? reef_create(w) : reef_entity{0, 0}; }
    template <reef_observed Kind, class... T, class F> observer_ref on_query(const watching &a, F f)
    {
        detail::check_terms<T...>();
        reef_query_desc q = {};
        uint32_t n = 0;
        if (!(detail::item<T>::term(q, n) && ...)) return observer_ref();
        return detail::observe<void, Kind>(w, a, std::move(f), &q);
    }
    template <class M, class C, class... A> system_ref member(const about &a, M m, C *object, A... arguments)
    {
        return system(a, detail::bound_member<M, C>{m, object}, std::move(arguments)...);
    }
};

/* A world that this object owns and frees. It keeps the queries of its views. */
class world : public world_ref {
  public:
    world() : world_ref(reef_world_new(nullptr)) {}
    explicit world(const reef_world_config &config) : world_ref(reef_world_new(&config)) {}
    /* Takes over a world that C has made. */
    explicit world(reef_world *taken) : world_ref(taken) {}
    world(world &&other) noexcept : world_ref(std::exchange(other.w, nullptr)), kept(std::exchange(other.kept, nullptr))
    {
    }
    world &operator=(world &&other) noexcept
    {
        std::swap(w, other.w);
        std::swap(kept, other.kept);
        return *this;
    }
    ~world()
    {
        reef_world_free(w);
        while (kept) delete std::exchange(kept, kept->next);
    }
    /* Gives the world to the caller, who must free it. */
    reef_world *release()
    {
        while (kept) {
            reef_query_free(w, kept->query);
            delete std::exchange(kept, kept->next);
        }
        return std::exchange(w, nullptr);
    }

    using world_ref::view;
    /* One loop. The query is made by the first loop over this list of components, and kept. */
    template <class... T> reef::view<T...> view() { return view_kept<T...>(false); }
    template <class... T> reef::view<T...> deferred() { return view_kept<T...>(true); }

  private:
    template <class... T> reef::view<T...> view_kept(bool later)
    {
        for (kept_query *k = kept; k; k = k->next)
            if (k->list == &key<T...>) return reef::view<T...>(w, k->query, false, later);
        const reef_query query = detail::make_query<T...>(w, true);
        kept_query *k = reef_query_is_null(query) ? nullptr : new (std::nothrow) kept_query{&key<T...>, query, kept};
        if (k) kept = k;
        return reef::view<T...>(w, query, k == nullptr, later);
    }
    struct kept_query {
        const void *list;
        reef_query query;
        kept_query *next;
    };
    template <class... T> static inline const char key = 0;
    kept_query *kept = nullptr;
};

inline world world_ref::fork() { return world(reef_fork(w)); }
inline world snapshot::fork() const { return world(s ? reef_snapshot_fork(s) : nullptr); }

} // namespace reef

#endif
