/* Writing a list of operations as a C program that needs nothing but reef. */
#include "apply.h"
#include "hash.h"

typedef struct printer {
    FILE *file;
    const op_list *list;
    const run_options *o;
    uint32_t types; /* that appear */
} printer;

/* ---- entities ---- */

/* The index of a number in the program's array; -1: no operation makes it, so it is null. */
static long place_of(const printer *p, uint32_t number)
{
    long place = 0;
    for (uint32_t i = 0; i < p->list->count; i++) {
        const op *o = &p->list->op[i];
        if (number >= o->made && number - o->made < op_makes(o)) return place + (long)(number - o->made);
        place += (long)op_makes(o);
    }
    return -1;
}

static void print_entity(const printer *p, uint32_t number)
{
    long place = place_of(p, number);
    if (number == SUBJECT_FAR) fprintf(p->file, "(reef_entity){%uu, 1}", UINT32_MAX - 9);
    else if (place < 0) fprintf(p->file, "(reef_entity){0}");
    else fprintf(p->file, "e[%ld]", place);
}

static void print_subject(const printer *p, const op *o)
{
    if (o->subject != SUBJECT_AHEAD) {
        print_entity(p, o->subject);
        return;
    }
    fprintf(p->file, "next_of(");
    print_entity(p, o->list[OP_LIST - 1]);
    fprintf(p->file, ")");
}

static void print_made(const printer *p, const op *o) { fprintf(p->file, "e[%ld]", place_of(p, o->made)); }

static void print_list(const printer *p, const op *o)
{
    uint32_t written = 0;
    fprintf(p->file, "    reef_entity list[] = {");
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t number = !(o->option & 1) ? o->list[i] : o->subject + (o->option & 2 ? o->n - 1 - i : i);
        bool nobody = place_of(p, number) < 0;
        if (nobody && (o->option & 1) && o->kind == OP_DESTROY_MANY) continue;
        fprintf(p->file, "%s", written++ ? ", " : "");
        print_entity(p, number);
    }
    fprintf(p->file, "%s};\n", written ? "" : "{0}");
}

static const char *text_of_type(uint32_t type)
{
    static char text[2][64];
    static int turn;
    turn = !turn;
    if (type < TYPES_MAX) snprintf(text[turn], sizeof text[turn], "T%s", model_types[type].name);
    else snprintf(text[turn], sizeof text[turn], "(reef_component){%u}", component_of(type).id);
    return text[turn];
}

static unsigned long long seed_of(const op *o, uint32_t i) { return (unsigned long long)(o->value + i); }

/* ---- values ---- */

static void print_value(const printer *p, const op *o, uint32_t i, uint32_t n)
{
    const model_type *t = o->type[i] < TYPES_MAX ? &model_types[o->type[i]] : NULL;
    unsigned flaw = i + 1 == o->count ? o->flaw : 0u;
    ref_how how = (ref_how)o->how[i];
    const char *kind = how == HOW_ARRAY    ? "REEF_VALUE_ARRAY"
                       : how == HOW_REMOVE ? "REEF_VALUE_REMOVE"
                                           : "REEF_VALUE_DEFAULT";
    bool with_data = t && (how == HOW_ONE || how == HOW_ARRAY || how == HOW_FROM);
    if (with_data && how != HOW_ARRAY) kind = "REEF_VALUE_ONE";
    if (flaw == FLAW_KIND) kind = "(reef_value_kind)9";
    fprintf(p->file, "        {%s, %s, %u, ", text_of_type(o->type[i]), kind,
            with_data ? t->size + (flaw == FLAW_SIZE) : 0);
    if (how == HOW_ARGS) fprintf(p->file, "&(uint64_t){mix(%lluu, 0)}", seed_of(o, i));
    else if (!with_data || t->size == 0 || flaw == FLAW_DATA) fprintf(p->file, "NULL");
    else if (how == HOW_FROM && t->sort != SORT_MOVER && t->sort != SORT_SCRIPT) {
        fprintf(p->file, "from(%s, ", text_of_type(o->type[i]));
        print_entity(p, o->list[0]);
        fprintf(p->file, ", %lluu)", seed_of(o, i));
    } else fprintf(p->file, "values(%s, %u, %lluu)", text_of_type(o->type[i]), how == HOW_ARRAY ? n : 1, seed_of(o, i));
    fprintf(p->file, "},\n");
}

static void print_values(const printer *p, const op *o, uint32_t n)
{
    fprintf(p->file, "    reef_value v[] = {\n");
    for (uint32_t i = 0; i < o->count; i++) print_value(p, o, i, n);
    fprintf(p->file, "%s    };\n", o->count ? "" : "        {{0}, REEF_VALUE_ONE, 0, NULL}\n");
}

static void print_types(const printer *p, const op *o)
{
    fprintf(p->file, "    reef_component t[] = {");
    for (uint32_t i = 0; i < o->count; i++) fprintf(p->file, "%s%s", i ? ", " : "", text_of_type(o->type[i]));
    fprintf(p->file, "%s};\n", o->count ? "" : "{0}");
}

static const char *args_text(const op *o)
{
    static char text[64];
    if (!(o->option & 1)) return "NULL";
    snprintf(text, sizeof text, "&(uint64_t){mix(%lluu, 0)}", seed_of(o, 0));
    return text;
}

/* ---- declarations before the call: once ---- */

static void print_bundle_parts(const printer *p, const op *o)
{
    uint32_t at = 0;
    fprintf(p->file, "    reef_bundle_part parts[] = {");
    for (uint32_t i = 0; i < o->count; i++) {
        const model_type *t = o->type[i] < TYPES_MAX ? &model_types[o->type[i]] : &model_types[0];
        at = (at + t->align - 1) / t->align * t->align;
        fprintf(p->file, "%s{%s, %u}", i ? ", " : "", text_of_type(o->type[i]), at);
        at += t->size;
    }
    fprintf(p->file, "};\n");
}

/* The values of a bundle, laid out as by the operation that made it. */
static void print_packed(const printer *p, const op *spawn)
{
    const op *b = NULL;
    uint32_t at = 0;
    for (const op *o = p->list->op; o < spawn; o++)
        if (o->kind == OP_BUNDLE_NEW && o->n == spawn->n) b = o;
    fprintf(p->file, "    static _Alignas(4096) char packed[65536];\n");
    for (uint32_t i = 0; b && i < b->count; i++) {
        if (b->type[i] >= TYPES_MAX) continue;
        const model_type *t = &model_types[b->type[i]];
        at = (at + t->align - 1) / t->align * t->align;
        if (t->size)
            fprintf(p->file, "    put(%s, packed + %u, mix(%lluu, 0));\n", text_of_type(b->type[i]), at,
                    seed_of(spawn, i));
        at += t->size;
    }
}

