/* Fuzzes the text form of queries. For any bytes the parser ends and stays inside the text. Either it reports where and
 * why it failed, or it makes terms whose text gives the same terms. A query of these terms is refused with the column
 * of one of them, or counts as many entities as it visits and as match one by one. */
#include "must.h"
#include "query/query_text.h"
#include "reef/all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    double kg;
} Mass;
typedef struct {
    int32_t n;
} in;
typedef struct {
    int32_t n;
} of;
typedef enum Mood { CALM, ANGRY } Mood;
REEF_ENUM(Mood, CALM, ANGRY);
REEF_MASK(Coat, (1, "WET"), (2, "COLD"));
typedef struct {
    Mood mood;
    uint8_t coat;
    bool tame;
    int64_t big;
    uint64_t bigger;
    char label[8];
    reef_entity other;
    int16_t slots[3];
} Crab;
REEF_COMPONENT_IN(Crab, REEF_SPARSE);
REEF_FIELDS(Crab, (mood, enum, Mood), (coat, enum, Coat), tame, big, bigger, label, other, slots);
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x, y);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Mass);
REEF_FIELDS(Mass, kg);
REEF_COMPONENT(in);
REEF_FIELDS(in, n);
REEF_COMPONENT(of);
REEF_TAG(Frozen);
REEF_SWITCH(Awake);
REEF_RELATION_OF(Likes, Mass);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Within, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_TRANSITIVE);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes entities with names that are words, paths and other texts, and some without a name, with all kinds of
 * components. */
static reef_world *world(void)
{
    static const char *const names[] = {"sun", "ship.turret.barrel", "my \"ship\"",  "in",
                                        "*",   "back\\slash",        "\xC3\xA9toile"};
    static reef_world *w;
    if (w) return w;
    w = reef_world_new(NULL);
    MUST(w);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        MUST(reef_set_name(w, reef_create(w), names[i]) == REEF_OK);
    MUST(reef_is_alive(w, reef_create(w)));
    for (uint32_t set = 0; set < 64; set++) {
        reef_entity e = reef_create(w);
        if (set & 1) MUST(reef_set(w, e, Position, 1, 2) == REEF_ADDED);
        if (set & 2) MUST(reef_set(w, e, Velocity, 1, 2) == REEF_ADDED);
        if (set & 4) MUST(reef_set(w, e, Mass, 3) == REEF_ADDED);
        if (set & 8) MUST(reef_add(w, e, Frozen) == REEF_OK);
        if (set & 16) MUST(reef_add(w, e, Awake) == REEF_OK);
        if (set & 32) MUST(reef_set(w, e, in, 4) == REEF_ADDED);
        if (set & 4)
            MUST(reef_set(w, e, Crab, ANGRY, (uint8_t)(set & 3), set & 1, -1, ~(uint64_t)0, "boss", e, {1, 2, 3}) ==
                 REEF_ADDED);
        const reef_entity before = reef_entity_at(w, e.index / 2),
                          other = reef_entity_at(w, (e.index * 7 + 3) % (e.index + 1));
        if (set & 1) MUST(reef_relate(w, e, Likes, before) >= 0 && reef_relate(w, e, Likes, e) >= 0);
        if (set & 2) MUST(reef_relate(w, e, Likes, other) >= 0);
        if (set & 4) MUST(reef_relate(w, e, DockedTo, other) >= 0);
        if (set & 8) MUST(reef_relate(w, e, Within, before) >= 0);
    }
    return w;
}

/* Where the subtree at `at` ends. */
static uint32_t tree_end(const query_text *q, uint32_t at)
{
    MUST(at < q->count);
    const reef_term *t = &q->term[at++];
    if (t->op < REEF_ANY_OF) {
        MUST((t->component.id != 0 || t->target.generation != 0 || t->up.id != 0) &&
             (t->count != 0) == (t->conditions != NULL));
        return at;
    }
    MUST(t->component.id == 0 && t->count >= (t->op == REEF_NONE_OF ? 1 : 2));
    for (uint32_t i = 0; i < t->count; i++) at = tree_end(q, at);
    return at;
}

static bool is_utf8(const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        int more = *p < 0x80 ? 0 : (*p & 0xE0) == 0xC0 ? 1 : (*p & 0xF0) == 0xE0 ? 2 : (*p & 0xF8) == 0xF0 ? 3 : -1;
        if (more < 0) return false;
        for (p++; more; more--, p++)
            if ((*p & 0xC0) != 0x80) return false;
    }
    return true;
}

static void check_refusal(const char *text, const query_text *q, reef_status status, const char *detail)
{
    MUST(status == REEF_BAD_TEXT || status == REEF_UNKNOWN_TYPE || status == REEF_NOT_ALIVE || status == REEF_LIMIT ||
         status == REEF_BAD_ARGUMENT);
    MUST(q->at >= 1 && q->at <= strlen(text) + 1);
    MUST(detail[0] && memchr(detail, 0, REEF_DETAIL_MAX));
    for (const char *p = detail; *p; p++) MUST((unsigned char)*p >= 32 && *p != 127);
    MUST(is_utf8(detail) || !is_utf8(text));
}

