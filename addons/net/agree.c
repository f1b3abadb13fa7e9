/* Agreement on the next view: Paxos for one value, with the members of the present view as acceptors, and a quorum that
 * breaks the tie of two halves by the host (net.h says why that is safe). That the members of a view decide on the next
 * one follows Lamport, Malkhi and Zhou, Reconfiguring a state machine (2010); that inputs of who is to go are stopped
 * before, the virtually synchronous reconfiguration of Birman, Malkhi and van Renesse (2010).
 *
 *     AGREE   message, session, incarnation of the sender; kind; number of the sender's view; ballot
 *             PROPOSE: seats to drop   PROMISE: `proven` of all seats, ballot and view that was accepted (0: none)
 *             ACCEPT: a view           ACCEPTED, BUSY: nothing     VIEW: a view
 *
 * Ballots are numbered round * 8 + seat, so two proposers never share one. An acceptor promises only if it too finds
 * those who are to be dropped silent, blocking, leaving or convicted: one member alone can't have another one dropped.
 * A promise holds until the next view; nothing of it needs a disk, since a program that dies comes back as another one.
 *
 * Why confirmed states can't differ. Say that a member *tells* t when a frame has the digest of its inputs before t: it
 * has all of them, signed, and keeps them, but for those that a view ends. A member confirms t when it has all inputs
 * before t and every other member of its view has told it t, with a digest of these inputs. Nobody is left out of this;
 * who tells nothing for too long is dropped by the next view, as one who is silent.
 *
 *  1. One view follows from each view, whoever proposes it: Paxos.
 *  2. That view ends the inputs of a dropped seat d at the least that those who promised have proven of d, and from
 *     their promises on these take no more of d. If somebody confirms t, sooner or later in the present view, then each
 *     of them has told t: before the promise, and then it promised at least t, since what is proven doesn't become
 *     less; or after it, and then t isn't beyond what it promised. So d doesn't end before t, whoever promised.
 *  3. Who has just been added by this view hasn't told anything in the view before, in which ticks may have been
 *     confirmed that it lacks. So its promise would be worth nothing, and it neither promises nor proposes until it is
 *     *caught up*: until it has proven what one of the older members has told in this view or a later one. That member
 *     had told all that was ever confirmed in earlier views before it told this. So with 2, by induction over the
 *     views, no view ends a seat before a tick that anybody has confirmed in any earlier view.
 *  4. Who learns that a member with the same inputs has confirmed t in this view may confirm t as well: that member
 *     was told t by all. It is believed only where somebody else is late (net__late): otherwise nothing depends on it.
 *     Guests and spectators confirm what the host says that it has confirmed, if both have the same view.
 *
 * With equal inputs before t the states before t are equal, since the step is a function of them. All this is for
 * members that follow the protocol, whatever is lost or late, and whoever stops. (A player who signs two versions makes
 * it less that others have proven, but those who have one and those who have the other never told the same.) It is the
 * rule of virtual synchrony, that a message is stable in its view before it is delivered, with Paxos for the views.
 *
 * Rejected: not to wait for a slow member while it stays in the view. Who did so could confirm ticks that a later view
 * ended before, since the slow one promised less; to be right, all must know whom each one doesn't wait for.
 *
 * Promises for different drops may meet: two of four have promised to drop a third one, and he and the fourth one to
 * drop one of these. Then inputs stop for all, and that is nobody's fault. So from a promise on until the next view
 * only silence counts, not that a seat blocks; and when a promise isn't followed by a view, the next ballot drops those
 * who are silent now, or nobody. To drop nobody is always agreed to, and the next view, with the same members, takes
 * inputs again.
 *
 * Nobody is needed for it who can be done without:
 *     who doesn't answer          after silence_ns a quorum of those who stay is enough
 *     who promises less than all have agreed on     is overruled by what the proposer itself knows to be agreed
 *     whose accepted view can't follow here         his promise isn't counted
 *     who says BUSY               ends a ballot only with others, without whom there is no quorum
 *     who begins many ballots     gets a further promise in a view only some time after the last one that anybody got,
 *                                 each time four times as long after his own last one; and others wait for him once
 */
#include "net.h"

enum { ROUNDS = 1000 }; /* that a ballot may be beyond those seen */

typedef enum agree_kind { PROPOSE = 1, PROMISE, ACCEPT, ACCEPTED, BUSY, VIEW } agree_kind;

