/* A session from inside: the protocol, and the state that its files share.
 *
 * Peers. Players have the seats 0 ... 7, and everybody sends to everybody (a mesh). Guests (joiners that aren't players
 * yet, and spectators) talk to the host alone. A program is known by its incarnation, a random number: who comes back
 * is a new one.
 *
 * Inputs. seat.have: all inputs of the seat before that tick are known. Each datagram carries `have` of all seats,
 * which acknowledges; the inputs behind what the receiver has are sent again and again until it has them, one's own at
 * once, and those of others when the receiver hasn't got on with them for a while. So the one rule "send what the other
 * lacks" repeats losses, relays for links that fail, and feeds guests. A player signs each block of NET_BLOCK of his
 * inputs (block.c). Inputs come from their player, or in signed blocks from anybody; those of a block are taken only
 * when the block before is signed. seat.proven: all inputs before that tick are signed.
 *
 * How far ticks are. Each of these is at least the next one:
 *
 *     tick        played, with predicted inputs where the real ones aren't known; at most ahead_max beyond `complete`
 *     complete    all inputs of the ticks before it are known; they may still be replaced by signed ones
 *     proven      they are signed. Frames tell it with a digest of all inputs before it (the echo)
 *     agreed      all members have told equal digests
 *     checked     agreed, and played with these inputs: what a program sees as confirmed. It never changes
 *
 * The host lets a member begin by a command in his own stream of inputs: "with my input for T: seat s plays from
 * S > T". It counts when T is proven, so all prove the same.
 *
 * A player who signs two versions of a block splits the others: some have proven one, some the other, and so neither
 * can be agreed. Those whose echoes differ send each other the blocks that aren't agreed. Two signed versions are
 * proof: both take back the inputs from the first tick that differs on, and the next view is without that player.
 *
 * Agreement. Who is a member, who hosts, and with which tick a dropped player's inputs end is the view. View n + 1
 * follows from view n by the single-decree Paxos of the members of view n (agree.c):
 *
 *     PROPOSE(ballot, drop)    a member suspects others; or the host wants to add one
 *     PROMISE(proven)          "I ignore lower ballots, and take no more inputs of those in `drop`"
 *     ACCEPT(view)             when all that stay have promised, or after silence_ns a quorum of them: `end` of who
 *                              goes is the least `proven`, and at least what the proposer knows to be agreed
 *     ACCEPTED                 a quorum of these decides; VIEW(view) tells everybody
 *
 * A quorum is more than half of view n, or exactly half with its host: two quorums always meet. Whoever promises has
 * proven what is agreed, so `end` isn't below it (agree.c has the argument). Nobody can delay the end by claiming
 * inputs that don't exist. When somebody falls silent meanwhile, the proposer begins again with a larger `drop`. The
 * others learn that they are out when they meet a newer view, or end when they find no quorum for patience_ns.
 *
 * Failures, and what follows:
 *     a datagram is lost, late, doubled     it is sent again; inputs below `have` are skipped
 *     a link fails                          its datagrams go through a member that hears both (RELAY)
 *     a player is silent, or blocks         a view without him, at most silence_ns later; he may join again
 *     who alone had the last inputs dies    the next view ends that seat where all survivors know its inputs
 *     promises for different drops meet     the next view has the same members, and takes inputs again (agree.c)
 *     a player hinders the agreement        it is done without him
 *     the proposer dies                     the next one's ballot finds what a quorum may have accepted, and repeats it
 *     the host dies                         the next seat hosts; guests ask that one and load again
 *     no quorum                             everybody waits, at most ahead_max ticks ahead, and ends after patience_ns
 *     a state is lost on its way            its chunks are asked for until all are there
 *     a step or an allocation fails         the update returns it; the next one does what is left
 *     states differ                         the programs find out where; who isn't with a quorum ends (desync.c)
 *     a player's hashes are wrong           that is the same, for the others
 *     an input is absurd                    its datagram is refused; a player whose inputs don't come blocks, see above
 *     an input is invented by another one   it isn't signed by its player, and refused; so is a relayed datagram
 *     a player sends some nothing           they get his signed blocks from the others
 *     a player signs two versions           a view without him, see above
 *     a player's echo is wrong, or missing  a view without him some time later
 *     it is wrong for some only             these believe the others what is confirmed
 *
 * Where it comes from: PROVENANCE.md. */
#ifndef REEF_NET_NET_H
#define REEF_NET_NET_H

