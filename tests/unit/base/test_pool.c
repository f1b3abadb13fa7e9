/* Pools of threads: who is called with which number and when, several callers at once, job systems of the user's,
 * idling. */
#define _DEFAULT_SOURCE /* nanosleep, fork, setrlimit */
#include "base/platform.h"
#include "support.h"

#ifndef REEF_NO_THREADS
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#endif

/* Of src/time/tick.h, whose other names would meet those of cmocka. */
void reef__pool_run(reef_pool *pool, void (*work)(void *data, uint32_t worker), void *data);
uint64_t reef__pool_shuffle(const reef_pool *pool);

static reef_pool *pool_of(uint32_t threads)
{
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads});
    assert_non_null(p);
    return p;
}

static void count_call(void *data, uint32_t worker)
{
    uint32_t *calls = data;
    if (worker == 0) ++*calls;
}

/* ---- making ---- */

static void threads_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_null(reef_pool_new(&(reef_pool_config){.threads = REEF_THREADS_MAX + 1}));
    assert_null(reef_pool_new(&(reef_pool_config){.threads = UINT32_MAX}));
    assert_int_equal(reef_pool_threads(NULL), 1);
    reef_pool_free(NULL);
}

static void submit_nothing(void *context, void (*task)(void *data), void *data)
{
    (void)context, (void)task, (void)data;
}
static void wait_for_nothing(void *context) { (void)context; }

static void half_a_job_system_is_refused(void **state)
{
    (void)state;
    assert_null(reef_pool_new(&(reef_pool_config){.threads = 2, .jobs = {.submit = submit_nothing}}));
    assert_null(reef_pool_new(&(reef_pool_config){.threads = 2, .jobs = {.wait = wait_for_nothing}}));
}

static void a_pool_of_one_is_the_caller(void **state)
{
    (void)state;
    uint32_t calls = 0;
    reef_pool *p = pool_of(1);
    assert_int_equal(reef_pool_threads(p), 1);
    reef__pool_run(p, count_call, &calls);
    reef__pool_run(NULL, count_call, &calls);
    assert_int_equal(calls, 2);
    reef_pool_free(p);
}

static void the_seed_of_schedules_is_kept(void **state)
{
    (void)state;
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 2, .shuffle = 77});
    assert_non_null(p);
    assert_int_equal(reef__pool_shuffle(p), 77);
    assert_int_equal(reef__pool_shuffle(NULL), 0);
    reef_pool_free(p);
}

static void a_pool_without_memory_is_none(void **state)
{
    heap *h = heap_of(state);
    const reef_pool_config config = {.threads = 4, .allocator = heap_allocator(h)};
    const uint64_t blocks = h->blocks, calls = h->calls;
    reef_pool *p = reef_pool_new(&config);
    assert_non_null(p);
    const uint64_t n = h->calls - calls;
    reef_pool_free(p);
    assert_true(n > 0);
    for (uint64_t i = 1; i <= n; i++) {
        heap_fail_nth(h, i, false);
        assert_null(reef_pool_new(&config));
        assert_int_equal(h->refused, 1);
        assert_int_equal(h->blocks, blocks);
    }
    heap_fail_never(h);
}

/* ---- worlds ---- */

static void forks_use_the_pool_of_their_origin(void **state)
{
    reef_world *w = world_of(state);
    reef_pool *p = pool_of(2);
    assert_null(reef_world_pool(w));
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false); /* threads are tested */
    assert_ptr_equal(reef_world_pool(w), p);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_ptr_equal(reef_world_pool(fork), p);
    assert_ok(reef_set_pool(w, NULL));
    assert_null(reef_world_pool(w));
    assert_ptr_equal(reef_world_pool(fork), p);
    assert_int_equal(reef_hash(fork), reef_hash(w));
    reef_world_free(fork);
    reef_pool_free(p);
    assert_int_equal(reef_set_pool(NULL, NULL), REEF_BAD_ARGUMENT);
    assert_null(reef_world_pool(NULL));
}

