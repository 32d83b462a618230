#!/usr/bin/env bash
# A tree of a submission from real runs: judged as they run, added, checked, packed; and what is refused on the way.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
STATEMENT="MLPerf-Storage-style, not verified by MLCommons"
SET=(-p dataset.num_files_train=40 -p reader.drop_cache=fadvise)
run "$FEEDBENCH" datagen cosmoflow_h100 --data-dir data "${SET[@]}"; expect_status 0 datagen

# --closed refuses before anything is made, in one message; --open says it and goes on; --dry-run says it.
before=$(find . ! -name '*.txt' | sort)
LIMIT=5 run "$FEEDBENCH" run cosmoflow_h100 --closed --data-dir data "${SET[@]}" -p reader.data_loader=native --results-dir none
expect_status 2 "--closed"; expect_said "parameter_not_allowed.*native.*right is: tensorflow"; expect_said "dataset_too_small"; expect_said "results_on_storage"
LIMIT=20 run_ranks 3 run llama3_8b --closed -p checkpoint.checkpoint_folder="$WORK/ckpt" --results-dir none
expect_status 2 "--closed with 3 ranks"; expect_said "checkpoint_ranks.*3 ranks.*right is: 8 ranks"
run "$FEEDBENCH" run cosmoflow_h100 --closed --open --data-dir data; expect_status 2 "both divisions"
run "$FEEDBENCH" run cosmoflow_h100 --open --edition 4.0 --data-dir data; expect_status 2 "no such edition"
run "$FEEDBENCH" run cosmoflow_h100 --open --dry-run --data-dir data "${SET[@]}" --results-dir none
expect_status 0 "dry run"; expect_said "OPEN division, edition 2.0 .$STATEMENT"; expect_said "dataset_too_small"
[ "$before" = "$(find . ! -name '*.txt' | sort)" ] || fail "a refused run left something: $(find . | sort)"
note "before a run: passed"

for i in 1 2; do
  run "$FEEDBENCH" run cosmoflow_h100 --open --edition 2.0 --data-dir data "${SET[@]}" -p train.epochs=5 --results-dir results --no-steps --allow-cached
  expect_status 0 "run --open"; expect_said "submission_dataset_too_small"; expect_said "open division, edition 2.0: [23] findings"
done
run "$FEEDBENCH" run cosmoflow_h100 --data-dir data "${SET[@]}" --results-dir plain --no-steps --allow-cached
expect_status 0 "a run that is no submission"; expect_not_said "submission_|division, edition"
result=$(find results -name result.json | sort | head -n 1)
expect_json "$result" 'd["edition"] == "2.0" and [f["rule"] for f in d["findings"] if f["rule"].startswith("submission_")][:2] == ["submission_dataset_too_small", "submission_results_on_storage"]'
# What a noisy machine's cache makes of such a small dataset is not the point here.
"$PYTHON" - <<'PY'
import json, pathlib
for path in pathlib.Path("results").rglob("result.json"):
    d = json.loads(path.read_text()); d["valid"] = True; d["invalid_reasons"] = []; path.write_text(json.dumps(d))
PY
note "runs: passed"

run "$FEEDBENCH" system describe --name big --data-dir data -o big.yaml; expect_status 0 describe
expect_said "FILL IN"; grep -q "memory_GiB: [1-9]" big.yaml || fail "no memory in the description"
run "$FEEDBENCH" system describe --name big -o big.yaml; expect_status 2 "never over a file that is there"; expect_said "there already"
run "$FEEDBENCH" system check big.yaml; expect_status 1 "a description that nobody filled in"; expect_said "vendor_name waits to be filled in"
run "$FEEDBENCH" system check "$FEEDBENCH_SOURCE_DIR/configs/systems/example.yaml"; expect_status 0 "the example"
run_ranks 2 system describe; expect_status 0 "describe over ranks"; expect_said "host_count: 1" 1
sed 's/^name: .*/name: big/' "$FEEDBENCH_SOURCE_DIR/configs/systems/example.yaml" >filled.yaml
printf '%%PDF-1.4\n' >big.pdf

submit() { run "$FEEDBENCH" submit "$@"; }
submit init sub --edition 2.0 --division open --org acme --system big --description filled.yaml --pdf big.pdf; expect_status 0 init; expect_said "$STATEMENT"
submit init sub --edition 3.0 --division open --org acme; expect_status 2 "another edition"; expect_said "edition '2.0', not '3.0'"
submit add sub nowhere; expect_status 2 "nothing to add"
submit add sub results --dataset data; expect_status 0 add; expect_said "2 runs added"
submit add sub results; expect_status 2 "the same runs again"; expect_said "there already"
submit check sub; expect_status 1 check
submit check sub --format json; expect_status 1 "check as JSON"
cp out.txt check.json
expect_json check.json '{"dataset_too_small", "results_on_storage", "run_count"} <= {f["rule"] for f in d["findings"]} and d["run_count"] == 2'
expect_json check.json 'not {f["rule"] for f in d["findings"]} - {"dataset_too_small", "results_on_storage", "run_count", "run_gap", "runs_differ", "au_below_bar"}'
find sub -type f ! -name '*.json' ! -name '*.pdf' ! -name config.yaml ! -name '*.stderr.log' -print0 | xargs -0 grep -L "$STATEMENT" | { ! grep .; } || fail "files that do not say what they are"
note "tree: passed"

submit pack sub sub.tar.gz; expect_status 1 "findings"; expect_no_file sub.tar.gz
submit pack sub sub.tar.gz --despite-findings; expect_status 0 pack
sha256sum -c sub.tar.gz.sha256 >/dev/null || fail "the archive's checksum"
mkdir unpacked && tar -xzf sub.tar.gz -C unpacked || fail "GNU tar cannot read it"
(cd unpacked/sub && sha256sum --strict -c .SHA256SUMS >/dev/null) || fail "checksums in the archive"
diff -r -x .SHA256SUMS sub unpacked/sub || fail "the archive holds something else"
submit pack sub sub.tar.gz --despite-findings; expect_status 2 "an archive that is there"
submit check unpacked/sub --format json; expect_status 1 "the unpacked tree"
[ "$(json_value out.txt 'len(d["findings"])')" = "$(json_value check.json 'len(d["findings"])')" ] || fail "the unpacked tree has other findings"
submit check nowhere; expect_status 2 "no tree"
submit; expect_status 2 "no command"; expect_said "init, add, check, pack, rules"
submit chek sub; expect_status 2 "no such command"; expect_said "chek"
submit init sub --edition 2.0 --division open --org acme --system big2 --description none.yaml; expect_status 2 "no description"; expect_said "none.yaml"
run "$FEEDBENCH" system check none.yaml; expect_status 2 "no description to check"
submit init old --edition 1.0 --division closed --org acme --system big --description filled.yaml; expect_status 0 "edition 1.0"
expect_json old/closed/acme/systems/big.json 'd["storage_system"]["usable_capacity_GiB"] == 212000 and d["storage_system"]["software"] == "release 7.1, defaults"'
submit rules; expect_status 0 rules; expect_said "dataset_too_small"
note "archive: passed"
