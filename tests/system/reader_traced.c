/* The reader with its system calls seen and, if asked, disturbed.
 *
 * TRACE=FILE gets a line for each pread and pwrite: its letter, offset, length and result. DISTURB is one of
 * short (every 7th moves half), interrupt (every 5th says EINTR), fail=OFFSET (EIO there), blocked=ERRNO
 * (io_uring_setup), old-ring (io_uring without flags, registered buffers or cachestat). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/io_uring.h>

static long real(long number, const long *a)
{
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int disturbed(const char *what)
{
    const char *asked = getenv("DISTURB");
    return asked && !strncmp(asked, what, strlen(what));
}

static long traced(long number, ...)
{
    static atomic_uint count;
    static _Thread_local int log = -1; /* each thread of the reader has a file table of its own */
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_io_uring_setup && disturbed("blocked=")) {
        errno = atoi(getenv("DISTURB") + 8);
        return -1;
    }
    if (disturbed("old-ring") &&
        ((number == SYS_io_uring_setup && ((struct io_uring_params *)a[1])->flags) || number == 451 ||
         (number == SYS_io_uring_register && (int)a[1] == IORING_REGISTER_BUFFERS))) {
        errno = number == 451 ? ENOSYS : number == SYS_io_uring_setup ? EINVAL : ENOMEM;
        return -1;
    }
    if (number != SYS_pread64 && number != SYS_pwrite64)
        return real(number, a);
    long asked = a[2];
    unsigned turn = atomic_fetch_add(&count, 1);
    if (disturbed("short") && turn % 7 == 3 && a[2] > 1)
        a[2] /= 2;
    if (disturbed("interrupt") && turn % 5 == 2) {
        errno = EINTR;
        return -1;
    }
    if (disturbed("fail=") && a[3] <= atol(getenv("DISTURB") + 5) && a[3] + a[2] > atol(getenv("DISTURB") + 5)) {
        errno = EIO;
        return -1;
    }
    long result = real(number, a);
    if (getenv("TRACE")) {
        if (log < 0)
            log = open(getenv("TRACE"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        char line[100];
        int length = snprintf(line, sizeof line, "%c %ld %ld %ld\n", number == SYS_pread64 ? 'r' : 'w', a[3], asked,
                              result);
        if (write(log, line, (size_t)length) != length)
            abort();
    }
    return result;
}

#define syscall traced
#include READER
