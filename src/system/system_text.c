/* The text form of systems: a query, and behind a semicolon what else the system touches.
 *
 *     system := query [";" [touch {"," touch}]]
 *     touch  := kind {name ["of" name] ["as" "placed"]}
 *     kind   := "reads" | "writes" | "sends" | "receives" | "sums"     one type or more
 *             | "spawns" | "adds" | "removes" | "enables"              any number; none stands for every type
 *             | "relates" | "unrelates"                                any number of types of relations
 *             | "destroys" | "names"                                   none
 *     query, name: src/query/query_text.c
 *
 * Between a kind and the next comma there are only types, so a type may have the name of a kind. "of" is a word behind
 * a type that is read or written, and before another one: "reads Position of Likes" means "reads Position Likes", for a
 * system that follows the relation to whoever has the component. "as placed" behind a type that is read makes it
 * REEF_PLACED, which has no kind of its own. */
#include "system/system_text.h"
#include "type/type.h"
#include "query/query_text.h"
#include "query/token.h"
#include "reef/system.h"
#include "reef/type_info.h"

typedef struct touch_rule {
    const char *text;
    touch_type takes;
} touch_rule;

static const touch_rule touch_words[] = {
    [REEF_READS] = {"reads", TOUCH_TYPED},       [REEF_WRITES] = {"writes", TOUCH_TYPED},
    [REEF_SENDS] = {"sends", TOUCH_TYPED},       [REEF_RECEIVES] = {"receives", TOUCH_TYPED},
    [REEF_SUMS] = {"sums", TOUCH_TYPED},         [REEF_SPAWNS] = {"spawns", TOUCH_ANY},
    [REEF_ADDS] = {"adds", TOUCH_ANY},           [REEF_REMOVES] = {"removes", TOUCH_ANY},
    [REEF_ENABLES] = {"enables", TOUCH_ANY},     [REEF_DESTROYS] = {"destroys", TOUCH_PLAIN},
    [REEF_NAMES] = {"names", TOUCH_PLAIN},       [REEF_RELATES] = {"relates", TOUCH_ANY},
    [REEF_UNRELATES] = {"unrelates", TOUCH_ANY}, [REEF_PLACED] = {"places", TOUCH_TYPED},
};

COLD const char *reef__touch_word(reef_touch_kind kind)
{
    return (uint32_t)kind - 1 < REEF_PLACED ? touch_words[kind].text : NULL;
}

COLD touch_type reef__touch_takes(reef_touch_kind kind) { return touch_words[kind].takes; }

static COLD bool refuse_kind(parser *p)
{
    char name[SHOWN_MAX + 4];
    const shown found = reef__show_token(p->token);
    strcpy(name, found.text);
    nearest s = reef__nearest_begin(name);
    for (uint32_t kind = REEF_READS; kind <= REEF_UNRELATES; kind++) reef__nearest_look(&s, touch_words[kind].text);
    if (p->token.kind == TOKEN_NAME && s.name)
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "expected what is touched, found '%s'; did you mean %s?", found.text, s.name);
    if (p->token.kind == TOKEN_NAME && reef_type_find(name).id)
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "expected reads, writes ..., found the type %s: no comma between types", found.text);
    return reef__parse_refuse(
        p, REEF_BAD_TEXT, p->token.start,
        "expected reads, writes, sends, receives, sums, spawns, adds, removes, enables, destroys, names, relates or "
        "unrelates");
}

static COLD bool touch_put(parser *p, system_text *out, reef_touch_kind kind, reef_component c, const char *at)
{
    if (out->count == REEF_TOUCHES_MAX)
        return reef__parse_refuse(p, REEF_LIMIT, at, "a system touches at most %d things beside its query",
                                  REEF_TOUCHES_MAX);
    out->touch[out->count] = (reef_touch){kind, c};
    out->column[out->count++] = (uint32_t)(at - p->text) + 1;
    return true;
}

