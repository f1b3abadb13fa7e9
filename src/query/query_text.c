/* The text form of queries: a parser by recursive descent that looks at one token, and the writer of the same form.
 *
 *     query  := [any {"," any}]
 *     any    := one {"|" one}                              ANY_OF, if there are two or more
 *     one    := "!" one | "(" query ")" | leaf             NOT or NONE_OF; ALL_OF, if there are two or more
 *     leaf   := ["?"] {word} name [between] [up] ["+"] ["of" source] | word "*" | ["?"] "*" "(" source ")"
 *               | "disabled" "*" up | "cascade" "(" name ")"
 *     between := "(" [variable ","] ("*" | source | variable) {"," condition} ")" | "(" condition {"," condition} ")"
 *     condition := src/query/value_text.c
 *     up     := ["self"] "up" "(" name ["," number] ")"     the name of a relation type
 *     variable := "$" name                                  "$this" is the visited entity
 *     word   := "in" | "out" | "inout" | "with" | "disabled" | "either" | "changed" | "added" | "each" | "near"
 *     name   := what type names are made of, or any text in quotes
 *     source := the same for an entity's name, or "#" index "v" generation
 *
 * A word is only a word if a name follows it: "in" alone is a type named in, and so is the first term of "in,
 * Position". "in in" is that type, read only. A type in quotes is never a word: "\"in\" of sun" (without the quotes,
 * `of` would be the name that follows). "of" is a word only behind a name. Each kind of word (access; disabled and
 * either; changed and added; each; near) may stand once. "+" behind a name means the type or a subtype of it. `word
 * "*"` says which whole entities are visited; it is no term. `disabled "*" up` is one: an ancestor is disabled as a
 * whole. In quotes, \" and \\ stand for " and \. Parentheses mustn't be empty. A term with something in parentheses,
 * or with "near", is a filter unless a word of access stands before it; one with "up" is read. "up" and "self" are
 * words only behind a name or "*". "cascade" is a word only before a parenthesis.
 *
 * In the parentheses behind a relation stands its target, after the variable of its source if that isn't the visited
 * entity; behind another type stands the variable of the entity that has it. "*" is any target, or, as the name, any
 * relation. Then come conditions on values.
 *
 * Parentheses around a single `any` only group: they make no term. A group is inserted in front of its members after
 * these are read, so a text needs no more terms than its result has. Two counts, of parentheses and of "!", bound the
 * recursion. */
#include "query/query_text.h"
#include "storage/name_index.h"
#include "query/token.h"
#include "query/value_term.h"
#include "reef/hierarchy.h"
#include <inttypes.h>
#include <stdio.h>

typedef enum word_kind { WORD_ACCESS, WORD_ENABLED, WORD_SINCE, WORD_EACH, WORD_NEAR, WORD_KINDS } word_kind;

typedef struct query_word {
    const char *text;
    word_kind kind;
    uint8_t value;
} query_word;

static const query_word query_words[] = {
    {"in", WORD_ACCESS, REEF_IN},
    {"out", WORD_ACCESS, REEF_OUT},
    {"inout", WORD_ACCESS, REEF_INOUT},
    {"with", WORD_ACCESS, REEF_WITH},
    {"disabled", WORD_ENABLED, REEF_DISABLED},
    {"either", WORD_ENABLED, REEF_EITHER},
    {"changed", WORD_SINCE, REEF_IF_CHANGED},
    {"added", WORD_SINCE, REEF_IF_ADDED},
    {"each", WORD_EACH, true},
    {"near", WORD_NEAR, true},
};

enum { QUERY_WORDS = sizeof query_words / sizeof query_words[0] };

/* ---- words and names ---- */

static COLD const query_word *word_find(token t)
{
    for (uint32_t i = 0; i < QUERY_WORDS; i++)
        if (reef__token_is(t, query_words[i].text)) return &query_words[i];
    return NULL;
}

enum { ENTITY_NAMES_MAX = 65536 }; /* in worlds with more names no similar name is searched */

enum { PATH_ROOM = REEF_NAME_MAX + 1 };

