#!/usr/bin/env bash
# Case F3: reads that never complete, and whatever else a rank may wait for (docs/failing.md has the table): after the stall time-out one message says what, where and which rank, then all stop; exit 3.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
# From its 200th read on, nothing comes back, in one rank or in both.
for ranks in 1 2; do
  LIMIT=60 run_ranks "$ranks" run "$(small_workload)" --data-dir "fault:stall=200+;inner=$WORK/data" --accelerators 2 \
    --results-dir "$WORK/results-$ranks" --stall-timeout 2 "${SMALL[@]}" -p train.epochs=100
  expect_status 3 "stalled reads"
  expect_said "^feedbench: error: " 1
  expect_said "^feedbench: error: .*no storage operation has completed for [0-9.]+ s; [0-9]+ outstanding"
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

# stalls WHAT PATTERN COMMAND... : ends with exit 3 and one message that holds the pattern
stalls() {
  local what=$1 pattern=$2; shift 2
  LIMIT=30 run "$@" --stall-timeout 1
  expect_status 3 "$what"
  expect_said "^feedbench: error: " 1
  expect_said "$pattern"
  wait_until 5 no_ranks || fail "$what: ranks are left behind"
  note "$what: passed"
}
no_ranks() { [ -z "$(rank_pids)" ]; }
TWO=("${MPIRUN[@]}" -n 2 "$FEEDBENCH")
RUN=(run "$(small_workload)" --accelerators 2 --results-dir "$WORK/results" "${SMALL[@]}")
DATA=$WORK/data
# One rank's read hangs, the other only waits for it: the one that knows speaks.
stalls "a rank that waits for another's read" "error: rank 1 .*no storage operation.*outstanding" \
  "${MPIRUN[@]}" -n 1 "$FEEDBENCH" "${RUN[@]}" --data-dir "$DATA" --stall-timeout 1 : -n 1 "$FEEDBENCH" "${RUN[@]}" --data-dir "fault:stall=9+;inner=$DATA"
# A blocked main thread: rank 0 reads the manifest, rank 1 waits in a collective call.
stalls "start-up" "error: rank 0 .*nothing has moved for .* in: looking at the dataset in .*data" \
  "${TWO[@]}" "${RUN[@]}" --data-dir "fault:stall=1,on=namespace;inner=$DATA"
stalls "closing files" "^ +close train/img_[0-9]+_of_32" "${TWO[@]}" "${RUN[@]}" --data-dir "fault:stall=20+,on=close;inner=$DATA"
stalls "a checkpoint" "^ +fsync .*model_states-0" "${TWO[@]}" "${RUN[@]}" --data-dir "$DATA" -p workflow.checkpoint=True \
  -p checkpoint.checkpoint_folder="fault:stall=1,on=fsync;inner=$WORK/checkpoints" -p checkpoint.checkpoint_after_epoch=1 \
  -p checkpoint.fsync=True -p model.model_size_bytes=4000000
stalls "datagen" "^ +commit train/img_" "${TWO[@]}" datagen "$(small_workload)" "${SMALL[@]}" --data-dir "fault:stall=9+,on=commit;inner=$WORK/written"
stalls "adopt" "nothing has moved for .* in: looking at the folder" "$FEEDBENCH" adopt "fault:stall=1,on=namespace;inner=$DATA"
