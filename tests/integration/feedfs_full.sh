#!/usr/bin/env bash
# feedfs on full and missing disks: one clear sentence and exit code 3, what is there stays readable, and with room again it goes on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "mounts small filesystems: needs root"

SMALL=$WORK/small
mkdir -p "$SMALL" "$WORK/mount"
undo() { chattr -i "$SMALL/data" 2>/dev/null; umount -l "$SMALL"; }
small_filesystem() { # MiB
  umount -l "$SMALL" 2>/dev/null
  truncate -s "$1M" "$WORK/small.img"
  mkfs.ext4 -q -F -m 0 "$WORK/small.img" && mount -o loop "$WORK/small.img" "$SMALL" 2>"$WORK/err.txt" || skip "no loop mounts here: $(cat "$WORK/err.txt")"
}
tree() { # DIR FILES BYTES
  mkdir -p "$1"
  "$PYTHON" -c 'import random,sys
random.seed(sys.argv[1])
for i in range(int(sys.argv[2])): open(f"{sys.argv[1]}/{i:05d}","wb").write(random.randbytes(int(sys.argv[3])))' "$1" "$2" "$3"
}
check_copy() { # SOURCE [PREFIX IN VOLUME] : everything that the volume has of it is whole
  rm -rf "$WORK/copy"
  run "$FEEDFS" export "$VOLUME" "$WORK/copy" --quiet --from "$2"; expect_status 0 "export of $2"
  diff -rq "$WORK/copy" "$1" 2>&1 | grep -v "^Only in $1" >"$WORK/broken.txt"
  [ ! -s "$WORK/broken.txt" ] || fail "not whole: $(head -n 3 "$WORK/broken.txt")"
}
tree "$WORK/first" 300 20000
tree "$WORK/second" 3000 20000

note "a full target"
small_filesystem 40
run "$FEEDFS" mkfs "$VOLUME" --target "$SMALL/data" --chunk 1MiB --segment 8MiB; expect_status 0 mkfs
run "$FEEDFS" import "$VOLUME" "$WORK/first" --into first --quiet; expect_status 0 "what fits"
run "$FEEDFS" import "$VOLUME" "$WORK/second" --into second --quiet; expect_status 3 "more than fits"
expect_said 'ENOSPC'; expect_said "$SMALL/data"
check_copy "$WORK/first" first
[ "$(find "$WORK/copy" -type f | wc -l)" -eq 300 ] || fail "files of before are missing on a full target"
check_copy "$WORK/second" second
umount "$SMALL"; truncate -s 160M "$WORK/small.img"; e2fsck -fp "$WORK/small.img" >/dev/null; resize2fs "$WORK/small.img" >/dev/null 2>&1; mount -o loop "$WORK/small.img" "$SMALL"
run "$FEEDFS" import "$VOLUME" "$WORK/second" --into second --quiet; expect_status 0 "with room again"
check_copy "$WORK/second" second
[ "$(find "$WORK/copy" -type f | wc -l)" -eq 3000 ] || fail "files are missing after the import went on"
repair_volume
rm -rf "$VOLUME"; umount "$SMALL"

