#!/usr/bin/env bash
# feedfs and kill -9: of imports, of the mount, of Redis, in the middle of load. What was told to be there is there, whole; what was not is
# nowhere; the same command goes on; two versions do not open each other's volumes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"

# A source of many small files and a few large ones.
SOURCE=$WORK/source
mkdir -p "$SOURCE/small" "$SOURCE/large"
"$PYTHON" - "$SOURCE" <<'PY'
import os, random, sys
random.seed(7)
for i in range(8000):
    with open(f"{sys.argv[1]}/small/{i:05d}", "wb") as f: f.write(random.randbytes(random.choice([0, 100, 4032, 4033, 10240])))
for i in range(6):
    with open(f"{sys.argv[1]}/large/{i}", "wb") as f: f.write(random.randbytes(9_000_000 + i))
PY

# whole_or_absent DIR : every file in DIR is one of the source's, with its content
whole_or_absent() {
  diff -rq "$1" "$SOURCE" 2>&1 | grep -v "^Only in $SOURCE" >"$WORK/broken.txt"
  [ ! -s "$WORK/broken.txt" ] || fail "half there after a kill: $(head -n 3 "$WORK/broken.txt")"
}
files_in_volume() { "$FEEDFS" stat "$VOLUME" --json 2>/dev/null | "$PYTHON" -c 'import json,sys; print(json.load(sys.stdin)["files"])' 2>/dev/null || echo 0; }
# kill_import SECONDS : an import that is killed after so long
kill_import() {
  launch "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet
  sleep "$1"
  kill -KILL "$job" 2>/dev/null
  wait "$job" 2>/dev/null
  rm -rf "$WORK/copy"
  run "$FEEDFS" export "$VOLUME" "$WORK/copy" --quiet; expect_status 0 "export after a kill"
  whole_or_absent "$WORK/copy"
}
calculate() { "$PYTHON" -c "print($1)"; }
check_whole() {
  rm -rf "$WORK/copy"
  run "$FEEDFS" export "$VOLUME" "$WORK/copy" --quiet; expect_status 0 "export"
  same_trees "$SOURCE" "$WORK/copy"
}
note "mkfs that is killed at any of its system calls, and the next one"
if strace -o "$WORK/probe" true 2>/dev/null; then
  stopped=0
  mkdir "$WORK/one"; printf content >"$WORK/one/file"
  for call in mkdir openat link fsync fdatasync pwrite64 ftruncate unlink; do
    for n in $(seq 40); do
      rm -rf "$WORK/made" "$WORK/made_data"; mkdir "$WORK/made_data"
      strace -f -qq -o "$WORK/probe" -e trace="$call" -e inject="$call:signal=KILL:when=$n" "$FEEDFS" mkfs "$WORK/made" --target data --target "$WORK/made_data" >/dev/null 2>&1 && break
      stopped=$((stopped + 1))
      run "$FEEDFS" mkfs "$WORK/made" --target data --target "$WORK/made_data"
      [ "$STATUS" -eq 0 ] || expect_said 'there is a feedfs volume here already' # it was all but over
      "$FEEDFS" import "$WORK/made" "$WORK/one" --quiet || fail "the volume is not whole after $call $n of a mkfs that was killed"
      run "$FEEDFS" fsck "$WORK/made" --data; expect_status 0 "fsck after $call $n of a mkfs that was killed"
    done
  done
  [ "$stopped" -ge 30 ] || fail "only $stopped mkfs were killed"
  rm -rf "$WORK/made" "$WORK/made_data"
else
  note "no strace here: left out"
fi

note "imports that are killed"
# How long a whole one takes here, for the moments of the kills: each goes on where the one before was killed.
run "$FEEDFS" mkfs "$WORK/whole"; expect_status 0 "mkfs"
began=$EPOCHREALTIME
run "$FEEDFS" import "$WORK/whole" "$SOURCE" --quiet; expect_status 0 "an import that nobody kills"
took=$(calculate "$EPOCHREALTIME - $began"); rm -rf "$WORK/whole"
make_volume --target data1 --target data2
killed=0
for part in 0.4 0.2 0.1 0.1 0.05; do
  kill_import "$(calculate "$took * $part")"
  [ "$(files_in_volume)" -ge 8006 ] || killed=$((killed + 1))
done
[ "$killed" -gt 0 ] || fail "no import was killed before its end: this test shows nothing"
repair_volume
run "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet; expect_status 0 "the import that goes on"
repair_volume
check_whole

note "a mount that is killed under load"
if [ -c /dev/fuse ] && command -v fusermount3 >/dev/null; then
  mount_volume
  mkdir "$MOUNT/written"; : >"$WORK/synced.txt"
  # What dd has synced, it has told; the rest was on its way.
  ( i=0; while :; do
      head -c $((i % 7 * 20000 + 11)) "$SOURCE/large/0" | dd of="$MOUNT/written/$i" bs=64k conv=fsync status=none 2>/dev/null || exit 0
      echo "$i" >>"$WORK/synced.txt"; i=$((i + 1)); done ) &
  writer=$!
  told() { [ "$(wc -l <"$WORK/synced.txt")" -ge 40 ]; }
  wait_until 60 told || fail "the writer on the mount does not get on"
  kill -KILL "$MOUNT_PID"; wait "$writer" 2>/dev/null
  umount -l "$MOUNT"
  mount_volume
  while read -r i; do
    head -c $((i % 7 * 20000 + 11)) "$SOURCE/large/0" | cmp -s - "$MOUNT/written/$i" || fail "file $i was synced before the mount was killed, and is not there whole"
  done <"$WORK/synced.txt"
  for file in "$MOUNT"/written/*; do
    i=$(basename "$file")
    head -c $((i % 7 * 20000 + 11)) "$SOURCE/large/0" | cmp -s - "$file" || [ ! -s "$file" ] || fail "file $i is half there"
  done
  rm -r "$MOUNT/written"
  unmount_volume
  repair_volume
else note "no FUSE here: the mount is not killed"; fi

note "volumes of other versions"
cp "$VOLUME/volume.yaml" "$WORK/volume.yaml"
version=$(sed -n 's/^format_version: *//p' "$VOLUME/volume.yaml")
[ -n "$version" ] || fail "volume.yaml names no format version"
for other in $((version + 1)) $((version - 1)); do
  sed -i "s/^format_version:.*/format_version: $other/" "$VOLUME/volume.yaml"
  run "$FEEDFS" ls "$VOLUME"; [ "$STATUS" -ne 0 ] || fail "a volume of version $other was opened"
  expect_said "version.* $other"
  run "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet; [ "$STATUS" -ne 0 ] || fail "a volume of version $other was written to"
done
cp "$WORK/volume.yaml" "$VOLUME/volume.yaml"
check_whole
