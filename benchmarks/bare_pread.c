/* The least that reading a file can cost: pread in a loop, one thread, no figures but the time of all.
 * usage: bare_pread FILE SIZE BLOCK; prints nanoseconds of wall time, and of the processor.
 *
 * As the reader does, it reads all data once before the start: on a busy machine the scheduler favours a process
 * that has not used its share yet. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static char warm[1 << 20];

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    uint64_t size = strtoull(arguments[2], NULL, 10), block = strtoull(arguments[3], NULL, 10);
    int file = open(arguments[1], O_RDONLY);
    void *buffer;
    if (file < 0 || posix_memalign(&buffer, 4096, block) != 0)
        return 1;
    memset(buffer, 1, block);
    for (uint64_t offset = 0; offset < size; offset += 1 << 20)
        if (pread(file, warm, sizeof warm, (off_t)offset) < 0)
            return 1;
    int64_t wall = nanoseconds(CLOCK_MONOTONIC), processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t offset = 0; offset < size; offset += block)
        if (pread(file, buffer, block, (off_t)offset) != (ssize_t)block)
            return 1;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    printf("%lld %lld\n", (long long)wall, (long long)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor));
    return 0;
}
