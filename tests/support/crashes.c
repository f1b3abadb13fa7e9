/* Computes what may be on the disk when the machine stops.
 *
 *      calls, as they come:  open a.new │ write │ write │ sync a.new │ rename │ sync folder
 *                                           ▲ the machine stops here
 *
 * Names: those at the last sync of the folder are on the disk, and of the changes since then any number, in their
 * order, as in file systems with a journal. Content: each of the writes and truncations since the file's last sync may
 * have reached the disk or not, or in parts, in any order. Disks promise more than this; POSIX doesn't. */
#include "crashes.h"
#include "faults.h"

enum { OPS_MAX = 4000, INODES_MAX = 64, DESCRIPTORS = 256, VARIANTS = 7, SECTOR = 512 };

typedef enum op_kind {
    OP_CREATE,
    OP_WRITE,
    OP_TRUNCATE,
    OP_SYNC,
    OP_RENAME,
    OP_REMOVE,
    OP_SYNC_FOLDER,
    OP_MARK
} op_kind;

typedef struct op {
    op_kind kind;
    uint32_t inode;  /* CREATE, WRITE, TRUNCATE, SYNC */
    uint32_t name;   /* CREATE, REMOVE: 0 the path, 1 path.new; RENAME: from */
    uint64_t offset; /* or length, or what was promised */
    void *bytes;
    size_t count;
} op;

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static struct {
    bool on;
    const char *name[2];
    uint32_t inodes;             /* numbered from 1 */
    content base[INODES_MAX];    /* what was there before */
    uint32_t first[2], now[2];   /* inodes of the names: at the beginning, now; 0: none */
    uint32_t of_fd[DESCRIPTORS]; /* 0: not ours; FOLDER: a folder */
    op ops[OPS_MAX];
    uint32_t count;
} tape;

enum { FOLDER = INODES_MAX };

static op *add(op_kind kind)
{
    assert_true(tape.count < OPS_MAX);
    op *o = &tape.ops[tape.count++];
    memset(o, 0, sizeof *o);
    o->kind = kind;
    return o;
}

static int name_of(const char *path)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(path, tape.name[i]) == 0) return i;
    return -1;
}

/* ---- writing down ---- */

void crash_opened(const char *path, int fd)
{
    if (!tape.on) return;
    assert_true(fd < DESCRIPTORS);
    int name = name_of(path);
    if (name < 0) {
        tape.of_fd[fd] = FOLDER;
        return;
    }
    if (tape.now[name] == 0) {
        assert_true(tape.inodes + 1 < INODES_MAX);
        op *o = add(OP_CREATE);
        o->name = (uint32_t)name;
        o->inode = tape.now[name] = ++tape.inodes;
    }
    tape.of_fd[fd] = tape.now[name];
}

void crash_dup(int fd, int second)
{
    if (tape.on && second < DESCRIPTORS) tape.of_fd[second] = tape.of_fd[fd];
}

void crash_closed(int fd)
{
    if (tape.on && fd >= 0 && fd < DESCRIPTORS) tape.of_fd[fd] = 0;
}

void crash_wrote(int fd, uint64_t offset, const void *bytes, size_t count)
{
    if (!tape.on || tape.of_fd[fd] == 0) return;
    op *o = add(OP_WRITE);
    o->inode = tape.of_fd[fd];
    o->offset = offset;
    o->count = count;
    o->bytes = malloc(count + 1);
    assert_non_null(o->bytes);
    memcpy(o->bytes, bytes, count);
}

void crash_truncated(int fd, uint64_t length)
{
    if (!tape.on || tape.of_fd[fd] == 0) return;
    op *o = add(OP_TRUNCATE);
    o->inode = tape.of_fd[fd];
    o->offset = length;
}

void crash_synced(int fd)
{
    if (!tape.on || tape.of_fd[fd] == 0) return;
    uint32_t inode = tape.of_fd[fd];
    add(inode == FOLDER ? OP_SYNC_FOLDER : OP_SYNC)->inode = inode;
}

void crash_renamed(const char *from, const char *to)
{
    if (!tape.on) return;
    assert_int_equal(name_of(from), 1); /* the only renaming there is */
    assert_int_equal(name_of(to), 0);
    add(OP_RENAME)->name = 1;
    tape.now[0] = tape.now[1];
    tape.now[1] = 0;
}

void crash_removed(const char *path)
{
    if (!tape.on || name_of(path) < 0) return;
    add(OP_REMOVE)->name = (uint32_t)name_of(path);
    tape.now[name_of(path)] = 0;
}

void crash_mark(uint32_t what)
{
    if (tape.on) add(OP_MARK)->offset = what;
}

/* ---- what may be there ---- */

static void content_write(content *c, uint64_t offset, const void *bytes, size_t count)
{
    if (offset + count > c->size) {
        c->bytes = realloc(c->bytes, offset + count + 1);
        assert_non_null(c->bytes);
        memset(c->bytes + c->size, 0, offset + count - c->size);
        c->size = offset + count;
    }
    memcpy(c->bytes + offset, bytes, count);
}

static void content_cut(content *c, uint64_t length)
{
    char zero = 0;
    if (length > c->size) content_write(c, length - 1, &zero, 1);
    c->size = length;
}

/* Variants of what reaches the disk without a sync: 0 nothing, 1 everything, 2 only the last operation, 3 the lengths
 * but no bytes, the others random sectors. */