uint32_t net__bits(uint32_t set)
{
    uint32_t n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

bool net__quorum(const net_view *view, uint32_t seats)
{
    const uint32_t n = 2 * net__bits(seats & view->members), of = net__bits(view->members);
    return n > of || (n == of && seats & 1u << view->host);
}

/* ---- views in datagrams ---- */

void net__view_put(wire *w, const net_view *view)
{
    wire_u32(w, view->number);
    wire_u8(w, view->members);
    wire_u8(w, view->host);
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        wire_u64(w, view->seat[s].incarnation);
        wire_u64(w, view->seat[s].address);
        wire_u64(w, view->seat[s].end);
        wire_put(w, view->seat[s].key, REEF_NET_KEY_BYTES);
    }
}

void net__view_get(wire *w, net_view *view)
{
    *view = (net_view){.number = wire_get32(w)};
    view->members = wire_get8(w);
    view->host = wire_get8(w);
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        view->seat[s].incarnation = wire_get64(w);
        view->seat[s].address = wire_get64(w);
        view->seat[s].end = wire_get64(w);
        wire_bytes(w, view->seat[s].key, REEF_NET_KEY_BYTES);
        if (view->members & 1u << s && (view->seat[s].incarnation == 0 || view->seat[s].end != NET_NEVER))
            w->bad = true;
    }
    if (view->members == 0 || view->host >= NET_SEATS || !(view->members & 1u << view->host)) w->bad = true;
}

static void head(const reef_net *net, wire *w, agree_kind kind, uint32_t ballot)
{
    net__head(net, w, NET_AGREE);
    wire_u64(w, net->incarnation);
    wire_u8(w, (uint32_t)kind);
    wire_u32(w, net->view.number);
    wire_u32(w, ballot);
}

void net__view_send(reef_net *net, net_link *link)
{
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    if (link->view >= net->view.number || (link->view_sent_at && net->now - link->view_sent_at < 50 * NET_MS)) return;
    const net_view *next = &net->views[(link->view + 1) % NET_VIEWS];
    if (next->number != link->view + 1) return; /* too far behind: it will find no quorum, and end */
    head(net, &w, VIEW, 0);
    net__view_put(&w, next);
    link->view_sent_at = net->now;
    net__send(net, link, room, w.at);
}

static void answer(reef_net *net, net_link *link, agree_kind kind, uint32_t ballot)
{
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    head(net, &w, kind, ballot);
    if (kind == PROMISE) {
        for (uint32_t s = 0; s < NET_SEATS; s++) wire_u64(&w, net->seats[s].proven);
        wire_u32(&w, net->accepted_ballot);
        if (net->accepted_ballot) net__view_put(&w, &net->accepted_view);
    }
    net__send(net, link, room, w.at);
}

/* ---- who is suspected ---- */

/* Is it between a promise and a view, and not for too long? */
static bool waits(const reef_net *net, const net_link *l)
{
    return l->promised && net->now - l->promised_since < 4 * net->config.silence_ns;
}

/* Has the seat been silent, or kept everybody waiting, for so long? Or does it leave? */
static bool absent(const reef_net *net, uint32_t s, uint64_t since)
{
    const net_link *l = &net->links[s];
    const net_seat *seat = &net->seats[s];
    if ((int)s == net->seat) return net->leaving;
    if (seat->convicted) return true;
    /* differs in its hashes; if the others don't find that, they have never heard of it */
    if (l->condemned_at && net->now - l->condemned_at < net->config.silence_ns) return true;
    /* whose inputs arrive by others isn't silent */
    if (!l->used || (net__silent(net, l) > since && net->now - seat->grew_at > since)) return true;
    bool blocks = net__plays(seat, net->complete) && seat->have <= net->complete && net->tick > net->complete;
    /* where nothing is agreed on, all stop some ticks later (play.c); that is the fault of who tells nothing */
    if (seat->have + NET_BLOCK >= net->agreed + NET_SLOTS / 2) blocks = false;
    /* who says that it leaves has stopped its inputs; who says so and doesn't isn't dropped for it */
    if (l->leaving && (blocks || seat->frozen || seat->first == NET_NEVER)) return true;
    /* between a promise and the next view it isn't a seat's fault that its inputs don't grow here, or can't */
    if (seat->frozen || waits(net, l)) return false;
    const uint64_t waited = net->now - net->complete_at;
    for (uint32_t i = 0; i < NET_SEATS;
         i++) /* if another one has more of its inputs, they are on their way, for a time */
        if (i != s && net->links[i].used && net->links[i].have[s] > seat->have && waited < 2 * since) blocks = false;
    if (blocks && net->now - seat->grew_at > since && waited > since) return true;
    /* nothing is agreed on, since it tells nothing, or lies */
    return net->now - net->agreed_at > since && net__late(net, s, since);
}

