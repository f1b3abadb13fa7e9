#if !defined(_WIN32)
#define _DEFAULT_SOURCE /* setenv */
#endif
#include "storage/table.h" /* before cmocka, which has a macro of the name fail */
#include "kept.h"
#include "support.h"
#include <locale.h>

/* Suites count moves, calls of hooks and bytes, so the quarantine is off unless a suite asks for it. */
#if !defined(_WIN32)
REEF_BEFORE_MAIN(pointers_may_be_kept) { setenv("REEF_QUARANTINE", "0", 0); }
#endif

/* A suite runs in the locale that tests/locales/run names, as a program that has called setlocale. There numbers must
 * have another decimal point, so that no test passes by luck. */
REEF_BEFORE_MAIN(another_locale)
{
    char text[32];
    const char *name = getenv("REEF_TEST_LOCALE");
    if (name == NULL) return;
    if (setlocale(LC_ALL, name) == NULL) {
        printf("skipped: there is no locale %s\n", name);
        exit(77);
    }
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    if (strcmp(text, "0.5") != 0) return;
    printf("the locale %s has no other decimal point\n", name);
    exit(1);
}

/* ---- the allocator ---- */

enum { GUARD = 32, GARBAGE_MAX = 256 << 10 };

typedef struct block_head {
    uint64_t magic;
    void *raw;
    size_t whole, bytes, align;
    heap *owner;
} block_head;

static const uint64_t head_magic = 0x7265656668656164u;

static void heap_mistake(heap *h, const char *what)
{
    if (h->mistake == NULL) h->mistake = what;
}

static block_head *head_of(void *block) { return (block_head *)(void *)((char *)block - sizeof(block_head)); }

/* Large blocks are filled with garbage only at their ends: touching all their pages would cost more than the tests. */
static void spoil(void *block, size_t bytes, int with)
{
    if (bytes <= GARBAGE_MAX) {
        memset(block, with, bytes);
        return;
    }
    memset(block, with, GARBAGE_MAX / 2);
    memset((char *)block + bytes - 4096, with, 4096);
}

static void *heap_take(heap *h, size_t bytes, size_t align)
{
    size_t unit = align < 16 ? 16 : align;
    const size_t whole = sizeof(block_head) + 2 * unit + bytes + GUARD;
    char *raw = kept_take(1, whole);
    if (raw == NULL) raw = malloc(whole);
    if (raw == NULL) return NULL;
    size_t skip = sizeof(block_head) + unit - 1 - (((uintptr_t)raw + sizeof(block_head) + unit - 1) & (unit - 1));
    /* Memory is never aligned more strictly than asked for, so that code which needs more can't get it by luck. */
    if ((((uintptr_t)raw + skip) & unit) == 0) skip += unit;
    char *block = raw + skip;
    block_head *head = head_of(block);
    *head = (block_head){head_magic, raw, whole, bytes, align, h};
    spoil(block, bytes, 0xA5);
    memset(block + bytes, 0xFD, GUARD);
    h->blocks++;
    h->bytes += bytes;
    if (align > h->largest_align) h->largest_align = align;
    return block;
}

static void heap_give(heap *h, void *block)
{
    block_head *head = head_of(block);
    const unsigned char *guard = (unsigned char *)block + head->bytes;
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != 0xFD) heap_mistake(h, "something wrote behind a block's end");
    h->blocks--;
    h->bytes -= head->bytes;
    head->magic = 0;
    spoil(block, head->bytes, 0xDD);
    if (!kept_give(head->raw, 1, head->whole)) free(head->raw);
}

static bool heap_checks(heap *h, void *block, size_t old_bytes, size_t align)
{
    const char *before = h->mistake;
    if (align == 0 || align > 4096 || (align & (align - 1)) != 0) heap_mistake(h, "an alignment that is none");
    if (old_bytes == 0) {
        if (block != NULL) heap_mistake(h, "a block with old size 0");
    } else if (block == NULL) {
        heap_mistake(h, "no block, but an old size");
    } else if (head_of(block)->magic != head_magic || head_of(block)->owner != h) {
        heap_mistake(h, "a block that isn't held");
    } else if (head_of(block)->bytes != old_bytes) {
        heap_mistake(h, "a wrong old size");
    } else if (head_of(block)->align != align) {
        heap_mistake(h, "another alignment than before");
    }
    return h->mistake == before;
}