/* Writes the path by which a text names an entity. False: no text can, since it has none, it is too long, or it leads
 * to another entity, whose own name has the same dots. */
static COLD bool entity_path(const reef_world *w, reef_entity e, char *path)
{
    const size_t length = reef_path(w, e, path, PATH_ROOM);
    return length > 0 && length < PATH_ROOM && reef_entity_equal(reef_find(w, path), e);
}

/* Finds the path that is most similar to an unknown one: that of a child with this very name, otherwise by the letters
 * of the whole path. Of several such children the first by path is taken, so that nothing depends on the order in which
 * names were given. False: there is none. */
static COLD bool similar_path(const reef_world *w, const char *name, char *found)
{
    nearest s = reef__nearest_begin(name);
    const uint32_t count = w->state.name_count;
    bool child = false;
    for (uint32_t i = 0; i < count && count <= ENTITY_NAMES_MAX; i++) {
        char path[PATH_ROOM];
        reef_entity e;
        const char *own = reef__name_at_number(w, i, &e);
        if (!entity_path(w, e, path)) continue;
        if (strcmp(own, name) == 0) {
            if (!child || strcmp(path, found) < 0) strcpy(found, path);
            child = true;
        }
        if (child) continue;
        reef__nearest_look(&s, path);
        if (s.name == path) s.name = strcpy(found, path);
    }
    return child || s.name != NULL;
}

static COLD bool refuse_source(parser *p, const token *at, const char *name)
{
    char found[PATH_ROOM];
    const shown unknown = reef__show(name, strlen(name));
    if (!similar_path(p->world, name, found))
        return reef__parse_refuse(p, REEF_NOT_ALIVE, at->start, "no entity is named %s", unknown.text);
    return reef__parse_refuse(p, REEF_NOT_ALIVE, at->start, "no entity is named %s; did you mean %s?", unknown.text,
                              reef__show(found, strlen(found)).text);
}

static COLD bool parse_handle(parser *p, reef_entity *e)
{
    const char *at = p->token.start + 1, *end = p->token.start + p->token.length;
    if (!reef__number_read(&at, &e->index) || *at++ != 'v' || !reef__number_read(&at, &e->generation) || at != end)
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "expected an entity as #<index>v<generation>, found '%s'",
                                  reef__show_token(p->token).text);
    if (!reef_is_alive(p->world, *e))
        return reef__parse_refuse(p, REEF_NOT_ALIVE, p->token.start, "the entity %s is not alive",
                                  reef__show_token(p->token).text);
    reef__token_next(p);
    return true;
}

static COLD bool parse_source(parser *p, reef_entity *e)
{
    char name[REEF_NAME_MAX + 1];
    const token at = p->token;
    if (at.kind == TOKEN_HANDLE) return parse_handle(p, e);
    if (!token_is_name(at)) return reef__parse_expected(p, "an entity's name");
    if (!reef__parse_name(p, name, REEF_NAME_MAX)) return false;
    *e = reef_find(p->world, name);
    return !reef_entity_is_null(*e) || refuse_source(p, &at, name);
}

COLD bool reef__parse_entity(parser *p, reef_entity *e)
{
    const bool null = p->token.kind == TOKEN_HANDLE && p->token.length == 4 && memcmp(p->token.start, "#0v0", 4) == 0;
    if (!null) return parse_source(p, e);
    *e = (reef_entity){0, 0};
    reef__token_next(p);
    return true;
}

/* ---- terms ---- */

static COLD bool parse_full(parser *p, const char *at)
{
    if (p->out->count < REEF_TERMS_MAX) return true;
    return reef__parse_refuse(p, REEF_LIMIT, at, "a query has at most %d terms, its groups among them", REEF_TERMS_MAX);
}

/* Makes the terms from `first` on the members of a group that begins at `at`. */
static COLD bool parse_group(parser *p, uint32_t first, reef_op op, uint32_t members, const char *at)
{
    query_text *out = p->out;
    if (!parse_full(p, at)) return false;
    memmove(&out->term[first + 1], &out->term[first], (out->count - first) * sizeof *out->term);
    memmove(&out->column[first + 1], &out->column[first], (out->count - first) * sizeof *out->column);
    out->term[first] = (reef_term){.op = op, .count = members};
    out->column[first] = (uint32_t)(at - p->text) + 1;
    out->count++;
    return true;
}