#include "reef_net.h"
#include "wire.h"
#include <reef/file.h>
#include <reef/type_info.h>

enum {
    NET_VERSION = 5,
    NET_SEATS = REEF_NET_PLAYERS_MAX,
    NET_GUESTS = 8,
    NET_LINKS = NET_SEATS + NET_GUESTS, /* links 0 ... 7 belong to the seats, the others to guests */
    NET_RING = 2048,                    /* ticks whose inputs are kept; a power of two */
    NET_BLOCK = 16,                     /* inputs that are signed together */
    NET_BLOCKS = NET_RING / NET_BLOCK,
    NET_DIGEST = 16,
    NET_SLOTS = 128, /* ticks whose events are kept; more than 2 * 32 predicted ones */
    NET_STARTS = 64, /* commands that are kept */
    NET_VIEWS = 16,  /* views that are kept for those who are behind */
    NET_HASHES = 256,
    NET_WINDOW = 64, /* chunks of a state on their way */
    NET_CHUNK = 1024,
    NET_FRAME_ROOM = REEF_NET_DATAGRAM_MAX - 96, /* of a datagram that fits into a relayed one */
    NET_REACH = 1024,                            /* inputs further than this beyond the confirmed tick are refused */
    NET_BEHIND = NET_RING - 128 /* a guest that is further behind can't get the inputs that it lacks any more */
};

#define NET_NEVER UINT64_MAX
#define NET_MS UINT64_C(1000000)

/* The first byte of a datagram; the session follows, 8 bytes, 0 in HELLO. */
typedef enum net_message {
    NET_HELLO = 1, /* version, incarnation, attempt, digest, spectator, public key */
    NET_REFUSE,    /* incarnation, text */
    NET_WELCOME,   /* incarnation, blob: number, kind, size */
    NET_ASK,       /* incarnation, blob, chunks: all before, and bits of those behind */
    NET_CHUNK_OF,  /* blob, chunk, bytes */
    NET_FRAME,     /* packet.c */
    NET_AGREE,     /* agree.c */
    NET_RELAY,     /* from, to (incarnations), signature of the sender, a datagram */
    NET_DESYNC     /* desync.c */
} net_message;

typedef enum net_blob_kind { NET_BLOB_NONE = 0, NET_BLOB_STATE, NET_BLOB_DESCRIPTION } net_blob_kind;

typedef struct net_seat {
    uint64_t incarnation, address; /* incarnation 0: nobody had it yet */
    unsigned char key[REEF_NET_KEY_BYTES];
    uint64_t first, end; /* plays ticks first <= t < end; first, a multiple of NET_BLOCK, is NET_NEVER: not begun */
    uint64_t have;       /* inputs before it are known; 0: not begun */
    uint64_t proven;     /* inputs before it are signed, and count; at most `have` */
    uint64_t blocks;     /* the signatures of the blocks before it are known: a multiple of NET_BLOCK */
    uint64_t grew_at;    /* when `have` last grew */
    bool frozen;         /* promised: no more inputs until the next view */
    bool convicted;      /* signed two versions of a block */
} net_seat;

/* A block of inputs with what its signature covers. */
typedef struct net_block net_block;

typedef struct net_view {
    uint32_t number, members, host;
    struct {
        uint64_t incarnation, address, end;
        unsigned char key[REEF_NET_KEY_BYTES];
    } seat[NET_SEATS];
} net_view;

/* "With the input of seat `by` for `tick`: `incarnation`, a member since `view`, plays in `seat` from `first`." A tick
 * with a command isn't proven before that view is known. */
typedef struct net_start {
    uint64_t tick, incarnation, first; /* incarnation 0: empty */
    uint32_t by, seat, view;
} net_start;

struct net_block {
    uint32_t seat;
    uint64_t first;  /* tick */
    net_start start; /* the command in it; incarnation 0: none */
    unsigned char inputs[NET_BLOCK * REEF_NET_INPUT_MAX], signature[REEF_NET_SIGNATURE_BYTES];
};

