#!/usr/bin/env bash
# Every command of feedfs on volumes that are damaged in every way known here: it says what is wrong and ends with one of its exit codes, and what
# is not damaged is read. FEEDFS: another build of the command, such as one with sanitizers.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"

# knows CODES COMMAND... : it ends with one of them, and neither a signal nor a sanitizer ended it
knows() {
  local codes=$1; shift
  run "$@"
  [[ " $codes " == *" $STATUS "* ]] || fail "$kind: exit code $STATUS, expected one of $codes: $*"
  expect_not_said 'Sanitizer|runtime error:|terminate called|[Aa]ssertion|lmdb.*failed'
}
flip() { # FILE BYTE
  "$PYTHON" -c 'import sys
f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)[0]; f.seek(int(sys.argv[2])); f.write(bytes([b ^ 1]))' "$1" "$2"
}
segment() { find "$1" -name '*.segment' | sort | sed -n "${2:-1}p"; } # DIR NUMBER

SOURCE=$WORK/source SOUND=$WORK/sound
mkdir -p "$SOURCE"
for i in $(seq 60); do head -c $((i * 1000)) /dev/urandom >"$SOURCE/f$i"; done
head -c 5000000 /dev/urandom >"$SOURCE/large"
run "$FEEDFS" mkfs "$SOUND" --target one --target two --object-target objects --chunk 1MiB --segment 4MiB; expect_status 0 mkfs
run "$FEEDFS" import "$SOUND" "$SOURCE" --into sets --quiet; expect_status 0 import
run "$FEEDFS" tier "$SOUND" upload; expect_status 0 upload
head -c 3000000 /dev/urandom >"$WORK/late"; mkdir "$WORK/more"; mv "$WORK/late" "$WORK/more"
run "$FEEDFS" import "$SOUND" "$WORK/more" --into more --quiet; expect_status 0 "an import that is not uploaded"
run "$FEEDFS" fsck "$SOUND" --data; expect_status 0 "the sound volume"

damage() { # KIND VOLUME
  local v=$2
  case $1 in
    payload) flip "$(segment "$v/one")" 100 ;;
    footers) for at in 4095 8191 12287 16383; do flip "$(segment "$v/two")" $at; done ;;
    zeros) dd if=/dev/zero of="$(segment "$v/one" 2)" bs=4096 count=3 conv=notrunc status=none ;;
    segment_cut) truncate -s 4097 "$(segment "$v/one")" ;;
    segment_empty) truncate -s 0 "$(segment "$v/two")" ;;
    segment_longer) truncate -s +12288 "$(segment "$v/one")" ;;
    segment_gone) rm "$(segment "$v/one")" ;;
    segment_a_folder) local s; s=$(segment "$v/one"); rm "$s"; mkdir "$s" ;;
    segment_more) cp "$(segment "$v/one")" "$v/two/00000000000000ff.segment"; : >"$v/one/0000000000000003.segment" ;;
    target_gone) rm -r "$v/two" ;;
    targets_swapped) mv "$v/one" "$v/x"; mv "$v/two" "$v/one"; mv "$v/x" "$v/two" ;;
    objects_gone) rm -r "$v/objects" ;;
    object_cut) truncate -s 5000 "$(segment "$v/objects")"; rm "$(segment "$v/one")" ;;
    mark_foreign) echo 01234567-89ab-cdef-0123-456789abcdef >"$v/one/feedfs.target" ;;
    mark_empty) : >"$v/one/feedfs.target" ;;
    yaml_empty) : >"$v/volume.yaml" ;;
    yaml_noise) head -c 3000 /dev/urandom >"$v/volume.yaml" ;;
    yaml_list) echo '[1, 2, {a: *b}]' >"$v/volume.yaml" ;;
    yaml_cut) truncate -s 200 "$v/volume.yaml" ;;
    yaml_later) sed -i 's/^format_version: .*/format_version: 9/' "$v/volume.yaml" ;;
    metadata_gone) rm -r "$v/metadata" ;;
    metadata_empty) : >"$v/metadata/data.mdb" ;;
    metadata_noise) head -c 300000 /dev/urandom >"$v/metadata/data.mdb" ;;
    metadata_text) cp "$0" "$v/metadata/data.mdb" ;;
    metadata_short) truncate -s 6000 "$v/metadata/data.mdb" ;;
    metadata_roots_only) truncate -s 8192 "$v/metadata/data.mdb" ;;
    metadata_half) truncate -s $(($(stat -c %s "$v/metadata/data.mdb") / 8192 * 4096)) "$v/metadata/data.mdb" ;;
    metadata_last) truncate -s -4096 "$v/metadata/data.mdb" ;;
    metadata_of_another) "$FEEDFS" mkfs "$v-2" >/dev/null && cp "$v-2/metadata/data.mdb" "$v/metadata/" && rm -r "$v-2" "$v/metadata/sync-point" ;;
    sync_point) head -c 5000 /dev/urandom >"$v/metadata/sync-point" ;;
  esac
}
kinds=$(sed -nE 's/^    ([a-z_]+)\) .*;;$/\1/p' "$0")
[ "$(wc -w <<<"$kinds")" -ge 29 ] || fail "only these kinds were found: $kinds"
for kind in $kinds; do
  rm -rf "$WORK/v"; cp -a "$SOUND" "$WORK/v"
  damage "$kind" "$WORK/v"
  v=$WORK/v
  knows "0 2 3 4" "$FEEDFS" fsck "$v"
  before=$STATUS
  knows "0 2 3 4" "$FEEDFS" fsck "$v" --data --json
  data=$STATUS
  [ "$data" -gt 1 ] || "$PYTHON" -c 'import json,sys; json.load(open(sys.argv[1]))' "$WORK/out.txt" || fail "$kind: fsck --json is no JSON"
  knows "0 2 3" "$FEEDFS" stat "$v"
  knows "0 2 3" "$FEEDFS" stat "$v" --json
  knows "0 2 3" "$FEEDFS" stat "$v" sets/large
  knows "0 2 3" "$FEEDFS" ls "$v" -R
  knows "0 2 3" "$FEEDFS" cat "$v" sets/f7
  [ "$STATUS" -ne 0 ] || cmp -s "$WORK/out.txt" "$SOURCE/f7" || fail "$kind: sets/f7 is not what was written"
  rm -rf "$WORK/back"
  knows "0 2 3" "$FEEDFS" export "$v" "$WORK/back" --from sets --quiet
  [ ! -d "$WORK/back" ] || for file in "$WORK/back"/*; do
    [ ! -e "$file" ] || cmp -s "$file" "$SOURCE/$(basename "$file")" || fail "$kind: $(basename "$file") was exported and is not what was written"
  done
  knows "0 2 3" "$FEEDFS" tier "$v"
  knows "0 2 3" "$FEEDFS" compact "$v" --live-below 1 --grace 0
  knows "0 1 2 3 4" "$FEEDFS" fsck "$v" --repair --data
  repaired=$STATUS
  # What the repair left is the same for whoever looks again.
  knows "0 2 3 4" "$FEEDFS" fsck "$v" --data
  after=$STATUS
  [ "$repaired" -gt 1 ] || [ "$after" -eq 0 ] || fail "$kind: a repair that was complete left something: exit code $after"
  knows "0 2 3" "$FEEDFS" import "$v" "$WORK/more" --into again --quiet
  note "$kind: fsck $before, with --data $data, repair $repaired, then $after"
done
note "passed"