static reef_status set_in_tick;
static void set_pool(reef_block *b) { set_in_tick = reef_set_pool(b->world, NULL); }

static void a_world_keeps_its_pool_while_systems_run(void **state)
{
    reef_world *w = world_of(state);
    reef_pool *p = pool_of(2);
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false);
    assert_false(reef_system_is_null(reef_system(w, set_pool, NULL)));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(set_in_tick, REEF_LOCKED);
    assert_ptr_equal(reef_world_pool(w), p);
    reef_pool_free(p);
}

#ifdef REEF_NO_THREADS

static void without_threads_every_pool_has_one(void **state)
{
    (void)state;
    for (uint32_t threads = 0; threads <= REEF_THREADS_MAX; threads++) {
        uint32_t calls = 0;
        reef_pool *p = pool_of(threads);
        assert_int_equal(reef_pool_threads(p), 1);
        reef__pool_run(p, count_call, &calls);
        assert_int_equal(calls, 1);
        reef_pool_free(p);
    }
    uint32_t calls = 0;
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 4, .jobs = {submit_nothing, wait_for_nothing, NULL}});
    assert_non_null(p);
    assert_int_equal(reef_pool_threads(p), 1);
    reef__pool_run(p, count_call, &calls);
    assert_int_equal(calls, 1);
    reef_pool_free(p);
}

#else

/* ---- a place where as many meet as there are threads ---- */

typedef struct meeting {
    mutex lock;
    condvar arrived;
    uint32_t wanted, here;
    uint32_t called[REEF_THREADS_MAX]; /* by number */
} meeting;

static void meeting_make(meeting *m, uint32_t wanted)
{
    memset(m, 0, sizeof *m);
    assert_true(mutex_make(&m->lock));
    assert_true(condvar_make(&m->arrived));
    m->wanted = wanted;
}

static void meeting_drop(meeting *m)
{
    condvar_drop(&m->arrived);
    mutex_drop(&m->lock);
}

static void meet(void *data, uint32_t worker)
{
    meeting *m = data;
    mutex_lock(&m->lock);
    m->called[worker]++;
    m->here++;
    condvar_wake(&m->arrived);
    while (m->here < m->wanted) condvar_wait(&m->arrived, &m->lock);
    mutex_unlock(&m->lock);
}

/* All threads of a pool meet in each of `runs` runs, each under a number of its own. */
static void assert_all_meet(reef_pool *p, uint32_t threads, uint32_t runs)
{
    for (uint32_t run = 0; run < runs; run++) {
        meeting m;
        meeting_make(&m, threads);
        reef__pool_run(p, meet, &m);
        for (uint32_t i = 0; i < REEF_THREADS_MAX; i++) assert_int_equal(m.called[i], i < threads);
        meeting_drop(&m);
    }
}

static void all_threads_of_a_pool_meet(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 16, 64};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reef_pool *p = pool_of(sizes[i]);
        assert_int_equal(reef_pool_threads(p), sizes[i]);
        assert_all_meet(p, sizes[i], 20);
        reef_pool_free(p);
    }
}

static void by_default_there_is_a_thread_for_each_processor(void **state)
{
    (void)state;
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    reef_pool *p = reef_pool_new(NULL);
    assert_non_null(p);
    assert_int_equal(reef_pool_threads(p), n < REEF_THREADS_MAX ? n : REEF_THREADS_MAX);
    assert_all_meet(p, reef_pool_threads(p), 3);
    reef_pool_free(p);
}

static void a_pool_is_made_and_freed_a_thousand_times(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t threads = 1 + i % 5;
        reef_pool *p = pool_of(threads);
        if (i % 2) assert_all_meet(p, threads, 1);
        reef_pool_free(p);
    }
}

/* ---- who begins, and until when ---- */

typedef struct brief {
    atomic_uint begun, ended;
    bool over; /* written by the caller alone, behind the run */
} brief;

static void be_brief(void *data, uint32_t worker)
{
    brief *b = data;
    atomic_fetch_add(&b->begun, 1);
    if (b->over) abort();
    if (worker) thread_yield();
    atomic_fetch_add(&b->ended, 1);
}

