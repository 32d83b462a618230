# What measuring costs: the same run with all of metric.instrumentation and with none of it, in turn, on a RAM disk.
#
# A run's rate differs from the next one's by 3 % and more on a shared machine, which is more than what is looked for; so the best of a few
# says nothing. What lasts is the ratio within a pair of runs that follow each other, in changing order: the median of many pairs, as many
# as it takes until that median is known to 0.6 % (in words with the row), at most 20. A run's rate is that of its median epoch.
part_instrumentation() {
  local small=(resnet50_h100 -p dataset.num_samples_per_file=1 -p dataset.num_files_train=12000 -p framework=pytorch
    -p reader.data_loader=pytorch -p reader.batch_size=100 -p reader.read_threads=4 -p dataset.format=npz)
  dataset "$BENCH_RAM/unet3d" unet3d_h100 -p dataset.num_files_train=14 || return 1
  dataset "$BENCH_RAM/npz" "${small[@]}" || return 1
  dataset "$BENCH_RAM/tfrecord" resnet50_h100 -p dataset.num_files_train=8 || return 1
  settle
  instrumentation_pairs "unet3d npz" unet3d unet3d_h100 -p dataset.num_files_train=14 -p train.epochs=3 || return 1
  instrumentation_pairs "114 KB npz, one a file" npz "${small[@]}" -p train.epochs=3 || return 1
  instrumentation_pairs "114 KB in tfrecord" tfrecord resnet50_h100 -p dataset.num_files_train=8 -p train.epochs=4 || return 1
}
# instrumentation_pairs NAME SET WORKLOAD RUN-OPTION... : two rows
instrumentation_pairs() {
  local name=$1 set=$2 pair how order figures pairs; shift 2
  pairs=$(mktemp "$BENCH_RAM/pairs.XXXXXX") # a line a run: pair, how, rate, CPU
  for pair in $(seq 20); do
    order=(full none); [ $((pair % 2)) -eq 0 ] || order=(none full)
    for how in "${order[@]}"; do
      figures=$(instrumented_run "$how" "$@" --data-dir "$BENCH_RAM/$set") || return 1
      echo "$pair $how $figures" >>"$pairs"
    done
    [ "$pair" -lt 10 ] || ! are_known_to 0.006 "$pairs" || break
  done
  pair_row "instrumentation beside none, $name, rate" "$pairs" 2 MB/s ge 0.98
  pair_row "instrumentation beside none, $name, CPU" "$pairs" 3 "CPU s/GB" le 1.05
}
# instrumented_run full|none RUN-ARGUMENT... : prints its rate and CPU; a run without instrumentation ends with exit code 4, for it proves nothing
instrumented_run() {
  local how=$1 folder status; shift
  folder=$(mktemp -d "$BENCH_RAM/results.XXXXXX")
  "$BIN/feedbench" run "$@" -p train.computation_time=0 -p workflow.checkpoint=false --no-steps --allow-cached -p "metric.instrumentation=$how" \
    --results-dir "$folder" >"$folder/out.txt" 2>&1
  status=$?
  [ "$status" -eq 0 ] || [ "$how $status" = "none 4" ] || { tail -n 5 "$folder/out.txt" >&2; return 1; }
  json "$(find "$folder" -name result.json | head -n 1)" "' '.join('%.9g' % x for x in (
    __import__('statistics').median(m['value'] for e in d['epochs'] for m in e['metrics'] if m['key'] == 'delivered_MB_per_second'),
    next(m['value'] for m in d['metrics'] if m['key'] == 'cpu_s_per_GB_process')))"
  rm -rf "$folder"
}
# pair_figures FILE COLUMN : median of full, median of none, median ratio of the pairs, its standard error, count of pairs.
# The standard error of a median of n values that are spread like a normal distribution around it: 1.25 sigma / sqrt(n), sigma from the quartiles.
pair_figures() {
  python3 -c 'import math, statistics, sys
runs = [line.split() for line in open(sys.argv[1])]
side = lambda how: [float(r[int(sys.argv[2])]) for r in sorted(runs, key=lambda r: int(r[0])) if r[1] == how]
full, none = side("full"), side("none")
ratios = [f / n for f, n in zip(full, none)]
low, middle, high = statistics.quantiles(ratios, n=4)
print(*("%.6g" % x for x in (*map(statistics.median, (full, none)), middle, 1.25 * (high - low) / 1.349 / math.sqrt(len(ratios)), len(ratios))))' "$1" "$2"
}
are_known_to() { # ERROR FILE
  local column figures
  for column in 2 3; do
    read -r -a figures <<<"$(pair_figures "$2" "$column")"
    [ "$(calc "${figures[3]} <= $1")" = 1 ] || return 1
  done
}
# pair_row NAME FILE COLUMN UNIT RELATION BOUND
pair_row() {
  local figures; read -r -a figures <<<"$(pair_figures "$2" "$3")"
  row "$1, median of ${figures[4]} pairs, +- $(calc "100 * ${figures[3]}") %" "${figures[0]}" "${figures[1]}" "$4" "${figures[2]}" "$5" "$6"
}
