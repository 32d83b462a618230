#!/usr/bin/env bash
# A build without libcurl and libnfs (preset slim): what they are for is listed with the reason why it is not there, refused in one sentence, and
# everything else works. Run by scripts/test.sh --full.
. "$(dirname "$0")/lib.sh"
refused() { # SENTENCE : of the last command
  expect_status 2 "$1"
  expect_said '^feedbench: error: ' 1
  expect_said "^feedbench: error: .*$1" 1
  expect_no_file "$WORK/results"
}
run "$FEEDBENCH" list backends --json
expect_status 0 "list backends"
expect_json "$WORK/out.txt" '[b["scheme"] for b in d["backends"] if not b["available"]] == ["nfs", "s3"]'
for scheme in s3:libcurl nfs:libnfs; do
  library=${scheme#*:} scheme=${scheme%:*}
  run "$FEEDBENCH" list backends
  expect_said "built without $library.*$scheme: needs" 1
  for command in run datagen; do
    run "$FEEDBENCH" "$command" unet3d_mini --data-dir "$scheme://127.0.0.1/place/data" "${SMALL[@]}" $([ $command = run ] && echo --results-dir "$WORK/results")
    refused "built without $library.*, which $scheme: needs: install .*and build again"
  done
  run "$FEEDBENCH" list backends "$scheme://127.0.0.1/place"
  refused "built without $library"
done
note "what is not there: passed"

FEEDFS=$(dirname "$FEEDBENCH")/feedfs
run "$FEEDFS" mkfs "$WORK/volume" --object-target "$WORK/objects"
expect_status 0 "feedfs mkfs with a folder as object tier"
for place in "$WORK/data" "feedfs:$WORK/volume/data"; do
  run "$FEEDBENCH" datagen unet3d_mini --data-dir "$place" "${SMALL[@]}"; expect_status 0 "datagen into $place"
  run "$FEEDBENCH" run unet3d_mini --data-dir "$place" "${SMALL[@]}" --allow-cached -p train.epochs=1 -p reader.verify=content --results-dir "$WORK/results"
  expect_status 0 "run over $place"
  rm -rf "$WORK/results"
done
run "$FEEDFS" export "$WORK/volume" s3://bucket/place
[ "$STATUS" -ne 0 ] || fail "feedfs export to a bucket without libcurl"
expect_said 'built without libcurl and expat, which s3: needs' 1
note "all else: passed"