static void print_query_terms(const printer *p, const op *o)
{
    static const char *const access[] = {"REEF_INOUT", "REEF_IN", "REEF_OUT", "REEF_WITH"};
    fprintf(p->file, "    reef_query_desc d = {.terms = {");
    for (uint32_t i = 0; i < o->count; i++)
        fprintf(p->file, "%s{%s, %s}", i ? ", " : "", text_of_type(o->type[i]), access[o->how[i]]);
    fprintf(p->file, "}};\n");
}

static void print_before(const printer *p, const op *o)
{
    switch ((op_kind)o->kind) {
    case OP_SPAWN:
    case OP_SET:
    case OP_CHANGE: print_values(p, o, 1); break;
    case OP_INSTANTIATE: print_values(p, o, o->n); break;
    case OP_SPAWN_MANY: print_values(p, o, o->n); break;
    case OP_DESTROY_WITH:
    case OP_SORT:
    case OP_RESERVE_FOR: print_types(p, o); break;
    case OP_DESTROY_MANY:
    case OP_GET_MANY: print_list(p, o); break;
    case OP_WRITE_MANY: print_list(p, o); break;
    case OP_BUNDLE_NEW: print_bundle_parts(p, o); break;
    case OP_BUNDLE_SPAWN: print_packed(p, o); break;
    case OP_QUERY_NEW: print_query_terms(p, o); break;
    default: break;
    }
}

/* ---- calls ---- */

static void print_simple(const printer *p, const op *o, const char *call, const char *more)
{
    fprintf(p->file, "say(\"%s\", %s(w, ", call, call);
    print_subject(p, o);
    fprintf(p->file, "%s));", more);
}

static void print_making(const printer *p, const op *o, const char *call)
{
    fprintf(p->file, "made(\"%s\", &", op_name((op_kind)o->kind));
    print_made(p, o);
    fprintf(p->file, ", %s);", call);
}

static void print_sort(const printer *p, const op *o)
{
    bool by_value = (o->option & ORDER_BY_VALUE) != 0;
    fprintf(p->file, "key_type = %s, key_coarse = %d;\n", by_value ? text_of_type(o->type[0]) : "(reef_component){0}",
            (o->option & ORDER_COARSELY) != 0);
    fprintf(p->file,
            "    say(\"reef_sort_storage\", reef_sort_storage(w, &(reef_sort){{%s, %s, NULL, %d}, t, %u, %d, %d}));",
            by_value ? text_of_type(o->type[0]) : "{0}", by_value ? "key" : "NULL", o->option & ORDER_DESCENDING,
            o->count, (o->option & ORDER_EXACTLY) != 0, (o->option & ORDER_GROUPED) != 0);
}

static void print_name_call(const printer *p, const op *o)
{
    fprintf(p->file, "say(\"reef_set_name\", reef_set_name(w, ");
    print_subject(p, o);
    if (o->n == NAME_NONE) fprintf(p->file, ", NULL));");
    else fprintf(p->file, ", \"%s\"));", model_names[o->n]);
}

static void print_walk(const printer *p, const op *o)
{
    fprintf(p->file, "walk(w, query[%u], %d);", o->n, (o->option & 1) != 0);
    if (o->option & 2) fprintf(p->file, " /* and structural calls inside of the loop, which must answer LOCKED */");
}

/* A call with the source, the type, and the target. */
static void print_related(const printer *p, const op *o, const char *call)
{
    fprintf(p->file, "say(\"%s\", %s(w, ", call, call);
    print_subject(p, o);
    fprintf(p->file, ", R[%u], ", o->type[0]);
    print_entity(p, o->list[0]);
}

/* By reef_set or reef_change. */
static void print_by_value(const printer *p, const op *o)
{
    const bool set = (o->option & RELATE_BY_SET) != 0;
    fprintf(p->file, "{ struct { reef_entity target; uint64_t place; char data[128]; } v = {");
    print_entity(p, o->list[0]);
    fprintf(p->file, ", 0, {0}}; reef_type_info t; reef_type_get(R[%u], &t); ", o->type[0]);
    fprintf(p->file, set ? "say(\"reef_set\", reef_set_id(w, " : "say(\"reef_change\", reef_change_values(w, ");
    print_subject(p, o);
    fprintf(p->file,
            set ? ", R[%u], &v, t.size)); } /* option %u */"
                : ", &(reef_value){R[%u], REEF_VALUE_ONE, t.size, &v}, 1)); } /* option %u */",
            o->type[0], o->option);
}

static void print_relating(const printer *p, const op *o)
{
    static const char *const all[UNRELATE_WAYS] = {"reef_unrelate_all_id", "reef_unrelate_sources_id", "reef_remove_id",
                                                   "reef_remove_where_id"};
    const uint32_t data = model_relations[o->type[0] % RELATIONS].data;
    FILE *f = p->file;
    switch ((op_kind)o->kind) {
    case OP_RELATE:
        if (related_by_value(o)) {
            print_by_value(p, o);
            break;
        }
        print_related(p, o, "reef_relate_id");
        if (!(o->option & RELATE_DATA)) fprintf(f, ", NULL, 0)); /* option %u */", o->option);
        else
            fprintf(f, ", values(%s, 1, %lluu), %u)); /* option %u */", text_of_type(data < TYPES_MAX ? data : 0),
                    seed_of(o, 0), data < TYPES_MAX ? model_types[data].size : 4, o->option);
        break;
    case OP_RELATE_BEFORE:
    case OP_RETARGET:
        print_related(p, o, o->kind == OP_RETARGET ? "reef_retarget_id" : "reef_relate_before_id");
        fprintf(f, ", ");
        print_entity(p, o->list[1]);
        fprintf(f, "));");
        break;
    case OP_UNRELATE:
        print_related(p, o, "reef_unrelate_id");
        fprintf(f, "));");
        break;
    case OP_UNRELATE_ALL:
        if (o->option == UNRELATE_TYPE) {
            fprintf(f, "reef_remove_where_id(w, every((reef_component[]){R[%u]}, 1), R[%u], NULL);", o->type[0],
                    o->type[0]);
            break;
        }
        fprintf(f, "number(\"%s\", (uint32_t)%s(w, ", all[o->option], all[o->option]);
        print_subject(p, o);
        fprintf(f, ", R[%u]));", o->type[0]);
        break;
    case OP_INSTANTIATE:
        fprintf(f, "say(\"copies\", %s(w, ", o->option & TREE_CLONE ? "reef_clone_tree" : "reef_instantiate_values");
        print_subject(p, o);
        fprintf(f, ", %u, e + %ld", o->n, place_of(p, o->made));
        if (!(o->option & TREE_CLONE)) fprintf(f, ", v, %u", o->count);
        fprintf(f, ")); /* the copies of children aren't in e */");
        break;
    case OP_MAKE_PREFAB: print_simple(p, o, "reef_make_prefab", ""); break;
    default: fprintf(f, "/* %s */", op_name((op_kind)o->kind));
    }
}

