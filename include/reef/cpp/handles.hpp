/* Owning handles in C++: pools of threads, journals, readers of events, pins of shared values. Part of reef.hpp. They
 * can't be copied, only moved, and they free what they own. */
#ifndef REEF_HANDLES_HPP
#define REEF_HANDLES_HPP

#include "entity.hpp"

#include <optional>

namespace reef {

/* A pool of threads, for world.use(pool). It must live longer than the worlds that use it, or they must be given
 * another pool. */
class pool {
  public:
    /* 0: as many threads as the machine has processors. */
    explicit pool(uint32_t threads = 0)
    {
        reef_pool_config c = {};
        c.threads = threads;
        p = reef_pool_new(&c);
    }
    explicit pool(const reef_pool_config &config) : p(reef_pool_new(&config)) {}
    pool(pool &&other) noexcept : p(std::exchange(other.p, nullptr)) {}
    pool &operator=(pool &&other) noexcept
    {
        std::swap(p, other.p);
        return *this;
    }
    ~pool() { reef_pool_free(p); }
    /* False if the pool couldn't be made. */
    explicit operator bool() const { return p != nullptr; }
    reef_pool *get() const { return p; }
    uint32_t threads() const { return p ? reef_pool_threads(p) : 1; }

  private:
    reef_pool *p = nullptr;
};

/* A journal of a world (reef/journal.h). The world must outlive it. If the file exists, it is loaded; otherwise it is
 * made. */
class journal {
  public:
    journal() = default;
    journal(reef_world *world, const char *path, const reef_journal_desc *desc = nullptr)
        : j(reef_journal_open(world, path, desc))
    {
    }
    journal(journal &&other) noexcept : j(std::exchange(other.j, nullptr)) {}
    journal &operator=(journal &&other) noexcept
    {
        std::swap(j, other.j);
        return *this;
    }
    ~journal() { close(); }
    /* False if opening it failed: see world.error(). Then every call returns BAD_ARGUMENT. */
    explicit operator bool() const { return j != nullptr; }
    reef_status append() { return j ? reef_journal_append(j) : REEF_BAD_ARGUMENT; }
    reef_status compact() { return j ? reef_journal_compact(j) : REEF_BAD_ARGUMENT; }
    reef_journal_info stats() const { return j ? reef_journal_stats(j) : reef_journal_info{}; }
    void close() { reef_journal_close(std::exchange(j, nullptr)); }

  private:
    reef_journal *j = nullptr;
};

/* A reader of events outside of systems. It reads each event that is sent after it was made once. It must end before
 * its world. */
template <class T> class event_reader {
  public:
    event_reader() = default;
    explicit event_reader(reef_world *world) : w(world), r(reef_event_reader_new(world, id<T>())) {}
    event_reader(event_reader &&other) noexcept
        : w(std::exchange(other.w, nullptr)), r(std::exchange(other.r, reef_event_reader{0, 0, 0}))
    {
    }
    event_reader &operator=(event_reader &&other) noexcept
    {
        std::swap(w, other.w);
        std::swap(r, other.r);
        return *this;
    }
    ~event_reader()
    {
        if (w) (void)reef_event_reader_free(w, r);
    }
    /* False if it couldn't be made: see world.error(). */
    explicit operator bool() const { return !reef_event_reader_is_null(r); }
    /* The oldest event that it hasn't returned yet: while (auto hit = hits.next()) ... */
    std::optional<T> next()
    {
        union room { /* doesn't contain a value yet */
            char none;
            T value;
            room() : none() {}
        } slot;
        if (w == nullptr || !reef_event_next(w, r, detail::is_tag<T>() ? nullptr : static_cast<void *>(&slot.value)))
            return std::nullopt;
        if constexpr (detail::is_tag<T>()) return T();
        else return slot.value;
    }
    /* Number of events that were dropped because too many waited. */
    uint64_t missed() const { return w ? reef_events_missed(w, r) : 0; }

  private:
    static_assert(!detail::owns<T>(), "reef: events must be plain data, and this type isn't");
    reef_world *w = nullptr;
    reef_event_reader r = {0, 0, 0};
};

/* Holds a value of a type in REEF_SHARED outside of the world: the value lives on when the entities and the world are
 * gone. */
template <class T> class pinned {
  public:
    pinned() = default;
    explicit pinned(const entity &of) : p(of.world() ? reef_pin_id(of.world(), of, id<T>()) : reef_pinned{nullptr}) {}
    pinned(pinned &&other) noexcept : p(std::exchange(other.p, reef_pinned{nullptr})) {}
    pinned &operator=(pinned &&other) noexcept
    {
        std::swap(p, other.p);
        return *this;
    }
    ~pinned() { reef_unpin(p); }
    /* False if the entity had no value. */
    explicit operator bool() const { return !reef_pin_is_null(p); }
    const T *get() const { return static_cast<const T *>(p.value); }
    const T &operator*() const { return *get(); }
    const T *operator->() const { return get(); }
    /* Gives an entity this value: ADDED or OK. */
    reef_status attach(const entity &to) const { return to.world() ? reef_attach(to.world(), to, p) : REEF_NOT_ALIVE; }

  private:
    reef_pinned p = {nullptr};
};

} // namespace reef

#endif
