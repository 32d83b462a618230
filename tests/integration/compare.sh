#!/usr/bin/env bash
# feedbench compare: real results of feedbench beside trees that other tools wrote; every format; what is not usable is named.
. "$(dirname "$0")/lib.sh"
DATA="$FEEDBENCH_SOURCE_DIR/tests/data/ingest"

# Two runs of feedbench are one row, as arguments of their own two.
make_small "$WORK/data"
for i in 1 2; do
  LIMIT=60 run "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --results-dir "$WORK/mine" "${SMALL[@]}" --no-steps --allow-cached
  [ "$STATUS" -eq 0 ] || [ "$STATUS" -eq 4 ] || fail "the run ended with $STATUS"
done
mapfile -t runs < <(find "$WORK/mine" -name result.json | sort)
[ "${#runs[@]}" -eq 2 ] || fail "expected two results, found ${#runs[@]}"
run "$FEEDBENCH" compare "$WORK/mine" --format json -o "$WORK/mine.json"
expect_status 0
expect_json "$WORK/mine.json" 'len(d["groups"]) == 1 and len(d["groups"][0]["rows"]) == 1 and len(d["groups"][0]["rows"][0]["runs"]) == 2'
expect_json "$WORK/mine.json" 'd["groups"][0]["workload"] == "unet3d_mini" and d["groups"][0]["rows"][0]["tool"] == "feedbench"'
expect_json "$WORK/mine.json" 'd["groups"][0]["division"] == "" and "record 100000 bytes" in d["groups"][0]["variant"] and d["problems"] == []'
run "$FEEDBENCH" compare "${runs[0]}" "$(dirname "${runs[1]}")" --format csv
expect_status 0
[ "$(grep -c ',feedbench,' "$WORK/out.txt")" -eq 2 ] || fail "expected a row for each argument"

# A mix with small trees of our own making: editions, a DLIO folder, oddities. Nothing shares a ranking that is not alike.
run "$FEEDBENCH" compare "$WORK/mine" "$DATA/v1_0" "$DATA/v2_0" "$DATA/v3_0" "$DATA/dlio" --format json -o "$WORK/mix.json"
expect_status 0
expect_json "$WORK/mix.json" 'sorted((g["edition"], g["division"]) for g in d["groups"]) == [("", ""), ("1.0", "closed"), ("2.0", ""), ("2.0", "open"), ("2.0", "open"), ("3.0", "closed"), ("3.0", "closed")]'
expect_json "$WORK/mix.json" 'all(len({r["tool"] for r in g["rows"]}) == 1 for g in d["groups"])'
expect_json "$WORK/mix.json" '[len(g["rows"][0]["runs"]) for g in d["groups"] if g["edition"] == "3.0" and g["kind"] == "training"] == [6]'
expect_json "$WORK/mix.json" 'sum(not r["counts"] for g in d["groups"] for w in g["rows"] for r in w["runs"]) == 1'
expect_json "$WORK/mix.json" '{p["path"].split("/")[-1]: p["used"] for p in d["problems"]} == {"._summary.json": True, "Sys.json": True, "summary.json": False}'

# Checkpoints are groups of their own: written and read in two runs or in one; results.json alone stands for its runs.
checkpoints='[g for g in d["groups"] if g["kind"] == "checkpoint"]'
expect_json "$WORK/mix.json" "sorted((g['workload'], len(g['rows'])) for g in $checkpoints) == [('llama3-70b', 1), ('llama3-8b', 2)]"
expect_json "$WORK/mix.json" "[(r['submitter'], r['position'], len(r['runs'])) for g in $checkpoints if g['workload'] == 'llama3-8b' for r in g['rows']] == [('Beta', 1, 2), ('Delta', 2, 1)]"
expect_json "$WORK/mix.json" "[[f['rule'] for f in r['footnotes']] for g in $checkpoints if g['workload'] == 'llama3-8b' for r in g['rows']] == [[], ['checkpoint_count', 'read_from_memory']]"

# Our own checkpoints beside published ones of the same model: other tools, other editions, other groups.
run "$FEEDBENCH" run llama3_8b -a 8 --virtual-time --results-dir "$WORK/own" -p checkpoint.checkpoint_folder=model:bandwidth=10GB,latency=1ms \
  -p checkpoint.num_checkpoints_write=2 -p checkpoint.num_checkpoints_read=1
expect_status 0
run "$FEEDBENCH" compare "$WORK/own" "$WORK/mine" "$DATA/v2_0" --format json -o "$WORK/own.json"
expect_status 0
own='[r for g in d["groups"] if g["kind"] == "checkpoint" and g["workload"] == "llama3-8b" and g["division"] == "" for r in g["rows"]]'
expect_json "$WORK/own.json" "[(r['tool'], r['position'], r['runs'][0]['checkpoint']['save']['checkpoint_count']) for r in $own] == [('feedbench', 1, 2)]"
expect_json "$WORK/own.json" "0.9 < next(m['value'] for m in $own[0]['metrics'] if m['key'] == 'save_GB_per_second') / 10 < 1.001"
expect_json "$WORK/own.json" 'all(len({r["tool"] for r in g["rows"]}) == 1 for g in d["groups"])'

run "$FEEDBENCH" compare "$DATA/v1_0"
expect_status 0
expect_said '^unet3d / h100 / edition 1.0 / closed$' 1
expect_said '^1\.  Acme, Sys( \[[0-9]\])+$' 1
expect_said 'in one run only 0.0100' 1
expect_said 'a comma before \] or \}' 1
expect_said 'not valid JSON in line 2' 1
expect_not_said $'\033'
run "$FEEDBENCH" compare "$DATA/v1_0" --format markdown -o "$WORK/page.md"
expect_status 0
grep -q '^| 1 | Acme, Sys |' "$WORK/page.md" || fail "no row in the Markdown table"
expect_no_file "$WORK/page.md.tmp"

# Nothing usable, and wrong usage: one sentence each, exit 2. An output that cannot be written: 3.
mkdir "$WORK/empty"
run "$FEEDBENCH" compare "$WORK/empty" "$WORK/nowhere"
expect_status 2
expect_said 'no result below it' 1
expect_said 'there is no such file or folder' 1
expect_said '^feedbench: error: nothing to compare' 1
run "$FEEDBENCH" compare "$WORK/empty" --format csv
expect_status 2
expect_said '^feedbench: .*/empty: no result below it' 1
run "$FEEDBENCH" compare
expect_status 2
run "$FEEDBENCH" compare "$DATA/v1_0" --format pdf
expect_status 2
run "$FEEDBENCH" compare "$DATA/v1_0" -o "$WORK/no/such/folder.md"
expect_status 3
expect_said "^feedbench: error: .*no/such/folder.md" 1

# The published results, where they are at hand: every row, within two seconds and 200 MiB by far.
CORPUS="$FEEDBENCH_SOURCE_DIR/../shared/corpus/mlperf-storage-v1.0"
if [ -d "$CORPUS" ]; then
  LIMIT=60 run /usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print("peak MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$FEEDBENCH" compare "$CORPUS" --format csv -o "$WORK/corpus.csv"
  expect_status 0
  peak=$(sed -n 's/^peak MiB //p' "$WORK/out.txt")
  [ "$peak" -lt 200 ] || fail "the comparison took $peak MiB, expected less than 200"
  [ "$(wc -l <"$WORK/corpus.csv")" -eq 26 ] || fail "expected 25 rows and a heading"
  note "125 published runs compared, peak $peak MiB"
else
  note "skipped: corpus not found"
fi
note "own results, three editions and a DLIO folder compared; unusable ones named"
