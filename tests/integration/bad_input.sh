#!/usr/bin/env bash
# Wrong input: one clear sentence, exit 2 (3 where the storage is to blame), and nothing half-done left behind (S8, F5, P4, P11).
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
before=$(find "$WORK/data" -printf '%p %s %T@\n' | sort)
refused=0
# one_sentence CODE PATTERN WHAT : of the last command; and no results, not even a folder
one_sentence() {
  expect_status "$1" "$3"
  expect_said "^feedbench: error: " 1
  expect_said "^feedbench: error: .*($2)" 1
  [ "$(wc -l <"$WORK/err.txt")" -le 20 ] || fail "more than a few lines about: $3" # mpirun adds its own
  expect_no_file "$WORK/results"
  refused=$((refused + 1))
}
# over DATA RESULTS ARGS... ; small ARGS...
over() { LIMIT=30 run "$FEEDBENCH" run "$(small_workload)" --data-dir "$1" --results-dir "$2" "${SMALL[@]}" "${@:3}"; }
small() { over "$WORK/data" "$WORK/results" "$@"; }
refuses() { local code=$1 pattern=$2; shift 2; small "$@"; one_sentence "$code" "$pattern" "$*"; } # CODE PATTERN ARGS...

# Keys and values of the command line
refuses 2 'computaton_time.*computation_time' -p train.computaton_time=0.3
refuses 2 'batch_siz.*batch_size' ++workload.reader.batch_siz=7
refuses 2 'raeder.*reader' -p raeder.batch_size=7
refuses 2 'batch_size.*many' -p reader.batch_size=many
refuses 2 'batch_size' -p reader.batch_size=0
refuses 2 'batch_size' -p reader.batch_size=-4
refuses 2 'num_files_train' -p dataset.num_files_train=-1
refuses 2 'record_length' -p dataset.record_length_bytes=0
refuses 2 'epochs' -p train.epochs=0
refuses 2 'computation_time' -p train.computation_time=-0.1
refuses 2 'format.*zpn' -p dataset.format=zpn
refuses 2 'data_loader.*dali' -p reader.data_loader=dali
refuses 2 'section\.key=value|=' -p reader.batch_size
refuses 2 'nonsense' nonsense
refuses 2 'accelerators' --accelerators 0
refuses 2 'accelerators' --accelerators -3
refuses 2 'stall-timeout' --stall-timeout 0
# Keys and values of a file, with file and line (S8)
sed 's/computation_time:/computaton_time:/' "$FEEDBENCH_SOURCE_DIR/configs/workloads/unet3d_mini.yaml" >"$WORK/misspelt.yaml"
line=$(grep -n computaton_time "$WORK/misspelt.yaml" | cut -d: -f1)
run "$FEEDBENCH" run "$WORK/misspelt.yaml" --data-dir "$WORK/data" --results-dir "$WORK/results"
one_sentence 2 "misspelt\.yaml:$line.*computaton_time.*did you mean .*computation_time" "a misspelt key in a file"
sed 's/batch_size: 7/batch_size: [7/' "$FEEDBENCH_SOURCE_DIR/configs/workloads/unet3d_mini.yaml" >"$WORK/broken.yaml"
run "$FEEDBENCH" run "$WORK/broken.yaml" --data-dir "$WORK/data" --results-dir "$WORK/results"
one_sentence 2 "broken\.yaml:[0-9]+" "a file that is no YAML"
sed 's/num_files_train: 168/num_files_train: a lot/' "$FEEDBENCH_SOURCE_DIR/configs/workloads/unet3d_mini.yaml" >"$WORK/typed.yaml"
run "$FEEDBENCH" show "$WORK/typed.yaml"; one_sentence 2 "typed\.yaml:[0-9]+.*num_files_train" "a wrong type in a file"
run "$FEEDBENCH" run no_such_workload --data-dir "$WORK/data" --results-dir "$WORK/results"; one_sentence 2 no_such_workload "an unknown workload"
run "$FEEDBENCH" run "$WORK" --results-dir "$WORK/results"; one_sentence 2 "$(basename "$WORK")" "a folder as a workload"
run "$FEEDBENCH" trian; one_sentence 2 trian "an unknown command"
run "$FEEDBENCH"; expect_status 2 "no command"

# Plans: too few samples for one step, by number (P4); accelerators that do not divide
refuses 2 '40.*32|32.*40' --accelerators 20
LIMIT=30 run_ranks 4 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 6 --results-dir "$WORK/results" "${SMALL[@]}"
one_sentence 2 "6 accelerators" "6 accelerators on 4 ranks"

