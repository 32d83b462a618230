#!/usr/bin/env bash
# Every format with every loader that makes sense, from datagen to a run that verifies each byte; a flipped byte is found with file and offset
# (C6); cut and malformed files; datasets without a manifest, ours and one that numpy wrote, are adopted.
. "$(dirname "$0")/lib.sh"
SET=(-p dataset.num_files_train=12 -p dataset.num_samples_per_file=1 -p dataset.record_length_bytes=70000 -p dataset.record_length_bytes_stdev=0
  -p reader.batch_size=2 -p reader.read_threads=2 -p train.epochs=1 -p train.computation_time=0.002 -p workflow.checkpoint=False
  -p reader.drop_cache=off)
# COMMAND ARGS... ; what is read here lies in the page cache on purpose
bench() { local cache=(); [ "$1" != run ] || cache=(--allow-cached); run "$FEEDBENCH" "$@" "${cache[@]}"; }
# refused_for PATTERN : exit 3, one error line about it
refused_for() { expect_status 3 "$1"; expect_said "^feedbench: error: .*($1)" 1; }
# damage FILE OFFSET : another byte there
damage() { "$PYTHON" -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); b = f.read(1); f.seek(-1, 1); f.write(bytes([b[0] ^ 0x40]))' "$1" "$2"; }

