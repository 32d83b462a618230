# feedbench max on the disk past the page cache, three times in a row: the same N within 5 %. In each run the disk decides, with
# about a hundred accelerators, so that one of them is far less than the 5 %; the spread is (largest - smallest) / mean.
part_max() {
  local data=$BENCH_DISK/max result try values=()
  local workload=(unet3d_h100 -p dataset.record_length_bytes=2800000 -p dataset.record_length_bytes_stdev=0
    -p dataset.num_files_train=2400 -p workflow.checkpoint=false -p reader.batch_size=1)
  dataset "$data" "${workload[@]}" || return 1
  settle
  for try in 1 2 3; do
    result=$(run_result "$BIN/feedbench" max "${workload[@]}" --data-dir "$data" -p reader.odirect=true -p reader.read_threads=1 \
      -p reader.prefetch_size=1 -p reader.transfer_size=1048576 -p train.computation_time=0.2 -p train.epochs=5 --probe-seconds 10) || return 1
    say "max, try $try: $(metric "$result" max_accelerator_count) accelerators; $(json "$result" 'd["scaling_stop"]')"
    values+=("$(metric "$result" max_accelerator_count)")
  done
  bound "max on the disk, three times: spread of N around ${values[1]}" \
    "$(calc "(max(${values[0]},${values[1]},${values[2]})-min(${values[0]},${values[1]},${values[2]}))/((${values[0]}+${values[1]}+${values[2]})/3)")" "" le 0.05
}
