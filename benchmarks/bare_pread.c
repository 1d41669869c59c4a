/* The least that reading a file can cost: pread in a loop, one thread, no figures but the time of all.
 * usage: bare_pread FILE SIZE BLOCK; prints nanoseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t offset = 0; offset < size; offset += block)
        if (pread(file, buffer, block, (off_t)offset) != (ssize_t)block)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%lld\n", (end.tv_sec - start.tv_sec) * 1000000000ll + end.tv_nsec - start.tv_nsec);
    return 0;
}
