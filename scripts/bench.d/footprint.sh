# Memory and start-up.
part_footprint() {
  local result folder=$BENCH_RAM/footprint start
  dataset "$BENCH_RAM/unet3d" unet3d_h100 -p dataset.num_files_train=14 || return 1
  settle
  result=$(run_result "$BIN/feedbench" run unet3d_h100 -a 8 --data-dir null: -p train.epochs=1 -p workflow.checkpoint=false) || return 1
  bound "unet3d, 8 accelerators, 1 rank: peak memory" "$(calc "$(json "$result" 'd["hosts"][0]["peak_rss_bytes"]')/2**20")" MiB le 512
  result=$(run_result "$BIN/feedbench" run cosmoflow_h100 -a 8 --data-dir null: -p train.total_training_steps=100 \
    -p dataset.num_files_train=64000000 -p dataset.record_length_bytes_stdev=0) || return 1
  local many few
  many=$(json "$result" 'd["hosts"][0]["peak_rss_bytes"]')
  result=$(run_result "$BIN/feedbench" run cosmoflow_h100 -a 8 --data-dir null: -p train.total_training_steps=100 \
    -p dataset.num_files_train=1000 -p dataset.record_length_bytes_stdev=0) || return 1
  few=$(json "$result" 'd["hosts"][0]["peak_rss_bytes"]')
  bound "64 million files instead of 1,000: more memory" "$(calc "($many-$few)/2**20")" MiB le 64
  start=$(first_read_s "$BIN/feedbench")
  bound "start-up to first read, 1 rank" "$start" s le 1
  start=$(first_read_s "${MPIRUN[@]}" -n 16 "$BIN/feedbench")
  bound "start-up to first read, 16 ranks on $(nproc) cores" "$start" s le 2
}
# Process start to the first byte's epoch: the time origin of steps.h5 plus the first request, less the launch.
first_read_s() {
  local result before; before=$(date +%s.%N)
  result=$(run_result "$@" run cosmoflow_h100 --data-dir null: -p train.total_training_steps=3) || return 1
  /usr/bin/python3 -c 'import h5py, sys
f = h5py.File(sys.argv[1])
print("%.3f" % ((int(f.attrs["time_origin_unix_ns"]) + int(f["steps"]["request_ns"].min())) / 1e9 - float(sys.argv[2])))' "$(dirname "$result")/steps.h5" "$before"
}