static bool heap_refuses(heap *h, size_t old_bytes, size_t new_bytes)
{
    h->calls++;
    bool no = h->fail_at != 0 && (h->fail_rest ? h->calls >= h->fail_at : h->calls == h->fail_at);
    if (h->limit != 0 && h->bytes - old_bytes + new_bytes > h->limit) no = true;
    if (no) h->refused++;
    return no;
}

/* Systems on several threads may allocate at the same time. */
static mutex heap_lock = MUTEX_INIT;

static void *heap_resize_alone(heap *h, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    if (!heap_checks(h, block, old_bytes, align)) return NULL;
    if (new_bytes == 0) {
        if (block != NULL) heap_give(h, block);
        return NULL;
    }
    if (heap_refuses(h, old_bytes, new_bytes)) return NULL;
    void *fresh = heap_take(h, new_bytes, align);
    if (fresh == NULL || block == NULL) return fresh;
    memcpy(fresh, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    heap_give(h, block);
    return fresh;
}

static void *heap_resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    mutex_lock(&heap_lock);
    void *p = heap_resize_alone(context, block, old_bytes, new_bytes, align);
    mutex_unlock(&heap_lock);
    return p;
}

reef_allocator heap_allocator(heap *h) { return (reef_allocator){.resize = heap_resize, .context = h}; }

void heap_fail_nth(heap *h, uint64_t n, bool rest)
{
    h->fail_at = h->calls + n;
    h->fail_rest = rest;
    h->refused = 0;
}

void heap_fail_never(heap *h)
{
    h->fail_at = 0;
    h->fail_rest = false;
}

bool heap_fails_now(heap *h)
{
    mutex_lock(&heap_lock);
    const bool no = heap_refuses(h, 0, 0);
    mutex_unlock(&heap_lock);
    return no;
}

/* ---- the fixture ---- */

static fixture now;

int fixture_begin(void **test)
{
    memset(&now, 0, sizeof now);
    ledger_reset();
    reef_world_config config = {.allocator = heap_allocator(&now.heap), .log = reef_log_none};
    now.world = reef_world_new(&config);
    *test = &now;
    return now.world == NULL;
}

int fixture_end(void **test)
{
    fixture *f = *test;
    heap_fail_never(&f->heap);
    if (f->world) assert_valid(f->world);
    reef_world_free(f->world);
    for (int i = 0; i < EXTRA_WORLDS; i++) {
        if (f->extra[i]) assert_valid(f->extra[i]);
        reef_world_free(f->extra[i]);
    }
    if (f->heap.mistake) fail_msg("the allocator was given %s", f->heap.mistake);
    if (book.mistake) fail_msg("a hook was called wrongly: %s", book.mistake);
    assert_int_equal(f->heap.blocks, 0);
    assert_int_equal(f->heap.bytes, 0);
    assert_int_equal(book.live, 0);
    ledger_reset();
    return 0;
}

reef_world *world_of(void **test) { return ((fixture *)*test)->world; }
heap *heap_of(void **test) { return &((fixture *)*test)->heap; }

reef_world *another_world(void **test, const reef_world_config *config)
{
    fixture *f = *test;
    reef_world_config own = config ? *config : (reef_world_config){0};
    if (own.allocator.resize == NULL) own.allocator = heap_allocator(&f->heap);
    if (own.log == NULL) own.log = reef_log_none;
    for (int i = 0; i < EXTRA_WORLDS; i++) {
        if (f->extra[i]) continue;
        f->extra[i] = reef_world_new(&own);
        assert_non_null(f->extra[i]);
        return f->extra[i];
    }
    fail_msg("no room for a further world");
    return NULL;
}

void end_world(void **test, reef_world *world)
{
    fixture *f = *test;
    assert_valid(world);
    reef_world_free(world);
    if (f->world == world) f->world = NULL;
    for (int i = 0; i < EXTRA_WORLDS; i++)
        if (f->extra[i] == world) f->extra[i] = NULL;
}

/* ---- checks ---- */

void assert_status_at(reef_status got, reef_status wanted, const char *call, const char *file, int line)
{
    if (got == wanted) return;
    print_error("%s\n    answered %s, wanted %s\n", call, reef_status_name(got), reef_status_name(wanted));
    _fail(file, line);
}

void assert_entity_at(reef_entity got, reef_entity wanted, const char *call, const char *file, int line)
{
    if (reef_entity_equal(got, wanted)) return;
    print_error("%s\n    is {%u, %u}, wanted {%u, %u}\n", call, got.index, got.generation, wanted.index,
                wanted.generation);
    _fail(file, line);
}