static COLD bool parse_words(parser *p, reef_term *t, bool *given)
{
    for (const query_word *found; (found = word_find(p->token)) != NULL; reef__token_next(p)) {
        if (!token_is_name(reef__token_scan(p->token.start + p->token.length))) return true;
        if (given[found->kind])
            return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                      "expected a type's name, found '%s': another word of its kind comes before it",
                                      found->text);
        if (found->kind == WORD_ACCESS && found->value != REEF_WITH && p->nots)
            return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                      "expected a type's name, found '%s': a term after '!' has no data", found->text);
        given[found->kind] = true;
        if (found->kind == WORD_ACCESS) t->access = (reef_access)found->value;
        if (found->kind == WORD_ENABLED) t->enabled = (reef_enabled)found->value;
        if (found->kind == WORD_SINCE) t->since = (reef_since)found->value;
        if (found->kind == WORD_EACH) t->each = true;
        if (found->kind == WORD_NEAR) t->near = true;
    }
    return true;
}

/* If the next token is this sign, it is taken. */
static bool parse_sign(parser *p, char sign)
{
    const bool is = token_is_sign(p, sign);
    if (is) reef__token_next(p);
    return is;
}

/* Reads what is said of whole entities: "disabled *" or "either *". */
static COLD bool parse_entities(parser *p, const reef_term *t, const bool *given)
{
    bool inside = p->parentheses || p->nots || p->alternatives;
    if (p->entities_given) return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start, "'*' may be used only once");
    if (inside)
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "'*', the whole entity, can't be in a group or after '!'");
    if (t->op != REEF_HAS || !given[WORD_ENABLED] || given[WORD_ACCESS] || given[WORD_SINCE] || given[WORD_EACH] ||
        given[WORD_NEAR])
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "'*', the whole entity, needs 'disabled' or 'either' before it, and no other word");
    p->out->entities = t->enabled;
    p->entities_given = true;
    reef__token_next(p);
    return true;
}

/* Reads in which order rows are visited: "cascade(ChildOf)". It is no term. */
static COLD bool parse_cascade(parser *p, const reef_term *t, const bool *given)
{
    const char *at = p->token.start;
    bool words = t->op != REEF_HAS;
    for (uint32_t i = 0; i < WORD_KINDS; i++) words |= given[i];
    if (p->cascade_given) return reef__parse_refuse(p, REEF_BAD_TEXT, at, "'cascade' may be used only once");
    if (words || p->parentheses || p->nots || p->alternatives)
        return reef__parse_refuse(
            p, REEF_BAD_TEXT, at,
            "'cascade' is the order of all rows: it can't be in a group, after '!' or another word");
    reef__token_next(p);
    reef__token_next(p); /* the parenthesis */
    p->out->cascade_column = (uint32_t)(p->token.start - p->text) + 1;
    if (!token_is_name(p->token)) return reef__parse_expected(p, "the name of a relation");
    if (!reef__parse_type(p, &p->out->cascade)) return false;
    p->cascade_given = true;
    return parse_sign(p, ')') || reef__parse_expected(p, "')' after the relation");
}

COLD uint32_t reef__name_seek(const void *names, uint32_t count, const char *name)
{
    const char *at = names;
    uint32_t i = 0;
    for (; i < count && strcmp(at, name) != 0; i++) at += REEF_VARIABLE_NAME_MAX + 1;
    return i;
}

