/* Histories in C++: the last ticks of a world, going back and replaying. Part of reef.hpp.
 *
 *     reef::history<Keys> past(world, reef::keeping().ticks(60),
 *                              [](reef::world_ref w, uint64_t tick, const Keys &keys) { ...; w.tick(dt); });
 *     past.step(keys);
 *     past.rewind(40);
 *     past.replay(60);
 *     past.correct(41, late);
 *
 * Everything is as in reef/history.h. The step may return a reef_status; a step that returns void always succeeds. */
#ifndef REEF_HISTORY_HPP
#define REEF_HISTORY_HPP

#include "world.hpp"

namespace reef {

/* What a history keeps. At least one of ticks() and bytes() must be given. */
struct keeping {
    reef_history_config config = {};

    keeping &ticks(uint64_t n) { return config.ticks = n, *this; }
    keeping &bytes(uint64_t n) { return config.bytes = n, *this; }
    keeping &hashes() { return config.hashes = true, *this; }
};

/* A history. It owns its states and the step, but not the world. */
template <class Input> class history {
    static_assert(std::is_trivially_copyable_v<Input>,
                  "reef: inputs are kept as bytes: give a type that is plain data");
    struct player {
        virtual ~player() = default;
        virtual reef_status play(world_ref w, uint64_t tick, const Input &input) = 0;
    };
    template <class F> struct player_of final : player {
        F f;
        explicit player_of(F &&step) : f(std::move(step)) {}
        reef_status play(world_ref w, uint64_t tick, const Input &input) override
        {
            static_assert(std::is_invocable_v<F &, world_ref, uint64_t, const Input &>,
                          "reef: a step takes (reef::world_ref, uint64_t tick, const Input &)");
            if constexpr (std::is_void_v<std::invoke_result_t<F &, world_ref, uint64_t, const Input &>>)
                return f(w, tick, input), REEF_OK;
            else return f(w, tick, input);
        }
    };
    static reef_status play(void *context, reef_world *world, uint64_t tick, const void *input, size_t) noexcept
    {
        return static_cast<player *>(context)->play(world_ref(world), tick, *static_cast<const Input *>(input));
    }

  public:
    history() = default;
    template <class F>
    history(const world_ref &world, keeping what, F step) : p(new (std::nothrow) player_of<F>(std::move(step)))
    {
        if (p == nullptr) return;
        what.config.step = play;
        what.config.context = p;
        what.config.input_bytes = sizeof(Input);
        h = reef_history_new(world.get(), &what.config);
    }
    history(history &&other) noexcept : p(std::exchange(other.p, nullptr)), h(std::exchange(other.h, nullptr)) {}
    history &operator=(history &&other) noexcept
    {
        std::swap(p, other.p);
        std::swap(h, other.h);
        return *this;
    }
    ~history()
    {
        reef_history_free(h);
        delete p;
    }
    /* False if it couldn't be made: see world.error(). Then every call returns BAD_ARGUMENT. */
    explicit operator bool() const { return h != nullptr; }
    /* For calls of the C interface. */
    reef_history *get() const { return h; }

    reef_status step(const Input &input) { return reef_history_step(h, &input, sizeof input); }
    reef_status rewind(uint64_t tick) { return h ? reef_history_rewind(h, tick) : REEF_BAD_ARGUMENT; }
    reef_status replay(uint64_t until) { return h ? reef_history_replay(h, until) : REEF_BAD_ARGUMENT; }
    /* Sets the input of a tick that was played without it, and plays again from there. */
    reef_status correct(uint64_t tick, const Input &input)
    {
        const reef_late_input late = {tick, &input, sizeof input};
        return h ? reef_history_correct(h, &late, 1) : REEF_BAD_ARGUMENT;
    }
    reef_history_range reach() const { return h ? reef_history_reach(h) : reef_history_range{}; }
    uint64_t hash(uint64_t tick) const { return h ? reef_history_hash(h, tick) : 0; }
    /* The input of a tick; NULL if the tick isn't recorded. */
    const Input *input(uint64_t tick) const
    {
        size_t n = 0;
        return h ? static_cast<const Input *>(reef_history_input(h, tick, &n)) : nullptr;
    }
    /* A new world with the kept state before a tick. */
    world fork_at(uint64_t tick) const
    {
        const reef_snapshot *s = h ? reef_history_at(h, tick) : nullptr;
        return world(s ? reef_snapshot_fork(s) : nullptr);
    }

  private:
    player *p = nullptr;
    reef_history *h = nullptr;
};

} // namespace reef

#endif