# Datasets: more than were made (P11), other parameters, none, unfinished, a file in place of a folder
refuses 2 'num_files_train.*(33.*32|32.*33)' -p dataset.num_files_train=33
refuses 2 'record_length_bytes.*(200000)' -p dataset.record_length_bytes=200000
refuses 2 'num_subfolders_train' -p dataset.num_subfolders_train=2
over "$WORK/nowhere" "$WORK/results"; { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } && one_sentence "$STATUS" nowhere "no dataset"
mkdir "$WORK/empty"
over "$WORK/empty" "$WORK/results"; { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } && one_sentence "$STATUS" "empty.*(datagen|adopt)" "an empty folder"
: >"$WORK/a_file"
over "$WORK/a_file" "$WORK/results"; { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } && one_sentence "$STATUS" a_file "a file as data folder"
run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/a_file" "${SMALL[@]}"; one_sentence 3 "a_file.*ENOTDIR" "datagen into a file"
[ -f "$WORK/a_file" ] && [ ! -s "$WORK/a_file" ] || fail "datagen touched the file"
cp -r "$WORK/data" "$WORK/unfinished"; sed -i 's/"complete"/"in_progress"/' "$WORK"/unfinished/*manifest*
over "$WORK/unfinished" "$WORK/results"; one_sentence 2 "unfinished.*datagen" "a dataset that is not finished"
echo '{"schema_version": 1' >"$(ls "$WORK"/unfinished/*manifest*)"
over "$WORK/unfinished" "$WORK/results"; { [ "$STATUS" -eq 2 ] || [ "$STATUS" -eq 3 ]; } && one_sentence "$STATUS" manifest "half a manifest"
over "s4://bucket/x" "$WORK/results"; one_sentence 2 "s4" "an unknown scheme"
over "fault:eror=EIO@1;inner=$WORK/data" "$WORK/results"; one_sentence 2 "eror.*error" "a misspelt storage option"

# Results that cannot be written, said before the run starts (F5)
over "$WORK/data" "$WORK/a_file/results"; one_sentence 2 "a_file.*ENOTDIR.*results-dir" "results below a file"
if [ "$(id -u)" -eq 0 ] && mkdir "$WORK/disk" && mount -t tmpfs -o size=1m none "$WORK/disk" 2>/dev/null; then
  undo() { umount "$WORK/disk"; }
  over "$WORK/data" "$WORK/disk/results"; one_sentence 2 "ENOSPC.*results-dir" "a full results disk"
  expect_no_file "$WORK/disk/results"
  # A disk too small for the dataset: known before the first byte.
  run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/disk" "${SMALL[@]}"
  one_sentence 3 "ENOSPC.*needs [0-9]+ bytes.*tmpfs.* has [0-9]+ free" "a disk too small"
  [ -z "$(find "$WORK/disk" -type f)" ] || fail "datagen left something: $(find "$WORK/disk" -type f)"
  # One that fills up under way, for instance by somebody else: no short file looks finished.
  mkdir "$WORK/disk/part"; cp "$WORK"/data/*manifest* "$WORK/disk/part/"; sed -i 's/"complete"/"in_progress"/' "$WORK"/disk/part/*manifest*
  run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/disk/part" "${SMALL[@]}"
  one_sentence 3 "write .*img_[0-9]+_of_32\.npz.*ENOSPC|create .*ENOSPC" "a disk that fills up"
  for file in $(cd "$WORK/disk/part" && find train -name '*.npz'); do
    cmp -s "$WORK/data/$file" "$WORK/disk/part/$file" || fail "half a file under a final name: $file"
  done
  [ -z "$(find "$WORK/disk" -name '*.tmp')" ] || fail "half a file was left"
  rm -rf "$WORK/disk/part"; mount -o remount,ro "$WORK/disk"
  over "$WORK/data" "$WORK/disk/results"; one_sentence 2 "EROFS.*results-dir" "a read-only results disk"
  run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$WORK/disk/x" "${SMALL[@]}"; one_sentence 3 "EROFS" "datagen on a read-only disk"
else note "no mounts here: full and read-only disks are left out"; fi

# A file that is not what its name says
cp -r "$WORK/data" "$WORK/malformed"; victim=$(find "$WORK/malformed" -name '*_03_of_32.npz')
head -c "$(stat -c %s "$victim")" /dev/urandom >"$victim"
over "$WORK/malformed" "$WORK/results"; one_sentence 3 "_03_of_32\.npz" "a malformed file"
[ "$before" = "$(find "$WORK/data" -printf '%p %s %T@\n' | sort)" ] || fail "a refused run changed the dataset"
note "$refused wrong inputs refused"
