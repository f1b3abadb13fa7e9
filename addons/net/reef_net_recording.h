/* Recordings of sessions: a state, the inputs of each confirmed tick since, hashes of states, and where two programs
 * differed.
 *
 *     config.record = writer;                             a session writes what it confirms
 *     reef_net_desync_save(net, writer);                  after a difference: from the last equal state up to it
 *
 *     r = reef_net_recording_open(reader, NULL, reason);  plays it again, without a session
 *     reef_net_recording_load(r, world, reef_id(Keys), NULL, reason);
 *     for (uint64_t t = r's first; reef_net_recording_tick(r, t, &tick); t++) step(context, world, &tick);
 *
 * `reef replay --module GAME FILE` does that with a game's rules as a library (REEF_NET_RULES), and says whether they
 * lead to the recorded states. A recording is for programs with the same types on machines with the same byte order. A
 * program that was killed leaves one that ends early. docs/manual/playing-together.md explains it. */
#ifndef REEF_NET_RECORDING_H
#define REEF_NET_RECORDING_H

#include "reef_net.h"

REEF_BEGIN_C

/* ---- writing ---- */

/* Writes the recording of a difference: the last state that was equal on both sides, the inputs up to the difference,
 * the hashes of both sides, and the report. Possible from when reef_net_desync_get returns true. Errors: BAD_ARGUMENT
 * (there is no difference, no function), NO_MEMORY (also if there was none to keep that state), and what the writer
 * returns. */
reef_status reef_net_desync_save(const reef_net *net, reef_writer to);

/* ---- reading ---- */

typedef struct reef_net_recording reef_net_recording;

/* Reads a recording as a whole. A NULL allocator: the C library's. NULL on failure, and `reason` (NULL, or room for
 * REEF_NET_REASON_MAX bytes) says why: it is none, it is damaged, no memory, or what the reader returned. */
reef_net_recording *reef_net_recording_open(reef_reader from, const reef_allocator *allocator, char *reason);
/* Frees it. NULL does nothing. */
void reef_net_recording_free(reef_net_recording *recording);

typedef struct reef_net_recorded {
    uint64_t first;       /* the state is the one before this tick */
    uint64_t ticks;       /* the inputs of so many ticks follow */
    const char *input;    /* describes the type of inputs; lives as long as the recording */
    bool torn;            /* it ends within something: the program was killed, or the disk was full */
    bool differs;         /* it says where two programs differed */
    reef_net_desync what; /* differs: what; as reef_net_desync_get says it. Its texts live as long as the recording */
} reef_net_recorded;
/* What is in it. */
reef_net_recorded reef_net_recording_get(const reef_net_recording *recording);

/* Loads the state into a world, which has the systems that play it. `input` is the program's type of inputs. A NULL
 * desc: all defaults. Errors: BAD_ARGUMENT, NOT_PORTABLE (the recorded inputs are of another type), CORRUPT (an input
 * is outside of its description), and those of reef_load_from. `reason` (as above) says more. */
reef_status reef_net_recording_load(const reef_net_recording *recording, reef_world *world, reef_component input,
                                    const reef_load_desc *desc, char *reason);
/* What a tick was played with; tick->net is NULL. The inputs live until the next call. False: it isn't recorded. */
bool reef_net_recording_tick(reef_net_recording *recording, uint64_t tick, reef_net_tick *to);
/* The hash of the state before a tick, as the program had it that recorded, or `there` as the other one had it. 0: it
 * isn't recorded. */
uint64_t reef_net_recording_hash(const reef_net_recording *recording, uint64_t tick, bool there);

/* Writes a value as reports do: of a component's field by names, of an element of it by "name[2]"; with the field "",
 * whether the entity has the component. False: there is no such type or field, or the entity doesn't have it. */
bool reef_net_value_text(reef_world *world, reef_entity entity, const char *component, const char *field, char *text,
                         size_t size);

/* ---- in a library with a game's rules ---- */

/* What plays a tick, for programs that know only the library: `reef replay`. */
typedef struct reef_net_rules {
    uint32_t tick_bytes; /* sizeof(reef_net_tick) */
    reef_component (*input)(void);
    reef_status (*step)(void *context, reef_world *world, const reef_net_tick *tick); /* the context is NULL */
} reef_net_rules;

#if defined(_WIN32)
#define REEF_NET_EXPORT_ __declspec(dllexport)
#else
#define REEF_NET_EXPORT_ __attribute__((visibility("default")))
#endif
#if defined(__cplusplus)
#define REEF_NET_C_ extern "C"
#define REEF_NET_DECLARE_C_ extern "C"
#else
#define REEF_NET_DECLARE_C_ extern
#define REEF_NET_C_
#endif

/* Exports the step of a session and its type of inputs, once in a library, beside REEF_HOT_LIBRARY (reef_hot.h). */
#define REEF_NET_RULES(step, Input) \
    static reef_component reef_net_rules_input_(void) { return reef_id(Input); } \
    REEF_NET_DECLARE_C_ REEF_NET_EXPORT_ const reef_net_rules reef_net_rules_of_this; \
    REEF_NET_C_ REEF_NET_EXPORT_ const reef_net_rules reef_net_rules_of_this = {sizeof(reef_net_tick), \
                                                                                reef_net_rules_input_, step}

REEF_END_C

#endif