static void print_call_of_entity(const printer *p, const op *o)
{
    char text[128];
    const char *type = text_of_type(o->type[0]);
    switch ((op_kind)o->kind) {
    case OP_DESTROY: print_simple(p, o, "reef_destroy", ""); break;
    case OP_RELEASE_ID: print_simple(p, o, "reef_release_id", ""); break;
    case OP_REMOVE_ALL: print_simple(p, o, "reef_remove_all", ""); break;
    case OP_REMOVE:
        snprintf(text, sizeof text, ", %s", type);
        print_simple(p, o, "reef_remove_id", text);
        break;
    case OP_ENABLE:
        snprintf(text, sizeof text, ", %s, %s", o->option & OPTION_WHOLE ? "(reef_component){0}" : type,
                 o->option & OPTION_ON ? "true" : "false");
        print_simple(p, o, "reef_enable_id", text);
        break;
    case OP_ADD:
        snprintf(text, sizeof text, ", %s, %s, NULL", type, args_text(o));
        print_simple(p, o, "reef_add_id", text);
        break;
    case OP_SET: print_simple(p, o, "reef_set_id", ", v->component, v->data, v->size"); break;
    case OP_CHANGE:
        snprintf(text, sizeof text, ", v, %u", o->count);
        print_simple(p, o, "reef_change_values", text);
        break;
    case OP_ENSURE:
    case OP_WRITE:
        fprintf(p->file,
                o->kind == OP_ENSURE ? "there(\"reef_ensure_id\", reef_ensure_id(w, " : "write(reef_mut_id(w, ");
        print_subject(p, o);
        if (o->kind == OP_ENSURE) fprintf(p->file, ", %s, %s));", type, args_text(o));
        else fprintf(p->file, ", %s), %s, mix(%lluu, 0));", type, type, seed_of(o, 0));
        break;
    case OP_CLONE_MANY:
        snprintf(text, sizeof text, ", %u, e + %ld", o->n, o->n ? place_of(p, o->made) : 0);
        print_simple(p, o, op_clones_tree(o) ? "reef_clone_tree" : "reef_clone_many", text);
        break;
    case OP_CLONE:
        fprintf(p->file, "made(\"CLONE\", &e[%ld], reef_clone(w, ", place_of(p, o->made));
        print_subject(p, o);
        fprintf(p->file, "));");
        break;
    case OP_NAME: print_name_call(p, o); break;
    case OP_READ:
    case OP_GET_MANY:
    case OP_INDEX:
    case OP_FIND: fprintf(p->file, "/* %s reads only */", op_name((op_kind)o->kind)); break;
    default: print_relating(p, o);
    }
}

static void print_hash(const printer *p, const op *o)
{
    fprintf(p->file, "hash(\"reef_hash\", reef_hash(w));");
    if (o->option == HASH_OF_FORK) fprintf(p->file, "\n    hash(\"of a fork\", hash_of_fork());");
    if (o->option == HASH_IN_LOOP)
        fprintf(p->file, "\n    hash(\"in a loop\", hash_in_loop(%s));", text_of_type(o->type[0]));
    if (o->option == HASH_ANEW) fprintf(p->file, " /* and once more, without what the world keeps */");
}

static const char *flag(const op *o, unsigned option) { return o->option & option ? "true" : "false"; }

static void print_kept(const printer *p, const op *o)
{
    FILE *f = p->file;
    switch ((op_kind)o->kind) {
    case OP_SAVE:
        if (o->option & KEEP_FRESH) fprintf(f, "save(w, NULL");
        else if (o->option & KEEP_FORK) fprintf(f, "save(w, world[%u] ? world[%u] : w", o->n, o->n);
        else fprintf(f, "save(w, w");
        fprintf(f, ", &(reef_save_desc){.raw = %s, .sealed = %s});", o->option & KEEP_PORTABLE ? "false" : "true",
                flag(o, KEEP_SEALED));
        break;
    case OP_DIFF:
        fprintf(f, "if (world[%u]) difference(world[%u], w, %s, %s);", o->n, o->n, flag(o, KEEP_SEALED),
                flag(o, KEEP_BACK));
        break;
    case OP_JOURNAL:
        fprintf(f, "journal(w, %s, %s, %s, %s);", flag(o, KEEP_COMPACT), flag(o, KEEP_READ), flag(o, KEEP_REOPEN),
                flag(o, KEEP_CLOSE));
        break;
    default: print_call_of_entity(p, o);
    }
}

static void print_call_of_copy(const printer *p, const op *o)
{
    uint32_t n = o->n, s = o->list[0];
    FILE *f = p->file;
    switch ((op_kind)o->kind) {
    case OP_FORK:
    case OP_SNAPSHOT_FORK:
        if (o->kind == OP_FORK) fprintf(f, "reef_world *f = reef_fork(w);");
        else fprintf(f, "reef_world *f = reef_snapshot_fork(snapshot[%u]);", s);
        fprintf(f, "\n    if (f && world[%u]) free_world(world[%u]);\n    if (f) world[%u] = f;", n, n, n);
        break;
    case OP_FORK_SWAP:
        fprintf(f, "if (world[%u]) { reef_world *x = w; w = world[%u]; world[%u] = x; }", n, n, n);
        break;
    case OP_FORK_FREE: fprintf(f, "if (world[%u]) free_world(world[%u]);\n    world[%u] = NULL;", n, n, n); break;
    case OP_SNAPSHOT:
        fprintf(f, "reef_snapshot *s = reef_snapshot_take(w);\n");
        fprintf(f, "    if (s) reef_snapshot_free(snapshot[%u]), snapshot[%u] = s;", s, s);
        break;
    case OP_SNAPSHOT_FREE: fprintf(f, "reef_snapshot_free(snapshot[%u]), snapshot[%u] = NULL;", s, s); break;
    case OP_RESTORE:
        if (o->option & OPTION_OTHER_WORLD)
            fprintf(f, "/* reef_restore of a snapshot of another world: OTHER_WORLD */");
        else fprintf(f, "say(\"reef_restore\", reef_restore(w, snapshot[%u]));", s);
        break;
    default: print_kept(p, o);
    }
}

static void print_call(const printer *p, const op *o);