static void nobody_begins_behind_the_end_of_a_run(void **state)
{
    (void)state;
    reef_pool *p = pool_of(4);
    for (uint32_t i = 0; i < 3000; i++) {
        brief b = {.over = false};
        reef__pool_run(p, be_brief, &b);
        const unsigned begun = atomic_load(&b.begun);
        assert_in_range(begun, 1, 4);
        assert_int_equal(atomic_load(&b.ended), begun);
        b.over = true;
        if (i % 100 == 0) thread_yield();
        assert_int_equal(atomic_load(&b.begun), begun);
    }
    reef_pool_free(p);
}

/* ---- several callers ---- */

typedef struct shares { /* so many shares of work, each done once */
    mutex lock;
    uint32_t next, count;
    uint32_t done[64];
    bool busy[REEF_THREADS_MAX]; /* numbers in use */
    bool twice;
} shares;

static void do_shares(void *data, uint32_t worker)
{
    shares *s = data;
    mutex_lock(&s->lock);
    s->twice |= s->busy[worker];
    s->busy[worker] = true;
    while (s->next < s->count) {
        const uint32_t mine = s->next++;
        mutex_unlock(&s->lock);
        s->done[mine]++;
        if (mine % 8 == 0) thread_yield();
        mutex_lock(&s->lock);
    }
    s->busy[worker] = false;
    mutex_unlock(&s->lock);
}

typedef struct caller {
    reef_pool *pool;
    uint32_t wrong;
} caller;

static void *run_often(void *data)
{
    caller *c = data;
    for (uint32_t run = 0; run < 1500; run++) {
        shares s = {.count = 1 + run % 64};
        if (!mutex_make(&s.lock)) return NULL;
        reef__pool_run(c->pool, do_shares, &s);
        for (uint32_t i = 0; i < 64; i++) c->wrong += s.done[i] != (i < s.count);
        for (uint32_t i = 0; i < REEF_THREADS_MAX; i++) c->wrong += s.busy[i];
        c->wrong += s.twice;
        mutex_drop(&s.lock);
    }
    return NULL;
}

static void several_callers_share_a_pool(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        caller c[3];
        pthread_t t[3];
        reef_pool *p = pool_of(threads);
        for (int i = 0; i < 3; i++) {
            c[i] = (caller){p, 0};
            assert_int_equal(pthread_create(&t[i], NULL, run_often, &c[i]), 0);
        }
        for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
        for (int i = 0; i < 3; i++) assert_int_equal(c[i].wrong, 0);
        reef_pool_free(p);
    }
}

static void *meet_on_pool(void *data)
{
    void **both = data;
    reef__pool_run(both[0], meet, both[1]);
    return NULL;
}

static void a_caller_gets_on_while_all_threads_are_busy_elsewhere(void **state)
{
    (void)state;
    reef_pool *p = pool_of(3);
    meeting m;
    meeting_make(&m, 4); /* one more than there are: they wait for us */
    void *both[2] = {p, &m};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, meet_on_pool, both), 0);
    mutex_lock(&m.lock);
    while (m.here < 3) condvar_wait(&m.arrived, &m.lock);
    mutex_unlock(&m.lock);
    brief b = {.over = false};
    reef__pool_run(p, be_brief, &b);
    assert_int_equal(atomic_load(&b.ended), 1); /* the caller alone */
    mutex_lock(&m.lock);
    m.here++;
    condvar_wake(&m.arrived);
    mutex_unlock(&m.lock);
    pthread_join(t, NULL);
    assert_all_meet(p, 3, 3);
    meeting_drop(&m);
    reef_pool_free(p);
}

typedef struct nest {
    reef_pool *pool;
    atomic_uint inner;
} nest;

static void count_inner(void *data, uint32_t worker)
{
    nest *n = data;
    (void)worker;
    atomic_fetch_add(&n->inner, 1);
}

static void run_inside(void *data, uint32_t worker)
{
    nest *n = data;
    (void)worker;
    reef__pool_run(n->pool, count_inner, n);
}

