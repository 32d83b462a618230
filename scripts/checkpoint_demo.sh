#!/usr/bin/env bash
# Checkpoints on this clone's filesystem: alone, inside training while all wait, inside training beside it. The runs of docs/checkpointing.md; reports and trimmed results go to results/checkpoint/.
#
#   scripts/checkpoint_demo.sh [alone|sync|async|plan]...      default: all
#
# Takes about two minutes and 2.5 GB below build/checkpoint on the filesystem of this clone, which must be on a disk. On a quiet machine, please.
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
need_packages build || exit 1
build release feedbench || exit 1
feedbench=$ROOT/build/release/feedbench work=$ROOT/build/checkpoint out=$ROOT/results/checkpoint
failed=0
mkdir -p "$work" "$out"
only=" $* "
wanted() { [ "$only" = "  " ] || case $only in *" $1 "*) true ;; *) false ;; esac; }

# shown NAME COMMAND... : runs it, keeps report and trimmed result
shown() {
  local name=$1 status result; shift
  say "$name"
  rm -rf "$work/results/$name"
  "$@" --results-dir "$work/results/$name" >"$work/$name.txt" 2>"$work/$name.log"; status=$?
  result=$(find "$work/results/$name" -name result.json)
  { echo "\$ $(echo "$* --results-dir build/checkpoint/results/$name" | sed "s#$ROOT/##g")"; sed "s#$ROOT/##g" "$work/$name.txt"; echo "exit code $status"; } >"$out/$name.txt"
  [ "$status" -eq 0 ] && [ -s "$result" ] || { tail -n 20 "$work/$name.log"; say "$name: exit code $status"; failed=1; return; }
  python3 - "$result" "$out/$name.json" "$ROOT" <<'PY' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
for part in [d] + d["epochs"] + d["checkpoints"] + [h for e in d["epochs"] for h in e["hosts"]]: part.pop("histograms", None)
for key in ("slices", "config"): d.pop(key, None)
for epoch in d["epochs"]: epoch.pop("blocks"), epoch.pop("metrics")
open(sys.argv[2], "w").write(json.dumps(d, indent=1).replace(sys.argv[3] + "/", ""))
PY
}

# Half a hundredth of llama3 8b by its 8 ranks, in two processes: written three times, dropped from the page cache, read back, every byte compared.
wanted alone && shown alone "${MPIRUN[@]}" -n 2 "$feedbench" run llama3_8b --accelerators 8 -p model.scale=0.005 \
  -p checkpoint.num_checkpoints_write=3 -p checkpoint.num_checkpoints_read=3 -p checkpoint.time_between_checkpoints=0 -p checkpoint.keep_files=False \
  -p reader.drop_cache=fadvise -p reader.verify=content -p checkpoint.checkpoint_folder="$work/llama3_8b"

# A training job that reads what the disk can give with some room, and writes 80 MB every 30 steps.
data=$work/data
if wanted sync || wanted async; then
  quietly "$ROOT/build/log/checkpoint-datagen.txt" "$feedbench" datagen unet3d_mini --data-dir "$data" -p dataset.num_files_train=672 || exit $?
fi
training=("${MPIRUN[@]}" -n 2 "$feedbench" run unet3d_mini --accelerators 2 --data-dir "$data" -p dataset.num_files_train=672 -p train.epochs=3
  -p train.computation_time=0.15 -p reader.drop_cache=fadvise -p workflow.checkpoint=True -p checkpoint.steps_between_checkpoints=12
  -p model.model_size=120000000 -p checkpoint.type=all_ranks -p checkpoint.fsync=True -p checkpoint.keep_files=False -p checkpoint.checkpoint_folder="$work/training")
wanted sync && shown sync "${training[@]}"
wanted async && shown async "${training[@]}" -p checkpoint.asynchronous=True

if wanted plan; then
  { echo "\$ feedbench show llama3_405b --hosts 64 --MB-per-second 50000"; "$feedbench" show llama3_405b --hosts 64 --MB-per-second 50000 | sed -n '/^checkpoint of/,$p'; } >"$out/plan.txt" || failed=1
fi
exit "$failed"