static void print_defer(const printer *p, const op *o)
{
    fprintf(p->file, "{ reef_query q = reef_query_new(w, \"\");\n");
    fprintf(p->file, "    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});\n");
    for (uint32_t i = 0; i < DEFER_STEPS; i++) {
        op step;
        defer_step(o, i, &step);
        fprintf(p->file, "    {\n");
        print_before(p, &step);
        print_call(p, &step);
        fprintf(p->file, "    }\n");
    }
    fprintf(p->file, "    reef_end(&b); reef_query_free(w, q); }");
}

static void print_call_of_query(const printer *p, const op *o)
{
    const char *type = text_of_type(o->type[0]);
    FILE *f = p->file;
    switch ((op_kind)o->kind) {
    case OP_QUERY_NEW: fprintf(f, "query[%u] = reef_query_make(w, &d);", o->n); break;
    case OP_QUERY_FREE:
        fprintf(f, "reef_query_free(w, query[%u]); query[%u] = (reef_query){0, 0, 0};", o->n, o->n);
        break;
    case OP_QUERY_WALK: print_walk(p, o); break;
    case OP_ADD_WHERE:
        fprintf(f, "say(\"reef_add_where\", reef_add_where_id(w, query[%u], %s, NULL));", o->n, type);
        break;
    case OP_REMOVE_WHERE:
        fprintf(f, "say(\"reef_remove_where\", reef_remove_where_id(w, query[%u], %s, NULL));", o->n, type);
        break;
    case OP_SET_WHERE:
        fprintf(f, "say(\"reef_set_where\", reef_set_where_id(w, query[%u], %s, values(%s, 1, %lluu), %u, NULL));",
                o->n, type, type, seed_of(o, 0), o->type[0] < TYPES_MAX ? model_types[o->type[0]].size : 4);
        break;
    case OP_ENABLE_WHERE:
        fprintf(f, "say(\"reef_enable_where\", reef_enable_where_id(w, query[%u], %s, %d, NULL));", o->n, type,
                o->option & 1);
        break;
    case OP_DESTROY_WHERE:
        fprintf(f, "say(\"reef_destroy_where\", reef_destroy_where(w, query[%u], NULL));", o->n);
        break;
    case OP_OBSERVE: fprintf(f, "observe(%u, %s, %uu, %d);", o->n, type, o->list[0], o->option & 1); break;
    case OP_POST:
        fprintf(f, "/* an event %llu from outside, for the model's systems (tests/model/tick.c) */",
                (unsigned long long)o->value);
        break;
    case OP_HISTORY:
        fprintf(f, "/* a history of calls (tests/model/past.c), value %llu */", (unsigned long long)o->value);
        break;
    case OP_MERGE:
        fprintf(
            f,
            "if (world[%u]) say(\"reef_merge\", reef_merge(w, world[%u], &(reef_merge_desc){.drop_names = %d}, NULL));",
            o->n, o->n, o->option & 1);
        break;
    case OP_SHARE:
        fprintf(f, "say(\"reef_share_id\", reef_share_id(w, ");
        print_entity(p, o->list[0]);
        fprintf(f, ", ");
        print_subject(p, o);
        fprintf(f, ", %s));", type);
        break;
    default: print_call_of_copy(p, o);
    }
}

static void print_call(const printer *p, const op *o)
{
    char text[200];
    const char *type = text_of_type(o->type[0]);
    FILE *f = p->file;
    fprintf(f, "    ");
    switch ((op_kind)o->kind) {
    case OP_CREATE: print_making(p, o, o->option & 1 ? "reef_create_entity(w)" : "reef_create(w)"); break;
    case OP_RESERVE_ID: print_making(p, o, "reef_reserve_id(w)"); break;
    case OP_RESERVE_RANGE:
        snprintf(text, sizeof text, "reef_reserve_range(w, %u)", o->n);
        print_making(p, o, text);
        break;
    case OP_SPAWN:
        snprintf(text, sizeof text, "reef_spawn_values(w, v, %u)", o->count);
        print_making(p, o, text);
        break;
    case OP_SPAWN_MANY:
        fprintf(f, "say(\"reef_spawn_many_values\", reef_spawn_many_values(w, %u, e + %ld, v, %u));", o->n,
                o->n ? place_of(p, o->made) : 0, o->count);
        break;
    case OP_CREATE_AS:
        fprintf(f, "{ reef_entity x = {%uu, %uu}; ", o->list[0], o->list[1]);
        fprintf(f, "if (say(\"reef_create_as\", reef_create_as(w, x)) == REEF_OK) e[%ld] = x; }", place_of(p, o->made));
        break;
    case OP_BUNDLE_NEW: fprintf(f, "bundle[%u] = reef_bundle_new(w, parts, %u);", o->n, o->count); break;
    case OP_BUNDLE_FREE: fprintf(f, "reef_bundle_free(bundle[%u]); bundle[%u] = NULL;", o->n, o->n); break;
    case OP_BUNDLE_SPAWN:
        snprintf(text, sizeof text, "bundle[%u] ? reef_spawn_bundle(w, bundle[%u], packed) : e[%ld]", o->n, o->n,
                 place_of(p, o->made));
        print_making(p, o, text);
        break;
    case OP_DESTROY_MANY:
        fprintf(f, "number(\"reef_destroy_many\", reef_destroy_many(w, list, sizeof list / sizeof list[0]));");
        break;
    case OP_DESTROY_WITH:
        fprintf(f, "say(\"reef_destroy_where\", reef_destroy_where(w, every(t, %u), NULL));", o->count);
        break;
    case OP_CLEAR_TYPE:
        fprintf(f, "say(\"reef_remove_where\", reef_remove_where_id(w, every((reef_component[]){%s}, 1), %s, NULL));",
                type, type);
        break;
    case OP_WORLD_CLEAR: fprintf(f, "say(\"reef_world_clear\", reef_world_clear(w));"); break;
    case OP_RESERVE: fprintf(f, "say(\"reef_reserve\", reef_reserve(w, %u));", o->n); break;
    case OP_RESERVE_FOR:
        fprintf(f, "say(\"reef_reserve_for\", reef_reserve_for(w, %u, t, %u));", o->n, o->count);
        break;
    case OP_SHRINK: fprintf(f, "say(\"reef_shrink\", reef_shrink(w));"); break;
    case OP_SORT: print_sort(p, o); break;
    case OP_USE: fprintf(f, "say(\"reef_world_use\", reef_world_use(w, %s));", type); break;
    case OP_WRITE_MANY:
        fprintf(f, "number(\"reef_write_many_id\", reef_write_many_id(w, %s, list, %u, values(%s, %u, %lluu), %u));",
                type, o->n, type, o->n, seed_of(o, 0), model_types[o->type[0]].size);
        break;
    case OP_DEFER: print_defer(p, o); break;
    case OP_TICK:
        fprintf(f, "/* a tick of the model's systems (tests/model/tick.c), value %llu */",
                (unsigned long long)o->value);
        break;
    case OP_HASH: print_hash(p, o); break;
    default: print_call_of_query(p, o);
    }
    fprintf(f, "\n");
}

