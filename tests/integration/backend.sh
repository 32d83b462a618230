#!/usr/bin/env bash
# The same suite for every backend: BACKEND_ROW (backend_rows.txt) says which. What it is; generate, and again; the bytes themselves; train two
# epochs with every byte compared; max up to a limit; a checkpoint written, read back and read by another job; adopt, and a checkpoint inside training; a lost, a cut and an
# altered file; a storage that fails; datagen that is killed.
# BACKEND_TABLE=FILE: writes a row with what was measured there (scripts/backends_table.sh).
ROW=${BACKEND_ROW:?a row of backend_rows.txt}
. "$(dirname "$0")/lib.sh"
TEST_NAME=backend_$ROW
. "$(dirname "$0")/backend_rows.sh"
"row_$ROW"
[ -z "$FOLDER" ] || mkdir -p "$FOLDER"
SECONDS=0
lap() { note "$1: passed (at $SECONDS s)"; }

SET=("${SMALL[@]}" "${OPTIONS[@]}")
DATA=(--data-dir "$URI/data")
bench() { run "${ONE[@]}" "$FEEDBENCH" "$@"; } # one rank
bench_run() { # NAME OPTION... : two ranks, two accelerators; $result
  local name=$1; shift
  run_ranks 2 run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" --allow-cached --results-dir "$WORK/results-$name" "$@"
  result=$(find "$WORK/results-$name" -name result.json 2>/dev/null)
}
storage='d["storages"][0]'
metric() { json_value "$1" "next((m['value'] for m in d['metrics'] if m['key'] == '$2'), None)"; }

# What would be used.
bench list backends "$URI" "${LOOK[@]}" --json
expect_status 0 "list backends URI"
cp "$WORK/out.txt" "$WORK/look.json"
expect_json "$WORK/look.json" "d['backend'] == '$BACKEND' and d['uri'] == '$URI' and d['capabilities']['has_content']"
if [ -n "$FOLDER" ] && [ "$SERVERS" -eq 0 ]; then # what the kernel says of it
  read -r fs_type fs_device fs_point < <(findmnt -n -o FSTYPE,SOURCE,TARGET -T "$FOLDER")
  expect_json "$WORK/look.json" "d['filesystem_type'] == '$fs_type' and d['mount_point'] == '$fs_point' and '$fs_device'.startswith(d['device'])"
  expect_json "$WORK/look.json" "set(d['mount_options'].split(',')) == set('$(findmnt -n -o OPTIONS -T "$FOLDER")'.split(','))"
fi
bench list backends "$URI" "${LOOK[@]}"; expect_status 0; expect_said "^  backend +$BACKEND " 1
lap "what would be used"

# Generate; what is there is not made again; the bytes are those that any other storage would hold.
run_ranks 2 datagen unet3d_mini "${DATA[@]}" "${SET[@]}"
expect_status 0 "datagen"
expect_said '32 files written, 0 found finished' 1
datagen_rate=$(sed -n 's/.* s: \([0-9.]*\) MB\/s.*/\1/p' "$WORK/out.txt")
bench datagen unet3d_mini "${DATA[@]}" "${SET[@]}"
expect_status 0 "datagen once more"
expect_said '0 files written, 32 found finished' 1
bench datagen unet3d_mini --data-dir "$WORK/plain/data" "${SMALL[@]}"
expect_status 0 "datagen on the disk"
victim=data/train/img_17_of_32.npz
[ "$(names data | grep -c '_of_32.npz$')" -eq 32 ] || fail "not 32 data files: $(names data | tr '\n' ' ')"
[ "$(names data)" = "$(cd "$WORK/plain" && find data -type f | sort)" ] || fail "other names than on the disk: $(names data | tr '\n' ' ')"
for name in "$victim" data/train/img_00_of_32.npz; do
  fetch "$name" | cmp -s - "$WORK/plain/$name" || fail "other bytes than on the disk: $name"
done
lap "datagen"

# Train, every byte compared; what the storage is stands in the result.
bench_run train -p reader.verify=content
expect_status 0 "run"
expect_json "$result" 'd["status"] == "complete" and d["valid"] and len(d["epochs"]) == 2 and all(e["samples_proved"] for e in d["epochs"])'
expect_json "$result" "d['backend'] == '$BACKEND' and $storage['use'] == 'data' and $storage['backend'] == '$BACKEND' and $storage['place'] == '$URI/data'"
expect_json "$result" "len($storage['hosts']) == 1 and len($storage['endpoints']) == $SERVERS"
"${ONE[@]}" "$FEEDBENCH" list backends "$URI/data" "${LOOK[@]}" --json >"$WORK/look.json" || fail "list backends of the data folder"
for key in filesystem_type device mount_point mount_options server network_interface is_network is_memory; do
  expect_json "$result" "$storage['$key'] == $(json_value "$WORK/look.json" "repr(d['$key'])")"
