/* Reading recordings. A recording is read as a whole, and walked twice: first to see what is there, then to note where
 * each tick is. recorder.h says what it consists of. */
#include "recorder.h"
#include <reef.h>
#include <stdio.h>

typedef struct noted {
    size_t at; /* of the tick's piece */
    uint64_t here, there;
} noted;

struct reef_net_recording {
    reef_allocator allocator;
    unsigned char *bytes;
    size_t size, room;
    size_t begin; /* the content of the last BEGIN */
    uint64_t first, ticks;
    uint32_t input_bytes;
    bool torn, differs;
    noted *notes; /* [tick - first], ticks + 1 of them */
    net_report report;
    char input[RECORD_INPUT_TEXT + 1];
    _Alignas(16) unsigned char inputs[NET_SEATS][REEF_NET_INPUT_MAX]; /* of the tick that was asked for last */
};

static void *alloc(const reef_net_recording *r, size_t bytes)
{
    return r->allocator.resize(r->allocator.context, NULL, 0, bytes, 16);
}

static void release(const reef_net_recording *r, void *block, size_t bytes)
{
    if (block) (void)r->allocator.resize(r->allocator.context, block, bytes, 0, 16);
}

/* ---- pieces ---- */

typedef struct piece {
    uint32_t kind;
    size_t at; /* of its head */
    wire content;
} piece;

/* The piece at *at, which becomes the place behind it. False: there is none, or not the whole of it. */
static bool piece_next(const reef_net_recording *r, size_t *at, piece *p)
{
    wire w = {r->bytes, *at, r->size, false};
    p->at = *at;
    p->kind = wire_get8(&w);
    const size_t count = wire_get32(&w);
    if (w.bad || count > wire_left(&w)) return false;
    *at = w.at + count;
    p->content = (wire){r->bytes, w.at, w.at + count, false};
    return true;
}

static bool begin_read(reef_net_recording *r, wire *w)
{
    r->begin = w->at;
    if (wire_get32(w) != RECORD_VERSION) return false;
    r->first = wire_get64(w);
    r->input_bytes = wire_get16(w);
    const size_t text = wire_left(w);
    if (w->bad || r->input_bytes == 0 || r->input_bytes > REEF_NET_INPUT_MAX || text > RECORD_INPUT_TEXT ||
        r->first > UINT64_MAX / 2)
        return false;
    wire_bytes(w, r->input, text);
    r->input[text] = 0;
    r->ticks = 0;
    r->differs = false;
    return true;
}

static void text_get(wire *w, char *text, size_t size)
{
    const uint32_t count = wire_get16(w);
    if (count >= size) w->bad = true;
    wire_bytes(w, text, w->bad ? 0 : count);
    text[w->bad ? 0 : count] = 0;
}

static bool difference_read(reef_net_recording *r, wire *w)
{
    net_report *d = &r->report;
    d->tick = wire_get64(w);
    const uint32_t player = wire_get8(w);
    d->player = player == 255 ? -1 : (int)player;
    d->entity.index = wire_get32(w);
    d->entity.generation = wire_get32(w);
    text_get(w, d->system, sizeof d->system);
    text_get(w, d->component, sizeof d->component);
    text_get(w, d->field, sizeof d->field);
    text_get(w, d->here, sizeof d->here);
    text_get(w, d->there, sizeof d->there);
    r->differs = true;
    return !w->bad && wire_left(w) == 0 && d->player < NET_SEATS;
}

/* Reads a piece for the first time. False: it isn't right. */
static bool piece_read(reef_net_recording *r, piece *p)
{
    wire *w = &p->content;
    if (p->kind == RECORD_BEGIN) return begin_read(r, w);
    if (r->begin == 0) return false;
    switch (p->kind) {
    case RECORD_STATE: return r->ticks == 0;
    case RECORD_TICK: {
        const uint64_t tick = wire_get64(w);
        const uint32_t players = wire_get8(w);
        return !w->bad && tick == r->first + r->ticks++ && wire_left(w) == net__bits(players) * r->input_bytes;
    }
    case RECORD_HASH:
    case RECORD_OTHER: return wire_left(w) == 16;
    case RECORD_DIFFERS: return difference_read(r, w);
    default: return false;
    }
}

