/* The reader: a fixed amount of data, read (and written back) by a number of threads, in blocks of any size.
 *
 * usage: reader NAME=VALUE...
 *   file=PATH size=BYTES bs=BYTES rw=read|randread|rw threads=N[,N...] ioengine=pread|io_uring iodepth=N
 *   direct=0|1 cached=0|1 end_fsync=0|1 seed=N batch=N cpus=LIST[/LIST...]
 *
 * One pass over the data for each number of threads; one JSON object on stdout; status 1 if anything failed.
 * Sequential patterns give each thread a contiguous share of the blocks; randread draws as many blocks
 * independently and uniformly. `rw` writes back each block as it was read. `batch` blocks share one reading of
 * the clock, CLOCK_MONOTONIC, and one entry of their mean in the histogram. `cpus` are lists as in
 * /sys/devices/system/node/node0/cpulist; thread i runs on the list i modulo their number.
 *
 * In the loops there is no lock, no allocation and no system call but the I/O itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ < 8
#error "the reader needs a machine of 64 bits"
#endif

/* Flags that older kernel headers lack; kernels that lack them say EINVAL. */
#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif

enum { MOST_THREADS = 4096, MOST_PASSES = 64, MOST_DEPTH = 4096 };
enum { STEPS_BITS = 6, STEPS = 1 << STEPS_BITS, BINS = (64 - STEPS_BITS + 1) * STEPS };

enum pattern { READ, RANDREAD, READ_WRITE };

struct config {
    const char *file;
    enum pattern rw;
    uint64_t size, bs, seed, batch;
    unsigned iodepth, passes, threads[MOST_PASSES];
    bool uring, direct, cached, end_fsync;
    const char *cpus;
};

/* What one thread did in one direction. Latencies in ns: `bins` is a log-linear histogram, 64 steps an octave. */
struct side {
    uint64_t bytes, operations, shorts, timed, sum, min, max;
    uint64_t bins[BINS];
};

/* What went wrong in a thread; `what` is NULL as long as all is well. */
struct failure {
    const char *what;
    int error;
    uint64_t offset;
};

struct worker {
    const struct config *config;
    pthread_barrier_t *barrier;
    atomic_bool *stop;
    pthread_t thread;
    unsigned number;
    uint64_t first, blocks, random[4];
    int file;
    bool registered; /* io_uring: the buffers are */
    char *buffers;
    uint64_t stride;
    uint64_t started, ended, user, system;
    struct side read, write, pair; /* pair: a read and its write, where batches do not tell them apart */
    struct failure failure;
};

/* ------------------------------------------------------------------ small things */

