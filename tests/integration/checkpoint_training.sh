#!/usr/bin/env bash
# Checkpoints inside training by real ranks: all wait, training goes on, the cost in the report; what a stop leaves; what is refused before it starts.
. "$(dirname "$0")/lib.sh"
data=$WORK/data
SMALL=(-p dataset.num_files_train=64 -p dataset.record_length_bytes=20000 -p dataset.record_length_bytes_stdev=0 -p reader.batch_size=2
  -p train.epochs=2 -p train.computation_time=0.02 -p workflow.checkpoint=True -p checkpoint.steps_between_checkpoints=4 -p model.model_size=3000000
  -p checkpoint.type=all_ranks -p checkpoint.fsync=True)
make_small "$data"
# trains NAME ARGS... : two ranks of two accelerators, 8 steps an epoch: 2 checkpoints in each
trains() {
  local name=$1; shift
  LIMIT=60 run_ranks 2 run "$(small_workload)" --data-dir "$data" --accelerators 4 --results-dir "$WORK/results-$name" --no-steps \
    -p checkpoint.checkpoint_folder="$WORK/checkpoints-$name" "${SMALL[@]}" --allow-cached "$@"
}
# listed NAME : folders that the list of committed checkpoints holds
listed() { json_value "$WORK/checkpoints-$1/feedbench-checkpoints.json" '" ".join(e["folder"] for e in d["committed"])'; }
whole="global_epoch1_step4 global_epoch1_step8 global_epoch2_step4 global_epoch2_step8"

for mode in sync async; do
  trains $mode -p checkpoint.asynchronous=$([ $mode = async ] && echo True || echo False)
  expect_status 0 "$mode"
  result=$(result_dir "$WORK/results-$mode")/result.json
  expect_json "$result" 'len(d["checkpoints"]) == 4 and all(c["committed"] and c["mode"] == "'$mode'" for c in d["checkpoints"])'
  expect_json "$result" 'all(c["bytes"] == 12000000 and c["file_count"] == 4 and c["fsync_done_count"] == 4 and len(c["ranks"]) == 4 for c in d["checkpoints"])'
  expect_json "$result" '{m["key"] for m in d["metrics"]} >= {"checkpoint_cost_au_points", "checkpoint_au_beside_percentage", "checkpoint_standstill_s"}'
  expect_said "checkpoint_cost\): checkpoints cost the training" 1
  [ "$(listed $mode)" = "$whole" ] || fail "$mode: listed are $(listed $mode)"
  [ "$(find "$WORK/checkpoints-$mode" -name '*.pt' -size 3000000c | wc -l)" -eq 16 ] || fail "$mode: not 16 whole files"
done
expect_json "$(result_dir "$WORK/results-sync")/result.json" 'all(c["training_wait_s"] > 0 for c in d["checkpoints"]) and len(d["epochs"][0]["blocks"]) == 2'
# A step or more went on while one was written: nobody could have known of it without it being told.
expect_json "$(result_dir "$WORK/results-async")/result.json" '[m["value"] for m in d["metrics"] if m["key"] == "checkpoint_steps_beside"][0] >= 4'
note "both modes: passed"

# The third of rank 1's files fails in the middle: what was whole before stays, nothing else does.
LIMIT=60 run "${MPIRUN[@]}" -n 1 "$FEEDBENCH" run "$(small_workload)" --data-dir "$data" --accelerators 4 --results-dir "$WORK/results-bad" \
  "${SMALL[@]}" -p checkpoint.asynchronous=True -p checkpoint.checkpoint_folder="$WORK/checkpoints-bad" : \
  -n 1 "$FEEDBENCH" run "$(small_workload)" --data-dir "$data" --accelerators 4 --results-dir "$WORK/results-bad" \
  "${SMALL[@]}" -p checkpoint.asynchronous=True -p checkpoint.checkpoint_folder="fault:error=EIO@8,on=write;inner=$WORK/checkpoints-bad"
expect_status 3 "a write that fails"
expect_said "^feedbench: error: .*rank 1.*EIO" 1
[ "$(listed bad)" = global_epoch1_step4 ] || fail "after a failed write are listed: $(listed bad)"
[ "$(find "$WORK/checkpoints-bad" -name '*.pt' | wc -l)" -eq 4 ] || fail "left behind: $(find "$WORK/checkpoints-bad" -type f)"
[ -z "$(find "$WORK/checkpoints-bad" -name '*.tmp*')" ] || fail "half a file was left"
note "a failure in the middle: passed"

# Interrupted while one is being written (each write of rank 0 takes its time).
launch "${MPIRUN[@]}" -n 2 "$FEEDBENCH" run "$(small_workload)" --data-dir "$data" --accelerators 4 --results-dir "$WORK/results-cut" "${SMALL[@]}" \
  -p checkpoint.asynchronous=True -p checkpoint.checkpoint_folder="fault:delay=2s,delay_at=8+,on=write;inner=$WORK/checkpoints-cut"
wait_until 20 test -d "$WORK/checkpoints-cut/global_epoch1_step8" || fail "no second checkpoint began"
kill -INT "$job"; settle 20
expect_said "interrupted" ; [ "$STATUS" -ne 0 ] || fail "interrupted, and exit code 0"
[ "$(listed cut)" = global_epoch1_step4 ] || fail "after an interruption are listed: $(listed cut)"
expect_no_file "$WORK/checkpoints-cut/global_epoch1_step8"
note "interrupted: passed"

# Refused before it starts: no room (a small filesystem), a model that the ranks do not divide.
if [ "$(id -u)" -eq 0 ] && mkdir "$WORK/small" && mount -t tmpfs -o size=8m tmpfs "$WORK/small" 2>/dev/null; then
  undo() { umount "$WORK/small"; }
  trains room -p checkpoint.checkpoint_folder="$WORK/small/checkpoints"
  expect_status 3 "no room"; expect_said "^feedbench: error: .*needs .* GiB, the tmpfs filesystem has room for" 1
  expect_no_file "$WORK/small/checkpoints/global_epoch1_step4"
  undo; undo() { :; }
fi
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$data" --accelerators 4 --results-dir "$WORK/results-odd" "${SMALL[@]}" \
  -p model.num_layers=4 -p model.parallelism.tensor=3
expect_status 2; expect_said "4 ranks are not a multiple of model.parallelism tensor 3" 1
expect_no_file "$WORK/results-odd"
note "refusals: passed"