/* ---- opening ---- */

static const char *bytes_read(reef_net_recording *r, reef_reader from)
{
    enum { FIRST = 1 << 16 };
    for (size_t got = 1; got;) {
        if (r->size == r->room) {
            const size_t room = r->room ? r->room * 2 : FIRST;
            unsigned char *more = alloc(r, room);
            if (more == NULL) return "no memory";
            if (r->size) memcpy(more, r->bytes, r->size);
            release(r, r->bytes, r->room);
            r->bytes = more;
            r->room = room;
        }
        const reef_status s = from.read(from.context, r->bytes + r->size, r->room - r->size, &got);
        if (s != REEF_OK) return reef_status_text(s);
        r->size += got;
        if (r->size >= RECORD_MARK_BYTES && memcmp(r->bytes, RECORD_MARK, RECORD_MARK_BYTES) != 0) break;
    }
    return r->size < RECORD_MARK_BYTES || memcmp(r->bytes, RECORD_MARK, RECORD_MARK_BYTES) != 0
               ? "this is no recording of a session"
               : NULL;
}

static void notes_make(reef_net_recording *r, size_t at)
{
    piece p;
    memset(r->notes, 0, (size_t)(r->ticks + 1) * sizeof *r->notes);
    while (piece_next(r, &at, &p)) {
        wire *w = &p.content;
        if (p.kind != RECORD_TICK && p.kind != RECORD_HASH && p.kind != RECORD_OTHER) continue;
        const uint64_t tick = wire_get64(w) - r->first; /* wraps for what is before */
        if (tick > r->ticks) continue;
        if (p.kind == RECORD_TICK) r->notes[tick].at = w->at;
        else if (p.kind == RECORD_HASH) r->notes[tick].here = wire_get64(w);
        else r->notes[tick].there = wire_get64(w);
    }
}

/* Returns what is wrong, or NULL; *at is where. */
static const char *walk(reef_net_recording *r, size_t *at)
{
    piece p;
    *at = RECORD_MARK_BYTES;
    while (piece_next(r, at, &p)) {
        if (piece_read(r, &p)) continue;
        *at = p.at;
        return p.kind == RECORD_BEGIN ? "the recording is of another version, or damaged" : "the recording is damaged";
    }
    r->torn = *at < r->size;
    if (r->begin == 0) return "the recording has no state";
    *at = 0; /* what follows isn't wrong anywhere */
    r->notes = alloc(r, (size_t)(r->ticks + 1) * sizeof *r->notes);
    if (r->notes == NULL) return "no memory";
    notes_make(r, r->begin - RECORD_HEAD);
    return NULL;
}

reef_net_recording *reef_net_recording_open(reef_reader from, const reef_allocator *allocator, char *reason)
{
    const reef_allocator a = net__allocator(allocator ? allocator : &(reef_allocator){0});
    reef_net_recording *r = from.read ? a.resize(a.context, NULL, 0, sizeof *r, 16) : NULL;
    size_t at = 0;
    if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, from.read ? "no memory" : "there is no reader");
    if (r == NULL) return NULL;
    memset(r, 0, sizeof *r);
    r->allocator = a;
    const char *wrong = bytes_read(r, from);
    if (wrong == NULL) wrong = walk(r, &at);
    if (wrong == NULL) {
        if (reason) reason[0] = 0;
        return r;
    }
    if (reason && at) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s, at byte %llu", wrong, (unsigned long long)at);
    else if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s", wrong);
    reef_net_recording_free(r);
    return NULL;
}

void reef_net_recording_free(reef_net_recording *r)
{
    if (r == NULL) return;
    const reef_allocator a = r->allocator;
    release(r, r->bytes, r->room);
    release(r, r->notes, (size_t)(r->ticks + 1) * sizeof *r->notes);
    (void)a.resize(a.context, r, sizeof *r, 0, 16);
}

/* ---- asking ---- */

