# What measuring costs: the same run with all of metric.instrumentation and with none of it, in turn, on a RAM disk; the best of each.
# Epochs take about a second: what is done once an epoch must not be all that is seen.
part_instrumentation() {
  local small=(resnet50_h100 -p dataset.num_samples_per_file=1 -p dataset.num_files_train=24000 -p framework=pytorch
    -p reader.data_loader=pytorch -p reader.batch_size=100 -p reader.read_threads=4 -p dataset.format=npz)
  dataset "$BENCH_RAM/unet3d" unet3d_h100 -p dataset.num_files_train=14 || return 1
  dataset "$BENCH_RAM/npz" "${small[@]}" || return 1
  dataset "$BENCH_RAM/tfrecord" resnet50_h100 -p dataset.num_files_train=8 || return 1
  settle
  instrumentation_pairs "unet3d npz" unet3d unet3d_h100 -p dataset.num_files_train=14 -p train.epochs=3 || return 1
  instrumentation_pairs "114 KB npz, one a file" npz "${small[@]}" -p train.epochs=3 || return 1
  instrumentation_pairs "114 KB in tfrecord" tfrecord resnet50_h100 -p dataset.num_files_train=8 -p train.epochs=3 || return 1
}
# instrumentation_pairs NAME SET WORKLOAD RUN-OPTION... : two rows
instrumentation_pairs() {
  local name=$1 set=$2 try how; shift 2
  local -A rate=([full]=0 [none]=0) cpu=([full]=1e300 [none]=1e300)
  for try in 1 2 3 4 5; do
    for how in full none; do
      result=$(instrumented_result "$how" "$@" --data-dir "$BENCH_RAM/$set") || return 1
      rate[$how]=$(calc "max(${rate[$how]},$(metric "$result" delivered_MB_per_second))")
      cpu[$how]=$(calc "min(${cpu[$how]},$(metric "$result" cpu_s_per_GB_process))")
    done
  done
  ratio "instrumentation beside none, $name, rate" "${rate[full]}" "${rate[none]}" MB/s ge 0.98
  ratio "instrumentation beside none, $name, CPU" "${cpu[full]}" "${cpu[none]}" "CPU s/GB" le 1.05
}
# instrumented_result full|none RUN-ARGUMENT... : as run_result; a run without instrumentation ends with exit code 4, for it proves nothing
instrumented_result() {
  local how=$1 folder status; shift
  folder=$(mktemp -d "$BENCH_RAM/results.XXXXXX")
  "$BIN/feedbench" run "$@" -p train.computation_time=0 -p workflow.checkpoint=false --no-steps --allow-cached -p "metric.instrumentation=$how" \
    --results-dir "$folder" >"$folder/out.txt" 2>&1
  status=$?
  [ "$status" -eq 0 ] || [ "$how $status" = "none 4" ] || { tail -n 5 "$folder/out.txt" >&2; return 1; }
  find "$folder" -name result.json | head -n 1
}
