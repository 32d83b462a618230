# Reading a disk past the page cache: feedbench beside fio on the same files, same block size, same depth, >= 20 GB each.
part_direct() {
  local data=$BENCH_DISK/direct result fio files
  local workload=(unet3d_h100 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0
    -p dataset.num_files_train=40 -p workflow.checkpoint=false)
  dataset "$data" "${workload[@]}" || return 1
  files=$(find "$data/train" -name '*.npz' | sort | paste -sd:)
  settle
  local try ours=0 theirs=0 ours_cpu=1e300 theirs_cpu=1e300
  # Two turns each, alternating: 2 x 2 x 5.6 GB a side, 22 GB.
  for try in 1 2; do
    result=$(run_result "$BIN/feedbench" run "${workload[@]}" --data-dir "$data" -p reader.odirect=true -p reader.batch_size=1 \
      -p train.epochs=2 -p train.computation_time=0 -p reader.data_loader=native -p reader.queue_depth=16 \
      -p reader.prefetch_size=2 -p reader.transfer_size=1048576) || return 1
    ours=$(calc "max($ours,$(metric "$result" delivered_MB_per_second))")
    ours_cpu=$(calc "min($ours_cpu,$(metric "$result" cpu_s_per_GB_process))")
    fio=$(fio_read --filename="$files" --file_service_type=sequential --direct=1 --ioengine=io_uring --bs=1M --iodepth=16 --loops=2)
    theirs=$(calc "max($theirs,$(json - 'd["MB_per_second"]' <<<"$fio"))")
    theirs_cpu=$(calc "min($theirs_cpu,$(json - 'd["cpu_s_per_GB"]' <<<"$fio"))")
  done
  ratio "direct read of 140 MB files, 1 MiB, depth 16, beside fio" "$ours" "$theirs" MB/s ge 0.97
  ratio "the same, client CPU" "$ours_cpu" "$theirs_cpu" "CPU s/GB" le 1.15
}
