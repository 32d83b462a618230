# Reading a RAM disk through the page cache (there is no device below it): what the client costs beside plain pread loops that read the
# same files in the same pieces into a rotating buffer.
part_ram() {
  local settings=(-p train.computation_time=0 -p workflow.checkpoint=false --no-steps)
  local small=(resnet50_h100 -p dataset.num_samples_per_file=1 -p dataset.num_files_train=8000 -p framework=pytorch
    -p reader.data_loader=pytorch -p reader.batch_size=100 -p reader.read_threads=4)
  dataset "$BENCH_RAM/unet3d" unet3d_h100 -p dataset.num_files_train=14 || return 1
  dataset "$BENCH_RAM/raw" "${small[@]}" -p dataset.format=raw || return 1
  dataset "$BENCH_RAM/npz" "${small[@]}" -p dataset.format=npz || return 1
  dataset "$BENCH_RAM/tfrecord" resnet50_h100 -p dataset.num_files_train=8 || return 1
  dataset "$BENCH_RAM/cosmoflow" cosmoflow_h100 -p dataset.num_files_train=400 || return 1
  settle
  ram_pair unet3d pread unet3d_h100 -p dataset.num_files_train=14 -p train.epochs=3 "${settings[@]}"
  ratio "RAM disk, unet3d npz, rate beside pread" "$ours_rate" "$loop_rate" MB/s ge 0.90
  ram_pair raw open_pread "${small[@]}" -p dataset.format=raw -p train.epochs=4 "${settings[@]}"
  ratio "RAM disk, 114 KB raw, one a file, CPU beside open/pread" "$ours_cpu" "$loop_cpu" "CPU s/GB" le 1.5
  ram_pair npz open_pread "${small[@]}" -p dataset.format=npz -p train.epochs=4 "${settings[@]}"
  ratio "RAM disk, 114 KB npz (4 reads a file), CPU beside open/pread (1 read)" "$ours_cpu" "$loop_cpu" "CPU s/GB" le 1.5
  ram_pair tfrecord open_pread resnet50_h100 -p dataset.num_files_train=8 -p train.epochs=3 "${settings[@]}"
  ratio "RAM disk, 114 KB in tfrecord, CPU beside open/pread" "$ours_cpu" "$loop_cpu" "CPU s/GB" le 1.5
  ram_pair cosmoflow open_pread cosmoflow_h100 -p dataset.num_files_train=400 -p train.epochs=3 "${settings[@]}"
  ratio "RAM disk, cosmoflow 2.8 MB, CPU beside open/pread" "$ours_cpu" "$loop_cpu" "CPU s/GB" le 1.5
}
# ram_pair SET LOOP-MODE RUN-OPTION... : both three times in turn; sets {ours,loop}_{rate,cpu} to the best
ram_pair() {
  local set=$1 mode=$2 try result loop; shift 2
  ours_rate=0 loop_rate=0 ours_cpu=1e300 loop_cpu=1e300
  for try in 1 2 3; do
    loop=$("$BIN/bench_read_loop" --mode "$mode" --loops 3 --block 262144 "$BENCH_RAM/$set/train")
    loop_rate=$(calc "max($loop_rate,$(json - 'd["rate_MB_per_second"]' <<<"$loop"))")
    loop_cpu=$(calc "min($loop_cpu,$(json - 'd["cpu_s_per_GB"]' <<<"$loop"))")
    result=$(run_result "$BIN/feedbench" run "$@" --data-dir "$BENCH_RAM/$set") || return 1
    ours_rate=$(calc "max($ours_rate,$(metric "$result" delivered_MB_per_second))")
    ours_cpu=$(calc "min($ours_cpu,$(metric "$result" cpu_s_per_GB_process))")
  done
}
