/* The add-on reef_net: two to eight programs play one world together. Each plays every tick itself; only inputs travel.
 *
 *     reef_net *net = reef_net_host(&config, reason);             or reef_net_join(&config, address, reason)
 *     for (;;) {
 *         reef_net_update(net, now_ns);                           receives, corrects, plays the ticks that are due
 *         while (reef_net_notice_next(net, &notice)) ...          what happened, and what didn't after all
 *         draw(world);
 *     }
 *
 * A player's input for tick t is known to the others only later. Until then each of them predicts it, plays on, and
 * when the real one differs goes back and plays the ticks again (reef/history.h). A tick is confirmed when all its
 * inputs are known: it is then the same for everybody, and never changes. docs/manual/playing-together.md is the
 * chapter for users; addons/net/net.h describes the protocol.
 *
 * Until a session has ended it owns the time of its world (reef_own_time): between updates the world may be read,
 * forked and saved, but not changed. A session is used by the thread that uses its world. No function waits, and none
 * reads a clock. */
#ifndef REEF_NET_H
#define REEF_NET_H

#include <reef/file.h>
#include <reef/history.h>
#include <reef/memory.h>

REEF_BEGIN_C

enum {
    REEF_NET_PLAYERS_MAX = 8,
    REEF_NET_INPUT_MAX = 64,       /* bytes of a player's input for a tick */
    REEF_NET_DATAGRAM_MAX = 1200,  /* bytes of a datagram; no session sends a longer one */
    REEF_NET_REASON_MAX = 256,     /* room for a reason, with its zero */
    REEF_NET_EVENT_BYTES_MAX = 48, /* data of an event */
    REEF_NET_EVENTS_MAX = 64,      /* events of a tick */
    REEF_NET_KEY_BYTES = 32,       /* of a public key */
    REEF_NET_SIGNATURE_BYTES = 64
};

typedef struct reef_net reef_net;

/* What carries datagrams: of the program's own, or reef_net_sim_transport. It may lose, repeat and reorder them, and
 * must not change them. An address is any number but 0 that the transport understands. */
typedef struct reef_net_transport {
    /* sends a datagram, or loses it; doesn't wait */
    void (*send)(void *context, uint64_t to, const void *bytes, size_t count);
    /* gives the next datagram that has arrived, at most REEF_NET_DATAGRAM_MAX bytes; false: there is none */
    bool (*receive)(void *context, uint64_t *from, void *bytes, size_t *count);
    void *context;
} reef_net_transport;

/* Signs for the local player and checks the signatures of others, with a scheme that all programs of the session have
 * in common: reef_net_udp_signer, or one of the program's own. With it, nobody can invent inputs or datagrams of
 * another player, and a player who gives two others different inputs for a tick is convicted by them. */
typedef struct reef_net_signer {
    unsigned char key[REEF_NET_KEY_BYTES]; /* the local player's public key; a new one for each session */
    void (*sign)(void *context, const void *bytes, size_t count, unsigned char *signature);
    bool (*verify)(void *context, const unsigned char *key, const void *bytes, size_t count,
                   const unsigned char *signature);
    /* writes 16 bytes: a hash for which nobody finds two texts with the same value */
    void (*digest)(void *context, const void *bytes, size_t count, unsigned char *digest);
    void *context;
} reef_net_signer;

/* What a tick is played with. It lives during the call of the step. */
typedef struct reef_net_tick {
    uint64_t tick;
    uint32_t players;                        /* bit p: player p takes part in this tick */
    const void *input[REEF_NET_PLAYERS_MAX]; /* aligned for every type; NULL for who doesn't take part */
    reef_net *net;                           /* for reef_net_happen only; NULL while a desync is examined */
} reef_net_tick;