note "a full target behind feedbench: small files are committed before they are published, and nothing of that is lost"
small_filesystem 40
run "$FEEDFS" mkfs "$VOLUME" --target "$SMALL/data" --chunk 1MiB --segment 8MiB; expect_status 0 mkfs
# 26 MB of payload, for which there is room, in records of 8 KiB, for which there is not.
SMALL_FILES=(-p dataset.num_files_train=6000 -p dataset.record_length_bytes=4300 -p dataset.record_length_bytes_stdev=0)
run "$FEEDBENCH" datagen unet3d_mini "${SMALL_FILES[@]}" --data-dir "feedfs:$VOLUME/set" --no-fsync; expect_status 3 "datagen of more than fits"
expect_said "set/train/[^ ]*: .*$SMALL/data/.*ENOSPC"
expect_said 'at least [0-9]+ of [0-9]+ files are missing' # some were taken, and lost when their group was stored
rm -rf "$VOLUME"; umount "$SMALL"
small_filesystem 40
run "$FEEDFS" mkfs "$VOLUME" --target "$SMALL/data" --chunk 1MiB --segment 8MiB; expect_status 0 mkfs
run "$FEEDBENCH" datagen unet3d_mini "${SMALL_FILES[@]}" --data-dir "feedfs:$VOLUME/set"; expect_status 3 "each file synced, and no room"
expect_said "$SMALL/data.*files are missing"; expect_not_said ': ; '
rm -rf "$VOLUME"; umount "$SMALL"
small_filesystem 40
run "$FEEDFS" mkfs "$VOLUME" --target "$SMALL/data" --chunk 1MiB --segment 8MiB; expect_status 0 mkfs
if chattr +i "$SMALL/data" 2>/dev/null; then # no segment can be begun
  run "$FEEDBENCH" run llama3_8b -a 8 --results-dir "$WORK/results" -p model.scale=0.00004 -p checkpoint.fsync=false --allow-cached \
    -p "checkpoint.checkpoint_folder=feedfs:$VOLUME/ck" -p checkpoint.num_checkpoints_write=1 -p checkpoint.num_checkpoints_read=0
  expect_status 3 "a checkpoint whose files cannot be published"
  expect_said 'ck/[^ ]*: .*could not be published after its commit: .*EPERM'
  [ "$("$FEEDFS" ls "$VOLUME" ck | grep -c json)" -eq 0 ] || fail "a checkpoint is listed whose files are not there"
  chattr -i "$SMALL/data"
fi
rm -rf "$VOLUME"; umount "$SMALL"

note "full metadata: its disk, then its own limit"
"$PYTHON" -c 'import sys
for i in range(40000): open(f"{sys.argv[1]}/{i:06d}-"+"x"*120,"wb").close()' "$(mkdir -p "$WORK/many"; echo "$WORK/many")"
for case in disk limit; do
  small_filesystem 10
  limit=()
  [ "$case" = disk ] || limit=(--metadata-option map_limit_bytes=4194304 --metadata-option map_bytes=4194304)
  place=$SMALL/metadata
  [ "$case" = disk ] || place=metadata
  run "$FEEDFS" mkfs "$VOLUME" --metadata-place "$place" "${limit[@]}"; expect_status 0 "mkfs, metadata limited by its $case"
  run "$FEEDFS" import "$VOLUME" "$WORK/first" --into first --quiet; expect_status 0 "what fits"
  run "$FEEDFS" import "$VOLUME" "$WORK/many" --into many --quiet; expect_status 3 "more metadata than fits ($case)"
  expect_said 'ENOSPC'; expect_said 'metadata'
  check_copy "$WORK/first" first
  [ "$(find "$WORK/copy" -type f | wc -l)" -eq 300 ] || fail "files of before are missing with full metadata ($case)"
  rm -rf "$VOLUME"; umount "$SMALL"
done

note "a missing target"
run "$FEEDFS" mkfs "$VOLUME" --target "$WORK/one" --target "$WORK/two" --chunk 1MiB --segment 8MiB; expect_status 0 mkfs
run "$FEEDFS" import "$VOLUME" "$WORK/second" --into second --quiet; expect_status 0 import
mv "$WORK/two" "$WORK/away"
run "$FEEDFS" ls "$VOLUME" second; expect_status 0 "names do not need the target"
read_well=0 refused=0
for i in 0 500 1000 1500 2000 2500 2999 250 750 1250 1750 2250; do
  name=$(printf '%05d' "$i")
  run "$FEEDFS" cat "$VOLUME" "second/$name"
  if [ "$STATUS" -eq 0 ]; then cmp -s "$WORK/out.txt" "$WORK/second/$name" || fail "$name is wrong with a target missing"; read_well=$((read_well + 1))
  else expect_status 3 "a file on a missing target"; expect_said "ENODEV"; expect_said "$WORK/two"; refused=$((refused + 1)); fi
done
[ "$read_well" -gt 0 ] && [ "$refused" -gt 0 ] || fail "read $read_well files and refused $refused: both should occur"
mv "$WORK/away" "$WORK/two"
check_copy "$WORK/second" second
