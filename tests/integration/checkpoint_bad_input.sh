#!/usr/bin/env bash
# Checkpoints that cannot be written or read (llama3 8b by 8 ranks, shrunk): one sentence each; what did not commit is never listed or read.
. "$(dirname "$0")/lib.sh"
folder=$WORK/checkpoints results=$WORK/results
# alone WRITES READS ARGS... : one process plays the $ranks ranks
ranks=8
alone() {
  local writes=$1 reads=$2; shift 2
  rm -rf "$results"
  LIMIT=30 run "$FEEDBENCH" run llama3_8b --accelerators "$ranks" --results-dir "$results" --allow-cached -p model.scale=0.0001 \
    -p checkpoint.num_checkpoints_write="$writes" -p checkpoint.num_checkpoints_read="$reads" -p checkpoint.time_between_checkpoints=0 \
    -p checkpoint.checkpoint_folder="$folder" "$@"
}
# sentence CODE PATTERN WHAT : the error of the last command
sentence() {
  expect_status "$1" "$3"
  expect_said "^feedbench: error: " 1
  expect_said "^feedbench: error: .*($2)" 1
}
listed() { json_value "$1/feedbench-checkpoints.json" '" ".join(e["folder"] for e in d["committed"])'; }
victim=$folder/global_epoch1_step0/zero_pp_rank_5_mp_rank_0_model_states.pt

# Nothing is there yet.
alone 0 1; sentence 2 "1 checkpoints are to be read, and none is committed" "an empty folder"
expect_no_file "$folder/feedbench-checkpoints.json"
alone 1 0; expect_status 0 "write"
expect_said "results and checkpoints lie on the same filesystem" # a warning, not an error
expect_json "$(result_dir "$results")/result.json" 'any(f["rule"] == "results_on_storage_under_test" and f["verdict"] == "warning" for f in d["findings"])'
expect_json "$(result_dir "$results")/result.json" 'any(f["rule"] == "model_scale" for f in d["findings"])'
[ "$(stat -c %s "$victim")" -eq 200730 ] || fail "$victim has $(stat -c %s "$victim") bytes"

# Read by others than wrote it, or as another model.
ranks=4 alone 0 1; sentence 2 "written by 8 ranks, 4 are to read it" "fewer ranks"
alone 0 1 -p model.scale=0.0002; sentence 2 "has [0-9]+ bytes in 16 files, that of this workload" "another scale"
alone 0 2; sentence 2 "2 checkpoints are to be read, " "more than there are"
# Files that are gone, short, long, altered.
cp "$victim" "$WORK/kept"
rm "$victim"; alone 0 1; sentence 3 "zero_pp_rank_5_mp_rank_0_model_states\.pt.*it is missing" "a missing file"
head -c 1000 "$WORK/kept" >"$victim"; alone 0 1; sentence 3 "zero_pp_rank_5.*has 1000 bytes, the checkpoint global_epoch1_step0 has it with 200730" "a short file"
{ cat "$WORK/kept"; echo; } >"$victim"; alone 0 1; sentence 3 "zero_pp_rank_5.*has 200731 bytes" "a longer file"
cp "$WORK/kept" "$victim"; printf '\377\376' | dd of="$victim" bs=1 seek=123456 conv=notrunc status=none
alone 0 1 -p reader.verify=content
sentence 3 "zero_pp_rank_5.*at offset 12345[67].*content differs from what the checkpoint global_epoch1_step0 was written with" "an altered file"
cp "$WORK/kept" "$victim"
cp "$folder/feedbench-checkpoints.json" "$WORK/list"
sed 's/"committed"/"comitted"/' "$WORK/list" >"$folder/feedbench-checkpoints.json"
alone 0 1; sentence 3 "feedbench-checkpoints\.json.*'committed' is missing" "a damaged list"
cp "$WORK/list" "$folder/feedbench-checkpoints.json"
alone 0 1 -p reader.verify=content; expect_status 0 "what was mended reads"
note "reading: passed"

# No space: in the middle; and known before, on a small filesystem.
alone 1 0 -p checkpoint.checkpoint_folder="fault:space=3M;inner=$WORK/full"
sentence 3 "write .*\.pt at offset [0-9]+.*ENOSPC" "no space in the middle"
[ -z "$(find "$WORK/full" -name '*.pt*')" ] || fail "left behind: $(find "$WORK/full" -type f)"
alone 0 1 -p checkpoint.checkpoint_folder="$WORK/full"; sentence 2 "and none is committed" "a checkpoint that did not commit"
if [ "$(id -u)" -eq 0 ] && mkdir "$WORK/small" && mount -t tmpfs -o size=8m tmpfs "$WORK/small" 2>/dev/null; then
  undo() { umount "$WORK/small"; }
  alone 1 0 -p checkpoint.checkpoint_folder="$WORK/small/c"
  sentence 3 "needs 0\.0105 GiB, the tmpfs filesystem has room for 0\.0078 GiB" "no space before the first byte"
  [ -z "$(find "$WORK/small" -name '*.pt*')" ] || fail "a byte was written"
  undo; undo() { :; }
fi
ranks=1 alone 1 0 -p model.scale=1 -p feedbench.accelerator=h100
sentence 2 "a rank would save 104\.7 GiB, but an accelerator of type h100 holds 80 GiB" "too few accelerators"
expect_no_file "$results"
note "writing: passed"

# A rank is killed between two checkpoints: the job ends, what was whole is listed and can be read.
rm -rf "$folder"
launch "${MPIRUN[@]}" -n 2 "$FEEDBENCH" run llama3_8b --accelerators 8 --results-dir "$WORK/results-killed" -p model.scale=0.0001 \
  -p checkpoint.num_checkpoints_write=2 -p checkpoint.num_checkpoints_read=0 -p checkpoint.time_between_checkpoints=30 -p checkpoint.checkpoint_folder="$folder"
wait_until 20 test -s "$folder/feedbench-checkpoints.json" || fail "no first checkpoint"
kill -KILL "$(rank_pids | tail -n 1)" || fail "no rank to kill"
settle 20; [ "$STATUS" -ne 0 ] || fail "a rank was killed, and exit code 0"
[ "$(listed "$folder")" = global_epoch1_step0 ] || fail "listed: $(listed "$folder")"
alone 0 1 -p reader.verify=content; expect_status 0 "the first one reads"
note "a rank lost: passed"