static uint32_t suspects(const reef_net *net)
{
    uint32_t set = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (net->view.members & 1u << s && absent(net, s, net->config.silence_ns)) set |= 1u << s;
    return set;
}

/* ---- installing ---- */

static void link_begin(reef_net *net, uint32_t s)
{
    net_link *l = &net->links[s];
    net_link *guest = NULL;
    for (uint32_t i = NET_SEATS; i < NET_LINKS; i++)
        if (net->links[i].used && net->links[i].incarnation == net->view.seat[s].incarnation) guest = &net->links[i];
    if (guest) {
        net__guest_release(net, guest);
        *l = *guest;
        *guest = (net_link){0};
        l->guest = false;
        l->awaited_at = net->now;
        net__desync_moved(net, guest, l);
        return;
    }
    *l = (net_link){.used = true,
                    .incarnation = net->view.seat[s].incarnation,
                    .address = net->view.seat[s].address,
                    .heard_at = net->now,
                    .awaited_at = net->now};
    memcpy(l->key, net->view.seat[s].key, sizeof l->key);
    if (l->address == 0) l->address = net->server; /* the host doesn't know its own address */
}

void net__view_install(reef_net *net, const net_view *view)
{
    net->view = *view;
    net->views[view->number % NET_VIEWS] = *view;
    net->promised_ballot = net->accepted_ballot = 0;
    net->promised_at = net->suspected_at = 0;
    net->seen_ballot = 0;
    net->proposal = (net_proposal){.add = -1};
    net->stats.views++;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        net_seat *seat = &net->seats[s];
        const bool member = view->members & 1u << s;
        if (seat->frozen || waits(net, &net->links[s])) seat->grew_at = net->now;
        seat->frozen = false;
        net->links[s].proposals = 0;
        net->links[s].proposed_first = 0;
        const bool another = seat->incarnation != view->seat[s].incarnation;
        if (another && seat->first < seat->end && seat->end > net->whole_from) /* its inputs are forgotten */
            net->whole_from = seat->end < net->tick ? seat->end : net->tick;
        if (another)
            *seat = (net_seat){.incarnation = view->seat[s].incarnation,
                               .address = view->seat[s].address,
                               .first = NET_NEVER,
                               .grew_at = net->now};
        memcpy(seat->key, view->seat[s].key, sizeof seat->key);
        if (seat->end != view->seat[s].end) { /* what was proven with inputs that don't count */
            const uint64_t same = view->seat[s].end > seat->first ? view->seat[s].end : seat->first;
            if (same < net->proven) net->proven = same;
            net__starts_drop(net, s, view->seat[s].end > net->checked ? view->seat[s].end : net->checked);
        }
        seat->end = view->seat[s].end;
        if (member && seat->incarnation == net->incarnation) {
            if (net->seat < 0) {
                net->elders = view->members & ~(1u << s);
                net->caught_up = false;
                net->agreed_at = net->now;
            }
            net->seat = (int)s;
            net->phase = REEF_NET_PLAYING;
        } else if (member && (!net->links[s].used || net->links[s].incarnation != seat->incarnation))
            link_begin(net, s);
        else if (!member && net->links[s].used) net->links[s] = (net_link){0};
    }
    net->elders &= view->members;
    for (uint32_t s = 0; s < NET_SEATS; s++) /* told with inputs that don't count */
        if (net->links[s].agreed > net->proven) net->links[s].agreed = net->proven;
    if (net->seat < 0 || view->members & 1u << net->seat) return;
    if (net->leaving) {
        net->left = true;
        net->left_at = net->now;
    } else net__end(net, "the others went on without this player");
}

/* May these inputs of the seat count, and no others, as far as can be told here? Whoever stays has promised to drop who
 * goes, or would do so now; so no single member can make up a view that another one takes for true. */
