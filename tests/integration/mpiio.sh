#!/usr/bin/env bash
# mpiio: MPI's own I/O under a launcher and without one, by OMPIO and by ROMIO; errors are as clear as those of posix.
. "$(dirname "$0")/lib.sh"
train() { # NAME COMMAND... : $result
  local name=$1; shift
  run "$@" run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/results-$name" --allow-cached "${SMALL[@]}" -p reader.verify=content
  expect_status 0 "$name"
  result=$(result_dir "$WORK/results-$name")/result.json
  expect_json "$result" 'd["status"] == "complete" and all(e["samples_proved"] for e in d["epochs"])'
  note "$name: passed"
}
run_ranks 2 datagen unet3d_mini --data-dir "mpiio:$WORK/data" "${SMALL[@]}"
expect_status 0 "datagen"
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$WORK/plain" "${SMALL[@]}"
expect_status 0 "datagen on the disk"
diff -r -x feedbench-manifest.json "$WORK/data" "$WORK/plain" >/dev/null || fail "other bytes through MPI's I/O than through posix"
train "two ranks" "${MPIRUN[@]}" -n 2 "$FEEDBENCH"
train "no launcher" "$FEEDBENCH"
# Requests of MPI instead of calls in threads: MPI that was begun for one thread.
train "one thread, no launcher" env FEEDBENCH_MPI_THREADS=single "$FEEDBENCH"
train "one thread, two ranks" "${MPIRUN[@]}" -x FEEDBENCH_MPI_THREADS=single -n 2 "$FEEDBENCH"
for threads in multiple:MPI_File_read_at single:MPI_File_iread_at; do
  FEEDBENCH_MPI_THREADS=${threads%:*} run "$FEEDBENCH" list backends "mpiio:$WORK/data"
  expect_status 0 "list backends, $threads"
  expect_said "${threads#*:}" 1
done
# The place stands in a workload's file: MPI is begun for threads as if it stood on the command line.
printf 'model: unet3d\nframework: pytorch\ndataset: {data_folder: "mpiio:%s", format: npz, num_files_train: 32, num_samples_per_file: 1, record_length_bytes: 100000}\n' \
  "$WORK/data" >"$WORK/placed.yaml"
printf 'reader: {data_loader: pytorch, batch_size: 2, read_threads: 2, verify: content}\ntrain: {epochs: 1, computation_time: 0.02}\n' >>"$WORK/placed.yaml"
run_ranks 2 run "$WORK/placed.yaml" --accelerators 2 --results-dir "$WORK/results-placed" --allow-cached
expect_status 0 "mpiio: in a workload's file"
expect_json "$(result_dir "$WORK/results-placed")/result.json" 'd["status"] == "complete" and d["storages"][0]["backend"] == "mpiio"'
note "a workload's file: passed"
train "ROMIO" "${MPIRUN[@]}" --mca io romio321 -n 2 "$FEEDBENCH"
run "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/hints" --allow-cached "${SMALL[@]}" \
  -p storage.storage_options.hints='romio_ds_read=disable;cb_nodes=1' -p storage.storage_options.in_flight=2
expect_status 0 "hints"
run "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/r" "${SMALL[@]}" -p storage.storage_options.hints=nonsense
expect_status 2 "wrong hints"
expect_said "'nonsense' is not key=value" 1

FEEDBENCH_MPI=0 run "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/r" "${SMALL[@]}"
expect_status 2 "MPI forbidden"
expect_said 'FEEDBENCH_MPI=0 forbids MPI' 1
run "$FEEDBENCH" run unet3d_mini --data-dir "mpiio:$WORK/data" --results-dir "$WORK/r" "${SMALL[@]}" -p reader.odirect=True
expect_status 2 "O_DIRECT"
expect_said 'knows no O_DIRECT' 1
rm "$WORK/data/train/img_07_of_32.npz"
run_ranks 2 run unet3d_mini --data-dir "mpiio:$WORK/data" --accelerators 2 --results-dir "$WORK/r" "${SMALL[@]}"
expect_status 3 "a lost file"
expect_said '^feedbench: error: .*img_07_of_32.npz: No such file or directory \(ENOENT\)' 1
cp "$WORK/plain/train/img_07_of_32.npz" "$WORK/data/train/"; truncate -s 50000 "$WORK/data/train/img_08_of_32.npz"
run_ranks 2 run unet3d_mini --data-dir "mpiio:$WORK/data" --accelerators 2 --results-dir "$WORK/r" "${SMALL[@]}"
expect_status 3 "a cut file"
expect_said '^feedbench: error: .*img_08_of_32.npz' 1
note "errors: passed"