void assert_valid_at(const reef_world *w, const char *file, int line)
{
    char message[512] = "";
    if (reef_validate(w, message, sizeof message) == REEF_OK) return;
    print_error("the world is damaged: %s\n", message);
    _fail(file, line);
}

void assert_position_at(const reef_world *w, reef_entity e, float x, float y, const char *file, int line)
{
    const Position *p = reef_get(w, e, Position);
    if (p != NULL && p->x == x && p->y == y) return;
    if (p == NULL) print_error("{%u, %u} has no Position\n", e.index, e.generation);
    else print_error("Position %g, %g; wanted %g, %g\n", (double)p->x, (double)p->y, (double)x, (double)y);
    _fail(file, line);
}

/* Another error is recorded first, so that a call that records nothing can't pass because of an earlier error. */
refusal refusal_begin(reef_world *w, const char *call, const char *file, int line)
{
    (void)reef_release_id(w, (reef_entity){0});
    return (refusal){w, digest(w), call, file, line};
}

/* The error names the public call: the plain function or its typed macro. */
static bool names_call(const char *operation, const char *call)
{
    size_t length = strcspn(call, "(");
    size_t written = strlen(operation);
    if (written < sizeof "reef_" || strncmp(operation, "reef_", 5) != 0) return false;
    return strncmp(operation, call, written < length ? written : length) == 0;
}

void refusal_end(const refusal *r, bool failed, reef_status wanted)
{
    reef_error e = reef_last_error(r->world);
    const char *wrong = NULL;
    if (!failed) wrong = "it was not refused";
    else if (e.status != wanted) wrong = "the error record has another status";
    else if (!names_call(e.operation, r->call)) wrong = "the error record has another operation";
    else if (digest(r->world) != r->digest) wrong = "the world is another one";
    if (wrong) {
        print_error("%s\n    wanted %s: %s (record: %s by %s)\n", r->call, reef_status_name(wanted), wrong,
                    reef_status_name(e.status), e.operation);
        _fail(r->file, r->line);
    }
    assert_valid_at(r->world, r->file, r->line);
}

void refusal_status(refusal r, reef_status got, reef_status wanted)
{
    assert_status_at(got, wanted, r.call, r.file, r.line);
    refusal_end(&r, got < 0, wanted);
}

void refusal_pointer(refusal r, const void *got, reef_status wanted) { refusal_end(&r, got == NULL, wanted); }
void refusal_entity(refusal r, reef_entity got, reef_status wanted)
{
    refusal_end(&r, reef_entity_is_null(got), wanted);
}
void refusal_query(refusal r, reef_query got, reef_status wanted) { refusal_end(&r, reef_query_is_null(got), wanted); }
void refusal_zero(refusal r, uint64_t got, reef_status wanted) { refusal_end(&r, got == 0, wanted); }

/* ---- the digest ---- */

static uint64_t digest_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

uint64_t digest_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t word = 0;
    for (; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = digest_word(hash, word);
    }
    word = 0;
    if (size) memcpy(&word, p, size);
    return digest_word(hash, word ^ (uint64_t)size << 56);
}

static uint64_t digest_number(uint64_t hash, uint64_t n) { return digest_word(hash, n); }
static uint64_t digest_text(uint64_t hash, const char *text)
{
    return text ? digest_bytes(hash, text, strlen(text) + 1) : digest_number(hash, 0);
}

typedef struct digest_state {
    const reef_world *world;
    uint64_t hash;
} digest_state;

static bool digest_component(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    digest_state *d = context;
    reef_type_info info;
    if (!reef_type_get(c, &info)) info.hooks = NULL;
    d->hash = digest_number(d->hash, reef_entity_bits(e));
    d->hash = digest_text(d->hash, reef_type_name(c));
    d->hash = digest_number(d->hash, size);
    d->hash = digest_number(d->hash, reef_is_enabled_id(d->world, e, c));
    if (data) d->hash = digest_bytes(d->hash, data, info.hooks && size >= 4 ? 4 : size);
    return true;
}

