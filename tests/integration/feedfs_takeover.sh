#!/usr/bin/env bash
# A mount that is stopped (SIGSTOP) until another host takes it for dead and repairs the volume: what it had open is lost and said to be, reads go on,
# what it begins then is kept, without remounting; and the volume is clean afterwards.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
need_fuse
[ "$(id -u)" -eq 0 ] && unshare --uts true 2>/dev/null || skip "needs root: the other host is a host name of its own"
cc=$(command -v gcc || command -v cc) || skip "no C compiler here"

# The other host's clock is more than a lease ahead, so that nobody has to wait for it.
cat >"$WORK/ahead.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec* t) {
    static int (*real)(clockid_t, struct timespec*);
    if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += 150;
    return result;
}
C
"$cc" -shared -fPIC -O1 -o "$WORK/ahead.so" "$WORK/ahead.c" -ldl || fail "the clock does not compile"
ELSEWHERE=(unshare --uts sh -c 'hostname elsewhere && exec "$@"' sh env LD_PRELOAD="$WORK/ahead.so" "$FEEDFS")

make_volume --target data1 --target data2 --chunk 1MiB --segment 8MiB
mount_volume
head -c 3000000 /dev/urandom >"$WORK/before"; cp "$WORK/before" "$MOUNT/before"; sync "$MOUNT/before"
run "${ELSEWHERE[@]}" fsck "$VOLUME"; expect_status 0 "a volume that is mounted"
mkfifo "$WORK/go"
"$PYTHON" - "$MOUNT" "$WORK" <<'PY' >"$WORK/python.txt" 2>&1 &
import errno, os, sys
mount, work = sys.argv[1:]
large, small = open(f"{mount}/large", "wb"), open(f"{mount}/small", "wb")
large.write(b"l" * 2_500_000); large.flush()  # two chunks lie in segments, the rest in memory
small.write(b"s" * 5_000); small.flush()
open(f"{work}/ready", "w").close()
open(f"{work}/go").read()
for name, file in (("large", large), ("small", small)):
    try:
        os.fsync(file.fileno()); print(name, "was kept")
    except OSError as e:
        print(name, errno.errorcode[e.errno])
for file in (large, small):
    try: file.close()
    except OSError as e: print("close", errno.errorcode[e.errno])
PY
writer=$!
wait_until 20 test -e "$WORK/ready" || fail "the writer did not begin: $(cat "$WORK/python.txt")"
sleep 0.5
kill -STOP "$MOUNT_PID"
run "${ELSEWHERE[@]}" fsck "$VOLUME" --repair; expect_status 1 "the repair of what a stopped mount left"; expect_said 'lease'
kill -CONT "$MOUNT_PID"

cmp "$WORK/before" "$MOUNT/before" || fail "what was published cannot be read any more"
echo >"$WORK/go"
wait "$writer" || fail "the writer: $(cat "$WORK/python.txt")"
grep -q '^large ESTALE$' "$WORK/python.txt" && grep -q '^small ESTALE$' "$WORK/python.txt" || fail "who had files open was told: $(cat "$WORK/python.txt")"
# From now on, under a lease of its own.
head -c 4000000 /dev/urandom >"$WORK/after"
wait_until 20 eval 'cp "$WORK/after" "$MOUNT/after" && sync "$MOUNT/after"' || fail "the mount does not write any more"
cmp "$WORK/after" "$MOUNT/after" && cmp "$WORK/before" "$MOUNT/before" || fail "what was written afterwards"
for name in large small; do [ ! -e "$MOUNT/$name" ] || fail "$name is visible, though its writer was told that it is lost"; done
run "$FEEDFS" fsck "$VOLUME" --data; expect_status 0 "the volume with the mount on it"
unmount_volume
run "$FEEDFS" fsck "$VOLUME" --data; expect_status 0 "the volume afterwards"
expect_not_said 'size_wrong|lost:|wrong:'
repair_volume
run "$FEEDFS" cat "$VOLUME" after; cmp "$WORK/out.txt" "$WORK/after" || fail "after"
note "passed"
