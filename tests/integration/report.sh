#!/usr/bin/env bash
# feedbench report: each format, where it goes, and every way in which a result can be unusable. Pages in a browser: tests/browser/report.mjs.
. "$(dirname "$0")/lib.sh"

run "$FEEDBENCH" run unet3d_mini --data-dir 'model:bandwidth=2GB,latency=1ms' --virtual-time --seed 3 -p train.epochs=2 -p workflow.checkpoint=False \
  --results-dir "$WORK/r" --no-steps
expect_status 0
one=$(result_dir "$WORK/r")
expect_file "$one/report.html" # the run's own
grep -q "<title>unet3d_mini: 1 × h100 on 1 host</title>" "$one/report.html" || fail "the run's page has another title"
rm "$one/report.html"

# Beside the result, to a file, to standard output.
run "$FEEDBENCH" report "$one"
expect_status 0
expect_said "^$one/report.html$" 1
cp "$one/report.html" "$WORK/first.html"
run "$FEEDBENCH" report "$one/result.json" -o "$WORK/x.html"
expect_status 0
cmp -s "$WORK/first.html" "$WORK/x.html" || fail "the page depends on how the result was named"
expect_no_file "$WORK/x.html.tmp"
run "$FEEDBENCH" report "$one" -o -
cmp -s "$WORK/first.html" "$WORK/out.txt" || fail "standard output holds another page"
run "$FEEDBENCH" report "$one" --format markdown
expect_status 0
expect_said '^### unet3d\\_mini: 1 × h100 on 1 host$' 1
expect_said '^\*\*storage-bound\*\*: the storage was the limit' 1
expect_said 'not verified by MLCommons' 1
run "$FEEDBENCH" report "$one" --format csv
expect_status 0
[ "$(wc -l <"$WORK/out.txt")" -eq 4 ] || fail "expected a heading, two epochs and a run"
cmp -s "$WORK/out.txt" "$one/result.csv" || fail "the CSV of one result is not the run's own"

# A tree: what can be read is shown, what cannot is named; the same file twice is one run.
mkdir -p "$WORK/tree/a" "$WORK/tree/b" "$WORK/tree/torn" "$WORK/tree/new"
cp "$one/result.json" "$WORK/tree/a"; cp "$one/result.json" "$WORK/tree/b"
head -c 3000 "$one/result.json" >"$WORK/tree/torn/result.json"
sed 's/"schema_version": [0-9]*/"schema_version": 999/' "$one/result.json" >"$WORK/tree/new/result.json"
cd "$WORK" || exit 1
run "$FEEDBENCH" report "$WORK/tree" "$WORK/tree/a/result.json"
expect_status 0
expect_said '^feedbench: not used: .*/torn/result.json: not valid JSON' 1
expect_said '^feedbench: not used: .*/new/result.json: schema_version is 999, this binary reads' 1
expect_said '^report.html$' 1
cmp -s <(grep -c '<article class="part"' report.html) <(echo 2) || fail "expected a page of two runs"
rm report.html
run "$FEEDBENCH" report "$WORK/tree" --format csv
[ "$(wc -l <"$WORK/out.txt")" -eq 7 ] || fail "expected a heading and three rows a run"

# What was named itself must be usable: one sentence, exit 2; nothing is written.
for bad in torn new; do
  run "$FEEDBENCH" report "$one" "$WORK/tree/$bad/result.json" -o "$WORK/bad.html"
  expect_status 2
  expect_said "^feedbench: error: .*$bad/result.json" 1
  expect_no_file "$WORK/bad.html"
done
echo '{"schema_version": 4, "kind": 7}' >"$WORK/key.json"
run "$FEEDBENCH" report "$WORK/key.json"
expect_status 2
expect_said "key 'feedbench_version' is missing|key 'kind': expected a string, found number" 1
run "$FEEDBENCH" report "$WORK/nowhere"
expect_status 2
expect_said 'nowhere: there is no such file or folder' 1
mkdir "$WORK/empty"
run "$FEEDBENCH" report "$WORK/empty"
expect_status 2
expect_said 'empty: no result.json of feedbench lies in it or below it' 1
run "$FEEDBENCH" report
expect_status 2
run "$FEEDBENCH" report "$one" --format pdf
expect_status 2
run "$FEEDBENCH" report "$one" -o "$WORK/no/such/page.html"
expect_status 3
expect_said "^feedbench: error: .*no/such/page.html" 1
note "page, Markdown and CSV of one result and of several; unusable ones are named"
