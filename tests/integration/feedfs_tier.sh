#!/usr/bin/env bash
# feedfs tier: uploads, evictions under the volume's limit, read-through, a fast tier that is lost, another host, uploads and evictions that are
# killed: over a folder, and over S3 where a server is there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"

SOURCE=$WORK/source
mkdir -p "$SOURCE/small" "$SOURCE/large"
"$PYTHON" - "$SOURCE" <<'PY'
import random, sys
random.seed(11)
for i in range(800): open(f"{sys.argv[1]}/small/{i:05d}", "wb").write(random.randbytes(random.choice([0, 100, 10240, 30000])))
for i in range(6): open(f"{sys.argv[1]}/large/{i}", "wb").write(random.randbytes(9_000_000 + i))
PY
check_whole() { # VOLUME
  rm -rf "$WORK/copy"
  run "$FEEDFS" export "$1" "$WORK/copy" --quiet; expect_status 0 "export"
  same_trees "$SOURCE" "$WORK/copy"
}
tier() { run "$FEEDFS" tier "$VOLUME" "$@" --quiet; }
fast_bytes() { find "$WORK/fast1" "$WORK/fast2" -type f ! -name feedfs.target -printf '%s\n' | awk '{s += $1} END {print s + 0}'; }
segments_in_fast() { find "$WORK/fast1" "$WORK/fast2" -name '*.segment' | wc -l; }
uploaded() { "$FEEDFS" tier "$VOLUME" | grep -qE "^(both tiers|object tier only) +[1-9]" || job_gone; }

# rows OBJECT-TARGET
rows() {
  note "over $1"
  rm -rf "$VOLUME" "$WORK/fast1" "$WORK/fast2"
  run "$FEEDFS" mkfs "$VOLUME" --target "$WORK/fast1" --target "$WORK/fast2" --object-target "$1" --fast-capacity 24MiB --chunk 1MiB --segment 4MiB
  expect_status 0 mkfs
  run "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet; expect_status 0 import

  tier status; expect_said 'being written +0 segments' # the import has ended: all are sealed

  # An upload that is killed goes on; nothing is in the object tier that is not whole.
  launch "$FEEDFS" tier "$VOLUME" upload --quiet
  wait_until 60 uploaded || fail "the upload does not get on"
  kill -KILL "$job" 2>/dev/null; wait "$job" 2>/dev/null
  check_whole "$VOLUME"
  tier upload; expect_status 0 upload
  tier status; expect_said 'fast tier only, to be uploaded +0 segments'
  tier upload; expect_status 0 "nothing to upload"; expect_said '^0 segments'

  # Evictions: to the limit, killed, all.
  [ "$(fast_bytes)" -gt $((24 << 20)) ] || fail "the volume is too small for this test"
  tier make-room; expect_status 0 make-room
  [ "$(fast_bytes)" -le $((24 << 20)) ] || fail "the fast tier holds $(fast_bytes) bytes after make-room, 24 MiB is its limit"
  [ "$(segments_in_fast)" -gt 0 ] || fail "make-room evicted everything"
  check_whole "$VOLUME"
  [ "$(fast_bytes)" -le $((24 << 20)) ] || fail "reading everything filled the fast tier to $(fast_bytes) bytes, 24 MiB is its limit"
  launch "$FEEDFS" tier "$VOLUME" evict --quiet
  sleep 0.01; kill -KILL "$job" 2>/dev/null; wait "$job" 2>/dev/null
  check_whole "$VOLUME"
  tier drain; expect_status 0 drain
  [ "$(segments_in_fast)" -eq 0 ] || fail "segments are left in the fast tier after drain"
  tier status; expect_said 'fast tier only, to be uploaded +0 segments'; expect_said 'both tiers +0 segments'
  check_whole "$VOLUME"

  # The whole fast tier is lost.
  tier fetch; [ "$(segments_in_fast)" -gt 0 ] || fail "fetch brought nothing back"
  rm -rf "$WORK/fast1" "$WORK/fast2"
  check_whole "$VOLUME"
  mkdir "$WORK/fast1" "$WORK/fast2"
  check_whole "$VOLUME"
  rm -rf "$WORK/more"; cp -a "$SOURCE/small" "$WORK/more"
  run "$FEEDFS" import "$VOLUME" "$WORK/more" --into small --overwrite --quiet; expect_status 0 "an import after the fast tier was lost"
  check_whole "$VOLUME"

  # Another host: volume.yaml, the metadata and the object tier, nothing else.
  tier drain; expect_status 0 drain
  rm -rf "$WORK/other"; mkdir "$WORK/other"
  sed "s,place: \"metadata\",place: \"$VOLUME/metadata\",; s,$WORK/fast,/nowhere/fast," "$VOLUME/volume.yaml" >"$WORK/other/volume.yaml"
  mv "$WORK/fast1" "$WORK/away1"; mv "$WORK/fast2" "$WORK/away2"
  check_whole "$WORK/other"
  mv "$WORK/away1" "$WORK/fast1"; mv "$WORK/away2" "$WORK/fast2"
  repair_volume
}
rows "$WORK/objects"