static void a_run_may_be_made_inside_of_another(void **state)
{
    (void)state;
    nest n = {.pool = pool_of(3)};
    for (int i = 0; i < 300; i++) {
        atomic_store(&n.inner, 0);
        reef__pool_run(n.pool, run_inside, &n);
        assert_in_range(atomic_load(&n.inner), 1, 9);
    }
    reef_pool_free(n.pool);
}

/* ---- job systems of the user's ---- */

enum { TASKS_MAX = 256, HANDS = 5 };

typedef struct task_list {
    void (*task[TASKS_MAX])(void *data);
    void *data[TASKS_MAX];
    uint32_t count, submitted, waited;
} task_list;

static void list_submit(void *context, void (*task)(void *data), void *data)
{
    task_list *l = context;
    assert_true(l->count < TASKS_MAX);
    l->task[l->count] = task;
    l->data[l->count++] = data;
    l->submitted++;
}

static void list_wait(void *context)
{
    task_list *l = context;
    l->waited++;
    for (uint32_t i = 0; i < l->count; i++) l->task[i](l->data[i]);
    l->count = 0;
}

static void a_job_system_may_run_tasks_inside_of_wait_only(void **state)
{
    (void)state;
    task_list l = {.count = 0};
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 8, .jobs = {list_submit, list_wait, &l}});
    assert_non_null(p);
    assert_int_equal(reef_pool_threads(p), 8);
    for (uint32_t run = 1; run <= 10; run++) {
        brief b = {.over = false};
        reef__pool_run(p, be_brief, &b);
        assert_int_equal(atomic_load(&b.ended), 1);
        assert_int_equal(l.submitted, 7 * run);
        assert_int_equal(l.waited, run);
        assert_int_equal(l.count, 0);
    }
    reef_pool_free(p);
}

static void submit_here(void *context, void (*task)(void *data), void *data)
{
    ++*(uint32_t *)context;
    task(data);
}

static void a_job_system_may_run_tasks_inside_of_submit(void **state)
{
    (void)state;
    uint32_t submitted = 0, calls = 0;
    reef_pool *p =
        reef_pool_new(&(reef_pool_config){.threads = 3, .jobs = {submit_here, wait_for_nothing, &submitted}});
    assert_non_null(p);
    reef__pool_run(p, count_call, &calls);
    assert_int_equal(submitted, 2);
    assert_int_equal(calls, 1);
    reef_pool_free(p);
}

/* One with threads of its own. wait is told by number of tasks, so only one thread may tick on it at a time. */
typedef struct workshop {
    mutex lock;
    condvar changed;
    task_list tasks; /* a stack */
    uint32_t open;   /* tasks submitted and not done */
    bool ending;
    pthread_t hand[HANDS];
} workshop;

static void *workshop_hand(void *data)
{
    workshop *s = data;
    mutex_lock(&s->lock);
    while (!s->ending) {
        if (s->tasks.count == 0) {
            condvar_wait(&s->changed, &s->lock);
            continue;
        }
        const uint32_t i = --s->tasks.count;
        void (*task)(void *) = s->tasks.task[i];
        void *what = s->tasks.data[i];
        mutex_unlock(&s->lock);
        task(what);
        mutex_lock(&s->lock);
        if (--s->open == 0) condvar_wake(&s->changed);
    }
    mutex_unlock(&s->lock);
    return NULL;
}

static void workshop_submit(void *context, void (*task)(void *data), void *data)
{
    workshop *s = context;
    mutex_lock(&s->lock);
    list_submit(&s->tasks, task, data);
    s->open++;
    mutex_unlock(&s->lock);
    condvar_wake(&s->changed);
}

static void workshop_wait(void *context)
{
    workshop *s = context;
    mutex_lock(&s->lock);
    while (s->open) condvar_wait(&s->changed, &s->lock);
    mutex_unlock(&s->lock);
}

static void workshop_begin(workshop *s)
{
    memset(s, 0, sizeof *s);
    assert_true(mutex_make(&s->lock));
    assert_true(condvar_make(&s->changed));
    for (int i = 0; i < HANDS; i++) assert_int_equal(pthread_create(&s->hand[i], NULL, workshop_hand, s), 0);
}

