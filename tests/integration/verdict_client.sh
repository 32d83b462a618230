#!/usr/bin/env bash
# client-bound (CPU), by starving the client: both ranks on one CPU that burners of a higher priority keep busy. The storage is a model whose
# answers are due after 0.2 ms: what comes later can only be the client. (A disk's buffered reads need the starved CPU themselves.)
. "$(dirname "$0")/lib.sh"
command -v taskset >/dev/null || skip "no taskset"
cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//') # one that we may use
load=(run "$(small_workload)" --data-dir model:bandwidth=20G,latency=0.2ms --accelerators 4 "${SMALL[@]}" -p train.computation_time=0.005)
export FEEDBENCH_CEILING_SECONDS=0 # attribution alone must tell: waits for a CPU are not waits for the storage
for _ in 1 2 3 4; do taskset -c "$cpu" "$BASH" -c 'while :; do :; done' & burners+=($!); done
LIMIT=100 run "${MPIRUN[@]}" -n 2 taskset -c "$cpu" nice -n 5 "$FEEDBENCH" "${load[@]}" -p train.epochs=4 --results-dir "$WORK/starved"
{ kill "${burners[@]}"; wait "${burners[@]}"; } 2>/dev/null
expect_status 0 "starved"
expect_said "^VERDICT client-bound" 1
expect_said "CPU of the client" 1
result=$(result_dir "$WORK/starved")/result.json
expect_json "$result" 'd["verdict"] == "client-bound" and d["valid"] and d["attribution"]["client_wait_s"] > 0'
expect_json "$result" 'next(f for f in d["findings"] if f["verdict"] == "client-bound")["rule"] == "client_cpu"'
expect_json "$result" '{m["key"]: m["value"] for f in d["findings"] if f["rule"] == "client_cpu" for m in f["facts"]}["client_share_of_lost"] >= 0.5'
expect_json "$result" 'next(m for m in d["metrics"] if m["key"] == "au_mean_percentage")["value"] < 95'
note "starved: passed"
