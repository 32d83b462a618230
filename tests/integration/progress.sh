#!/usr/bin/env bash
# --progress: the panel on a real pseudo-terminal (resized, interrupted, behind mpirun), JSON line by line, a log, nothing.
. "$(dirname "$0")/lib.sh"
"$PYTHON" -c 'import pyte' 2>/dev/null || skip "python3-pyte is not installed"
SCREEN="$FEEDBENCH_SOURCE_DIR/tests/integration/progress_screen.py"
# Storage that costs nothing, thinking 0.1 s a batch: an epoch of EPOCH_STEPS steps lasts as long as it is asked to.
null_run() { # FOLDER ACCELERATORS STEPS OPTION...
  local folder=$1 n=$2 steps=$3; shift 3
  command=("$FEEDBENCH" run "$(small_workload)" -a "$n" --data-dir null: --results-dir "$WORK/$folder" --no-steps "${SMALL[@]}"
    -p dataset.num_files_train=$((2 * n * steps)) -p train.computation_time=0.1 "$@")
}

# They think most of the time: side by side they take as long as one. A machine reads every line of stderr as one event.
null_run json 2 35 -p train.epochs=1 --progress json
timeout 60 "${command[@]}" >"$WORK/json.txt" 2>"$WORK/events.jsonl" & machine=$!
# mpirun hands lines on to its own terminal, as they are or with marks.
null_run launched 2 35 -p train.epochs=1
timeout 90 "$PYTHON" "$SCREEN" launched "${MPIRUN[@]}" -n 2 "${command[@]}" >"$WORK/launched.txt" 2>&1 & launched=$!
null_run marked 2 10 -p train.epochs=1
timeout 90 "$PYTHON" "$SCREEN" marked "${MPIRUN[@]}" --tag-output -n 2 "${command[@]}" >"$WORK/marked.txt" 2>&1 & marked=$!
# A person: the panel, a narrow terminal, Ctrl-C.
null_run person 4 400
run "$PYTHON" "$SCREEN" panel "${command[@]}"
expect_status 0
expect_json "$(result_dir "$WORK/person")/result.json" 'd["status"] == "interrupted"'
note "$(cat "$WORK/out.txt")"
wait "$launched" || fail "behind mpirun: $(cat "$WORK/launched.txt")"
note "$(cat "$WORK/launched.txt")"
wait "$marked" || fail "behind mpirun --tag-output: $(cat "$WORK/marked.txt")"
note "$(cat "$WORK/marked.txt")"
wait "$machine" || fail "the run with --progress json: $(tail -n 3 "$WORK/events.jsonl")"

# The figures of the events are those of the result.
result=$(result_dir "$WORK/json")
"$PYTHON" - "$WORK/events.jsonl" "$result/result.json" "$result" <<'PY' || fail "the JSON progress is not what was asked for"
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
result = json.load(open(sys.argv[2]))
names = [e["event"] for e in events]
assert names[0] == "message" and names[-1] == "end" and names.count("epoch") == 1 and names.count("end") == 1, names
progress = [e for e in events if e["event"] == "progress"]
assert len(progress) >= 2, len(progress)
done = [e["done"] for e in progress]
assert done == sorted(done) and all(e["total"] == 35 and e["unit"] == "steps" and e["phase"] == "epoch" for e in progress)
assert progress[-1]["au_so_far_percentage"] > 0 and progress[-1]["cpu_cores"] > 0
assert progress[-1]["MB_per_second_min"] <= progress[-1]["MB_per_second_mean"]
epoch = next(e for e in events if e["event"] == "epoch")
figures = {m["key"]: m["value"] for m in epoch["metrics"]}
assert figures == {m["key"]: m["value"] for m in result["epochs"][0]["metrics"]}
end = events[-1]
assert (end["status"], end["valid"], end["verdict"]) == (result["status"], result["valid"], result["verdict"]), end
assert end["results_folder"] == sys.argv[3] and end["message"] == "", end
PY

# A run that fails says so in the same way; the sentence for people is there as well.
null_run failed 4 1 -p dataset.num_files_train=3 --progress json
run "${command[@]}"
expect_status 2
expect_said '^feedbench: error: ' 1
null_run off 2 2 --virtual-time --progress off
run "${command[@]}"
expect_status 0
[ ! -s "$WORK/err.txt" ] || fail "--progress off, and something was said: $(head -n 1 "$WORK/err.txt")"
null_run log 2 200 --virtual-time --progress log
run "${command[@]}"
expect_said '^epoch 1/2  \[' 1
expect_said '^epoch 2: AU ' 1
expect_not_said $'\033'
run "$FEEDBENCH" run "$(small_workload)" --data-dir null: --progress fancy
expect_status 2
expect_said 'progress.*fancy' 1
run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/data" "${SMALL[@]}" --progress json
expect_status 0
tail -n 1 "$WORK/err.txt" >"$WORK/end.json"
expect_json "$WORK/end.json" 'd["event"] == "end" and d["status"] == "complete"'
note "panel, narrow terminal, Ctrl-C, mpirun, JSON, log and nothing"
