/* Memory under load: the latency of dependent reads while other threads keep the memory busy.
 *
 * usage: memory NAME=VALUE...
 *   size=BYTES load=BYTES line=BYTES stride=BYTES reads=N writes=N delays=N[,N...] runtime_ns=N warmup_ns=N
 *   huge_pages=0|1 cpus=N,N[,N...] seed=N
 *
 * The thread on the first CPU follows pointers through `size` bytes: one line after another in a random order
 * that is a single cycle, so that each read waits for the one before, nothing is found in a cache and nothing can
 * be prefetched. Each other CPU has a thread that reads and updates its share of `load` bytes, from line to line
 * `stride` bytes apart, and waits `delay` cycles for every four lines. First there is no load, then one point for
 * each delay; one JSON object on stdout.
 *
 * Traffic is that of the memory: `reads`:`writes` counts lines that come to those that go. An update changes one
 * word of a line, so the line must come before it goes: no machine can turn that into a write alone, as it may
 * with whole lines.
 *
 * Time is counted in slices of a millisecond or so, and only those in which each thread had its CPU for itself:
 * while others run there, neither latency nor load is what it seems. `elapsed` is how long it took to find so many.
 *
 * A cycle is the time of one dependent exclusive or, which takes one clock cycle of the core on all x86-64 and
 * aarch64 processors, whatever their time stamp counters count. `cycle_ns` says how long that was here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ < 8
#error "memory needs a machine of 64 bits"
#endif

enum { MOST_CPUS = 1024, MOST_DELAYS = 256, HOPS = 128, LINES_PER_DELAY = 4, BURSTS = 64 };
enum { SLICE_NS = 500000, SLICE_NS_PER_THREAD = 50000, MOST_TRIALS = 5, LEAST_TRIAL_NS = 2000000000 };

struct config {
    uint64_t size, load, line, stride, reads, writes, runtime, warmup, seed;
    uint64_t delays[MOST_DELAYS];
    int cpus[MOST_CPUS];
    unsigned points, threads; /* threads: those of the load */
    bool huge_pages;
};

/* Lines one `stride` after another; each pass begins one line further, so that all lines have their turn. */
struct stream {
    char *start, *end, *at;
    uint64_t phase;
};

/* What the threads share. `delay` and `quit` change only while the load waits at the barrier. */
struct shared {
    const struct config *config;
    pthread_barrier_t barrier;
    uint64_t delay;
    unsigned loads, updates; /* lines of each kind in a burst */
    bool quit;
    atomic_bool stop;
};

struct worker {
    _Alignas(256) _Atomic uint64_t bursts; /* alone in its cache line, whatever that measures */
    _Alignas(256) struct shared *shared;
    struct stream reading, updating;
    pthread_t thread;
    int cpu;
    char *memory;
    uint64_t share;
};

static void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("memory: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void run_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error)
        die("cannot run on CPU %d: %s", cpu, strerror(error));
}

/* ------------------------------------------------------------------ cycles */

/* Keeps the compiler from knowing, and so from foreseeing, what a variable holds. */
#define UNKNOWN(variable) __asm__ volatile("" : "+r"(variable))

/* That many cycles: a chain in which each operation needs the one before. */
static inline uint64_t spin(uint64_t value, uint64_t cycles)
{
    uint64_t other = cycles;
    UNKNOWN(other);
#define CYCLE (value ^= other); UNKNOWN(value);
    for (; cycles >= 8; cycles -= 8) {
        CYCLE CYCLE CYCLE CYCLE CYCLE CYCLE CYCLE CYCLE
    }
    for (; cycles; cycles--) {
        CYCLE
    }
#undef CYCLE
    return value;
}

/* The nanoseconds of a cycle: the least of many short trials, as nothing makes a core faster than it is. */
static double calibrate(void)
{
    enum { TRIALS = 256, CYCLES = 1 << 16 };
    uint64_t best = UINT64_MAX, value = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t before = now();
        value = spin(value, CYCLES);
        uint64_t elapsed = now() - before;
        best = elapsed < best ? elapsed : best;
    }
    UNKNOWN(value);
    return (double)best / CYCLES;
}

/* ------------------------------------------------------------------ memory */

static uint64_t huge_page_size(void)
{
    uint64_t size = 0;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
    if (file) {
        if (fscanf(file, "%" SCNu64, &size) != 1)
            size = 0;
        fclose(file);
    }
    return size ? size : 2u << 20;
}

