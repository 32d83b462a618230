#!/usr/bin/env bash
# Random operations on a mount beside a model (feedfs_fsx.cpp), by several processes at once; the same tree after a remount;
# and the filesystem stressors of stress-ng that apply. FEEDFS_FSX_OPERATIONS=200000 FEEDFS_FSX_SEED=7 for a long run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
need_fuse
operations=${FEEDFS_FSX_OPERATIONS:-700} first=${FEEDFS_FSX_SEED:-1}
fsx=${FEEDBENCH_BINARY_DIR:-$(dirname "$FEEDBENCH")}/feedfs_fsx
[ -x "$fsx" ] || fail "no program feedfs_fsx beside $FEEDBENCH"

make_volume --chunk 256KiB --segment 4MiB
mount_volume
note "three programs at once, $operations operations each from seed $first on"
for i in 0 1 2; do
  mkdir "$MOUNT/s$i"
  "$fsx" "$MOUNT/s$i" --seed $((first + i)) --operations "$operations" --largest 1500000 >"$WORK/fsx$i.txt" 2>&1 &
  programs[i]=$!
done
for i in 0 1 2; do wait "${programs[i]}" || fail "$(cat "$WORK/fsx$i.txt")"; done
unmount_volume

note "the same trees after a remount, and fsck finds nothing lost"
mount_volume -o ro
for i in 0 1 2; do
  run "$fsx" "$MOUNT/s$i" --seed $((first + i)) --operations "$operations" --largest 1500000 --check
  expect_status 0 "the tree after the remount: $(tail -n 1 "$WORK/err.txt")"
done
unmount_volume
run "$FEEDFS" fsck "$VOLUME" --data; expect_status 0 "fsck"; expect_not_said '^lost:|^wrong:'

# Stressors that write once, or change names and attributes. docs/feedfs.md lists the others, and why they do not apply.
if command -v stress-ng >/dev/null; then
  mount_volume
  for stressor in dentry dir dirdeep fstat rename symlink filename utime chmod chown touch; do
    note "stress-ng $stressor"
    mkdir -p "$MOUNT/stress"
    extra=()
    [ "$stressor" != filename ] || extra=(--filename-opts probe)
    LIMIT=60 run stress-ng --temp-path "$MOUNT/stress" --"$stressor" 2 --"$stressor"-ops "${FEEDFS_STRESS_OPS:-300}" --timeout 20 --verify "${extra[@]}"
    expect_status 0 "stress-ng $stressor"
    is_mounted && [ -d "$MOUNT/s0" ] || fail "the mount is gone after stress-ng $stressor"
  done
  unmount_volume
fi
note "passed"