typedef struct net_link {
    bool used, guest, spectator, ready, leaving;
    bool promised;      /* as it says */
    uint32_t proposals; /* ballots of it that were promised in this view */
    uint64_t incarnation, address;
    uint64_t direct_at, heard_at; /* a datagram came directly; directly or by relay. 0: never */
    uint64_t promised_since;
    uint64_t proposed_first, proposed_at; /* the first and the last of `proposals` */
    uint64_t steady_at;                   /* since then it was heard without long pauses */
    uint32_t hears;                       /* seats that the peer hears directly */
    uint32_t view;
    uint64_t tick, confirmed, tick_at; /* as it said at tick_at */
    uint64_t have[NET_SEATS], proven[NET_SEATS], have_at[NET_SEATS];
    /* its echo */
    unsigned char key[REEF_NET_KEY_BYTES], echo[NET_DIGEST];
    bool echo_there, disputed; /* echo_there: not compared yet; disputed: the last one was another than here */
    uint32_t echo_view;
    uint64_t echo_tick, agreed;
    uint64_t awaited, awaited_at; /* what was proven here at that time isn't agreed yet */
    uint64_t cursor[NET_SEATS], cursor_at;
    uint64_t round_ns, their_time, their_time_at;
    uint64_t view_sent_at;
    uint64_t hash_tick, equal_tick;    /* the last hash that was compared, and the last one that was equal */
    bool equal_known;                  /* there is an equal_tick: of a hash, or of the state that the joiner got */
    bool differs;                      /* its hash was another one */
    uint64_t differs_at, condemned_at; /* condemned_at: when this program found that it is to be dropped; 0: not */
    /* a blob for a guest */
    net_blob_kind blob_kind;
    uint32_t blob, attempt;    /* attempt: of the HELLO that it answers */
    unsigned char *blob_bytes; /* of a state: its head and its file; NULL: the description */
    size_t blob_size, blob_room;
    uint64_t blob_base, blob_acked, blob_budget;
    uint64_t chunk_sent_at[NET_WINDOW];
    uint64_t blob_at; /* the tick of the state; of a description: what was confirmed when it was asked for */
} net_link;

typedef struct net_event {
    uint32_t kind, bytes;
    uint64_t key, id;
    unsigned char data[REEF_NET_EVENT_BYTES_MAX];
} net_event;

/* The events of a tick as it was last played, and those that the program was told of. */
typedef struct net_slot {
    uint64_t tick;
    uint32_t count, told_count;
    bool dirty, overflow;
    net_event of[REEF_NET_EVENTS_MAX], told[REEF_NET_EVENTS_MAX];
} net_slot;

typedef struct net_proposal {
    bool active, accepting;
    uint32_t ballot, drop, promised, accepted, refused; /* refused: who says that it has promised a higher ballot */
    int add;                                            /* link of the guest; -1: none */
    uint64_t began_at, sent_at;
    uint64_t least[NET_SEATS]; /* what all who stay have proven */
    uint32_t best_ballot;      /* the highest that a promise brought */
    net_view value;
} net_proposal;

typedef struct net_desync net_desync;

/* A state that was equal at both ends of a link, and that the history doesn't have any more; kept.c. */
typedef struct net_kept {
    uint64_t incarnation, tick;
    reef_snapshot *state; /* NULL: none */
} net_kept;