static void workshop_end(workshop *s)
{
    mutex_lock(&s->lock);
    s->ending = true;
    mutex_unlock(&s->lock);
    condvar_wake(&s->changed);
    for (int i = 0; i < HANDS; i++) pthread_join(s->hand[i], NULL);
    condvar_drop(&s->changed);
    mutex_drop(&s->lock);
}

static void a_job_system_may_have_threads_of_its_own(void **state)
{
    (void)state;
    workshop s;
    workshop_begin(&s);
    reef_pool *p =
        reef_pool_new(&(reef_pool_config){.threads = HANDS + 1, .jobs = {workshop_submit, workshop_wait, &s}});
    assert_non_null(p);
    assert_all_meet(p, HANDS + 1, 20);
    caller c = {p, 0};
    (void)run_often(&c);
    assert_int_equal(c.wrong, 0);
    reef_pool_free(p);
    workshop_end(&s);
}

/* ---- fork() ---- */

typedef struct {
    int32_t value;
} Forked;
REEF_COMPONENT(Forked);

static void count_up(reef_block *b)
{
    Forked *f = reef_inout(b, Forked);
    for (uint32_t i = 0; i < b->count; i++) {
        f[i].value += 1 + (int32_t)(b->entities[i].index % 3);
        if (f[i].value == 9) (void)reef_cmd_spawn(b, reef_with(Forked, 1));
    }
}

/* What a child does with a world and its parent's pool: its own threads, or a job system whose threads only the parent
 * has. 0: as it must be. `depth`: children of children. */
static int child_ticks(reef_world *w, reef_pool *p, const uint64_t *hashes, uint32_t depth)
{
    (void)alarm(600); /* a child that hangs ends */
    if (reef_pool_threads(p) != 1) return 1;
    if (reef_tick(w, 1) != REEF_OK || reef_hash(w) != hashes[0]) return 2;
    if (depth) {
        const pid_t child = fork();
        if (child == 0) _exit(child_ticks(w, p, hashes + 1, depth - 1));
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 3;
        return WEXITSTATUS(status);
    }
    reef_pool *own = reef_pool_new(&(reef_pool_config){.threads = 3});
    if (own == NULL || reef_pool_threads(own) != 3 || reef_set_pool(w, own) != REEF_OK) return 4;
    reef_pool_free(p);
    assert_all_meet(own, 3, 3);
    if (reef_tick(w, 1) != REEF_OK || reef_hash(w) != hashes[1]) return 5;
    reef_world_free(w);
    reef_pool_free(own);
    return 0;
}

/* The hashes behind the next ticks, of another fork. */
static void hashes_ahead(reef_world *w, uint64_t *hashes, uint32_t n)
{
    reef_world *ahead = reef_fork(w);
    assert_non_null(ahead);
    for (uint32_t i = 0; i < n; i++) {
        assert_ok(reef_tick(ahead, 1));
        hashes[i] = reef_hash(ahead);
    }
    reef_world_free(ahead);
}

static void assert_children_tick_alone(reef_world *w, const reef_pool_config *config)
{
    uint64_t hashes[3];
    reef_pool *p = reef_pool_new(config);
    assert_non_null(p);
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false); /* threads are tested */
    /* A thread that begins allocates. A sanitizer's allocator, unlike libc's, may keep its lock in the child. */
    assert_all_meet(p, config->threads, 1);
    for (uint32_t i = 0; i < 8; i++) {
        hashes_ahead(w, hashes, 3); /* the threads have just been awake */
        (void)fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(child_ticks(w, p, hashes, i % 2));
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d; %d: it hung", WTERMSIG(status), SIGALRM);
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_ok(reef_tick(w, 1));
        assert_int_equal(reef_hash(w), hashes[0]);
    }
    assert_int_equal(reef_pool_threads(p), config->threads); /* the parent has all its threads */
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
}