static void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The end, for what cannot be said of an operation at an offset. */
static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("reader: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* Of several failures in flight at once, the one nearest to the start of the data is kept. */
static void fail(struct worker *worker, const char *what, int error, uint64_t offset)
{
    if (!worker->failure.what || offset < worker->failure.offset)
        worker->failure = (struct failure){what, error, offset};
    atomic_store_explicit(worker->stop, true, memory_order_relaxed);
}

static inline bool stopped(const struct worker *worker)
{
    return atomic_load_explicit(worker->stop, memory_order_relaxed);
}

/* ------------------------------------------------------------------ the histogram */

/* The bin of a value, as HdrHistogram and fio (stat.c) have it: exact below 64, then 64 steps an octave. */
static inline unsigned bin_of(uint64_t value)
{
    if (value < STEPS)
        return (unsigned)value;
    unsigned octave = 63u - (unsigned)__builtin_clzll(value) - STEPS_BITS;
    return octave * STEPS + (unsigned)(value >> octave);
}

static uint64_t least_of_bin(unsigned bin)
{
    if (bin < 2 * STEPS)
        return bin;
    unsigned octave = bin / STEPS - 1;
    return (uint64_t)(bin - octave * STEPS) << octave;
}

/* Note `count` operations that took `elapsed` ns together. */
static inline void note(struct side *side, uint64_t elapsed, uint64_t count)
{
    uint64_t each = count == 1 ? elapsed : elapsed / count;
    side->bins[bin_of(each)] += count;
    side->timed += count;
    side->sum += elapsed;
    if (each < side->min)
        side->min = each;
    if (each > side->max)
        side->max = each;
}

static void add(struct side *total, const struct side *side)
{
    total->bytes += side->bytes;
    total->operations += side->operations;
    total->shorts += side->shorts;
    total->timed += side->timed;
    total->sum += side->sum;
    total->min = least(total->min, side->min);
    total->max = total->max > side->max ? total->max : side->max;
    for (unsigned bin = 0; bin < BINS; bin++)
        total->bins[bin] += side->bins[bin];
}

/* ------------------------------------------------------------------ which block comes next */

static inline uint64_t rotate(uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

/* xoshiro256**: Blackman and Vigna, ACM Transactions on Mathematical Software 47(4), 2021. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t result = rotate(state[1] * 5, 7) * 9, shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

__extension__ typedef unsigned __int128 wide;

/* A number below `bound`, all equally likely: Lemire, ACM Transactions on Modeling and Computer Simulation
 * 29(1), 2019. */
static inline uint64_t draw_below(uint64_t *state, uint64_t bound)
{
    wide product = (wide)draw(state) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (wide)draw(state) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* SplitMix64 fills the state, as the authors of xoshiro advise; each thread has a sequence of its own. */
static void seed(struct worker *worker)
{
    uint64_t value = worker->config->seed + ((uint64_t)worker->number << 32);
    for (int i = 0; i < 4; i++) {
        uint64_t mixed = value += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        worker->random[i] = mixed ^ (mixed >> 31);
    }
}

/* Blocks of a pass: the last one may be shorter, and random patterns leave it out. */
static uint64_t blocks_of(const struct config *config)
{
    return config->size / config->bs + (config->rw != RANDREAD && config->size % config->bs != 0);
}

static inline uint64_t offset_of(struct worker *worker, uint64_t done)
{
    const struct config *config = worker->config;
    if (config->rw == RANDREAD)
        return draw_below(worker->random, config->size / config->bs) * config->bs;
    return (worker->first + done) * config->bs;
}

/* ------------------------------------------------------------------ ioengine pread */

/* The system calls themselves: the C library's functions are points of cancellation, which costs in a process of
 * several threads. */
static inline ssize_t move(const struct worker *worker, bool write, char *buffer, uint64_t length, uint64_t offset)
{
    return syscall(write ? SYS_pwrite64 : SYS_pread64, worker->file, buffer, length, offset);
}

/* The rest of an operation that moved `done` bytes (or gave an error) instead of all. False if it failed. */
static bool finish(struct worker *worker, struct side *side, char *buffer, uint64_t length, uint64_t offset,
                   ssize_t done)
{
    const bool write = side == &worker->write;
    uint64_t moved = 0;
    bool counted = false;
    for (;;) {
        if (done < 0 && errno != EINTR) {
            fail(worker, write ? "pwrite" : "pread", errno, offset + moved);
            return false;
        }
        if (done == 0) {
            fail(worker, "end of file", 0, offset + moved);
            return false;
        }
        moved += done > 0 ? (uint64_t)done : 0;
        if (moved == length)
            return true;
        if (done > 0 && !counted) {
            side->shorts++;
            counted = true;
        }
        done = move(worker, write, buffer + moved, length - moved, offset + moved);
    }
}

static inline bool transfer(struct worker *worker, struct side *side, uint64_t length, uint64_t offset)
{
    ssize_t done = move(worker, side == &worker->write, worker->buffers, length, offset);
    if (__builtin_expect(done != (ssize_t)length, 0) &&
        !finish(worker, side, worker->buffers, length, offset, done))
        return false;
    side->operations++;
    side->bytes += length;
    return true;
}

static void run_pread(struct worker *worker)
{
    const struct config *config = worker->config;
    const bool both = config->rw == READ_WRITE;
    const uint64_t batch = config->batch;
    struct side *timed = !both ? &worker->read : batch > 1 ? &worker->pair : &worker->write;
    uint64_t before = worker->started;
    for (uint64_t done = 0; done < worker->blocks && !stopped(worker);) {
        uint64_t group = least(batch, worker->blocks - done);
        for (uint64_t end = done + group; done < end; done++) {
            uint64_t offset = offset_of(worker, done), length = least(config->bs, config->size - offset);
            if (!transfer(worker, &worker->read, length, offset))
                return;
            if (both) {
                if (batch == 1) {
                    uint64_t between = now();
                    note(&worker->read, between - before, 1);
                    before = between;
                }
                if (!transfer(worker, &worker->write, length, offset))
                    return;
            }
        }
        uint64_t after = now();
        note(timed, after - before, group);
        before = after;
    }
}

/* ------------------------------------------------------------------ ioengine io_uring */

/* An I/O in flight: `done` of `length` bytes at `offset`, from or to the buffer of the same number. */
struct slot {
    uint64_t offset, length, done, started;
    bool writing, counted;
};

struct ring {
    int file;
    unsigned *submit_tail, submit_mask, *complete_head, *complete_tail, complete_mask;
    unsigned tail, queued;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *completions;
    struct slot slots[MOST_DEPTH];
};

static bool map_ring(struct worker *worker, struct ring *ring, const struct io_uring_params *params)
{
    size_t submissions = params->sq_off.array + params->sq_entries * sizeof(unsigned);
    size_t completions = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    size_t entries = params->sq_entries * sizeof(struct io_uring_sqe);
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    char *sq = mmap(NULL, submissions, protection, flags, ring->file, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, completions, protection, flags, ring->file, IORING_OFF_CQ_RING);
    ring->entries = mmap(NULL, entries, protection, flags, ring->file, IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || ring->entries == MAP_FAILED) {
        fail(worker, "mapping the rings of io_uring", errno, 0);
        return false;
    }
    ring->submit_tail = (unsigned *)(sq + params->sq_off.tail);
    ring->submit_mask = *(unsigned *)(sq + params->sq_off.ring_mask);
    ring->complete_head = (unsigned *)(cq + params->cq_off.head);
    ring->complete_tail = (unsigned *)(cq + params->cq_off.tail);
    ring->complete_mask = *(unsigned *)(cq + params->cq_off.ring_mask);
    ring->completions = (struct io_uring_cqe *)(cq + params->cq_off.cqes);
    for (unsigned i = 0; i < params->sq_entries; i++)
        ((unsigned *)(sq + params->sq_off.array))[i] = i;
    return true;
}

/* A ring for this thread alone, with the best flags that the kernel knows; the file and, if the limit of locked
 * memory allows it, the buffers are registered. NULL if it failed. See io_uring_setup(2), io_uring_register(2). */
static struct ring *open_ring(struct worker *worker)
{
    static const unsigned flags[] = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                                     IORING_SETUP_COOP_TASKRUN, 0};
    const struct config *config = worker->config;
    struct ring *ring = calloc(1, sizeof *ring);
    struct iovec *vectors = calloc(config->iodepth, sizeof *vectors);
    if (!ring || !vectors)
        die("out of memory");
    struct io_uring_params params;
    ring->file = -1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags && ring->file < 0; i++) {
        memset(&params, 0, sizeof params);
        params.flags = flags[i];
        ring->file = (int)syscall(SYS_io_uring_setup, config->iodepth, &params);
        if (ring->file < 0 && errno != EINVAL)
            break;
    }
    if (ring->file < 0) {
        fail(worker, "io_uring_setup", errno, 0);
        free(vectors);
        free(ring);
        return NULL;
    }
    for (unsigned i = 0; i < config->iodepth; i++)
        vectors[i] = (struct iovec){worker->buffers + i * worker->stride, config->bs};
    worker->registered =
        syscall(SYS_io_uring_register, ring->file, IORING_REGISTER_BUFFERS, vectors, config->iodepth) == 0;
    free(vectors);
    if (syscall(SYS_io_uring_register, ring->file, IORING_REGISTER_FILES, &worker->file, 1) != 0) {
        fail(worker, "registering the file with io_uring", errno, 0);
        return ring;
    }
    map_ring(worker, ring, &params);
    return ring;
}

/* Queue what is left of a slot's operation. */
static void queue(const struct worker *worker, struct ring *ring, unsigned number)
{
    const struct slot *slot = &ring->slots[number];
    struct io_uring_sqe *entry = &ring->entries[ring->tail & ring->submit_mask];
    memset(entry, 0, sizeof *entry);
    if (worker->registered)
        entry->opcode = slot->writing ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
    else
        entry->opcode = slot->writing ? IORING_OP_WRITE : IORING_OP_READ;
    entry->flags = IOSQE_FIXED_FILE;
    entry->addr = (uint64_t)(uintptr_t)(worker->buffers + number * worker->stride + slot->done);
    entry->len = (unsigned)(slot->length - slot->done);
    entry->off = slot->offset + slot->done;
    entry->buf_index = worker->registered ? (unsigned short)number : 0;
    entry->user_data = number;
    ring->tail++;
    ring->queued++;
}

static void begin(struct worker *worker, struct ring *ring, unsigned number, uint64_t index, uint64_t time)
{
    uint64_t offset = offset_of(worker, index);
    ring->slots[number] = (struct slot){.offset = offset, .started = time};
    ring->slots[number].length = least(worker->config->bs, worker->config->size - offset);
    queue(worker, ring, number);
}

/* Look at a completion. True if the slot is free again: its block is done, or has failed. */
static bool complete(struct worker *worker, struct ring *ring, unsigned number, int result, uint64_t time)
{
    struct slot *slot = &ring->slots[number];
    struct side *side = slot->writing ? &worker->write : &worker->read;
    if (result == -EINTR || result == -EAGAIN)
        result = 0;
    else if (result <= 0) {
        const char *what = result == 0 ? "end of file" : slot->writing ? "io_uring write" : "io_uring read";
        fail(worker, what, -result, slot->offset + slot->done);
        return true;
    }
    slot->done += (uint64_t)result;
    if (slot->done < slot->length) {
        side->shorts += result > 0 && !slot->counted;
        slot->counted = slot->counted || result > 0;
        queue(worker, ring, number);
        return false;
    }
    side->operations++;
    side->bytes += slot->length;
    note(side, time - slot->started, 1);
    if (worker->config->rw != READ_WRITE || slot->writing)
        return true;
    *slot = (struct slot){.offset = slot->offset, .length = slot->length, .started = time, .writing = true};
    queue(worker, ring, number);
    return false;
}

/* Submit what is queued, and wait for so many completions at least. False if that failed. */
static bool enter(struct worker *worker, struct ring *ring, unsigned completions)
{
    __atomic_store_n(ring->submit_tail, ring->tail, __ATOMIC_RELEASE);
    unsigned flags = completions ? IORING_ENTER_GETEVENTS : 0;
    long taken = syscall(SYS_io_uring_enter, ring->file, ring->queued, completions, flags, NULL, 0);
    if (taken >= 0)
        ring->queued -= (unsigned)taken;
    else if (errno != EINTR && errno != EAGAIN && errno != EBUSY) {
        fail(worker, "io_uring_enter", errno, 0);
        return false;
    }
    return true;
}

/* One reading of the clock serves all completions that are found at once. The I/Os that follow them are
 * submitted when a sixteenth of the depth has gathered: a device that completes many at a time would
 * otherwise stand idle until all of them had been looked at. */
static void run_uring(struct worker *worker, struct ring *ring)
{
    uint64_t next = 0, depth = least(worker->config->iodepth, worker->blocks);
    unsigned flying = 0, enough = depth < 32 ? 1 : (unsigned)depth / 16;
    for (; next < depth; next++, flying++)
        begin(worker, ring, flying, next, worker->started);
    while (flying > 0 && enter(worker, ring, 1)) {
        uint64_t found = now(), time = found;
        unsigned head = *ring->complete_head, tail = __atomic_load_n(ring->complete_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++) {
            const struct io_uring_cqe *completion = &ring->completions[head & ring->complete_mask];
            unsigned number = (unsigned)completion->user_data;
            if (!complete(worker, ring, number, completion->res, found))
                continue;
            if (next < worker->blocks && !stopped(worker))
                begin(worker, ring, number, next++, time);
            else
                flying--;
            if (ring->queued >= enough) {
                if (!enter(worker, ring, 0))
                    return;
                time = now();
            }
        }
        __atomic_store_n(ring->complete_head, head, __ATOMIC_RELEASE);
    }
}

/* ------------------------------------------------------------------ a thread */

/* The CPUs of `0-3,8`, up to a slash or the end. */
static void parse_cpus(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    while (*text && *text != '/') {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (end == text || last < first || last >= CPU_SETSIZE || (*end && *end != ',' && *end != '/'))
            die("cpus=...%s is not a list of CPUs", text);
        for (unsigned long cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, set);
        text = *end == ',' ? end + 1 : end;
    }
}

/* Bind this thread to its list of CPUs. Memory that it touches first from now on is of their node. */
static bool pin(struct worker *worker)
{
    const char *list = worker->config->cpus;
    if (!list)
        return true;
    unsigned lists = 1;
    for (const char *at = list; *at; at++)
        lists += *at == '/';
    for (unsigned skip = worker->number % lists; skip; skip--)
        list = strchr(list, '/') + 1;
    cpu_set_t set;
    parse_cpus(list, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        return true;
    fail(worker, "sched_setaffinity", errno, 0);
    return false;
}

static int open_file(const struct config *config, bool write)
{
    int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | (config->direct ? O_DIRECT : 0);
    int file = open(config->file, flags | O_NOATIME);
    return file < 0 && errno == EPERM ? open(config->file, flags) : file;
}

/* All that takes time before the start: CPU, file, memory. Each thread has a file of its own, and so its own
 * read-ahead, in a file table of its own, so that the kernel need not count references (where that is allowed). */
static bool prepare(struct worker *worker)
{
    const struct config *config = worker->config;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!pin(worker))
        return false;
    (void)!unshare(CLONE_FILES);
    worker->file = open_file(config, config->rw == READ_WRITE);
    if (worker->file < 0) {
        fail(worker, "open", errno, 0);
        return false;
    }
    worker->stride = (config->bs + page - 1) / page * page;
    worker->buffers = mmap(NULL, worker->stride * config->iodepth, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (worker->buffers == MAP_FAILED) {
        fail(worker, "mmap", errno, 0);
        return false;
    }
    memset(worker->buffers, 0x5a, worker->stride * config->iodepth);
    seed(worker);
    return true;
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct rusage before, after;
    struct ring *ring = NULL;
    if (prepare(worker) && worker->config->uring)
        ring = open_ring(worker);
    pthread_barrier_wait(worker->barrier);
    getrusage(RUSAGE_THREAD, &before);
    worker->started = now();
    if (!stopped(worker)) {
        if (ring)
            run_uring(worker, ring);
        else
            run_pread(worker);
    }
    worker->ended = now();
    getrusage(RUSAGE_THREAD, &after);
    worker->user = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime);
    worker->system = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime);
    if (ring)
        close(ring->file); /* its mappings go with the process */
    free(ring);
    if (worker->file >= 0)
        close(worker->file);
    if (worker->buffers && worker->buffers != MAP_FAILED)
        munmap(worker->buffers, worker->stride * worker->config->iodepth);
    return NULL;
}