typedef struct reef_net_config {
    reef_world *world; /* the session doesn't own it. Who joins: with its systems and phases, its content is replaced */
    reef_net_transport transport;
    reef_net_signer signer;   /* {0}: inputs aren't signed; the players trust each other */
    reef_allocator allocator; /* for the session; {0}: the C library's */
    /* Plays a tick: a function of the world, the tick and the inputs alone. It may be called again for ticks that were
     * played with predicted inputs. */
    reef_status (*step)(void *context, reef_world *world, const reef_net_tick *tick);
    /* Writes the local player's input for a tick that comes soon. If it isn't allowed (below), zeros are played.
     * NULL: all zeros, as of a spectator. */
    void (*sample)(void *context, void *input);
    /* Predicts the input of a player for `tick`; `input` contains the last one that is known, `since` ticks old. It
     * must be a function of its arguments. NULL: the last one is repeated. */
    void (*predict)(void *context, uint32_t player, uint64_t tick, uint64_t since, void *input);
    /* Is told of each confirmed tick once, in their order, with the inputs that count (tick->net is NULL). NULL: nobody
     * is. */
    void (*confirmed)(void *context, const reef_net_tick *tick);
    void *context;
    /* A recording is written there (reef_net_recording.h): the state that the session begins with or joins at, then
     * each confirmed tick. When the writer fails, nothing more is written, and the session goes on. {0}: none is. */
    reef_writer record;
    /* A type with fields whose values are inputs, at most REEF_NET_INPUT_MAX bytes, without entities. Inputs outside of
     * the fields' ranges, numbers that aren't finite, and values of an enum without a name are refused. */
    reef_component input;
    /* How the state for joiners is packed: both or none, and the same in all programs. reef_zstd_save_to and
     * reef_zstd_load_from fit; NULL: it isn't. `level` is 3. */
    reef_status (*pack)(reef_world *world, reef_writer to, const reef_save_desc *desc, int level, char *reason);
    reef_status (*unpack)(reef_world *world, reef_reader from, const reef_load_desc *desc, char *reason);
    uint64_t step_ns; /* nanoseconds of a tick, from 1,000,000 to 1,000,000,000 */
    uint64_t nonce;   /* a random number that no program of the session has or had, not 0 */
    bool spectator;   /* reef_net_join: takes no part, and plays only confirmed ticks */
    /* Each 0: the default. */
    uint32_t ahead_max;            /* ticks that may be played with predicted inputs, 1 ... 32; 12 */
    uint32_t delay_min, delay_max; /* ticks between a sample and its tick, at most 32; 1, 6 */
    uint32_t rollback_wanted;      /* the delay leaves about so many predicted ticks; 4 */
    uint64_t silence_ns;           /* who isn't heard for so long is dropped; 2 s */
    uint64_t patience_ns;          /* without a majority for so long the session ends; 10 s */
    uint64_t state_bytes_max;      /* largest state that a joiner takes; 256 MiB */
    uint64_t state_rate;           /* bytes a second that the state of a joiner may take; 1 MiB */
    uint32_t hash_every;           /* confirmed ticks between two hashes that are compared; 8 */
} reef_net_config;

/* ---- a session ---- */

/* Begins a session with one player, number 0, who hosts it: others join him. The world's state is the state before tick
 * 0. Returns NULL on failure and writes why to `reason`, which may be NULL or has room for REEF_NET_REASON_MAX bytes:
 * an argument out of its range, or no memory. */
reef_net *reef_net_host(const reef_net_config *config, char *reason);
/* Joins the session of a host at this address. The others play on meanwhile; reef_net_state says how far it is. */
reef_net *reef_net_join(const reef_net_config *config, uint64_t address, char *reason);
/* Frees a session, before its world and its transport. The world stays as it is. Without reef_net_leave before, the
 * others wait until it is silent for silence_ns. NULL does nothing, and so does a call in a function that the session
 * calls, such as the step. */
void reef_net_free(reef_net *net);
/* Says goodbye: updates go on until the others have agreed on the last input, and the state is ENDED. */
void reef_net_leave(reef_net *net);

/* Receives, corrects, plays what is due, and sends. To be called at least once a tick. `now_ns` is a clock that never
 * goes back, from any beginning. Errors: BAD_ARGUMENT (NULL), LOCKED (in a function that the session calls), what the
 * step returns, NO_MEMORY; the session is then unharmed, and the next update tries again. */
reef_status reef_net_update(reef_net *net, uint64_t now_ns);

typedef enum reef_net_phase {
    REEF_NET_JOINING = 1, /* asks the host, or waits for its answer */
    REEF_NET_LOADING,     /* receives the state */
    REEF_NET_WATCHING,    /* plays, without inputs of its own: a spectator, or a joiner before its first tick */
    REEF_NET_PLAYING,
    REEF_NET_ENDED /* for good; reef_net_reason says why */
} reef_net_phase;
reef_net_phase reef_net_state(const reef_net *net);
/* Why the session ended or what it waits for, or which field of the last sample isn't allowed; "" if there is nothing
 * to say. Lives until the next update. */