/* Reads a variable: its number, REEF_VISITED for "$this". A new one gets the next number. */
static COLD bool parse_variable(parser *p, uint8_t *number)
{
    char name[REEF_VARIABLE_NAME_MAX + 1];
    query_text *out = p->out;
    const char *at = p->token.start;
    reef__token_next(p);
    if (p->token.kind != TOKEN_NAME || reef__token_is(p->token, "*") || p->token.start != at + 1)
        return reef__parse_expected(p, "a variable's name behind '$'");
    if (!reef__parse_name(p, name, REEF_VARIABLE_NAME_MAX)) return false;
    *number = REEF_VISITED;
    if (strcmp(name, "this") == 0) return true;
    const uint32_t i = reef__name_seek(out->variables, out->variable_count, name);
    *number = (uint8_t)(i + 1);
    if (i < out->variable_count) return true;
    if (reef__name_seek(out->parameters, out->parameter_count, name) < out->parameter_count)
        return reef__parse_refuse(p, REEF_BAD_TEXT, at, "$%s is a parameter already: a variable needs another name",
                                  name);
    if (i == REEF_VARIABLES_MAX)
        return reef__parse_refuse(p, REEF_LIMIT, at, "a query has at most %d variables", REEF_VARIABLES_MAX);
    memset(out->variables[i], 0, sizeof out->variables[i]);
    memcpy(out->variables[i], name, strlen(name));
    out->variable_count++;
    return true;
}

/* Reads conditions up to the last one. */
static COLD bool parse_conditions(parser *p, reef_term *t, const type *kind)
{
    if (kind == NULL)
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start, "any relation '*(...)' has no fields to compare");
    const uint32_t first = p->out->condition_count;
    do {
        if (!reef__parse_condition(p, kind)) return false;
    } while (parse_sign(p, ','));
    t->conditions = p->out->conditions + first;
    t->count = p->out->condition_count - first;
    return true;
}

/* Reads who a term is about: the variable of its source, the target of a relation. *more: conditions follow. */
static COLD bool parse_whom(parser *p, reef_term *t, const type *kind, const char *open, bool *more)
{
    const bool relation = kind == NULL || kind->relation != 0;
    uint8_t variable = 0;
    if (kind == NULL && token_is_sign(p, '$'))
        return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                                  "behind '*', any relation, stands the name of an entity and no variable");
    if (token_is_sign(p, '$') && !parse_variable(p, &variable)) return false;
    if (!relation) {
        if (variable == 0 || variable == REEF_VISITED)
            return reef__parse_refuse(p, REEF_BAD_TEXT, open, "%s is no relation, so it has no target",
                                      reef__show(kind->name, strlen(kind->name)).text);
        t->variable = variable;
        *more = parse_sign(p, ',');
        return true;
    }
    if (variable) {
        *more = parse_sign(p, ',');
        t->target_variable = variable;
        if (!*more || reef__condition_comes(p)) return true;
        t->variable = variable == REEF_VISITED ? 0 : variable; /* it is the source; now the target */
        t->target_variable = 0;
    }
    if (token_is_sign(p, '$')) {
        if (!parse_variable(p, &t->target_variable)) return false;
    } else if (reef__token_is(p->token, "*")) {
        if (kind == NULL) return reef__parse_expected(p, "an entity's name");
        reef__token_next(p);
    } else if (!parse_source(p, &t->target)) {
        return false;
    }
    *more = parse_sign(p, ',');
    return true;
}

/* Reads what stands in parentheses. */
static COLD bool parse_between(parser *p, reef_term *t, const bool *given)
{
    const type *kind = reef__type_of(t->component.id); /* NULL: any relation */
    const bool relation = kind == NULL || kind->relation != 0;
    const char *const open = p->token.start;
    reef__token_next(p);
    bool more = reef__condition_comes(p);
    if (!more && !parse_whom(p, t, kind, open, &more)) return false;
    if (more && !parse_conditions(p, t, kind)) return false;
    if (!parse_sign(p, ')'))
        return reef__parse_expected(p, t->conditions ? "',' or ')' after the condition"
                                       : relation    ? "')' after the target"
                                                     : "')' after the variable");
    if (!given[WORD_ACCESS]) t->access = REEF_WITH;
    return true;
}