done
if [ "$SERVERS" -gt 0 ]; then # nothing went wrong: no retries; two ranks read 32 files twice
  expect_json "$result" "all(e['failed_request_count'] == 0 and e['retry_count'] == 0 and e['retries'] == [] for e in $storage['endpoints'])"
  expect_json "$result" "sum(e['request_count'] for e in $storage['endpoints']) >= 64 and all(0 < e['connection_count'] for e in $storage['endpoints'])"
  expect_json "$result" "sum(e['bytes_received'] for e in $storage['endpoints']) >= sum(e['bytes_delivered'] for e in d['epochs'])"
  expect_json "$result" "all({'time_to_last_byte'} <= {h['key'] for h in e['histograms']} <= {'time_to_first_byte', 'time_to_last_byte'} for e in $storage['endpoints'])"
fi
[ "$SOURCE" = any ] || expect_json "$result" "all(h['cache']['source_kind'] == '$SOURCE' for e in d['epochs'] for h in e['hosts'])"
read_rate=$(metric "$result" delivered_MB_per_second)
cpu_cost=$(metric "$result" cpu_s_per_GB_process)
sample_ms=$(json_value "$result" "round(1000 * next(m['value'] for m in d['metrics'] if m['key'] == 'sample_read_latency_s_p50'), 3)")
lap "train"

# max, up to a limit that any storage holds.
run_ranks 2 max unet3d_mini "${DATA[@]}" "${SET[@]}" --limit 2 --start 2 --no-confirm --au 0.01 --probe-seconds 0.3 --settle-seconds 0.2 \
  --ceiling-seconds 0.2 --results-dir "$WORK/results-max"
[ "$STATUS" -eq 0 ] || [ "$STATUS" -eq 4 ] || fail "max: exit code $STATUS" # 4: it says that this was no figure of the storage
result=$(result_dir "$WORK/results-max")/result.json
expect_json "$result" 'd["kind"] == "max" and [p["accelerator_count"] for p in d["scaling"] if p["passed"]] == [2]'
lap "max"

# A checkpoint: written and compared, then read by another job; nothing but what committed is there.
CK=(run llama3_8b -a 8 -p model.scale=0.0002 -p "checkpoint.checkpoint_folder=$URI/ck" "${OPTIONS[@]}" -p reader.verify=content
  -p checkpoint.time_between_checkpoints=0 --allow-cached)
run "${MPIRUN[@]}" -n 2 "$FEEDBENCH" "${CK[@]}" -p checkpoint.num_checkpoints_write=1 -p checkpoint.num_checkpoints_read=1 --results-dir "$WORK/results-ck"
expect_status 0 "checkpoint"
result=$(result_dir "$WORK/results-ck")/result.json
expect_json "$result" '[(c["kind"], c["committed"], c["file_count"]) for c in d["checkpoints"]] == [("write", True, 16), ("read", True, 16)] and d["checkpoints"][1]["content_verified"]'
expect_json "$result" "$storage['use'] == 'checkpoints' and $storage['backend'] == '$BACKEND'"
write_rate=$(json_value "$result" "round(d['checkpoints'][0]['bytes'] / 1e6 / d['checkpoints'][0]['visible_s'], 1)")
bench "${CK[@]}" -p checkpoint.num_checkpoints_write=0 -p checkpoint.num_checkpoints_read=1 --results-dir "$WORK/results-ck2"
expect_status 0 "another job reads the checkpoint"
expect_json "$(result_dir "$WORK/results-ck2")/result.json" 'd["checkpoints"][0]["content_verified"] and d["checkpoints"][0]["kind"] == "read"'
[ "$(names ck | wc -l)" -eq 17 ] || fail "16 files and the list of checkpoints were to be there: $(names ck | tr '\n' ' ')"
lap "checkpoint"

# Adopt: without our manifest it is another tool's dataset.
drop data/feedbench-manifest.json
bench adopt "$URI/data" "${LOOK[@]}"
expect_status 0 "adopt"
expect_said '32 files in train' 1
bench_run adopted -p train.epochs=1 -p reader.verify=header -p workflow.checkpoint=True -p checkpoint.checkpoint_after_epoch=1 \
  -p checkpoint.checkpoint_folder="$URI/inside" # and a checkpoint inside training
expect_status 0 "run over what was adopted"
expect_json "$result" 'd["status"] == "complete" and d["epochs"][0]["samples_proved"]'
expect_json "$result" '[(c["kind"], c["mode"], c["committed"]) for c in d["checkpoints"]] == [("write", "sync", True)] and [s["use"] for s in d["storages"]] == ["data", "checkpoints"]'
store data/feedbench-manifest.json <"$WORK/plain/data/feedbench-manifest.json"
lap "adopt"

