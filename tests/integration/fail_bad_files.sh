#!/usr/bin/env bash
# Case F1: EIO, ENOSPC, EACCES, a deleted file, a truncated file on one rank of 4: all ranks stop within 10 s, ONE message with rank, path,
# offset and errno; exit 3.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
victim=$(find "$WORK/data" -name '*_17_of_32.npz')
[ -n "$victim" ] || fail "datagen made no file 17 of 32"
name=$(basename "$victim")
cp -p "$victim" "$WORK/good.npz"

# one_message PATTERN : exit 3, one error line, with a rank and the pattern in it; no valid result, nobody left
one_message() {
  expect_status 3 "$1"
  expect_said "^feedbench: error: " 1
  expect_said "^feedbench: error: rank [0-9]+.*($1)" 1
  [ -z "$(rank_pids)" ] || fail "ranks are still there"
  for result in $(find "$WORK"/results-* -name result.json 2>/dev/null); do
    expect_json "$result" 'd["valid"] is False and d["status"] in ("failed", "incomplete")'
  done
  rm -rf "$WORK"/results-*
}
ranks4() { # RESULTS DATA ARGS...
  LIMIT=60 run_ranks 4 run "$(small_workload)" --accelerators 4 --results-dir "$WORK/results-$1" --data-dir "$2" "${SMALL[@]}" "${@:3}"
}
repair() { rm -rf "$victim"; cp -p "$WORK/good.npz" "$victim"; }

# Found before the run, by the look at some of the files.
rm "$victim"; ranks4 deleted "$WORK/data"; one_message "stat .*$name.*ENOENT"; repair
truncate -s 50000 "$victim"; ranks4 truncated "$WORK/data"; one_message "$name.*(50000 bytes|truncat|ends)"; repair
truncate -s 0 "$victim"; ranks4 empty "$WORK/data"; one_message "$name.*(0 bytes|empty)"; repair
rm "$victim"; mkdir "$victim"; ranks4 folder "$WORK/data"; one_message "$name.*EISDIR"; repair
note "found before the run: passed"

# In the middle of a run: the file is lost or cut while accelerators read.
in_the_middle() { # WHAT PATTERN COMMAND...
  local what=$1 pattern=$2; shift 2
  launch "${MPIRUN[@]}" -n 4 "$FEEDBENCH" run "$(small_workload)" --accelerators 4 --results-dir "$WORK/results-$what" --data-dir "$WORK/data" \
    "${SMALL[@]}" -p train.epochs=1000
  wait_until 30 epoch_ended 2 "$WORK/results-$what" || fail "$what: the run did not start"
  "$@"
  settle 10
  local result; result=$(result_dir "$WORK/results-$what")/result.json
  expect_json "$result" 'd["status"] == "failed" and len(d["errors"]) == 1 and d["errors"][0]["rank"] >= 0'
  one_message "$pattern"
  repair
  note "$what in the middle of a run: passed"
}
in_the_middle deleted "open .*$name.*ENOENT" rm "$victim"
in_the_middle truncated "$name.*at offset [0-9]+" truncate -s 50000 "$victim"

# Storage errors, on one rank (its fault: options differ by rank) and on all of them at about the same moment.
data=$WORK/data
for case in "EIO read read" "EACCES open open"; do
  set -- $case
  ranks4 "all-$1" "fault:error=$1@7,on=$2;inner=$data"
  one_message "$3 .*img_[0-9]+_of_32\.npz.*$1"
  LIMIT=60 run "${MPIRUN[@]}" -n 3 "$FEEDBENCH" run "$(small_workload)" --accelerators 4 --results-dir "$WORK/results-one-$1" --data-dir "$data" "${SMALL[@]}" \
    : -n 1 "$FEEDBENCH" run "$(small_workload)" --accelerators 4 --results-dir "$WORK/results-one-$1" --data-dir "fault:error=$1@7,on=$2;inner=$data" "${SMALL[@]}"
  one_message "$3 .*img_[0-9]+_of_32\.npz.*$1"
  expect_said "^feedbench: error: rank 3 " 1
  [ "$2" = open ] || expect_said "^feedbench: error: .*at offset [0-9]+" 1
  note "$1 on every rank, and on one: passed"
done

# No space: while a dataset is written, and while a checkpoint is.
LIMIT=60 run_ranks 4 datagen "$(small_workload)" --data-dir "fault:space=500k;inner=$WORK/full" "${SMALL[@]}"
one_message "write .*img_[0-9]+_of_32\.npz at offset [0-9]+.*ENOSPC"
[ -z "$(find "$WORK/full" -name '*.tmp')" ] || fail "half a file was left"
[ -z "$(find "$WORK/full" -name '*.npz' ! -size "$(stat -c %s "$victim")c")" ] || fail "a short file has a final name"
ranks4 checkpoint "$data" -p workflow.checkpoint=True -p checkpoint.checkpoint_folder="fault:space=1M;inner=$WORK/checkpoints" \
  -p checkpoint.checkpoint_after_epoch=1 -p model.model_size_bytes=4000000
one_message "write .*model_states-0\.pt at offset [0-9]+.*ENOSPC"
[ -z "$(find "$WORK/checkpoints" -type f)" ] || fail "half a checkpoint was left"
note "ENOSPC: passed"

# A file that may not be read, by a user to whom permissions mean something.
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$FEEDBENCH" 2>/dev/null; then
  chmod 755 "$WORK"; chmod 000 "$victim"; mkdir -m 777 "$WORK/results-nobody" "$WORK/tmp"
  LIMIT=60 run env TMPDIR="$WORK/tmp" HOME="$WORK/tmp" setpriv --reuid=65534 --regid=65534 --clear-groups "${MPIRUN[@]}" -n 4 "$FEEDBENCH" run \
    "$(small_workload)" --accelerators 4 --results-dir "$WORK/results-nobody" --data-dir "$data" "${SMALL[@]}"
  one_message "open .*$name.*EACCES"
  note "EACCES by permissions: passed"
  repair
else note "EACCES by permissions left out: needs root, and the binary where nobody may run it"; fi

# The set is whole again: the same command measures.
ranks4 good "$data"
expect_status 0 "after repair"
expect_json "$(result_dir "$WORK/results-good")/result.json" 'd["status"] == "complete" and d["valid"]'