/* ------------------------------------------------------------------ the page cache */

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* one number on all architectures, Linux 6.5 */
#endif

/* Pages of the file in memory by mincore(2), for kernels without cachestat(2); -1 if it cannot be told. */
static int64_t count_resident(int file, uint64_t size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), window = (uint64_t)1 << 30;
    unsigned char *states = malloc(window / page);
    int64_t found = states ? 0 : -1;
    for (uint64_t offset = 0; offset < size && found >= 0; offset += window) {
        uint64_t length = least(window, size - offset), pages = (length + page - 1) / page;
        void *mapped = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)offset);
        if (mapped == MAP_FAILED || mincore(mapped, length, states) != 0)
            found = -1;
        for (uint64_t i = 0; i < pages && found >= 0; i++)
            found += states[i] & 1;
        if (mapped != MAP_FAILED)
            munmap(mapped, length);
    }
    free(states);
    return found;
}

/* Bytes of the file that are in the page cache. */
static uint64_t resident(int file, uint64_t size)
{
    struct { uint64_t offset, length; } range = {0, size};
    struct { uint64_t cached, dirty, writeback, evicted, recently; } counts;
    int64_t pages = syscall(SYS_cachestat, file, &range, &counts, 0) == 0 ? (int64_t)counts.cached
                                                                          : count_resident(file, size);
    if (pages < 0)
        die("neither cachestat nor mincore tells what is in the page cache: %s", strerror(errno));
    return least((uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE), size);
}