/* Memory that no page is in yet; of reserved huge pages if there are enough, else of transparent ones. */
static char *allocate(uint64_t *size, bool huge_pages)
{
    uint64_t page = huge_pages ? huge_page_size() : (uint64_t)sysconf(_SC_PAGESIZE);
    *size = (*size + page - 1) / page * page;
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = huge_pages ? mmap(NULL, *size, protection, flags | MAP_HUGETLB, -1, 0) : MAP_FAILED;
    if (memory != MAP_FAILED)
        return memory;
    memory = mmap(NULL, *size + page, protection, flags, -1, 0);
    if (memory == MAP_FAILED)
        die("%" PRIu64 " bytes of memory cannot be had: %s", *size, strerror(errno));
    char *aligned = (char *)(((uintptr_t)memory + page - 1) / page * page);
    madvise(aligned, *size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return aligned;
}

/* The bytes of this process that lie in huge pages: see proc_pid_smaps(5). */
static uint64_t in_huge_pages(void)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file)
        die("cannot read /proc/self/smaps: %s", strerror(errno));
    uint64_t total = 0, value;
    char text[512];
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "AnonHugePages: %" SCNu64, &value) == 1 ||
            sscanf(text, "Private_Hugetlb: %" SCNu64, &value) == 1)
            total += value * 1024;
    fclose(file);
    return total;
}

/* ------------------------------------------------------------------ latency */

/* splitmix64: Steele, Lea and Flood, OOPSLA 2014. */
static uint64_t draw(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

__extension__ typedef unsigned __int128 wide;

/* Pointers from line to line in one random cycle through all of them: Sattolo, Information Processing Letters
 * 22(6), 1986. That a draw below n by multiplication favours some by n/2^64 is nothing here. */
static void **make_cycle(char *memory, uint64_t size, uint64_t line, uint64_t seed)
{
    uint64_t lines = size / line;
    for (uint64_t i = 0; i < lines; i++)
        *(void **)(memory + i * line) = memory + i * line;
    for (uint64_t i = lines - 1; i > 0; i--) {
        uint64_t j = (uint64_t)(((wide)draw(&seed) * i) >> 64);
        void **one = (void **)(memory + i * line), **other = (void **)(memory + j * line);
        void *kept = *one;
        *one = *other;
        *other = kept;
    }
    return (void **)memory;
}

/* Follow the pointers for that long, from where they were left. The number of steps. */
static uint64_t chase(void ***place, uint64_t duration)
{
    void **at = *place;
    uint64_t hops = 0;
    for (uint64_t begin = now(); now() - begin < duration;) {
        for (int i = 0; i < HOPS / 8; i++) {
#define HOP at = *(void **volatile *)at;
            HOP HOP HOP HOP HOP HOP HOP HOP
#undef HOP
        }
        hops += HOPS;
    }
    *place = at;
    return hops;
}

/* ------------------------------------------------------------------ load */

/* The next `count` lines of a stream. */
static inline char *take(struct stream *stream, uint64_t count, const struct config *config)
{
    uint64_t length = count * config->stride;
    if ((uint64_t)(stream->end - stream->at) < length) {
        stream->phase += config->line;
        if (stream->phase >= config->stride)
            stream->phase = 0;
        stream->at = stream->start + stream->phase;
    }
    char *at = stream->at;
    stream->at += length;
    return at;
}

/* Volatile, for the compiler must neither drop a read nor join it with others. */
static inline void burst(struct worker *worker, const struct config *config, unsigned loads, unsigned updates)
{
    const char *from = take(&worker->reading, loads, config);
    for (unsigned i = 0; i < loads; i++)
        (void)*(const volatile uint64_t *)(from + i * config->stride);
    char *to = take(&worker->updating, updates, config);
    for (unsigned i = 0; i < updates; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(to + i * config->stride);
        *word = *word + 1;
    }
}

/* Bursts until told to stop; the count is told after every burst, or after many where they come fast. */
static void make_load(struct worker *worker)
{
    struct shared *shared = worker->shared;
    const struct config config = *shared->config;
    const unsigned loads = shared->loads, updates = shared->updates;
    const uint64_t cycles = shared->delay * (loads + updates) / LINES_PER_DELAY;
    const unsigned together = cycles ? 1 : BURSTS;
    uint64_t done = atomic_load_explicit(&worker->bursts, memory_order_relaxed), value = 1; /* it never falls */
    while (!atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
        for (unsigned i = 0; i < together; i++)
            burst(worker, &config, loads, updates);
        if (cycles)
            value = spin(value, cycles);
        done += together;
        atomic_store_explicit(&worker->bursts, done, memory_order_relaxed);
    }
    UNKNOWN(value);
}

static struct stream stream_of(char *start, uint64_t size)
{
    return (struct stream){start, start + size, start, 0};
}

/* A thread of the load: its memory is written first, where it runs, so that there is a page near it. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    const struct config *config = shared->config;
    run_on(worker->cpu);
    memset(worker->memory, 1, worker->share);
    uint64_t lines = worker->share / config->stride;
    uint64_t reading = lines * shared->loads / (shared->loads + shared->updates) * config->stride;
    worker->reading = stream_of(worker->memory, reading);
    worker->updating = stream_of(worker->memory + reading, worker->share - reading);
    pthread_barrier_wait(&shared->barrier);
    for (;;) {
        pthread_barrier_wait(&shared->barrier);
        if (shared->quit)
            return NULL;
        make_load(worker);
        pthread_barrier_wait(&shared->barrier);
    }
}

static void start(struct worker *workers, struct shared *shared, char *memory)
{
    const struct config *config = shared->config;
    uint64_t share = config->load / config->threads / config->stride * config->stride;
    uint64_t most = shared->loads > shared->updates ? shared->loads : shared->updates;
    uint64_t least = 4 * config->stride * most * (shared->loads && shared->updates ? 4 : 1);
    if (share < least)
        die("%" PRIu64 " bytes for each thread of the load are too few: it takes %" PRIu64, share, least);
    for (unsigned i = 0; i < config->threads; i++) {
        workers[i].shared = shared;
        workers[i].cpu = config->cpus[i + 1];
        workers[i].memory = memory + i * share;
        workers[i].share = share;
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (error)
            die("cannot start thread %u: %s", i + 1, strerror(error));
    }
    pthread_barrier_wait(&shared->barrier);
}

/* ------------------------------------------------------------------ the curve */

/* What was counted in undisturbed slices: their ns, the steps of the chase, and the bursts of each thread. */
struct count {
    uint64_t ns, hops, elapsed, bursts[MOST_CPUS];
};

/* How long a thread has run, in ns. */
static uint64_t ran(pthread_t thread)
{
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &time))
        die("threads here have no clocks");
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* One slice, added to the count if this thread and `threads` of the load ran all the while. */
static void slice(struct count *count, struct worker *workers, unsigned threads, void ***place)
{
    uint64_t ran_before[MOST_CPUS], bursts[MOST_CPUS];
    uint64_t begun = now(), own = ran(pthread_self());
    for (unsigned i = 0; i < threads; i++)
        ran_before[i] = ran(workers[i].thread);
    uint64_t began = now();
    for (unsigned i = 0; i < threads; i++)
        bursts[i] = atomic_load_explicit(&workers[i].bursts, memory_order_relaxed);
    uint64_t hops = chase(place, SLICE_NS + threads * SLICE_NS_PER_THREAD);
    for (unsigned i = 0; i < threads; i++)
        bursts[i] = atomic_load_explicit(&workers[i].bursts, memory_order_relaxed) - bursts[i];
    uint64_t ended = now(), least = ran(pthread_self()) - own;
    for (unsigned i = 0; i < threads; i++) {
        uint64_t time = ran(workers[i].thread) - ran_before[i];
        least = time < least ? time : least;
    }
    if (least < (ended - began) / 100 * 98 || ended - begun > (ended - began) / 100 * 150)
        return;
    count->ns += ended - began;
    count->hops += hops;
    for (unsigned i = 0; i < threads; i++)
        count->bursts[i] += bursts[i];
}