reef_net_recorded reef_net_recording_get(const reef_net_recording *r)
{
    if (r == NULL) return (reef_net_recorded){.input = ""};
    return (reef_net_recorded){.first = r->first,
                               .ticks = r->ticks,
                               .input = r->input,
                               .torn = r->torn,
                               .differs = r->differs,
                               .what = net__reported(&r->report)};
}

bool reef_net_recording_tick(reef_net_recording *r, uint64_t tick, reef_net_tick *to)
{
    if (r == NULL || to == NULL || tick < r->first || tick - r->first >= r->ticks) return false;
    wire w = {r->bytes, r->notes[tick - r->first].at, r->size, false};
    *to = (reef_net_tick){.tick = tick, .players = wire_get8(&w)};
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        if (!(to->players >> s & 1)) continue;
        wire_bytes(&w, r->inputs[s], r->input_bytes);
        to->input[s] = r->inputs[s];
    }
    return true;
}

uint64_t reef_net_recording_hash(const reef_net_recording *r, uint64_t tick, bool there)
{
    if (r == NULL || tick < r->first || tick - r->first > r->ticks) return 0;
    const noted *n = &r->notes[tick - r->first];
    return there ? n->there : n->here;
}

/* ---- loading ---- */

typedef struct state_reader {
    const reef_net_recording *r;
    size_t at; /* of the next piece */
    wire content;
} state_reader;

static reef_status state_read(void *context, void *bytes, size_t count, size_t *got)
{
    state_reader *s = context;
    piece p;
    *got = 0;
    while (*got < count) {
        if (wire_left(&s->content) == 0) {
            if (!piece_next(s->r, &s->at, &p) || p.kind != RECORD_STATE) break;
            s->content = p.content;
            continue;
        }
        const size_t left = wire_left(&s->content), n = count - *got < left ? count - *got : left;
        wire_bytes(&s->content, (unsigned char *)bytes + *got, n);
        *got += n;
    }
    return REEF_OK;
}

/* What is wrong with the recorded inputs; "": nothing. */
static reef_status inputs_check(const reef_net_recording *r, reef_component input, char *reason)
{
    char text[RECORD_INPUT_TEXT + 1];
    _Alignas(16) unsigned char value[REEF_NET_INPUT_MAX];
    reef_type_info type;
    (void)net__type_text(input, text, RECORD_INPUT_TEXT);
    if (!reef_type_get(input, &type) || type.size != r->input_bytes || strcmp(text, r->input) != 0) {
        (void)snprintf(reason, REEF_NET_REASON_MAX,
                       "the inputs are of another type: recorded \"%.100s\", here \"%.100s\"", r->input, text);
        return REEF_NOT_PORTABLE;
    }
    for (uint64_t t = 0; t < r->ticks; t++) {
        wire w = {r->bytes, r->notes[t].at, r->size, false};
        for (uint32_t n = net__bits(wire_get8(&w)); n; n--) {
            wire_bytes(&w, value, r->input_bytes);
            if (net__input_wrong(input, value) == NULL) continue;
            (void)snprintf(reason, REEF_NET_REASON_MAX, "an input of tick %llu is outside of its description",
                           (unsigned long long)(r->first + t));
            return REEF_CORRUPT;
        }
    }
    return REEF_OK;
}

reef_status reef_net_recording_load(const reef_net_recording *r, reef_world *world, reef_component input,
                                    const reef_load_desc *desc, char *reason)
{
    char own[REEF_NET_REASON_MAX];
    if (reason == NULL) reason = own;
    reason[0] = 0;
    if (r == NULL || world == NULL || reef_type_name(input) == NULL) return REEF_BAD_ARGUMENT;
    reef_status s = inputs_check(r, input, reason);
    if (s != REEF_OK) return s;
    state_reader from = {.r = r, .at = r->begin - RECORD_HEAD};
    piece p;
    (void)piece_next(r, &from.at, &p); /* BEGIN itself */
    s = reef_load_from(world, (reef_reader){state_read, &from}, desc);
    if (s >= 0) return s;
    const reef_error error = reef_last_error(world);
    (void)snprintf(reason, REEF_NET_REASON_MAX, "the state can't be loaded: %.200s",
                   error.detail[0] ? error.detail : reef_status_text(s));
    return s;
}
