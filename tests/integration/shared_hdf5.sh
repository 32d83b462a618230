#!/usr/bin/env bash
# dataset.layout shared: one HDF5 file that holds all samples, written once and read by all ranks, through posix and through MPI's own I/O;
# h5py reads it; damaged, it is noticed; taken over by adopt, it runs.
. "$(dirname "$0")/lib.sh"
SET=("${SMALL[@]}" -p dataset.format=hdf5 -p dataset.layout=shared -p dataset.num_files_train=37)
FILE=$WORK/data/train/img_0_of_1.hdf5
run_ranks 3 datagen unet3d_mini --data-dir "$WORK/data" "${SET[@]}"
expect_status 0 "datagen"
expect_said '1 files written, 0 found finished' 1
[ "$(find "$WORK/data" -type f | sort)" = "$WORK/data/feedbench-manifest.json
$FILE" ] || fail "expected one file and its manifest: $(find "$WORK/data" -type f)"
sleep 1.1 # bytes do not depend on when they were written (times in HDF5 headers count seconds)
run "$FEEDBENCH" datagen unet3d_mini --data-dir "mpiio:$WORK/mpi" "${SET[@]}"
expect_status 0 "datagen over MPI's I/O"
cmp -s "$FILE" "$WORK/mpi/train/img_0_of_1.hdf5" || fail "other bytes through MPI's I/O than through posix"
"$PYTHON" - "$FILE" <<'PY' || fail "h5py reads something else"
import h5py, sys
with h5py.File(sys.argv[1]) as f:
    records = f["records_0"]
    assert records.shape[0] == 37 and f["labels"].shape == (37,), (records.shape, f["labels"].shape)
    samples = {records[i].tobytes() for i in range(37)}
    assert len(samples) == 37, "samples repeat"
PY
note "written: passed"

# Uneven: 37 samples on 3 accelerators of 3 ranks in batches of 2 leave one over; each epoch proves that every sample was read at most once.
for data in "$WORK/data" "mpiio:$WORK/data"; do
  for loader in pytorch native; do
    folder=results-$loader; [ "$data" = "$WORK/data" ] || folder=results-$loader-mpi
    run_ranks 3 run unet3d_mini --data-dir "$data" --accelerators 3 --results-dir "$WORK/$folder" --allow-cached "${SET[@]}" \
      -p reader.data_loader=$loader -p reader.verify=content
    expect_status 0 "training: $data, $loader"
    expect_json "$(result_dir "$WORK/$folder")/result.json" \
      'd["status"] == "complete" and len(d["epochs"]) == 2 and all(e["samples_proved"] and e["dropped_sample_count"] == 1 for e in d["epochs"])'
    note "training from $data, $loader: passed"
  done
done
# Collectively, which Open MPI's vulcan does in step and its default does not; 37 samples leave ranks with uneven remainders.
TOGETHER=(-p storage.storage_options.collective=true)
for case in "2" "4" "3 --mca fcoll vulcan" "2 --mca io romio321"; do
  read -r ranks mca <<<"$case"
  # shellcheck disable=SC2086
  run "${MPIRUN[@]}" $mca -n "$ranks" "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$WORK/data" --accelerators "$ranks" \
    --results-dir "$WORK/together-${case// /-}" --allow-cached "${SET[@]}" "${TOGETHER[@]}" -p reader.verify=content
  expect_status 0 "reading together: $case"
  result=$(result_dir "$WORK/together-${case// /-}")/result.json
  expect_json "$result" 'd["status"] == "complete" and len(d["epochs"]) == 2 and all(e["samples_proved"] for e in d["epochs"])'
  grep -q 'ranks read together' "$result" || fail "the result does not say that reads were collective"
done
for ranks in 2 4; do
  for ending in interrupted cut; do
    results=$WORK/together-$ending-$ranks
    cp -r "$WORK/data" "$results-data"
    launch "${MPIRUN[@]}" -n "$ranks" "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$results-data" --accelerators "$ranks" \
      --results-dir "$results" --allow-cached "${SET[@]}" "${TOGETHER[@]}" -p train.epochs=1000
    wait_until 30 epoch_ended 2 "$results" || fail "the run did not start"
    if [ "$ending" = interrupted ]; then kill -INT "$job"; else truncate -s 3000000 "$results-data/train/img_0_of_1.hdf5"; fi
    settle 20
    if [ "$ending" = interrupted ]; then
      [ "$STATUS" -ne 0 ] || fail "exit code 0 after SIGINT to $ranks ranks that read together"
      expect_json "$(result_dir "$results")/result.json" 'd["status"] in ("interrupted", "incomplete") and d["valid"] is False'
    else
      expect_status 3 "a file that was cut while $ranks ranks read it together"
      expect_said '^feedbench: error: .*img_0_of_1.hdf5' 1
    fi
  done
done
run_ranks 1 run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/r" "${SET[@]}" "${TOGETHER[@]}"
expect_status 2 "one rank alone"
expect_said "^feedbench: error: .*'collective' is for ranks that read together, and there is one" 1
FEEDBENCH_MPI_THREADS=single run_ranks 2 run unet3d_mini --data-dir "mpiio:$WORK/data" --accelerators 2 --results-dir "$WORK/r" "${SET[@]}" "${TOGETHER[@]}"
expect_status 2 "MPI of one thread"
expect_said "^feedbench: error: .*'collective' needs MPI in several threads" 1
run_ranks 2 run unet3d_mini --data-dir "mpiio:$WORK/data" --accelerators 2 --results-dir "$WORK/r" "${SMALL[@]}" "${TOGETHER[@]}"
expect_status 2 "files of each rank"
expect_said '^feedbench: error: .*expected dataset.layout shared' 1
note "collective reads: passed"

# Each worker opens the file once an epoch, not once a sample.
if command -v strace >/dev/null && strace -o "$WORK/probe.txt" true 2>/dev/null; then
  run strace -f -qq -e trace=openat,openat2 -o "$WORK/calls.txt" "$FEEDBENCH" run unet3d_mini --data-dir "$WORK/data" --accelerators 1 \
    --results-dir "$WORK/traced" --allow-cached "${SET[@]}" -p train.epochs=1 -p reader.read_threads=2
  expect_status 0 "a traced run"
  opens=$(grep -c 'img_0_of_1.hdf5' "$WORK/calls.txt")
  [ "$opens" -ge 2 ] && [ "$opens" -le 12 ] || fail "the shared file was opened $opens times for 36 samples"
fi

cp -r "$WORK/data" "$WORK/damaged"
printf 'X' | dd of="$WORK/damaged/train/img_0_of_1.hdf5" bs=1 seek=2000000 conv=notrunc 2>/dev/null
run_ranks 2 run unet3d_mini --data-dir "$WORK/damaged" --accelerators 2 --results-dir "$WORK/r-damaged" "${SET[@]}" -p reader.verify=content
expect_status 3 "a changed byte"
expect_said '^feedbench: error: .*img_0_of_1.hdf5 at offset 2000000: content differs' 1
truncate -s 3000000 "$WORK/damaged/train/img_0_of_1.hdf5"
run_ranks 2 run unet3d_mini --data-dir "$WORK/damaged" --accelerators 2 --results-dir "$WORK/r-cut" "${SET[@]}"
expect_status 3 "a file that was cut"
expect_said '^feedbench: error: .*img_0_of_1.hdf5' 1

cp -r "$WORK/data" "$WORK/adopted"; rm "$WORK/adopted/feedbench-manifest.json"
run "$FEEDBENCH" adopt "$WORK/adopted"
expect_status 0 "adopt"
expect_said 'hdf5 x 37 samples'
run_ranks 2 run unet3d_mini --data-dir "$WORK/adopted" --accelerators 2 --results-dir "$WORK/r-adopted" --allow-cached "${SET[@]}"
expect_status 0 "a run on what was adopted"
run "$FEEDBENCH" run unet3d_mini --data-dir "$WORK/data" --results-dir "$WORK/r" "${SMALL[@]}" -p dataset.layout=shared
expect_status 2 "a format that cannot"
expect_said 'dataset.layout is shared, which npz cannot' 1
note "damage, adopt, refusals: passed"
