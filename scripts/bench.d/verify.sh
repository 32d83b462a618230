# What checking costs: reader.verify checksum beside off, of the same files on a RAM disk, in turn. CPU seconds a GB that checking adds.
part_verify() {
  dataset "$BENCH_RAM/unet3d" unet3d_h100 -p dataset.num_files_train=14 || return 1
  dataset "$BENCH_RAM/tfrecord" resnet50_h100 -p dataset.num_files_train=8 || return 1
  settle
  verify_pair npz unet3d unet3d_h100 -p dataset.num_files_train=14 || return 1
  verify_pair tfrecord tfrecord resnet50_h100 -p dataset.num_files_train=8 || return 1
}
# verify_pair FORMAT SET WORKLOAD RUN-OPTION... : a row
verify_pair() {
  local format=$1 set=$2 try result off=1e300 checked=1e300; shift 2
  local settings=(-p train.computation_time=0 -p train.epochs=3 -p workflow.checkpoint=false --no-steps --allow-cached)
  for try in 1 2 3; do
    result=$(run_result "$BIN/feedbench" run "$@" "${settings[@]}" --data-dir "$BENCH_RAM/$set" -p reader.verify=off) || return 1
    off=$(calc "min($off,$(metric "$result" cpu_s_per_GB_process))")
    result=$(run_result "$BIN/feedbench" run "$@" "${settings[@]}" --data-dir "$BENCH_RAM/$set" -p reader.verify=checksum) || return 1
    checked=$(calc "min($checked,$(metric "$result" cpu_s_per_GB_process))")
  done
  bound "$format on a RAM disk, what verify: checksum adds to $off CPU s/GB" "$(calc "$checked-$off")" "CPU s/GB" le 0.15
}
