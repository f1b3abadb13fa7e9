/* Prints one whole run: a table, TSV or JSON. */
#include "bench.h"
#include <stdlib.h>

const char *unit_name(row_unit unit)
{
    static const char *const names[] = {"ns", "us", "bytes", "x"};
    return names[unit];
}

/* Calls `print` with the result of each row that is wanted. Returns the exit status. */
static int each_row(const bench_options *o, void (*print)(void *context, const row_result *r), void *context)
{
    row_result *r = malloc(sizeof *r);
    int status = r ? 0 : 1;
    for (int i = 0; r && i < ROW_COUNT; i++) {
        if (!o->wanted[i]) continue;
        if (run_row(o, &bench_rows[i], r)) print(context, r);
        else status = 1;
        fflush(stdout);
    }
    free(r);
    return status;
}

static void print_tsv(void *context, const row_result *r)
{
    (void)context;
    printf("%s\t%u\t%.5g\t", r->row->name, r->row->n, r->value_median);
    if (r->has_raw) printf("%.5g\t%.4g\t", r->raw_median, r->value_median / r->raw_median);
    else printf("-\t-\t");
    puts(unit_name(r->row->unit));
}

int report_tsv(const bench_options *o) { return each_row(o, print_tsv, NULL); }

static void print_line(void *context, const row_result *r)
{
    (void)context;
    printf("%-18s %9u %10.4g ", r->row->name, r->row->n, r->value_median);
    if (r->has_raw) printf("%10.4g %8.3f  ", r->raw_median, r->value_median / r->raw_median);
    else printf("%10s %8s  ", "-", "-");
    puts(unit_name(r->row->unit));
}

int report_table(const bench_options *o)
{
    machine_info m;
    machine_read(&m);
    printf("%s, %d cores, %s\n%s, %s\ncommit %s, %s, %s, median of %d\n\n", m.cpu, m.cores, m.system, m.compiler,
           m.flags, m.commit, m.date, o->pages == HUGE_PAGES ? "2 MiB pages" : "4 KiB pages", o->repeats);
    printf("%-18s %9s %10s %10s %8s  %s\n", "row", "N", o->subject->name, o->baseline->name, "ratio", "unit");
    return each_row(o, print_line, NULL);
}

/* ---- JSON ---- */

static void json_text(const char *name, const char *text)
{
    printf("  \"%s\": \"", name);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') putchar('\\');
        if ((unsigned char)*c >= ' ') putchar(*c);
    }
    printf("\",\n");
}

static void json_values(const char *name, const double *v, int n)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < n; i++) printf("%s%.6g", i ? ", " : "", v[i]);
    putchar(']');
}

static void print_json(void *context, const row_result *r)
{
    bool *first = context;
    printf("%s    {\"row\": \"%s\", \"n\": %u, \"unit\": \"%s\", \"value\": %.6g", *first ? "" : ",\n", r->row->name,
           r->row->n, unit_name(r->row->unit), r->value_median);
    *first = false;
    if (r->has_raw) printf(", \"raw\": %.6g, \"ratio\": %.6g", r->raw_median, r->value_median / r->raw_median);
    else printf(", \"raw\": null, \"ratio\": null");
    json_values("values", r->value, r->repeats);
    if (r->has_raw) json_values("raws", r->raw, r->repeats);
    putchar('}');
}

int report_json(const bench_options *o)
{
    machine_info m;
    bool first = true;
    machine_read(&m);
    puts("{");
    json_text("machine", m.cpu);
    printf("  \"cores\": %d,\n  \"memory_bytes\": %zu,\n  \"caches\": [", m.cores, m.memory);
    for (int i = 0; i < m.caches; i++)
        printf("%s{\"level\": %d, \"bytes\": %zu}", i ? ", " : "", m.cache[i].level, m.cache[i].bytes);
    puts("],");
    json_text("system", m.system);
    json_text("compiler", m.compiler);
    json_text("flags", m.flags);
    json_text("commit", m.commit);
    json_text("date", m.date);
    json_text("contestant", o->subject->name);
    printf("  \"page_bytes\": %d,\n  \"repeats\": %d,\n  \"rows\": [\n", o->pages == HUGE_PAGES ? 2 << 20 : 4096,
           o->repeats);
    int status = each_row(o, print_json, &first);
    puts("\n  ]\n}");
    return status;
}