static bool digest_entity(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    digest_state *d = context;
    (void)c, (void)data, (void)size;
    d->hash = digest_number(d->hash, reef_entity_bits(e));
    d->hash = digest_number(d->hash, reef_is_alive(d->world, e));
    d->hash = digest_number(d->hash, reef_is_enabled(d->world, e));
    d->hash = digest_number(d->hash, reef_entity_bits(reef_entity_at(d->world, e.index)));
    const char *name = reef_name(d->world, e);
    d->hash = digest_text(d->hash, name);
    if (name) d->hash = digest_number(d->hash, reef_entity_bits(reef_find(d->world, name)));
    reef_visit_entity(d->world, e, digest_component, d);
    return true;
}

uint64_t digest(const reef_world *w)
{
    digest_state d = {w, 0xCBF29CE484222325u};
    assert_true(reef_visit_entities(w, digest_entity, &d));
    assert_true(reef_visit_world(w, digest_component, &d));
    reef_stats s = reef_world_stats(w);
    uint64_t counts[] = {reef_count_alive(w), s.entities,  s.entities_empty, s.indices, s.free_ids, s.tables, s.names,
                         s.spawned,           s.destroyed, s.moved};
    return digest_bytes(d.hash, counts, sizeof counts);
}

/* ---- tracked values ---- */

ledger book;

void ledger_reset(void)
{
    free(book.where);
    book = (ledger){.fail_status = REEF_BAD_ARGUMENT};
}

void ledger_count_anew(void) { book.constructed = book.copied = book.moved = book.destroyed = book.taken = 0; }

static void wrong(const char *what)
{
    if (book.mistake == NULL) book.mistake = what;
}

/* `where` of a value whose address isn't tracked. */
static const char anywhere;

static uint32_t ticket_new(const void *slot)
{
    if (book.tickets + 1 >= book.capacity) {
        uint32_t capacity = book.capacity ? book.capacity * 2 : 1024;
        const void **more = realloc(book.where, capacity * sizeof *more);
        if (more == NULL) abort();
        memset(more + book.capacity, 0, (capacity - book.capacity) * sizeof *more);
        book.where = more;
        book.capacity = capacity;
    }
    uint32_t ticket = ++book.tickets;
    book.where[ticket] = slot;
    book.live++;
    return ticket;
}

static bool lives_at(uint32_t ticket, const void *slot)
{
    return ticket != 0 && ticket <= book.tickets && book.where[ticket] == slot;
}

static void ticket_end(uint32_t ticket, const void *slot)
{
    if (!lives_at(ticket, slot)) {
        wrong("destroy of a value that isn't there");
        return;
    }
    book.where[ticket] = NULL;
    book.live--;
    book.destroyed++;
}

static bool fails_now(uint64_t *countdown) { return *countdown != 0 && --*countdown == 0; }

static reef_status tracked_construct(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    Tracked *t = slot;
    (void)context;
    if (t->value != 0 || t->ticket != 0) wrong("construct in memory that isn't zero");
    if (fails_now(&book.fail_construct)) return book.fail_status;
    if (book.heap && heap_fails_now(book.heap)) return REEF_NO_MEMORY;
    t->value = args ? *(const int32_t *)args : 100;
    t->ticket = ticket_new(slot);
    book.constructed++;
    book.world = w;
    book.entity = e;
    book.args = args;
    return REEF_OK;
}

static reef_status tracked_copy(void *context, void *to, const void *from)
{
    const Tracked *f = from;
    Tracked *t = to;
    (void)context;
    if (to == from) wrong("copy onto itself");
    if (f->ticket != 0 && !lives_at(f->ticket, from)) wrong("copy of a value that isn't there");
    if (fails_now(&book.fail_copy)) return book.fail_status;
    if (book.heap && heap_fails_now(book.heap)) return REEF_NO_MEMORY;
    t->value = f->value;
    t->ticket = ticket_new(to);
    book.copied++;
    return REEF_OK;
}

static void tracked_move(void *context, void *to, void *from)
{
    Tracked *f = from, *t = to;
    (void)context;
    if (to == from) wrong("move onto itself");
    if (!lives_at(f->ticket, from)) wrong("move of a value that isn't there");
    else book.where[f->ticket] = to;
    book.moved++;
    Tracked value = *f;
    memset(from, 0xEE, sizeof *f);
    *t = value;
}

static void tracked_destroy(void *context, void *slot)
{
    Tracked *t = slot;
    (void)context;
    ticket_end(t->ticket, slot);
    memset(slot, 0xEE, sizeof *t);
}