/* Slices for as long as they are asked for, or until that has taken many times as long. */
static void count_slices(struct count *count, const struct config *config, struct worker *workers, unsigned threads,
                         void ***place)
{
    *count = (struct count){0};
    chase(place, config->warmup);
    uint64_t begin = now(), patience = MOST_TRIALS * config->runtime;
    patience = patience > LEAST_TRIAL_NS ? patience : LEAST_TRIAL_NS;
    while (count->ns < config->runtime && count->elapsed < patience) {
        slice(count, workers, threads, place);
        count->elapsed = now() - begin;
    }
    printf("\"ns\": %" PRIu64 ", \"elapsed\": %" PRIu64 ", \"hops\": %" PRIu64, count->ns, count->elapsed,
           count->hops);
}

/* One point: the load with this delay, and the latency meanwhile. What begins and ends is not counted. */
static void point(struct shared *shared, struct worker *workers, uint64_t delay, void ***place)
{
    static struct count count;
    const unsigned threads = shared->config->threads;
    shared->delay = delay;
    atomic_store(&shared->stop, false);
    pthread_barrier_wait(&shared->barrier);
    printf("  {\"delay\": %" PRIu64 ", ", delay);
    count_slices(&count, shared->config, workers, threads, place);
    atomic_store(&shared->stop, true);
    pthread_barrier_wait(&shared->barrier);
    printf(", \"bursts\": [");
    for (unsigned i = 0; i < threads; i++)
        printf("%s%" PRIu64, i ? ", " : "", count.bursts[i]);
    printf("]}");
}