/* Writes terms as a text; the answer is the length of the whole. */
static size_t terms_written(const reef_world *w, const query_text *q, char *text, size_t size)
{
    text_out o = {text, size, 0};
    if (size) text[0] = 0;
    reef__query_text_write(&o, w, q->term, q->count, q->entities, q->cascade, &q->variables);
    return o.length;
}

static void check_terms(const char *text, const query_text *q)
{
    static char written[1 << 16], again[1 << 16];
    char detail[REEF_DETAIL_MAX];
    query_text second;
    MUST(q->at == 0 && q->count <= REEF_TERMS_MAX);
    for (uint32_t i = 0; i < q->count; i++) {
        MUST(q->column[i] >= 1 && q->column[i] <= strlen(text));
        MUST(i == 0 || q->column[i - 1] <= q->column[i]);
    }
    for (uint32_t at = 0; at < q->count;) at = tree_end(q, at);
    size_t length = terms_written(world(), q, written, sizeof written);
    MUST(length < sizeof written && strlen(written) == length);
    MUST(reef__query_text_parse(world(), written, &second, detail, sizeof detail) == REEF_OK);
    MUST(second.count == q->count && second.entities == q->entities && second.cascade.id == q->cascade.id);
    for (uint32_t i = 0; i < q->count; i++) {
        const reef_term *a = &q->term[i], *b = &second.term[i];
        MUST(a->component.id == b->component.id && a->access == b->access && a->op == b->op &&
             a->enabled == b->enabled);
        MUST(a->since == b->since && a->count == b->count && reef_entity_equal(a->source, b->source));
        MUST(a->subtypes == b->subtypes && a->each == b->each);
        MUST(a->variable == b->variable && a->target_variable == b->target_variable);
        MUST(reef_entity_equal(a->target, b->target) && a->up.id == b->up.id && a->up_most == b->up_most);
        MUST(a->self == b->self);
    }
    MUST(terms_written(world(), &second, again, length + 1) == length);
    MUST(memcmp(written, again, length + 1) == 0);
    if (length) MUST(terms_written(world(), q, again, length) == length && strlen(again) == length - 1);
}

static void check_query(const char *text, const query_text *t)
{
    reef_query q = reef_query_new(world(), text);
    if (reef_query_is_null(q)) {
        reef_error e = reef_last_error(world());
        bool known = t->cascade.id != 0 && t->cascade_column == e.number;
        for (uint32_t i = 0; i < t->count; i++) known |= t->column[i] == e.number;
        MUST(known && (e.status == REEF_DUPLICATE_TERM || e.status == REEF_BAD_ARGUMENT) && e.detail[0] != 0);
        return;
    }
    for (uint32_t i = 0; i < t->parameter_count; i++) { /* one that is compared with another kind stays unset */
        const reef_literal some[] = {reef_literal_i64(1), reef_literal_text("boss"),
                                     reef_literal_entity((reef_entity){0})};
        for (uint32_t k = 0; k < 3; k++) (void)reef_query_set_parameter(world(), q, t->parameters[i], some[k]);
    }
    (void)reef_query_count(world(), q);
    if (reef_last_error(world()).status == REEF_BAD_ARGUMENT && t->parameter_count) {
        MUST(reef_query_free(world(), q) == REEF_OK);
        return;
    }
    bool several = false; /* visits for one entity */
    for (uint32_t i = 0; i < t->count; i++) several |= t->term[i].each;
    several |= t->variable_count != 0;
    if (t->variable_count > 2) { /* they may have more bindings than there is time for */
        MUST(reef_query_free(world(), q) == REEF_OK);
        return;
    }
    uint64_t visited = 0, matching = 0;
    for (reef_block b = reef_begin(world(), q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++) visited += mask == NULL || (mask[i / 64] >> i % 64 & 1);
    }
    bool since = false; /* what changed since the last run depends on when one asks */
    for (uint32_t i = 0; i < t->count; i++) since |= t->term[i].since != REEF_ALWAYS;
    for (uint32_t i = 0; i < 80 && !since; i++) matching += reef_query_matches(world(), q, reef_entity_at(world(), i));
    MUST(since || (matching == reef_query_count(world(), q) && (several ? visited >= matching : visited == matching)));
    MUST(reef_query_free(world(), q) == REEF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char detail[REEF_DETAIL_MAX];
    query_text q;
    char *text = malloc(size + 1); /* of the exact length, so that reads beyond its end are detected */
    MUST(text);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    memset(detail, 'x', sizeof detail);
    reef_status status = reef__query_text_parse(world(), text, &q, detail, sizeof detail);
    if (status == REEF_OK) {
        check_terms(text, &q);
        check_query(text, &q);
    } else {
        check_refusal(text, &q, status, detail);
    }
    free(text);
    return 0;
}