/* Reads the relation by which a system reaches a component. It is read, too. */
static COLD bool parse_way(parser *p, system_text *out)
{
    reef_component c;
    if (!reef__token_is(p->token, "of") || !token_is_name(reef__token_scan(p->token.start + p->token.length)))
        return true;
    reef__token_next(p);
    const char *at = p->token.start;
    if (!reef__parse_type(p, &c)) return false;
    const type *t = reef__type_of(c.id);
    if (t->relation == 0)
        return reef__parse_refuse(p, REEF_BAD_TEXT, at, "%s is no relation, so 'of' can't follow it",
                                  reef__show(t->name, strlen(t->name)).text);
    for (uint32_t i = 0; i < out->count; i++)
        if (out->touch[i].type.id == c.id && (out->touch[i].kind == REEF_READS || out->touch[i].kind == REEF_WRITES))
            return true;
    return touch_put(p, out, REEF_READS, c, at);
}

/* Reads "as placed" behind a type that is read. */
static COLD void parse_placed(parser *p, system_text *out)
{
    if (!reef__token_is(p->token, "as") ||
        !reef__token_is(reef__token_scan(p->token.start + p->token.length), "placed"))
        return;
    out->touch[out->count - 1].kind = REEF_PLACED;
    reef__token_next(p);
    reef__token_next(p);
}

static COLD bool parse_touch(parser *p, system_text *out)
{
    reef_touch_kind kind = REEF_READS;
    while (kind <= REEF_UNRELATES && !reef__token_is(p->token, touch_words[kind].text)) kind++;
    if (kind > REEF_UNRELATES) return refuse_kind(p);
    const char *at = p->token.start;
    const touch_type takes = reef__touch_takes(kind);
    reef__token_next(p);
    if (takes == TOUCH_PLAIN) return touch_put(p, out, kind, (reef_component){0}, at);
    if (!token_is_name(p->token))
        return takes == TOUCH_TYPED ? reef__parse_expected(p, "a type's name")
                                    : touch_put(p, out, kind, (reef_component){0}, at);
    while (token_is_name(p->token)) {
        reef_component c;
        at = p->token.start;
        if (!reef__parse_type(p, &c) || !touch_put(p, out, kind, c, at)) return false;
        if (kind == REEF_READS) parse_placed(p, out);
        if ((kind == REEF_READS || kind == REEF_WRITES) && !parse_way(p, out)) return false;
    }
    return true;
}

static COLD bool parse_touches(parser *p, system_text *out)
{
    reef__token_next(p);
    p->word = false;
    if (p->token.kind == TOKEN_END) return true;
    for (;; reef__token_next(p)) {
        if (!parse_touch(p, out)) return false;
        if (!token_is_sign(p, ',')) break;
    }
    if (p->token.kind == TOKEN_END) return true;
    const bool plain = reef__touch_takes(out->touch[out->count - 1].kind) == TOUCH_PLAIN;
    return reef__parse_expected(p, plain ? "','" : "',' or a type's name");
}

/* Says of a query that ends before a word for what is touched that a semicolon is missing. */
static COLD void refuse_without_semicolon(parser *p)
{
    if (p->at == 0) return;
    const token at = reef__token_scan(p->text + p->at - 1);
    for (uint32_t kind = REEF_READS; kind <= REEF_UNRELATES; kind++)
        if (reef__token_is(at, touch_words[kind].text))
            (void)reef__parse_refuse(p, REEF_BAD_TEXT, at.start, "'%s' and what follows stand behind a semicolon",
                                     touch_words[kind].text);
}

COLD reef_status reef__system_text_parse(const reef_world *w, const char *text, system_text *out, char *detail,
                                         size_t size)
{
    parser p = {.world = w, .text = text, .out = &out->query, .detail = detail, .size = size, .parts = true};
    out->count = 0;
    if (size) detail[0] = 0;
    const token first = reef__token_scan(text);
    out->has_query = first.kind != TOKEN_END && !(first.kind == TOKEN_SIGN && *first.start == ';');
    if (!reef__parse_query(&p)) refuse_without_semicolon(&p);
    else if (token_is_sign(&p, ';')) (void)parse_touches(&p, out);
    out->at = p.at;
    return p.status;
}
