#!/usr/bin/env bash
# The client's ceiling: in every result of a run that asks for it, above what a slow storage gives; alone as `feedbench probe`; a signal in the
# middle of it ends the job with nothing left behind (F4).
. "$(dirname "$0")/lib.sh"
MODEL=(resnet50_h100 -p dataset.num_files_train=8 -p train.total_training_steps=4 -p train.computation_time=0.05 -p reader.batch_size=20 --no-steps)
SLOW=(--data-dir model:bandwidth=100MB)

for ranks in 1 2 4; do
  results=$WORK/results-$ranks
  run_ranks "$ranks" run "${MODEL[@]}" "${SLOW[@]}" --accelerators 4 --results-dir "$results" --ceiling-seconds 0.4
  expect_status 0 "$ranks ranks"
  expect_said "measuring the client's ceiling"
  result=$(result_dir "$results")/result.json
  expect_json "$result" 'len(d["ceilings"]) == 1 and d["ceiling_reason"] == ""'
  expect_json "$result" 'all(c["MB_per_second"] > 0 and c["steps_per_second"] > 0 and c["cpu_s_per_GB"] > 0 and c["duration_s"] > 0 and c["host"] == h["name"] for c, h in zip(d["ceilings"], d["hosts"]))'
  expect_json "$result" 'all(c["au_percentage"] is not None for c in d["ceilings"])'
  expect_json "$result" '(lambda m: m["ceiling_MB_per_second"] > m["delivered_MB_per_second"] and abs(m["achieved_over_ceiling"] - m["delivered_MB_per_second"] / m["ceiling_MB_per_second"]) < 1e-6 and m["achieved_over_ceiling"] < 0.9)({m["key"]: m["value"] for m in d["metrics"]})'
  note "$ranks ranks: passed, $(json_value "$result" 'd["ceilings"][0]["MB_per_second"]') MB/s"
done

# Files that were adopted: their sizes are as found, and null: has no files; the ceiling takes the mean size for all.
for format in npz tfrecord csv; do
  SET=(unet3d_mini "${SMALL[@]}" -p dataset.format=$format -p dataset.num_files_train=8)
  run "$FEEDBENCH" datagen "${SET[@]}" --data-dir "$WORK/adopted-$format"
  expect_status 0 "datagen $format"
  rm "$WORK/adopted-$format/feedbench-manifest.json"
  run "$FEEDBENCH" adopt "$WORK/adopted-$format"
  expect_status 0 "adopt $format"
  run "$FEEDBENCH" run "${SET[@]}" --data-dir "$WORK/adopted-$format" --allow-cached --results-dir "$WORK/results-$format" --ceiling-seconds 0.4
  expect_status 0 "a run of adopted $format"
  expect_json "$(result_dir "$WORK/results-$format")/result.json" 'len(d["ceilings"]) == 1 and d["ceilings"][0]["MB_per_second"] > 0'
done
note "adopted files: passed"

# Not asked for, and why it is not there.
run "$FEEDBENCH" run "${MODEL[@]}" "${SLOW[@]}" --accelerators 2 --results-dir "$WORK/results-off" --ceiling-seconds 0
expect_status 0 "no ceiling"
expect_json "$(result_dir "$WORK/results-off")/result.json" 'd["ceilings"] == [] and "--ceiling-seconds 0" in d["ceiling_reason"]'
expect_json "$(result_dir "$WORK/results-off")/result.json" 'all(m["value"] is None and m["reason"] == "ceiling_not_measured" for m in d["metrics"] if "ceiling" in m["key"])'
run "$FEEDBENCH" run "${MODEL[@]}" --data-dir null: --accelerators 2 --results-dir "$WORK/results-null" --ceiling-seconds 1
expect_status 0 "null:"
expect_json "$(result_dir "$WORK/results-null")/result.json" 'd["ceilings"] == [] and "null" in d["ceiling_reason"]'
run "$FEEDBENCH" run "${MODEL[@]}" "${SLOW[@]}" --ceiling-seconds never --results-dir "$WORK/results-bad"
expect_status 2 "seconds that are none"; expect_no_file "$WORK/results-bad"

# What the checks cost is in it: the same plan with and without. Content is compared at some GB/s at most, uncopied reads cost nothing.
probe() { run "$FEEDBENCH" probe unet3d_h100 -p reader.odirect=True --ceiling-seconds 0.4 --json "$@"; expect_status 0 "probe $*"; }
probe; cp "$WORK/out.txt" "$WORK/off.json"
probe -p reader.verify=content; cp "$WORK/out.txt" "$WORK/content.json"
cpu() { json_value "$1" 'd["hosts"][0]["ceiling"]["cpu_s_per_GB"]'; }
"$PYTHON" -c "import sys; sys.exit(not $(cpu "$WORK/content.json") > 5 * $(cpu "$WORK/off.json"))" || fail "comparing content costs nothing"

# Alone, for people and for programs.
run_ranks 2 probe unet3d_h100 -a 4 --data-dir "$WORK" --ceiling-seconds 0.4
expect_status 0 probe
expect_said "host .*2 ranks, 4 accelerators"; expect_said "memory reads"; expect_said "ceiling [0-9.]+ MB/s"; expect_said "bytes come from: [a-z]+"
run_ranks 2 probe unet3d_h100 -a 4 --data-dir "$WORK" --ceiling-seconds 0.4 --json
expect_json "$WORK/out.txt" 'd["accelerator_count"] == 4 and d["hosts"][0]["ceiling"]["MB_per_second"] > 0 and d["storage"]["total_bytes"] > 0'
run "$FEEDBENCH" probe unet3d_h100 -a 3 --data-dir s4://x; expect_status 2 "a storage that there is not"
run_ranks 2 probe unet3d_h100 -a 3; expect_status 2 "3 accelerators on 2 ranks"
note "probe: passed"

# SIGINT while the ceiling is measured: nothing was measured, so nothing is left.
for ranks in 1 2; do
  results=$WORK/results-int-$ranks
  if [ "$ranks" -eq 1 ]; then start=("$FEEDBENCH"); else start=("${MPIRUN[@]}" -n "$ranks" "$FEEDBENCH"); fi
  launch "${start[@]}" run "${MODEL[@]}" "${SLOW[@]}" --accelerators 4 --results-dir "$results" --ceiling-seconds 60
  measuring() { grep -q -s "measuring the client's ceiling" $(find "$results" -name log.txt 2>/dev/null) /dev/null; }
  wait_until 20 measuring || fail "the ceiling was not begun"
  kill -INT "$job"
  settle 10
  [ "$ranks" -ne 1 ] || expect_status 130 "SIGINT in the ceiling"
  [ "$STATUS" -ne 0 ] || fail "exit code 0 after SIGINT"
  [ -z "$(find "$results" -name result.json 2>/dev/null)" ] || fail "a result of nothing"
  no_ranks() { [ -z "$(rank_pids)" ]; }
  wait_until 5 no_ranks || fail "ranks are left behind"
done
note "SIGINT: passed"