struct reef_net {
    reef_net_config config;
    reef_allocator allocator;
    reef_net_phase phase;
    char reason[REEF_NET_REASON_MAX];
    uint64_t now, began_at;
    bool clock_begun, leaving;
    bool owns;                  /* the time of the world: between updates */
    bool updating;              /* what the session calls now leaves it alone */
    const char *sample_wrong;   /* the field of the last sample that isn't allowed; NULL: all are */
    bool left;                  /* out of the view, and still telling the others */
    uint64_t left_at, leave_at; /* leave_at: asked to leave; 0: not */
    uint64_t session;           /* the incarnation of the first host; 0: not known */
    uint64_t incarnation;
    int seat; /* -1: none */
    /* inputs */
    uint32_t input_bytes, packed_bytes;
    net_seat seats[NET_SEATS];
    unsigned char *inputs;     /* [seat][tick & (NET_RING - 1)][input_bytes] */
    unsigned char *signatures; /* [seat][tick / NET_BLOCK % NET_BLOCKS][REEF_NET_SIGNATURE_BYTES] */
    unsigned char *digests;    /* [tick & (NET_RING - 1)][NET_DIGEST], of all inputs before the tick */
    net_start starts[NET_STARTS];
    uint32_t start_at;
    uint64_t local_next, complete, proven, agreed, checked;
    uint64_t complete_at, agreed_at; /* when they last grew */
    /* world */
    reef_history *history;
    uint64_t base; /* the tick of the history's tick 0 */
    uint64_t tick;
    bool replaying;
    unsigned char *packed; /* room for NET_SLOTS inputs of ticks */
    reef_late_input *late;
    /* events */
    net_slot *slots;
    uint64_t final; /* events before this tick were handed out */
    reef_net_notice *notices;
    uint32_t notice_first, notice_count, notice_room;
    uint64_t stepping; /* the tick that is being played */
    /* hashes of confirmed states */
    uint64_t hashed; /* the next tick to hash */
    struct {
        uint64_t tick, hash;
    } hashes[NET_HASHES];
    /* time */
    double owed;
    uint64_t paced_at, delay_at;
    uint32_t delay;
    uint64_t frame_at;
    /* agreement */
    net_view view, views[NET_VIEWS];
    uint32_t promised_ballot, accepted_ballot, seen_ballot;
    net_view accepted_view;
    uint64_t promised_at, suspected_at;
    uint32_t elders; /* members of the view that added this program, which still are */
    bool caught_up;  /* it has what one of these had then: it may vote */
    net_proposal proposal;
    net_link links[NET_LINKS];
    /* joining */
    uint64_t server, asked_at, welcomed_at;
    uint32_t blob, blob_number, attempt;
    net_blob_kind blob_kind;
    unsigned char *blob_bytes, *blob_seen;
    size_t blob_size, blob_base, blob_chunks;
    char *description;
    size_t description_bytes;
    uint64_t digest;
    bool recorded;         /* the recording has begun */
    reef_status recording; /* what ended it */
    net_desync *desync;    /* states differ, and both sides look where; NULL: they don't */
    net_kept kept[NET_LINKS];
    uint64_t whole_from;     /* the inputs of all ticks from here on are in the ring, if it still has them */
    uint64_t guest_differed; /* when the last search with a guest began; 0: none */
    uint64_t stated_at;      /* when the last state was made for a guest; 0: never */
    reef_net_stats stats;
};

/* ---- memory: memory.c ---- */
void *net__alloc(reef_net *net, size_t bytes);
void net__release(reef_net *net, void *block, size_t bytes);
reef_allocator net__allocator(const reef_allocator *given);
void net__say(reef_net *net, const char *format, ...); /* what it waits for */
void net__end(reef_net *net, const char *format, ...);

/* ---- inputs: input.c ---- */
unsigned char *net__input(reef_net *net, uint32_t seat, uint64_t tick);
bool net__plays(const net_seat *seat, uint64_t tick);
const char *net__input_wrong(reef_component type, const void *input);
/* Writes what tick `tick` is played with, as far as is known, the rest predicted: packed_bytes. */
void net__pack(reef_net *net, uint64_t tick, unsigned char *packed);
void net__unpack(const reef_net *net, const unsigned char *packed, reef_net_tick *tick);
/* How far inputs are complete, proven and agreed; applies the commands in proven ticks. */
void net__confirm(reef_net *net);
/* Has this member, which is heard, told nothing for `since` that agrees with what is proven here, though it could? */
bool net__late(const reef_net *net, uint32_t seat, uint64_t since);
unsigned char *net__digest_at(reef_net *net, uint64_t tick);
void net__start_add(reef_net *net, net_start start);
const net_start *net__start_find(const reef_net *net, uint32_t by, uint64_t tick);
/* Emits local inputs until that of tick + delay is there. */
void net__emit(reef_net *net);

/* ---- signed blocks: block.c ---- */
bool net__signs(const reef_net *net);
void net__sum(const reef_net *net, const void *bytes, size_t count, unsigned char *digest);
unsigned char *net__signature(reef_net *net, uint32_t seat, uint64_t tick); /* of the block of this tick */
void net__block_sign(reef_net *net, uint64_t until);                        /* the local player's that ends there */
/* The block of the seat that ends at `have` is complete: is this its signature? */
bool net__block_close(reef_net *net, uint32_t seat, const unsigned char *signature);
/* Forgets the commands of the seat from this tick on: who was to begin by one of them waits for another one. */
void net__starts_drop(reef_net *net, uint32_t by, uint64_t from);
/* Takes a block that another one than its player has sent. */
void net__block_take(reef_net *net, const net_block *block, const net_link *from);

/* ---- ticks: play.c ---- */
reef_status net__history_begin(reef_net *net, uint64_t tick);
/* Calls the program's step. What it could read by readers outside of systems isn't in the state of a joiner. */
reef_status net__step(reef_net *net, reef_world *world, const reef_net_tick *tick);
reef_status net__correct(reef_net *net);
reef_status net__pace(reef_net *net);
reef_status net__hash(reef_net *net);
reef_world *net__fork_at(reef_net *net, uint64_t tick); /* the state before it; NULL: not kept, or no memory */