# Names of any characters, where they are signed: the server's own idea of SigV4 decides, for keys and for a listing's prefix.
if [ "$BACKEND" = s3 ]; then
  odd="it's (1)!*+&=%41#?ü" ODD=("${SET[@]}" -p dataset.num_files_train=4 -p "dataset.file_prefix=don't+&=%41ü")
  bench datagen unet3d_mini --data-dir "$URI/$odd" "${ODD[@]}"; expect_status 0 "datagen of odd names"
  s3 -X DELETE "$S3_DIRECT/$S3_BUCKET/place/$("$PYTHON" -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$odd")/feedbench-manifest.json" ||
    fail "the manifest is not where its name, encoded, says"
  bench adopt "$URI/$odd" "${LOOK[@]}"; expect_status 0 "adopt of odd names"; expect_said '4 files in train' 1
  bench run unet3d_mini --data-dir "$URI/$odd" "${ODD[@]}" -p train.epochs=1 -p reader.verify=header --allow-cached --results-dir "$WORK/results-odd"
  expect_status 0 "run over odd names"
  lap "odd names"
fi

# What goes wrong with files: one sentence that names the file, exit 3, no result that looks whole. (F1, C6)
refused() { # WHAT PATTERN OPTION...
  local what=$1 pattern=$2; shift 2
  rm -rf "$WORK/results-bad"
  LIMIT=60 run "${ONE[@]}" "$FEEDBENCH" run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" -p reader.verify=content --results-dir "$WORK/results-bad" "$@"
  result=$(find "$WORK/results-bad" -name result.json 2>/dev/null)
  expect_status 3 "$what"
  expect_said '^feedbench: error: ' 1
  expect_said "^feedbench: error: .*$pattern" 1
  [ -z "$result" ] || expect_json "$result" 'd["valid"] is False and d["status"] == "failed"'
}
fetch "$victim" >"$WORK/good"
drop "$victim"; refused "a lost file" 'img_17_of_32\.npz'
head -c 50000 "$WORK/good" | store "$victim"; refused "a cut file" 'img_17_of_32\.npz.*(50000 bytes|cut|ends|truncat)'
"$PYTHON" -c 'import sys; b = bytearray(open(sys.argv[1], "rb").read()); b[60000] ^= 1; sys.stdout.buffer.write(b)' "$WORK/good" | store "$victim"
refused "an altered byte" 'img_17_of_32\.npz.*offset [0-9]+'
store "$victim" <"$WORK/good"
DATA=(--data-dir "fault:error=EIO@9,on=read;inner=$URI/data")
refused "a storage that fails" 'read .*img_[0-9]+_of_32\.npz.*EIO'
DATA=(--data-dir "$URI/data")
bench_run whole -p train.epochs=1 -p reader.verify=content; expect_status 0 "run over the repaired set"
lap "faults"

# datagen that is killed leaves whole files or none; started again, it goes on. (C8)
BIG=("${SET[@]}" -p dataset.record_length_bytes=400000)
launch "${ONE[@]}" "$FEEDBENCH" datagen unet3d_mini --data-dir "$URI/killed" "${BIG[@]}"
files_there() { [ "$(names killed | grep -c '/img_[0-9]*_of_32.npz$')" -ge 3 ]; }
wait_until 30 files_there || fail "datagen made no files"
kill -KILL $(pgrep -P "$job") "$job" 2>/dev/null; wait "$job" 2>/dev/null
bench run unet3d_mini --data-dir "$URI/killed" "${BIG[@]}" --results-dir "$WORK/results-half"
[ "$STATUS" -ne 0 ] || expect_json "$WORK/results-half"/*/*/run/*/result.json 'd["valid"]' # it was killed too late
bench datagen unet3d_mini --data-dir "$URI/killed" "${BIG[@]}"
expect_status 0 "datagen goes on"
[ "$(names killed | wc -l)" -eq 33 ] || fail "32 files and the manifest were to be there: $(names killed | tr '\n' ' ')"
bench run unet3d_mini --data-dir "$URI/killed" "${BIG[@]}" -p train.epochs=1 -p reader.verify=content --allow-cached --results-dir "$WORK/results-resumed"
expect_status 0 "run over what was resumed"
lap "killed and resumed"

if [ -n "${BACKEND_TABLE:-}" ]; then
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$ROW" "$BACKEND" "$(json_value "$WORK/look.json" "d['filesystem_type']")" \
    "$datagen_rate" "$read_rate" "$sample_ms" "$cpu_cost" "$write_rate" "$SECONDS" >>"$BACKEND_TABLE"
fi
