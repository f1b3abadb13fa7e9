/* An editor with undo and redo. Each step keeps the state after it, which costs only what the step changed. Going to a
 * state is one call. The difference of two states says what a step changed; the editor itself doesn't know what its
 * commands do. */
#include <reef.h>
#include <reef/type_info.h>
#include <reef/diff.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int32_t x, y, width, height;
} Box;
typedef struct {
    uint32_t color;
} Paint;
typedef struct {
    reef_entity from, to;
} Arrow;
REEF_COMPONENT(Box);
REEF_COMPONENT(Paint);
REEF_COMPONENT_IN(Arrow, REEF_SPARSE);
REEF_TAG(Selected);
REEF_FIELDS(Box, x, y, width, height);
REEF_FIELDS(Paint, color);
REEF_FIELDS(Arrow, from, to);

enum { STEPS_MAX = 64 };

typedef struct editor {
    reef_world *drawing;
    reef_snapshot *state[STEPS_MAX + 1]; /* the state before the first step, and the one after each step */
    const char *step[STEPS_MAX + 1];     /* the name of the step that led to each state */
    int at, last;
} editor;

/* ---- what changed ---- */

static void print_field(const reef_field *f, const void *was, const void *is)
{
    int32_t a, b;
    memcpy(&a, (const char *)was + f->offset, sizeof a);
    memcpy(&b, (const char *)is + f->offset, sizeof b);
    if (f->kind == REEF_U32) printf(" %s #%06x -> #%06x", f->name, (unsigned)a, (unsigned)b);
    else printf(" %s %d -> %d", f->name, (int)a, (int)b);
}

static void print_change(const reef_change *c)
{
    static const char *const kinds[] = {"", "gone", "new", "named", "lost", "got", "changed", "disabled", "enabled"};
    reef_type_info type = {0};
    printf("    %u %s", (unsigned)c->entity.index, kinds[c->kind]);
    if (c->kind == REEF_CHANGE_NAME) printf(" %s", c->is ? (const char *)c->is : "nothing");
    if (reef_type_get(c->component, &type)) printf(" %s", type.name);
    for (uint32_t i = 0; c->kind == REEF_CHANGE_VALUE && i < type.field_count; i++)
        if (reef_change_has_field(c, type.fields, i)) print_field(&type.fields[i], c->was, c->is);
    printf("\n");
}

static void print_difference(const editor *e, int from, int to)
{
    reef_world *before = reef_snapshot_fork(e->state[from]), *after = reef_snapshot_fork(e->state[to]);
    reef_diff *d = reef_diff_new(before, after);
    for (const reef_change *c; (c = reef_diff_next(d)) != NULL;) print_change(c);
    reef_diff_free(d);
    reef_world_free(before);
    reef_world_free(after);
}

/* ---- steps ---- */

static void editor_begin(editor *e)
{
    *e = (editor){.drawing = reef_world_new(NULL)};
    e->state[0] = reef_snapshot_take(e->drawing);
}

/* The drawing has changed: forgets the steps that were undone. */
static void step_done(editor *e, const char *name)
{
    while (e->last > e->at) reef_snapshot_free(e->state[e->last--]);
    e->last = ++e->at;
    e->step[e->at] = name;
    e->state[e->at] = reef_snapshot_take(e->drawing);
    printf("%s\n", name);
    print_difference(e, e->at - 1, e->at);
}

static void go_to(editor *e, int at, const char *word, const char *name)
{
    if (at < 0 || at > e->last) {
        printf("nothing to %s\n", word);
        return;
    }
    printf("%s: %s\n", word, name);
    print_difference(e, e->at, at);
    reef_restore(e->drawing, e->state[at]);
    e->at = at;
}
static void undo(editor *e) { go_to(e, e->at - 1, "undo", e->step[e->at]); }
static void redo(editor *e) { go_to(e, e->at + 1, "redo", e->at < e->last ? e->step[e->at + 1] : ""); }

static void editor_end(editor *e)
{
    while (e->last >= 0) reef_snapshot_free(e->state[e->last--]);
    reef_world_free(e->drawing);
}

int main(void)
{
    editor e;
    editor_begin(&e);
    reef_world *w = e.drawing;

    reef_entity house = reef_spawn(w, reef_with(Box, 10, 10, 40, 30), reef_with(Paint, 0xaa3311));
    reef_set_name(w, house, "house");
    step_done(&e, "draw a house");

    reef_entity tree = reef_spawn(w, reef_with(Box, 70, 5, 10, 35), reef_with(Paint, 0x228833));
    reef_entity path = reef_spawn(w, reef_with(Arrow, tree, house));
    step_done(&e, "draw a tree, and a path to the house");

    reef_mut(w, house, Box)->x += 15;
    reef_mut(w, house, Box)->height = 50;
    reef_mut(w, house, Paint)->color = 0xcccc55;
    reef_add(w, house, Selected);
    step_done(&e, "move, stretch and paint the house");

    reef_destroy(w, tree);
    reef_destroy(w, path);
    step_done(&e, "fell the tree");

    undo(&e);
    undo(&e);
    redo(&e);
    const Arrow *a = reef_get(w, path, Arrow);
    printf("the path leads from %u to %s\n", (unsigned)a->from.index, reef_name(w, a->to));

    reef_mut(w, tree, Paint)->color = 0xdd8800;
    step_done(&e, "autumn");
    redo(&e); /* changes nothing: the tree was felled in a future that is gone */
    while (e.at > 0) undo(&e);
    undo(&e);
    printf("entities: %u\n", (unsigned)reef_count_alive(w));
    editor_end(&e);
    return 0;
}
