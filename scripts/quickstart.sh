#!/usr/bin/env bash
# From a fresh clone to a report: installs packages, builds, generates a small dataset, trains on it with emulated accelerators.
#
#   scripts/quickstart.sh [WORKLOAD] [ACCELERATORS]      default: unet3d_mini 1
#
# May be run again: what is there stays, and only the report is printed. Everything lies below build/: data in build/quickstart/data
# (some hundred MB), results in build/quickstart/results.
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
workload=${1:-unet3d_mini} accelerators=${2:-1}

need_packages build || exit 1
build release feedbench || exit 1
feedbench=$ROOT/build/release/feedbench
data=$ROOT/build/quickstart/data/$workload results=$ROOT/build/quickstart/results
mkdir -p "$data" "$results"

[ -n "$(find "$data" -name '*manifest*' -print -quit)" ] || say "generating $workload in $data"
quietly "$ROOT/build/log/quickstart-datagen.txt" "$feedbench" datagen "$workload" --data-dir "$data" || exit $?
exec "$feedbench" run "$workload" --data-dir "$data" --accelerators "$accelerators" --results-dir "$results" \
  -p checkpoint.checkpoint_folder="$ROOT/build/quickstart/checkpoints"