static bool end_follows(const reef_net *net, const net_view *v, uint32_t s, uint32_t drop, bool decided)
{
    const uint64_t end = v->seat[s].end;
    uint64_t known = net->seats[s].proven;
    for (uint32_t i = 0; decided && i < NET_SEATS; i++) /* decided without this program, it may be more than it has */
        if (net->links[i].used && net->links[i].proven[s] > known) known = net->links[i].proven[s];
    if (end < net->checked && net->seats[s].first < net->checked) return false; /* no confirmed tick changes */
    return !net->caught_up || ((net->seats[s].frozen || drop & 1u << s) && end <= known);
}

/* May this view follow the present one, as far as can be told here? `drop`: whom this program hasn't promised to drop,
 * but would; `decided`: it is said to be decided. */
static bool follows(const reef_net *net, const net_view *v, uint32_t drop, bool decided)
{
    const bool out = net->seat >= 0 && !(v->members & 1u << net->seat);
    uint32_t added = 0, here = 0;
    if (v->number != net->view.number + 1) return false;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const bool was = net->view.members >> s & 1, is = v->members >> s & 1;
        const net_link *l = &net->links[s];
        const bool same = v->seat[s].incarnation == net->view.seat[s].incarnation;
        if (l->used && l->view == net->view.number && net__silent(net, l) < net->config.silence_ns / 2) here |= 1u << s;
        if (was && !same) return false;
        if (is && !was) added++;
        if (!is && !was && (!same || v->seat[s].end > net->view.seat[s].end)) return false;
        if (is || net->seat < 0 || out) continue;
        if (v->seat[s].end == net->view.seat[s].end) continue;
        if (!end_follows(net, v, s, drop, decided)) return false;
    }
    if (v->members & 1u << net->view.host && v->host != net->view.host) return false;
    /* who is told that it is out believes it unless a quorum is still where it is */
    if (out && !net->leaving && net__quorum(&net->view, here | 1u << net->seat)) return false;
    return added <= 1;
}

/* ---- proposing ---- */

/* The place of the local seat among the members that aren't suspected: the host first. */
static uint32_t rank(const reef_net *net, uint32_t suspected)
{
    uint32_t n = 0;
    const uint32_t live = net->view.members & ~suspected;
    if ((uint32_t)net->seat == net->view.host) return 0;
    if (live & 1u << net->view.host) n++;
    for (uint32_t s = 0; s < (uint32_t)net->seat; s++)
        if (s != net->view.host && live & 1u << s) n++;
    return n;
}

/* Can this guest become a member now? All wait for a member's word, so one that still plays what it missed would stop
 * them. What it is heard to have confirmed was told to it a round trip ago. */
static bool may_play(const reef_net *net, const net_link *l)
{
    const uint64_t behind = NET_SLOTS / 4 + l->round_ns / net->config.step_ns;
    return l->used && l->guest && l->ready && !l->spectator && !l->differs && l->confirmed + behind >= net->checked &&
           net__silent(net, l) < net->config.silence_ns / 4;
}

uint64_t net__last_end(const reef_net *net)
{
    uint64_t last = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const net_seat *seat = &net->seats[s];
        if (seat->incarnation && seat->end != NET_NEVER && seat->end > last) last = seat->end;
    }
    return last;
}

/* As the host: a guest that can become a member now; -1: none. A seat's number is given again only when everybody has
 * confirmed the end of its last player; nobody gets a state from before that (serve.c), so this stays true while the
 * view is agreed on. */
static int guest_to_add(const reef_net *net)
{
    uint64_t least = net->checked;
    if ((int)net->view.host != net->seat || net->leaving || net->view.members == 0xff) return -1;
    for (uint32_t i = 0; i < NET_LINKS; i++) {
        const net_link *l = &net->links[i];
        const uint64_t confirmed = net__has_confirmed(l);
        if (l->used && confirmed < least) least = confirmed;
    }
    for (uint32_t i = NET_SEATS; least >= net__last_end(net) && i < NET_LINKS; i++)
        if (may_play(net, &net->links[i])) return (int)i;
    return -1;
}

