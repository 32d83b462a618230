#!/usr/bin/env bash
# Case F4: SIGINT in the middle of an epoch: a partial result, marked interrupted, exit 130. Alone and under mpirun.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
begin() { # RESULTS COMMAND... : starts a long run, waits until it works
  local results=$1; shift
  launch "$@" run "$(small_workload)" --data-dir "$WORK/data" --accelerators 2 --results-dir "$results" "${SMALL[@]}" -p train.epochs=1000
  wait_until 30 epoch_ended 2 "$results" || fail "the run did not start"
}
for signal in INT TERM; do
  begin "$WORK/results-$signal" "$FEEDBENCH"
  kill -"$signal" "$job"
  settle 10
  expect_status 130 "SIG$signal, one process"
  result=$(result_dir "$WORK/results-$signal")/result.json
  expect_json "$result" 'd["status"] == "interrupted" and d["valid"] is False'
  expect_json "$result" 'len(d["epochs"]) >= 2 and all(e["samples_proved"] and e["step_count"] == 8 for e in d["epochs"][:-1])'
  expect_file "$(dirname "$result")/steps.h5"
  expect_file "$(dirname "$result")/summary.json"
  expect_said "interrupted; the partial result" 1
  note "SIG$signal, one process: passed"
done

# mpirun passes SIGINT on as SIGTERM and kills after a moment: what was measured must be on disk by then.
for ranks in 2 4; do
  results=$WORK/results-mpi-$ranks
  launch "${MPIRUN[@]}" -n "$ranks" "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 \
    --results-dir "$results" "${SMALL[@]}" -p train.epochs=1000
  wait_until 30 epoch_ended 2 "$results" || fail "the run did not start"
  kill -INT "$job"
  settle 15
  [ "$STATUS" -ne 0 ] || fail "exit code 0 after SIGINT to mpirun"
  expect_json "$(result_dir "$results")/result.json" \
    'd["status"] in ("interrupted", "incomplete") and d["valid"] is False and len(d["epochs"]) >= 2 and d["epochs"][0]["samples_proved"]'
  no_ranks() { [ -z "$(rank_pids)" ]; }
  wait_until 5 no_ranks || fail "ranks are left behind"
  note "SIGINT to mpirun with $ranks ranks: passed, $(json_value "$(result_dir "$results")/result.json" 'd["status"]')"
done
