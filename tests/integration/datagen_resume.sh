#!/usr/bin/env bash
# Case C8: datagen is killed (SIGKILL) at random moments and started again: no short file ever has a final name, finished files are kept, the
# end is byte-identical to an uninterrupted run and nothing half-written is left. Case C5: any number of ranks writes the same bytes.
. "$(dirname "$0")/lib.sh"
RANDOM=${SEED:-$$}; note "seed $RANDOM (set SEED to repeat)"
SET=(-p dataset.num_files_train=240 -p dataset.num_files_eval=24 -p dataset.num_subfolders_train=3 -p dataset.record_length_bytes=120000
  -p dataset.record_length_bytes_stdev=40000)
# generate RANKS FOLDER ARGS...
generate() { local ranks=$1 folder=$2; shift 2; LIMIT=60 run_ranks "$ranks" datagen unet3d_mini --data-dir "$folder" "${SET[@]}" "$@"; }
trees_equal() { diff -r "$1" "$2" >"$WORK/out.txt" 2>&1 || fail "$3: trees differ"; }
no_leftovers() { local found; found=$(find "$1" -name '*.tmp*'); [ -z "$found" ] || fail "left behind: $found"; }

# C5
generate 1 "$WORK/one"; expect_status 0 "1 rank"
expect_said "264 files written, 0 found finished"
for ranks in 4; do
  generate "$ranks" "$WORK/ranks-$ranks"; expect_status 0 "$ranks ranks"
  trees_equal "$WORK/one" "$WORK/ranks-$ranks" "1 rank and $ranks ranks"
  no_leftovers "$WORK/ranks-$ranks"
  rm -rf "$WORK/ranks-$ranks"
done
generate 2 "$WORK/other" -p dataset.seed=11; expect_status 0 "another seed"
equal=0
for file in $(cd "$WORK/one" && find train valid -name '*.npz'); do cmp -s "$WORK/one/$file" "$WORK/other/$file" && equal=$((equal + 1)); done
[ "$equal" -eq 0 ] || fail "$equal files are the same with another seed"
# The same folder asked for another dataset is refused, and nothing in it changes.
generate 2 "$WORK/other"; expect_status 2 "another dataset in the way"
expect_said "^feedbench: error: .*another dataset lies here.*seed is 11, asked for is 10" 1
rm -rf "$WORK/other"
note "ranks and seeds: passed"

# C8: by one process, by two ranks of which one is killed, and by two ranks whose launcher is.
# The disk alone would be done before the kill: every file's last step takes a while.
SLOW="fault:delay=0.4,on=commit;inner=$WORK/killed"
kept_at_all=0 in_the_midst=0
for how in process rank launcher; do
  finished=0
  for round in 1 2; do
    case $how in
      process) launch "$FEEDBENCH" datagen unet3d_mini --data-dir "$SLOW" "${SET[@]}" ;;
      *) launch "${MPIRUN[@]}" -n 2 "$FEEDBENCH" datagen unet3d_mini --data-dir "$SLOW" "${SET[@]}" ;;
    esac
    # In the middle of writing: some more files have got their names.
    enough=$((finished + 1 + RANDOM % 60))
    under_way() { [ "$(ls "$WORK"/killed/train/* 2>/dev/null | grep -c npz)" -ge "$enough" ] || job_gone; }
    wait_until 30 under_way || fail "datagen did not get to $enough files: $how"
    case $how in
      launcher) kill -KILL "$job" 2>/dev/null ;;
      *) victim=$(rank_pids | shuf -n 1); [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null ;;
    esac
    wait "$job" 2>/dev/null
    no_ranks() { [ -z "$(rank_pids)" ]; }
    wait_until 15 no_ranks || fail "ranks go on without their launcher"
    finished=0
    for file in $(cd "$WORK/killed" && find train valid -name '*.npz' 2>/dev/null); do
      cmp -s "$WORK/one/$file" "$WORK/killed/$file" || fail "killed ($how): $file has its final name and is not whole"
      finished=$((finished + 1))
    done
    [ "$finished" -eq 264 ] || in_the_midst=$((in_the_midst + 1))
    if [ "$finished" -lt 264 ]; then # a run over the unfinished set is refused
      run "$FEEDBENCH" run unet3d_mini --data-dir "$WORK/killed" "${SET[@]}" --results-dir "$WORK/results"
      { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } || fail "exit code $STATUS of a run over $finished of 264 files"
      expect_no_file "$WORK/results"
    fi
  done
  generate 2 "$WORK/killed"; expect_status 0 "resumed after $how"
  kept=$(grep -oE '[0-9]+ found finished' "$WORK/out.txt" | cut -d' ' -f1)
  kept_at_all=$((kept_at_all + kept))
  no_leftovers "$WORK/killed"
  trees_equal "$WORK/one" "$WORK/killed" "resumed after $how"
  note "killed twice ($how): $kept files kept, the rest written again"
  rm -rf "$WORK/killed"
done
[ "$kept_at_all" -gt 0 ] || fail "no finished file was ever kept"
[ "$in_the_midst" -gt 1 ] || fail "only $in_the_midst of 6 kills came before the end: the test proves too little"

# A leftover under a temporary name is removed, a file that was cut or grew is written again.
cp -r "$WORK/one" "$WORK/cut"
sed -i 's/"complete"/"in_progress"/' "$WORK"/cut/*manifest*
victim=$(find "$WORK/cut/train" -name '*_100_of_240.npz'); truncate -s 100 "$victim"
: >"$(dirname "$victim")/.img_101_of_240.npz.feedbench-999999-3.tmp"
generate 2 "$WORK/cut"; expect_status 0 "one short file"
expect_said "1 files written, 263 found finished"
no_leftovers "$WORK/cut"
trees_equal "$WORK/one" "$WORK/cut" "one short file"

# Ctrl-C: exit 130, and the same promise.
launch "$FEEDBENCH" datagen unet3d_mini --data-dir "$WORK/interrupted" "${SET[@]}" -p dataset.num_files_train=4000
wait_until 30 test -d "$WORK/interrupted/train" || fail "datagen did not begin"
sleep 0.1; kill -INT "$job"; settle 10
expect_status 130 "SIGINT to datagen"
expect_said "interrupted; start it again" 1
no_leftovers "$WORK/interrupted"