static void proposal_begin(reef_net *net, uint32_t drop, int add)
{
    const uint32_t round = (net->seen_ballot >> 3) + 1;
    net->proposal =
        (net_proposal){.active = true, .ballot = round << 3 | (uint32_t)net->seat, .drop = drop, .add = add};
    net->proposal.began_at = net->now;
    for (uint32_t s = 0; s < NET_SEATS; s++) net->proposal.least[s] = NET_NEVER;
    net->seen_ballot = net->proposal.ballot;
}

/* The view that follows from the promises. Of who goes, only those inputs count that all have who stay. */
static void value_make(reef_net *net)
{
    net_proposal *p = &net->proposal;
    net_view *v = &p->value;
    *v = net->view;
    v->number++;
    v->members &= ~p->drop;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        if (!(p->drop & 1u << s)) continue;
        /* what a quorum has agreed on stays, even if one that stays says that it has less */
        const net_seat *seat = &net->seats[s];
        const uint64_t least = net->agreed < seat->proven ? net->agreed : seat->proven;
        v->seat[s].end = seat->first < least && p->least[s] < least ? least : p->least[s];
    }
    const net_link *guest = p->add >= 0 ? &net->links[p->add] : NULL;
    for (uint32_t s = 0; guest && guest->used && guest->ready && !guest->differs && s < NET_SEATS; s++) {
        if (net->view.members & 1u << s) continue;
        v->members |= 1u << s;
        v->seat[s].incarnation = guest->incarnation;
        v->seat[s].address = guest->address;
        v->seat[s].end = NET_NEVER;
        memcpy(v->seat[s].key, guest->key, REEF_NET_KEY_BYTES);
        break;
    }
    for (uint32_t pass = 0; pass < 2 && !(v->members & 1u << v->host);
         pass++) /* one that plays already, if there is one */
        for (uint32_t s = NET_SEATS; s-- > 0;)
            if (v->members & 1u << s && (pass || net->seats[s].first != NET_NEVER)) v->host = s;
}

static void decided(reef_net *net)
{
    const net_view value = net->proposal.value;
    const uint32_t number = net->view.number;
    net_link old[NET_SEATS];
    memcpy(old, net->links, sizeof old);
    net__view_install(net, &value);
    for (uint32_t s = 0; s < NET_SEATS; s++) /* who is out hears it once; later it is told when it asks */
        if (old[s].used) {
            old[s].view = number;
            old[s].view_sent_at = 0;
            net__view_send(net, &old[s]);
        }
}

/* Until the next view nothing more is learned of who is to be dropped: what a promise said of their inputs stays true.
 */
static void freeze(reef_net *net, uint32_t drop)
{
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (drop & 1u << s) net->seats[s].frozen = true;
}

/* The proposer's own promise, when all others have given theirs. So one that suspects others in vain goes on taking
 * their inputs. False: it has promised a higher ballot meanwhile. */
static bool promise_self(reef_net *net)
{
    net_proposal *p = &net->proposal;
    if (net->promised_ballot > p->ballot) {
        p->active = false;
        return false;
    }
    net->promised_ballot = p->ballot;
    net->promised_at = net->now;
    freeze(net, p->drop);
    p->promised |= 1u << net->seat;
    for (uint32_t s = 0; s < NET_SEATS && !(p->drop & 1u << net->seat); s++)
        if (net->seats[s].proven < p->least[s]) p->least[s] = net->seats[s].proven;
    if (net->accepted_ballot > p->best_ballot) {
        p->best_ballot = net->accepted_ballot;
        p->value = net->accepted_view;
    }
    return true;
}

static void proposal_advance(reef_net *net)
{
    net_proposal *p = &net->proposal;
    const uint32_t stay = net->view.members & ~p->drop;
    const uint32_t with_self = p->promised | 1u << net->seat;
    /* one that is heard and doesn't answer isn't waited for without end */
    const bool late = net->now - p->began_at > net->config.silence_ns && net__quorum(&net->view, with_self & stay);
    const bool all = (with_self & stay) == stay || late;
    if (!p->accepting && all && net__quorum(&net->view, with_self)) {
        if (!promise_self(net)) return;
        p->accepting = true;
        p->sent_at = 0;
        if (p->best_ballot == 0) value_make(net);
        if (p->value.members == 0) {
            net__end(net, net->leaving ? "this player left" : "no player is left");
            return;
        }
        if (net->promised_ballot <= p->ballot) {
            net->promised_ballot = net->accepted_ballot = p->ballot;
            net->accepted_view = p->value;
            p->accepted |= 1u << net->seat;
        }
    }
    if (p->accepting && net__quorum(&net->view, p->accepted)) decided(net);
}

