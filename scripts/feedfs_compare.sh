#!/usr/bin/env bash
# The same training profiles on feedfs and on the filesystem below it, side by side: the page of results/feedfs/.
#
#   scripts/feedfs_compare.sh [unet3d|resnet50_files|cosmoflow]...      default: all
#
# Takes about five minutes and at most 2.5 GB below build/feedfs at a time, on the filesystem of this clone, which must be on a disk. Data is read
# past the page cache (O_DIRECT) on both sides, and the host's caches are dropped before each epoch, so that names are cold, too (root).
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
need_packages build || exit 1
build release feedbench feedfs || exit 1
feedbench=$ROOT/build/release/feedbench work=$ROOT/build/feedfs out=$ROOT/results/feedfs
failed=0
mkdir -p "$work" "$out"
only=" $* "
wanted() { [ "$only" = "  " ] || case $only in *" $1 "*) true ;; *) false ;; esac; }

# pair NAME PROFILE DATASET-AND-RUN-OPTION... : writes the dataset on both sides, reads it on both in turns
pair() {
  local name=$1 profile=$2 side uri try; shift 2
  say "$name"
  rm -rf "$work"; mkdir -p "$work/ext4"
  "$ROOT/build/release/feedfs" mkfs "$work/volume" >/dev/null || { failed=1; return; }
  for side in ext4 feedfs; do
    uri=$work/ext4; [ $side = feedfs ] && uri=feedfs:$work/volume
    "$feedbench" datagen "$profile" "$@" --data-dir "$uri" --no-fsync --progress off >"$work/datagen-$side.txt" 2>&1 ||
      { tail -n 5 "$work/datagen-$side.txt"; failed=1; return; }
    tail -n 1 "$work/datagen-$side.txt"
  done
  for side in ext4 feedfs; do
    uri=$work/ext4; [ $side = feedfs ] && uri=feedfs:$work/volume
    rm -rf "$out/runs/$name-$side"
    "$feedbench" run "$profile" "$@" --data-dir "$uri" -p reader.odirect=true -p reader.drop_cache=system -p train.epochs=3 \
      -p workflow.checkpoint=false --progress off --results-dir "$work/results-$side" >"$work/$name-$side.txt" 2>&1 ||
      { tail -n 20 "$work/$name-$side.txt"; failed=1; return; }
    mkdir -p "$out/runs/$name-$side"
    sed "s#$ROOT/##g" "$work/$name-$side.txt" >"$out/$name-$side.txt"
    python3 - "$(find "$work/results-$side" -name result.json)" "$out/runs/$name-$side/result.json" "$ROOT" <<'PY' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
open(sys.argv[2], "w").write(json.dumps(d).replace(sys.argv[3] + "/", ""))
PY
  done
  rm -rf "$work"
}

wanted unet3d && pair unet3d unet3d_h100 -p dataset.num_files_train=14 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0
# ResNet-50's samples as they lie in ImageNet: a file each.
wanted resnet50_files && pair resnet50_files resnet50_h100 -p framework=pytorch -p reader.data_loader=pytorch -p dataset.format=raw \
  -p dataset.num_files_train=8000 -p dataset.num_samples_per_file=1 -p dataset.record_length_bytes=114660 -p reader.file_shuffle=seed
wanted cosmoflow && pair cosmoflow cosmoflow_h100 -p dataset.num_files_train=400

[ $failed -eq 0 ] || die "a run failed"
cd "$ROOT" || exit 1 # so that the page names them from here
"$feedbench" compare results/feedfs/runs/* --format markdown -o "$out/compare.md" &&
  "$feedbench" compare results/feedfs/runs/* --format html -o "$work.html" || die "compare failed"
say "results/feedfs/compare.md, build/feedfs.html"
