#!/usr/bin/env bash
# Makes the picture in docs/report.md anew: a run on this machine's disk, its report.html in a browser, the top of it as PNG.
#
#   scripts/picture_report.sh [RESULT-FOLDER] [OUT.png]
#
# Without a folder it runs unet3d_mini with 2 accelerators on 2 ranks for 5 epochs (data in build/quickstart/data, as scripts/quickstart.sh
# makes it). OUT: docs/img/report.png; a picture for the documentation must stay below 200 KiB.
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
folder=${1:-} out=${2:-$ROOT/docs/img/report.png} work=$ROOT/build/picture

need_packages build test && need_npm tests/browser && build release feedbench || exit 1
feedbench=$ROOT/build/release/feedbench
mkdir -p "$work"
if [ -z "$folder" ]; then
  data=build/quickstart/data/unet3d_mini
  cd "$ROOT" && mkdir -p "$data" || exit 1
  [ -n "$(find "$data" -name '*manifest*' -print -quit)" ] || quietly "$ROOT/build/log/picture-datagen.txt" "$feedbench" datagen unet3d_mini --data-dir "$data" || exit $?
  rm -rf "$work/results"
  # Results lie elsewhere than the data, as they should.
  quietly "$ROOT/build/log/picture-run.txt" "${MPIRUN[@]}" -n 2 "$feedbench" run unet3d_mini --accelerators 2 --data-dir "$data" \
    --results-dir "$work/results" -p workflow.checkpoint=False -p train.epochs=5 -p train.computation_time=0.25 || exit $?
  folder=$(dirname "$(find "$work/results" -name result.json)")
fi
"$feedbench" report "$folder" -o "$work/report.html" >/dev/null || exit $?
node "$ROOT/tests/browser/picture.mjs" "$work/report.html" "$out" || exit $?
size=$(stat -c %s "$out")
[ "$size" -lt $((200 * 1024)) ] || die "$out has $size bytes, expected less than 200 KiB"
echo "$out"