/* Reads which ancestor a term is about. */
static COLD bool parse_up(parser *p, reef_term *t, const bool *given)
{
    const token next = reef__token_scan(p->token.start + p->token.length);
    if (reef__token_is(p->token, "self")) {
        if (!reef__token_is(next, "up")) return true;
        t->self = true;
        reef__token_next(p);
    } else if (!reef__token_is(p->token, "up")) {
        return true;
    }
    reef__token_next(p);
    if (!parse_sign(p, '(')) return reef__parse_expected(p, "'(' after up");
    if (!token_is_name(p->token)) return reef__parse_expected(p, "the name of a relation");
    if (!reef__parse_type(p, &t->up)) return false;
    if (parse_sign(p, ',')) {
        const char *at = p->token.start;
        if (p->token.kind != TOKEN_NAME || !reef__number_read(&at, &t->up_most) || t->up_most == 0 ||
            at != p->token.start + p->token.length)
            return reef__parse_expected(p, "the largest number of steps");
        reef__token_next(p);
    }
    if (!parse_sign(p, ')')) return reef__parse_expected(p, "')' after the relation");
    if (!given[WORD_ACCESS]) t->access = p->nots || t->component.id == 0 ? REEF_WITH : REEF_IN;
    return true;
}

/* Refuses what can't follow a type with '+'. */
static COLD bool parse_plus_alone(parser *p)
{
    static const char *const words[] = {"of", "up", "self"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (reef__token_is(p->token, words[i]))
            return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start, "a type with '+' can't have '%s'", words[i]);
    return !token_is_sign(p, '(') ||
           reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start, "'+' stands behind what is in parentheses");
}

/* Says of a name before a type's name, which is no type itself, that it is no word. */
static COLD bool refuse_word(parser *p, token at)
{
    const token next = reef__token_scan(at.start + at.length);
    if (p->status != REEF_UNKNOWN_TYPE || p->word || at.kind != TOKEN_NAME || next.kind != TOKEN_NAME ||
        reef__token_is(next, "of") || reef__token_is(next, "up") || reef__token_is(next, "self"))
        return false;
    const shown found = reef__show_token(at);
    nearest s = reef__nearest_begin(found.text);
    for (uint32_t i = 0; i < QUERY_WORDS; i++) reef__nearest_look(&s, query_words[i].text);
    if (s.name == NULL)
        return reef__parse_refuse(p, REEF_BAD_TEXT, at.start, "'%s' is no word of queries, such as in, out and with",
                                  found.text);
    return reef__parse_refuse(p, REEF_BAD_TEXT, at.start, "'%s' is no word of queries; did you mean %s?", found.text,
                              s.name);
}

static COLD bool parse_leaf(parser *p)
{
    reef_term t = {.access = p->nots ? REEF_WITH : REEF_INOUT};
    bool given[WORD_KINDS] = {false};
    if (parse_sign(p, '?')) t.op = REEF_OPTIONAL;
    if (!parse_words(p, &t, given)) return false;
    if (!token_is_name(p->token)) return reef__parse_expected(p, "a type's name");
    const char *at = p->token.start;
    if (reef__token_is(p->token, "cascade")) {
        const token next = reef__token_scan(p->token.start + p->token.length);
        if (next.kind == TOKEN_SIGN && *next.start == '(') return parse_cascade(p, &t, given);
    }
    if (reef__token_is(p->token, "*")) {
        const token next = reef__token_scan(p->token.start + 1);
        const bool up = reef__token_is(next, "up") || reef__token_is(next, "self");
        if (!up && (next.kind != TOKEN_SIGN || *next.start != '(')) return parse_entities(p, &t, given);
        reef__token_next(p);
    } else {
        const token name = p->token;
        p->word = word_find(name) != NULL;
        if (!reef__parse_type(p, &t.component)) return refuse_word(p, name);
    }
    if (t.near && !given[WORD_ACCESS]) t.access = REEF_WITH;
    if (token_is_sign(p, '(') && !parse_between(p, &t, given)) return false;
    if (!parse_up(p, &t, given)) return false;
    t.subtypes = parse_sign(p, '+');
    if (t.subtypes && !parse_plus_alone(p)) return false;
    if (reef__token_is(p->token, "of")) {
        reef__token_next(p);
        if (!parse_source(p, &t.source)) return false;
    }
    if (!parse_full(p, at)) return false;
    p->out->column[p->out->count] = (uint32_t)(at - p->text) + 1;
    p->out->term[p->out->count++] = t;
    return true;
}

