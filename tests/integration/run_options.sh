#!/usr/bin/env bash
# What a run does besides reading: evaluation and checkpoints inside training, a required AU, a dry run that touches nothing, two runs in one
# second, results on the storage under test.
. "$(dirname "$0")/lib.sh"
check_result() { "$PYTHON" "$(dirname "$0")/check_result.py" "$@" || fail "result of $1"; }
SET=("${SMALL[@]}" -p dataset.num_files_eval=8)
run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/data" "${SET[@]}"; expect_status 0 datagen
small() { run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" "${SET[@]}" "$@"; }

# --dry-run touches nothing: no results, no data, not even a folder, and needs no data.
before=$(find "$WORK" ! -name '*.txt' -printf '%p %s %T@\n' | sort)
small --dry-run --results-dir "$WORK/results-dry"
expect_status 0 "dry run"
expect_said "batch_size"; expect_said "steps +16"; expect_said "disk need"; expect_said "memory"
run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/nowhere" "${SET[@]}" --dry-run
expect_status 0 "dry datagen"; expect_said "disk need [0-9]+ bytes"
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/nowhere" "${SET[@]}" --dry-run --results-dir "$WORK/results-dry"
expect_status 0 "dry run without data"
[ "$before" = "$(find "$WORK" ! -name '*.txt' -printf '%p %s %T@\n' | sort)" ] || fail "a dry run touched something"
note "dry run: passed"

# Evaluation after every epoch; a checkpoint after epochs 1 and 3 by all ranks, fsynced.
EXTRA=(-p workflow.evaluation=True -p evaluation.eval_time=0.01 -p reader.batch_size_eval=1 -p train.epochs=3 -p workflow.checkpoint=True
  -p checkpoint.checkpoint_after_epoch=1 -p checkpoint.epochs_between_checkpoints=2 -p checkpoint.fsync=True -p model.model_size_bytes=3000001)
LIMIT=60 run_ranks 2 run "$(small_workload)" --data-dir "$WORK/data" "${SET[@]}" "${EXTRA[@]}" --results-dir "$WORK/results-eval" \
  -p checkpoint.type=all_ranks -p checkpoint.checkpoint_folder="$WORK/checkpoints"
expect_status 0 "evaluation and checkpoints"
check_result "$(result_dir "$WORK/results-eval")" accelerators=2 ranks=2 files=32 epochs=3 evaluations=3 checkpoints=2
[ "$(find "$WORK/checkpoints" -type f -size 3000001c | wc -l)" -eq 4 ] || fail "2 checkpoints of 2 ranks should be 4 files: $(find "$WORK/checkpoints" -type f)"
result=$(result_dir "$WORK/results-eval")/result.json
expect_json "$result" '[c["bytes"] for c in d["checkpoints"]] == [6000002, 6000002] and all(c["fsync"] and c["fsync_s"] > 0 for c in d["checkpoints"])'
expect_json "$result" '[(e["index"], e["evaluation"]) for e in d["epochs"]] == [(0, False), (0, True), (1, False), (1, True), (2, False), (2, True)]'
# A checkpoint within an epoch begins a new block, every 3 steps of 8.
small "${EXTRA[@]}" --accelerators 2 --results-dir "$WORK/results-steps" -p train.epochs=1 -p checkpoint.steps_between_checkpoints=3 \
  -p checkpoint.checkpoint_folder="$WORK/checkpoints-steps"
expect_status 0 "checkpoints by steps"
expect_json "$(result_dir "$WORK/results-steps")/result.json" \
  '[b["step_count"] for b in d["epochs"][0]["blocks"]] == [3, 3, 2] and [c["step_index"] for c in d["checkpoints"]] == [3, 6]'
small --accelerators 2 --results-dir "$WORK/results-total" -p train.epochs=5 -p train.total_training_steps=11
expect_status 0 "total_training_steps"
expect_json "$(result_dir "$WORK/results-total")/result.json" '[e["step_count"] for e in d["epochs"]] == [8, 3]'
note "evaluation, checkpoints, total steps: passed"

# A bar: missed by storage too slow to meet it, met by none asked for; the report is written either way.
SLOW="fault:delay=0.2,on=open;inner=$WORK/data"
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$SLOW" "${SET[@]}" -p train.epochs=1 --results-dir "$WORK/results-bar" --require-au
expect_status 1 "--require-au over slow storage"
expect_said "AU [0-9.]+ % does not meet the required 90.00 %" 1
expect_json "$(result_dir "$WORK/results-bar")/result.json" 'd["status"] == "complete" and d["valid"] and "MB/s" in d["explanation"]'
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$SLOW" "${SET[@]}" -p train.epochs=1 -p train.total_training_steps=2 --results-dir "$WORK/results-nobar"
expect_status 0 "no bar was asked for"
small --results-dir "$WORK/results-low" --require-au 0.01; expect_status 0 "a bar of 1 %"
small --results-dir "$WORK/results-high" --require-au 1.5; expect_status 2 "a bar of 150 %"
expect_no_file "$WORK/results-high"
note "--require-au: passed"

# Results on the storage under test: said before the run, and in the result.
small --results-dir "$WORK/results-same"
expect_status 0
expect_said "warning.*same filesystem"
expect_json "$(result_dir "$WORK/results-same")/result.json" 'any(f["rule"] == "results_on_storage_under_test" for f in d["findings"])'
elsewhere=$(mktemp -d /dev/shm/feedbench-results.XXXXXX 2>/dev/null)
if [ -n "$elsewhere" ] && [ "$(stat -c %d "$elsewhere")" != "$(stat -c %d "$WORK")" ]; then
  undo() { rm -rf "$elsewhere"; }
  small --results-dir "$elsewhere"; expect_status 0; expect_not_said "same filesystem"
  expect_json "$(result_dir "$elsewhere")/result.json" 'not any(f["rule"] == "results_on_storage_under_test" for f in d["findings"])'
fi

# Three runs at once take three folders (and read what the others have left in the cache).
for i in 1 2 3; do
  "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" "${SET[@]}" --results-dir "$WORK/results-three" --allow-cached >"$WORK/out-$i.txt" 2>&1 &
  pids[$i]=$!
done
for i in 1 2 3; do wait "${pids[$i]}" || fail "run $i of three: $(tail -n 3 "$WORK/out-$i.txt")"; done
[ "$(find "$WORK/results-three" -name result.json | wc -l)" -eq 3 ] || fail "three runs at once left $(find "$WORK/results-three" -name result.json)"
[ -z "$(find "$WORK/results-three" -name '*.partial')" ] || fail "partial folders of runs that ended"
note "results folders: passed"