static void print_op(const printer *p, const op *o)
{
    fprintf(p->file, "    {\n");
    print_before(p, o);
    if (o->fail_at) fprintf(p->file, "    fail_at = %u, fail_on = %u, failed = 0;\n", o->fail_at, o->fail_on);
    print_call(p, o);
    if (o->fail_at) {
        fprintf(p->file, "    fail_at = 0;\n    if (failed) { /* again, with memory */\n");
        print_call(p, o);
        fprintf(p->file, "    }\n");
    }
    fprintf(p->file, "    }\n");
}

/* ---- what stands before ---- */

static const char *const prelude[] = {
    "#include <reef/all.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
    "static reef_world *w;\n"
    "static unsigned fail_at, fail_on, failed, live;\n\n"
    "static int fails(void)\n{\n"
    "    if (fail_at == 0 || fail_at-- > 1) return 0;\n"
    "    fail_at = fail_on;\n    return failed = 1;\n}\n"
    "static void *resize(void *context, void *block, size_t old, size_t bytes, size_t align)\n{\n"
    "    (void)context;\n"
    "    if (bytes && fails()) return NULL;\n"
    "    void *p = bytes ? aligned_alloc(align < 16 ? 16 : align, (bytes + 4095) / 4096 * 4096) : NULL;\n"
    "    if (p) memset(p, 0xA5, bytes);\n"
    "    if (p && old) memcpy(p, block, old < bytes ? old : bytes);\n"
    "    if (old) free(block);\n"
    "    return p;\n}\n",
    "static uint64_t mix(uint64_t seed, uint64_t number)\n{\n"
    "    uint64_t x = seed + (number + 1) * 0x9E3779B97F4A7C15u;\n"
    "    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;\n"
    "    x = (x ^ x >> 27) * 0x94D049BB133111EBu;\n"
    "    return (x ^ x >> 31) | 1;\n}\n\n",
    "/* Owning components: a pointer to a payload, its value, and for some their own address. */\n"
    "typedef struct Own { void *self; uint64_t *payload, value, check; } Own;\n"
    "typedef struct Bytes { uint64_t *payload, value; } Bytes;\n"
    "static uint64_t *payload(uint64_t v) { uint64_t *p = malloc(8); *p = v; live++; return p; }\n"
    "static uint64_t given(reef_entity e, const void *args) { return args ? *(const uint64_t *)args : "
    "mix(reef_entity_bits(e), 77); }\n"
    "static reef_status own_construct(void *c, reef_world *x, reef_entity e, void *slot, const void *args)\n"
    "{ (void)c; (void)x; if (fails()) return REEF_NO_MEMORY; uint64_t v = given(e, args); *(Own *)slot = (Own){slot, "
    "payload(v), v, 0x0E5}; return REEF_OK; }\n"
    "static reef_status own_copy(void *c, void *to, const void *from)\n"
    "{ (void)c; if (fails()) return REEF_NO_MEMORY; const Own *f = from; *(Own *)to = (Own){to, payload(*f->payload), "
    "f->value, 0x0E5}; return REEF_OK; }\n"
    "static void own_move(void *c, void *to, void *from)\n"
    "{ (void)c; memcpy(to, from, sizeof(Own)); memset(from, 0xEE, sizeof(Own)); ((Own *)to)->self = to; }\n"
    "static void own_destroy(void *c, void *slot)\n"
    "{ (void)c; if (((Own *)slot)->self != slot) abort(); free(((Own *)slot)->payload); live--; memset(slot, 0xEE, "
    "sizeof(Own)); }\n"
    "static void mover_move(void *c, void *to, void *from)\n"
    "{ (void)c; memcpy(to, from, offsetof(Own, check)); memset(from, 0xEE, offsetof(Own, check)); if (((Own "
    "*)to)->payload) ((Own *)to)->self = to; }\n"
    "static void mover_destroy(void *c, void *slot)\n"
    "{ (void)c; Own *o = slot; if (o->payload) { if (o->self != slot) abort(); free(o->payload); live--; } "
    "memset(slot, 0xEE, offsetof(Own, check)); }\n"
    "static reef_status bytes_construct(void *c, reef_world *x, reef_entity e, void *slot, const void *args)\n"
    "{ (void)c; (void)x; if (fails()) return REEF_NO_MEMORY; uint64_t v = given(e, args); *(Bytes *)slot = "
    "(Bytes){payload(v), v}; return REEF_OK; }\n"
    "static reef_status bytes_copy(void *c, void *to, const void *from)\n"
    "{ (void)c; if (fails()) return REEF_NO_MEMORY; const Bytes *f = from; *(Bytes *)to = "
    "(Bytes){payload(*f->payload), f->value}; return REEF_OK; }\n"
    "static void bytes_destroy(void *c, void *slot) { (void)c; free(((Bytes *)slot)->payload); live--; memset(slot, "
    "0xEE, "
    "sizeof(Bytes)); }\n"
    "static reef_status maker_construct(void *c, reef_world *x, reef_entity e, void *slot, const void *args)\n"
    "{ (void)c; (void)x; if (fails()) return REEF_NO_MEMORY; uint64_t v = given(e, args); memcpy(slot, &v, 8); return "
    "REEF_OK; }\n",
    "static const reef_hooks own = {own_construct, own_copy, own_move, own_destroy, NULL, false, true};\n"
    "static const reef_hooks mover = {NULL, NULL, mover_move, mover_destroy, NULL, false, true};\n"
    "static const reef_hooks bytes = {bytes_construct, bytes_copy, NULL, bytes_destroy, NULL, true, false};\n"
    "static const reef_hooks maker = {maker_construct, NULL, NULL, NULL, NULL, false, false};\n\n"
    "static void put(reef_component c, void *slot, uint64_t value)\n{\n"
    "    reef_type_info i;\n    reef_type_get(c, &i);\n"
    "    if (!i.hooks || !i.hooks->destroy) for (uint32_t k = 0; k < i.size; k += 8) {\n"
    "        uint64_t word = value * (2 * (uint64_t)(k / 8) + 1);\n"
    "        memcpy((char *)slot + k, &word, i.size - k < 8 ? i.size - k : 8);\n    }\n"
    "    else if (i.hooks->bytes_move) *(Bytes *)slot = (Bytes){payload(value), value};\n"
    "    else { Own o = {slot, payload(value), value, 0x0E5}; memcpy(slot, &o, i.size); }\n}\n"
    "static const void *values(reef_component c, uint32_t n, uint64_t seed)\n{\n"
    "    reef_type_info i;\n    reef_type_get(c, &i);\n"
    "    char *p = aligned_alloc(4096, ((size_t)i.size * n + 4096) / 4096 * 4096);\n"
    "    for (uint32_t k = 0; k < n; k++) put(c, p + (size_t)k * i.size, mix(seed, k) & (i.hooks && i.hooks->unique ? "
    "~0xE000ull : ~0ull));\n"
    "    return p;\n}\n"
    "static const void *from(reef_component c, reef_entity e, uint64_t seed)\n"
    "{ const void *p = reef_get_id(w, e, c); return p ? p : values(c, 1, seed); }\n"
    "static void write(void *slot, reef_component c, uint64_t value)\n"
    "{ printf(\"reef_mut_id: %s\\n\", slot ? \"there\" : \"NULL\"); reef_type_info i; reef_type_get(c, &i);"
    " if (!slot) return; if (!i.hooks || !i.hooks->destroy) { put(c, slot, value); return; }"
    " uint64_t **payload = i.hooks->bytes_move ? &((Bytes *)slot)->payload : &((Own *)slot)->payload;"
    " if (*payload) payload[1] = (void *)(uintptr_t)(**payload = value); }\n",
    "static reef_query every(const reef_component *t, uint32_t n)\n{\n"
    "    reef_query_desc d = {.entities = REEF_EITHER};\n    uint32_t many = 0;\n"
    "    for (uint32_t i = 0; i < n; i++) {\n        uint32_t k = 0;\n"
    "        while (k < many && d.terms[k].component.id != t[i].id) k++;\n"
    "        if (k == many) d.terms[many++] = (reef_term){.component = {t[i].id ? t[i].id : UINT32_MAX}, .access = "
    "REEF_WITH, .enabled = REEF_EITHER};\n    }\n"
    "    if (n == 0 || t[0].id != reef_id(ReefPrefab).id) d.terms[many] = (reef_term){.component = "
    "reef_id(ReefPrefab), .op = REEF_OPTIONAL};\n"
    "    return reef_query_make(w, &d); /* freed with the world */\n}\n",
    "static reef_component key_type;\nstatic int key_coarse;\n"
    "static uint64_t key(const void *value)\n{\n    reef_type_info i;\n    uint64_t k = 0;\n    "
    "reef_type_get(key_type, &i);\n"
    "    if (!i.hooks || !i.hooks->destroy) memcpy(&k, value, i.size < 8 ? i.size : 8);\n"
    "    else if (i.hooks->bytes_move) k = *((const Bytes *)value)->payload;\n"
    "    else if (((const Own *)value)->payload) k = *((const Own *)value)->payload;\n"
    "    return key_coarse ? k % 5 : k;\n}\n",
    "static reef_entity next_of(reef_entity e) { if (e.generation) e.generation++; return e; }\n"
    "static reef_status say(const char *call, reef_status s) { printf(\"%s: %s\\n\", call, reef_status_name(s)); "
    "return s; }\n"
    "static void number(const char *call, uint32_t n) { printf(\"%s: %u\\n\", call, n); }\n"
    "static void there(const char *call, const void *p) { printf(\"%s: %s\\n\", call, p ? \"there\" : \"NULL\"); }\n"
    "static void made(const char *call, reef_entity *to, reef_entity e)\n"
    "{ *to = e; printf(\"%s: {%u, %u}%s%s\\n\", call, e.index, e.generation, e.generation ? \"\" : \" \","
    " e.generation ? \"\" : reef_status_name(reef_last_error(w).status)); }\n"
    "static void walk(reef_world *x, reef_query q, int writes)\n{\n"
    "    (void)writes;\n    if (reef_query_is_null(q)) return;\n"
    "    for (reef_block b = reef_begin(x, q); reef_next(&b);)\n"
    "        for (uint32_t i = 0; i < b.count; i++) printf(\" {%u, %u}\", b.entities[i].index, "
    "b.entities[i].generation);\n"
    "    printf(\"\\n\");\n}\n"
    "static reef_component type(const char *name, uint32_t size, uint32_t align, reef_home home, uint32_t page_rows, "
    "const reef_hooks "
    "*hooks, "
    "reef_on_fork on_fork, bool track_rows,\n    const char *unique, reef_component base, const reef_field *fields, "
    "uint32_t count)\n{\n"
    "    reef_hooks h = hooks ? *hooks : (reef_hooks){0};\n    h.on_fork = on_fork;\n    h.track_rows = track_rows;\n  "
    "  h.unique = unique;\n"
    "    reef_type_desc d = {name, size, align, home, hooks || on_fork || track_rows || unique ? &h : NULL, fields, "
    "count, "
    "page_rows, base};\n"
    "    return reef_type_new(&d, NULL);\n}\n"
    "static void require(reef_component c, const reef_component *required, uint32_t n)\n{\n"
    "    reef_type_info i;\n    if (!reef_type_get(c, &i)) return;\n"
    "    reef_type_desc d = {i.name, i.size, i.align, i.home, i.hooks, NULL, 0, i.page_rows, i.base, 0, {0}, required, "
    "n};\n"
    "    reef_type_new(&d, NULL);\n}\n"
    "static void hear(const reef_notice *n)\n{\n    for (uint32_t i = 0; i < n->count; i++)\n"
    "        printf(\"  %s: kind %d of {%u, %u}\\n\", (const char *)n->context, (int)n->kind, n->entities[i].index, "
    "n->entities[i].generation);\n}\n"
    "static void observe(uint32_t slot, reef_component c, uint32_t events, bool collected)\n{\n"
    "    static char name[8][2] = {\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\"};\n"
    "    reef_observer_id was = reef_observer_find(w, name[slot]);\n"
    "    reef_observer_desc d = {.name = name[slot], .function = hear, .context = name[slot], .events = events, "
    ".component = c, .collected = collected};\n"
    "    if (was.generation) say(\"reef_observer_remove\", reef_observer_remove(w, was));\n"
    "    else if (!reef_observer_new(w, &d).generation) say(\"reef_observer_new\", reef_last_error(w).status);\n}\n"
    "static void hash(const char *how, uint64_t h) { printf(\"%s: %016llx\\n\", how, (unsigned long long)h); }\n"
    "static uint64_t hash_of_fork(void)\n"
    "{ reef_world *f = reef_fork(w); uint64_t h = f ? reef_hash(f) : 0; if (f) reef_world_free(f); return h; }\n"
    "static uint64_t hash_in_loop(reef_component c)\n{\n"
    "    reef_query_desc d = {.terms = {{.component = c, .access = REEF_WITH}}};\n    reef_query q = "
    "reef_query_make(w, &d);\n    uint64_t h "
    "= 0;\n"
    "    reef_block b = reef_begin(w, q);\n    if (reef_next(&b)) h = reef_hash(w), reef_end(&b);\n"
    "    reef_query_free(w, q);\n    return h;\n}\n\n",
    "static reef_journal *open_journal;\nstatic reef_world *journal_of;\n"
    "static void free_journal(void) { reef_journal_close(open_journal); open_journal = NULL; }\n"
    "static void free_world(reef_world *x) { if (journal_of == x) free_journal(); reef_world_free(x); }\n"
    "static bool mend(void *c, reef_entity e, reef_component type, const void *data, size_t size)\n{\n"
    "    (void)c, (void)e, (void)size;\n    reef_type_info i;\n    reef_type_get(type, &i);\n    uint64_t v;\n"
    "    if (size == 100) memcpy(&v, data, 8), put(type, (void *)(uintptr_t)data, v);\n"
    "    if (!i.hooks || !i.hooks->destroy) return true;\n"
    "    if (i.hooks->bytes_move) { const Bytes *b = data; *b->payload = b->value; return true; }\n"
    "    Own *o = (void *)(uintptr_t)data;\n    if (o->payload) *o->payload = o->value;\n"
    "    else if (o->value) o->payload = payload(o->value), o->self = o;\n    return true;\n}\n"
    "static void save(reef_world *x, reef_world *into, const reef_save_desc *d)\n{\n    reef_bytes b;\n"
    "    if (say(\"reef_save_bytes\", reef_save_bytes(x, &b, d)) != REEF_OK) return;\n"
    "    reef_world *y = into ? into : reef_world_new(NULL);\n"
    "    if (say(\"reef_load_bytes\", reef_load_bytes(y, b.data, b.size, NULL)) == REEF_OK) reef_visit_world(y, mend, "
    "NULL);\n"
    "    hash(\"loaded\", reef_hash(y));\n    reef_bytes_free(&b);\n    if (!into) reef_world_free(y);\n}\n"
    "static void apply(reef_world *x, reef_bytes *b)\n{\n"
    "    if (say(\"reef_diff_apply\", reef_diff_apply(x, b->data, b->size)) == REEF_OK) reef_visit_world(x, mend, "
    "NULL);\n"
    "    hash(\"applied\", reef_hash(x));\n    reef_bytes_free(b);\n}\n"
    "static void difference(reef_world *before, reef_world *after, bool sealed, bool back)\n{\n"
    "    const reef_save_desc d = {.raw = true, .sealed = sealed};\n    reef_bytes to, from = {0};\n"
    "    if (journal_of == before) free_journal();\n"
    "    if (say(\"reef_diff_bytes\", reef_diff_bytes(before, after, &to, &d)) != REEF_OK) return;\n"
    "    if (back) say(\"reef_diff_bytes\", reef_diff_bytes(after, before, &from, &d));\n"
    "    apply(before, &to);\n    if (back) apply(before, &from);\n}\n",
    "static void journal(reef_world *x, bool compact, bool read, bool reopen, bool close)\n{\n"
    "    reef_journal_desc d = {.raw = true, .unsynced = true, .fresh = true};\n"
    "    if (journal_of != x) free_journal();\n"
    "    if (open_journal) say(\"append\", compact ? reef_journal_compact(open_journal) : "
    "reef_journal_append(open_journal));\n"
    "    else if (!(journal_of = x, open_journal = reef_journal_open(x, \"model.journal\", &d))) say(\"open\", "
    "reef_last_error(x).status);\n"
    "    if (read) {\n        reef_world *y = reef_world_new(NULL);\n"
    "        if (say(\"reef_load\", reef_load(y, \"model.journal\", NULL)) == REEF_OK) reef_visit_world(y, mend, "
    "NULL);\n"
    "        hash(\"read\", reef_hash(y));\n        reef_world_free(y);\n    }\n"
    "    if (reopen && open_journal) {\n        free_journal();\n        d.fresh = false;\n"
    "        if (!(open_journal = reef_journal_open(x, \"model.journal\", &d))) say(\"reopen\", "
    "reef_last_error(x).status);\n"
    "        else reef_visit_world(x, mend, NULL);\n    }\n    if (close) free_journal();\n}\n\n"};

