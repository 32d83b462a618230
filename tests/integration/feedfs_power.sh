#!/usr/bin/env bash
# feedfs and losses of power below everything: the system calls of a writer (segments by O_DIRECT, LMDB) are traced and replayed up to many
# points, with what was not synced lost, reordered or torn; fsck and export then show what is there. FEEDFS_POWER_POINTS=2000: more points.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
WRITER=$(dirname "$FEEDBENCH")/sim_feedfs
[ -x "$WRITER" ] || fail "sim_feedfs is not built"
command -v strace >/dev/null || skip "no strace here"
strace -o "$WORK/probe" true 2>/dev/null || skip "strace may not trace here"
"$FEEDFS" fsck --help >/dev/null || fail "feedfs has no fsck"

run "$FEEDFS" mkfs "$VOLUME" --chunk 64KiB --segment 256KiB; expect_status 0 mkfs
cp -a "$VOLUME" "$WORK/before"
export FEEDFS_POWER_VOLUME=$VOLUME FEEDFS_POWER_OPERATIONS=150
# The writer lives in an earlier boot: what feedfs does after a loss of power, it does when the boot has changed.
echo 00000000-1111-4222-8333-444444444444 >"$WORK/boot_id"
unshare -m true 2>/dev/null || skip "needs root: the writer is given another boot id"
run unshare -m sh -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$WORK/boot_id" strace -f -y -xx -s 10000000 -o "$WORK/trace" \
  -e trace=openat,unlink,lseek,write,writev,pwrite64,pwritev,fdatasync,fsync,ftruncate,fallocate,msync,sync_file_range,rename,renameat "$WRITER" '[.power_writer]'
expect_status 0 "the traced writer"
unset FEEDFS_POWER_VOLUME
replay() { LIMIT=280 run "$PYTHON" "$FEEDBENCH_SOURCE_DIR/tests/integration/feedfs_power.py" "$WORK/trace" "$VOLUME" "$WORK" "$FEEDFS" "$@"; }
replay "${FEEDFS_POWER_POINTS:-150}" 1; expect_status 0 "a loss of power"; expect_said 'nothing lost'
note "$(tail -n 1 "$WORK/out.txt")"
# What this test would not see, it could not show.
replay 200 2 lie; expect_status 1 "a disk that lies about syncs"; expect_said '^point '