note "the harness reads through"
DATA=$WORK/data_volume
run "$FEEDFS" mkfs "$DATA" --object-target "$WORK/data_objects" --chunk 1MiB --segment 4MiB; expect_status 0 mkfs
run "$FEEDBENCH" datagen unet3d_mini --data-dir "feedfs:$DATA" "${SMALL[@]}"; expect_status 0 datagen
run "$FEEDFS" tier "$DATA" drain --quiet; expect_status 0 drain
run "$FEEDFS" tier "$DATA"; expect_said 'both tiers +0 segments'; expect_said 'object tier only +[1-9]'; expect_said 'pieces kept in the fast tier +0 segments'
run "$FEEDBENCH" run unet3d_mini --data-dir "feedfs:$DATA" "${SMALL[@]}" -p reader.verify=content --allow-cached --results-dir "$WORK/results"
expect_status 0 "a run over a drained volume"
run "$FEEDFS" tier "$DATA"; expect_said 'pieces kept in the fast tier +[1-9]'

if [ -c /dev/fuse ] && command -v fusermount3 >/dev/null; then
  note "a mount uploads what was written and left alone, down to the last segment"
  kept=$VOLUME VOLUME=$WORK/mounted
  make_volume --object-target "$WORK/mounted_objects" --chunk 1MiB --segment 4MiB
  mount_volume
  head -c 9500000 /dev/urandom >"$MOUNT/file" && sync "$MOUNT/file" || fail "the mount cannot be written"
  all_uploaded() { ! "$FEEDFS" tier "$VOLUME" | grep -qE '^(being written|fast tier only, to be uploaded) +[1-9]'; }
  wait_until 60 all_uploaded || fail "a minute later: $("$FEEDFS" tier "$VOLUME" | head -n 3)"
  [ "$(find "$WORK/mounted_objects" -name '*.segment' -printf '%s\n' | awk '{s += $1} END {print s + 0}')" -ge 9500000 ] || fail "the object tier has less than the file"
  unmount_volume
  VOLUME=$kept
fi

run "$FEEDFS" mkfs "$WORK/plain"; expect_status 0 mkfs
run "$FEEDFS" tier "$WORK/plain" upload; [ "$STATUS" -ne 0 ] || fail "a volume without an object tier was uploaded"
expect_said 'no object tier'

SERVER=$FEEDBENCH_SOURCE_DIR/tests/servers/s3rver.sh
undo() { bash "$SERVER" down "$WORK/s3"; }
run bash "$SERVER" up "$WORK/s3"
if [ "$STATUS" -eq 77 ]; then note "no S3 server here: only over a folder"; exit 0; fi
expect_status 0 "s3rver"
value() { sed -n "s/^$1=//p" "$WORK/s3/endpoint.env"; }
export AWS_ENDPOINT_URL=$(value ENDPOINT) AWS_ACCESS_KEY_ID=$(value ACCESS_KEY) AWS_SECRET_ACCESS_KEY=$(value SECRET_KEY)
rows "s3://$(value BUCKET)/tier"
! grep -rqF "$AWS_SECRET_ACCESS_KEY" "$VOLUME/volume.yaml" || fail "the key lies in volume.yaml"
# The object store is away: what the fast tier has is read, the rest says so.
tier fetch
bash "$SERVER" down "$WORK/s3"
run "$FEEDFS" ls "$VOLUME"; expect_status 0 "names without the object store"
run "$FEEDFS" export "$VOLUME" "$WORK/copy2" --quiet; expect_status 3 "reads of what only the object store has"; expect_said 's3://'
