#!/usr/bin/env bash
# feedbench max with real ranks and real time: storage of known capacity, limits, an interruption, wrong input.
. "$(dirname "$0")/lib.sh"

# An accelerator thinks 50 ms about 2 samples of 200 kB: 8 MB/s. The model's rate is each rank's: 16.4 MB/s feed two of
# them; three get 68 %. That is far from the bar of 80 % on both sides, for this machine may be busy.
SLOW=(max resnet50_mini --results-dir "$WORK/results" -p dataset.format=raw -p dataset.record_length_bytes=200000
  -p dataset.record_length_bytes_stdev=0 -p dataset.num_files_train=400 -p dataset.num_samples_per_file=1
  -p reader.data_loader=pytorch -p reader.batch_size=2 -p reader.read_threads=2 -p train.epochs=1
  -p train.computation_time=0.05 -p workflow.evaluation=False -p workflow.checkpoint=False)
MAX=("${SLOW[@]}" --probe-seconds 1 --settle-seconds 0.4 --ceiling-seconds 0.4)
answer='next(m["value"] for m in d["metrics"] if m["key"] == "max_accelerator_count")'

# Known capacity, two ranks: exactly 2 a rank.
run_ranks 2 "${MAX[@]}" --data-dir model:bandwidth=16.4MB --au 0.8
expect_status 0 "max on two ranks"
result=$(result_dir "$WORK/results")
expect_json "$result/result.json" "$answer == 4 and d['accelerator_count'] == 4"
expect_json "$result/result.json" 'd["kind"] == "max" and d["status"] == "complete" and d["rank_count"] == 2'
expect_json "$result/result.json" '[(p["passed"], p["confirmed"]) for p in d["scaling"] if p["accelerator_count"] == 4] == [(True, True)]'
expect_json "$result/result.json" '[p["passed"] for p in d["scaling"] if p["accelerator_count"] == 6] == [False]'
expect_json "$result/result.json" 'all(p["accelerator_count"] % 2 == 0 for p in d["scaling"])'
expect_json "$result/result.json" 'd["scaling_stop"].startswith("storage: with 6 accelerators")'
expect_json "$result/result.json" 'len(d["ceilings"]) == 1 and d["ceilings"][0]["MB_per_second"] > 100'
expect_file "$result/config.yaml"
grep -q '4 accelerators, full length: AU' "$result/log.txt" || fail "the confirming run is not in log.txt"
expect_said 'accelerators that reach 80.00 % AU, at most: 4'
expect_said '^ +4 .* pass +full'
expect_said '[0-9]:[0-9][0-9] left'
rm -rf "$WORK/results"

# --limit is the answer, and said to be; no run of full length, and that is said.
run "$FEEDBENCH" "${MAX[@]}" --data-dir null: --limit 3 --start 3 --no-confirm --au 0.5
expect_status 0 "max up to a limit"
expect_said 'stopped by: limit: 3 accelerators'
expect_said 'max_not_confirmed'
rm -rf "$WORK/results"

# Storage that costs nothing, and 20 MB to copy in a millisecond: it is the client that stops, before the first.
run "$FEEDBENCH" "${MAX[@]}" --data-dir null:copy=64MiB --start 1 -p dataset.record_length_bytes=10000000 \
  -p train.computation_time=0.001
expect_status 1 "max on null:"
expect_said 'stopped by: client: with 1 accelerators? AU'
expect_not_said 'stopped by: storage'
rm -rf "$WORK/results"

# Not even one: exit 1, N is 0.
run "$FEEDBENCH" "${MAX[@]}" --data-dir model:bandwidth=2MB --start 1
expect_status 1 "too slow for one"
expect_said 'at most: 0'
expect_said 'N is 0'
rm -rf "$WORK/results"

# Interrupted: what is known is printed and stored.
rm -f "$WORK/err.txt" # of the command before
launch "$FEEDBENCH" "${SLOW[@]}" --data-dir model:bandwidth=16.4MB --start 1 --probe-seconds 2 --settle-seconds 0
trial_done() { grep -q -s 'accelerators: AU' "$WORK/err.txt"; }
wait_until 60 trial_done || fail "no trial ended"
kill -INT "$job"
settle 30
expect_status 130 "interrupted"
result=$(result_dir "$WORK/results")
expect_json "$result/result.json" 'd["status"] == "interrupted" and not d["valid"] and len(d["scaling"]) >= 1'
expect_json "$result/result.json" 'd["scaling"][0]["accelerator_count"] == 1 and d["scaling"][0]["au_percentage"] > 50'
expect_said 'stopped by: not known: the search was interrupted'
rm -rf "$WORK/results"

# --dry-run: the plan of the search, and nothing done.
run "$FEEDBENCH" "${MAX[@]}" --data-dir model:bandwidth=1GB --dry-run
expect_status 0 "dry run"
expect_said 'largest N.*100 \(the dataset'
expect_said 'a probe.*1 s, after 0.4 s'
expect_no_file "$WORK/results"

# Wrong input: one sentence, exit 2, no folder.
refuses() {
  local pattern=$1; shift
  run "$FEEDBENCH" "${SLOW[@]}" --data-dir null: "$@"
  expect_status 2 "$*"
  expect_said "^feedbench: error: " 1
  expect_said "^feedbench: error: .*($pattern)"
  expect_no_file "$WORK/results"
}
refuses 'leave --accelerators out' --accelerators 8
refuses 'larger than 0 and at most 1' --au 0
refuses 'larger than 0 and at most 1' --au 90
refuses 'larger than 0 and at most 1' --au -0.5
refuses '--limit 0' --limit 0
refuses '--start 9 is larger than --limit 8' --start 9 --limit 8
refuses '--probe-seconds 0' --probe-seconds 0
refuses '--settle-seconds -1' --settle-seconds=-1
refuses 'think time' -p train.computation_time=0
refuses 'too few samples' -p dataset.num_files_train=1
run "$FEEDBENCH" max llama3_8b
expect_status 2 "a workload without training"
expect_said 'error: .*does not train'
run_ranks 4 "${MAX[@]}" --data-dir null: --limit 3
expect_status 2 "a limit below the ranks"
expect_said 'error: .*--limit 3: fewer than the 4 accelerators that this job starts with'
note "passed"