static void proposal_send(reef_net *net)
{
    net_proposal *p = &net->proposal;
    if (p->sent_at && net->now - p->sent_at < 100 * NET_MS) return;
    p->sent_at = net->now;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        unsigned char room[REEF_NET_DATAGRAM_MAX];
        wire w = {room, 0, sizeof room, false};
        if (!net->links[s].used || (p->accepting ? p->accepted : p->promised) & 1u << s) continue;
        head(net, &w, p->accepting ? ACCEPT : PROPOSE, p->ballot);
        if (p->accepting) net__view_put(&w, &p->value);
        else wire_u8(&w, p->drop);
        net__send(net, &net->links[s], room, w.at);
    }
}

/* If no view has followed by then, the proposer to whom this program has promised is gone, or hinders. Another one's
 * turn begins with the first promise that he got in this view. */
static uint64_t turn_end(const reef_net *net, bool mine)
{
    const uint64_t turn = net->config.silence_ns * 3 / 2; /* a proposer may wait silence_ns for answers */
    return (mine ? net->promised_at : net->links[net->promised_ballot & 7].proposed_first) + turn;
}

void net__agree(reef_net *net)
{
    net_proposal *p = &net->proposal;
    if (net->seat < 0 || net->phase != REEF_NET_PLAYING || net->left) return;
    const uint32_t drop = suspects(net);
    const int add = guest_to_add(net);
    const bool mine = (net->promised_ballot & 7) == (uint32_t)net->seat;
    const uint64_t turn = turn_end(net, mine);
    const bool stuck = net->promised_at && ((mine && !p->active) || net->now > turn);
    if (drop == 0 && !stuck && !p->active) net->suspected_at = 0;
    else if (net->suspected_at == 0 && (drop || stuck)) net->suspected_at = net->now;
    if (net->suspected_at && net->now - net->suspected_at > net->config.patience_ns) {
        net__end(net, net->leaving ? "this player left" : "no majority: the others can't be reached");
        return;
    }
    if (drop) net__say(net, "waiting for other players");
    else if (net->sample_wrong)
        net__say(net, "the local input isn't allowed, so zeros are played: %s.%s", reef_type_name(net->config.input),
                 net->sample_wrong);
    else if (net->reason[0]) net__say(net, "%s", "");
    if (p->active && !p->accepting && p->drop != drop) p->active = false; /* others are suspected now: a new ballot */
    if (p->active && net->promised_ballot > p->ballot) p->active = false;
    if (p->refused && !net__quorum(&net->view, ~p->refused) && net->now - p->began_at > net->config.silence_ns / 2)
        p->active = false;
    if (!p->active && net->caught_up && (drop || stuck || add >= 0)) {
        uint64_t since = drop || stuck ? net->suspected_at : net->now;
        if (net->promised_at && !mine && turn > since) since = turn;
        const uint64_t wait = rank(net, drop) * net->config.silence_ns / 4;
        const bool other = net->promised_at && !stuck && !mine;
        if (!other && net->now - since >= wait) proposal_begin(net, drop, add);
    }
    if (!p->active) return;
    proposal_send(net);
    proposal_advance(net);
}

/* ---- reading ---- */

/* The members that may be dropped, as far as is known here. */
static uint32_t may_go(const reef_net *net)
{
    uint32_t set = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++) /* what was promised once is promised again */
        if (net->view.members & 1u << s && (net->seats[s].frozen || absent(net, s, net->config.silence_ns / 2) ||
                                            (net->links[s].differs && net__is_right(net))))
            set |= 1u << s;
    return set;
}

/* Does it come too soon with another ballot? */
static bool too_often(const reef_net *net, const net_link *l, uint32_t ballot)
{
    const uint64_t half = net->config.silence_ns / 2;
    if (l->proposals == 0 || ballot == net->promised_ballot) return false;
    const uint32_t shift = l->proposals < 3 ? 2 * (l->proposals - 1) : 4;
    return net->now - net->promised_at < half || net->now - l->proposed_at < half << shift;
}

/* Notes that another ballot of this proposer counts here. */
static void promise_to(reef_net *net, net_link *l, uint32_t ballot)
{
    if (ballot == net->promised_ballot) return;
    net->promised_at = net->now;
    net->promised_ballot = ballot;
    if (l->proposals++ == 0) l->proposed_first = net->now;
    l->proposed_at = net->now;
}

