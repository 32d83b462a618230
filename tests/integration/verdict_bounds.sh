#!/usr/bin/env bash
# storage-bound, accelerator-bound and inconclusive, each by a storage that makes it so: slow, generous, or a run too short to say.
. "$(dirname "$0")/lib.sh"
# verdict NAME DATA STATUS VERDICT ARGS... : 2 ranks over DATA
verdict() {
  local name=$1 data=$2 status=$3 verdict=$4; shift 4
  run_ranks 2 run "$(small_workload)" --data-dir "$data" --accelerators 4 "${SMALL[@]}" -p reader.drop_cache=off --results-dir "$WORK/$name" "$@"
  expect_status "$status" "$name"
  expect_said "^VERDICT $verdict" 1
  result=$(result_dir "$WORK/$name")/result.json
  expect_json "$result" "d['verdict'] == '$verdict' and d['valid']"
  expect_json "$result" "next(f for f in d['findings'] if f['verdict'] == '$verdict')['facts']"
  note "$name: passed"
}
# 3.2 MB an epoch at 2 x 2 MB/s: 0.8 s, for 4 steps of 20 ms.
verdict slow "model:bandwidth=2M" 0 storage-bound
expect_json "$result" 'd["attribution"]["storage_wait_s"] > d["attribution"]["think_s"]'
# A real disk behind a slow door, direct, so that no cache can answer.
make_small "$WORK/data"
verdict delayed "fault:delay=0.15,on=open;inner=$WORK/data" 0 storage-bound -p reader.odirect=True -p train.epochs=1
# Generous: a batch is there long before it is asked for.
verdict generous "model:bandwidth=10G,latency=100us" 0 accelerator-bound -p train.computation_time=0.2
# A bar that is missed by a slow storage stays a matter of the bar.
verdict bar "model:bandwidth=2M" 1 storage-bound --require-au -p train.epochs=1
# One step: no AU, so nothing to praise.
verdict one_step "null:" 0 inconclusive -p dataset.num_files_train=8 -p train.epochs=1 -p train.computation_time=0.2
expect_said "at least two steps" 1

# In virtual time the client costs nothing, and the verdict does not depend on this machine.
simulate() { run "$FEEDBENCH" run "$(small_workload)" --virtual-time --accelerators 64 -p dataset.num_files_train=1280 "${SMALL[@]:2}" --results-dir "$WORK/$1" --data-dir "$2"
  expect_status 0 "$1"; expect_json "$(result_dir "$WORK/$1")/result.json" "d['verdict'] == '$3' and d['valid'] and d['virtual_time']"; }
simulate simulated_slow "model:bandwidth=100M" storage-bound
simulate simulated_fast "model:bandwidth=10G,latency=1ms" accelerator-bound
note "simulated: passed"
