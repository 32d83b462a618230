#!/usr/bin/env bash
# Case F1: one bad file of a dataset, 4 ranks: all stop within 10 s, one message with rank, path and what is wrong, exit 3.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
victim=$(find "$WORK/data" -name '*_17_of_32.npz' | head -n 1)
[ -n "$victim" ] || fail "datagen made no file 17 of 32"
cp -p "$victim" "$WORK/good.npz"

# expect_one_stop WHAT PATTERN : a run over 4 ranks that must fail because of the victim
expect_one_stop() {
  local began; began=$(date +%s)
  LIMIT=60 run_ranks 4 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 --results-dir "$WORK/results-$1" "${SMALL[@]}"
  local took=$(($(date +%s) - began))
  expect_status 3 "$1"
  expect_said "$(basename "$victim").*($2)" 1
  expect_said "rank [0-9]+.*$(basename "$victim")" 1
  [ "$took" -le 20 ] || fail "$1: the job took $took s to end" # start-up and 2 epochs take some 2 s here
  ! pgrep -f -- "--results-dir $WORK/results-$1" >/dev/null || fail "$1: ranks are still there"
  note "$1: passed"
  cp -p "$WORK/good.npz" "$victim"
}

rm "$victim"
expect_one_stop deleted "ENOENT|No such file"

truncate -s $(($(stat -c %s "$victim") / 2)) "$victim"
expect_one_stop truncated "truncat|end of file|shorter|[Ee]xpected"

truncate -s 0 "$victim"
expect_one_stop empty "empty|truncat|end of file|shorter|[Ee]xpected"

rm "$victim" && mkdir "$victim"
trap 'rmdir "$victim" 2>/dev/null; cleanup' EXIT
LIMIT=60 run_ranks 4 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 --results-dir "$WORK/results-dir" "${SMALL[@]}"
expect_status 3 "a directory where a file should be"
expect_said "$(basename "$victim")" 1
rmdir "$victim" && cp -p "$WORK/good.npz" "$victim"

# Every rank's own storage fails at about the same moment: still one message.
for fault in EIO EACCES; do
  LIMIT=60 run_ranks 4 run "$(small_workload)" --data-dir "fault:error=$fault@20;inner=$WORK/data" --accelerators 4 \
    --results-dir "$WORK/results-$fault" "${SMALL[@]}"
  expect_status 3 "$fault"
  expect_said "rank [0-9]+.*img_[0-9]+_of_32\.npz.*$fault" 1
  note "$fault on every rank: passed"
done

# The set is whole again: the same command measures.
LIMIT=60 run_ranks 4 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 --results-dir "$WORK/results-good" "${SMALL[@]}"
expect_status 0 "after repair"
expect_json "$(result_dir "$WORK/results-good")/result.json" 'd["status"] == "complete" and d["valid"]'