static void print_unused(const printer *p)
{
    static const char *const names[] = {"put",          "values", "from", "write",      "next_of", "say",
                                        "number",       "there",  "made", "walk",       "hash",    "hash_of_fork",
                                        "hash_in_loop", "key",    "save", "difference", "journal", "observe"};
    fprintf(p->file, "    (void)bundle, (void)query, (void)e, (void)world, (void)snapshot;\n");
    fprintf(p->file, "    (void)own, (void)mover, (void)bytes, (void)maker;\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) fprintf(p->file, "    (void)%s;\n", names[i]);
}

/* The names and the struct that fields of the model's types have, where such a type is made. */
static void print_fields_parts(const printer *p, const model_type *t)
{
    for (uint32_t i = 0; i < t->field_count; i++) {
        const reef_names *names = t->fields[i].names;
        const reef_field_list *list = t->fields[i].nested;
        if (names) {
            fprintf(p->file, "    static const reef_named_value values_of_%s[] = {", names->name);
            for (uint32_t k = 0; k < names->count; k++)
                fprintf(p->file, "{\"%s\", %lld}, ", names->values[k].name, (long long)names->values[k].value);
            fprintf(p->file, "};\n    static const reef_names names_of_%s = {\"%s\", values_of_%s, %u, %d};\n",
                    names->name, names->name, names->name, names->count, names->mask);
        }
        if (list) {
            fprintf(p->file, "    static const reef_field point_fields[] = {");
            for (uint32_t k = 0; k < list->count; k++)
                fprintf(p->file, "{\"%s\", REEF_U16, %u, %u, NULL, 0, 0, NULL, NULL}, ", list->fields[k].name,
                        list->fields[k].offset, list->fields[k].bytes);
            fprintf(p->file, "};\n    static const reef_field_list point = {point_fields, %u, %u};\n", list->count,
                    list->bytes);
        }
    }
}

static void print_fields(const printer *p, const model_type *t)
{
    static const char *const kinds[] = {"(reef_kind)0", [REEF_U8] = "REEF_U8", [REEF_U16] = "REEF_U16",
                                        [REEF_U32] = "REEF_U32", [REEF_U64] = "REEF_U64"};
    fprintf(p->file, t->field_count ? "(reef_field[]){" : "NULL");
    for (uint32_t i = 0; i < t->field_count; i++) {
        const reef_field *f = &t->fields[i];
        fprintf(p->file, "{\"%s\", %s, %u, %u, NULL, 0, 0, %s%s, %s}, ", f->name, kinds[f->kind], f->offset, f->bytes,
                f->names ? "&names_of_" : "NULL", f->names ? f->names->name : "", f->nested ? "&point" : "NULL");
    }
    fprintf(p->file, "%s, %u);\n", t->field_count ? "}" : "", t->field_count);
}

static void print_type_lines(const printer *p, const model *m)
{
    static const char *const hooks[] = {"NULL", "NULL", "NULL", "NULL", "&own", "&mover", "&bytes", "&maker"};
    static const char *const home[] = {
        [REEF_TABLE] = "REEF_TABLE",   [REEF_BIT] = "REEF_BIT",    [REEF_SPARSE] = "REEF_SPARSE",
        [REEF_PAGED] = "REEF_PAGED",   [REEF_COLD] = "REEF_COLD",  [REEF_MULTI] = "REEF_MULTI",
        [REEF_SHARED] = "REEF_SHARED", [REEF_SPLIT] = "REEF_SPLIT"};
    static const char *const on_fork[] = {"REEF_FORK_COPY", "REEF_FORK_RESET", "REEF_FORK_SKIP"};
    for (uint32_t i = 0; i <= TYPES_MAX; i++) { /* in the order in which the model makes them: ids could matter */
        uint32_t rank = i == 0 ? TYPE_BASE : ((i - 1) * 11 + 5) % TYPES_MAX;
        const model_type *t = &model_types[rank];
        if (i && rank == TYPE_BASE) continue;
        if (!((p->types | (m->strict ? m->reference.known : 0)) >> rank & 1)) continue;
        if (t->sort == SORT_SCRIPT) { /* with bytes that name no class */
            fprintf(p->file, "    reef_component T%s = reef_script_type();\n", t->name);
            continue;
        }
        print_fields_parts(p, t);
        fprintf(p->file, "    reef_component T%s = type(\"%s\", %u, %u, %s, %u, %s, %s, %d, %s, %s%s, ", t->name,
                t->name, t->size, t->align, home[t->home], t->page_rows, hooks[t->sort], on_fork[t->on_fork],
                t->tracked, t->unique ? "\"key\"" : "NULL", t->base < TYPES_MAX ? "T" : "(reef_component){0}",
                t->base < TYPES_MAX ? model_types[t->base].name : "");
        print_fields(p, t);
    }
    for (uint32_t i = 0; i < TYPES_MAX; i++) {
        if (model_types[i].required == 0 || !((p->types | (m->strict ? m->reference.known : 0)) >> i & 1)) continue;
        uint32_t n = 0;
        fprintf(p->file, "    require(T%s, (reef_component[]){", model_types[i].name);
        for (uint32_t k = 0; k < TYPES_MAX; k++)
            if (model_types[i].required >> k & 1) fprintf(p->file, "%sT%s", n++ ? ", " : "", model_types[k].name);
        fprintf(p->file, "}, %u);\n", n);
    }
    fprintf(p->file, "    (void)require;\n");
}

/* Types of relations, by rank. */
static void print_relations(const printer *p, const run_options *o)
{
    if (!seed_has_relations(o->seed)) return;
    fprintf(p->file, "    reef_component R[%d];\n", RELATIONS);
    for (uint32_t i = 0; i < RELATIONS; i++) {
        const model_relation *x = &model_relations[i];
        fprintf(p->file,
                "    R[%u] = reef_type_new(&(reef_type_desc){.name = \"%s\", .relation = %u | "
                "REEF_IS_RELATION",
                i, x->name, x->options);
        if (x->data < TYPES_MAX) fprintf(p->file, ", .data = %s", text_of_type(x->data));
        fprintf(p->file, "}, NULL);\n");
    }
}

static uint32_t types_of(const op_list *list, const run_options *o)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < RELATIONS && seed_has_relations(o->seed); i++)
        if (model_relations[i].data < TYPES_MAX) set |= 1u << model_relations[i].data;
    for (uint32_t i = 0; i < list->count; i++)
        for (uint32_t k = 0; k < OP_TYPES; k++)
            if ((k < list->op[i].count || k == 0) && list->op[i].type[k] < TYPES_MAX) set |= 1u << list->op[i].type[k];
    set = types_along(set);
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (set >> t & 1 && model_types[t].base < TYPES_MAX) set |= 1u << model_types[t].base;
    return set;
}

