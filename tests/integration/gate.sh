#!/usr/bin/env bash
# feedbench gate and baseline: simulated runs of the same storage pass, of slower storage are regressed, of another workload not
# comparable; real runs with steps.h5; every output at once; baselines by name; bad input.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
cat >w.yaml <<'YAML'
model: {name: gated}
framework: pytorch
workflow: {train: True}
dataset: {data_folder: "null:", format: npz, num_files_train: 400, num_samples_per_file: 1, record_length_bytes: 1000000}
reader: {data_loader: pytorch, batch_size: 4, read_threads: 4, file_shuffle: seed}
train: {epochs: 2, computation_time: 0.02}
YAML
# simulated NAME MB/s SEED... : runs of w.yaml on such storage, below NAME
simulated() {
  local name=$1 rate=$2; shift 2
  for seed in "$@"; do
    "$FEEDBENCH" simulate w.yaml --storage "model:bandwidth=${rate}MB,latency=2ms,latency_p99=5ms" -a "${COUNT:-4}" --seed "$seed" --results-dir "$name/$seed" >/dev/null ||
      fail "no simulated run: $name"
  done
}
simulated base 300 1 2 3; simulated same 300 4 5 6; simulated slow 280 7 8 9; COUNT=8 simulated more 300 1 2 3

run "$FEEDBENCH" gate --baseline base --candidate same
expect_status 0
expect_said '^feedbench gate: pass' 1
expect_said '^  MB/s .* unchanged$' 1

run "$FEEDBENCH" gate --baseline base --candidate slow --junit gate.xml --json gate.json --markdown gate.md
expect_status 1
expect_said '^feedbench gate: regressed' 1
expect_json gate.json 'd["answer"] == "regressed" and d["exit_code"] == 1'
expect_json gate.json '0.05 < next(m["worse_fraction"] for m in d["metrics"] if m["key"] == "delivered_MB_per_second") < 0.09'
grep -q '^### :x: Storage gate: regressed' gate.md || fail "no heading in the Markdown"
run xmllint --noout --schema "$FEEDBENCH_SOURCE_DIR/tests/interop/junit.xsd" gate.xml
expect_status 0 "JUnit XML against its schema"
sed 's/<failure /<broken /; s/failures="2"/failures="two"/' gate.xml >bad.xml
run xmllint --noout --schema "$FEEDBENCH_SOURCE_DIR/tests/interop/junit.xsd" bad.xml
[ "$STATUS" -ne 0 ] || fail "the schema of JUnit XML accepts anything"
run "$FEEDBENCH" gate --baseline base --candidate slow --format json -o again.json
expect_status 1
cmp gate.json again.json || fail "the same question, another answer"

run "$FEEDBENCH" gate --baseline base --candidate slow "$(find slow -name result.json | head -n 1)"
expect_status 1
expect_said 'was given twice and counts once$' 1
expect_said '^  candidate  3 runs' 1

run "$FEEDBENCH" gate --baseline base --candidate more --junit other.xml
expect_status 4
expect_said 'accelerator_count: baseline 4, candidate 8$' 1
run xmllint --noout --schema "$FEEDBENCH_SOURCE_DIR/tests/interop/junit.xsd" other.xml
expect_status 0
one=$(find slow -name result.json | head -n 1)
run "$FEEDBENCH" gate --baseline "$(find base -name result.json | head -n 1)" --candidate "$one"
expect_status 4
expect_said 'the baseline has 1 run and the candidate 1; policy default asks for at least 3 and 1' 1
expect_said '^feedbench gate: not enough data' 1
sed 's/"valid": true/"valid": false/; s/"invalid_reasons": \[\]/"invalid_reasons": ["a cache answered"]/' "$one" >invalid.json
run "$FEEDBENCH" gate --baseline base --candidate invalid.json
expect_status 4
expect_said 'invalid.json is not valid: a cache answered' 1