# format_case NAME LOADERS DAMAGE-OFFSET OVERRIDE... ; the workload's own samples a file may be among the overrides
format_case() {
  local name=$1 loaders=$2 at=$3; shift 3
  local least=69696 # bytes of a file: it is 264 x 264 pixels, lossy half of them
  [ "$name" != jpeg ] || least=34848
  local data=$WORK/$name loader victim args=("${SET[@]}" "$@")
  bench datagen unet3d_mini --data-dir "$data" "${args[@]}"
  expect_status 0 "datagen $name"
  for loader in $loaders; do
    bench run unet3d_mini --data-dir "$data" "${args[@]}" -p reader.data_loader="$loader" -p reader.verify=content \
      --accelerators 2 --results-dir "$WORK/results-$name-$loader"
    expect_status 0 "$name by $loader, verified"
    expect_json "$(result_dir "$WORK/results-$name-$loader")/result.json" \
      'd["status"] == "complete" and d["verdict"] != "implausible" and len(d["epochs"]) == 1 and d["epochs"][0]["samples_proved"] and d["epochs"][0]["bytes_delivered"] >= 12 * '$least
    rm -rf "$WORK/results-$name-$loader"
  done
  # O_DIRECT: whatever offsets the format asks for.
  bench run unet3d_mini --data-dir "$data" "${args[@]}" -p reader.data_loader=native -p reader.verify=content -p reader.odirect=True --results-dir "$WORK/results-direct"
  expect_status 0 "$name with O_DIRECT, verified"
  rm -rf "$WORK/results-direct"
  victim=$(find "$data/train" -name 'img_07_of_12.*' ! -name '*.idx'); cp "$victim" "$WORK/good"
  # C6: somewhere in the payload
  damage "$victim" "$at"
  for loader in $loaders; do
    bench run unet3d_mini --data-dir "$data" "${args[@]}" -p reader.data_loader="$loader" -p reader.verify=content --results-dir "$WORK/results"
    refused_for "$(basename "$victim").*"
    case $name in # checked by content: that very byte; by the file's own checksum: what it covers; decoded: nothing to point at
      npz | npy | hdf5 | hdf5_chunked | parquet | parquet_rows | raw | indexed_binary | jpeg) expect_said "^feedbench: error: .*at offset $at:" 1 ;;
      tfrecord) expect_said "^feedbench: error: .*at offset [0-9]+" 1 ;;
    esac
    rm -rf "$WORK/results"
  done
  # Cut in half: known before the run, or by the reader; never counted as read.
  truncate -s $(($(stat -c %s "$WORK/good") / 2)) "$victim"
  bench run unet3d_mini --data-dir "$data" "${args[@]}" --results-dir "$WORK/results"
  refused_for "$(basename "$victim").*"
  expect_no_file "$WORK/results"
  # As long as it was, and none of it right.
  head -c "$(stat -c %s "$WORK/good")" /dev/zero | tr '\0' 'Z' >"$victim"
  case $name in raw | indexed_binary) ;; *) # nothing in the file itself says what it is
    bench run unet3d_mini --data-dir "$data" "${args[@]}" -p reader.verify=header --results-dir "$WORK/results"
    refused_for "$(basename "$victim").*"
    expect_no_file "$WORK/results" ;;
  esac
  cp "$WORK/good" "$victim"
  # An index that does not fit the data, or is not there.
  local index
  for index in "$victim"*.idx; do
    [ -e "$index" ] || continue
    cp "$index" "$WORK/good-index"
    damage "$index" 9
    bench run unet3d_mini --data-dir "$data" "${args[@]}" --results-dir "$WORK/results"
    refused_for "$(basename "$index").*sample 1: .* expected, found"
    rm "$index"
    bench run unet3d_mini --data-dir "$data" "${args[@]}" --results-dir "$WORK/results"
    refused_for "$(basename "$index").*No such file"
    cp "$WORK/good-index" "$index"
  done
  bench adopt "$data"; expect_status 2 "adopting our own"; expect_said "nothing to adopt"
  # Without its manifest it is some other tool's dataset: refused with the way out, then adopted as it stands.
  rm "$data"/*manifest*
  bench run unet3d_mini --data-dir "$data" "${args[@]}" --results-dir "$WORK/results"
  { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } || fail "$name without a manifest: exit code $STATUS"
  expect_said "adopt"
  bench adopt "$data" --samples-per-file "$(samples_of "$@")"
  expect_status 0 "adopt $name"
  expect_said "12 files in train, 0 in valid"
  bench run unet3d_mini --data-dir "$data" "${args[@]}" --results-dir "$WORK/results-adopted"
  expect_status 0 "$name, adopted"
  rm -rf "$WORK/results-adopted" "$data"
  note "$name: passed"
}
samples_of() { local one; for one in "$@"; do case $one in *num_samples_per_file=*) echo "${one#*=}"; return ;; esac; done; echo 1; }

format_case npz "pytorch tensorflow native" 30000 -p dataset.format=npz
format_case npz_zip "pytorch" 30000 -p dataset.format=npz -p dataset.compression=zip
format_case npy "pytorch native" 30000 -p dataset.format=npy -p dataset.num_samples_per_file=2
format_case tfrecord "tensorflow pytorch native" 30000 -p dataset.format=tfrecord -p dataset.num_samples_per_file=3
format_case hdf5 "pytorch native" 50000 -p dataset.format=hdf5 -p dataset.num_samples_per_file=2
format_case hdf5_chunked "pytorch tensorflow" 50000 -p dataset.format=hdf5 -p dataset.num_samples_per_file=2 -p dataset.chunk_dims=[1,66,66]
format_case hdf5_gzip "pytorch native" 50000 -p dataset.format=hdf5 -p dataset.num_samples_per_file=2 -p dataset.chunk_dims=[1,66,66] -p dataset.compression=gzip
format_case indexed_binary "pytorch tensorflow native" 30000 -p dataset.format=indexed_binary -p dataset.num_samples_per_file=3
format_case parquet "pytorch tensorflow native" 30000 -p dataset.format=parquet
format_case parquet_rows "tensorflow pytorch native" 100000 -p dataset.format=parquet -p dataset.num_samples_per_file=3 -p dataset.parquet.row_group_size=2
format_case png "pytorch tensorflow native" 30000 -p dataset.format=png
format_case jpeg "pytorch tensorflow native" 30000 -p dataset.format=jpeg
format_case csv "pytorch tensorflow native" 500001 -p dataset.format=csv -p dataset.num_samples_per_file=2
format_case raw "pytorch tensorflow native" 30000 -p dataset.format=raw

# A tree that numpy wrote under the reference tool's names.
"$PYTHON" - "$WORK/foreign" <<'PY' || fail "numpy wrote nothing"
import os, sys
import numpy as np
for split, count in (("train", 12), ("valid", 4)):
    os.makedirs(f"{sys.argv[1]}/{split}")
    for i in range(count):
        x = np.random.default_rng(i).integers(255, size=(200 + i, 150, 1), dtype=np.uint8)
        np.savez(f"{sys.argv[1]}/{split}/img_{i:0{len(str(count))}}_of_{count}.npz", x=x, y=np.zeros(1, dtype=np.int64))
PY
bench adopt "$WORK/foreign" --dry-run; expect_status 0 "adopt --dry-run"
[ -z "$(find "$WORK/foreign" -name '*manifest*')" ] || fail "adopt --dry-run wrote a manifest"
bench adopt "$WORK/foreign"; expect_status 0 "adopt numpy's"
expect_said "12 files in train, 4 in valid, npz x 1 samples"
run_ranks 2 run unet3d_mini --data-dir "$WORK/foreign" "${SET[@]}" -p dataset.num_files_eval=4 -p workflow.evaluation=True --results-dir "$WORK/results-foreign" --allow-cached
expect_status 0 "numpy's files"
expect_json "$(result_dir "$WORK/results-foreign")/result.json" \
  'd["status"] == "complete" and [e["sample_count"] for e in d["epochs"]] == [12, 4] and d["epochs"][0]["bytes_delivered"] >= sum((200 + i) * 150 for i in range(12))'
bench run unet3d_mini --data-dir "$WORK/foreign" "${SET[@]}" -p reader.verify=content --results-dir "$WORK/results-foreign-content"
expect_status 2 "content of a foreign dataset cannot be known"
expect_said "^feedbench: error: .*(content)" 1
expect_no_file "$WORK/results-foreign-content"
rm "$WORK/foreign/train/img_05_of_12.npz" "$WORK/foreign"/*manifest*
bench adopt "$WORK/foreign"; { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } || fail "a tree with a gap was adopted: exit code $STATUS"
expect_said "11"
bench adopt "$WORK/nowhere"; expect_status 3 "adopt of nothing"; expect_said "nowhere"
note "numpy's tree: passed"