void print_program(FILE *file, const op_list *list, const run_options *o, const char *message)
{
    printer p = {file, list, o, types_of(list, o)};
    uint32_t entities = 1;
    model m;
    model_start(&m, o->seed, o->types, false);
    for (uint32_t i = 0; i < list->count; i++) entities += op_makes(&list->op[i]);
    fprintf(file, "/* %u operations of seed %llu. The model test says:\n * %s */\n", list->count,
            (unsigned long long)o->seed, message);
    for (size_t i = 0; i < sizeof prelude / sizeof prelude[0]; i++) fputs(prelude[i], file);
    fprintf(file, "int main(void)\n{\n    static reef_entity e[%u];\n    reef_bundle *bundle[%d] = {0};\n", entities,
            SLOTS);
    fprintf(file, "    reef_query query[%d] = {0};\n    char text[400];\n", SLOTS);
    fprintf(file, "    reef_world *world[%d] = {0};\n    reef_snapshot *snapshot[%d] = {0};\n", FORKS, SNAPSHOTS);
    print_type_lines(&p, &m);
    print_relations(&p, o);
    fprintf(file,
            "    reef_world_config config = {.allocator = {resize, NULL}, .strict = %d, .never_reuse = %d, "
            ".entities_max = %u};\n",
            m.strict, m.never_reuse, m.entities_max);
    fprintf(file, "    w = reef_world_new(&config);\n");
    for (uint32_t t = 0; t < TYPES_MAX; t++) {
        if (m.strict && (m.reference.known >> t & 1))
            fprintf(file, "    reef_world_use(w, T%s);\n", model_types[t].name);
        else if (p.types >> t & 1) fprintf(file, "    (void)T%s;\n", model_types[t].name);
    }
    print_unused(&p);
    for (uint32_t i = 0; i < list->count; i++) print_op(&p, &list->op[i]);
    fprintf(file, "    reef_status s = reef_validate(w, text, sizeof text);\n");
    fprintf(file, "    printf(\"reef_validate: %%s %%s\\n\", reef_status_name(s), s ? text : \"\");\n");
    fprintf(file, "    reef_print_world(w, stdout, 100);\n");
    fprintf(file, "    for (int i = 0; i < %d; i++) if (world[i]) free_world(world[i]);\n", FORKS);
    fprintf(file, "    for (int i = 0; i < %d; i++) reef_snapshot_free(snapshot[i]);\n    free_world(w);\n", SNAPSHOTS);
    fprintf(file, "    printf(\"%%u payloads left\\n\", live);\n    return 0;\n}\n");
    model_stop(&m);
}