# Baselines: kept by system and workload, found by name, pruned to the newest.
run "$FEEDBENCH" baseline add invalid.json --system lab
expect_status 4
expect_said 'a cache answered.*--allow-invalid' 1
run "$FEEDBENCH" baseline add base more --system lab
expect_status 2
expect_said 'differ in accelerator_count \(4 \(3 runs\), 8 \(3 runs\)\)' 1
for note in first second third; do
  run "$FEEDBENCH" baseline add base --system lab --note "$note" --by tester
  expect_status 0
done
[ "$(find results/baselines/lab/w-4acc -name '*.json' | wc -l)" -eq 3 ] || fail "expected three baselines"
[ "$(find results/baselines -name '*.json' -size +40k | wc -l)" -eq 0 ] || fail "a baseline is larger than 40 KiB"
run "$FEEDBENCH" gate --baseline lab --candidate slow
expect_status 1
run "$FEEDBENCH" gate --baseline lab/w-4acc --candidate same
expect_status 0
run "$FEEDBENCH" baseline prune --keep 1 --dry-run
expect_said '^would remove lab/w-4acc/' 2
run "$FEEDBENCH" baseline prune --keep 1
expect_status 0
expect_said '^2 removed, 1 kept$' 1
run "$FEEDBENCH" baseline show lab/w-4acc
expect_said 'by tester$' 1
expect_said '^  note      third$' 1
expect_said 'simulate w.yaml' 3

# Real runs: steps.h5 gives the parts; storage that costs nothing is not storage that is a formula.
for i in 1 2; do
  LIMIT=60 run_ranks 1 run w.yaml --data-dir null: --accelerators 4 --results-dir "real/$i" -p train.epochs=1 -p train.computation_time=0.002
  expect_status 0
done
run "$FEEDBENCH" gate --baseline real --candidate real --json real.json
expect_status 4 "two runs a side are too few"
expect_json real.json 'd["metrics"][0]["parts"] == "25 blocks of 1 step a run" and d["metrics"][0]["worse_fraction"] == 0'
expect_json real.json 'd["answer"] == "not enough data" and d["metrics"][0]["worse_fraction_low_within_runs"] < 0'
run "$FEEDBENCH" gate --baseline real --candidate base
expect_status 4
expect_said '^  backend: baseline null, candidate model$' 1
expect_said '^  think_time_s: baseline 0.002, candidate 0.02$' 1
head -c 1000 "$(find real -name steps.h5 | head -n 1)" >torn.h5 && cp torn.h5 "$(find real -name steps.h5 | head -n 1)"
run "$FEEDBENCH" gate --baseline real --candidate real
expect_said '^feedbench: warning: .*steps.h5.*slices and epochs are used instead$' 2

# One sentence and exit code 2 for each wrong input; 3 where the output cannot be written.
refused() {
  local wanted=$1; shift
  run "$FEEDBENCH" gate "$@"
  expect_status 2 "gate $*"
  [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one sentence: $(cat err.txt)"
  grep -qF -- "$wanted" err.txt || fail "gate $*: expected '$wanted' in: $(cat err.txt)"
}
mkdir empty; echo '{"schema_version": 1}' >old.json; echo '{' >torn.json
printf 'metrics:\n  delivered_MB_per_second: {tolerence: 0.1}\n' >bad.yaml
refused "nowhere: there is no such file or folder" --baseline base --candidate nowhere
refused "neither a result.json below this folder nor a baseline" --baseline base --candidate empty
refused "old.json" --baseline base --candidate old.json
refused "torn.json" --baseline torn.json --candidate same
refused "did you mean lab?" --baseline lba --candidate same
refused "there are: w-4acc" --baseline lab/other --candidate same
refused "bad.yaml:2" --baseline base --candidate same --policy bad.yaml
refused "did you mean tolerance?" --baseline base --candidate same --policy bad.yaml
refused "did you mean strict?" --baseline base --candidate same --policy strikt
refused "--candidate is required" --baseline base
run "$FEEDBENCH" gate --baseline base --candidate same --json no/such/folder.json
expect_status 3
expect_said 'no/such/folder.json' 1
run "$FEEDBENCH" baseline show nosuch
expect_status 2
run "$FEEDBENCH" gate --help
expect_said '^  default +rate, AU' 1
note "same storage passes, slower is regressed, other workloads and invalid runs are not compared; baselines by name"
