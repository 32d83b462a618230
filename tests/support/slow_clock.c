// Preloaded into a process (LD_PRELOAD), a machine whose clock fails: once the file SLOW_CLOCK_WHEN exists, CLOCK_MONOTONIC goes on at a
// SLOW_CLOCK_FACTOR-th of its speed for SLOW_CLOCK_FOR_S seconds. What is measured meanwhile looks that much faster than it was.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec* t) {
    static int (*real)(clockid_t, struct timespec*);
    static long long slow_from_ns, slow_for_ns, factor;
    if (!real) {
        factor = atoll(getenv("SLOW_CLOCK_FACTOR"));
        slow_for_ns = (long long)(atof(getenv("SLOW_CLOCK_FOR_S")) * 1e9);
        real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    }
    const int result = real(id, t);
    if (result != 0 || id != CLOCK_MONOTONIC) return result;
    long long now_ns = t->tv_sec * 1000000000LL + t->tv_nsec;
    if (!slow_from_ns) {
        if (access(getenv("SLOW_CLOCK_WHEN"), F_OK) != 0) return result;
        slow_from_ns = now_ns;
    }
    const long long since_ns = now_ns - slow_from_ns, slow_ns = since_ns < slow_for_ns ? since_ns : slow_for_ns;
    now_ns -= slow_ns - slow_ns / factor;
    t->tv_sec = now_ns / 1000000000LL;
    t->tv_nsec = now_ns % 1000000000LL;
    return result;
}