/* Drop the file from the page cache, and look whether it is gone: pages that somebody uses right now stay for
 * a while. The bytes that remain. */
static uint64_t drop(int file, uint64_t size)
{
    uint64_t left = size;
    for (int attempt = 0; attempt < 50 && left; attempt++) {
        if (attempt)
            usleep(10000);
        if (fdatasync(file) != 0)
            die("flushing the data before the start: %s", strerror(errno));
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        left = resident(file, size);
    }
    return left;
}

/* Read all of the file into the page cache. The bytes that are there. */
static uint64_t warm(int file, uint64_t size)
{
    const size_t chunk = 1 << 20;
    char *buffer = malloc(chunk);
    if (!buffer)
        die("out of memory");
    for (uint64_t offset = 0; offset < size;) {
        ssize_t got = pread(file, buffer, least(chunk, size - offset), (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            die("reading offset %" PRIu64 " into the page cache: %s", offset, got ? strerror(errno) : "end of file");
        offset += (uint64_t)got;
    }
    free(buffer);
    return resident(file, size);
}

static uint64_t bring_cache_to_rest(const struct config *config)
{
    struct config buffered = *config;
    buffered.direct = false;
    int file = open_file(&buffered, false);
    if (file < 0)
        die("cannot open the data: %s", strerror(errno));
    uint64_t found = config->cached ? warm(file, config->size) : drop(file, config->size);
    close(file);
    return found;
}

/* ------------------------------------------------------------------ a pass, and what is said of it */

static void print_side(const char *name, const struct side *side, uint64_t batch)
{
    printf(",\n   \"%s\": {\"bytes\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"short\": %" PRIu64
           ", \"latency\": ", name, side->bytes, side->operations, side->shorts);
    if (!side->timed) {
        printf("null}");
        return;
    }
    printf("{\"per\": \"%s\", \"batch\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"sum_ns\": %" PRIu64
           ", \"min_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64 ", \"bins\": [",
           batch > 1 ? "batch" : "operation", batch, side->timed, side->sum, side->min, side->max);
    const char *separator = "";
    for (unsigned bin = 0; bin < BINS; bin++) {
        if (side->bins[bin]) {
            printf("%s[%" PRIu64 ", %" PRIu64 "]", separator, least_of_bin(bin), side->bins[bin]);
            separator = ", ";
        }
    }
    printf("]}}");
}

/* Start `count` threads, and wait until all have ended. */
static void run_threads(const struct config *config, struct worker *workers, unsigned count)
{
    pthread_barrier_t barrier;
    atomic_bool stop = false;
    uint64_t blocks = blocks_of(config);
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t first = (uint64_t)((wide)blocks * i / count);
        uint64_t end = (uint64_t)((wide)blocks * (i + 1) / count);
        workers[i] = (struct worker){.config = config, .barrier = &barrier, .stop = &stop, .number = i,
                                     .first = first, .blocks = end - first, .file = -1};
        workers[i].read.min = workers[i].write.min = workers[i].pair.min = UINT64_MAX;
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (error)
            die("cannot start thread %u: %s", i + 1, strerror(error));
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
}

/* Flush what was written, as part of the wall time. The time that it took in ns. */
static uint64_t flush(const struct config *config)
{
    uint64_t before = now();
    int file = open_file(config, true);
    if (file < 0 || fdatasync(file) != 0)
        die("flushing what was written: %s", strerror(errno));
    close(file);
    return now() - before;
}

static void print_failure(const struct worker *worker)
{
    const struct failure *failure = &worker->failure;
    printf(",\n   \"error\": {\"what\": \"%s\", \"errno\": %d, \"message\": \"%s\", \"offset\": %" PRIu64
           ", \"thread\": %u}", failure->what, failure->error, failure->error ? strerror(failure->error) : "",
           failure->offset, worker->number);
}

/* One pass over the data with `count` threads. False if it failed. */
static bool pass(const struct config *config, unsigned count)
{
    struct worker *workers = calloc(count, sizeof *workers), *failed = NULL;
    struct side *totals = calloc(3, sizeof *totals);
    if (!workers || !totals)
        die("out of memory");
    uint64_t cached = bring_cache_to_rest(config), started = UINT64_MAX, ended = 0;
    run_threads(config, workers, count);
    totals[0].min = totals[1].min = totals[2].min = UINT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &workers[i];
        add(&totals[0], &worker->read);
        add(&totals[1], &worker->write);
        add(&totals[2], &worker->pair);
        started = least(started, worker->started);
        ended = ended > worker->ended ? ended : worker->ended;
        if (worker->failure.what && !failed)
            failed = worker;
    }
    uint64_t flushed = config->rw == READ_WRITE && config->end_fsync && !failed ? flush(config) : 0;
    printf("  {\"threads\": %u, \"resident_before\": %" PRIu64 ", \"wall_ns\": %" PRIu64 ", \"flush_ns\": %" PRIu64,
           count, cached, ended - started + flushed, flushed);
    print_side("read", &totals[0], config->batch);
    if (config->rw == READ_WRITE) {
        print_side("write", &totals[1], config->batch);
        print_side("pair", &totals[2], config->batch);
    }
    printf(",\n   \"per_thread\": [");
    for (unsigned i = 0; i < count; i++) {
        const struct worker *worker = &workers[i];
        printf("%s\n    {\"after_ns\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"bytes\": %" PRIu64
               ", \"operations\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"system_ns\": %" PRIu64
               ", \"registered\": %s}", i ? "," : "", worker->started - started, worker->ended - worker->started,
               worker->read.bytes + worker->write.bytes, worker->read.operations + worker->write.operations,
               worker->user, worker->system, worker->registered ? "true" : "false");
    }
    printf("]");
    if (failed)
        print_failure(failed);
    printf("}");
    free(workers);
    free(totals);
    return !failed;
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

static void parse_threads(struct config *config, char *text)
{
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        if (config->passes == MOST_PASSES)
            die("more than %d numbers of threads", MOST_PASSES);
        config->threads[config->passes++] = (unsigned)number("threads", part, MOST_THREADS);
    }
}

static void parse(struct config *config, char *argument)
{
    char *value = strchr(argument, '=');
    if (!value)
        die("%s is not NAME=VALUE", argument);
    *value++ = '\0';
    const char *name = argument;
    if (!strcmp(name, "file"))
        config->file = value;
    else if (!strcmp(name, "size"))
        config->size = number(name, value, INT64_MAX);
    else if (!strcmp(name, "bs"))
        config->bs = number(name, value, 0x7ffff000); /* the most that one system call moves: read(2) */
    else if (!strcmp(name, "rw") && (!strcmp(value, "read") || !strcmp(value, "randread") || !strcmp(value, "rw")))
        config->rw = !strcmp(value, "read") ? READ : !strcmp(value, "rw") ? READ_WRITE : RANDREAD;
    else if (!strcmp(name, "threads"))
        parse_threads(config, value);
    else if (!strcmp(name, "ioengine") && (!strcmp(value, "pread") || !strcmp(value, "io_uring")))
        config->uring = !strcmp(value, "io_uring");
    else if (!strcmp(name, "iodepth"))
        config->iodepth = (unsigned)number(name, value, MOST_DEPTH);
    else if (!strcmp(name, "direct"))
        config->direct = number(name, value, 1);
    else if (!strcmp(name, "cached"))
        config->cached = number(name, value, 1);
    else if (!strcmp(name, "end_fsync"))
        config->end_fsync = number(name, value, 1);
    else if (!strcmp(name, "seed"))
        config->seed = number(name, value, UINT64_MAX);
    else if (!strcmp(name, "batch"))
        config->batch = number(name, value, 1 << 20);
    else if (!strcmp(name, "cpus"))
        config->cpus = value;
    else
        die("unknown: %s=%s", name, value);
}

static void check(const struct config *config)
{
    if (!config->file || !config->bs || !config->iodepth || !config->batch || !config->passes)
        die("file, size, bs, threads, iodepth and batch must be given and above 0");
    if (!config->uring && config->iodepth != 1)
        die("pread has one I/O in flight: iodepth=1");
    if (config->uring && config->batch != 1)
        die("io_uring has no batches: batch=1");
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < config->passes; i++) {
        unsigned threads = config->threads[i];
        if (!threads || blocks_of(config) < threads || config->size < config->bs)
            die("%" PRIu64 " bytes in blocks of %" PRIu64 " cannot be shared out to %u threads", config->size,
                config->bs, threads);
        if (config->bs > memory / 2 / config->iodepth / threads)
            die("buffers of %u x %u x %" PRIu64 " bytes take more than half of the memory", threads, config->iodepth,
                config->bs);
    }
}

int main(int count, char **arguments)
{
    static const char *const patterns[] = {"read", "randread", "rw"};
    struct config config = {.iodepth = 1, .batch = 1, .end_fsync = true};
    for (int i = 1; i < count; i++)
        parse(&config, arguments[i]);
    check(&config);
    printf("{\"reader\": 1, \"compiler\": \"%s\", \"rw\": \"%s\", \"bs\": %" PRIu64 ", \"size\": %" PRIu64
           ", \"ioengine\": \"%s\", \"iodepth\": %u, \"direct\": %s, \"cached\": %s, \"seed\": %" PRIu64
           ",\n \"passes\": [\n", __VERSION__, patterns[config.rw], config.bs, config.size,
           config.uring ? "io_uring" : "pread", config.iodepth, config.direct ? "true" : "false",
           config.cached ? "true" : "false", config.seed);
    bool well = true;
    for (unsigned i = 0; i < config.passes && well; i++) {
        if (i)
            printf(",\n");
        well = pass(&config, config.threads[i]);
    }
    printf("\n ]}\n");
    if (fflush(stdout) != 0)
        return 1;
    return well ? 0 : 1;
}