static void apply_unsynced(content *c, const op *o, uint32_t variant, bool last, uint64_t *seed)
{
    if (variant == 0 || (variant == 2 && !last)) return;
    if (variant > 3 && random_below(seed, 3) == 0) return;
    if (o->kind == OP_TRUNCATE) {
        content_cut(c, o->offset);
    } else if (variant == 3) {
        if (o->offset + o->count > c->size) content_cut(c, o->offset + o->count);
    } else if (variant <= 2 || random_below(seed, 2)) {
        content_write(c, o->offset, o->bytes, o->count);
    } else {
        for (size_t i = 0; i < o->count; i += SECTOR)
            if (random_below(seed, 2))
                content_write(c, o->offset + i, (char *)o->bytes + i, o->count - i < SECTOR ? o->count - i : SECTOR);
    }
}

/* The content of an inode after the first `ops` calls. */
static content content_at(uint32_t inode, uint32_t ops, uint32_t variant, uint64_t *seed)
{
    content c = {NULL, 0};
    if (tape.base[inode].size) content_write(&c, 0, tape.base[inode].bytes, tape.base[inode].size);
    uint32_t synced = 0, last = 0;
    for (uint32_t i = 0; i < ops; i++) {
        if (tape.ops[i].inode != inode) continue;
        if (tape.ops[i].kind == OP_SYNC) synced = i + 1;
        if (tape.ops[i].kind == OP_WRITE || tape.ops[i].kind == OP_TRUNCATE) last = i;
    }
    for (uint32_t i = 0; i < ops; i++) {
        const op *o = &tape.ops[i];
        if (o->inode != inode || (o->kind != OP_WRITE && o->kind != OP_TRUNCATE)) continue;
        if (i >= synced) apply_unsynced(&c, o, variant, i == last, seed);
        else if (o->kind == OP_WRITE) content_write(&c, o->offset, o->bytes, o->count);
        else content_cut(&c, o->offset);
    }
    return c;
}

static bool is_of_names(const op *o) { return o->kind == OP_CREATE || o->kind == OP_RENAME || o->kind == OP_REMOVE; }

/* The names when the changes before `end` are on the disk. */
static void names_at(uint32_t end, uint32_t names[2])
{
    names[0] = tape.first[0];
    names[1] = tape.first[1];
    for (uint32_t i = 0; i < end; i++) {
        const op *o = &tape.ops[i];
        if (o->kind == OP_CREATE) names[o->name] = o->inode;
        if (o->kind == OP_REMOVE) names[o->name] = 0;
        if (o->kind == OP_RENAME) {
            names[0] = names[1];
            names[1] = 0;
        }
    }
}

static void state_make(const uint32_t names[2], uint32_t ops, uint32_t variant)
{
    uint64_t seed = (uint64_t)ops * 1000 + variant;
    for (int i = 0; i < 2; i++) {
        content c = {NULL, 0};
        if (names[i]) c = content_at(names[i], ops, variant, &seed);
        faults_put(tape.name[i], names[i] ? (c.bytes ? (const void *)c.bytes : "") : NULL, c.size);
        free(c.bytes);
    }
}

/* All states that the disk may be in after the first `ops` calls. */
static uint32_t check_behind(const crash_scenario *s, uint32_t ops, void *context)
{
    uint32_t marked = 0, synced = 0, states = 0;
    for (uint32_t i = 0; i < ops; i++) {
        if (tape.ops[i].kind == OP_MARK) marked = (uint32_t)tape.ops[i].offset;
        if (tape.ops[i].kind == OP_SYNC_FOLDER) synced = i;
    }
    for (uint32_t end = synced; end <= ops; end++) {
        if (end > synced && !is_of_names(&tape.ops[end - 1])) continue; /* the same names as before */
        uint32_t names[2];
        names_at(end, names);
        for (uint32_t variant = 0; variant < VARIANTS; variant++) {
            state_make(names, ops, variant);
            s->check(context, marked);
            states++;
        }
    }
    return states;
}

static void tape_begin(const char *path, const char *temporary)
{
    memset(&tape, 0, sizeof tape);
    tape.name[0] = path;
    tape.name[1] = temporary;
    for (int i = 0; i < 2; i++) {
        content c = {NULL, 0};
        const void *bytes = faults_get(tape.name[i], &c.size);
        if (bytes == NULL) continue;
        c.bytes = malloc(c.size + 1);
        assert_non_null(c.bytes);
        memcpy(c.bytes, bytes, c.size);
        tape.first[i] = tape.now[i] = ++tape.inodes;
        tape.base[tape.inodes] = c;
    }
    tape.on = true;
}

uint32_t crashes_each(const crash_scenario *s, const char *path, void *context)
{
    char place[4200], temporary[4210];
    uint32_t states = 0;
    snprintf(place, sizeof place, "%s", path);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    s->prepare(context);
    tape_begin(place, temporary);
    s->run(context);
    tape.on = false;
    assert_true(tape.count > 0);
    for (uint32_t ops = 0; ops <= tape.count; ops++) states += check_behind(s, ops, context);
    for (uint32_t i = 0; i < tape.count; i++) free(tape.ops[i].bytes);
    for (uint32_t i = 0; i < INODES_MAX; i++) free(tape.base[i].bytes);
    return states;
}
