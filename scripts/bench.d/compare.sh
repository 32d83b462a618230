# feedbench compare: 700 results of its own (5 epochs, 64 accelerators each), and the published corpus where it is at hand.
part_compare() {
  local folder=$BENCH_RAM/compare result i figures
  mkdir -p "$folder/many"
  result=$(run_result "$BIN/feedbench" run unet3d_h100 -a 64 --data-dir 'model:bandwidth=100GB,latency=1ms' --virtual-time -p train.epochs=5 \
    -p dataset.num_files_train=7168 -p workflow.checkpoint=False) || return 1
  for i in $(seq 700); do # seven runs of each of a hundred systems
    mkdir -p "$folder/many/system$((i % 100))/run$((i / 100))" && cp "$result" "$folder/many/system$((i % 100))/run$((i / 100))/"
  done
  settle
  compare_rows "700 results" 10 "$folder/many"
  local corpus=$ROOT/../shared/corpus/mlperf-storage-v1.0
  if [ -d "$corpus" ]; then compare_rows "the corpus of 125 runs" 2 "$corpus"; else say "skipped: corpus not found"; fi
  rm -rf "$folder"
}
# compare_rows WHAT SECONDS FOLDER : CPU, wall and memory beside the targets, the best of three
compare_rows() {
  local format try cpu wall MiB
  for format in csv html; do
    read -r cpu wall MiB < <(for try in 1 2 3; do compare_once "$format" "$3"; done | sort -g | head -n 1)
    bound "$1 as $format, CPU" "$cpu" s le "$2"
    bound "$1 as $format, wall" "$wall" s le "$2"
    bound "$1 as $format, memory" "$MiB" MiB le 200
  done
}
compare_once() {
  python3 -c 'import resource, subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
wall, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.3f %.3f %.0f" % (used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024))' "$BIN/feedbench" compare "$2" --format "$1"
}