static void propose_read(reef_net *net, wire *w, net_link *l, uint32_t ballot)
{
    const uint32_t drop = wire_get8(w);
    if (too_often(net, l, ballot)) return;
    if (!net->caught_up) return; /* its promise would be worth nothing, see above */
    if (w->bad || ballot < net->promised_ballot || drop & net->view.members & ~may_go(net)) {
        if (!w->bad) answer(net, l, BUSY, net->promised_ballot);
        return;
    }
    promise_to(net, l, ballot);
    freeze(net, drop);
    answer(net, l, PROMISE, ballot);
}

static void promise_read(reef_net *net, wire *w, uint32_t s, uint32_t ballot)
{
    net_proposal *p = &net->proposal;
    const uint64_t told = net->links[s].agreed; /* it has said that it has proven all before */
    uint64_t proven[NET_SEATS];
    net_view value = {0};
    for (uint32_t i = 0; i < NET_SEATS; i++) proven[i] = wire_get64(w);
    const uint32_t accepted = wire_get32(w);
    if (accepted) net__view_get(w, &value);
    if (w->bad || !p->active || p->accepting || ballot != p->ballot) return;
    /* The accepted view may have been decided, so no other one may be proposed. One that can't follow here is left to
     * those who have accepted it: a promise that isn't counted permits nothing. */
    if (accepted && !follows(net, &value, p->drop, false)) return;
    p->promised |= 1u << s;
    for (uint32_t i = 0; i < NET_SEATS && !(p->drop & 1u << s); i++) {
        const net_seat *seat = &net->seats[i];
        if (seat->first < told && told <= seat->proven && proven[i] < told) proven[i] = told;
        if (proven[i] < p->least[i]) p->least[i] = proven[i];
    }
    if (accepted > p->best_ballot) {
        p->best_ballot = accepted;
        p->value = value;
    }
    proposal_advance(net);
}

static void accept_read(reef_net *net, wire *w, net_link *l, uint32_t ballot)
{
    net_view value;
    net__view_get(w, &value);
    if (w->bad || !follows(net, &value, 0, false)) return;
    if (ballot < net->promised_ballot) {
        answer(net, l, BUSY, net->promised_ballot);
        return;
    }
    promise_to(net, l, ballot);
    net->accepted_ballot = ballot;
    net->accepted_view = value;
    answer(net, l, ACCEPTED, ballot);
}

void net__agree_read(reef_net *net, wire *w)
{
    net_link *l = net__link_of(net, wire_get64(w));
    const uint32_t kind = wire_get8(w), number = wire_get32(w), ballot = wire_get32(w);
    const uint32_t s = l ? (uint32_t)(l - net->links) : NET_SEATS;
    if (kind == VIEW) { /* also to guests, and to who is out */
        net_view view;
        net__view_get(w, &view);
        if (net->left) return;
        if (!w->bad && follows(net, &view, may_go(net), true)) net__view_install(net, &view);
        return;
    }
    if (w->bad || l == NULL || l->guest || net->seat < 0 || s >= NET_SEATS) {
        net->stats.refused++;
        return;
    }
    if (number < net->view.number) {
        l->view = number;
        net__view_send(net, l);
    }
    if (number != net->view.number || net->left) return;
    if (ballot >> 3 > (net->seen_ballot >> 3) + ROUNDS || ((kind == PROPOSE || kind == ACCEPT) && (ballot & 7) != s)) {
        net->stats.refused++; /* ballots grow by one; nobody may use them up */
        return;
    }
    if (kind != PROMISE && kind != ACCEPTED && ballot > net->seen_ballot) net->seen_ballot = ballot;
    if (kind == PROPOSE) propose_read(net, w, l, ballot);
    else if (kind == PROMISE) promise_read(net, w, s, ballot);
    else if (kind == ACCEPT) accept_read(net, w, l, ballot);
    else if (kind == BUSY && ballot > net->proposal.ballot) net->proposal.refused |= 1u << s;
    else if (kind == ACCEPTED && net->proposal.active && net->proposal.accepting && ballot == net->proposal.ballot) {
        net->proposal.accepted |= 1u << s;
        proposal_advance(net);
    }
}
