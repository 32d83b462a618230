// Preloaded into a process (LD_PRELOAD), a machine whose clock fails: SLOW_CLOCK_AFTER_S after its first look at it, CLOCK_MONOTONIC goes on
// at a SLOW_CLOCK_FACTOR-th of its speed. Whatever is measured after that looks that much faster than it was.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec* t) {
    static int (*real)(clockid_t, struct timespec*);
    static long long start_ns, slow_from_ns, factor;
    if (!real) {
        real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
        factor = atoll(getenv("SLOW_CLOCK_FACTOR"));
    }
    const int result = real(id, t);
    if (result != 0 || id != CLOCK_MONOTONIC) return result;
    long long now_ns = t->tv_sec * 1000000000LL + t->tv_nsec;
    if (!start_ns) {
        start_ns = now_ns;
        slow_from_ns = now_ns + (long long)(atof(getenv("SLOW_CLOCK_AFTER_S")) * 1e9);
    }
    if (now_ns > slow_from_ns) now_ns = slow_from_ns + (now_ns - slow_from_ns) / factor;
    t->tv_sec = now_ns / 1000000000LL;
    t->tv_nsec = now_ns % 1000000000LL;
    return result;
}