/* ---- events: event.c ---- */
void net__events_begin(reef_net *net, uint64_t tick);
reef_status net__events_tell(reef_net *net);

/* ---- datagrams: packet.c ---- */
void net__send(reef_net *net, net_link *link, const void *bytes, size_t count);
void net__head(const reef_net *net, wire *w, net_message message);
void net__frames_send(reef_net *net);
void net__frame_read(reef_net *net, wire *w, uint64_t from, bool relayed);
net_link *net__link_of(reef_net *net, uint64_t incarnation);
uint64_t net__silent(const reef_net *net, const net_link *link);
/* The ticks before this one are confirmed at its end; of a guest that still loads, those of the state. */
uint64_t net__has_confirmed(const net_link *link);
void net__receive(reef_net *net);
void net__datagram(reef_net *net, uint64_t from, unsigned char *bytes, size_t count, bool relayed);

/* ---- time: clock.c ---- */
double net__ahead(const reef_net *net); /* ticks that this program is ahead of the others, or behind (< 0) */
void net__delay_adapt(reef_net *net);

/* ---- agreement: agree.c ---- */
uint32_t net__bits(uint32_t set); /* how many are set */
bool net__quorum(const net_view *view, uint32_t seats);
void net__agree(reef_net *net);
/* The last tick with which a player's inputs end; 0: nobody has gone. */
uint64_t net__last_end(const reef_net *net);
void net__agree_read(reef_net *net, wire *w);
void net__view_send(reef_net *net, net_link *link);
void net__view_put(wire *w, const net_view *view);
void net__view_get(wire *w, net_view *view);
void net__view_install(reef_net *net, const net_view *view);

/* ---- joining: join.c (who joins), serve.c (the host) ---- */
void net__join(reef_net *net);
void net__welcome_read(reef_net *net, wire *w, uint64_t from);
void net__chunk_read(reef_net *net, wire *w);
void net__refuse_read(reef_net *net, wire *w, uint64_t from);
void net__join_again(reef_net *net);
void net__join_release(reef_net *net);
void net__hello_read(reef_net *net, wire *w, uint64_t from);
void net__ask_read(reef_net *net, wire *w, uint64_t from);
void net__serve(reef_net *net, uint64_t passed_ns);
void net__guest_release(reef_net *net, net_link *link);

/* ---- states that differ: desync.c ---- */
/* Compares the hash that another program has of the state before a tick, and begins the search if it differs. */
void net__hash_compare(reef_net *net, net_link *link, uint64_t tick, uint64_t hash);
/* Fails when the world isn't in its own state again. */
reef_status net__desync(reef_net *net);
void net__desync_free(reef_net *net);
/* The link of a guest who has become a member is another one. */
void net__desync_moved(reef_net *net, const net_link *from, net_link *to);
bool net__searches(const reef_net *net);
bool net__is_right(const reef_net *net); /* a quorum has told the hashes of this program */
void net__desync_read(reef_net *net, wire *w);

/* ---- states to begin a search with: kept.c ---- */
void net__kept_free(reef_net *net);
/* Keeps and drops them; before each tick that is played. */
void net__kept_advance(reef_net *net);
/* A fork of the state before *tick, or of the earlier one that is kept of this link, whose tick is written there. NULL:
 * neither is there, the inputs since aren't known, or there is no memory. */
reef_world *net__kept_fork(reef_net *net, const net_link *link, uint64_t *tick);

/* ---- recordings: recorder.c; nothing if there is no writer ---- */
void net__record_begin(reef_net *net, uint64_t tick);
void net__record_tick(reef_net *net, const reef_net_tick *tick);
void net__record_hash(reef_net *net, uint64_t tick, uint64_t hash);
void net__record_difference(reef_net *net);

/* ---- values as text: value.c ---- */
uint32_t net__element_bytes(reef_kind kind);
void net__element_text(const reef_field *f, const unsigned char *at, char *text, size_t size);
/* The name of the field with the element at `at` of the value: "x", or "x[2]". */
void net__field_name(const reef_field *f, size_t at, char *text, size_t size);

/* ---- what must be equal: describe.c ---- */
bool net__describe(reef_net *net); /* writes net->description; false: no memory */
/* Writes what a type is, without its zero, at most `size` bytes and a zero. Returns how many. */
size_t net__type_text(reef_component type, char *text, size_t size);
uint64_t net__digest(const char *text, size_t count);

#endif
