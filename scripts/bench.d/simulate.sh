# Simulation: how many accelerators in how much time and memory, and whether it tells the truth about measured runs.
part_simulate() {
  settle
  local folder; folder=$(mktemp -d "$BENCH_RAM/simulate.XXXXXX")
  simulate_size 10000 500 "$folder" 30 1024
  simulate_size 100000 50 "$folder" 120 4096
  simulate_workload "$folder/w.yaml" 4000000 4 4 0.2 npz 400
  simulate_truth model "$folder" 'model:bandwidth=300MB,latency=2ms,open_latency=1ms' 2 4 8
  # tmpfs: what is measured there is the client; the fit says so and takes the client's rate.
  simulate_workload "$folder/w.yaml" 4000000 4 4 0.02 npz 640
  dataset "$BENCH_RAM/simulate-data" "$folder/w.yaml" || return 1
  simulate_truth tmpfs "$folder" "$BENCH_RAM/simulate-data" 2 8 16 -p train.epochs=5
  rm -rf "$folder" "$BENCH_RAM/simulate-data"
}

# simulate_size ACCELERATORS STEPS FOLDER SECONDS MiB : batches of one sample of 200 kB, two readers
simulate_size() {
  simulate_workload "$3/big.yaml" 200000 1 2 0.1 raw 1
  /usr/bin/time -f '{"wall_s": %e, "cpu_s": %U, "peak_kib": %M}' -o "$3/time.json" "$BIN/feedbench" simulate "$3/big.yaml" \
    -a "$1" --steps "$2" --storage 'model:bandwidth=100GB,latency=1ms' >"$3/out.txt" 2>&1 || { tail -n 3 "$3/out.txt" >&2; return 1; }
  bound "simulate, $1 accelerators x $2 steps, processor time" "$(json "$3/time.json" 'd["cpu_s"]')" s le "$4"
  bound "the same, peak memory" "$(json "$3/time.json" 'd["peak_kib"] / 1024')" MiB le "$5"
}

# simulate_truth NAME FOLDER STORAGE LOW MIDDLE HIGH [OPTION...] : three loads measured in real time, and simulated on the model that
# was fitted to the highest of them. The loads take turns: a machine that is slower for half a minute is slower for all of them, not a
# storage that is slower at one load.
simulate_truth() {
  local name=$1 folder=$2 storage=$3 low=$4 middle=$5 high=$6 try count result measured simulated; shift 6
  for try in 1 2 3; do
    for count in "$low" "$middle" "$high"; do
      keep_better_run "$folder/$name-$count.json" "$folder/w.yaml" -a "$count" --data-dir "$storage" "$@" || return 1
    done
  done
  "$BIN/feedbench" simulate "$folder/w.yaml" --fit "$folder/$name-$high.json" --fit-only "$@" | sed 's/^/  /'
  for count in "$low" "$middle" "$high"; do
    measured=$(metric "$folder/$name-$count.json" au_mean_percentage)
    result=$(run_result "$BIN/feedbench" simulate "$folder/w.yaml" --fit "$folder/$name-$high.json" -a "$count" "$@") || return 1
    simulated=$(metric "$result" au_mean_percentage)
    bound "simulate on a fit to $name, $count accelerators: AU $(printf '%.2f beside measured %.2f' "$simulated" "$measured"), apart" \
      "$(calc "abs($simulated - $measured)")" points le 2
  done
}

# keep_better_run FILE RUN-OPTION... : FILE's result, or this run's in real time if its AU is higher (the machine's other work can only hurt)
keep_better_run() {
  local file=$1 result; shift
  result=$(run_result "$BIN/feedbench" run "$@" --no-steps) || return 1
  [ -e "$file" ] && [ "$(calc "$(metric "$result" au_mean_percentage) <= $(metric "$file" au_mean_percentage)")" = 1 ] || cp "$result" "$file"
}

# simulate_workload FILE SAMPLE-BYTES BATCH READERS THINK-S FORMAT FILES
simulate_workload() {
  cat >"$1" <<YAML
model: {name: simulate}
framework: pytorch
workflow: {train: True}
dataset: {data_folder: "null:", format: $6, num_files_train: $7, num_samples_per_file: 1, record_length_bytes: $2}
reader: {data_loader: pytorch, batch_size: $3, read_threads: $4, file_shuffle: seed}
train: {epochs: 1, computation_time: $5}
YAML
}