static COLD bool parse_one(parser *p);
static COLD bool parse_list(parser *p, uint32_t *members);

static bool parse_too_deep(parser *p, const char *what)
{
    return reef__parse_refuse(p, REEF_LIMIT, p->token.start, "at most %d %s may be nested", REEF_TERMS_MAX, what);
}

/* Reads a NOT or a NONE_OF. (What is under it has at least one term.) */
static COLD bool parse_not(parser *p)
{
    const uint32_t first = p->out->count;
    const char *at = p->token.start;
    if (p->nots == REEF_TERMS_MAX) return parse_too_deep(p, "'!'");
    reef__token_next(p);
    p->nots++;
    if (!parse_one(p)) return false;
    p->nots--;
    reef_term *t = &p->out->term[first];
    if (t->op != REEF_HAS && t->op != REEF_ANY_OF) return parse_group(p, first, REEF_NONE_OF, 1, at);
    if (t->op == REEF_ANY_OF) p->out->column[first] = (uint32_t)(at - p->text) + 1;
    t->op = t->op == REEF_HAS ? REEF_NOT : REEF_NONE_OF;
    return true;
}

/* Reports what is missing where a term has ended. */
static COLD bool parse_unended(parser *p)
{
    return reef__parse_expected(p, p->parentheses ? "',', '|' or ')'" : p->parts ? "',', '|' or ';'" : "',' or '|'");
}

static COLD bool parse_parentheses(parser *p)
{
    const uint32_t first = p->out->count;
    const char *at = p->token.start;
    uint32_t members = 0;
    if (p->parentheses == REEF_TERMS_MAX) return parse_too_deep(p, "parentheses");
    reef__token_next(p);
    p->parentheses++;
    if (!parse_list(p, &members)) return false;
    if (!parse_sign(p, ')')) return parse_unended(p);
    p->parentheses--;
    return members == 1 || parse_group(p, first, REEF_ALL_OF, members, at);
}

static COLD bool parse_one(parser *p)
{
    if (token_is_sign(p, '!')) return parse_not(p);
    if (token_is_sign(p, '(')) return parse_parentheses(p);
    return parse_leaf(p);
}

static COLD bool parse_any(parser *p)
{
    const uint32_t first = p->out->count;
    const char *at = p->token.start;
    uint32_t members = 1;
    if (!parse_one(p)) return false;
    if (!token_is_sign(p, '|')) return true;
    if (p->out->count == first) /* "disabled * | A" */
        return reef__parse_expected(p, p->cascade_given ? "','" : "',' after the whole entity");
    p->alternatives++;
    for (; parse_sign(p, '|'); members++) {
        if (!parse_one(p)) return false;
    }
    p->alternatives--;
    return parse_group(p, first, REEF_ANY_OF, members, at);
}

/* Reads one or more, joined by commas. */
static COLD bool parse_list(parser *p, uint32_t *members)
{
    for (*members = 0;; ++*members) {
        if (*members) reef__token_next(p);
        if (!parse_any(p)) return false;
        if (!token_is_sign(p, ',')) break;
    }
    ++*members;
    return true;
}

static bool query_ends(const parser *p) { return p->token.kind == TOKEN_END || (p->parts && token_is_sign(p, ';')); }

COLD bool reef__parse_query(parser *p)
{
    uint32_t members = 0;
    p->out->count = p->out->at = p->out->variable_count = 0; /* terms from `count` on aren't initialized */
    p->out->condition_count = p->out->parameter_count = p->out->text_bytes = 0;
    p->out->entities = REEF_ENABLED;
    p->out->cascade = (reef_component){0};
    p->out->said = true;
    p->token = reef__token_scan(p->text);
    return query_ends(p) || (parse_list(p, &members) && (query_ends(p) || parse_unended(p)));
}