static void measure(const struct config *config)
{
    uint64_t size = config->size, load = config->load, group = config->reads;
    struct shared shared = {.config = config};
    unsigned groups = (unsigned)((LINES_PER_DELAY + group - 1) / group); /* a group is so many lines */
    shared.loads = groups * (unsigned)(config->reads - config->writes);
    shared.updates = groups * (unsigned)config->writes;
    pthread_barrier_init(&shared.barrier, NULL, config->threads + 1);
    struct worker *workers = aligned_alloc(_Alignof(struct worker), config->threads * sizeof *workers);
    if (!workers)
        die("out of memory");
    memset(workers, 0, config->threads * sizeof *workers);

    run_on(config->cpus[0]);
    char *memory = allocate(&size, config->huge_pages), *loaded = allocate(&load, config->huge_pages);
    void **place = make_cycle(memory, config->size, config->line, config->seed);
    start(workers, &shared, loaded); /* which also drives what is left of the cycle out of the caches */
    double cycle = calibrate();
    uint64_t moved = config->line < config->stride ? config->line : config->stride;
    printf("{\"memory\": 1, \"compiler\": \"%s\", \"size\": %" PRIu64 ", \"load\": %" PRIu64 ", \"line\": %" PRIu64
           ", \"stride\": %" PRIu64 ", \"reads\": %" PRIu64 ", \"writes\": %" PRIu64 ", \"threads\": %u"
           ",\n \"runtime_ns\": %" PRIu64 ", \"huge_pages\": %s, \"allocated\": %" PRIu64
           ", \"in_huge_pages\": %" PRIu64 ", \"cycle_ns\": %.6f"
           ",\n \"burst_read\": %" PRIu64 ", \"burst_written\": %" PRIu64 ",\n \"idle\": {",
           __VERSION__, config->size, config->load, config->line, config->stride, config->reads, config->writes,
           config->threads, config->runtime, config->huge_pages ? "true" : "false", size + load, in_huge_pages(),
           cycle, (shared.loads + shared.updates) * moved, shared.updates * moved);
    static struct count idle;
    count_slices(&idle, config, workers, 0, &place);
    printf("},\n \"points\": [\n");
    for (unsigned i = 0; i < config->points; i++) {
        point(&shared, workers, config->delays[i], &place);
        printf(i + 1 < config->points ? ",\n" : "\n");
    }
    printf(" ]}\n");
    shared.quit = true;
    pthread_barrier_wait(&shared.barrier);
    for (unsigned i = 0; i < config->threads; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&shared.barrier);
    free(workers);
}

/* ------------------------------------------------------------------ the command line */

static uint64_t number(const char *name, const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value > most)
        die("%s=%s is not a number from 0 to %" PRIu64, name, text, most);
    return value;
}

static void parse(struct config *config, char *argument)
{
    const struct {
        const char *name;
        uint64_t *value, most;
    } numbers[] = {
        {"size", &config->size, INT64_MAX / 4},     {"load", &config->load, INT64_MAX / 4},
        {"line", &config->line, 4096},              {"stride", &config->stride, 1 << 20},
        {"reads", &config->reads, 1000},            {"writes", &config->writes, 1000},
        {"runtime_ns", &config->runtime, INT64_MAX}, {"warmup_ns", &config->warmup, INT64_MAX},
        {"seed", &config->seed, UINT64_MAX},
    };
    char *value = strchr(argument, '=');
    if (!value)
        die("%s is not NAME=VALUE", argument);
    *value++ = '\0';
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(argument, numbers[i].name)) {
            *numbers[i].value = number(argument, value, numbers[i].most);
            return;
        }
    unsigned count = 0;
    if (!strcmp(argument, "huge_pages")) {
        config->huge_pages = number(argument, value, 1);
    } else if (!strcmp(argument, "delays")) {
        for (char *part = strtok(value, ","); part && count < MOST_DELAYS; part = strtok(NULL, ","))
            config->delays[count++] = number(argument, part, 1000000);
        config->points = count;
    } else if (!strcmp(argument, "cpus")) {
        for (char *part = strtok(value, ","); part && count < MOST_CPUS; part = strtok(NULL, ","))
            config->cpus[count++] = (int)number(argument, part, CPU_SETSIZE - 1);
        config->threads = count ? count - 1 : 0;
    } else {
        die("unknown: %s", argument);
    }
}

int main(int count, char **arguments)
{
    struct config config = {.line = 64, .stride = 64, .reads = 1, .runtime = 1000000000u, .warmup = 100000000u};
    for (int i = 1; i < count; i++)
        parse(&config, arguments[i]);
    if (config.line < sizeof(uint64_t) || config.line % sizeof(uint64_t) || config.size < 2 * config.line)
        die("line must be a multiple of 8, and size at least two lines");
    if (config.stride < sizeof(uint64_t) || config.stride % sizeof(uint64_t))
        die("stride must be a multiple of 8");
    if (!config.reads || config.writes > config.reads)
        die("there is no less than one read for each write: what is written must come first");
    if (!config.points || !config.threads || !config.runtime)
        die("delays, runtime_ns and two cpus must be given");
    measure(&config);
    return fflush(stdout) != 0;
}
