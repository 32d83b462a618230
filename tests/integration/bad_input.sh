#!/usr/bin/env bash
# Wrong input: one clear sentence, exit 2 (or 3 for the storage), and nothing half-done.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
refused=0
# refuses CODE PATTERN ARGS... : feedbench run of the small workload with ARGS
refuses() {
  local code=$1 pattern=$2; shift 2
  LIMIT=30 run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --results-dir "$WORK/results" "${SMALL[@]}" "$@"
  expect_status "$code" "$*"
  expect_said "$pattern"
  [ "$(wc -l <"$WORK/err.txt")" -le 6 ] || fail "more than a few lines about: $*"
  [ -z "$(find "$WORK/results" -name result.json 2>/dev/null)" ] || fail "a result of a refused run: $*"
  refused=$((refused + 1))
}
# Keys and values
refuses 2 'computation_time' -p train.computaton_time=0.3
refuses 2 'batch_size' -p reader.batch_size=many
refuses 2 'batch_size' -p reader.batch_size=0
refuses 2 'batch_size' -p reader.batch_size=-4
refuses 2 'num_files_train' -p dataset.num_files_train=-1
refuses 2 'record_length' -p dataset.record_length_bytes=0
refuses 2 'epochs' -p train.epochs=0
refuses 2 'format' -p dataset.format=zpn
# Plans
refuses 2 '32.*40|40.*32' --accelerators 20                     # one step needs 40 samples, there are 32
refuses 2 '[Aa]ccelerators' --accelerators 0
# Datasets
refuses 2 '(33|32)' -p dataset.num_files_train=33               # more than were made
refuses 2 'record_length' -p dataset.record_length_bytes=200000 # made with another
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/nowhere" --results-dir "$WORK/results" "${SMALL[@]}"
[ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ] || fail "exit code $STATUS for a dataset that is not there"
expect_said "nowhere"
: >"$WORK/a_file"
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/a_file" --results-dir "$WORK/results" "${SMALL[@]}"
[ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ] || fail "exit code $STATUS for a data folder that is a file"
expect_said "a_file"
# Results that cannot be written, said before the run starts (F5)
run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --results-dir "$WORK/a_file/results" "${SMALL[@]}"
[ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ] || fail "exit code $STATUS for results below a file"
expect_said "a_file"
# Command line
run "$FEEDBENCH" run no_such_workload --data-dir "$WORK/data"; expect_status 2; expect_said "no_such_workload"
run "$FEEDBENCH" trian; expect_status 2
# Ranks
LIMIT=30 run_ranks 4 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 6 --results-dir "$WORK/results" "${SMALL[@]}"
expect_status 2 "6 accelerators on 4 ranks"
expect_said "6 accelerators" 1
note "$refused parameters refused, and the rest"

# A disk that fills up while data is generated: exit 3, and no short file looks finished.
[ "$(id -u)" -eq 0 ] || { note "no root: the full disk is left out"; exit 0; }
mkdir "$WORK/small_disk" && mount -t tmpfs -o size=1m none "$WORK/small_disk" 2>/dev/null || { note "no mounts here: the full disk is left out"; exit 0; }
trap 'umount "$WORK/small_disk"; cleanup' EXIT
run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/small_disk" "${SMALL[@]}"
expect_status 3 "no space"
expect_said "ENOSPC|[Nn]o space|needs .* free" 
whole=$(find "$WORK/data" -name '*_00_of_32.npz' -printf '%s')
find "$WORK/small_disk" -name '*_of_32.npz' -printf '%s %p\n' | while read -r size path; do
  [ "$size" -eq "$whole" ] || { echo "half a file: $path"; exit 1; }
done || fail "datagen left a short file under a final name"
