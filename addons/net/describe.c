/* What must be the same in all programs of a session, as a text with a line for each: version, time step, description
 * of inputs, floats, modules, types that systems touch with their fields, systems with what they touch, in their order.
 * Its digest travels with a HELLO. When it differs, the host sends its text, and who wants to join names the first line
 * that is another one. Other types are compared when the state is loaded. */
#include "net.h"
#include <math.h>
#include <reef.h>
#include <reef/all.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct text {
    char *bytes;
    size_t count, room;
} text;

static void add(text *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const bool fits = t->bytes && t->count < t->room;
    const int n = vsnprintf(fits ? t->bytes + t->count : NULL, fits ? t->room - t->count : 0, format, values);
    va_end(values);
    if (n > 0) t->count += (size_t)n;
}

/* ---- floats ----
 * Sums, products, quotients and roots of floats and doubles, whose results differ where a compiler contracts or
 * reorders, where intermediate results are wider, or small numbers are flushed to zero. */

uint64_t net__digest(const char *bytes, size_t count)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t floats(void)
{
    volatile float f[6] = {1.1f, 3.3f, 1e-38f, 7.7f, 0.1f, 16777217.0f};
    volatile double d[4] = {1.1, 3.3, 1e-308, 0.1};
    float results[24];
    double doubles[16];
    for (int i = 0; i < 24; i++) {
        const float a = f[i % 6], b = f[(i / 2 + 1) % 6], c = f[(i / 3 + 2) % 6];
        results[i] = i % 2 ? a * b + c : sqrtf(a / (b + c)) - a * 0.3f;
    }
    for (int i = 0; i < 16; i++) {
        const double a = d[i % 4], b = d[(i / 2 + 1) % 4], c = d[(i / 3 + 2) % 4];
        doubles[i] = i % 2 ? a * b + c : sqrt(a / (b + c)) - a * 0.3;
    }
    uint64_t h = 0;
    for (int i = 0; i < 24; i++) {
        uint32_t bits;
        memcpy(&bits, &results[i], sizeof bits);
        h = (h ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (int i = 0; i < 16; i++) {
        uint64_t bits;
        memcpy(&bits, &doubles[i], sizeof bits);
        h = (h ^ bits ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return h;
}

/* ---- types and systems ---- */

static void type_add(text *t, const char *what, reef_component type)
{
    static const char *const kinds[] = {"?",   "bool", "i8",  "u8",  "i16", "u16",  "i32",
                                        "u32", "i64",  "u64", "f32", "f64", "char", "entity"};
    reef_type_info i;
    if (!reef_type_get(type, &i)) return;
    add(t, "%s %s: %u bytes, home %d", what, i.name, i.size, (int)i.home);
    for (uint32_t k = 0; k < i.field_count; k++) {
        const reef_field *f = &i.fields[k];
        add(t, ", %s %s at %u (%u)", f->name, kinds[f->kind <= REEF_ENTITY ? f->kind : 0], f->offset, f->bytes);
        if (f->lowest != 0 || f->highest != 0) add(t, " %.17g...%.17g", f->lowest, f->highest);
        for (uint32_t n = 0; f->names && n < f->names->count; n++)
            add(t, " %s=%lld", f->names->values[n].name, (long long)f->names->values[n].value);
    }
    add(t, "\n");
}

size_t net__type_text(reef_component type, char *bytes, size_t size)
{
    text t = {bytes, 0, size + 1};
    type_add(&t, "type", type);
    if (t.count > size) t.count = size;
    if (t.count && bytes[t.count - 1] == '\n') t.count--;
    bytes[t.count] = 0;
    return t.count;
}

typedef struct visit {
    text *text;
    uint32_t count;
} visit;

static bool system_add(void *context, const reef_system_info *s)
{
    static const char *const touches[] = {"",     "reads",   "writes",  "sends",    "receives", "sums",    "spawns",
                                          "adds", "removes", "enables", "destroys", "names",    "relates", "unrelates"};
    visit *v = context;
    add(v->text, "system %u %s: phase %s, every %llu ns%s", v->count++, s->name, s->phase,
        (unsigned long long)s->interval_ns, s->on ? "" : ", off");
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const char *name = reef_type_name(s->touches[i].type);
        add(v->text, ", %s %s", touches[s->touches[i].kind <= REEF_UNRELATES ? s->touches[i].kind : 0],
            name ? name : "all");
    }
    add(v->text, "\n");
    for (uint32_t i = 0; i < s->touch_count; i++) type_add(v->text, "  type", s->touches[i].type);
    return true;
}

static bool module_add(void *context, const reef_module_info *m)
{
    add(context, "module %s %u\n", m->name, m->version);
    return true;
}

static void write_all(text *t, const reef_net *net)
{
    visit v = {t, 0};
    add(t, "protocol %d\n", NET_VERSION);
    add(t, "reef %d.%d.%d\n", REEF_VERSION_MAJOR, REEF_VERSION_MINOR, REEF_VERSION_PATCH);
    add(t, "step %llu ns\n", (unsigned long long)net->config.step_ns);
    add(t, "hash every %u ticks\n", net->config.hash_every);
    add(t, "ahead %u ticks\n", net->config.ahead_max);
    add(t, "states are %s\n", net->config.pack ? "packed" : "not packed");
    add(t, "inputs are %s\n", net__signs(net) ? "signed" : "not signed");
    add(t, "floats %016llx\n", (unsigned long long)floats());
    type_add(t, "input", net->config.input);
    (void)reef_visit_modules(net->config.world, module_add, t);
    (void)reef_visit_systems(net->config.world, system_add, &v);
}

bool net__describe(reef_net *net)
{
    text t = {0};
    write_all(&t, net);
    t.room = t.count + 1;
    t.count = 0;
    t.bytes = net__alloc(net, t.room);
    if (t.bytes == NULL) return false;
    write_all(&t, net);
    net->description = t.bytes;
    net->description_bytes = t.room;
    net->digest = net__digest(t.bytes, t.count);
    return true;
}