static void a_child_of_fork_ticks_alone(void **state)
{
    reef_world *w = world_of(state);
#if defined(__SANITIZE_THREAD__)
    skip(); /* it doesn't allow threads in a child of a process with threads */
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    assert_ok(reef_spawn_many(w, 20000, NULL, reef_with(Forked, 0)));
    assert_false(reef_system_is_null(reef_system(w, count_up, "Forked; spawns Forked")));
    assert_children_tick_alone(w, &(reef_pool_config){.threads = 4});
    workshop s;
    workshop_begin(&s);
    assert_children_tick_alone(w,
                               &(reef_pool_config){.threads = HANDS + 1, .jobs = {workshop_submit, workshop_wait, &s}});
    workshop_end(&s);
}

/* ---- idling ---- */

static uint64_t cpu_time_us(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void an_idle_pool_takes_no_time(void **state)
{
    (void)state;
    reef_pool *p = pool_of(16);
    assert_all_meet(p, 16, 5);
    const uint64_t before = cpu_time_us();
    struct timespec two_seconds = {2, 0};
    while (nanosleep(&two_seconds, &two_seconds) != 0) continue;
    const uint64_t took = cpu_time_us() - before;
    if (took >= 400000) /* one that doesn't sleep takes all of the time */
        fail_msg("16 idle threads took %u us of the processor in 2 s", (unsigned)took);
    reef_pool_free(p);
}

/* ---- when the system gives no thread ---- */

#if defined(__linux__)

static uint64_t pages_of_process(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu", &pages) != 1) pages = 0;
    if (f) (void)fclose(f);
    return pages;
}

static uint32_t threads_of_process(void)
{
    char line[200];
    unsigned n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %u", &n) == 1) break;
    if (f) (void)fclose(f);
    return n;
}

/* With room for the stacks of a few threads. 0: as it must be. */
static int crowded(void)
{
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_attr_init(&attributes) || pthread_attr_getstacksize(&attributes, &stack)) return 1;
    const rlim_t room = (rlim_t)pages_of_process() * (rlim_t)sysconf(_SC_PAGESIZE) + 5 * (rlim_t)stack;
    if (setrlimit(RLIMIT_AS, &(struct rlimit){room, room})) return 2;
    const uint32_t before = threads_of_process();
    if (reef_pool_new(&(reef_pool_config){.threads = 64})) return 3;
    uint32_t after = threads_of_process();
    for (int i = 0; i < 10000 && after != before; i++) { /* a joined thread may still be listed for a moment */
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        after = threads_of_process();
    }
    if (after != before) return 4;
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 2});
    if (p == NULL) return 5;
    reef_pool_free(p);
    return 0;
}

static void a_pool_without_enough_threads_is_none(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they can't live with a limit of memory */
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(crowded());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_out_of_range_are_refused),
        TEST(half_a_job_system_is_refused),
        TEST(a_pool_of_one_is_the_caller),
        TEST(the_seed_of_schedules_is_kept),
        TEST(a_pool_without_memory_is_none),
        TEST(forks_use_the_pool_of_their_origin),
        TEST(a_world_keeps_its_pool_while_systems_run),
#ifdef REEF_NO_THREADS
        TEST(without_threads_every_pool_has_one),
#else
        TEST(all_threads_of_a_pool_meet),
        TEST(by_default_there_is_a_thread_for_each_processor),
        TEST(a_pool_is_made_and_freed_a_thousand_times),
        TEST(nobody_begins_behind_the_end_of_a_run),
        TEST(several_callers_share_a_pool),
        TEST(a_caller_gets_on_while_all_threads_are_busy_elsewhere),
        TEST(a_run_may_be_made_inside_of_another),
        TEST(a_job_system_may_run_tasks_inside_of_wait_only),
        TEST(a_job_system_may_run_tasks_inside_of_submit),
        TEST(a_job_system_may_have_threads_of_its_own),
        TEST(a_child_of_fork_ticks_alone),
        TEST(an_idle_pool_takes_no_time),
#if defined(__linux__)
        TEST(a_pool_without_enough_threads_is_none),
#endif
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
