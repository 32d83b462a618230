#!/usr/bin/env bash
# Case F3: reads that never complete: after the stall time-out one message says what, where and which rank, then all stop; exit 3.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
# From its 200th read on, nothing comes back, in one rank or in both.
for ranks in 1 2; do
  LIMIT=60 run_ranks "$ranks" run "$(small_workload)" --data-dir "fault:stall=200+;inner=$WORK/data" --accelerators 2 \
    --results-dir "$WORK/results-$ranks" --stall-timeout 3 "${SMALL[@]}" -p train.epochs=100
  expect_status 3 "stalled reads"
  expect_said "^feedbench: error: rank [0-9]+ .*no storage operation has completed for [0-9.]+ s; [0-9]+ outstanding"
  expect_said "^ +read .*img_[0-9]+_of_32\.npz at offset [0-9]+, [0-9]+ bytes, for [0-9.]+ s"
  [ -z "$(rank_pids)" ] || fail "ranks are left behind"
  for result in $(find "$WORK/results-$ranks" -name result.json 2>/dev/null); do
    expect_json "$result" 'd["valid"] is False and d["status"] != "complete"'
  done
  note "$ranks ranks: passed"
done
# A storage that is slow, but not stalled, is waited for.
LIMIT=60 run_ranks 2 run "$(small_workload)" --data-dir "fault:delay=1,delay_at=50;inner=$WORK/data" --accelerators 2 \
  --results-dir "$WORK/results-slow" --stall-timeout 3 "${SMALL[@]}"
expect_status 0 "slow reads"