const char *reef_net_reason(const reef_net *net);

/* Number of the local player; -1: none. */
int reef_net_player(const reef_net *net);
/* The next tick to play. */
uint64_t reef_net_tick_next(const reef_net *net);
/* All ticks before this one are confirmed and played: every member has said that it has the same inputs for them. */
uint64_t reef_net_confirmed(const reef_net *net);
/* The hash of the state before a confirmed tick that is a multiple of hash_every, while it is remembered (256 of them);
 * otherwise 0. */
uint64_t reef_net_hash(const reef_net *net, uint64_t tick);
/* A fork of the last confirmed state, for saves; the caller frees it. NULL: no memory, or nothing is played yet. */
reef_world *reef_net_fork_confirmed(reef_net *net);

typedef struct reef_net_player_info {
    bool present;      /* takes part, or will */
    bool host;         /* hosts the session now */
    uint64_t address;  /* 0: the local player, or the first host as seen by itself */
    uint64_t known;    /* inputs before this tick are known */
    uint64_t round_ns; /* round trip; 0: not known */
} reef_net_player_info;
/* What is known of a player; false: there is no such number. */
bool reef_net_player_get(const reef_net *net, uint32_t player, reef_net_player_info *info);

typedef struct reef_net_stats {
    uint64_t ticks;          /* played for the first time */
    uint64_t replayed;       /* played again */
    uint64_t rollbacks;      /* corrections that went back */
    uint32_t deepest;        /* most ticks of one */
    uint64_t inputs_changed; /* predicted inputs that were wrong */
    uint64_t stalls;         /* updates in which a tick was due and had to wait for inputs */
    uint64_t stalled_ns;
    uint64_t hashes_compared;
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t refused;    /* datagrams, or inputs in them, that were not understood or not allowed */
    uint64_t relayed;    /* datagrams passed on for others */
    uint64_t views;      /* agreements on who takes part */
    uint64_t proofs;     /* players who signed two different inputs for a tick */
    uint64_t unrecorded; /* confirmed ticks that the recording lacks, since it couldn't be written */
    uint32_t delay;      /* ticks between a sample and its tick, now */
} reef_net_stats;
reef_net_stats reef_net_statistics(const reef_net *net);

/* What differed between two programs, as far as both could find out. The texts are "" where they couldn't, and live as
 * long as the session. */
typedef struct reef_net_desync {
    uint64_t tick; /* the first tick that led to different states from the same state and inputs */
    int player;    /* the other program; -1: it doesn't play yet, or only watches */
    const char *system, *component, *field; /* what first made a difference in it, and in what */
    reef_entity entity;
    const char *here, *there; /* the values of the field */
} reef_net_desync;
/* What the last difference was: of this program, whose session then ends, or of another one, which is dropped. False:
 * there was none. */
bool reef_net_desync_get(const reef_net *net, reef_net_desync *report);

/* ---- what happens once ---- */

/* In a step: something happened that the program wants to hear of, such as a hit. `key` tells events of one kind in one
 * tick apart (an entity's bits); `data` is copied. Errors: LIMIT (too many in this tick, too much data), BAD_ARGUMENT.
 * OK without effect where tick->net is NULL. */
reef_status reef_net_happen(const reef_net_tick *tick, uint32_t kind, uint64_t key, const void *data, size_t bytes);

typedef enum reef_net_notice_kind {
    REEF_NET_BEGUN = 1, /* it happened in a tick that may still change: start the sound */
    REEF_NET_UNDONE,    /* an event that was BEGUN didn't happen after all: stop it */
    REEF_NET_FINAL      /* it happened for good: write it down. Once for each event, in the order of ticks */
} reef_net_notice_kind;

typedef struct reef_net_notice {
    reef_net_notice_kind notice;
    uint32_t kind;
    uint64_t key, tick;
    uint64_t id; /* the same in all notices of one event */
    uint32_t bytes;
    unsigned char data[REEF_NET_EVENT_BYTES_MAX];
} reef_net_notice;
/* Takes the oldest notice; false: there is none. */
bool reef_net_notice_next(reef_net *net, reef_net_notice *notice);

REEF_END_C

#endif
