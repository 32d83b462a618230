#!/usr/bin/env bash
# client-bound (CPU), by starving the client: both ranks on one CPU that burners of a higher priority keep busy. The same load with the CPU to
# itself is not client-bound.
. "$(dirname "$0")/lib.sh"
command -v taskset >/dev/null || skip "no taskset"
cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//') # one that we may use
make_small "$WORK/data"
load=(run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 "${SMALL[@]}" -p train.computation_time=0.003 -p train.epochs=4)
starve() { # CPU : busy loops there, above the ranks' priority
  burners=()
  for _ in 1 2 3 4 5 6; do taskset -c "$1" "$BASH" -c 'while :; do :; done' & burners+=($!); done
}
relieve() { kill "${burners[@]}" 2>/dev/null; wait "${burners[@]}" 2>/dev/null; }
starve "$cpu"
LIMIT=100 run taskset -c "$cpu" nice -n 15 "${MPIRUN[@]}" -n 2 "$FEEDBENCH" "${load[@]}" --results-dir "$WORK/starved"
relieve
expect_status 0 "starved"
expect_said "^VERDICT client-bound" 1
expect_said "CPU of the client" 1
result=$(result_dir "$WORK/starved")/result.json
expect_json "$result" 'd["verdict"] == "client-bound" and d["valid"] and d["attribution"]["client_wait_s"] > 0'
expect_json "$result" 'next(f for f in d["findings"] if f["verdict"] == "client-bound")["rule"] == "client_cpu"'
note "starved: passed"