COLD reef_status reef__query_text_parse(const reef_world *w, const char *text, query_text *out, char *detail,
                                        size_t size)
{
    parser p = {.world = w, .text = text, .out = out, .detail = detail, .size = size};
    if (size) detail[0] = 0;
    (void)reef__parse_query(&p);
    out->at = p.at;
    return p.status;
}

/* ---- writing ---- */

typedef struct query_writer {
    const reef_world *world;
    const reef_term *terms;
    uint32_t count, at; /* at: number of the next term */
    text_out *out;
    variable_names variables;
} query_writer;

/* Where a term stands, which decides whether an ANY_OF needs parentheses. */
typedef enum write_place { IN_LIST, IN_ANY, IN_NOT } write_place;

COLD void reef__text_put_escaped(text_out *o, const char *text)
{
    for (; *text; text++) reef__text_put(o, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

COLD void reef__text_put_quoted(text_out *o, const char *text)
{
    reef__text_put(o, "\"");
    reef__text_put_escaped(o, text);
    reef__text_put(o, "\"");
}

/* Writes a name, in quotes if it could be taken for something else. */
static COLD void write_name(text_out *o, const char *name)
{
    token t = reef__token_scan(name);
    bool plain = t.kind == TOKEN_NAME && t.start == name && name[t.length] == 0;
    plain = plain && word_find(t) == NULL && !reef__token_is(t, "of") && !reef__token_is(t, "*") &&
            !reef__token_is(t, "cascade");
    if (plain) reef__text_put(o, "%s", name);
    else reef__text_put_quoted(o, name);
}

/* A name with signs of comparison stands in quotes, since in parentheses a condition would be read. */
COLD void reef__entity_write(text_out *o, const reef_world *w, reef_entity e)
{
    char path[PATH_ROOM];
    if (!entity_path(w, e, path)) reef__text_put(o, "#%" PRIu32 "v%" PRIu32, e.index, e.generation);
    else if (strpbrk(path, "<>")) reef__text_put_quoted(o, path);
    else write_name(o, path);
}
static COLD void write_entity(const query_writer *o, reef_entity e) { reef__entity_write(o->out, o->world, e); }

static COLD void write_word(text_out *o, word_kind kind, uint32_t value)
{
    for (uint32_t i = 0; i < QUERY_WORDS; i++)
        if (query_words[i].kind == kind && query_words[i].value == value) reef__text_put(o, "%s ", query_words[i].text);
}

/* Chooses the names that a text can give to the variables: their own, or, where that is no name in a text or an earlier
 * one has it, their number. */
static COLD void name_variables(query_writer *o, const variable_names *given)
{
    for (uint32_t i = 0; i < REEF_VARIABLES_MAX; i++) {
        const char *own = given ? (*given)[i] : "";
        const token t = reef__token_scan(own);
        const bool good = t.kind == TOKEN_NAME && t.start == own && own[t.length] == 0 && !reef__token_is(t, "this") &&
                          !reef__token_is(t, "*") && reef__name_seek(o->variables, i, own) == i;
        char *name = o->variables[i];
        if (good) memcpy(name, own, t.length + 1);
        else snprintf(name, sizeof o->variables[i], "%" PRIu32, i + 1);
        while (reef__name_seek(o->variables, i, name) < i) strcat(name, "_"); /* once for each earlier one at most */
    }
}

static COLD void write_variable(const query_writer *o, uint32_t number)
{
    reef__text_put(o->out, "$%s", number == REEF_VISITED ? "this" : o->variables[number - 1]);
}

/* Writes what stands in parentheses behind a name. */
static COLD void write_between(const query_writer *o, const reef_term *t, const type *kind)
{
    const bool relation = kind == NULL || kind->relation, target = t->target.generation != 0 || t->target_variable;
    const uint32_t conditions = term_conditions(t);
    const char *between = "";
    reef__text_put(o->out, "(");
    if (t->variable) {
        write_variable(o, t->variable);
        between = ", ";
    }
    if (target || (relation && (t->variable || conditions == 0))) { /* the variable alone would be the target */
        reef__text_put(o->out, "%s", between);
        if (t->target_variable) write_variable(o, t->target_variable);
        else if (target) write_entity(o, t->target);
        else reef__text_put(o->out, "*");
        between = ", ";
    }
    for (uint32_t i = 0; i < conditions; i++) {
        reef__text_put(o->out, "%s", between);
        reef__condition_write(o->out, o->world, kind, &t->conditions[i]);
        between = ", ";
    }
    reef__text_put(o->out, ")");
}

static COLD void write_up(const query_writer *o, const reef_term *t)
{
    const type *kind = reef__type_of(t->up.id);
    ASSERT(kind);
    reef__text_put(o->out, t->self ? " self up(" : " up(");
    write_name(o->out, kind ? kind->name : "");
    if (t->up_most) reef__text_put(o->out, ", %" PRIu32, t->up_most);
    reef__text_put(o->out, ")");
}

static COLD void write_leaf(const query_writer *o, const reef_term *t, bool filter)
{
    const type *kind = reef__type_of(t->component.id);
    const bool target = !reef_entity_is_null(t->target);
    const bool between = target || t->variable || t->target_variable || term_conditions(t);
    ASSERT(kind || target || t->up.id);
    reef__text_put(o->out, "%s", t->op == REEF_NOT ? "!" : t->op == REEF_OPTIONAL ? "?" : "");
    const reef_access usual = t->up.id && kind ? REEF_IN : between || t->near || !kind ? REEF_WITH : REEF_INOUT;
    if (t->access != usual && !filter && t->op != REEF_NOT) write_word(o->out, WORD_ACCESS, t->access);
    write_word(o->out, WORD_ENABLED, t->enabled);
    write_word(o->out, WORD_SINCE, t->since);
    write_word(o->out, WORD_EACH, t->each);
    write_word(o->out, WORD_NEAR, t->near);
    if (kind) write_name(o->out, kind->name);
    else reef__text_put(o->out, "*");
    if (between) write_between(o, t, kind);
    if (t->up.id) write_up(o, t);
    if (t->subtypes) reef__text_put(o->out, "+");
    if (!reef_entity_is_null(t->source)) reef__text_put(o->out, " of "), write_entity(o, t->source);
}

/* Writes the next term with all that is inside it. Each call takes a term, so the recursion is no deeper than there
 * are terms. */
static COLD void write_term(query_writer *o, write_place place, bool filter)
{
    if (o->at == o->count) return;
    const reef_term *t = &o->terms[o->at++];
    if (t->op < REEF_ANY_OF) {
        write_leaf(o, t, filter);
        return;
    }
    const bool all = t->op == REEF_ALL_OF, none = t->op == REEF_NONE_OF, one = t->count == 1;
    const bool parentheses = !one && (t->op != REEF_ANY_OF || place != IN_LIST);
    reef__text_put(o->out, "%s%s", none ? "!" : "", parentheses ? "(" : "");
    for (uint32_t i = 0; i < t->count; i++) {
        if (i) reef__text_put(o->out, all ? ", " : " | ");
        write_term(o, one ? none ? IN_NOT : place : all ? IN_LIST : IN_ANY, filter || none);
    }
    if (parentheses) reef__text_put(o->out, ")");
}

COLD void reef__query_text_write(text_out *o, const reef_world *w, const reef_term *terms, uint32_t count,
                                 reef_enabled entities, reef_component cascade, const variable_names *variables)
{
    query_writer x = {.world = w, .terms = terms, .count = count, .out = o};
    name_variables(&x, variables);
    while (x.at < count) {
        if (x.at) reef__text_put(o, ", ");
        write_term(&x, IN_LIST, false);
    }
    if (cascade.id) {
        reef__text_put(o, count ? ", cascade(" : "cascade(");
        write_name(o, reef__type_of(cascade.id)->name);
        reef__text_put(o, ")");
    }
    if (entities == REEF_ENABLED) return;
    if (count || cascade.id) reef__text_put(o, ", ");
    write_word(o, WORD_ENABLED, entities);
    reef__text_put(o, "*");
}