static void unique_move(void *context, void *to, void *from)
{
    Unique *f = from, *t = to;
    (void)context;
    if (to == from) wrong("move onto itself");
    if (f->ticket == 0) { /* from a literal of the caller */
        t->value = f->value;
        t->ticket = ticket_new(to);
        book.taken++;
        return;
    }
    tracked_move(context, to, from);
}

static reef_status loose_copy(void *context, void *to, const void *from)
{
    const Loose *f = from;
    Loose *t = to;
    (void)context;
    if (to == from) wrong("copy onto itself");
    if (f->ticket != 0 && !lives_at(f->ticket, &anywhere)) wrong("copy of a value that isn't there");
    if (fails_now(&book.fail_copy)) return book.fail_status;
    if (book.heap && heap_fails_now(book.heap)) return REEF_NO_MEMORY;
    t->value = f->value;
    t->ticket = ticket_new(&anywhere);
    book.copied++;
    return REEF_OK;
}

static void loose_destroy(void *context, void *slot)
{
    Loose *t = slot;
    (void)context;
    if (t->ticket != 0) ticket_end(t->ticket, &anywhere);
    memset(slot, 0xEE, sizeof *t);
}

const reef_hooks tracked_hooks = {tracked_construct, tracked_copy, tracked_move, tracked_destroy, NULL, false, true,
                                  REEF_FORK_COPY,    false,        NULL};
const reef_hooks unique_hooks = {tracked_construct, NULL,  unique_move, tracked_destroy, NULL, false, true,
                                 REEF_FORK_COPY,    false, NULL};
const reef_hooks loose_hooks = {NULL, loose_copy, NULL, loose_destroy, NULL, true, false, REEF_FORK_COPY, false, NULL};

void tracked_make(Tracked *slot, int32_t value) { *slot = (Tracked){value, ticket_new(slot)}; }
void tracked_drop(Tracked *slot) { ticket_end(slot->ticket, slot); }
void unique_make(Unique *slot, int32_t value) { *slot = (Unique){value, ticket_new(slot)}; }
void unique_drop(Unique *slot) { ticket_end(slot->ticket, slot); }

/* ---- the rest ---- */

reef_component numbered_type(const char *prefix, uint32_t number, uint32_t size, uint32_t align)
{
    char name[64];
    snprintf(name, sizeof name, "%s%05u", prefix, (unsigned)number);
    reef_status status = REEF_OK;
    reef_component c = reef_type_new(&(reef_type_desc){.name = name, .size = size, .align = align}, &status);
    assert_int_equal(status, REEF_OK);
    assert_true(c.id != 0);
    return c;
}

uint32_t random_next(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

uint32_t random_below(uint64_t *seed, uint32_t n) { return (uint32_t)((uint64_t)random_next(seed) * n >> 32); }

/* ---- the second file of test_type.c ----
 * It declares the types of test_type.c again: two in the same way, the others differently. In all other suites these
 * are the only declarations. */

typedef struct {
    int32_t a, b;
} TwinSame;
REEF_COMPONENT(TwinSame);
REEF_FIELDS(TwinSame, (a, "m"), (b, NULL, 0, 9));

typedef struct {
    int32_t a;
} TwinBare;
REEF_COMPONENT(TwinBare);

typedef struct {
    int32_t a, b;
} TwinSize; /* there: one */
REEF_COMPONENT(TwinSize);

typedef struct {
    uint64_t a;
} TwinAlign; /* there: two halves */
REEF_COMPONENT(TwinAlign);

REEF_SWITCH(TwinHome); /* there: a tag */

typedef struct {
    int32_t a;
} TwinHooks; /* there: plain data */
static void forget(void *context, void *slot) { (void)context, (void)slot; }
static const reef_hooks forgetting = {.destroy = forget, .bytes_move = true};
REEF_COMPONENT_HOOKS(TwinHooks, &forgetting);

typedef struct {
    int32_t a, b;
} TwinFields; /* there: a in seconds */
REEF_COMPONENT(TwinFields);
REEF_FIELDS(TwinFields, (a, "m"));

reef_component other_same(void) { return reef_id(TwinSame); }
reef_component other_bare(void) { return reef_id(TwinBare); }
reef_component other_size(void) { return reef_id(TwinSize); }
reef_component other_align(void) { return reef_id(TwinAlign); }
reef_component other_home(void) { return reef_id(TwinHome); }
reef_component other_hooks(void) { return reef_id(TwinHooks); }
reef_component other_fields(void) { return reef_id(TwinFields); }
